"""Pictures on their way to the net: chosen, read, fitted, changed, and stacked ahead of need by processes.

What each step sees, and what a picture becomes, is a function of (seed, epoch, key) alone: neither the
number of processes nor where a run was broken off and resumed changes it.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shotad.core import Image, Progress, ShotadError, system
from shotad.core.model_loading import require_torch
from shotad.core.progress import progress_task
from shotad.core.system import own_modules_only, processors
from shotad.grammar.clip_frames import ClipFrames
from shotad.grammar.features import fitted
from shotad.grammar.scale_data import ClipFile, ScaleItem, open_picture
from shotad.grammar.training_settings import DataSettings, ScaleTraining, augmented
from shotad.grammar.training_stop import Stop

if TYPE_CHECKING:
    import torch
else:
    torch = require_torch("Training", "train")

CLIPS_AT_ONCE = 8
"""Clips that a worker gets together, before the first epoch."""

_WORKER_HINT = (
    "It may have run out of memory: take fewer (data.workers), and give a container more shared memory "
    "(docker run --shm-size=8g). --resume goes on."
)

MOST_WORKERS = 16
"""Processes that read, where the settings leave their number open. Each holds two micro-batches ready."""


@dataclass(frozen=True, slots=True)
class Pick:
    """One picture to be had. ``epoch`` None asks for the middle frame, unchanged, as for val and test.

    A pick that does not count fills the share of a process that would have none.
    """

    item: ScaleItem
    epoch: int | None = None
    counts: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class MicroBatch:
    """Pictures that go through the net together.

    Attributes:
        images: ``uint8[b, H, W, 3]`` for each shape, broad ones first.
        labels: ``int64[n]``, as all below in the order of ``images``.
        counts: ``float32[n]``, 1 for a picture that counts, else 0.
        places: ``int64[n]``, which of the picks that were asked for each picture is.
    """

    images: tuple[torch.Tensor, ...]
    labels: torch.Tensor
    counts: torch.Tensor
    places: torch.Tensor

    def to(self, device: torch.device) -> MicroBatch:
        """The same on a device; from pinned memory the copy goes on while the net is at work."""
        # From memory that is not pinned, as elsewhere than on CUDA, such a copy may come too late.
        asynchronous = device.type == "cuda"
        images = tuple(stack.to(device, non_blocking=asynchronous) for stack in self.images)
        labels, counts, places = (
            part.to(device, non_blocking=asynchronous) for part in (self.labels, self.counts, self.places)
        )
        return MicroBatch(images, labels, counts, places)

    def pin_memory(self) -> MicroBatch:
        """The same in memory that a GPU copies from by itself. Torch's loader calls this by its name."""
        images = tuple(stack.pin_memory() for stack in self.images)
        return MicroBatch(
            images, self.labels.pin_memory(), self.counts.pin_memory(), self.places.pin_memory()
        )


class Feed:
    """Hands out micro-batches. Worker processes start with the first and live until `close`.

    Attributes:
        waited: Seconds in which the net had to wait for pictures, so far.
    """

    def __init__(self, settings: ScaleTraining, out: Path, device: torch.device) -> None:
        """``out`` is the training's own folder, in which frames of clips are kept."""
        self.waited = 0.0
        workers = worker_count(settings.data)
        # What the loader asks for its next lists of picks
        self._plan: list[Sequence[Pick]] = []
        self._loader = torch.utils.data.DataLoader(
            _Pictures(settings, out),
            batch_sampler=self._plan,
            collate_fn=_stacked,
            num_workers=workers,
            pin_memory=device.type == "cuda",
            persistent_workers=workers > 0,
            multiprocessing_context=worker_context() if workers else None,
            worker_init_fn=_begin_worker,
            # Its own, so that drawing a seed for the workers leaves the net's generator alone.
            generator=torch.Generator(),
        )

    def micro_batches(self, picks: Sequence[Sequence[Pick]]) -> Iterator[MicroBatch]:
        """One micro-batch for each list of picks, in order.

        Raises DatasetError for a picture that is broken, ShotadError where a worker process ended.
        """
        self._plan[:] = picks
        try:
            ready = iter(self._loader)
            while True:
                began = time.perf_counter()
                micro_batch = next(ready, None)
                self.waited += time.perf_counter() - began
                if micro_batch is None:
                    return
                if isinstance(micro_batch, ShotadError):
                    raise micro_batch
                yield micro_batch
        except RuntimeError as error:
            if not str(error).startswith("DataLoader worker"):
                raise
            raise ShotadError(f"A process that reads pictures ended: {error}.", _WORKER_HINT) from None

    def close(self) -> None:
        """End the worker processes."""
        del self._loader


def clip_frames(settings: ScaleTraining, out: Path) -> ClipFrames | None:
    """The frames that a training in ``out`` keeps of clips; None where it decodes clips each time."""
    data, net = settings.data, settings.net
    if not data.frames:
        return None
    folder = Path(data.cache).expanduser() if data.cache else out / "frames"
    return ClipFrames(folder, data.frames, net.long_side, net.short_side)


def worker_count(settings: DataSettings) -> int:
    """How many processes read pictures for this process.

    ``LOCAL_WORLD_SIZE``, which torchrun sets, is how many processes of this machine train.
    """
    if settings.workers is not None:
        return settings.workers
    training_here = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    return max(1, min(processors() // training_here, MOST_WORKERS))


def keep_frames(
    clips: ClipFrames, items: Sequence[ScaleItem], workers: int, progress: Progress, stop: Stop
) -> dict[int, str]:
    """Keep the frames of all ``items``, whose sources are clips, by ``workers`` processes.

    Gives what is wrong with clips that cannot be read, by their places in ``items``. Raises ShotadError where
    frames cannot be kept or a process ended, KeyboardInterrupt where ``stop`` asks; what is kept stays.
    """
    problems = {}
    with ExitStack() as stack:
        results: Iterator[str | None] = map(clips.keep, items)
        if workers and items:
            pool = ProcessPoolExecutor(workers, worker_context(), _begin_worker)
            stack.callback(pool.shutdown, cancel_futures=True)
            results = pool.map(clips.keep, items, chunksize=CLIPS_AT_ONCE)
        task = stack.enter_context(progress_task(progress, "Taking frames out of clips", len(items), "clips"))
        try:
            for place, problem in enumerate(results):
                if problem is not None:
                    problems[place] = problem
                task.advance()
                if stop.is_asked:
                    progress.note("Stopped while frames were taken out of clips: those taken are kept.")
                    raise KeyboardInterrupt
        except BrokenProcessPool as error:
            raise ShotadError(f"A process that reads clips ended: {error}", _WORKER_HINT) from None
    return problems


class _Pictures(torch.utils.data.Dataset):  # type: ignore[misc]
    def __init__(self, settings: ScaleTraining, out: Path) -> None:
        self._seed, self._net, self._augment = settings.seed, settings.net, settings.augment
        self._clips = clip_frames(settings, out)

    def __getitem__(self, pick: Pick) -> tuple[Image, Pick] | ShotadError:
        """The frame of a pick, fitted, and changed where it is for training."""
        # An error is handed over as a value: torch would wrap it into its worker's traceback.
        try:
            if pick.epoch is None:
                return self._frame(pick.item, None), pick
            rng = random.Random(f"{self._seed}:{pick.epoch}:{pick.item.key}")
            return augmented(self._frame(pick.item, rng), rng, self._augment), pick
        except ShotadError as error:
            return error

    def _frame(self, item: ScaleItem, rng: random.Random | None) -> Image:
        """A frame of the shot at the size of the net."""
        if self._clips is not None and isinstance(item.source, ClipFile):
            return self._clips.read(item, rng)
        return fitted(open_picture(item, rng), self._net.long_side, self._net.short_side)


def _stacked(samples: Sequence[tuple[Image, Pick] | ShotadError]) -> MicroBatch | ShotadError:
    """The pictures of one list of picks, stacked by shape; the first error where there is one."""
    by_shape: dict[tuple[int, ...], list[tuple[Image, Pick, int]]] = {}
    for place, sample in enumerate(samples):
        if isinstance(sample, ShotadError):
            return sample
        image, pick = sample
        by_shape.setdefault(image.shape, []).append((image, pick, place))
    groups = [by_shape[shape] for shape in sorted(by_shape)]
    in_order = [row for group in groups for row in group]
    return MicroBatch(
        images=tuple(torch.from_numpy(np.stack([image for image, _, _ in group])) for group in groups),
        labels=torch.tensor([pick.item.scale.number for _, pick, _ in in_order]),
        counts=torch.tensor([float(pick.counts) for _, pick, _ in in_order]),
        places=torch.tensor([place for _, _, place in in_order]),
    )


def worker_context() -> Any:
    """Workers begin afresh: a fork would copy the threads' locks of torch and of the decoders as they are."""
    # Where it can be, torch is loaded once, before the first worker, and not by each: to load it starts no
    # threads.
    with own_modules_only():
        return system.worker_context(["shotad.grammar.ignore_signals", __name__])


def _begin_worker(_: int = 0) -> None:
    """The main process alone answers a signal that all of its group get: it saves its state first, needs the
    workers till then, and ends them itself."""
    import cv2

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # There is a worker for each processor: threads of OpenCV's would only take turns.
    cv2.setNumThreads(1)


def epoch_order(keys: Sequence[str], seed: int, epoch: int) -> list[int]:
    """Places of all keys in the order of an epoch: by the hash of seed, epoch and key."""
    hashes = [hashlib.sha256(f"{seed}:{epoch}:{key}".encode()).digest() for key in keys]
    return sorted(range(len(keys)), key=hashes.__getitem__)


def in_batches(places: Sequence[int], size: int) -> list[list[int]]:
    """Consecutive batches; the last may be smaller.

    >>> in_batches([3, 1, 4, 1, 5], 2)
    [[3, 1], [4, 1], [5]]
    """
    return [list(places[start : start + size]) for start in range(0, len(places), size)]


def share_of(places: Sequence[int], rank: int, processes: int) -> list[int]:
    """What one of several processes takes of a batch: every so many-th, so that shares differ by one at
    most. A share is empty where there are fewer places than processes.

    >>> [share_of([7, 8, 9], rank, 2) for rank in (0, 1)]
    [[7, 9], [8]]
    """
    return list(places[rank::processes])
