"""Where the pieces of an alignment begin and end: when a recording leaves one line for the next."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

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
_NEARLY_AS_GOOD = 8.0
"""Agreement by which a moment may lie below the best one and still be the right one: two or three frames of
film without a narrator."""
_CHANCE = 3.0
"""Standard deviations of chance by which it may lie further below, the more frames are between the two."""
_CHANCE_FRAMES = 50
"""Neighbouring frames whose agreement with another moment of the film is added up, to see how far chance
takes a sum."""
_MOST_CHANCE_FRAMES = 800
"""Frames that are looked at for this."""
_FINGERPRINTS_OFF = 2.0
"""Seconds by which fingerprints alone are often off under a narrator, whatever their agreement says."""

_WAVE_WINDOW = 256
"""Samples of a wave that are compared at once: 64 ms."""
_FRAMES_AT_ONCE = 2000
"""Frames whose waves are compared at once, to bound memory."""
_LEARNED = 8.0
"""Seconds of a line, next to its end, from which it is learned how its waves go together."""
_COHERENT = 0.2
"""How much the waves have to go together there, 0 to 1. A recording that was stretched at the same pitch, or
that wanders, has waves of its own; then the levels decide."""
_WAVE_NARRATED = 0.05
"""Half of what two waves, or their levels, have in common under a narrator, 0 to 1."""
_WAVE_WEIGHT = 4.0
"""Makes a frame of alike waves, or levels, count like one of alike fingerprints."""

_LEVELS_LEARNED = 16.0
"""Seconds of a line from which the recording's equaliser is learned: twice as many, for under a narrator few
frames show it."""
_LEVEL_NEAR = 2
"""Decibels around a gain at which a frequency follows it: a stretched wave keeps its levels about so well."""
_GAINS = (-28, 5)
"""Decibels, first and end, half-open: a film is lowered by up to 25 dB under a narrator."""
_LARGEST_DIFFERENCE = 40
"""Decibels; levels that differ by more are counted as if they differed by this."""
_GAIN_FRAMES = 21
"""Frames over which the gain hardly changes: a mixer takes 0.3 s to lower the film."""
_OTHER_MOMENTS = (-7.3, 5.1, 11.7)
"""Seconds to other moments of the film, which show how many frequencies follow a gain by chance."""
_LEVEL_APART = 0.1
"""Share of the frequencies that have to follow the film beyond chance, where it is learned."""

_HERTZ = np.fft.rfftfreq(_WAVE_WINDOW, 1 / WAVE_RATE)
_LEVELLED = (_HERTZ >= 90) & (_HERTZ <= 1300)
"""Frequencies whose levels are compared: nearly all that the wave holds."""

Powers = npt.NDArray[np.float32]
Frames = npt.NDArray[np.int64]
"""Numbers of frames of the recording."""


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """How much each of some frames of a recording speaks for a line.

    ``frames`` is ``float64[n]``: positive where the recording sounds like the film there, negative where it
    does not, zero in silence. ``chance`` is the standard deviation of the sum of n frames that have nothing
    in common with the film, divided by the root of n. ``by_fingerprints``: they alone say it.
    """

    frames: Numbers
    chance: float
    by_fingerprints: bool = False


def agreement_with(film: Fingerprint, recording: Fingerprint, line: Line, first: int, end: int) -> Agreement:
    """How much the frames of the recording from ``first`` to ``end`` speak for the line, by waves, else by
    levels, else by fingerprints."""
    agreement = _wave_agreement(film, recording, line, first, end)
    if agreement is None:
        agreement = _level_agreement(film, recording, line, first, end)
    if agreement is None:
        frames = frame_agreement(film, recording, line, first, end)
        by_chance = [
            frame_agreement(film, recording, elsewhere, first, end)[_part_for_chance(end - first)]
            for elsewhere in _elsewhere(line)
        ]
        agreement = Agreement(frames, _chance(by_chance), by_fingerprints=True)
    return agreement


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
) -> Agreement | None:
    """The agreement by waves: whether they keep the phases to each other that they have on the line.

    None where they have none, as in a recording that was stretched at the same pitch.
    """
    trained = _frames_to_learn_from(line, first, end, _LEARNED)[::2]
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

    def agreement_along(line: Line, numbers: Frames) -> Numbers:
        agreement = np.zeros(len(numbers))
        for begin in range(0, len(numbers), _FRAMES_AT_ONCE):
            part = slice(begin, begin + _FRAMES_AT_ONCE)
            phases, sounding = _phase_differences(film, recording, line, numbers[part])
            alike = (phases @ weights).real - _WAVE_NARRATED
            agreement[part] = np.where(sounding, alike * _WAVE_WEIGHT, 0.0)
        return agreement

    numbers = np.arange(first, end)
    agreement = agreement_along(line, numbers)
    some = numbers[_part_for_chance(len(numbers))]
    by_chance = [agreement_along(elsewhere, some) for elsewhere in _elsewhere(line)]
    return Agreement(
        _within(film, line.film_second(numbers / FRAMES_PER_SECOND), agreement), _chance(by_chance)
    )


def _elsewhere(line: Line) -> list[Line]:
    """The line at other moments of the film, where its sound is alike by chance alone."""
    return [replace(line, at=line.at + seconds) for seconds in _OTHER_MOMENTS]


def _part_for_chance(count: int) -> slice:
    """The middle ones of so many frames, as many as chance takes to show."""
    first = max(0, (count - _MOST_CHANCE_FRAMES) // 2)
    return slice(first, first + _MOST_CHANCE_FRAMES)


def _chance(by_chance: list[Numbers]) -> float:
    """The standard deviation of the sum of n frames of chance, divided by the root of n.

    Measured on sums of many frames: neighbours say the same, so that a sum varies more than its frames do.
    """
    width = min(_CHANCE_FRAMES, *(len(agreement) for agreement in by_chance))
    sums: list[float] = []
    for agreement in by_chance:
        for begin in range(0, len(agreement) - width + 1, width):
            sums.append(float(agreement[begin : begin + width].sum()))
    return float(np.std(sums)) / math.sqrt(width)


def _frames_to_learn_from(line: Line, first: int, end: int, seconds: float) -> Frames:
    """The frames of the ``seconds`` of the line that are nearest to the frames from ``first`` to ``end``."""
    middle = (first + end) / 2 / FRAMES_PER_SECOND
    if abs(middle - line.end) < abs(middle - line.start):
        start, stop = max(line.start, line.end - seconds), line.end
    else:
        start, stop = line.start, min(line.end, line.start + seconds)
    return np.arange(round(start * FRAMES_PER_SECOND), round(stop * FRAMES_PER_SECOND))


@dataclass(frozen=True, slots=True, eq=False)
class _Copying:
    """How a recording was made of the film, as far as its levels show it.

    ``pitch_kept``: its speed was changed without its pitch. ``equaliser``: decibels by which each frequency
    is louder than in the film, ``float32[frequencies]``. ``share`` of the frequencies that follow the film's.
    """

    pitch_kept: bool
    equaliser: Powers
    share: float


def _level_agreement(
    film: Fingerprint, recording: Fingerprint, line: Line, first: int, end: int
) -> Agreement | None:
    """The agreement by levels: how many frequencies of a frame are louder or softer than in the film by one
    and the same gain.

    A narrator drowns many frequencies, but not those between the harmonics of the voice and not the pauses;
    there the film lies at the gain to which it is lowered, and nothing lies below it. This holds where the
    phases are lost, as in a recording that was stretched at the same pitch. None where the levels do not show
    it on the line itself.
    """
    trained = _frames_to_learn_from(line, first, end, _LEVELS_LEARNED)[::3]
    ways = [_copying(film, recording, line, trained, pitch_kept=kept) for kept in (True, False)]
    copying = max((way for way in ways if way is not None), key=lambda way: way.share, default=None)
    if copying is None:
        return None
    numbers = np.arange(first, end)
    some = numbers[_part_for_chance(len(numbers))]
    shares_elsewhere = [
        _shares_along(film, recording, elsewhere, some, copying) for elsewhere in _elsewhere(line)
    ]
    sounding_shares = np.concatenate([shares[sounding] for shares, sounding in shares_elsewhere])
    usual_share = float(sounding_shares.mean()) if len(sounding_shares) else 0.0
    if copying.share - usual_share < _LEVEL_APART:
        return None

    def agreement_of(shares: Numbers, sounding: npt.NDArray[np.bool_]) -> Numbers:
        return np.where(sounding, (shares - usual_share - _WAVE_NARRATED) * _WAVE_WEIGHT, 0.0)

    agreement = agreement_of(*_shares_along(film, recording, line, numbers, copying))
    by_chance = [agreement_of(shares, sounding) for shares, sounding in shares_elsewhere]
    return Agreement(
        _within(film, line.film_second(numbers / FRAMES_PER_SECOND), agreement), _chance(by_chance)
    )


def _copying(
    film: Fingerprint, recording: Fingerprint, line: Line, trained: Frames, *, pitch_kept: bool
) -> _Copying | None:
    """What frames on the line say of it; None where too few of them sound."""
    if len(trained) < FRAMES_PER_SECOND // 2:
        return None
    differences, sounding = _level_differences(film, recording, line, trained, pitch_kept)
    if sounding.sum() < FRAMES_PER_SECOND // 4:
        return None
    # The median over time: the narrator fills each frequency less than half of it.
    equaliser = np.median(differences[sounding], axis=0)
    share = float(_shares_at_gain(differences - equaliser)[sounding].mean())
    return _Copying(pitch_kept, equaliser, share)


def _shares_along(
    film: Fingerprint, recording: Fingerprint, line: Line, numbers: Frames, copying: _Copying
) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """The share of each frame's frequencies that follow the film along the line, and whether both sound."""
    shares: list[Numbers] = []
    sounding: list[npt.NDArray[np.bool_]] = []
    for begin in range(0, len(numbers), _FRAMES_AT_ONCE):
        part = numbers[begin : begin + _FRAMES_AT_ONCE]
        differences, part_sounding = _level_differences(film, recording, line, part, copying.pitch_kept)
        shares.append(_shares_at_gain(differences - copying.equaliser))
        sounding.append(part_sounding)
    return np.concatenate(shares), np.concatenate(sounding)


def _level_differences(
    film: Fingerprint, recording: Fingerprint, line: Line, numbers: Frames, pitch_kept: bool
) -> tuple[Powers, npt.NDArray[np.bool_]]:
    """How many decibels the recording is louder than the film in each frame and frequency.

    ``float32[n, frequencies]``, and ``bool[n]``: whether both sound there.
    """
    around = (np.arange(_WAVE_WINDOW) - _WAVE_WINDOW / 2) / WAVE_RATE
    middles = numbers[:, None] / FRAMES_PER_SECOND
    recording_wave = recording.wave_at(middles + around)
    if pitch_kept:
        # Around each moment the film's wave runs at its own speed.
        film_wave = film.wave_at(line.film_second(middles) + around)
    else:
        film_wave = film.wave_at(line.film_second(middles + around))
    return _levels(recording_wave) - _levels(film_wave), _both_sound(recording_wave, film_wave)


def _both_sound(
    recording_wave: npt.NDArray[np.float32], film_wave: npt.NDArray[np.float32]
) -> npt.NDArray[np.bool_]:
    """Whether there is sound in both of two windows, ``bool[n]``."""
    # Below two steps of 16 bit there is nothing but rounding.
    return np.asarray((np.abs(recording_wave).max(axis=1) > 2) & (np.abs(film_wave).max(axis=1) > 2))


def _levels(windows: npt.NDArray[np.float32]) -> Powers:
    """The level of each frequency in decibels, ``float32[n, frequencies]``."""
    taper = np.hanning(_WAVE_WINDOW).astype(np.float32)
    spectrum = np.fft.rfft(windows * taper, axis=1)[:, _LEVELLED]
    # A floor at about the rounding of 16 bit, so that silence has a level.
    return np.asarray(10 * np.log10(np.square(np.abs(spectrum)) + _WAVE_WINDOW), np.float32)


def _shares_at_gain(differences: Powers) -> Numbers:
    """The share of each frame's frequencies that follow the gain which most do around it, less the share of
    those that lie clearly below: there the film would be heard. ``float64[n]``.

    ``differences`` are decibels, ``float32[n, frequencies]``.
    """
    # In each frame, how many frequencies have a difference of so many decibels.
    width = 2 * _LARGEST_DIFFERENCE + 1
    steps = np.rint(differences).clip(-_LARGEST_DIFFERENCE, _LARGEST_DIFFERENCE).astype(np.int64)
    places = steps + _LARGEST_DIFFERENCE + width * np.arange(len(steps))[:, None]
    counts = np.bincount(places.ravel(), minlength=width * len(steps)).reshape(-1, width)
    counts_below = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(counts, axis=1)], axis=1)
    # For each gain, those near it without those clearly below it.
    gains = np.arange(*_GAINS) + _LARGEST_DIFFERENCE
    near = counts_below[:, gains + _LEVEL_NEAR + 1] - counts_below[:, gains - _LEVEL_NEAR]
    clearly_below = counts_below[:, gains - 2 * _LEVEL_NEAR]
    shares = (near - clearly_below) / steps.shape[1]
    # The gain of a frame is the best one of the frames around it.
    half = _GAIN_FRAMES // 2
    sums = np.cumsum(np.pad(shares, ((half + 1, half), (0, 0))), axis=0)
    best_gain = (sums[_GAIN_FRAMES:] - sums[:-_GAIN_FRAMES]).argmax(axis=1)
    return np.asarray(shares[np.arange(len(shares)), best_gain], np.float64)


def _phase_differences(
    film: Fingerprint, recording: Fingerprint, line: Line, numbers: Frames
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
    return np.asarray(products / (np.abs(products) + 1e-9), np.complex64), _both_sound(own, other)


@dataclass(frozen=True, slots=True)
class Moment:
    """A second of the recording, and by how many seconds it may be off."""

    second: float
    error: float


def start_of(film: Fingerprint, recording: Fingerprint, line: Line, earliest: float, latest: float) -> Moment:
    """The recording's second from which it follows the line, between two seconds of it."""
    first, end = round(earliest * FRAMES_PER_SECOND), round(latest * FRAMES_PER_SECOND)
    if end <= first:
        return Moment(earliest, 0.0)
    followed, error = _frames_followed(film, recording, line, np.arange(first, end)[::-1])
    return Moment(max(earliest, (end - followed) / FRAMES_PER_SECOND), error)


def end_of(film: Fingerprint, recording: Fingerprint, line: Line, earliest: float, latest: float) -> Moment:
    """The recording's second up to which it follows the line, between two seconds of it."""
    first, end = round(earliest * FRAMES_PER_SECOND), round(latest * FRAMES_PER_SECOND)
    if end <= first:
        return Moment(latest, 0.0)
    followed, error = _frames_followed(film, recording, line, np.arange(first, end))
    return Moment(min(latest, (first + followed) / FRAMES_PER_SECOND), error)


def _frames_followed(
    film: Fingerprint, recording: Fingerprint, line: Line, numbers: Frames
) -> tuple[int, float]:
    """How many of the frames, from a sure piece outwards, still follow its line; by how many seconds that may
    be off."""
    first, end = int(numbers.min()), int(numbers.max()) + 1
    turned = slice(None) if numbers[0] == first else slice(None, None, -1)
    agreement = agreement_with(film, recording, line, first, end)
    sums = np.concatenate([[0.0], np.cumsum(agreement.frames[turned])])
    # Of equal ones the most: silence goes with what it follows.
    possible = len(sums) - 1 - int(sums[::-1].argmax())
    if not agreement.by_fingerprints:
        return possible, _error(sums, possible, agreement.chance)
    plain = frame_agreement(film, recording, line, first, end, _PLAIN)[turned]
    plain_sums = np.concatenate([[0.0], np.cumsum(plain)])
    sure = len(plain_sums) - 1 - int(plain_sums[::-1].argmax())
    if possible <= sure:
        return sure, _error_by_fingerprints(plain_sums, sure, agreement.chance)
    more = frame_agreement(film, recording, line, first, end, 0.0)[turned][sure:possible]
    chance = np.sqrt(np.square(more).sum() * _ALIKE_FRAMES)
    followed = possible if more.sum() > _SURE * chance else sure
    return followed, _error_by_fingerprints(sums, followed, agreement.chance)


def _error(totals: Numbers, best: int, chance: float) -> float:
    """By how many seconds the best frame may be off: as far as others are nearly as good, but for chance."""
    frames_between = np.abs(np.arange(len(totals)) - best)
    tolerated = _NEARLY_AS_GOOD + _CHANCE * chance * np.sqrt(frames_between)
    nearly = np.flatnonzero(totals > totals[best] - tolerated)
    return max(best - int(nearly[0]), int(nearly[-1]) - best) / FRAMES_PER_SECOND


def _error_by_fingerprints(totals: Numbers, best: int, chance: float) -> float:
    """By how many seconds a frame may be off that fingerprints alone say is the best one."""
    seconds_compared = (len(totals) - 1) / FRAMES_PER_SECOND
    return max(min(_FINGERPRINTS_OFF, seconds_compared), _error(totals, best, chance))


def change_between(
    film: Fingerprint, recording: Fingerprint, earlier: Line, later: Line, earliest: float, latest: float
) -> tuple[Moment, Moment] | None:
    """When the recording leaves ``earlier``, and from when on it follows ``later``.

    Both lie between ``earliest`` and ``latest``. None where the film would go back, whenever it changes.
    """
    first, end = round(earliest * FRAMES_PER_SECOND), round(latest * FRAMES_PER_SECOND)
    if end <= first:
        return Moment(earliest, 0.0), Moment(latest, 0.0)
    agreement = agreement_with(film, recording, earlier, first, end)
    later_agreement = agreement_with(film, recording, later, first, end)
    before = np.concatenate([[0.0], np.cumsum(agreement.frames)])
    after = np.concatenate([np.cumsum(later_agreement.frames[::-1])[::-1], [0.0]])
    moments = (first + np.arange(end - first + 1)) / FRAMES_PER_SECOND
    leaving = earlier.film_second(0.0) + earlier.speed * moments
    joining = later.film_second(0.0) + later.speed * moments

    def moment(second: float, totals: Numbers, best: int) -> Moment:
        chance = float(np.hypot(agreement.chance, later_agreement.chance))
        is_unsure = agreement.by_fingerprints or later_agreement.by_fingerprints
        error = _error_by_fingerprints if is_unsure else _error
        return Moment(second, error(totals, best, chance))

    choices: list[tuple[float, Moment, Moment]] = []
    # Film is missing in the recording: both changes are one moment.
    possible = np.where(leaving <= joining + 1e-9, before + after, -np.inf)
    best = int(possible.argmax())
    if np.isfinite(possible[best]):
        change = moment(float(moments[best]), possible, best)
        choices.append((float(possible[best]), change, change))
    # Something was put in: both changes are one moment of the film.
    back = (leaving - later.film_second(0.0)) / later.speed
    numbers = np.rint(back * FRAMES_PER_SECOND).astype(np.int64) - first
    inside = (numbers >= np.arange(len(moments))) & (numbers < len(moments))
    totals = np.where(inside, before + after[np.clip(numbers, 0, len(moments) - 1)], -np.inf)
    best = int(totals.argmax())
    if np.isfinite(totals[best]):
        leave_moment = moment(float(moments[best]), totals, best)
        choices.append((float(totals[best]), leave_moment, replace(leave_moment, second=float(back[best]))))
    # Each has something of its own there.
    leave, join = int(before.argmax()), int(after.argmax())
    if leave <= join and leaving[leave] <= joining[join]:
        total = float(before[leave] + after[join]) - _BOTH_GAPS
        leave_moment = moment(float(moments[leave]), before, leave)
        choices.append((total, leave_moment, moment(float(moments[join]), after, join)))
    if not choices:
        return None
    _, leave_moment, join_moment = max(choices, key=lambda choice: choice[0])
    return leave_moment, join_moment
