"""The whole table: what each part costs beside a rival or a limit, and how that grows with length.

    python benchmarks/table.py --quick                       # less than 3 minutes on two quiet cores
    python benchmarks/table.py --json benchmarks/results/table.json      # about 20
    python benchmarks/table.py --only shots,frames --runs 9 --film FILM --film OTHER
    python benchmarks/table.py --show FILE.json [--markdown] [--into README.md]

Parts: shots, frames, threads, features, end-to-end, rendering, metrics. Each measurement is made in a
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
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from table_parts.kinds import Contest, Growth

Reason = tuple[str, str]
"""What was left out, and why."""

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

PARTS = {
    "shots": "shots",
    "frames": "frames",
    "threads": "threadscores",
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
    parser.add_argument("--runs", type=int, help="turns (5; 2 where --quick); costly ones have fewer")
    parser.add_argument("--quick", action="store_true", help="short films, few turns")
    parser.add_argument("--shortest", type=float, help="seconds of the shortest film of every growth")
    parser.add_argument("--no-growth", action="store_true", help="leave out the growth with length")
    parser.add_argument(
        "--film", type=Path, action="append", default=[], help="measure on this film; repeatable"
    )
    parser.add_argument("--json", type=Path, help="write everything here")
    parser.add_argument("--folder", type=Path, help="where made films are kept for the next time")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of CMD-AD's annotation")
    parser.add_argument("--show", type=Path, help="measure nothing: print the table of this JSON")
    parser.add_argument("--markdown", action="store_true", help="as Markdown")
    parser.add_argument("--into", type=Path, help="with --show: fill the block of that JSON in this page")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    chosen = parser.parse_args(words)
    if chosen.runs is not None and chosen.runs < 1:
        parser.error(f"--runs must be 1 or more, got {chosen.runs}")
    if chosen.shortest is not None and chosen.shortest <= 0:
        parser.error(f"--shortest must be more than 0 seconds, got {chosen.shortest:g}")
    if chosen.into and not chosen.show:
        parser.error("--into needs --show: a page shows what a file says")
    chosen.only = chosen.only.split(",") if chosen.only else list(PARTS)
    unknown = [name for name in chosen.only if name not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}; there are: {', '.join(PARTS)}")
    chosen.runs = chosen.runs or (2 if chosen.quick else 5)
    return chosen


def main() -> None:
    """Measure and print, or print what was measured."""
    chosen = arguments()
    if chosen.one:
        from table_parts.child import main as measure_one

        measure_one(chosen.one)
        return
    if chosen.show:
        show(chosen)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = (chosen.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        sys.exit(run(chosen, folder))


def show(chosen: argparse.Namespace) -> None:
    """Print a report that was written before; or put it into a page."""
    from table_parts.kinds import Report
    from table_parts.show import markdown, put_into, text

    try:
        report = Report.from_json(json.loads(chosen.show.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{chosen.show} is no file of results ({error}); write one with --json.")
    if chosen.into is None:
        print(markdown(report) if chosen.markdown else text(report))
        return
    page = chosen.into.resolve()
    source = Path(os.path.relpath(chosen.show.resolve(), page.parent)).as_posix()
    try:
        filled = put_into(page.read_text(encoding="utf-8"), source, markdown(report))
    except (OSError, ValueError) as error:
        sys.exit(f"{chosen.into}: {error}")
    page.write_text(filled, encoding="utf-8")


def run(chosen: argparse.Namespace, folder: Path) -> int:
    """Everything that was asked for; the exit code."""
    from table_parts.figures import disagreements, summary
    from table_parts.kinds import Report
    from table_parts.machine import load, machine, versions
    from table_parts.show import markdown, missed, text
    from table_parts.turns import Runner

    from shotad.core import processors

    told = machine()
    began = time.monotonic()
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
    contests, growths, left_out, broken = plans(chosen, folder)
    say(f"films and texts made in {time.monotonic() - began:.0f} s")
    made = datetime.now(UTC).date().isoformat()
    asked = {
        "quick": chosen.quick,
        "runs": chosen.runs,
        "only": chosen.only,
        "films": [path.name for path in chosen.film],
    }

    def report_of(contests: list[Contest], growths: list[Growth]) -> Report:
        told["load_after"] = round(load(), 1)
        told["minutes"] = round((time.monotonic() - began) / 60, 1)
        return Report(made, asked, told, versions(), tuple(contests), tuple(growths), tuple(left_out))

    def keep(contests: list[Contest], growths: list[Growth]) -> None:
        if chosen.json:
            whole = {**report_of(contests, growths).to_json(), "figures": summary(contests, growths)}
            unfinished = chosen.json.with_suffix(".part")
            unfinished.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
            unfinished.replace(chosen.json)

    runner = Runner(folder, say, processors(), keep)
    contests, growths = runner.all(contests, growths, chosen.runs)
    report = report_of(contests, growths)
    print(markdown(report) if chosen.markdown else text(report))
    for line in missed(report):
        print(f"Target missed: {line}")
    entrants = [entrant for one in contests for entrant in one.entrants]
    entrants += [entrant for one in growths for entrant in one.entrants]
    failed = any(entrant.missing and entrant.role == "ours" for entrant in entrants)
    return int(broken or failed or any(disagreements(contest) for contest in contests))


def plans(chosen: argparse.Namespace, folder: Path) -> tuple[list[Contest], list[Growth], list[Reason], bool]:
    """What is to be measured: contests, growths, what is left out, and whether a part could not be got ready;
    films are made on the way."""
    from table_parts.films import lengthener, look, maker
    from table_parts.stage import Stage

    from shotad.core import processors

    try:
        own = tuple(look(path.resolve()) for path in chosen.film)
    except (OSError, ValueError) as error:
        sys.exit(f"A film cannot be read: {error}")
    stage = Stage(
        folder=folder,
        quick=chosen.quick,
        own=own,
        made=maker(folder, quick=chosen.quick),
        longer=lengthener(folder, own),
        data=chosen.data if (chosen.data / "cmdad_anno.csv").is_file() else None,
        threads=processors(),
        runs=chosen.runs,
        shortest=chosen.shortest,
        grows=not chosen.no_growth,
    )
    contests: list[Contest] = []
    growths: list[Growth] = []
    left_out: list[Reason] = []
    broken = False
    for name in chosen.only:
        try:
            plan = importlib.import_module(f"table_parts.{PARTS[name]}").plan(stage)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other parts can be measured
            broken = True
            left_out.append((name, f"could not be got ready: {type(error).__name__}: {error}"))
            say(f"{name} {left_out[-1][1]}")
            continue
        contests += plan.contests
        growths += plan.growths
        left_out += plan.left_out
    return contests, growths, left_out, broken


def say(line: str) -> None:
    """Told on the way, beside what is printed at the end."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
