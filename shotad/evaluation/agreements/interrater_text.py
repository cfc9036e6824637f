"""Inter-rater agreement for people and as JSON, with the paper's beside it."""

from __future__ import annotations

from shotad.evaluation.agreements.interrater import InterRater
from shotad.evaluation.measure.rows import Json
from shotad.evaluation.report.columns import aligned
from shotad.evaluation.report.intervals import basis_words
from shotad.evaluation.report.paper_rows import CEILINGS
from shotad.evaluation.report.wording import NONE, count, number, span_words

_PAPER = ("cider", "recall", "action", "llm-ad-eval")
_PAPER_HEADS = ("CIDEr", "R@1/5", "Action", "LLM-AD-Eval")


def interrater_text(found: InterRater) -> str:
    """How many lines were paired, the numbers of both directions, and the paper's table A5."""
    results = found.directions[0].results
    heads = ("tIoU", "Pairs", "Reference", *(result.title for result in results))
    rows = [
        (
            f"{one.tiou:g}",
            f"{one.pairs:,}",
            one.reference,
            *(
                f"{number(r.name, r.value)}{_told(span_words(r.name, one.intervals[r.name]))}"
                for r in one.results
            ),
        )
        for one in found.directions
    ]
    lines = [*_opening(found), "", *aligned(heads, rows, [0, 1]), ""]
    remarks = dict.fromkeys(f"{r.title}: {remark.rstrip('.')}." for r in results for remark in r.remarks)
    basis = basis_words([span for one in found.directions for span in one.intervals.values()], "film")
    lines += [*remarks, *([basis] if basis else [])]
    lines += [f"Not counted: {left.metric}. {left.reason}" for left in found.left_out]
    return "\n".join([*lines, "", *_paper()])


def interrater_record(found: InterRater) -> Json:
    """``inter-rater.json``."""
    return {
        "schema": 1,
        "a": {"name": found.a.name, "lines": len(found.a.lines)},
        "b": {"name": found.b.name, "lines": len(found.b.lines)},
        "directions": [one.record() for one in found.directions],
        "left_out": [{"metric": left.metric, "reason": left.reason} for left in found.left_out],
        "paper": [ceiling.record() for ceiling in CEILINGS],
        "pairs": [
            {
                "tiou": round(pair.tiou, 6),
                "film": pair.a.film,
                "a": {"start": pair.a.interval.start, "end": pair.a.interval.end, "text": pair.a.text},
                "b": {"start": pair.b.interval.start, "end": pair.b.interval.end, "text": pair.b.text},
            }
            for pair in found.pairs
        ],
    }


def _opening(found: InterRater) -> list[str]:
    a, b = found.a, found.b
    films = sorted({*a.films()} & {*b.films()})
    return [
        f"{a.name}: {count(len(a.lines), 'line')}. {b.name}: {count(len(b.lines), 'line')}. "
        f"{count(len(films), 'film')} in both.",
        "Each row: one version against the other, which is the reference; intervals in brackets.",
    ]


def _told(interval: str) -> str:
    return "" if interval == NONE else f" ({interval})"


def _paper() -> list[str]:
    rows = [
        (
            f"{ceiling.tiou:g}",
            f"{ceiling.pairs:,}",
            f"{ceiling.films}",
            *(
                " | ".join(number(name, value) for value in ceiling.values.get(name, ())) or NONE
                for name in _PAPER
            ),
        )
        for ceiling in CEILINGS
    ]
    heads = ("From the paper, Table A5 (CMD-AD): tIoU", "Pairs", "Films", *_PAPER_HEADS)
    return aligned(heads, rows, range(7))
