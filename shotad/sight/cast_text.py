"""Changes to the text of a ``cast.yaml``, in the lines of one person. Pure logic.

Each takes the whole text, and gives it back: what is not changed stays to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from shotad.core import Member
from shotad.sight.cast_entries import (
    FIELDS,
    KEYS,
    NEWLINE,
    OTHERS,
    compose,
    end_of,
    newline_of,
    people_of,
    scalar,
    tidy,
    time_text,
)

MARK = "#: "
"""Begins a comment that programs write and replace."""


def _spans(text: str, people: yaml.SequenceNode) -> list[tuple[int, int]]:
    """Where the lines of each person begin and end, with the comments right above them."""
    # With their ends, counted as PyYAML does
    starts = [0, *(match.end() for match in NEWLINE.finditer(text))]
    lines = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    column = people.start_mark.column
    spans = []
    for item in people.value:
        # The line with the dash of the entry whose first key or value stands in ``first``
        first = item.start_mark.line
        while lines[first][column : column + 1] != "-" or lines[first][:column].strip():
            first -= 1
        # The first of the comment lines right above an entry, as far in as its dash. Comments with which the
        # file begins are its head and nobody's.
        start = first
        while start and not lines[start - 1][:column].strip() and lines[start - 1][column:][:1] == "#":
            start -= 1
        last = len(NEWLINE.findall(text[: end_of(item)].rstrip()))
        spans.append((starts[start or first], starts[last] + len(lines[last])))
    return spans


def with_person(text: str, path: Path, member: Member, comment: str = "") -> str:
    """A text with one more person at the end: id, name, what else is known, photos; a comment above them."""
    newline = newline_of(text)
    people = people_of(text, path)
    if people is None or not people.value:
        before, after = _opened(text, compose(text, path))
        indent, is_airy = "  ", not _ends_blank(before)
    else:
        spans, indent = _spans(text, people), " " * people.start_mark.column
        gaps = [text[end:start] for (_, end), (start, _) in pairwise(spans)]
        before, after = text[: spans[-1][1]], text[spans[-1][1] :]
        before += "" if before.endswith(("\n", "\r")) else newline
        is_airy = any(gaps) if gaps else _ends_blank(text[: spans[0][0]])
    rows = [("id", scalar(member.id)), ("name", scalar(tidy(member.name)) if member.name else "")]
    for field, key in _KEY_OF.items():
        if field != "name" and (value := getattr(member, field)):
            rows.append((key, _spelled(field, value, path.parent)))
    lines = [
        f"{indent}{'- ' if i == 0 else '  '}{key}: {value}".rstrip() for i, (key, value) in enumerate(rows)
    ]
    entry = "".join(line + newline for line in (*_comment(comment, indent), *lines))
    return before + (newline if is_airy else "") + entry + after


def _ends_blank(text: str) -> bool:
    lines = NEWLINE.split(text)
    return len(lines) > 1 and not lines[-2].strip()


def _opened(text: str, node: yaml.Node | None) -> tuple[str, str]:
    """What stands before and behind the people of a text that has none yet."""
    newline = newline_of(text)
    empty = node.value[0][1] if isinstance(node, yaml.MappingNode) else node
    if empty is not None:
        text = text[: empty.start_mark.index].rstrip(" ") + text[end_of(empty) :]
    if text and not text.endswith(newline):
        text += newline
    if isinstance(node, yaml.MappingNode):
        at = text.find(newline, int(node.value[0][0].end_mark.index)) + len(newline)
        return text[:at], text[at:]
    return text + f"people:{newline}", ""


def without_person(text: str, path: Path, index: int) -> str:
    """A text without the lines of a person; words that stand between two people are kept."""
    spans = _spans(text, _people(text, path))
    start, end = spans[index]
    if index + 1 < len(spans):
        gap = text[end : spans[index + 1][0]]
        end += len(gap) if not gap.strip() else 0
    elif index and not text[spans[index - 1][1] : start].strip():
        start = spans[index - 1][1]
    return text[:start] + text[end:]


_COMMENT = re.compile(r"(?<![ \t])[ \t]+#[^\n\r]*")
_KEY_OF = {FIELDS.get(key, key): key for key in KEYS[1:]}
"""What fields of `Member` are called in the file, those that can be changed."""


def with_comment(text: str, path: Path, index: int, comment: str) -> str:
    """A text with another comment from a program above a person; those of people stay."""
    people, newline = _people(text, path), newline_of(text)
    start, end = _spans(text, people)[index]
    lines = text[start:end].splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if not line.lstrip().startswith("#"))
    own_lines = [line for line in lines[:first] if not line.lstrip().startswith(MARK)]
    comment_lines = (line + newline for line in _comment(comment, " " * people.start_mark.column))
    return text[:start] + "".join([*own_lines, *comment_lines, *lines[first:]]) + text[end:]


def _comment(comment: str, indent: str) -> list[str]:
    return [f"{indent}{MARK}{tidy(line)}" for line in comment.splitlines() if line.strip()]


def with_values(text: str, path: Path, index: int, id: str, values: Mapping[str, Any]) -> str:  # noqa: A002
    """A text with fields of a `Member` set to other values. Raises TypeError for an unknown field.

    The ``id`` is written where none stands: it would change with the name.
    """
    if all(key.value != "id" for key, _ in _people(text, path).value[index].value):
        text = _changed(text, path, index, "id", scalar(id))
    for field, value in values.items():
        if field not in _KEY_OF:
            raise TypeError(f"{field!r} is no field of a person that can be changed: {', '.join(_KEY_OF)}")
        key, folder = _KEY_OF[field], path.parent
        entry = _people(text, path).value[index]
        old = next((v for k, v in entry.value if k.value == key), None)
        items = _items(field, value, folder)
        rows = [row.value for row in old.value] if isinstance(old, yaml.SequenceNode) else []
        if rows and isinstance(old, yaml.SequenceNode) and not old.flow_style and items[: len(rows)] == rows:
            # Items put behind those of a list that has a line for each
            for item in reversed(items[len(rows) :]):
                text = _line_after(text, _end(text, old), f"{' ' * old.start_mark.column}- {scalar(item)}")
        else:
            text = _changed(text, path, index, key, _spelled(field, value, folder))
    return text


def _items(field: str, value: Any, folder: Path) -> list[str]:
    if field == "photos":
        return [photo_spec(photo, folder) for photo in value]
    return [tidy(alias) for alias in value] if field == "aliases" else []


def _changed(text: str, path: Path, index: int, key: str, value: str) -> str:
    node = _people(text, path).value[index]
    present = {k.value: (k, v) for k, v in node.value}
    if key in present:
        # The value of a key is replaced; a comment behind it stays.
        name, old = present[key]
        colon = text.index(":", name.end_mark.index) + 1
        end = max(_end(text, old), colon)
        comment = _COMMENT.search(text[colon : old.start_mark.index])
        return (
            text[:colon] + (f" {value}" if value else "") + (comment.group() if comment else "") + text[end:]
        )
    if not value:
        return text
    before = [present[k] for k in KEYS[: KEYS.index(key)] if k in present] or [node.value[0]]
    _, last = max(before, key=lambda pair: pair[0].start_mark.index)
    end = _end(text, last)
    if node.flow_style:
        return f"{text[:end]}, {key}: {value}{text[end:]}"
    return _line_after(text, end, f"{' ' * node.start_mark.column}{key}: {value}")


def _people(text: str, path: Path) -> yaml.SequenceNode:
    people = people_of(text, path)
    assert people is not None, "whose lines are changed stands there"
    return people


def _end(text: str, node: yaml.Node) -> int:
    return len(text[: end_of(node)].rstrip())


def _line_after(text: str, end: int, line: str) -> str:
    """A line put behind the one that holds index ``end``."""
    newline = newline_of(text)
    line_end = NEWLINE.search(text, end)
    if line_end is None:
        return text + newline + line
    return text[: line_end.end()] + line + newline + text[line_end.end() :]


def _spelled(field: str, value: Any, folder: Path) -> str:
    items = _items(field, value, folder)
    if field in ("photos", "aliases"):
        alone = field == "photos" and len(items) == 1
        if alone or not items:
            return scalar(items[0]) if items else ""
        return f"[{', '.join(map(scalar, items))}]"
    if field == "reveals":
        reveals = tuple(value)
        if len(reveals) == 1 and not reveals[0].film:
            return time_text(reveals[0].seconds)
        rows = (f"{scalar(r.film) if r.film else OTHERS}: {time_text(r.seconds)}" for r in reveals)
        return f"{{{', '.join(rows)}}}" if reveals else ""
    if field == "nameless":
        return "true" if value else ""
    return scalar(tidy(value)) if value else ""


def photo_spec(photo: Path | str, folder: Path) -> str:
    """How a photo is written: as seen from the cast's folder where it lies inside, else in full."""
    if isinstance(photo, str):
        return photo
    full, base = Path(photo).absolute(), folder.absolute()
    return full.relative_to(base).as_posix() if full.is_relative_to(base) else str(full)
