"""``shotad describe`` against a real server with a real small model, from the command line to the track.

The model is far too small to describe a film: what is checked is that its answers, good or bad, arrive, are
counted, kept and accounted for.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chat_server import ChatServer, shared_server
from tests.shotad_process import SECRET, Run, answers, good, lost, tokens

pytestmark = pytest.mark.slow

SHORT = ("stage1.attempts=1", "stage2.attempts=1", "stage2.sampling.max_tokens=32", "prompt.example_count=0")
WRITES = ("stage1.engine=fake", "stage2.engine=openai")


@pytest.fixture
def server() -> ChatServer:
    return shared_server()


def test_both_stages_through_the_server(server: ChatServer, tmp_path: Path) -> None:
    prices = ("openai.price_in=2", "openai.price_out=8")
    more = ("stage1.sampling.max_tokens=24", "stage2.attempts=2", *prices)
    run = Run(tmp_path / "w", ("engine=openai", *SHORT, *more, *server.settings), slots=2)
    before = server.answered
    report = run.report()
    seen, written = run.records("stage1"), run.records("stage2")
    assert len(seen) == len(report["lines"]) == 2
    assert set(written) == set(good(seen))
    assert lost(report) == []
    for record in (*seen.values(), *written.values()):
        assert record["maker"] == {
            "engine": "openai",
            "model": server.model,
            "revision": record["maker"]["revision"],
        }
        for one in record["tries"]:
            assert one["usage"]["tokens_in"] > 20
            assert 0 < one["usage"]["tokens_out"] <= 32
            assert one["finish"] in ("stop", "length", "refused", "error")
            assert one["raw"].strip() or one["error"]
    used = report["used"]
    for stage, records in (("stage1", seen), ("stage2", written)):
        asked = used["stages"][stage]
        assert (asked["tokens_in"], asked["tokens_out"]) == tokens(records)
        assert asked["calls"] == answers(records)
    assert used["calls"] == server.answered - before > 2
    assert used["cost"] == pytest.approx((2 * used["tokens_in"] + 8 * used["tokens_out"]) / 1e6)
    # The key of the environment was used, and stands nowhere.
    assert run.holds(SECRET) == []
    assert run.holds(server.model), "a search that finds nothing at all proves nothing"


def test_the_estimate_sends_nothing_and_comes_near_and_only_bad_answers_are_asked_again(
    server: ChatServer, tmp_path: Path
) -> None:
    prices = ("openai.price_in=1", "openai.price_out=1")
    run = Run(tmp_path / "w", (*WRITES, *SHORT, *prices, *server.settings), slots=2)
    before = server.received
    (foreseen,) = (s for s in run.report("--estimate")["stages"] if s["stage"] == "stage2")
    assert server.received == before
    assert run.records("stage1") == run.records("stage2") == {}
    used = run.report()["used"]["stages"]["stage2"]
    assert foreseen["likely"]["calls"] == used["calls"] == 2
    assert foreseen["likely"]["tokens_in"] == pytest.approx(used["tokens_in"], rel=0.35)
    assert used["tokens_in"] <= foreseen["most"]["tokens_in"]
    assert used["tokens_out"] <= foreseen["most"]["tokens_out"]
    assert 0 < foreseen["cost_likely"] < foreseen["cost_most"]

    first, before = run.records("stage2"), server.answered
    report = run.report()
    second = run.records("stage2")
    again = {slot: record for slot, record in second.items() if slot not in good(first)}
    assert {slot: second[slot] for slot in good(first)} == good(first)
    assert server.answered - before == answers(again) == report["used"]["stages"]["stage2"]["calls"]
    assert lost(report) == []


@pytest.mark.long
def test_the_estimate_of_known_prompts_is_near_what_the_server_counts(
    server: ChatServer, tmp_path: Path
) -> None:
    """Stage I is done, so that nothing is assumed; the tokenizer is that of a real model."""
    run = Run(tmp_path / "w", ("engine=fake", *SHORT), slots=2)
    run.report()
    asks = Run(tmp_path / "w", (*WRITES, *SHORT, "stage2.sampling.max_tokens=4", *server.settings), slots=2)
    (foreseen,) = asks.report("--estimate")["stages"]
    assert foreseen["prompts_assumed"] == 0
    asks.report()
    tokens_in, _ = tokens(asks.records("stage2"))
    assert foreseen["likely"]["tokens_in"] == pytest.approx(tokens_in, rel=0.12)
    assert tokens_in <= foreseen["most"]["tokens_in"]


@pytest.mark.long
def test_independent_candidates_differ_and_come_again_with_the_same_seeds(
    server: ChatServer, tmp_path: Path
) -> None:
    # One call at a time: this server draws from one generator for all.
    drawn = ("stage2.candidates=2", "stage2.draw=independent", "openai.in_flight=1")
    raws = []
    for name in ("a", "b"):
        run = Run(
            tmp_path / name,
            (*WRITES, *SHORT, *drawn, *server.settings, "stage2.sampling.max_tokens=12"),
            slots=1,
        )
        run.report()
        (record,) = run.records("stage2").values()
        raws.append([one["raw"] for one in record["tries"]])
    assert raws[0] == raws[1]
    assert raws[0][0] != raws[0][1]


def test_a_model_that_the_server_does_not_have_is_a_plain_error(server: ChatServer, tmp_path: Path) -> None:
    run = Run(tmp_path / "w", (*WRITES, *SHORT, *server.settings, "openai.model=no-such-model"), slots=1)
    said = run.said()
    assert "no-such-model" in said.err + said.out
    assert "Traceback" not in said.err
    assert SECRET not in said.out + said.err


@pytest.mark.long
def test_the_same_model_on_this_machine(tmp_path: Path) -> None:
    settings = ("stage1.engine=fake", "stage2.engine=llama3", "stage2.model=smollm2", *SHORT, "local.batch=2")
    run = Run(tmp_path / "w", settings, slots=2)
    report = run.report()
    records = run.records("stage2")
    assert len(records) == 2
    assert lost(report) == []
    assert all(record["maker"]["engine"] == "llama3" for record in records.values())
    tokens_in, tokens_out = tokens(records)
    used = report["used"]["stages"]["stage2"]
    assert (used["calls"], used["tokens_in"], used["tokens_out"]) == (2, tokens_in, tokens_out)
    assert tokens_in > 200
    assert 0 < tokens_out <= 2 * 32
