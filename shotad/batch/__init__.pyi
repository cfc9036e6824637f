from . import (
    jobs as jobs,
    places as places,
    store as store,
)
from .batch import (
    Batch as Batch,
    BatchProgress as BatchProgress,
)
from .downloads import (
    read_text as read_text,
)
from .existing import (
    existing_choice as existing_choice,
    foreseen_by_existing as foreseen_by_existing,
)
from .film_run import (
    describe_film as describe_film,
)
from .films import (
    Watch as Watch,
)
from .jobs import (
    FilmJob as FilmJob,
    FilmResult as FilmResult,
    earlier_result as earlier_result,
    failure as failure,
)
from .limits import (
    auto_jobs as auto_jobs,
    free_disk as free_disk,
    parse_size as parse_size,
)
from .places import (
    is_local as is_local,
    local_path as local_path,
)
from .planner import (
    STDIN as STDIN,
    PlannedFilm as PlannedFilm,
    Planner as Planner,
    PrivacyNotices as PrivacyNotices,
    films_named as films_named,
    find_films as find_films,
    read_list as read_list,
)
from .ray.cluster import (
    load_ray_settings as load_ray_settings,
)
from .ray.run import (
    describe_on_ray as describe_on_ray,
    servers_asked as servers_asked,
)
from .store import (
    StoredObject as StoredObject,
)
from .table import (
    REPORT_FILE as REPORT_FILE,
    BatchReport as BatchReport,
    FilmRow as FilmRow,
    as_lines as as_lines,
    as_table as as_table,
    check_report as check_report,
    dry_run_json as dry_run_json,
    dry_run_lines as dry_run_lines,
    failed_in as failed_in,
    film_labels as film_labels,
    read_report as read_report,
)
