"""``shotad evaluate steps`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import Said, Shotad
from tests.evaluation.steps.stepjudges import GOOD, HERE

SCRIPTS = [
    {"id": "tea", "system": "ann", "goal": "Make tea", "constraint": "without milk", "steps": GOOD["Make tea"]},
    {"id": "tea", "system": "bob", "goal": "Make tea", "constraint": "without milk", "steps": GOOD["Make tea"][1:]},
    {"id": "bulb", "system": "ann", "goal": "Change a bulb", "steps": GOOD["Change a bulb"]},
]  # fmt: skip


@pytest.fixture
def steps(shotad: Shotad, tmp_path: Path) -> Shotad:
    path = tmp_path / "scripts.jsonl"
    path.write_text("".join(json.dumps(script) + "\n" for script in SCRIPTS), encoding="utf-8")

    def call(*words: object) -> Said:
        return shotad("evaluate", "steps", path, "--cache", tmp_path / "kept.sqlite", *words)

    return call


def test_all_of_it_as_text_and_as_json(steps: Shotad, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("id,system,no-missing,goal\ntea,ann,1,1\ntea,bob,1,1\n", encoding="utf-8")
    words = ("--judge", f"{HERE}:Careful", "--baseline", "--planted", "rules", "--people", people)
    said = steps(*words)
    assert said.code == 0, said.err
    lines = [line.split() for line in said.out.splitlines()]
    assert "3 scripts of 2 tasks, judged by tests.evaluation.steps.stepjudges:Careful." in said.out
    assert ["ann", "agents", "2", *["1.000"] * 8] in lines
    assert ["bob", "single", "1", "0.000", *["1.000"] * 6, "0.857"] in lines
    assert ["Mean", "squared", "error", "agents", "0.250", "0.500", "–", "–", "–", "–", "0.000", "–"] in lines
    assert ["missing", "agents", "3", "1.000", "0.333", "1.000", "0.250", "not", "shown", "0.84"] in lines
    assert ["order", "single", "3", "1.000", "0.000", "1.000", "0.125", "not", "shown", "0.84"] in lines
    record = json.loads(steps(*words, "--json", "--out", tmp_path / "o").out)
    assert json.loads((tmp_path / "o" / "steps.json").read_text(encoding="utf-8")) == record
    (judge,) = record["judges"]
    assert [score["score"] for score in judge["scores"] if score["system"] == "ann"] == [1.0, 1.0]


def test_answers_that_cannot_be_read_are_told_by_the_exit_code(steps: Shotad) -> None:
    said = steps("--judge", f"{HERE}:Mute")
    assert said.code == 1
    assert "Not all answered, counts as 0 (agents): 3: tea (ann), tea (bob), bulb (ann)." in said.out
