"""From a film to a reviewed, described film: two commands and the page, by keyboard alone."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import Interval
from shotad.film import open_film, sound_blocks
from shotad.script import Cue, LineState, Track, check_script, load_track, milliseconds
from shotad.script.cue import ScriptCue
from shotad.script.formats import read_script
from tests.rendering.described import write_folder
from tests.review.pages import WIDE, Program, served, tabs
from tests.review.roundtools import PATIENCE, ROOT, Hands, described

pytestmark = pytest.mark.slow

SAMPLE = ROOT / "tests" / "sample" / "sample.mp4"
NOTE = "The cat is called Chelsea."
EDITED = "The next morning, she walks in. She stops."
OWN = "A rocket lifts off into the night."
OWN_TIME = Interval(35.2, 38.5)
"""Nobody speaks then, and there is no slot: tests/sample/sample.truths.json."""
QUIET = Interval(18.0, 20.0)
"""Neither speech nor a line: the film's two sounds are the same there."""
FRAME = Fraction(1, 24)


class Round:
    """The folder of the review, and who sits at the keys."""

    def __init__(self, folder: Path, page: Any) -> None:
        self.folder, self.page, self.keys = folder, page, Hands(page)
        self.asked: list[str] = []
        page.on("response", lambda answer: self.asked.append(f"{answer.status} {answer.url}"))

    @property
    def track(self) -> Track:
        """The track on the disk once all is saved that was asked for."""
        self.keys.settled()
        return load_track(self.folder / "track.json")

    def line(self, name: str) -> Cue:
        return next(cue for cue in self.track.cues if cue.id == name)

    def texts(self) -> list[str]:
        return [cue.text for cue in self.track.heard]

    def answered(self, part: str, otherwise: str) -> None:
        """Waits until the server has given out what has this in its address."""
        end = time.monotonic() + PATIENCE
        while not [one for one in self.asked if part in one and one.startswith("20")]:
            assert time.monotonic() < end, otherwise
            self.page.wait_for_timeout(20)

    def described_anew(self) -> str:
        """The job of the open dialog, when it has ended; what it says."""
        return str(self.keys.see("document.querySelector('dialog[open] .job[data-state=done]')?.innerText"))


def test_a_film_is_described_reviewed_and_exported_by_keyboard_alone(browser: Any, tmp_path: Path) -> None:
    folder = tmp_path / "sample.shotad"
    described(SAMPLE, folder, "voice.name=fake")
    first = load_track(folder / "track.json")
    names = [cue.id for cue in first.heard]
    assert len(names) == 4, "the sample has four slots: what follows counts on it"
    server = Program(folder)
    faults: list[str] = []
    try:
        context = browser.new_context(viewport=WIDE)
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(server.url)
        page.wait_for_selector("[role=option]")
        here = Round(folder, page)
        _gives_a_name(here)
        _hears(here, names[1])
        _describes_anew_and_chooses(here, names[2])
        _edits_and_moves(here, names[2])
        _splits_joins_and_goes_back(here, names[2])
        _adds_a_slot_and_writes_its_line(here)
        _accepts_all(here)
        _exports(here)
        context.close()
    finally:
        server.close()
    assert faults == []
    _the_scripts_hold_it(folder)
    _the_film_holds_it(folder)


def _gives_a_name(here: Round) -> None:
    keys = here.keys
    keys.tab_to("first-name")
    keys.type("Ann")
    keys.press("Enter")
    keys.on_row("Line 1 of 4")


def _hears(here: Round, name: str) -> None:
    """Heard as the audience will: the film runs, from before the line, and stops when told to."""
    keys = here.keys
    keys.press("j")
    keys.on_row("Line 2 of 4")
    start = here.line(name).interval.start
    keys.press("Space")
    keys.see(f"document.querySelector('video').currentTime > {start}")
    here.answered("/media/heard/", "no voice was played")
    keys.press("Space")
    keys.see("document.querySelector('video').paused")
    assert keys.at_id == f"line-{name}", "the focus stays in the list"


def _describes_anew_and_chooses(here: Round, name: str) -> None:
    """Of line 3, which tells several things: they can be put in more than one way."""
    keys, before = here.keys, here.line(name).text
    keys.press("j")
    keys.on_row("Line 3 of 4")
    keys.press("r")
    keys.see("document.activeElement.id === 'redo-note'")
    keys.type(NOTE)
    keys.tab_to("Describe anew")
    keys.press("Enter")
    told = here.described_anew()
    anew = here.line(name)
    assert anew.text in told
    assert anew.candidates[anew.chosen or 0] == anew.text != before
    assert before in anew.candidates
    keys.press("Escape")
    keys.on_row("Line 3 of 4")
    keys.press(str(anew.candidates.index(before) + 1))
    keys.hear_said("chosen")
    assert here.line(name).text == before
    keys.press("1")
    keys.hear_said("Candidate 1")
    assert here.line(name).text == anew.candidates[0]


def _edits_and_moves(here: Round, name: str) -> None:
    keys, before = here.keys, here.line(name)
    keys.press("Enter")
    assert keys.at_id == "line-text"
    keys.press("Control+a")
    keys.type(EDITED)
    keys.press("Escape")
    keys.on_row(EDITED)
    now = here.line(name)
    assert (now.text, now.state) == (EDITED, LineState.EDITED)
    keys.press("]")
    keys.hear_said("1 frame later")
    moved = here.line(name).interval
    assert moved.start == pytest.approx(now.interval.start + FRAME, abs=0.001)
    assert moved.end == now.interval.end
    assert before.machine is not None
    assert here.line(name).machine == before.machine, "what the machine wrote is kept"


def _splits_joins_and_goes_back(here: Round, name: str) -> None:
    keys, whole = here.keys, here.texts()
    first, second = EDITED.split(". ")
    keys.press("s")
    keys.hear_said("Split")
    parts = here.texts()
    assert parts == [*whole[:2], f"{first}.", second, *whole[3:]]
    keys.press("Home", "j", "j")
    keys.on_row(f"{first}.")
    keys.press("m")
    keys.hear_said("Joined")
    assert here.texts() == whole
    joined = here.line(name).interval
    back, forth = "Control+z", "Control+Shift+Z"
    for key, expected in ((back, parts), (back, whole), (forth, parts), ("Control+y", whole)):
        keys.press(key)
        assert here.texts() == expected
    assert here.line(name).interval == joined


def _adds_a_slot_and_writes_its_line(here: Round) -> None:
    keys = here.keys
    keys.press("t")
    keys.see("document.activeElement.id === 'slot-start'")
    keys.type(str(OWN_TIME.start))
    keys.press("Tab")
    keys.type(str(OWN_TIME.end))
    keys.press("Tab", "ArrowDown", "ArrowDown")
    assert keys.at == "Nobody yet: add the slot only"
    keys.press("Enter")
    keys.hear_said("Slot added")
    keys.press("Escape")
    keys.see("document.activeElement.getAttribute('role') === 'option'")
    keys.press("End", "k")
    keys.on_row("Line 4 of 5, 35 seconds")
    keys.press("Enter")
    keys.type(OWN)
    keys.press("Control+Enter")
    keys.on_row(OWN)
    own = next(cue for cue in here.track.heard if cue.text == OWN)
    assert OWN_TIME.start <= own.interval.start < own.interval.end <= OWN_TIME.end
    assert own.slot_id is not None


def _accepts_all(here: Round) -> None:
    keys = here.keys
    keys.press("Home")
    for number in range(1, 6):
        keys.on_row(f"Line {number} of 5")
        keys.press("a")
        keys.hear_said(f"Line {number}: Accepted by Ann")
    assert here.page.inner_text("#progress-text") == "5 of 5 accepted"
    assert {cue.state for cue in here.track.heard} == {LineState.ACCEPTED}


def _exports(here: Round) -> None:
    keys = here.keys
    keys.press("x")
    keys.see("document.activeElement.value === 'vtt'")
    assert "All 5 lines are accepted" in here.page.inner_text("#export-dialog")
    keys.press("Tab", "Tab", "Tab", "Space")  # SRT, DAPT, CSV
    assert here.page.evaluate("document.activeElement.value") == "csv"
    keys.tab_to("Write the scripts")
    keys.press("Enter")
    assert "scripts were written" in here.described_anew()
    keys.tab_to("Speak and make the files")
    keys.press("Enter")
    keys.see(
        "[...document.querySelectorAll('.job[data-state=done]')].some((one) => one.innerText.includes('file made'))"
    )
    assert "5 of 5 lines spoken" in here.page.inner_text("#export-dialog")
    keys.press("Escape")
    keys.on_row("Line 5 of 5")
    assert "another program" not in here.page.inner_text("#status")


def _the_scripts_hold_it(folder: Path) -> None:
    """Texts, times, state and reviewer, as readers of scripts find them."""
    track = load_track(folder / "track.json")
    assert [cue.text for cue in track.heard][2:4] == [EDITED, OWN]
    script = read_script(folder / "sample.ad.vtt")
    assert [cue.text for cue in script.cues] == [cue.text for cue in track.heard]
    assert _milliseconds(script.cues) == _milliseconds(track.heard)
    for ending in ("vtt", "srt", "csv", "docx"):
        assert check_script(folder / f"sample.ad.{ending}") == ()
    assert "Reviewed line by line by Ann." in (folder / "sample.ad.vtt").read_text("utf-8")
    with (folder / "sample.ad.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["state"], row["reviewer"]) for row in rows] == [("accepted", "Ann")] * 5
    assert json.loads((folder / "track.json").read_text("utf-8"))["statement"].endswith(
        "line by line by Ann."
    )


def _milliseconds(lines: Sequence[Cue] | Sequence[ScriptCue]) -> list[tuple[int, int]]:
    return [(milliseconds(one.interval.start), milliseconds(one.interval.end)) for one in lines]


def _the_film_holds_it(folder: Path) -> None:
    """A second sound for those who do not see, which differs from the film's where lines are, and tells Ann."""
    made = folder / "sample.described.mp4"
    with av.open(str(made)) as container:
        assert "Reviewed line by line by Ann." in container.metadata["comment"]
        assert len(container.streams.video) == 1
        _, described_ = container.streams.audio
        assert described_.metadata["title"] == "Audio Description"
        assert av.stream.Disposition.visual_impaired in described_.disposition
    with open_film(made) as film:
        plain, heard = (_sound(film, number) for number in (0, 1))
    length = min(len(plain), len(heard))
    difference = heard[:length] - plain[:length]
    lines = load_track(folder / "track.json").heard
    assert not [cue for cue in lines if cue.interval.overlaps(QUIET)]
    quiet = _level(difference, QUIET)
    for cue in lines:
        assert _level(difference, cue.interval) > 10 * quiet, f"{cue.id} is not heard"


def _sound(film: Any, number: int) -> npt.NDArray[np.float32]:
    return np.concatenate([block.samples for block in sound_blocks(film, number, 16_000)])


def _level(sound: npt.NDArray[np.float32], where: Interval) -> float:
    part = sound[round(where.start * 16_000) : round(where.end * 16_000)].astype(np.float64)
    return float(np.sqrt(np.mean(part**2)))


def test_keys_that_are_faster_than_the_screen_write_into_the_line_they_chose(
    browser: Any, tmp_path: Path
) -> None:
    """On a busy machine the page is drawn late; whoever types at once still types into the chosen line."""
    folder = write_folder(tmp_path / "movie.shotad")
    before = load_track(folder / "track.json")
    slow = "window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 700)"
    with served(folder) as address, tabs(browser, address) as opened:
        page = opened.open(lambda page: page.add_init_script(slow))
        keys = Hands(page)
        keys.see("document.querySelector('.d-title')?.textContent.startsWith('Line 1 ')")
        keys.tab_to("Skip to the list of lines")
        keys.press("Enter", "j", "Enter", "Control+a")
        keys.type("She waits.")
        keys.press("Escape")
        keys.on_row("She waits.")
        keys.settled()
    texts = [cue.text for cue in load_track(folder / "track.json").cues]
    assert texts == [before.cues[0].text, "She waits.", before.cues[2].text]
