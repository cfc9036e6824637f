"""Lines that are spoken before anybody asks for them: the neighbours of one that was heard."""

from __future__ import annotations

import threading

from shotad.core import ShotadError
from shotad.review.hearing.speaking import Speaking
from shotad.sound import Keeping, Neighbourhood, Placed


class SpeakingAhead:
    """Speaks in the background what nobody wanted to wait for, the nearest first."""

    def __init__(self, speaking: Speaking) -> None:
        self._speaking, self._lock = speaking, threading.Lock()
        self._ahead: list[tuple[str, Keeping]] = []
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def of(self, near: Neighbourhood, placed: Placed, studio: Keeping) -> None:
        """Speak those neighbours whose length was guessed; what was to be spoken before is left."""
        missing = [line.text for line in near.by_nearness() if line.id in placed.guessed]
        if not missing:
            return
        with self._lock:
            self._ahead = [(text, studio) for text in missing]
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run_ahead, name="speaking ahead", daemon=True)
                self._thread.start()

    def _run_ahead(self) -> None:
        while not self._closed.is_set():
            with self._lock:
                if not self._ahead:
                    return
                text, studio = self._ahead[0]
            try:
                while not self._speaking.ahead(text, studio):
                    if self._closed.wait(0.02):
                        return
            except ShotadError:
                return  # Told when it is heard.
            with self._lock:
                self._ahead = [one for one in self._ahead if one != (text, studio)]

    def wait(self, seconds: float | None = None) -> None:
        """Until nothing is left to be spoken."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        """Speak no more."""
        self._closed.set()
