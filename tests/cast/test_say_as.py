"""How a name is said stands in the cast file, is read, written and merged like all else."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import CastError
from shotad.sight import CastFile


def written(folder: Path, text: str) -> CastFile:
    (folder / "cast.yaml").write_text(text, encoding="utf-8")
    return CastFile.open(folder)


@pytest.mark.parametrize("saying", ["42", "'[x](/y/)'", "{a: b}", "[a, b]", "a = b", "'" + "x" * 101 + "'"])
def test_what_cannot_be_said_is_refused_with_its_line(tmp_path: Path, saying: str) -> None:
    with pytest.raises(CastError, match="line 3"):
        written(tmp_path, f"people:\n- name: Anna\n  say_as: {saying}\n")
