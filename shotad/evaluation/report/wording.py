"""Numbers, counts and plain tables in words, the same in text, page and terminal."""

from __future__ import annotations

from shotad.core import Interval, plural
from shotad.evaluation.metric import Result
from shotad.evaluation.report.inputs import ReportInput, base_name
from shotad.evaluation.report.intervals import Span

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


def counts_words(run: ReportInput) -> list[str]:
    """How many ADs the report speaks of, and what became of the others, a sentence each."""
    here, there = len(run.items), len(run.corpus.items)
    missing, failed, skipped = len(run.missing), len(run.failed), len(run.skipped)
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
    if run.joined.extra:
        lines.append(f"{plural(run.joined.extra, 'prediction')} {_were(run.joined.extra)} of no AD of it.")
    if run.joined.doubled:
        lines.append(f"{plural(run.joined.doubled, 'id')} came more than once in the predictions.")
    return lines


def failures_words(run: ReportInput) -> list[str]:
    """What each metric could not score although there was a prediction, where there is anything."""
    silent = {item.id for item in (*run.missing, *run.failed)}
    lines = []
    for result in run.results:
        failed = sum(bool(row.failure) and row.id not in silent for row in result.rows)
        if failed:
            told = f"{plural(failed, 'prediction')} could not be scored and {_counts(failed)} as 0"
            lines.append(f"{result.title}: {told}.")
    return lines


COLUMNS = (
    "Scored: ADs that the metric speaks of. Failed: of these, those that could not be scored properly and "
    "count as 0."
)
"""What stands above two columns of the table of metrics."""


def counted_as_0(result: Result) -> int:
    """ADs that could not be scored properly and count as 0. A metric that says nothing of an AD (repetition
    of silence, names where the human AD has none) does not count its failure either."""
    return sum(bool(row.failure) and row.value is not None for row in result.rows)


def _counts(n: int) -> str:
    return "counts" if n == 1 else "count"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"
