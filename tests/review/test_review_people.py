"""The cast on the page: who is seen in which line, and what a name does to the lines. Heads are painted."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from shotad.core import (
    Interval,
    RunInputs,
    Shot,
    Slot,
    WorkFolder,
    load_config,
)
from shotad.core.cast import Reveal
from shotad.core.runsettings import read_settings, record_cast, write_settings
from shotad.core.types import slot_id
from shotad.description import read_worksheet, write_sheet
from shotad.description.cast_removal import clear_all
from shotad.film import open_film
from shotad.script import Cue, Track, load_track, save_track
from shotad.script.track import FilmId
from shotad.sight import CastFile
from tests.cast.discoveringroom import EPISODE
from tests.handmade import shots_record, slots_record, speech_record
from tests.painted_faces import look_for_painted_faces, paint_film
from tests.review.reviewed import Page, reviewed

CUTS = (0.0, 2.0, 3.5, 5.5, 6.5, 8.0)
TEXTS = (
    "A woman in red walks by.", "A man in green waits.", "The woman in red's hand rises. The man turns.",
    "A wall.", "Somebody comes.",
)  # fmt: skip


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ann in the first shot, Bo in the second, both in the third, nobody in the fourth, Cy in the fifth."""
    return paint_film(tmp_path_factory.mktemp("film") / "ep1.mp4", EPISODE)


@pytest.fixture(scope="module")
def run(film: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A work folder with a slot and a line for each shot
    place = tmp_path_factory.mktemp("run") / "ep1.shotad"
    with open_film(film) as opened:
        info = opened.info
    spans = [Interval(a, b) for a, b in pairwise(CUTS)]
    slots = tuple(Slot(slot_id(span.start + 0.1), Interval(span.start + 0.1, span.end), 8) for span in spans)
    cues = tuple(Cue(slot.id, slot.id, slot.interval, text) for slot, text in zip(slots, TEXTS, strict=True))
    shots = tuple(Shot(i, span) for i, span in enumerate(spans))
    with WorkFolder(place) as folder:
        write_settings(folder, load_config(None, ("lint.parse=words",)), film, RunInputs())
        folder.write_json("speech.json", speech_record())
        folder.write_json("slots.json", slots_record(slots))
        cuts = [int(second * 24) for second in CUTS[1:-1]]
        folder.write_json("shots.json", shots_record(shots, cuts, info.duration))
        named = FilmId(film.name, info.fingerprint, info.duration)
        save_track(Track(named, "en", (), "0", cues), place, film.name)
    return place


@pytest.fixture(scope="module")
def searched(run: Path, film: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, when the people of the film have been looked for."""
    place = Path(shutil.copytree(run, tmp_path_factory.mktemp("searched") / "ep1.shotad"))
    with pytest.MonkeyPatch.context() as patch:
        look_for_painted_faces(patch)
        with reviewed(place, film=film) as (_, page):
            assert page.job(kind="discover")["state"] == "done"
    return place


@pytest.fixture
def place(searched: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(searched, tmp_path / "ep1.shotad"))


@pytest.fixture
def page(place: Path, film: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """The page, with the cast discovered."""
    look_for_painted_faces(monkeypatch)
    with reviewed(place, film=film) as (_, page):
        yield page


def line_ids(page: Page) -> list[str]:
    return [line["id"] for line in page.film()["lines"]]


def texts(page: Page) -> list[str]:
    return [line["text"] for line in page.film()["lines"]]


def people_of(page: Page) -> list[Any]:
    return list(page.get("/api/cast").json["people"])


def seen_in(page: Page, *numbers: int) -> str:
    """The key of whoever is seen in these lines alone."""
    lines = [line_ids(page)[number] for number in numbers]
    return next(str(person["key"]) for person in people_of(page) if person["lines"] == lines)


def name(page: Page, person: str, new_name: str = "", **more: Any) -> Any:
    """What came of a name."""
    job = page.job(kind="name", person=person, name=new_name, **more)
    assert job["state"] == "done", job["error"]
    return job["result"]


def refusal(page: Page, **job: Any) -> str:
    """Why a job has failed."""
    ended = page.job(**job)
    assert ended["state"] == "failed"
    return f"{ended['error']['what']} {ended['error']['hint']}"


def test_pictures_are_small_and_only_those_of_the_cast(page: Page) -> None:
    key = seen_in(page, 0, 2)
    picture = page.get(f"/media/person/{key}/1.jpg")
    assert max(Image.open(io.BytesIO(picture.body)).size) <= 240
    assert page.get(f"/media/person/{key}/1.jpg").body == picture.body
    for wrong in (f"{key}/0", f"{key}/99", "..%2F..%2Ftrack.json/1", "nobody/1"):
        assert page.get(f"/media/person/{wrong}.jpg").status == 404


def test_a_descriptor_becomes_the_name_where_that_person_is_seen_in_one_step(page, place):
    ann = seen_in(page, 0, 2)
    before, lines = texts(page), line_ids(page)
    result = name(page, ann, "Ann", pronoun="she")
    assert result["again"] == [lines[0], lines[2]]
    assert (result["changed"], result["kept"]) == ([], []), "without a descriptor nothing is certain"
    member = CastFile.open(place / "cast").member(ann)
    assert (member.name, member.pronoun) == ("Ann", "she")
    assert page.job(kind="discover")["result"]["new"] == 0, "a second search keeps the names"
    given = read_settings(place).given.cast
    assert given is not None
    assert given.path == place / "cast", "whatever is described anew knows the name"
    result = name(page, ann, descriptor="the woman in red")
    assert texts(page)[:3] == ["Ann walks by.", before[1], "Ann's hand rises. The man turns."]
    assert result["changed"] == [lines[0], lines[2]]
    assert [cue.text for cue in load_track(place / "track.json").cues] == texts(page)
    page.do("undo")
    assert texts(page) == before


def test_accepted_lines_stay_and_are_told(page: Page) -> None:
    ann, lines = seen_in(page, 0, 2), line_ids(page)
    page.do("accept", lines[0])
    page.do("write", lines[4], text="Somebody walks by.")
    result = name(page, ann, "Ann", descriptor="the woman in red")
    accepted = page.line(lines[0])
    assert (accepted["text"], accepted["state"]) == (TEXTS[0], "accepted")
    assert result["kept"] == [lines[0]]
    assert result["changed"] == [lines[2]]
    assert "stays" in result["said"]["text"]


def test_a_name_that_is_taken_is_refused_and_nothing_is_written(page: Page, place: Path) -> None:
    ann, bo = seen_in(page, 0, 2), seen_in(page, 1, 2)
    with WorkFolder(place):
        assert "Another shotad" in refusal(page, kind="name", person=ann, name="Ann")
    assert CastFile.open(place / "cast").member(ann).name == ""
    name(page, ann, "Ann")
    assert "already" in refusal(page, kind="name", person=bo, name="ann")
    assert "Nothing new" in refusal(page, kind="name", person=bo, name="  ")
    assert "nobody called" in refusal(page, kind="name", person="person-99", name="Zed")
    assert CastFile.open(place / "cast").member(bo).name == ""
    (place / "cast" / "cast.yaml").write_text("people: [")
    cast = page.get("/api/cast").json
    assert cast["people"] == []
    assert "cast.yaml" in cast["why"], "a cast that cannot be read is told, and the rest goes on"
    assert "cast.yaml" in refusal(page, kind="name", person=bo, name="Zed")


def test_an_extra_is_never_named_and_two_entries_become_one(page: Page, place: Path) -> None:
    ann, cy = seen_in(page, 0, 2), seen_in(page, 4)
    result = name(page, cy, nameless=True)
    assert CastFile.open(place / "cast").member(cy).nameless
    assert (result["again"], result["changed"]) == ([], [])
    name(page, ann, "Ann")
    result = page.job(kind="merge", person=cy, into=ann)["result"]
    assert seen_in(page, 0, 2, 4) == ann
    assert cy not in {person["key"] for person in people_of(page)}
    assert line_ids(page)[4] in result["again"]


def test_a_character_bank_is_only_read(run: Path, film: Path, tmp_path: Path) -> None:
    bank = tmp_path / "bank.json"
    bank.write_text("[]")
    place = Path(shutil.copytree(run, tmp_path / "ep1.shotad"))
    with WorkFolder(place) as folder:
        record_cast(folder, read_settings(place), bank)
    with reviewed(place, film=film) as (_, page):
        assert page.get("/api/cast").json["can_discover"] is False
        assert "cannot be" in refusal(page, kind="discover")


SHOWN, LATER_SHOWN, UNSHOWN = 0, 2, 3
RED = {"descriptor": "the woman in red"}
FULL = {"name": "Ann Lee", "spoken": "Ann"}
REVEALED = {"reveals": (Reveal(3.0),)}


@pytest.mark.parametrize(("text", "line", "member", "told", "after"), [
    ("The woman in red runs.", SHOWN, RED, {"name": "Ann"}, "Ann runs."),
    ("Then a woman in red runs.", SHOWN, RED, {"name": "Ann"}, "Then Ann runs."),
    ("The woman in red runs.", UNSHOWN, RED, {"name": "Ann"}, "The woman in red runs."),
    ("The woman in reddish light runs.", SHOWN, RED, {"name": "Ann"}, "The woman in reddish light runs."),
    ("Anna's car stops near Ann Lee.", UNSHOWN, FULL, {"pronoun": "she"}, "Anna's car stops near Ann."),
    ("Annie waves to Bo Lee.", UNSHOWN, {"name": "Annie"}, {"name": "Ann"}, "Ann waves to Bo Lee."),
    ("Lee waves.", UNSHOWN, FULL, {"pronoun": "she"}, "Lee waves."),
    # Nothing is named before the film tells it.
    ("The woman in red runs.", SHOWN, {**RED, **REVEALED}, {"name": "Ann"}, "The woman in red runs."),
    ("The woman in red runs.", LATER_SHOWN, {**RED, **REVEALED}, {"name": "Ann"}, "Ann runs."),
])  # fmt: skip
def test_only_what_is_certain_is_replaced(page, place, text, line, member, told, after):
    ann, bo, line_id = seen_in(page, 0, 2), seen_in(page, 1, 2), line_ids(page)[line]
    file = CastFile.open(place / "cast")
    file.update(ann, **member)
    file.update(bo, name="Bo Lee", spoken="Bo")
    file.save()
    page.do("write", line_id, text=text)
    name(page, ann, told.get("name", ""), pronoun=told.get("pronoun"))
    assert page.line(line_id)["text"] == after


def test_a_line_lacks_a_name_only_once_the_film_has_told_it(page: Page, place: Path) -> None:
    ann, lines = seen_in(page, 0, 2), line_ids(page)
    file = CastFile.open(place / "cast")
    file.update(ann, **REVEALED)
    file.save()
    for line in (lines[0], lines[2]):
        page.do("write", line, text="Somebody runs.")
    assert name(page, ann, "Ann")["kept"] == [lines[2]]
    page.do("write", lines[2], text="Ann runs.")
    assert name(page, ann, pronoun="she")["kept"] == []


def seen_by_line(page: Page) -> list[list[str]]:
    """Who is seen in each line, as its material says: ``Shot 1: Ann and person B``."""
    materials = [page.get(f"/api/lines/{line}").json["material"] for line in line_ids(page)]
    groups_of_lines = [[] if material is None else material["people"] for material in materials]
    return [
        [f"Shot {group['shots'][0]}: {' and '.join(group['known'])}" for group in groups]
        for groups in groups_of_lines
    ]


def test_who_has_no_name_keeps_a_letter_through_the_film(page: Page, place: Path, film: Path) -> None:
    ann, bo = seen_in(page, 0, 2), seen_in(page, 1, 2)
    letters = [words[0].rpartition(": ")[2] for words in seen_by_line(page) if words][:2]
    assert sorted(letters) == ["person A", "person B"]
    both = f"Shot 3: {' and '.join(sorted(letters))}"
    assert seen_by_line(page) == [
        [f"Shot 1: {letters[0]}"],
        [f"Shot 2: {letters[1]}"],
        [both],
        [],
        ["Shot 5: person C"],
    ]
    name(page, ann, "Ann")
    named = [words for words in seen_by_line(page) if words]
    assert named[0] == ["Shot 1: Ann"]
    assert named[1] == [f"Shot 2: {letters[1]}"], "nobody's letter changes with somebody's name"
    assert set(named[2][0].removeprefix("Shot 3: ").split(" and ")) == {"Ann", letters[1]}
    with open_film(film) as opened:
        faces = read_worksheet(place, read_settings(place).config, opened.info).faces
    assert [(face.called, face.slots) for face in faces if face.cast_id == bo] == [(letters[1], 2)]


def test_the_worksheet_shows_faces_by_letter_until_they_are_forgotten(
    place: Path, film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_for_painted_faces(monkeypatch)
    with open_film(film) as opened, WorkFolder(place) as folder:
        page = write_sheet(folder, opened.pictures, read_settings(place).config, opened.info)
    portraits = sorted(path.name for path in (place / "worksheet").glob("person-*"))
    assert portraits == ["person-A.jpg", "person-B.jpg", "person-C.jpg"]
    assert all(f"worksheet/{portrait}" in page.read_text() for portrait in portraits)
    removed = clear_all(place).removed
    assert {"worksheet.html", "material.json", "worksheet/person-A.jpg"} <= set(removed)
    assert not page.exists()
