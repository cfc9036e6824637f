"""Numbers and counts in words, the same in text, page and terminal; this system above others.

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
from shotad.evaluation.metric import Json, Result
from shotad.evaluation.report.intervals import Span
from shotad.evaluation.running import Protocol, Report, base_name

NONE = "–"
"""Where there is no number."""

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
    """``0.012``; less than a thousandth is told as ``< 0.001``."""
    if p is None:
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def clock(interval: Interval) -> str:
    """When an AD begins, and how long it is: ``0:23:15, 1.9 s``."""
    whole = int(interval.start)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}, {interval.duration:.1f} s"


def counts_words(run: Report) -> list[str]:
    """How many ADs the report speaks of, what became of the others, and what each metric could not score
    although there was a prediction, a sentence each."""
    here, there = len(run.scored), len(run.corpus.items)
    missing, failed, skipped = run.counts.values()
    lines = [f"{run.dataset} has {plural(there, 'AD')}; this report speaks of {here:,} of them."]
    if missing:
        lines.append(f"{plural(missing, 'AD')} had no prediction and {_counts(missing)} as 0.")
    if failed:
        lines.append(f"{plural(failed, 'prediction')} had failed and {_counts(failed)} as 0.")
    if skipped:
        lines.append(
            f"{plural(skipped, 'AD')} without a prediction {_were(skipped)} left out, as --missing skip "
            "asks: the numbers are higher than those of a run in which they count."
        )
    if here and not (missing or failed or skipped):
        lines.append("Every one had a prediction.")
    if run.extra:
        lines.append(f"{plural(run.extra, 'prediction')} {_were(run.extra)} of no AD of it.")
    if run.doubled:
        lines.append(f"{plural(run.doubled, 'id')} came more than once in the predictions.")
    silent = {item.id for item in run.silent}
    for result in run.results:
        unscored = sum(bool(row.failure) and row.id not in silent for row in result.rows)
        if unscored:
            told = f"{plural(unscored, 'prediction')} could not be scored and {_counts(unscored)} as 0"
            lines.append(f"{result.title}: {told}.")
    return lines


COLUMNS = (
    "Scored: ADs that the metric speaks of. Failed: of these, those that could not be scored properly and "
    "count as 0."
)
"""What stands above two columns of the table of metrics."""


def counted_as_0(result: Result) -> int:
    """ADs that could not be scored properly and count as 0: without those of which the metric says
    nothing."""
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
        said = list(result.remarks)
        if not result.comparable and not any(_NOT_COMPARABLE in remark for remark in said):
            said.insert(0, f"{_NOT_COMPARABLE} with the paper's number")
        if result.figure.shift:
            zero = number(result.name, result.figure.factor * result.figure.shift)
            said.append(f"The score 0, as of what is missing, stands at {zero} on this scale.")
        if said:
            text = ". ".join(part.strip().rstrip(".") for part in said)
            text = f"{text[:1].lower()}{text[1:]}" if text[1:2].islower() else text
            mark = f"[{thread_name(len(notes)).lower()}]"
            notes[result.name] = mark, f"{result.title}: {text}."
    return notes


def with_marks(results: Sequence[Result], notes: Mapping[str, tuple[str, str]]) -> list[str]:
    """The title of each metric, with the mark of its note."""
    return [f"{r.title} {notes[r.name][0]}" if r.name in notes else r.title for r in results]


def beside_paper(
    run: Report, intervals: Mapping[str, Span | None], notes: Mapping[str, tuple[str, str]]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """The metrics that the paper has for this dataset, and a row for this system, then for each of the
    paper's: its kind (own, paper, ceiling), system, models, source, and a cell for each metric."""
    rows = paper_rows(run.corpus.dataset, run.protocol)
    columns = [r for r in run.results if _in_paper(run, r)]
    if not columns:
        return [], []
    own = []
    for r in columns:
        span = intervals.get(r.name)
        own.append(number(r.name, r.value) + (f" ({span_words(r.name, span)})" if span else ""))
    lines = [("own", run.system, "", "measured here", *own)]
    for row in (row for row in rows if any(paper_values(row, result) for result in columns)):
        extra = ["trained on human AD"] if row["trained_on_ad"] else []
        extra += [row["note"]] if row["note"] and not _is_ceiling(row) else []
        system = f"{row['method']} ({'; '.join(extra)})" if extra else row["method"]
        kind, source = "ceiling" if _is_ceiling(row) else "paper", f"{PAPER_MARK}, {row['table']}"
        lines.append((kind, system, row["models"], source, *(paper_cell(row, result) for result in columns)))
    return with_marks(columns, notes), lines


def paper_notes(run: Report, lines: Sequence[Sequence[str]]) -> list[str]:
    """What must be known to read the paper's rows."""
    notes = [f"Rows marked “{PAPER_MARK}” were not measured here: their numbers are those that it prints."]
    odd = [r.title for r in run.results if not r.comparable and _in_paper(run, r)]
    if odd:
        notes.append(
            f"Not comparable with the numbers below {'it' if len(odd) == 1 else 'them'}, for the reasons in "
            f"the notes: {', '.join(odd)}."
        )
    here, there = len(run.scored), len(run.corpus.items)
    if here < there:
        notes.append(f"The first row is of {here:,} of {there:,} ADs, the paper's rows are of all.")
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
    """Whether this is how well people agree with each other."""
    return bool(row["protocol"] == "inter-rater")


def _in_paper(run: Report, result: Result) -> bool:
    return any(paper_values(row, result) for row in paper_rows(run.corpus.dataset, run.protocol))


def paper_cell(row: Json, result: Result) -> str:
    """What the paper's row has for a metric: a number, one for each of two judges, or a dash."""
    return " | ".join(number(result.name, value) for value in paper_values(row, result)) or NONE


Values = tuple[float, ...]

JUDGES = ("LLaMA3-8B", "LLaMA2-7B")
"""Who gave the two figures of LLM-AD-Eval, in their order."""


def _published() -> Iterator[Json]:
    """The rows of ``paper.csv``, as JSON. ``models`` are the vision and the language model; LLM-AD-Eval has a
    value for each of `JUDGES` that was asked. ``trained_on_ad``: as opposed to training-free."""
    with Path(__file__).with_name("paper.csv").open(encoding="utf-8", newline="") as file:
        for cells in csv.DictReader(file):
            told = {name: cells.pop(name) for name in ("dataset", "method", "models", "table", "protocol")}
            trained, note = bool(cells.pop("trained")), cells.pop("note")
            values = {name: tuple(map(float, cell.split("|"))) for name, cell in cells.items() if cell}
            told |= {"trained_on_ad": trained, "values": values, "note": note}
            yield {"from_the_paper": True, **told}


PAPER = tuple(_published())


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
    """What the row has for the metric of ``result``: one number for each judge, else one; empty for none, as
    for a recall by other k and N than the paper's."""
    name = base_name(result.name)
    if name == "recall":
        found = (result.identity.get("k"), result.identity.get("neighbours"))
        if found != _RECALL.get(row["dataset"], found):
            return ()
    values: Values = row["values"].get(name, ())
    return values


_TOLD = json.loads(Path(__file__).with_name("paper.json").read_text(encoding="utf-8"))
AGREEMENT: tuple[Json, ...] = tuple(_TOLD["agreement"])
"""Correlation of a metric with human scores of actions: 0 to 3, 300 ADs with paragraphs, 500 with sentences,
five annotators."""
CEILINGS: tuple[Json, ...] = tuple(_TOLD["ceilings"])
"""How well two human ADs of the same moment agree (CMD-AD)."""
