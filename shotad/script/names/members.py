"""Entries of a cast list, and the words by which AD speaks of each. Pure logic.

Lists are those of film databases: full names with titles (``Dr. Emmett Brown``), two names of one person
(``Douglas Quaid / Hauser``), nicknames in quotes, and parts without a name (``The Storyteller``,
``First Detective``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, takewhile

from shotad.core import HER_TITLES, HIS_TITLES, NAME_TITLES, PARTICLES, STARTERS
from shotad.script.english.smallwords import listed
from shotad.script.names.words import GENERIC_NOUNS, HER_FORMS, HIS_FORMS, PERSON_NOUNS

Keys = tuple[str, ...]
"""Words as they are compared, see `key`."""

WORD = re.compile(r"\w+(?:['’.]\w+)*['’]?", re.UNICODE)
"""A word with its possessive; a hyphen parts words."""
TITLES: frozenset[str] = (NAME_TITLES - {"doc"}) | frozenset(
    ("petty", "staff", "prime", "lead", "cousin", "milady", "principal", "director", "specialist")
)
ALONE = listed(
    """
    inspector detective sergeant captain lieutenant commissioner sheriff judge colonel major general mayor
    governor president ambassador senator minister baron baroness count countess duke duchess king queen
    prince princess doctor professor reverend bishop cardinal chief coach marshal commander admiral officer
    deputy principal director abbess emperor constable corporal
    """
)
"""Titles that mean somebody without a name: ``the inspector``."""
_SHORT = {
    "dr": "doctor", "capt": "captain", "sgt": "sergeant", "lt": "lieutenant", "lieut": "lieutenant",
    "det": "detective", "prof": "professor", "insp": "inspector", "col": "colonel", "rev": "reverend",
    "cpl": "corporal", "cmdr": "commander", "adm": "admiral", "pvt": "private", "mister": "mr",
}  # fmt: skip
_NUMBERS = listed("one two three four five six seven eight nine ten")
_AGES = frozenset(("young", "younger", "old", "older", "elder", "teenage", "baby"))
_REMARKS = re.compile(
    r"\([^)]*\)|\bvoices?(?: of\b.*)?$|\badditional\b.*$|\bat \d.*$|,? (?:jr|sr|i{2,3}|iv)\b\.?$|"
    r"#\s*\d+|\bno\. ?\d+",
    re.IGNORECASE,
)
_NO_NAMES = TITLES | PARTICLES | frozenset(("jr", "sr", "ii", "iii", "iv"))


@dataclass(frozen=True, slots=True)
class Form:
    """One way to speak of somebody. ``whole``: it is one of their names in full, titles and articles aside.
    ``role``: ordinary words (``bike salesman``), which need the article ``the`` in small letters;
    ``common``: they may stand in small letters at all."""

    keys: Keys
    whole: bool
    role: bool = False
    common: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """An entry of the list. ``pronoun`` is ``he`` or ``she`` where a title or a word of it says so;
    ``given`` are words that may be a given name."""

    name: str
    forms: tuple[Form, ...]
    pronoun: str = ""
    given: tuple[str, ...] = ()


def key(word: str) -> str:
    """A word as it is compared: small letters, no accents, dots, apostrophes or possessive s; titles in full.

    >>> [key(word) for word in ("O’Brien's", "T.J.", "Zoë", "Moses'", "Lt.")]
    ['obrien', 'tj', 'zoe', 'moses', 'lieutenant']
    """
    bare = re.sub(r"['’]s?$", "", word, flags=re.IGNORECASE)
    flat = bare if bare.isascii() else "".join(c for c in _apart(bare) if not unicodedata.combining(c))
    small = re.sub(r"[.'’]", "", flat).casefold()
    return _SHORT.get(small, small)


def _apart(word: str) -> str:
    return unicodedata.normalize("NFD", word)


@lru_cache(maxsize=512)
def members(cast: tuple[str, ...]) -> tuple[Member, ...]:
    """Those of a cast list, equal entries once; an entry without a word is nobody."""
    found = (member(name) for name in dict.fromkeys(cast))
    return tuple(one for one in found if one.forms)


def member(name: str) -> Member:
    """An entry of a cast list, read."""
    forms: dict[Form, None] = {}
    given: list[str] = []
    pronoun = ""
    for written in _names(name):
        words = [key(word) for word in WORD.findall(written)]
        words = [word for word in words if word]
        if not words:
            continue
        forms |= dict.fromkeys(_forms(words, written.strip().lower().startswith("the ")))
        pronoun = pronoun or _pronoun(words, "'s " in written or "’s " in written)
        given += [next((w for w in words if w not in TITLES | _AGES | {"the"}), words[0])]
    return Member(name, tuple(forms), pronoun, tuple(given))


def _names(entry: str) -> Iterator[str]:
    """The names of an entry, each without remarks: ``Mark 'Rat' Ratner → Mark Ratner, Rat``."""
    for piece in re.split(r"(?<!\s)\s+(?:/|-|aka)\s+", re.sub(r"\([^)]*\)", " ", entry)):
        bare = _REMARKS.sub(" ", piece.strip()).strip(" ,")
        bare = re.sub(r"(?<=\w) the .*$", "", bare) if not bare.lower().startswith("the ") else bare
        nicknames = re.findall(r"(?<!\w)['\"‘’“”]([^'\"‘’“”]+)['\"‘’“”](?!\w)", bare)
        for nickname in nicknames:
            bare = re.sub(rf"\s*(?<!\w)['\"‘’“”]{re.escape(nickname)}['\"‘’“”](?!\w)", "", bare)
        yield from (bare, *nicknames)


def _pronoun(words: Sequence[str], owned: bool) -> str:
    """What a title before a name, or the noun of a role, says: ``Mrs. Baker``, ``Mall Santa``."""
    if owned or words[-1] in HIS_FORMS | HER_FORMS:
        return "she" if words[-1] in HER_FORMS else "he" if words[-1] in HIS_FORMS else ""
    titles = [word for word in words[:-1] if word in HIS_TITLES | HER_TITLES]
    if titles:
        return "she" if titles[0] in HER_TITLES else "he"
    return "he" if words[-1] == "santa" else ""


def _forms(words: Sequence[str], article: bool) -> Iterator[Form]:
    bare = list(words[1:] if article and len(words) > 1 else words)
    core = [word for word in bare if word not in _NO_NAMES | _NUMBERS and len(word) > 1] or (
        [words[-1]] if len(bare) == 1 and bare[0] in _NUMBERS else []
    )
    if bare[-1] in PERSON_NOUNS | TITLES or not core:
        yield from _role(bare, article)
        return
    if article and len(bare) == 1:
        yield Form(tuple(bare), True, role=True, common=bare[0] not in STARTERS | GENERIC_NOUNS)
        return
    must = {word for word in bare if word in _AGES}
    for size in range(len(bare), 0, -1):
        for chosen in combinations(bare, size):
            if set(chosen) & (set(core) - must) and must <= set(chosen):
                yield Form(chosen, set(core) <= set(chosen))
    yield from _titles(bare) if not must else ()


def _titles(words: Sequence[str]) -> Iterator[Form]:
    """``the commissioner``, ``the chief inspector`` for names that begin with these; Doc for a doctor."""
    before = list(takewhile(lambda word: word in TITLES, words))
    for at, word in enumerate(before):
        if word in ALONE:
            yield from (
                Form(tuple(before[first : at + 1]), False, role=True, common=True) for first in range(at + 1)
            )
        if word == "doctor":
            yield Form(("doc",), False)


def _role(words: Sequence[str], article: bool) -> Iterator[Form]:
    """``bike salesman``; and ``salesman`` for it, where that says more than that it is a man."""
    noun = words[-1] in PERSON_NOUNS | TITLES
    yield Form(tuple(words), True, role=True, common=noun or article)
    if article:
        yield from (Form((word,), False) for word in words[:-1] if word not in PERSON_NOUNS | TITLES)
    if len(words) > 1 and words[-1] in (PERSON_NOUNS | TITLES) - GENERIC_NOUNS:
        yield Form((words[-1],), False, role=True, common=True)
