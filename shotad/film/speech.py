"""When somebody speaks: from subtitles where there are any, else by listening to the sound.

The ear is Silero's voice activity network through onnxruntime, 31.25 times a second (silero-vad 6, MIT,
https://github.com/snakers4/silero-vad; the ONNX file only). It reads windows of 512 samples at 16 kHz with
the 64 samples before them, and carries a state along.

Detectors are trained on speech at speech level. Film sound is not so: a voice over loud music goes unheard
because the whole is too loud, one far away because it is too low. So the network hears two views, each
brought to a steady level over a few seconds: the sound as it is, and louder with the low notes damped,
where music and rumble are strongest. benchmarks/speech.py measures what this is worth.

What is sung or shouted often passes it by. A second network listens for that in the same pass (`singing`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from shotad.core import (
    AudioTrack,
    Interval,
    NoProgress,
    OnnxModel,
    Progress,
    SpeechKind,
    SpeechSettings,
    SubtitleError,
    Utterance,
    span,
    spanned,
    weights_file,
)
from shotad.film import voice_net
from shotad.film.audio import GUARD, DownmixCheck, SoundBlock, choose_track, sound_blocks
from shotad.film.reader import Film
from shotad.film.singing import VoiceListener, Voices, seconds_shared
from shotad.film.slots import union
from shotad.film.subtitle_check import clock, fit_subtitles

HEARING_WEIGHTS = ("silero-vad", voice_net.WEIGHTS)
"""Names in the manifest of the weights with which a film is listened to."""

LEVELS = (0.1, 0.5)
"""Root mean square of the two views: the sound as it is, and with its low notes damped."""
REACHES = (47, 94)
"""Windows to each side over which a view's level is taken: 3 s and 6 s in all."""
LARGEST_GAINS = (60.0, 12.0)
"""So that near silence (below -55 dB of full scale) is not raised to the level of speech, and that the
second view, meant for loud scenes, makes no voices of the birds in a quiet one."""
LOW_CUT = 600.0
"""Hertz below which the second view falls by 6 dB an octave; a steeper filter takes the voice too."""
_TAPS = 64


class Leveller:
    """Turns sound that arrives in pieces into the two views, 3 s late.

    What comes out does not depend on how the sound was cut into pieces.
    """

    def __init__(self) -> None:
        # The impulse response of a first-order Butterworth high-pass, cut where it has died away
        warped = np.tan(np.pi * LOW_CUT / RATE)
        pole = (1 - warped) / (1 + warped)
        response = np.concatenate([[1.0], (pole - 1) * pole ** np.arange(_TAPS - 1)])
        self._taps = np.asarray((1 + pole) / 2 * response, np.float32)
        self._sound = np.zeros(_TAPS - 1, np.float32)
        self._views = np.zeros((2, 0, WINDOW), np.float32)
        self._power = np.zeros((2, 0), np.float64)
        self._given = 0

    def feed(self, samples: Signal) -> Signal:
        """The views ``float32[2, n * 512]`` of the next windows that can be levelled; n may be 0."""
        self._take(samples)
        return self._give(self._power.shape[1] - max(REACHES))

    def finish(self) -> Signal:
        """The views of what is left; its last window is filled up with silence."""
        left = (len(self._sound) - (_TAPS - 1)) % WINDOW
        if left:
            self._take(np.zeros(WINDOW - left, np.float32))
        return self._give(self._power.shape[1])

    def _take(self, samples: Signal) -> None:
        self._sound = np.concatenate([self._sound, samples.astype(np.float32, copy=False)])
        whole = max(0, len(self._sound) - (_TAPS - 1)) // WINDOW * WINDOW
        if whole == 0:
            return
        piece = self._sound[: whole + _TAPS - 1]
        views = np.stack([piece[_TAPS - 1 :], np.convolve(piece, self._taps, "valid")]).astype(np.float32)
        views = views.reshape(2, -1, WINDOW)
        self._views = np.concatenate([self._views, views], axis=1)
        power = np.mean(views.astype(np.float64) ** 2, axis=2)
        self._power = np.concatenate([self._power, power], axis=1)
        self._sound = self._sound[whole:]

    def _give(self, stop: int) -> Signal:
        """The levelled windows up to number ``stop`` of those held; older powers are let go."""
        count = max(0, stop - self._given)
        if count == 0:
            return np.zeros((2, 0), np.float32)
        gains = np.zeros((2, count))
        for k, window in enumerate(range(self._given, self._given + count)):
            around = (
                power[max(0, window - reach) : window + reach + 1]
                for power, reach in zip(self._power, REACHES, strict=True)
            )
            level = np.sqrt([piece.mean() for piece in around])
            gains[:, k] = np.minimum(np.array(LEVELS) / np.maximum(level, 1e-9), LARGEST_GAINS)
        views: Signal = self._views[:, :count] * gains.astype(np.float32)[:, :, None]
        self._views = self._views[:, count:]
        self._given += count
        spare = max(0, self._given - max(REACHES))
        self._power = self._power[:, spare:]
        self._given -= spare
        return views.reshape(2, -1)


Source = Literal["subtitles", "sound", "none"]

THRESHOLD, RELEASE = 0.4, 0.2
"""Chances of speech: at which a stretch is believed, and below which it ends. These and the next three are
those that find most and invent least in benchmarks/speech.py."""
BRIDGE = 0.3
"""Seconds of pause inside one stretch of speech."""
SHORTEST = 0.25
"""Seconds; what is heard for less is a noise."""
LEAD = 0.3
"""Seconds by which what is heard begins earlier: under music a voice is noticed late."""


@dataclass(frozen=True, slots=True)
class HeardSpeech:
    """Where somebody is heard to speak in a film, and what a person should know of its sound."""

    intervals: tuple[Interval, ...]
    notes: tuple[str, ...] = ()
    voices: Voices = field(default_factory=Voices)
    """Where somebody likely sings or shouts, in ``intervals`` and out of them."""


LEAST_SOUND = 1.0
"""Seconds; a track that sounds for less is taken for an empty one."""


@span("speech")
def hear_speech(film: Film, track: int | None = None, progress: Progress | None = None) -> HeardSpeech | None:
    """The speech in the sound of ``film``; None where it has no sound. ``track`` as for `sound_blocks`.

    Where channels cancel each other, or hold two programmes, they are heard so that no speech is lost. Where
    the default track is empty, the first is heard that is not. Raises FilmError for a track that is absent.
    """
    chosen = choose_track(film.info, track)
    if chosen is None or film.media is None:
        return None
    progress = progress or NoProgress()
    others = [other for other in film.info.audio if other.number != chosen.number] if track is None else []
    heard: HeardSpeech | None = None
    for candidate in (chosen, *others):
        check = DownmixCheck()
        candidate_heard = _hear_track(film, candidate, check, progress)
        if candidate_heard is None:
            continue
        heard = heard or candidate_heard
        if check.sounding * GUARD < LEAST_SOUND:
            continue
        if candidate is not chosen:
            text = (
                f"Audio track {chosen.number} is silent; speech was listened for in track "
                f"{candidate.number}. --audio-track names the track to use."
            )
            return replace(candidate_heard, notes=(text, *candidate_heard.notes))
        return candidate_heard
    return heard


def _hear_track(film: Film, track: AudioTrack, check: DownmixCheck, progress: Progress) -> HeardSpeech | None:
    duration = film.info.duration
    listener = VoiceListener()
    found = speech_in(listener.pass_on(sound_blocks(film, track.number, check=check)), duration, progress)
    if found is None:
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
            blocks = (
                replace(block, samples=block.samples[:, channel])
                for block in sound_blocks(film, track.number, RATE, "native")
            )
            found = union([*found, *(speech_in(blocks, duration, progress) or ())], BRIDGE)
    if check.is_two_programmes:
        notes.append(
            f"The two channels of audio track {track.number} have nothing in common (two languages, a "
            "voice and another sound, or one later than the other). Each was listened to; a pause is "
            "where both are silent."
        )
    return HeardSpeech(tuple(found), tuple(notes), voices)


@dataclass(frozen=True, slots=True)
class FoundSpeech:
    """The speech of a film: all utterances by start, inside it; where they are from; how they were found."""

    utterances: tuple[Utterance, ...]
    source: Source
    detail: str
    notes: tuple[str, ...] = ()
    """What a person should know."""
    voices: Voices = field(default_factory=Voices)
    """Where somebody likely sings, and, where there are no subtitles, likely shouts."""


@span("speech")
def find_speech(
    heard: HeardSpeech | None,
    settings: SpeechSettings,
    *,
    subtitles: Sequence[Utterance] | None,
    duration: float,
) -> FoundSpeech:
    """The speech of a film of ``duration`` seconds.

    ``settings.source`` ``auto`` takes ``subtitles`` if there are any (None: there are none; empty:
    nobody speaks) and else what was ``heard`` (None: nobody listened, or the film has no sound). Subtitles
    are compared with what was heard, and a note says where they do not fit. Raises SubtitleError where
    subtitles are demanded and absent, and where all of them lie outside the film.
    """
    if settings.source == "none":
        return FoundSpeech((), "none", "speech was not looked for (speech.source = none)")
    if settings.source == "subtitles" and subtitles is None:
        raise SubtitleError(
            "speech.source is subtitles, but there are none.",
            "Give subtitles (--subtitles FILE), or set speech.source=auto to listen to the sound.",
        )
    if subtitles is not None and settings.source != "sound":
        return _believe_subtitles(subtitles, heard, duration)
    if heard is None:
        return FoundSpeech((), "none", "the film has no sound")
    total = sum(interval.duration for interval in heard.intervals)
    share = round(100 * total / duration) if duration > 0 else 0
    detail = f"{len(heard.intervals)} stretches of speech heard, {total:.1f} s, {share} % of the film"
    utterances = tuple(Utterance(time, kind=_kind(time, heard.voices)) for time in heard.intervals)
    return FoundSpeech(utterances, "sound", detail, heard.notes, heard.voices)


SUNG_SHARE, SPOKEN_SHARE = 0.5, 0.1
"""Shares of what was taken for speech from which it is a song, and from which it is none."""


def _kind(time: Interval, voices: Voices) -> SpeechKind:
    """Whether what is heard at that time is spoken or sung."""
    sung = seconds_shared(voices.singing, time) >= SUNG_SHARE * time.duration
    spoken = seconds_shared(voices.shouts, time) >= SPOKEN_SHARE * time.duration
    return SpeechKind.LYRICS if sung and not spoken else SpeechKind.SPEECH


MANY_BEYOND = 0.1
"""Share of subtitles beyond the film's end from which they may be of another cut; a few are of credits."""


def _believe_subtitles(
    subtitles: Sequence[Utterance], heard: HeardSpeech | None, duration: float
) -> FoundSpeech:
    film = Interval(0.0, duration)
    inside = []
    for utterance in sorted(subtitles, key=lambda utterance: (utterance.interval, utterance.text)):
        clipped = utterance.interval.clip(film)
        if clipped is not None:
            inside.append(replace(utterance, interval=clipped))
    if subtitles and not inside:
        check_inside(subtitles, duration)
    beyond = len(subtitles) - len(inside)
    detail, notes = f"{len(inside)} utterances from subtitles", []
    if beyond:
        detail += f"; {beyond} beyond the film's end left out"
        if beyond >= MANY_BEYOND * len(subtitles):
            notes.append(
                f"{beyond} of {len(subtitles)} subtitles lie outside the film: are they of this version?"
            )
    if heard is not None:
        note = fit_subtitles([utterance.interval for utterance in subtitles], heard.intervals, duration).note
        notes += [*heard.notes, note] if note else heard.notes
    # Subtitles say who shouts; many leave out what is sung.
    voices = Voices() if heard is None else Voices(heard.voices.singing)
    return FoundSpeech(tuple(inside), "subtitles", detail, tuple(notes), voices)


def check_inside(subtitles: Sequence[Utterance], duration: float) -> None:
    """Raises SubtitleError where all of some subtitles lie outside a film of ``duration`` seconds."""
    film = Interval(0.0, duration)
    if (
        not subtitles
        or duration <= 0
        or any(utterance.interval.clip(film) is not None for utterance in subtitles)
    ):
        return
    first = min(utterance.interval.start for utterance in subtitles)
    many = f"None of the {len(subtitles)} subtitles lies"
    raise SubtitleError(
        f"{many if len(subtitles) > 1 else 'The only subtitle does not lie'} inside the film: "
        f"the film ends at {clock(duration)}, and the first subtitle begins at {clock(first)}.",
        "Give the subtitles of this film, or none: then the sound is listened to.",
    )


def speech_in(
    blocks: Iterable[SoundBlock], duration: float, progress: Progress | None = None
) -> tuple[Interval, ...] | None:
    """The speech in sound at 16 kHz from second 0, inside ``[0, duration)``; None where there is no block."""
    chances = _listen(blocks, duration, progress or NoProgress())
    return speech_intervals(chances, duration) if len(chances) else None


def _listen(blocks: Iterable[SoundBlock], duration: float, progress: Progress) -> Signal:
    """Chances of speech, ``float32[n]``, one for each `STEP` seconds from second 0.

    The mean of the detector's two opinions, on the sound as it is and without its low notes: where
    one is deaf the other mostly hears, and a noise seldom deceives both.
    """
    vad, leveller = Vad(weights_file(HEARING_WEIGHTS[0]), channels=len(LEVELS)), Leveller()
    task = progress.task("Listening for speech", duration or None, "s")
    found: list[Signal] = []
    try:
        for block in spanned("sound", blocks):
            found.append(vad.feed(leveller.feed(block.samples)).mean(axis=1))
            task.advance(len(block.samples) / RATE)
        found.append(vad.feed(leveller.finish()).mean(axis=1))
    finally:
        task.done()
    return np.concatenate(found)


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
    """Stretches of speech, from chances at every `STEP` seconds, inside ``[0, duration)``.

    A stretch is where the chance reaches ``threshold``, with all around it that stays above
    ``release``; pauses of up to ``bridge`` seconds are part of it, and what then is
    shorter than ``shortest`` is a noise. Each is taken to begin ``lead`` earlier.
    """
    held = chances >= release
    edges = np.flatnonzero(np.diff(np.concatenate([[False], held, [False]]).astype(np.int8)))
    sure = [
        Interval(start * STEP, end * STEP)
        for start, end in edges.reshape(-1, 2).tolist()
        if chances[start:end].max() >= threshold
    ]
    said = [piece for piece in union(sure, bridge) if piece.duration >= shortest]
    early = (Interval(piece.start - lead, piece.end) for piece in said)
    if duration <= 0:
        return ()
    film = Interval(0.0, duration)
    clipped = (piece.clip(film) for piece in union(early, bridge))
    return tuple(piece for piece in clipped if piece is not None)


RATE = 16_000
"""Samples a second that the network takes."""
WINDOW = 512
"""Samples for one probability."""
STEP = WINDOW / RATE
"""Seconds for one probability, 0.032."""
_CONTEXT = 64
_STATE = (2, 128)

Signal = npt.NDArray[np.float32]


class Vad:
    """The network on ``channels`` parallel signals, one thread, so that results never vary.

    Feed it whole windows in order; it holds only the state and 64 samples, whatever the length.
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
        windows: list[Signal] = []
        for at in range(0, samples, WINDOW):
            window = padded[:, at : at + WINDOW + _CONTEXT]
            chance, self._state = self._model.all(input=window, state=self._state, sr=self._rate)
            windows.append(np.asarray(chance, np.float32)[:, 0])
        self._context = padded[:, -_CONTEXT:].copy()
        return np.stack(windows)
