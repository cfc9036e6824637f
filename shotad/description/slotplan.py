"""What is shown and known for one slot before any pixel is read: shots, frames, people, names heard; and the
people as prompts name them and an engine sees them, by name and by mark on the frames.

Somebody who is called is mostly there and does not speak; who speaks is heard there, and may be out of
sight. Neither says whose the faces are, so names in the dialogue are hints and no more.

Whom Stage I is told of follows AutoAD-Zero, section 3.2, and the published code, which for TV-AD tells the
people of the current shots apart from the others of the clip. The words are ours and stand in ``prompts/``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from shotad.core import (
    NAME_TITLES,
    NOBODY,
    STARTERS,
    WORD_NAMES,
    Abilities,
    Character,
    Config,
    ContextShot,
    Description,
    FramePlan,
    Grammar,
    Interval,
    Mark,
    Presence,
    PromptSettings,
    Role,
    Scene,
    Slot,
    Utterance,
    seconds,
)
from shotad.script import (
    FUNCTION_WORDS,
    LEMMAS,
    NO_ARTICLE,
    NO_NAMES,
    SENTENCE_START,
    CastMention,
    cast_mentions,
    keys_of,
    listed,
    people_named,
    quotations,
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
    speech: tuple[Utterance, ...] = ()
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

    def clip(self, able: Abilities) -> tuple[str, tuple[FramePlan, ...]]:
        """The slot's id and the frames an engine looks at; of a lone current frame the context's too."""
        mine = tuple(f for f in self.frames if f.role is Role.CURRENT)
        alone = not able.wants_context and sum(len(f.seconds) for f in mine) > 1
        return self.slot.id, mine if alone else self.frames


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

    With a cast, those of its people only, as they are to be called, and never who may not be named yet,
    whatever the dialogue says. Without one, speakers' labels, and names of people in English dialogue.
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
"""Captions in English have 0.28 to 0.48 of its small words, those in ten other languages 0.06 at most."""


Marks = Literal["ellipses", "boxes", "none"]

SHAPES: Mapping[Marks, str] = {"ellipses": "circle", "boxes": "box", "none": ""}
"""What a mark is called; an ellipse round a face is a circle to most."""

PLURALS: Mapping[str, str] = {"circle": "circles", "box": "boxes"}


def told_of(presence: Presence, settings: PromptSettings) -> Presence:
    """``presence`` with only those that Stage I is told of: nobody else gets a mark on the frames."""
    if settings.characters != "current" or not presence.others:
        return presence
    kept = tuple(sighting for sighting in presence.sightings if sighting.name in presence.current)
    return replace(presence, others=(), sightings=kept)


def name_with_mark(
    character: Character, presence: Presence, names: Literal["spoken", "full"], marks: Marks
) -> str:
    """``Ann (red)``; without the mark where none is painted."""
    name = character.full if names == "full" else character.called
    return name if marks == "none" else f"{name} ({presence.marks[character.id]})"


@dataclass(frozen=True, slots=True)
class PeopleToTell:
    """Whom Stage I is told of, by name and mark: all in one list (``in_clip``, as published), or those of the
    current shots and those of the others apart. ``mark_kinds`` are the kinds of mark that need a word."""

    in_clip: tuple[str, ...] = ()
    in_current: tuple[str, ...] = ()
    in_others: tuple[str, ...] = ()
    mark_kinds: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.in_clip or self.in_current or self.in_others)


def people_to_tell(presence: Presence, settings: PromptSettings, marks: Marks) -> PeopleToTell:
    """Whom Stage I is told of in its first step."""
    told = told_of(presence, settings)
    names = {c.id: name_with_mark(c, told, settings.by_rules.names, marks) for c in told.seen}
    current = tuple(names[person] for person in told.current)
    others = tuple(names[person] for person in told.others)
    kinds = _mark_kinds(told, marks)
    if settings.characters == "clip":
        return PeopleToTell(in_clip=(*current, *others), mark_kinds=kinds)
    return PeopleToTell(in_current=current, in_others=others, mark_kinds=kinds)


def _mark_kinds(presence: Presence, marks: Marks) -> tuple[str, ...]:
    """The kinds of mark that are painted and need a word; colours alone need none."""
    if marks == "none":
        return ()
    painted = [presence.marks[character.id] for character in presence.seen]
    kinds = {mark.style for mark in painted} | {"tagged" for mark in painted if mark.tag}
    return tuple(kind for kind in ("dashed", "double", "tagged") if kind in kinds)


def heard_to_tell(
    heard: Sequence[Heard], presence: Presence, settings: PromptSettings
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names in the dialogue near the clip that Stage I may be told: those spoken, those of speakers."""
    if not settings.by_rules.heard_names:
        return (), ()
    names: dict[str, dict[str, None]] = {"spoken": {}, "speaker": {}}
    by_id = {character.id: character for character in presence.cast}
    for hint in heard:
        mentions = whose(hint.name, presence)
        if any(mention.hidden for mention in mentions):
            continue
        name = hint.name
        if mentions:
            character = by_id[mentions[0].id]
            name = character.full if settings.by_rules.names == "full" else character.called
        if name:
            names[hint.how][name] = None
    return tuple(names["spoken"]), tuple(names["speaker"])


def whose(name: str, presence: Presence) -> tuple[CastMention, ...]:
    """Whose of the cast a name is that stands by itself, and is sure to be one, unlike a first ``Rose``."""
    return cast_mentions(f"with {name}", presence.cast)


def as_called(description: Description, presence: Presence, settings: PromptSettings) -> Description:
    """The description with all called as AD does, where Stage II gets names, and without untold names."""
    if not presence.cast:
        return description
    steps = {
        heading: without_untold(as_spoken(text, presence, settings), presence)
        for heading, text in description.steps.items()
    }
    return replace(description, steps=steps)


def as_spoken(text: str, presence: Presence, settings: PromptSettings) -> str:
    """The names that may be said as they are to be spoken, if ``settings.by_rules.stage2_names``."""
    if not settings.by_rules.stage2_names:
        return text
    return spoken(text, [c if c.named else replace(c, called="") for c in presence.cast])


def without_untold(text: str, presence: Presence) -> str:
    """A text with descriptors for names that the film has not told yet, or ``the woman``, ``somebody``."""
    characters = []
    for c in presence.cast:
        if c.named:  # what is not called anything is left as it stands
            characters.append(replace(c, called="", others=(c.called, *c.others)))
        else:
            nameless = {"she": "the woman", "he": "the man"}.get(c.pronoun, "somebody")
            characters.append(replace(c, called=c.called or nameless))
    return spoken(text, characters)


def told_only(said: Utterance, presence: Presence) -> Utterance:
    """What is said in the film, with descriptors for names that it has not told yet."""
    if not any(character.hidden for character in presence.cast):
        return said
    return replace(said, text=without_untold(in_usual_letters(said.text, presence.cast), presence))


_ARTICLE = re.compile(
    r"\b(?:an?|the|(?:(?:an?|the|his|her|their) )?(?:young|younger|old|older|little|elderly)) \Z",
    re.IGNORECASE,
)
"""What may stand before a name, and not before a descriptor, which has an article of its own."""


def spoken(text: str, characters: Sequence[Character]) -> str:
    """``text`` with everybody called what they are to be called.

    Names in full, aliases, titles with a name, and parts of a name that only one of the cast has become the
    name to speak; names that may not be said yet become the descriptor, if there is one. A name that would
    then stand twice side by side stands once. Text in quotation marks keeps names that may be said.

    >>> celia = Character("c", "Celia", "Celia Smith", ("Dr. Smith",))
    >>> spoken("Dr. Celia Smith's hand rests on a door marked 'Dr. Smith'.", [celia])
    "Celia's hand rests on a door marked 'Dr. Smith'."
    """
    called = {character.id: character.called for character in characters}
    pieces: list[str] = []
    at = 0
    for mention in cast_mentions(text, characters):
        if not called[mention.id]:
            continue
        first, last = mention.start, mention.end
        if mention.hidden and first > 0 and text[first - 1] in _OPENS and text[last : last + 1] in _CLOSES:
            # Of a name that may not be said the quotation marks go that hold it alone.
            first, last = first - 1, last + 1
        start, name = first, called[mention.id]
        if name[0].islower():
            article = _ARTICLE.search(text[:first]) if mention.hidden else None
            start = first if article is None else article.start()
            if SENTENCE_START.search(text[:start]) and not text[:start].rstrip().endswith(":"):
                name = name[0].upper() + name[1:]
        pieces += [text[at : max(start, at)], name]
        at = last
        if mention.text[-1:] in "sz" and name[-1:] not in "sz" and re.match(r"['’](?!\w)", text[at:]):
            pieces.append(f"{text[at]}s")
            at += 1
    changed = "".join([*pieces, text[at:]])
    for name in dict.fromkeys(filter(None, called.values())):
        changed = _once(changed, name)
    return changed


_OPENS, _CLOSES = frozenset("\"'“‘«„»"), frozenset("\"'”’»“«")


def _once(text: str, name: str) -> str:
    """``Celia (Celia)``, ``Celia, also known as Celia,`` and ``Celia, Celia,`` as ``Celia``."""
    one = rf"{re.escape(name)}(?:['’]s)?"
    known = r",? (?:also )?(?:known as|called|a\.?k\.?a\.?)"
    again = (
        rf" ?[(\[]{one}[)\]]",
        rf" ?/ ?{one}(?!\w)",
        rf"(?:{known}|,) {one}(?:,|(?=[.!?;]|\Z))",
        rf" {one}(?!\w)",
    )
    twice = re.compile(rf"(?<!\w)({one})(?:{'|'.join(again)})", re.IGNORECASE)
    closed = quotations(text)
    return twice.sub(lambda m: m[0] if any(start <= m.start() < end for start, end in closed) else m[1], text)


@dataclass(frozen=True, slots=True)
class CalledPerson:
    """What somebody is called, and ``she``, ``he`` or ``they`` where that is known."""

    called: str
    pronoun: str
    named: bool
    """Whether the film has told the name."""


def called_people(description: str, presence: Presence, settings: PromptSettings) -> tuple[CalledPerson, ...]:
    """What Stage II is to call the people of the clip that ``description`` names.

    Who is on the frames alone is not told of: a small model gives a name in the prompt to somebody.
    """
    if not settings.by_rules.stage2_names:
        return ()
    named = {mention.id for mention in cast_mentions(description, presence.cast)}
    return tuple(
        CalledPerson(c.called, c.pronoun, c.named) for c in presence.seen if not c.named or c.id in named
    )


def shown_people(
    presence: Presence, abilities: Abilities, config: Config
) -> tuple[tuple[dict[str, Any], ...], tuple[Any, ...], tuple[Mark, ...]]:
    """The people of a clip as such an engine gets them: by marks, or by the faces where it paints none.

    Rows for the record; what else can change the answer, for its key; the marks painted. Empty for nobody.
    """
    paints = abilities.wants_overlay and config.overlay.characters != "none"
    told = told_of(presence, config.prompt) if abilities.wants_overlay else presence
    rows = tuple(
        {
            "id": c.id,
            "called": c.called,
            "mark": str(told.marks[c.id]) if paints else "",
            "current": c.id in told.current,
        }
        for c in told.seen
    )
    if not rows:
        return (), (), ()
    faces = [
        [s.name, s.box.left, s.box.top, s.box.right, s.box.bottom, seconds(s.seconds)]
        + ([] if paints else [s.score])
        for s in (told.sightings if paints or not abilities.wants_overlay else ())
    ]
    known: tuple[Any, ...] = (rows, [character_row(c) for c in told.seen], faces)
    if not abilities.wants_overlay:  # it measures, and says who comes in
        known = (*known, list(told.lately))
    marks = tuple(told.marks[c.id] for c in told.seen) if paints else ()
    return rows, known, marks


def character_row(character: Character) -> list[Any]:
    """All of somebody, as JSON."""
    c = character
    return [c.id, c.called, c.full, list(c.others), list(c.hidden), c.pronoun, c.named]


def names_of(presence: Presence) -> tuple[str, ...]:
    """Every name of the cast that may be said."""
    named = (c for c in presence.cast if c.named)
    return tuple(dict.fromkeys(name for c in named for name in (c.called, c.full, *c.others)))
