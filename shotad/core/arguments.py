"""What callers pass to the public functions, checked: a UsageError names the argument and says what it takes.

One kind of error for all of it, also where Python itself would raise TypeError: who calls a function catches
ShotadError and shows its text.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable
from pathlib import Path

from shotad.core.cancellation import CancelToken
from shotad.core.errors import UsageError, quoted
from shotad.core.file_names import is_too_long

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
"""How an address begins. A drive of Windows has one letter."""

_GIVE_PATH = "Give the name of a file or a folder, as a string or a Path."


def optional_path(name: str, value: object) -> Path | None:
    """The path given for the argument ``name``, or None. Raises UsageError for everything else."""
    return None if value is None else path_of(name, value)


def path_of(name: str, value: object) -> Path:
    """The path given for the argument ``name``. Raises UsageError for what is none, and for an address."""
    if isinstance(value, bytes | bytearray | memoryview):
        raise UsageError(
            f"{name} holds {memoryview(value).nbytes} bytes, and not a path.",
            "Write the content to a file first, and give its name as a string or a Path.",
        )
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise UsageError(f"{name} = {quoted(value)} is not a path.", _hint_for(value))
    text = str(os.fspath(value))
    if not text or "\0" in text:
        raise UsageError(f"{name} = {quoted(text)} is not a path.", "Name a file or a folder.")
    if _ADDRESS.match(text):
        raise UsageError(
            f"{name} = {quoted(text)} is an address, not a path.",
            "Download it, and give the name of the file.",
        )
    refuse_too_long(Path(text), f"{name} = ")
    return Path(text)


def refuse_too_long(path: Path, argument: str = "") -> None:
    """Raise UsageError where no file can have this path; ``argument`` (``film = ``) begins the message."""
    if is_too_long(path):
        text = str(path)
        raise UsageError(
            f"{argument}{quoted(text)} is too long for the name of a file: it has {len(text)} characters.",
            "Give the name of a file, not its text; or a shorter name.",
        )


def _hint_for(value: object) -> str:
    if hasattr(value, "read"):
        file_name = getattr(value, "name", None)
        if isinstance(file_name, str) and file_name:
            return f"It is an open file; give its name, {quoted(file_name)}."
        return "It is an open file without a name. Write the content to a file first, and give its name."
    if isinstance(value, list | tuple | set | frozenset):
        return "Give one path. For several films, call the function for each of them."
    return _GIVE_PATH


def optional_text(name: str, value: object) -> str | None:
    """The text given for the argument ``name``, or None. Raises UsageError for everything else."""
    return None if value is None else text_of(name, value)


def text_of(name: str, value: object) -> str:
    """The text given for the argument ``name``. Raises UsageError for what is none."""
    if not isinstance(value, str):
        raise UsageError(f"{name} = {quoted(value)} is not a string.", "Give a string.")
    return value


def names_of(name: str, value: object, hint: str) -> list[str]:
    """The names given for the argument ``name``: several strings, or one with commas. Raises UsageError."""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, Iterable) or isinstance(names, bytes):
        raise UsageError(f"{name} = {quoted(value)} are not names.", hint)
    listed = list(names)
    if not all(isinstance(entry, str) for entry in listed):
        raise UsageError(f"{name} = {quoted(value)} are not names.", hint)
    return [entry.strip() for entry in listed]


def flag_of(name: str, value: object) -> bool:
    """The flag given for the argument ``name``. Raises UsageError for what is neither true nor false."""
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise UsageError(f"{name} = {quoted(value)} is neither True nor False.", "Give one of them.")


def check_progress(value: object) -> None:
    """Raise UsageError where ``progress`` is neither a flag nor has the methods of `Progress`."""
    if isinstance(value, bool):
        return
    methods = [getattr(value, name, None) for name in ("task", "note")]
    if isinstance(value, type) or not all(map(callable, methods)):
        raise UsageError(
            f"progress = {quoted(value)} cannot show progress.",
            "Give True, False, or an object with the methods task and note (shotad.Progress).",
        )


def check_token(value: object) -> None:
    """Raise UsageError where ``cancel`` is neither None nor a token."""
    if value is not None and not isinstance(value, CancelToken):
        raise UsageError(f"cancel = {quoted(value)} is not a token.", "Give a shotad.CancelToken().")


def check_callback(name: str, value: object) -> None:
    """Raise UsageError where the argument ``name`` is neither None nor a function that can be called."""
    if value is None:
        return
    if inspect.iscoroutinefunction(value):
        raise UsageError(
            f"{name} is an async function, and nothing awaits it.",
            "Give a plain function, such as one that calls asyncio.run_coroutine_threadsafe.",
        )
    if not callable(value):
        raise UsageError(f"{name} = {quoted(value)} cannot be called.", "Give a function of one argument.")
