"""What this process may use of the machine, and what it takes: processors and memory; and how it ends.

What differs from system to system stands in `shotad.core.posix` (Linux and macOS) and `shotad.core.windows`,
which have the same names. One of them is chosen here, once; nobody else asks which system it is.

Control groups count, for a container may have two processors of sixty-four and little of the memory:
version 2 (Linux, ``Documentation/admin-guide/cgroup-v2.rst``) and 1, the process's own group and those above
it. Sizes are in bytes; what a system does not tell is None.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

if sys.platform == "win32":
    from shotad.core import windows as _here
else:
    from shotad.core import posix as _here

BUSY_FILE_HINT = _here.BUSY_FILE_HINT
END_SIGNALS = _here.END_SIGNALS
HAS_CERTIFICATES = _here.HAS_CERTIFICATES
LONGEST_PATH = _here.LONGEST_PATH
PipeEnd = _here.PipeEnd
become_worker = _here.become_worker
can_be_named = _here.can_be_named
end_apart = _here.end_apart
find_program = _here.find_program
forget_peak = _here.forget_peak
gpu_shares_memory = _here.gpu_shares_memory
how_it_ended = _here.how_it_ended
interrupt = _here.interrupt
interrupt_self = _here.interrupt_self
interruptible = _here.interruptible
is_link = _here.is_link
is_private = _here.is_private
kept_open = _here.kept_open
listen_again = _here.listen_again
machine_start = _here.machine_start
most_open_files = _here.most_open_files
path_of_url = _here.path_of_url
peak_memory = _here.peak_memory
process_space = _here.process_space
quoted = _here.quoted
split_command = _here.split_command
start_apart = _here.start_apart
sync_folder = _here.sync_folder
usable_name = _here.usable_name
use_one_heap = _here.use_one_heap
user_number = _here.user_number
was_killed = _here.was_killed
when_free = _here.when_free
withheld_signals = _here.withheld_signals
worker_context = _here.worker_context
yield_process = _here.yield_process
yield_thread = _here.yield_thread

ROOT = Path("/")
"""Where the kernel's files lie, ``proc`` and ``sys``; a container may have those of its host elsewhere."""

BINARY = getattr(os, "O_BINARY", 0)
"""For `os.open`: without it Windows writes two characters for the end of a line."""


def exit_process(code: int) -> NoReturn:
    """End this process with ``code``, without taking the interpreter down under threads that still work.

    Python ends such a thread as soon as it comes back from a model's native code, and C++ answers that by
    aborting the process. What was registered for the end is still done.
    """
    try:
        atexit._run_exitfuncs()  # it has no public name
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
    finally:
        os._exit(code)


def processors(root: Path = ROOT) -> int:
    """How many processors this process may use: by its affinity, and by its groups' share of time.

    A share of one and a half counts as two. ``root`` is where the kernel's files lie.
    """
    most = _here.usable_processors()
    for folder in _folders("cpu", root):
        words = (_text(folder / "cpu.max") or "").split()
        if not words:
            words = [_text(folder / f"cpu.cfs_{name}_us") or "" for name in ("quota", "period")]
        with suppress(ValueError):  # no such file, or the limit is the word max
            quota, period = map(int, words)
            if quota > 0 and period > 0:
                most = min(most, -(-quota // period))
    return max(1, most)


def memory_total(root: Path = ROOT) -> int | None:
    """Memory that this process can ever have: the machine's, or what its groups allow, by the kernel's files
    below ``root``."""
    limits = [limit for limit, _ in _memory_limits(root)]
    if (total := _machine_memory("total")) is not None:
        limits.append(total)
    return min(limits, default=None)


def memory_free(root: Path = ROOT) -> int | None:
    """Memory that can still be taken: what Linux calls available, within what the process's groups allow.

    What a group holds of files that it read counts as free, for the system gives it up. ``root`` is where the
    kernel's files lie.
    """
    amounts = [max(limit - used, 0) for limit, used in _memory_limits(root)]
    if (free := _machine_memory("available")) is not None:
        amounts.append(free)
    return min(amounts, default=None)


def _machine_memory(kind: str) -> int | None:
    """Memory of the machine, ``total`` or ``available``, in bytes; None where the system does not tell."""
    import psutil

    with suppress(OSError, psutil.Error):
        return int(getattr(psutil.virtual_memory(), kind))
    return None


def gpu_memory() -> int | None:
    """Memory of all GPUs together; 0 where there is none, None where there may be one that does not tell."""
    cards = gpu_memories()
    return None if cards is None else sum(cards)


def gpu_memories() -> list[int] | None:
    """Memory of each GPU; empty where there is none, None where there may be one that does not tell.

    NVIDIA's own program is asked, so that torch need not be loaded. Of its cards those count that
    ``CUDA_VISIBLE_DEVICES`` names by number, in that order; all where it names none, or names them otherwise.
    """
    if gpu_shares_memory() or any(Path(name).exists() for name in ("/dev/kfd", "/dev/dxg")):
        return None
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in ("", "-1"):
        return []
    program = find_program("nvidia-smi")
    if program is None:
        return None if any(Path("/dev").glob("nvidia[0-9]*")) else []
    command = [program, "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        output = subprocess.run(command, capture_output=True, timeout=20, check=True).stdout
        cards = [int(line) << 20 for line in output.split()]
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    if visible is None:
        return cards
    try:
        return [cards[int(number)] for number in visible.split(",")]
    except (ValueError, IndexError):
        return cards


def process_memory(process: int | None = None) -> int | None:
    """Memory that a process has now; None: this one. None where there is no such process."""
    import psutil

    try:
        return int(psutil.Process(process).memory_info().rss)
    except (psutil.Error, OSError, ValueError):
        return None


def is_running(process: int) -> bool:
    """Whether there is a process with this number, whoever's. One that has ended and was not yet cleared away
    (a zombie) is none."""
    import psutil

    # Not os.kill with signal 0: on Windows that is Ctrl-C, sent to all who share the terminal.
    try:
        if not psutil.pid_exists(process):
            return False
        return psutil.Process(process).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except (psutil.NoSuchProcess, OverflowError):  # no system counts as far
        return False
    except psutil.Error:
        return True  # it may not be looked at


def release_memory(*, collect: bool = False) -> None:
    """Hand what is free back to the system. glibc keeps it in parts for each thread that there ever was: a
    program that describes film after film would grow by a tenth of a gigabyte for each. With ``collect``,
    what waits in cycles for Python's collector goes too: half a gigabyte of models after a film."""
    if collect:
        gc.collect()
    _here.trim_memory()


def _memory_limits(root: Path) -> Iterator[tuple[int, int]]:
    """Limit and use of each group that has a limit; use is without files that can be given up."""
    for folder in _folders("memory", root):
        for limit, used, cache in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            with suppress(ValueError):
                most = int(_text(folder / limit) or "")
                if most < _UNLIMITED:
                    match = re.search(rf"^{cache} (\d+)", _text(folder / "memory.stat") or "", re.MULTILINE)
                    yield most, int(_text(folder / used) or "0") - (int(match[1]) if match else 0)


_UNLIMITED = 1 << 62
"""Version 1 has no word for no limit, only a number near 2⁶³."""


def _folders(controller: str, root: Path) -> Iterator[Path]:
    """Where the limits of the process's groups stand: its own group's, then those above it.

    Inside a container the path of the group may be the one outside, which is not there; the root then is
    the container's own.
    """
    groups = root / "sys" / "fs" / "cgroup"
    for line in (_text(root / "proc" / "self" / "cgroup") or "").splitlines():
        _, names, path = [*line.split(":", 2), "", ""][:3]
        if names and controller not in names.split(","):
            continue
        top = groups / controller if names else groups
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for depth in range(len(parts), -1, -1):
            yield top.joinpath(*parts[:depth])


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return None


SAFE_PATH = "PYTHONSAFEPATH"
"""The environment variable by which Python takes no modules from the current folder."""


@contextmanager
def own_modules_only() -> Iterator[None]:
    """For the time of a block, Python processes that are started take no modules from the current folder: a
    ``pickle.py`` that came with films would be run before anything of ours."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before
