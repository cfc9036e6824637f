"""A person edits while programs on the same folder are started and killed at any moment: no edit is lost."""

from __future__ import annotations

import multiprocessing
import random
import time
from pathlib import Path

import pytest

from shotad.core import ShotadError
from shotad.script import import_into, load_track
from shotad.script.track_files import (
    TRACK,
    are_scripts_current,
    edited_scripts,
    script_texts,
)
from tests.redo import redoing
from tests.redo.redoing import again, run
from tests.review.reviewed import Page, reviewed

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


def _edits(page: Page, mine: list[str], seconds: float, draw: random.Random) -> dict[str, str]:
    """Writes lines for a while; what was answered to be saved, by line."""
    saved: dict[str, str] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        line, text = draw.choice(mine), f"Mine is number {draw.randrange(10**6)}."
        page.do("write", line, text=text)
        saved[line] = text
        if draw.random() < 0.2:
            page.do("undo")
            page.do("redo")
        time.sleep(draw.random() * 0.05)
    return saved


def test_programs_that_are_killed_beside_a_page_lose_no_edit(tmp_path: Path) -> None:
    place, draw, film = tmp_path / "w", random.Random(8), str(redoing.film_path())
    lines = [cue.id for cue in run(place).heard]
    theirs, mine = lines[0], lines[1:]
    drafted = {cue.text for cue in load_track(place / TRACK).heard}
    saved: dict[str, str] = {}
    spawn = multiprocessing.get_context("spawn")
    with reviewed(place, gone=True) as (_, page):
        for number in range(ROUNDS):
            kind = ("describe", "redo", "import")[number % 3]
            program = spawn.Process(target=_program, args=(kind, str(place), theirs, 100 * number, film))
            program.daemon = True  # killed with this process, if a check below fails
            program.start()
            before, waited = page.line(theirs)["text"], 0
            saved |= _edits(page, mine, 1.5 + draw.random() * 1.5, draw)
            while kind == "redo" and page.line(theirs)["text"] == before and waited < 400:
                saved |= _edits(page, mine, 0.5, draw)
                waited += 1
            refused = tmp_path / "refused.txt"
            why = refused.read_text() if refused.exists() else "nothing was refused"
            assert waited < 400, (
                f"the other program, alive: {program.is_alive()}, never wrote its line: {why}"
            )
            program.kill()
            program.join()
            texts = {cue.id: cue.text for cue in load_track(place / TRACK).cues}
            assert {line: texts[line] for line in saved} == saved
        page.film()
    track = load_track(place / TRACK)
    assert {cue.text for cue in track.heard if cue.id == theirs}.isdisjoint(drafted), "others wrote too"
    assert edited_scripts(place, track.film.name) == ()
    assert are_scripts_current(script_texts(track, place, track.film.name), place)
    with reviewed(place, gone=True) as (_, page):
        page.do("undo")
        page.do("redo")
        assert {line: page.line(line)["text"] for line in saved} == saved
    run(place, "seed=999")
    assert not list(place.glob(".tmp-*")), "what was left by those killed is swept"
