"""What holds of every fitting, whatever the lines, the speech and the voice."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import FitSettings, Interval
from shotad.script import Cue, FilmId, Track, variants
from shotad.sound.fitting import fit
from shotad.sound.kinds import Fitting
from shotad.sound.placing import BETWEEN, lines_of
from tests.sound.speaking import Slow

TEXTS = (
    "Ann sits.",
    "He walks to the door, opens it and looks out into the dark street. A dog barks.",
    "Emo and Proog balance on the thin cables.",
    "She takes an old book from the shelf while Bo watches her, and reads.",
    "The machine turns. Sparks fly. Proog runs along the narrow bridge, holding his cane.",
    'A sign reads "No entry after 22:00, please."',
    "Hopefully",
)
DURATION = 40.0

CUES = st.lists(
    st.tuples(st.integers(0, 380), st.integers(5, 60), st.sampled_from(TEXTS)),
    max_size=9,
    unique_by=lambda row: row[0],
)
SPEECH = st.lists(
    st.tuples(st.integers(0, 390), st.integers(1, 60)).map(
        lambda pair: Interval(pair[0] / 10, (pair[0] + pair[1]) / 10)
    ),
    max_size=6,
)
SETTINGS = st.builds(
    FitSettings,
    fastest=st.sampled_from([1.0, 1.1, 1.15, 1.3]),
    earlier=st.sampled_from([0.0, 0.5, 1.0]),
    later=st.sampled_from([0.0, 1.0, 2.0]),
)
Rows = list[tuple[int, int, str]]
MILLISECOND = 0.001 + 1e-9


def track(rows: Rows) -> Track:
    cues = [
        Cue(f"s{100 * at:08d}", f"s{100 * at:08d}", Interval(at / 10, (at + length) / 10), text)
        for at, length, text in rows
    ]
    return Track(FilmId("film.mp4", "abc", DURATION), "en", (), "1", ()).with_cues(cues)


def told(fitting: Fitting) -> list[object]:
    return [(one.id, one.text, one.start, one.take.samples.size, one.steps) for one in fitting.spoken] + [
        *fitting.unspoken
    ]


@given(CUES, SPEECH, SETTINGS, st.sampled_from([0.05, 0.08, 0.12]))
@settings(max_examples=120)
def test_what_always_holds(rows: Rows, speech: list[Interval], how: FitSettings, pace: float) -> None:
    lines = lines_of(track(rows), speech, {}, how, margin=0.25)
    studio = Slow(pace)
    fitting = fit(lines, studio, how)
    by_id = {one.id: one for one in lines}
    # Every line is spoken or not, once.
    assert sorted([*(one.id for one in fitting.spoken), *(one.id for one in fitting.unspoken)]) == sorted(
        by_id
    )
    for said in fitting.spoken:
        wanted = by_id[said.id]
        # Never over speech, nor outside the film.
        assert wanted.room.start - MILLISECOND <= said.start
        assert said.interval.end <= wanted.room.end + MILLISECOND
        assert not any(said.interval.overlaps(one) for one in speech)
        assert said.start >= wanted.start - how.earlier - MILLISECOND
        assert said.start <= max(wanted.start + how.later, wanted.slot.start) + MILLISECOND
        # Never faster than allowed, never cut in a phrase.
        assert 1 <= said.take.speed <= how.fastest + 0.005
        assert said.text in {form.text for form in variants(wanted.text)}
        assert abs(said.take.seconds - studio.seconds(said.text) / said.take.speed) < 0.001
        changed = said.text != wanted.text or said.take.speed > 1 or abs(said.start - wanted.start) > 0.01
        assert bool(said.steps) == changed
    for one, other in pairwise(fitting.spoken):
        assert one.interval.end + BETWEEN <= other.start + MILLISECOND
        assert by_id[one.id].start <= by_id[other.id].start
    for left in fitting.unspoken:
        assert left.reason
        assert left.missing > 0
    # The same again, whatever the order.
    assert told(fit(lines[::-1], Slow(pace), how)) == told(fitting)


@given(CUES, SPEECH)
@settings(max_examples=50)
def test_nothing_is_spoken_twice(rows: Rows, speech: list[Interval]) -> None:
    lines = lines_of(track(rows), speech, {}, FitSettings(), margin=0.25)
    studio = Slow()
    fit(lines, studio, FitSettings())
    assert len(studio.asked) <= sum(1 + len(list(variants(one.text))) for one in lines)
    # A line with room enough is spoken once.
    free = lines_of(track(rows[:1]), [], {}, FitSettings(), margin=0.25)
    easy = Slow(0.02)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shotad.sound.placing.LONGEST_WORD_RATE", 10_000.0)
        fit(free, easy, FitSettings())
    assert len(easy.asked) <= len(free)


@given(CUES, SPEECH)
@settings(max_examples=60)
def test_less_speech_never_costs_a_line(rows: Rows, speech: list[Interval]) -> None:
    """With the first stretch of speech away, as many lines are said or more, where rooms only grow."""
    before = lines_of(track(rows), speech, {}, FitSettings(), margin=0.25)
    after = lines_of(track(rows), speech[1:], {}, FitSettings(), margin=0.25)
    grown = all(
        new.room.start <= old.room.start and old.room.end <= new.room.end
        for old, new in zip(before, after, strict=True)
    )
    if grown:
        said = [len(fit(lines, Slow(), FitSettings()).spoken) for lines in (before, after)]
        assert said[0] <= said[1]
