"""Which servers a run on a cluster sends to, where its settings name others than the films' own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shotad.batch.finding import Planned
from shotad.batch.jobs import FilmJob
from shotad.batch.ray.settings import RaySettings


def sent_to(planned: Sequence[Planned], settings: RaySettings) -> list[Planned]:
    """A film for each kind of settings and each server that will be asked in place of the usual one."""
    kinds = {
        film.job.config.model_dump_json(exclude={"prompt"}) + str(film.job.makes): film for film in planned
    }
    urls: tuple[str | None, ...] = settings.servers or (None,)
    return [replace(film, job=_asking(film.job, url, settings)) for film in kinds.values() for url in urls]


def _asking(job: FilmJob, url: str | None, settings: RaySettings) -> FilmJob:
    config = job.config
    if url is not None:
        config = config.model_copy(update={"openai": config.openai.model_copy(update={"base_url": url})})
    own = {"base_url": "http://127.0.0.1/v1"}
    if settings.looking.serve.command is not None:
        config = config.model_copy(update={"stage1": config.stage1.model_copy(update=own)})
    if settings.writing.serve.command is not None:
        config = config.model_copy(update={"stage2": config.stage2.model_copy(update=own)})
    return replace(job, config=config)
