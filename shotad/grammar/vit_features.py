"""Dense features by DINOv2 (Oquab et al. 2023; registers: Darcet et al. 2024), through transformers or timm.

Shot-by-Shot compares the patch tokens of ViT-g/14 with registers; the smaller sizes are settings. Through
transformers any network of a CLS token and square patches will do, such as DINOv3, by what its config says.
torchvision is not needed: frames are prepared by `shotad.grammar.features`. timm is the second backend, in
its own extra, and gives the same for the same weights: it would resample the position embedding by a recipe
of its own, so that is done as transformers does it, before timm sees it.
"""

from __future__ import annotations

import difflib
import hashlib
import inspect
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import Image, Progress
from shotad.core.config.sight import ComputeSettings
from shotad.core.errors import ConfigError, WeightsError
from shotad.core.model_loading import (
    damaged_model_errors,
    device_of,
    dtype_of,
    first_message_line,
    model_folder,
    require_module,
    require_torch,
    silence_transformers,
    weight_files,
)
from shotad.core.system import processors
from shotad.core.weight_store import file_sha256
from shotad.grammar.features import (
    HINT,
    MODELS,
    PATCH,
    THREAD_SIZE,
    Features,
    all_upright,
    fitted,
    normalised,
)

if TYPE_CHECKING:
    import torch
else:
    torch = require_torch("Threads by DINOv2")

PURPOSE = "Threads by DINOv2"

THRESHOLD = 0.3
"""Matching score above which two shots share a camera set-up (Shot-by-Shot's published code)."""

Tokens = Callable[[Any], Any]
"""``[n, 3, H, W]`` → ``[n, prefix + rows * columns, D]``: CLS, registers, then the patches by row."""

_READERS = 4
"""Threads that make frames small while the model works; Pillow lets go of the interpreter meanwhile."""

_UNUSED = ("embeddings.mask_token", "pooler.")
"""Beginnings of the names of weights that the features do not depend on."""


class DinoV2:
    """Features by a DINOv2, or its like, of the hub or a folder, on the device and in the precision set.

    The tensors of the features are float32 and stay on that device. The same frames in the same order
    give the same bytes on one machine; in other batches the last bits may differ. The weights are read
    at the first use, so that a run that finds its features in the work folder does not read them.
    """

    threshold = THRESHOLD
    agreeing = False

    def __init__(self, folder: Path, label: str, compute: ComputeSettings) -> None:
        """The model in ``folder`` (config.json and safetensors); ``label`` says which it is.

        Raises WeightsError where the folder holds no network of patches, ConfigError for a device that is not
        there, ShotadError without torch or transformers.
        """
        self._folder = folder
        transformers = require_module("transformers", PURPOSE)
        path = folder / "config.json"
        try:
            kind = json.loads(path.read_text(encoding="utf-8"))["model_type"]
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
            patch = getattr(config, "patch_size", 0) or 0
            self._patch = int(patch if isinstance(patch, int) else patch[0])
            self._prefix = 1 + int(getattr(config, "num_register_tokens", 0))
        except damaged_model_errors(PURPOSE) as error:
            raise WeightsError(
                f"{path} is not the config of a model: {first_message_line(error)}.", _DAMAGED
            ) from None
        if self._patch <= 0:
            raise WeightsError(f"The model in {folder} is a {kind}, which has no patches.", KINDS)
        self._runner = Runner(compute)
        made_by = "dinov2" if kind.startswith("dinov2") else kind
        self.identity = f"{made_by}:{label}:{self._runner.precision}"

    @classmethod
    def named(cls, name: str, compute: ComputeSettings, progress: Progress | None = None) -> DinoV2:
        """A published model, by its name here or on the hub; fetched from there if it is not in its cache.

        Raises WeightsError where it cannot be had, and what the constructor raises.
        """
        repo = MODELS[name].repo if name in MODELS else name
        folder = model_folder(repo, None, progress, hint=HINT)
        return cls(folder, f"{repo}@{folder.name}", compute)

    @classmethod
    def in_folder(cls, folder: Path, compute: ComputeSettings) -> DinoV2:
        """A model that somebody saved in a folder; known by its name and the hash of its files."""
        return cls(folder, f"{folder.resolve().name}@{folder_hash(folder)}", compute)

    def of(self, images: Sequence[Image]) -> Features:
        """Features of ``images``, as `shotad.grammar.features.FeatureMaker` says.

        Raises WeightsError where the weights are damaged or do not fit their config.json.
        """
        return self._runner.features(images, self._tokens, self._prefix, self._patch)

    def _tokens(self, pixels: Any) -> Any:
        # What a model must be told that was trained on square pictures of one size
        name = "interpolate_pos_encoding"
        size_options = {name: True} if name in inspect.signature(self._model.forward).parameters else {}
        tokens = self._model(pixel_values=pixels, **size_options).last_hidden_state
        patches = (pixels.shape[2] // self._patch) * (pixels.shape[3] // self._patch)
        if tokens.ndim != 3 or tokens.shape[1] != self._prefix + patches:
            raise WeightsError(
                f"The model in {self._folder} gives {list(tokens.shape[1:])} for a frame, not a CLS token, "
                f"{self._prefix - 1} registers and {patches} patches.",
                KINDS,
            )
        return tokens

    @cached_property
    def _model(self) -> Any:
        return self._runner.place(load_model(self._folder))


def load_model(folder: Path) -> Any:
    """The module that config.json names, with the weights of a folder, float32, on the CPU.

    Raises WeightsError where a weight is missing, damaged or of another shape.
    """
    transformers = require_module("transformers", PURPOSE)
    try:
        with silence_transformers(transformers):
            model, report = transformers.AutoModel.from_pretrained(
                folder, dtype="float32", use_safetensors=True, local_files_only=True, output_loading_info=True
            )
    except damaged_model_errors(PURPOSE) as error:
        raise WeightsError(
            f"The model in {folder} cannot be loaded: {first_message_line(error)}.", _DAMAGED
        ) from None
    missing = sorted(key for key in report["missing_keys"] if not key.startswith(_UNUSED))
    if missing:
        raise WeightsError(
            f"The model in {folder} lacks {len(missing)} of its weights, such as {missing[0]}.", _DAMAGED
        )
    return model


_DAMAGED = "Fetch or save it again, whole."
KINDS = "Networks with a CLS token and square patches are read, such as DINOv2 and DINOv3."


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
    digests = [file_sha256(path) for path in (folder / "config.json", *files)]
    return f"sha256:{hashlib.sha256(' '.join(digests).encode()).hexdigest()[:16]}"


_EXTRA = "timm"


class TimmFeatures:
    """Features by one of timm's DINOv2 models, with the same promises as `DinoV2`."""

    threshold = THRESHOLD
    agreeing = False

    def __init__(self, name: str, compute: ComputeSettings, progress: Progress | None = None) -> None:
        """The model that timm calls ``name``, such as ``vit_small_patch14_dinov2.lvd142m``.

        Fetched from the hub if it is not in its cache. Raises ConfigError for a name that is none of
        timm's DINOv2 models, WeightsError where the weights cannot be had, ShotadError without timm.
        """
        timm = require_module("timm", f"Threads by timm:{name}", _EXTRA)
        check_name(name, timm.list_pretrained("*dinov2*"))
        self._name = name
        # Position embeddings by grid, resampled from the one that was trained, for a square grid
        self._resampled: dict[tuple[int, int], Any] = {}
        self._runner = Runner(compute)
        self._folder = model_folder(f"timm/{name}", None, progress, hint=HINT)
        self.identity = f"timm:{name}@{self._folder.name}:{self._runner.precision}"

    def of(self, images: Sequence[Image]) -> Features:
        """Features of ``images``, as `shotad.grammar.features.FeatureMaker` says.

        Raises WeightsError where the weights are damaged or are not those of the model.
        """
        patch = int(self._model.patch_embed.patch_size[0])
        return self._runner.features(images, self._tokens, self._model.num_prefix_tokens, patch)

    def _tokens(self, pixels: Any) -> Any:
        patch = int(self._model.patch_embed.patch_size[0])
        rows, columns = pixels.shape[2] // patch, pixels.shape[3] // patch
        if (rows, columns) not in self._resampled:
            prefix, antialias = int(not self._model.no_embed_class), self._model.reg_token is not None
            positions = resampled(self._square, (rows, columns), prefix, antialias)
            self._resampled[rows, columns] = torch.nn.Parameter(positions, requires_grad=False)
        self._model.pos_embed = self._resampled[rows, columns]
        return self._model.forward_features(pixels)

    @cached_property
    def _model(self) -> Any:
        model = load_timm_model(self._name, self._folder)
        # Its own check is for one size; upright film has another, and both fit the positions given.
        model.patch_embed.strict_img_size = False
        placed = self._runner.place(model)
        self._square = placed.pos_embed.detach().float()
        return placed


def check_name(name: str, known_names: Sequence[str]) -> None:
    """Raises ConfigError, with the nearest of ``known_names``, for a name that is not among them."""
    if name not in known_names:
        near = difflib.get_close_matches(name, known_names, n=3, cutoff=0.4) or sorted(known_names)[:3]
        raise ConfigError(
            f"threads.features = 'timm:{name}' is none of timm's DINOv2 models.",
            f"Nearest: {', '.join(f'timm:{other}' for other in near)}.",
        )


def resampled(positions: Any, grid: tuple[int, int], prefix: int, antialias: bool) -> Any:
    """A position embedding ``[1, prefix + n * n, D]`` for another grid: ``[1, prefix + rows * columns, D]``.

    Bicubic, and antialiased for the models with registers alone, as transformers' Dinov2Model and
    Dinov2WithRegistersModel do it (and the published code of each).
    """
    prefix_positions, patches = positions[:, :prefix], positions[:, prefix:]
    side = round(patches.shape[1] ** 0.5)
    if grid == (side, side):
        return positions
    square = patches.reshape(1, side, side, -1).permute(0, 3, 1, 2)
    turned = torch.nn.functional.interpolate(
        square, size=grid, mode="bicubic", align_corners=False, antialias=antialias
    )
    return torch.cat((prefix_positions, turned.permute(0, 2, 3, 1).flatten(1, 2)), dim=1)


def load_timm_model(name: str, folder: Path) -> Any:
    """timm's module with the weights of a folder, float32, on the CPU.

    Raises WeightsError where a weight is missing, damaged, unknown or of another shape.
    """
    timm = require_module("timm", f"Threads by timm:{name}", _EXTRA)
    safetensors = require_module("safetensors.torch", f"Threads by timm:{name}")
    try:
        model = timm.create_model(name, pretrained=False, num_classes=0)
        weights = {
            key: value for path in weight_files(folder) for key, value in safetensors.load_file(path).items()
        }
        model.load_state_dict({key: value.float() for key, value in weights.items()}, strict=True)
    except damaged_model_errors(f"Threads by timm:{name}") as error:
        raise WeightsError(
            f"The model {name} in {folder} cannot be loaded: {first_message_line(error)}.",
            "Fetch it again, whole.",
        ) from None
    return model


class Runner:
    """How a model is run: where, how precisely, and how many frames at once.

    bfloat16 is for matrix products alone: what flows between the layers, their norms and the position
    embedding stay float32. That costs 3 % of the time of bfloat16 throughout and leaves about a third of
    its largest error (ViT-S and B, random weights, benchmarks/LOG.md).
    """

    def __init__(self, compute: ComputeSettings) -> None:
        """As the settings say. Raises ConfigError for a device that is not there."""
        self._device, self._batch = device_of(compute), compute.batch
        self._dtype = dtype_of(compute, self._device)
        self.precision = str(self._dtype).removeprefix("torch.")

    def place(self, model: Any) -> Any:
        """The module on its device, its matrices in their precision; the module itself is changed."""
        for module in model.modules():
            if isinstance(module, (torch.nn.Linear, torch.nn.Conv2d)):
                module.to(self._dtype)
        return model.to(self._device).eval()

    def features(self, images: Sequence[Image], tokens: Tokens, prefix: int, patch: int) -> Features:
        """Features of ``images`` by ``tokens``, whose first ``prefix`` tokens are no patches.

        ``patch`` is the side of a patch in pixels. The tensors are float32, on the device. Raises ValueError
        for no images, and for upright and broad ones together.
        """
        size = frame_size(patch)
        columns, rows = (side // patch for side in (reversed(size) if all_upright(images) else size))
        parts: list[Any] = []
        lower = self._dtype != torch.float32
        with ThreadPoolExecutor(min(_READERS, processors())) as pool:
            small = pool.map(partial(fitted, long_side=size[0], short_side=size[1]), images)
            for start in range(0, len(images), self._batch):
                pixels = normalised([next(small) for _ in images[start : start + self._batch]])
                # CUDA's convolutions as precise as asked for (no TF32)
                exact = torch.backends.cudnn.flags(
                    enabled=True, benchmark=False, deterministic=True, allow_tf32=False
                )
                mixed = torch.autocast(self._device.type, torch.bfloat16, enabled=lower)
                on_gpu = self._device.type == "cuda"
                with torch.inference_mode(), mixed, exact if on_gpu else nullcontext():
                    frame_tokens = tokens(torch.from_numpy(pixels).to(self._device))
                    parts.append(torch.nn.functional.normalize(frame_tokens.float(), dim=-1))
        # In tensors that autograd may use; each batch goes as soon as it is copied.
        patches = torch.empty(len(images), rows * columns, parts[0].shape[2], device=self._device)
        whole = torch.empty(len(images), parts[0].shape[2], device=self._device)
        start = 0
        while parts:
            frame_tokens = parts.pop(0)
            patches[start : start + len(frame_tokens)] = frame_tokens[:, prefix:]
            whole[start : start + len(frame_tokens)] = frame_tokens[:, 0]
            start += len(frame_tokens)
        return Features(patches, whole, (rows, columns))


def frame_size(patch: int) -> tuple[int, int]:
    """Longer and shorter side, in pixels, of a frame for patches of ``patch`` pixels: what DINOv2 looks at
    where that divides into them, else as many of these patches as DINOv2 has there, 16 by 12.

    >>> frame_size(14), frame_size(16)
    ((224, 168), (256, 192))
    """
    long_side, short_side = THREAD_SIZE
    if long_side % patch == short_side % patch == 0:
        return THREAD_SIZE
    return long_side // PATCH * patch, short_side // PATCH * patch
