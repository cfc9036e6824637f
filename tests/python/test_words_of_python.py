"""Errors, warnings and notes of the public functions name arguments and settings as a Python caller writes them."""

from __future__ import annotations

import copy
import logging
import pickle
from pathlib import Path
from typing import Any

import pytest

import shotad
from shotad.core import Config
from shotad.core.python_words import in_python
from shotad.core.settings import setting_names
from tests.test_python_interface import FAST


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("To describe the film all the same: --existing ignore.", 'same: existing="ignore".'),
        ("Ask for less (--set local.batch=1, --set frames.inside=8), or use", '(settings={"local.batch": 1}, settings={"frames.inside": 8}), or use'),
        ("(--set threads.features=FOLDER), or", '(settings={"threads.features": "FOLDER"}), or'),
        ("Use another, or name it with --out.", "name it with out=."),
        ("Give another start (--from, --to).", "(start=, end=)."),
        ("--subtitles FILE, or set it", 'subtitles="FILE", or set it'),
        ("--slots takes slots of your own", "slots= takes slots"),
        ("--from 3.5 is late", "start=3.5 is late"),
        ("--out trial is one file", 'out="trial" is one file'),
        ("with --language de --existing complete.", 'with settings={"language": "de"} existing="complete".'),
        ("run with --discard-edits, or --force", "run with discard_edits=True, or force=True"),
        ("let the film pause: --extended.", 'pause: settings={"extended.on": True}.'),
        ("--audio-track names the track", 'settings={"film.audio_track": …} names the track'),
        ("Say which with --cast-key: a, b.", "with shotad.GivenCast(…, key=…): a, b."),
        ("--make ad or --make mix.", 'make="ad" or make="mix".'),
        # Commands are for a terminal.
        ("Check: shotad lint a.srt --film b.mp4. Or --existing ignore.", 'shotad lint a.srt --film b.mp4. Or existing="ignore".'),
        ("If it is yours: shotad doctor --trust /films", "shotad doctor --trust /films"),
        ("no film best--cast.mp4", "no film best--cast.mp4"),
        ("espeak-ng --voices lists them", "espeak-ng --voices lists them"),
    ],
)  # fmt: skip
def test_options_become_arguments(text: str, words: str) -> None:
    assert words in in_python(text)
    # Said once, it stays.
    assert in_python(in_python(text)) == in_python(text)


def test_options_that_stand_for_settings_name_settings_that_there_are() -> None:
    for option in (
        "ask",
        "audio-track",
        "candidates",
        "context",
        "detail",
        "encoding",
        "extended",
        "language",
    ):
        name = in_python(f"--{option}").partition('"')[2].partition('"')[0]
        assert name in setting_names(Config), option
    for option in ("speak-subtitles", "subtitle-voice", "verify"):
        name = in_python(f"--{option}").partition('"')[2].partition('"')[0]
        assert name in setting_names(Config), option


def no_options(error: shotad.ShotadError) -> str:
    """What an error says, without the sentences of whole commands."""
    assert str(error) == f"{error.what} {error.hint}".strip()
    return " ".join(part for part in str(error).split(". ") if "shotad " not in part)


@pytest.mark.usefixtures("here")
def test_errors_and_notes_of_a_run_name_arguments(caplog: pytest.LogCaptureFixture) -> None:
    Path("movie.ad.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nA door.\n", encoding="utf-8")
    with pytest.raises(shotad.DescriptionExists) as exists:
        shotad.describe("movie.mp4", settings=FAST)
    assert "--" not in no_options(exists.value)
    assert 'existing="ignore"' in exists.value.hint
    wrong: list[dict[str, Any]] = [{"start": 500.0}, {"taste": "mild"}, {"subtitles": "missing.srt"}]
    for arguments in wrong:
        with pytest.raises(shotad.ShotadError) as caught:
            shotad.describe("movie.mp4", settings=FAST, existing="ignore", **arguments)
        assert "--" not in no_options(caught.value)
        assert "=" in caught.value.hint
    with (
        pytest.warns(shotad.ShotadWarning, match="slots=") as warned,
        caplog.at_level(logging.INFO, "shotad"),
    ):
        shotad.describe("movie.mp4", settings={**FAST, "slots.minimum": 600}, existing="ignore", out="none")
    assert not any("--" in str(warning.message) for warning in warned)
    assert "--" not in caplog.text


@pytest.mark.parametrize("argument", ["shots", "slots", "subtitles", "cast", "note", "taste", "config"])
@pytest.mark.usefixtures("here")
def test_a_file_that_is_not_there_has_a_hint(argument: str) -> None:
    arguments: dict[str, Any] = {argument: "missing.csv"}
    with pytest.raises(shotad.ShotadError, match="missing") as caught:
        shotad.describe("movie.mp4", settings=FAST, **arguments)
    assert caught.value.hint
    with pytest.raises(shotad.ScriptError, match="No such file") as no_track:
        shotad.load_track("missing.json")
    assert no_track.value.hint
    assert "Errno" not in no_track.value.what


def test_a_setting_without_a_value_is_no_option() -> None:
    with pytest.raises(shotad.ConfigError, match="The setting 'slots' is not KEY=VALUE"):
        shotad.load_config(None, ["slots"])


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_token_is_not_sent_to_another_process(copied: Any) -> None:
    with pytest.raises(shotad.UsageError, match="another process") as caught:
        copied(shotad.CancelToken())
    assert "Make it in the process that calls the function" in caught.value.hint


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "{}\n"])
@pytest.mark.usefixtures("here")
def test_a_taste_without_a_setting_is_refused(text: str) -> None:
    Path("mine.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(shotad.ConfigError, match="mine.yaml holds no setting"):
        shotad.describe("movie.mp4", settings=FAST, taste="mine.yaml")
    assert not Path("movie.mine.shotad").exists()


@pytest.mark.parametrize("dataset", ["human.csv", "cmd-ad", "own.yaml"])
@pytest.mark.usefixtures("here")
def test_a_root_that_is_no_folder_is_refused(dataset: str) -> None:
    Path("human.csv").write_text("id,text\n1,A door.\n", encoding="utf-8")
    Path("own.yaml").write_text("name: own\n", encoding="utf-8")
    annotation = None if dataset == "human.csv" else "human.csv"
    with pytest.raises(shotad.DatasetError, match="gone is no folder") as caught:
        shotad.evaluate("human.csv", dataset, root="gone", annotation=annotation, metrics="bleu-1")
    assert "root=" in caught.value.hint


@pytest.mark.usefixtures("here")
def test_given_shots_with_holes_are_said() -> None:
    Path("shots.csv").write_text("start,end\n0,2\n6,8\n8.04,20\n", encoding="utf-8")
    with pytest.warns(shotad.ShotadWarning, match="The given shots leave out 4.0 s of 20.0 s") as warned:
        shotad.describe("movie.mp4", settings=FAST, worksheet=False, shots="shots.csv")
    (warning,) = [str(entry.message) for entry in warned if "given shots" in str(entry.message)]
    assert "from 2.0 to 6.0 s" in warning
