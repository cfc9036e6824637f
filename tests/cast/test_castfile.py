"""``cast.yaml``: what may stand there, and changes that leave all else to the letter."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from shotad.core import CastError, Member, Reveal
from shotad.sight import CastFile
from shotad.sight.castfile import read_cast
from tests.cast.castfiles import WHOLE, read


def test_everything_that_may_stand_there(folder: Path) -> None:
    anna, thom, third, no = read(folder, WHOLE)
    assert anna == Member(
        "anna",
        "Anna Lee",
        "Anna",
        ("Doctor Lee", "Annie"),
        "she",
        "the woman in red",
        (Reveal(750.0),),
        (folder / "anna/2.jpg", folder / "anna/10.jpg", folder / "extra/anna-1.png"),
    )
    assert thom.reveals == (Reveal(3723.5, "pilot"), Reveal(math.inf))
    assert (thom.revealed("pilot"), thom.revealed("finale")) == (3723.5, math.inf)
    assert third == Member("person-03")
    assert no == Member("no", "No", nameless=True)


def test_names_are_texts_whatever_they_look_like(folder: Path) -> None:
    cast = read(
        folder, "- name: 007\n- name: Yes\n- name: 2001-01-01\n- name: 0x10\n- name: 1e3\n- name: '~'\n"
    )
    assert [member.name for member in cast] == ["007", "Yes", "2001-01-01", "0x10", "1e3", "~"]
    # Photos that cannot be looked for are told with their line.
    with pytest.raises(CastError, match="line 2: the photo 'x+' cannot be read: File name too long"):
        read(folder, f"- name: A\n  photos: {'x' * 300}\n")


def test_warnings_say_what_lets_a_cast_do_less(folder: Path) -> None:
    warnings = read(folder, WHOLE + "  - {id: x, name: Xu, reveal_at: 5, photos: extra/bob.png}\n").warnings
    assert warnings == (
        "Without a name yet, so never named: person-03.",
        "Without photos, so never recognised: person-03, No.",
        "Thom has a reveal_at but no descriptor, and is not spoken of until then.",
        "Xu has a reveal_at but no descriptor, and is not spoken of until then.",
    )
    text = "- {name: Bo, reveal_at: 5, descriptor: old Bo.}\n- {name: Cy, descriptor: Old bo.}\n"
    assert read(folder, text).warnings[1:] == (
        "The descriptor of Bo gives the name away: 'old Bo.'.",
        "A descriptor is put into sentences; 'old Bo.' ends with a mark of its own.",
        "A descriptor is put into sentences; 'Old bo.' ends with a mark of its own.",
        "Bo and Cy have the same descriptor: 'old Bo.'.",
    )
    text = "- {name: Dr. Bo Ek, reveal_at: 5, descriptor: Bo in red}\n"
    assert "gives the name away" in read(folder, text).warnings[-1]
    text = "- {name: Doctor Bo Ek, reveal_at: 5, descriptor: the Doctor}\n"
    assert read(folder, text).warnings[1:] == ()
    assert read(folder, "").warnings == ("There is nobody in this cast.",)


@pytest.mark.parametrize(
    ("text", "line", "needles"),
    [
        ("people:\n  - nmae: Anna\n", 2, ("'nmae' is no key of a person", "Did you mean name?")),
        ("people:\n  - name: A\n    pictures: a.jpg\n", 3, ("Did you mean photos?",)),
        ("# x\ncast:\n  - name: A\n", 2, ("'cast'", "Did you mean people?")),
        ("- name: A\n  name: B\n", 2, ("'name' stands twice",)),
        ("- name: A\n\n- name: a\n", 3, ("two people are called 'a'", "line 1", "shotad cast merge")),
        ("- name: A\n  speak: Al\n- name: B\n  aliases:\n  - C\n  - Al\n", 6, ("called 'Al'",)),
        ("- {name: A, id: x}\n- name: B\n  id: X\n", 3, ("the id 'X'",)),
        ("- name: A\n  id: a/b\n", 2, ("'a/b' cannot be an id",)),
        ("- name: [A, B]\n", 1, ("a list",)),
        ("- name: A\n  speak:\n    de: B\n", 3, ("keys and values (de)",)),
        ("- name: A\n  aliases:\n  - {x: y}\n", 3, ("keys and values",)),
        ("- name: A\n  pronoun: xe\n", 2, ("'xe' is no pronoun", "she, he, they, it")),
        ("- name: A\n  nameless: maybe\n", 2, ("'maybe' is neither true nor false",)),
        ("- name: A\n  reveal_at: 12:75\n", 2, ("'12:75' is no time", "00:12:30")),
        ("- name: A\n  reveal_at: soon\n", 2, ("'soon' is no time", "never")),
        ("- name: A\n  reveal_at:\n    one: 5\n    two: -5\n", 4, ("'-5' is no time",)),
        ("- name: A\n  reveal_at:\n    one: 5\n    one.mp4: 6\n", 4, ("the film 'one.mp4' stands twice",)),
        ("- name: A\n  photos: [thom.jpg, gone.jpg]\n", 2, ("the photo 'gone.jpg' is missing",)),
        ("- name: A\n  photos:\n  - thom.jpg\n  - anna/x*.jpg\n", 4, ("anna/x*.jpg",)),
        ("- name: A\n  photos: cast.yaml\n", 2, ("no picture that can be read", ".jpg")),
        ("- name: A\n  photos: thom.jpg\n- name: B\n  photos: ./*.jpg\n", 4, ("also that of A (line 1)",)),
        ("- Anna\n", 1, ("'Anna'", "- name: Anna")),
        ("people: Anna\n", 1, ("a list of people",)),
        ("people:\n  Anna: x.jpg\n", 2, ("a list of people",)),
        ("- name: A\n\tspeak: B\n", 2, ("a tab", "spaces")),
        ("- name: A: B\n", 1, ("a colon", "quotes")),
        ("- name: 'A\n", 2, ("no YAML",)),
        ("- name: A\n  - speak\n", 2, ("no YAML",)),
        ("- name: &a A\n- name: *a\n", 2, ("references",)),
        ("- name: A\n---\n- name: B\n", 2, ("no YAML",)),
        ("- name: A\n  speak: \x01\n", 2, ("'\\x01' cannot stand here",)),
    ],
)
def test_a_fault_is_told_with_its_line(folder: Path, text: str, line: int, needles: tuple[str, ...]) -> None:
    with pytest.raises(CastError) as error:
        read(folder, text)
    assert str(error.value).startswith(f"{folder / 'cast.yaml'}, line {line}: ")
    for needle in needles:
        assert needle in str(error.value)


def test_a_file_that_is_no_utf8_is_told_with_its_line(folder: Path) -> None:
    path = folder / "cast.yaml"
    path.write_bytes("- name: A\n- name: Zoë\n".encode("latin-1"))
    with pytest.raises(CastError, match="line 2: this is no UTF-8"):
        read_cast(path)
    path.write_bytes(b"\xef\xbb\xbf- name: A\r\n  speak: B\r\n")
    assert read_cast(path).members == (Member("a", "A", "B"),)


@pytest.mark.parametrize(
    "text", ["", "# nobody\n", "people:\n", "people: ~\n", "---\n", "[]\n", "people: []"]
)
def test_nobody_at_all_is_a_cast(folder: Path, text: str) -> None:
    assert read(folder, text).members == ()
    file = CastFile.open(folder)
    file.add(Member("a", "A"), "new")
    file.save()
    assert [member.id for member in read_cast(folder / "cast.yaml")] == ["a"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("12:30", 750), ("1:02:03.25", 3723.25), ("750.5", 750.5), ("'12:30'", 750), ("never", math.inf)],
)
def test_times_are_read_as_they_are_written(folder: Path, text: str, seconds: float) -> None:
    (member,) = read(folder, f"- name: A\n  reveal_at: {text}\n")
    assert member.reveals == (Reveal(seconds),)
    (member,) = read(folder, f"- {{name: A, reveal_at: {{a film: {text}}}}}\n")
    assert member.reveals == (Reveal(seconds, "a film"),)


# Changes
@pytest.mark.parametrize(
    ("written", "film"),
    [("S01.E02", "S01.E02.mp4"), ("S01.E02.mp4", "S01.E02.mp4"), ("S01.E02", "S01.E02"), ("a.flv", "a.flv"),
     ("a", "a.flv"), ("b.tar", "b.tar")],
)  # fmt: skip
def test_a_film_is_known_with_its_ending_and_without(folder: Path, written: str, film: str) -> None:
    (member,) = read(folder, f"- name: A\n  reveal_at: {{{written}: never}}\n")
    assert member.revealed(film) == math.inf
    assert member.revealed("S01.E03.mp4") == 0
    with pytest.raises(CastError, match="stands twice"):
        read(folder, "- name: A\n  reveal_at: {Pilot: 5, pilot.mp4: 7}\n")


# How a name is said stands in the cast file, is read, written and merged like all else.
def written(folder: Path, text: str) -> CastFile:
    (folder / "cast.yaml").write_text(text, encoding="utf-8")
    return CastFile.open(folder)


@pytest.mark.parametrize("saying", ["42", "'[x](/y/)'", "{a: b}", "[a, b]", "a = b", "'" + "x" * 101 + "'"])
def test_what_cannot_be_said_is_refused_with_its_line(tmp_path: Path, saying: str) -> None:
    with pytest.raises(CastError, match="line 3"):
        written(tmp_path, f"people:\n- name: Anna\n  say_as: {saying}\n")
