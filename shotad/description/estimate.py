"""What a run will ask and cost, counted from its open questions before anything is sent.

Calls and frames are exact for answers that can be used at once; ``most`` adds every repair that the settings
allow. Tokens of words are estimated by letters, those of frames by an engine that counts them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from shotad.core import (
    Config,
    Engine,
    Message,
    NoProgress,
    Progress,
    RecordLog,
    RunInputs,
    WorkFolder,
)
from shotad.core.engine import Stage
from shotad.core.model_loading import cached_model_folder
from shotad.core.weight_store import is_fetched
from shotad.description.both_stages import write_slots
from shotad.description.clip_builder import plan_clips, prepare_grammar
from shotad.description.counting_engine import (
    DESCRIPTION_WORDS,
    CountedRequest,
    CountingEngine,
    EstimateMemory,
    LikelyReplies,
    WorstReplies,
    blank_clip,
)
from shotad.description.engine_pair import STAGE_NAMES, Engines, Terms, money, total
from shotad.description.inputs import check_inputs
from shotad.description.preparation import RunContext, prepare
from shotad.description.slotplan import SlotPlan
from shotad.description.stage1 import clip_key
from shotad.description.templates import tokens_in
from shotad.engines import AnswerLog, ClipOnDemand
from shotad.engines.answer_log import ANSWERS_RECORD
from shotad.film import Film, Prepared
from shotad.film.speech import SPEECH_WEIGHTS
from shotad.film.subtitles import embedded_track
from shotad.grammar import MODELS, scale_weights
from shotad.sight.faces import FACE_MODEL_PAIRS
from shotad.sight.text import TEXT_WEIGHTS

MESSAGE_TOKENS = 5
"""What a chat template puts around a message; ChatML, the most common, takes 5 with the role's name."""
OPENING_TOKENS = 3
"""What it puts before the answer."""
MARGIN = 1.15
"""By how much ``most`` exceeds the rule for words: more than that was ever short of in English prompts."""


@dataclass(frozen=True, slots=True)
class Count:
    """Calls and what they take. ``frame_tokens`` is None where frames are sent and cannot be counted."""

    calls: int = 0
    frames: int = 0
    word_tokens: int = 0
    frame_tokens: int | None = 0
    tokens_out: int = 0

    def __add__(self, other: Count) -> Count:
        frame_tokens = None
        if self.frame_tokens is not None and other.frame_tokens is not None:
            frame_tokens = self.frame_tokens + other.frame_tokens
        return Count(
            self.calls + other.calls,
            self.frames + other.frames,
            self.word_tokens + other.word_tokens,
            frame_tokens,
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
    likely = total(part.terms.cost(part.likely.tokens_in, part.likely.tokens_out) for part in stages)
    most = total(part.terms.cost(part.most.tokens_in, part.most.tokens_out) for part in stages)
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


def _prompt_tokens(messages: Sequence[Message]) -> int:
    """Tokens of the words of a prompt, with what a chat template puts around them."""
    return sum(tokens_in(message.text) + MESSAGE_TOKENS for message in messages) + OPENING_TOKENS


def _frame_tokens(terms: Terms, calls: int, frames: int, width: int, height: int) -> int | None:
    """Tokens of the frames of so many calls; None where the engine cannot tell."""
    if not frames:
        return 0
    return None if terms.image_tokens is None else calls * terms.image_tokens(width, height, frames)


def estimate_counted(
    likely: Iterable[CountedRequest], most: Iterable[CountedRequest], terms: Mapping[Stage, Terms]
) -> list[StageEstimate]:
    """What requests take, stage by stage: ``likely`` are those of a run with usual answers, ``most`` those of
    one with the worst (see `CountingEngine`)."""
    likely, most = list(likely), list(most)
    estimates = []
    for stage, stage_terms in terms.items():
        likely_requests = [request for request in likely if request.stage == stage]
        most_requests = [request for request in most if request.stage == stage]
        if not likely_requests and not most_requests:
            continue
        likely_count = most_count = Count()
        for request in likely_requests:
            likely_count += _count_of(request, stage_terms)
        for request in most_requests:
            most_count += _count_of(request, stage_terms, at_most=True)
        assumed = sum(request.is_assumed for request in likely_requests if stage == "stage2")
        estimates.append(StageEstimate(stage, stage_terms, likely_count, most_count, assumed))
    return estimates


def _count_of(request: CountedRequest, terms: Terms, *, at_most: bool = False) -> Count:
    """What one request takes; ``at_most``: with the longest answers, as many as its engine may ask for, and
    some more for the words of the prompt."""
    calls = terms.most_calls if at_most else 1
    if not terms.reads:
        return Count(calls, calls * request.frames)
    prompt = _prompt_tokens(request.messages)
    answer = request.likely_answer
    if at_most:
        prompt = math.ceil(prompt * MARGIN)
        answer = request.longest_answer * terms.token_growth
    frame_tokens = _frame_tokens(terms, calls, request.frames, request.width, request.height)
    return Count(calls, calls * request.frames, calls * prompt, frame_tokens, calls * answer)


def _range(unit: str, likely: int, most: int, remark: str = "") -> str:
    """``calls: 12, at most 36``; the two numbers once where they are the same."""
    text = f"{unit}: {likely:,}{remark}"
    return text if likely == most else f"{text}, at most {most:,}"


def _row(count: Count) -> dict[str, int | None]:
    return {**asdict(count), "tokens_in": count.tokens_in}


def _money(cost: tuple[float, float] | None) -> dict[str, float | None]:
    return {
        "cost_likely": None if cost is None else round(cost[0], 6),
        "cost_most": None if cost is None else round(cost[1], 6),
    }


def estimate_run(
    film: Film,
    folder: WorkFolder,
    config: Config,
    run_inputs: RunInputs | None = None,
    *,
    engines: Engines | None = None,
    progress: Progress | None = None,
) -> Estimate:
    """What `description.pipeline.describe` with the same arguments would ask; nothing is sent or fetched.

    What cannot be read of the film without weights that are not here is left out, with a note. Then
    ``folder`` stays as it is, and answers that it holds already count as open.
    """
    engines = engines or Engines.of(config)
    with foreseeing(film, folder, config, run_inputs, engines, progress) as context:
        prepare_grammar(context)
        prepared = prepare(context)
        plans, _ = plan_clips(prepared, context, engines.stage1.abilities)
        # The run itself, twice, with engines that only count.
        likely = _requests(LikelyReplies(config), plans, prepared, context, engines)
        most = _requests(WorstReplies(config, engines), plans, prepared, context, engines)
        return estimate_counted(likely, most, engines.terms(context.config))


def _requests(
    replies: LikelyReplies,
    plans: Sequence[SlotPlan],
    prepared: Prepared,
    context: RunContext,
    engines: Engines,
) -> list[CountedRequest]:
    """What a run asks beyond what its work folder knows, where the engines give these ``replies``."""
    stage1_engine = CountingEngine(engines.stage1, "stage1", replies)
    stage2_engine = CountingEngine(engines.stage2, "stage2", replies)
    counting_engines = Engines(stage1_engine, stage2_engine)
    earlier_answers = AnswerLog(RecordLog(context.folder.path / f"{ANSWERS_RECORD}.jsonl"))
    config = context.config
    if config.stage2.select == "sequence":  # it asks nobody, and its model need not be here
        stage2 = config.stage2.model_copy(update={"select": "single"})
        config = config.model_copy(update={"stage2": stage2})

    def blank(plan: SlotPlan, context: RunContext, engine: Engine) -> ClipOnDemand:
        """A clip without pictures; by the key of the real clip earlier answers about it are found."""
        return ClipOnDemand(
            clip_key(plan, context, engine), lambda: blank_clip(plan, context.film.info, config)
        )

    with TemporaryDirectory(prefix="shotad-") as spare, WorkFolder(Path(spare)) as apart:
        trial = replace(context, folder=apart, config=config, progress=NoProgress())
        memory = EstimateMemory(earlier_answers)
        write_slots(plans, len(plans), prepared, trial, counting_engines, memory=memory, clip_of=blank)
    return [*stage1_engine.requests, *stage2_engine.requests]


@contextmanager
def foreseeing(
    film: Film,
    folder: WorkFolder,
    config: Config,
    run_inputs: RunInputs | None,
    engines: Engines,
    progress: Progress | None,
) -> Iterator[RunContext]:
    """The context of a run that is not made: nothing is sent or fetched.

    Where weights are missing, it is that of a run without what they are for, in a folder of its own; a note
    says what is left out. Raises as a run does for inputs that cannot be used.
    """
    run_inputs, progress = run_inputs or RunInputs(), progress or NoProgress()
    check_inputs(film.info, config, run_inputs)
    engines.ready_if_here()
    changes: dict[str, Any] = {}
    left_out: list[str] = []
    usable_inputs = run_inputs
    # Each part whose weights are missing is left out, and named in the note.
    # Speech is looked for in the sound where that is asked for, or nothing else shows it.
    path = film.info.path
    has_subtitles = run_inputs.subtitles is not None or (path and embedded_track(path))
    listens = config.speech.source == "sound" or (config.speech.source == "auto" and not has_subtitles)
    if not all(is_fetched(name) for name in SPEECH_WEIGHTS):
        if listens:
            changes["speech"] = {"source": "none"}
            left_out.append("speech, so that all of the film counts as free (subtitles tell it)")
        elif config.speech.source == "auto":
            changes["speech"] = {"source": "subtitles"}
            left_out.append("the comparison of the subtitles with the sound")
    if config.slots.find_credits and not all(is_fetched(name) for name in TEXT_WEIGHTS):
        changes["slots"] = {"find_credits": False}
        left_out.append("the roll of end credits")
    model = MODELS.get(config.threads.features)
    if model is not None and cached_model_folder(model.repo) is None:
        changes["threads"] = {"features": "grid"}
        left_out.append(f"threads by {config.threads.features} (the features grid stand in for it)")
    if not all(is_fetched(name) for name in scale_weights(config.scale)):
        changes["scale"] = {"method": "none"}
        left_out.append("shot scales")
    face_weights = FACE_MODEL_PAIRS[config.cast.faces].weights
    if run_inputs.cast is not None and not all(is_fetched(name) for name in face_weights):
        usable_inputs = replace(run_inputs, cast=None)
        left_out.append("the people of the cast")
    if not left_out:
        # Nothing is missing: records that the run makes of the film may stay in its folder.
        yield RunContext.of(film, folder, config, run_inputs, progress)
        return
    progress.note(f"No weights are fetched for this. Without them are left out: {'; '.join(left_out)}.")
    parts = {name: getattr(config, name).model_copy(update=new) for name, new in changes.items()}
    lean = config.model_copy(update=parts)
    with TemporaryDirectory(prefix="shotad-") as spare, WorkFolder(Path(spare)) as apart:
        yield RunContext.of(film, apart, lean, usable_inputs, progress)
