"""Any chat model of transformers as an engine: by default Meta-Llama-3-8B-Instruct, as in Shot-by-Shot.

It reads words only. Temperature, top-p and length come with each request, the seed is that of the slot.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shotad.compute import need, need_torch
from shotad.config import Config
from shotad.engines.base import Abilities, Identity, Reply, Request, Stage
from shotad.engines.local.names import ModelPlace, at_hand, label_of, resolve
from shotad.errors import EngineError
from shotad.progress import NoProgress, Progress

if TYPE_CHECKING:
    from shotad.engines.local.loading import Loaded

DEFAULT = "llama3-8b"
NAME = "llama3"

_PURPOSE = f"The engine {NAME}"

_PROMPT = 200
"""Tokens that the shortest prompts of both stages have."""


@dataclass(frozen=True, slots=True)
class _Ready:
    place: ModelPlace
    tokenizer: Any


class ChatModel:
    """An engine that answers with a chat model on this machine. Threads may share it: they take turns.

    Making one is cheap and fetches nothing; `get_ready` fetches, and refuses what cannot work. The weights
    are read at the first question. With one request at a time the same requests give the same bytes on
    one machine; in a batch the last bits may differ, and with them a word, but never by chance.
    """

    def __init__(self, config: Config, stage: Stage = "stage2") -> None:
        """The model that the settings of ``stage`` name. Raises WeightsError for a name that is none."""
        settings = getattr(config, stage)
        self._compute, self._local = config.compute, config.local
        self._stage = stage
        self._model: str = settings.model or DEFAULT
        self._revision: str | None = settings.revision
        self._answer: int = settings.sampling.max_tokens
        self._lock = threading.Lock()
        self._ready: _Ready | None = None
        place = at_hand(self._model, self._revision)
        revision = place.revision if place else self._revision or ""
        self.identity = Identity(NAME, place.label if place else label_of(self._model), revision)
        self.abilities = Abilities(batch=config.local.batch)

    @classmethod
    def for_stage(cls, config: Config, stage: Stage) -> ChatModel:
        """The engine of one of the stages."""
        return cls(config, stage)

    def get_ready(self, progress: Progress) -> None:
        """Fetch the model if it is not here, and refuse what cannot work; reads no weights.

        Raises ShotadError without torch or transformers, ConfigError for a device that is not there,
        WeightsError for a model that cannot be had or read, EngineError for one that takes too few tokens.
        """
        self._prepared(progress)

    def ready_if_here(self) -> None:
        """As `get_ready` where the model is on this machine; else nothing happens."""
        if at_hand(self._model, self._revision) is not None:
            self._prepared(NoProgress())

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order; see `shotad.engines.local.answering.answers`."""
        ready = self._prepared(NoProgress())
        from shotad.engines.local import shelf

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

    def _prepared(self, progress: Progress) -> _Ready:
        with self._lock:
            if self._ready is None:
                self._ready = self._made_ready(progress)
            return self._ready

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
        if context is not None and context < self._answer + _PROMPT:
            raise EngineError(
                f"{label} takes {context} tokens; {self._stage}.sampling.max_tokens = {self._answer} "
                f"leaves {max(0, context - self._answer)} of them for the prompt.",
                "Lower that number, or name a model that takes more.",
            )
