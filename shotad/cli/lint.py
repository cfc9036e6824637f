"""``shotad lint PATH …``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.options import (
    PATH,
    Console,
    SectionedCommand,
    console_options,
    encoding_option,
    settings_options,
)
from shotad.core.config.languages import language_of
from shotad.core.errors import UsageError

if TYPE_CHECKING:
    from shotad.core import Config


@click.command(name="lint", cls=SectionedCommand)
@click.argument("paths", nargs=-1, metavar="[FILM|WORKFOLDER|SCRIPT]...", type=PATH)
@click.option("--speech", type=PATH, help="Subtitles of the film.")
@encoding_option
@click.option("--film", "film_file", type=PATH, help="The film of a script.")
@click.option("--read-screen", is_flag=True, help="Read text on the screen, for rules L11 and L12.")
@click.option("--cast", type=PATH, help="The cast, to check names.")
@click.option("--language", metavar="CODE", help="Language of a script; a track has its own.")
@click.option("--words", multiple=True, type=PATH, help="File or folder with more words; repeatable.")
@click.option(
    "--level", type=click.Choice(["error", "warning"]), default="warning", help="Lowest level shown."
)
@click.option("--strict", is_flag=True, help="Exit with code 1 for warnings too.")
@click.option("--only", multiple=True, metavar="RULES", help="Only these rules, such as T,L3; repeatable.")
@click.option("--skip", multiple=True, metavar="RULES", help="All rules except these; repeatable.")
@click.option("--ignore", multiple=True, metavar="RULE[:LINE]", help="Hide a finding, such as L4:s00083120.")
@click.option("--accept", multiple=True, metavar="RULE[:LINE]", help="Accept a finding for good.")
@click.option("--list", "listing", is_flag=True, help="List the rules.")
@settings_options
@console_options
def command(console: Console, paths: tuple[Path, ...], **options: Any) -> None:
    """Check audio description against describers' guidelines.

    Name a described film, its work folder, a track, or a script from any program. Rules that need the film
    use the records of the work folder, or the files that you name; it says which rules could not be checked.
    The settings are those of the run that wrote the track; --config and --set change them.

    Exit code 1 for an error, which must be mended before you publish.
    """
    from shotad.script import LintReport
    from shotad.script.guidelines import (
        report_json,
        report_text,
        rules_json,
        rules_text,
    )

    if options["listing"]:
        console.result(rules_text(), rules_json())
        return
    if not paths:
        raise UsageError("There is nothing to check.", "Name a film, a work folder, or a script.")
    every = options["level"] == "warning"
    from shotad.description.linting.check import LintTargets, lint_paths

    targets = LintTargets(
        speech=options["speech"],
        film=options["film_file"],
        cast=options["cast"],
        language=None if options["language"] is None else language_of(options["language"]).tag,
        only=_rules(options["only"]),
        skip=_rules(options["skip"]),
        accept=options["accept"],
        screen=options["read_screen"],
    )
    code, texts = 0, []
    rows: list[dict[str, Any]] = []
    for result in lint_paths(paths, lambda run: _settings(options, run), targets, console):
        if isinstance(result, LintReport):
            texts.append(report_text(result, warnings=every))
            rows.append(report_json(result))
            code = max(code, int(bool(result.errors or (options["strict"] and result.warnings))))
        else:
            path, error = result
            texts.append(f"{path} is not checked: {error}")
            rows.append({"name": str(path), "error": error.what, "hint": error.hint})
            code = max(code, error.exit_code)
    console.result("\n\n".join(texts), rows[0] if len(paths) == 1 else rows)
    if code:
        raise click.exceptions.Exit(code)


def _settings(options: dict[str, Any], run: Config | None) -> Config:
    """What was asked for, over the settings of the run that wrote the track."""
    from shotad.core import Config
    from shotad.core.settings import load_settings

    config = load_settings(
        Config,
        options["config"],
        options["assignments"],
        under=run,
        speech__encoding=options["encoding"],
    )
    words = (*config.lint.words, *(str(path) for path in options["words"]))
    ignore = (*config.lint.ignore, *options["ignore"])
    lint = config.lint.model_copy(update={"words": words, "ignore": ignore})
    return config.model_copy(update={"lint": lint})


def _rules(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(rule.strip() for text in texts for rule in text.split(",") if rule.strip())
