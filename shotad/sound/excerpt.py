"""A part of a mix by itself, as it is in the whole: for hearing one line without rendering a film.

Level and depth of a line follow from how loud the programme is as a whole and around the line, so the
programme is listened to once (`whole`), and until that is done a stretch of it must do (`nearby`). A make-up
gain, of which a render hears a trial of the whole mix, is foreseen from the programme's course and the times
of the lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shotad.core import Interval, MixSettings
from shotad.film import Samples, SoundBlock
from shotad.sound.files import downmixed
from shotad.sound.levels import (
    FOLLOW,
    PROFILES,
    Dialogue,
    depth_for,
    envelope,
    peak_limit,
    reached,
    summed,
    target_of,
)
from shotad.sound.loudness import DOWNMIXED_PEAK, SILENT, Course, Limiter, Loudness, Meter, gated, limited
from shotad.sound.mix import Heard, Recipe
from shotad.sound.programme import Programme, channel_names

LEAD = 1.0
"""Seconds that are mixed before an excerpt: what a limiter has lowered is back by then (40 dB a second)."""

TAIL = 0.1
"""Seconds after it: a limiter looks ahead by 0.05."""

AROUND = FOLLOW + 1.0
"""Seconds before and after a line that are listened to while the whole is not known."""

SAMPLES, SAMPLE = 8, 5.0
"""Stretches of a film that tell meanwhile about how loud it is, and their length in seconds."""

PAUSES = -0.55
"""LU by which a line, its pauses counted, lies under its gated loudness (60 lines by the embedded voice)."""


def whole(programme: Programme, pause: Callable[[float], None] = lambda _: None) -> Heard:
    """All of a programme, listened to. ``pause`` is called after each second of it with where it stands, and
    may wait, or raise to end it."""
    meter = Meter(programme.layout, programme.rate)
    for block in programme.blocks():
        meter.add(block.samples)
        pause(block.seconds)
    return Heard(*meter.result())


def nearby(programme: Programme, around: Interval) -> Heard:
    """What lies around a line, and some `AROUND` seconds more to both sides.

    Its figures stand at the same tenths of a second as those of the whole.
    """
    start = max(0.0, np.floor(around.start - AROUND))
    first, end = round(start * programme.rate), round((around.end + AROUND) * programme.rate)
    part = programme.part(first, end)
    return Heard(*Meter(part.layout, part.rate).heard(part.blocks()), start)


def sampled(programme: Programme) -> Loudness:
    """About how loud a whole programme is, by stretches evenly over it."""
    size, parts, peaks = round(SAMPLE * programme.rate), [], []
    for number in range(SAMPLES):
        first = max(0, round((number + 0.5) * programme.total / SAMPLES) - size // 2)
        part = programme.part(first, first + size)
        loudness, course = Meter(part.layout, part.rate).heard(part.blocks())
        # The first windows are not full.
        parts.append(course.momentary[3:])
        peaks += [] if loudness.true_peak is None else [loudness.true_peak]
    momentary = np.concatenate(parts)
    top = float(momentary.max(initial=-np.inf))
    return Loudness(gated(momentary), 0.0, max(peaks, default=None), top if top > SILENT else None, None)


def foreseen_make_up(
    own: Heard, lines: Sequence[Interval], speech: Sequence[Interval], settings: MixSettings, duration: float
) -> float:
    """The gain in dB by which the whole mix will come to its profile's target, as far as it can be known
    before all ``lines`` are spoken and the mix was heard; 0 where the film's own loudness is kept.

    Each line is taken to be as loud all through. What a limiter will take away is not in it.
    """
    profile = PROFILES[settings.profile]
    dialogue = Dialogue([*speech, *lines], duration)
    target, of_dialogue = target_of(profile, dialogue)
    if target is None:
        return 0.0
    if own.start or own.course.middles.size * 0.1 < duration - 1:
        # Of a part it is not known how much of it are lines.
        return 0.0 if own.loudness.integrated is None else target - own.loudness.integrated
    ordered = sorted(lines)
    levels = [own.voice_level(line, settings) for line in ordered]
    pairs = list(zip(ordered, levels, strict=True))
    depths = [depth_for(level, own.level_during(line), settings) for line, level in pairs]
    voice = np.full(own.course.momentary.shape, -np.inf, np.float32)
    for line, level in pairs:
        voice[own.course.within(line.start, line.end)] = level + PAUSES
    gains = envelope(ordered, speech, depths)
    both = summed(own.course, gains, Course(voice))
    expected = reached(both, dialogue, of_dialogue)
    return 0.0 if expected is None else target - expected


def limit_of(own: Heard, settings: MixSettings) -> float:
    """dBTP that the mix stays under."""
    return peak_limit(own.loudness, PROFILES[settings.profile], settings)


@dataclass(frozen=True, slots=True, eq=False)
class Excerpt:
    """Samples ``[first, end)`` of the mix of a ``recipe``; ``true_peak`` in dBTP is what it does not pass."""

    recipe: Recipe
    first: int
    end: int
    true_peak: float

    @property
    def rate(self) -> int:
        return self.recipe.programme.rate

    def mixed(self) -> Samples:
        """Programme and voice, ``float32[n, channels]``: of the film's channels, or two where it has more."""
        return self._heard(self.recipe)

    def alone(self) -> Samples:
        """The voice alone, as loud and in the channels as in the mix."""
        recipe = self.recipe
        silence = replace(recipe.programme, film=None, track=None, seeker=None)
        return self._heard(replace(recipe, programme=silence, gains=()))

    def film(self) -> Samples:
        """The programme alone, as it is in the film."""
        blocks = self._part(self.recipe.programme).blocks()
        return self._cut(blocks)

    def _heard(self, recipe: Recipe) -> Samples:
        part = replace(recipe, programme=self._part(recipe.programme))
        return self._cut(limited(part.mixed(), Limiter(self.true_peak, self.rate)))

    @property
    def _begin(self) -> int:
        """Number of the sample from which on it is mixed; a whole second, so that blocks are as in the
        whole."""
        return max(0, (self.first - round(LEAD * self.rate)) // self.rate * self.rate)

    def _part(self, programme: Programme) -> Programme:
        return programme.part(self._begin, self.end + round(TAIL * self.rate))

    def _cut(self, blocks: Iterable[SoundBlock]) -> Samples:
        """As players of two channels have it, by the downmix of sound files."""
        layout = self.recipe.programme.layout
        if len(channel_names(layout)) > 2:
            blocks = downmixed(blocks, layout, self.rate, DOWNMIXED_PEAK)
        parts = [block.samples for block in blocks]
        lead, count = self.first - self._begin, self.end - self.first
        sound = np.concatenate(parts)[lead : lead + count] if parts else np.zeros((0, 2), np.float32)
        return np.pad(sound, ((0, count - len(sound)), (0, 0)))
