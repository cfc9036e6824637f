"""Which engines describe a film anew, and what they send where."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from shotad.config import Config
from shotad.engines.openai.notice import notice
from shotad.errors import ShotadError
from shotad.writing import Engines

TITLES = {
    "observer": "the embedded observer",
    "narrator": "the embedded narrator",
    "fake": "the engine for tests",
}
"""What engines without a model of a name of its own are called."""

LOCAL = "Lines are described anew on this machine; nothing of the film is sent anywhere."


def engine_title(engine: str, model: str = "") -> str:
    """An engine as people call it: ``the embedded observer``, ``gpt-4o (openai)``."""
    if engine in TITLES:
        return TITLES[engine]
    return f"{model} ({engine})" if model else engine


def engines_view(config: Config) -> dict[str, Any]:
    """Both engines of these settings, whether all stays on this machine, and if not, what leaves it.

    Where an engine cannot be had here, ``notice`` says why.
    """
    return dict(_view(config.model_dump_json()))


@lru_cache(maxsize=4)
def _view(settings: str) -> dict[str, Any]:
    config = Config.model_validate_json(settings)
    try:
        engines = Engines.of(config)
    except ShotadError as error:
        return {"stage1": None, "stage2": None, "local": False, "notice": str(error)}
    looks, writes = engines.looks, engines.writes
    leaves = notice(looks, writes)
    return {
        "stage1": engine_title(looks.identity.engine, looks.identity.model),
        "stage2": engine_title(writes.identity.engine, writes.identity.model),
        "local": not leaves,
        "notice": " ".join(leaves) if leaves else LOCAL,
    }
