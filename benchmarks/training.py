"""Whether reading keeps up with the net that is trained: pictures a second of both, and the ratio.

    python benchmarks/training.py FOLDER [--films 200] [--sample 200]

FOLDER gets a made MovieShots in the published layout (fake_movieshots.py) unless it is there. Three ways of
reading are timed, with all changes of pictures: clips decoded each time (``data.frames=0``, a sample),
taking frames out of all clips once, and an epoch of kept frames. Each is timed twice: by the clock, with a
worker for each processor, and by the processor time of one picture in one process, which other programs
change little.

The step is that of the paper's net (DINOv2 ViT-B/14, the last six blocks tuned, 448 x 336) with random
weights, in float32 on the processors. Those of GPUs are not measured but stated: the operations of a step, by
the published peak of a card, of which a share (``--utilisation``) is taken to be reached.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from common import command_line, cpu
from fake_movieshots import clip_form, make_movieshots

from shotad.core import NoProgress
from shotad.core.settings import load_settings
from shotad.core.system import processors
from shotad.grammar import ScaleTraining
from shotad.grammar.scale_data import ScaleItem, read_items
from shotad.grammar.scale_net import BackboneShape, ScaleDesign, ScaleNet
from shotad.grammar.training_feed import (
    Feed,
    Pick,
    clip_frames,
    in_batches,
    keep_frames,
    worker_count,
)
from shotad.grammar.training_loop import make_optimizer, set_rates
from shotad.grammar.training_stop import Stop

PEAKS = {"T4, float16": 65e12, "A100, bfloat16": 312e12, "H100, bfloat16": 989e12}
"""Operations a second of 16-bit matrix products without sparsity, by NVIDIA's data sheets."""


@dataclass(frozen=True)
class Rate:
    """``pictures`` in ``seconds`` by the clock, and the processor time of one of them in one process."""

    name: str
    pictures: int
    seconds: float
    cpu_each: float

    @property
    def per_second(self) -> float:
        return self.pictures / self.seconds

    def at_best(self, cores: int) -> float:
        """Pictures a second where ``cores`` processors do nothing else."""
        return cores / self.cpu_each

    def __str__(self) -> str:
        return (
            f"{self.name:34} {self.per_second:8.1f}/s by the clock, {1000 * self.cpu_each:6.1f} ms of a "
            f"processor each, so {self.at_best(2):6.1f}/s on two that do nothing else"
        )


def seconds_of(work: Callable[[], object]) -> float:
    """Seconds by the clock."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def read_all(settings: ScaleTraining, out: Path, items: Sequence[ScaleItem]) -> None:
    """Read an epoch's pictures as training does, and throw them away."""
    picks = [
        [Pick(items[place], epoch=0) for place in batch]
        for batch in in_batches(range(len(items)), settings.batch)
    ]
    feed = Feed(settings, out, torch.device("cpu"))
    try:
        for _ in feed.micro_batches(picks):
            pass
    finally:
        feed.close()


def reading_rates(items: Sequence[ScaleItem], sample: int, out: Path) -> list[Rate]:
    """The three ways of reading; ``sample`` items are decoded each time, and read in one process."""
    here = load_settings(ScaleTraining, ["train-scale"], ["data.workers=0"])
    workers = load_settings(ScaleTraining, ["train-scale"], [])
    count = worker_count(workers.data)
    sample_items = items[:: max(1, len(items) // sample)][:sample]

    def keep(settings: ScaleTraining, clips: Sequence[ScaleItem], processes: int) -> None:
        frames = clip_frames(settings, out)
        assert frames is not None
        keep_frames(frames, clips, processes, NoProgress(), Stop())

    def timed(name: str, clips: Sequence[ScaleItem], cpu_each: float, work: Callable[[], object]) -> Rate:
        rate = Rate(name, len(clips), seconds_of(work), cpu_each)
        print(rate, flush=True)
        return rate

    direct, direct_here = (
        settings.model_copy(update={"data": settings.data.model_copy(update={"frames": 0})})
        for settings in (workers, here)
    )
    cpu_direct = cpu(lambda: read_all(direct_here, out, sample_items)) / len(sample_items)
    rates = [
        timed("decoded each time", sample_items, cpu_direct, lambda: read_all(direct, out, sample_items))
    ]
    cpu_taking = cpu(lambda: keep(here, sample_items, 0)) / len(sample_items)
    remaining_items = [item for item in items if item not in set(sample_items)]
    rates.append(
        timed(
            "taking frames out, once",
            remaining_items,
            cpu_taking,
            lambda: keep(workers, remaining_items, count),
        )
    )
    cpu_kept = cpu(lambda: read_all(here, out, sample_items)) / len(sample_items)
    rates.append(timed("kept frames, each epoch", items, cpu_kept, lambda: read_all(workers, out, items)))
    return rates


def step_rate(batch: int, steps: int) -> Rate:
    """Steps of the paper's net on the processors, in float32."""
    net = ScaleNet(ScaleDesign()).train()
    settings = load_settings(ScaleTraining, ["train-scale"], []).optim
    optimizer = make_optimizer(net, settings)
    set_rates(optimizer, 1.0)
    images = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (batch, 336, 448, 3), np.uint8))
    labels = torch.arange(batch) % 5

    def work() -> None:
        for _ in range(steps):
            torch.nn.functional.cross_entropy(net(images), labels).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    cpu_seconds = 0.0

    def timed_work() -> None:
        nonlocal cpu_seconds
        cpu_seconds = cpu(work)

    seconds = seconds_of(timed_work)
    return Rate("a step of the net, processors", batch * steps, seconds, cpu_seconds / (batch * steps))


def operations(shape: BackboneShape, design: ScaleDesign) -> float:
    """Operations of a step for one picture: forward through all blocks, twice that back through the tuned.

    A token costs a block 24 d² for its matrices (4 d² of attention and 8 d² of the MLP, two operations each)
    and 4 n d for the products of attention, with n tokens of d numbers.
    """
    tokens = 1 + design.long_side * design.short_side // shape.patch**2
    each_block = tokens * (24 * shape.hidden**2 + 4 * tokens * shape.hidden)
    return float(each_block * (shape.blocks + 2 * design.tuned_blocks))


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--films", type=int, default=200, help="of ten clips each (200)")
    parser.add_argument("--size", default="640x360", help="pixels of a clip (640x360)")
    parser.add_argument("--sample", type=int, default=200, help="clips that are decoded each time (200)")
    parser.add_argument("--steps", type=int, default=3, help="of the net, with 4 pictures each (3)")
    parser.add_argument("--utilisation", type=float, default=0.4, help="share of a GPU's peak (0.4)")
    arguments = parser.parse_args()
    make_movieshots(arguments.folder, arguments.films, clip_form(arguments.size, 60), processors())
    began = time.perf_counter()
    data = read_items(arguments.folder)
    print(f"{data.layout}: {len(data.items):,} clips, read in {time.perf_counter() - began:.1f} s")
    with tempfile.TemporaryDirectory(dir=arguments.folder.parent) as out:
        decoded, _, kept_frames = reading_rates(data.items, arguments.sample, Path(out))
        sizes = [path.stat().st_size for path in Path(out).rglob("*.jpg")]
        megabytes = sum(sizes) / 1e6
        print(f"{len(sizes):,} frames kept, {megabytes:,.0f} MB, {1000 * megabytes / len(sizes):.0f} kB each")
    step = step_rate(4, arguments.steps)
    print(step)
    print("\nPictures read on two processors, for each that a step takes (above 1 reading keeps up):")
    print(f"{'':34} {'a step':>8} {'decoded':>9} {'kept':>9} {'processors needed':>18}")
    on_gpus = {
        name: arguments.utilisation * peak / operations(BackboneShape(), ScaleDesign())
        for name, peak in PEAKS.items()
    }
    for name, taken in {"two processors, measured": step.at_best(2), **on_gpus}.items():
        label = name if name not in on_gpus else f"{name}, stated"
        print(
            f"{label:34} {taken:6.1f}/s {decoded.at_best(2) / taken:9.2f} "
            f"{kept_frames.at_best(2) / taken:9.2f} "
            f"{taken * kept_frames.cpu_each:18.1f}"
        )


if __name__ == "__main__":
    main()
