"""The matching score against the formula written out, the choice of frames, the mend, the threads."""

from __future__ import annotations

import math
import tracemalloc
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, strategies as st

from shotad.grammar import (
    Features,
    Matching,
    Place,
    ShotFeatures,
    places,
    shot_scores,
    threads_of,
    whole_scores,
)
from shotad.grammar.threads import (
    FrameChoice,
    match_scores,
)

Floats = npt.NDArray[Any]


def as_numpy(values: Floats) -> Floats:
    return values


def as_torch(values: Floats) -> torch.Tensor:
    torch.set_num_threads(1)
    return torch.from_numpy(values)


BOTH_KINDS = pytest.mark.parametrize("kind", [as_numpy, as_torch])


def unit(values: Floats) -> Floats:
    return np.asarray(values / np.linalg.norm(values, axis=-1, keepdims=True), np.float32)


def random_patches(seed: int, n: int, grid: tuple[int, int], depth: int = 24, common: float = 1.0) -> Floats:
    """Frames whose patches have something in common, so that cosines spread from below 0 to high."""
    rng = np.random.default_rng(seed)
    shape = (grid[0] * grid[1], depth)
    scene = rng.standard_normal(shape)
    return unit(scene * common + rng.standard_normal((n, *shape)))


@cache
def inside(grid: tuple[int, int], radius: int) -> npt.NDArray[np.bool_]:
    """Equation 3's mask: true where patch q lies in the neighbourhood of patch p."""
    (rows, columns), mask = grid, np.zeros((grid[0] * grid[1], grid[0] * grid[1]), bool)
    for p, q in product(range(rows * columns), repeat=2):
        down, across = abs(p // columns - q // columns), abs(p % columns - q % columns)
        mask[p, q] = max(down, across) <= radius
    return mask


def formula(ours: Floats, theirs: Floats, matching: Matching) -> float:
    """Equations 3 and 4 for one pair of frames, patch by patch, in float64."""
    volume = np.where(inside(matching.grid, matching.radius), ours.astype(np.float64) @ theirs.T, 0.0)

    def one_way(volume: Floats) -> float:
        best = []
        for line in volume:
            weights = np.exp((line - line.max()) / matching.temperature)
            best.append((weights / weights.sum()).max())
        return float(np.mean(best))

    there = one_way(volume)
    return (there + one_way(volume.T)) / 2 if matching.both_ways else there


def by_formula(earlier: Floats, later: Floats, matching: Matching) -> Floats:
    return np.array([[formula(a, b, matching) for b in later] for a in earlier])


# The score


@BOTH_KINDS
@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("radius", range(5))
@pytest.mark.parametrize("grid", [(12, 16), (16, 12), (1, 1), (3, 5), (1, 6)])
def test_the_score_is_the_formula(kind: Any, grid: tuple[int, int], radius: int, both_ways: bool) -> None:
    matching = Matching(grid, radius, both_ways=both_ways)
    frames = random_patches(radius, 3, grid)
    earlier, later = frames[:2], frames[1:]

    scores = match_scores(kind(earlier), kind(later), matching)

    assert scores.dtype == np.float32
    assert scores.shape == (2, 2)
    np.testing.assert_allclose(scores, by_formula(earlier, later, matching), atol=1e-5, rtol=0)


@BOTH_KINDS
@pytest.mark.parametrize("temperature", [1e-4, 0.02, 0.5, 10.0])
@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("radius", [1, 9])
def test_any_temperature_is_safe(kind: Any, radius: int, both_ways: bool, temperature: float) -> None:
    matching = Matching((3, 5), radius, temperature, both_ways)
    alike = unit(1 + 0.2 * np.random.default_rng(0).standard_normal((1, 15, 24)))
    earlier = np.concatenate([random_patches(3, 2, (3, 5)), alike])
    # All cosines of `alike` with its opposite are near -1: the masked logits of 0 are the greatest, and at
    # radius 9, where nothing is masked, the greatest logit is far below 0.
    later = np.concatenate([earlier, -earlier])

    scores = match_scores(kind(earlier), kind(later), matching)

    # At 1e-4 a rounding of the cosine by 6e-8 is one of the logit by 6e-4.
    atol = 1e-5 if temperature > 1e-3 else 1e-3
    np.testing.assert_allclose(scores, by_formula(earlier, later, matching), atol=atol, rtol=0)


@pytest.mark.parametrize("dtype", [np.float16, np.float64, torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions(dtype: Any) -> None:
    grid = (12, 16)
    frames = random_patches(4, 4, grid, depth=256)
    expected = match_scores(frames, frames, Matching(grid, both_ways=True))
    given = frames.astype(dtype) if isinstance(dtype, type) else as_torch(frames).to(dtype)

    scores = match_scores(given, given, Matching(grid, both_ways=True))

    assert scores.dtype == np.float32
    # bfloat16 keeps 8 bits of a product: 0.004 of a cosine, 0.04 of a logit, less in the mean.
    np.testing.assert_allclose(scores, expected, atol=0.005 if dtype in (torch.bfloat16,) else 5e-4)


@BOTH_KINDS
def test_no_frames_have_no_scores(kind: Any) -> None:
    frames = kind(random_patches(0, 2, (3, 5)))
    assert match_scores(frames[:0], frames, Matching((3, 5))).shape == (0, 2)
    assert match_scores(frames, frames[:0], Matching((3, 5))).shape == (2, 0)


@BOTH_KINDS
def test_the_callers_arrays_stay_as_they_are_and_answers_are_equal(kind: Any) -> None:
    frames = random_patches(0, 5, (3, 5))
    given, before = kind(frames), frames.copy()
    matching = Matching((3, 5), both_ways=True)
    first = match_scores(given, given, matching)
    assert match_scores(given, given, matching).tobytes() == first.tobytes()
    assert np.array_equal(np.asarray(given), before)


def test_patches_that_do_not_fit_are_refused() -> None:
    frames = random_patches(0, 2, (3, 5))
    with pytest.raises(
        ValueError, match=r"earlier must be float\[n, 12, D\] for a grid of 3 x 4.*\(2, 15, 24\)"
    ):
        match_scores(frames, frames, Matching((3, 4)))
    with pytest.raises(ValueError, match="later must be float"):
        match_scores(frames, frames[0], Matching((3, 5)))
    with pytest.raises(ValueError, match="equally long features, got 24 and 7"):
        match_scores(frames, frames[..., :7], Matching((3, 5)))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"grid": (0, 4)}, r"grid .* \(0, 4\)"),
        ({"grid": (3, 4), "radius": -1}, "radius .* -1"),
        ({"grid": (3, 4), "temperature": 0.0}, "temperature .* 0.0"),
        ({"grid": (3, 4), "temperature": math.nan}, "temperature .* nan"),
    ],
)
def test_matching_checks_itself(values: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Matching(**values)


# All pairs of shots


def shots(seed: int, n: int, grid: tuple[int, int], kind: Any = as_numpy) -> ShotFeatures:
    rng = np.random.default_rng(seed)

    def features(k: int) -> Features:
        whole = kind(unit(rng.standard_normal((n, 8))))
        return Features(kind(random_patches(seed + k, n, grid)), whole, grid)

    return ShotFeatures(features(0), features(1), features(2))


def compared(frames: FrameChoice) -> list[tuple[Place, Place]]:
    every: list[Place] = ["first", "middle", "last"]
    if frames == "all":
        return list(product(every, every))
    return [("last", "first")] if frames == "side" else [("middle", "middle")]


@BOTH_KINDS
@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("frames", ["side", "mid", "all"])
def test_every_choice_of_frames(kind: Any, frames: FrameChoice, both_ways: bool) -> None:
    grid, n = (3, 5), 5
    matching = Matching(grid, both_ways=both_ways)
    kinds = shots(1, n, grid)

    scores = shot_scores(shots(1, n, grid, kind), matching, frames)

    assert scores.dtype == np.float32
    assert np.array_equal(scores, scores.T)
    assert np.all(np.diag(scores) == 1)
    for j in range(n):
        for i in range(j):
            best = max(
                formula(kinds.at(a).patches[i], kinds.at(b).patches[j], matching) for a, b in compared(frames)
            )
            assert scores[i, j] == pytest.approx(best, abs=1e-5)


@BOTH_KINDS
@pytest.mark.parametrize("frames", ["side", "mid", "all"])
def test_the_baseline_of_whole_frames(kind: Any, frames: FrameChoice) -> None:
    n = 6
    kinds = shots(2, n, (3, 5))
    scores = whole_scores(shots(2, n, (3, 5), kind), frames)

    assert scores.dtype == np.float32
    assert np.array_equal(scores, scores.T)
    assert np.all(np.diag(scores) == 1)
    for j in range(n):
        for i in range(j):
            best = max(kinds.at(a).whole[i] @ kinds.at(b).whole[j] for a, b in compared(frames))
            assert scores[i, j] == pytest.approx(best, abs=1e-5)


@BOTH_KINDS
@pytest.mark.parametrize("n", [1, 2, 20, 41, 75])
def test_a_pair_scores_the_same_among_any_others(kind: Any, n: int) -> None:
    grid = (1, 2)
    matching = Matching(grid, both_ways=True)
    kinds = shots(5, n, grid, kind)
    every = shot_scores(kinds, matching)
    plain = match_scores(kinds.at("last").patches, kinds.at("first").patches, matching)
    assert not np.isnan(every).any()
    above = np.triu_indices(n, 1)
    assert np.array_equal(every[above], plain[above])


@pytest.mark.parametrize(
    ("frames", "needed"),
    [("side", ("first", "last")), ("mid", ("middle",)), ("all", ("first", "middle", "last"))],
)
def test_only_the_frames_that_a_choice_needs(frames: FrameChoice, needed: tuple[Place, ...]) -> None:
    assert places(frames) == needed
    kinds = shots(1, 3, (3, 5))
    some = ShotFeatures(**{place: kinds.at(place) for place in needed})
    assert np.array_equal(
        shot_scores(some, Matching((3, 5)), frames), shot_scores(kinds, Matching((3, 5)), frames)
    )
    for left_out in needed:
        lacking = ShotFeatures(**{p: kinds.at(p) for p in ("first", "middle", "last") if p != left_out})
        with pytest.raises(ValueError, match=f"the {left_out} frames are needed"):
            shot_scores(lacking, Matching((3, 5)), frames)


def test_features_of_other_shots_or_another_grid_are_refused() -> None:
    ours, theirs = shots(1, 3, (3, 5)), shots(1, 4, (3, 5))
    with pytest.raises(ValueError, match=r"first 3 of \(3, 5\), last 4 of \(3, 5\)"):
        ShotFeatures(first=ours.first, last=theirs.last)
    with pytest.raises(ValueError, match=r"one grid.*\(5, 3\)"):
        ShotFeatures(first=ours.first, last=shots(1, 3, (5, 3)).last)
    with pytest.raises(ValueError, match="got none"):
        ShotFeatures()
    with pytest.raises(ValueError, match="for a grid of 5 x 4"):
        shot_scores(ours, Matching((5, 4)))


def test_memory_holds_two_blocks_of_frames_beside_the_matrix() -> None:
    grid, n = (3, 3), 240
    frames = random_patches(0, n, grid, depth=1024)
    kinds = ShotFeatures(*(Features(frames, np.ones((n, 1), np.float32), grid) for _ in range(3)))
    shot_scores(ShotFeatures(kinds.first, None, kinds.last), Matching(grid))
    tracemalloc.start()
    shot_scores(kinds, Matching(grid))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2.5 * frames.nbytes / n * 48 + 40 * n * n
    assert most < frames.nbytes


# Threads


def test_threads_by_hand() -> None:
    scores = np.eye(5, dtype=np.float32)
    scores[0, 3] = scores[3, 0] = 0.31
    scores[3, 4] = scores[4, 3] = 0.5
    scores[1, 2] = scores[2, 1] = 0.25
    assert threads_of(scores, 0.3) == ((0, 3, 4), (1,), (2,))
    assert threads_of(scores, 0.25) == ((0, 3, 4), (1,), (2,))
    assert threads_of(scores, 0.2) == ((0, 3, 4), (1, 2))
    assert threads_of(scores[:1, :1], 0.3) == ((0,),)
    assert threads_of(scores[:0, :0], 0.3) == ()


def test_pairs_out_of_reach_join_nothing() -> None:
    scores = np.full((3, 3), np.nan, np.float32)
    scores[1, 2] = scores[2, 1] = 0.9
    assert threads_of(scores, -1.0) == ((0,), (1, 2))


def test_scores_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"float\[n, n\], got shape \(2, 3\)"):
        threads_of(np.zeros((2, 3), np.float32), 0.3)
    with pytest.raises(ValueError, match="threshold must be a number, got nan"):
        threads_of(np.zeros((2, 2), np.float32), math.nan)


@st.composite
def score_matrices(draw: st.DrawFn) -> Floats:
    n = draw(st.integers(1, 9))
    above = draw(st.lists(st.integers(0, 10), min_size=n * n, max_size=n * n))
    upper = np.triu(np.reshape(above, (n, n)) / 10, 1).astype(np.float32)
    return upper + upper.T + np.eye(n, dtype=np.float32)


@given(score_matrices(), st.integers(0, 10))
def test_threads_are_the_reachable_shots(scores: Floats, tenths: int) -> None:
    threads, n = threads_of(scores, tenths / 10), len(scores)
    assert sorted(shot for thread in threads for shot in thread) == list(range(n))
    assert all(list(thread) == sorted(thread) for thread in threads)
    assert list(threads) == sorted(threads)
    edges = (scores > np.float32(tenths / 10)) | np.eye(n, dtype=bool)
    reachable = np.linalg.matrix_power(edges.astype(np.int64), n) > 0
    together = np.zeros((n, n), bool)
    for thread in threads:
        together[np.ix_(thread, thread)] = True
    assert np.array_equal(together, reachable)
