"""From a film to a cast folder, again, with what people changed, and on to the next film."""

from __future__ import annotations

import pytest

from shotad.core import CastError, Given, UsageError
from shotad.description import DISCOVERED
from shotad.sight import Face, Facts, read_gallery
from shotad.sight.castfile import read_cast
from tests.cast.discoveringroom import WHOLE, Room, VariedFaces
from tests.painted_faces import Image


def test_a_film_becomes_a_cast_folder_that_stays_the_same(room: Room, faces: VariedFaces) -> None:
    found = room.run()
    assert [(one.id, one.way, one.name, room.who(one.id)) for one in found.people] == [
        ("person-01", "new", "", "ann"), ("person-02", "new", "", "bo"), ("person-03", "new", "", "cy"),
    ]  # fmt: skip
    ann, bo, cy = (one.found for one in found.people)
    assert (ann.shots, bo.shots, cy.shots) == (2, 2, 1)
    assert ann.seconds == pytest.approx(4.0, abs=0.7)
    assert (ann.first, bo.first, cy.first) == pytest.approx((0.0, 2.0, 6.5), abs=0.4)
    cast = read_cast(room.cast / "cast.yaml")
    assert [(m.id, m.name) for m in cast] == [("person-01", ""), ("person-02", ""), ("person-03", "")]
    assert all(1 < len(member.photos) <= 6 for member in cast)
    gallery = read_gallery(cast, faces, room.config().cast)
    assert set(gallery.gallery.photos) == {"person-01", "person-02", "person-03"}
    assert not gallery.warnings
    assert "first at 00:00:02 in ep1.mp4" in (room.cast / "cast.yaml").read_text()
    assert {p.id for p in Facts.read(room.cast).pictures} == set(gallery.gallery.photos)
    room.begin()
    assert (room.place / "ep1.shotad" / f"{DISCOVERED}.jsonl").stat().st_size > 1000
    kinds = {path.suffix for path in room.cast.rglob("*") if path.is_file()} - {".lock"}
    assert kinds <= {".jpg", ".yaml", ".json", ".html", ""}
    assert "embed" not in (room.cast / "discovered.json").read_text()
    # The same again changes nothing.
    room.begin()
    before = room.files()
    again = room.run()
    assert room.files() == before
    assert [(one.way, one.added, one.removed) for one in again.people] == [("renew", 0, 0)] * 3


def test_a_killed_run_goes_on(room: Room, faces: VariedFaces, monkeypatch: pytest.MonkeyPatch) -> None:
    find, shown = VariedFaces.find, []

    def interrupted(self: VariedFaces, image: Image, seconds: float) -> list[Face]:
        shown.append(seconds)
        if seconds > 4.0:
            raise KeyboardInterrupt
        return find(self, image, seconds)

    monkeypatch.setattr(VariedFaces, "find", interrupted)
    with pytest.raises(KeyboardInterrupt):
        room.run()
    assert not room.cast.exists()
    early = len(shown)
    shown.clear()
    monkeypatch.setattr(VariedFaces, "find", lambda self, i, s: (shown.append(s), find(self, i, s))[1])
    found = room.run()
    looked = [second for second in shown if second > 0]
    assert min(looked) > 3.0, "the first two shots were known"
    assert len(found.people) == 3
    assert early > 5


def test_who_is_seen_too_briefly_is_left_out(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shotad.description.cast_discovery.LEAST_SECONDS", 2.0)
    found = room.run("ep1", WHOLE)
    assert [one.id for one in found.people] == ["person-01", "person-02"]
    assert found.brief == 1


def test_a_part_of_the_film_and_then_the_rest(room: Room) -> None:
    part = room.run("ep1", Given(end=1.5))
    assert [one.id for one in part.people] == ["person-01"]
    rest = room.run("ep1", Given(start=5.0))
    assert {one.id for one in rest.people} == {"person-01", "person-02", "person-03"}
    assert next(one.found.shots for one in rest.people if one.id == "person-01") == 2, "what was known counts"
    whole = room.run()
    assert [one.found.shots for one in whole.people] == [2, 2, 1]
    assert {one.id: room.who(one.id) for one in whole.people}["person-01"] == "ann"


def test_what_cannot_be_looked_at_is_told(room: Room, faces: VariedFaces) -> None:
    with pytest.raises(UsageError, match="--from"):
        room.run("ep1", Given(start=99.0))
    # A mistake in the cast is told before the film is looked at.
    room.cast.mkdir()
    (room.cast / "cast.yaml").write_text("people:\n  - nam: Ann\n")
    with pytest.raises(CastError, match="line 2"):
        room.run()
    assert faces.shown == 0
