"""What it costs to read frames: one pass, seeks, a seek per AD; and a pass for all beside a pass for each.

    python benchmarks/reading.py                      # 1080p, 720p and 480p films made here
    python benchmarks/reading.py FILM [FILM ...]      # films of your own, decoded up to --seconds

The first table reads 32 frames over 8 s around an AD, for ADs so many seconds apart, in three ways that must
agree on every frame: *one pass* decodes all; *ours* is the reader's sorted pass, which seeks over gaps where
the index says that it pays; *per AD* opens the film anew for each AD and seeks to it, as published research
code does. The second is what sharing saves: three readers of the same ADs, one pass for all or one for each.

CPU time of the whole process, all threads; the least of --rounds rounds in which all ways take turns.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench_film import bench_film

from shotad.film import Film, open_film
from shotad.film.framestore import Pack
from shotad.film.framing import PIXELS, OnePass
from shotad.film.grid import LosslessKeeper
from shotad.film.pyav_reader import PyavFilm

FRAMES, SPAN = 32, 8.0
"""Frames of an AD's clip, and the seconds over which they lie."""
APART = (8.0, 15.0, 30.0, 60.0, 120.0)
"""Seconds from one AD to the next."""


def main() -> None:
    """Print the tables; with ``--json`` write the figures too."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("films", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=120.0, help="how much of each film is read")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--heights", type=int, nargs="*", default=[480, 720, 1080], help="of films made here")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shotad-reading-") as folder:
        films = asked.films or [bench_film(Path(folder), h, asked.seconds, 20.0) for h in asked.heights]
        rows = [_measured(path, asked.seconds, asked.rounds, Path(folder)) for path in films]
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")


def _measured(path: Path, most: float, rounds: int, folder: Path) -> dict[str, Any]:
    with open_film(path) as film:
        seconds = min(most, film.info.duration)
        print(f"\n{path.name}: {film.info.width}x{film.info.height}, {film.info.video_codec}")
        sparse = [_sparse(film, gap, seconds, rounds) for gap in APART if gap <= seconds / 2]
        shared = [_shared(film, gap, seconds, rounds, folder) for gap in APART if gap <= seconds / 2]
        return {"film": path.name, "sparse": sparse, "shared": shared}


def _least(rounds: int, **ways: Callable[[], object]) -> dict[str, float]:
    """The least CPU seconds of each way; all take turns."""
    found = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            begun = time.process_time()
            way()
            found[name] = min(found[name], time.process_time() - begun)
    return found


def _drained(frames: Any) -> None:
    for _ in frames:
        pass


def _clips(gap: float, seconds: float) -> list[list[float]]:
    """The moments of each AD's clip, ``gap`` seconds from one to the next."""
    starts = np.arange(0.5 * gap, seconds - SPAN, gap)
    return [np.linspace(start, start + SPAN, FRAMES, endpoint=False).tolist() for start in starts]


def _sparse(film: Film, gap: float, seconds: float, rounds: int) -> dict[str, float]:
    clips = _clips(gap, seconds)
    moments = sorted({m for clip in clips for m in clip})
    ways: dict[str, Callable[[], list[float]]] = {
        "one pass": partial(_through, film, moments),
        "ours": lambda: [frame.seconds for frame in film.frames_at(moments)],
        "per AD": lambda: [second for clip in clips for second in _per_ad(film, clip)],
    }
    answers = {name: way() for name, way in ways.items()}
    for name, answer in answers.items():
        if not np.allclose(answer, answers["ours"], atol=1e-6):
            raise SystemExit(f"{name} shows other frames than ours, {gap:g} s apart")
    taken = _least(rounds, **{name.replace(" ", "_"): way for name, way in ways.items()})
    one, ours, rival = taken["one_pass"], taken["ours"], taken["per_AD"]
    print(f"  ADs {gap:5.0f} s apart: one pass 1.00 ({one:.2f} CPU-s)  ours {ours / one:.2f}  "
          f"per AD {rival / one:.2f}")  # fmt: skip
    return {"apart": gap, "one_pass": one, "ours": ours, "per_ad": rival}


def _through(film: Film, moments: Sequence[float]) -> list[float]:
    """When the frames at ``moments`` came up, by decoding all that lies before the last."""
    found: list[float] = []
    shown, left = 0.0, list(moments)
    for frame in film.frames():
        while left and frame.seconds > left[0] + 1e-6:
            found.append(shown)
            left.pop(0)
        if not left:
            break
        shown = frame.seconds
    return found + [shown] * len(left)


def _per_ad(film: Film, moments: Sequence[float]) -> list[float]:
    """The same for one AD, with a container of its own: sought to the key frame before it, decoded on."""
    assert isinstance(film, PyavFilm)
    assert film.media is not None
    with film.media.open() as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        base, start = stream.time_base or Fraction(1, 1_000_000), float(film.info.start)
        container.seek(int((moments[0] + start) / base), stream=stream)
        found: list[float] = []
        shown, left = 0.0, list(moments)
        for frame in container.decode(stream):
            second = float((frame.pts or 0) * base) - start
            while left and second > left[0] + 1e-6:
                found.append(shown)
                left.pop(0)
            if not left:
                break
            shown = second
    return found + [shown] * len(left)


def _shared(film: Film, gap: float, seconds: float, rounds: int, folder: Path) -> dict[str, Any]:
    """Grammar, Stage I and the overview look at the same ADs, exactly: together, and each for itself."""
    clips = _clips(gap, seconds)
    moments = sorted({m for clip in clips for m in clip})
    readers = {"grammar": moments[::6], "clips": moments, "overview": moments[::2]}

    def apart() -> None:
        for wanted in readers.values():
            _drained(film.pictures(wanted, max_pixels=PIXELS))

    def together() -> None:
        shelf = Pack(folder, "shelf", {"bench": film.info.fingerprint})
        make = partial(LosslessKeeper, film.info.size_within(max_pixels=PIXELS))
        one = OnePass(film, shelf, make, lambda moment: round(moment, 6))
        for wanted in readers.values():
            one.expect(wanted)
        for wanted in readers.values():
            _drained(one.pictures(wanted))
        one.close()
        shelf.clear()

    taken = _least(rounds, apart=apart, together=together)
    ratio = taken["together"] / taken["apart"]
    print(
        f"  three readers, {gap:5.0f} s apart: apart 1.00 ({taken['apart']:.2f} CPU-s)  together {ratio:.2f}"
    )
    return {"apart": gap, **{f"{name}_cpu": value for name, value in taken.items()}}


if __name__ == "__main__":
    main()
