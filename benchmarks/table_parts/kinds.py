"""What a benchmark is and what it found: contests, growth with length, and the report in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

Role = Literal["ours", "rival", "limit"]
"""``rival`` does the same another way; ``limit`` is what cannot be spared, or a named bound."""
Clock = Literal["wall", "cpu"]
SCHEMA = 1
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

    def __post_init__(self) -> None:
        if self.wall < 0 or self.cpu < 0:
            raise ValueError(f"seconds must not be negative, got {self.wall} and {self.cpu}")

    def by(self, clock: Clock) -> float:
        return self.wall if clock == "wall" else self.cpu


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

    def __post_init__(self) -> None:
        names = [entrant.name for entrant in self.entrants]
        if len(set(names)) < len(names):
            raise ValueError(f"entrants of {self.name!r} must have names of their own, got {names}")
        for target in self.targets:
            if not {target.ours, target.against} <= set(names):
                raise ValueError(f"a target of {self.name!r} names nobody of {names}: {target}")


@dataclass(frozen=True)
class Growth:
    """One work at several lengths: ``entrants`` are as many as ``times``, each that many times as long."""

    part: str
    name: str
    unit: str
    base: float
    entrants: tuple[Entrant, ...]
    times: tuple[int, ...] = LENGTHS
    turns: int | None = None

    def __post_init__(self) -> None:
        if len(self.entrants) != len(self.times):
            raise ValueError(
                f"{self.name!r} has {len(self.times)} lengths, got {len(self.entrants)} entrants"
            )


@dataclass(frozen=True)
class Report:
    """All that one run of the table found, and where and with what."""

    made: str
    asked: Mapping[str, Any]
    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    contests: tuple[Contest, ...]
    growths: tuple[Growth, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Everything but the paths that the works were given."""
        bare = replace(
            self,
            contests=tuple(replace(c, entrants=_bare(c.entrants)) for c in self.contests),
            growths=tuple(replace(g, entrants=_bare(g.entrants)) for g in self.growths),
        )
        return {"schema": SCHEMA, **asdict(bare)}

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> Report:
        """What `to_json` made; ``figures`` that stand beside it are left aside. Raises ValueError."""
        if told.get("schema") != SCHEMA:
            raise ValueError(f"the schema of the results must be {SCHEMA}, got {told.get('schema')!r}")
        return Report(
            told["made"],
            told["asked"],
            told["machine"],
            told["versions"],
            tuple(_contest(row) for row in told["contests"]),
            tuple(_growth(row) for row in told["growths"]),
            tuple((name, reason) for name, reason in told["left_out"]),
        )


def _bare(entrants: Sequence[Entrant]) -> tuple[Entrant, ...]:
    return tuple(replace(entrant, work="", given={}) for entrant in entrants)


def _entrants(rows: Sequence[Mapping[str, Any]]) -> tuple[Entrant, ...]:
    return tuple(Entrant(**{**row, "runs": tuple(Run(**run) for run in row["runs"])}) for row in rows)


def _contest(row: Mapping[str, Any]) -> Contest:
    own = {
        "entrants": _entrants(row["entrants"]),
        "same": tuple(row["same"]),
        "targets": tuple(Target(**one) for one in row["targets"]),
    }
    return Contest(**{**row, **own})


def _growth(row: Mapping[str, Any]) -> Growth:
    return Growth(**{**row, "entrants": _entrants(row["entrants"]), "times": tuple(row["times"])})
