"""Side files for players."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from shotad.core import FilmInfo, SoundError
from shotad.script.subtitle_formats import read_vtt
from shotad.sound import Spoken, Take
from shotad.sound.kinds import Fitting
from shotad.sound.pauses import Extension, Pause
from shotad.sound.time_map import PausesFile, pauses_file, pauses_json, pauses_vtt, read_pauses

INFO = FilmInfo("film.mp4", None, "ab" * 16, 60.0, 320, 240, Fraction(25), None, "h264", Fraction(0))


def extension() -> Extension:
    def line(name: str, start: float, pause: float, at: float) -> Spoken:
        take = Take(np.zeros(3000, np.float32), 1000, "fake", "Näher --> heran.")
        return Spoken(name, "Näher --> heran.", start, take, (), pause, at)

    spoken = (
        line("s00010000", 9.0, 2.0, 10.0),
        line("s00015000", 15.0, 0.0, 0.0),
        line("h00020000", 20.5, 3.6, 20.0),
    )
    return Extension(Fitting(spoken), (Pause(10.0, 2.0, "s00010000"), Pause(20.0, 3.6, "h00020000")))


def test_the_file_says_where_the_film_waits_on_both_clocks(tmp_path: Path) -> None:
    made = pauses_file(INFO, extension(), "de", "fake")
    (tmp_path / "pauses.json").write_text(pauses_json(made), encoding="utf-8")
    assert read_pauses(tmp_path / "pauses.json") == made
    first, second = made.pauses
    assert (first.line, first.at, first.length, first.starts) == ("s00010000", 10.0, 2.0, 9.0)
    assert (first.copy_start, first.copy_end, first.copy_starts) == (10.0, 12.0, 9.0)
    assert (second.starts, second.copy_start, second.copy_end, second.copy_starts) == (20.5, 22.0, 25.6, 22.5)
    assert made.copy_duration == 65.6


def test_every_field_is_explained_in_the_schema() -> None:
    schema = PausesFile.model_json_schema()
    fields = schema["$defs"]["PausePart"]["properties"]
    assert [name for name, field in fields.items() if "description" not in field] == ["text"]


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pauses.json"
    path.write_text('{"schema_version": 2, "pauses": []}')
    with pytest.raises(SoundError, match="cannot be read"):
        read_pauses(path)
    with pytest.raises(SoundError, match="cannot be read"):
        read_pauses(tmp_path / "none.json")


def test_the_metadata_track_stands_on_the_films_own_time() -> None:
    text = pauses_vtt(pauses_file(INFO, extension(), "de", "fake"))
    cues = read_vtt(text, "pauses.vtt").cues
    assert [(cue.id, cue.interval.start) for cue in cues] == [("s00010000", 10.0), ("h00020000", 20.0)]
    assert json.loads(cues[0].text) == {"pause": 2.0, "line": "s00010000", "starts": 9.0}
    assert json.loads(cues[1].text) == {"pause": 3.6, "line": "h00020000", "starts": 20.5}
