"""A real browser for tests of the page: Chromium, driven by Playwright.

Tests that use it are slow ones. They are skipped where there is no Chromium or no Playwright.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ASKED = "SHOTAD_CHROMIUM"
"""Environment variable that names the browser's program."""

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = (
    "/snap/bin/chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)  # fmt: skip
OPTIONS = (
    # Containers seldom let the browser make a sandbox of its own, and what it opens here is ours.
    "--no-sandbox",
    # /dev/shm is 64 MB in many containers, less than a film needs.
    "--disable-dev-shm-usage",
    # Films are to play without a click, and the voice to be heard by nobody.
    "--autoplay-policy=no-user-gesture-required",
    "--mute-audio",
)


@contextmanager
def chromium(*options: str) -> Iterator[Any]:
    """A launched ``playwright.sync_api.Browser``, closed at the end; skips where there is none.

    ``options`` are further ones of the program, such as those of a fake microphone.

    Close it (leave the ``with``) before anything else in the same thread runs an event loop: Playwright's
    keeps running until then.
    """
    sync = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed (extra dev)")
    # The browser's program: what `ASKED` names, else one on the path, else one in a usual place
    asked = os.environ.get(ASKED)
    places = [asked] if asked else [*map(shutil.which, NAMES), *PLACES]
    program = next((place for place in places if place and Path(place).is_file()), None)
    if program is None:
        pytest.skip(f"no Chromium was found: install it, or name its program in {ASKED}")
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*OPTIONS, *options])
        try:
            yield browser
        finally:
            browser.close()
