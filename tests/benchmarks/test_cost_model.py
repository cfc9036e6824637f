"""The arithmetic of the cost model: what settings ask, units found again, a catalogue that adds up."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import cost_model
from costs.catalogue import Catalogue, Prices, needs
from costs.fitting import Films, compared, units_of
from costs.formula import Asking, Hour, Units, asked, bytes_sent
from costs.gpus import GPUS, LLAMA, QWEN, Shares, seconds
from costs.measuring import WAYS, Run, as_json, kept

from shotad.config import load_config
from shotad.describe.estimate import OpenQuestion, Terms, estimate
from shotad.types import Message

UNITS = Units(0.1, 2.0, 0.05, 0.3, 0.4, 0.5, 3.0, 9000.0, 50_000.0, 70.0, 1e5, 20_000.0, 3000.0)
"""Round ones."""


def test_the_settings_say_how_often_is_asked() -> None:
    config = load_config(
        None, ("stage2.candidates=5", "stage2.draw=independent", "verify.on=true", "story.on=true")
    )
    found = asked(80, Asking.of(config, 90, 300, 500))
    assert found.calls1 == 80 + 80
    assert found.calls2 == 80 * 5 + 80 / config.story.renew_every
    joint = load_config(None, ("stage2.candidates=5", "stage2.draw=joint", "stage2.select=engine"))
    assert asked(80, Asking.of(joint, 90, 300, 500)).calls2 == 80 + 80


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
        film, way, cpu, cpu, seconds, gigapixels, seconds, slots, 10, 20, files, int(seconds * 1e5),
        server={**asked_, **sent}, foreseen={**asked_, **said},
    )  # fmt: skip


def world() -> Films:
    """Films that cost just what `UNITS` say."""
    runs = []
    for film, length, slots, pixels in (("a", 60.0, 4, 1.0), ("b", 90.0, 9, 5.0), ("c", 200.0, 16, 3.0)):
        ground = UNITS.second * length + UNITS.pixels * pixels
        more = {
            "prepare": 0.0,
            "credits": UNITS.credits * 20,
            "slots": UNITS.slot * slots,
            "grammar": (UNITS.slot + UNITS.grammar) * slots,
            "sheet": (UNITS.slot + UNITS.sheet) * slots,
            "embedded": (UNITS.slot + UNITS.embedded) * slots,
            "server": UNITS.slot * slots,
        }
        runs += [run(film, way, ground + cpu, length, slots, pixels) for way, cpu in more.items()]
        assert {*WAYS, "server"} == more.keys()
    return Films(tuple(runs))


def test_units_are_found_again() -> None:
    found = units_of(world())
    for name in UNITS.__dataclass_fields__:
        assert getattr(found, name) == pytest.approx(getattr(UNITS, name), rel=1e-6), name


def test_a_film_is_foretold_by_the_others() -> None:
    lines = list(compared(world()))
    assert {line.film for line in lines} == {"a", "b", "c"}
    for line in lines:
        assert line.ratio == pytest.approx(1.0, rel=1e-6), line


def test_the_embedded_engine_can_be_left_out() -> None:
    films = Films(tuple(run for run in world().runs if run.way != "embedded"))
    assert not any("embedded" in line.what for line in compared(films))
    told = "\n".join(needs(Catalogue(), units_of(films), Asking(), Shares(), Prices()))
    assert "embedded" not in told
    assert "nan" not in told


def test_bytes_are_those_of_frames_and_letters() -> None:
    found = asked(10, Asking())
    assert bytes_sent(found, UNITS) == 10 * 32 * 20_000 + 20 * 3000


def test_reading_costs_arithmetic_and_writing_costs_memory() -> None:
    gpu, share = GPUS["A100 80 GB SXM"], Shares(arithmetic=0.5, memory=0.5, at_once=1)
    assert seconds(gpu, LLAMA, 1000, 0, 0, share) == pytest.approx(2 * 8e9 * 1000 / (312e12 * 0.5))
    assert seconds(gpu, LLAMA, 0, 10, 0, share) == pytest.approx(
        10 * LLAMA.weights / (2039e9 * 0.5), rel=1e-3
    )
    alone = seconds(gpu, QWEN, 3000, 150, 2880, share)
    assert seconds(gpu, QWEN, 3000, 150, 2880, replace(share, at_once=16)) < alone / 2
    assert seconds(gpu, QWEN, 6000, 300, 5760, share, calls=2) == pytest.approx(2 * alone)


def test_a_catalogue_adds_up() -> None:
    one = "\n".join(needs(Catalogue(hours=1000), UNITS, Asking(), Shares(), Prices()))
    assert "Slots: 322,000" in one
    assert "Read: 2.25 GB an hour, 2 TB." in one
    kept_ = (322 * 59_000 + 1029 * 70) / 1e6
    assert f"Kept: {kept_:,.1f} MB an hour" in one
    assert "were they" not in one
    paid = list(needs(Catalogue(hours=1000), UNITS, Asking(), Shares(), Prices(core_hour=3600.0)))
    hour = Hour(322, 1029)
    cpu = 0.1 * 3600 + 2 * hour.gigapixels + 0.05 * 150 + 322 * 1.2
    assert paid[-1] == f"Cores: {1000 * cpu:,.0f}."


def test_what_was_measured_is_read_again_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "costs.json"
    file.write_text(json.dumps(as_json(world().runs)))
    words = ["cost_model.py", "--read", str(file), "--hours", "5000", "--gpu-hour", "2"]
    monkeypatch.setattr(sys, "argv", words)
    cost_model.main()
    told = capsys.readouterr().out
    assert told.count(" 1.00\n") == 3 * len({line.what for line in compared(world())})
    assert "5,000 hours, 322 slots" in told
    assert "Servers, were they A100 80 GB SXM: " in told


def test_files_are_counted_by_kind(tmp_path: Path) -> None:
    (tmp_path / "sheet").mkdir()
    for name in ("stage1.jsonl", "shots.json", "track.json", "film.ad.vtt", "sheet/a.png", "log.txt", "x"):
        (tmp_path / name).write_text("12345")
    assert kept(tmp_path) == {"records": 5, "track": 10, "shots": 5, "drawn": 5, "other": 5}
