"""An alignment made exact to the sample, and what else has to be known before a recording is fitted: whether
its pitch was kept where its speed is another, and how loud the film is in it.

One pass over both sounds. In windows of a few seconds the recording, put into the film's time, is compared
with the film: the delay is the peak of their cross-correlation with the spectra made flat (GCC-PHAT: Knapp
and Carter 1976). A narrator is in one of them only and raises no peak.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from shotad.core import Interval, NoProgress, Progress
from shotad.core.progress import progress_task
from shotad.film import Samples, SoundBlock, sound_blocks
from shotad.sound.alignment.fitted_sound import LEAST_CHANGE, Fit, in_blocks, recording_blocks
from shotad.sound.alignment.pieces import AlignedPiece, Alignment
from shotad.sound.alignment.recording import Recording, mono_mix
from shotad.sound.layouts import common_layout, remix_matrix
from shotad.sound.programme import Programme

COMPARED_RATE = 16_000
"""Samples a second of what is compared: the peak is found to a fraction of one."""
WINDOW_SECONDS = 4
MAX_DELAY = 0.1
"""Seconds by which a piece may be off."""
LEAST_PEAK = 8.0
"""Times the root mean square of the correlation; of sounds with nothing in common the peak is at 4 to 5."""
_BAND = (100.0, 6000.0)
"""Hertz that are compared: below is rumble, above coders leave little."""
_SAME = 0.002
"""Seconds by which a piece drifts over its whole length if it does not drift."""
_SEMITONE_PARTS = 16
"""Parts of a semitone in which spectra are compared for their pitch."""
_OCTAVES = (7.0, 12.0)
"""Powers of 2 of the lowest and highest frequency compared for pitch: 128 to 4096 Hz."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Comparison:
    """What one window shows. ``delay``: seconds by which the recording comes too late, if it is ``clear``.
    ``gain``: amplitude of the film in the recording. ``resampled``, ``stretched``: likeness of the spectra if
    the pitch changed with the speed, and if it was kept."""

    piece: int
    second: float
    delay: float
    is_clear: bool
    gain: float
    resampled: float
    stretched: float


def exact_fit(
    alignment: Alignment, recording: Recording, programme: Programme, progress: Progress | None = None
) -> Fit:
    """How to fit the recording: pieces exact to a part of a millisecond where film and recording agree.

    ``programme`` is the film's sound. Pieces whose sound says nothing, and those whose pitch was kept, stay
    as they are.
    """
    comparisons: list[_Comparison] = []
    duration = alignment.film_duration
    with progress_task(progress or NoProgress(), "Comparing the sounds", duration, "s") as task:
        compared = 0.0
        for comparison in _comparisons(alignment, recording, programme):
            comparisons.append(comparison)
            task.advance(comparison.second - compared)
            compared = comparison.second
    resampled = sum(comparison.resampled for comparison in comparisons)
    stretched = sum(comparison.stretched for comparison in comparisons)
    pitch_kept = stretched > resampled
    pieces: list[AlignedPiece] = []
    for number, piece in enumerate(alignment.pieces):
        clear = [c for c in comparisons if c.piece == number and c.is_clear]
        pieces.append(_moved(piece, clear, alignment) if clear else piece)
    gains = [comparison.gain for comparison in comparisons if comparison.is_clear]
    # The film is lowered for the narrator in some windows: its own loudness is that of the louder ones.
    film_gain = float(np.quantile(gains, 0.9)) if gains else 1.0
    return Fit(_without_overlaps(pieces), pitch_kept, film_gain)


def _comparisons(alignment: Alignment, recording: Recording, programme: Programme) -> Iterator[_Comparison]:
    """One for each window that lies within a piece."""
    rate = COMPARED_RATE
    total = round(alignment.film_duration * rate)
    fitted = recording_blocks(recording, Fit(alignment.pieces), total, rate, mono=True)
    held_film: list[Samples] = []
    held_recording: list[Samples] = []
    start = 0
    for film_samples, (first, samples, _) in zip(
        _film_blocks(programme, recording.layout, total), fitted, strict=True
    ):
        held_film.append(film_samples)
        held_recording.append(samples[:, 0])
        if len(held_film) < WINDOW_SECONDS and first + len(samples) < total:
            continue
        window = Interval(start / rate, (first + len(samples)) / rate)
        for number, piece in enumerate(alignment.pieces):
            part = piece.film.clip(window)
            if part is None or part.duration < WINDOW_SECONDS / 4:
                continue
            inside = slice(round(part.start * rate) - start, round(part.end * rate) - start)
            film_sound = np.concatenate(held_film)[inside]
            sound = np.concatenate(held_recording)[inside]
            middle = (part.start + part.end) / 2
            delay, is_clear = _delay(film_sound, sound)
            gain = _gain(film_sound, sound, delay)
            likenesses = (0.0, 0.0)
            if abs(piece.speed - 1) > LEAST_CHANGE:
                likenesses = _pitch_likenesses(film_sound, sound, piece.speed)
            yield _Comparison(number, middle, delay, is_clear, gain, *likenesses)
        start = first + len(samples)
        held_film, held_recording = [], []


def _film_blocks(programme: Programme, layout: str, total: int) -> Iterator[Samples]:
    """The film in blocks of a second, ``float32[n]`` at `COMPARED_RATE`, mixed to ``layout`` and from there
    to mono, as the recording is, so that its loudness can be compared."""
    same = common_layout(programme.layout) == common_layout(layout)
    to_mono = mono_mix(layout) if same else remix_matrix(programme.layout, layout) @ mono_mix(layout)
    blocks: Iterator[SoundBlock] = iter(())
    if programme.film is not None and programme.track is not None:
        blocks = sound_blocks(programme.film, programme.track, COMPARED_RATE, programme.read_as)
    for samples in in_blocks(blocks, total, COMPARED_RATE, programme.channels):
        yield np.asarray(samples @ to_mono, np.float32)


def _delay(film: Samples, recording: Samples) -> tuple[float, bool]:
    """Seconds by which the recording comes later than the film, and whether that is clear."""
    size = 2 * len(film)
    frequencies = np.fft.rfftfreq(size, 1 / COMPARED_RATE)
    cross = np.fft.rfft(recording, size) * np.fft.rfft(film, size).conj()
    compared = (frequencies >= _BAND[0]) & (frequencies <= _BAND[1])
    flat = np.where(compared, cross / np.maximum(np.abs(cross), 1e-9), 0)
    correlation = np.fft.irfft(flat, size)
    reach = round(MAX_DELAY * COMPARED_RATE)
    near = np.concatenate([correlation[-reach:], correlation[: reach + 1]])
    peak = int(near.argmax())
    power = float(np.sqrt(np.square(correlation).mean()))
    if power == 0 or peak in (0, len(near) - 1) or near[peak] < LEAST_PEAK * power:
        return 0.0, False
    before, at, after = near[peak - 1 : peak + 2]
    # The top of the parabola through three values.
    curve = before - 2 * at + after
    shift = 0.5 * (before - after) / curve if curve < 0 else 0.0
    return (peak - reach + shift) / COMPARED_RATE, True


def _gain(film: Samples, recording: Samples, delay: float) -> float:
    """The film's amplitude in the recording, by their common part."""
    moved = np.roll(recording, -round(delay * COMPARED_RATE))
    power = float(film @ film)
    return max(0.0, float(film @ moved) / power) if power > 0 else 0.0


def _pitch_likenesses(film: Samples, recording: Samples, speed: float) -> tuple[float, float]:
    """How like the spectra are as they are, and with the recording's put back by the speed."""
    shift = round(12 * _SEMITONE_PARTS * np.log2(speed))
    film_bands, bands = _pitch_bands(film), _pitch_bands(recording)
    reach = abs(shift)
    inner = slice(reach, len(film_bands) - reach)
    # Resampled, sound whose pitch was kept is `speed` times too low.
    raised = bands[reach - shift : len(bands) - reach - shift]
    return _likeness(film_bands[inner], bands[inner]), _likeness(film_bands[inner], raised)


def _pitch_bands(samples: Samples) -> Numbers:
    """The logarithm of the amplitude at frequencies of even distance in semitones, without its slow
    course."""
    amplitudes = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    octaves = np.arange(_OCTAVES[0], _OCTAVES[1], 1 / (12 * _SEMITONE_PARTS))
    places = 2**octaves * len(samples) / COMPARED_RATE
    edges = np.concatenate([places, [places[-1] * places[-1] / places[-2]]]).astype(int)
    sums = np.concatenate([[0.0], np.cumsum(amplitudes**2)])
    widths = np.maximum(1, np.diff(edges))
    logarithms = np.log(1e-9 + (sums[edges[:-1] + widths] - sums[edges[:-1]]) / widths)
    width = 4 * _SEMITONE_PARTS
    course = np.convolve(
        np.pad(logarithms, width, mode="edge"), np.ones(2 * width + 1) / (2 * width + 1), "valid"
    )
    return np.asarray(logarithms - course)


def _likeness(first: Numbers, second: Numbers) -> float:
    deviation = float(first.std() * second.std())
    return float(((first - first.mean()) * (second - second.mean())).mean() / deviation) if deviation else 0.0


def _moved(piece: AlignedPiece, clear: list[_Comparison], alignment: Alignment) -> AlignedPiece:
    """The piece with its ends in the recording moved by the delay that its clear windows show."""
    seconds = np.array([comparison.second for comparison in clear])
    delays = np.array([comparison.delay for comparison in clear])
    # Theil and Sen: the median of all slopes, so that windows that are wrong do no harm.
    firsts, seconds_of = np.triu_indices(len(seconds), 1)
    apart = seconds[seconds_of] - seconds[firsts]
    far = apart > 0.25 * piece.film.duration
    slope = float(np.median((delays[seconds_of] - delays[firsts])[far] / apart[far])) if far.any() else 0.0
    slope = float(np.clip(slope, -MAX_DELAY / piece.film.duration, MAX_DELAY / piece.film.duration))
    middle = (piece.film.start + piece.film.end) / 2
    delay = float(np.median(delays - slope * (seconds - middle)))
    start = piece.recording_second(piece.film.start + delay + slope * (piece.film.start - middle))
    end = piece.recording_second(piece.film.end + delay + slope * (piece.film.end - middle))
    if abs((end - start) - piece.film.duration) < _SAME:
        start = (start + end - piece.film.duration) / 2
        end = start + piece.film.duration
    return replace(piece, recording=Interval(start, end))


def _without_overlaps(pieces: list[AlignedPiece]) -> tuple[AlignedPiece, ...]:
    """The pieces, each ended a little earlier in film and recording where the next one begins before its
    end."""
    apart: list[AlignedPiece] = []
    for piece, following in zip_longest(pieces, pieces[1:]):
        if following is None or piece.recording.end <= following.recording.start:
            apart.append(piece)
            continue
        end = following.recording.start
        if end > piece.recording.start:
            film = Interval(piece.film.start, piece.film_second(end))
            apart.append(replace(piece, film=film, recording=Interval(piece.recording.start, end)))
    return tuple(apart)
