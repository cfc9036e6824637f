"""How much a line matters."""

from __future__ import annotations

import pytest

from shotad.core import Interval, Shot
from shotad.sound.pauses import NEWCOMER, READ_OUT, Worth, names_of, worth


def of(text: str, **given: object) -> Worth:
    values = {"start": 10.0, "last": 10.0, "names": (), "told": (), "shots": ()} | given
    return worth(text, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        'A sign: "No entry".',
        "The letter reads, come at once.",
        "Ein Schild: „Kein Zutritt“.",
        "Words appear, THE END.",
        "Title, Sintel.",
        "A note: 'Run'.",
    ],
)
def test_text_read_out_matters_most(text: str) -> None:
    assert of(text).points >= READ_OUT
    assert "reads out text" in of(text).reasons


@pytest.mark.parametrize(
    "text", ["He doesn't look up.", "A US soldier waves.", "She walks to the dogs' kennel."]
)
def test_other_lines_read_nothing_out(text: str) -> None:
    assert of(text).points < 1


def test_a_name_counts_the_first_time_only() -> None:
    names = names_of(["Proog pulls Emo away.", "Then Emo falls. He stares at Proog."], "en")
    assert names == {"Proog", "Emo"}
    first = of("Emo runs.", names=names)
    again = of("Emo runs.", names=names, told=["Proog pulls Emo's arm."])
    assert first.points - again.points == pytest.approx(NEWCOMER)
    assert "introduces Emo" in first.reasons


def test_what_merely_begins_a_sentence_is_no_name() -> None:
    assert names_of(["Then he runs. Snow falls: Dark clouds.", 'He says, "Go".'], "en") == frozenset()


def test_a_word_that_is_also_written_small_is_no_name() -> None:
    assert names_of(["He sees the Captain.", "The captain waves."], "en") == frozenset()


def test_german_writes_all_nouns_so() -> None:
    assert names_of(["Der Hund und der Mann."], "de-AT") == frozenset()


def test_silence_and_cuts_since_the_last_line_count_up_to_a_limit() -> None:
    shots = [Shot(i, Interval(2.0 * i, 2.0 * i + 2)) for i in range(100)]
    assert of("He runs.", start=40.0, last=10.0).points == pytest.approx(of("He runs.").points + 1)
    assert of("He runs.", start=190.0, last=10.0).points == pytest.approx(of("He runs.").points + 2)
    cut = of("He runs.", start=12.0, last=9.9, shots=shots)
    assert cut.points == pytest.approx(0.1 + 2.1 / 30 + 2 / 5)
    assert str(cut) == "0.6 points: 2 s since the last line, 2 cuts since the last line, 2 words"
