"""The engine llama3 with real weights: SmolLM2-135M-Instruct, a GGUF from the manifest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from shotad.core import (
    ComputeSettings,
    Config,
    LocalSettings,
    Message,
    NoProgress,
    Request,
    SamplingSettings,
    Stage2Settings,
)
from shotad.engines import local_loading, make_engine
from shotad.engines.local_loading import config_of, way_of, weight_bytes
from shotad.engines.local_model import resolve

pytestmark = pytest.mark.slow

CPU = ComputeSettings(device="cpu", precision="float32")
ASKED = (
    Message("system", "You write audio description for films."),
    Message(
        "user", "Description: A woman in a red coat crosses the square.\nWrite it as one short sentence."
    ),
)


@pytest.fixture(scope="module", autouse=True)
def _few_threads() -> Iterator[None]:
    torch.set_num_threads(1)
    yield
    local_loading.CACHE.clear()


@pytest.fixture(scope="module")
def engine() -> Any:
    config = Config(stage2=Stage2Settings(model="smollm2"), compute=CPU, local=LocalSettings(batch=4))
    made: Any = make_engine("llama3", config, "stage2")
    made.get_ready(NoProgress())
    return made


def request(
    seed: int, temperature: float = 0.6, max_tokens: int = 32, messages: tuple[Message, ...] = ASKED
) -> Request:
    sampling = SamplingSettings(temperature=temperature, top_p=0.9, max_tokens=max_tokens)
    return Request(f"s{seed}", messages, sampling=sampling, seed=seed)


def test_who_it_is(engine: Any) -> None:
    assert engine.identity.model == "smollm2"
    assert engine.identity.revision == "sha256:b179c9523d0e6a0f float32"
    place = resolve("smollm2")
    assert config_of(place).get_text_config().max_position_embeddings == 8192
    assert weight_bytes(way_of(place, "text", CPU, LocalSettings())) == 134_515_008 * 4


def test_a_batch_says_what_each_says_alone(engine: Any) -> None:
    short = (Message("user", "Name a colour."),)
    requests = [request(1), request(2, messages=short), request(3, 0.0)]
    together = engine.generate(requests)
    assert [reply.text for reply in together] == [engine.generate([one])[0].text for one in requests]
    assert together[0].batch == ("s1", "s2", "s3")
    assert "red coat" in together[0].text, "it reads what it is asked"
