"""How much memory reading a film takes, and whether it grows with the film's length.

    python benchmarks/memory.py                       # made films of 2 and 20 minutes, 1080p
    python benchmarks/memory.py --height 480 --minutes 2 20 60
    python benchmarks/memory.py --films SHORT LONG    # films of your own

Each film is read by a process of its own: its sound, one pass that finds the shots and keeps frames,
the slots of a film in which nobody speaks, and 32 frames for each of them; no model is loaded. What is
reported is the most that the process had in memory at once, by the kernel's count.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

LIMIT = 600
"""MB that may be in memory at once, without models."""
GROWTH = 40
"""MB by which the longest film may exceed the shortest: allocators are not exact to the MB. Scores,
shots and slots of 20 minutes are less than 1 MB."""


def read(path: Path) -> str:
    """Everything up to the clips; what was read, in words."""
    from cpu import dense_slots, frames, plans, shots

    from shotad.config import Config
    from shotad.film.audio import sound_blocks
    from shotad.film.framestore import FrameStore
    from shotad.film.grid import Grid
    from shotad.film.reader import open_film

    config = Config()
    with open_film(path) as film, tempfile.TemporaryDirectory() as folder:
        heard = sum(len(block.samples) for block in sound_blocks(film))
        with FrameStore(Path(folder), film, Grid()) as store:
            found = shots(film, "fast", store.tee(film.frames()))
            slots = dense_slots(found, film, config)
            shown = frames(plans(slots, found.shots, film, config), store.pictures)
    return (
        f"{found.frame_count} frames, {heard / 16000:.0f} s of sound, {len(found.shots)} shots, "
        f"{len(slots)} slots, {shown} frames delivered"
    )


def measure(path: Path) -> float:
    """Peak of a fresh process that reads ``path``, in MB."""
    answer = subprocess.run(
        [sys.executable, __file__, "--read", str(path)], check=True, capture_output=True, text=True
    ).stdout.strip()
    said, _, used = answer.rpartition("; ")
    print(f"  {path.name}: {float(used):.0f} MB ({said})", flush=True)
    return float(used)


def make(folder: Path, height: int, minutes: list[float]) -> list[Path]:
    from bench_film import bench_film

    folder.mkdir(parents=True, exist_ok=True)
    return [bench_film(folder, height, 60 * length) for length in minutes]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--films", nargs="*", type=Path, help="films to read, the shortest first")
    parser.add_argument("--minutes", nargs="*", type=float, default=[2, 20])
    parser.add_argument("--height", type=int, default=1080)
    parser.add_argument("--folder", type=Path, help="where made films are kept for the next time")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.read:
        from shotad.system import peak_memory

        print(f"{read(chosen.read)}; {peak_memory() / 1e6:.1f}")
        return
    with tempfile.TemporaryDirectory() as temporary:
        films = chosen.films or make(chosen.folder or Path(temporary), chosen.height, chosen.minutes)
        used = [measure(path) for path in films]
    print(f"  most {max(used):.0f} MB: {'within' if max(used) < LIMIT else 'ABOVE'} the limit of {LIMIT} MB")
    grown = used[-1] - used[0]
    print(f"  longest less shortest: {grown:+.0f} MB: {'flat' if grown < GROWTH else 'IT GROWS'}")


if __name__ == "__main__":
    main()
