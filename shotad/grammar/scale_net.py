"""The classifier of shot scale: DINOv2, of which the last blocks are tuned, and one linear layer.

After Shot-by-Shot (Xie et al. 2025, arXiv:2504.01020), section 3.1, and the code published with it:
ViT-B/14 without registers, the last six blocks tuned, five classes on the CLS token, 448 x 336 pixels.
The last layer norm stays as it is: its scale and shift are absorbed by the linear layer behind it, so that
tuning it could express nothing more.

A checkpoint has DINOv2's weights under the names of its first release (facebookresearch/dinov2), because
the names inside transformers' module differ between its releases. The first release keeps some weights as one
that transformers has as several: queries, keys and values (``attn.qkv``), and the two halves of the gated
MLP of the giant model (``mlp.w12``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shotad.core import Image, ShotScale
from shotad.core.config.sight import ComputeSettings
from shotad.core.errors import WeightsError
from shotad.core.files import replace_file
from shotad.core.model_loading import (
    device_of,
    dtype_of,
    require_module,
    require_torch,
)
from shotad.core.weight_store import file_sha256
from shotad.film.sampling import Moment
from shotad.grammar.features import MEAN, STD, ScaleGuess, fitted, is_upright

if TYPE_CHECKING:
    import torch
else:
    torch = require_torch("DINOv2")

CLASSES = tuple(scale.value for scale in ShotScale)
"""What the five outputs mean, in order."""


@dataclass(frozen=True, slots=True)
class BackboneShape:
    """The shape of a DINOv2 model without registers; the defaults are those of ViT-B/14."""

    hidden: int = 768
    blocks: int = 12
    heads: int = 12
    mlp_ratio: int = 4
    gated: bool = False
    """True for the gated MLP of the giant model."""
    patch: int = 14
    side: int = 518
    """Pixels along the side of the square that the position embeddings were made for."""


@dataclass(frozen=True, slots=True)
class ScaleDesign:
    """What a net computes, without its weights."""

    backbone: BackboneShape = BackboneShape()
    tuned_blocks: int = 6
    """How many of the last blocks are tuned; the rest and the embeddings are the backbone's own."""
    long_side: int = 448
    short_side: int = 336
    """Pixels of what the net sees; upright film stands upright."""
    classes: tuple[str, ...] = CLASSES

    def __post_init__(self) -> None:
        if not 0 <= self.tuned_blocks <= self.backbone.blocks:
            raise ValueError(f"tuned_blocks must be 0 to {self.backbone.blocks}, got {self.tuned_blocks}")
        for side in (self.long_side, self.short_side):
            if side < 1 or side % self.backbone.patch:
                raise ValueError(f"a side must be a multiple of {self.backbone.patch} pixels, got {side}")
        if self.classes != CLASSES:
            raise ValueError(f"classes must be {', '.join(CLASSES)}, got {', '.join(self.classes)}")


class ScaleNet(torch.nn.Module):  # type: ignore[misc]
    """Frames to five logits. Its weights are random until they are loaded."""

    def __init__(self, design: ScaleDesign, drop_path: float = 0.0) -> None:
        """``drop_path`` is the chance that a tuned block is skipped in training, per image."""
        super().__init__()
        self.design = design
        # transformers' DINOv2 of this shape, with random weights
        shape = design.backbone
        transformers = require_module("transformers", "The classifier of shot scale")
        config = transformers.Dinov2Config(
            hidden_size=shape.hidden,
            num_hidden_layers=shape.blocks,
            num_attention_heads=shape.heads,
            mlp_ratio=shape.mlp_ratio,
            use_swiglu_ffn=shape.gated,
            patch_size=shape.patch,
            image_size=shape.side,
            drop_path_rate=drop_path,
            use_mask_token=False,
        )
        self.backbone = transformers.Dinov2Model(config)
        self.head = torch.nn.Linear(design.backbone.hidden, len(design.classes))
        torch.nn.init.normal_(self.head.weight, std=0.01)
        torch.nn.init.zeros_(self.head.bias)
        self.backbone.requires_grad_(False)
        for block in self.tuned:
            block.requires_grad_(True)
        self.train(False)

    @property
    def tuned(self) -> list[torch.nn.Module]:
        """The blocks that are tuned, first to last."""
        return list(self.backbone.encoder.layer)[self.design.backbone.blocks - self.design.tuned_blocks :]

    @property
    def frozen(self) -> list[torch.nn.Module]:
        """The blocks that stay as they are, first to last."""
        return list(self.backbone.encoder.layer)[: self.design.backbone.blocks - self.design.tuned_blocks]

    def train(self, mode: bool = True) -> ScaleNet:
        """Training mode for what is tuned; what is frozen never drops anything."""
        super().train(False)
        self.training = mode
        for part in (*self.tuned, self.head):
            part.train(mode)
        return self

    def forward(self, *groups: torch.Tensor) -> torch.Tensor:
        """Logits ``float32[n, 5]`` of all images, in order.

        Each group is ``uint8[b, H, W, 3]``, fitted to the size of the design; broad and upright frames are
        two groups.
        """
        mean, std = (torch.tensor(values, device=groups[0].device) for values in (MEAN, STD))
        group_features = []
        for images in groups:
            with torch.no_grad():  # nothing is kept for gradients of what is frozen
                # Normalised where the images are: ``float32[b, 3, H, W]``
                tokens = self.backbone.embeddings(((images.float() / 255 - mean) / std).permute(0, 3, 1, 2))
                for block in self.frozen:
                    tokens = block(tokens)
            for block in self.tuned:
                tokens = block(tokens)
            group_features.append(self.backbone.layernorm(tokens[:, 0]))
        whole = torch.cat(group_features)
        with torch.autocast(whole.device.type, enabled=False):
            logits: torch.Tensor = self.head(whole.to(self.head.weight.dtype))
        return logits


FORMAT = "shotad shot scale"
"""The one key of the metadata; of several, safetensors would write the order by chance."""
SCHEMA = 1

Record = dict[str, Any]
"""The record of a training, as JSON."""

_REMEDY = "Name a file made by `shotad train scale`."


def save_net(path: Path, net: ScaleNet, record: Mapping[str, Any]) -> None:
    """Write a checkpoint; an existing one is replaced only by a whole one.

    ``record`` is how the net was trained; it must be JSON, and without places of this machine.
    """
    save = require_module("safetensors.torch", "A checkpoint of shot scale").save_file
    about = {"schema": SCHEMA, "design": asdict(net.design), "training": dict(record)}
    weights = {name: value.contiguous() for name, value in released_weights(net).items()}
    with replace_file(path) as part:
        save(weights, part, metadata={FORMAT: json.dumps(about, ensure_ascii=False)})


def load_net(path: Path) -> tuple[ScaleNet, Record]:
    """The net in a checkpoint, and the record of its training.

    Raises WeightsError, naming file and remedy, for a file that is none of ours, is damaged, is of a later
    schema, or whose weights are not exactly those of its design.
    """
    about, weights = _read(path)
    try:
        record = dict(about["training"])
        tree = dict(about["design"])
        shape, classes = BackboneShape(**tree.pop("backbone")), tuple(tree.pop("classes"))
        design = ScaleDesign(shape, classes=classes, **tree)
    except (KeyError, TypeError, ValueError) as error:
        raise WeightsError(f"{path} describes itself wrongly: {error}.", _REMEDY) from None
    with torch.device("meta"):
        net = ScaleNet(design)
    # Refuse weights that are missing, unexpected, of another shape or not finite numbers of 32 bits
    expected = released_weights(net)
    wrong = sorted(set(weights) ^ set(expected)) or [
        name
        for name, value in weights.items()
        if (value.shape, value.dtype) != (expected[name].shape, torch.float32) or not value.isfinite().all()
    ]
    if wrong:
        raise WeightsError(
            f"{path} does not hold the weights of its design; {wrong[0]} is one that differs.",
            "Get the checkpoint again, or train it again.",
        )
    load_released(net, weights)
    return net.train(False), record


def released_weights(net: ScaleNet) -> Weights:
    """All weights of a net under the names of the checkpoint, detached."""
    head = {f"head.{name}": value for name, value in net.head.state_dict().items()}
    backbone = to_released(net.backbone.state_dict())
    return {**{f"backbone.{name}": value for name, value in backbone.items()}, **head}


def load_released(net: ScaleNet, weights: Weights) -> None:
    """Give a net the weights of a checkpoint. The net may be without memory of its own (meta)."""
    mine = {name.removeprefix("backbone."): w for name, w in weights.items() if name.startswith("backbone.")}
    backbone = from_released(mine, net.backbone.state_dict())
    net.backbone.load_state_dict({name: w.clone() for name, w in backbone.items()}, assign=True)
    net.head.load_state_dict({k: weights[f"head.{k}"].clone() for k in ("weight", "bias")}, assign=True)


def is_of_the_paper(path: Path) -> bool:
    """Whether a checkpoint holds the weights published with Shot-by-Shot, converted by
    `published_checkpoint`. Reads no weights. Raises WeightsError as `load_net`."""
    with _opened(path) as (about, _):
        return "converted" in about.get("training", {})


def _read(path: Path) -> tuple[Mapping[str, Any], Weights]:
    with _opened(path) as (about, file):
        return about, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """What a checkpoint says of itself, and its open file of safetensors. Raises WeightsError."""
    safetensors = require_module("safetensors", "A checkpoint of shot scale")
    if not path.is_file():
        raise WeightsError(f"There is no file {path}.", _REMEDY)
    try:
        with safetensors.safe_open(path, "pt") as file:
            text = (file.metadata() or {}).get(FORMAT)
            if text is None:
                raise WeightsError(f"{path} is not a checkpoint of shot scale.", _REMEDY)
            try:
                tree = json.loads(text)
                schema = tree["schema"]
            except (ValueError, KeyError, TypeError) as error:
                raise WeightsError(f"{path} describes itself wrongly: {error!r}.", _REMEDY) from None
            if schema != SCHEMA:
                raise WeightsError(
                    f"{path} is of schema {schema}; this version of shotad reads {SCHEMA}.",
                    "Update shotad, or train the checkpoint again.",
                )
            yield tree, file
    except (safetensors.SafetensorError, OSError) as error:
        raise WeightsError(f"{path} cannot be read as safetensors: {error}.", _REMEDY) from None


class ScaleClassifier:
    """Guesses the scale of frames by a trained net (a `ScaleReader`)."""

    moments: tuple[Moment, ...] = ("middle",)

    def __init__(self, net: ScaleNet, compute: ComputeSettings, digest: str = "") -> None:
        """``digest`` tells the net's weights from others; it is part of the identity."""
        self._device = device_of(compute)
        self._precision = dtype_of(compute, self._device)
        self._batch = compute.batch
        self._net = net.to(self._device).train(False)
        self.identity = f"classifier {digest or 'untitled'} {str(self._precision).removeprefix('torch.')}"

    @classmethod
    def load(cls, path: Path, compute: ComputeSettings) -> ScaleClassifier:
        """The classifier in a checkpoint of ``shotad train scale``.

        Raises WeightsError for a file that is none, ShotadError where an extra is missing.
        """
        net, _ = load_net(path)
        return cls(net, compute, file_sha256(path)[:16])

    def of(self, images: Sequence[Image]) -> list[ScaleGuess | None]:
        """One guess for each image; never None. The softmax is taken in float32."""
        guesses: list[ScaleGuess | None] = [None] * len(images)
        design, device = self._net.design, self._device
        mixed = torch.autocast(device.type, torch.bfloat16, enabled=self._precision is torch.bfloat16)
        for upright in (False, True):  # all broad ones go through the net, then all upright ones
            places = [k for k, image in enumerate(images) if is_upright(image) is upright]
            for start in range(0, len(places), self._batch):
                batch = places[start : start + self._batch]
                stack = np.stack([fitted(images[k], design.long_side, design.short_side) for k in batch])
                with torch.inference_mode(), mixed:
                    logits = self._net(torch.from_numpy(stack).to(device))
                for place, row in zip(batch, logits.float().softmax(-1).tolist(), strict=True):
                    guesses[place] = ScaleGuess(tuple(row))
        return guesses


Weights = dict[str, "torch.Tensor"]

_RULES = (
    (r"embeddings\.cls_token", "cls_token", 0),
    (r"embeddings\.position_embeddings", "pos_embed", 0),
    (r"embeddings\.patch_embeddings\.projection\.", "patch_embed.proj.", 0),
    (r"layernorm\.", "norm.", 0),
    (r"attention\.q_proj\.", "attn.qkv.", 0),
    (r"attention\.k_proj\.", "attn.qkv.", 1),
    (r"attention\.v_proj\.", "attn.qkv.", 2),
    (r"attention\.o_proj\.", "attn.proj.", 0),
    (r"layer_scale([12])\.lambda1", r"ls\1.gamma", 0),
    (r"norm([12])\.", r"norm\1.", 0),
    (r"mlp\.fc([12])\.", r"mlp.fc\1.", 0),
    (r"mlp\.gate_proj\.", "mlp.w12.", 0),
    (r"mlp\.up_proj\.", "mlp.w12.", 1),
    (r"mlp\.down_proj\.", "mlp.w3.", 0),
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
    parts_by_name: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        released, part = released_name(name)
        parts_by_name.setdefault(released, []).append((part, name))
    return {released: tuple(name for _, name in sorted(parts)) for released, parts in parts_by_name.items()}


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
