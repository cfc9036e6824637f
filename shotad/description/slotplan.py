"""The plan of one slot's clip before any pixel is read: shots, frames, people, names in the dialogue; and how
prompts and engines get the people of a clip: by name, and by mark on the frames.

A person who is called by name is mostly in the scene and does not speak; one who speaks may be out of sight.
Neither says whose the faces are, so names in the dialogue are hints and no more.

Which people a prompt of Stage I names follows AutoAD-Zero, section 3.2, and the published code, which for
TV-AD lists the people of the current shots apart from the others of the clip. The words are ours and stand in
``prompts/``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from shotad.core import (
    Abilities,
    Character,
    Config,
    ContextShot,
    Description,
    FramePlan,
    Grammar,
    Interval,
    Slot,
    Utterance,
)
from shotad.core.cast import (
    EMPTY_PRESENCE,
    NAME_TITLES,
    SENTENCE_STARTERS,
    WORD_NAMES,
    FrameMark,
    Presence,
)
from shotad.core.config.words import PromptSettings
from shotad.core.engine import Scene
from shotad.core.records import seconds
from shotad.core.types import Role
from shotad.script.cast_members import name_keys
from shotad.script.english_words import (
    FUNCTION_WORDS,
    LEMMAS,
    NO_ARTICLE,
    listed,
)
from shotad.script.names import (
    NO_NAMES,
    SENTENCE_START,
    CastMention,
    cast_mentions,
    people_named,
    words_of,
)
from shotad.script.rules import quotations

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
    presence: Presence = EMPTY_PRESENCE
    """Who of the cast is on its frames."""
    nearby_names: tuple[NearbyName, ...] = ()
    """Names in the dialogue near the clip."""

    def __post_init__(self) -> None:
        if len(self.shots) != len(self.frames):
            raise ValueError(
                f"slot {self.slot.id} has {len(self.shots)} shots and {len(self.frames)} frame plans"
            )
        numbers = [frame_plan.number for frame_plan in self.frames]
        if numbers != list(range(len(self.frames))):
            raise ValueError(f"painted numbers must count from 0, got {numbers}")

    @property
    def current(self) -> tuple[int, ...]:
        """Painted numbers of the current shots."""
        return tuple(frame_plan.number for frame_plan in self.frames if frame_plan.role is Role.CURRENT)

    @property
    def scene(self) -> Scene:
        """The plan as an engine gets it."""
        return Scene(self.slot.interval, self.shots, self.slot.credits, self.speech, self.presence)

    def frames_for(self, abilities: Abilities) -> tuple[FramePlan, ...]:
        """The frames that an engine with these abilities looks at."""
        current = tuple(frame_plan for frame_plan in self.frames if frame_plan.role is Role.CURRENT)
        frame_count = sum(len(frame_plan.seconds) for frame_plan in current)
        # One frame shows no movement, so it comes with the frames around it.
        if frame_count > 1 and not abilities.wants_context:
            return current
        return self.frames


def shown_shots(context: Sequence[ContextShot], frames: Sequence[FramePlan]) -> tuple[ContextShot, ...]:
    """The context shots that got frames, by painted number. Both arguments come oldest first."""
    shots: list[ContextShot] = []
    # One iterator for all plans: each search goes on behind the shot found before.
    remaining = iter(context)
    for frame_plan in frames:
        shots.append(next(shot for shot in remaining if _has_frames_of(shot, frame_plan)))
    return tuple(shots)


def _has_frames_of(shot: ContextShot, frame_plan: FramePlan) -> bool:
    """Whether the planned frames lie in the shot."""
    start, end = shot.clipped.start - _SLACK, shot.clipped.end + _SLACK
    return shot.role is frame_plan.role and start <= float(frame_plan.seconds[0]) < end


NAMES_REACH = 20.0
"""Seconds before and after a clip in which names are looked for: about a scene's talk around it."""

MAX_NAMES = 8
"""Names in the dialogue that a prompt gets at most; a model does not choose from a longer list."""


@dataclass(frozen=True, slots=True)
class NearbyName:
    """A name in the dialogue near a clip, and the film second of the utterance that has it.

    ``how``: ``spoken`` in the words, or the label of the ``speaker`` in the subtitles.
    """

    name: str
    how: Literal["spoken", "speaker"]
    seconds: float


def nearby_names(
    speech: Sequence[Utterance], clip: Interval, characters: Sequence[Character]
) -> tuple[NearbyName, ...]:
    """Names within `NAMES_REACH` seconds of the clip, the nearest first, each once, at most `MAX_NAMES`.

    ``characters`` are the cast. With a cast, only names of its people, as they are to be called, and never
    of those who may not be named yet, whatever the dialogue says. Without one, speakers' labels, and names of
    people in English dialogue.
    """
    cast = tuple(characters)
    called_names = None if cast else _names_called_out(tuple(utterance.text for utterance in speech))
    # A dict keeps each name once at each second.
    distances: dict[NearbyName, float] = {}
    for utterance in speech:
        distance = seconds_between(utterance.interval, clip)
        if distance > NAMES_REACH:
            continue
        text, start = utterance.text, utterance.interval.start
        speakers = [label for label in utterance.speaker.split(" and ") if label]
        names: list[str] = []
        if cast:
            labels, speakers = speakers, []
            for label in labels:
                speakers += _cast_names_in(label, cast)
            names += _cast_names_in(in_usual_letters(text, cast), cast)
        elif called_names is not None and not text.isupper():
            names += [text[first:last] for first, last in people_named(text)]
            names += [match[1] for match in _CALL.finditer(text) if match[1] in called_names]
        for speaker in speakers:
            distances[NearbyName(speaker, "speaker", start)] = distance
        for name in names:
            distances[NearbyName(name, "spoken", start)] = distance

    def rank(nearby: NearbyName) -> tuple[float, float, str]:
        return distances[nearby], abs(nearby.seconds - clip.middle), nearby.how

    nearest: dict[str, NearbyName] = {}
    for nearby in sorted(distances, key=rank):
        nearest.setdefault(nearby.name, nearby)
    return tuple(nearest.values())[:MAX_NAMES]


def seconds_between(first: Interval, second: Interval) -> float:
    """Seconds between two intervals, 0 where they share time."""
    return max(0.0, first.start - second.end, second.start - first.end)


def _cast_names_in(text: str, cast: tuple[Character, ...]) -> Iterator[str]:
    """What the people named in a text are to be called, without those who may not be named yet."""
    by_id = {character.id: character for character in cast}
    for mention in cast_mentions(text, cast):
        if not mention.hidden and by_id[mention.id].called:
            yield by_id[mention.id].called


def in_usual_letters(text: str, cast: tuple[Character, ...]) -> str:
    """A caption in capitals as usual writing, with capitals for names of the cast; other texts unchanged."""
    if not text.isupper():
        return text
    # Names that are words too (Rose) stay small: most of the time the word is meant.
    names = words_of(cast) - WORD_NAMES
    return re.sub(
        r"[^\W\d_]+(?:['’][^\W\d_]+)*",
        lambda match: match[0].title() if names.issuperset(name_keys(match[0])) else match[0].lower(),
        text,
    )


_CALL = re.compile(r"(?:^|(?<=[.!?…] )|(?<=, ))([A-Z][a-zà-öø-ÿ]+)(?=[,!?.…])")
"""A person is called, or something cried out: ``Ann! Come.``"""

_NO_CALLED_NAMES = listed(
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


@lru_cache(maxsize=8)  # a film asks once for each of its slots
def _names_called_out(dialogue: tuple[str, ...]) -> frozenset[str] | None:
    """Names that English dialogue calls at least twice and has not as words; None where it is not English."""
    words = re.findall(r"[^\W\d_]+", " ".join(dialogue))
    function_words = sum(word.lower() in FUNCTION_WORDS for word in words)
    if not words or function_words < _LEAST_FUNCTION_WORDS * len(words):
        return None
    lower_case_words = {word for word in words if word.islower()}
    no_names = lower_case_words | _NO_CALLED_NAMES | FUNCTION_WORDS | SENTENCE_STARTERS | NO_ARTICLE
    no_names |= LEMMAS.keys() | NAME_TITLES
    counts: Counter[str] = Counter()
    for line in dialogue:
        counts.update(match[1] for match in _CALL.finditer(line))
    return frozenset(
        name
        for name, count in counts.items()
        if count > 1
        and name.lower() not in no_names
        and name not in NO_NAMES
        and not name.endswith(("ly", "ing"))
    )


_LEAST_FUNCTION_WORDS = 0.2
"""Share of function words from which dialogue is English: English captions have 0.28 to 0.48, those in ten
other languages 0.06 at most."""


Marks = Literal["ellipses", "boxes", "none"]

SHAPES: Mapping[Marks, str] = {"ellipses": "circle", "boxes": "box", "none": ""}
"""What a prompt calls a mark; an ellipse around a face is a circle to most."""

PLURALS: Mapping[str, str] = {"circle": "circles", "box": "boxes"}


def presence_in_prompt(presence: Presence, settings: PromptSettings) -> Presence:
    """``presence`` with only the people that a prompt of Stage I names: nobody else gets a mark."""
    if settings.characters != "current" or not presence.others:
        return presence
    current_sightings = tuple(
        sighting for sighting in presence.sightings if sighting.name in presence.current
    )
    return replace(presence, others=(), sightings=current_sightings)


def name_with_mark(
    character: Character, presence: Presence, names: Literal["spoken", "full"], marks: Marks
) -> str:
    """``Ann (red)``; without the mark where none is painted."""
    name = character.full if names == "full" else character.called
    return name if marks == "none" else f"{name} ({presence.marks[character.id]})"


@dataclass(frozen=True, slots=True)
class PeopleInPrompt:
    """The people that a prompt of Stage I names, by name and mark.

    All in one list (``in_clip``, as published), or those of the current shots and those of the others apart.
    ``mark_kinds`` are the kinds of mark that the prompt explains.
    """

    in_clip: tuple[str, ...] = ()
    in_current: tuple[str, ...] = ()
    in_others: tuple[str, ...] = ()
    mark_kinds: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.in_clip or self.in_current or self.in_others)


def people_in_prompt(presence: Presence, settings: PromptSettings, marks: Marks) -> PeopleInPrompt:
    """The people that the first step of Stage I's prompt names."""
    shown = presence_in_prompt(presence, settings)
    names: dict[str, str] = {}
    for character in shown.seen:
        names[character.id] = name_with_mark(character, shown, settings.by_rules.names, marks)
    current = tuple(names[character_id] for character_id in shown.current)
    in_others = tuple(names[character_id] for character_id in shown.others)
    kinds = _mark_kinds(shown, marks)
    if settings.characters == "clip":
        return PeopleInPrompt(in_clip=(*current, *in_others), mark_kinds=kinds)
    return PeopleInPrompt(in_current=current, in_others=in_others, mark_kinds=kinds)


def _mark_kinds(presence: Presence, marks: Marks) -> tuple[str, ...]:
    """The kinds of mark on the frames that a prompt explains; plain colours need no explanation."""
    if marks == "none":
        return ()
    painted = [presence.marks[character.id] for character in presence.seen]
    kinds = {mark.style for mark in painted} | {"tagged" for mark in painted if mark.tag}
    return tuple(kind for kind in ("dashed", "double", "tagged") if kind in kinds)


def dialogue_names(
    nearby: Sequence[NearbyName], presence: Presence, settings: PromptSettings
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names near the clip that a prompt of Stage I may have: those spoken, and those of speakers."""
    if not settings.by_rules.heard_names:
        return (), ()
    # Dicts as ordered sets
    names: dict[str, dict[str, None]] = {"spoken": {}, "speaker": {}}
    by_id = {character.id: character for character in presence.cast}
    for hint in nearby:
        mentions = mentions_of(hint.name, presence)
        if any(mention.hidden for mention in mentions):
            continue
        name = hint.name
        if mentions:
            character = by_id[mentions[0].id]
            name = character.full if settings.by_rules.names == "full" else character.called
        if name:
            names[hint.how][name] = None
    return tuple(names["spoken"]), tuple(names["speaker"])


def mentions_of(name: str, presence: Presence) -> tuple[CastMention, ...]:
    """The people of the cast that a name alone stands for."""
    # At the start of a sentence ``Rose`` could be a word; after another word it is a name.
    return cast_mentions(f"with {name}", presence.cast)


def as_called(description: Description, presence: Presence, settings: PromptSettings) -> Description:
    """The description with everybody called as AD calls them, for Stage II, and no name not yet revealed."""
    if not presence.cast:
        return description
    steps: dict[str, str] = {}
    for heading, text in description.steps.items():
        steps[heading] = hide_names(as_spoken(text, presence, settings), presence)
    return replace(description, steps=steps)


def as_spoken(text: str, presence: Presence, settings: PromptSettings) -> str:
    """The text with revealed names as they are to be spoken, if ``settings.by_rules.stage2_names``."""
    if not settings.by_rules.stage2_names:
        return text
    characters = []
    for character in presence.cast:
        # `with_spoken_names` leaves the names of those alone who are called nothing.
        characters.append(character if character.named else replace(character, called=""))
    return with_spoken_names(text, characters)


def hide_names(text: str, presence: Presence) -> str:
    """The text with descriptors for names that the film has not revealed yet.

    Where there is no descriptor: ``the woman``, ``the man`` or ``somebody``.
    """
    characters = []
    for character in presence.cast:
        if character.named:
            # `with_spoken_names` leaves the names of those alone who are called nothing.
            other_names = (character.called, *character.others)
            characters.append(replace(character, called="", others=other_names))
        else:
            nameless = {"she": "the woman", "he": "the man"}.get(character.pronoun, "somebody")
            characters.append(replace(character, called=character.called or nameless))
    return with_spoken_names(text, characters)


def hide_names_in_utterance(utterance: Utterance, presence: Presence) -> Utterance:
    """The utterance with descriptors for names that the film has not revealed yet."""
    if not any(character.hidden for character in presence.cast):
        return utterance
    text = in_usual_letters(utterance.text, presence.cast)
    return replace(utterance, text=hide_names(text, presence))


_ARTICLE = re.compile(
    r"\b(?:an?|the|(?:(?:an?|the|his|her|their) )?(?:young|younger|old|older|little|elderly)) \Z",
    re.IGNORECASE,
)
"""What may stand before a name, and not before a descriptor, which has an article of its own."""


def with_spoken_names(text: str, characters: Sequence[Character]) -> str:
    """``text`` with everybody called what they are to be called; who is called nothing is left as written.

    Names in full, aliases, titles with a name, and parts of a name that only one of the cast has become the
    name to speak; names that may not be said yet become the descriptor, if there is one. A name that would
    then stand twice side by side stands once. Text in quotation marks keeps names that may be said.

    >>> celia = Character("c", "Celia", "Celia Smith", ("Dr. Smith",))
    >>> with_spoken_names("Dr. Celia Smith's hand rests on a door marked 'Dr. Smith'.", [celia])
    "Celia's hand rests on a door marked 'Dr. Smith'."
    """
    names = {character.id: character.called for character in characters}
    pieces: list[str] = []
    done = 0  # the text before this place is in ``pieces``
    for mention in cast_mentions(text, characters):
        name = names[mention.id]
        if not name:
            continue
        start, end = mention.start, mention.end
        in_quotes = (
            start > 0 and text[start - 1] in _OPENING_QUOTES and text[end : end + 1] in _CLOSING_QUOTES
        )
        if mention.hidden and in_quotes:
            # Quotation marks around a hidden name alone go with it.
            start, end = start - 1, end + 1
        if name[0].islower():  # a descriptor
            article = _ARTICLE.search(text[:start]) if mention.hidden else None
            if article is not None:
                start = article.start()
            if SENTENCE_START.search(text[:start]) and not text[:start].rstrip().endswith(":"):
                name = name[0].upper() + name[1:]
        pieces += [text[done : max(start, done)], name]
        done = end
        # ``James' hat`` → ``Ann's hat``: the new name needs the s that the old one went without.
        if mention.text[-1:] in "sz" and name[-1:] not in "sz" and re.match(r"['’](?!\w)", text[done:]):
            pieces.append(f"{text[done]}s")
            done += 1
    pieces.append(text[done:])
    changed = "".join(pieces)
    for name in dict.fromkeys(filter(None, names.values())):
        changed = _without_repeated_name(changed, name)
    return changed


_OPENING_QUOTES, _CLOSING_QUOTES = frozenset("\"'“‘«„»"), frozenset("\"'”’»“«")


def _without_repeated_name(text: str, name: str) -> str:
    """``Celia (Celia)``, ``Celia, also known as Celia,`` and ``Celia, Celia,`` as ``Celia``."""
    name_pattern = rf"{re.escape(name)}(?:['’]s)?"
    known_as = r",? (?:also )?(?:known as|called|a\.?k\.?a\.?)"
    repetitions = (
        rf" ?[(\[]{name_pattern}[)\]]",
        rf" ?/ ?{name_pattern}(?!\w)",
        rf"(?:{known_as}|,) {name_pattern}(?:,|(?=[.!?;]|\Z))",
        rf" {name_pattern}(?!\w)",
    )
    repeated = re.compile(rf"(?<!\w)({name_pattern})(?:{'|'.join(repetitions)})", re.IGNORECASE)
    quoted_spans = quotations(text)

    def name_once(match: re.Match[str]) -> str:
        quoted = any(start <= match.start() < end for start, end in quoted_spans)
        return match[0] if quoted else match[1]

    return repeated.sub(name_once, text)


@dataclass(frozen=True, slots=True)
class CalledPerson:
    """What a person is called, and ``she``, ``he`` or ``they`` where that is known."""

    called: str
    pronoun: str
    named: bool
    """Whether the film has revealed the name."""


def called_people(description: str, presence: Presence, settings: PromptSettings) -> tuple[CalledPerson, ...]:
    """What Stage II is to call the people of the clip that ``description`` names."""
    if not settings.by_rules.stage2_names:
        return ()
    described_ids = {mention.id for mention in cast_mentions(description, presence.cast)}
    # A named person whom the description leaves out is left out here too: a small model gives any name in
    # the prompt to somebody.
    return tuple(
        CalledPerson(character.called, character.pronoun, character.named)
        for character in presence.seen
        if not character.named or character.id in described_ids
    )


@dataclass(frozen=True, slots=True)
class ShownPerson:
    """Somebody of the cast on the frames of a clip: what they are called, and the mark around them
    (empty: none). ``is_current``: in a shot of the slot itself."""

    id: str
    called: str
    mark: str
    is_current: bool

    def to_json(self) -> dict[str, Any]:
        """As it stands in ``stage1.jsonl``, and in keys."""
        return {"id": self.id, "called": self.called, "mark": self.mark, "current": self.is_current}

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> ShownPerson:
        """Raises KeyError for what `to_json` did not write."""
        called, mark = str(record["called"]), str(record["mark"])
        return ShownPerson(str(record["id"]), called, mark, bool(record["current"]))


@dataclass(frozen=True, slots=True)
class ShownPeople:
    """The people of a clip as an engine gets them; all empty where the clip shows nobody of the cast."""

    people: tuple[ShownPerson, ...] = ()
    marks: tuple[FrameMark, ...] = ()
    """The marks that are painted around them, in the same order; none where none are painted."""
    key_parts: tuple[Any, ...] = ()
    """All of them that can change the answer, as JSON, for the key of the clip."""


def shown_people(presence: Presence, abilities: Abilities, config: Config) -> ShownPeople:
    """The people of a clip as an engine gets them: by marks, or by their faces where no marks are painted."""
    paints_marks = abilities.wants_overlay and config.overlay.characters != "none"
    shown = presence_in_prompt(presence, config.prompt) if abilities.wants_overlay else presence
    people: list[ShownPerson] = []
    for character in shown.seen:
        mark = str(shown.marks[character.id]) if paints_marks else ""
        is_current = character.id in shown.current
        people.append(ShownPerson(character.id, character.called, mark, is_current))
    if not people:
        return ShownPeople()
    faces: list[list[Any]] = []
    # An engine that wants an overlay and gets no marks does not get the faces either.
    for sighting in shown.sightings if paints_marks or not abilities.wants_overlay else ():
        box = sighting.box
        face = [sighting.name, box.left, box.top, box.right, box.bottom, seconds(sighting.seconds)]
        if not paints_marks:
            face.append(sighting.score)
        faces.append(face)
    characters = [character_row(character) for character in shown.seen]
    key_parts: tuple[Any, ...] = ([person.to_json() for person in people], characters, faces)
    if not abilities.wants_overlay:  # it measures, and says who comes in
        key_parts = (*key_parts, list(shown.lately))
    marks = tuple(shown.marks[character.id] for character in shown.seen) if paints_marks else ()
    return ShownPeople(tuple(people), marks, key_parts)


def character_row(character: Character) -> list[Any]:
    """All that is known of a character, as JSON."""
    c = character
    return [c.id, c.called, c.full, list(c.others), list(c.hidden), c.pronoun, c.named]


def names_of(presence: Presence) -> tuple[str, ...]:
    """Every name of the cast that may be said, each once."""
    names: list[str] = []
    for character in presence.cast:
        if character.named:
            names += [character.called, character.full, *character.others]
    return tuple(dict.fromkeys(names))
