"""What ``shotad batch`` says before any film is begun."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.program import FAKE, Shotad


def films(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"film")


def test_a_dry_run_tells_films_folders_and_what_goes_with_them(shotad: Shotad, tmp_path: Path) -> None:
    films(tmp_path, "a/movie.mp4", "b/movie.mp4")
    (tmp_path / "a" / "movie.srt").write_text("")
    (tmp_path / "list.txt").write_text("# all\na\nb/movie.mp4\nb/gone.mp4\n")
    said = shotad("batch", "--list", tmp_path / "list.txt", "--out", tmp_path / "out", "--dry-run", *FAKE)
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0] == f"1. a/movie.mp4: to be described, into {tmp_path}/out/movie.shotad, with movie.srt."
    assert lines[1] == f"2. b/movie.mp4: to be described, into {tmp_path}/out/b-movie.shotad."
    assert lines[2].startswith("3. gone.mp4: cannot be described. There is no ")
    assert lines[3].startswith("3 films: 2 to describe")
    assert not (tmp_path / "out").exists()
    found = json.loads(shotad("batch", tmp_path, "--out", tmp_path / "out", "--dry-run", "--json", *FAKE).out)
    assert [film["state"] for film in found["films"]] == ["to_do", "to_do"]


def test_no_failures_are_nothing_to_do(shotad, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shotad-batch.json").write_text('{"films": [{"film": "/x.mp4", "state": "done"}]}')
    said = shotad("batch", "--only-failed")
    assert (said.code, said.out) == (0, "No film has failed.\n")


def test_what_leaves_the_machine_is_said_also_where_only_one_film_sends_it(shotad, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    films(tmp_path, "a.mp4", "b.mp4")
    said = shotad("batch", tmp_path, "--dry-run", "--plain", *FAKE)
    assert "leave" not in said.err
    (tmp_path / "b.yaml").write_text(
        "stage1: {engine: openai}\nopenai: {base_url: 'https://models.example/v1', model: any}\n"
    )
    said = shotad("batch", tmp_path, "--dry-run", "--plain", *FAKE)
    assert said.err.count("models.example") == 1, said
