"""The overview of a cast folder: one page to look at, and to hear, that shows everybody by their pictures."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from shotad.core import Member, write_text
from shotad.film import page_environment
from shotad.script import timecode
from shotad.sight.cast.files.castfile import CastFile
from shotad.sight.cast.found.castfolder import Facts, Found

if TYPE_CHECKING:
    from jinja2 import Environment

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
    """One person on the page; ``like`` is the id of somebody whom they may be."""

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
    """Write the overview of a cast folder anew after a change, where there is one. Raises CastError."""
    if (folder / PAGE).exists():
        write_overview(folder, CastFile.open(folder).members, Facts.read(folder))


def write_overview(folder: Path, members: Sequence[Member], facts: Facts) -> Path:
    """Write ``overview.html`` into a cast folder. Raises WorkFolderError where it cannot be
    written."""
    cards = [card_of(member, facts, folder, members) for member in members]
    films = sorted({(found.name, found.film) for found in facts.found})
    page = _environment().get_template("page.html.j2").render(
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
        with Image.open(path) as opened:
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


def _environment() -> Environment:
    return page_environment(
        _TEMPLATES, time=lambda second: timecode(second)[:8], in_view=in_view, plural=plural
    )
