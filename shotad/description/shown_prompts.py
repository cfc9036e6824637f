"""What the two stages are asked about one slot, whole, for people to read; nothing is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shotad.core import (
    Config,
    Description,
    Engine,
    Message,
    Progress,
    RunInputs,
    Slot,
    WorkFolder,
)
from shotad.core.engine import Stage
from shotad.core.errors import UsageError, quoted
from shotad.description.clip_builder import plan_clips, prepare_grammar
from shotad.description.engine_pair import STAGE_NAMES, Engines
from shotad.description.estimate import foreseeing
from shotad.description.preparation import RunContext, prepare
from shotad.description.prompts import (
    NO_STORY,
    StoryContext,
    check_prompts,
    stage1_messages,
    stage2_messages,
)
from shotad.description.slot_redo import read_rows
from shotad.description.slotplan import SlotPlan, as_called
from shotad.description.stage1 import known_description
from shotad.description.story import StoryMemory, story_of
from shotad.film import Film, Prepared
from shotad.script import load_track
from shotad.script.cue import (
    milliseconds,
    parse_time,
    timecode,
)
from shotad.script.track_files import TRACK


@dataclass(frozen=True, slots=True)
class ShownPrompts:
    """The first question of each stage about one slot.

    ``frames`` is how many go with Stage I's. ``is_described``: Stage II's holds the description that the work
    folder has of the slot; else placeholders stand for it. ``engines`` are their names by stage; ``unread``
    are the stages whose engine reads no prompts.
    """

    slot: Slot
    frames: int
    stage1: tuple[Message, ...]
    stage2: tuple[Message, ...]
    is_described: bool
    engines: Mapping[Stage, str]
    unread: tuple[Stage, ...]


def show_prompts(
    film: Film,
    folder: WorkFolder,
    config: Config,
    run_inputs: RunInputs | None = None,
    *,
    slot: str,
    engines: Engines | None = None,
    progress: Progress | None = None,
) -> ShownPrompts:
    """What a run of `description.pipeline.describe` with the same arguments asks about ``slot``.

    ``slot`` is an id (``s00083120``) or a time within the slot (``1:23``). Nothing is sent or fetched. Raises
    UsageError where there is no such slot, and PromptError.
    """
    check_prompts()
    _second_of(slot)
    engines = engines or Engines.of(config)
    with foreseeing(film, folder, config, run_inputs, engines, progress) as context:
        prepare_grammar(context)
        prepared = prepare(context)
        plans, _ = plan_clips(prepared, context, engines.stage1.abilities)
        plan = _find_plan(plans, slot)
        stage1, headings = stage1_messages(plan, context.config, hears=engines.stage1.abilities.hears)
        earlier_description = known_description(plan, context, engines.stage1)
        steps = dict.fromkeys(headings, "(what Stage I says)")
        description = earlier_description or Description(plan.slot.id, steps, "", "", "")
        stage2 = stage2_messages(
            as_called(description, plan.presence, context.config.prompt),
            plan,
            context.config,
            story=_story(plan, description, prepared, context),
        )
    both: dict[Stage, Engine] = {"stage1": engines.stage1, "stage2": engines.stage2}
    return ShownPrompts(
        slot=plan.slot,
        frames=sum(len(shot.seconds) for shot in plan.frames),
        stage1=stage1,
        stage2=stage2,
        is_described=earlier_description is not None,
        engines={stage: engine.identity.engine for stage, engine in both.items()},
        unread=tuple(stage for stage, engine in both.items() if not engine.abilities.converses),
    )


def _second_of(name: str) -> float:
    """The second that an id of a slot, or a time, stands for. Raises UsageError."""
    if name[:1] == "s" and name[1:].isdecimal():
        return int(name[1:]) / 1000
    try:
        return parse_time(name)
    except ValueError:
        hint = "Write s00083120, or 1:23."
        raise UsageError(f"{quoted(name)} is neither the id of a slot nor a time.", hint) from None


def _find_plan(plans: Sequence[SlotPlan], name: str) -> SlotPlan:
    """The plan of the slot with this id, or at this time. Raises UsageError."""
    second = _second_of(name)
    now = milliseconds(second)
    for plan in plans:
        start, end = milliseconds(plan.slot.interval.start), milliseconds(plan.slot.interval.end)
        if plan.slot.id == name or (name[:1] != "s" and start <= now < end):
            return plan
    hint = "There are no slots."
    if plans:
        nearest = min(plans, key=lambda plan: abs(plan.slot.interval.start - second)).slot
        hint = f"The nearest is {nearest.id}, at {timecode(nearest.interval.start)}."
    raise UsageError(f"There is no slot {quoted(name)}.", hint)


def _story(plan: SlotPlan, description: Description, prepared: Prepared, context: RunContext) -> StoryContext:
    """The story up to the slot, by the lines and the memory that the work folder holds."""
    config, start = context.config, plan.slot.interval.start
    if not config.story.on:
        return NO_STORY
    lines: list[str] = []
    if (context.folder.path / TRACK).is_file():
        track = load_track(context.folder.path / TRACK)
        lines = [cue.text for cue in track.heard if cue.interval.start < start]
    memory = StoryMemory.at(read_rows(context.folder, "story"), start)
    return story_of(plan.slot, lines, prepared.speech, memory, description.text, plan.presence, config)


def shown_lines(shown: ShownPrompts) -> list[str]:
    """For people: each message under a heading that says whose it is."""
    slot = shown.slot
    span = f"{timecode(slot.interval.start)} to {timecode(slot.interval.end)}"
    lines = [f"Slot {slot.id}, {span}, at most {slot.max_words} words."]
    for stage in shown.unread:
        lines.append(
            f"{STAGE_NAMES[stage]}: the engine {shown.engines[stage]} reads no prompts. A language model "
            "would be asked this."
        )
    if not shown.is_described:
        lines.append("Stage I has not described this slot yet: placeholders stand in Stage II's prompt.")
    lines += _messages("stage1", shown.stage1, f", with {shown.frames} frames")
    lines += _messages("stage2", shown.stage2)
    return lines


def _messages(stage: Stage, messages: Iterable[Message], with_clip: str = "") -> list[str]:
    lines = []
    for message in messages:
        frames = with_clip if message.with_clip else ""
        lines += ["", f"===== {STAGE_NAMES[stage]}, {message.role}{frames} =====", message.text]
    return lines


def shown_json(shown: ShownPrompts) -> dict[str, Any]:
    """The same for programs."""
    interval = shown.slot.interval
    record: dict[str, Any] = {
        "slot": shown.slot.id,
        "start": interval.start,
        "end": interval.end,
        "max_words": shown.slot.max_words,
        "frames": shown.frames,
        "is_described": shown.is_described,
    }
    both: dict[Stage, tuple[Message, ...]] = {"stage1": shown.stage1, "stage2": shown.stage2}
    for stage, messages in both.items():
        record[stage] = {
            "engine": shown.engines[stage],
            "reads_prompts": stage not in shown.unread,
            "messages": [{"role": message.role, "text": message.text} for message in messages],
        }
    return record
