"""The wave form of the film's sound for the time line: its peaks, computed once and kept.

Fifty peaks a second show where words begin and end at the closest view of the time line, and two hours of
film are 360 kB. A library that draws wave forms in the browser would fetch and decode the whole film there.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import numpy as np

from shotad.core import Config, ShotadError
from shotad.core.files import inner_folder, read_file, write_bytes
from shotad.core.system import yield_thread
from shotad.film import open_film
from shotad.film.audio import sound_blocks
from shotad.review.events import Tabs

PEAKS_A_SECOND = 50
_RATE = 8000
"""Samples a second of which peaks are taken: speech and music keep their outline."""

WAVEFORM = "waveform.u8"
"""In the folder ``review`` of the work folder: the film's fingerprint, a line end, then the peaks."""


class Waveform:
    """The peaks of one film's sound. Thread-safe; `close` ends the work in the background."""

    def __init__(self, film: Path, folder: Path, config: Config, fingerprint: str, tabs: Tabs) -> None:
        self._film, self._config, self._tabs = film, config, tabs
        self._file = inner_folder(folder, "review") / WAVEFORM
        self._head = f"{fingerprint} {config.film.audio_track}\n".encode()
        self._lock = threading.Lock()
        self._peaks: bytes | None = None
        self._worker: threading.Thread | None = None
        self._closed = threading.Event()

    def peaks(self) -> bytes | None:
        """`PEAKS_A_SECOND` bytes a second, 0 for silence, 255 for full scale; empty for a film without sound.

        None while they are computed, which this call begins; then tabs are told ``waveform``.
        """
        with self._lock:
            if self._peaks is None:
                self._peaks = self._kept_peaks()
            if self._peaks is None and self._worker is None and not self._closed.is_set():
                self._worker = threading.Thread(target=self._compute, name="wave form", daemon=True)
                self._worker.start()
            return self._peaks

    def close(self) -> None:
        self._closed.set()
        worker = self._worker
        if worker is not None:
            worker.join(5.0)

    def _kept_peaks(self) -> bytes | None:
        with suppress(OSError, ShotadError):
            content = read_file(self._file)
            if content.startswith(self._head):
                return content[len(self._head) :]
        return None

    def _compute(self) -> None:
        # The page goes first.
        yield_thread(10)
        parts: list[bytes] = []
        try:
            with open_film(self._film, reader=self._config.film.reader) as film:
                for block in sound_blocks(film, self._config.film.audio_track, _RATE, "mono"):
                    if self._closed.is_set():
                        return
                    parts.append(peak_bytes(block.samples))
        except ShotadError:
            parts = []  # the page says elsewhere that the film cannot be read
        peaks = b"".join(parts)
        with suppress(ShotadError):
            write_bytes(self._file, [self._head, peaks])
        with self._lock:
            self._peaks = peaks
        self._tabs.send("waveform", {"peaks": len(peaks)})


def peak_bytes(samples: np.ndarray) -> bytes:
    """The largest amplitude in each fiftieth of a second of ``float32[n]`` at 8 kHz, as bytes."""
    size = _RATE // PEAKS_A_SECOND
    padded = np.zeros(-(-len(samples) // size) * size, np.float32)
    padded[: len(samples)] = np.abs(samples)
    largest = padded.reshape(-1, size).max(axis=1)
    return bytes(np.clip(np.round(largest * 255), 0, 255).astype(np.uint8))
