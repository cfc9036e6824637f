"""From a film to a cast folder, again, with what people changed, and on to the next film."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shotad.core import CastError, Given, UsageError
from shotad.description import DISCOVERED
from shotad.description.cast_discovery import comment_of
from shotad.sight import Face, Facts, Look, portrait, read_gallery
from shotad.sight.castfile import read_cast
from tests.casting.discoveringroom import WHOLE, Room, VariedFaces
from tests.painted_faces import Head, Image, PaintedFaces, Take


def test_a_film_becomes_a_cast_folder(room: Room, faces: VariedFaces) -> None:
    found = room.run()
    assert [(one.id, one.way, one.name, room.who(one.id)) for one in found.people] == [
        ("person-01", "new", "", "ann"),
        ("person-02", "new", "", "bo"),
        ("person-03", "new", "", "cy"),
    ]
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


def test_every_picture_shows_the_whole_head_with_something_around_it(room: Room) -> None:
    from shotad.sight import load_photo

    room.begin()
    for path in room.cast.rglob("*.jpg"):
        (face,) = PaintedFaces().find(load_photo(path), 0.0)
        assert 0.3 < face.box.height < 0.75, path
        assert face.box.left > 0.1
        assert face.box.right < 0.9


def test_the_same_again_changes_nothing(room: Room) -> None:
    room.begin()
    before = room.files()
    again = room.run()
    assert room.files() == before
    assert [(one.way, one.added, one.removed) for one in again.people] == [("renew", 0, 0)] * 3


def test_two_runs_in_two_places_write_the_same_bytes(room: Room, films: Path, tmp_path: Path) -> None:
    room.run()
    other = Room(films, tmp_path / "other")
    (tmp_path / "other").mkdir()
    other.run()
    assert other.files() == room.files()


def test_the_film_is_not_looked_at_again_unless_forced(room: Room, faces: VariedFaces) -> None:
    room.run()
    first, faces.shown = faces.shown, 0
    room.run()
    again, faces.shown = faces.shown, 0
    room.run(force=True)
    forced = faces.shown
    assert forced == first
    assert again == first - len(looks_of(room))


def looks_of(room: Room) -> list[float]:
    """The moments of the film at which faces are looked for: three a second, eight seconds."""
    return [n / 3 for n in range(24)]


def test_a_killed_run_goes_on_where_it_was(
    room: Room, faces: VariedFaces, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_film_without_faces_leaves_no_cast(room: Room) -> None:
    found = room.run("empty")
    assert (found.people, found.faces) == ((), 0)
    assert not room.cast.exists()


def test_a_film_without_faces_changes_no_cast(room: Room) -> None:
    room.begin()
    before = room.files()
    assert room.run("empty").people == ()
    assert room.files() == before


def test_a_part_of_the_film_and_then_the_rest(room: Room) -> None:
    part = room.run("ep1", Given(end=1.5))
    assert [one.id for one in part.people] == ["person-01"]
    rest = room.run("ep1", Given(start=5.0))
    assert {one.id for one in rest.people} == {"person-01", "person-02", "person-03"}
    assert next(one.found.shots for one in rest.people if one.id == "person-01") == 2, "what was known counts"
    whole = room.run()
    assert [one.found.shots for one in whole.people] == [2, 2, 1]
    assert {one.id: room.who(one.id) for one in whole.people}["person-01"] == "ann"


def test_nothing_after_the_end_can_be_looked_at(room: Room) -> None:
    with pytest.raises(UsageError, match="--from"):
        room.run("ep1", Given(start=99.0))


def test_embeddings_are_in_the_work_folder_and_not_in_the_cast(room: Room) -> None:
    room.begin()
    assert (room.place / "ep1.shotad" / f"{DISCOVERED}.jsonl").stat().st_size > 1000
    kinds = {path.suffix for path in room.cast.rglob("*") if path.is_file()} - {".lock"}
    assert kinds <= {".jpg", ".yaml", ".json", ".html", ""}
    assert "embed" not in (room.cast / "discovered.json").read_text()


def test_a_mistake_in_the_cast_is_told_before_the_film_is_looked_at(room: Room, faces: VariedFaces) -> None:
    room.cast.mkdir()
    (room.cast / "cast.yaml").write_text("people:\n  - nam: Ann\n")
    with pytest.raises(CastError, match="line 2"):
        room.run()
    assert faces.shown == 0


def test_a_look_with_two_heads_close_together_is_cut_closer_or_not_at_all(faces: VariedFaces) -> None:
    from tests.painted_faces import _picture

    near = _picture(0, Take(1, (Head("ann", (0.4, 0.5)), Head("bo", (0.62, 0.5)))), 0)
    face = next(f for f in faces.find(near, 0.0) if f.box.centre[0] < 0.5)
    centre = np.asarray(faces.read(near, face))
    look = Look(0, face, centre, 180)
    none = np.zeros((0, len(centre)), np.float32)
    made = portrait(near, look, centre, none, faces)
    assert made is not None
    touching = _picture(0, Take(1, (Head("ann", (0.4, 0.5)), Head("bo", (0.58, 0.5)))), 0)
    face = next(f for f in faces.find(touching, 0.0) if f.box.centre[0] < 0.5)
    assert portrait(touching, replace(look, face=face), centre, none, faces) is None


def test_a_picture_that_looks_like_somebody_else_is_not_kept(faces: VariedFaces) -> None:
    from tests.painted_faces import _picture

    image = _picture(0, Take(1, (Head("ann"),)), 0)
    (face,) = faces.find(image, 0.0)
    centre = np.asarray(faces.read(image, face))
    look = Look(0, face, centre, 180)
    none = np.zeros((0, len(centre)), np.float32)
    assert portrait(image, look, centre, none, faces) is not None
    assert portrait(image, look, centre, centre[np.newaxis], faces) is None
    assert portrait(image, look, -centre, none, faces) is None


def test_comments_count_films() -> None:
    found = Facts.read(Path("/nowhere")).found
    assert found == ()
    from shotad.sight import Found

    one, two = Found("a", "f", "ep1.mp4", 1, 3.3, 83.5), Found("a", "g", "ep2.mp4", 2, 1.0, 2.0)
    assert comment_of([one]) == "1 shot, 3 s in view, first at 00:01:23 in ep1.mp4"
    assert comment_of([one, two], "bo").splitlines() == [
        "2 films, 3 shots, 4 s in view, first at 00:01:23 in ep1.mp4",
        "Looks like bo; if they are one person, merge them",
    ]
