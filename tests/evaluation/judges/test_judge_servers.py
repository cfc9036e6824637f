"""Judges behind real engines: a server that misbehaves, a local model that knows nothing, a small real one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.core import EngineError
from shotad.evaluation import Corpus, Result
from shotad.evaluation.metric import make_metric, score
from tests.bad_server import Act, BadServer, Seen, answer, html, status
from tests.chat_server import shared_server
from tests.evaluation.judges.judging import bench_of, corpus_of, item

PAIRS = corpus_of(
    *(
        item(
            str(n),
            f"He opens door {n}.",
            f"Door {n} is opened.",
            start=float(n),
            actions=(f"He opens door {n}.",),
        )
        for n in range(6)
    )
)


def judged(server: BadServer, name: str = "llm-ad-eval", corpus: Corpus = PAIRS, **openai: object) -> Result:
    rest = [f"openai.{key}={value}" for key, value in {"retries": 1, "longest_pause": 0.01, **openai}.items()]
    bench = bench_of(*rest)
    return score(make_metric(f"{name}@openai:tiny@{server.url}", bench), corpus, bench)


def by_door(*acts: Act):  # type: ignore[no-untyped-def]
    """The act of each door's number, whatever the order."""

    def script(seen: Seen) -> Act:
        first = seen.body["messages"][1]["content"]
        return acts[next(n for n in range(len(acts)) if f"door {n}." in first)]

    return script


def test_a_server_that_judges() -> None:
    with BadServer(by_door(*(answer(json.dumps({"score": 1 + n % 5})) for n in range(6)))) as server:
        result = judged(server)
    assert [row.value for row in result.rows] == [1, 2, 3, 4, 5, 1]
    assert (result.failed, len(server.requests)) == (0, 6)
    body = server.requests[0].body
    assert (body["model"], body["temperature"]) == ("tiny", 0)
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["score"]
    assert result.identity["judge"]["model"] == "tiny"


def test_a_server_that_misbehaves_fails_item_by_item() -> None:
    good = answer(json.dumps({"score": 4}))
    acts = (
        answer("I think they are alike: 4/5."),
        answer(None, message={"refusal": "I can't help with that."}),
        status(500),
        html(),
        answer('{"score": 4', finish="length"),
        good,
    )
    with BadServer(by_door(*acts)) as server:
        result = judged(server)
    assert [row.value for row in result.rows] == [0, 0, 0, 0, 0, 4]
    assert sum(row.failure.startswith("judge:") for row in result.rows) == 5
    assert result.value == 4 / 6
    reasons = [row.failure for row in result.rows]
    assert "does not begin with the JSON object" in reasons[0]
    assert "refusal" in reasons[1]
    assert "500" in reasons[2]
    assert "cut off" in reasons[4]


def test_a_key_that_is_refused_stops_the_run() -> None:
    with BadServer([status(401, "wrong key")]) as server, pytest.raises(EngineError):
        judged(server)


def test_no_server_at_all_is_an_error_and_no_score(tmp_path: Path) -> None:
    with BadServer() as server:
        url = server.url
    bench = bench_of("openai.retries=0", "openai.timeout=2")
    with pytest.raises(EngineError):
        score(make_metric(f"llm-ad-eval@openai:tiny@{url}", bench), PAIRS, bench)


@pytest.mark.long
@pytest.mark.slow
def test_a_real_chat_server_with_a_small_real_model() -> None:
    """SmolLM2-135M is too small to judge; what it says is read or counted as failed, and nothing else."""
    server = shared_server()
    bench = bench_of(*server.settings, "stage2.sampling.max_tokens=48")
    result = score(make_metric(f"llm-ad-eval@openai:{server.model}", bench), PAIRS, bench, [0, 1])
    assert all(row.value in (0, 1, 2, 3, 4, 5) for row in result.rows)
    assert all(bool(row.failure) == (row.value == 0) for row in result.rows)
