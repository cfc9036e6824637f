"""Whether everybody can work on the page: what is said, what is seen, where the focus is; and news that come late."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from shotad.script.track_files import TRACK
from tests.rendering.described import change
from tests.review.pages import drawn, focused, press, reload, said, settled, until, violations

pytestmark = pytest.mark.slow

NARROW = {"width": 320, "height": 640}


@pytest.fixture
def opened(opened: Callable[..., Any]) -> Callable[..., Any]:
    """A tab keeps what it says."""

    def open_tab(*prepare: Callable[[Any], None], **options: Any) -> Any:
        page = opened(*prepare, **options)
        page.evaluate("localStorage.setItem('shotad-settings', '{\"asked\":true}')")
        page.evaluate(_LISTEN)
        return page

    return open_tab


_LISTEN = """() => {
  globalThis.heard = [];
  for (const id of ['status', 'alert']) {
    const place = document.getElementById(id);
    const told = () => place.textContent && heard.push(place.textContent.trim());
    new MutationObserver(told).observe(place, {childList: true, characterData: true, subtree: true});
  }
}"""
"""Keeps what a screen reader would be given to say."""


def unheard(page: Any) -> None:
    """For what is put into the page by hand: the server's own news, with which a connection begins, would
    change it again."""
    page.route("**/api/events", lambda route: None)


def heard(page: Any) -> Any:
    """What was said since it was last asked."""
    settled(page)
    page.wait_for_timeout(200)
    return page.evaluate("heard.splice(0)")


# What is said


def test_each_act_is_said_once_and_an_undo_waits_for_the_act_before_it(page: Any) -> None:
    # Pressed while that is on its way it is not told that there is nothing to undo.
    press(page, "d", "Control+z")
    said(page, "Undone: Dropped.")
    assert page.locator("#list [data-state=dropped]").count() == 0
    for key, words in {
        "]": r"Start at 0:01\.040, 1 frame later\.",
        "d": "Dropped.",
        "Control+z": "Undone: Dropped.",
        "a": "Line 1: .*",
    }.items():
        heard(page)
        page.keyboard.press(key)
        until(page, "heard.length > 0")
        assert [bool(re.fullmatch(words, one)) for one in heard(page)] == [True], key


def with_a_finding(place: Path) -> None:
    """Another program gives the second line words against which the guidelines are."""
    change(place / TRACK, "A lamp goes out.", "We see a lamp.")


def test_who_goes_on_from_within_the_text_hears_which_line_it_is(page: Any, place: Path) -> None:
    with_a_finding(place)
    # What the guidelines say comes from the server when it comes; it belongs to what is read of a line.
    until(page, "document.querySelector('#list')?.textContent.includes('1 finding')")
    page.keyboard.press("Enter")
    heard(page)
    page.keyboard.press("Alt+ArrowDown")
    assert heard(page) == [
        "Line 2 of 3, at 9 seconds, written, 1 finding: She opens the old door. We see a lamp."
    ]
    page.keyboard.press("Control+Shift+Enter")
    assert heard(page) == [
        "Line 2: Accepted. Line 3 of 3, at 14 seconds, machine: Rain falls on the empty street."
    ]
    assert focused(page) == "line-text"
    page.keyboard.press("Escape")
    heard(page)
    page.keyboard.press("ArrowUp")
    assert heard(page) == [], "the row is read by itself"


def test_findings_that_were_told_before_the_page_listened_are_fetched(
    opened: Callable[..., Any], place: Path
) -> None:
    with_a_finding(place)
    asked: list[str] = []

    def before_the_check(page: Any) -> None:
        def answer(route: Any) -> None:
            film = route.fetch().json()
            if not asked:
                while not film["findings"]["done"]:
                    film = route.fetch().json()
                film["findings"]["version"] = 0
                film["lines"] = [{**line, "findings": []} for line in film["lines"]]
            asked.append(route.request.url)
            route.fulfill(json=film)

        page.route("**/api/film", answer)

    page = opened(before_the_check)
    until(page, "document.querySelector('#list')?.textContent.includes('1 finding')")
    assert len(asked) >= 2


def test_what_was_said_is_not_read_again_when_a_dialog_closes(page: Any) -> None:
    press(page, "d")
    said(page, "Dropped.")
    press(page, "?")
    until(page, "document.querySelector('dialog[open]') !== null")
    assert page.inner_text("#status") == ""


# News


def test_a_tab_out_of_sight_gives_its_connection_back_and_catches_up(opened: Callable[..., Any]) -> None:
    """A browser has six connections for one server: with seven open tabs none could save any more."""

    def sight(page: Any, hidden: bool) -> None:
        page.evaluate(
            "(is) => { Object.defineProperty(document, 'hidden', {value: is, configurable: true});"
            " document.dispatchEvent(new Event('visibilitychange')); }",
            hidden,
        )

    over: list[str] = []
    first = opened(lambda page: page.clock.install())
    for ended in ("requestfailed", "requestfinished"):
        first.on(ended, lambda request: over.append(request.url.rpartition("/")[2]))
    sight(first, True)
    first.clock.run_for(6000)
    for _ in range(100):
        if "events" in over:
            break
        first.wait_for_timeout(50)
    assert "events" in over
    second = opened()
    second.keyboard.press("d")
    said(second, "Dropped.")
    assert first.locator("#list [data-state=dropped]").count() == 0
    sight(first, False)
    first.locator("#list [data-state=dropped]").wait_for(state="attached")


def test_a_damaged_track_is_told_until_that_is_put_away(page: Any, place: Path) -> None:
    track = place / TRACK
    sound, strip = track.read_text(), page.locator("#banner .strip", has_text="track.json")
    track.write_text(sound[: len(sound) // 2])
    press(page, "d")
    strip.wait_for()
    page.wait_for_timeout(300)
    assert strip.is_visible()
    track.write_text(sound)
    strip.wait_for(state="detached")  # the server looks again by itself, and has told that all is mended
    press(page, "d")
    said(page, "Dropped.")
    track.write_text(track.read_text()[:-99])
    press(page, "u")
    strip.get_by_role("button", name="Dismiss").click()
    strip.wait_for(state="detached")
    assert page.locator("#list").evaluate("(list) => list.contains(document.activeElement)")


# Keys


_PREVENTED = """() => {
  globalThis.left = [];
  addEventListener('keydown', (event) =>
    event.altKey && event.key.length === 1 && !event.defaultPrevented && left.push(event.key));
}"""
"""Keeps the characters with Alt that are left to the browser."""

_ALT_KEYS = """import('/web/commands.js').then(({ allCommands }) => [...new Set(allCommands()
  .flatMap(({ keys }) => Object.values(keys).flat()).filter((key) => key.startsWith('Alt+')))])"""

_DOUBLE_KEYS = """import('/web/commands.js').then(({ allCommands }) => {
  const commandsOf = (place) => allCommands().flatMap(({ name, keys }) => keys[place].map((key) => [key, name]));
  const clashes = [];
  for (const place of ['list', 'edit']) {
    const known = new Map();
    for (const [key, name] of [...commandsOf('any'), ...commandsOf(place)]) {
      if (known.has(key) && known.get(key) !== name) clashes.push([place, key, known.get(key), name]);
      known.set(key, name);
    }
  }
  return clashes;
})"""


def test_no_key_with_alt_is_left_to_the_browser_whatever_is_open(page: Any) -> None:
    """Alt+H opens Firefox's Help, Alt+S its History, where the page does not take them."""
    page.evaluate(_PREVENTED)
    keys = page.evaluate(_ALT_KEYS)
    assert {"Alt+H", "Alt+S", "Alt+B", "Alt+ArrowDown"} <= set(keys)
    pressed = [key for key in keys if key[-1] not in "[]{},."]  # those stand elsewhere on other keyboards
    for opening, closed in {
        "?": "!document.querySelector('dialog[open]')",
        "F10": "!document.querySelector('.menu:popover-open')",
    }.items():
        press(page, opening)
        until(page, f"!({closed})")
        before = page.evaluate("document.activeElement.textContent")
        press(page, *(f"Alt+{key[4:].lower()}" if len(key) == 5 else key for key in pressed))
        assert page.evaluate("left.splice(0)") == []
        assert page.evaluate("document.activeElement.textContent") == before, "and nothing was done"
        press(page, "Escape")
        until(page, closed)
    for place in ("#list [aria-selected=true]", "#search", "#line-text"):
        page.focus(place)
        press(page, "Alt+s", "Alt+b", "Alt+i")
        assert page.evaluate("left.splice(0)") == [], place


def test_no_two_commands_have_the_same_key(page: Any) -> None:
    assert page.evaluate(_DOUBLE_KEYS) == []


# To see, to reach, to speak


_COVERED = """() => {
  const one = document.activeElement;
  if (one === document.body) return null;
  const {left, top, width, height} = one.getBoundingClientRect();
  const at = [[0.5, 0.5], [0.1, 0.2], [0.9, 0.8], [0.1, 0.8], [0.9, 0.2]];
  const own = at.map(([x, y]) => document.elementFromPoint(left + x * width, top + y * height))
    .some((hit) => hit && (one === hit || one.contains(hit)));
  const ring = getComputedStyle(one);
  const seen = ring.outlineStyle !== 'none' && parseFloat(ring.outlineWidth) >= 2;
  return {what: one.outerHTML.slice(0, 120), covered: !own, ring: seen};
}"""

RUNNING: Mapping[str, Any] = {
    "id": "j8", "kind": "render", "title": "Speak and make the film with its description", "state": "running",
    "step": "Speaking the lines", "done": 0.4, "notes": [], "result": None, "error": None,
    "version": 9,
}  # fmt: skip


def test_nothing_that_sticks_covers_the_focus(opened: Callable[..., Any]) -> None:
    """WCAG 2.4.7 and 2.4.11, in a narrow window with a job in its foot."""
    page = opened()
    page.set_viewport_size(NARROW)
    page.evaluate("(job) => import('/web/store.js').then((m) => m.applyJob(job))", dict(RUNNING))
    page.evaluate("document.querySelector('.skip a').focus()")
    drawn(page)
    stops = []
    for _ in range(90):
        page.keyboard.press("Tab")
        found = page.evaluate(_COVERED)
        if found is None:
            break
        stops.append(found)
    assert len(stops) > 20
    assert [one["what"] for one in stops if one["covered"]] == []
    assert [one["what"] for one in stops if not one["ring"]] == []


_NAMES = """() => [...document.querySelectorAll('button[aria-label], a[aria-label]')].map((one) => [
  one.textContent.trim().toLowerCase(), one.getAttribute('aria-label').toLowerCase()])"""


def test_a_name_holds_the_words_that_are_seen_and_keys_are_named(page: Any) -> None:
    """WCAG 2.5.3: who speaks to the computer says what stands on the button."""
    pairs = page.evaluate(_NAMES)
    assert len(pairs) >= 8
    assert [(seen, name) for seen, name in pairs if seen not in name] == []
    script = "(all) => all.map((one) => one.getAttribute('aria-keyshortcuts'))"
    keys = page.eval_on_selector_all("[aria-keyshortcuts]", script)
    assert any("Control+Space" in one.split(" ") for one in keys)
    assert [one for one in keys if "" in one.split(" ")] == []


STATES: Mapping[str, str] = {
    "trouble": "(m) => m.emit('trouble', {what: 'track.json is damaged.', hint: 'Mend it.'})",
    "lost": "(m) => m.setConnected(false)",
    "empty": "(m) => m.load({...m.store.film, lines: []})",
    "sends": "(m) => m.load({...m.store.film, voice: {...m.store.film.voice, notice: 'The lines are sent away.'}})",
    "making": "(m) => m.emit('playable', {state: 'making', url: null, done: 0.3, why: 'MKV.'})",
    "gone": "(m) => m.emit('playable', {state: 'none', url: null, done: 0, why: 'The film is gone.'})",
    "job": "(m) => m.applyJob({id: 'j1', kind: 'export', title: 'Export', state: 'running', notes: []})",
    "unsaved": "async (m) => { const box = await import('/web/outbox.js'); box.hold(box.put({act: 'write', line: m.store.current, seen: null, args: {text: 'Typed.'}, group: ''})); m.emit('unsaved'); }",
    "waiting": "async (m) => { (await import('/web/outbox.js')).put({act: 'accept', line: m.store.current, seen: null, args: {}, group: ''}); m.store.undelivered = new Error('The disk is full.'); m.emit('undelivered'); }",
    "conflict": "(m) => m.emit('conflict', {act: 'write', id: m.store.current, line: m.chosenLine(), mine: {text: 'Mine.'}})",
}  # fmt: skip


def test_every_state_of_the_page_passes_axe(opened: Callable[..., Any]) -> None:
    page = opened(unheard, viewport=NARROW, color_scheme="dark")
    for state, script in STATES.items():
        page.evaluate("sessionStorage.clear()")
        reload(page)
        until(page, "document.getElementById('line-text')?.ariaLabel?.includes(' 1 of ')")
        page.evaluate(f"import('/web/store.js').then({script})")
        page.wait_for_timeout(150)
        drawn(page)
        assert violations(page) == [], state
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), state
        if state == "empty":
            assert page.inner_text("#list-note") == "There are no lines yet."
    page.evaluate("sessionStorage.clear()")


LARGER = (
    "html { font-size: 200% !important }",
    "* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }",
)


def test_larger_and_wider_text_stays_in_the_window(opened: Callable[..., Any]) -> None:
    """WCAG 1.4.4 and 1.4.12."""
    page = opened(viewport={"width": 768, "height": 1024})
    for rule in LARGER:
        page.evaluate(
            "(rule) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(rule);"
            " document.adoptedStyleSheets = [sheet]; }",
            rule,
        )
        drawn(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        outside = page.evaluate(
            "[...document.querySelectorAll('#film button, #film input, #detail button, #lines button')]"
            ".filter((one) => one.offsetParent && one.getBoundingClientRect().right > innerWidth"
            " && !one.closest('.d-frames')).map((one) => one.outerHTML)"
        )
        assert outside == []
