"""Lines in their time: the ladder of what is done to a spoken line so that it fits, in the order that listeners want,
the time that each may use, what the track says became of it, and what holds of every fitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Interval
from shotad.core.config.sound import FitSettings
from shotad.script import Cue, CueStatus, Edit, EditField, Track
from shotad.script.cue import REDO
from shotad.script.fit import ShortenedLine, ShortenRequest, variants
from shotad.script.pace import tempo, usual_words
from shotad.sound import Fitting, Spoken
from shotad.sound.spoken_lines import with_voiced
from tests.sound.fitted import BY_PERSON, cue, fitted, seconds_by_letters, speech_around, track_of

DOOR = "He walks to the door, opens it and looks out into the dark street. A dog barks."
"""60 letters, so 6 s; 51 without its last sentence, 26 for the first two deeds, 16 for the first."""

FIRST = "He walks to the door, opens it and looks out into the dark street."
USUAL = FitSettings()
STILL = FitSettings(earlier=0, later=0)
MARGIN = 0.25
BETWEEN = 0.3
"""Seconds of breath between two lines."""


def fit_in(
    gap: tuple[float, float],
    *cues: Cue,
    pace: float = 0.1,
    odd: dict[str, float] | None = None,
    fit: FitSettings = STILL,
    writer: Writer | None = None,
) -> Fitting:
    """Lines in one gap between speech, spoken by a voice that takes ``pace`` seconds for a letter."""
    return fitted(track_of(*cues), speech_around(*gap), seconds_by_letters(pace, odd), fit, shorten=writer)


def alone(fitting: Fitting) -> Spoken:
    (spoken,) = fitting.spoken
    assert fitting.unspoken == ()
    return spoken


def test_first_it_moves_then_it_is_faster_then_sentences_and_clauses_go() -> None:
    moved = alone(fit_in((9, 15.75), cue(10, 15.75, DOOR), fit=USUAL))
    assert (moved.text, moved.take.speed, moved.steps) == (DOOR, 1.0, ("moved 0.25 s earlier",))
    faster = alone(fit_in((10, 15.7), cue(10, 15.7, DOOR)))
    assert (faster.text, faster.steps) == (DOOR, ("spoken 1.06 times faster",))
    assert faster.take.speed == pytest.approx(1.06, abs=0.001)
    assert faster.interval.end <= 15.7
    lengths = (5.5, 4.6, 2.5, 1.55)
    shorter = [alone(fit_in((10, 10 + length), cue(10, 10 + length, DOOR))) for length in lengths]
    assert [line.text for line in shorter] == [
        DOOR, FIRST, "He walks to the door and opens it.", "He walks to the door."
    ]  # fmt: skip
    assert shorter[1].steps[0] == "dropped a sentence: A dog barks."
    assert shorter[1].take.speed > 1
    assert "dropped a clause: and looks out into the dark street" in shorter[2].steps


def fastest_whole(text: str, pace: float) -> Spoken:
    """The line in the shortest gap, to a hundredth of a second, in which it is still spoken whole."""
    length = seconds_by_letters(pace)(text) + 0.01
    whole = None
    while True:
        fitting = fit_in((10, 10 + length), cue(10, 10 + length, text), pace=pace)
        if not fitting.spoken or fitting.spoken[0].text != text:
            assert whole is not None
            return whole
        whole = fitting.spoken[0]
        length -= 0.01


def test_nobody_speaks_faster_than_the_longest_word_rate() -> None:
    text = "They walk down to the lake, and then they swim across it."
    assert fastest_whole(text, 0.1).take.speed == pytest.approx(1.15, abs=0.01)
    limited = fastest_whole(text, 0.07)
    assert 1 < limited.take.speed < 1.14
    assert tempo(usual_words(text), limited.take.seconds) == pytest.approx(200, abs=1)
    assert fastest_whole(text, 0.06).take.speed == 1.0
    # 16 letters are 3.7 words of the usual length: with a breath 200 words a minute in 0.91 s.
    hasty = fit_in((10, 10.89), cue(10, 10.89), odd={"He walks to the door.": 0.92})
    assert hasty.spoken == ()


def test_lines_of_one_gap_are_pushed_apart_fairly_and_sped_up_alike() -> None:
    ann, bo = "Ann opens the old box.", "Bo takes out a map."
    first, second = fit_in((9, 20), cue(10, 20, ann), cue(11, 20, bo), fit=USUAL).spoken
    assert second.start == pytest.approx(first.interval.end + BETWEEN, abs=0.002)
    assert 10 - first.start == pytest.approx(second.start - 11, abs=0.002)
    pressed = (cue(10, 13.4, ann), cue(11.7, 13.4, "Bo unrolls a large map."))
    first, second = fit_in((10, 13.4), *pressed, fit=USUAL).spoken
    assert first.take.speed == pytest.approx(second.take.speed, abs=0.011)
    assert first.take.speed > 1.01


@pytest.mark.parametrize(("edited", "heard"), [
    (None, "Ann opens the old wooden box and smiles."),
    # A person wrote, changed or accepted it: it counts for two.
    (BY_PERSON, "Ann climbs the high mountain."),
    (Edit((EditField.ACCEPTED,), "track.json", None), "Ann climbs the high mountain."),
    # Described again by the machine, at a person's wish: still the machine's.
    (Edit((EditField.TEXT,), REDO, None), "Ann opens the old wooden box and smiles."),
])  # fmt: skip
def test_of_two_lines_the_one_that_says_more_is_heard_or_the_one_of_a_person(
    edited: Edit | None, heard: str
) -> None:
    ann = cue(10, 12, "Ann climbs the high mountain.", edited=edited)
    box = cue(10.5, 14, "Ann opens the old wooden box and smiles.")
    # A voice so slow that no shorter wording lets both be heard.
    fitting = fit_in((9.75, 14.15), ann, box, pace=0.12)
    assert [spoken.text for spoken in fitting.spoken] == [heard]


class Writer:
    """Answers with what is given, one after another, and keeps what it was asked."""

    def __init__(self, *answers: ShortenedLine | None) -> None:
        self.wishes: list[ShortenRequest] = []
        self._answers = list(answers)

    def __call__(self, wishes: Sequence[ShortenRequest]) -> list[ShortenedLine | None]:
        self.wishes += wishes
        return [self._answers.pop(0) for _ in wishes]


def test_a_writer_is_asked_twice_at_most_and_told_what_was_wrong() -> None:
    gap, cables = (10, 12.1), cue(10, 12.1, "Emo and Proog balance on the thin cables.")
    bad = ShortenedLine("They are seen on the cables.", ("Leave that out.",))
    writer = Writer(bad, bad)
    fitting = fit_in(gap, cables, writer=writer)
    assert fitting.spoken == ()
    assert [wish.previous for wish in writer.wishes] == [None, bad]
    assert fitting.unspoken[0].steps[-2:] == ("asked for at most 5 words", "asked for at most 5 words")
    long = ShortenedLine("Both gentlemen balance there.")
    again = Writer(long, ShortenedLine("They balance there."))
    assert alone(fit_in(gap, cables, writer=again)).text == "They balance there."
    assert again.wishes[1].previous == long
    assert again.wishes[1].words < again.wishes[0].words
    silent = Writer(None)
    assert fit_in(gap, cables, writer=silent).spoken == ()
    assert len(silent.wishes) == 1


Times = tuple[float, float]


@pytest.mark.parametrize(("line", "speech", "free"), [
    # The whole gap, with a margin at both sides and a little more before speech; a second too early at most.
    (cue(20, 23), [(5, 10), (30, 40)], (19.0, 29.65)),
    (cue(10.5, 13), [(5, 10), (30, 40)], (10.25, 29.65)),
    # The film begins and ends.
    (cue(0.02, 3), [], (0.1, 100)),
    # At the edge of speech it waits for its end.
    (cue(10, 13), [(5, 10.1)], (10.35, 100)),
    # Over speech it goes where it is free and near: after it, or where that is far, before it.
    (cue(10, 13), [(9.5, 10.5)], (10.75, 100)),
    (cue(10, 13), [(9.9, 10.5)], (10.75, 100)),
    (cue(10, 10.5), [(9.9, 40)], (9.0, 9.55)),
    # What a person put over long speech waits within its own time.
    (cue(10, 16, name="h00010000"), [(9, 12)], (12.25, 100)),
    # Half a line in time is better than a whole one late.
    (cue(10, 13.5), [(5, 9), (12.4, 13)], (9.25, 12.05)),
])  # fmt: skip
def test_a_line_may_use_the_free_time_around_it_and_no_more(
    line: Cue, speech: list[Times], free: Times
) -> None:
    at_own_pace = FitSettings(fastest=1.0)
    track, talks = track_of(line, duration=100.0), [Interval(*times) for times in speech]

    def of_length(seconds: float) -> Fitting:
        return fitted(track, talks, lambda _: seconds, at_own_pace, margin=MARGIN)

    filling = alone(of_length(round(free[1] - free[0], 3)))
    assert (filling.start, filling.interval.end) == pytest.approx(free, abs=0.002)
    assert of_length(free[1] - free[0] + 0.01).spoken == ()


@pytest.mark.parametrize("slot", [None, Interval(20, 26), Interval(26, 32)])
def test_a_line_stays_at_its_time_also_where_a_person_moved_it_out_of_its_slot(slot: Interval | None) -> None:
    slots = None if slot is None else {"s00020000": slot}
    talks = [Interval(5, 10), Interval(40, 41)]
    fitting = fitted(track_of(cue(20, 23)), talks, seconds_by_letters(), USUAL, margin=MARGIN, slots=slots)
    assert alone(fitting).start == 20


def test_a_machines_line_never_begins_more_than_a_second_before_it_is_seen() -> None:
    def starts(*cues: Cue, speech: Sequence[Interval] = ()) -> dict[str, float]:
        fitting = fitted(track_of(*cues, duration=100.0), speech, seconds_by_letters(), USUAL, margin=MARGIN)
        return {line.id: line.start for line in fitting.spoken}

    for seen_from, first in ((None, 19.0), (20.5, 19.5), (21, 20.0), (19, 19.0)):
        line = cue(20, 23, seen_from=seen_from)
        assert starts(cue(16, 19), line, cue(22.2, 25.2))[line.id] >= first
    talk = [Interval(21.2, 60)]
    assert starts(cue(20, 23, seen_from=20.5), speech=talk) == {}
    moved = cue(20, 23, seen_from=25.0, edited=Edit((EditField.TIME,), "track.json", None))
    assert starts(moved, speech=talk)[moved.id] < 20


SPEECH = [Interval(0, 9), Interval(15.5, 19), Interval(21, 30)]
TRACK = track_of(
    cue(10, 15, DOOR),
    cue(19.3, 20, "Ann and Bo and Cid climb the old stairs."),
    cue(31, 33, "Ann sits."),
    cue(40, 44, "", status=CueStatus.DROPPED),
    duration=100.0,
)


def test_the_track_says_how_each_line_was_spoken_and_fitting_twice_is_fitting_once() -> None:
    fitting = fitted(TRACK, SPEECH, seconds_by_letters(), USUAL, margin=MARGIN)
    voiced = with_voiced(TRACK, fitting, "fake:slow")
    long, short, plain = (cue.spoken for cue in voiced.cues[:3])
    assert long is not None
    assert long.interval is not None
    assert long.interval.end <= 15.15
    assert (long.text, long.speed > 1) == (fitting.spoken[0].text, True)
    assert voiced.cues[0].spoken_length == round(fitting.spoken[0].take.seconds, 3)
    assert short is not None
    assert short.interval is None
    assert short.steps[-1].startswith("not spoken: it takes")
    assert plain is not None
    assert plain.steps == ()
    assert voiced.cues[3].stored_take is None
    again = fitted(voiced, SPEECH, seconds_by_letters(), USUAL, margin=MARGIN)
    assert with_voiced(voiced, again, "fake:slow") == voiced
    assert replace(voiced, cues=()) == replace(TRACK, cues=())


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

ROWS = st.lists(
    st.tuples(st.integers(0, 380), st.integers(5, 60), st.sampled_from(TEXTS)),
    max_size=9,
    unique_by=lambda row: row[0],
)
TALKS = st.lists(
    st.tuples(st.integers(0, 390), st.integers(1, 60)).map(
        lambda pair: Interval(pair[0] / 10, (pair[0] + pair[1]) / 10)
    ),
    max_size=6,
)
WAYS = st.builds(
    FitSettings,
    fastest=st.sampled_from([1.0, 1.1, 1.15, 1.3]),
    earlier=st.sampled_from([0.0, 0.5, 1.0]),
    later=st.sampled_from([0.0, 1.0, 2.0]),
)
Rows = list[tuple[int, int, str]]
MILLISECOND = 0.001 + 1e-9


def track_of_rows(rows: Rows) -> Track:
    cues = [cue(at / 10, (at + length) / 10, text) for at, length, text in rows]
    return track_of(*cues, duration=DURATION)


def comparable(fitting: Fitting) -> list[object]:
    spoken = [(line.id, line.text, line.start, line.take.samples.size, line.steps) for line in fitting.spoken]
    return [*spoken, *fitting.unspoken]


@given(ROWS, TALKS, WAYS, st.sampled_from([0.05, 0.08, 0.12]))
@settings(max_examples=120)
def test_what_always_holds(rows: Rows, speech: list[Interval], how: FitSettings, pace: float) -> None:
    track, seconds = track_of_rows(rows), seconds_by_letters(pace)
    fitting = fitted(track, speech, seconds, how, margin=MARGIN)
    cues = {cue.id: cue for cue in track.heard}
    # Every line is spoken or not, once.
    assert sorted(line.id for line in (*fitting.spoken, *fitting.unspoken)) == sorted(cues)
    for line in fitting.spoken:
        wanted = cues[line.id]
        start = wanted.interval.start
        # Never over speech, with its margins, nor outside the film.
        assert line.start >= 0.1 - MILLISECOND
        assert line.interval.end <= DURATION + MILLISECOND
        for talk in speech:
            assert line.interval.end <= talk.start - MARGIN - 0.1 + MILLISECOND or (
                line.start >= talk.end + MARGIN - MILLISECOND
            )
        assert line.start >= start - how.earlier - MILLISECOND
        # Later than it may be moved only where its own time is taken: then as soon as it can be.
        free_from = [0.1, *(talk.end + MARGIN for talk in speech)]
        assert line.start <= start + how.later + MILLISECOND or any(
            abs(line.start - second) <= MILLISECOND for second in free_from
        )
        # Never faster than allowed, never cut in a phrase.
        assert 1 <= line.take.speed <= how.fastest + 0.005
        assert line.text in {variant.text for variant in variants(wanted.text)}
        assert abs(line.take.seconds - seconds(line.text) / line.take.speed) < 0.002
        is_changed = line.text != wanted.text or line.take.speed > 1
        assert bool(line.steps) == (is_changed or round(1000 * abs(line.start - start)) >= 10)
    for line, following in pairwise(fitting.spoken):
        assert line.interval.end + BETWEEN <= following.start + MILLISECOND
        assert cues[line.id].interval.start <= cues[following.id].interval.start
    for left in fitting.unspoken:
        assert left.reason
        assert left.missing > 0
    again = fitted(track, speech, seconds, how, margin=MARGIN)
    assert comparable(again) == comparable(fitting)


SENTENCES = st.lists(
    st.tuples(st.integers(0, 14), st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=4
)


@given(SENTENCES, st.integers(2, 12), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=100)
def test_of_all_choices_the_one_that_loses_least_is_taken(
    rows: list[tuple[int, int, int]], room: int, earlier: int, later: int
) -> None:
    """Against every choice there is, where each line can be spoken whole, without its second sentence, or not."""
    rows = sorted(rows)
    # Each sentence has a length of its own; none has a part that could be left out.
    first_sentences = [f"Somebody{'xyzw'[number]} waits." for number in range(len(rows))]
    texts = [f"{sentence} Nobody listens here." for sentence in first_sentences]
    odd = {text: float(first + second) for text, (_, first, second) in zip(texts, rows, strict=True)}
    odd |= {text: float(first) for text, (_, first, _) in zip(first_sentences, rows, strict=True)}
    how = FitSettings(fastest=1.0, earlier=earlier, later=later)
    gap = (10.0, 10.0 + room)
    cues = [cue(10 + at % room, gap[1], text, f"h0001{number:04d}")
            for number, ((at, _, _), text) in enumerate(zip(rows, texts, strict=True))]  # fmt: skip
    cues.sort(key=lambda line: (line.interval.start, line.id))
    fitting = fit_in(gap, *cues, odd=odd, fit=how)
    words_lost = {1: 3, 2: 0}
    spoken = {line.id: line.text.count(".") for line in fitting.spoken}

    def loss(choice: Sequence[int]) -> tuple[int, int]:
        """Lines that are not heard, then words."""
        return choice.count(0), sum(words_lost[sentences] if sentences else 5 for sentences in choice)

    def fits(choice: Sequence[int]) -> bool:
        free_from = 0.0
        for line, sentences in zip(cues, choice, strict=True):
            if sentences == 0:
                continue
            start = max(line.interval.start - earlier, gap[0], free_from)
            end = start + odd[line.text if sentences == 2 else line.text.partition(".")[0] + "."]
            if start > line.interval.start + later + 1e-9 or end > gap[1] + 1e-9:
                return False
            free_from = end + BETWEEN
        return True

    choices = [list(choice) for choice in product((0, 1, 2), repeat=len(cues))]
    chosen = [spoken.get(line.id, 0) for line in cues]
    assert fits(chosen)
    assert loss(chosen) == min(loss(choice) for choice in choices if fits(choice))


def test_a_line_without_time_says_which_line_takes_it() -> None:
    """Each line that alone leaves it none; a line that was only pushed aside by a longer one is not named."""
    long, short, last = "x" * 60, "y" * 20, "z" * 20
    first, second = cue(10, 16.5, long, "h00010000"), cue(14, 16.5, short)
    (lost,) = fit_in((10, 16.5), first, second).unspoken
    assert (lost.id, lost.taken_by) == (second.id, (first.id,))
    assert lost.reason.endswith("; without the line at 00:00:10.000 it would fit")
    # Whoever goes before it or comes after it.
    by_person = cue(10.1, 16, long, edited=BY_PERSON)
    (lost,) = fit_in((9, 16), cue(10, 16, short), by_person).unspoken
    assert lost.taken_by == (by_person.id,)
    # Nobody takes what was never there.
    (lost,) = fit_in((10, 12), cue(10, 12, long)).unspoken
    assert lost.taken_by == ()
    assert "without" not in lost.reason
    # Ten seconds for twelve: the first runs beyond its slot and pushes the second, so the third has no time.
    pushing, pushed = cue(10, 14, "a" * 70, "h00010000"), cue(14, 17, short)
    third = cue(17, 19, last)
    (lost,) = fit_in((10, 19), pushing, pushed, third, fit=FitSettings(earlier=0, later=4)).unspoken
    assert lost.id in (pushed.id, third.id)
    assert lost.taken_by == (pushing.id,)
