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
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from costs.catalogue import Catalogue, Prices, Review, needs
from costs.fitting import Films, Line, asking_of, compared, units_of
from costs.gpus import Shares
from costs.measuring import WAYS, Run, as_json, measure, named
from costs.page import blocks_of, put_into

SECONDS = 64.0
"""Length of a made film."""
LINES = (480, 720, 1080)
"""Films that are made where none is named."""
LEAST = 3


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--film", type=Path, action="append", default=[], help="a film; repeatable")
    parser.add_argument(
        "--made", type=int, action="append", default=[], metavar="LINES", help="a film made here; repeatable"
    )
    parser.add_argument("--json", type=Path, help="write what was measured")
    parser.add_argument("--read", type=Path, help="measure nothing: read this file")
    parser.add_argument("--without", action="append", default=[], choices=["embedded"], help="leave it out")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help="with --read: fill the blocks of this page")
    plan, share, review, prices = Catalogue(), Shares(), Review(), Prices()
    for name in ("hours", "slots", "shots", "bits", "busy", "parallel", "film_hours", "worker_hours"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=_positive, default=getattr(plan, name))
    for name in ("cores", "gpus", "worker_cores"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=_count, default=getattr(plan, name))
    parser.add_argument(
        "--arithmetic", type=_positive, default=share.arithmetic, help="share of the peak reached"
    )
    parser.add_argument("--memory", type=_positive, default=share.memory, help="the same of the memory")
    parser.add_argument(
        "--at-once", type=_count, default=share.at_once, help="requests that are answered at once"
    )
    for field in fields(review):
        option = f"--{field.name.replace('_', '-')}"
        parser.add_argument(
            option,
            type=_positive if field.name == "year_hours" else _number,
            default=getattr(review, field.name),
            help="people who check",
        )
    for field in fields(prices):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=_number, help="your price")
    chosen = parser.parse_args(words)
    if chosen.into and not chosen.read:
        parser.error("--into needs --read: a page shows what a file says")
    films = len(chosen.film) + len(chosen.made)
    if not chosen.read and not chosen.one and 0 < films < LEAST:
        parser.error(f"{LEAST} films are needed at least, so that each is foretold by others, got {films}")
    return chosen


def _positive(text: str) -> float:
    value = _number(text)
    if not value:
        raise argparse.ArgumentTypeError("must be more than 0, got 0")
    return value


def _number(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be 0 or more, got {text}")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, got {text}")
    return value


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


def made(folder: Path, lines: Sequence[int]) -> list[Path]:
    """A film for each number of lines."""
    from bench_film import bench_film

    return [bench_film(folder, height, SECONDS) for height in lines]


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
    films = read(chosen.read) if chosen.read else measured_now(chosen)
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json.dumps(as_json(films.runs), indent=1) + "\n", encoding="utf-8")
    if chosen.into:
        page = chosen.into.read_text(encoding="utf-8")
        try:
            filled = put_into(page, blocks_of(films, catalogue(films, chosen)))
        except ValueError as error:
            sys.exit(f"{chosen.into}: {error}")
        chosen.into.write_text(filled, encoding="utf-8")
        return
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
    print("\n".join(catalogue(films, chosen)))


def read(file: Path) -> Films:
    """What was measured before."""
    try:
        return Films(tuple(Run(**row) for row in json.loads(file.read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError) as error:
        sys.exit(f"{file} is no file of measured costs ({error}); write one with --json.")


def measured_now(chosen: argparse.Namespace) -> Films:
    """All films that were named or are to be made; the latter come last."""
    with tempfile.TemporaryDirectory() as scratch:
        lines = chosen.made or (() if chosen.film else LINES)
        films = [*(path.resolve() for path in chosen.film), *made(Path(scratch), lines)]
        return measured(films, Path(scratch), chosen.without)


def catalogue(films: Films, chosen: argparse.Namespace) -> list[str]:
    """What a catalogue needs, by the units of these films and what was chosen."""
    plan = Catalogue(**{f.name: getattr(chosen, f.name) for f in fields(Catalogue)})
    share = Shares(chosen.arithmetic, chosen.memory, chosen.at_once)
    review = Review(**{f.name: getattr(chosen, f.name) for f in fields(Review)})
    prices = Prices(**{f.name: getattr(chosen, f.name) for f in fields(Prices)})
    return list(needs(plan, units_of(films), asking_of(films), share, review, prices))


if __name__ == "__main__":
    main()
