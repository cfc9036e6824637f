"""The narrator alone, in the film's time: what is left of a fitted recording when the film is taken out, with
silence where the narrator is silent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shotad.core import Interval, Progress
from shotad.core.progress import progress_task
from shotad.film import Samples, SoundBlock, open_sound
from shotad.film.slots import join_intervals
from shotad.film.speech import RATE as SPEECH_RATE, speech_in
from shotad.sound.alignment.fitted_sound import Fit, in_blocks, recording_blocks
from shotad.sound.alignment.recording import Recording
from shotad.sound.alignment.subtraction import without_film
from shotad.sound.files import write_sound
from shotad.sound.programme import RATE, Programme, channel_names

SOFTEST = 20.0
"""dB under the narrator's usual level; softer speech is a remainder of the film's dialogue."""
BEFORE, AFTER = 0.05, 0.15
"""Seconds kept before and after the narrator's speech: words begin and end softly."""
FADE = 0.03
PAUSE = 0.8
"""Seconds of silence that do not end a line: a narrator's breath."""
_LEAST_POWER = 1e-12
STEP = 0.1
"""Seconds whose power is measured at a time."""

Powers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Narrator:
    """The narrator's voice of a whole film in a file, and when it speaks, in film seconds, ascending.

    ``suppression``: by how many dB the film is softer where the narrator is silent, before that is made
    silent; None where that cannot be measured, or nothing had to be taken out.
    """

    sound: Recording
    lines: tuple[Interval, ...]
    suppression: float | None = None

    def blocks(self, total: int) -> Iterator[SoundBlock]:
        """``float32[n]`` at `RATE`, ``total`` samples, silent outside of the lines."""
        for number, samples in enumerate(in_blocks(self.sound.blocks(mono=True), total, RATE, 1)):
            first = number * RATE
            seconds = np.arange(first, first + len(samples)) / RATE
            yield SoundBlock(first / RATE, samples[:, 0] * _openness(self.lines, seconds))


def _openness(lines: Sequence[Interval], seconds: npt.NDArray[np.float64]) -> Samples:
    """1 in the lines, 0 outside, with short fades around them."""
    openness = np.zeros(len(seconds), np.float32)
    for line in lines:
        if line.end + AFTER < seconds[0] or line.start - BEFORE > seconds[-1]:
            continue
        begins, ends = (seconds - (line.start - BEFORE)) / FADE, (line.end + AFTER - seconds) / FADE
        openness = np.maximum(openness, np.clip(np.minimum(begins, ends), 0, 1).astype(np.float32))
    return openness


def find_narrator(
    recording: Recording, fit: Fit, programme: Programme, place: Path, progress: Progress
) -> Narrator:
    """Take the film out of the recording, and find the narrator in what is left.

    ``place`` is a sound file (FLAC) that is written; it has to stay as long as the result is used. Raises
    WorkFolderError, and WeightsError where the speech detector cannot be had.
    """
    duration = programme.total / RATE
    powers_before: list[Powers] = []
    with progress_task(progress, "Taking the film's sound out", duration, "s") as task:

        def blocks() -> Iterator[SoundBlock]:
            position = 0
            for samples in without_film(_in_step(recording, fit, programme, powers_before)):
                yield SoundBlock(position / RATE, samples)
                position += len(samples)
                task.advance(len(samples) / RATE)

        write_sound(place, blocks(), layout="mono")
    kept = open_sound(place)
    sound = Recording(kept, kept.audio[0])
    lines, powers_after = _lines(sound, duration, progress)
    silent = _silent_steps(fit, lines, len(powers_after))
    before = float(np.concatenate(powers_before)[: len(silent)][silent].sum())
    after = float(powers_after[silent].sum())
    measurable = before > _LEAST_POWER * max(1, int(silent.sum()))
    suppression = 10 * math.log10(before / max(after, _LEAST_POWER)) if measurable else None
    return Narrator(sound, lines, suppression)


def find_lone_narrator(recording: Recording, duration: float, progress: Progress) -> Narrator:
    """The narrator in a recording that has nothing else, and begins with the film."""
    return Narrator(recording, _lines(recording, duration, progress)[0])


def _in_step(
    recording: Recording, fit: Fit, programme: Programme, powers: list[Powers]
) -> Iterator[tuple[Samples, Samples]]:
    """Film, ``float32[n, channels]`` without bass effects, and recording, ``float32[n]``, both silent outside
    of the pieces. The powers of the recording are added to ``powers``."""
    kept = [not name.startswith("LFE") for name in channel_names(programme.layout)]
    fitted = recording_blocks(recording, fit, programme.total, mono=True)
    film = in_blocks(programme.blocks(), programme.total, RATE, programme.channels)
    for film_samples, (_, samples, weights) in zip(film, fitted, strict=True):
        powers.append(_powers(samples[:, 0], RATE))
        yield film_samples[:, kept] * weights[:, None], samples[:, 0]


def _powers(samples: Samples, rate: int) -> Powers:
    """The mean squares of each `STEP` of a block, the last of what is left."""
    starts = np.arange(0, len(samples), round(STEP * rate))
    sums = np.add.reduceat(np.square(samples, dtype=np.float64), starts)
    return sums / np.diff(np.append(starts, len(samples)))


def _lines(sound: Recording, duration: float, progress: Progress) -> tuple[tuple[Interval, ...], Powers]:
    """When the narrator speaks, which is speech that is not much softer than the loudest of it; and the
    powers of the sound."""
    parts: list[Powers] = []

    def measured() -> Iterator[SoundBlock]:
        for block in sound.blocks(SPEECH_RATE, mono=True):
            parts.append(_powers(block.samples, SPEECH_RATE))
            yield block

    speech = speech_in(measured(), duration, progress) or ()
    powers = np.concatenate([np.zeros(0), *parts])[: math.ceil(duration / STEP)]
    levels = [_level(powers, interval) for interval in speech]
    # The level that half of all speech, by its length, reaches.
    spoken, usual = 0.0, 0.0
    for level, seconds in sorted(zip(levels, (i.duration for i in speech), strict=True), reverse=True):
        usual = level
        spoken += seconds
        if spoken >= sum(interval.duration for interval in speech) / 2:
            break
    loud = [interval for interval, level in zip(speech, levels, strict=True) if level >= usual - SOFTEST]
    return join_intervals(loud, PAUSE), powers


def _level(powers: Powers, interval: Interval) -> float:
    """The mean power in an interval, in dB of full scale."""
    first = min(int(interval.start / STEP), max(0, len(powers) - 1))
    within = powers[first : max(first + 1, math.ceil(interval.end / STEP))]
    return 10 * math.log10(max(_LEAST_POWER, float(within.mean()) if len(within) else 0.0))


def _silent_steps(fit: Fit, lines: Sequence[Interval], count: int) -> npt.NDArray[np.bool_]:
    """In which of ``count`` steps the recording is fitted to the film and nobody narrates,
    ``bool[count]``."""
    moments = (np.arange(count) + 0.5) * STEP
    silent = np.zeros(count, np.bool_)
    for piece in fit.pieces:
        silent |= (moments > piece.film.start + STEP) & (moments < piece.film.end - STEP)
    for line in lines:
        silent &= (moments < line.start - 2 * AFTER) | (moments > line.end + 2 * AFTER)
    return silent
