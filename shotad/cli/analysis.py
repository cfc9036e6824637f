"""``shotad shots``, ``slots``, ``grammar`` and ``sheet``: what is found in a film, and its worksheet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.options import (
    DETAIL,
    PATH,
    Console,
    console_options,
    film_file_option,
    film_options,
    open_work,
    settings,
)
from shotad.core import Interval
from shotad.core.errors import UsageError
from shotad.core.records import (
    interval_rows,
    slot_rows,
    utterance_rows,
)
from shotad.film.slot_records import hand_row
from shotad.script.cue import timecode


@click.command(name="shots")
@film_options
@click.option("--force", is_flag=True, help="Find the shots again.")
@console_options
def shots_command(console: Console, **options: Any) -> None:
    """Find the shots of FILM, and keep them in its work folder."""
    from shotad.description import RunContext
    from shotad.description.preparation import film_shots

    config = settings(options)
    with open_work(options, config) as (film, folder, inputs):
        film_shots(RunContext.of(film, folder, config, inputs, console))
        record = folder.read_json("shots.json") or {}
    rows = record["shots"]
    lines = [f"{'shot':>5}  {'start':>13}  {'end':>13}  {'seconds':>8}"]
    lines += [
        f"{i:>5}  {timecode(row['start']):>13}  {timecode(row['end']):>13}  {row['end'] - row['start']:>8.3f}"
        for i, row in enumerate(rows)
    ]
    lines.append(f"{len(rows)} shots, mean length {record['end'] / len(rows):.2f} s.")
    if record.get("damage"):
        lines.append(f"Note: {record['damage']}")
    console.result("\n".join(lines), {name: record.get(name) for name in ("film", "end", "damage", "shots")})


@click.command(name="slots")
@film_options
@click.option("--shots", type=PATH, help="Use these shots: CSV, JSON, EDL, a scene list of PySceneDetect.")
@click.option("--detail", type=DETAIL, help="How much of the free time to fill.")
@click.option("--force", is_flag=True, help="Find speech and slots again.")
@console_options
def slots_command(console: Console, **options: Any) -> None:
    """Find the speech in FILM, and the slots in which AD can be spoken."""
    from shotad.description import RunContext, prepare
    from shotad.film.slots import explain_few_slots

    config = settings(options)
    with (
        open_work(options, config) as (film, folder, inputs),
        RunContext.of(film, folder, config, inputs, console) as context,
    ):
        prepared = prepare(context)
    events = [(u.interval, "speech", u.text) for u in prepared.speech]
    added = {slot.id for slot in prepared.added}
    by_hand = dict.fromkeys(added, ", added by a person")
    for slot in prepared.slots:
        voice = f", {slot.voice.words}" if slot.voice else ""
        text = f"{slot.id}, {slot.max_words} words{by_hand.get(slot.id, '')}{voice}"
        events.append((slot.interval, "slot", text))
    lines = [
        f"{timecode(interval.start):>13}  {timecode(interval.end):>13}  {kind:6}  {text}".rstrip()
        for interval, kind, text in sorted(events)
    ]
    free = sum(gap.duration for gap in prepared.gaps)
    used = sum(slot.interval.duration for slot in prepared.slots)
    lines.append(f"{len(prepared.slots)} slots, {used:.1f} s of {free:.1f} s without speech.")
    few = explain_few_slots(prepared.slots, prepared.gaps, Interval(0.0, prepared.end), config.slots)
    if few:
        lines.append(f"Note: {few}")
    lines += [f"Note: {warning}" for warning in prepared.warnings]
    if prepared.hand:
        lines.append(
            f"By hand: {len(prepared.hand.added)} added, {len(prepared.hand.removed)} removed "
            "(slots.hand.json)."
        )
    value = {
        "film": prepared.info.name,
        "end": prepared.end,
        "speech": utterance_rows(prepared.speech),
        "gaps": interval_rows(prepared.gaps),
        "slots": slot_rows(prepared.slots),
        "few": few,
        "warnings": list(prepared.warnings),
        "by_hand": hand_row(prepared.hand),
    }
    console.result("\n".join(lines), value)


@click.command(name="grammar")
@film_options
@click.option("--shots", type=PATH, help="Use these shots: CSV, JSON, EDL, a scene list of PySceneDetect.")
@click.option("--force", is_flag=True, help="Find threads and scales again.")
@console_options
def grammar_command(console: Console, **options: Any) -> None:
    """Find the film grammar of FILM: which shots share a camera set-up (threads), and how close they are.

    It reads every shot, also those away from slots.
    """
    from shotad.core.records import shots_of
    from shotad.description import RunContext, read_grammar

    config = settings(options)
    with open_work(options, config) as (film, folder, inputs):
        with RunContext.of(film, folder, config, inputs, console) as context:
            warnings = read_grammar(context)
        record = folder.read_json("grammar.json") or {}
        shots = shots_of((folder.read_json("shots.json") or {})["shots"])
    lines = [f"{'shot':>5}  {'start':>13}  {'end':>13}  {'thread':>6}  scale"]
    for row in record["shots"]:
        shot = shots[row["index"]]
        start, end = (timecode(second) for second in (shot.interval.start, shot.interval.end))
        marks = f"{row['thread'] or '-':>6}  {row['scale'] or '-'}"
        lines.append(f"{shot.index:>5}  {start:>13}  {end:>13}  {marks}")
    lines.append(summary(record, len(shots)))
    lines += [f"Note: {warning}" for warning in warnings]
    shown = {name: value for name, value in record.items() if name != "key"}
    console.result("\n".join(lines), {"film": film.info.name, **shown})


def summary(record: dict[str, Any], shots: int) -> str:
    """How much was read, and by what."""
    rows = record["shots"]
    threads = len({row["thread"] for row in rows if row["thread"]})
    scales = sum(row["scale"] is not None for row in rows)
    return (
        f"{len(rows)} of {shots} shots read: {threads} threads ({record['features'] or 'not looked for'}), "
        f"{scales} scales ({record['scale_method'] or 'not read'})."
    )


@click.command(name="sheet")
@film_options
@film_file_option
@click.option("--single-file", is_flag=True, help="Put the pictures into the page (7 kB each).")
@console_options
def sheet_command(console: Console, **options: Any) -> None:
    """Draw a film's worksheet: worksheet.html, slot by slot, with pictures, people, texts and dialogue.

    Name the film, or its work folder if the film is next to it. A film that was not described yet has no
    lines and no texts there.
    """
    from shotad.description import (
        RunContext,
        prepare,
        read_grammar,
        write_sheet,
    )
    from shotad.description.clip_builder import prepare_grammar
    from shotad.film import Frames
    from shotad.script import present_track
    from shotad.script.track import FilmId

    config = settings(options)
    alone = options.pop("single_file")
    options = {**options, **_places(options)}
    with open_work(options, config) as (film, folder, inputs):
        drawn = FilmId(film.info.name, film.info.fingerprint, film.info.duration)
        if present_track(folder, drawn):
            # Whether the run had given slots, which are looked at frame by frame: only planned slots have
            # gaps
            slots = folder.read_json("slots.json")
            with Frames(film, folder, config, exact=(slots is not None and "gaps" not in slots)) as frames:
                page = write_sheet(folder, frames.pictures, config, film.info, console, single_file=alone)
        else:
            with RunContext.of(film, folder, config, inputs, console) as context:
                prepare_grammar(context)
                prepare(context)
                for warning in read_grammar(context):
                    console.note(f"Note: {warning}")
                pictures = context.frames.pictures
                page = write_sheet(folder, pictures, config, film.info, console, single_file=alone)
    console.result(str(page), {"page": str(page)})


for _parameter in sheet_command.params:
    if _parameter.name == "film":
        _parameter.metavar = "FILM|WORKFOLDER"


def _places(options: dict[str, Any]) -> dict[str, Path]:
    """The film and its work folder, whichever of the two was named."""
    named: Path = options["film"]
    if not (named.is_dir() and (named.suffix == ".shotad" or (named / "shots.json").is_file())):
        if options["film_file"] is not None:
            raise UsageError(
                f"{named} is no work folder, so --film has no meaning.", "Name the work folder, or the film."
            )
        return {}
    if options["out"] is not None:
        raise UsageError(
            "--out has no meaning with a work folder.", "Leave it out, or name the film instead."
        )
    from shotad.core import WorkFolder
    from shotad.core.runsettings import read_settings
    from shotad.core.workfolder import SETTINGS_FILE
    from shotad.film.slot_records import work_folder_film

    if options["film_file"] is not None:
        return {"film": options["film_file"], "out": named}
    # What the track calls the film, else what the shots do, else the folder's name without its ending
    records = WorkFolder(named)
    track, shots = (records.read_json(f"{name}.json") or {} for name in ("track", "shots"))
    film = track.get("film")
    name = film.get("name") if isinstance(film, dict) else shots.get("film")
    name = name if isinstance(name, str) and name else named.stem
    if (named / SETTINGS_FILE).exists():  # where its run had it
        return {"film": work_folder_film(named, read_settings(named), name), "out": named}
    return {"film": named.absolute().parent / Path(name).name, "out": named}
