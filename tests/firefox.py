"""A real Firefox for tests of the page, driven by WebDriver BiDi over its own socket.

Playwright needs a build of Firefox of its own, or one newer than distributions ship. WebDriver BiDi is what Firefox
itself speaks, and a test of the page needs little of it: open, press keys, ask the page. `FirefoxPage` has the names
of Playwright's page for that, so that `tests.review.pages` works with both.

Tests that use it are slow ones. They are skipped where there is no Firefox, or no `websockets`.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAM = "SHOTAD_FIREFOX"
"""Environment variable that names the browser's program."""

NAMES = ("firefox-esr", "firefox")
PLACES = ("/Applications/Firefox.app/Contents/MacOS/firefox",)
PATIENCE = 60.0
"""Seconds after which Firefox will not answer any more; a busy machine needs a good part of them."""

PREFERENCES: Mapping[str, bool | int | str] = {
    "browser.shell.checkDefaultBrowser": False,
    "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.normandy.enabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    # Nothing is asked of the network: updates of lists, a first page, a check for a captive portal.
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "app.update.disabledForTesting": True,
    # Films are to play without a click, and a microphone is one that Firefox makes up.
    "media.autoplay.default": 0,
    "media.autoplay.blocking_policy": 0,
    "media.navigator.permission.disabled": True,
    "media.navigator.streams.fake": True,
}

_CLOCK_WITHOUT_SOUND_DEVICE = """() => {
  const play = HTMLMediaElement.prototype.play;
  HTMLMediaElement.prototype.play = function (...args) {
    if (!this.dataset.captured) {
      this.dataset.captured = 'yes';
      this.mozCaptureStream();
    }
    return play.apply(this, args);
  };
}"""
"""Firefox gives a sound up where the machine has no sound device, as most that run tests. What is captured runs by
a clock instead, and nobody hears it."""

_KEYS = {
    "Alt": "\ue00a", "ArrowDown": "\ue015", "ArrowLeft": "\ue012", "ArrowRight": "\ue014", "ArrowUp": "\ue013",
    "Backspace": "\ue003", "Control": "\ue009", "Delete": "\ue017", "End": "\ue010", "Enter": "\ue007",
    "Escape": "\ue00c", "Home": "\ue011", "PageDown": "\ue00f", "PageUp": "\ue00e", "Shift": "\ue008",
    "Space": " ", "Tab": "\ue004", **{f"F{number}": chr(0xE030 + number) for number in range(1, 13)},
}  # fmt: skip
"""Code points that WebDriver gives to keys without a character."""

_MODIFIERS = ("Control", "Shift", "Alt")


class _Connection:
    """Commands to Firefox and their answers, one at a time; keeps the faults that pages report meanwhile."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._commands = 0
        self.faults: list[tuple[str, str]] = []  # the tab's id and the message

    def send(self, method: str, **params: Any) -> Any:
        """The result of a command. Raises RuntimeError with Firefox's message."""
        self._commands += 1
        self._socket.send(json.dumps({"id": self._commands, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            if message["type"] == "event":
                self._take_event(message)
            elif message["id"] == self._commands:
                if message["type"] == "error":
                    raise RuntimeError(f"{method}: {message['error']}: {message['message']}")
                return message["result"]

    def _take_event(self, event: Mapping[str, Any]) -> None:
        entry = event["params"]
        if (
            event["method"] == "log.entryAdded"
            and entry["type"] == "javascript"
            and entry["level"] == "error"
        ):
            frames = (entry.get("stackTrace") or {}).get("callFrames", [])
            places = [f"{frame['url'].rpartition('/')[2]}:{frame['lineNumber'] + 1}" for frame in frames]
            self.faults.append((entry["source"].get("context", ""), " ".join([entry["text"], *places])))


class _Keyboard:
    """Keys that are pressed in one tab."""

    def __init__(self, connection: _Connection, context: str) -> None:
        self._connection, self._context = connection, context

    def press(self, key: str) -> None:
        """Press a key such as ``a``, ``Enter`` or ``Control+Shift+z``."""
        *modifiers, last = re.split(r"\+(?=.)", key)
        assert set(modifiers) <= set(_MODIFIERS), f"an unknown key: {key}"
        keys = [_KEYS.get(name, name) for name in [*modifiers, last]]
        self._perform([("keyDown", key) for key in keys] + [("keyUp", key) for key in reversed(keys)])

    def type(self, text: str) -> None:
        """Press the key of each character."""
        keys = [_KEYS["Enter"] if character == "\n" else character for character in text]
        self._perform([(kind, key) for key in keys for kind in ("keyDown", "keyUp")])

    def _perform(self, steps: list[tuple[str, str]]) -> None:
        actions = [{"type": kind, "value": value} for kind, value in steps]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        self._connection.send("input.performActions", context=self._context, actions=[source])


class FirefoxPage:
    """One tab of Firefox, with those of Playwright's methods that tests of both browsers use."""

    def __init__(self, connection: _Connection, user_context: str, viewport: Mapping[str, int]) -> None:
        self._connection = connection
        created = connection.send("browsingContext.create", type="tab", userContext=user_context)
        self._context: str = created["context"]
        self.keyboard = _Keyboard(connection, self._context)
        self.set_viewport_size(viewport)

    @property
    def faults(self) -> list[str]:
        """Errors of its scripts so far."""
        return [text for context, text in self._connection.faults if context == self._context]

    def set_viewport_size(self, size: Mapping[str, int]) -> None:
        self._connection.send("browsingContext.setViewport", context=self._context, viewport=dict(size))

    def goto(self, url: str) -> None:
        self._connection.send("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def reload(self) -> None:
        self._connection.send("browsingContext.reload", context=self._context, wait="complete")

    def evaluate(self, script: str, argument: Any = None) -> Any:
        """What an expression gives, or a function called with ``argument``, as JSON. Waits for a promise."""
        declaration = f"""async (argument) => {{
          const value = await ({script});
          return JSON.stringify((typeof value === 'function' ? await value(JSON.parse(argument)) : value) ?? null);
        }}"""
        answer = self._connection.send(
            "script.callFunction", functionDeclaration=declaration, awaitPromise=True,
            arguments=[{"type": "string", "value": json.dumps(argument)}], target={"context": self._context},
        )  # fmt: skip
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def inner_text(self, selector: str) -> str:
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    def input_value(self, selector: str) -> str:
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).value"))

    def wait_for_timeout(self, milliseconds: float) -> None:
        time.sleep(milliseconds / 1000)

    def wait_for_selector(self, selector: str) -> None:
        end = time.monotonic() + PATIENCE
        while not self.evaluate(f"document.querySelector({json.dumps(selector)}) !== null"):
            assert time.monotonic() < end, f"never came: {selector}"
            self.wait_for_timeout(20)

    def screenshot(self, path: str) -> None:
        answer = self._connection.send("browsingContext.captureScreenshot", context=self._context)
        Path(path).write_bytes(base64.b64decode(answer["data"]))

    def close(self) -> None:
        self._connection.send("browsingContext.close", context=self._context)


class Firefox:
    """A running Firefox."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def new_page(self, viewport: Mapping[str, int]) -> FirefoxPage:
        """A tab that shares no cookies and no storage with another."""
        user_context = self._connection.send("browser.createUserContext")["userContext"]
        return FirefoxPage(self._connection, user_context, viewport)


@contextmanager
def firefox() -> Iterator[Firefox]:
    """A Firefox without a window, ended at the end; skips where there is none."""
    client = pytest.importorskip("websockets.sync.client", reason="websockets is not installed (extra dev)")
    asked = os.environ.get(PROGRAM)
    places = [asked] if asked else [*map(shutil.which, NAMES), *PLACES]
    program = next((place for place in places if place and Path(place).is_file()), None)
    if program is None:
        pytest.skip(f"no Firefox was found: install it, or name its program in {PROGRAM}")
    with tempfile.TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True) as profile:
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()
        ]
        (Path(profile) / "user.js").write_text("".join(lines), encoding="utf-8")
        command = [program, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", profile]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            address = _address(process)
            with client.connect(f"{address}/session", max_size=None, proxy=None) as socket:
                connection = _Connection(socket)
                connection.send("session.new", capabilities={})
                connection.send("session.subscribe", events=["log.entryAdded"])
                connection.send("script.addPreloadScript", functionDeclaration=_CLOCK_WITHOUT_SOUND_DEVICE)
                yield Firefox(connection)
        finally:
            process.terminate()
            try:
                process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


def _address(process: subprocess.Popen[str]) -> str:
    """Where Firefox listens, as it prints; the rest of what it prints is left in its pipe."""
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(r"WebDriver BiDi listening on (ws://\S+)", line)
        if found:
            return found[1]
    pytest.fail(f"Firefox ended with {process.wait(PATIENCE)} before it listened")
