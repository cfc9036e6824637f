"""Seconds of the film and of the copy that pauses."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from shotad.core import FilmInfo, Interval, Shot
from shotad.script.subtitle_formats import read_vtt
from shotad.sound import Spoken, Take
from shotad.sound.kinds import Fitting
from shotad.sound.pauses import NEWCOMER, READ_OUT, Extension, Pause, Worth, names_of, worth
from shotad.sound.time_map import TimeMap, pauses_record, pauses_vtt

TWO = TimeMap((Pause(10.0, 2.0, "a"), Pause(20.0, 3.0, "b")))


def spoken_line(name: str, start: float, seconds: float, pause: float = 0.0, at: float = 0.0) -> Spoken:
    take = Take(np.zeros(round(seconds * 1000), np.float32), 1000, "fake", name)
    return Spoken(name, name, start, take, pause=pause, pause_at=at)


@pytest.mark.parametrize(
    ("film", "early", "late"), [(0, 0, 0), (9, 9, 9), (10, 10, 12), (11, 13, 13), (20, 22, 25), (30, 35, 35)]
)
def test_a_second_of_the_film_is_one_of_the_copy_and_a_pause_is_a_stretch(
    film: float, early: float, late: float
) -> None:
    assert (TWO.early(film), TWO.late(film)) == (early, late)


def test_pauses_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="must ascend"):
        TimeMap((Pause(20.0, 1.0, "a"), Pause(10.0, 1.0, "b")))
    with pytest.raises(ValueError, match="lasts"):
        Pause(1.0, 0.0, "a")


def test_a_line_with_a_pause_begins_as_far_from_it_as_on_film_time() -> None:
    lines = Fitting(
        (
            spoken_line("first", 1, 2),
            spoken_line("a", 9, 3, 2.0, 10.0),
            spoken_line("b", 20.5, 2.5, 3.0, 20.0),
        )
    )
    moved = TWO.fitting(lines)
    assert [line.interval for line in moved.spoken] == [Interval(1, 3), Interval(9, 12), Interval(22.5, 25)]
    assert [line.pause for line in moved.spoken] == [0, 0, 0]


def of(text: str, **given: object) -> Worth:
    values = {"start": 10.0, "last": 10.0, "names": (), "told": (), "shots": ()} | given
    return worth(text, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ['A sign: "No entry".', "The letter reads, come.", "Ein Schild: „Kein Zutritt“.", "Words: THE END."],
)
def test_text_read_out_matters_most(text: str) -> None:
    assert of(text).points >= READ_OUT
    assert "reads out text" in of(text).reasons
    for other in ("He doesn't look up.", "A US soldier waves.", "She walks to the dogs' kennel."):
        assert of(other).points < 1


def test_a_name_counts_the_first_time_only() -> None:
    names = names_of(["Proog pulls Emo away.", "Then Emo falls. He stares at Proog."], "en")
    assert names == {"Proog", "Emo"}
    assert names_of(["Then he runs. Snow falls: Dark clouds.", 'He says, "Go".'], "en") == frozenset()
    first = of("Emo runs.", names=names)
    again = of("Emo runs.", names=names, told=["Proog pulls Emo's arm."])
    assert first.points - again.points == pytest.approx(NEWCOMER)
    assert "introduces Emo" in first.reasons


def test_silence_and_cuts_since_the_last_line_count_up_to_a_limit() -> None:
    shots = [Shot(i, Interval(2.0 * i, 2.0 * i + 2)) for i in range(100)]
    assert of("He runs.", start=40.0, last=10.0).points == pytest.approx(of("He runs.").points + 1)
    assert of("He runs.", start=190.0, last=10.0).points == pytest.approx(of("He runs.").points + 2)
    cut = of("He runs.", start=12.0, last=9.9, shots=shots)
    assert cut.points == pytest.approx(0.1 + 2.1 / 30 + 2 / 5)
    assert str(cut) == "0.6 points: 2 s since the last line, 2 cuts since the last line, 2 words"


INFO = FilmInfo("film.mp4", None, "ab" * 16, 60.0, 320, 240, Fraction(25), None, "h264", Fraction(0))


def recorded() -> dict[str, Any]:
    spoken = (
        spoken_line("s00010000", 9.0, 3, 2.0, 10.0),
        spoken_line("s00015000", 15.0, 3),
        spoken_line("h00020000", 20.5, 3, 3.6, 20.0),
    )
    pauses = (Pause(10.0, 2.0, "s00010000"), Pause(20.0, 3.6, "h00020000"))
    return pauses_record(INFO, Extension(Fitting(spoken), pauses), "de", "fake")


def test_the_file_says_where_the_film_waits_on_both_clocks() -> None:
    made = recorded()
    first, second = made["pauses"]
    assert (first["line"], first["at"], first["length"], first["starts"]) == ("s00010000", 10.0, 2.0, 9.0)
    assert (first["copy_start"], first["copy_end"], first["copy_starts"]) == (10.0, 12.0, 9.0)
    assert (second["starts"], second["copy_start"], second["copy_end"]) == (20.5, 22.0, 25.6)
    assert (second["copy_starts"], made["copy_duration"]) == (22.5, 65.6)


def test_the_metadata_track_stands_on_the_films_own_time() -> None:
    text = pauses_vtt(recorded())
    cues = read_vtt(text, "pauses.vtt").cues
    assert [(cue.id, cue.interval.start) for cue in cues] == [("s00010000", 10.0), ("h00020000", 20.0)]
    assert json.loads(cues[0].text) == {"pause": 2.0, "line": "s00010000", "starts": 9.0}
    assert json.loads(cues[1].text) == {"pause": 3.6, "line": "h00020000", "starts": 20.5}
