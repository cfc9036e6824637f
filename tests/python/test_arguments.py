"""What is given to the public functions, and cannot be meant: one kind of error, which names the argument."""

from __future__ import annotations

import io
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import shotad
from shotad.script.track import FilmId
from tests.test_python_interface import FAST

FUNCTIONS: dict[str, Callable[..., object]] = {
    "describe": lambda **more: shotad.describe(**{"film": "movie.mp4", "settings": FAST, **more}),
    "iter_cues": lambda **more: next(shotad.iter_cues(**{"film": "movie.mp4", "settings": FAST, **more})),
    "render": lambda **more: shotad.render(
        **{"film": "movie.mp4", "settings": FAST, "voice": "fake", **more}
    ),
    "open_film": lambda **more: shotad.open_film(**{"film": "movie.mp4", **more}),
    "detect_shots": lambda **more: shotad.detect_shots(**{"film": "movie.mp4", "settings": FAST, **more}),
    "find_threads": lambda **more: shotad.find_threads(**{"film": "movie.mp4", "settings": FAST, **more}),
    "shot_scales": lambda **more: shotad.shot_scales(**{"film": "movie.mp4", "settings": FAST, **more}),
    "evaluate": lambda **more: shotad.evaluate(
        **{"predictions": "predictions.jsonl", "dataset": "human.csv", "metrics": "bleu-1", **more}
    ),
    "load_track": shotad.load_track,
    "load_config": shotad.load_config,
    "GivenCast": lambda **more: shotad.GivenCast(**{"path": "cast.yaml", **more}),
}

NO_PATHS = (3, 2.5, True, ["movie.mp4"], ("a", "b"), {"a": 1}, object(), b"movie.mp4", bytearray(b"\0" * 9))
NO_PATHS_NOR_TEXTS = (3, 2.5, True, {"a": 1}, object(), b"movie.mp4")
NO_FLAGS = ("yes", 2, None, [True], 0.5)
NO_PROGRESS = (None, 3, "yes", shotad.Progress, object())

WRONG: dict[str, dict[str, tuple[object, ...]]] = {
    "describe": {
        "film": (None, *NO_PATHS),
        "engine": NO_PATHS_NOR_TEXTS,
        "cast": NO_PATHS,
        "subtitles": NO_PATHS,
        "slots": NO_PATHS,
        "shots": NO_PATHS,
        "start": (None, "1:00", [3], b"3"),
        "end": ("1:00", [3], b"3"),
        "config": (3, b"paper", object(), [3]),
        "settings": (3, object(), [3], [b"seed=3"]),
        "out": NO_PATHS,
        "force": NO_FLAGS,
        "discard_edits": NO_FLAGS,
        "worksheet": NO_FLAGS,
        "on_cue": (3, "print", [print]),
        "cancel": (True, threading.Event(), shotad.CancelToken),
        "progress": NO_PROGRESS,
    },
    "iter_cues": {"film": (None, 3), "start": ("1:00",), "cancel": (True,)},
    "render": {
        "film": (None, *NO_PATHS),
        "track": NO_PATHS,
        "file": NO_PATHS,
        "make": (None, 3, [3], b"ad", object()),
        "voice": NO_PATHS_NOR_TEXTS,
        "config": (3, b"paper", object()),
        "settings": (3, object()),
        "out": NO_PATHS,
        "force": NO_FLAGS,
        "cancel": (True, threading.Event()),
        "progress": NO_PROGRESS,
    },
    "open_film": {
        "film": (None, *NO_PATHS),
        "frame_rate": ("x", [3], b"3", object()),
        "config": (3, object()),
        "settings": (3, object()),
    },
    "detect_shots": {
        "film": (None, *NO_PATHS),
        "config": (3, object()),
        "settings": (3, object()),
        "out": NO_PATHS,
        "cancel": (True,),
        "progress": NO_PROGRESS,
    },
    "find_threads": {"film": (None, 3), "shots": (3, "shots", [3], {"a": 1}), "out": NO_PATHS, "progress": NO_PROGRESS},
    "shot_scales": {"film": (None, 3), "shots": (3, [None]), "out": NO_PATHS, "progress": NO_PROGRESS},
    "evaluate": {
        "predictions": (None, 3, b"x", {"a": 1}, [3], object()),
        "dataset": (None, *NO_PATHS),
        "root": NO_PATHS,
        "metrics": (None, 3, [3], b"cider", object()),
        "annotation": NO_PATHS,
        "actions": NO_PATHS,
        "casts": NO_PATHS,
        "descriptions": NO_PATHS,
        "id_column": NO_PATHS_NOR_TEXTS,
        "text_column": NO_PATHS_NOR_TEXTS,
        "judges": (None, 3, [3], object()),
        "missing": (3, "sometimes", object()),
        "system": (None, 3, object()),
        "shard": (3, "x", "3/2", object()),
        "cache": NO_PATHS,
        "config": (3, object()),
        "settings": (3, object()),
        "out": NO_PATHS,
        "force": NO_FLAGS,
        "cancel": (True,),
        "progress": NO_PROGRESS,
    },
    "load_track": {"path": (None, *NO_PATHS)},
    "load_config": {"name_or_file": (3, b"paper", object()), "assignments": (3, object())},
    "GivenCast": {"path": (None, *NO_PATHS), "key": (None, 3), "photos": NO_PATHS},
}  # fmt: skip
"""Values that an argument does not take, of each function and each argument."""
OTHER_NAMES = {
    "name_or_file": "config",
    "assignments": "settings",
    "id_column": "column",
    "text_column": "column",
    "frame_rate": "frame rate",
}
"""What messages call an argument, where that is another name."""


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_type_is_an_error_that_names_the_argument(name: str, here: Path) -> None:
    for argument, values in WRONG[name].items():
        for value in values:
            with pytest.raises(shotad.ShotadError) as caught:
                FUNCTIONS[name](**{argument: value})
            error = caught.value
            assert OTHER_NAMES.get(argument, argument) in error.what, (argument, value, error.what)
            assert error.what.endswith("."), (argument, value, error.what)
            assert error.hint, (argument, value, error.what)
    assert not (here / "movie.shotad").exists()


@pytest.mark.usefixtures("here")
def test_what_is_no_file_is_told_how_it_becomes_one() -> None:
    with Path("movie.mp4").open("rb") as file, socket.socket() as line:
        cases: list[tuple[object, str]] = [
            (file, "give its name, 'movie.mp4'"),
            (io.BytesIO(b"film"), "Write the content to a file first"),
            (b"\0" * 1000, "Write the content to a file first"),
            (memoryview(b"\0" * 1000), "Write the content to a file first"),
            (line, "as a string or a Path"),
            (["a.mp4", "b.mp4"], "call the function for each"),
            ("https://example.org/film.mp4", "Download it"),
            ("s3://films/film.mp4", "Download it"),
            ("file:///films/film.mp4", "Download it"),
            ("", "Name a file"),
            ("a\0b", "Name a file"),
        ]
        for value, hint in cases:
            for function in (shotad.describe, shotad.open_film, shotad.detect_shots, shotad.render):
                with pytest.raises(shotad.UsageError) as caught:
                    function(value)  # type: ignore[arg-type, operator]
                assert hint in caught.value.hint
                assert caught.value.what.startswith("film ")
                assert len(caught.value.what) < 200, "bytes of a film are not written out"


def test_folders_empty_files_and_what_is_no_film_are_told_apart(here: Path) -> None:
    (here / "folder").mkdir()
    (here / "empty.mp4").touch()
    (here / "text.mp4").write_text("no film", encoding="utf-8")
    for name, reason in (
        ("folder", "frames|pictures"),
        ("empty.mp4", "empty"),
        ("text.mp4", "cannot be read|no film|not a film"),
        ("none.mp4", "There is no|not there|No such"),
    ):
        for function in (shotad.describe, shotad.open_film, shotad.shot_scales, shotad.render):
            with pytest.raises(shotad.FilmError, match=reason) as caught:
                function(name)  # type: ignore[operator]
            assert name in caught.value.what
            assert caught.value.hint


@pytest.mark.usefixtures("here")
def test_an_async_callback_is_refused() -> None:
    async def on_cue(_cue: shotad.Cue) -> None: ...

    with pytest.raises(shotad.UsageError, match="async") as caught:
        shotad.describe("movie.mp4", settings=FAST, on_cue=on_cue)
    assert "plain function" in caught.value.hint


def test_a_track_is_saved_to_a_path() -> None:
    track: Any = shotad.Track(FilmId("movie.mp4", "", 20.0), "en", (), "0.1.0", ())
    for path in (None, 3, b"a.vtt", io.StringIO(), "https://example.org/a.vtt"):
        with pytest.raises(shotad.UsageError, match="path"):
            track.save(path)


TOO_LONG = "x" * 300
"""No file system has names of more than 255 bytes."""


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        ("describe", "film"),
        ("describe", "out"),
        ("describe", "taste"),
        ("describe", "config"),
        ("render", "film"),
        ("render", "file"),
        ("open_film", "film"),
        ("detect_shots", "film"),
        ("evaluate", "predictions"),
        ("load_config", "name_or_file"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows says of such names only that nothing is there")
@pytest.mark.usefixtures("here")
def test_a_text_in_place_of_a_file_name_is_refused(function: str, argument: str) -> None:
    with pytest.raises(shotad.ShotadError, match="too long for the name of a"):
        FUNCTIONS[function](**{argument: TOO_LONG})


@pytest.mark.parametrize("function", ["render", "describe"])
@pytest.mark.parametrize("folder", [".", "/"])
def test_a_folder_in_place_of_the_film_is_refused(
    function: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(shotad.FilmError):
        FUNCTIONS[function](film=folder)


@pytest.mark.parametrize("at", ["1:00", b"3", float("nan"), True])
@pytest.mark.usefixtures("here")
def test_a_moment_of_a_question_is_a_number(at: Any) -> None:
    shotad.describe("movie.mp4", settings=FAST, worksheet=False)
    with pytest.raises(shotad.UsageError, match="is no moment"):
        shotad.ask("movie.mp4", "Who is it?", at=at)


def test_no_predictions_are_refused() -> None:
    with pytest.raises(shotad.UsageError, match="names no file"):
        FUNCTIONS["evaluate"](predictions=[])
