"""The arithmetic of the cost model: what settings ask, units found again, a catalogue that adds up."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import cost_model
from costs.fitting import Films, units_of
from costs.formula import Asking, Units, asked
from costs.measuring import WAYS, Run

from shotad.core import Message
from shotad.description.engine_pair import Terms
from shotad.description.estimate import OpenQuestion, estimate

UNITS = Units(0.1, 2.0, 0.05, 0.3, 0.4, 0.5, 3.0, 9000.0, 50_000.0, 70.0, 1e5, 20_000.0, 3000.0)
"""Round ones."""


def test_it_reckons_as_the_estimate_of_a_run_does() -> None:
    """One slot, asked about in the same words."""
    prompt = (Message("user", "word " * 400),)
    looks = OpenQuestion("stage1", prompt, frames=32, width=588, height=252)
    lines = OpenQuestion("stage2", prompt, awaited_tokens=512)
    terms = Terms("any", lambda width, height, frames: frames * 90)
    said = estimate([looks, lines], {"stage1": terms, "stage2": terms}).stages
    words = said[0].likely.word_tokens
    found = asked(1, Asking(words1=words, words2=words))
    assert found.tokens_in1 == pytest.approx(said[0].likely.tokens_in, abs=1)
    assert found.tokens_in2 == pytest.approx(said[1].likely.tokens_in, abs=1)
    assert found.tokens_out1 == pytest.approx(said[0].likely.tokens_out, abs=1)
    assert found.tokens_out2 == pytest.approx(said[1].likely.tokens_out, abs=1)


def run(film: str, way: str, cpu: float, seconds: float, slots: int, gigapixels: float) -> Run:
    asked_ = {"calls1": slots, "calls2": slots, "frames": slots * 32, "frame_bytes": slots * 32 * 20_000}
    sent = {"letter_bytes": slots * 6000, "bytes": slots * (32 * 20_000 + 6000)}
    said = {"words1": slots * 300, "frame_tokens": slots * 2880, "words2": slots * 700}
    files = {"records": slots * 8000, "track": slots * 1000, "shots": 700, "drawn": slots * 50_000}
    return Run(
        film, way, cpu, seconds, gigapixels, slots, 10, 20, files, int(seconds * 1e5),
        server={**asked_, **sent}, foreseen={**asked_, **said},
    )  # fmt: skip


def test_units_and_the_page_show_what_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Films that cost just what `UNITS` say
    runs = []
    for film, length, slots, pixels in (("a", 60.0, 4, 1.0), ("b", 90.0, 9, 5.0), ("c", 200.0, 16, 3.0)):
        ground = UNITS.second * length + UNITS.pixels * pixels
        more = {
            "prepare": 0.0, "credits": UNITS.credits * 20, "slots": UNITS.slot * slots,
            "grammar": (UNITS.slot + UNITS.grammar) * slots, "sheet": (UNITS.slot + UNITS.sheet) * slots,
            "embedded": (UNITS.slot + UNITS.embedded) * slots, "server": UNITS.slot * slots,
        }  # fmt: skip
        runs += [run(film, way, ground + cpu, length, slots, pixels) for way, cpu in more.items()]
        assert {*WAYS, "server"} == more.keys()
    found = units_of(Films(tuple(runs)))
    for name in UNITS.__dataclass_fields__:
        assert getattr(found, name) == pytest.approx(getattr(UNITS, name), rel=1e-6), name
    root = Path(__file__).resolve().parents[2]
    page = tmp_path / "planning.md"
    page.write_text((root / "docs" / "planning.md").read_text(encoding="utf-8"), encoding="utf-8")
    before = page.read_text(encoding="utf-8")
    said(root / "benchmarks" / "results" / "costs.json", monkeypatch, "--into", str(page))
    assert page.read_text(encoding="utf-8") == before


def said(file: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["cost_model.py", "--read", str(file), *words])
    cost_model.main()
