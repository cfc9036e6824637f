"""The table of benchmarks: figures, growth, turns, what is shown, and that docs/benchmarks.md shows what was measured."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from common import blocks
from table import read_report
from table_parts import contests, endtoend, show
from table_parts.contests import Contest, Entrant, Run

from shotad.core import NoProgress, RunInputs, WorkFolder, load_config
from shotad.description import RunContext, prepare
from shotad.film import open_film
from tests.media import FilmSpec, SoundSpec, make_film

ROOT = Path(__file__).resolve().parents[2]


def entrant(name: str, role: str, *seconds: float) -> Entrant:
    runs = [Run(turn, wall, wall * 2, 100.0, {"frames": 10}) for turn, wall in enumerate(seconds)]
    return Entrant(name, role, runs=runs)  # type: ignore[arg-type]


def test_ratios_turns_and_the_page() -> None:
    found = show.ratios(
        entrant("exact", "ours", 1.2, 2.4, 1.3), entrant("decoding", "limit", 1, 2, 1), "wall"
    )
    # The medians' ratio would be 1.3; the machine was twice as slow in the second turn, for both.
    assert found == pytest.approx([1.2, 1.2, 1.3])
    a, b, c = (entrant(name, "rival") for name in "abc")
    two = [Contest("", "three", [a, b, c]), Contest("", "once", [a, b], turns=1)]
    seen = [(turn, contest.name, one.name) for turn, contest, one in contests.schedule(two, 3)]
    assert len(seen) == len(set(seen)) == 3 * 3 + 2
    by_turn = ["".join(n for t, name, n in seen if (t, name) == (turn, "three")) for turn in range(3)]
    assert by_turn == ["abc", "acb", "cab"]
    # Those that are compared run one after the other: no other contest comes between.
    assert [name for _, name, _ in seen] == ["three"] * 3 + ["once"] * 2 + ["three"] * 6
    # The page of benchmarks shows what was measured.
    page = ROOT / "docs" / "benchmarks.md"
    told = blocks(page.read_text(encoding="utf-8"), "benchmarks")
    assert told == {source: show.markdown(read_report(page.parent / source)) for source in told} != {}


@pytest.mark.parametrize("exponent", [0.8, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("fixed", [0.0, 5.0])
def test_the_exponent_is_found_behind_a_fixed_cost(exponent: float, fixed: float) -> None:
    times = np.repeat([1.0, 2.0, 4.0, 8.0], 2)
    found = show.fit(times.tolist(), (fixed + times**exponent).tolist())
    assert found.exponent == pytest.approx(exponent, abs=0.02)
    assert found.fixed == pytest.approx(fixed, abs=0.1)
    assert found.low <= exponent <= found.high


WORK = """
from pathlib import Path
from table_parts.contests import Done

def work(scratch: Path, size: int, fail: bool = False):
    block = bytearray(size)
    assert not list(scratch.iterdir())
    yield None
    if fail:
        raise ValueError("it broke")
    more = bytearray(size)
    yield Done({"bytes": len(block) + len(more)}, less_cpu=99.0)
"""


def test_a_measurement_is_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "made_work.py").write_text(WORK, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    work = importlib.import_module("made_work").work
    few = contests.run_one(Entrant("a", "ours", work, {"size": 1000}), 2, tmp_path)
    many = contests.run_one(Entrant("a", "ours", work, {"size": 60_000_000}), 2, tmp_path)
    assert isinstance(few, Run)
    assert isinstance(many, Run)
    assert (few.turn, few.counts, few.cpu) == (2, {"bytes": 2000}, 0.0)
    assert many.peak - few.peak == pytest.approx(120, abs=20)
    broken = contests.run_one(Entrant("a", "ours", work, {"size": 1, "fail": True}), 0, tmp_path)
    assert broken == "failed: ValueError: it broke"


def counted(steps: contests.Steps) -> Mapping[str, float]:
    *_, done = steps
    assert done
    return done.counts


@pytest.mark.slow
def test_reading_is_what_describe_reads(tmp_path: Path) -> None:
    """The work that the table measures as reading gives the slots that `shotad slots` plans."""
    sample = make_film(FilmSpec(frames=350, cuts=(100, 210), sounds=(SoundSpec(duration=14.0),))).path
    found = counted(endtoend.reading(tmp_path, str(sample)))
    config = load_config(None, ["slots.find_credits=false"])
    with open_film(sample) as film, WorkFolder(tmp_path / "other") as folder:
        slots = len(prepare(RunContext.of(film, folder, config, RunInputs(), NoProgress())).slots)
    assert found == {"slots": slots, "frames of clips": slots * 32}
    assert slots > 1
    assert counted(endtoend.decoding(tmp_path, str(sample)))["frames"] > 350
