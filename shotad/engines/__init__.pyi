from .background import (
    Belt as Belt,
    CalledOff as CalledOff,
    Flow as Flow,
    begun as begun,
    in_order as in_order,
)
from .local.fitness import check_fits as check_fits
from .local.model import LocalModel as LocalModel
from .local.names import MODELS as MODELS
from .openai.address import Address as Address, address_of as address_of, key_from as key_from
from .openai.client import Broken as Broken, ChatClient as ChatClient, need_client as need_client
from .openai.engine import OpenAI as OpenAI
from .openai.notice import notice as notice
from .openai.rate_limiter import Clock as Clock, Sleep as Sleep, asked_pause as asked_pause, pauses as pauses
from .openai.server_error import Raw as Raw, ServerError as ServerError, trouble_in as trouble_in
from .table import (
    ENGINES as ENGINES,
    best_here as best_here,
    engine_class as engine_class,
    make_engine as make_engine,
    stage_engines as stage_engines,
)
