"""Conversations of many slots with few engines: nothing is lost, mixed up, or asked twice."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from shotad.core import Abilities, Clip, EngineError, Identity, Reply, Request
from shotad.description import EngineCall, Inquiry, Named, converse
from shotad.description.conversation import Scheduler, Who

NAMES = [f"s{k:08d}" for k in range(23)]


class Listed:
    """An engine that keeps the calls it got; it says back what it was asked for, after ``first``."""

    identity = Identity("listed")

    def __init__(
        self, batch: int = 1, in_flight: int = 1, first: Callable[[list[str]], object] = lambda names: None
    ) -> None:
        self.abilities = Abilities(batch=batch, in_flight=in_flight)
        self.calls: list[list[str]] = []
        self.first = first

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        names = [request.slot_id for request in requests]
        self.first(names)
        self.calls.append(names)
        time.sleep(0.002)
        return [Reply(r.slot_id if r.clip is None else str(len(r.clip))) for r in requests]


def asks(name: str, number: int = 1, *, clip: bool = False) -> Inquiry:
    """So many questions at once."""
    names = [name] if number == 1 else [f"{name}.{k}" for k in range(number)]
    if not number:
        return {"said": ["nothing to ask"], "error": None}
    who: Who = "looks" if clip else "writes"
    replies = yield tuple(EngineCall(who, Request(one, ()), with_clip=clip) for one in names)
    return {"said": [reply.text for reply in replies], "error": replies[0].error}


def every(names: Sequence[str] = NAMES) -> Iterator[Named]:
    for name in names:
        yield name, asks(name)


def test_several_questions_of_one_slot_stay_together_and_in_order() -> None:
    engine = Listed(batch=4)
    numbers = {"a": 3, "b": 3, "c": 1, "d": 0, "e": 5}
    inquiries = ((name, asks(name, number)) for name, number in numbers.items())
    found = dict(converse(inquiries, {"writes": engine}))
    assert found["a"]["said"] == ["a.0", "a.1", "a.2"]
    assert found["d"]["said"] == ["nothing to ask"]
    assert found["e"]["said"] == [f"e.{k}" for k in range(5)], "more than a batch holds"
    assert engine.calls[0] == ["a.0", "a.1", "a.2", "c"]


@pytest.mark.parametrize(("converses", "most"), [(True, 2), (False, 1)])
def test_one_is_read_ahead_but_for_an_engine_of_these_processors(converses: bool, most: int) -> None:
    drawn: list[weakref.ref[Any]] = []
    alive: list[int] = []

    def asks_about(name: str, clip: Clip) -> Inquiry:
        yield (EngineCall("looks", Request(name, (), clip=clip)),)
        return {}

    def source() -> Iterator[Named]:
        for name in NAMES:
            alive.append(sum(images() is not None for images in drawn))
            images = np.zeros((1, 2, 2, 3), np.uint8)
            drawn.append(weakref.ref(images))
            inquiry = asks_about(name, Clip(images, np.zeros(1), np.zeros(1, np.int64)))
            del images
            yield name, inquiry
            del inquiry

    def look(names: list[str]) -> None:
        time.sleep(0.01)
        at_hand.append(len(drawn) - sum(map(len, engine.calls)))

    at_hand: list[int] = []
    engine = Listed(first=look)
    engine.abilities = Abilities(converses=converses)
    assert list(dict(converse(source(), {"looks": engine}))) == NAMES
    assert max(at_hand) == most
    assert max(alive) == most - 1, "those that were looked at are let go"


def test_a_question_that_is_waited_for_stops_nothing_else() -> None:
    engine = Listed()
    with Scheduler({"writes": engine}) as scheduler:
        scheduler.read(every())
        found = dict([next(scheduler)])
        assert scheduler.ask("writes", Request("between", ())).text == "between"
        found |= dict(scheduler)
    assert list(found) == NAMES
    assert ["between"] in engine.calls[:-1]


def test_after_an_error_those_who_wait_are_told_at_once_and_no_answer_or_thread_is_left() -> None:
    def gone(names: list[str]) -> None:
        if max(names) >= NAMES[2]:
            raise EngineError("The server is gone.")

    before, found = threading.active_count(), dict[str, Any]()
    with Scheduler({"writes": Listed(first=gone)}) as scheduler:
        scheduler.read(every())
        with pytest.raises(EngineError, match="gone"):
            found.update(scheduler)
        with pytest.raises(EngineError, match="gone"):
            scheduler.ask("writes", Request("a", ()))
    assert (threading.active_count(), list(found)) == (before, NAMES[:2])

    def ends() -> Iterator[Named]:
        yield from every(NAMES[:2])
        raise EngineError("The film ends here.")

    found.clear()
    with pytest.raises(EngineError, match="film ends"):
        found.update(converse(ends(), {"writes": Listed()}))
    assert list(found) == NAMES[:2]


def test_too_few_replies_are_failures_not_a_shift() -> None:
    engine = Listed(batch=3)
    engine.generate = lambda requests: [Reply("one")]  # type: ignore[method-assign]
    found = dict(converse(every(NAMES[:3]), {"writes": engine}))
    assert all("gave 1 replies to 3" in record["error"] for record in found.values())


@pytest.mark.parametrize("flights", [1, 2])
def test_a_clip_is_fetched_when_it_is_asked_about(flights: int) -> None:
    clip = Clip(np.zeros((1, 2, 2, 3), np.uint8), np.zeros(1), np.zeros(1, np.int64))
    fetched: list[tuple[Who, str]] = []

    def fetch(who: Who, name: str) -> Clip:
        fetched.append((who, name))
        return clip

    inquiries = [(name, asks(name, clip=True)) for name in "ab"]
    found = dict(converse(inquiries, {"looks": Listed(in_flight=flights)}, clip_of=fetch))
    assert [record["said"] for record in found.values()] == [["1"], ["1"]]
    assert sorted(fetched) == [("looks", "a"), ("looks", "b")]
    with pytest.raises(ValueError, match="no clips"):
        dict(converse([("a", asks("a", clip=True))], {"looks": Listed()}))
