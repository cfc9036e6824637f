"""Singing and shouts that speech detection missed, and the slots in which they likely occur.

Describers speak over the instrumental part of a song and not over its words, and never over a shout that
matters. Speech detectors are trained on speech, and often miss singing and shouts. So a second network
(`voice_net`) detects singing and speech, and a slot with enough of either is marked. benchmarks/singing.py
measures how often that is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shotad.core import Interval, Slot
from shotad.core.config.film import SpeechSettings
from shotad.core.onnx import Floats
from shotad.core.types import SlotVoice, clip_all
from shotad.film.audio import SoundBlock
from shotad.film.slots import join_intervals
from shotad.film.voice_net import SINGING, SPEECH, STEP, VoiceNet

SUNG, SHOUTED = 0.6, 0.7
"""Chances of singing and of speech from which a voice is detected. These and the next two were chosen on the
tuning half of tests/labels/songs.yaml."""
SUNG_SECONDS, SHOUTED_SECONDS = 1.0, 0.4
"""Seconds of either in a slot from which it is marked."""
_SMOOTH = 11
"""Chances, a tenth of a second, over which a moving mean is taken."""
_PAUSE = 0.2
"""Seconds without a voice that do not end an interval."""
_SHORTEST = 0.2
"""Seconds; a voice that is detected for less is a noise."""


@dataclass(frozen=True, slots=True)
class VoiceTimes:
    """When somebody likely sings, and when somebody likely shouts or speaks."""

    singing: tuple[Interval, ...] = ()
    shouts: tuple[Interval, ...] = ()


class VoiceListener:
    """Detects singing and shouts in sound that is on its way to speech detection."""

    def __init__(self) -> None:
        self._net = VoiceNet()
        self._chances: list[Floats] = []

    def pass_on(self, blocks: Iterable[SoundBlock]) -> Iterator[SoundBlock]:
        """The same ``blocks``, mono at 16 kHz from second 0, each after the network has read it."""
        for block in blocks:
            self._chances.append(self._net.feed(block.samples))
            yield block

    def finish(self, duration: float) -> VoiceTimes:
        """The voices in all blocks that passed, inside ``[0, duration)`` seconds."""
        chances = np.concatenate([*self._chances, self._net.finish()])
        self._chances = []
        return voices_in(chances, duration)


def voices_in(chances: Floats, duration: float) -> VoiceTimes:
    """The voices inside ``[0, duration)`` seconds, from the network's chances ``float32[n, 3]``."""
    singing = _intervals_above(SUNG, chances[:, SINGING], duration)
    shouts = _intervals_above(SHOUTED, chances[:, SPEECH], duration)
    return VoiceTimes(singing, shouts)


def _intervals_above(threshold: float, chances: Floats, duration: float) -> tuple[Interval, ...]:
    """Where the moving mean of ``chances``, ``float32[n]``, reaches ``threshold``, without noises."""
    if len(chances) == 0 or duration <= 0:
        return ()
    kernel = np.full(_SMOOTH, 1 / _SMOOTH)
    # By hand and not with "same", which gives more values than there are chances where these are few.
    smooth = np.convolve(chances, kernel, "full")[_SMOOTH // 2 :][: len(chances)]
    is_voice = np.concatenate([[False], smooth >= threshold, [False]])
    # Rows of the first chance of an interval and the first one after it.
    edges = np.flatnonzero(np.diff(is_voice.astype(np.int8))).reshape(-1, 2)
    intervals = [Interval(first * STEP, end * STEP) for first, end in edges.tolist()]

    film = Interval(0.0, duration)
    voices: list[Interval] = []
    for interval in join_intervals(intervals, _PAUSE):
        inside = interval.clip(film)
        if interval.duration >= _SHORTEST and inside is not None:
            voices.append(inside)
    return tuple(voices)


def mark_slots(slots: Sequence[Slot], voices: VoiceTimes) -> tuple[Slot, ...]:
    """The slots, each with the voice that likely occurs in it, or None."""
    return tuple(replace(slot, voice=_voice_in(slot.interval, voices)) for slot in slots)


def _voice_in(time: Interval, voices: VoiceTimes) -> SlotVoice | None:
    # Singing first: a shout in a song is part of it.
    if seconds_shared(voices.singing, time) >= SUNG_SECONDS:
        return SlotVoice.SONG
    if seconds_shared(voices.shouts, time) >= SHOUTED_SECONDS:
        return SlotVoice.SHOUT
    return None


def is_left_empty(slot: Slot, settings: SpeechSettings) -> bool:
    """Whether no line is written in a slot, because of the voice in it, unless a person asks for one."""
    if slot.voice is None or (slot.voice is SlotVoice.SONG and settings.over_lyrics):
        return False
    # Films end with a song over their credits, and there is no other time to read those.
    return not slot.credits


def seconds_shared(intervals: Sequence[Interval], time: Interval) -> float:
    """Seconds of ``time`` that ``intervals``, which do not overlap, cover."""
    return sum(part.duration for part in clip_all(intervals, time))
