"""What a run used, summed from the records that it made.

A record holds its calls under ``tries``, those of a second look by Stage I's engine under ``looks``; each
call has its own ``usage``. What an earlier run paid for stands in records of its own and is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shotad.core import Stage, Usage
from shotad.description.bill import STAGE_NAMES, money
from shotad.description.estimate import Terms

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StageUsed:
    """What the engine of one stage was asked, and what it took."""

    terms: Terms
    calls: int
    tokens: Usage

    @property
    def cost(self) -> float | None:
        """None where a price is missing."""
        return self.terms.cost(self.tokens.tokens_in, self.tokens.tokens_out)


@dataclass(frozen=True, slots=True)
class Used:
    """Calls, tokens and cost of a run, by the stage whose engine was asked."""

    stages: Mapping[Stage, StageUsed]

    @property
    def calls(self) -> int:
        return sum(stage.calls for stage in self.stages.values())

    @property
    def tokens(self) -> Usage:
        """Of both stages."""
        return sum((stage.tokens for stage in self.stages.values()), Usage())

    @property
    def cost(self) -> float | None:
        """Of both stages; None where a price is missing for one that was asked."""
        asked = [stage.cost for stage in self.stages.values() if stage.calls]
        known = [cost for cost in asked if cost is not None]
        return sum(known) if len(known) == len(asked) else None


def used(
    seen: Iterable[Record],
    written: Iterable[Record],
    terms: Mapping[Stage, Terms],
    other: Iterable[Record] = (),
) -> Used:
    """What the records of this run took: Stage I's, Stage II's, and ``other`` ones of Stage II's engine.

    A record without ``tries`` is one call.
    """
    seen, written = list(seen), [*written, *other]
    looks = [row for record in seen for row in _tries(record)]
    looks += [row for record in written for row in record.get("looks", ())]
    writes = [row for record in written for row in _tries(record)]
    return Used({"stage1": _sum(looks, terms["stage1"]), "stage2": _sum(writes, terms["stage2"])})


def _tries(record: Record) -> Sequence[Mapping[str, Any]]:
    tries: Sequence[Mapping[str, Any]] = record.get("tries", (record,))
    return tries


def _sum(rows: Sequence[Mapping[str, Any]], terms: Terms) -> StageUsed:
    calls = sum(row.get("calls", 1) for row in rows)
    return StageUsed(terms, calls, sum((_usage(row) for row in rows), Usage()))


def _usage(row: Mapping[str, Any]) -> Usage:
    usage = row.get("usage", {})
    return Usage(usage.get("tokens_in", 0), usage.get("tokens_out", 0))


def usage_lines(found: Used) -> list[str]:
    """Plain lines for the summary; none of engines that read no prompts, such as the embedded ones."""
    lines = [
        f"Used by {STAGE_NAMES[name]}, {stage.terms.engine}: {_calls_word(stage.calls)}, "
        f"{stage.tokens.tokens_in:,} tokens in, {stage.tokens.tokens_out:,} out."
        for name, stage in found.stages.items()
        if stage.terms.reads and stage.tokens != Usage()
    ]
    if not lines:
        return []
    if all(stage.terms.free for stage in found.stages.values() if stage.calls) or found.cost is None:
        return lines
    return [*lines, f"Cost: {money(found.cost)}."]


def _calls_word(calls: int) -> str:
    return "1 call" if calls == 1 else f"{calls:,} calls"


def usage_as_json(found: Used) -> dict[str, Any]:
    """The same for programs."""
    return {
        "calls": found.calls,
        "tokens_in": found.tokens.tokens_in,
        "tokens_out": found.tokens.tokens_out,
        "cost": None if found.cost is None else round(found.cost, 6),
        "stages": {
            name: {
                "engine": stage.terms.engine,
                "calls": stage.calls,
                "tokens_in": stage.tokens.tokens_in,
                "tokens_out": stage.tokens.tokens_out,
                "cost": None if stage.cost is None else round(stage.cost, 6),
            }
            for name, stage in found.stages.items()
        },
    }
