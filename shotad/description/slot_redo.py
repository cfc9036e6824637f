"""Single slots described again under the settings of their run, with a seed of their own.

The new line is a person's choice (`shotad.script.edits`), so every later run keeps it. All that was asked and
answered is added to ``redo.jsonl``; the records of the run itself stay as they are.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from shotad.core import (
    Config,
    NoProgress,
    Progress,
    RunSettings,
    WorkFolder,
)
from shotad.core.config.languages import is_same_language, language_name
from shotad.core.errors import (
    EditConflict,
    UsageError,
    WorkFolderError,
)
from shotad.core.files import read_file
from shotad.core.progress import progress_task
from shotad.core.records import parse_record
from shotad.core.system import quoted
from shotad.core.workfolder import hash_key
from shotad.description.choice import Situation, make_chooser
from shotad.description.clip_builder import plan_clips, prepare_grammar
from shotad.description.cues import cue_of, one_line
from shotad.description.engine_pair import Engines, EngineUsage, engine_usage
from shotad.description.inputs import check_setting_files
from shotad.description.pipeline import empty_line
from shotad.description.preparation import RunContext
from shotad.description.prompts import NO_STORY, check_prompts
from shotad.description.seeds import slot_seed
from shotad.description.slotplan import SlotPlan
from shotad.description.stage1 import clip_of, describe_clip
from shotad.description.stage2 import write_lines
from shotad.description.stage_answers import Stage1Answer, Stage2Answer
from shotad.description.story import StoryMemory, story_of
from shotad.description.worksheet.page import write_sheet
from shotad.engines import AnswerLog
from shotad.engines.answer_log import ANSWERS_RECORD
from shotad.film import (
    Film,
    Prepared,
    read_prepared,
)
from shotad.film.slot_records import refuse_lost_slots
from shotad.script import (
    Cue,
    CueStatus,
    Track,
    load_track,
    present_track,
    save_track,
    track_lock,
)
from shotad.script.cue import review_stamp
from shotad.script.edits import is_by_hand, with_redone_lines
from shotad.script.reasons import in_english, reason_in
from shotad.script.track import FilmId, find_lines
from shotad.script.track_files import TRACK


@dataclass(frozen=True, slots=True)
class RewrittenLine:
    """The outcome of a redo: a result for each slot, the files written, and what the user should know."""

    results: tuple[RedoneSlot, ...]
    files: tuple[Path, ...]
    sheet: Path | None
    warnings: tuple[str, ...]
    used: EngineUsage


def redo(
    film: Film,
    folder: WorkFolder,
    run: RunSettings,
    names: Sequence[str],
    *,
    config: Config | None = None,
    note: str = "",
    over_edits: bool = False,
    engines: Engines | None = None,
    progress: Progress | None = None,
    sheet: bool = True,
) -> RewrittenLine:
    """Describe the slots called ``names`` (see `find_lines`) again; all else stays.

    ``config`` are the settings, where they are not those of the run; ``note`` is a hint for these slots.
    A slot whose new answer is silent, dropped or failed keeps its line. Raises UsageError for a line that is
    not there or has no slot, and for settings in another language than the track's, EditConflict for a line
    that a person changed by hand, unless ``over_edits``.
    """
    config = with_hint(config or run.config, note)
    check_setting_files(config)
    engines = engines or Engines.of(config)
    context = RunContext.of(
        film, folder, config, replace(run.given, start=0.0, end=None), progress or NoProgress()
    )
    refuse_lost_slots(folder.path)
    prepared = read_prepared(folder, film.info, config)
    film_id = FilmId(film.info.name, film.info.fingerprint, prepared.end)
    with track_lock(folder.path):
        track = _present(folder, film_id)
        if not is_same_language(config.language, track.language):
            name, asked_name = language_name(track.language), language_name(config.language)
            place = quoted([str(folder.path)])
            raise UsageError(
                f"The track in {folder.path} is in {name}, and its lines cannot be described again in "
                f"{asked_name}.",
                f"To translate the track: shotad translate {place} --to {config.language}.",
            )
        # A slot that a person added while a run was under way has no line yet.
        cue_ids = {cue.id for cue in track.cues}
        added = [slot for slot in prepared.added if slot.id in names and slot.id not in cue_ids]
        track = track.with_cues((*track.cues, *(empty_line(slot, track.language) for slot in added)))
        if track != load_track(folder.path / TRACK):
            # Somebody changed a script beside it, which is written again with the first result.
            save_track(track, folder.path, track.film.name)
    cues = find_lines(track, names)
    _check_redoable(track, cues, prepared, over_edits=over_edits)
    check_prompts()
    engines.get_ready(config, context.progress)
    prepare_grammar(context)
    with tempfile.TemporaryDirectory(prefix="shotad-") as place:
        asks, warnings = _asks(cues, prepared, context, engines, WorkFolder(Path(place)))
    rewritten = _rewrite(asks, track, prepared, context, engines)
    page = None
    if sheet and rewritten.files:
        page = write_sheet(folder, context.frames.pictures, config, film.info, context.progress)
    context.close()
    return replace(rewritten, sheet=page, warnings=(*warnings, *rewritten.warnings))


def _present(folder: WorkFolder, film: FilmId) -> Track:
    """The track with all that people changed in it and in the scripts beside it."""
    track = present_track(folder, film)
    if track is None:
        raise WorkFolderError(f"{folder.path} has no track.", "Run shotad describe first.")
    return track


def _put(
    before: Cue, new: Cue, folder: WorkFolder, film: FilmId
) -> tuple[RedoneSlot, tuple[Path, ...], tuple[str, ...]]:
    """Put the new line into track and scripts; returns the result, the files written, and what users should
    know.

    A line that somebody wrote, moved or accepted since stays, and the new one is among its candidates.
    """
    files: tuple[Path, ...] = ()
    with track_lock(folder.path):
        track = _present(folder, film)
        now = next((cue for cue in track.cues if cue.id == new.id), None)
        is_unchanged = now is not None and review_stamp(now) == review_stamp(before)
        if now is not None and is_unchanged and (now.review is None) == (before.review is None):
            merged = with_redone_lines(track, [new])
            files = save_track(merged.track, folder.path, track.film.name)
            after = next(cue for cue in merged.track.cues if cue.id == new.id)
            return RedoneSlot(before, after), files, merged.warnings
        reason = f"the line was removed meanwhile; the new one was {new.text!r}"
        if now is not None:
            reason = f"a person changed the line meanwhile; the new one is among its candidates: {new.text!r}"
            if new.text and new.text not in now.candidates:
                offered = replace(now, candidates=(*now.candidates, new.text))
                cues = (offered if cue.id == now.id else cue for cue in track.cues)
                files = save_track(track.with_cues(cues), folder.path, track.film.name)
    return RedoneSlot(before, None, reason), files, ()


def with_hint(config: Config, hint: str) -> Config:
    """The settings with a hint put before the note on the film, of which no word is cut for it."""
    hint = " ".join(hint.split())
    if not hint:
        return config
    prompt = config.prompt
    note = f"{hint}\n{prompt.note}".strip()
    max_words = prompt.note_words + len(hint.split())
    prompt = prompt.model_copy(update={"note": note, "note_words": max_words})
    return config.model_copy(update={"prompt": prompt})


def _check_redoable(track: Track, cues: Sequence[Cue], prepared: Prepared, *, over_edits: bool) -> None:
    """Raise UsageError, EditConflict where one of ``cues`` may not be described again."""
    slot_ids = {slot.id for slot in prepared.slots}
    for cue in cues:
        if cue.slot_id not in slot_ids or cue.machine is None:
            raise UsageError(
                f"The line {cue.id} has no slot of its own: a person added it, or the slots changed since.",
                "Only lines of slots can be described again. If the slots were found anew since, run shotad "
                "describe first: it keeps your edits.",
            )
        if is_by_hand(cue) and not over_edits:
            raise EditConflict(
                f"The line {cue.id} was changed by a person: {cue.text or cue.reason!r}.",
                "Give it up with --over-edits, or leave it out.",
            )
        neighbours = [neighbour for neighbour in track.heard if neighbour.id != cue.id]
        half = next((neighbour for neighbour in neighbours if neighbour.slot_id == cue.slot_id), None)
        if half is not None:
            raise EditConflict(
                f"The line {cue.id} was split: {half.id} belongs to the same slot.",
                "Join the two first: a slot is described again as a whole.",
            )
        by_hand = [neighbour for neighbour in neighbours if is_by_hand(neighbour)]
        owner = next((edited for edited in by_hand if cue.interval.clip(edited.interval)), None)
        if owner is not None:
            raise EditConflict(
                f"The time of {cue.id} belongs to {owner.id}, which a person edited: {owner.text!r}.",
                "Move or remove that line first.",
            )


def _asks(
    cues: Sequence[Cue], prepared: Prepared, context: RunContext, engines: Engines, scratch: WorkFolder
) -> tuple[tuple[Ask, ...], tuple[str, ...]]:
    """The plans of the lines' slots, each with the settings of its next try, and what could not be done.

    Records that planning writes go into ``scratch``, so that those of the run stay as they are.
    """
    cue_of_slot = {cue.slot_id: cue for cue in cues}
    slots = tuple(slot for slot in prepared.slots if slot.id in cue_of_slot)
    grammar = context.folder.path / "grammar.json"
    if grammar.is_file():
        shutil.copy(grammar, scratch.path)
    plans, warnings = plan_clips(
        replace(prepared, slots=slots),
        replace(context, folder=scratch),
        engines.stage1.abilities,
        run=context.folder,
    )
    # Each try has another seed, else the answer would be that of the try before.
    tries = [row.get("slot") for row in read_rows(context.folder, LOG)]
    asks = []
    for plan in plans:
        number = tries.count(plan.slot.id) + 1
        seed = slot_seed(context.config.seed, f"{plan.slot.id}/redo/{number}")
        config = context.config.model_copy(update={"seed": seed})
        asks.append(Ask(cue_of_slot[plan.slot.id], plan, number, config))
    return tuple(asks), warnings


class Ask(NamedTuple):
    """A slot that is described again: its line so far, its plan, the number of this try from 1, and the
    settings of this try."""

    before: Cue
    plan: SlotPlan
    number: int
    config: Config


LOG = "redo"
"""Of ``redo.jsonl``: one record for each slot and try, with all that was asked and answered."""


@dataclass(frozen=True, slots=True)
class RedoneSlot:
    """The outcome for one slot: its line before, and its new one; ``reason`` says why there is none."""

    before: Cue
    after: Cue | None
    reason: str = ""

    @property
    def same(self) -> bool:
        """Whether the engines gave the line again that was there."""
        return self.after is None and not self.reason


def _rewrite(
    asks: Sequence[Ask], track: Track, prepared: Prepared, context: RunContext, engines: Engines
) -> RewrittenLine:
    """Describe single slots again, each under settings of its own, with the lines around them at hand.

    A new line is in the track and its scripts, and known to those after it, before the next is asked for.
    Results are in the order of ``asks``. Raises what stops the run.
    """
    folder, info = context.folder, context.film.info
    film = FilmId(info.name, info.fingerprint, prepared.end)
    answers = AnswerLog(folder.log_of_records(ANSWERS_RECORD))
    log = folder.log_of_records(LOG)
    notes = read_rows(folder, "story")
    cues = {cue.id: cue for cue in track.cues}
    speech = [utterance.interval for utterance in prepared.speech]
    results: list[RedoneSlot] = []
    files: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()
    with (
        engines.pool(context.config, answers) as pool,
        progress_task(context.progress, "Looking at the film", len(asks), "slots") as looking,
    ):

        def describe(ask: Ask) -> Stage1Answer:
            return describe_clip(pool, ask.plan, ask.config, clip_of(ask.plan, context, engines.stage1))

        # All are looked at before a line is asked for: each new line is in the track at once.
        described = list(pool.map(describe, asks, workers=pool.workers("stage1"), advance=looking.advance))
        with progress_task(context.progress, "Writing lines", len(asks), "slots") as writing:
            for ask, stage1 in zip(asks, described, strict=True):
                plan, config, before = ask.plan, ask.config, ask.before
                start = plan.slot.interval.start
                earlier = [cue for cue in cues.values() if cue.heard and cue.interval.start < start]
                lines_before = tuple(cue.text for cue in earlier if cue.id != before.id)
                stage2: Stage2Answer | None = None
                if stage1.error is None:
                    text = stage1.description.text
                    story = NO_STORY
                    if config.story.on:  # what the run had learnt before the slot
                        memory = StoryMemory.at(notes, start)
                        story = story_of(
                            plan.slot, lines_before, prepared.speech, memory, text, plan.presence, config
                        )
                    stage2 = write_lines(
                        pool,
                        plan,
                        stage1.description,
                        config,
                        history=lines_before if engines.stage2.abilities.uses_history else (),
                        story=story,
                        clip=clip_of(plan, context, engines.stage1),
                    )
                is_benchmark = context.run_inputs.slots is not None or config.slots.budget != "fit"
                situation = Situation(plan.slot, lines_before, speech, plan.presence, is_benchmark)
                # The old line again would be no new answer.
                new_lines = other_than(stage2, before.text) if stage2 is not None else None
                choose = make_chooser(config, pool, context.progress)
                cue = cue_of(situation, stage1, new_lines, config, choose)
                result = _result_of(cue, before)
                log.add(hash_key("redo/1", plan.slot.id, ask.number), _row(ask, stage1, stage2, result))
                if result.after is not None:
                    cues[result.after.id] = result.after
                    result, written, news = _put(before, result.after, folder, film)
                    files, warnings = written or files, (*warnings, *news)
                results.append(result)
                writing.advance()
    used = engine_usage(pool.usage, engines.terms(context.config))
    return RewrittenLine(tuple(results), files, None, warnings, used)


def _result_of(cue: Cue, before: Cue) -> RedoneSlot:
    """The result that the new cue of a slot makes, compared with the line that the slot has."""
    if not cue.heard:
        keys = {CueStatus.SILENT: "reason.redo_silent", CueStatus.DROPPED: "reason.redo_dropped"}
        key = keys.get(cue.status, "reason.redo_failed")
        return RedoneSlot(before, None, in_english(key, reason=reason_in(cue.reason, "en")))
    if before.heard and cue.text == before.text:
        return RedoneSlot(before, None)
    return RedoneSlot(before, replace(cue, id=before.id))


def _row(ask: Ask, stage1: Stage1Answer, stage2: Stage2Answer | None, result: RedoneSlot) -> dict[str, Any]:
    """The record of a try, with all that was asked and answered."""
    return {
        "slot": ask.plan.slot.id,
        "number": ask.number,
        "seed": ask.config.seed,
        "note": ask.config.prompt.note,
        "before": ask.before.text,
        "after": None if result.after is None else result.after.text,
        "reason": "the same line" if result.same else result.reason,
        "stage1": stage1.to_json(),
        "stage2": None if stage2 is None else stage2.to_json(),
    }


def other_than(stage2: Stage2Answer, line: str) -> Stage2Answer:
    """Stage II's answer without candidates that say ``line`` again, where it has others."""
    new = tuple(candidate for candidate in stage2.candidates if one_line(candidate.text) != line)
    return replace(stage2, candidates=new) if new else stage2


def read_rows(folder: WorkFolder, name: str) -> list[dict[str, Any]]:
    """The records of ``NAME.jsonl``, oldest first; damaged lines are left out."""
    path, rows = folder.path / f"{name}.jsonl", []
    for line in read_file(path).splitlines() if path.exists() else ():
        row = parse_record(path.name, line)
        if row is not None:
            rows.append(row)
    return rows
