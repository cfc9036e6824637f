"""How a run on a cluster is spread: how many workers of each kind, what each takes, who answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from pydantic import Field, model_validator

from shotad.core import Settings, load_settings


class ServeSettings(Settings):
    """A model server that a worker starts for itself, on the GPU that it was given.

    ``command`` is run without a shell, with ``{port}`` and ``{model}`` filled in; None: no server is started.
    """

    command: str | None = None
    ready: float = Field(1800.0, gt=0)
    """Seconds that it may take until it answers: weights are fetched and loaded."""


class Crew(Settings):
    """Workers of one kind, each a process: between ``least`` and ``most`` of them, as there is work.

    ``cpus`` and ``gpus`` are what each takes of its node by Ray's book-keeping; a part of a GPU may be named.
    """

    least: int = Field(1, ge=1)
    most: int = Field(1, ge=1)
    cpus: float = Field(1.0, ge=0)
    gpus: float = Field(0.0, ge=0)
    serve: ServeSettings = ServeSettings()

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.most < self.least:
            raise ValueError(f"most = {self.most} is below least = {self.least}")
        return self


class RaySettings(Settings):
    """Everything about a cluster run that is not about films."""

    preparing: Crew = Crew(least=1, most=4, cpus=2)
    """Who read films: shots, speech, slots, grammar, and the frames that Stage I is shown."""
    looking: Crew = Crew(least=1, most=1, cpus=1)
    """Who ask Stage I: with a GPU each for a model of their own, without where servers answer."""
    writing: Crew = Crew(least=1, most=2, cpus=1)
    """Who write a film's lines in order, its track and scripts."""
    servers: tuple[str, ...] = ()
    """Base URLs of servers that speak OpenAI's protocol; calls go to the one with the least to do. They take
    the place of ``openai.base_url``."""
    batch: int | None = Field(None, ge=1)
    """Slots that a worker of Stage I is handed together; None: as many as its engine likes in one call."""
    attempts: int = Field(3, ge=1)
    """How often a film, or a slot, is begun whose worker is lost on the way."""
    cpus: int | None = Field(None, ge=1)
    """Of a cluster that is started on this machine; None: as many as it has."""
    object_store: int | None = Field(None, ge=80 << 20)
    """Bytes of memory for rows under way, of a cluster started on this machine; None: what Ray takes."""


def load_ray_settings(files: Iterable[str] = (), assignments: Iterable[str] = ()) -> RaySettings:
    """Settings from YAML files and ``KEY=VALUE`` (``looking.gpus=1``). Raises ConfigError."""
    return load_settings(RaySettings, files, assignments)
