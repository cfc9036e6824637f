"""shotad: audio description for films, shot by shot. docs/python.md shows how these functions are used."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from shotad.lazy import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from shotad.api import describe as describe
    from shotad.api import detect_shots as detect_shots
    from shotad.api import evaluate as evaluate
    from shotad.api import find_threads as find_threads
    from shotad.api import open_film as open_film
    from shotad.api import render as render
    from shotad.api import shot_scales as shot_scales
    from shotad.config import Config as Config
    from shotad.config import load_config as load_config
    from shotad.errors import ShotadError as ShotadError
    from shotad.errors import ShotadWarning as ShotadWarning
    from shotad.evaluation.report.reading import Report as Report
    from shotad.film.reader import Film as Film
    from shotad.progress import Progress as Progress
    from shotad.rendering.rendered import Rendered as Rendered
    from shotad.runsettings import GivenCast as GivenCast
    from shotad.script.cue import Cue as Cue
    from shotad.script.track import Track as Track
    from shotad.script.track import load_track as load_track
    from shotad.types import Interval as Interval
    from shotad.types import Shot as Shot
    from shotad.types import ShotScale as ShotScale

_MODULES = {
    "Config": "shotad.config",
    "Cue": "shotad.script.cue",
    "Film": "shotad.film.reader",
    "GivenCast": "shotad.runsettings",
    "Interval": "shotad.types",
    "Progress": "shotad.progress",
    "Rendered": "shotad.rendering.rendered",
    "Report": "shotad.evaluation.report.reading",
    "Shot": "shotad.types",
    "ShotScale": "shotad.types",
    "ShotadError": "shotad.errors",
    "ShotadWarning": "shotad.errors",
    "Track": "shotad.script.track",
    "describe": "shotad.api",
    "detect_shots": "shotad.api",
    "evaluate": "shotad.api",
    "find_threads": "shotad.api",
    "load_config": "shotad.config",
    "load_track": "shotad.script.track",
    "open_film": "shotad.api",
    "render": "shotad.api",
    "shot_scales": "shotad.api",
}
"""Public name → the module that holds it, loaded when the name is asked for."""

__all__ = ["__version__", *_MODULES]  # noqa: PLE0604

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)


class _Package(ModuleType):
    """Keeps the function `describe` when the package of the same name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name == "describe" and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
