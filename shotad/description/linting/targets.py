"""What a user asks to be checked, by name: work folders, films, tracks and scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shotad.core import (
    Config,
    NoProgress,
    Progress,
    ShotadError,
    UsageError,
    WorkFolderError,
    parse_json,
    work_folder_of,
)
from shotad.description.linting.check import Checker, lint
from shotad.description.linting.load import (
    beside_film,
    film_of,
    in_folder,
    rendered_findings,
    run_config,
    script_material,
    track_material,
)
from shotad.description.linting.screentexts import read_screen
from shotad.script import (
    RULES,
    TRACK,
    AcceptWish,
    Finding,
    Material,
    Report,
    accept_findings,
    covers,
    load_track,
    parse_wish,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Files given beside what is checked, and which rules are wanted (``only`` empty: all)."""

    speech: Path | None = None
    film: Path | None = None
    cast: Path | None = None
    language: str | None = None
    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    accept: Sequence[str] = ()
    screen: bool = False
    """Whether the film's screen is to be read, if it has not been."""


@dataclass(frozen=True, slots=True)
class Failed:
    """One of several paths, and why it could not be checked."""

    name: str
    error: ShotadError


SettingsOf = Callable[[Config | None], Config]
"""What holds for a path: the settings asked for, over those of the run that wrote its work folder, if any."""


def checked_paths(
    paths: Sequence[Path], settings: SettingsOf, asked: Asked, progress: Progress | None = None
) -> Iterator[Report | Failed]:
    """A report for each path, as they come. Raises ShotadError for what is no rule, and for a single path
    that cannot be checked."""
    _check_rules((*asked.only, *asked.skip))
    wishes = [parse_wish(wish) for wish in asked.accept]
    checkers: list[Checker] = []
    for path in paths:
        try:
            report = _checked_path(path, settings, checkers, asked, progress or NoProgress())
            if wishes:
                report = _accepting(report, wishes, _folder_of(path))
        except ShotadError as error:
            if len(paths) == 1:
                raise
            yield Failed(str(path), error)
        else:
            yield report


def _checked_path(
    path: Path, settings: SettingsOf, checkers: list[Checker], asked: Asked, progress: Progress
) -> Report:
    file, folder = _found(path)
    beside = folder or (work_folder_of(asked.film) if asked.film is not None else None)
    config = settings(run_config(beside) if beside is not None else None)
    checker = _checker(checkers, config)
    return _wanted(_checked(file, folder, checker, config, asked, progress), asked)


def _folder_of(path: Path) -> Path:
    """Where it stands what of a path was accepted."""
    file, folder = _found(path)
    return folder or file.parent


def _checker(made: list[Checker], config: Config) -> Checker:
    """A checker by these settings: words are read, and a parser is loaded, once."""
    for checker in made:
        if (checker.settings, checker.fit) == (config.lint, config.fit):
            return checker
    made.append(Checker.of(config.lint, config.fit))
    return made[-1]


def _checked(
    file: Path,
    folder: Path | None,
    checker: Checker,
    config: Config,
    asked: Asked,
    progress: Progress,
) -> Report:
    if _is_track(file):
        track = load_track(file)
        material, skipped = track_material(track, folder, speech=asked.speech, cast=asked.cast)
        extra = rendered_findings(folder) if folder is not None and file.name == TRACK else ()
    else:
        language = asked.language or config.language
        material = script_material(file, language, speech=asked.speech, cast=asked.cast)
        skipped, extra = (), ()
        if folder is not None:
            material, skipped = in_folder(material, folder, load_track(folder / TRACK))
    if asked.film is not None:
        material = beside_film(material, asked.film)
    if asked.screen:
        material = _with_screen(material, folder, config, asked, progress)
    return lint(material, checker, extra=extra, folder=folder or file.parent, skipped=skipped)


def _with_screen(
    material: Material, folder: Path | None, config: Config, asked: Asked, progress: Progress
) -> Material:
    """The material with the texts of its film, read now unless they were before."""
    film = asked.film or (film_of(folder) if folder is not None else None)
    if film is None:
        what = f"The screen cannot be read: it is not known which film {material.name} belongs to."
        raise UsageError(what, "Name the film: --film FILM.")
    kept_in = folder if folder is not None else work_folder_of(film)
    spoken = [utterance.interval for utterance in material.speech or ()]
    return replace(material, texts=read_screen(film, kept_in, config, spoken, progress=progress))


def _found(path: Path) -> tuple[Path, Path | None]:
    """The file of lines that ``path`` means, and the work folder that it belongs to; None for a script that
    lies elsewhere."""
    for folder in (path, work_folder_of(path)):
        if (folder / TRACK).is_file():
            return folder / TRACK, folder
    if path.is_file() and not is_film(path):
        return path, path.parent if _is_track(path) or (path.parent / TRACK).is_file() else None
    what = f"{path} has no track: there is no {TRACK} in it or in {work_folder_of(path)}."
    raise WorkFolderError(what, "Run shotad describe first, or name a work folder or a script.")


def is_film(path: Path) -> bool:
    """Whether a file is none of text, and no package of documents: then it is taken for a film."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    is_text = head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" not in head
    return not is_text and not head.startswith(b"PK\x03\x04")


_HEAD = 4096
"""Bytes that are looked at."""


def _is_track(path: Path) -> bool:
    """Whether a file is a track and no plain script in JSON."""
    if path.suffix.lower() != ".json":
        return False
    try:
        head = parse_json(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return path.name == TRACK
    return isinstance(head, dict) and "schema_version" in head and "film" in head


def _check_rules(names: Sequence[str]) -> None:
    known = [*RULES, "T", "L", "A"]
    for name in names:
        if name.upper() not in known and not name.islower():
            raise UsageError(
                f"There is no rule {name!r}.", f"There are {', '.join(RULES)}; T, L and A mean all of theirs."
            )


def _wanted(report: Report, asked: Asked) -> Report:
    """The report with the rules that were asked for."""

    def is_wanted(finding: Finding) -> bool:
        named = not asked.only or any(covers(rule, finding.rule) for rule in asked.only)
        return named and not any(covers(rule, finding.rule) for rule in asked.skip)

    found = tuple(filter(is_wanted, report.findings))
    return replace(report, findings=found, accepted=tuple(filter(is_wanted, report.accepted)))


def _accepting(report: Report, wishes: Sequence[AcceptWish], folder: Path) -> Report:
    """Write down what is accepted; the report without it."""
    chosen = [finding for finding in report.findings if any(wish.covers(finding) for wish in wishes)]
    if not chosen:
        what = f"Nothing is found that {', '.join(wish.rule for wish in wishes)} could mean."
        raise UsageError(what, "Name rule and line as they are told: L4:s00083120.")
    accept_findings(folder, chosen, report.lines)
    left = tuple(finding for finding in report.findings if finding not in chosen)
    return replace(report, findings=left, accepted=(*report.accepted, *chosen))
