"""The dialog that imports a script in a real browser, by keyboard; and the note to a colleague."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shotad.script import Track, load_track, script_format
from tests.review.pages import focused, press, said, until, violations

pytestmark = pytest.mark.slow


def on_disk(place: Path) -> Track:
    return load_track(place / "track.json")


def open_import(page: Any) -> None:
    press(page, "F10")
    page.get_by_role("menuitem", name="Import a script").press("Enter")


def test_a_script_is_looked_at_and_brought_in_and_taken_back(page: Any, place: Path, tmp_path: Path) -> None:
    first, second, third = (cue.text for cue in on_disk(place).heard)
    script = tmp_path / "mine.srt"
    written = script_format("srt").write(on_disk(place)).replace(first, "A hound runs.")
    script.write_text(written.replace(second, "Somebody walks in."), encoding="utf-8")
    open_import(page)
    dialog = page.locator("#import-dialog[open]")
    dialog.wait_for()
    assert focused(page) == "import-file"
    assert violations(page) == []
    dialog.locator("#import-file").set_input_files(script)
    dialog.get_by_text("2 lines changed, 1 unchanged").wait_for()
    assert "2 lines differ" in dialog.locator(".dialog-status").inner_text()
    assert violations(page) == []
    page.set_viewport_size({"width": 320, "height": 640})
    assert violations(page) == []
    boxes = dialog.locator("input[name=import-line]")
    assert [box.is_checked() for box in boxes.all()] == [True, True]
    boxes.nth(1).focus()
    page.keyboard.press("Space")
    button = dialog.get_by_role("button", name="Import 1 line", exact=True)
    button.focus()
    button.press("Enter")
    said(page, "Imported mine.srt: 1 line changed. You can undo it.")
    assert [cue.text for cue in on_disk(place).heard] == ["A hound runs.", second, third]
    page.locator(".row > .line >> text=A hound runs.").wait_for(state="attached")
    press(page, "Control+z")
    said(page, "Undone: Imported mine.srt: 1 line changed.")
    assert [cue.text for cue in on_disk(place).heard] == [first, second, third]


def test_a_file_that_is_no_script_is_said_in_the_dialog(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(b"%PDF-1.4\n")
    open_import(page)
    page.locator("#import-file").set_input_files(file)
    page.locator("#import-dialog .dialog-status >> text=a.pdf is a PDF document").wait_for()


def test_a_note_is_saved_with_the_line_and_can_be_undone(page: Any, place: Path) -> None:
    press(page, "Enter", "Alt+m")
    page.get_by_role("menuitem", name="Note to a colleague").press("Enter")
    assert focused(page) == "line-note"
    page.keyboard.type("Whose cat is it?")
    page.locator("#list [aria-selected=true]").focus()
    until(page, "!document.querySelector('#undo[aria-disabled=true]')")
    note = on_disk(place).heard[0].note
    assert note is not None
    assert note.text == "Whose cat is it?"
    assert on_disk(place).heard[0].state.value == "machine"
    press(page, "Control+z")
    said(page, "Undone: Note saved.")
    assert on_disk(place).heard[0].note is None
    until(page, "document.getElementById('line-note').value === ''")


def test_what_is_needed_is_exported_with_one_choice(page: Any, place: Path) -> None:
    press(page, "x")
    dialog = page.locator("#export-dialog[open]")
    dialog.wait_for()
    assert page.evaluate("document.activeElement.value") == "colleague"
    assert not dialog.get_by_label("Loudness").is_visible(), "nothing is spoken for a script"
    press(page, "ArrowDown")
    assert dialog.get_by_label("Loudness").is_visible()
    press(page, "ArrowDown", "ArrowDown", "ArrowDown")
    assert page.evaluate("document.activeElement.value") == "editor"
    press(page, "Enter")
    dialog.locator(".job[data-state=done]").wait_for()
    assert [link.inner_text().rpartition(".ad.")[2] for link in dialog.locator(".files a").all()] == [
        "edl",
        "fcpxml",
    ]
    dialog.get_by_text("All formats").press("Enter")
    dialog.get_by_role("button", name="Write the scripts").wait_for()
    assert violations(page) == []
    page.set_viewport_size({"width": 320, "height": 640})
    assert violations(page) == []
    assert dialog.locator(".dialog-body").evaluate("d => d.scrollWidth - d.clientWidth") <= 0
