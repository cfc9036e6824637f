"""What a user asks to be checked, by name: work folders, films, tracks and scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shotad.config import Config
from shotad.errors import ConfigError, UsageError
from shotad.lint.accepted import Wish, accept, covers, parse_wish
from shotad.lint.book import RULES
from shotad.lint.check import Checker, lint
from shotad.lint.gather import beside_film, rendered_findings, script_material, track_material
from shotad.lint.report import Report
from shotad.script.rules import Finding
from shotad.script.track import load_track
from shotad.tracking import TRACK
from shotad.workfolder import work_folder_of


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


def checked_paths(paths: Sequence[Path], config: Config, asked: Asked) -> list[Report]:
    """A report for each path. Raises ShotadError for what cannot be read or is no rule."""
    _check_rules((*asked.only, *asked.skip))
    wishes = [parse_wish(wish) for wish in asked.accept]
    checker = Checker.of(config.lint, config.fit)
    reports = []
    for path in paths:
        report, folder = _checked(path, checker, config, asked)
        reports.append(
            _accepting(_wanted(report, asked), wishes, folder) if wishes else _wanted(report, asked)
        )
    return reports


def _checked(path: Path, checker: Checker, config: Config, asked: Asked) -> tuple[Report, Path | None]:
    file, folder = _found(path)
    if _is_track(file):
        track = load_track(file)
        material, skipped = track_material(track, folder, speech=asked.speech, cast=asked.cast)
        extra = rendered_findings(folder) if folder is not None and file.name == TRACK else ()
        return lint(material, checker, extra=extra, folder=folder, skipped=skipped), folder
    language = asked.language or config.language
    material = script_material(file, language, speech=asked.speech, cast=asked.cast)
    if asked.film is not None:
        material = beside_film(material, asked.film)
    return lint(material, checker, folder=file.parent, skipped=()), file.parent


def _found(path: Path) -> tuple[Path, Path | None]:
    """The file of lines that ``path`` means, and the work folder that it belongs to."""
    for folder in (path, work_folder_of(path)):
        if (folder / TRACK).is_file():
            return folder / TRACK, folder
    if path.is_file():
        return path, path.parent
    what = f"{path} has no track: there is no {TRACK} in it or in {work_folder_of(path)}."
    raise UsageError(what, "Run shotad describe first, or name a work folder or a script.")


def _is_track(path: Path) -> bool:
    """Whether a file is a track and no plain script in JSON."""
    if path.suffix.lower() != ".json":
        return False
    try:
        head = json.loads(path.read_text(encoding="utf-8-sig"))
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


def _accepting(report: Report, wishes: Sequence[Wish], folder: Path | None) -> Report:
    """Write down what is accepted; the report without it."""
    if folder is None:
        raise ConfigError("What is accepted is kept in the work folder, and there is none.", "Use --ignore.")
    chosen = [finding for finding in report.findings if any(wish.covers(finding) for wish in wishes)]
    if not chosen:
        what = f"Nothing is found that {', '.join(wish.rule for wish in wishes)} could mean."
        raise UsageError(what, "Name rule and line as they are told: L4:s00083120.")
    accept(folder, chosen, report.lines)
    left = tuple(finding for finding in report.findings if finding not in chosen)
    return replace(report, findings=left, accepted=(*report.accepted, *chosen))
