"""What the engine is asked: a few lines together, each with its budget.

The words stand in ``prompts/translate/``. The lines are data: each stands in JSON, on a line of its own, so
that nothing in it can pass for the question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from shotad.core import Language, Message
from shotad.description.blocks import block, material, question
from shotad.description.templates import render
from shotad.description.translating.wanted import Wanted
from shotad.script import budget_in, quotations

TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "translate/system": ("medium", "source", "target"),
    "translate/user": (
        "source", "target", "note", "before", "lines", "after", "names", "quotes", "again", "template",
    ),
    "translate/note": ("medium", "note"),
    "translate/before": ("lines",),
    "translate/before-line": ("line", "translation"),
    "translate/after": ("lines",),
    "translate/after-line": ("line",),
    "translate/names": ("names",),
    "translate/quotes-translate": (),
    "translate/quotes-keep": (),
    "translate/again": ("complaints",),
    "translate/again-line": ("id", "complaint"),
}  # fmt: skip
"""The templates of a translation and their variables."""


@dataclass(frozen=True, slots=True)
class Task:
    """From which language into which, of what, and what the user has to say of it."""

    source: Language
    target: Language
    medium: str = "movie"
    note: str = ""
    quotes: Literal["translate", "keep"] = "translate"


@dataclass(frozen=True, slots=True)
class Around:
    """Lines before, oldest first, each with its translation, and lines after."""

    before: tuple[tuple[str, str], ...] = ()
    after: tuple[str, ...] = ()


def messages(
    lines: Sequence[Wanted], task: Task, around: Around, wrong: Sequence[tuple[str, str]] = ()
) -> tuple[Message, ...]:
    """The question about ``lines``. ``wrong`` says by id what was wrong with earlier answers to it."""
    source, target = task.source.name, task.target.name
    user = render(
        "translate/user",
        source=source,
        target=target,
        note=block(render("translate/note", medium=task.medium, note=material(task.note)))
        if task.note
        else "",
        before=_before(around),
        lines="\n".join(_line(line, task) for line in lines),
        after=_after(around),
        names=_names(lines),
        quotes=_quotes(lines, task),
        again=_again(wrong),
        template=json.dumps(dict.fromkeys((line.id for line in lines), "..."), ensure_ascii=False),
    )
    system = render("translate/system", medium=task.medium, source=source, target=target)
    return Message("system", system), question(user)


def schema(lines: Sequence[Wanted]) -> dict[str, Any]:
    """The JSON schema of an answer: every id with a text."""
    ids = [line.id for line in lines]
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in ids},
        "required": ids,
        "additionalProperties": False,
    }


def _line(line: Wanted, task: Task) -> str:
    most = str(budget_in(task.target.tag, line.words))
    return json.dumps({"id": line.id, "most": most, "line": line.text}, ensure_ascii=False)


def _before(around: Around) -> str:
    rows = [
        render("translate/before-line", line=_quoted(line), translation=_quoted(told))
        for line, told in around.before
    ]
    return block(render("translate/before", lines=material("\n".join(rows)))) if rows else ""


def _after(around: Around) -> str:
    rows = [render("translate/after-line", line=_quoted(line)) for line in around.after]
    return block(render("translate/after", lines=material("\n".join(rows)))) if rows else ""


def _names(lines: Sequence[Wanted]) -> str:
    names = dict.fromkeys(name for line in lines for name in line.names)
    return f"\n{render('translate/names', names=material(', '.join(names)))}" if names else ""


def _quotes(lines: Sequence[Wanted], task: Task) -> str:
    any_quoted = any(quotations(line.text) for line in lines)
    return f"\n{render(f'translate/quotes-{task.quotes}')}" if any_quoted else ""


def _again(wrong: Sequence[tuple[str, str]]) -> str:
    rows = [render("translate/again-line", id=name, complaint=complaint) for name, complaint in wrong]
    return block(render("translate/again", complaints="\n".join(rows))) if rows else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
