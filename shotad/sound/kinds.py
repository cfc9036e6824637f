"""What flows between the rooms of sound: takes, lines with their room, and what became of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shotad.core import Interval
from shotad.film import Samples

PACE = 165
"""Words a minute over many lines of AD, in English: describers aim at 160, and are measured at 2.3 to 2.7
words a second."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stored:
    """Sound that is not held but read, or made, whenever it is asked for.

    ``size`` is the number of its samples; two of one ``key`` are the same sound. ``read`` gives
    ``float32[size]``, and raises VoiceError where they are gone.
    """

    size: int
    key: str
    read: Callable[[], Samples]


@dataclass(frozen=True, eq=False, repr=False)
class Take:
    """One line as a voice spoke it: ``float32[n]`` at ``rate`` samples a second, silence around it cut off.

    ``sound`` are its samples, or `Stored`: then it holds none, and each use of ``samples`` reads them
    again, so thousands of takes may stand side by side; the rest is known without reading. ``speed`` is its
    pace, 1 being as AD is spoken.
    """

    sound: Samples | Stored
    rate: int
    speed: float = 1.0

    def __post_init__(self) -> None:
        sound = self.sound
        if isinstance(sound, np.ndarray) and (sound.ndim != 1 or sound.dtype != np.float32):
            raise ValueError(f"a take is float32[n], got {sound.dtype} of shape {sound.shape}")
        if self.size < 1 or self.rate <= 0:
            raise ValueError(f"a take must have samples and a rate, got {self.size} at {self.rate}")

    @property
    def samples(self) -> Samples:
        return self.sound if isinstance(self.sound, np.ndarray) else self.sound.read()

    @property
    def size(self) -> int:
        return self.sound.size

    @property
    def seconds(self) -> float:
        return self.size / self.rate

    @property
    def key(self) -> str:
        """By which its samples are known: takes of one key are the same sound."""
        sound = self.sound
        return hashlib.sha256(sound.tobytes()).hexdigest() if isinstance(sound, np.ndarray) else sound.key


class Studio(Protocol):
    """Where lines are spoken: whoever fits lines asks here, and a line spoken before is not spoken again."""

    def say(self, text: str) -> Take:
        """The take of a text, from what is kept or new. Raises VoiceError."""


@dataclass(frozen=True, slots=True)
class LineToSpeak:
    """A line to be spoken: its id, its words, the second it is wanted at, and the time that it may use.

    ``room`` is free of speech, margins kept; ``slot`` the part of it that was planned for this line. Rooms of
    lines in one gap may be the same: whoever fits keeps them apart. A line does not begin before
    ``earliest``, what it tells being not seen yet. ``by_person``: a person wrote, changed or accepted it.
    """

    id: str
    text: str
    start: float
    slot: Interval
    room: Interval
    language: str = "en"
    earliest: float = 0.0
    by_person: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Spoken:
    """A line in its place. ``start`` is the film second of the take's first sample.

    ``pause``: seconds for which the film stands still so that the line can end.
    """

    id: str
    text: str
    start: float
    take: Take
    steps: tuple[str, ...] = ()
    pause: float = 0.0

    @property
    def interval(self) -> Interval:
        """From its first sound to its last, in film seconds, as if the film did not pause."""
        return Interval(self.start, self.start + self.take.seconds)


@dataclass(frozen=True, slots=True)
class Unspoken:
    """A line that found no place: why, what was tried, and how long its shortest form would have been.

    ``taken_by`` are the ids of lines each of which leaves it no time: without that one it would be spoken.
    """

    id: str
    reason: str
    steps: tuple[str, ...] = ()
    missing: float = 0.0
    taken_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pause:
    """The film stands still for ``length`` seconds, at film second ``at``, for the line ``cue_id``.

    What happens at ``at`` itself is seen and heard after the pause.
    """

    at: float
    length: float
    cue_id: str

    def __post_init__(self) -> None:
        if not (self.at >= 0 and 0 < self.length < float("inf")):
            raise ValueError(f"a pause is at 0 s or later and lasts, got {self.length} s at {self.at} s")


@dataclass(frozen=True, slots=True)
class Fitting:
    """All lines of a track after fitting: those spoken ascend by start and do not overlap.

    ``pauses`` ascend, one for each of ``Spoken.pause``. Lines with a pause run over what follows if the film
    does not pause, so their intervals may overlap others on film time; on the copy's (`TimeMap.fitting`) none
    do. Of lines that might have had a pause and got none ``unspoken`` says why.
    """

    spoken: tuple[Spoken, ...] = ()
    unspoken: tuple[Unspoken, ...] = ()
    pauses: tuple[Pause, ...] = ()
