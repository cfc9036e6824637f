"""The page in a real browser: the list, its keys, undo, search, conflicts, a server that dies."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.script import Cue, Doubt
from shotad.script.cue import short_hash
from tests.rendering.described import retrack, write_folder
from tests.review.pages import drawn, focused, has_focus, press, reload, said, settled, until, violations

pytestmark = pytest.mark.slow

LINES = {
    1.0: "A cat sleeps by the window.", 3.5: "She opens the old door.", 9.0: "A café stands on the corner.",
    11.5: "A lamp goes out in the hall.", 14.0: "Rain falls on the empty street.",
    16.5: "A cat crosses the street.",
}  # fmt: skip
SIZES = ((1440, 900), (768, 1024), (320, 640), (320, 256))
NEXT_TASK = "new Promise((done) => setTimeout(done))"
SMALL = """[...document.querySelectorAll('#film button, #detail button, #film input, #detail input, #detail summary')]
  .filter((one) => one.checkVisibility())
  .map((one) => [one, (one.closest('label') ?? one).getBoundingClientRect()])
  .filter(([, box]) => box.width < 24 || box.height < 24)
  .map(([one, box]) => [one.outerHTML.slice(0, 80), box.width, box.height])"""


VALUES = {3.5: 0.4, 9.0: 0.8, 14.0: 0.6}


def doubted(cue: Cue) -> Cue:
    if cue.start not in VALUES:
        return cue
    return replace(
        cue, stored_doubt=Doubt(VALUES[cue.start], ("only one frame shows it",), short_hash(cue.text))
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Some of its lines are in doubt."""
    return retrack(write_folder(tmp_path / "movie.shotad", lines=LINES), doubted)


def row(page: Any) -> Any:
    """The chosen row: there is always one alone, and Tab reaches it alone."""
    chosen = page.locator("#list .row[aria-selected=true][tabindex='0']")
    assert chosen.count() == page.locator("#list .row[tabindex='0']").count() == 1
    return chosen


def name(page: Any) -> str:
    """How the chosen line is read."""
    return str(row(page).get_attribute("aria-label"))


def on_row(page: Any) -> bool:
    """Whether the chosen row has the focus."""
    return bool(focused(page) == row(page).get_attribute("id"))


def at(page: Any, number: int, *, focus: bool = True) -> None:
    """This line is chosen, and its row has the focus."""
    assert name(page).startswith(f"Line {number} of 6,")
    assert on_row(page) is focus


def counted(page: Any, accepted: int) -> None:
    until(
        page,
        f"document.getElementById('progress-text').textContent === '6 of 6 written, {accepted} accepted'",
    )


def _the_page_has_landmarks_headings_and_lines_that_read_well(page: Any) -> None:
    assert [page.locator(tag).count() for tag in ("header#top", "main", "footer", "h1")] == [1, 1, 1, 1]
    labels = page.locator("#list .row").evaluate_all("all => all.map(a => a.ariaLabel)")
    assert len(labels) == len(LINES)
    assert re.fullmatch(
        r"Line 2 of 6, at 3 seconds, machine(, \d findings?)?: She opens the old door\.", labels[1]
    )
    assert page.locator("#progress-text").inner_text() == "6 of 6 written, 0 accepted"
    assert page.title().startswith("6 of 6 written, 0 accepted – ")
    assert page.locator("#list").get_attribute("role") == "grid"
    reload(page)
    press(page, "Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the script"
    press(page, "Enter")
    assert on_row(page)


def test_axe_finds_nothing_and_nothing_is_cut_off(page: Any) -> None:
    page.fill("#line-text", "We saw a cat by the window, and then another cat.")
    until(page, "document.querySelector('#line-findings li') !== null")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    found: list[Any] = []
    for look in ({"color_scheme": "light"}, {"color_scheme": "dark"}, {"forced_colors": "active"}):
        page.emulate_media(**look)
        for width, height in SIZES if "light" in look.values() else SIZES[::2]:
            page.set_viewport_size({"width": width, "height": height})
            drawn(page)
            found += [(look, width, height, one) for one in violations(page)]
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append((look, width, height, "cut off"))
            found += [(look, width, height, one) for one in page.evaluate(SMALL)]
        row(page).focus()
        press(page, "?")
        page.wait_for_selector("#help[open]")
        found += [(look, "help", one) for one in violations(page)]
        press(page, "Escape")
    assert found == []


def _keys_move_and_the_focus_goes_along(page: Any) -> None:
    steps = (("ArrowDown", 2), ("j", 3), ("k", 2), ("End", 6), ("ArrowDown", 6), ("Home", 1), ("ArrowUp", 1))
    for key, number in (*steps, ("End", 6), ("Home", 1), ("Alt+ArrowDown", 2), ("n", 3)):
        press(page, key)
        at(page, number)
    press(page, *["PageDown"] * 5)
    at(page, 6)
    press(page, *["PageUp"] * 5, "j", "j")
    page.locator("#search").focus()
    press(page, "Alt+ArrowDown")
    at(page, 4, focus=False)
    assert focused(page) == "search"


def test_accept_goes_on_and_every_step_can_be_undone(page: Any) -> None:
    press(page, "a")
    said(page, "Line 1: Accepted")
    assert page.locator("#alert").text_content() == ""
    at(page, 2)
    assert "accepted" in page.locator("#list .row").first.get_attribute("aria-label")
    counted(page, 1)
    assert page.locator("#undo").get_attribute("title").startswith("Undo: line 1: Accepted")
    press(page, "Control+z")
    counted(page, 0)
    at(page, 1)
    assert page.locator("#undo").get_attribute("aria-disabled") == "true"
    press(page, "Control+Shift+Z")
    counted(page, 1)
    assert page.locator("#undo").get_attribute("aria-disabled") == "false"
    assert on_row(page)


def test_news_that_overtake_the_answer_do_not_part_a_change_from_its_line(page: Any) -> None:
    def slow(route: Any) -> None:
        answer = route.fetch()
        time.sleep(0.5)
        route.fulfill(response=answer)

    press(page, "a")
    settled(page)
    page.route("**/api/acts", slow)
    page.evaluate(
        """() => {
          const counted = document.getElementById("progress-text");
          const chosen = () => document.querySelector("#list [aria-selected=true]").ariaLabel;
          window.told = [];
          new MutationObserver(() => told.push([counted.textContent, chosen()]))
            .observe(counted, { childList: true, characterData: true, subtree: true });
        }"""
    )
    press(page, "Control+z")
    until(page, "told.length > 0")
    settled(page)
    [(progress, line)] = page.evaluate("told")
    assert progress.endswith(" 0 accepted")
    assert line.startswith("Line 1 of 6,")


def test_no_command_loses_the_focus(page: Any) -> None:
    table = "import('/web/commands.js').then((c) => c.allCommands().map((one) => [one.name, one.keys.list, one.keys.any]))"
    commands = page.evaluate(table)
    assert len(commands) > 30
    for command, here, anywhere in commands:
        for key in [*here, *anywhere]:
            row(page).focus()
            press(page, key.replace("Ctrl", "Control").replace(" ", "Space"))
            settled(page)
            page.evaluate(NEXT_TASK)
            has_focus(page)
            for _ in range(5):
                if page.locator("dialog[open]").count():
                    press(page, "Escape")
            assert page.locator("dialog[open]").count() == 0, command
            page.evaluate(NEXT_TASK)
            has_focus(page)


def _every_command_is_in_the_help_with_its_keys_and_a_button(page: Any) -> None:
    press(page, "?")
    page.wait_for_selector("#help[open]")
    titles = page.evaluate("import('/web/commands.js').then((c) => c.allCommands().map((one) => one.title))")
    assert sorted(page.locator("#help tbody button").all_inner_texts()) == sorted(titles)
    headings = page.locator("#help h3").all_inner_texts()
    assert headings[0] == "Move"
    assert len(headings) == len(set(headings)) > 5
    page.locator("#help button", has_text="Last line").click()
    until(page, "!document.querySelector('dialog[open]')")
    until(page, "document.activeElement.getAttribute('aria-label')?.startsWith('Line 6 of 6,')")
    assert on_row(page)


def _search_finds_without_case_and_accents(page: Any) -> None:
    press(page, "/")
    assert focused(page) == "search"
    page.keyboard.type("CAT")
    assert page.locator("#search-count").inner_text() == "1 of 2"
    press(page, "Enter")
    assert name(page).endswith("A cat crosses the street.")
    assert page.locator("#search-count").inner_text() == "2 of 2"
    press(page, "Enter", "Escape")
    at(page, 1)
    press(page, "/")
    page.keyboard.type("cafe")
    press(page, "Enter", "Escape")
    assert name(page).endswith("A café stands on the corner.")
    press(page, "/")
    page.keyboard.type("zebra")
    press(page, "Enter")
    said(page, "Nothing found for “zebra”.")


def test_filter_shows_what_is_left_and_counts(page: Any) -> None:
    press(page, "a")
    said(page, "Accepted")
    page.locator("#filter").select_option("open")
    said(page, "Not accepted: 5 lines.")
    assert page.locator("#list .row:visible").count() == 5
    assert page.locator("#filter option[value=open]").inner_text() == "Not accepted (5)"
    row(page).focus()
    press(page, "a")
    settled(page)
    assert page.locator("#list .row:visible").count() == 4
    at(page, 3)


def _go_to_time(page: Any) -> None:
    press(page, "g")
    page.keyboard.type("nine")
    press(page, "Enter")
    assert "no time" in page.locator("#go-to [role=alert]").inner_text()
    page.locator("#go-to-time").fill("0:12")
    press(page, "Enter")
    until(page, "!document.querySelector('dialog[open]')")
    said(page, "Line 4.")
    at(page, 4)


def _keys_of_one_character_can_be_switched_off(page: Any) -> None:
    press(page, "F10")
    page.locator("#page-menu [role=menuitem]", has_text="Settings").click()
    page.locator("#setting-singleKeys").uncheck()
    press(page, "Escape")
    row(page).focus()
    press(page, "a", "j", "?")
    settled(page)
    at(page, 1)
    counted(page, 0)
    press(page, "ArrowDown")
    at(page, 2)
    reload(page)
    row(page).focus()
    press(page, "j")
    at(page, 1)


def _letters_typed_into_fields_stay_letters(page: Any) -> None:
    press(page, "/")
    page.keyboard.type("ajd?")
    settled(page)
    assert page.locator("#search").input_value() == "ajd?"
    counted(page, 0)
    assert page.locator("dialog[open]").count() == 0


def _regions_by_f6(page: Any) -> None:
    press(page, "F6")
    assert focused(page) == "time"
    press(page, "Shift+F6")
    assert on_row(page)
    press(page, "Shift+F6")
    assert focused(page) == "film"


def test_finding_ones_way(page: Any) -> None:
    for part in (
        _the_page_has_landmarks_headings_and_lines_that_read_well,
        _keys_move_and_the_focus_goes_along,
        _every_command_is_in_the_help_with_its_keys_and_a_button,
        _search_finds_without_case_and_accents,
        _go_to_time,
        _letters_typed_into_fields_stay_letters,
        _regions_by_f6,
        _keys_of_one_character_can_be_switched_off,
    ):
        reload(page)
        row(page).focus()
        part(page)


def test_two_tabs_tell_each_other(page: Any, opened: Any) -> None:
    other = opened()
    press(other, "ArrowDown", "ArrowDown")
    page.bring_to_front()
    press(page, "a")
    said(page, "Accepted")
    said(other, "Changed elsewhere: Accepted")
    counted(other, 1)
    at(other, 3)


CONFLICT = """import('/web/store.js').then((s) =>
  s.act('write', {text: 'Mine.'}, {line: s.store.current, seen: 'a stamp of long ago'}))"""


def test_a_conflict_shows_both_texts_and_put_off_is_offered_again(page: Any) -> None:
    page.evaluate(CONFLICT)
    page.wait_for_selector("#conflict[open]")
    assert page.locator("#conflict .version p").all_inner_texts() == [LINES[1.0], "Mine."]
    press(page, "Enter")  # typed before the dialog was seen: decides nothing
    assert page.locator("#conflict[open]").count() == 1
    assert violations(page) == []
    press(page, "Escape")
    page.wait_for_selector("#banner q")
    assert page.locator("#banner q").inner_text() == "Mine."
    assert name(page).endswith(LINES[1.0])
    page.locator("#banner button", has_text="Save it now").click()
    page.wait_for_selector("#conflict[open]")  # the same question: the line is still another one
    page.locator("#conflict button", has_text="Take mine").click()
    until(page, "document.getElementById('banner').querySelector('q') === null")
    settled(page)
    assert name(page).endswith("Mine.")
    has_focus(page)
    assert page.evaluate("sessionStorage.getItem('shotad-outbox')") is None


def test_the_most_doubtful_line_is_a_key_away(page: Any) -> None:
    """Worst first; what was accepted is in doubt no more."""
    for number in (3, 5, 2, 3):
        press(page, "q")
        drawn(page)
        at(page, number)
    assert "machine, doubtful" in name(page)
    assert "This line is doubtful" in page.inner_text(".d-why")
    assert "only one frame shows it" in page.inner_text(".d-why")
    press(page, "a")
    settled(page)
    press(page, "q")
    drawn(page)
    at(page, 5)
    assert violations(page) == []
