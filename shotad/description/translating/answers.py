"""Reading an answer: translations by id, out of JSON, broken JSON, or a bare line where one was asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shotad.core.errors import RefusalError, ScriptError
from shotad.description.answers import MOST_FAILURES, is_nothing, is_refusal, quoted, refuses
from shotad.script.cue import clean_text

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_TOKENS = re.compile(r"<\|[a-z_0-9]{2,30}\|>|</?s>|<(?:start|end)_of_turn>", re.IGNORECASE)
_TEXT_KEYS = ("translation", "translated", "target", "text", "line")
_STRING = r'"((?:[^"\\\n]|\\.)*)"'
_PAIRS = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"))
_DEEPEST = 6
_RETRY = "Run again; what is translated is not asked for anew."


def read_answer(text: str, ids: Sequence[str]) -> dict[str, str]:
    """The translations of an answer by id, of those asked for (``ids``); others are left out.

    Raises RefusalError where a model will not translate, ScriptError where nothing can be read.
    """
    body = _TOKENS.sub(" ", _THOUGHTS.sub("", text.encode("utf-8", "ignore").decode("utf-8")))
    found: dict[str, str] = {}
    for readings in (_in_json(body, ids), _in_pairs(body, ids), _bare(body, ids)):
        for name, said in readings:
            line = one_line(said)
            if name not in found and not is_nothing(line) and not is_refusal(line):
                found[name] = line
        if found:
            return found
    if refuses(body):
        raise RefusalError(f"The model refused to translate: {quoted(text)}.", _RETRY)
    raise ScriptError(f"No translation can be read: {quoted(text)}.", _RETRY)


def one_line(text: str) -> str:
    """A translation as it can be spoken: one line, without emphasis."""
    plain = re.sub(r"\*\*|__(?=\w)|(?<=\w)__|`", "", clean_text(text))
    return " ".join(plain.split())


def unwrapped(text: str, source: str) -> str:
    """The translation without quotation marks around the whole of it, where the line has none."""
    for first, last in _PAIRS:
        inner = text[1:-1]
        wrapped = len(text) > 2 and text[0] == first and text[-1] == last
        if wrapped and first not in inner and last not in inner and not _wrapped(source):
            return inner.strip()
    return text


def _wrapped(text: str) -> bool:
    return any(text.strip().startswith(first) and text.strip().endswith(last) for first, last in _PAIRS)


def _in_json(body: str, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    decoder = json.JSONDecoder(strict=False)
    position, failures = 0, 0
    while failures < MOST_FAILURES and (bracket := re.compile(r"[\[{]").search(body, position)):
        try:
            value, position = decoder.raw_decode(body, bracket.start())
        except (ValueError, RecursionError):
            position, failures = bracket.end(), failures + 1
        else:
            yield from _walk(value, frozenset(ids), 0)


def _walk(value: Any, ids: frozenset[str], depth: int) -> Iterator[tuple[str, str]]:
    """Pairs of id and text in whatever shape: by key, as objects with an id, in lists."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _walk(item, ids, depth + 1)
    elif isinstance(value, dict):
        named = value.get("id")
        if isinstance(named, str) and named in ids and (said := _text_of(value)) is not None:
            yield named, said
            return
        for key, inner in value.items():
            if key in ids and isinstance(inner, str):
                yield key, inner
            elif key in ids and isinstance(inner, dict) and (told := _text_of(inner)) is not None:
                yield key, told
            else:
                yield from _walk(inner, ids, depth + 1)


def _text_of(value: Mapping[str, Any]) -> str | None:
    return next((value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)), None)


def _in_pairs(body: str, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs in JSON that is broken or was cut off: those that are whole."""
    for name in ids:
        match = re.search(rf"{re.escape(name)}[\"']?\s*[:=]\s*{_STRING}", body)
        if match is not None:
            try:
                yield name, json.loads(f'"{match[1]}"', strict=False)
            except ValueError:
                yield name, match[1]


def _bare(body: str, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    """An answer that is nothing but a line, where a single one was asked for."""
    lines = [line.strip() for line in body.replace("```", "\n").splitlines() if line.strip()]
    if len(ids) == 1 and len(lines) == 1 and not re.search(r"[{}\[\]]", lines[0]):
        yield ids[0], re.sub(rf"^{re.escape(ids[0])}\s*[:=]\s*", "", lines[0])
