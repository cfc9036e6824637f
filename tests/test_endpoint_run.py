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


def test_the_estimate_of_known_prompts_sends_nothing_and_is_near_what_the_server_counts(
    server: ChatServer, tmp_path: Path
) -> None:
    """Stage I is done, so that nothing is assumed; the tokenizer is that of a real model."""
    run = Run(tmp_path / "w", ("engine=fake", *SHORT), slots=2)
    run.report()
    few = ("stage2.sampling.max_tokens=4", "openai.price_in=1", "openai.price_out=1")
    asks, before = Run(tmp_path / "w", (*WRITES, *SHORT, *few, *server.settings), slots=2), server.received
    (foreseen,) = asks.report("--estimate")["stages"]
    assert server.received == before
    assert foreseen["prompts_assumed"] == 0
    used = asks.report()["used"]["stages"]["stage2"]
    assert foreseen["likely"]["calls"] == used["calls"] == 2
    assert foreseen["likely"]["tokens_in"] == pytest.approx(used["tokens_in"], rel=0.12)
    assert used["tokens_in"] <= foreseen["most"]["tokens_in"]
    assert used["tokens_out"] <= foreseen["most"]["tokens_out"]
    assert 0 < foreseen["cost_likely"] < foreseen["cost_most"]
