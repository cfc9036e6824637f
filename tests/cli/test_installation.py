"""What the program says to install goes into its own environment, however it was installed itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shotad.core.installation import install_command
from tests.cli.program import Shotad
from tests.sample_run import ROOT, SAMPLE


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment that this program runs in, as far as it can tell."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path


def test_by_pip_in_an_environment_of_ones_own(environment: Path) -> None:
    assert install_command("shotad[openai]") == 'pip install "shotad[openai]"'
    assert (
        install_command("bitsandbytes", "torchvision==0.28.*")
        == 'pip install bitsandbytes "torchvision==0.28.*"'
    )


def test_by_pipx_where_pipx_installed_it(environment: Path) -> None:
    (environment / "pipx_metadata.json").write_text("{}", encoding="utf-8")
    assert install_command("shotad[openai]") == 'pipx runpip shotad install "shotad[openai]"'
    assert install_command("gcsfs") == "pipx runpip shotad install gcsfs"


def test_by_uv_where_uv_installed_it(environment: Path) -> None:
    (environment / "uv-receipt.toml").write_text("[tool]\n", encoding="utf-8")
    assert install_command("shotad[openai]") == f'uv pip install --python "{environment}" "shotad[openai]"'


def test_the_doctor_and_errors_name_that_command(
    shotad: Shotad, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (environment / "pipx_metadata.json").write_text("{}", encoding="utf-8")
    for name in ("pycocoevalcap", "starlette"):
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    findings = [check["finding"] for check in json.loads(shotad("doctor", "--json").out)]
    assert any('not installed: pipx runpip shotad install "shotad[coco]"' in finding for finding in findings)
    (environment / "film.shotad").mkdir()
    (environment / "film.shotad/track.json").write_text("{}", encoding="utf-8")
    refused = shotad("review", environment / "film.shotad")
    assert 'pipx runpip shotad install "shotad[review]"' in refused.err


@pytest.fixture
def without_libgl(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine without a desktop, on which cv2 cannot be imported."""
    (tmp_path / "modules/cv2").mkdir(parents=True)
    message = "libGL.so.1: cannot open shared object file: No such file or directory"
    (tmp_path / "modules/cv2/__init__.py").write_text(f"raise ImportError({message!r})\n", encoding="utf-8")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "modules"), str(ROOT)])}


@pytest.mark.parametrize("command", ["shots", "describe"])
def test_a_library_of_the_system_that_is_missing_is_named(
    without_libgl: dict[str, str], tmp_path: Path, command: str
) -> None:
    words = [sys.executable, "-m", "shotad", command, str(SAMPLE), "--out", str(tmp_path / "out")]
    done = subprocess.run(words, env=without_libgl, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert "The system library libGL.so.1 is not installed." in said
    assert said.endswith("apt install libgl1.")


def test_the_doctor_finds_it_before_a_film_is_described(without_libgl: dict[str, str]) -> None:
    words = [sys.executable, "-m", "shotad", "doctor"]
    done = subprocess.run(words, env=without_libgl, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert any("opencv" in line and "libGL.so.1" in line for line in done.stdout.splitlines()), done.stdout
    assert "Trouble with opencv" in done.stderr
