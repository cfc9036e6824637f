"""The table of benchmarks: figures, growth, turns, what is shown, and that docs/benchmarks.md shows what was measured."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import page_blocks
from table_parts import endtoend, figures, running, show
from table_parts.kinds import Contest, Entrant, Growth, Report, Run, Target

from shotad.core import Given, NoProgress, WorkFolder, load_config
from shotad.description import RunContext, prepare
from shotad.film import open_film

ROOT = Path(__file__).resolve().parents[2]


def entrant(name: str, role: str, *seconds: float, peak: float = 100.0, **more: Any) -> Entrant:
    runs = tuple(Run(turn, wall, wall * 2, peak, {"frames": 10}) for turn, wall in enumerate(seconds))
    return Entrant(name, role, runs=runs, **more)  # type: ignore[arg-type]


def contest(**more: Any) -> Contest:
    own: dict[str, Any] = {
        "part": "shots",
        "name": "a film, 720p",
        "entrants": (
            entrant("exact", "ours", 1.2, 2.4, 1.3), entrant("decoding", "limit", 1.0, 2.0, 1.0, peak=50.0),
            entrant("library", "rival", missing="it is not installed"),
        ),
        "seconds": 24.0,
        "same": ("frames",),
        "targets": (Target("exact", "decoding", "wall", 1.25),),
    }  # fmt: skip
    return Contest(**{**own, **more})


def growth(*by_length: tuple[float, ...], peaks: tuple[float, ...] = (100, 101, 102, 104)) -> Growth:
    entrants = tuple(
        entrant(f"{n} times", "ours", *seconds, peak=peak)
        for n, seconds, peak in zip((1, 2, 4, 8), by_length, peaks, strict=True)
    )
    return Growth("shots", "the one pass", "s of film", 45.0, entrants)


# Figures
def test_ratios_and_turns() -> None:
    found = figures.ratio(*contest().entrants[:2], "wall")
    # The medians' ratio would be 1.3; the machine was twice as slow in the second turn, for both.
    assert found is not None
    assert found.median == pytest.approx(1.2)
    assert (found.least, found.most, found.n) == (pytest.approx(1.2), pytest.approx(1.3), 3)
    seen = list(running.schedule([(3, None), (2, 1)], 3))
    assert len(seen) == len(set(seen)) == 3 * 3 + 2
    by_turn = [[e for t, c, e in seen if t == turn and c == 0] for turn in range(3)]
    assert by_turn == [[0, 1, 2], [0, 2, 1], [2, 0, 1]]
    # Those that are compared run one after the other: no other contest comes between.
    assert [c for _, c, _ in seen] == [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0]
    # The page of benchmarks shows what was measured.
    page = ROOT / "docs" / "benchmarks.md"
    assert page_blocks.blocks(page.read_text(encoding="utf-8"), "benchmarks")
    assert outdated(page) == []


@pytest.mark.parametrize("exponent", [0.8, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("fixed", [0.0, 5.0])
def test_the_exponent_is_found_behind_a_fixed_cost(exponent: float, fixed: float) -> None:
    times = np.repeat([1.0, 2.0, 4.0, 8.0], 2)
    found = figures.fit(times.tolist(), (fixed + times**exponent).tolist())
    assert found.exponent == pytest.approx(exponent, abs=0.02)
    assert found.fixed == pytest.approx(fixed, abs=0.1)
    assert found.low <= exponent <= found.high


# Turns


WORK = """
import sys
from pathlib import Path
from table_parts.running import Done

def work(given, scratch: Path):
    block = bytearray(given["bytes"])
    assert not list(scratch.iterdir())
    def run():
        if given.get("fail"):
            raise ValueError("it broke")
        more = bytearray(given["bytes"])
        return Done({"bytes": len(block) + len(more)}, less_cpu=99.0)
    return run
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "made_work.py").write_text(WORK, encoding="utf-8")
    paths = [str(tmp_path), str(ROOT)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    return "made_work:work"


def test_a_measurement_is_a_process_of_its_own(work: str, tmp_path: Path) -> None:
    runner = running.Runner(tmp_path, lambda _: None, 1)
    few = runner.one(Entrant("a", "ours", work, {"bytes": 1000}), 2)
    many = runner.one(Entrant("a", "ours", work, {"bytes": 60_000_000}), 2)
    assert isinstance(few, Run)
    assert isinstance(many, Run)
    assert (few.turn, few.counts, few.cpu) == (2, {"bytes": 2000}, 0.0)
    assert many.peak - few.peak == pytest.approx(120, abs=20)
    assert runner.one(Entrant("a", "ours", work, {"bytes": 1, "fail": True}), 0) == (
        "failed: ValueError: it broke"
    )


# Text and JSON


# The page
def outdated(page: Path) -> list[str]:
    """The files whose block in a page is not what they say."""
    return [
        source
        for source, told in page_blocks.blocks(page.read_text(encoding="utf-8"), "benchmarks").items()
        if told != show.markdown(Report.from_json(json.loads((page.parent / source).read_text("utf-8"))))
    ]


# Plans
@pytest.mark.slow
def test_reading_is_what_describe_reads(tmp_path: Path) -> None:
    """The work that the table measures as reading gives the slots that `shotad slots` plans."""
    sample = ROOT / "tests" / "sample" / "sample.mp4"
    found = endtoend.reading({"film": str(sample)}, tmp_path)().counts
    config = load_config(None, ["slots.find_credits=false"])
    with open_film(sample) as film, WorkFolder(tmp_path / "other") as folder:
        slots = len(prepare(RunContext.of(film, folder, config, Given(), NoProgress())).slots)
    assert found == {"slots": slots, "frames of clips": slots * 32}
    assert slots > 1
    assert endtoend.decoding({"film": str(sample)}, tmp_path)().counts["frames"] > 24 * 40
