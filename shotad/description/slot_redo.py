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
    EditConflict,
    Engine,
    NoProgress,
    Progress,
    RecordLog,
    RunSettings,
    UsageError,
    WorkFolder,
    WorkFolderError,
    key_of,
    read_file,
    whole_record,
)
from shotad.description.clip_builder import get_ready, understand
from shotad.description.conversation import Record, slot_seed
from shotad.description.engine_pair import Engines, Used
from shotad.description.inputs import check_setting_files
from shotad.description.pipeline import empty_line
from shotad.description.preparing import RunContext
from shotad.description.prompts import NO_STORY, StoryContext, check_prompts
from shotad.description.slot_writer import SlotWriter, one_line
from shotad.description.slotplan import SlotPlan
from shotad.description.story import Memory, story_of
from shotad.description.worksheet_page import write_sheet
from shotad.film import Film, Prepared, recorded, refuse_lost_slots
from shotad.script import (
    TRACK,
    Cue,
    CueStatus,
    FilmId,
    Track,
    find_lines,
    is_by_hand,
    load_track,
    present_track,
    redone,
    review_stamp,
    save_track,
    track_lock,
)


@dataclass(frozen=True, slots=True)
class Redone:
    """What a redo came to: a result for each slot, the files written, and what the user should know."""

    results: tuple[Result, ...]
    files: tuple[Path, ...]
    sheet: Path | None
    warnings: tuple[str, ...]
    used: Used


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
) -> Redone:
    """Describe the slots called ``names`` (see `find_lines`) again; all else stays.

    ``config`` are the settings, where they are not those of the run; ``note`` is a hint for these slots.
    A slot whose new answer is silent, dropped or failed keeps its line. Raises UsageError for a line that is
    not there or has no slot, EditConflict for one that a person changed by hand, unless ``over_edits``.
    """
    config = noted(config or run.config, note)
    check_setting_files(config)
    engines = engines or Engines.of(config)
    context = RunContext.of(
        film, folder, config, replace(run.given, start=0.0, end=None), progress or NoProgress()
    )
    refuse_lost_slots(folder.path)
    prepared = recorded(folder, film.info, config)
    own = FilmId(film.info.name, film.info.fingerprint, prepared.end)
    with track_lock(folder.path):
        track = _present(folder, own)
        # Slots that a person added while a run was under way have an empty line till then.
        known = {cue.id for cue in track.cues}
        bare = [slot for slot in prepared.added if slot.id in names and slot.id not in known]
        track = track.with_cues((*track.cues, *(empty_line(slot, track.language) for slot in bare)))
        if track != load_track(folder.path / TRACK):
            # Somebody changed a script beside it, which is written again with the first result.
            save_track(track, folder.path, track.film.name)
    chosen = _allowed(track, find_lines(track, names), prepared, over_edits=over_edits)
    check_prompts()
    engines.get_ready(config, context.progress)
    get_ready(context)
    with tempfile.TemporaryDirectory(prefix="shotad-") as place:
        apart = WorkFolder(Path(place))
        asks, warnings = _asks(chosen, prepared, context, engines, apart)
        with SlotRewriter(asks, track, prepared, context, engines, apart) as rewriter:
            for name, _ in rewriter.begin([ask.plan for ask in asks]):
                rewriter.go_on(name)
    page = None
    if sheet and rewriter.files:
        page = write_sheet(folder, context.frames.pictures, config, film.info, context.progress)
    context.close()
    news = (*warnings, *rewriter.warnings)
    return Redone(tuple(rewriter.results), rewriter.files, page, news, rewriter.used)


def _present(folder: WorkFolder, film: FilmId) -> Track:
    """The track with all that people changed in it and in the scripts beside it."""
    track = present_track(folder, film)
    if track is None:
        raise WorkFolderError(f"{folder.path} has no track.", "Run shotad describe first.")
    return track


def _put(
    before: Cue, new: Cue, folder: WorkFolder, film: FilmId
) -> tuple[Result, tuple[Path, ...], tuple[str, ...]]:
    """The result with its new line in track and scripts, the files written, and what users should know.

    A line that somebody wrote, moved or accepted since stays, and the new one is among its candidates.
    """
    files: tuple[Path, ...] = ()
    with track_lock(folder.path):
        track = _present(folder, film)
        now = next((cue for cue in track.cues if cue.id == new.id), None)
        same = now is not None and review_stamp(now) == review_stamp(before)
        if now is not None and same and (now.review is None) == (before.review is None):
            merged = redone(track, [new])
            files = save_track(merged.track, folder.path, track.film.name)
            after = next(cue for cue in merged.track.cues if cue.id == new.id)
            return Result(before, after), files, merged.news
        reason = f"the line was removed meanwhile; the new one was {new.text!r}"
        if now is not None:
            said = repr(new.text)
            reason = f"a person changed the line meanwhile; the new one is among its candidates: {said}"
            if new.text and new.text not in now.candidates:
                offered = replace(now, candidates=(*now.candidates, new.text))
                cues = (offered if cue.id == now.id else cue for cue in track.cues)
                files = save_track(track.with_cues(cues), folder.path, track.film.name)
    return Result(before, None, reason), files, ()


def noted(config: Config, note: str) -> Config:
    """The settings with a hint put before the note on the film, of which no word is cut for it."""
    hint = " ".join(note.split())
    if not hint:
        return config
    prompt = config.prompt
    together = f"{hint}\n{prompt.note}".strip()
    words = prompt.note_words + len(hint.split())
    return config.model_copy(
        update={"prompt": prompt.model_copy(update={"note": together, "note_words": words})}
    )


def _allowed(track: Track, cues: Sequence[Cue], prepared: Prepared, *, over_edits: bool) -> tuple[Cue, ...]:
    """``cues``, if all of them may be described again."""
    known = {slot.id for slot in prepared.slots}
    for cue in cues:
        if cue.slot_id not in known or cue.machine is None:
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
        half = next((o for o in track.heard if o.slot_id == cue.slot_id and o.id != cue.id), None)
        if half is not None:
            raise EditConflict(
                f"The line {cue.id} was split: {half.id} belongs to the same slot.",
                "Join the two first: a slot is described again as a whole.",
            )
        by_hand = (other for other in track.heard if other.id != cue.id and is_by_hand(other))
        owner = next((other for other in by_hand if cue.interval.clip(other.interval)), None)
        if owner is not None:
            raise EditConflict(
                f"The time of {cue.id} belongs to {owner.id}, which a person edited: {owner.text!r}.",
                "Move or remove that line first.",
            )
    return tuple(cues)


def _asks(
    cues: Sequence[Cue], prepared: Prepared, context: RunContext, engines: Engines, apart: WorkFolder
) -> tuple[tuple[Ask, ...], tuple[str, ...]]:
    """The plans of the lines' slots, each with its next try's settings; all else is written ``apart``."""
    wanted = {cue.slot_id: cue for cue in cues}
    some = replace(prepared, slots=tuple(slot for slot in prepared.slots if slot.id in wanted))
    grammar = context.folder.path / "grammar.json"
    if grammar.is_file():
        shutil.copy(grammar, apart.path)
    plans, warnings = understand(
        some, replace(context, folder=apart), engines.looks.abilities, run=context.folder
    )
    tries = [row.get("slot") for row in rows_of(context.folder, LOG)]
    asks = []
    for plan in plans:
        number = tries.count(plan.slot.id) + 1
        seed = slot_seed(context.config.seed, f"{plan.slot.id}/redo/{number}")
        own = context.config.model_copy(update={"seed": seed})
        asks.append(Ask(wanted[plan.slot.id], plan, number, own))
    return tuple(asks), warnings


class Ask(NamedTuple):
    """A slot that is described again: its line so far, its plan, the how-manieth time, its own settings."""

    before: Cue
    plan: SlotPlan
    number: int
    config: Config


LOG = "redo"
"""Of ``redo.jsonl``: one record for each slot and try, with all that was asked and answered."""


LOOKS = "redo-looks"
"""Of ``redo-looks.jsonl``: what Stage I has answered in a redo that is not done yet."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one slot: its line before, and its new one; ``reason`` says why there is none."""

    before: Cue
    after: Cue | None
    reason: str = ""

    @property
    def same(self) -> bool:
        """Whether the engines gave the line again that was there."""
        return self.after is None and not self.reason


class SlotRewriter(SlotWriter):
    """Describes single slots again, each under settings of its own, with the lines around them at hand.

    A new line is in the track and its scripts, and known to those after it, before the next is asked.
    ``results`` are in the order of ``asks``. ``apart`` holds for now what a run keeps for good.
    """

    looks_first = True

    def __init__(
        self,
        asks: Sequence[Ask],
        track: Track,
        prepared: Prepared,
        context: RunContext,
        engines: Engines,
        apart: WorkFolder,
    ) -> None:
        self._asks = {ask.plan.slot.id: ask for ask in asks}
        self._track = {cue.id: cue for cue in track.cues}
        info, self._folder = context.film.info, context.folder
        self._film = FilmId(info.name, info.fingerprint, prepared.end)
        self._notes = rows_of(context.folder, "story")
        self.results: list[Result] = []
        self.files: tuple[Path, ...] = ()
        self.warnings: tuple[str, ...] = ()
        plans, looks = [ask.plan for ask in asks], context.folder.log_of_records(LOOKS)
        super().__init__(plans, plans, prepared, replace(context, folder=apart), engines, looks=looks)
        self._in_turn = True

    def _tidy(self, log: RecordLog, engine: Engine, keys: Sequence[str]) -> None:
        (self._folder.path / f"{LOOKS}.jsonl").unlink(missing_ok=True)

    def _settings(self, plan: SlotPlan) -> Config:
        return self._asks[plan.slot.id].config

    def _left_to_people(self, plan: SlotPlan) -> str:
        """Nothing: whoever has a slot described again wants a line there."""
        return ""

    def _said(self, plan: SlotPlan) -> tuple[str, ...]:
        own, start = self._asks[plan.slot.id].before.id, plan.slot.interval.start
        before = [cue for cue in self._track.values() if cue.heard and cue.interval.start < start]
        return tuple(cue.text for cue in before if cue.id != own)

    def _story(self, plan: SlotPlan, description: str) -> StoryContext:
        """What it was in the run, with what that had learnt before the slot."""
        config = self._settings(plan)
        if not config.story.on:
            return NO_STORY
        memory, speech = Memory.at(self._notes, plan.slot.interval.start), self._prepared.speech
        return story_of(plan.slot, self._said(plan), speech, memory, description, plan.presence, config)

    def _cue(self, plan: SlotPlan, seen: Record, line: Record | None) -> Cue:
        """The new line, chosen among Stage II's, which are kept with all that was answered."""
        ask = self._asks[plan.slot.id]
        before, config = ask.before, ask.config
        others = line and other_than(line, before.text)
        cue = self._chosen(plan, seen, others, self._make_chooser(config))
        result = Result(before, replace(cue, id=before.id))
        if not cue.heard:
            told = {CueStatus.SILENT: "silent", CueStatus.DROPPED: "dropped"}.get(cue.status, "failed")
            result = Result(before, None, f"the new answer is {told}: {cue.reason}")
        elif before.heard and cue.text == before.text:
            result = Result(before, None)
        row = {
            "slot": plan.slot.id,
            "number": ask.number,
            "seed": config.seed,
            "note": config.prompt.note,
            "before": before.text,
            "after": None if result.after is None else result.after.text,
            "reason": "the same line" if result.same else result.reason,
            "stage1": seen,
            "stage2": line and {name: value for name, value in line.items() if name != "key"},
        }
        self._folder.log_of_records(LOG).add(key_of("redo/1", plan.slot.id, ask.number), row)
        if result.after is not None:
            self._track[result.after.id] = result.after
            result, files, news = _put(before, result.after, self._folder, self._film)
            self.files, self.warnings = files or self.files, (*self.warnings, *news)
        self.results.append(result)
        return cue


def other_than(record: Record, line: str) -> Record:
    """Stage II's record without candidates that say ``line`` again, where it has others."""
    kept = [n for n, text in enumerate(record["candidates"]) if one_line(text) != line]
    if not kept or len(kept) == len(record["candidates"]):
        return record
    unseen, notes = record.get("unseen") or {}, record.get("notes") or {}
    said = notes.get("said", ())
    own = {"notes": {**notes, "said": [said[n] for n in kept if n < len(said)]}} if said else {}
    return {
        **record,
        **own,
        "candidates": [record["candidates"][n] for n in kept],
        "unseen": {str(new): unseen[str(n)] for new, n in enumerate(kept) if str(n) in unseen},
    }


def rows_of(folder: WorkFolder, name: str) -> list[dict[str, Any]]:
    """The records of ``NAME.jsonl``, oldest first; damaged lines are left out."""
    path, rows = folder.path / f"{name}.jsonl", []
    for line in read_file(path).splitlines() if path.exists() else ():
        row = whole_record(path.name, line)
        if row is not None:
            rows.append(row)
    return rows
