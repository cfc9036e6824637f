"""A plain data set: one folder of pictures, or of clips, for each shot scale.

Either ``FOLDER/CS/any/thing.jpg``, or with splits on top: ``FOLDER/train/CS/thing.jpg``, ``val``, ``test``.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from shotad.core import DatasetError, ShotScale
from shotad.grammar.training.data import (
    CLIP_SUFFIXES,
    PICTURE_SUFFIXES,
    SPLITS,
    ClipFile,
    ScaleData,
    ScaleItem,
    Split,
    Stills,
    split_by_hash,
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


def read(folder: Path, *, seed: int, ratios: Sequence[float]) -> ScaleData:
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
        items = _divided(list(_items(folder, folder, "train")), seed, dict(zip(SPLITS, ratios, strict=True)))
        return _data(items, "one folder of pictures per scale, split by the hash of the file names")
    if "train" not in splits.values():
        raise DatasetError(f"{folder} has splits but no train.", "Add the folder train.")
    by_split = {split: list(_items(folder, path, split)) for path, split in splits.items()}
    absent = {
        split: ratio
        for split, ratio in zip(SPLITS, ratios, strict=True)
        if split == "train" or split not in by_split
    }
    train = _divided(by_split.pop("train"), seed, absent) if len(absent) > 1 else by_split.pop("train")
    layout = "one folder of pictures per split and scale"
    if len(absent) > 1:
        layout += f", {' and '.join(split for split in absent if split != 'train')} taken out of train"
    return _data([*train, *(item for items in by_split.values() for item in items)], layout)


def _data(items: Sequence[ScaleItem], layout: str) -> ScaleData:
    return ScaleData(tuple(sorted(items, key=lambda item: item.key)), layout, tuple(_doubles(items)))


def _doubles(items: Sequence[ScaleItem]) -> Iterator[str]:
    """What people should know of files that are there twice: in two splits, or under two labels."""
    by_size: dict[int, list[ScaleItem]] = defaultdict(list)
    for item in items:
        by_size[_file(item).stat().st_size].append(item)
    same: dict[bytes, list[ScaleItem]] = defaultdict(list)
    for group in by_size.values():
        for item in group if len(group) > 1 else ():
            same[hashlib.sha256(_file(item).read_bytes()).digest()].append(item)
    torn = [group for group in same.values() if len({item.split for item in group}) > 1]
    if torn:
        yield f"{len(torn)} files stand in more than one split, such as {_pair(torn[0])}."
    doubtful = [group for group in same.values() if len({item.scale for item in group}) > 1]
    if doubtful:
        yield f"{len(doubtful)} files stand under more than one scale, such as {_pair(doubtful[0])}."


def _pair(group: Sequence[ScaleItem]) -> str:
    return " and ".join(item.key for item in group[:2])


def _file(item: ScaleItem) -> Path:
    return item.source.path if isinstance(item.source, ClipFile) else item.source.paths[0]


def means_something(name: str) -> bool:
    """True for a folder's name that is a shot scale or a split."""
    return scale_named(name) is not None or name.lower() in _SPLIT_NAMES


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
            source = _source(file)
            if source is not None:
                yield ScaleItem(file.relative_to(root).as_posix(), split, scale, source)
    if not found:
        raise DatasetError(
            f"{folder} holds no folders ECS, CS, MS, FS and LS, and no annotation of MovieShots.",
            "Name the folder that holds the data set.",
        )


def _source(file: Path) -> ClipFile | Stills | None:
    if file.name.startswith(".") or not file.is_file():
        return None
    suffix = file.suffix.lower()
    if suffix in PICTURE_SUFFIXES:
        return Stills((file,))
    return ClipFile(file) if suffix in CLIP_SUFFIXES else None


def _divided(items: Sequence[ScaleItem], seed: int, ratios: dict[Split, float]) -> list[ScaleItem]:
    result: list[ScaleItem] = []
    for scale in ShotScale:
        mine = [item for item in items if item.scale is scale]
        splits = split_by_hash(mine, lambda item: item.key, seed, ratios)
        result += [ScaleItem(item.key, split, item.scale, item.source) for item, split in splits.items()]
    return result
