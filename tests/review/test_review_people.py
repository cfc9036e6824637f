"""The cast on the page: who is seen in which line, and what a name does to the lines. Heads are painted."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image

from shotad.core import (
    Config,
    Interval,
    Member,
    NoProgress,
    RunInputs,
    Shot,
    Slot,
    WorkFolder,
)
from shotad.core.cast import Reveal
from shotad.core.errors import CastError, ReviewError
from shotad.core.runsettings import read_settings, write_settings
from shotad.core.types import slot_id
from shotad.description import read_worksheet, write_sheet
from shotad.description.cast_removal import clear_all
from shotad.film import open_film
from shotad.review.material import MaterialViews
from shotad.review.people import CastEditor, names, renamed
from shotad.review.session import Session
from shotad.review.work import remember_cast
from shotad.script import (
    Cue,
    LineState,
    Track,
    load_track,
    save_track,
)
from shotad.script.track import FilmId
from shotad.sight import CastFile
from tests.cast.discoveringroom import EPISODE
from tests.handmade import shots_record, slots_record, speech_record
from tests.painted_faces import look_for_painted_faces, paint_film
from tests.review.sessions import session_of

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
        write_settings(folder, Config(), film, RunInputs())
        folder.write_json("speech.json", speech_record())
        folder.write_json("slots.json", slots_record(slots))
        cuts = [int(second * 24) for second in CUTS[1:-1]]
        folder.write_json("shots.json", shots_record(shots, cuts, info.duration))
        named = FilmId(film.name, info.fingerprint, info.duration)
        save_track(Track(named, "en", (), "0", cues), place, film.name)
    return place


@pytest.fixture(scope="module")
def searched(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, when the people of the film have been looked for."""
    place = Path(shutil.copytree(run, tmp_path_factory.mktemp("searched") / "ep1.shotad"))
    with pytest.MonkeyPatch.context() as patch:
        look_for_painted_faces(patch)
        made = session_of(place)
        CastEditor(made).discover(NoProgress())
        made.close()
    return place


@pytest.fixture
def session(searched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    look_for_painted_faces(monkeypatch)
    made = session_of(Path(shutil.copytree(searched, tmp_path / "ep1.shotad")))
    yield made
    made.close()


@pytest.fixture
def people(session: Session) -> CastEditor:
    """The cast, discovered."""
    return CastEditor(session)


def who(people: CastEditor, *lines: int) -> str:
    """The key of whoever is seen in these lines alone."""
    names = [people._session.track.cues[at].id for at in lines]
    return next(row["key"] for row in people.view()["people"] if row["lines"] == names)


def test_pictures_are_small_and_only_those_of_the_cast(people: CastEditor) -> None:
    key = who(people, 0, 2)
    picture = people.picture(key, 1)
    assert max(Image.open(io.BytesIO(picture)).size) <= 240
    assert people.picture(key, 1) == picture
    for wrong in ((key, 0), (key, 99), ("../../track.json", 1), ("nobody", 1)):
        with pytest.raises(ReviewError):
            people.picture(*wrong)


def test_a_descriptor_becomes_the_name_where_that_person_is_seen_in_one_step(people, session):
    ann = who(people, 0, 2)
    before = [cue.text for cue in session.track.cues]
    result = people.name(NoProgress(), ann, "Ann", pronoun="she")
    assert result["again"] == [session.track.cues[0].id, session.track.cues[2].id]
    assert (result["changed"], result["kept"]) == ([], []), "without a descriptor nothing is certain"
    member = CastFile.open(session.folder / "cast").member(ann)
    assert (member.name, member.pronoun) == ("Ann", "she")
    assert people.discover(NoProgress())["new"] == 0, "a second search keeps the names"
    given = read_settings(session.folder).given.cast
    assert given is not None
    assert given.path == session.folder / "cast", "whatever is described anew knows the name"
    result = people.name(NoProgress(), ann, descriptor="the woman in red")
    assert [cue.text for cue in session.track.cues][:3] == [
        "Ann walks by.", before[1], "Ann's hand rises. The man turns.",
    ]  # fmt: skip
    assert result["changed"] == [session.track.cues[0].id, session.track.cues[2].id]
    assert load_track(session.folder / "track.json").cues == session.track.cues
    session.undo()
    assert [cue.text for cue in session.track.cues] == before


def test_accepted_lines_stay_and_are_told(people: CastEditor, session: Session) -> None:
    ann = who(people, 0, 2)
    session.act("accept", session.track.cues[0].id, {})
    session.act("write", session.track.cues[4].id, {"text": "Somebody walks by."})
    result = people.name(NoProgress(), ann, "Ann", descriptor="the woman in red")
    assert session.track.cues[0].text == TEXTS[0]
    assert session.track.cues[0].state is LineState.ACCEPTED
    assert result["kept"] == [session.track.cues[0].id]
    assert result["changed"] == [session.track.cues[2].id]
    assert "stays" in result["said"]


def test_a_name_that_is_taken_is_refused_and_nothing_is_written(people: CastEditor, session: Session) -> None:
    ann, bo = who(people, 0, 2), who(people, 1, 2)
    with WorkFolder(session.folder), pytest.raises(ReviewError, match="Another shotad"):
        people.name(NoProgress(), ann, "Ann")
    assert CastFile.open(session.folder / "cast").member(ann).name == ""
    people.name(NoProgress(), ann, "Ann")
    with pytest.raises(CastError, match="already"):
        people.name(NoProgress(), bo, "ann")
    with pytest.raises(ReviewError, match="Nothing new"):
        people.name(NoProgress(), bo, "  ")
    with pytest.raises(ReviewError, match="nobody called"):
        people.name(NoProgress(), "person-99", "Zed")
    assert CastFile.open(session.folder / "cast").member(bo).name == ""
    (session.folder / "cast" / "cast.yaml").write_text("people: [")
    view = people.view()
    assert view["people"] == []
    assert "cast.yaml" in view["why"], "a cast that cannot be read is told, and the rest goes on"


def test_an_extra_is_never_named_and_two_entries_become_one(people: CastEditor, session: Session) -> None:
    ann, cy = who(people, 0, 2), who(people, 4)
    result = people.name(NoProgress(), cy, nameless=True)
    assert CastFile.open(session.folder / "cast").member(cy).nameless
    assert (result["again"], result["changed"]) == ([], [])
    people.name(NoProgress(), ann, "Ann")
    result = people.merge(NoProgress(), cy, ann)
    assert who(people, 0, 2, 4) == ann
    assert cy not in {row["key"] for row in people.view()["people"]}
    assert session.track.cues[4].id in result["again"]


def test_a_character_bank_is_only_read(run: Path, tmp_path: Path) -> None:
    bank = tmp_path / "bank.json"
    bank.write_text("[]")
    session = session_of(Path(shutil.copytree(run, tmp_path / "ep1.shotad")))
    with WorkFolder(session.folder) as folder:
        remember_cast(session, folder, bank)
    people = CastEditor(session)
    assert people.view()["can_discover"] is False
    with pytest.raises(ReviewError, match="cannot be"):
        people.discover(NoProgress())
    session.close()


ANN = Member("a", "Ann Lee", spoken="Ann", pronoun="she", descriptor="the woman in red")
BLANK = Member("a", descriptor="the woman in red")
BO = Member("b", "Bo Lee", spoken="Bo")
LATER = Member("a", "Ann", descriptor="the woman in red", reveals=(Reveal(60.0),))


@pytest.mark.parametrize(("text", "before", "now", "at", "seen", "after"), [
    ("The woman in red runs.", BLANK, ANN, 5, True, "Ann runs."),
    ("Then a woman in red runs.", BLANK, ANN, 5, True, "Then Ann runs."),
    ("The woman in red runs.", BLANK, ANN, 5, False, "The woman in red runs."),
    ("The woman in reddish light runs.", BLANK, ANN, 5, True, "The woman in reddish light runs."),
    ("Anna's car stops near Ann Lee.", ANN, ANN, 5, False, "Anna's car stops near Ann."),
    ("Annie waves to Bo Lee.", Member("a", "Annie"), ANN, 5, False, "Ann waves to Bo Lee."),
    ("Lee waves.", ANN, ANN, 5, False, "Lee waves."),
    # Nothing is named before the film tells it.
    ("The woman in red runs.", BLANK, LATER, 5, True, "The woman in red runs."),
    ("The woman in red runs.", BLANK, LATER, 65, True, "Ann runs."),
])  # fmt: skip
def test_only_what_is_certain_is_replaced(text, before, now, at, seen, after):
    assert renamed(text, before, now, [BO], "f.mp4", at, is_shown=seen) == after


def test_a_name_is_said_only_once_the_film_has_told_it() -> None:
    assert [names("Ann runs.", LATER, [], "f.mp4", at) for at in (5.0, 65.0)] == [False, True]


def seen(session: Session) -> list[list[str]]:
    """Who is seen in each line, as its material says."""
    material = MaterialViews(session)
    views = [material.view(cue) for cue in session.track.cues]
    return [[] if view is None else view["people"] for view in views]


def test_who_has_no_name_keeps_a_letter_through_the_film(people: CastEditor, session: Session) -> None:
    ann, bo = who(people, 0, 2), who(people, 1, 2)
    letters = [words[0].rpartition(": ")[2] for words in seen(session) if words][:2]
    assert sorted(letters) == ["person A", "person B"]
    both = f"Shot 3: {' and '.join(sorted(letters))}"
    assert seen(session) == [
        [f"Shot 1: {letters[0]}"],
        [f"Shot 2: {letters[1]}"],
        [both],
        [],
        ["Shot 5: person C"],
    ]
    people.name(NoProgress(), ann, "Ann")
    named = [words for words in seen(session) if words]
    assert named[0] == ["Shot 1: Ann"]
    assert named[1] == [f"Shot 2: {letters[1]}"], "nobody's letter changes with somebody's name"
    assert set(named[2][0].removeprefix("Shot 3: ").split(" and ")) == {"Ann", letters[1]}
    faces = read_worksheet(session.folder, session.config, session.film).faces
    assert [(face.called, face.slots) for face in faces if face.cast_id == bo] == [(letters[1], 2)]


def test_the_worksheet_shows_faces_by_letter_until_they_are_forgotten(session: Session) -> None:
    assert session.film.path is not None
    with open_film(session.film.path) as film, WorkFolder(session.folder) as folder:
        page = write_sheet(folder, film.pictures, session.config, film.info)
    portraits = sorted(path.name for path in (session.folder / "worksheet").glob("person-*"))
    assert portraits == ["person-A.jpg", "person-B.jpg", "person-C.jpg"]
    assert all(f"worksheet/{name}" in page.read_text() for name in portraits)
    gone = clear_all(session.folder).removed
    assert {"worksheet.html", "material.json", "worksheet/person-A.jpg"} <= set(gone)
    assert not page.exists()
