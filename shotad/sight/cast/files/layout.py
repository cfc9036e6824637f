"""How the text of a ``cast.yaml`` is divided: what stands before, between and after its people."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from shotad.sight.cast.files.entries import fields_of, is_blank
from shotad.sight.cast.files.yamltext import NEWLINE, Source, end_of, newline_of

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
    lines = _lines(text)
    column = people.start_mark.column
    spans = [_span(text, lines, item, column) for item in people.value]
    nexts = [start for start, _ in spans[1:]] + [spans[-1][1]]
    pieces = (
        Piece("".join(lines[start:end]), "".join(lines[end:following]))
        for (start, end), following in zip(spans, nexts, strict=True)
    )
    return Layout("".join(lines[: spans[0][0]]), tuple(pieces), "".join(lines[spans[-1][1] :]), " " * column)


def _span(text: str, lines: list[str], item: yaml.Node, column: int) -> tuple[int, int]:
    """First line of an entry, with the comments right above it, and the line behind its last."""
    first = _dash(lines, item.start_mark.line, column)
    return _above(lines, first, column), len(NEWLINE.findall(text[: end_of(item)].rstrip())) + 1


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


def _lines(text: str) -> list[str]:
    """With their ends, counted as PyYAML does."""
    ends = [match.end() for match in NEWLINE.finditer(text)]
    return [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]


def _dash(lines: list[str], line: int, column: int) -> int:
    """The line with the dash of the entry whose first key or value stands in ``line``."""
    while lines[line][column : column + 1] != "-" or lines[line][:column].strip():
        line -= 1
    return line


def _above(lines: list[str], first: int, column: int) -> int:
    """The first of the comment lines right above an entry, as far in as its dash.

    Comments with which the file begins are its head and nobody's.
    """
    start = first
    while start and not lines[start - 1][:column].strip() and lines[start - 1][column:][:1] == "#":
        start -= 1
    return first if start == 0 else start
