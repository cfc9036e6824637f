"""Dense features by DINOv2 through transformers (Oquab et al. 2023; registers: Darcet et al. 2024).

Shot-by-Shot compares the patch tokens of ViT-g/14 with registers; the smaller sizes are settings.
torchvision is not needed: frames are prepared by `shotad.grammar.pixels`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from shotad.core import (
    ComputeSettings,
    Image,
    Progress,
    WeightsError,
    broken,
    loading_quiet,
    need,
    reason,
    weight_files,
)
from shotad.grammar.base import Features
from shotad.grammar.dino_models import MODELS
from shotad.grammar.tokens import PURPOSE, THRESHOLD, Runner, patch_grid

CLASSES = {"dinov2": "Dinov2Model", "dinov2_with_registers": "Dinov2WithRegistersModel"}
"""``model_type`` of config.json → class of transformers."""

_UNUSED = {"embeddings.mask_token"}
"""Weights of the training task, which the features do not depend on."""


class DinoV2:
    """Features by a DINOv2 of the hub or of a folder, on the device and in the precision that is set.

    The tensors of the features are float32 and stay on that device. The same frames in the same order
    give the same bytes on one machine; in other batches the last bits may differ. The weights are read
    at the first use, so that a run that finds its features in the work folder does not read them.
    """

    threshold = THRESHOLD

    def __init__(self, folder: Path, label: str, compute: ComputeSettings) -> None:
        """The model in ``folder`` (config.json and safetensors); ``label`` says which it is.

        Raises WeightsError where the folder holds no DINOv2, ConfigError for a device that is not there,
        ShotadError without torch or transformers.
        """
        self._folder = folder
        self._kind, patch, self._prefix = _read_config(folder)
        self._grid = patch_grid(patch, label)
        self._runner = Runner.of(compute)
        self.identity = f"dinov2:{label}:{self._runner.precision}"

    @classmethod
    def named(
        cls, name: str, revision: str | None, compute: ComputeSettings, progress: Progress | None = None
    ) -> DinoV2:
        """One of the published models, by its name here; fetched from the hub if it is not in its cache.

        Raises WeightsError where it cannot be had, and what the constructor raises.
        """
        model = MODELS[name]
        folder = model.folder(revision, progress)
        return cls(folder, f"{model.repo}@{folder.name}", compute)

    @classmethod
    def in_folder(cls, folder: Path, compute: ComputeSettings) -> DinoV2:
        """A model that somebody saved in a folder; known by its name and the hash of its files."""
        return cls(folder, f"{folder.resolve().name}@{folder_hash(folder)}", compute)

    def of(self, images: Sequence[Image]) -> Features:
        """Features of ``images``, as `shotad.grammar.base.FeatureMaker` says.

        Raises WeightsError where the weights are damaged or do not fit their config.json.
        """
        return self._runner.features(images, self._tokens, self._prefix, self._grid)

    def _tokens(self, pixels: Any) -> Any:
        return self._model(pixel_values=pixels).last_hidden_state

    @cached_property
    def _model(self) -> Any:
        return self._runner.place(load_model(self._folder, self._kind))


def load_model(folder: Path, kind: str) -> Any:
    """The module of ``CLASSES[kind]`` with the weights of a folder, float32, on the CPU.

    Raises WeightsError where a weight is missing, damaged or of another shape.
    """
    transformers = need("transformers", PURPOSE)
    try:
        with loading_quiet(transformers):
            model, report = getattr(transformers, CLASSES[kind]).from_pretrained(
                folder, dtype="float32", use_safetensors=True, local_files_only=True, output_loading_info=True
            )
    except broken(PURPOSE) as error:
        raise WeightsError(f"The model in {folder} cannot be loaded: {reason(error)}.", _DAMAGED) from None
    missing = sorted(set(report["missing_keys"]) - _UNUSED)
    if missing:
        raise WeightsError(
            f"The model in {folder} lacks {len(missing)} of its weights, such as {missing[0]}.", _DAMAGED
        )
    return model


_DAMAGED = "Fetch or save it again, whole."


def folder_hash(folder: Path) -> str:
    """``sha256:`` and 16 digits over config.json and the weights of a model folder.

    Raises WeightsError where one of them is missing.
    """
    files = weight_files(folder)
    if not files or not (folder / "config.json").is_file():
        raise WeightsError(
            f"The folder {folder} holds no model: config.json and model.safetensors are needed.",
            "Give the folder that save_pretrained of transformers wrote.",
        )
    digests = [
        _sha256(path, path.stat().st_size, path.stat().st_mtime_ns)
        for path in (folder / "config.json", *files)
    ]
    return f"sha256:{hashlib.sha256(' '.join(digests).encode()).hexdigest()[:16]}"


@cache
def _sha256(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read_config(folder: Path) -> tuple[str, int, int]:
    """Kind of model, pixels along a patch, and number of tokens before the patches."""
    transformers = need("transformers", PURPOSE)
    path = folder / "config.json"
    try:
        kind = json.loads(path.read_text(encoding="utf-8"))["model_type"]
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        if kind in CLASSES:
            patch = config.patch_size if isinstance(config.patch_size, int) else config.patch_size[0]
            return kind, int(patch), 1 + int(getattr(config, "num_register_tokens", 0))
    except broken(PURPOSE) as error:
        raise WeightsError(f"{path} is not the config of a model: {reason(error)}.", _DAMAGED) from None
    raise WeightsError(
        f"The model in {folder} is a {kind}, not a DINOv2.", f"Kinds that are read: {', '.join(CLASSES)}."
    )
