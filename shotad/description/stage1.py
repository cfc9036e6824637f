"""Stage I: frames and a prompt to an engine, a dense description back (Shot-by-Shot, section 3.2).

An answer that cannot be read, one in which the marks on the frames have leaked, and one that names people
whom the question does not name is asked for again with what was wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.core import (
    HEARING_RATE,
    Clip,
    Config,
    Description,
    Engine,
    Mark,
    Reply,
    Request,
    ScriptError,
    clip_rows,
    description_row,
    key_of,
    seconds,
)
from shotad.description.answers import parse_stage1, quoted
from shotad.description.castlist import names_of, shown_people, told_of
from shotad.description.checks import (
    REFUSED,
    REPEATED,
    Complaint,
    about_description,
    names_untold,
    original,
    stage1_again,
    unreadable,
)
from shotad.description.conversation import (
    EngineCall,
    Inquiry,
    check_images,
    identity_record,
    prompt_record,
    request_record,
    slot_seed,
    try_record,
    usage_record,
)
from shotad.description.leaks import clean
from shotad.description.preparing import RunContext
from shotad.description.prompts import Stage1Prompt, stage1_messages
from shotad.description.slotplan import SlotPlan
from shotad.film import ClipPlan, SoundSeeker, choose_track, clips, fit, paint, vlm_size
from shotad.script import count_words, split_sentences


@dataclass(frozen=True, slots=True)
class Stage1Question:
    """Stage I's question about one slot; its clip is read only if the answer is not there yet.

    ``label`` is how shots are marked on its frames; None where they are shown as they are. ``people`` are
    rows of those who were recognised, ``marks`` those painted around them, as boxes where ``boxes`` is set.
    """

    plan: SlotPlan
    prompt: Stage1Prompt
    request: Request
    label: str | None
    key: str
    people: tuple[dict[str, Any], ...]
    marks: tuple[Mark, ...]
    boxes: bool


def stage1_question(plan: SlotPlan, engine: Engine, config: Config, pixels: str) -> Stage1Question:
    """The question about ``plan``; ``pixels`` stands for the film and the way its frames are read.

    The number of attempts is no part of its key: a description that could be used is not asked for again.
    """
    prompt = stage1_messages(plan, config, hears=engine.abilities.hears)
    request = Request(
        slot_id=plan.slot.id,
        messages=prompt.messages,
        scene=plan.scene,
        sampling=config.stage1.sampling.likeliest,
        seed=slot_seed(config.seed, plan.slot.id),
        timed=config.prompt.times and engine.abilities.wants_overlay,
    )
    shown = [clip_rows(plan.shots, plan.frames), _grammar_row(plan)]
    people, known, marks = shown_people(plan.presence, engine.abilities, config)
    # How people are marked is nothing where nobody is: such a clip's answer stays whatever is set.
    overlay = config.overlay.model_dump(mode="json", exclude=None if people else {"characters"})
    material = [pixels, shown, [overlay, config.frames], request_record(request, engine.identity)]
    key = key_of(*material, *known)
    label = config.overlay.label if engine.abilities.wants_overlay else None
    boxes = config.overlay.characters == "boxes"
    return Stage1Question(plan, prompt, request, label, key, people, marks, boxes)


def stage1_questions(plans: Sequence[SlotPlan], context: RunContext, engine: Engine) -> list[Stage1Question]:
    """Stage I's question about each plan."""
    pixels = key_of(context.film_key, context.frames.key)
    return [stage1_question(plan, engine, context.config, pixels) for plan in plans]


def stage1_as_seen(clip: Clip, plan: SlotPlan, engine: Engine, config: Config) -> Clip:
    """The clip as the engine is to see it: for a VLM at the size it works on, with the shots' numbers.

    Raises EngineError for a clip that the engine cannot take.
    """
    check_images(engine, len(clip))
    if not engine.abilities.wants_overlay:
        return clip
    height, width = clip.images.shape[1:3]
    small = Clip(fit(clip.images, vlm_size(width, height, config.frames)), clip.seconds, clip.shot_numbers)
    presence = told_of(plan.presence, config.prompt)
    return paint(small, config.overlay, current=plan.current, presence=presence)


def with_sound(clip: Clip, context: RunContext, engine: Engine) -> Clip:
    """The clip with the film's sound, for an engine that hears; as it is where there is none."""
    track = choose_track(context.film.info, context.config.film.audio_track)
    if not engine.abilities.hears or track is None or context.film.media is None:
        return clip
    first, last = (round(float(second) * HEARING_RATE) for second in clip.seconds[[0, -1]])
    heard = SoundSeeker(context.film, track.number, HEARING_RATE, "mono").between(max(first, 0), last)
    return replace(clip, sound=heard)


def clip_as_seen(plan: SlotPlan, context: RunContext, engine: Engine) -> Clip:
    """The clip of one slot, read by itself, as ``engine``, that of Stage I or one that measures, is to see
    it."""
    ((_, clip),) = clips([ClipPlan(plan.slot.id, plan.frames)], context.frames.pictures)
    return stage1_as_seen(clip, plan, engine, context.config)


def stage1_inquiry(asked: Stage1Question, seen: Clip, engine: Engine, config: Config) -> Inquiry:
    """Asks about one slot until the answer can be used; returns its record."""
    attempts = config.stage1.attempts if engine.abilities.converses else 1
    request = replace(asked.request, clip=seen)
    tries: list[tuple[Reply, _Read]] = []
    for attempt in range(attempts):
        if tries:
            last, read = tries[-1]
            again = stage1_again(asked.prompt.messages, last.text, read.complaints, asked.prompt.steps)
            seed = slot_seed(config.seed, f"{asked.plan.slot.id}/{attempt}")
            request = replace(request, messages=again, seed=seed)
        (reply,) = yield (EngineCall("looks", request),)
        tries.append((reply, _read(reply, asked, engine)))
        if not tries[-1][1].complaints:
            break
    return _record(asked, engine, tries, seen)


def stage1_unread(asked: Stage1Question, engine: Engine) -> dict[str, Any]:
    """The record of a slot of whose clip no frame could be decoded."""
    reply = Reply("", "error", error="no frame of its clip can be decoded")
    return _record(asked, engine, [(reply, _read(reply, asked, engine))], None)


@dataclass(frozen=True, slots=True)
class _Read:
    """What was understood of an answer: a description or why there is none, and what is wrong with it."""

    description: Description | None
    error: str | None
    complaints: tuple[Complaint, ...]
    leaks: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()


def _read(reply: Reply, asked: Stage1Question, engine: Engine) -> _Read:
    if reply.error is not None:
        return _Read(None, reply.error, ())
    if reply.finish == "refused":
        error = f"Stage I refused to describe the slot: {reply.text or 'no reason given'}"
        return _Read(None, error, (REFUSED,))
    try:
        found = parse_stage1(
            reply.text,
            asked.prompt.steps,
            asked.plan.slot.id,
            engine=engine.identity.engine,
            notes=reply.notes,
        )
    except ScriptError as trouble:
        return _Read(None, str(trouble), (unreadable(trouble, reply.finish),))
    if engine.abilities.converses:
        told = split_sentences(" ".join(found.steps.values()))
        if 2 * len(original(told, reply.text, asked.request.messages, "")) <= len(told):
            return _Read(None, f"the model repeated the question: {quoted(reply.text)}", (REPEATED,))
    return _checked(found, asked) if engine.abilities.wants_overlay else _Read(found, None, ())


def _checked(found: Description, asked: Stage1Question) -> _Read:
    """A model's description without our marks, and what is still wrong with it."""
    if count_words(found.text) < _FEWEST:
        return _Read(None, "the description has hardly a word", about_description(_NEEDED))
    cleaned, leaks = clean(
        found,
        shots=[frames.number for frames in asked.plan.frames],
        marks=asked.marks,
        names=names_of(asked.plan.presence),
        boxes=asked.boxes,
    )
    if not cleaned.steps:
        return _Read(
            None, "nothing of the description was left but marks on the frames", about_description((), leaks)
        )
    told = "\n".join(message.text for message in asked.request.messages)
    names = names_untold(cleaned.text, told, asked.plan.presence)
    absent = [step for step in _NEEDED if step not in cleaned.steps]
    complaints = about_description(absent, leaks, names)
    return _Read(cleaned, None, complaints, leaks, names)


_FEWEST = 3
"""Words of a description, headings included, below which it says nothing."""

_NEEDED = ("Actions",)
"""The step without which Stage II has nothing to go by; others may well have nothing to tell."""


def _record(
    asked: Stage1Question, engine: Engine, tries: Sequence[tuple[Reply, _Read]], seen: Clip | None
) -> dict[str, Any]:
    plan = asked.plan
    # The answer with the fewest complaints; where none could be read the last
    readable = [one for one in tries if one[1].description is not None]
    reply, read = min(readable, key=lambda one: len(one[1].complaints)) if readable else tries[-1]
    empty = Description(plan.slot.id, {}, "", reply.text, engine.identity.engine)
    return {
        "slot": plan.slot.id,
        "start": plan.slot.interval.start,
        "end": plan.slot.interval.end,
        "shots": clip_rows(plan.shots, plan.frames),
        **_grammar_row(plan),
        "effective_scale": asked.prompt.effective_scale,
        "factors": list(asked.prompt.factors),
        "maker": identity_record(engine.identity),
        "seed": asked.request.seed,
        "prompt": prompt_record(asked.prompt.messages),
        "overlay": asked.label,
        "characters": list(asked.people),
        "heard": [{"name": h.name, "how": h.how, "seconds": seconds(h.seconds)} for h in plan.heard],
        "frame_size": None if seen is None else [seen.images.shape[2], seen.images.shape[1]],
        "finish": reply.finish,
        "usage": usage_record(one for one, _ in tries),
        "tries": [try_record(one, [c.text for c in parsed.complaints]) for one, parsed in tries],
        "leaks": list(read.leaks),
        "invented": list(read.invented),
        "error": None if read.description is not None else read.error,
        **description_row(read.description or empty),
    }


def _grammar_row(plan: SlotPlan) -> dict[str, Any]:
    """Scales by painted number, and threads."""
    grammar = plan.grammar
    return {
        "scales": {str(number): scale.value for number, scale in grammar.scales.items()},
        "threads": [list(thread) for thread in grammar.threads],
    }
