"""Lines in their time: the ladder of what is done to a spoken line so that it fits, in the order that listeners want,
the time that each may use, what the track says became of it, and what holds of every fitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Interval
from shotad.core.config.sound import FitSettings
from shotad.script import (
    Cue,
    CueStatus,
    Edit,
    EditField,
    Track,
)
from shotad.script.cue import REDO
from shotad.script.fit import (
    ShortenedLine,
    ShortenRequest,
    variants,
)
from shotad.script.pace import tempo, usual_words
from shotad.script.track import FilmId
from shotad.sound import Fitting, Spoken, Take
from shotad.sound.fitting import fit
from shotad.sound.kinds import LineToSpeak
from shotad.sound.placing import (
    BETWEEN,
    Window,
    cheapest,
    earliest_starts,
    lines_of,
    nearest_starts,
    whole_form,
)
from shotad.sound.voicing import with_voiced

RATE = 8000


class Slow:
    """Speaks ``pace`` seconds a letter; ``odd`` texts take as long as they say there."""

    def __init__(self, pace: float = 0.1, odd: dict[str, float] | None = None) -> None:
        self.asked: list[str] = []
        self._pace, self._odd = pace, odd or {}

    def seconds(self, text: str) -> float:
        return self._odd.get(text, sum(char.isalpha() for char in text) * self._pace)

    def say(self, text: str) -> Take:
        self.asked.append(text)
        number = max(1, round(self.seconds(text) * RATE))
        tone = 0.3 * np.sin(np.arange(number) * 0.1)
        return Take(tone.astype(np.float32), RATE)


def line(
    text: str, start: float, room: tuple[float, float], name: str = "", language: str = "en"
) -> LineToSpeak:
    """A line wanted at ``start`` that may use ``room``."""
    whole = Interval(*room)
    slot = Interval(max(start, whole.start), whole.end) if start < whole.end else whole
    return LineToSpeak(name or f"s{round(start * 1000):08d}", text, start, slot, whole, language)


DOOR = "He walks to the door, opens it and looks out into the dark street. A dog barks."
"""60 letters, so 6 s; 51 without its last sentence, 26 for the first two deeds, 16 for the first."""

FIRST = "He walks to the door, opens it and looks out into the dark street."
STILL = FitSettings(earlier=0, later=0)


def alone(fitting: Fitting) -> Spoken:
    (spoken,) = fitting.spoken
    assert fitting.unspoken == ()
    return spoken


def test_first_it_moves_then_it_is_faster_then_sentences_and_clauses_go() -> None:
    moved = alone(fit([line(DOOR, 10, (9, 15.75))], Slow(), FitSettings()))
    assert (moved.text, moved.take.speed, moved.steps) == (DOOR, 1.0, ("moved 0.25 s earlier",))
    faster = alone(fit([line(DOOR, 10, (10, 15.7))], Slow(), STILL))
    assert (faster.text, faster.steps) == (DOOR, ("spoken 1.06 times faster",))
    assert faster.take.speed == pytest.approx(1.06, abs=0.001)
    assert faster.interval.end <= 15.7
    said = [alone(fit([line(DOOR, 10, (10, 10 + room))], Slow(), STILL)) for room in (5.5, 4.6, 2.5, 1.55)]
    assert [one.text for one in said] == [
        DOOR, FIRST, "He walks to the door and opens it.", "He walks to the door."
    ]  # fmt: skip
    assert said[1].steps[0] == "dropped a sentence: A dog barks."
    assert said[1].take.speed > 1
    assert "dropped a clause: and looks out into the dark street" in said[2].steps


def test_nobody_speaks_faster_than_the_longest_word_rate() -> None:
    text = "They walk down to the lake, and then they swim across it."
    for pace, factor in ((0.1, 1.15), (0.07, None), (0.06, 1)):
        whole = whole_form(line(text, 10, (10, 20)), Slow(pace).say(text), FitSettings())
        at_most = tempo(usual_words(text), whole.length / 1000 / whole.max_speed)
        if factor is None:
            assert 1 < whole.max_speed < 1.15
            assert at_most == pytest.approx(200, abs=0.1)
        else:
            assert whole.max_speed == factor
    # 16 letters are 3.7 words of the usual length: with a breath 200 words a minute in 0.91 s.
    hasty = Slow(odd={"He walks to the door.": 0.92})
    assert fit([line("He walks to the door.", 10, (10, 10.89))], hasty, STILL).spoken == ()


def test_lines_of_one_gap_are_pushed_apart_fairly_and_sped_up_alike() -> None:
    ann, bo = "Ann opens the old box.", "Bo takes out a map."
    first, second = fit([line(ann, 10, (9, 20)), line(bo, 11, (10, 20))], Slow(0.1), FitSettings()).spoken
    assert second.start == pytest.approx(first.interval.end + 0.3, abs=0.002)
    assert 10 - first.start == pytest.approx(second.start - 11, abs=0.002)
    with pytest.raises(ValueError, match="cannot be placed"):
        nearest_starts([Window(0, 0, 0, 1)], [2], 0)
    pressed = [line(ann, 10, (10, 13.4)), line("Bo unrolls a large map.", 11.7, (10, 13.4))]
    first, second = fit(pressed, Slow(0.1), FitSettings()).spoken
    assert first.take.speed == pytest.approx(second.take.speed, abs=0.011)
    assert first.take.speed > 1.01


@pytest.mark.parametrize(("edited", "heard"), [
    (None, "Ann opens the old wooden box and smiles."),
    # A person wrote, changed or accepted it: it counts for two.
    (Edit((EditField.TEXT,), "track.json", None), "Ann climbs the high mountain."),
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
    speech = [Interval(0, 9.5), Interval(14.5, 30)]
    lines = lines_of(track(ann, box), speech, {}, STILL, margin=0.25)
    fitting = fit(lines, Slow(0.12), STILL)
    assert [spoken.text for spoken in fitting.spoken] == [heard]


class Writer:
    """Answers with what is given, one after another, and keeps what it was asked."""

    def __init__(self, *answers: ShortenedLine | None) -> None:
        self.wishes: list[ShortenRequest] = []
        self._answers = list(answers)

    def __call__(self, wishes: Sequence[ShortenRequest]) -> list[ShortenedLine | None]:
        self.wishes += wishes
        return [self._answers.pop(0) for _ in wishes]


CLOUD = "Emo and Proog balance on the thin cables."
SHORT = [line(CLOUD, 10, (10, 12.1))]


def test_a_writer_is_asked_twice_at_most_and_told_what_was_wrong() -> None:
    bad = ShortenedLine("They are seen on the cables.", ("Leave that out.",))
    writer = Writer(bad, bad)
    fitting = fit(SHORT, Slow(), STILL, shorten=writer)
    assert fitting.spoken == ()
    assert [wish.previous for wish in writer.wishes] == [None, bad]
    assert fitting.unspoken[0].steps[-2:] == ("asked for at most 5 words", "asked for at most 5 words")
    long = ShortenedLine("Both gentlemen balance there.")
    again = Writer(long, ShortenedLine("They balance there."))
    assert alone(fit(SHORT, Slow(), STILL, shorten=again)).text == "They balance there."
    assert again.wishes[1].previous == long
    assert again.wishes[1].words < again.wishes[0].words
    silent = Writer(None)
    assert fit(SHORT, Slow(), STILL, shorten=silent).spoken == ()
    assert len(silent.wishes) == 1


# The rooms
SETTINGS = FitSettings()
Times = tuple[float, float]


def cue(start: float, end: float, text: str = "He walks to the door.", name: str = "", **more: object) -> Cue:
    own = name or f"s{round(start * 1000):08d}"
    return Cue(own, own if own.startswith("s") else None, Interval(start, end), text, **more)  # type: ignore[arg-type]


def track(*cues: Cue, duration: float = 100.0) -> Track:
    return Track(FilmId("film.mp4", "abc", duration), "en", (), "1", ()).with_cues(cues)


def only(one: Cue, *speech: Times, slots: dict[str, Interval] | None = None) -> LineToSpeak:
    heard = [Interval(*times) for times in speech]
    (found,) = lines_of(track(one), heard, slots or {}, SETTINGS, margin=0.25)
    return found


@pytest.mark.parametrize(("one", "speech", "room"), [
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
def test_the_room_of_a_line(one: Cue, speech: list[Times], room: Times) -> None:
    found = only(one, *speech).free
    assert (round(found.start, 3), round(found.end, 3)) == room


def test_the_slot_is_the_part_that_was_planned_unless_a_person_moved_the_line_out_of_it() -> None:
    assert only(cue(20, 23), (5, 10)).slot == Interval(20, 23)
    assert only(cue(20, 23), (5, 10), slots={"s00020000": Interval(20, 26)}).slot == Interval(20, 26)
    found = only(cue(20, 23), (5, 10), (40, 41), slots={"s00020000": Interval(26, 32)})
    assert found.slot == Interval(20, 23)
    assert fit([found], Slow(), SETTINGS).spoken[0].start == 20


def test_a_machines_line_never_begins_more_than_a_second_before_it_is_seen() -> None:
    for seen_from, floor in ((None, 19.0), (20.5, 19.5), (21, 20.0), (19, 19.0)):
        one = cue(20, 23, seen_from=seen_from)
        lines = lines_of(track(cue(16, 19), one, cue(22.2, 25.2)), [], {}, SETTINGS, margin=0.25)
        said = {spoken.id: spoken.start for spoken in fit(lines, Slow(), SETTINGS).spoken}
        assert said[one.id] >= floor
    assert not fit([only(cue(20, 23, seen_from=20.5), (21.2, 60))], Slow(), SETTINGS).spoken
    moved = cue(20, 23, seen_from=25.0, edited=Edit((EditField.TIME,), "track.json", None))
    (said_first,) = fit([only(moved, (21.2, 60))], Slow(), SETTINGS).spoken
    assert said_first.start < 20


SPEECH = [Interval(0, 9), Interval(15.5, 19), Interval(21, 30)]
TRACK = track(
    cue(10, 15, DOOR),
    cue(19.3, 20, "Ann and Bo and Cid climb the old stairs."),
    cue(31, 33, "Ann sits."),
    cue(40, 44, "", status=CueStatus.DROPPED),
)


def fitted(of: Track) -> Fitting:
    return fit(lines_of(of, SPEECH, {}, SETTINGS, margin=0.25), Slow(), SETTINGS)


def test_the_track_says_how_each_line_was_spoken_and_fitting_twice_is_fitting_once() -> None:
    fitting = fitted(TRACK)
    made = with_voiced(TRACK, fitting, "fake:slow")
    long, short, plain = (cue.spoken for cue in made.cues[:3])
    assert long is not None
    assert long.interval is not None
    assert long.interval.end <= 15.15
    assert (long.text, long.speed > 1) == (fitting.spoken[0].text, True)
    assert made.cues[0].spoken_length == round(fitting.spoken[0].take.seconds, 3)
    assert short is not None
    assert short.interval is None
    assert short.steps[-1].startswith("not spoken: it takes")
    assert plain is not None
    assert plain.steps == ()
    assert made.cues[3].stored_take is None
    assert with_voiced(made, fitted(made), "fake:slow") == made
    assert replace(made, cues=()) == replace(TRACK, cues=())


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


def track_of(rows: Rows) -> Track:
    cues = [
        Cue(f"s{100 * at:08d}", f"s{100 * at:08d}", Interval(at / 10, (at + length) / 10), text)
        for at, length, text in rows
    ]
    return Track(FilmId("film.mp4", "abc", DURATION), "en", (), "1", ()).with_cues(cues)


def told(fitting: Fitting) -> list[object]:
    spoken = [(one.id, one.text, one.start, one.take.samples.size, one.steps) for one in fitting.spoken]
    return [*spoken, *fitting.unspoken]


@given(CUES, TALKS, WAYS, st.sampled_from([0.05, 0.08, 0.12]))
@settings(max_examples=120)
def test_what_always_holds(rows: Rows, speech: list[Interval], how: FitSettings, pace: float) -> None:
    lines = lines_of(track_of(rows), speech, {}, how, margin=0.25)
    studio = Slow(pace)
    fitting = fit(lines, studio, how)
    by_id = {one.id: one for one in lines}
    # Every line is spoken or not, once.
    assert sorted(one.id for one in (*fitting.spoken, *fitting.unspoken)) == sorted(by_id)
    for said in fitting.spoken:
        wanted = by_id[said.id]
        # Never over speech, nor outside the film.
        assert wanted.free.start - MILLISECOND <= said.start
        assert said.interval.end <= wanted.free.end + MILLISECOND
        assert not any(said.interval.overlaps(one) for one in speech)
        assert said.start >= wanted.start - how.earlier - MILLISECOND
        assert said.start <= max(wanted.start + how.later, wanted.slot.start) + MILLISECOND
        # Never faster than allowed, never cut in a phrase.
        assert 1 <= said.take.speed <= how.fastest + 0.005
        assert said.text in {form.text for form in variants(wanted.text)}
        assert abs(said.take.seconds - studio.seconds(said.text) / said.take.speed) < 0.001
        changed = (
            said.text != wanted.text
            or said.take.speed > 1
            or round(1000 * abs(said.start - wanted.start)) >= 10
        )
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


def sorted_windows(rows: list[tuple[int, int, int, int, int]]) -> tuple[list[Window], list[int]]:
    rows = sorted(rows)
    windows = [
        Window(wanted, wanted - earlier, wanted + later, wanted + room)
        for wanted, earlier, later, room, _ in rows
    ]
    return windows, [length for *_, length in rows]


@given(LINES, st.data())
@settings(max_examples=100)
def test_the_cheapest_choice_is_the_cheapest_of_all(rows, data):
    windows, lengths = sorted_windows(rows)
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


def test_a_line_without_time_says_which_line_takes_it() -> None:
    """Each line that alone leaves it none; a line that was only pushed aside by a longer one is not named."""
    long, short, last = "x" * 60, "y" * 20, "z" * 20
    first, second = line(long, 10, (10, 16.5), "h00010000"), line(short, 14, (10, 16.5))
    (lost,) = fit([first, second], Slow(), STILL).unspoken
    assert (lost.id, lost.taken_by) == (second.id, (first.id,))
    assert lost.reason.endswith("; without the line at 00:00:10.000 it would fit")
    # Whoever goes before it or comes after it.
    by_person = replace(line(long, 10.1, (9, 16)), by_person=True)
    (lost,) = fit([line(short, 10, (9, 16)), by_person], Slow(), STILL).unspoken
    assert lost.taken_by == (by_person.id,)
    # Nobody takes what was never there.
    (alone,) = fit([line(long, 10, (10, 12))], Slow(), STILL).unspoken
    assert alone.taken_by == ()
    assert "without" not in alone.reason
    # Ten seconds for twelve: the first runs beyond its slot and pushes the second, so the third has no time.
    pushing = replace(line("a" * 70, 10, (10, 19), "h00010000"), slot=Interval(10, 14))
    pushed = replace(line(short, 14, (10, 19)), slot=Interval(14, 17))
    third = replace(line(last, 17, (10, 19)), slot=Interval(17, 19))
    (lost,) = fit([pushing, pushed, third], Slow(), FitSettings(earlier=0, later=4)).unspoken
    assert lost.id in (pushed.id, third.id)
    assert lost.taken_by == (pushing.id,)
