"""The table that people read: our rows, the paper's, what is not defined, and long lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shotad.core import Interval
from shotad.evaluation import TABLE, Setup
from shotad.evaluation.thread_figures import ClipScores, SetupResult, matrix_of, setup_result
from shotad.evaluation.thread_labels import LabelledClip
from shotad.evaluation.thread_run import LISTED, PAPER, table
from shotad.grammar import threads_of


def clip(name: str, clusters: tuple[tuple[int, ...], ...] = ((0, 1),), shots: int = 3) -> LabelledClip:
    times = tuple(Interval(k, k + 1) for k in range(shots))
    return LabelledClip(name, f"{name}.mp4", Path(f"{name}.mp4"), times, clusters)


def result(clips: list[ClipScores], setup: Setup = TABLE[0], threshold: float | None = 0.3) -> SetupResult:
    return setup_result(setup, clips, threshold, threads_of)


GOOD = np.array([0.9, 0.1, 0.2])


def test_the_paper_s_rows_stand_beside_ours() -> None:
    text = table([result([ClipScores(clip("a"), GOOD)])], "grid 1")
    assert "Features: grid 1." in text
    ours = next(line for line in text.splitlines() if "pooled" in line)
    assert ours.split()[-6:] == ["1.000"] * 6
    rows = [line for line in text.splitlines() if "paper: " in line]
    assert len(rows) == len(PAPER) == 6
    assert rows[-1].split() == ["side", "patches", "paper:", "DINOv2-g14", "0.902", "0.878", "0.799", "0.965"]
    assert rows[0].split() == ["side", "whole", "paper:", "CLIP-L14", "0.705", "0.691", "0.635", "0.922"]
    assert "Tuned" not in text
    assert "a: AP 1.000, P 1.000, R 1.000, WCP 1.000; 3 shots, 2 threads for 2." in text


def test_what_is_not_defined_is_a_dash() -> None:
    text = table([result([ClipScores(clip("a", ()), GOOD)], threshold=0.95)], "grid 1")
    assert "a: AP –, P –, R –, WCP 1.000" in text


def test_long_lists_are_cut_and_say_so() -> None:
    many = [ClipScores(clip(f"c{k:03}"), GOOD) for k in range(LISTED + 5)]
    text = table([result(many)], "grid 1")
    assert f"c{LISTED - 1:03}: AP" in text
    assert f"c{LISTED:03}" not in text
    assert "the others stand in threads.json" in text
    failed = [ClipScores(clip(f"f{k:03}"), None, "It is gone.") for k in range(LISTED + 5)]
    text = table([result(failed)], "grid 1")
    assert f"{LISTED + 5} of {LISTED + 5} clips failed" in text
    assert "f000: It is gone." in text
    assert f"f{LISTED:03}" not in text


def test_a_tuned_threshold_is_called_so() -> None:
    setup = Setup("side", "whole")
    tuned = result([ClipScores(clip("a"), np.array([0.8, 0.4, 0.4]))], setup, None)
    assert tuned.threshold == pytest.approx(0.6)
    text = table([tuned], "grid 1")
    assert "pooled, > 0.6, tuned" in text
    assert "only AP is a fair figure there" in text


def test_scores_by_rows_as_a_matrix() -> None:
    assert matrix_of(np.array([0.1, 0.2, 0.3]), 3).tolist() == [[1, 0.1, 0.2], [0.1, 1, 0.3], [0.2, 0.3, 1]]


def test_a_set_up_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="both"):
        Setup("both", "patches")  # type: ignore[arg-type]
