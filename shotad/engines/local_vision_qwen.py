"""What Qwen's vision-language models are given: frames as one video, words around them.

Nothing of transformers' processors is used, so that torchvision is never needed. Where the authors' package
qwen-vl-utils is installed, its ``process_vision_info`` gives the frames their size; without it the same
values come from Pillow. What the processors do is kept:

- Qwen2-VL gets no times; temporal patches are numbered.
- Qwen2.5-VL gets one figure, the seconds between two temporal patches. Uneven frames have no such figure:
  it is the mean over the clip, which keeps the clip's length right.
- Qwen3-VL and Qwen3.5 read times in words before each temporal patch, the mean of its frames' moments. Uneven
  frames are no difficulty: the words give the moments at which they really stand, from the clip's first
  frame. The block stands in place of the template's own marks, as in the processor of the models' authors
  (transformers 4.57) and in vLLM; transformers 5.10 and later leave those marks around the block.

The arithmetic, in numpy, is that of transformers' ``Qwen2VLVideoProcessor``, ``Qwen3VLVideoProcessor`` and
``Qwen2VLImageProcessor`` (Apache-2.0, The Qwen team and The HuggingFace Inc. team): sides rounded to whole
merged patches, values normalised, each patch of two frames one row, the rows of a merged square together.

The positions of all tokens are given to the model too, for transformers 5.18 to 5.24 places the text that
follows a long video among the video's own positions (`token_positions`).
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from PIL import Image

from shotad.core import Request
from shotad.core.config.film import FrameSettings
from shotad.core.types import HEARING_RATE
from shotad.engines.local_words import Template, UnfitPrompt, turns
from shotad.film import resize_images

Times = Literal["none", "interval", "words"]

FAMILY: dict[str, Times] = {
    "qwen2_vl": "none",
    "qwen2_5_vl": "interval",
    "qwen3_vl": "words",
    "qwen3_vl_moe": "words",
    "qwen3_5": "words",
    "qwen3_5_moe": "words",
    "qwen2_5_omni_thinker": "interval",
}
"""Model types whose frames are prepared here, and how they are told of time."""

START, END = "<|vision_start|>", "<|vision_end|>"
VIDEO, IMAGE = "<|video_pad|>", "<|image_pad|>"
OMNI_VIDEO, OMNI_IMAGE, SOUND = "<|VIDEO|>", "<|IMAGE|>", "<|AUDIO|>"
"""The marks of Qwen2.5-Omni."""


@dataclass(frozen=True, slots=True)
class QwenWords:
    """Words, frames and sound, made ready for a model of the family; ``ears`` None: it hears nothing.

    ``positions_per_second`` is how far two frames a second apart stand from each other, for models that get
    their times as an interval.
    """

    template: Template
    times: Times
    rules: PatchRules
    pad: int
    positions_per_second: float = 1.0
    ears: Any = None

    @property
    def video(self) -> str:
        """What stands for a video's token."""
        return OMNI_VIDEO if self.ears else VIDEO

    @property
    def video_id(self) -> int:
        """The id of a video's token."""
        return int(self.template.tokenizer.convert_tokens_to_ids(self.video))

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """Tokens of a clip, without the marks and times around them."""
        return tokens_in(grid_of(*self.rules.size(width, height), frames, self.rules), self.rules)

    def length(self, request: Request) -> int:
        """Tokens of a request's prompt, frames included."""
        return len(self.tokens(request))

    def inputs(self, requests: Sequence[Request]) -> dict[str, Any]:
        """Tensors of all that the model is given, padded on the left."""
        import torch

        from shotad.engines.local_answers import padded

        rows = [self.tokens(request) for request in requests]
        model_input: dict[str, Any] = {**padded(rows, self.pad)}
        # What kind each token is: 0 words, 2 video.
        model_input["mm_token_type_ids"] = 2 * (model_input["input_ids"] == self.video_id).long()
        model_input |= {name: torch.from_numpy(values) for name, values in self.arrays(requests).items()}
        if any(request.clip is not None for request in requests):
            longest = model_input["input_ids"].shape[1]
            # A fourth line, before the positions in time, height and width, counts the tokens: by it
            # transformers finds out whether sequences are packed.
            positions = np.zeros((4, len(rows), longest), np.int64)
            for row, (request, tokens) in enumerate(zip(requests, rows, strict=True)):
                start = longest - len(tokens)
                positions[0, row, start:] = np.arange(len(tokens))
                positions[1:, row, start:] = self.positions(request, tokens)
            model_input["position_ids"] = torch.from_numpy(positions)
        if sounds := [sound for request in requests if (sound := self._sound(request)) is not None]:
            features = self.ears(
                sounds,
                sampling_rate=HEARING_RATE,
                # With silence behind it, as its makers have it: else the last frame would be another in a
                # batch.
                padding="max_length",
                max_length=max(map(len, sounds)) + HEARING_RATE,
                return_attention_mask=True,
                return_tensors="pt",
            )
            model_input["input_features"] = features["input_features"]
            model_input["feature_attention_mask"] = features["attention_mask"]
        return model_input

    def prompt(self, request: Request) -> str:
        """The prompt with one mark for the video, and one for its sound. Raises UnfitPrompt."""
        videos, sounds = int(request.clip is not None), int(self._sound(request) is not None)
        parts = [{"type": "video"}] * videos + [{"type": "audio"}] * sounds
        prompt = self.template.prompt(turns(request, parts))
        if (prompt.count(self.video), prompt.count(SOUND)) != (videos, sounds):
            raise UnfitPrompt(
                f"the chat template of {self.template.label} has no place for videos or their sound"
            )
        return prompt

    def tokens(self, request: Request) -> list[int]:
        """The tokens of a request's prompt, a placeholder for each that a frame takes."""
        prompt, clip = self.prompt(request), request.clip
        if clip is not None:
            size = self.rules.size(clip.images.shape[2], clip.images.shape[1])
            prompt = self._filled(prompt, grid_of(*size, len(clip), self.rules), clip.seconds)
        if (sound := self._sound(request)) is not None:
            # As Qwen2.5-Omni's encoder has it: two halvings of its frames.
            frames: int = -(-len(sound) // self.ears.hop_length)
            prompt = prompt.replace(SOUND, SOUND * (((frames - 1) // 2 - 1) // 2 + 1))
        return self.template.ids(prompt)

    def arrays(self, requests: Sequence[Request]) -> dict[str, npt.NDArray[Any]]:
        """Pixels and grids of the requests that have a clip, one after the other.

        ``pixel_values_videos`` is ``float32[patches, values]`` and ``video_grid_thw`` ``int64[clips, 3]``.
        """
        clips = [request.clip for request in requests if request.clip is not None]
        if not clips:
            return {}
        sizes = [self.rules.size(clip.images.shape[2], clip.images.shape[1]) for clip in clips]
        videos = [
            video_patches(clip.images, size, self.rules) for clip, size in zip(clips, sizes, strict=True)
        ]
        return {
            "pixel_values_videos": np.concatenate([values for values, _ in videos]),
            "video_grid_thw": np.array([grid for _, grid in videos], np.int64),
        }

    def positions(self, request: Request, tokens: Sequence[int]) -> npt.NDArray[np.int64]:
        """``int64[3, tokens]``: where the tokens of a request's prompt stand, see `token_positions`."""
        is_video = [token == self.video_id for token in tokens]
        clip = request.clip
        if clip is None:
            return token_positions(is_video, (1, 1, 1))
        frames, high, wide = grid_of(
            *self.rules.size(clip.images.shape[2], clip.images.shape[1]), len(clip), self.rules
        )
        grid = (frames, high // self.rules.merge, wide // self.rules.merge)
        if self.times == "words":
            # Each temporal patch stands apart, after its time.
            return token_positions(is_video, (1, *grid[1:]))
        if self.times == "interval":
            interval = seconds_per_patch(clip.seconds, self.rules.depth)
            return token_positions(is_video, grid, interval, self.positions_per_second)
        return token_positions(is_video, grid)

    def _sound(self, request: Request) -> npt.NDArray[np.float32] | None:
        return request.clip.sound if self.ears and request.clip is not None else None

    def _filled(self, prompt: str, grid: Grid, seconds: npt.NDArray[np.float64]) -> str:
        if self.times != "words":
            return prompt.replace(self.video, self.video * tokens_in(grid, self.rules))
        frame_tokens = VIDEO * tokens_in((1, *grid[1:]), self.rules)
        moments = patch_seconds(seconds, self.rules.depth)
        block = "".join(f"<{moment:.1f} seconds>{START}{frame_tokens}{END}" for moment in moments)
        marked_video = f"{START}{VIDEO}{END}"
        return prompt.replace(marked_video if marked_video in prompt else VIDEO, block)


def seconds_per_patch(seconds: npt.NDArray[np.float64], depth: int) -> float:
    """Seconds from one temporal patch to the next, the mean over the clip.

    >>> seconds_per_patch(np.array([7.0, 7.5, 9.0]), 2)
    2.0

    One frame, or frames of one moment, count as frames a 24th of a second apart.
    """
    span = float(seconds[-1] - seconds[0])
    return depth * (span / (len(seconds) - 1) if span > 0 else 1 / 24)


def patch_seconds(seconds: npt.NDArray[np.float64], depth: int) -> list[float]:
    """The moment of each temporal patch from the clip's first frame: the mean of its first and last frame.

    >>> patch_seconds(np.array([7.0, 8.0, 11.0]), 2)
    [0.5, 4.0]
    """
    moments = (seconds - seconds[0]).tolist()
    moments += moments[-1:] * (-len(moments) % depth)
    return [(moments[i] + moments[i + depth - 1]) / 2 for i in range(0, len(moments), depth)]


Grid = tuple[int, int, int]
"""Patches in time, from top to bottom, from left to right."""


def token_positions(
    is_video: Sequence[bool], grid: Grid, interval: float = 1.0, per_second: float = 1.0
) -> npt.NDArray[np.int64]:
    """``int64[3, tokens]``: the positions in time, height and width of each token of a prompt.

    ``is_video`` says which tokens stand for a video; ``grid`` is how many of these there are in time, in
    height and in width wherever a video begins. ``interval`` is the seconds from one to the next in time,
    ``per_second`` the positions that a second takes.

    >>> token_positions([False, True, True, False], (2, 1, 1), interval=1.75, per_second=2).tolist()
    [[0, 1, 4, 5], [0, 1, 1, 5], [0, 1, 1, 5]]

    A token of text, or of sound, is one further than all tokens before it, in each of the three. So counts
    the code that the models' authors gave to transformers (#32318, #35569), until 4.57. Transformers 5.18 to
    5.24 goes on after a video by the larger of its height and width alone: where a video is longer than that,
    the text after it takes the positions of the video's own later frames. Positions in time are products of
    float32 numbers, in this order, cut to whole ones (transformers #35569, #48669).
    """
    blocks: list[npt.NDArray[np.int64]] = []
    following = 0
    for in_video, run in groupby(is_video):
        length = sum(1 for _ in run)
        if in_video:
            block = np.indices(grid, np.int64).reshape(3, -1)
            seconds = block[0].astype(np.float32) * np.float32(interval)
            block[0] = seconds * np.float32(per_second)
        else:
            block = np.tile(np.arange(length, dtype=np.int64), (3, 1))
        blocks.append(following + block)
        following += int(block.max()) + 1
    return np.concatenate(blocks, axis=1)


_CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
_CLIP_STD = (0.26862954, 0.26130258, 0.27577711)


@dataclass(frozen=True, slots=True)
class PatchRules:
    """How a model's frames are cut. The defaults are Qwen2-VL's.

    ``patch`` is a patch's side in pixels, ``merge`` x ``merge`` patches become one token, ``depth`` frames
    stand in one patch; ``mean`` and ``std`` are those of red, green and blue after ``rescale``. A frame has
    at least ``min_pixels`` and at most ``max_pixels``.
    """

    patch: int = 14
    merge: int = 2
    depth: int = 2
    mean: tuple[float, float, float] = _CLIP_MEAN
    std: tuple[float, float, float] = _CLIP_STD
    rescale: float = 1 / 255
    min_pixels: int = 0
    max_pixels: float = math.inf

    def __post_init__(self) -> None:
        if min(self.patch, self.merge, self.depth) < 1:
            raise ValueError(f"patches have a side, a merge and a depth of 1 at least, got {self}")
        if len(self.mean) != 3 or len(self.std) != 3 or min(self.std) <= 0:
            raise ValueError(f"frames have three channels, got mean {self.mean} and std {self.std}")

    @property
    def factor(self) -> int:
        """Pixels: the sides of a frame are whole multiples of it."""
        return self.patch * self.merge

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Width and height at which a model with these rules sees a frame, see `smart_size`."""
        return smart_size(width, height, self.factor, self.min_pixels, self.max_pixels)

    @classmethod
    def of(
        cls, settings: Mapping[str, Any], vision: Any = None, frames: FrameSettings | None = None
    ) -> PatchRules:
        """The rules in a processor's settings, as they stand in its JSON file; where these are silent, in the
        model's ``vision`` config. Pixels are bounded by ``frames``, where these give no length of a side.

        >>> PatchRules.of({"patch_size": 16, "merge_size": 2, "image_mean": [0.5, 0.5, 0.5]}).factor
        32
        """

        def number(name: str, name_in_config: str, default: int) -> int:
            in_config = getattr(vision, name_in_config, None)
            return int(settings.get(name, default if in_config is None else in_config))

        is_normalised, min_pixels, max_pixels = settings.get("do_normalize", True), 0, math.inf
        if frames is not None and frames.short_side is None:
            min_pixels, max_pixels = frames.min_pixels, float(frames.max_pixels)
        return cls(
            patch=number("patch_size", "patch_size", 14),
            merge=number("merge_size", "spatial_merge_size", 2),
            depth=number("temporal_patch_size", "temporal_patch_size", 2),
            mean=_three(settings.get("image_mean", _CLIP_MEAN) if is_normalised else 0.0),
            std=_three(settings.get("image_std", _CLIP_STD) if is_normalised else 1.0),
            rescale=float(settings.get("rescale_factor", 1 / 255))
            if settings.get("do_rescale", True)
            else 1.0,
            min_pixels=min_pixels,
            max_pixels=max_pixels,
        )


def smart_size(
    width: int, height: int, factor: int, min_pixels: int = 0, max_pixels: float = math.inf
) -> tuple[int, int]:
    """Width and height, multiples of ``factor``, within the bounds on pixels, nearest to the given shape.

    A frame that has them already keeps its size.

    >>> smart_size(504, 280, 28, 100352, 151200), smart_size(504, 280, 32, 100352, 151200)
    ((504, 280), (512, 288))

    Raises ValueError for a frame more than 200 times as long as broad, as the published processors do.
    """
    if min(width, height) < 1 or max(width, height) > 200 * min(width, height):
        raise ValueError(f"a frame of {width} x {height} is more than 200 times as long as broad")
    wide, high = (round(side / factor) * factor for side in (width, height))
    if wide * high > max_pixels:
        scale = math.sqrt(width * height / max_pixels)
        wide, high = (max(factor, math.floor(side / scale / factor) * factor) for side in (width, height))
    elif wide * high < max(min_pixels, 1):
        scale = math.sqrt(max(min_pixels, 1) / (width * height))
        wide, high = (math.ceil(side * scale / factor) * factor for side in (width, height))
    return wide, high


def grid_of(width: int, height: int, frames: int, rules: PatchRules) -> Grid:
    """The grid of ``frames`` frames whose sides are whole multiples of the factor.

    >>> grid_of(504, 280, 32, PatchRules())
    (16, 20, 36)
    """
    return math.ceil(frames / rules.depth), height // rules.patch, width // rules.patch


def tokens_in(grid: Grid, rules: PatchRules) -> int:
    """How many tokens the language model gets for a grid.

    >>> tokens_in((16, 20, 36), PatchRules())
    2880
    """
    return math.prod(grid) // rules.merge**2


def video_patches(
    images: npt.NDArray[np.uint8], size: tuple[int, int], rules: PatchRules
) -> tuple[npt.NDArray[np.float32], Grid]:
    """``uint8[n, H, W, 3]`` as one video of frames of ``size`` (width, height).

    Gives ``float32[t * h * w, 3 * depth * patch * patch]`` and its grid (t, h, w).

    The last frame is repeated until the number is a multiple of the rules' depth.
    """
    fitted = fit_frames(images, size, rules)
    missing = -len(fitted) % rules.depth
    if missing:
        fitted = np.concatenate([fitted, np.repeat(fitted[-1:], missing, axis=0)])
    n, height, width, _ = fitted.shape
    t, h, w = grid = grid_of(width, height, n, rules)
    m, p = rules.merge, rules.patch
    split = fitted.reshape(t, rules.depth, h // m, m, p, w // m, m, p, 3)
    # Moved as bytes, and normalised after: a quarter of the traffic, and the same values.
    rows = split.transpose(0, 2, 5, 3, 6, 8, 1, 4, 7).reshape(t * h * w, 3, rules.depth * p * p)
    mean, std = (
        (np.array(values, np.float32) / np.float32(rules.rescale)).reshape(1, 3, 1)
        for values in (rules.mean, rules.std)
    )
    values = rows.astype(np.float32)
    values -= mean
    values /= std
    return values.reshape(t * h * w, -1), grid


def fit_frames(
    images: npt.NDArray[np.uint8], size: tuple[int, int], rules: PatchRules
) -> npt.NDArray[np.uint8]:
    """``uint8[n, H, W, 3]`` resized to ``size`` (width, height): bicubic, antialiased.

    The authors' package gets each frame as an image of its own: of a list of frames its releases 0.0.13 and
    0.0.14 make sides that are multiples of four patches first, and blur them. Frames of fewer than four
    tokens it would enlarge; these are resized here.
    """
    if (package := _authors_package()) is not None:
        width, height = size
        parts = [
            {
                "type": "image",
                "image": Image.fromarray(image),
                "resized_width": width,
                "resized_height": height,
            }
            for image in images
        ]
        frames, _ = package.process_vision_info(
            [{"role": "user", "content": parts}], image_patch_size=rules.patch
        )
        if frames[0].size == size:
            return np.stack([np.asarray(frame, np.uint8) for frame in frames])
    return images if images.shape[2:0:-1] == size else resize_images(images, size)


def _authors_package() -> Any:
    """The module qwen_vl_utils; None where it is not installed, or torchvision, which it imports, is not."""
    if importlib.util.find_spec("qwen_vl_utils") is None:
        return None
    try:
        return importlib.import_module("qwen_vl_utils")
    except (ImportError, RuntimeError, OSError):
        return None


def _three(value: Any) -> tuple[float, float, float]:
    red, green, blue = value if isinstance(value, list | tuple) else (value,) * 3
    return float(red), float(green), float(blue)
