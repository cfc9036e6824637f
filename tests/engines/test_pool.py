"""Many plain functions that ask few engines: nothing is lost, mixed up or asked twice; batches are full and the same in
every run; a run that is stopped keeps what was answered."""

from __future__ import annotations

import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    Abilities,
    Clip,
    Identity,
    Message,
    RecordLog,
    Reply,
    Request,
    Usage,
)
from shotad.core.errors import EngineError
from shotad.engines import AnswerLog, AskingPool, ClipOnDemand

NAMES = [f"s{number:08d}" for number in range(23)]


class Listed:
    """An engine that keeps the calls it got, and repeats what it was asked; ``first`` is called before each."""

    def __init__(
        self,
        batch: int = 1,
        in_flight: int = 1,
        first: Callable[[list[str]], object] = lambda names: None,
        name: str = "listed",
        converses: bool = True,
    ) -> None:
        self.identity = Identity(name)
        self.abilities = Abilities(batch=batch, in_flight=in_flight, converses=converses)
        self.calls: list[list[str]] = []
        self.first = first

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        names = [request.slot_id for request in requests]
        self.first(names)
        self.calls.append(names)
        time.sleep(0.002)
        return [Reply(r.slot_id if r.clip is None else str(len(r.clip)), usage=Usage(2, 1)) for r in requests]


def log(folder: Path) -> AnswerLog:
    return AnswerLog(RecordLog(folder / "answers.jsonl"))


def take_replies(
    engine: Listed, names: Iterable[str], taken: list[str], memory: AnswerLog | None = None, workers: int = 2
) -> None:
    """Ask about each of the names, and put what comes into ``taken``."""
    with AskingPool({"stage2": engine}, memory) as pool:
        for reply in pool.map(lambda name: pool.ask("stage2", Request(name, ())), names, workers=workers):
            taken.append(reply.text)


def interrupted_run(engine: Listed) -> None:
    with AskingPool({"stage2": engine}) as pool:
        pool.map(lambda name: pool.ask("stage2", Request(name, ())), NAMES, workers=2)
        time.sleep(0.1)
        raise KeyboardInterrupt


@pytest.mark.parametrize(("batch", "in_flight"), [(1, 1), (4, 1), (1, 5), (3, 2)])
def test_every_item_gets_its_own_reply_in_order_and_batches_are_full(batch: int, in_flight: int) -> None:
    engine = Listed(batch, in_flight)
    with AskingPool({"stage2": engine}) as pool:
        replies = pool.map(
            lambda name: pool.ask("stage2", Request(name, ())).text, NAMES, workers=2 * batch * in_flight
        )
        assert list(replies) == NAMES
    assert sorted(name for call in engine.calls for name in call) == NAMES
    if in_flight == 1:
        assert engine.calls == [NAMES[first : first + batch] for first in range(0, len(NAMES), batch)]
    assert pool.usage["stage2"].calls == len(NAMES)


def test_batches_are_the_same_in_every_run_when_some_ask_again() -> None:
    def asks_often(pool: AskingPool, name: str) -> str:
        time.sleep(int(name[-1]) % 3 / 500)  # as reading a clip takes time
        for attempt in range(1 + int(name[-1]) % 3):
            reply = pool.ask("stage2", Request(name, (), seed=attempt))
        return reply.text

    def calls() -> list[list[str]]:
        engine = Listed(4)
        with AskingPool({"stage2": engine}) as pool:
            assert list(pool.map(lambda name: asks_often(pool, name), NAMES, workers=8)) == NAMES
        return engine.calls

    first = calls()
    assert all(calls() == first for _ in range(5))
    assert sum(len(call) == 4 for call in first) >= len(first) - 3


def test_a_question_of_several_items_has_the_place_of_the_first_of_them() -> None:
    def asks_late(pool: AskingPool, number: int) -> str:
        if number == 0:
            time.sleep(0.05)
        return pool.ask("stage2", Request("other" if number == 1 else "same", ())).text

    engine = Listed(2)
    with AskingPool({"stage2": engine}) as pool:
        replies = list(pool.map(lambda number: asks_late(pool, number), range(3), workers=3))
    assert replies == ["same", "other", "same"]
    assert engine.calls == [["same", "other"]]


def test_two_models_take_turns_and_are_changed_once() -> None:
    spoken: list[str] = []
    looks = Listed(4, first=lambda names: spoken.append("looks"), name="vlm")
    writes = Listed(1, first=lambda names: spoken.append("writes"), name="llm")
    with AskingPool({"stage1": looks, "stage2": writes}, take_turns=True) as pool:
        described = pool.map(lambda name: pool.ask("stage1", Request(name, ())).text, NAMES, workers=8)
        lines = pool.map(
            lambda text: pool.ask("stage2", Request(f"{text} line", ())).text, described, workers=8
        )
        assert list(lines) == [f"{name} line" for name in NAMES]
    assert spoken == ["looks"] * 6 + ["writes"] * len(NAMES)


def test_lines_are_written_while_clips_are_described() -> None:
    spoken: list[str] = []
    looks = Listed(first=lambda names: spoken.append("looks"), name="vlm")
    writes = Listed(first=lambda names: spoken.append("writes"), name="llm")
    with AskingPool({"stage1": looks, "stage2": writes}) as pool:
        described = pool.map(lambda name: pool.ask("stage1", Request(name, ())).text, NAMES, workers=2)
        lines = [pool.ask("stage2", Request(f"{text} line", ())).text for text in described]
    assert lines == [f"{name} line" for name in NAMES]
    assert "writes" in spoken[: len(NAMES) // 2]


def test_the_same_question_is_asked_once_and_never_again_by_a_later_run(tmp_path: Path) -> None:
    twice = [*NAMES, *NAMES]
    engine = Listed(in_flight=4)
    with AskingPool({"stage2": engine}, log(tmp_path)) as pool:
        replies = list(pool.map(lambda name: pool.ask("stage2", Request(name, ())), twice, workers=8))
    assert len(engine.calls) == len(NAMES)
    again = Listed(in_flight=4)
    with AskingPool({"stage2": again}, log(tmp_path)) as pool:
        known = list(pool.map(lambda name: pool.ask("stage2", Request(name, ())), twice, workers=8))
        assert pool.usage["stage2"].calls == 0
        assert pool.ask("stage2", Request(NAMES[0], (), seed=1)).text == NAMES[0]
    assert known == replies
    assert again.calls == [[NAMES[0]]]


def test_a_failed_reply_is_asked_for_again(tmp_path: Path) -> None:
    def fail(names: list[str]) -> None:
        raise ValueError("no such picture")

    with AskingPool({"stage2": Listed(first=fail)}, log(tmp_path)) as pool:
        assert pool.ask("stage2", Request("s1", ())).error == "ValueError: no such picture"
    with AskingPool({"stage2": Listed()}, log(tmp_path)) as pool:
        assert pool.ask("stage2", Request("s1", ())).text == "s1"


def test_one_bad_request_takes_no_others_along() -> None:
    def fail(names: list[str]) -> None:
        if NAMES[2] in names:
            raise ValueError("no such picture")

    with AskingPool({"stage2": Listed(4, first=fail)}) as pool:
        replies = list(pool.map(lambda name: pool.ask("stage2", Request(name, ())), NAMES, workers=8))
    assert [reply.error is None for reply in replies] == [name != NAMES[2] for name in NAMES]


def test_too_few_replies_are_failures_not_a_shift() -> None:
    class Short(Listed):
        def generate(self, requests: Sequence[Request]) -> list[Reply]:
            return super().generate(requests)[:-1]

    with AskingPool({"stage2": Short()}) as pool:
        assert "0 replies to 1 requests" in str(pool.ask("stage2", Request("s1", ())).error)


@pytest.mark.parametrize("in_flight", [1, 4])
def test_after_an_error_answers_under_way_are_kept_and_no_thread_is_left(
    tmp_path: Path, in_flight: int
) -> None:
    before = set(threading.enumerate())

    def quota(names: list[str]) -> None:
        if names == [NAMES[5]]:
            raise EngineError("The quota is spent.", "Pay.")
        time.sleep(0.05)

    engine = Listed(in_flight=in_flight, first=quota)
    taken: list[str] = []
    with pytest.raises(EngineError, match="quota") as raised:
        take_replies(engine, NAMES, taken, log(tmp_path), workers=2 * in_flight)
    assert taken == NAMES[: len(taken)]
    kept = [record["raw"] for record in RecordLog(tmp_path / "answers.jsonl").records()]
    assert sorted(kept) == sorted(name for call in engine.calls for name in call)
    assert len(engine.calls) <= 5 + in_flight
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names.index("ask") < names.index("quota"), "the error passes through who asked"
    time.sleep(0.05)
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("in_flight", [1, 4])
def test_after_an_error_no_other_question_of_the_same_function_is_put(in_flight: int) -> None:
    def quota(names: list[str]) -> None:
        put.extend(names)
        raise EngineError("The quota is spent.", "Pay.")

    put: list[str] = []
    requests = [Request(f"s{number}", ()) for number in range(500)]
    with (
        pytest.raises(EngineError, match="quota"),
        AskingPool({"stage2": Listed(in_flight=in_flight, first=quota)}) as pool,
    ):
        pool.ask_together("stage2", requests)
    assert len(put) <= in_flight


def test_who_takes_an_error_in_hand_may_ask_on() -> None:
    def fail_once(names: list[str]) -> None:
        if not failed:
            failed.extend(names)
            raise EngineError("The server is away.", "Wait.")

    def asks_twice(pool: AskingPool, name: str) -> str:
        try:
            return pool.ask("stage2", Request(name, ())).text
        except EngineError:
            return pool.ask("stage2", Request(name, (), seed=1)).text

    failed: list[str] = []
    with AskingPool({"stage2": Listed(first=fail_once)}) as pool:
        assert list(pool.map(lambda name: asks_twice(pool, name), NAMES, workers=4)) == NAMES


def test_what_a_function_raises_stops_the_run_at_once() -> None:
    def breaks(name: str) -> str:
        if name == NAMES[3]:
            raise RuntimeError("a fault of ours")
        return name

    with pytest.raises(RuntimeError, match="a fault"), AskingPool({"stage2": Listed()}) as pool:
        list(pool.map(breaks, NAMES, workers=1))


def test_what_the_progress_raises_stops_the_run_too() -> None:
    """As where a person stops a job of the review page."""

    class Stopped(BaseException):
        pass

    def advance() -> None:
        raise Stopped

    engine = Listed()
    with pytest.raises(Stopped), AskingPool({"stage2": engine}) as pool:
        list(pool.map(lambda name: pool.ask("stage2", Request(name, ())), NAMES, workers=2, advance=advance))
    assert len(engine.calls) < len(NAMES)


def test_results_before_a_source_that_fails_are_handed_out_first() -> None:
    def source() -> Iterator[str]:
        yield from NAMES[:4]
        raise OSError("the film is gone")

    taken: list[str] = []
    with pytest.raises(OSError, match="gone"):
        take_replies(Listed(), source(), taken, workers=2)
    assert taken == NAMES[:4]


def test_an_interruption_does_not_wait_for_a_server_that_is_silent() -> None:
    silent = threading.Event()
    engine = Listed(first=lambda names: silent.wait(20))
    clock = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted_run(engine)
    assert time.monotonic() - clock < 10
    silent.set()


def test_a_full_disk_stops_the_run() -> None:
    class Full:
        def get(self, key: str) -> Reply | None:
            return None

        def add(self, *answer: Any) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"), AskingPool({"stage2": Listed()}, Full()) as pool:
        list(pool.map(lambda name: pool.ask("stage2", Request(name, ())), NAMES, workers=2))


@pytest.mark.parametrize(("converses", "most"), [(True, 2), (False, 1)])
def test_no_more_clips_are_in_memory_than_keep_the_engine_busy(
    converses: bool, most: int, tmp_path: Path
) -> None:
    read: list[weakref.ref[Any]] = []
    alive: list[int] = []

    def clip_of(name: str) -> ClipOnDemand:
        def read_clip() -> Clip:
            alive.append(sum(images() is not None for images in read))
            images = np.zeros((3, 2, 2, 3), np.uint8)
            read.append(weakref.ref(images))
            return Clip(images, np.arange(3.0), np.zeros(3, np.int64))

        return ClipOnDemand(name, read_clip)

    engine = Listed(converses=converses)
    with AskingPool({"stage1": engine}, log(tmp_path)) as pool:
        replies = pool.map(
            lambda name: pool.ask("stage1", Request(name, ()), clip_of(name)), NAMES, workers=9
        )
        assert [reply.text for reply in replies] == ["3"] * len(NAMES)
    assert max(alive) <= most
    assert len(read) == len(NAMES)
    with AskingPool({"stage1": engine}, log(tmp_path)) as pool:
        pool.ask("stage1", Request(NAMES[0], ()), clip_of(NAMES[0]))
    assert len(read) == len(NAMES), "what is known is not read"


def test_a_clip_without_frames_is_a_failed_reply() -> None:
    engine = Listed()
    with AskingPool({"stage1": engine}) as pool:
        reply = pool.ask("stage1", Request("s1", ()), ClipOnDemand("s1", lambda: None))
    assert reply.error == "no frame of its clip can be decoded"
    assert engine.calls == []


def test_a_trial_with_another_engine_or_prompt_costs_no_answer(tmp_path: Path) -> None:
    def calls(name: str, prompt: str) -> int:
        engine, memory = Listed(name=name), log(tmp_path)
        message = (Message("user", prompt),)
        with AskingPool({"stage2": engine}, memory) as pool:
            list(pool.map(lambda slot: pool.ask("stage2", Request(slot, message)), NAMES, workers=2))
        memory.tidy()
        return len(engine.calls)

    assert calls("first", "What happens?") == len(NAMES)
    assert calls("second", "What happens?") == len(NAMES)
    assert calls("first", "What happens?") == 0
    assert calls("first", "Who is there?") == len(NAMES)
    assert calls("first", "What happens?") == calls("second", "What happens?") == 0
    assert calls("first", "What else?") == len(NAMES)
    assert calls("first", "Who is there?") == len(NAMES), "of the trials of one engine the last is kept"


def test_answers_for_other_purposes_share_the_log_and_outlast_a_tidying(tmp_path: Path) -> None:
    def ask(purpose: str, names: Sequence[str], *, anew: bool = False) -> list[str]:
        """Asks, tidies, and gives the names that the engine was asked for."""
        engine = Listed()
        memory = AnswerLog(RecordLog(tmp_path / "answers.jsonl"), purpose, anew=anew)
        with AskingPool({"stage2": engine}, memory) as pool:
            list(pool.map(lambda name: pool.ask("stage2", Request(name, ())), names, workers=1))
        memory.tidy()
        return [name for call in engine.calls for name in call]

    assert ask("translate.de", NAMES[:2]) == NAMES[:2]
    assert ask("description", NAMES[2:4]) == NAMES[2:4]
    assert ask("translate.de", NAMES[:1]) == []
    assert ask("description", NAMES[2:4]) == []
    assert ask("translate.de", NAMES[:2]) == [], "what its own purpose did not use lies aside"
    assert ask("description", NAMES[2:4], anew=True) == NAMES[2:4]
    assert ask("description", NAMES[2:4]) == []


# Pools in pools: films beside each other, each with questions about its parts


def part_names(film: int, parts: int = 3) -> list[str]:
    return [f"f{film}p{number}" for number in range(parts)]


def describe_film(
    films: AskingPool, film: int, memory: AnswerLog | None = None, *, parts: int = 3
) -> list[str]:
    """Asks about each part of a film in a pool of its own, as a film that is described beside others does."""
    time.sleep(film % 3 / 200)  # as preparing takes time
    with films.nested(memory) as pool:
        replies = pool.map(
            lambda name: pool.ask("stage2", Request(name, ())).text, part_names(film, parts), workers=parts
        )
        return list(replies)


def test_the_parts_of_several_films_fill_the_batches_in_order_and_in_every_run_alike() -> None:
    def calls() -> list[list[str]]:
        engine = Listed(4)
        with AskingPool({"stage2": engine}) as films:
            results = films.map(lambda film: describe_film(films, film), range(8), workers=4)
            assert list(results) == [part_names(film) for film in range(8)]
            assert films.usage["stage2"].calls == 24
        return engine.calls

    all_names = [name for film in range(8) for name in part_names(film)]
    expected = [all_names[first : first + 4] for first in range(0, 24, 4)]
    assert [calls() for _ in range(4)] == [expected] * 4


def test_later_stages_of_films_side_by_side_are_put_in_the_films_order() -> None:
    def both_stages(films: AskingPool, film: int) -> list[str]:
        with films.nested() as pool:
            descriptions = pool.map(
                lambda name: pool.ask("stage1", Request(name, ())).text, part_names(film), workers=3
            )
            lines = pool.map(
                lambda text: pool.ask("stage2", Request(f"{text}!", ())).text, descriptions, workers=3
            )
            return list(lines)

    def calls() -> tuple[list[list[str]], list[list[str]]]:
        looks, writes = Listed(4, name="vlm"), Listed(4, name="llm")
        with AskingPool({"stage1": looks, "stage2": writes}, take_turns=True) as films:
            lines = list(films.map(lambda film: both_stages(films, film), range(8), workers=8))
        assert lines == [[f"{name}!" for name in part_names(film)] for film in range(8)]
        return looks.calls, writes.calls

    first = calls()
    assert all(calls() == first for _ in range(3))
    assert all(len(batch) == 4 for batches in first for batch in batches)


def test_each_film_has_its_own_memory(tmp_path: Path) -> None:
    def run() -> int:
        engine = Listed(4)
        memories = [AnswerLog(RecordLog(tmp_path / f"{film}.jsonl")) for film in range(4)]
        with AskingPool({"stage2": engine}) as films:
            list(films.map(lambda film: describe_film(films, film, memories[film]), range(4), workers=4))
        return len(engine.calls)

    assert run() == 3
    assert run() == 0
    (tmp_path / "2.jsonl").unlink()
    assert run() == 1


def test_an_error_in_one_film_stops_no_other() -> None:
    def describe(films: AskingPool, film: int) -> str:
        def look(pool: AskingPool, name: str) -> str:
            if name == "f2p1":
                raise ValueError("no such frame")
            return pool.ask("stage2", Request(name, ())).text

        try:
            with films.nested() as pool:
                return " ".join(pool.map(lambda name: look(pool, name), part_names(film), workers=3))
        except ValueError as error:
            return str(error)

    engine = Listed(4)
    with AskingPool({"stage2": engine}) as films:
        results = list(films.map(lambda film: describe(films, film), range(5), workers=3))
    assert results == ["no such frame" if film == 2 else " ".join(part_names(film)) for film in range(5)]


def test_a_request_that_takes_too_much_memory_fails_for_its_film_alone() -> None:
    def full(names: list[str]) -> None:
        if "f1p0" in names:
            raise MemoryError("too long")

    def describe(films: AskingPool, film: int) -> str:
        try:
            return " ".join(describe_film(films, film))
        except MemoryError as error:
            return str(error)

    engine = Listed(4, first=full)
    with AskingPool({"stage2": engine}) as films:
        results = list(films.map(lambda film: describe(films, film), range(4), workers=4))
    assert results == [" ".join(part_names(film)) if film != 1 else "too long" for film in range(4)]


def test_what_stops_the_run_stops_all_films_and_leaves_no_thread() -> None:
    before = set(threading.enumerate())

    def quota(names: list[str]) -> None:
        if "f3p1" in names:
            raise EngineError("The quota is spent.", "Pay.")

    engine = Listed(4, first=quota)
    with (
        pytest.raises(EngineError, match="quota") as raised,
        AskingPool({"stage2": engine}) as films,
    ):
        list(films.map(lambda film: describe_film(films, film), range(50), workers=9))
    assert len(engine.calls) <= 4
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names.index("describe_film") < names.index("quota"), "the error passes through who asked"
    time.sleep(0.05)
    assert set(threading.enumerate()) <= before


def test_an_interruption_stops_films_whose_questions_wait() -> None:
    silent = threading.Event()
    engine = Listed(4, first=lambda names: silent.wait(20))
    clock = time.monotonic()
    errors: list[BaseException] = []

    def describe(films: AskingPool, film: int) -> None:
        try:
            describe_film(films, film)
        except BaseException as error:
            errors.append(error)
            raise

    def interrupted_films() -> None:
        with AskingPool({"stage2": engine}) as films:
            films.map(lambda film: describe(films, film), range(9), workers=5)
            time.sleep(0.1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_films()
    assert time.monotonic() - clock < 10
    assert {type(error).__name__ for error in errors} == {"RunStopped"}
    silent.set()


def test_no_more_than_the_limit_work_at_once_those_of_earlier_items_first() -> None:
    begun: list[int] = []
    most: list[int] = []
    inside: set[int] = set()

    def prepare(films: AskingPool, film: int) -> str:
        with preparing:
            inside.add(film)
            begun.append(film)
            most.append(len(inside))
            time.sleep(0.01)
            inside.discard(film)
        return films.ask("stage2", Request(str(film), ())).text

    engine = Listed(4)
    with AskingPool({"stage2": engine}) as films:
        preparing = films.limit(2)
        results = list(films.map(lambda film: prepare(films, film), range(20), workers=8))
    assert results == [str(film) for film in range(20)]
    assert max(most) == 2
    assert engine.calls == [[str(film) for film in range(first, first + 4)] for first in range(0, 20, 4)]
    assert all(abs(place - film) < 8 for place, film in enumerate(begun))


def test_films_side_by_side_hold_no_more_clips_than_one() -> None:
    read: list[weakref.ref[Any]] = []
    alive: list[int] = []
    counting = threading.Lock()

    def read_clip() -> Clip:
        with counting:
            alive.append(sum(images() is not None for images in read))
            images = np.zeros((3, 2, 2, 3), np.uint8)
            read.append(weakref.ref(images))
        return Clip(images, np.arange(3.0), np.zeros(3, np.int64))

    def describe(films: AskingPool, film: int) -> list[str]:
        with films.nested() as pool:
            replies = pool.map(
                lambda name: pool.ask("stage1", Request(name, ()), ClipOnDemand(name, read_clip)).text,
                part_names(film, 9),
                workers=9,
            )
            return list(replies)

    engine = Listed(4)
    with AskingPool({"stage1": engine}) as films:
        results = list(films.map(lambda film: describe(films, film), range(6), workers=6))
    assert results == [["3"] * 9] * 6
    assert max(alive) < 2 * 4, "those of the call under way and of the next"
    assert [len(call) for call in engine.calls] == [4] * 13 + [2]


def test_clips_of_several_films_are_read_beside_each_other() -> None:
    both = threading.Barrier(2, timeout=20)

    def read_clip() -> Clip:
        both.wait()
        return Clip(np.zeros((3, 2, 2, 3), np.uint8), np.arange(3.0), np.zeros(3, np.int64))

    def describe(films: AskingPool, film: int) -> str:
        with films.nested() as pool:
            return pool.ask("stage1", Request(str(film), ()), ClipOnDemand(str(film), read_clip)).text

    engine = Listed(2)
    with AskingPool({"stage1": engine}) as films:
        assert list(films.map(lambda film: describe(films, film), range(2), workers=2)) == ["3", "3"]
    assert engine.calls == [["0", "1"]]
