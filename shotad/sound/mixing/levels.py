"""How loud each line is and how deep the programme goes under it, and what brings a mix to its target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.core import GainPoint, Interval, MixSettings
from shotad.sound.ducking import gain_at
from shotad.sound.loudness import SILENT, WINDOW, Course, Loudness, gated, level, power
from shotad.sound.mixing.profiles import ASSUMED, QUIET, Profile

AMBIENCE = 15.0
"""LU that a line stands over a quiet scene: the proposal for commentary over ambience, as `MixSettings.over`
is that for commentary over music (AES 2019)."""

SOFTEST, LOUDEST = -10.0, 3.0
"""LU by which a line may be softer and louder than usual. Softer by 10 LU, in silence too: with a film at
60 dB in a room of 35 dB the voice keeps the 15 dB over the room that speech needs to be understood whole
(ANSI S12.60). Louder by about what listeners bear without reaching for the volume (2.4 dB, ATSC A/85)."""

FOLLOW = 10.0
"""Seconds before and after a line's middle by which the voice goes, what is nearest counting most: a new
scene is followed slowly, so that no line jumps out after another; lowering the film does the rest at once."""


def voice_level(
    programme: Loudness, course: Course, line: Interval, profile: Profile, settings: MixSettings
) -> float:
    """LUFS at which a line is spoken: that of the ``programme`` as a whole, and ``settings.level`` over it;
    softer in a quiet scene, louder in a loud one.

    The voice does half of what is missing until it stands `MixSettings.over` to `AMBIENCE` LU over the scene
    that is lowered as usual, and the lowering the other half (`depth_for`). ``line`` is on the time of
    ``course``. Where the programme is silence, what the whole is to be.
    """
    own = programme.integrated
    if own is None or own < QUIET or not len(course.momentary):
        return profile.target if profile.target is not None else ASSUMED
    usual = own + settings.level
    # The first windows of a course are not full, and say nothing.
    near = course.within(max(line.middle - FOLLOW, WINDOW / 2), line.middle + FOLLOW)
    nearness = np.maximum(0.01, 1 - np.abs(course.middles[near] - line.middle) / FOLLOW)
    over = usual - course.momentary[near].astype(np.float64) + settings.duck
    missing = np.clip(over, settings.over, _most(settings)) - over
    return usual + float(np.average(np.clip(missing / 2, SOFTEST, LOUDEST), weights=nearness))


def _most(settings: MixSettings) -> float:
    """LU that a line stands over the lowered programme at most, but for a scene that is quieter still."""
    return max(AMBIENCE, settings.over)


def level_during(course: Course, interval: Interval, gains: Sequence[GainPoint] = ()) -> float | None:
    """The mean loudness of the programme in an interval, lowered by ``gains``; None: silence."""
    part = course.within(interval.start, interval.end)
    lowered = gain_at(gains, course.middles[part]).astype(np.float64) ** 2
    heard = power(course.momentary[part]) * lowered
    mean = level(float(heard.mean())) if len(heard) else -np.inf
    return mean if mean > SILENT else None


def depth_for(voice: float, programme: float | None, settings: MixSettings) -> float:
    """dB by which the programme is lowered under a line: as set; more where it is loud, up to the deepest.

    Less where it is quiet, and not at all where it is silence or the voice stands clear of it by itself.
    """
    if programme is None:
        return 0.0
    clear = voice - programme
    if clear + settings.duck > _most(settings):
        return max(0.0, _most(settings) - clear)
    return max(settings.duck, min(settings.over - clear, settings.deepest))


def peak_limit(programme: Loudness, profile: Profile, settings: MixSettings) -> float:
    """dBTP: as set, else the profile's; where that keeps the film's level the film's own peaks stay, up to
    0."""
    if settings.true_peak is not None:
        return settings.true_peak
    if profile.target is None and programme.true_peak is not None:
        # The limiter keeps a little below its limit, and must leave the film alone.
        return min(0.0, max(profile.true_peak, programme.true_peak + 0.2))
    return profile.true_peak


@dataclass(frozen=True, slots=True, eq=False)
class Dialogue:
    """When somebody speaks, in the film or over it, and how long the film is."""

    intervals: Sequence[Interval]
    duration: float

    @property
    def share(self) -> float:
        """Of the film's length."""
        total, end = 0.0, 0.0
        for interval in sorted(self.intervals):
            total += max(0.0, interval.end - max(end, interval.start))
            end = max(end, interval.end)
        return total / self.duration if self.duration else 0.0

    def level(self, course: Course) -> float | None:
        """The mean loudness meanwhile, LUFS; None: silence."""
        spoken = np.zeros(len(course.momentary), bool)
        for interval in self.intervals:
            spoken[course.within(interval.start, interval.end)] = True
        heard = power(course.momentary[spoken])
        mean = level(float(heard.mean())) if len(heard) else -np.inf
        return mean if mean > SILENT else None


def target_of(profile: Profile, dialogue: Dialogue) -> tuple[float | None, bool]:
    """The target in LUFS (None: the film's own), and whether it is meant of dialogue alone."""
    if profile.dialogue and dialogue.share < profile.least_dialogue:
        return profile.otherwise, False
    return profile.target, profile.dialogue


def reached(course: Course, dialogue: Dialogue, of_dialogue: bool) -> float | None:
    """What is compared with the target: LUFS of dialogue or of the whole; None: silence."""
    return dialogue.level(course) if of_dialogue else gated(course.momentary)


def summed(programme: Course, gains: Sequence[GainPoint], voice: Course) -> Course:
    """The course of both together, the programme lowered, as two sounds add that have nothing in common."""
    count = min(len(programme.momentary), len(voice.momentary))
    lowered = gain_at(gains, programme.middles[:count]).astype(np.float64) ** 2
    both = power(programme.momentary[:count]) * lowered + power(voice.momentary[:count])
    return Course(_levels(both), np.zeros(0, np.float32))


def _levels(powers: Iterable[float]) -> npt.NDArray[np.float32]:
    with np.errstate(divide="ignore"):
        return np.asarray(10 * np.log10(np.asarray(powers)), np.float32)
