"""One line among its neighbours, fitted as in the whole track: only those that press on each other matter."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from shotad.core import FitSettings, Interval
from shotad.script import Track, spoken_words
from shotad.sound.fitting.forms import weight
from shotad.sound.fitting.ladder import fit
from shotad.sound.fitting.lines import BETWEEN, earliest, latest, lines_of
from shotad.sound.kinds import PACE, Fitting, Line, Studio, Take

MOST = 12
"""Neighbours to each side that are fitted along at most: a shift of one line dies away much sooner."""

LONGER = 1.3
"""Times that a line not spoken yet may be longer than its words let expect."""

_RATE = 8000


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A line and those that may press on it or are heard beside it, ``at`` its number among them."""

    lines: tuple[Line, ...]
    at: int

    @property
    def line(self) -> Line:
        """The one in question."""
        return self.lines[self.at]

    def by_nearness(self) -> list[Line]:
        """The line itself, then the others from the nearest on."""
        order = sorted(range(len(self.lines)), key=lambda i: (abs(i - self.at), i))
        return [self.lines[i] for i in order]


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A neighbourhood fitted. ``guessed`` are ids of lines that no voice has spoken yet: their length is
    estimated, and their takes are silence."""

    fitting: Fitting
    guessed: frozenset[str]


def neighbourhood(
    track: Track,
    line_id: str,
    speech: Sequence[Interval],
    slots: Mapping[str, Interval],
    settings: FitSettings,
    *,
    margin: float,
    before: float,
    after: float,
) -> Neighbourhood:
    """A line with its neighbours, among them all that may be heard within ``before`` and ``after`` seconds of
    it. ``speech``, ``slots``, ``margin`` as for `lines_of`. Raises ValueError for one that is not heard."""
    heard = sorted(track.heard, key=lambda cue: (cue.interval.start, cue.id))
    at = next((i for i, cue in enumerate(heard) if cue.id == line_id), None)
    if at is None:
        raise ValueError(f"{line_id} is no line that is heard")
    near = heard[max(0, at - MOST) : at + MOST + 1]
    lines = lines_of(replace(track, cues=tuple(near)), speech, slots, settings, margin=margin)
    lines = tuple(sorted(lines, key=lambda line: (line.start, line.id)))
    at = next(i for i, line in enumerate(lines) if line.id == line_id)
    first, last = at, at
    while first > 0 and _together(lines[first - 1], lines[first], lines[at], settings, before):
        first -= 1
    while last + 1 < len(lines) and _together(lines[last], lines[last + 1], lines[at], settings, after):
        last += 1
    return Neighbourhood(lines[first : last + 1], at - first)


def _together(one: Line, other: Line, middle: Line, settings: FitSettings, beside: float) -> bool:
    """Whether two lines in a row may press on each other, or the outer one is heard beside the middle one."""
    reach = min(one.room.end, latest(one, settings) + _expected(one))
    if reach + BETWEEN > earliest(other, settings):
        return True
    if other is middle or other.start <= middle.start:
        return reach > earliest(middle, settings) - beside
    end = min(middle.room.end, latest(middle, settings) + _expected(middle))
    return earliest(other, settings) < end + beside


def _expected(line: Line) -> float:
    return LONGER * spoken_words(line.text, line.language) * 60 / PACE


def fit_near(near: Neighbourhood, studio: Studio, settings: FitSettings, *, until: float = np.inf) -> Placed:
    """The neighbourhood in its place: the line itself spoken whatever it takes, its neighbours from the
    nearest on until ``until`` (of `time.monotonic`), the rest guessed. Raises VoiceError."""
    others = frozenset(line.text for line in near.lines) - {near.line.text}
    hurried = _Hurried(studio, near.line.text, others, until)
    for line in near.by_nearness():
        hurried.say(line.text)
    fitting = fit(near.lines, hurried, settings)
    whole = {line.id for line in fitting.spoken if line.text in hurried.guesses}
    left = {line.id for line in fitting.unspoken if line.text in hurried.guesses}
    return Placed(fitting, frozenset(whole | left))


@dataclass(slots=True, eq=False)
class _Hurried:
    """A studio in which after ``until`` none of ``others`` is begun to be spoken: how long it would be is
    guessed after the line that is ``wanted``."""

    studio: Studio
    wanted: str
    others: frozenset[str]
    until: float
    guesses: dict[str, Take] = field(default_factory=dict)
    spoken: dict[tuple[str, float], Take] = field(default_factory=dict)

    @property
    def voice(self) -> str:
        return self.studio.voice

    def say(self, text: str, speed: float = 1.0) -> Take:
        known = self.guesses.get(text) or self.spoken.get((text, speed))
        if known is not None:
            return known
        if text not in self.others or time.monotonic() < self.until:
            take = self.spoken[text, speed] = self.studio.say(text, speed)
            return take
        seconds = self.spoken[self.wanted, 1.0].seconds * weight(text) / weight(self.wanted)
        silence = np.zeros(max(1, round(seconds * _RATE)), np.float32)
        take = self.guesses[text] = Take(silence, _RATE, self.studio.voice, text, speed)
        return take
