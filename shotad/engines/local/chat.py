"""Any chat model of transformers as an engine: by default Meta-Llama-3-8B-Instruct, as in Shot-by-Shot.

It reads words only. Temperature, top-p and length come with each request, the seed is that of the slot.
"""

from __future__ import annotations

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
from shotad.engines.local.model import PROMPT_TOKENS, LocalModel
from shotad.engines.local.names import ModelPlace, resolve

if TYPE_CHECKING:
    from shotad.engines.local.loading import Loaded

NAME = "llama3"

_PURPOSE = f"The engine {NAME}"


@dataclass(frozen=True, slots=True)
class _Ready:
    place: ModelPlace
    tokenizer: Any


class ChatModel(LocalModel[_Ready]):
    """An engine that answers with a chat model."""

    name = NAME
    default = "llama3-8b"

    def __init__(self, config: Config, stage: Stage = "stage2") -> None:
        """As `LocalModel` says."""
        super().__init__(config, stage)
        self._compute, self._local = config.compute, config.local
        self.abilities = Abilities(batch=config.local.batch)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order; see `shotad.engines.local.answering.answers`."""
        ready = self._prepared(NoProgress())
        from shotad.engines.local import model_cache as shelf

        with shelf.lent(ready.place, "text", self._compute, self._local) as loaded:
            return self._answers(loaded, ready.tokenizer, requests)

    def _answers(self, loaded: Loaded, tokenizer: Any, requests: Sequence[Request]) -> list[Reply]:
        from shotad.engines.local.answering import answers, pad_token, padded
        from shotad.engines.local.wording import Refused, prompt_ids

        replies: dict[int, Reply] = {}
        prompts: dict[int, list[int]] = {}
        for index, request in enumerate(requests):
            try:
                prompts[index] = prompt_ids(tokenizer, request.messages)
            except Refused as error:
                replies[index] = Reply("", "error", error=str(error))
        asked, rows = list(prompts), list(prompts.values())
        pad = pad_token(loaded, tokenizer)
        found = answers(
            loaded,
            tokenizer,
            [requests[index] for index in asked],
            [len(row) for row in rows],
            lambda places: padded([rows[place] for place in places], pad),
            tokens=self._local.tokens,
            most=self._local.batch,
        )
        replies.update(zip(asked, found, strict=True))
        return [replies[index] for index in range(len(requests))]

    def _made_ready(self, progress: Progress) -> _Ready:
        need_torch(_PURPOSE)
        need("transformers", _PURPOSE)
        from shotad.engines.local import loading

        # What the machine lacks is told before many GB are fetched.
        loading.check_machine(self._compute, self._local)
        place = resolve(self._model, self._revision, progress)
        way = loading.way_of(place, "text", self._compute, self._local)
        self._check_context(place.label, loading.context_of(loading.config_of(place)))
        tokenizer = loading.tokenizer_of(place)
        self.identity = Identity(NAME, place.label, f"{place.revision} {way.precision}")
        return _Ready(place, tokenizer)

    def _check_context(self, label: str, context: int | None) -> None:
        if context is not None and context < self._answer + PROMPT_TOKENS:
            raise EngineError(
                f"{label} takes {context} tokens; {self._stage}.sampling.max_tokens = {self._answer} "
                f"leaves {max(0, context - self._answer)} of them for the prompt.",
                "Lower that number, or name a model that takes more.",
                again=False,
            )
