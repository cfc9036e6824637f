"""What a run will ask and cost, counted from its open questions before anything is sent.

Calls and frames are exact for answers that can be used at once; ``most`` adds every repair that the settings
allow. Tokens of words are estimated by their letters, those of frames are told by an engine that can count
them. Calls that a server turned down and that are sent again are not counted: servers do not charge for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shotad.core import Message, Stage
from shotad.description.templates import tokens_in
from shotad.description.usage import STAGE_NAMES, Terms, money

DESCRIPTION_WORDS = 110
"""Words of a Stage I description as a vision-language model writes it: assumed, in four to six steps."""
LINE_WORDS = 9
"""Words of an AD line; the means of CMD-AD, MAD-Eval and TV-AD are 9.0, 8.6 and 7.2."""
WRAPPING = 14
"""Tokens of the JSON around one line."""
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
    ``awaited_tokens`` is the most that Stage I's description may have, where the prompt will hold one that is
    not there yet; 0 where the prompt is whole.
    ``candidates`` is the number of lines in one answer (Stage II). A second look at a line (verification) is
    a question of Stage I with two attempts.
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

    @property
    def usual_answer(self) -> int:
        """Tokens that an answer is likely to have, never more than it may have."""
        words = DESCRIPTION_WORDS if self.stage == "stage1" else self.candidates * LINE_WORDS
        usual = _of_words(words) + (0 if self.stage == "stage1" else self.candidates * WRAPPING)
        return min(self.answer_tokens, usual if self.likely_answer is None else self.likely_answer)


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

    @property
    def cost(self) -> tuple[float, float] | None:
        """Likely and most; None where prices are missing."""
        likely = self.terms.cost(self.likely.tokens_in, self.likely.tokens_out)
        most = self.terms.cost(self.most.tokens_in, self.most.tokens_out)
        return None if likely is None or most is None else (likely, most)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Both stages, or those of them that have open questions."""

    stages: tuple[StageEstimate, ...] = ()

    @property
    def costs(self) -> bool:
        """True where money may be asked for any of it."""
        return any(not stage.terms.free for stage in self.stages)

    @property
    def cost(self) -> tuple[float, float] | None:
        """Likely and most, of all stages; None where a price is missing."""
        parts = [stage.cost for stage in self.stages]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return sum(part[0] for part in known), sum(part[1] for part in known)


def estimate(questions: Sequence[OpenQuestion], terms: Mapping[Stage, Terms]) -> Estimate:
    """What these questions take, stage by stage. Nothing is sent."""
    stages: tuple[Stage, ...] = ("stage1", "stage2")
    asked = {question.stage for question in questions}
    return Estimate(tuple(_stage(name, questions, terms[name]) for name in stages if name in asked))


def _stage(stage: Stage, questions: Sequence[OpenQuestion], terms: Terms) -> StageEstimate:
    mine = [question for question in questions if question.stage == stage]
    return StageEstimate(
        stage,
        terms,
        sum((_count(question, terms) for question in mine), Count()),
        sum((_count(question, terms, most=True) for question in mine), Count()),
        assumed=sum(question.awaited_tokens > 0 for question in mine),
    )


def _count(question: OpenQuestion, terms: Terms, *, most: bool = False) -> Count:
    """What is likely; or the ``most``: every attempt is made, each answer is as long as it may be, and
    repairs repeat what was answered."""
    calls = question.calls * (question.attempts if most else 1)
    frames = calls * question.frames
    if not terms.reads:
        return Count(calls, frames)
    prompt, answer, repeated = prompt_tokens(question), question.usual_answer, 0
    if most:
        prompt = math.ceil(words_of(question) * MARGIN) + question.awaited_tokens
        answer = question.answer_tokens
        repeated = calls * (question.attempts - 1) // 2 * (answer + COMPLAINT_TOKENS)
    of_frames: int | None = 0
    if frames:
        each = terms.image_tokens
        of_frames = None if each is None else calls * each(question.width, question.height, question.frames)
    return Count(calls, frames, calls * prompt + repeated, of_frames, calls * answer)


def prompt_tokens(question: OpenQuestion) -> int:
    """Tokens of one call without its frames, with a usual description where one is still to come."""
    return words_of(question) + min(question.awaited_tokens, _of_words(DESCRIPTION_WORDS))


def words_of(question: OpenQuestion) -> int:
    """Tokens of the prompt as it is known."""
    return sum(tokens_in(message.text) + MESSAGE_TOKENS for message in question.messages) + OPENING_TOKENS


def _of_words(words: int) -> int:
    """Tokens of so many English words: 1.35 each, as measured on descriptions."""
    return round(words * 1.35)


def estimate_lines(found: Estimate) -> list[str]:
    """Plain lines for a terminal."""
    if not found.stages:
        return ["Nothing is left to be asked."]
    lines = [line for stage in found.stages for line in _stage_lines(stage)]
    read = [stage for stage in found.stages if stage.terms.reads]
    if any(stage.assumed for stage in read):
        lines.append(
            f"Stage II's prompts are not known before Stage I has answered: {DESCRIPTION_WORDS} words are "
            "assumed for a description."
        )
    return [
        *lines,
        *(["Tokens of words are estimated from their letters."] if read else []),
        *_cost_lines(found),
    ]


def _stage_lines(part: StageEstimate) -> list[str]:
    likely, most = part.likely, part.most
    lines = [
        f"{STAGE_NAMES[part.stage]}, {part.terms.engine}:",
        f"  {_range('calls', likely.calls, most.calls)}",
    ]
    if likely.frames:
        lines.append(f"  {_range('frames', likely.frames, most.frames)}")
    if not part.terms.reads:
        return lines
    lines.append(f"  {_range('tokens in', likely.tokens_in, most.tokens_in, _of_frames(likely))}")
    return [*lines, f"  {_range('tokens out', likely.tokens_out, most.tokens_out)}"]


def _of_frames(count: Count) -> str:
    if count.frame_tokens is None:
        return " without the frames (this engine does not say how many tokens they take)"
    return f" ({count.frame_tokens:,} of them for the frames)" if count.frames else ""


def _range(what: str, likely: int, most: int, remark: str = "") -> str:
    first = f"{what}: {likely:,}{remark}"
    return first if likely == most else f"{first}, at most {most:,}"


def _cost_lines(found: Estimate) -> list[str]:
    if not found.costs:
        return []
    if found.cost is None:
        return ["Cost: unknown; give openai.price_in and openai.price_out, of a million tokens."]
    likely, most = found.cost
    without = any(s.likely.frame_tokens is None and not s.terms.free for s in found.stages)
    return [f"Cost: about {money(likely)}, at most {money(most)}{', without the frames' if without else ''}."]


def estimate_as_json(found: Estimate) -> dict[str, Any]:
    """The same for programs."""
    return {
        "stages": [
            {
                "stage": part.stage,
                "engine": part.terms.engine,
                "likely": _row(part.likely),
                "most": _row(part.most),
                "prompts_assumed": part.assumed,
                **_money(part.cost),
            }
            for part in found.stages
        ],
        **_money(found.cost),
    }


def _row(count: Count) -> dict[str, int | None]:
    return {**asdict(count), "tokens_in": count.tokens_in}


def _money(cost: tuple[float, float] | None) -> dict[str, float | None]:
    return {
        "cost_likely": None if cost is None else round(cost[0], 6),
        "cost_most": None if cost is None else round(cost[1], 6),
    }
