"""The chosen line, the player and the time line, in a real browser."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core.engine import Facts, TextFact
from shotad.script import load_track
from shotad.script.track_files import TRACK
from tests.handmade import look
from tests.rendering.described import retrack, write_folder
from tests.review.pages import drawn, press, said, settled, until, violations

pytestmark = pytest.mark.slow

FIRST, SECOND, THIRD = "s00001000", "s00009000", "s00014000"
CANDIDATES = (
    "A cat sleeps by the window.", "A grey cat lies asleep on the sill.", "By the window a cat sleeps.",
    "The cat sleeps.", "A cat, curled up, sleeps.", "Curled up by the window, a cat sleeps.",
)  # fmt: skip


@pytest.fixture
def opened(opened: Callable[..., Any]) -> Callable[..., Any]:
    """A tab in which the drawer of the chosen line is open: times, candidates, frames."""

    def open_tab(*prepare: Callable[[Any], None], **options: Any) -> Any:
        page = opened(*prepare, **options)
        page.locator("#line-drawer > summary").click()
        page.focus("#list .row[aria-selected=true]")
        return page

    return open_tab


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A described film whose first line has six candidates."""
    return retrack(
        write_folder(tmp_path / "movie.shotad"),
        lambda cue: replace(cue, candidates=CANDIDATES, chosen=0) if cue.id == FIRST else cue,
    )


def value(page: Any, name: str) -> str:
    return str(page.input_value(f"#{name}"))


def shows(page: Any, text: str, name: str = "line-text") -> None:
    """Waits until a field holds this."""
    until(page, f"document.getElementById('{name}').value === {json.dumps(text)}")


def cue_text(place: Path, name: str = FIRST) -> str:
    return next(cue.text for cue in load_track(place / TRACK).cues if cue.id == name)


def choose(page: Any, place: int) -> None:
    """Chooses a line by the mouse, and waits until it is shown."""
    page.locator("#list .row").nth(place).click()
    until(page, f"document.getElementById('line-text').ariaLabel.includes(' {place + 1} of ')")


class Acts:
    """The acts of a page: what was asked, and how many were on their way at once; each takes a while."""

    def __init__(self, page: Any) -> None:
        self.asked: list[Any] = []
        self.page, self.open, self.most = page, 0, 0
        page.route("**/api/acts", self._sent)
        page.on("requestfinished", self._over)

    def _sent(self, route: Any) -> None:
        self.asked += json.loads(route.request.post_data)["acts"]
        self.open += 1
        self.most = max(self.most, self.open)
        self.page.wait_for_timeout(150)
        route.continue_()

    def _over(self, request: Any) -> None:
        self.open -= request.url.endswith("/api/acts")


# The line


def test_a_line_shows_what_belongs_to_it_and_a_candidate_is_chosen(page: Any, place: Path) -> None:
    assert page.get_attribute("#line-text", "aria-label") == "Line 1 of 3, at 0:01.0"
    assert page.inner_text(".d-state") == "○ machine"
    assert value(page, "line-text") == CANDIDATES[0]
    assert page.get_attribute("#line-text", "lang") == "en"
    assert page.inner_text("#line-full") == "2.3 of 5.0 s"
    assert page.inner_text(".d-candidates").split("\n")[1::2] == list(CANDIDATES)
    assert page.locator(".d-candidates input:checked").get_attribute("value") == "1"
    described = page.get_attribute("#line-text", "aria-describedby").split()
    assert "line-findings" in described
    assert page.locator(", ".join(f"#{name}" for name in described)).count() == len(described)
    page.locator(".d-candidates input").nth(2).click()
    shows(page, CANDIDATES[2])
    page.keyboard.press("ArrowDown")  # to the fourth of the group
    shows(page, CANDIDATES[3])
    page.focus("#line-text")
    page.keyboard.press("Alt+2")
    shows(page, CANDIDATES[1])
    assert cue_text(place) == CANDIDATES[1]
    assert page.locator(".d-candidates input:checked").get_attribute("value") == "2"


def test_typing_is_saved_one_request_at_a_time_and_never_overwritten(opened, place):
    page = opened()
    acts = Acts(page)
    page.keyboard.press("e")
    typed = " Then it wakes up and stretches."
    for i, letter in enumerate(typed, 1):
        page.keyboard.type(letter)
        assert value(page, "line-text") == CANDIDATES[0] + typed[:i]
    settled(page)
    until(page, "document.querySelector('.d-saved').textContent === 'Saved'")
    assert acts.most == 1
    assert len(acts.asked) < len(typed)
    assert cue_text(place) == CANDIDATES[0] + typed
    assert len({one["group"] for one in acts.asked}) == 1
    press(page, "Escape", "Control+z")
    shows(page, CANDIDATES[0])
    assert cue_text(place) == CANDIDATES[0]

    page.focus("#line-text")
    page.keyboard.press("End")
    page.keyboard.type(" Twice.")  # what waits to be saved goes before the line is accepted
    page.keyboard.press("Control+Shift+Enter")
    settled(page)
    assert [one["act"] for one in acts.asked][-2:] == ["write", "accept"]
    assert acts.most == 1
    cue = load_track(place / TRACK).cues[0]
    assert (cue.text, cue.state) == (CANDIDATES[0] + " Twice.", "accepted")


def test_two_tabs_at_one_line_lose_nothing(opened: Callable[..., Any], place: Path) -> None:
    mine, theirs = opened(), opened()
    mine.route("**/api/events", lambda route: route.abort())  # the news come late
    mine.reload()
    mine.wait_for_selector("#line-text")
    shows(mine, CANDIDATES[0])
    theirs.fill("#line-text", "Their text.")
    settled(theirs)
    mine.focus("#line-text")
    mine.fill("#line-text", "My text.")
    mine.wait_for_selector("dialog#conflict[open]")
    assert value(mine, "line-text") == "My text."
    assert cue_text(place) == "Their text."
    mine.get_by_role("button", name="Keep theirs").click()
    shows(mine, "Their text.")
    mine.fill("#line-text", "Both of us.")
    settled(mine)
    assert cue_text(place) == "Both of us."


def test_what_is_typed_is_judged_as_it_arises_and_goes_back(page: Any, place: Path) -> None:
    page.fill("#line-text", "We see a cat by the window.")
    until(page, "document.querySelector('.d-drawer').textContent.includes('the text differs')")
    assert page.locator(".d-candidates input:checked").count() == 0
    until(page, "document.querySelector('#line-findings [data-level=error]') !== null")
    assert "(rule L2)" in page.inner_text("#line-findings")
    page.fill("#line-text", "A cat sleeps. " * 8)
    until(page, "!document.getElementById('line-over').hidden")
    assert page.inner_text("#line-over") == "4.0 s too long"
    said(page, "4.0 s too long")
    until(page, "!document.getElementById('line-findings').textContent.includes('L2')")
    until(page, "!document.querySelector('.d-machine').hidden")
    assert CANDIDATES[0] in page.inner_text(".d-machine")
    page.get_by_role("button", name="Give back to the machine").click()
    shows(page, CANDIDATES[0])
    assert cue_text(place) == CANDIDATES[0]


def test_beside_a_line_it_is_said_that_it_leaves_the_next_no_time(page: Any) -> None:
    choose(page, 1)
    page.fill(
        "#line-text", "She opens the heavy old brown wooden door of the cold dark house of her mother " * 2
    )
    until(
        page,
        "document.getElementById('line-findings').textContent.includes('leaves no time for the line at')",
    )
    # It describes the field, so that a screen reader reads it there, and the row counts it.
    assert "line-findings" in page.get_attribute("#line-text", "aria-describedby")
    until(page, "document.querySelectorAll('#list .row')[2].textContent.includes('finding')")
    assert violations(page) == []
    choose(page, 2)
    until(page, "document.getElementById('line-findings').textContent.includes('would not be spoken')")


def test_times_move_by_keys_and_are_typed(page: Any, place: Path) -> None:
    frame = 1 / 25
    page.focus("#moment-start")
    press(page, "ArrowUp", "ArrowUp", "PageUp", "ArrowDown")
    settled(page)
    shows(page, "0:01.140", "moment-start")
    assert load_track(place / TRACK).cues[0].interval.start == pytest.approx(1 + frame + 0.1, abs=1e-3)
    page.fill("#moment-start", "0:02.5")
    page.keyboard.press("Enter")
    shows(page, "0:02.500", "moment-start")
    page.fill("#moment-end", "late")
    page.keyboard.press("Enter")
    said(page, "“late” is no time")
    assert page.get_attribute("#moment-end", "aria-invalid") == "true"
    page.keyboard.press("Escape")
    assert value(page, "moment-end") == "0:03.000"
    assert page.get_attribute("#moment-end", "aria-valuetext") == "3 seconds"


def test_a_line_without_words_is_not_saved_and_another_is_split_at_the_cursor(page: Any, place: Path) -> None:
    text = "Ünïcödé 😀 cat sleeps. It wakes up."
    page.focus("#line-text")
    page.fill("#line-text", "")
    assert "not saved" in page.inner_text(".d-saved")
    page.keyboard.press("Escape")
    assert value(page, "line-text") == CANDIDATES[0]
    settled(page)
    assert cue_text(place) == CANDIDATES[0]
    page.focus("#line-text")
    page.fill("#line-text", text)
    press(page, "End", *["ArrowLeft"] * len("It wakes up."), "Alt+s")
    settled(page)
    texts = [cue.text for cue in load_track(place / TRACK).cues]
    assert texts[:2] == [text.removesuffix(" It wakes up."), "It wakes up."]


def test_frames_are_named_walked_and_enlarged(opened: Callable[..., Any]) -> None:
    frames = [
        {"number": i, "seconds": 80 + i / 10, "shot": i // 2, "url": f"/media/shots/{i}.jpg",
         "painted_url": f"/media/shots/{i}.jpg?painted=1", "shown": i != 4, "painted": True}
        for i in range(1, 5)
    ]  # fmt: skip
    detail = {"frames": frames, "notes": [{"title": "Film grammar", "text": "Shot 0: medium."}],
              "history": [], "made": "By hand.", "stage2": None,
              "stage1": {"text": "", "engine": "observer", "steps": [{"title": "Actions", "text": "<b>He</b> runs."}]}}  # fmt: skip
    page = opened(lambda page: page.route("**/api/lines/*", lambda route: route.fulfill(json=detail)))
    page.wait_for_selector(".d-frames img")
    assert page.inner_text("#frames-heading") == "3 of 4 frames that the model saw"
    names = [image.get_attribute("alt") for image in page.locator(".d-frames img").all()]
    assert names[2] == "Frame 3, 1:20.3, shot 1"
    every = page.get_by_role("button", name="All frames")
    every.press("Enter")
    assert every.get_attribute("aria-pressed") == "true"
    assert page.locator(".d-frames img").count() == 4
    said(page, "4 frames shown.")
    assert page.locator(".d-frames button[tabindex='0']").count() == 1
    page.locator(".d-frames button").first.focus()
    press(page, "ArrowRight", "Enter")
    page.wait_for_selector("dialog.d-enlarged[open]")
    assert page.get_attribute(".d-large", "alt") == "Frame 2, 1:20.2, shot 1"
    page.keyboard.press("ArrowRight")
    assert page.get_attribute(".d-large", "alt") == "Frame 3, 1:20.3, shot 1"
    page.keyboard.press("Escape")
    until(page, "document.activeElement?.querySelector('img')?.alt === 'Frame 3, 1:20.3, shot 1'")
    page.check("#frames-painted")
    assert page.locator(".d-frames img").first.get_attribute("src").endswith("painted=1")
    page.get_by_text("What the machine saw and wrote").click()
    assert "<b>He</b> runs." in page.inner_text("#detail")


# The player: more of it in test_review_page_player.py


def test_a_film_that_the_browser_cannot_play_is_copied(opened: Callable[..., Any]) -> None:
    asked: list[Any] = []

    def proxy(route: Any) -> None:
        asked.append(route.request.post_data_json)
        route.fulfill(json={"state": "making", "url": None, "type": "", "done": 0.0, "why": "It is made."})

    def prepare(page: Any) -> None:
        page.route("**/media/film", lambda route: route.fulfill(body=b"no film", content_type="video/mp4"))
        page.route("**/api/proxy", proxy)

    page = opened(prepare)
    until(page, "document.querySelector('.p-without')?.textContent.includes('being made')")
    # Asked again where the page has fetched the film anew, of which this server still says "film".
    assert asked
    assert all(one["error"] for one in asked)


def test_a_film_that_comes_late_goes_to_the_line_that_was_chosen_meanwhile(opened):
    def slow(route: Any) -> None:
        time.sleep(1.0)
        route.continue_()

    page = opened(lambda page: page.route("**/media/*", slow))
    until(page, "document.querySelector('video').readyState > 1")
    at = page.evaluate("document.querySelector('video').currentTime")
    assert at == pytest.approx(1.0, abs=0.02)


# The time line


def timeline(page: Any, script: str) -> Any:
    return page.evaluate(
        f"import('/web/timeline.js').then((m) => {{ const t = m.currentTimeline(); return {script}; }})"
    )


def spot(page: Any, seconds: float) -> tuple[float, float]:
    """Where a second of the row of lines is on the screen."""
    box = page.locator(".t-canvas").bounding_box()
    x = timeline(page, f"({seconds} - t.from) * t.scale")
    return box["x"] + x, box["y"] + box["height"] - 15


def test_frames_step_one_by_one_and_the_time_line_has_words(page: Any) -> None:
    at_start = "Math.abs(video.currentTime - 1) < 0.02 && !video.seeking"
    until(page, f"((video) => {at_start})(document.querySelector('video'))")
    seen = []
    page.get_by_role("button", name="More of the player").click()
    for _ in range(4):
        page.get_by_role("button", name="+1 frame", exact=True).click()
        seen.append(page.evaluate("document.querySelector('video').currentTime"))
    assert np.diff(seen) == pytest.approx([0.04] * 3, abs=0.002)
    press(page, "0")
    until(
        page,
        "document.querySelector('.t-canvas').getAttribute('aria-label').includes('5 shots, speech in 1 place')",
    )
    assert "3 slots, 3 lines." in page.get_attribute(".t-canvas", "aria-label")
    choose(page, 1)
    until(page, "document.querySelector('.t-where').textContent.startsWith('0:09.0')")
    page.locator("#list .row").nth(1).focus()
    page.keyboard.press("w")
    said(page, "9 seconds. Shot 3 of 5.")
    said(page, "Line 2 of 3, machine.")


def test_lines_are_clicked_and_their_ends_dragged(page: Any, place: Path) -> None:
    press(page, "0")
    page.mouse.click(*spot(page, 10.0))
    until(page, "document.getElementById('line-text').ariaLabel.includes(' 2 of ')")
    press(page, "z")
    drawn(page)
    page.mouse.move(*spot(page, 11.0))
    page.mouse.down()
    page.mouse.move(*spot(page, 12.5), steps=4)
    page.mouse.up()
    settled(page)
    assert load_track(place / TRACK).cues[1].interval.end == pytest.approx(12.5, abs=0.05)
    until(page, "document.getElementById('moment-end').value.startsWith('0:12.')")


def test_a_text_on_the_screen_is_taken_in_by_the_mouse_and_by_a_key(
    opened: Callable[..., Any], place: Path
) -> None:
    texts = (TextFact(0, "READY", "scene", 1.0, 2.0, 0.9), TextFact(0, "GO", "title", 2.0, 3.0, 0.9))
    shots = [{"number": 0, "shot": 0, "role": "current", "start": 0.0, "end": 4.0, "seconds": [2.0]}]
    notes = Facts((0,), texts=texts).to_json()
    (place / "stage1.jsonl").write_text(json.dumps(look(FIRST, shots=shots, notes=notes)) + "\n")
    page = opened()
    choose(page, 0)
    take = page.get_by_role("button", name='Take in: + Text reads: "READY."')
    take.click()
    shows(page, 'A cat sleeps by the window. Text reads: "READY."')
    take.wait_for(state="hidden")  # the field has it
    page.focus("#line-text")
    page.keyboard.press("Alt+i")
    whole = 'A cat sleeps by the window. Text reads: "READY." Words appear: "GO."'
    shows(page, whole)
    settled(page)
    assert cue_text(place) == whole
    assert violations(page) == []
