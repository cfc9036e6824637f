"""Dense features by DINOv2 through timm: the second backend, in its own extra.

It gives what `shotad.grammar.dinov2` gives for the same weights. timm would resample the position
embedding by a recipe of its own; here it is done as transformers does it, before timm sees it.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from shotad.core import (
    ComputeSettings,
    ConfigError,
    Image,
    Progress,
    WeightsError,
    broken,
    model_folder,
    need,
    need_torch,
    reason,
    weight_files,
)
from shotad.grammar.base import Features
from shotad.grammar.dino_models import HINT
from shotad.grammar.tokens import PURPOSE, THRESHOLD, Runner, patch_grid

torch: Any = need_torch(PURPOSE)

_EXTRA = "timm"


class TimmFeatures:
    """Features by one of timm's DINOv2 models, with the same promises as `shotad.grammar.dinov2.DinoV2`."""

    threshold = THRESHOLD

    def __init__(
        self, name: str, revision: str | None, compute: ComputeSettings, progress: Progress | None = None
    ) -> None:
        """The model that timm calls ``name``, such as ``vit_small_patch14_dinov2.lvd142m``.

        Fetched from the hub if it is not in its cache. Raises ConfigError for a name that is none of
        timm's DINOv2 models, WeightsError where the weights cannot be had, ShotadError without timm.
        """
        timm = need("timm", f"Threads by timm:{name}", _EXTRA)
        check_name(name, timm.list_pretrained("*dinov2*"))
        self._name = name
        self._runner = Runner.of(compute)
        self._folder = model_folder(f"timm/{name}", revision, progress, hint=HINT)
        self.identity = f"timm:{name}@{self._folder.name}:{self._runner.precision}"

    def of(self, images: Sequence[Image]) -> Features:
        """Features of ``images``, as `shotad.grammar.base.FeatureMaker` says.

        Raises WeightsError where the weights are damaged or are not those of the model.
        """
        grid = patch_grid(int(self._model.patch_embed.patch_size[0]), self._name)
        return self._runner.features(images, self._tokens, self._model.num_prefix_tokens, grid)

    def _tokens(self, pixels: Any) -> Any:
        patch = int(self._model.patch_embed.patch_size[0])
        rows, columns = pixels.shape[2] // patch, pixels.shape[3] // patch
        self._model.pos_embed = self._positions(rows, columns)
        return self._model.forward_features(pixels)

    def _positions(self, rows: int, columns: int) -> Any:
        if (rows, columns) not in self._resampled:
            self._resampled[rows, columns] = torch.nn.Parameter(
                resampled(
                    self._square,
                    (rows, columns),
                    prefix=0 if self._model.no_embed_class else 1,
                    antialias=self._model.reg_token is not None,
                ),
                requires_grad=False,
            )
        return self._resampled[rows, columns]

    @cached_property
    def _model(self) -> Any:
        model = load_model(self._name, self._folder)
        # Its own check is for one size; upright film has another, and both fit the positions given.
        model.patch_embed.strict_img_size = False
        return self._runner.place(model)

    @cached_property
    def _square(self) -> Any:
        """The position embedding as it was trained, for a square grid."""
        return self._model.pos_embed.detach().float()

    @cached_property
    def _resampled(self) -> dict[tuple[int, int], Any]:
        return {}


def check_name(name: str, known: Sequence[str]) -> None:
    """Raises ConfigError, with the nearest of ``known``, for a name that is not among them."""
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.4) or sorted(known)[:3]
        raise ConfigError(
            f"threads.features = 'timm:{name}' is none of timm's DINOv2 models.",
            f"Nearest: {', '.join(f'timm:{other}' for other in near)}.",
        )


def resampled(positions: Any, grid: tuple[int, int], prefix: int, antialias: bool) -> Any:
    """A position embedding ``[1, prefix + n * n, D]`` for another grid: ``[1, prefix + rows * columns, D]``.

    Bicubic, and antialiased for the models with registers alone, as transformers' Dinov2Model and
    Dinov2WithRegistersModel do it (and the published code of each).
    """
    kept, patches = positions[:, :prefix], positions[:, prefix:]
    side = round(patches.shape[1] ** 0.5)
    if grid == (side, side):
        return positions
    square = patches.reshape(1, side, side, -1).permute(0, 3, 1, 2)
    turned = torch.nn.functional.interpolate(
        square, size=grid, mode="bicubic", align_corners=False, antialias=antialias
    )
    return torch.cat((kept, turned.permute(0, 2, 3, 1).flatten(1, 2)), dim=1)


def load_model(name: str, folder: Path) -> Any:
    """timm's module with the weights of a folder, float32, on the CPU.

    Raises WeightsError where a weight is missing, damaged, unknown or of another shape.
    """
    timm = need("timm", f"Threads by timm:{name}", _EXTRA)
    safetensors = need("safetensors.torch", f"Threads by timm:{name}")
    try:
        model = timm.create_model(name, pretrained=False, num_classes=0)
        weights = {
            key: value for path in weight_files(folder) for key, value in safetensors.load_file(path).items()
        }
        model.load_state_dict({key: value.float() for key, value in weights.items()}, strict=True)
    except broken(f"Threads by timm:{name}") as error:
        raise WeightsError(
            f"The model {name} in {folder} cannot be loaded: {reason(error)}.", "Fetch it again, whole."
        ) from None
    return model
