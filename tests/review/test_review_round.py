"""From a film to a reviewed, described film: two commands and the page, by keyboard alone."""

from __future__ import annotations

import csv
import shutil
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest

from shotad.core import Interval
from shotad.script import Cue, LineState, Track, check_script, load_track, milliseconds
from shotad.script.cue import ScriptCue
from shotad.script.formats import read_script
from tests.rendering.described import fake_voice, write_folder
from tests.review.pages import PATIENCE, Program, said, served, settled, tabs, until
from tests.sample_run import described_sample

pytestmark = pytest.mark.slow

NOTE = "The cat is called Chelsea."
EDITED = "The next morning, she walks in. She stops."
OWN = "A rocket lifts off into the night."
OWN_TIME = Interval(35.2, 38.5)
"""Nobody speaks then, and there is no slot: tests/sample/sample.truths.json."""
FRAME = Fraction(1, 24)
MOST_TABS = 90

FOCUSED = r"""
(() => {
  const at = document.activeElement;
  const label = at.ariaLabel || [...(at.labels ?? [])].map((one) => one.textContent).join(' ') || at.textContent;
  return [label.replace(/\s+/g, ' ').trim(), at.id];
})()
"""


class Hands:
    """Somebody at the keyboard of a page of Playwright's. Nothing here clicks or sets a focus."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    @property
    def at(self) -> list[str]:
        """How that is called which has the focus, and its id."""
        return list(self.page.evaluate(FOCUSED))

    def tab_to(self, name: str) -> None:
        """Tab until the focus is on what is called so, or has this id."""
        for _ in range(MOST_TABS):
            self.press("Tab")
            if name in self.at:
                return
        raise AssertionError(f"no Tab leads to {name!r}")

    def on_row(self, words: str) -> None:
        """Waits until the focus is on a line whose name holds these words."""
        until(
            self.page,
            "document.activeElement.getAttribute('role') === 'option'"
            f" && document.activeElement.ariaLabel.includes({words!r})",
        )


class Round(Hands):
    """The folder of the review, and who sits at the keys."""

    def __init__(self, folder: Path, page: Any) -> None:
        super().__init__(page)
        self.folder = folder
        self.asked: list[str] = []
        page.on("response", lambda answer: self.asked.append(f"{answer.status} {answer.url}"))

    @property
    def track(self) -> Track:
        """The track on the disk once all is saved that was asked for."""
        settled(self.page)
        return load_track(self.folder / "track.json")

    def line(self, name: str) -> Cue:
        return next(cue for cue in self.track.cues if cue.id == name)

    def ended(self, words: str) -> str:
        """What the job of the open dialog says that has ended with these words."""
        of = f"one.innerText.includes({words!r})"
        done = f"[...document.querySelectorAll('dialog[open] .job[data-state=done]')].find((one) => {of})"
        until(self.page, f"Boolean({done})")
        return str(self.page.evaluate(f"{done}.innerText"))


def test_a_film_is_described_reviewed_and_exported_by_keyboard_alone(browser, tmp_path, tmp_path_factory):
    copy = shutil.copytree(described_sample(tmp_path_factory), tmp_path / "sample.shotad")
    folder = fake_voice(Path(copy))
    names = [cue.id for cue in load_track(folder / "track.json").heard]
    assert len(names) == 4, "the sample has four slots: what follows counts on it"
    server = Program(folder)
    try:
        with tabs(browser, server.url) as opened:
            here = Round(folder, opened.open())
            here.tab_to("first-name")
            here.type("Ann")
            here.press("Enter")
            here.on_row("Line 1 of 4")
            _hears(here, names[1])
            _describes_anew_and_chooses(here, names[2])
            _edits_and_moves(here, names[2])
            _adds_a_slot_and_writes_its_line(here)
            _accepts_all(here)
            here.press("x")
            until(here.page, "document.activeElement.value === 'vtt'")
            assert "All 5 lines are accepted" in here.page.inner_text("#export-dialog")
            here.press("Tab", "Tab", "Tab", "Space")  # SRT, DAPT, CSV
            assert here.page.evaluate("document.activeElement.value") == "csv"
            here.tab_to("Write the scripts")
            here.press("Enter")
            here.ended("scripts were written")
            here.tab_to("Speak and make the files")
            here.press("Enter")
            here.ended("file made")
            assert "5 of 5 lines spoken" in here.page.inner_text("#export-dialog")
            here.press("Escape")
            here.on_row("Line 5 of 5")
            assert "another program" not in here.page.inner_text("#status")
    finally:
        server.close()
    _the_scripts_and_the_film_hold_it(folder)


def _hears(here: Round, name: str) -> None:
    """Heard as the audience will: the film runs, from before the line, and stops when told to."""
    here.press("j")
    here.on_row("Line 2 of 4")
    here.press("Space")
    until(here.page, f"document.querySelector('video').currentTime > {here.line(name).interval.start}")
    end = time.monotonic() + PATIENCE
    while not [one for one in here.asked if "/media/heard/" in one and one.startswith("20")]:
        assert time.monotonic() < end, "no voice was played"
        here.page.wait_for_timeout(20)
    here.press("Space")
    until(here.page, "document.querySelector('video').paused")
    assert here.at[1] == f"line-{name}", "the focus stays in the list"


def _describes_anew_and_chooses(here: Round, name: str) -> None:
    """Of line 3, which tells several things: they can be put in more than one way."""
    before = here.line(name).text
    here.press("j")
    here.on_row("Line 3 of 4")
    here.press("r")
    until(here.page, "document.activeElement.id === 'redo-note'")
    here.type(NOTE)
    here.tab_to("Describe again")
    here.press("Enter")
    told = here.ended("")
    anew = here.line(name)
    assert anew.text in told
    assert anew.candidates[anew.chosen or 0] == anew.text != before
    here.press("Escape")
    here.on_row("Line 3 of 4")
    here.press(str(anew.candidates.index(before) + 1))
    said(here.page, "chosen")
    assert here.line(name).text == before


def _edits_and_moves(here: Round, name: str) -> None:
    before = here.line(name)
    here.press("Enter")
    assert here.at[1] == "line-text"
    here.press("Control+a")
    here.type(EDITED)
    here.press("Escape")
    here.on_row(EDITED)
    now = here.line(name)
    assert (now.text, now.state) == (EDITED, LineState.EDITED)
    here.press("]")
    said(here.page, "1 frame later")
    moved = here.line(name)
    assert moved.interval.start == pytest.approx(now.interval.start + FRAME, abs=0.001)
    assert moved.interval.end == now.interval.end
    assert moved.machine == before.machine, "what the machine wrote is kept"
    whole = [cue.text for cue in here.track.heard]
    here.press("s")
    said(here.page, "Split")
    assert [cue.text for cue in here.track.heard][2:4] == ["The next morning, she walks in.", "She stops."]
    here.press("m")
    said(here.page, "Joined")
    assert [cue.text for cue in here.track.heard] == whole


def _adds_a_slot_and_writes_its_line(here: Round) -> None:
    here.press("t")
    until(here.page, "document.activeElement.id === 'slot-start'")
    here.type(str(OWN_TIME.start))
    here.press("Tab")
    here.type(str(OWN_TIME.end))
    here.press("Tab", "ArrowDown", "ArrowDown")
    assert here.at[0] == "Nobody yet: add the slot only"
    here.press("Enter")
    until(here.page, "document.querySelector('dialog[open]').innerText.includes('Slot added')")
    here.press("Escape")
    until(here.page, "document.activeElement.getAttribute('role') === 'option'")
    here.press("End", "k")
    here.on_row("Line 4 of 5, 35 seconds")
    here.press("Enter")
    here.type(OWN)
    here.press("Control+Enter")
    here.on_row(OWN)
    own = next(cue for cue in here.track.heard if cue.text == OWN)
    assert OWN_TIME.start <= own.interval.start < own.interval.end <= OWN_TIME.end
    assert own.slot_id is not None


def _accepts_all(here: Round) -> None:
    here.press("Home")
    for number in range(1, 6):
        here.on_row(f"Line {number} of 5")
        here.press("a")
        said(here.page, f"Line {number}: Accepted by Ann")
    assert here.page.inner_text("#progress-text") == "5 of 5 accepted"
    assert {cue.state for cue in here.track.heard} == {LineState.ACCEPTED}


def _the_scripts_and_the_film_hold_it(folder: Path) -> None:
    """Texts, times, state and reviewer, and a second sound for those who do not see."""
    track = load_track(folder / "track.json")
    assert [cue.text for cue in track.heard][2:4] == [EDITED, OWN]
    assert track.statement.endswith("line by line by Ann.")
    script = read_script(folder / "sample.ad.vtt")
    assert [cue.text for cue in script.cues] == [cue.text for cue in track.heard]
    assert _milliseconds(script.cues) == _milliseconds(track.heard)
    for ending in ("vtt", "srt", "csv", "docx"):
        assert check_script(folder / f"sample.ad.{ending}") == ()
    assert "Reviewed line by line by Ann." in (folder / "sample.ad.vtt").read_text("utf-8")
    with (folder / "sample.ad.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["state"], row["reviewer"]) for row in rows] == [("accepted", "Ann")] * 5
    with av.open(str(folder / "sample.described.mp4")) as container:
        assert "Reviewed line by line by Ann." in container.metadata["comment"]
        assert len(container.streams.video) == 1
        _, described = container.streams.audio
        assert described.metadata["title"] == "Audio Description"
        assert av.stream.Disposition.visual_impaired in described.disposition


def _milliseconds(lines: Sequence[Cue] | Sequence[ScriptCue]) -> list[tuple[int, int]]:
    return [(milliseconds(one.interval.start), milliseconds(one.interval.end)) for one in lines]


def test_keys_that_are_faster_than_the_screen_write_into_the_line_they_chose(browser, tmp_path):
    """On a busy machine the page is drawn late; whoever types at once still types into the chosen line."""
    folder = write_folder(tmp_path / "movie.shotad")
    before = load_track(folder / "track.json")
    slow = "window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 700)"
    with served(folder) as address, tabs(browser, address) as opened:
        page = opened.open(lambda page: page.add_init_script(slow))
        keys = Hands(page)
        until(page, "document.querySelector('.d-title')?.textContent.startsWith('Line 1 ')")
        keys.tab_to("Skip to the list of lines")
        keys.press("Enter", "j", "Enter", "Control+a")
        keys.type("She waits.")
        keys.press("Escape")
        keys.on_row("She waits.")
        settled(page)
    texts = [cue.text for cue in load_track(folder / "track.json").cues]
    assert texts == [before.cues[0].text, "She waits.", before.cues[2].text]
