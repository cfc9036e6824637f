"""Numbered frames, in a folder or a tar archive, as a film of constant rate without sound."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path, PurePosixPath
from typing import cast

import numpy as np

from shotad.core import FilmInfo, Image
from shotad.core.errors import FilmError, UsageError
from shotad.core.system import quoted
from shotad.core.types import file_fingerprint
from shotad.core.weight_store import TarArchive
from shotad.film.reader import TOLERANCE, Film, Frame

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"})
"""Endings of files that are frames."""

LARGEST_FRAME = 256 << 20
"""Bytes of one frame's file. An unpacked picture of 8K with 16 bits a colour has 203 MiB."""

_IN_MEMORY = 64 << 20
"""Bytes of the frames that make the fingerprint; more of them go to a temporary file."""

Reader = Callable[[], bytes]


def open_stills(path: Path, frame_rate: Fraction | None) -> StillsFilm:
    """Open a folder or tar of numbered frames. Raises FilmError, UsageError without a frame rate."""
    if frame_rate is None:
        if path.is_dir() and not any(file.suffix.lower() in SUFFIXES for file in path.iterdir()):
            problem = f"{path} is a folder, and holds no numbered frames."
            raise FilmError(problem, f"Name a film; for all films in it: shotad batch {quoted([str(path)])}")
        problem = f"{path.name} is a row of frames, which have no time of their own."
        raise UsageError(problem, "Say how many there are to a second (the frame rate), for example 3.")
    if frame_rate <= 0:
        raise UsageError(f"A frame rate must be above 0, got {frame_rate}.", "Give frames per second.")
    try:
        if path.is_dir():
            files = (file for file in sorted(path.iterdir()) if file.is_file())
            named = ((file.name, partial(_file, file)) for file in files)
            return StillsFilm(path, frame_rate, _numbered(named, path.name))
        archive = TarArchive.open(path, "r:*")
        try:
            members = (member for member in _members(archive) if member.isfile())
            packed = (
                (PurePosixPath(member.name).name, partial(_member, archive, member)) for member in members
            )
            return StillsFilm(path, frame_rate, _numbered(packed, path.name), archive)
        except BaseException:
            archive.close()
            raise
    except PermissionError:
        raise FilmError(f"{path} may not be read: no permission.", "Change its permissions.") from None
    except (OSError, EOFError, tarfile.TarError) as error:
        raise FilmError(f"{path} cannot be read: {error}.", "The archive is cut off or damaged.") from None


class StillsFilm(Film):
    """Frames named by number; keeps the contract of `shotad.film.reader.Film`.

    The lowest number is second 0, number ``n`` is ``(n - lowest) / rate``. Where a number is missing
    the frame before it stays on the screen. ``frames`` maps a number to what reads its file.
    """

    def __init__(
        self,
        path: Path,
        frame_rate: Fraction,
        frames: Mapping[int, Reader],
        archive: tarfile.TarFile | None = None,
    ) -> None:
        if not frames:
            problem = f"{path.name} holds no numbered frames."
            raise FilmError(problem, "Frames are images named by their number, such as 00001.jpg.")
        self._rate, self._archive = frame_rate, archive
        self._read = dict(sorted(frames.items()))
        self._numbers = list(self._read)
        self._first = self._numbers[0]
        image = self._image(self._first)
        if image is None:
            problem = (
                f"Frame {self._first} of {path.name} is no picture of at most {LARGEST_FRAME >> 20} MiB."
            )
            raise FilmError(problem, "Replace the file.")
        self.info = FilmInfo(
            name=path.name,
            path=path,
            fingerprint=self._fingerprint(),
            duration=float((self._numbers[-1] + 1 - self._first) / self._rate),
            width=image.shape[1],
            height=image.shape[0],
            frame_rate=self._rate,
            frame_count_hint=len(self._numbers),
            video_codec="stills",
            start=Fraction(0),
        )

    def _fingerprint(self) -> str:
        """By rate, numbers, and up to 18 whole frames evenly over the film."""
        extra = f"{self._rate} {self._numbers}".encode()
        picked = sorted({round(i) for i in np.linspace(0, len(self._numbers) - 1, 18)})
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as content:
            size = sum(content.write(self._read[self._numbers[i]]()) for i in picked)

            def read_at(at: int, number: int) -> bytes:
                content.seek(at)
                return content.read(number)

            return file_fingerprint(size, read_at, extra)

    def _second(self, number: int) -> float:
        return float((number - self._first) / self._rate)

    def _image(self, number: int) -> Image | None:
        import cv2

        data = np.frombuffer(self._read[number](), np.uint8)
        if len(data) == 0:
            return None
        try:
            return cast(Image | None, cv2.imdecode(data, cv2.IMREAD_COLOR_RGB))
        except cv2.error:  # its head promises more pixels than anybody has memory for
            return None

    def frames(self) -> Iterator[Frame]:
        """The whole film, see `Film.frames`; a file that is no picture is left out and noted."""
        broken: list[int] = []
        for index, number in enumerate(self._numbers):
            image = self._image(number)
            if image is None:
                broken.append(number)
                continue
            yield Frame(self._second(number), index, None, partial(self._sized, image))
        self.end = self.info.duration
        if broken:
            self.damage = f"Some frames are no pictures ({len(broken)}, the first is number {broken[0]})."

    def _frames_at(self, moments: Iterable[float]) -> Iterator[Frame]:
        starts = np.array([self._second(number) for number in self._numbers])
        place, image = -1, None
        for index, moment in enumerate(moments):
            at = max(0, int(np.searchsorted(starts, moment + TOLERANCE, "right")) - 1)
            if at != place or image is None:
                # The nearest frame that can be read: before it, else after.
                place, near = at, (*range(at, -1, -1), *range(at + 1, len(self._numbers)))
                number, image = 0, None
                for position in near:
                    number = self._numbers[position]
                    image = self._image(number)
                    if image is not None:
                        break
            if image is None:
                raise FilmError(f"No frame of {self.info.name} is a picture.", "Replace the files.")
            yield Frame(self._second(number), index, None, partial(self._sized, image))

    def close(self) -> None:
        """Close the archive."""
        if self._archive is not None:
            self._archive.close()


def _numbered(files: Iterable[tuple[str, Reader]], name: str) -> dict[int, Reader]:
    """What reads the files that are frames, by their numbers."""
    readers: dict[int, Reader] = {}
    for file, read in files:
        if (number := frame_number(file)) is None:
            continue
        if number in readers:
            raise FilmError(f"{name} has two frames numbered {number}.", "Keep the frames of one film only.")
        readers[number] = read
    return readers


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """The members up to where the archive is cut off."""
    try:
        yield from archive
    except (tarfile.TarError, OSError, EOFError):
        return


def _file(path: Path) -> bytes:
    """A file's bytes; none where it is over `LARGEST_FRAME`."""
    with path.open("rb") as file:
        return b"" if path.stat().st_size > LARGEST_FRAME else file.read()


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """A member's bytes; none where it is over `LARGEST_FRAME`, or the archive is cut off within it."""
    if member.size > LARGEST_FRAME:
        return b""
    try:
        file = archive.extractfile(member)
        return file.read() if file else b""
    except (tarfile.TarError, OSError, EOFError):
        return b""


def frame_number(name: str) -> int | None:
    """The number at the end of a frame's name: ``00012.jpg → 12``, ``shot_7.png → 7``, else None."""
    stem, dot, suffix = name.rpartition(".")
    if f".{suffix.lower()}" not in SUFFIXES or not dot or name.startswith("."):
        return None
    digits = stem[len(stem.rstrip("0123456789")) :]
    return int(digits) if digits and digits.isascii() else None
