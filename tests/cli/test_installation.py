"""What the program says to install goes into its own environment, however it was installed itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from shotad.core.installation import install_command
from tests.cli.program import Shotad


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
