"""What a run will ask and cost, counted from its open questions before anything is sent.

Calls and frames are exact for answers that can be used at once; ``most`` adds every repair that the settings
allow. Tokens of words are estimated by letters, those of frames by an engine that counts them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from shotad.core import (
    Config,
    Description,
    Given,
    Message,
    NoProgress,
    Progress,
    RecordLog,
    Stage,
    Utterance,
    WorkFolder,
    at_hand,
    cached,
    description_of,
    key_of,
)
from shotad.description import stage2, story
from shotad.description.clip_builder import get_ready, understand
from shotad.description.conversation import is_done
from shotad.description.engine_pair import STAGE_NAMES, Engines, Terms, money, total
from shotad.description.inputs import check_inputs
from shotad.description.preparing import RunContext, prepare
from shotad.description.prompts import NO_STORY, StoryContext
from shotad.description.slotplan import SlotPlan
from shotad.description.stage1 import stage1_question
from shotad.description.templates import tokens_in
from shotad.description.verify import VERDICT_TOKENS, verify_messages
from shotad.film import HEARING_WEIGHTS, Film, embedded_track, left_to_people, vlm_size
from shotad.grammar import MODELS, scale_weights
from shotad.sight import PAIRS, TEXT_WEIGHTS

DESCRIPTION_WORDS = 110
"""Words of a Stage I description as a vision-language model writes it: assumed, in four to six steps."""
LINE_WORDS = 9
"""Words of an AD line; the means of CMD-AD, MAD-Eval and TV-AD are 9.0, 8.6 and 7.2."""
WRAPPING = 14
"""Tokens of the JSON around one line."""
WORD_TOKENS = 1.35
"""Tokens of an English word, as measured on descriptions."""
MESSAGE_TOKENS = 5
"""What a chat template puts around a message; ChatML, the most common, takes 5 with the role's name."""
OPENING_TOKENS = 3
"""What it puts before the answer."""
COMPLAINT_TOKENS = 60
"""What is said to an answer that cannot be used, when it is asked for again."""
MARGIN = 1.15
"""By how much ``most`` exceeds the rule for words: more than that was ever short of in English prompts."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What is still to be asked about one slot: one question, in ``calls`` calls of their own.

    ``messages`` is the prompt; ``frames`` of ``width`` x ``height`` pixels go with it; ``answer_tokens`` is
    the most that an answer may have, ``attempts`` how often each call is made where no answer can be used.
    ``awaited_tokens`` is the most of a description that the prompt will hold and that is not there yet.
    ``candidates`` is the number of lines in one answer (Stage II). A second look at a line is a question of
    Stage I with two attempts.
    """

    stage: Stage
    messages: tuple[Message, ...]
    frames: int = 0
    width: int = 0
    height: int = 0
    answer_tokens: int = 512
    calls: int = 1
    attempts: int = 1
    awaited_tokens: int = 0
    candidates: int = 1
    likely_answer: int | None = None
    """Tokens of a usual answer; None: those of a description or of the lines."""


@dataclass(frozen=True, slots=True)
class Count:
    """Calls and what they take. ``frame_tokens`` is None where frames are sent and cannot be counted."""

    calls: int = 0
    frames: int = 0
    word_tokens: int = 0
    frame_tokens: int | None = 0
    tokens_out: int = 0

    def __add__(self, other: Count) -> Count:
        known = self.frame_tokens is not None and other.frame_tokens is not None
        return Count(
            self.calls + other.calls,
            self.frames + other.frames,
            self.word_tokens + other.word_tokens,
            (self.frame_tokens or 0) + (other.frame_tokens or 0) if known else None,
            self.tokens_out + other.tokens_out,
        )

    @property
    def tokens_in(self) -> int:
        """Tokens of words and, where they can be counted, of frames."""
        return self.word_tokens + (self.frame_tokens or 0)


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """One stage: what is likely, and the most that the settings allow."""

    stage: Stage
    terms: Terms
    likely: Count
    most: Count
    assumed: int = 0
    """Questions whose prompt is not known yet, for it will hold an answer of Stage I."""


Estimate = Sequence[StageEstimate]
"""Both stages, or those of them that have open questions."""


def cost_of(stages: Estimate) -> tuple[float, float] | None:
    """Likely and most, of all stages; None where a price is missing."""
    likely = total(one.terms.cost(one.likely.tokens_in, one.likely.tokens_out) for one in stages)
    most = total(one.terms.cost(one.most.tokens_in, one.most.tokens_out) for one in stages)
    return None if likely is None or most is None else (likely, most)


def estimate_lines(stages: Estimate) -> list[str]:
    """Plain lines for a terminal."""
    if not stages:
        return ["Nothing is left to be asked."]
    lines = []
    for part in stages:
        likely, most = part.likely, part.most
        lines.append(f"{STAGE_NAMES[part.stage]}, {part.terms.engine}:")
        lines.append(f"  {_range('calls', likely.calls, most.calls)}")
        if likely.frames:
            lines.append(f"  {_range('frames', likely.frames, most.frames)}")
        if part.terms.reads:
            frames = " without the frames (this engine does not say how many tokens they take)"
            if likely.frame_tokens is not None:
                frames = f" ({likely.frame_tokens:,} of them for the frames)" if likely.frames else ""
            lines.append(f"  {_range('tokens in', likely.tokens_in, most.tokens_in, frames)}")
            lines.append(f"  {_range('tokens out', likely.tokens_out, most.tokens_out)}")
    read = [stage for stage in stages if stage.terms.reads]
    if any(stage.assumed for stage in read):
        lines.append(
            "Stage II's prompts are not known before Stage I has answered: "
            f"{DESCRIPTION_WORDS} words are assumed for a description."
        )
    if read:
        lines.append("Tokens of words are estimated from their letters.")
    if all(stage.terms.free for stage in stages):
        return lines
    cost = cost_of(stages)
    if cost is None:
        return [*lines, "Cost: unknown; give openai.price_in and openai.price_out, of a million tokens."]
    without = any(s.likely.frame_tokens is None and not s.terms.free for s in stages)
    usual, greatest = map(money, cost)
    return [
        *lines,
        f"Cost: about {usual}, at most {greatest}{', without the frames' if without else ''}.",
    ]


def estimate_json(stages: Estimate) -> dict[str, Any]:
    """The same for programs."""
    return {
        "stages": [
            {
                "stage": part.stage,
                "engine": part.terms.engine,
                "likely": _row(part.likely),
                "most": _row(part.most),
                "prompts_assumed": part.assumed,
                **_money(cost_of([part])),
            }
            for part in stages
        ],
        **_money(cost_of(stages)),
    }


def estimate(questions: Sequence[OpenQuestion], terms: Mapping[Stage, Terms]) -> list[StageEstimate]:
    """What these questions take, stage by stage. Nothing is sent."""
    stages: tuple[Stage, ...] = ("stage1", "stage2")
    found = []
    for stage in stages:
        if mine := [question for question in questions if question.stage == stage]:
            likely = sum((_count(question, terms[stage]) for question in mine), Count())
            most = sum((_count(question, terms[stage], most=True) for question in mine), Count())
            assumed = sum(question.awaited_tokens > 0 for question in mine)
            found.append(StageEstimate(stage, terms[stage], likely, most, assumed))
    return found


def _count(question: OpenQuestion, terms: Terms, *, most: bool = False) -> Count:
    """What is likely; or the ``most``: every attempt is made, with the longest answers, all repeated."""
    calls = question.calls * (question.attempts if most else 1)
    frames = calls * question.frames
    if not terms.reads:
        return Count(calls, frames)
    description, lines = round(DESCRIPTION_WORDS * WORD_TOKENS), question.candidates
    words = sum(tokens_in(message.text) + MESSAGE_TOKENS for message in question.messages) + OPENING_TOKENS
    if most:
        prompt, answer = math.ceil(words * MARGIN) + question.awaited_tokens, question.answer_tokens
        repeated = calls * (question.attempts - 1) // 2 * (answer + COMPLAINT_TOKENS)
    else:
        of_lines = round(lines * LINE_WORDS * WORD_TOKENS) + lines * WRAPPING
        usual = description if question.stage == "stage1" else of_lines
        answer = usual if question.likely_answer is None else question.likely_answer
        answer = min(question.answer_tokens, answer)
        # With a usual description where one is still to come
        prompt, repeated = words + min(question.awaited_tokens, description), 0
    of_frames: int | None = 0
    if frames:
        each = terms.image_tokens
        of_frames = None if each is None else calls * each(question.width, question.height, question.frames)
    return Count(calls, frames, calls * prompt + repeated, of_frames, calls * answer)


def _range(what: str, likely: int, most: int, remark: str = "") -> str:
    first = f"{what}: {likely:,}{remark}"
    return first if likely == most else f"{first}, at most {most:,}"


def _row(count: Count) -> dict[str, int | None]:
    return {**asdict(count), "tokens_in": count.tokens_in}


def _money(cost: tuple[float, float] | None) -> dict[str, float | None]:
    return {
        "cost_likely": None if cost is None else round(cost[0], 6),
        "cost_most": None if cost is None else round(cost[1], 6),
    }


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
    with foreseeing(film, folder, config, given, engines, progress) as context:
        get_ready(context)
        prepared = prepare(context)
        plans, _ = understand(prepared, context, engines.looks.abilities)
        to_ask = [*_open_questions(plans, context, engines)]
        to_ask += _renewals(plans, prepared.speech) if context.config.story.on else ()
        return estimate(to_ask, engines.terms(context.config))


@contextmanager
def foreseeing(
    film: Film,
    folder: WorkFolder,
    config: Config,
    given: Given | None,
    engines: Engines,
    progress: Progress | None,
) -> Iterator[RunContext]:
    """The context of a run that is not made: nothing is sent or fetched.

    Where weights are missing, it is that of a run without what they are for, in a folder of its own; a note
    says what is left out. Raises as a run does for what is given.
    """
    given, progress = given or Given(), progress or NoProgress()
    check_inputs(film.info, config, given)
    engines.ready_if_here()
    changes: dict[str, Any] = {}
    left_out, part = [], given
    # Speech is looked for in the sound where that is asked for, or nothing else shows it.
    path = film.info.path
    has_subtitles = given.subtitles is not None or (path and embedded_track(path))
    listens = config.speech.source == "sound" or (config.speech.source == "auto" and not has_subtitles)
    if not all(at_hand(name) for name in HEARING_WEIGHTS):
        if listens:
            changes["speech"] = {"source": "none"}
            left_out.append("speech, so that all of the film counts as free (subtitles tell it)")
        elif config.speech.source == "auto":
            changes["speech"] = {"source": "subtitles"}
            left_out.append("the comparison of the subtitles with the sound")
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
        part = replace(given, cast=None)
        left_out.append("the people of the cast")
    if not left_out:
        yield RunContext.of(film, folder, config, given, progress)
        return
    progress.note(f"No weights are fetched for this. Without them are left out: {'; '.join(left_out)}.")
    parts = {name: getattr(config, name).model_copy(update=new) for name, new in changes.items()}
    lean = config.model_copy(update=parts)
    with TemporaryDirectory(prefix="shotad-") as spare, WorkFolder(Path(spare)) as apart:
        yield RunContext.of(film, apart, lean, part, progress)


def _open_questions(
    plans: Sequence[SlotPlan], context: RunContext, engines: Engines
) -> Iterator[OpenQuestion]:
    """Questions of both stages, and those of a second look about lines that are not there yet."""
    config, engine, info = context.config, engines.writes, context.film.info
    seen = RecordLog(context.folder.path / "stage1.jsonl")
    log = RecordLog(context.folder.path / "stage2.jsonl")
    width, height = vlm_size(info.width, info.height, config.frames)
    lines = config.stage2.lines_an_answer
    # About as long as what Stage II is told: half of what the budgets allow
    tokens = story.LINE_TOKENS + story.DIALOGUE_TOKENS + story.NAME_TOKENS + story.MEMORY_TOKENS
    story_so_far = StoryContext(memory="word " * (tokens * 2 // 5)) if config.story.on else NO_STORY
    pixels = key_of(context.film_key, context.frames.key)
    for plan in plans:
        look = stage1_question(plan, engines.looks, config, pixels)
        record, slot = seen.get(look.key), look.plan.slot
        frames = sum(len(shown.seconds) for shown in look.plan.frames)
        known = description_of(slot.id, record) if record is not None and is_done(record) else None
        if known is None:
            yield OpenQuestion(
                "stage1",
                look.request.messages,
                frames=frames,
                width=width,
                height=height,
                answer_tokens=config.stage1.sampling.max_tokens,
                attempts=config.stage1.attempts if engines.looks.abilities.converses else 1,
            )
        if left_to_people(slot, config.speech):
            continue
        described, identity = known or Description(slot.id, {}, "", "", ""), engines.looks.identity
        asked = stage2.stage2_question(
            look.plan, described, (), engine, config,
            story=story_so_far, looks=identity, shown=look.key,
        )  # fmt: skip
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
            messages, _ = verify_messages(claims, look.plan, config)
            yield OpenQuestion(
                "stage1", messages, frames=frames, width=width, height=height,
                answer_tokens=VERDICT_TOKENS, attempts=2, likely_answer=8 * len(claims),
            )  # fmt: skip


def _renewals(plans: Sequence[SlotPlan], speech: Sequence[Utterance]) -> Iterator[OpenQuestion]:
    """The questions by which the memory learns the film, if each slot gets a line."""
    ends = [plan.slot.interval.end for plan in plans]
    told = [story.told_line("Somebody does something with a thing.", end) for end in ends]
    told += story.told_speech(speech, -1.0, max(ends, default=0.0))
    told.sort(key=lambda one: one.second)
    while passage := story.passage_in(told):
        del told[: len(passage)]
        messages = story.renewal_messages("word " * (story.MEMORY_TOKENS * 3 // 4), passage)
        yield OpenQuestion(
            "stage2", messages, answer_tokens=story.ANSWER_TOKENS, attempts=2, likely_answer=150
        )
