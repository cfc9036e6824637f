"""The words that models of this machine are given: requests as turns, turns by the model's own chat template.
The frames of other image-text models than Qwen's go with them, as one video or as stills.

Transformers' ``AutoProcessor`` wants torchvision for every model that has a video processor. The processor is
therefore put together from its parts: tokenizer, image processor of the PIL kind, and a video processor
where the model has one and torchvision is here; without it the frames are stills with their times in words.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from shotad.core import Clip, Request
from shotad.core.errors import EngineError
from shotad.core.model_loading import (
    damaged_model_errors,
    first_message_line,
    read_settings,
    require_module,
    silence_transformers,
)

Turn = dict[str, Any]
"""``role``, and ``content``: parts with a ``type`` (``video``, ``image``, ``text``), or plain words."""

_DATE = "26 Jul 2024"
"""What templates that tell the date get (Llama 3.1's own): no answer may depend on the day of the run."""

_HARMONY = "<|channel|>"
_LEAST_THOUGHT = {"reasoning_effort": "low"}
"""For templates of the harmony format (gpt-oss), whose models always think; other templates that know this
name know other words for its values."""

_CLOCK = (
    "{%- macro strftime_now(format) -%}{{ format"
    + "".join(
        f" | replace('%{code}', '{value}')"
        for code, value in {
            "d": "26", "b": "Jul", "B": "July", "m": "07", "Y": "2024", "y": "24", "A": "Friday", "a": "Fri",
            "H": "12", "M": "00", "S": "00", "-d": "26", "-m": "7", "j": "208",
        }.items()
    )
    + " }}{%- endmacro -%}"
)  # fmt: skip
"""Put before a template that asks for the time: a clock of its own that stands still."""


class UnfitPrompt(Exception):  # noqa: N818  an answer of the template, not a fault
    """A chat template cannot put a conversation into words; the message says why."""


def turns(request: Request, parts: Sequence[Turn] = ()) -> list[Turn]:
    """The messages as chat templates of image-text models want them: a list of parts for each turn.

    ``parts`` (a ``video``, an ``image``) stand for the clip before the text of the first turn that is marked
    ``with_clip`` (of the first turn of the user where none is), as in the published prompts.
    """
    marked = [number for number, message in enumerate(request.messages) if message.with_clip]
    user = [number for number, message in enumerate(request.messages) if message.role == "user"]
    place = (marked or user or [0])[0] if request.clip is not None else None
    return [
        {
            "role": message.role,
            "content": [*(parts if number == place else ()), {"type": "text", "text": message.text}],
        }
        for number, message in enumerate(request.messages)
    ]


class Template:
    """A model's chat template, with its tokenizer; ``text`` is the processor's own, where there is one.

    ``marks`` are words that, like the model's special tokens, no message may contain: they are taken out of
    it. A model of ``words_only`` gets its turns as strings; without a template one below the other.
    """

    def __init__(
        self,
        tokenizer: Any,
        text: str | None,
        label: str,
        marks: Collection[str] = (),
        *,
        words_only: bool = False,
    ) -> None:
        self.tokenizer = tokenizer
        self.label = label
        self.text: str | None = text or (tokenizer.get_chat_template() if tokenizer.chat_template else None)
        self._ways = _PLAIN_WAYS if words_only else (*_WAYS, *_PLAIN_WAYS)
        named = {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
        words = sorted({*named, *tokenizer.all_special_tokens, *marks} - {""}, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, words)) or r"(?!)")

    @property
    def options(self) -> dict[str, Any]:
        """What ``apply_chat_template`` gets besides the conversation; the model has a template."""
        text = self.text or ""
        return {
            "chat_template": _CLOCK + text if "strftime_now" in text else text,
            "enable_thinking": False,  # of models that think aloud unless told otherwise (Qwen3)
            "date_string": _DATE,
            **(_LEAST_THOUGHT if _HARMONY in text else {}),
        }

    def prompt(self, talk: Sequence[Turn], *, answered: bool = False) -> str:
        """The whole prompt, up to where the answer begins; ``answered``: the last turn is the answer.

        Raises UnfitPrompt where the template cannot.
        """
        clean = [{**turn, "content": [self._clean(part) for part in turn["content"]]} for turn in talk]
        words = [part["text"] for turn in clean for part in turn["content"] if "text" in part]
        if self.text is None:
            return "\n\n".join([*words, ""])
        why = "it leaves out a part of the conversation"
        for way in self._ways:
            try:
                rendered = str(
                    self.tokenizer.apply_chat_template(
                        way(clean), tokenize=False, add_generation_prompt=not answered, **self.options
                    )
                )
            except (jinja2.TemplateError, TypeError, ValueError, LookupError) as error:
                why = str(error)
                continue
            if all(word.strip() in rendered for word in words):
                return rendered
        raise UnfitPrompt(f"the chat template of {self.label} cannot be used: {why}")

    @cached_property
    def turn_end(self) -> str:
        """The token that the template writes behind the assistant's last words, such as ``<|im_end|>``; empty
        where it writes none.
        """
        if self.text is None:
            return ""
        answer = "Rain falls."
        talk = [
            {"role": "user", "content": [_text_part("What falls?")]},
            {"role": "assistant", "content": [_text_part(answer)]},
        ]
        try:
            prompt = self.prompt(talk, answered=True)
        except UnfitPrompt:
            return ""
        after_answer = prompt[prompt.rindex(answer) + len(answer) :].lstrip()
        tokens = [token for token in self.tokenizer.get_added_vocab() if after_answer.startswith(token)]
        return max(tokens, key=len, default="")

    def ids(self, prompt: str) -> list[int]:
        """The prompt's tokens, with one beginning-of-text token where the model has such."""
        return self.tokens(prompt, special=not self.begun(prompt))

    def tokens(self, prompt: str, *, special: bool) -> list[int]:
        """The prompt's tokens; ``special``: with those that the tokenizer adds by itself."""
        return list(self.tokenizer(prompt, add_special_tokens=special, verbose=False)["input_ids"])

    def begun(self, prompt: str) -> bool:
        """True where the template has written the beginning-of-text token itself."""
        bos = self.tokenizer.bos_token
        return bos is not None and prompt.startswith(bos)

    def _clean(self, part: Turn) -> Turn:
        return {**part, "text": self._special.sub("", part["text"])} if "text" in part else part


def alternating(talk: Sequence[Turn]) -> list[Turn]:
    """Neighbours of the same role joined, with an empty line between their words."""
    turns_so_far: list[Turn] = []
    for turn in talk:
        if turns_so_far and turns_so_far[-1]["role"] == turn["role"]:
            first, *others = turn["content"]
            gap = {"type": "text", "text": "\n\n"}
            joined = [{**first, "text": f"\n\n{first['text']}"}] if "text" in first else [gap, first]
            turns_so_far[-1] = {**turn, "content": [*turns_so_far[-1]["content"], *joined, *others]}
        else:
            turns_so_far.append(turn)
    return turns_so_far


def folded(talk: Sequence[Turn]) -> list[Turn]:
    """What the system says, put before the words of the first turn of the user, behind its frames."""
    system = [part["text"] for turn in talk if turn["role"] == "system" for part in turn["content"]]
    others = alternating([turn for turn in talk if turn["role"] != "system"])
    if not system:
        return others
    if not others or others[0]["role"] != "user":
        others = [{"role": "user", "content": [{"type": "text", "text": ""}]}, *others]
    parts = list(others[0]["content"])
    # Text before a frame is the time of that frame.
    ends = (n for n, part in enumerate(parts) if "text" in part)
    place = next(n for n in ends if all("text" in part for part in parts[n + 1 : n + 2]))
    parts[place] = {**parts[place], "text": "\n\n".join(filter(None, [*system, parts[place]["text"]]))}
    return [{**others[0], "content": parts}, *others[1:]]


def plain(talk: Sequence[Turn]) -> list[Turn]:
    """Turns of words alone as strings, for templates that know no parts."""
    return [
        {**turn, "content": "".join(part["text"] for part in turn["content"])}
        if all("text" in part for part in turn["content"])
        else turn
        for turn in talk
    ]


Way = Callable[[Sequence[Turn]], list[Turn]]

_WAYS: tuple[Way, ...] = (list, alternating, folded)
_PLAIN_WAYS: tuple[Way, ...] = (
    plain,
    lambda talk: plain(alternating(talk)),
    lambda talk: plain(folded(talk)),
)
"""How a conversation is offered to a template, until it takes it whole."""


@dataclass(frozen=True, slots=True)
class TextWords:
    """What a model of words alone is given."""

    template: Template

    def tokens(self, request: Request) -> list[int]:
        """The prompt's tokens; a template writes all special ones itself. Raises UnfitPrompt."""
        return self.template.tokens(self.template.prompt(turns(request)), special=self.template.text is None)

    def length(self, request: Request) -> int:
        """Tokens of a request's prompt."""
        return len(self.tokens(request))

    def inputs(self, requests: Sequence[Request]) -> dict[str, Any]:
        """Tensors of all that the model is given, padded on the left."""
        from shotad.engines.local_answers import padded

        pad = self.template.tokenizer.pad_token_id
        return dict(padded([self.tokens(request) for request in requests], 0 if pad is None else pad))


_STAND_INS = {"SmolVLMProcessor": "Idefics3Processor"}
"""SmolVLM's processor wants num2words, for videos only; Idefics3's writes the same for stills."""

_TILING = ("do_image_splitting", "crop_to_patches", "do_pan_and_scan")
"""Switches of image processors that show a still once more in tiles, at many times the tokens. They are off:
a clip's frames are small, and so their makers show the frames of a video (SmolVLM, InternVL)."""

_PLACE_OF_NAME = ("processor_config.json", "preprocessor_config.json", "tokenizer_config.json")


@dataclass(frozen=True, slots=True)
class StillWords:
    """Words and frames of a model with its own processor. ``timed``: each still has its second before it."""

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
        return dict(self._asked([self.prompt(request) for request in requests], clips, return_tensors="pt"))

    @property
    def mark(self) -> str:
        """What stands for a still in a prompt."""
        return str(self.processor.image_token)

    def prompt(self, request: Request) -> str:
        """The prompt with one mark for each still. Raises UnfitPrompt where the template cannot."""
        parts = [] if request.clip is None else self.parts(request.clip)
        prompt, shown = self.template.prompt(turns(request, parts)), _frames_in(parts)
        if (shown_in_prompt := prompt.count(self.mark)) != shown:
            raise UnfitPrompt(
                f"the chat template of {self.template.label} shows {shown_in_prompt} of {shown} frames"
            )
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
        model_input: Mapping[str, Any] = self.processor(
            text=prompts,
            **(self.shown(clips) if clips else {}),
            padding=True,
            padding_side="left",
            add_special_tokens=not self.template.begun(prompts[0]),
            input_data_format="channels_last",
            **more,
        )
        return model_input


class VideoWords(StillWords):
    """The same with a video processor: one video, with times in a sentence where the processor tells none."""

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
        times = ", ".join(f"{moment:.1f}" for moment in clip.moments)
        return [{"type": "video"}, _text_part(f"The frames of the video stand at these seconds: {times}.\n")]

    def shown(self, clips: Sequence[Clip]) -> dict[str, Any]:
        """The frames as the processor takes them, all of them and none between."""
        metadata = [{**clip.video_metadata, "duration": clip.moments[-1]} for clip in clips]
        return {
            "videos": [clip.images for clip in clips],
            "video_metadata": metadata,
            "do_sample_frames": False,
        }

    @cached_property
    def _tells_times(self) -> bool:
        """Whether the same frames further apart are other words."""
        clips = [black_clip(56, 56, 4, step) for step in (1.0, 3.0)]
        close, apart = (self._asked([self.mark], [clip], return_tensors="pt")["input_ids"] for clip in clips)
        return bool(close.tolist() != apart.tolist())


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
    transformers = require_module("transformers", "A local model")
    name = _processor_name(folder, config)
    kind = getattr(transformers, _STAND_INS.get(name, name), None) if name else None
    if kind is None:
        raise EngineError(
            f"{label} ({config.model_type}) has no processor in transformers {transformers.__version__}.",
            "Choose another model, or a newer transformers.",
            again=False,
        )
    purpose = f"The processor of {label}"
    failures: tuple[type[Exception], ...] = (*damaged_model_errors(purpose), ImportError, AttributeError)
    settings = read_settings(folder / "processor_config.json")
    taken = set(inspect.signature(kind.__init__).parameters)
    taken -= {"self", "args", "kwargs", "tokenizer", "image_processor", "video_processor", "chat_template"}
    try:
        with silence_transformers(transformers):
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
        processor = _with_videos(transformers, folder, str(name), parts) if videos else None
        processor = processor or _without_videos(kind, parts)
    except failures as error:
        raise EngineError(
            f"{purpose} ({name}) cannot be used here: {first_message_line(error)}.",
            "Install what it names; if it names nothing, torchvision, in a build that fits torch.",
            again=False,
        ) from None
    if not isinstance(getattr(processor, "image_token", None), str):
        raise EngineError(f"{purpose} ({name}) has no mark for images.", "Choose another model.", again=False)
    return processor


def _processor_name(folder: Path, config: Any) -> str | None:
    for file in _PLACE_OF_NAME:
        if name := read_settings(folder / file).get("processor_class"):
            return str(name)
    names = require_module(
        "transformers.models.auto.processing_auto", "A local model"
    ).PROCESSOR_MAPPING_NAMES
    class_name = names.get(config.model_type)
    return None if class_name is None else str(class_name)


def _with_videos(transformers: Any, folder: Path, name: str, parts: Mapping[str, Any]) -> Any:
    """The whole processor; None where it knows no videos or needs what is not here."""
    try:
        importlib.import_module("torchvision")  # one that does not fit torch fails here, and not with less
        with silence_transformers(transformers):
            video = transformers.AutoVideoProcessor.from_pretrained(folder, local_files_only=True)
        processor = getattr(transformers, name)(video_processor=video, **parts)
    except (ImportError, OSError, RuntimeError, TypeError, ValueError):
        return None
    return processor if isinstance(getattr(processor, "video_token", None), str) else None


def _without_videos(kind: Any, parts: Mapping[str, Any]) -> Any:
    """The processor, content to have no video processor (which needs torchvision)."""

    def check(self: Any, name: str, part: Any) -> Any:
        return None if "video" in name else kind.check_argument_for_proper_class(self, name, part)

    bare = type(kind.__name__, (kind,), {"check_argument_for_proper_class": check})
    if "video_processor" not in inspect.signature(kind.__init__).parameters:
        return bare(**parts)
    processor = bare(video_processor=parts["image_processor"], **parts)  # MiniCPM-V's reads settings of it
    processor.video_processor = None
    return processor
