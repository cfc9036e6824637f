"""What goes into a described film, and what is known of it once it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from shotad.core import Interval
from shotad.film import SoundBlock


@dataclass(frozen=True, slots=True, eq=False)
class AdSound:
    """The sound of the AD track: ``blocks`` follow each other without gap from film second 0.

    ``layout`` is ffmpeg's name of the channels (``stereo``, ``5.1(side)``), ``rate`` samples a second,
    ``language`` a BCP 47 tag. Blocks are taken one by one, while the film is written.
    """

    blocks: Iterable[SoundBlock]
    layout: str
    rate: int
    language: str
    title: str


@dataclass(frozen=True, slots=True)
class AdText:
    """A text track of descriptions: when (film seconds, ascending, none over another) and what."""

    cues: Sequence[tuple[Interval, str]]
    language: str
    title: str


@dataclass(frozen=True, slots=True)
class Copied:
    """A track of the film that was copied: ``source`` is its number there, over all tracks from 0.

    ``packets`` and ``digest`` are those of its payload, see `shotad.sound.mux.payload`.
    """

    source: int
    kind: str
    codec: str
    packets: int
    digest: str


@dataclass(frozen=True, slots=True)
class Written:
    """A described film that was written whole.

    ``warnings`` are sentences for the user: what the container cannot hold. ``copied`` are the film's
    tracks, ``codec`` that of the AD's sound (empty: there is none), ``text`` whether there is a text track,
    ``replaced`` the numbers of the film's tracks that the AD took the place of.
    """

    path: Path
    container: str
    warnings: tuple[str, ...] = ()
    copied: tuple[Copied, ...] = ()
    codec: str = ""
    text: bool = False
    replaced: tuple[int, ...] = ()
