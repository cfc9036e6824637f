"""Names in what the models write: said as the cast wants them, and only those that the film has told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from shotad.core import Character, Presence, is_english
from shotad.description.checks import Complaint
from shotad.description.hints import Heard
from shotad.script import (
    SENTENCE_START,
    CastMention,
    cast_mentions,
    key_of,
    keys_of,
    people_named,
    quotations,
    words_of,
)

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
        first, last = _with_marks(text, mention)
        start, name = _fitted(text[:first], mention, called[mention.id])
        pieces += [text[at : max(start, at)], name]
        at = last
        if mention.text[-1:] in "sz" and name[-1:] not in "sz" and re.match(r"['’](?!\w)", text[at:]):
            pieces.append(f"{text[at]}s")
            at += 1
    changed = "".join([*pieces, text[at:]])
    for name in dict.fromkeys(filter(None, called.values())):
        changed = _once(changed, name)
    return changed


def _with_marks(text: str, mention: CastMention) -> tuple[int, int]:
    """The span of a name; of one that may not be said with the quotation marks that hold it alone."""
    start, end = mention.start, mention.end
    alone = mention.hidden and text[start - 1 : start] in _OPENS and text[end : end + 1] in _CLOSES
    return (start - 1, end + 1) if alone and start and end < len(text) else (start, end)


_OPENS, _CLOSES = frozenset("\"'“‘«„»"), frozenset("\"'”’»“«")


def _fitted(before: str, mention: CastMention, called: str) -> tuple[int, str]:
    """Where what is replaced begins, and what takes its place after ``before``."""
    start = len(before)
    if not called[0].islower():
        return start, called
    article = _ARTICLE.search(before) if mention.hidden else None
    if article is not None:
        start = article.start()
    if SENTENCE_START.search(before[:start]) and not before[:start].rstrip().endswith(":"):
        called = called[0].upper() + called[1:]
    return start, called


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


def name_complaints(
    line: str,
    description: str,
    presence: Presence,
    heard: Sequence[Heard] = (),
    *,
    told: str = "",
    language: str = "en",
) -> tuple[Complaint, ...]:
    """What to ask a model to do better about the names in a line; nothing where no cast is given.

    ``description`` is what the line was written from, ``told`` what else the model was told of the film (the
    user's note, lines before). Complained about are names that the film has not told yet, people of the
    cast whom the description does not name, names of people that stand nowhere (in English lines: in others a
    capital letter makes no name), and other names than the one to use.
    """
    if not presence.cast:
        return ()
    found = cast_mentions(line, presence.cast)
    by_id = {character.id: character for character in presence.cast}
    english = is_english(language)
    return (
        *_too_early(found, by_id),
        *_not_described(found, by_id, description),
        *(_from_nowhere(line, presence.cast, f"{description}\n{told}", heard) if english else ()),
        *_other_names(found, by_id),
    )


def names_untold(description: str, told: str, presence: Presence) -> tuple[str, ...]:
    """Names of people in a description that was asked for with ``told``, in which they do not stand: whoever
    wrote it has them from elsewhere, or made them up. Names that may not be said are left out: they go in any
    case. Nothing where no cast is given. English."""
    if not presence.cast:
        return ()
    known = {key_of(word) for word in re.findall(r"[\w'’.-]+", told)}
    of_cast = cast_mentions(description, presence.cast)
    spans = [(m.start, m.end) for m in of_cast if not m.hidden]
    spans += (span for span in people_named(description) if not any(_meets(span, m) for m in of_cast))
    names = (description[start:end] for start, end in sorted(spans))
    return tuple(dict.fromkeys(name for name in names if not set(keys_of(name)) & known))


def _meets(span: tuple[int, int], mention: CastMention) -> bool:
    return span[0] < mention.end and mention.start < span[1]


_ByID = dict[str, Character]


def _too_early(found: Sequence[CastMention], by_id: _ByID) -> Iterator[Complaint]:
    for name, character in _each(found, by_id, hidden=True).items():
        yield Complaint("L7", f'"{name}" may not be named yet. Write {_instead(character)} instead.')


def _not_described(found: Sequence[CastMention], by_id: _ByID, description: str) -> Iterator[Complaint]:
    described = {mention.id for mention in cast_mentions(description, tuple(by_id.values()))}
    small = {word for word in re.findall(r"[^\W\d_]+", description) if word.islower()}
    for name, character in _each(found, by_id, hidden=False).items():
        if character.id not in described and name.lower() not in small:
            pronoun = f'"{character.pronoun}"' if character.pronoun else '"he", "she" or "they"'
            text = f'The description does not say that "{name}" is there. Write {pronoun} instead.'
            yield Complaint("L7", text)


def _from_nowhere(
    line: str, cast: Sequence[Character], told: str, heard: Sequence[Heard]
) -> Iterator[Complaint]:
    known = words_of(cast) | {
        key_of(word) for text in (told, *(h.name for h in heard)) for word in text.split()
    }
    names = [character.called for character in cast if character.named]
    for start, end in people_named(line, known.__contains__):
        near = get_close_matches(line[start:end], names, 1, _MISSPELT)
        remedy = f'If "{near[0]}" is meant, write that; else' if near else "Name only people whom it names;"
        yield Complaint(
            "L7",
            f'"{line[start:end]}" is not in the description. {remedy} write "he", "she" or "they".',
        )


_MISSPELT = 0.75


def _other_names(found: Sequence[CastMention], by_id: _ByID) -> Iterator[Complaint]:
    for name, character in _each(found, by_id, hidden=False).items():
        if key_of(name) != key_of(character.called):
            yield Complaint("L8", f'Write "{character.called}" instead of "{name}".')


def _each(found: Sequence[CastMention], by_id: _ByID, *, hidden: bool) -> dict[str, Character]:
    """What stands in the line, each name once, with whose it is."""
    return {mention.text: by_id[mention.id] for mention in found if mention.hidden is hidden}


def _instead(character: Character) -> str:
    """``"the woman in red" or "she"``, as far as it is known."""
    choice = [f'"{words}"' for words in (character.called, character.pronoun) if words]
    return " or ".join(choice) or '"he", "she" or "they"'
