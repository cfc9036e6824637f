"""Where the pieces of an alignment begin and end: when a recording leaves one line for the next."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shotad.sound.alignment.fingerprints import FRAMES_PER_SECOND, WAVE_RATE, Fingerprint
from shotad.sound.alignment.lines import Line, Numbers

_NARRATED, _PLAIN = 0.06, 0.25
"""Half of what a frame of the film and its copy have in common, as a share of their power: under a narrator,
and without one."""
_BOTH_GAPS = 60.0
"""What it costs that film and recording both have something of their own between two pieces: mostly a scene
is missing, or something was put in. About three seconds of sound that is not alike."""
_SURE = 3.0
"""Standard deviations beyond chance from which frames under a narrator extend a piece at its outer end."""
_ALIKE_FRAMES = 10
"""Neighbouring frames that say the same."""

_WAVE_WINDOW = 256
"""Samples of a wave that are compared at once: 64 ms."""
_FRAMES_AT_ONCE = 2000
"""Frames whose waves are compared at once, to bound memory."""
_LEARNED = 8.0
"""Seconds of a line, next to its end, from which it is learned how its waves go together."""
_COHERENT = 0.2
"""How much the waves have to go together there, 0 to 1. A recording that was stretched at the same pitch, or
that wanders, has waves of its own; then the fingerprints decide."""
_WAVE_NARRATED = 0.05
"""Half of what two waves have in common under a narrator, 0 to 1."""
_WAVE_WEIGHT = 4.0
"""Makes a frame of alike waves count like one of alike fingerprints."""


def agreement_with(
    film: Fingerprint, recording: Fingerprint, line: Line, first: int, end: int
) -> tuple[Numbers, bool]:
    """How much each frame of the recording from ``first`` to ``end`` speaks for the line; whether by waves.

    Positive where it sounds like the film there, negative where it does not, zero in silence.
    """
    by_wave = _wave_agreement(film, recording, line, first, end)
    if by_wave is not None:
        return by_wave, True
    return frame_agreement(film, recording, line, first, end), False


def frame_agreement(
    film: Fingerprint, recording: Fingerprint, line: Line, first: int, end: int, expected: float = _NARRATED
) -> Numbers:
    """The agreement by fingerprints; ``expected`` is half of the share of power that alike frames share."""
    numbers = np.arange(first, end)
    own = recording.at(numbers.astype(np.float64))
    film_moments = line.film_second(numbers / FRAMES_PER_SECOND)
    other = film.at(film_moments * FRAMES_PER_SECOND)
    common = (own * other).sum(axis=1)
    power = 0.5 * (np.square(own).sum(axis=1) + np.square(other).sum(axis=1))
    agreement = (common - expected * power).astype(np.float64)
    return _within(film, film_moments, agreement)


def _within(film: Fingerprint, film_moments: Numbers, agreement: Numbers) -> Numbers:
    """The agreement, which is none where there is no film any more."""
    agreement[(film_moments < 0) | (film_moments >= film.duration)] = -10.0
    return agreement


def _wave_agreement(
    film: Fingerprint, recording: Fingerprint, line: Line, first: int, end: int
) -> Numbers | None:
    """The agreement by waves: whether they keep the phases to each other that they have on the line.

    None where they have none, as in a recording that was stretched at the same pitch.
    """
    middle = (first + end) / 2 / FRAMES_PER_SECOND
    # The end of the line that is nearer.
    if abs(middle - line.end) < abs(middle - line.start):
        learned = (max(line.start, line.end - _LEARNED), line.end)
    else:
        learned = (line.start, min(line.end, line.start + _LEARNED))
    trained = np.arange(round(learned[0] * FRAMES_PER_SECOND), round(learned[1] * FRAMES_PER_SECOND), 2)
    if len(trained) < FRAMES_PER_SECOND:
        return None
    phases, sounding = _phase_differences(film, recording, line, trained)
    if sounding.sum() < FRAMES_PER_SECOND // 2:
        return None
    usual = phases[sounding].mean(axis=0)
    coherence = np.abs(usual)
    if float(np.sqrt(np.mean(np.square(coherence)))) < _COHERENT:
        return None
    weights = np.conj(usual) / np.abs(usual).sum()
    numbers = np.arange(first, end)
    agreement = np.zeros(len(numbers))
    for begin in range(0, len(numbers), _FRAMES_AT_ONCE):
        part = slice(begin, begin + _FRAMES_AT_ONCE)
        phases, sounding = _phase_differences(film, recording, line, numbers[part])
        alike = (phases @ weights).real - _WAVE_NARRATED
        agreement[part] = np.where(sounding, alike * _WAVE_WEIGHT, 0.0)
    return _within(film, line.film_second(numbers / FRAMES_PER_SECOND), agreement)


def _phase_differences(
    film: Fingerprint, recording: Fingerprint, line: Line, numbers: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.complex64], npt.NDArray[np.bool_]]:
    """The phases of the recording's wave against the film's in each frame, and whether both sound there.

    ``complex64[n, frequencies]`` of size 1, and ``bool[n]``.
    """
    moments = numbers[:, None] / FRAMES_PER_SECOND + (np.arange(_WAVE_WINDOW) - _WAVE_WINDOW / 2) / WAVE_RATE
    own = recording.wave_at(moments)
    other = film.wave_at(line.film_second(moments))
    taper = np.hanning(_WAVE_WINDOW).astype(np.float32)
    hertz = np.fft.rfftfreq(_WAVE_WINDOW, 1 / WAVE_RATE)
    used = (hertz >= 90) & (hertz <= 1000)
    products = np.fft.rfft(own * taper, axis=1)[:, used] * np.conj(
        np.fft.rfft(other * taper, axis=1)[:, used]
    )
    # Below two steps of 16 bit there is nothing but rounding.
    sounding = (np.abs(own).max(axis=1) > 2) & (np.abs(other).max(axis=1) > 2)
    return np.asarray(products / (np.abs(products) + 1e-9), np.complex64), sounding


def start_of(film: Fingerprint, recording: Fingerprint, line: Line, earliest: float, latest: float) -> float:
    """The recording's second from which it follows the line, between two seconds of it."""
    first, end = round(earliest * FRAMES_PER_SECOND), round(latest * FRAMES_PER_SECOND)
    if end <= first:
        return earliest
    followed = _frames_followed(film, recording, line, np.arange(first, end)[::-1])
    return max(earliest, (end - followed) / FRAMES_PER_SECOND)


def end_of(film: Fingerprint, recording: Fingerprint, line: Line, earliest: float, latest: float) -> float:
    """The recording's second up to which it follows the line, between two seconds of it."""
    first, end = round(earliest * FRAMES_PER_SECOND), round(latest * FRAMES_PER_SECOND)
    if end <= first:
        return latest
    followed = _frames_followed(film, recording, line, np.arange(first, end))
    return min(latest, (first + followed) / FRAMES_PER_SECOND)


def _frames_followed(
    film: Fingerprint, recording: Fingerprint, line: Line, numbers: npt.NDArray[np.int64]
) -> int:
    """How many of the frames, from a sure piece outwards, still follow its line."""
    first, end = int(numbers.min()), int(numbers.max()) + 1
    turned = slice(None) if numbers[0] == first else slice(None, None, -1)
    agreement, is_wave = agreement_with(film, recording, line, first, end)
    possible = _longest_best(agreement[turned])
    if is_wave:
        return possible
    sure = _longest_best(frame_agreement(film, recording, line, first, end, _PLAIN)[turned])
    if possible <= sure:
        return sure
    more = frame_agreement(film, recording, line, first, end, 0.0)[turned][sure:possible]
    chance = np.sqrt(np.square(more).sum() * _ALIKE_FRAMES)
    return possible if more.sum() > _SURE * chance else sure


def _longest_best(agreement: Numbers) -> int:
    """After how many frames the sum is highest; of equal ones the most: silence goes with what it follows."""
    sums = np.concatenate([[0.0], np.cumsum(agreement)])
    return len(sums) - 1 - int(sums[::-1].argmax())


def change_between(
    film: Fingerprint, recording: Fingerprint, earlier: Line, later: Line, earliest: float, latest: float
) -> tuple[float, float] | None:
    """The recording's second at which it leaves ``earlier``, and that from which it follows ``later``.

    Both lie between ``earliest`` and ``latest``. None where the film would go back,
    whenever it changes.
    """
    first, end = round(earliest * FRAMES_PER_SECOND), round(latest * FRAMES_PER_SECOND)
    if end <= first:
        return earliest, latest
    agreement, _ = agreement_with(film, recording, earlier, first, end)
    before = np.concatenate([[0.0], np.cumsum(agreement)])
    agreement, _ = agreement_with(film, recording, later, first, end)
    after = np.concatenate([np.cumsum(agreement[::-1])[::-1], [0.0]])
    moments = (first + np.arange(end - first + 1)) / FRAMES_PER_SECOND
    leaving = earlier.film_second(0.0) + earlier.speed * moments
    joining = later.film_second(0.0) + later.speed * moments
    choices: list[tuple[float, float, float]] = []
    # Film is missing in the recording: both changes are one moment.
    possible = np.where(leaving <= joining + 1e-9, before + after, -np.inf)
    best = int(possible.argmax())
    if np.isfinite(possible[best]):
        choices.append((float(possible[best]), float(moments[best]), float(moments[best])))
    # Something was put in: both changes are one moment of the film.
    back = (leaving - later.film_second(0.0)) / later.speed
    numbers = np.rint(back * FRAMES_PER_SECOND).astype(np.int64) - first
    inside = (numbers >= np.arange(len(moments))) & (numbers < len(moments))
    totals = np.where(inside, before + after[np.clip(numbers, 0, len(moments) - 1)], -np.inf)
    best = int(totals.argmax())
    if np.isfinite(totals[best]):
        choices.append((float(totals[best]), float(moments[best]), float(back[best])))
    # Each has something of its own there.
    leave, join = int(before.argmax()), int(after.argmax())
    if leave <= join and leaving[leave] <= joining[join]:
        choices.append(
            (float(before[leave] + after[join]) - _BOTH_GAPS, float(moments[leave]), float(moments[join]))
        )
    if not choices:
        return None
    _, leave_second, join_second = max(choices)
    return leave_second, join_second
