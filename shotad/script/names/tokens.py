"""The words of a line of AD, and names in them that are spelt otherwise than in the cast list. Pure logic.

Names that are spelt otherwise than in the cast list: by ear, or shortened. Pure logic.

Published AD texts were written down by speech recognition: the cast's Ronny is Ronnie there, Margot Margo.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from shotad.core import STARTERS
from shotad.script.nameruns import plain
from shotad.script.names.givennames import GIVEN_NAMES, HER_NAMES, HIS_NAMES
from shotad.script.names.members import TITLES, WORD, Member, key
from shotad.script.names.words import AUXILIARIES, NAME_FUNCTION_WORDS, PEOPLE_NOUNS

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
    known = [name for name in dict.fromkeys(names) if len(name) > 2 and not _other_gender(word, name)]
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


def _other_gender(word: str, name: str) -> bool:
    return (word in HIS_NAMES and name in HER_NAMES) or (word in HER_NAMES and name in HIS_NAMES)


def _one_off(one: str, other: str) -> bool:
    """Whether two differ in one letter, and not in the first."""
    if abs(len(one) - len(other)) > 1 or max(len(one), len(other)) < _LONG or one[0] != other[0]:
        return False
    return _distance(one, other) <= 1


def _distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Levenshtein's."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (a != b))
    return row[-1]


_NEVER = TITLES | STARTERS | PEOPLE_NOUNS
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
    bare = plain(text)
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


def acts(line: Sequence[NameToken], at: int) -> bool:
    """Whether a verb of one person follows a word: ``Rose steps back``, and not ``Rose petals fall``."""
    after = line[at + 1] if at + 1 < len(line) else None
    if after is None or after.opens or after.capital or re.search(r"[,;:()]", after.gap):
        return False
    if after.key in AUXILIARIES:
        return True
    if after.key.endswith("ly") and at + 2 < len(line):
        return acts(line, at + 1)
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


def respelt(
    cast: Sequence[Member], lines: Sequence[tuple[NameToken, ...]]
) -> tuple[list[tuple[NameToken, ...]], dict[str, str]]:
    """The lines with names as the cast has them, where they are spelt otherwise (see `soundalike`), and which
    words were taken for which.

    Not for a word that somewhere stands beside the name that it is like: these are two people.
    """
    own = {word for one in cast for form in one.forms for word in form.keys}
    parts = [form.keys[0] for one in cast for form in one.forms if len(form.keys) == 1 and not form.role]
    lower = {token.key for line in lines for token in line if not token.capital}
    found: dict[str, str] = {}
    for word in sorted({word for line in lines for word in _nameable(line)} - own - lower - _NEVER):
        near = alike(word, parts)
        if len(near) == 1 and not any({word, near[0]} <= {token.key for token in line} for line in lines):
            found[word] = near[0]
    if not found:
        return list(lines), found
    return [
        tuple(
            replace(token, key=found[token.key]) if token.capital and token.key in found else token
            for token in line
        )
        for line in lines
    ], found


def _nameable(line: Sequence[NameToken]) -> Iterator[str]:
    """Words that may be names: in capitals within a sentence, or where somebody acts or owns at its start."""
    for at, token in enumerate(line):
        if token.capital and (
            not token.opens or token.possessive or acts(line, at) or token.key in GIVEN_NAMES
        ):
            yield token.key
