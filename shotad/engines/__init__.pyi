from . import (
    answer_log as answer_log,
    fake as fake,
    local_model as local_model,
    openai_client as openai_client,
    openai_engine as openai_engine,
    openai_wire as openai_wire,
    pool as pool,
    table as table,
)
from .answer_log import (
    AnswerLog as AnswerLog,
    Memory as Memory,
    NoMemory as NoMemory,
)
from .local_check import (
    ModelCheck as ModelCheck,
    check_model as check_model,
)
from .local_model import (
    check_fits as check_fits,
)
from .openai_client import (
    Address as Address,
    CallFailed as CallFailed,
    ChatClient as ChatClient,
)
from .openai_engine import (
    OpenAI as OpenAI,
    privacy_notice as privacy_notice,
)
from .openai_wire import (
    Clock as Clock,
    ServerAnswer as ServerAnswer,
    ServerError as ServerError,
)
from .pool import (
    AskingPool as AskingPool,
    ClipOnDemand as ClipOnDemand,
    StageUsage as StageUsage,
)
from .table import (
    ENGINES as ENGINES,
    PRESETS as PRESETS,
    best_preset as best_preset,
    choose_model as choose_model,
    chosen_model as chosen_model,
    engine_class as engine_class,
    make_engine as make_engine,
    running_servers as running_servers,
    stage_engines as stage_engines,
)
from .thoughts import (
    after_thoughts as after_thoughts,
    is_only_thought as is_only_thought,
    names_thought as names_thought,
)
