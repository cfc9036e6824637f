"""From a film to a cast folder, again, with what people changed, and on to the next film; and a real film's people."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from shotad.core import (
    Config,
    NoProgress,
    RunInputs,
    WorkFolder,
    load_config,
)
from shotad.core.errors import CastError, UsageError
from shotad.description import (
    RunContext,
    discover,
)
from shotad.description.casting.recognition import DISCOVERED
from shotad.film import open_film
from shotad.sight import CastFile, CastPicture, DiscoveryRecord, Face, FaceModels, read_gallery
from shotad.sight.castfile import read_cast
from tests.cast.discoveringroom import EPISODE, NEXT, Room, VariedFaces
from tests.painted_faces import Image, Take, paint_film, photo


@pytest.fixture
def faces() -> VariedFaces:
    return VariedFaces()


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The films, and in the folder ``done`` what a run over the first episode leaves behind."""
    films = tmp_path_factory.mktemp("films")
    for number, takes in enumerate((EPISODE, NEXT), 1):
        paint_film(films / f"ep{number}.mp4", takes)
    (films / "done").mkdir()
    Room(films, films / "done", VariedFaces()).run()
    return films


@pytest.fixture
def room(begun: Path, tmp_path: Path, faces: VariedFaces) -> Room:
    return Room(begun, tmp_path, faces)


def test_a_film_becomes_a_cast_folder_that_stays_the_same(room: Room, faces: VariedFaces) -> None:
    found = room.run()
    assert [(one.id, one.way, one.name, room.who(one.id)) for one in found.people] == [
        ("person-01", "new", "", "ann"), ("person-02", "new", "", "bo"), ("person-03", "new", "", "cy"),
    ]  # fmt: skip
    people = [one.found for one in found.people]
    assert [one.shots for one in people] == [2, 2, 1]
    assert people[0].seconds == pytest.approx(4.0, abs=0.7)
    assert [one.first for one in people] == pytest.approx([0.0, 2.0, 6.5], abs=0.4)
    cast = read_cast(room.cast / "cast.yaml")
    assert [(m.id, m.name) for m in cast] == [("person-01", ""), ("person-02", ""), ("person-03", "")]
    assert all(1 < len(member.photos) <= 6 for member in cast)
    gallery = read_gallery(cast, faces, load_config().cast)
    assert set(gallery.photos) == {"person-01", "person-02", "person-03"}
    assert not gallery.warnings
    assert "first at 00:00:02 in ep1.mp4" in (room.cast / "cast.yaml").read_text()
    assert {p.id for p in DiscoveryRecord.read(room.cast).pictures} == set(gallery.photos)
    assert (room.place / "ep1.shotad" / f"{DISCOVERED}.jsonl").stat().st_size > 1000
    kinds = {path.suffix for path in room.cast.rglob("*") if path.is_file()} - {".lock"}
    assert kinds <= {".jpg", ".yaml", ".json", ".html", ""}
    assert "embed" not in (room.cast / "discovered.json").read_text()
    # The same again changes nothing.
    before = room.files()
    again = room.run()
    assert room.files() == before
    assert [(one.way, one.added, one.removed) for one in again.people] == [("renew", 0, 0)] * 3


class WatchedFaces(VariedFaces):
    """Keeps the seconds that it was shown, and is interrupted after second ``last``."""

    def __init__(self, last: float = 1e9) -> None:
        super().__init__()
        self.last = last
        self.seconds: list[float] = []

    def find(self, image: Image, seconds: float) -> list[Face]:
        self.seconds.append(seconds)
        if seconds > self.last:
            raise KeyboardInterrupt
        return super().find(image, seconds)


def test_a_killed_run_goes_on(room: Room) -> None:
    room.faces = WatchedFaces(last=4.0)
    with pytest.raises(KeyboardInterrupt):
        room.run()
    assert not room.cast.exists()
    assert len(room.faces.seconds) > 5
    room.faces = WatchedFaces()
    discovery = room.run()
    assert min(second for second in room.faces.seconds if second > 0) > 3.0, "the first two shots were known"
    assert len(discovery.people) == 3


def test_a_part_of_the_film_and_then_the_rest(room: Room) -> None:
    part = room.run("ep1", RunInputs(end=1.5))
    assert [one.id for one in part.people] == ["person-01"]
    rest = room.run("ep1", RunInputs(start=5.0))
    assert {one.id for one in rest.people} == {"person-01", "person-02", "person-03"}
    assert next(one.found.shots for one in rest.people if one.id == "person-01") == 2, "what was known counts"
    whole = room.run()
    assert [one.found.shots for one in whole.people] == [2, 2, 1]
    assert {one.id: room.who(one.id) for one in whole.people}["person-01"] == "ann"


def test_what_cannot_be_looked_at_is_told(room: Room, faces: VariedFaces) -> None:
    with pytest.raises(UsageError, match="--from"):
        room.run("ep1", RunInputs(start=99.0))
    # A mistake in the cast is told before the film is looked at.
    room.cast.mkdir()
    (room.cast / "cast.yaml").write_text("people:\n  - nam: Ann\n")
    with pytest.raises(CastError, match="line 2"):
        room.run()
    assert faces.shown == 0


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


def test_a_persons_own_picture_stays_and_ours_are_left(room: Room) -> None:
    room.begin()
    photo(room.cast / "person-02" / "portrait.png", "bo")
    before = room.files()
    again = room.run()
    assert [one.way for one in again.people] == ["renew", "leave", "renew"]
    after = room.files()
    two = [{n: h for n, h in files.items() if n.startswith("person-02")} for files in (before, after)]
    assert two[0] == two[1]
    assert 1 < len([n for n in after if n.startswith("person-01/")]) <= 6


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
        ("person-01", "Ann", "add", "ann"), ("person-02", "", "add", "bo"),
        ("person-04", "", "new", "stranger"),
    ]  # fmt: skip
    assert {(n, h) for n, h in pictures.items() if n.endswith(".jpg")} <= room.files().items()
    assert all(one.added for one in found.people)
    facts = DiscoveryRecord.read(room.cast)
    assert [f.name for f in facts.in_films("person-01")] == ["ep1.mp4", "ep2.mp4"]
    assert [f.name for f in facts.in_films("person-03")] == ["ep1.mp4"]
    assert "2 films, " in (room.cast / "cast.yaml").read_text()
    before = room.files()
    room.run("ep2")
    assert room.files() == before


def test_other_borders_part_people(room: Room, faces: VariedFaces) -> None:
    faces.kin = "cy"
    faces.join = 0.5
    together = room.run()
    assert [one.found.shots for one in together.people] == [3, 2]
    faces.join = 0.8
    apart = room.run()
    assert [(one.id, one.way, one.found.shots) for one in apart.people] == [
        ("person-01", "renew", 2), ("person-02", "renew", 2), ("person-03", "new", 1),
    ]  # fmt: skip
    assert (room.who("person-01"), room.who("person-03")) == ("ann", "cy")
    faces.join = 0.5
    again = room.run()
    assert again.gone == ("person-03",)
    assert not (room.cast / "person-03").exists()
    assert [member.id for member in read_cast(room.cast / "cast.yaml")] == ["person-01", "person-02"]


def test_somebody_named_is_never_taken_out_by_a_run(room: Room, faces: VariedFaces) -> None:
    faces.kin = "cy"
    faces.join = 0.8
    room.run()
    file = CastFile.open(room.cast)
    file.update("person-03", name="Cy")
    file.save()
    pictures = {name: digest for name, digest in room.files().items() if name.startswith("person-03")}
    # By other borders Cy is no longer told from Ann.
    faces.join = 0.5
    discovery = room.run()
    assert discovery.gone == ()
    assert pictures.items() <= room.files().items()
    assert "person-03" in {member.id for member in read_cast(room.cast / "cast.yaml")}


def test_who_is_seen_too_briefly_is_left_out(tmp_path: Path, faces: VariedFaces) -> None:
    takes = (EPISODE[0], EPISODE[1], Take(0.5, EPISODE[4].heads))
    paint_film(tmp_path / "brief.mp4", takes)
    discovery = Room(tmp_path, tmp_path, faces).run("brief")
    assert [person.id for person in discovery.people] == ["person-01", "person-02"]
    assert discovery.brief == 1


BATTLE = Path(__file__).resolve().parents[3] / "shared" / "data" / "films" / "tears-of-steel-battle.webm"

SEEN = (
    ("dark", 5.0, 6.6, 0.0), ("fair", 12.8, 26.2, 0.0), ("beard", 26.8, 27.8, 0.0), ("fair", 28.6, 29.8, 0.0),
    ("beard", 29.2, 29.8, 0.38), ("fair", 36.2, 37.7, 0.0), ("beard", 36.2, 37.7, 0.42),
    ("dark", 50.0, 57.5, 0.0),
)  # fmt: skip
"""Who is seen, from when to when, with the face's left edge from which it is them; by eye. Later rows win."""


def shown(picture: CastPicture) -> str:
    return [
        who for who, start, end, left in SEEN if start <= picture.second <= end and picture.box.left >= left
    ][-1]


@pytest.mark.long
def test_nobody_found_is_two_people_and_the_pictures_know_them_again(tmp_path: Path) -> None:
    if not BATTLE.is_file():
        pytest.skip(f"there is no {BATTLE}")
    film = Path(shutil.copy(BATTLE, tmp_path))
    config = Config()
    with open_film(film) as opened, WorkFolder(tmp_path / "work") as folder:
        found = discover(
            RunContext.of(opened, folder, config, RunInputs(), NoProgress()), tmp_path / "x.cast"
        )
    whose: dict[str, set[str]] = {}
    for picture in DiscoveryRecord.read(tmp_path / "x.cast").pictures:
        whose.setdefault(picture.id, set()).add(shown(picture))
    assert all(len(people) == 1 for people in whose.values()), whose
    assert set().union(*whose.values()) == {"dark", "fair", "beard"}
    assert len(found.people) <= 7, "three people, of whom some are found in parts"
    assert found.people[0].found.seconds > 10
    models = FaceModels(config.cast)
    reading = read_gallery(read_cast(tmp_path / "x.cast" / "cast.yaml"), models, config.cast)
    assert set(reading.photos) == {one.id for one in found.people}
    assert not [text for text in reading.warnings if "No face" in text or "Several faces" in text]
