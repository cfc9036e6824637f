"""What it spares that both stages of a run overlap, with engines that take their time as servers do.

    python benchmarks/overlap.py [--minutes 4] [--stage1 0.5] [--stage2 0.3] [--in-flight 1]
        [--height 720] [--runs 3] [--film F ...] [--json FILE]

A film is made (or several are given with --film), with made subtitles, and described two ways in turn: by
models of this machine, which take turns, one stage after the other, and by servers, both stages at once. For
each: wall time, its ratio to the first, and to the lower bound, which is the longest room of the first way:
no order of work can be shorter than that. Then what the slowest room waited; of Stage I when its first call
came and the share of time between its first call and its last in which no call was under way.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from shotad.core import Abilities, Given, Identity, Reply, Request, WorkFolder, load_config
from shotad.core.profiling import Table, recording
from shotad.description import Engines, describe
from shotad.engines.fake import plain_answer
from shotad.film import open_film

WAYS = ("in turn", "at once")
SETTINGS = ("engine=fake", "slots.find_credits=false", "scale.method=none", "slots.detail=rich")


class Sleepy:
    """An engine that answers what the fake one does, after ``seconds``: elsewhere, or as a model of this
    machine."""

    def __init__(self, name: str, seconds: float, in_flight: int, *, elsewhere: bool) -> None:
        self.identity = Identity(name, name, "1")
        self.abilities = (
            Abilities(accepts_images=True, sends_to="elsewhere", in_flight=in_flight)
            if elsewhere
            else Abilities(accepts_images=True)
        )
        self.calls: list[tuple[float, float]] = []
        self._seconds = seconds

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, each after its time."""
        found = []
        for request in requests:
            begun = time.perf_counter()
            time.sleep(self._seconds)
            found.append(Reply(plain_answer(request)))
            self.calls.append((begun, time.perf_counter()))
        return found


@dataclass(frozen=True, slots=True)
class Run:
    """One run: where its time went, the second of Stage I's first call, the share of the time from its first
    call to its last in which none was under way, and the number of slots."""

    table: Table
    first_call: float
    unasked: float
    slots: int


def unasked(calls: Sequence[tuple[float, float]]) -> float:
    """The share of the time from the first call's begin to the last one's end in which none is under way."""
    idle, until = 0.0, min(calls)[1]
    for begun, ended in sorted(calls):
        idle += max(begun - until, 0.0)
        until = max(until, ended)
    return idle / (until - min(calls)[0])


def make_film(path: Path, minutes: float, height: int) -> None:
    """A film of moving noise in shots of 3 to 7 s."""
    draw = np.random.default_rng(0)
    width = height * 16 // 9 // 40 * 40
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=24, options={"preset": "ultrafast", "crf": "30"})
        stream.width, stream.height, stream.pix_fmt, stream.gop_size = width, height, "yuv420p", 48
        left = 0
        for number in range(round(minutes * 60 * 24)):
            if left == 0:
                left = int(draw.integers(72, 168))
                small = draw.integers(0, 255, (height // 20, width // 20, 3), dtype=np.uint8)
                scene = np.kron(small, np.ones((20, 20, 1), np.uint8))
            left -= 1
            frame = av.VideoFrame.from_ndarray(np.roll(scene, 2 * number, axis=1), "rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 24)
            for packet in stream.encode(frame):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)


def subtitles(path: Path, duration: float) -> None:
    """Somebody says a word every 10 s, so that there are gaps for slots."""
    cues = ["WEBVTT\n"]
    for second in range(9, int(duration) - 1, 10):
        start, end = (f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}.000" for s in (second, second + 1))
        cues.append(f"{start} --> {end}\nWell.\n")
    path.write_text("\n".join(cues))


def run(film_path: Path, spoken: Path, way: str, options: argparse.Namespace, folder: Path) -> Run:
    """One run from the beginning."""
    config = load_config(None, SETTINGS)
    looks, writes = (
        Sleepy(name, seconds, options.in_flight, elsewhere=way == "at once")
        for name, seconds in (("looks", options.stage1), ("writes", options.stage2))
    )
    with (
        recording() as found,
        open_film(film_path) as film,
        WorkFolder(folder) as work,
    ):
        start = time.perf_counter()
        describe(film, work, config, Given(subtitles=spoken), engines=Engines(looks, writes), sheet=False)
    slots = len(json.loads((folder / "slots.json").read_text())["slots"])
    first = min(looks.calls)[0] - start
    return Run(found.table(), first, unasked(looks.calls), slots)


def measured(runs: dict[str, list[Run]]) -> dict[str, Any]:
    """Medians, ratios, and what the slowest room waited."""
    tables = {way: [one.table for one in of] for way, of in runs.items()}
    wall = {way: statistics.median(table.wall for table in of) for way, of in tables.items()}
    plain = tables["in turn"]
    rooms = {row.room for table in plain for row in table.rows}
    lasted = {
        room: statistics.median(
            next((row.lasted for row in table.rows if row.room == room), 0.0) for table in plain
        )
        for room in rooms
    }
    slowest = max(lasted, key=lambda room: lasted[room])
    found: dict[str, Any] = {"rooms": {room: round(lasted[room], 2) for room in sorted(lasted)}}
    found |= {"slowest": slowest, "bound": round(lasted[slowest], 2), "ways": {}}
    for way, of in tables.items():
        rows = [row for table in of for row in table.rows if row.room == slowest]
        found["ways"][way] = {
            "wall": round(wall[way], 2),
            "spread": [round(f(t.wall for t in of), 2) for f in (min, max)],
            "to_in_turn": round(wall[way] / wall["in turn"], 3),
            "to_bound": round(wall[way] / lasted[slowest], 3),
            "slowest_at_work": round(
                statistics.median(
                    next((r.lasted for r in t.rows if r.room == slowest), 0) / t.wall for t in of
                ),
                3,
            ),
            "slowest_waited": {what: round(s, 2) for row in rows[:1] for what, s in row.waited},
            "stage1_first_call": round(statistics.median(one.first_call for one in runs[way]), 2),
            "stage1_unasked": round(statistics.median(one.unasked for one in runs[way]), 3),
            "slots": runs[way][0].slots,
        }
    return found


def same(folders: Sequence[Path]) -> bool:
    """Whether all files but the logs are the same."""
    trees = [
        {p.name: p.read_bytes() for p in folder.iterdir() if p.name not in ("log.txt", ".lock")}
        for folder in folders
    ]
    return all(tree == trees[0] for tree in trees)


def compared(film: Path, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """One film, all ways in turn."""
    folder.mkdir()
    with open_film(film) as opened:
        subtitles(folder / "film.vtt", opened.info.duration)
    runs: dict[str, list[Run]] = {way: [] for way in WAYS}
    for number in range(options.runs):
        for way in WAYS:
            runs[way].append(run(film, folder / "film.vtt", way, options, folder / f"{way}-{number}"))
    same_files = same([folder / f"{way}-0" for way in WAYS])
    return {"film": film.name, **measured(runs), "same_files": same_files}


def main() -> None:
    """Measure and print; JSON with --json."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--film", type=Path, nargs="+", default=[])
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--height", type=int, default=720, help="lines of the film, a multiple of 40")
    parser.add_argument("--stage1", type=float, default=0.5, help="seconds of a call of Stage I")
    parser.add_argument("--stage2", type=float, default=0.3, help="seconds of a call of Stage II")
    parser.add_argument("--in-flight", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shotad-overlap-") as place:
        folder = Path(place)
        if not options.film:
            make_film(folder / "film.mp4", options.minutes, options.height)
        films = options.film or [folder / "film.mp4"]
        found = [compared(film, options, folder / f"film-{n}") for n, film in enumerate(films)]
    text = json.dumps(found, indent=2)
    if options.json:
        options.json.write_text(text + "\n")
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
