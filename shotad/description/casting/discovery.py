"""What a search for the people of a film found, and did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from shotad.script import timecode
from shotad.sight import Found

Way = Literal["new", "add", "renew", "leave"]
"""What becomes of a person's pictures: somebody new; known, but not from this film; those of an earlier run
over the film are chosen again; somebody has changed them."""


@dataclass(frozen=True, slots=True)
class Known:
    """One person of the film as they are in the cast now.

    ``added`` and ``removed`` count pictures.
    """

    found: Found
    name: str
    way: Way
    added: int = 0
    removed: int = 0

    @property
    def id(self) -> str:
        """Who in the cast."""
        return self.found.id

    @property
    def like(self) -> str:
        """The id of somebody whom they may be."""
        return self.found.like


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a run found, the most seen first, and what it did.

    ``gone`` are ids of an earlier run that the film no longer shows and of whom nothing was filled in;
    ``brief`` and ``unclear`` count who was left out: seen too shortly, and without a picture by which they
    could be known again; ``dismissed`` those whom somebody has taken out of the cast before.
    """

    folder: Path
    film: str
    people: tuple[Known, ...] = ()
    gone: tuple[str, ...] = ()
    brief: int = 0
    unclear: int = 0
    dismissed: int = 0
    faces: int = 0


def comment_of(found: Sequence[Found], like: str = "") -> str:
    """What stands above a person's entry.

    >>> comment_of([Found("person-01", "f", "ep1.mp4", 2, 3.3, 83.5)], "anna")
    '2 shots, 3 s in view, first at 00:01:23 in ep1.mp4\\nLooks like anna; if they are one person, merge them'
    """
    shots, seconds = sum(f.shots for f in found), sum(f.seconds for f in found)
    films = f"{len(found)} films, " if len(found) > 1 else ""
    first = f"first at {timecode(found[0].first)[:8]} in {found[0].name}"
    lines = [f"{films}{shots} {'shot' if shots == 1 else 'shots'}, {seconds:.0f} s in view, {first}"]
    return "\n".join(lines + ([f"Looks like {like}; if they are one person, merge them"] if like else []))
