"""Face pictures of the people of a film, cut out and checked, and the page that shows everybody by them.

A picture is kept only if the finder finds just that face in the JPEG again and the recogniser says that it
is this person's and nobody else's found in the film: a describing run knows people by the pictures alone.
"""

from __future__ import annotations

import io
import os
import urllib.parse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image as Pictures

from shotad.core import Box, Image, Member, write_text
from shotad.film import jpeg, page_environment
from shotad.script import timecode
from shotad.sight.castfile import CastFile
from shotad.sight.castfolder import Facts
from shotad.sight.faces import Embedding, Face, FaceModels
from shotad.sight.facetracks import FaceTrack
from shotad.sight.gallery import Embeddings

_MARGINS = (0.6, 0.4, 0.25)
"""Of the face's height, left around it; less where somebody else would be in the picture."""
_TALLEST = 640
"""Pixels of a picture's height at most."""
_QUALITY = 92
_LARGE = 160.0
"""Pixels of height from which a larger face is no better."""
_TURNED = 0.9
"""Yaw from which a face shows one side only."""
_SHARP = 0.12
"""Of `_sharpness`, for a face in focus."""
_LEAST_WORTH = 0.05
_SAME_SHOT = 0.3
_ALIKE = 0.6
"""What being of a shot, and as alike as can be, takes off a look's worth: pictures shall differ."""
_KNOWN = 0.9
"""Likeness to a photo that is there from which another shows nothing new."""


@dataclass(frozen=True, slots=True, eq=False)
class Portrait:
    """A look at somebody that could become a picture or, with its ``jpeg``, a checked picture.

    ``embedding`` was read from the frame, or from the picture. ``worth``, 0 to 1, is how good a picture it
    promises to be: size, frontality, certainty, wholeness; of a picture also its sharpness and light.
    """

    shot: int
    face: Face
    embedding: Embedding
    worth: float
    jpeg: bytes = b""


def looks_of(tracks: Iterable[FaceTrack], height: int) -> list[Portrait]:
    """The looks that could become a picture, oldest first; ``height`` is that of the frames in pixels."""
    looks = [
        Portrait(track.shot, track.faces[i], track.embeddings[k], _worth(track.faces[i], height))
        for track in tracks
        for k, i in enumerate(track.read)
    ]
    good = (look for look in looks if look.worth > _LEAST_WORTH)
    return sorted(good, key=lambda look: (look.face.seconds, look.face.box.left))


def _worth(face: Face, height: int) -> float:
    box = face.box
    size: float = min(box.height * height / _LARGE, 1.0) ** 0.5
    front = max(1.0 - abs(face.yaw) / _TURNED, 0.0)
    # A face that the picture's edge cuts off counts less.
    whole = 1.0 if min(box.left, box.top, 1 - box.right, 1 - box.bottom) > 0.005 else 0.4
    return size * (0.35 + 0.65 * front) * face.score * whole


def best_of(
    portraits: Sequence[Portrait], centre: Embedding, there: Embeddings, count: int
) -> list[Portrait]:
    """The ``count`` to make pictures of, or pictures to keep, best first: one after the other the best, given
    those before it and the photos ``there``, and nothing that shows what is known already."""
    chosen: list[Portrait] = []

    def worth(one: Portrait) -> tuple[float, float]:
        typical = float(np.clip(one.embedding @ centre, 0.0, 1.0))
        rows = [*there, *(other.embedding for other in chosen)]
        alike = max((float(one.embedding @ row) for row in rows), default=0.0)
        again = _SAME_SHOT * any(one.shot == other.shot for other in chosen)
        value = one.worth * (0.3 + 0.7 * typical) * max(1 - _ALIKE * max(alike, 0.0) - again, 0.0)
        return value, -one.face.seconds

    left = [one for one in portraits if not len(there) or float((there @ one.embedding).max()) < _KNOWN]
    while left and len(chosen) < count:
        best = max(left, key=worth)
        chosen.append(best)
        left = [o for o in left if o is not best and float(o.embedding @ best.embedding) < _KNOWN]
    return chosen


def portrait(
    image: Image, look: Portrait, centre: Embedding, others: Embeddings, models: FaceModels
) -> Portrait | None:
    """The picture of ``look`` cut from the film's frame ``image``; None where no cut of it passes.

    ``centre`` is what the person looks like, ``others`` (``float32[n, d]``) what the rest do.
    """
    box, (height, width) = look.face.box, image.shape[:2]
    for margin in _MARGINS:
        left, top, right, bottom = _edges(image, box, margin)
        wide, high = right - left, bottom - top
        cut = Pictures.fromarray(np.ascontiguousarray(image[top:bottom, left:right]))
        if high > _TALLEST:
            cut = cut.resize((round(wide * _TALLEST / high), _TALLEST), Pictures.Resampling.LANCZOS)
        data = jpeg(np.asarray(cut), _QUALITY, subsampling=0)
        shown = np.array(Pictures.open(io.BytesIO(data)).convert("RGB"), np.uint8)
        faces = models.find(shown, 0.0)
        meant = Box(
            max((box.left * width - left) / wide, 0.0),
            max((box.top * height - top) / high, 0.0),
            min((box.right * width - left) / wide, 1.0),
            min((box.bottom * height - top) / high, 1.0),
        )
        if len(faces) != 1 or faces[0].box.iou(meant) <= 0.4:
            continue
        embedding = models.read(shown, faces[0])
        own = float(embedding @ centre)
        nearest = float((others @ embedding).max()) if len(others) else -1.0
        if own < max(models.threshold, models.join) or own - nearest < models.margin:
            continue
        # Sharpness and light of a face, 0 to 1
        left, top, right, bottom = _edges(image, box, 0.0)
        grey = cv2.cvtColor(np.ascontiguousarray(image[top:bottom, left:right]), cv2.COLOR_RGB2GRAY)
        small = np.asarray(cv2.resize(grey, (96, 128), interpolation=cv2.INTER_AREA), np.float32)
        light = float(small.mean())
        lit = min((light - 15) / 45, (250 - light) / 40, 1.0)
        clearness = max(lit, 0.05) * (0.3 + 0.7 * min(_sharpness(small) / _SHARP, 1.0))
        return replace(look, jpeg=data, embedding=embedding, worth=look.worth * clearness)
    return None


def _edges(image: Image, box: Box, margin: float) -> tuple[int, int, int, int]:
    """Left, top, right, bottom in pixels of a cut around ``box``, inside the picture."""
    height, width = image.shape[:2]
    around = margin * box.height * height
    return (
        max(int(box.left * width - around), 0),
        max(int(box.top * height - around), 0),
        min(int(np.ceil(box.right * width + around)), width),
        min(int(np.ceil(box.bottom * height + around)), height),
    )


def _sharpness(grey: npt.NDArray[np.float32]) -> float:
    """How much of a face's contrast is in its finest lines: the deviation of the Laplacian over its own."""
    fine = cv2.Laplacian(cv2.GaussianBlur(grey, (3, 3), 0), cv2.CV_32F)
    return float(fine.std()) / max(float(grey.std()), 8.0) / 4


PAGE = "overview.html"

_TEMPLATES = Path(__file__).parent / "page"
_HEIGHT = 160
"""CSS pixels of a picture's height."""


def renew_overview(folder: Path) -> None:
    """Write the overview of a cast folder again after a change, where there is one. Raises CastError."""
    if (folder / PAGE).exists():
        write_overview(folder, CastFile.open(folder).members, Facts.read(folder))


def write_overview(folder: Path, members: Sequence[Member], facts: Facts) -> Path:
    """Write ``overview.html`` into a cast folder. Raises WorkFolderError where it cannot be
    written."""
    ids = {member.id for member in members}
    cards: list[dict[str, Any]] = []
    for member in members:
        found, called = facts.in_films(member.id), member.name or member.id
        summary = "Not seen in a film that was looked through."
        if found:
            seconds, films = sum(f.seconds for f in found), f" in {len(found)} films"
            shots = plural(sum(f.shots for f in found), "shot")
            summary = f"{shots}, {in_view(seconds)} in view{films if len(found) > 1 else ''}."
        like = "" if member.name else facts.like(member.id)
        cards.append(
            {
                "member": member,
                "called": f"{member.name} ({member.id})" if member.name else member.id,
                "summary": summary,
                "found": found,
                "pictures": [
                    _picture(path, folder, f"{called}, picture {number} of {len(member.photos)}")
                    for number, path in enumerate(member.photos, 1)
                ],
                "like": like if like in ids else "",
            }
        )
    films_seen = sorted({(found.name, found.film) for found in facts.found})
    environment = page_environment(
        _TEMPLATES, time=lambda second: timecode(second)[:8], in_view=in_view, plural=plural
    )
    name = folder.name or str(folder)
    page = environment.get_template("page.html.j2").render(
        cards=cards,
        title=folder.resolve().name,
        # As it is typed in a command line
        folder=f'"{name}"' if any(c in " '&()" for c in name) else name,
        lead=_lead(members, [film for film, _ in films_seen]),
        films=films_seen,
        unnamed=[card for card in cards if not card["member"].name and not card["member"].nameless],
        pictures=sum(len(member.photos) for member in members),
    )  # fmt: skip
    path = folder / PAGE
    if not path.exists() or path.read_text(encoding="utf-8", errors="replace") != page:
        write_text(path, page)
    return path


def _picture(path: Path, folder: Path, words: str) -> dict[str, Any]:
    """A picture on the page: its address as seen from there, what it is, and its size in CSS pixels."""
    try:
        with Pictures.open(path) as opened:
            width, height = opened.size
    except OSError:
        width, height = 1, 1  # of one that cannot be read, those of a square
    address = urllib.parse.quote(Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix())
    return {"address": address, "words": words, "width": round(width * _HEIGHT / height), "height": _HEIGHT}


def _lead(members: Sequence[Member], films: Sequence[str]) -> str:
    """The cast in one sentence: ``4 people, seen in ep1.mp4; 3 have no name yet.``"""
    people = "1 person" if len(members) == 1 else f"{len(members)} people"
    seen = f", seen in {', '.join(films)}" if films else ""
    unnamed = sum(not member.name and not member.nameless for member in members)
    names = f"{unnamed} of them {'has' if unnamed == 1 else 'have'} no name yet" if unnamed else "all named"
    return f"{people}{seen}; {names}." if members else "There is nobody in this cast yet."


def in_view(seconds: float) -> str:
    """``3.4 → 3 s``, ``83.5 → 1 min 24 s``."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def plural(number: int, word: str) -> str:
    """``1 shot``, ``2 shots``."""
    return f"{number} {word}{'' if number == 1 else 's'}"
