"""From a film to its audio-description track, in three parts.

prepare      film → shots, speech → slots                                    (`preparation`)
understand   slots → context, frames, grammar, characters                    (`clip_builder`)
write        clips → Stage I → Stage II → cues → track → scripts, worksheet  (`both_stages`)

Film grammar is measured and clips are read while Stage I answers, and Stage II writes a line as soon as its
description is there. Every answer is kept as soon as it is there; what people edited stays in the track.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shotad import __version__
from shotad.core import (
    Config,
    FilmInfo,
    Interval,
    NoProgress,
    Progress,
    RunInputs,
    Slot,
    WorkFolder,
)
from shotad.core.config.languages import is_same_language, language_name
from shotad.core.errors import EditConflict, quoted
from shotad.core.profiling import time_step
from shotad.core.progress import plural
from shotad.core.system import quoted as quoted_for_shell
from shotad.core.types import clip_all
from shotad.description.both_stages import ignore_cue, write_slots
from shotad.description.casting.recognition import RecognisedMember
from shotad.description.clip_builder import GRAMMAR_STEP, ClipBuilder, prepare_grammar
from shotad.description.engine_pair import Engines, EngineUsage
from shotad.description.existing import with_kept_lines
from shotad.description.inputs import Inputs
from shotad.description.preparation import SHOTS_STEP, RunContext, prepare
from shotad.description.prompts import check_prompts
from shotad.description.stage1 import STAGE1_STEP
from shotad.description.stage2 import STAGE2_STEP
from shotad.description.worksheet.page import write_sheet
from shotad.description.worksheet.records import keep_material, read_worksheet
from shotad.film import Film, Prepared
from shotad.film.slot_records import (
    changes_since,
    forget_lost_slots,
    refuse_lost_slots,
)
from shotad.film.slots import FailedSlot, explain_few_slots, subtract
from shotad.script import (
    Cue,
    CueStatus,
    Maker,
    Track,
    merge_edits,
    present_track,
    save_track,
    track_lock,
)
from shotad.script.cue import is_changed, timecode
from shotad.script.edits import update_spoken_ends, without_edits
from shotad.script.names import check_names
from shotad.script.reasons import in_english, reason_in
from shotad.script.rules import Limits, silences as silences_in
from shotad.script.track import FilmId
from shotad.script.track_files import keep_discarded

LINE_STEPS = (SHOTS_STEP, GRAMMAR_STEP, STAGE1_STEP, STAGE2_STEP)
"""The steps on which a line depends, each with the version of its code (see `hash_key`)."""

SHOWN_LINES = 5
"""Lines that a message shows, of those because of which nothing is written."""


@dataclass(frozen=True, slots=True)
class DescribeResult:
    """A finished track, its files, and what a user should know of the run.

    ``silences`` are the parts with neither speech nor a line.
    """

    track: Track
    files: tuple[Path, ...]
    described: Interval
    silences: tuple[Interval, ...]
    failed_slots: tuple[FailedSlot, ...] = ()
    warnings: tuple[str, ...] = ()
    sheet: Path | None = None
    used: EngineUsage | None = None
    """Calls, tokens and cost of this run."""
    recognised: tuple[RecognisedMember, ...] | None = None
    """Who of the cast was recognised in the clips; None where no cast was given."""
    unused_subtitles: str = ""
    """The name of subtitles beside the film that were not used; a warning says why."""

    @property
    def cues(self) -> tuple[Cue, ...]:
        """The lines of the part that was described."""
        part = self.described
        return tuple(cue for cue in self.track.cues if part.start <= cue.interval.start < part.end)

    @property
    def failures(self) -> tuple[str, ...]:
        """Why slots of the part described have failed, a reason for each, in English."""
        reasons = [reason_in(cue.reason, "en") for cue in self.cues if cue.status is CueStatus.FAILED]
        return (*(slot.reason for slot in self.failed_slots), *reasons)

    @property
    def only_outside(self) -> bool:
        """Whether every slot that failed lies outside the film, so that another run would change nothing."""
        return bool(self.failed_slots) and len(self.failures) == len(self.failed_slots)

    @property
    def all_failed(self) -> bool:
        """Whether every slot of the part described has failed."""
        return bool(self.failures) and all(cue.status is CueStatus.FAILED for cue in self.cues)

    @property
    def counts(self) -> dict[str, int]:
        """How many lines there are of each status, and how many a person edited."""
        cues_by_status = Counter(cue.status.value for cue in self.track.cues)
        counts = {status.value: cues_by_status.get(status.value, 0) for status in CueStatus}
        counts["failed"] += len(self.failed_slots)
        return {**counts, "edited": sum(map(is_changed, self.track.cues))}


def describe(
    film: Film,
    folder: WorkFolder,
    config: Config,
    inputs: RunInputs | Inputs | None = None,
    *,
    engines: Engines | None = None,
    progress: Progress | None = None,
    discard_edits: bool = False,
    sheet: bool = True,
    on_cue: Callable[[Cue], object] = ignore_cue,
    on_accepted: Callable[[], None] | None = None,
) -> DescribeResult:
    """Write the AD track of ``film`` into ``folder``; what is already done there is not done again.

    ``inputs`` as in `RunContext.of`. ``sheet``: whether the worksheet is drawn too. ``on_cue`` is called with
    each line as it is written (`write_slots`). ``on_accepted`` is called once nothing that was asked for is
    refused any more, before anything is written. Raises OtherFilm where the folder's track is of another
    film, EditConflict where the same line was edited in it and in a script, and what the parts raise.
    """
    context = RunContext.of(film, folder, config, inputs or RunInputs(), progress or NoProgress())
    # What cannot be used is refused before the engines are paid for anything.
    context.inputs.check()
    check_edits(folder, film.info, config.language, context.run_inputs, discard_edits=discard_edits)
    engines = engines or Engines.of(config)
    check_prompts()
    for note in context.inputs.notes:
        context.progress.note(note)
    with time_step("load"):
        engines.get_ready(config, context.progress)
        prepare_grammar(context)
        if on_accepted is not None:
            on_accepted()
        builder = ClipBuilder(context, engines.stage1.abilities)
    prepared = prepare(context)
    # Plans come from a generator: the grammar of later clips is read while engines answer about earlier ones.
    outline = builder.outline(prepared)
    plans = builder.plans(outline)
    written = write_slots(plans, len(outline.plans), prepared, context, engines, on_cue=on_cue)
    # A film that was replaced meanwhile would get lines of the old one; one that was deleted may.
    if film.media is not None:
        film.media.check_same(may_be_gone=True)
    outcome = write_track(written.cues, prepared, context, engines.makers, discard_edits=discard_edits)
    folder.note(f"described {film.info.name}: {outcome.counts}")
    page = None
    if sheet:
        page = write_sheet(folder, context.frames.pictures, config, film.info, context.progress)
    else:
        # The review page reads the material also where no sheet is drawn.
        keep_material(folder, read_worksheet(folder.path, config, film.info), film.info)
    context.close()
    warnings = (*outcome.warnings, *outline.warnings, *name_warnings(outcome.track, context))
    return replace(outcome, sheet=page, used=written.used, warnings=warnings, recognised=outline.recognised)


def check_edits(
    folder: WorkFolder, film: FilmInfo, language: str, run_inputs: RunInputs, *, discard_edits: bool
) -> None:
    """Raise OtherFilm where the folder's track is of another film, EditConflict where a run would write over
    lines or slots of people that are newer than the track, or contradict each other, or would leave lines of
    another language than ``language`` in the track."""
    track = present_track(folder, film, with_scripts=not discard_edits)
    part = (run_inputs.start, math.inf if run_inputs.end is None else run_inputs.end)
    refuse_other_language(track, folder.path, language, part, discard_edits=discard_edits)
    if discard_edits:
        forget_lost_slots(folder.path)
    else:
        refuse_lost_slots(folder.path)


def refuse_other_language(
    track: Track | None, folder: Path, language: str, part: tuple[float, float], *, discard_edits: bool
) -> None:
    """Raise EditConflict where lines in another language than ``language`` would stay in the track: those of
    people, unless they are discarded, and those that start outside the ``part`` to describe."""
    if track is None:
        return
    foreign_cues = [cue for cue in track.heard if not is_same_language(cue.language, language)]
    by_people = [] if discard_edits else [cue for cue in foreign_cues if cue.edited is not None]
    outside = [cue for cue in foreign_cues if not part[0] <= cue.interval.start < part[1]]
    staying = by_people or outside
    if not staying:
        return
    asked_name, name = language_name(language), language_name(staying[0].language)
    shown = [f"{cue.id} {quoted(cue.text)}" for cue in staying[:SHOWN_LINES]]
    if len(staying) > SHOWN_LINES:
        shown.append("…")
    reason = "that people wrote, edited or accepted" if by_people else "outside the part to describe"
    ways = [
        f"To translate the track: shotad translate {quoted_for_shell([str(folder)])} --to {language}",
        "to describe the film in both languages, name another folder with --out",
    ]
    ways.append("to throw the edits away, add --discard-edits" if by_people else "or describe the whole film")
    raise EditConflict(
        f"The track in {folder} is in {name}, and {plural(len(staying), 'line')} {reason} would stay in a "
        f"{asked_name} track: {', '.join(shown)}. Nothing was written.",
        f"{'; '.join(ways)}.",
    )


@time_step("track")
def write_track(
    cues: Sequence[Cue],
    prepared: Prepared,
    context: RunContext,
    makers: tuple[Maker, ...],
    *,
    discard_edits: bool,
) -> DescribeResult:
    """Write ``track.json`` and the scripts; lines that a person edited stay as they are.

    Other parts of the film keep their lines. Slots added or removed meanwhile are so in the track too.
    """
    folder, run_inputs = context.folder, context.run_inputs
    film = FilmId(prepared.info.name, prepared.info.fingerprint, prepared.end)
    fresh = Track(film, context.config.language, makers, __version__, ()).with_cues(cues)
    described = Interval(run_inputs.start, min(prepared.end, run_inputs.end or prepared.end))
    slots = {slot.id: slot.interval for slot in prepared.slots}
    # From here to the written track nobody else changes it: the review page may be open.
    with track_lock(folder.path):
        previous = present_track(folder, film, with_scripts=not discard_edits)
        # Again: somebody may have edited lines meanwhile. The answers of the run are kept.
        part = (described.start, described.end)
        refuse_other_language(previous, folder.path, fresh.language, part, discard_edits=discard_edits)
        discarded = keep_discarded(previous, folder.path, film.name) if discard_edits else ""
        kept_description = context.inputs.description
        if kept_description is not None:
            if discard_edits and previous is not None:
                # Before the lines that are kept come in, which are no edits of this track.
                previous = without_edits(previous)
            discard_edits = False
            previous = with_kept_lines(previous, kept_description, film, context.config.language)
        merged = merge_edits(previous, fresh, covered=described, discard_edits=discard_edits)
        slot_changes = changes_since(folder.path, prepared.hand, context.config.slots)
        # No line stays in a slot that was removed meanwhile, and an added one gets an empty line.
        removed_ids = {slot.id for slot in slot_changes.removed}
        cues_now = [cue for cue in merged.track.cues if cue.slot_id not in removed_ids]
        merged_ids = {cue.id for cue in merged.track.cues}
        cues_now += [
            empty_line(slot, fresh.language) for slot in slot_changes.added if slot.id not in merged_ids
        ]
        pace = context.config.slots.seconds_per_word
        track = update_spoken_ends(merged.track.with_cues(cues_now), slots, pace)
        files = save_track(track, folder.path, prepared.info.name)
    speech = [utterance.interval for utterance in prepared.speech]
    silences = long_silences(track, speech, described)
    warnings = [*context.inputs.notes, *prepared.warnings]
    if run_inputs.slots is None and kept_description is None:
        few_slots = explain_few_slots(prepared.slots, prepared.gaps, described, context.config.slots)
        if few_slots:
            warnings.append(few_slots)
    if discarded:
        warnings.append(discarded)
    warnings += filter(None, merged.warnings)
    return DescribeResult(
        track,
        files,
        described,
        silences,
        prepared.failed,
        tuple(warnings),
        unused_subtitles=prepared.unused_subtitles,
    )


def long_silences(track: Track, speech: Sequence[Interval], described: Interval) -> tuple[Interval, ...]:
    """The parts of ``described`` with neither speech nor AD that are longer than rule T5 allows."""
    film = Interval(0.0, track.film.duration)
    gaps = clip_all(subtract(film, speech), described)
    return tuple(silences_in([cue.interval for cue in track.heard], gaps, Limits().max_silence))


ADDED = in_english("reason.added")
"""The reason of a line that nobody has written yet, in a slot that a person added."""


def empty_line(slot: Slot, language: str) -> Cue:
    """The line of a slot that a person added and that nobody has described yet."""
    reason = reason_in(ADDED, language)
    return Cue(slot.id, slot.id, slot.interval, "", language=language, status=CueStatus.SILENT, reason=reason)


def name_warnings(track: Track, context: RunContext) -> tuple[str, ...]:
    """One sentence for each name of the cast that a line says too early or in another form."""
    cast = context.inputs.cast
    if cast is None:
        return ()
    film, cues = context.film.info.name, track.heard
    lines = [(cue.interval.start, cue.text) for cue in cues]
    findings_by_line = check_names(lines, lambda second: cast.characters(film, second))
    warnings = []
    for cue, findings in zip(cues, findings_by_line, strict=True):
        for finding in findings:
            warnings.append(f"{finding.rule} at {timecode(cue.interval.start)}: {finding.message}.")
    return tuple(warnings)
