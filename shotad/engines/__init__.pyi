from .asking import (
    ANSWERS_RECORD as ANSWERS_RECORD,
    DESCRIPTION_PURPOSE as DESCRIPTION_PURPOSE,
    AnswerLog as AnswerLog,
    AskingPool as AskingPool,
    ClipOnDemand as ClipOnDemand,
    Memory as Memory,
    NoMemory as NoMemory,
    StageUsage as StageUsage,
    answer_key as answer_key,
    answer_record as answer_record,
    are_local_models as are_local_models,
    identity_record as identity_record,
    prompt_record as prompt_record,
    reply_of as reply_of,
    reply_record as reply_record,
    workers_of as workers_of,
)
from .local_model import (
    MEMORY_FACTOR as MEMORY_FACTOR,
    MODELS as MODELS,
    check_fits as check_fits,
)
from .openai_client import (
    Address as Address,
    CallFailed as CallFailed,
    ChatClient as ChatClient,
    address_of as address_of,
    api_key as api_key,
    key_name_of as key_name_of,
    require_httpx as require_httpx,
)
from .openai_engine import (
    OpenAI as OpenAI,
    map_in_order as map_in_order,
    privacy_notice as privacy_notice,
    silent_servers as silent_servers,
)
from .openai_wire import (
    Clock as Clock,
    ServerAnswer as ServerAnswer,
    ServerError as ServerError,
    Sleep as Sleep,
    asked_pause as asked_pause,
    error_in as error_in,
    pauses as pauses,
)
from .table import (
    ENGINES as ENGINES,
    PAPER_MEMORY as PAPER_MEMORY,
    PRESETS as PRESETS,
    best_preset as best_preset,
    choose_model as choose_model,
    chosen_model as chosen_model,
    engine_class as engine_class,
    is_running as is_running,
    make_engine as make_engine,
    running_servers as running_servers,
    stage_engines as stage_engines,
)
