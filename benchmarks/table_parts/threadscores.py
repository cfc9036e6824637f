"""Thread scores: ours beside the formula as it is written, the full product of all patches."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from table_parts.child import Done, Ready
from table_parts.kinds import Contest, Entrant, Target
from table_parts.stage import Plan, Stage, film_growth, full_only

WRITTEN = "full product, as written"
MOST = 0.5
"""The project's own limit: CPU time against the full product."""
DEPTH = 1536


def plan(stage: Stage) -> Plan:
    """So many shots by the kinds of numbers that are at hand; growth along a film, as it is read there."""
    torch = importlib.util.find_spec("torch") is not None
    kind = "torch float32" if torch else "numpy float32"
    pairs = [(kind, 30)] if stage.quick else [(kind, 50), (kind, 100)]
    if torch and not stage.quick:
        pairs.append(("torch bfloat16", 100))
    contests = tuple(_contest(stage, kind, shots) for kind, shots in pairs)
    left_out = () if torch else (("threads: scores by torch", "torch is not installed"),)
    if stage.quick:
        return Plan(contests, (), (*left_out, *full_only("threads", "bfloat16", "growth")))
    growth = film_growth(
        stage,
        "threads",
        "threads and scales of every clip (grid features)",
        "table_parts.threadscores:grammar",
        lambda film: {"film": str(film.path)},
        base=12.0,
        turns=2,
    )
    return Plan(contests, growth, left_out)


def _contest(stage: Stage, kind: str, shots: int) -> Contest:
    given = {"kind": kind, "shots": shots, "depth": DEPTH}
    return Contest(
        "threads",
        f"{shots} shots, {kind}",
        (
            Entrant("blocked scores", "ours", "table_parts.threadscores:ours", given),
            Entrant(WRITTEN, "rival", "table_parts.threadscores:written", given),
        ),
        f"192 patches of {DEPTH}, all pairs of shots, one thread",
        same=("pairs",),
        targets=(Target("blocked scores", WRITTEN, "cpu", MOST),),
        turns=stage.turns(3),
    )


# Works


def ours(given: Mapping[str, Any], scratch: Path) -> Ready:
    """The program's scores of all pairs."""
    return _scores(given, "shot_scores")


def written(given: Mapping[str, Any], scratch: Path) -> Ready:
    """The formula as it is written, of `benchmarks/thread_scores.py`."""
    return _scores(given, "as_written")


def _scores(given: Mapping[str, Any], how: str) -> Ready:
    import thread_scores

    from shotad.grammar import Matching, ShotFeatures

    if given["kind"].startswith("torch"):
        thread_scores.limit_threads(1)
    kinds = thread_scores.made(given["kind"], given["shots"], given["depth"], "cpu")
    matching = Matching(thread_scores.GRID)
    score = getattr(thread_scores, how)
    # Once beforehand with few, so that what libraries set up for themselves is not counted.
    few = {place: thread_scores.head(kinds.at(place), 2) for place in ("first", "last")}
    score(ShotFeatures(**few), matching)
    pairs = given["shots"] * (given["shots"] - 1) // 2

    def run() -> Done:
        score(kinds, matching)
        return Done({"pairs": pairs})

    return run


def grammar(given: Mapping[str, Any], scratch: Path) -> Ready:
    """The second act after a first that is not counted: frames of shots, features, scores, scales."""
    from shotad.core import Given, NoProgress, WorkFolder, load_config
    from shotad.description import Bench, prepare, understand
    from shotad.film import open_film

    film, folder = open_film(Path(given["film"])), WorkFolder(scratch / "work")
    folder.__enter__()
    config = load_config(None, ["threads.features=grid"])
    bench = Bench.of(film, folder, config, Given(), NoProgress())
    prepared = prepare(bench)

    def run() -> Done:
        return Done({"slots": len(understand(prepared, bench).plans)})

    return run
