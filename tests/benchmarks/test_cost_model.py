"""The arithmetic of the cost model: what settings ask, units found again, a catalogue that adds up."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import cost_model
import pytest
from cost_measuring import WAYS
from cost_model import ANSWER1, ANSWER2, UNITS, Asking, by_film, units_of

from shotad.core import Message
from shotad.description.engine_pair import Terms
from shotad.description.estimate import OpenQuestion, estimate

ROUND = dict(
    zip(
        UNITS,
        (0.1, 2.0, 0.05, 0.3, 0.4, 0.5, 3.0, 9000.0, 50_000.0, 70.0, 1e5, 20_000.0, 3000.0),
        strict=True,
    )
)


def test_it_reckons_as_the_estimate_of_a_run_does() -> None:
    """One slot, asked about in the same words."""
    prompt = (Message("user", "word " * 400),)
    looks = OpenQuestion("stage1", prompt, frames=32, width=588, height=252)
    lines = OpenQuestion("stage2", prompt, awaited_tokens=512)
    terms = Terms("any", lambda width, height, frames: frames * 90)
    said = [stage.likely for stage in estimate([looks, lines], {"stage1": terms, "stage2": terms}).stages]
    words = said[0].word_tokens
    asked = Asking(words1=words, words2=words)
    assert [one.tokens_in for one in said] == [
        pytest.approx(asked.in1, abs=1),
        pytest.approx(asked.in2, abs=1),
    ]
    assert [one.tokens_out for one in said] == [pytest.approx(ANSWER1, abs=1), pytest.approx(ANSWER2, abs=1)]


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
    root = Path(__file__).resolve().parents[2]
    page = tmp_path / "planning.md"
    before = (root / "docs" / "planning.md").read_text(encoding="utf-8")
    page.write_text(before, encoding="utf-8")
    costs = root / "benchmarks" / "results" / "costs.json"
    monkeypatch.setattr(sys, "argv", ["cost_model.py", "--read", str(costs), "--into", str(page)])
    cost_model.main()
    assert page.read_text(encoding="utf-8") == before
