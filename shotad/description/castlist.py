"""The people of a clip as the prompts tell of them: by which name, and with which mark on the frames.

Whom Stage I is told of follows AutoAD-Zero, section 3.2, and the published code, which for TV-AD tells the
people of the current shots apart from the others of the clip. The words are ours and stand in ``prompts/``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shotad.core import Character, Description, OverlaySettings, Presence, PromptSettings, Utterance
from shotad.description.blocks import block, material, name_shots
from shotad.description.hints import Heard, in_usual_letters
from shotad.description.naming import spoken
from shotad.description.templates import render
from shotad.script import CastMention, cast_mentions

Marks = Literal["ellipses", "boxes", "none"]

MARKS: Marks = OverlaySettings().characters
"""How people are marked where nothing else is said."""

SHAPES: Mapping[Marks, str] = {"ellipses": "circle", "boxes": "box", "none": ""}
"""What a mark is called; an ellipse round a face is a circle to most."""

PLURALS: Mapping[str, str] = {"circle": "circles", "box": "boxes"}

STAGE1_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "stage1/character-list": ("names",),
    "stage1/character-current": ("shots", "names"),
    "stage1/character-others": ("shots", "names"),
    "stage1/character-apart": ("shots", "names", "others"),
    "stage1/character-rule": ("mark",),
    "stage1/character-rule-unmarked": (),
    "stage1/mark-dashed": ("mark",),
    "stage1/mark-double": ("mark",),
    "stage1/mark-tagged": ("mark",),
    "stage1/heard": ("names",),
    "stage1/heard-spoken": ("names",),
    "stage1/heard-speaker": ("names",),
}
"""Templates that tell Stage I of people, and the variables that each has."""

STAGE2_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "stage2/people": ("people",),
    "stage2/person": ("called", "pronoun"),
    "stage2/person-unnamed": ("called", "pronoun"),
}
"""The same for Stage II."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Whom Stage I is told of: those of the current shots, and those seen in the others of the clip only."""

    current: tuple[str, ...]
    others: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.current or self.others)


def told_of(presence: Presence, settings: PromptSettings) -> Presence:
    """``presence`` with those alone of whom Stage I is told: nobody else gets a mark on the frames."""
    if settings.characters != "current" or not presence.others:
        return presence
    kept = tuple(sighting for sighting in presence.sightings if sighting.name in presence.current)
    return replace(presence, others=(), sightings=kept)


def listed(presence: Presence, settings: PromptSettings, marks: Marks) -> Listed:
    """Each as ``Ann (red)``, or ``Ann`` where nothing is painted."""
    told = told_of(presence, settings)
    words = {c.id: name_with_mark(c, told, settings.names, marks) for c in told.seen}
    return Listed(tuple(words[i] for i in told.current), tuple(words[i] for i in told.others))


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
    who = listed(presence, settings, marks)
    if not who:
        return ()
    if settings.characters == "clip":
        first = render("stage1/character-list", names=material(enumerated((*who.current, *who.others))))
        return (first, *_legend(told_of(presence, settings), marks))
    rule = (
        render("stage1/character-rule-unmarked")
        if marks == "none"
        else render("stage1/character-rule", mark=SHAPES[marks])
    )
    return ("", _apart(who, name_shots(shots)), *_legend(told_of(presence, settings), marks), rule)


def _apart(who: Listed, shots: str) -> str:
    """Those of the current shots first, the others after; fit words where there are none of either."""
    names, others = (material(enumerated(names)) for names in (who.current, who.others))
    if names and others:
        return render("stage1/character-apart", shots=shots, names=names, others=others)
    kind = "current" if names else "others"
    return render(f"stage1/character-{kind}", shots=shots, names=names or others)


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
    if not settings.heard_names:
        return ""
    told = [(told, hint.how) for hint in heard if (told := _as_told(hint.name, presence, settings))]
    rows = []
    for how in ("spoken", "speaker"):
        names = tuple(dict.fromkeys(name for name, was in told if was == how))
        if names:
            rows.append(render(f"stage1/heard-{how}", names=material(enumerated(names))))
    return block(render("stage1/heard", names="\n".join(rows))) if rows else ""


def _as_told(name: str, presence: Presence, settings: PromptSettings) -> str:
    """A name that was heard, as it may be told; empty where the film has not revealed whose it is."""
    found = whose(name, presence)
    if any(mention.hidden for mention in found):
        return ""
    by_id = {character.id: character for character in presence.cast}
    if not found:
        return name
    who = by_id[found[0].id]
    return who.full if settings.names == "full" else who.called


def whose(name: str, presence: Presence) -> tuple[CastMention, ...]:
    """Whose of the cast a name is that stands by itself. It is sure to be one: ``Rose`` at a sentence's
    beginning need not be."""
    return cast_mentions(f"with {name}", presence.cast)


def as_called(description: Description, presence: Presence, settings: PromptSettings) -> Description:
    """The description with everybody called what AD calls them; names that are not told yet are gone.

    Without ``settings.stage2_names`` names that may be said stay as Stage I wrote them.
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
    ``settings.stage2_names``."""
    if not settings.stage2_names:
        return text
    return spoken(text, [c if c.named else replace(c, called="") for c in presence.cast])


def without_untold(text: str, presence: Presence) -> str:
    """A text with descriptors for names that the film has not told yet, or ``the woman``, ``somebody``."""
    return spoken(text, [_untold(c) for c in presence.cast])


def told_only(said: Utterance, presence: Presence) -> Utterance:
    """What is said in the film, with descriptors for names that it has not told yet."""
    if not any(character.hidden for character in presence.cast):
        return said
    return replace(said, text=without_untold(in_usual_letters(said.text, presence.cast), presence))


def _untold(character: Character) -> Character:
    """What is not called anything is left as it stands."""
    if character.named:
        return replace(character, called="", others=(character.called, *character.others))
    return replace(character, called=character.called or _NAMELESS.get(character.pronoun, "somebody"))


_NAMELESS: Mapping[str, str] = {"she": "the woman", "he": "the man"}


def called_block(description: str, presence: Presence, settings: PromptSettings) -> str:
    """What Stage II is to call the people of the clip whom ``description`` names, as a block, or nothing.

    Who is on the frames but not in the description is not told of: a name that stands in the prompt is a
    name that a small model gives to somebody.
    """
    if not settings.stage2_names:
        return ""
    named = {mention.id for mention in cast_mentions(description, presence.cast)}
    rows = [_person(c) for c in presence.seen if not c.named or c.id in named]
    return block(render("stage2/people", people=material("\n".join(rows)))) if rows else ""


def _person(character: Character) -> str:
    pronoun = f" ({character.pronoun})" if character.pronoun else ""
    kind = "person" if character.named else "person-unnamed"
    return render(f"stage2/{kind}", called=character.called, pronoun=pronoun)
