"""What flows between the packages: small frozen records that check themselves when they are made.

Times are float seconds counted from the container's start time; intervals are half-open
``[start, end)``. Frame rates are `fractions.Fraction`. Images are RGB ``uint8[H, W, 3]``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core.errors import UsageError

Image = npt.NDArray[np.uint8]
"""``uint8[H, W, 3]``, RGB."""

Seconds = npt.NDArray[np.float64]
"""``float64[n]``, seconds."""


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """Half-open time ``[start, end)`` in seconds; ``start < end``, both finite."""

    start: float
    end: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and math.isfinite(self.end)):
            raise ValueError(f"interval bounds must be finite, got [{self.start}, {self.end})")
        if not self.start < self.end:
            raise ValueError(f"interval must start before it ends, got [{self.start}, {self.end})")

    @property
    def duration(self) -> float:
        """Length in seconds, always above 0."""
        return self.end - self.start

    @property
    def middle(self) -> float:
        """The moment half-way, in seconds."""
        return (self.start + self.end) / 2

    def contains(self, second: float) -> bool:
        """True where ``start <= second < end``."""
        return self.start <= second < self.end

    def overlaps(self, other: Interval) -> bool:
        """True where the two share time; touching ends share none."""
        return self.start < other.end and other.start < self.end

    def clip(self, other: Interval) -> Interval | None:
        """The shared part, or None: ``[0, 5)`` clipped by ``[3, 9)`` is ``[3, 5)``."""
        start, end = max(self.start, other.start), min(self.end, other.end)
        return Interval(start, end) if start < end else None

    def __str__(self) -> str:
        return f"[{self.start:.3f}, {self.end:.3f})"


def clip_all(intervals: Iterable[Interval], part: Interval) -> list[Interval]:
    """What of each interval lies inside ``part``, without those that lie outside.

    >>> clip_all([Interval(0, 5), Interval(9, 12)], Interval(3, 9))
    [Interval(start=3, end=5)]
    """
    clipped = [interval.clip(part) for interval in intervals]
    return [interval for interval in clipped if interval is not None]


def clock_time(seconds: float, decimals: int = 0) -> str:
    """A moment as players show it, rounded down: ``13:12``, ``1:02:05``, with ``decimals`` ``13:12.7``.

    >>> clock_time(792.7), clock_time(792.7, 1), clock_time(3725.4)
    ('13:12', '13:12.7', '1:02:05')
    """
    unit = 10**decimals
    # To milliseconds first: 0.3 * 10 is a little less than 3.
    units = round(abs(seconds) * 1000) * unit // 1000
    whole, part = divmod(units, unit)
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    text = f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"
    sign = "-" if seconds < 0 and units else ""
    return f"{sign}{text}.{part:0{decimals}d}" if decimals else f"{sign}{text}"


SHORT_RANGE = 2.0
"""Seconds; shorter times are shown with tenths, else both ends may read the same."""


def time_range(interval: Interval, decimals: int | None = None) -> str:
    """An interval for people to read: ``13:12 to 13:16``, a short one ``13:12.7 to 13:13.2``.

    ``decimals`` are those of the seconds (None: none, or one where the interval is short).

    >>> time_range(Interval(792.7, 796.031)), time_range(Interval(792.7, 793.2))
    ('13:12 to 13:16', '13:12.7 to 13:13.2')
    """
    if decimals is None:
        decimals = 0 if interval.duration >= SHORT_RANGE else 1
    return f"{clock_time(interval.start, decimals)} to {clock_time(interval.end, decimals)}"


@dataclass(frozen=True, slots=True)
class Shot:
    """The frames between two cuts.

    Attributes:
        index: Number of the shot, from 0 over the whole film.
        interval: Its time, in seconds of the film.
        unmixed: Its time without the dissolves and fades at its ends. None: there are none.
    """

    index: int
    interval: Interval
    unmixed: Interval | None = None

    def __post_init__(self) -> None:
        if self.index < 0:
            raise ValueError(f"shot index must be 0 or more, got {self.index}")
        if self.unmixed and self.unmixed.clip(self.interval) != self.unmixed:
            raise ValueError(f"the unmixed part {self.unmixed} must lie in the shot {self.interval}")

    @property
    def start(self) -> float:
        """Second at which its first frame is shown."""
        return self.interval.start

    @property
    def end(self) -> float:
        """Second at which the next shot begins, or the film ends."""
        return self.interval.end


class SpeechKind(StrEnum):
    """What fills an utterance: spoken words, or sung ones."""

    SPEECH = "speech"
    LYRICS = "lyrics"


@dataclass(frozen=True, slots=True)
class Utterance:
    """A stretch in which somebody speaks or sings; ``text`` is empty where only sound was heard."""

    interval: Interval
    text: str = ""
    kind: SpeechKind = SpeechKind.SPEECH
    speaker: str = ""
    """Who speaks, where the subtitles say so."""


def slot_id(start: float) -> str:
    """Name of the slot that starts at ``start`` seconds: whole milliseconds, ``83.12 → s00083120``."""
    return f"s{round(start * 1000):08d}"


class SlotVoice(StrEnum):
    """A voice that is likely heard in a slot, although no speech was found there."""

    SONG = "song"
    SHOUT = "shout"
    """A shout, a call, or words that speech detection missed."""

    @property
    def words(self) -> str:
        """``song likely here``, for people."""
        return f"{'song' if self is SlotVoice.SONG else 'a shout or speech'} likely here"


@dataclass(frozen=True, slots=True)
class Slot:
    """The time in which one AD sentence is spoken, and how many words fit into it.

    ``label`` is what the user's own file calls a given slot. In a slot with a ``voice`` a line is a person's
    choice, not the default.
    """

    id: str
    interval: Interval
    max_words: int
    credits: bool = False
    label: str = ""
    voice: SlotVoice | None = None

    def __post_init__(self) -> None:
        if self.max_words < 1:
            raise ValueError(f"slot {self.id} must allow at least one word, got max_words = {self.max_words}")


class Role(StrEnum):
    """Where a context shot lies relative to the slot."""

    PAST = "past"
    CURRENT = "current"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class ContextShot:
    """One shot of a slot's clip, cut to the part ``clipped`` that is shown."""

    shot: Shot
    role: Role
    clipped: Interval


@dataclass(frozen=True, slots=True)
class FramePlan:
    """The moments of one shot that are shown. ``number`` is what is painted (``Shot 0`` is the oldest)."""

    number: int
    role: Role
    seconds: Seconds

    def __post_init__(self) -> None:
        if self.seconds.ndim != 1 or len(self.seconds) == 0:
            raise ValueError(f"frame plan seconds must be float64[n], n > 0, got {self.seconds.shape}")
        if np.any(np.diff(self.seconds) < 0):
            raise ValueError(f"frame plan seconds must ascend, got {self.seconds.tolist()}")


HEARING_RATE = 16_000
"""Samples a second of the sound that models hear."""


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """The frames of one slot, oldest first.

    ``images`` is ``uint8[n, H, W, 3]`` RGB, ``seconds`` ``float64[n]`` (the moments at which the
    frames really stand), ``shot_numbers`` ``int64[n]``, the number painted for each frame. ``sound`` is what
    is heard from the first frame to the last, ``float32[n]`` at `HEARING_RATE`, for models that hear.
    """

    images: npt.NDArray[np.uint8]
    seconds: Seconds
    shot_numbers: npt.NDArray[np.int64]
    sound: npt.NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        if self.images.ndim != 4 or self.images.shape[-1] != 3:
            raise ValueError(f"clip images must be uint8[n, H, W, 3], got shape {self.images.shape}")
        n = len(self.images)
        if n == 0:
            raise ValueError("a clip needs at least one frame, got none")
        if self.seconds.shape != (n,) or self.shot_numbers.shape != (n,):
            raise ValueError(
                f"clip has {n} images but seconds{self.seconds.shape}, shot_numbers{self.shot_numbers.shape}"
            )

    def __len__(self) -> int:
        return len(self.images)

    @property
    def moments(self) -> list[float]:
        """Seconds of each frame from the first: ``[50.0, 50.5] → [0.0, 0.5]``."""
        offsets: list[float] = (self.seconds - self.seconds[0]).tolist()
        return offsets

    @property
    def stamps(self) -> list[str]:
        """Words before each frame that is shown as a still: ``Frame 1, at 0.0 s:``."""
        return [f"Frame {number}, at {moment:.1f} s:" for number, moment in enumerate(self.moments, 1)]

    @property
    def video_metadata(self) -> dict[str, Any]:
        """The same as transformers and vLLM take them, also for uneven frames: as if the clip had a frame
        each millisecond, of which these were taken."""
        taken = [round(1000 * moment) for moment in self.moments]
        return {"fps": 1000.0, "frames_indices": taken, "total_num_frames": max(taken[-1] + 1, len(taken))}


class ShotScale(StrEnum):
    """How close the camera is; the order is that of the classifier's classes 0 to 4."""

    EXTREME_CLOSE_UP = "extreme close-up"
    CLOSE_UP = "close-up"
    MEDIUM = "medium"
    FULL = "full"
    LONG = "long"

    @property
    def number(self) -> int:
        """0 extreme close-up to 4 long."""
        return list(ShotScale).index(self)


@dataclass(frozen=True, slots=True)
class Grammar:
    """Film grammar of one clip, by painted shot number.

    ``scales`` maps a shot number to its scale (absent: unknown); ``threads`` are groups of two or
    more shot numbers that share a camera set-up.
    """

    scales: Mapping[int, ShotScale] = field(default_factory=dict)
    threads: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        for thread in self.threads:
            if len(thread) < 2:
                raise ValueError(f"a thread has two or more shots, got {thread}")


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle as fractions of the picture, 0 to 1, from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def __post_init__(self) -> None:
        if not (0 <= self.left < self.right <= 1 and 0 <= self.top < self.bottom <= 1):
            raise ValueError(f"box must lie inside 0 to 1 with positive size, got {self}")

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def area(self) -> float:
        return self.width * self.height

    @property
    def centre(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def iou(self, other: Box) -> float:
        """Intersection over union, 0 to 1."""
        w = min(self.right, other.right) - max(self.left, other.left)
        h = min(self.bottom, other.bottom) - max(self.top, other.top)
        shared = max(w, 0.0) * max(h, 0.0)
        return shared / (self.area + other.area - shared)


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something seen at one moment: ``name`` of the class or person, where, when, how sure (0 to 1)."""

    name: str
    box: Box
    seconds: float
    score: float


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. ``with_clip`` marks the turn that the request's clip belongs to."""

    role: str
    text: str
    with_clip: bool = False

    def __post_init__(self) -> None:
        if self.role not in ("system", "user", "assistant"):
            raise ValueError(f"message role must be system, user or assistant, got {self.role!r}")


@dataclass(frozen=True, slots=True)
class Description:
    """Stage I's dense description of one slot, taken apart into its numbered steps.

    ``steps`` maps a step's heading (``Actions``) to its text; ``explanation`` is the thread sentence,
    which never reaches Stage II; ``notes`` is what an engine measured, for people and the narrator.
    """

    slot_id: str
    steps: Mapping[str, str]
    explanation: str
    raw: str
    engine: str
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The numbered steps as Stage II reads them."""
        return "\n".join(f"{i}. {head}: {text}" for i, (head, text) in enumerate(self.steps.items(), 1))


@dataclass(frozen=True, slots=True)
class GainPoint:
    """A bend of the programme's level under AD: from here to the next point it runs evenly in dB.

    Before the first point and after the last the gain is that point's own.
    """

    seconds: float
    decibels: float


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


def default_track(tracks: Iterable[AudioTrack]) -> AudioTrack | None:
    """The track to listen to: no description, no commentary, the container's default, the first."""
    return min(tracks, key=lambda t: (t.descriptive or t.commentary, not t.default, t.number), default=None)


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

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise ValueError(f"a film must have a size, got {self.width}x{self.height}")
        if self.duration < 0:
            raise ValueError(f"a film's duration must be 0 or more, got {self.duration}")

    @property
    def default_audio(self) -> AudioTrack | None:
        """The track to listen to: no description, no commentary, the container's default, the first."""
        return default_track(self.audio)

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


def frame_rate_of(rate_text: Fraction | float | str | None) -> Fraction | None:
    """Frames a second, as people give them: ``"24000/1001"``, 3. Raises UsageError for what is no rate."""
    if rate_text is None:
        return None
    try:
        rate = Fraction(0) if isinstance(rate_text, bool) else Fraction(rate_text)
    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
        rate = Fraction(0)
    if not SLOWEST_FRAME_RATE <= rate <= FASTEST_FRAME_RATE:
        try:
            shown = repr(rate_text)[:80]
        except ValueError:  # a number of thousands of digits
            shown = "This number"
        raise UsageError(f"{shown} is no frame rate.", "Write 3, 25 or 24000/1001.")
    return rate


SLOWEST_FRAME_RATE, FASTEST_FRAME_RATE = Fraction(1, 1000), Fraction(1000)
"""Frames a second: a picture every quarter of an hour, and slow motion."""


def thread_name(number: int) -> str:
    """Letters of thread ``number``, from 0: ``0 → A``, ``25 → Z``, ``26 → AA``."""
    above, rest = divmod(number, 26)
    return (thread_name(above - 1) if above else "") + chr(ord("A") + rest)


def thread_number(name: str) -> int:
    """Place of a thread's letters in their order: ``A → 0``, ``Z → 25``, ``AA → 26``.

    Raises ValueError for anything but capitals from A to Z.
    """
    if not name or not all("A" <= letter <= "Z" for letter in name):
        raise ValueError(f"a thread is named by capitals A to Z, got {name!r}")
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
