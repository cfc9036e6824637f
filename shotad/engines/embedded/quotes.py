"""Text on the screen, made fit to be read aloud: cleaned, quoted, and shortened only at punctuation.

Capitals stay as they are written: a voice says COMING SOON and Coming soon alike, an abbreviation needs
its capitals, and whoever checks the script finds what stands in the picture.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from shotad.engines.embedded.words import spoken_words

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

    @property
    def single(self) -> bool:
        """True for one written word."""
        return " " not in self.words

    def inside(self) -> str:
        """In quotation marks, within a sentence: ``"SINTEL"``."""
        return f'"{self.words}"'

    def at_end(self) -> str:
        """In quotation marks, as a sentence's end: ``"SINTEL."``, ``"Who are you?"``."""
        return f'"{self.words}"' if self.words.endswith(_ENDINGS) else f'"{self.words}."'


def clean(text: str) -> str:
    """The text on one line, single spaces, no double quotation marks, nothing hanging at its ends.

    Empty where there is no word to say: a lone letter or mark is a misreading more often than a text.
    """
    line = " ".join(re.sub(r"[|•·_=<>*#~^\\]+", " ", text.translate(_MARKS)).split())
    line = re.sub(r"(?<!\s)\s+([,.;:!?…])", r"\1", line)
    line = re.sub(r"^[\s,.;:!?)\]/+-]+|(?<![\s,;:(\[/&+-])[\s,;:(\[/&+-]+$", "", line)
    if line.startswith("'") and line.endswith("'"):
        line = line.strip("' ")
    if line.endswith(".") and not line.endswith(".."):
        line = line[:-1]
    if not re.search(r"[^\W\d_]{2}|\d", line):
        return ""
    return line


def fit_quote(text: str, room: int) -> Quote | None:
    """The whole text, or its longest beginning that ends at punctuation, within ``room`` spoken words.

    None where the text has no words or no part of it fits.
    """
    words = clean(text)
    if not words:
        return None
    if spoken_words(words) <= room:
        return Quote(words)
    ends = [match.start() for match in _BREAKS.finditer(words)]
    for end in reversed(ends):
        part = words[:end].rstrip(" ,;:-–—")
        if _stands_alone(part, words[end - 1] in ".!?…") and spoken_words(part) <= room:
            return Quote(re.sub(r"(?<!\.)\.$", "", part), whole=False)
    return None


def _stands_alone(part: str, sentence: bool) -> bool:
    tokens = part.lower().split()
    return len(tokens) >= _SHORTEST_PART[sentence] and tokens[-1] not in _FUNCTION_WORDS
