"""Threads that nobody has to wait for."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from shotad.engines import in_order


def test_an_exception_waits_for_what_is_under_way_and_for_nothing_else() -> None:
    together, ended = threading.Barrier(2), []

    def work(item: int) -> None:
        together.wait(20)
        if item == 0:
            raise ValueError("number one")
        threading.Event().wait(0.05)
        ended.append(item)

    with pytest.raises(ValueError, match="number one"):
        in_order(work, range(50), 2)
    assert ended == [1]


def test_the_end_of_the_program_waits_for_no_thread() -> None:
    script = (
        "import signal, threading; from shotad.engines import in_order\n"
        "signal.setitimer(signal.ITIMER_REAL, 1)\n"
        "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
        "in_order(lambda _: threading.Event().wait(), [1, 2], 2)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=60)
    assert b"KeyboardInterrupt" in done.stderr
