"""How loud a film's own sound is as a whole: heard once in the background, and kept.

Levels of all lines follow from it. Until it is known a line's surroundings must do.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core import Interval, key_of, parse_json, readable_json, write_text
from shotad.sound import Course, Heard, Loudness, Programme, nearby, sampled, whole

FORMAT = 1
KEPT = 4
"""Measures kept: other audio tracks, other rates."""
_PLACE = 20.0
"""Seconds of film that are listened to together."""
_FIGURES = ("integrated", "range", "true_peak", "momentary", "short_term")


class _Over(Exception):  # noqa: N818  no error: nobody listens any more
    """The page was closed."""


class Listening:
    """The loudness of one film's sound. May be used by several threads."""

    def __init__(self, file: Path, settled: Callable[[], None] = lambda: None) -> None:
        """``file`` is where measures are kept; ``settled`` is called when one is done."""
        self._file, self._settled = file, settled
        self._lock = threading.Lock()
        self._known: dict[str, Heard] = {}
        self._near: dict[tuple[str, int], Heard] = {}
        self._guesses: dict[str, Loudness] = {}
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def of(self, programme: Programme, fingerprint: str, around: Interval) -> tuple[Heard, bool]:
        """How loud the programme is, and whether that is of the whole: if not it is of some stretches of
        it and of what lies around an interval, and the whole is being listened to."""
        key = measure_key(programme, fingerprint)
        found = self.known(key)
        if found is not None:
            return found, True
        if programme.track is None:
            count = max(0, int(programme.total / programme.rate * 10))
            nothing = np.full(count, -np.inf, np.float32)
            silence = Heard(Loudness(None, 0.0, None, None, None), Course(nothing))
            return self._note(key, silence), True
        self.begin(programme, fingerprint)
        # Lines of a third of a minute have one measure, so that they do not differ without need.
        place = int(around.middle // _PLACE)
        with self._lock:
            near, guess = self._near.get((key, place)), self._guesses.get(key)
        guess = guess or sampled(programme)
        near = near or nearby(programme, Interval(place * _PLACE, (place + 1) * _PLACE))
        with self._lock:
            self._near[key, place], self._guesses[key] = near, guess
        return replace(near, loudness=guess), False

    def begin(self, programme: Programme, fingerprint: str) -> None:
        """Listen to the whole in the background, unless that is known or under way."""
        key = measure_key(programme, fingerprint)
        if self.known(key) is not None or programme.track is None:
            return
        with self._lock:
            if self._closed.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(
                target=self._listen, args=(programme, key), name="listening", daemon=True
            )
            self._thread.start()

    def known(self, key: str) -> Heard | None:
        """The measure with this key, of this session or kept from before."""
        with self._lock:
            if key in self._known:
                return self._known[key]
            kept = next((row for row in self._rows() if row.get("key") == key), None)
            found = None if kept is None else _read(kept)
            if found is not None:
                self._known[key] = found
            return found

    def wait(self, seconds: float | None = None) -> None:
        """Until what is under way is done."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        self._closed.set()
        self.wait(5.0)

    def _listen(self, programme: Programme, key: str) -> None:
        # Of this thread alone, on Linux; elsewhere a process has one priority.
        if sys.platform == "linux":
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        try:
            heard = whole(programme, self._pause)
        except (_Over, OSError):
            return
        self._note(key, heard)
        self._settled()

    def _pause(self, _: float) -> None:
        if self._closed.is_set():
            raise _Over

    def _note(self, key: str, heard: Heard) -> Heard:
        with self._lock:
            self._known[key] = heard
            # Figures as ffmpeg gives them, in thousandths
            levels = map(float, heard.course.momentary)
            course = [None if np.isneginf(level) else round(level * 1000) for level in levels]
            figures = {name: getattr(heard.loudness, name) for name in _FIGURES}
            rows = [row for row in self._rows() if row.get("key") != key][-KEPT + 1 :]
            rows.append({"key": key, **figures, "course": course})
            write_text(self._file, readable_json({"format": FORMAT, "measures": rows}))
        return heard

    def _rows(self) -> list[Mapping[str, Any]]:
        try:
            found = parse_json(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        rows = found.get("measures") if isinstance(found, dict) and found.get("format") == FORMAT else None
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def measure_key(programme: Programme, fingerprint: str) -> str:
    """By which a measure is known: all that changes it."""
    return key_of(FORMAT, fingerprint, programme.track, programme.rate, programme.layout, programme.total)


def _read(row: Mapping[str, Any]) -> Heard | None:
    """The measure of a row; None where it is damaged."""
    try:
        figures = [row[name] if row[name] is None else float(row[name]) for name in _FIGURES]
        course = [-np.inf if one is None else int(one) / 1000 for one in row["course"]]
    except (KeyError, TypeError, ValueError):
        return None
    if figures[1] is None:
        return None
    return Heard(Loudness(*figures), Course(np.array(course, np.float32)))
