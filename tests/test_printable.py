"""What nobody sees in texts from outside: it stands in no line, no script, no prompt, and on no terminal."""

from __future__ import annotations

import json
import unicodedata

import pytest

from shotad.cli.options import Console
from shotad.core import Interval, ScriptError, printable, seen
from shotad.description.templates import material
from shotad.film.subtitles import read_caption
from shotad.script import LONGEST, Cue, clean_text
from shotad.script.cue import ScriptCue
from shotad.sight.cast_entries import tidy

HIDDEN = [
    *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u2060\ufeff\u00ad\x00\x07\x1b\x7f\x9b",
    "\U000e0041", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda one: f"U+{ord(one):04X}")
def test_what_is_not_seen_is_left_out_or_written_out(hidden: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"A cat{hidden} sleeps."
    for way in (seen, clean_text, tidy):
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
    assert seen(text) == text
    assert unicodedata.normalize("NFC", clean_text(text)) == unicodedata.normalize("NFC", text)


def test_a_line_has_a_length_that_is_held_before_anything_reads_it() -> None:
    with pytest.raises(ScriptError, match=r"line at 2\.000 s has 5001 characters; at most 5000"):
        ScriptCue(None, Interval(2, 3), "a" * (LONGEST + 1))
    with pytest.raises(ValueError, match="5001 characters"):
        Cue("s00002000", None, Interval(2, 3), "a" * (LONGEST + 1))
