from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.bad_server import Act, BadServer, Seen, echo, plain, status
from tests.endpoint import engine_for, request

pytest.importorskip("httpx", reason="the extra openai is not installed")

LIMIT = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
WARMTH = "Unsupported value: 'temperature' does not support 0.6 with this model. Only the default (1) value is supported."


@pytest.mark.parametrize(
    "refusal",
    [
        status(400, "'response_format.type' must be 'json_object'"),
        status(400, "Invalid schema for response_format 'answer'", param="response_format"),
        status(422, "Extra inputs are not permitted: response_format"),
        plain('{"error": "json schema is not supported by this backend"}', 400),
        plain('{"detail": [{"loc": ["body", "response_format"], "msg": "extra fields not permitted"}]}', 422),
        status(400, "guided decoding is not available"),
        status(400, "Failed to parse grammar"),
    ],
)
def test_a_server_without_schemas_is_asked_plainly_from_then_on(refusal: Act) -> None:
    def script(seen: Seen) -> Act:
        return refusal if "response_format" in seen.body else echo(seen)

    with BadServer(script) as server:
        engine = engine_for(server.url)
        replies = [engine.generate([request(text, schema=True)])[0].text for text in ("one", "two", "three")]
        assert replies == ["one", "two", "three"]
        assert ["response_format" in seen.body for seen in server.requests] == [True, False, False, False]


def test_newer_models_are_asked_in_their_own_words_from_then_on() -> None:
    def script(seen: Seen) -> Act:
        if "max_tokens" in seen.body:
            return status(400, LIMIT, param="max_tokens", code="unsupported_parameter")
        if "temperature" in seen.body:
            return status(400, WARMTH, param="temperature", code="unsupported_value")
        if "top_p" in seen.body:
            return status(400, "Unknown parameter: 'top_p'.", param="top_p")
        if "seed" in seen.body:
            return status(400, "extra fields not permitted: seed")
        return echo(seen)

    with BadServer(script) as server:
        engine = engine_for(server.url)
        assert [engine.generate([request(text)])[0].text for text in ("one", "two")] == ["one", "two"]
        assert len(server.requests) == 6
        assert set(server.requests[-1].body) == {"model", "messages", "max_completion_tokens"}
        assert server.requests[-1].body["max_completion_tokens"] == server.requests[0].body["max_tokens"]


@pytest.mark.parametrize("frames", [0, 2])
def test_a_template_without_a_system_turn_gets_its_words_from_the_user(frames: int) -> None:
    def script(seen: Seen) -> Act:
        has_system = any(turn["role"] == "system" for turn in seen.body["messages"])
        return status(400, "System role not supported") if has_system else echo(seen)

    with BadServer(script) as server:
        (reply,) = engine_for(server.url).generate([request("What?", frames=frames)])
        assert reply.text.split() == ["You", "describe", "films.", "What?"]
        assert len(server.requests[-1].pictures) == frames


def test_a_refusal_that_had_other_reasons_teaches_nothing() -> None:
    def script(seen: Seen) -> Act:
        return status(400, "messages do not match the schema") if seen.question == "bad" else echo(seen)

    with BadServer(script) as server:
        engine = engine_for(server.url)
        assert engine.generate([request("bad", schema=True)])[0].finish == "error"
        assert engine.generate([request("good", schema=True)])[0].text == "good"
        assert ["response_format" in seen.body for seen in server.requests] == [True, False, True]


def test_many_threads_learn_at_once() -> None:
    def script(seen: Seen) -> Act:
        if "response_format" in seen.body:
            return status(400, "response_format is unknown")
        return status(400, LIMIT, param="max_tokens") if "max_tokens" in seen.body else echo(seen)

    with BadServer(script) as server, ThreadPoolExecutor(8) as pool:
        engine = engine_for(server.url, in_flight=8)
        texts = [str(n) for n in range(24)]
        replies = pool.map(lambda text: engine.generate([request(text, schema=True)])[0].text, texts)
        assert list(replies) == texts
