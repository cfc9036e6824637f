"""DINOv2's weights under the names of its first release (facebookresearch/dinov2), and back.

The names inside transformers' module differ between its releases; a checkpoint must not. The release
keeps some weights as one that transformers has as several: queries, keys and values (``attn.qkv``), and
the two halves of the gated MLP of the giant model (``mlp.w12``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from shotad.core import need_torch

if TYPE_CHECKING:
    import torch
else:
    torch = need_torch("DINOv2")

Weights = dict[str, "torch.Tensor"]

_RULES = (
    (r"embeddings\.cls_token", "cls_token", 0),
    (r"embeddings\.position_embeddings", "pos_embed", 0),
    (r"embeddings\.patch_embeddings\.projection\.", "patch_embed.proj.", 0),
    (r"layernorm\.", "norm.", 0),
    (r"attention\.(q_proj|attention\.query)\.", "attn.qkv.", 0),
    (r"attention\.(k_proj|attention\.key)\.", "attn.qkv.", 1),
    (r"attention\.(v_proj|attention\.value)\.", "attn.qkv.", 2),
    (r"attention\.(o_proj|output\.dense)\.", "attn.proj.", 0),
    (r"layer_scale([12])\.lambda1", r"ls\1.gamma", 0),
    (r"norm([12])\.", r"norm\1.", 0),
    (r"mlp\.fc([12])\.", r"mlp.fc\1.", 0),
    (r"mlp\.(gate_proj|weights_in)\.", "mlp.w12.", 0),
    (r"mlp\.up_proj\.", "mlp.w12.", 1),
    (r"mlp\.(down_proj|weights_out)\.", "mlp.w3.", 0),
)
"""Pattern of transformers' name below its block, the released name, and which part of it this is."""


def released_name(name: str) -> tuple[str, int]:
    """The released name of a weight of transformers' Dinov2Model, and which part of it this is.

    >>> released_name("encoder.layer.3.attention.k_proj.weight")
    ('blocks.3.attn.qkv.weight', 1)

    Raises ValueError for a name that is not known.
    """
    block = re.match(r"encoder\.layer\.(\d+)\.", name)
    place, rest = (f"blocks.{block[1]}.", name[block.end() :]) if block else ("", name)
    for pattern, released, part in _RULES:
        if re.match(pattern, rest):
            return place + re.sub(f"^{pattern}", released, rest), part
    raise ValueError(f"{name} is not a weight of DINOv2 as far as is known here")


def parts_of(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Released name → transformers' names of its parts, in order."""
    found: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        released, part = released_name(name)
        found.setdefault(released, []).append((part, name))
    return {released: tuple(name for _, name in sorted(parts)) for released, parts in found.items()}


def to_released(weights: Mapping[str, torch.Tensor]) -> Weights:
    """Weights of transformers' Dinov2Model under the released names; parts are joined along their rows."""
    joined: Weights = {}
    for released, parts in parts_of(weights).items():
        pieces = [weights[part] for part in parts]
        joined[released] = pieces[0] if len(pieces) == 1 else torch.cat(pieces)
    return joined


def from_released(released: Mapping[str, torch.Tensor], names: Iterable[str]) -> Weights:
    """The weights called ``names`` in transformers' Dinov2Model, from released ones.

    Raises KeyError, naming it, for a released weight that is missing.
    """
    taken: Weights = {}
    for name, parts in parts_of(names).items():
        taken.update(zip(parts, released[name].chunk(len(parts)), strict=True))
    return taken
