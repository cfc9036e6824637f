"""The wheel in a clean environment: it carries prompts, configs and manifest, and describes a film."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.media import FilmSpec, make_film

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def shotad(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of a clean environment in which nothing but the wheel was installed."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home, with_pip=True)
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    return home / "bin" / "shotad"


def call(program: Path, *words: object) -> subprocess.CompletedProcess[str]:
    environment = {
        key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "SHOTAD_DATA")
    }
    return subprocess.run(
        [str(program), *map(str, words)],
        capture_output=True,
        text=True,
        env=environment,
        cwd="/",
        check=False,
    )


def test_the_wheel_carries_all_it_needs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("prompts", "configs", "models"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file():
                assert f"shotad/_data/{path.relative_to(ROOT).as_posix()}" in names
    assert "shotad/py.typed" in names
    assert not [name for name in names if name.startswith(("tests/", "tools/", "benchmarks/"))]


def test_the_installed_program_describes_a_film(shotad: Path, tmp_path: Path) -> None:
    film = make_film(FilmSpec(frames=200, cuts=(100,))).path
    done = call(shotad, "describe", film, "--out", tmp_path / "w", "--engine", "fake", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["placed"] > 0
    for engine in ("paper", "fake"):
        without_torch = call(
            shotad, "describe", film, "--out", tmp_path / "w", "--config", "paper", "--engine", engine
        )
        assert without_torch.returncode == 1
        assert 'pip install "shotad[models]"' in without_torch.stderr
    without_client = call(
        shotad, "describe", film, "--out", tmp_path / "w", "--engine", "openai", "--set", "openai.model=any"
    )
    assert without_client.returncode == 1
    assert 'pip install "shotad[openai]"' in without_client.stderr
    settings = ("--set", "threads.features=grid", "--set", "scale.method=none")
    plain = ("--config", "paper", "--engine", "fake", *settings)
    assert call(shotad, "describe", film, "--out", tmp_path / "w", *plain).returncode == 0
    listed = call(shotad, "models", "list")
    assert "silero-vad" in listed.stdout


def test_the_embedded_default_works_after_installation(shotad: Path, tmp_path: Path) -> None:
    film = ROOT / "tests" / "sample" / "sample.mp4"
    done = call(shotad, "describe", film, "--out", tmp_path / "w", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["counts"]["placed"] >= 1
    assert done.stderr == ""
    assert call(shotad, "export", "--check", *report["files"]).returncode == 0


def test_the_round_with_names_works_after_installation(shotad: Path, tmp_path: Path) -> None:
    """Discover, name, describe, as in the README; described before without a cast, the film has no name."""
    film, cast, out = ROOT / "tests" / "sample" / "sample.mp4", tmp_path / "c", ("--out", tmp_path / "w")
    before = json.loads(call(shotad, "describe", film, *out, "--json", "--no-sheet").stdout)
    found = call(shotad, "cast", "discover", film, "--cast", cast, *out)
    assert found.returncode == 0, found.stderr
    assert (cast / "overview.html").is_file()
    named = call(shotad, "cast", "name", cast, "person-01", "Eileen Collins", "--speak", "Eileen")
    assert named.returncode == 0, named.stderr
    done = call(shotad, "describe", film, "--cast", cast, *out, "--json", "--no-sheet")
    after = json.loads(done.stdout)
    assert not [line for line in before["lines"] if "Eileen" in line["text"]]
    # The astronaut is in the film from 9 to 20 s and from 24 to 28 s (tests/sample/README.md).
    said = [line["start"] for line in after["lines"] if "Eileen" in line["text"]]
    assert said
    assert all(9 <= start < 28 for start in said)
    assert "Eileen" in after["recognised"]
    dropped = call(shotad, "cast", "forget", cast, "--all", "--yes", "--film-folder", tmp_path / "w")
    assert dropped.returncode == 0, dropped.stderr
    assert not [
        p
        for p in (tmp_path / "w").iterdir()
        if p.suffix in (".json", ".jsonl") and "embeddings" in p.read_text()
    ]
