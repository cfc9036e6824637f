"""From "The clip shows a man running" to "A man is running": what a picture shows, said as a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shotad.script import (
    ARTICLES,
    LINKING,
    NOUNS_IN_ING,
    PERHAPS_NOUNS_IN_ING,
    PLURALS,
    POSSESSIVES,
    listed,
    main_verb,
)

_BEFORE_NOUN = ARTICLES | POSSESSIVES | LINKING | listed("in on this that some another")
"""Words after which a form in -ing is a noun; after "two" and "near" it may be what the subject does."""
_PREPOSITION = (
    r"(?:with|of|in|on|at|near|from|by|inside|outside|behind|beside|under|over|through|among|between)"
)
_NUMBERS = (
    r"(?:two|three|four|five|six|seven|eight|several|many|some|both|various|multiple|numerous|few|a few)"
)


def restated(rest: str, names: Sequence[str] = ()) -> str:
    """What stands after ``The clip shows``, as a sentence of its own.

    ``a man who runs → A man runs``, ``Ann opening a gate → Ann is opening a gate``,
    ``a gun → There is a gun``, ``the gun → The gun can be seen``.
    """
    text = _VIEW_OF.sub("", rest.strip())
    head, comma, tail = _split(text)
    at = _participle(head)
    if head.lower().startswith("that "):
        said = head[5:]
    elif match := _WHO_DOES.match(head):
        said = f"{match['who']} {match['does']}"
    elif at is not None:
        words = head.split()
        said = f"{' '.join(words[:at])} {_be(words[:at], names)} {' '.join(words[at:])}"
    elif _finite(head):
        said = head
    else:
        said = _there(head, names)
    sentence = f"{said}{comma}{tail}"
    return sentence[:1].upper() + sentence[1:]


def present(who: str, be: str) -> str:
    """Somebody of whom no more is said: ``a man → There is a man.``, ``Ann → Ann is there.``"""
    if re.match(rf"(?:an?|{_NUMBERS})\b", who, re.IGNORECASE):
        return f"There {be} {who[0].lower()}{who[1:]}."
    return f"{who} {be} there."


def set_in(where: str) -> str:
    """``in a forest. → The setting is a forest.``"""
    return f"The setting is {re.sub(r'^(?:in|at) ', '', where)}"


_VIEW_OF = re.compile(
    r"^(?:an? |the )?(?:(?:extreme|wide|medium|long|full|close|aerial|overhead|brief|tracking) )*"
    r"(?:close-ups?(?: (?:shots?|views?))?|shots?) of (?!\w+ glass)",
    re.IGNORECASE,
)
_WHO_DOES = re.compile(r"(?P<who>[^,;]+?),? (?:who|which) (?P<does>.+)")
_AS_THEY = re.compile(r" as (?:he|she|they|it) (?=\w)")
_CLAUSE = re.compile(r"[,;] (?=while |as |and (?:he|she|they|it|then)\b|before )|(?<=\w)[.!?…]\W*$")


def _split(text: str) -> tuple[str, str, str]:
    """Before and after the first comma that begins a clause of its own, or the sentence's end."""
    text = _AS_THEY.sub(" who ", text, count=1) if _participle(text) is None else text
    found = _CLAUSE.search(text)
    return (text[: found.start()], found[0], text[found.end() :]) if found else (text, "", "")


_CLAUSE_WORDS = listed("where who that which when is are has have while as")
"""Words after which a verb in -ing is no longer what the subject does."""


def _participle(head: str) -> int | None:
    """Where the first verb in -ing stands after its subject, as an index of words."""
    words = head.split()
    for at, word in enumerate(words):
        plain = word.strip(",;:").lower()
        before = words[at - 1].lower() if at else ""
        after = words[at + 1].lower() if at + 1 < len(words) else "of"
        noun = plain in NOUNS_IN_ING or (plain in PERHAPS_NOUNS_IN_ING and re.fullmatch(_PREPOSITION, after))
        if plain in _CLAUSE_WORDS:
            return None
        if at and plain.endswith("ing") and len(plain) > 4 and not noun and before not in _BEFORE_NOUN:
            return at
    return None


def _finite(head: str) -> bool:
    """True where a verb stands that is not in a clause on the last noun."""
    main = re.split(r"\b(?:where|that|which|when)\b", head, maxsplit=1)[0]
    return (
        re.search(r"\b(?:is|are|has|have|does|can)\b", main) is not None
        or main_verb(main.split()) is not None
    )


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
    plural = last.lower() in PLURALS | {"they"} or (
        last[:1].islower() and re.search(r"[^sui]s$", last) is not None
    )
    return "are" if plural else "is"
