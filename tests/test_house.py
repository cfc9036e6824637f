"""The package: cheap imports stay cheap, and nothing of a machine stands in the tree. Layers are checked by lint-imports."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

HEAVY = (
    "starlette", "uvicorn", "torch", "cv2", "spacy", "scipy", "matplotlib", "av", "onnxruntime",
    "scenedetect", "lxml", "transformers", "jinja2", "ray", "fsspec", "pyarrow",
)  # fmt: skip

LIGHT = (
    "", "describe", "batch", "render", "review", "lint", "voices", "translate", "evaluate threads", "evaluate ad",
    "evaluate assisted", "evaluate cml", "evaluate inter-rater", "evaluate stage", "evaluate steps", "evaluate story",
    "datasets check", "predict", "train scale", "sheet", "screenplay",
)  # fmt: skip
"""Commands whose help costs nothing."""


def test_cheap_things_load_nothing_heavy() -> None:
    code = f"""
import shotad, sys
print(len([m for m in sys.modules if m.startswith("shotad")]) <= 3)
shotad.Track, shotad.ShotadError, shotad.load_config, shotad.Shot, shotad.describe
from shotad.cli.main import cli
for words in {LIGHT!r}:
    cli.main([*words.split(), "--help"], standalone_mode=False)
    print("HEAVY", words, [m for m in {HEAVY!r} if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told = [line for line in done.stdout.splitlines() if line.startswith(("HEAVY", "True", "False"))]
    assert told == ["True", *(f"HEAVY {words} []" for words in LIGHT)]


KNOWS_SYSTEMS = ("core/system.py", "core/posix.py", "core/windows.py", "batch/ray/guard.py")
"""Where it may be asked which system this is; guard.py loads nothing of shotad."""
ASKS = re.compile(
    r"\bsys\.platform\b|\bos\.name\b|\bplatform\.system\(|\bhasattr\((?:os|signal|socket|time),"
)


def test_which_system_this_is_is_asked_in_one_place() -> None:
    """Names that a system lacks are found by mypy, which tools/check runs for Windows and macOS too."""
    asking = []
    for path in sorted((ROOT / "shotad").rglob("*.py")):
        name = path.relative_to(ROOT / "shotad").as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if name not in KNOWS_SYSTEMS and ASKS.search(line) and 'f"{platform' not in line:
                asking.append(f"{name}:{number}: {line.strip()}")
    assert asking == []


def test_both_sides_have_the_same_names() -> None:
    sides = [
        ast.parse((ROOT / "shotad" / "core" / f"{side}.py").read_text(encoding="utf-8"))
        for side in ("posix", "windows")
    ]
    assert public(sides[0]) == public(sides[1])


def public(module: ast.Module) -> dict[str, str]:
    """The public names at the top of a module, functions with their arguments."""
    names: dict[str, str] = {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            names[node.name] = ", ".join(
                argument.arg.lstrip("_") for argument in node.args.args + node.args.kwonlyargs
            )
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = ""
    return {name: arguments for name, arguments in names.items() if not name.startswith("_")}


def modules_with_examples() -> list[str]:
    """The modules whose docstrings have examples; not those of Ray, which need its extra."""
    names: list[str] = []
    for path in sorted((ROOT / "shotad").rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8") and "ray" not in path.parts:
            names.append(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return names


@pytest.mark.parametrize("name", modules_with_examples())
def test_the_examples_in_docstrings_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
    assert result.failed == 0


def test_nothing_of_this_workplace_stands_in_the_tree() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".yaml", ".txt", ".json"} and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            for word in ("/" + "work/", "/" + "root/", "pypi." + "org", "registry.npm" + "js.org"):
                assert word not in text, f"{name} names {word}"


REFERENCE = re.compile(r"(?<!`)`(shotad(?:\.\w+)+)(?:\(\))?`(?!`)")
"""A name of the package, in a docstring or a document."""


def test_names_that_docstrings_and_documents_give_exist() -> None:
    files = [*(ROOT / "shotad").rglob("*.py"), *(ROOT / "docs").glob("*.md")]
    names = {
        (name, path.name) for path in files for name in REFERENCE.findall(path.read_text(encoding="utf-8"))
    }
    assert len(names) > 50
    missing = sorted(f"{file}: {name}" for name, file in names if not _exists(name))
    assert missing == []


def _exists(name: str) -> bool:
    if name in ("shotad.yaml", "shotad.core.windows", "shotad.core.posix"):
        return True  # a file; modules of which each system has one
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            holder = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            # Fields of dataclasses without a default are annotations alone.
            if not hasattr(holder, part):
                return part in getattr(holder, "__annotations__", {})
            holder = getattr(holder, part)
        return True
    return False
