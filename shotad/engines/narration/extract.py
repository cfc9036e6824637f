"""One sentence out of a description that a vision model wrote: chosen, and shortened at clause ends only.

Used where nothing was measured, so that the narrator works behind any Stage I. It rewrites nothing: what
it says is a beginning or an end of a sentence that the model wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shotad.engines.narration.words import capital, spoken_words

_STEP = re.compile(r"^\s*(?:#+\s*)?(\d)[.)]\s*\**([^:*\n]{2,60}?)\**\s*:\**[ \t]*", re.MULTILINE)
_WANTED = ("actions", "interactions", "main characters")
"""Steps of the template by how much an AD sentence owes them; others come after these."""
_SENTENCE = re.compile(r"(?<=[.!?])[\"”']?\s+(?=[\"“A-Z])")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Sgt|Lt|Capt|Col|Gen|Jr|Sr|vs)\.$")
_LABEL = re.compile(
    r"^(?:[-*•\s]+|\[?\bshots?\s+\d+(?:\s*(?:,|and|to|[-–])\s*\d+)*\]?\s*[:,–-]\s*"
    r"|(?:in|during|throughout)\s+\[?shots?\s+\d+(?:\s*(?:,|and|to|[-–])\s*(?:shots?\s+)?\d+)*\]?,?\s+)+",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[,;]\s+|\s+[–—]\s+|\s+(?=(?:while|as|before|after|until|then|and then|because|so that|when)\s)"
)
_FEWEST = 3
"""Words below which a beginning is no sentence."""
_OPENERS = frozenset(
    {
        *("in", "on", "at", "as", "while", "when", "after", "before", "inside", "outside", "with"),
        *("from", "under", "behind", "near", "beside", "through", "during", "once", "meanwhile"),
    }
)
"""A first word that promises a main clause still to come."""
_DANGLING = frozenset(
    {
        *("and", "or", "but", "then", "as", "while", "who", "which", "that", "the", "a", "an", "to"),
        *("of", "with", "in", "on", "at", "by", "for", "from", "into", "both", "also", "is", "are"),
    }
)


def sentences(description: str) -> Iterator[str]:
    """The sentences of a description, those about actions first, without labels and markup."""
    for passage in _passages(description):
        for sentence in _split(passage):
            stripped = re.sub(r"[*_`#]+", "", _LABEL.sub("", sentence)).strip()
            if stripped:
                yield capital(stripped)


def shortened(sentence: str, budget: int | None) -> Iterator[str]:
    """The sentence, then ever shorter ones that end where one of its clauses ends, within the budget."""
    whole = sentence.rstrip(" ,;:")
    ends = [match.start() for match in _CLAUSE_END.finditer(whole)]
    first = whole.split(" ", 1)[0].lower()
    heads = [whole, *(whole[:end] for end in reversed(ends))]
    if first in _OPENERS:
        opened = re.search(r",\s+", whole)
        heads = [whole, whole[opened.end() :]] if opened else [whole]
        heads += [heads[-1][: m.start()] for m in reversed(list(_CLAUSE_END.finditer(heads[-1])))]
    for head in heads:
        line = _closed(head)
        if line and (budget is None or spoken_words(line) <= budget):
            yield line


def _passages(description: str) -> list[str]:
    steps = list(_STEP.finditer(description))
    if not steps:
        return [" ".join(re.sub(r"^\s*Description:\s*", "", description).split())]
    ends = [*(step.start() for step in steps[1:]), len(description)]
    found = [
        (step[2].strip().lower(), description[step.end() : end])
        for step, end in zip(steps, ends, strict=True)
    ]
    rank = {head: at for at, head in enumerate(_WANTED)}
    found.sort(key=lambda pair: rank.get(pair[0], len(_WANTED)))
    return [text.split("\n\n")[0] for _, text in found]


def _split(passage: str) -> Iterator[str]:
    for line in passage.splitlines():
        start = 0
        text = " ".join(line.split())
        for match in _SENTENCE.finditer(text):
            if not _ABBREVIATION.search(text[: match.start()]):
                yield text[start : match.end()].strip()
                start = match.end()
        if text[start:].strip():
            yield text[start:].strip()


def _closed(head: str) -> str:
    """The head as a sentence with a full stop; empty where it is none or breaks a quotation."""
    body = head.rstrip(" ,;:–—")
    tokens = body.split()
    if len(tokens) < _FEWEST or tokens[-1].lower() in _DANGLING or body.count('"') % 2:
        return ""
    if body.count("(") != body.count(")") or (tokens[0].lower() in _OPENERS and "," not in body):
        return ""
    return capital(body if re.search(r"[.!?…][\"”']?$", body) else f"{body}.")
