"""What a real small model answers, SmolLM2-135M: in this process, from its GGUF, and behind a real server.

The model is far too small to describe a film: what is checked is that its answers, good or bad, arrive, are
counted, kept and accounted for. Unpacking the model and starting the server take most of the time: so all are in this file.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import gguf
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from shotad.core import (
    Config,
    Message,
    NoProgress,
    Request,
)
from shotad.core.config.sight import ComputeSettings
from shotad.core.config.words import (
    LocalSettings,
    SamplingSettings,
    Stage2Settings,
)
from shotad.engines import make_engine
from shotad.engines.local_model import resolve
from tests.chat_server import ChatServer, saved_model
from tests.cli.program import Shotad
from tests.language_models import make_llama
from tests.shotad_process import SECRET, Run, good, lost, tokens

pytestmark = pytest.mark.slow

CPU = ComputeSettings(device="cpu", precision="float32")
LOCAL = LocalSettings(batch=4)
ASKED = (
    Message("system", "You write audio description for films."),
    Message("user", "Description: A woman in a red coat crosses the square.\nWrite it as one sentence."),
)


@pytest.fixture(scope="module", autouse=True)
def _few_threads() -> Iterator[None]:
    """And what takes seconds each time is done once: transformers walks through the file for config, words and
    weights, and writes the table of names anew for every layer."""
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        for slow in ("GGUFReader", "get_tensor_name_map"):
            patch.setattr(gguf, slow, cache(getattr(gguf, slow)))
        yield


def engine_of(model: str) -> Any:
    sampling = SamplingSettings(max_tokens=40)
    config = Config(stage2=Stage2Settings(model=model, sampling=sampling), compute=CPU, local=LOCAL)
    return make_engine("llama3", config, "stage2")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The small model, asked beside another that is loaded before it."""
    engine_of(str(make_llama(tmp_path_factory.mktemp("tiny") / "tiny"))).generate([request(1)])
    small = engine_of("smollm2")
    small.get_ready(NoProgress())
    return small


def request(
    seed: int, temperature: float = 0.6, max_tokens: int = 12, messages: tuple[Message, ...] = ASKED
) -> Request:
    sampling = SamplingSettings(temperature=temperature, top_p=0.9, max_tokens=max_tokens)
    return Request(f"s{seed}", messages, sampling=sampling, seed=seed)


def test_who_it_is(engine: Any) -> None:
    assert engine.identity.model == "smollm2"
    assert engine.identity.revision == "sha256:b179c9523d0e6a0f float32"
    (reply,) = engine.generate([request(1, messages=(Message("user", "rain " * 9000),))])
    assert "the 8192 that smollm2 takes" in reply.error


def test_a_batch_says_what_each_says_alone(engine: Any) -> None:
    short = (Message("user", "Name a colour."),)
    requests = [request(1), request(2, messages=short), request(3, 0.0)]
    together = engine.generate(requests)
    assert [reply.text for reply in together] == [engine.generate([request])[0].text for request in requests]
    assert together[0].batch == ("s1", "s2", "s3")
    assert "red coat" in together[0].text, "it reads what it is asked"


SHORT = ("stage1.attempts=1", "stage2.attempts=1", "stage2.sampling.max_tokens=32", "prompt.example_count=0")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChatServer]:
    """The server, for all tests."""
    place = resolve("smollm2")
    model: Any = AutoModelForCausalLM.from_pretrained(place.folder, gguf_file=place.gguf, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(place.folder, gguf_file=place.gguf)
    folder = saved_model(model, tokenizer, tmp_path_factory.mktemp("served") / "smollm2")
    with ChatServer(folder) as started:
        yield started


@pytest.mark.long
def test_both_stages_through_the_server(
    server: ChatServer, shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    prices = ("openai.price_in=2", "openai.price_out=8")
    more = ("stage1.sampling.max_tokens=24", "stage2.attempts=2", *prices)
    run = Run(tmp_path / "w", ("engine=openai", *SHORT, *more, *server.settings), slots=2)
    before = server.answered
    report = run.report(shotad)
    seen, written = run.records("stage1"), run.records("stage2")
    assert len(seen) == len(report["lines"]) == 2
    assert set(written) == set(good(seen))
    assert lost(report) == []
    for record in (*seen.values(), *written.values()):
        assert record["maker"] == {
            "engine": "openai", "model": server.model, "revision": record["maker"]["revision"],
        }  # fmt: skip
        for attempt in record["tries"]:
            assert attempt["usage"]["tokens_in"] > 20
            # Twice 32 where the other form of a schema was tried.
            assert 0 < attempt["usage"]["tokens_out"] <= 64
            assert attempt["finish"] in ("stop", "length", "refused", "error")
            assert attempt["raw"].strip() or attempt["error"]
    used = report["used"]
    for stage, records in (("stage1", seen), ("stage2", written)):
        asked = used["stages"][stage]
        assert (asked["tokens_in"], asked["tokens_out"]) == tokens(records)
        # This server ignores schemas, which Stage II sends: their other form is tried once, for nothing.
        tries_of_schema = 1 if stage == "stage2" else 0
        assert asked["calls"] == sum(len(record["tries"]) for record in records.values()) + tries_of_schema
    assert used["calls"] == server.answered - before > 2
    assert used["cost"] == pytest.approx((2 * used["tokens_in"] + 8 * used["tokens_out"]) / 1e6)
    # The key of the environment was used, and stands nowhere.
    assert run.holds(SECRET) == []
    assert run.holds(server.model), "a search that finds nothing at all proves nothing"


@pytest.mark.long
def test_the_estimate_of_prompts_is_near_what_the_server_counts(
    server: ChatServer, shotad: Shotad, tmp_path: Path
) -> None:
    """Stage I is done, so that nothing is assumed; the tokenizer is that of a real model."""
    Run(tmp_path / "w", ("engine=fake", *SHORT), slots=2).report(shotad)
    few = ("stage2.sampling.max_tokens=4", "openai.price_in=1", "openai.price_out=1")
    writes = ("stage1.engine=fake", "stage2.engine=openai", *SHORT, *few, *server.settings)
    asks, before = Run(tmp_path / "w", writes, slots=2), server.received
    (foreseen,) = asks.report(shotad, "--estimate")["stages"]
    assert server.received == before
    assert foreseen["prompts_assumed"] == 0
    used = asks.report(shotad)["used"]["stages"]["stage2"]
    # No estimate knows that this server ignores schemas, and that the first prompt will be sent twice.
    assert (foreseen["likely"]["calls"], used["calls"]) == (2, 3)
    assert foreseen["likely"]["tokens_in"] == pytest.approx(used["tokens_in"] * 2 / 3, rel=0.12)
    assert used["tokens_in"] * 2 / 3 <= foreseen["most"]["tokens_in"]
    assert used["tokens_out"] * 2 / 3 <= foreseen["most"]["tokens_out"]
    assert 0 < foreseen["cost_likely"] < foreseen["cost_most"]
