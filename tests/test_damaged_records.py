"""Records that a person or a disk has damaged: each command says what, where and what to do, or leaves it out."""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Config
from shotad.core.errors import WorkFolderError
from shotad.core.workfolder import read_record
from tests.cli.program import Said, Shotad
from tests.redo.redoing import SETTINGS, film_path, run

WHOLE = (b"{", b"[]", b"\xff\xfe\x00", b'{"key":' + b"[" * 10**5 + b"]" * 10**5 + b"}")
"""What can become of any file."""

CHANGES: tuple[tuple[str, str, object], ...] = (
    ("shots.json", "shots.0.start", "x"), ("shots.json", "shots.0.end", 10**400),
    ("shots.json", "shots.1.end", -1.0), ("shots.json", "shots.1.index", 7), ("shots.json", "shots.1.start", 0.5),
    ("shots.json", "shots", []), ("shots.json", "end", float("nan")), ("shots.json", "shots.0.unmixed", [0.0, 99.0]),
    ("speech.json", "speech", [{"start": 2.0, "end": 1.0, "kind": "speech", "text": ""}]),
    ("speech.json", "speech", [{"start": 1.0, "end": 2.0, "kind": "talk", "text": ""}]),
    ("slots.json", "slots.0.max_words", 0), ("slots.json", "slots.0.id", "x"), ("slots.json", "slots.0.voice", "hum"),
    ("slots.json", "slots.1.id", "s00000200"), ("credits.json", "credits", [3]),
    ("credits.json", "credits", [4.0, 3.0]), ("grammar.json", "shots.0.thread", "["),
    ("grammar.json", "shots.0.scale", "huge"), ("grammar.json", "pairs.0", [0, 99, 0.5]),
    ("grammar.json", "pairs.0", [0]), ("settings.json", "film.frame_rate", "1/0"), ("settings.json", "given", None),
    ("slots.hand.json", "added", [[3.0, 1.0]]), ("slots.hand.json", "removed", [{"id": 3}]),
)  # fmt: skip
"""File, place and value of what a person might do in an editor."""


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run(place := tmp_path_factory.mktemp("damaged") / "w")
    (place / "slots.hand.json").write_text('{"schema_version": 1, "added": [], "removed": []}')
    return place


@pytest.fixture
def place(described: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(described, tmp_path / "w"))


def changed(file: Path, where: str, value: object) -> None:
    """Put ``value`` in ``where`` of a JSON file."""
    document: Any = json.loads(file.read_text(encoding="utf-8"))
    *path, last = [int(part) if part.isdigit() else part for part in where.split(".")]
    holder = document
    for part in path:
        holder = holder[part]
    holder[last] = copy.deepcopy(value)
    file.write_text(json.dumps(document), encoding="utf-8")


def commands(place: Path) -> Iterator[list[object]]:
    """All that read a work folder."""
    settings = [word for one in SETTINGS[1:] for word in ("--set", one)]
    yield ["describe", film_path(), "--out", place, "--engine", "fake", *settings, "--no-sheet"]
    yield ["sheet", place, "--film", film_path()]
    yield ["lint", place]
    yield ["export", place / "track.json", "--format", "vtt", "--out", place / "out.vtt"]
    yield ["redo", place, "1"]


def check(said: Said, file: str) -> None:
    """A command either went well or names the file in one paragraph; it never breaks down."""
    assert said.code in (0, 1, 2), said.err
    if said.code:
        (paragraph,) = [line for line in said.err.splitlines() if line.startswith("Error:")]
        assert file in paragraph or file == "scripts.json"


@pytest.mark.parametrize("file", ["shots.json", "grammar.json", "track.json", "scripts.json", "stage1.jsonl"])
def test_a_file_that_is_no_record_at_all_breaks_no_command(shotad: Shotad, place: Path, file: str) -> None:
    kept = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    for data in WHOLE:
        for command in commands(place):
            (place / file).write_bytes(data)
            check(shotad(*command), file)
            for name, content in kept.items():
                (place / name).write_bytes(content)


@pytest.mark.parametrize(("file", "where", "value"), CHANGES)
def test_what_a_person_may_have_edited_is_refused_with_the_place_and_kept(
    shotad: Shotad, place: Path, file: str, where: str, value: object
) -> None:
    changed(place / file, where, value)
    before = (place / file).read_bytes()
    with pytest.raises(WorkFolderError, match=re.escape(str(place / file))) as refused:
        read_record(place / file)
    for part in where.split(".")[:2]:
        shown = f"entry {int(part) + 1}" if part.isdigit() else part
        assert shown in refused.value.what
    assert "delete" in refused.value.hint or "again" in refused.value.hint
    if file != "settings.json":  # it is written anew from the command
        said = shotad(*next(commands(place)))
        assert said.code == 1
        assert said.err.strip().splitlines()[-1].startswith(f"Error: {refused.value.what}")
        assert (place / file).read_bytes() == before


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("answers", "error", []),
        ("answers", "raw", 3),
        ("answers", "usage", {"tokens": 3}),
        ("answers", "key", 3),
        ("stage1", "prompt", "x"),
        ("stage2", "maker", 3),
    ],
)
def test_damaged_lines_of_records_are_made_again(
    shotad: Shotad, place: Path, name: str, key: str, value: object
) -> None:
    file = place / f"{name}.jsonl"
    assert shotad(*next(commands(place))).code == 0
    whole = [json.loads(line) for line in file.read_text().splitlines()]
    file.write_text("".join(json.dumps(row) + "\n" for row in [{**whole[0], key: value}, *whole[1:]]))
    assert shotad(*next(commands(place))).code == 0
    assert [json.loads(line) for line in file.read_text().splitlines()] == whole


def test_records_of_other_commands_are_held_to_their_shape(tmp_path: Path) -> None:
    for file, value in (
        ("characters.json", {"cast": [{"id": "a", "shots": ["x"]}], "tracks": []}),
        ("characters.json", {"cast": [], "tracks": [{"shot": 0}]}),
        ("cast-faces.json", {"photos": {"a": {"embedding": "?"}}}),
        ("cast-faces.json", {"photos": {"a": {"embedding": "AAA="}}}),
        ("render.json", {"sound": []}),
        ("scripts.de.json", {"scripts": ["x"]}),
    ):
        (tmp_path / file).write_text(json.dumps(value))
        with pytest.raises(
            WorkFolderError, match=f"{re.escape(file)} is damaged: .*Correct it there, or delete"
        ):
            read_record(tmp_path / file)


class Faulty:
    """An engine with a fault that nobody foresaw."""

    def __init__(self, config: Config) -> None:
        raise ZeroDivisionError("nobody foresaw this")


def test_own_faults_are_a_paragraph(shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "ads.csv").write_text("id,text\n1,Ann waits.\n")
    engine = "tests.test_damaged_records:Faulty"
    said = shotad(
        "evaluate", "actions", tmp_path / "ads.csv", "--engine", engine, "--out", tmp_path / "a.csv"
    )
    (details,) = tmp_path.glob("shotad-error-*.txt")
    assert said.code == 70
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert str(details) in said.err
    assert "ZeroDivisionError: nobody foresaw this" in said.err
    assert "Traceback" in details.read_text()
    assert "shotad evaluate actions" in details.read_text()


def test_yaml_that_is_nested_too_deeply_is_refused(shotad: Shotad, tmp_path: Path) -> None:
    deep = "a: " + "[" * 1500 + "]" * 1500 + "\n"
    (tmp_path / "deep.yaml").write_text(deep)
    (tmp_path / "cast.yaml").write_text(f"people:\n- {deep}")
    setting = ["--set", "frames.inside=" + deep.removeprefix("a: ").strip()]
    for command in (
        ["slots", film_path(), "--config", tmp_path / "deep.yaml"],
        ["slots", film_path(), *setting],
        ["cast", "show", tmp_path],
    ):
        said = shotad(*command)
        assert said.code in (1, 2)
        assert said.err.startswith("Error:")
        assert "Traceback" not in said.err
