"""Thread scores: ours beside the formula as it is written, the full product of all patches."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from table_parts.kinds import Contest, Entrant, Target
from table_parts.running import Done, Ready
from table_parts.stage import Plan, Stage

WRITTEN = "full product, as written"
MOST = 0.5
"""The project's own limit: CPU time against the full product."""
DEPTH, GRID = 1536, (12, 16)
TOGETHER = 8
"""Pairs that the formula as written computes at once."""


def plan(stage: Stage) -> Plan:
    """So many shots by torch's kinds of numbers; growth along a film, as it is read there."""
    growth = stage.growth(
        "threads", "threads and scales of every clip (grid features)", "table_parts.threadscores:grammar"
    )
    if importlib.util.find_spec("torch") is None:
        return Plan((), growth, (("threads: scores", "torch is not installed"),))
    pairs = (("float32", 50), ("float32", 100), ("bfloat16", 100))
    return Plan(tuple(_contest(stage, kind, shots) for kind, shots in pairs), growth)


def _contest(stage: Stage, kind: str, shots: int) -> Contest:
    given = {"kind": kind, "shots": shots}
    return Contest(
        "threads",
        f"{shots} shots, torch {kind}",
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
    from shotad.grammar import shot_scores

    return _scores(given, shot_scores)


def written(given: Mapping[str, Any], scratch: Path) -> Ready:
    """The formula as it is written."""
    return _scores(given, as_written)


def _scores(given: Mapping[str, Any], score: Callable[[Any, Any], Any]) -> Ready:
    import torch
    from threadpoolctl import threadpool_limits

    from shotad.grammar import Matching

    torch.set_num_threads(1)
    threadpool_limits(1)
    # Once beforehand with few, so that what libraries set up for themselves is not counted.
    score(features(given["kind"], 2), Matching(GRID))
    kinds, pairs = features(given["kind"], given["shots"]), given["shots"] * (given["shots"] - 1) // 2

    def run() -> Done:
        score(kinds, Matching(GRID))
        return Done({"pairs": pairs})

    return run


def features(kind: str, shots: int) -> Any:
    """Patches of length 1 for the first and last frame of every shot, half chance, half the same."""
    import torch

    from shotad.grammar import Features, ShotFeatures

    shape = (GRID[0] * GRID[1], DEPTH)
    chance = torch.Generator().manual_seed(shots)
    scene = torch.randn(shape, generator=torch.Generator().manual_seed(0))

    def of_place() -> Features:
        patches = torch.empty((shots, *shape), dtype=getattr(torch, kind))
        for k in range(shots):
            patches[k] = torch.nn.functional.normalize(scene + torch.randn(shape, generator=chance), dim=-1)
        return Features(patches, torch.ones(shots, 1), GRID)

    return ShotFeatures(first=of_place(), last=of_place())


def as_written(kinds: Any, matching: Any) -> Any:
    """All 192 patches of a frame with all 192 of the other, masked, and the softmax over it; pairs i < j."""
    import numpy as np
    import torch

    (rows, columns), radius = matching.grid, matching.radius
    r, c = np.divmod(np.arange(rows * columns), columns)
    near = (abs(r[:, None] - r) <= radius) & (abs(c[:, None] - c) <= radius)
    inside = torch.from_numpy(near.astype(np.float32))
    last, first = kinds.at("last").patches, kinds.at("first").patches
    scores = np.eye(len(last), dtype=np.float32)
    for i in range(len(last)):
        for start in range(i + 1, len(last), TOGETHER):
            some = slice(start, min(start + TOGETHER, len(last)))
            logits = (
                torch.matmul(last[i], first[some].transpose(1, 2)).float() * inside / matching.temperature
            )
            scores[i, some] = scores[some, i] = logits.softmax(-1).amax(-1).mean(-1).numpy()
    return scores


def grammar(given: Mapping[str, Any], scratch: Path) -> Ready:
    """The second act after a first that is not counted: frames of shots, features, scores, scales."""
    from shotad.core import Given, NoProgress, WorkFolder, load_config
    from shotad.description import Bench, prepare, understand
    from shotad.film import open_film

    film, folder = open_film(Path(given["film"])), WorkFolder(scratch / "work")
    folder.__enter__()
    bench = Bench.of(film, folder, load_config(None, ["threads.features=grid"]), Given(), NoProgress())
    prepared = prepare(bench)

    def run() -> Done:
        return Done({"slots": len(understand(prepared, bench).plans)})

    return run
