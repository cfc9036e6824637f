"""Which settings a file may choose that travels with films, and which files are the user's own.

A settings file that lies beside a film, or the ``settings.json`` of a work folder, may come from anybody.
Such a file never decides where something is sent, with which key, which program or class is run, which
weights are loaded, or which file outside its own folder is read. Settings that decide this are marked
`UserOnly` where they are defined; every other setting that holds text is marked `ANY_FILE`.

The user's own files are told from others in two ways: they lie in a folder that the user trusts
(``shotad doctor --trust FOLDER``), or, of a work folder, its settings bear a seal that only this user on this
machine can make. Both are kept in the user's configuration folder.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import typing
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel

from shotad.core.errors import ConfigError, UsageError
from shotad.core.files import remove_file
from shotad.core.progress import address_without_secrets
from shotad.core.settings import Settings, build_settings


@dataclass(frozen=True, slots=True)
class UserOnly:
    """Marks a setting that only the user may choose: on the command line, or in a file that is the user's.

    ``harmless`` is a pattern of values that any file may choose all the same. ``inside``: so is a path that
    lies within the folder of the file.
    """

    harmless: str = ""
    inside: bool = False

    def allows(self, value: Any, folder: Path | None) -> bool:
        """Whether a file in ``folder`` may choose this value; None: a folder that is not on this machine."""
        if isinstance(value, (list, tuple)):
            return all(self.allows(item, folder) for item in value)
        if not isinstance(value, str):
            return False
        if self.harmless and re.fullmatch(self.harmless, value):
            return True
        return self.inside and folder is not None and is_inside(value, folder)


@dataclass(frozen=True, slots=True)
class AnyFile:
    """Marks a setting of text that any file may choose: whatever it says, nothing is sent, run or read."""


ANY_FILE = AnyFile()

LOCAL_ENGINES = "fake|observer|narrator|qwen2-vl|llama3"
"""Engines that send nothing: their models run in this process."""
LOCAL_PRESETS = "fake|embedded|paper|small"
"""Presets of such engines. ``auto`` is none: it may be a server that the user chose."""
PLAIN_NAME = r"\w[\w.:-]*"
"""A model by its name alone: no repository of a hub and no folder."""

Marker = UserOnly | AnyFile


def setting_marks(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Marker | None]]:
    """Each setting that can hold text by its dotted name, with its mark; None where it has none."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from setting_marks(kind, f"{prefix}{name}.")
            continue
        marker = next((mark for mark in field.metadata if isinstance(mark, Marker)), None)
        if marker is not None or _holds_text(kind):
            yield f"{prefix}{name}", marker


def _holds_text(kind: Any) -> bool:
    if kind in (str, Any) or (isinstance(kind, type) and issubclass(kind, os.PathLike)):
        return True
    if typing.get_origin(kind) is Literal:
        return False
    return any(_holds_text(part) for part in typing.get_args(kind))


def foreign_choices(before: Settings, after: Settings, folder: Path | None) -> dict[str, Any]:
    """What a file in ``folder`` chose that it may not, by dotted name: ``before`` are the settings without
    the file, ``after`` those with it."""
    chosen: dict[str, Any] = {}
    for name, marker in setting_marks(type(after)):
        if not isinstance(marker, UserOnly):
            continue
        value = _value_of(after, name)
        if value != _value_of(before, name) and not marker.allows(value, folder):
            chosen[name] = value
    return chosen


def _value_of(settings: Settings, dotted: str) -> Any:
    value: Any = settings
    for part in dotted.split("."):
        value = getattr(value, part)
    return value


def without_foreign(before: Settings, after: Settings, foreign: Mapping[str, Any]) -> Settings:
    """``after``, with the values of ``before`` for the settings named in ``foreign``."""
    tree = after.model_dump(mode="json")
    for dotted in foreign:
        *groups, last = dotted.split(".")
        inner = tree
        for group in groups:
            inner = inner[group]
        value = _value_of(before, dotted)
        inner[last] = list(value) if isinstance(value, tuple) else value
    return build_settings(type(after), tree)


def choices_text(choices: Mapping[str, Any]) -> str:
    """``engine = 'openai', openai.base_url = 'https://…'``: values without passwords, cut at 80 letters."""
    shown = {name: _shortened(address_without_secrets(repr(value))) for name, value in choices.items()}
    return ", ".join(f"{name} = {value}" for name, value in shown.items())


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"


def refuse_foreign(before: Settings, after: Settings, file: str, folder: str) -> None:
    """Raises ConfigError where ``file``, which lies in ``folder`` (a path or an address), chose a setting
    that only the user may choose."""
    local = None if _is_address(folder) else Path(folder)
    chosen = foreign_choices(before, after, local)
    if chosen:
        raise ConfigError(
            f"{file} sets {choices_text(chosen)}: a file that comes with a film may not choose that.",
            "Take it out, or set it on the command line (--set, --config). If all settings in that folder "
            f"are your own: shotad doctor --trust {folder}",
        )


def user_folder() -> Path:
    """The user's own configuration folder: ``SHOTAD_CONFIG``, else where the system keeps such."""
    return Path(os.environ.get("SHOTAD_CONFIG") or platformdirs.user_config_dir("shotad"))


_TRUSTED = "trusted"
"""The file that lists trusted folders, one a line."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")


def _is_address(place: str) -> bool:
    return _ADDRESS.match(place) is not None


def trusted_folders() -> tuple[str, ...]:
    """The folders that the user trusts, as paths or addresses."""
    try:
        text = (user_folder() / _TRUSTED).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ()
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def trust(folder: str) -> None:
    """Trust a folder, with all below it, from now on. Raises UsageError for what is no folder."""
    if not _is_address(folder) and not Path(folder).is_dir():
        raise UsageError(f"There is no folder {folder} to trust.", "Name a folder, or an address of one.")
    place = _spelled(folder)
    if place not in trusted_folders():
        _write_trusted((*trusted_folders(), place))


def distrust(folder: str) -> None:
    """Trust a folder no longer. Raises UsageError where it was not trusted by itself."""
    place = _spelled(folder)
    folders = trusted_folders()
    if place not in folders:
        listed = f"Trusted: {', '.join(folders)}." if folders else "No folder is trusted."
        raise UsageError(f"{folder} is not among the trusted folders.", listed)
    _write_trusted(tuple(trusted for trusted in folders if trusted != place))


def _write_trusted(folders: tuple[str, ...]) -> None:
    file = user_folder() / _TRUSTED
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{folder}\n" for folder in folders), encoding="utf-8")
    except OSError as error:
        problem = f"{file} cannot be written: {error.strerror}."
        raise ConfigError(problem, "Set SHOTAD_CONFIG to a folder of yours.", usage=False) from None


def _spelled(folder: str) -> str:
    """A folder as the list has it: links followed; an address without its last slash."""
    return folder.rstrip("/") if _is_address(folder) else str(Path(folder).resolve())


def is_trusted(place: str | os.PathLike[str]) -> bool:
    """Whether a file or folder lies in a folder that the user trusts, once links are followed: a link in a
    trusted folder makes nothing trusted that lies elsewhere, and a link elsewhere is not to be trusted for
    what it points to."""
    text = os.fspath(place)
    folders = trusted_folders()
    if _is_address(text):
        if ".." in text.split("/"):  # what that means to a store nobody knows
            return False
        addresses = [folder for folder in folders if _is_address(folder)]
        return any(text == address or text.startswith(f"{address}/") for address in addresses)
    paths = [Path(folder) for folder in folders if not _is_address(folder)]
    if Path(text).is_symlink() and not any(is_inside(Path(text).parent, path) for path in paths):
        return False
    return any(is_inside(text, path) for path in paths)


def is_inside(path: str | os.PathLike[str], folder: Path) -> bool:
    """Whether a path is ``folder`` or lies in it, once links are followed."""
    try:
        return Path(path).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


_SEAL_KEY = "seal.key"


def sealed(purpose: str, values: Any) -> str | None:
    """A seal over JSON values that only this user on this machine can make; None where the user's
    configuration folder cannot be written."""
    key = _seal_key(make=True)
    return None if key is None else _seal(key, purpose, values)


def bears_seal(seal: Any, purpose: str, values: Any) -> bool:
    """Whether ``seal`` was made by `sealed` over the same purpose and values."""
    key = _seal_key(make=False)
    if key is None or not isinstance(seal, str):
        return False
    return hmac.compare_digest(_seal(key, purpose, values).encode(), seal.encode("utf-8", "replace"))


def _seal(key: bytes, purpose: str, values: Any) -> str:
    text = json.dumps([purpose, values], sort_keys=True, ensure_ascii=True)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _seal_key(*, make: bool) -> bytes | None:
    """The secret by which seals are made, of 32 bytes; it never leaves the user's configuration folder."""
    file = user_folder() / _SEAL_KEY
    with suppress(OSError):
        key = file.read_bytes()
        return key if len(key) >= 32 else None
    if not make:
        return None
    # Written whole beside it first: of two processes that begin at once, both read the same key.
    part = file.with_name(f"{_SEAL_KEY}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as out:
            out.write(secrets.token_bytes(32))
        with suppress(FileExistsError):
            os.link(part, file)
        key = file.read_bytes()
    except OSError:
        return None
    finally:
        with suppress(OSError):
            remove_file(part)
    return key if len(key) >= 32 else None
