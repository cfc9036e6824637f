from .cli.interface import (
    align as align,
    describe as describe,
    detect_shots as detect_shots,
    evaluate as evaluate,
    find_threads as find_threads,
    open_film as open_film,
    render as render,
    shot_scales as shot_scales,
)
from .core.config import Config as Config, load_config as load_config
from .core.errors import ShotadError as ShotadError, ShotadWarning as ShotadWarning
from .core.progress import Progress as Progress
from .core.runsettings import GivenCast as GivenCast
from .core.types import Interval as Interval, Shot as Shot, ShotScale as ShotScale
from .evaluation.running import Report as Report
from .film.reader import Film as Film
from .script.cue import Cue as Cue
from .script.track import Track as Track, load_track as load_track
from .sound.alignment.pieces import AlignedPiece as AlignedPiece, Alignment as Alignment
from .sound.outputs import Rendered as Rendered

__version__: str
