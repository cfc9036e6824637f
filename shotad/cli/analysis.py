"""``shotad shots``, ``slots`` and ``grammar``: what is found in a film before anything is written."""

from __future__ import annotations

from typing import Any

import click

from shotad.cli.options import DETAIL, PATH, Console, console_options, film_options, opened, settings
from shotad.core import Interval, Shot, interval_rows, slot_rows, utterance_rows
from shotad.film import hand_row
from shotad.script import timecode


@click.command(name="shots")
@film_options
@click.option("--force", is_flag=True, help="Find the shots again.")
@console_options
def shots_command(console: Console, **options: Any) -> None:
    """Find the shots of FILM, and keep them in its work folder."""
    from shotad.description import RunContext, shots_step

    config = settings(options)
    with opened(options, config) as (film, folder, given):
        found = shots_step(RunContext.of(film, folder, config, given, console))
    rows = found["shots"]
    lines = [f"{'shot':>5}  {'start':>13}  {'end':>13}  {'seconds':>8}"]
    lines += [
        f"{i:>5}  {timecode(row['start']):>13}  {timecode(row['end']):>13}  {row['end'] - row['start']:>8.3f}"
        for i, row in enumerate(rows)
    ]
    lines.append(f"{len(rows)} shots, mean length {found['end'] / len(rows):.2f} s.")
    if found.get("damage"):
        lines.append(f"Note: {found['damage']}")
    console.result("\n".join(lines), {name: found.get(name) for name in ("film", "end", "damage", "shots")})


@click.command(name="slots")
@film_options
@click.option("--shots", type=PATH, help="Use these shots: CSV or JSON.")
@click.option("--detail", type=DETAIL, help="How much of the free time to fill.")
@click.option("--force", is_flag=True, help="Find speech and slots again.")
@console_options
def slots_command(console: Console, **options: Any) -> None:
    """Find the speech in FILM, and the slots in which AD can be spoken."""
    from shotad.description import RunContext, prepare
    from shotad.film import why_few

    config = settings(options)
    with opened(options, config) as (film, folder, given):
        context = RunContext.of(film, folder, config, given, console)
        found = prepare(context)
        context.frames.release()
    events = [(u.interval, "speech", u.text) for u in found.speech]
    added = {slot.id for slot in found.added}
    by_hand = dict.fromkeys(added, ", added by a person")
    events += [
        (s.interval, "slot", f"{s.id}, {s.max_words} words{by_hand.get(s.id, '')}") for s in found.slots
    ]
    lines = [
        f"{timecode(interval.start):>13}  {timecode(interval.end):>13}  {kind:6}  {text}".rstrip()
        for interval, kind, text in sorted(events)
    ]
    free = sum(gap.duration for gap in found.gaps)
    used = sum(slot.interval.duration for slot in found.slots)
    lines.append(f"{len(found.slots)} slots, {used:.1f} s of {free:.1f} s without speech.")
    few = why_few(found.slots, found.gaps, Interval(0.0, found.end), config.slots)
    if few:
        lines.append(f"Note: {few}")
    if found.hand:
        lines.append(
            f"By hand: {len(found.hand.added)} added, {len(found.hand.removed)} removed (slots.hand.json)."
        )
    value = {
        "film": found.info.name,
        "end": found.end,
        "speech": utterance_rows(found.speech),
        "gaps": interval_rows(found.gaps),
        "slots": slot_rows(found.slots),
        "few": few,
        "by_hand": hand_row(found.hand),
    }
    console.result("\n".join(lines), value)


@click.command(name="grammar")
@film_options
@click.option("--shots", type=PATH, help="Use these shots: CSV or JSON.")
@click.option("--force", is_flag=True, help="Find threads and scales again.")
@console_options
def grammar_command(console: Console, **options: Any) -> None:
    """Find the film grammar of FILM: which shots share a camera set-up (threads), and how close they are.

    It reads every shot, also those away from slots.
    """
    from shotad.core import shots_of
    from shotad.description import RunContext, study

    config = settings(options)
    with opened(options, config) as (film, folder, given):
        context = RunContext.of(film, folder, config, given, console)
        warnings = study(context)
        context.frames.release()
        found = folder.read_json("grammar.json") or {}
        shots = shots_of((folder.read_json("shots.json") or {})["shots"])
    lines = [f"{'shot':>5}  {'start':>13}  {'end':>13}  {'thread':>6}  scale"]
    lines += [_line(row, shots[row["index"]]) for row in found["shots"]]
    lines.append(summary(found, len(shots)))
    lines += [f"Note: {warning}" for warning in warnings]
    told = {name: value for name, value in found.items() if name != "key"}
    console.result("\n".join(lines), {"film": film.info.name, **told})


def _line(row: dict[str, Any], shot: Shot) -> str:
    start, end = (timecode(second) for second in (shot.interval.start, shot.interval.end))
    return f"{shot.index:>5}  {start:>13}  {end:>13}  {row['thread'] or '-':>6}  {row['scale'] or '-'}"


def summary(found: dict[str, Any], shots: int) -> str:
    """How much was read, and by what."""
    rows = found["shots"]
    threads = len({row["thread"] for row in rows if row["thread"]})
    known = sum(row["scale"] is not None for row in rows)
    return (
        f"{len(rows)} of {shots} shots read: {threads} threads ({found['features'] or 'not looked for'}), "
        f"{known} scales ({found['scale_method'] or 'not read'})."
    )
