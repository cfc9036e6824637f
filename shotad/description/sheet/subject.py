"""What a sheet shows of a film: its shots, speech, slots and lines, and what the engines saw."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from shotad.core import Interval, Role, ShotScale, Slot, Utterance
from shotad.script import Cue, Track

Overlay = Literal["number", "box", "none"]

FRAMES = 32
"""Frames of one line that its card shows: all that a vision-language model sees (Shot-by-Shot, section
3.1). The embedded observer may see twice as many."""
PAGE_FRAMES = 15
"""The same on the page, whose pictures all stand in one file."""


@dataclass(frozen=True, slots=True)
class SheetShot:
    """One shot of the film. ``middle`` is the second of the frame that stands for it.

    ``thread`` are the letters of its thread in the whole film, None where it is alone or was never
    compared; ``seen`` is in words what was measured in it, empty where nothing was.
    """

    index: int
    interval: Interval
    middle: float
    scale: ShotScale | None = None
    thread: str | None = None
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """One shot of a clip. ``number`` is what is painted, ``shot`` its index in the film.

    ``seconds`` are the different moments shown, ascending; ``frames`` counts repeated ones too.
    """

    number: int
    shot: int
    role: Role
    part: Interval
    seconds: tuple[float, ...]
    frames: int
    scale: ShotScale | None = None
    thread: str | None = None
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Recognised:
    """Somebody of the cast in a clip: what they were called, and their mark, empty where faces had none."""

    called: str
    mark: str
    current: bool


@dataclass(frozen=True, slots=True)
class Look:
    """What Stage I was shown for one slot, and what it said.

    ``model`` is that of the engine, which may have none. ``overlay`` is what was painted on the frames, None
    where the engine saw them raw; ``size`` their width and height. ``error`` says why no description is here.
    """

    pieces: tuple[Piece, ...]
    threads: tuple[tuple[int, ...], ...]
    effective_scale: float | None
    factors: tuple[str, ...]
    steps: tuple[tuple[str, str], ...]
    explanation: str
    engine: str
    model: str
    overlay: Overlay | None
    size: tuple[int, int] | None
    error: str | None = None
    people: tuple[Recognised, ...] = ()

    @property
    def current(self) -> tuple[int, ...]:
        """Painted numbers of the current shots."""
        return tuple(piece.number for piece in self.pieces if piece.role is Role.CURRENT)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the track with the slot it was written for; either alone where the other is missing."""

    cue: Cue
    slot: Slot | None
    look: Look | None

    @property
    def id(self) -> str:
        return self.cue.id

    @property
    def interval(self) -> Interval:
        """The time of the line itself."""
        return self.cue.interval


@dataclass(frozen=True, slots=True)
class Subject:
    """Everything a sheet is drawn from. ``missing`` says in sentences what could not be read.

    ``scores`` maps a slot's id and two shot indices, the earlier first, to the matching score of the two; the
    id is empty where whole shots were compared, which all clips share. ``threshold`` is the score above
    which two shots are joined.
    """

    name: str
    end: float
    shots: tuple[SheetShot, ...]
    speech: tuple[Utterance, ...] = ()
    speech_source: str = ""
    slots: tuple[Slot, ...] = ()
    lines: tuple[Line, ...] = ()
    track: Track | None = None
    silences: tuple[Interval, ...] = ()
    scores: Mapping[tuple[str, int, int], float] = field(default_factory=dict)
    threshold: float | None = None
    features: str | None = None
    scale_method: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def threads(self) -> dict[str, tuple[SheetShot, ...]]:
        """The shots of each thread, by its letters, in the order of their first shots."""
        found: dict[str, list[SheetShot]] = {}
        for shot in self.shots:
            if shot.thread is not None:
                found.setdefault(shot.thread, []).append(shot)
        return {letters: tuple(shots) for letters, shots in found.items()}

    @property
    def scales(self) -> Counter[ShotScale | None]:
        """How many shots there are of each scale; None counts those of unknown scale."""
        return Counter(shot.scale for shot in self.shots)

    def score(self, one: int, other: int, slot: str = "") -> float | None:
        """The matching score of two shots by index, as the clip of ``slot`` knows it; None: not measured."""
        pair = (min(one, other), max(one, other))
        return self.scores.get((slot, *pair), self.scores.get(("", *pair)))


def shown_seconds(look: Look, most: int = FRAMES) -> dict[int, tuple[float, ...]]:
    """Which moments of each shot, by painted number, a sheet shows: at least one each, then more where
    many were seen, the current shots before the others; spread evenly, first and last among them.
    """
    given = {piece.number: 1 for piece in look.pieces}
    room = {piece.number: len(piece.seconds) for piece in look.pieces}
    weight = {piece.number: 3 if piece.role is Role.CURRENT else 1 for piece in look.pieces}
    while sum(given.values()) < most:
        open_ = [number for number in given if given[number] < room[number]]
        if not open_:
            break
        neediest = max(open_, key=lambda n: (weight[n] * math.sqrt(room[n]) / given[n], -n))
        given[neediest] += 1
    return {piece.number: _spread(piece.seconds, given[piece.number]) for piece in look.pieces}


def _spread(seconds: Sequence[float], number: int) -> tuple[float, ...]:
    """``number`` of ``seconds``, evenly; a single one is the middle: 5 of them, 2 → first and last."""
    if number == 1:
        return (seconds[len(seconds) // 2],)
    last = len(seconds) - 1
    return tuple(seconds[round(k * last / (number - 1))] for k in range(number))
