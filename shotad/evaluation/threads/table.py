"""The result of thread evaluation for people to read, with the paper's own rows beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shotad.evaluation.threads.results import ClipRow, Figures, Json, Match, Setup, SetupResult


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One row of Table 1 of Shot-by-Shot (section 5.3): measured on Thread-Safe, by its authors."""

    features: str
    setup: Setup
    precision: float
    recall: float
    ap: float
    wcp: float

    def record(self) -> Json:
        """One line of ``threads.json``."""
        return {
            "features": self.features,
            "frames": self.setup.frames,
            "match": self.setup.match,
            "ap": self.ap,
            "precision": self.precision,
            "recall": self.recall,
            "wcp": self.wcp,
        }


_WHOLE: Match = "whole"

PAPER = (
    PaperRow("CLIP-L14", Setup("side", _WHOLE), 0.691, 0.635, 0.705, 0.922),
    PaperRow("DINOv2-L14", Setup("side", _WHOLE), 0.759, 0.683, 0.788, 0.933),
    PaperRow("DINOv2-g14", Setup("side", _WHOLE), 0.761, 0.675, 0.786, 0.936),
    PaperRow("DINOv2-g14", Setup("mid", "patches"), 0.808, 0.717, 0.822, 0.953),
    PaperRow("DINOv2-g14", Setup("all", "patches"), 0.870, 0.795, 0.896, 0.964),
    PaperRow("DINOv2-g14", Setup("side", "patches"), 0.878, 0.799, 0.902, 0.965),
)

LISTED = 20
"""How many clips are listed one by one."""

_HEAD = "  ".join(
    [
        f"{'frames':6}",
        f"{'match':7}",
        f"{'what':24}",
        *(f"{n:>6}" for n in ("AP", "P", "R", "WCP", "P thr", "R thr")),
    ]
)


def table(results: Sequence[SetupResult], features: str) -> str:
    """All of it: each set-up pooled and as mean of clips, clips one by one, the paper's rows, a legend."""
    first = results[0]
    lines = [*_opening(first, features), "", _HEAD]
    for result in results:
        mean, _ = result.mean
        how = ", tuned" if result.tuned else ""
        lines.append(_line(result.setup, f"pooled, > {result.threshold:.3g}{how}", result.pooled))
        lines.append(_line(result.setup, "mean of clips", mean))
    lines += ["", "For comparison, the paper's Table 1: Thread-Safe, about 4,700 clips, its own features."]
    lines += [_paper_line(row) for row in PAPER]
    if len(results) == 1:
        lines += ["", f"By clip, {first.setup}:", *_clips(first.rows)]
    lines += ["", *LEGEND]
    if any(result.tuned for result in results):
        lines.append(TUNED)
    return "\n".join(lines)


LEGEND = (
    "AP, P, R: average precision, precision and recall over pairs of shots, each pair by its own score.",
    "P thr, R thr: the same when threads are closed: all pairs within a thread count as joined.",
    "WCP: weighted clustering purity; it is 1 when every shot is alone, so read it with R.",
)

TUNED = (
    "Tuned: no threshold is known for whole frames, so the one with the best F1 on these very labels "
    "is taken; only AP is a fair figure there."
)


def _opening(result: SetupResult, features: str) -> list[str]:
    counts = result.counts
    failed = [row for row in result.rows if row.failure]
    lines = [
        f"Clips: {len(result.rows)}. Shots: {counts.shots}. Pairs of shots: {counts.pairs}, from one camera "
        f"set-up: {counts.together}. Features: {features}."
    ]
    if failed:
        lines.append(
            f"{len(failed)} of {len(result.rows)} clips failed; in all figures they count as nothing found:"
        )
        lines += [f"  {row.clip.name}: {row.failure}" for row in failed[:LISTED]]
        if len(failed) > LISTED:
            lines.append("  … the others stand in threads.json.")
    return lines


def _clips(rows: Sequence[ClipRow]) -> list[str]:
    lines = [
        f"  {row.clip.name}: {_figure_words(row.figures)}; {row.counts.shots} shots, "
        f"{row.counts.clusters} threads for {row.counts.true_clusters}."
        for row in rows[:LISTED]
        if not row.failure
    ]
    return [*lines, "  … the others stand in threads.json."] if len(rows) > LISTED else lines


def _figure_words(figures: Figures) -> str:
    named = {"AP": figures.ap, "P": figures.precision, "R": figures.recall, "WCP": figures.wcp}
    return ", ".join(f"{name} {shown(value).strip()}" for name, value in named.items())


def _line(setup: Setup, what: str, figures: Figures) -> str:
    cells = (figures.ap, figures.precision, figures.recall, figures.wcp)
    closed = (figures.closed_precision, figures.closed_recall)
    return "  ".join([f"{setup.frames:6}", f"{setup.match:7}", f"{what:24}", *map(shown, (*cells, *closed))])


def _paper_line(row: PaperRow) -> str:
    cells = map(shown, (row.ap, row.precision, row.recall, row.wcp))
    return "  ".join(
        [f"{row.setup.frames:6}", f"{row.setup.match:7}", f"{'paper: ' + row.features:24}", *cells]
    )


def shown(value: float | None) -> str:
    """A figure in six columns; a dash where it is not defined."""
    return f"{'–':>6}" if value is None else f"{value:6.3f}"
