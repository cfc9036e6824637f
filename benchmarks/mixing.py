"""What mixing costs: time as a share of the film's length and of decoding alone, and the memory it takes.

    python benchmarks/mixing.py [--minutes 10 60] [--layout 5.1] [--profile source ebu-r128] [--ending wav]

Makes films with AC-3 sound (loops of noise that swells) and a line of four seconds every twelve. Each case
runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from shotad.core import Interval, MixSettings
from shotad.film import open_film, sound_blocks
from shotad.sound import Spoken, Take
from shotad.sound.files import write_sound
from shotad.sound.mix import prepare_mix

RATE = 48000


@dataclass(frozen=True)
class Cost:
    """Seconds of decoding alone, of preparing (a pass, two for a target) and of writing; MiB at most."""

    decode: float
    prepare: float
    write: float
    memory: float


def make_film(path: Path, minutes: float, layout: str) -> Path:
    """A film with small pictures, one a second, and loops of swelling noise."""
    channels = av.AudioLayout(layout).nb_channels
    swell = 0.02 + 0.1 * np.abs(np.sin(np.arange(RATE * 8) / RATE))
    loop = np.random.default_rng(0).standard_normal((channels, RATE * 8)) * swell
    with av.open(str(path), "w") as container:
        video: Any = container.add_stream("libx264", rate=1, options={"preset": "ultrafast"})
        video.width, video.height, video.pix_fmt = 64, 36, "yuv420p"
        sound: Any = container.add_stream("ac3", rate=RATE, layout=layout)
        size, base, done = 1536, Fraction(1, RATE), 0
        for second in range(round(minutes * 60)):
            picture = av.VideoFrame.from_ndarray(np.full((54, 64), 16 + second % 200, np.uint8), "yuv420p")
            picture.pts, picture.time_base = second, Fraction(1)
            container.mux(video.encode(picture))
            while done < (second + 1) * RATE:
                at = done % (loop.shape[1] - size)
                part = np.ascontiguousarray(loop[:, at : at + size], np.float32)
                frame = av.AudioFrame.from_ndarray(part, format="fltp", layout=layout)
                frame.sample_rate, frame.pts, frame.time_base = RATE, done, base
                container.mux(sound.encode(frame))
                done += size
        container.mux(video.encode(None))
        container.mux(sound.encode(None))
    return path


def lines(minutes: float) -> list[Spoken]:
    """A line every twelve seconds; all share one take, as what takes cost is the voice's."""
    samples = (np.random.default_rng(1).standard_normal(24000 * 4) * 0.1).astype(np.float32)
    take = Take(samples, 24000, "noise", "noise")
    return [Spoken(str(k), "", 2.0 + 12 * k, take) for k in range(int(minutes * 5) - 1)]


def cost(film_path: Path, minutes: float, profile: str, out: Path) -> Cost:
    """One case."""
    speech = [Interval(7.0 + 12 * k, 11.0 + 12 * k) for k in range(int(minutes * 5) - 1)]
    with open_film(film_path) as film:
        clock = [time.perf_counter()]
        deque(sound_blocks(film, rate=RATE, layout="native"), 0)
        clock.append(time.perf_counter())
        mix = prepare_mix(film, lines(minutes), speech, MixSettings(profile=profile))  # type: ignore[arg-type]
        clock.append(time.perf_counter())
        write_sound(out, mix.mixed(), layout=mix.layout, rate=mix.rate)
        clock.append(time.perf_counter())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(*(float(part) for part in np.diff(clock)), peak)


def main() -> int:
    """Make the films, run the cases, print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, nargs="+", default=[10, 60])
    parser.add_argument("--layout", default="5.1")
    parser.add_argument("--profile", nargs="+", default=["source", "ebu-r128"])
    parser.add_argument("--ending", default="wav")
    given = parser.parse_args()
    print("| film | profile | decoding | measuring | writing | all / length | all / decoding | memory |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for minutes in given.minutes:
            film = make_film(Path(folder) / "film.mkv", minutes, given.layout)
            for profile in given.profile:
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    out = Path(folder) / f"mix.{given.ending}"
                    found = pool.apply(cost, (film, minutes, profile, out))
                whole = found.prepare + found.write
                print(
                    f"| {minutes:g} min {given.layout} | {profile} | {found.decode:.1f} s "
                    f"| {found.prepare:.1f} s | {found.write:.1f} s "
                    f"| 1/{minutes * 60 / whole:.0f} | {whole / found.decode:.1f} | {found.memory:.0f} MiB |",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
