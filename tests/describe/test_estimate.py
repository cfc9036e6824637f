"""What a run will ask and cost, before it is asked; and what it used, summed from its records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shotad.core import (
    Config,
    Message,
    Usage,
    load_config,
)
from shotad.core.engine import Stage
from shotad.core.settings import build_settings
from shotad.description import CountedRequest
from shotad.description.engine_pair import Terms, engine_usage
from shotad.description.estimate import (
    StageEstimate,
    cost_of,
    estimate_counted,
    estimate_json,
    estimate_lines,
)
from shotad.description.templates import tokens_in
from shotad.engines import OpenAI, StageUsage
from shotad.engines.fake import FakeEngine
from tests.bad_server import Act, BadServer, Seen, answer
from tests.endpoint import engine_for, request

ASKED = (Message("user", "What takes place here? " * 40, with_clip=True),)
WRITE = (Message("system", "You write lines. " * 10), Message("user", "Condense this. " * 60))


def looks(frames: int = 32, *, is_assumed: bool = False) -> CountedRequest:
    return CountedRequest("stage1", ASKED, frames, 448, 252, 148, 512, is_assumed)


def writes(*, is_assumed: bool = True) -> CountedRequest:
    return CountedRequest("stage2", WRITE, 0, 0, 0, 26, 256, is_assumed)


def estimate(likely: list[CountedRequest], terms: dict[Stage, Terms]) -> list[StageEstimate]:
    return estimate_counted(likely, likely, terms)


def per_frame(width: int, height: int, frames: int) -> int:
    return frames * (width // 28) * (height // 28)


PAID = Terms("openai", per_frame, 2.0, 8.0, free=False)
TERMS: dict[Stage, Terms] = {"stage1": PAID, "stage2": PAID}


def test_calls_frames_and_their_tokens_are_counted_exactly() -> None:
    stages = estimate([looks(), looks(20), writes()], TERMS)
    found = [(one.likely.calls, one.likely.frames, one.likely.frame_tokens) for one in stages]
    assert found == [(2, 52, 52 * 16 * 9), (1, 0, 0)]


def test_what_may_happen_at_most_counts_every_repair_and_the_longest_answers() -> None:
    (once,) = estimate([looks()], TERMS)
    (thrice,) = estimate_counted([looks()], [looks()] * 3, TERMS)
    assert thrice.likely == once.likely
    assert (thrice.most.calls, thrice.most.frames, thrice.most.tokens_out) == (3, 96, 3 * 512)


def test_what_may_happen_at_most_counts_answers_that_are_asked_for_again_with_more_tokens() -> None:
    thinks = replace(PAID, most_calls=2, token_growth=4)
    (once,) = estimate([looks()], {"stage1": thinks})
    assert (once.likely.calls, once.likely.tokens_out) == (1, 148)
    assert (once.most.calls, once.most.frames, once.most.tokens_out) == (2, 64, 2 * 4 * 512)
    assert once.most.frame_tokens == 2 * per_frame(448, 252, 32)


def test_no_server_takes_more_than_the_estimate_says() -> None:
    config = build_settings(Config, {"openai": {"base_url": "http://nowhere.example", "model": "tiny"}})
    terms = Terms.of(OpenAI(config, "stage2"), config)

    def thinks(seen: Seen) -> Act:
        limit = seen.body["max_tokens"]
        usage = {"prompt_tokens": 9, "completion_tokens": limit}
        return answer("", finish="length", usage=usage) if limit < 1000 else answer("", usage=usage)

    for script in (
        thinks,
        [answer("", finish="length", usage={"completion_tokens": 512}), answer("No JSON.")],
    ):
        with BadServer(script) as server:
            engine = engine_for(server.url)
            replies = [engine.generate([request(schema=True)])[0] for _ in range(3)]
        asked = CountedRequest("stage2", WRITE, 0, 0, 0, 26, 512, is_assumed=False)
        (stage,) = estimate([asked] * 3, {"stage2": terms})
        assert sum(reply.usage.tokens_out for reply in replies) <= stage.most.tokens_out
        assert len(server.requests) == sum(reply.calls for reply in replies) <= stage.most.calls


def test_a_prompt_that_awaits_a_description_is_said_to_be_assumed() -> None:
    whole, awaiting = estimate([writes(is_assumed=False)], TERMS), estimate([writes()], TERMS)
    assert any("not known before Stage I" in line for line in estimate_lines(awaiting))
    assert not any("not known before Stage I" in line for line in estimate_lines(whole))


def test_frames_that_an_engine_cannot_count_are_said_and_not_thought_free() -> None:
    terms = Terms("openai", None, 2.0, 8.0, free=False)
    found = estimate([looks()], {**TERMS, "stage1": terms})
    assert found[0].likely.frame_tokens is None
    assert found[0].likely.tokens_in == found[0].likely.word_tokens
    lines = estimate_lines(found)
    assert any("does not say how many tokens" in line for line in lines)
    assert "without the frames" in lines[-1]
    assert estimate_json(found)["stages"][0]["likely"]["frame_tokens"] is None


@pytest.mark.parametrize(("text", "low", "high"), [
    ("", 0, 0),
    ("She climbs the stairs and takes a suitcase from his hand.", 11, 15),
    ("Młoda kobieta powoli wchodzi po schodach, trzymając się poręczy.", 20, 34),
    ("Молодая женщина медленно поднимается по лестнице.", 12, 26),
])  # fmt: skip
def test_words_are_counted_by_their_script(text: str, low: int, high: int) -> None:
    """Borders: what LLaMA3, Qwen and GPT-4o take, and some room."""
    assert low <= tokens_in(text) <= high


PRICED = Terms("openai (gpt-4o)", price_in=2.0, price_out=10.0, free=False)
SHARED: dict[Stage, Terms] = {"stage1": Terms("qwen2-vl"), "stage2": PRICED}


def test_only_the_engine_with_prices_costs() -> None:
    config = load_config(None, ("openai.price_in=5", "openai.price_out=5"))
    mixed: dict[Stage, Terms] = {"stage1": PAID, "stage2": Terms.of(FakeEngine(config), config)}
    likely = estimate([looks(), writes()], mixed)
    assert cost_of(likely[1:]) == (0.0, 0.0), "a local engine, whatever the prices"
    assert cost_of(likely) == cost_of(likely[:1])
    assert not any("Cost" in line for line in estimate_lines(estimate([writes()], mixed)))
    usage: dict[Stage, StageUsage] = {
        "stage1": StageUsage(1, Usage(10**6, 10**6)),
        "stage2": StageUsage(1, Usage(10**6, 10**5)),
    }
    found = engine_usage(usage, SHARED)
    assert found.cost == pytest.approx(3.0)
    assert found.lines() == [
        "Used by Stage I, qwen2-vl: 1 call, 1,000,000 tokens in, 1,000,000 out.",
        "Used by Stage II, openai (gpt-4o): 1 call, 1,000,000 tokens in, 100,000 out.",
        "Cost: 3.00.",
    ]
