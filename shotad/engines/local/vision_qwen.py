"""What Qwen's vision-language models are given: frames as one video or as stills, words around them.

Nothing of transformers' processors is used, so that torchvision is never needed. What they do is kept:

- Qwen2-VL gets no times; temporal patches are numbered.
- Qwen2.5-VL gets one figure, the seconds between two temporal patches. Uneven frames have no such figure:
  it is the mean over the clip, which keeps the clip's length right.
- Qwen3-VL and Qwen3.5 read times in words before each temporal patch, the mean of its frames' moments. Uneven
  frames are no difficulty: the words give the moments at which they really stand, from the clip's first
  frame. The block stands in place of the template's own marks, as in the processor of the models' authors
  (transformers 4.57) and in vLLM; transformers 5.10 and later leave those marks around the block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shotad.core import Request
from shotad.engines.local.frames import (
    Bounds,
    Grid,
    Patches,
    PatchRules,
    grid_of,
    image_patches,
    tokens_in,
    video_patches,
)
from shotad.engines.local.vision_talk import Template, turns
from shotad.engines.local.wording import Refused

Times = Literal["none", "interval", "words"]

FAMILY: dict[str, Times] = {
    "qwen2_vl": "none",
    "qwen2_5_vl": "interval",
    "qwen3_vl": "words",
    "qwen3_vl_moe": "words",
    "qwen3_5": "words",
    "qwen3_5_moe": "words",
}
"""Model types whose frames are prepared here, and how they are told of time."""

START, END = "<|vision_start|>", "<|vision_end|>"
VIDEO, IMAGE = "<|video_pad|>", "<|image_pad|>"


@dataclass(frozen=True, slots=True)
class QwenWords:
    """Words and frames of a model of the family, made ready for it. ``pad`` fills rows up."""

    template: Template
    times: Times
    rules: PatchRules
    bounds: Bounds
    as_video: bool
    pad: int

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Width and height at which the model sees a frame."""
        return self.bounds.size(width, height, self.rules)

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """Tokens of a clip, without the marks and times around them."""
        wide, high = self.size(width, height)
        if self.as_video:
            return tokens_in(grid_of(wide, high, frames, self.rules), self.rules)
        return frames * tokens_in((1, high // self.rules.patch, wide // self.rules.patch), self.rules)

    def length(self, request: Request) -> int:
        """Tokens of a request's prompt, frames included."""
        return len(self.tokens(request))

    def inputs(self, requests: Sequence[Request]) -> dict[str, Any]:
        """All that the model is given, padded on the left; tensors, but for `second_per_grid_ts`, a list."""
        import torch

        from shotad.engines.local.answering import padded

        words = padded([self.tokens(request) for request in requests], self.pad)
        found = {name: torch.from_numpy(values) for name, values in self.arrays(requests).items()}
        return {
            **words,
            "mm_token_type_ids": self._kinds(words["input_ids"]),
            **found,
            **self._intervals(requests),
        }

    def prompt(self, request: Request) -> str:
        """The prompt with one mark for the video, or one for each still. Raises Refused."""
        kind, mark = ("video", VIDEO) if self.as_video else ("image", IMAGE)
        clip = request.clip
        shown = 0 if clip is None else 1 if self.as_video else len(clip)
        prompt = self.template.prompt(turns(request, kind, shown))
        if prompt.count(mark) != shown:
            raise Refused(f"the chat template of {self.template.label} has no place for {kind}s")
        return prompt

    def tokens(self, request: Request) -> list[int]:
        """The tokens of a request's prompt, a placeholder for each that a frame takes."""
        prompt, clip = self.prompt(request), request.clip
        if clip is not None:
            size = self.size(clip.images.shape[2], clip.images.shape[1])
            prompt = self._filled(prompt, grid_of(*size, len(clip), self.rules), clip.seconds)
        return self.template.ids(prompt)

    def arrays(self, requests: Sequence[Request]) -> dict[str, npt.NDArray[Any]]:
        """Pixels and grids of the requests that have a clip, one after the other.

        ``pixel_values_videos`` is ``float32[patches, values]`` and ``video_grid_thw`` ``int64[clips, 3]``;
        ``pixel_values`` and ``image_grid_thw`` where frames are stills.
        """
        clips = [request.clip for request in requests if request.clip is not None]
        if not clips:
            return {}
        sizes = [self.size(clip.images.shape[2], clip.images.shape[1]) for clip in clips]
        if not self.as_video:
            stills = [
                image_patches(image, size, self.rules)
                for clip, size in zip(clips, sizes, strict=True)
                for image in clip.images
            ]
            return _joined(stills, "pixel_values", "image_grid_thw")
        videos = [
            video_patches(clip.images, size, self.rules) for clip, size in zip(clips, sizes, strict=True)
        ]
        return _joined(videos, "pixel_values_videos", "video_grid_thw")

    def _intervals(self, requests: Sequence[Request]) -> dict[str, list[float]]:
        """As a list, for tensors with a fraction are rounded to the model's precision."""
        clips = [request.clip for request in requests if request.clip is not None]
        if self.times != "interval" or not self.as_video or not clips:
            return {}
        return {"second_per_grid_ts": [seconds_per_patch(clip.seconds, self.rules.depth) for clip in clips]}

    def _kinds(self, ids: Any) -> Any:
        """What kind each token is: 0 words, 1 stills, 2 video."""
        one, two = (self.template.tokenizer.convert_tokens_to_ids(mark) for mark in (IMAGE, VIDEO))
        return (ids == one).long() + 2 * (ids == two).long()

    def _filled(self, prompt: str, grid: Grid, seconds: npt.NDArray[np.float64]) -> str:
        if not self.as_video:
            still = tokens_in((1, *grid[1:]), self.rules)
            return prompt.replace(IMAGE, IMAGE * still)
        if self.times != "words":
            return prompt.replace(VIDEO, VIDEO * tokens_in(grid, self.rules))
        one = VIDEO * tokens_in((1, *grid[1:]), self.rules)
        moments = patch_seconds(seconds, self.rules.depth)
        block = "".join(f"<{moment:.1f} seconds>{START}{one}{END}" for moment in moments)
        whole = f"{START}{VIDEO}{END}"
        return prompt.replace(whole if whole in prompt else VIDEO, block)


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


def qwen_rules(settings: Mapping[str, Any], vision: Any) -> PatchRules:
    """The rules of a model: its processor's settings; where these are silent, its vision config's."""
    known = {
        "patch_size": getattr(vision, "patch_size", None),
        "merge_size": getattr(vision, "spatial_merge_size", None),
        "temporal_patch_size": getattr(vision, "temporal_patch_size", None),
    }
    return PatchRules.of({**{k: v for k, v in known.items() if v is not None}, **settings})


def _joined(parts: Sequence[Patches], pixels: str, grids: str) -> dict[str, npt.NDArray[Any]]:
    return {
        pixels: np.concatenate([part.values for part in parts]),
        grids: np.array([part.grid for part in parts], np.int64),
    }
