"""Questions to a judge: asked again, failed, kept, in order, in threads."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from shotad.core import Abilities, EngineError, Reply, Request
from shotad.evaluation import Store
from shotad.evaluation.metrics import judge
from shotad.evaluation.metrics.judge import Judge, Question
from shotad.evaluation.metrics.judged import action_question, ad_question
from tests.evaluation.judges.judging import HERE, ScriptedEngine, bench_of, said_by

GOOD = json.dumps({"score": 4})
REFUSAL = "I'm sorry, but I can't assist with that."


def questions(count: int = 1) -> list[Question[int]]:
    return [ad_question(f"He opens door {n}.", f"Door {n} opens.", 1) for n in range(count)]


@pytest.fixture
def judge_who(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Makes a judge of a class of engines."""

    def made(engine: type[ScriptedEngine], *assignments: str, store: Store | None = None) -> Judge:
        monkeypatch.setattr(sys.modules[HERE], "Anybody", engine, raising=False)
        return Judge(f"{HERE}:Anybody", bench_of(*assignments, store=store))

    return made


def test_an_answer_that_can_be_read_at_once(judge_who) -> None:  # type: ignore[no-untyped-def]
    engine = said_by(GOOD)
    (answer,) = judge_who(engine).answers(questions())
    assert (answer.value, answer.failure) == (4, "")
    (request,) = engine.asked
    assert request.sampling.temperature == 0
    assert request.schema is not None
    assert request.schema["required"] == ["score"]


def test_asked_again_with_what_was_wrong(judge_who) -> None:  # type: ignore[no-untyped-def]
    engine = said_by("Score: 4/5", GOOD)
    (answer,) = judge_who(engine).answers(questions())
    assert answer.value == 4
    first, second = engine.asked
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[-2].text == "Score: 4/5"
    assert "does not begin with the JSON object" in second.messages[-1].text
    assert '{"score": <1 to 5>}' in second.messages[-1].text


def test_attempts_are_counted_and_then_it_failed(judge_who, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(judge, "ATTEMPTS", 3)
    engine = said_by('{"score": 9}')
    (answer,) = judge_who(engine).answers(questions())
    assert answer.value is None
    assert "whole number from 1 to 5, and is 9" in answer.failure
    assert len(engine.asked) == 3
    assert [len(request.messages) for request in engine.asked] == [2, 4, 4], "questions do not grow"


def test_a_refusal_is_asked_anew_and_not_argued_with(judge_who, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(judge, "ATTEMPTS", 3)
    engine = said_by(REFUSAL, Reply("", "refused"), GOOD)
    (answer,) = judge_who(engine).answers(questions())
    assert answer.value == 4
    for request in engine.asked[1:]:
        assert [message.role for message in request.messages] == ["system", "user"]
        assert "published film" in request.messages[-1].text


def test_an_engines_own_error_is_not_asked_about_again(judge_who) -> None:  # type: ignore[no-untyped-def]
    engine = said_by(Reply("", "error", error="the prompt is too long"))
    (answer,) = judge_who(engine).answers(questions())
    assert (answer.value, answer.failure) == (None, "the prompt is too long")
    assert len(engine.asked) == 1


def test_an_answer_that_was_cut_off_is_told_so(judge_who) -> None:  # type: ignore[no-untyped-def]
    engine = said_by(Reply('{"reason": "It goes on and', "length"), '{"reason": "Same.", "score": 3}')
    (answer,) = judge_who(engine).answers([action_question("He sits.", "He sits.")])
    assert answer.value == (3, "Same.")
    assert "too long" in engine.asked[1].messages[-1].text


class Slow(ScriptedEngine):
    """Answers the later questions first, from several threads."""

    asked: ClassVar[list[Request]] = []
    abilities = Abilities(in_flight=4)
    both: ClassVar[threading.Barrier] = threading.Barrier(2, timeout=20)
    first_done: ClassVar[threading.Event] = threading.Event()

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        (request,) = requests
        text = request.messages[1].text
        if "door 0." in text or "door 1." in text:
            self.both.wait()
        if "door 0." in text:
            assert self.first_done.wait(20)
        if "door 1." in text:
            self.first_done.set()
        return [Reply(json.dumps({"score": 1 + int(text.partition("door ")[2][0]) % 5}))]


def test_several_are_in_flight_and_answers_come_in_order(judge_who) -> None:  # type: ignore[no-untyped-def]
    answers = judge_who(Slow).answers(questions(8))
    assert [answer.value for answer in answers] == [1, 2, 3, 4, 5, 1, 2, 3]


def test_equal_questions_are_asked_once_and_batches_are_full(judge_who) -> None:  # type: ignore[no-untyped-def]
    sizes = []

    class Batched(said_by(GOOD)):  # type: ignore[misc]
        asked: ClassVar[list[Request]] = []
        abilities = Abilities(batch=4)

        def generate(self, requests: Sequence[Request]) -> list[Reply]:
            sizes.append(len(requests))
            return [Reply(GOOD) for _ in requests]

    found = list(judge_who(Batched).answers(questions(8) * 2))
    assert len(found) == 16
    assert sizes == [4, 4]


def test_seeds_stay_with_the_texts(judge_who) -> None:  # type: ignore[no-untyped-def]
    one, other, third = said_by(GOOD), said_by(GOOD), said_by(GOOD)
    list(judge_who(one).answers(questions(3)))
    list(judge_who(other).answers(questions(3)[::-1]))
    list(judge_who(third, "seed=7").answers(questions(3)))
    seeds = [request.seed for request in one.asked]
    assert seeds == [request.seed for request in other.asked][::-1]
    assert len(set(seeds)) == 3
    assert not set(seeds) & {request.seed for request in third.asked}


def test_answers_are_kept_and_failures_are_not(judge_who, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "cache.sqlite"
    with Store(path) as store:
        engine = said_by(GOOD, "?", "?", GOOD)
        answers = list(judge_who(engine, store=store).answers(questions(3)))
        assert [answer.value for answer in answers] == [4, None, 4]
    with Store(path) as store:
        engine = said_by(json.dumps({"score": 5}))
        answers = list(judge_who(engine, store=store).answers(questions(3)))
        assert [answer.value for answer in answers] == [4, 5, 4]
        assert len(engine.asked) == 1
    with Store(path) as store:
        engine = said_by(json.dumps({"score": 2}))
        longer = judge_who(engine, "stage2.sampling.max_tokens=300", store=store)
        assert [answer.value for answer in longer.answers(questions(3))] == [2, 2, 2]


def test_what_was_answered_before_an_engine_stopped_is_kept(judge_who, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    def gone(request: Request) -> str:
        raise EngineError("The server is gone.")

    with Store(tmp_path / "cache.sqlite") as store:
        stopped = judge_who(said_by(GOOD, GOOD, gone), store=store)
        coming = stopped.answers(questions(5))
        assert [next(coming).value, next(coming).value] == [4, 4]
        with pytest.raises(EngineError, match="gone"):
            next(coming)
        engine = said_by(GOOD)
        assert len(list(judge_who(engine, store=store).answers(questions(5)))) == 5
        assert len(engine.asked) == 3


def test_what_a_models_code_raises_is_a_failed_answer(judge_who) -> None:  # type: ignore[no-untyped-def]
    def broken(request: Request) -> str:
        raise RuntimeError("no such layer")

    (answer,) = judge_who(said_by(broken)).answers(questions())
    assert answer.failure == "RuntimeError: no such layer"


def test_the_host_that_is_sent_texts_is_told_once(judge_who) -> None:  # type: ignore[no-untyped-def]
    class Far(said_by(GOOD)):  # type: ignore[misc]
        asked: ClassVar[list[Request]] = []
        abilities = Abilities(sends_to="far.example")

    notes: list[str] = []
    judge = judge_who(Far)
    judge._context.progress.note = notes.append
    list(judge.answers(questions(2)))
    list(judge.answers(questions(3)))
    assert notes == ["Texts leave this machine: they are sent to far.example."]
    assert judge.sends_to == "far.example"
