"""What reading a film costs, beside decoding its picture and sound alone, with the same threads.

    python benchmarks/cpu.py                      # 1080p and 480p films made here, two minutes each
    python benchmarks/cpu.py FILM [FILM ...]      # films of your own

CPU time is that of the whole process, all threads; each figure is the least of several rounds, in which
all parts take turns. "all" is what `shotad describe` does before it looks at anything: speech, then one
pass that finds the shots and keeps frames, then the frames of every slot, 32 each.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench_film import bench_film

from shotad.config import Config, ShotSettings
from shotad.film.audio import sound_blocks
from shotad.film.clips import ClipPlan, Pictures, clips
from shotad.film.framestore import FrameStore
from shotad.film.grid import Grid, grid_pictures
from shotad.film.reader import Film, Frame, open_film
from shotad.film.shots import ShotFinder, ShotList
from shotad.film.speech import Speech, find_speech
from shotad.plan.context import context_shots
from shotad.plan.gaps import free_time
from shotad.plan.sampling import plan_frames
from shotad.plan.slots import plan_slots
from shotad.types import Interval, Shot, Slot, slot_id

LIMIT = 1.6
"""The project's own limit for "all" at 1080p."""
SPARSE = 0.18
"""Part of a film that AD fills where it is sparse."""
HEIGHT = 480
"""Lines at which frames are read."""


@dataclass(frozen=True)
class Cost:
    """Seconds of one run: of CPU, all threads together, and on the clock."""

    cpu: float
    wall: float


def measured(work: Callable[[], object]) -> Cost:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Cost(time.process_time() - cpu, time.perf_counter() - wall)


# What is measured


def decode(path: Path) -> None:
    """Picture and sound with PyAV and nothing else, threads as the reader sets them."""
    import av

    for kind in ("video", "audio"):
        with av.open(str(path)) as container:
            for stream in getattr(container.streams, kind)[:1]:
                stream.thread_type = "AUTO"
                for _ in container.decode(stream):
                    pass


def shots(film: Film, path: str, frames: Iterable[Frame] | None = None) -> ShotList:
    finder = ShotFinder(ShotSettings.model_validate({"path": path}))
    for frame in frames or film.frames():
        finder.add(frame)
    return finder.finish(film.end or film.info.duration)


def speech(film: Film, config: Config) -> Speech:
    blocks = sound_blocks(film) if film.info.audio else None
    return find_speech(blocks, config.speech, subtitles=None, duration=film.info.duration)


def plans(slots: Sequence[Slot], found: Sequence[Shot], film: Film, config: Config) -> list[ClipPlan]:
    rate = film.info.frame_rate or Fraction(24)
    return [
        ClipPlan(
            slot.id,
            plan_frames(
                slot.interval, context_shots(slot.interval, found, config.context), config.frames, rate
            ),
        )
        for slot in slots
    ]


def frames(wanted: Sequence[ClipPlan], pictures: Pictures) -> int:
    return sum(len(clip) for _, clip in clips(wanted, pictures))


def everything(film: Film, config: Config) -> int:
    """Speech, the one pass, the slots, their frames: how many frames were delivered."""
    said = speech(film, config)
    with tempfile.TemporaryDirectory() as folder, FrameStore(Path(folder), film, Grid()) as store:
        found = shots(film, "fast", store.tee(film.frames()))
        gaps = free_time(said.utterances, found.end, config.speech)
        slots = plan_slots(gaps, found.shots, config.slots, film=Interval(0.0, found.end))
        return frames(plans(slots, found.shots, film, config), store.pictures)


def sparse_slots(end: float) -> list[Slot]:
    """Slots of 5 s, evenly over the film, that fill `SPARSE` of it."""
    step = 5.0 / SPARSE
    starts = [step * (i + 0.5) for i in range(int(end / step))]
    return [Slot(slot_id(start), Interval(start, min(start + 5.0, end)), 10) for start in starts]


def dense_slots(found: ShotList, film: Film, config: Config) -> list[Slot]:
    """What is planned for a film in which nobody speaks."""
    whole = (Interval(0.0, found.end),)
    return list(plan_slots(whole, found.shots, config.slots, film=whole[0]))


def parts(path: Path, film: Film, config: Config) -> dict[str, Callable[[], object]]:
    found = shots(film, "fast")
    dense = plans(dense_slots(found, film, config), found.shots, film, config)
    sparse = plans(sparse_slots(found.end), found.shots, film, config)
    print(
        f"  {len(found.shots)} shots; dense: {len(dense)} slots of 32 frames; sparse: {len(sparse)}; "
        f"{found.frame_count} frames, {found.end:.0f} s, {film.info.width}x{film.info.height}"
    )
    return {
        "decode": lambda: decode(path),
        "reader alone": lambda: sum(1 for _ in film.frames()),
        "shots, fast": lambda: shots(film, "fast"),
        "shots, exact": lambda: shots(film, "exact"),
        "speech": lambda: speech(film, config),
        "frames, dense, own pass": lambda: frames(
            dense, lambda moments: film.pictures(moments, height=HEIGHT)
        ),
        "frames, sparse, own pass": lambda: frames(
            sparse, lambda moments: film.pictures(moments, height=HEIGHT)
        ),
        "frames, sparse, on the grid": lambda: frames(
            sparse, lambda moments: grid_pictures(film, moments, Grid())
        ),
        "all": lambda: everything(film, config),
    }


def report(path: Path, rounds: int) -> None:
    """Measure one film and print each part as a ratio to decoding."""
    config = Config()
    print(f"{path.name}, {path.stat().st_size / 1e6:.0f} MB")
    with open_film(path) as film:
        work = parts(path, film, config)
        costs: dict[str, list[Cost]] = {name: [] for name in work}
        for _ in range(rounds):
            for name, run in work.items():
                costs[name].append(measured(run))
        lines = film.info.height
    best = {name: Cost(min(c.cpu for c in some), min(c.wall for c in some)) for name, some in costs.items()}
    base = best["decode"]
    print(f"  {'':30}{'CPU s':>8}{'ratio':>8}{'wall s':>9}{'ratio':>8}")
    for name, cost in best.items():
        print(
            f"  {name:30}{cost.cpu:8.2f}{cost.cpu / base.cpu:8.2f}"
            f"{cost.wall:9.2f}{cost.wall / base.wall:8.2f}"
        )
    ratio = best["all"].cpu / base.cpu
    if lines == 1080:
        print(f"  all / decode = {ratio:.2f}: {'within' if ratio <= LIMIT else 'ABOVE'} the limit of {LIMIT}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("films", nargs="*", type=Path, help="films to measure instead of made ones")
    parser.add_argument("--heights", nargs="*", type=int, default=[1080, 480])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where made films are kept for the next time")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        films = chosen.films or [bench_film(folder, height, chosen.seconds) for height in chosen.heights]
        for path in films:
            report(path, chosen.rounds)


if __name__ == "__main__":
    main()
