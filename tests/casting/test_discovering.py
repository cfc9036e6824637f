"""From a film to a cast folder, again, with what people changed, and on to the next film."""

from __future__ import annotations

import hashlib
import shutil
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from shotad.cast.files.castfile import CastFile, read_cast
from shotad.cast.files.merging import merge
from shotad.cast.found.castfolder import Facts
from shotad.cast.found.portraits import Look, portrait
from shotad.cast.gallery import read_gallery
from shotad.casting import discovering, filing
from shotad.casting.discovering import discover
from shotad.casting.discovery import Discovery, comment_of
from shotad.casting.records import DISCOVERED
from shotad.config import Config, load_config
from shotad.errors import CastError, UsageError
from shotad.film.reader import open_film
from shotad.prepare import Bench, Given
from shotad.progress import NoProgress
from shotad.sight.faces import Face
from shotad.workfolder import WorkFolder
from tests.painted_faces import HEADS, Head, Image, PaintedFaces, Take, paint_film, photo

WHOLE = Given()
LEFT, RIGHT = (0.25, 0.5), (0.75, 0.5)
EPISODE = (
    Take(2.0, (Head("ann", LEFT, (0.4, 0.5)),)),
    Take(1.5, (Head("bo", RIGHT, RIGHT),)),
    Take(2.0, (Head("ann", RIGHT, RIGHT), Head("bo", LEFT, LEFT))),
    Take(1.0),
    Take(1.5, (Head("cy", LEFT, (0.5, 0.5)),)),
)
NEXT = (
    Take(2.0, (Head("bo", LEFT, LEFT, 0.4),)),
    Take(1.5),
    Take(2.0, (Head("stranger", RIGHT, RIGHT), Head("ann", LEFT, LEFT, 0.4))),
)


class VariedFaces(PaintedFaces):
    """Painted heads that look a little different in each picture; ``kin`` is somewhat like ``ann``."""

    identity = "varied/1"
    kin = "nobody"

    def __init__(self) -> None:
        super().__init__()
        self.identity = "varied/1"

    def read(self, image: Image, face: Face) -> npt.NDArray[np.float32]:
        own = super().read(image, face)
        if list(HEADS)[int(np.argmax(own))] == self.kin:
            own = (0.8 * np.eye(8)[0] + 0.6 * own).astype(np.float32)
        seed = zlib.crc32(np.ascontiguousarray(image).tobytes())
        noise = np.random.default_rng(seed).normal(size=24)
        row = np.concatenate([own, 0.5 * noise / np.linalg.norm(noise)])
        return np.asarray(row / np.linalg.norm(row), np.float32)


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("films")
    paint_film(folder / "ep1.mp4", EPISODE)
    paint_film(folder / "ep2.mp4", NEXT)
    paint_film(folder / "empty.mp4", (Take(1.5), Take(1.5)))
    return folder


@pytest.fixture
def faces(monkeypatch: pytest.MonkeyPatch) -> VariedFaces:
    models = VariedFaces()
    monkeypatch.setattr(discovering, "make_face_models", lambda *_: models)
    return models


class Room:
    """A place with films, where discovery is run."""

    def __init__(self, films: Path, place: Path) -> None:
        self.films, self.place = films, place
        self.cast = place / "ep1.cast"

    def run(
        self, film: str = "ep1", given: Given = WHOLE, *assignments: str, force: bool = False
    ) -> Discovery:
        config = self.config(*assignments)
        with (
            open_film(self.films / f"{film}.mp4") as opened,
            WorkFolder(self.place / f"{film}.shotad", force=force) as folder,
        ):
            return discover(Bench.of(opened, folder, config, given, NoProgress()), self.cast)

    def begin(self) -> None:
        """Have the first episode looked through, as `run` does; it was done once for all tests."""
        shutil.copytree(self.films / "done", self.place, dirs_exist_ok=True)

    def config(self, *assignments: str) -> Config:
        return load_config(None, assignments)

    def files(self) -> dict[str, str]:
        """The hash of every file of the cast, without its lock."""
        return {
            path.relative_to(self.cast).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.cast.rglob("*"))
            if path.is_file() and path.name != ".lock"
        }

    def who(self, person: str) -> str:
        """Whose head the pictures of somebody show; all the same, or it is an error."""
        from shotad.cast.photos import load_photo

        file = CastFile.open(self.cast)
        shown = set()
        for path in file.member(person).photos:
            image = load_photo(path)
            (face,) = PaintedFaces().find(image, 0.0)
            shown.add(list(HEADS)[int(np.argmax(PaintedFaces().read(image, face)))])
        (one,) = shown
        return one


@pytest.fixture(scope="module")
def begun(films: Path) -> Path:
    """The films, and in the folder ``done`` what a run over the first episode leaves behind."""
    (films / "done").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discovering, "make_face_models", lambda *_: VariedFaces())
        Room(films, films / "done").run()
    return films


@pytest.fixture
def room(begun: Path, tmp_path: Path, faces: VariedFaces) -> Room:
    return Room(begun, tmp_path)


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
    from shotad.cast.photos import load_photo

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


def test_names_comments_and_fields_stay(room: Room) -> None:
    room.begin()
    path = room.cast / "cast.yaml"
    text = path.read_text().replace("name:\n", "name: Ann Lee  # the heroine\n    pronoun: she\n", 1)
    path.write_text(text.replace("\n  - id: person-02", "\n  # mine\n  - id: person-02"))
    before = room.files()
    again = room.run()
    assert [one.name for one in again.people] == ["Ann Lee", "", ""]
    after = room.files()
    assert {n for n in after if before.get(n) != after[n]} <= {"overview.html", "cast.yaml"}
    kept = path.read_text()
    assert all(words in kept for words in ("Ann Lee  # the heroine\n    pronoun: she\n", "  # mine\n"))
    room.run()
    assert room.files() == after
    page = (room.cast / "overview.html").read_text()
    assert "Ann Lee (person-01)" in page
    assert 'alt="Ann Lee, picture 1 of ' in page


def test_a_deleted_picture_does_not_come_back(room: Room) -> None:
    room.begin()
    gone = next((room.cast / "person-01").glob("*.jpg"))
    gone.unlink()
    before = room.files()
    again = room.run()
    assert room.files() == {**before, "overview.html": room.files()["overview.html"]}
    assert [one.way for one in again.people] == ["leave", "renew", "renew"]
    assert room.run(force=True).people[0].way == "leave"
    assert not gone.exists()


def test_a_persons_own_picture_stays_and_ours_are_left_alone(room: Room) -> None:
    room.begin()
    photo(room.cast / "person-02" / "portrait.png", "bo")
    before = room.files()
    again = room.run("ep1", WHOLE, "discover.pictures=2")
    assert [one.way for one in again.people] == ["renew", "leave", "renew"]
    after = room.files()
    assert {n: h for n, h in after.items() if n.startswith("person-02")} == {
        n: h for n, h in before.items() if n.startswith("person-02")
    }
    assert len([n for n in after if n.startswith("person-01/")]) == 2


def test_all_pictures_deleted_leave_the_person(room: Room) -> None:
    room.begin()
    for path in (room.cast / "person-01").glob("*.jpg"):
        path.unlink()
    again = room.run()
    assert next((one.id, one.way) for one in again.people) == ("person-01", "leave")
    assert "There is no picture" in (room.cast / "overview.html").read_text()


def test_merged_people_stay_merged(room: Room) -> None:
    room.begin()
    file = CastFile.open(room.cast)
    merge(file, file.member("person-03"), file.member("person-01"))
    file.save()
    again = room.run()
    assert [(one.id, one.found.shots) for one in again.people] == [("person-01", 3), ("person-02", 2)]
    assert [member.id for member in read_cast(room.cast / "cast.yaml")] == ["person-01", "person-02"]


def test_who_is_taken_out_stays_out(room: Room) -> None:
    room.begin()
    file = CastFile.open(room.cast)
    file.remove("person-02")
    file.save()
    again = room.run()
    assert [one.id for one in again.people] == ["person-01", "person-03"]
    assert again.dismissed == 1
    assert room.run().dismissed == 1
    assert "person-02" not in (room.cast / "cast.yaml").read_text()


def test_the_next_episode_knows_and_adds(room: Room) -> None:
    room.begin()
    file = CastFile.open(room.cast)
    file.update("person-01", name="Ann")
    file.save()
    pictures = room.files()
    found = room.run("ep2")
    assert sorted((one.id, one.name, one.way, room.who(one.id)) for one in found.people) == [
        ("person-01", "Ann", "add", "ann"),
        ("person-02", "", "add", "bo"),
        ("person-04", "", "new", "stranger"),
    ]
    assert {n: h for n, h in room.files().items() if n in pictures and n.endswith(".jpg")} == {
        n: h for n, h in pictures.items() if n.endswith(".jpg")
    }
    assert all(one.added for one in found.people)
    facts = Facts.read(room.cast)
    assert [f.name for f in facts.in_films("person-01")] == ["ep1.mp4", "ep2.mp4"]
    assert [f.name for f in facts.in_films("person-03")] == ["ep1.mp4"]
    assert "2 films, " in (room.cast / "cast.yaml").read_text()
    before = room.files()
    room.run("ep2")
    assert room.files() == before


def test_photos_of_ones_own_are_a_cast_to_begin_with(room: Room) -> None:
    photo(room.cast / "Ann Lee" / "1.png", "ann")
    photo(room.cast / "Bo" / "1.png", "bo")
    found = room.run()
    assert [(one.name, one.way) for one in found.people] == [("Ann Lee", "add"), ("Bo", "add"), ("", "new")]
    assert found.people[2].id == "person-01"
    assert len(list((room.cast / "Bo").glob("ep1-*.jpg"))) > 1
    before = room.files()
    assert [one.way for one in room.run().people][:2] == ["leave", "leave"]
    assert room.files() == before


def test_a_film_gives_no_more_than_the_cap(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.run("ep1", WHOLE, "discover.pictures=2")
    monkeypatch.setattr(filing, "_MOST", 1)
    found = room.run("ep2", WHOLE, "discover.pictures=2")
    assert [(one.way, one.added) for one in found.people if one.way == "add"] == [("add", 0)] * 2


def test_other_settings_part_people_and_the_greater_part_keeps_the_id(room: Room, faces: VariedFaces) -> None:
    faces.kin = "cy"
    together = room.run("ep1", WHOLE, "discover.join=0.5")
    assert [one.found.shots for one in together.people] == [3, 2]
    apart = room.run("ep1", WHOLE, "discover.join=0.8")
    assert [(one.id, one.way, one.found.shots) for one in apart.people] == [
        ("person-01", "renew", 2),
        ("person-02", "renew", 2),
        ("person-03", "new", 1),
    ]
    assert (room.who("person-01"), room.who("person-03")) == ("ann", "cy")
    again = room.run("ep1", WHOLE, "discover.join=0.5")
    assert again.gone == ("person-03",)
    assert not (room.cast / "person-03").exists()
    assert [member.id for member in read_cast(room.cast / "cast.yaml")] == ["person-01", "person-02"]


def test_somebody_named_is_never_taken_out_by_a_run(room: Room) -> None:
    room.begin()
    file = CastFile.open(room.cast)
    file.update("person-03", name="Cy")
    file.save()
    pictures = {n: h for n, h in room.files().items() if n.startswith("person-03")}
    found = room.run("ep1", WHOLE, "discover.least_seconds=3")
    assert "person-03" in {one.id for one in found.people}
    assert {n: h for n, h in room.files().items() if n.startswith("person-03")} == pictures
    assert found.gone == ()


def test_who_is_seen_too_briefly_is_left_out(room: Room) -> None:
    found = room.run("ep1", WHOLE, "discover.least_seconds=2")
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
    from shotad.cast.found.castfolder import Found

    one, two = Found("a", "f", "ep1.mp4", 1, 3.3, 83.5), Found("a", "g", "ep2.mp4", 2, 1.0, 2.0)
    assert comment_of([one]) == "1 shot, 3 s in view, first at 00:01:23 in ep1.mp4"
    assert comment_of([one, two], "bo").splitlines() == [
        "2 films, 3 shots, 4 s in view, first at 00:01:23 in ep1.mp4",
        "Looks like bo; if they are one person, merge them",
    ]
