"""Whether subtitles fit the sound: those of another film, or of another cut, or late by some seconds.

What subtitles say is believed where they stand, and lines of AD are put between them. Where they are of
another film or shifted, those lines stand over dialogue. So the speech that is heard is laid over them, at
every shift, and at the speeds by which films differ from country to country.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from shotad.core import Interval
from shotad.film.slots import subtract, union

STEP = 0.1
"""Seconds between two shifts that are tried."""
WIDTH = 0.75
"""Seconds around a subtitle in which speech still counts as inside: subtitlers begin late and end early, and
the ear begins 0.3 s early."""
LEAST_OUTSIDE = 3.0
"""Seconds of speech outside under which nothing is said: a shout, or music that was taken for a voice."""
NOTABLE_OUTSIDE = 0.5
"""Share of the speech heard outside the subtitles from which a person should look in any case. Good pairs
have up to 0.3: the ear takes crowds and songs for speech, and subtitles leave words out."""
LEAST_SHIFT = 0.8
"""Seconds; a smaller shift is the habit of a subtitler."""
# The next are about the correlation of speech and subtitles, from simulated dialogue of 1 to 60 minutes with
# a tenth to a fifth of it missed by the ear, and a tenth to a half of it imagined. From 15 utterances on good
# pairs have 0.36 to 0.8, and at most 0.13 more at their best shift; those of two films have -0.2 to 0.25.
CHANCE = 0.2
UTTERANCES_FOR_CHANCE = 15
"""Below this correlation, from so many stretches of speech on, subtitles are of another film."""
LEAST_GAIN = 0.15
"""By which a shift has to be better than none."""
LEAST_CORRELATION, SURE_CORRELATION = 0.4, 0.65
"""That has to be reached by a shift, and that is enough however few utterances there are."""
GAIN_OF_FEW = 0.25
"""As `LEAST_GAIN`, of fewer than `UTTERANCES_FOR_CHANCE`."""
LEAST_GAIN_OF_SPEED = 0.1
"""By which another speed has to be better than any shift."""
PARTS = 4
"""Parts of a film that are looked at where the whole fits."""
LONGEST_SHIFT = 600.0
LEAST_FOR_SPEED = 120.0
"""Seconds of film: in less time speeds that differ by 4 % are at most 5 s apart, and a shift does as well."""

SPEEDS: dict[float, str] = {
    25 / (24000 / 1001): "made for 23.976 frames a second; the film has 25",
    (24000 / 1001) / 25: "made for 25 frames a second; the film has 23.976",
    25 / 24: "made for 24 frames a second; the film has 25",
    24 / 25: "made for 25 frames a second; the film has 24",
    1.001: "made for 24 or 30 frames a second; the film has 23.976 or 29.97",
    1 / 1.001: "made for 23.976 or 29.97 frames a second; the film has 24 or 30",
}
"""By what times are to be divided, and why subtitles run at such a speed."""

Grid = npt.NDArray[np.float32]
"""``float32[n]``: how much of each `STEP` seconds is filled, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How subtitles lie over the speech that is heard. ``shift`` seconds are to be added to their times,
    after they were divided by ``speed``; None: no other place is better, or none is good."""

    heard: float
    """Seconds of speech heard in all."""
    outside: float
    """Of them outside the subtitles as they are."""
    is_notable: bool
    """Whether a person should know."""
    shift: float | None = None
    speed: float = 1.0
    part: Interval | None = None
    """Where the shift is that of a part of the film alone; the other figures are then of this part."""

    @property
    def note(self) -> str:
        """What a person should know; empty where the subtitles fit."""
        if not self.is_notable:
            return ""
        where = "" if self.part is None else f" from {clock(self.part.start)} to {clock(self.part.end)}"
        text = (
            f"Of {self.heard:.1f} s of speech heard{where}, {self.outside:.1f} s lie outside the subtitles; "
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
        return text + " Correct them, or listen to the sound instead (--set speech.source=sound)."


def fit_subtitles(subtitles: Sequence[Interval], heard: Sequence[Interval], duration: float) -> Fit:
    """How ``subtitles`` fit the speech ``heard`` in a film of ``duration`` seconds.

    Where they fit the film as a whole its parts are looked at: of another cut only one part is late.
    """
    fit = _fit(subtitles, heard, duration)
    if fit.is_notable or duration < PARTS * LEAST_FOR_SPEED:
        return fit
    length = duration / PARTS
    for number in range(PARTS):
        part = Interval(number * length, (number + 1) * length)
        ear = [inside for piece in heard if (inside := piece.clip(part)) is not None]
        if len(union(ear)) < UTTERANCES_FOR_CHANCE:
            continue
        cues = [Interval(cue.start - part.start, cue.end - part.start) for cue in subtitles]
        moved_ear = [Interval(piece.start - part.start, piece.end - part.start) for piece in ear]
        part_fit = _fit(cues, moved_ear, length)
        if part_fit.shift is not None and part_fit.speed == 1.0:
            return replace(part_fit, part=part)
    return fit


def _fit(subtitles: Sequence[Interval], heard: Sequence[Interval], duration: float) -> Fit:
    spoken = union(heard)
    total = sum(piece.duration for piece in spoken)
    wide = union(Interval(cue.start - WIDTH, cue.end + WIDTH) for cue in subtitles)
    outside = sum(left.duration for piece in spoken for left in subtract(piece, wide))
    much_outside = outside >= LEAST_OUTSIDE and outside >= NOTABLE_OUTSIDE * total
    if outside < LEAST_OUTSIDE or not subtitles:
        return Fit(total, outside, much_outside)
    ear = _grid(spoken, 0.0, duration)
    shift, correlation, unshifted = _best_shift(ear, subtitles, duration)
    speed = 1.0
    if duration >= LEAST_FOR_SPEED:
        for factor in SPEEDS:
            faster = [Interval(cue.start / factor, cue.end / factor) for cue in subtitles]
            factor_shift, factor_correlation, _ = _best_shift(ear, faster, duration)
            if factor_correlation >= max(correlation, LEAST_CORRELATION) + LEAST_GAIN_OF_SPEED:
                shift, correlation, speed = factor_shift, factor_correlation, factor
    # The fewer utterances there are, the better some shift of any subtitles fits them by chance.
    by_chance = min(SURE_CORRELATION, 0.15 + 1.8 / math.sqrt(len(spoken)))
    gain = LEAST_GAIN if len(spoken) >= UTTERANCES_FOR_CHANCE else GAIN_OF_FEW
    is_better = correlation >= max(LEAST_CORRELATION, unshifted + gain)
    is_moved = abs(shift) >= LEAST_SHIFT or speed != 1.0
    if is_better and is_moved and (much_outside or correlation >= by_chance):
        return Fit(total, outside, True, shift, speed)
    is_unrelated = len(spoken) >= UTTERANCES_FOR_CHANCE and unshifted < CHANCE
    return Fit(total, outside, much_outside or is_unrelated)


def clock(seconds: float) -> str:
    """``3725.4 → 1:02:05``."""
    whole = abs(round(seconds))
    sign = "-" if seconds < 0 else ""
    return f"{sign}{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}"


def _grid(intervals: Sequence[Interval], begin: float, end: float) -> Grid:
    """How much of each `STEP` of ``[begin, end)`` is filled by intervals, which do not overlap."""
    count = max(1, math.ceil((end - begin) / STEP))
    grid = np.zeros(count, np.float64)
    for piece in intervals:
        start, stop = (np.clip((second - begin) / STEP, 0, count) for second in (piece.start, piece.end))
        first, last = int(start), min(int(stop), count - 1)
        if first >= count:
            continue
        if first == last:
            grid[first] += stop - start
            continue
        grid[first] += first + 1 - start
        grid[first + 1 : last] += 1
        grid[last] += stop - last
    return np.asarray(np.minimum(grid, 1), np.float32)


def _correlations(ear: Grid, subtitles: Sequence[Interval], duration: float) -> tuple[Grid, Grid, Grid]:
    """Shifts in seconds; at each how the speech heard and the subtitles go together, 1 where they are the
    same, 0 where they meet by chance (phi coefficient); and the share of the subtitles inside the film."""
    cues = union(subtitles)
    # Before and after the film, too: a shift may bring them in.
    begin = min(0.0, math.floor(cues[0].start / STEP) * STEP)
    shown = _grid(cues, begin, max(duration, cues[-1].end))
    count, size = len(ear), 1 << (len(ear) + len(shown) - 1).bit_length()
    products = np.fft.irfft(np.fft.rfft(ear, size) * np.conj(np.fft.rfft(shown, size)), size)
    # Entry k of the products: ``shown`` moved by k steps on the grid, so by k steps and its begin in time.
    steps = np.arange(-len(shown) + 1, count)
    shifts = steps * STEP - begin
    near = np.abs(shifts) <= LONGEST_SHIFT
    steps, shifts = steps[near], shifts[near]
    together = products[steps % size] / count
    # How much of the moved subtitles lies inside the film.
    sums = np.concatenate([[0.0], np.cumsum(shown, dtype=np.float64)])
    inside = sums[np.clip(count - steps, 0, len(shown))] - sums[np.clip(-steps, 0, len(shown))]
    spoken, shown_share = float(ear.mean()), inside / count
    spread = np.sqrt(spoken * (1 - spoken) * shown_share * (1 - shown_share))
    phi = np.where(spread > 1e-6, (together - spoken * shown_share) / np.maximum(spread, 1e-6), 0.0)
    share_inside = inside / max(float(sums[-1]), STEP)
    return shifts.astype(np.float32), phi.astype(np.float32), share_inside.astype(np.float32)


def _best_shift(ear: Grid, subtitles: Sequence[Interval], duration: float) -> tuple[float, float, float]:
    """The shift at which subtitles go best with the speech, how well, and how well they go unshifted."""
    shifts, phi, inside = _correlations(ear, subtitles, duration)
    # A shift that moves most subtitles out of the film is less likely. Of shifts that are alike the smallest
    # is taken, and of a run of them around it the middle.
    likely = phi * (0.5 + 0.5 * inside) - 1e-5 * np.abs(shifts)
    best = int(np.argmax(likely))
    alike = phi >= phi[best] - 0.01
    first = last = best
    while first > 0 and alike[first - 1]:
        first -= 1
    while last + 1 < len(alike) and alike[last + 1]:
        last += 1
    shift = round(float(shifts[first] + shifts[last]) / 2, 2)
    return shift, float(phi[best]), float(phi[int(np.argmin(np.abs(shifts)))])
