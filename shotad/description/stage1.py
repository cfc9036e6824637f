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
    quoted,
    seconds,
)
from shotad.description import checks
from shotad.description.answers import parse_stage1
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
from shotad.description.prompts import effective_scale, factors_for, stage1_messages
from shotad.description.slotplan import SlotPlan, names_of, shown_people, told_of
from shotad.film import SoundSeeker, choose_track, clips, fit, paint, vlm_size
from shotad.script import count_words, split_sentences

STAGE1_STEP = "stage1/1"
"""The step, and the version of how its answers are read and kept (see `key_of`)."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What was understood of an answer: a description or why there is none, and what is wrong with it."""

    reply: Reply
    description: Description | None
    error: str | None = None
    complaints: tuple[checks.Complaint, ...] = ()
    leaks: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage1Question:
    """Stage I's question about one slot; its answer has the headings ``steps``. ``people`` are rows of those
    recognised, ``marks`` are painted."""

    plan: SlotPlan
    engine: Engine
    config: Config
    steps: tuple[str, ...]
    request: Request
    key: str
    people: tuple[dict[str, Any], ...]
    marks: tuple[Mark, ...]

    def inquiry(self, seen: Clip) -> Inquiry:
        """Asks until the answer can be used; returns the slot's record. ``seen`` is as `stage1_as_seen`."""
        attempts = self.config.stage1.attempts if self.engine.abilities.converses else 1
        request = replace(self.request, clip=seen)
        tries: list[_Read] = []
        for attempt in range(attempts):
            if tries:
                last, asked = tries[-1], self.request.messages
                again = checks.stage1_again(asked, last.reply.text, last.complaints, self.steps)
                seed = slot_seed(self.config.seed, f"{self.plan.slot.id}/{attempt}")
                request = replace(request, messages=again, seed=seed)
            (reply,) = yield (EngineCall("looks", request),)
            tries.append(self._read(reply))
            if not tries[-1].complaints:
                break
        return self._record(tries, seen)

    def unread(self) -> dict[str, Any]:
        """The record of a slot of whose clip no frame could be decoded."""
        error = "no frame of its clip can be decoded"
        return self._record([_Read(Reply("", "error", error=error), None, error)], None)

    def _read(self, reply: Reply) -> _Read:
        if reply.error is not None:
            return _Read(reply, None, reply.error)
        if reply.finish == "refused":
            error = f"Stage I refused to describe the slot: {reply.text or 'no reason given'}"
            return _Read(reply, None, error, (checks.REFUSED,))
        engine, able = self.engine.identity.engine, self.engine.abilities
        try:
            found = parse_stage1(reply.text, self.steps, self.plan.slot.id, engine, reply.notes)
        except ScriptError as trouble:
            return _Read(reply, None, str(trouble), (checks.unreadable(trouble, reply.finish),))
        if able.converses:
            told = split_sentences(" ".join(found.steps.values()))
            if 2 * len(checks.original(told, reply.text, self.request.messages, "")) <= len(told):
                error = f"the model repeated the question: {quoted(reply.text)}"
                return _Read(reply, None, error, (checks.REPEATED,))
        return self._checked(reply, found) if able.wants_overlay else _Read(reply, found)

    def _checked(self, reply: Reply, found: Description) -> _Read:
        """A model's description without our marks, and what is still wrong with it."""
        if count_words(found.text) < _FEWEST:
            error = "the description has hardly a word"
            return _Read(reply, None, error, checks.about_description(_NEEDED))
        cleaned, leaks = clean(
            found,
            shots=[frames.number for frames in self.plan.frames],
            marks=self.marks,
            names=names_of(self.plan.presence),
            boxes=self.config.overlay.characters == "boxes",
        )
        if not cleaned.steps:
            error = "nothing of the description was left but marks on the frames"
            return _Read(reply, None, error, checks.about_description((), leaks))
        told = "\n".join(message.text for message in self.request.messages)
        names = checks.names_untold(cleaned.text, told, self.plan.presence)
        absent = [step for step in _NEEDED if step not in cleaned.steps]
        return _Read(reply, cleaned, None, checks.about_description(absent, leaks, names), leaks, names)

    def _record(self, tries: Sequence[_Read], seen: Clip | None) -> dict[str, Any]:
        plan, engine = self.plan, self.engine
        # The answer with the fewest complaints; where none could be read the last
        readable = [one for one in tries if one.description is not None]
        read = min(readable, key=lambda one: len(one.complaints)) if readable else tries[-1]
        scale = effective_scale(plan.grammar, plan.frames)
        empty = Description(plan.slot.id, {}, "", read.reply.text, engine.identity.engine)
        return {
            "slot": plan.slot.id,
            "start": plan.slot.interval.start,
            "end": plan.slot.interval.end,
            "shots": clip_rows(plan.shots, plan.frames),
            **_grammar_row(plan),
            "effective_scale": scale,
            "factors": list(factors_for(scale, self.config.prompt)),
            "maker": identity_record(engine.identity),
            "seed": self.request.seed,
            "prompt": prompt_record(self.request.messages),
            # How shots are marked on its frames; None where they are shown as they are
            "overlay": self.config.overlay.label if engine.abilities.wants_overlay else None,
            "characters": list(self.people),
            "heard": [{"name": h.name, "how": h.how, "seconds": seconds(h.seconds)} for h in plan.heard],
            "frame_size": None if seen is None else [seen.images.shape[2], seen.images.shape[1]],
            "finish": read.reply.finish,
            "usage": usage_record(one.reply for one in tries),
            "tries": [try_record(one.reply, [c.text for c in one.complaints]) for one in tries],
            "leaks": list(read.leaks),
            "invented": list(read.invented),
            "error": read.error,
            **description_row(read.description or empty),
        }


_FEWEST = 3
"""Words of a description, headings included, below which it says nothing."""

_NEEDED = ("Actions",)
"""The step without which Stage II has nothing to go by; others may well have nothing to tell."""


def _grammar_row(plan: SlotPlan) -> dict[str, Any]:
    """Scales by painted number, and threads."""
    grammar = plan.grammar
    return {
        "scales": {str(number): scale.value for number, scale in grammar.scales.items()},
        "threads": [list(thread) for thread in grammar.threads],
    }


def stage1_question(plan: SlotPlan, engine: Engine, config: Config, pixels: str) -> Stage1Question:
    """The question about ``plan``; ``pixels`` stands for the film. Its key holds no number of attempts."""
    messages, steps = stage1_messages(plan, config, hears=engine.abilities.hears)
    request = Request(
        slot_id=plan.slot.id,
        messages=messages,
        scene=plan.scene,
        sampling=config.stage1.sampling.likeliest,
        seed=slot_seed(config.seed, plan.slot.id),
        timed=config.prompt.times and engine.abilities.wants_overlay,
    )
    shown = [clip_rows(plan.shots, plan.frames), _grammar_row(plan)]
    people, known, marks = shown_people(plan.presence, engine.abilities, config)
    # How people are marked is nothing where nobody is: such a clip's answer stays whatever is set.
    overlay = config.overlay.model_dump(mode="json", exclude=None if people else {"characters"})
    frames = [overlay, config.frames]
    material: list[Any] = [pixels, shown, frames, request_record(request, engine.identity)]
    if not engine.abilities.wants_overlay:  # it measures: what a voice reads out is told by its words
        material.append([utterance.text for utterance in plan.speech])
    key = key_of(STAGE1_STEP, *material, *known)
    return Stage1Question(plan, engine, config, steps, request, key, people, marks)


def stage1_as_seen(clip: Clip, plan: SlotPlan, engine: Engine, config: Config) -> Clip:
    """The clip as the engine is to see it: for a VLM at its size, with marks. Raises EngineError."""
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
    """The clip of one slot, read by itself, as ``engine`` is to see it."""
    ((_, clip),) = clips([plan.clip(engine.abilities)], context.frames.pictures)
    return stage1_as_seen(clip, plan, engine, context.config)
