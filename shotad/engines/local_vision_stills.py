"""Image-text models other than Qwen's: frames as a list of stills, made ready by the model's own processor.

Transformers' ``AutoProcessor`` wants torchvision for every model that has a video processor. The processor is
therefore put together from its parts: tokenizer, image processor of the PIL kind, and no video processor. The
words of a request come from the tokenizer's chat template, with marks where frames belong.
"""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import EngineError, Request, broken, loading_quiet, need, reason
from shotad.engines.local_words import Refused, Template, turns

_STAND_INS = {"SmolVLMProcessor": "Idefics3Processor"}
"""SmolVLM's processor wants num2words, for videos only; Idefics3's writes the same for stills."""

_TILING = ("do_image_splitting", "crop_to_patches", "do_pan_and_scan")
"""Switches of image processors that show a still once more in tiles, at many times the tokens. They are off:
a clip's frames are small, and so their makers show the frames of a video (SmolVLM, InternVL)."""

_PLACE_OF_NAME = ("processor_config.json", "preprocessor_config.json", "tokenizer_config.json")


@dataclass(frozen=True, slots=True)
class StillWords:
    """Words and frames of a model with a processor of its own."""

    template: Template
    processor: Any
    _measured: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """Tokens of ``frames`` stills: measured once on black ones."""
        key = (width, height, frames)
        if key not in self._measured:
            black = np.zeros((frames, height, width, 3), np.uint8)
            marks = self.mark * frames
            whole = len(self._asked([marks], [list(black)])["input_ids"][0])
            self._measured[key] = whole - len(self.template.tokenizer(marks)["input_ids"]) + frames
        return self._measured[key]

    def length(self, request: Request) -> int:
        """Tokens of a request's prompt, frames included."""
        words = len(self.template.ids(self.prompt(request)))
        clip = request.clip
        if clip is None:
            return words
        return words - len(clip) + self.image_tokens(clip.images.shape[2], clip.images.shape[1], len(clip))

    def inputs(self, requests: Sequence[Request]) -> dict[str, Any]:
        """Tensors of all that the model is given, padded on the left."""
        prompts = [self.prompt(request) for request in requests]
        stills = [[] if r.clip is None else list(r.clip.images) for r in requests]
        return dict(self._asked(prompts, stills, return_tensors="pt"))

    @property
    def mark(self) -> str:
        """What stands for a still in a prompt."""
        return str(self.processor.image_token)

    def prompt(self, request: Request) -> str:
        """The prompt with one mark for each still. Raises Refused where the template cannot."""
        shown = 0 if request.clip is None else len(request.clip)
        prompt = self.template.prompt(turns(request, "image", shown))
        if (seen := prompt.count(self.mark)) != shown:
            raise Refused(f"the chat template of {self.template.label} shows {seen} of {shown} frames")
        return prompt

    def _asked(
        self, prompts: list[str], stills: list[list[npt.NDArray[np.uint8]]], **more: Any
    ) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.processor(
            text=prompts,
            **({"images": stills} if any(stills) else {}),
            padding=True,
            padding_side="left",
            add_special_tokens=not self.template.begun(prompts[0]),
            input_data_format="channels_last",
            **{name: False for name in _TILING if hasattr(self.processor.image_processor, name)},
            **more,
        )
        return found


def make_processor(folder: Path, config: Any, tokenizer: Any, template: str | None, label: str) -> Any:
    """The model's own processor, without its part for videos.

    Raises EngineError that says what is missing where it cannot be made here.
    """
    transformers = need("transformers", "A local model")
    name = _processor_name(folder, config)
    kind = getattr(transformers, _STAND_INS.get(name, name), None) if name else None
    if kind is None:
        raise EngineError(
            f"{label} ({config.model_type}) has no processor in transformers {transformers.__version__}.",
            "Choose another model, or a newer transformers.",
            again=False,
        )
    purpose = f"The processor of {label}"
    failures: tuple[type[Exception], ...] = (*broken(purpose), ImportError)
    try:
        with loading_quiet(transformers):
            images = transformers.AutoImageProcessor.from_pretrained(
                folder, backend="pil", config=config, local_files_only=True
            )
        made = _without_videos(kind)(
            image_processor=images,
            # A copy: while one thread prepares with padding, another reads answers, and tokenizers forbid it.
            tokenizer=copy.deepcopy(tokenizer),
            chat_template=template,
            **_options(folder, kind),
        )
    except failures as error:
        raise EngineError(
            f"{purpose} ({name}) cannot be used here: {reason(error)}.",
            "If it names a package, install that; else choose another model.",
            again=False,
        ) from None
    if not isinstance(getattr(made, "image_token", None), str):
        raise EngineError(f"{purpose} ({name}) has no mark for images.", "Choose another model.", again=False)
    return made


def _processor_name(folder: Path, config: Any) -> str | None:
    for file in _PLACE_OF_NAME:
        if name := read_settings(folder / file).get("processor_class"):
            return str(name)
    names = need("transformers.models.auto.processing_auto", "A local model").PROCESSOR_MAPPING_NAMES
    found = names.get(config.model_type)
    return None if found is None else str(found)


def _without_videos(kind: Any) -> Any:
    """The processor class, content to have no video processor (which needs torchvision)."""

    def check(self: Any, name: str, part: Any) -> Any:
        if part is None and "video" in name:
            return None
        return kind.check_argument_for_proper_class(self, name, part)

    made = type(kind.__name__, (kind,), {"check_argument_for_proper_class": check})
    if "video_processor" not in inspect.signature(kind.__init__).parameters:
        return made
    return lambda **parts: made(video_processor=None, **parts)


def _options(folder: Path, kind: Any) -> dict[str, Any]:
    """What the processor's own file says of the arguments that its class takes."""
    taken = set(inspect.signature(kind.__init__).parameters)
    taken -= {"self", "args", "kwargs", "tokenizer", "image_processor", "video_processor", "chat_template"}
    return {
        name: value
        for name, value in read_settings(folder / "processor_config.json").items()
        if name in taken
    }


def read_settings(file: Path) -> dict[str, Any]:
    """A JSON object; empty where the file is missing or holds no object."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
