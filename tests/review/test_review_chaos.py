"""A person edits while programs on the same folder are started and killed at any moment: no edit is lost."""

from __future__ import annotations

import multiprocessing
import random
import time
from pathlib import Path

import pytest

from shotad.core import ShotadError
from shotad.core.errors import ReviewError
from shotad.review.session import Session
from shotad.script import import_into, load_track
from shotad.script.track_files import (
    TRACK,
    are_scripts_current,
    edited_scripts,
    script_texts,
)
from tests.redo import redoing
from tests.redo.redoing import again, run
from tests.review.sessions import session_of

pytestmark = pytest.mark.slow

ROUNDS = 3


def _program(kind: str, place: str, line: str, number: int, film: str) -> None:
    """Another shotad on the same film, which works until it is killed."""
    redoing.film_path = lambda: Path(film)
    folder = Path(place)
    while True:
        number += 1
        try:
            if kind == "describe":
                run(folder, f"seed={number}")
            elif kind == "redo":
                again(folder, line, over_edits=True)
            else:
                script = next(folder.glob("*.ad.csv"))
                import_into(folder, script, None)
        except ShotadError as error:
            (folder.parent / "refused.txt").write_text(f"{kind}: {error}")
            time.sleep(0.05)


def _edits(session: Session, mine: list[str], seconds: float, draw: random.Random) -> dict[str, str]:
    """Writes lines for a while; what was answered to be saved, by line."""
    said: dict[str, str] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name, text = draw.choice(mine), f"Mine is number {draw.randrange(10**6)}."
        session.act("write", name, {"text": text})
        said[name] = text
        if draw.random() < 0.2:
            try:
                session.undo()
                session.redo()
            except ReviewError as error:
                raise AssertionError(f"a step of one's own: {error.what}") from None
        time.sleep(draw.random() * 0.05)
    return said


def test_programs_that_are_killed_beside_a_page_lose_no_edit(tmp_path: Path) -> None:
    place, draw, film = tmp_path / "w", random.Random(8), str(redoing.film_path())
    names = [cue.id for cue in run(place).heard]
    theirs, mine = names[0], names[1:]
    drafted = {cue.text for cue in load_track(place / TRACK).heard}
    session = session_of(place)
    said: dict[str, str] = {}
    spawn = multiprocessing.get_context("spawn")
    for number in range(ROUNDS):
        kind = ("describe", "redo", "import")[number % 3]
        program = spawn.Process(target=_program, args=(kind, str(place), theirs, 100 * number, film))
        program.daemon = True  # killed with this process, if a check below fails
        program.start()
        before, waited = session.cue(theirs).text, 0
        said |= _edits(session, mine, 1.5 + draw.random() * 1.5, draw)
        while kind == "redo" and session.cue(theirs).text == before and waited < 400:
            said |= _edits(session, mine, 0.5, draw)
            waited += 1
        refused = tmp_path / "refused.txt"
        why = refused.read_text() if refused.exists() else "nothing was refused"
        assert waited < 400, f"the other program, alive: {program.is_alive()}, never wrote its line: {why}"
        program.kill()
        program.join()
        track = load_track(place / TRACK)
        texts = {cue.id: cue.text for cue in track.cues}
        assert {name: texts[name] for name in said} == said
    session.refresh()
    session.close()
    track = load_track(place / TRACK)
    assert {cue.text for cue in track.heard if cue.id == theirs}.isdisjoint(drafted), "others wrote too"
    assert edited_scripts(place, track.film.name) == ()
    assert are_scripts_current(script_texts(track, place, track.film.name), place)
    later = session_of(place)
    assert later.next_steps["undo"] is not None
    later.undo()
    later.redo()
    assert {name: later.cue(name).text for name in said} == said
    later.close()
    run(place, "seed=999")
    assert not list(place.glob(".tmp-*")), "what was left by those killed is swept"
