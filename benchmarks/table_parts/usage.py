"""What a process has used: seconds on the processors, and memory at once."""

from __future__ import annotations

import re
import resource
import sys
import time
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak() -> float:
    """The most memory that this process has had at once, in MB of 10^6 bytes."""
    if _STATUS.exists():
        # Not getrusage: after a fork it may tell of the parent.
        found = re.search(r"VmHWM:\s+(\d+) kB", _STATUS.read_text())
        if found:
            return int(found[1]) * 1024 / 1e6
    return _megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def peak_of_children() -> float:
    """The most memory that one of the programs that it started and that have ended had, in MB."""
    return _megabytes(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def _megabytes(used: int) -> float:
    return used / 1e6 if sys.platform == "darwin" else used * 1024 / 1e6


def forget_peak() -> None:
    """Begin to look for the peak anew, where the kernel can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def processor() -> float:
    """Seconds on the processors so far: all threads, and the programs that it started and that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime
