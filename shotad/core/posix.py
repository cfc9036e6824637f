"""What Linux, macOS and others like them do in ways of their own; `shotad.core.windows` has the same names.

`shotad.core.system` chooses one of the two, and everybody else imports from there.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import re
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

# The type checker reads the rest where it checks for these systems, and only there.
if sys.platform == "win32":
    raise ImportError("shotad.core.posix is for Linux, macOS and others like them")

Result = TypeVar("Result")

PipeEnd = Connection
"""An end of a pipe of `multiprocessing`."""

_PROC = Path("/proc")
"""Where Linux tells of processes."""

# Signals and the ends of processes

END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""By what a program is asked to end: Ctrl-C, a machine that shuts down, a terminal that is closed."""

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


def interrupt_self() -> None:
    """Interrupt the main thread of this process, as somebody would who asks it to end."""
    hears_ctrl_c = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    # To the process and not to this thread: the system then wakes the main thread from what it waits for.
    os.kill(os.getpid(), signal.SIGINT if hears_ctrl_c else signal.SIGTERM)


@contextmanager
def withheld_signals() -> Iterator[None]:
    """A process that is started in the block hears no interruption until it calls `become_worker`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def become_worker() -> None:
    """From now on SIGTERM interrupts this process; Ctrl-C is for the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interruptible()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})


def was_killed(code: int | None) -> bool:
    """Whether a process with this exit code was ended from outside, by force."""
    return code == -signal.SIGKILL


def how_it_ended(code: int | None) -> str:
    """How a process with this exit code (negative: a signal) came to its end, as the end of a sentence."""
    if was_killed(code):
        return "was killed (SIGKILL)"
    if code is not None and code < 0:
        with suppress(ValueError):
            return f"crashed ({signal.Signals(-code).name})"
    return f"ended by itself (exit code {code})"


def start_apart(
    command: Sequence[str], *, passed: Sequence[socket.socket] = (), **options: Any
) -> subprocess.Popen[bytes]:
    """Start a program that does not hear this terminal's Ctrl-C. ``passed``: sockets that it may use by their
    numbers; ``options`` are those of `subprocess.Popen`."""
    numbers = [line.fileno() for line in passed]
    return subprocess.Popen(command, start_new_session=True, pass_fds=numbers, **options)


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a program that `start_apart` has started, as Ctrl-C would."""
    process.send_signal(signal.SIGINT)


def end_apart(process: subprocess.Popen[bytes], patience: float) -> None:
    """End a program that `start_apart` has started and all that it started, by force after ``patience``
    seconds."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
            break
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def worker_context(preload: Sequence[str]) -> Any:
    """How processes are started that begin afresh: each is a copy of a server that has loaded the modules
    ``preload``, so that they are loaded once."""
    from multiprocessing import forkserver

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*preload])
    forkserver.ensure_running()
    return context


# Processors and memory


def usable_processors() -> int:
    """How many processors this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def peak_memory() -> int:
    """The most memory in bytes that this process has had at once, since `forget_peak` where there is that."""
    # Not getrusage where it can be had otherwise: after a fork that may tell of the parent.
    with suppress(OSError):
        text = (_PROC / "self" / "status").read_text(encoding="ascii", errors="replace")
        match = re.search(r"^VmHWM:\s+(\d+) kB", text, re.MULTILINE)
        if match is not None:
            return int(match[1]) * 1024
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024  # macOS has bytes, the others 1024 of them


def forget_peak() -> None:
    """Let `peak_memory` look again, where the system can (Linux)."""
    with suppress(OSError):
        (_PROC / "self" / "clear_refs").write_text("5", encoding="ascii")


def trim_memory() -> None:
    """Hand free memory back to the system, where it waits for that (glibc)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


_ARENA_MAX = -8
"""glibc's name for the number of heaps (malloc.h)."""


def use_one_heap() -> None:
    """Have all threads of this process share one heap, where the system can (glibc): else each has its own,
    with free memory of its own. For a program, before it has threads."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def yield_process(amount: int) -> None:
    """Let other processes go first; ``amount`` is what is added to the niceness, 1 to 19."""
    os.nice(amount)


def yield_thread(amount: int) -> None:
    """Let other threads go first, where a thread has a priority of its own (Linux)."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), amount)


def gpu_shares_memory() -> bool:
    """Whether the GPU has the machine's memory and none of its own, as that of a Mac."""
    return sys.platform == "darwin"


def most_open_files() -> int | None:
    """How many files this process may have open at once; None: no limit that matters."""
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if files == resource.RLIM_INFINITY else files


def machine_start() -> str:
    """What tells one start of the machine from the next; empty where nothing does."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    with suppress(OSError, subprocess.SubprocessError):
        # macOS; the other systems have no such name, and sysctl says so by its exit code.
        command = ["sysctl", "-n", "kern.bootsessionuuid"]
        done = subprocess.run(command, capture_output=True, timeout=10, check=True)
        return done.stdout.decode("ascii", "replace").strip()
    return ""


def process_space() -> str:
    """Which processes have numbers of the same count as this one: those of this container."""
    with suppress(OSError):
        return os.readlink("/proc/self/ns/pid")
    return "" if _PROC.joinpath("self").exists() else "all"


# Files


def when_free(action: Callable[[], Result]) -> Result:
    """What ``action`` returns, which replaces, removes or opens a file. It may be open elsewhere."""
    return action()


BUSY_FILE_HINT = ""
"""What to do where a file cannot be written since it is open elsewhere; empty: that hinders nobody here."""


LONGEST_PATH = 4095
"""Characters that a whole path may have (PATH_MAX of Linux counts bytes and the end; macOS has fewer)."""


@contextmanager
def kept_open(folder: Path) -> Iterator[None]:
    """Within the block no other folder can get the inode of ``folder``. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk: else a file may have its old content after a power cut."""
    with suppress(OSError):  # some network file systems cannot do it; the file itself is written
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_link(status: os.stat_result) -> bool:
    """Whether a path leads elsewhere; ``status`` is that of `os.lstat`."""
    return stat.S_ISLNK(status.st_mode)


def is_private(status: os.stat_result) -> bool:
    """Whether only its owner can read a file."""
    return not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def user_number() -> int | None:
    """The number of the user who runs this process."""
    return os.getuid()


def can_be_named(name: str) -> bool:
    """Whether a file here can have this name."""
    return "/" not in name and "\0" not in name


def usable_name(name: str) -> str:
    """A name that comes from elsewhere as one that a file here can have."""
    return name.replace("/", "_").replace("\0", "_")


def path_of_url(path: str) -> str:
    """The path of this machine that the path of a file URL stands for, its signs not decoded."""
    return path


# Programs and sockets


HAS_CERTIFICATES = False
"""Whether Python takes the certificates of servers from the system itself, and not from files."""


def find_program(name: str, path: str | None = None) -> str | None:
    """The path of an installed program; None where there is none. ``path``: folders to look in, as in
    ``PATH``."""
    return shutil.which(name, path=path)


def quoted(words: Sequence[str]) -> str:
    """Words as somebody types them at a shell."""
    return shlex.join(words)


def split_command(text: str) -> list[str]:
    """The words of a command as somebody types it. Raises ValueError for a quote that is not closed."""
    return shlex.split(text)


def listen_again(listener: socket.socket) -> None:
    """Let a server listen at the address that an earlier one has just left."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
