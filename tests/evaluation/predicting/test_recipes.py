"""The recipes of docs/reproduce.md for clusters: each task does its shard, and together they have done all."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evaluation.predicting.minidataset import CLIPS, make_cmd
from tests.shotad_process import PLAIN

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reproduce.md"

FAKE = ("engine=fake", "threads.features=grid", *PLAIN)

TASKS = {
    "SLURM_ARRAY_TASK_ID": [{"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": "1"} for task in range(1, 9)],
    "WORLD_SIZE": [
        {"RANK": str(rank), "LOCAL_RANK": str(rank % 2), "WORLD_SIZE": "3"} for rank in range(3)
    ],
}  # fmt: skip
"""By a variable that stands in the recipe: what is set for each task."""


def recipe(variable: str) -> str:
    """The lines of the one block of the page in which the variable stands."""
    (block,) = [
        text
        for text in re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
        if variable in text
    ]
    return block


# Eight programs, one after the other, that differ from three of torchrun's by names of variables.
@pytest.mark.parametrize(
    "variable", [pytest.param("SLURM_ARRAY_TASK_ID", marks=pytest.mark.long), "WORLD_SIZE"]
)
def test_the_tasks_of_a_cluster_do_all_ads_once(variable: str, tmp_path: Path) -> None:
    make_cmd(tmp_path / "cmd-ad")
    settings = " ".join(f"--set {setting}" for setting in FAKE)
    program = f'shotad() {{ "{sys.executable}" -m shotad "$@" {settings}; }}\n'
    for environment in TASKS[variable]:
        words = ["bash", "-euc", program + recipe(variable)]
        # 1: of a shard of clips that have no video every line fails.
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env={**_environment(), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
    rows = [
        json.loads(line)
        for part in tmp_path.glob("cmd.[0-9]*.jsonl")
        for line in part.read_text("utf-8").splitlines()
    ]
    ads = sum(len(slots) for _, slots in CLIPS.values())
    assert sorted(int(row["id"]) for row in rows) == list(range(ads))


def _environment() -> dict[str, str]:
    root = str(PAGE.parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
