"""Sounds that were made to be heard on the page: WAV files by key, of which the newest are kept."""

from __future__ import annotations

import io
import os
import re
import wave
from contextlib import suppress
from pathlib import Path

import numpy as np

from shotad.core import sweep, write_bytes
from shotad.film import Samples

FILES = 200
BYTES = 200 * 2**20
"""What is kept at most."""

_ENDING = ".wav"
_OWN = re.compile(rf"[0-9a-f]{{16}}\{_ENDING}")
"""Names of sounds, by `shotad.core.workfolder.key_of`."""


class HeardFiles:
    """The folder of sounds, bounded. May be used by several threads and processes."""

    def __init__(self, folder: Path, files: int = FILES, size: int = BYTES) -> None:
        """What a killed process has left half-written is removed."""
        self._folder, self._files, self._size = folder, files, size
        if not folder.is_symlink():
            for leftover in folder.glob(".tmp-*"):
                sweep(leftover)
        self.sweep()

    def find(self, key: str) -> Path | None:
        """The file of a key, which is among the newest from now on; None: there is none."""
        path = self._folder / f"{key}{_ENDING}"
        try:
            os.utime(path)
        except OSError:
            return None
        return path

    def keep(self, key: str, samples: Samples, rate: int) -> Path:
        """Write ``float32[n, channels]`` as 16-bit WAV, whole or not at all. Raises WorkFolderError."""
        path = self._folder / f"{key}{_ENDING}"
        write_bytes(path, [wav_of(samples, rate)])
        self.sweep(path)
        return path

    def sweep(self, fresh: Path | None = None) -> None:
        """Remove the oldest of too many; never ``fresh``, nor what somebody else put or linked there."""
        if self._folder.is_symlink():
            return
        found = []
        for path in filter(lambda one: _OWN.fullmatch(one.name), self._folder.glob(f"*{_ENDING}")):
            with suppress(OSError):
                state = path.stat()
                found.append((state.st_mtime_ns, state.st_size, path))
        total = sum(size for _, size, _ in found)
        number = len(found)
        for _, size, path in sorted(found):
            if number <= self._files and total <= self._size:
                break
            if path == fresh:
                continue
            # One that is being played cannot be removed on some systems; the next sweep will.
            with suppress(OSError):
                path.unlink()
                total, number = total - size, number - 1


def wav_of(samples: Samples, rate: int) -> bytes:
    """A WAV file of 16 bits, of ``float32[n, channels]``; what is over full scale is cut."""
    whole = np.clip(np.round(samples * np.float32(32768)), -32768, 32767).astype("<i2")
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(whole.tobytes())
    return out.getvalue()
