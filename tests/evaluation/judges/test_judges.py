"""Judges: how they are named, what is asked, what of an answer is read, and what becomes of failures."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.core import Abilities, EngineError, EvaluationError, Reply, Request
from shotad.evaluation import Store, make_metric, score
from shotad.evaluation.metrics import judge
from shotad.evaluation.metrics.judge import (
    Judge,
    JudgeName,
    Question,
    Unreadable,
    judge_of,
    record_in,
    sentence,
    sentences,
)
from shotad.evaluation.metrics.judged import ad_question
from tests.bad_server import BadServer
from tests.evaluation.judges.judging import HERE, ScriptedEngine, bench_of, corpus_of, item, said_by


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("fake", JudgeName("fake")),
        ("openai:gpt-4o-2024-08-06", JudgeName("openai", "gpt-4o-2024-08-06")),
        ("openai:llama3:8b", JudgeName("openai", "llama3:8b")),
        ("openai:m@http://localhost:8000/v1", JudgeName("openai", "m", base_url="http://localhost:8000/v1")),
        ("openai:@https://a.b/v1", JudgeName("openai", base_url="https://a.b/v1")),
        ("llama3:/models/a@b c/x", JudgeName("llama3", "/models/a@b c/x")),
        ("llama3:org/name@main", JudgeName("llama3", "org/name", "main")),
        (" llama3 ", JudgeName("llama3")),
        ("a.b:Judge", JudgeName("a.b:Judge")),
        ("a.b:Judge:big", JudgeName("a.b:Judge", "big")),
    ],
)
def test_names_taken_apart(text: str, name: JudgeName) -> None:
    assert JudgeName.of(text) == name


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("llm-ad-eval@:model", "names no engine"),
        ("llm-ad-eval@openai:m@https://me:geheim@a.b/v1", "reports"),
        ("cider@openai:m", "cider asks no engine"),
        ("llm-acton@openai:m", "Did you mean llm-action"),
        ("llm-ad-eval@narrator", "cannot judge"),
        ("llm-ad-eval@observer", "cannot judge"),
    ],
)
def test_what_names_no_judge_is_refused(name: str, why: str) -> None:
    with pytest.raises(EvaluationError, match=why) as stop:
        make_metric(name, bench_of())
    assert "geheim" not in str(stop.value)
    with pytest.raises(EvaluationError, match="names no engine"):
        JudgeName.of("")


@pytest.mark.parametrize(
    ("metric", "judge", "may"),
    [
        ("llm-ad-eval", "meta-llama/Meta-Llama-3-8B-Instruct", True),
        ("llm-ad-eval", "llama3:8b", True),
        ("llm-ad-eval", "meta-llama/Llama-2-7b-chat-hf", True),
        ("llm-ad-eval", "meta-llama/Llama-3.1-8B-Instruct", False),
        ("llm-ad-eval", "gpt-4o", False),
        ("llm-action", "gpt-4o-2024-08-06", True),
        ("llm-action", "meta-llama/Llama-3.1-70B-Instruct", True),
        ("llm-action", "gpt-4o-mini", False),
        ("story-recall", "gpt-4o", False),
    ],
)
def test_whose_numbers_may_stand_beside_the_papers(metric: str, judge: str, may: bool) -> None:
    made = make_metric(f"{metric}@openai:{judge}", bench_of("openai.base_url=http://localhost:1/v1"))
    assert made.comparable is may


@pytest.mark.parametrize(
    "answer",
    [
        '{"score": 3}', '  {"score": 3}\n', '{\n  "score": 3\n}', '```json\n{"score": 3}\n```',
        '```\n{"score": 3}```', '<think>Is it {"score": 1}? No.</think>\n{"score": 3}',
    ],
)  # fmt: skip
def test_what_is_read(answer: str) -> None:
    assert record_in(answer, ["score"]) == {"score": 3}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "empty"),
        ("3", "does not begin"),
        ('Sure! {"score": 3}', "does not begin"),
        ('{"score": 3} because both open a door', "after the JSON object"),
        ('{"score": 3}{"score": 4}', "after the JSON object"),
        ('```json\n{"score": 3}\n```\nI hope this helps.', "does not begin"),
        ('{"score": 3', "not valid JSON"),
        ('{"score": <1 to 5>}', "not valid JSON"),
        ('{"score": NaN}', "NaN is no number"),
        ('{"score": 3, "score": 4}', '"score" stands in the answer twice'),
        ('{"Score": 3}', 'has no "score"'),
        ('{"score": 3, "1": "no", "2": "yes"}', 'has "1" and "2", which was not asked for'),
        ("<think>I go on thinking", "empty"),
        ('{"a":' * 5000, "not valid JSON"),
        ('{"score": ' + "9" * 5000 + "}", "not valid JSON"),
    ],
)
def test_what_is_refused(answer: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        record_in(answer, ["score"])


def test_sentences() -> None:
    assert sentence("  Both \n open a door. ", "reason") == "Both open a door."
    assert sentences(["He sits.", " She stands. "], "events", 2) == ("He sits.", "She stands.")
    twice = ["He sits.", "She stands.", "he  sits."]
    assert sentences(twice, "events", 2) == ("He sits.", "She stands.")
    for value in ("", "…", None, 3, ["He sits."]):
        with pytest.raises(Unreadable, match="reason must be a sentence"):
            sentence(value, "reason")
    for value, why in (
        ([], "must be a list"),
        ("He sits.", "must be a list"),
        (["He sits.", 3], "each of events"),
        (["…", "…"], "each of events"),
        (["A.", "B.", "C."], "2 entries at most, and has 3"),
    ):
        with pytest.raises(Unreadable, match=why):
            sentences(value, "events", 2)


@given(st.text() | st.text(alphabet='{}[]":,0123456789 \nscoretrue`\\'))
def test_whatever_is_said_is_read_or_refused(answer: str) -> None:
    with contextlib.suppress(Unreadable):
        assert list(record_in(answer, ["score"])) == ["score"]


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


def test_the_host_that_is_sent_texts_is_told_once(judge_who) -> None:  # type: ignore[no-untyped-def]
    class Far(said_by(GOOD)):  # type: ignore[misc]
        abilities = Abilities(sends_to="far.example")

    notes: list[str] = []
    judge = judge_who(Far)
    judge._context.progress.note = notes.append
    list(judge.answers(questions(2)))
    list(judge.answers(questions(3)))
    assert notes == ["Texts leave this machine: they are sent to far.example."]
    assert judge.sends_to == "far.example"


def test_which_judge_is_meant_and_no_server_is_an_error() -> None:
    assert judge_of("llm-action@openai:m@http://a/v1", ["b"]) == "openai:m@http://a/v1"
    assert judge_of("llm-action", ["b", "b"]) == "b"
    for engines in ((), ("a", "b")):
        with pytest.raises(EvaluationError, match="not said which"):
            judge_of("llm-action", engines)
    with BadServer() as server:
        url = server.url
    bench, pair = (
        bench_of("openai.retries=0", "openai.timeout=2"), corpus_of(item("0", "He opens it.", "It opens.")),
    )  # fmt: skip
    with pytest.raises(EngineError):
        score(make_metric(f"llm-ad-eval@openai:tiny@{url}", bench), pair, bench)
