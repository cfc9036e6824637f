"""``shotad lint``: what it takes, what it says, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from shotad.cli.lint import command
from shotad.core import ConfigError, Interval, ShotadError, UsageError, readable_json
from shotad.script import Cue, FilmId, Track, to_json
from shotad.script.guidelines import FILE
from tests.script_text import write_script

WORDS = ("--set", "lint.parse=words")


def cue(start: float, text: str) -> Cue:
    name = f"s{round(start * 1000):08d}"
    return Cue(name, name, Interval(start, start + 4), text)


def the_track(*texts: str) -> Track:
    cues = tuple(cue(5 + 6 * i, text) for i, text in enumerate(texts))
    return Track(FilmId("film.mp4", "f", 40.0), "en", (), "0", cues)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "film.shotad"
    place.mkdir()
    (place / "track.json").write_text(
        to_json(the_track("We see a dog.", "A beautiful man nods.", "Rain falls.")), encoding="utf-8"
    )
    return place


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(command, [*map(str, words), *WORDS], catch_exceptions=True)
    if isinstance(done.exception, ShotadError):
        raise done.exception
    return done.exit_code, done.stdout


def found(*words: object) -> list[tuple[str, str | None]]:
    return [(row["rule"], row["cue_id"]) for row in json.loads(run(*words, "--json")[1])["findings"]]


def test_a_work_folder_a_film_its_track_and_a_script_are_the_same_lines(folder: Path) -> None:
    script = folder / "film.ad.vtt"
    script.write_text(
        write_script(the_track("We see a dog.", "A beautiful man nods."), "vtt"), encoding="utf-8"
    )
    wanted = [("L2", "s00005000"), ("L4", "s00011000")]
    for path in (folder, folder.parent / "film.mp4", folder / "track.json", script):
        assert found(path) == wanted


def test_exit_codes_and_levels(folder: Path) -> None:
    assert run(folder)[0] == 1
    assert run(folder, "--skip", "L2")[0] == 0
    assert run(folder, "--skip", "L2", "--strict")[0] == 1
    assert run(folder, "--only", "T,L9")[0] == 0
    code, text = run(folder, "--level", "error")
    assert code == 1
    assert "error L2" in text
    assert "warning L4" not in text
    assert "1 error (L2 1), 1 warning (L4 1) in 3 lines." in text


def test_rules_that_are_not_there_are_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="There is no rule 'L99'"):
        run(folder, "--only", "L99")
    with pytest.raises(UsageError, match="There is nothing to check"):
        run()
    with pytest.raises(ConfigError, match="names no rule"):
        run(folder, "--ignore", "L4:")


def test_ignored_once_and_accepted_for_good(folder: Path) -> None:
    assert found(folder, "--ignore", "L2:s00005000") == [("L4", "s00011000")]
    assert len(found(folder)) == 2
    assert found(folder, "--accept", "L4:s00011000") == [("L2", "s00005000")]
    code, text = run(folder)
    assert "1 accepted" in text
    assert code == 1
    assert "L4 s00011000" in (folder / FILE).read_text(encoding="utf-8")
    changed = the_track("We see a dog.", "A beautiful man bows.", "Rain falls.")
    (folder / "track.json").write_text(to_json(changed), encoding="utf-8")
    assert ("L4", "s00011000") in found(folder)
    with pytest.raises(UsageError, match="Nothing is found"):
        run(folder, "--accept", "L3")


def test_what_a_render_found_is_told(folder: Path) -> None:
    rows = [{"rule": "A3", "level": "error", "message": "1.0 LU over the film", "cue_id": "s00005000"}]
    (folder / "render.json").write_text(json.dumps({"findings": rows}), encoding="utf-8")
    assert ("A3", "s00005000") in found(folder)
    (folder / "render.json").write_text('{"findings": [{"rule": 1}]}', encoding="utf-8")
    with pytest.raises(ShotadError, match="damaged"):
        run(folder)


def test_several_paths_and_the_list_of_rules(folder: Path) -> None:
    assert len(json.loads(run(folder, folder / "track.json", "--json")[1])) == 2
    code, text = run("--list")
    assert code == 0
    assert "T1, over speech (error)" in text
    assert {row["id"] for row in json.loads(run("--list", "--json")[1])} > {"T1", "L12", "A3"}


def test_speech_cast_and_words_may_be_named(folder: Path, tmp_path: Path) -> None:
    speech = tmp_path / "film.srt"
    speech.write_text("1\n00:00:06,000 --> 00:00:08,000\nHello there.\n", encoding="utf-8")
    words = tmp_path / "house.txt"
    words.write_text("rain\n", encoding="utf-8")
    assert ("T1", "s00005000") in found(folder, "--speech", speech)
    assert ("own", "s00017000") in found(folder, "--words", words)
    assert ("own", "s00017000") not in found(folder, "--words", words, "--skip", "own")


def test_records_of_the_folder_are_used(folder: Path) -> None:
    heard = {"source": "sound", "speech": [{"start": 5.5, "end": 8, "kind": "speech", "text": ""}]}
    (folder / "speech.json").write_text(readable_json(heard), encoding="utf-8")
    fact = {"shot": 1, "text": "THE MILL", "kind": "title", "first": 20, "last": 22, "sure": 0.9}
    record = {
        "key": "a", "slot": "s00020000", "start": 20.0, "end": 22.0, "shots": [], "scales": {}, "threads": [],
        "effective_scale": 2.0, "factors": [], "maker": {"engine": "fake"}, "prompt": [], "raw": "", "error": None,
        "overlay": None, "frame_size": None, "steps": {}, "explanation": "", "engine": "fake",
        "notes": {"texts": [fact, fact]},
    }  # fmt: skip
    (folder / "stage1.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    assert [rule for rule, _ in found(folder)] == ["T1", "L2", "L4", "L11"]
