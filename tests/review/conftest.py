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
    thread, and no other can. A test module may have a fixture ``browser`` of its own."""
    if _KEPT and not _wants_it(nextitem):
        stack, _ = _KEPT.pop()
        stack.close()


def _wants_it(item: pytest.Item | None) -> bool:
    if not isinstance(item, pytest.Function):
        return False
    found = item._fixtureinfo.name2fixturedefs.get("browser", ())
    return bool(found) and found[-1].func.__module__ == __name__
