"""The guides and the README: every ``shotad`` command in them is one that the program takes, every link leads
somewhere. And the tools for who has real models: what they print is what a run made."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from shotad import load_track
from shotad.batch import load_ray_settings
from shotad.cli.main import cli
from shotad.core import load_config
from shotad.script import EditField, save_track
from shotad.script.cue import accept, mark_edit
from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, make_film

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LEFT_OUT = ("…", "...")


def commands_of(text: str) -> Iterator[list[str]]:
    """The words of each command in the code blocks of a page; one that leaves something out is left out."""
    for block in _BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            words = line.strip().removeprefix("$ ")
            if words.startswith("shotad ") and not any(mark in words for mark in _LEFT_OUT):
                told = shlex.split(words.partition("|")[0], comments=True)
                yield [word for word in told[1:] if not word.startswith((">", "2>"))]


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def anchors(page: Path) -> set[str]:
    """Of a page's headings, as web sites that show Markdown make them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        if not name.startswith(("http://", "https://")):
            target = page.parent / name if name else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


_OF_A_CHECKOUT = re.compile(
    r"\bpython (tools|benchmarks|tests)/|\btools/check|constraints(-dev)?\.txt|\btests/"
)
"""What a command names that an installed package lacks."""


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_command_that_needs_a_checkout_is_said_to_need_it(page: Path) -> None:
    """Most readers have installed a package: for them only a page's words about checkouts lead to such a one."""
    text = page.read_text(encoding="utf-8")
    commands = [line for block in _BLOCK.findall(text) for line in block.splitlines()]
    needing = [line for line in commands if _OF_A_CHECKOUT.search(line)]
    assert not needing or re.search(r"in a\s+checkout", text, re.IGNORECASE), needing


def test_every_extra_that_is_named_is_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    named: dict[str, str] = {}
    for path in [*pages(), ROOT / "CONTRIBUTING.md", *(ROOT / "shotad").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        for brackets in re.findall(r"(?:shotad|whl|\"\.)\[([a-z0-9,]+)\]", text):
            named |= dict.fromkeys(brackets.split(","), str(path))
        for words in re.findall(r"\bextras?((?:,? (?:and )?`[a-z0-9]+`)+)", text):
            named |= dict.fromkeys(re.findall(r"`([a-z0-9]+)`", words), str(path))
    assert {name: path for name, path in named.items() if name not in extras} == {}
    assert {"voice", "review", "openai", "models", "train", "heic"} <= set(named)
    installing = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    table = installing.partition("## Extras")[2].partition("To add one")[0]
    listed = set(re.findall(r"`(\w+)`", table))
    assert extras - listed == {"dev", "docs"}


def shown() -> list[Any]:
    return [
        pytest.param(words, id=f"{page.name}: {' '.join(words)}")
        for page in pages()
        for words in commands_of(page.read_text(encoding="utf-8"))
    ]


@pytest.fixture
def any_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the examples are not here."""
    monkeypatch.setattr(click.Path, "convert", lambda self, value, *_: self.coerce_path_result(value))


def taken(words: list[str]) -> None:
    """Reads a command as the program does, and does not run it. Raises UsageError."""
    command: click.Command = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            raise click.UsageError(f"no command {words[0]}")
        command, words = found, words[1:]
    with suppress(click.exceptions.Exit):  # --help, --version
        command.make_context("shotad", list(words))


@pytest.mark.usefixtures("any_path")
@pytest.mark.parametrize("words", shown())
def test_a_command_that_is_shown_is_taken(words: list[str]) -> None:
    taken(words)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_setting_that_is_shown_can_be_set(page: Path) -> None:
    found = re.findall(r"--set ([a-z0-9_.]+=[^\s`)…]+)", page.read_text(encoding="utf-8"))
    for assignment in found if page.name != "training.md" else ():
        load_config(None, (assignment,))


@pytest.mark.usefixtures("any_path")
def test_the_job_of_the_kubernetes_example_can_be_run(tmp_path: Path) -> None:
    documents = list(yaml.safe_load_all((ROOT / "configs/ray/kuberay.yaml").read_text(encoding="utf-8")))
    (job,) = (one for one in documents if one["kind"] == "RayJob")
    (given,) = (one for one in documents if one["kind"] == "ConfigMap")
    words = shlex.split(job["spec"]["entrypoint"])
    taken(words[1:])
    file = tmp_path / Path(words[words.index("--ray-config") + 1]).name
    file.write_text(given["data"][file.name])
    settings = load_ray_settings([str(file)])
    (pool,) = (one for one in documents if one["kind"] == "StatefulSet")
    assert len(settings.servers) == pool["spec"]["replicas"]


def test_the_cluster_of_the_cloud_example_is_one_to_ray() -> None:
    pytest.importorskip("ray", reason='Ray reads the example: pip install "shotad[ray]"')
    from ray.autoscaler._private.util import prepare_config, validate_config

    found = yaml.safe_load((ROOT / "configs/ray/cluster.yaml").read_text(encoding="utf-8"))
    for kind in found["available_node_types"].values():
        kind.setdefault("resources", {"CPU": 4})  # as Ray learns from AWS
    validate_config(prepare_config(found))


@pytest.mark.usefixtures("any_path")
def test_a_command_that_is_wrong_is_found() -> None:
    for line in ("shotad describ film.mp4", "shotad batch films --rays", "shotad batch films --settle soon"):
        (words,) = commands_of(f"```\n{line}\n```\n")
        with pytest.raises(click.UsageError):
            taken(words)


TOOLS = ROOT / "tools"


def test_what_engines_cost_and_write_is_measured(tmp_path: Path) -> None:
    film, out = make_film(FilmSpec(frames=200, cuts=(100,))).path, tmp_path / "found.json"
    settings = [word for one in FAKE[3::2] for word in ("--set", one)]
    command = [sys.executable, TOOLS / "try_real_models.py", film, "--engine", "fake", "--engine", "none"]
    run = subprocess.run([*command, *settings, "--out", out], capture_output=True, text=True, check=False)
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
    pairs_file = tmp_path / "pairs.jsonl"
    done = shotad("train", "pairs", folder, "--out", pairs_file)
    assert done.code == 0, done.err
    assert done.out == f"1 pairs: {pairs_file}\n"
    (pair,) = map(json.loads, pairs_file.read_text(encoding="utf-8").splitlines())
    assert pair["chosen"] == [{"role": "assistant", "content": "She opens the door."}]
    assert pair["rejected"] == [{"role": "assistant", "content": first.text}]
    assert [turn["role"] for turn in pair["prompt"]] == ["system", "user"]
    assert pair["seconds"][0] <= pair["start"] < pair["seconds"][-1]
    (folder / "stage2.jsonl").write_text('{"key": "a", "slot": 3}\n', encoding="utf-8")
    damaged = shotad("train", "pairs", folder, "--out", pairs_file)
    assert damaged.code == 1
    assert "stage2.jsonl is damaged" in damaged.err
