"""Face pictures of the people of a film, cut out and checked, and the page that shows everybody by them.

A picture is kept only if the finder finds just that face in the JPEG again and the recogniser says that it
is this person's and nobody else's found in the film: a describing run knows people by the pictures alone.
"""

from __future__ import annotations

import io
import os
import urllib.parse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image as Pictures

from shotad.core import Box, Image, Member, write_text
from shotad.film import jpeg, page_environment
from shotad.script import timecode
from shotad.sight.castfile import CastFile
from shotad.sight.castfolder import Facts, Found
from shotad.sight.faces import Embedding, Face, FaceModels
from shotad.sight.facetracks import FaceTrack

Embeddings = npt.NDArray[np.float32]
"""``float32[n, d]``, rows of length 1."""

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
class PortraitView:
    """One look at somebody that could become a picture; ``face`` was seen in a picture ``height`` pixels high
    and ``embedding`` read from it."""

    shot: int
    face: Face
    embedding: Embedding
    height: int

    @property
    def worth(self) -> float:
        """How good a picture it promises to be, 0 to 1: size, frontality, certainty, wholeness."""
        box = self.face.box
        size: float = min(box.height * self.height / _LARGE, 1.0) ** 0.5
        front = max(1.0 - abs(self.face.yaw) / _TURNED, 0.0)
        # A face that the picture's edge cuts off counts less.
        whole = 1.0 if min(box.left, box.top, 1 - box.right, 1 - box.bottom) > 0.005 else 0.4
        return size * (0.35 + 0.65 * front) * self.face.score * whole


@dataclass(frozen=True, slots=True, eq=False)
class Portrait:
    """A checked picture: ``jpeg``, what it shows, and ``worth``, 0 to 1, now with its sharpness and light."""

    look: PortraitView
    jpeg: bytes
    embedding: Embedding
    worth: float


def looks_of(tracks: Iterable[FaceTrack], height: int) -> list[PortraitView]:
    """The looks of which there are embeddings, oldest first."""
    looks = [
        PortraitView(track.shot, track.faces[i], track.embeddings[k], height)
        for track in tracks
        for k, i in enumerate(track.read)
    ]
    return sorted(looks, key=lambda look: (look.face.seconds, look.face.box.left))


def promising(
    looks: Sequence[PortraitView], centre: Embedding, there: Embeddings, count: int
) -> list[PortraitView]:
    """The ``count`` looks to make pictures of, best first: good ones, typical, that differ from each other
    and from the photos ``there``."""
    left = [Portrait(look, b"", look.embedding, look.worth) for look in looks if look.worth > _LEAST_WORTH]
    return [one.look for one in best_of(left, centre, there, count)]


def best_of(
    portraits: Sequence[Portrait], centre: Embedding, there: Embeddings, count: int
) -> list[Portrait]:
    """The ``count`` pictures to keep, best first: one after the other the best, given those before it, and
    nothing that shows what is known already."""
    chosen: list[Portrait] = []
    left = [one for one in portraits if not len(there) or float((there @ one.embedding).max()) < _KNOWN]
    while left and len(chosen) < count:
        best = max(left, key=lambda one: (_value(one, centre, there, chosen), -one.look.face.seconds))
        chosen.append(best)
        left = [o for o in left if o is not best and float(o.embedding @ best.embedding) < _KNOWN]
    return chosen


def _value(one: Portrait, centre: Embedding, there: Embeddings, chosen: Sequence[Portrait]) -> float:
    """The worth of a look to a person of whom there are pictures already."""
    typical = float(np.clip(one.embedding @ centre, 0.0, 1.0))
    rows = [*there, *(other.embedding for other in chosen)]
    alike = max((float(one.embedding @ row) for row in rows), default=0.0)
    again = _SAME_SHOT * any(one.look.shot == other.look.shot for other in chosen)
    return one.worth * (0.3 + 0.7 * typical) * max(1 - _ALIKE * max(alike, 0.0) - again, 0.0)


def portrait(
    image: Image, look: PortraitView, centre: Embedding, others: Embeddings, models: FaceModels
) -> Portrait | None:
    """The picture of ``look`` cut from the film's frame ``image``; None where no cut of it passes.

    ``centre`` is what the person looks like, ``others`` (``float32[n, d]``) what the rest do.
    """
    for margin in _MARGINS:
        data = jpeg(np.asarray(_cut(image, look.face.box, margin)), _QUALITY, subsampling=0)
        shown = np.array(Pictures.open(io.BytesIO(data)).convert("RGB"), np.uint8)
        faces = models.find(shown, 0.0)
        if len(faces) != 1 or not _is_meant(faces[0], look.face.box, image, margin):
            continue
        embedding = models.read(shown, faces[0])
        own = float(embedding @ centre)
        nearest = float((others @ embedding).max()) if len(others) else -1.0
        is_theirs = own >= max(models.threshold, models.join) and own - nearest >= models.margin
        if not is_theirs:
            continue
        # Sharpness and light of a face, 0 to 1
        left, top, right, bottom = _edges(image, look.face.box, 0.0)
        grey = cv2.cvtColor(np.ascontiguousarray(image[top:bottom, left:right]), cv2.COLOR_RGB2GRAY)
        small = np.asarray(cv2.resize(grey, (96, 128), interpolation=cv2.INTER_AREA), np.float32)
        light = float(small.mean())
        lit = min((light - 15) / 45, (250 - light) / 40, 1.0)
        clearness = max(lit, 0.05) * (0.3 + 0.7 * min(_sharpness(small) / _SHARP, 1.0))
        return Portrait(look, data, embedding, look.worth * clearness)
    return None


def _is_meant(found: Face, box: Box, image: Image, margin: float) -> bool:
    """Whether a face found in the cut is the one that was cut out."""
    left, top, right, bottom = _edges(image, box, margin)
    height, width = image.shape[:2]
    wide, high = right - left, bottom - top
    meant = Box(
        max((box.left * width - left) / wide, 0.0),
        max((box.top * height - top) / high, 0.0),
        min((box.right * width - left) / wide, 1.0),
        min((box.bottom * height - top) / high, 1.0),
    )
    return found.box.iou(meant) > 0.4


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


def _cut(image: Image, box: Box, margin: float) -> Pictures.Image:
    left, top, right, bottom = _edges(image, box, margin)
    cut = Pictures.fromarray(np.ascontiguousarray(image[top:bottom, left:right]))
    if cut.height > _TALLEST:
        cut = cut.resize((round(cut.width * _TALLEST / cut.height), _TALLEST), Pictures.Resampling.LANCZOS)
    return cut


def _sharpness(grey: npt.NDArray[np.float32]) -> float:
    """How much of a face's contrast is in its finest lines: the deviation of the Laplacian over its own."""
    fine = cv2.Laplacian(cv2.GaussianBlur(grey, (3, 3), 0), cv2.CV_32F)
    return float(fine.std()) / max(float(grey.std()), 8.0) / 4


PAGE = "overview.html"

_TEMPLATES = Path(__file__).parent / "page"
_HEIGHT = 160
"""CSS pixels of a picture's height."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture on the page: its address as seen from there, what it is, and its size in CSS pixels."""

    address: str
    words: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Card:
    """One person on the page; ``like`` is the id of somebody they may be."""

    member: Member
    pictures: tuple[Shown, ...]
    found: tuple[Found, ...]
    like: str = ""

    @property
    def called(self) -> str:
        """The name, where there is one, with the id: ``Anna (person-03)``."""
        return f"{self.member.name} ({self.member.id})" if self.member.name else self.member.id

    @property
    def summary(self) -> str:
        """What was seen of them, in one line."""
        if not self.found:
            return "Not seen in a film that was looked through."
        shots, seconds = sum(f.shots for f in self.found), sum(f.seconds for f in self.found)
        films = f" in {len(self.found)} films" if len(self.found) > 1 else ""
        return f"{plural(shots, 'shot')}, {in_view(seconds)} in view{films}."


def renew_overview(folder: Path) -> None:
    """Write the overview of a cast folder again after a change, where there is one. Raises CastError."""
    if (folder / PAGE).exists():
        write_overview(folder, CastFile.open(folder).members, Facts.read(folder))


def write_overview(folder: Path, members: Sequence[Member], facts: Facts) -> Path:
    """Write ``overview.html`` into a cast folder. Raises WorkFolderError where it cannot be
    written."""
    cards = [card_of(member, facts, folder, members) for member in members]
    films = sorted({(found.name, found.film) for found in facts.found})
    environment = page_environment(
        _TEMPLATES, time=lambda second: timecode(second)[:8], in_view=in_view, plural=plural
    )
    page = environment.get_template("page.html.j2").render(
        cards=cards,
        title=folder.resolve().name,
        folder=_quoted(folder),
        lead=lead(cards, [name for name, _ in films]),
        films=films,
        unnamed=[card for card in cards if not card.member.name and not card.member.nameless],
        pictures=sum(len(card.pictures) for card in cards),
    )  # fmt: skip
    path = folder / PAGE
    if not path.exists() or path.read_text(encoding="utf-8", errors="replace") != page:
        write_text(path, page)
    return path


def card_of(member: Member, facts: Facts, folder: Path, members: Sequence[Member]) -> Card:
    """What the page shows of one person."""
    count = len(member.photos)
    pictures = []
    for number, path in enumerate(member.photos, 1):
        width, height = _size(path)
        words = f"{member.name or member.id}, picture {number} of {count}"
        pictures.append(Shown(_address(path, folder), words, round(width * _HEIGHT / height), _HEIGHT))
    like = "" if member.name else facts.like(member.id)
    known = any(other.id == like for other in members)
    return Card(member, tuple(pictures), facts.in_films(member.id), like if known else "")


def lead(cards: Sequence[Card], films: Sequence[str]) -> str:
    """The cast in one sentence: ``4 people, seen in ep1.mp4; 3 have no name yet.``"""
    people = "1 person" if len(cards) == 1 else f"{len(cards)} people"
    seen = f", seen in {', '.join(films)}" if films else ""
    unnamed = sum(not card.member.name and not card.member.nameless for card in cards)
    names = f"{unnamed} of them {'has' if unnamed == 1 else 'have'} no name yet" if unnamed else "all named"
    return f"{people}{seen}; {names}." if cards else "There is nobody in this cast yet."


def in_view(seconds: float) -> str:
    """``3.4 → 3 s``, ``83.5 → 1 min 24 s``."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def plural(number: int, word: str) -> str:
    """``1 shot``, ``2 shots``."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def _size(path: Path) -> tuple[int, int]:
    """Width and height of a picture in pixels; of one that cannot be read, those of a square."""
    try:
        with Pictures.open(path) as opened:
            return opened.size
    except OSError:
        return 1, 1


def _address(path: Path, folder: Path) -> str:
    """How the page finds a picture: seen from the folder, wherever both are moved to."""
    seen = os.path.relpath(path.absolute(), folder.absolute())
    return urllib.parse.quote(Path(seen).as_posix())


def _quoted(folder: Path) -> str:
    """The folder's name as it is typed in a command line."""
    name = folder.name or str(folder)
    return f'"{name}"' if any(c in " '&()" for c in name) else name
