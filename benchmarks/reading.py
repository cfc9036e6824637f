"""What it costs to read frames: decoding, seeking, keeping; and one pass beside seeks beside a seek per AD.

    python benchmarks/reading.py                      # 1080p, 720p and 480p films made here
    python benchmarks/reading.py FILM [FILM ...]      # films of your own, decoded up to --seconds

The first table is what stands as constants in `shotad.film.zones`. The second reads 32 frames over 8 s
around an AD, for ADs so many seconds apart, in four ways that must agree on every frame: *one pass*
decodes all; *ours* is the reader's sorted pass, which seeks over gaps where the index says that it pays;
*per AD* opens the film anew for each AD and seeks to it, as published research code does; *estimate*
says which of the first two the plan would take, and what share of one pass it expects. The third is what
sharing saves: three readers of the same ADs, one pass for all beside a pass for each.

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

from shotad.film import Film, Frame, Grid, open_film
from shotad.film.decoder import SEEK_GAIN
from shotad.film.framestore import Pack
from shotad.film.framing import PIXELS, OnePass
from shotad.film.grid import Keeper, LosslessKeeper
from shotad.film.pyav_reader import PyavFilm
from shotad.film.zones import Costs, KeyFrames, how_to_share, key_frames, roll_of

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
        keys, seconds = key_frames(film), min(most, film.info.duration)
        costs = _costs(film)
        print(f"\n{path.name}: {film.info.width}x{film.info.height}, {film.info.video_codec}, "
              f"key frames every {keys.distance or 0:.1f} s")  # fmt: skip
        units = _units(film, keys, seconds, rounds)
        _print_units(units, costs, film)
        sparse = [_sparse(film, keys, costs, gap, seconds, rounds) for gap in APART if gap <= seconds / 2]
        shared = [_shared(film, keys, gap, seconds, rounds, folder) for gap in APART if gap <= seconds / 2]
        return {"film": path.name, "units": units, "sparse": sparse, "shared": shared}


def _costs(film: Film, *, lossless: bool = False) -> Costs:
    info = film.info
    width, height = info.size_within(max_pixels=PIXELS) if lossless else info.size_within(480)
    return Costs.of(info.width * info.height, float(info.frame_rate or 24), width * height, lossless=lossless)


def _least(rounds: int, **ways: Callable[[], object]) -> dict[str, float]:
    """The least CPU seconds of each way; all take turns."""
    found = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            begun = time.process_time()
            way()
            found[name] = min(found[name], time.process_time() - begun)
    return found


def _units(film: Film, keys: KeyFrames, seconds: float, rounds: int) -> dict[str, float]:
    """Seconds of CPU: of a film second, a seek, and of keeping and looking at a frame in both ways."""
    inside = [] if keys.seconds is None else [float(k) for k in keys.seconds if 0 < k < seconds - 1]
    # A frame right behind a key frame: what is decoded after the seek is next to nothing.
    sought = [k + 0.2 for k in inside[::2]]
    frames = list(film.frames_at(np.linspace(0, seconds - 1, 24).tolist()))
    grid, exact = Keeper(film.info, Grid()), LosslessKeeper(film.info.size_within(max_pixels=PIXELS))
    exact_frames = [Frame(f.seconds, f.index, f.raw, partial(_same, f.rgb(exact.size))) for f in frames]
    kept, whole = (
        [grid.keep(frame) for frame in _later(frames)],
        [exact.keep(frame) for frame in exact_frames],
    )
    taken = _least(
        rounds,
        pass_=lambda: _through(film, [seconds]),
        seeks=lambda: _drained(film.frames_at(sought)),
        keep=lambda: _each(grid.keep, _later(frames)),
        fetch=lambda: [grid.picture(one) for one in kept],
        shelve=lambda: [LosslessKeeper(exact.size).keep(frame) for frame in exact_frames],
        take=lambda: [exact.picture(one) for one in whole],
    )
    decode = taken["pass_"] / seconds
    behind = roll_of(sought, keys, SEEK_GAIN)
    seek = (taken["seeks"] - behind.seconds * decode) / max(1, behind.seeks)
    n = len(frames)
    named = {name: taken[name] / n for name in ("keep", "fetch", "shelve", "take")}
    size = {
        "jpeg_bytes": float(np.mean([len(one.data) for one in kept])),
        "lossless_bytes": float(np.mean([len(one.data) for one in whole])),
    }
    return {"decode": decode, "seek": max(0.0, seek), **named, **size}


_turn = iter(range(1, 1 << 30))


def _later(frames: Sequence[Frame]) -> list[Frame]:
    """The same frames with numbers that ascend from round to round, as an encoder wants them."""
    return [Frame(frame.seconds, next(_turn), frame.raw, frame.paint) for frame in frames]


def _same(image: Any, _: object) -> Any:
    return image


def _each(do: Callable[[Frame], object], frames: Sequence[Frame]) -> None:
    for frame in frames:
        do(frame)


def _drained(frames: Any) -> None:
    for _ in frames:
        pass


def _print_units(units: dict[str, float], costs: Costs, film: Film) -> None:
    lossless = _costs(film, lossless=True)
    taken = {
        "decode": costs.decode, "seek": costs.seek, "keep": costs.keep, "fetch": costs.fetch,
        "shelve": lossless.keep, "take": lossless.fetch,
        "jpeg_bytes": costs.size, "lossless_bytes": lossless.size,
    }  # fmt: skip
    print("  what            measured  as planned")
    for name, value in units.items():
        scale, unit = (1e-3, "kB") if name.endswith("bytes") else (1e3, "ms")
        print(f"  {name:14s} {value * scale:8.2f} {unit} {taken[name] * scale:8.2f} {unit}")


def _clips(gap: float, seconds: float) -> list[list[float]]:
    """The moments of each AD's clip, ``gap`` seconds from one to the next."""
    starts = np.arange(0.5 * gap, seconds - SPAN, gap)
    return [np.linspace(start, start + SPAN, FRAMES, endpoint=False).tolist() for start in starts]


def _sparse(
    film: Film, keys: KeyFrames, costs: Costs, gap: float, seconds: float, rounds: int
) -> dict[str, float]:
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
    roll = roll_of(moments, keys, SEEK_GAIN)
    expected = roll.cost(costs) / (moments[-1] * costs.decode)
    chosen = "one pass" if roll.seeks == 0 else f"{roll.seeks} seeks"
    print(f"  ADs {gap:5.0f} s apart: one pass 1.00 ({one:.2f} CPU-s)  ours {ours / one:.2f}  "
          f"per AD {rival / one:.2f}  estimate {expected:.2f} ({chosen})")  # fmt: skip
    return {"apart": gap, "one_pass": one, "ours": ours, "per_ad": rival, "estimate": expected}


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


def _shared(
    film: Film, keys: KeyFrames, gap: float, seconds: float, rounds: int, folder: Path
) -> dict[str, Any]:
    """Grammar, Stage I and the overview look at the same ADs, exactly: together, and each for itself."""
    clips = _clips(gap, seconds)
    moments = sorted({m for clip in clips for m in clip})
    readers = {"grammar": moments[::6], "clips": moments, "overview": moments[::2]}
    choice = how_to_share(readers, keys, _costs(film, lossless=True), gain=SEEK_GAIN)

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
    ratio, expected = taken["together"] / taken["apart"], choice.costs["together"] / choice.costs["apart"]
    print(f"  three readers, {gap:5.0f} s apart: apart 1.00 ({taken['apart']:.2f} CPU-s)  "
          f"together {ratio:.2f}  estimate {expected:.2f} ({choice.way})")  # fmt: skip
    return {"apart": gap, **{f"{name}_cpu": value for name, value in taken.items()}, "chosen": choice.way}


if __name__ == "__main__":
    main()
