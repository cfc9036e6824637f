"""The whole table: what each part costs beside a rival or a limit, and how that grows with length.

    python benchmarks/table.py --json benchmarks/results/table.json      # about 20 minutes on two quiet cores
    python benchmarks/table.py --only shots,frames --runs 9 --film FILM --film OTHER
    python benchmarks/table.py --show FILE.json [--into docs/benchmarks.md]

Parts: shots, frames, features, end-to-end, rendering, metrics. Each measurement is made in a
process of its own; those that are compared take turns, so that a noisy machine hits all alike; ratios are
those within a turn. The films are made from the sample film, unless --film names others. Wall time, CPU time
(all threads and programs) and peak memory of every single run are in the JSON, with the machine in words and
the versions. The exit code is 1 where something of ours could not be measured, or rivals did not do the same;
a part that fails stops no other. With --film the films of a growth are 1, 2, 4 and 8 times the first of them:
leave that out (--no-growth) where it is long.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from page_blocks import put_into
from table_parts.figures import disagreements
from table_parts.kinds import Contest, Growth, Report
from table_parts.running import Runner, load, machine, versions
from table_parts.show import markdown, missed
from table_parts.stage import Plan, Stage, look

from shotad.core import processors

HERE = Path(__file__).resolve().parent
PARTS = {
    "shots": "shots",
    "frames": "frames",
    "features": "features",
    "end-to-end": "endtoend",
    "rendering": "rendering",
    "metrics": "metrics",
}
"""Name → module of `table_parts`."""
DATA = HERE.parents[1] / "shared" / "data" / "cmd-ad"


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", help=f"some parts, with commas: {','.join(PARTS)}")
    parser.add_argument("--runs", type=int, default=5, help="turns; costly ones have fewer")
    parser.add_argument("--no-growth", action="store_true", help="leave out the growth with length")
    parser.add_argument(
        "--film", type=Path, action="append", default=[], help="measure on this film; repeatable"
    )
    parser.add_argument("--json", type=Path, help="write everything here")
    parser.add_argument("--folder", type=Path, help="where made films are kept for the next time")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of CMD-AD's annotation")
    parser.add_argument("--show", type=Path, help="measure nothing: print the table of this JSON")
    parser.add_argument("--into", type=Path, help="with --show: fill the block of that JSON in this page")
    chosen = parser.parse_args(words)
    if chosen.runs < 1:
        parser.error(f"--runs must be 1 or more, got {chosen.runs}")
    if chosen.into and not chosen.show:
        parser.error("--into needs --show: a page shows what a file says")
    chosen.only = chosen.only.split(",") if chosen.only else list(PARTS)
    unknown = [name for name in chosen.only if name not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}; there are: {', '.join(PARTS)}")
    return chosen


def main() -> None:
    """Measure and print, or print what was measured."""
    chosen = arguments()
    if chosen.show:
        show(chosen)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            folder = (chosen.folder or Path(temporary)).resolve()
            folder.mkdir(parents=True, exist_ok=True)
            sys.exit(run(chosen, folder))


def show(chosen: argparse.Namespace) -> None:
    """Print a report that was written before; or put it into a page."""
    try:
        report = Report.from_json(json.loads(chosen.show.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        sys.exit(f"{chosen.show} is no file of results ({error}); write one with --json.")
    if chosen.into is None:
        print(markdown(report))
        return
    page = chosen.into.resolve()
    source = Path(os.path.relpath(chosen.show.resolve(), page.parent)).as_posix()
    try:
        filled = put_into(page.read_text(encoding="utf-8"), "benchmarks", {source: markdown(report)})
    except (OSError, ValueError) as error:
        sys.exit(f"{chosen.into}: {error}")
    page.write_text(filled, encoding="utf-8")


def run(chosen: argparse.Namespace, folder: Path) -> int:
    """Everything that was asked for; the exit code."""
    here, began = machine(), time.monotonic()
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
    plan, broken = plans(chosen, folder)
    say(f"films and texts made in {time.monotonic() - began:.0f} s")
    made = datetime.now(UTC).date().isoformat()

    def report_of(contests: Sequence[Contest], growths: Sequence[Growth]) -> Report:
        told = {**here, "load_after": load()}
        return Report(made, told, versions(), tuple(contests), tuple(growths), plan.left_out)

    def keep(contests: Sequence[Contest], growths: Sequence[Growth]) -> None:
        if chosen.json:
            unfinished = chosen.json.with_suffix(".part")
            whole = json.dumps(report_of(contests, growths).to_json(), indent=1)
            unfinished.write_text(whole + "\n", encoding="utf-8")
            unfinished.replace(chosen.json)

    runner = Runner(folder, say, processors(), keep)
    contests, growths = runner.all(plan.contests, plan.growths, chosen.runs)
    report = report_of(contests, growths)
    print(markdown(report))
    for line in missed(report):
        print(f"Target missed: {line}")
    entrants = [entrant for one in (*contests, *growths) for entrant in one.entrants]
    failed = any(entrant.missing and entrant.role == "ours" for entrant in entrants)
    return int(broken or failed or any(disagreements(contest) for contest in contests))


def plans(chosen: argparse.Namespace, folder: Path) -> tuple[Plan, bool]:
    """What is to be measured, and whether a part could not be got ready; films are made on the way."""
    try:
        own = tuple(look(path.resolve()) for path in chosen.film)
    except (OSError, ValueError) as error:
        sys.exit(f"A film cannot be read: {error}")
    data = chosen.data if (chosen.data / "cmdad_anno.csv").is_file() else None
    stage = Stage(folder, own, data, processors(), chosen.runs, grows=not chosen.no_growth)
    whole, broken = Plan(), False
    for name in chosen.only:
        try:
            plan = importlib.import_module(f"table_parts.{PARTS[name]}").plan(stage)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other parts can be measured
            broken = True
            plan = Plan(left_out=((name, f"could not be got ready: {type(error).__name__}: {error}"),))
            say(" ".join(plan.left_out[0]))
        whole = Plan(*(getattr(whole, part.name) + getattr(plan, part.name) for part in fields(Plan)))
    return whole, broken


def say(line: str) -> None:
    """Told on the way, beside what is printed at the end."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
