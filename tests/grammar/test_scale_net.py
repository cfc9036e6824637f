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
from shotad.grammar.features import normalised, prepared
from shotad.grammar.scale_net import (
    FORMAT,
    BackboneShape,
    ScaleClassifier,
    ScaleDesign,
    ScaleNet,
    from_released,
    load_net,
    released_name,
    released_weights,
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


def fitted_tensor(images: list[Image]) -> torch.Tensor:
    return torch.from_numpy(np.stack(images))


def test_only_the_last_blocks_and_the_head_are_tuned(net: ScaleNet) -> None:
    net.train()
    net(fitted_tensor(pictures((84, 112), (84, 112)))).square().sum().backward()
    moved = {name for name, p in net.named_parameters() if p.grad is not None and bool(p.grad.any())}
    tuned = {
        name
        for name, _ in net.named_parameters()
        if name.startswith(("head.", "backbone.encoder.layer.1.", "backbone.encoder.layer.2."))
    }
    # A key's bias adds the same to all logits of a query, so its gradient is nought but for rounding.
    assert {n for n in tuned if not n.endswith("k_proj.bias")} <= moved <= tuned
    assert {name for name, p in net.named_parameters() if p.requires_grad} == tuned


def test_frozen_blocks_keep_nothing_for_gradients() -> None:
    def kept(tuned: int) -> int:
        found: list[int] = []
        net = ScaleNet(ScaleDesign(SHAPE, tuned, 112, 84)).train()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: found.append(t.numel()) or t, lambda t: t):
            net(fitted_tensor(pictures((84, 112))))
        return sum(found)

    none, one, two, three = (kept(tuned) for tuned in range(4))
    assert none < 2000
    assert two - one == pytest.approx(three - two, rel=0.02)
    assert one - none == pytest.approx(two - one, rel=0.1)


def test_training_mode_is_for_what_is_tuned() -> None:
    net = ScaleNet(DESIGN, drop_path=0.5).train()
    assert [m.training for m in net.frozen] == [False]
    assert [m.training for m in net.tuned] == [True, True]
    images = fitted_tensor(pictures(*[(84, 112)] * 8))
    with torch.no_grad():
        net.head.weight.normal_()
        first, second = net(images), net(images)
        assert not torch.allclose(first, second)
        net.eval()
        assert torch.equal(net(images), net(images))


def test_it_is_the_cls_token_of_dinov2_and_a_linear_layer(net: ScaleNet) -> None:
    images = pictures((84, 112), (84, 112))
    with torch.no_grad():
        whole = net.backbone(torch.from_numpy(normalised(images))).last_hidden_state[:, 0]
        expected = whole @ net.head.weight.T + net.head.bias
        assert torch.allclose(net(fitted_tensor(images)), expected, atol=1e-5)


def test_guesses_are_the_softmax_in_the_order_of_the_images(net: ScaleNet) -> None:
    images = pictures((90, 160), (160, 90), (120, 160), (200, 100), (90, 160))
    guesses = ScaleClassifier(net, PLAIN).of(images)
    for image, guess in zip(images, guesses, strict=True):
        pixels = torch.from_numpy(prepared([image], (112, 84)))
        with torch.no_grad():
            logits = net.head(net.backbone(pixels).last_hidden_state[:, 0])[0]
        assert guess is not None
        assert guess.probabilities == pytest.approx(logits.softmax(0).tolist(), abs=1e-5)
    assert len({guess.probabilities for guess in guesses if guess}) == 5
    assert ScaleClassifier(net, PLAIN).of([]) == []


def test_bfloat16_agrees_roughly_and_sums_to_one(net: ScaleNet) -> None:
    images = pictures((90, 160), (160, 90), (120, 160))
    plain = ScaleClassifier(net, PLAIN).of(images)
    short = ScaleClassifier(net, PLAIN.model_copy(update={"precision": "bfloat16"})).of(images)
    for a, b in zip(plain, short, strict=True):
        assert a is not None
        assert b is not None
        assert a.probabilities == pytest.approx(b.probabilities, abs=0.05)
        assert sum(b.probabilities) == pytest.approx(1, abs=1e-5)


def test_a_checkpoint_comes_back_whole(net: ScaleNet, tmp_path: Path) -> None:
    path = tmp_path / "scale.safetensors"
    save_net(path, net, {"epochs": 3, "data": {"train": 7}})
    loaded, record = load_net(path)
    assert record == {"epochs": 3, "data": {"train": 7}}
    assert loaded.design == net.design
    assert not loaded.training
    assert [p.requires_grad for p in loaded.parameters()] == [p.requires_grad for p in net.parameters()]
    images = fitted_tensor(pictures((84, 112), (84, 112)))
    assert torch.equal(loaded(images), net(images))
    assert [p.name for p in tmp_path.iterdir()] == ["scale.safetensors"]


def test_the_file_alone_says_who_answers(net: ScaleNet, tmp_path: Path) -> None:
    one, two = tmp_path / "one.safetensors", tmp_path / "two.safetensors"
    save_net(one, net, {})
    first = ScaleClassifier.load(one, PLAIN)
    images = pictures((90, 160))
    assert first.of(images) == ScaleClassifier(net, PLAIN).of(images)
    with torch.no_grad():
        net.head.bias += 1e-3
    save_net(two, net, {})
    names = {
        first.identity,
        ScaleClassifier.load(two, PLAIN).identity,
        ScaleClassifier.load(one, PLAIN.model_copy(update={"precision": "bfloat16"})).identity,
    }
    assert len(names) == 3
    assert first.identity == ScaleClassifier.load(one, PLAIN).identity


def test_weights_stand_under_the_names_of_the_release(net: ScaleNet) -> None:
    names = set(released_weights(net))
    block = {"norm1.weight", "norm1.bias", "attn.qkv.weight", "attn.qkv.bias", "attn.proj.weight", "attn.proj.bias", "ls1.gamma", "norm2.weight", "norm2.bias", "mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias", "ls2.gamma"}  # fmt: skip
    other = {"cls_token", "pos_embed", "patch_embed.proj.weight", "patch_embed.proj.bias", "norm.weight", "norm.bias"}  # fmt: skip
    expected = {f"backbone.blocks.{k}.{name}" for k in range(3) for name in block}
    assert names == expected | {f"backbone.{name}" for name in other} | {"head.weight", "head.bias"}
    qkv = released_weights(net)["backbone.blocks.1.attn.qkv.weight"]
    attention = net.backbone.encoder.layer[1].attention
    assert torch.equal(
        qkv, torch.cat([attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight])
    )


def test_both_spellings_of_transformers_have_one_released_name() -> None:
    spelled = {
        "attention.attention.query.bias": "attention.q_proj.bias",
        "attention.attention.key.bias": "attention.k_proj.bias",
        "attention.attention.value.bias": "attention.v_proj.bias",
        "attention.output.dense.bias": "attention.o_proj.bias",
        "mlp.weights_in.bias": "mlp.gate_proj.bias",
        "mlp.weights_out.bias": "mlp.down_proj.bias",
    }
    for earlier, later in spelled.items():
        assert released_name(f"encoder.layer.11.{earlier}") == released_name(f"encoder.layer.11.{later}")
    with pytest.raises(ValueError, match="mask_token is not a weight"):
        released_name("embeddings.mask_token")


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
    "no schema": (lambda about, _: about.pop("schema"), "describes itself wrongly"),
    "broken design": (lambda about, _: about.update(design="{"), "describes itself wrongly"),
    "no training": (lambda about, _: about.pop("training"), "describes itself wrongly"),
    "other classes": (lambda about, _: about["design"]["classes"].reverse(), "classes must be"),
    "unknown field": (
        lambda about, _: about["design"]["backbone"].update(registers=4),
        "BackboneShape has .*registers",
    ),
    "missing field": (lambda about, _: about["design"].pop("tuned_blocks"), "ScaleDesign has"),
    "impossible shape": (lambda about, _: about["design"]["backbone"].update(heads=5), "multiple of heads 5"),
    "text for a number": (lambda about, _: about["design"]["backbone"].update(hidden="32"), "wrongly"),
    "weight missing": (lambda _, weights: weights.pop("backbone.norm.bias"), "lacks backbone.norm.bias"),
    "weight too many": (lambda _, weights: weights.update(extra=torch.zeros(1)), "holds unexpected extra"),
    "wrong shape": (
        lambda _, weights: weights.update({"head.bias": torch.zeros(4)}),
        r"head.bias has the shape \(4,\), wanted \(5,\)",
    ),
    "half floats": (
        lambda _, weights: weights.update({"head.bias": torch.zeros(5).half()}),
        "head.bias is torch.float16",
    ),
    "not a number": (
        lambda _, weights: weights.update({"head.bias": torch.full((5,), torch.nan)}),
        "head.bias holds numbers that are not finite",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_checkpoint_is_refused_by_name(net: ScaleNet, tmp_path: Path, name: str) -> None:
    path = tmp_path / "scale.safetensors"
    save_net(path, net, {})
    about, weights = described(path), load_file(path)
    change, message = CHANGES[name]
    change(about, weights)
    save_file(weights, path, metadata={FORMAT: json.dumps(about)})
    with pytest.raises(WeightsError, match=message) as refusal:
        load_net(path)
    assert str(path) in refusal.value.what
    assert refusal.value.hint


def described(path: Path) -> dict[str, Any]:
    with safe_open(path, "pt") as file:
        found: dict[str, Any] = json.loads(file.metadata()[FORMAT])
    return found


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


def test_a_failed_save_leaves_the_old_checkpoint(
    net: ScaleNet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: ScaleDesign(SHAPE, 4, 112, 84), "tuned_blocks must be 0 to 3, got 4"),
        (lambda: ScaleDesign(SHAPE, 1, 112, 80), "multiple of 14 pixels, got 80"),
        (lambda: ScaleDesign(SHAPE, 1, 84, 112), "long_side 84 is below"),
        (lambda: BackboneShape(hidden=32, heads=3), "hidden 32 must be a multiple of heads 3"),
        (lambda: BackboneShape(blocks=0), "blocks of a backbone must be 1 or more"),
    ],
)
def test_designs_check_themselves(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrong()
