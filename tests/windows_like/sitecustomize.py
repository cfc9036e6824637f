"""Refuses to the code of shotad, on Linux, what Windows does not have or does otherwise.

Python imports a module of this name when it starts (docs.python.org/3/library/site.html), so the folder of this
file on PYTHONPATH is all that is needed, for programs that are started too. Only calls from shotad are touched,
for Python's own library and others have their own ways on Windows. What is refused was looked up on a Windows'
Python 3.13, and what that system does in its documentation:

- names of modules (``posix_names.txt``), modules, options of `subprocess.Popen`, ways to start processes;
- to replace or remove a file that a process of this session has open; to open a folder; to make a link;
- names that a file cannot have;
- `os.kill` with signal 0, which is Ctrl-C there; each other signal ends a process at once;
- text in the encoding of the system (it is cp1252 there), and binary files written through a text descriptor.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import ctypes
import errno
import importlib.machinery
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import sysconfig
import types
import warnings
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
_SHOTAD = str(_HERE.parents[1] / "shotad") + os.sep
_LIBRARY = sysconfig.get_path("stdlib") + os.sep
_PACKAGES = sysconfig.get_path("purelib") + os.sep

_ABSENT = frozenset(
    (
        "resource",
        "fcntl",
        "pwd",
        "grp",
        "termios",
        "tty",
        "pty",
        "posix",
        "syslog",
        "readline",
        "curses",
        "crypt",
    )
)
"""Modules that are not there."""


def _is_shotad(frame: types.FrameType | None) -> bool:
    return frame is not None and frame.f_code.co_filename.startswith(_SHOTAD)


def _is_for_shotad(frame: types.FrameType | None) -> bool:
    """Whether shotad has called, itself or through Python's own library."""
    while frame is not None:
        file = frame.f_code.co_filename
        is_library = file.startswith((_LIBRARY, "<frozen")) and not file.startswith(_PACKAGES)
        if not is_library and file != __file__:
            return file.startswith(_SHOTAD)
        frame = frame.f_back
    return False


# Names


def _posix_names() -> dict[str, frozenset[str]]:
    lines = (_HERE / "posix_names.txt").read_text(encoding="ascii").splitlines()
    names: dict[str, set[str]] = {}
    for line in lines:
        if line.endswith(":"):
            module = line[:-1]
        elif not line.startswith("#"):
            names.setdefault(module, set()).update(line.split())
    return {module: frozenset(found) for module, found in names.items()}


def _hide(module: types.ModuleType, hidden: frozenset[str], instead: dict[str, Any]) -> None:
    """Let the code of shotad see ``module`` without the names ``hidden``, and with the values ``instead``."""

    class Seen(types.ModuleType):
        def __getattribute__(self, name: str) -> Any:
            if (name in hidden or name in instead) and _is_shotad(sys._getframe(1)):
                if name in instead:
                    return instead[name]
                raise AttributeError(
                    f"module {module.__name__!r} of Windows has no {name!r}", name=name, obj=self
                )
            return super().__getattribute__(name)

    module.__class__ = Seen


# Processes and signals

_TERMINATED = -signal.SIGTERM
"""The exit code that multiprocessing gives to a process that was ended by force."""
_NEW_GROUP = 0x200


def _kill(process: int, number: int) -> None:
    if number == 0:
        raise AssertionError("os.kill with signal 0 sends Ctrl-C on Windows")
    os.kill(process, signal.SIGKILL)


def _raise_signal(number: int) -> None:
    # There it also wakes the main thread, whichever thread raises it. Ctrl-C may be blocked, as below.
    os.kill(os.getpid(), signal.SIGUSR1 if number == signal.SIGINT else number)


def _as_interrupted(_number: int, frame: types.FrameType | None) -> None:
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(signal.SIGINT, frame)


class _Popen(subprocess.Popen[Any]):
    def __init__(self, *args: Any, **options: Any) -> None:
        self._ours = _is_for_shotad(sys._getframe(1))
        if self._ours:
            for name in (
                "preexec_fn",
                "pass_fds",
                "start_new_session",
                "process_group",
                "user",
                "group",
                "umask",
            ):
                if options.pop(name, None) not in (None, (), False, -1):
                    raise ValueError(f"{name} is not supported on Windows platforms")
            flags = options.pop("creationflags", 0)
            options["start_new_session"] = flags == _NEW_GROUP
            # A socket that may be inherited keeps its number.
            if options.get("close_fds") is False:
                numbers = map(int, os.listdir("/proc/self/fd"))
                options["pass_fds"] = [n for n in numbers if n > 2 and _is_inheritable(n)]
                options["close_fds"] = True
        super().__init__(*args, **options)

    def send_signal(self, sig: int) -> None:
        if self._ours and sig in (signal.SIGTERM, signal.SIGKILL):
            sig = signal.SIGKILL
        elif self._ours and sig != signal.SIGHUP:  # Ctrl-Break, see below
            raise ValueError(f"Unsupported signal: {sig}")
        super().send_signal(sig)


def _is_inheritable(descriptor: int) -> bool:
    try:
        return os.get_inheritable(descriptor)
    except OSError:
        return False


def _end_workers_as_there() -> None:
    from multiprocessing import popen_fork

    poll = popen_fork.Popen.poll

    def polled(self: Any, flag: int = os.WNOHANG) -> int | None:
        code = poll(self, flag)
        return _TERMINATED if code == -signal.SIGKILL else code

    def killed(self: Any) -> None:
        self._send_signal(signal.SIGKILL)

    popen_fork.Popen.poll = polled  # type: ignore[method-assign]
    popen_fork.Popen.terminate = popen_fork.Popen.kill = killed  # type: ignore[method-assign]


def _context(method: str | None = None) -> Any:
    import multiprocessing

    if method not in (None, "spawn"):
        raise ValueError(f"cannot find context for {method!r}")
    return multiprocessing.get_context("spawn")


class _Kernel:
    """What of the system's library is called; Ctrl-C is ignored by a mask, which is inherited too."""

    class _Call:
        def __init__(self, call: Any) -> None:
            self.call = call

        def __call__(self, *values: Any) -> Any:
            return self.call(*values)

    def __init__(self, name: str) -> None:
        assert name == "kernel32"
        self.GetCurrentThread = self._Call(lambda: -2)
        self.SetThreadPriority = self._Call(lambda thread, priority: 1)
        self.SetConsoleCtrlHandler = self._Call(self._ignore_ctrl_c)

    @staticmethod
    def _ignore_ctrl_c(handler: None, ignores: bool) -> int:
        assert handler is None
        how = signal.SIG_BLOCK if ignores else signal.SIG_UNBLOCK
        signal.pthread_sigmask(how, {signal.SIGINT})
        return 1


def _no_library(name: str | None, *args: Any, **options: Any) -> Any:
    if name is None:
        raise TypeError("argument 1 must be str, not None")
    return ctypes.CDLL(name, *args, **options)


class _Registry(types.ModuleType):
    HKEY_LOCAL_MACHINE = 0

    @staticmethod
    def OpenKey(root: int, path: str) -> Any:
        return contextlib.nullcontext(path)

    @staticmethod
    def QueryValueEx(key: str, name: str) -> tuple[int, int]:
        if name != "BootId":
            raise FileNotFoundError(errno.ENOENT, "The system cannot find the file specified", name)
        return 7, 4


# Files

_SIGNS = re.compile(r'[\x01-\x1f<>:"|?*]|[. ]$')
_DEVICES = re.compile(r"(?:con|prn|aux|nul|(?:com|lpt)[0-9])\s*(?:\..*)?", re.IGNORECASE)
_BINARY = 0x8000
"""Of no effect on Linux (O_LARGEFILE)."""
_text_descriptors: set[int] = set()


def _cannot_be_named(path: Any) -> bool:
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    parts = os.fsdecode(path).split("/")
    names = [part for part in parts if part not in ("", ".", "..")]
    return any(_SIGNS.search(name) or _DEVICES.fullmatch(name) for name in names)


def _is_open(path: Any) -> bool:
    """Whether a process of this session has the file open, this one too."""
    try:
        wanted = os.lstat(path)
    except OSError:
        return False
    if not stat.S_ISREG(wanted.st_mode):
        return False
    name, session = os.path.realpath(os.path.dirname(os.fspath(path))), os.getsid(0)
    name = os.path.join(os.fsencode(name), os.path.basename(os.fsencode(path)))
    for process in os.listdir("/proc"):
        try:
            if process.isdigit() and os.getsid(int(process)) == session:
                folder = f"/proc/{process}/fd"
                for descriptor in os.listdir(folder):
                    if os.readlink(os.fsencode(f"{folder}/{descriptor}")) == name:
                        return True
        except OSError:
            continue
    return False


def _busy(path: Any) -> PermissionError:
    return PermissionError(
        errno.EACCES, "The process cannot access the file because it is being used", os.fspath(path)
    )


def _open(path: Any, flags: int, *args: Any, **options: Any) -> int:
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))
    descriptor = os.open(path, flags, *args, **options)
    if flags & _BINARY:
        _text_descriptors.discard(descriptor)
    else:
        _text_descriptors.add(descriptor)
    return descriptor


def _write(descriptor: int, data: Any) -> int:
    if descriptor in _text_descriptors:
        os.write(descriptor, bytes(data).replace(b"\n", b"\r\n"))
        return len(data)
    return os.write(descriptor, data)


def _close(descriptor: int) -> None:
    _text_descriptors.discard(descriptor)
    os.close(descriptor)


_inside = False


def _watch(event: str, values: tuple[Any, ...]) -> None:
    """Raise, from within a call that touches files, what Windows would answer to it."""
    global _inside  # noqa: PLW0603
    if event not in _WATCHED or _inside or not _is_for_shotad(sys._getframe().f_back):
        return
    if event == "open" and not values[2] & _WRITING:
        return
    _inside = True
    try:
        for path in values[:2] if event == "os.rename" else values[:1]:
            if _cannot_be_named(path):
                raise OSError(
                    errno.EINVAL, "The filename, directory name, or volume label syntax is incorrect", path
                )
        if event in ("os.rename", "os.remove"):
            for path in values[: 2 if event == "os.rename" else 1]:
                if _is_open(path):
                    raise _busy(path)
        elif event == "os.symlink":
            raise OSError(errno.EPERM, "A required privilege is not held by the client", values[1])
    finally:
        _inside = False


_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_WATCHED = frozenset(("open", "os.rename", "os.remove", "os.mkdir", "os.symlink", "os.truncate"))


# Modules that ask which system this is


class _AskedAsWindows(importlib.machinery.SourceFileLoader):
    """Loads a module as it is on Windows: ``sys.platform`` is ``"win32"`` in it."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) and ast.unparse(node.left) == "sys.platform":
                node.left = ast.copy_location(ast.Constant("win32"), node.left)
        return compile(tree, path, "exec")

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__name__.endswith(".windows"):
            _give_names()
        super().exec_module(module)


class _Finder:
    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name not in ("shotad.core.system", "shotad.core.windows", "shotad.core.posix"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = _AskedAsWindows(name, spec.origin)
        return spec


def _give_names() -> None:
    """Names that only Windows has, with values that do the like here."""
    from multiprocessing import connection

    import psutil

    connection.PipeConnection = connection.Connection  # type: ignore[attr-defined]
    psutil.BELOW_NORMAL_PRIORITY_CLASS = 10
    memory_info = psutil.Process.memory_info

    def with_peak(self: Any) -> Any:
        return types.SimpleNamespace(**memory_info(self)._asdict(), peak_wset=memory_info(self).rss)

    # psutil's way to ask for several things at once
    with_peak.cache_activate = memory_info.cache_activate  # type: ignore[attr-defined]
    with_peak.cache_deactivate = memory_info.cache_deactivate  # type: ignore[attr-defined]
    psutil.Process.memory_info = with_peak


def _import(name: str, globals: Any = None, *more: Any, **named: Any) -> Any:  # noqa: A002
    if globals and str(globals.get("__file__") or "").startswith(_SHOTAD):
        if name.partition(".")[0] in _ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r} on Windows", name=name)
        if name == "winreg":
            return _Registry("winreg")
    return _imported(name, globals, *more, **named)


_imported = builtins.__import__


def install() -> None:
    """Begin to refuse. For good: what is hidden cannot come back."""
    hidden = _posix_names()
    instead: dict[str, dict[str, Any]] = {
        "os": {
            "kill": _kill,
            "open": _open,
            "write": _write,
            "close": _close,
            "O_BINARY": _BINARY,
            "name": "nt",
        },
        "signal": {
            "raise_signal": _raise_signal,
            "SIGBREAK": signal.SIGHUP,
            "CTRL_BREAK_EVENT": signal.SIGHUP,
        },
        "socket": {"SO_EXCLUSIVEADDRUSE": socket.SO_REUSEADDR},
    }
    import multiprocessing

    for module in (
        os,
        signal,
        socket,
        *map(sys.modules.get, ("select", "time", "mmap", "asyncio", "faulthandler")),
    ):
        if module is not None:
            _hide(module, hidden[module.__name__], instead.get(module.__name__, {}))
    _hide(ctypes, frozenset(), {"CDLL": _no_library, "WinDLL": _Kernel})
    _hide(multiprocessing, frozenset(), {"get_context": _context})
    _hide(stat, frozenset(), {"IO_REPARSE_TAG_MOUNT_POINT": 0xA0000003})
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # a folder is removed by names
    subprocess.Popen = _Popen  # type: ignore[misc]
    subprocess.CREATE_NEW_PROCESS_GROUP = _NEW_GROUP  # type: ignore[attr-defined]
    _end_workers_as_there()
    signal.signal(signal.SIGUSR1, _as_interrupted)
    os.environ["PATHEXT"] = ""  # programs have no endings here
    warnings.filterwarnings("error", category=EncodingWarning, module=r"shotad\b")
    builtins.__import__ = _import
    sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]
    sys.addaudithook(_watch)


if __name__ == "sitecustomize":
    install()
