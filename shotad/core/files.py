"""Read, append to, replace and remove files of a work folder and of other folders that we write.

A work folder may come from somebody else, so nothing in it is followed: a link, a named pipe or a device in
the place of one of our files is an error (`read_file`, `append_to_file`, `inner_folder`). The folder that a
person names may itself be a link. A held folder (`held_folder`) has to stay where it is: once it was renamed
or removed, every write raises an error, and none makes a second folder of that name.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from shotad.core.errors import WorkFolderError
from shotad.core.progress import printable
from shotad.core.redaction import redact_sent_secrets
from shotad.core.system import (
    BINARY,
    BUSY_FILE_HINT,
    LONGEST_PATH,
    is_link,
    is_running,
    kept_open,
    sync_folder,
    when_free,
)

_DO_NOT_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DO_NOT_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""Opening a named pipe would wait for its other end."""

_KIND_NAMES = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_file(path: Path, *, follow: bool = False) -> bytes:
    """The content of a file of ours. ``follow``: follow a link, for the path was named by a person.

    Raises FileNotFoundError, and WorkFolderError for anything but a plain file and for one that cannot be
    read.
    """
    with open_file(path, follow=follow) as file, as_work_folder_errors(path, "cannot be read"):
        return file.read()


def open_file(path: Path, *, follow: bool = False) -> BinaryIO:
    """A file of ours, open for reading. Raises as `read_file`."""
    flags = os.O_RDONLY | _DO_NOT_WAIT | BINARY
    if not follow:
        refuse_special(path)
        flags |= _DO_NOT_FOLLOW
    with as_work_folder_errors(path, "cannot be read"):
        try:
            descriptor = when_free(lambda: os.open(path, flags))
        except OSError as error:
            # A link or a socket that was put there after the check above.
            if error.errno in (errno.ELOOP, errno.ENXIO):
                refuse_special(path)
            raise
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            os.close(descriptor)
            raise _special_error(path, mode)
        return os.fdopen(descriptor, "rb")


def refuse_special(path: Path) -> None:
    """Raise WorkFolderError where ``path`` is a link, a folder, a pipe, a socket or a device.

    A plain file is fine, and so is a path where nothing is.
    """
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return  # opening it will say why it cannot be read
    if not stat.S_ISREG(mode):
        raise _special_error(path, mode)


def _special_error(path: Path, mode: int) -> WorkFolderError:
    """The error for a ``path`` of this ``mode`` (as in `os.lstat`), which is not that of a plain file."""
    kind = next((name for is_kind, name in _KIND_NAMES if is_kind(mode)), "no file")
    if kind == "a link":
        return _link_error(path)
    return WorkFolderError(f"{path} is {kind}, not a file.", "Move it away, and run again.")


def _link_error(path: Path) -> WorkFolderError:
    """The error for a ``path`` that is a link."""
    kind = "a link"
    with suppress(OSError):
        kind = f"a link to {printable(os.readlink(path))[:80]}"
    hint = "Nothing in a folder of ours is followed: put the file itself there, or delete the link."
    return WorkFolderError(f"{path} is {kind}.", hint)


def inner_folder(folder: Path, *names: str) -> Path:
    """The path ``folder/name/name…``; the folders need not exist yet.

    Raises WorkFolderError where one of them is a link or not a folder: what we write, list or remove there
    would be somewhere else.
    """
    for name in names:
        folder = folder / name
        try:
            status = os.lstat(folder)
        except OSError:
            continue  # opening it will say why it cannot be read
        if is_link(status):
            raise _link_error(folder)
        if not stat.S_ISDIR(status.st_mode):
            raise WorkFolderError(f"{folder} is a file, not a folder.", "Move it away, and run again.")
    return folder


def own_files(folder: Path, name: re.Pattern[str]) -> list[Path]:
    """The plain files in ``folder`` whose whole name matches ``name``, sorted: the files that we wrote.

    Empty where the folder is a link, is missing or cannot be read.
    """
    if folder.is_symlink():
        return []
    paths = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if name.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                paths.append(folder / entry.name)
    return sorted(paths)


def append_to_file(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Add ``data`` to the end of a file, all of it or nothing. ``durable``: return when it is on the disk.

    A file with a second name, by a hard link (some backups are made so), is replaced by a copy first: the
    other name keeps its content. Raises WorkFolderError.
    """
    refuse_special(path)
    check_held_folder(path)
    with as_work_folder_errors(path, _UNWRITABLE):
        with suppress(FileNotFoundError):
            if os.lstat(path).st_nlink > 1:
                _replace_by_copy(path)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _DO_NOT_FOLLOW | _DO_NOT_WAIT | BINARY
        descriptor = when_free(lambda: os.open(path, flags, 0o666))
        try:
            size = os.fstat(descriptor).st_size
            try:
                unwritten = memoryview(data)
                while unwritten:
                    unwritten = unwritten[os.write(descriptor, unwritten) :]
                if durable:
                    os.fsync(descriptor)
                    if size == 0:  # it may be new, so its name has to reach the disk as well
                        sync_folder(path.parent)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)


def _replace_by_copy(path: Path) -> None:
    """Replace a file by a copy of itself, which shares nothing with other hard links."""
    with replace_file(path) as part, open_file(path) as source, part.open("wb") as target:
        shutil.copyfileobj(source, target)


def remove_file(path: Path) -> None:
    """Remove a file, if it is there. Raises OSError."""
    when_free(lambda: path.unlink(missing_ok=True))


def truncate_file(path: Path, size: int) -> None:
    """Cut a file of ours to ``size`` bytes. Raises OSError, and WorkFolderError for what is no plain file."""
    refuse_special(path)
    if os.lstat(path).st_nlink > 1:
        _replace_by_copy(path)
    when_free(lambda: os.truncate(path, size))


def lock_file(path: Path, timeout: float) -> FileLock:
    """A lock by the file ``path``, not yet acquired; ``timeout`` in seconds.

    Raises WorkFolderError for anything but a plain file, and for a file that has another name and is not
    empty: some versions of the library empty it.
    """
    refuse_special(path)
    with suppress(OSError):
        status = os.lstat(path)
        if status.st_nlink > 1 and status.st_size:
            raise WorkFolderError(f"{path} is no lock of ours: there is something in it.", "Delete it.")
    return FileLock(path, timeout=timeout)


_FolderId = tuple[int, int]
"""Device and inode of a folder: they stay the same when it is renamed."""

_held_folders: dict[Path, _FolderId] = {}
"""The folders in use that must not be moved, by absolute path, each with the id it had at the start."""


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """Within the block, writes into ``folder`` fail when it was renamed, replaced or removed
    (`check_held_folder`).

    Other errors in the block are replaced by that one then: it is their cause. Raises WorkFolderError.
    """
    path = folder.absolute()
    folder_id = _folder_id(path)
    if folder_id is None:
        raise _moved_error(path)
    # Blocks for the same folder may be nested: only the outermost forgets it.
    is_outermost = path not in _held_folders
    with kept_open(path):
        _held_folders[path] = folder_id
        try:
            yield
        except Exception as error:
            moved_error = _moved_error(path)
            says_so = isinstance(error, WorkFolderError) and error.what == moved_error.what
            if _folder_id(path) != folder_id and not says_so:
                raise moved_error from error
            raise
        else:
            if _folder_id(path) != folder_id:
                raise _moved_error(path)
        finally:
            if is_outermost:
                _held_folders.pop(path, None)


def check_held_folder(path: Path) -> Path | None:
    """The held folder that ``path`` is in; None where it is in none.

    Raises WorkFolderError where that folder was renamed, removed or replaced by another since.
    """
    absolute = path.absolute()
    for folder in (absolute, *absolute.parents):
        folder_id = _held_folders.get(folder)
        if folder_id is not None:
            if _folder_id(folder) != folder_id:
                raise _moved_error(folder)
            return folder
    return None


def _folder_id(folder: Path) -> _FolderId | None:
    """Device and inode of a folder; None where it is missing or not a folder."""
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None


def _moved_error(folder: Path) -> WorkFolderError:
    return WorkFolderError(
        f"{folder} was renamed, removed or replaced while it was in use.",
        "What was done till then is in the folder under its new name: give it its name back, or name it as "
        "it is called now, and run again.",
    )


DRAFT = re.compile(r"\.(?P<name>.+)\.\d+\.part(?P<ending>\.\w+)")
"""Names of film files while they are written."""

_PART = re.compile(r"\.tmp-[0-9a-f]{8}-(?P<process>\d+)-.+")
"""Names of other files while they are written (`replace_file`)."""

_being_written: set[str] = set()
"""Names of the files that this process is writing now. Its number alone does not tell: in a container a
killed process may have had the same one."""


def write_text(path: Path, text: str) -> None:
    """Replace a text file whole, as `write_bytes`. Secrets that were sent to servers are struck out."""
    write_bytes(path, [redact_sent_secrets(text).encode("utf-8")])


def write_bytes(path: Path, parts: Iterable[bytes]) -> None:
    """Replace a file whole by the ``parts`` in order. Makes its folder where missing. Raises
    WorkFolderError."""
    with replace_file(path) as part, part.open("wb") as out:
        out.writelines(parts)


def remove_leftovers_beside(path: Path) -> None:
    """Remove temporary files of ``path`` that a killed run has left, and no others: the folder is not ours
    alone."""
    for leftover in path.parent.glob(f"{_prefix_of(path)}*"):
        remove_leftover(leftover)
    for leftover in path.parent.glob(".*.part.*"):
        draft = DRAFT.fullmatch(leftover.name)
        if draft is not None and f"{draft['name']}{draft['ending']}" == path.name:
            remove_leftover(leftover)


def remove_leftover(leftover: Path) -> None:
    """Remove a temporary file or folder, unless a living process is writing it or it cannot be removed.

    The process is read from the name. Files with other names, and drafts of films, are removed in any case:
    only the process that holds the folder writes them, and that is this one.
    """
    match = _PART.fullmatch(leftover.name)
    if match is not None and int(match["process"]) == os.getpid():
        if leftover.name in _being_written:
            return
    elif match is not None and is_running(int(match["process"])):
        return
    if leftover.is_dir() and not leftover.is_symlink():
        shutil.rmtree(leftover, ignore_errors=True)
    else:
        with suppress(OSError):
            remove_file(leftover)


def _prefix_of(path: Path) -> str:
    """The beginning of the names of temporary files that will replace ``path``."""
    return f".tmp-{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]}-"


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """A temporary file to write; after the block it replaces ``path``, once it is whole and on the disk.

    Raises WorkFolderError where that cannot be done; then ``path`` is as it was. A link of that name is
    replaced, and the file it leads to stays; anything else than a file or a link is refused.
    """
    with suppress(OSError):
        mode = os.lstat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            error = _special_error(path, mode)
            raise WorkFolderError(f"{path} cannot be written. {error.what}", error.hint)
    with as_work_folder_errors(path, _UNWRITABLE):
        make_folder(path.parent, path, _UNWRITABLE)
        try:
            part = _new_part_file(path)
        except FileNotFoundError as error:  # the folder takes no files, such as /proc
            check_held_folder(path)
            raise _missing_error(path, _UNWRITABLE, error) from None
        try:
            yield part
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            # The part was made for this user alone; now it gets the usual permissions. The mask can only be
            # read by setting it.
            mask = os.umask(0)
            os.umask(mask)
            part.chmod(0o666 & ~mask)
            when_free(lambda: part.replace(path))
            sync_folder(path.parent)
        finally:
            with suppress(OSError):  # on a disk that has become read-only nothing can be removed
                remove_file(part)
            _being_written.discard(part.name)


def make_folder(folder: Path, path: Path, trouble: str) -> None:
    """Make ``folder``, which ``path`` is to be in, with the folders above it. ``trouble``: as in
    `as_work_folder_errors`.

    A held folder that was moved is not made again. Raises WorkFolderError.
    """
    held = check_held_folder(folder)
    try:
        if held is None:
            folder.mkdir(parents=True, exist_ok=True)
        else:
            # One by one below the held folder: `parents` would make that one again, if it vanished just now.
            inner = held
            for name in folder.absolute().relative_to(held).parts:
                inner = inner / name
                inner.mkdir(exist_ok=True)
    except FileNotFoundError as error:
        # Some systems, as in /proc, say so of the folder above although it is there.
        check_held_folder(path)
        raise _missing_error(path, trouble, error) from None


def _new_part_file(path: Path) -> Path:
    """A new empty file beside ``path``, which it will replace; its name holds the number of this process."""
    while True:
        part = path.with_name(f"{_prefix_of(path)}{os.getpid()}-{secrets.token_hex(4)}")
        _being_written.add(part.name)
        try:
            os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            continue
        except OSError:
            _being_written.discard(part.name)
            raise
        return part


_UNWRITABLE = "cannot be written"
_ANOTHER_FOLDER = "another folder (--out)"
_BUSY = "Too much is open in this program or on this machine just now: try again in a moment."
_OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_DISK_TROUBLE = {
    errno.ENOSPC: "The disk is full: free some space and run again; what is done is kept.",
    errno.EDQUOT: "Your disk quota is used up: free some space and run again; what is done is kept.",
    errno.EFBIG: "Files may not become so large there (see ulimit -f): allow larger ones and run again; what "
    "is done is kept.",
    errno.EIO: "The disk cannot be read or written any more: check it, and run again; what is done is kept.",
}
# Hints by error number: what may be gone at the next try, and what will not be.
_PASSING = {**dict.fromkeys(_OUT_OF_RESOURCES, _BUSY), **_DISK_TROUBLE}
_LASTING = {
    errno.EACCES: f"You have no permission there: name {_ANOTHER_FOLDER}.",
    errno.EPERM: f"You have no permission there: name {_ANOTHER_FOLDER}.",
    errno.EROFS: f"That place is read-only: make it writable and run again, or name {_ANOTHER_FOLDER}; what "
    "is done is kept.",
    errno.ENOTDIR: f"There is a file where the folder should be: name {_ANOTHER_FOLDER}.",
    errno.EEXIST: f"There is a file where the folder should be: name {_ANOTHER_FOLDER}.",
}


@contextmanager
def as_work_folder_errors(path: Path, trouble: str) -> Iterator[None]:
    """Turn errors of the system in the block into WorkFolderError: "``path`` ``trouble``: reason".

    A missing file stays FileNotFoundError, and a lock that was not got stays Timeout.
    """
    try:
        yield
    except Timeout:
        raise
    except FileNotFoundError as error:
        check_held_folder(path)
        if trouble == _UNWRITABLE and len(str(path.absolute())) > LONGEST_PATH:
            raise _missing_error(path, trouble, error) from None
        if trouble == _UNWRITABLE and not path.parent.is_dir():
            raise WorkFolderError(
                f"{path} {trouble}: its folder was renamed or removed.", "Put it back, and run again."
            ) from None
        raise
    except OSError as error:
        check_held_folder(path)
        raise disk_error(error, f"{path} {trouble}") from None


def _missing_error(path: Path, trouble: str, error: FileNotFoundError) -> WorkFolderError:
    """The error where nothing can be made at ``path`` although its folder seems to be there."""
    length = len(str(path.absolute()))
    if length <= LONGEST_PATH:
        return WorkFolderError(f"{path} {trouble}: {error.strerror}.", f"Name {_ANOTHER_FOLDER}.")
    return WorkFolderError(
        f"{path} {trouble}: the path has {length} characters, and this system takes {LONGEST_PATH}.",
        f"Name {_ANOTHER_FOLDER} with a shorter path, or switch on long paths in Windows.",
    )


def disk_error(error: OSError, problem: str) -> WorkFolderError:
    """The WorkFolderError for an error of the system: ``problem`` says what went wrong, the reason, and what
    to do.
    """
    code = error.errno or 0
    hint = (_LASTING | _PASSING).get(code, f"Name {_ANOTHER_FOLDER}.")
    if isinstance(error, PermissionError):
        hint = f"{BUSY_FILE_HINT} {hint}".strip()
    return WorkFolderError(f"{problem}: {error.strerror or error}.", hint, again=code not in _LASTING)


def is_busy(error: BaseException) -> bool:
    """Whether an error says that the process or the system is out of file descriptors or memory just now."""
    return isinstance(error, OSError) and error.errno in _OUT_OF_RESOURCES


def is_disk_error(error: BaseException) -> bool:
    """Whether an error says that a disk is full, read-only or broken."""
    return isinstance(error, OSError) and error.errno in (*_DISK_TROUBLE, errno.EROFS)
