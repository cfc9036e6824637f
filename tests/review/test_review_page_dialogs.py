"""The dialogs of the work in a real browser, by keyboard alone: describing anew, slots, cast, export."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from shotad.script import Track, load_track
from shotad.sight import CastFile
from tests.redo.redoing import run
from tests.review.pages import focused as at, press, violations

pytestmark = pytest.mark.slow

SIZES = ((1440, 900), (320, 640))
KEYS = {"r": "redo-dialog", "t": "slots-dialog", "c": "cast-dialog", "x": "export-dialog"}


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A film described by the fake engines, with somebody in its cast and the fake voice."""
    place = tmp_path_factory.mktemp("dialogs") / "w"
    run(place, "voice.name=fake")
    (place / "cast" / "person-01").mkdir(parents=True)
    Image.new("RGB", (80, 80), (180, 120, 90)).save(place / "cast" / "person-01" / "a.jpg")
    (place / "cast" / "cast.yaml").write_text("people:\n  - id: person-01\n    photos: person-01\n")
    return place


@pytest.fixture
def place(described: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(described, tmp_path / "w"))


def opened(page: Any, key: str) -> Any:
    """The dialog that a key of the list opens."""
    press(page, key)
    page.wait_for_selector(f"#{KEYS[key]}[open]")
    return page.locator(f"#{KEYS[key]}")


def pressed(dialog: Any, name: str) -> None:
    """A button, reached by focus and pressed by Enter."""
    button = dialog.get_by_role("button", name=name, exact=True).last
    button.focus()
    button.press("Enter")


def ended(dialog: Any, state: str = "done", number: int = 0) -> Any:
    """The card of a job that has ended."""
    card = dialog.locator(f".job[data-state={state}]").nth(number)
    card.wait_for()
    return card


def on_disk(place: Path) -> Track:
    return load_track(place / "track.json")


def test_no_rule_of_accessibility_is_broken_and_nothing_is_cut_off(page: Any) -> None:
    for size in SIZES:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for key in KEYS:
            page.locator(".row").first.focus()
            dialog = opened(page, key)
            if key == "c":
                dialog.locator("summary").first.click()
            assert violations(page) == []
            wide = dialog.locator(".dialog-body").evaluate("d => d.scrollWidth - d.clientWidth")
            assert wide <= 0, f"{key} is cut off at {size}"
            page.keyboard.press("Escape")


def test_a_persons_line_is_described_anew_after_being_asked_and_comes_back(page: Any, place: Path) -> None:
    line = on_disk(place).heard[0].id
    press(page, "Enter", "Control+a")
    page.keyboard.type("My own words.")
    press(page, "Escape")
    page.locator(f"#line-{line} > .line >> text=My own words.").first.wait_for(state="attached")
    page.locator(f"#line-{line}").focus()
    dialog = opened(page, "r")
    assert "edited this line" in dialog.inner_text()
    page.keyboard.type("It is a cat.")
    pressed(dialog, "Describe again")
    assert at(page) == "redo-over", "the box that must be ticked has the focus"
    assert on_disk(place).heard[0].text == "My own words."
    page.keyboard.press("Space")
    pressed(dialog, "Describe again")
    card = ended(dialog)
    assert "My own words." in card.inner_text()
    now = on_disk(place).heard[0]
    assert now.text != "My own words."
    assert "My own words." in now.candidates
    assert now.text in card.inner_text()
    undo = card.get_by_role("button", name=re.compile("^Undo"))
    undo.focus()
    undo.press("Enter")
    dialog.locator("[role=status] >> text=Undone").wait_for()
    assert on_disk(place).heard[0].text == "My own words."
    assert dialog.evaluate("d => d.contains(document.activeElement)")
    press(page, "Escape", "Control+Shift+Z")
    page.locator(f"#line-{line} > .line >> text={now.text}").first.wait_for(state="attached")
    press(page, str(now.candidates.index("My own words.") + 1))  # chosen by its number
    page.locator(f"#line-{line} > .line >> text=My own words.").first.wait_for(state="attached")
    assert on_disk(place).heard[0].text == "My own words."


def test_a_slot_goes_and_comes_back_by_hand_with_a_line_of_ones_own(page: Any, place: Path) -> None:
    before = on_disk(place)
    dialog = opened(page, "t")
    remove = dialog.locator("table.slots tbody tr").first.get_by_role("button", name=re.compile("^Remove"))
    remove.focus()
    remove.press("Enter")
    dialog.locator(".dialog-status >> text=removed. You can undo it").wait_for()
    assert len(on_disk(place).cues) == len(before.cues) - 1
    assert dialog.evaluate("d => d.contains(document.activeElement)")
    dialog.get_by_label("Start").fill("0.5")
    dialog.get_by_label("End").fill("3.5")
    assert "Free here" in dialog.locator("#slot-room").inner_text()
    dialog.get_by_label("I write the line").check()
    pressed(dialog, "Add")
    assert "Write the line first" in dialog.locator(".dialog-status").inner_text()
    page.keyboard.type("A line of my own.")
    pressed(dialog, "Add")
    page.locator(".row >> text=A line of my own.").first.wait_for(state="attached")
    assert "A line of my own." in [cue.text for cue in on_disk(place).heard]


def test_somebody_is_named_and_the_focus_stays_with_them(page: Any, place: Path) -> None:
    dialog = opened(page, "c")
    assert at(page) == "person-person-01-name"
    image = dialog.locator("img").first
    assert image.evaluate("i => i.decode().then(() => i.naturalWidth)") > 0
    page.keyboard.type("Tom")
    page.keyboard.press("Enter")
    dialog.get_by_text("person-01 is Tom now.").first.wait_for()
    dialog.locator("h3 >> text=Tom").wait_for()
    assert at(page) == "person-person-01-title"
    assert CastFile.open(place / "cast").member("person-01").name == "Tom"
