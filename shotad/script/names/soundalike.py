"""Names that are spelt otherwise than in the cast list: by ear, or shortened. Pure logic.

Published AD texts were written down by speech recognition: the cast's Ronny is Ronnie there, Margot Margo.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from shotad.script.names.givennames import GIVEN_NAMES, HER_NAMES, HIS_NAMES

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
