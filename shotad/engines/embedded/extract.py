"""One sentence out of a description that a vision model wrote: chosen, and shortened at clause ends only.

Used where nothing was measured, so that the narrator works behind any Stage I. It rewrites nothing: what
it says is a beginning or an end of a sentence that the model wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shotad.engines.embedded.words import capital, spoken_words

_STEP = re.compile(r"^[^\S\n]*+(?:#++\s*+)?\**+(\d)[.)]\s*+\**([^:*\n]{2,60}?)\**\s*:\**[ \t]*", re.MULTILINE)
_WANTED = ("actions", "interactions", "main characters")
"""Steps of the template by how much an AD sentence owes them; others come after these."""
_SENTENCE = re.compile(r"(?<=[.!?])[\"”']?\s+(?=[\"“A-Z\[])")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Sgt|Lt|Capt|Col|Gen|Jr|Sr|vs)\.$")
_SHOTS = r"\[?\bshots?\s+\d+(?:\s*(?:,|and|to|[-–])\s*(?:shots?\s+)?\d+)*\b\]?"
_LABEL = re.compile(
    rf"^(?:[-*•\s]+|\[{_SHOTS}\]|{_SHOTS}\s*[:,–-]|\[{_SHOTS[3:]}|(?:in|during|throughout)\s+{_SHOTS},?)+\s*",
    re.IGNORECASE,
)
_MENTION = re.compile(
    rf"(?:,|(?<![\s,]))\s+\(?(?:in|during|throughout|of)\s+{_SHOTS}\)?(?=[\s,.;])|(?:(?<!\s)\s+)?\({_SHOTS}\)",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"^([A-Z][\w'’ -]{1,30}):\s+(?=([a-z]?))")
"""A list entry such as "Anna: walks to the door." or "Anna: She walks to the door."."""
_CLAUSE_END = re.compile(
    r"[,;]\s+|(?<!\s)\s+[–—]\s+"
    r"|(?<!\s)\s+(?=(?:while|as|before|after|until|then|and then|because|so that|when)\s)"
)
_ASIDE = re.compile(r"^((?:\S+ ){0,3}\S+), (?:\w+(?:ing|ed|n)|who|which|whose|with|in|now|still)\b[^,]*, ")
"""A subject with an aside between commas: "The woman, holding a phone, walks away."."""
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
            stripped = _plain(sentence)
            if stripped:
                yield capital(stripped)


def shortened(sentence: str, budget: int | None) -> Iterator[str]:
    """The sentence, then ever shorter ones that end where one of its clauses ends, within the budget."""
    whole = sentence.rstrip(" ,;:")
    if _ASIDE.match(whole):
        yield from _within([whole], budget)
        whole = _ASIDE.sub(r"\1 ", whole)
    ends = [match.start() for match in _CLAUSE_END.finditer(whole)]
    first = whole.split(" ", 1)[0].lower()
    heads = [whole, *(whole[:end] for end in reversed(ends))]
    if first in _OPENERS:
        opened = re.search(r",\s+", whole)
        heads = [whole, whole[opened.end() :]] if opened else [whole]
        heads += [heads[-1][: m.start()] for m in reversed(list(_CLAUSE_END.finditer(heads[-1])))]
    yield from _within(heads, budget)


def _within(heads: Sequence[str], budget: int | None) -> Iterator[str]:
    for head in heads:
        line = _closed(head, 2 if head is heads[0] else _FEWEST)
        if line and (budget is None or spoken_words(line) <= budget):
            yield line


def _plain(sentence: str) -> str:
    """The sentence without markup, labels of shots and names of list entries."""
    text = re.sub(r"[*_`#]+", "", sentence).strip()
    text = _MENTION.sub("", _LABEL.sub("", text)).strip()
    entry = _SPEAKER.match(text)
    if not entry:
        return text
    return f"{entry[1]} {text[entry.end() :]}" if entry[2] else text[entry.end() :]


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


def _closed(head: str, fewest: int) -> str:
    """The head as a sentence with a full stop; empty where it is none or breaks a quotation."""
    body = head.rstrip(" ,;:–—")
    tokens = body.split()
    if len(tokens) < fewest or tokens[-1].lower() in _DANGLING or body.count('"') % 2:
        return ""
    if body.count("(") != body.count(")") or (tokens[0].lower() in _OPENERS and "," not in body):
        return ""
    return capital(body if re.search(r"[.!?…][\"”']?$", body) else f"{body}.")
