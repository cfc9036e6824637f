"""Image-text models other than Qwen's: frames as one video or as stills, by the model's own processor.

Transformers' ``AutoProcessor`` wants torchvision for every model that has a video processor. The processor is
therefore put together from its parts: tokenizer, image processor of the PIL kind, and a video processor
where the model has one and torchvision is here; without it the frames are stills with their times in words.
The words of a request come from the tokenizer's chat template, with marks where frames belong.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core import Clip, EngineError, Request, broken, loading_quiet, need, reason
from shotad.engines.local_words import Refused, Template, Turn, turns

_STAND_INS = {"SmolVLMProcessor": "Idefics3Processor"}
"""SmolVLM's processor wants num2words, for videos only; Idefics3's writes the same for stills."""

_TILING = ("do_image_splitting", "crop_to_patches", "do_pan_and_scan")
"""Switches of image processors that show a still once more in tiles, at many times the tokens. They are off:
a clip's frames are small, and so their makers show the frames of a video (SmolVLM, InternVL)."""

_PLACE_OF_NAME = ("processor_config.json", "preprocessor_config.json", "tokenizer_config.json")


@dataclass(frozen=True, slots=True)
class StillWords:
    """Words and frames of a model with a processor of its own. ``timed``: before each still stands its
    second, counted from the clip's first frame."""

    template: Template
    processor: Any
    timed: bool = False
    _measured: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """Tokens of ``frames`` frames, without the words around them: measured once on black ones."""
        key = (width, height, frames)
        if key not in self._measured:
            clip = black_clip(width, height, frames)
            marks = self.mark * _frames_in(self.parts(clip))
            whole = len(self._asked([marks], [clip], return_tensors="pt")["input_ids"][0])
            words = len(self.template.tokenizer(marks)["input_ids"])
            self._measured[key] = whole - words + _frames_in(self.parts(clip))
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
        clips = [request.clip for request in requests if request.clip is not None]
        return dict(self._asked([self.prompt(one) for one in requests], clips, return_tensors="pt"))

    @property
    def mark(self) -> str:
        """What stands for a still in a prompt."""
        return str(self.processor.image_token)

    def prompt(self, request: Request) -> str:
        """The prompt with one mark for each still. Raises Refused where the template cannot."""
        parts = [] if request.clip is None else self.parts(request.clip)
        prompt, shown = self.template.prompt(turns(request, parts)), _frames_in(parts)
        if (seen := prompt.count(self.mark)) != shown:
            raise Refused(f"the chat template of {self.template.label} shows {seen} of {shown} frames")
        return prompt

    def parts(self, clip: Clip) -> list[Turn]:
        """What stands for the clip, in the words of chat templates."""
        if not self.timed:
            return [{"type": "image"}] * len(clip)
        return [part for stamp in clip.stamps for part in (_text_part(f"{stamp} "), {"type": "image"})]

    def shown(self, clips: Sequence[Clip]) -> dict[str, Any]:
        """The frames as the processor takes them."""
        switches = {name: False for name in _TILING if hasattr(self.processor.image_processor, name)}
        return {"images": [list(clip.images) for clip in clips], **switches}

    def _asked(self, prompts: list[str], clips: Sequence[Clip], **more: Any) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.processor(
            text=prompts,
            **(self.shown(clips) if clips else {}),
            padding=True,
            padding_side="left",
            add_special_tokens=not self.template.begun(prompts[0]),
            input_data_format="channels_last",
            **more,
        )
        return found


class VideoWords(StillWords):
    """The same for a model that has a video processor: the clip is one video, each frame at its true time.

    Most processors write the times before the frames; for one that writes none (InternVL, Perception-LM,
    MiniCPM-V) they are told in a sentence.
    """

    def length(self, request: Request) -> int:
        """Tokens of a request's prompt, frames and their times included."""
        clips = [] if request.clip is None else [request.clip]
        return len(self._asked([self.prompt(request)], clips, return_tensors="pt")["input_ids"][0])

    @property
    def mark(self) -> str:
        """What stands for a video in a prompt."""
        return str(self.processor.video_token)

    def parts(self, clip: Clip) -> list[Turn]:
        """The video, and its frames' times where the processor tells none."""
        if self._tells_times:
            return [{"type": "video"}]
        times = ", ".join(f"{one:.1f}" for one in clip.moments)
        return [{"type": "video"}, _text_part(f"The frames of the video stand at these seconds: {times}.\n")]

    def shown(self, clips: Sequence[Clip]) -> dict[str, Any]:
        """The frames as the processor takes them, all of them and none between."""
        known = [{**clip.video_metadata, "duration": clip.moments[-1]} for clip in clips]
        return {"videos": [clip.images for clip in clips], "video_metadata": known, "do_sample_frames": False}

    @cached_property
    def _tells_times(self) -> bool:
        """Whether the same frames further apart are other words."""
        clips = [black_clip(56, 56, 4, step) for step in (1.0, 3.0)]
        one, other = (self._asked([self.mark], [clip], return_tensors="pt")["input_ids"] for clip in clips)
        return bool(one.tolist() != other.tolist())


def black_clip(width: int, height: int, frames: int, step: float = 1.0) -> Clip:
    """Black frames, ``step`` seconds apart, to try a processor with."""
    images = np.zeros((frames, height, width, 3), np.uint8)
    return Clip(images, step * np.arange(frames, dtype=np.float64), np.ones(frames, np.int64))


def _text_part(text: str) -> Turn:
    return {"type": "text", "text": text}


def _frames_in(parts: Sequence[Turn]) -> int:
    return sum("text" not in part for part in parts)


def make_processor(
    folder: Path, config: Any, tokenizer: Any, template: str | None, label: str, *, videos: bool = False
) -> Any:
    """The model's own processor. Its ``video_processor`` is None where it has none, where it cannot be made
    here (torchvision or num2words is missing), and where no ``videos`` are wanted.

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
    failures: tuple[type[Exception], ...] = (*broken(purpose), ImportError, AttributeError)
    settings = read_settings(folder / "processor_config.json")
    taken = set(inspect.signature(kind.__init__).parameters)
    taken -= {"self", "args", "kwargs", "tokenizer", "image_processor", "video_processor", "chat_template"}
    try:
        with loading_quiet(transformers):
            images = transformers.AutoImageProcessor.from_pretrained(
                folder, backend="pil", config=config, local_files_only=True
            )
        parts = {
            "image_processor": images,
            # A copy: while one thread prepares with padding, another reads answers, and tokenizers forbid it.
            "tokenizer": copy.deepcopy(tokenizer),
            "chat_template": template,
            # What its own file says of the arguments that its class takes
            **{name: value for name, value in settings.items() if name in taken},
        }
        made = _with_videos(transformers, folder, str(name), parts) if videos else None
        made = made or _without_videos(kind, parts)
    except failures as error:
        raise EngineError(
            f"{purpose} ({name}) cannot be used here: {reason(error)}.",
            "Install what it names; if it names nothing, torchvision, in a build that fits torch.",
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


def _with_videos(transformers: Any, folder: Path, name: str, parts: Mapping[str, Any]) -> Any:
    """The whole processor; None where it knows no videos or needs what is not here."""
    try:
        importlib.import_module("torchvision")  # one that does not fit torch fails here, and not with less
        with loading_quiet(transformers):
            video = transformers.AutoVideoProcessor.from_pretrained(folder, local_files_only=True)
        made = getattr(transformers, name)(video_processor=video, **parts)
    except (ImportError, OSError, RuntimeError, TypeError, ValueError):
        return None
    return made if isinstance(getattr(made, "video_token", None), str) else None


def _without_videos(kind: Any, parts: Mapping[str, Any]) -> Any:
    """The processor, content to have no video processor (which needs torchvision)."""

    def check(self: Any, name: str, part: Any) -> Any:
        return None if "video" in name else kind.check_argument_for_proper_class(self, name, part)

    bare = type(kind.__name__, (kind,), {"check_argument_for_proper_class": check})
    if "video_processor" not in inspect.signature(kind.__init__).parameters:
        return bare(**parts)
    made = bare(video_processor=parts["image_processor"], **parts)  # MiniCPM-V's reads settings of it
    made.video_processor = None
    return made


def read_settings(file: Path) -> dict[str, Any]:
    """A JSON object; empty where the file is missing or holds no object."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
