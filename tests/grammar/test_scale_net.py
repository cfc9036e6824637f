"""The classifier of shot scale and its checkpoint: what is tuned, what it computes, what it refuses."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from shotad.core import ComputeSettings, Image, WeightsError, WorkFolderError
from shotad.grammar.features import fitted, normalised
from shotad.grammar.scale_net import (
    FORMAT,
    BackboneShape,
    ScaleClassifier,
    ScaleDesign,
    ScaleNet,
    from_released,
    load_net,
    save_net,
    to_released,
)

SHAPE = BackboneShape(hidden=32, blocks=3, heads=2, side=56)
DESIGN = ScaleDesign(SHAPE, tuned_blocks=2, long_side=112, short_side=84)
PLAIN = ComputeSettings(device="cpu", precision="float32", batch=2)


@pytest.fixture
def net() -> ScaleNet:
    torch.manual_seed(3)
    made = ScaleNet(DESIGN)
    with torch.no_grad():
        made.head.weight.normal_()
    return made


def pictures(*sizes: tuple[int, int]) -> list[Image]:
    random = np.random.default_rng(5)
    return [random.integers(0, 256, (h, w, 3), dtype=np.uint8) for h, w in sizes]


def test_guesses_are_the_softmax_in_the_order_of_the_images(net: ScaleNet) -> None:
    images = pictures((90, 160), (160, 90), (120, 160), (200, 100), (90, 160))
    guesses = ScaleClassifier(net, PLAIN).of(images)
    for image, guess in zip(images, guesses, strict=True):
        pixels = torch.from_numpy(normalised([fitted(image, 112, 84)]))
        with torch.no_grad():
            logits = net.head(net.backbone(pixels).last_hidden_state[:, 0])[0]
        assert guess is not None
        assert guess.probabilities == pytest.approx(logits.softmax(0).tolist(), abs=1e-5)
    assert len({guess.probabilities for guess in guesses if guess}) == 5
    assert ScaleClassifier(net, PLAIN).of([]) == []


def test_a_checkpoint_comes_back_whole(net: ScaleNet, tmp_path: Path) -> None:
    path = tmp_path / "scale.safetensors"
    save_net(path, net, {"epochs": 3, "data": {"train": 7}})
    loaded, record = load_net(path)
    assert record == {"epochs": 3, "data": {"train": 7}}
    assert loaded.design == net.design
    assert not loaded.training
    assert [p.requires_grad for p in loaded.parameters()] == [p.requires_grad for p in net.parameters()]
    images = torch.from_numpy(np.stack(pictures((84, 112), (84, 112))))
    assert torch.equal(loaded(images), net(images))
    assert [p.name for p in tmp_path.iterdir()] == ["scale.safetensors"]


def test_the_gated_mlp_of_the_giant_model_is_joined_and_parted(tmp_path: Path) -> None:
    net = ScaleNet(ScaleDesign(BackboneShape(32, 1, 2, 4, True, 14, 56), 1, 112, 84))
    own = net.backbone.state_dict()
    released = to_released(own)
    mlp = net.backbone.encoder.layer[0].mlp
    assert torch.equal(
        released["blocks.0.mlp.w12.weight"], torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])
    )
    back = from_released(released, own)
    assert all(torch.equal(back[name], value) for name, value in own.items())
    save_net(tmp_path / "x.safetensors", net, {})
    assert load_net(tmp_path / "x.safetensors")[0].design.backbone.gated


Change = Callable[[dict[str, Any], dict[str, torch.Tensor]], object]

CHANGES: dict[str, tuple[Change, str]] = {
    "later schema": (lambda about, _: about.update(schema=2), "is of schema 2.*Update shotad"),
    "broken design": (lambda about, _: about.update(design="{"), "describes itself wrongly"),
    "no training": (lambda about, _: about.pop("training"), "describes itself wrongly"),
    "other classes": (lambda about, _: about["design"]["classes"].reverse(), "classes must be"),
    "unknown field": (lambda about, _: about["design"]["backbone"].update(registers=4), "'registers'"),
    "weight missing": (lambda _, weights: weights.pop("backbone.norm.bias"), "backbone.norm.bias is one"),
    "wrong shape": (lambda _, weights: weights.update({"head.bias": torch.zeros(4)}), "head.bias is one"),
    "half floats": (
        lambda _, weights: weights.update({"head.bias": torch.zeros(5).half()}), "head.bias is one",
    ),
    "not a number": (
        lambda _, weights: weights.update({"head.bias": torch.full((5,), torch.nan)}), "head.bias is one",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_checkpoint_is_refused_by_name(net: ScaleNet, tmp_path: Path, name: str) -> None:
    path = tmp_path / "scale.safetensors"
    save_net(path, net, {})
    with safe_open(path, "pt") as file:
        found: dict[str, Any] = json.loads(file.metadata()[FORMAT])
    about, weights = found, load_file(path)
    change, message = CHANGES[name]
    change(about, weights)
    save_file(weights, path, metadata={FORMAT: json.dumps(about)})
    with pytest.raises(WeightsError, match=message) as refusal:
        load_net(path)
    assert str(path) in refusal.value.what
    assert refusal.value.hint


def test_what_is_no_checkpoint_is_refused(net: ScaleNet, tmp_path: Path) -> None:
    path = tmp_path / "scale.safetensors"
    with pytest.raises(WeightsError, match="There is no file"):
        load_net(path)
    path.write_text("hello, this is no checkpoint at all")
    with pytest.raises(WeightsError, match="cannot be read as safetensors"):
        load_net(path)
    for metadata in (None, {"format": "pt"}):
        save_file({"head.bias": torch.zeros(5)}, path, metadata=metadata)
        with pytest.raises(WeightsError, match="is not a checkpoint of shot scale"):
            load_net(path)
    save_net(path, net, {})
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(WeightsError, match="cannot be read as safetensors"):
        load_net(path)


def test_a_failed_save_leaves_the_old(net: ScaleNet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scale.safetensors"
    save_net(path, net, {"n": 1})

    def fail(weights: object, file: Path, metadata: object) -> None:
        file.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", fail)
    with pytest.raises(WorkFolderError, match="No space"):
        save_net(path, net, {"n": 2})
    assert load_net(path)[1] == {"n": 1}
    assert len(list(tmp_path.iterdir())) == 1
