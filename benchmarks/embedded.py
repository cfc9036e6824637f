"""How long the embedded engine takes for a film, as a ratio to the film's length, and what it writes.

    python benchmarks/embedded.py [FILM ...]

Without films the sample film of the repository is described. Weights are fetched before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "tests" / "sample" / "sample.mp4"


def main() -> None:
    """Describe each film into a fresh folder and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("films", nargs="*", type=Path, default=[SAMPLE])
    films = parser.parse_args().films
    run("models", "pull")
    print(f"{os.cpu_count()} cores; wall and CPU time of the whole run, as ratios to the film's length")
    print(f"{'film':32} {'length s':>8} {'wall':>6} {'CPU':>6} {'lines':>6} {'slots':>6}")
    for film in films:
        with tempfile.TemporaryDirectory() as folder:
            wall, cpu, report = timed(film, Path(folder) / "w")
        length = report["described"][1] - report["described"][0]
        spoken = report["counts"]["placed"] + report["counts"]["shortened"]
        slots = len(report["lines"])
        print(f"{film.name:32} {length:8.1f} {wall / length:6.2f} {cpu / length:6.2f} {spoken:6} {slots:6}")


def timed(film: Path, out: Path) -> tuple[float, float, dict]:  # type: ignore[type-arg]
    """Wall seconds, CPU seconds of the process, and the report of describing ``film``."""
    before, start = os.times(), time.monotonic()
    report = json.loads(run("describe", str(film), "--out", str(out), "--engine", "embedded", "--json"))
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - start, cpu, report


def run(*words: str) -> str:
    """What ``shotad`` prints."""
    code = "from shotad.cli.main import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code, *words], check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    return done.stdout


if __name__ == "__main__":
    main()
