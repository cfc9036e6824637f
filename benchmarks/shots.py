"""Shots at the speed of decoding: wall and CPU time against pure decoding, and against PySceneDetect.

    python benchmarks/shots.py                           # made films of 480, 720 and 1080 lines
    python benchmarks/shots.py --film FILM --film OTHER  # real ones, joined and scaled to those lines
    python benchmarks/shots.py --as-is FILM              # as they are

All entrants take turns within every round; the figures are medians over the rounds, with the least and the
greatest ratio of one round. "decoding" is PyAV giving all frames to nobody, with the thread setting that is
best by its median. Cuts and scores are compared with those of PySceneDetect's own ``detect()``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import numpy.typing as npt
from bench_film import bench_film

from shotad.core import ShotSettings
from shotad.film import FrameStore, Grid, one_pass as surveying, open_film
from shotad.film.shots import ShotFinder

TARGETS = {1080: 1.15, 720: 1.25}
"""The project's own limits by lines of the picture: wall time of the shots against decoding alone."""

THREADS = {
    "frames, as ffmpeg likes": ("AUTO", 0),
    "2 of frames": ("FRAME", 2),
    "3 of frames": ("FRAME", 3),
    "one thread": ("NONE", 1),
}
"""Settings of the decoder that are tried: kind and number of threads."""


@dataclass(frozen=True)
class Cost:
    """Seconds of one run: on the clock, and of CPU, all threads together."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Answer:
    """Frame numbers of the cuts, and a score for each frame, ``float64[n]``."""

    cuts: list[int]
    scores: npt.NDArray[np.float64]


def measured(work: Callable[[], object]) -> Cost:
    """One run, with its child processes."""
    cpu, wall = _cpu(), time.perf_counter()
    work()
    return Cost(time.perf_counter() - wall, _cpu() - cpu)


def _cpu() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in used)


# The entrants


def decode(path: Path, kind: str, threads: int) -> int:
    """All frames, given to nobody."""
    import av

    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type, stream.codec_context.thread_count = kind, threads  # type: ignore[assignment]
        return sum(1 for _ in container.decode(stream))


def library(path: Path) -> Answer:
    """What PySceneDetect's ``detect()`` finds with its defaults."""
    from scenedetect import AdaptiveDetector, detect

    scores: list[float] = []

    class Noting(AdaptiveDetector):  # type: ignore[misc]
        def process_frame(self, timecode: Any, frame_img: Any) -> Any:
            found = super().process_frame(timecode, frame_img)
            scores.append(self._frame_score)
            return found

    scenes = detect(str(path), Noting())
    return Answer([start.frame_num for start, _ in scenes][1:], np.array(scores))


def command(path: Path) -> None:
    """PySceneDetect's command line, which writes its list to nowhere."""
    words = ["-m", "scenedetect", "-q", "-i", str(path), "detect-adaptive", "list-scenes", "-n"]
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)


def ours(path: Path, way: str, *, keep: bool = False) -> Answer:
    """Shots by `survey`; ``keep`` keeps frames on the way, as describing does."""
    finders: list[ShotFinder] = []

    class Noted(ShotFinder):
        def __init__(self, settings: ShotSettings) -> None:
            super().__init__(settings)
            finders.append(self)

    before, surveying.ShotFinder = surveying.ShotFinder, Noted  # type: ignore[misc]
    try:
        with open_film(path) as film, tempfile.TemporaryDirectory() as folder:
            store = FrameStore(Path(folder), film, Grid()) if keep else None
            settings = ShotSettings.model_validate({"path": way})
            found = surveying.survey(film, settings, store=store)
    finally:
        surveying.ShotFinder = before  # type: ignore[misc]
    return Answer(list(found.cuts), finders[0].scores)


def entrants(path: Path) -> dict[str, Callable[[], object]]:
    """Everything that takes turns."""
    decoding: dict[str, Callable[[], object]] = {
        f"decoding, {name}": lambda kind=kind, threads=threads: decode(path, kind, threads)
        for name, (kind, threads) in THREADS.items()
    }
    return decoding | {
        "ours, fast": lambda: ours(path, "fast"),
        "ours, exact": lambda: ours(path, "exact"),
        "ours, fast, frames kept": lambda: ours(path, "fast", keep=True),
        "PySceneDetect, library": lambda: library(path),
        "PySceneDetect, command": lambda: command(path),
    }


# Agreement


def agreement(path: Path) -> dict[str, dict[str, float]]:
    """How our two ways differ from the library: cuts missed and added, scores."""
    theirs = library(path)
    found = {}
    for way in ("exact", "fast"):
        mine = ours(path, way)
        apart = np.abs(mine.scores - theirs.scores)
        found[way] = {
            "cuts": len(mine.cuts),
            "missed": len(set(theirs.cuts) - set(mine.cuts)),
            "added": len(set(mine.cuts) - set(theirs.cuts)),
            "greatest difference": float(apart.max()),
            "mean difference": float(apart.mean()),
        }
    return found


# Films


def joined(films: Sequence[Path], lines: int, folder: Path) -> Path:
    """Real films one after the other, within 16:9 of that many lines, as H.264 of usual settings."""
    import av

    path, size = folder / f"real-{lines}.mp4", (lines * 16 // 9 // 2 * 2, lines)
    with av.open(str(path), "w") as target:
        stream: Any = target.add_stream("libx264", rate=24)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.options = {"preset": "veryfast", "crf": "20", "bf": "3"}
        number = 0
        for film in films:
            with av.open(str(film)) as source:
                for frame in source.decode(video=0):
                    fitted = frame.reformat(*size, "yuv420p")
                    fitted.pts, fitted.time_base = number, Fraction(1, 24)
                    fitted.pict_type = 0
                    target.mux(stream.encode(fitted))
                    number += 1
        target.mux(stream.encode())
    return path


# What is printed


def report(path: Path, rounds: int) -> dict[str, Any]:
    """Measure one film, print, and give the figures."""
    with open_film(path) as film:
        info = film.info
    print(f"{path.name}: {info.width}x{info.height}, {info.duration:.0f} s, {info.video_codec}", flush=True)
    agreed = agreement(path)
    work = entrants(path)
    costs: dict[str, list[Cost]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, run in work.items():
            costs[name].append(measured(run))
    best = min((n for n in work if n.startswith("decoding")), key=lambda n: median(c.wall for c in costs[n]))
    rows = {name: _row(some, costs[best]) for name, some in costs.items()}
    print(f"  {'':34}{'wall s':>8}{'ratio':>7}{'of rounds':>14}{'CPU s':>8}{'ratio':>7}")
    for name, row in rows.items():
        mark = " (the limit)" if name == best else ""
        print(
            f"  {name + mark:34}{row['wall']:8.2f}{row['wall ratio']:7.2f}"
            f"{row['least']:7.2f} -{row['greatest']:5.2f}{row['cpu']:8.2f}{row['cpu ratio']:7.2f}"
        )
    for way, told in agreed.items():
        print(f"  {way} against the library: " + ", ".join(f"{what} {n:.3g}" for what, n in told.items()))
    target = TARGETS.get(info.height)
    if target is not None:
        ratio = rows["ours, fast"]["wall ratio"]
        print(f"  {ratio:.2f} of decoding: {'within' if ratio <= target else 'ABOVE'} the target of {target}")
    about = {"film": path.name, "lines": info.height, "seconds": info.duration, "best decoding": best}
    return about | {"target": target, "entrants": rows, "agreement": agreed}


def _row(costs: Sequence[Cost], base: Sequence[Cost]) -> dict[str, float]:
    wall, cpu = (median(getattr(c, kind) for c in costs) for kind in ("wall", "cpu"))
    ratios = [one.wall / other.wall for one, other in zip(costs, base, strict=True)]
    return {
        "wall": wall,
        "wall ratio": median(ratios),
        "least": min(ratios),
        "greatest": max(ratios),
        "cpu": cpu,
        "cpu ratio": median(one.cpu / other.cpu for one, other in zip(costs, base, strict=True)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--film", action="append", type=Path, default=[], help="real film, scaled")
    parser.add_argument("--as-is", action="append", type=Path, default=[], help="a film as it is")
    parser.add_argument("--lines", nargs="*", type=int, default=[480, 720, 1080])
    parser.add_argument("--seconds", type=float, default=90, help="of made films")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where made films are kept for the next time")
    parser.add_argument("--json", type=Path, help="write the figures there")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        films = list(chosen.as_is)
        if chosen.film:
            films += [joined(chosen.film, lines, folder) for lines in chosen.lines]
        elif not films:
            films = [bench_film(folder, lines, chosen.seconds) for lines in chosen.lines]
        found = [report(path, chosen.rounds) for path in films]
        if chosen.json:
            chosen.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
