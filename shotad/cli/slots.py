"""``shotad slots FILM``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.console import Console
from shotad.cli.options import DETAIL, console_options, film_options, opened, settings
from shotad.core import Interval, interval_rows, slot_rows, utterance_rows
from shotad.film import hand_row
from shotad.script import timecode


@click.command(name="slots")
@film_options
@click.option("--shots", type=click.Path(path_type=Path), help="Shots that are given: CSV or JSON.")
@click.option("--detail", type=DETAIL, help="How much of the free time is used.")
@click.option("--force", is_flag=True, help="Find them again.")
@console_options
def command(console: Console, **options: Any) -> None:
    """Find the speech of FILM and the slots in which AD can be spoken."""
    from shotad.description import Bench, prepare
    from shotad.film import why_few

    config = settings(options)
    with opened(options, config) as (film, folder, given):
        bench = Bench.of(film, folder, config, given, console)
        found = prepare(bench)
        bench.frames.release()
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
