"""From "The clip shows a man running" to "A man is running": what a picture shows, said as a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shotad.describe.clauses import listed

_NOUNS_IN_ING = listed(
    "building ceiling king ring string wing thing something anything nothing everything evening "
    "morning wedding clothing railing living dining swimming sewing lightning viking being spring "
    "sling sibling earring briefing housing lining"
)
_PERHAPS_NOUNS = listed(
    "painting drawing clearing crossing opening landing meeting gathering ending beginning setting"
)
"""Nouns where nothing or a preposition follows: ``a large painting of a ship``."""
_BEFORE_NOUN = listed("a an the his her their its of in on at with by from this that some another")
_PREPOSITION = (
    r"(?:with|of|in|on|at|near|from|by|inside|outside|behind|beside|under|over|through|among|between)"
)
_PLURAL_WORDS = listed("people men women children police they both others crowds soldiers")
_NUMBERS = (
    r"(?:two|three|four|five|six|seven|eight|several|many|some|both|various|multiple|numerous|few|a few)"
)


def restated(rest: str, names: Sequence[str] = ()) -> str:
    """What stands after ``The clip shows``, as a sentence of its own.

    ``a man who runs → A man runs``, ``Ann opening a gate → Ann is opening a gate``,
    ``a gun → There is a gun``, ``the gun → The gun can be seen``.
    """
    text = rest.strip()
    head, comma, tail = _split(text)
    if head.lower().startswith("that "):
        said = head[5:]
    elif match := re.match(r"(?P<who>[^,;]+?),? (?:who|which) (?P<does>.+)", head):
        said = f"{match['who']} {match['does']}"
    elif (at := _participle(head)) is not None:
        words = head.split()
        said = f"{' '.join(words[:at])} {_be(words[:at], names)} {' '.join(words[at:])}"
    elif _finite(head):
        said = head
    else:
        said = _there(head, names)
    sentence = f"{said}{comma}{tail}"
    return sentence[:1].upper() + sentence[1:]


def _split(text: str) -> tuple[str, str, str]:
    """Before and after the first comma that begins a clause of its own, or the sentence's end."""
    found = re.search(
        r"[,;] (?=while |as |and (?:he|she|they|it|then)\b|before |who )|(?<=\w)[.!?…]\W*$", text
    )
    if found is None or text[found.start() : found.end() + 4] == ", who":
        end = re.search(r"[.!?…]\W*$", text)
        return (text[: end.start()], end[0], "") if end else (text, "", "")
    return text[: found.start()], found[0], text[found.end() :]


def _participle(head: str) -> int | None:
    """Where the first verb in -ing stands after its subject, as an index of words."""
    words = head.split()
    for at, word in enumerate(words):
        plain = word.strip(",;:").lower()
        before = words[at - 1].lower() if at else ""
        after = words[at + 1].lower() if at + 1 < len(words) else "of"
        noun = plain in _NOUNS_IN_ING or (plain in _PERHAPS_NOUNS and re.fullmatch(_PREPOSITION, after))
        if at and plain.endswith("ing") and len(plain) > 4 and not noun and before not in _BEFORE_NOUN:
            return at
    return None


def _finite(head: str) -> bool:
    return re.search(r"\b(?:is|are|has|have|does|can|he \w+s|she \w+s|they \w+)\b", head) is not None


def _there(head: str, names: Sequence[str]) -> str:
    words = head.split()
    first = words[0].lower() if words else ""
    if first in ("a", "an") or re.match(_NUMBERS, head, re.IGNORECASE):
        return f"There {_be(words, names)} {head[0].lower()}{head[1:]}"
    return f"{head} can be seen"


def _be(subject: Sequence[str], names: Sequence[str]) -> str:
    """``is`` or ``are`` for this subject: ``Ann and Bo`` are, ``a man with flowers`` is."""
    phrase = re.split(rf"\b{_PREPOSITION}\b", " ".join(subject), maxsplit=1)[0].strip(" ,")
    last = phrase.split()[-1].strip(",") if phrase.split() else ""
    if re.search(r"\band\b", phrase) or re.match(rf"{_NUMBERS}\b", phrase, re.IGNORECASE):
        return "are"
    if last in names or re.match(r"(?:an?|one|this|that|he|she|it)\b", phrase, re.IGNORECASE):
        return "is"
    plural = last.lower() in _PLURAL_WORDS or (
        last[:1].islower() and re.search(r"[^sui]s$", last) is not None
    )
    return "are" if plural else "is"
