"""What the jobs of the page do, with the fake engines and the fake voice."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import (
    Config,
    Identity,
    NoProgress,
    Request,
    ShotadError,
    Task,
)
from shotad.core.errors import (
    EngineError,
    ReviewError,
    UsageError,
)
from shotad.description import Engines
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.review import work
from shotad.review.jobs import Stopped
from shotad.review.session import Session
from shotad.script import LineState, Track, script_format
from shotad.script.formats import script_file
from tests.redo.redoing import fresh, run
from tests.rendering.described import fake_voice, track_of, write_folder
from tests.review.sessions import session_of
from tests.runs import Heard


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("work") / "w"
    run(place)
    return place


@pytest.fixture
def session(described: Path, tmp_path: Path) -> Iterator[Session]:
    made = session_of(Path(shutil.copytree(described, tmp_path / "w")))
    yield made
    made.close()


@pytest.fixture
def spoken(tmp_path: Path) -> Iterator[Session]:
    """A film with sound and three lines, which the fake voice speaks."""
    made = session_of(fake_voice(write_folder(tmp_path / "s")))
    yield made
    made.close()


def texts(track: Track) -> dict[str, str]:
    return {cue.id: cue.text for cue in track.cues}


def redo(session: Session, *names: str, answer: Any = fresh, **options: Any) -> dict[str, Any]:
    engines = Engines(FakeEngine(answer=plain_answer), FakeEngine(answer=answer))
    return work.redo_line(session, NoProgress(), names, options.pop("note", ""), engines=engines, **options)


def writing(session: Session, line: str) -> Callable[[Request], str]:
    """An engine while which a person writes a line on the page."""

    def answer(request: Request) -> str:
        session.act("write", line, {"text": "Written meanwhile."})
        return fresh(request)

    return answer


def test_what_is_written_while_lines_are_described_anew_stays_the_persons(session: Session) -> None:
    line, other = session.track.heard[:2]
    redo(session, line.id, answer=writing(session, other.id))
    for track in (session.track, track_of(session.folder)):
        assert texts(track)[other.id] == "Written meanwhile."
        assert texts(track)[line.id].startswith("A cat sits")
    session.undo()
    assert session.cue(other.id).text == "Written meanwhile.", "the job's step is undone, not the person's"
    (row,) = redo(session, line.id, answer=writing(session, line.id))["lines"]
    assert row["changed"] is False
    assert "meanwhile" in row["reason"]
    cue = next(cue for cue in track_of(session.folder).cues if cue.id == line.id)
    assert cue.text == "Written meanwhile."
    assert len(cue.candidates) > len(line.candidates)


def test_describe_keeps_what_is_written_while_it_runs(session: Session) -> None:
    name, *others = (cue.id for cue in session.track.heard)
    before = texts(session.track)
    run(session.folder, "seed=7", writes=FakeEngine(answer=writing(session, name)))
    session.act("accept", others[0], {})
    now = texts(track_of(session.folder))
    assert now[name] == "Written meanwhile."
    assert any(now[other] != before[other] for other in others)
    run(session.folder, "seed=8", writes=FakeEngine(answer=fresh))
    assert texts(track_of(session.folder))[others[0]] == now[others[0]]


def test_what_was_written_before_a_stop_stays_and_can_be_undone(session: Session) -> None:
    """The job is stopped at the first line that it has written."""
    names = [cue.id for cue in session.track.heard[:3]]

    class Stopping(NoProgress):
        writing = False

        def task(self, name: str, total: float | None, unit: str) -> Task:
            self.writing = name == "Writing lines"
            return self

        def advance(self, amount: float = 1) -> None:
            if self.writing:
                raise Stopped

        def done(self) -> None: ...

    engines = Engines(FakeEngine(), FakeEngine(answer=fresh))
    with pytest.raises(Stopped):
        work.redo_line(session, Stopping(), names, engines=engines)
    changed = [name for name in names if session.cue(name).text.startswith("A cat sits")]
    assert changed == names[:1]
    session.undo()
    assert not session.cue(names[0]).text.startswith("A cat sits")
    assert redo(session, names[1])["lines"][0]["changed"], "the folder was let go"


def test_what_a_job_wrote_is_told_once_and_by_itself(session: Session) -> None:
    """Also where a page looked at the disk while it was at work."""
    first, second = (cue.id for cue in session.track.heard[:2])
    told: list[str] = []

    def answer(request: Request) -> str:
        if (found := session.refresh()) is not None:
            told.append(found.message)
        done = session.act("accept", session.track.heard[2].id, {})
        told.append(done.message)
        return fresh(request)

    redo(session, first, second, answer=answer)
    assert set(told) == {"", "Accepted by Ann.", "Accepted already by Ann."}
    assert session.next_steps["undo"] == "2 of 2 lines described again."
    assert session.refresh() is None
    session.undo()
    now = texts(track_of(session.folder))
    assert not any(now[name].startswith("A cat sits") for name in (first, second))
    assert session.cue(session.track.heard[2].id).state is LineState.ACCEPTED


def test_an_engine_that_is_gone_and_lines_that_are_not_there_change_nothing(session: Session) -> None:
    class Gone(FakeEngine):
        def generate(self, requests: Any) -> Any:
            raise EngineError("The server at localhost does not answer.", "Start it.")

    before = track_of(session.folder)
    with pytest.raises(EngineError, match="does not answer"):
        work.redo_line(session, NoProgress(), [before.cues[0].id], engines=Engines(Gone(), FakeEngine()))
    for names in ([], ["s99999999"]):
        with pytest.raises((ReviewError, UsageError)):
            redo(session, *names)
    assert track_of(session.folder) == before


def test_a_note_reaches_the_engines_and_what_leaves_the_machine_is_told(session: Session) -> None:
    seen: list[str] = []

    def answer(request: Request) -> str:
        seen.append(" ".join(message.text for message in request.messages))
        return fresh(request)

    looks, heard, line = FakeEngine(), Heard(), session.track.heard[0].id
    looks.identity = Identity("far", "f", "1")
    looks.abilities = replace(looks.abilities, sends_to="api.example.org")
    engines = Engines(looks, FakeEngine(answer=answer))
    work.redo_line(session, heard, [line], "The cat is called Tom.", engines=engines)
    assert any("api.example.org" in note for note in heard.notes)
    assert seen
    assert all("The cat is called Tom." in text for text in seen)


def test_a_script_that_cannot_be_written_is_told_and_the_others_are(session: Session) -> None:
    blocked = script_file(session.track, script_format("docx"), session.folder)
    blocked.mkdir(exist_ok=True)
    result = work.export(session, NoProgress(), ["docx", "edl", "fcpxml"])
    assert [Path(row["name"]).suffix for row in result["files"]] == [".edl", ".fcpxml"]
    assert [row["name"] for row in result["failures"]] == ["docx"]
    edl = next(session.folder.glob("*.edl")).read_text(encoding="utf-8")
    assert "3 lines at 25 fps from 00:00:00:00" in edl
    with pytest.raises(ShotadError, match="docx"):
        work.export(session, NoProgress(), ["docx"])


def test_the_film_is_made_and_what_was_made_is_offered(spoken: Session) -> None:
    heard = Heard()
    result = work.render_film(spoken, heard, ["film:mkv", "ad:wav"], profile="netflix")
    assert any("netflix" in line.lower() for line in result["told"])
    assert {"findings", "warnings", "unspoken"} <= result.keys()
    assert all(row["rule"].startswith("A") for row in result["findings"])
    assert [row["kind"] for row in result["files"]] == ["film", "ad"]
    assert all((spoken.folder / row["path"]).is_file() and row["fresh"] for row in result["files"])
    assert result["failures"] == []
    assert "3 of 3 lines spoken" in result["said"]
    assert heard.steps, "steps are told"
    assert None not in [cue.spoken for cue in spoken.track.heard], "the session knows how lines were spoken"
    assert spoken.next_steps["undo"] is None, "how a line was spoken is nothing to undo"
    again = work.render_film(spoken, NoProgress(), ["film:mkv"], profile="netflix")
    assert again["files"][0]["fresh"] is False


def test_an_edit_made_while_the_film_is_made_stays(spoken: Session) -> None:
    line = spoken.track.heard[2].id
    once = iter([True])

    class Editing(NoProgress):
        def task(self, name: str, total: float | None, unit: str) -> Task:
            if name.startswith("Measuring") and next(once, False):
                spoken.act("write", line, {"text": "Rain falls."})
            return super().task(name, total, unit)

    work.render_film(spoken, Editing(), ["ad:wav"])
    assert spoken.cue(line).text == "Rain falls."
    assert next(cue for cue in track_of(spoken.folder).cues if cue.id == line).text == "Rain falls."


def test_engines_stay_loaded_until_others_are_asked_for() -> None:
    config, again = (Config.model_validate({"engine": "fake"}) for _ in range(2))
    first = work.engines_of(config.model_dump_json())
    assert work.engines_of(again.model_dump_json()) is first
    other = config.model_copy(update={"seed": 7})
    assert work.engines_of(other.model_dump_json()) is not first
