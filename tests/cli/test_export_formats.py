"""`shotad export` and `shotad import` with what describers exchange, the signals for players; `shotad screenplay`."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from shotad.core import Interval
from shotad.description.film_frames import frames_of_film
from shotad.evaluation import read_screenplay
from shotad.film import open_film
from shotad.script import (
    Cue,
    Maker,
    Track,
    load_track,
)
from shotad.script.track import FilmId, to_json
from tests.cli.program import Shotad
from tests.evaluation.filmfolder import make_folder

TRACK = Track(
    FilmId("movie.mp4", "x", 100.0), "en", (Maker("stage2", "fake"),), "0.1.0",
    (
        Cue("s00010000", "s00010000", Interval(10.003, 12.5), "A dog runs."),
        Cue("s00020000", "s00020000", Interval(20.0, 22.5), 'She says "=1".'),
        Cue("h00030000", None, Interval(30.0, 31.0), "Night."),
    ),
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "movie.shotad"
    place.mkdir()
    (place / "track.json").write_text(to_json(TRACK), encoding="utf-8")
    return place


@pytest.mark.parametrize(
    ("name", "ending"),
    [("frazier", "ad.frazier.csv"), ("reaper", "ad.reaper.csv"),
     ("hls", "ad.hls.m3u8"), ("dash", "ad.dash.xml"), ("docx", "ad.docx"), ("xlsx", "ad.xlsx"),
     ("edl", "ad.edl"), ("fcpxml", "ad.fcpxml")],
)  # fmt: skip
def test_each_format_is_written_beside_the_track_and_valid(shotad, folder, name, ending):
    said = shotad("export", folder, "--format", name, "--json")
    assert said.code == 0, said.err
    (path,) = json.loads(said.out)["files"]
    assert Path(path) == folder / f"movie.{ending}"
    checked = shotad("export", "--check", path)
    assert (checked.code, checked.out.strip()) == (0, f"{path}: valid")


def test_the_text_to_read_has_a_heading_for_each_ten_minutes_and_is_not_imported(
    shotad: Shotad, folder: Path
) -> None:
    late = (
        Cue("s00610900", None, Interval(610.9, 612.5), "Two lines\nin one."),
        Cue("s03723900", None, Interval(3723.9, 3725.0), "# No heading."),
    )
    track = replace(TRACK, film=replace(TRACK.film, duration=4000.0)).with_cues((*TRACK.cues, *late))
    (folder / "track.json").write_text(to_json(track), encoding="utf-8")
    assert shotad("export", folder, "--format", "txt").code == 0
    path = folder / "movie.ad.txt"
    paragraphs = path.read_text(encoding="utf-8").split("\n\n")
    assert paragraphs[0] == "# movie"
    assert paragraphs[1].startswith("Audio description made by machine: shotad 0.1.0 (stage2: fake).")
    assert paragraphs[2:-1] == [
        "## 0:00:00", "0:00:10 A dog runs.", '0:00:20 She says "=1".', "0:00:30 Night.",
        "## 0:10:00", "0:10:10 Two lines in one.",
        "## 1:00:00", "1:02:03 # No heading.",
    ]  # fmt: skip
    assert re.fullmatch(r"End: 5 lines in 1 h 6 min\. \([0-9a-f]{8}\)\n", paragraphs[-1])
    # Written again over a text of an earlier track; not over what somebody changed, which cannot be brought in.
    (folder / "track.json").write_text(to_json(TRACK), encoding="utf-8")
    assert shotad("export", folder, "--format", "txt").code == 0
    assert "End: 3 lines" in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace("Night.", "Dawn."), encoding="utf-8")
    refused = shotad("export", folder, "--format", "txt")
    assert "Move movie.ad.txt away" in refused.err
    assert (refused.code, "may hold somebody's changes" in refused.err) == (1, True)
    imported = shotad("import", folder, path)
    assert (imported.code, "Edit the lines in Word" in imported.err) == (1, True)
    assert "Night." in (folder / "track.json").read_text(encoding="utf-8")
    # Other people's text files are tables or subtitles, as before.
    table = path.with_name("other.txt")
    table.write_text("start,end,text\n10.003,12.5,A hound runs.\n", encoding="utf-8")
    assert "A hound runs." in shotad("import", folder, table, "--dry-run").out


@pytest.mark.parametrize("name", ["frazier@24", "reaper"])
def test_an_edited_table_is_brought_back(shotad: Shotad, folder: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "edited.csv"
    shotad("export", folder, "--format", name, "--out", target)
    text = target.read_bytes().decode()
    target.write_bytes(text.replace("A dog runs.", "A hound runs.").encode())
    said = shotad("import", folder, target, "--reviewer", "Ada", *(("--format", name) if "@" in name else ()))
    assert said.code == 0, said.err
    assert "1 changed, 0 added, 0 removed" in said.out
    track = load_track(folder / "track.json")
    assert track.reviewed_by == ("Ada",)
    first, *rest = track.cues
    assert (first.text, first.interval.start) == ("A hound runs.", 10.003)
    assert [(c.text, c.interval) for c in rest] == [(c.text, c.interval) for c in TRACK.cues[1:]]


def test_lines_that_another_describer_places_otherwise_are_matched_by_the_time_they_share(
    shotad, folder, tmp_path
):
    other = tmp_path / "other.srt"
    other.write_text(
        "1\n00:00:10,400 --> 00:00:12,000\nA cat.\n\n2\n00:00:19,500 --> 00:00:21,000\nShe says.\n\n"
        "3\n00:00:21,100 --> 00:00:22,500\nMore.\n\n4\n00:00:50,000 --> 00:00:52,000\nNew.\n"
    )
    assert shotad("import", folder, other).code == 1
    said = json.loads(shotad("import", folder, other, "--remove-missing", "--json").out)
    assert said["changed"] == ["s00010000"]
    assert said["added"] == ["h00019500", "h00021100", "h00050000"]
    assert said["removed"] == ["s00020000", "h00030000"]
    first = load_track(folder / "track.json").cues[0]
    assert (first.text, first.interval) == ("A cat.", Interval(10.4, 12.0))


def test_lines_that_a_script_lacks_are_named_and_asked_for_on_a_terminal(shotad, folder, tmp_path):
    part = tmp_path / "part.srt"
    part.write_text("1\n00:00:10,003 --> 00:00:12,500\nA hound runs.\n")
    said = shotad("import", folder, part)
    assert said.code == 1
    assert "part.srt lacks 2 lines of 3 that the track has: s00020000 at 00:00:20.000 " in said.err
    assert "--remove-missing" in said.err
    for typed, code, heard in (("n\n", 1, 3), ("y\n", 0, 1)):
        said = shotad("import", folder, part, typed=typed)
        assert (said.code, "Remove them?" in said.err) == (code, True)
        assert ("Nothing was imported" in said.err) == (code == 1)
        assert len(load_track(folder / "track.json").heard) == heard


def test_an_export_over_a_script_that_was_changed_is_refused(shotad: Shotad, folder: Path) -> None:
    assert shotad("export", folder).code == 0
    file = folder / "movie.ad.vtt"
    file.write_text(file.read_text().replace("A dog", "A hound"))
    said = shotad("export", folder)
    assert (said.code, "movie.ad.vtt: 1 line was changed" in said.err) == (1, True)
    assert "A hound" in file.read_text()
    assert shotad("export", folder, "--overwrite").code == 0
    assert "A dog" in file.read_text()


@pytest.mark.parametrize(("name", "content", "message"), [
    ("film.ass", "[Script Info]\nTitle: x\n\n[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,A,,0,0,0,,Hi\n", "is an ASS or SSA"),
    ("film.srt", "", "is empty"),
    ("film.vtt", " \n\n", "holds nothing but blanks"),
    ("film.sub", "{0}{25}Hello\n", "is a MicroDVD"),
    ("film.rtf", "{\\rtf1 Hello}", "is an RTF document"),
    ("film.lrc", "[00:12.00]Hello\n", "is an LRC"),
    ("film.pdf", "%PDF-1.7\n", "is a PDF"),
])  # fmt: skip
def test_what_is_no_script_is_named(
    shotad: Shotad, tmp_path: Path, name: str, content: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    for words in (("lint", path), ("export", "--check", path)):
        said = shotad(*words)
        assert said.code == 1
        assert message in said.out + said.err
        assert "JSON" not in said.out + said.err


def test_check_names_what_is_wrong(shotad: Shotad, tmp_path: Path) -> None:
    playlist = tmp_path / "main.m3u8"
    playlist.write_text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n")
    broken = tmp_path / "broken.docx"
    broken.write_bytes(b"PK\x03\x04 nothing")
    said = shotad("export", "--check", playlist, broken)
    assert said.code == 1
    assert "no AUDIO rendition says" in said.out
    assert "is no Office document" in said.out


CUTS = (0.0, 12.0, 31.0, 50.0)
SHOTS = [{"index": n, "start": a, "end": b} for n, (a, b) in enumerate(pairwise(CUTS))]
MOMENTS = dict.fromkeys(("first", "quarter", "middle", "three_quarters", "last"), 0.0)
LOOK = {**MOMENTS, "thread": None, "scale": None}
GRAMMAR = {"features": None, "threshold": None, "scale_method": None, "pairs": []}


@pytest.fixture
def described(tmp_path: Path) -> Path:
    looks = [{**LOOK, "index": n, "probabilities": None} for n in range(3)]
    return make_folder(
        tmp_path / "door.shotad",
        "door",
        [(2, 4, "Ann opens\nthe door."), (33, 35, "Snow falls on a roof.")],
        [(5, 28, "Ann: Who is it?"), (36, 38, "Nobody.")],
        shots={"film": "door.mp4", "end": 50.0, "damage": None, "holes": [], "shots": SHOTS},
        grammar={**GRAMMAR, "shots": looks},
        characters={"cast": [{"id": "p1", "name": "Ann", "shots": [0]}], "tracks": []},
    )


WHOLE = """Title: door
Language: en

.SCENE 1 - ANN

Ann opens the door.

@Ann
Who is it?

.SCENE 2

Snow falls on a roof.

UNKNOWN
Nobody."""


def test_a_work_folder_as_fountain_and_in_the_form_of_a_names_ending(shotad, described, tmp_path):
    said = shotad("screenplay", described)
    assert (said.code, said.out.strip()) == (0, WHOLE)
    for name in ("door.cml", "door.json"):
        assert shotad("screenplay", described, "-o", tmp_path / name).code == 0
    tagged, whole = (read_screenplay(tmp_path / name).scenes for name in ("door.cml", "door.json"))
    assert [scene.heading for scene in tagged] == [scene.heading for scene in whole]


def test_other_subtitles_and_a_text_for_people(shotad: Shotad, described: Path, tmp_path: Path) -> None:
    subtitles = tmp_path / "door.srt"
    subtitles.write_text("1\n00:00:06,000 --> 00:00:08,000\n[Bo] Let me in!\n", encoding="utf-8")
    said = shotad("screenplay", described, "--subtitles", subtitles, "--format", "text", "--json")
    value = json.loads(said.out)
    assert value["dialogue"] == 1
    assert "SCENE 1 - ANN  (00:00:02)\n[Ann opens the door.]\nBO: Let me in!" in value["screenplay"]


def test_without_words_it_says_how_to_get_them(shotad: Shotad, tmp_path: Path) -> None:
    said = shotad("screenplay", make_folder(tmp_path / "a.shotad", "a", [(1, 2, "Rain.")]))
    assert said.code == 0
    assert "Name them by --subtitles" in said.err


@pytest.mark.parametrize(("rate", "timecode", "spec", "start"), [
    (Fraction(25), "10:00:00:00", "25", "10:00:00:00"),
    (Fraction(30000, 1001), "01:00:00;00", "30000/1001df", "01:00:00;00"),
    (Fraction(24000, 1001), "", "24000/1001", "00:00:00:00"),
])  # fmt: skip
def test_markers_count_the_films_own_frames_from_its_first_time_code(
    tmp_path: Path, rate: Fraction, timecode: str, spec: str, start: str
) -> None:
    path = tmp_path / "a.mov"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=rate)
        stream.width, stream.height, stream.pix_fmt = 64, 36, "yuv420p"
        if timecode:
            stream.metadata["timecode"] = timecode
        for _ in range(12):
            picture = av.VideoFrame.from_ndarray(np.zeros((36, 64, 3), np.uint8), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    with open_film(path) as film:
        frames = frames_of_film(film.info)
    assert (frames.spec, frames.timecode(frames.start)) == (spec, start)
    assert (frames.width, frames.height) == (64, 36)
