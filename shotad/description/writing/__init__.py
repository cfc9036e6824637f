"""The third act: clips → Stage I → Stage II → cues. Every answer is kept as soon as it is there.

Both stages are at work at once where they may be: Stage II writes a slot's line as soon as Stage I has
described it, while clips are still read and film grammar is still measured.
"""

from __future__ import annotations

from collections.abc import Sequence

from shotad.description.preparing import Bench
from shotad.description.slotplan import SlotPlan
from shotad.description.writing.engines import Engines
from shotad.description.writing.stage1_runner import (
    SlotStream,
    Stage1Runner,
    clip_as_seen,
    is_done,
    reads_alone,
    stage1_questions,
)
from shotad.description.writing.stage2_runner import Stage2Runner, Written, around_of
from shotad.engines import Flow
from shotad.film import Prepared

__all__ = [
    "Engines",
    "SlotStream",
    "Stage1Runner",
    "Written",
    "around_of",
    "clip_as_seen",
    "is_done",
    "stage1_questions",
    "write",
    "write_as_they_come",
]


def write(plans: Sequence[SlotPlan], prepared: Prepared, bench: Bench, engines: Engines) -> Written:
    """The cue of each plan: a line, silent or failed."""
    with Flow() as flow:
        seated = engines.seated(bench.config, flow)
        looking = Stage1Runner(bench, seated.looks, flow)
        return write_as_they_come(SlotStream.of(plans), looking, prepared, bench, seated, flow)


def write_as_they_come(
    course: SlotStream, looking: Stage1Runner, prepared: Prepared, bench: Bench, engines: Engines, flow: Flow
) -> Written:
    """The same of plans that are still being made; ``engines`` are those that several threads may ask."""
    written = Written(seen=looking.made)
    desk = Stage2Runner(bench, engines, prepared, written, flow)
    beside = engines.beside(bench.config) and not reads_alone(bench)
    pairs = looking.pairs(course, beside=beside)
    desk.write(pairs if beside else list(pairs), len(course.sketches))
    written.early, written.in_vain = looking.early, looking.in_vain
    if looking.early:
        bench.folder.note(
            f"{looking.early} slots looked at while shots were found, {looking.in_vain} in vain"
        )
    return written
