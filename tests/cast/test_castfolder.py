"""What discovery keeps in a cast folder: facts, whose pictures are whose, files."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import Box, CastError
from shotad.sight import FACTS, Facts, Found, Picture, held, joined, put_pictures, remove_pictures
from shotad.sight.castfolder import sha256_of

BOX = Box(0.1, 0.1, 0.3, 0.4)


def picture(folder: Path, person: str, content: str, film: str = "f1") -> Picture:
    """A picture that discovery put there."""
    ((name, sha),) = put_pictures(folder, person, content, [(1.0, content.encode())])
    return Picture(person, name, sha, film, 1.0, BOX)


@pytest.mark.parametrize("text", ["{}", "no json", '{"version": 1, "found": [{}], "pictures": []}'])
def test_damaged_facts_are_an_error_that_says_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / FACTS).write_text(text)
    with pytest.raises(CastError, match="damaged") as raised:
        Facts.read(tmp_path)
    assert "Delete it" in raised.value.hint


def test_the_same_picture_is_put_once_and_others_are_not_written_over(tmp_path: Path) -> None:
    first = put_pictures(tmp_path, "person-01", "ep", [(83.5, b"one")])
    again = put_pictures(tmp_path, "person-01", "ep", [(83.5, b"one")])
    other = put_pictures(tmp_path, "person-01", "ep", [(83.5, b"two")])
    assert first == again == [("person-01/ep-00h01m23s500.jpg", sha256_of(tmp_path / first[0][0]))]
    assert other[0][0] == "person-01/ep-00h01m23s500-2.jpg"
    assert (tmp_path / first[0][0]).read_bytes() == b"one"


def test_only_pictures_that_are_as_they_were_written_are_deleted(tmp_path: Path) -> None:
    one, two = picture(tmp_path, "person-01", "one"), picture(tmp_path, "person-02", "two")
    (tmp_path / two.file).write_bytes(b"retouched")
    assert remove_pictures(tmp_path, [one, two]) == 1
    assert not (tmp_path / "person-01").exists()
    assert (tmp_path / two.file).read_bytes() == b"retouched"


def test_two_do_not_change_a_cast_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shotad.sight.castfolder._PATIENCE", 0.0)
    with (
        held(tmp_path / "x.cast"),
        pytest.raises(CastError, match="in use by another"),
        held(tmp_path / "x.cast"),
    ):
        pass
    with held(tmp_path / "x.cast"):
        pass


def test_a_cast_that_cannot_be_made_or_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CastError, match="cannot be written"), held(tmp_path / "file" / "x.cast"):
        pass
    # Facts of another version are refused.
    (tmp_path / FACTS).write_text('{"version": 99, "found": [], "pictures": []}')
    with pytest.raises(CastError, match="version 99"):
        Facts.read(tmp_path)


def test_two_records_of_one_person_and_film_become_one() -> None:
    rows = [
        Found("a", "f1", "ep", 2, 1.0, 9.0), Found("b", "f1", "ep", 1, 1.0, 1.0),
        Found("a", "f1", "ep", 1, 0.5, 4.0),
    ]  # fmt: skip
    assert joined(rows) == (Found("a", "f1", "ep", 3, 1.5, 4.0), rows[1])
