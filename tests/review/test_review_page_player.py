"""The film played with its description, in a real browser: over many lines, at other speeds, while lines change."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from shotad.script import CueStatus, load_track
from shotad.script.track_files import TRACK
from tests.rendering.described import LINES, film_with, rendered, retrack, write_folder
from tests.review.pages import press, said, served, settled, tabs, until
from tests.sound.tones import decoded

pytestmark = pytest.mark.slow

FIRST, SECOND, THIRD = LINES.values()
RATE = 48000

WATCHED = """
globalThis.seen = [];
import('/web/store.js').then((store) => store.subscribe('player', (news) => seen.push(news)));
"""
PLAYS = "[...document.querySelectorAll('audio')].some((audio) => !audio.paused && audio.currentTime > 0.1)"
STILL = "[...document.querySelectorAll('audio')].every((audio) => audio.paused)"
VIDEO = "document.querySelector('video')"
PLAYING = "[...document.querySelectorAll('audio')].find((audio) => !audio.paused)"
HEARD_AT = f"(Number(new URL({PLAYING}.src).searchParams.get('from')) + {PLAYING}.currentTime)"


def seconds(page: Any) -> float:
    """Film second at which the player is."""
    return float(page.evaluate("import('/web/player.js').then((player) => player.now())"))


def at_second(page: Any, second: float) -> None:
    """Waits until the sound is there."""
    until(page, f"{PLAYING} && {HEARD_AT} > {second}")


def caption(page: Any, text: str) -> None:
    """Waits until this is the caption."""
    until(page, f"document.querySelector('.p-caption:not([hidden])')?.textContent === {text!r}")


def sounds(page: Any) -> list[str]:
    """Addresses of the film's sound that are asked for from now on."""
    asked: list[str] = []
    page.on("request", lambda request: "/media/sound/" in request.url and asked.append(request.url))
    return asked


def streamed(page: Any, url: str, start: float, end: float) -> npt.NDArray[np.float32]:
    """``float32[n, 2]``: what the server sends for an address of the film's sound, of these seconds of it."""
    script = """async ([url, first, last]) => {
      const answer = await fetch(url, {headers: {Range: `bytes=${first}-${last - 1}`}});
      return Array.from(new Int16Array(await answer.arrayBuffer()));
    }"""
    places = [44 + 4 * round(second * RATE) for second in (start, end)]
    return np.array(page.evaluate(script, [url, *places]), np.float32).reshape(-1, 2) / 32768


def test_the_film_is_watched_over_two_lines_with_captions(page: Any) -> None:
    page.evaluate(WATCHED)
    asked = sounds(page)
    press(page, " ")
    until(page, PLAYS)
    assert page.evaluate(f"{VIDEO}.muted")
    assert page.inner_text(".p-play") == "Pause"
    caption(page, FIRST)
    at_second(page, 2.2)
    # A loaded machine drops pictures; a picture that is not led is off by seconds.
    until(page, f"Math.abs({VIDEO}.currentTime - {HEARD_AT}) < 0.25")
    page.select_option(".p-speed", "2")
    assert page.evaluate(f"[{PLAYING}.playbackRate, {PLAYING}.preservesPitch]") == [2, True]
    caption(page, SECOND)
    at_second(page, 10.0)
    until(page, f"Math.abs({VIDEO}.currentTime - {HEARD_AT}) < 0.5")
    press(page, "F8")
    until(page, STILL)
    assert page.evaluate(f"{VIDEO}.paused")
    assert page.inner_text(".p-play") == "Play"
    assert len(asked) == 1, "one sound for all of it"
    news = page.evaluate("seen")
    first, second, _ = load_ids(page)
    spoken = [line for line, _ in groups(entry["line"] for entry in news if entry["playing"])]
    assert [line for line in spoken if line] == [first, second]
    assert not news[-1]["playing"]


def load_ids(page: Any) -> list[str]:
    ids = page.evaluate("import('/web/store.js').then((store) => store.store.order)")
    return [str(one) for one in ids]


def groups(values: Any) -> Iterator[tuple[Any, int]]:
    """Each value with how often it follows itself."""
    last, count = None, 0
    for value in values:
        if count and value == last:
            count += 1
            continue
        if count:
            yield last, count
        last, count = value, 1
    if count:
        yield last, count


def test_a_line_that_is_edited_ahead_is_heard_in_its_new_form(page: Any, place: Path) -> None:
    asked = sounds(page)
    press(page, " ")
    until(page, PLAYS)
    press(page, "j", "Enter")
    page.keyboard.press("Control+a")
    # At once, as if pasted: after each pause in typing a new sound would be asked for.
    page.keyboard.insert_text("He runs.")
    settled(page)
    until(page, f"{PLAYING} && {PLAYING}.src !== {asked[0]!r}")
    assert len(asked) == 2
    until(page, "document.querySelectorAll('audio[src]').length === 1")  # the old one is let go
    start = float(asked[1].partition("from=")[2])
    apart = page.evaluate(f"import('/web/player.js').then((player) => player.now() - {HEARD_AT})")
    assert apart == pytest.approx(0, abs=0.5)
    new = streamed(page, asked[1], 9.0 - start, 10.0 - start)
    press(page, "F8")
    until(page, STILL)
    settled(page)
    rendered(place, "mix:wav", settings=("voice.name=fake",))
    mix, _ = decoded(next(place.glob("*.mix.wav")))
    # AAC is not decoded to the same bits each time; levels may not have been settled when it was streamed.
    assert np.abs(new - mix[9 * RATE : 10 * RATE]).max() < 0.02
    assert np.abs(new).max() > 0.05


def test_what_is_typed_far_away_does_not_touch_what_is_played(page: Any) -> None:
    asked = sounds(page)
    page.evaluate("import('/web/player.js').then((player) => player.play(15))")
    at_second(page, 15.2)
    press(page, "Enter")
    page.keyboard.type(" Now.")  # of the first line, at second 1
    settled(page)
    page.wait_for_timeout(900)
    assert len(asked) == 1


def test_a_slot_is_repeated_until_that_is_ended(page: Any) -> None:
    page.evaluate(WATCHED)
    press(page, "l")
    loop = page.get_by_role("button", name="Slot", exact=True)
    assert loop.get_attribute("aria-pressed") == "true"
    until(page, PLAYS)
    page.select_option(".p-speed", "2")
    until(page, "seen.some((news, i) => i && news.playing && seen[i - 1].seconds > 6.5 && news.seconds < 1)")
    at = page.evaluate("Math.max(...seen.filter((news) => news.playing).map((news) => news.seconds))")
    assert at < 7.4  # the slot ends at 6
    until(page, PLAYS)
    press(page, "Alt+o")
    assert loop.get_attribute("aria-pressed") == "false"
    until(page, f"{PLAYING} && {HEARD_AT} > 7.5")
    press(page, "F8")
    until(page, STILL)


def test_a_line_is_heard_and_again_when_it_was_changed(page: Any) -> None:
    press(page, "j", "h")
    until(page, PLAYS)
    assert 7.0 <= seconds(page) < 8.5
    assert "You hear line 2: as the audience hears it." in page.inner_text(".p-message")
    press(page, "h")  # unchanged: stops
    until(page, STILL)
    press(page, "Enter")
    page.keyboard.press("Control+ ")
    until(page, PLAYS)
    caption(page, SECOND)
    page.keyboard.press("Control+a")
    page.keyboard.type("He runs.")
    page.keyboard.press("Control+ ")  # changed: heard in its new form
    until(page, PLAYS)
    caption(page, "He runs.")
    until(page, STILL)
    assert seconds(page) == pytest.approx(9.0 + 0.6 + 1.5, abs=1.0)
    for key in ("v", "o"):
        press(page, "Escape", key)
        until(page, PLAYS)
        press(page, "ArrowUp" if key == "v" else "o")
        until(page, STILL)


def test_an_empty_slot_is_heard_as_the_film(opened: Callable[..., Any], place: Path) -> None:
    from dataclasses import replace

    def emptied(cue: Any) -> Any:
        if cue.text != FIRST:
            return cue
        return replace(cue, text="", status=CueStatus.SILENT, candidates=(), chosen=None)

    retrack(place, emptied)
    page = opened()
    press(page, "h")
    said(page, "Nothing is written here yet")
    until(page, PLAYS)
    assert "fit" not in page.inner_text(".p-notes")
    at_second(page, 3.5)
    assert page.is_hidden(".p-caption")


def test_a_film_that_went_is_told_and_comes_back_by_itself(browser: Any, tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    shutil.copy(film_with(), film)
    folder = write_folder(tmp_path / "film.shotad", film)
    with served(folder) as address, tabs(browser, address) as made:
        page = made.open()
        until(page, f"{VIDEO}.readyState > 1")
        film.rename(tmp_path / "elsewhere.mp4")
        until(page, "document.getElementById('alert').textContent.includes('The film is not where it was')")
        assert str(film) in page.inner_text(".p-without")
        assert not page.is_visible("video")
        # The page works on, and what can be heard is.
        page.focus("#list [aria-selected=true]")
        press(page, " ")
        until(page, PLAYS)
        caption(page, FIRST)
        assert "Only the voice is heard" in page.inner_text(".p-warnings")
        press(page, " ")
        (tmp_path / "elsewhere.mp4").rename(film)
        said(page, "The film is back.")
        until(page, f"{VIDEO}.readyState > 1 && !{VIDEO}.hidden")
        press(page, " ")
        until(page, PLAYS)
        at_second(page, 1.5)
        assert page.locator(".p-warnings li").count() == 0


def test_spoken_subtitles_are_heard_and_shown_until_they_are_switched_off(
    browser: Any, tmp_path: Path
) -> None:
    film = Path(shutil.copy(film_with(), tmp_path / "film.mp4"))
    words = "Where is the key?"
    film.with_suffix(".forced.srt").write_text(
        f"1\n00:00:06,000 --> 00:00:08,000\n{words}\n", encoding="utf-8"
    )
    folder = write_folder(tmp_path / "film.shotad", film, settings=("voice.subtitle_voice=fake:deep",))
    with served(folder) as address, tabs(browser, address) as made:
        page = made.open()
        page.get_by_role("button", name="More of the player").click()
        button = page.get_by_role("button", name="Spoken subtitles")
        assert button.get_attribute("aria-pressed") == "false"
        page.evaluate("import('/web/player.js').then((player) => player.play(5))")
        until(page, PLAYS)
        button.click()  # while it plays
        said(page, "1 subtitle is spoken by fake:deep, from film.forced.srt")
        assert button.get_attribute("aria-pressed") == "true"
        page.evaluate("import('/web/player.js').then((player) => player.play(5))")
        caption(page, words)
        button.click()
        until(page, "document.querySelector('.p-caption').hidden")
        assert button.get_attribute("aria-pressed") == "false"


def test_without_a_picture_the_sound_is_played(opened: Callable[..., Any]) -> None:
    def film(route: Any) -> None:
        playable = {"state": "making", "url": None, "done": 0.25, "why": "HEVC is not for browsers."}
        route.fulfill(json={**route.fetch().json(), "playable": playable})

    page = opened(lambda page: page.route("**/api/film", film))
    assert "(25%)" in page.inner_text(".p-without")
    assert page.get_by_role("progressbar", name="Copy of the film").evaluate("(bar) => bar.value") == 0.25
    assert "HEVC is not for browsers." in page.inner_text(".p-without")
    assert not page.is_visible("video")
    page.get_by_role("button", name="Play with description").click()
    until(page, PLAYS)
    caption(page, FIRST)
    assert page.inner_text(".p-time").startswith("0:0")


def test_the_description_can_be_off_and_steps_are_of_two_seconds(page: Any) -> None:
    asked = sounds(page)
    description = page.get_by_role("button", name="AD on")
    press(page, " ")
    until(page, PLAYS)
    caption(page, FIRST)
    description.click()
    assert description.get_attribute("aria-pressed") == "false"
    until(page, f"{PLAYING} && {PLAYING}.src.includes('/programme.wav')")
    until(page, "document.querySelector('.p-caption').hidden")
    before = seconds(page)
    press(page, "Alt+l")
    at_second(page, before + 1.9)
    press(page, "F8")
    until(page, STILL)
    here = seconds(page)
    press(page, "Alt+j")
    until(page, f"!{VIDEO}.seeking")
    assert seconds(page) == pytest.approx(here - 2.0, abs=0.1)
    # A step beyond what a slow machine has sent so far asks for the sound from there.
    kinds = [url.partition("/media/sound/")[2].partition(".")[0] for url in asked]
    assert [kind for kind, _ in groups(kinds)] == ["mix", "programme"]


def test_who_goes_to_a_moment_stays_there_whatever_line_was_chosen_just_before(page: Any) -> None:
    chosen_then_gone = """
        Promise.all([import('/web/store.js'), import('/web/player.js')]).then(([store, player]) => {
            store.select(store.store.order.at(-1));
            player.seek(3);
        })
    """
    page.evaluate(chosen_then_gone)
    page.wait_for_timeout(400)  # longer than the film rests before it follows the chosen line
    until(page, f"!{VIDEO}.seeking")
    assert seconds(page) == pytest.approx(3.0, abs=0.1)


def test_what_is_done_at_once_after_choosing_a_line_is_done_at_that_line(page: Any) -> None:
    page.locator(".row").last.click()
    press(page, "Alt+q")
    assert "The film stands at 0:14" in page.inner_text("#ask-dialog")


def test_the_whole_screen_has_picture_caption_and_keys(page: Any) -> None:
    page.get_by_role("button", name="More of the player").click()
    page.get_by_role("button", name="Full screen", exact=True).click()
    until(page, "document.fullscreenElement?.id === 'player'")
    until(page, "document.activeElement.dataset.command === 'play'")
    page.keyboard.press("Space")
    until(page, PLAYS)
    caption(page, FIRST)
    assert page.is_visible(".p-keys")
    page.keyboard.press("F8")
    until(page, STILL)
    page.get_by_role("button", name="More of the player").click()
    page.get_by_role("button", name="Full screen", exact=True).click()
    until(page, "!document.fullscreenElement")
    page.wait_for_selector("#player-more", state="hidden")


def test_more_of_the_player_opens_and_closes(page: Any) -> None:
    more = page.get_by_role("button", name="More of the player")
    more.click()
    assert more.get_attribute("aria-expanded") == "true"
    page.get_by_role("slider", name="Volume").fill("50")
    assert page.evaluate("[...document.querySelectorAll('audio')].map((audio) => audio.volume)") == [0.5, 0.5]
    page.keyboard.press("Escape")
    assert more.get_attribute("aria-expanded") == "false"
    assert page.evaluate("document.activeElement.className") == "p-opener"


def test_what_takes_long_is_said_until_it_is_heard(opened: Callable[..., Any]) -> None:
    def slow(route: Any) -> None:
        time.sleep(2.5)
        route.continue_()

    page = opened(lambda page: page.route("**/media/sound/**", slow))
    press(page, " ")
    said(page, "The sound is being prepared.")
    until(page, PLAYS)
    until(page, "!document.getElementById('status').textContent")
    assert page.inner_text(".p-message") == ""


def test_a_voice_that_fails_is_told_and_the_film_plays_on(opened: Callable[..., Any], place: Path) -> None:
    problem = {"what": "The voice cannot speak.", "hint": "Choose another."}
    answer = {"version": "1", "lines": [], "warnings": [], "problem": problem}
    page = opened(lambda page: page.route("**/api/spoken**", lambda route: route.fulfill(json=answer)))
    press(page, " ")
    until(page, PLAYS)
    until(page, "document.querySelector('.p-warnings').textContent.includes('The voice cannot speak.')")
    at_second(page, 1.6)
    assert load_track(place / TRACK).cues[0].text == FIRST
