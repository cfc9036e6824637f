"""Subtitles of another film, late ones and those of another speed are told; good ones are not."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from shotad.core import Interval, Utterance
from shotad.core.config.film import SpeechSettings
from shotad.core.errors import SubtitleError
from shotad.film import (
    SoundSpeech,
    are_in_silence,
    choose_speech,
    detect_speech,
    fit_subtitles,
    open_film,
    read_subtitles,
)
from shotad.film.speech import check_inside

SHARED = Path(__file__).parents[3] / "shared" / "data"
SAMPLE = Path(__file__).parents[1] / "sample"
LONG = 600.0


def dialogue(seed: int, duration: float) -> list[Interval]:
    """Scenes of dialogue, a third of the film."""
    chance = random.Random(seed)
    lines: list[Interval] = []
    second = chance.uniform(1, 15)
    while second < duration - 5:
        for _ in range(chance.randint(1, 10)):
            length = chance.uniform(0.6, 4)
            lines.append(Interval(second, second + length))
            second += length + chance.choice([0.2, 0.8, 2])
        second += chance.expovariate(1 / 15)
    return [line for line in lines if line.end < duration]


def subtitled(lines: Sequence[Interval], seed: int) -> list[Interval]:
    """As subtitlers do: begun a little early or late, shown longer, some left out."""
    chance = random.Random(seed)
    shown = [line for line in lines if chance.random() > 0.05]
    return [
        Interval(line.start + chance.uniform(-0.2, 0.2), line.end + chance.uniform(0, 0.9)) for line in shown
    ]


def heard(lines: Sequence[Interval], seed: int) -> list[Interval]:
    """As the ear does: a tenth missed, music and crowds taken for speech."""
    chance = random.Random(seed)
    found = [Interval(max(0, line.start - 0.3), line.end) for line in lines if chance.random() > 0.1]
    for _ in range(len(lines) // 8):
        second = chance.uniform(0, LONG - 5)
        found.append(Interval(second, second + chance.uniform(0.3, 3)))
    return sorted(found)


def moved(cues: Sequence[Interval], shift: float, factor: float = 1.0) -> list[Interval]:
    return [Interval(cue.start * factor + shift, cue.end * factor + shift) for cue in cues]


@pytest.mark.parametrize("seed", range(5))
def test_good_subtitles_are_taken_without_a_word(seed: int) -> None:
    lines = dialogue(seed, LONG)
    assert fit_subtitles(subtitled(lines, seed), heard(lines, seed), LONG).note == ""


@pytest.mark.parametrize("late", [8.2, -8.2, 2.0, -45.0, 300.0])
def test_a_shift_is_told(late: float) -> None:
    lines = dialogue(1, LONG)
    fit = fit_subtitles(moved(subtitled(lines, 1), late), heard(lines, 1), LONG)
    assert fit.shift == pytest.approx(-late, abs=0.4)
    assert fit.speed == 1.0
    assert f"best shift {fit.shift:+.1f} s" in fit.note
    assert f"{fit.spoken:.1f} s of speech heard, {fit.outside:.1f} s lie outside" in fit.note


@pytest.mark.parametrize("seed", range(5))
def test_subtitles_of_another_film_are_told(seed: int) -> None:
    note = fit_subtitles(
        subtitled(dialogue(seed + 50, LONG), seed), heard(dialogue(seed, LONG), seed), LONG
    ).note
    assert "no shift makes them fit" in note


@pytest.mark.parametrize("factor", [25 / 23.976, 23.976 / 25])
def test_another_speed_is_told(factor: float) -> None:
    lines = dialogue(2, LONG)
    fit = fit_subtitles(moved(subtitled(lines, 2), 1.0, factor), heard(lines, 2), LONG)
    assert fit.speed == pytest.approx(factor, abs=1e-4)
    assert "another speed" in fit.note
    assert "23.976" in fit.note


def test_a_part_of_another_cut_is_told() -> None:
    lines = dialogue(3, LONG)
    cues = subtitled(lines, 3)
    late = [cue for cue in cues if cue.start < 450] + moved([cue for cue in cues if cue.start >= 450], 20.0)
    fit = fit_subtitles(late, heard(lines, 3), LONG)
    assert fit.shift == pytest.approx(-20, abs=0.4)
    assert fit.part == Interval(450, 600)
    assert "from 0:07:30 to 0:10:00" in fit.note


def test_a_single_late_subtitle() -> None:
    fit = fit_subtitles([Interval(12.6, 15.9)], [Interval(4.1, 8), Interval(9.2, 12.2)], 16)
    assert fit.shift == pytest.approx(-8.2, abs=0.3)


def test_little_speech_and_no_subtitles() -> None:
    assert fit_subtitles([], [Interval(1, 2.5)], 60).note == ""
    assert "lie outside the subtitles" in fit_subtitles([], [Interval(1, 9)], 60).note
    assert fit_subtitles([Interval(1, 2)], [], 60).note == ""


def said(*times: tuple[float, float]) -> list[Utterance]:
    return [Utterance(Interval(start, end), "Hello.") for start, end in times]


def described(lines: Sequence[Interval]) -> list[Interval]:
    """Lines of a description in the pauses of dialogue."""
    pauses = itertools.pairwise(lines)
    return [Interval(a.end + 0.3, b.start - 0.3) for a, b in pauses if b.start - a.end > 2]


@pytest.mark.parametrize("seed", range(5))
def test_a_description_stands_where_nobody_speaks_and_subtitles_do_not(seed: int) -> None:
    lines = dialogue(seed, LONG)
    ear = heard(lines, seed)
    assert are_in_silence(described(lines), ear, LONG)
    assert not are_in_silence(subtitled(lines, seed), ear, LONG)
    # Most of what is said was missed, and music was taken for a voice: what is left shows what they are.
    assert not are_in_silence(subtitled(lines, seed), ear[::4], LONG)


def test_where_hardly_anybody_is_heard_a_description_is_one_that_fills_the_film() -> None:
    lines = [Interval(0, 5), Interval(5, 10), Interval(10, 14)]
    assert are_in_silence(lines, [], 14)
    assert are_in_silence(lines, [Interval(3, 4)], 14)
    assert not are_in_silence(lines, [], 60), "few lines, which may have been missed"
    assert not are_in_silence(lines[:2], [], 10), "too few to tell"
    assert not are_in_silence(lines, [Interval(0, 13)], 14)


def test_subtitles_outside_the_film_are_an_error() -> None:
    with pytest.raises(SubtitleError, match=r"None of the 2 subtitles.*ends at 0:01:00.*begins at 0:01:05"):
        check_inside(said((65, 67), (68, 70)), 60)
    with pytest.raises(SubtitleError, match="The only subtitle"):
        choose_speech(None, SpeechSettings(), subtitles=said((-9, -3)), duration=60)
    check_inside(said((59, 67)), 60)
    check_inside((), 60)
    # Some of them: of another version.
    found = choose_speech(None, SpeechSettings(), subtitles=said((1, 2), (65, 67)), duration=60)
    assert "1 of 2 subtitles lie outside the film" in found.notes[0]


def test_notes_on_the_sound_come_with_those_on_the_fit() -> None:
    ear = SoundSpeech((Interval(1, 9),), ("One channel is inverted.",))
    fitting = choose_speech(ear, SpeechSettings(), subtitles=said((1, 9)), duration=60)
    assert fitting.notes == ear.notes
    late = choose_speech(ear, SpeechSettings(), subtitles=said((31, 39)), duration=60)
    assert late.notes[0] == ear.notes[0]
    assert "best shift -30.0 s" in late.notes[1]


@pytest.mark.slow
def test_supplied_pairs() -> None:
    pairs = [(SAMPLE / "sample.mp4", SAMPLE / "sample.en.vtt")]
    trailer = SHARED / "films" / "sintel-trailer.mp4"
    if trailer.exists():
        pairs.append((trailer, trailer.with_suffix(".en.vtt")))
    for film_path, subtitle_path in pairs:
        with open_film(film_path) as film:
            ear, duration = detect_speech(film), film.info.duration
        assert ear is not None
        assert ear.notes == ()
        cues = [utterance.interval for utterance in read_subtitles(subtitle_path).utterances]
        assert fit_subtitles(cues, ear.intervals, duration).note == ""
        assert not are_in_silence(cues, ear.intervals, duration)
        for late in (8.0, -8.2):
            fit = fit_subtitles(moved(cues, late), ear.intervals, duration)
            assert fit.shift == pytest.approx(-late, abs=0.4)
