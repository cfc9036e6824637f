"""What the matching scores of all pairs of shots cost, beside the formula computed as it is written.

    python benchmarks/thread_scores.py                           # 50 and 200 shots, 192 patches of 1536
    python benchmarks/thread_scores.py --shots 12 --depth 384 --rounds 1      # a quick look
    python benchmarks/thread_scores.py --device cuda --shots 200 2000

"As written" multiplies all 192 patches of a frame with all 192 of the other, eight pairs at once, masks
the product and takes the softmax over it, for the pairs i < j alone. Both compute the same pairs from the
same features, take turns in one run, and the median of several rounds is told; CPU time is that of the whole
process (on a GPU: time on the clock, with everything finished). Memory is the most that a fresh process has
at once, less what it had with the features in it.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from table_parts.usage import peak

from shotad.grammar import Features, Matching, ShotFeatures, shot_scores
from shotad.grammar.threads import Scores

LIMIT = 0.5
"""The project's own limit for the CPU time, relative to the formula as written."""
GRID = (12, 16)
TOGETHER = 8
"""Pairs that the formula as written computes at once."""
KINDS = ("numpy float32", "torch float32", "torch bfloat16")


def made(kind: str, shots: int, depth: int, device: str) -> ShotFeatures:
    """Patches of length 1 for the first and last frame of every shot, half chance, half the same."""
    rng = np.random.default_rng(shots)
    return ShotFeatures(
        first=Features(*patches(kind, rng, shots, depth, device), GRID),
        last=Features(*patches(kind, rng, shots, depth, device), GRID),
    )


def patches(kind: str, rng: np.random.Generator, shots: int, depth: int, device: str) -> tuple[Any, Any]:
    shape = (shots, GRID[0] * GRID[1], depth)
    whole = np.ones((shots, 1), np.float32)
    if kind.startswith("numpy"):
        values: Any = np.empty(shape, np.float32)
    else:
        import torch

        values = torch.empty(shape, dtype=getattr(torch, kind.split()[1]), device=device)
    scene = np.random.default_rng(0).standard_normal(shape[1:], np.float32)
    for k in range(shots):
        frame = scene + rng.standard_normal(shape[1:], np.float32)
        frame /= np.linalg.norm(frame, axis=-1, keepdims=True)
        values[k] = frame if kind.startswith("numpy") else torch.from_numpy(frame)
    return values, whole if kind.startswith("numpy") else torch.from_numpy(whole)


# The formula as it is written


def mask(matching: Matching) -> Scores:
    (rows, columns), radius = matching.grid, matching.radius
    r, c = np.divmod(np.arange(rows * columns), columns)
    near = (abs(r[:, None] - r) <= radius) & (abs(c[:, None] - c) <= radius)
    return near.astype(np.float32)


def as_written(kinds: ShotFeatures, matching: Matching) -> Scores:
    last, first = kinds.at("last").patches, kinds.at("first").patches
    several = numpy_scores if isinstance(last, np.ndarray) else torch_scores
    inside, n = mask(matching), len(last)
    scores = np.eye(n, dtype=np.float32)
    for i in range(n):
        for start in range(i + 1, n, TOGETHER):
            some = slice(start, min(start + TOGETHER, n))
            scores[i, some] = scores[some, i] = several(last[i], first[some], inside, matching.temperature)
    return scores


def numpy_scores(ours: Any, theirs: Any, inside: Scores, temperature: float) -> Scores:
    logits = np.matmul(ours, theirs.transpose(0, 2, 1)) * inside / np.float32(temperature)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights.max(axis=-1).mean(axis=-1), np.float32)


def torch_scores(ours: Any, theirs: Any, inside: Scores, temperature: float) -> Scores:
    import torch

    window = torch.from_numpy(inside).to(ours.device)
    logits = torch.matmul(ours, theirs.transpose(1, 2)).float() * window / temperature
    return np.asarray(logits.softmax(-1).amax(-1).mean(-1).cpu().numpy(), np.float32)


# Measuring


def seconds(work: Callable[[], object], device: str) -> float:
    clock = time.process_time if device == "cpu" else time.perf_counter
    start = clock()
    work()
    return clock() - start


def compare(kind: str, shots: int, chosen: argparse.Namespace) -> float:
    """Print one line; the answer is the ratio of the two medians."""
    kinds, matching = made(kind, shots, chosen.depth, chosen.device), Matching(GRID)
    few = ShotFeatures(**{place: head(kinds.at(place), 3) for place in ("first", "last")})
    off = float(abs(shot_scores(few, matching) - as_written(few, matching)).max())
    ours, written = [], []
    for _ in range(chosen.rounds):
        written.append(seconds(lambda: as_written(kinds, matching), chosen.device))
        ours.append(seconds(lambda: shot_scores(kinds, matching), chosen.device))
    pairs = shots * (shots - 1) / 2
    one, other = statistics.median(ours), statistics.median(written)
    spread = ", ".join(f"{a / b:.2f}" for a, b in zip(ours, written, strict=True))
    print(
        f"  {kind:16}{shots:6}{one:9.2f}{1e6 * one / pairs:9.0f}{other:10.2f}{1e6 * other / pairs:9.0f}"
        f"{one / other:8.3f}  ({spread}); differs by {off:.0e}",
        flush=True,
    )
    return one / other


def head(some: Features, count: int) -> Features:
    return Features(some.patches[:count], some.whole[:count], some.grid)


def memory(kind: str, shots: int, chosen: argparse.Namespace) -> float:
    """MB that the scores take in a process of its own, beyond the features."""
    answer = subprocess.run(
        [
            sys.executable,
            __file__,
            "--peak",
            kind,
            "--shots",
            str(shots),
            "--depth",
            str(chosen.depth),
            "--device",
            chosen.device,
            "--threads",
            str(chosen.threads),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(answer.stdout)


def extra_peak(kind: str, shots: int, depth: int, device: str) -> float:
    few, kinds = made(kind, 2, depth, device), made(kind, shots, depth, device)
    # Once beforehand, so that what libraries set up for themselves is not counted.
    shot_scores(few, Matching(GRID))
    gc.collect()
    if device != "cpu":
        import torch

        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        shot_scores(kinds, Matching(GRID))
        return (torch.cuda.max_memory_allocated() - before) / 1e6
    before = peak()
    shot_scores(kinds, Matching(GRID))
    return peak() - before


def limit_threads(count: int) -> None:
    import torch

    torch.set_num_threads(count)
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return
    threadpool_limits(count)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shots", nargs="*", type=int, default=[50, 200])
    parser.add_argument("--depth", type=int, default=1536)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    parser.add_argument("--device", default="cpu", help="of torch")
    parser.add_argument("--threads", type=int, default=1, help="of torch; numpy's by OPENBLAS_NUM_THREADS")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    limit_threads(chosen.threads)
    if chosen.peak:
        print(extra_peak(chosen.peak, chosen.shots[0], chosen.depth, chosen.device))
        return
    unit = "CPU" if chosen.device == "cpu" else "wall"
    print(f"  {'':16}{'shots':>6}{unit + ' s':>9}{'us/pair':>9}{'written':>10}{'us/pair':>9}{'ratio':>8}")
    ratios = [compare(kind, shots, chosen) for kind in chosen.kinds for shots in chosen.shots]
    print(
        f"  highest {max(ratios):.2f}: {'within' if max(ratios) <= LIMIT else 'ABOVE'} the limit of {LIMIT}"
    )
    for kind in chosen.kinds:
        used = [f"{memory(kind, shots, chosen):.0f} MB for {shots} shots" for shots in chosen.shots]
        print(f"  memory beyond the features, {kind}: {', '.join(used)}", flush=True)


if __name__ == "__main__":
    main()
