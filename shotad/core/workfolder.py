"""The work folder: what has been done for one film, readable by people, safe against being killed.

Whole files are replaced by a temporary file and a rename; records that come one by one are lines of
a ``.jsonl`` file, each on the disk before the next begins. Every record carries a key, the hash of
all that changes it, so that a second run goes on where the first stopped and redoes only what a
change makes stale. Records hold no clock times; ``log.txt`` does.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from shotad.core.errors import InUse, WorkFolderError
from shotad.core.progress import is_text, printable
from shotad.core.records import record_in, whole_record

_LOCK = ".lock"

_LONGEST_STEM = 200
"""Bytes of a film's name that names of files take over: 255 are what most disks take for a whole name."""


def key_of(*parts: Any) -> str:
    """Hash of JSON values: 16 hex digits, the same for the same values on every machine."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def work_folder_of(film: str | os.PathLike[str]) -> Path:
    """The folder beside the film: ``movie.mp4 → movie.shotad``."""
    path = Path(film)
    return path.with_name(f"{_cut(path.name) if path.is_dir() else stem_of(path.name)}.shotad")


def stem_of(name: str) -> str:
    """What files made for a film called ``name`` begin with: its name without the ending, cut at 200 bytes,
    so that there is room for what comes after."""
    return _cut(Path(name).stem or name)


def _cut(name: str) -> str:
    data = os.fsencode(name)
    return name if len(data) <= _LONGEST_STEM else data[:_LONGEST_STEM].decode(errors="ignore").rstrip()


class WorkFolder:
    """An open work folder, held by one process at a time."""

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path = path
        self._force = force
        self._fresh: set[str] = set()
        self._lock = FileLock(path / _LOCK, timeout=0)

    def __enter__(self) -> Self:
        if not is_text(str(self.path.absolute())):
            raise WorkFolderError(
                f"The name of the work folder {printable(str(self.path))} is not in UTF-8.",
                "Name another folder (--out, where the command takes it).",
            )
        with explained(self.path, "cannot be made"):
            make_folder(self.path, self.path, "cannot be made")
        try:
            with explained(self.path, "cannot be written"):
                self._lock.acquire()
        except Timeout:
            raise InUse(
                f"The work folder {self.path} is in use by another shotad.", "Wait until that is done."
            ) from None
        # Remove temporary files and folders that a killed run has left, here and up to two folders deeper.
        # Those of living processes stay: a page that is open writes beside a run, without holding the folder.
        for pattern in (".tmp-*", "*/.tmp-*", "*/*/.tmp-*", ".*.part.*"):
            for leftover in self.path.glob(pattern):
                above = leftover.relative_to(self.path).parents
                if any((self.path / one).is_symlink() for one in above if one.name):
                    continue  # another's folder, only linked here
                if pattern != ".*.part.*" or DRAFT.fullmatch(leftover.name):
                    sweep(leftover)
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def step(self, name: str, key: str, make: Callable[[], Json]) -> dict[str, Any]:
        """The record of a step, made by ``make`` unless one with the same key is there.

        Kept in ``NAME.json``; returned as read back from JSON, so that a fresh and a resumed run see
        the same values.
        """
        if (found := self.known(name, key)) is None:
            self.write_json(f"{name}.json", {"key": key, **make()})
            found = self.read_json(f"{name}.json")
        if found is None:
            raise WorkFolderError(
                f"{self.path / name}.json vanished while it was in use.", "Run again.", again=True
            )
        return found

    def known(self, name: str, key: str) -> dict[str, Any] | None:
        """What ``NAME.json`` holds, if it has this key and the run was not told to redo everything."""
        found = None if self._is_forced(name) else self.read_json(f"{name}.json")
        self._fresh.add(name)
        return found if found is not None and found.get("key") == key else None

    def log_of_records(self, name: str) -> RecordLog:
        """The records of ``NAME.jsonl``; empty where the run was told to redo everything."""
        log = RecordLog(self.path / f"{name}.jsonl", discard=self._is_forced(name))
        if log.damaged:
            self.note(f"{name}.jsonl: {log.damaged} damaged records left out")
        return log

    def read_json(self, name: str) -> dict[str, Any] | None:
        """The content of a JSON file, or None where it is missing. Raises as `read_record`."""
        return read_record(self.path / name)

    def write_json(self, name: str, value: Json) -> None:
        """Replace a JSON file whole; lists of records get one line each."""
        self.write_text(name, readable_json(value))

    def write_text(self, name: str, text: str) -> None:
        """Replace a text file whole."""
        write_text(self.path / name, text)

    def note(self, text: str) -> None:
        """Add one line with the time of day to ``log.txt``."""
        stamp = datetime.now(UTC).isoformat(timespec="seconds")
        with (
            explained(self.path, "cannot be written"),
            (self.path / "log.txt").open("a", encoding="utf-8") as log,
        ):
            log.write(f"{stamp} {text}\n")

    def _is_forced(self, name: str) -> bool:
        return self._force and name not in self._fresh


class RecordLog:
    """Records that come one by one, found again by key. Lines that are damaged or half written are left out.

    What is not of this run and yet worth keeping lies aside, in ``NAME.aside.jsonl``.
    """

    def __init__(self, path: Path, *, discard: bool = False) -> None:
        self._path, self._aside = path, path.with_suffix(".aside.jsonl")
        self._records: dict[str, dict[str, Any]] = {}
        self.damaged = 0
        """How many lines were left out."""
        for file in (self._aside, self._path):
            if discard:
                file.unlink(missing_ok=True)
                continue
            try:
                with explained(file, "cannot be read"):
                    raw = file.read_bytes()
            except FileNotFoundError:
                continue
            whole, newline, rest = raw.rpartition(b"\n")
            for line in whole.splitlines():
                record = whole_record(file.name, line)
                if record is not None and isinstance(record.get("key"), str):
                    self._records[record["key"]] = record
                elif line.strip():
                    self.damaged += 1
            if rest or (raw and not newline):
                write_text(file, (whole + newline).decode("utf-8", "replace"))

    def get(self, key: str) -> dict[str, Any] | None:
        """The record with this key, or None."""
        return self._records.get(key)

    def record(self, key: str) -> dict[str, Any]:
        """The record with this key, which must be there."""
        return self._records[key]

    def records(self) -> tuple[dict[str, Any], ...]:
        """All records, those written last at the end."""
        return tuple(self._records.values())

    def add(self, key: str, record: Json) -> dict[str, Any]:
        """Write the record out, at once; it is returned as it reads back.

        Raises WorkFolderError; nothing of the record is left then: a later one has its line to itself.
        """
        line, path = _line({"key": key, **record}), self._path
        with explained(path, "cannot be written"):
            before = path.stat().st_size if path.exists() else 0
            try:
                with path.open("ab") as out:
                    out.write(line.encode())
                    out.flush()
                    os.fsync(out.fileno())
            except OSError:
                with suppress(OSError):
                    os.truncate(path, before)
                raise
        self._records[key] = json.loads(line)
        return self._records[key]

    def keep(self, keys: Iterable[str], spare: Callable[[Json], object] = lambda _: None) -> None:
        """Rewrite the file with just these records, in this order; stale ones go.

        ``spare`` names what others are kept for, aside: of those with the same name the last. None: it goes.
        """
        kept = {key: self._records[key] for key in dict.fromkeys(keys) if key in self._records}
        named = ((spare(record), record) for key, record in self._records.items() if key not in kept)
        aside = {name: record for name, record in named if name is not None}
        if aside or self._aside.exists():
            write_text(self._aside, "".join(map(_line, aside.values())))
        write_text(self._path, "".join(map(_line, kept.values())))


def _line(record: Json) -> str:
    return json.dumps(record, ensure_ascii=False, default=plain) + "\n"


def plain(value: Any) -> Any:
    """What JSON has no word for, of settings and numpy, as what it has."""
    if hasattr(value, "with_former"):
        return value.with_former()
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no JSON value")


_MEND = "Correct it there, or delete the file: shotad describe makes it again."


def read_record(path: Path, hint: str = _MEND) -> dict[str, Any] | None:
    """The content of a JSON file of a work folder; None where there is no such file.

    Raises WorkFolderError, with the place, where it is damaged: it may hold a person's work.
    """
    try:
        with explained(path, "cannot be read"):
            data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return record_in(path.name, data)
    except ValueError as trouble:
        raise WorkFolderError(f"{path} is damaged: {trouble}.", hint) from None


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
    named = _PART.fullmatch(leftover.name)
    if named is not None and int(named["process"]) == os.getpid():
        if leftover.name in _writing:
            return
    elif named is not None:
        try:
            os.kill(int(named["process"]), 0)
            return  # it is alive
        except PermissionError:
            return
        except (OSError, OverflowError):
            pass
    if leftover.is_dir() and not leftover.is_symlink():
        shutil.rmtree(leftover, ignore_errors=True)
    else:
        with suppress(OSError):
            leftover.unlink()


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
            mask = os.umask(0)
            os.umask(mask)
            part.chmod(0o666 & ~mask)
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


_ANOTHER = "another folder (--out, where the command takes it)"
_BUSY = "Too much is open in this program or on this machine just now: try again in a moment."
_OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_PASSING = {
    **dict.fromkeys(_OUT_OF_RESOURCES, _BUSY),
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


def is_busy(error: BaseException) -> bool:
    """Whether an error says that the process or the system has no files or no memory left for the moment."""
    return isinstance(error, OSError) and error.errno in _OUT_OF_RESOURCES


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
