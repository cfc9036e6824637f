"""What `benchmarks/overlap.py` tells of a run: waits of Stage I, early looks, medians."""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import overlap

from shotad.film import open_film
from tests.media import FilmSpec, make_film

SPEC = FilmSpec(frames=300, rate=Fraction(10), cuts=tuple(range(24, 300, 24)))


def test_the_share_of_time_without_a_call() -> None:
    assert overlap.unasked([(1.0, 3.0)]) == 0
    assert overlap.unasked([(4.0, 6.0), (1.0, 3.0)]) == pytest.approx(1 / 5)
    assert overlap.unasked([(0.0, 4.0), (1.0, 2.0), (5.0, 10.0)]) == pytest.approx(1 / 10)


def test_a_run_without_early_looks_has_none(tmp_path: Path) -> None:
    assert overlap.early_looks(tmp_path) == (0, 0)


def test_a_run_tells_of_its_early_looks(tmp_path: Path) -> None:
    film, spoken = make_film(SPEC).path, tmp_path / "spoken.vtt"
    with open_film(film) as opened:
        overlap.subtitles(spoken, opened.info.duration)
    options = argparse.Namespace(stage1=0.05, stage2=0.0, in_flight=1)
    run = overlap.run(film, spoken, "early", options, tmp_path / "work")
    assert 0 < run.early <= run.slots
    assert run.in_vain == 0
    assert 0 < run.first_call < run.table.wall
    assert 0 <= run.unasked < 1
    told = overlap.measured({way: [run] for way in overlap.WAYS})["ways"]["early"]
    assert (told["slots"], told["early"], told["in_vain"]) == (run.slots, run.early, 0)
    assert told["to_none"] == 1
