"""The checkpoint published with Shot-by-Shot, turned into one that ``--set scale.checkpoint=FILE`` takes.

The published file holds the last six blocks of DINOv2 ViT-B/14 and the linear layer (``model_state_dict``);
the rest is the plain backbone's, which is taken from the hub or a folder. It is read as weights only: a
pickle that would run code is refused.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from pathlib import Path
from typing import Any

import torch

from shotad.core import NoProgress
from shotad.core.errors import WeightsError
from shotad.grammar.scale_net import load_released, released_weights, save_net
from shotad.grammar.scale_training import start_net
from shotad.grammar.training_settings import NetSettings

_BLOCK = re.compile(r"(?:.*\.)?blocks\.(?:\d+\.)?(\d+\.(?:norm|attn|ls|mlp)\S*)")
"""A weight of a block, whatever stands before it; the release also knows blocks in chunks (two numbers)."""
_HEAD = re.compile(r"(?:.*\.)?(?:linear|head|classifier|fc)(?:\.\d+)?\.(weight|bias)")


def convert_checkpoint(source: Path, out: Path, backbone: str) -> list[int]:
    """Write ``source`` in our form to ``out``; returns the numbers of the blocks that it brought.

    ``backbone`` is a name such as ``dinov2-base``, or a folder. Raises WeightsError for a file without the
    weights of whole blocks and of a head with five classes.
    """
    brought = _named(source, _weights(source))
    blocks = sorted({int(name.split(".")[2]) for name in brought if "blocks" in name})
    if not blocks:
        raise WeightsError(f"{source} holds no blocks of DINOv2.", "Name the published checkpoint.")
    net, label = start_net(NetSettings(backbone=backbone, tuned_blocks=0), 0, NoProgress())
    count = net.design.backbone.blocks
    if blocks != list(range(blocks[0], count)):
        raise WeightsError(f"{source} holds the blocks {blocks} of {count}.", "Name a backbone that fits.")
    net, _ = start_net(NetSettings(backbone=backbone, tuned_blocks=len(blocks)), 0, NoProgress())
    weights = released_weights(net)
    _check(source, brought, weights, blocks)
    load_released(net, {**weights, **brought})
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    save_net(out, net, {"converted": {"sha256": digest, "backbone": label}})
    return blocks


def _weights(source: Path) -> dict[str, torch.Tensor]:
    try:
        tree: Any = torch.load(source, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise WeightsError(f"{source} cannot be read: {error}.", "Name the published checkpoint.") from None
    state = tree.get("model_state_dict", tree) if isinstance(tree, dict) else None
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise WeightsError(f"{source} holds no state of a model.", "Name the published checkpoint.")
    return state


def _named(source: Path, published_weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The weights under the names of our checkpoints. What is neither of a block nor of the head is refused:
    leaving it out could change what the net says."""
    named: dict[str, torch.Tensor] = {}
    for name, value in published_weights.items():
        block, head = _BLOCK.fullmatch(name), _HEAD.fullmatch(name)
        if not block and not head:
            raise WeightsError(f"{source} holds {name}, which is not known.", "It needs another converter.")
        named[f"backbone.blocks.{block[1]}" if block else f"head.{head and head[1]}"] = value.float()
    return named


def _check(
    source: Path, brought: dict[str, torch.Tensor], all_weights: dict[str, torch.Tensor], blocks: list[int]
) -> None:
    places = tuple(f"backbone.blocks.{number}." for number in blocks)
    tuned_names = {name for name in all_weights if name.startswith((*places, "head."))}
    differing = sorted(tuned_names ^ set(brought))
    if differing:
        raise WeightsError(f"{source} differs in {', '.join(differing[:3])}.", "Name a backbone that fits.")
    for name in sorted(tuned_names):
        if brought[name].shape != all_weights[name].shape:
            shapes = f"{tuple(brought[name].shape)}, wanted {tuple(all_weights[name].shape)}"
            raise WeightsError(f"{source}: {name} is {shapes}.", "Name a backbone that fits.")
