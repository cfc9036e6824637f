"""Single slots described again under the settings of their run, with a seed of their own.

Both stages are asked, with the lines around the slot at hand. The new line is a person's choice
(`shotad.script.edits`), so every later run keeps it. All that was asked and answered is added to
``redo.jsonl``; the records of the run itself stay as they are.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from shotad.core import (
    Config,
    EditConflict,
    Engine,
    NoProgress,
    Progress,
    RunSettings,
    UsageError,
    WorkFolder,
    WorkFolderError,
    description_of,
    key_of,
    reported,
    whole_record,
)
from shotad.description import stage1, stage2
from shotad.description.choice import make_chooser
from shotad.description.clip_builder import get_ready, understand
from shotad.description.conversation import Named, Who, ask_all, is_done, slot_seed
from shotad.description.engine_pair import Engines
from shotad.description.overview_page import write_sheet
from shotad.description.pipeline import empty_line
from shotad.description.preparing import RunContext
from shotad.description.prompts import check_prompts
from shotad.description.scheduler import converse
from shotad.description.slot_writer import around_of, cue_of, one_line
from shotad.description.slotplan import SlotPlan
from shotad.description.stage1 import clip_as_seen, stage1_questions
from shotad.description.story import Memory, story_of
from shotad.description.usage import Used, used
from shotad.film import ClipPlan, Film, Prepared, clips, recorded
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
    engines = engines or Engines.of(config)
    context = RunContext.of(
        film, folder, config, replace(run.given, start=0.0, end=None), progress or NoProgress()
    )
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
            save_track(track, folder.path, film.info.name)
    chosen = _allowed(track, find_lines(track, names), prepared, over_edits=over_edits)
    check_prompts("story", "verify")
    engines.get_ready(config, context.progress)
    get_ready(context)
    asks, warnings = _asks(chosen, prepared, context, engines)
    rewriter = SlotRewriter(track, prepared, context, engines)
    results: list[Result] = []
    files: tuple[Path, ...] = ()
    for result in rewriter.work(asks):
        # A new line is in the track and its scripts before the next is asked.
        put, written, news = _put(result, folder, own)
        results.append(put)
        files, warnings = written or files, (*warnings, *news)
    page = None
    if sheet and files:
        page = write_sheet(folder.path, context.frames.pictures, config, context.progress)
    spent = used(rewriter.seen, rewriter.lines, engines.terms(config), rewriter.other)
    return Redone(tuple(results), files, page, warnings, spent)


def _present(folder: WorkFolder, film: FilmId) -> Track:
    """The track with all that people changed in it and in the scripts beside it."""
    track = present_track(folder, film)
    if track is None:
        raise WorkFolderError(f"{folder.path} has no track.", "Run shotad describe first.")
    return track


def _put(
    result: Result, folder: WorkFolder, film: FilmId
) -> tuple[Result, tuple[Path, ...], tuple[str, ...]]:
    """The result with its line in the track and its scripts, the files written, and what users should know.

    A line that somebody wrote, moved or accepted since stays, and the new one is among its candidates.
    """
    before, new = result.before, result.after
    files: tuple[Path, ...] = ()
    if new is None:
        return result, files, ()
    with track_lock(folder.path):
        track = _present(folder, film)
        now = next((cue for cue in track.cues if cue.id == new.id), None)
        same = now is not None and review_stamp(now) == review_stamp(before)
        if now is not None and same and (now.review is None) == (before.review is None):
            merged = redone(track, [new])
            files = save_track(merged.track, folder.path, film.name)
            after = next(cue for cue in merged.track.cues if cue.id == new.id)
            return replace(result, after=after), files, merged.news
        reason = f"the line was removed meanwhile; the new one was {new.text!r}"
        if now is not None:
            said = repr(new.text)
            reason = f"a person changed the line meanwhile; the new one is among its candidates: {said}"
            if new.text and new.text not in now.candidates:
                offered = replace(now, candidates=(*now.candidates, new.text))
                cues = (offered if cue.id == now.id else cue for cue in track.cues)
                files = save_track(track.with_cues(cues), folder.path, film.name)
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
                "Only lines of slots can be described again.",
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
    cues: Sequence[Cue], prepared: Prepared, context: RunContext, engines: Engines
) -> tuple[tuple[Ask, ...], tuple[str, ...]]:
    """The plans of the lines' slots, each with the settings of its next try; and what could not be done."""
    wanted = {cue.slot_id: cue for cue in cues}
    some = replace(prepared, slots=tuple(slot for slot in prepared.slots if slot.id in wanted))
    grammar = context.folder.path / "grammar.json"
    # Apart, so that what is written of these few slots takes nothing from the run's own grammar.
    with tempfile.TemporaryDirectory(prefix="shotad-") as place:
        if grammar.is_file():
            shutil.copy(grammar, place)
        apart = replace(context, folder=WorkFolder(Path(place)))
        density = engines.looks.abilities.frames_per_second
        plans, warnings = understand(some, apart, density, run=context.folder)
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


Record = Mapping[str, Any]

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


class SlotRewriter:
    """Where both stages are asked about single slots, with the lines around them at hand.

    ``seen``, ``lines`` and ``other`` are the records made: of Stage I, Stage II, and of choices.
    """

    def __init__(self, track: Track, prepared: Prepared, context: RunContext, engines: Engines) -> None:
        self._context, self._engines, self._prepared = context, engines, prepared
        self._lines = {cue.id: cue for cue in track.cues}
        self._notes = rows_of(context.folder, "story")
        self._plans: dict[str, SlotPlan] = {}
        self.seen: list[Record] = []
        self.lines: list[Record] = []
        self.other: list[Record] = []

    def work(self, asks: Sequence[Ask]) -> Iterator[Result]:
        """The result for each slot, in order, as soon as it is there; a new line is known to those after."""
        self._plans = {ask.plan.slot.id: ask.plan for ask in asks}
        seen = self._look(asks)
        with reported(self._context.progress, "Writing lines", len(asks), "slots") as task:
            for ask in asks:
                yield self._result(ask, seen[ask.plan.slot.id])
                task.advance()
        (self._context.folder.path / f"{LOOKS}.jsonl").unlink(missing_ok=True)

    def _look(self, asks: Sequence[Ask]) -> dict[str, Record]:
        """Stage I's record of each slot; those that a redo made which was stopped are taken as they are."""
        engine, context = self._engines.looks, self._context
        log = context.folder.log_of_records(LOOKS)
        every = {
            ask.plan.slot.id: stage1_questions([ask.plan], replace(context, config=ask.config), engine)[0]
            for ask in asks
        }
        kept = {name: record for name, q in every.items() if (record := log.get(q.key)) is not None}
        done = {name: record for name, record in kept.items() if is_done(record)}
        asked = {name: q for name, q in every.items() if name not in done}
        by_slot = {ask.plan.slot.id: ask for ask in asks if ask.plan.slot.id in asked}

        def inquiries() -> Iterator[Named]:
            wants = [ClipPlan(name, ask.plan.frames) for name, ask in by_slot.items()]
            for name, clip in clips(wants, context.frames.pictures):
                config = by_slot[name].config
                seen = stage1.stage1_as_seen(clip, by_slot[name].plan, engine, config)
                heard = stage1.with_sound(seen, context, engine)
                yield name, stage1.stage1_inquiry(asked[name], heard, engine, config)

        found: dict[str, Record] = done | {name: stage1.stage1_unread(q, engine) for name, q in asked.items()}
        with reported(context.progress, "Looking at the film", len(asked), "slots") as task:
            for name, record in converse(inquiries(), {"looks": engine}):
                found[name] = log.add(asked[name].key, record)
                self.seen.append(record)
                task.advance()
        return found

    def _result(self, ask: Ask, look: Record) -> Result:
        """The new line, chosen among Stage II's, which are kept with all that was answered."""
        before, slot, presence = ask.before, ask.plan.slot, ask.plan.presence
        said, writes = self._said(ask), self._engines.writes
        record = None if look["error"] else self._answered(ask, look, said)
        around = around_of(said, self._prepared, self._context)
        chooser = make_chooser(
            ask.config,
            lambda request: ask_all(writes, [request])[0],
            lambda _: None,
            lambda _, record: self.other.append(record),
            writes.identity,
            self._context.progress,
        )
        other = record and other_than(record, before.text)
        cue = cue_of(slot, look, other, ask.config, around, chooser, said, presence)
        result = Result(before, replace(cue, id=before.id))
        if not cue.heard:
            told = {CueStatus.SILENT: "silent", CueStatus.DROPPED: "dropped"}.get(cue.status, "failed")
            result = Result(before, None, f"the new answer is {told}: {cue.reason}")
        elif before.heard and cue.text == before.text:
            result = Result(before, None)
        row = {
            "slot": slot.id,
            "number": ask.number,
            "seed": ask.config.seed,
            "note": ask.config.prompt.note,
            "before": before.text,
            "after": None if result.after is None else result.after.text,
            "reason": "the same line" if result.same else result.reason,
            "stage1": look,
            "stage2": record,
        }
        self._context.folder.log_of_records(LOG).add(key_of("redo/1", slot.id, ask.number), row)
        if result.after is not None:
            self._lines[result.after.id] = result.after
        return result

    def _answered(self, ask: Ask, look: Record, said: Sequence[str]) -> Record:
        """Stage II's record. It is told what it was in the run, with what that had learnt before the slot."""
        writes, plan, config = self._engines.writes, ask.plan, ask.config
        described, story = description_of(plan.slot.id, look), ""
        if config.story.on:
            memory, speech = Memory.at(self._notes, plan.slot.interval.start), self._prepared.speech
            story = story_of(plan.slot, said, speech, memory, described.text, plan.presence, config)
        question = stage2.question(
            plan,
            described,
            said if writes.abilities.uses_history else (),
            writes,
            config,
            story=story,
            looks=self._engines.looks.identity,
            measures=self._engines.measures,
        )
        first: dict[Who, Engine] = {"writes": writes}
        ((_, record),) = converse(
            [(plan.slot.id, stage2.inquiry(question, writes, config))],
            {**first, **self._engines.all},
            clip_of=lambda who, name: clip_as_seen(self._plans[name], self._context, self._engines.all[who]),
        )
        self.lines.append(record)
        return record

    def _said(self, ask: Ask) -> tuple[str, ...]:
        """The lines that are heard before the slot, oldest first."""
        start = ask.plan.slot.interval.start
        before = [cue for cue in self._lines.values() if cue.heard and cue.interval.start < start]
        return tuple(cue.text for cue in before if cue.id != ask.before.id)


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
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        row = whole_record(path.name, line)
        if row is not None:
            rows.append(row)
    return rows
