from . import (
    arguments as arguments,
    cancellation as cancellation,
    cast as cast,
    config as config,
    engine as engine,
    errors as errors,
    file_names as file_names,
    files as files,
    installation as installation,
    memory_errors as memory_errors,
    model_batches as model_batches,
    model_cache as model_cache,
    model_loading as model_loading,
    onnx as onnx,
    profiling as profiling,
    progress as progress,
    python_words as python_words,
    records as records,
    redaction as redaction,
    runsettings as runsettings,
    settings as settings,
    shipped_files as shipped_files,
    subtitle_files as subtitle_files,
    system as system,
    text_files as text_files,
    trust as trust,
    types as types,
    weight_sources as weight_sources,
    weight_store as weight_store,
    worker_process as worker_process,
    workfolder as workfolder,
)
from .cast import (
    Cast as Cast,
    Character as Character,
    Member as Member,
)
from .config import (
    Config as Config,
    load_config as load_config,
)
from .engine import (
    Abilities as Abilities,
    Engine as Engine,
    Identity as Identity,
    Reply as Reply,
    Request as Request,
    Usage as Usage,
)
from .errors import (
    ShotadError as ShotadError,
    ShotadWarning as ShotadWarning,
)
from .progress import (
    NoProgress as NoProgress,
    Progress as Progress,
    Task as Task,
)
from .runsettings import (
    RunInputs as RunInputs,
    RunSettings as RunSettings,
)
from .settings import (
    Settings as Settings,
)
from .types import (
    Box as Box,
    Clip as Clip,
    ContextShot as ContextShot,
    Description as Description,
    FilmInfo as FilmInfo,
    FramePlan as FramePlan,
    Grammar as Grammar,
    Image as Image,
    Interval as Interval,
    Message as Message,
    Shot as Shot,
    ShotScale as ShotScale,
    Sighting as Sighting,
    Slot as Slot,
    Utterance as Utterance,
)
from .workfolder import (
    RecordLog as RecordLog,
    WorkFolder as WorkFolder,
)
