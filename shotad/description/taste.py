"""A track for a listener's taste: settings from a file, in a work folder of its own.

What was found in a film and what Stage I answered depend on no taste, so a new folder begins with the records
of one that is there: several tracks from one look at the film.
"""

from __future__ import annotations

import glob
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from shotad.core import Config
from shotad.core.arguments import refuse_too_long
from shotad.core.errors import ConfigError, WorkFolderError
from shotad.core.files import refuse_special
from shotad.core.settings import holds_settings, named_configs
from shotad.core.workfolder import SETTINGS_FILE, file_stem, read_record, work_folder_of

SHARED_RECORDS = (
    "shots.json",
    "speech.json",
    "heard.json",
    "credits.json",
    "transcript.json",
    "transcript.vtt",
    "grammar.json",
    "faces.jsonl",
    "discovered.jsonl",
    "cast-faces.json",
    "slots.hand.json",
    "answers.jsonl",
    "pronunciation.txt",
)
"""Records that are the film's, or answers to questions: no slots, lines or settings. A record whose key does
not fit the taste's settings is made anew."""


PREFIX = "taste-"
"""How the names of configs begin that are tastes."""


def taste_config(taste: str) -> str:
    """The name or file of a taste's settings: ``brief`` is the config ``taste-brief``, ``my.yaml`` a file.

    Raises ConfigError for a taste that is neither, for a file that is called as a taste of shotad, and for
    one without a setting.
    """
    refuse_too_long(Path(taste))
    tastes = [name.removeprefix(PREFIX) for name in named_configs() if name.startswith(PREFIX)]
    if _is_file(taste):
        if not Path(taste).is_file():
            raise ConfigError(f"There is no file {taste}.", _names_hint(tastes), usage=False)
        if Path(taste).stem.casefold() in tastes:
            raise ConfigError(
                f"{taste} has the name of a taste of shotad, and both tracks would share a folder.",
                "Rename the file.",
            )
        if not holds_settings(Config, taste):
            raise ConfigError(
                f"{taste} holds no setting, so its track would be that of the film once more.",
                "Write what is to be different, such as slots: {detail: brief}.",
            )
        return taste
    if taste not in tastes:
        files = [f"{taste}{ending}" for ending in (".yaml", ".yml")]
        file = next((name for name in files if Path(name).is_file()), None)
        hint = _names_hint(tastes) if file is None else f"Name your file with its ending: --taste {file}"
        raise ConfigError(f"There is no taste {taste!r}.", hint)
    return f"{PREFIX}{taste}"


def _names_hint(tastes: Sequence[str]) -> str:
    return f"Name one of {', '.join(tastes)}, or your YAML file (--taste my.yaml)."


def taste_folder(film: Path, taste: str) -> Path:
    """The work folder of a taste beside the film: ``movie.mp4``, ``brief`` → ``movie.brief.shotad``.

    ``taste`` is one that `taste_config` takes.
    """
    name = file_stem(Path(taste).name) if _is_file(taste) else taste
    usual = work_folder_of(film)
    return usual.with_name(f"{usual.stem}.{name}{usual.suffix}")


def begin_with_records(folder: Path, film: Path) -> Path | None:
    """Copy what was found in the film into a taste's folder that is not there yet.

    Returns the folder from which it came: the film's own, else that of another taste. None where nothing was
    copied.
    """
    if folder.exists():
        return None
    usual = work_folder_of(film)
    of_tastes = sorted(film.parent.glob(f"{glob.escape(usual.stem)}.*{usual.suffix}"))
    source = next((place for place in (usual, *of_tastes) if _is_of_film(place, film)), None)
    if source is None:
        return None
    # Renamed when it is whole: a folder that is there is not begun again.
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}-", dir=folder.parent) as place:
        beginning = Path(place) / "records"
        beginning.mkdir()
        for name in SHARED_RECORDS:
            refuse_special(source / name)
            if (source / name).is_file():
                shutil.copy2(source / name, beginning / name)
        beginning.rename(folder)
    return source


def _is_of_film(folder: Path, film: Path) -> bool:
    """Whether a work folder holds a run of ``film``: ``movie.2.shotad`` may be that of ``movie.2.mp4``."""
    try:
        settings = read_record(folder / SETTINGS_FILE)
    except WorkFolderError:
        return False
    if settings is None:
        return False
    # A film that was moved keeps its folders, and a renamed one the folder that is called after it.
    return folder == work_folder_of(film) or settings["film"]["name"] == film.name


def _is_file(taste: str) -> bool:
    return Path(taste).suffix.lower() in (".yaml", ".yml")
