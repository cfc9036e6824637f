"""Image-text models other than Qwen's: frames as a list of stills, made ready by the model's own processor.

Transformers' ``AutoProcessor`` wants torchvision for every model that has a video processor. The processor is
therefore put together from its parts: tokenizer, image processor of the PIL kind, and no video processor. The
words of a request come from the tokenizer's chat template, with marks where frames belong.
"""

from __future__ import annotations

import copy
import inspect
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import numpy.typing as npt

from shotad.core import EngineError, Message, Request, broken, loading_quiet, need, reason
from shotad.engines.local_chat import Refused

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


Turn = dict[str, Any]
"""``role``, and ``content``: parts with a ``type`` (``video``, ``image``, ``text``), or plain words."""

_DAY = datetime(2024, 7, 26)  # noqa: DTZ001  a date that is written out, in no zone
"""What templates that tell the model the date are given: an answer must not depend on the day of the run."""


def turns(request: Request, kind: str, shown: int) -> list[Turn]:
    """The messages as chat templates of image-text models want them: a list of parts for each turn.

    ``shown`` marks of ``kind`` (``video``, ``image``) stand before the text of the first turn that is
    marked ``with_clip`` (of the first turn of the user where none is), as in the published prompts.
    """
    place = _place(request.messages) if request.clip is not None else None
    return [
        {
            "role": message.role,
            "content": [
                *([{"type": kind}] * (shown if number == place else 0)),
                {"type": "text", "text": message.text},
            ],
        }
        for number, message in enumerate(request.messages)
    ]


def _place(messages: Sequence[Message]) -> int:
    marked = [number for number, message in enumerate(messages) if message.with_clip]
    user = [number for number, message in enumerate(messages) if message.role == "user"]
    return (marked or user or [0])[0]


class Template:
    """A model's chat template, with its tokenizer.

    Raises EngineError where there is none. ``marks`` are words that, like the model's special tokens, no
    message may contain: they are taken out of it.
    """

    def __init__(self, tokenizer: Any, text: str | None, label: str, marks: Collection[str] = ()) -> None:
        self.tokenizer = tokenizer
        self.label = label
        self.text = text or tokenizer.chat_template
        if not self.text:
            raise EngineError(
                f"{label} has no chat template, so it cannot be asked.",
                "Choose a model tuned for chat.",
                again=False,
            )
        named = {str(one) for one in tokenizer.added_tokens_decoder.values() if one.special}
        words = sorted({*named, *tokenizer.all_special_tokens, *marks} - {""}, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, words)) or r"(?!)")

    def prompt(self, talk: Sequence[Turn]) -> str:
        """The whole prompt, up to where the answer begins. Raises Refused where the template cannot."""
        clean = [{**turn, "content": [self._clean(part) for part in turn["content"]]} for turn in talk]
        words = [part["text"].strip() for turn in clean for part in turn["content"] if "text" in part]
        why = "it leaves out a part of the conversation"
        for way in _WAYS:
            try:
                found = self._rendered(way(clean))
            except (jinja2.TemplateError, TypeError, ValueError, LookupError) as error:
                why = str(error)
                continue
            if all(one in found for one in words):
                return found
        raise Refused(f"the chat template of {self.label} cannot be used: {why}")

    def ids(self, prompt: str) -> list[int]:
        """The prompt's tokens, with one beginning-of-text token where the model has such."""
        found = self.tokenizer(prompt, add_special_tokens=not self.begun(prompt), verbose=False)
        return list(found["input_ids"])

    def begun(self, prompt: str) -> bool:
        """True where the template has written the beginning-of-text token itself."""
        bos = self.tokenizer.bos_token
        return bos is not None and prompt.startswith(bos)

    def _rendered(self, talk: Sequence[Turn]) -> str:
        return str(
            self.tokenizer.apply_chat_template(
                list(talk),
                chat_template=self.text,
                tokenize=False,
                add_generation_prompt=True,
                enable_thinking=False,  # of models that think aloud unless told otherwise (Qwen3.5)
                date_string=_DAY.strftime("%d %b %Y"),
                strftime_now=_DAY.strftime,
            )
        )

    def _clean(self, part: Turn) -> Turn:
        return {**part, "text": self._special.sub("", part["text"])} if "text" in part else part


def alternating(talk: Sequence[Turn]) -> list[Turn]:
    """Neighbours of the same role joined, with an empty line between their words."""
    found: list[Turn] = []
    for turn in talk:
        if found and found[-1]["role"] == turn["role"]:
            first, *others = turn["content"]
            gap = {"type": "text", "text": "\n\n"}
            joined = [{**first, "text": f"\n\n{first['text']}"}] if "text" in first else [gap, first]
            found[-1] = {**turn, "content": [*found[-1]["content"], *joined, *others]}
        else:
            found.append(turn)
    return found


def folded(talk: Sequence[Turn]) -> list[Turn]:
    """What the system says, put before the words of the first turn of the user, behind its frames."""
    system = [part["text"] for turn in talk if turn["role"] == "system" for part in turn["content"]]
    others = alternating([turn for turn in talk if turn["role"] != "system"])
    if not system or not others:
        return others
    parts = list(others[0]["content"])
    place = next(number for number, part in enumerate(parts) if "text" in part)
    parts[place] = {**parts[place], "text": "\n\n".join([*system, parts[place]["text"]])}
    return [{**others[0], "content": parts}, *others[1:]]


def plain(talk: Sequence[Turn]) -> list[Turn]:
    """Turns of words alone as strings, for templates that know no parts."""
    return [
        {**turn, "content": "".join(part["text"] for part in turn["content"])}
        if all("text" in part for part in turn["content"])
        else turn
        for turn in talk
    ]


_WAYS: tuple[Callable[[Sequence[Turn]], list[Turn]], ...] = (
    list,
    alternating,
    folded,
    plain,
    lambda talk: plain(alternating(talk)),
    lambda talk: plain(folded(talk)),
)
"""How a conversation is offered to a template, until it takes it whole."""
