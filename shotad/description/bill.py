"""An estimate in words, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shotad.core import Stage
from shotad.description.estimate import DESCRIPTION_WORDS, Count, Estimate, StageEstimate

STAGE_NAMES: Mapping[Stage, str] = {"stage1": "Stage I", "stage2": "Stage II"}
"""What the stages are called before people."""


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


def money(amount: float) -> str:
    """An amount with cents, or with more places where it is smaller.

    >>> money(1234.5), money(0.00312)
    ('1,234.50', '0.0031')
    """
    return f"{amount:,.2f}" if amount >= 0.1 or amount == 0 else f"{amount:.4f}"


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
    return {
        "calls": count.calls,
        "frames": count.frames,
        "tokens_in": count.tokens_in,
        "frame_tokens": count.frame_tokens,
        "tokens_out": count.tokens_out,
    }


def _money(cost: tuple[float, float] | None) -> dict[str, float | None]:
    return {
        "cost_likely": None if cost is None else round(cost[0], 6),
        "cost_most": None if cost is None else round(cost[1], 6),
    }
