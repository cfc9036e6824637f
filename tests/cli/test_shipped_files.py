"""``shotad sample`` and ``shotad files``: what comes with the program, copied for use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.core import load_config
from shotad.core.settings import prompt_file
from tests.cli.program import Shotad
from tests.sample_run import SAMPLE

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, far from the checkout, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_sample_film_is_copied_to_where_one_is(shotad: Shotad, here: Path) -> None:
    done = shotad("sample")
    assert done.code == 0
    assert (here / "sample.mp4").read_bytes() == SAMPLE.read_bytes()
    assert "shotad describe sample.mp4" in done.out
    inner = shotad("sample", "a film/s", "--json")
    assert json.loads(inner.out) == {"film": str(Path("a film/s/sample.mp4"))}
    assert (here / "a film/s/sample.mp4").read_bytes() == SAMPLE.read_bytes()


def test_a_copy_that_is_there_is_left_and_another_film_is_not_overwritten(shotad: Shotad, here: Path) -> None:
    assert shotad("sample").code == 0
    written = (here / "sample.mp4").stat().st_mtime_ns
    assert shotad("sample").code == 0
    assert (here / "sample.mp4").stat().st_mtime_ns == written
    (here / "sample.mp4").write_bytes(b"my own film")
    refused = shotad("sample")
    assert refused.code == 1
    assert "sample.mp4 is in the way" in refused.err
    assert (here / "sample.mp4").read_bytes() == b"my own film"


def test_all_prompts_and_configs_are_listed(shotad: Shotad) -> None:
    listed = {row["name"]: row for row in json.loads(shotad("files", "--json").out)["files"]}
    for folder in ("prompts", "configs", "models"):
        for path in (ROOT / folder).rglob("*"):
            assert not path.is_file() or path.relative_to(ROOT).as_posix() in listed
    assert {"sample/sample.mp4", "sample/sample.en.vtt", "sample/README.md"} < set(listed)
    assert all(Path(row["path"]).is_file() and not row["own"] for row in listed.values())


def test_copies_keep_their_paths_so_that_a_changed_one_can_be_used(
    shotad: Shotad, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = shotad("files", "prompts/stage1.j2", "configs/ray", "./configs/paper.yaml", "--to", "mine")
    assert done.code == 0
    copies = {
        path.relative_to(here / "mine").as_posix() for path in (here / "mine").rglob("*.*") if path.is_file()
    }
    rays = {f"configs/ray/{path.name}" for path in (ROOT / "configs/ray").iterdir()}
    assert copies == {"prompts/stage1.j2", "configs/paper.yaml", *rays}
    (here / "mine/prompts/stage1.j2").write_text("changed", encoding="utf-8")
    monkeypatch.setenv("SHOTAD_DATA", "mine")
    assert prompt_file("stage1.j2")[1] == "changed"
    assert load_config("paper") is not None
    assert "prompts/stage1.j2  (yours is used: mine/prompts/stage1.j2)" in shotad("files").out.splitlines()
    assert "prompts/stage2.j2" in shotad("files").out.splitlines()


def test_nothing_is_copied_where_one_file_is_in_the_way(shotad: Shotad, here: Path) -> None:
    (here / "prompts").mkdir()
    (here / "prompts/verify.j2").write_text("mine", encoding="utf-8")
    refused = shotad("files", "prompts")
    assert refused.code == 1
    assert str(Path("prompts/verify.j2")) in refused.err
    assert [path.name for path in (here / "prompts").iterdir()] == ["verify.j2"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("prompts/stag1.j2",), "Did you mean prompts/stage1.j2?"),
        (("../README.md",), "shotad files lists them all"),
        ((".",), "shotad files lists them all"),
        (("",), "shotad files lists them all"),
        (("--to", "mine"), "Name one"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    shotad: Shotad, here: Path, words: tuple[str, ...], hint: str
) -> None:
    refused = shotad("files", *words)
    assert refused.code == 2
    assert hint in refused.err
    assert list(here.iterdir()) == []
