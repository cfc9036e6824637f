"""The settings, film and files of a run, kept as ``settings.json`` in the work folder, so that later commands
can describe single slots with the same settings.

It holds no secret: keys of servers are never settings, and what stands before the host in an address, or
looks like a key behind it, is left out.

A work folder may have come from somebody else. Settings that only the user may choose (`shotad.core.trust`),
and files outside the folder of the work folder, are taken from ``settings.json`` only where it has this
user's seal or lies in a folder that the user trusts. Else they are withheld: the run is as if it had not
named them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from numbers import Real
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from shotad import __version__
from shotad.core.arguments import optional_path, path_of, text_of
from shotad.core.config import Config
from shotad.core.errors import CastError, ConfigError, UsageError, WorkFolderError, quoted
from shotad.core.files import read_file
from shotad.core.progress import address_without_secrets
from shotad.core.records import map_texts
from shotad.core.settings import assigned, build_settings, load_settings
from shotad.core.trust import (
    UserOnly,
    bears_seal,
    choices_text,
    foreign_choices,
    is_inside,
    is_trusted,
    sealed,
    setting_marks,
    without_foreign,
)
from shotad.core.workfolder import FORMAT, SETTINGS_FILE, WorkFolder, check_format, read_record

PLANNING_GROUPS = ("film", "shots", "speech", "slots")
"""Groups of settings that decide where slots are."""

RENDER_GROUPS = ("voice", "fit", "mix", "container", "extended", "lint", "film", "stage2", "openai", "local")
"""Groups of settings that may change when a finished track is spoken, mixed, written and checked."""


@dataclass(frozen=True, slots=True)
class GivenCast:
    """The cast of a run.

    Attributes:
        path: A cast folder, a ``cast.yaml``, a folder of photos, or a character bank of many films (JSON).
        key: The film's key in a character bank.
        photos: Folder with the pictures of a character bank.
    """

    path: Path
    key: str = ""
    photos: Path | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", path_of("path", self.path))
        object.__setattr__(self, "key", text_of("key", self.key))
        object.__setattr__(self, "photos", optional_path("photos", self.photos))


@dataclass(frozen=True, slots=True)
class RunInputs:
    """What the user gave beside settings: files that replace the result of a step, a part of the film, the
    cast.

    ``start`` and ``end`` are seconds of the film; None is its end. ``subtitles_found``: nobody named the
    subtitles, they lie beside the film. ``description`` is a description that the film has already, whose
    lines are kept: a script, or the film itself for a text track inside it. Raises UsageError for values that
    are no times of a film.
    """

    subtitles: Path | None = None
    slots: Path | None = None
    shots: Path | None = None
    start: float = 0.0
    end: float | None = None
    cast: GivenCast | None = None
    subtitles_found: bool = False
    description: Path | None = None

    def __post_init__(self) -> None:
        times = {"start": self.start} if self.end is None else {"start": self.start, "end": self.end}
        for name, second in times.items():
            is_number = isinstance(second, Real) and not isinstance(second, bool)
            # This refuses NaN too: no comparison with it is true.
            if not is_number or not 0 <= second <= _MAX_SECONDS:
                raise UsageError(
                    f"{name} = {quoted(second)} is no time in a film.",
                    "Give seconds from its start, 0 or more.",
                )
            # It may be a Fraction or a number of numpy, which the JSON of the record cannot hold.
            object.__setattr__(self, name, float(second))
        if self.end is not None and self.end <= self.start:
            raise UsageError(
                f"end = {self.end} does not lie after start = {self.start}.", "Give a later end."
            )


_MAX_SECONDS = 1e8
"""Seconds, three years: no film is longer."""


_GIVEN_ADAPTER = TypeAdapter(RunInputs)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """A run: its resolved settings, its film and the files given.

    ``film`` is None for a film that was not read from a file; ``frame_rate`` is that of a folder of frames.
    ``configs`` and ``assignments`` are the settings as the user wrote them.
    """

    config: Config
    film: Path | None
    given: RunInputs
    frame_rate: Fraction | None = None
    configs: tuple[str, ...] = ()
    assignments: tuple[str, ...] = field(default=())
    withheld: Mapping[str, Any] = field(default_factory=dict)
    """Values in ``settings.json`` that only the user may choose, by dotted key: they are not used."""
    folder: Path | None = None
    """The work folder that was read."""

    @property
    def warning(self) -> str | None:
        """The message for the user about settings that were withheld; None where none were."""
        if not self.withheld or self.folder is None:
            return None
        return (
            f"{self.folder / SETTINGS_FILE} was not written by you on this machine, "
            "so this is not used of it: "
            f"{choices_text(self.withheld)}. {_trust_hint(self.folder)}"
        )


def _trust_hint(folder: Path) -> str:
    """What to do if the settings in ``folder`` are the user's own."""
    return f"If the work folder is your own: shotad doctor --trust {folder.absolute()}"


def with_cast(run: RunSettings, path: Path | None) -> RunSettings:
    """The run with its cast at ``path``; with None, the run as it is.

    The key of the film in a bank and the folder of pictures stay. Raises CastError where ``path`` is None and
    the run's own cast was withheld or is not there any more.
    """
    old_cast = run.given.cast
    if path is None:
        if _CAST_KEY in run.withheld and run.folder is not None:
            cast_path = run.withheld[_CAST_KEY]
            raise CastError(
                f"The cast of this run is at {cast_path}, which {run.folder / SETTINGS_FILE} may not choose.",
                f"Say where the cast is: --cast CAST. {_trust_hint(run.folder)}",
            )
        if old_cast is not None and not old_cast.path.exists():
            raise CastError(
                f"The cast of this run is no longer at {old_cast.path}.", "Say where it is: --cast CAST."
            )
        return run
    # A JSON file is a bank of many films; only there do key and pictures mean something.
    if old_cast is not None and path.suffix.lower() == ".json":
        new_cast = replace(old_cast, path=path)
    else:
        new_cast = GivenCast(path)
    return replace(run, given=replace(run.given, cast=new_cast))


def write_settings(
    folder: WorkFolder,
    config: Config,
    film_path: Path | None,
    run_inputs: RunInputs,
    *,
    frame_rate: Fraction | None = None,
    configs: Sequence[str] = (),
    assignments: Sequence[str] = (),
) -> None:
    """Write ``settings.json``. Paths become absolute, so that a later command may run in another folder.

    The file gets a seal of this user: by it a later command knows that the user chose its values. Raises
    WorkFolderError where another program's file has that name.
    """
    _refuse_settings_of_other_programs(folder.path / SETTINGS_FILE)
    record = {
        "schema_version": FORMAT,
        "shotad": __version__,
        "film": {
            "name": None if film_path is None else film_path.name,
            "path": film_path,
            "frame_rate": None if frame_rate is None else str(frame_rate),
        },
        "given": asdict(run_inputs),
        "configs": [address_without_secrets(name) for name in configs],
        "assignments": [address_without_secrets(text) for text in assignments],
        "config": map_texts(config.model_dump(mode="json"), address_without_secrets),
    }
    text = json.dumps(record, ensure_ascii=False, indent=1, default=lambda path: str(path.absolute()))
    # The seals are of the values as they read back.
    json_record = json.loads(text)
    json_record["seal"] = {
        "config": sealed("config", _sealed_config(json_record)),
        "files": sealed("files", _sealed_files(json_record)),
    }
    folder.write_text(SETTINGS_FILE, json.dumps(json_record, ensure_ascii=False, indent=1) + "\n")


def _refuse_settings_of_other_programs(file: Path) -> None:
    """Raise WorkFolderError where ``file`` is the settings file of another program.

    Many programs have a ``settings.json``, and a folder may be named by mistake, or by a link that came with
    a film. Our files name shotad in the first lines, also when damaged. A file that a power cut left empty,
    or full of NUL bytes, may be replaced.
    """
    try:
        data = read_file(file)
    except FileNotFoundError:
        return
    if data.strip(b"\0 \t\r\n") and b'"shotad"' not in data:
        raise WorkFolderError(
            f"{file} was not written by shotad, so {file.parent} is no work folder.",
            "Name another folder with --out.",
        )


def record_cast(folder: WorkFolder, run: RunSettings, path: Path) -> None:
    """Write ``path`` into ``settings.json`` as the cast of the run.

    All else in the file stays, also the values that were withheld (`RunSettings.withheld`) with their seal.
    Raises WorkFolderError where the file is missing or damaged.
    """
    record = read_record(folder.path / SETTINGS_FILE)
    if record is None:
        raise WorkFolderError(
            f"There is no {folder.path / SETTINGS_FILE}.", "Run shotad describe on the film again."
        )
    run_inputs = replace(run.given, cast=GivenCast(path.absolute()))
    record["given"] = json.loads(json.dumps(asdict(run_inputs), default=str))
    record["film"]["path"] = None if run.film is None else str(run.film)
    old_seals = record.get("seal")
    seals = old_seals if isinstance(old_seals, dict) else {}
    # The files may be sealed: they were not withheld, or the user has just named them.
    record["seal"] = {**seals, "files": sealed("files", _sealed_files(record))}
    folder.write_text(SETTINGS_FILE, json.dumps(record, ensure_ascii=False, indent=1) + "\n")


def _sealed_config(record: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the settings that only the user may choose, by dotted key; None where one is missing."""
    values: dict[str, Any] = {}
    for dotted, marker in setting_marks(Config):
        if isinstance(marker, UserOnly):
            value: Any = record["config"]
            for part in dotted.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
            values[dotted] = value
    return values


def _sealed_files(record: Mapping[str, Any]) -> dict[str, Any]:
    """The film and the files of the run, as they stand in the record."""
    return {"film": record["film"]["path"], "given": record["given"]}


def read_settings(path: Path) -> RunSettings:
    """The run of a work folder; ``path`` is the folder or its ``settings.json``.

    Raises WorkFolderError where the file is missing, damaged or of another version of shotad.
    """
    file = path / SETTINGS_FILE if path.is_dir() else path
    check_format(file.parent)
    remedy = "Run shotad describe on the film again; what is done is not asked for twice."
    record = read_record(file, remedy)
    if record is None:
        raise WorkFolderError(f"There is no {file}, so the run's settings are not known.", remedy)
    try:
        film = record["film"]
        run = RunSettings(
            config=build_settings(Config, record["config"]),
            film=None if film["path"] is None else Path(film["path"]),
            given=_GIVEN_ADAPTER.validate_python(record["given"]),
            frame_rate=None if film["frame_rate"] is None else Fraction(film["frame_rate"]),
            configs=tuple(record["configs"]),
            assignments=tuple(record["assignments"]),
            folder=file.parent,
        )
        return run if is_trusted(file) else _without_foreign_choices(run, record)
    except ValueError as error:
        raise WorkFolderError(f"{file} is damaged: {error}.", remedy) from None
    except ConfigError as error:  # before UsageError, which is its base
        raise WorkFolderError(f"{file} cannot be used: {error.what}", remedy) from None
    except UsageError as error:
        raise WorkFolderError(f"{file} is damaged: {error.what}", remedy) from None


_CAST_KEY = "given.cast"
"""The key of the cast among values that were withheld."""
_ENGINE_SETTINGS = (
    "engine",
    "stage1.engine",
    "stage1.base_url",
    "stage2.engine",
    "stage2.base_url",
    "openai.base_url",
)
"""Settings that choose the engine and its server."""


def _without_foreign_choices(run: RunSettings, record: Mapping[str, Any]) -> RunSettings:
    """The run without the values that only the user may choose, unless the record has the user's seal for
    them.

    Settings and files have a seal each. The values left out are in ``withheld``.
    """
    assert run.folder is not None
    record_seals = record.get("seal")
    seals: Mapping[str, Any] = record_seals if isinstance(record_seals, Mapping) else {}
    withheld: dict[str, Any] = {}
    config, film, run_inputs = run.config, run.film, run.given
    if not bears_seal(seals.get("config"), "config", _sealed_config(record)):
        withheld = foreign_choices(Config(), config, run.folder)
        config = cast(Config, without_foreign(Config(), config, withheld))
    if not bears_seal(seals.get("files"), "files", _sealed_files(record)):
        # Whoever sends a work folder sends the film and its files beside it. A path elsewhere would make us
        # read a file of this machine.
        parent = run.folder.absolute().parent
        if film is not None and not is_inside(film, parent):
            film = None
        names = ("subtitles", "slots", "shots", "description")
        files: dict[str, Path | None] = {name: getattr(run_inputs, name) for name in names}
        for name, path in files.items():
            if path is not None and not is_inside(path, parent):
                withheld[f"given.{name}"] = str(path)
                files[name] = None
        run_inputs = replace(
            run_inputs,
            subtitles=files["subtitles"],
            slots=files["slots"],
            shots=files["shots"],
            description=files["description"],
        )
        if run_inputs.cast is not None:
            cast_paths = [path for path in (run_inputs.cast.path, run_inputs.cast.photos) if path is not None]
            if not all(is_inside(path, parent) for path in cast_paths):
                withheld[_CAST_KEY] = str(run_inputs.cast.path)
                run_inputs = replace(run_inputs, cast=None)
    return replace(run, config=config, film=film, given=run_inputs, withheld=withheld)


def check_engine_known(run: RunSettings, assignments: Iterable[str] = ()) -> None:
    """Raise ConfigError where the run's choice of an engine or server was withheld and ``assignments`` do not
    set it: no other engine takes its place silently."""
    assigned_keys = {text.partition("=")[0].strip() for text in assignments}
    missing: dict[str, Any] = {}
    for key in _ENGINE_SETTINGS:
        if key in run.withheld and key not in assigned_keys:
            missing[key] = run.withheld[key]
    if missing and run.folder is not None and "engine" not in assigned_keys:
        raise ConfigError(
            f"This run asked {choices_text(missing)}, and {run.folder / SETTINGS_FILE} was not written "
            "by you on this machine, so nothing is sent there.",
            f"Say whom to ask: --engine NAME or --set KEY=VALUE. {_trust_hint(run.folder)}",
        )


def run_config_with_changes(
    run: RunSettings, *, engine: str | None = None, assignments: Sequence[str] = ()
) -> Config:
    """As `config_with_changes`, for a run that was read. Raises ConfigError also as `check_engine_known`."""
    if engine is None:
        check_engine_known(run, assignments)
    return config_with_changes(run.config, engine=engine, assignments=assignments)


def config_with_changes(
    config: Config, *, engine: str | None = None, assignments: Iterable[str] = ()
) -> Config:
    """A copy of a run's settings with changes, to describe some of its slots again.

    A new ``engine`` also replaces engines, models and servers that the run chose for single stages. Raises
    ConfigError for values that cannot be set, and for settings that would move the slots of the whole film.
    """
    tree = config.model_dump(mode="json")
    if engine is not None:
        tree["engine"] = engine
        for stage in ("stage1", "stage2"):
            tree[stage] |= dict.fromkeys(("engine", "model", "revision", "base_url"))
    new_config = build_settings(Config, assigned(Config, tree, assignments))
    for group in PLANNING_GROUPS:
        if getattr(new_config, group) != getattr(config, group):
            raise ConfigError(
                f"The settings of {group} are those of the whole film and cannot be others for single slots.",
                "Run shotad describe with them.",
            )
    return new_config


def render_config(
    config: Config, files: Iterable[str] = (), assignments: Iterable[str] = (), **flags: Any
) -> Config:
    """A copy of a run's settings with changes, to speak, mix and write a track whose lines are written.

    Raises ConfigError for values that cannot be set, and for settings that have no effect at this point.
    """
    new_config = load_settings(Config, files, assignments, under=config, **flags)
    groups = {text.partition("=")[0].strip().partition(".")[0] for text in assignments}
    without_effect = sorted(groups - set(RENDER_GROUPS))
    if without_effect:
        raise ConfigError(
            f"{without_effect[0]} says nothing of how a track is spoken and mixed.",
            f"Groups that do: {', '.join(RENDER_GROUPS)}. For others run shotad describe.",
        )
    return new_config
