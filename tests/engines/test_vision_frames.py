"""Frames for Qwen's vision towers: against a formula in plain loops, and against the published processors."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from shotad.engines.local_vision_qwen import PatchRules, grid_of, smart_size, video_patches

HAS_TORCHVISION = importlib.util.find_spec("torchvision") is not None
RULES = PatchRules(patch=4, merge=2, depth=2, mean=(0.4, 0.5, 0.6), std=(0.2, 0.25, 0.3))


def noise(frames: int, width: int, height: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (frames, height, width, 3), dtype=np.uint8)


def one_row(pair: list[np.ndarray], top: int, left: int, rules: PatchRules) -> list[float]:
    """A patch of two frames: colour by colour, frame by frame, line by line."""
    return [
        (float(frame[top + v, left + u, channel]) / 255 - rules.mean[channel]) / rules.std[channel]
        for channel in range(3)
        for frame in pair
        for v in range(rules.patch)
        for u in range(rules.patch)
    ]


def by_loops(images: np.ndarray, rules: PatchRules) -> np.ndarray:
    """Row by row and value by value, as the order of Qwen's patches is described."""
    frames = [*images]
    while len(frames) % rules.depth:
        frames.append(frames[-1])
    p, m = rules.patch, rules.merge
    high, wide = images.shape[1] // p, images.shape[2] // p
    rows = []
    for first in range(0, len(frames), rules.depth):
        pair = frames[first : first + rules.depth]
        for top in range(0, high, m):
            for left in range(0, wide, m):
                places = [(y * p, x * p) for y in range(top, top + m) for x in range(left, left + m)]
                rows += [one_row(pair, y, x, rules) for y, x in places]
    return np.array(rows)


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_patches_of_a_video_are_those_of_the_formula(frames: int) -> None:
    images = noise(frames, 24, 16)
    values, grid = video_patches(images, (24, 16), RULES)
    assert grid == ((frames + 1) // 2, 4, 6) == grid_of(24, 16, frames, RULES)
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, by_loops(images, RULES), atol=2e-6)


def test_single_frames_are_those_of_the_published_processor() -> None:
    pil = pytest.importorskip("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl")
    settings = {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.25, 0.3]}
    processor = pil.Qwen2VLImageProcessorPil(**settings, min_pixels=3136, max_pixels=40000)
    rules = PatchRules.of(settings)
    for width, height in ((504, 280), (140, 84), (123, 457), (30, 20)):
        images = noise(1, width, height)
        theirs = processor([images[0]], return_tensors="np", input_data_format="channels_last")
        ours, grid = video_patches(images, smart_size(width, height, 28, 3136, 40000), rules)
        assert [list(grid)] == theirs["image_grid_thw"].tolist()
        np.testing.assert_allclose(ours, theirs["pixel_values"], atol=2e-6)


@pytest.mark.skipif(not HAS_TORCHVISION, reason="torchvision is not installed: no official video processor")
@pytest.mark.parametrize(("kind", "factor"), [("qwen2_vl", 28), ("qwen3_vl", 32)])
def test_videos_are_those_of_the_published_processor(kind: str, factor: int) -> None:
    import torch
    import transformers

    name = {"qwen2_vl": "Qwen2VLVideoProcessor", "qwen3_vl": "Qwen3VLVideoProcessor"}[kind]
    processor = getattr(transformers, name)()
    rules = PatchRules(factor // 2, 2, 2, tuple(processor.image_mean), tuple(processor.image_std))
    for frames in (4, 5):
        images = noise(frames, factor * 18, factor * 10)
        theirs = processor(
            [torch.from_numpy(images).permute(0, 3, 1, 2)],
            do_sample_frames=False, do_resize=False, cap_pixels_per_frame=False, return_tensors="np",
        )  # fmt: skip
        ours, grid = video_patches(images, (factor * 18, factor * 10), rules)
        assert [list(grid)] == np.asarray(theirs["video_grid_thw"]).tolist()
        np.testing.assert_allclose(ours, np.asarray(theirs["pixel_values_videos"]), atol=2e-6)


def test_sizes_and_rules_are_the_published_ones() -> None:
    pil = pytest.importorskip("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl")
    random = np.random.default_rng(1)
    for _ in range(2000):
        width, height, low, more = (int(n) for n in random.integers(20, 3000, 4))
        if max(width, height) > 200 * min(width, height):
            continue
        low, high = low * 50, low * 50 + more * 300
        theirs = pil.smart_resize(height, width, 28, low, high)
        assert smart_size(width, height, 28, low, high) == theirs[::-1]
    silent = PatchRules.of({"do_normalize": False, "do_rescale": False})
    assert (silent.mean, silent.std, silent.rescale) == ((0, 0, 0), (1, 1, 1), 1)
    assert video_patches(noise(2, 28, 28), (28, 28), silent)[0].max() == 255
    with pytest.raises(ValueError, match="three channels"):
        PatchRules.of({"image_std": [1.0, 0.0, 1.0]})
    with pytest.raises(ValueError, match="1 at least"):
        PatchRules(patch=0)
