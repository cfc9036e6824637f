"""What is shown and known for one slot before any pixel is read: shots, frames, people, names heard.

Somebody who is called is mostly there and does not speak; who speaks is heard there, and may be out of
sight. Neither says whose the faces are, so names in the dialogue are hints and no more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from shotad.core import (
    NAME_TITLES,
    NOBODY,
    STARTERS,
    WORD_NAMES,
    Character,
    ContextShot,
    FramePlan,
    Grammar,
    Interval,
    Presence,
    Role,
    Scene,
    Slot,
    Utterance,
)
from shotad.script import (
    FUNCTION_WORDS,
    LEMMAS,
    NO_ARTICLE,
    NO_NAMES,
    cast_mentions,
    keys_of,
    listed,
    people_named,
    words_of,
)

_SLACK = 1e-6
"""Seconds by which a planned moment may miss the border of its shot, for rounding."""


@dataclass(frozen=True, slots=True)
class SlotPlan:
    """One slot with its clip: ``shots[k]`` and ``frames[k]`` are those of painted number ``k``."""

    slot: Slot
    shots: tuple[ContextShot, ...]
    frames: tuple[FramePlan, ...]
    grammar: Grammar
    speech: tuple[Interval, ...] = ()
    """Where people speak while the clip lasts."""
    presence: Presence = NOBODY
    """Who of the cast is on its frames."""
    heard: tuple[Heard, ...] = ()
    """Names in the subtitles near the clip."""

    def __post_init__(self) -> None:
        if len(self.shots) != len(self.frames):
            raise ValueError(
                f"slot {self.slot.id} has {len(self.shots)} shots and {len(self.frames)} frame plans"
            )
        if [frames.number for frames in self.frames] != list(range(len(self.frames))):
            raise ValueError(f"painted numbers must count from 0, got {[f.number for f in self.frames]}")

    @property
    def current(self) -> tuple[int, ...]:
        """Painted numbers of the current shots."""
        return tuple(f.number for f in self.frames if f.role is Role.CURRENT)

    @property
    def scene(self) -> Scene:
        """The same for an engine."""
        return Scene(self.slot.interval, self.shots, self.slot.credits, self.speech, self.presence)


def shown_shots(context: Sequence[ContextShot], frames: Sequence[FramePlan]) -> tuple[ContextShot, ...]:
    """The context shots that got frames, by painted number. Both come oldest first."""
    pieces = iter(context)

    def is_held(piece: ContextShot, plan: FramePlan) -> bool:
        start, end = piece.clipped.start - _SLACK, piece.clipped.end + _SLACK
        return piece.role is plan.role and start <= float(plan.seconds[0]) < end

    return tuple(next(piece for piece in pieces if is_held(piece, plan)) for plan in frames)


REACH = 20.0
"""Seconds before and after a clip in which the dialogue is looked at: about a scene's talk around it."""

MOST = 8
"""Names that are offered; more are a list that nobody chooses from."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A name near the clip: ``spoken`` in the dialogue, or that of the ``speaker`` in the subtitles."""

    name: str
    how: Literal["spoken", "speaker"]
    seconds: float


def heard_names(
    speech: Sequence[Utterance], clip: Interval, characters: Sequence[Character]
) -> tuple[Heard, ...]:
    """Names within `REACH` seconds of the clip, the nearest first, each once, at most `MOST`.

    With a cast, those of its people only, as they are to be called; who may not be named yet is left out even
    where the dialogue names them, for the cast file alone says when a film has told a name. Without one,
    speakers' labels, and names of people in English dialogue.
    """
    order: dict[Heard, float] = {}
    cast = tuple(characters)
    near = [said for said in speech if distance(said.interval, clip) <= REACH]
    called = _called(tuple(said.text for said in speech)) if not cast else None
    for said in near:
        speakers, spoken = [*filter(None, said.speaker.split(" and "))], []
        if cast:
            speakers = [name for one in speakers for name in _of_cast(one, cast)]
            spoken = [*_of_cast(in_usual_letters(said.text, cast), cast)]
        elif called is not None and not said.text.isupper():
            spoken = [said.text[start:end] for start, end in people_named(said.text)]
            spoken += [match[1] for match in _CALL.finditer(said.text) if match[1] in called]
        away, start = distance(said.interval, clip), said.interval.start
        order |= {Heard(name, "speaker", start): away for name in speakers}
        order |= {Heard(name, "spoken", start): away for name in spoken}
    once: dict[str, Heard] = {}
    for heard in sorted(order, key=lambda h: (order[h], abs(h.seconds - clip.middle), h.how)):
        once.setdefault(heard.name, heard)
    return tuple(once.values())[:MOST]


def distance(said: Interval, clip: Interval) -> float:
    """Seconds between the two, 0 where they share time."""
    return max(0.0, said.start - clip.end, clip.start - said.end)


def _of_cast(text: str, cast: tuple[Character, ...]) -> Iterator[str]:
    by_id = {character.id: character for character in cast}
    for mention in cast_mentions(text, cast):
        if not mention.hidden and by_id[mention.id].called:
            yield by_id[mention.id].called


def in_usual_letters(text: str, cast: tuple[Character, ...]) -> str:
    """Captions in capital letters only, with those left that begin names; other texts as they are."""
    if not text.isupper():
        return text
    names = words_of(cast) - WORD_NAMES
    return re.sub(
        r"[^\W\d_]+(?:['’][^\W\d_]+)*",
        lambda m: m[0].title() if names.issuperset(keys_of(m[0])) else m[0].lower(),
        text,
    )


_CALL = re.compile(r"(?:^|(?<=[.!?…] )|(?<=, ))([A-Z][a-zà-öø-ÿ]+)(?=[,!?.…])")
"""Somebody is called, or something cried out: ``Ann! Come.``"""

_CRIES = listed(
    """
    hey hi hello goodbye bye yes yeah yep no nope nah okay ok right well oh ah eh uh um hm hmm huh wow ouch ow
    please thanks sorry pardon cheers welcome damn hell shit christ jesus god lord heavens goodness sir madam
    ma'am miss dude man mate pal buddy honey darling dear sweetheart baby love boss mom mum mommy mummy dad
    daddy mama papa grandma grandpa son kid kids boys girls guys folks everybody everyone anybody anyone
    somebody someone nobody nothing something anything maybe perhaps exactly absolutely really certainly sure
    good great fine perfect excellent brilliant wonderful amazing fantastic incredible impossible nonsense
    congratulations enough careful quiet quick quickly easy ready alright anyway besides indeed true wrong
    tonight today tomorrow yesterday soon later never always again already alone together sadly honestly
    frankly obviously apparently officer doctor captain sergeant detective professor father mother brother
    sister uncle aunt what who why how when where which silence help freeze surprise
    """
)


@lru_cache(maxsize=8)
def _called(dialogue: tuple[str, ...]) -> frozenset[str] | None:
    """Who is called twice at least in English dialogue and is no word of it; None where it is not English."""
    text = " ".join(dialogue)
    words = re.findall(r"[^\W\d_]+", text)
    small = {word for word in words if word.islower()}
    share = sum(word.lower() in FUNCTION_WORDS for word in words)
    if not words or share < _SMALL_SHARE * len(words):
        return None
    calls = Counter(match[1] for line in dialogue for match in _CALL.finditer(line))
    return frozenset(
        name
        for name, times in calls.items()
        if times > 1
        and name.lower() not in small | _CRIES | FUNCTION_WORDS | STARTERS | NO_ARTICLE
        and name.lower() not in LEMMAS.keys() | NAME_TITLES
        and name not in NO_NAMES
        and not name.endswith(("ly", "ing"))
    )


_SMALL_SHARE = 0.2
"""Captions in English have 0.28 to 0.48 of English's small words, those in ten other languages 0.06 at most
(the supplied files of over 30 words)."""
