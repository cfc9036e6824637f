"""The whole table: what each part costs beside a rival or a limit, and how that grows with length.

    python benchmarks/table.py --json benchmarks/results/table.json      # about 45 minutes on two quiet cores
    python benchmarks/table.py --only shots frames --runs 9 --film FILM --film OTHER
    python benchmarks/table.py --only end-to-end --named "Tears of Steel"       # whole runs against decoding
    python benchmarks/table.py --show FILE.json [FILE.json] [--into docs/benchmarks.md]

Each measurement is made in a process of its own; those that are compared take turns, so that a noisy machine
hits all alike. The films are made from the sample film, and for whole runs from real film, unless --film
names others; growth is then measured on 1, 2, 4 and 8 times the first: leave that out (--no-growth) where it
is long. The exit code is 1 where something of ours could not be measured, or rivals did not do the same.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from common import DATA, ROOT, command_line, fill
from pydantic import TypeAdapter
from table_parts.contests import Report, Stage, look, run_all, say
from table_parts.show import disagreements, markdown

from shotad.core.system import memory_total, processors

PARTS = ("shots", "frames", "end-to-end", "rendering", "metrics")
"""Each is a module of `table_parts`, without hyphens."""
PACKAGES = ("numpy", "av", "opencv-python", "scenedetect", "decord", "torch", "transformers", "onnxruntime",
            "pycocoevalcap")  # fmt: skip
REPORTS = TypeAdapter(Report)


def arguments() -> argparse.Namespace:
    parser = command_line(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--named", default="", help="only comparisons whose name holds this; no growth")
    parser.add_argument("--runs", type=int, default=5, help="turns; costly ones have fewer")
    parser.add_argument("--no-growth", action="store_true", help="leave out the growth with length")
    parser.add_argument("--film", type=Path, action="append", default=[], help="measure on it; repeatable")
    parser.add_argument("--json", type=Path, help="write everything here")
    parser.add_argument("--folder", type=Path, help="where made films are kept for the next time")
    parser.add_argument("--data", type=Path, default=DATA / "cmd-ad", help="folder of CMD-AD's annotation")
    parser.add_argument(
        "--show", type=Path, nargs="+", help="measure nothing: print the tables of these JSON files"
    )
    parser.add_argument("--into", type=Path, help="with --show: fill the blocks of those files in this page")
    chosen = parser.parse_args()
    if chosen.runs < 1:
        parser.error(f"--runs must be 1 or more, got {chosen.runs}")
    if chosen.into and not chosen.show:
        parser.error("--into needs --show: a page shows what a file says")
    return chosen


def main() -> None:
    chosen = arguments()
    if chosen.show:
        show(chosen.show, chosen.into)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = (chosen.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        sys.exit(run(chosen, folder))


def read_report(file: Path) -> Report:
    """A report that was written before. Raises ValueError."""
    return REPORTS.validate_json(file.read_bytes())


def show(files: Sequence[Path], into: Path | None) -> None:
    tables: dict[str, str] = {}
    for file in files:
        try:
            table = markdown(read_report(file))
        except (OSError, ValueError) as error:
            sys.exit(f"{file} is no file of results ({error}); write one with --json.")
        if into is None:
            print(table)
        else:
            source = Path(os.path.relpath(file.resolve(), into.resolve().parent)).as_posix()
            tables[source] = table
    if into is not None:
        fill(into, "benchmarks", tables)


def run(chosen: argparse.Namespace, folder: Path) -> int:
    machine = machine_now()
    try:
        own = tuple(look(path.resolve()) for path in chosen.film)
    except (OSError, ValueError) as error:
        sys.exit(f"A film cannot be read: {error}")
    grows = not chosen.no_growth and not chosen.named
    stage, contests, broken = Stage(folder, own, chosen.data, grows), [], False
    for name in chosen.only:
        try:
            part = importlib.import_module(f"table_parts.{name.replace('-', '')}")
            contests += [contest for contest in part.plan(stage) if chosen.named in contest.name]
        except Exception as error:  # noqa: BLE001 - whatever it is, the other parts can be measured
            broken = True
            stage.left_out.append((name, f"could not be got ready: {type(error).__name__}: {error}"))
            say(" ".join(stage.left_out[-1]))
    report = Report(datetime.now(UTC).date().isoformat(), machine, versions(), contests, stage.left_out)

    def keep() -> None:
        report.machine["load_after"] = _load()
        if chosen.json:
            chosen.json.parent.mkdir(parents=True, exist_ok=True)
            unfinished = chosen.json.with_suffix(".part")
            unfinished.write_bytes(REPORTS.dump_json(report, indent=1) + b"\n")
            unfinished.replace(chosen.json)

    run_all(report.contests, chosen.runs, folder, keep)
    print(markdown(report))
    failed = (one.missing for contest in report.contests for one in contest.entrants if one.role == "ours")
    return int(broken or any(failed) or any(map(disagreements, report.contests)))


def machine_now() -> dict[str, Any]:
    """The machine in words, without its name, and how busy it is now."""
    memory, cores = (memory_total() or 0) / 2**30, processors()
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", info.read_text(encoding="utf-8")) if info.exists() else None
    name = re.sub(r"\s+|\(R\)|\(TM\)", " ", found[1] if found else platform.machine())
    words = f"{' '.join(name.split())}, {cores} cores, {memory:.0f} GiB of memory, {platform.system()}"
    return {"words": f"{words}, no GPU used", "cores": cores, "load_before": _load()}


def _load() -> float:
    """Processes that wanted to run, mean of the last minute."""
    return round(os.getloadavg()[0], 1)


def versions() -> dict[str, str]:
    """Python, shotad with its commit, and the packages that do the work or are compared with."""
    from shotad import __version__

    command = ["git", "log", "-1", "--format=%h"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    commit = f" ({done.stdout.strip()})" if done.returncode == 0 else ""
    told = {"python": platform.python_version(), "shotad": f"{__version__}{commit}"}
    for name in PACKAGES:
        try:
            told[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            told[name] = "not installed"
    return told


if __name__ == "__main__":
    main()
