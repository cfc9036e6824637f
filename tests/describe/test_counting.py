"""An engine that counts: its placeholders are taken at once by what a run does with them, or asked again for as often
as may be; and what it notes of the requests becomes an estimate."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import (
    Config,
    Interval,
    Request,
    Usage,
    load_config,
)
from shotad.core.engine import Stage
from shotad.description import (
    CountedRequest,
    CountingEngine,
    Engines,
    LikelyReplies,
    WorstReplies,
)
from shotad.description.engine_pair import Terms, engine_usage
from shotad.description.estimate import estimate_counted
from shotad.engines import StageUsage
from tests.describe.prompting import Model
from tests.describe.slot_run import ScriptedSlot, records, run_slots


def per_frame(width: int, height: int, frames: int) -> int:
    return frames * (width // 28) * (height // 28)


PAID = Terms("openai", per_frame, 2.0, 8.0, free=False)
TERMS: dict[Stage, Terms] = {"stage1": PAID, "stage2": PAID}


class Count:
    """Both stages of some slots, run with placeholders; ``lines`` are those of Stage II for the last."""

    def __init__(
        self,
        replies: LikelyReplies,
        *settings: str,
        film: tuple[ScriptedSlot, ...] = (ScriptedSlot(),),
        folder: Path | None = None,
    ) -> None:
        self.looks = CountingEngine(Model(), "stage1", replies)
        self.writes = CountingEngine(Model(), "stage2", replies)
        run = run_slots(*film, how=settings, looks=self.looks, writes=self.writes, folder=folder)
        assert run.stage1.error is None
        self.lines = [candidate.text for candidate in run.stage2.candidates]
        self.complaints = [
            candidate.complaints for candidate in run.stage2.candidates if candidate.complaints
        ]

    @property
    def requests(self) -> list[CountedRequest]:
        return [*self.looks.requests, *self.writes.requests]

    @property
    def calls(self) -> tuple[int, int]:
        return len(self.looks.requests), len(self.writes.requests)


def config_of(*settings: str) -> Config:
    return load_config(None, settings)


def likely_of(*settings: str) -> LikelyReplies:
    return LikelyReplies(config_of(*settings))


def worst_of(*settings: str) -> WorstReplies:
    return WorstReplies(config_of(*settings), Engines(Model(), Model()))


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
    count = Count(likely_of(*settings), *settings)
    assert count.calls == likely
    assert len(set(count.lines)) == config_of(*settings).stage2.candidates
    assert count.complaints == []
    assert Count(worst_of(*settings), *settings).calls == most


def test_an_engine_that_reads_no_prompts_is_asked_once_at_worst_too() -> None:
    measures = Engines(Model(converses=False), Model(converses=False))
    assert WorstReplies(config_of(), measures)(Request("s00010000", ())).finish == "stop"


def test_frames_tokens_and_prompts_that_await_an_answer_become_an_estimate() -> None:
    config = config_of()
    likely, worst = Count(likely_of()), Count(worst_of())
    looks, writes = estimate_counted(likely.requests, worst.requests, TERMS)
    (look,) = likely.looks.requests
    assert (look.frames, look.width * look.height > 0) == (4, True)
    assert looks.likely.frame_tokens == per_frame(look.width, look.height, 4)
    assert (looks.likely.calls, looks.most.calls, looks.most.frames) == (1, 3, 12)
    assert (looks.assumed, writes.assumed) == (0, 1)
    assert looks.most.tokens_out == 3 * config.stage1.sampling.max_tokens
    assert looks.likely.tokens_out < config.stage1.sampling.max_tokens
    assert writes.most.word_tokens > 3 * writes.likely.word_tokens, "answers are repeated in later prompts"


def test_placeholders_have_the_form_that_was_asked_for(tmp_path: Path) -> None:
    settings = ("story.on=true", "verify.on=true")
    eight_lines = tuple(ScriptedSlot(interval=Interval(10 * n, 10 * n + 4)) for n in range(1, 9))
    count = Count(likely_of(*settings), *settings, film=eight_lines, folder=tmp_path)
    assert count.calls == (16, 9), "each slot, a look at each line, and one section of the story"
    (section,) = records(tmp_path, "story")
    number_learned = {kind: len(values) for kind, values in section["learned"].items()}
    assert number_learned == {"people": 1, "places": 1, "facts": 1, "open": 1, "settled": 0}
    worst = Count(worst_of("story.on=true"), "story.on=true", film=eight_lines)
    assert worst.calls == (24, 26), "the section is asked about twice"


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
