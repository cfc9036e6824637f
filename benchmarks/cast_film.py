"""Films with known people in them, for the measurements of characters.py.

Ten people of OpenPeople and some 300 strangers (fake-avatars; the ORL faces in grey shots) stand, walk and
talk before photographic grounds: alone, in dialogue from two set-ups, in twos and threes, among strangers,
and not at all. Faces are 30 to 200 pixels high in 640 x 360; they move, tilt, turn to the side, change
expression, grow and shrink, are lit well and badly, blurred by motion and passed by posts. H.264 at an
ordinary quality, 24 frames a second. Beside the long film and the short one (two people, 80 s) stands the
truth as JSON: who is where in each frame. ``photos/`` holds the photos of the cast, none of which is on the
screen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
from cast_actors import PHOTOS, REVISION, Company, company
from cast_stage import HEIGHT, RATE, WIDTH, Stage
from cast_takes import Take, long_film, short_film
from PIL import Image as Pictures

from shotad.core import CastSettings
from shotad.sight import make_face_models

CRF = 23
MADE = 1
"""Counted up when the same takes are drawn otherwise."""


def shoot(takes: Sequence[Take], people: Company, path: Path) -> None:
    """Write the film of ``takes`` and, beside it as JSON, the truth."""
    stage, kinds = Stage(people), {actor.name: actor.kind for actor in people.actors}
    shots, first = [], 0
    unfinished = path.with_suffix(".part.mp4")
    with av.open(str(unfinished), "w") as sink:
        stream: Any = sink.add_stream("libx264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.time_base = Fraction(1, RATE)
        stream.options = {"preset": "veryfast", "crf": str(CRF), "threads": "2"}
        for number, take in enumerate(takes):
            faces: dict[str, list[list[float | str]]] = {part.actor: [] for part in take.parts}
            for offset, (image, seen) in enumerate(stage.frames(take, number)):
                frame = av.VideoFrame.from_ndarray(image, format="rgb24").reformat(format="yuv420p")
                frame.pts, frame.time_base = first + offset, Fraction(1, RATE)
                sink.mux(stream.encode(frame))
                for face in seen:
                    box = [round(v, 1) for v in face.box]
                    faces[face.name].append([first + offset, *box, face.state, face.light])
            count = round(take.seconds * RATE)
            people_in = [{"name": n, "kind": kinds[n], "faces": rows} for n, rows in faces.items()]
            shots.append({"kind": take.kind, "first": first, "end": first + count, "people": people_in})
            first += count
        sink.mux(stream.encode())
    path.with_suffix(".json").write_text(json.dumps({"rate": RATE, "shots": shots}))
    unfinished.rename(path)


def make(folder: Path, quick: bool = False) -> tuple[Path, Path]:
    """The long film and the short one, with their truth and the photos of the cast, in ``folder``; made where
    they are not there."""
    long, short = (
        folder / f"{stem}-{MADE}-{REVISION}.mp4" for stem in ("quick" if quick else "long", "short")
    )
    photos = folder / "photos"
    if not (long.exists() and short.exists() and photos.exists()):
        cv2.setNumThreads(2)
        people = company(folder, make_face_models(CastSettings()))
        for path, takes in ((long, long_film(people, quick=quick)), (short, short_film(people))):
            if not path.exists():
                shoot(takes, people, path)
        for (name, kind), image in people.photos.items():
            path = photos / name / f"{PHOTOS.index(kind)}-{kind}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            Pictures.fromarray(image).save(path, quality=92)
    return long, short
