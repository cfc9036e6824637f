"""A mix that is settled: its two sounds are made anew, block by block, whenever they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shotad.core import GainPoint
from shotad.film import Samples, SoundBlock
from shotad.sound.ducking import gain_at
from shotad.sound.loudness import Course, Loudness
from shotad.sound.mixing.layouts import Gains
from shotad.sound.mixing.levels import Dialogue, reached
from shotad.sound.mixing.limiter import Limiter, limited
from shotad.sound.mixing.programme import Programme
from shotad.sound.mixing.report import FileSound, MixReport
from shotad.sound.mixing.takes import Lane


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """All that a mix is made of: the programme and its level, the voice and its place among the channels, and
    the gain in dB on both."""

    programme: Programme
    gains: tuple[GainPoint, ...]
    lane: Lane
    spread: Gains
    make_up: float = 0.0

    def mixed(self) -> Iterator[SoundBlock]:
        """Programme and voice, not yet limited: ``float32[n, channels]``."""
        rate, playing, lowering = self.programme.rate, self.lane.play(), Lowering(self.gains)
        factor = np.float32(10 ** (self.make_up / 20))
        for block in self.programme.blocks():
            first = round(block.seconds * rate)
            samples = lowering.applied(block.samples, first, rate)
            voice = playing.between(first, first + len(samples))
            if voice is not None:
                samples = samples + voice[:, None] * self.spread
            yield SoundBlock(block.seconds, samples if self.make_up == 0 else samples * factor)

    def alone(self) -> Iterator[SoundBlock]:
        """The voice, not yet limited: ``float32[n, 1]``."""
        rate, total, playing = self.programme.rate, self.programme.total, self.lane.play()
        factor = np.float32(10 ** (self.make_up / 20))
        for first in range(self.programme.begin, total, rate):
            end = min(first + rate, total)
            voice = playing.between(first, end)
            samples = np.zeros(end - first, np.float32) if voice is None else voice * factor
            yield SoundBlock(first / rate, samples[:, None])


class Lowering:
    """The programme's level laid on samples; where it stands at 0 dB they are passed on as they are."""

    def __init__(self, points: Sequence[GainPoint]) -> None:
        self._points = points
        self._seconds = np.array([point.seconds for point in points])
        self._moved = np.array([point.decibels != 0 for point in points], bool)

    def applied(self, samples: Samples, first: int, rate: int) -> Samples:
        """``float32[n, channels]`` of which the first is number ``first``, lowered; never the caller's own,
        changed."""
        if not self._touches(first / rate, (first + len(samples)) / rate):
            return samples
        seconds = (first + np.arange(len(samples))) / rate
        return samples * gain_at(self._points, seconds)[:, None]

    def _touches(self, start: float, end: float) -> bool:
        begin = max(0, int(np.searchsorted(self._seconds, start, "right")) - 1)
        stop = int(np.searchsorted(self._seconds, end)) + 1
        return bool(self._moved[begin:stop].any())


@dataclass(frozen=True, slots=True, eq=False)
class Mix:
    """Programme and audio description together, and the description alone, as long as the film to the sample.

    ``gains`` is the programme's level along film time, ``true_peak`` in dBTP what neither sound passes as it
    is made here (`MixReport.true_peak` is what no finished file may pass). Both can be run any number of
    times; each run reads the film once. ``dialogue`` is when somebody speaks, in the film or over it.
    """

    recipe: Recipe
    true_peak: float
    report: MixReport
    dialogue: Dialogue

    def lower(self, decibels: float) -> Mix:
        """The same with peaks that stay lower, by so many dB."""
        return replace(self, true_peak=self.true_peak - decibels)

    def louder(self, decibels: float) -> Mix:
        """The same with more make-up gain."""
        return replace(self, recipe=replace(self.recipe, make_up=self.recipe.make_up + decibels))

    def heard(self, loudness: Loudness, course: Course | None) -> FileSound:
        """A finished file that was measured; ``course`` None: the description alone, which has no target."""
        if course is None:
            return FileSound(loudness, False, None)
        return FileSound(loudness, True, reached(course, self.dialogue, self.report.of_dialogue))

    @property
    def layout(self) -> str:
        """ffmpeg's name of the channels, that of the programme; ``stereo`` where the film has no sound."""
        return self.recipe.programme.layout

    @property
    def channels(self) -> int:
        """Their number."""
        return self.recipe.programme.channels

    @property
    def rate(self) -> int:
        """Samples a second."""
        return self.recipe.programme.rate

    @property
    def duration(self) -> float:
        """The film's, in seconds."""
        return self.recipe.programme.total / self.rate

    @property
    def gains(self) -> tuple[GainPoint, ...]:
        """The programme's level along film time, without the make-up gain."""
        return self.recipe.gains

    def mixed(self) -> Iterator[SoundBlock]:
        """``float32[n, channels]``, sample i of all at ``i / rate`` film seconds."""
        return limited(self.recipe.mixed(), Limiter(self.true_peak, self.rate))

    def alone(self) -> Iterator[SoundBlock]:
        """``float32[n]``: the description alone, mono, as loud as in the mix; silence elsewhere."""
        for block in limited(self.recipe.alone(), Limiter(self.true_peak, self.rate)):
            yield SoundBlock(block.seconds, block.samples[:, 0])
