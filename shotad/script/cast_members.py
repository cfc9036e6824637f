"""Entries of a cast list, and the words by which AD speaks of each. Pure logic.

Lists are those of film databases: full names with titles (``Dr. Emmett Brown``), two names of one person
(``Douglas Quaid / Hauser``), nicknames in quotes, and parts without a name (``The Storyteller``,
``First Detective``).

Given names (``words/his_names.txt``, ``words/her_names.txt``) are those that are nearly always a man's or a
woman's in English-language film. Written down by hand; names of both (Alex, Chris, Robin, Sam) are left out:
what the text says of somebody decides there, and overrules the list elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, takewhile

from shotad.core.cast import (
    HER_TITLES,
    HIS_TITLES,
    NAME_TITLES,
    PARTICLES,
    SENTENCE_STARTERS,
)
from shotad.script import english_words as en
from shotad.script.english_words import listed, listed_in

Keys = tuple[str, ...]
"""Words as they are compared, see `key`."""

WORD = re.compile(r"\w+(?:['’.]\w+)*['’]?", re.UNICODE)
"""A word with its possessive; a hyphen parts words."""
TITLES: frozenset[str] = (NAME_TITLES - {"doc"}) | frozenset(
    ("petty", "staff", "prime", "lead", "cousin", "milady", "principal", "director", "specialist")
)
ALONE = listed_in("titles_alone")
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
    ``common``: they may stand in small letters at all. ``sure``: it is a name at a sentence's beginning too;
    ``secret``: it may not be said, so it is found before any other name too."""

    keys: Keys
    whole: bool
    role: bool = False
    common: bool = False
    sure: bool = False
    secret: bool = False


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
    Signs of other scripts that make another letter (U+3099 makes ``か`` to ``が``) stay.

    >>> [key(word) for word in ("O’Brien's", "T.J.", "Zoë", "Moses'", "Lt.")]
    ['obrien', 'tj', 'zoe', 'moses', 'lieutenant']
    """
    bare = re.sub(r"['’]s?$", "", word, flags=re.IGNORECASE)
    apart = bare if bare.isascii() else unicodedata.normalize("NFD", bare)
    flat = unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", apart))
    small = re.sub(r"[.'’]", "", flat).casefold()
    return _SHORT.get(small, small)


def name_keys(written: str) -> Keys:
    """The words of a name as they are compared, see `key`: ``Dr. Smith's → doctor smith``."""
    return tuple(filter(None, map(key, WORD.findall(written))))


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
    names: list[str] = []
    for piece in re.split(r"(?<!\s)\s+(?:/|-|aka)\s+", re.sub(r"\([^)]*\)", " ", name)):
        # Without remarks: ``Mark 'Rat' Ratner → Mark Ratner, Rat``.
        bare = _REMARKS.sub(" ", piece.strip()).strip(" ,")
        bare = re.sub(r"(?<=\w) the .*$", "", bare) if not bare.lower().startswith("the ") else bare
        nicknames = re.findall(r"(?<!\w)['\"‘’“”]([^'\"‘’“”]+)['\"‘’“”](?!\w)", bare)
        for nickname in nicknames:
            bare = re.sub(rf"\s*(?<!\w)['\"‘’“”]{re.escape(nickname)}['\"‘’“”](?!\w)", "", bare)
        names += (bare, *nicknames)
    for written in names:
        words = name_keys(written)
        if not words:
            continue
        forms |= dict.fromkeys(_forms(words, written.strip().lower().startswith("the ")))
        pronoun = pronoun or _pronoun(words, "'s " in written or "’s " in written)
        given += [next((w for w in words if w not in TITLES | _AGES | {"the"}), words[0])]
    return Member(name, tuple(forms), pronoun, tuple(given))


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
    nouns = PERSON_NOUNS | TITLES
    if bare[-1] in nouns or not core:
        # ``bike salesman``; and ``salesman`` for it, where that says more than that it is a man.
        yield Form(tuple(bare), True, role=True, common=bare[-1] in nouns or article)
        if article:
            yield from (Form((word,), False) for word in bare[:-1] if word not in nouns)
        if len(bare) > 1 and bare[-1] in nouns - GENERIC_NOUNS:
            yield Form((bare[-1],), False, role=True, common=True)
        return
    if article and len(bare) == 1:
        yield Form(tuple(bare), True, role=True, common=bare[0] not in SENTENCE_STARTERS | GENERIC_NOUNS)
        return
    must = {word for word in bare if word in _AGES}
    for size in range(len(bare), 0, -1):
        for chosen in combinations(bare, size):
            if set(chosen) & (set(core) - must) and must <= set(chosen):
                yield Form(chosen, set(core) <= set(chosen))
    # ``the commissioner``, ``the chief inspector`` for names that begin with these; Doc for a doctor.
    before = [] if must else list(takewhile(TITLES.__contains__, bare))
    for at, word in enumerate(before):
        if word in ALONE:
            titles = (tuple(before[first : at + 1]) for first in range(at + 1))
            yield from (Form(title, False, role=True, common=True) for title in titles)
        if word == "doctor":
            yield Form(("doc",), False)


HIS_NAMES = listed_in("his_names")
HER_NAMES = listed_in("her_names")
GIVEN_NAMES = HIS_NAMES | HER_NAMES


def listed_gender(name: str) -> str:
    """What a given name says.

    >>> listed_as("margot"), listed_as("tony"), listed_as("alex")
    ('she', 'he', '')
    """
    return "he" if name in HIS_NAMES else "she" if name in HER_NAMES else ""


HIS_NOUNS = listed_in("his_nouns")
HER_NOUNS = listed_in("her_nouns")
ANY_NOUNS = listed_in("nouns_of_people")
PERSON_NOUNS = HIS_NOUNS | HER_NOUNS | ANY_NOUNS
GENERIC_NOUNS = listed(
    "man woman boy girl guy gentleman lady person kid child baby figure people men women boys girls friend "
    "member one father mother son daughter brother sister wife husband"
)
"""By these alone nobody is told apart: ``the man`` is not the cast's ``CIA Man``."""
PLURAL_NOUNS = listed_in("plural_nouns") | frozenset(
    f"{noun}s" for noun in PERSON_NOUNS if not noun.endswith(("man", "y", "child", "s", "thief"))
)
"""People, more than one: whom ``they`` may mean."""

PEOPLE_NOUNS: frozenset[str] = PERSON_NOUNS | PLURAL_NOUNS

HE = listed("he him his himself")
SHE = listed("she her hers herself")
THEY = listed("they them their theirs themselves")
SUBJECT_PRONOUNS = listed("he she they")
REFLEXIVES = listed("himself herself themselves")
SHORTENED = {
    f"{pronoun}{tail}": pronoun
    for pronoun in ("he", "she", "they")
    for tail in ("'s", "'re", "'d", "'ll", "'ve")
}
"""``he's → he``."""

NAME_PREPOSITIONS = en.PREPOSITIONS | listed(
    "about besides despite except next opposite round since throughout until"
)
NAME_FUNCTION_WORDS: frozenset[str] = (
    NAME_PREPOSITIONS
    | en.AFTER_A_VERB
    | en.ADVERBS
    | en.NOMINATIVE_PRONOUNS
    | en.POINTING
    | en.COORDINATING_WORDS
    | en.RELATIVE_WORDS
    | listed(
        "when whom not again apart alone together forwards backward backwards upright ahead twice hard fast "
        "high home upstairs downstairs low nearly slowly quickly"
    )
)
"""What follows a verb and hardly ever a plural noun."""
CLAUSE_WORDS = en.SUBORDINATING | en.RELATIVE_WORDS | en.COORDINATING_WORDS | {"then", "so"}
IS_OR_DOES: frozenset[str] = en.AUXILIARIES | listed("was will won't")

WHO_PRONOUNS = listed("who whose whom")
DONE_TO_OTHERS = listed(
    "kisses strokes pats slaps punches caresses grabs tugs yanks squeezes nudges smacks grips seizes kicks "
    "massages cups clasps"
)
"""Whose hand one does this to is rarely one's own: ``grabs his fist``."""

AFTER_OBJECT = NAME_FUNCTION_WORDS - listed("back open still just almost nearly now alone her his their its")
"""After these ``her`` was the object: ``watches her as``, ``pulls her up``."""

HIS_FORMS = HIS_NOUNS | HIS_TITLES
HER_FORMS = HER_NOUNS | HER_TITLES
