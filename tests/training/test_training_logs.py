"""Figures by step: nothing stands twice after a resume, columns may grow, TensorBoard may be missing."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from shotad.grammar.training_records import MetricLog


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def plain(folder: Path, resume_after: int | None = None) -> MetricLog:
    return MetricLog(folder, resume_after=resume_after, tensorboard=False)


def test_resuming_takes_out_what_came_after_and_what_was_cut_off(tmp_path: Path) -> None:
    """Of a log with other columns too, as earlier versions wrote it."""
    (tmp_path / "metrics.csv").write_text("step,train/lr,train/loss\n1,1,0.5\n2,1,0.4\n3,1,0.3\n4,1,0.")
    with plain(tmp_path, resume_after=2) as log:
        log.add(3, {"train/loss": 50.0})
    assert [(row["step"], row["train/loss"]) for row in table(tmp_path)] == [
        ("1", "0.5"), ("2", "0.4"), ("3", "50"),
    ]  # fmt: skip
    with plain(tmp_path) as log:
        log.add(1, {"train/loss": 1.0})
    assert len(table(tmp_path)) == 1, "without resuming it begins anew"


def test_tensorboard_gets_the_same_figures(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with MetricLog(tmp_path) as log:
        assert log.note is None
        for step in range(1, 6):
            log.add(step, {"train/loss": step / 2})
    with MetricLog(tmp_path, resume_after=3) as log:
        log.add(4, {"train/loss": 40.0})
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    found = [(event.step, event.value) for event in events.Scalars("train/loss")]
    assert found == [(1, 0.5), (2, 1.0), (3, 1.5), (4, 40.0)]
