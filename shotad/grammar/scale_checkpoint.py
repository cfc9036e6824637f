"""A trained net of shot scale in one safetensors file that says by itself what it is.

The weights stand under the names of DINOv2's first release (`shotad.grammar.dino_names`), below
``backbone.``, beside ``head.weight`` and ``head.bias``. The metadata holds, as JSON, the design of the net
and the record of its training.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.compute import need, need_torch
from shotad.errors import WeightsError
from shotad.grammar.dino_names import Weights, from_released, to_released
from shotad.grammar.scale_net import BackboneShape, ScaleDesign, ScaleNet
from shotad.wholefiles import replacing

if TYPE_CHECKING:
    import torch
else:
    torch = need_torch("A checkpoint of shot scale")

FORMAT = "shotad shot scale"
"""The one key of the metadata; of several, safetensors would write the order by chance."""
SCHEMA = 1

Record = dict[str, Any]
"""What is known of a training, as JSON."""

_REMEDY = "Name a file made by `shotad train scale`."


def save_net(path: Path, net: ScaleNet, record: Mapping[str, Any]) -> None:
    """Write a checkpoint; an existing one is replaced only by a whole one.

    ``record`` is how the net was trained; it must be JSON, and without places of this machine.
    """
    save = need("safetensors.torch", "A checkpoint of shot scale").save_file
    about = {"schema": SCHEMA, "design": asdict(net.design), "training": dict(record)}
    weights = {name: value.contiguous() for name, value in released_weights(net).items()}
    with replacing(path) as part:
        save(weights, part, metadata={FORMAT: json.dumps(about, ensure_ascii=False)})


def load_net(path: Path) -> tuple[ScaleNet, Record]:
    """The net in a checkpoint, and the record of its training.

    Raises WeightsError, naming file and remedy, for a file that is none of ours, is damaged, is of a later
    schema, or whose weights are not exactly those of its design.
    """
    about, weights = _read(path)
    design = _design(path, about)
    with torch.device("meta"):
        net = ScaleNet(design)
    _check_weights(path, weights, released_weights(net))
    load_released(net, weights)
    return net.train(False), dict(about["training"])


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


def _read(path: Path) -> tuple[Mapping[str, Any], Weights]:
    safetensors = need("safetensors", "A checkpoint of shot scale")
    if not path.is_file():
        raise WeightsError(f"There is no file {path}.", _REMEDY)
    try:
        with safetensors.safe_open(path, "pt") as file:
            text = (file.metadata() or {}).get(FORMAT)
            if text is None:
                raise WeightsError(f"{path} is not a checkpoint of shot scale.", _REMEDY)
            return _tree(path, text), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, OSError) as error:
        raise WeightsError(f"{path} cannot be read as safetensors: {error}.", _REMEDY) from None


def _tree(path: Path, text: str) -> Mapping[str, Any]:
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
    return dict(tree)


def _design(path: Path, about: Mapping[str, Any]) -> ScaleDesign:
    try:
        dict(about["training"])
        tree = dict(about["design"])
        shape = BackboneShape(**_exactly(tree.pop("backbone"), BackboneShape))
        return ScaleDesign(
            **{**_exactly(tree, ScaleDesign, "backbone"), "classes": tuple(tree["classes"])},
            backbone=shape,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WeightsError(f"{path} describes itself wrongly: {error}.", _REMEDY) from None


def _exactly(tree: Mapping[str, Any], kind: type, *apart: str) -> dict[str, Any]:
    """The mapping, if it has a value for each field of the dataclass and no other."""
    wanted = {field.name for field in fields(kind)} - set(apart)
    if set(tree) != wanted:
        raise ValueError(f"{kind.__name__} has {', '.join(sorted(tree))}, wanted {', '.join(sorted(wanted))}")
    return dict(tree)


def _check_weights(path: Path, found: Weights, wanted: Weights) -> None:
    """Refuse weights that are missing, unexpected, of another shape or not finite numbers of 32 bits."""
    remedy = "Get the checkpoint again, or train it again."
    for names, what in ((set(wanted) - set(found), "lacks"), (set(found) - set(wanted), "holds unexpected")):
        if names:
            raise WeightsError(f"{path} {what} {_some(names)}.", remedy)
    for name, value in found.items():
        if value.shape != wanted[name].shape:
            shapes = f"{tuple(value.shape)}, wanted {tuple(wanted[name].shape)}"
            raise WeightsError(f"{path}: {name} has the shape {shapes}.", remedy)
        if value.dtype != torch.float32:
            raise WeightsError(f"{path}: {name} is {value.dtype}, wanted torch.float32.", remedy)
        if not bool(value.isfinite().all()):
            raise WeightsError(f"{path}: {name} holds numbers that are not finite.", remedy)


def _some(names: set[str]) -> str:
    first = ", ".join(sorted(names)[:3])
    return first if len(names) <= 3 else f"{first} and {len(names) - 3} more"
