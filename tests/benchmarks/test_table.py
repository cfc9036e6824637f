"""The table of benchmarks: figures, growth, turns, what is shown, and that docs/benchmarks.md shows what was measured."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import pages
import table
import table_parts
from table_parts import endtoend, figures, kinds, running, show, stage
from table_parts.kinds import Contest, Entrant, Growth, Report, Run, Target
from table_parts.shots import SAME, _told

from shotad.core import Given, NoProgress, WorkFolder, load_config
from shotad.description import Bench, prepare
from shotad.film import open_film

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"


def entrant(name: str, role: str, *seconds: float, peak: float = 100.0, **more: Any) -> Entrant:
    runs = tuple(Run(turn, wall, wall * 2, peak, {"frames": 10}) for turn, wall in enumerate(seconds))
    return Entrant(name, role, runs=runs, **more)  # type: ignore[arg-type]


def contest(**more: Any) -> Contest:
    own: dict[str, Any] = {
        "part": "shots",
        "name": "a film, 720p",
        "entrants": (
            entrant("exact", "ours", 1.2, 2.4, 1.3),
            entrant("decoding", "limit", 1.0, 2.0, 1.0, peak=50.0),
            entrant("library", "rival", missing="it is not installed"),
        ),
        "seconds": 24.0,
        "same": ("frames",),
        "targets": (Target("exact", "decoding", "wall", 1.25),),
    }
    return Contest(**{**own, **more})


def growth(*by_length: tuple[float, ...], peaks: tuple[float, ...] = (100, 101, 102, 104)) -> Growth:
    entrants = tuple(
        entrant(f"{n} times", "ours", *seconds, peak=peak)
        for n, seconds, peak in zip((1, 2, 4, 8), by_length, peaks, strict=True)
    )
    return Growth("shots", "the one pass", "s of film", 45.0, entrants)


def report(**more: Any) -> Report:
    own: dict[str, Any] = {
        "made": "2026-11-21",
        "machine": {"words": "a processor, 2 cores", "load_before": 0.1, "load_after": 1.9},
        "versions": {"python": "3.11", "decord": "not installed"},
        "contests": (contest(),),
        "growths": (growth((1.0, 1.01), (2.0, 2.02), (4.0, 3.98), (8.0, 8.02)),),
        "left_out": (("growth of something", "too long"),),
    }
    return Report(**{**own, **more})


# Figures


def test_ratios_are_those_within_a_turn() -> None:
    found = figures.ratio(*contest().entrants[:2], "wall")
    # The medians' ratio would be 1.3; the machine was twice as slow in the second turn, for both.
    assert found is not None
    assert found.median == pytest.approx(1.2)
    assert (found.least, found.most, found.n) == (pytest.approx(1.2), pytest.approx(1.3), 3)


def test_only_turns_in_which_both_ran_count() -> None:
    ours, other = entrant("a", "ours", 2.0, 2.0, 2.0), entrant("b", "rival", 1.0)
    found = figures.ratio(ours, replace(other, runs=(replace(other.runs[0], turn=1),)), "cpu")
    assert found is not None
    assert found.n == 1
    assert figures.ratio(ours, entrant("b", "rival"), "cpu") is None


@pytest.mark.parametrize(("most", "met"), [(1.25, True), (1.2, True), (1.19, False)])
def test_a_target_is_of_the_median_ratio(most: float, met: bool) -> None:
    target = Target("exact", "decoding", "wall", most)
    assert figures.met(contest(targets=(target,)), target) is met


def test_a_target_against_one_that_is_missing_is_neither_met_nor_missed() -> None:
    target = Target("exact", "library", "wall", 1.0)
    assert figures.met(contest(targets=(target,)), target) is None
    assert show.missed(report(contests=(contest(targets=(target,)),))) == []


@pytest.mark.parametrize(
    ("values", "same"),
    [
        ((5.71752, 5.71707), True),
        ((5.72, 5.70), False),
        ((10, 11), False),
        ((10_000, 10_001), False),
        ((3.0, 3.0001), False),
    ],
)
def test_measures_must_be_near_and_counts_equal(values: tuple[float, float], same: bool) -> None:
    two = [
        replace(one, runs=tuple(replace(run, counts={"frames": value}) for run in one.runs))
        for one, value in zip(contest().entrants, values, strict=False)
    ]
    assert (figures.disagreements(contest(entrants=tuple(two))) == []) is same


def test_who_did_something_else_is_told() -> None:
    assert figures.disagreements(contest()) == []
    other = entrant("decoding", "limit", 1.0)
    strange = replace(other, runs=(replace(other.runs[0], counts={"frames": 9}),))
    told = figures.disagreements(contest(entrants=(contest().entrants[0], strange)))
    assert told == ["shots, a film, 720p: frames differ (exact: 10; decoding: 9)"]


@pytest.mark.parametrize("exponent", [0.8, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("fixed", [0.0, 5.0])
def test_the_exponent_is_found_behind_a_fixed_cost(exponent: float, fixed: float) -> None:
    times = np.repeat([1.0, 2.0, 4.0, 8.0], 2)
    found = figures.fit(times.tolist(), (fixed + times**exponent).tolist())
    assert found.exponent == pytest.approx(exponent, abs=0.02)
    assert found.fixed == pytest.approx(fixed, abs=0.1)
    assert found.low <= exponent <= found.high


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_holds_the_truth_with_noise_and_grows_with_it(seed: int) -> None:
    chance = np.random.default_rng(seed)
    times = np.repeat([1.0, 2.0, 4.0, 8.0], 3)
    noise = chance.standard_normal(len(times))
    calm = figures.fit(times.tolist(), (times * (1 + 0.005 * noise)).tolist())
    wild = figures.fit(times.tolist(), (times * (1 + 0.05 * noise)).tolist())
    assert calm.low - 0.01 <= 1.0 <= calm.high + 0.01
    assert wild.high - wild.low > calm.high - calm.low


def test_verdicts() -> None:
    assert figures.Fit(1.0, 0.95, 1.08, 0.0).verdict == "linear or better"
    assert figures.Fit(1.4, 1.2, 1.6, 0.0).verdict == "grows faster"
    assert figures.Fit(1.0, 0.7, 1.4, 0.0).verdict == "not to be told apart from linear"
    assert figures.Fit(1.08, 1.02, 1.15, 0.0).verdict == "hardly faster than linear"


def test_a_square_is_not_taken_for_a_line() -> None:
    found = figures.grown(growth((1.0, 1.0), (4.0, 4.1), (16.0, 15.9), (64.0, 64.5)))
    assert found is not None
    assert found.fit is not None
    assert found.fit.verdict == "grows faster"


@pytest.mark.parametrize("seconds", [[1.0, 2.0, 4.0], [1.0, 2.0, 0.0, 8.0]])
def test_too_few_or_no_costs_are_refused(seconds: list[float]) -> None:
    with pytest.raises(ValueError, match="at least four costs"):
        figures.fit([1.0, 2.0, 4.0, 8.0][: len(seconds)], seconds)


def test_memory_is_flat_up_to_a_border() -> None:
    some = [(1.0,)] * 4
    flat, grows = growth(*some, peaks=(100, 100, 100, 115)), growth(*some, peaks=(100, 100, 100, 116))
    assert [one.flat for one in (figures.grown(flat), figures.grown(grows)) if one] == [True, False]


@pytest.mark.parametrize(
    ("value", "told"),
    [(0.01234, "0.0123"), (0.5, "0.500"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123"), (0, "0")],
)
def test_three_digits_count(value: float, told: str) -> None:
    assert figures.shown(value) == told


# Turns


def test_all_take_turns_side_by_side_and_in_changing_order() -> None:
    seen = list(running.schedule([(3, None), (2, 1)], 3))
    assert len(seen) == len(set(seen)) == 3 * 3 + 2
    by_turn = [[e for t, c, e in seen if t == turn and c == 0] for turn in range(3)]
    assert by_turn == [[0, 1, 2], [0, 2, 1], [2, 0, 1]]
    # Those that are compared run one after the other: no other contest comes between.
    assert [c for _, c, _ in seen] == [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0]


class Told(running.Runner):
    """A runner that measures nothing."""

    def one(self, entrant: Entrant, turn: int) -> Run | str:
        return "failed: it broke" if entrant.name == "broken" else Run(turn, 1.0 + turn, 2.0, 3.0)


def test_who_fails_is_not_run_again_and_the_others_go_on(tmp_path: Path) -> None:
    said: list[str] = []
    some = contest(
        entrants=(Entrant("fine", "ours"), Entrant("broken", "rival")), same=(), targets=(), turns=3
    )
    grows = growth((), (), (), ())
    (found,), (grew,) = Told(tmp_path, said.append, 1).all([some], [grows], 4)
    fine, broken = found.entrants
    assert [run.wall for run in fine.runs] == [1.0, 2.0, 3.0]
    assert (broken.runs, broken.missing) == ((), "failed: it broke")
    assert sum("it broke" in line for line in said) == 1
    assert [len(e.runs) for e in grew.entrants] == [4, 4, 4, 4]


def test_what_was_found_is_kept_after_each_turn(tmp_path: Path) -> None:
    kept: list[int] = []
    runner = Told(tmp_path, lambda _: None, 1, lambda some, _: kept.append(len(some[0].entrants[0].runs)))
    runner.all([contest(entrants=(Entrant("fine", "ours"),), same=(), targets=())], [], 3)
    assert kept == [1, 2, 3]


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


ENDLESS = """
import subprocess, sys, time
from pathlib import Path
from table_parts.running import Done

def endless(given, scratch: Path):
    def run():
        other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(given["told"]).write_text(str(other.pid))
        other.wait()
        return Done()
    return run

def chatty(given, scratch: Path):
    import atexit
    atexit.register(print, "bye")
    return lambda: Done()
"""


def test_a_measurement_that_is_given_up_leaves_no_program_behind(
    work: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS, encoding="utf-8")
    told = tmp_path / "pid"
    runner = running.Runner(tmp_path, lambda _: None, 1)
    monkeypatch.setattr(running, "PATIENCE", 10.0)
    assert (
        runner.one(Entrant("a", "ours", "endless:endless", {"told": str(told)}), 0) == "took more than 10 s"
    )
    gone = time.monotonic() + 20
    while _runs(int(told.read_text())) and time.monotonic() < gone:
        time.sleep(0.05)
    assert not _runs(int(told.read_text()))


def _runs(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_measurement_whose_last_word_is_no_figure_has_failed(work: str, tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS, encoding="utf-8")
    found = running.Runner(tmp_path, lambda _: None, 1).one(Entrant("a", "ours", "endless:chatty", {}), 0)
    assert isinstance(found, str)
    assert found.startswith("failed: no figures in what it printed: ")


# Text and JSON


def test_a_report_comes_back_from_its_json() -> None:
    whole = report()
    assert Report.from_json(json.loads(json.dumps(whole.to_json()))) == whole


def test_no_path_of_the_machine_stands_in_the_json() -> None:
    some = contest(
        entrants=(replace(contest().entrants[0], given={"film": "/somewhere/film.mp4"}),), targets=()
    )
    assert "somewhere" not in json.dumps(report(contests=(some,)).to_json())


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: contest(entrants=(entrant("a", "ours"), entrant("a", "rival")), targets=()), "of their own"),
        (lambda: contest(targets=(Target("exact", "nobody", "wall", 1.0),)), "names nobody"),
        (lambda: kinds.Growth("p", "n", "s", 1.0, ()), "4 lengths, got 0 entrants"),
        (lambda: Run(0, -1.0, 0.0, 0.0), "must not be negative"),
    ],
)
def test_what_cannot_be_is_refused(make: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


ROW = (
    "| a film, 720p | exact against decoding (limit) | 1.20 (1.20 to 1.30, 3 turns), target 1.25 met "
    "| 1.20 (1.20 to 1.30, 3 turns) | 1.30 s, 0.0542 of the film | 100 / 50 |"
)


def test_the_markdown_shows_ratio_spread_rival_and_target() -> None:
    lines = show.markdown(report()).splitlines()
    assert ROW in lines
    assert "| a film, 720p | exact against library | it is not installed | – | – | – |" in lines
    (grows,) = [line for line in lines if line.startswith("| shots: the one pass")]
    assert "| 45 s of film | 2.01, 4.02, 7.98, 16.0 | " in grows
    assert "| linear or better | 100, 101, 102, 104: flat (+4%, +4 MB) |" in grows
    assert "- growth of something: too long." in lines
    assert "2 cores, load 0.1 before and 1.9 after; python 3.11. " in lines[0]


def test_each_part_has_a_table_of_its_own() -> None:
    other = contest(part="frames", name="clips", targets=())
    lines = show.markdown(report(contests=(contest(), other, contest(name="another")))).splitlines()
    heads = [line.split(" | ")[0] for line in lines if " | ours against | " in line]
    assert heads == ["| shots", "| frames"]
    assert [line.split(" | ")[0] for line in lines if "decoding (limit)" in line] == [
        "| a film, 720p",
        "| another",
        "| clips",
    ]


@pytest.mark.parametrize(("load", "warned"), [(1.0, False), (1.1, True)])
def test_a_busy_machine_is_told(load: float, warned: bool) -> None:
    machine = {"words": "a processor, 2 cores", "cores": 2, "load_before": load, "load_after": 2.0}
    assert ("Others were at work" in show.markdown(report(machine=machine))) is warned


def test_a_missed_target_is_told() -> None:
    some = contest(targets=(Target("exact", "decoding", "wall", 1.1),))
    assert "3 turns), target 1.1 MISSED |" in show.markdown(report(contests=(some,)))
    assert show.missed(report(contests=(some,))) == [
        "shots, a film, 720p, exact against decoding: wall above 1.1"
    ]


def test_a_bar_in_a_name_does_not_break_the_table() -> None:
    assert show.pipes([("a",), ("b | c",)]).splitlines()[2:] == ["| b \\| c |"]


# The page


PAGE = """# Page

<!-- benchmarks: results/table.json -->
old
<!-- benchmarks end -->

End.
"""


def run_table(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / "table.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_page_is_filled_from_the_json(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    source = tmp_path / "results" / "table.json"
    source.write_text(json.dumps(report().to_json()), encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    done = run_table("--show", str(source), "--into", str(page))
    assert done.returncode == 0, done.stderr
    filled = page.read_text(encoding="utf-8")
    assert pages.blocks(filled, "benchmarks") == {"results/table.json": show.markdown(report())}
    assert filled.startswith("# Page\n")
    assert filled.endswith("-->\n\nEnd.\n")
    assert pages.put_into(filled, "benchmarks", {"results/table.json": show.markdown(report())}) == filled
    printed = run_table("--show", str(source))
    assert printed.stdout == show.markdown(report()) + "\n"


def outdated(page: Path) -> list[str]:
    """The files whose block in a page is not what they say."""
    return [
        source
        for source, told in pages.blocks(page.read_text(encoding="utf-8"), "benchmarks").items()
        if told != show.markdown(Report.from_json(json.loads((page.parent / source).read_text("utf-8"))))
    ]


def test_a_figure_changed_by_hand_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "table.json").write_text(json.dumps(report().to_json()), encoding="utf-8")
    page.write_text(
        pages.put_into(PAGE, "benchmarks", {"results/table.json": show.markdown(report())}), encoding="utf-8"
    )
    assert outdated(page) == []
    page.write_text(page.read_text(encoding="utf-8").replace("1.20 (", "0.20 (", 1), encoding="utf-8")
    assert outdated(page) == ["results/table.json"]


def test_the_page_of_benchmarks_shows_what_was_measured() -> None:
    page = ROOT / "docs" / "benchmarks.md"
    assert pages.blocks(page.read_text(encoding="utf-8"), "benchmarks")
    assert outdated(page) == []


def test_an_unknown_part_is_refused_with_the_names() -> None:
    done = run_table("--only", "shots,colour")
    assert done.returncode == 2
    assert "no part 'colour'; there are: shots, frames" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--runs", "0"], "--runs must be 1 or more, got 0"),
        (["--into", "README.md"], "--into needs --show"),
        (["--show", "nowhere.json"], "nowhere.json is no file of results"),
        (["--film", "nowhere.mp4", "--only", "shots"], "A film cannot be read: "),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_measured(words: list[str], said: str) -> None:
    done = run_table(*words)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_page_without_the_block_is_told_and_left_alone(tmp_path: Path) -> None:
    source, page = tmp_path / "other.json", tmp_path / "page.md"
    source.write_text(json.dumps(report().to_json()), encoding="utf-8")
    page.write_text(PAGE, encoding="utf-8")
    done = run_table("--show", str(source), "--into", str(page))
    assert done.returncode == 1
    assert "must have each of the benchmarks blocks ['other.json'] once" in done.stderr
    assert "Traceback" not in done.stderr
    assert page.read_text(encoding="utf-8") == PAGE


# Plans


@pytest.mark.slow
def test_reading_is_what_describe_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work that the table measures as reading gives the slots that `shotad slots` plans."""
    sample = ROOT / "tests" / "sample" / "sample.mp4"
    found = endtoend.reading({"film": str(sample)}, tmp_path)().counts
    config = load_config(None, ["slots.find_credits=false"])
    with open_film(sample) as film, WorkFolder(tmp_path / "other") as folder:
        slots = len(prepare(Bench.of(film, folder, config, Given(), NoProgress())).slots)
    assert found == {"slots": slots, "frames of clips": slots * 32}
    assert slots > 1
    assert endtoend.decoding({"film": str(sample)}, tmp_path)().counts["frames"] > 24 * 40


GOOD = """
from table_parts.kinds import Contest, Entrant
from table_parts.stage import Plan

def plan(stage):
    return Plan((Contest("good", "one", (Entrant("fine", "ours", "made_work:work", {"bytes": 1}),)),))
"""
BAD = """
def plan(stage):
    raise RuntimeError("no room")
"""


def test_a_part_that_cannot_be_got_ready_stops_no_other(
    work: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("good", GOOD), ("bad", BAD)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.setitem(table.PARTS, name, name)
    monkeypatch.setattr(table_parts, "__path__", [*table_parts.__path__, str(tmp_path)])
    into = tmp_path / "a" / "folder" / "table.json"
    words = ["--only", "bad,good", "--runs", "1", "--json", str(into)]
    assert table.run(table.arguments(words), tmp_path) == 1
    found = Report.from_json(json.loads(into.read_text(encoding="utf-8")))
    assert [len(entrant.runs) for one in found.contests for entrant in one.entrants] == [1]
    assert found.left_out == (("bad", "could not be got ready: RuntimeError: no room"),)
    assert "- bad: could not be got ready: RuntimeError: no room." in capsys.readouterr().out
    assert table.run(table.arguments(["--only", "good", "--runs", "1"]), tmp_path) == 0


def film_of(path: Path, seconds: float) -> stage.FilmAt:
    return stage.FilmAt(path, "film", seconds, 360)


@pytest.mark.parametrize("part", ["shots", "frames", "features", "end-to-end", "rendering", "metrics"])
def test_without_growth_no_long_film_is_made(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def longer(self: stage.Stage, times: int, base: float) -> stage.FilmAt:
        assert times == 1, "a film is made for growth"
        return film_of(tmp_path / "film.mp4", 5.0)

    monkeypatch.setattr(stage.Stage, "longer", longer)
    monkeypatch.setattr(stage.Stage, "made", lambda self, *_: longer(self, 1, 0.0))
    module = importlib.import_module(f"table_parts.{table.PARTS[part]}")
    for name, given in (
        ("best_threads", ("AUTO", 0)),
        ("_plans", tmp_path),
        ("_film", (tmp_path, 60.0)),
    ):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, lambda *_, given=given: given)
    (tmp_path / "cmdad_anno.csv").write_text("cmd_filename,text\na,He waits.\nb,She goes.\n")
    plan = module.plan(stage.Stage(tmp_path, data=tmp_path, grows=False))
    assert plan.contests
    assert plan.growths == ()


def test_cuts_elsewhere_are_told_though_they_are_as_many() -> None:
    def one(name: str, role: str, cuts: list[int]) -> Entrant:
        return Entrant(name, role, runs=(Run(0, 1.0, 1.0, 1.0, _told(100, cuts).counts),))  # type: ignore[arg-type]

    entrants = (one("exact", "ours", [10, 50]), one("library", "rival", [10, 51]))
    (told,) = figures.disagreements(contest(entrants=entrants, same=SAME, targets=()))
    assert "sum of the cuts' frames differ (exact: 60; library: 61)" in told


def test_growth_is_of_films_that_double_and_double_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, float]] = []

    def longer(self: stage.Stage, times: int, base: float) -> stage.FilmAt:
        asked.append((times, base))
        return film_of(tmp_path / f"{times}.mp4", 5.04 * times)

    monkeypatch.setattr(stage.Stage, "longer", longer)
    (made,) = stage.Stage(tmp_path, runs=2).growth(
        "shots", "pass", "m:f", lambda film: {"film": film.path.name}, base=7.0, turns=9
    )
    assert asked == [(1, 7.0), (2, 7.0), (4, 7.0), (8, 7.0)]
    assert [e.given["film"] for e in made.entrants] == ["1.mp4", "2.mp4", "4.mp4", "8.mp4"]
    assert (made.base, made.turns) == (5.0, 2)


def test_the_made_films_are_as_many_times_as_long(tmp_path: Path) -> None:
    lengths = [stage.Stage(tmp_path).longer(times, 6.0).seconds for times in (1, 2, 4)]
    assert lengths[0] == pytest.approx(6.0, abs=3.0)
    assert lengths[1:] == pytest.approx([2 * lengths[0], 4 * lengths[0]], rel=0.02)
