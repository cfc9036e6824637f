"""The tools for who has real models: what they print is what a run made."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from shotad import load_track
from shotad.script import EditField, accept, mark_edit, save_track
from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, make_film

TOOLS = Path(__file__).parents[2] / "tools"


def test_what_engines_cost_and_write_is_measured(tmp_path: Path) -> None:
    film, out = make_film(FilmSpec(frames=200, cuts=(100,))).path, tmp_path / "found.json"
    settings = [word for one in FAKE[3::2] for word in ("--set", one)]
    command = [
        sys.executable, TOOLS / "try_real_models.py", film, "--engine", "fake", "--engine", "none",
        *settings,
    ]  # fmt: skip
    run = subprocess.run([*command, "--out", out], capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stderr
    *_, good, bad = run.stdout.splitlines()
    assert bad == f"| none | {film.name} | exit code 2 | | | | | |"
    fake, none = json.loads(out.read_text(encoding="utf-8"))["runs"]
    assert good.startswith(f"| fake | {film.name} | {len(fake['lines'])} | 0 |")
    assert [text[:8] for _, _, text in fake["lines"]] == ["Somebody"] * len(fake["lines"]) != []
    assert none["error"] == "exit code 2"
    assert str(film.parent) not in out.read_text(encoding="utf-8")


def test_accepted_lines_that_people_rewrote_become_pairs(shotad: Shotad, tmp_path: Path) -> None:
    film, folder = make_film(FilmSpec(frames=500, cuts=(100, 200, 300, 400))).path, tmp_path / "film.shotad"
    options = (*FAKE, "--out", folder, "--no-sheet", "--set", "slots.minimum=2")
    assert shotad("describe", film, *options).code == 0
    track = load_track(folder / "track.json")
    first, *rest = track.cues
    by_hand = mark_edit(replace(first, text="She opens the door."), first, (EditField.TEXT,), "review")
    rewritten = accept(by_hand, "Ann", "review")
    kept = [accept(one, "Ann", "review") for one in rest]
    save_track(track.with_cues([rewritten, *kept]), folder, film.stem)
    command = [sys.executable, TOOLS / "preference_pairs.py", folder]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    (pair,) = map(json.loads, run.stdout.splitlines())
    assert pair["chosen"] == [{"role": "assistant", "content": "She opens the door."}]
    assert pair["rejected"] == [{"role": "assistant", "content": first.text}]
    assert [turn["role"] for turn in pair["prompt"]] == ["system", "user"]
    assert pair["seconds"][0] <= pair["start"] < pair["seconds"][-1]
