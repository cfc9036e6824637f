"""The data of spoken lines: takes, lines with the time that they may use, and the result of fitting them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shotad.core import Interval
from shotad.film import Samples
from shotad.script import Cue

PACE = 165
"""Words a minute over many lines of AD, in English: describers aim at 160, and are measured at 2.3 to 2.7
words a second."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stored:
    """Samples that are read, or made, at each use, so that they take no memory.

    ``size`` is their number; two with one ``key`` are the same sound. ``read`` returns ``float32[size]``, and
    raises VoiceError where they are gone.
    """

    size: int
    key: str
    read: Callable[[], Samples]


@dataclass(frozen=True, eq=False, repr=False)
class Take:
    """One line as a voice spoke it: ``float32[n]`` at ``rate`` samples a second, silence around it cut off.

    ``sound`` are its samples, or `Stored`: each use of ``samples`` reads them then, so that thousands of
    takes take no memory. ``speed`` is its pace; 1 is that at which AD is usually spoken (`PACE`). ``voice``
    names who speaks where that is not the film's voice: `OWN_VOICE`, or a voice chosen for this line.
    """

    sound: Samples | Stored
    rate: int
    speed: float = 1.0
    voice: str = ""

    def __post_init__(self) -> None:
        sound = self.sound
        if isinstance(sound, np.ndarray) and (sound.ndim != 1 or sound.dtype != np.float32):
            raise ValueError(f"a take is float32[n], got {sound.dtype} of shape {sound.shape}")
        if self.size < 1 or self.rate <= 0:
            raise ValueError(f"a take must have samples and a rate, got {self.size} at {self.rate}")

    @property
    def samples(self) -> Samples:
        """``float32[size]``. Raises VoiceError where they were stored and are gone."""
        return self.sound if isinstance(self.sound, np.ndarray) else self.sound.read()

    @property
    def size(self) -> int:
        """The number of its samples; nothing is read for it."""
        return self.sound.size

    @property
    def seconds(self) -> float:
        return self.size / self.rate

    @property
    def key(self) -> str:
        """Identifies the samples: takes with one key are the same sound."""
        sound = self.sound
        return hashlib.sha256(sound.tobytes()).hexdigest() if isinstance(sound, np.ndarray) else sound.key


OWN_VOICE = "own recording"
"""`Take.voice` of a take that a person recorded. It cannot be spoken again, in other words or at another
pace."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How one line is spoken, where that is not as the film's voice speaks all.

    ``recording`` is the name of its file in the folder of recordings, ``seconds`` its length; empty: there is
    none. ``voice`` is empty for the film's, ``pace`` counts in times the film's pace.
    """

    recording: str = ""
    seconds: float = 0.0
    voice: str = ""
    pace: float = 1.0


AS_THE_FILM: Delivery = Delivery()
"""The film's voice at its own pace."""


def delivery_of(cue: Cue) -> Delivery:
    """How a line is to be spoken: by its recording, as long as that is of its words, else by its voice."""
    recording = cue.recording
    if recording is None:
        return Delivery(voice=cue.voice, pace=cue.pace)
    return Delivery(recording.file, recording.seconds, cue.voice, cue.pace)


class Studio(Protocol):
    """Gives the takes of lines while they are fitted; a text that was spoken before is not spoken again."""

    def say(self, text: str, delivery: Delivery = AS_THE_FILM) -> Take:
        """The take of a text, kept or newly spoken. Raises VoiceError."""


@dataclass(frozen=True, slots=True)
class LineToSpeak:
    """A line to be spoken, with the time that it may use (film seconds).

    ``start`` is where the line is wanted. ``free`` is time free of speech, margins kept, and ``slot`` the
    part of it that was planned for this line. Lines in one gap may have the same free time: fitting keeps
    them from overlapping. Before ``earliest`` what the line describes is not seen yet. ``by_person``: a
    person wrote, changed or accepted it. ``delivery`` says who speaks it, and how fast.
    """

    id: str
    text: str
    start: float
    slot: Interval
    free: Interval
    language: str = "en"
    earliest: float = 0.0
    by_person: bool = False
    delivery: Delivery = AS_THE_FILM


@dataclass(frozen=True, slots=True, eq=False)
class Spoken:
    """A line in its place.

    ``text`` is what is spoken, ``start`` the film second of the take's first sample, ``steps`` say what was
    done so that it fits. ``pause``: seconds for which the film stands still so that the line can end.
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
    """A line that found no place.

    ``reason`` says why, ``steps`` what was tried; ``missing`` is how many seconds its shortest form was too
    long. ``taken_by`` are the ids of lines each of which leaves it no time: without any one of them it would
    be spoken.
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
    """All lines of a track after fitting. Spoken lines ascend by start and do not overlap.

    ``pauses`` ascend, one for each line with a `Spoken.pause`. A line with a pause lasts longer than its gap,
    so on film time it may overlap others; on the copy's time (`TimeMap.fitting`) none overlap. Where a line
    might have had a pause and got none, its `Unspoken.reason` says why.
    """

    spoken: tuple[Spoken, ...] = ()
    unspoken: tuple[Unspoken, ...] = ()
    pauses: tuple[Pause, ...] = ()
