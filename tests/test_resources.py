"""Where prompts, configs and the manifest are found: a person's folder, the checkout, the wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import ConfigError, PromptError, data_root, prompt_text, settings as resources
from shotad.core.settings import config_path, manifest_path

CHECKOUT = Path(__file__).resolve().parents[1]


def test_checkout_is_found_without_any_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOTAD_DATA", raising=False)
    assert data_root() == CHECKOUT
    assert manifest_path() == CHECKOUT / "models" / "manifest.yaml"


def test_persons_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prompts" / "stage1").mkdir(parents=True)
    (tmp_path / "prompts" / "stage1" / "mine.txt").write_text("Zoë runs.\n", encoding="utf-8")
    monkeypatch.setenv("SHOTAD_DATA", str(tmp_path))
    assert data_root() == tmp_path
    assert prompt_text("stage1/mine") == "Zoë runs.\n"
    with pytest.raises(PromptError, match="stage1/base cannot be read"):
        prompt_text("stage1/base")


def test_wheel_holds_its_data_beside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOTAD_DATA", raising=False)
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "shotad")
    assert data_root() == tmp_path / "shotad" / "_data"


def test_file_in_the_folder_does_not_hide_a_named_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "paper").touch()
    monkeypatch.chdir(tmp_path)
    assert config_path("paper") == data_root() / "configs" / "paper.yaml"
    assert config_path("./paper") == Path("./paper")


@pytest.mark.parametrize("name", ["papers", "../pyproject", "configs/paper"])
def test_unknown_config_answers_with_the_names(name: str) -> None:
    with pytest.raises(ConfigError, match=name.replace(".", r"\.")) as caught:
        config_path(name)
    assert "cmd-ad, default, gpt-4o, mad-eval, paper, predict, reference-code" in caught.value.hint


@pytest.mark.parametrize("name", ["nothing", "stage1"])
def test_unknown_prompt_is_named(name: str) -> None:
    with pytest.raises(PromptError, match=f"The prompt {name} cannot be read"):
        prompt_text(name)
