"""What Windows does in ways of its own; `shotad.core.posix` has the same names.

`shotad.core.system` chooses one of the two, and everybody else imports from there.
"""

from __future__ import annotations

import ctypes
import multiprocessing.connection
import os
import re
import shlex
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import psutil

from shotad.core.file_names import fits_windows, name_for_windows

# The type checker reads the rest where it checks for Windows, and only there.
if sys.platform != "win32":
    raise ImportError("shotad.core.windows is for Windows")

Result = TypeVar("Result")

PipeEnd = multiprocessing.connection.PipeConnection
"""An end of a pipe of `multiprocessing`."""

_kernel32 = ctypes.WinDLL("kernel32")
# The handle of a thread is as long as an address, and ctypes takes every result for 32 bits.
_kernel32.GetCurrentThread.restype = ctypes.c_void_p
_kernel32.SetThreadPriority.argtypes = (ctypes.c_void_p, ctypes.c_int)

# Signals and the ends of processes

END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGBREAK)
"""By what a program is asked to end: Ctrl-C, Ctrl-Break. Nobody sends SIGTERM here but the process itself."""

_AGAIN = 0.05
"""Seconds after which an interruption that was lost is raised again."""


def interruptible() -> None:
    """Let Ctrl-Break interrupt the main thread as Ctrl-C does, by KeyboardInterrupt, and lose neither of
    them (`shotad.core.posix.interruptible` says how they are lost). For processes that are ours alone."""

    def interrupted(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def dropped(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            again = threading.Timer(_AGAIN, interrupt_self)
            again.daemon = True
            again.start()
        else:
            sys.__unraisablehook__(unraisable)

    for number in (signal.SIGTERM, signal.SIGBREAK):
        signal.signal(number, interrupted)
    sys.unraisablehook = dropped


def interrupt_self() -> None:
    """Interrupt the main thread of this process, as somebody would who asks it to end."""
    # Not os.kill, which would end the process at once. SIGINT is the one that also ends a sleep.
    signal.raise_signal(signal.SIGINT)


_hears_ctrl_c = True


def _hear_ctrl_c(hears: bool) -> None:
    # Without a handler of its own, True is for: ignore Ctrl-C; processes that are started inherit it
    # (learn.microsoft.com/windows/console/setconsolectrlhandler).
    _kernel32.SetConsoleCtrlHandler(None, not hears)


@contextmanager
def withheld_signals() -> Iterator[None]:
    """A process that is started in the block never hears this terminal's Ctrl-C."""
    _hear_ctrl_c(False)
    try:
        yield
    finally:
        _hear_ctrl_c(_hears_ctrl_c)


def become_worker() -> None:
    """From now on this process is interrupted by `interrupt_self` alone; Ctrl-C is for the process that
    started it."""
    global _hears_ctrl_c  # noqa: PLW0603  the system cannot be asked for it
    _hears_ctrl_c = False
    _hear_ctrl_c(False)
    interruptible()


def was_killed(code: int | None) -> bool:
    """Whether a process with this exit code was ended from outside, by force."""
    # multiprocessing's number for a process that it has ended so; other programs choose theirs.
    return code == -signal.SIGTERM


_FIRST_FAULT = 0xC0000000
"""From here on exit codes are errors of the system, such as an address that is not there (ntstatus.h)."""


def how_it_ended(code: int | None) -> str:
    """How a process with this exit code came to its end, as the end of a sentence."""
    if was_killed(code):
        return "was ended by force"
    if code is not None and code >= _FIRST_FAULT:
        return f"crashed (0x{code:08X})"
    return f"ended by itself (exit code {code})"


def start_apart(
    command: Sequence[str], *, passed: Sequence[socket.socket] = (), **options: Any
) -> subprocess.Popen[bytes]:
    """Start a program that does not hear this terminal's Ctrl-C. ``passed``: sockets that it may use by their
    numbers; ``options`` are those of `subprocess.Popen`."""
    for line in passed:
        line.set_inheritable(True)
    return subprocess.Popen(
        command, creationflags=subprocess.CREATE_NEW_PROCESS_GROUP, close_fds=not passed, **options
    )


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a program that `start_apart` has started, as Ctrl-C would."""
    try:
        process.send_signal(signal.CTRL_BREAK_EVENT)
    except OSError:  # it has no terminal
        process.terminate()


def end_apart(process: subprocess.Popen[bytes], patience: float) -> None:
    """End a program that `start_apart` has started and all that it started, by force after ``patience``
    seconds."""
    family: list[psutil.Process] = []
    with suppress(psutil.Error):
        family = psutil.Process(process.pid).children(recursive=True)
    if process.poll() is None:
        interrupt(process)
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
    for member in family:
        with suppress(psutil.Error):
            member.kill()
    process.kill()
    process.wait()


def worker_context(_preload: Sequence[str]) -> Any:
    """How processes are started that begin afresh; each loads all that it needs."""
    return multiprocessing.get_context("spawn")


# Processors and memory


def usable_processors() -> int:
    """How many processors this process may run on."""
    return len(psutil.Process().cpu_affinity() or ()) or os.cpu_count() or 1


def peak_memory() -> int:
    """The most memory in bytes that this process has had at once, since it began."""
    return int(psutil.Process().memory_info().peak_wset)


def forget_peak() -> None:
    """Nothing: the system counts from the beginning of the process."""


def trim_memory() -> None:
    """Nothing: the system's heap gives large blocks back by itself."""


def use_one_heap() -> None:
    """Nothing: all threads share one heap."""


def yield_process(amount: int) -> None:
    """Let other processes go first; ``amount`` is for systems that know degrees of it."""
    psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)


_THREAD_PRIORITY_BELOW_NORMAL = -1


def yield_thread(amount: int) -> None:
    """Let other threads go first; ``amount`` is for systems that know degrees of it."""
    _kernel32.SetThreadPriority(_kernel32.GetCurrentThread(), _THREAD_PRIORITY_BELOW_NORMAL)


def gpu_shares_memory() -> bool:
    """Whether the GPU has the machine's memory and none of its own."""
    return False


def most_open_files() -> int | None:
    """How many files this process may have open at once; None: no limit that matters."""
    return None


_STARTS = r"SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters"


def machine_start() -> str:
    """What tells one start of the machine from the next: the system counts them. Empty where it does not."""
    import winreg

    with suppress(OSError), winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _STARTS) as key:
        return str(winreg.QueryValueEx(key, "BootId")[0])
    return ""


def process_space() -> str:
    """Which processes have numbers of the same count as this one: all of the machine."""
    return "all"


# Files

_PATIENCE, _PAUSE = 3.0, 0.02
"""Seconds for which a file may be open elsewhere, and after which it is tried again."""


def when_free(action: Callable[[], Result]) -> Result:
    """What ``action`` returns, which replaces, removes or opens a file.

    A file cannot be replaced or removed while anybody has it open, nor opened while it is replaced: another
    shotad that reads it, a virus scanner, a program that makes backups. Most are done within milliseconds.
    Raises PermissionError where they are not.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return action()
        except PermissionError:
            if time.monotonic() > until:
                raise
        time.sleep(_PAUSE)


BUSY_FILE_HINT = "If another program has it open, close it there and run again; what is done is kept."
"""What to do where a file cannot be written since it is open elsewhere."""


LONGEST_PATH = 259
"""Characters that a whole path may have, unless long paths were switched on
(learn.microsoft.com/windows/win32/fileio/maximum-file-path-limitation)."""


@contextmanager
def kept_open(folder: Path) -> Iterator[None]:
    """Nothing: a folder cannot be opened, and NTFS gives the number of one that is gone to no other, for it
    counts how often each number was given."""
    yield


def sync_folder(folder: Path) -> None:
    """Nothing: a folder cannot be opened, and NTFS writes the names in it to its own log first."""


def is_link(status: os.stat_result) -> bool:
    """Whether a path leads elsewhere, as links and junctions do; ``status`` is that of `os.lstat`."""
    is_junction = getattr(status, "st_reparse_tag", 0) == stat.IO_REPARSE_TAG_MOUNT_POINT
    return stat.S_ISLNK(status.st_mode) or is_junction


def is_private(status: os.stat_result) -> bool:
    """True: there are no such bits, and the folders of a user are closed to others."""
    return True


def user_number() -> int | None:
    """None: users have no numbers."""
    return None


def can_be_named(name: str) -> bool:
    """Whether a file here can have this name."""
    return fits_windows(name)


def usable_name(name: str) -> str:
    """A name that comes from elsewhere as one that a file here can have."""
    return name_for_windows(name)


def path_of_url(path: str) -> str:
    """The path of this machine that the path of a file URL stands for, its signs not decoded:
    ``/C:/films/a.mp4 → C:/films/a.mp4``, ``server/films/a.mp4 → //server/films/a.mp4``."""
    if re.match(r"/[A-Za-z]:(?:/|$)", path):
        return path[1:]
    return path if path.startswith("/") or re.match(r"[A-Za-z]:", path) else f"//{path}"


# Programs and sockets


HAS_CERTIFICATES = True
"""Whether Python takes the certificates of servers from the system itself, and not from files."""


def find_program(name: str, path: str | None = None) -> str | None:
    """The path of an installed program; None where there is none. ``path``: folders to look in, as in
    ``PATH``.

    Not `shutil.which`: it looks in the current folder first, which may be one of films from anywhere.
    """
    endings = os.environ.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(";")
    if Path(name).suffix.upper() in (ending.upper() for ending in endings if ending):
        endings = [""]
    folders = (os.environ.get("PATH", "") if path is None else path).split(os.pathsep)
    for folder in filter(os.path.isabs, folders):
        for ending in endings:
            program = os.path.join(folder, name + ending)
            if os.path.isfile(program):
                return program
    return None


def quoted(words: Sequence[str]) -> str:
    """Words as somebody types them at a prompt."""
    return subprocess.list2cmdline(words)


def split_command(text: str) -> list[str]:
    """The words of a command as somebody types it. Raises ValueError for a quote that is not closed."""
    words = shlex.shlex(text, posix=True)
    words.whitespace_split = True
    words.commenters = ""
    words.escape = ""  # a backslash parts folders
    return list(words)


def listen_again(listener: socket.socket) -> None:
    """Let a server have its address alone: here ``SO_REUSEADDR`` would let any program listen at it too."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
