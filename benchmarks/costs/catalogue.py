"""What a catalogue of so many hours needs, by the model and its units."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from costs.formula import Asking, Hour, Units, around, asked, bytes_kept, bytes_sent, preparing
from costs.gpus import GPUS, Shares, of_both

DAY = 86_400
SLOTS_AN_HOUR, SHOTS_AN_HOUR = 322.0, 1029.0
"""Of CMD-AD's test set: 7,316 ADs and 23,383 shots in 22.7 hours of film."""


@dataclass(frozen=True)
class Catalogue:
    """So many hours of film, and the machines for them: ``busy`` is the share of time that they work."""

    hours: float = 100_000.0
    slots: float = SLOTS_AN_HOUR
    shots: float = SHOTS_AN_HOUR
    bits: float = 5e6
    cores: int = 1000
    gpus: int = 100
    busy: float = 0.8
    parallel: float = 1.0
    """Core seconds of these machines for one of the machine on which the units were measured."""


@dataclass(frozen=True)
class Prices:
    """The user's own, in any currency; None: not given, and no money is told."""

    core_hour: float | None = None
    gpu_hour: float | None = None
    gigabyte_month: float | None = None
    gigabyte_sent: float | None = None


def needs(plan: Catalogue, units: Units, how: Asking, share: Shares, prices: Prices) -> Iterator[str]:
    """Lines that say what it needs."""
    hour = Hour(plan.slots, plan.shots)
    found = asked(plan.slots, how)
    cpu = (preparing(hour, units) + around(hour, units)) * plan.parallel
    own = hour.slots * units.embedded * plan.parallel
    yield f"{plan.hours:,.0f} hours, {plan.slots:.0f} slots and {plan.shots:.0f} shots an hour, 1080p at 24."
    yield f"Slots: {plan.hours * plan.slots:,.0f}. An hour takes"
    yield f"  {cpu:,.0f} core seconds before and beside the engines, of them {preparing(hour, units):,.0f} to"
    yield "  decode, find shots and listen;"
    if not math.isnan(own):
        yield f"  {own:,.0f} core seconds of the embedded engine, or"
    yield f"  {found.calls1 + found.calls2:,.0f} calls, {found.tokens_in1 + found.tokens_in2:,.0f} tokens in"
    out = found.tokens_out1 + found.tokens_out2
    yield f"  ({found.frames * how.frame_tokens:,.0f} of them frames), {out:,.0f} out."
    yield ""
    yield _days("Cores, without engines", plan.hours * cpu, plan.cores, plan.busy, "cores")
    if not math.isnan(own):
        yield _days("Cores, embedded engine too", plan.hours * (cpu + own), plan.cores, plan.busy, "cores")
    for way, each in _ways(how):
        yield f"\n{way}; GPU seconds an hour of film for Stage I and II:"
        yield from _gpus(plan, each, share, cpu)
    yield ""
    yield from _bytes(plan, units, hour, how)
    yield from _money(plan, units, hour, how, share, prices, cpu)


def _ways(how: Asking) -> Iterator[tuple[str, Asking]]:
    """Servers are sent stills; in the same process two frames share their tokens, as of a film."""
    yield "Qwen2-VL and LLaMA 3 by servers, frames one by one", how
    yield "The same in the worker, frames in pairs", replace(how, frame_tokens=how.frame_tokens / 2)


def _gpus(plan: Catalogue, how: Asking, share: Shares, cpu: float) -> Iterator[str]:
    found = asked(plan.slots, how)
    for name, gpu in GPUS.items():
        one, two = of_both(gpu, found, how.frame_tokens, share)
        days = _days(f"  {name}: {one:,.0f} + {two:,.0f}", plan.hours * (one + two), plan.gpus, plan.busy, "")
        yield f"{days}; {cpu / (one + two):.1f} cores feed one"


def _days(what: str, seconds: float, machines: int, busy: float, kind: str) -> str:
    days = seconds / DAY
    many = f"{machines:,} {kind}".strip()
    return f"{what}: {days:,.0f} days of one; {days / machines / busy:,.1f} days of {many} at {busy:.0%}"


def _bytes(plan: Catalogue, units: Units, hour: Hour, how: Asking) -> Iterator[str]:
    read = plan.bits / 8 * hour.seconds
    kept = bytes_kept(hour, units)
    sent = bytes_sent(asked(plan.slots, how), units)
    yield f"Read: {read / 1e9:,.2f} GB an hour, {read * plan.hours / 1e12:,.0f} TB."
    yield f"Kept: {kept / 1e6:,.1f} MB an hour, {kept * plan.hours / 1e12:,.2f} TB."
    most = units.kept * 7200
    yield f"Disk of a worker meanwhile, a film of two hours: {most / 1e9:,.2f} GB beside the film."
    yield f"To a pool of servers: {sent / 1e6:,.0f} MB an hour, {sent * plan.hours / 1e12:,.0f} TB."


def _money(
    plan: Catalogue, units: Units, hour: Hour, how: Asking, share: Shares, prices: Prices, cpu: float
) -> Iterator[str]:
    if prices.core_hour is not None:
        yield f"Cores: {plan.hours * cpu / 3600 * prices.core_hour:,.0f}."
    if prices.gpu_hour is not None:
        found = asked(plan.slots, how)
        for name, gpu in GPUS.items():
            took = sum(of_both(gpu, found, how.frame_tokens, share))
            yield f"Servers, were they {name}: {plan.hours * took / 3600 * prices.gpu_hour:,.0f}."
    if prices.gigabyte_month is not None:
        yield f"Records, a month: {plan.hours * bytes_kept(hour, units) / 1e9 * prices.gigabyte_month:,.0f}."
    if prices.gigabyte_sent is not None:
        read = plan.bits / 8 * hour.seconds / 1e9
        yield f"Films read over a network that is paid for: {plan.hours * read * prices.gigabyte_sent:,.0f}."
