"""What is known about a film before it is read: its tracks, its size, its time, its fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path


@dataclass(frozen=True, slots=True)
class AudioTrack:
    """One track of sound; ``number`` counts audio tracks from 0.

    ``descriptive``: the track is itself an audio description; ``commentary``: somebody talks about
    the film. Neither is chosen unless it is asked for.
    """

    number: int
    language: str | None
    title: str | None
    codec: str
    channels: int
    layout: str
    sample_rate: int
    default: bool
    descriptive: bool = False
    commentary: bool = False

    def __str__(self) -> str:
        words = [self.language, self.title and repr(self.title), self.codec, self.layout]
        return f"{self.number} ({', '.join(word for word in words if word)})"


@dataclass(frozen=True, slots=True)
class SubtitleTrack:
    """One track of subtitles; ``number`` counts subtitle tracks from 0.

    ``is_text`` is False for pictures of text (DVD, Blu-ray, DVB). ``captions``: made for deaf people.
    """

    number: int
    language: str | None
    title: str | None
    codec: str
    is_text: bool
    default: bool = False
    forced: bool = False
    captions: bool = False


@dataclass(frozen=True, slots=True)
class FilmInfo:
    """A film, described.

    ``duration`` is seconds from time zero (the container's start time) to the end of the longest
    stream. ``width`` and ``height`` are those of the picture as it is shown: turned upright, with
    square pixels. ``start`` is the container's own start time in seconds, exact: ``pts * time_base -
    start`` is a film second. ``rotation`` is the clockwise turn in degrees that the container asks for.
    ``frame_count_hint`` is what the container says, not a promise.
    """

    name: str
    path: Path | None
    fingerprint: str
    duration: float
    width: int
    height: int
    frame_rate: Fraction | None
    frame_count_hint: int | None
    video_codec: str
    start: Fraction
    rotation: int = 0
    pixel_aspect: Fraction = Fraction(1)
    hdr: bool = False
    interlaced: bool = False
    audio: tuple[AudioTrack, ...] = ()
    subtitles: tuple[SubtitleTrack, ...] = ()

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise ValueError(f"a film must have a size, got {self.width}x{self.height}")
        if self.duration < 0:
            raise ValueError(f"a film's duration must be 0 or more, got {self.duration}")

    @property
    def default_audio(self) -> AudioTrack | None:
        """The track to listen to: no description, no commentary, the container's default, the first."""
        return min(
            self.audio,
            key=lambda t: (t.descriptive or t.commentary, not t.default, t.number),
            default=None,
        )

    def size_within(self, height: int | None = None, max_pixels: int | None = None) -> tuple[int, int]:
        """``(width, height)``, both even, of the film's shape: at most ``height`` lines and
        ``max_pixels`` in all, never larger than the film.

        A film of 1920x800 within 480 lines is 1152x480.
        """
        lines = float(min(self.height, height or self.height))
        if max_pixels is not None:
            lines = min(lines, (max_pixels * self.height / self.width) ** 0.5)
        width, rows = _even(lines * self.width / self.height), _even(lines)
        while max_pixels is not None and width * rows > max_pixels and width > 2:
            width -= 2
        return width, rows


def _even(number: float) -> int:
    return max(2, 2 * round(number / 2))


_EDGE = 1 << 20
_SAMPLE = 1 << 16
_SAMPLES = 16


def file_fingerprint(size: int, read_at: Callable[[int, int], bytes], extra: bytes = b"") -> str:
    """A name for content that does not depend on path, name or date: 32 hex digits.

    It is the SHA-256 (first 128 bits) of the size, the first and the last MiB, and 16 samples of
    64 KiB evenly between; so a film of any length costs 3 MiB of reading. ``read_at(offset, n)``
    gives up to ``n`` bytes.
    """
    digest = hashlib.sha256(b"shotad film 1\0" + size.to_bytes(8, "little") + extra)
    digest.update(read_at(0, _EDGE))
    for i in range(1, _SAMPLES + 1):
        digest.update(read_at(size * i // (_SAMPLES + 1), _SAMPLE))
    digest.update(read_at(max(0, size - _EDGE), _EDGE))
    return digest.hexdigest()[:32]
