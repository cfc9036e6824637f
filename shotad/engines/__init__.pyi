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
