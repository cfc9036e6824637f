"""What holds of every fitting and every placing, whatever the lines, the speech and the voice."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import FitSettings, Interval
from shotad.script import Cue, FilmId, Track, variants
from shotad.sound.fitting import fit
from shotad.sound.kinds import Fitting
from shotad.sound.placing import BETWEEN, Window, cheapest, earliest_starts, lines_of, nearest_starts
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
    spoken = [(one.id, one.text, one.start, one.take.samples.size, one.steps) for one in fitting.spoken]
    return [*spoken, *fitting.unspoken]


@given(CUES, SPEECH, SETTINGS, st.sampled_from([0.05, 0.08, 0.12]))
@settings(max_examples=120)
def test_what_always_holds(rows: Rows, speech: list[Interval], how: FitSettings, pace: float) -> None:
    lines = lines_of(track(rows), speech, {}, how, margin=0.25)
    studio = Slow(pace)
    fitting = fit(lines, studio, how)
    by_id = {one.id: one for one in lines}
    # Every line is spoken or not, once.
    assert sorted(one.id for one in (*fitting.spoken, *fitting.unspoken)) == sorted(by_id)
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


LINES = st.lists(
    st.tuples(st.integers(0, 14), st.integers(0, 3), st.integers(0, 3), st.integers(1, 6), st.integers(1, 5)),
    min_size=1,
    max_size=3,
)


def made(rows: list[tuple[int, int, int, int, int]]) -> tuple[list[Window], list[int]]:
    rows = sorted(rows)
    windows = [
        Window(wanted, wanted - earlier, wanted + later, wanted + room)
        for wanted, earlier, later, room, _ in rows
    ]
    return windows, [length for *_, length in rows]


def possible(windows: list[Window], lengths: list[int], between: int) -> list[tuple[int, ...]]:
    """All starts at which all lines fit."""
    return [
        starts
        for starts in product(*(range(w.earliest, w.latest + 1) for w in windows))
        if all(
            one + length + between <= two
            for (one, two), length in zip(pairwise(starts), lengths, strict=False)
        )
        and all(w.takes(s, n) for w, s, n in zip(windows, starts, lengths, strict=True))
    ]


@given(LINES, st.integers(0, 2))
@settings(max_examples=100)
def test_nearest_is_the_nearest_of_all_that_is_possible(rows, between):
    windows, lengths = made(rows)
    every = possible(windows, lengths, between)
    assert (earliest_starts(windows, lengths, between) is None) == (not every)
    if not every:
        with pytest.raises(ValueError, match="cannot be placed"):
            nearest_starts(windows, lengths, between)
        return

    def way(starts: tuple[int, ...]) -> int:
        return sum((s - w.wanted) ** 2 for s, w in zip(starts, windows, strict=True))

    got = tuple(nearest_starts(windows, lengths, between))
    assert got in every
    assert way(got) == min(map(way, every))


@given(LINES, st.data())
@settings(max_examples=100)
def test_the_cheapest_choice_is_the_cheapest_of_all(rows, data):
    windows, lengths = made(rows)
    options = []
    for length in lengths:
        shorter = data.draw(st.lists(st.integers(1, length), max_size=2))
        options.append([(length, 0), *((n, length - n + 1) for n in shorter)])
    dropping = [100 + length for length in lengths]

    def cost(choice: tuple[int | None, ...]) -> int:
        return sum(dropping[i] if n is None else options[i][n][1] for i, n in enumerate(choice))

    def fits(choice: tuple[int | None, ...]) -> bool:
        taken = [None if n is None else options[i][n][0] for i, n in enumerate(choice)]
        return earliest_starts(windows, taken, 1) is not None

    every = product(*([None, *range(len(line))] for line in options))
    got = cheapest(windows, options, dropping, 1)
    assert fits(got)
    assert cost(got) == min(cost(choice) for choice in every if fits(choice))
