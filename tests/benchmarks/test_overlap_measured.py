"""What `benchmarks/overlap.py` tells of a run: waits of Stage I, medians."""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import overlap

from tests.media import FilmSpec, make_film

SPEC = FilmSpec(frames=300, rate=Fraction(10), cuts=tuple(range(24, 300, 24)))


def test_the_share_of_time_without_a_call() -> None:
    assert overlap.unasked([(1.0, 3.0)]) == 0
    assert overlap.unasked([(4.0, 6.0), (1.0, 3.0)]) == pytest.approx(1 / 5)
    assert overlap.unasked([(0.0, 4.0), (1.0, 2.0), (5.0, 10.0)]) == pytest.approx(1 / 10)


def test_both_ways_write_the_same(tmp_path: Path) -> None:
    options = argparse.Namespace(stage1=0.05, stage2=0.0, in_flight=1, runs=1)
    told = overlap.compared(make_film(SPEC).path, options, tmp_path / "work")
    assert told["same_files"]
    assert set(told["ways"]) == set(overlap.WAYS)
    assert told["ways"]["in turn"]["to_in_turn"] == 1
    for way in told["ways"].values():
        assert way["slots"] > 0
        assert 0 < way["stage1_first_call"] < way["wall"]
        assert 0 <= way["stage1_unasked"] < 1
