"""Vision-language models on this machine: Qwen2-VL as in the paper, and others that transformers loads.

The published system shows Qwen2-VL the clip as one video before the prompt's text, gives it no frame rate,
leaves the system prompt to the chat template and takes the likeliest word at each step
(Shot-by-Shot, section 3.2 and its code).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shotad.core import (
    Abilities,
    Config,
    EngineError,
    Identity,
    NoProgress,
    Progress,
    Reply,
    Request,
    Stage,
    need,
    need_torch,
)
from shotad.engines.local.frames import PatchRules, bounds_of, grid_of, tokens_in
from shotad.engines.local.model import PROMPT_TOKENS, LocalModel
from shotad.engines.local.names import ModelPlace, resolve
from shotad.film import vlm_size

if TYPE_CHECKING:
    from shotad.engines.local.loading import Loaded
    from shotad.engines.local.vision_ready import Words

NAME = "qwen2-vl"

_PURPOSE = f"The engine {NAME}"


@dataclass(frozen=True, slots=True)
class _Ready:
    place: ModelPlace
    tokenizer: Any
    words: Words


class VisionModel(LocalModel[_Ready]):
    """An image-text model that answers questions about clips, and questions without one.

    Models of Qwen's family (2-VL, 2.5-VL, 3-VL, 3.5) see a clip as one video, others as stills in a row
    (``local.frames_as``).
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
        from shotad.engines.local import model_cache as shelf

        replies: dict[int, Reply] = {}
        with shelf.lent(ready.place, "image-text", self._config.compute, self._config.local) as loaded:
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
        from shotad.engines.local.answering import answers
        from shotad.engines.local.wording import Refused

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
            tokens=local.tokens,
            most=local.batch,
        )
        replies.update(zip(lengths, found, strict=True))
        return [replies[index] for index in range(len(requests))]

    def _made_ready(self, progress: Progress) -> _Ready:
        need_torch(_PURPOSE)
        need("transformers", _PURPOSE)
        from shotad.engines.local import loading
        from shotad.engines.local.vision_ready import make_words

        settings = self._config
        # What the machine lacks is told before many GB are fetched.
        loading.check_machine(settings.compute, settings.local)
        place = resolve(self._model, self._revision, progress)
        way = loading.way_of(place, "image-text", settings.compute, settings.local)
        config, tokenizer = loading.config_of(place), loading.tokenizer_of(place)
        words = make_words(place, config, tokenizer, settings.frames, settings.local.frames_as)
        self._check_context(place.label, loading.context_of(config), words)
        stills = " stills" if settings.local.frames_as == "images" else ""
        self.identity = Identity(NAME, place.label, f"{place.revision} {way.precision}{stills}")
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
