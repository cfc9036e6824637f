"""The review page driven by a keyboard alone, as somebody without a mouse does."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0
"""Seconds that a busy machine may take for something."""
_MOST_TABS = 90

_FOCUSED = """
(() => {
  const at = document.activeElement;
  const label = at.ariaLabel || [...(at.labels ?? [])].map((one) => one.textContent).join(' ') || at.textContent;
  return label.replace(/\\s+/g, ' ').trim();
})()
"""

_SHOWN = """
[...document.querySelectorAll('.job, #status, dialog[open] [role=status]')]
  .map((one) => `${one.className || one.id} ${one.dataset.state ?? ''}: ${one.innerText}`).join('\\n')
"""


def described(film: Path, folder: Path, *settings: str) -> None:
    """``shotad describe`` as people call it: a program of its own."""
    words = ["describe", str(film), "--out", str(folder), "--no-sheet", "--quiet"]
    words += [word for setting in settings for word in ("--set", setting)]
    command = [sys.executable, "-c", "from shotad.cli.main import main; main()", *words]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=10 * PATIENCE)


class Hands:
    """Somebody at the keyboard of a page of Playwright's. Nothing here clicks or sets a focus."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    @property
    def at(self) -> str:
        """How that is called which has the focus."""
        return str(self.page.evaluate(_FOCUSED))

    @property
    def at_id(self) -> str:
        return str(self.page.evaluate("document.activeElement.id"))

    def tab_to(self, name: str, *, back: bool = False) -> None:
        """Tab, or Shift+Tab, until the focus is on what is called so, or has this id."""
        for _ in range(_MOST_TABS):
            self.press("Shift+Tab" if back else "Tab")
            if name in (self.at, self.at_id):
                return
        raise AssertionError(f"no Tab leads to {name!r}")

    def see(self, script: str) -> Any:
        """What comes to be true on the page."""
        end = time.monotonic() + PATIENCE
        while not (found := self.page.evaluate(script)):
            assert time.monotonic() < end, f"never came: {script}\n{self._shown()}"
            self.page.wait_for_timeout(20)
        return found

    def _shown(self) -> str:
        """What stands on the page instead: jobs with their state, and what was said."""
        return str(self.page.evaluate(_SHOWN))

    def hear_said(self, words: str) -> None:
        """Waits until a live region of the page, or of the dialog that is open, has said this."""
        self.see(
            "[...document.querySelectorAll('#status, dialog[open] [role=status]')]"
            f".some((one) => one.textContent.includes({words!r}))"
        )

    def on_row(self, words: str) -> None:
        """Waits until the focus is on a line whose name holds these words."""
        self.see(
            "document.activeElement.getAttribute('role') === 'option'"
            f" && document.activeElement.ariaLabel.includes({words!r})"
        )

    def settled(self) -> None:
        """Waits until all that was asked for is answered."""
        self.page.evaluate("import('/web/store.js').then((store) => store.settled())")

    def rows(self) -> list[str]:
        """How the lines of the list are read."""
        return list(
            self.page.locator("#list [role=option]").evaluate_all("all => all.map((one) => one.ariaLabel)")
        )
