"""The settings of ``shotad train scale``, and how training pictures are changed in ways that leave the scale.

The recipe stands in configs/train-scale.yaml. The usual random resized crop is left out on purpose: it is a
zoom, and turns a medium shot into a close-up while the label stays. What remains: mirror, colour, softness,
noise, JPEG, a small shift at the same size and black bars, which occur in films of every scale.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from PIL import Image as Pictures
from pydantic import Field

from shotad.core import Image, Settings
from shotad.core.config.sight import ComputeSettings


class AugmentSettings(Settings):
    """How strongly, and how often (chances from 0 to 1) training pictures are changed."""

    enabled: bool = True
    flip: float = Field(0.5, ge=0, le=1)
    """Chance of a mirrored picture."""
    colour: float = Field(0.8, ge=0, le=1)
    """Chance that brightness, contrast, saturation and hue are changed."""
    brightness: float = Field(0.3, ge=0, lt=1)
    """Factor from 1 - this to 1 + this; the same for contrast and saturation."""
    contrast: float = Field(0.3, ge=0, lt=1)
    saturation: float = Field(0.3, ge=0, lt=1)
    hue: float = Field(0.03, ge=0, le=0.5)
    """Part of the whole turn of hues, in both directions."""
    greyscale: float = Field(0.1, ge=0, le=1)
    """Chance of a picture without colour: there are black and white films."""
    blur: float = Field(0.15, ge=0, le=1)
    """Chance of a slight softness. Strong blur is avoided: it is itself a sign of closeness."""
    blur_radius: float = Field(0.003, ge=0, le=1)
    """Largest radius, as a part of the picture's height."""
    noise: float = Field(0.15, ge=0, le=1)
    """Chance of grain."""
    noise_level: float = Field(10.0, ge=0, le=255)
    """Largest standard deviation, of 255."""
    jpeg: float = Field(0.2, ge=0, le=1)
    """Chance of the marks of compression."""
    jpeg_quality: int = Field(40, ge=5, le=95)
    """Lowest quality."""
    shift: float = Field(0.5, ge=0, le=1)
    """Chance of a shift at the same size; what comes in at the edge is the mirrored picture."""
    shift_size: float = Field(0.05, ge=0, lt=0.5)
    """Largest shift, as a part of width and height."""
    bars: float = Field(0.1, ge=0, le=1)
    """Chance of black bars, above and below or at the sides, over the picture's edge."""
    bars_size: float = Field(0.12, ge=0, lt=0.5)
    """Largest bar, as a part of the height or width, at each side."""


class DataSettings(Settings):
    """How the labelled shots are read."""

    annotation: str | None = None
    """The JSON file inside the data's folder, where MovieShots has several."""
    missing: float = Field(0.02, ge=0, le=1)
    """Largest share of shots whose files may be absent, and of shots whose clips cannot be read."""
    seed: int = Field(42, ge=0, le=2**63 - 1)
    """Of the split into train, val and test, where the data brings none."""
    workers: int | None = Field(None, ge=0, le=1024)
    """Processes that read and change pictures, for each process that trains; 0 reads them between the steps.
    None: one for each processor that the training process has to itself, at most 16."""
    frames: Literal[0, 1, 3, 5, 7, 9] = 3
    """Frames that are taken out of each clip before the first epoch, and kept as JPEG. Training picks one of
    them by chance; val and test use the middle one. 0: any frame of the clip, decoded each time."""
    cache: str | None = None
    """Folder in which these frames are kept; several trainings may share it. None: ``frames`` in --out."""


class NetSettings(Settings):
    """What is trained: method.md's classifier by default."""

    backbone: str = "dinov2-base"
    """``dinov2-small`` … ``dinov2-giant``, or a folder that save_pretrained of transformers wrote."""
    revision: str | None = None
    """Of the backbone on its hub; None: what is at hand, or else the newest."""
    tuned_blocks: int = Field(6, ge=0, le=1000)
    long_side: int = Field(448, ge=14, le=8192)
    short_side: int = Field(336, ge=14, le=8192)
    """Pixels of what the net sees."""
    drop_path: float = Field(0.0, ge=0, lt=1)
    """Chance that a tuned block is skipped, per image (stochastic depth)."""


class OptimSettings(Settings):
    """AdamW, its rates and the loss."""

    lr: float = Field(5e-5, ge=1e-12, le=10)
    """Of the last block, at the top of its course."""
    head_factor: float = Field(10.0, ge=1e-6, le=1e6)
    """How many times that rate the linear layer learns with: it alone begins from nothing."""
    layer_decay: float = Field(1.0, ge=0.001, le=1)
    """Rate of a block as a part of that of the block behind it."""
    weight_decay: float = Field(0.05, ge=0, le=10)
    """Of matrices; biases, norms and layer scales have none."""
    warmup: float = Field(0.05, ge=0, lt=1)
    """Part of all steps in which the rate rises; then it falls by a cosine."""
    floor: float = Field(0.01, ge=0, le=1)
    """Part of the rate that is left at the end."""
    clip: float = Field(1.0, ge=1e-6, le=1e6)
    """Largest norm of the gradient."""
    class_weights: Literal["inverse", "none"] = "none"
    """``inverse``: a picture counts by the inverse frequency of its class in train."""
    label_smoothing: float = Field(0.0, ge=0, lt=1)


class ScaleTraining(Settings):
    """Everything that can be set for a training of shot scale."""

    seed: int = Field(42, ge=0, le=2**63 - 1)
    epochs: int = Field(10, ge=1, le=100_000)
    batch: int = Field(64, ge=1, le=1_000_000)
    """Pictures of one step, over all processes. ``compute.batch`` says how many of them go through one
    device at once; where that is fewer, gradients are summed up. Losses do not depend on that, nor on the
    number of processes, except for the blocks that ``net.drop_path`` skips by chance."""
    patience: int | None = Field(None, ge=1, le=100_000)
    """Epochs without a better macro-F1 on val after which training ends; None: never."""
    save_every: int = Field(500, ge=1, le=10_000_000)
    """Steps after which the state is saved, so that a killed run can go on."""
    log_every: int = Field(10, ge=1, le=10_000_000)
    """Steps of which the log holds the mean."""
    tensorboard: bool = True
    data: DataSettings = DataSettings()
    net: NetSettings = NetSettings()
    optim: OptimSettings = OptimSettings()
    augment: AugmentSettings = AugmentSettings()
    compute: ComputeSettings = ComputeSettings(batch=64)


def result_settings(settings: ScaleTraining) -> dict[str, Any]:
    """The settings as JSON, without those that change no result: where and how fast it runs, what it logs.

    A run may go on with others of these.
    """
    return settings.model_dump(mode="json", exclude=_WITHOUT_EFFECT)


_WITHOUT_EFFECT: Any = {
    "save_every": True,
    "log_every": True,
    "tensorboard": True,
    "compute": True,
    "data": {"workers", "cache"},
}


def augmented(image: Image, rng: random.Random, settings: AugmentSettings) -> Image:
    """A changed copy of ``image`` (RGB ``uint8[H, W, 3]``), of the same size and the same shot scale.

    The same ``image``, state of ``rng`` and ``settings`` give the same bytes.
    """
    if not settings.enabled:
        return image.copy()
    changed = image
    for chance_of, change in _CHANGES:
        if rng.random() < chance_of(settings):
            changed = change(changed, rng, settings)
    return np.array(changed, dtype=np.uint8)


def _flip(image: Image, rng: random.Random, settings: AugmentSettings) -> Image:
    return image[:, ::-1]


def _shift(image: Image, rng: random.Random, settings: AugmentSettings) -> Image:
    for axis in (0, 1):
        size = image.shape[axis]
        by = round(rng.uniform(-1, 1) * settings.shift_size * size)
        places = np.abs(np.arange(size) - by)
        image = image.take(np.where(places < size, places, 2 * (size - 1) - places), axis=axis)
    return image


def _colour(image: Image, rng: random.Random, settings: AugmentSettings) -> Image:
    brightness, contrast, saturation = (
        1 + rng.uniform(-1, 1) * size
        for size in (settings.brightness, settings.contrast, settings.saturation)
    )
    angle = 2 * np.pi * (rng.uniform(-1, 1) * settings.hue)
    turn = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    turn_of_hue = np.linalg.inv(_YIQ) @ turn @ _YIQ
    to_grey = np.tile(_LUMA, (3, 1))
    saturate = to_grey + (np.eye(3) - to_grey) * saturation
    change = brightness * saturate @ turn_of_hue
    # A change of contrast is a factor, and a shift back to the old mean. One pixel of 16 is enough for that.
    mean = float(change.mean(0) @ image[::4, ::4].reshape(-1, 3).mean(0))
    shift = np.full((3, 1), (1 - contrast) * mean)
    # All four in one product of 3 x 4, which Pillow makes four times as fast as NumPy.
    matrix = np.hstack([contrast * change, shift])
    return np.asarray(Pictures.fromarray(image).convert("RGB", tuple(matrix.ravel().tolist())))


_LUMA = np.array([0.299, 0.587, 0.114])

_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
"""RGB to the NTSC colour space, in which hue is an angle and lightness stays as it is."""


def _greyscale(image: Image, rng: random.Random, settings: AugmentSettings) -> Image:
    return np.asarray(Pictures.fromarray(image).convert("L").convert("RGB"))


def _blur(image: Image, rng: random.Random, settings: AugmentSettings) -> Image:
    import cv2

    deviation = rng.random() * settings.blur_radius * image.shape[0]
    # OpenCV, for it takes a tenth of Pillow's time; it makes its own kernel for a deviation above 0.
    return np.asarray(cv2.GaussianBlur(image, (0, 0), max(deviation, 0.01)), dtype=np.uint8)


def _noise(image: Image, rng: random.Random, settings: AugmentSettings) -> Image:
    level = rng.random() * settings.noise_level
    grain = np.random.default_rng(rng.getrandbits(64)).standard_normal(image.shape[:2], np.float32)
    steps = np.rint(level * grain).astype(np.int16)
    return np.asarray(np.clip(image + steps[..., None], 0, 255), dtype=np.uint8)


def _jpeg(image: Image, rng: random.Random, settings: AugmentSettings) -> Image:
    file = io.BytesIO()
    Pictures.fromarray(image).save(file, "JPEG", quality=rng.randint(settings.jpeg_quality, 95))
    return np.asarray(Pictures.open(file).convert("RGB"))


def _bars(image: Image, rng: random.Random, settings: AugmentSettings) -> Image:
    barred = image.copy()
    across = rng.random() < 0.5
    shown = barred if across else barred.swapaxes(0, 1)
    size = round(rng.random() * settings.bars_size * shown.shape[0])
    shown[:size] = 0
    shown[shown.shape[0] - size :] = 0
    return barred


_Change = Callable[[Image, random.Random, AugmentSettings], Image]

_CHANGES: tuple[tuple[Callable[[AugmentSettings], float], _Change], ...] = (
    (lambda s: s.flip, _flip),
    (lambda s: s.shift, _shift),
    (lambda s: s.colour, _colour),
    (lambda s: s.greyscale, _greyscale),
    (lambda s: s.blur, _blur),
    (lambda s: s.noise, _noise),
    (lambda s: s.bars, _bars),
    (lambda s: s.jpeg, _jpeg),
)
"""In the order in which they befall a film: framing, colour, lens, grain, mastering, coding."""
