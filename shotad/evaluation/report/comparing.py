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
from shotad.evaluation.report.intervals import FEWEST, LEVEL, Span, Unit, basis_words, spoken_of, units_of
from shotad.evaluation.report.records import Report
from shotad.evaluation.report.table import chance_words, clock, number, percent, signed, span_words
from shotad.evaluation.report.writing import page


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
    error = units.error(gained, units.without(b) - units.without(a))
    if gained is None or error is None or min(a.scored, b.scored) < FEWEST:
        return alone
    return replace(alone, interval=units.span(gained, error), p=units.chance(gained, error))


LISTED = 20
"""Lines that gained and lost most, that are shown."""

LISTED_IDS = 10
"""Ids that are named one by one."""


_BY_ACTIONS = (
    "action", "action-description", "llm-action", "events", "event-verbs", "event-participants"
)  # fmt: skip
_BY_CASTS = ("critic", "names-kept")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A and B. ``record`` is ``compare.json``: what is known of each metric of both, of which ADs, and of the
    metrics that were not compared; ``better`` is the better system of a metric, ``open`` where the films do
    not settle it. ``items`` are A's ADs by id, ``titles`` those of films, where they are known."""

    record: Json
    items: Mapping[str, Item]
    titles: Mapping[str, str]


def compare(a: Report, b: Report, settings: ReportSettings) -> Comparison:
    """B held against A on the ADs that both scored, joined by id; the others are named, and in no number.

    Raises EvaluationError where the same id means another human AD, or no AD is in both.
    """
    items_a, items_b = _scored(a), _scored(b)
    pairs = [(item, items_b[name]) for name, item in items_a.items() if name in items_b]
    _same_texts(a.name, b.name, pairs)
    metrics: list[Json] = []
    refused: list[Json] = []
    for result in a.results:
        other = b.result(result.name)
        reason = "only A has it" if other is None else _difference(result, other, a, b, pairs)
        if other is None or reason:
            refused.append({"title": result.title, "reason": reason})
        else:
            metrics.append(_compared(result, other, items_a, items_b, settings))
    known = {result.name for result in a.results}
    strange = (result.title for result in b.results if result.name not in known)
    refused += [{"title": title, "reason": "only B has it"} for title in strange]
    one, two = a.system, b.system
    only_a = [name for name in items_a if name not in items_b]
    only_b = [name for name in items_b if name not in items_a]
    record = {
        "schema": 2,
        "a": one if one != two else f"{one} ({a.name})",
        "b": two if one != two else f"{two} ({b.name})",
        "dataset": a.head["dataset"]["title"] or a.head["dataset"]["name"],
        "n": {"common": len(pairs), "only_a": len(only_a), "only_b": len(only_b)},
        "only_a": only_a,
        "only_b": only_b,
        "intervals": {"unit": settings.unit, "level": LEVEL},
        "metrics": metrics,
        "not_compared": refused,
    }
    return Comparison(record, items_a, {**b.head["films"], **a.head["films"]})


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
    a: Result, b: Result, items_a: Mapping[str, Item], items_b: Mapping[str, Item], settings: ReportSettings
) -> Json:
    """One metric of both, and the lines on which B gained and lost most."""
    found = paired(a, b, {name: item.film for name, item in items_a.items()}, unit=settings.unit)
    values = {row.id: row.value for row in b.rows}
    lines: list[Json] = []
    for row in a.rows:
        value = values.get(row.id)
        if row.value is not None and value is not None:
            item = items_a[row.id]
            line = {name: getattr(item, name) for name in ("id", "film")}
            line |= {"start": item.interval.start, "reference": item.reference}
            line["a"] = {"prediction": item.prediction or "", "value": row.value}
            lines.append(line | {"b": {"prediction": items_b[row.id].prediction or "", "value": value}})
    sign = 1 if a.higher_is_better else -1
    better = sorted((c for c in lines if sign * _gain(c) > 0), key=lambda c: (-sign * _gain(c), c["id"]))
    worse = sorted((c for c in lines if sign * _gain(c) < 0), key=lambda c: (sign * _gain(c), c["id"]))
    verdict, difference = "open", found.difference
    if difference and found.p is not None and found.p <= 1 - LEVEL:
        verdict = "B" if (difference > 0) == a.higher_is_better else "A"
    return {
        "name": a.name,
        "title": a.title,
        "higher_is_better": a.higher_is_better,
        "n": found.n,
        "a": found.a,
        "b": found.b,
        "difference": difference,
        "interval": asdict(found.interval) if found.interval else None,
        "p_two_sided": found.p,
        "better": verdict,
        "lines": {
            "better_in_b": len(better),
            "worse_in_b": len(worse),
            "gained_most": better[:LISTED],
            "lost_most": worse[:LISTED],
        },
    }


def _gain(line: Json) -> float:
    """B's number less A's."""
    gain: float = line["b"]["value"] - line["a"]["value"]
    return gain


LINE_HEADS = ("AD", "A", "B", "B − A", "Human AD", "Line of A", "Line of B", "Film", "When, how long")

Content = dict[str, Any]
"""What is said of a comparison, by name, as its page, its text and the terminal take it."""


def content_of(comparison: Comparison) -> Content:
    """Who is who, a row of cells for each metric, how to read them, and the lines that gained and lost most
    by each metric: each list with its heading, and a row of cells for each line."""
    record, lists, rows = comparison.record, [], []
    spans = [Span(**one["interval"]) if one["interval"] else None for one in record["metrics"]]
    for one, span in zip(record["metrics"], spans, strict=True):
        name, title, lines = one["name"], one["title"], one["lines"]
        rows.append(
            (
                title if one["higher_is_better"] else f"{title} (lower is better)",
                number(name, one["a"]),
                number(name, one["b"]),
                signed(name, one["difference"]),
                span_words(name, span),
                chance_words(one["p_two_sided"]),
                f"{one['n']:,}",
                one["better"],
            )
        )
        for what, which in (("gained", "better"), ("lost", "worse")):
            n, found = lines[f"{which}_in_b"], [_cells(comparison, name, c) for c in lines[f"{what}_most"]]
            if found:
                lists.append((f"{title}: {what} most ({plural(n, 'line')} {which} in B)", found))
    interval = f"{percent(LEVEL)} interval"
    return {
        "title": f"{record['b']} (B) against {record['a']} (A)",
        "opening": _opening(record),
        "heads": ("Metric", "A", "B", "B − A", interval, "p, two-sided", "ADs", "Better"),
        "rows": rows,
        "explanation": _explanation(record, spans),
        "line_heads": LINE_HEADS,
        "lists": lists,
    }


def _cells(comparison: Comparison, metric: str, line: Json) -> tuple[str, ...]:
    """A line in a list, a cell for each of `LINE_HEADS`."""
    item, numbers = comparison.items[line["id"]], [number(metric, line[side]["value"]) for side in "ab"]
    said = [line[side]["prediction"] or "nothing" for side in "ab"]
    film = comparison.titles.get(item.film) or item.film
    gain = signed(metric, _gain(line))
    return item.id, *numbers, gain, item.reference, *said, film, clock(item.interval)


def comparison_text(comparison: Comparison) -> str:
    """All but the lines, for a terminal."""
    told = content_of(comparison)
    table = aligned(told["heads"], told["rows"], range(1, 7))
    return "\n".join([*told["opening"], "", *table, "", *told["explanation"]])


def write_comparison(folder: Path, comparison: Comparison) -> list[Path]:
    """Write ``compare.json``, ``compare.md`` and ``compare.html``. Raises WorkFolderError."""
    told = content_of(comparison)
    texts = {
        "compare.json": readable_json(comparison.record),
        **{name: page(name, **told) for name in ("compare.md", "compare.html")},
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def _opening(record: Json) -> list[str]:
    lines = [f"A: {record['a']}.", f"B: {record['b']}."]
    common = f"Compared on {plural(record['n']['common'], 'AD')} of {record['dataset']} that both scored"
    if not record["only_a"] and not record["only_b"]:
        return [*lines, f"{common}: the same in both."]
    lines.append(f"{common}. The others are in no number below.")
    for side, names in (("A", record["only_a"]), ("B", record["only_b"])):
        if names:
            shown = ", ".join(names[:LISTED_IDS]) + (", …" if len(names) > LISTED_IDS else "")
            lines.append(f"Only {side} has {plural(len(names), 'AD')}: {shown}.")
    return lines


def _explanation(record: Json, spans: Sequence[Span | None]) -> list[str]:
    basis = basis_words(spans, record["intervals"]["unit"])
    lines = [f"Not compared: {one['title']}, because {one['reason']}." for one in record["not_compared"]]
    if not basis:
        return lines
    return [
        f"{basis} They are of B − A: A and B are left out together.",
        "p, two-sided: how often two equal systems come out so far apart by chance.",
        f"Better: the system that is ahead with p, two-sided, at most {1 - LEVEL:.2g}; open "
        "where none is. Of many metrics one may come out so by chance.",
        *lines,
    ]
