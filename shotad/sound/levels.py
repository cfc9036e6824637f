"""How loud the mix and each line are, and how the programme is lowered under the lines.

The target is a delivery profile's. The ducking is a curve of decibels over film time, made from times alone
by these rules, the stronger first:

1. Never under speech: outside the gaps between utterances the curve stands at 0 dB.
2. Nothing clicks: no ramp is shorter than `SHORTEST_RAMP`.
3. Under a line the curve is at the line's depth from its first sound to its last. Where a gap leaves no room
   for the full ramp beside the line, the ramp gets steeper, down to `SHORTEST_RAMP`; then it reaches into the
   line;
   where the gap is too short even for two such ramps, the depth gets smaller.
4. Between lines nearer than the hold it stays at the lesser of their depths.

Every line, and every such bridge between two, is a trapezoid; the curve is the lowest of them everywhere. So
it is continuous, and nowhere steeper than the steepest trapezoid.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.core import Interval
from shotad.core.config.sound import MixSettings
from shotad.core.types import GainPoint, Seconds
from shotad.film.slots import join_intervals, subtract
from shotad.sound.loudness import ABSOLUTE_GATE, WINDOW, Loudness, LoudnessCurve, gated, level, power


@dataclass(frozen=True, slots=True)
class Profile:
    """``target`` is LUFS (LKFS is another word for it), None: as loud as the film. ``true_peak`` is dBTP.

    ``least_dialogue``: what counts is the loudness while somebody speaks, film or describer, without the
    relative gate; where that is less than this share of the film, ``otherwise`` is the target of the whole
    (0: the whole counts in any case). ``tolerance`` is how many LU a delivery may be off.
    """

    target: float | None
    true_peak: float
    tolerance: float
    least_dialogue: float = 0.0
    otherwise: float | None = None


PROFILES: dict[str, Profile] = {
    # Our own: the film's loudness is kept, so that nothing jumps where a listener changes the track; peaks
    # may be as high as the film's own.
    "source": Profile(None, -1.0, 0.0),
    # EBU R 128 (2020)
    "ebu-r128": Profile(-23.0, -1.0, 0.5),
    # ATSC A/85 (2013)
    "atsc-a85": Profile(-24.0, -2.0, 2.0),
    # Netflix Sound Mix Specifications & Best Practices: dialogue-gated (BS.1770-1); with less than 15 %
    # dialogue the whole (BS.1770-3).
    "netflix": Profile(-27.0, -2.0, 2.0, least_dialogue=0.15, otherwise=-24.0),
    # AES TD1004 and TD1008: streams at -16 to -20 LUFS; -16 is also Apple's, and 2 LU under the -14 to which
    # YouTube and Spotify turn down what is louder.
    "web": Profile(-16.0, -1.0, 1.0),
}
"""Profiles by their name in the settings."""

PEAK_SLACK = 0.1
"""dB by which meters of true peak differ."""

ASSUMED_LOUDNESS = -23.0
"""LUFS of a described film whose own sound is silence, where no target is given: EBU R 128's."""

QUIETEST_PROGRAMME = -50.0
"""LUFS: a programme quieter than this is taken for silence (hiss, hum) and no measure for the voice."""

CLEAR_OF_LOUD = 10.0
"""LU by which a line must stand over the ducked programme around it; where that is loud it is lowered
further: the proposal for commentary over music (AES 2019)."""

MAX_DEPTH = 20.0
"""dB by which it is lowered at most, unless more is set: what is lower yet is gone, and its end jumps out."""

CLEAR_OF_QUIET = 15.0
"""LU that a line stands over a quiet scene: the proposal for commentary over ambience (AES 2019)."""

MAX_SOFTER, MAX_LOUDER = -10.0, 3.0
"""LU by which a line may be softer and louder than usual. Softer by 10 LU, in silence too: with a film at
60 dB in a room of 35 dB the voice keeps the 15 dB over the room that speech needs to be understood whole
(ANSI S12.60). Louder by about what listeners bear without reaching for the volume (2.4 dB, ATSC A/85)."""

FOLLOW_SECONDS = 10.0
"""Seconds before and after a line's middle by which the voice goes, what is nearest counting most: a new
scene is followed slowly, so that no line jumps out after another; lowering the film does the rest at once."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredSound:
    """The loudness of a sound as a whole, and as a curve over time that begins at film second ``start``."""

    loudness: Loudness
    curve: LoudnessCurve
    start: float = 0.0

    def level_during(self, interval: Interval, gains: Sequence[GainPoint] = ()) -> float | None:
        """Its mean loudness in an interval of film time, LUFS, lowered by ``gains``; None: silence."""
        within = self._within(interval)
        part = self.curve.within(within.start, within.end)
        lowered = gain_at(gains, self.curve.middles[part]).astype(np.float64) ** 2
        return _mean_level(power(self.curve.momentary[part]) * lowered)

    def voice_level(self, line: Interval, settings: MixSettings) -> float:
        """LUFS at which a line is spoken over it, at that film time: its own as a whole, and
        ``settings.level`` over it; softer in a quiet scene, louder in a loud one.

        The voice does half of what is missing until it stands `CLEAR_OF_LOUD` to `CLEAR_OF_QUIET` LU over the
        scene that is lowered as usual; the lowering does the other half (`depth_for`). Over a silent
        programme it is the target of the whole mix.
        """
        film_level, course, target = self.loudness.integrated, self.curve, PROFILES[settings.profile].target
        if film_level is None or film_level < QUIETEST_PROGRAMME or not len(course.momentary):
            return target if target is not None else ASSUMED_LOUDNESS
        usual, middle = film_level + settings.level, self._within(line).middle
        # The first windows of a course are not full, and say nothing.
        near = course.within(max(middle - FOLLOW_SECONDS, WINDOW / 2), middle + FOLLOW_SECONDS)
        nearness = np.maximum(0.01, 1 - np.abs(course.middles[near] - middle) / FOLLOW_SECONDS)
        over = usual - course.momentary[near].astype(np.float64) + settings.duck
        missing = np.clip(over, CLEAR_OF_LOUD, CLEAR_OF_QUIET) - over
        return usual + float(np.average(np.clip(missing / 2, MAX_SOFTER, MAX_LOUDER), weights=nearness))

    def _within(self, interval: Interval) -> Interval:
        """An interval of film time on the curve's own time, never empty."""
        end = max(interval.end - self.start, 0.001)
        return Interval(min(interval.start - self.start, end - 0.001), end)


def _mean_level(powers: npt.NDArray[np.float64]) -> float | None:
    """LUFS; None: silence."""
    mean = level(float(powers.mean())) if len(powers) else -np.inf
    return mean if mean > ABSOLUTE_GATE else None


def depth_for(voice: float, programme: float | None, settings: MixSettings) -> float:
    """dB by which the programme is lowered under a line: as set; more where it is loud, up to the deepest.

    Less where it is quiet, and not at all where it is silence or the voice stands clear of it by itself.
    """
    if programme is None:
        return 0.0
    clear = voice - programme
    if clear + settings.duck > CLEAR_OF_QUIET:
        return max(0.0, CLEAR_OF_QUIET - clear)
    return max(settings.duck, min(CLEAR_OF_LOUD - clear, MAX_DEPTH))


def peak_limit(film_sound: MeasuredSound, settings: MixSettings) -> float:
    """dBTP that a mix stays under: as set, else the profile's; where that keeps the film's level the film's
    own peaks stay, up to 0."""
    profile, peak = PROFILES[settings.profile], film_sound.loudness.true_peak
    if settings.true_peak is not None:
        return settings.true_peak
    if profile.target is None and peak is not None:
        # The limiter keeps a little below its limit, and must leave the film alone.
        return min(0.0, max(profile.true_peak, peak + 0.2))
    return profile.true_peak


def loudness_target(
    profile: Profile, dialogue: Sequence[Interval], duration: float
) -> tuple[float | None, bool]:
    """The target in LUFS (None: the film's own), and whether it is meant of dialogue alone. ``dialogue`` is
    when somebody speaks, in the film of ``duration`` seconds or over it."""
    share = sum(interval.duration for interval in join_intervals(dialogue)) / duration if duration else 0.0
    if share < profile.least_dialogue:
        return profile.otherwise, False
    return profile.target, profile.least_dialogue > 0


def compared_loudness(curve: LoudnessCurve, dialogue: Sequence[Interval], of_dialogue: bool) -> float | None:
    """The loudness that is compared with the target, LUFS: of dialogue or of the whole; None: silence."""
    if not of_dialogue:
        return gated(curve.momentary)
    is_dialogue = np.zeros(len(curve.momentary), bool)
    for interval in dialogue:
        is_dialogue[curve.within(interval.start, interval.end)] = True
    return _mean_level(power(curve.momentary[is_dialogue]))


def summed_curve(programme: LoudnessCurve, gains: Sequence[GainPoint], voice: LoudnessCurve) -> LoudnessCurve:
    """The loudness curve of both together, the programme lowered by ``gains``.

    Powers are added, as of two sounds that have nothing in common.
    """
    count = min(len(programme.momentary), len(voice.momentary))
    lowered = gain_at(gains, programme.middles[:count]).astype(np.float64) ** 2
    both = power(programme.momentary[:count]) * lowered + power(voice.momentary[:count])
    with np.errstate(divide="ignore"):
        levels = np.asarray(10 * np.log10(both), np.float32)
    return LoudnessCurve(levels)


SHORTEST_RAMP = 0.05
"""Seconds of the shortest ramp. Ten times the 5 ms from which on a fade is not heard as a click, so that even
20 dB in it have none; half a short syllable, so that it passes unnoticed beside speech."""

MIN_DIP = 1.0
"""dB: where a gap has no room for more than this the programme is left alone; such a dip helps nobody."""

FALL_SECONDS, RISE_SECONDS = 0.3, 0.4
"""Seconds in which the programme is lowered before a line begins, and comes back after its end: as a mixer's
hand does."""

DUCKING_HOLD = 1.5
"""Seconds between two lines below which it stays low, where nobody speaks in between."""

_ALL_TIME = Interval(-1e9, 1e9)


@dataclass(frozen=True, slots=True)
class _Trapezoid:
    """Falls from ``begin`` to ``low``, stays at ``-depth`` dB to ``rise``, is back at ``end``."""

    begin: float
    low: float
    rise: float
    end: float
    depth: float

    def at(self, seconds: Seconds) -> Seconds:
        bends = (self.begin, self.low, self.rise, self.end)
        return np.interp(seconds, bends, (0.0, -self.depth, -self.depth, 0.0))


def envelope(
    spoken: Sequence[Interval], speech: Sequence[Interval], depths: Sequence[float]
) -> tuple[GainPoint, ...]:
    """The programme's level under the lines ``spoken``, ascending by second; empty where it is never lowered.

    ``depths`` are dB, 0 or more, one for each line. ``speech`` is whatever must not be lowered, in any
    order. The first point is at second 0 or later; first and last point are at 0 dB, save where a line
    begins with the film. Raises ValueError where depths and lines differ in number.
    """
    gaps, shapes = subtract(_ALL_TIME, speech), list[_Trapezoid]()
    lines = sorted(zip(spoken, depths, strict=True), key=lambda pair: pair[0])
    for line, depth in lines:
        shapes += _trapezoids(gaps, line, depth, FALL_SECONDS, RISE_SECONDS)
    for (before, deep), (after, deeper) in itertools.pairwise(lines):
        if 0 < after.start - before.end < DUCKING_HOLD:
            between = Interval(before.end, after.start)
            if any(
                gap.contains(before.end) and after.start <= gap.end for gap in _gaps_around(gaps, between)
            ):
                shapes += _trapezoids(gaps, between, min(deep, deeper), SHORTEST_RAMP, SHORTEST_RAMP)
    shapes.sort(key=lambda shape: shape.begin)
    points = _lowest_curve(shapes)
    later = [point for point in points if point.seconds > 0]
    if later and len(later) < len(points):
        # A ramp that would begin before second 0 is entered where it then stands.
        level = np.interp(0.0, [p.seconds for p in points], [p.decibels for p in points])
        later.insert(0, GainPoint(0.0, float(level)))
    return tuple(later)


def gain_at(points: Sequence[GainPoint], seconds: Seconds) -> npt.NDArray[np.float32]:
    """``float32[n]``: the factor of the programme's amplitude at each of ``float64[n]`` film seconds; 1 at 0
    dB."""
    if not points:
        return np.ones(len(seconds), np.float32)
    decibels = np.interp(seconds, [p.seconds for p in points], [p.decibels for p in points])
    return np.asarray(10 ** (decibels / 20), np.float32)


def _trapezoids(
    gaps: Sequence[Interval], line: Interval, depth: float, fall_seconds: float, rise_seconds: float
) -> Iterator[_Trapezoid]:
    """The trapezoids of one line: one for each gap between utterances that it lies in."""
    for gap in _gaps_around(gaps, line):
        begin = max(gap.start, line.start - fall_seconds)
        end = min(gap.end, line.end + rise_seconds)
        length = end - begin
        if length <= 2 * SHORTEST_RAMP:
            middle, share = (begin + end) / 2, length / (2 * SHORTEST_RAMP)
            shape = _Trapezoid(begin, middle, middle, end, depth * share)
        else:
            low = max(line.start, begin + SHORTEST_RAMP)
            rise = min(max(line.end, low), end - SHORTEST_RAMP)
            shape = _Trapezoid(begin, min(low, rise), rise, end, depth)
        if shape.depth >= min(MIN_DIP, depth) and shape.depth > 0:
            yield shape


def _gaps_around(gaps: Sequence[Interval], line: Interval) -> Iterator[Interval]:
    """The gaps that share time with a line."""
    first = max(0, bisect.bisect_right(gaps, line.start, key=lambda gap: gap.start) - 1)
    for gap in itertools.islice(gaps, first, None):
        if gap.start >= line.end:
            return
        if gap.end > line.start:
            yield gap


def _lowest_curve(shapes: Sequence[_Trapezoid]) -> list[GainPoint]:
    """The bends of the lowest of all shapes, which ascend by their begin: at their own bends and where two of
    them cross."""
    bends = np.unique([second for s in shapes for second in (s.begin, s.low, s.rise, s.end)])
    crossings: list[float] = []
    for number, shape in enumerate(shapes):
        for other in itertools.islice(shapes, number + 1, None):
            if other.begin >= shape.end:
                break
            near = bends[np.searchsorted(bends, other.begin) : np.searchsorted(bends, shape.end, "right")]
            apart = shape.at(near) - other.at(near)
            for k in np.flatnonzero(apart[:-1] * apart[1:] < 0):
                share = apart[k] / (apart[k] - apart[k + 1])
                crossings.append(near[k] + share * (near[k + 1] - near[k]))
    seconds = np.unique([*bends, *crossings])
    decibels = np.zeros(len(seconds))
    for shape in shapes:
        within = slice(*np.searchsorted(seconds, (shape.begin, shape.end)))
        decibels[within] = np.minimum(decibels[within], shape.at(seconds[within]))
    points = [GainPoint(float(s), float(d) + 0.0) for s, d in zip(seconds, decibels, strict=True)]
    bending: list[GainPoint] = []
    for number, point in enumerate(points):
        if bending and number + 1 < len(points):
            # Points at which the curve does not bend are left out.
            after = points[number + 1]
            share = (point.seconds - bending[-1].seconds) / (after.seconds - bending[-1].seconds)
            straight = bending[-1].decibels + share * (after.decibels - bending[-1].decibels)
            if abs(straight - point.decibels) < 1e-9:
                continue
        bending.append(point)
    return bending
