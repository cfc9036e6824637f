"""A writer for shorter lines, where one was wished for and the run has an engine that reads words."""

from __future__ import annotations

from shotad.core.config import Config
from shotad.core.engine import Preparing
from shotad.core.errors import EngineError
from shotad.core.progress import Progress
from shotad.core.weights import weights_file
from shotad.core.workfolder import WorkFolder
from shotad.description.prompts import check_prompts
from shotad.description.shorter import TEMPLATES, Shortener, make_shortener
from shotad.description.writing import Engines
from shotad.engines import make_engine, stage_engines

LOG = "shorter"
"""Of ``shorter.jsonl``: what was asked and answered, so that no second render asks again."""


def shortener(
    folder: WorkFolder, config: Config, progress: Progress, engines: Engines | None = None
) -> Shortener | None:
    """Who is asked for shorter lines, as ``fit.ask`` has it; None where nobody is.

    ``engines`` are those of a run that has just described the film. Raises EngineError where the engine of
    Stage II is to be asked and reads no prompts.
    """
    at_hand = engines is not None and engines.writes.abilities.converses
    if not (at_hand if config.fit.ask is None else config.fit.ask):
        return None
    engine = engines.writes if engines else make_engine(stage_engines(config).stage2, config, "stage2")
    check_prompts(TEMPLATES)
    if not engines:
        if isinstance(engine, Preparing):
            engine.get_ready(progress)
        for name in engine.abilities.weights:
            weights_file(name, progress)
    found = make_shortener(engine, config, folder.log_of_records(LOG))
    if found is None:
        raise EngineError(
            f"{engine.identity.engine} reads no prompts and cannot be asked for shorter lines.",
            "Name a language model: --set stage2.engine=openai, or leave --ask away.",
        )
    return found
