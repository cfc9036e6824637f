from .cli.cue_iterator import CueIterator as CueIterator
from .cli.interface import (
    align as align,
    ask as ask,
    describe as describe,
    detect_shots as detect_shots,
    evaluate as evaluate,
    find_threads as find_threads,
    iter_cues as iter_cues,
    open_film as open_film,
    render as render,
    shot_scales as shot_scales,
)
from .core.cancellation import CancelToken as CancelToken
from .core.config import Config as Config, load_config as load_config
from .core.errors import (
    Cancelled as Cancelled,
    CastError as CastError,
    ConfigError as ConfigError,
    DatasetError as DatasetError,
    DescriptionExists as DescriptionExists,
    EditConflict as EditConflict,
    EngineError as EngineError,
    EvaluationError as EvaluationError,
    FilmChanged as FilmChanged,
    FilmError as FilmError,
    FolderInUse as FolderInUse,
    OtherFilm as OtherFilm,
    OutOfMemory as OutOfMemory,
    PromptError as PromptError,
    ScriptError as ScriptError,
    ShotadError as ShotadError,
    ShotadWarning as ShotadWarning,
    SoundError as SoundError,
    SubtitleError as SubtitleError,
    UsageError as UsageError,
    VoiceError as VoiceError,
    WeightsError as WeightsError,
    WorkFolderError as WorkFolderError,
)
from .core.progress import Progress as Progress, Task as Task
from .core.runsettings import GivenCast as GivenCast
from .core.types import Interval as Interval, Shot as Shot, ShotScale as ShotScale
from .description.film_questions import FilmAnswer as FilmAnswer, FilmMoment as FilmMoment
from .evaluation.evaluation_run import Report as Report
from .film.reader import Film as Film
from .script.cue import Cue as Cue, CueStatus as CueStatus, Doubt as Doubt
from .script.track import Track as Track, load_track as load_track
from .sound.alignment.pieces import AlignedPiece as AlignedPiece, Alignment as Alignment
from .sound.outputs import Rendered as Rendered

__version__: str
