"""``shotad train convert``: the published checkpoint's form, on tiny random weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import Dinov2Config, Dinov2Model

from shotad.core.errors import WeightsError
from shotad.grammar.published_checkpoint import convert_checkpoint
from shotad.grammar.scale_net import is_of_the_paper, load_net, released_weights
from tests.cli.program import Shotad

Change = Callable[[dict[str, torch.Tensor]], object]


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backbone")
    torch.manual_seed(0)
    shape = Dinov2Config(hidden_size=32, num_hidden_layers=3, num_attention_heads=2, image_size=56)
    Dinov2Model(shape).save_pretrained(folder)
    return folder


def published(tuned: Dinov2Model, head: torch.nn.Linear, prefix: str) -> dict[str, Any]:
    """The last two blocks as the original code names them, written out here by hand."""
    weights: dict[str, torch.Tensor] = {}
    for number in (1, 2):
        block = tuned.encoder.layer[number]
        place = f"{prefix}blocks.{number}."
        for kind in ("weight", "bias"):
            parts = [getattr(getattr(block.attention, part), kind) for part in ("q_proj", "k_proj", "v_proj")]
            weights[f"{place}attn.qkv.{kind}"] = torch.cat(parts)
            weights[f"{place}attn.proj.{kind}"] = getattr(block.attention.o_proj, kind)
            for name in ("norm1", "norm2"):
                weights[f"{place}{name}.{kind}"] = getattr(getattr(block, name), kind)
            for name in ("fc1", "fc2"):
                weights[f"{place}mlp.{name}.{kind}"] = getattr(getattr(block.mlp, name), kind)
        weights[f"{place}ls1.gamma"] = block.layer_scale1.lambda1
        weights[f"{place}ls2.gamma"] = block.layer_scale2.lambda1
    weights["linear.weight"], weights["linear.bias"] = head.weight, head.bias
    return {"epoch": 3, "model_state_dict": {name: value.detach().clone() for name, value in weights.items()}}


@pytest.fixture
def tuned(backbone: Path) -> Dinov2Model:
    """The backbone after its last two blocks were trained."""
    model = Dinov2Model.from_pretrained(backbone)
    torch.manual_seed(1)
    with torch.no_grad():
        for block in model.encoder.layer[1:]:
            for parameter in block.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.eval()


@pytest.mark.parametrize("prefix", ["", "module.transformer."])
def test_the_converted_net_says_what_the_published_one_says(
    shotad: Shotad, backbone: Path, tuned: Dinov2Model, tmp_path: Path, prefix: str
) -> None:
    head = torch.nn.Linear(32, 5)
    torch.save(published(tuned, head, prefix), tmp_path / "published.pt")
    files = (tmp_path / "published.pt", tmp_path / "ours.safetensors")
    done = shotad("train", "convert", *files, "--backbone", backbone)
    assert done.code == 0, done.err
    assert "blocks 1 to 2 and the head" in done.out
    assert is_of_the_paper(tmp_path / "ours.safetensors")
    net, record = load_net(tmp_path / "ours.safetensors")
    assert net.design.tuned_blocks == 2
    assert len(record["converted"]["sha256"]) == 64
    assert str(backbone) not in str(record)
    images = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (2, 336, 448, 3), dtype=np.uint8))
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    with torch.no_grad():
        pixels = ((images / 255 - mean) / std).permute(0, 3, 1, 2)
        expected = head(tuned(pixels).last_hidden_state[:, 0])
        assert torch.allclose(net(images), expected, atol=1e-5)
    untouched = Dinov2Model.from_pretrained(backbone).encoder.layer[0].mlp.fc1.weight
    assert torch.equal(released_weights(net)["backbone.blocks.0.mlp.fc1.weight"], untouched)


@pytest.mark.parametrize(("change", "message"), [
    (lambda tree: tree.update({"linear.bias": torch.zeros(4)}), r"head.bias is \(4,\), wanted \(5,\)"),
    (lambda tree: tree.pop("blocks.2.ls1.gamma"), "differs in backbone.blocks.2.ls1.gamma"),
    (lambda tree: tree.update(extra=torch.zeros(1)), "holds extra, which is not known"),
    (lambda tree: [tree.pop(k) for k in list(tree) if "blocks.2" in k], r"holds the blocks \[1\] of 3"),
    (lambda tree: [tree.pop(k) for k in list(tree) if "blocks" in k], "holds no blocks"),
])  # fmt: skip
def test_other_weights_are_refused(
    backbone: Path, tuned: Dinov2Model, tmp_path: Path, change: Change, message: str
) -> None:
    tree = published(tuned, torch.nn.Linear(32, 5), "")
    change(tree["model_state_dict"])
    torch.save(tree, tmp_path / "published.pt")
    with pytest.raises(WeightsError, match=message):
        convert_checkpoint(tmp_path / "published.pt", tmp_path / "ours.safetensors", str(backbone))
    assert not (tmp_path / "ours.safetensors").exists()


class _Code:
    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("the code ran",)


def test_code_in_a_checkpoint_never_runs(backbone: Path, tmp_path: Path) -> None:
    torch.save({"model_state_dict": _Code()}, tmp_path / "evil.pt")
    with pytest.raises(WeightsError, match="cannot be read"):
        convert_checkpoint(tmp_path / "evil.pt", tmp_path / "ours.safetensors", str(backbone))
