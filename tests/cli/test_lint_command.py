"""``shotad lint``: what it takes, what it says, and its exit codes; on scripts of every format, work folders, casts, translations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.core import (
    Interval,
    RunInputs,
    ShotadError,
    Utterance,
    WorkFolder,
    load_config,
)
from shotad.core.errors import SubtitleError, UsageError
from shotad.core.runsettings import GivenCast, write_settings
from shotad.core.workfolder import readable_json
from shotad.script import Cue, Track
from shotad.script.guidelines import ACCEPTED_FILE
from shotad.script.track import FilmId, to_json
from shotad.script.track_files import TRACK
from tests import handmade
from tests.cli.program import invoke
from tests.rendering.described import film_with, write_folder
from tests.script_text import write_script

WORDS = ("--set", "lint.parse=words")


def the_track(*texts: str) -> Track:
    cues = (Cue(f"s{second:05d}000", f"s{second:05d}000", Interval(second, second + 4), text)
            for text, second in zip(texts, range(5, 40, 6), strict=False))  # fmt: skip
    return Track(FilmId("film.mp4", "f", 40.0), "en", (), "0", tuple(cues))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "film.shotad"
    track = the_track("We see a dog.", "A beautiful man nods.", "Rain falls.")
    place.mkdir()
    (place / "track.json").write_text(to_json(track), encoding="utf-8")
    return place


def run(*words: object) -> tuple[int, str]:
    done = invoke("lint", *words, *WORDS)
    return done.exit_code, done.stdout


def found(*words: object) -> list[tuple[str, str | None]]:
    return [(row["rule"], row["cue_id"]) for row in json.loads(run(*words, "--json")[1])["findings"]]


def test_a_work_folder_a_film_its_track_and_a_script_are_the_same_lines(folder: Path) -> None:
    script, track = folder / "film.ad.vtt", the_track("We see a dog.", "A beautiful man nods.")
    script.write_text(write_script(track, "vtt"), encoding="utf-8")
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


def test_ignored_once_and_accepted_for_good(folder: Path) -> None:
    assert found(folder, "--ignore", "L2:s00005000") == [("L4", "s00011000")]
    assert len(found(folder)) == 2
    assert found(folder, "--accept", "L4:s00011000") == [("L2", "s00005000")]
    code, text = run(folder)
    assert "1 accepted" in text
    assert code == 1
    assert "L4 s00011000" in (folder / ACCEPTED_FILE).read_text(encoding="utf-8")
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
    # Subtitles that do not fit what was heard in the film are told, those of another film refused.
    heard = {"key": "", "heard": [[20, 24], [26, 29]], "notes": [], "singing": [], "shouts": []}
    (folder / "heard.json").write_text(json.dumps(heard), encoding="utf-8")
    assert "Of 7.0 s of speech heard, 7.0 s lie outside the subtitles" in run(folder, "--speech", speech)[1]
    speech.write_text("1\n00:00:50,000 --> 00:00:52,000\nHello.\n", encoding="utf-8")
    with pytest.raises(SubtitleError, match="ends at 0:00:40, and the first subtitle begins at 0:00:50"):
        run(folder, "--speech", speech)
    assert ("own", "s00017000") in found(folder, "--words", words)
    assert ("own", "s00017000") not in found(folder, "--words", words, "--skip", "own")


def test_records_of_the_folder_are_used(folder: Path) -> None:
    heard = handmade.speech_record(Utterance(Interval(5.5, 8), ""))
    (folder / "speech.json").write_text(readable_json(heard), encoding="utf-8")
    fact = {"shot": 1, "text": "THE MILL", "kind": "title", "first": 20, "last": 22, "sure": 0.9}
    record = handmade.look("s00020000", start=20.0, end=22.0, notes={"current": [1], "texts": [fact, fact]})
    (folder / "stage1.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    assert [rule for rule, _ in found(folder)] == ["T1", "L2", "L4", "L11"]


TEXTS = {
    1.0: "We see a cat by the window.", 9.0: "Ada opens the old door.", 14.0: "Rain falls on the street.",
}  # fmt: skip
CAST = """\
people:
- {id: anna, name: Anna}
- {id: ben, name: Ben Carver, aliases: [Benny], reveal_at: 13}
"""


@pytest.fixture
def described(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "film.shotad", film_with(), TEXTS)


def rewrite(described: Path, *texts: str) -> None:
    text = (described / TRACK).read_text(encoding="utf-8")
    for old, new in zip(TEXTS.values(), texts, strict=True):
        text = text.replace(old, new)
    (described / TRACK).write_text(text, encoding="utf-8")


def test_a_script_in_a_work_folder_has_what_the_folder_knows(described: Path) -> None:
    script = described / "mine.srt"
    script.write_text("1\n00:00:05,500 --> 00:00:07,500\nA dog barks.\n", encoding="utf-8")
    assert "T1" in dict(found(script))
    assert "T1" not in dict(found(script, "--accept", "T1:#1"))
    assert "T1" not in dict(found(script))


def test_l7_and_l8_with_a_cast_named_and_with_that_of_the_run(described: Path, tmp_path: Path) -> None:
    cast = tmp_path / "cast.yaml"
    cast.write_text(CAST, encoding="utf-8")
    rewrite(described, "Benny sits by the window.", "Ada opens the old door.", "Ben Carver and Anna leave.")
    assert not {"L7", "L8"} & {rule for rule, _ in found(described)}
    named = found(described, "--cast", cast)
    assert ("L7", "s00001000") in named, "told before the film reveals it"
    assert ("L7", "s00009000") in named, "nobody of the cast"
    with WorkFolder(described) as place:
        write_settings(place, load_config(None), film_with(), RunInputs(cast=GivenCast(cast)))
    assert found(described) == named
    cast.unlink()
    skipped = json.loads(run(described, "--json")[1])["skipped"]
    assert any("L7 and L8" in reason and "cast.yaml" in reason for reason in skipped)


def test_one_of_several_that_cannot_be_read_keeps_not_the_others_from_it(described, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text('{"a": 1', encoding="utf-8")
    code, text = run(described, bad, "--skip", "L,T")
    assert code == 1
    assert "0 errors" in text
    assert f"{bad} is not checked:" in text
    rows = json.loads(run(described, bad, tmp_path / "no.vtt", "--json")[1])
    assert [set(row) >= {"name", "error", "hint"} for row in rows] == [False, True, True]
    assert run(described, tmp_path / "no.vtt")[0] == 1


def test_an_accepted_finding_on_times_is_told_again_where_the_times_have_changed(described: Path) -> None:
    text = (described / TRACK).read_text(encoding="utf-8")
    for start in (7.0, 6.5):
        (described / TRACK).write_text(text.replace('"start": 9.0', f'"start": {start}'), encoding="utf-8")
        assert "T1" in dict(found(described))
        run(described, "--accept", "T1")
        assert "T1" not in dict(found(described))
