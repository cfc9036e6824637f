"""What a benchmark is and what it found: contests, growth with length, and the report in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter

Role = Literal["ours", "rival", "limit"]
"""``rival`` does the same another way; ``limit`` is what cannot be spared, or a named bound."""
Clock = Literal["wall", "cpu"]
LENGTHS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Run:
    """One measurement, in a process of its own.

    Seconds by the clock and on the processors (all threads and programs started), the most MB (10^6 bytes)
    in memory at once, and what was counted on the way, so that it can be seen that all did the same.
    """

    turn: int
    wall: float
    cpu: float
    peak: float
    counts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Entrant:
    """One of those that are compared. ``work`` is ``module:function``, ``given`` what it is called with.

    ``missing`` says why there is no figure: not installed, failed.
    """

    name: str
    role: Role
    work: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    missing: str = ""
    runs: tuple[Run, ...] = ()


@dataclass(frozen=True)
class Target:
    """A limit that the project set itself: the median ratio of two entrants by a clock."""

    ours: str
    against: str
    clock: Clock
    most: float


@dataclass(frozen=True)
class Contest:
    """Ours beside others, on the same input, in turns.

    ``seconds`` is the length of the film that is worked on, 0 where there is none; ``same`` names the
    counts in which all must agree; ``turns`` limits how often it is run.
    """

    part: str
    name: str
    entrants: tuple[Entrant, ...]
    about: str = ""
    seconds: float = 0.0
    same: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    turns: int | None = None


@dataclass(frozen=True)
class Growth:
    """One work at several lengths: ``entrants`` are as many as `LENGTHS`, each that many times as long."""

    part: str
    name: str
    unit: str
    base: float
    entrants: tuple[Entrant, ...]
    turns: int | None = None


@dataclass(frozen=True)
class Report:
    """All that one run of the table found, and where and with what."""

    made: str
    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    contests: tuple[Contest, ...]
    growths: tuple[Growth, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> Any:
        """Everything but the paths that the works were given."""
        bare = replace(self, contests=_bare(self.contests), growths=_bare(self.growths))
        return TypeAdapter(Report).dump_python(bare, mode="json")

    @staticmethod
    def from_json(told: Any) -> Report:
        """What `to_json` made; what stands beside it is left aside. Raises ValueError."""
        return TypeAdapter(Report).validate_python(told)


Some = TypeVar("Some", Contest, Growth)


def _bare(some: tuple[Some, ...]) -> tuple[Some, ...]:
    return tuple(
        replace(one, entrants=tuple(replace(entrant, work="", given={}) for entrant in one.entrants))
        for one in some
    )
