"""The assisted protocol (Shot-by-Shot, section 5.8): several candidates for each AD, an expert chooses.

The choice is measured beside the first, a random and the best candidate. The expert is a rule: the
candidate with the highest mean of CIDEr and action score, both as they are reported. It knows the human AD,
so its choice says how good the best of the offer is, not how well a machine chooses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shotad.core import EvaluationError, aligned, plural
from shotad.evaluation.metric import ENGINE_METRICS, Corpus, Json, Result, Row, make_metric, score
from shotad.evaluation.report.table import (
    NONE,
    PAPER_MARK,
    footnotes,
    number,
    paper_cell,
    paper_rows,
    paper_values,
    with_marks,
)
from shotad.evaluation.running import LeftOut, Report, base_name, measure
from shotad.evaluation.store import MetricContext

EXPERT = ("cider", "action")
"""The metrics whose mean the expert goes by (Shot-by-Shot, section 5.8)."""

Role = Literal["chosen", "first", "random", "best"]
ROLES: tuple[Role, ...] = ("chosen", "first", "random", "best")
"""The expert's choice; the first candidate; a random one, on average; by each metric its own best."""

ALONG = ("repetition", "repetition-meaning", "names-kept")
"""Metrics of a line among those before it: no single candidate is the best by them."""


@dataclass(frozen=True, slots=True)
class Assisted:
    """What came of the protocol.

    ``corpus`` has the chosen candidates as predictions; ``choices`` say of each AD measured which candidate
    was ``chosen`` (from 0; None where it has none), its ``text``, and the candidates' ``scores``. ``results``
    are by role and the metric's name; metrics that ask an engine have only that of the chosen, and those of
    whole sequences also that of the first candidates. ``sizes``: how many ADs have how many candidates.
    ``expert``: titles of the expert's metrics, by name.
    """

    corpus: Corpus
    left_out: tuple[LeftOut, ...]
    choices: tuple[Json, ...]
    results: Mapping[Role, Mapping[str, Result]]
    sizes: Mapping[int, int]
    expert: Mapping[str, str]

    def report(self, run: Report) -> Report:
        """What a report of the choice speaks of, where ``run`` is what was read."""
        said = f"The line of each AD is the candidate with the highest mean of {_expert_words(self)}."
        made = replace(run, corpus=self.corpus, left_out=self.left_out, notes=(said, *run.notes))
        return replace(made, results=tuple(self.results["chosen"].values()), protocol="assisted")


def assist(
    corpus: Corpus,
    names: Sequence[str],
    context: MetricContext,
    *,
    expert: Sequence[str] = EXPERT,
    done: Callable[[str, Result], None] = lambda role, result: None,
) -> Assisted:
    """Let the expert choose from the candidates in ``corpus``, and measure the choice by these metrics;
    ``done`` is told each result of a role as it comes.

    Metrics that look at a film's lines together (CRITIC) see in the first, the random and the best films in
    which all lines have the same number. Raises EvaluationError where there is nothing to choose from, and
    where a metric of the expert cannot run.
    """
    own = ((item.prediction,) if item.prediction is not None else () for item in corpus.items)
    offers = [item.candidates or lines for item, lines in zip(corpus.items, own, strict=True)]
    if max(map(len, offers), default=0) < 2:
        raise EvaluationError(
            "No AD in the predictions has two candidates or more.",
            "Make them: shotad predict … --candidates 5 --sampling joint.",
        )
    zero = context.settings.missing == "zero"  # else those without a candidate do not count
    places = [place for place, lines in enumerate(offers) if lines or zero]
    ranks = _ranks(corpus, offers, places)
    known: dict[str, list[Result]] = {}

    def ranked(name: str, most: int | None = None) -> list[Result]:
        """Results of all first, all second … candidates, no more than ``most``. The first has a row of every
        place, each later one of those that have so many candidates."""
        if name not in known:
            metric = make_metric(name, context)
            known[name] = [score(metric, own, context, having) for own, having in ranks[:most]]
        return known[name]

    rows = [[{row.id: row for row in rank.rows} for rank in ranked(name)] for name in expert]
    choices = tuple(_choice(corpus.items[place].id, offers[place], rows) for place in places)
    numbers = dict(zip(places, (choice["chosen"] for choice in choices), strict=True))
    chosen = _with(corpus, offers, [numbers.get(place) for place in range(len(offers))])
    results: dict[Role, dict[str, Result]] = {role: {} for role in ROLES}
    measured, left_out = measure(chosen, names, context, done=lambda result: done("chosen", result))
    results["chosen"] = {result.name: result for result in measured}
    for name in results["chosen"]:
        if base_name(name) in ENGINE_METRICS:
            continue
        several = ranked(name, 1 if name in ALONG else None)
        results["first"][name] = several[0]
        if name not in ALONG:
            results["random"][name] = _by_item(several, _mean_row, "random")
            results["best"][name] = _by_item(several, _best_row, "best")
        for role in ROLES[1:]:
            if name in results[role]:
                done(role, results[role][name])
    titles = {name: ranked(name)[0].title for name in expert}
    counted = Counter(len(offers[place]) for place in places)
    sizes = {size: counted[size] for size in sorted(counted, reverse=True)}
    return Assisted(chosen, left_out, choices, results, sizes, titles)


Offers = Sequence[tuple[str, ...]]
"""The candidates of each item of a corpus; where it has none its prediction, or nothing."""


def _ranks(corpus: Corpus, offers: Offers, places: Sequence[int]) -> list[tuple[Corpus, Sequence[int]]]:
    """The corpus with all first, all second … candidates, and the places that have so many."""
    found: list[tuple[Corpus, Sequence[int]]] = []
    for rank in range(max(map(len, offers))):
        own = _with(corpus, offers, [rank if rank < len(lines) else None for lines in offers])
        found.append((own, [place for place in places if rank < len(offers[place])] if rank else places))
    return found


def _with(corpus: Corpus, offers: Offers, numbers: Sequence[int | None]) -> Corpus:
    """The corpus with the candidate of this number as each item's prediction; with none where it is None."""
    items = tuple(
        replace(item, prediction=None, failure=item.failure or "no candidate")
        if number is None
        else replace(item, prediction=lines[number], failure="")
        for item, lines, number in zip(corpus.items, offers, numbers, strict=True)
    )
    return replace(corpus, items=items)


def _choice(name: str, lines: Sequence[str], rows: Sequence[Sequence[Mapping[str, Row]]]) -> Json:
    """The first of those with the highest mean. ``rows`` has for each of the expert's metrics those of all
    ranks, by id. A metric that says nothing of the item is left out; without any, all are equal."""
    if not lines:
        return {"id": name, "chosen": None, "text": None, "scores": []}
    told = [[rank[name].value for rank in ranks[: len(lines)]] for ranks in rows]
    known = [column for column in told if None not in column]
    scores = [sum(column[k] or 0.0 for column in known) / max(len(known), 1) for k in range(len(lines))]
    number = scores.index(max(scores))
    return {"id": name, "chosen": number, "text": lines[number], "scores": scores}


def _best_row(first: Result, rows: Sequence[Row]) -> Row:
    """What no choice can surpass, where the metric is a mean over items. BLEU and METEOR are figures of the
    whole corpus, in which lines that are each the best may be beaten together."""
    sign = 1.0 if first.higher_is_better else -1.0
    known = [row for row in rows if row.value is not None]
    return max(known, key=lambda row: sign * (row.value or 0.0), default=rows[0])


def _mean_row(_: Result, rows: Sequence[Row]) -> Row:
    """The mean of the candidates' sums: what a random choice comes to, on average."""
    sums = tuple(sum(column) / len(rows) for column in zip(*(row.sums for row in rows), strict=True))
    known = [row.value for row in rows if row.value is not None]
    failure = next((row.failure for row in rows if row.failure), "")
    return Row(rows[0].id, sums, sum(known) / len(known) if known else None, failure)


def _by_item(ranks: Sequence[Result], take: Callable[[Result, Sequence[Row]], Row], role: str) -> Result:
    """A row of each item by those of its candidates, of which ``ranks`` have the first, second …"""
    first = ranks[0]
    others = [{row.id: row for row in result.rows} for result in ranks[1:]]
    return replace(
        first,
        rows=tuple(
            take(first, [row, *(rank[row.id] for rank in others if row.id in rank)]) for row in first.rows
        ),
        identity={**first.identity, "choice": role},
        fresh=sum(result.fresh for result in ranks),
        seconds=sum(result.seconds for result in ranks),
    )


_CALLED: dict[Role, str] = {
    "chosen": "Chosen by the expert",
    "first": "The first candidate",
    "random": "A random one (on average)",
    "best": "The best by each metric",
}


def render(done: Assisted, called: str = "") -> str:
    """Plain lines for people."""
    results = tuple(done.results["chosen"].values())
    notes = footnotes(results)
    heads = with_marks(results, notes)
    rows = [["", *heads]]
    for role in ROLES:
        own = [(r.name, done.results[role].get(r.name)) for r in results]
        rows.append([_CALLED[role], *(number(name, r.value) if r else NONE for name, r in own)])
    shown = [row for row in _paper(done) if any(paper_values(row, result) for result in results)]
    for row in shown:
        single = ", one line" if row["protocol"] == "single" else ""
        named = f"{row['method']}{single} ({PAPER_MARK}, {row['table']})"
        rows.append([named, *(paper_cell(row, result) for result in results)])
    most, whose = max(done.sizes, default=0), f"{called}: " if called else ""
    lines = [f"{whose}{plural(len(done.choices), 'AD')} with up to {plural(most, 'candidate')}."]
    if fewer := [f"{ads:,} have {size}" for size, ads in done.sizes.items() if 0 < size < most]:
        lines.append(f"Fewer candidates: {', '.join(fewer)}; the choice is among those.")
    if done.sizes.get(0):
        lines.append(f"{plural(done.sizes[0], 'AD')} without any count as 0.")
    lines.append(f"The expert takes the one with the highest mean of {_expert_words(done)}.")
    lines += ["", *aligned(rows[0], rows[1:], range(1, len(heads) + 1)), ""]
    if shown:
        lines.append(f"Rows marked “{PAPER_MARK}” were not measured here.")
    lines += map(" ".join, notes.values())
    whole = ", ".join(result.title for result in results if result.figure.kind != "share")
    if whole:
        best = "The best line of each AD need not make the best of those."
        lines.append(f"Figures of all lines together: {whole}. {best}")
    lines += [f"Not measured: {name}. {reason}" for name, reason in done.left_out]
    return "\n".join(lines)


def as_json(done: Assisted) -> Json:
    """The same for programs; the choices one by one are not in it."""
    numbers = Counter(one["chosen"] for one in done.choices if one["chosen"] is not None)
    results = done.results["chosen"].values()
    return {
        "dataset": done.corpus.dataset,
        "protocol": "assisted",
        "expert": list(done.expert),
        "ads": len(done.choices),
        "without_candidates": done.sizes.get(0, 0),
        "candidates": {str(size): ads for size, ads in done.sizes.items()},
        "chosen_number": {str(number): numbers[number] for number in sorted(numbers)},
        "results": {
            role: {r.name: done.results[role][r.name].value for r in results if r.name in done.results[role]}
            for role in ROLES
        },
        "scored": {result.name: result.scored for result in results},
        "failed": {result.name: result.failed for result in results},
        "comparable": {result.name: result.comparable for result in results},
        "left_out": [{"metric": name, "reason": reason} for name, reason in done.left_out],
        "paper": _paper(done),
    }


def _expert_words(done: Assisted) -> str:
    """What the expert goes by: ``CIDEr and Action score``."""
    return " and ".join(done.expert.values())


def _paper(done: Assisted) -> list[Json]:
    """Table 9, and below it the same system's single lines."""
    rows = paper_rows(done.corpus.dataset, "assisted")
    own = [row for row in rows if row["protocol"] == "assisted"]
    models = {(row["method"].partition(",")[0], row["models"]) for row in own}
    alone = (row for row in rows if row["protocol"] == "single" and not row["note"])
    return own + [row for row in alone if (row["method"], row["models"]) in models]
