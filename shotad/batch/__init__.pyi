from .batch import Batch as Batch, BatchProgress as BatchProgress
from .fetching import read_text as read_text
from .films import Watch as Watch
from .jobs import FilmJob as FilmJob, done_before as done_before
from .limits import how_many as how_many, parse_size as parse_size
from .places import is_local as is_local, local_path as local_path
from .planning import (
    STDIN as STDIN,
    Leaving as Leaving,
    Planned as Planned,
    Planner as Planner,
    gather as gather,
    only as only,
    read_list as read_list,
)
from .ray.cluster import load_ray_settings as load_ray_settings
from .ray.run import describe_on_ray as describe_on_ray, sent_to as sent_to
from .store import Entry as Entry
from .table import (
    NAME as NAME,
    FilmRow as FilmRow,
    Report as Report,
    as_lines as as_lines,
    as_table as as_table,
    failed_in as failed_in,
    foreseen_json as foreseen_json,
    foreseen_lines as foreseen_lines,
    labels as labels,
    read_report as read_report,
)
