"""People in one line of AD: names of the cast, other names, nouns and pronouns. Pure logic.

Published AD texts were written down by speech recognition: the cast's Ronny is Ronnie there, Margot Margo. So
names that are spelt otherwise than in the cast list, by ear or shortened, are found as well (`respelt`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, takewhile
from typing import Literal

from shotad.core.cast import (
    HER_TITLES,
    HIS_TITLES,
    PARTICLES,
    SENTENCE_STARTERS,
    WORD_NAMES,
)
from shotad.script.cast_members import (
    GENERIC_NOUNS,
    GIVEN_NAMES,
    HE,
    HER_NAMES,
    HER_NOUNS,
    HIS_NAMES,
    HIS_NOUNS,
    IS_OR_DOES,
    NAME_FUNCTION_WORDS,
    PEOPLE_NOUNS,
    PLURAL_NOUNS,
    SHE,
    SHORTENED,
    THEY,
    TITLES,
    WORD,
    Form,
    Keys,
    Member,
    key,
)
from shotad.script.english_words import DETERMINERS
from shotad.script.rules import without_quotations

Kind = Literal["cast", "name", "noun", "group", "pronoun"]
_LONGEST = 6
_NO_NAMES = TITLES | SENTENCE_STARTERS
_VERBAL = NAME_FUNCTION_WORDS | IS_OR_DOES


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
class NameIndex:
    """The names of a cast by their words. ``spoken``: words that stand in small letters somewhere in the
    film's lines; ``actors``: other words that stand there like somebody's name; ``inside``: words with a
    capital letter that begin no sentence."""

    forms: dict[Keys, tuple[tuple[int, Form], ...]]
    words: frozenset[str]
    spoken: frozenset[str] = frozenset()
    actors: frozenset[str] = frozenset()
    inside: frozenset[str] = frozenset()


def index_names(cast: Sequence[Member], lines: Sequence[Sequence[NameToken]]) -> NameIndex:
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
        if token.capital and not token.opens and (token.possessive or is_followed_by_verb(line, at))
    )
    opening = Counter(line[0].key for line in lines if line and is_followed_by_verb(line, 0))
    inside = frozenset(token.key for line in lines for token in line if token.capital and not token.opens)
    actors |= {
        word
        for word, times in opening.items()
        if word not in spoken and (word in inside or (times > 1 and word not in WORD_NAMES))
    }
    actors -= PEOPLE_NOUNS
    return NameIndex({keys: tuple(found) for keys, found in forms.items()}, words, spoken, actors, inside)


def find_mentions(line: Sequence[NameToken], cast: Sequence[Member], index: NameIndex) -> tuple[Mention, ...]:
    """Everybody in a line, in order; spans do not overlap."""
    pronouns = {"he": HE, "she": SHE, "they": THEY}
    found: list[Mention] = []
    at = 0
    while at < len(line):
        word = line[at].text.lower().replace("’", "'")
        word = SHORTENED.get(word, word)
        pronoun = next((one for one, forms in pronouns.items() if word in forms), "")
        one = Mention("pronoun", at, at + 1, word, pronoun) if pronoun else None
        one = one or _named(line, at, cast, index, found) or _other(line, at, index) or _noun(line, at)
        if one is not None:
            found.append(one)
        at = one.end if one is not None else at + 1
    return tuple(found)


def _named(
    line: Sequence[NameToken], at: int, cast: Sequence[Member], index: NameIndex, before: Sequence[Mention]
) -> Mention | None:
    """Somebody of the cast whose name begins here; the longest."""
    if line[at].key not in index.words and line[at].key not in TITLES:
        return None
    before_it = line[at - 1].key if at and joins(line, at) else ""
    for end in range(min(len(line), at + _LONGEST), at, -1):
        if any(not joins(line, i) for i in range(at + 1, end)):
            continue
        keys = tuple(token.key for token in line[at:end])
        forms = index.forms.get(keys, ())
        if keys not in index.forms and keys[0] in TITLES:  # its titles may be others than in the cast
            core = tuple(dropwhile(TITLES.__contains__, keys))
            forms = tuple(owner for owner in index.forms.get(core, ()) if not owner[1].role)
        # A title does not speak against somebody whose own title says she or he.
        said = _by_title((before_it, *keys))
        owners = [
            (place, form)
            for place, form in forms
            if _written(line, at, end, form, before, index)
            and ((form.keys == keys and keys[0] in TITLES) or not said or cast[place].pronoun in ("", said))
        ]
        secret = any(form.secret for _, form in owners)
        tells = secret and (end - at > 1 or (len(keys[0]) > 2 and keys[0] not in WORD_NAMES | _NO_NAMES))
        alone = (tells or not _follows(line, at, index)) and (secret or not goes_on(line, end, index))
        if owners and alone:
            whole = [place for place, form in owners if form.whole]
            chosen = tuple(dict.fromkeys(whole or [place for place, _ in owners]))
            start = at - (at > 0 and line[at - 1].key == "the")
            return Mention(
                "cast", start, end, " ".join(keys), _by_title(keys), chosen, line[end - 1].possessive
            )
    return None


def joins(line: Sequence[NameToken], at: int) -> bool:
    """Whether a word may go on with the name before it: ``Anne-Marie``, ``Dr. Brown``, ``John H. Watson``."""
    return not line[at].opens and line[at].gap in (" ", "-", ". ") and not line[at - 1].possessive


def _written(
    line: Sequence[NameToken], at: int, end: int, form: Form, before: Sequence[Mention], index: NameIndex
) -> bool:
    """Whether these words are written like this name."""
    token = line[at]
    if all(word.capital or word.key in PARTICLES for word in line[at:end]):
        if not token.opens or end - at > 1:
            return True
        # It begins a sentence: a name, or a word that has its capital letter from there.
        word = token.key in index.spoken or (token.key in WORD_NAMES and token.key not in index.inside)
        if form.sure or (not form.role and not word):
            return True
        after = line[at + 1] if at + 1 < len(line) else None
        if (
            token.possessive
            or is_followed_by_verb(line, at)
            or after is None
            or after.opens
            or "," in after.gap
        ):
            return True
        if after.key == "and" and at + 2 < len(line) and line[at + 2].capital:
            return True
    return form.role and form.common and _told(line, at, end, before)


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


def goes_on(line: Sequence[NameToken], end: int, index: NameIndex) -> bool:
    """Whether the word behind makes another name of it: ``Smith Street``."""
    after = line[end] if end < len(line) else None
    return (
        after is not None
        and after.capital
        and not after.opens
        and after.gap in (" ", "-")
        and not line[end - 1].possessive
        and (after.gap == "-" or after.key not in index.words | TITLES)
    )


def _follows(line: Sequence[NameToken], at: int, index: NameIndex) -> bool:
    """Whether the word before makes another name of it: ``Mary Smith`` where the cast has Celia Smith."""
    if at == 0 or line[at].opens or line[at].gap not in (" ", "-"):
        return False
    token = line[at - 1]
    if not token.capital or token.possessive or token.key in _NO_NAMES:
        return False
    if token.key in index.words:
        return line[at].gap == "-"
    return not token.opens or token.key in GIVEN_NAMES or token.key in index.actors


def _by_title(keys: Keys) -> str:
    for word in keys[:-1]:
        if word in HIS_TITLES | HER_TITLES:
            return "he" if word in HIS_TITLES else "she"
    return ""


_MOST_WORDS_OF_NAME = 12
"""Of somebody who is not in the cast, titles included."""


def _other(line: Sequence[NameToken], at: int, index: NameIndex) -> Mention | None:
    """Somebody's name who is not in the cast."""
    token = line[at]
    if not token.capital or token.text[0].isdigit() or token.key in SENTENCE_STARTERS or token.text == "I":
        return None
    end = at + 1
    # In a line in capitals every word would be read as often as there are words before it.
    limit = min(len(line), at + _MOST_WORDS_OF_NAME)
    while end < limit and line[end].capital and joins(line, end) and line[end].key not in index.words:
        end += 1
    keys = tuple(token.key for token in line[at:end])
    core = [word for word in keys if word not in TITLES] or list(keys)
    word = (
        core[0] in WORD_NAMES and token.opens and not (token.possessive or is_followed_by_verb(line, end - 1))
    )
    given = core[0] in GIVEN_NAMES and not word
    known = any(word in index.actors - index.words for word in core) and core[0] not in index.spoken
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
            if line[i].key in DETERMINERS or line[i].possessive or line[i + 1].gap != " "
        ),
        -1,
    )
    determined = start >= 0 and (line[start].key in DETERMINERS or line[start].possessive)
    start = (start + line[start].possessive) if determined else at
    if word in PLURAL_NOUNS:
        return Mention("group", start, at + 1, word, "they", possessive=line[at].text.endswith(("'", "’")))
    if _compound(line, at + 1) or not (determined or (line[at].opens and is_followed_by_verb(line, at))):
        return None
    pronoun = "he" if word in HIS_NOUNS else "she" if word in HER_NOUNS else ""
    return Mention("noun", start, at + 1, word, pronoun, possessive=line[at].possessive)


_SHORT = {
    "andrew": "drew", "anthony": "tony", "antonio": "tony", "catherine": "kate kathy katie cathy",
    "charles": "chuck", "edward": "ted teddy ned", "eugene": "gene",
    "elizabeth": "liz lizzie beth betty betsy bess", "francis": "frank", "harold": "harry hal",
    "henry": "harry hank", "james": "jim jimmy jamie", "jonathan": "jon", "joseph": "joe joey",
    "katherine": "kate kathy katie kitty", "laurence": "larry", "lawrence": "larry", "leonard": "lenny",
    "margaret": "meg maggie peggy marge", "mary": "molly", "michael": "mike mick mickey", "mohamed": "mo",
    "nicholas": "nick nicky", "patricia": "trish patsy", "richard": "dick rick ricky",
    "robert": "bob bobby rob robbie", "sarah": "sally", "theodore": "ted teddy", "thomas": "tom tommy",
    "victoria": "vicky", "william": "bill billy will willy",
}  # fmt: skip
"""Short names that are not the beginning of the long one."""
_SOUNDS = (
    (r"(?<=[aeiouy])t$(?<=ot)", ""), (r"ph|v", "f"), (r"chr", "kr"), (r"^(?:kn|gn)", "n"), (r"^wr", "r"),
    (r"sch|sh", "S"), (r"ch", "C"), (r"th", "t"), (r"ck|q", "k"), (r"c(?=[eiy])", "s"), (r"c", "k"),
    (r"x", "ks"), (r"z", "s"), (r"h", ""), (r"(?:ie|ey|ee|ea|y|ii)$", "i"), (r"au|aw|ow|oa|ou", "o"),
    (r"ee|ea|ie|y", "i"), (r"oo|eu|ew", "u"), (r"ai|ay|ei|ey|ae", "e"), (r"(?<=[^aeiou])e$", ""),
    (r"(.)\1+", r"\1"),
)  # fmt: skip
_LONG = 5
"""Letters from which on a name may differ in one sound."""


def sound(word: str) -> str:
    """About how a word sounds, in letters.

    >>> sound("laurie") == sound("lori"), sound("margot") == sound("margo"), sound("mary") == sound("marty")
    (True, True, False)
    """
    for pattern, letters in _SOUNDS:
        word = re.sub(pattern, letters, word)
    return word


def alike(word: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that ``word`` may be a misspelling or short form of, the best kind only."""
    others = HER_NAMES if word in HIS_NAMES else HIS_NAMES if word in HER_NAMES else ()
    known = [name for name in dict.fromkeys(names) if len(name) > 2 and name not in others]
    if len(word) < 3:
        return ()
    by_ear = tuple(name for name in known if sound(name) == sound(word))
    if by_ear:
        return by_ear
    if word in GIVEN_NAMES:
        return tuple(name for name in known if shortens(word, name))
    return tuple(name for name in known if len(word) >= _LONG and _one_off(sound(word), sound(name)))


def shortens(short: str, name: str) -> bool:
    """Whether one given name is short for another: ``manny`` for ``manfred``, ``bob`` for ``robert``."""
    if short in _SHORT.get(name, "").split():
        return True
    doubled = re.sub(r"(.)\1(?:ie|y|i)$", r"\1", short)
    stem = doubled if doubled != short else re.sub(r"(?<=....)(?:ie|y|i)$", "", short)
    return len(stem) > 2 and len(name) > len(stem) + 1 and name.startswith(stem) and name in GIVEN_NAMES


def _one_off(one: str, other: str) -> bool:
    """Whether two differ in one letter at most, and not in the first."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    a, b = one[same:], other[same:]
    short = max(len(one), len(other)) < _LONG or not same
    return not short and (a[1:] == b[1:] or a[1:] == b or a == b[1:])


_NEVER = TITLES | SENTENCE_STARTERS | PEOPLE_NOUNS
"""Words in capital letters that are nobody's name."""


@dataclass(frozen=True, slots=True)
class NameToken:
    """A word. ``gap`` is what stands between it and the word before; ``opens`` says that it begins a
    sentence; ``at`` is where it begins in the line, in characters."""

    text: str
    key: str
    gap: str
    opens: bool
    at: int = 0

    @property
    def end(self) -> int:
        """Where it ends in the line, a possessive s left out."""
        return self.at + len(re.sub(r"['’]s?$", "", self.text, flags=re.IGNORECASE))

    @property
    def capital(self) -> bool:
        """Whether it is written like a name."""
        return self.text[0].isupper() or self.text[0].isdigit()

    @property
    def possessive(self) -> bool:
        """Whether it ends like somebody's."""
        return self.text.endswith(("'s", "’s", "s'", "s’"))


def tokens_of(text: str) -> tuple[NameToken, ...]:
    """The words of a line, without what stands in quotation marks."""
    found: list[NameToken] = []
    bare = without_quotations(text)
    end = 0
    for match in WORD.finditer(bare):
        gap = bare[end : match.start()]
        stop = re.search(r"[.!?…]", gap) is not None
        abbreviated = bool(found) and gap == ". " and (found[-1].key in TITLES or len(found[-1].text) == 1)
        found.append(
            NameToken(match[0], key(match[0]), gap, not found or (stop and not abbreviated), match.start())
        )
        end = match.end()
    return tuple(token for token in found if token.key)


_MOST_ADVERBS = 4


def _is_broken(token: NameToken) -> bool:
    """Whether a word does not go on with the one before it."""
    return token.opens or token.capital or re.search(r"[,;:()]", token.gap) is not None


def is_followed_by_verb(line: Sequence[NameToken], at: int) -> bool:
    """Whether a verb of one person follows a word: ``Rose steps back``, and not ``Rose petals fall``."""
    # Adverbs between them, ``Rose slowly steps back``; nobody writes more than a few.
    for _ in range(_MOST_ADVERBS):
        after = line[at + 1] if at + 1 < len(line) else None
        if after is None or at + 2 >= len(line) or _is_broken(after) or not after.key.endswith("ly"):
            break
        at += 1
    after = line[at + 1] if at + 1 < len(line) else None
    if after is None or _is_broken(after):
        return False
    if after.key in IS_OR_DOES:
        return True
    if not after.key.endswith("s") or after.key.endswith("ss") or after.possessive:
        return False
    then = line[at + 2] if at + 2 < len(line) else None
    return (
        then is None
        or then.gap != " "
        or then.opens
        or then.capital
        or then.key in NAME_FUNCTION_WORDS
        or then.key.endswith(("ly", "ing"))
    )


def respelt(cast: Sequence[Member], lines: Sequence[tuple[NameToken, ...]]) -> list[tuple[NameToken, ...]]:
    """The lines with names as the cast has them, where they are spelt otherwise (see `alike`).

    Not for a word that somewhere stands beside the name that it is like: these are two people.
    """
    own = {word for one in cast for form in one.forms for word in form.keys}
    parts = [form.keys[0] for one in cast for form in one.forms if len(form.keys) == 1 and not form.role]
    lower = {token.key for line in lines for token in line if not token.capital}
    found: dict[str, str] = {}
    # In capitals within a sentence, or where somebody acts or owns at its start.
    nameable = {
        token.key
        for line in lines
        for at, token in enumerate(line)
        if token.capital
        and (not token.opens or token.possessive or is_followed_by_verb(line, at) or token.key in GIVEN_NAMES)
    }
    for word in sorted(nameable - own - lower - _NEVER):
        near = alike(word, parts)
        if len(near) == 1 and not any({word, near[0]} <= {token.key for token in line} for line in lines):
            found[word] = near[0]
    return [
        tuple(replace(t, key=found[t.key]) if t.capital and t.key in found else t for t in line)
        for line in lines
    ]
