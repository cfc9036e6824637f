"""The ladder: what is done to a spoken line so that it fits, in the order that listeners want."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from shotad.core import FitSettings
from shotad.script import Answer, Wish, usual_words
from shotad.script.pace import tempo
from shotad.sound import Spoken
from shotad.sound.fitting import fit
from shotad.sound.kinds import Fitting
from shotad.sound.placing import whole_form
from tests.sound.speaking import Slow, line

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
        at_most = tempo(usual_words(text), whole.length / 1000 / whole.factor)
        if factor is None:
            assert 1 < whole.factor < 1.15
            assert at_most == pytest.approx(200, abs=0.1)
        else:
            assert whole.factor == factor
    # 16 letters are 3.7 words of the usual length: with a breath 200 words a minute in 0.91 s.
    hasty = Slow(odd={"He walks to the door.": 0.92})
    assert fit([line("He walks to the door.", 10, (10, 10.89))], hasty, STILL).spoken == ()


def test_lines_of_one_gap_are_pushed_apart_fairly_and_sped_up_alike() -> None:
    ann, bo = "Ann opens the old box.", "Bo takes out a map."
    first, second = fit([line(ann, 10, (9, 20)), line(bo, 11, (10, 20))], Slow(0.1), FitSettings()).spoken
    assert second.start == pytest.approx(first.interval.end + 0.3, abs=0.002)
    assert 10 - first.start == pytest.approx(second.start - 11, abs=0.002)
    pressed = [line(ann, 10, (10, 13.4)), line("Bo unrolls a large map.", 11.7, (10, 13.4))]
    first, second = fit(pressed, Slow(0.1), FitSettings()).spoken
    assert first.take.speed == pytest.approx(second.take.speed, abs=0.011)
    assert first.take.speed > 1.01


@pytest.mark.parametrize(("name", "heard"), [("", DOOR), ("h00010000", "Ann climbs the high mountain.")])
def test_of_two_lines_the_one_that_says_more_is_heard_or_the_one_that_a_person_added(
    name: str, heard: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shotad.sound.placing.variants", lambda text, language: iter(()))
    lines = [line("Ann climbs the high mountain.", 10, (10, 17), name), line(DOOR, 11, (11, 17))]
    fitting = fit(lines, Slow(), STILL)
    assert [one.text for one in fitting.spoken] == [heard]
    assert fitting.spoken[0].steps == ()


class Writer:
    """Answers with what is given, one after another, and keeps what it was asked."""

    def __init__(self, *answers: Answer | None) -> None:
        self.wishes: list[Wish] = []
        self._answers = list(answers)

    def __call__(self, wishes: Sequence[Wish]) -> list[Answer | None]:
        self.wishes += wishes
        return [self._answers.pop(0) for _ in wishes]


CLOUD = "Emo and Proog balance on the thin cables."
SHORT = [line(CLOUD, 10, (10, 12.1))]
ASK = STILL.model_copy(update={"ask": True})


def test_a_writer_is_asked_twice_at_most_and_told_what_was_wrong() -> None:
    bad = Answer("They are seen on the cables.", ("Leave that out.",))
    writer = Writer(bad, bad)
    fitting = fit(SHORT, Slow(), ASK, shorten=writer)
    assert fitting.spoken == ()
    assert [wish.before for wish in writer.wishes] == [None, bad]
    assert fitting.unspoken[0].steps[-2:] == ("asked for at most 5 words", "asked for at most 5 words")
    long = Answer("Both gentlemen balance there.")
    again = Writer(long, Answer("They balance there."))
    assert alone(fit(SHORT, Slow(), ASK, shorten=again)).text == "They balance there."
    assert again.wishes[1].before == long
    assert again.wishes[1].words < again.wishes[0].words
    silent = Writer(None)
    assert fit(SHORT, Slow(), ASK, shorten=silent).spoken == ()
    assert len(silent.wishes) == 1
