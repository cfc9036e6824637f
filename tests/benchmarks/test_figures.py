"""Arithmetic of what is measured: the truth of characters, the cost model, and CML-Bench's published averages and tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import cml_bench
import cost_model
import numpy as np
import pytest
import slots as slots_benchmark
from cast_truth import Judged, Share, Truth, owner_of, precision, read_truth, shot_pairs, true_pairs
from common import DESCRIBERS, DREAM
from cost_measuring import WAYS
from cost_model import ANSWER1, ANSWER2, UNITS, Asking, by_film, units_of

from shotad.core import Box, Message
from shotad.core.config.film import SlotSettings
from shotad.description import CountedRequest
from shotad.description.engine_pair import Terms
from shotad.description.estimate import estimate_counted
from shotad.sight import Face, FaceTrack, Identification

ROOT = Path(__file__).resolve().parents[2]
LEFT, RIGHT = [100.0, 100.0, 150.0, 170.0], [400.0, 100.0, 450.0, 170.0]
"""Boxes of faces in pixels of 640 x 360."""


@pytest.fixture
def truth(tmp_path: Path) -> Truth:
    """Two shots of a second: Anna beside a stranger, then Anna alone."""
    first = [
        {"name": "anna", "kind": "member", "faces": [[f, *LEFT, 1.0] for f in range(24)]},
        {"name": "x", "kind": "stranger", "faces": [[f, *RIGHT, 1.0] for f in range(24)]},
    ]
    second = [{"name": "anna", "kind": "member", "faces": [[24 + f, *RIGHT, 0.4] for f in range(24)]}]
    shots = [{"first": 0, "end": 24, "people": first}, {"first": 24, "end": 48, "people": second}]
    path = tmp_path / "truth.json"
    path.write_text(json.dumps({"rate": 24, "shots": shots}))
    return read_truth(path)


def track(shot: int, corners: list[float], *seconds: float) -> FaceTrack:
    left, top, right, bottom = corners
    box = Box(left / 640, top / 360, right / 640, bottom / 360)
    points = tuple((box.centre[0], box.centre[1]) for _ in range(5))
    faces = tuple(Face(box, second, 0.9, points, 0.0) for second in seconds)
    return FaceTrack(shot, faces, np.ones((1, 1), np.float32), (0,))


def test_intervals_and_names_of_the_truth(truth: Truth) -> None:
    low, high = Share(0, 480).interval
    assert low == 0.0
    assert high == pytest.approx(0.00794, abs=1e-4)
    assert Share(9, 10).interval == (pytest.approx(0.596, abs=1e-3), pytest.approx(0.982, abs=1e-3))
    assert Share(0, 0).interval == (0.0, 1.0)
    assert owner_of(track(0, LEFT, 0.1, 0.5), truth) == ("anna", 1.0)
    assert owner_of(track(0, RIGHT, 0.1, 0.5), truth) == ("x", 1.0)
    assert owner_of(track(0, [200, 100, 250, 170], 0.1), truth) == (None, 1.0)
    assert owner_of(track(0, RIGHT, 0.1, 0.5, 1.5), truth) == ("x", pytest.approx(2 / 3))
    right = Judged(track(0, LEFT, 0.1), "anna", 1.0, Identification("anna", "anna"))
    wrong = Judged(track(0, RIGHT, 0.1), "x", 1.0, Identification("ben", "ben"))
    said = shot_pairs([right, wrong], truth)
    assert said == {(0, "anna"), (0, "ben")}
    assert precision(said, truth) == Share(1, 2)
    assert true_pairs(truth, {"anna"}) == {(0, "anna"), (1, "anna")}


# The cost model
COSTS = (0.1, 2.0, 0.05, 0.3, 0.4, 0.5, 3.0, 9000.0, 50_000.0, 70.0, 1e5, 20_000.0, 3000.0)
ROUND = dict(zip(UNITS, COSTS, strict=True))


def test_it_reckons_as_the_estimate_of_a_run_does() -> None:
    """One slot, asked about in the same words."""
    prompt = (Message("user", "word " * 400),)
    looks = CountedRequest("stage1", prompt, 32, 588, 252, ANSWER1, 512, False)
    lines = CountedRequest("stage2", prompt, 0, 0, 0, ANSWER2, 256, True)
    terms = Terms("any", lambda width, height, frames: frames * 90)
    counted = estimate_counted([looks, lines], [], {"stage1": terms, "stage2": terms})
    said = [stage.likely for stage in counted]
    words = said[0].word_tokens
    asked = Asking(words1=words, words2=words - ANSWER1)
    assert [one.tokens_in for one in said] == pytest.approx([asked.in1, asked.in2], abs=1)
    assert [one.tokens_out for one in said] == pytest.approx([ANSWER1, ANSWER2], abs=1)


def run(film: str, way: str, cpu: float, seconds: float, slots: int, gigapixels: float) -> dict[str, Any]:
    asked = {"calls1": slots, "calls2": slots, "frames": slots * 32}
    return {
        "film": film, "way": way, "cpu": cpu, "seconds": seconds, "gigapixels": gigapixels,
        "slots": slots, "shots": 10, "moments": 20, "most": int(seconds * 1e5),
        "kept": {"records": slots * 8000, "track": slots * 1000, "shots": 700, "drawn": slots * 50_000},
        "server": {**asked, "frame_bytes": slots * 32 * 20_000, "letter_bytes": slots * 6000},
        "foreseen": {**asked, "words1": slots * 300, "frame_tokens": slots * 2880, "words2": slots * 700},
    }  # fmt: skip


def test_units_and_the_page_show_what_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Films that cost just what `ROUND` says
    runs = []
    for film, length, slots, pixels in (("a", 60.0, 4, 1.0), ("b", 90.0, 9, 5.0), ("c", 200.0, 16, 3.0)):
        ground = ROUND["second"] * length + ROUND["pixels"] * pixels
        more = {
            "prepare": 0.0, "credits": ROUND["credits"] * 20, "slots": ROUND["slot"] * slots,
            **{way: (ROUND["slot"] + ROUND[way]) * slots for way in ("grammar", "sheet", "embedded")},
            "server": ROUND["slot"] * slots,
        }  # fmt: skip
        runs += [run(film, way, ground + cpu, length, slots, pixels) for way, cpu in more.items()]
        assert WAYS.keys() == more.keys()
    assert units_of(by_film(runs)) == pytest.approx(ROUND, rel=1e-6)
    page = tmp_path / "planning.md"
    before = (ROOT / "docs" / "planning.md").read_text(encoding="utf-8")
    page.write_text(before, encoding="utf-8")
    costs = ROOT / "benchmarks" / "results" / "costs.json"
    monkeypatch.setattr(sys, "argv", ["cost_model.py", "--read", str(costs), "--into", str(page)])
    cost_model.main()
    assert page.read_text(encoding="utf-8") == before


def test_tables_of_cml_bench_agree_with_the_published_ones() -> None:
    if not (data := ROOT.parent / "shared" / "data" / "cml-bench").is_dir():
        pytest.skip("needs ../shared/data/cml-bench, which is no part of the project")
    rows = [row for row in cml_bench.published_averages(data) if row[3] is not None]
    equal = [
        (file, name)
        for file, name, cells, own in rows
        if all(repr(own[key]) == cell for key, cell in cells.items())  # type: ignore[index]
    ]
    others = {(file, name) for file, name, *_ in rows} - {*equal}
    assert len(equal) == 24
    assert {file for file, _ in others} == {"average_score.csv"}
    assert all(name.endswith("_base.csv") for _, name in others), "an earlier run with the base prompt"
    cells = cml_bench.table_1(data)
    assert len(cells) == 105
    assert [(cell.row, cell.column) for cell in cells if not cell.agrees] == [
        ("o4-mini-base", "DC2"), ("llama-4-maverick-base", "CC3"), ("o3-mini-instr", "DC2"),
        ("llama-4-scout-instr", "DC2"), ("llama-4-scout-instr", "CC1"),
    ]  # fmt: skip
    pytest.importorskip("scipy")
    cells = cml_bench.table_2(data)
    assert (sum(cell.agrees for cell in cells), len(cells)) == (37, 45)
    assert max(abs(cell.found - float(cell.published)) for cell in cells) < 0.011
    rho = cml_bench.correlations(data)
    assert [round(value, 3) for value in rho.values()] == [0.804, 0.806, 0.781]


@pytest.mark.skipif(not DREAM.is_dir(), reason="needs ../shared/data/ad-text/elephants-dream")
def test_slots_are_where_two_describers_speak() -> None:
    """The figures behind ``slots.minimum``: nearly every gap of 2 s is used, and shorter ones seldom are."""
    tracks = {name: DREAM / file for name, file in DESCRIBERS.items()}
    film = slots_benchmark.captioned_film(
        "dream", DREAM / "captions.en.vtt", tracks, slots_benchmark.DREAM_SECONDS
    )
    long_gaps = [gap for gap in film.gaps if gap.duration >= 2]
    short_gaps = [gap for gap in film.gaps if gap.duration < 2]
    assert (len(long_gaps), len(short_gaps)) == (19, 60)
    words = {}
    for describer, lines in film.describers.items():
        assert sum(slots_benchmark.is_used(gap, lines) for gap in long_gaps) == 18
        assert sum(slots_benchmark.is_used(gap, lines) for gap in short_gaps) <= 10
        for minimum in (2.0, 4.0):
            settings = SlotSettings(minimum=minimum, detail="normal")
            (plan,) = slots_benchmark.planned(film, [[]], settings)
            words[describer, minimum] = slots_benchmark.words_inside(lines, [slot.interval for slot in plan])
        assert words[describer, 2.0] >= 1.05 * words[describer, 4.0]
