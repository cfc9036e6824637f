"""An engine that counts: it stands in for a real one, so that an estimate runs the very functions of a run.

Its replies are placeholders in the form that was asked for: such as a run takes at once, for what is likely,
or such as are asked for again as often as the settings allow, for the most.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from shotad.core import (
    Clip,
    Config,
    Engine,
    FilmInfo,
    Identity,
    Message,
    Reply,
    Request,
    Usage,
)
from shotad.core.config.languages import is_english
from shotad.core.engine import Stage
from shotad.description.engine_pair import Engines
from shotad.description.slotplan import SlotPlan
from shotad.engines import Memory
from shotad.film import vlm_size

DESCRIPTION_WORDS = 110
"""Words of a Stage I description as a vision-language model writes it: assumed, in four to six steps."""
LINE_WORDS = 9
"""Words of an AD line; the means of CMD-AD, MAD-Eval and TV-AD are 9.0, 8.6 and 7.2."""
WRAPPING = 14
"""Tokens of the JSON around one line."""
WORD_TOKENS = 1.35
"""Tokens of an English word, as measured on descriptions."""


@dataclass(frozen=True, slots=True)
class CountedRequest:
    """A request that a `CountingEngine` got.

    ``frames`` of ``width`` x ``height`` pixels go with it; ``likely_answer`` is the tokens of a usual answer,
    ``longest_answer`` the most that it may have. ``is_assumed``: its prompt holds a placeholder for an answer
    of Stage I.
    """

    stage: Stage
    messages: tuple[Message, ...]
    frames: int
    width: int
    height: int
    likely_answer: int
    longest_answer: int
    is_assumed: bool


class EstimateMemory:
    """The answers of earlier runs, and the placeholders of this estimate, which are not written anywhere."""

    def __init__(self, answers: Memory) -> None:
        self._answers = answers
        self._placeholders: dict[str, Reply] = {}

    def get(self, key: str) -> Reply | None:
        return self._placeholders.get(key) or self._answers.get(key)

    def add(self, key: str, stage: Stage, request: Request, identity: Identity, reply: Reply) -> Reply:
        self._placeholders[key] = reply
        return reply

    def forget(self, keys: Iterable[str]) -> None:
        pass


class CountingEngine:
    """Stands in for the engine of a stage in an estimate, and counts what the functions of a run ask it.

    It has the identity and the abilities of ``engine``, so that the requests and the keys of their answers
    are those of a run. ``reply`` gives a placeholder for each request, in the form that was asked for; the
    tokens out in its usage are those of a usual answer.

    An estimate runs the very functions of a run twice over an `EstimateMemory`: with placeholders that are
    taken at once (`LikelyReplies`) for what is likely, and with some that are asked again for as often as the
    settings allow (`WorstReplies`) for the most. Its ``requests`` are then counted by `estimate_counted`.
    """

    def __init__(self, engine: Engine, stage: Stage, reply: Callable[[Request], Reply]) -> None:
        self.identity = engine.identity
        self.abilities = engine.abilities
        self.requests: list[CountedRequest] = []
        self._stage: Stage = stage
        self._reply = reply
        self._lock = threading.Lock()

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """A placeholder for each request, in order."""
        replies = []
        for request in requests:
            with self._lock:
                reply = self._reply(request)
                shape = (0, 0, 0, 3) if request.clip is None else request.clip.images.shape
                counted = CountedRequest(
                    self._stage,
                    request.messages,
                    frames=shape[0],
                    width=shape[2],
                    height=shape[1],
                    likely_answer=min(reply.usage.tokens_out, request.sampling.max_tokens),
                    longest_answer=request.sampling.max_tokens,
                    is_assumed=any(PLACEHOLDER in message.text for message in request.messages),
                )
                self.requests.append(counted)
            replies.append(reply)
        return replies


def blank_clip(plan: SlotPlan, info: FilmInfo, config: Config) -> Clip:
    """A clip with as many frames as ``plan`` shows, of the size that a model is shown; it takes no memory."""
    width, height = vlm_size(info.width, info.height, config.frames)
    seconds = [second for frames in plan.frames for second in frames.seconds]
    numbers = [frames.number for frames in plan.frames for _ in frames.seconds]
    # A view of a single zero: only the shape is looked at.
    images = np.broadcast_to(np.zeros((), np.uint8), (len(seconds), height, width, 3))
    return Clip(images, np.array(seconds, np.float64), np.array(numbers, np.int64))


class LikelyReplies:
    """Placeholders that a run under ``config`` takes at once, for a `CountingEngine` of either stage."""

    def __init__(self, config: Config) -> None:
        self._is_english = is_english(config.language)
        self._lines_so_far: Counter[str] = Counter()

    def __call__(self, request: Request) -> Reply:
        """A description with the headings asked for, or what the schema of the answer asks for: lines that
        differ, the verdict "yes" on each statement, an entry of each kind for the memory."""
        kind = kind_of(request)
        if kind == "description":
            text = _description(request, DESCRIPTION_WORDS)
            return Reply(text, usage=Usage(0, round(DESCRIPTION_WORDS * WORD_TOKENS)))
        if kind == "verdicts":
            return _verdicts(request, "yes")
        properties = (request.schema or {})["properties"]
        if kind == "memory":
            # It fills as in a run, for prompts hold what it knows. No thread is settled: those are numbers.
            entries = {key: [self._line(request)] for key in properties if _holds_texts(properties[key])}
            return Reply(json.dumps(entries), usage=Usage(0, MEMORY_ANSWER_TOKENS))
        lines = {key: self._line(request) for key in properties}
        tokens = round(len(lines) * LINE_WORDS * WORD_TOKENS) + len(lines) * WRAPPING
        return Reply(json.dumps(lines), usage=Usage(0, tokens))

    def _line(self, request: Request) -> str:
        """Another line for the same slot, within the budget."""
        number = self._lines_so_far[request.slot_id]
        self._lines_so_far[request.slot_id] += 1
        if not self._is_english:
            return f"K {number + 10}."  # in no wrong language
        # All verbs with the first object, then all with the next, so that no line comes twice.
        round_, verb = divmod(number, len(_VERBS))
        words = f"Somebody {_VERBS[verb]} {_OBJECTS[round_ % len(_OBJECTS)]} in a room.".split()
        return " ".join(words[: request.budget]).rstrip(".") + "."


class WorstReplies(LikelyReplies):
    """Placeholders that a run asks again for as often as the settings allow, then some that it takes.

    Descriptions are as long as they may be, and no statement of a line is on the frames.
    """

    def __init__(self, config: Config, engines: Engines) -> None:
        super().__init__(config)
        looks_again = engines.stage1.abilities.converses
        writes_again = engines.stage2.abilities.converses and config.stage2.repair != "none"
        calls_a_round = config.stage2.candidates // config.stage2.lines_an_answer
        self._descriptions_refused = config.stage1.attempts - 1 if looks_again else 0
        self._lines_refused = (config.stage2.attempts - 1) * calls_a_round if writes_again else 0
        self._requests: Counter[tuple[str, str]] = Counter()

    def __call__(self, request: Request) -> Reply:
        """A refusal as long as an answer may be, or a placeholder of the form that was asked for."""
        kind = kind_of(request)
        if kind == "verdicts":
            return _verdicts(request, "no")
        self._requests[kind, request.slot_id] += 1
        number = self._requests[kind, request.slot_id]
        is_refused = {
            "description": number <= self._descriptions_refused,
            "lines": number <= self._lines_refused,
            # The memory is asked twice for each section of the film, of which several may end with one slot.
            "memory": number % 2 == 1,
        }
        longest = request.sampling.max_tokens
        words = round(longest / WORD_TOKENS)
        if is_refused[kind]:
            return Reply(_words(words), "refused", Usage(0, longest))
        if kind == "description":
            return Reply(_description(request, words), usage=Usage(0, longest))
        return super().__call__(request)


RequestKind = Literal["description", "lines", "verdicts", "memory"]


def kind_of(request: Request) -> RequestKind:
    """What is asked for, by the form of the answer."""
    if request.schema is None:
        return "description"
    properties = request.schema["properties"]
    if all(value["type"] == "array" for value in properties.values()):
        return "memory"
    return "verdicts" if all("enum" in value for value in properties.values()) else "lines"


PLACEHOLDER = "Somebody does something with a thing that is there."
"""A sentence of a description that is still to come."""

_VERBS = ("opens", "paints", "carries", "drops", "cleans", "burns", "counts", "hides", "weighs", "breaks")
_OBJECTS = ("a door", "a chair", "a lamp", "a boat", "a coat", "a bottle", "a fence", "a drum", "a stone")
VERDICT_ANSWER_TOKENS = 8
"""Of a verdict and the signs around it."""
MEMORY_ANSWER_TOKENS = 150
"""Of a usual answer to what is new in the story."""


def _verdicts(request: Request, verdict: str) -> Reply:
    """The same verdict on every statement of a question."""
    statements = (request.schema or {})["properties"]
    text = json.dumps(dict.fromkeys(statements, verdict))
    return Reply(text, usage=Usage(0, VERDICT_ANSWER_TOKENS * len(statements)))


def _holds_texts(schema: Mapping[str, Any]) -> bool:
    return bool(schema["items"]["type"] == "string")


def _words(number: int) -> str:
    """So many words, in sentences."""
    words = PLACEHOLDER.split()
    return " ".join((words * (number // len(words) + 1))[:number])


def _description(request: Request, number: int) -> str:
    """A description of so many words under the headings that the request asks for."""
    prompt = "\n".join(message.text for message in request.messages)
    headings = dict.fromkeys(re.findall(r"^[ \t]*\d\. ([^:\n]+):", prompt, re.MULTILINE)) or {"Actions": None}
    body = _words(number // len(headings))
    return "Description:\n" + "\n".join(
        f"{place}. {heading}: {body}" for place, heading in enumerate(headings, 1)
    )
