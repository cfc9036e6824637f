"""Two episodes of painted heads, and a room in which they are gone through."""

from __future__ import annotations

import hashlib
import shutil
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import NoProgress, RunInputs, WorkFolder, load_config
from shotad.description import Discovery, RunContext, discover
from shotad.film import open_film
from shotad.sight import CastFile, Face
from shotad.sight.castfolder import USE_LIST
from shotad.sight.photos import load_photo
from tests.painted_faces import HEADS, Head, Image, PaintedFaces, Take

WHOLE = RunInputs()
LEFT, RIGHT = (0.25, 0.5), (0.75, 0.5)
EPISODE = (
    Take(2.0, (Head("ann", LEFT, (0.4, 0.5)),)), Take(1.5, (Head("bo", RIGHT, RIGHT),)),
    Take(2.0, (Head("ann", RIGHT, RIGHT), Head("bo", LEFT, LEFT))), Take(1.0),
    Take(1.5, (Head("cy", LEFT, (0.5, 0.5)),)),
)  # fmt: skip
NEXT = (
    Take(2.0, (Head("bo", LEFT, LEFT, 0.4),)), Take(1.5),
    Take(2.0, (Head("stranger", RIGHT, RIGHT), Head("ann", LEFT, LEFT, 0.4))),
)  # fmt: skip


class VariedFaces(PaintedFaces):
    """Painted heads that look a little different in each picture; ``kin`` is somewhat like ``ann``."""

    kin = "nobody"

    def read(self, image: Image, face: Face) -> npt.NDArray[np.float32]:
        own = super().read(image, face)
        if list(HEADS)[int(np.argmax(own))] == self.kin:
            own = (0.8 * np.eye(8)[0] + 0.6 * own).astype(np.float32)
        seed = zlib.crc32(np.ascontiguousarray(image).tobytes())
        noise = np.random.default_rng(seed).normal(size=24)
        row = np.concatenate([own, 0.5 * noise / np.linalg.norm(noise)])
        return np.asarray(row / np.linalg.norm(row), np.float32)


class Room:
    """A place with films, where discovery is run."""

    def __init__(self, films: Path, place: Path, faces: PaintedFaces) -> None:
        self.films, self.place = films, place
        self.faces: Any = faces
        self.cast = place / "ep1.cast"

    def run(self, film: str = "ep1", given: RunInputs = WHOLE, force: bool = False) -> Discovery:
        place = WorkFolder(self.place / f"{film}.shotad", force=force)
        with open_film(self.films / f"{film}.mp4") as opened, place as folder:
            context = RunContext.of(opened, folder, load_config(), given, NoProgress())
            return discover(context, self.cast, models=self.faces)

    def begin(self) -> None:
        """Have the first episode looked through, as `run` does; it was done once for all tests."""
        shutil.copytree(self.films / "done", self.place, dirs_exist_ok=True)

    def files(self) -> dict[str, str]:
        """The hash of every file of the cast, without its lock."""
        return {
            path.relative_to(self.cast).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.cast.rglob("*"))
            if path.is_file() and path.name not in (".lock", USE_LIST)
        }

    def who(self, person: str) -> str:
        """Whose head the pictures of somebody show; all the same, or it is an error."""
        file = CastFile.open(self.cast)
        shown = set()
        for path in file.member(person).photos:
            image = load_photo(path)
            (face,) = PaintedFaces().find(image, 0.0)
            shown.add(list(HEADS)[int(np.argmax(PaintedFaces().read(image, face)))])
        (one,) = shown
        return one
