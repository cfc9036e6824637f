"""What a process has used: seconds on the processors, and memory at once in MB of 10^6 bytes."""

from __future__ import annotations

import resource
import time

from shotad.core import system


def peak() -> float:
    """The most memory that this process has had at once."""
    return system.peak_memory() / 1e6


def peak_of_children() -> float:
    """The most memory that one of the programs that it started and that have ended had."""
    return system.peak_of_children() / 1e6


def processor() -> float:
    """Seconds on the processors so far: all threads, and the programs that it started and that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime
