"""Two systems on the same ADs: how far apart they are, how sure that is, and on which lines.

Is B better than A? Both on the ADs that they have in common, without each film in turn; told in the
terminal, as text and as a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shotad.core import EvaluationError, ReportSettings, aligned, plural, readable_json, write_text
from shotad.evaluation.metric import Item, Json, Result, only
from shotad.evaluation.report.inputs import base_name
from shotad.evaluation.report.intervals import (
    FEWEST,
    LEVEL,
    Span,
    Unit,
    basis_words,
    spoken_of,
    spread,
    units_of,
)
from shotad.evaluation.report.records import Report
from shotad.evaluation.report.table import chance_words, clock, number, percent, signed, span_words
from shotad.evaluation.report.writing import bullets, md_table, md_text, page


@dataclass(frozen=True, slots=True)
class Paired:
    """Two results of one metric on ``n`` common ADs.

    ``difference`` is B's number less A's. ``p`` is two-sided: how often chance alone sets two equal systems
    so far apart; None where there are too few ADs or films.
    """

    a: float | None
    b: float | None
    n: int
    interval: Span | None
    p: float | None

    @property
    def difference(self) -> float | None:
        """None where one of the numbers is not defined."""
        return None if self.a is None or self.b is None else self.b - self.a


def paired(a: Result, b: Result, films: Mapping[str, str], *, unit: Unit) -> Paired:
    """A and B on the ADs that both have rows of. ``films`` is the film of each of these ids."""
    theirs = {row.id for row in b.rows}
    common = [row.id for row in a.rows if row.id in theirs]
    a, b = only(a, common), only(b, common)
    alone = Paired(a.value, b.value, len(common), None, None)
    units = units_of(spoken_of([a, b], films), unit)
    gained = alone.difference
    found = spread(gained, units.without(b) - units.without(a), units.kind)
    if gained is None or found is None or min(a.scored, b.scored) < FEWEST:
        return alone
    return replace(alone, interval=found.span(gained), p=found.chance(gained))


LISTED = 20
"""Lines that gained and lost most, that are shown."""

LISTED_IDS = 10
"""Ids that are named one by one."""


_BY_ACTIONS = (
    "action", "action-description", "llm-action", "events", "event-verbs", "event-participants"
)  # fmt: skip
_BY_CASTS = ("critic", "names-kept")


@dataclass(frozen=True, slots=True)
class Changed:
    """One line whose number changed. ``film`` is the film's title, where it is known."""

    item: Item
    film: str
    prediction_a: str
    prediction_b: str
    value_a: float
    value_b: float

    @property
    def gain(self) -> float:
        """B's number less A's."""
        return self.value_b - self.value_a


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """One metric of both. ``better`` and ``worse`` are the lines on which B gained and lost most,
    ``n_better`` and ``n_worse`` how many lines B is better or worse on."""

    name: str
    title: str
    higher_is_better: bool
    figures: Paired
    better: tuple[Changed, ...]
    worse: tuple[Changed, ...]
    n_better: int
    n_worse: int

    @property
    def verdict(self) -> str:
        """The better system: ``B``, ``A``, or ``open`` where the films do not settle it."""
        difference, p = self.figures.difference, self.figures.p
        if difference is None or p is None or p > 1 - LEVEL or difference == 0:
            return "open"
        return "B" if (difference > 0) == self.higher_is_better else "A"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A and B. ``common`` ADs are in both reports; the others are named by id and are not compared."""

    a: str
    b: str
    dataset: str
    common: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    metrics: tuple[MetricComparison, ...]
    not_compared: tuple[tuple[str, str], ...]
    """Titles of metrics, and why they were not compared."""
    settings: ReportSettings

    def record(self) -> Json:
        """``compare.json``."""

        def line(one: Changed) -> Json:
            item = one.item
            told = {
                "id": item.id,
                "film": item.film,
                "start": item.interval.start,
                "reference": item.reference,
            }
            a = {"prediction": one.prediction_a, "value": one.value_a}
            return {**told, "a": a, "b": {"prediction": one.prediction_b, "value": one.value_b}}

        return {
            "schema": 2,
            "a": self.a,
            "b": self.b,
            "dataset": self.dataset,
            "n": {"common": self.common, "only_a": len(self.only_a), "only_b": len(self.only_b)},
            "only_a": list(self.only_a),
            "only_b": list(self.only_b),
            "intervals": {"unit": self.settings.unit, "level": LEVEL},
            "metrics": [
                {
                    "name": metric.name,
                    "title": metric.title,
                    "higher_is_better": metric.higher_is_better,
                    "n": metric.figures.n,
                    "a": metric.figures.a,
                    "b": metric.figures.b,
                    "difference": metric.figures.difference,
                    "interval": asdict(metric.figures.interval) if metric.figures.interval else None,
                    "p_two_sided": metric.figures.p,
                    "better": metric.verdict,
                    "lines": {
                        "better_in_b": metric.n_better,
                        "worse_in_b": metric.n_worse,
                        "gained_most": [line(one) for one in metric.better],
                        "lost_most": [line(one) for one in metric.worse],
                    },
                }
                for metric in self.metrics
            ],
            "not_compared": [{"title": title, "reason": reason} for title, reason in self.not_compared],
        }


def compare(a: Report, b: Report, settings: ReportSettings) -> Comparison:
    """B held against A on the ADs that both scored, joined by id.

    Raises EvaluationError where the same id means another human AD, or no AD is in both.
    """
    items_a, items_b = _scored(a), _scored(b)
    common = [name for name in items_a if name in items_b]
    pairs = [(items_a[name], items_b[name]) for name in common]
    _same_texts(a.name, b.name, pairs)
    titles = {**b.head["films"], **a.head["films"]}
    metrics: list[MetricComparison] = []
    refused: list[tuple[str, str]] = []
    for result in a.results:
        other = b.result(result.name)
        reason = "only A has it" if other is None else _difference(result, other, a, b, pairs)
        if other is None or reason:
            refused.append((result.title, reason))
        else:
            metrics.append(_compared(result, other, items_a, items_b, titles, settings))
    known = {result.name for result in a.results}
    refused += [(result.title, "only B has it") for result in b.results if result.name not in known]
    one, two = a.system, b.system
    return Comparison(
        one if one != two else f"{one} ({a.name})",
        two if one != two else f"{two} ({b.name})",
        a.head["dataset"]["title"] or a.head["dataset"]["name"],
        len(common),
        tuple(name for name in items_a if name not in items_b),
        tuple(name for name in items_b if name not in items_a),
        tuple(metrics),
        tuple(refused),
        settings,
    )


def _scored(report: Report) -> dict[str, Item]:
    ids = {row.id for result in report.results for row in result.rows}
    return {item.id: item for item in report.items if item.id in ids}


def check_same_dataset(earlier: Report, items: Sequence[Item], name: str) -> None:
    """Raise EvaluationError where a report of ``items``, called ``name``, could not be held against it."""
    known = _scored(earlier)
    _same_texts(earlier.name, name, [(known[item.id], item) for item in items if item.id in known])


def _same_texts(a: str, b: str, pairs: Sequence[tuple[Item, Item]]) -> None:
    if not pairs:
        raise EvaluationError(f"{a} and {b} have no AD in common.", "Compare runs on one dataset.")
    other = next((one.id for one, two in pairs if one.references != two.references), None)
    if other is not None:
        what = f"AD {other!r} has another human text in {a} than in {b}."
        raise EvaluationError(what, "Score both with the same annotation.")


def _difference(a: Result, b: Result, one: Report, two: Report, pairs: Sequence[tuple[Item, Item]]) -> str:
    """Why the numbers of both do not mean the same, or which other truth than the human text they were scored
    by; empty where they do, and it was the same."""
    odd = sorted(key for key in {*a.identity, *b.identity} if a.identity.get(key) != b.identity.get(key))
    if odd:
        told = "; ".join(f"{key}: {a.identity.get(key)!r} in A, {b.identity.get(key)!r} in B" for key in odd)
        return f"they were counted differently ({told})"
    if a.columns != b.columns or a.figure != b.figure:
        return "they were counted by different versions of shotad"
    if a.basis != b.basis:
        return "they rest on different texts of the whole dataset (frequencies of words)"
    name = base_name(a.name)
    if name in _BY_ACTIONS and any(item.actions != other.actions for item, other in pairs):
        return "the human ADs' actions are others"
    films = {item.film for item, _ in pairs}
    if name in _BY_CASTS and any(one.casts.get(film) != two.casts.get(film) for film in films):
        return "the characters' names are others"
    return ""


def _compared(
    a: Result,
    b: Result,
    items_a: dict[str, Item],
    items_b: dict[str, Item],
    titles: Mapping[str, str],
    settings: ReportSettings,
) -> MetricComparison:
    films = {name: item.film for name, item in items_a.items()}
    figures = paired(a, b, films, unit=settings.unit)
    values = {row.id: row.value for row in b.rows}
    changed = []
    for row in a.rows:
        value = values.get(row.id)
        if row.value is not None and value is not None:
            item, said = items_a[row.id], items_b[row.id].prediction
            film = titles.get(item.film) or item.film
            changed.append(Changed(item, film, item.prediction or "", said or "", row.value, value))
    sign = 1 if a.higher_is_better else -1
    better = sorted((c for c in changed if sign * c.gain > 0), key=lambda c: (-sign * c.gain, c.item.id))
    worse = sorted((c for c in changed if sign * c.gain < 0), key=lambda c: (sign * c.gain, c.item.id))
    shown = tuple(better[:LISTED]), tuple(worse[:LISTED])
    return MetricComparison(
        a.name, a.title, a.higher_is_better, figures, *shown, n_better=len(better), n_worse=len(worse)
    )


LINE_HEADS = ("AD", "A", "B", "B − A", "Human AD", "Line of A", "Line of B", "Film", "When, how long")

Content = dict[str, Any]
"""What is said of a comparison, by name, as its page, its text and the terminal take it."""


def content_of(comparison: Comparison) -> Content:
    """Who is who, a row of cells for each metric, how to read them, and the lines that gained and lost most
    by each metric: each list with its heading, and a row of cells for each line."""
    lists = []
    for metric in comparison.metrics:
        for what, which, n, lines in (
            ("gained", "better", metric.n_better, metric.better),
            ("lost", "worse", metric.n_worse, metric.worse),
        ):
            heading = f"{metric.title}: {what} most ({plural(n, 'line')} {which} in B)"
            if lines:
                rows = [
                    (
                        line.item.id,
                        number(metric.name, line.value_a),
                        number(metric.name, line.value_b),
                        signed(metric.name, line.gain),
                        line.item.reference,
                        line.prediction_a or "nothing",
                        line.prediction_b or "nothing",
                        line.film,
                        clock(line.item.interval),
                    )
                    for line in lines
                ]
                lists.append((heading, rows))
    interval = f"{percent(LEVEL)} interval"
    return {
        "title": f"{comparison.b} (B) against {comparison.a} (A)",
        "opening": _opening(comparison),
        "heads": ("Metric", "A", "B", "B − A", interval, "p, two-sided", "ADs", "Better"),
        "rows": [
            (
                one.title if one.higher_is_better else f"{one.title} (lower is better)",
                number(one.name, one.figures.a),
                number(one.name, one.figures.b),
                signed(one.name, one.figures.difference),
                span_words(one.name, one.figures.interval),
                chance_words(one.figures.p),
                f"{one.figures.n:,}",
                one.verdict,
            )
            for one in comparison.metrics
        ],
        "explanation": _explanation(comparison),
        "line_heads": LINE_HEADS,
        "lists": lists,
    }


def comparison_text(comparison: Comparison) -> str:
    """All but the lines, for a terminal."""
    told = content_of(comparison)
    table = aligned(told["heads"], told["rows"], range(1, 7))
    return "\n".join([*told["opening"], "", *table, "", *told["explanation"]])


def write_comparison(folder: Path, comparison: Comparison) -> list[Path]:
    """Write ``compare.json``, ``compare.md`` and ``compare.html``. Raises WorkFolderError."""
    told = content_of(comparison)
    lines = [f"# {md_text(told['title'])}", "", *bullets(told["opening"]), ""]
    lines += [*md_table(told["heads"], told["rows"], range(1, 7)), "", *bullets(told["explanation"])]
    for name, rows in told["lists"]:
        lines += ["", f"## {md_text(name)}", "", *md_table(told["line_heads"], rows, [1, 2, 3])]
    texts = {
        "compare.json": readable_json(comparison.record()),
        "compare.md": "\n".join(lines) + "\n",
        "compare.html": page("compare", **told),
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def _opening(comparison: Comparison) -> list[str]:
    lines = [f"A: {comparison.a}.", f"B: {comparison.b}."]
    common = f"Compared on {plural(comparison.common, 'AD')} of {comparison.dataset} that both scored"
    if not comparison.only_a and not comparison.only_b:
        return [*lines, f"{common}: the same in both."]
    lines.append(f"{common}. The others are in no number below.")
    for side, names in (("A", comparison.only_a), ("B", comparison.only_b)):
        if names:
            shown = ", ".join(names[:LISTED_IDS]) + (", …" if len(names) > LISTED_IDS else "")
            lines.append(f"Only {side} has {plural(len(names), 'AD')}: {shown}.")
    return lines


def _explanation(comparison: Comparison) -> list[str]:
    basis = basis_words([metric.figures.interval for metric in comparison.metrics], comparison.settings.unit)
    lines = [f"Not compared: {title}, because {reason}." for title, reason in comparison.not_compared]
    if not basis:
        return lines
    return [
        f"{basis} They are of B − A: A and B are left out together.",
        "p, two-sided: how often two equal systems come out so far apart by chance.",
        f"Better: the system that is ahead with p, two-sided, at most {1 - LEVEL:.2g}; open "
        "where none is. Of many metrics one may come out so by chance.",
        *lines,
    ]
