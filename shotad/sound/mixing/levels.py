"""How loud each line is and how deep the programme goes under it, and what brings a mix to its target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.config.sound import MixSettings
from shotad.sound.ducking import gain_at
from shotad.sound.loudness import SILENT, Course, Loudness, gated, level, power
from shotad.sound.mixing.profiles import ASSUMED, QUIET, Profile
from shotad.types import GainPoint, Interval


def voice_level(programme: Loudness, profile: Profile, settings: MixSettings) -> float:
    """LUFS at which every line is spoken: the programme's, and ``settings.level`` over it.

    Where the programme is silence, what the whole is to be.
    """
    own = programme.integrated
    if own is None or own < QUIET:
        return profile.target if profile.target is not None else ASSUMED
    return own + settings.level


def level_during(course: Course, interval: Interval, gains: Sequence[GainPoint] = ()) -> float | None:
    """The mean loudness of the programme in an interval, lowered by ``gains``; None: silence."""
    part = course.within(interval.start, interval.end)
    lowered = gain_at(gains, course.middles[part]).astype(np.float64) ** 2
    heard = power(course.momentary[part]) * lowered
    mean = level(float(heard.mean())) if len(heard) else -np.inf
    return mean if mean > SILENT else None


def depth_for(voice: float, programme: float | None, settings: MixSettings) -> float:
    """dB by which the programme is lowered under a line: as set, more where it is loud, up to the deepest."""
    if programme is None:
        return settings.duck
    wanted = programme - (voice - settings.over)
    return max(settings.duck, min(wanted, settings.deepest))


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
