"""An engine that counts: its placeholders are taken at once by what a run does with them, or asked again for as often
as may be; and what it notes of the requests becomes an estimate."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from shotad.core import (
    Config,
    FilmInfo,
    Message,
    Reply,
    Request,
    Usage,
    load_config,
)
from shotad.core.engine import Stage
from shotad.description import (
    CountingEngine,
    Engines,
    LikelyReplies,
    WorstReplies,
    describe_clip,
    story,
)
from shotad.description.counting import (
    CountedRequest,
    EstimateMemory,
    blank_clip,
)
from shotad.description.engine_pair import Terms, engine_usage
from shotad.description.estimate import estimate_counted
from shotad.description.stage2 import write_lines
from shotad.description.story import line_row, memory_update_messages, parse_memory_update
from shotad.description.verify import parse_verdicts, verify_messages
from shotad.engines import AskingPool, ClipOnDemand, NoMemory, StageUsage
from tests.describe.prompting import SLOT, Model, plan

INFO = FilmInfo("film.mp4", None, "f" * 32, 24.0, 1280, 720, Fraction(25), None, "h264", Fraction(0))


def per_frame(width: int, height: int, frames: int) -> int:
    return frames * (width // 28) * (height // 28)


PAID = Terms("openai", per_frame, 2.0, 8.0, free=False)
TERMS: dict[Stage, Terms] = {"stage1": PAID, "stage2": PAID}


class Count:
    """Both stages of one slot, run with placeholders; ``lines`` are those of Stage II."""

    def __init__(self, config: Config, replies: LikelyReplies) -> None:
        self.looks = CountingEngine(Model(), "stage1", replies)
        self.writes = CountingEngine(Model(), "stage2", replies)
        clip = ClipOnDemand("clip", lambda: blank_clip(plan(), INFO, config))
        with AskingPool({"stage1": self.looks, "stage2": self.writes}, EstimateMemory(NoMemory())) as pool:
            stage1 = describe_clip(pool, plan(), config, clip)
            assert stage1.error is None
            answer = write_lines(pool, plan(), stage1.description, config, clip=clip)
        self.lines = [candidate.text for candidate in answer.candidates]
        self.complaints = [candidate.complaints for candidate in answer.candidates if candidate.complaints]

    @property
    def requests(self) -> list[CountedRequest]:
        return [*self.looks.requests, *self.writes.requests]

    @property
    def calls(self) -> tuple[int, int]:
        return len(self.looks.requests), len(self.writes.requests)


def config_of(*settings: str) -> Config:
    return load_config(None, settings)


@pytest.mark.parametrize(("settings", "likely", "most"), [
    ((), (1, 1), (3, 3)),
    (("stage2.repair=none",), (1, 1), (3, 1)),
    (("stage1.attempts=1", "stage2.attempts=2"), (1, 1), (1, 2)),
    (("stage2.candidates=5",), (1, 1), (3, 3)),
    (("stage2.candidates=3", "stage2.draw=independent"), (1, 3), (3, 9)),
    # A second look, at worst at the line and at the one in its place
    (("verify.on=true",), (2, 1), (5, 4)),
    (("language=de", "stage2.candidates=5"), (1, 1), (3, 3)),
    (("language=ja", "stage2.candidates=2"), (1, 1), (3, 3)),
])  # fmt: skip
def test_a_likely_run_repairs_nothing_and_the_worst_one_whatever_it_may(settings, likely, most):
    config = config_of(*settings)
    count = Count(config, LikelyReplies(config))
    assert count.calls == likely
    assert len(set(count.lines)) == config.stage2.candidates
    assert count.complaints == []
    worst = Count(config, WorstReplies(config, Engines(Model(), Model())))
    assert worst.calls == most


def test_an_engine_that_reads_no_prompts_is_asked_once_at_worst_too() -> None:
    config = config_of()
    measures = Engines(Model(converses=False), Model(converses=False))
    assert WorstReplies(config, measures)(Request(SLOT.id, ())).finish == "stop"


def test_frames_tokens_and_prompts_that_await_an_answer_become_an_estimate() -> None:
    config = config_of()
    likely = Count(config, LikelyReplies(config))
    worst = Count(config, WorstReplies(config, Engines(Model(), Model())))
    looks, writes = estimate_counted(likely.requests, worst.requests, TERMS)
    (look,) = likely.looks.requests
    assert (look.frames, look.width * look.height > 0) == (4, True)
    assert looks.likely.frame_tokens == per_frame(look.width, look.height, 4)
    assert (looks.likely.calls, looks.most.calls, looks.most.frames) == (1, 3, 12)
    assert (looks.assumed, writes.assumed) == (0, 1)
    assert looks.most.tokens_out == 3 * config.stage1.sampling.max_tokens
    assert looks.likely.tokens_out < config.stage1.sampling.max_tokens
    assert writes.most.word_tokens > 3 * writes.likely.word_tokens, "answers are repeated in later prompts"


def test_placeholders_have_the_form_that_was_asked_for() -> None:
    config = config_of()
    engine = CountingEngine(Model(), "stage1", LikelyReplies(config))
    messages, schema = verify_messages(["Ann runs.", "Bo waits."], plan(), config)
    (verdicts,) = engine.generate([Request(SLOT.id, messages, schema=schema)])
    assert parse_verdicts(verdicts.text, 2) == (True, True)
    messages = memory_update_messages("", [line_row("Ann runs.", 4.0)])
    (renewal,) = engine.generate([Request(SLOT.id, messages, schema=story.SCHEMA)])
    learned = parse_memory_update(renewal.text)
    assert learned is not None
    assert [len(learned[kind]) for kind in (*story.KINDS, story.RESOLVED)] == [1, 1, 1, 1, 0]
    worst = WorstReplies(config, Engines(Model(), Model()))
    replies = [worst(Request(SLOT.id, messages, schema=story.SCHEMA, seed=seed)) for seed in range(4)]
    assert [reply.finish for reply in replies] == ["refused", "stop"] * 2


def test_the_bill_is_made_from_what_the_pool_counted() -> None:
    usage: dict[Stage, StageUsage] = {"stage2": StageUsage(2, Usage(10**6, 10**5))}
    bill = engine_usage(
        usage, {**TERMS, "stage2": Terms("openai (gpt-4o)", price_in=2.0, price_out=10.0, free=False)}
    )
    assert (bill.calls, bill.cost) == (2, pytest.approx(3.0))
    assert bill.lines() == [
        "Used by Stage II, openai (gpt-4o): 2 calls, 1,000,000 tokens in, 100,000 out.",
        "Cost: 3.00.",
    ]


def test_answers_of_earlier_runs_are_not_counted_and_placeholders_are_not_kept() -> None:
    class Known(NoMemory):
        def get(self, key: str) -> Reply | None:
            return Reply(json.dumps({"ad": "It rains."}))

    engine = CountingEngine(Model(), "stage2", LikelyReplies(config_of()))
    request = Request(SLOT.id, (Message("user", "What happens?"),))
    with AskingPool({"stage2": engine}, EstimateMemory(Known())) as pool:
        assert "It rains" in pool.ask("stage2", request).text
    assert engine.requests == []
    with AskingPool({"stage2": engine}, EstimateMemory(NoMemory())) as pool:
        assert pool.ask("stage2", request) == pool.ask("stage2", request)
    assert len(engine.requests) == 1, "a run does not put the same question twice"
