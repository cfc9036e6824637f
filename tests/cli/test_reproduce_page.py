"""The page on the paper's tables: every command and every row is taken by the program, and asks for what the table says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from shotad.cli.main import cli
from shotad.core import Config, load_config

PAGE = Path(__file__).resolve().parents[2] / "docs/reproduce.md"
TEXT = PAGE.read_text(encoding="utf-8")


def commands() -> list[list[str]]:
    blocks = re.findall(r"^```\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("shotad ")]
    return [shlex.split(line)[1:] for line in lines]


def rows() -> list[Any]:
    """Table, row, and the options that the row adds, of each table that has such a column."""
    found = []
    for section in TEXT.split("\n## ")[1:]:
        table = section.partition(":")[0]
        lines = [line for line in section.splitlines() if line.startswith("|")]
        has_options = False
        for line in lines:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if line.startswith("|---"):
                continue
            if cells[-1] == "add":
                has_options = True
            elif not cells[-1].startswith(("`--", "nothing")):
                has_options = False
            elif has_options:
                options = "" if cells[-1] == "nothing" else cells[-1].strip("`")
                found.append(pytest.param(table, cells[0], options, id=f"{table}, {cells[0]}"))
    return found


@pytest.fixture
def any_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the examples are not here."""
    monkeypatch.setattr(click.Path, "convert", lambda self, value, *_: self.coerce_path_result(value))


def parameters(words: list[str]) -> dict[str, Any]:
    """The parameters of a command as the program reads them. Raises UsageError."""
    command: click.Command = cli
    while isinstance(command, click.Group):
        inner = command.get_command(click.Context(command), words[0])
        assert inner is not None, words[0]
        command, words = inner, words[1:]
    return command.make_context("shotad", list(words)).params


def config_of(given: dict[str, Any]) -> Config:
    """The settings of a command, as `shotad predict` and `shotad evaluate` put them together."""
    return load_config(
        [*given["config"], given["dataset"]],
        given["assignments"],
        engine=given.get("engine"),
        stage2__candidates=given.get("candidates"),
        stage2__draw=given.get("sampling"),
    )


@pytest.mark.usefixtures("any_path")
@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_is_taken_and_its_settings_load(words: list[str]) -> None:
    given = parameters(words)
    if words[0] == "predict" or words[:2] == ["evaluate", "ad"]:
        config = config_of(given)
        assert config.prompt.rules == "paper"
        assert config.engine == "paper"


EXPECTED: dict[tuple[str, str], dict[str, Any]] = {
    ("Table 7", "CMD-AD, GPT-4o"): {"engine": "gpt-4o", "frames.short_side": 336},
    ("Table 8", "GPT-4o"): {"engine": "gpt-4o", "slots.budget": "paper+3"},
    ("Table 4", "A, no context"): {"context.past": 0, "context.future": 0, "overlay.label": "none"},
    ("Table 4", "B, one shot"): {"context.past": 1, "context.future": 1, "overlay.label": "number"},
    ("Table 4", "C, two shots, no label"): {"context.past": 2, "overlay.label": "none"},
    ("Table 4", "D, red frame"): {"context.past": 2, "overlay.label": "box"},
    ("Table 4", "E, uniform sampling"): {"frames.sampling": "uniform", "overlay.label": "number"},
    ("Table 4", "F, shot number"): {"context.past": 2, "overlay.label": "number", "threads.features": "none"},
    ("Table 5", "without threads"): {"threads.features": "none"},
    ("Table 5", "with threads"): {"threads.features": "dinov2-giant-registers"},
    ("Table 6", "base"): {"prompt.factor": "none"},
    ("Table 6", "by shot scale"): {"prompt.factor": "auto"},
    ("Table 9", "one AD"): {"stage2.candidates": 1},
    ("Table 9", "five runs, p 0.9, temperature 0.6"): {
        "stage2.candidates": 5, "stage2.draw": "independent", "stage2.sampling.top_p": 0.9,
        "stage2.sampling.temperature": 0.6, "stage2.sampling.top_k": 50,
    },
    ("Table 9", "five runs, p 0.95, temperature 1.5"): {
        "stage2.candidates": 5, "stage2.draw": "independent", "stage2.sampling.top_p": 0.95,
        "stage2.sampling.temperature": 1.5, "stage2.sampling.top_k": 50,
    },
    ("Table 9", "five in one answer"): {"stage2.candidates": 5, "stage2.draw": "joint"},
    ("Table A1", "Qwen2.5-VL-7B"): {"stage1.model": "Qwen/Qwen2.5-VL-7B-Instruct", "stage2.model": None},
    ("Table A3", "5"): {"seed": 46},
}  # fmt: skip


@pytest.mark.usefixtures("any_path")
@pytest.mark.parametrize(("table", "row", "options"), rows())
@pytest.mark.parametrize("dataset", ["cmd-ad", "tv-ad", "mad-eval"])
def test_every_row_of_every_table_has_its_settings(table: str, row: str, options: str, dataset: str) -> None:
    with_bank = [words for words in commands() if "--cast-bank" in words and "--ids" not in words]
    (base,) = [words for words in with_bank if words[:2] == ["predict", dataset]]
    config = config_of(parameters([*base, *shlex.split(options)]))
    for name, value in EXPECTED.get((table, row), {}).items():
        part: Any = config
        for key in name.split("."):
            part = getattr(part, key)
        assert part == value, name


def test_the_tables_are_there_with_all_their_rows() -> None:
    counts: dict[str, int] = {}
    named = set()
    for parameter in rows():
        table, row, _ = parameter.values
        counts[table] = counts.get(table, 0) + 1
        named.add((table, row))
    assert counts == {
        "Table 7": 4, "Table 8": 2, "Table 4": 6, "Table 5": 2, "Table 6": 6, "Table 9": 4, "Table A1": 5, "Table A3": 5,
    }  # fmt: skip
    assert set(EXPECTED) <= named
