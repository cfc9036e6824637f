"""When somebody speaks: from subtitles where there are any, else by listening to the sound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shotad.config import SpeechSettings
from shotad.errors import SubtitleError
from shotad.film.audio import SoundBlock
from shotad.film.vad import STEP, WINDOW, Signal, Vad
from shotad.progress import NoProgress, Progress
from shotad.types import Interval, Utterance
from shotad.weights import weights_file

Source = Literal["subtitles", "sound", "none"]


@dataclass(frozen=True, slots=True)
class Speech:
    """All utterances of a film by start, where they are from, and a sentence on how they were found."""

    utterances: tuple[Utterance, ...]
    source: Source
    detail: str


def find_speech(
    blocks: Iterable[SoundBlock] | None,
    settings: SpeechSettings,
    *,
    subtitles: Sequence[Utterance] | None,
    duration: float,
    progress: Progress | None = None,
) -> Speech:
    """The speech of a film of ``duration`` seconds; all utterances lie inside it.

    ``settings.source`` ``auto`` believes ``subtitles`` if there are any (None: there are none; empty:
    nobody speaks) and else listens to ``blocks``, the film's sound at 16 kHz from second 0; None or no
    block: the film is silent. Raises SubtitleError where subtitles are demanded and absent.
    """
    if settings.source == "none":
        return Speech((), "none", "speech was not looked for (speech.source = none)")
    if settings.source == "subtitles" and subtitles is None:
        raise SubtitleError(
            "speech.source is subtitles, but there are none.",
            "Give --subtitles FILE, or set speech.source=auto to listen to the sound.",
        )
    if subtitles is not None and settings.source != "sound":
        inside, beyond = _inside(subtitles, duration)
        detail = f"{len(inside)} utterances from subtitles"
        return Speech(
            inside, "subtitles", detail + (f"; {beyond} beyond the film's end left out" if beyond else "")
        )
    if blocks is None:
        return Speech((), "none", "the film has no sound")
    chances = _listen(blocks, duration, progress or NoProgress())
    if len(chances) == 0:
        return Speech((), "none", "the film has no sound")
    found = tuple(Utterance(interval) for interval in speech_intervals(chances, settings, duration))
    return Speech(found, "sound", f"{len(found)} stretches of speech heard")


def _inside(utterances: Sequence[Utterance], duration: float) -> tuple[tuple[Utterance, ...], int]:
    film, kept = Interval(0.0, duration), []
    for u in sorted(utterances, key=lambda u: (u.interval, u.text)):
        clipped = u.interval.clip(film)
        if clipped is not None:
            kept.append(Utterance(clipped, u.text, u.kind))
    return tuple(kept), len(utterances) - len(kept)


def _listen(blocks: Iterable[SoundBlock], duration: float, progress: Progress) -> Signal:
    """Chances of speech, ``float32[n]``, one for each `STEP` seconds from second 0."""
    vad = Vad(weights_file("silero-vad"))
    task = progress.task("Listening for speech", duration, "s")
    rest = np.zeros(0, np.float32)
    found: list[Signal] = []
    try:
        for block in blocks:
            sound = np.concatenate([rest, block.samples])
            whole = len(sound) // WINDOW * WINDOW
            found.append(vad.feed(sound[None, :whole])[:, 0])
            rest = sound[whole:]
            task.advance(len(block.samples) / 16000)
        if len(rest):
            found.append(vad.feed(np.pad(rest, (0, WINDOW - len(rest)))[None])[:, 0])
    finally:
        task.done()
    return np.concatenate(found) if found else np.zeros(0, np.float32)


def speech_intervals(chances: Signal, settings: SpeechSettings, duration: float) -> tuple[Interval, ...]:
    """Stretches of speech from chances at every `STEP` seconds."""
    spans: list[tuple[float, float]] = []
    start: int | None = None
    for i, chance in enumerate(chances):
        if start is None and chance >= settings.threshold:
            start = i
        elif start is not None and chance < settings.threshold - 0.15:
            spans.append((start * STEP, i * STEP))
            start = None
    if start is not None:
        spans.append((start * STEP, len(chances) * STEP))
    return tuple(Interval(a, min(b, duration)) for a, b in spans if a < duration)
