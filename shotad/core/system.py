"""What this process may use of the machine, and what it takes: processors and memory; and how it ends.

Control groups count, for a container may have two processors of sixty-four and little of the memory:
version 2 (Linux, ``Documentation/admin-guide/cgroup-v2.rst``) and 1, the process's own group and those above
it. Sizes are in bytes; what a system does not tell is None.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

ROOT = Path("/")
"""Where the kernel's files lie, ``proc`` and ``sys``; a container may have those of its host elsewhere."""
_PROC = ROOT / "proc"


_AGAIN = 0.05
"""Seconds after which an interruption that was lost is raised again."""


def interruptible() -> None:
    """Let SIGTERM interrupt the main thread as Ctrl-C does, by KeyboardInterrupt, and lose neither of them.

    Python drops what is raised in a finaliser or in a callback of a weak reference, such as the one by which
    an import ends: while libraries are loaded, one signal in some hundred. For processes that are ours alone:
    this takes SIGALRM, and Python's hook for errors that it drops.
    """

    def interrupted(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def dropped(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        else:
            sys.__unraisablehook__(unraisable)

    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, interrupted)
    sys.unraisablehook = dropped


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
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
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
    with suppress(AttributeError, OSError, ValueError):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(limits, default=None)


def memory_free(root: Path = ROOT) -> int | None:
    """Memory that can still be taken: what Linux calls available, within what the process's groups allow.

    What a group holds of files that it read counts as free, for the system gives it up. ``root`` is where the
    kernel's files lie.
    """
    free_by_limit = [max(limit - used, 0) for limit, used in _memory_limits(root)]
    free = _kilobytes(root / "proc" / "meminfo", "MemAvailable")
    return min(free_by_limit if free is None else [free, *free_by_limit], default=None)


def gpu_memory() -> int | None:
    """Memory of all GPUs together; 0 where there is none, None where there may be one that does not tell."""
    cards = gpu_memories()
    return None if cards is None else sum(cards)


def gpu_memories() -> list[int] | None:
    """Memory of each GPU; empty where there is none, None where there may be one that does not tell.

    NVIDIA's own program is asked, so that torch need not be loaded. Of its cards those count that
    ``CUDA_VISIBLE_DEVICES`` names by number, in that order; all where it names none, or names them otherwise.
    """
    if sys.platform == "darwin" or any(Path(name).exists() for name in ("/dev/kfd", "/dev/dxg")):
        return None
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in ("", "-1"):
        return []
    program = shutil.which("nvidia-smi")
    if program is None:
        return None if any(Path("/dev").glob("nvidia[0-9]*")) else []
    command = [program, "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
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
    """Memory that a process has now; None: this one."""
    return _kilobytes(_PROC / ("self" if process is None else str(process)) / "status", "VmRSS")


def peak_memory() -> int:
    """The most memory that this process has had at once since `forget_peak`, or since it began."""
    # Not getrusage where it can be had otherwise: after a fork that may tell of the parent.
    peak = _kilobytes(_PROC / "self" / "status", "VmHWM")
    if peak is not None:
        return peak
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024  # macOS has bytes, the others 1024 of them


def forget_peak() -> None:
    """Let `peak_memory` look again, where the system can (Linux)."""
    with suppress(OSError):
        (_PROC / "self" / "clear_refs").write_text("5", encoding="ascii")


def release_memory(*, collect: bool = False) -> None:
    """Hand what is free back to the system. glibc keeps it in parts for each thread that there ever was: a
    program that describes film after film would grow by a tenth of a gigabyte for each. With ``collect``,
    what waits in cycles for Python's collector goes too: half a gigabyte of models after a film."""
    if collect:
        gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


_ARENA_MAX = -8
"""glibc's name for the number of heaps (malloc.h)."""


def use_one_heap() -> None:
    """Have all threads of this process share one heap, where the system can (glibc): else each has its own,
    with free memory of its own. For a program, before it has threads."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def _kilobytes(file: Path, name: str) -> int | None:
    """The line ``name: … kB`` of a file, in bytes."""
    match = re.search(rf"^{name}:\s+(\d+) kB", _text(file) or "", re.MULTILINE)
    return int(match[1]) * 1024 if match else None


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
