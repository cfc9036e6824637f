"""Both stages over made-up slots, as a run writes them, with engines whose answers are given."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core import (
    Abilities,
    Clip,
    ContextShot,
    FramePlan,
    Grammar,
    Identity,
    Interval,
    NoProgress,
    Reply,
    Request,
    RunInputs,
    Shot,
    Slot,
    Usage,
    Utterance,
    WorkFolder,
    load_config,
)
from shotad.core.cast import EMPTY_PRESENCE, Presence
from shotad.core.types import Role
from shotad.description import (
    Engines,
    RunContext,
    SlotPlan,
    Stage1Answer,
    Stage2Answer,
    WrittenSlots,
    write_slots,
)
from shotad.description.slotplan import NearbyName
from shotad.engines import ClipOnDemand
from shotad.film import Prepared, open_film
from shotad.script import Cue
from tests.media import FilmSpec, make_film

Answer = str | Reply
SEEN = "Description:\n1. Main characters: Ann.\n2. Actions: Ann opens a drawer. She takes out a gun."
AS_THEY_COME = ("stage2.repair=none",)
"""Lines are taken as the engine writes them, and not asked for again."""


def lines_json(*lines: str) -> str:
    """An answer of Stage II as it is asked for."""
    keys = [f"summarized_AD_{number}" for number in range(1, len(lines) + 1)]
    return json.dumps(dict(zip(keys if len(lines) > 1 else ["summarized_AD"], lines, strict=True)))


@dataclass(frozen=True)
class ScriptedSlot:
    """A slot and what the engines answer about it, each in turn: ``looks`` Stage I's, also those about
    statements of a line, ``writes`` Stage II's, also those about which line is best."""

    writes: Sequence[Answer] = ()
    looks: Sequence[Answer] = (SEEN,)
    interval: Interval = field(default_factory=lambda: Interval(10, 14))
    max_words: int = 9
    shots: Sequence[tuple[Role, Interval]] = ()
    presence: Presence = EMPTY_PRESENCE
    nearby_names: Sequence[NearbyName] = ()

    @property
    def plan(self) -> SlotPlan:
        """The slot's plan: one frame a second; without ``shots`` one before the slot and one that holds it."""
        start, end = self.interval.start, self.interval.end
        shots = self.shots or (
            (Role.PAST, Interval(start - 4, start - 1)),
            (Role.CURRENT, Interval(start - 1, end + 1)),
        )
        context, frames = [], []
        for number, (role, interval) in enumerate(shots):
            context.append(ContextShot(Shot(3 + number, interval), role, interval))
            frames.append(FramePlan(number, role, np.array([interval.start + 1, interval.start + 2])))
        return SlotPlan(
            Slot(f"s{round(1000 * start):08d}", self.interval, self.max_words),
            tuple(context),
            tuple(frames),
            Grammar(),
            presence=self.presence,
            nearby_names=tuple(self.nearby_names),
        )


class ScriptedEngine:
    """Answers the questions about each slot in turn, and keeps what it was asked."""

    def __init__(self, answers: Mapping[str, Sequence[Answer]], **abilities: Any) -> None:
        self.identity = Identity("model", "m", "1")
        self.abilities = Abilities(accepts_images=True, **abilities)
        self.waiting = {slot_id: list(replies) for slot_id, replies in answers.items()}
        self.requests: list[Request] = []

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        self.requests += requests
        return [self.reply(request) for request in requests]

    def reply(self, request: Request) -> Reply:
        answer = self.waiting[request.slot_id].pop(0)
        return Reply(answer, usage=Usage(10, 2)) if isinstance(answer, str) else answer

    def questions(self, slot_id: str = "") -> list[str]:
        """The last message of each question, of one slot or of all."""
        return [request.messages[-1].text for request in self.requests if slot_id in ("", request.slot_id)]


class SteadyWriter(ScriptedEngine):
    """Writes the first of a slot's ``writes`` as its only line, however often it is asked."""

    def __init__(self, slots: Sequence[ScriptedSlot]) -> None:
        super().__init__({})
        self.lines = {slot.plan.slot.id: str(slot.writes[0]) for slot in slots}

    def reply(self, request: Request) -> Reply:
        return Reply(lines_json(self.lines[request.slot_id]))


@dataclass(frozen=True)
class SlotRun:
    """What a run made of its slots, and both engines."""

    written: WrittenSlots
    looks: Any
    writes: Any

    @property
    def cues(self) -> tuple[Cue, ...]:
        return self.written.cues

    @property
    def cue(self) -> Cue:
        """The cue of the last slot."""
        return self.written.cues[-1]

    @property
    def stage1(self) -> Stage1Answer:
        """Stage I's answer about the last slot."""
        return self.written.slots[-1].stage1

    @property
    def stage2(self) -> Stage2Answer:
        """Stage II's answer about the last slot."""
        answer = self.written.slots[-1].stage2
        assert answer is not None
        return answer


def run_slots(
    *slots: ScriptedSlot,
    how: Sequence[str] = (),
    speech: Sequence[Utterance] = (),
    looks: Any = None,
    writes: Any = None,
    folder: Path | None = None,
    sees: Mapping[str, Any] | None = None,
    talks: Mapping[str, Any] | None = None,
) -> SlotRun:
    """Describe and write these slots, in the film's order; each answer must be asked for.

    ``looks`` and ``writes`` are engines instead of scripted ones; ``sees`` and ``talks`` are abilities of the
    scripted engines. ``folder`` is the work folder; without one it is gone afterwards.
    """
    plans = [slot.plan for slot in slots]
    scripts = list(zip(plans, slots, strict=True))
    if looks is None:
        looks = ScriptedEngine({plan.slot.id: slot.looks for plan, slot in scripts}, **(sees or {}))
    if writes is None:
        writes = ScriptedEngine({plan.slot.id: slot.writes for plan, slot in scripts}, **(talks or {}))

    def clip_of(plan: SlotPlan, context: RunContext, engine: Any) -> ClipOnDemand:
        seconds = np.concatenate([frames.seconds for frames in plan.frames])
        numbers = np.repeat([frames.number for frames in plan.frames], 2)
        clip = Clip(np.full((len(seconds), 144, 256, 3), 90, np.uint8), seconds, numbers)
        return ClipOnDemand(f"clip {plan.slot.id}", lambda: clip)

    with (
        tempfile.TemporaryDirectory() as scratch,
        open_film(make_film(FilmSpec()).path) as film,
        WorkFolder(folder or Path(scratch)) as work_folder,
    ):
        all_slots = tuple(plan.slot for plan in plans)
        prepared = Prepared(film.info, 9000.0, (), tuple(speech), (), all_slots)
        context = RunContext.of(film, work_folder, load_config(None, how), RunInputs(), NoProgress())
        written = write_slots(plans, len(plans), prepared, context, Engines(looks, writes), clip_of=clip_of)
    for engine in (looks, writes):
        # In a folder of an earlier run the answers of that run are known.
        if isinstance(engine, ScriptedEngine) and folder is None:
            unasked = {slot_id: answers for slot_id, answers in engine.waiting.items() if answers}
            assert not unasked, f"never asked for: {unasked}"
    return SlotRun(written, looks, writes)


def records(folder: Path, name: str) -> list[dict[str, Any]]:
    """The records of ``NAME.jsonl`` in a work folder, oldest first."""
    path = folder / f"{name}.jsonl"
    return [json.loads(row) for row in path.read_text().splitlines()] if path.exists() else []


def complaints_about(
    line: str, description: str, presence: Presence, *, how: Sequence[str] = (), **more: Any
) -> str:
    """What a model that wrote ``line`` from this description is asked to do better; empty for a good line."""
    slot = ScriptedSlot([line], (f"Description:\n1. Actions: {description}",), presence=presence, **more)
    writer = SteadyWriter([slot])
    run_slots(slot, how=("stage1.attempts=1", *how), writes=writer)
    questions = writer.questions()
    return questions[1] if len(questions) > 1 else ""


def spoken_before(*lines: str) -> list[ScriptedSlot]:
    """Slots before second 10 of a film with these lines, in order."""
    start = 10.0 - 0.5 * len(lines) - 0.5
    return [
        ScriptedSlot(
            [lines_json(line)], interval=Interval(start + 0.5 * n, start + 0.5 * n + 0.4), max_words=30
        )
        for n, line in enumerate(lines)
    ]


def last_slot(*candidates: str, verdicts: Answer = "", **more: Any) -> ScriptedSlot:
    """A slot at second 10 with these candidates; ``verdicts`` is Stage I's second look at them."""
    looks = more.pop("looks", (SEEN,))
    slot = ScriptedSlot([lines_json(*candidates)], **more)
    return replace(slot, looks=(*looks, verdicts) if verdicts else looks)
