"""``shotad evaluate stage`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import Said, Shotad
from tests.evaluation.stage.stagefilm import GRADER, MODEL, Grader, Model, write_film


@pytest.fixture
def stage(shotad: Shotad, tmp_path: Path) -> Shotad:
    folder = write_film(tmp_path / "film")
    for kind in (Model, Grader):
        kind.asked.clear()
    Model.tries.clear()

    def call(*words: object) -> Said:
        return shotad("evaluate", "stage", folder, "--cache", tmp_path / "kept.sqlite", *words)

    return call


def test_questions_as_text_and_json(stage: Shotad, tmp_path: Path) -> None:
    words = ("--task", "questions", "--engine", MODEL, "--judge", GRADER, "--top", 1)
    said = stage(*words, "--out", tmp_path / "out")
    assert said.code == 0, said.err
    assert "STAGE, question answering, 1 film: script answers, script judges." in said.out
    assert "bm25: pass@5 50.0 questions: 2" in " ".join(said.out.split())
    assert "bm25: average accuracy, Scene Grounding 40.0 tries: 5" in " ".join(said.out.split())
    assert (tmp_path / "out" / "stage.txt").read_text(encoding="utf-8").strip() == said.out.strip()
    record = json.loads((tmp_path / "out" / "stage.json").read_text(encoding="utf-8"))
    first = record["figures"][0]
    assert first == {
        "name": "bm25: pass@5", "value": 50.0, "low": None, "high": None, "of": 2.0, "what": "questions",
        "failed": 0,
    }  # fmt: skip
    assert record["items"][0]["said"] == [
        "A key.", "A key.", "Nobody knows.", "Nobody knows.", "Nobody knows.",
    ]  # fmt: skip
    asked = len(Model.asked), len(Grader.asked)
    assert json.loads(stage(*words, "--json").out) == record
    assert (len(Model.asked), len(Grader.asked)) == asked  # all was kept
    stage(*words, "--force")
    assert len(Model.asked) == 2 * asked[0]


def test_check(stage: Shotad, tmp_path: Path) -> None:
    said = stage("--check")
    assert (said.code, said.err) == (0, "")
    assert "timeline nodes          4" in said.out
    (tmp_path / "film" / "task_3_role_assets.json").write_text('{"roles": []}', encoding="utf-8")
    said = stage("--check", "--json")
    assert said.code == 1
    assert json.loads(said.out)["whole"] is False
