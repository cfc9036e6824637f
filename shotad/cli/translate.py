"""``shotad translate TRACK|WORKFOLDER --to LANGUAGE``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.options import (
    PATH,
    Console,
    SectionedCommand,
    console_options,
    note_text,
    report_failures,
    set_option,
    strict_option,
    track_file,
)
from shotad.core import Config, load_config
from shotad.core.config.languages import language_of
from shotad.script.cue import timecode
from shotad.script.reasons import reason_in

if TYPE_CHECKING:
    from shotad.core import Engine
    from shotad.core.runsettings import GivenCast
    from shotad.description import TranslationOutcome

_QUOTES = click.Choice(["translate", "keep"])


@click.command(name="translate", cls=SectionedCommand)
@click.argument("path", metavar="TRACK|WORKFOLDER", type=PATH)
@click.option("--to", "target", required=True, metavar="LANGUAGE", help="New language: de, pt-BR, zh-Hans.")
@click.option("--engine", metavar="NAME", help="Model that translates: openai, gpt-4o or paper.")
@set_option
@click.option("--out", type=PATH, help="Folder for the translation (default: that of the track).")
@click.option("--note", type=PATH, help="Text file with your notes on the film: people, tone.")
@click.option("--cast", type=PATH, help="The cast, whose names are not translated.")
@click.option("--quotes", type=_QUOTES, help="Text read from the screen: translate it (default), or keep it.")
@click.option("--estimate", is_flag=True, help="Print what a run would ask and cost; send nothing.")
@click.option("--force", is_flag=True, help="Translate every line again; people's edits stay.")
@click.option("--discard-edits", is_flag=True, help="Throw away people's edits of the translation.")
@strict_option
@console_options
def command(console: Console, path: Path, target: str, **options: Any) -> None:
    """Translate the audio description of a film, and keep its times.

    Each line must fit its slot at the speaking rate of the other language. The translation goes next to the
    track as track.LANGUAGE.json, with its scripts; edit it like the track. Run the same command again to
    translate only lines that failed or have changed.

    Exit code 1 if every line failed; 0 if only some did (3 with --strict).
    """
    from shotad.core import WorkFolder
    from shotad.description import estimate_translation, translate_into
    from shotad.description.engine_pair import prepare_engine, prepare_local_engines
    from shotad.description.estimate import estimate_json, estimate_lines
    from shotad.description.translation.track import read_track_to_translate, translation_languages

    tag = language_of(target).tag
    file = track_file(path)
    config, cast = _terms(file.parent, options, tag)
    source = read_track_to_translate(file, cast)
    translation_languages(source.track, tag)
    place: Path = options["out"] or file.parent
    engine = _engine(config, source.track.language)
    again = {"discard_edits": options["discard_edits"], "anew": options["force"]}
    if options["estimate"]:
        prepare_local_engines(engine)
        foreseen = estimate_translation(WorkFolder(place), source, tag, engine, config, **again)
        console.result("\n".join(estimate_lines(foreseen)), estimate_json(foreseen))
        return
    with WorkFolder(place) as folder:
        for line in _notice(engine):
            console.note(line)
        prepare_engine(engine, console)
        outcome = translate_into(folder, source, tag, engine, config, progress=console, **again)
        failed = len(outcome.failed)
        folder.note(f"translated into {tag}: {len(outcome.track.heard)} lines, {failed} without")
    console.result(summary(outcome), report(outcome))
    reasons = [reason_in(cue.reason, "en") for cue in outcome.failed]
    heard = len(outcome.track.heard)
    report_failures(reasons, len(reasons) + heard, "lines", all_failed=not heard, strict=options["strict"])


def _engine(config: Config, source: str) -> Engine:
    """The engine that translates. One that cannot is told so before it refuses to write the new language."""
    from shotad.description.translation.track import check_translates
    from shotad.engines import make_engine, stage_engines

    name = stage_engines(config).stage2
    check_translates(make_engine(name, config.model_copy(update={"language": source}), "stage2"))
    return make_engine(name, config, "stage2")


def _notice(engine: Engine) -> list[str]:
    """What leaves the machine, before the first call."""
    from shotad.engines import OpenAI

    able = engine.abilities
    where = able.destination
    lines = [f"The lines of the track leave this machine: they are sent to {where}."] if able.sends_to else []
    if isinstance(engine, OpenAI) and engine.address.is_open:
        lines.append(f"The connection to {engine.address.shown} is not encrypted (http).")
    return lines


def _terms(folder: Path, options: dict[str, Any], tag: str) -> tuple[Config, GivenCast | None]:
    """The settings of the run that wrote the track, with those given here, and its cast.

    The language becomes the new one: engines that write one language alone refuse others.
    """
    from shotad.core import RunInputs, RunSettings
    from shotad.core.runsettings import (
        GivenCast,
        read_settings,
        run_config_with_changes,
        with_cast,
    )
    from shotad.core.workfolder import SETTINGS_FILE

    path, note = options["cast"], options["note"]
    if (folder / SETTINGS_FILE).is_file():
        run = with_cast(read_settings(folder), path)
    else:
        cast = GivenCast(path) if path is not None else None
        run = RunSettings(load_config(None), None, RunInputs(cast=cast))
    flags = [f"language={tag}"]
    if options["quotes"] is not None:
        flags.append(f"translate.quotes={options['quotes']}")
    config = run_config_with_changes(
        run, engine=options["engine"], assignments=(*options["assignments"], *flags)
    )
    if note is not None:
        prompt = config.prompt.model_copy(update={"note": note_text(note)})
        config = config.model_copy(update={"prompt": prompt})
    return config, run.given.cast


def summary(outcome: TranslationOutcome) -> str:
    """What a describer wants to know, as plain lines."""
    track = outcome.track
    lines = [
        f"Lines in {language_of(track.language).name}: {len(track.heard)} to be spoken; asked for "
        f"{outcome.asked_lines}, translated before {outcome.known_lines}."
    ]
    if outcome.edited_ids:
        lines.append(f"Edited by a person and kept: {len(outcome.edited_ids)}.")
    shortened = sum(bool(cue.fit_steps) for cue in track.heard)
    if shortened:
        lines.append(f"Shortened: {shortened}.")
    if outcome.failed:
        lines.append(f"Without a translation that fits: {len(outcome.failed)}.")
        lines += [f"  {timecode(cue.start)}  {reason_in(cue.reason, 'en')}" for cue in outcome.failed]
    lines += [f"Note: {warning}" for warning in outcome.warnings]
    lines += outcome.used.lines()
    return "\n".join([*lines, "Files:", *(f"  {path}" for path in outcome.files)])


def report(outcome: TranslationOutcome) -> dict[str, Any]:
    """The same for programs."""
    return {
        "language": outcome.track.language,
        "lines": len(outcome.track.heard),
        "asked": outcome.asked_lines,
        "known": outcome.known_lines,
        "kept": list(outcome.edited_ids),
        "failed": [
            {"id": cue.id, "start": cue.start, "reason": reason_in(cue.reason, "en")}
            for cue in outcome.failed
        ],
        "warnings": list(outcome.warnings),
        "used": outcome.used.as_json(),
        "files": [str(path) for path in outcome.files],
    }
