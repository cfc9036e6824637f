"""A judge's answer, read strictly: a JSON object with what was asked, and nothing guessed.

Two wrappings are taken off, since they change nothing that is said: a code fence around the whole, and what
a model thinks aloud before it answers. All else that is not the object is refused, with words that the
engine is told when it is asked again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from shotad.description import refuses

_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[ \t]*+(?:json)?(?P<body>.*)```", re.DOTALL | re.IGNORECASE)


class Unreadable(ValueError):  # noqa: N818  what an answer is, as the engine is told
    """An answer that is not in the form asked for; the text says what is wrong with it, as a sentence."""


class Refused(Unreadable):
    """An answer that declines to answer."""


def record_in(answer: str, keys: Sequence[str]) -> dict[str, Any]:
    """The answer's JSON object, which has just these keys.

    >>> record_in('```json\\n{"score": 3}\\n```', ["score"])
    {'score': 3}

    Raises Unreadable for text around the object, JSON that is none, a key that is missing, stands twice or
    was not asked for: ``{"conveyed": "yes", "partly": "yes"}`` says nothing. Refused for a refusal.
    """
    text = _THOUGHTS.sub("", answer).strip()
    fenced = _FENCE.fullmatch(text)
    text = fenced["body"].strip() if fenced else text
    if not text:
        raise Unreadable("The answer is empty.")
    if not text.startswith("{"):
        if refuses(text):
            raise Refused("The answer is a refusal.")
        raise Unreadable("The answer does not begin with the JSON object.")
    record = _parsed(text)
    missing = [key for key in keys if key not in record]
    if missing:
        raise Unreadable(f"The JSON object has no {_listed(missing)}.")
    others = [key for key in record if key not in keys]
    if others:
        raise Unreadable(f"The JSON object has {_listed(others)}, which was not asked for.")
    return record


def _parsed(text: str) -> dict[str, Any]:
    try:
        value, end = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number).raw_decode(text)
    except Unreadable:
        raise
    except (ValueError, RecursionError) as error:
        where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        raise Unreadable(f"The answer is not valid JSON{where}.") from None
    if text[end:].strip():
        raise Unreadable("There is text after the JSON object.")
    assert isinstance(value, dict), "text that begins with a brace is an object, or no JSON"
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [key for key, _ in pairs]
        raise Unreadable(f"{_listed([n for n in found if names.count(n) > 1])} stands in the answer twice.")
    return found


def _no_number(name: str) -> float:
    raise Unreadable(f"{name} is no number.")


def whole_number(value: Any, what: str, lowest: int, highest: int) -> int:
    """The value as a number of the scale; ``4.0``, ``"4"``, ``"4/5"`` and ``true`` are none."""
    if type(value) is not int or not lowest <= value <= highest:
        raise Unreadable(f"{what} must be a whole number from {lowest} to {highest}, and is {_shown(value)}.")
    return value


def sentence(value: Any, what: str) -> str:
    """The value as text on one line that says something."""
    if not isinstance(value, str) or not re.search(r"\w", value):
        raise Unreadable(f"{what} must be a sentence, and is {_shown(value)}.")
    return " ".join(value.split())


def sentences(value: Any, what: str, most: int) -> tuple[str, ...]:
    """The value as a list of one to ``most`` sentences. One that stands twice is one."""
    if not isinstance(value, list) or not value:
        raise Unreadable(f"{what} must be a list of sentences, and is {_shown(value)}.")
    first: dict[str, str] = {}
    for one in value:
        said = sentence(one, f"each of {what}")
        first.setdefault(said.casefold(), said)
    found = tuple(first.values())
    if len(found) > most:
        raise Unreadable(f"{what} may have {most} entries at most, and has {len(found)}.")
    return found


def one_of(value: Any, what: str, words: Sequence[str]) -> str:
    """The value as one of these words."""
    if not isinstance(value, str) or value.strip().lower() not in words:
        raise Unreadable(f"{what} must be {_listed(words, 'or')}, and is {_shown(value)}.")
    return value.strip().lower()


def _listed(names: Sequence[str], last: str = "and") -> str:
    quoted = [json.dumps(name, ensure_ascii=False) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"
