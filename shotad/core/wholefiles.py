"""Files that are replaced whole, by a temporary one and a rename; and what a killed run leaves of that."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import Timeout

from shotad.core.errors import WorkFolderError

Json = Mapping[str, Any]

DRAFT = re.compile(r"\.(?P<name>.+)\.\d+\.part(?P<ending>\.\w+)")
"""Names of films while they are written."""

_PART = re.compile(r"\.tmp-[0-9a-f]{8}-(?P<process>\d+)-.+")
"""Names of other files while they are written (`replacing`)."""

_writing: set[str] = set()
"""Files that this very process is writing: its number alone may be that of a killed one, in a container."""


def write_text(path: Path, text: str) -> None:
    """Replace a text file whole, see `write_bytes`."""
    write_bytes(path, [text.encode("utf-8")])


def write_bytes(path: Path, parts: Iterable[bytes]) -> None:
    """Replace a file whole. Its folder is made where it is missing. Raises WorkFolderError."""
    with replacing(path) as part, part.open("wb") as out:
        out.writelines(parts)


def sweep_beside(path: Path) -> None:
    """Remove what a killed run has left of writing ``path``, in a folder that is not ours alone."""
    for leftover in path.parent.glob(f"{_prefix_of(path)}*"):
        sweep(leftover)
    for leftover in path.parent.glob(".*.part.*"):
        draft = DRAFT.fullmatch(leftover.name)
        if draft is not None and f"{draft['name']}{draft['ending']}" == path.name:
            sweep(leftover)


def sweep(leftover: Path) -> None:
    """Remove a temporary file or folder, unless a living process is writing it or it cannot be removed.

    The process is told from the name. Other names, and drafts of films, are of who holds the folder alone.
    """
    if _is_being_written(leftover):
        return
    if leftover.is_dir() and not leftover.is_symlink():
        shutil.rmtree(leftover, ignore_errors=True)
    else:
        with suppress(OSError):
            leftover.unlink()


def _is_being_written(file: Path) -> bool:
    named = _PART.fullmatch(file.name)
    if named is None:
        return False
    process = int(named["process"])
    if process == os.getpid():
        return file.name in _writing
    return _is_alive(process)


def _is_alive(process: int) -> bool:
    """Whether a process of this machine runs. On Windows that is not asked: open files stay by themselves."""
    if os.name == "nt":
        return False
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _prefix_of(path: Path) -> str:
    """With which temporary files begin that are to become ``path``."""
    return f".tmp-{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]}-"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write in place of ``path``, which takes that name only when it is whole and on the disk.

    Raises WorkFolderError where that cannot be done; what was there before is then still there.
    """
    with explained(path, "cannot be written"):
        make_folder(path.parent, path, "cannot be written")
        try:
            part = _begun(path)
        except FileNotFoundError as error:  # of a place that takes no files
            raise WorkFolderError(
                f"{path} cannot be written: {error.strerror}.", f"Name {_ANOTHER}."
            ) from None
        try:
            yield part
            with part.open("rb+") as written:
                os.fsync(written.fileno())
            part.chmod(0o666 & ~_umask())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
            _writing.discard(part.name)


def make_folder(folder: Path, path: Path, trouble: str) -> None:
    """Make a folder for ``path``; in some places the system says that even the folder above is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileNotFoundError as error:
        raise WorkFolderError(f"{path} {trouble}: {error.strerror}.", f"Name {_ANOTHER}.") from None


def _begun(path: Path) -> Path:
    """An empty file that is to become ``path``; its name says who writes it."""
    while True:
        part = path.with_name(f"{_prefix_of(path)}{os.getpid()}-{secrets.token_hex(4)}")
        _writing.add(part.name)
        try:
            os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            continue
        except OSError:
            _writing.discard(part.name)
            raise
        return part


def readable_json(value: Json) -> str:
    """JSON for people: one line for each top-level value, and one for each record of a list."""
    parts = []
    for key, inner in value.items():
        if isinstance(inner, list) and inner and isinstance(inner[0], (dict, list)):
            rows = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in inner)
            parts.append(f"  {json.dumps(key)}: [\n{rows}\n  ]")
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(inner, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_ANOTHER = "another folder (--out, where the command takes it)"
_PASSING = {
    errno.ENOSPC: "The disk is full: free some space and run again; what is done is kept.",
    errno.EDQUOT: "Your disk quota is used up: free some space and run again; what is done is kept.",
}
_LASTING = {
    errno.EACCES: f"You have no permission there: name {_ANOTHER}.",
    errno.EPERM: f"You have no permission there: name {_ANOTHER}.",
    errno.EROFS: f"That place is read-only: name {_ANOTHER}.",
    errno.ENOTDIR: f"There is a file where the folder should be: name {_ANOTHER}.",
    errno.EEXIST: f"There is a file where the folder should be: name {_ANOTHER}.",
}


@contextmanager
def explained(path: Path, trouble: str) -> Iterator[None]:
    """Turn the system's errors into ours; a missing file stays FileNotFoundError."""
    try:
        yield
    except (FileNotFoundError, Timeout):
        raise
    except OSError as error:
        number = error.errno or 0
        hint = (_LASTING | _PASSING).get(number, f"Name {_ANOTHER}.")
        again = number not in _LASTING
        raise WorkFolderError(f"{path} {trouble}: {error.strerror}.", hint, again=again) from None
