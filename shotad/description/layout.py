"""Answers in JSON, in tables or in nested bullets, as plain lines of headings and sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_FENCED = re.compile(r"\A\s*+(?:[^\n{]{0,200}\n)?\s*+(?:```\w*\s*+)?(?=\{)")
_BROKEN_KEY = re.compile(r"[\"']([^\"'\n{}:]{2,60})[\"']\s*:\s*[\"'\[{]*\s*")
_BROKEN_END = re.compile(r"(?<![\"'\]}])[\"'\]}]+(?:\s*+,)?[^\S\n]*+(?=\n|\Z)")
_BULLET = re.compile(r"^(?P<indent>[ \t]*)(?:[-•+]|\*(?!\*))[ \t]++(?P<text>.*\S)[ \t]*$")
_ROW = re.compile(r"^[ \t]*\|(.+)\|[ \t]*$")
_RULE = re.compile(r"^[\s|:-]+$")
_DEEPEST = 8


def prose(answer: str) -> str:
    """The answer with what JSON, tables and bullets hold written as lines; other text as it is."""
    short = re.sub(r"(?<![ \t])[ \t]{2,}\n", "\n", re.sub(r"[ \t]{40,}", " ", answer))
    return _bullets_ended(_without_tables(_without_json(re.sub(r"\n{3,}", "\n\n", short))))


def _without_json(answer: str) -> str:
    """A JSON object as ``heading: text`` lines, also where it is broken; text after it is kept."""
    opened = _FENCED.match(answer)
    if opened is None or "```" in answer[: opened.start()]:
        return answer
    body = answer[opened.end() :]
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(body)
    except (ValueError, RecursionError):
        if not _BROKEN_KEY.match(body.lstrip("{ \n\t")):
            return answer
        return _BROKEN_END.sub("\n", _BROKEN_KEY.sub(r"\n\1: ", body.lstrip("{ \n\t")))
    return "\n".join((*_json_lines(value, 0), body[end:].replace("```", "")))


def _json_lines(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, (dict, list)):
                yield f"{_heading(key)}:"
                yield from _json_lines(inner, depth + 1)
            else:
                yield f"{_heading(key)}: {_said(inner)}"
    elif isinstance(value, list):
        for item in value:
            yield from _json_lines(item, depth + 1)
    elif (said := _said(value)).strip():
        yield said if said.rstrip()[-1] in ".!?" else f"{said}."


def _heading(key: str) -> str:
    return key.replace("_", " ")


def _said(value: Any) -> str:
    return "" if value is None or isinstance(value, bool) else str(value)


def _without_tables(text: str) -> str:
    """Rows ``| 1 | Actions | Ann runs |`` as ``1. Actions: Ann runs``."""
    if "|" not in text:
        return text
    lines = []
    for line in text.splitlines():
        row = _ROW.match(line)
        if row is None:
            lines.append(line)
        elif not _RULE.match(line):
            cells = [cell.strip() for cell in row.group(1).split("|") if cell.strip()]
            lines.append(": ".join(cells))
    return "\n".join(lines)


def _bullets_ended(text: str) -> str:
    """Bullets without an end get a full stop, so that they do not run into one another."""
    lines = text.splitlines()
    bullets = [_BULLET.match(line) for line in lines]
    for at, bullet in enumerate(bullets[:-1]):
        after = bullets[at + 1]
        if bullet is None or after is None or len(after["indent"]) > len(bullet["indent"]):
            continue
        if re.search(r"[\w)]$", bullet["text"]):
            lines[at] = f"{lines[at].rstrip()}."
    return "\n".join(lines)
