"""What a run would still ask, counted before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from shotad.core import (
    Config,
    Description,
    Given,
    NoProgress,
    Progress,
    RecordLog,
    Utterance,
    WorkFolder,
    at_hand,
    cached,
    description_of,
)
from shotad.description import stage2
from shotad.description.clip_builder import get_ready, understand
from shotad.description.conversation import is_done
from shotad.description.engine_pair import Engines
from shotad.description.estimate import Estimate, OpenQuestion, estimate
from shotad.description.preparing import RunContext, prepare
from shotad.description.slotplan import SlotPlan
from shotad.description.stage1 import stage1_questions
from shotad.description.story import (
    ANSWER_TOKENS,
    DIALOGUE_TOKENS,
    LINE_TOKENS,
    MEMORY_TOKENS,
    NAME_TOKENS,
    passage_in,
    renewal_messages,
    told_line,
    told_speech,
)
from shotad.description.verify import VERDICT_TOKENS, verify_messages
from shotad.film import Film, embedded_track, vlm_size
from shotad.grammar import MODELS, scale_weights
from shotad.sight import PAIRS, TEXT_WEIGHTS

_STATEMENTS = ("Somebody does something.",) * 3
"""A line taken apart, where it is not written yet."""


def foresee(
    film: Film,
    folder: WorkFolder,
    config: Config,
    given: Given | None = None,
    *,
    engines: Engines | None = None,
    progress: Progress | None = None,
) -> Estimate:
    """What `description.pipeline.describe` with the same arguments would ask; nothing is sent or fetched.

    What cannot be read of the film without weights that are not here is left out, with a note. Then
    ``folder`` stays as it is, and answers that it holds already count as open.
    """
    engines = engines or Engines.of(config)
    engines.ready_if_here()
    given, progress = given or Given(), progress or NoProgress()
    lean, part, left_out = _without_fetching(film, config, given)
    if not left_out:
        return _foreseen(RunContext.of(film, folder, config, given, progress), engines)
    progress.note(f"An estimate fetches no weights. Without them are left out: {'; '.join(left_out)}.")
    with TemporaryDirectory(prefix="shotad-") as spare, WorkFolder(Path(spare)) as apart:
        return _foreseen(RunContext.of(film, apart, lean, part, progress), engines)


def _without_fetching(film: Film, config: Config, given: Given) -> tuple[Config, Given, list[str]]:
    """The settings and files less what needs weights that are not here, and what was left out, in words."""
    changes: dict[str, Any] = {}
    left_out = []
    if not at_hand("silero-vad") and _listens(film, config, given):
        changes["speech"] = {"source": "none"}
        left_out.append("speech, so that all of the film counts as free (subtitles tell it)")
    if config.slots.find_credits and not all(at_hand(name) for name in TEXT_WEIGHTS):
        changes["slots"] = {"find_credits": False}
        left_out.append("the roll of end credits")
    model = MODELS.get(config.threads.features)
    if model is not None and cached(model.repo) is None:
        changes["threads"] = {"features": "grid"}
        left_out.append(f"threads by {config.threads.features} (the features grid stand in for it)")
    if not all(at_hand(name) for name in scale_weights(config.scale)):
        changes["scale"] = {"method": "none"}
        left_out.append("shot scales")
    if given.cast is not None and not all(at_hand(name) for name in PAIRS[config.cast.faces].weights):
        given = replace(given, cast=None)
        left_out.append("the people of the cast")
    parts = {name: getattr(config, name).model_copy(update=new) for name, new in changes.items()}
    return config.model_copy(update=parts), given, left_out


def _listens(film: Film, config: Config, given: Given) -> bool:
    """Whether speech is looked for in the sound: nothing else shows it."""
    if config.speech.source == "sound":
        return True
    path, texts = film.info.path, any(track.is_text for track in film.info.subtitles)
    told = given.subtitles is not None or (path and texts and embedded_track(path))
    return config.speech.source == "auto" and not told


def _foreseen(context: RunContext, engines: Engines) -> Estimate:
    config = context.config
    get_ready(context)
    prepared = prepare(context)
    plans = understand(prepared, context, engines.looks.abilities.frames_per_second).plans
    asked = [*_looks(plans, context, engines), *_lines(plans, context, engines)]
    asked += _renewals(plans, prepared.speech) if config.story.on else ()
    return estimate(asked, engines.terms(config))


def _looks(plans: Sequence[SlotPlan], context: RunContext, engines: Engines) -> Iterator[OpenQuestion]:
    config, engine = context.config, engines.looks
    log = RecordLog(context.folder.path / "stage1.jsonl")
    width, height = _size(context)
    for asked in stage1_questions(plans, context, engine):
        if not is_done(log.get(asked.key)):
            yield OpenQuestion(
                "stage1",
                asked.request.messages,
                frames=_frames(asked.plan),
                width=width,
                height=height,
                answer_tokens=config.stage1.sampling.max_tokens,
                attempts=config.stage1.attempts if engine.abilities.converses else 1,
            )


def _lines(plans: Sequence[SlotPlan], context: RunContext, engines: Engines) -> Iterator[OpenQuestion]:
    """Stage II's questions, and those of a second look, about lines that are not there yet."""
    config, engine = context.config, engines.writes
    seen = RecordLog(context.folder.path / "stage1.jsonl")
    log = RecordLog(context.folder.path / "stage2.jsonl")
    width, height = _size(context)
    lines = config.stage2.lines_an_answer
    story = _usual_story() if config.story.on else ""
    for look in stage1_questions(plans, context, engines.looks):
        record, slot = seen.get(look.key), look.plan.slot
        known = description_of(slot.id, record) if record is not None and is_done(record) else None
        described = known or Description(slot.id, {}, "", "", "")
        asked = stage2.question(
            look.plan,
            described,
            (),
            engine,
            config,
            story=story,
            looks=engines.looks.identity,
            shown=look.key,
        )
        if known is not None and not engines.in_turn(config) and is_done(log.get(asked.key)):
            continue
        yield OpenQuestion(
            "stage2",
            asked.request.messages,
            answer_tokens=config.stage2.sampling.max_tokens,
            calls=config.stage2.candidates // lines,
            attempts=config.stage2.attempts if asked.repairs else 1,
            awaited_tokens=0 if known else config.stage1.sampling.max_tokens,
            candidates=lines,
        )
        if config.verify.on:
            claims = _STATEMENTS * config.stage2.candidates
            messages, _ = verify_messages(
                claims,
                look.plan.current,
                config.prompt,
                frames=look.plan.frames,
                label=config.overlay.label,
                presence=look.plan.presence,
                marks=config.overlay.characters,
            )
            yield OpenQuestion(
                "stage1", messages, frames=_frames(look.plan), width=width, height=height,
                answer_tokens=VERDICT_TOKENS, attempts=2, likely_answer=8 * len(claims),
            )  # fmt: skip


def _usual_story() -> str:
    """About as long as what Stage II is told: half of what the budgets allow, and the labels."""
    return "word " * (100 + (LINE_TOKENS + DIALOGUE_TOKENS + NAME_TOKENS + MEMORY_TOKENS) * 2 // 5)


def _renewals(plans: Sequence[SlotPlan], speech: Sequence[Utterance]) -> Iterator[OpenQuestion]:
    """The questions by which the memory learns the film, if each slot gets a line."""
    ends = [plan.slot.interval.end for plan in plans]
    told = [told_line("Somebody does something with a thing.", end) for end in ends]
    told += told_speech(speech, -1.0, max(ends, default=0.0))
    told.sort(key=lambda one: one.second)
    while passage := passage_in(told):
        del told[: len(passage)]
        messages = renewal_messages("word " * (MEMORY_TOKENS * 3 // 4), passage)
        yield OpenQuestion("stage2", messages, answer_tokens=ANSWER_TOKENS, attempts=2, likely_answer=150)


def _frames(plan: SlotPlan) -> int:
    return sum(len(frames.seconds) for frames in plan.frames)


def _size(context: RunContext) -> tuple[int, int]:
    """Width and height at which the engine sees the film's frames."""
    info = context.film.info
    return vlm_size(info.width, info.height, context.config.frames)
