"""YAML of which every value is a text with a place: for files that people write and programs add to.

Only the structure is YAML's; what a value means is up to the field it stands in. So ``12:30`` is no number
in base sixty, ``No`` and ``007`` are names, and no value changes by being read and written. Texts are changed
by splicing: what is not changed stays as it was written, comments and all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from shotad.core import CastError

NEWLINE = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
"""What PyYAML counts as the end of a line."""


@dataclass(frozen=True, slots=True)
class Source:
    """The file that a node is from; ``offset`` lines of it stand before the text that was composed."""

    path: Path
    offset: int = 0

    def line(self, node: yaml.Node) -> int:
        """The line that the node begins in, from 1."""
        return int(node.start_mark.line) + 1 + self.offset

    def error(self, where: yaml.Node | int, what: str, hint: str = "") -> CastError:
        """An error with the file and the line of its cause."""
        line = where if isinstance(where, int) else self.line(where)
        return CastError(f"{self.path}, line {line}: {what}", hint)


class _Composer(yaml.SafeLoader):
    """Without aliases (``*name``): one text in two places cannot be changed in one of them."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event: Any = self.get_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "references cannot be used here", event.start_mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node


def read_text(path: Path) -> str:
    """The file's text, with its own newlines. Raises CastError where it cannot be read or is no UTF-8."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CastError(f"{path} cannot be read: {error.strerror}.") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise CastError(f"{path}, line {line}: this is no UTF-8 text.", "Save the file as UTF-8.") from None


def compose(text: str, source: Source) -> yaml.Node | None:
    """The document's node; None where nothing but comments stands. Raises CastError with the line."""
    try:
        loader = _Composer(text)
        node: yaml.Node | None = loader.get_single_node()
    except yaml.reader.ReaderError as error:
        line = len(NEWLINE.findall(text[: error.position])) + 1 + source.offset
        raise source.error(line, f"the character {chr(error.character)!r} cannot stand here.") from None
    except RecursionError:
        raise source.error(
            1 + source.offset, "this is nested too deeply to be read.", "Write it flat."
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = (mark.line if mark else 0) + 1 + source.offset
        raise source.error(line, *_explained(error.problem or "")) from None
    return node


def _explained(problem: str) -> tuple[str, str]:
    if "\\t" in problem:
        return "a tab stands where a line begins.", "Use spaces to indent."
    if "mapping values are not allowed" in problem:
        return (
            "a colon stands where none can.",
            "Put the text in quotes, or look at how the line is indented.",
        )
    return f"this is no YAML ({problem}).", "Look at the colons, the quotes, and how the lines are indented."


def end_of(node: yaml.Node) -> int:
    """Index behind the last character of a node's own text. (A block's end mark lies before what follows.)"""
    if not isinstance(node, yaml.CollectionNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return end_of(last[1] if isinstance(last, tuple) else last)


def scalar(value: str) -> str:
    """A text as it can stand anywhere in YAML, quoted where it must be."""
    dumped = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=2**31)
    return dumped.strip()[1:-1]


def flow(values: Sequence[str]) -> str:
    """A list on one line."""
    return f"[{', '.join(map(scalar, values))}]"


def splice(text: str, start: int, end: int, new: str) -> str:
    """The text with ``[start, end)`` replaced."""
    return text[:start] + new + text[end:]


def newline_of(text: str) -> str:
    """How lines end in the text; that of Unix where there is only one line."""
    found = NEWLINE.search(text)
    return found.group() if found else "\n"
