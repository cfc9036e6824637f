"""Real clips to tune statements by and to judge them by (tests/labels/clips.yaml): what is there, fetched.

    python benchmarks/clips.py [--half tuning|judging] [--fetch] [name ...]

Each comes from where its authors put it: a package of PyPI or npm, or a commit or tag of a public git
repository. It is fetched, checked by its hash and kept as weights are (`shotad models`). Exit code 1 where a
clip that was asked for could not be had.
"""

from __future__ import annotations

import argparse
import sys
import urllib.parse
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from shotad.core import NoProgress, WeightsError, weight_store as weights

LIST = Path(__file__).resolve().parents[1] / "tests" / "labels" / "clips.yaml"
Half = Literal["tuning", "judging"]


@dataclass(frozen=True, slots=True)
class Clip:
    """A piece of a film, from second ``start`` up to ``end``, and the file that it is in."""

    half: Half
    kind: str
    start: float
    end: float
    file: weights.Weights


def read_clips(path: Path = LIST) -> dict[str, Clip]:
    """All clips of the list by name. Raises ValueError where one has no known source or half."""
    return {row["name"]: _clip(row) for row in yaml.safe_load(path.read_text("utf-8"))}


def _clip(row: dict[str, Any]) -> Clip:
    match row:
        case {"pypi": package} | {"npm": package}:
            source = {"kind": "pypi" if "pypi" in row else "npm", "package": package, "member": row["path"]}
        case {"git": place}:
            repository, version = place.split("@")
            at = urllib.parse.quote(f"{repository}/{version}/{row['path']}")
            source = {"kind": "url", "url": f"https://raw.githubusercontent.com/{at}"}
        case _:
            raise ValueError(f"{row['name']}: give pypi, npm or git.")
    if row["half"] not in get_args(Half):
        raise ValueError(f"{row['name']}: half is {row['half']!r}, not tuning or judging.")
    file = f"{row['name']}{PurePosixPath(row['path']).suffix}"
    known = {key: row[key] for key in ("sha256", "bytes", "licence")}
    entry = {"role": "clip", "file": file, "memory_mb": 0, "credit": "", "sources": [source], **known}
    start, end = row["seconds"]
    return Clip(row["half"], row["kind"], start, end, weights.entry_of(row["name"], entry))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--half", choices=get_args(Half))
    parser.add_argument("--fetch", action="store_true", help="fetch what is not there")
    asked = parser.parse_args()
    missing = 0
    for name, clip in read_clips().items():
        if name not in (asked.names or [name]) or asked.half not in (None, clip.half):
            continue
        told = "there" if clip.file.is_here else "not there"
        if asked.fetch:
            try:
                told = str(weights.checked_file(clip.file, NoProgress()))
            except WeightsError as error:
                told, missing = str(error), missing + 1
        print(f"{clip.half:8} {name:28} {clip.end - clip.start:5.1f} s  {told}")
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
