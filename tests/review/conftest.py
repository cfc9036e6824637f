"""One browser for all tests of the page that follow one another in a process."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

from tests.browser import chromium

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
