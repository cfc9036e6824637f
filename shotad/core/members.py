"""The people of a film, and what each may be called at which moment. Pure logic."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shotad.core.clip_cast import Character
from shotad.core.errors import CastError


@dataclass(frozen=True, slots=True)
class Reveal:
    """The film second from which a name may be used; of one film (its file name without ending) or, with an
    empty ``film``, of any. ``seconds`` is infinite for a film that never tells."""

    seconds: float
    film: str = ""


def same_film(one: str, other: str) -> bool:
    """Whether two names of films are the same: some systems spell é in two characters, or ignore case."""
    return _spelled(one) == _spelled(other)


def _is_of(reveal: Reveal, film: str) -> bool:
    """Whether a reveal speaks of ``film``, with its ending or without; a folder's name has none."""
    return bool(reveal.film) and (same_film(reveal.film, film) or same_film(reveal.film, Path(film).stem))


def _spelled(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody of the cast.

    ``name`` is empty until somebody has filled it in; who has none is known as a person of their own, so
    that nobody else is taken for them, but never named. The same goes for ``nameless``: extras whom nobody
    will name.
    """

    id: str
    name: str = ""
    spoken: str = ""
    """What AD says; empty: ``name``."""
    aliases: tuple[str, ...] = ()
    pronoun: str = ""
    descriptor: str = ""
    """For when the name may not be used: ``the woman in red``."""
    reveals: tuple[Reveal, ...] = ()
    photos: tuple[Path, ...] = ()
    nameless: bool = False
    say_as: str = ""
    """How a voice is to say the name that AD says, where it would not by itself: ``Sin-TELL``."""

    @property
    def says(self) -> str:
        """The name that AD says; empty for the nameless."""
        return "" if self.nameless else self.spoken or self.name

    def revealed(self, film: str) -> float:
        """The second from which the name may be used in ``film``; 0 where nothing is said of it."""
        reveal = self.reveal_of(film)
        return 0.0 if reveal is None else reveal.seconds

    def reveal_of(self, film: str) -> Reveal | None:
        """What is said of ``film`` itself, else of all films; None where neither is. ``film`` is the name of
        its file or folder, or that without the ending."""
        own = (reveal for reveal in self.reveals if _is_of(reveal, film))
        return next(own, next((reveal for reveal in self.reveals if not reveal.film), None))

    def character(self, film: str, at: float) -> Character | None:
        """This person as they may be spoken of at second ``at`` of ``film``; None for the nameless."""
        if not self.says:
            return None
        names = tuple(dict.fromkeys(n for n in (self.says, self.name, *self.aliases) if n))
        if at < self.revealed(film):
            called = self.descriptor
            return Character(self.id, called, called, (), names, self.pronoun, named=False)
        others = tuple(name for name in names if name != self.says)
        return Character(self.id, self.says, self.name or self.says, others, (), self.pronoun)


@dataclass(frozen=True, slots=True)
class Cast:
    """The members in the cast's own order, the most important first."""

    members: tuple[Member, ...]
    source: Path | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ids = [member.id for member in self.members]
        twice = next((name for name in ids if ids.count(name) > 1), None)
        if twice is not None:
            raise CastError(
                f"The cast has two people with the id {twice!r}.", "Give each an id of their own."
            )

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def characters(self, film: str, at: float) -> tuple[Character, ...]:
        """Those with a name or a descriptor, as they may be spoken of at second ``at`` of ``film``."""
        found = (member.character(film, at) for member in self.members)
        return tuple(character for character in found if character is not None)
