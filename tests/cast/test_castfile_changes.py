"""Changing a cast file: one person's lines, and no other line to the letter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import CastError, Member, Reveal
from shotad.sight import CastFile
from shotad.sight.cast_entries import tidy
from shotad.sight.castfile import read_cast
from tests.cast.castfiles import WHOLE, picture


def changed(folder: Path, text: str, change: Callable[[CastFile], None]) -> str:
    (folder / "cast.yaml").write_bytes(text.encode())
    file = CastFile.open(folder)
    change(file)
    file.save()
    return (folder / "cast.yaml").read_bytes().decode()


def difference(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that went and lines that came."""
    import difflib

    told = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return [t[2:] for t in told if t[:2] == "- "], [t[2:] for t in told if t[:2] == "+ "]


@pytest.mark.parametrize(
    ("person", "values", "gone", "came"),
    [
        ("person-03", {"name": "Zoë: x"}, ["    name:"], ["    name: 'Zoë: x'"]),
        (
            "anna",
            {"name": "Ann"},
            ['    name: "Anna Lee"   # as in the credits'],
            ["    name: Ann   # as in the credits"],
        ),
        ("anna", {"aliases": ("Doctor Lee", "Annie", "007")}, [], ["      - '007'"]),
        (
            "person-03", {"spoken": "Z", "reveals": (Reveal(2.5),)}, [],
            ["    speak: Z", "    reveal_at: 00:00:02.500"],
        ),
        ("person-03", {"comment": "5 shots"}, ["  #: 3 shots"], ["  #: 5 shots"]),
        ("no", {"nameless": False}, ["    nameless: yes"], ["    id: 'no'", "    nameless:"]),
        ("person-03", {"descriptor": ""}, [], []),
    ],
)  # fmt: skip
def test_a_change_touches_no_other_line(
    folder: Path, person: str, values: dict[str, object], gone: list[str], came: list[str]
) -> None:
    after = changed(folder, WHOLE, lambda file: file.update(person, **values))  # type: ignore[arg-type]
    assert difference(WHOLE, after) == (gone, came)


def test_removing_takes_the_comments_right_above_and_ends_of_lines_stay(folder: Path) -> None:
    after = changed(folder, WHOLE, lambda file: file.remove("anna"))
    start, end = WHOLE.index("  # The heroine"), WHOLE.index("\n  # --- villains")
    assert after == WHOLE[:start] + WHOLE[end:]
    after = changed(folder, WHOLE, lambda file: file.remove("person-03"))
    assert difference(WHOLE, after) == (["  #: 3 shots", "  - id: person-03", "    name:"], [])
    text = WHOLE.replace("\n", "\r\n")

    def change(file: CastFile) -> None:
        file.update("person-03", name="Cy", spoken="C", comment="x")
        file.add(Member("dee", "Dee"), "y")

    after = changed(folder, text, change)
    assert after.count("\n") == after.count("\r\n") == text.count("\n") + 5
    assert [m.name for m in read_cast(folder / "cast.yaml")] == ["Anna Lee", "Thom", "Cy", "No", "Dee"]


def test_a_change_that_cannot_be_is_refused_and_leaves_all_as_it_was(folder: Path) -> None:
    (folder / "cast.yaml").write_text(WHOLE)
    file = CastFile.open(folder)
    with pytest.raises(CastError, match="called 'Annie'"):
        file.update("person-03", name="Annie")
    with pytest.raises(CastError, match="the id 'thom'"):
        file.add(Member("thom"))
    with pytest.raises(CastError, match="nobody with the id 'nobody'.*anna, thom"):
        file.remove("nobody")
    with pytest.raises(TypeError, match="nam"):
        file.update("thom", nam="x")
    assert file.text == WHOLE
    file.save()
    assert (folder / "cast.yaml").read_text() == WHOLE


def test_people_in_brackets_are_read_but_not_changed(folder: Path) -> None:
    (folder / "cast.yaml").write_text('{"people": [{"name": "A"}]}')
    file = CastFile.open(folder)
    assert file.members == (Member("a", "A"),)
    with pytest.raises(CastError, match="stand in brackets"):
        file.update("a", name="B")


def test_what_somebody_wrote_meanwhile_stays(folder: Path) -> None:
    path = folder / "cast.yaml"
    path.write_text(WHOLE)
    file = CastFile.open(folder)
    file.add(Member("person-04"))
    path.write_text(WHOLE.replace("    name:\n", "    name: Cy\n"))
    file.save()
    assert [m.name for m in read_cast(path)] == ["Anna Lee", "Thom", "Cy", "No", ""]
    path.unlink()
    file.update("person-04", name="Dee")
    with pytest.raises(CastError, match="person-04"):
        file.save()


def test_a_folder_of_photos_is_taken_over(folder: Path) -> None:
    picture(folder / "person-07" / "1.jpg")
    file = CastFile.open(folder)
    assert [(m.id, m.name) for m in file.members] == [
        ("anna", "anna"), ("extra", "extra"), ("person-07", ""), ("thom", "thom"),
    ]  # fmt: skip
    file.save()
    assert file.photo_specs("anna") == ("anna",)
    assert read_cast(folder / "cast.yaml").members == file.members


NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co")), min_size=1, max_size=12
).filter(str.strip)


@settings(max_examples=25)
@given(NAMES, NAMES, st.sampled_from(["anna", "thom", "person-03", "no"]))
def test_texts_read_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, other: str, person: str
) -> None:
    folder = tmp_path_factory.mktemp("cast")
    (folder / "cast.yaml").write_text(WHOLE, encoding="utf-8")
    file = CastFile.open(folder)
    file.update(person, name=f"x{name}x", descriptor=other, aliases=(f"y{other}y", f"z{name}, {other}"))
    file.save()
    found = CastFile.open(folder).member(person)
    assert found.name == tidy(f"x{name}x")
    assert found.descriptor == tidy(other)
    assert found.aliases == (tidy(f"y{other}y"), tidy(f"z{name}, {other}"))
    untouched = [m for m in file.members if m.id != person]
    assert untouched == [m for m in CastFile.open(folder).members if m.id != person]
    (folder / "before.yaml").write_text(WHOLE, encoding="utf-8")
    assert untouched == [m for m in CastFile.open(folder / "before.yaml").members if m.id != person]


@pytest.mark.parametrize("text", ["- name: A", "people:\n- name: A", "-\n  name: A", "- {name: A}"])
def test_a_last_line_without_an_end_can_be_followed(folder: Path, text: str) -> None:
    def change(file: CastFile) -> None:
        file.update("a", spoken="Al")
        file.add(Member("b", "B"))

    changed(folder, text, change)
    assert [(m.name, m.spoken) for m in read_cast(folder / "cast.yaml")] == [("A", "Al"), ("B", "")]
