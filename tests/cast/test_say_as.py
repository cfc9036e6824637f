"""How a name is said stands in the cast file, is read, written and merged like all else."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import CastError, Member
from shotad.sight import CastFile, merge
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


def test_it_is_written_behind_the_name_and_all_else_stays(tmp_path: Path) -> None:
    before = "# ours\npeople:\n- id: anna\n  name: Anna  # the doctor\n  pronoun: she\n\n- name: Bo\n"
    file = written(tmp_path, before)
    file.update("anna", say_as="AH-na")
    file.save()
    after = (tmp_path / "cast.yaml").read_text(encoding="utf-8")
    assert after == before.replace("the doctor\n", "the doctor\n  say_as: AH-na\n")
    file.update("anna", say_as="")
    file.save()
    assert [member.say_as for member in read_cast(tmp_path / "cast.yaml")] == ["", ""]


def test_a_new_person_brings_it(tmp_path: Path) -> None:
    file = CastFile.open(tmp_path)
    file.add(Member("thom", "Thom", say_as="Tom"))
    file.save()
    text = (tmp_path / "cast.yaml").read_text(encoding="utf-8")
    assert text.endswith("- id: thom\n    name: Thom\n    say_as: Tom\n") or "  say_as: Tom\n" in text
    assert read_cast(tmp_path / "cast.yaml").members[0].say_as == "Tom"


@pytest.mark.parametrize("saying", ["42", "'[x](/y/)'", "{a: b}", "[a, b]", "a = b", "'" + "x" * 101 + "'"])
def test_what_cannot_be_said_is_refused_with_its_line(tmp_path: Path, saying: str) -> None:
    with pytest.raises(CastError, match="line 3"):
        written(tmp_path, f"people:\n- name: Anna\n  say_as: {saying}\n")


@pytest.mark.parametrize("key", ["pronunciation", "sayas", "say"])
def test_other_words_for_it_are_answered_with_the_key(tmp_path: Path, key: str) -> None:
    with pytest.raises(CastError, match="Did you mean say_as?"):
        written(tmp_path, f"people:\n- name: Anna\n  {key}: AH-na\n")


def test_of_two_who_are_one_it_stays_with_the_name_it_is_for(tmp_path: Path) -> None:
    people = [Member("a", "Anna", say_as="AH-na"), Member("b"), Member("c", "Carla")]
    for into, expected in (("b", "AH-na"), ("c", "")):
        folder = tmp_path / into
        folder.mkdir()
        file = CastFile.open(folder)
        for member in people:
            file.add(member)
        assert merge(file, file.member("a"), file.member(into)).say_as == expected
