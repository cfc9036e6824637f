"""The page of a review in a real browser: who serves it, and what its tests wait for."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core.runsettings import read_settings
from shotad.film.slot_records import work_folder_film
from shotad.script import load_track
from shotad.script.track_files import TRACK
from tests.python_path import python_path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0
"""Seconds after which what did not come never will; a busy machine needs a good part of them."""

WIDE = {"width": 1440, "height": 900}
WCAG = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

_MOVING = "document.getAnimations().some((one) => one.playState === 'running')"
_TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder's page, served by a thread of this process, with a voice that costs nothing.

    Starting a program takes seconds, and nearly every test needs a server of its own.
    """
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra review)")
    from shotad.review import ReviewServer, open_review

    run = read_settings(folder)
    voice = run.config.voice.model_copy(update={"name": "fake"})
    run = replace(run, config=run.config.model_copy(update={"voice": voice}))
    film = work_folder_film(folder, run, load_track(folder / TRACK).film.name)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    with listener, open_review(folder, film, run, port=port) as review:
        server = ReviewServer(review)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="page")
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}/?token={review.token}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            running = review.stop_jobs(PATIENCE)
    assert not thread.is_alive(), "the server does not end"
    assert not running, "a job does not end"


class Program:
    """``shotad review`` of a folder as a program of its own, which can be killed."""

    def __init__(self, folder: Path, port: int | None = None, *words: str) -> None:
        command = [sys.executable, "-m", "shotad.cli.main", "review", str(folder), "--no-open", *words]
        command += ["--port", str(port)] if port else []
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": python_path()}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)
        assert self.process.stdout is not None
        found = (re.search(r"http://\S+", line) for line in self.process.stdout)
        match = next((match for match in found if match), None)
        if match is None:
            self.close()
            pytest.fail(f"the server ended with {self.process.returncode} before it told its address")
        self.url = match[0]
        self.port = int(re.findall(r":(\d+)/", self.url)[0])

    def kill(self) -> None:
        """Ends it as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)

    def close(self) -> None:
        """Ends it, if it still runs."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=PATIENCE)


class Tabs:
    """Opens the page at ``address``: each tab in a window of its own, or, ``shared``, all in one. Keeps the
    faults of all of them."""

    def __init__(self, browser: Any, address: str, *, shared: bool = False) -> None:
        self._browser, self.address, self._shared = browser, address, shared
        self._contexts: list[Any] = []
        self.faults: list[str] = []

    def open(self, prepare: Callable[[Any], None] | None = None, **options: Any) -> Any:
        """A tab that shows its lines; ``prepare`` gets it before it goes there."""
        if not self._contexts or not self._shared:
            self._contexts.append(self._browser.new_context(**{"viewport": WIDE, **options}))
        page = self._contexts[-1].new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        if prepare:
            prepare(page)
        page.goto(self.address)
        page.wait_for_selector(".row")
        return page

    def close(self) -> None:
        for context in self._contexts:
            context.close()
        assert self.faults == [], "a fault of the page"


@contextmanager
def tabs(browser: Any, address: str, *, shared: bool = False) -> Iterator[Tabs]:
    """`Tabs` which are closed at the end. No fault of the page goes unseen."""
    made = Tabs(browser, address, shared=shared)
    try:
        yield made
    finally:
        made.close()


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def reload(page: Any) -> None:
    page.reload()
    page.wait_for_selector(".row")


def until(page: Any, script: str) -> None:
    """Waits for something to be true. The page forbids eval, which Playwright's own waiting needs."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate(script):
        assert time.monotonic() < end, f"never came: {script}"
        page.wait_for_timeout(20)


def said(page: Any, words: str) -> None:
    """Waits until the page has said this."""
    until(page, f"document.getElementById('status').textContent.includes({json.dumps(words)})")


def settled(page: Any) -> None:
    """Waits until all that was asked for is answered."""
    page.evaluate("import('/web/store.js').then((store) => store.settled())")


def drawn(page: Any) -> None:
    """Waits until the page has drawn what it now is, and nothing on it moves."""
    page.evaluate(_TWO_FRAMES)
    until(page, f"!{_MOVING}")


def focused(page: Any) -> str:
    """What has the focus: its id, else its role, else its tag."""
    script = "((one) => one.id || one.getAttribute('role') || one.tagName)(document.activeElement)"
    return str(page.evaluate(script))


def has_focus(page: Any) -> str:
    """As `focused`, once anything has it. A page gives it back when a dialog has closed; one that lost it for
    good is found out."""
    until(page, "!['BODY', 'HTML'].includes(document.activeElement.tagName)")
    return focused(page)


def violations(page: Any) -> list[str]:
    """What axe-core says against the page."""
    axe = pytest.importorskip(
        "axe_playwright_python.base", reason="axe_playwright_python is not installed (extra dev)"
    )
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(axe.AXE_SCRIPT)
    # All that passes would be told node by node: that takes most of the time.
    options = {"runOnly": list(WCAG), "resultTypes": ["violations"]}
    found = page.evaluate("(options) => axe.run(options).then((told) => told.violations)", options)
    return [f"{one['id']}: {node['target']} {node['html'][:200]}" for one in found for node in one["nodes"]]
