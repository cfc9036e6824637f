"""The guideline rules: what breaks them, and what only looks as if it did; those on words, and on times (T1 to T6)."""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval
from shotad.film import subtract
from shotad.script import (
    BENCHMARK,
    IntervalIndex,
    Level,
    Limits,
    TrackLine,
    Voiced,
    check_line,
    check_pace,
    quotations,
    similarity,
    stretches,
)

SHARED = Path(__file__).parents[3] / "shared" / "data"


def rules(text: str, level: Level | None = None, **more: object) -> set[str]:
    found = check_line(text, **more)  # type: ignore[arg-type]
    return {finding.rule for finding in found if level is None or finding.level is level}


def errors(text: str) -> set[str]:
    return rules(text, Level.ERROR)


GOOD = (
    "A man in a space suit runs to the left.",
    "Words appear: “THE BLENDER FOUNDATION”.",
    "He closes up the shop and pulls down the shutter.",
    "A shot rings out. He fires a long shot glass across the bar.",
    "He leans on the door frame, then hangs a picture in a frame.",
    "He lifts the frying pan and scrambles eggs.",
    "He takes a close-up black and white photo of English.",
    "A portrait of Elizabeth I hangs beside a US flag.",
    "He walks away from the scene of the crime.",
    "A sign reads “We are open - you may come in”.",
    'Words appear: "I am your father".',
    "Words appear: 'Your camera zooms in', she's gone.",
    "It is 7.30. A clock strikes - one, two.",
    "Room 12. He knocks.",
)


@pytest.mark.parametrize("text", GOOD)
def test_good_lines_have_no_error(text: str) -> None:
    assert errors(text) == set()


@pytest.mark.parametrize(("text", "rule"), [
    ("We see a man on a bridge.", "L2"),
    ("I can see a man.", "L2"),
    ("He turns and looks at us.", "L2"),
    ("It’s our hero, and you’re next.", "L2"),
    ("The camera pans over the city.", "L3"),
    ("A close-up of a hand.", "L3"),
    ("A wide shot shows the valley.", "L3"),
    ("Seen from a low angle, he draws a sword.", "L3"),
    ("The image shows a man with a sword.", "L5"),
    ("In Shot 2 a dog runs.", "L5"),
    ("I'm sorry, but I can't help with that.", "L5"),
    ("Actions: A man runs.", "L5"),
    ("The place is not mentioned.", "L5"),
    ("He runs to the \ufffd\ufffd.", "L5"),
    ("Sure, here is the description.", "L5"),
    ("Audio description: A dog runs.", "L5"),
    ("N/A", "L5"),
    ("**A dog** runs.", "L5"),
    ("- A dog runs.", "L5"),
    ('{"summarized_AD": "A dog runs."}', "L5"),
    ("A dog runs.<|im_end|>", "L5"),
    ("A dog runs.\\nIt barks.", "L5"),
    ("[INST] A dog runs.", "L5"),
])  # fmt: skip
def test_errors_are_found(text: str, rule: str) -> None:
    assert errors(text) == {rule} or (rule == "L5" and rule in errors(text))


@pytest.mark.parametrize(("text", "rule"), [
    ("He smiles at the camera.", "L3"),
    ("The picture fades to black.", "L3"),
    ("She seems to know him.", "L4"),
    ("An ominous tower stands on a hill.", "L4"),
    ("Nervously he turns.", "L4"),
    ("She decides to leave.", "L4"),
    ("He is ready to fight.", "L4"),
    ("He walked to the door.", "L1"),
    ("Ann slammed the door.", "L1"),
    ("They will fall.", "L1"),
    ("He is hit by a car.", "L1"),
])  # fmt: skip
def test_warnings_are_found_and_are_no_errors(text: str, rule: str) -> None:
    assert rules(text, Level.WARNING) == {rule}
    assert errors(text) == set()


@pytest.mark.parametrize("text", [
    "He runs back in the direction he came from.",
    "They look at the spot where they left him.",
    "Will reads the will of his father.",
    "The hills are covered in snow.",
    "The wounded lie in rows.",
    "A sign reads “I was here”.",
])  # fmt: skip
def test_states_and_looks_back_are_present_tense(text: str) -> None:
    assert "L1" not in rules(text)


@pytest.mark.parametrize(("text", "quoted"), [
    ('a "b" c', ['"b"']),
    ("a “b’s” c «d»", ["“b’s”", "«d»"]),
    ("it's John's 'own words' here", ["'own words'"]),
    ("‘It’s here’ he reads", ["‘It’s here’"]),
    ('open "to the end', ['"to the end']),
    ("the dogs' bowl and the cats' bowl", []),
])  # fmt: skip
def test_quotations(text: str, quoted: list[str]) -> None:
    assert [text[start:end] for start, end in quotations(text)] == quoted


@pytest.mark.parametrize(("one", "other", "copy"), [
    ("A man walks to the door.", "The man walks to a door.", True),
    ("He avoids a tree.", "He avoids a fallen tree.", True),
    ("Two people walk on the left.", "Two people are walking on the left.", True),
    ("Stephen stands.", "Stephen stands.", True),
    ("He looks at her.", "She looks at him.", False),
    ("The man enters the room.", "The man leaves the room.", False),
    ("A dog runs.", "A dog runs across the lawn to a boy with a ball.", False),
    ("Words appear: “COMING SOON”.", "Words appear: “SINTEL”.", False),
    ("Emo sits on the bridge and checks his limbs.", "Two people stand on a small bridge.", False),
    ("", "", False),
])  # fmt: skip
def test_near_copies(one: str, other: str, copy: bool) -> None:
    assert rules(other, previous=["A bird sings in a tree.", one]) == ({"L9"} if copy else set())
    assert rules(other, previous=[one]) == ({"L9"} if copy else set())
    assert not copy or similarity(one, other) == similarity(other, one) >= 0.8


def test_only_the_last_lines_count() -> None:
    others = ["A bird sings.", "It rains.", "Snow falls.", "A cat sits.", "A bell rings."]
    assert rules("A dog runs.", previous=["A dog runs.", *others]) == set()
    assert rules("A dog runs.", previous=["A dog runs.", *others[:4]]) == {"L9"}


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_gets_an_answer(one: str, other: str) -> None:
    assert 0 <= similarity(one, other) <= 1
    for finding in check_line(one, interval=Interval(1, 2), previous=[other]):
        if finding.span is not None:
            assert 0 <= finding.span[0] < finding.span[1] <= len(one)


@pytest.mark.skipif(not (SHARED / "cmd-ad").is_dir(), reason="needs ../shared/data/cmd-ad")
def test_human_ad_of_98_films_is_seldom_in_error() -> None:
    with (SHARED / "cmd-ad/cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    hits = Counter(rule for text in texts for rule in errors(text))
    assert len(texts) == 7316
    assert hits["L2"] <= 30
    assert hits["L3"] <= 5
    assert hits["L5"] == 0


@pytest.mark.parametrize(
    ("length", "level"), [(1.9, Level.ERROR), (2.0, Level.WARNING), (3.9, Level.WARNING)]
)
def test_t2_short_gaps(length: float, level: Level) -> None:
    (found,) = check_line("A dog.", gap=Interval(10, 10 + length))
    assert (found.rule, found.level) == ("T2", level)
    assert check_line("A dog.", gap=Interval(10, 10 + length), limits=BENCHMARK) == ()
    assert check_line("A dog.", gap=Interval(10, 14)) == ()


@pytest.mark.parametrize(("words", "level"), [(9, None), (10, Level.WARNING), (11, Level.ERROR)])
def test_t3_rate_on_the_spoken_length(words: int, level: Level | None) -> None:
    found = check_line("word " * words, interval=Interval(10, 13))
    assert [(f.rule, f.level) for f in found] == ([] if level is None else [("T3", level)])
    assert check_line("word " * words, interval=Interval(10, 13), limits=BENCHMARK) == ()


def test_t5_stretches_without_speech_or_ad() -> None:
    free = subtract(Interval(0, 200.0), [Interval(60, 110)])
    found = stretches([Interval(40, 41), Interval(150, 152)], free, Limits())
    assert [f.message for f in found] == ["[152.000, 200.000): 48 s without speech or AD"]
    found = list(stretches([], free, Limits()))
    assert [f.message.split(":")[0] for f in found] == ["[0.000, 60.000)", "[110.000, 200.000)"]
    assert {f.level for f in found} == {Level.WARNING}
    assert list(stretches([], free, Limits(stretch=math.inf))) == []


@pytest.mark.parametrize(("speech", "free"), [
    ([(2, 3)], [(0, 2), (3, 10)]),
    ([(5, 6), (0, 1), (0.5, 5)], [(6, 10)]),
    ([(8, 12)], [(0, 8)]),
    ([], [(0, 10)]),
])  # fmt: skip
def test_gaps_are_the_rest_of_the_film(speech: list[Any], free: list[Any]) -> None:
    assert subtract(Interval(0, 10), [Interval(*one) for one in speech]) == tuple(
        Interval(*one) for one in free
    )


def level(text: str, seconds: float, *, voiced: bool = True, language: str = "en") -> Level | None:
    when = Interval(10, 10 + seconds)
    spoken = Voiced("v", text, when, "x") if voiced else None
    line = TrackLine("s00010000", when, text, language, None, spoken)
    return next((finding.level for finding in check_pace(line, Limits())), None)


@pytest.mark.parametrize(("text", "seconds"), [
    # As a voice speaks them that says 165 words a minute over many lines.
    ("Darkness gives way to light.", 1.68),
    ("Out of the dark, someone appears.", 1.88),
    ("A person in black appears, then a face appears up close.", 3.6),
])  # fmt: skip
def test_a_natural_pace_is_no_fault(text: str, seconds: float) -> None:
    assert level(text, seconds) is None
    assert level(text, seconds / 1.6) is Level.ERROR


INTERVALS = st.builds(
    lambda start, length: Interval(start / 4, (start + length) / 4), st.integers(0, 80), st.integers(1, 40)
)


@given(st.lists(INTERVALS, max_size=12), INTERVALS, st.integers(0, 8))
def test_nothing_near_is_left_out(items: list[Interval], time: Interval, window: int) -> None:
    found = IntervalIndex.of(items, lambda item: item).near(time, window)
    wide = Interval(max(0, time.start - window), time.end + window)
    assert [item for item in found if item.overlaps(wide)] == sorted(
        (item for item in items if item.overlaps(wide)), key=lambda item: item.start
    )
