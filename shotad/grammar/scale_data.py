"""Pictures that are labelled with a shot scale: what the classifier is trained and tested on.

A plain data set has one folder of pictures, or of clips, for each shot scale: ``FOLDER/CS/any/thing.jpg``,
or with splits on top: ``FOLDER/train/CS/thing.jpg``, ``val``, ``test``.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

RATIOS: Mapping[Split, int] = {"train": 7, "val": 1, "test": 2}
"""As MovieShots is split (Rao et al. 2020, arXiv:2008.03548)."""


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
    things: Iterable[Thing], name: Callable[[Thing], str], seed: int, ratios: Mapping[Split, int] = RATIOS
) -> dict[Thing, Split]:
    """A split that depends on names and seed alone, not on order or machine.

    Things are ranked by the hash of their name and cut by the ratios; where
    there are more things than splits, each split gets one at least.
    """
    ranked = sorted(things, key=lambda thing: hashlib.sha256(f"{seed}:{name(thing)}".encode()).digest())
    total, count, least = sum(ratios.values()), len(ranked), int(len(ranked) > len(ratios))
    sizes = {split: max(least, int(count * ratio / total + 0.5)) for split, ratio in ratios.items()}
    largest = max(ratios, key=lambda split: ratios[split])
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
        share = 0.5 if chance is None else chance.random()
        from shotad.film import open_film

        try:
            with open_film(item.source.path) as film:
                for picture in film.pictures([share * picture_length(film.info)]):
                    return picture.image
        except FilmError as error:
            raise _unreadable(item, item.source.path, error.what) from None
        raise _unreadable(item, item.source.path, "It has no frames.")
    import numpy as np
    from PIL import Image as Pictures, ImageOps

    paths = item.source.paths
    path = paths[len(paths) // 2 if chance is None else chance.randrange(len(paths))]
    try:
        with Pictures.open(path) as opened:
            upright = ImageOps.exif_transpose(opened)
            if upright.mode.startswith("I"):
                # Pillow cuts off at 255 where it makes 16 bits into 8.
                upright = Pictures.fromarray((np.asarray(upright) >> 8).astype(np.uint8))
            return np.array(upright.convert("RGB"), dtype=np.uint8)
    except (OSError, ValueError, SyntaxError, Pictures.DecompressionBombError) as error:
        raise _unreadable(item, path, f"{error}.") from None


def picture_length(info: FilmInfo) -> float:
    """Seconds of picture in a clip: sound is often longer, and then half the duration is not the middle."""
    if info.frame_count_hint and info.frame_rate:
        return min(info.duration, float(info.frame_count_hint / info.frame_rate))
    return info.duration


def _unreadable(item: ScaleItem, path: Path, why: str) -> DatasetError:
    return DatasetError(
        f"{path} ({item.key}) cannot be read: {why}", "Replace the file, or take it out of the data set."
    )


_NAMES = {
    ShotScale.EXTREME_CLOSE_UP: ("ecs", "ecu", "xcu", "extremecloseup", "extremeclose"),
    ShotScale.CLOSE_UP: ("cs", "cu", "closeup", "close"),
    ShotScale.MEDIUM: ("ms", "medium", "mid"),
    ShotScale.FULL: ("fs", "full"),
    ShotScale.LONG: ("ls", "long"),
}

_SCALES = {name: scale for scale, names in _NAMES.items() for name in names}

_SPLIT_NAMES: dict[str, Split] = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "test": "test",
}


def scale_named(name: str) -> ShotScale | None:
    """The scale that a label or a folder's name means, else None.

    Case, spaces, marks, a leading number and a closing "shot" do not matter.

    >>> scale_named("ECS"), scale_named("2_medium-shot"), scale_named("wide")
    (<ShotScale.EXTREME_CLOSE_UP: 'extreme close-up'>, <ShotScale.MEDIUM: 'medium'>, None)
    """
    letters = re.sub(r"[^a-z]", "", re.sub(r"^\d+", "", name.lower()))
    return _SCALES.get(letters) or _SCALES.get(re.sub(r"shots?$", "", letters))


def read_folders(folder: Path, *, seed: int) -> ScaleData:
    """The data set in ``folder``. Raises DatasetError for folders whose names are no scales.

    Splits that have no folder of their own are taken out of train, in the ratio, the same share of each
    scale, by the hash of the file's path below the folder of its scale.
    """
    inside = folders_in(folder)
    splits = {path: _SPLIT_NAMES[path.name.lower()] for path in inside if path.name.lower() in _SPLIT_NAMES}
    if splits and len(splits) < len(inside):
        other = next(path for path in inside if path not in splits)
        raise DatasetError(
            f"{folder} holds both splits and {other.name}.",
            "Move or rename what is neither train, val nor test.",
        )
    if len(set(splits.values())) < len(splits):
        raise DatasetError(
            f"{folder} has two folders for one split: {', '.join(sorted(path.name for path in splits))}.",
            "Keep one of them.",
        )
    if not splits:
        items = _divided(list(_items(folder, folder, "train")), seed, RATIOS)
        return _data(items, "one folder of pictures per scale, split by the hash of the file names")
    if "train" not in splits.values():
        raise DatasetError(f"{folder} has splits but no train.", "Add the folder train.")
    by_split = {split: list(_items(folder, path, split)) for path, split in splits.items()}
    absent = {split: ratio for split, ratio in RATIOS.items() if split == "train" or split not in by_split}
    train = _divided(by_split.pop("train"), seed, absent) if len(absent) > 1 else by_split.pop("train")
    layout = "one folder of pictures per split and scale"
    if len(absent) > 1:
        layout += f", {' and '.join(split for split in absent if split != 'train')} taken out of train"
    return _data([*train, *(item for items in by_split.values() for item in items)], layout)


def _data(items: Sequence[ScaleItem], layout: str) -> ScaleData:
    """All ``items``, and what people should know of files in two splits, or under two labels."""
    by_size: dict[int, list[ScaleItem]] = defaultdict(list)
    for item in items:
        by_size[_file(item).stat().st_size].append(item)
    same: dict[bytes, list[ScaleItem]] = defaultdict(list)
    for group in by_size.values():
        for item in group if len(group) > 1 else ():
            same[hashlib.sha256(_file(item).read_bytes()).digest()].append(item)
    notes = []
    for what, kind in (("in more than one split", "split"), ("under more than one scale", "scale")):
        found = [group for group in same.values() if len({getattr(item, kind) for item in group}) > 1]
        if found:
            pair = " and ".join(item.key for item in found[0][:2])
            notes.append(f"{len(found)} files stand {what}, such as {pair}.")
    return ScaleData(tuple(sorted(items, key=lambda item: item.key)), layout, tuple(notes))


def _file(item: ScaleItem) -> Path:
    return item.source.path if isinstance(item.source, ClipFile) else item.source.paths[0]


def folders_in(folder: Path) -> list[Path]:
    """The folders in ``folder`` that are not hidden, by name."""
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _items(root: Path, folder: Path, split: Split) -> Iterator[ScaleItem]:
    found: dict[ShotScale, Path] = {}
    for path in folders_in(folder):
        scale = scale_named(path.name)
        if scale is None:
            raise DatasetError(
                f"{path} is not named after a shot scale.",
                "Folders are ECS, CS, MS, FS and LS, or extreme-close-up, close-up, medium, full and long; "
                "or beside them a JSON file of MovieShots.",
            )
        if scale in found:
            raise DatasetError(f"{found[scale]} and {path} are the same scale.", "Put them together.")
        found[scale] = path
        for file in sorted(path.rglob("*")):
            suffix = file.suffix.lower()
            if suffix in PICTURE_SUFFIXES | CLIP_SUFFIXES and file.name[0] != "." and file.is_file():
                source = Stills((file,)) if suffix in PICTURE_SUFFIXES else ClipFile(file)
                yield ScaleItem(file.relative_to(root).as_posix(), split, scale, source)
    if not found:
        raise DatasetError(
            f"{folder} holds no folders ECS, CS, MS, FS and LS, and no annotation of MovieShots.",
            "Name the folder that holds the data set.",
        )


def _divided(items: Sequence[ScaleItem], seed: int, ratios: Mapping[Split, int]) -> list[ScaleItem]:
    result: list[ScaleItem] = []
    for scale in ShotScale:
        mine = [item for item in items if item.scale is scale]
        splits = split_by_hash(mine, lambda item: item.key, seed, ratios)
        result += [ScaleItem(item.key, split, item.scale, item.source) for item, split in splits.items()]
    return result
