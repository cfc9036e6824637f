"""Is the film with pauses still in step, how long does it take to write, and what does it weigh?

    python benchmarks/extended.py FILM [--pauses N] [--seconds S] [--picture encode|copy] [--keep FILE]

N pauses of S seconds are spread over the film. Sound: at up to 60 moments a quarter of a second is looked for
in the copy by normalised cross-correlation, where it should be and 50 ms to either side: the worst shift, and
the least likeness. Picture: at 60 moments the frame of the film and that of the copy, as they are shown: how
many differ by more than coding does (mean difference above 6 of 255), and by how much the others do. Pauses:
the frame at the beginning, in the middle and at the end of each against the film's last frame before it.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shotad.core import ExtendedSettings
from shotad.film import Film, open_film, sound_blocks
from shotad.sound.film_copy import write_copy
from shotad.sound.pauses import Pause
from shotad.sound.time_map import TimeMap

RATE = 16000
PIECE, AROUND = 0.25, 0.05
"""Seconds of sound that is looked for, and to either side of its place."""

MUCH = 6.0
"""Mean difference, of 255, above which two pictures are not the same frame."""

QUIET = 0.003
"""Where the sound is weaker than this nothing can be found again."""

HEIGHT = 120


def stretches(film: Film, starts: Sequence[float], length: float) -> Iterator[npt.NDArray[np.float32]]:
    """The sound of ``length`` seconds from each of the ascending ``starts``; one stretch in memory."""
    blocks, held, begin = sound_blocks(film, None, RATE, "mono"), np.zeros(0, np.float32), 0
    for start in starts:
        first = max(0, round(start * RATE))
        last = first + round(length * RATE)
        while begin + len(held) < last and (block := next(blocks, None)) is not None:
            kept = held[max(0, first - begin) :]
            begin += len(held) - len(kept)
            held = np.concatenate([kept, block.samples])
        yield held[max(0, first - begin) : last - begin]


def shifts(film: Film, copy: Film, times: TimeMap, moments: Sequence[float]) -> list[tuple[float, float]]:
    """For each moment that can be heard: ms off its place, and likeness (1: the same)."""
    heard = stretches(film, moments, PIECE)
    again = stretches(copy, [times.late(second) - AROUND for second in moments], PIECE + 2 * AROUND)
    found = []
    for one, other in zip(heard, again, strict=True):
        if len(other) <= len(one) or float(np.abs(one).max(initial=0)) < QUIET:
            continue
        # Differences of samples: deep rumble, which some encoders take out, says little of where sound is.
        alike = _alike(np.diff(one.astype(np.float64)), np.diff(other.astype(np.float64)))
        at = int(alike.argmax())
        found.append(((at - round(AROUND * RATE)) / RATE * 1000, float(alike[at])))
    return found


def _alike(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Normalised correlation of ``one`` with each stretch of ``other``."""
    running = np.concatenate([[0.0], np.cumsum(other**2)])
    energy = (running[len(one) :] - running[: -len(one)]) * (one**2).sum()
    alike: npt.NDArray[np.float64] = np.correlate(other, one, "valid") / np.sqrt(np.maximum(energy, 1e-12))
    return alike


def differences(film: Film, copy: Film, pairs: Sequence[tuple[float, float]]) -> list[float]:
    """Mean difference of the pictures at ``(film second, copy second)``, of 255."""
    one = film.pictures([first for first, _ in pairs], height=HEIGHT)
    other = copy.pictures([second for _, second in pairs], height=HEIGHT)
    return [
        float(np.abs(a.image.astype(np.int16) - b.image.astype(np.int16)).mean())
        for a, b in zip(one, other, strict=True)
    ]


def spread(duration: float, number: int, seconds: float) -> tuple[Pause, ...]:
    """Evenly over the film, at moments that are no round numbers."""
    return tuple(
        Pause(round(duration * (i + 1) / (number + 1) + 0.0137, 3), seconds, f"p{i}") for i in range(number)
    )


def main() -> None:
    """See the module's own words."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("film", type=Path)
    parser.add_argument("--pauses", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3.217)
    parser.add_argument("--picture", choices=("encode", "copy"), default="encode")
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        target = args.keep or Path(place) / f"copy{args.film.suffix}"
        film = open_film(args.film)
        times = TimeMap(spread(film.info.duration, args.pauses, args.seconds))
        began = time.perf_counter()
        write_copy(film, times.pauses, target, ExtendedSettings(on=True, picture=args.picture))
        wall = time.perf_counter() - began
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report(film, open_film(target), times)
        print(f"wall {wall:.1f} s, {wall / film.info.duration:.3f} of the film's length, {memory:.0f} MiB")
        print(f"size {target.stat().st_size / args.film.stat().st_size:.2f} of the film's")


def report(film: Film, copy: Film, times: TimeMap) -> None:
    """Prints what was found."""
    end = film.info.duration - 1.0
    clear = [s for s in np.linspace(0.5, end, 60) if all(abs(s - p.at) > 2 * PIECE for p in times.pauses)]
    sound = shifts(film, copy, times, clear[:: max(1, len(clear) // 40)])
    picture = differences(film, copy, [(second, times.late(second)) for second in clear])
    print(f"duration off by {1000 * (copy.info.duration - film.info.duration - times.total):+.1f} ms")
    if sound:
        print(f"sound: {len(sound)} places, worst shift {max(abs(s) for s, _ in sound):.3f} ms, "
              f"least likeness {min(a for _, a in sound):.4f}")  # fmt: skip
    same = [value for value in picture if value <= MUCH]
    print(f"picture: {len(picture)} places, {len(picture) - len(same)} others, else {np.mean(same):.2f} off")
    inside = []
    for number, pause in enumerate(times.pauses):
        waits = times.pause(number)
        moments = (waits.start + 0.002, waits.middle, waits.end - 0.05)
        inside += differences(film, copy, [(pause.at - 0.001, second) for second in moments])
    print(
        f"pauses: {len(times.pauses)}, {sum(value > MUCH for value in inside)} of {len(inside)} looks moved"
    )


if __name__ == "__main__":
    main()
