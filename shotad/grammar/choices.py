"""Features of threads and readers of shot scale, by name, or what ``auto`` takes here."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from shotad.core import Progress, ShotadError
from shotad.core.config.sight import (
    ComputeSettings,
    ScaleSettings,
    ThreadSettings,
)
from shotad.core.errors import ConfigError, did_you_mean
from shotad.core.installation import install_command
from shotad.core.model_loading import (
    cached_model_folder,
    device_of,
    require_module,
    require_torch,
)
from shotad.core.system import memory_total
from shotad.core.weight_store import manifest, weights_file
from shotad.grammar.features import MODELS, FeatureMaker, ScaleReader

_TIMM, _HUB = "timm:", "hub:"

_ON_GPU = ("giant-registers", "giant", "large-registers", "large", "base-registers", "base",
           "small-registers", "small")  # fmt: skip
_ON_CPU = ("base-registers", "base", "small-registers", "small", "large-registers", "large",
           "giant-registers", "giant")  # fmt: skip
"""What ``auto`` prefers. On a processor base comes first: 0.4 s for a frame where giant takes 5."""


def make_feature_maker(
    threads: ThreadSettings, compute: ComputeSettings, progress: Progress | None = None
) -> FeatureMaker | None:
    """The features that the settings ask for; None where threads are not wanted (``none``).

    A published model that is not at hand is fetched from the hub; ``auto`` fetches nothing.
    Raises ConfigError for a name that is none and for a device that is not there, WeightsError for
    weights that cannot be had or read, ShotadError where an extra is not installed.
    """
    name = threads.features
    if name == "auto":
        name = auto_choice(compute)[0]
    if name == "none":
        return None
    if name == "grid":
        from shotad.grammar.grid_features import GridFeatures

        return GridFeatures()
    folder = Path(name).expanduser()
    published = name in MODELS or name.startswith((_TIMM, _HUB))
    if not published and not folder.is_dir():  # first: to say it needs no torch
        known_names = ["auto", "grid", "none", *MODELS]
        raise ConfigError(
            f"threads.features = {name!r} is neither a known name nor a folder.",
            f"{did_you_mean(name, known_names, 2, 0.5)}Known: {', '.join(known_names)}, "
            "timm:NAME, hub:OWNER/NAME, "
            "or a folder with a model.",
        )
    from shotad.grammar.vit_features import DinoV2, TimmFeatures

    if not published:
        return DinoV2.in_folder(folder, compute)
    if name.startswith(_TIMM):
        return TimmFeatures(name.removeprefix(_TIMM), compute, progress)
    return DinoV2.named(name.removeprefix(_HUB), compute, progress)


def features_at_hand() -> dict[str, Path]:
    """The published DINOv2 models in the hub's cache, by name: where each lies. Loads no torch."""
    folders = {name: cached_model_folder(model.repo) for name, model in MODELS.items()}
    return {name: folder for name, folder in folders.items() if folder is not None}


def auto_choice(compute: ComputeSettings) -> tuple[str, str]:
    """The best DINOv2 that is at hand and that this machine can bear, else ``grid``; and why.

    torch is loaded only where weights are at hand. Raises ConfigError for a device that is not there.
    """
    missing = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if missing:
        return "grid", f"{missing[0]} is not installed: {install_command('shotad[models]')}"
    here = features_at_hand()
    if not here:
        return "grid", "no DINOv2 weights are at hand: shotad models pull dinov2-base"
    try:
        for name in ("torch", "transformers"):
            require_module(name, "Threads by DINOv2")
    except ShotadError as error:
        return "grid", error.what.rstrip(".")
    device = device_of(compute)
    if device.type == "cuda":
        memory = require_torch("A model").cuda.get_device_properties(device).total_memory
    else:
        memory = memory_total()
    # The weights in float32, and as much again for the work, must fit.
    bearable = {name for name in here if memory is None or 2 * MODELS[name].bytes <= memory}
    order = _ON_CPU if device.type == "cpu" else _ON_GPU
    best = next((name for part in order if (name := f"dinov2-{part}") in bearable), None)
    if best is None:
        return "grid", f"{', '.join(here)} at hand, too large for the memory of {device}"
    others = ", ".join(name for name in here if name != best)
    return best, f"at hand, on {device}" + (f"; also here: {others}" if others else "")


ROLE = "shot scale"
"""What a manifest entry says it is for where it may be used as ``scale.checkpoint``."""


def make_scale_reader(
    scale: ScaleSettings, compute: ComputeSettings, progress: Progress | None = None
) -> ScaleReader | None:
    """The reader that ``scale.method`` names, its weights fetched; None for ``none``.

    Raises ConfigError for a classifier without a checkpoint, and for a checkpoint that is neither a file
    nor a name in the manifest; WeightsError where weights cannot be had or are damaged.
    """
    method = method_of(scale)
    if method == "none":
        return None
    if method == "classifier":
        checkpoint = _checkpoint(scale)  # first: what is wrong with it needs no torch to be said
        file = checkpoint if isinstance(checkpoint, Path) else weights_file(checkpoint, progress)
        from shotad.grammar.scale_net import ScaleClassifier

        classifier: ScaleReader = ScaleClassifier.load(file, compute)
        return classifier
    from shotad.grammar.by_face import ByFace

    return ByFace(progress)


def method_of(scale: ScaleSettings) -> str:
    """The method that is used: ``classifier``, ``by-face`` or ``none``."""
    if scale.method == "auto":
        return "by-face" if scale.checkpoint is None else "classifier"
    return scale.method


def scale_weights(scale: ScaleSettings) -> tuple[str, ...]:
    """Names in the manifest of the weights that the reader needs; none for a checkpoint that is a file.

    Raises ConfigError as `make_scale_reader` does.
    """
    method = method_of(scale)
    if method == "by-face":
        from shotad.grammar.by_face import WEIGHTS

        return WEIGHTS
    if method == "classifier":
        name = _checkpoint(scale)
        return () if isinstance(name, Path) else (name,)
    return ()


def _checkpoint(scale: ScaleSettings) -> Path | str:
    """The checkpoint's file, or its name in the manifest."""
    if scale.checkpoint is None:
        raise ConfigError(
            "scale.method = classifier needs a checkpoint, and scale.checkpoint is not set.",
            "Set scale.checkpoint to a file made by `shotad train scale`, or take scale.method = by-face, "
            "which needs none.",
        )
    path = Path(scale.checkpoint).expanduser()
    if path.is_file():
        return path
    entries = manifest()
    if scale.checkpoint not in entries:
        names = [name for name, entry in entries.items() if entry.role == ROLE]
        raise ConfigError(
            f"scale.checkpoint = {scale.checkpoint!r} is neither a file nor a name in the manifest.",
            f"{' or '.join(['Name a file made by `shotad train scale`', *names])}.",
        )
    role = entries[scale.checkpoint].role
    if role != ROLE:
        raise ConfigError(
            f"scale.checkpoint = {scale.checkpoint!r} names weights for {role}, not for {ROLE}.",
            "Name a file made by `shotad train scale`.",
        )
    return scale.checkpoint
