"""Which engines describe a film anew, and what they send where."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from shotad.core import Config, ShotadError
from shotad.engines import ENGINES, stage_engines

TITLES = {
    "observer": "the embedded observer",
    "narrator": "the embedded narrator",
    "qwen2-vl": "Qwen2-VL",
    "llama3": "Llama 3",
    "fake": "the engine for tests",
}
"""What engines are called; others by their own names."""

_OF_MANY = ("observer", "narrator", "fake")
"""Engines whose models are many small ones, or rules, whose names say nothing to people."""

HERE = frozenset(ENGINES) - {"openai"}
"""Engines that send nothing anywhere; they need not be made to know that, which may take a while."""

LOCAL = "Lines are described anew on this machine; nothing of the film is sent anywhere."


def engine_title(engine: str, model: str = "") -> str:
    """An engine as people call it: ``the embedded observer``, ``openai (gpt-4o)``."""
    if engine in _OF_MANY:
        return TITLES[engine]
    title = TITLES.get(engine, engine)
    return f"{title} ({model})" if model else title


def engines_view(config: Config) -> dict[str, Any]:
    """Both engines of these settings, whether all stays on this machine, and if not, what leaves it; and
    whether who writes reads a person's ``notes``.

    Where an engine cannot be had here, ``notice`` says why.
    """
    return dict(_view(config.model_dump_json()))


@lru_cache(maxsize=4)
def _view(settings: str) -> dict[str, Any]:
    config = Config.model_validate_json(settings)
    try:
        names = stage_engines(config)
        if {names.stage1, names.stage2} <= HERE:
            models = (config.stage1.model or "", config.stage2.model or "")
            titles = engine_title(names.stage1, models[0]), engine_title(names.stage2, models[1])
            return _told(*titles, [], notes=names.stage2 != "narrator")
        from shotad.description import Engines  # Stage I and II: not loaded for a page alone
        from shotad.engines import notice

        engines = Engines.of(config)
    except ShotadError as error:
        return {"stage1": None, "stage2": None, "local": False, "notice": str(error), "notes": True}
    looks, writes = engines.looks.identity, engines.writes.identity
    leaves = notice(engines.looks, engines.writes)
    titles = engine_title(looks.engine, looks.model), engine_title(writes.engine, writes.model)
    return _told(*titles, leaves, notes=engines.writes.abilities.converses)


def _told(stage1: str, stage2: str, leaves: list[str], *, notes: bool) -> dict[str, Any]:
    text = " ".join(leaves) if leaves else LOCAL
    return {"stage1": stage1, "stage2": stage2, "local": not leaves, "notice": text, "notes": notes}
