"""What flows between the rooms of sound: takes, lines with their room, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shotad.types import Interval

Samples = npt.NDArray[np.float32]
"""``float32[n]``, mono, full scale at -1 and 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Take:
    """One line as a voice spoke it: ``float32[n]`` at ``rate`` samples a second, silence around it cut off.

    ``text`` is the line as the script has it, ``speed`` the pace (1: the voice's own).
    """

    samples: Samples
    rate: int
    voice: str
    text: str
    speed: float = 1.0

    def __post_init__(self) -> None:
        if self.samples.ndim != 1 or self.samples.dtype != np.float32:
            raise ValueError(f"a take is float32[n], got {self.samples.dtype} of shape {self.samples.shape}")
        if self.samples.size == 0 or self.rate <= 0:
            raise ValueError(f"a take must have samples and a rate, got {self.samples.size} at {self.rate}")

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.samples.size / self.rate


class Voice(Protocol):
    """Somebody who speaks."""

    @property
    def name(self) -> str:
        """``KIND:WHICH``, as in ``hibari:heart``."""
        ...

    @property
    def identity(self) -> str:
        """All that changes how it says a text: name, version, model; kept takes are found by it."""
        ...

    def speaks(self, language: str) -> bool:
        """Whether it can speak a language (BCP 47: ``en``, ``en-GB``, ``de``)."""
        ...

    def speak(self, text: str, speed: float = 1.0) -> Take:
        """The text, spoken at ``speed`` times its own pace, by its own means. Raises VoiceError."""
        ...


class Studio(Protocol):
    """Where lines are spoken: whoever fits lines asks here, and a line spoken before is not spoken again."""

    @property
    def voice(self) -> str:
        """Name of the voice."""
        ...

    def say(self, text: str, speed: float = 1.0) -> Take:
        """The take of a text at a pace, from what is kept or new. Raises VoiceError."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """A line to be spoken: its id, its words, the second it is wanted at, and the time that it may use.

    ``room`` is free of speech, margins kept; ``slot`` the part of it that was planned for this line. Rooms of
    lines in one gap may be the same: whoever fits keeps them apart.
    """

    id: str
    text: str
    start: float
    slot: Interval
    room: Interval
    language: str = "en"


@dataclass(frozen=True, slots=True, eq=False)
class Spoken:
    """A line in its place. ``start`` is the film second of the take's first sample.

    ``pause``: seconds for which the film stands still (at second ``pause_at``) so that the line can end.
    """

    id: str
    text: str
    start: float
    take: Take
    steps: tuple[str, ...] = ()
    pause: float = 0.0
    pause_at: float = 0.0

    @property
    def interval(self) -> Interval:
        """From its first sound to its last, in film seconds, as if the film did not pause."""
        return Interval(self.start, self.start + self.take.seconds)

    def moved(self, start: float) -> Spoken:
        """The same line elsewhere."""
        return replace(self, start=start)


@dataclass(frozen=True, slots=True)
class Unspoken:
    """A line that found no place: why, what was tried, and how long its shortest form would have been."""

    id: str
    text: str
    reason: str
    steps: tuple[str, ...] = ()
    missing: float = 0.0


@dataclass(frozen=True, slots=True)
class Fitting:
    """All lines of a track after fitting: those spoken ascend by start and do not overlap."""

    spoken: tuple[Spoken, ...]
    unspoken: tuple[Unspoken, ...] = ()

    def intervals(self) -> Sequence[Interval]:
        """When something is said."""
        return [line.interval for line in self.spoken]
