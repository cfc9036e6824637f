"""Check whether subtitles fit the sound, or are of another film or another cut, or late by some seconds.

The times of subtitles are believed, and AD lines are put between them. Where they are of another film or
shifted, those lines come over dialogue. So subtitles are correlated with the speech detected in the sound, at
every shift, and at the speeds by which films differ from country to country.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from shotad.core import Interval
from shotad.core.types import clip_all
from shotad.film.slots import join_intervals, subtract

STEP = 0.1
"""Seconds between two shifts that are tried."""
WIDTH = 0.75
"""Seconds around a subtitle in which speech still counts as inside: subtitlers begin late and end early, and
detected speech begins 0.3 s early."""
LEAST_OUTSIDE = 3.0
"""Seconds of speech outside the subtitles below which there is no note: a shout, or music that was taken for
a voice."""
NOTABLE_OUTSIDE = 0.5
"""Share of the speech that lies outside the subtitles from which there is a note in any case. Good pairs have
up to 0.3: the detector takes crowds and songs for speech, and subtitles leave words out."""
LEAST_SHIFT = 0.8
"""Seconds; a smaller shift is the habit of a subtitler."""
# The next are about the correlation of speech and subtitles, from simulated dialogue of 1 to 60 minutes with
# a tenth to a fifth of it missed by the detector, and a tenth to a half of it wrongly detected. From 15
# utterances on good pairs have 0.36 to 0.8, and at most 0.13 more at their best shift; those of two films
# have -0.2 to 0.25.
CHANCE = 0.2
UTTERANCES_FOR_CHANCE = 15
"""Below this correlation, from so many utterances on, subtitles are of another film."""
LEAST_GAIN = 0.15
"""Correlation by which a shift has to be better than none."""
LEAST_CORRELATION, SURE_CORRELATION = 0.4, 0.65
"""Correlations that a shift has to reach, and that is enough however few utterances there are."""
GAIN_OF_FEW = 0.25
"""As `LEAST_GAIN`, for fewer utterances than `UTTERANCES_FOR_CHANCE`."""
LEAST_GAIN_OF_SPEED = 0.1
"""Correlation by which another speed has to be better than any shift."""
PARTS = 4
"""Parts of a film that are checked one by one where the whole fits."""
LONGEST_SHIFT = 600.0
"""Seconds; a correlation further off is a coincidence."""
LEAST_FOR_SPEED = 120.0
"""Seconds of film: in less time speeds that differ by 4 % are at most 5 s apart, and a shift does as well."""

MOST_IN_SILENCE = 0.75
"""Share of the subtitles' time in which nobody is heard, from which they may be a description. Good ones have
up to 0.35, for they stay a moment longer, and 0.6 where half of the speech is missed."""
LEAST_LINES = 3
"""Lines below which a file says too little of what it holds."""
LEAST_FILLED = 0.5
"""Share of a film in which hardly anybody is heard that subtitles have to fill: a description does, but the
few lines of a film may have been missed."""

SPEEDS: dict[float, str] = {
    25 / (24000 / 1001): "made for 23.976 frames a second; the film has 25",
    (24000 / 1001) / 25: "made for 25 frames a second; the film has 23.976",
    25 / 24: "made for 24 frames a second; the film has 25",
    24 / 25: "made for 25 frames a second; the film has 24",
    1.001: "made for 24 or 30 frames a second; the film has 23.976 or 29.97",
    1 / 1.001: "made for 23.976 or 29.97 frames a second; the film has 24 or 30",
}
"""Factors by which the times of subtitles may have to be divided, and the reason for each."""

Grid = npt.NDArray[np.float32]
"""``float32[n]``: how much of each `STEP` seconds is filled, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How subtitles fit the speech in the sound, and the correction of their times that fits best.

    To correct a time, divide it by ``speed`` and add ``shift`` seconds. ``shift`` None: no correction is
    better, or none is good.
    """

    spoken: float
    """Seconds of speech in the sound."""
    outside: float
    """Seconds of it outside the subtitles as they are."""
    is_notable: bool
    """Whether the user should know."""
    shift: float | None = None
    speed: float = 1.0
    part: Interval | None = None
    """The part of the film that needs the correction; the other figures are then of this part. None: all."""

    @property
    def note(self) -> str:
        """A message on what does not fit, and how to correct it; empty where the subtitles fit."""
        advice = " Correct them, or listen to the sound instead (--set speech.source=sound)."
        return self.problem + advice if self.is_notable else ""

    @property
    def problem(self) -> str:
        """What does not fit, and which shift would mend it; empty where the subtitles fit."""
        if not self.is_notable:
            return ""
        where = "" if self.part is None else f" from {clock(self.part.start)} to {clock(self.part.end)}"
        text = (
            f"Of {self.spoken:.1f} s of speech heard{where}, {self.outside:.1f} s lie outside the subtitles; "
        )
        if self.shift is None:
            text += "no shift makes them fit. Are they of this film, and of all that is said in it?"
        elif self.speed != 1.0:
            text += (
                f"they run at another speed ({SPEEDS[self.speed]}): divide their times by {self.speed:.4f}, "
            )
            text += f"then the best shift is {self.shift:+.1f} s."
        else:
            when = "late" if self.shift < 0 else "early"
            text += f"best shift {self.shift:+.1f} s (they are {when})."
        return text


def fit_subtitles(subtitles: Sequence[Interval], speech: Sequence[Interval], duration: float) -> Fit:
    """How ``subtitles`` fit the ``speech`` in the sound of a film of ``duration`` seconds.

    Where they fit the film as a whole its parts are checked too: in another cut only one part may be late.
    """
    fit = _fit(subtitles, speech, duration)
    if fit.is_notable or duration < PARTS * LEAST_FOR_SPEED:
        return fit
    length = duration / PARTS
    for number in range(PARTS):
        part = Interval(number * length, (number + 1) * length)
        speech_in_part = clip_all(speech, part)
        if len(join_intervals(speech_in_part)) < UTTERANCES_FOR_CHANCE:
            continue
        # All subtitles, not only those of the part: a shift may bring others in.
        part_fit = _fit(_moved(subtitles, -part.start), _moved(speech_in_part, -part.start), length)
        if part_fit.shift is not None and part_fit.speed == 1.0:
            return replace(part_fit, part=part)
    return fit


def _moved(intervals: Sequence[Interval], shift: float) -> list[Interval]:
    return [Interval(interval.start + shift, interval.end + shift) for interval in intervals]


def _fit(subtitles: Sequence[Interval], speech: Sequence[Interval], duration: float) -> Fit:
    """As `fit_subtitles`, for the film as a whole."""
    speech = join_intervals(speech)
    total = sum(interval.duration for interval in speech)
    widened = join_intervals(Interval(cue.start - WIDTH, cue.end + WIDTH) for cue in subtitles)
    outside = sum(rest.duration for interval in speech for rest in subtract(interval, widened))
    is_much_outside = outside >= LEAST_OUTSIDE and outside >= NOTABLE_OUTSIDE * total
    if outside < LEAST_OUTSIDE or not subtitles:
        return Fit(total, outside, is_much_outside)

    speech_grid = _grid(speech, 0.0, duration)
    shift, correlation, unshifted = _best_shift(speech_grid, subtitles, duration)
    speed = 1.0
    if duration >= LEAST_FOR_SPEED:
        for factor in SPEEDS:
            rescaled = [Interval(cue.start / factor, cue.end / factor) for cue in subtitles]
            factor_shift, factor_correlation, _ = _best_shift(speech_grid, rescaled, duration)
            if factor_correlation >= max(correlation, LEAST_CORRELATION) + LEAST_GAIN_OF_SPEED:
                shift, correlation, speed = factor_shift, factor_correlation, factor

    has_many = len(speech) >= UTTERANCES_FOR_CHANCE
    # The fewer utterances there are, the better some shift of any subtitles fits them by chance.
    by_chance = min(SURE_CORRELATION, 0.15 + 1.8 / math.sqrt(len(speech)))
    gain = LEAST_GAIN if has_many else GAIN_OF_FEW
    is_better = correlation >= max(LEAST_CORRELATION, unshifted + gain)
    is_moved = abs(shift) >= LEAST_SHIFT or speed != 1.0
    if is_better and is_moved and (is_much_outside or correlation >= by_chance):
        return Fit(total, outside, True, shift, speed)
    is_unrelated = has_many and unshifted < CHANCE
    return Fit(total, outside, is_much_outside or is_unrelated)


def are_in_silence(subtitles: Sequence[Interval], voices: Sequence[Interval], duration: float) -> bool:
    """Whether most of the time of ``subtitles`` lies where nobody speaks or sings, as that of a description.

    Where speech is missed, what is heard of it still lies inside the subtitles; that of a description lies
    outside, or anywhere where it fills the film. ``voices`` are the times of voices in the sound.
    """
    cues = join_intervals(clip_all(subtitles, Interval(0.0, duration)))
    speech = join_intervals(voices)
    filled = sum(cue.duration for cue in cues)
    silent = sum(part.duration for cue in cues for part in subtract(cue, speech))
    if len(subtitles) < LEAST_LINES or silent < MOST_IN_SILENCE * filled:
        return False
    if sum(interval.duration for interval in speech) < LEAST_OUTSIDE:
        return filled >= LEAST_FILLED * duration
    _, _, unshifted = _best_shift(_grid(speech, 0.0, duration), cues, duration)
    return unshifted < CHANCE


def clock(seconds: float) -> str:
    """``3725.4 → 1:02:05``."""
    whole = abs(round(seconds))
    sign = "-" if seconds < 0 else ""
    return f"{sign}{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}"


def _grid(intervals: Sequence[Interval], begin: float, end: float) -> Grid:
    """The share of each `STEP` of ``[begin, end)`` seconds that ``intervals``, which do not overlap, fill."""
    count = max(1, math.ceil((end - begin) / STEP))
    grid = np.zeros(count, np.float64)
    for interval in intervals:
        start = np.clip((interval.start - begin) / STEP, 0, count)
        stop = np.clip((interval.end - begin) / STEP, 0, count)
        first, last = int(start), min(int(stop), count - 1)
        if first >= count:
            continue
        if first == last:
            grid[first] += stop - start
            continue
        grid[first] += first + 1 - start
        grid[first + 1 : last] += 1
        grid[last] += stop - last
    # Two intervals that meet in a step may fill it by a rounding more than once.
    return np.asarray(np.minimum(grid, 1), np.float32)


def _correlations(
    speech_grid: Grid, subtitles: Sequence[Interval], duration: float
) -> tuple[Grid, Grid, Grid]:
    """Shifts of the subtitles in seconds, the correlation at each, and their share inside the film at each.

    All ``float32[n]``. The correlation is the phi coefficient: 1 where speech and subtitles are the same, 0
    where they overlap as by chance.
    """
    cues = join_intervals(subtitles)
    # Before and after the film, too: a shift may bring them in.
    begin = min(0.0, math.floor(cues[0].start / STEP) * STEP)
    cue_grid = _grid(cues, begin, max(duration, cues[-1].end))

    # The overlap at all shifts at once, by Fourier transforms; ``size`` is long enough that nothing wraps.
    count = len(speech_grid)
    size = 1 << (count + len(cue_grid) - 1).bit_length()
    spectrum = np.fft.rfft(speech_grid, size) * np.conj(np.fft.rfft(cue_grid, size))
    products = np.fft.irfft(spectrum, size)
    # Entry k of the products: cues moved by k steps on the grid, so by k steps and its begin in time.
    steps = np.arange(-len(cue_grid) + 1, count)
    shifts = steps * STEP - begin
    is_near = np.abs(shifts) <= LONGEST_SHIFT
    steps, shifts = steps[is_near], shifts[is_near]
    overlap_share = products[steps % size] / count

    # Steps with a cue that lie inside the film once they are moved.
    sums = np.concatenate([[0.0], np.cumsum(cue_grid, dtype=np.float64)])
    inside = sums[np.clip(count - steps, 0, len(cue_grid))] - sums[np.clip(-steps, 0, len(cue_grid))]

    speech_share = float(speech_grid.mean())
    cue_share = inside / count
    spread = np.sqrt(speech_share * (1 - speech_share) * cue_share * (1 - cue_share))
    covariance = overlap_share - speech_share * cue_share
    phi = np.where(spread > 1e-6, covariance / np.maximum(spread, 1e-6), 0.0)
    share_inside = inside / max(float(sums[-1]), STEP)
    return shifts.astype(np.float32), phi.astype(np.float32), share_inside.astype(np.float32)


def _best_shift(
    speech_grid: Grid, subtitles: Sequence[Interval], duration: float
) -> tuple[float, float, float]:
    """The shift in seconds that fits the speech best, the correlation with it, and the one without it."""
    shifts, phi, share_inside = _correlations(speech_grid, subtitles, duration)
    # A shift that moves most subtitles out of the film is less likely. Of shifts that are alike the smallest
    # is taken, and of a run of them around it the middle.
    likelihood = phi * (0.5 + 0.5 * share_inside) - 1e-5 * np.abs(shifts)
    best = int(np.argmax(likelihood))
    is_alike = phi >= phi[best] - 0.01
    first = last = best
    while first > 0 and is_alike[first - 1]:
        first -= 1
    while last + 1 < len(is_alike) and is_alike[last + 1]:
        last += 1
    shift = round(float(shifts[first] + shifts[last]) / 2, 2)
    unshifted = int(np.argmin(np.abs(shifts)))
    return shift, float(phi[best]), float(phi[unshifted])
