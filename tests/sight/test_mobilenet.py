from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as layers

from shotad.core import WeightsError
from shotad.sight import MobileNet

STAGES = ((1, 4, 1, 1), (6, 4, 2, 2), (6, 6, 3, 2), (6, 6, 4, 2), (6, 8, 3, 1), (6, 8, 3, 2), (6, 10, 1, 1))
"""As MobileNetV2's, but narrow: how far each block widens, its width, how many there are, the first's stride."""


def weights() -> dict[str, torch.Tensor]:
    """Random weights of a narrow network, by the names that torchvision gives them."""
    make = torch.Generator().manual_seed(5)
    kept: dict[str, torch.Tensor] = {}

    def layer(conv: str, norm: str, out: int, into: int, wide: int) -> None:
        kept[f"{conv}.weight"] = torch.randn(out, into, wide, wide, generator=make) / (into**0.5 * wide)
        for part, low in (("weight", 0.5), ("bias", -0.5), ("running_mean", -0.5), ("running_var", 0.5)):
            kept[f"{norm}.{part}"] = torch.rand(out, generator=make) + low
        kept[f"{norm}.num_batches_tracked"] = torch.tensor(7)

    layer("features.0.0", "features.0.1", 4, 3, 3)
    at, into = 1, 4
    for widens, width, count, _ in STAGES:
        for _ in range(count):
            block, deep = f"features.{at}.conv.", int(widens > 1)
            if deep:
                layer(f"{block}0.0", f"{block}0.1", into * widens, into, 1)
            layer(f"{block}{deep}.0", f"{block}{deep}.1", into * widens, 1, 3)
            layer(f"{block}{deep + 1}", f"{block}{deep + 2}", width, into * widens, 1)
            at, into = at + 1, width
    layer(f"features.{at}.0", f"features.{at}.1", 12, into, 1)
    kept["classifier.1.weight"] = torch.randn(1000, 12, generator=make)
    kept["classifier.1.bias"] = torch.randn(1000, generator=make)
    return kept


def by_torch(kept: dict[str, torch.Tensor], square: np.ndarray) -> np.ndarray:
    """What torch makes of it."""

    def layer(
        now: torch.Tensor, conv: str, norm: str, stride: int = 1, groups: int = 1, bends: bool = True
    ) -> torch.Tensor:
        kernel = kept[f"{conv}.weight"]
        now = layers.conv2d(now, kernel, None, stride, kernel.shape[-1] // 2, 1, groups)
        mean, variance, gain, shift = (
            kept[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")
        )
        now = layers.batch_norm(now, mean, variance, gain, shift)
        return layers.relu6(now) if bends else now

    levels = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    now = ((torch.from_numpy(square) / 255 - levels[0]) / levels[1]).permute(2, 0, 1)[None]
    now, at = layer(now, "features.0.0", "features.0.1", 2), 1
    for widens, _, count, stride in STAGES:
        for i in range(count):
            block, deep, inner = f"features.{at}.conv.", int(widens > 1), now
            if deep:
                inner = layer(inner, f"{block}0.0", f"{block}0.1")
            step = stride if i == 0 else 1
            inner = layer(inner, f"{block}{deep}.0", f"{block}{deep}.1", step, inner.shape[1])
            inner = layer(inner, f"{block}{deep + 1}", f"{block}{deep + 2}", bends=False)
            now, at = now + inner if i else inner, at + 1
    now = layer(now, f"features.{at}.0", f"features.{at}.1").mean((2, 3))
    odds = layers.linear(now, kept["classifier.1.weight"], kept["classifier.1.bias"])
    return odds.softmax(1)[0].numpy()


def test_a_file_of_bare_tensors_answers_as_torch_does(tmp_path: Path) -> None:
    path, kept = tmp_path / "weights.pth", weights()
    torch.save(kept, path, _use_new_zipfile_serialization=False)
    square = np.random.default_rng(3).integers(0, 255, (224, 224, 3), np.uint8)
    network = MobileNet(path)
    assert network.side == 224
    sure = network.certainty(square)
    np.testing.assert_allclose(sure, by_torch(kept, square), atol=1e-6)
    assert sure.sum() == pytest.approx(1)
    np.testing.assert_array_equal(sure, MobileNet(path).certainty(square))


@pytest.mark.parametrize("content", [b"", b"no weights", b"\x80\x02."])
def test_another_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    path.write_bytes(content)
    with pytest.raises(WeightsError, match=r"weights\.pth cannot be loaded"):
        MobileNet(path)


def test_a_cut_off_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    torch.save(weights(), path, _use_new_zipfile_serialization=False)
    path.write_bytes(path.read_bytes()[:-4000])
    with pytest.raises(WeightsError, match=r"weights\.pth cannot be loaded"):
        MobileNet(path)
