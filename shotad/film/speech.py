"""The times at which somebody speaks: from subtitles where there are any, else detected in the sound.

The detector is Silero's voice activity network through onnxruntime, 31.25 times a second (silero-vad 6, MIT,
https://github.com/snakers4/silero-vad; the ONNX file only). It reads windows of 512 samples at 16 kHz with
the 64 samples before them, and carries a state along.

Detectors are trained on speech at speech level. Film sound has other levels: a voice over loud music is
missed because the whole is too loud, one far away because it is too low. So the network gets two signals,
each brought to a steady level over a few seconds: the sound as it is, and louder with the low notes damped,
where music and rumble are strongest. benchmarks/speech.py measures what this is worth.

It often misses singing and shouts. A second network detects those in the same pass (`singing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from shotad.core import (
    Interval,
    NoProgress,
    Progress,
    Utterance,
)
from shotad.core.config.film import SpeechSettings
from shotad.core.errors import SubtitleError
from shotad.core.onnx import OnnxModel
from shotad.core.profiling import time_items, time_step
from shotad.core.types import AudioTrack, SpeechKind, clip_all
from shotad.core.weight_store import weights_file
from shotad.film import voice_net
from shotad.film.audio import GUARD, DownmixCheck, SoundBlock, choose_track, sound_blocks
from shotad.film.reader import Film
from shotad.film.singing import VoiceListener, VoiceTimes, seconds_shared
from shotad.film.slots import join_intervals
from shotad.film.subtitle_check import clock, fit_subtitles

SPEECH_WEIGHTS = ("silero-vad", voice_net.WEIGHTS)
"""Names in the manifest of the weights of the two networks: speech, and singing and shouts."""

LEVELS = (0.1, 0.5)
"""Root mean square of the two signals: the sound as it is, and with its low notes damped."""
REACHES = (47, 94)
"""Windows to each side over which a signal's level is measured: 3 s and 6 s in all."""
LARGEST_GAINS = (60.0, 12.0)
"""Limits of the gains: near silence (below -55 dB of full scale) is not raised to the level of speech, and
the second signal, meant for loud scenes, makes no voices of the birds in a quiet one."""
LOW_CUT = 600.0
"""Hertz below which the second signal falls by 6 dB an octave; a steeper filter takes the voice too."""
_TAPS = 64
"""Length of the filter's impulse response in samples."""


class Leveller:
    """Turns sound that arrives in blocks of any length into the two levelled signals, 3 s late.

    The result does not depend on how the sound was cut into blocks.
    """

    def __init__(self) -> None:
        # The impulse response of a first-order Butterworth high-pass, cut where it has died away
        warped = np.tan(np.pi * LOW_CUT / RATE)
        pole = (1 - warped) / (1 + warped)
        response = np.concatenate([[1.0], (pole - 1) * pole ** np.arange(_TAPS - 1)])
        self._taps = np.asarray((1 + pole) / 2 * response, np.float32)
        self._sound = np.zeros(_TAPS - 1, np.float32)
        self._windows = np.zeros((2, 0, WINDOW), np.float32)
        # Powers reach further back than the windows: the levels of later windows need them.
        self._powers = np.zeros((2, 0), np.float64)
        self._next = 0
        """Number in ``_powers`` of the first of ``_windows``."""

    def feed(self, samples: Signal) -> Signal:
        """The signals ``float32[2, n * 512]`` of the next windows that can be levelled; n may be 0."""
        self._append(samples)
        return self._take_levelled(self._powers.shape[1] - max(REACHES))

    def finish(self) -> Signal:
        """The signals of the remaining sound; its last window is filled up with silence."""
        rest = (len(self._sound) - (_TAPS - 1)) % WINDOW
        if rest:
            self._append(np.zeros(WINDOW - rest, np.float32))
        return self._take_levelled(self._powers.shape[1])

    def _append(self, samples: Signal) -> None:
        """Cut whole windows from the sound, and measure their power."""
        self._sound = np.concatenate([self._sound, samples.astype(np.float32, copy=False)])
        # The filter needs the samples before the first window.
        whole = max(0, len(self._sound) - (_TAPS - 1)) // WINDOW * WINDOW
        if whole == 0:
            return
        sound = self._sound[: whole + _TAPS - 1]
        damped = np.convolve(sound, self._taps, "valid")
        windows = np.stack([sound[_TAPS - 1 :], damped]).astype(np.float32).reshape(2, -1, WINDOW)
        powers = np.mean(windows.astype(np.float64) ** 2, axis=2)
        self._windows = np.concatenate([self._windows, windows], axis=1)
        self._powers = np.concatenate([self._powers, powers], axis=1)
        self._sound = self._sound[whole:]

    def _take_levelled(self, stop: int) -> Signal:
        """Remove the windows before number ``stop`` in ``_powers``, and return them levelled."""
        count = max(0, stop - self._next)
        if count == 0:
            return np.zeros((2, 0), np.float32)
        gains = np.zeros((2, count))
        for k in range(count):
            window = self._next + k
            for signal, reach in enumerate(REACHES):
                powers = self._powers[signal, max(0, window - reach) : window + reach + 1]
                level = max(np.sqrt(powers.mean()), 1e-9)
                gains[signal, k] = min(LEVELS[signal] / level, LARGEST_GAINS[signal])
        levelled: Signal = self._windows[:, :count] * gains.astype(np.float32)[:, :, None]
        self._windows = self._windows[:, count:]
        self._next += count
        unneeded = max(0, self._next - max(REACHES))
        self._powers = self._powers[:, unneeded:]
        self._next -= unneeded
        return levelled.reshape(2, -1)


SpeechSource = Literal["subtitles", "sound", "none"]

THRESHOLD, RELEASE = 0.4, 0.2
"""Chances of speech: at which speech is detected, and below which it ends. These and the next three are
those that find most and invent least in benchmarks/speech.py."""
BRIDGE = 0.3
"""Seconds of a pause that does not end an interval of speech."""
SHORTEST = 0.25
"""Seconds; what is detected for less is a noise."""
LEAD = 0.3
"""Seconds by which detected speech begins earlier: under music a voice is noticed late."""


@dataclass(frozen=True, slots=True)
class SoundSpeech:
    """The speech detected in a film's sound, with notes on the sound for the user."""

    intervals: tuple[Interval, ...]
    notes: tuple[str, ...] = ()
    voices: VoiceTimes = field(default_factory=VoiceTimes)
    """When somebody likely sings or shouts, in ``intervals`` and out of them."""


LEAST_SOUND = 1.0
"""Seconds; a track with less sound counts as empty."""


@time_step("speech")
def detect_speech(
    film: Film, track: int | None = None, progress: Progress | None = None
) -> SoundSpeech | None:
    """Detect the speech in the sound of ``film``; None where it has no sound.

    ``track`` as for `sound_blocks`; where the default track is empty, the first that is not is used. Channels
    that cancel each other, or hold two programmes, are read so that no speech is lost. Raises FilmError for
    a track that is absent.
    """
    default = choose_track(film.info, track)
    if default is None or film.media is None:
        return None
    progress = progress or NoProgress()
    candidates = [default]
    if track is None:
        candidates += [other for other in film.info.audio if other.number != default.number]
    first_result: SoundSpeech | None = None
    for candidate in candidates:
        check = DownmixCheck()
        speech = _detect_in_track(film, candidate, check, progress)
        if speech is None:
            continue
        # Where all tracks are empty, the result is that of the first.
        first_result = first_result or speech
        if check.sounding * GUARD < LEAST_SOUND:
            continue
        if candidate is default:
            return speech
        note = (
            f"Audio track {default.number} is silent; speech was listened for in track "
            f"{candidate.number}. --audio-track names the track to use."
        )
        return replace(speech, notes=(note, *speech.notes))
    return first_result


def _detect_in_track(
    film: Film, track: AudioTrack, check: DownmixCheck, progress: Progress
) -> SoundSpeech | None:
    """The speech in one track, None where it has no sound; fills ``check``."""
    duration = film.info.duration
    listener = VoiceListener()
    blocks = listener.pass_on(sound_blocks(film, track.number, check=check))
    intervals = speech_in(blocks, duration, progress)
    if intervals is None:
        return None
    voices = listener.finish(duration)
    notes = []
    if check.is_inverted:
        share = 100 * check.cancelling // max(1, check.sounding)
        notes.append(
            f"Channels of audio track {track.number} cancel each other in {share} % of the sound: one of "
            "them is inverted. Speech was heard all the same, but whoever plays the film in mono misses it."
        )
    if track.channels == 2 and (check.is_two_programmes or check.is_inverted):
        # A loud one drowns the other in their mean. Where one is inverted and a few thousandths of a second
        # late, both their sum and their difference lack notes of a voice.
        for channel in range(2):
            channel_blocks = (
                replace(block, samples=block.samples[:, channel])
                for block in sound_blocks(film, track.number, RATE, "native")
            )
            in_channel = speech_in(channel_blocks, duration, progress) or ()
            intervals = join_intervals([*intervals, *in_channel], BRIDGE)
    if check.is_two_programmes:
        notes.append(
            f"The two channels of audio track {track.number} have nothing in common (two languages, a "
            "voice and another sound, or one later than the other). Each was listened to; a pause is "
            "where both are silent."
        )
    return SoundSpeech(tuple(intervals), tuple(notes), voices)


@dataclass(frozen=True, slots=True)
class FilmSpeech:
    """The speech of a film: all utterances by start, inside it; their source; and a summary of both."""

    utterances: tuple[Utterance, ...]
    source: SpeechSource
    detail: str
    notes: tuple[str, ...] = ()
    """Sentences for the user."""
    voices: VoiceTimes = field(default_factory=VoiceTimes)
    """When somebody likely sings, and, where there are no subtitles, likely shouts."""
    misfit: str = ""
    """Why subtitles that nobody named are not used, one of the ``notes``; empty where there are none."""


@time_step("speech")
def choose_speech(
    sound_speech: SoundSpeech | None,
    settings: SpeechSettings,
    *,
    subtitles: Sequence[Utterance] | None,
    duration: float,
) -> FilmSpeech:
    """The speech of a film of ``duration`` seconds.

    ``settings.source`` ``auto`` takes ``subtitles`` if there are any (None: there are none; empty:
    nobody speaks) and else ``sound_speech``, detected in the sound (None: it was not looked for, or the film
    has no sound). Subtitles are compared with it, and a note names the times at which they do not fit. Raises
    SubtitleError where subtitles are demanded and absent, and where all of them lie outside the film.
    """
    if settings.source == "none":
        return FilmSpeech((), "none", "speech was not looked for (speech.source = none)")
    if settings.source == "subtitles" and subtitles is None:
        raise SubtitleError(
            "speech.source is subtitles, but there are none.",
            "Give subtitles (--subtitles FILE), or set speech.source=auto to listen to the sound.",
        )
    if subtitles is not None and settings.source != "sound":
        return _speech_of_subtitles(subtitles, sound_speech, duration)
    if sound_speech is None:
        return FilmSpeech((), "none", "the film has no sound")
    total = sum(interval.duration for interval in sound_speech.intervals)
    share = round(100 * total / duration) if duration > 0 else 0
    count = len(sound_speech.intervals)
    detail = f"{count} stretches of speech heard, {total:.1f} s, {share} % of the film"
    utterances = []
    for interval in sound_speech.intervals:
        utterances.append(Utterance(interval, kind=_kind(interval, sound_speech.voices)))
    return FilmSpeech(tuple(utterances), "sound", detail, sound_speech.notes, sound_speech.voices)


SUNG_SHARE, SPOKEN_SHARE = 0.5, 0.1
"""Shares of an utterance: it is sung where this much of it is singing, unless this much of it is speech."""


def _kind(time: Interval, voices: VoiceTimes) -> SpeechKind:
    """Whether speech detected at that time is spoken or sung."""
    is_sung = seconds_shared(voices.singing, time) >= SUNG_SHARE * time.duration
    is_spoken = seconds_shared(voices.shouts, time) >= SPOKEN_SHARE * time.duration
    return SpeechKind.LYRICS if is_sung and not is_spoken else SpeechKind.SPEECH


MANY_BEYOND = 0.1
"""Share of subtitles beyond the film's end from which they may be of another cut; a few are of credits."""


def _speech_of_subtitles(
    subtitles: Sequence[Utterance], sound_speech: SoundSpeech | None, duration: float
) -> FilmSpeech:
    """The speech by ``subtitles``, clipped to the film, with notes on how they fit it and its sound."""
    film = Interval(0.0, duration)
    inside = []
    for utterance in sorted(subtitles, key=lambda utterance: (utterance.interval, utterance.text)):
        clipped = utterance.interval.clip(film)
        if clipped is not None:
            inside.append(replace(utterance, interval=clipped))
    if subtitles and not inside:
        check_inside(subtitles, duration)
    beyond = len(subtitles) - len(inside)
    detail = f"{len(inside)} utterances from subtitles"
    notes: list[str] = []
    if beyond:
        detail += f"; {beyond} beyond the film's end left out"
        if beyond >= MANY_BEYOND * len(subtitles):
            notes.append(
                f"{beyond} of {len(subtitles)} subtitles lie outside the film: are they of this version?"
            )
    if sound_speech is None:
        return FilmSpeech(tuple(inside), "subtitles", detail, tuple(notes))
    notes += sound_speech.notes
    fit = fit_subtitles([utterance.interval for utterance in subtitles], sound_speech.intervals, duration)
    if fit.note:
        notes.append(fit.note)
    # Subtitles contain what is shouted, but many leave out what is sung.
    voices = VoiceTimes(singing=sound_speech.voices.singing)
    return FilmSpeech(tuple(inside), "subtitles", detail, tuple(notes), voices)


def check_inside(subtitles: Sequence[Utterance], duration: float) -> None:
    """Raise SubtitleError where all of ``subtitles`` lie outside a film of ``duration`` seconds.

    Without subtitles nothing is raised.
    """
    film = Interval(0.0, duration)
    if not subtitles or any(utterance.interval.overlaps(film) for utterance in subtitles):
        return
    first_start = min(utterance.interval.start for utterance in subtitles)
    if len(subtitles) > 1:
        problem = f"None of the {len(subtitles)} subtitles lies inside the film"
    else:
        problem = "The only subtitle does not lie inside the film"
    raise SubtitleError(
        f"{problem}: the film ends at {clock(duration)}, and the first subtitle begins at "
        f"{clock(first_start)}.",
        "Give the subtitles of this film, or none: then the sound is listened to.",
    )


def speech_in(
    blocks: Iterable[SoundBlock], duration: float, progress: Progress | None = None
) -> tuple[Interval, ...] | None:
    """The speech in sound at 16 kHz from second 0, inside ``[0, duration)``; None where there is no sound."""
    chances = _chances_of_speech(blocks, duration, progress or NoProgress())
    return speech_intervals(chances, duration) if len(chances) else None


def _chances_of_speech(blocks: Iterable[SoundBlock], duration: float, progress: Progress) -> Signal:
    """Chances of speech, ``float32[n]``, one for each `STEP` seconds from second 0.

    The mean of those for the two signals of `Leveller`: where the detector misses speech in one it mostly
    finds it in the other, and few noises are taken for speech in both.
    """
    vad = Vad(weights_file(SPEECH_WEIGHTS[0]), channels=len(LEVELS))
    leveller = Leveller()
    task = progress.task("Listening for speech", duration or None, "s")
    chances: list[Signal] = []
    try:
        for block in time_items("sound", blocks):
            signals = leveller.feed(block.samples)
            chances.append(vad.feed(signals).mean(axis=1))
            task.advance(len(block.samples) / RATE)
        signals = leveller.finish()
        chances.append(vad.feed(signals).mean(axis=1))
    finally:
        task.done()
    return np.concatenate(chances)


def speech_intervals(
    chances: Signal,
    duration: float,
    *,
    threshold: float = THRESHOLD,
    release: float = RELEASE,
    bridge: float = BRIDGE,
    shortest: float = SHORTEST,
    lead: float = LEAD,
) -> tuple[Interval, ...]:
    """The intervals of speech inside ``[0, duration)``, from chances ``float32[n]`` at every `STEP` seconds.

    Speech is where the chance reaches ``threshold``, with all around it that stays above ``release``;
    pauses of up to ``bridge`` seconds are part of it, and an interval that then is shorter than ``shortest``
    is a noise. Each begins ``lead`` seconds earlier than it was detected.
    """
    if duration <= 0:
        return ()
    may_be_speech = np.concatenate([[False], chances >= release, [False]])
    # Rows of the first window of an interval and the first one after it.
    edges = np.flatnonzero(np.diff(may_be_speech.astype(np.int8))).reshape(-1, 2)
    detected = [
        Interval(first * STEP, end * STEP)
        for first, end in edges.tolist()
        if chances[first:end].max() >= threshold
    ]
    # Short ones only go once pauses are bridged: words of one sentence may each be short.
    voices = [interval for interval in join_intervals(detected, bridge) if interval.duration >= shortest]
    with_lead = [Interval(voice.start - lead, voice.end) for voice in voices]
    # The lead may close a pause.
    return tuple(clip_all(join_intervals(with_lead, bridge), Interval(0.0, duration)))


RATE = 16_000
"""Samples a second that the network takes."""
WINDOW = 512
"""Samples for one probability."""
STEP = WINDOW / RATE
"""Seconds for one probability, 0.032."""
_CONTEXT = 64
"""Samples before a window that the network reads with it."""
_STATE = (2, 128)
"""Shape of the network's state, of each channel."""

Signal = npt.NDArray[np.float32]


class Vad:
    """Silero's voice activity network on ``channels`` parallel signals, in one thread, so that results never
    vary.

    Feed it whole windows in order; it keeps only the state and 64 samples, whatever the length.
    """

    def __init__(self, weights: Path, channels: int = 1) -> None:
        self._model = OnnxModel(weights)
        self._rate = np.array(RATE, np.int64)
        self._state = np.zeros((_STATE[0], channels, _STATE[1]), np.float32)
        self._context = np.zeros((channels, _CONTEXT), np.float32)

    def feed(self, signals: Signal) -> Signal:
        """Probabilities ``float32[windows, channels]`` of ``float32[channels, windows * 512]``."""
        channels, samples = signals.shape
        if channels != len(self._context) or samples % WINDOW:
            raise ValueError(
                f"expected float32[{len(self._context)}, n * {WINDOW}], got shape {signals.shape}"
            )
        if samples == 0:
            return np.zeros((0, channels), np.float32)
        padded = np.concatenate([self._context, signals], axis=1).astype(np.float32, copy=False)
        chances: list[Signal] = []
        for start in range(0, samples, WINDOW):
            window = padded[:, start : start + WINDOW + _CONTEXT]
            chance, self._state = self._model.all(input=window, state=self._state, sr=self._rate)
            chances.append(np.asarray(chance, np.float32)[:, 0])
        # A copy, so that the whole of ``padded`` is not kept.
        self._context = padded[:, -_CONTEXT:].copy()
        return np.stack(chances)
