"""``shotad describe FILM``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.interface import cast_or_beside, with_note
from shotad.cli.options import (
    AGAIN,
    DETAIL,
    PATH,
    SELECT,
    SLOTS_OUTSIDE,
    Console,
    SectionedCommand,
    confirm,
    console_options,
    engine_option,
    existing_option,
    film_or_address_options,
    note_text,
    open_work,
    report_failures,
    sampling_option,
    settings,
    strict_option,
)
from shotad.cli.render import sound_flags, sound_options
from shotad.core import Config
from shotad.core.errors import UsageError
from shotad.core.profiling import (
    Recording,
    lines as time_lines,
    profile_steps,
    time_step,
)
from shotad.core.progress import duration
from shotad.core.runsettings import write_settings
from shotad.core.system import quoted
from shotad.core.types import frame_rate_of
from shotad.script import CueStatus
from shotad.script.cue import timecode
from shotad.script.reasons import reason_in

if TYPE_CHECKING:
    from shotad.core import RunInputs, WorkFolder
    from shotad.description import DescribeResult, Engines
    from shotad.film import Film
    from shotad.script import Cue, LintReport
    from shotad.sound import Rendered
    from shotad.sound.outputs import OutputFile


@click.command(name="describe", cls=SectionedCommand)
@film_or_address_options
@existing_option
@click.option("--slots", type=PATH, help="Describe these slots: VTT, SRT, CSV or JSON.")
@click.option("--shots", type=PATH, help="Use these shots: CSV, JSON, EDL, a scene list of PySceneDetect.")
@engine_option
@click.option("--from", "start", metavar="T", help="Describe from this time: 90, 1:30 or 0:01:30.")
@click.option("--to", "end", metavar="T", help="Describe up to this time.")
@click.option("--detail", type=DETAIL, help="How much of the free time to fill.")
@click.option("--taste", metavar="NAME|FILE", help="Track for a taste: brief, rich, or your YAML file.")
@click.option("--language", metavar="CODE", help="Language of the description, such as en or pt-BR.")
@click.option("--candidates", type=int, metavar="N", help="Lines to choose from for each slot, 1 to 10.")
@sampling_option
@click.option("--select", type=SELECT, help="Choose slot by slot, along the film, or by asking the engine.")
@click.option(
    "--context", is_flag=True, default=None, help="Tell the models the story so far, dialogue and names."
)
@click.option("--verify", is_flag=True, default=None, help="Check each line against the frames again.")
@click.option(
    "--note", type=PATH, help="Text file with your notes on the film (default: FILM.note.txt), or off."
)
@click.option(
    "--cast", type=PATH, help="Cast folder (default: FILM.cast), cast.yaml, photos, character bank, or off."
)
@click.option("--cast-photos", type=PATH, help="Pictures of a character bank (JSON).")
@click.option("--cast-key", metavar="KEY", help="The film's key in a character bank.")
@click.option("--estimate", is_flag=True, help="Print what a run would ask and cost; send nothing.")
@click.option(
    "--show-prompts",
    "shown_slot",
    metavar="SLOT",
    help="Print what the models are asked about a slot, by its id or a time in it; send nothing.",
)
@click.option("--download", is_flag=True, help="Download FILM from its web address without asking.")
@click.option("--force", is_flag=True, help="Do everything again; people's edits stay.")
@click.option("--no-sheet", is_flag=True, help="Do not draw the worksheet.")
@sound_options
@click.option("--discard-edits", is_flag=True, help="Throw away people's edits.")
@click.option("--profile", "timed", is_flag=True, help="Print where the time went.")
@strict_option
@console_options
def command(console: Console, **options: Any) -> None:
    """Write an audio-description track of FILM.

    FILM is a film file, or a folder or tar archive of numbered frames (with --frame-rate). The track,
    its scripts and all records go to the output folder. Run the same command again to continue where it
    stopped. With --voice or --make it also speaks the lines and writes the described film, as shotad
    render does.

    FILM may also be a web address of a film, which is named and downloaded into this folder, or that of
    --out, after you said yes (extra web).

    A note and a cast that lie beside the film are used, and named in the output.

    A film that has an audio description already, inside it or beside it, is not described: exit code 4.
    --existing says otherwise.

    Exit code 1 if every slot failed; 0 if only some did (3 with --strict).
    """
    from shotad.description import Engines

    options = with_taste(with_film_here(options, console))
    config, options = settings_and_files(options, console)
    engines = Engines.of(config)
    if not options["estimate"] and options["shown_slot"] is None:
        engines.check_machine(config)

    from shotad.description import describe, lint_track, open_engines
    from shotad.script.guidelines import summary_line

    makes = makes_of(options)
    check_voice(config, makes)
    if options["taste"] is not None:
        begin_taste(options, console)
    with (
        open_work(options, config, describes=True) as (film, folder, inputs),
        profile_steps(options["timed"]) as recorded,
    ):
        if options["estimate"]:
            _print_estimate(console, film, folder, config, inputs.run_inputs, engines, recorded)
            return
        if options["shown_slot"] is not None:
            slot = options["shown_slot"]
            _print_prompts(console, film, folder, config, inputs.run_inputs, engines, slot, recorded)
            return
        # Refused before any work goes into the film where they cannot be made
        outputs = checked_outputs(makes, film, folder, config)
        for line in open_engines(config, folder.path, engines):
            console.note(line)
        outcome = describe(
            film,
            folder,
            config,
            inputs,
            engines=engines,
            progress=console,
            discard_edits=options["discard_edits"],
            sheet=not options["no_sheet"],
            on_accepted=partial(
                write_settings,
                folder,
                config,
                options["film"],
                inputs.run_inputs,
                frame_rate=frame_rate_of(options["frame_rate"]),
                configs=options["config"],
                assignments=options["assignments"],
            ),
        )
        text = summary(outcome)
        rendered: Rendered | None = None
        if outputs and not outcome.all_failed:
            if console.mode != "json":
                # Said before the voice begins, which may take long and may fail.
                console.result(text, None)
            from shotad.description.shorter_lines import shortener
            from shotad.sound import run_render
            from shotad.sound.outputs import summary as render_summary

            shorten = partial(shortener, engines=engines)
            rendered = run_render(film, folder, config, outputs, console, shorten=shorten)
            text = render_summary(rendered)
        with time_step("lint"):
            lint_report = lint_track(rendered.track if rendered else outcome.track, folder.path, config)
        guidelines = summary_line(lint_report).rstrip(".")
        lines = [text, f"Guideline check: {guidelines} (details: shotad lint)."]
        _print_result(console, lines, report(outcome, lint_report, rendered), recorded)
    if rendered is not None and rendered.failed:
        raise click.exceptions.Exit(1)
    report_failures(
        outcome.failures,
        len(outcome.cues) + len(outcome.failed_slots),
        "slots",
        all_failed=outcome.all_failed,
        strict=options["strict"],
        hint=SLOTS_OUTSIDE if outcome.only_outside else AGAIN,
    )


def _print_estimate(
    console: Console,
    film: Film,
    folder: WorkFolder,
    config: Config,
    run_inputs: RunInputs,
    engines: Engines,
    recorded: Recording | None,
) -> None:
    """Print what a run would ask and cost."""
    from shotad.description import estimate_run
    from shotad.description.estimate import estimate_json, estimate_lines

    estimate = estimate_run(film, folder, config, run_inputs, engines=engines, progress=console)
    _print_result(console, estimate_lines(estimate), estimate_json(estimate), recorded)


def _print_prompts(
    console: Console,
    film: Film,
    folder: WorkFolder,
    config: Config,
    run_inputs: RunInputs,
    engines: Engines,
    slot: str,
    recorded: Recording | None,
) -> None:
    """Print what the models would be asked about a slot, named by its id or a time in it."""
    from shotad.description import show_prompts
    from shotad.description.shown_prompts import shown_json, shown_lines

    prompts = show_prompts(film, folder, config, run_inputs, slot=slot, engines=engines, progress=console)
    _print_result(console, shown_lines(prompts), shown_json(prompts), recorded)


def checked_outputs(
    makes: Sequence[str], film: Film, folder: WorkFolder, config: Config
) -> tuple[OutputFile, ...]:
    """The files of sound that ``makes`` ask for; none where it is empty. Raises for those that cannot be."""
    if not makes:
        return ()
    from shotad.sound.outputs import film_to_lie_beside, parse_wanted, wanted_files
    from shotad.sound.render import check_wanted

    outputs = wanted_files(
        parse_wanted(makes),
        film.info.name,
        folder.path,
        language=config.language,
        beside=film_to_lie_beside(film),
    )
    check_wanted(film, outputs, config, config.language)
    return outputs


def settings_and_files(options: Mapping[str, Any], console: Console) -> tuple[Config, dict[str, Any]]:
    """The settings that the options ask for, and the options; with the note and the cast that lie beside the
    film, where none are named."""
    config = settings(options, **flags_of(options))
    film, cast = options["film"], options["cast"]
    if options["note"] is None:
        config = with_note(config, None, film, console)
    # A key or pictures belong to a bank, which has to be named: without it they are refused later.
    if options["cast_key"] is None and options["cast_photos"] is None:
        cast = cast_or_beside(cast, film, console)
    return config, {**options, "cast": cast}


def _print_result(
    console: Console, lines: list[str], content: dict[str, Any], recorded: Recording | None
) -> None:
    """Print the result, for people or for programs, with where the time went if that was recorded."""
    if recorded is not None:
        content["profile"] = recorded.as_json()
        lines += time_lines(recorded)
    console.result("\n".join(lines), content)


def with_film_here(options: Mapping[str, Any], console: Console) -> dict[str, Any]:
    """The options with the file of a film that was given by its web address, downloaded if the user wants.

    Raises UsageError where there is nobody to ask, and for ``--download`` of a film that is here.
    """
    from shotad.film.web_film import download_film, downloaded_film, look_up

    address = options["film"]
    if isinstance(address, Path):
        if options["download"]:
            raise UsageError(f"{address} is a path, and only films at web addresses are downloaded.")
        return dict(options)
    folder = Path.cwd() if options["out"] is None else options["out"].parent
    path = downloaded_film(address, folder)
    if path is not None:
        console.note(f"Downloaded before: {path}")
        return {**options, "film": path}
    film = look_up(address)
    plan = f"To be downloaded into {folder}: {film}."
    if options["download"]:
        console.note(plan)
    else:
        confirm("Download it?", "Nothing was downloaded", "Add --download to say yes.", plan=plan)
    path = download_film(film, folder, options["language"] or "en", console)
    console.note(f"Downloaded: {path}")
    return {**options, "film": path}


def with_taste(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with the settings and the work folder of ``--taste``, where it is given."""
    from shotad.description.taste import taste_config, taste_folder

    taste = options["taste"]
    if taste is None:
        return dict(options)
    configs = (*options["config"], taste_config(taste))
    return {**options, "config": configs, "out": options["out"] or taste_folder(options["film"], taste)}


def begin_taste(options: Mapping[str, Any], console: Console) -> None:
    """Give a taste's new work folder what was found in the film before."""
    from shotad.description.taste import begin_with_records

    source = begin_with_records(options["out"], options["film"])
    if source is not None:
        console.note(f"What was found in the film before is taken from {source}.")


def makes_of(options: Mapping[str, Any]) -> tuple[str, ...]:
    """What ``--make`` asks for; the described film where only a voice is named, nothing without either."""
    return tuple(options["makes"]) or (("film",) if options["voice"] else ())


def check_voice(config: Config, makes: Sequence[str]) -> None:
    """Refuse a lexicon, a file that cannot be and its voice, before any work goes into the film."""
    from shotad.sound import make_voice, read_lexicon
    from shotad.sound.outputs import parse_wanted

    read_lexicon(config.voice.lexicon)
    # Only what will speak: loading the embedded voice takes half a second.
    if makes and any(kind.is_heard for kind, _ in parse_wanted(makes)):
        make_voice(config.voice, config.language)


def flags_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that flags of this command stand for."""
    return {
        "stage2__candidates": options["candidates"],
        "stage2__draw": options["sampling"],
        "stage2__select": options["select"],
        "story__on": options["context"],
        "verify__on": options["verify"],
        "prompt__note": note_text(options["note"]),
        **sound_flags(options),
    }


def reasons_of(cues: Sequence[Cue]) -> list[str]:
    """Why each of these slots has no line as it was written: what many share once, then the first others."""
    reasons = {cue.id: reason_in(cue.reason, "en") for cue in cues}
    shared = {reason: count for reason, count in Counter(reasons.values()).items() if count > LISTED}
    lines = [f"  {count} slots: {reason}" for reason, count in shared.items()]
    with_own_reason = [cue for cue in cues if reasons[cue.id] not in shared]
    lines += [f"  {timecode(cue.interval.start)}  {reasons[cue.id]}" for cue in with_own_reason[:LISTED]]
    if len(with_own_reason) > LISTED:
        lines.append("  … the others stand in track.json.")
    return lines


def summary(outcome: DescribeResult) -> str:
    """What a describer wants to know, as plain lines."""
    counts, cues = outcome.counts, outcome.track.cues
    lines = [f"Lines: {counts['placed'] + counts['shortened']} to be spoken in {len(cues)} slots."]
    if outcome.recognised is not None:
        members: list[str] = []
        for member in outcome.recognised:
            members.append(f"{member.name} in {member.shots} {'shot' if member.shots == 1 else 'shots'}")
        nobody = "nobody of the cast (characters.json says why)"
        lines.append(f"Recognised: {', '.join(members) or nobody}.")
    if counts["edited"]:
        lines.append(f"Edited by a person and kept: {counts['edited']}.")
    for status, word in _WORDS.items():
        if counts[status.value]:
            lines.append(f"{word}: {counts[status.value]}.")
            lines += reasons_of([cue for cue in cues if cue.status is status])
    lines += [f"  {slot.id}  {slot.reason}" for slot in outcome.failed_slots]
    for silence in outcome.silences:
        lines.append(f"No speech and no AD for {duration(silence.duration)}: from {timecode(silence.start)}.")
    lines += [f"Note: {warning}" for warning in outcome.warnings]
    if outcome.used is not None:
        lines += outcome.used.lines()
    if any(maker.engine == "observer" for cue in cues if cue.provenance for maker in cue.provenance.makers):
        # What to connect for a description worth hearing: what runs here, if a model server does
        from shotad.engines import running_servers

        servers = [f"--engine WORD:MODEL with {server}" for server in running_servers()]
        means = servers or ["--engine openai with a server, --engine paper with a GPU"]
        lines.append(
            "The embedded engine describes only what small models can measure. For a fuller description "
            f"connect a vision-language model: {'; '.join(means)} (docs/engines.md)."
        )
    lines += ["Files:", *(f"  {path}" for path in outcome.files)]
    if outcome.sheet:
        lines.append(f"Worksheet: {outcome.sheet}")
    if cues and outcome.files:
        lines.append(f"Next: shotad review {quoted([str(outcome.files[0].parent)])}")
    return "\n".join(lines)


LISTED = 10
"""How many lines of one status are listed one by one."""

_WORDS = {
    CueStatus.SHORTENED: "Shortened",
    CueStatus.DROPPED: "Dropped, too long",
    CueStatus.SILENT: "Left silent",
    CueStatus.FAILED: "Failed",
}


def report(
    outcome: DescribeResult, lint_report: LintReport | None = None, rendered: Rendered | None = None
) -> dict[str, Any]:
    """The same for programs, with what lint found and what was rendered."""
    recognised = None
    if outcome.recognised is not None:
        recognised = {member.name: member.shots for member in outcome.recognised}
    guidelines = None
    if lint_report is not None:
        guidelines = {"errors": lint_report.errors, "warnings": lint_report.warnings}
    return {
        "film": outcome.track.film.name,
        "counts": outcome.counts,
        "described": [outcome.described.start, outcome.described.end],
        "silences": [[s.start, s.end] for s in outcome.silences],
        "failed_slots": [{"id": slot.id, "reason": slot.reason} for slot in outcome.failed_slots],
        "recognised": recognised,
        "warnings": list(outcome.warnings),
        "used": outcome.used.as_json() if outcome.used is not None else None,
        "files": [str(path) for path in outcome.files],
        "sheet": [str(outcome.sheet)] if outcome.sheet else [],
        "lines": [
            {
                "id": cue.id,
                "start": cue.interval.start,
                "end": cue.interval.end,
                "status": cue.status.value,
                "text": cue.text,
                "reason": reason_in(cue.reason, "en"),
            }
            for cue in outcome.track.cues
        ],
        "guidelines": guidelines,
        "rendered": None if rendered is None else rendered.as_json(),
    }
