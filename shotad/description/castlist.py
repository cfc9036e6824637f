"""The people of a clip as prompts name them and an engine sees them: by name, and by mark on the frames.

Whom Stage I is told of follows AutoAD-Zero, section 3.2, and the published code, which for TV-AD tells the
people of the current shots apart from the others of the clip. The words are ours and stand in ``prompts/``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from shotad.core import (
    Abilities,
    Character,
    Config,
    Description,
    Mark,
    Presence,
    PromptSettings,
    Utterance,
    seconds,
)
from shotad.description.slotplan import Heard, in_usual_letters
from shotad.description.templates import block, material, name_shots, render
from shotad.script import SENTENCE_START, CastMention, cast_mentions, quotations

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


def enumerated(names: Iterable[str]) -> str:
    """Names in a row. With semicolons where one has a comma, which a mark in brackets may have.

    >>> enumerated(["Ann (red)", "Bo (red, tagged 2)"]), enumerated(["Ann", "the man in hat, scarf and coat"])
    ('Ann (red), Bo (red, tagged 2)', 'Ann; the man in hat, scarf and coat')
    """
    every = list(names)
    bare = [re.sub(r"\([^()]*\)", "", name) for name in every]
    return ("; " if any("," in name for name in bare) else ", ").join(every)


def people_told(
    presence: Presence, settings: PromptSettings, marks: Marks, shots: Sequence[int]
) -> tuple[str, ...]:
    """What Stage I is told of people in its first step, in pieces without full stops; () where of nobody.

    ``shots`` are the painted numbers of the current shots. The first piece continues the step's sentence
    where ``settings.characters`` is ``clip``, as in the published prompt; all others are sentences.
    """
    told = told_of(presence, settings)
    if not told.seen:
        return ()
    words = {c.id: name_with_mark(c, told, settings.by_rules.names, marks) for c in told.seen}
    current, others = (material(enumerated(words[i] for i in ids)) for ids in (told.current, told.others))
    if settings.characters == "clip":
        names = material(enumerated(words[i] for i in (*told.current, *told.others)))
        return (render("stage1/character-list", names=names), *_legend(told, marks))
    rule = (
        render("stage1/character-rule-unmarked")
        if marks == "none"
        else render("stage1/character-rule", mark=SHAPES[marks])
    )
    # Those of the current shots first, the others after; fit words where there are none of either
    if current and others:
        apart = render("stage1/character-apart", shots=name_shots(shots), names=current, others=others)
    else:
        kind = "current" if current else "others"
        apart = render(f"stage1/character-{kind}", shots=name_shots(shots), names=current or others)
    return ("", apart, *_legend(told, marks), rule)


def _legend(presence: Presence, marks: Marks) -> tuple[str, ...]:
    """A sentence for each kind of mark that needs one; colours alone need none."""
    if marks == "none":
        return ()
    found = [presence.marks[character.id] for character in presence.seen]
    wanted = {
        "dashed": any(mark.style == "dashed" for mark in found),
        "double": any(mark.style == "double" for mark in found),
        "tagged": any(mark.tag for mark in found),
    }
    kinds = (kind for kind, is_there in wanted.items() if is_there)
    return tuple(render(f"stage1/mark-{kind}", mark=SHAPES[marks]) for kind in kinds)


def heard_block(heard: Sequence[Heard], presence: Presence, settings: PromptSettings) -> str:
    """The names that the dialogue holds near the clip, as a block of their own, or nothing.

    Names of the cast stand as Stage I is told them; those that may not be said yet are left out.
    """
    if not settings.by_rules.heard_names:
        return ""
    told: list[tuple[str, str]] = []
    rows = []
    by_id = {character.id: character for character in presence.cast}
    for hint in heard:
        found = whose(hint.name, presence)
        if not found:
            told.append((hint.name, hint.how))
        elif not any(mention.hidden for mention in found):
            who = by_id[found[0].id]
            told.append((who.full if settings.by_rules.names == "full" else who.called, hint.how))
    for how in ("spoken", "speaker"):
        names = tuple(dict.fromkeys(name for name, was in told if name and was == how))
        if names:
            rows.append(render(f"stage1/heard-{how}", names=material(enumerated(names))))
    return block(render("stage1/heard", names="\n".join(rows))) if rows else ""


def whose(name: str, presence: Presence) -> tuple[CastMention, ...]:
    """Whose of the cast a name is that stands by itself. It is sure to be one: ``Rose`` at a sentence's
    beginning need not be."""
    return cast_mentions(f"with {name}", presence.cast)


def as_called(description: Description, presence: Presence, settings: PromptSettings) -> Description:
    """The description with everybody called what AD calls them; names that are not told yet are gone.

    Without ``settings.by_rules.stage2_names`` names that may be said stay as Stage I wrote them.
    """
    if not presence.cast:
        return description
    steps = {
        heading: without_untold(as_spoken(text, presence, settings), presence)
        for heading, text in description.steps.items()
    }
    return replace(description, steps=steps)


def as_spoken(text: str, presence: Presence, settings: PromptSettings) -> str:
    """A text with the names that may be said as they are to be spoken; as it is without
    ``settings.by_rules.stage2_names``."""
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
    name to speak; names that may not be said yet become the descriptor, with a capital letter where a
    sentence begins, or stay where there is none. A name that would then stand twice side by side
    (``Celia (Celia)``) stands once. Text in quotation marks stays, but for names that may not be said.

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


def called_block(description: str, presence: Presence, settings: PromptSettings) -> str:
    """What Stage II is to call the people of the clip that ``description`` names, as a block, or nothing.

    Who is on the frames but not in the description is not told of: a name that stands in the prompt is a
    name that a small model gives to somebody.
    """
    if not settings.by_rules.stage2_names:
        return ""
    named = {mention.id for mention in cast_mentions(description, presence.cast)}
    rows = []
    for c in presence.seen:
        if not c.named or c.id in named:
            pronoun = f" ({c.pronoun})" if c.pronoun else ""
            kind = "person" if c.named else "person-unnamed"
            rows.append(render(f"stage2/{kind}", called=c.called, pronoun=pronoun))
    return block(render("stage2/people", people=material("\n".join(rows)))) if rows else ""


def shown_people(
    presence: Presence, abilities: Abilities, config: Config
) -> tuple[tuple[dict[str, Any], ...], tuple[Any, ...], tuple[Mark, ...]]:
    """The people of a clip as an engine with these abilities gets them: by marks, or by the faces where it
    measures.

    Rows for the record; all that can change the answer besides the prompt, for its key; the marks that are
    painted. All is empty where nobody is recognised.
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
    known = (rows, [character_row(c) for c in told.seen], faces)
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
