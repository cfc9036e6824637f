"""What all engines on this machine have in common: how their model is named, found, fetched and told."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, Self, TypeVar

from shotad.core import Config, HubModel, Identity, NoProgress, Progress, Stage
from shotad.engines.local.fitness import check_fits
from shotad.engines.local.names import at_hand, label_of, to_fetch

Ready = TypeVar("Ready")

PROMPT_TOKENS = 200
"""Tokens that the shortest prompts of both stages have."""


class LocalModel(ABC, Generic[Ready]):
    """A model of transformers behind an engine. Threads may share it: they take turns.

    Making one is cheap and fetches nothing; `get_ready` fetches, and refuses what cannot work. The weights
    are read at the first question. With one request at a time the same requests give the same bytes on
    one machine; in a batch the last bits may differ, and with them a word, but never by chance.
    """

    name: ClassVar[str]
    default: ClassVar[str]
    """The model that is taken where the settings name none."""

    def __init__(self, config: Config, stage: Stage) -> None:
        """The model that the settings of ``stage`` name. Raises WeightsError for a name that is none."""
        settings: Any = getattr(config, stage)
        self._config, self._stage = config, stage
        self._model: str = settings.model or self.default
        self._revision: str | None = settings.revision
        self._answer: int = settings.sampling.max_tokens
        self._lock = threading.Lock()
        self._ready: Ready | None = None
        place = at_hand(self._model, self._revision)
        revision = place.revision if place else self._revision or ""
        self.identity = Identity(self.name, place.label if place else label_of(self._model), revision)

    @classmethod
    def for_stage(cls, config: Config, stage: Stage) -> Self:
        """The engine of one of the stages."""
        return cls(config, stage)

    def get_ready(self, progress: Progress) -> None:
        """Fetch the model if it is not here, and refuse what cannot work; reads no weights.

        Raises EngineError for a model that this machine cannot run, before it is fetched; ShotadError without
        torch or transformers, ConfigError for a device that is not there or a
        way of showing frames that the model does not know, WeightsError for a model that cannot be had or
        read, EngineError for one that takes too few tokens, takes no images where it is to look, or needs
        what is not installed.
        """
        check_fits(self.to_fetch, self._config, "A server can answer in its place: openai.")
        self._prepared(progress)

    @property
    def to_fetch(self) -> tuple[HubModel, ...]:
        """The published model that `get_ready` fetches; none where it is here or its size is not known."""
        found = None if self._ready is not None else to_fetch(self._model, self._revision)
        return () if found is None else (found,)

    def ready_if_here(self) -> None:
        """As `get_ready` where the model is on this machine; else nothing happens."""
        if at_hand(self._model, self._revision) is not None:
            self._prepared(NoProgress())

    def _prepared(self, progress: Progress) -> Ready:
        with self._lock:
            if self._ready is None:
                self._ready = self._made_ready(progress)
            return self._ready

    @abstractmethod
    def _made_ready(self, progress: Progress) -> Ready:
        """What is read besides the weights, once; sets the final ``identity``."""
