"""Who runs when, and the running: each measurement in a process of its own, all taking turns."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from table_parts.kinds import Contest, Entrant, Growth, Run

TABLE = Path(__file__).resolve().parents[1] / "table.py"
PATIENCE = 900.0
"""Seconds after which a measurement is given up."""


@dataclass(frozen=True)
class Place:
    """One measurement to come: which contest, which of its entrants, in which turn."""

    contest: int
    entrant: int
    turn: int


def schedule(sizes: Sequence[tuple[int, int | None]], runs: int) -> Iterator[Place]:
    """Every entrant of every contest once in each turn; ``sizes`` are entrants and the most turns of each.

    Those that are compared stand side by side, and each turn begins with another of them and goes the
    other way round: a machine that grows busy or warm hits all alike.
    """
    for turn in range(runs):
        for contest, (entrants, most) in enumerate(sizes):
            if most is not None and turn >= most:
                continue
            order = [(turn + i) % entrants for i in range(entrants)]
            for entrant in reversed(order) if turn % 2 else order:
                yield Place(contest, entrant, turn)


@dataclass
class Runner:
    """Runs measurements; ``tell`` is told each of them, ``folder`` is for what they write.

    ``keep`` is given all that was found, after each turn and at the end.
    """

    folder: Path
    tell: Callable[[str], None]
    threads: int
    keep: Callable[[list[Contest], list[Growth]], None] = lambda _, __: None

    def one(self, entrant: Entrant, turn: int) -> Run | str:
        """The run, or why there is none."""
        asked = {"work": entrant.work, "given": dict(entrant.given), "folder": str(self.folder)}
        command = [sys.executable, str(TABLE), "--one", json.dumps(asked)]
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environment(),
            start_new_session=True,
        ) as process:
            try:
                told, said = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                _end(process)
                return f"took more than {PATIENCE:g} s"
            except BaseException:
                _end(process)
                raise
        if process.returncode:
            lines = [line for line in said.splitlines() if line.strip()]
            return f"failed: {lines[-1].strip() if lines else f'exit code {process.returncode}'}"
        try:
            return Run(turn, **json.loads(told.splitlines()[-1]))
        except (IndexError, ValueError, TypeError):
            return f"failed: no figures in what it printed: {told[-200:]!r}"

    def _environment(self) -> dict[str, str]:
        count = str(self.threads)
        return {**os.environ, "OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count}

    def all(
        self, contests: Sequence[Contest], growths: Sequence[Growth], runs: int
    ) -> tuple[list[Contest], list[Growth]]:
        """Everything measured. Who fails once is told, and not run again."""
        both: list[Contest | Growth] = [*contests, *growths]
        table = [list(one.entrants) for one in both]
        turn = 0
        for place in schedule([(len(one.entrants), one.turns) for one in both], runs):
            if place.turn > turn:
                turn = place.turn
                self.keep(*_filled(both, table))
            entrant = table[place.contest][place.entrant]
            if entrant.missing:
                continue
            made = self.one(entrant, place.turn)
            label = f"{both[place.contest].part}, {both[place.contest].name}, {entrant.name}"
            if isinstance(made, str):
                table[place.contest][place.entrant] = replace(entrant, missing=made)
                self.tell(f"{label}: {made}")
                continue
            table[place.contest][place.entrant] = replace(entrant, runs=(*entrant.runs, made))
            self.tell(f"{label}, turn {place.turn + 1}: {made.wall:.2f} s, CPU {made.cpu:.2f} s")
        found = _filled(both, table)
        self.keep(*found)
        return found


def _end(process: subprocess.Popen[str]) -> None:
    """Ends a measurement with all programs that it has started, which would disturb the next ones."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _filled(
    both: Sequence[Contest | Growth], table: Sequence[Sequence[Entrant]]
) -> tuple[list[Contest], list[Growth]]:
    filled = [replace(one, entrants=tuple(row)) for one, row in zip(both, table, strict=True)]
    return (
        [one for one in filled if isinstance(one, Contest)],
        [one for one in filled if isinstance(one, Growth)],
    )
