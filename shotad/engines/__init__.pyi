from .asking import (
    ANSWERS as ANSWERS,
    DESCRIPTION as DESCRIPTION,
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
    MODELS as MODELS,
    ROOM as ROOM,
    check_fits as check_fits,
)
from .openai_client import (
    Address as Address,
    Broken as Broken,
    ChatClient as ChatClient,
    address_of as address_of,
    key_from as key_from,
    key_name_of as key_name_of,
    need_client as need_client,
)
from .openai_engine import (
    OpenAI as OpenAI,
    in_order as in_order,
    notice as notice,
    silent_servers as silent_servers,
)
from .openai_wire import (
    Clock as Clock,
    Raw as Raw,
    ServerError as ServerError,
    Sleep as Sleep,
    asked_pause as asked_pause,
    pauses as pauses,
    trouble_in as trouble_in,
)
from .table import (
    ENGINES as ENGINES,
    PAPER_MEMORY as PAPER_MEMORY,
    PRESETS as PRESETS,
    answers as answers,
    best_here as best_here,
    choose as choose,
    chosen as chosen,
    engine_class as engine_class,
    make_engine as make_engine,
    running as running,
    stage_engines as stage_engines,
)
