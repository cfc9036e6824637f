"""Seconds of the film and of the copy that pauses."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from shotad.core import FilmInfo
from shotad.script.subtitle_formats import read_vtt
from shotad.sound import Spoken, Take
from shotad.sound.kinds import Fitting, Pause
from shotad.sound.pauses import (
    NEWCOMER,
    TimeMap,
    Worth,
    names_of,
    pauses_record,
    pauses_vtt,
    worth,
)


def spoken_line(name: str, start: float, seconds: float, pause: float = 0.0) -> Spoken:
    take = Take(np.zeros(round(seconds * 1000), np.float32), 1000, "fake", name)
    return Spoken(name, name, start, take, pause=pause)


def test_pauses_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="must ascend"):
        TimeMap((Pause(20.0, 1.0, "a"), Pause(10.0, 1.0, "b")))
    with pytest.raises(ValueError, match="lasts"):
        Pause(1.0, 0.0, "a")


def of(text: str, **given: object) -> Worth:
    values = {"start": 10.0, "last": 10.0, "names": (), "told": (), "shots": ()} | given
    return worth(text, **values)  # type: ignore[arg-type]


def test_a_name_counts_the_first_time_only() -> None:
    names = names_of(["Proog pulls Emo away.", "Then Emo falls. He stares at Proog."], "en")
    assert names == {"Proog", "Emo"}
    assert names_of(["Then he runs. Snow falls: Dark clouds.", 'He says, "Go".'], "en") == frozenset()
    first = of("Emo runs.", names=names)
    again = of("Emo runs.", names=names, told=["Proog pulls Emo's arm."])
    assert first.points - again.points == pytest.approx(NEWCOMER)
    assert "introduces Emo" in first.reasons


INFO = FilmInfo("film.mp4", None, "ab" * 16, 60.0, 320, 240, Fraction(25), None, "h264", Fraction(0))


def recorded() -> dict[str, Any]:
    lines = (("s00010000", 9.0, 3, 2.0), ("s00015000", 15.0, 3), ("h00020000", 20.5, 3, 3.6))
    spoken = tuple(spoken_line(*line) for line in lines)
    pauses = (Pause(10.0, 2.0, "s00010000"), Pause(20.0, 3.6, "h00020000"))
    return pauses_record(INFO, Fitting(spoken, pauses=pauses), "de", "fake")


def test_the_metadata_track_stands_on_the_films_own_time() -> None:
    text = pauses_vtt(recorded())
    cues = read_vtt(text, "pauses.vtt").cues
    assert [(cue.id, cue.interval.start) for cue in cues] == [("s00010000", 10.0), ("h00020000", 20.0)]
    assert json.loads(cues[0].text) == {"pause": 2.0, "line": "s00010000", "starts": 9.0}
    assert json.loads(cues[1].text) == {"pause": 3.6, "line": "h00020000", "starts": 20.5}
