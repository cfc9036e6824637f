"""``cast.yaml``: what may stand there, and changes of one person's lines that leave all else to the letter."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

from shotad.core import Cast, Member
from shotad.core.cast import Reveal
from shotad.core.errors import CastError
from shotad.core.trust import trust
from shotad.sight import CastFile
from shotad.sight.cast_entries import tidy
from shotad.sight.castfile import read_cast

WHOLE = """\
# The cast of the film.

people:
  # The heroine, whoever says otherwise.
  - id: anna
    name: "Anna Lee"   # as in the credits
    speak: Anna
    aliases:
      - Doctor Lee   # at work
      - Annie
    pronoun: she
    descriptor: the woman in red
    reveal_at: 12:30
    photos: [anna, extra/anna-*.png]

  # --- villains ---

  - {id: thom, name: Thom, photos: thom.jpg, reveal_at: {pilot.mp4: 1:02:03.5, others: never}}
  #: 3 shots
  - id: person-03
    name:
  - name: No
    nameless: yes
# the end
"""


def picture(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), (200, 100, len(path.name))).save(path)
    return path


def read(folder: Path, text: str) -> Cast:
    path = folder / "cast.yaml"
    path.write_text(text, encoding="utf-8")
    return read_cast(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with photos."""
    for name in ("anna/2.jpg", "anna/10.jpg", "extra/anna-1.png", "extra/bob.png", "thom.jpg"):
        picture(tmp_path / name)
    return tmp_path


def test_everything_that_may_stand_there(folder: Path) -> None:
    anna, thom, third, no = read(folder, WHOLE)
    photos = tuple(folder / name for name in ("anna/2.jpg", "anna/10.jpg", "extra/anna-1.png"))
    called = ("Anna Lee", "Anna", ("Doctor Lee", "Annie"), "she", "the woman in red")
    assert anna == Member("anna", *called, (Reveal(750.0),), photos)
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
    with pytest.raises(CastError, match="line 2: the photo 'x+…' cannot be read: File name too long"):
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
        ("people:\n  - name: A\n    pictures: a.jpg\n", 3, ("Did you mean photos?",)),
        ("# x\ncast:\n  - name: A\n", 2, ("'cast'", "Did you mean people?")),
        ("- name: A\n  name: B\n", 2, ("'name' stands twice",)),
        ("- name: A\n\n- name: a\n", 3, ("two people are called 'a'", "line 1", "shotad cast merge")),
        ("- name: A\n  speak: Al\n- name: B\n  aliases:\n  - C\n  - Al\n", 6, ("called 'Al'",)),
        ("- {name: A, id: x}\n- name: B\n  id: X\n", 3, ("the id 'X'",)),
        ("- name: A\n  id: a/b\n", 2, ("'a/b' cannot be an id",)),
        ("- name: [A, B]\n", 1, ("a list",)),
        ("- name: A\n  speak:\n    de: B\n", 3, ("keys and values (de)",)),
        ("- name: A\n  pronoun: xe\n", 2, ("'xe' is no pronoun", "she, he, they, it")),
        ("- name: A\n  nameless: maybe\n", 2, ("'maybe' is neither true nor false",)),
        ("- name: A\n  reveal_at: 12:75\n", 2, ("'12:75' is no time", "00:12:30")),
        ("- name: A\n  reveal_at:\n    one: 5\n    two: -5\n", 4, ("'-5' is no time",)),
        ("- name: A\n  reveal_at:\n    one: 5\n    one.mp4: 6\n", 4, ("the film 'one.mp4' stands twice",)),
        ("- name: A\n  photos: [thom.jpg, gone.jpg]\n", 2, ("the photo 'gone.jpg' is missing",)),
        ("- name: A\n  photos: cast.yaml\n", 2, ("no picture that can be read", ".jpg")),
        ("- name: A\n  photos: thom.jpg\n- name: B\n  photos: ./*.jpg\n", 4, ("also that of A (line 1)",)),
        ("- Anna\n", 1, ("'Anna'", "- name: Anna")),
        ("people: Anna\n", 1, ("a list of people",)),
        ("- name: A\n\tspeak: B\n", 2, ("a tab", "spaces")),
        ("- name: A: B\n", 1, ("a colon", "quotes")),
        ("- name: 'A\n", 2, ("no YAML",)),
        ("- name: &a A\n- name: *a\n", 2, ("references",)),
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
    with pytest.raises(CastError, match="line 2: the text is not UTF-8"):
        read_cast(path)
    path.write_bytes(b"\xef\xbb\xbf- name: A\r\n  speak: B\r\n")
    assert read_cast(path).members == (Member("a", "A", "B"),)


@pytest.mark.parametrize("text", ["", "# nobody\n", "people:\n", "---\n", "[]\n", "people: []"])
def test_nobody_at_all_is_a_cast(folder: Path, text: str) -> None:
    assert read(folder, text).members == ()
    file = CastFile.open(folder)
    file.add(Member("a", "A"), "new")
    file.save()
    assert [member.id for member in read_cast(folder / "cast.yaml")] == ["a"]


@pytest.mark.parametrize(
    ("text", "seconds"), [("1:02:03.25", 3723.25), ("750.5", 750.5), ("'12:30'", 750), ("never", math.inf)]
)
def test_times_are_read_as_they_are_written(folder: Path, text: str, seconds: float) -> None:
    (member,) = read(folder, f"- name: A\n  reveal_at: {text}\n")
    assert member.reveals == (Reveal(seconds),)
    (member,) = read(folder, f"- {{name: A, reveal_at: {{a film: {text}}}}}\n")
    assert member.reveals == (Reveal(seconds, "a film"),)


def test_a_film_is_known_with_its_ending_and_without(folder: Path) -> None:
    films = {"S01.E02": "S01.E02.mp4", "S01.E02.mp4": "S01.E02.mp4", "a": "a.flv", "b.tar": "b.tar"}
    for written, film in films.items():
        (member,) = read(folder, f"- name: A\n  reveal_at: {{{written}: never}}\n")
        assert (member.revealed(film), member.revealed("S01.E03.mp4")) == (math.inf, 0)
    with pytest.raises(CastError, match="stands twice"):
        read(folder, "- name: A\n  reveal_at: {Pilot: 5, pilot.mp4: 7}\n")


@pytest.mark.parametrize("saying", ["42", "'[x](/y/)'", "{a: b}", "[a, b]", "'" + "x" * 101 + "'"])
def test_what_cannot_be_said_is_refused_with_its_line(folder: Path, saying: str) -> None:
    with pytest.raises(CastError, match="line 3"):
        read(folder, f"people:\n- name: Anna\n  say_as: {saying}\n")


# Changes


def changed(folder: Path, text: str, change: Callable[[CastFile], None]) -> str:
    (folder / "cast.yaml").write_bytes(text.encode())
    file = CastFile.open(folder)
    change(file)
    file.save()
    return (folder / "cast.yaml").read_bytes().decode()


def difference(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that went and lines that came."""
    told = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return [t[2:] for t in told if t[:2] == "- "], [t[2:] for t in told if t[:2] == "+ "]


@pytest.mark.parametrize(
    ("person", "values", "gone", "came"),
    [
        ("person-03", {"name": "Zoë: x"}, ["    name:"], ["    name: 'Zoë: x'"]),
        ("anna", {"name": "Ann"}, ['    name: "Anna Lee"   # as in the credits'], ["    name: Ann   # as in the credits"]),
        ("anna", {"aliases": ("Doctor Lee", "Annie", "007")}, [], ["      - '007'"]),
        ("person-03", {"spoken": "Z", "reveals": (Reveal(2.5),)}, [], ["    speak: Z", "    reveal_at: 00:00:02.500"]),
        ("person-03", {"comment": "5 shots"}, ["  #: 3 shots"], ["  #: 5 shots"]),
        ("no", {"nameless": False}, ["    nameless: yes"], ["    id: 'no'", "    nameless:"]),
        ("person-03", {"descriptor": ""}, [], []),
    ],
)  # fmt: skip
def test_a_change_touches_no_other_line(folder, person, values, gone, came):
    after = changed(folder, WHOLE, lambda file: file.update(person, **values))
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
    # People in brackets are read but not changed.
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
def test_texts_read_back(tmp_path_factory, name, other, person):
    folder = tmp_path_factory.mktemp("cast")
    (folder / "cast.yaml").write_text(WHOLE, encoding="utf-8")
    file = CastFile.open(folder)
    untouched = [m for m in file.members if m.id != person]
    file.update(person, name=f"x{name}x", descriptor=other, aliases=(f"y{other}y", f"z{name}, {other}"))
    file.save()
    found = CastFile.open(folder).member(person)
    assert found.name == tidy(f"x{name}x")
    assert found.descriptor == tidy(other)
    assert found.aliases == (tidy(f"y{other}y"), tidy(f"z{name}, {other}"))
    assert [m for m in CastFile.open(folder / "cast.yaml").members if m.id != person] == untouched


@pytest.mark.parametrize("text", ["people:\n- name: A", "-\n  name: A", "- {name: A}"])
def test_a_last_line_without_an_end_can_be_followed(folder: Path, text: str) -> None:
    def change(file: CastFile) -> None:
        file.update("a", spoken="Al")
        file.add(Member("b", "B"))

    changed(folder, text, change)
    assert [(m.name, m.spoken) for m in read_cast(folder / "cast.yaml")] == [("A", "Al"), ("B", "")]


def test_photos_of_other_folders_are_taken_only_of_a_cast_that_the_user_trusts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cast may have come with a film."""
    monkeypatch.setenv("SHOTAD_CONFIG", str(tmp_path / "config"))
    cast, private = tmp_path / "movie.cast", tmp_path / "private"
    for folder in (cast, private):
        folder.mkdir()
        (folder / "ann.jpg").touch()
    (cast / "link.jpg").symlink_to(private / "ann.jpg")
    for photos in (str(private), "../private/ann.jpg", "../*/ann.jpg", "link.jpg", f"[ann.jpg, '{private}']"):
        (cast / "cast.yaml").write_text(f"people:\n- name: Ann\n  photos: {photos}\n")
        with pytest.raises(CastError, match=r"line 3.*outside of the cast's folder.*--trust"):
            read_cast(cast / "cast.yaml")
    trust(str(cast))
    assert [photo.parent for photo in read_cast(cast / "cast.yaml").members[0].photos] == [cast, private]
