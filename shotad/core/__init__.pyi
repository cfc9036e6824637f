from .addresses import without_secrets as without_secrets
from .archives import Tar as Tar, is_tar as is_tar, read_limited as read_limited
from .clip_cast import NOBODY as NOBODY, Character as Character, Mark as Mark, Presence as Presence
from .compute import device_of as device_of, dtype_of as dtype_of, need as need, need_torch as need_torch
from .config import (
    Config as Config,
    ConfigNames as ConfigNames,
    config_names as config_names,
    load_config as load_config,
)
from .config.film import (
    ContextSettings as ContextSettings,
    FrameSettings as FrameSettings,
    OverlaySettings as OverlaySettings,
    ShotSettings as ShotSettings,
    SlotSettings as SlotSettings,
    SpeechSettings as SpeechSettings,
)
from .config.languages import (
    Language as Language,
    is_english as is_english,
    language_of as language_of,
    languages as languages,
    name_of as name_of,
)
from .config.measures import (
    JudgeSettings as JudgeSettings,
    MeasureSettings as MeasureSettings,
    RecallSettings as RecallSettings,
    ReportSettings as ReportSettings,
)
from .config.sight import (
    CastSettings as CastSettings,
    ComputeSettings as ComputeSettings,
    ScaleSettings as ScaleSettings,
    ThreadSettings as ThreadSettings,
)
from .config.sound import (
    LOUDNESS_PROFILES as LOUDNESS_PROFILES,
    ContainerSettings as ContainerSettings,
    ExtendedSettings as ExtendedSettings,
    FitSettings as FitSettings,
    LintSettings as LintSettings,
    LoudnessProfile as LoudnessProfile,
    MixSettings as MixSettings,
    VoiceSettings as VoiceSettings,
)
from .config.translating import TranslateSettings as TranslateSettings
from .config.words import (
    EndpointSettings as EndpointSettings,
    LocalSettings as LocalSettings,
    PromptSettings as PromptSettings,
    SamplingSettings as SamplingSettings,
    Stage2Settings as Stage2Settings,
)
from .engine import (
    Abilities as Abilities,
    Counting as Counting,
    Engine as Engine,
    Foreseeable as Foreseeable,
    Identity as Identity,
    Preparing as Preparing,
    Reply as Reply,
    Request as Request,
    Scene as Scene,
    Stage as Stage,
    Usage as Usage,
)
from .errors import (
    CastError as CastError,
    ConfigError as ConfigError,
    DatasetError as DatasetError,
    EditConflict as EditConflict,
    EngineError as EngineError,
    EvaluationError as EvaluationError,
    FilmError as FilmError,
    InUse as InUse,
    NoRoom as NoRoom,
    OtherFilm as OtherFilm,
    OutOfDate as OutOfDate,
    PromptError as PromptError,
    RefusalError as RefusalError,
    ReviewError as ReviewError,
    ScriptError as ScriptError,
    ShotadError as ShotadError,
    ShotadWarning as ShotadWarning,
    SoundError as SoundError,
    StorageError as StorageError,
    SubtitleError as SubtitleError,
    UsageError as UsageError,
    VoiceError as VoiceError,
    WeightsError as WeightsError,
    WorkFolderError as WorkFolderError,
)
from .hub import (
    NETWORK as NETWORK,
    WANTED_WITH_WORDS as WANTED_WITH_WORDS,
    HubModel as HubModel,
    broken as broken,
    cache_place as cache_place,
    cached as cached,
    fingerprint as fingerprint,
    is_model_folder as is_model_folder,
    model_folder as model_folder,
    reason as reason,
    weight_files as weight_files,
)
from .info import (
    AudioTrack as AudioTrack,
    FilmInfo as FilmInfo,
    SubtitleTrack as SubtitleTrack,
    file_fingerprint as file_fingerprint,
)
from .members import Cast as Cast, Member as Member, Reveal as Reveal, same_film as same_film
from .namewords import (
    HER_TITLES as HER_TITLES,
    HIS_TITLES as HIS_TITLES,
    NAME_TITLES as NAME_TITLES,
    PARTICLES as PARTICLES,
    STARTERS as STARTERS,
    WORD_NAMES as WORD_NAMES,
)
from .observations import (
    Colour as Colour,
    Facts as Facts,
    FigureFact as FigureFact,
    Framing as Framing,
    LightFact as LightFact,
    Look as Look,
    MotionFact as MotionFact,
    Movement as Movement,
    Named as Named,
    PeopleFact as PeopleFact,
    Place as Place,
    TextFact as TextFact,
    TextKind as TextKind,
    ThingFact as ThingFact,
)
from .printing import (
    is_text as is_text,
    on_terminal as on_terminal,
    printable as printable,
    seen as seen,
    sentence as sentence,
    unnamed as unnamed,
)
from .profiling.keeping import FILE as FILE, profiled as profiled
from .profiling.marks import (
    counted as counted,
    in_room as in_room,
    span as span,
    spanned as spanned,
    waiting as waiting,
)
from .profiling.recorder import Recording as Recording
from .profiling.report import lines as lines
from .progress import (
    Display as Display,
    Mode as Mode,
    NoProgress as NoProgress,
    Progress as Progress,
    Task as Task,
    display_mode as display_mode,
    duration as duration,
    reported as reported,
)
from .quiet import (
    loading_quiet as loading_quiet,
    native_quiet as native_quiet,
    while_nothing_is_loaded as while_nothing_is_loaded,
)
from .recordlog import RecordLog as RecordLog
from .records import (
    clip_rows as clip_rows,
    description_of as description_of,
    description_row as description_row,
    interval_rows as interval_rows,
    parse_json as parse_json,
    read_record as read_record,
    seconds as seconds,
    shot_rows as shot_rows,
    shots_of as shots_of,
    slot_rows as slot_rows,
    slots_of as slots_of,
    utterance_rows as utterance_rows,
    utterances_of as utterances_of,
    whole_record as whole_record,
)
from .resources import (
    data_root as data_root,
    dataset_names as dataset_names,
    dataset_path as dataset_path,
    prompt_text as prompt_text,
    saying_text as saying_text,
    word_files as word_files,
)
from .runsettings import (
    SETTINGS as SETTINGS,
    Given as Given,
    GivenCast as GivenCast,
    RunSettings as RunSettings,
    changed as changed,
    for_rendering as for_rendering,
    read_settings as read_settings,
    with_cast as with_cast,
    write_settings as write_settings,
)
from .settings import (
    Settings as Settings,
    assignments_of as assignments_of,
    build_settings as build_settings,
    load_settings as load_settings,
    read_yaml as read_yaml,
)
from .system import (
    forget_peak as forget_peak,
    gpu_memory as gpu_memory,
    interruptible as interruptible,
    leave as leave,
    memory_free as memory_free,
    memory_of as memory_of,
    memory_total as memory_total,
    peak_memory as peak_memory,
    processors as processors,
)
from .threadnames import thread_name as thread_name, thread_number as thread_number
from .types import (
    Box as Box,
    Clip as Clip,
    ContextShot as ContextShot,
    Description as Description,
    FramePlan as FramePlan,
    GainPoint as GainPoint,
    Grammar as Grammar,
    Image as Image,
    Interval as Interval,
    Message as Message,
    Role as Role,
    Seconds as Seconds,
    Shot as Shot,
    ShotScale as ShotScale,
    Sighting as Sighting,
    Slot as Slot,
    SpeechKind as SpeechKind,
    Utterance as Utterance,
    slot_id as slot_id,
)
from .weight_store import (
    Weights as Weights,
    at_hand as at_hand,
    cache_folder as cache_folder,
    manifest as manifest,
    obtainable as obtainable,
    state as state,
    weights as weights,
    weights_file as weights_file,
    weights_folder as weights_folder,
)
from .wholefiles import (
    readable_json as readable_json,
    replacing as replacing,
    sweep as sweep,
    sweep_beside as sweep_beside,
    write_bytes as write_bytes,
    write_text as write_text,
)
from .workfolder import (
    WorkFolder as WorkFolder,
    key_of as key_of,
    stem_of as stem_of,
    work_folder_of as work_folder_of,
)
