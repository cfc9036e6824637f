"""A line is recorded on the page, in a real browser whose microphone plays a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.script import load_track
from shotad.script.track_files import TRACK
from shotad.sound.programme import RATE
from shotad.sound.takes import wav
from tests.browser import chromium
from tests.rendering.described import rendered, write_folder
from tests.rendering.test_own_voice import CAT, read_line
from tests.review.pages import press, said, served, settled, tabs, until, violations

pytestmark = pytest.mark.slow

MICROPHONE = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
DENIED = ("--use-fake-device-for-media-stream", "--deny-permission-prompts")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "film.shotad")


def opened(place: Path, *options: str) -> Iterator[Any]:
    with chromium(*options) as browser, served(place) as address, tabs(browser, address) as made:
        page = made.open()
        until(page, "document.querySelector('.rec-state')?.textContent === 'Spoken by the voice.'")
        page.click(".rec > summary")
        page.focus("#list [aria-selected=true]")
        yield page


@pytest.fixture
def page(place: Path) -> Iterator[Any]:
    # What the microphone hears: half a second of something like a voice, again and again.
    heard = place.parent / "heard.wav"
    heard.write_bytes(wav(np.pad(read_line(0.5).samples * np.float32(0.4), RATE // 4), RATE))
    yield from opened(place, *MICROPHONE, f"--use-file-for-fake-audio-capture={heard}")


def is_shown(page: Any, text: str) -> None:
    until(page, f"document.querySelector('.rec-state').textContent.startsWith({text!r})")


def test_a_line_is_recorded_by_keys_heard_kept_and_undone(page: Any, place: Path) -> None:
    press(page, "Alt+r")
    is_shown(page, "Recording: 1.")
    until(page, "document.querySelector('.rec-level').textContent === 'Level good'")
    assert violations(page) == []
    press(page, "Alt+r")
    said(page, "s recorded, level good. Hear it (Alt+P), keep it (Alt+U) or discard it.")
    assert violations(page) == []
    press(page, "Alt+p", "Alt+u")
    said(page, "in your own voice")
    is_shown(page, "In your own voice, ")
    cue = load_track(place / TRACK).cues[0]
    assert cue.recording is not None
    assert 0.4 < cue.recording.seconds < 4
    assert violations(page) == []
    page.focus("#list [aria-selected=true]")
    press(page, "Control+z")
    is_shown(page, "Spoken by the voice.")
    press(page, "Control+Shift+z")
    is_shown(page, "In your own voice, ")
    settled(page)
    done, _ = rendered(place, "ad")
    assert [line.id for line in done.recorded] == [CAT]


_COUNTED = """() => {
  globalThis.drafts = 0;
  const { start, stop } = AudioBufferSourceNode.prototype;
  AudioBufferSourceNode.prototype.start = function (...args) {
    drafts += 1;
    this.addEventListener('ended', () => (drafts -= 1));
    return start.apply(this, args);
  };
}"""
"""Counts the recordings that are heard."""
PLAYS = "[...document.querySelectorAll('audio')].some((audio) => !audio.paused && audio.currentTime > 0.1)"
STILL = "[...document.querySelectorAll('audio')].every((audio) => audio.paused)"


def test_one_sound_is_heard_at_a_time(page: Any) -> None:
    page.evaluate(_COUNTED)
    samples = np.tile(read_line().samples, 20)
    page.set_input_files(
        ".rec-file", files=[{"name": "long.wav", "mimeType": "audio/wav", "buffer": wav(samples, RATE)}]
    )
    is_shown(page, "long.wav: not kept yet.")
    press(page, "Alt+p")
    until(page, "drafts === 1")
    for key in ("F8", "Alt+h"):  # the film, and the line
        press(page, key)
        until(page, PLAYS)
        until(page, "drafts === 0")
        press(page, "Alt+p")
        until(page, f"drafts === 1 && {STILL}")
    press(page, "ArrowDown")
    until(page, "drafts === 0")  # who goes on to another line has heard this one


def test_a_sound_file_is_taken_and_other_words_make_it_outdated(page: Any, place: Path) -> None:
    sound = {"name": "cat.wav", "mimeType": "audio/wav", "buffer": wav(read_line().samples, RATE)}
    page.set_input_files(".rec-file", files=[sound])
    is_shown(page, "cat.wav: not kept yet.")
    page.click("[data-command=record-discard]")
    is_shown(page, "Spoken by the voice.")
    page.set_input_files(".rec-file", files=[sound])
    page.click("[data-command=record-keep]")
    is_shown(page, "In your own voice, 1.")
    page.fill("#line-text", "A dog sleeps by the window.")
    is_shown(page, "Recorded for another text")
    page.click("[data-command=recording-fits]")
    is_shown(page, "In your own voice, 1.")
    page.click("[data-command=recording-remove]")
    is_shown(page, "Spoken by the voice.")
    silent = {**sound, "buffer": wav(read_line().samples * 0, RATE)}
    page.set_input_files(".rec-file", files=[silent])
    page.click("[data-command=record-keep]")
    until(
        page,
        "document.getElementById('alert').textContent.includes('Nothing can be heard in the recording.')",
    )


def test_a_line_has_a_voice_and_pace_of_its_own_and_words_are_said_otherwise(page: Any, place: Path) -> None:
    page.get_by_label("Pace").select_option("1.2")
    said(page, "Spoken 1.2 times as fast.")
    page.evaluate("document.getElementById('line-text').setSelectionRange(3, 3)")
    page.click("[data-command=say-as]")
    until(page, "document.getElementById('say-as-dialog').open")
    assert page.input_value("#say-word") == "cat"
    assert violations(page) == []
    page.fill("#say-saying", "katt")
    press(page, "Enter")
    until(page, "!document.getElementById('say-as-dialog').open")
    settled(page)
    assert (place / "pronunciation.txt").read_text() == "cat = katt\n"
    assert load_track(place / TRACK).cues[0].pace == 1.2
    page.click("[data-command=say-as]")
    page.get_by_role("button", name="Remove cat").click()
    until(page, "document.querySelector('.sayings').textContent === 'Nothing yet.'")


def test_it_counts_first_where_that_is_wanted_and_can_be_called_off(page: Any) -> None:
    page.check(".rec-options input[type=checkbox]")
    page.click("[data-command=record]")
    is_shown(page, "Recording begins in 3")
    page.click("[data-command=record]")
    said(page, "Nothing was recorded.")
    is_shown(page, "Spoken by the voice.")


def test_a_microphone_that_may_not_be_used_is_told_in_plain_words(place: Path) -> None:
    for page in opened(place, *DENIED):
        press(page, "Alt+r")
        until(
            page,
            "document.getElementById('alert').textContent.startsWith('This page may not use the microphone.')",
        )
        is_shown(page, "Spoken by the voice.")
