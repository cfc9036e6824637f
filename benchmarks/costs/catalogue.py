"""What a catalogue of so many hours needs, by the model and its units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from costs.formula import (
    GPUS,
    Asked,
    Asking,
    Hour,
    Shares,
    Units,
    around,
    asked,
    bytes_kept,
    bytes_sent,
    of_both,
    preparing,
)


@dataclass(frozen=True)
class Catalogue:
    """So many hours of film, and the machines for them: ``busy`` is the share of time that they work."""

    hours: float = 100_000.0
    slots: float = 322.0
    shots: float = 1029.0
    """Both an hour, of CMD-AD's test set: 7,316 ADs and 23,383 shots in 22.7 hours of film."""
    bits: float = 5e6
    cores: int = 1000
    gpus: int = 100
    busy: float = 0.8
    parallel: float = 1.0
    """Core seconds of these machines for one of the machine on which the units were measured."""
    film_hours: float = 2.0
    worker_cores: int = 2
    worker_hours: float = 24.0
    """Hours that a worker lives before it is lost: those of machines that may be taken away are few."""


@dataclass(frozen=True)
class Review:
    """People who check every line; all of it assumed. ``watched`` is hours at an hour of film, with each line
    heard at its place; ``changed`` the share of lines that are put right, each in ``change_seconds``."""

    watched: float = 1.0
    changed: float = 0.3
    change_seconds: float = 30.0
    year_hours: float = 1600.0

    def hours(self, slots: float) -> float:
        """Hours of a person for an hour of film."""
        return self.watched + slots * self.changed * self.change_seconds / 3600


@dataclass(frozen=True)
class Prices:
    """The user's own, in any currency; None: not given, and no money is told."""

    core_hour: float | None = None
    gpu_hour: float | None = None
    gigabyte_month: float | None = None
    gigabyte_sent: float | None = None
    person_hour: float | None = None


@dataclass(frozen=True)
class Load:
    """What an hour of film of the catalogue takes: core seconds of the pass, and of all but the engines."""

    hour: Hour
    asked: Asked
    reading: float
    cpu: float

    @staticmethod
    def of(plan: Catalogue, units: Units, how: Asking) -> Load:
        hour = Hour(plan.slots, plan.shots)
        reading = preparing(hour, units) * plan.parallel
        return Load(hour, asked(plan.slots, how), reading, reading + around(hour, units) * plan.parallel)


def needs(
    plan: Catalogue, units: Units, how: Asking, share: Shares, review: Review, prices: Prices
) -> Iterator[str]:
    """Lines that say what it needs."""
    load = Load.of(plan, units, how)
    found = load.asked
    films = plan.hours / plan.film_hours
    own = plan.slots * units.embedded * plan.parallel
    yield (
        f"{plan.hours:,.0f} hours in {films:,.0f} films of {plan.film_hours:g} hours, "
        f"{plan.slots:.0f} slots and {plan.shots:.0f} shots an hour,"
    )
    yield f"1080p at 24: {plan.hours * plan.slots:,.0f} slots. An hour of film takes"
    yield f"  {load.cpu:,.0f} core seconds before and beside the engines,"
    yield f"  of them {load.reading:,.0f} to decode, find shots and listen;"
    yield f"  {own:,.0f} core seconds of the embedded engine, or"
    yield f"  {found.calls1 + found.calls2:,.0f} calls, {found.tokens_in1 + found.tokens_in2:,.0f} tokens in"
    out = found.tokens_out1 + found.tokens_out2
    yield f"  ({found.frames * how.frame_tokens:,.0f} of them frames), {out:,.0f} out."
    yield ""
    yield _days("Cores, without engines", plan.hours * load.cpu, plan.cores, plan.busy, "cores")
    both = plan.hours * (load.cpu + own)
    yield _days("Cores, embedded engine too", both, plan.cores, plan.busy, "cores")
    # Servers are sent stills; in the same process two frames share their tokens, as of a film.
    for way, each in (
        ("Qwen2-VL and LLaMA 3 by servers, frames one by one", how),
        ("The same in the worker, frames in pairs", replace(how, frame_tokens=how.frame_tokens / 2)),
    ):
        yield f"\n{way}; GPU seconds an hour of film for Stage I and II:"
        yield from _gpus(plan, each, share, load.cpu)
    yield ""
    yield from _bytes(plan, units, load)
    yield ""
    yield from _losses(plan, load)
    yield ""
    yield from _people(plan, review)
    money = list(_money(plan, units, how, share, review, prices, load))
    if money:
        yield ""
        yield from money


def _gpus(plan: Catalogue, how: Asking, share: Shares, cpu: float) -> Iterator[str]:
    found = asked(plan.slots, how)
    for name, gpu in GPUS.items():
        one, two = of_both(gpu, found, how.frame_tokens, share)
        days = _days(f"  {name}: {one:,.0f} + {two:,.0f}", plan.hours * (one + two), plan.gpus, plan.busy, "")
        yield f"{days}; {cpu / (one + two):.1f} cores feed one"


def _days(what: str, seconds: float, machines: int, busy: float, kind: str) -> str:
    days = seconds / 86_400
    many = f"{machines:,} {kind}".strip()
    return f"{what}: {days:,.0f} days of one; {days / machines / busy:,.1f} days of {many} at {busy:.0%}"


def _bytes(plan: Catalogue, units: Units, load: Load) -> Iterator[str]:
    read = plan.bits / 8 * load.hour.seconds
    kept, bare = bytes_kept(load.hour, units), bytes_kept(load.hour, units, sheet=False)
    sent = bytes_sent(load.asked, units)
    yield f"Read: {read / 1e9:,.2f} GB an hour, {_terabytes(read * plan.hours)}."
    yield f"To a pool of servers: {sent / 1e6:,.0f} MB an hour, {_terabytes(sent * plan.hours)}."
    yield (
        f"Kept: {kept / 1e6:,.1f} MB an hour, {_terabytes(kept * plan.hours)}; without the overview "
        f"{bare / 1e6:,.1f} MB, {_terabytes(bare * plan.hours)},"
    )
    yield f"  and {load.hour.slots * units.sheet * plan.parallel:,.0f} core seconds an hour less."
    seconds = plan.hours * load.cpu / plan.cores / plan.busy
    flows = [f"{each * plan.hours * 8 / seconds / 1e9:,.1f}" for each in (read, sent, kept)]
    yield (
        f"Network while {plan.cores:,} cores are at it, Gbit/s: {flows[0]} read, {flows[1]} to servers, "
        f"{flows[2]} kept."
    )
    film, frames = read * plan.film_hours / 1e9, units.kept * load.hour.seconds * plan.film_hours / 1e9
    yield (
        f"Disk of a worker for a film: {film:,.1f} GB where it is fetched, {frames:,.1f} GB of frames and "
        "records meanwhile."
    )


def _terabytes(number: float) -> str:
    return f"{number / 1e12:,.3g} TB" if number < 1e14 else f"{number / 1e12:,.0f} TB"


def _losses(plan: Catalogue, load: Load) -> Iterator[str]:
    """What is done again where workers are lost: at most all of a film but its answers, which are kept."""
    film = load.cpu * plan.film_hours
    share = film / (plan.worker_cores * plan.worker_hours * 3600)
    minutes = film / plan.worker_cores / 60
    yield f"A film keeps a worker of {plan.worker_cores} cores for {minutes:,.0f} minutes beside the engines."
    yield (
        f"A worker that is lost once in {plan.worker_hours:g} hours costs at most {share:.1%} more core "
        "seconds, and no answer twice."
    )


def _people(plan: Catalogue, review: Review) -> Iterator[str]:
    each = review.hours(plan.slots)
    hours = plan.hours * each
    yield (
        f"People who check every line (assumed: {review.watched:g} h to see and hear an hour of film, "
        f"{review.changed:.0%} of lines put right,"
    )
    yield (
        f"{review.change_seconds:g} s each): {each:.1f} hours an hour of film, {hours:,.0f} hours, "
        f"{hours / review.year_hours:,.0f} people for a year of {review.year_hours:,.0f} hours."
    )


def _money(
    plan: Catalogue,
    units: Units,
    how: Asking,
    share: Shares,
    review: Review,
    prices: Prices,
    load: Load,
) -> Iterator[str]:
    """By the user's prices; machines that stand idle are paid for too."""
    paid = plan.hours / 3600 / plan.busy
    if prices.core_hour is not None:
        yield f"Money, cores: {paid * load.cpu * prices.core_hour:,.0f}."
    if prices.gpu_hour is not None:
        for name, gpu in GPUS.items():
            took = sum(of_both(gpu, load.asked, how.frame_tokens, share))
            yield f"Money, servers, were they {name}: {paid * took * prices.gpu_hour:,.0f}."
    if prices.gigabyte_month is not None:
        kept = plan.hours * bytes_kept(load.hour, units) / 1e9
        yield f"Money, records, a month: {kept * prices.gigabyte_month:,.0f}."
    if prices.gigabyte_sent is not None:
        read = plan.bits / 8 * load.hour.seconds / 1e9
        paid_for = plan.hours * read * prices.gigabyte_sent
        yield f"Money, films read over a network that is paid for: {paid_for:,.0f}."
    if prices.person_hour is not None:
        yield f"Money, people: {plan.hours * review.hours(plan.slots) * prices.person_hour:,.0f}."
