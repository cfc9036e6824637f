"""``shotad evaluate threads`` as a user meets it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.program import Said, Shotad
from tests.media import FilmSpec, make_film

SAMPLE = Path(__file__).parents[1] / "sample"


@pytest.fixture
def threads(shotad: Shotad) -> Shotad:
    def call(*words: object, features: str | None = "grid") -> Said:
        given = ["--features", features] if features else []
        return shotad("evaluate", "threads", *words, *given)

    return call


LABELS = {"clip": "film.mp4", "shots": [[0, 0.4], [0.4, 0.8], [0.8, 1.2], [1.2, 1.6]], "clusters": [[0, 2]]}


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """A folder with a small film and labels of its threads."""
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(make_film(FilmSpec(frames=40, cuts=(10, 20, 30))).path, folder / "film.mp4")
    (folder / "film.json").write_text(json.dumps(LABELS), encoding="utf-8")
    return folder


def test_the_sample_film_end_to_end(threads: Shotad, tmp_path: Path) -> None:
    truths = json.loads((SAMPLE / "sample.truths.json").read_text(encoding="utf-8"))
    shots = [shot["seconds"] for shot in truths["shots"]]
    record = {"clip": truths["film"], "shots": shots, "clusters": truths["threads"]}
    labels = tmp_path / "data"
    labels.mkdir()
    (labels / "sample.json").write_text(json.dumps(record), encoding="utf-8")
    said = threads(labels, "--films", SAMPLE)
    assert said.code == 0, said.err
    assert "Clips: 1. Shots: 10. Pairs of shots: 45, from one camera set-up: 2." in said.out
    assert "paper: DINOv2-g14" in said.out
    assert "0.902" in said.out
    assert "Scoring clips" in said.err
    record = json.loads((labels.parent / "data.shotad" / "threads.json").read_text(encoding="utf-8"))
    assert record["n"] == {"clips": 1, "scored": 1, "failed": 0}
    (overall,) = record["overall"]
    assert overall["counts"]["together"] == 2
    # The same photograph twice, and the rocket's pad twice: found without weights too.
    assert overall["pooled"]["ap"] > 0.9
    assert overall["counts"]["right"] >= 1


def test_the_table_repeats_table_1(threads: Shotad, labels: Path) -> None:
    said = threads(labels, "--table")
    assert said.code == 0, said.err
    ours = said.out[: said.out.index("For comparison")]
    for row in ("side    patches", "mid     patches", "all     patches", "side    whole"):
        assert ours.count(row) == 2, "pooled and mean of clips"
    record = json.loads((labels.parent / "data.shotad" / "threads.json").read_text(encoding="utf-8"))
    assert [(row["frames"], row["match"]) for row in record["overall"]] == [
        ("side", "patches"),
        ("mid", "patches"),
        ("all", "patches"),
        ("side", "whole"),
    ]
    assert len(record["clips"]) == 4
    lines = (labels.parent / "data.shotad" / "threads.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4


def test_a_failed_clip_is_told_and_the_exit_code_is_1(threads: Shotad, labels: Path) -> None:
    (labels / "broken.mp4").write_bytes(b"This is not a film.\n" * 50)
    broken = {"clip": "broken.mp4", "shots": [[0, 1], [1, 2]], "clusters": [[0, 1]]}
    (labels / "broken.json").write_text(json.dumps(broken), encoding="utf-8")
    said = threads(labels)
    assert said.code == 1
    assert "1 of 2 clips failed; in all figures they count as nothing found" in said.out
    assert "broken.json: broken.mp4" in said.out
    assert "broken.json: broken.mp4" in said.err
    assert "Traceback" not in said.err
    value = json.loads(threads(labels, "--json").out)
    assert value["n"] == {"clips": 2, "scored": 1, "failed": 1}
    assert value["overall"][0]["counts"]["together"] == 2


def test_wrong_labels_are_refused_before_anything_is_done(threads: Shotad, labels: Path) -> None:
    wrong = {**LABELS, "clusters": [[1, 3], [3, 40]]}
    (labels / "wrong.json").write_text(json.dumps(wrong), encoding="utf-8")
    said = threads(labels)
    assert said.code == 1
    assert said.err.startswith("Error: wrong.json: shot 3 stands in clusters 0 and 1")
    assert not (labels.parent / "data.shotad").exists()


def test_other_json_is_named(threads: Shotad, labels: Path) -> None:
    (labels / "other.json").write_text("{}", encoding="utf-8")
    assert "No labels, left alone: other.json" in threads(labels).err
