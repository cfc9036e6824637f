"""Pictures that are labelled with a shot scale: what the classifier is trained and tested on."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from shotad.core import DatasetError, FilmError, Image, ShotScale

if TYPE_CHECKING:
    from shotad.core import FilmInfo

Split = Literal["train", "val", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)

CLIP_SUFFIXES = frozenset({".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v"})
PICTURE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"})

RATIOS = (7, 1, 2)
"""Train, val, test, as MovieShots is split (Rao et al. 2020, arXiv:2008.03548)."""


@dataclass(frozen=True, slots=True)
class ClipFile:
    """A shot as a film of its own."""

    path: Path


@dataclass(frozen=True, slots=True)
class Stills:
    """A shot as one or more pictures, in order of time."""

    paths: tuple[Path, ...]

    def __post_init__(self) -> None:
        if not self.paths:
            raise ValueError("a shot as stills has at least one picture")


@dataclass(frozen=True, slots=True)
class ScaleItem:
    """One labelled shot. ``key`` names it in its data set, the same on every machine."""

    key: str
    split: Split
    scale: ShotScale
    source: ClipFile | Stills

    def __post_init__(self) -> None:
        if self.split not in SPLITS:
            raise ValueError(f"split must be one of {', '.join(SPLITS)}, got {self.split!r}")


@dataclass(frozen=True, slots=True)
class ScaleData:
    """A whole data set, in ascending order of the keys.

    ``layout`` says in words what was read, ``notes`` what people should know about it: one sentence each.
    """

    items: tuple[ScaleItem, ...]
    layout: str
    notes: tuple[str, ...] = ()

    def of(self, split: Split) -> tuple[ScaleItem, ...]:
        """The items of one split, in ascending order of the keys."""
        return tuple(item for item in self.items if item.split == split)

    def counts(self, split: Split) -> dict[ShotScale, int]:
        """How many items of a split each scale has, all five in the order of the classes."""
        found = Counter(item.scale for item in self.items if item.split == split)
        return {scale: found[scale] for scale in ShotScale}

    @property
    def fingerprint(self) -> str:
        """A hash of keys, splits and labels (not of the pictures): tells a resumed run of changed data."""
        rows = [[item.key, item.split, item.scale.number] for item in self.items]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


Thing = TypeVar("Thing")


def split_by_hash(
    things: Iterable[Thing],
    name: Callable[[Thing], str],
    seed: int,
    ratios: Mapping[Split, float],
) -> dict[Thing, Split]:
    """A split that depends on names and seed alone, not on order or machine.

    Things are ranked by the hash of their name and cut by the ratios (of 0 or more, one of them above);
    where there are more things than splits, each split with a ratio above 0 gets one at least.
    """
    ranked = sorted(things, key=lambda thing: hashlib.sha256(f"{seed}:{name(thing)}".encode()).digest())
    wanted = {split: ratio for split, ratio in ratios.items() if ratio > 0}
    total, count, least = sum(wanted.values()), len(ranked), int(len(ranked) > len(wanted))
    sizes = {split: max(least, int(count * ratio / total + 0.5)) for split, ratio in wanted.items()}
    largest = max(wanted, key=lambda split: wanted[split])
    sizes[largest] += count - sum(sizes.values())
    result: dict[Thing, Split] = {}
    places = iter(ranked)
    for split, size in sizes.items():
        result |= dict.fromkeys(itertools.islice(places, size), split)
    return result


def open_picture(item: ScaleItem, chance: random.Random | None = None) -> Image:
    """A frame of the shot, RGB ``uint8[H, W, 3]`` at its own size: the middle one, or one by ``chance``.

    The middle of ``n`` frames is number ``n // 2`` from 0. Raises DatasetError where it cannot be read.
    """
    if isinstance(item.source, ClipFile):
        return _clip_frame(item, item.source.path, 0.5 if chance is None else chance.random())
    paths = item.source.paths
    return _still(item, paths[len(paths) // 2 if chance is None else chance.randrange(len(paths))])


def _clip_frame(item: ScaleItem, path: Path, share: float) -> Image:
    from shotad.film import open_film

    try:
        with open_film(path) as film:
            for picture in film.pictures([share * picture_length(film.info)]):
                return picture.image
    except FilmError as error:
        raise _unreadable(item, path, error.what) from None
    raise _unreadable(item, path, "It has no frames.")


def picture_length(info: FilmInfo) -> float:
    """Seconds of picture in a clip: sound is often longer, and then half the duration is not the middle."""
    if info.frame_count_hint and info.frame_rate:
        return min(info.duration, float(info.frame_count_hint / info.frame_rate))
    return info.duration


def _still(item: ScaleItem, path: Path) -> Image:
    import numpy as np
    from PIL import Image as Pictures, ImageOps

    try:
        with Pictures.open(path) as picture:
            upright = ImageOps.exif_transpose(picture)
            if upright.mode.startswith("I"):
                # Pillow cuts off at 255 where it makes 16 bits into 8.
                upright = Pictures.fromarray((np.asarray(upright) >> 8).astype(np.uint8))
            return np.array(upright.convert("RGB"), dtype=np.uint8)
    except (OSError, ValueError, SyntaxError, Pictures.DecompressionBombError) as error:
        raise _unreadable(item, path, f"{error}.") from None


def _unreadable(item: ScaleItem, path: Path, why: str) -> DatasetError:
    return DatasetError(
        f"{path} ({item.key}) cannot be read: {why}", "Replace the file, or take it out of the data set."
    )
