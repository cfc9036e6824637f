"""Names of people in a line, whoever they are, told from those of places, makes and titles by what stands
around them. English; rather one too few than one too many."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from shotad.core import NAME_TITLES, STARTERS, WORD_NAMES
from shotad.script.english.names import NO_NAMES
from shotad.script.english.nouns import ADJECTIVES, NO_ARTICLE, NOUNS_TOO, PLURALS
from shotad.script.english.smallwords import ADVERBS, DETERMINERS, FUNCTION_WORDS, SAYING_WHEN, listed
from shotad.script.english.verbs import LEMMAS, THIRD
from shotad.script.nameruns import SENTENCE_START, Token, plain, runs

Known = Callable[[str], bool]
"""Whether a word, in small letters, is known to whoever asks."""

_PLACED = listed(
    "in into inside within across through throughout over above below under underneath outside around near "
    "beyond along on onto via aboard of enter enters entering leaves surrounding"
)
"""A name after one of these is mostly that of a place or a thing, unless it owns what follows."""

_BEING = listed("is are back arrive arrives appear appears stay stays stop stops meet meets live lives works")
"""Before ``at`` and a place."""

_BODY = listed(
    """
    face hand hands eyes eye arm arms head hair shoulder shoulders back chest lips mouth neck leg legs
    foot feet finger fingers fist jaw cheek cheeks brow forehead knee knees throat wrist gaze smile
    expression body side lap ear ears nose chin waist stomach skin heart grip shirt jacket coat hat
    glasses wife husband mother father son daughter brother sister friend room house car desk gun phone
    bed men
    """
)
"""What people have; ``London's`` is followed by other things."""

_THINGS = listed(
    """
    street st road rd avenue ave lane drive boulevard square bridge park hotel inn bar cafe café club
    restaurant hospital school college university academy station airport church cathedral palace castle
    tower building house hall museum theatre theater library bank market store shop mall centre center
    city town village county island islands river lake sea ocean bay beach mountain mount mountains hill
    hills valley canyon desert forest woods garden gardens stadium arena company corporation corp inc
    ltd co airlines airways express times post news tribune gazette magazine journal bible army navy
    force forces police department bureau agency office ministry museum monument memorial cemetery
    prison jail ranch farm plaza place court heights point gate wall way tunnel pass state states united
    kingdom empire republic war day night eve year fair festival show games cup league bowl club band
    union society institute north south east west northern southern eastern western new old great upper
    lower saint los las san santa el la le fort port cape hollywood bureau tv fbi cia nypd
    """
)
"""Words of names of places, makes and bodies."""


_KIN = listed(
    "dad daddy mom mommy mum mummy mama papa pa ma son kid boss chef medic security cowboy santa yeti orc"
)
"""Words that stand for a name, but are of anybody."""

_PLACES = listed(
    """
    london paris berlin rome madrid vienna prague moscow tokyo beijing shanghai hong kong bangkok mumbai
    delhi calcutta cairo istanbul athens venice florence milan naples amsterdam brussels dublin
    edinburgh glasgow manchester liverpool oxford cambridge brooklyn bronx queens manhattan chicago
    boston philadelphia washington atlanta miami dallas houston denver seattle detroit vegas toronto
    montreal sydney melbourne america england britain scotland wales ireland france germany spain italy
    greece russia ukraine poland china japan korea vietnam india pakistan afghanistan iraq iran israel
    egypt africa europe asia australia canada mexico cuba brazil argentina california texas florida
    arizona nevada alaska hawaii kansas ohio nebraska louisiana mississippi alabama virginia maryland
    oregon pacific atlantic earth mars jupiter saturn
    """
)

_NEVER = _THINGS | _KIN | _PLACES | FUNCTION_WORDS | STARTERS

_READ_OUT = re.compile(
    r"\b(?:reads?|reading|says|spells?|spelling|words?|headline|message|label|motto|logo|titles?|caption|"
    r"subtitles?|writes|signs?)\b,? ?(?=[A-Z\d])[^.!?]*"
)
"""What is read from the screen and stands in no quotation marks: ``A sign reads, Dos Cabezas, Arizona.``"""


def people_named(text: str, known: Known = lambda key: False) -> tuple[tuple[int, int], ...]:
    """Spans of names that are, for all that stands around them, of people; those with a known word are not.

    A name is one that acts (``Ann smiles``), owns what people have (``Ann's hand``), has a title, or is acted
    on (``looks at Ann``). Not taken are names behind an article or another determiner, behind prepositions of
    place, before a noun (``Coke can``), those with a word of places or makes, and abbreviations. A word that
    begins a sentence is a name only where it acts or owns, and no word of the language as far as known here.
    Text in quotation marks is not looked at.
    """
    bare = _READ_OUT.sub(lambda match: " " * len(match[0]), plain(text))
    return tuple(
        (run[0].start, run[-1].end)
        for run in _named(bare)
        if not any(known(token.key) for token in run) and _is_person(run, bare)
    )


def _named(bare: str) -> Iterator[tuple[Token, ...]]:
    """Runs without the word that has its capital letter from the sentence it begins, and without titles."""
    for run in runs(bare):
        begins = len(run) > 1 and SENTENCE_START.search(bare[: run[0].start]) and _is_word(run[0].key)
        yield run[1:] if begins else run


def _is_person(run: tuple[Token, ...], bare: str) -> bool:
    front, after = bare[: run[0].start], bare[run[-1].end :]
    core = [token.key for token in run if token.key not in NAME_TITLES]
    if not core or any(map(_no_name, core)) or not all(_spelt_out(token, bare) for token in run):
        return False
    if _titles_something(front, after):
        return False
    if len(core) < len(run):
        return True
    if SENTENCE_START.search(front) and len(core) == 1:
        return not _is_word(core[0]) and (_owns(after) or _acts(after))
    return _is_acted_on(_before(front), after)


def _is_acted_on(before: list[str], after: str) -> bool:
    """Whether a name within a sentence is a person's, by the words around it."""
    if _follows_determiner(before) or _is_attribute(after):
        return False
    is_there = before[-1:] == ["at"] and before[-2:-1] and before[-2] in _BEING
    return _owns(after) or not before or not (is_there or before[-1] in _PLACED)


def _spelt_out(token: Token, bare: str) -> bool:
    """False for abbreviations, ``TV`` and ``FBI``, and for what holds a figure."""
    word = bare[token.start : token.end].rstrip(".")
    if "'" in word.replace("’", "'")[1:2]:
        return word[0] in "OD" and len(word) > 4
    return not ((word.isupper() and len(word) <= 4) or any(c.isdigit() for c in word))


def _no_name(key: str) -> bool:
    return key in _NEVER or key.capitalize() in NO_NAMES


def _is_word(key: str) -> bool:
    """Whether a word of the language, as far as known here, that may begin a sentence."""
    return (
        key in STARTERS | NO_ARTICLE | PLURALS | SAYING_WHEN | WORD_NAMES
        or key in LEMMAS
        or key in ADJECTIVES
        or key.endswith(("ing", "light", "thing", "body", "ly", "ness", "ment", "tion"))
    )


def _before(text: str) -> list[str]:
    """Up to four words in front, in the same clause."""
    clause = re.split(r"[.,;:!?—–()\n]", text)[-1]
    return [word.lower() for word in re.findall(r"[\w'’-]+", clause)[-4:]]


def _follows_determiner(before: list[str]) -> bool:
    """``the Bronx``, ``a black Mercedes``, ``her friend Ann``: articles and possessives with adjectives."""
    for i in reversed(range(len(before))):
        word = before[i]
        if word in DETERMINERS or word.endswith(("'s", "’s")):
            return True
        if word.endswith(("ing", "ed")):
            return i > 0 and before[i - 1] in DETERMINERS
        if word in FUNCTION_WORDS or word in THIRD:
            return False
    return False


def _owns(after: str) -> bool:
    owned = re.match(r"['’]s? ((?:\w+ ){0,2}\w+)", after)
    return owned is not None and any(word in _BODY for word in owned[1].lower().split())


def _acts(after: str) -> bool:
    """``slowly turns away``, ``and Olga walk on``; not ``Coloured lights reflect``."""
    several = re.match(r" and (?:the )?[A-Z][\w'’-]+(?= )", after)
    words = re.findall(r"[\w'’-]+|[^\w\s]", after[several.end() if several else 0 :])[:4]
    if words[:1] == [","]:
        del words[0]
    while words and (words[0].endswith("ly") or words[0] in ADVERBS):
        del words[0]
    if not words:
        return False
    noun = words[0] in NOUNS_TOO and words[1:2] and words[1] in LEMMAS and not words[1].endswith("ing")
    return not noun and (words[0] in THIRD or (several is not None and words[0] in LEMMAS))


def _is_attribute(after: str) -> bool:
    """``Coke can``, ``Nazi soldiers``: a noun follows."""
    word = re.match(r"[ ]([a-zà-ÿ][\w-]*)", after)
    if word is None:
        return False
    return not (word[1] in _NO_NOUNS or word[1] in LEMMAS or word[1].endswith(("ly", "ing", "ed")))


_NO_NOUNS = FUNCTION_WORDS | ADVERBS | listed("is are has also")

_TITLE_OF = re.compile(r"(?<!\w)[A-Z]\w+ of (?:the )?\Z")


def _titles_something(before: str, after: str) -> bool:
    """``Tears of Steel``: names that ``of`` joins are a title or a place."""
    return bool(_TITLE_OF.search(before) or re.match(r" of (?:the )?[A-Z]", after))
