"""How loud a film is as a whole: measured once in the background, and kept in ``review/loudness.json``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core import (
    Interval,
)
from shotad.core.errors import (
    WorkFolderError,
)
from shotad.core.files import (
    read_file,
    write_text,
)
from shotad.core.records import parse_record
from shotad.core.system import yield_thread
from shotad.core.workfolder import hash_key, readable_json
from shotad.sound import (
    Loudness,
    LoudnessCurve,
    MeasuredSound,
    Programme,
    measure_whole,
)
from shotad.sound.mix import (
    estimate_loudness,
    measure_nearby,
)
from shotad.sound.programme import RATE

LOUDNESS = "loudness.json"
"""The file in the folder ``review``."""

KEPT = 4
"""Measures kept: other audio tracks, other rates."""
_PLACE = 20.0
"""Seconds of film that are listened to together."""
_FIGURES = ("integrated", "range", "true_peak", "momentary", "short_term")


class _Over(Exception):  # noqa: N818  no error: nobody listens any more
    """The page was closed."""


class FilmLoudness:
    """The loudness of one film's sound as a whole: heard once in the background, and kept. May be used by
    several threads.

    Levels of all lines follow from it. Until it is known a line's surroundings must do.
    """

    def __init__(self, file: Path, settled: Callable[[], None]) -> None:
        """``file`` is where measures are kept; ``settled`` is called when one is done."""
        self._file, self._settled = file, settled
        self._lock = threading.Lock()
        self._measured: dict[str, MeasuredSound] = {}
        self._near: dict[tuple[str, int], MeasuredSound] = {}
        self._guesses: dict[str, Loudness] = {}
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def of(self, programme: Programme, fingerprint: str, around: Interval) -> tuple[MeasuredSound, bool]:
        """How loud the programme is, and whether that is of the whole: if not it is of some stretches of
        it and of what lies around an interval, and the whole is being listened to."""
        key = measure_key(programme, fingerprint)
        measured = self.measured(key)
        if measured is not None:
            return measured, True
        if programme.track is None:
            count = max(0, int(programme.total / RATE * 10))
            nothing = np.full(count, -np.inf, np.float32)
            silence = MeasuredSound(Loudness(None, 0.0, None, None, None), LoudnessCurve(nothing))
            return self._keep(key, silence), True
        self.begin(programme, fingerprint)
        # Lines of a third of a minute have one measure, so that they do not differ without need.
        place = int(around.middle // _PLACE)
        with self._lock:
            near, guess = self._near.get((key, place)), self._guesses.get(key)
        guess = guess or estimate_loudness(programme)
        near = near or measure_nearby(programme, Interval(place * _PLACE, (place + 1) * _PLACE))
        with self._lock:
            self._near[key, place], self._guesses[key] = near, guess
        return replace(near, loudness=guess), False

    def is_settled(self, programme: Programme, fingerprint: str) -> bool:
        """Whether the whole programme was measured; one without sound needs no measure."""
        return programme.track is None or self.measured(measure_key(programme, fingerprint)) is not None

    def begin(self, programme: Programme, fingerprint: str) -> None:
        """Listen to the whole in the background, unless that is known or under way."""
        key = measure_key(programme, fingerprint)
        if self.measured(key) is not None or programme.track is None:
            return
        with self._lock:
            if self._closed.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(
                target=self._listen, args=(programme, key), name="listening", daemon=True
            )
            self._thread.start()

    def measured(self, key: str) -> MeasuredSound | None:
        """The measure with this key, of this session or kept from before."""
        with self._lock:
            if key in self._measured:
                return self._measured[key]
            row: Mapping[str, Any] = next((row for row in self._rows() if row.get("key") == key), {})
            # A row that is damaged is none.
            with suppress(KeyError, TypeError, ValueError):
                course = [-np.inf if level is None else int(level) / 1000 for level in row["course"]]
                levels = [row[name] if row[name] is None else float(row[name]) for name in _FIGURES]
                if levels[1] is not None:
                    self._measured[key] = MeasuredSound(
                        Loudness(*levels), LoudnessCurve(np.array(course, np.float32))
                    )
            return self._measured.get(key)

    def wait(self, seconds: float | None = None) -> None:
        """Until what is under way is done."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        self._closed.set()
        self.wait(5.0)

    def _listen(self, programme: Programme, key: str) -> None:
        yield_thread(10)
        try:
            measured = measure_whole(programme, self._pause)
        except (_Over, OSError):
            return
        self._keep(key, measured)
        self._settled()

    def _pause(self, _: float) -> None:
        if self._closed.is_set():
            raise _Over

    def _keep(self, key: str, measured: MeasuredSound) -> MeasuredSound:
        """Keep a measure of a whole programme, in the file too; returns it."""
        with self._lock:
            self._measured[key] = measured
            # Figures as ffmpeg gives them, in thousandths
            levels = map(float, measured.curve.momentary)
            course = [None if np.isneginf(level) else round(level * 1000) for level in levels]
            figures = {name: getattr(measured.loudness, name) for name in _FIGURES}
            rows = [row for row in self._rows() if row.get("key") != key][-KEPT + 1 :]
            rows.append({"key": key, **figures, "course": course})
            write_text(self._file, readable_json({"measures": rows}))
        return measured

    def _rows(self) -> list[Mapping[str, Any]]:
        record: Mapping[str, Any] = {}
        with suppress(OSError, WorkFolderError):
            record = parse_record(LOUDNESS, read_file(self._file)) or {}
        rows = record.get("measures")
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def measure_key(programme: Programme, fingerprint: str) -> str:
    """By which a measure is known: all that changes it."""
    return hash_key("loudness/1", fingerprint, programme.track, RATE, programme.layout, programme.total)
