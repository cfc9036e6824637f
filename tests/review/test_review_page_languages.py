"""The page in a browser of another language, and with texts that are longer than the English ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shotad.review.messages import TEXTS
from tests.rendering.described import write_folder
from tests.review.pages import Tabs, drawn, served, tabs, until

LONGER = 1.4
"""How much longer than English a text may be: German and French are so in short texts."""
SIZES = ((1024, 768), (512, 384))
"""A small laptop's window, and the same at 200 % zoom."""

CLIPPED = """
[...document.querySelectorAll("button, select, .button, h1, h2, h3, summary, label")]
  .filter((element) => element.checkVisibility({visibilityProperty: true}) && !element.closest(".hidden, .skip"))
  .filter((element) => {
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const isCut = style.overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1;
    return isCut || box.right > innerWidth + 1 || box.left < -1;
  })
  .map((element) => `${element.tagName} ${element.id} ${element.className}: ${element.textContent.trim().slice(0, 60)}`)
"""


def lengthened(text: Any) -> Any:
    """A text of the page with letters at its end, or its plural forms."""
    if isinstance(text, dict):
        return {form: lengthened(words) for form, words in text.items()}
    number = round(len(text) * (LONGER - 1))
    return f"{text} {'longer '[:number]}" if number < 7 else f"{text} {'longer ' * (number // 7)}".strip()


def serve_long_texts(page: Any) -> None:
    texts = json.loads((TEXTS / "en.json").read_text(encoding="utf-8"))
    longer = json.dumps({key: lengthened(text) for key, text in texts.items()})
    page.route("**/texts/en.json", lambda route: route.fulfill(body=longer, content_type="application/json"))


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Tabs]:
    with served(write_folder(tmp_path / "movie.shotad")) as address, tabs(browser, address) as made:
        yield made


def test_longer_texts_are_not_cut_off(opened: Tabs) -> None:
    page = opened.open(serve_long_texts)
    page.fill("#line-text", "We saw a cat by the window, and then another cat.")
    until(page, "document.querySelector('#line-findings li') !== null")
    page.evaluate("for (const element of document.querySelectorAll('details')) element.open = true")
    cut = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        drawn(page)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            cut.append((width, "the page"))
        cut += [(width, element) for element in page.evaluate(CLIPPED)]
    assert cut == []


def test_the_page_speaks_the_language_of_the_browser_or_the_one_that_is_chosen(opened: Tabs) -> None:
    german = json.loads((TEXTS / "de.json").read_text(encoding="utf-8"))
    page = opened.open(locale="de-AT")
    assert page.evaluate("document.documentElement.lang") == "de"
    assert page.inner_text("#redo") == german["page.redo"]
    page.fill("#line-text", "We saw a cat.")
    until(page, "document.querySelector('#line-findings li') !== null")
    words = " ".join(page.inner_text("#line-findings").split())
    assert german["finding.L1.tense"].replace("{quotation}", "saw") in words
    page.evaluate("import('/web/texts.js').then((texts) => texts.chooseLanguage('en'))")
    page.wait_for_selector("html[lang=en] .row")
    page.reload()
    page.wait_for_selector("html[lang=en] .row")


def test_without_its_texts_the_page_says_so(opened: Tabs) -> None:
    page = opened.open(lambda page: page.route("**/texts/*.json", lambda route: route.abort()))
    assert "cannot be loaded" in page.inner_text("#alert")
    assert page.is_visible("#redo")
