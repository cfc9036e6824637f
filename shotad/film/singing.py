"""Slots in which a voice is likely heard, although speech detection found none: song, a shout, a call.

Describers speak over the instrumental part of a song and not over its words, and never over a shout that
matters. Speech detectors are trained on speech; what is sung or shouted often passes them by. So a second
network (`voice_net`) listens for singing and for speech, and a slot in which it hears enough of either is
marked. benchmarks/singing.py measures how often that is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shotad.core import Floats, Interval, Slot, SlotVoice, SpeechSettings
from shotad.film.audio import SoundBlock
from shotad.film.slots import union
from shotad.film.voice_net import SINGING, SPEECH, STEP, VoiceNet

SUNG, SHOUTED = 0.6, 0.7
"""Chances from which the network is believed. These and the next two were chosen on the tuning half of
tests/labels/songs.yaml."""
SUNG_SECONDS, SHOUTED_SECONDS = 1.0, 0.4
"""Seconds of either in a slot from which it is marked."""
_SMOOTH = 11
"""Answers, a tenth of a second, of which the mean is taken."""
_PAUSE = 0.2
"""Seconds without a voice that are part of one stretch."""
_SHORTEST = 0.2
"""Seconds; a voice that is heard for less is a noise."""


@dataclass(frozen=True, slots=True)
class Voices:
    """Where somebody likely sings, and where somebody likely shouts or speaks."""

    singing: tuple[Interval, ...] = ()
    shouts: tuple[Interval, ...] = ()


class VoiceListener:
    """Hears singing and shouts in sound that passes by on its way to speech detection."""

    def __init__(self) -> None:
        self._net = VoiceNet()
        self._answers: list[Floats] = []

    def pass_on(self, blocks: Iterable[SoundBlock]) -> Iterator[SoundBlock]:
        """The same blocks, mono at 16 kHz from second 0."""
        for block in blocks:
            self._answers.append(self._net.feed(block.samples))
            yield block

    def finish(self, duration: float) -> Voices:
        """What was heard, once all blocks have passed by; inside ``[0, duration)``."""
        chances = np.concatenate([*self._answers, self._net.finish()])
        self._answers = []
        return voices_in(chances, duration)


def voices_in(chances: Floats, duration: float) -> Voices:
    """The stretches of singing and of shouts, from the network's answers ``float32[n, 3]``."""
    return Voices(
        _stretches(chances[:, SINGING], SUNG, duration), _stretches(chances[:, SPEECH], SHOUTED, duration)
    )


def _stretches(chances: Floats, least: float, duration: float) -> tuple[Interval, ...]:
    if len(chances) == 0 or duration <= 0:
        return ()
    smooth = np.convolve(chances, np.full(_SMOOTH, 1 / _SMOOTH), "full")[_SMOOTH // 2 :][: len(chances)]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], smooth >= least, [False]]).astype(np.int8)))
    pieces = [Interval(first * STEP, end * STEP) for first, end in edges.reshape(-1, 2).tolist()]
    film = Interval(0.0, duration)
    clipped = (piece.clip(film) for piece in union(pieces, _PAUSE) if piece.duration >= _SHORTEST)
    return tuple(piece for piece in clipped if piece is not None)


def mark_slots(slots: Sequence[Slot], voices: Voices) -> tuple[Slot, ...]:
    """The slots, those marked in which somebody likely sings, or shouts or speaks."""
    return tuple(replace(slot, voice=_voice_in(slot.interval, voices)) for slot in slots)


def _voice_in(time: Interval, voices: Voices) -> SlotVoice | None:
    if seconds_shared(voices.singing, time) >= SUNG_SECONDS:
        return SlotVoice.SONG
    if seconds_shared(voices.shouts, time) >= SHOUTED_SECONDS:
        return SlotVoice.SHOUT
    return None


def left_to_people(slot: Slot, settings: SpeechSettings) -> str:
    """Why no line is written in a slot unless a person wants one there; empty where one is written."""
    if slot.voice is None or (slot.voice is SlotVoice.SONG and settings.over_lyrics):
        return ""
    if slot.credits:
        # Films end with a song over their credits, and there is no other time to read those.
        return ""
    return f"{slot.voice.words}; write a line if one is wanted, or have one written with shotad redo"


def seconds_shared(stretches: Sequence[Interval], time: Interval) -> float:
    """How many seconds of ``time`` the stretches, which lie apart, cover."""
    return sum(part.duration for stretch in stretches if (part := stretch.clip(time)) is not None)
