"""The engine llama3 with real weights: SmolLM2-135M-Instruct, a GGUF from the manifest."""

from __future__ import annotations

import json
from collections.abc import Iterator

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
from shotad.engines import local_loading
from shotad.engines.local_engines import ChatModel
from shotad.engines.local_loading import config_of, tokenizer_of, way_of, weight_bytes
from shotad.engines.local_model import resolve
from shotad.engines.local_words import Template, turns

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
def engine() -> ChatModel:
    made = ChatModel(
        Config(stage2=Stage2Settings(model="smollm2"), compute=CPU, local=LocalSettings(batch=4))
    )
    made.get_ready(NoProgress())
    return made


def request(
    seed: int, temperature: float = 0.6, max_tokens: int = 32, messages: tuple[Message, ...] = ASKED
) -> Request:
    sampling = SamplingSettings(temperature=temperature, top_p=0.9, max_tokens=max_tokens)
    return Request(f"s{seed}", messages, sampling=sampling, seed=seed)


def test_who_it_is(engine: ChatModel) -> None:
    assert engine.identity.model == "smollm2"
    assert engine.identity.revision == "sha256:b179c9523d0e6a0f float32"
    place = resolve("smollm2")
    assert config_of(place).get_text_config().max_position_embeddings == 8192
    assert weight_bytes(way_of(place, "text", CPU, LocalSettings())) == 134_515_008 * 4


def test_its_template(engine: ChatModel) -> None:
    tokenizer = tokenizer_of(resolve("smollm2"))
    assert Template(tokenizer, None, "smollm2", words_only=True).prompt(
        turns(request(1, messages=ASKED))
    ) == (
        "<|im_start|>system\nYou write audio description for films.<|im_end|>\n"
        f"<|im_start|>user\n{ASKED[1].text}<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.long
def test_it_knows_things_and_stops_by_itself(engine: ChatModel) -> None:
    asked = (Message("user", "What is the capital of France? Answer with one word."),)
    reply = engine.generate([request(1, 0.0, messages=asked)])[0]
    assert "Paris" in reply.text
    assert reply.finish == "stop"
    assert "<|im_end|>" not in reply.text
    assert reply.usage.tokens_out < 32


def test_seeds_decide_what_it_says(engine: ChatModel) -> None:
    asked = (Message("user", "Write one short sentence about the sea."),)
    replies = [engine.generate([request(seed, 1.0, 16, asked)])[0] for seed in (1, 2, 1)]
    assert replies[0] == replies[2]
    assert replies[0].text != replies[1].text


def test_it_reads_what_it_is_asked(engine: ChatModel) -> None:
    reply = engine.generate([request(1)])[0]
    assert "red coat" in reply.text
    assert "square" in reply.text


def test_a_batch_says_what_each_says_alone(engine: ChatModel) -> None:
    short = (Message("user", "Name a colour."),)
    requests = [request(1), request(2, messages=short), request(3, 0.0)]
    together = engine.generate(requests)
    assert [reply.text for reply in together] == [engine.generate([one])[0].text for one in requests]
    assert together[0].batch == ("s1", "s2", "s3")


def test_an_answer_that_is_cut_off_says_so_and_is_no_json(engine: ChatModel) -> None:
    asked = (Message("user", 'Write a JSON object with the key "summarised_AD" and a sentence about rain.'),)
    reply = engine.generate([request(1, 0.0, max_tokens=6, messages=asked)])[0]
    assert reply.finish == "length"
    assert reply.usage.tokens_out == 6
    with pytest.raises(ValueError):
        json.loads(reply.text)
