"""The people of a film: what each may be called at which moment, and who of them is on the frames of a clip.

Also the words by which names are told from other words: titles, particles, names that are words as well.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from shotad.core.errors import CastError
from shotad.core.types import Sighting


@dataclass(frozen=True, slots=True)
class Reveal:
    """The film second from which a name may be used; of one film (its file name without ending) or, with an
    empty ``film``, of any. ``seconds`` is infinite for a film that never names them."""

    seconds: float
    film: str = ""


def same_film(first: str, second: str) -> bool:
    """Whether two names of films are the same: some systems spell é in two characters, or ignore case."""
    first_spelling, second_spelling = (
        unicodedata.normalize("NFC", name).casefold() for name in (first, second)
    )
    return first_spelling == second_spelling


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody of the cast.

    ``name`` is empty until somebody has filled it in; who has neither name nor descriptor is known as a
    person of their own, so that nobody else is taken for them, but never spoken of. The same goes for
    ``nameless``: extras whom nobody will name.
    """

    id: str
    name: str = ""
    spoken: str = ""
    """What AD says; empty: ``name``."""
    aliases: tuple[str, ...] = ()
    pronoun: str = ""
    descriptor: str = ""
    """For when the name may not be used, or where there is none: ``the woman in red``."""
    reveals: tuple[Reveal, ...] = ()
    photos: tuple[Path, ...] = ()
    nameless: bool = False
    say_as: str = ""
    """How a voice is to say the name that AD says, where it would not by itself: ``Sin-TELL``."""

    @property
    def says(self) -> str:
        """What AD says: the name, else the descriptor; empty for the nameless."""
        return "" if self.nameless else self.spoken or self.name or self.descriptor

    def revealed(self, film: str) -> float:
        """The second from which the name may be used in ``film``; 0 where nothing is said of it."""
        reveal = self.reveal_of(film)
        return 0.0 if reveal is None else reveal.seconds

    def reveal_of(self, film: str) -> Reveal | None:
        """What is said of ``film`` itself, else of all films; None where neither is. ``film`` is the name of
        its file or folder, or that without the ending."""
        for reveal in self.reveals:
            if reveal.film and (same_film(reveal.film, film) or same_film(reveal.film, Path(film).stem)):
                return reveal
        for reveal in self.reveals:
            if not reveal.film:
                return reveal
        return None

    def character(self, film: str, at: float) -> Character | None:
        """This person as they may be spoken of at second ``at`` of ``film``; None for the nameless."""
        if not self.says:
            return None
        if not (self.spoken or self.name):
            return Character(self.id, self.says, self.says, self.aliases, (), self.pronoun, named=False)
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
        characters: list[Character] = []
        for member in self.members:
            character = member.character(film, at)
            if character is not None:
                characters.append(character)
        return tuple(characters)


@dataclass(frozen=True, slots=True)
class FrameMark:
    """What tells a character apart on the frames: ``red``, ``dashed green``, ``blue, tagged 23``."""

    colour: str
    style: Literal["solid", "dashed", "double"] = "solid"
    tag: str = ""
    """Painted beside the ellipse, where colours and styles are used up."""

    def __str__(self) -> str:
        words = self.colour if self.style == "solid" else f"{self.style} {self.colour}"
        return f"{words}, tagged {self.tag}" if self.tag else words


@dataclass(frozen=True, slots=True)
class Character:
    """Somebody of the cast, as they may be spoken of in one slot.

    ``called`` is what AD says: the name to speak or, while the film has not revealed it, a descriptor
    (``the woman in red``; ``named`` is False then), or nothing. ``full`` is the name in full, ``others`` are
    further names of the same person that must not stand for it in a line, ``hidden`` those that may not be
    said yet.
    """

    id: str
    called: str
    full: str
    others: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    pronoun: str = ""
    """``she``, ``he``, ``they``, ``it``, or nothing."""
    named: bool = True


REAPPEARANCE_SECONDS = 60.0
"""Seconds after which somebody who is seen again comes in anew: scenes of films last about a minute."""


@dataclass(frozen=True, slots=True)
class Presence:
    """Who of the cast is on the frames of one clip.

    ``cast`` is everybody, seen or not, as they may be spoken of in the slot. ``current`` are the ids of those
    recognised in the current shots, ``others`` of those recognised elsewhere in the clip only, both in the
    order of the cast; all of these have something to be called by, and a mark. ``sightings`` are their
    faces: ``name`` is the id, ``seconds`` those of a frame of the clip. ``lately`` are the ids of those
    recognised in the film within `REAPPEARANCE_SECONDS` seconds before the slot; empty where an engine has
    no use for it.
    """

    cast: tuple[Character, ...] = ()
    current: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    marks: Mapping[str, FrameMark] = field(default_factory=dict)
    sightings: tuple[Sighting, ...] = ()
    lately: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known_ids = {character.id for character in self.cast}
        for name in (*self.current, *self.others, *(s.name for s in self.sightings)):
            if name not in known_ids or name not in self.marks:
                raise ValueError(f"{name!r} is on the frames but not in the cast, or has no mark")

    @property
    def seen(self) -> tuple[Character, ...]:
        """Everybody recognised in the clip, those of the current shots first."""
        by_id = {character.id: character for character in self.cast}
        return tuple(by_id[name] for name in (*self.current, *self.others))


EMPTY_PRESENCE = Presence()
"""Of a clip without a cast."""


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


NAME_TITLES = _listed(
    """
    mr mrs ms miss mx messrs dr doctor doc prof professor sir dame lady lord madam madame monsieur señor
    señora herr frau captain capt sergeant sgt lieutenant lt lieut colonel col corporal cpl private pvt
    major maj general gen commander cmdr admiral adm officer detective det inspector insp superintendent
    commissioner constable sheriff deputy marshal agent chief police senator sen president judge justice
    mayor governor secretary ambassador minister chancellor reverend rev father sister brother mother
    saint st nurse uncle aunt auntie grandma grandpa granny king queen prince princess duke duchess
    count countess baron baroness emperor master mister coach pastor rabbi bishop cardinal pope deacon
    dean special first second
    """
)
"""Words before a name, in small letters and without a full stop."""

HIS_TITLES = _listed("mr sir lord monsieur señor herr king prince duke count baron uncle grandpa master")
HER_TITLES = _listed(
    "mrs ms miss dame lady madam madame señora frau queen princess duchess countess baroness aunt auntie "
    "grandma granny"
)

PARTICLES = _listed("de da di du del della la le van von der den ten ter zu zur bin ibn al el y of the")
"""Words in small letters within names."""

WORD_NAMES = _listed(
    """
    black white orange brown green gray grey blue red scarlet rose rosie lily daisy violet ivy iris
    holly heather hazel ginger rosemary olive ruby pearl amber crystal jade hope faith grace joy charity
    patience prudence summer autumn april may june august dawn eve sunny stormy sky skye star snow
    winter frost rain storm cloud river rivers lake stone rock woods wood forest hill field fields bush
    branch bank banks bridge ford church cross bell ball page book pen price cash penny rich bond bill
    will mark art guy chase drew rob pat sue jack nick frank dean josh gene ray jay robin martin wren
    finch hawk sparrow swan drake fox wolf bear lamb bird bull buck young old long short small little
    large strong armstrong sharp swift wise savage strange best good goodman love moon sun day knight
    night king prince queen bishop pope abbott baker cook carter cooper mason miller porter potter
    taylor tanner turner walker weaver fisher hunter gardener shepherd butler page chandler marshall
    sterling gold silver diamond case power powers stark wells waters poole hall house homes parks park
    garden marsh heath dale glen moss reed thorn bloom flower flowers poppy christian angel destiny
    harmony melody cherry candy cookie honey major duke earl baron happy sandy dusty rusty misty buddy
    sonny junior ace chip flash spike tank trip colt dash fury gale grant hardy dusk midnight doll kitty
    bunny pepper sugar salt basil clove sage barney barker steel iron hammer
    """
)
"""Names that are words too; where one begins a sentence, its capital letter says nothing."""

SENTENCE_STARTERS = _listed(
    """
    a an the and but or so yet nor as at by for from in into of off on onto out over to up with without
    about above across after against along alongside amid among around atop before behind below beneath
    beside besides between beyond despite down during except inside like near nearby next outside past
    since through throughout toward towards under underneath until upon via within while when whenever
    where wherever if because although though once unless both all each every either neither some any no
    not only even just still then now later soon again also finally suddenly meanwhile instead together
    elsewhere inside upstairs downstairs overhead ahead back away here there his her their its my your
    our this that these those another other two three four five six several many he she it they we you i
    who what which how seeing leaving
    """
)
"""Words that begin a sentence before somebody's name: ``Behind Smith``."""
