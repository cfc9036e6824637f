"""Vision-language models on this machine: Qwen2-VL as in the paper, and others that transformers loads.

The published system shows Qwen2-VL the clip as one video before the prompt's text, gives it no frame rate,
leaves the system prompt to the chat template and takes the likeliest word at each step
(Shot-by-Shot, section 3.2 and its code).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from shotad.core import (
    Abilities,
    Clip,
    Config,
    EngineError,
    FrameSettings,
    Identity,
    Message,
    NoProgress,
    Progress,
    Reply,
    Request,
    Stage,
    broken,
    need,
    need_torch,
    reason,
)
from shotad.engines.local_chat import Refused
from shotad.engines.local_model import PROMPT_TOKENS, LocalModel, ModelPlace, resolve
from shotad.engines.local_vision_qwen import (
    FAMILY,
    IMAGE,
    VIDEO,
    PatchRules,
    QwenWords,
    bounds_of,
    grid_of,
    qwen_rules,
    tokens_in,
)
from shotad.engines.local_vision_stills import StillWords, Template, make_processor, read_settings
from shotad.film import vlm_size

if TYPE_CHECKING:
    from shotad.engines.local_loading import Loaded

NAME = "qwen2-vl"

_PURPOSE = f"The engine {NAME}"


@dataclass(frozen=True, slots=True)
class _Ready:
    place: ModelPlace
    tokenizer: Any
    words: Words


class VisionModel(LocalModel[_Ready]):
    """An image-text model that answers questions about clips, and questions without one.

    Models of Qwen's family (2-VL, 2.5-VL, 3-VL, 3.5) see a clip as one video, as they were trained and as
    the paper shows it, others as stills in a row.
    """

    name = NAME
    default = "qwen2-vl-7b"

    def __init__(self, config: Config, stage: Stage = "stage1") -> None:
        """As `LocalModel` says."""
        super().__init__(config, stage)
        self.abilities = Abilities(accepts_images=True, wants_overlay=True, batch=config.local.batch)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request; those with a clip go through the model apart from those without.

        A prompt longer than the model takes is a failed reply that says so.
        """
        ready = self._prepared(NoProgress())
        from shotad.engines import local_loading

        replies: dict[int, Reply] = {}
        with local_loading.lent(
            ready.place, "image-text", self._config.compute, self._config.local
        ) as loaded:
            for with_clip in {request.clip is not None: None for request in requests}:
                chosen = [i for i, request in enumerate(requests) if (request.clip is not None) == with_clip]
                answered = self._answers(loaded, ready, [requests[index] for index in chosen])
                replies.update(zip(chosen, answered, strict=True))
        return [replies[index] for index in range(len(requests))]

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """Tokens of a clip of ``frames`` frames of this size: 2880 for Qwen2-VL with 32 of 504 x 280.

        For an estimate nothing is fetched: before `get_ready` the rules are those of Qwen2-VL.
        """
        if self._ready is not None:
            return self._ready.words.image_tokens(width, height, frames)
        rules = PatchRules()
        size = bounds_of(self._config.frames).size(width, height, rules)
        return tokens_in(grid_of(*size, frames, rules), rules)

    def _answers(self, loaded: Loaded, ready: _Ready, requests: Sequence[Request]) -> list[Reply]:
        from shotad.engines.local_answers import answers

        lengths: dict[int, int] = {}
        replies: dict[int, Reply] = {}
        for index, request in enumerate(requests):
            try:
                lengths[index] = ready.words.length(request)
            except (Refused, ValueError) as error:
                replies[index] = Reply("", "error", error=str(error))
        asked = [requests[index] for index in lengths]
        accepted = _accepted(loaded.model)

        def collate(places: Sequence[int]) -> dict[str, Any]:
            made = ready.words.inputs([asked[place] for place in places])
            return {name: value for name, value in made.items() if name in accepted}

        local = self._config.local
        found = answers(
            loaded,
            ready.tokenizer,
            asked,
            list(lengths.values()),
            collate,
            most=local.batch,
        )
        replies.update(zip(lengths, found, strict=True))
        return [replies[index] for index in range(len(requests))]

    def _made_ready(self, progress: Progress) -> _Ready:
        need_torch(_PURPOSE)
        need("transformers", _PURPOSE)
        from shotad.engines import local_loading

        settings = self._config
        # What the machine lacks is told before many GB are fetched.
        local_loading.check_machine(settings.compute, settings.local)
        place = resolve(self._model, self._revision, progress)
        way = local_loading.way_of(place, "image-text", settings.compute, settings.local)
        config, tokenizer = local_loading.config_of(place), local_loading.tokenizer_of(place)
        words = make_words(place, config, tokenizer, settings.frames)
        self._check_context(place.label, local_loading.context_of(config), words)
        self.identity = Identity(NAME, place.label, f"{place.revision} {way.precision}")
        return _Ready(place, tokenizer, words)

    def _check_context(self, label: str, context: int | None, words: Words) -> None:
        """Refuse a model that no clip of a wide film fits into. Its tokens are reckoned from two frames."""
        frames = 0
        if self._stage == "stage1":
            settings = self._config.frames
            two = words.image_tokens(*vlm_size(1920, 1080, settings), 2)
            frames = two * (settings.inside + settings.outside) // 2
        if context is not None and context < frames + self._answer + PROMPT_TOKENS:
            clip = f"a clip takes about {frames} and " if frames else ""
            hint = "Lower frames.inside and frames.outside, or n" if frames else "Lower that number, or n"
            raise EngineError(
                f"{label} takes {context} tokens; {clip}{self._stage}.sampling.max_tokens is {self._answer}.",
                f"{hint}ame a model that takes more.",
                again=False,
            )


def _accepted(model: Any) -> set[str]:
    """Names of what the model's ``generate`` takes; it refuses all others."""
    named: set[str] = set(inspect.signature(model.prepare_inputs_for_generation).parameters)
    return named | set(inspect.signature(model.forward).parameters)


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


def make_words(place: ModelPlace, config: Any, tokenizer: Any, frames: FrameSettings) -> Words:
    """What makes the input of the model in ``place``.

    Raises EngineError for a model that takes no images, or whose processor cannot be made without
    torchvision.
    """
    _check_kind(config, place.label)
    text = _template(place.folder)
    if config.model_type in FAMILY:
        made: Words = _qwen(place, config, Template(tokenizer, text, place.label, (VIDEO, IMAGE)), frames)
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


def _qwen(place: ModelPlace, config: Any, template: Template, frames: FrameSettings) -> QwenWords:
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
