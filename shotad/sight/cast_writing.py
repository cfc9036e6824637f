"""The text of a ``cast.yaml``: how it is divided among its people, and changes to the lines of one. Pure
logic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from shotad.core import Member
from shotad.sight.cast_entries import (
    KEYS,
    NEWLINE,
    OTHERS,
    Source,
    compose,
    end_of,
    fields_of,
    is_blank,
    newline_of,
    scalar,
    tidy,
    time_text,
)

MARK = "#: "
"""Begins a comment that programs write and replace."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A person's lines, with the comments right above them; ``gap`` is what follows until the next."""

    text: str
    gap: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """``head``, people and ``rest`` make up the file.

    ``indent`` is what the dashes of the entries have before them. ``closed`` is true of a list in brackets,
    which cannot be changed here.
    """

    head: str
    pieces: tuple[Piece, ...]
    rest: str
    indent: str = "  "
    closed: bool = False

    @property
    def text(self) -> str:
        """The file's text."""
        return "".join([self.head, *(p.text + p.gap for p in self.pieces), self.rest])


def people_of(node: yaml.Node | None, source: Source) -> yaml.SequenceNode | None:
    """The list of people: under ``people``, or the whole document. None where there is none yet."""
    if node is None or is_blank(node):
        return None
    if isinstance(node, yaml.MappingNode):
        found = fields_of(node, source, ("people",), "of a cast file").get("people")
        if found is None or is_blank(found):
            return None
        node = found
    if not isinstance(node, yaml.SequenceNode):
        raise source.error(node, "a list of people is expected here.", "Write '- name: …' for each person.")
    return node


def divided(text: str, node: yaml.Node | None, source: Source) -> Layout:
    """The pieces of a text whose node this is."""
    people = people_of(node, source)
    if people is None or (people.flow_style and not people.value):
        return _without_people(text, node)
    if people.flow_style:
        return Layout(text, (), "", closed=True)
    # With their ends, counted as PyYAML does
    ends = [match.end() for match in NEWLINE.finditer(text)]
    lines = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
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
        end = len(NEWLINE.findall(text[: end_of(item)].rstrip())) + 1
        spans.append((first if start == 0 else start, end))
    nexts = [start for start, _ in spans[1:]] + [spans[-1][1]]
    pieces = (
        Piece("".join(lines[start:end]), "".join(lines[end:following]))
        for (start, end), following in zip(spans, nexts, strict=True)
    )
    return Layout("".join(lines[: spans[0][0]]), tuple(pieces), "".join(lines[spans[-1][1] :]), " " * column)


def _without_people(text: str, node: yaml.Node | None) -> Layout:
    """A text to which people can be added."""
    newline = newline_of(text)
    empty = node.value[0][1] if isinstance(node, yaml.MappingNode) else node
    if empty is not None:
        text = text[: empty.start_mark.index].rstrip(" ") + text[end_of(empty) :]
    if text and not text.endswith(newline):
        text += newline
    if isinstance(node, yaml.MappingNode):
        at = text.find(newline, int(node.value[0][0].end_mark.index)) + len(newline)
        return Layout(text[:at], (), text[at:])
    return Layout(text + f"people:{newline}", (), "")


_COMMENT = re.compile(r"(?<![ \t])[ \t]+#[^\n\r]*")
_KEY_OF = {"spoken": "speak", "reveals": "reveal_at"}
"""Where a field of `Member` has another name in the file."""

_FIELDS = ("name", "spoken", "say_as", "aliases", "pronoun", "descriptor", "reveals", "photos", "nameless")


def new_piece(member: Member, comment: str, folder: Path, indent: str, newline: str) -> str:
    """The lines of a new person: id, name, what else is known, photos; a comment above them."""
    rows = [("id", scalar(member.id)), ("name", scalar(tidy(member.name)) if member.name else "")]
    for field in _FIELDS[1:]:
        value = getattr(member, field)
        if value:
            rows.append((_KEY_OF.get(field, field), _spelled(field, value, folder)))
    lines = [
        f"{indent}{'- ' if i == 0 else '  '}{key}: {text}".rstrip() for i, (key, text) in enumerate(rows)
    ]
    return "".join(line + newline for line in (*_comment(comment, indent), *lines))


def with_comment(piece: str, comment: str, indent: str, newline: str) -> str:
    """A person's lines with another comment from a program; those of people stay."""
    lines = piece.splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if not line.lstrip().startswith("#"))
    kept = [line for line in lines[:first] if not line.lstrip().startswith(MARK)]
    return "".join([*kept, *(line + newline for line in _comment(comment, indent)), *lines[first:]])


def _comment(comment: str, indent: str) -> list[str]:
    return [f"{indent}{MARK}{tidy(line)}" for line in comment.splitlines() if line.strip()]


def changed_piece(piece: str, pinned: str, values: Mapping[str, Any], folder: Path, path: Path) -> str:
    """A person's lines with fields of `Member` set to other values. Raises TypeError for an unknown field.

    ``pinned`` is their id, which is written where none stands: it would change with the name.
    """
    if all(key.value != "id" for key, _ in _entry(piece, path).value):
        piece = _changed(piece, "id", scalar(pinned), path)
    for field, value in values.items():
        if field not in _FIELDS:
            raise TypeError(f"{field!r} is no field of a person that can be changed: {', '.join(_FIELDS)}")
        key = _KEY_OF.get(field, field)
        old = next((v for k, v in _entry(piece, path).value if k.value == key), None)
        items = _items(field, value, folder)
        rows = [row.value for row in old.value] if isinstance(old, yaml.SequenceNode) else []
        if rows and isinstance(old, yaml.SequenceNode) and not old.flow_style and items[: len(rows)] == rows:
            # Items put behind those of a list that has a line for each
            for item in reversed(items[len(rows) :]):
                piece = _line_after(piece, _end(piece, old), f"{' ' * old.start_mark.column}- {scalar(item)}")
        else:
            piece = _changed(piece, key, _spelled(field, value, folder), path)
    return piece


def _items(field: str, value: Any, folder: Path) -> list[str]:
    if field == "photos":
        return [photo_spec(photo, folder) for photo in value]
    return [tidy(alias) for alias in value] if field == "aliases" else []


def _changed(piece: str, key: str, text: str, path: Path) -> str:
    node = _entry(piece, path)
    present = {k.value: (k, v) for k, v in node.value}
    if key in present:
        # The value of a key is replaced; a comment behind it stays.
        name, value = present[key]
        colon = piece.index(":", name.end_mark.index) + 1
        end = max(_end(piece, value), colon)
        said = _COMMENT.search(piece[colon : value.start_mark.index])
        return piece[:colon] + (f" {text}" if text else "") + (said.group() if said else "") + piece[end:]
    if not text:
        return piece
    before = [present[k] for k in KEYS[: KEYS.index(key)] if k in present] or [node.value[0]]
    _, last = max(before, key=lambda pair: pair[0].start_mark.index)
    end = _end(piece, last)
    if node.flow_style:
        return f"{piece[:end]}, {key}: {text}{piece[end:]}"
    return _line_after(piece, end, f"{' ' * node.start_mark.column}{key}: {text}")


def _entry(piece: str, path: Path) -> yaml.MappingNode:
    people = people_of(compose(piece, Source(path)), Source(path))
    entry = people.value[0] if people else None
    if not isinstance(entry, yaml.MappingNode):
        raise TypeError(f"a person's lines must hold keys and values, got {piece!r}")
    return entry


def _end(piece: str, node: yaml.Node) -> int:
    return len(piece[: end_of(node)].rstrip())


def _line_after(piece: str, end: int, line: str) -> str:
    """A line put behind the one that holds index ``end``."""
    newline = newline_of(piece)
    found = NEWLINE.search(piece, end)
    if found is None:
        return piece + newline + line
    return piece[: found.end()] + line + newline + piece[found.end() :]


def _spelled(field: str, value: Any, folder: Path) -> str:
    items = _items(field, value, folder)
    if field in ("photos", "aliases"):
        alone = field == "photos" and len(items) == 1
        if alone or not items:
            return scalar(items[0]) if items else ""
        return f"[{', '.join(map(scalar, items))}]"
    if field == "reveals":
        found = tuple(value)
        if len(found) == 1 and not found[0].film:
            return time_text(found[0].seconds)
        rows = (f"{scalar(r.film) if r.film else OTHERS}: {time_text(r.seconds)}" for r in found)
        return f"{{{', '.join(rows)}}}" if found else ""
    if field == "nameless":
        return "true" if value else ""
    return scalar(tidy(value)) if value else ""


def photo_spec(photo: Path | str, folder: Path) -> str:
    """How a photo is written: as seen from the cast's folder where it lies inside, else in full."""
    if isinstance(photo, str):
        return photo
    full, base = Path(photo).absolute(), folder.absolute()
    return full.relative_to(base).as_posix() if full.is_relative_to(base) else str(full)
