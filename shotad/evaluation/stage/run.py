"""What the three tasks share: who answers and who judges, yes or no, and the figures with their report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from shotad.core import aligned, plural
from shotad.description import render
from shotad.evaluation.metric import Json, Result
from shotad.evaluation.metrics.asking import SENTENCE, STRING, YES_OR_NO, Part, question, quoted
from shotad.evaluation.metrics.judge import Question, sentence
from shotad.evaluation.report.intervals import LEVEL, Span, span_of
from shotad.evaluation.stage.films import StageScene
from shotad.evaluation.story import SAMPLING

T = TypeVar("T")

SHOWN = 3
"""Failures that are shown."""


def drawn(asked: Question[T], tokens: int = 0, draw: int = 0) -> Question[T]:
    """The question as the engine that is scored is asked it, for the ``draw``-th time (section 4); the judge
    is asked by the likeliest tokens (section C.3)."""
    return replace(asked, sampling=SAMPLING, tokens=tokens, draw=draw)


ANSWER = {"answer": Part("<your answer, in quotes>", STRING, sentence)}
"""An answer of the engine that is scored, in a sentence or a few."""


def verdict(name: str, texts: Mapping[str, str]) -> Question[bool]:
    """A question of yes or no to the judge, by a template."""
    return question("stage/judge-system", name, texts, {"reason": SENTENCE, "verdict": YES_OR_NO})


def scene_text(scene: StageScene) -> str:
    """A scene in a prompt, with its id, heading and lines."""
    return render(
        "stage/scene", scene=quoted(scene.id), heading=quoted(scene.heading), text=lines_of(scene.content)
    )


def lines_of(text: str) -> str:
    """A text in quotes whose lines stay lines: ``\\n`` between them."""
    return json.dumps(text.strip(), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class StageRun:
    """What one task found: its figures in order, what was said and judged of each item (with ``id`` and
    ``film``, as JSON), and all that can change a number."""

    task: str
    results: tuple[Result, ...]
    items: tuple[Json, ...]
    identity: Json

    @property
    def films(self) -> dict[str, str]:
        """The film of each item, by its id."""
        return {one["id"]: one["film"] for one in self.items}

    @property
    def text(self) -> str:
        """A table of the figures with their intervals, and how many answers are missing."""
        who = {name: self.identity[name]["model"] for name in ("engine", "judge")}
        films = plural(len(set(self.films.values())), "film")
        head = f"STAGE, {self.task}, {films}: {who['engine']} answers, {who['judge']} judges."
        rows = []
        for one in self.results:
            span, digits = self._span(one), 1 if one.figure.factor > 1 else 2
            value = "–" if one.value is None else f"{one.value:.{digits}f}"
            around = f"({span.low:.{digits}f} to {span.high:.{digits}f})" if span else ""
            failed = f"failed: {one.failed}" if one.failed else ""
            rows.append((one.title, value, around, f"{one.columns[1]}: {one.sums[1]:,.0f}", failed))
        failures = dict.fromkeys(row.failure for one in self.results for row in one.rows if row.failure)
        why = [f"Failed: {failure}" for failure in list(failures)[:SHOWN]]
        return "\n".join([head, *aligned(("",) * 5, rows, (1,)), *why])

    def _span(self, result: Result) -> Span | None:
        return span_of(result, self.films, unit="film", level=LEVEL)

    def record(self) -> Json:
        """As JSON: figures with intervals over films (of one film over its items), and every item."""
        figures = []
        for one in self.results:
            span = self._span(one)
            ends = {"low": span.low, "high": span.high} if span else {"low": None, "high": None}
            counts = {"of": float(one.sums[1]), "what": one.columns[1], "failed": one.failed}
            figures.append({"name": one.name, "value": one.value, **ends, **counts})
        items = list(self.items)
        return {"task": self.task, "figures": figures, "items": items, "identity": self.identity}
