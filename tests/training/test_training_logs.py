"""Figures by step: nothing stands twice after a resume, columns may grow, TensorBoard may be missing."""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path

import pytest

from shotad.core import DatasetError
from shotad.grammar.training_records import MetricLog


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def plain(folder: Path, resume_after: int | None = None) -> MetricLog:
    return MetricLog(folder, resume_after=resume_after, tensorboard=False)


def test_a_row_is_there_as_soon_as_it_is_added(tmp_path: Path) -> None:
    log = plain(tmp_path / "a" / "b")
    assert (tmp_path / "a/b/metrics.csv").read_text() == "step\n"
    log.add(1, {"loss": 0.5})
    assert (tmp_path / "a/b/metrics.csv").read_text() == "step,loss\n1,0.5\n"
    log.add(20, {"loss": 1 / 3})
    assert (tmp_path / "a/b/metrics.csv").read_text() == "step,loss\n1,0.5\n20,0.33333333\n"


def test_columns_grow_and_old_rows_stay_empty_there(tmp_path: Path) -> None:
    with plain(tmp_path) as log:
        log.add(1, {"loss": 2.0})
        log.add(2, {"loss": 1.0, "val accuracy, all": 0.25})
        log.add(3, {"rate": 1e-5})
    assert table(tmp_path) == [
        {"step": "1", "loss": "2", "val accuracy, all": "", "rate": ""},
        {"step": "2", "loss": "1", "val accuracy, all": "0.25", "rate": ""},
        {"step": "3", "loss": "", "val accuracy, all": "", "rate": "1e-05"},
    ]
    assert [dict(row) for row in log.rows] == table(tmp_path)
    assert not list(tmp_path.glob("*.part"))


def test_figures_that_are_no_numbers_are_written_as_such(tmp_path: Path) -> None:
    with plain(tmp_path) as log:
        log.add(1, {"loss": math.nan, "norm": math.inf})
    assert table(tmp_path) == [{"step": "1", "loss": "nan", "norm": "inf"}]


def test_resuming_takes_out_what_came_after(tmp_path: Path) -> None:
    with plain(tmp_path) as log:
        for step in range(1, 8):
            log.add(step, {"loss": float(step)})
    with plain(tmp_path, resume_after=4) as log:
        assert [row["step"] for row in log.rows] == ["1", "2", "3", "4"]
        log.add(5, {"loss": 50.0, "accuracy": 0.5})
    assert [(row["step"], row["loss"]) for row in table(tmp_path)] == [
        ("1", "1"), ("2", "2"), ("3", "3"), ("4", "4"), ("5", "50"),
    ]  # fmt: skip


def test_an_interrupted_run_and_one_in_one_go_write_the_same(tmp_path: Path) -> None:
    def figures(step: int) -> dict[str, float]:
        return {"loss": 1 / step} if step % 3 else {"loss": 1 / step, "accuracy": step / 10}

    with plain(tmp_path / "whole") as log:
        for step in range(1, 10):
            log.add(step, figures(step))
    for start, stop in ((1, 6), (4, 8), (8, 10)):
        with plain(tmp_path / "torn", resume_after=start - 1) as log:
            for step in range(start, stop):
                log.add(step, figures(step))
    assert (tmp_path / "torn/metrics.csv").read_bytes() == (tmp_path / "whole/metrics.csv").read_bytes()


def test_without_resuming_it_begins_anew(tmp_path: Path) -> None:
    for _ in range(2):
        with plain(tmp_path) as log:
            log.add(1, {"loss": 1.0})
    assert len(table(tmp_path)) == 1


def test_resuming_where_nothing_is_begins_anew(tmp_path: Path) -> None:
    with plain(tmp_path, resume_after=10) as log:
        log.add(11, {"loss": 1.0})
    assert [row["step"] for row in table(tmp_path)] == ["11"]


def test_a_row_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("step,loss\n1,0.5\n2,0.4\n3,0.")
    with plain(tmp_path, resume_after=3) as log:
        log.add(4, {"loss": 0.25})
    assert [(row["step"], row["loss"]) for row in table(tmp_path)] == [
        ("1", "0.5"),
        ("2", "0.4"),
        ("4", "0.25"),
    ]


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "", "step,loss\nx,2\n", "step,loss\n\n1,2\n,5\n"])
def test_a_file_that_is_something_else_is_not_overwritten(tmp_path: Path, content: str) -> None:
    (tmp_path / "metrics.csv").write_text(content)
    with pytest.raises(DatasetError, match=r"metrics\.csv") as caught:
        plain(tmp_path, resume_after=1)
    assert caught.value.hint
    assert (tmp_path / "metrics.csv").read_text() == content


def test_steps_ascend(tmp_path: Path) -> None:
    with plain(tmp_path) as log:
        log.add(3, {"loss": 1.0})
        for step in (3, 2):
            with pytest.raises(ValueError, match=f"got {step} after 3"):
                log.add(step, {"loss": 1.0})
        with pytest.raises(ValueError, match="cannot be named step"):
            log.add(4, {"step": 1.0})
    with plain(tmp_path, resume_after=3) as log, pytest.raises(ValueError, match="got 3 after 3"):
        log.add(3, {"loss": 1.0})


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


def test_without_tensorboard_training_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with MetricLog(tmp_path) as log:
        assert log.note is not None
        assert "shotad[train]" in log.note
        log.add(1, {"loss": 1.0})
    assert len(table(tmp_path)) == 1
    assert not (tmp_path / "tensorboard").exists()
