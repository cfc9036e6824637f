"""What a run used, summed from its records."""

from __future__ import annotations

from typing import Any

import pytest

from shotad.core import Stage, Usage
from shotad.description import used
from shotad.description.usage import Terms, usage_as_json, usage_lines

LOCAL = Terms("qwen2-vl")
PAID = Terms("openai (gpt-4o)", price_in=2.0, price_out=10.0, free=False)
TERMS: dict[Stage, Terms] = {"stage1": LOCAL, "stage2": PAID}


def record(*tries: tuple[int, int], looks: tuple[tuple[int, int], ...] = ()) -> dict[str, Any]:
    rows = [{"raw": "", "usage": {"tokens_in": a, "tokens_out": b}} for a, b in tries]
    seen = [{"raw": "", "usage": {"tokens_in": a, "tokens_out": b}} for a, b in looks]
    every = (*tries, *looks)
    total = {"tokens_in": sum(a for a, _ in every), "tokens_out": sum(b for _, b in every)}
    return {"slot": "s", "usage": total, "tries": rows, **({"looks": seen} if seen else {})}


def test_every_call_counts_once_at_the_engine_that_was_asked() -> None:
    found = used([record((100, 10), (150, 20))], [record((30, 5)), record((30, 6), looks=((400, 7),))], TERMS)
    first, second = found.stages["stage1"], found.stages["stage2"]
    assert (first.calls, first.tokens) == (3, Usage(650, 37))
    assert (second.calls, second.tokens) == (2, Usage(60, 11))
    assert (found.calls, found.tokens) == (5, Usage(710, 48))


def test_a_record_of_one_call_needs_no_list_of_tries() -> None:
    note = {"usage": {"tokens_in": 9, "tokens_out": 3}}
    found = used([], [record((1, 1))], TERMS, other=[note])
    assert (found.stages["stage2"].calls, found.stages["stage2"].tokens) == (2, Usage(10, 4))


def test_only_the_engine_with_prices_costs() -> None:
    found = used([record((10**6, 10**6))], [record((10**6, 10**5))], TERMS)
    assert found.cost == pytest.approx(3.0)
    assert usage_lines(found) == [
        "Used by Stage I, qwen2-vl: 1 call, 1,000,000 tokens in, 1,000,000 out.",
        "Used by Stage II, openai (gpt-4o): 1 call, 1,000,000 tokens in, 100,000 out.",
        "Cost: 3.00.",
    ]


def test_without_prices_no_cost_is_made_up() -> None:
    found = used([], [record((10, 10))], {**TERMS, "stage2": Terms("openai", free=False)})
    assert found.cost is None
    assert not any("Cost" in line for line in usage_lines(found))
    assert usage_as_json(found)["cost"] is None


def test_a_stage_that_was_not_asked_hides_no_cost() -> None:
    terms: dict[Stage, Terms] = {"stage1": Terms("openai", free=False), "stage2": PAID}
    assert used([], [record((10**6, 0))], terms).cost == pytest.approx(2.0)


def test_the_words_of_an_engine_that_reads_no_prompts_are_no_tokens_to_tell_of() -> None:
    narrator = Terms("narrator (grammar)", reads=False)
    found = used([record((0, 0))], [record((0, 26))], {"stage1": narrator, "stage2": narrator})
    assert usage_lines(found) == []
