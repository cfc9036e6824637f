"""The files of a work folder, and of other folders that we write: read, added to, replaced and removed so
that nothing outside them is touched and nothing is lost.

A work folder may come from somebody else, so nothing in it is followed: a link, a named pipe or a device in
the place of one of our files is refused (`read_file`, `append`, `inner_folder`). The folder that a person
names may itself be a link. A folder that is held (`held_folder`) has to stay where it is: once it was renamed
or removed, every write says so, and none makes a second folder of that name.
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
from shotad.core.redaction import without_sent_secrets

_NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0)
_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""Opening a named pipe would wait for its other end."""

_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_file(path: Path, *, follow: bool = False) -> bytes:
    """The content of a file of ours. ``follow``: a link that a person named is followed.

    Raises FileNotFoundError, and WorkFolderError for what is no plain file or cannot be read.
    """
    with open_file(path, follow=follow) as file, explained(path, "cannot be read"):
        return file.read()


def open_file(path: Path, *, follow: bool = False) -> BinaryIO:
    """A file of ours, open for reading. Raises as `read_file`."""
    flags = os.O_RDONLY | _WITHOUT_WAITING
    if not follow:
        refuse_special(path)
        flags |= _NOT_FOLLOWED
    with explained(path, "cannot be read"):
        try:
            number = os.open(path, flags)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):  # a link or a socket that came just now
                refuse_special(path)
            raise
        mode = os.fstat(number).st_mode
        if not stat.S_ISREG(mode):
            os.close(number)
            raise _special(path, mode)
        return os.fdopen(number, "rb")


def refuse_special(path: Path) -> None:
    """Raise WorkFolderError where a link, a folder, a pipe, a socket or a device has the name of a file of
    ours. Nothing at all is fine."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return  # whoever opens it is told why it cannot be
    if not stat.S_ISREG(mode):
        raise _special(path, mode)


def _special(path: Path, mode: int) -> WorkFolderError:
    kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "no file")
    if kind == "a link":
        with suppress(OSError):
            kind = f"a link to {printable(os.readlink(path))[:80]}"
        hint = "Nothing in a folder of ours is followed: put the file itself there, or delete the link."
        return WorkFolderError(f"{path} is {kind}.", hint)
    return WorkFolderError(f"{path} is {kind}, not a file.", "Move it away, and run again.")


def inner_folder(folder: Path, *names: str) -> Path:
    """The folder ``names`` below ``folder``, which need not be there yet.

    Raises WorkFolderError where a link, or what is no folder, has the name of one of them: what we write,
    list or remove there would be somewhere else.
    """
    for name in names:
        folder = folder / name
        try:
            mode = os.lstat(folder).st_mode
        except OSError:
            continue  # whoever opens it is told why it cannot be
        if stat.S_ISLNK(mode):
            raise _special(folder, mode)
        if not stat.S_ISDIR(mode):
            raise WorkFolderError(f"{folder} is a file, not a folder.", "Move it away, and run again.")
    return folder


def own_files(folder: Path, name: re.Pattern[str]) -> list[Path]:
    """The plain files in ``folder`` whose whole name fits: those that we wrote. None where the folder is a
    link, is missing or cannot be read."""
    if folder.is_symlink():
        return []
    paths = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if name.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                paths.append(folder / entry.name)
    return sorted(paths)


def append(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Add ``data`` to the end of a file, all of it or nothing. ``durable``: it is on the disk then.

    A file that has another name too, by a hard link (a backup may be made so), gets a copy of its own first.
    Raises WorkFolderError.
    """
    refuse_special(path)
    check_place(path)
    with explained(path, _UNWRITABLE):
        with suppress(FileNotFoundError):
            if os.lstat(path).st_nlink > 1:
                _separate(path)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NOT_FOLLOWED | _WITHOUT_WAITING
        number = os.open(path, flags, 0o666)
        try:
            size = os.fstat(number).st_size
            try:
                unwritten = memoryview(data)
                while unwritten:
                    unwritten = unwritten[os.write(number, unwritten) :]
                if durable:
                    os.fsync(number)
                    if size == 0:  # the file is new, perhaps
                        _sync_folder(path.parent)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(number, size)
                raise
        finally:
            os.close(number)


def _separate(path: Path) -> None:
    """Replace a file by a copy of its own."""
    with replacing(path) as part, open_file(path) as source, part.open("wb") as target:
        shutil.copyfileobj(source, target)


def cut_file(path: Path, size: int) -> None:
    """Cut a file of ours to ``size`` bytes. Raises OSError, and WorkFolderError for what is no plain file."""
    refuse_special(path)
    if os.lstat(path).st_nlink > 1:
        _separate(path)
    os.truncate(path, size)


def lock_file(path: Path, timeout: float) -> FileLock:
    """The lock that the file ``path`` stands for. Raises WorkFolderError for what is no plain file, or holds
    something: some versions of the library empty it."""
    refuse_special(path)
    with suppress(OSError):
        status = os.lstat(path)
        if status.st_nlink > 1 and status.st_size:
            raise WorkFolderError(f"{path} is no lock of ours: there is something in it.", "Delete it.")
    return FileLock(path, timeout=timeout)


_Place = tuple[int, int]
"""Device and number of a folder: what it is, whatever it is called."""

_held: dict[Path, _Place] = {}
"""Folders that may not be moved while they are in use."""


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """Whoever writes into ``folder`` meanwhile is told when it is another one, or gone (`check_place`).

    Errors that come of that say so too.
    """
    path = folder.absolute()
    place = _place_of(path)
    if place is None:
        raise _moved(path)
    is_outer = path not in _held
    _held[path] = place
    # While it is open, no other folder can get its number.
    number = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        yield
    except Exception as error:
        moved = _moved(path)
        is_told = isinstance(error, WorkFolderError) and error.what == moved.what
        if _place_of(path) != place and not is_told:
            raise moved from error  # whatever could not be opened or written: this is why
        raise
    else:
        if _place_of(path) != place:
            raise _moved(path)
    finally:
        os.close(number)
        if is_outer:
            _held.pop(path, None)


def check_place(path: Path) -> Path | None:
    """The held folder that ``path`` is in, None where it is in none. Raises WorkFolderError where that folder
    was renamed, removed or replaced by another since."""
    whole = path.absolute()
    for folder in (whole, *whole.parents):
        place = _held.get(folder)
        if place is not None:
            if _place_of(folder) != place:
                raise _moved(folder)
            return folder
    return None


def _place_of(folder: Path) -> _Place | None:
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None


def _moved(folder: Path) -> WorkFolderError:
    return WorkFolderError(
        f"{folder} was renamed, removed or replaced while it was in use.",
        "What was done till then is in the folder under its new name: give it its name back, or name it as "
        "it is called now, and run again.",
    )


DRAFT = re.compile(r"\.(?P<name>.+)\.\d+\.part(?P<ending>\.\w+)")
"""Names of films while they are written."""

_PART = re.compile(r"\.tmp-[0-9a-f]{8}-(?P<process>\d+)-.+")
"""Names of other files while they are written (`replacing`)."""

_writing: set[str] = set()
"""Files that this very process is writing: its number alone may be that of a killed one, in a container."""


def write_text(path: Path, text: str) -> None:
    """Replace a text file whole, see `write_bytes`. Keys of servers are struck out of it."""
    write_bytes(path, [without_sent_secrets(text).encode("utf-8")])


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

    Raises WorkFolderError where that cannot be done; what was there before is then still there. A link of
    that name is replaced, what it leads to stays; what is neither file nor link is refused.
    """
    with suppress(OSError):
        mode = os.lstat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            special = _special(path, mode)
            raise WorkFolderError(f"{path} cannot be written. {special.what}", special.hint)
    with explained(path, _UNWRITABLE):
        make_folder(path.parent, path, _UNWRITABLE)
        try:
            part = _begun(path)
        except FileNotFoundError as error:  # of a place that takes no files
            check_place(path)
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
            _sync_folder(path.parent)
        finally:
            with suppress(OSError):  # on a disk that has become read-only nothing can be removed
                part.unlink(missing_ok=True)
            _writing.discard(part.name)


def _sync_folder(folder: Path) -> None:
    """Have the disk keep the names in a folder: else a power cut may bring back what a file was before."""
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    with suppress(OSError):  # some network file systems cannot do it; the file itself is written
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def make_folder(folder: Path, path: Path, trouble: str) -> None:
    """Make a folder for ``path``. One that is held, and was moved, is not made again.

    In some places the system says that even the folder above is not there.
    """
    above = check_place(folder)
    try:
        if above is None:
            folder.mkdir(parents=True, exist_ok=True)
        else:
            inner = folder.absolute().relative_to(above)
            for name in inner.parts:
                above = above / name
                above.mkdir(exist_ok=True)
    except FileNotFoundError as error:
        check_place(path)
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


_UNWRITABLE = "cannot be written"
_ANOTHER = "another folder (--out, where the command takes it)"
_BUSY = "Too much is open in this program or on this machine just now: try again in a moment."
_OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_DISK_TROUBLE = {
    errno.ENOSPC: "The disk is full: free some space and run again; what is done is kept.",
    errno.EDQUOT: "Your disk quota is used up: free some space and run again; what is done is kept.",
    errno.EFBIG: "Files may not become so large there (see ulimit -f): allow larger ones and run again; what "
    "is done is kept.",
    errno.EIO: "The disk cannot be read or written any more: check it, and run again; what is done is kept.",
}
_PASSING = {**dict.fromkeys(_OUT_OF_RESOURCES, _BUSY), **_DISK_TROUBLE}
_LASTING = {
    errno.EACCES: f"You have no permission there: name {_ANOTHER}.",
    errno.EPERM: f"You have no permission there: name {_ANOTHER}.",
    errno.EROFS: f"That place is read-only: make it writable and run again, or name {_ANOTHER}; what is done "
    "is kept.",
    errno.ENOTDIR: f"There is a file where the folder should be: name {_ANOTHER}.",
    errno.EEXIST: f"There is a file where the folder should be: name {_ANOTHER}.",
}


@contextmanager
def explained(path: Path, trouble: str) -> Iterator[None]:
    """Turn the system's errors into ours; a missing file stays FileNotFoundError."""
    try:
        yield
    except Timeout:
        raise
    except FileNotFoundError:
        check_place(path)
        if trouble == _UNWRITABLE and not path.parent.is_dir():
            raise WorkFolderError(
                f"{path} {trouble}: its folder was renamed or removed.", "Put it back, and run again."
            ) from None
        raise
    except OSError as error:
        check_place(path)
        raise disk_error(error, f"{path} {trouble}") from None


def disk_error(error: OSError, what: str) -> WorkFolderError:
    """What the system said of a file as an error of ours: ``what`` went wrong, why, and what to do."""
    number = error.errno or 0
    hint = (_LASTING | _PASSING).get(number, f"Name {_ANOTHER}.")
    return WorkFolderError(f"{what}: {error.strerror or error}.", hint, again=number not in _LASTING)


def is_busy(error: BaseException) -> bool:
    """Whether an error says that the process or the system has no files or no memory left for the moment."""
    return isinstance(error, OSError) and error.errno in _OUT_OF_RESOURCES


def is_disk_error(error: BaseException) -> bool:
    """Whether a disk that is full, read-only or broken is why something failed."""
    return isinstance(error, OSError) and error.errno in (*_DISK_TROUBLE, errno.EROFS)
