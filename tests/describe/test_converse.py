"""Conversations of many slots with few engines: nothing is lost, mixed up, or asked twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from shotad.core import Abilities, Clip, EngineError, Identity, Reply, Request
from shotad.description import Inquiry, Named, Turn, converse
from shotad.description.conversation import Who
from shotad.description.scheduler import Scheduler


class Listed:
    """An engine that keeps the calls it got; it says back what it was asked for."""

    identity = Identity("listed")

    def __init__(self, *, batch: int = 1, in_flight: int = 1, name: str = "") -> None:
        self.abilities = Abilities(batch=batch, in_flight=in_flight)
        self.calls: list[list[str]] = []
        self.name = name
        self.busy = self.most_busy = 0
        self._lock = threading.Lock()

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        with self._lock:
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
            self.calls.append([request.slot_id for request in requests])
        time.sleep(0.002)
        with self._lock:
            self.busy -= 1
        return [self.reply(request) for request in requests]

    def reply(self, request: Request) -> Reply:
        return Reply(f"{self.name}{request.slot_id}")


def request(name: str) -> Request:
    return Request(name, ())


def once(name: str, who: Who = "writes") -> Inquiry:
    (reply,) = yield (Turn(who, request(name)),)
    return {"name": name, "said": reply.text, "error": reply.error}


def thrice(name: str) -> Inquiry:
    """Writes, looks, writes again."""
    said = []
    turns: tuple[Who, ...] = ("writes", "looks", "writes")
    for who in turns:
        (reply,) = yield (Turn(who, request(name)),)
        said.append(reply.text)
    return {"said": said}


def several(name: str, number: int) -> Inquiry:
    replies = yield tuple(Turn("writes", request(f"{name}.{k}")) for k in range(number))
    return {"said": [reply.text for reply in replies]}


def none(name: str) -> Inquiry:
    if name:
        return {"said": "nothing to ask"}
    yield ()


NAMES = [f"s{k:08d}" for k in range(23)]


@pytest.mark.parametrize(("batch", "flights"), [(1, 1), (4, 1), (50, 1), (1, 5)])
def test_every_inquiry_gets_its_own_answers(batch: int, flights: int) -> None:
    engine = Listed(batch=batch, in_flight=flights)
    found = dict(converse(((name, once(name)) for name in NAMES), {"writes": engine}))
    assert {name: record["said"] for name, record in found.items()} == {name: name for name in NAMES}
    assert sorted(name for call in engine.calls for name in call) == NAMES
    assert max(map(len, engine.calls)) == (1 if flights > 1 else min(batch, 23))
    assert 1 <= engine.most_busy <= flights


def test_several_questions_of_one_slot_stay_together_and_in_order() -> None:
    engine = Listed(batch=4)
    found = dict(
        converse([("a", several("a", 3)), ("b", several("b", 3)), ("c", several("c", 1))], {"writes": engine})
    )
    assert found["a"]["said"] == ["a.0", "a.1", "a.2"]
    assert found["b"]["said"] == ["b.0", "b.1", "b.2"]
    assert engine.calls == [["a.0", "a.1", "a.2", "c.0"], ["b.0", "b.1", "b.2"]]


def test_more_questions_than_a_batch_holds_are_put_all_the_same() -> None:
    engine = Listed(batch=2)
    assert dict(converse([("a", several("a", 5))], {"writes": engine}))["a"]["said"] == [
        f"a.{k}" for k in range(5)
    ]


def test_models_that_alternate_take_long_turns() -> None:
    looks, writes = Listed(batch=3, name="looks "), Listed(batch=3, name="writes ")
    order: list[str] = []
    for engine, name in ((looks, "looks"), (writes, "writes")):
        engine.generate = _noted(engine.generate, order, name)  # type: ignore[method-assign]
    with Scheduler({"looks": looks, "writes": writes}, alternate=True) as scheduler:
        for name in NAMES[:7]:
            scheduler.begin((name, thrice(name)))
        found = dict(scheduler)
    assert found[NAMES[3]]["said"] == [f"writes {NAMES[3]}", f"looks {NAMES[3]}", f"writes {NAMES[3]}"]
    changes = [a for a, b in zip(order, [*order[1:], ""], strict=True) if a != b]
    assert changes == ["writes", "looks", "writes"]


def _noted(call: Any, order: list[str], name: str) -> Any:
    def noted(requests: Sequence[Request]) -> Any:
        order.append(name)
        return call(requests)

    return noted


def test_batches_of_what_is_read_are_full_and_the_same_in_every_run() -> None:
    def source() -> Iterator[Named]:
        for number, name in enumerate(NAMES):
            time.sleep(0.01 * (number % 3))
            yield name, once(name)

    engine = Listed(batch=4)
    dict(converse(source(), {"writes": engine}))
    assert engine.calls == [NAMES[first : first + 4] for first in range(0, len(NAMES), 4)]


def test_a_question_that_is_waited_for_stops_nothing_else() -> None:
    engine = Listed()
    with Scheduler({"writes": engine}) as scheduler:
        scheduler.read((name, once(name)) for name in NAMES)
        found = dict([next(scheduler)])
        assert scheduler.ask("writes", request("between")).text == "between"
        found |= dict(scheduler)
    assert list(found) == NAMES
    assert ["between"] in engine.calls[:-1]


def test_after_an_error_those_who_wait_are_told_at_once_and_no_thread_is_left() -> None:
    class Broken(Listed):
        def generate(self, requests: Sequence[Request]) -> list[Reply]:
            raise EngineError("The server is gone.")

    before = threading.active_count()
    with Scheduler({"writes": Broken()}) as scheduler:
        scheduler.read((name, once(name)) for name in NAMES)
        with pytest.raises(EngineError, match="gone"):
            scheduler.ask("writes", request("a"))
    assert threading.active_count() == before


def test_an_inquiry_without_questions_has_its_record() -> None:
    assert dict(converse([("a", none("a"))], {"writes": Listed()})) == {"a": {"said": "nothing to ask"}}


@pytest.mark.parametrize("flights", [1, 3])
def test_an_engine_that_raises_fails_only_the_slot_it_raised_for(flights: int) -> None:
    class Fragile(Listed):
        def generate(self, requests: Sequence[Request]) -> list[Reply]:
            if any(request.slot_id == NAMES[5] for request in requests):
                raise ValueError("this clip is cursed")
            return super().generate(requests)

    engine = Fragile(batch=4, in_flight=flights)
    found = dict(converse(((name, once(name)) for name in NAMES), {"writes": engine}))
    assert [name for name, record in found.items() if record["error"]] == [NAMES[5]]
    assert "cursed" in found[NAMES[5]]["error"]


def test_too_few_replies_are_failures_not_a_shift() -> None:
    class Short(Listed):
        def generate(self, requests: Sequence[Request]) -> list[Reply]:
            return super().generate(requests)[:1]

    found = dict(converse(((name, once(name)) for name in NAMES[:3]), {"writes": Short(batch=3)}))
    assert all("gave 1 replies to 3" in record["error"] for record in found.values())


@pytest.mark.parametrize(("batch", "flights"), [(1, 1), (4, 1), (1, 4)])
def test_what_stops_a_run_leaves_the_answers_that_were_there(batch: int, flights: int) -> None:
    class Poor(Listed):
        def generate(self, requests: Sequence[Request]) -> list[Reply]:
            if any(request.slot_id >= NAMES[12] for request in requests):
                raise EngineError("The quota is spent.", "Run again later.")
            return super().generate(requests)

    engine = Poor(batch=batch, in_flight=flights)
    found: dict[str, Any] = {}
    answers = converse(((name, once(name)) for name in NAMES), {"writes": engine})
    with pytest.raises(EngineError, match="quota"):
        found |= _kept(answers, found)
    assert sorted(found) == NAMES[:12]
    assert sum(map(len, engine.calls)) == 12


def _kept(answers: Iterator[tuple[str, Any]], found: dict[str, Any]) -> dict[str, Any]:
    for name, record in answers:
        found[name] = record  # noqa: PERF403  what came before an error is to be kept
    return found


def test_the_source_is_read_only_a_little_ahead() -> None:
    read: list[str] = []

    def source() -> Iterator[Named]:
        for name in NAMES:
            read.append(name)
            yield name, once(name)

    engine, before = Listed(batch=2), threading.active_count()
    answers = converse(source(), {"writes": engine})
    next(answers)
    time.sleep(0.1)
    assert 2 <= len(read) <= 7
    answers.close()  # type: ignore[attr-defined]  # a generator
    assert threading.active_count() == before


@pytest.mark.parametrize("flights", [1, 3])
def test_an_error_of_the_source_costs_no_answer_that_was_asked_for(flights: int) -> None:
    def source() -> Iterator[Named]:
        yield "a", once("a")
        yield "b", once("b")
        raise EngineError("The film ends here.")

    found: dict[str, Any] = {}
    with pytest.raises(EngineError, match="film ends"):
        found |= _kept(converse(source(), {"writes": Listed(in_flight=flights)}), found)
    assert sorted(found) == ["a", "b"]


def test_an_interruption_waits_for_no_answer_and_keeps_those_that_are_there() -> None:
    kept_back, done = threading.Event(), threading.Event()

    class Slow(Listed):
        def reply(self, request: Request) -> Reply:
            if request.slot_id != "a":
                kept_back.wait(20)
                done.set()
            return Reply(request.slot_id)

    def source() -> Iterator[Named]:
        yield "a", once("a")
        yield "b", once("b")
        time.sleep(0.2)
        raise KeyboardInterrupt

    found: dict[str, Any] = {}
    with pytest.raises(KeyboardInterrupt):
        found |= _kept(converse(source(), {"writes": Slow(in_flight=3)}), found)
    assert sorted(found) == ["a"]
    assert not done.is_set()
    kept_back.set()


def test_after_an_interruption_nothing_more_is_asked() -> None:
    kept_back = threading.Event()

    class Slow(Listed):
        def reply(self, request: Request) -> Reply:
            kept_back.wait(20)
            return super().reply(request)

    def source() -> Iterator[Named]:
        yield "a", thrice("a")
        time.sleep(0.1)
        raise KeyboardInterrupt

    engine = Slow(in_flight=2)
    with pytest.raises(KeyboardInterrupt):
        list(converse(source(), {"writes": engine, "looks": engine}))
    kept_back.set()
    for thread in threading.enumerate():
        if thread.name == "asking":
            thread.join(20)
    assert engine.calls == [["a"]]


def test_a_clip_is_fetched_when_it_is_asked_about() -> None:
    clip = Clip(np.zeros((1, 2, 2, 3), np.uint8), np.zeros(1), np.zeros(1, np.int64))
    fetched: list[tuple[Who, str]] = []

    class Sees(Listed):
        def reply(self, request: Request) -> Reply:
            return Reply("" if request.clip is None else str(len(request.clip)))

    def asks(name: str) -> Inquiry:
        (reply,) = yield (Turn("looks", request(name), with_clip=True),)
        return {"said": reply.text}

    def fetch(who: Who, name: str) -> Clip:
        fetched.append((who, name))
        return clip

    for flights in (1, 2):
        engine = Sees(in_flight=flights)
        found = dict(converse([("a", asks("a")), ("b", asks("b"))], {"looks": engine}, clip_of=fetch))
        assert found == {"a": {"said": "1"}, "b": {"said": "1"}}
    assert sorted(fetched) == [("looks", name) for name in "aabb"]
    with pytest.raises(ValueError, match="no clips"):
        dict(converse([("a", asks("a"))], {"looks": Sees()}))


def test_an_engine_that_takes_one_call_at_a_time_gets_one_beside_another_that_takes_many() -> None:
    looks, writes = Listed(), Listed(in_flight=6)
    dict(converse(((name, thrice(name)) for name in NAMES), {"looks": looks, "writes": writes}))
    assert looks.most_busy == 1
    assert writes.most_busy <= 6


def test_as_many_calls_are_under_way_as_an_engine_takes() -> None:
    meeting = threading.Barrier(3)

    class Meets(Listed):
        def generate(self, requests: Sequence[Request]) -> list[Reply]:
            meeting.wait(timeout=30)
            return super().generate(requests)

    found = dict(converse(((name, once(name)) for name in NAMES[:6]), {"writes": Meets(in_flight=3)}))
    assert not any(record["error"] for record in found.values())
