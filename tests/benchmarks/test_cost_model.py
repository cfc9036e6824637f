"""The arithmetic of the cost model: what settings ask, units found again, a catalogue that adds up."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

import cost_model
from costs.catalogue import Catalogue, Prices, Review, needs
from costs.fitting import Films, compared, units_of
from costs.formula import (
    GPUS,
    LLAMA,
    QWEN,
    Asking,
    Hour,
    Shares,
    Units,
    asked,
    bytes_sent,
    seconds,
)
from costs.measuring import WAYS, Run, kept

from shotad.core import Message, load_config
from shotad.description.estimate import OpenQuestion, estimate
from shotad.description.usage import Terms

UNITS = Units(0.1, 2.0, 0.05, 0.3, 0.4, 0.5, 3.0, 9000.0, 50_000.0, 70.0, 1e5, 20_000.0, 3000.0)
"""Round ones."""


def test_additions_say_how_often_is_asked() -> None:
    found = asked(80, Asking(candidates=5, verify=True, renew_every=8))
    assert found.calls1 == 80 + 80
    assert found.calls2 == 80 * 5 + 80 / 8
    assert asked(80, Asking(candidates=5, lines=5, choose=True)).calls2 == 80 + 80


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
    one = "\n".join(needs(Catalogue(hours=1000), UNITS, Asking(), Shares(), Review(), Prices()))
    assert "1080p at 24: 322,000 slots." in one
    assert "Read: 2.25 GB an hour, 2.25 TB." in one
    kept_ = (322 * 59_000 + 1029 * 70) / 1e6
    assert f"Kept: {kept_:,.1f} MB an hour" in one
    assert "were they" not in one
    paid = list(needs(Catalogue(hours=1000), UNITS, Asking(), Shares(), Review(), Prices(core_hour=3600.0)))
    hour = Hour(322, 1029)
    cpu = 0.1 * 3600 + 2 * hour.gigapixels + 0.05 * 150 + 322 * 1.2
    # Cores that are at work for 0.8 of the time are paid for all of it.
    assert paid[-1] == f"Money, cores: {1000 * cpu / 0.8:,.0f}."


def test_what_was_measured_is_read_again_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "costs.json"
    file.write_text(json.dumps([asdict(run) for run in world().runs]))
    words = ["cost_model.py", "--read", str(file), "--hours", "5000", "--gpu-hour", "2"]
    monkeypatch.setattr(sys, "argv", words)
    cost_model.main()
    told = capsys.readouterr().out
    assert told.count("1.00 (1.00 to 1.00), 3 |") == len({line.what for line in compared(world())})
    assert "5,000 hours in 2,500 films of 2 hours, 322 slots" in told
    assert "Money, servers, were they A100 80 GB SXM: " in told


def test_files_are_counted_by_kind(tmp_path: Path) -> None:
    (tmp_path / "sheet").mkdir()
    for name in ("stage1.jsonl", "shots.json", "track.json", "film.ad.vtt", "sheet/a.png", "log.txt", "x"):
        (tmp_path / name).write_text("12345")
    assert kept(tmp_path) == {"records": 5, "track": 10, "shots": 5, "drawn": 5, "other": 5}


PAGE = """# Page

<!-- costs: checked -->
old
<!-- costs end -->
between
<!-- costs: units -->
<!-- costs end -->
<!-- costs: catalogue -->
<!-- costs end -->
"""


def said(file: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["cost_model.py", "--read", str(file), *words])
    cost_model.main()


def test_a_page_is_filled_with_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, page = tmp_path / "costs.json", tmp_path / "page.md"
    file.write_text(json.dumps([asdict(run) for run in world().runs]))
    page.write_text(PAGE, encoding="utf-8")
    said(file, monkeypatch, "--into", str(page))
    filled = page.read_text(encoding="utf-8")
    assert "\nold\n" not in filled
    assert "\nbetween\n" in filled
    assert "Measured on a (60 s, 4 slots), b (90 s, 9 slots), c (200 s, 16 slots)." in filled
    assert "| preparing, core s | 1.00 (1.00 to 1.00), 3 | 27.0 / 27.0 |" in filled
    assert "| core seconds for 10⁹ pixels decoded and scored | 2.00 |" in filled
    assert "100,000 hours in 50,000 films of 2 hours" in filled
    said(file, monkeypatch, "--into", str(page))
    assert page.read_text(encoding="utf-8") == filled


@pytest.mark.parametrize("page", ["# Page\n", PAGE + "<!-- costs: colour -->\n<!-- costs end -->\n"])
def test_a_page_with_other_blocks_is_refused_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    file, path = tmp_path / "costs.json", tmp_path / "page.md"
    file.write_text(json.dumps([asdict(run) for run in world().runs]))
    path.write_text(page, encoding="utf-8")
    with pytest.raises(SystemExit, match="must have each of the costs blocks"):
        said(file, monkeypatch, "--into", str(path))
    assert path.read_text(encoding="utf-8") == page


def test_the_page_of_planning_shows_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).resolve().parents[2]
    page = tmp_path / "planning.md"
    page.write_text((root / "docs" / "planning.md").read_text(encoding="utf-8"), encoding="utf-8")
    before = page.read_text(encoding="utf-8")
    said(root / "benchmarks" / "results" / "costs.json", monkeypatch, "--into", str(page))
    assert page.read_text(encoding="utf-8") == before


def test_people_who_check_every_line_are_counted_with_their_assumptions() -> None:
    review = Review(watched=1.5, changed=0.5, change_seconds=18.0, year_hours=1000.0)
    plan, prices = Catalogue(hours=1000, slots=200.0), Prices(person_hour=40.0)
    told = "\n".join(needs(plan, UNITS, Asking(), Shares(), review, prices))
    # 1.5 hours to see it, 100 lines of 18 s: 2 hours for an hour of film.
    assert "(assumed: 1.5 h to see and hear an hour of film, 50% of lines put right," in told
    assert "18 s each): 2.0 hours an hour of film, 2,000 hours, 2 people for a year of 1,000 hours." in told
    assert told.endswith("Money, people: 80,000.")


def test_a_lost_worker_costs_a_film_but_no_answer() -> None:
    hour = Hour(322, 1029)
    film = 2 * (0.1 * 3600 + 2 * hour.gigapixels + 0.05 * 150 + 322 * 1.2)
    told = "\n".join(needs(Catalogue(), UNITS, Asking(), Shares(), Review(), Prices()))
    assert f"A film keeps a worker of 2 cores for {film / 2 / 60:,.0f} minutes beside the engines." in told
    assert f"once in 24 hours costs at most {film / (2 * 24 * 3600):.1%} more core seconds" in told
    seconds = 1e5 * film / 2 / 1000 / 0.8
    assert f"Gbit/s: {225e12 * 8 / seconds / 1e9:,.1f} read" in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--film", "a.mp4", "--made", "720"], "3 films are needed at least, so that each is foretold"),
        (["--into", "page.md"], "--into needs --read"),
        (["--hours", "-1"], "must be 0 or more, got -1"),
        (["--film-hours", "0"], "must be more than 0, got 0"),
        (["--year-hours", "0"], "must be more than 0, got 0"),
        (["--cores", "0"], "must be 1 or more, got 0"),
    ],
)
def test_what_cannot_be_reckoned_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        cost_model.arguments(words)
    assert message in capsys.readouterr().err


def test_a_file_that_holds_no_costs_is_told(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text('[{"film": "a"}]')
    with pytest.raises(SystemExit, match=r"costs\.json is no file of measured costs"):
        cost_model.read(file)


@pytest.mark.parametrize("way", ["prepare", "credits"])
def test_the_pass_keeps_the_frames_that_describe_would_keep(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from costs import measuring

    from shotad.core import WorkFolder
    from shotad.film import Frames, open_film

    told: list[str] = []

    def work_only(path: Path, way: str, out: Path, work: Callable[..., None]) -> None:
        with open_film(path) as film, WorkFolder(out) as folder:
            work(film, folder)

    monkeypatch.setattr(Frames, "share", lambda self, *, overview: told.append(f"shared, {overview=}"))
    monkeypatch.setattr(measuring, "prepare", lambda bench: told.append("prepared"))
    monkeypatch.setattr(measuring, "_timed", work_only)
    sample = Path(__file__).resolve().parents[1] / "sample" / "sample.mp4"
    measuring._run(sample, way, load_config(None, WAYS[way]), tmp_path)
    assert told == ["shared, overview=False", "prepared"]
