"""What leaves this machine for the films of a batch, said once and before it does."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from shotad.batch.planning import Planned
from shotad.batch.ray.cluster import RaySettings
from shotad.core import ShotadError


class Leaving:
    """Knows what was said; films may have settings, and so engines and voices, of their own."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._seen: set[tuple[str, ...]] = set()

    def of(self, films: Iterable[Planned]) -> list[str]:
        """What was not said yet, in the order of the films."""
        from shotad.description import Engines
        from shotad.engines import notice
        from shotad.sound import make_voice, notice as voice_notice, parse_wanted

        found: list[str] = []
        for job in (film.job for film in films if film.trouble is None):
            terms = (job.config.model_dump_json(exclude={"prompt"}), *job.makes)
            if terms in self._seen:
                continue
            self._seen.add(terms)
            # Nothing of an engine or a voice that cannot be had: its run says why.
            with suppress(ShotadError):
                engines = Engines.of(job.config)
                found += notice(engines.looks, engines.writes)
            with suppress(ShotadError):
                if job.makes and any(kind.is_heard for kind, _ in parse_wanted(job.makes)):
                    found += voice_notice(make_voice(job.config.voice, job.config.language))
        new = [line for line in dict.fromkeys(found) if line not in self._said]
        self._said.update(new)
        return new


def sent_to(planned: Sequence[Planned], settings: RaySettings) -> list[Planned]:
    """A film for each kind of settings and each server that will be asked in place of the usual one."""
    kinds = {
        film.job.config.model_dump_json(exclude={"prompt"}) + str(film.job.makes): film for film in planned
    }
    urls: tuple[str | None, ...] = settings.servers or (None,)
    own = {"base_url": "http://127.0.0.1/v1"}
    found = []
    for film, url in itertools.product(kinds.values(), urls):
        config = film.job.config
        more: dict[str, Any] = {}
        if url is not None:
            more["openai"] = config.openai.model_copy(update={"base_url": url})
        if settings.looking.serve.command is not None:
            more["stage1"] = config.stage1.model_copy(update=own)
        if settings.writing.serve.command is not None:
            more["stage2"] = config.stage2.model_copy(update=own)
        found.append(replace(film, job=replace(film.job, config=config.model_copy(update=more))))
    return found
