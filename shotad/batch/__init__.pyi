from .batch import Batch as Batch, Terms as Terms
from .board import Board as Board
from .done_file import done_before as done_before
from .finding import (
    STDIN as STDIN,
    Gathered as Gathered,
    Planned as Planned,
    Planner as Planner,
    Wishes as Wishes,
    gather as gather,
    read_list as read_list,
)
from .limits import how_many as how_many, parse_size as parse_size
from .privacy_notice import Leaving as Leaving
from .ray.run import describe_on_ray as describe_on_ray
from .ray.sending import sent_to as sent_to
from .ray.settings import load_ray_settings as load_ray_settings
from .report import NAME as NAME, Report as Report, failed_in as failed_in, read_report as read_report
from .storage.fetching import read_text as read_text
from .storage.finding import Found as Found
from .storage.places import is_local as is_local, local_path as local_path
from .table import (
    Row as Row,
    as_lines as as_lines,
    as_table as as_table,
    foreseen_json as foreseen_json,
    foreseen_lines as foreseen_lines,
    labels as labels,
)
from .watching import Watch as Watch
