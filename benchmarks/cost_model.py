"""The cost model of docs/planning.md: its units measured, its word on other films, a catalogue.

    python benchmarks/cost_model.py                                   # measures on films made here
    python benchmarks/cost_model.py --film FILM --film OTHER ... --made 720 --json FILE
    python benchmarks/cost_model.py --read FILE --hours 100000 --cores 1000 --gpus 100
    python benchmarks/cost_model.py --read FILE --core-hour 0.04 --gpu-hour 2    # money, by your own prices
    python benchmarks/cost_model.py --read benchmarks/results/costs.json --into docs/planning.md

Three films at least, the shortest first. Each is described in seven ways that differ by one part each; what
a part takes is the difference. "model" is what the units of all other films say of a film, beside what it
took itself. Core seconds are those of all threads; the clock is not told, for a machine is seldom quiet.
Seconds of graphics processors are not measured: they come from the makers' figures and from shares that are
inputs. People's hours are not measured either: all that is said of them is an input. ``--into`` fills the
blocks of a page instead of printing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench_film import bench_film
from costs.catalogue import Catalogue, Prices, Review, needs
from costs.fitting import Films, asking_of, units_of
from costs.formula import Shares
from costs.measuring import WAYS, Run, measure
from costs.page import blocks_of
from page_blocks import put_into

SECONDS = 64.0
"""Length of a made film."""
LINES = (480, 720, 1080)
"""Films that are made where none is named."""
LEAST = 3


INPUTS = (Catalogue, Shares, Review, Prices)
"""Each field is an option."""


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--film", type=Path, action="append", default=[], help="a film; repeatable")
    parser.add_argument(
        "--made", type=int, action="append", default=[], metavar="LINES", help="a film made here; repeatable"
    )
    parser.add_argument("--json", type=Path, help="write what was measured")
    parser.add_argument("--read", type=Path, help="measure nothing: read this file")
    parser.add_argument("--into", type=Path, help="with --read: fill the blocks of this page")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)
    for kind in INPUTS:
        for field in fields(kind):
            option, number = f"--{field.name.replace('_', '-')}", int if field.type == "int" else float
            parser.add_argument(option, type=number, default=field.default, help=kind.__name__)
    chosen = parser.parse_args(words)
    if chosen.into and not chosen.read:
        parser.error("--into needs --read: a page shows what a file says")
    films = len(chosen.film) + len(chosen.made)
    if not chosen.read and not chosen.one and 0 < films < LEAST:
        parser.error(f"{LEAST} films are needed at least, so that each is foretold by others, got {films}")
    return chosen


def main() -> None:
    chosen = arguments()
    if chosen.one:
        print(json.dumps([asdict(run) for run in measure(chosen.one, chosen.film, chosen.scratch)]))
        return
    films = read(chosen.read) if chosen.read else measured(chosen)
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        rows = [asdict(run) for run in films.runs]
        chosen.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    blocks = blocks_of(films, catalogue(films, chosen))
    if not chosen.into:
        print("\n\n".join(blocks.values()))
        return
    try:
        filled = put_into(chosen.into.read_text(encoding="utf-8"), "costs", blocks)
    except ValueError as error:
        sys.exit(f"{chosen.into}: {error}")
    chosen.into.write_text(filled, encoding="utf-8")


def read(file: Path) -> Films:
    """What was measured before."""
    try:
        return Films(tuple(Run(**row) for row in json.loads(file.read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError) as error:
        sys.exit(f"{file} is no file of measured costs ({error}); write one with --json.")


def measured(chosen: argparse.Namespace) -> Films:
    """All films that were named or are to be made, in all ways, each way in a process of its own."""
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as scratch:
        lines = chosen.made or (() if chosen.film else LINES)
        made = [bench_film(Path(scratch), height, SECONDS) for height in lines]
        films = [word for film in (*chosen.film, *made) for word in ("--film", str(film.resolve()))]
        for way in (*WAYS, "server"):
            print(f"Measuring: {way}.", file=sys.stderr)
            command = [sys.executable, __file__, "--one", way, "--scratch", scratch, *films]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            runs += [Run(**row) for row in json.loads(done.stdout)]
    return Films(tuple(runs))


def catalogue(films: Films, chosen: argparse.Namespace) -> list[str]:
    """What a catalogue needs, by the units of these films and what was chosen."""
    plan, share, review, prices = (
        kind(**{field.name: getattr(chosen, field.name) for field in fields(kind)}) for kind in INPUTS
    )
    return list(needs(plan, units_of(films), asking_of(films), share, review, prices))


if __name__ == "__main__":
    main()
