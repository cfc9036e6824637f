"""What a render is asked to make: AD alone, programme with AD, and films that carry one or the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from shotad.core import UsageError, stem_of

SOUNDS = ("wav", "flac", "mp3", "opus", "m4a")
"""Endings of sound files."""
FILMS = ("mp4", "mkv", "ts", "mov", "webm", "m4v", "m2ts")
"""Endings of films."""
OTHERWISE = "mkv"
"""The container for films of kinds that are not written: it holds whatever there is."""


class Kind(StrEnum):
    """A kind of result."""

    FILM = "film"
    BOTH = "film+text"
    TEXT = "text"
    AD = "ad"
    MIX = "mix"

    @property
    def is_film(self) -> bool:
        """Whether it has a picture."""
        return self in (Kind.FILM, Kind.BOTH, Kind.TEXT)

    @property
    def is_heard(self) -> bool:
        """Whether a voice is needed for it."""
        return self is not Kind.TEXT


MEANINGS = {
    Kind.FILM: "the film with AD as an additional audio track",
    Kind.BOTH: "the film with AD as an audio track and as a text track of descriptions",
    Kind.TEXT: "the film with a text track of descriptions, for players that read it out",
    Kind.AD: "the description alone",
    Kind.MIX: "the film's sound with the description mixed in",
}

_STEMS = {
    Kind.FILM: "described",
    Kind.BOTH: "described",
    Kind.TEXT: "descriptions",
    Kind.AD: "ad",
    Kind.MIX: "mix",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """One file to be made."""

    kind: Kind
    path: Path

    @property
    def ending(self) -> str:
        """That of its name, without the dot: ``mkv``."""
        return self.path.suffix.lower().lstrip(".")


def parse_wanted(texts: Sequence[str]) -> list[tuple[Kind, str | None]]:
    """``film``, ``film:mkv``, ``ad:mp3`` … as kinds and endings (None: to be chosen). Raises UsageError."""
    return [_parsed(text) for text in texts or ("film",)]


def wanted_files(
    asked: Sequence[tuple[Kind, str | None]],
    film: str,
    folder: Path,
    *,
    out: Path | None = None,
    tag: str = "",
) -> tuple[Wanted, ...]:
    """Where each result goes: ``movie.described.mp4``, ``movie.ad.wav`` in ``folder``; with
    ``tag`` (a language) ``movie.de.ad.wav``. ``out`` is another folder, or the very file where there is one.

    Films keep the container of the source where it is one that is written. Raises UsageError for two results
    with one name, and for an ``out`` that cannot be meant.
    """
    if out is not None and out.suffix and not out.is_dir():
        return (_named(asked, out),)
    stem = f"{stem_of(film)}{tag and '.'}{tag}"
    own = Path(film).suffix.lower().lstrip(".")
    found: list[Wanted] = []
    for kind, ending in asked:
        otherwise = (own if own in FILMS else OTHERWISE) if kind.is_film else "wav"
        found.append(Wanted(kind, (out or folder) / f"{stem}.{_STEMS[kind]}.{ending or otherwise}"))
    return checked_apart(found)


def _named(asked: Sequence[tuple[Kind, str | None]], out: Path) -> Wanted:
    """The one result, in a file that is named."""
    if len(asked) != 1:
        raise UsageError(f"--out {out} is one file, but {len(asked)} are to be made.", "Name a folder.")
    kind, ending = asked[0]
    own = out.suffix.lower().lstrip(".")
    endings = FILMS if kind.is_film else SOUNDS
    if own not in endings or ending not in (None, own):
        what = kind if ending is None else f"{kind}:{ending}"
        raise UsageError(
            f"{what} cannot be written to {out}, neither a folder nor a file of that kind.",
            f"Make the folder first, or end its name in {' or '.join([ending] if ending else endings)}.",
        )
    return Wanted(kind, out)


def checked_apart(wanted: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """The same, if no two have one name."""
    for i, one in enumerate(wanted):
        for other in wanted[:i]:
            if one.path == other.path:
                raise UsageError(
                    f"{one.kind} and {other.kind} would both be written to {one.path}.",
                    "Give them different endings, or make one of them.",
                )
    return tuple(wanted)


def _parsed(text: str) -> tuple[Kind, str | None]:
    name, _, ending = text.lower().partition(":")
    ending = ending.lstrip(".")
    if name not in MEANINGS:
        known = "; ".join(f"{kind}: {meaning}" for kind, meaning in MEANINGS.items())
        raise UsageError(f"{text!r} is nothing that can be made.", f"There is {known}.")
    kind = Kind(name)
    endings = FILMS if kind.is_film else SOUNDS
    if ending and ending not in endings:
        raise UsageError(f"{kind} cannot be made as {ending!r}.", f"Choose one of {', '.join(endings)}.")
    return kind, ending or None
