"""What a run used and what it came to: calls, tokens and cost from its records, and its outcome.

A record holds its calls under ``tries``, those of a second look by Stage I's engine under ``looks``; each
call has its own ``usage``. What an earlier run paid for stands in records of its own and is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad.core import Config, Counting, Engine, Interval, Stage, Usage
from shotad.film import subtract
from shotad.script import Cue, CueStatus, Limits, Track, is_changed, silences

Record = Mapping[str, Any]


STAGE_NAMES: Mapping[Stage, str] = {"stage1": "Stage I", "stage2": "Stage II"}
"""What the stages are called before people."""

ImageTokens = Callable[[int, int, int], int]
"""Width, height and number of frames → tokens."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Who answers the questions of a stage, and on what terms.

    Prices are of a million tokens, in any currency; ``image_tokens`` is None where the engine cannot tell.
    ``free``: its answers cost nothing, whatever prices are given. ``reads`` is False for one that reads no
    prompts and so has no tokens.
    """

    engine: str
    image_tokens: ImageTokens | None = None
    price_in: float | None = None
    price_out: float | None = None
    free: bool = True
    reads: bool = True

    @staticmethod
    def of(engine: Engine, config: Config) -> Terms:
        """The terms of an engine under these settings; only an endpoint has prices."""
        counts = engine.image_tokens if isinstance(engine, Counting) else None
        who = engine.identity
        name = f"{who.engine} ({who.model})" if who.model and who.model != who.engine else who.engine
        if who.engine != "openai":
            return Terms(name, counts, reads=engine.abilities.converses)
        return Terms(name, counts, config.openai.price_in, config.openai.price_out, free=False)

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """What so many tokens cost; None where a price is missing."""
        if self.free:
            return 0.0
        if self.price_in is None or self.price_out is None:
            return None
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


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


def _tries(record: Record) -> Sequence[Record]:
    return record.get("tries", (record,))  # type: ignore[no-any-return]


def _sum(rows: Sequence[Record], terms: Terms) -> StageUsed:
    calls = sum(row.get("calls", 1) for row in rows)
    return StageUsed(terms, calls, sum((Usage(**row.get("usage", {})) for row in rows), Usage()))


def usage_lines(found: Used) -> list[str]:
    """Plain lines for the summary; none of engines that read no prompts, such as the embedded ones."""
    lines = [
        f"Used by {STAGE_NAMES[name]}, {stage.terms.engine}: {stage.calls:,} call{'s' * (stage.calls != 1)}, "
        f"{stage.tokens.tokens_in:,} tokens in, {stage.tokens.tokens_out:,} out."
        for name, stage in found.stages.items()
        if stage.terms.reads and stage.tokens != Usage()
    ]
    if not lines:
        return []
    if all(stage.terms.free for stage in found.stages.values() if stage.calls) or found.cost is None:
        return lines
    return [*lines, f"Cost: {money(found.cost)}."]


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished track, the files it was written to, and what went on.

    ``silences`` are stretches of the part described in which nobody speaks and no line is spoken;
    ``sheet`` is the overview page, if it was drawn.
    """

    track: Track
    files: tuple[Path, ...]
    described: Interval
    silences: tuple[Interval, ...]
    failed_slots: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    sheet: Path | None = None
    used: Used | None = None
    """What the engines of this run took."""
    recognised: tuple[tuple[str, int], ...] | None = None
    """Who of the cast was recognised in the clips, and in how many shots; None where no cast was given."""

    @property
    def cues(self) -> tuple[Cue, ...]:
        """The lines of the part that was described."""
        part = self.described
        return tuple(cue for cue in self.track.cues if part.start <= cue.interval.start < part.end)

    @property
    def failures(self) -> tuple[str, ...]:
        """Why slots of the part described have failed, a reason for each."""
        reasons = [cue.reason for cue in self.cues if cue.status is CueStatus.FAILED]
        return (*(reason for _, reason in self.failed_slots), *reasons)

    @property
    def all_failed(self) -> bool:
        """Whether every slot of the part described has failed."""
        return bool(self.failures) and all(cue.status is CueStatus.FAILED for cue in self.cues)

    @property
    def counts(self) -> dict[str, int]:
        """How many lines there are of each status, and how many a person edited."""
        found = Counter(cue.status.value for cue in self.track.cues)
        counts = {status.value: found.get(status.value, 0) for status in CueStatus}
        counts["failed"] += len(self.failed_slots)
        return {**counts, "edited": sum(map(is_changed, self.track.cues))}


def long_silences(track: Track, speech: Sequence[Interval], described: Interval) -> tuple[Interval, ...]:
    """Stretches of ``described`` with neither speech nor AD that are longer than rule T5 allows."""
    free = subtract(described, speech)
    return tuple(silences([cue.interval for cue in track.heard], free, Limits().stretch))


def money(amount: float) -> str:
    """An amount with cents, or with more places where it is smaller.

    >>> money(1234.5), money(0.00312)
    ('1,234.50', '0.0031')
    """
    return f"{amount:,.2f}" if amount >= 0.1 or amount == 0 else f"{amount:.4f}"
