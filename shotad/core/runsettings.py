"""What a run was asked to do, kept as ``settings.json`` in the work folder, so that single slots can be
described again under the same terms.

It holds no secret: keys of servers are never settings, and what stands before the host in an address, or
looks like a key behind it, is left out.

A work folder may have come from somebody else. What only the user may choose (`shotad.core.trust`), and
files that lie elsewhere, are taken from ``settings.json`` only where it bears this user's seal or lies in a
folder that the user trusts. Else they are withheld: the run is as if it had not named them.
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
from shotad.core.config import Config
from shotad.core.errors import CastError, ConfigError, UsageError, WorkFolderError, quoted
from shotad.core.files import read_file
from shotad.core.progress import without_secrets
from shotad.core.records import with_texts
from shotad.core.settings import assigned, build_settings, load_settings
from shotad.core.trust import (
    UserOnly,
    bears_seal,
    choices_text,
    foreign_choices,
    is_inside,
    is_trusted,
    marks,
    sealed,
    without_foreign,
)
from shotad.core.workfolder import FORMAT, SETTINGS, WorkFolder, check_format, read_record

PLANNING = ("film", "shots", "speech", "slots")
"""Groups of settings by which slots are planned."""

HEARD = ("voice", "fit", "mix", "container", "extended", "lint", "film", "stage2", "openai", "local")
"""Groups of settings by which a track is spoken, mixed, written and checked."""


@dataclass(frozen=True, slots=True)
class GivenCast:
    """Whom to look for: a cast file or folder; of a bank of many films ``key`` and a folder of pictures."""

    path: Path
    key: str = ""
    photos: Path | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """Files that fix what a step would find, the part of the film to be described, and the cast.

    ``start`` and ``end`` are seconds of the film; None is its end. Raises UsageError for times that are none.
    """

    subtitles: Path | None = None
    slots: Path | None = None
    shots: Path | None = None
    start: float = 0.0
    end: float | None = None
    cast: GivenCast | None = None

    def __post_init__(self) -> None:
        times = {"start": self.start} if self.end is None else {"start": self.start, "end": self.end}
        for name, second in times.items():
            is_number = isinstance(second, Real) and not isinstance(second, bool)
            # Of NaN no comparison is true.
            if not is_number or not 0 <= second <= _LATEST:
                raise UsageError(
                    f"{name} = {quoted(second)} is no time in a film.",
                    "Give seconds from its start, 0 or more.",
                )
            # Also a Fraction, or a number of numpy: the record of the run is JSON.
            object.__setattr__(self, name, float(second))
        if self.end is not None and self.end <= self.start:
            raise UsageError(
                f"end = {self.end} does not lie after start = {self.start}.", "Give a later end."
            )


_LATEST = 1e8
"""Seconds, three years: no film is as long."""


_GIVEN = TypeAdapter(Given)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """A run: its resolved settings, its film and the files given, and how the settings were named.

    ``film`` is None for a film that was read from no file; ``frame_rate`` is that of numbered frames.
    """

    config: Config
    film: Path | None
    given: Given
    frame_rate: Fraction | None = None
    configs: tuple[str, ...] = ()
    assignments: tuple[str, ...] = field(default=())
    withheld: Mapping[str, Any] = field(default_factory=dict)
    """What its ``settings.json`` chose and only the user may choose, by dotted name: it is not used."""
    folder: Path | None = None
    """The work folder that was read."""

    @property
    def warning(self) -> str | None:
        """What to tell of settings that were withheld; None where there are none."""
        if not self.withheld or self.folder is None:
            return None
        return (
            f"{self.folder / SETTINGS} was not written by you on this machine, so this is not used of it: "
            f"{choices_text(self.withheld)}. {_trust_hint(self.folder)}"
        )


def _trust_hint(folder: Path) -> str:
    return f"If the work folder is your own: shotad doctor --trust {folder.absolute()}"


def with_cast(run: RunSettings, path: Path | None) -> RunSettings:
    """The run with its cast at ``path``, or as it is where that is None. Of a bank the film's key and the
    folder of pictures stay. Raises CastError where the run's own cast is not there any more."""
    before = run.given.cast
    if path is None and _CAST in run.withheld and run.folder is not None:
        what = (
            f"The cast of this run is at {run.withheld[_CAST]}, which {run.folder / SETTINGS} may not choose."
        )
        raise CastError(what, f"Say where the cast is: --cast CAST. {_trust_hint(run.folder)}")
    if path is None:
        if before is not None and not before.path.exists():
            what = f"The cast of this run is no longer at {before.path}."
            raise CastError(what, "Say where it is: --cast CAST.")
        return run
    bank = before is not None and path.suffix.lower() == ".json"
    cast = replace(before, path=path) if before is not None and bank else GivenCast(path)
    return replace(run, given=replace(run.given, cast=cast))


def write_settings(
    folder: WorkFolder,
    config: Config,
    film_path: Path | None,
    given: Given,
    *,
    frame_rate: Fraction | None = None,
    configs: Sequence[str] = (),
    assignments: Sequence[str] = (),
) -> None:
    """Write ``settings.json``. Paths become absolute, so that a later command may run elsewhere.

    It gets a seal of this user, so that a later command knows that the user chose what stands there.
    Raises WorkFolderError where another program's file has that name.
    """
    _refuse_other_programs(folder.path / SETTINGS)
    record = {
        "schema_version": FORMAT,
        "shotad": __version__,
        "film": {
            "name": None if film_path is None else film_path.name,
            "path": film_path,
            "frame_rate": None if frame_rate is None else str(frame_rate),
        },
        "given": asdict(given),
        "configs": [without_secrets(name) for name in configs],
        "assignments": [without_secrets(text) for text in assignments],
        "config": with_texts(config.model_dump(mode="json"), without_secrets),
    }
    text = json.dumps(record, ensure_ascii=False, indent=1, default=lambda path: str(path.absolute()))
    written = json.loads(text)
    written["seal"] = {
        "config": sealed("config", _sealed_config(written)),
        "files": sealed("files", _sealed_files(written)),
    }
    folder.write_text(SETTINGS, json.dumps(written, ensure_ascii=False, indent=1) + "\n")


def _refuse_other_programs(file: Path) -> None:
    """Raise WorkFolderError where the settings of another program have the name of ours: many are called so,
    and a folder may be named by mistake, or by a link that came with a film. One of ours, however damaged,
    names shotad in its first lines; one that a power cut left empty may be replaced."""
    try:
        data = read_file(file)
    except FileNotFoundError:
        return
    if data.strip(b"\0 \t\r\n") and b'"shotad"' not in data:
        raise WorkFolderError(
            f"{file} was not written by shotad, so {file.parent} is no work folder.",
            "Name another folder with --out.",
        )


def name_cast(folder: WorkFolder, run: RunSettings, path: Path) -> None:
    """Have the run of a work folder know its cast from now on.

    All else of ``settings.json`` stays: also what was withheld of it (`RunSettings.withheld`), with the seal
    that it has. Raises WorkFolderError where the file is missing or damaged.
    """
    record = read_record(folder.path / SETTINGS)
    if record is None:
        raise WorkFolderError(
            f"There is no {folder.path / SETTINGS}.", "Run shotad describe on the film again."
        )
    given = replace(run.given, cast=GivenCast(path.absolute()))
    record["given"] = json.loads(json.dumps(asdict(given), default=str))
    record["film"]["path"] = None if run.film is None else str(run.film)
    seal = record.get("seal")
    kept = seal if isinstance(seal, dict) else {}
    # The files are those that the user has, or named just now.
    record["seal"] = {**kept, "files": sealed("files", _sealed_files(record))}
    folder.write_text(SETTINGS, json.dumps(record, ensure_ascii=False, indent=1) + "\n")


def _sealed_config(record: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the settings that only the user may choose, by dotted name."""
    found: dict[str, Any] = {}
    for dotted, marker in marks(Config):
        if isinstance(marker, UserOnly):
            value: Any = record["config"]
            for part in dotted.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
            found[dotted] = value
    return found


def _sealed_files(record: Mapping[str, Any]) -> dict[str, Any]:
    """All files that the run names."""
    return {"film": record["film"]["path"], "given": record["given"]}


def read_settings(path: Path) -> RunSettings:
    """The run that ``path``, ``settings.json`` or its folder, describes.

    Raises WorkFolderError where it is missing, damaged or of another version of shotad.
    """
    file = path / SETTINGS if path.is_dir() else path
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
            given=_GIVEN.validate_python(record["given"]),
            frame_rate=None if film["frame_rate"] is None else Fraction(film["frame_rate"]),
            configs=tuple(record["configs"]),
            assignments=tuple(record["assignments"]),
            folder=file.parent,
        )
        return run if is_trusted(file) else _without_others_choices(run, record)
    except ValueError as trouble:
        raise WorkFolderError(f"{file} is damaged: {trouble}.", remedy) from None
    except ConfigError as trouble:
        raise WorkFolderError(f"{file} cannot be used: {trouble.what}", remedy) from None
    except UsageError as trouble:
        raise WorkFolderError(f"{file} is damaged: {trouble.what}", remedy) from None


_CAST = "given.cast"
_ASKED = ("engine", "stage1.engine", "stage1.base_url", "stage2.engine", "stage2.base_url", "openai.base_url")
"""Settings that say who is asked."""


def _without_others_choices(run: RunSettings, record: Mapping[str, Any]) -> RunSettings:
    """The run without what only the user may choose, unless the record bears the user's seal."""
    assert run.folder is not None
    seal = record.get("seal")
    seals: Mapping[str, Any] = seal if isinstance(seal, Mapping) else {}
    withheld: dict[str, Any] = {}
    config, film, given = run.config, run.film, run.given
    if not bears_seal(seals.get("config"), "config", _sealed_config(record)):
        withheld = foreign_choices(Config(), config, run.folder)
        config = cast(Config, without_foreign(Config(), config, withheld))
    if not bears_seal(seals.get("files"), "files", _sealed_files(record)):
        # The film and what belongs to it come beside the work folder; a file elsewhere nobody has sent along.
        home = run.folder.absolute().parent
        if film is not None and not is_inside(film, home):
            film = None
        files = {"subtitles": given.subtitles, "slots": given.slots, "shots": given.shots}
        for name, path in files.items():
            if path is not None and not is_inside(path, home):
                withheld[f"given.{name}"] = str(path)
                files[name] = None
        given = replace(given, subtitles=files["subtitles"], slots=files["slots"], shots=files["shots"])
        if given.cast is not None:
            places = [place for place in (given.cast.path, given.cast.photos) if place is not None]
            if not all(is_inside(place, home) for place in places):
                withheld[_CAST] = str(given.cast.path)
                given = replace(given, cast=None)
    return replace(run, config=config, film=film, given=given, withheld=withheld)


def check_engine_known(run: RunSettings, assignments: Iterable[str] = ()) -> None:
    """Raises ConfigError where the run named who is to be asked and this was withheld, unless
    ``assignments`` name it: nobody else is asked in its place."""
    named = {text.partition("=")[0].strip() for text in assignments}
    missing = {name: run.withheld[name] for name in _ASKED if name in run.withheld and name not in named}
    if missing and run.folder is not None and "engine" not in named:
        raise ConfigError(
            f"This run asked {choices_text(missing)}, and {run.folder / SETTINGS} was not written by you on "
            "this machine, so nothing is sent there.",
            f"Say whom to ask: --engine NAME or --set KEY=VALUE. {_trust_hint(run.folder)}",
        )


def changed_run(run: RunSettings, *, engine: str | None = None, assignments: Sequence[str] = ()) -> Config:
    """As `changed`, of a run that was read. Raises ConfigError too where it is not known whom to ask."""
    if engine is None:
        check_engine_known(run, assignments)
    return changed(run.config, engine=engine, assignments=assignments)


def changed(config: Config, *, engine: str | None = None, assignments: Iterable[str] = ()) -> Config:
    """The settings of a run with others in their place, for some of its slots.

    A new ``engine`` also takes the place of engines and models that the run chose for single stages.
    Raises ConfigError for what cannot be set, and for what would plan the slots of the whole film again.
    """
    tree = config.model_dump(mode="json")
    if engine is not None:
        tree["engine"] = engine
        for stage in ("stage1", "stage2"):
            tree[stage] |= dict.fromkeys(("engine", "model", "revision", "base_url"))
    found = build_settings(Config, assigned(tree, assignments))
    for group in PLANNING:
        if getattr(found, group) != getattr(config, group):
            raise ConfigError(
                f"The settings of {group} are those of the whole film and cannot be others for single slots.",
                "Run shotad describe with them.",
            )
    return found


def for_rendering(
    config: Config, files: Iterable[str] = (), assignments: Iterable[str] = (), **flags: Any
) -> Config:
    """The settings of a run with others in their place for what is heard. Raises ConfigError for what cannot
    be set, and for what has no effect any more once lines are written."""
    found = load_settings(Config, files, assignments, under=config, **flags)
    named = {text.partition("=")[0].strip().partition(".")[0] for text in assignments}
    if wrong := sorted(named - set(HEARD)):
        raise ConfigError(
            f"{wrong[0]} says nothing of how a track is spoken and mixed.",
            f"Groups that do: {', '.join(HEARD)}. For others run shotad describe.",
        )
    return found
