"""A second look: is what a line states to be seen in its clip?

An addition to Shot-by-Shot against what models invent. The line is taken apart into statements, the engine
of Stage I says of each whether the frames show it, and only a clear no counts against it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from shotad.core import NOBODY, Message, OverlaySettings, Presence, PromptSettings, is_english
from shotad.description.answers import plain_quotes
from shotad.description.blocks import material, question
from shotad.description.castlist import MARKS, SHAPES, Marks, enumerated, name_with_mark, told_of
from shotad.description.statements import statements_of
from shotad.description.templates import render
from shotad.script import split_sentences

__all__ = [
    "VERDICT_TOKENS",
    "VERIFY_TEMPLATES",
    "parse_verdicts",
    "statements_in",
    "statements_of",
    "verify_messages",
]

VERIFY_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "verify/system": (),
    "verify/user": ("medium", "labels", "people", "shots", "statements", "template"),
    "verify/people": ("mark", "people"),
    "verify/statement": ("number", "statement"),
}
"""The templates of this module and the variables that each has."""

VERDICT_TOKENS = 256
"""Room for an answer: a verdict is a few tokens, and a line has a handful of statements."""

VERDICTS = ("yes", "no", "cannot tell")


def statements_in(line: str, language: str = "en") -> tuple[str, ...]:
    """What a line states, each to be judged alone: by the rules of English, else sentence by sentence."""
    return statements_of(line) if is_english(language) else tuple(split_sentences(line, language))


def verify_messages(
    statements: Sequence[str],
    plan_current: Sequence[int],
    settings: PromptSettings,
    *,
    presence: Presence = NOBODY,
    label: Literal["number", "box", "none"] = OverlaySettings().label,
    marks: Marks = MARKS,
) -> tuple[tuple[Message, ...], dict[str, Any]]:
    """The question, with the clip, and the JSON schema of its answer.

    ``plan_current`` are the painted numbers of the current shots, ``presence`` is who was recognised in the
    clip; ``label`` is how shots are marked, ``marks`` how people are.
    Raises ValueError without a statement or without a current shot.
    """
    if not statements or not plan_current:
        raise ValueError(
            f"statements and current shots are needed, got {len(statements)}, {list(plan_current)}"
        )
    keys = [str(number) for number in range(1, len(statements) + 1)]
    listed = (
        render("verify/statement", number=k, statement=s) for k, s in zip(keys, statements, strict=True)
    )
    user = render(
        "verify/user",
        medium=settings.medium,
        labels=render(f"stage1/labels-{label}"),
        people=_marked(presence, settings, marks),
        shots="[" + ", ".join(f"Shot {number}" for number in plan_current) + "]",
        statements="\n".join(listed),
        template=json.dumps(dict.fromkeys(keys, "...")),
    )
    messages = (Message("system", render("verify/system")), question(user, with_clip=True))
    return messages, _schema(keys)


def _marked(presence: Presence, settings: PromptSettings, marks: Marks) -> str:
    """Whose the marks on the frames are, by the names that lines have; nothing where there are none."""
    told = told_of(presence, settings)
    if marks == "none" or not told.seen:
        return ""
    people = enumerated(name_with_mark(c, told, "spoken", marks) for c in told.seen)
    return f" {render('verify/people', mark=SHAPES[marks], people=material(people))}"


def _schema(keys: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {key: {"type": "string", "enum": list(VERDICTS)} for key in keys},
        "required": keys,
        "additionalProperties": False,
    }


_DOUBT = re.compile(
    r"\b(?:tell|say|determin\w+|unclear|unsure|sure|uncertain|certain|clear|maybe|perhaps|possibl[ey]"
    r"|partial(?:ly)?|partly|hard to|difficult to|evidence|n/?a)\b",
    re.IGNORECASE,
)
_YES = re.compile(r"\W*(?:yes|true|visible|shown|correct|supported|y)\b", re.IGNORECASE)
_NO = re.compile(
    r"\W*(?:no|false|not (?:visible|shown|seen|correct|supported|there)|invisible|incorrect|wrong|n)\b",
    re.IGNORECASE,
)
_AT_END = re.compile(r"(?<!\W)(?=\W*[:=–—\-.!?\"')])\W++(yes|no|true|false)\W*$", re.IGNORECASE)
"""``1. She opens the tin: yes``, where the statement is repeated."""
_ITEM = re.compile(
    r"(?:^|[{,;]|\n(?![^\S\n]*\n)|(?<=[.!?])\s)[\s\"'*(\[-]*+(?:statement|claim|#)?[\s_#-]*+(\d{1,2})[\"'*)\].]*\s*(?:[:=.)–—-]+\s*)?"
    r"|(?<=\s)\(?(\d{1,2})[.):]+\s",
    re.IGNORECASE,
)
_WORD = re.compile(r"\b(?:yes|no|true|false|cannot tell|can't tell|unclear|unsure)\b", re.IGNORECASE)
_NUMBER_KEYS = ("number", "statement", "id", "index", "claim", "no")
_VERDICT_KEYS = ("verdict", "visible", "answer", "shown", "result", "value", "label", "judgement", "judgment")


def parse_verdicts(text: str, number: int) -> tuple[bool | None, ...]:
    """True, False or None (cannot tell, or not to be read) for each of ``number`` statements.

    Understands JSON, whole and broken, lists, lines with numbers and bare words in order. Only a clear no
    is False; a statement with two different answers has none.

    >>> parse_verdicts('1. Yes, she opens it.\\n2. No.\\n3. Not sure', 3)
    (True, False, None)
    """
    body = re.sub(r"<think>.*?(?:</think>|\Z)|```\w*", "", plain_quotes(text), flags=re.DOTALL).strip()
    for pairs in (_json_pairs(body), _numbered(body, number)):
        if pairs:
            return _collected(pairs, number)
    return (_verdict(body),) if number == 1 else _in_order(body, number)


def _verdict(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return {0: False, 1: True}.get(value)
    if isinstance(value, Mapping):
        named = [inner for key, inner in value.items() if str(key).lower() in _VERDICT_KEYS]
        return _verdict(named[0]) if named else None
    return _spoken(value) if isinstance(value, str) else None


def _spoken(words: str) -> bool | None:
    """A verdict in words: at their beginning, else at their end. One with doubt in it is none."""
    begins = _NO.match(words) or _YES.match(words)
    if begins:
        return None if _DOUBT.search(words[begins.end() :][:40]) else _NO.match(words) is None
    ends = _AT_END.search(words)
    return None if ends is None else ends[1].lower() in ("yes", "true")


def _json_pairs(body: str) -> list[tuple[int, bool | None]]:
    """Numbers and verdicts of the first JSON value, where there is a whole one."""
    opened = re.search(r"[{\[]", body)
    if not opened:
        return []
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_without_contradictions)
    try:
        return list(_pairs(decoder.raw_decode(body, opened.start())[0]))
    except (ValueError, RecursionError):
        return []


def _without_contradictions(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object; a key that stands twice with different values has none."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = value if found.get(key, value) == value else None
    return found


def _pairs(value: Any) -> Iterator[tuple[int, bool | None]]:
    """Number of the statement, from 1, and its verdict, out of an object or a list."""
    if isinstance(value, list):
        for place, item in enumerate(value, 1):
            stated = _number_in(item) if isinstance(item, Mapping) else None
            if isinstance(item, Mapping) and stated is None and len(item) == 1:
                yield from _pairs(item)
            else:
                yield (stated or place), _verdict(item)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            digits = re.search(r"\d+", str(key))
            if digits:
                yield int(digits[0]), _verdict(item)
            elif isinstance(item, (list, Mapping)):
                yield from _pairs(item)
            elif str(key).lower() in _VERDICT_KEYS:
                yield _number_in(value) or 1, _verdict(item)


def _number_in(item: Mapping[str, Any]) -> int | None:
    for key in _NUMBER_KEYS:
        digits = re.match(r"\D{0,12}(\d+)", str(item.get(key, "")))
        if digits:
            return int(digits[1])
    return None


def _numbered(body: str, number: int) -> list[tuple[int, bool | None]]:
    """Numbers and verdicts of lines, lists and broken JSON."""
    marks = [(int(mark[1] or mark[2]), mark.start(), mark.end()) for mark in _ITEM.finditer(body)]
    marks = [mark for mark in marks if 1 <= mark[0] <= number]
    stops = [*(start for _, start, _ in marks[1:]), len(body)]
    return [
        (place, _spoken(body[end:stop].strip())) for (place, _, end), stop in zip(marks, stops, strict=False)
    ]


def _in_order(body: str, number: int) -> tuple[bool | None, ...]:
    """Bare words, where there are as many as statements."""
    found = _WORD.findall(body)
    return tuple(map(_spoken, found)) if len(found) == number else (None,) * number


def _collected(pairs: Sequence[tuple[int, bool | None]], number: int) -> tuple[bool | None, ...]:
    said: dict[int, set[bool | None]] = {}
    for place, verdict in pairs:
        said.setdefault(place, set()).add(verdict)
    return tuple(next(iter(said[n])) if len(said.get(n, ())) == 1 else None for n in range(1, number + 1))
