"""What a training step of shot scale costs, and where the time goes.

    python benchmarks/train_scale.py                         # a small net, to see that it runs
    python benchmarks/train_scale.py --full --batch 256      # ViT-B/14 at 448 x 336, on a GPU
    python benchmarks/train_scale.py --full --batch 256 --data FOLDER --workers 14

Each precision is timed in the same loop: float32 as torch multiplies by default (no TF32), and bfloat16 by
autocast. Forward, backward and optimiser are timed apart, with the device waited for at each border; images
per second are those of whole steps without these waits. Weights are random: they do not change the cost.
``--data`` adds what reading costs: pictures per second that the workers deliver, alone and while training.
``--fill`` looks for the largest batch that fits the device, doubling from ``--batch``; ``--trace FILE``
writes a trace of three steps that chrome://tracing and Perfetto open.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from shotad.core import ComputeSettings, device_of, load_settings
from shotad.grammar import ScaleTraining
from shotad.grammar.movieshots import read_items
from shotad.grammar.scale_net import BackboneShape, ScaleDesign, ScaleNet
from shotad.grammar.training_feed import Feed, Pick, epoch_order, in_batches
from shotad.grammar.training_loop import make_optimizer, set_rates
from shotad.grammar.training_settings import OptimSettings

FULL = ScaleDesign()
SMALL = ScaleDesign(BackboneShape(64, 4, 4, side=112), 2, 112, 84)
PARTS = ("forward", "backward", "optimiser")


@dataclass(frozen=True)
class Bench:
    """A net on a device, with a batch that is there already."""

    net: ScaleNet
    optimizer: torch.optim.AdamW
    images: torch.Tensor
    labels: torch.Tensor
    precision: torch.dtype

    @property
    def device(self) -> torch.device:
        return self.images.device

    def mixed(self) -> AbstractContextManager[Any]:
        bf16 = self.precision is torch.bfloat16
        context: AbstractContextManager[Any] = torch.autocast(self.device.type, torch.bfloat16, enabled=bf16)
        return context

    def forward(self) -> torch.Tensor:
        with self.mixed():
            logits = self.net(self.images)
        return torch.nn.functional.cross_entropy(logits.float(), self.labels, label_smoothing=0.1)

    def update(self) -> None:
        tuned = [p for group in self.optimizer.param_groups for p in group["params"]]
        torch.nn.utils.clip_grad_norm_(tuned, 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def step(self) -> None:
        self.forward().backward()
        self.update()


def made(design: ScaleDesign, batch: int, device: torch.device, precision: torch.dtype) -> Bench:
    torch.manual_seed(0)
    net = ScaleNet(design, drop_path=0.1).to(device).train()
    optimizer = make_optimizer(net, OptimSettings())
    set_rates(optimizer, 1e-3)
    shape = (batch, design.short_side, design.long_side, 3)
    images = torch.randint(0, 256, shape, dtype=torch.uint8).to(device)
    return Bench(net, optimizer, images, torch.randint(0, 5, (batch,)).to(device), precision)


def settled(device: torch.device) -> float:
    """The time once the device has done all it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def seconds(work: Callable[[], object], device: torch.device, rounds: int) -> float:
    """Median of several rounds of a few calls each, per call."""
    calls = 5 if device.type == "cuda" else 1
    found = []
    for _ in range(rounds):
        start = settled(device)
        for _ in range(calls):
            work()
        found.append((settled(device) - start) / calls)
    return statistics.median(found)


def parts(bench: Bench, rounds: int) -> dict[str, float]:
    """Seconds of the parts of a step, each waited for."""
    found: dict[str, list[float]] = {name: [] for name in PARTS}
    for _ in range(rounds):
        marks = [settled(bench.device)]
        loss = bench.forward()
        marks.append(settled(bench.device))
        loss.backward()
        marks.append(settled(bench.device))
        bench.update()
        marks.append(settled(bench.device))
        for name, (start, end) in zip(PARTS, itertools.pairwise(marks), strict=True):
            found[name].append(end - start)
    return {name: statistics.median(values) for name, values in found.items()}


def work_of(design: ScaleDesign) -> float:
    """Operations (two for a multiplication with addition) of one image's step, forward and backward.

    Backward costs twice the forward of the tuned blocks, but for the first, which hands no gradient on:
    counted as if it did, which is at most 2 % more.
    """
    shape = design.backbone
    tokens = (design.long_side // shape.patch) * (design.short_side // shape.patch) + 1
    matrices = tokens * shape.hidden**2 * (4 + 2 * shape.mlp_ratio)
    block = 2 * (matrices + 2 * tokens**2 * shape.hidden)
    embedding = 2 * (tokens - 1) * 3 * shape.patch**2 * shape.hidden
    return float(embedding + block * (shape.blocks + 2 * design.tuned_blocks))


def measured(bench: Bench, rounds: int) -> dict[str, Any]:
    for _ in range(3):
        bench.step()
    if bench.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(bench.device)
    step = seconds(bench.step, bench.device, rounds)
    batch = len(bench.images)
    peak = torch.cuda.max_memory_allocated(bench.device) / 2**30 if bench.device.type == "cuda" else None
    return {
        "precision": str(bench.precision).removeprefix("torch."),
        "batch": batch,
        "images_per_second": batch / step,
        "teraflops": work_of(bench.net.design) * batch / step / 1e12,
        "parts": parts(bench, rounds),
        "gib": peak,
    }


def filled(design: ScaleDesign, batch: int, device: torch.device, precision: torch.dtype) -> int:
    """The largest batch, doubling, whose step fits."""
    while True:
        try:
            made(design, 2 * batch, device, precision).step()
        except torch.OutOfMemoryError:
            return batch
        finally:
            torch.cuda.empty_cache()
        batch *= 2


def fed(folder: Path, bench: Bench, workers: int) -> dict[str, float]:
    """Images per second from files: read alone, and trained with."""
    design, batch = bench.net.design, len(bench.images)
    sides = [f"net.long_side={design.long_side}", f"net.short_side={design.short_side}"]
    settings = load_settings(ScaleTraining, ["train-scale"], [*sides, f"data.workers={workers}"])
    items = read_items(folder).of("train")
    feed = Feed(settings, pin=bench.device.type == "cuda")
    found = {}
    for name, trains in (("read", False), ("read and trained", True)):
        pieces = feed.pieces(list(itertools.islice(picks(items, batch), 12)))
        next(pieces)
        start, count = settled(bench.device), 0
        for piece in pieces:
            here = piece.to(bench.device)
            count += len(here.labels)
            if trains:
                replace(bench, images=here.groups[0], labels=here.labels[: len(here.groups[0])]).step()
        found[name] = count / (settled(bench.device) - start)
    feed.close()
    return found


def picks(items: Any, batch: int) -> Iterator[list[Pick]]:
    for epoch in itertools.count():
        order = epoch_order([item.key for item in items], 0, epoch)
        for places in in_batches(order, batch):
            yield [Pick(items[place], epoch) for place in places]


def traced(bench: Bench, file: Path) -> str:
    """A trace of three steps; the dearest operations as a table."""
    activity = torch.profiler.ProfilerActivity
    kinds = [activity.CPU, *([activity.CUDA] if bench.device.type == "cuda" else [])]
    with torch.profiler.profile(activities=kinds) as profile:
        for _ in range(3):
            bench.step()
        settled(bench.device)
    profile.export_chrome_trace(str(file))
    by = "self_cuda_time_total" if bench.device.type == "cuda" else "self_cpu_time_total"
    return str(profile.key_averages().table(sort_by=by, row_limit=15))


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--full", action="store_true", help="ViT-B/14 at 448 x 336")
    words.add_argument("--batch", type=int, default=8)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--device", default="auto")
    words.add_argument("--fill", action="store_true")
    words.add_argument("--data", type=Path)
    words.add_argument("--workers", type=int, default=4)
    words.add_argument("--trace", type=Path)
    words.add_argument("--json", action="store_true")
    asked = words.parse_args()
    device = device_of(ComputeSettings(device=asked.device))
    design = FULL if asked.full else SMALL
    batch = asked.batch
    if asked.fill and device.type == "cuda":
        batch = filled(design, batch, device, torch.bfloat16)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    print(f"{name}, torch {torch.__version__}, {torch.get_num_threads()} threads", file=sys.stderr)
    rows = []
    for precision in (torch.float32, torch.bfloat16):
        bench = made(design, batch, device, precision)
        rows.append(measured(bench, asked.rounds))
        if asked.data is not None and precision is torch.bfloat16:
            rows[-1]["files"] = fed(asked.data, bench, asked.workers)
        if asked.trace is not None and precision is torch.bfloat16:
            print(traced(bench, asked.trace))
    print(json.dumps(rows, indent=2) if asked.json else told(rows))


def told(rows: list[dict[str, Any]]) -> str:
    lines = []
    for row in rows:
        whole = sum(row["parts"].values())
        shares = ", ".join(f"{name} {value / whole:.0%}" for name, value in row["parts"].items())
        memory = "" if row["gib"] is None else f", {row['gib']:.1f} GiB"
        lines.append(
            f"{row['precision']:8}  batch {row['batch']}: {row['images_per_second']:.1f} images/s, "
            f"{row['teraflops']:.3g} TFLOP/s{memory}; {shares}"
        )
        lines += [f"          {name}: {rate:.1f} images/s" for name, rate in row.get("files", {}).items()]
    lines.append(f"bfloat16 / float32: {rows[1]['images_per_second'] / rows[0]['images_per_second']:.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
