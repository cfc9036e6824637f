"""A person at the page while describe, redo and render write the same track: nobody loses anything."""

from __future__ import annotations

import multiprocessing
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Request, WorkFolder
from shotad.engines.fake import FakeEngine
from shotad.film import open_film
from shotad.review.session import Session
from shotad.script import TRACK, Track, Voiced, line_stamp, load_track, save_track, track_lock
from shotad.sound.voicing import gather
from tests.redo.redoing import again, fresh, run
from tests.rendering.described import film_with, write_folder
from tests.review.sessions import session_of


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("beside") / "w"
    run(place)
    return place


@pytest.fixture
def place(described: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(described, tmp_path / "w"))


class Person:
    """Writes a line of the page once, while an engine thinks."""

    def __init__(self, session: Session, line: str, text: str) -> None:
        self.session, self.line, self.text = session, line, text
        self.done = False

    def answer(self, request: Request) -> str:
        if not self.done:
            self.done = True
            self.session.act("write", self.line, {"text": self.text})
        return fresh(request)


def on_disk(place: Path) -> Track:
    return load_track(place / TRACK)


def heard(track: Track) -> list[str]:
    return [cue.id for cue in track.heard]


def texts(track: Track) -> dict[str, str]:
    return {cue.id: cue.text for cue in track.cues}


def test_describe_keeps_what_is_written_while_it_runs(place: Path) -> None:
    session = session_of(place)
    name, *others = heard(session.track)
    before = texts(session.track)
    person = Person(session, name, "A line of my own.")
    run(place, "seed=7", writes=FakeEngine(answer=person.answer))
    assert person.done
    session.act("accept", others[0], {})
    session.close()
    now = texts(on_disk(place))
    assert now[name] == "A line of my own."
    assert any(now[other] != before[other] for other in others)
    run(place, "seed=8", writes=FakeEngine(answer=fresh))
    assert texts(on_disk(place))[others[0]] == now[others[0]]


def test_redo_keeps_what_is_written_while_it_runs(place: Path) -> None:
    session = session_of(place)
    mine, anew = heard(session.track)[:2]
    person = Person(session, mine, "A line of my own.")
    done, _, _ = again(place, anew, writes=person.answer)
    assert done.results[0].after is not None
    session.absorb("Described anew.")
    assert texts(on_disk(place))[mine] == session.cue(mine).text == "A line of my own."
    assert session.cue(anew).text == done.results[0].after.text
    assert session.undo_label == "Described anew."
    session.undo()
    assert session.cue(anew).edited is None
    session.close()


def test_a_line_written_while_it_is_described_anew_stays_the_persons(place: Path) -> None:
    session = session_of(place)
    name = heard(session.track)[0]
    person = Person(session, name, "A line of my own.")
    done, _, _ = again(place, name, writes=person.answer)
    (result,) = done.results
    assert result.after is None
    assert "meanwhile" in result.reason
    cue = next(cue for cue in on_disk(place).cues if cue.id == name)
    assert cue.text == "A line of my own."
    assert len(cue.candidates) > len(session.cue(name).candidates)
    session.close()


def test_render_keeps_what_is_written_after_it_spoke(tmp_path: Path) -> None:
    place = write_folder(tmp_path / "w")
    session = session_of(place)
    first, second = heard(session.track)[:2]
    with open_film(film_with()) as film, WorkFolder(place) as folder:
        materials = gather(film, folder, session.config)
        spoken = materials.track.with_cues(
            replace(cue, voiced=Voiced("v", cue.text, cue.interval, line_stamp(cue.interval, cue.text)))
            for cue in materials.track.cues
        )
        session.act("write", first, {"text": "A line of my own."})
        materials.keep(spoken)
    session.close()
    lines = {cue.id: cue for cue in on_disk(place).cues}
    assert (lines[first].text, lines[first].voiced) == ("A line of my own.", None)
    assert lines[second].spoken is not None


def _writer(place: str, line: str, times: int) -> None:
    """Another program: changes one line again and again."""
    folder = Path(place)
    for number in range(times):
        with track_lock(folder):
            track = load_track(folder / TRACK)
            cues = (replace(cue, text=f"Take {number}.") if cue.id == line else cue for cue in track.cues)
            save_track(track.with_cues(cues), folder, track.film.name)


def test_two_processes_on_one_track_lose_nothing(tmp_path: Path) -> None:
    place = write_folder(tmp_path / "w")
    session = session_of(place)
    mine, theirs = heard(session.track)[:2]
    other = multiprocessing.get_context("spawn").Process(target=_writer, args=(str(place), theirs, 15))
    other.start()
    number = 0
    while other.is_alive() or number < 5:
        session.act("write", mine, {"text": f"Mine {number}."}, group="g")
        number += 1
    other.join()
    assert other.exitcode == 0
    session.close()
    now = texts(on_disk(place))
    assert (now[mine], now[theirs]) == (f"Mine {number - 1}.", "Take 14.")
