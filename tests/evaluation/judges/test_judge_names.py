"""How judges are named, and the metrics by them."""

from __future__ import annotations

import pytest

from shotad.core import EngineError, EvaluationError, JudgeSettings, SamplingSettings, load_config
from shotad.evaluation.metric import ENGINE_METRICS, make_metric
from shotad.evaluation.metrics.judge import JudgeName, judge_names, judge_of
from shotad.evaluation.metrics.judged import JudgedMetric
from tests.evaluation.judges.judging import WORDS, bench_of


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


@pytest.mark.parametrize("text", ["", ":model"])
def test_a_name_without_an_engine_is_refused(text: str) -> None:
    with pytest.raises(EvaluationError, match="names no engine"):
        JudgeName.of(text)


def test_no_password_gets_into_a_name() -> None:
    with pytest.raises(EvaluationError, match="reports") as stop:
        JudgeName.of("openai:m@https://me:geheim@a.b/v1")
    assert "geheim" not in str(stop.value)


def test_the_judge_is_not_the_writer() -> None:
    config = load_config(None, ["stage2.model=writer", "stage2.base_url=http://a/v1", "openai.model=other"])
    made = JudgeName.of("openai:judge").config(config, SamplingSettings(max_tokens=9))
    assert (made.stage2.model, made.stage2.base_url, made.stage2.sampling.max_tokens) == ("judge", None, 9)
    assert made.openai.model == "other"
    assert config.stage2.model == "writer"


def test_a_metric_for_each_judge() -> None:
    settings = JudgeSettings(engines=("a", "b", "a"))
    assert judge_names("llm-action", settings) == ["llm-action@a", "llm-action@b"]
    assert judge_names("llm-action@c", settings) == ["llm-action@c"]
    assert judge_names("llm-action", JudgeSettings()) == []


def test_which_judge_is_meant() -> None:
    assert judge_of("llm-action@openai:m@http://a/v1", ["b"]) == "openai:m@http://a/v1"
    assert judge_of("llm-action", ["b", "b"]) == "b"
    for engines in ((), ("a", "b")):
        with pytest.raises(EvaluationError, match="not said which"):
            judge_of("llm-action", engines)


@pytest.mark.parametrize("name", ENGINE_METRICS)
def test_metrics_are_made_by_name(name: str) -> None:
    metric = make_metric(f"{name}@{WORDS}", bench_of())
    assert isinstance(metric, JudgedMetric)
    assert metric.name == f"{name}@{WORDS}"
    assert WORDS in metric.title
    assert not metric.comparable
    alone = make_metric(name, bench_of(f"measures.judge.engines=[{WORDS}]"))
    assert alone.identity == metric.identity


def test_only_metrics_that_ask_an_engine_have_a_judge() -> None:
    with pytest.raises(EvaluationError, match="cider asks no engine"):
        make_metric("cider@openai:m", bench_of())
    with pytest.raises(EvaluationError, match="Did you mean llm-action"):
        make_metric("llm-acton@openai:m", bench_of())


@pytest.mark.parametrize("engine", ["narrator", "observer"])
def test_what_reads_no_questions_is_no_judge(engine: str) -> None:
    with pytest.raises(EvaluationError, match="cannot judge"):
        make_metric(f"llm-ad-eval@{engine}", bench_of())


def test_an_unknown_engine_is_told_when_the_metric_is_made() -> None:
    with pytest.raises(EngineError, match="opanai"):
        make_metric("llm-ad-eval@opanai:m", bench_of())


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
