"""How a name is said stands in the cast file, is read, written and merged like all else."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import CastError
from shotad.sight import CastFile
from shotad.sight.castfile import read_cast
from shotad.sound import Lexicon
from shotad.sound.pronunciation import lexicon_of


def written(folder: Path, text: str) -> CastFile:
    (folder / "cast.yaml").write_text(text, encoding="utf-8")
    return CastFile.open(folder)


def test_it_is_read_and_becomes_a_lexicon(tmp_path: Path) -> None:
    written(tmp_path, 'people:\n- name: Sintel Ishtar\n  speak: Sintel\n  say_as: "Sin-TELL"\n- name: Bo\n')
    cast = read_cast(tmp_path / "cast.yaml")
    assert [member.say_as for member in cast] == ["Sin-TELL", ""]
    assert lexicon_of(cast) == Lexicon({"Sintel": "Sin-TELL"})


@pytest.mark.parametrize("saying", ["42", "'[x](/y/)'", "{a: b}", "[a, b]", "a = b", "'" + "x" * 101 + "'"])
def test_what_cannot_be_said_is_refused_with_its_line(tmp_path: Path, saying: str) -> None:
    with pytest.raises(CastError, match="line 3"):
        written(tmp_path, f"people:\n- name: Anna\n  say_as: {saying}\n")
