"""Names near a clip: whoever is called or speaks there, the nearest first."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import Character, Interval, Utterance
from shotad.description.slotplan import Heard, heard_names
from shotad.film import read_subtitles

SHARED = Path(__file__).parents[3] / "shared" / "data"
CAST = (
    Character("celia", "Celia", "Celia Smith", ("Sis",)),
    Character("thom", "Thom", "Thom Lee"),
    Character("bo", "the man in grey", "the man in grey", (), ("Bo",), named=False),
)
CLIP = Interval(100, 110)


def said(start: float, text: str, speaker: str = "") -> Utterance:
    return Utterance(Interval(start, start + 2), text, speaker=speaker)


def test_the_nearest_go_first_and_each_once() -> None:
    speech = [said(85, "Thom!"), said(95, "Where is Thom?"), said(104, "Sis, wait!"), said(106, "Celia!")]
    assert heard_names(speech, CLIP, CAST) == (
        Heard("Celia", "spoken", 104.0), Heard("Thom", "spoken", 95.0),
    )  # fmt: skip


def test_who_speaks() -> None:
    speech = [said(102, "Go!", "Celia Smith"), said(106, "Thom!", "Thom and Boris")]
    assert heard_names(speech, CLIP, CAST) == (
        Heard("Thom", "speaker", 106.0), Heard("Celia", "speaker", 102.0),
    )  # fmt: skip


def test_who_may_not_be_named_yet_is_left_out() -> None:
    assert heard_names([said(104, "Bo! Bo!", "Bo")], CLIP, CAST) == ()


def test_without_a_cast_labels_and_who_is_called() -> None:
    speech = [
        said(10, "Ann! Come here."),
        said(14, "What do you want of me, Ann?"),
        said(101, "Ann! The door is open."),
        said(103, "Hello! Stop! We have to go now. Hello!", "Cy"),
        said(106, "I saw Bo there, and he looked at Mrs. Lee."),
    ]
    assert {(h.name, h.how) for h in heard_names(speech, CLIP, ())} == {
        ("Ann", "spoken"), ("Cy", "speaker"), ("Bo", "spoken"), ("Mrs. Lee", "spoken"),
    }  # fmt: skip


@pytest.mark.skipif(not SHARED.exists(), reason="the supplied captions are not beside the repository")
def test_supplied_captions() -> None:
    speech = read_subtitles(SHARED / "ad-text" / "elephants-dream" / "captions.en.vtt")
    names = {h.name for at in range(0, 600, 10) for h in heard_names(speech, Interval(at, at + 10), ())}
    assert names == {"Emo", "Proog"}
