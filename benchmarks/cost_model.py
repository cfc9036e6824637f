"""The cost model of docs/planning.md: its units measured, its word on other films, a catalogue.

    python benchmarks/cost_model.py                                   # measures on films made here
    python benchmarks/cost_model.py --film FILM --film OTHER ... --json FILE
    python benchmarks/cost_model.py --read FILE --hours 100000 --cores 1000 --gpus 100
    python benchmarks/cost_model.py --read FILE --core-hour 0.04 --gpu-hour 2    # money, by your own prices

Three films at least, the shortest first. Each is described in seven ways that differ by one part each; what
a part takes is the difference. "model" is what the units of all other films say of a film, beside what it
took itself. Core seconds are those of all threads; the clock is not told, for a machine is seldom quiet.
Seconds of graphics processors are not measured: they come from the makers' figures and from shares that are
inputs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from costs.catalogue import Catalogue, Prices, needs
from costs.fitting import Films, Line, asking_of, compared, units_of
from costs.gpus import Shares
from costs.measuring import WAYS, Run, as_json, measure, named


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--film", type=Path, action="append", default=[], help="a film; repeatable")
    parser.add_argument("--json", type=Path, help="write what was measured")
    parser.add_argument("--read", type=Path, help="measure nothing: read this file")
    parser.add_argument("--without", action="append", default=[], choices=["embedded"], help="leave it out")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)
    plan, share, prices = Catalogue(), Shares(), Prices()
    for name in ("hours", "slots", "shots", "bits", "busy", "parallel"):
        parser.add_argument(f"--{name}", type=float, default=getattr(plan, name))
    for name in ("cores", "gpus"):
        parser.add_argument(f"--{name}", type=int, default=getattr(plan, name))
    parser.add_argument(
        "--arithmetic", type=float, default=share.arithmetic, help="share of the peak reached"
    )
    parser.add_argument("--memory", type=float, default=share.memory, help="the same of the memory")
    parser.add_argument(
        "--at-once", type=int, default=share.at_once, help="requests that are answered at once"
    )
    for field in fields(prices):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=float, help="your price")
    return parser.parse_args()


def measured(films: Sequence[Path], scratch: Path, without: Sequence[str]) -> Films:
    """All films in all ways, each way in a process of its own."""
    runs: list[Run] = []
    for way in (way for way in (*WAYS, "server") if way not in without):
        print(f"Measuring: {way}.", file=sys.stderr)
        command = [sys.executable, str(Path(__file__)), "--one", way, "--scratch", str(scratch)]
        command += [word for film in films for word in ("--film", str(film))]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        runs += [Run(**row) for row in json.loads(done.stdout)]
    return Films(tuple(runs))


def made(folder: Path) -> list[Path]:
    """Films of three sizes and lengths; the least one first."""
    from bench_film import bench_film

    return [bench_film(folder, height, seconds) for height, seconds in ((480, 64), (720, 64), (1080, 64))]


def table(lines: Iterator[Line]) -> Iterator[str]:
    """A row for each film and each thing, with the model's share of the truth."""
    yield f"{'':28}{'film':24}{'model':>12}{'measured':>12}{'ratio':>8}"
    for line in sorted(lines, key=lambda line: line.what):
        ratio = "-" if line.ratio is None else f"{line.ratio:.2f}"
        yield f"{line.what:28}{named(line.film):24}{line.predicted:12,.1f}{line.measured:12,.1f}{ratio:>8}"


def main() -> None:
    chosen = arguments()
    if chosen.one:
        print(json.dumps(as_json(measure(chosen.one, chosen.film, chosen.scratch))))
        return
    with tempfile.TemporaryDirectory() as scratch:
        if chosen.read:
            films = Films(tuple(Run(**row) for row in json.loads(chosen.read.read_text())))
        else:
            films = measured(chosen.film or made(Path(scratch)), Path(scratch), chosen.without)
    if chosen.json:
        chosen.json.write_text(json.dumps(as_json(films.runs), indent=1) + "\n")
    print("The model's word on each film by the others' units, beside what was measured:\n")
    print("\n".join(table(compared(films))))
    units, how = units_of(films), asking_of(films)
    print("\nUnits of all films together:\n")
    print("\n".join(f"  {field.name:10}{getattr(units, field.name):14,.4f}" for field in fields(units)))
    print(
        f"  a prompt of Stage I {how.words1:.0f} tokens and {how.frames} frames of {how.frame_tokens:.0f}; ",
        end="",
    )
    print(f"of Stage II {how.words2:.0f} and the description\n")
    plan = Catalogue(**{f.name: getattr(chosen, f.name) for f in fields(Catalogue)})
    share = Shares(chosen.arithmetic, chosen.memory, chosen.at_once)
    prices = Prices(**{f.name: getattr(chosen, f.name) for f in fields(Prices)})
    print("\n".join(needs(plan, units, how, share, prices)))


if __name__ == "__main__":
    main()
