"""What came of a run over a dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shotad.core import Stage
from shotad.description import StageUsed, Used, usage_as_json, usage_lines
from shotad.evaluation.predicting.lines import PredictedLine

LISTED = 10
"""Failures that are listed one by one, clip by clip."""


@dataclass(slots=True)
class Predicted:
    """The lines that were wanted, in the dataset's order; the ids of those that this run ``made``; what its
    engines took."""

    lines: tuple[PredictedLine, ...] = ()
    clips: int = 0
    made: set[str] = field(default_factory=set)
    stages: dict[Stage, StageUsed] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """Lines without a text."""
        return sum(line.text is None for line in self.lines)

    @property
    def kept(self) -> int:
        """Lines of earlier runs."""
        return sum(line.text is not None and line.id not in self.made for line in self.lines)

    @property
    def statuses(self) -> Mapping[str, int]:
        """How many lines there are of each status."""
        return Counter(line.status for line in self.lines)

    @property
    def used(self) -> Used:
        """What the engines of this run took."""
        return Used(self.stages)

    def add(self, spent: Used | None) -> None:
        """Count what a clip took."""
        for stage, more in spent.stages.items() if spent is not None else ():
            so_far = self.stages.get(stage)
            self.stages[stage] = more if so_far is None else _sum(so_far, more)

    def failures(self) -> list[tuple[str, str, int]]:
        """Clip, reason and number of the failed lines, in the dataset's order."""
        counted = Counter((line.clip, line.failure) for line in self.lines if line.text is None)
        return [(clip, reason, count) for (clip, reason), count in counted.items()]


def _sum(one: StageUsed, other: StageUsed) -> StageUsed:
    return StageUsed(one.terms, one.calls + other.calls, one.tokens + other.tokens)


def prediction_text(done: Predicted, out: str) -> str:
    """Plain lines for people."""
    statuses = done.statuses
    heard = statuses.get("placed", 0) + statuses.get("shortened", 0)
    lines = [f"{heard:,} of {len(done.lines):,} ADs in {done.clips:,} clips have a line."]
    if done.kept:
        lines.append(f"From earlier runs: {done.kept:,}.")
    lines += [
        f"{words}: {statuses[status]:,}." for status, words in _WORDS.items() if statuses.get(status, 0)
    ]
    failures = done.failures()
    lines += [f"  {clip} ({count}): {reason}" for clip, reason, count in failures[:LISTED]]
    if len(failures) > LISTED:
        lines.append("  … the others stand in the file.")
    if done.stages:
        lines += usage_lines(done.used)
    return "\n".join([*lines, f"Predictions: {out}"])


_WORDS = {
    "silent": "Left silent by the engine",
    "dropped": "Dropped, too long for their slot",
    "failed": "Failed, and count as 0",
}


def prediction_as_json(done: Predicted, out: str) -> dict[str, Any]:
    """The same for programs."""
    return {
        "out": out,
        "ads": len(done.lines),
        "clips": done.clips,
        "kept": done.kept,
        "made": len(done.made),
        "failed": done.failed,
        "statuses": dict(sorted(done.statuses.items())),
        "failures": [
            {"clip": clip, "reason": reason, "ads": count} for clip, reason, count in done.failures()
        ],
        "used": usage_as_json(done.used) if done.stages else None,
    }
