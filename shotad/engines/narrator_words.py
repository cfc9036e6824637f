"""English words: numbers, articles, plurals, agreement; quoted text; and how people with names are spoken of.

Text on the screen keeps its capitals, so that whoever checks the script finds what stands in the picture. A
pronoun is said only of whom the last line began with, if nobody else can be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shotad.core import Character, Named
from shotad.script import gerunds, third

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_VOWELS = re.compile(r"[aeiouy]", re.IGNORECASE)
_AN_DESPITE_SPELLING = ("hour", "honest", "heir")
_A_DESPITE_SPELLING = ("uni", "use", "usu", "eu", "one", "ewe")
_PLURALS = {
    "person": "people", "man": "men", "woman": "women", "child": "children", "sheep": "sheep",
    "mouse": "mice", "goose": "geese", "foot": "feet", "fish": "fish", "deer": "deer",
    "knife": "knives", "bookshelf": "bookshelves", "bus": "buses", "aircraft": "aircraft",
}  # fmt: skip
_PAIRS = frozenset({"skis", "scissors", "glasses", "trousers", "binoculars"})
_MASSES = frozenset({"broccoli", "fire", "smoke", "water", "snow"})


def number(count: int) -> str:
    """A small number as a word: ``3`` is "three"; above ten it stays in digits."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else str(count)


def article(noun: str) -> str:
    """The noun with its indefinite article, by sound: "an umbrella", "a unicycle", "an hour"."""
    word = noun.lower()
    vowel = word.startswith(_AN_DESPITE_SPELLING) or (
        word[:1] in "aeiou" and not word.startswith(_A_DESPITE_SPELLING)
    )
    return f"{'an' if vowel else 'a'} {noun}"


def plural(noun: str) -> str:
    """The noun's plural; only its last word changes: "wine glass" gives "wine glasses"."""
    *before, last = noun.split(" ")
    regular = f"{last[:-1]}ies" if re.search(r"[^aeiou]y$", last) else f"{last}s"
    if re.search(r"(s|x|z|ch|sh)$", last):
        regular = f"{last}es"
    return " ".join([*before, _PLURALS.get(last, regular)])


def counted(noun: str, count: int) -> str:
    """A noun phrase for so many: "a dog", "two dogs", "scissors", "several boats" for more than three."""
    if noun in _MASSES:
        return noun
    if noun in _PAIRS:
        return f"a pair of {noun}" if count == 1 else f"several pairs of {noun}"
    if count == 1:
        return article(noun)
    return f"{number(count) if count <= 3 else 'several'} {plural(noun)}"


def agree(verb: str, many: bool) -> str:
    """The present form of a verb phrase; its first word is a verb, and so is one after "&" or ", then".

    "enter & come closer" gives "enters and comes closer" for one, "enter and come closer" for many.
    """
    parts = re.split(r"( & |, then )", verb)
    for at in range(0, len(parts), 2):
        head, *rest = parts[at].split(" ")
        several = "are" if head == "be" else head
        parts[at] = " ".join([several if many else third(head), *rest])
    return "".join(parts).replace(" & ", " and ")


def gerund(verb: str) -> str:
    """The -ing form of a verb phrase: "come closer" gives "coming closer"."""
    head, *rest = verb.split(" ")
    return " ".join([gerunds(head)[0], *rest])


def spoken_words(text: str) -> int:
    """How many words a voice says for a written text; never fewer than the words written.

    "2010" counts two, "www.sintel.org" seven (w, w, w, dot, sintel, dot, org), "sci-fi" two.
    """
    return sum(max(1, _spoken(token)) for token in text.split())


def capital(text: str) -> str:
    """The text with its first letter in upper case; opening quotation marks do not count."""
    for at, letter in enumerate(text):
        if letter.isalnum():
            return text[:at] + letter.upper() + text[at + 1 :]
    return text


def bare(text: str) -> str:
    """Letters and digits only, in lower case, single spaces: what two texts are compared by."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def _spoken(token: str) -> int:
    address = re.fullmatch(r"\W*+((?:[\w-]++[./@:]++)++[\w-]++/?)\W*", token)
    if address and re.search(r"[a-z]", token, re.IGNORECASE):
        parts = [part for part in re.split(r"([./@:]+)", address[1]) if part]
        return sum(1 if re.match(r"[./@:]", part) else _spoken_word(part) for part in parts)
    return sum(_spoken_word(part) for part in re.findall(r"\d+|[^\W\d_]+(?:['’][^\W\d_]+)*", token))


def _spoken_word(word: str) -> int:
    if word.isdecimal():
        # Words in a number: "forty-two" counts two, a year as "nineteen forty", others digit by digit
        value = int(word)
        if len(word) == 4 and value >= 1000:
            rest = value % 100
            return 1 + (2 if 0 < rest < 10 else _below_hundred(rest))
        return _below_hundred(value) if value < 100 else len(word)
    if word.lower() == "www":
        return 3
    if len(word) > 1 and word.isascii() and not _VOWELS.search(word):
        return (len(word) + 1) // 2
    return 1


def _below_hundred(value: int) -> int:
    return 1 if value <= 20 or value % 10 == 0 else 2


_MARKS = str.maketrans({"“": "'", "”": "'", '"': "'", "«": "'", "»": "'", "„": "'", "`": "'"})
_ENDINGS = (".", "!", "?", "…")
_BREAKS = re.compile(r"(?<=[.!?…])\s+|(?<=[,;:])\s+|(?<!\s)\s+[-–—|•·]\s+")
_SHORTEST_PART = {True: 3, False: 6}
"""Words that a part must have: a whole sentence few, one that ends at a comma more."""
_FUNCTION_WORDS = frozenset(
    {
        *("a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "of", "on", "or", "our"),
        *("the", "their", "to", "under", "with", "your"),
    }
)
"""A part that ends in one of these was cut inside a phrase."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words to be read aloud, cleaned; ``whole`` is False for the beginning of a longer text."""

    words: str
    whole: bool = True

    @property
    def spoken(self) -> int:
        """Words that a voice says."""
        return spoken_words(self.words)

    def inside(self) -> str:
        """In quotation marks, within a sentence: ``"SINTEL"``."""
        return f'"{self.words}"'

    def at_end(self) -> str:
        """In quotation marks, as a sentence's end: ``"SINTEL."``, ``"Who are you?"``."""
        return f'"{self.words}"' if self.words.endswith(_ENDINGS) else f'"{self.words}."'


def clean(text: str) -> str:
    """The text on one line, single spaces, no double quotation marks, nothing hanging at its ends.

    Empty where there is no word to say, or one in another script than an English voice can speak.
    """
    line = " ".join(re.sub(r"[|•·_=<>*#~^\\]+", " ", text.translate(_MARKS)).split())
    line = re.sub(r"(?<!\s)\s+([,.;:!?…])", r"\1", line)
    line = re.sub(r"^[\s,.;:!?)\]/+-]+|(?<![\s,;:(\[/&+-])[\s,;:(\[/&+-]+$", "", line)
    if line.startswith("'") and line.endswith("'"):
        line = line.strip("' ")
    if line.endswith(".") and not line.endswith(".."):
        line = line[:-1]
    spoken = len(re.findall(r"[A-Za-z\u00c0-\u024f]", line))
    if 2 * spoken < sum(map(str.isalpha, line)) or not re.search(r"[^\W\d_]{2}|\d", line):
        return ""
    return line


def fit_quote(text: str, room: int) -> Quote | None:
    """The text, or its longest beginning up to punctuation, within ``room`` spoken words; else None."""
    words = clean(text)
    if not words:
        return None
    if spoken_words(words) <= room:
        return Quote(words)
    ends = [match.start() for match in _BREAKS.finditer(words)]
    for end in reversed(ends):
        part = words[:end].rstrip(" ,;:-–—")
        tokens, least = part.lower().split(), _SHORTEST_PART[words[end - 1] in ".!?…"]
        stands_alone = len(tokens) >= least and tokens[-1] not in _FUNCTION_WORDS
        if stands_alone and spoken_words(part) <= room:
            return Quote(re.sub(r"(?<!\.)\.$", "", part), whole=False)
    return None


SEVERAL = 4
"""From so many on, a detector's number is not to be trusted to the unit."""
CROWD = 8

_POSSESSIVES = {"he": "his", "she": "her", "they": "their", "it": "its"}
_SOMEBODY = re.compile(
    r"\b(?:some(?:one|body)|any(?:one|body)|another|(?<!each )others?|person|people|figures?|"
    r"(?:an?|the) faces?|crowd|strangers?|m[ae]n|wom[ae]n|boys?|girls?|child|children|guys?|"
    r"he|him|his|she|her|they|them|their)\b",
    re.IGNORECASE,
)
"""Words for people who have no name in a line."""
_SETTING = r"(?:(?:In|Out|Up|Close)\b[^,\"]{0,24}, )?"
"""An adverbial that may open a line: "In the distance, "."""
_QUOTED = re.compile(r'"[^"]*"')
_QUOTED_PART = re.compile(r'("[^"]*")')
_OTHER_NAME = re.compile(r"(?<=[\w,;:'’] )[A-Z]\w")
_PARTED = re.compile(r"[,;\"]|\b(?:and|as|while|then)\b")
_PRONOUN = re.compile(r"\b(?:(he|she|they|it)\b|(his|her|their|its) face\b)", re.IGNORECASE)


def called_together(names: Sequence[Named], unknown: int) -> str:
    """People of whom some are known: "Thom and Celia", "Thom and another person"."""
    return listed([*(name.called for name in names), *_others(len(names) + unknown, unknown)])


def face_of(named: Named) -> str:
    """ "Thom's face", "the face of the woman in red"."""
    return f"{named.called}'s face" if named.named else f"the face of {named.called}"


def by_pronoun(subject: str, named: Named) -> str:
    """A subject with the pronoun for the name: "Thom" is "he", "Thom's face" is "his face"."""
    if subject == face_of(named):
        return f"{_POSSESSIVES[named.pronoun]} face"
    return named.pronoun if subject == named.called else subject


def stands_for(named: Named, line: str, cast: Sequence[Character]) -> bool:
    """True where, after ``line``, the pronoun can be of nobody but ``named``, by those of the ``cast``."""
    if named.pronoun not in _POSSESSIVES or not re.match(_SETTING + _pattern(named.called), line):
        return False
    rest = _QUOTED.sub("", re.sub(_SETTING + _pattern(named.called) + r"(?:'s face)?", "", line, count=1))
    if named.pronoun in ("they", "it") and _PARTED.search(rest):
        return False
    for character in cast:
        rest = _without(rest, character, named)
    return not _SOMEBODY.search(rest) and not _OTHER_NAME.search(rest)


def resolved(line: str, before: str, known: Sequence[Named], cast: Sequence[Character]) -> str:
    """The line with its first pronoun as the name that it stands for, where one of ``known`` is meant."""
    found = _PRONOUN.search(_QUOTED.sub(lambda quoted: " " * len(quoted[0]), line))
    if found is None:
        return line
    said = found[0].lower().removesuffix(" face")
    forms = {name: _POSSESSIVES.get(name.pronoun) if found[2] else name.pronoun for name in known}
    meant = [name for name in known if forms[name] == said and stands_for(name, before, cast)]
    if not meant:
        return line
    told = face_of(meant[0]) if found[2] else meant[0].called
    return f"{line[: found.start()]}{told}{line[found.end() :]}"


def without_names(text: str, names: Sequence[Named]) -> str:
    """The text with a plain name for each, so that no name is taken for an ordinary word."""
    for name in names:
        if name.named:
            text = re.sub(_pattern(name.called), "Anna", text)
    return text


def without_cast(line: str, cast: Sequence[Character]) -> str:
    """The line without the names of the cast; words that are read aloud keep theirs."""
    parts = _QUOTED_PART.split(line)
    called = {name for c in cast for name in (c.called, c.full, *c.others, *c.hidden) if name}
    for name in sorted(called, key=lambda name: (-len(name), name)):
        parts[::2] = [re.sub(_pattern(name), "", part) for part in parts[::2]]
    return "".join(parts)


def _others(count: int, unknown: int) -> list[str]:
    if unknown < 2:
        return ["another person"] * unknown
    if unknown < SEVERAL:
        return [f"{number(unknown)} other people"]
    return ["many others" if count >= CROWD else "several others"]


def listed(nouns: Iterable[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    *before, last = nouns
    return f"{', '.join(before)} and {last}" if before else last


def _pattern(called: str) -> str:
    """A name as it stands in a line; a descriptor may open it, with a capital."""
    first, rest = called[:1], called[1:]
    letters = f"[{first.lower()}{first.upper()}]" if first.isalpha() else re.escape(first)
    return rf"(?<!\w){letters if first.islower() else re.escape(first)}{re.escape(rest)}(?!\w)"


def _without(rest: str, character: Character, named: Named) -> str:
    """The rest of a line without a name that the pronoun cannot mean."""
    apart = character.id == named.id or (character.pronoun not in ("", named.pronoun))
    names = (character.called, character.full, *character.others, *character.hidden)
    for name in sorted({name for name in names if name}, key=len, reverse=True):
        rest = re.sub(_pattern(name), "" if apart else "another", rest)
    return rest
