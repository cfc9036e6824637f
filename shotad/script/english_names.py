"""Names in English lines, read from words with a capital letter. Pure logic.

`names_in` reads the names in use from lines and from the user's note. `people_named` tells names of people
from those of places, makes and titles by what stands around them; rather one too few than one too many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

from shotad.core import STARTERS, WORD_NAMES
from shotad.script import english_words as en
from shotad.script.cast_members import GIVEN_NAMES, TITLES
from shotad.script.english_words import listed, listed_in
from shotad.script.line_mentions import NameToken, joins, tokens_of
from shotad.script.rules import quotations, without_quotations

SENTENCE_START = re.compile(r"(?:\A|[.!?…:])[\s\"“”'‘’(\[*•–—-]*\Z|\n(?:[^\S\n]|[\"“”'‘’(\[*•–—-])*\Z")

_Run = tuple[NameToken, ...]
"""Words with a capital letter side by side."""


def _runs(bare: str) -> Iterator[_Run]:
    """The runs of a text; a full stop ends one where it ends a sentence, and not a title."""
    line = tokens_of(bare)
    run: list[NameToken] = []
    for at, token in enumerate(line):
        capital = token.text[0].isupper()
        if run and not (capital and joins(line, at)):
            yield tuple(run)
            run = []
        if capital and (run or token.gap != "-"):
            run.append(token)
    if run:
        yield tuple(run)


def quoted(text: str) -> str:
    """``text`` with all blanked out but what stands in quotation marks and is not told to be read.

    >>> quoted("'Ann' waves; a sign reads 'Bo'.").strip()
    'Ann'
    """
    kept = [" "] * len(text)
    for start, end in quotations(text):
        if not (_READ.search(text[:start]) or _READ_AFTER.match(text[end:])):
            kept[start + 1 : end - 1] = text[start + 1 : end - 1]
    return "".join(kept)


_READ = re.compile(
    r"\b(?:reads?|reading|spells?|spelling|words?|headlines?|messages?|labels?|labell?ed|motto|logo|titles?|"
    r"titled|captions?|subtitles?|credits?|writes?|written|signs?|signed|signature|marked|text|letters|"
    r"lettering|inscriptions?|inscribed|engraved|printed|(?:name)?plates?|name ?tags?|badge|poster|"
    r"card|cover|tombstone|gravestone|screen)\b[^.!?\"“”]*\Z",
    re.IGNORECASE,
)
"""Before what is read from the screen, in the same sentence."""
_READ_AFTER = re.compile(
    r"\A,? (?:appears?|fades?|(?:is|are|stands?) (?:written|printed|carved|engraved|painted|shown|on)\b|"
    r"on (?:an?|the|his|her|their|its) (?:\w+ )?"
    r"(?:screen|sign|door|poster|page|cover|card|wall|plate|stone|board|badge)\b)",
    re.IGNORECASE,
)

_NAME = r"(?:[OD]['’]|Mc)?[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+(?:['’-][A-ZÀ-ÖØ-Þ]?[a-zß-öø-ÿ]+)*"
_ENTRY = re.compile(
    rf"^[ \t*•–—-]*+({_NAME}(?:[ \t]+{_NAME}){{0,3}})"
    r"(?=\s*+(?:[:=(]|[–—]|-\s|,\s+(?:an?|the|his|her|their|aged?|\d)\b|(?<=\s)is\b))",
    re.MULTILINE,
)
"""A line of a cast list: ``Ann: a thief``, ``Bo (her brother)``, ``Ann is a thief``."""

NO_NAMES = listed_in("capitals")
"""Words with a capital letter that are no names of people or places, at a line's start or within it."""


def names_in(lines: Sequence[str], note: str = "") -> tuple[str, ...]:
    """Names in the note, in its order, then those in the lines, the latest first; each once.

    Sure are words with a capital letter in the middle of a sentence, those that own something or are joined
    to a name, and in the note those that begin an entry of a cast list. A word with a capital letter that
    only ever begins sentences is one where it acts, in two lines at least. Text in quotation marks, which is
    read from the screen, is not looked at; titles are left out. A first name of somebody whose full name the
    note has is not listed again.

    >>> names_in(["Ann hides.", "The guard looks at Captain Bo Lee."], "The thief is called Ann.")
    ('Ann', 'Bo Lee')
    """
    found = [name for name, is_sure in _names(note) if is_sure]
    for entry in _ENTRY.findall(note):
        found += [name for run in _runs(entry) for name in _name(run, entry)]
    found.sort(key=note.find)
    acting = Counter(name for line in lines for name, is_sure in set(_names(line)) if not is_sure)
    for line in reversed(lines):
        found += [name for name, is_sure in _names(line) if is_sure or acting[name] > 1]
    known: list[str] = []
    for name in dict.fromkeys(found):
        if not any(set(name.split()) <= set(longer.split()) for longer in known):
            known.append(name)
    return tuple(known)


@lru_cache(maxsize=8192)
def _names(text: str) -> tuple[tuple[str, bool], ...]:
    """Names, and whether they are ones for sure: the others begin a sentence and act, as rain may too."""
    bare = without_quotations(text)
    found: list[tuple[str, bool]] = []
    for run in _runs(bare):
        front, after = bare[: run[0].at], bare[run[-1].end :]
        if _TITLE_OF.search(front) or _OF_TITLE.match(after):
            continue
        titled = run[0].key in TITLES and len(run) > 1
        is_sure = titled or not SENTENCE_START.search(front) or run[-1].possessive or _AND_NAME.match(after)
        first = run[0].key
        thing = first in en.NO_ARTICLE or first.endswith(("ing", "light", "thing", "body"))
        if is_sure or (_acts(after) and not thing):
            found += ((name, bool(is_sure)) for name in _name(run, bare))
    return tuple(found)


def _name(run: _Run, bare: str) -> Iterator[str]:
    """The name in a run, without titles; none in one with an abbreviation or with a word that is no name."""
    words = [bare[token.at : token.end] for token in run]
    none = [word in NO_NAMES or word.startswith(("I'", "I’")) for word in words]
    first = sum(1 for _ in takewhile(lambda i: none[i] or run[i].key in TITLES, range(len(run))))
    if words[first:] and not any(none[first:]) and not any(map(str.isupper, words[first:])):
        yield bare[run[first].at : run[-1].end]


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

_THINGS = listed_in("nouns_of_names")
"""Words of names of places, makes and bodies."""

_KIN = listed(
    "dad daddy mom mommy mum mummy mama papa pa ma son kid boss chef medic security cowboy santa yeti orc"
)
"""Words that stand for a name, but are of anybody."""

_PLACES = listed_in("places")

_NEVER = _THINGS | _KIN | _PLACES | en.FUNCTION_WORDS | STARTERS

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
    bare = _READ_OUT.sub(lambda match: " " * len(match[0]), without_quotations(text))
    found: list[tuple[int, int]] = []
    for run in _runs(bare):
        # Without the word that has its capital letter from the sentence it begins.
        begins = len(run) > 1 and SENTENCE_START.search(bare[: run[0].at]) and _is_word(run[0].key)
        name = run[1:] if begins else run
        if not any(known(token.key) for token in name) and _is_person(name, bare):
            found.append((name[0].at, name[-1].end))
    return tuple(found)


def _is_person(run: _Run, bare: str) -> bool:
    front, after = bare[: run[0].at], bare[run[-1].end :]
    core = [token.key for token in run if token.key not in TITLES]
    if (
        not core
        or any(key in _NEVER or key.capitalize() in NO_NAMES for key in core)
        or not all(_spelt_out(token, bare) for token in run)
    ):
        return False
    if _TITLE_OF.search(front) or _OF_TITLE.match(after):
        return False
    if len(core) < len(run):
        return True
    if SENTENCE_START.search(front) and (len(core) == 1 or all(token.gap == "-" for token in run[1:])):
        return (core[0] in GIVEN_NAMES or not _is_word(core[0])) and (_owns(after) or _acts(after))
    # Up to four words in front, in the same clause.
    clause = re.split(r"[.,;:!?—–()\n]", front)[-1]
    before = [word.lower() for word in re.findall(r"[\w'’-]+", clause)[-4:]]
    if _follows_determiner(before) or _is_attribute(after):
        return False
    is_there = before[-1:] == ["at"] and before[-2:-1] and before[-2] in _BEING
    return _owns(after) or not before or not (is_there or before[-1] in _PLACED)


def _spelt_out(token: NameToken, bare: str) -> bool:
    """False for abbreviations, ``TV`` and ``FBI``, and for what holds a figure."""
    word = bare[token.at : token.end].rstrip(".")
    if "'" in word.replace("’", "'")[1:2]:
        return word[0] in "OD" and len(word) > 4
    return not ((word.isupper() and len(word) <= 4) or any(c.isdigit() for c in word))


def _is_word(key: str) -> bool:
    """Whether a word of the language, as far as known here, that may begin a sentence."""
    return (
        key in STARTERS | en.NO_ARTICLE | en.PLURALS | en.SAYING_WHEN | WORD_NAMES
        or key in en.LEMMAS
        or key in en.ADJECTIVES
        or key.endswith(("ing", "light", "thing", "body", "ly", "ness", "ment", "tion"))
    )


def _follows_determiner(before: list[str]) -> bool:
    """``the Bronx``, ``a black Mercedes``, ``her friend Ann``: articles and possessives with adjectives."""
    for i in reversed(range(len(before))):
        word = before[i]
        if word in en.DETERMINERS or word.endswith(("'s", "’s")):
            return True
        if word.endswith(("ing", "ed")):
            return i > 0 and before[i - 1] in en.DETERMINERS
        if word in en.FUNCTION_WORDS or word in en.THIRD:
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
    while words and (words[0].endswith("ly") or words[0] in en.ADVERBS):
        del words[0]
    if not words:
        return False
    noun = words[0] in en.NOUNS_TOO and words[1:2] and words[1] in en.LEMMAS and not words[1].endswith("ing")
    return not noun and (words[0] in en.THIRD or (several is not None and words[0] in en.LEMMAS))


def _is_attribute(after: str) -> bool:
    """``Coke can``, ``Nazi soldiers``: a noun follows."""
    word = re.match(r"[ ]([a-zà-ÿ][\w-]*)", after)
    if word is None:
        return False
    return not (word[1] in _NO_NOUNS or word[1] in en.LEMMAS or word[1].endswith(("ly", "ing", "ed")))


_NO_NOUNS = en.FUNCTION_WORDS | en.ADVERBS | listed("is are has also")

_AND_NAME = re.compile(r" and [A-Z]")
_TITLE_OF, _OF_TITLE = re.compile(r"(?<!\w)[A-Z]\w+ of (?:the )?\Z"), re.compile(r" of (?:the )?[A-Z]")
"""``Tears of Steel``: names that ``of`` joins are a title or a place."""
