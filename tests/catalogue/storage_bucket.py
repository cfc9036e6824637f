"""A work folder in a store that is in memory, its copy here, and tracks to be written there, for tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fsspec
import pytest

from shotad.batch import staging as leases
from shotad.batch.mirror import Mirror
from shotad.batch.places import Addresses
from shotad.batch.store import Store
from shotad.core import Interval, NoProgress
from shotad.script import Cue, CueStatus, FilmId, Maker, Provenance, Track, save_track

PLACE = "memory://ad/x.shotad"
FILM = "memory://films/x.mp4"


class Bucket:
    """The store as another sees it who reads and writes there."""

    def __init__(self) -> None:
        self._files = fsspec.filesystem("memory")

    def put(self, name: str, text: str | bytes) -> None:
        """Write a file of the work folder."""
        data = text.encode() if isinstance(text, str) else text
        self._files.pipe_file(f"/ad/x.shotad/{name}", data)

    def remove(self, name: str) -> None:
        """Remove a file of the work folder."""
        self._files.rm_file(f"/ad/x.shotad/{name}")

    def get(self, name: str) -> str:
        """The text of a file of the work folder."""
        return self._files.cat_file(f"/ad/x.shotad/{name}").decode()

    @property
    def names(self) -> list[str]:
        """All files of the work folder."""
        return sorted(name.removeprefix("/ad/x.shotad/") for name in self._files.find("/ad"))


@contextmanager
def memory_bucket() -> Iterator[Bucket]:
    """A bucket in memory with one film and no work folder; leases in it are not looked at twice."""
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pipe_file("/films/x.mp4", b"film" * 100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leases, "_SETTLED", 0.0)
        yield Bucket()
    files.store.clear()


def mirror(tmp_path: Path, *, media: bool = False, name: str = "a") -> Mirror:
    folder = tmp_path / name / "x.shotad"
    addresses = Addresses({str(tmp_path / "x.mp4"): FILM, str(folder): PLACE})
    return Mirror(
        Store(PLACE), PLACE, folder, tmp_path / name / "seen.json", addresses, NoProgress(), media=media
    )


def lines(*keys: str) -> str:
    return "".join(f'{{"key": "{key}"}}\n' for key in keys)


FILM_ID = FilmId("x.mp4", "f" * 32, 60.0)
MAKER = Maker("Stage II", "fake", "fake", "1")


def cue(start: float, text: str) -> Cue:
    name = f"s{round(start * 1000):08d}"
    made = Provenance((MAKER,), "p", 0)
    status = CueStatus.PLACED
    return Cue(
        name, name, Interval(start, start + 3), text,
        status=status, candidates=(text,), chosen=0, provenance=made, spoken_length=2.0,
    )  # fmt: skip


def track(*texts: str) -> Track:
    return Track(FILM_ID, "en", (MAKER,), "0", tuple(cue(5.0 * i, text) for i, text in enumerate(texts)))


def edited(text: str, before: str, after: str) -> str:
    """The JSON of a track in which a person put other words for a line."""
    tree = json.loads(text)
    for line in tree["cues"]:
        if line["text"] == before:
            line["text"] = after
    return json.dumps(tree)


def described(bucket: Bucket, tmp_path: Path, *texts: str) -> tuple[Mirror, Path]:
    """A film that was described before with these lines (none: never) and is again: its copy here, with a
    track of its own, and a folder with the track and scripts as they are in the bucket."""
    before = tmp_path / "before"
    before.mkdir()
    if texts:
        save_track(track(*texts), before, "x.mp4")
    for file in before.iterdir():
        bucket.put(file.name, file.read_bytes())
    side = mirror(tmp_path)
    side.bring_down()
    save_track(track("One anew.", "Two anew."), side.folder, "x.mp4")
    return side, before
