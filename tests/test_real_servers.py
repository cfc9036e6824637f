"""A film described through real servers: ``transformers serve``, llama.cpp's, and LiteLLM before both.

The models are tiny, or far too small to describe a film: what is checked is that frames, schemas and prompts
arrive, and that the answers, good or bad, are kept and accounted for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Message, Request
from shotad.core.config.words import SamplingSettings
from shotad.core.errors import EngineError
from shotad.engines.local_model import resolve
from tests.chat_server import ChatServer, Gateway, LlamaServer
from tests.cli.program import Shotad
from tests.endpoint import engine_for, request
from tests.shotad_process import Run, good, lost
from tests.vision_models import llava_folder, make_clip

pytestmark = [pytest.mark.slow, pytest.mark.long]

IMAGE_TOKENS = 16
"""Tokens of a frame: the tiny LLaVA has 4 x 4 patches."""


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChatServer]:
    """``transformers serve`` with a tiny LLaVA. A model with a video processor needs torchvision to be served."""
    for module in ("fastapi", "uvicorn", "openai"):
        pytest.importorskip(module, reason=f"the chat server of the tests needs {module}: pip install .[dev]")
    with ChatServer(llava_folder(tmp_path_factory.mktemp("served") / "tiny-llava")) as server:
        yield server


CONTEXT = 2048
"""Tokens that llama.cpp's server is started with."""


@pytest.fixture(scope="module")
def writing() -> Iterator[LlamaServer]:
    """llama.cpp's server with SmolLM2-135M."""
    LlamaServer.program()  # skips before the model is fetched
    place = resolve("smollm2")
    with LlamaServer(Path(place.folder, str(place.gguf)), CONTEXT) as server:
        yield server


@pytest.fixture(scope="module")
def gateway(seeing: ChatServer, writing: LlamaServer) -> Iterator[Gateway]:
    """LiteLLM before both."""
    with Gateway({"sees": seeing, "writes": writing}) as server:
        yield server


def asked(frames: Any, text: str = "What is seen?") -> Request:
    """A question about frames, answered by the most likely tokens."""
    sampling = SamplingSettings(temperature=0.0, max_tokens=8)
    return Request(
        "s00000001", (Message("user", text, with_clip=True),), clip=frames, sampling=sampling, timed=True
    )


def test_the_frames_reach_the_model_in_their_order(seeing: ChatServer) -> None:
    engine = engine_for(seeing.url, model=seeing.model, timeout=200)
    noise, other = make_clip(4, seed=0), make_clip(4, seed=1)
    backwards = type(noise)(noise.images[::-1].copy(), noise.seconds, noise.shot_numbers)
    first, again, reversed_reply, other_reply = (
        engine.generate([asked(clip)])[0] for clip in (noise, noise, backwards, other)
    )
    assert first.error is None
    assert first.text == again.text
    assert len({first.text, reversed_reply.text, other_reply.text}) == 3


def test_stage_one_with_images_through_transformers_serve(
    seeing: ChatServer, shotad: Shotad, tmp_path: Path
) -> None:
    settings = ("engine=fake", "stage1.engine=openai", "stage1.attempts=1", "stage1.sampling.max_tokens=8")
    run = Run(tmp_path / "w", (*settings, *seeing.settings), slots=2)
    before = seeing.answered
    report = run.report(shotad)
    records = run.records("stage1")
    assert (len(records), lost(report)) == (2, [])
    assert seeing.answered - before == report["used"]["stages"]["stage1"]["calls"] == 2
    for record in records.values():
        (attempt,) = record["tries"]
        assert attempt["raw"], "a random model says something"
        (turn,) = record["prompt"]
        seconds = [second for shot in record["shots"] for second in shot["seconds"]]
        stamps = [f"Frame {k}, at {second - seconds[0]:.1f} s:" for k, second in enumerate(seconds, 1)]
        # The model has a token for each byte, and its template ends the line after each frame, no other.
        text_tokens = len(f"USER: {''.join(stamps)}{turn['text']}ASSISTANT:".encode())
        assert len(stamps) == 5
        assert attempt["usage"] == {
            "tokens_in": text_tokens + len(stamps) * (IMAGE_TOKENS + 1), "tokens_out": 8,
        }  # fmt: skip


SHORT = (
    "stage1.attempts=1", "stage1.sampling.max_tokens=8", "stage2.attempts=1", "stage2.sampling.max_tokens=96",
    "prompt.example_count=0",
)  # fmt: skip
"""Without examples, which so small a model repeats."""


def keys_of_answers(records: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The keys of every answer that was not cut off; it must be JSON, but for line ends within a text."""
    attempts = [attempt for record in records.values() for attempt in record["tries"]]
    return [
        list(json.loads(attempt["raw"], strict=False)) for attempt in attempts if attempt["finish"] == "stop"
    ]


def refusals(server: LlamaServer) -> int:
    """How many requests llama.cpp's server answered with a 500, which it does to a form that it does not know."""
    return server.log.count('"POST /v1/chat/completions HTTP/1.1" 500')


def test_stage_two_holds_to_its_schema_through_llama_cpp(
    writing: LlamaServer, shotad: Shotad, tmp_path: Path
) -> None:
    """The server refuses OpenAI's form of a schema and names the one that it knows; the model is named ``0``."""
    settings = ("engine=fake", "stage2.engine=openai", "openai.in_flight=1")
    run = Run(tmp_path / "w", (*settings, *SHORT, *writing.settings), slots=3)
    before, refused_before = writing.answered, refusals(writing)
    report = run.report(shotad)
    records = run.records("stage2")
    assert (len(records), lost(report)) == (3, [])
    assert {record["maker"]["model"] for record in records.values()} == {"0"}
    keys = keys_of_answers(records)
    assert keys, "all were cut off"
    assert keys == [["summarized_AD"]] * len(keys)
    assert report["used"]["stages"]["stage2"]["calls"] == writing.answered - before
    assert refusals(writing) - refused_before == 1, "it refuses the schema once, and is not asked so again"


def test_llama_cpp_refuses_a_prompt_that_is_too_long_and_images_that_its_model_cannot_see(
    writing: LlamaServer,
) -> None:
    engine = engine_for(writing.url, model=writing.model, timeout=200)
    (reply,) = engine.generate([request("rain " * 2 * CONTEXT)])
    assert f"maximum context length is {CONTEXT}" in (reply.error or "")
    with pytest.raises(EngineError, match="The model 0 takes no images"):
        engine.generate([request(frames=2)])


def test_both_stages_through_a_gateway(
    gateway: Gateway, shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", gateway.KEY)
    models = ("stage1.model=sees", "stage2.model=writes", "stage2.candidates=2")
    run = Run(tmp_path / "w", ("engine=openai", *SHORT, *gateway.settings, *models), slots=2)
    before = gateway.answered
    report = run.report(shotad)
    seen, written = run.records("stage1"), run.records("stage2")
    assert (len(seen), set(written), lost(report)) == (2, set(good(seen)), [])
    assert report["used"]["calls"] == gateway.answered - before
    for record in seen.values():
        assert record["tries"][0]["usage"]["tokens_in"] > 5 * IMAGE_TOKENS
    keys = keys_of_answers(written)
    assert keys, "all were cut off"
    assert keys == [["summarized_AD_1", "summarized_AD_2"]] * len(keys)
    assert run.holds(gateway.KEY) == []


def test_a_gateway_says_what_is_wrong_in_words_of_its_own(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", gateway.KEY)
    with pytest.raises(EngineError, match=r"nothing was not found.*It has: sees, writes"):
        engine_for(gateway.url, model="nothing").generate([request()])
    engine = engine_for(gateway.url, model="writes", timeout=200)
    (reply,) = engine.generate([request("rain " * 2 * CONTEXT)])
    assert "too long" in (reply.error or "")
    with pytest.raises(EngineError, match="takes no images"):
        engine.generate([request(frames=2)])
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    with pytest.raises(EngineError, match="refuses the key in the environment variable OPENAI_API_KEY"):
        engine_for(gateway.url, model="writes").generate([request()])
