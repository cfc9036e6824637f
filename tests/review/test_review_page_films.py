"""The first screen in a browser: films are brought in, described, opened and fetched without a command line."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rendering.described import film_with
from tests.review.filmfolder import copied_film, films_served
from tests.review.pages import PATIENCE, Program, drawn, press, until, violations
from tests.sample_run import SAMPLE

pytestmark = pytest.mark.slow

WIDTHS = ({"width": 390, "height": 844}, {"width": 768, "height": 1024}, {"width": 1440, "height": 900})

_LISTEN = """() => {
  globalThis.heard = [];
  for (const id of ['status', 'alert']) {
    const place = document.getElementById(id);
    const told = () => place.textContent && heard.push(place.textContent.trim());
    new MutationObserver(told).observe(place, {childList: true, characterData: true, subtree: true});
  }
}"""
"""Keeps what a screen reader would be given to say."""


@pytest.fixture
def window(browser: Any) -> Iterator[Any]:
    """A window of the browser, in which no fault of a page goes unseen."""
    context = browser.new_context(viewport=WIDTHS[-1])
    context.set_default_timeout(PATIENCE * 1000)
    faults: list[str] = []
    context.on("weberror", lambda fault: faults.append(str(fault.error)))
    yield context
    context.close()
    assert faults == []


def opened(window: Any, address: str) -> Any:
    """A tab with the first screen, once the films are there."""
    page = window.new_page()
    page.goto(address)
    until(page, "document.getElementById('progress-text').textContent !== ''")
    page.evaluate(_LISTEN)
    return page


def in_state(page: Any, name: str, state: str) -> Any:
    """The card of a film, once it is in this state."""
    card = page.locator(".film", has=page.get_by_role("heading", name=name, exact=True))
    page.locator(
        f".film[data-state={state}]", has=page.get_by_role("heading", name=name, exact=True)
    ).wait_for()
    return card


def heard(page: Any, words: str) -> None:
    """Waits until this was said."""
    until(page, f"heard.some((one) => one.includes({json.dumps(words)}))")


def describe_with(page: Any, name: str, engine: str) -> None:
    """Has a film described by an engine that the page does not offer."""
    ask = """async ([name, engine]) => {
      const api = await import('/web/api.js');
      const { films } = await api.get('/api/films');
      const { id } = films.find((film) => film.name === name);
      return api.post(`/api/films/${id}/describe`, { engine });
    }"""
    page.evaluate(ask, [name, engine])


def test_a_film_from_upload_to_download_without_a_command_line(window: Any, tmp_path: Path) -> None:
    """By keyboard alone, with the engine that is the default; said is only what one wants to know."""
    folder = tmp_path / "films"
    folder.mkdir()
    with films_served(folder) as address:
        page = opened(window, address)
        assert page.locator("#no-films").is_visible()
        assert violations(page) == []
        page.set_input_files("#upload-files", SAMPLE)
        page.focus("#upload-form button")
        press(page, "Enter")
        heard(page, "sample.mp4 is in the folder.")
        assert (folder / "sample.mp4").read_bytes() == SAMPLE.read_bytes()

        card = in_state(page, "sample.mp4", "new")
        card.get_by_role("button", name="Describe").focus()
        press(page, "Enter")
        in_state(page, "sample.mp4", "working")
        stop = card.get_by_role("button", name="Stop: sample.mp4")
        assert stop.evaluate("(button) => button === document.activeElement")
        assert violations(page) == []
        in_state(page, "sample.mp4", "described")
        heard(page, "sample.mp4 is described: ")
        # A run of half a minute: its beginning and its end.
        words = page.evaluate("heard.filter((one) => one.includes('sample.mp4'))")
        assert [one.split(":")[0] for one in words[-2:]] == [
            "Describing sample.mp4.",
            "sample.mp4 is described",
        ]
        until(page, "document.activeElement.textContent === 'Open'")

        press(page, "Tab", "Tab", "Enter")
        links = card.get_by_role("link")
        assert "sample.ad.vtt" in links.all_inner_texts()
        for size in WIDTHS:
            for scheme in ("light", "dark"):
                page.set_viewport_size(size)
                page.emulate_media(color_scheme=scheme)
                drawn(page)
                assert violations(page) == [], (size, scheme)
                assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
        with page.expect_download() as download:
            links.get_by_text("ZIP").click()
        archive = zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes()))
        assert "sample.shotad/track.json" in archive.namelist()

        card.get_by_role("link", name="Open sample.mp4").press("Enter")
        page.wait_for_selector(".row")
        assert violations(page) == []
        page.focus("#list [aria-selected=true]")
        press(page, "a")
        until(page, "document.getElementById('progress-text').textContent.includes('1 accepted')")
        page.get_by_role("link", name="All films").press("Enter")
        card = in_state(page, "sample.mp4", "edited")
        assert "1 accepted" in card.inner_text()
        card.locator(".film-downloads summary").press("Enter")
        card.get_by_role("link", name="Make other formats").press("Enter")
        page.get_by_role("dialog", name="Export").wait_for()


def test_two_tabs_see_the_same_and_each_may_stop_a_film(window: Any, tmp_path: Path) -> None:
    folder = copied_film(tmp_path / "films").parent
    copied_film(folder, "second.mp4")
    with films_served(folder) as address:
        one, two = opened(window, address), opened(window, address)
        describe_with(one, "film.mp4", "fake")
        one_card = in_state(one, "second.mp4", "new")
        one_card.get_by_role("button", name="Describe").click()
        in_state(two, "film.mp4", "working")
        second = in_state(two, "second.mp4", "working")
        # The second waits behind the first: stopped, it is as it was.
        second.get_by_role("button", name="Stop").click()
        for page in (one, two):
            in_state(page, "second.mp4", "new")
            in_state(page, "film.mp4", "described")
            heard(page, "film.mp4 is described: ")
            # Which engine it was, and what it would have sent where, can be read afterwards too.
            card = in_state(page, "film.mp4", "described")
            card.get_by_text("Messages").click()
            card.get_by_text("Engine: fake.").wait_for()


def test_what_goes_wrong_is_said_in_words(window: Any, tmp_path: Path) -> None:
    folder = copied_film(tmp_path / "films").parent
    (folder / "broken.mp4").write_text("This is no film.")
    with films_served(folder) as address:
        page = opened(window, address)
        other = {"name": "film.mp4", "mimeType": "video/mp4", "buffer": b"x"}
        text = {"name": "notes.mp4", "mimeType": "video/mp4", "buffer": b"This is no film."}
        page.set_input_files("#upload-files", [other, text])
        page.click("#upload-form button")
        heard(page, "There is a file called film.mp4 in the folder already.")
        heard(page, "notes.mp4 is a text file")
        page.get_by_role("button", name="Dismiss: notes.mp4").click()
        assert page.locator(".upload").count() == 1

        card = in_state(page, "broken.mp4", "new")
        card.get_by_role("button", name="Describe").click()
        in_state(page, "broken.mp4", "failed")
        heard(page, "broken.mp4 is a text file")
        assert "text file" in card.locator(".film-error").inner_text()
        assert card.get_by_role("button", name="Try again").is_visible()
        assert violations(page) == []


def test_a_folder_that_is_gone_and_comes_back(window: Any, tmp_path: Path) -> None:
    """Said on the page; the list is there again by itself, in a tab that was opened meanwhile too."""
    folder = copied_film(tmp_path / "films").parent
    away = tmp_path / "away"
    with films_served(folder) as address:
        page = opened(window, address)
        folder.rename(away)
        heard(page, "The folder films is gone.")
        other = window.new_page()
        other.goto(address)
        other.get_by_text("The folder films is gone.").wait_for()
        away.rename(folder)
        for tab in (page, other):
            in_state(tab, "film.mp4", "new")
            tab.get_by_text("The films are back.").wait_for()
            assert tab.locator("#alert").inner_text() == ""


def test_what_is_wrong_with_a_film_stands_in_its_messages(window: Any, tmp_path: Path) -> None:
    """It is said once, and can be read afterwards, also where the film was described all the same."""
    folder = tmp_path / "films"
    folder.mkdir()
    whole = film_with(suffix=".mkv", frames=250).read_bytes()
    (folder / "cut.mkv").write_bytes(whole[: len(whole) * 6 // 10])
    with films_served(folder) as address:
        page = opened(window, address)
        describe_with(page, "cut.mkv", "fake")
        card = in_state(page, "cut.mkv", "described")
        heard(page, "the file is cut off or damaged")
        card.get_by_text("Messages").click()
        card.get_by_text("the file is cut off or damaged").wait_for()


def test_a_film_that_is_removed_while_it_is_described_is_told(window: Any, tmp_path: Path) -> None:
    folder = copied_film(tmp_path / "films").parent
    copied_film(folder, "second.mp4")
    with films_served(folder) as address:
        page = opened(window, address)
        describe_with(page, "film.mp4", "fake")
        describe_with(page, "second.mp4", "fake")
        in_state(page, "second.mp4", "working")
        (folder / "second.mp4").unlink()
        page.locator(".film", has_text="second.mp4").wait_for(state="detached")
        in_state(page, "film.mp4", "described")
        page.locator("#alert", has_text="second.mp4").wait_for()


def test_a_server_that_is_killed_goes_on_with_its_films(window: Any, tmp_path: Path) -> None:
    """The page waits for it, and goes on by itself too."""
    folder = copied_film(tmp_path / "films").parent
    copied_film(folder, "second.mp4")
    program = Program(folder)
    try:
        page = opened(window, program.url)
        for name in ("film.mp4", "second.mp4"):
            describe_with(page, name, "fake")
        # A step of the run itself: the film is at work in a process of its own.
        steps = "[...document.querySelectorAll('.film[data-state=working] .film-step')].map((one) => one.textContent)"
        until(page, f"{steps}.some((step) => !/^(Starting|Waiting|$)/.test(step))")
        program.kill()
        program.close()
        page.get_by_text("The server is gone.").wait_for()
        assert violations(page) == []
        program = Program(folder, program.port)
        heard(page, "The server is back.")
        for name in ("film.mp4", "second.mp4"):
            in_state(page, name, "described")
        assert page.locator("#banner").is_hidden()
        assert json.loads((folder / ".shotad" / "queue.json").read_text())["films"] == {}
    finally:
        program.close()
