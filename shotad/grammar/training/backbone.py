"""The DINOv2 that a training of shot scale begins from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import ConfigError, Progress, WeightsError, is_model_folder, need_torch
from shotad.grammar.dino_models import MODELS
from shotad.grammar.dinov2 import folder_hash, load_model
from shotad.grammar.scale_net import BackboneShape, ScaleDesign, ScaleNet
from shotad.grammar.training.settings import NetSettings

if TYPE_CHECKING:
    import torch
else:
    torch = need_torch("Training", "train")

KIND = "dinov2"
_PLAIN = {"hidden_act": "gelu", "layer_norm_eps": 1e-6, "qkv_bias": True, "num_channels": 3}
"""What all published DINOv2 have in common, and a checkpoint therefore does not say."""


def start_net(settings: NetSettings, seed: int, progress: Progress) -> tuple[ScaleNet, str]:
    """A net with the weights of its backbone and a fresh head, and what the backbone is called.

    The name holds a hash of the weights and no place of this machine. Raises ConfigError for a backbone
    that is none, and for a design that does not fit it; WeightsError where it cannot be had.
    """
    folder, name = _folder(settings, progress)
    _check_kind(settings, folder)
    model = load_model(folder, KIND)
    design = _design(settings, model.config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = ScaleNet(design, settings.drop_path)
    weights = {k: v for k, v in model.state_dict().items() if k != "embeddings.mask_token"}
    net.backbone.load_state_dict(weights)
    return net, f"{name} {folder_hash(folder)}"


def _folder(settings: NetSettings, progress: Progress) -> tuple[Path, str]:
    known = [name for name, model in MODELS.items() if "registers" not in name]
    if settings.backbone in known:
        return MODELS[settings.backbone].folder(settings.revision, progress), settings.backbone
    folder = Path(settings.backbone).expanduser()
    if not is_model_folder(folder):
        raise ConfigError(
            f"net.backbone = {settings.backbone!r} is neither a name nor a folder with a DINOv2.",
            f"Names: {', '.join(known)}. A folder holds config.json and model.safetensors.",
        )
    return folder, "folder"


def _check_kind(settings: NetSettings, folder: Path) -> None:
    try:
        kind = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type")
    except (OSError, ValueError, AttributeError) as error:
        raise WeightsError(f"{folder / 'config.json'} cannot be read: {error}.", "Fetch it again.") from None
    if kind != KIND:
        raise ConfigError(
            f"net.backbone = {settings.backbone!r} is a {kind}, not a {KIND}.",
            "Take a DINOv2 without registers.",
        )


def _design(settings: NetSettings, config: Any) -> ScaleDesign:
    strange = [name for name, value in _PLAIN.items() if getattr(config, name) != value]
    if strange:
        said = ", ".join(f"{name} = {getattr(config, name)!r}" for name in strange)
        raise ConfigError(
            f"net.backbone = {settings.backbone!r} is no usual DINOv2: {said}.", "Take another."
        )
    try:
        shape = BackboneShape(
            config.hidden_size,
            config.num_hidden_layers,
            config.num_attention_heads,
            config.mlp_ratio,
            config.use_swiglu_ffn,
            config.patch_size,
            config.image_size,
        )
        return ScaleDesign(shape, settings.tuned_blocks, settings.long_side, settings.short_side)
    except ValueError as error:
        raise ConfigError(f"The net cannot be built: {error}.", "Correct the settings of net.") from None
