"""Numbers and counts in words, for text, page and terminal; and the paper's numbers beside a report's.

The numbers of the literature all come from the Shot-by-Shot paper, also those of other systems (Xie et al.
2025; tables 3, 7 to 9, A1, A3, A5). None of them was measured here.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from shotad.core import Interval
from shotad.core.progress import plural
from shotad.core.types import thread_name
from shotad.evaluation.evaluation_run import Protocol, Report, base_name
from shotad.evaluation.metric import Json, Result
from shotad.evaluation.report.intervals import Span

NONE = "–"
"""Stands where there is no number."""

_TWO_DECIMALS = ("llm-ad-eval", "llm-action")
"""Metrics on a scale of a few points."""


def number(metric: str, value: float | None) -> str:
    """A metric's number as tables have it: ``26.3``; judges' points with two decimals."""
    if value is None:
        return NONE
    return f"{value + 0.0:.{2 if base_name(metric) in _TWO_DECIMALS else 1}f}".replace("-", "−")


def signed(metric: str, value: float | None) -> str:
    """A difference, with its sign: ``+1.2``."""
    return number(metric, value) if value is None or value < 0 else f"+{number(metric, value)}"


def span_words(metric: str, span: Span | None) -> str:
    """``25.8 to 26.9``, or a dash."""
    return NONE if span is None else f"{number(metric, span.low)} to {number(metric, span.high)}"


def percent(part: float) -> str:
    """``0.95 → 95 %``, ``0.0036 → 0.4 %``."""
    return f"{100 * part:.1f}".removesuffix(".0") + " %"


def chance_words(p: float | None) -> str:
    """A p value: ``0.012``, and ``< 0.001`` below a thousandth."""
    if p is None:
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def clock(interval: Interval) -> str:
    """When an AD begins, and how long it is: ``0:23:15, 1.9 s``."""
    seconds = int(interval.start)
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}, {interval.duration:.1f} s"


def counts_words(run: Report) -> list[str]:
    """Sentences: how many ADs the report covers, what became of the others, and how many predictions each
    metric could not score."""
    scored_ads, dataset_ads = len(run.scored), len(run.corpus.items)
    missing, failed, skipped = run.counts.values()
    lines = [f"{run.dataset} has {plural(dataset_ads, 'AD')}; this report speaks of {scored_ads:,} of them."]
    if missing:
        lines.append(f"{plural(missing, 'AD')} had no prediction and {_counts(missing)} as 0.")
    if failed:
        lines.append(f"{plural(failed, 'prediction')} had failed and {_counts(failed)} as 0.")
    if skipped:
        lines.append(
            f"{plural(skipped, 'AD')} without a prediction {_were(skipped)} left out, as --missing skip "
            "asks: the numbers are higher than those of a run in which they count."
        )
    if scored_ads and not (missing or failed or skipped):
        lines.append("Every one had a prediction.")
    if run.extra:
        lines.append(f"{plural(run.extra, 'prediction')} {_were(run.extra)} of no AD of it.")
    if run.doubled:
        lines.append(f"{plural(run.doubled, 'id')} came more than once in the predictions.")
    unpredicted = {item.id for item in run.unpredicted}
    for result in run.results:
        unscored = sum(bool(row.failure) and row.id not in unpredicted for row in result.rows)
        if unscored:
            lines.append(
                f"{result.title}: {plural(unscored, 'prediction')} could not be scored and "
                f"{_counts(unscored)} as 0."
            )
    return lines


COLUMNS = (
    "Scored: ADs that the metric speaks of. Failed: of these, those that could not be scored properly and "
    "count as 0."
)
"""What two columns of the table of metrics mean."""


def counted_as_0(result: Result) -> int:
    """Number of ADs that could not be scored properly and count as 0; those to which the metric does not
    apply are not among them."""
    return sum(bool(row.failure) and row.value is not None for row in result.rows)


def _counts(n: int) -> str:
    return "counts" if n == 1 else "count"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


PAPER_MARK = "from the paper"
"""What stands in each row that was not measured here."""

_NOT_COMPARABLE = "not comparable"
"""What a remark says of a number that must not stand beside the paper's."""


def footnotes(results: Sequence[Result]) -> dict[str, tuple[str, str]]:
    """By the metric's name its mark and its note, where it has anything to say: first whether it may stand
    beside the paper's."""
    notes: dict[str, tuple[str, str]] = {}
    for result in results:
        remarks = list(result.remarks)
        if not result.comparable and not any(_NOT_COMPARABLE in remark for remark in remarks):
            remarks.insert(0, f"{_NOT_COMPARABLE} with the paper's number")
        if result.figure.shift:
            zero = number(result.name, result.figure.factor * result.figure.shift)
            remarks.append(f"The score 0, as of what is missing, stands at {zero} on this scale.")
        if not remarks:
            continue
        text = ". ".join(remark.strip().rstrip(".") for remark in remarks)
        # The title comes before it; an abbreviation (two capitals) stays as it is.
        if text[1:2].islower():
            text = f"{text[:1].lower()}{text[1:]}"
        mark = f"[{thread_name(len(notes)).lower()}]"  # a, b, …, z, aa, like the names of threads
        notes[result.name] = mark, f"{result.title}: {text}."
    return notes


def with_marks(results: Sequence[Result], notes: Mapping[str, tuple[str, str]]) -> list[str]:
    """The title of each metric, with the mark of its note."""
    titles = []
    for result in results:
        mark = notes[result.name][0] if result.name in notes else ""
        titles.append(f"{result.title} {mark}" if mark else result.title)
    return titles


def beside_paper(
    run: Report, intervals: Mapping[str, Span | None], notes: Mapping[str, tuple[str, str]]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """The metrics that the paper has for this dataset, and a row for this system, then for each of the
    paper's: its kind (own, paper, ceiling), system, models, source, and a cell for each metric."""
    rows = paper_rows(run.corpus.dataset, run.protocol)
    columns = [result for result in run.results if _in_paper(run, result)]
    if not columns:
        return [], []
    measured_cells = []
    for result in columns:
        span = intervals.get(result.name)
        ends = f" ({span_words(result.name, span)})" if span else ""
        measured_cells.append(number(result.name, result.value) + ends)
    lines = [("own", run.system, "", "measured here", *measured_cells)]
    for row in rows:
        if not any(paper_values(row, result) for result in columns):
            continue
        remarks = []
        if row["trained_on_ad"]:
            remarks.append("trained on human AD")
        # The note of a ceiling is a sentence: it stands below the table (`paper_notes`).
        if row["note"] and not _is_ceiling(row):
            remarks.append(row["note"])
        kind = "ceiling" if _is_ceiling(row) else "paper"
        system = f"{row['method']} ({'; '.join(remarks)})" if remarks else row["method"]
        source = f"{PAPER_MARK}, {row['table']}"
        cells = [paper_cell(row, result) for result in columns]
        lines.append((kind, system, row["models"], source, *cells))
    return with_marks(columns, notes), lines


def paper_notes(run: Report, lines: Sequence[Sequence[str]]) -> list[str]:
    """Sentences that explain the paper's rows; ``lines`` are the rows of `beside_paper`."""
    notes = [f"Rows marked “{PAPER_MARK}” were not measured here: their numbers are those that it prints."]
    not_comparable = [
        result.title for result in run.results if not result.comparable and _in_paper(run, result)
    ]
    if not_comparable:
        notes.append(
            f"Not comparable with the numbers below {'it' if len(not_comparable) == 1 else 'them'}, for the "
            f"reasons in the notes: {', '.join(not_comparable)}."
        )
    scored_ads, dataset_ads = len(run.scored), len(run.corpus.items)
    if scored_ads < dataset_ads:
        notes.append(
            f"The first row is of {scored_ads:,} of {dataset_ads:,} ADs, the paper's rows are of all."
        )
    if any(" | " in cell for line in lines for cell in line[4:]):
        notes.append(f"Two numbers in a cell are those of two judges, {' and '.join(JUDGES)}.")
    if any(line[0] == "ceiling" for line in lines):
        rows = [row for row in paper_rows(run.corpus.dataset, run.protocol) if _is_ceiling(row)]
        notes += [f"{row['method']} {row['note']}. It says how far people agree." for row in rows]
    spread = RUN_TO_RUN.get(run.corpus.dataset)
    if spread and run.protocol == "single":
        titles = {result.name: result.title for result in run.results}
        named = [f"{titles[name]} {value:g}" for name, value in spread.items() if name in titles]
        if named:
            notes.append(f"Standard deviation of the paper's own system over five runs: {', '.join(named)}.")
    return notes


def _is_ceiling(row: Json) -> bool:
    """Whether the row says how well people agree with each other."""
    return bool(row["protocol"] == "inter-rater")


def _in_paper(run: Report, result: Result) -> bool:
    return any(paper_values(row, result) for row in paper_rows(run.corpus.dataset, run.protocol))


def paper_cell(row: Json, result: Result) -> str:
    """What the paper's row has for a metric: a number, one for each of two judges, or a dash."""
    return " | ".join(number(result.name, value) for value in paper_values(row, result)) or NONE


Values = tuple[float, ...]

JUDGES = ("LLaMA3-8B", "LLaMA2-7B")
"""The models that gave the two figures of LLM-AD-Eval, in the figures' order."""


def _rows_of_paper() -> Iterator[Json]:
    """The rows of ``paper.csv``, as JSON. ``models`` are the vision and the language model; LLM-AD-Eval has a
    value for each of `JUDGES` that was asked. ``trained_on_ad``: as opposed to training-free."""
    with Path(__file__).with_name("paper.csv").open(encoding="utf-8", newline="") as file:
        for cells in csv.DictReader(file):
            texts = {name: cells.pop(name) for name in ("dataset", "method", "models", "table", "protocol")}
            trained, note = bool(cells.pop("trained")), cells.pop("note")
            # The other columns are metrics.
            values = {name: tuple(map(float, cell.split("|"))) for name, cell in cells.items() if cell}
            yield {
                "from_the_paper": True,
                **texts,
                "trained_on_ad": trained,
                "values": values,
                "note": note,
            }


PAPER = tuple(_rows_of_paper())


RUN_TO_RUN = {
    "cmd-ad": {"cider": 0.2, "critic": 0.4, "action": 0.1},
    "tv-ad": {"cider": 0.4, "critic": 0.5, "action": 0.1},
}
"""Standard deviation over five runs of the same system (Table A3)."""

_RECALL = {"cmd-ad": (1, 5), "tv-ad": (1, 5), "mad-eval": (5, 16)}
"""k and N of the paper's recall."""


def paper_rows(dataset: str, protocol: Protocol = "single") -> tuple[Json, ...]:
    """The rows that may stand beside results on ``dataset``; assisted results have those of single lines
    below them, as in Table 9."""
    rows = tuple(row for row in PAPER if row["dataset"] == dataset)
    if protocol == "assisted":
        return tuple(sorted(rows, key=lambda row: row["protocol"] != "assisted"))
    return tuple(row for row in rows if row["protocol"] != "assisted")


def paper_values(row: Json, result: Result) -> Values:
    """The row's numbers for the metric of ``result``: one for each judge, else one; empty where it has none,
    and for a recall by other k and N than the paper's."""
    name = base_name(result.name)
    if name == "recall":
        k_and_n = (result.identity.get("k"), result.identity.get("neighbours"))
        if k_and_n != _RECALL.get(row["dataset"], k_and_n):
            return ()
    values: Values = row["values"].get(name, ())
    return values


_PAPER_JSON = json.loads(Path(__file__).with_name("paper.json").read_text(encoding="utf-8"))
AGREEMENT: tuple[Json, ...] = tuple(_PAPER_JSON["agreement"])
"""Correlation of a metric with human scores of actions: 0 to 3, 300 ADs with paragraphs, 500 with sentences,
five annotators."""
CEILINGS: tuple[Json, ...] = tuple(_PAPER_JSON["ceilings"])
"""How well two human ADs of the same moment agree (CMD-AD)."""
