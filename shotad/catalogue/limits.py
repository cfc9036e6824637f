"""What films take of disk and memory, and what there is of both.

Estimates are upper ones: a film that is let in must not fill the disk on which the others are written.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from shotad.catalogue.jobs import FilmJob
from shotad.errors import UsageError
from shotad.film.info import FilmInfo
from shotad.rendering.wanted import Wanted

MB = 1_000_000

_RECORDS = 20 * MB
"""Bytes of records, scripts and overview, of any film."""
_RECORDS_PER_SECOND = 20_000
_JPEG = 0.25
"""Bytes a pixel of a kept frame at most, at the quality of the settings' default."""
_SOUND_PER_SECOND = 48_000 * 2 * 4 * 3
"""Bytes of sound while it is mixed: stereo in float, takes, programme and mix."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a film is and will need: its length in seconds, and bytes on the disk of its ``folder``."""

    film_seconds: float
    disk: int
    folder: Path


def need_of(job: FilmJob, info: FilmInfo, folder: Path, wanted: Sequence[Wanted] = ()) -> Need:
    """What a run on a film needs at most, less what an earlier run has written already."""
    end = min(info.duration, job.end or info.duration)
    seconds = max(end - job.start, 0.0)
    kept = info.duration * job.config.film.grid * _pixels(info, job.config.film.grid_height) * _JPEG
    disk = _RECORDS + _RECORDS_PER_SECOND * seconds + kept
    if wanted:
        size = info.path.stat().st_size if info.path is not None and info.path.is_file() else 0
        films = sum(one.kind.is_film for one in wanted)
        disk += films * size + _SOUND_PER_SECOND * info.duration * (1 + len(wanted))
    return Need(info.duration, max(int(disk) - size_of(folder), _RECORDS), folder)


def _pixels(info: FilmInfo, height: int) -> int:
    width, lines = info.size_within(height)
    return width * lines


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder; 0 where there is none."""
    total = 0
    for at, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(at, name)).st_size
    return total


def free_disk(folder: Path) -> int:
    """Free bytes on the disk where ``folder`` is, or will be."""
    there = folder.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    return shutil.disk_usage(there).free


def disk_of(folder: Path) -> int:
    """Which disk a folder is on, or will be."""
    there = folder.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    return there.stat().st_dev


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"\s*(\d+(?:[.,]\d+)?)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Bytes: ``2GB → 2000000000``, ``500 MB``, ``1.5g``. Raises UsageError."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is no size.", "Write 2GB, 500MB or 1.5GB.")
    return int(float(match[1].replace(",", ".")) * _UNITS[match[2].lower()])


def size_text(size: float) -> str:
    """``2500000000 → 2.5 GB``."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size / 1e3:.0f} kB"


def start_peak() -> None:
    """Let the system forget the most memory that this process has had, where it can (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_memory() -> int:
    """The most bytes of memory that this process has had since `start_peak`, or since it began."""
    if (found := _status("self", "VmHWM")) is not None:
        return found
    import resource
    import sys

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


def _status(process: int | str, name: str) -> int | None:
    """A line of ``/proc/PID/status`` in bytes."""
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    match = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else None
