"""Speech comes from the best source there is, and the sound is heard without being deceived."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval, SpeechKind, SpeechSettings, SubtitleError, Utterance
from shotad.film import SoundBlock, find_speech, open_film, sound_blocks, speech, union
from shotad.film.speech import LEAD, LEVELS, RATE, STEP, WINDOW, Leveller, Signal, speech_intervals

SHARED = Path(__file__).parents[3] / "shared" / "data"
LABELS = Path(__file__).parents[1] / "labels" / "speech.json"


def blocks(sound: Signal, size: int = RATE) -> Iterator[SoundBlock]:
    for at in range(0, len(sound), size):
        yield SoundBlock(at / RATE, sound[at : at + size])


def noise(seconds: float, level: float = 0.05) -> Signal:
    rng = np.random.default_rng(7)
    return (level * rng.standard_normal(round(seconds * RATE))).astype(np.float32)


class LoudIsSpeech:
    """Takes for speech what is louder than the half of its surroundings: a detector without weights."""

    def __init__(self, weights: Path, channels: int = 1) -> None:
        self.channels = channels

    def feed(self, signals: Signal) -> Signal:
        power = np.mean(signals.reshape(self.channels, -1, WINDOW) ** 2, axis=2)
        return np.clip(power / np.array(LEVELS)[:, None] ** 2, 0, 1).T.astype(np.float32)


@pytest.fixture
def simple_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "Vad", LoudIsSpeech)
    monkeypatch.setattr(speech, "weights_file", Path)


def said(start: float, end: float, text: str = "Hello.") -> Utterance:
    return Utterance(Interval(start, end), text)


def test_subtitles_are_cut_and_must_be_there_where_demanded() -> None:
    given_ = [said(-1, 1), said(18, 25), said(30, 32), Utterance(Interval(3, 4), "La", SpeechKind.LYRICS)]
    found = find_speech(None, SpeechSettings(), subtitles=given_, duration=20)
    assert [u.interval for u in found.utterances] == [Interval(0, 1), Interval(3, 4), Interval(18, 20)]
    assert found.utterances[1].kind is SpeechKind.LYRICS
    assert found.utterances[2].text == "Hello."
    assert "1 beyond" in found.detail
    # Subtitles that are demanded must be there.
    with pytest.raises(SubtitleError, match="there are none") as caught:
        find_speech(None, SpeechSettings(source="subtitles"), subtitles=None, duration=9)
    assert "--subtitles" in caught.value.hint


@pytest.mark.usefixtures("simple_detector")
def test_the_sound_is_heard_where_it_is_if_so_set() -> None:
    for silent in (None, blocks(np.zeros(0, np.float32))):
        found = find_speech(silent, SpeechSettings(), subtitles=None, duration=20)
        assert (found.utterances, found.source) == ((), "none")
        assert "no sound" in found.detail
    sound = noise(20, 0.001)
    sound[5 * RATE : 6 * RATE] = noise(1, 0.2)
    found = find_speech(blocks(sound), SpeechSettings(source="sound"), subtitles=[said(1, 2)], duration=20)
    assert found.source == "sound"
    (heard,) = (utterance.interval for utterance in found.utterances)
    assert heard.start == pytest.approx(5 - LEAD, abs=2 * STEP)
    assert heard.end == pytest.approx(6, abs=2 * STEP)
    assert "1 stretches" in found.detail


def heard(*chances: float, **changes: float) -> list[tuple[int, int]]:
    """The stretches, in windows."""
    chosen = {"bridge": 0, "shortest": 0, "lead": 0, **changes}
    found = speech_intervals(np.array(chances, np.float32), 1e4, **chosen)
    return [(round(i.start / STEP), round(i.end / STEP)) for i in found]


def test_stretches_and_views_do_not_depend_on_blocks() -> None:
    assert heard(0, 0.3, 0.3, 0.9, 0.3, 0.1, 0, threshold=0.5, release=0.2) == [(1, 5)]
    assert heard(0, 0.3, 0.4, 0.3, 0, threshold=0.5, release=0.2) == []
    # Views do not depend on the blocks and leave the sound alone.
    sound = noise(7.3)
    before = sound.copy()
    whole = levelled(sound, len(sound))
    assert np.array_equal(whole, levelled(sound, 777))
    assert np.array_equal(sound, before)
    assert whole.shape[1] == -(-len(sound) // WINDOW) * WINDOW
    # Both have their level however loud the film.
    for level in (0.05, 0.8):
        views = levelled(noise(8, level))
        assert views.shape == (2, 8 * RATE)
        assert np.sqrt(np.mean(views**2, axis=1)) == pytest.approx(LEVELS, rel=0.02)


@given(st.lists(st.floats(0, 1, width=32), max_size=80), st.floats(0.1, 3))
def test_stretches_are_sorted_apart_long_enough_and_inside(chances: list[float], duration: float) -> None:
    found = speech_intervals(np.array(chances, np.float32), duration, bridge=0.1, shortest=0.1)
    assert union(found, 0.1 - 1e-9) == found
    assert all(piece.start >= 0 and piece.end <= duration for piece in found)
    assert all(piece.duration >= 0.1 - 1e-9 for piece in found if piece.end < duration)


def levelled(sound: Signal, size: int = RATE) -> Signal:
    leveller = Leveller()
    pieces = [leveller.feed(sound[at : at + size]) for at in range(0, len(sound), size)]
    return np.concatenate([*pieces, leveller.finish()], axis=1)


@pytest.mark.slow
def test_noise_hum_and_silence_are_no_speech() -> None:
    time = np.arange(5 * RATE) / RATE
    hum = (0.1 * np.sin(2 * np.pi * 220 * time)).astype(np.float32)
    for sound in (noise(5), hum, np.zeros(5 * RATE, np.float32)):
        assert find_speech(blocks(sound), SpeechSettings(), subtitles=None, duration=5).utterances == ()


CLIPS = json.loads(LABELS.read_text(encoding="utf-8"))["clips"]


@pytest.mark.slow
@pytest.mark.parametrize("name", CLIPS)
def test_supplied_clips(name: str) -> None:
    """No more than a word is missed; false speech is what the benchmark's notes explain, and no more."""
    path = SHARED / name
    if not path.exists():
        pytest.skip("the supplied clips are not beside the repository")
    label = CLIPS[name]
    with open_film(path) as film:
        found = find_speech(sound_blocks(film), SpeechSettings(), subtitles=None, duration=film.info.duration)
    margin, heard = SpeechSettings().margin, [utterance.interval for utterance in found.utterances]
    kept = union(Interval(one.start - margin, one.end + margin) for one in heard)
    spoken = [Interval(*pair) for pair in label["speech"]]
    for line in spoken:
        covered = sum(shared.duration for piece in kept if (shared := piece.clip(line)))
        assert line.duration - covered < 0.2
    known = [Interval(a - 0.75, b + 0.75) for a, b in label["speech"] + label["voiced"]]
    assert sum(one.duration for one in heard if not any(one.overlaps(k) for k in known)) < 0.75
