"""The settings of ``shotad train scale``; the recipe stands in configs/train-scale.yaml."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from shotad.core import ComputeSettings, Settings
from shotad.grammar.training.augment import AugmentSettings


class DataSettings(Settings):
    """How the labelled shots are read."""

    annotation: str | None = None
    """The JSON file inside the data's folder, where MovieShots has several."""
    missing: float = Field(0.02, ge=0, le=1)
    """Largest share of annotated shots whose files may be absent."""
    seed: int = Field(42, ge=0)
    """Of the split into train, val and test, where the data brings none."""
    workers: int = Field(4, ge=0)
    """Processes that read and change pictures, for each GPU; 0 reads them in between."""


class NetSettings(Settings):
    """What is trained: method.md's classifier by default."""

    backbone: str = "dinov2-base"
    """``dinov2-small`` … ``dinov2-giant``, or a folder that save_pretrained of transformers wrote."""
    revision: str | None = None
    """Of the backbone on its hub; None: what is at hand, or else the newest."""
    tuned_blocks: int = Field(6, ge=0)
    long_side: int = Field(448, ge=14)
    short_side: int = Field(336, ge=14)
    """Pixels of what the net sees."""
    drop_path: float = Field(0.0, ge=0, lt=1)
    """Chance that a tuned block is skipped, per image (stochastic depth)."""


class OptimSettings(Settings):
    """AdamW, its rates and the loss."""

    lr: float = Field(5e-5, gt=0)
    """Of the last block, at the top of its course."""
    head_factor: float = Field(10.0, gt=0)
    """How many times that rate the linear layer learns with: it alone begins from nothing."""
    layer_decay: float = Field(1.0, gt=0, le=1)
    """Rate of a block as a part of that of the block behind it."""
    weight_decay: float = Field(0.05, ge=0)
    """Of matrices; biases, norms and layer scales have none."""
    warmup: float = Field(0.05, ge=0, lt=1)
    """Part of all steps in which the rate rises; then it falls by a cosine."""
    floor: float = Field(0.01, ge=0, le=1)
    """Part of the rate that is left at the end."""
    clip: float = Field(1.0, gt=0)
    """Largest norm of the gradient."""
    class_weights: Literal["inverse", "none"] = "none"
    """``inverse``: a picture counts by the inverse frequency of its class in train."""
    label_smoothing: float = Field(0.0, ge=0, lt=1)


class ScaleTraining(Settings):
    """Everything that can be set for a training of shot scale."""

    seed: int = Field(42, ge=0)
    epochs: int = Field(10, ge=1)
    batch: int = Field(64, ge=1)
    """Pictures of one step, over all processes. ``compute.batch`` says how many of them go through one
    device at once; where that is fewer, gradients are summed up. Losses depend on neither."""
    patience: int | None = Field(None, ge=1)
    """Epochs without a better macro-F1 on val after which training ends; None: never."""
    save_every: int = Field(500, ge=1)
    """Steps after which the state is saved, so that a killed run can go on."""
    log_every: int = Field(10, ge=1)
    """Steps of which the log holds the mean."""
    tensorboard: bool = True
    data: DataSettings = DataSettings()
    net: NetSettings = NetSettings()
    optim: OptimSettings = OptimSettings()
    augment: AugmentSettings = AugmentSettings()
    compute: ComputeSettings = ComputeSettings(batch=64)


def what_matters(settings: ScaleTraining) -> dict[str, Any]:
    """The settings as JSON, without those that change no result: where and how fast it runs, what it logs.

    A run may go on with others of these.
    """
    return settings.model_dump(mode="json", exclude=_INDIFFERENT)


_INDIFFERENT: Any = {
    "save_every": True,
    "log_every": True,
    "tensorboard": True,
    "compute": True,
    "data": {"workers"},
}
