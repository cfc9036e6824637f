"""Shots that are labelled with their scale: what the classifier is trained and tested on.

A plain data set has one folder of pictures, or of clips, for each shot scale: ``FOLDER/CS/any/thing.jpg``,
or with splits on top: ``FOLDER/train/CS/thing.jpg``, ``val``, ``test``. Or it is MovieShots as MovieNet
publishes it.

MovieShots is Rao et al. 2020, arXiv:2008.03548; its home is movienet.github.io/projects/eccv20shot.html.
The layout and the counts below are put together from public programs that read it, and were not checked
against the data itself. Five JSON files of labels, of which those with ``split`` in their name hold the
published split:

==========================  ==============================================================  ==============
file                        nesting above ``{"scale": {"label": "CS", "value": 1}, …}``     shots
==========================  ==============================================================  ==============
``v1_full_trailer.json``    film, shot                                                      33,653
``v1_split_trailer.json``   split, film, shot                                               the same
``v2_full_trailer.json``    film, shot (camera movement only, no scale)                     606
``v3_full.json``            ``full``, ``trailer`` or ``movie``, film, shot                  with 13,204 of
                                                                                            ten films
``v3_split.json``           split, ``trailer`` or ``movie``, film, shot                     the same
==========================  ==============================================================  ==============

33,653 and 13,204 fit the "46K shots" of the paper. The nesting of ``v3_split.json`` is concluded from that
of ``v3_full.json`` and from its six parts.

A film is an IMDb id (``tt0078841``), a shot a number of four digits. Trailers come as one clip per shot,
``trailer/tt0078841/shot_0012.mp4``; MovieNet's films as three key frames per shot,
``…/tt0078841/shot_0012_img_0.jpg`` to ``_2``. Both are taken for both, wherever below the folder the
films' own folders stand. The labels are read, never the ``value`` beside them.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from shotad.core import Image, ShotScale
from shotad.core.errors import DatasetError, FilmError
from shotad.core.records import parse_json
from shotad.core.text_files import read_text_file

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
    ``has_published_split``: whether the splits are those of MovieShots' own annotation.
    """

    items: tuple[ScaleItem, ...]
    layout: str
    notes: tuple[str, ...] = ()
    is_movieshots: bool = False
    has_published_split: bool = False

    def of(self, split: Split) -> tuple[ScaleItem, ...]:
        """The items of one split, in ascending order of the keys."""
        return tuple(item for item in self.items if item.split == split)

    def counts(self, split: Split) -> dict[ShotScale, int]:
        """How many items of a split each scale has, all five in the order of the classes."""
        scale_counts = Counter(item.scale for item in self.items if item.split == split)
        return {scale: scale_counts[scale] for scale in ShotScale}

    def without(self, broken: Sequence[ScaleItem], missing: float) -> ScaleData:
        """The data without the items ``broken``, whose files cannot be read, and with a note of them.

        Raises DatasetError where they are more than the share ``missing``, or all of a split or of a training
        class.
        """
        if not broken:
            return self
        examples = _examples(item.key for item in broken)
        if len(broken) > missing * len(self.items):
            raise DatasetError(
                f"{len(broken)} of the {len(self.items)} shots have clips that cannot be read, such as "
                f"{examples}.",
                f"Fetch them again, or allow a larger share than {missing:g} (data.missing).",
            )
        keys = {item.key for item in broken}
        readable = tuple(item for item in self.items if item.key not in keys)
        note = f"{len(broken)} clips cannot be read and are left out, such as {examples}."
        data = replace(self, items=readable, notes=(*self.notes, note))
        _check_splits(data, f"Fetch the clips that cannot be read again, such as {examples}.")
        return data

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


def open_picture(item: ScaleItem, rng: random.Random | None = None) -> Image:
    """A frame of the shot, RGB ``uint8[H, W, 3]`` at its own size: the middle one, or one by ``rng``.

    The middle of ``n`` frames is number ``n // 2`` from 0. Raises DatasetError where it cannot be read.
    """
    if isinstance(item.source, ClipFile):
        share = 0.5 if rng is None else rng.random()
        from shotad.film import open_film

        try:
            with open_film(item.source.path) as film:
                for picture in film.pictures([share * picture_length(film.info)]):
                    return picture.image
        except FilmError as error:
            raise unreadable(item, item.source.path, error.what) from None
        raise unreadable(item, item.source.path, "It has no frames.")
    import numpy as np
    from PIL import Image as Pictures, ImageOps

    paths = item.source.paths
    path = paths[len(paths) // 2 if rng is None else rng.randrange(len(paths))]
    try:
        with Pictures.open(path) as opened:
            upright = ImageOps.exif_transpose(opened)
            if upright.mode.startswith("I"):
                # Pillow cuts off at 255 where it makes 16 bits into 8.
                upright = Pictures.fromarray((np.asarray(upright) >> 8).astype(np.uint8))
            return np.array(upright.convert("RGB"), dtype=np.uint8)
    except (OSError, ValueError, SyntaxError, Pictures.DecompressionBombError) as error:
        raise unreadable(item, path, f"{error}.") from None


def picture_length(info: FilmInfo) -> float:
    """Seconds of picture in a clip: sound is often longer, and then half the duration is not the middle."""
    if info.frame_count_hint and info.frame_rate:
        return min(info.duration, float(info.frame_count_hint / info.frame_rate))
    return info.duration


def unreadable(item: ScaleItem, path: Path, why: str) -> DatasetError:
    """What to raise for the file of a shot that cannot be read; ``why`` is a sentence."""
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
    for conflict, kind in (("in more than one split", "split"), ("under more than one scale", "scale")):
        conflicting = [group for group in same.values() if len({getattr(item, kind) for item in group}) > 1]
        if conflicting:
            pair = " and ".join(item.key for item in conflicting[0][:2])
            notes.append(f"{len(conflicting)} files stand {conflict}, such as {pair}.")
    return ScaleData(tuple(sorted(items, key=lambda item: item.key)), layout, tuple(notes))


def _file(item: ScaleItem) -> Path:
    return item.source.path if isinstance(item.source, ClipFile) else item.source.paths[0]


def folders_in(folder: Path) -> list[Path]:
    """The folders in ``folder`` that are not hidden, by name."""
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _items(root: Path, folder: Path, split: Split) -> Iterator[ScaleItem]:
    folders: dict[ShotScale, Path] = {}
    for path in folders_in(folder):
        scale = scale_named(path.name)
        if scale is None:
            raise DatasetError(
                f"{path} is not named after a shot scale.",
                "Folders are ECS, CS, MS, FS and LS, or extreme-close-up, close-up, medium, full and long; "
                "or beside them a JSON file of MovieShots.",
            )
        if scale in folders:
            raise DatasetError(f"{folders[scale]} and {path} are the same scale.", "Put them together.")
        folders[scale] = path
        for file in sorted(path.rglob("*")):
            suffix = file.suffix.lower()
            if suffix in PICTURE_SUFFIXES | CLIP_SUFFIXES and file.name[0] != "." and file.is_file():
                source = Stills((file,)) if suffix in PICTURE_SUFFIXES else ClipFile(file)
                yield ScaleItem(file.relative_to(root).as_posix(), split, scale, source)
    if not folders:
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


def read_items(
    folder: Path, *, seed: int = 42, annotation: str | None = None, missing: float = 0.02
) -> ScaleData:
    """The data set in ``folder``: MovieShots as MovieNet publishes it, or one folder of pictures per scale.

    ``seed`` matters only where the data brings no split of its own.
    ``annotation`` names the JSON file, inside ``folder``, where MovieShots has several; ``missing`` is the
    largest share, 0 to 1, of annotated shots whose files may be absent. Raises DatasetError for what is
    neither, for unknown labels, for missing files, and for a split or a training class without items.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder} is not a folder.", "Name the folder that holds the data set.")
    if annotations := _annotations(folder, annotation):
        files = DatasetFiles(folder, {label.film for _, labels, _ in annotations for label in labels})

        def merit(annotation: Annotation) -> tuple[bool, int, int]:
            _, labels, _ = annotation
            files_here = sum(files.source(label.kind, label.film, label.shot) is not None for label in labels)
            return all(label.split for label in labels), files_here, files_here - len(labels)

        # One with a split, then the one of which most shots have their files, then the one that misses fewest
        data = _movieshots(folder, max(annotations, key=merit), files, seed, missing)
        advice = (
            "Name an annotation that has train, val and test, or no split at all: --set data.annotation=NAME."
        )
    else:
        data = read_folders(folder, seed=seed)
        advice = "Add pictures, or leave the split's folder out so that it is taken out of train."
    _check_splits(data, advice)
    return data


def _check_splits(data: ScaleData, advice: str) -> None:
    """Raise DatasetError for a split, with this ``advice``, or a training class without items."""
    for split in SPLITS:
        if not data.of(split):
            raise DatasetError(
                f"The {split} split is empty ({data.layout}, {len(data.items)} items).",
                advice,
            )
    without = [scale.value for scale, count in data.counts("train").items() if not count]
    if without:
        raise DatasetError(
            f"The train split has no item of {', '.join(without)}.",
            "All five scales must be there: a class that is never seen cannot be learnt.",
        )


KINDS = ("trailer", "movie")

DEPTH = 3
"""Folders between the data set's and those of the films, at most."""

_FILE = re.compile(r"(?:shot_)?(\d+)(?:_img_(\d+))?", re.IGNORECASE)
_FILM = re.compile(r"tt\d+")


class DatasetFiles:
    """The shots of every folder below ``root`` that is named after one of ``films``.

    A shot is ``shot_0012.mp4``, or pictures ``shot_0012_img_0.jpg`` in the order of their number; ``shot_``
    may be left out, the number may have any zeros in front. Empty files are none.
    """

    def __init__(self, root: Path, films: set[str]) -> None:
        self._root, self._films = root, films
        self._folders: dict[str, list[Path]] = defaultdict(list)
        self._shots: dict[Path, dict[int, ClipFile | Stills]] = {}
        self._walk(root, DEPTH)

    def _walk(self, folder: Path, depth: int) -> None:
        for entry in _entries(folder):
            if entry.name in self._films and entry.is_dir():
                self._folders[entry.name].append(folder / entry.name)
            elif depth and not _FILM.fullmatch(entry.name) and entry.is_dir():
                self._walk(folder / entry.name, depth - 1)

    def source(self, kind: str, film: str, shot: int) -> ClipFile | Stills | None:
        """The shot's pictures, or its clip where there are none; None where there is neither.

        Folders below one that is named after ``kind`` (trailer or movie) come first; those below the other
        kind's hold another film of the same id.
        """
        other = KINDS[1 - KINDS.index(kind)]
        folders = [path for path in self._folders.get(film, ()) if not self._below(path, other)]
        folders.sort(key=lambda path: (not self._below(path, kind), path))
        sources = [source for path in folders if (source := self._in(path).get(shot)) is not None]
        return min(sources, key=lambda source: isinstance(source, ClipFile), default=None)

    def _below(self, path: Path, kind: str) -> bool:
        return any(part.lower().startswith(kind) for part in path.relative_to(self._root).parts[:-1])

    def _in(self, folder: Path) -> dict[int, ClipFile | Stills]:
        if folder in self._shots:
            return self._shots[folder]
        clips: dict[int, Path] = {}
        stills: dict[int, list[tuple[int, Path]]] = defaultdict(list)
        for entry in _entries(folder):
            path = folder / entry.name
            match = _FILE.fullmatch(path.stem)
            if match is None or not entry.is_file():
                continue
            shot, suffix = int(match[1]), path.suffix.lower()
            if suffix in PICTURE_SUFFIXES and entry.stat().st_size:
                stills[shot].append((int(match[2] or 0), path))
            elif suffix in CLIP_SUFFIXES and match[2] is None and entry.stat().st_size:
                clips.setdefault(shot, path)
        sources: dict[int, ClipFile | Stills] = {shot: ClipFile(path) for shot, path in clips.items()}
        sources |= {shot: Stills(tuple(path for _, path in sorted(rows))) for shot, rows in stills.items()}
        self._shots[folder] = sources
        return sources


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted((e for e in entries if not e.name.startswith(".")), key=lambda e: e.name)


@dataclass(frozen=True, slots=True)
class Label:
    """One annotated shot, before its files are looked for. ``scale`` is the label as it stands there."""

    kind: str
    film: str
    shot: int
    split: Split | None
    scale: str

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.film}/{self.shot:04d}"


Annotation = tuple[Path, list[Label], int]
"""One annotation file, read: its labels, and how many shots have none for the scale."""


def _annotations(folder: Path, name: str | None) -> list[Annotation]:
    """The annotation called ``name``; for None all that lie beside the films' folders and have labels."""
    if name is None:
        annotations = [load(path) for path in sorted(folder.glob("*.json"))]
        return [annotation for annotation in annotations if annotation and annotation[1]]
    path = folder / name
    if not path.is_file():
        raise DatasetError(f"There is no {name} in {folder}.", "Name a JSON file inside the folder.")
    annotation_file = load(path)
    if annotation_file is None or not annotation_file[1]:
        raise DatasetError(
            f"{path} holds no shot scales of MovieShots.", "Name a file such as v1_split_trailer.json."
        )
    return [annotation_file]


def load(path: Path) -> Annotation | None:
    """The annotation in a JSON file; None where the file is something else. Raises DatasetError."""
    try:
        tree = parse_json(read_text_file(path, "table", DatasetError, encoding="utf-8").text)
    except ValueError as error:
        raise DatasetError(f"{path} cannot be read: {error}.", "Replace the file.") from None
    if not isinstance(tree, dict):
        return None
    labels: dict[str, Label] = {}
    without = 0
    leaves = list(_leaves(tree, ()))
    placed = [(place, leaf) for names, leaf in leaves if (place := _place(names))]
    if not leaves or len(placed) < len(leaves):
        return None
    for (split, kind, film, shot), leaf in placed:
        scale = leaf.get("scale")
        if isinstance(scale, dict):
            scale = scale.get("label")
        if scale is None:
            without += 1
            continue
        label = Label(kind, film, shot, split, str(scale))
        before = labels.setdefault(label.key, label)
        if before is not label:
            where = f" ({before.split} and {label.split})" if before.split != label.split else ""
            raise DatasetError(f"{path} has {label.key} twice{where}.", "Keep one of them.")
    return path, list(labels.values()), without


def _leaves(
    node: Mapping[str, Any], names: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    for name, inner in node.items():
        if not isinstance(inner, dict):
            continue
        if "scale" in inner or "movement" in inner:
            yield (*names, name), inner
        elif len(names) < 4:
            yield from _leaves(inner, (*names, name))


def _place(names: tuple[str, ...]) -> tuple[Split | None, str, str, int] | None:
    """``("train", "trailer", "tt01", "0007") → ("train", "trailer", "tt01", 7)``; None for other nestings."""
    if len(names) < 2 or not names[-1].isdecimal():
        return None
    *above, film, shot = names
    first = above.pop(0) if above and above[0] in (*SPLITS, "full") else "full"
    split = next((name for name in SPLITS if name == first), None)
    kind = above.pop(0) if above and above[0] in KINDS else KINDS[0]
    return None if above else (split, kind, film, int(shot))


def _movieshots(
    folder: Path, annotation: Annotation, files: DatasetFiles, seed: int, missing: float
) -> ScaleData:
    path, annotated, without_scale = annotation
    named = {label: scale_named(label.scale) for label in annotated}
    unknown = [label for label, scale in named.items() if scale is None]
    if unknown:
        counts = Counter(label.scale for label in unknown).most_common(5)
        raise DatasetError(
            f"{path} has labels that are no shot scales: "
            f"{', '.join(f'{name!r} ({count})' for name, count in counts)}; one is at {unknown[0].key}.",
            "The scales are ECS, CS, MS, FS and LS.",
        )
    labels = {label: scale for label, scale in named.items() if scale is not None}
    sources = {label: files.source(label.kind, label.film, label.shot) for label in labels}
    absent = [label for label, source in sources.items() if source is None]
    if len(absent) > missing * len(labels):
        raise DatasetError(
            f"{len(absent)} of the {len(labels)} shots in {path} have no clip and no picture below "
            f"{folder}, such as {_examples(label.key for label in absent)}.",
            f"Fetch them, or allow a larger share than {missing:g} to be missing.",
        )
    # The published split, or one by film: shots of one film look alike and must not be torn apart
    by_film = split_by_hash({label.film for label in labels if label.split is None}, str, seed)
    splits = {label: label.split or by_film[label.film] for label in labels}
    items = [
        ScaleItem(label.key, splits[label], scale, source)
        for label, scale in labels.items()
        if (source := sources[label]) is not None
    ]
    is_published = all(label.split for label in labels)
    how_split = "published split" if is_published else "split by the hash of the films' ids"
    return ScaleData(
        tuple(sorted(items, key=lambda item: item.key)),
        f"MovieShots, {path.name}, {how_split}",
        tuple(_notes(without_scale, absent, splits)),
        is_movieshots=True,
        has_published_split=is_published,
    )


def _notes(without: int, absent: Sequence[Label], splits: Mapping[Label, Split]) -> Iterator[str]:
    if absent:
        yield f"{len(absent)} annotated shots have no files, such as {_examples(x.key for x in absent)}."
    if without:
        yield f"{without} annotated shots have no scale and are left out."
    where: dict[str, set[Split]] = defaultdict(set)
    for label, split in splits.items():
        where[label.film].add(split)
    torn = sorted(film for film, inside in where.items() if len(inside) > 1)
    if torn:
        yield f"{len(torn)} films have shots in more than one split, such as {_examples(torn)}."


def _examples(names: Iterable[str]) -> str:
    return ", ".join(list(names)[:3])
