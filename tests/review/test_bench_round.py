"""A describer's round on the page by keys alone, in Chromium and in Firefox: empty slots become lines that were
heard, and the film is watched with them. What is pressed beside the typing is counted."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from shotad.script import LineState
from shotad.sound.programme import RATE
from shotad.sound.takes import wav
from tests.browser import chromium
from tests.firefox import Firefox, firefox
from tests.rendering.described import (
    EMPTY_SLOTS,
    LINES,
    film_with,
    track_of,
    write_folder,
    write_folder_to_fill,
)
from tests.rendering.test_own_voice import read_line
from tests.review.pages import (
    PATIENCE,
    WIDE,
    drawn,
    focused,
    press,
    said,
    served,
    settled,
    tabs,
    until,
    violations,
)

pytestmark = pytest.mark.slow

ACTS_A_LINE = 2
"""Keys that a line needs beside its typing: hear it, and be done with it. Before this page they were 4."""

ACTS_TO_RECORD = 3
"""Record, stop, keep."""
ACTS_TO_EXPORT = 5
"""Open the dialog, choose the film, go to the box for spoken subtitles, tick it, make it."""

TEXTS = (
    "A man steps in and shuts the door.", "He sits down.", "A dog looks up.", "Rain falls.", "The lamp goes out.",
)  # fmt: skip

CAPTION = "document.querySelector('.p-caption:not([hidden])')?.textContent"
PLAYS = "[...document.querySelectorAll('audio')].some((audio) => !audio.paused && audio.currentTime > 0.1)"
STILL = "[...document.querySelectorAll('audio')].every((audio) => audio.paused)"
NOW = "import('/web/player.js').then((player) => player.now())"

MICROPHONE = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
MOST_TABS = 40

FORCED = "1\n00:00:09,000 --> 00:00:10,400\nWhere is the key?\n"
"""A forced subtitle of the dialogue in the film, as if that were foreign."""

OpenPage = Callable[[str], Any]


@pytest.fixture(scope="module")
def kept_firefox() -> Iterator[Firefox]:
    with firefox() as browser:
        yield browser


@pytest.fixture(params=["chromium", pytest.param("firefox", marks=pytest.mark.long)])
def open_page(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenPage]:
    """Opens an address in a new tab, where nothing has been pressed yet and nobody was asked for a name."""
    if request.param == "firefox":
        browser = request.getfixturevalue("kept_firefox")
        pages: list[Any] = []

        def open_firefox(address: str) -> Any:
            page = browser.new_page(WIDE)
            pages.append(page)
            page.goto(address)
            page.wait_for_selector(".row")
            return page

        yield open_firefox
        faults = [fault for page in pages for fault in page.faults]
        for page in pages:
            page.close()
        assert faults == [], "a fault of the page"
        return
    # What the microphone hears: half a second of something like a voice, again and again.
    sound = tmp_path / "heard.wav"
    sound.write_bytes(wav(np.pad(read_line(0.5).samples * np.float32(0.4), RATE // 4), RATE))
    options = (*MICROPHONE, f"--use-file-for-fake-audio-capture={sound}")
    with chromium(*options) as browser, tabs(browser, "") as opened:

        def open_chromium(address: str) -> Any:
            opened.address = address
            return opened.open()

        yield open_chromium


@pytest.fixture
def page_to_fill(browser: Any, tmp_path: Path) -> Iterator[tuple[Any, Path]]:
    """Chromium at a film of which five slots are empty, and the folder of that film."""
    folder = write_folder_to_fill(tmp_path / "film.shotad")
    with served(folder) as address, tabs(browser, address) as opened:
        page = opened.open()
        until(page, "document.getElementById('line-text')?.ariaLabel?.includes(' 1 of ')")
        yield page, folder
        settled(page)


@contextmanager
def page_of(folder: Path, open_page: OpenPage) -> Iterator[Any]:
    """The page of a folder, once it shows its first line."""
    with served(folder) as address:
        page = open_page(address)
        until(page, "document.getElementById('line-text')?.ariaLabel?.includes(' 1 of ')")
        yield page
        settled(page)


_NAME = """(() => {
  const at = document.activeElement;
  return at.ariaLabel || [...(at.labels ?? [])].map((label) => label.textContent).join(' ') || at.textContent;
})()"""


class Keys:
    """Presses keys and counts them; typing does not count."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self.acts = 0

    def press(self, *keys: str) -> None:
        self.acts += len(keys)
        press(self._page, *keys)

    def type(self, text: str) -> None:
        self._page.keyboard.type(text)

    def tab_to(self, name: str, key: str = "Tab") -> None:
        """Press Tab until the focus is on what has this name; each Tab counts."""
        for _ in range(MOST_TABS):
            self.press(key)
            if name in self._page.evaluate(_NAME):
                return
        raise AssertionError(f"no Tab leads to {name!r}")


def value(page: Any) -> str:
    """The text in the field of the chosen line."""
    return str(page.input_value("#line-text"))


def in_slot(page: Any, number: int) -> None:
    """Waits until one writes in the line of this number."""
    until(
        page,
        "document.activeElement.id === 'line-text'"
        f" && document.activeElement.ariaLabel.includes(' {number} of ')",
    )


def test_five_empty_slots_are_written_and_heard_with_two_keys_each(
    open_page: OpenPage, tmp_path: Path
) -> None:
    film = Path(shutil.copy(film_with(), tmp_path / "movie.mp4"))
    film.with_suffix(".forced.srt").write_text(FORCED, encoding="utf-8")
    folder = write_folder_to_fill(tmp_path / "movie.shotad", film)
    with page_of(folder, open_page) as page:
        keys = Keys(page)
        keys.press("Alt+n")  # into the text of the first empty slot
        reached = keys.acts
        for number, text in enumerate(TEXTS, 2):
            in_slot(page, number)
            keys.type(text)
            _hear(page, keys, text)
            keys.press("Control+Enter")
        said(page, "That was the last line.")
        acts = keys.acts - reached
        print(f"acts beside the typing: {acts} for {len(TEXTS)} lines, and {reached} to reach the first")
        assert acts == ACTS_A_LINE * len(TEXTS)
        _watch(page, keys)
        _record(page, keys)
        _export(page, keys)
        settled(page)
    written = {cue.start: (cue.text, cue.state) for cue in track_of(folder).heard[1:]}
    accepted = [(text, LineState.ACCEPTED) for text in TEXTS]
    assert written == dict(zip(EMPTY_SLOTS, accepted, strict=True))
    recorded = [cue.text for cue in track_of(folder).heard if cue.recording is not None]
    assert recorded == [TEXTS[2]], "the line from which the film was watched"
    with av.open(str(folder / "movie.described.mp4")) as container:
        assert len(container.streams.audio) == 2


def _hear(page: Any, keys: Keys, text: str) -> None:
    """Has the line heard as it was just typed; its words stand in the picture while they are spoken."""
    keys.press("Alt+h")
    until(page, f"{CAPTION} === {json.dumps(text)}")
    assert focused(page) == "line-text", "one can go on writing"


def _watch(page: Any, keys: Keys) -> None:
    """Watches the film with its description over three lines, from the list, and stops it while writing."""
    until(page, STILL)  # the last line was heard to its end
    keys.press("Escape", "ArrowUp", "ArrowUp", "Space")
    for text in TEXTS[2:]:
        until(page, f"{CAPTION} === {json.dumps(text)}")
    keys.press("Enter", "Alt+k")
    until(page, STILL)
    assert focused(page) == "line-text"


def _record(page: Any, keys: Keys) -> None:
    """Records the line in the person's own voice, from its text, and keeps it."""
    before = keys.acts
    keys.press("Alt+r")
    state = "document.querySelector('.rec-state').textContent"
    until(page, f"{state}.startsWith('Recording: 1.')")
    keys.press("Alt+r")
    said(page, "Hear it (Alt+P), keep it (Alt+U) or discard it.")
    keys.press("Alt+u")
    until(page, f"{state}.startsWith('In your own voice, ')")
    acts = keys.acts - before
    print(f"a line recorded and kept: {acts} keys")
    assert (acts, focused(page)) == (ACTS_TO_RECORD, "line-text")
    keys.press("Escape")


def _export(page: Any, keys: Keys) -> None:
    """Has the film made with its description, and the foreign dialogue spoken."""
    before = keys.acts
    keys.press("x")
    until(page, "document.activeElement.value === 'colleague'")
    keys.press("ArrowDown")
    assert page.evaluate("document.activeElement.value") == "film"
    reached = keys.acts - before
    keys.tab_to("forced subtitles")
    keys.press("Space", "Enter")
    until(page, "document.querySelector('dialog[open] .job[data-state=done]') !== null")
    assert "1 of 1 spoken" in page.inner_text("#export-dialog")
    acts = keys.acts - before
    print(f"film exported: {reached + 1} keys, with spoken subtitles {acts}")
    assert acts == ACTS_TO_EXPORT
    keys.press("Escape")


def test_a_slot_is_looped_while_one_writes(open_page: OpenPage, tmp_path: Path) -> None:
    folder = write_folder_to_fill(tmp_path / "film.shotad")
    with page_of(folder, open_page) as page:
        press(page, "Alt+n", "Alt+o")  # which also plays it
        start, end = EMPTY_SLOTS[0], 9.0
        until(page, PLAYS)
        moments: list[float] = []
        while not any(later < earlier - 1 for earlier, later in itertools.pairwise(moments)):
            moments.append(float(page.evaluate(NOW)))
            assert len(moments) < PATIENCE * 10, "it never begins again"
            page.wait_for_timeout(100)
        assert start - 2.5 < min(moments)
        assert max(moments) < end + 2.5
        page.keyboard.type("He waits.")
        assert value(page) == "He waits."
        press(page, "Alt+k")
        until(page, STILL)


def test_an_undo_takes_back_a_burst_of_typing(open_page: OpenPage, tmp_path: Path) -> None:
    folder = write_folder_to_fill(tmp_path / "film.shotad")
    with page_of(folder, open_page) as page:
        press(page, "Alt+n")
        page.keyboard.type("A man steps in")
        settled(page)
        page.wait_for_timeout(1200)  # longer than the pause that ends a burst
        page.keyboard.type(" and sits down")
        assert value(page) == "A man steps in and sits down"
        press(page, "Control+z")
        until(page, "document.getElementById('line-text').value === 'A man steps in'")
        press(page, "Control+z")
        until(page, "document.getElementById('line-text').value === ''")
        press(page, "Control+Shift+z", "Control+Shift+z")
        until(page, "document.getElementById('line-text').value === 'A man steps in and sits down'")
        assert focused(page) == "line-text"


_CHOSEN = "#list .row[aria-selected=true]"
_FRAME = "getComputedStyle(document.getElementById('line-text')).borderTopColor"


def _click_slot_in_time_line(page: Any) -> None:
    """Clicks on the last empty slot, where the time line draws it."""
    place = page.evaluate(
        """import('/web/timeline.js').then(({ currentTimeline }) => {
          const line = currentTimeline();
          const box = line.canvas.getBoundingClientRect();
          return [box.left + line.xOf(line.lines.at(-1).start) + 4, box.bottom - 15];
        })"""
    )
    page.mouse.click(*place)


WAYS_TO_OPEN: dict[str, Callable[[Any], None]] = {
    "next empty, by its key": lambda page: press(page, "Alt+n"),
    "next empty, by its button": lambda page: page.click("[data-command=next-empty]"),
    "next empty, from a button of the line": lambda page: (
        page.focus("#detail [data-command=hear]"), press(page, "Alt+n"),
    ),
    "done, from the list": lambda page: press(page, "a"),
    "done, by its button": lambda page: page.click("[data-command=accept]"),
    "a click on the slot": lambda page: page.click(".row[data-state=empty]"),
    "a click beside its text": lambda page: (
        press(page, "ArrowDown"), page.click(f"{_CHOSEN} .d-material", position={"x": 2, "y": 2}),
    ),
    "a click on the time line": _click_slot_in_time_line,
    "a time to go to": lambda page: (
        press(page, "g"), page.fill("#go-to-time", "12"), press(page, "Enter"),
    ),
}  # fmt: skip
"""Each opens an empty slot, from the first line, which is written."""


@pytest.mark.parametrize("way", WAYS_TO_OPEN)
def test_a_letter_writes_in_an_empty_slot_however_it_is_opened(page_to_fill: Any, way: str) -> None:
    page, folder = page_to_fill
    page.focus(_CHOSEN)
    unframed = page.evaluate(_FRAME)
    WAYS_TO_OPEN[way](page)
    until(page, "document.activeElement.id === 'line-text' && document.activeElement.value === ''")
    drawn(page)
    assert page.evaluate(_FRAME) != unframed, "the frame stands where letters write"
    # Each is a key of the list: split, leave out, slots, describe again.
    page.keyboard.type("Stdr.")
    assert value(page) == "Stdr."
    assert page.locator("dialog[open]").count() == 0
    settled(page)
    assert [cue.text for cue in track_of(folder).heard].count("Stdr.") == 1


def test_a_click_beside_the_text_leaves_the_cursor_there(page_to_fill: Any) -> None:
    page, _ = page_to_fill
    press(page, "Alt+n")
    page.keyboard.type("He waits")
    page.click("#detail [data-command=hear]")
    page.keyboard.type(" s")
    for blank in ("#progress-text", ".p-time", ".d-full", "#foot"):
        page.click(blank, position={"x": 3, "y": 3})
        page.keyboard.type("d")  # in the list it leaves the line out
    assert value(page) == "He waits sdddd"


def test_enter_goes_on_and_shift_enter_breaks_the_line(open_page: OpenPage, tmp_path: Path) -> None:
    folder = write_folder_to_fill(tmp_path / "film.shotad")
    with page_of(folder, open_page) as page:
        press(page, "Alt+n")
        page.keyboard.type("He waits.")
        press(page, "Shift+Enter")
        page.keyboard.type("A dog.")
        assert value(page) == "He waits.\nA dog."
        press(page, "Enter")
        in_slot(page, 3)
        press(page, "Alt+n")
        in_slot(page, 4)
        page.keyboard.type("It barks.")
        settled(page)
        press(page, "Alt+ArrowUp", "Alt+n")
        in_slot(page, 5)  # the fourth is written now
        press(page, "Escape")
        until(page, "document.activeElement.getAttribute('role') === 'row'")
        settled(page)
    assert [cue.text for cue in track_of(folder).heard[1:]] == ["He waits.\nA dog.", "It barks."]


def test_a_line_is_added_where_the_film_stands(open_page: OpenPage, tmp_path: Path) -> None:
    lines = {1.0: LINES[1.0], 14.0: LINES[14.0]}
    folder = write_folder(tmp_path / "film.shotad", lines=lines)
    with page_of(folder, open_page) as page:
        press(page, "j")
        until(page, f"{NOW}.then((second) => Math.abs(second - 14) < 0.1)")
        press(page, "Alt+j", "Alt+j")  # four seconds back, where no slot is
        until(page, f"{NOW}.then((second) => Math.abs(second - 10) < 0.1)")
        press(page, "Alt+a")
        in_slot(page, 2)
        page.keyboard.type("Dawn.")
        press(page, "Control+Enter")
        said(page, "Line 2: Accepted")
        settled(page)
    first, added, last = track_of(folder).heard
    assert [cue.text for cue in (first, added, last)] == [LINES[1.0], "Dawn.", LINES[14.0]]
    assert added.start == pytest.approx(10.0, abs=0.1)


def test_a_second_line_is_added_in_a_slot_that_has_one(open_page: OpenPage, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "film.shotad", lines={9.0: "He sits."})
    with page_of(folder, open_page) as page:
        until(page, f"{NOW}.then((second) => Math.abs(second - 9) < 0.1)")
        press(page, "Alt+l", "Alt+a")  # two seconds on, in the same slot
        in_slot(page, 2)
        page.keyboard.type("He stands up.")
        settled(page)
        press(page, "Escape", "ArrowUp", "Alt+a")  # where the first line is spoken: behind both
        in_slot(page, 3)
        settled(page)
    first, second, third = track_of(folder).cues
    assert first.slot_id == second.slot_id == third.slot_id
    assert second.start == pytest.approx(11.25, abs=0.1), "after the first, which ends there"
    assert (second.text, third.text, third.start >= second.end) == ("He stands up.", "", True)


def test_the_first_key_after_loading_does_something(open_page: OpenPage, tmp_path: Path) -> None:
    folder = write_folder_to_fill(tmp_path / "film.shotad")
    with page_of(folder, open_page) as page:
        assert page.evaluate("document.activeElement === document.body")
        press(page, "?")
        until(page, "document.querySelector('dialog[open]')?.id === 'help'")
        press(page, "Escape")
        until(page, "!document.querySelector('dialog[open]')")
    for key, happens in {
        "j": "document.getElementById('line-text').ariaLabel.includes(' 2 of ')",
        "Enter": "document.activeElement.id === 'line-text'",
        "/": "document.activeElement.id === 'search'",
        "Space": PLAYS,
    }.items():
        with page_of(folder, open_page) as page:
            press(page, key)
            until(page, happens)


_SIGHT = """() => {
  const shows = (element) => {
    const box = element.getBoundingClientRect();
    return element.checkVisibility({visibilityProperty: true}) && box.width > 1 && box.height > 1
      && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
  };
  const box = (name) => {
    const {left, top, right, bottom} = document.querySelector(name).getBoundingClientRect();
    return {left, top, right, bottom};
  };
  return {
    scrolled: scrollY, wide: document.documentElement.scrollWidth, film: box('.p-screen'), list: box('#list'),
    buttons: [...document.querySelectorAll('button')].filter(shows)
      .map((button) => button.getAttribute('aria-label') ?? button.textContent),
  };
}"""

_COVERED = """[...document.querySelectorAll('#line-text, #detail .d-tools button')].filter((element) => {
  const {left, top, width, height} = element.getBoundingClientRect();
  const at = (share) => document.elementFromPoint(left + width / 2, top + height * share);
  return [0.2, 0.9].some((share) => !element.contains(at(share)));
}).map((element) => element.textContent || element.id)"""
"""Of the text and the buttons of the chosen line, those that are out of sight or under something."""

MOST_BUTTONS = 15


def test_the_page_opens_with_the_picture_beside_or_above_the_script(
    open_page: OpenPage, tmp_path: Path
) -> None:
    folder = write_folder_to_fill(tmp_path / "film.shotad")
    with served(folder) as address:
        for width, height in ((1440, 900), (768, 1024), (390, 844)):
            page = open_page(address)
            page.set_viewport_size({"width": width, "height": height})
            # The page was made in a large window: it is loaded anew in this one.
            page.reload()
            page.wait_for_selector("#line-text")
            drawn(page)
            page.wait_for_timeout(300)
            sight = page.evaluate(_SIGHT)
            film, script = sight["film"], sight["list"]
            assert sight["scrolled"] == 0, width
            assert sight["wide"] <= width
            assert film["top"] >= 0, width
            assert film["bottom"] <= height, width
            if width == 1440:
                assert film["right"] <= script["left"], "side by side"
                assert film["right"] - film["left"] > 700
                assert len(sight["buttons"]) <= MOST_BUTTONS, sight["buttons"]
            else:
                assert film["bottom"] <= script["top"], "one above the other"
                assert script["top"] < height, "the script begins in sight"
            # What happened is said at the lower edge, and covers no button of the line.
            page.evaluate("document.querySelector('.d-material').style.minHeight = '700px'")
            press(page, "Alt+n", "Alt+n", "Alt+ArrowUp")
            page.evaluate("import('/web/say.js').then((m) => m.say('Something happened. '.repeat(6)))")
            said(page, "Something happened.")
            drawn(page)
            assert page.evaluate(_COVERED) == [], width


_OUTSIDE = """[...document.querySelectorAll('.menu:popover-open, .p-more:not([hidden])')]
  .map((popup) => [popup.id, popup.getBoundingClientRect()])
  .filter(([, box]) => box.top < 0 || box.left < 0 || box.right > innerWidth || box.bottom > innerHeight)
  .map(([id, box]) => [id, box.top, box.bottom])"""


@pytest.mark.parametrize("size", [(1440, 900), (768, 1024), (390, 844), (390, 400), (320, 256)])
def test_what_opens_beside_a_button_stays_in_the_window(
    page_to_fill: tuple[Any, Path], size: tuple[int, int]
) -> None:
    page, _ = page_to_fill
    page.set_viewport_size({"width": size[0], "height": size[1]})
    popups = {"F10": "#page-menu", "Alt+m": "#line-menu", "more": "#player-more"}
    for scrolled in (0, 150, 5000):
        for key, popup in popups.items():
            page.evaluate(f"scrollTo(0, {scrolled})")
            if key == "more":
                page.evaluate("document.querySelector('.p-opener').click()")
            else:
                press(page, key)
            page.wait_for_selector(popup)
            drawn(page)
            assert page.evaluate(_OUTSIDE) == [], (scrolled, popup)
            page.evaluate("scrollBy(0, -80)")
            drawn(page)
            assert page.evaluate(_OUTSIDE) == [], (scrolled, popup, "scrolled while open")
            if key == "more":
                page.evaluate("document.querySelector('.p-opener').click()")
            else:
                press(page, "Escape")
            page.wait_for_selector(popup, state="hidden")


def test_what_is_done_most_shows_its_key(page_to_fill: tuple[Any, Path]) -> None:
    page, _ = page_to_fill
    keys = {
        "#detail [data-command=hear]": "Alt+H", "#detail [data-command=accept]": "Alt+Enter",
        "#top [data-command=next-empty]": "Alt+N", "#top [data-command=export]": "Alt+X",
    }  # fmt: skip
    for button, key in keys.items():
        assert page.locator(f"{button} kbd").inner_text() == key
    press(page, "Alt+n", "Alt+x")
    page.wait_for_selector("#export-dialog[open]")
    press(page, "Escape", "F10")
    assert "Export" in page.locator("#page-menu [role=menuitem]").first.inner_text()


def _take_seconds(page: Any, over: float) -> str:
    """What stands beside the first line when it takes ``over`` seconds more than it has."""
    page.evaluate(
        """(over) => import('/web/store.js').then(({ store, emit }) => {
          const line = store.lines.get(store.order[0]);
          store.lines.set(line.id, { ...line, seconds: line.room_seconds + over });
          emit('lines', { changed: [line.id], gone: [] });
        })""",
        over,
    )
    drawn(page)
    return str(page.inner_text(".d-full"))


def test_a_line_within_the_allowance_fills_its_time_and_no_more(page_to_fill: tuple[Any, Path]) -> None:
    page, _ = page_to_fill
    within = _take_seconds(page, 0.15)
    used, _, whole = page.inner_text("#line-full").removesuffix(" s").split()
    assert used == whole, "no more than the whole"
    assert "too long" not in within
    assert "over" not in str(page.get_attribute(".d-bar", "class"))
    assert "0.4 s too long" in _take_seconds(page, 0.4)
    assert "over" in str(page.get_attribute(".d-bar", "class"))


_IN_SIGHT = """(name) => {
  const {left, top, width, height} = document.querySelector(name).getBoundingClientRect();
  const element = document.elementFromPoint(left + width / 2, top + height / 2);
  return Boolean(element?.closest(name));
}"""


@pytest.mark.parametrize("size", [(390, 844), (768, 1024)])
def test_on_a_narrow_screen_what_is_needed_all_day_stays(
    page_to_fill: tuple[Any, Path], size: tuple[int, int]
) -> None:
    page, _ = page_to_fill
    page.set_viewport_size({"width": size[0], "height": size[1]})
    drawn(page)
    for scrolled in (0, 200, 10000):
        page.evaluate(f"scrollTo(0, {scrolled})")
        drawn(page)
        for name in ("next-empty", "undo", "export", "menu"):
            assert page.evaluate(_IN_SIGHT, f"[data-command={name}]"), (name, scrolled)
    assert page.evaluate(_IN_SIGHT, ".t-canvas"), "the time line is at the end of the page"
    assert page.evaluate("document.documentElement.scrollHeight") < 2 * size[1], "however many rows"
    page.evaluate("scrollTo(0, 0)")
    press(page, "Alt+n")
    page.keyboard.type("He waits.")
    drawn(page)
    assert page.evaluate(_COVERED) == []


@pytest.mark.parametrize("width", [1440, 390])
def test_the_picture_has_the_shape_of_the_film(page_to_fill: tuple[Any, Path], width: int) -> None:
    page, _ = page_to_fill
    page.set_viewport_size({"width": width, "height": 900})
    for shape in (2.35, 0.75):
        page.evaluate(
            """(shape) => {
              const video = document.querySelector('video');
              Object.defineProperty(video, 'videoWidth', { configurable: true, value: 1000 * shape });
              Object.defineProperty(video, 'videoHeight', { configurable: true, value: 1000 });
              video.dispatchEvent(new Event('loadedmetadata'));
            }""",
            shape,
        )
        drawn(page)
        box = page.locator(".p-screen").bounding_box()
        assert box["width"] / box["height"] == pytest.approx(shape, rel=0.02)


def test_an_export_reports_once_and_its_button_is_in_sight(page_to_fill: tuple[Any, Path]) -> None:
    page, _ = page_to_fill
    page.set_viewport_size({"width": 390, "height": 844})
    press(page, "Alt+x")
    button = "#export-dialog .stays button"
    page.wait_for_selector(button)
    drawn(page)
    assert page.evaluate(_IN_SIGHT, button)
    page.click(button)
    page.wait_for_selector("#export-dialog .job[data-state=done]")
    until(page, "document.querySelector('#export-dialog .dialog-status').textContent !== ''")
    until(page, "!document.querySelector('#export-dialog .dialog-status').textContent.startsWith('Begun')")
    assert "hidden" in str(page.get_attribute("#export-dialog .dialog-status", "class")), (
        "said, not shown twice"
    )


def test_an_empty_slot_offers_no_recording(page_to_fill: tuple[Any, Path]) -> None:
    page, _ = page_to_fill
    press(page, "Alt+n")
    record = page.locator("#detail [data-command=record]")
    assert record.get_attribute("aria-disabled") == "true"
    page.keyboard.type("He waits.")
    settled(page)
    until(page, "document.querySelector('#detail [data-command=record]').ariaDisabled === 'false'")


def test_the_legend_begins_with_what_is_seen_most(page_to_fill: tuple[Any, Path]) -> None:
    page, _ = page_to_fill
    page.click(".t-legend summary")
    words = page.inner_text(".t-legend dl")
    assert words.index("empty slot") < words.index("dialogue") < words.index("accepted")
    assert "thread" not in words, "this film has none"
    assert violations(page) == []
