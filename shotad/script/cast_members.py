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
"""Words as they are compared, see `word_key`."""

WORD = re.compile(r"\w+(?:['’.]\w+)*['’]?", re.UNICODE)
"""A word with its possessive; a hyphen parts words."""
TITLES: frozenset[str] = (NAME_TITLES - {"doc"}) | frozenset(
    ("petty", "staff", "prime", "lead", "cousin", "milady", "principal", "director", "specialist")
)
LONE_TITLES = listed_in("titles_alone")
"""Titles that mean somebody without a name: ``the inspector``."""
_FULL_TITLES = {
    "dr": "doctor", "capt": "captain", "sgt": "sergeant", "lt": "lieutenant", "lieut": "lieutenant",
    "det": "detective", "prof": "professor", "insp": "inspector", "col": "colonel", "rev": "reverend",
    "cpl": "corporal", "cmdr": "commander", "adm": "admiral", "pvt": "private", "mister": "mr",
}  # fmt: skip
_NUMBER_WORDS = listed("one two three four five six seven eight nine ten")
_AGES = frozenset(("young", "younger", "old", "older", "elder", "teenage", "baby"))
_REMARKS = re.compile(
    r"\([^)]*\)|\bvoices?(?: of\b.*)?$|\badditional\b.*$|\bat \d.*$|,? (?:jr|sr|i{2,3}|iv)\b\.?$|"
    r"#\s*\d+|\bno\. ?\d+",
    re.IGNORECASE,
)
_NOT_IN_NAMES = TITLES | PARTICLES | frozenset(("jr", "sr", "ii", "iii", "iv"))


@dataclass(frozen=True, slots=True)
class Form:
    """One way to speak of somebody.

    ``is_full``: it is one of their names in full, titles and articles aside. ``is_role``: ordinary words
    (``bike salesman``), which need the article ``the`` in small letters; ``may_be_lower_case``: they may
    stand in small letters at all. ``is_sure``: it is a name at a sentence's beginning too. ``is_secret``: it
    may not be said, so it is found before any other name too.
    """

    keys: Keys
    is_full: bool
    is_role: bool = False
    may_be_lower_case: bool = False
    is_sure: bool = False
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """An entry of the list.

    ``pronoun`` is ``he`` or ``she`` where a title or a word of it says so; ``given_names`` are words that
    may be a given name.
    """

    name: str
    forms: tuple[Form, ...]
    pronoun: str = ""
    given_names: tuple[str, ...] = ()


def word_key(word: str) -> str:
    """A word as it is compared: small letters, no accents, dots, apostrophes or possessive s; titles in full.
    Signs of other scripts that make another letter (U+3099 makes ``か`` to ``が``) stay.

    >>> [word_key(word) for word in ("O’Brien's", "T.J.", "Zoë", "Moses'", "Lt.")]
    ['obrien', 'tj', 'zoe', 'moses', 'lieutenant']
    """
    bare = re.sub(r"['’]s?$", "", word, flags=re.IGNORECASE)
    decomposed = bare if bare.isascii() else unicodedata.normalize("NFD", bare)
    without_accents = unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", decomposed))
    compared = re.sub(r"[.'’]", "", without_accents).casefold()
    return _FULL_TITLES.get(compared, compared)


def name_keys(name: str) -> Keys:
    """The words of a name as they are compared, see `word_key`: ``Dr. Smith's → doctor smith``."""
    return tuple(filter(None, map(word_key, WORD.findall(name))))


@lru_cache(maxsize=512)
def members(cast: tuple[str, ...]) -> tuple[Member, ...]:
    """The entries of a cast list, equal ones once; an entry without a word is left out."""
    entries = [parse_member(entry) for entry in dict.fromkeys(cast)]
    return tuple(entry for entry in entries if entry.forms)


def parse_member(entry: str) -> Member:
    """An entry of a cast list, with all forms of its names."""
    forms: dict[Form, None] = {}
    given_names: list[str] = []
    pronoun = ""
    for name in _names_of_entry(entry):
        words = name_keys(name)
        if not words:
            continue
        has_article = name.strip().lower().startswith("the ")
        # A dict keeps each form once, in order.
        forms |= dict.fromkeys(_forms_of_entry(words, has_article))
        # ``Ann's mother``: the noun says who it is, and not the words before it.
        is_somebodys = "'s " in name or "’s " in name
        pronoun = pronoun or _pronoun(words, is_somebodys)
        no_given_names = TITLES | _AGES | {"the"}
        given_names.append(next((word for word in words if word not in no_given_names), words[0]))
    return Member(entry, tuple(forms), pronoun, tuple(given_names))


def _names_of_entry(entry: str) -> list[str]:
    """The names in an entry, without remarks: ``Mark 'Rat' Ratner (voice) → Mark Ratner, Rat``."""
    names: list[str] = []
    without_brackets = re.sub(r"\([^)]*\)", " ", entry)
    for part in re.split(r"(?<!\s)\s+(?:/|-|aka)\s+", without_brackets):
        name = _REMARKS.sub(" ", part.strip()).strip(" ,")
        if not name.lower().startswith("the "):
            # ``Bo the Great → Bo``
            name = re.sub(r"(?<=\w) the .*$", "", name)
        nicknames = re.findall(r"(?<!\w)['\"‘’“”]([^'\"‘’“”]+)['\"‘’“”](?!\w)", name)
        for nickname in nicknames:
            name = re.sub(rf"\s*(?<!\w)['\"‘’“”]{re.escape(nickname)}['\"‘’“”](?!\w)", "", name)
        names += (name, *nicknames)
    return names


def _pronoun(words: Sequence[str], is_somebodys: bool) -> str:
    """What a title before a name, or the noun of a role, says: ``Mrs. Baker``, ``Mall Santa``."""
    last = words[-1]
    if is_somebodys or last in HIS_FORMS | HER_FORMS:
        return "she" if last in HER_FORMS else "he" if last in HIS_FORMS else ""
    for word in words[:-1]:
        if word in HIS_TITLES | HER_TITLES:
            return "she" if word in HER_TITLES else "he"
    return "he" if last == "santa" else ""


def _forms_of_entry(words: Sequence[str], has_article: bool) -> Iterator[Form]:
    """The ways to speak of somebody with this name; ``words`` as `name_keys` gives them."""
    bare = list(words[1:] if has_article and len(words) > 1 else words)
    # The words that are a name: no titles, numbers, or initials. A number alone is one: ``Four``.
    name_words = [word for word in bare if word not in _NOT_IN_NAMES | _NUMBER_WORDS and len(word) > 1]
    if not name_words and len(bare) == 1 and bare[0] in _NUMBER_WORDS:
        name_words = [words[-1]]
    nouns = PERSON_NOUNS | TITLES
    if bare[-1] in nouns or not name_words:
        # ``bike salesman``; and ``salesman`` for it, where that says more than that it is a man.
        may_be_lower_case = bare[-1] in nouns or has_article
        yield Form(tuple(bare), True, is_role=True, may_be_lower_case=may_be_lower_case)
        if has_article:
            yield from (Form((word,), False) for word in bare[:-1] if word not in nouns)
        if len(bare) > 1 and bare[-1] in nouns - GENERIC_NOUNS:
            yield Form((bare[-1],), False, is_role=True, may_be_lower_case=True)
        return
    if has_article and len(bare) == 1:
        may_be_lower_case = bare[0] not in SENTENCE_STARTERS | GENERIC_NOUNS
        yield Form(tuple(bare), True, is_role=True, may_be_lower_case=may_be_lower_case)
        return
    # ``Young Ann`` is another than Ann: the age stands in every form.
    ages = {word for word in bare if word in _AGES}
    for size in range(len(bare), 0, -1):
        for part in combinations(bare, size):
            if set(part) & (set(name_words) - ages) and ages <= set(part):
                yield Form(part, set(name_words) <= set(part))
    # ``the commissioner``, ``the chief inspector`` for names that begin with these; Doc for a doctor.
    titles = [] if ages else list(takewhile(TITLES.__contains__, bare))
    for position, word in enumerate(titles):
        if word in LONE_TITLES:
            for first in range(position + 1):
                title = tuple(titles[first : position + 1])
                yield Form(title, False, is_role=True, may_be_lower_case=True)
        if word == "doctor":
            yield Form(("doc",), False)


HIS_NAMES = listed_in("his_names")
HER_NAMES = listed_in("her_names")
GIVEN_NAMES = HIS_NAMES | HER_NAMES


def listed_gender(name: str) -> str:
    """``she`` or ``he`` for a given name that is nearly always one's; empty for other names.

    >>> listed_gender("margot"), listed_gender("tony"), listed_gender("alex")
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
