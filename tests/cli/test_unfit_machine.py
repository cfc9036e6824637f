"""What the paper's engines want is told before any work, and an estimate wants no weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Shotad
from tests.media import FilmSpec, SoundSpec, make_film


@pytest.fixture
def film(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A film on a machine without a GPU, without weights, and on which every fetch is a fault."""

    def fetch(*given: object) -> None:
        raise AssertionError(f"fetched {given[0]}")

    for module in ("shotad.engines.local_model", "shotad.description.estimate", "shotad.grammar.choices"):
        monkeypatch.setattr(f"{module}.cached", lambda *_: None)
    monkeypatch.setattr("shotad.engines.local_model.gpu_memory", lambda: 0)
    monkeypatch.setattr("shotad.core.model_loading._fetch", fetch)
    monkeypatch.setattr("shotad.core.weight_store._fetch", fetch)
    monkeypatch.setattr("shotad.core.weight_store._verified", set())
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path / "weights"))
    path = tmp_path / "film.mp4"
    path.write_bytes(make_film(FilmSpec(frames=250, sounds=(SoundSpec(duration=10.0),))).path.read_bytes())
    return path


@pytest.mark.parametrize("asked", ["--config", "--engine"])
def test_the_papers_engines_are_refused_before_any_work(shotad: Shotad, film: Path, asked: str) -> None:
    said = shotad("describe", film, asked, "paper")
    assert said.code == 1
    assert said.err.startswith("Error: This machine cannot run Qwen/Qwen2-VL-7B-Instruct and ")
    assert "a GPU with" in said.err
    assert "32.6 GB" in said.err
    assert not film.with_name("film.mp4.shotad").exists()
    assert [path.name for path in film.parent.iterdir()] == ["film.mp4"]


def test_an_estimate_fetches_nothing_and_says_what_it_left_out(shotad: Shotad, film: Path) -> None:
    said = shotad("describe", film, "--config", "paper", "--estimate")
    assert said.code == 0, said.err
    assert "calls:" in said.out
    assert "An estimate fetches no weights. Without them are left out: speech" in said.err
    assert "dinov2-giant-registers" in said.err
    assert not (film.parent / "weights").exists()
    assert not list(film.parent.glob("*.shotad/s*.json"))
