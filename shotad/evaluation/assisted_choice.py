"""The assisted protocol (Shot-by-Shot, section 5.8): several candidates for each AD, an expert chooses.

The choice is scored beside the first, a random and the best candidate. The expert is a rule: it takes the
candidate with the highest mean of CIDEr and action score, both as they are reported. It knows the human AD,
so its score says how good the best candidates are, not how well a program chooses among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shotad.core.errors import EvaluationError
from shotad.core.progress import plural, table_lines
from shotad.evaluation.evaluation_run import (
    NotMeasured,
    Report,
    base_name,
    make_ready,
    measure,
    ready_metrics,
)
from shotad.evaluation.metric import ENGINE_METRICS, Corpus, Item, Json, Result, Row, make_metric, score
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
from shotad.evaluation.store import MetricContext

EXPERT = ("cider", "action")
"""The metrics whose mean decides the expert's choice (Shot-by-Shot, section 5.8)."""

Role = Literal["chosen", "first", "random", "best"]
ROLES: tuple[Role, ...] = ("chosen", "first", "random", "best")
"""The expert's choice; the first candidate; a random one, on average; the one that each metric ranks best."""

ALONG = ("repetition", "repetition-meaning", "names-kept")
"""Metrics that compare a line with the lines before it: no candidate alone is the best by them."""


@dataclass(frozen=True, slots=True)
class Assisted:
    """Choices and results of the protocol.

    ``corpus`` has the chosen candidates as predictions. ``choices`` has for each scored AD the number of the
    ``chosen`` candidate (from 0; None where it has none), its ``text``, and the candidates' ``scores``.
    ``results`` are by role and the metric's name: metrics that ask an engine have a result for ``chosen``
    alone, those of `ALONG` for ``chosen`` and ``first``. ``sizes`` is the number of ADs by the number of
    their candidates. ``expert`` has the titles of the expert's metrics, by name.
    """

    corpus: Corpus
    left_out: tuple[NotMeasured, ...]
    choices: tuple[Json, ...]
    results: Mapping[Role, Mapping[str, Result]]
    sizes: Mapping[int, int]
    expert: Mapping[str, str]

    def report(self, run: Report) -> Report:
        """``run``, the report of the inputs, with the chosen candidates as predictions and their results."""
        note = f"The line of each AD is the candidate with the highest mean of {_expert_titles(self)}."
        return replace(
            run,
            corpus=self.corpus,
            not_measured=self.left_out,
            notes=(note, *run.notes),
            results=tuple(self.results["chosen"].values()),
            protocol="assisted",
        )


def choose_assisted(
    corpus: Corpus,
    names: Sequence[str],
    context: MetricContext,
    *,
    expert: Sequence[str] = EXPERT,
    done: Callable[[str, Result], None] = lambda role, result: None,
) -> Assisted:
    """Let the expert choose from the candidates in ``corpus``, and score the choice by the metrics ``names``.

    ``done`` is called with the role and each result as it comes. The first, random and best candidates are
    scored rank by rank: all first candidates together, then all second ones, so a metric that looks at the
    lines of a film together (CRITIC) sees lines of one rank. Raises EvaluationError where no AD has two
    candidates, and where a metric of the expert cannot run.
    """
    offers = [_offer(item) for item in corpus.items]
    if max(map(len, offers), default=0) < 2:
        raise EvaluationError(
            "No AD in the predictions has two candidates or more.",
            "Make them: shotad predict … --candidates 5 --sampling joint.",
        )
    # What cannot run is said before the first candidate is scored.
    make_ready(dict.fromkeys(expert, True), context)
    ready_metrics(names, corpus, context)
    counts_missing = context.settings.missing == "zero"  # else ADs without a candidate are not scored
    places = [place for place, lines in enumerate(offers) if lines or counts_missing]
    ranks = _ranks(corpus, offers, places)
    results_by_metric: dict[str, list[Result]] = {}

    def results_of_ranks(name: str, most: int | None = None) -> list[Result]:
        """The metric's result for each rank of candidates, of no more than ``most`` ranks.

        The first has a row for every place, each later one for the places that have so many candidates.
        """
        if name not in results_by_metric:
            metric = make_metric(name, context)
            results_by_metric[name] = [
                score(metric, ranked_corpus, context, ranked_places)
                for ranked_corpus, ranked_places in ranks[:most]
            ]
        return results_by_metric[name]

    expert_rows = []
    for name in expert:
        expert_rows.append([{row.id: row for row in rank.rows} for rank in results_of_ranks(name)])
    choices: list[Json] = []
    chosen_numbers: list[int | None] = [None] * len(offers)
    for place in places:
        choice = _choice(corpus.items[place].id, offers[place], expert_rows)
        chosen_numbers[place] = choice["chosen"]
        choices.append(choice)
    chosen = _with_candidates(corpus, offers, chosen_numbers)
    results: dict[Role, dict[str, Result]] = {role: {} for role in ROLES}

    def score_other_roles(result: Result) -> None:
        """Score what the expert did not choose too, while the metric's model is still loaded."""
        done("chosen", result)
        name = result.name
        if base_name(name) in ENGINE_METRICS:
            return
        rank_results = results_of_ranks(name, 1 if name in ALONG else None)
        results["first"][name] = rank_results[0]
        if name not in ALONG:
            results["random"][name] = _reduced(rank_results, _mean_row, "random")
            results["best"][name] = _reduced(rank_results, _best_row, "best")
        for role in ROLES[1:]:
            if name in results[role]:
                done(role, results[role][name])

    measured, left_out = measure(chosen, names, context, on_result=score_other_roles)
    results["chosen"] = {result.name: result for result in measured}
    titles = {name: results_of_ranks(name)[0].title for name in expert}
    counts = Counter(len(offers[place]) for place in places)
    sizes = {size: counts[size] for size in sorted(counts, reverse=True)}
    return Assisted(chosen, left_out, tuple(choices), results, sizes, titles)


Offers = Sequence[tuple[str, ...]]
"""The candidates of each item of a corpus; where it has none its prediction, or nothing."""


def _offer(item: Item) -> tuple[str, ...]:
    """The candidates of ``item``; else its prediction as the only one; empty where it has neither."""
    if item.candidates:
        return item.candidates
    return () if item.prediction is None else (item.prediction,)


def _ranks(corpus: Corpus, offers: Offers, places: Sequence[int]) -> list[tuple[Corpus, Sequence[int]]]:
    """For each rank (first, second … candidates) the corpus with these as predictions, and the places of
    items that have so many candidates. The first rank has all ``places``, also those without a candidate."""
    ranks: list[tuple[Corpus, Sequence[int]]] = []
    for rank in range(max(map(len, offers))):
        rank_of_items = [rank if rank < len(lines) else None for lines in offers]
        ranked_places = places if rank == 0 else [place for place in places if rank < len(offers[place])]
        ranks.append((_with_candidates(corpus, offers, rank_of_items), ranked_places))
    return ranks


def _with_candidates(corpus: Corpus, offers: Offers, ranks: Sequence[int | None]) -> Corpus:
    """The corpus with the candidate of this rank as each item's prediction; with none where it is None."""
    items = []
    for item, lines, rank in zip(corpus.items, offers, ranks, strict=True):
        if rank is None:
            items.append(replace(item, prediction=None, failure=item.failure or "no candidate"))
        else:
            items.append(replace(item, prediction=lines[rank], failure=""))
    return replace(corpus, items=tuple(items))


def _choice(item_id: str, lines: Sequence[str], rows: Sequence[Sequence[Mapping[str, Row]]]) -> Json:
    """The candidate in ``lines`` with the highest mean score, the first of equal ones, as JSON.

    ``rows`` has for each of the expert's metrics the rows of each rank, by item id. A metric without a value
    for one of the candidates is left out of the mean; where all are left out, every score is 0.
    """
    if not lines:
        return {"id": item_id, "chosen": None, "text": None, "scores": []}
    values_by_metric = []
    for rows_of_ranks in rows:
        values = [rows_by_id[item_id].value for rows_by_id in rows_of_ranks[: len(lines)]]
        if None not in values:
            values_by_metric.append(values)
    scores = []
    for rank in range(len(lines)):
        total = sum(values[rank] or 0.0 for values in values_by_metric)
        scores.append(total / max(len(values_by_metric), 1))
    best = scores.index(max(scores))
    return {"id": item_id, "chosen": best, "text": lines[best], "scores": scores}


def _best_row(first: Result, rows: Sequence[Row]) -> Row:
    """The row with the best value: an upper bound, where the metric is a mean over items.

    BLEU and METEOR are computed of the whole corpus: there, the lines that are each the best may score less
    together than others.
    """
    sign = 1.0 if first.higher_is_better else -1.0
    rows_with_value = [row for row in rows if row.value is not None]
    return max(rows_with_value, key=lambda row: sign * (row.value or 0.0), default=rows[0])


def _mean_row(_: Result, rows: Sequence[Row]) -> Row:
    """The mean of the candidates' sums: what a random choice comes to, on average."""
    columns = zip(*(row.sums for row in rows), strict=True)
    sums = tuple(sum(column) / len(rows) for column in columns)
    values = [row.value for row in rows if row.value is not None]
    failure = next((row.failure for row in rows if row.failure), "")
    return Row(rows[0].id, sums, sum(values) / len(values) if values else None, failure)


def _reduced(ranks: Sequence[Result], reduce: Callable[[Result, Sequence[Row]], Row], role: str) -> Result:
    """One result from those of all ranks: ``reduce`` makes the row of an item from those of its candidates.

    ``role`` becomes part of the result's identity.
    """
    first = ranks[0]
    later_ranks = [{row.id: row for row in result.rows} for result in ranks[1:]]
    rows = []
    for row in first.rows:
        later_rows = [rank[row.id] for rank in later_ranks if row.id in rank]
        rows.append(reduce(first, [row, *later_rows]))
    return replace(
        first,
        rows=tuple(rows),
        identity={**first.identity, "choice": role},
        fresh=sum(result.fresh for result in ranks),
        seconds=sum(result.seconds for result in ranks),
    )


_ROLE_TITLES: dict[Role, str] = {
    "chosen": "Chosen by the expert",
    "first": "The first candidate",
    "random": "A random one (on average)",
    "best": "The best by each metric",
}


def assisted_text(done: Assisted, called: str = "") -> str:
    """The results as lines of text, the choices among them as a table; ``called`` is the system's name."""
    results = tuple(done.results["chosen"].values())
    notes = footnotes(results)
    headings = with_marks(results, notes)
    rows = []
    for role in ROLES:
        cells = [_ROLE_TITLES[role]]
        for result in results:
            role_result = done.results[role].get(result.name)
            cells.append(number(result.name, role_result.value) if role_result else NONE)
        rows.append(cells)
    rows_of_paper = [row for row in _paper_rows(done) if any(paper_values(row, result) for result in results)]
    for row in rows_of_paper:
        single = ", one line" if row["protocol"] == "single" else ""
        title = f"{row['method']}{single} ({PAPER_MARK}, {row['table']})"
        rows.append([title, *(paper_cell(row, result) for result in results)])
    most = max(done.sizes, default=0)
    prefix = f"{called}: " if called else ""
    lines = [f"{prefix}{plural(len(done.choices), 'AD')} with up to {plural(most, 'candidate')}."]
    fewer = [f"{ads:,} have {size}" for size, ads in done.sizes.items() if 0 < size < most]
    if fewer:
        lines.append(f"Fewer candidates: {', '.join(fewer)}; the choice is among those.")
    if done.sizes.get(0):
        lines.append(f"{plural(done.sizes[0], 'AD')} without any count as 0.")
    lines.append(f"The expert takes the one with the highest mean of {_expert_titles(done)}.")
    lines += ["", *table_lines(["", *headings], rows, range(1, len(headings) + 1)), ""]
    if rows_of_paper:
        lines.append(f"Rows marked “{PAPER_MARK}” were not measured here.")
    lines += map(" ".join, notes.values())
    corpus_metrics = ", ".join(result.title for result in results if result.figure.kind != "share")
    if corpus_metrics:
        caution = "The best line of each AD need not make the best of those."
        lines.append(f"Figures of all lines together: {corpus_metrics}. {caution}")
    lines += [f"Not measured: {name}. {reason}" for name, reason in done.left_out]
    return "\n".join(lines)


def assisted_json(done: Assisted) -> Json:
    """The results as JSON; ``chosen_number`` counts the choices, which are not listed one by one."""
    numbers = Counter(choice["chosen"] for choice in done.choices if choice["chosen"] is not None)
    results = done.results["chosen"].values()
    values: dict[str, dict[str, float | None]] = {}
    for role in ROLES:
        of_role = done.results[role]
        values[role] = {r.name: of_role[r.name].value for r in results if r.name in of_role}
    return {
        "dataset": done.corpus.dataset,
        "protocol": "assisted",
        "expert": list(done.expert),
        "ads": len(done.choices),
        "without_candidates": done.sizes.get(0, 0),
        "candidates": {str(size): ads for size, ads in done.sizes.items()},
        "chosen_number": {str(number): numbers[number] for number in sorted(numbers)},
        "results": values,
        "scored": {result.name: result.scored for result in results},
        "failed": {result.name: result.failed for result in results},
        "comparable": {result.name: result.comparable for result in results},
        "left_out": [{"metric": name, "reason": reason} for name, reason in done.left_out],
        "paper": _paper_rows(done),
    }


def _expert_titles(done: Assisted) -> str:
    """Titles of the expert's metrics: ``CIDEr and Action score``."""
    return " and ".join(done.expert.values())


def _paper_rows(done: Assisted) -> list[Json]:
    """The paper's rows of the assisted protocol (table 9), then the same systems' rows for single lines."""
    rows = paper_rows(done.corpus.dataset, "assisted")
    assisted = [row for row in rows if row["protocol"] == "assisted"]
    systems = {(row["method"].partition(",")[0], row["models"]) for row in assisted}
    single = []
    for row in rows:
        if row["protocol"] == "single" and not row["note"] and (row["method"], row["models"]) in systems:
            single.append(row)
    return assisted + single
