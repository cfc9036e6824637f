"""What a run used, summed from its records."""

from __future__ import annotations

from typing import Any

import pytest

from shotad.core import Stage
from shotad.description import used
from shotad.description.engine_pair import Terms

LOCAL = Terms("qwen2-vl")
PAID = Terms("openai (gpt-4o)", price_in=2.0, price_out=10.0, free=False)
TERMS: dict[Stage, Terms] = {"stage1": LOCAL, "stage2": PAID}


def record(*tries: tuple[int, int], looks: tuple[tuple[int, int], ...] = ()) -> dict[str, Any]:
    rows = [{"raw": "", "usage": {"tokens_in": a, "tokens_out": b}} for a, b in tries]
    seen = [{"raw": "", "usage": {"tokens_in": a, "tokens_out": b}} for a, b in looks]
    every = (*tries, *looks)
    total = {"tokens_in": sum(a for a, _ in every), "tokens_out": sum(b for _, b in every)}
    return {"slot": "s", "usage": total, "tries": rows, **({"looks": seen} if seen else {})}


def test_only_the_engine_with_prices_costs() -> None:
    found = used([record((10**6, 10**6))], [record((10**6, 10**5))], TERMS)
    assert found.cost == pytest.approx(3.0)
    assert found.lines() == [
        "Used by Stage I, qwen2-vl: 1 call, 1,000,000 tokens in, 1,000,000 out.",
        "Used by Stage II, openai (gpt-4o): 1 call, 1,000,000 tokens in, 100,000 out.",
        "Cost: 3.00.",
    ]
