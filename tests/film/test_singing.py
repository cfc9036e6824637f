"""Slots in which somebody likely sings or shouts are marked, and what is sung is no speech."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from shotad.core import Interval, Slot
from shotad.core.config.film import SpeechSettings
from shotad.core.records import slot_rows, slots_of
from shotad.core.types import SlotVoice, SpeechKind
from shotad.film import (
    SoundBlock,
    SoundSpeech,
    VoiceTimes,
    choose_speech,
    mark_slots,
)
from shotad.film.singing import VoiceListener, is_left_empty
from shotad.film.speech import RATE, Signal

SONG, SHOUT = SlotVoice.SONG, SlotVoice.SHOUT


def slot(start: float, end: float) -> Slot:
    return Slot(f"s{round(start * 1000):08d}", Interval(start, end), 9)


def test_slots_are_marked_by_the_song_and_the_shouts_in_them() -> None:
    singing = (Interval(1, 1.5), Interval(3, 3.6), Interval(11, 11.9), Interval(29, 40))
    shouts = (Interval(3.2, 5), Interval(21, 21.5), Interval(25.1, 25.4))
    slots = [slot(0, 5), slot(10, 15), slot(20, 23), slot(24, 26), slot(30, 32)]
    marked = mark_slots(slots, VoiceTimes(singing, shouts))
    assert [each.voice for each in marked] == [SONG, None, SHOUT, None, SONG]
    assert mark_slots(slots, VoiceTimes()) == tuple(slots)


def test_the_mark_stands_in_the_record() -> None:
    slots = mark_slots([slot(0, 5), slot(6, 9)], VoiceTimes((Interval(6, 9),)))
    rows = slot_rows(slots)
    assert [row.get("voice") for row in rows] == [None, "song"]
    assert slots_of(rows) == slots


def test_credits_are_read_over_a_song() -> None:
    (sung,) = mark_slots([slot(0, 5)], VoiceTimes((Interval(0, 5),)))
    assert is_left_empty(sung, SpeechSettings())
    assert not is_left_empty(sung, SpeechSettings(over_lyrics=True))
    assert not is_left_empty(replace(sung, credits=True), SpeechSettings())
    assert not is_left_empty(slot(0, 5), SpeechSettings())


def test_what_is_sung_is_told_from_speech() -> None:
    sung, spoken, mixed = Interval(0, 4), Interval(5, 8), Interval(10, 14)
    voices = VoiceTimes((Interval(0.5, 4), Interval(10, 14)), (Interval(5, 8), Interval(11, 13)))
    heard = SoundSpeech((sung, spoken, mixed), voices=voices)
    found = choose_speech(heard, SpeechSettings(), subtitles=None, duration=20)
    kinds = [utterance.kind for utterance in found.utterances]
    assert kinds == [SpeechKind.LYRICS, SpeechKind.SPEECH, SpeechKind.SPEECH]
    assert found.voices == voices
    # Subtitles say who shouts, and may leave out what is sung.
    read = choose_speech(heard, SpeechSettings(), subtitles=[], duration=20)
    assert read.voices == VoiceTimes(voices.singing)


def vowels(notes: tuple[float, ...], vibrato: float = 0.02, seconds: float = 1.0) -> Signal:
    """Notes as a voice sings them, one vowel each: harmonics that waver together, loud near the formants."""
    times = np.arange(round(seconds * RATE)) / RATE
    formants = ((800, 1150, 2900), (350, 2000, 2800), (450, 800, 2830), (325, 700, 2700))
    sound = []
    for number, note in enumerate(notes):
        pitch = note * (1 + vibrato * np.sin(2 * np.pi * 5.5 * times))
        phase = 2 * np.pi * np.cumsum(pitch) / RATE
        tone = np.zeros_like(times)
        for harmonic in range(1, int(7000 / note)):
            away = harmonic * note - np.array(formants[number % 4])
            loudness = (np.array([1, 0.5, 0.2]) / (1 + (away / 80) ** 2)).sum() + 0.02
            tone += loudness / harmonic * np.sin(harmonic * phase)
        sound.append(tone * np.minimum(1, 20 * np.minimum(times, seconds - times)))
    whole = np.concatenate(sound)
    return np.asarray(0.5 * whole / np.abs(whole).max(), np.float32)


def voices_heard(sound: Signal, size: int = RATE) -> VoiceTimes:
    def blocks() -> Iterator[SoundBlock]:
        for at in range(0, len(sound), size):
            yield SoundBlock(at / RATE, sound[at : at + size])

    listener = VoiceListener()
    assert sum(len(block.samples) for block in listener.pass_on(blocks())) == len(sound)
    return listener.finish(len(sound) / RATE)


@pytest.mark.slow
def test_singing_is_heard_where_it_is_however_the_sound_comes() -> None:
    melody = vowels((220, 262, 294, 262, 247, 196, 220, 262))
    sound = np.concatenate([np.zeros(40 * RATE, np.float32), melody, np.zeros(3 * RATE, np.float32)])
    voices = voices_heard(sound)
    assert sum(stretch.duration for stretch in voices.singing) > 4
    assert all(stretch.start > 39.8 and stretch.end < 48.3 for stretch in voices.singing)
    assert voices.shouts == ()
    assert voices_heard(sound, 7001) == voices
    marked = mark_slots([slot(30, 36), slot(42, 47)], voices)
    assert [each.voice for each in marked] == [None, SONG]


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0, 0.01, 0.03, 3])
def test_silence_and_noise_hold_no_voice(seconds: float) -> None:
    rng = np.random.default_rng(3)
    noise = (0.1 * rng.standard_normal(round(seconds * RATE))).astype(np.float32)
    assert voices_heard(noise) == voices_heard(0 * noise) == VoiceTimes()
