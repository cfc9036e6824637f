"""shotad: audio description for films, shot by shot. docs/python.md shows how these functions are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shotad.core.lazy import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from shotad.cli.interface import describe as describe
    from shotad.cli.interface import detect_shots as detect_shots
    from shotad.cli.interface import evaluate as evaluate
    from shotad.cli.interface import find_threads as find_threads
    from shotad.cli.interface import open_film as open_film
    from shotad.cli.interface import render as render
    from shotad.cli.interface import shot_scales as shot_scales
    from shotad.core.config import Config as Config
    from shotad.core.config import load_config as load_config
    from shotad.core.errors import ShotadError as ShotadError
    from shotad.core.errors import ShotadWarning as ShotadWarning
    from shotad.core.progress import Progress as Progress
    from shotad.core.runsettings import GivenCast as GivenCast
    from shotad.core.types import Interval as Interval
    from shotad.core.types import Shot as Shot
    from shotad.core.types import ShotScale as ShotScale
    from shotad.evaluation.report.reading import Report as Report
    from shotad.film.reader import Film as Film
    from shotad.script.cue import Cue as Cue
    from shotad.script.track import Track as Track
    from shotad.script.track import load_track as load_track
    from shotad.sound.rendering.rendered import Rendered as Rendered

_MODULES = {
    "Config": "shotad.core.config",
    "Cue": "shotad.script.cue",
    "Film": "shotad.film.reader",
    "GivenCast": "shotad.core.runsettings",
    "Interval": "shotad.core.types",
    "Progress": "shotad.core.progress",
    "Rendered": "shotad.sound.rendering.rendered",
    "Report": "shotad.evaluation.report.reading",
    "Shot": "shotad.core.types",
    "ShotScale": "shotad.core.types",
    "ShotadError": "shotad.core.errors",
    "ShotadWarning": "shotad.core.errors",
    "Track": "shotad.script.track",
    "describe": "shotad.cli.interface",
    "detect_shots": "shotad.cli.interface",
    "evaluate": "shotad.cli.interface",
    "find_threads": "shotad.cli.interface",
    "load_config": "shotad.core.config",
    "load_track": "shotad.script.track",
    "open_film": "shotad.cli.interface",
    "render": "shotad.cli.interface",
    "shot_scales": "shotad.cli.interface",
}
"""Public name → the module that holds it, loaded when the name is asked for."""

__all__ = ["__version__", *_MODULES]  # noqa: PLE0604

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
