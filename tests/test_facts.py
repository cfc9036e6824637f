"""Records and texts from outside: what they refuse, what they look like as JSON, and what nobody sees in them."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from shotad.cli.options import Console
from shotad.core import (
    Box,
    Clip,
    FilmInfo,
    FramePlan,
    Grammar,
    Interval,
    Message,
    Reply,
    Slot,
)
from shotad.core.engine import (
    EntranceFact,
    FacesFact,
    Facts,
    NamedFace,
    TextFact,
)
from shotad.core.errors import ScriptError
from shotad.core.progress import printable, visible_text
from shotad.core.types import Role, thread_number
from shotad.description.templates import material
from shotad.film.subtitles import read_caption
from shotad.script import Cue
from shotad.script.cue import (
    MAX_TEXT_LENGTH,
    ScriptCue,
    SpokenTake,
    clean_text,
)
from shotad.sight.cast_entries import tidy


def test_facts_survive_their_record() -> None:
    ann = NamedFace("a", "Ann", "she")
    facts = Facts(
        (1,),
        texts=(TextFact(1, "SINTEL", "title", 1.0, 3.0, 0.95, fills=True, spoken=True),),
        faces=(FacesFact(1, 2, (ann,), 1.0, 3.0),),
        entrances=(EntranceFact(1, (ann,), 1.5, 3.0),),
    )
    notes = json.loads(json.dumps(facts.to_json()))
    assert Facts.from_json(notes) == facts


PICTURE = np.zeros((1, 4, 4, 3), np.uint8)
ONE = np.zeros(1)
FIRST = np.zeros(1, np.int64)


def film(width: int, duration: float) -> FilmInfo:
    return FilmInfo("film", None, "x", duration, width, 2, None, None, "h264", Fraction(0))


def test_what_contradicts_itself_is_refused() -> None:
    contradictions: list[tuple[Callable[[], object], str]] = [
        (lambda: Interval(0, math.inf), "interval bounds must be finite"),
        (lambda: Interval(2, 1), "interval must start before it ends"),
        (lambda: Slot("s", Interval(0, 1), 0), "slot s must allow at least one word"),
        (lambda: FramePlan(0, Role.PAST, np.zeros(0)), "must be float64[n], n > 0, got (0,)"),
        (lambda: FramePlan(0, Role.PAST, np.array([2.0, 1.0])), "must ascend, got [2.0, 1.0]"),
        (lambda: Clip(PICTURE[0], ONE, FIRST), "must be uint8[n, H, W, 3], got shape (4, 4, 3)"),
        (lambda: Clip(PICTURE[:0], ONE[:0], FIRST[:0]), "at least one frame, got none"),
        (lambda: Clip(PICTURE, np.zeros(2), FIRST), "1 images but seconds(2,)"),
        (lambda: Grammar(threads=((1,),)), "a thread has two or more shots, got (1,)"),
        (lambda: Box(0.5, 0, 0.5, 1), "positive size"),
        (lambda: Message("robot", "Hi."), "must be system, user or assistant, got 'robot'"),
        (lambda: film(0, 1), "a film must have a size, got 0x2"),
        (lambda: film(2, -1), "duration must be 0 or more, got -1"),
        (lambda: thread_number("a1"), "named by capitals A to Z, got 'a1'"),
        (lambda: SpokenTake("v", "Hi.", None, "x"), "what is spoken has a text and a time"),
        (lambda: Cue("s00000000", None, Interval(0, 0.0001), "Hi."), "must last 1 ms or more"),
        (lambda: Cue("s00000000", None, Interval(0, 1), "Hi.", seen_from=math.inf), "a second of the film"),
    ]
    for made, why in contradictions:
        with pytest.raises(ValueError, match=re.escape(why)):
            made()


def test_an_answer_without_end_is_cut_and_says_so() -> None:
    long, most = "a" * 100_001, "a" * 100_000
    assert Reply(long) == Reply(most, "length")
    assert Reply(long, "refused") == Reply(most, "refused")
    assert Reply(most).finish == "stop"


HIDDEN = [
    *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u2060\ufeff\u00ad\x00\x07\x1b\x7f\x9b",
    "\U000e0041", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda one: f"U+{ord(one):04X}")
def test_what_is_not_seen_is_left_out_or_written_out(hidden: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"A cat{hidden} sleeps."
    for way in (visible_text, clean_text, tidy):
        assert way(text) == "A cat sleeps."
    assert material(text) == "<material>A cat sleeps.</material>"
    said = read_caption(text)
    assert said is not None
    assert said.text == "A cat sleeps."
    if hidden == "\ud800":
        return
    console = Console("plain")
    console.note(text)
    console.result(text, {})
    Console("json").result("", {"line": text})
    heard = capsys.readouterr()
    assert hidden not in heard.out + heard.err
    assert heard.out.startswith(f"{printable(text)}\n{{")
    assert json.loads(heard.out[heard.out.index("{") :]) == {"line": text}


@pytest.mark.parametrize(
    "text", ["می‌خواهم", "שלום\u200f!", "👩‍👩‍👧", "क्‍ष", "e\u0301te", "⏯\ufe0f", "日本\u3000語"]
)
def test_what_shapes_letters_stays(text: str) -> None:
    assert visible_text(text) == text
    assert unicodedata.normalize("NFC", clean_text(text)) == unicodedata.normalize("NFC", text)


def test_a_line_has_a_length_that_is_held_before_anything_reads_it() -> None:
    with pytest.raises(ScriptError, match=r"line at 2\.000 s has 5001 characters; at most 5000"):
        ScriptCue(None, Interval(2, 3), "a" * (MAX_TEXT_LENGTH + 1))
    with pytest.raises(ValueError, match="5001 characters"):
        Cue("s00002000", None, Interval(2, 3), "a" * (MAX_TEXT_LENGTH + 1))
