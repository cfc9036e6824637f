"""Stage I: frames and a prompt to an engine, a dense description back (Shot-by-Shot, section 3.2).

An answer that cannot be read, that mentions the marks on the frames, or that names people whom the question
does not name, is asked for again with what was wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.core import (
    Clip,
    Config,
    Description,
    Engine,
    RecordLog,
    Reply,
    Request,
)
from shotad.core.cast import FrameMark
from shotad.core.config.languages import language_of
from shotad.core.errors import (
    EngineError,
    OnlyThoughts,
    RefusalError,
    ScriptError,
    quoted,
)
from shotad.core.types import HEARING_RATE
from shotad.core.workfolder import hash_key
from shotad.description import checks
from shotad.description.answers import parse_stage1
from shotad.description.english_words import language_fault, other_language, without_quotations
from shotad.description.leaks import clean
from shotad.description.preparation import RunContext
from shotad.description.prompts import effective_scale, factors_for, stage1_messages
from shotad.description.seeds import slot_seed
from shotad.description.slotplan import SlotPlan, names_of, presence_in_prompt, shown_people
from shotad.description.stage_answers import Attempt, Stage1Answer, shown_shots_of
from shotad.engines import (
    AnswerLog,
    AskingPool,
    ClipOnDemand,
    Memory,
)
from shotad.engines.answer_log import ANSWERS_RECORD
from shotad.film import (
    SoundSeeker,
    clips,
    paint,
    resize_images,
    vlm_size,
)
from shotad.film.audio import choose_track
from shotad.script import count_words, split_sentences
from shotad.script.reasons import in_english

STAGE1_STEP = "stage1/3"
"""The step, and the version of how replies are read (see `hash_key`)."""

FEWEST_WORDS = 3
"""Words of a description, headings included, below which it says nothing."""

STAGE1_LANGUAGE = "en"
"""The language of all descriptions; Stage II's lines are in the film's."""

NEEDED_STEPS = ("Actions",)
"""The step without which Stage II has nothing to go by; others may well have nothing to tell."""


def describe_clip(pool: AskingPool, plan: SlotPlan, config: Config, clip: ClipOnDemand) -> Stage1Answer:
    """Ask Stage I what happens in the clip of ``plan``, and ask again while the answer cannot be used.

    ``clip`` is what the engine is to see, see `clip_of`. Raises what stops the run.
    """
    engine = pool.engine("stage1")
    messages, steps = stage1_messages(plan, config, hears=engine.abilities.hears)
    first = Request(
        slot_id=plan.slot.id,
        messages=messages,
        scene=plan.scene,
        sampling=config.stage1.sampling.likeliest,
        seed=slot_seed(config.seed, plan.slot.id),
        timed=config.prompt.times and engine.abilities.wants_overlay,
    )
    shown = shown_people(plan.presence, engine.abilities, config)
    attempts = config.stage1.attempts if engine.abilities.converses else 1
    request = first
    requests: list[Request] = []
    readings: list[_Reading] = []
    for attempt in range(attempts):
        requests.append(request)
        reply = pool.ask("stage1", request, clip)
        reading = _read(reply, first, steps, plan, shown.marks, engine, config)
        readings.append(reading)
        if not reading.complaints:
            break
        again = checks.stage1_again(messages, reply.text, reading.complaints, steps)
        request = replace(first, messages=again, seed=slot_seed(config.seed, f"{plan.slot.id}/{attempt + 1}"))
    # Of answers that can be read the one with the fewest complaints; where none can be, the last
    readable = [reading for reading in readings if reading.description is not None]
    taken = min(readable, key=lambda reading: len(reading.complaints)) if readable else readings[-1]
    # A failed slot is asked about again by the next run, so its replies are not remembered.
    if taken.error is not None:
        pool.forget("stage1", requests, clip)
    scale = effective_scale(plan.grammar, plan.frames)
    empty = Description(plan.slot.id, {}, "", taken.reply.text, engine.identity.engine)
    return Stage1Answer(
        slot_id=plan.slot.id,
        interval=plan.slot.interval,
        shots=shown_shots_of(plan),
        scales=plan.grammar.scales,
        threads=plan.grammar.threads,
        effective_scale=scale,
        factors=factors_for(scale, config.prompt),
        maker=engine.identity,
        seed=first.seed,
        prompt=messages,
        overlay=config.overlay.label if engine.abilities.wants_overlay else None,
        people=shown.people,
        nearby_names=plan.nearby_names,
        attempts=tuple(
            Attempt(reading.reply, tuple(complaint.text for complaint in reading.complaints))
            for reading in readings
        ),
        finish=taken.reply.finish,
        leaks=taken.leaks,
        invented=taken.invented,
        error=taken.error,
        description=taken.description or empty,
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was understood of a reply: a description or why there is none, and what is wrong with it."""

    reply: Reply
    description: Description | None
    error: str | None = None
    complaints: tuple[checks.Complaint, ...] = ()
    leaks: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()


def _read(
    reply: Reply,
    request: Request,
    steps: Sequence[str],
    plan: SlotPlan,
    marks: Sequence[FrameMark],
    engine: Engine,
    config: Config,
) -> _Reading:
    """What a reply to ``request`` says. Its headings are ``steps``; ``marks`` are painted on the frames."""
    if reply.error is not None:
        return _Reading(reply, None, reply.error)
    if reply.finish == "refused":
        why = quoted(reply.text) if reply.text else in_english("failure.no_reason")
        error = in_english("failure.refused_slot", text=why)
        return _Reading(reply, None, error, (checks.REFUSED,))
    try:
        description = parse_stage1(reply.text, steps, plan.slot.id, engine.identity.engine, reply.notes)
    except ScriptError as trouble:
        key = "failure.nothing_described"
        if isinstance(trouble, OnlyThoughts):
            key = "failure.thoughts"
        elif isinstance(trouble, RefusalError):
            key = "failure.refused_slot"
        error = in_english(key, text=quoted(reply.text))
        return _Reading(reply, None, error, (checks.unreadable(trouble, reply.finish),))
    if engine.abilities.converses:
        sentences = split_sentences(" ".join(description.steps.values()))
        own_sentences = checks.original(sentences, reply.text, request.messages, "")
        # At least half of it is from the question.
        if 2 * len(own_sentences) <= len(sentences):
            error = in_english("failure.repeated", text=quoted(reply.text))
            return _Reading(reply, None, error, (checks.REPEATED,))
    if not engine.abilities.wants_overlay:  # it measures, and sees no marks that could leak
        return _Reading(reply, description)
    return _checked(reply, description, request, plan, marks, config)


def _checked(
    reply: Reply,
    description: Description,
    request: Request,
    plan: SlotPlan,
    marks: Sequence[FrameMark],
    config: Config,
) -> _Reading:
    """A model's description without our marks, and what is still wrong with it."""
    if count_words(description.text) < FEWEST_WORDS:
        error = in_english("failure.description_empty")
        return _Reading(reply, None, error, checks.about_description(NEEDED_STEPS))
    question = "\n".join(message.text for message in request.messages)
    # Lettering that is read from the screen stands in quotation marks, and may be in any language.
    own_words = without_quotations(description.text)
    language = other_language(own_words, STAGE1_LANGUAGE, names_of(plan.presence))
    if language is not None:
        # Our marks could not be taken out of it, and no rule on names holds.
        error = in_english(
            "failure.description_language",
            fault=in_english("fault.language", language=language),
            language=language_of(STAGE1_LANGUAGE).name,
            text=quoted(reply.text),
        )
        return _Reading(reply, None, error, checks.about_description((), language_fault=f"in {language}"))
    fault = language_fault(own_words, STAGE1_LANGUAGE, names_of(plan.presence), question)
    cleaned, leaks = clean(
        description,
        shots=[frames.number for frames in plan.frames],
        marks=marks,
        names=names_of(plan.presence),
        boxes=config.overlay.characters == "boxes",
    )
    invented = checks.invented_names(cleaned.text, question, plan.presence)
    absent = [step for step in NEEDED_STEPS if step not in cleaned.steps]
    complaints = checks.about_description(absent, leaks, invented, language_fault=fault)
    return _Reading(reply, cleaned, None, complaints, leaks, invented)


def clip_of(plan: SlotPlan, context: RunContext, engine: Engine) -> ClipOnDemand:
    """The clip of a slot as ``engine`` is to see it, which is read when a question about it is put."""

    def read() -> Clip | None:
        frames = plan.frames_for(engine.abilities)
        read_clips = dict(clips([(plan.slot.id, frames)], context.frames.pictures))
        if not read_clips:
            return None
        clip = stage1_as_seen(read_clips[plan.slot.id], plan, engine, context.config)
        return with_sound(clip, context, engine)

    return ClipOnDemand(clip_key(plan, context, engine), read)


def known_description(
    plan: SlotPlan, context: RunContext, engine: Engine, *, memory: Memory | None = None
) -> Description | None:
    """What Stage I said of the clip in an earlier run; None where it would have to be asked. Nothing is read
    of the film. ``memory`` None: that of the work folder."""
    memory = memory or AnswerLog(RecordLog(context.folder.path / f"{ANSWERS_RECORD}.jsonl"))
    unread = ClipOnDemand(clip_key(plan, context, engine), lambda: None)
    with AskingPool({"stage1": engine}, memory) as pool:
        answer = describe_clip(pool, plan, context.config, unread)
    return answer.description if answer.error is None else None


def clip_key(plan: SlotPlan, context: RunContext, engine: Engine) -> str:
    """The key of a clip: a hash of all that changes what the engine sees and hears of it."""
    config = context.config
    shown = shown_people(plan.presence, engine.abilities, config)
    # How people are marked is nothing where nobody is: such a clip stays the same whatever is set.
    overlay = config.overlay.model_dump(mode="json", exclude=None if shown.people else {"characters"})
    shots = [
        [shot.number, shot.index, shot.role, [shot.interval.start, shot.interval.end], list(shot.seconds)]
        for shot in shown_shots_of(plan)
    ]
    parts: list[Any] = [context.film_key, context.frames.key, shots, overlay, config.frames, shown.key_parts]
    # An engine that measures is told the threads and scales that a prompt tells others, and what is said:
    # a voice that reads out a text makes it known.
    if not engine.abilities.wants_overlay:
        threads, scales = plan.grammar.threads, {n: s.value for n, s in plan.grammar.scales.items()}
        parts += [threads, scales, [speech.text for speech in plan.speech]]
    if engine.abilities.hears:
        parts.append(config.film.audio_track)
    return hash_key("clip/1", *parts)


def stage1_as_seen(clip: Clip, plan: SlotPlan, engine: Engine, config: Config) -> Clip:
    """The clip as the engine is to see it: for a VLM at its size, with marks. Raises EngineError."""
    check_images(engine, len(clip))
    if not engine.abilities.wants_overlay:
        return clip
    height, width = clip.images.shape[1:3]
    small = Clip(
        resize_images(clip.images, vlm_size(width, height, config.frames)), clip.seconds, clip.shot_numbers
    )
    presence = presence_in_prompt(plan.presence, config.prompt)
    return paint(small, config.overlay, current=plan.current, presence=presence)


def check_images(engine: Engine, images: int) -> None:
    """Raise EngineError for a clip of so many images where the engine cannot take it."""
    able = engine.abilities
    if not able.accepts_images:
        raise EngineError(
            f"The engine {engine.identity.engine} takes no images.",
            "Choose another one as stage1.engine.",
            again=False,
        )
    if able.max_images is not None and images > able.max_images:
        raise EngineError(
            f"The engine {engine.identity.engine} takes {able.max_images} images, the clip has {images}.",
            "Lower frames.inside and frames.outside.",
            again=False,
        )


def with_sound(clip: Clip, context: RunContext, engine: Engine) -> Clip:
    """The clip with the film's sound, for an engine that hears; as it is where there is none."""
    track = choose_track(context.film.info, context.config.film.audio_track)
    if not engine.abilities.hears or track is None or context.film.media is None:
        return clip
    first, last = (round(float(second) * HEARING_RATE) for second in clip.seconds[[0, -1]])
    sound = SoundSeeker(context.film, track.number, HEARING_RATE, "mono").between(max(first, 0), last)
    return replace(clip, sound=sound)
