"""Pictures on their way to the net: chosen, read, fitted, changed, stacked ahead of need.

What each step sees, and what a picture becomes, is a function of (seed, epoch, key) alone: neither the
number of processes nor where a run was broken off and resumed changes it.
"""

from __future__ import annotations

import hashlib
import random
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shotad.core import Image, ShotadError, system
from shotad.core.model_loading import require_torch
from shotad.core.system import own_modules_only
from shotad.grammar.features import fitted
from shotad.grammar.scale_data import ScaleItem, open_picture
from shotad.grammar.training_settings import AugmentSettings, ScaleTraining, augmented

if TYPE_CHECKING:
    import torch
else:
    torch = require_torch("Training", "train")


@dataclass(frozen=True, slots=True)
class Pick:
    """One picture to be had. ``epoch`` None asks for the middle frame, unchanged, as for val and test.

    A pick that does not count fills the share of a process that would have none.
    """

    item: ScaleItem
    epoch: int | None = None
    counts: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPiece:
    """Pictures that go through the net together: ``uint8[b, H, W, 3]`` for each shape, broad ones first;
    ``labels`` is ``int64[n]`` and ``counts`` ``float32[n]`` (1 or 0), in the order of the groups."""

    groups: tuple[torch.Tensor, ...]
    labels: torch.Tensor
    counts: torch.Tensor

    def to(self, device: torch.device) -> TrainingPiece:
        """The same on a device."""
        moved = [part.to(device) for part in (*self.groups, self.labels, self.counts)]
        return TrainingPiece(tuple(moved[:-2]), moved[-2], moved[-1])


class Feed:
    """Hands out pieces. Worker processes are started with the first and live until `close`."""

    def __init__(self, settings: ScaleTraining) -> None:
        net, workers = settings.net, settings.data.workers
        # What the loader asks for its next lists of picks
        self._plan: list[Sequence[Pick]] = []
        self._loader = torch.utils.data.DataLoader(
            _Pictures(settings.seed, net.long_side, net.short_side, settings.augment),
            batch_sampler=self._plan,
            collate_fn=_stacked,
            num_workers=workers,
            persistent_workers=workers > 0,
            multiprocessing_context=worker_context() if workers else None,
            worker_init_fn=_begin_worker,
            # Its own, so that drawing a seed for the workers leaves the net's generator alone.
            generator=torch.Generator(),
        )

    def pieces(self, picks: Sequence[Sequence[Pick]]) -> Iterator[TrainingPiece]:
        """One piece for each list of picks, in order. Raises DatasetError for a picture that is broken."""
        self._plan[:] = picks
        try:
            for piece in self._loader:
                if isinstance(piece, ShotadError):
                    raise piece
                yield piece
        except RuntimeError as error:
            if not str(error).startswith("DataLoader worker"):
                raise
            raise ShotadError(
                f"A process that reads pictures ended: {error}.",
                "It may have run out of memory: take fewer (data.workers). --resume goes on.",
            ) from None

    def close(self) -> None:
        """End the worker processes."""
        del self._loader


class _Pictures(torch.utils.data.Dataset):  # type: ignore[misc]
    def __init__(self, seed: int, long_side: int, short_side: int, augment: AugmentSettings) -> None:
        self._seed, self._sides, self._augment = seed, (long_side, short_side), augment

    def __getitem__(self, pick: Pick) -> tuple[Image, Pick] | ShotadError:
        """The frame of a pick, fitted, and changed where it is for training."""
        # An error is handed over as a value: torch would wrap it into its worker's traceback.
        try:
            if pick.epoch is None:
                return fitted(open_picture(pick.item, None), *self._sides), pick
            chance = random.Random(f"{self._seed}:{pick.epoch}:{pick.item.key}")
            image = fitted(open_picture(pick.item, chance), *self._sides)
            return augmented(image, chance, self._augment), pick
        except ShotadError as error:
            return error


def _stacked(samples: Sequence[tuple[Image, Pick] | ShotadError]) -> TrainingPiece | ShotadError:
    pairs: list[tuple[Image, Pick]] = []
    for sample in samples:
        if isinstance(sample, ShotadError):
            return sample
        pairs.append(sample)
    shapes = sorted({image.shape for image, _ in pairs})
    groups = [[pair for pair in pairs if pair[0].shape == shape] for shape in shapes]
    picks = [pick for group in groups for _, pick in group]
    return TrainingPiece(
        tuple(torch.from_numpy(np.stack([image for image, _ in group])) for group in groups),
        torch.tensor([pick.item.scale.number for pick in picks]),
        torch.tensor([float(pick.counts) for pick in picks]),
    )


def worker_context() -> Any:
    """Workers begin afresh: a fork would copy the threads' locks of torch and of the decoders as they are."""
    # Where it can be, torch is loaded once, before the first worker, and not by each: to load it starts no
    # threads.
    with own_modules_only():
        return system.worker_context(["shotad.grammar.ignore_signals", __name__])


def _begin_worker(_: int) -> None:
    """The main process alone answers a signal that all of its group get: it saves its state first, needs the
    workers till then, and ends them itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def epoch_order(keys: Sequence[str], seed: int, epoch: int) -> list[int]:
    """Places of all keys in the order of an epoch: by the hash of seed, epoch and key."""
    marks = [hashlib.sha256(f"{seed}:{epoch}:{key}".encode()).digest() for key in keys]
    return sorted(range(len(keys)), key=marks.__getitem__)


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
