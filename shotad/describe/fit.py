"""Making a line short enough without a model: drop sentences, then clauses, else give up.

The order is the one listeners prefer; a phrase is never cut in two, and what is quoted stays whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from shotad.script.cue import count_words

_SENTENCE = re.compile(r"""(?<=[.!?…])["”']?\s+(?=["“']?[A-Z0-9])""")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Sgt|Lt|Capt|Col|Gen|Jr|Sr|vs|No)\.$")
_CLAUSE = re.compile(r"(?:[,;:]\s+|\s+[–—-]\s+|\s+(?=while\s|then\s|before\s|until\s))")
_FEWEST = 3
"""Words that a shortened line must still have to be worth saying."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A line that fits, and what was done to make it so (empty: nothing)."""

    text: str
    steps: tuple[str, ...] = ()


def fit_words(text: str, budget: int) -> Fitted | None:
    """``text`` with at most ``budget`` words, or None where no whole phrase is short enough."""
    if count_words(text) <= budget:
        return Fitted(text)
    steps: list[str] = []
    sentences = split_sentences(text)
    if len(sentences) > 1:
        steps.append("dropped sentences")
        while len(sentences) > 1 and count_words(" ".join(sentences)) > budget:
            sentences.pop()
    line = " ".join(sentences)
    if count_words(line) > budget:
        steps.append("dropped clauses")
        line = _without_clauses(line, budget)
    if count_words(line) > budget or count_words(line) < min(_FEWEST, budget):
        return None
    return Fitted(line, tuple(steps))


def split_sentences(text: str) -> list[str]:
    """The sentences of a line; a full stop after a title such as "Mr." ends none."""
    parts: list[str] = []
    start = 0
    for match in _SENTENCE.finditer(text):
        head = text[start : match.end()].strip()
        if not _ABBREVIATION.search(head) and _quotes_closed(head):
            parts.append(head)
            start = match.end()
    return [*parts, text[start:].strip()] if text[start:].strip() else parts


def _without_clauses(sentence: str, budget: int) -> str:
    """The longest beginning that ends where a clause ends and fits; the sentence if there is none."""
    for match in reversed(list(_CLAUSE.finditer(sentence))):
        head = sentence[: match.start()].rstrip(" ,;:–—-")
        head = re.sub(r"\s+(?:and|or|but|then)$", "", head)
        if _quotes_closed(head) and count_words(head) <= budget:
            return f"{head}."
    return sentence


def _quotes_closed(text: str) -> bool:
    return text.count('"') % 2 == 0 and text.count("“") == text.count("”")
