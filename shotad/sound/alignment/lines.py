"""Lines: parts of film and recording that run side by side at one speed, fitted to a few milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.sound.alignment.fingerprints import FRAMES_PER_SECOND, WAVE_RATE, Fingerprint, Matrix
from shotad.sound.alignment.search import Match

WINDOW = 3.0
"""Seconds of the recording whose place is measured at once."""
STEP = 0.75
"""Seconds between two of these windows."""
_REACH = 0.35
"""Seconds to each side in which its place is looked for: the rough search is right to 0.15 s."""
NEAR = 0.02
"""Seconds by which a window's place may differ from its line and still speak for it."""
_MIN_WINDOWS = 5
"""Windows that a line of its own takes beside another."""
_LONG = 60.0
"""Seconds from which a part says enough about its speed by the rough search alone."""

_WAVE_WINDOW = 1.5
"""Seconds of two waves that are compared."""
_WAVE_REACH, _WAVE_NEAR = 0.008, 0.0004
"""Seconds by which the waves may be off the line, and by which a window may differ and still speak for it."""
_WAVE_SHARE = 0.3
"""Share of the windows that have to: chance gives a tenth."""
_SAME_SPEED = 0.002
"""By how much the speeds of two lines that are one may differ."""
CHANCE_LIKENESS = 0.08
"""Standard deviation of the correlation of two sounds of `WINDOW` seconds that have nothing in common."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Point:
    """A second of the film and the second of the recording that belongs to it."""

    film: float
    recording: float


@dataclass(frozen=True, slots=True)
class Gap:
    """The part of the film and the part of the recording that lie between two points."""

    start: Point
    end: Point

    @property
    def film_seconds(self) -> float:
        return self.end.film - self.start.film

    @property
    def recording_seconds(self) -> float:
        return self.end.recording - self.start.recording


@dataclass(frozen=True, slots=True)
class Line:
    """``film = at + speed * (recording - origin)``, seen from ``start`` to ``end`` of the recording.

    ``confidence`` is the share of windows that stand where the line says, beyond what chance gives, 0 to 1.
    ``evidence`` is how much speaks against chance, in nats, ``residual`` the usual distance of a window from
    the line, in seconds.
    """

    at: float
    speed: float
    origin: float
    start: float
    end: float
    confidence: float = 0.0
    evidence: float = 0.0
    residual: float = 0.0

    @property
    def span(self) -> float:
        return self.end - self.start

    @property
    def first_point(self) -> Point:
        return Point(self.film_second(self.start), self.start)

    @property
    def last_point(self) -> Point:
        return Point(self.film_second(self.end), self.end)

    def film_second(self, recording: Any) -> Any:
        """Film seconds of a moment, or of an array of them, of the recording."""
        return self.at + self.speed * (recording - self.origin)

    def recording_second(self, film: float) -> float:
        """The recording's second of a moment of the film."""
        return self.origin + (film - self.at) / self.speed

    def goes_on_in(self, later: Line) -> bool:
        """Whether a later line is the same one."""
        middle = (self.end + later.start) / 2
        step = abs(self.film_second(middle) - later.film_second(middle))
        return bool(step <= 2 * NEAR and abs(self.speed - later.speed) < _SAME_SPEED)


@dataclass(frozen=True, slots=True)
class Offsets:
    """What windows along a line say: at ``middles`` of the recording the film is ``seconds`` later than the
    line.

    ``seconds`` is NaN where a window is silent; ``likeness`` is the correlation there, -1 to 1.
    """

    middles: Numbers
    seconds: Numbers
    likeness: Numbers


def rough_line(matches: Sequence[Match], window: float) -> Line:
    """The line through matches of one speed, seen from the first window's begin to the last one's end."""
    recording = np.array([match.recording for match in matches])
    film = np.array([match.film for match in matches])
    speed = float(np.median([match.speed for match in matches]))
    if recording[-1] - recording[0] >= _LONG:
        speed = _median_slope(recording, film)
    origin = float(recording.mean())
    at = float(np.median(film - speed * (recording - origin)))
    return Line(at, speed, origin, float(recording[0] - window / 2), float(recording[-1] + window / 2))


def _median_slope(recording: Numbers, film: Numbers) -> float:
    """The slope by medians (Theil and Sen), of pairs that are half the length apart."""
    half = max(1, len(recording) // 2)
    apart = recording[half:] - recording[:-half]
    return float(np.median((film[half:] - film[:-half]) / apart))


def measured_offsets(film: Fingerprint, recording: Fingerprint, line: Line) -> Offsets:
    """How far from the line the windows of the recording between its ends stand in the film."""
    span = line.end - line.start
    width = min(WINDOW, span)
    count = max(1, int((span - width) / STEP) + 1)
    starts = line.start + np.arange(count) * STEP if count > 1 else np.array([line.start])
    size = round(width * FRAMES_PER_SECOND)
    reach = round(_REACH * FRAMES_PER_SECOND)
    seconds, likeness = np.full(count, np.nan), np.zeros(count)
    for number, start in enumerate(starts.tolist()):
        first = round(start * FRAMES_PER_SECOND)
        part = recording.frames[max(0, first) : max(0, first + size)]
        begin = max(0, first)
        if len(part) < size // 2:
            continue
        moments = (begin + np.arange(-reach, len(part) + reach)) / FRAMES_PER_SECOND
        # Film frames on the line, in steps of the recording's clock, with room on both sides.
        film_moments = line.at + line.speed * (moments - line.origin)
        around = film.at(film_moments * FRAMES_PER_SECOND)
        place = best_lag(part, around)
        if place is not None:
            lag, likeness[number] = place
            seconds[number] = (lag - reach) / FRAMES_PER_SECOND * line.speed
    return Offsets(np.asarray(starts + width / 2, np.float64), seconds, likeness)


def best_lag(part: Matrix, around: Matrix) -> tuple[float, float] | None:
    """Where in ``around`` the frames of ``part`` stand: a fractional lag, and their correlation there.

    None where one of them is silent.
    """
    lags = len(around) - len(part) + 1
    size = 1 << int(np.ceil(np.log2(len(around))))
    products = np.fft.rfft(around, size, axis=0) * np.conj(np.fft.rfft(part, size, axis=0))
    correlation = np.fft.irfft(products.sum(axis=1), size)[:lags]
    power = np.concatenate([[0.0], np.cumsum(np.square(around).sum(axis=1), dtype=np.float64)])
    film_power = power[len(part) :] - power[:lags]
    own_power = float(np.square(part).sum())
    if own_power < 1e-3 or float(film_power.max()) < 1e-3:
        return None
    correlation = correlation / np.sqrt(own_power * (film_power + 0.05 * film_power.max()))
    lag = int(correlation.argmax())
    if not 0 < lag < lags - 1:
        return float(lag), float(correlation[lag])
    # A parabola through the best and its neighbours.
    before, best, after = correlation[lag - 1 : lag + 2].tolist()
    bend = before - 2 * best + after
    shift = 0.5 * (before - after) / bend if bend < 0 else 0.0
    return lag + shift, best


def fitted_line(line: Line, offsets: Offsets, *, turn: bool = True) -> Line:
    """The line moved to where most windows stand, with its confidence; its speed stays unless ``turn``."""
    # The search tries speeds in steps of 1 %, so that the line may lean by half a step.
    span = float(np.ptp(offsets.middles))
    steepest = 0.006 if turn and span > 3 * WINDOW else 0.0
    good = np.isfinite(offsets.seconds)
    middles, seconds = offsets.middles[good] - line.origin, offsets.seconds[good]
    if len(middles) == 0:
        return replace(line, confidence=0.0, evidence=0.0)
    likeness = np.clip(offsets.likeness[good], 0.01, 1)
    slope, height = _densest(middles, seconds, steepest, NEAR)
    for _ in range(8):
        near = np.abs(seconds - height - slope * middles) <= NEAR
        if near.sum() < 2:
            break
        slope, height = _least_squares(middles[near], seconds[near], likeness[near] ** 2, slope, turn=turn)
    distance = np.abs(seconds - height - slope * middles)
    near = distance <= NEAR
    chance = NEAR / _REACH
    confidence = max(0.0, (float(near.mean()) - chance) / (1 - chance))
    # Neighbours share most of their sound.
    evidence = float(np.square(likeness[near] / CHANCE_LIKENESS).sum()) / 2 * STEP / WINDOW
    return replace(
        line,
        at=line.at + height,
        speed=line.speed + slope,
        confidence=confidence,
        evidence=evidence,
        residual=float(np.median(distance[near])) if near.any() else NEAR,
    )


def line_by_wave(film: Fingerprint, recording: Fingerprint, line: Line) -> Line:
    """The line, fitted more finely by the waves, to about a tenth of a millisecond.

    It stays as it is where the waves do not agree on a line, as in a recording that was stretched at the same
    pitch.
    """
    middles, delays = _wave_delays(film, recording, line)
    good = np.isfinite(delays)
    if good.sum() < _MIN_WINDOWS:
        return line
    moments, seconds = middles[good] - line.origin, delays[good]
    span = float(np.ptp(moments))
    steepest = _WAVE_REACH / span if span > 2 * WINDOW else 0.0
    slope, height = _densest(moments, seconds, steepest, _WAVE_NEAR)
    for _ in range(5):
        near = np.abs(seconds - height - slope * moments) <= _WAVE_NEAR
        if near.sum() < _MIN_WINDOWS:
            return line
        slope, height = _least_squares(
            moments[near], seconds[near], np.ones(int(near.sum())), slope, turn=steepest > 0
        )
    distance = np.abs(seconds - height - slope * moments)
    near = distance <= _WAVE_NEAR
    if near.mean() < _WAVE_SHARE:
        return line
    residual = float(np.median(distance[near]))
    return replace(line, at=line.at + height, speed=line.speed + slope, residual=residual)


def _wave_delays(film: Fingerprint, recording: Fingerprint, line: Line) -> tuple[Numbers, Numbers]:
    """How many seconds later than on the line the film's wave stands, in windows along it; NaN in silence."""
    size = round(_WAVE_WINDOW * WAVE_RATE)
    count = max(1, int((line.span - _WAVE_WINDOW) / STEP) + 1)
    middles = line.start + _WAVE_WINDOW / 2 + np.arange(count) * STEP
    delays = np.full(count, np.nan)
    hertz = np.fft.rfftfreq(size, 1 / WAVE_RATE)
    used = (hertz >= 90) & (hertz <= 1000)
    taper = np.hanning(size).astype(np.float32)
    finer = 4
    reach = round(_WAVE_REACH * WAVE_RATE * finer)
    for number, middle in enumerate(middles.tolist()):
        moments = middle + (np.arange(size) - size / 2) / WAVE_RATE
        own, other = recording.wave_at(moments), film.wave_at(line.film_second(moments))
        # Below two steps of 16 bit there is nothing but rounding.
        if np.abs(own).max() <= 2 or np.abs(other).max() <= 2:
            continue
        product = np.fft.rfft(other * taper) * np.conj(np.fft.rfft(own * taper))
        # Each frequency counts alike (GCC-PHAT): a narrator fills only some.
        phases = np.where(used, product / (np.abs(product) + 1e-9), 0)
        correlation = np.abs(np.fft.irfft(phases, size * finer))
        around = np.concatenate([correlation[-reach:], correlation[: reach + 1]])
        delays[number] = (int(around.argmax()) - reach) / finer / WAVE_RATE * line.speed
    return np.asarray(middles, np.float64), delays


def lines_along(line: Line, offsets: Offsets) -> list[Line]:
    """The line, and where the recording leaves it for good by less than a third of a second, further lines.

    A splice of a few frames makes such a step, and a tape that does not run evenly a bend.
    """
    fitted = fitted_line(line, offsets)
    distance = np.abs(
        offsets.seconds - (fitted.film_second(offsets.middles) - line.film_second(offsets.middles))
    )
    # Windows without sound belong to what is around them.
    votes = np.where(np.isfinite(distance), np.where(distance <= NEAR, 1.0, -1.0), 0.0)
    first, end = _best_run(votes)
    lines: list[Line] = []
    if first >= _MIN_WINDOWS:
        lines += _further_lines(line, offsets, 0, first)
    start = line.start if not lines else float(offsets.middles[first]) - WINDOW / 2
    later = _further_lines(line, offsets, end, len(votes)) if len(votes) - end >= _MIN_WINDOWS else []
    stop = line.end if not later else float(offsets.middles[end - 1]) + WINDOW / 2
    own = _part_of(offsets, first, end)
    best = fitted_line(replace(line, start=start, end=stop), own)
    return [*lines, best, *later]


def _further_lines(line: Line, offsets: Offsets, first: int, end: int) -> list[Line]:
    """The lines through some of the windows, where these agree on one."""
    part = _part_of(offsets, first, end)
    start, stop = float(part.middles[0]) - WINDOW / 2, float(part.middles[-1]) + WINDOW / 2
    lines = lines_along(replace(line, start=start, end=stop), part)
    return lines if max(line.confidence for line in lines) >= 0.5 else []


def _part_of(offsets: Offsets, first: int, end: int) -> Offsets:
    return Offsets(offsets.middles[first:end], offsets.seconds[first:end], offsets.likeness[first:end])


def _best_run(votes: Numbers) -> tuple[int, int]:
    """The run of votes whose sum is highest, ``[first, end)``."""
    sums = np.concatenate([[0.0], np.cumsum(votes)])
    lowest = np.minimum.accumulate(sums)
    end = int((sums - lowest).argmax())
    first = int(sums[: end + 1].argmin())
    return first, max(end, first + 1)


def _densest(middles: Numbers, seconds: Numbers, steepest: float, near: float) -> tuple[float, float]:
    """Slope, up to the steepest, and height of the line that has the most windows near it."""
    steps = min(121, 2 * round(2 * steepest * float(np.ptp(middles)) / near) + 1)
    best = (-1, 0.0, 0.0)
    for slope in np.linspace(-steepest, steepest, steps).tolist():
        heights = np.sort(seconds - slope * middles)
        ends = np.searchsorted(heights, heights + near, side="right")
        counts = ends - np.arange(len(heights))
        top = int(counts.argmax())
        # Of equal ones the one that leans least.
        if (int(counts[top]), -abs(slope)) > (best[0], -abs(best[1])):
            best = (int(counts[top]), slope, float(np.median(heights[top : ends[top]])))
    return best[1], best[2]


def _least_squares(
    moments: Numbers, seconds: Numbers, weights: Numbers, slope: float, *, turn: bool
) -> tuple[float, float]:
    """Slope and height; the slope stays where the windows stand too close to each other to say it."""
    total = weights.sum()
    middle, height = (weights * moments).sum() / total, (weights * seconds).sum() / total
    spread = (weights * np.square(moments - middle)).sum() / total
    if turn and spread > WINDOW**2:
        slope = float((weights * (moments - middle) * (seconds - height)).sum() / total / spread)
    return float(slope), float(height - slope * middle)
