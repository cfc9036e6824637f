"""Names in use, read from lines and from the user's note by their capital letters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from shotad.script.english.nouns import NO_ARTICLE
from shotad.script.english.smallwords import listed
from shotad.script.english.verbs import THIRD
from shotad.script.rules import quotations

_NAME = r"(?:[OD]['’]|Mc)?[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+(?:['’-][A-ZÀ-ÖØ-Þ]?[a-zß-öø-ÿ]+)*"
_RUN = re.compile(rf"(?<![\w'’-]){_NAME}(?:[ \t]+{_NAME})*(?![\w-])")
_SENTENCE_START = re.compile(r"(?:^|[.!?…:;])[\s\"“”'‘’(\[*•–—-]*\Z|\n(?:[^\S\n]|[\"“”'‘’(\[*•–—-])*\Z")
_ENTRY = re.compile(
    rf"^[ \t*•–—-]*+({_NAME}(?:[ \t]+{_NAME}){{0,3}})"
    r"(?=\s*+(?:[:=(]|[–—]|-\s|,\s+(?:an?|the|his|her|their|aged?|\d)\b|(?<=\s)is\b))",
    re.MULTILINE,
)
"""A line of a cast list: ``Ann: a thief``, ``Bo (her brother)``, ``Ann is a thief``."""

_JOINED = re.compile(rf" and {_NAME}")
"""``Ann and Bo run``: what is joined to a name is one, at the sentence's beginning too."""

_OF = re.compile(rf"(?<![\w'’-]){_NAME} of (?:the )?\Z")
_OF_THIS = re.compile(rf" of (?:the )?{_NAME}")
"""``Tears of Steel`` is the title of something."""

_TITLES = listed(
    """
    Mr Mrs Ms Miss Dr Doctor Professor Prof Captain Capt Colonel Col General Gen Major Lieutenant Lt
    Sergeant Sgt Officer Detective Inspector Agent Sir Lady Lord Madam Father Sister Brother Uncle Aunt
    King Queen Prince Princess President Judge Nurse Reverend Saint St Commander Admiral Private
    """
)
NO_NAMES = listed(
    """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April June July
    August September October November December Christmas Easter Halloween God Jesus Bible English French
    German Spanish Italian Russian Chinese Japanese American British European African Asian Indian Roman
    Greek Latin Victorian Gothic Jewish Christian Muslim Catholic Internet Polaroid Coke Jeep Ferrari
    Mercedes Place Places Tone Time Names Name Characters Character Setting Story Note Notes Period
    Genre Style Cast Film Movie Series Title Location Plot Language Year Era Background Tip He She It
    They We You I This That These Those There Here The A An His Her Their Its Our My Everyone Everybody
    Nobody Somebody Someone One Both All Some Most Please Use Avoid Do Never Always Call Later Then Now
    When While As If And But Or Who What Where Night Day Morning Evening Inside Outside Part Chapter
    Scene Act Episode
    """
)
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
    sure = sorted([*_names_of(note), *_entries(note)], key=note.find)
    acting = Counter(name for line in lines for name in _acting(line))
    for line in reversed(lines):
        sure += [*_names_of(line), *(name for name in _acting(line) if acting[name] > 1)]
    known: list[str] = []
    for name in dict.fromkeys(sure):
        if not any(set(name.split()) <= set(longer.split()) for longer in known):
            known.append(name)
    return tuple(known)


@lru_cache(maxsize=8192)
def _names_of(text: str) -> tuple[str, ...]:
    """Names that are ones for sure."""
    plain = _without_quotations(text)
    found: list[str] = []
    for match in _RUN.finditer(plain):
        before = plain[: match.start()]
        if _OF.search(before) or _OF_THIS.match(plain, match.end()):
            continue
        within = not _SENTENCE_START.search(before) or _after_title(before) or _titled(match[0])
        owns = match[0].endswith(("'s", "’s"))
        if within or owns or _JOINED.match(plain, match.end()):
            found += _name(match[0])
    return tuple(found)


@lru_cache(maxsize=8192)
def _acting(text: str) -> tuple[str, ...]:
    """Words that begin a sentence and a verb follows: names, but for rain, smoke and the like."""
    plain = _without_quotations(text)
    found: list[str] = []
    for match in _RUN.finditer(plain):
        verb = re.match(r" (?:\w+ly )?(\w+)", plain[match.end() :])
        first = match[0].lower()
        if not verb or verb[1] not in THIRD or not _SENTENCE_START.search(plain[: match.start()]):
            continue
        if first not in NO_ARTICLE and not first.endswith(("ing", "light", "thing", "body")):
            found += _name(match[0])
    return tuple(dict.fromkeys(found))


def _without_quotations(text: str) -> str:
    for start, end in quotations(text):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def _titled(run: str) -> bool:
    first, _, rest = run.partition(" ")
    return bool(rest) and first in _TITLES


def _after_title(before: str) -> bool:
    """True after ``Mr.``, whose full stop ends no sentence."""
    title = re.search(r"(?<!\w)(\w+)\.\s*\Z", before)
    return title is not None and title[1] in _TITLES


def _entries(note: str) -> Iterator[str]:
    for match in _ENTRY.finditer(note):
        yield from _name(match[1])


def _name(run: str) -> Iterator[str]:
    """The name in a run of words with capital letters, without titles and without possessive s."""
    words = [re.sub(r"['’]s$", "", word) for word in run.split()]
    while words and words[0] in _TITLES | NO_NAMES:
        words.pop(0)
    if words and not any(word in NO_NAMES for word in words):
        yield " ".join(words)
