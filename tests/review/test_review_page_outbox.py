"""What a person does on the page is kept until it is saved: over reloads, lost connections and dead servers. And a
line that is split and joined is the line that it was."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from shotad.script import LineState, load_track
from shotad.script.track_files import TRACK
from tests.rendering.described import write_folder
from tests.review.pages import Program, press, reload, said, settled, tabs, until

pytestmark = pytest.mark.slow

TEN = {1.0 + 1.8 * number: f"Door {number} opens. A cat walks in." for number in range(10)}
BANNER = "document.getElementById('banner').textContent.includes('{} changes wait')"
DONE = "!sessionStorage.getItem('shotad-outbox')"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "movie.shotad", lines=TEN, speech=())


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each act takes the server a while: whatever it writes is long on the way to the disk."""
    sync = os.fsync

    def sync_late(number: int) -> None:
        time.sleep(0.05)
        sync(number)

    monkeypatch.setattr(os, "fsync", sync_late)


def accepted(place: Path) -> int:
    return sum(cue.state is LineState.ACCEPTED for cue in load_track(place / TRACK).cues)


def steps(place: Path) -> list[str]:
    """What was done, as the history has it."""
    rows = map(json.loads, (place / "review.jsonl").read_text(encoding="utf-8").splitlines())
    return [row["step"] for row in rows]


class Way:
    """The way of acts from a page to the server, which can be cut; ``after``: the server does what it is asked, and
    its answer is lost."""

    def __init__(self, page: Any, *, after: bool = False) -> None:
        self.cut, self._after = True, after
        page.route("**/api/acts", self._go)

    def _go(self, route: Any) -> None:
        if not self.cut:
            route.continue_()
            return
        if self._after:
            route.fetch()
        route.abort()


@pytest.mark.parametrize("reached", [0, 4])
def test_ten_accepted_lines_and_a_reload_are_ten(page: Any, place: Path, slow: None, reached: int) -> None:
    press(page, *"aaaaaaaaaa")
    while accepted(place) < reached:
        page.wait_for_timeout(10)
    assert accepted(place) < 10, "the reload comes too late to show anything"
    reload(page)
    until(page, DONE)
    assert page.locator("#progress-text").inner_text() == "10 of 10 written, 10 accepted"
    assert accepted(place) == steps(place).count("done") == 10


def test_two_tabs_that_are_reloaded_keep_what_each_did(page, opened, place, slow):
    other = opened()
    press(other, "End")
    press(page, *"aaaaa")
    press(other, *"akakkakkakka")  # each goes on to the next line: the last five, from the end
    reload(page)
    reload(other)
    for one in (page, other):
        until(one, DONE)
        until(one, "document.getElementById('progress-text').textContent === '10 of 10 written, 10 accepted'")
        assert one.locator("dialog[open]").count() == 0
    assert accepted(place) == steps(place).count("done") == 10


def test_an_act_whose_answer_was_lost_is_done_once(page: Any, place: Path) -> None:
    before = load_track(place / TRACK).cues[9]
    press(page, "End")
    way = Way(page, after=True)
    press(page, "}", "d", "Control+z", "}")
    page.wait_for_selector("#banner .bad")
    way.cut = False
    until(page, DONE)
    until(page, "!document.querySelector('#banner .bad')")
    assert steps(place) == ["done", "done", "undo", "done"]
    assert page.locator("dialog[open]").count() == 0
    now = load_track(place / TRACK).cues[9]
    assert now.interval.end == pytest.approx(before.interval.end + 0.08, abs=0.001)
    assert now.heard


def test_what_is_done_while_the_server_is_gone_waits_and_is_sent(page: Any, place: Path) -> None:
    way = Way(page)
    press(page, *"aaa")
    page.wait_for_selector("#banner .bad")
    until(page, BANNER.format(3))
    assert accepted(place) == 0
    reload(page)
    until(page, BANNER.format(3))
    way.cut = False
    until(page, DONE)
    assert accepted(place) == 3
    until(page, "!document.getElementById('banner').textContent.includes('wait')")


def test_acts_outlive_a_server_that_is_killed(browser: Any, place: Path) -> None:
    server = Program(place)
    with tabs(browser, server.url) as made:
        page = made.open()
        page.focus("#list [aria-selected=true]")
        press(page, "a")
        said(page, "Line 1: Accepted")
        server.kill()
        server.close()
        press(page, "a", "a", "d", "Enter")
        page.keyboard.type("Quietly. ")
        page.wait_for_selector("#banner q")
        assert "The server is gone; what you do is kept here" in page.locator("#banner").inner_text()
        again = Program(place, server.port)
        try:
            # The page goes on by itself: the server that was started again knows its cookie.
            until(page, DONE)
            until(page, "!document.querySelector('#banner .bad')")
            cues = load_track(place / TRACK).cues
            assert [cue.state is LineState.ACCEPTED for cue in cues[:4]] == [True, True, True, False]
            assert "Quietly." in cues[3].text
            page.focus("#list [aria-selected=true]")
            press(page, *["Control+z"] * 2)
            settled(page)
            assert load_track(place / TRACK).cues[3].heard
        finally:
            page.goto("about:blank")
            again.close()


def test_leaving_while_acts_wait_asks_first(page: Any) -> None:
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    press(page, "a")
    settled(page)
    reload(page)
    assert asked == []
    page.focus("#list [aria-selected=true]")
    way = Way(page)
    press(page, "a")
    page.wait_for_selector("#banner .bad")
    page.reload()
    assert asked == ["beforeunload"]
    way.cut = False


def test_a_full_disk_keeps_what_was_done_until_there_is_room(page, place, monkeypatch):
    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        press(page, *"aa")
        until(page, BANNER.format(2))
        assert "No space left" in page.locator("#banner").inner_text()
        assert page.locator("#banner button").inner_text() == "Send now"
    # The page may just have sent it by itself.
    page.evaluate("document.querySelector('#banner button')?.click()")
    until(page, DONE)
    assert accepted(place) == 2


def test_one_act_that_is_far_too_long_holds_up_no_other(page: Any, place: Path) -> None:
    write = "import('/web/store.js').then((s) => { s.act('write', {text: 'x'.repeat(1.1e6)}); })"
    way = Way(page)
    page.evaluate(write)
    press(page, "j", "a")
    page.wait_for_selector("#banner .bad")
    way.cut = False
    until(page, "document.getElementById('progress-text').textContent.endsWith(' 1 accepted')")
    assert accepted(place) == 1
