"""What the parts of the table share: the films, how much is measured, and commands in fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from table_parts.child import Done, Ready
from table_parts.kinds import LENGTHS, Contest, Entrant, Growth
from table_parts.machine import ROOT


@dataclass(frozen=True)
class FilmAt:
    """A film to be measured on."""

    path: Path
    label: str
    seconds: float
    height: int
    cost: str = ""
    """What it is like, in words: size, codec, bit rate."""


@dataclass(frozen=True)
class Plan:
    """What a part measures; ``left_out`` are things with the reason why they are not measured."""

    contests: tuple[Contest, ...] = ()
    growths: tuple[Growth, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Stage:
    """Where and how much is measured.

    ``made`` gives a film of about so many lines and seconds; ``own`` are films that the user named, which
    take the place of made ones; ``longer`` gives the film for growth, so many times the shortest.
    """

    folder: Path
    quick: bool
    own: tuple[FilmAt, ...]
    made: Callable[[int, float], FilmAt]
    longer: Callable[[int, float], FilmAt]
    data: Path | None = None
    threads: int = 2
    runs: int = 5
    shortest: float | None = None
    """Seconds of the shortest film of every growth, where the user says."""
    grows: bool = True
    """Whether growth is measured at all."""

    def base(self, usual: float) -> float:
        """Seconds of the shortest film of a growth."""
        return usual if self.shortest is None else self.shortest

    def turns(self, most: int) -> int:
        """How often something costly is run."""
        return min(self.runs, most)

    def films(self, *wanted: tuple[int, float]) -> Sequence[FilmAt]:
        """The user's films, or made ones of these lines and seconds."""
        return self.own or [self.made(height, seconds) for height, seconds in wanted]


def entrants_by_length(
    work: str, given: Callable[[int], Mapping[str, Any]], times: Sequence[int] = LENGTHS
) -> tuple[Entrant, ...]:
    """One work at each length."""
    return tuple(Entrant(f"{n} times", "ours", work, given(n)) for n in times)


def film_growth(
    stage: Stage,
    part: str,
    name: str,
    work: str,
    given: Callable[[FilmAt], Mapping[str, Any]],
    *,
    base: float,
    turns: int,
) -> tuple[Growth, ...]:
    """One work on a film and on films 2, 4 and 8 times as long; none where no growth is measured."""
    if not stage.grows:
        return ()
    films = [stage.longer(n, stage.base(base)) for n in LENGTHS]
    entrants = entrants_by_length(work, lambda n: given(films[LENGTHS.index(n)]))
    base = round(films[0].seconds, 1)
    return (Growth(part, name, "s of film", base, entrants, turns=stage.turns(turns)),)


def full_only(part: str, *names: str) -> tuple[tuple[str, str], ...]:
    """What a quick run leaves out."""
    return tuple((f"{part}: {name}", "left to the full run") for name in names)


def command(given: Mapping[str, Any], scratch: Path) -> Ready:
    """A work: the program ``given["words"]``, run in the scratch folder; ``{out}`` there stands for a folder
    in it. Nothing is imported beforehand, so that the most memory is that of the program."""
    words = [str(word).replace("{out}", str(scratch / "out")) for word in given["words"]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def run() -> Done:
        done = subprocess.run(
            words, cwd=scratch, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-300:] or f"exit code {done.returncode}")
        return Done()

    return run


def shotad(*words: str | Path) -> dict[str, Any]:
    """What `command` is given for a command of shotad."""
    code = "from shotad.cli.main import main; main()"
    return {"words": [sys.executable, "-c", code, *map(str, words)]}
