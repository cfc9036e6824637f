"""Asking about single slots: both stages, with the lines around a slot at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.core import Clip, Config, WorkFolder, description_of, key_of, reported, whole_record
from shotad.description import stage1, stage2
from shotad.description.ask import ask_all
from shotad.description.choice import Chooser
from shotad.description.conversation import Named, converse
from shotad.description.lines import cue_of, one_line
from shotad.description.preparing import Bench
from shotad.description.sequence import make_chooser
from shotad.description.slotplan import SlotPlan
from shotad.description.story import parse_renewal
from shotad.description.story_prompt import story_of
from shotad.description.writing import Engines, around_of, clip_as_seen, is_done, stage1_questions
from shotad.film import ClipPlan, Prepared, clips
from shotad.script import Cue, CueStatus, Track

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


@dataclass(frozen=True, slots=True)
class Ask:
    """A slot that is described anew: its line so far, its plan, the how-manieth time, its own settings."""

    before: Cue
    plan: SlotPlan
    number: int
    config: Config


class SlotRewriter:
    """Where both stages are asked about single slots, with the lines around them at hand.

    ``seen``, ``lines`` and ``other`` are the records made: of Stage I, Stage II, and of choices.
    """

    def __init__(self, track: Track, prepared: Prepared, bench: Bench, engines: Engines) -> None:
        self._bench, self._engines, self._prepared = bench, engines, prepared
        self._lines = {cue.id: cue for cue in track.cues}
        self._notes = rows_of(bench.folder, "story")
        self._plans: dict[str, SlotPlan] = {}
        self.seen: list[Record] = []
        self.lines: list[Record] = []
        self.other: list[Record] = []

    def work(self, asks: Sequence[Ask]) -> Iterator[Result]:
        """The result for each slot, in order, as soon as it is there; a new line is known to those after."""
        self._plans = {ask.plan.slot.id: ask.plan for ask in asks}
        seen = self._look(asks)
        with reported(self._bench.progress, "Writing lines", len(asks), "slots") as task:
            for ask in asks:
                yield self._result(ask, seen[ask.plan.slot.id])
                task.advance()
        (self._bench.folder.path / f"{LOOKS}.jsonl").unlink(missing_ok=True)

    def _look(self, asks: Sequence[Ask]) -> dict[str, Record]:
        """Stage I's record of each slot; those that a redo made which was stopped are taken as they are."""
        engine, bench = self._engines.looks, self._bench
        log = bench.folder.log_of_records(LOOKS)
        every = {
            ask.plan.slot.id: stage1_questions([ask.plan], replace(bench, config=ask.config), engine)[0]
            for ask in asks
        }
        kept = {name: record for name, q in every.items() if (record := log.get(q.key)) is not None}
        done = {name: record for name, record in kept.items() if is_done(record)}
        asked = {name: q for name, q in every.items() if name not in done}
        by_slot = {ask.plan.slot.id: ask for ask in asks if ask.plan.slot.id in asked}

        def inquiries() -> Iterator[Named]:
            wants = [ClipPlan(name, ask.plan.frames) for name, ask in by_slot.items()]
            for name, clip in clips(wants, bench.frames.pictures):
                config = by_slot[name].config
                seen = stage1.stage1_as_seen(clip, by_slot[name].plan, engine, config)
                yield name, stage1.stage1_inquiry(asked[name], seen, engine, config)

        found: dict[str, Record] = done | {name: stage1.stage1_unread(q, engine) for name, q in asked.items()}
        with reported(bench.progress, "Looking at the film", len(asked), "slots") as task:
            for name, record in converse(inquiries(), {"looks": engine}):
                found[name] = log.add(asked[name].key, record)
                self.seen.append(record)
                task.advance()
        return found

    def _result(self, ask: Ask, look: Record) -> Result:
        record = None if stage1.failed(look) else self._answered(ask, look)
        cue = self._cue(ask, look, record)
        result = self._judged(ask, replace(cue, id=ask.before.id))
        self._keep(ask, look, record, result)
        if result.after is not None:
            self._lines[result.after.id] = result.after
        return result

    def _answered(self, ask: Ask, look: Record) -> Record:
        """Stage II's record."""
        writes, looks = self._engines.writes, self._engines.looks
        said = self._said(ask)
        question = stage2.question(
            ask.plan,
            description_of(ask.plan.slot.id, look),
            said if writes.abilities.uses_history else (),
            writes,
            ask.config,
            story=self._story(ask, said),
            looks=looks.identity,
        )
        inquiry = stage2.inquiry(question, writes, ask.config)
        talks = self._engines.at_work(ask.config)
        ((_, record),) = converse([(ask.plan.slot.id, inquiry)], talks, clip_of=self._clip_of)
        self.lines.append(record)
        return record

    def _cue(self, ask: Ask, look: Record, record: Record | None) -> Cue:
        said = self._said(ask)
        number = ask.config.stage2.history
        last = said[-number:] if number else ()
        around = around_of(last, self._prepared, self._bench)
        other = record and other_than(record, ask.before.text)
        presence = ask.plan.presence
        return cue_of(ask.plan.slot, look, other, ask.config, around, self._chooser(ask), said, presence)

    def _judged(self, ask: Ask, cue: Cue) -> Result:
        before = ask.before
        if not cue.heard:
            said = {CueStatus.SILENT: "silent", CueStatus.DROPPED: "dropped"}.get(cue.status, "failed")
            return Result(before, None, f"the new answer is {said}: {cue.reason}")
        if before.heard and cue.text == before.text:
            return Result(before, None)
        return Result(before, cue)

    def _keep(self, ask: Ask, look: Record, record: Record | None, result: Result) -> None:
        slot, note = ask.plan.slot.id, ask.config.prompt.note
        log = self._bench.folder.log_of_records(LOG)
        row = {
            "slot": slot,
            "number": ask.number,
            "seed": ask.config.seed,
            "note": note,
            "before": ask.before.text,
            "after": None if result.after is None else result.after.text,
            "reason": "the same line" if result.same else result.reason,
            "stage1": look,
            "stage2": record,
        }
        log.add(key_of("redo/1", slot, ask.number), row)

    def _said(self, ask: Ask) -> tuple[str, ...]:
        """The lines that are heard before the slot, oldest first."""
        start = ask.plan.slot.interval.start
        before = [cue for cue in self._lines.values() if cue.heard and cue.interval.start < start]
        return tuple(cue.text for cue in before if cue.id != ask.before.id)

    def _story(self, ask: Ask, said: Sequence[str]) -> str:
        """What Stage II is told besides, as in the run, with the last note on the story that the run made."""
        config = ask.config
        if not config.story.on:
            return ""
        so_far = self._so_far(ask.plan.slot.interval.start)
        return story_of(ask.plan.slot, said, self._prepared.speech, so_far, ask.plan.presence, config)

    def _so_far(self, second: float) -> str:
        """The note on the story that the run made last of what comes before ``second``."""
        found: list[tuple[float, int, str]] = []
        for order, row in enumerate(self._notes):
            cue, note = self._lines.get(str(row.get("slot"))), parse_renewal(str(row.get("raw", "")))
            refused = row.get("finish") == "refused"
            if cue is not None and cue.interval.start < second and note and not refused:
                found.append((cue.interval.start, order, note))
        return max(found)[2] if found else ""

    def _chooser(self, ask: Ask) -> Chooser:
        writes = self._engines.writes
        return make_chooser(
            ask.config,
            lambda request: ask_all(writes, [request])[0],
            lambda _: None,
            lambda _, record: self.other.append(record),
            self._bench.progress,
            identity=writes.identity,
        )

    def _clip_of(self, slot_id: str) -> Clip:
        return clip_as_seen(self._plans[slot_id], self._bench, self._engines.looks)


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
