"""Describe films with real models and print what they cost and what they wrote, for the README's table.

    python tools/try_real_models.py --engine small --engine ollama:qwen2.5vl:7b [FILM ...] > table.md

For who has a network or a GPU: no figure of a large model was measured where shotad is built. Each engine
describes each film (by default the sample) in a process of its own, from nothing. Standard output gets the
table; ``real_models.json`` (``--out``) gets what was measured and every line with its time, but no frames and
no paths, so that it can be sent to the project. Memory is that of the process, a server's own is not counted.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import shotad
from shotad.core.system import (
    gpu_memory,
    memory_total,
    processors,
)

SAMPLE = Path(__file__).parents[1] / "tests" / "sample" / "sample.mp4"
HEAD = "| engine | film | lines | failed | seconds a line | GB | lint errors, warnings | tokens in, out |"


def describe(film: Path, engine: str, more: list[str]) -> dict[str, Any]:
    """What one engine made of one film; ``error`` where it made nothing."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "shotad", "describe", str(film), "--engine", engine, "--out", folder]
        command += ["--json", "--profile", "--no-sheet", *(word for one in more for word in ("--set", one))]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if not run.stdout.startswith("{"):
        return {"engine": engine, "film": film.name, "error": f"exit code {run.returncode}"}
    said = json.loads(run.stdout)
    heard = [line for line in said["lines"] if line["status"] in ("placed", "shortened", "edited")]
    return {
        "engine": engine,
        "film": film.name,
        "lines": [[line["start"], line["end"], line["text"]] for line in heard],
        "failed": said["counts"]["failed"],
        "seconds": said["profile"]["wall"],
        "memory": said["profile"]["memory"],
        "guidelines": said["guidelines"],
        "used": said["used"],
    }


def row(found: dict[str, Any]) -> str:
    """A line of the table."""
    if "error" in found:
        return f"| {found['engine']} | {found['film']} | {found['error']} | | | | | |"
    lines, used = len(found["lines"]), found["used"]
    lint = found["guidelines"] or {"errors": "-", "warnings": "-"}
    cells = [
        found["engine"],
        found["film"],
        str(lines),
        str(found["failed"]),
        f"{found['seconds'] / lines:.1f}" if lines else "-",
        f"{found['memory'] / 1e9:.1f}",
        f"{lint['errors']}, {lint['warnings']}",
        f"{used['tokens_in']}, {used['tokens_out']}" if used else "-",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Print the table; 1 where an engine made nothing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("films", nargs="*", type=Path, default=[SAMPLE], metavar="FILM")
    parser.add_argument("--engine", action="append", required=True, help="as of shotad describe; repeatable")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="more")
    parser.add_argument("--out", type=Path, default=Path("real_models.json"))
    given = parser.parse_args()
    machine = {
        "shotad": shotad.__version__,
        "python": platform.python_version(),
        "processors": processors(),
        "memory": memory_total(),
        "gpu_memory": gpu_memory(),
    }
    found: list[dict[str, Any]] = []
    print(HEAD, "|" + "---|" * 8, sep="\n")
    for film in given.films:
        for engine in given.engine:
            found.append(describe(film, engine, given.more))
            print(row(found[-1]), flush=True)
            given.out.write_text(json.dumps({"machine": machine, "runs": found}, indent=1), encoding="utf-8")
    return int(any("error" in one for one in found))


if __name__ == "__main__":
    sys.exit(main())
