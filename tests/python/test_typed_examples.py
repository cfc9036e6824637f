"""The examples of the documents pass ``mypy --strict``, as they do in a program of somebody who installed shotad."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_python_interface import ROOT, blocks

pytest.importorskip("mypy")


@pytest.mark.slow  # mypy reads the package
def test_the_examples_are_typed_as_the_package_says(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    # Only what is installed: the package with its marker, no settings of this repository for mypy.
    (site / "shotad").symlink_to(ROOT / "shotad", target_is_directory=True)
    assert (site / "shotad" / "py.typed").is_file()
    names = []
    for page in ("README.md", "docs/python.md"):
        name = page.replace("/", "_").replace(".md", ".py").lower()
        (tmp_path / name).write_text("\n".join(blocks(page)), encoding="utf-8")
        names.append(name)
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import shotad\n\n"
        'shotad.describe("movie.mp4", on_cue=3)\n'
        'shotad.describe("movie.mp4", cancle=None)\n'
        'with shotad.iter_cues("movie.mp4") as cues:\n'
        "    for cue in cues:\n"
        "        cue.txt\n"
        'shotad.evaluate("a.csv", "cmd-ad").values["cider"] + 1\n',
        encoding="utf-8",
    )
    run = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent"]
    run += ["--ignore-missing-imports", f"--cache-dir={tmp_path / 'cache'}", "--no-error-summary"]
    environment = {**os.environ, "MYPYPATH": str(site)}
    done = subprocess.run(
        [*run, *names, wrong.name], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    errors = [line for line in lines if ": error: " in line]
    of_wrong = {int(line.split(":")[1]) for line in errors if line.startswith(wrong.name)}
    assert of_wrong == {3, 4, 7, 8}, done.stdout
    assert [line for line in errors if not line.startswith(wrong.name)] == [], done.stdout
