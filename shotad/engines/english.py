"""Words for the embedded narrator: how many a voice says, and text that is read aloud.

Counted are English words; a text in another language counts as many as take as long to say.

Text on the screen keeps its capitals, so that whoever checks the script finds what stands in the picture.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from shotad.core import Character
from shotad.core.config.languages import is_english
from shotad.core.engine import NamedFace
from shotad.script.pace import spoken_words
from shotad.script.rules import quotations
from shotad.script.track_texts import Texts

_VOWELS = re.compile(r"[aeiouy]", re.IGNORECASE)


def words_read_aloud(text: str) -> int:
    """How many words a voice says for a written text; never fewer than the words written.

    "2010" counts two, "www.sintel.org" seven (w, w, w, dot, sintel, dot, org), "sci-fi" two.
    """
    return sum(max(1, _spoken(token)) for token in text.split())


def spoken_length(text: str, language: str) -> int:
    """As `words_read_aloud`, for a text in ``language`` (a tag)."""
    if is_english(language):
        return words_read_aloud(text)
    # French has blanks before its colons and within its quotation marks.
    tokens = [token for token in text.split() if token.strip(":;!?«»")]
    # Addresses and abbreviations are read letter by letter in other languages, too.
    return max(spoken_words(text, language), words_read_aloud(" ".join(tokens)))


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

    def at_end(self, texts: Texts) -> str:
        """In quotation marks, as a sentence's end: ``"SINTEL."``, ``"Who are you?"``, ``„SINTEL“.``"""
        return self._marked("quote.last", texts)

    def within(self, texts: Texts) -> str:
        """In quotation marks within a sentence that goes on: ``"SINTEL,"``, ``"Who are you?"``."""
        return self._marked("quote.inner", texts)

    def _marked(self, key: str, texts: Texts) -> str:
        has_ending = self.words.endswith(_ENDINGS)
        return texts(f"{key}_marked" if has_ending else key, words=self.words)


def clean(text: str) -> str:
    """The text on one line, single spaces, no double quotation marks, nothing hanging at its ends.

    Empty where there is no word to say, or a letter of another script than an English voice can speak.
    """
    line = " ".join(re.sub(r"[|•·_=<>*#~^\\]+", " ", text.translate(_MARKS)).split())
    line = re.sub(r"(?<!\s)\s+([,.;:!?…])", r"\1", line)
    line = re.sub(r"^[\s,.;:!?)\]/+-]+|(?<![\s,;:(\[/&+-])[\s,;:(\[/&+-]+$", "", line)
    if line.startswith("'") and line.endswith("'"):
        line = line.strip("' ")
    if line.endswith(".") and not line.endswith(".."):
        line = line[:-1]
    spoken = len(re.findall(r"[A-Za-z\u00c0-\u024f]", line))
    if spoken < sum(map(str.isalpha, line)) or not re.search(r"[^\W\d_]{2}|\d", line):
        return ""
    return line


def fit_quote(text: str, max_words: int, language: str = "en") -> Quote | None:
    """The text, or its longest beginning up to punctuation, within ``max_words`` spoken words; else None.

    A voice of ``language`` (a tag) reads it.

    ``text`` has words to say: `clean` leaves some.
    """
    words = clean(text)
    if spoken_length(words, language) <= max_words:
        return Quote(words)
    ends = [match.start() for match in _BREAKS.finditer(words)]
    for end in reversed(ends):
        part = words[:end].rstrip(" ,;:-–—")
        tokens, least = part.lower().split(), _SHORTEST_PART[words[end - 1] in ".!?…"]
        stands_alone = len(tokens) >= least and tokens[-1] not in _FUNCTION_WORDS
        if stands_alone and spoken_length(part, language) <= max_words:
            return Quote(re.sub(r"(?<!\.)\.$", "", part), whole=False)
    return None


def without_names(text: str, names: Sequence[NamedFace]) -> str:
    """The text with a plain name for each, so that no name is taken for an ordinary word."""
    for name in names:
        if name.named:
            text = re.sub(_pattern(name.called), "Anna", text)
    return text


def without_cast(line: str, cast: Sequence[Character]) -> str:
    """The line without the names of the cast; words that are read aloud keep theirs."""
    called = {name for c in cast for name in (c.called, c.full, *c.others, *c.hidden) if name}
    parts: list[str] = []
    end_of_quotation = 0
    for start, end in (*quotations(line), (len(line), len(line))):
        unquoted_part = line[end_of_quotation:start]
        for name in sorted(called, key=lambda name: (-len(name), name)):
            unquoted_part = re.sub(_pattern(name), "", unquoted_part)
        parts += [unquoted_part, line[start:end]]
        end_of_quotation = end
    return "".join(parts)


def _pattern(called: str) -> str:
    """A name as it stands in a line; a descriptor may open it, with a capital."""
    first, rest = called[:1], called[1:]
    letters = f"[{first.lower()}{first.upper()}]" if first.isalpha() else re.escape(first)
    return rf"(?<!\w){letters if first.islower() else re.escape(first)}{re.escape(rest)}(?!\w)"


_SAME_WORD = 0.8
"""Likeness of letters from which two readings are of one word, if it is long enough for a misread letter."""
_LONG_WORD = 5


def same_text(first: str, second: str) -> bool:
    """True for two readings of one text, give or take misread letters or spaces.

    SINTEL and SINTEI are one; CHAPTER ONE and CHAPTER TWO, or PART 1 and PART 2, are not.
    """
    words, others = bare(first).split(), bare(second).split()
    if not words or not others:
        return False
    if "".join(words) == "".join(others):
        return True
    return len(words) == len(others) and all(map(_same_word, words, others))


def _same_word(word: str, other: str) -> bool:
    if word == other:
        return True
    plain = word.isalpha() and other.isalpha() and min(len(word), len(other)) >= _LONG_WORD
    return plain and SequenceMatcher(None, word, other, autojunk=False).ratio() >= _SAME_WORD
