"""The ladder: what is done to a spoken line so that it fits, in the order that listeners want."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from shotad.core import FitSettings
from shotad.script import Answer, Wish
from shotad.sound import Spoken
from shotad.sound.fitting import fit
from shotad.sound.kinds import Fitting
from tests.sound.speaking import Slow, line

DOOR = "He walks to the door, opens it and looks out into the dark street. A dog barks."
"""60 letters, so 6 s; 51 without its last sentence, 26 for the first two deeds, 16 for the first."""

FIRST = "He walks to the door, opens it and looks out into the dark street."
STILL = FitSettings(earlier=0, later=0)


def alone(fitting: Fitting) -> Spoken:
    (spoken,) = fitting.spoken
    assert fitting.unspoken == ()
    return spoken


def test_a_line_with_room_is_said_as_it_is() -> None:
    studio = Slow()
    spoken = alone(fit([line(DOOR, 10, (9, 20))], studio, FitSettings()))
    assert (spoken.text, spoken.start, spoken.steps) == (DOOR, 10.0, ())
    assert studio.asked == [DOOR]


def test_a_shift_comes_before_all_that_is_heard() -> None:
    spoken = alone(fit([line(DOOR, 10, (9, 15.75))], Slow(), FitSettings()))
    assert spoken.text == DOOR
    assert spoken.take.speed == 1.0
    assert spoken.steps == ("moved 0.25 s earlier",)


def test_then_it_is_spoken_faster_and_only_as_much_as_is_needed() -> None:
    spoken = alone(fit([line(DOOR, 10, (10, 15.7))], Slow(), STILL))
    assert spoken.text == DOOR
    assert spoken.steps == ("spoken 1.06 times faster",)
    assert spoken.take.speed == pytest.approx(1.06, abs=0.001)
    assert spoken.interval.end <= 15.7


def test_then_sentences_go_then_clauses_each_at_its_fastest_first() -> None:
    said = [alone(fit([line(DOOR, 10, (10, 10 + room))], Slow(), STILL)) for room in (5.5, 4.6, 2.5, 1.55)]
    assert said[0].text == DOOR
    assert said[1].text == FIRST
    assert said[1].steps[0] == "dropped a sentence: A dog barks."
    assert said[1].take.speed > 1
    assert said[2].text == "He walks to the door and opens it."
    assert "dropped a clause: and looks out into the dark street" in said[2].steps
    assert said[3].text == "He walks to the door."


def test_a_line_without_place_says_why_and_what_was_tried() -> None:
    # 1.6 s, which may be 1.15 times faster.
    fitting = fit([line(DOOR, 10, (10, 11))], Slow(), STILL)
    (left,) = fitting.unspoken
    assert fitting.spoken == ()
    assert left.missing == pytest.approx(1.6 / 1.15 - 1, abs=0.002)
    assert left.reason.endswith("1.00 s are free between speech and other lines")
    assert "tried shorter: He walks to the door." in left.steps


def test_a_line_with_no_free_time_in_reach_says_so() -> None:
    (left,) = fit([line(DOOR, 10, (10, 10.001))], Slow(), FitSettings()).unspoken
    assert left.reason == "people speak at its time or the film is over, and no free time is in reach"
    assert left.missing > 1


def test_only_what_comes_into_question_is_spoken() -> None:
    studio = Slow()
    fit([line(DOOR, 10, (10, 12.9))], studio, STILL)
    assert studio.asked == [DOOR, "He walks to the door and opens it."]


def test_a_form_that_takes_longer_than_it_should_gives_way_to_the_next() -> None:
    odd = {"He walks to the door and opens it.": 4.0}
    studio = Slow(odd=odd)
    spoken = alone(fit([line(DOOR, 10, (10, 12.8))], studio, STILL))
    assert spoken.text == "He walks to the door."
    assert studio.asked == [DOOR, *odd, spoken.text]


def test_nobody_speaks_faster_than_the_longest_word_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    # 16 letters are 3.7 words of the usual length: with a breath 200 words a minute in 0.91 s.
    hasty = Slow(odd={"He walks to the door.": 0.92})
    fitting = fit([line("He walks to the door.", 10, (10, 10.89))], hasty, STILL)
    assert fitting.spoken == ()
    monkeypatch.setattr("shotad.sound.placing.LONGEST_WORD_RATE", 240.0)
    assert alone(fit([line("He walks to the door.", 10, (10, 10.89))], hasty, STILL)).take.speed > 1


def test_lines_of_one_gap_are_pushed_apart_fairly() -> None:
    ann, bo = "Ann opens the old box.", "Bo takes out a map."
    fitting = fit([line(ann, 10, (9, 20)), line(bo, 11, (10, 20))], Slow(0.1), FitSettings())
    first, second = fitting.spoken
    assert second.start == pytest.approx(first.interval.end + 0.3, abs=0.002)
    assert 10 - first.start == pytest.approx(second.start - 11, abs=0.002)
    assert (first.text, second.text) == (ann, bo)


def test_lines_that_press_on_each_other_are_sped_up_alike() -> None:
    ann, bo = "Ann opens the old box.", "Bo unrolls a large map."
    fitting = fit([line(ann, 10, (10, 13.4)), line(bo, 11.7, (10, 13.4))], Slow(0.1), FitSettings())
    first, second = fitting.spoken
    assert first.take.speed == pytest.approx(second.take.speed, abs=0.011)
    assert first.take.speed > 1.01


@pytest.fixture
def _nothing_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shotad.sound.placing._shorter", lambda line: iter(()))


@pytest.mark.usefixtures("_nothing_dropped")
def test_a_line_left_out_leaves_its_time_to_its_neighbour() -> None:
    ann = "Ann climbs the high mountain."
    lines = [line(ann, 10, (10, 17)), line(DOOR, 11, (11, 17))]
    fitting = fit(lines, Slow(), STILL)
    assert [one.text for one in fitting.spoken] == [DOOR]
    assert [one.text for one in fitting.unspoken] == [ann]
    assert fitting.spoken[0].steps == ()


@pytest.mark.usefixtures("_nothing_dropped")
def test_a_line_that_a_person_added_outweighs_the_machines() -> None:
    ann = "Ann climbs the high mountain."
    lines = [line(ann, 10, (10, 17), "h00010000"), line(DOOR, 11, (11, 17))]
    assert [one.text for one in fit(lines, Slow(), STILL).spoken] == [ann]


def test_the_order_of_asking_is_nothing() -> None:
    lines = [line(DOOR, 10, (9, 15)), line("Bo takes out a map.", 13, (12, 15)), line(DOOR, 30, (29, 33))]
    one, other = fit(lines, Slow(), FitSettings()), fit(lines[::-1], Slow(), FitSettings())
    assert [(a.id, a.text, a.start, a.steps) for a in one.spoken] == [
        (a.id, a.text, a.start, a.steps) for a in other.spoken
    ]
    assert all(
        (a.take.samples == b.take.samples).all() for a, b in zip(one.spoken, other.spoken, strict=True)
    )


def test_a_line_over_speech_is_said_when_its_time_is_free() -> None:
    # Wanted at 10, and free only from 12 on: later than a shift may be, for a person put it there.
    spoken = alone(fit([line("Ann sits.", 10, (12, 20))], Slow(), FitSettings()))
    assert spoken.start == 12.0
    assert spoken.steps == ("moved 2.00 s later",)


class Writer:
    """Answers with what is given, one after another, and keeps what it was asked."""

    def __init__(self, *answers: Answer | None) -> None:
        self.wishes: list[Wish] = []
        self._answers = list(answers)

    def __call__(self, wishes: Sequence[Wish]) -> list[Answer | None]:
        self.wishes += wishes
        return [self._answers.pop(0) for _ in wishes]


CLOUD = "Emo and Proog balance on the thin cables."
ASK = STILL.model_copy(update={"ask": True})


def test_a_writer_is_asked_where_nothing_whole_is_short_enough() -> None:
    writer = Writer(Answer("They balance on cables."))
    spoken = alone(fit([line(CLOUD, 10, (10, 12.1))], Slow(), ASK, shorten=writer))
    assert spoken.text == "They balance on cables."
    assert spoken.steps[0] == f"written anew, shorter: {CLOUD}"
    (wish,) = writer.wishes
    # 33 letters, 8 words in 3.3 s: in 2.1 s at 1.15 times that pace 5 words can be said.
    assert (wish.text, wish.words, wish.before) == (CLOUD, 5, None)


def test_a_writer_is_not_asked_unless_it_is_wished() -> None:
    writer = Writer()
    assert fit([line(CLOUD, 10, (10, 12.1))], Slow(), STILL, shorten=writer).spoken == ()
    assert fit([line(CLOUD, 10, (10, 15))], Slow(), ASK, shorten=writer).spoken
    assert writer.wishes == []


def test_a_writer_is_asked_twice_at_most_and_told_what_was_wrong() -> None:
    bad = Answer("They are seen on the cables.", ("Leave that out.",))
    writer = Writer(bad, bad)
    fitting = fit([line(CLOUD, 10, (10, 12.1))], Slow(), ASK, shorten=writer)
    assert fitting.spoken == ()
    assert [wish.before for wish in writer.wishes] == [None, bad]
    assert fitting.unspoken[0].steps[-2:] == ("asked for at most 5 words", "asked for at most 5 words")


def test_an_answer_that_takes_too_long_is_asked_for_again_with_fewer_words() -> None:
    long = Answer("Both gentlemen balance there.")
    writer = Writer(long, Answer("They balance there."))
    spoken = alone(fit([line(CLOUD, 10, (10, 12.1))], Slow(), ASK, shorten=writer))
    assert spoken.text == "They balance there."
    assert writer.wishes[1].before == long
    assert writer.wishes[1].words < writer.wishes[0].words


def test_a_writer_without_an_answer_is_not_asked_again() -> None:
    writer = Writer(None)
    assert fit([line(CLOUD, 10, (10, 12.1))], Slow(), ASK, shorten=writer).spoken == ()
    assert len(writer.wishes) == 1


def test_a_studio_that_speaks_several_lines_at_once_is_told_all() -> None:
    class Many(Slow):
        def __init__(self) -> None:
            super().__init__()
            self.together: list[list[str]] = []

        def say_all(self, texts: Sequence[str], speed: float = 1.0, progress: object = None) -> None:
            self.together.append(list(texts))

    studio = Many()
    fit([line(DOOR, 10, (10, 12.9)), line(DOOR, 20, (20, 22.9))], studio, STILL)
    assert studio.together == [[DOOR, DOOR], ["He walks to the door and opens it."] * 2]
