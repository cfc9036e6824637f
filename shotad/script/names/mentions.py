"""People in one line of AD: names of the cast, other names, nouns and pronouns. Pure logic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from shotad.core import HER_TITLES, HIS_TITLES, PARTICLES, STARTERS, WORD_NAMES
from shotad.script.names.givennames import GIVEN_NAMES, HER_NAMES, HIS_NAMES
from shotad.script.names.members import TITLES, Form, Keys, Member
from shotad.script.names.tokens import NameToken, acts
from shotad.script.names.words import (
    AUXILIARIES,
    GENERIC_NOUNS,
    HE,
    HER_NOUNS,
    HIS_NOUNS,
    NAME_DETERMINERS,
    NAME_FUNCTION_WORDS,
    PEOPLE_NOUNS,
    PLURAL_NOUNS,
    SHE,
    SHORTENED,
    THEY,
)

Kind = Literal["cast", "name", "noun", "group", "pronoun"]
_LONGEST = 6
_NO_NAMES = TITLES | STARTERS
_VERBAL = NAME_FUNCTION_WORDS | AUXILIARIES


@dataclass(frozen=True, slots=True)
class Mention:
    """Somebody in a line: ``tokens[start:end]``, articles and titles included.

    ``members`` are the places in the cast of those who may be meant (``cast``; more than one where a name is
    shared). ``key`` tells others apart: ``mike``, ``man``, or the pronoun. ``pronoun`` is ``he`` or ``she``
    where the words say so.
    """

    kind: Kind
    start: int
    end: int
    key: str
    pronoun: str = ""
    members: tuple[int, ...] = ()
    possessive: bool = False


@dataclass(frozen=True, slots=True)
class Book:
    """The names of a cast by their words. ``spoken``: words that stand in small letters somewhere in the
    film's lines; ``actors``: other words that stand there like somebody's name; ``inside``: words with a
    capital letter that begin no sentence."""

    forms: dict[Keys, tuple[tuple[int, Form], ...]]
    words: frozenset[str]
    spoken: frozenset[str] = frozenset()
    actors: frozenset[str] = frozenset()
    inside: frozenset[str] = frozenset()


def book_of(cast: Sequence[Member], lines: Sequence[Sequence[NameToken]]) -> Book:
    """The names of a cast, to be read in these lines."""
    forms: dict[Keys, list[tuple[int, Form]]] = {}
    for place, one in enumerate(cast):
        for form in one.forms:
            forms.setdefault(form.keys, []).append((place, form))
    words = frozenset(word for keys in forms for word in keys)
    spoken = frozenset(token.key for line in lines for token in line if not token.capital)
    actors = frozenset(
        token.key
        for line in lines
        for at, token in enumerate(line)
        if token.capital and not token.opens and (token.possessive or acts(line, at))
    )
    opening = Counter(line[0].key for line in lines if line and acts(line, 0))
    inside = frozenset(token.key for line in lines for token in line if token.capital and not token.opens)
    actors |= {
        word
        for word, times in opening.items()
        if word not in spoken and (word in inside or (times > 1 and word not in WORD_NAMES))
    }
    actors -= PEOPLE_NOUNS
    return Book({keys: tuple(found) for keys, found in forms.items()}, words, spoken, actors, inside)


def mentions(line: Sequence[NameToken], cast: Sequence[Member], book: Book) -> tuple[Mention, ...]:
    """Everybody in a line, in order; spans do not overlap."""
    found: list[Mention] = []
    at = 0
    while at < len(line):
        one = (
            _pronoun(line, at)
            or _named(line, at, cast, book, found)
            or _other(line, at, book)
            or _noun(line, at)
        )
        if one is not None:
            found.append(one)
        at = one.end if one is not None else at + 1
    return tuple(found)


def _pronoun(line: Sequence[NameToken], at: int) -> Mention | None:
    word = line[at].text.lower().replace("’", "'")
    word = SHORTENED.get(word, word)
    for pronoun, forms in (("he", HE), ("she", SHE), ("they", THEY)):
        if word in forms:
            return Mention("pronoun", at, at + 1, word, pronoun)
    return None


def _named(
    line: Sequence[NameToken], at: int, cast: Sequence[Member], book: Book, before: Sequence[Mention]
) -> Mention | None:
    """Somebody of the cast whose name begins here; the longest."""
    if line[at].key not in book.words and line[at].key not in TITLES:
        return None
    for end in range(min(len(line), at + _LONGEST), at, -1):
        if any(not _joins(line, i) for i in range(at + 1, end)):
            continue
        keys = tuple(token.key for token in line[at:end])
        owners = [
            (place, form)
            for place, form in _forms(keys, book)
            if _written(line, at, end, form, before, book) and _suits(keys, cast[place])
        ]
        if owners and not _another(line, at, end, book):
            whole = [place for place, form in owners if form.whole]
            chosen = tuple(dict.fromkeys(whole or [place for place, _ in owners]))
            start = at - (at > 0 and line[at - 1].key == "the")
            return Mention(
                "cast", start, end, " ".join(keys), _by_title(keys), chosen, line[end - 1].possessive
            )
    return None


def _forms(keys: Keys, book: Book) -> Iterator[tuple[int, Form]]:
    """The forms that are these words; titles before them may be others than in the cast."""
    yield from book.forms.get(keys, ())
    if keys not in book.forms and keys[0] in TITLES:
        core = keys[1:]
        while core and core[0] in TITLES:
            core = core[1:]
        yield from (owner for owner in book.forms.get(core, ()) if not owner[1].role)


def _joins(line: Sequence[NameToken], at: int) -> bool:
    """Whether a word may go on with the name before it: ``Anne-Marie``, ``Dr. Brown``, ``John H. Watson``."""
    return not line[at].opens and line[at].gap in (" ", "-", ". ") and not line[at - 1].possessive


def _written(
    line: Sequence[NameToken], at: int, end: int, form: Form, before: Sequence[Mention], book: Book
) -> bool:
    """Whether these words are written like this name."""
    words = line[at:end]
    named = all(token.capital or token.key in PARTICLES for token in words)
    if named and not words[0].opens:
        return True
    if named and (len(words) > 1 or _surely(line, at, form, book)):
        return True
    return form.role and form.common and _told(line, at, end, before)


def _surely(line: Sequence[NameToken], at: int, form: Form, book: Book) -> bool:
    """Whether a word that begins a sentence is a name and not a word that has its capital from there."""
    token = line[at]
    word = token.key in book.spoken or (token.key in WORD_NAMES and token.key not in book.inside)
    if not form.role and not word:
        return True
    after = line[at + 1] if at + 1 < len(line) else None
    if token.possessive or acts(line, at) or after is None or after.opens or "," in after.gap:
        return True
    return after.key == "and" and at + 2 < len(line) and line[at + 2].capital


def _told(line: Sequence[NameToken], at: int, end: int, before: Sequence[Mention]) -> bool:
    """Whether words in small letters mean somebody whom one knows: ``the judge``, ``the man and boy``."""
    if at == 0 or line[at].gap != " " or line[at].opens:
        return False
    joined = line[at - 1].key == "and" and bool(before) and before[-1].end == at - 1
    if not (line[at - 1].key == "the" or (joined and before[-1].kind == "cast")):
        return False
    after = line[end] if end < len(line) and line[end].gap == " " else None
    if after is None:
        return True
    if line[end - 1].key in GENERIC_NOUNS and after.key in ("in", "with", "who", "whose", "from"):
        return False
    return joined or not _compound(line, end)


def _compound(line: Sequence[NameToken], end: int) -> bool:
    """Whether the word before ``end`` only tells what kind of thing follows: ``the guard tower``."""
    if end >= len(line) or line[end].gap not in (" ", "-") or line[end].opens or line[end - 1].possessive:
        return False
    after = line[end]
    if after.gap == "-":
        return True
    verb = after.key in _VERBAL or after.key.endswith(("s", "ing", "ed", "ly"))
    return not verb and not after.capital


def _another(line: Sequence[NameToken], at: int, end: int, book: Book) -> bool:
    """Whether a word beside makes another name of it: ``Mary Smith`` where the cast has Celia Smith."""
    after = line[end] if end < len(line) else None
    if (
        after is not None
        and after.capital
        and not after.opens
        and after.gap in (" ", "-")
        and not line[end - 1].possessive
        and after.key not in book.words
        and after.key not in TITLES
    ):
        return True
    if at == 0 or line[at].opens or line[at].gap not in (" ", "-"):
        return False
    token = line[at - 1]
    if not token.capital or token.possessive or token.key in book.words or token.key in _NO_NAMES:
        return False
    return not token.opens or token.key in GIVEN_NAMES or token.key in book.actors


def _suits(keys: Keys, who: Member) -> bool:
    """Whether a title does not speak against somebody whose own title says she or he."""
    said = _by_title(keys)
    return not said or not who.pronoun or said == who.pronoun


def _by_title(keys: Keys) -> str:
    for word in keys[:-1]:
        if word in HIS_TITLES | HER_TITLES:
            return "he" if word in HIS_TITLES else "she"
    return ""


def _other(line: Sequence[NameToken], at: int, book: Book) -> Mention | None:
    """Somebody's name who is not in the cast."""
    token = line[at]
    if not token.capital or token.text[0].isdigit() or token.key in STARTERS or token.text == "I":
        return None
    end = at + 1
    while end < len(line) and line[end].capital and _joins(line, end) and line[end].key not in book.words:
        end += 1
    keys = tuple(token.key for token in line[at:end])
    core = [word for word in keys if word not in TITLES] or list(keys)
    word = core[0] in WORD_NAMES and token.opens and not (token.possessive or acts(line, end - 1))
    given = core[0] in GIVEN_NAMES and not word
    known = any(word in book.actors - book.words for word in core) and core[0] not in book.spoken
    if not (given or known or len(core) < len(keys)):
        return None
    pronoun = _by_title(keys) or ("he" if core[0] in HIS_NAMES else "she" if core[0] in HER_NAMES else "")
    return Mention("name", at, end, core[-1], pronoun, possessive=line[end - 1].possessive)


def _noun(line: Sequence[NameToken], at: int) -> Mention | None:
    """``a young man``, ``the others``, ``his wife``."""
    word = line[at].key
    if word not in PEOPLE_NOUNS or (line[at].capital and not line[at].opens):
        return None
    start = next(
        (
            i
            for i in range(at - 1, max(at - 5, -1), -1)
            if line[i].key in NAME_DETERMINERS or line[i].possessive or line[i + 1].gap != " "
        ),
        -1,
    )
    determined = start >= 0 and (line[start].key in NAME_DETERMINERS or line[start].possessive)
    start = (start + line[start].possessive) if determined else at
    if word in PLURAL_NOUNS:
        return Mention("group", start, at + 1, word, "they", possessive=line[at].text.endswith(("'", "’")))
    if _compound(line, at + 1) or not (determined or (line[at].opens and acts(line, at))):
        return None
    pronoun = "he" if word in HIS_NOUNS else "she" if word in HER_NOUNS else ""
    return Mention("noun", start, at + 1, word, pronoun, possessive=line[at].possessive)
