"""What tests of the review page share: one browser for those that follow one another in a process, a described
folder, its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.browser import chromium
from tests.rendering.described import write_folder
from tests.review.pages import served, tabs, until

_KEPT: list[tuple[ExitStack, Any]] = []


@pytest.fixture
def browser() -> Any:
    """Chromium, kept for the next test if that wants it too; skips where there is none."""
    if not _KEPT:
        with ExitStack() as stack:
            found = stack.enter_context(chromium())
            _KEPT.append((stack.pop_all(), found))
    return _KEPT[0][1]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Close the browser before a test that does not want it: while it is open an event loop runs in this
    thread, and no other can."""
    if _KEPT and not (isinstance(nextitem, pytest.Function) and "browser" in nextitem.fixturenames):
        stack, _ = _KEPT.pop()
        stack.close()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The folder of a described film."""
    return write_folder(tmp_path / "film.shotad")


@pytest.fixture
def opened(browser: Any, place: Path) -> Iterator[Callable[..., Any]]:
    """Opens a tab of one window at the page of ``place``, with the focus on the first line."""
    with served(place) as address, tabs(browser, address, shared=True) as made:

        def open_tab(prepare: Callable[[Any], None] | None = None, **options: Any) -> Any:
            page = made.open(prepare, **options)
            until(page, "document.getElementById('line-text')?.ariaLabel?.includes(' 1 of ')")
            page.focus("#list [aria-selected=true]")
            return page

        yield open_tab


@pytest.fixture
def page(opened: Callable[..., Any]) -> Any:
    return opened()
