"""What the register of a Ray run carries: slots a second, and seconds and memory for a million slots.

``python benchmarks/register.py [--films 1000] [--slots 1000] [--called 2000]``

It prints, for the rows of a catalogue that pass through the register of a real (one-node) Ray cluster:

- slots a second where each event of a slot is a call of its own (seven of them), and where a worker calls as
  it does now, with the ratio of both; for ``--called`` slots, for each takes as long as all others
- the seconds that the register itself takes for the whole catalogue, without Ray
- the most memory that it takes while the slots of ``--open`` films are under way
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

from shotad.batch.ray.cluster import Arrival, RaySettings, Register, connected, register_of_run
from shotad.batch.ray.steps import ROWS_AHEAD

CALLS_OF_EVENTS = 7
"""A row announced, its attempts read, the run's end looked for, begun, answered, ended, arrived."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--films", type=int, default=1000)
    parser.add_argument("--slots", type=int, default=1000, help="of each film")
    parser.add_argument("--open", type=int, default=100, help="films whose slots are under way at a time")
    parser.add_argument("--called", type=int, default=2000, help="slots for which a real register is called")
    options = parser.parse_args()

    with connected("local", RaySettings(cpus=2, object_store=90 << 20)) as ray:
        by_events = slots_a_second(register_of_run(ray), pass_by_events, options.called)
        by_batches = slots_a_second(register_of_run(ray), pass_slot, options.called)
    print(f"A call for each event of a slot: {by_events:,.0f} slots a second")
    print(f"Calls as workers make them: {by_batches:,.0f} slots a second, {by_batches / by_events:.1f} times")

    began = time.perf_counter()
    pass_catalogue(Register(), options.films, options.slots, options.open)
    seconds = time.perf_counter() - began
    total = options.films * options.slots
    print(f"{total:,} slots in the register alone: {seconds:.1f} s, {total / seconds:,.0f} slots a second")

    for films_open in (options.open // 10 or 1, options.open):
        tracemalloc.start()
        pass_catalogue(Register(), films_open * 2, options.slots, films_open)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        slots_open = films_open * options.slots
        print(f"{slots_open:,} slots under way: {peak / 1e6:.0f} MB, {peak / slots_open:.0f} bytes a slot")


def slots_a_second(register: Any, pass_one: Callable[[Any, int, int], None], slots: int) -> float:
    """How many slots of one film pass through ``register`` in a second, each by ``pass_one``."""
    register.stopped()  # it has been started
    began = time.perf_counter()
    for slot in range(slots):
        pass_one(register, 0, slot)
    return slots / (time.perf_counter() - began)


def pass_by_events(register: Any, film: int, slot: int) -> None:
    """A call for each event, as small as a call can be."""
    for _ in range(CALLS_OF_EVENTS):
        register.stopped()


def pass_slot(register: Any, film: int, slot: int) -> None:
    """The calls of workers for one slot, where a batch is one slot and each is answered."""
    announce(register, film, slot)
    unit = f"slot {film}/s{slot:08}"
    register.begin_fresh([(film, unit)])
    register.arrive([Arrival(film, f"s{slot:08}", unit)], True, {})


def announce(register: Any, film: int, slot: int) -> None:
    """The row of a slot is handed on."""
    if slot % (ROWS_AHEAD + 1) == 0:
        register.tell(f"film {film}", slot + 1 + ROWS_AHEAD)


def pass_catalogue(register: Register, films: int, slots: int, films_open: int) -> None:
    """All slots of a catalogue, of ``films_open`` films in turn, each begun before the first has ended."""
    for first in range(0, films, films_open):
        group: Sequence[int] = range(first, min(first + films_open, films))
        for slot in range(slots):
            for film in group:
                announce(register, film, slot)
                register.begin_fresh([(film, f"slot {film}/s{slot:08}")])
        for slot in range(slots):
            for film in group:
                name = f"s{slot:08}"
                register.arrive([Arrival(film, name, f"slot {film}/{name}")], True, {})
        for film in group:
            register.arrive([Arrival(film, "end", number_of_others=slots)], False, {})
            register.account(film)
            register.over(film)


if __name__ == "__main__":
    main()
