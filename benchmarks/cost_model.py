"""The cost model of docs/planning.md: its units measured, its word on other films, a catalogue.

    python benchmarks/cost_model.py --film FILM --film OTHER ... --made 720 --json FILE
    python benchmarks/cost_model.py --read FILE --hours 100000 --cores 1000 --core-hour 0.04 --gpu-hour 2
    python benchmarks/cost_model.py --read benchmarks/results/costs.json --into docs/planning.md

Three films at least, the shortest first. Each is described in seven ways that differ by one part each; what
a part takes is the difference. "model" is what the units of all other films say of a film, beside what it
took itself. Seconds of graphics processors are not measured: they come from the makers' figures and from
shares that are inputs, by the roofline: arithmetic for what is read, memory for what is written. People's
hours are inputs too. The letters of the formulas are those of the page.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from bench_film import bench_film
from common import command_line, fill
from cost_measuring import WAYS, measure
from scipy.optimize import nnls

from shotad.description.counting_engine import DESCRIPTION_WORDS, LINE_WORDS, WRAPPING

SECONDS, LINES = 64.0, (480, 720, 1080)
"""Length of a made film, and which are made where none is named."""
LEAST = 3
TOKENS_A_WORD = 1.35
"""As `shotad.description.counting_engine` reckons."""
ANSWER1 = DESCRIPTION_WORDS * TOKENS_A_WORD
ANSWER2 = LINE_WORDS * TOKENS_A_WORD + WRAPPING
"""Tokens of a description, and of an answer of Stage II."""
UNITS = {
    "second": ("core seconds for a second of film, whatever its size", 1, ".3f"),
    "pixels": ("core seconds for 10⁹ pixels decoded and scored", 1, ".2f"),
    "credits": ("core seconds for a moment looked at for rolling credits", 1, ".2f"),
    "slot": ("core seconds for a slot: its frames, records, line", 1, ".2f"),
    "grammar": ("core seconds for a slot's film grammar", 1, ".2f"),
    "sheet": ("core seconds for a slot's part of the worksheet", 1, ".2f"),
    "embedded": ("core seconds of the embedded engine for a slot", 1, ".2f"),
    "records": ("kB kept for a slot: records, track, scripts", 1e3, ".1f"),
    "drawn": ("kB of the worksheet for a slot", 1e3, ".0f"),
    "shot": ("bytes kept for a shot", 1, ".0f"),
    "kept": ("kB on the disk at most for a second of film, while it runs", 1e3, ".0f"),
    "sent": ("kB of a frame that is sent to a server", 1e3, ".1f"),
    "letter": ("kB of a request beside its frames", 1e3, ".1f"),
}
"""What one unit of work takes: in words, by what it is divided, and how it is written."""
INPUTS: dict[str, tuple[float | None, str]] = {
    "hours": (100_000.0, "hours of film"),
    "slots": (322.0, "slots an hour, of CMD-AD's test set: 7,316 ADs in 22.7 hours of film"),
    "shots": (1029.0, "shots an hour, of the same: 23,383"),
    "bits": (5e6, "bits a second of a film"),
    "cores": (1000, "cores"),
    "gpus": (100, "graphics processors"),
    "busy": (0.8, "share of time that the machines work"),
    "parallel": (1.0, "core seconds of these machines for one of the machine of the units"),
    "film-hours": (2.0, "hours of a film"),
    "worker-cores": (2, "cores of a worker"),
    "worker-hours": (24.0, "hours that a worker lives before it is lost"),
    "arithmetic": (0.4, "share of a graphics processor's peak arithmetic that is reached"),
    "memory": (0.63, "share of its memory's speed that is reached"),
    "at-once": (16, "requests that are answered at once"),
    "watched": (1.0, "hours at an hour of film of who checks it, each line heard at its place"),
    "changed": (0.3, "share of lines that are put right"),
    "change-seconds": (30.0, "seconds for each of them"),
    "year-hours": (1600.0, "working hours of a year"),
    "core-hour": (None, "price; without it no money is told"),
    "gpu-hour": (None, "price"),
    "gigabyte-month": (None, "price"),
    "gigabyte-sent": (None, "price"),
    "person-hour": (None, "price"),
}
"""The options of a catalogue, with their values; an int stays one."""
GPUS = {
    "H100 SXM": (989e12, 3350e9),
    "A100 80 GB SXM": (312e12, 2039e9),
    "L40S": (362e12, 864e9),
    "RTX 4090": (165e12, 1008e9),
}
"""Peak arithmetic in bfloat16 without sparsity (operations a second) and memory (bytes a second), by NVIDIA's
data sheets."""

Row = Mapping[str, Any]
Films = dict[str, dict[str, Row]]
"""What `measure` found, by film and way."""
Units = dict[str, float]


@dataclass(frozen=True)
class Asking:
    """How much is asked about a slot, in tokens but for the frames."""

    frames: int = 32
    frame_tokens: float = 90.0
    words1: float = 340.0
    words2: float = 560.0

    @property
    def in1(self) -> float:
        return self.words1 + self.frames * self.frame_tokens

    @property
    def in2(self) -> float:
        return self.words2 + ANSWER1


@dataclass(frozen=True)
class Model:
    """Parameters of the language part and of what sees, bytes of the weights, bytes of cache a token."""

    parameters: float
    seeing: float
    weights: float
    cache: float


PATCHES = 4.0
"""Patches that the seeing part goes over for each token of a frame."""
QWEN = Model(7.6e9, 0.675e9, 16.6e9, 2 * 28 * 4 * 128 * 2)
"""Qwen2-VL-7B: 28 layers, 4 key heads of 128, bfloat16; 675 million parameters see (report and config)."""
LLAMA = Model(8.0e9, 0.0, 16.1e9, 2 * 32 * 8 * 128 * 2)
"""LLaMA3-8B: 32 layers, 8 key heads of 128, bfloat16 (its config)."""


def main() -> None:
    chosen = arguments()
    films = read(chosen.read) if chosen.read else measured(chosen)
    blocks = {
        "checked": checked(films),
        "units": units_told(units_of(films), asking_of(films)),
        "catalogue": f"```\n{catalogue(chosen, units_of(films), asking_of(films))}\n```",
    }
    if chosen.into:
        fill(chosen.into, "costs", blocks)
    else:
        print("\n\n".join(blocks.values()))


def arguments() -> argparse.Namespace:
    parser = command_line(__doc__)
    parser.add_argument("--film", type=Path, action="append", default=[], help="a film; repeatable")
    parser.add_argument("--made", type=int, action="append", default=[], help="lines of a film made here")
    parser.add_argument("--json", type=Path, help="write what was measured")
    parser.add_argument("--read", type=Path, help="measure nothing: read this file")
    parser.add_argument("--into", type=Path, help="with --read: fill the blocks of this page")
    for name, (usual, words) in INPUTS.items():
        number = int if isinstance(usual, int) else float
        parser.add_argument(f"--{name}", type=number, default=usual, help=words)
    chosen = parser.parse_args()
    if chosen.into and not chosen.read:
        parser.error("--into needs --read: a page shows what a file says")
    films = len(chosen.film) + len(chosen.made)
    if not chosen.read and 0 < films < LEAST:
        parser.error(f"{LEAST} films are needed at least, so that each is foretold by others, got {films}")
    return chosen


def read(file: Path) -> Films:
    try:
        return by_film(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError) as error:
        sys.exit(f"{file} is no file of measured costs ({error}); write one with --json.")


def by_film(rows: Sequence[Row]) -> Films:
    names = dict.fromkeys(row["film"] for row in rows)
    return {name: {row["way"]: row for row in rows if row["film"] == name} for name in names}


def measured(chosen: argparse.Namespace) -> Films:
    """All films that were named or are to be made, in all ways, each way in a process of its own."""
    rows: list[Row] = []
    spawn = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as pool,
    ):
        lines = chosen.made or (() if chosen.film else LINES)
        made = [bench_film(Path(folder), height, SECONDS) for height in lines]
        films = [film.resolve() for film in (*chosen.film, *made)]
        for way in WAYS:
            print(f"Measuring: {way}.", file=sys.stderr)
            rows += pool.submit(measure, way, films, Path(folder)).result()
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return by_film(rows)


# Units from measured runs, and what they say of a film that they were not taken from


def units_of(films: Films) -> Units:
    """What a unit takes in these films: sums over sums, so that long films count more."""
    ways: dict[str, list[Row]] = {way: [film[way] for film in films.values()] for way in WAYS}
    served, plain = ways["server"], ways["prepare"]

    def total(rows: Sequence[Row], part: str, *names: str) -> float:
        return sum(row[part][name] for row in rows for name in names)

    def each(way: str, than: str, count: str) -> float:
        more = sum(one["cpu"] - other["cpu"] for one, other in zip(ways[way], ways[than], strict=True))
        return max(more, 0.0) / sum(row[count] for row in ways[than])

    # Core seconds for a second and for 10^9 pixels; neither is less than nothing.
    sizes = np.array([[row["seconds"], row["gigapixels"]] for row in plain])
    weights = 1 / np.array([row["cpu"] for row in plain])
    second, pixels = nnls(sizes * weights[:, None], np.ones(len(plain)))[0]
    slots = sum(row["slots"] for row in served)
    return {
        "second": float(second),
        "pixels": float(pixels),
        "credits": each("credits", "prepare", "moments"),
        "slot": each("slots", "prepare", "slots"),
        **{way: each(way, "slots", "slots") for way in ("grammar", "sheet", "embedded")},
        "records": total(served, "kept", "records", "track") / slots,
        "drawn": total(ways["sheet"], "kept", "drawn") / slots,
        "shot": total(served, "kept", "shots") / sum(row["shots"] for row in served),
        "kept": sum(row["most"] for row in served) / sum(row["seconds"] for row in served),
        "sent": total(served, "server", "frame_bytes") / total(served, "server", "frames"),
        "letter": total(served, "server", "letter_bytes") / total(served, "server", "calls1", "calls2"),
    }


def asking_of(films: Films) -> Asking:
    """What prompts are like, by ``--estimate`` on these films."""
    found = [film["server"]["foreseen"] for film in films.values()]
    looks, lines, frames = (sum(one[name] for one in found) for name in ("calls1", "calls2", "frames"))
    return Asking(
        frames=round(frames / looks),
        frame_tokens=sum(one["frame_tokens"] for one in found) / frames,
        words1=sum(one["words1"] for one in found) / looks,
        words2=sum(one["words2"] for one in found) / lines - ANSWER1,
    )


def preparing(film: Row, units: Units) -> float:
    """Core seconds before anything is looked at: decoding, shots, speech, credits."""
    parts = (("second", "seconds"), ("pixels", "gigapixels"), ("credits", "moments"))
    return float(sum(units[unit] * film[count] for unit, count in parts))


def records(film: Row, units: Units) -> float:
    """Bytes of the work folder when all is done, without the worksheet."""
    return float(film["slots"] * units["records"] + film["shots"] * units["shot"])


def sent(slots: float, how: Asking, units: Units) -> float:
    """Bytes that go to a server for both stages."""
    return slots * (how.frames * units["sent"] + 2 * units["letter"])


def compared(films: Films, name: str) -> Iterator[tuple[str, float, float]]:
    """The model's word on parts of a film, by units that come from the others, and what was measured."""
    others = {other: rows for other, rows in films.items() if other != name}
    units, how, ways = units_of(others), asking_of(others), films[name]
    film, slots = ways["server"], ways["server"]["slots"]
    cpu = {way: row["cpu"] for way, row in ways.items()}
    kept, seen, said = film["kept"], film["server"], film["foreseen"]
    yield "preparing, core s", preparing(film, units), cpu["credits"]
    each = units["slot"] + units["grammar"]
    yield "slots and grammar, core s", slots * each, cpu["grammar"] - cpu["prepare"]
    yield "embedded, core s", slots * units["embedded"], cpu["embedded"] - cpu["slots"]
    yield "worksheet, core s", slots * units["sheet"], cpu["sheet"] - cpu["slots"]
    own = kept["records"] + kept["track"] + kept["shots"]
    yield "records, kB", records(film, units) / 1e3, own / 1e3
    yield "worksheet, kB", slots * units["drawn"] / 1e3, ways["sheet"]["kept"]["drawn"] / 1e3
    yield "disk at most, MB", units["kept"] * film["seconds"] / 1e6, film["most"] / 1e6
    yield "calls", 2 * slots, seen["calls1"] + seen["calls2"]
    yield "frames sent", slots * how.frames, seen["frames"]
    tokens = said["words1"] + said["frame_tokens"] + said["words2"]
    yield "tokens in (by --estimate)", slots * (how.in1 + how.in2), tokens
    yield "sent, kB", sent(slots, how, units) / 1e3, (seen["frame_bytes"] + seen["letter_bytes"]) / 1e3


def checked(films: Films) -> str:
    """A row for each thing: the model's word over the truth, and both for the film that has most of it."""
    whole = {name: film["server"] for name, film in films.items()}
    names = ", ".join(f"{n} ({row['seconds']:.0f} s, {row['slots']} slots)" for n, row in whole.items())
    rows = [f"Measured on {names}.\n"]
    rows += [
        "| part | model / measured: median (range), films | where most: model / measured |",
        "|---|---|---|",
    ]
    for of_films in zip(*(compared(films, name) for name in films), strict=True):
        ratios = [said / true for _, said, true in of_films if true]
        part, said, true = max(of_films, key=lambda row: row[2])
        told = "–"
        if ratios:
            middle = statistics.median(ratios)
            told = f"{middle:.2f} ({min(ratios):.2f} to {max(ratios):.2f}), {len(ratios)}"
        rows.append(f"| {part} | {told} | {said:,.1f} / {true:,.1f} |")
    return "\n".join(rows)


def units_told(units: Units, how: Asking) -> str:
    """A row for each unit, and what a prompt is like."""
    rows = ["| unit | all films together |", "|---|---|"]
    rows += [f"| {what} | {units[name] / by:{digits}} |" for name, (what, by, digits) in UNITS.items()]
    rows.append(
        f"| tokens of a prompt of Stage I, of a frame ({how.frames} of them), of a prompt of Stage II "
        f"| {how.words1:.0f}, {how.frame_tokens:.0f}, {how.words2:.0f} and the description |"
    )
    return "\n".join(rows)


# A catalogue of so many hours


def gpu_seconds(plan: argparse.Namespace, gpu: tuple[float, float], how: Asking) -> tuple[float, float]:
    """GPU seconds for an hour of film of Stage I by Qwen2-VL-7B and of Stage II by LLaMA3-8B."""
    flops, bandwidth = gpu

    def seconds(model: Model, read: float, seen: float, written: float) -> float:
        reading = 2 * model.parameters * read + 2 * model.seeing * seen * PATCHES
        writing = written * (model.weights / plan.at_once + (read + written / 2) * model.cache)
        return float(plan.slots * (reading / flops / plan.arithmetic + writing / bandwidth / plan.memory))

    one = seconds(QWEN, how.in1, how.frames * how.frame_tokens, ANSWER1)
    return one, seconds(LLAMA, how.in2, 0.0, ANSWER2)


def catalogue(plan: argparse.Namespace, units: Units, how: Asking) -> str:
    # 1080p at 24; 300 moments of a film of two hours are looked at for credits.
    pixels = 1920 * 1080 * 24 * 3600 / 1e9
    hour = {"slots": plan.slots, "shots": plan.shots, "seconds": 3600, "gigapixels": pixels, "moments": 150}
    reading = preparing(hour, units) * plan.parallel
    sheet, own = (plan.slots * units[name] * plan.parallel for name in ("sheet", "embedded"))
    cpu = reading + plan.slots * (units["slot"] + units["grammar"] + units["sheet"]) * plan.parallel
    read, to_servers, bare = plan.bits / 8 * 3600, sent(plan.slots, how, units), records(hour, units)
    kept = bare + plan.slots * units["drawn"]
    # Bytes an hour of film, in Gbit a second of all cores
    flow = 8 / (cpu / plan.cores / plan.busy) / 1e9
    # Done again where workers are lost: at most all of a film but its answers, which are kept.
    of_film = cpu * plan.film_hours / plan.worker_cores
    people = plan.watched + plan.slots * plan.changed * plan.change_seconds / 3600

    def days(each: float, machines: int, kind: str = "") -> str:
        alone, many = plan.hours * each / 86_400, f"{machines:,} {kind}".strip()
        return (
            f"{alone:,.0f} days of one; {alone / machines / plan.busy:,.1f} days of {many} at {plan.busy:.0%}"
        )

    def gpus(how: Asking) -> str:
        rows = []
        for name, gpu in GPUS.items():
            one, two = gpu_seconds(plan, gpu, how)
            told = days(one + two, plan.gpus)
            rows.append(f"  {name}: {one:,.0f} + {two:,.0f}: {told}; {cpu / (one + two):.1f} cores feed one")
        return "\n".join(rows)

    def terabytes(each: float) -> str:
        number = each * plan.hours / 1e12
        return f"{number:,.3g} TB" if number < 100 else f"{number:,.0f} TB"

    # By the user's prices; machines that stand idle are paid for too.
    paid = plan.hours / 3600 / plan.busy
    costs = [
        ("cores", paid * cpu, plan.core_hour),
        *(
            (f"servers, were they {n}", paid * sum(gpu_seconds(plan, g, how)), plan.gpu_hour)
            for n, g in GPUS.items()
        ),
        ("records, a month", plan.hours * kept / 1e9, plan.gigabyte_month),
        ("films read over a network that is paid for", plan.hours * read / 1e9, plan.gigabyte_sent),
        ("people", plan.hours * people, plan.person_hour),
    ]
    money = [f"\nMoney, {what}: {amount * price:,.0f}." for what, amount, price in costs if price is not None]
    return f"""\
{plan.hours:,.0f} hours in {plan.hours / plan.film_hours:,.0f} films of {plan.film_hours:g} hours, \
{plan.slots:.0f} slots and {plan.shots:.0f} shots an hour,
1080p at 24: {plan.hours * plan.slots:,.0f} slots. An hour of film takes
  {cpu:,.0f} core seconds before and beside the engines,
  of them {reading:,.0f} to decode, find shots and listen;
  {own:,.0f} core seconds of the embedded engine, or
  {2 * plan.slots:,.0f} calls, {plan.slots * (how.in1 + how.in2):,.0f} tokens in
  ({plan.slots * how.frames * how.frame_tokens:,.0f} of them frames), \
{plan.slots * (ANSWER1 + ANSWER2):,.0f} out.

Cores, without engines: {days(cpu, plan.cores, "cores")}
Cores, embedded engine too: {days(cpu + own, plan.cores, "cores")}

Qwen2-VL and LLaMA 3 by servers, frames one by one; GPU seconds an hour of film for Stage I and II:
{gpus(how)}

The same in the worker, frames in pairs; GPU seconds an hour of film for Stage I and II:
{gpus(replace(how, frame_tokens=how.frame_tokens / 2))}

Read: {read / 1e9:,.2f} GB an hour, {terabytes(read)}.
To a pool of servers: {to_servers / 1e6:,.0f} MB an hour, {terabytes(to_servers)}.
Kept: {kept / 1e6:,.1f} MB an hour, {terabytes(kept)}; \
without the worksheet {bare / 1e6:,.1f} MB, {terabytes(bare)},
  and {sheet:,.0f} core seconds an hour less.
Network while {plan.cores:,} cores are at it, Gbit/s: \
{read * flow:,.1f} read, {to_servers * flow:,.1f} to servers, {kept * flow:,.1f} kept.
Disk of a worker for a film: {read * plan.film_hours / 1e9:,.1f} GB where it is fetched, \
{units["kept"] * 3600 * plan.film_hours / 1e9:,.1f} GB of frames and records meanwhile.

A film keeps a worker of {plan.worker_cores} cores for {of_film / 60:,.0f} minutes beside the engines.
A worker that is lost once in {plan.worker_hours:g} hours costs at most \
{of_film / plan.worker_hours / 3600:.1%} more core seconds, and no answer twice.

People who check every line (assumed: {plan.watched:g} h to see and hear an hour of film, \
{plan.changed:.0%} of lines put right,
{plan.change_seconds:g} s each): {people:.1f} hours an hour of film, {plan.hours * people:,.0f} hours, \
{plan.hours * people / plan.year_hours:,.0f} people for a year of {plan.year_hours:,.0f} hours.\
""" + ("\n" + "".join(money) if money else "")


if __name__ == "__main__":
    main()
