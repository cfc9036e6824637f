"""``shotad describe --profile``, and what ``shotad render`` says to it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from shotad.core import LOUDNESS_PROFILES, UsageError
from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, make_film


@pytest.fixture
def film(tmp_path: Path) -> Path:
    path = tmp_path / "movie.mp4"
    shutil.copy(make_film(FilmSpec(frames=150, cuts=(60,))).path, path)
    return path


def test_the_time_of_each_room_is_told_and_kept(shotad: Shotad, film: Path) -> None:
    said = shotad("describe", film, *FAKE, "--plain", "--profile")
    assert said.code == 0
    assert "Time: " in said.out
    assert "Busiest: " in said.out
    trace = json.loads((film.with_suffix(".shotad") / "profile.json").read_text())
    named = {event["name"] for event in trace["traceEvents"] if event["ph"] == "X"}
    assert {"speech", "track", "scripts", "sheet", "frames", "lint"} <= named


def test_programs_get_the_table_too(shotad: Shotad, film: Path) -> None:
    said = shotad("describe", film, *FAKE, "--json", "--profile", "--no-sheet")
    found = json.loads(said.out)["profile"]
    assert Path(found["trace"]).is_file()
    assert found["wall"] > 0
    assert {row["room"] for row in found["rooms"]} >= {"speech", "track"}
    said = shotad("describe", film, *FAKE, "--json", "--estimate", "--profile")
    assert json.loads(said.out)["profile"]["busiest"]


def test_nothing_is_recorded_unasked_and_nothing_else_changes(shotad: Shotad, film: Path) -> None:
    shotad("describe", film, *FAKE, "--quiet", "--no-sheet")
    folder = film.with_suffix(".shotad")
    kept = {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "log.txt"}
    assert "profile.json" not in kept
    shotad("describe", film, *FAKE, "--quiet", "--no-sheet", "--profile", "--force")
    again = {p.name: p.read_bytes() for p in folder.iterdir() if p.name not in ("log.txt", "profile.json")}
    assert again == kept


def test_a_run_that_fails_keeps_its_trace(shotad: Shotad, film: Path, tmp_path: Path) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise UsageError("enough", "no more")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shotad.description.pipeline.save_track", fail)
        said = shotad("describe", film, *FAKE, "--plain", "--profile")
    assert said.code != 0
    trace = json.loads((film.with_suffix(".shotad") / "profile.json").read_text())
    assert {"speech", "track"} <= {event["name"] for event in trace["traceEvents"]}


def test_render_names_the_kinds_of_loudness(shotad: Shotad) -> None:
    said = shotad("render", "nothing.mp4", "--loudness", "loudest")
    assert all(profile in said.err for profile in LOUDNESS_PROFILES)


@pytest.mark.parametrize(("words", "instead"), [(("web",), "--loudness web"), ((), "--loudness source")])
def test_render_says_what_its_old_name_of_the_loudness_is_now(
    shotad: Shotad, words: tuple[str, ...], instead: str
) -> None:
    said = shotad("render", "nothing.mp4", "--profile", *words)
    assert said.code == 2
    assert instead in said.err
    assert "--profile" not in shotad("render", "--help").out


def test_describe_takes_no_loudness_by_that_name(shotad: Shotad, film: Path) -> None:
    said = shotad("describe", film, *FAKE, "--profile", "web")
    assert said.code == 2
    assert "web" in said.err
