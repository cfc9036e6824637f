"""A described film is reviewed and exported on the page, by keyboard alone. What is described again, and slots by hand, are
with the dialogs."""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
import pytest

from shotad.script import (
    Cue,
    LineState,
    Track,
    check_script,
    load_track,
)
from shotad.script.cue import ScriptCue, milliseconds
from shotad.script.formats import read_script
from tests.redo import redoing
from tests.rendering.described import film_with, track_of, write_folder
from tests.review.pages import PATIENCE, Program, press, said, served, settled, tabs, until

pytestmark = pytest.mark.slow

EDITED = "The next morning, she walks in. She stops."
FRAME = 1 / 25
MOST_TABS = 90

FOCUSED = r"""
(() => {
  const at = document.activeElement;
  const label = at.ariaLabel || [...(at.labels ?? [])].map((one) => one.textContent).join(' ') || at.textContent;
  return [label.replace(/\s+/g, ' ').trim(), at.id];
})()
"""


def focus(page: Any) -> list[str]:
    """How that is called which has the focus, and its id."""
    return list(page.evaluate(FOCUSED))


def tab_to(page: Any, name: str) -> None:
    """Tab until the focus is on what is called so, or has this id. Nothing here clicks or sets a focus."""
    for _ in range(MOST_TABS):
        press(page, "Tab")
        if name in focus(page):
            return
    raise AssertionError(f"no Tab leads to {name!r}")


def on_row(page: Any, words: str) -> None:
    """Waits until the focus is on a line whose name holds these words."""
    until(
        page,
        "document.activeElement.getAttribute('role') === 'row'"
        f" && document.activeElement.ariaLabel.includes({words!r})",
    )


def ended(page: Any, words: str) -> None:
    """Waits for the job of the open dialog that ends with these words."""
    of = f"one.innerText.includes({words!r})"
    jobs = "[...document.querySelectorAll('dialog[open] .job[data-state=done]')]"
    until(page, f"{jobs}.some((one) => {of})")


def saved(page: Any, folder: Path) -> Track:
    """The track on the disk once all is saved that was asked for."""
    settled(page)
    return track_of(folder)


def test_a_film_is_reviewed_and_exported_by_keyboard_alone(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(redoing, "film_path", film_with)
    folder = tmp_path / "sample.shotad"
    lines = len(redoing.run(folder, "voice.name=fake").heard)
    assert lines > 2
    server = Program(folder)
    try:
        with tabs(browser, server.url) as opened:
            page = opened.open()
            tab_to(page, "first-name")
            page.keyboard.type("Ann")
            press(page, "Enter")
            on_row(page, f"Line 1 of {lines}")
            _hears_the_second(page, folder)
            _edits_and_moves_the_third(page, folder)
            _accepts_all(page, folder, lines)
            press(page, "x")
            until(page, "document.activeElement.value === 'colleague'")
            assert f"All {lines} lines are accepted" in page.inner_text("#export-dialog")
            press(page, "Enter")
            ended(page, "1 script was written")
            tab_to(page, "All formats")
            press(page, "Space")
            tab_to(page, "WebVTT: descriptions for players and web pages")
            press(page, "Tab", "Tab", "Tab", "Space")  # SRT, DAPT, CSV
            assert page.evaluate("document.activeElement.value") == "csv"
            tab_to(page, "Write the scripts")
            press(page, "Enter")
            ended(page, "4 scripts were written")
            tab_to(page, "A script for a colleague")
            press(page, "ArrowDown")
            assert page.evaluate("document.activeElement.value") == "film"
            press(page, "Enter")
            ended(page, "file made")
            assert f"{lines} of {lines} lines spoken" in page.inner_text("#export-dialog")
            press(page, "Escape")
            on_row(page, f"Line {lines} of {lines}")
            assert "another program" not in page.inner_text("#status")
    finally:
        server.close()
    _the_scripts_and_the_film_hold_it(folder, film_with().stem, lines)


def _hears_the_second(page: Any, folder: Path) -> None:
    """Heard as the audience will: the film runs, from before the line, and stops when told to."""
    cue, asked = saved(page, folder).heard[1], list[str]()
    page.on("response", lambda answer: asked.append(f"{answer.status} {answer.url}"))
    press(page, "j")
    on_row(page, "Line 2 of")
    press(page, "h")
    until(page, f"document.querySelector('video').currentTime > {cue.start}")
    end = time.monotonic() + PATIENCE
    while not [one for one in asked if "/media/sound/mix.wav" in one and one.startswith("20")]:
        assert time.monotonic() < end, "no voice was played"
        page.wait_for_timeout(20)
    press(page, "h")
    until(page, "document.querySelector('video').paused")
    assert focus(page)[1] == f"line-{cue.id}", "the focus stays in the list"


def _edits_and_moves_the_third(page: Any, folder: Path) -> None:
    before = saved(page, folder).heard[2]
    press(page, "j", "Enter")
    assert focus(page)[1] == "line-text"
    press(page, "Control+a")
    page.keyboard.type(EDITED)
    press(page, "Escape")
    on_row(page, EDITED)
    now = saved(page, folder).heard[2]
    assert (now.text, now.state) == (EDITED, LineState.EDITED)
    press(page, "]")
    said(page, "1 frame later")
    moved = saved(page, folder).heard[2]
    assert moved.interval.start == pytest.approx(now.interval.start + FRAME, abs=0.001)
    assert moved.interval.end == now.interval.end
    assert moved.machine is not None
    assert moved.machine.text == before.text, "what the machine wrote is kept"
    whole = [cue.text for cue in saved(page, folder).heard]
    press(page, "s")
    said(page, "Split")
    parts = [cue.text for cue in saved(page, folder).heard][2:4]
    assert parts == ["The next morning, she walks in.", "She stops."]
    press(page, "m")
    said(page, "Joined")
    assert [cue.text for cue in saved(page, folder).heard] == whole


def _accepts_all(page: Any, folder: Path, lines: int) -> None:
    press(page, "Home")
    for number in range(1, lines + 1):
        on_row(page, f"Line {number} of {lines}")
        press(page, "a")
        said(page, f"Line {number}: Accepted by Ann")
    assert page.inner_text("#progress-text").endswith(f" {lines} accepted")
    assert {cue.state for cue in saved(page, folder).heard} == {LineState.ACCEPTED}


def _the_scripts_and_the_film_hold_it(folder: Path, stem: str, lines: int) -> None:
    """Texts, times, state and reviewer, and a second sound for those who do not see."""
    track = track_of(folder)
    assert track.heard[2].text == EDITED
    assert track.statement.endswith("line by line by Ann.")
    script = read_script(folder / f"{stem}.ad.vtt")
    assert [cue.text for cue in script.cues] == [cue.text for cue in track.heard]
    assert _milliseconds(script.cues) == _milliseconds(track.heard)
    for ending in ("vtt", "srt", "csv", "docx"):
        assert check_script(folder / f"{stem}.ad.{ending}") == ()
    assert "Reviewed line by line by Ann." in (folder / f"{stem}.ad.vtt").read_text("utf-8")
    with (folder / f"{stem}.ad.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [(row["state"], row["reviewer"]) for row in csv.DictReader(file)]
    assert rows == [("accepted", "Ann")] * lines
    with av.open(str(folder / f"{stem}.described.mp4")) as container:
        assert "Reviewed line by line by Ann." in container.metadata["comment"]
        assert len(container.streams.video) == 1
        _, described = container.streams.audio
        assert described.metadata.get("handler_name", described.metadata.get("title")) == "Audio Description"
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
        until(page, "document.getElementById('line-text')?.ariaLabel?.includes(' 1 of ')")
        tab_to(page, "Skip to the script")
        press(page, "Enter", "j", "Enter", "Control+a")
        page.keyboard.type("She waits.")
        press(page, "Escape")
        on_row(page, "She waits.")
        settled(page)
    texts = [cue.text for cue in track_of(folder).cues]
    assert texts == [before.cues[0].text, "She waits.", before.cues[2].text]
