"""From a model's folder to what makes its input: template, frame rules or processor. Reads no weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from shotad.core import Clip, ConfigError, EngineError, FrameSettings, Message, Request, broken, need, reason
from shotad.engines.local.frames import bounds_of
from shotad.engines.local.names import ModelPlace
from shotad.engines.local.vision_qwen import FAMILY, IMAGE, VIDEO, QwenWords, qwen_rules
from shotad.engines.local.vision_stills import StillWords, make_processor, read_settings
from shotad.engines.local.vision_talk import Template
from shotad.engines.local.wording import Refused

FramesAs = Literal["auto", "video", "images"]


class Words(Protocol):
    """What makes a model's input out of requests."""

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """Tokens of a clip."""
        ...

    def prompt(self, request: Request) -> str:
        """The words, with marks where frames belong. Raises Refused where the template cannot."""
        ...

    def length(self, request: Request) -> int:
        """Tokens of a prompt, frames included."""
        ...

    def inputs(self, requests: Sequence[Request]) -> dict[str, Any]:
        """What the model is given; all of the requests have a clip, or none has."""
        ...


def make_words(
    place: ModelPlace, config: Any, tokenizer: Any, frames: FrameSettings, shown: FramesAs
) -> Words:
    """What makes the input of the model in ``place``.

    Raises EngineError for a model that takes no images, or whose processor cannot be made without
    torchvision; ConfigError where frames are to be a video and the model takes none.
    """
    _check_kind(config, place.label)
    text = _template(place.folder)
    if config.model_type in FAMILY:
        made: Words = _qwen(
            place, config, Template(tokenizer, text, place.label, (VIDEO, IMAGE)), frames, shown
        )
    elif shown == "video":
        raise ConfigError(
            f"local.frames_as = 'video' cannot be used with {place.label} ({config.model_type}), "
            "which is shown stills here.",
            "Set it to auto.",
        )
    else:
        processor = make_processor(place.folder, config, tokenizer, text, place.label)
        made = StillWords(Template(tokenizer, text, place.label, (processor.image_token,)), processor)
    _try(made, place.label)
    return made


def _try(words: Words, label: str) -> None:
    """See that frames can be shown at all. Raises EngineError."""
    failures: tuple[type[Exception], ...] = (*broken(label), ImportError, NameError)
    clip = Clip(np.zeros((2, 56, 56, 3), np.uint8), np.arange(2.0), np.ones(2, np.int64))
    try:
        words.prompt(Request("", (Message("user", "What is seen?", with_clip=True),), clip))
        words.image_tokens(56, 56, 2)
    except Refused as error:
        raise EngineError(
            f"{label} cannot be asked about a clip: {error}.", "Choose another model.", again=False
        ) from None
    except failures as error:
        raise EngineError(
            f"The processor of {label} cannot be used here: {reason(error)}.",
            "If it names a package, install that; else choose another model.",
            again=False,
        ) from None


def _qwen(
    place: ModelPlace, config: Any, template: Template, frames: FrameSettings, shown: FramesAs
) -> QwenWords:
    missing = [mark for mark in (VIDEO, IMAGE) if mark not in template.tokenizer.get_vocab()]
    if missing:
        raise EngineError(
            f"The tokenizer of {place.label} has no {' and no '.join(missing)}.",
            "Fetch or save it again, whole.",
            again=False,
        )
    pad = template.tokenizer.pad_token_id
    return QwenWords(
        template,
        FAMILY[config.model_type],
        qwen_rules(_frame_settings(place.folder), getattr(config, "vision_config", None)),
        bounds_of(frames),
        as_video=shown != "images",
        pad=0 if pad is None else pad,
    )


def _check_kind(config: Any, label: str) -> None:
    if type(config) not in need("transformers", "A local model").MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
        raise EngineError(
            f"{label} ({config.model_type}) is no model that takes images and answers in words.",
            "Choose one that does, such as qwen2-vl-7b.",
            again=False,
        )


def _template(folder: Path) -> str | None:
    """The processor's own chat template; None leaves it to the tokenizer's."""
    for file in ("chat_template.jinja", "chat_template.json", "processor_config.json"):
        path = folder / file
        if path.suffix == ".jinja" and path.is_file():
            return path.read_text(encoding="utf-8")
        found = read_settings(path).get("chat_template")
        if isinstance(found, str):
            return found
    return None


def _frame_settings(folder: Path) -> dict[str, Any]:
    """The settings of the video processor; of the image processor where there are none."""
    whole = read_settings(folder / "processor_config.json")
    return (
        read_settings(folder / "video_preprocessor_config.json")
        or whole.get("video_processor")
        or read_settings(folder / "preprocessor_config.json")
        or whole.get("image_processor")
        or {}
    )
