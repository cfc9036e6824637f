"""The commands as a user meets them: results, exit codes, what is told before work begins, and what doctor finds."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from shotad.core import (
    Config,
    Request,
    load_config,
    progress as room,
)
from shotad.core.progress import duration
from shotad.description import Engines, open_engines
from shotad.description.engine_pair import ONLY_ENGLISH
from shotad.engines.fake import FakeEngine, plain_answer
from tests.cli.program import FAKE, Said, Shotad
from tests.grammar.dino_models import put_in_cache, saved
from tests.media import FilmSpec, SoundSpec, make_film
from tests.python_path import python_path

ROOT = Path(__file__).resolve().parents[2]


def test_the_help_of_a_large_command_lists_its_options_in_sections(shotad: Shotad) -> None:
    describe, batch = (
        {part.partition(":\n")[0]: part for part in shotad(name, "--help").out.split("\n\n")}
        for name in ("describe", "batch")
    )
    sections = ["Film", "Description", "Cast", "Sound", "Output", "Advanced", "General"]
    assert [name for name in describe if name in sections] == sections
    assert batch["Description"].split() == describe["Description"].split("--estimate")[0].split()
    assert {*sections, "Many films", "Cluster"} <= batch.keys()


class Early(FakeEngine):
    """A Stage II that answers for the film's first seconds alone."""

    last = "s00004000"

    def __init__(self, config: Config) -> None:
        super().__init__(config, answer=self._line)

    def _line(self, request: Request) -> str:
        return json.dumps({"summarized_AD": "A cat sits."}) if request.slot_id < self.last else ""


class Never(Early):
    """One that answers for none."""

    last = ""


@pytest.mark.parametrize(
    ("engine", "flags", "failed", "code"),
    [(Never, ("--strict",), 3, 1), (Early, (), 2, 0), (Early, ("--strict",), 2, 3)],
)
def test_slots_that_fail_are_told_and_decide_the_exit_code(
    shotad, film, monkeypatch, engine, flags, failed, code
):
    # This module is imported anew by the name under which the command line loads it.
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2]))
    slots = film.with_name("slots.csv")
    slots.write_text("start,end\n0.5,3.5\n5,8\n9,11.5\n")
    words = ("describe", film, *FAKE, "--slots", slots, "--no-sheet", "--quiet")
    name = f"stage2.engine=tests.cli.test_commands:{engine.__name__}"
    said = shotad(*words, "--set", name, *flags)
    assert (said.code, said.out) == (code, "")
    assert f"{failed} of 3 slots failed" in said.err
    assert "Run the same command again" in said.err
    assert shotad(*words) == Said(0, "", "")


def test_a_film_full_of_speech_says_why_it_has_no_slot(shotad: Shotad, film: Path) -> None:
    spoken = film.with_name("spoken.srt")
    spoken.write_text("1\n00:00:00,000 --> 00:00:11,000\nOn and on.\n")
    fake = (*FAKE, "--set", "speech.source=auto")
    for command in (("describe", *fake, "--no-sheet"), ("slots", *fake[2:])):
        said = shotad(*command, film, "--subtitles", spoken)
        assert said.code == 0
        for words in ("No slots in 12 s: speech fills 9", "shorter than 2 s. --extended"):
            assert words in said.out
    brief = shotad("slots", film, "--subtitles", spoken, "--detail", "brief", *fake[2:])
    assert "shorter than 4 s. --detail normal takes gaps from 2 s on. --extended" in brief.out
    raised = shotad("slots", film, "--subtitles", spoken, "--set", "slots.minimum=5", *fake[2:])
    assert "shorter than 5 s. --set slots.minimum=2 takes shorter gaps. --extended" in raised.out
    assert "speech fills" not in shotad("slots", film, *FAKE[2:]).out


def test_shots_and_slots_alone(shotad: Shotad, film: Path) -> None:
    plain = ("--set", "shots.detector=adaptive")
    shots = json.loads(shotad("shots", film, *plain, "--json").out)["shots"]
    assert {0, 100, 200} <= {row["frame"] for row in shots}
    table = shotad("shots", film, *plain).out
    assert f"{len(shots)} shots, mean length" in table
    args = (*plain, "--set", "slots.find_credits=false", "--set", "speech.source=none")
    slots = json.loads(shotad("slots", film, *args, "--json").out)
    assert slots["slots"]
    assert slots["speech"] == []
    assert "slots, " in shotad("slots", film, *args).out
    assert not list(film.with_suffix(".shotad").glob("frames.*"))


def test_export_edit_import(shotad: Shotad, film: Path, tmp_path: Path) -> None:
    shotad("describe", film, *FAKE, "--no-sheet")
    target = tmp_path / "edited.csv"
    assert shotad("export", film, "--format", "csv", "--out", target).code == 0
    assert shotad("export", "--check", target).code == 0
    text = target.read_text(encoding="utf-8")
    assert "Somebody crosses" in text
    target.write_text(text.replace("Somebody crosses a", "A cat crosses a", 1), encoding="utf-8")
    said = shotad("import", film, target, "--reviewer", "Ada")
    assert said.code == 0, said.err
    assert "1 changed" in said.out
    vtt = (film.with_suffix(".shotad") / "movie.ad.vtt").read_text()
    assert "A cat crosses a" in vtt
    assert "Reviewed by Ada" in vtt
    assert shotad("describe", film, *FAKE).code == 0
    assert "A cat crosses a" in (film.with_suffix(".shotad") / "movie.ad.srt").read_text()


def test_doctor_and_models_answer(shotad: Shotad) -> None:
    checks = json.loads(shotad("doctor", "--json").out)
    assert {"Python", "GPU", "Film formats", "Endpoint"} <= {check["topic"] for check in checks}
    extras = {check["topic"].removeprefix("extra "): check["finding"] for check in checks}
    wanted = {"spacy": "action score", "scipy": "agreement", "matplotlib": "plots"}
    wanted |= {"pycocoevalcap": "METEOR and SPICE", "fastcoref": "coreference", "hibari": "embedded voice"}
    wanted |= {"num2words": "numbers"}
    assert {name for name, purpose in wanted.items() if purpose not in extras.get(name, "")} == set()
    sizes = {row["name"]: row["bytes"] for row in json.loads(shotad("models", "list", "--json").out)}
    assert sizes["silero-vad"] == 2327524
    assert sizes["en-core-web-sm"] > 8e6, "a parser is more than its configuration"
    assert "8.9 MB" in next(
        check["finding"] for check in checks if check["topic"] == "weights en-core-web-sm"
    )


@pytest.mark.parametrize(("megabytes", "fits"), [
    (81559, r"paper \(each of its models fits into 86 GB of the GPU\)"),
    (16384, r"GB, the GPU has 17\)"),
    (2000, r"of memory; |too much beside other programs"),
])  # fmt: skip
def test_doctor_says_which_engine_the_gpu_can_run(shotad, tmp_path, monkeypatch, megabytes, fits):
    program = tmp_path / "nvidia-smi"
    program.write_text(
        f'#!/bin/sh\ncase "$1" in *name*) echo "NVIDIA H100, {megabytes} MiB";; *) echo {megabytes};; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    checks = {check["topic"]: check["finding"] for check in json.loads(shotad("doctor", "--json").out)}
    assert checks["GPU"] == f"NVIDIA H100, {megabytes} MiB"
    assert any(re.search(fits, finding) for finding in checks.values())


def test_doctor_names_the_extra_that_brings_what_is_missing(shotad, monkeypatch):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    gone = ("spacy", "httpx", "pycocoevalcap", "hibari", "s3fs", "sentence_transformers")
    for name in gone:
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    found = "\n".join(check["finding"] for check in json.loads(shotad("doctor", "--json").out))
    told = re.findall(
        r'^([\w-]+), for .*: not installed: pip install "shotad\[(\w+)\]"$', found, re.MULTILINE
    )
    assert len(told) >= len(gone)
    for package, extra in told:
        assert any(wanted.startswith(package.lower()) for wanted in extras[extra]), (package, extra)


@pytest.mark.parametrize("command", ["describe", "grammar"])
def test_a_film_put_in_place_of_another_is_refused_before_anything_is_written(shotad, film, command):
    folder = film.with_suffix(".shotad")
    assert shotad("describe", film, *FAKE, "--no-sheet").code == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    shutil.copy(make_film(FilmSpec(frames=240, cuts=(120,))).path, film)
    said = shotad(command, film, "--force", *(FAKE if command == "describe" else FAKE[2:]))
    assert said.code == 1
    for words in ("another version of movie.mp4", f"Move {folder} away", "--out"):
        assert words in said.err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_programs_get_the_table_too(shotad: Shotad, film: Path) -> None:
    said = shotad("describe", film, *FAKE, "--json", "--profile", "--no-sheet")
    found = json.loads(said.out)["profile"]
    assert found["wall"] > 0
    assert {row["step"] for row in found["steps"]} >= {"speech", "track"}
    said = shotad("describe", film, *FAKE, "--json", "--estimate", "--profile")
    assert json.loads(said.out)["profile"]["steps"]


def test_that_prompts_are_english_is_told_where_another_language_is_asked_for() -> None:
    cases = (("de", plain_answer, True), ("en-GB", plain_answer, False), ("de", None, False))
    for language, answer, told in cases:
        config = load_config(None, ("engine=fake", f"language={language}"))
        said = open_engines(config, Path("w"), Engines(FakeEngine(), FakeEngine(answer=answer)))
        assert (ONLY_ENGLISH.format(language=language) in said) is told


@pytest.mark.parametrize("given", [(), ("--slots", "slots.csv")])
def test_the_sheet_of_a_run_and_one_drawn_later_are_the_same(shotad, film, given, monkeypatch):
    """The one is drawn from kept frames, the other decodes the film; given slots are read exactly."""
    monkeypatch.chdir(film.parent)
    Path("slots.csv").write_text("start,end\n0.43,1.1\n3.01,5.2\n")
    code, _, err = shotad("describe", film, *FAKE, *given, "--quiet")
    assert code == 0, err
    page = film.with_suffix(".shotad") / "worksheet.html"
    drawn = page.read_bytes()
    assert b"words fit" in drawn
    page.unlink()
    assert shotad("sheet", page.parent, "--quiet") == (0, "", "")
    assert page.read_bytes() == drawn


def test_a_film_that_was_never_described_is_drawn_without_lines_or_its_end(
    shotad: Shotad, tmp_path: Path
) -> None:
    """Also one that was cut off, which is described as far as it goes."""
    whole = make_film(FilmSpec(suffix=".mkv", frames=300, cuts=(100, 200), gop=10)).path.read_bytes()
    film, folder = tmp_path / "cut.mkv", tmp_path / "cut.shotad"
    film.write_bytes(whole[: len(whole) * 6 // 10])
    code, out, err = shotad("sheet", film, *FAKE[2:])
    assert code == 0, err
    assert out == f"{folder / 'worksheet.html'}\n"
    assert "0 lines written" in (folder / "worksheet.html").read_text()
    assert not [*folder.glob("track.json"), *folder.glob("frames.*")]
    said = shotad("describe", film, *FAKE)
    assert said.code == 0, said.err
    assert "Note: " in said.out
    assert (folder / "track.json").is_file()


@pytest.fixture
def unfit(tmp_path: Path) -> Path:
    """A film for a machine without a GPU, without weights and without a network: what is fetched fails."""
    path = tmp_path / "film.mp4"
    path.write_bytes(make_film(FilmSpec(frames=250, sounds=(SoundSpec(duration=10.0),))).path.read_bytes())
    return path


def on_a_bare_machine(film: Path, *words: object) -> Said:
    """A command there, as a process: the libraries look at such variables when they are loaded."""
    nowhere = {"PIP_NO_INDEX": "1", "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    folders = {"SHOTAD_CACHE": str(film.parent / "weights"), "HF_HOME": str(film.parent / "hub")}
    known = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    done = subprocess.run(
        [sys.executable, "-m", "shotad", *map(str, words)],
        env={**known, **nowhere, **folders, "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("asked", ["--config", "--engine"])
def test_the_papers_engines_are_refused_before_any_work(unfit: Path, asked: str) -> None:
    said = on_a_bare_machine(unfit, "describe", unfit, asked, "paper")
    assert said.code == 1
    assert said.err.startswith("Error: This machine cannot run Qwen/Qwen2-VL-7B-Instruct and ")
    assert "a GPU with" in said.err
    assert "32.6 GB" in said.err
    assert not unfit.with_name("film.mp4.shotad").exists()
    assert [path.name for path in unfit.parent.iterdir()] == ["film.mp4"]


def test_an_estimate_fetches_nothing_and_says_what_it_left_out(unfit: Path) -> None:
    said = on_a_bare_machine(unfit, "describe", unfit, "--config", "paper", "--estimate")
    assert said.code == 0, said.err
    assert "calls:" in said.out
    assert "No weights are fetched for this. Without them are left out: speech" in said.err
    assert "dinov2-giant-registers" in said.err
    assert not (unfit.parent / "weights").exists()
    assert not list(unfit.parent.glob("*.shotad/s*.json"))


def test_the_prompts_shown_of_a_slot_are_those_that_are_sent(shotad: Shotad, film: Path) -> None:
    words = ("describe", film, *FAKE, "--set", "prompt.note=Ann is a thief.")
    said = shotad(*words, "--show-prompts", "s00005120", "--json")
    assert said.code == 0, said.err
    before = json.loads(said.out)
    folder = film.with_suffix(".shotad")
    assert not before["is_described"]
    assert not (folder / "track.json").exists()
    assert shotad(*words).code == 0
    after = json.loads(shotad(*words, "--show-prompts", "0:05.5", "--json").out)
    assert after["is_described"]
    assert after["slot"] == before["slot"]
    for stage in ("stage1", "stage2"):
        rows = [json.loads(row) for row in (folder / f"{stage}.jsonl").read_text().splitlines()]
        (sent,) = (row["prompt"] for row in rows if row["slot"] == after["slot"])
        assert after[stage]["messages"] == sent
    assert before["stage1"] == after["stage1"]
    assert "(what Stage I says)" in before["stage2"]["messages"][1]["text"]
    shown = shotad(*words, "--show-prompts", "0:05.5").out
    assert all(message["text"] in shown for message in after["stage2"]["messages"])


@pytest.mark.parametrize(
    ("slot", "hint"), [("0:59", "The nearest is s000"), ("s00000001", "The nearest is s000"), ("Ann", "1:23")]
)
def test_prompts_of_no_slot_are_refused(shotad: Shotad, film: Path, slot: str, hint: str) -> None:
    said = shotad("describe", film, *FAKE, "--show-prompts", slot)
    assert said.code == 2
    assert slot in said.err
    assert hint in said.err


def test_a_task_of_unknown_length_says_something_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    lines = room._Lines("Fetching weights", None, "B", itertools.count().__next__)
    for _ in range(25):
        lines.advance(1e6)
    said = capsys.readouterr().err.splitlines()
    assert said == ["Fetching weights.", "Fetching weights: 10.0 MB.", "Fetching weights: 20.0 MB."]


def test_times_are_read_and_written(shotad: Shotad, tmp_path: Path) -> None:
    (tmp_path / "film.mp4").touch()
    read = {"90": "90", "1:23.5": "83.5", "0:01:23,5": "83.5", "1:00:00": "3600", " 7 ": "7"}
    for text, seconds in read.items():
        refused = shotad("batch", tmp_path / "film.mp4", "--from", text, "--to", "1", "--dry-run", *FAKE)
        assert f"The end, 1 s, does not lie after the start, {seconds} s." in refused.err
    assert [duration(s) for s in (0, 59.6, 74, 3720)] == ["0 s", "1 min 0 s", "1 min 14 s", "1 h 2 min"]


@pytest.fixture
def cache(empty_hub: Path) -> Path:
    pytest.importorskip("transformers")
    return empty_hub


def threads_line(shotad: Shotad) -> str:
    checks = json.loads(shotad("doctor", "--json").out)
    return next(check["finding"] for check in checks if check["topic"] == "Threads")


def test_pull_offline_says_why_and_asks_nobody_for_what_is_here(
    shotad: Shotad, cache: Path, tmp_path: Path
) -> None:
    said = shotad("models", "pull", "dinov2-base", "--plain")
    assert (said.code, "0 of 1 here." in said.out) == (1, True)
    assert "facebook/dinov2-base could not be fetched from the hub" in said.err
    assert "threads.features=grid" in said.err
    folder = put_in_cache(cache, "facebook/dinov2-small", saved(tmp_path / "model"))
    said = shotad("models", "pull", "dinov2-small", "--plain")
    assert (said.code, "1 of 1 here." in said.out) == (0, True)
    assert f"dinov2-small: {folder}" in said.err


def test_doctor_says_what_auto_takes_and_why(shotad, cache, tmp_path, monkeypatch):
    assert threads_line(shotad) == "grid (no DINOv2 weights are at hand: shotad models pull dinov2-base)"
    put_in_cache(cache, "facebook/dinov2-base", saved(tmp_path / "model"))
    assert threads_line(shotad).startswith("dinov2-base (at hand, on ")
    monkeypatch.setitem(sys.modules, "torch", None)
    assert threads_line(shotad).startswith("grid (torch is not installed")
