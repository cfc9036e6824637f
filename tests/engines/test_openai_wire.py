from __future__ import annotations

import json
from dataclasses import replace

import pytest

from shotad.core import EndpointSettings, Usage
from shotad.engines import Raw, trouble_in
from shotad.engines.openai_engine import tokens_per_image
from shotad.engines.openai_wire import answer_in, body_of, strict
from tests.bad_server import BadServer, completion, echo, status
from tests.endpoint import SCHEMA, engine_with, greedy, request

SETTINGS = EndpointSettings()


def test_a_request_says_all_that_shapes_the_answer() -> None:
    body = body_of(request("What?", sampling=greedy(77)), "tiny", SETTINGS)
    assert body == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "You describe films."}, {"role": "user", "content": "What?"},
        ],
        "max_tokens": 77,
        "temperature": 0.0,
        "top_p": 1.0,
        "seed": 0x7FFF_FFFF,
    }  # fmt: skip
    # A schema is sent closed and strict.
    sent = body_of(request(schema=True), "tiny", SETTINGS)["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["strict"] is True
    assert sent["json_schema"]["schema"] == {
        **SCHEMA, "additionalProperties": False, "required": ["summarized_AD"],
    }  # fmt: skip
    inner = {"type": "object", "properties": {"b": {"type": "string"}}}
    outer = {"type": "object", "properties": {"a": {"type": "array", "items": inner}}}
    assert strict(outer)["properties"]["a"]["items"]["required"] == ["b"]
    assert "required" not in inner
    # Halves of characters do not break the request.
    body = body_of(request("Caf\udce9 \ud83d"), "tiny", SETTINGS)
    json.dumps(body, ensure_ascii=False).encode()
    assert body["messages"][1]["content"] == "Caf\ufffd \ufffd"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (" A cat. ", "A cat."),
        ("Is it a dog?</think>\nA cat.", "A cat."),
        ("<thinking>x</thinking> A cat.", "A cat."),
        ("<think>Is it a dog", ""),
        (None, ""),
        ([{"type": "thinking", "thinking": "a dog"}, {"type": "text", "text": "A "}, {"type": "text", "text": "cat."}], "A cat."),
        ("half \ud83d", "half \ufffd"),
    ],
)  # fmt: skip
def test_only_the_answer_is_the_answer(content: object, text: str) -> None:
    document = completion(
        "", message={"content": content, "reasoning_content": "Hmm, a dog?", "reasoning": "dog"}
    )
    found = answer_in(document)
    assert found is not None
    assert (found.text, found.finish, found.usage) == (text, "stop", Usage(11, 5))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"error": {"message": "No."}}', "No."),
        ('[{"error": {"code": 400, "message": "No."}}]', "No."),
        ('{"object": "error", "message": "No.", "code": 400}', "No."),
        ('{"detail": "No."}', "No."),
        ("<html><head><style>x{}</style></head><h1>No.</h1></html>", "No."),
        ("", ""),
        ("[[" * 5000, "[[" * 149 + "[…"),
    ],
)
def test_errors_are_read_in_all_their_forms(body: str, message: str) -> None:
    found = trouble_in(Raw(400, body.encode()))
    assert found is not None
    assert found.message == message


@pytest.mark.parametrize(
    ("status", "body", "meaning"),
    [
        (429, {"code": "insufficient_quota"}, "quota"),
        (400, {"code": "billing_hard_limit_reached"}, "quota"),
        (402, {"message": "Insufficient Balance"}, "quota"),
        (429, {"code": "rate_limit_exceeded", "message": "You exceeded your current quota per minute"}, "again"),
        (408, {}, "again"), (409, {}, "again"), (500, {}, "again"), (503, {"message": "Loading model"}, "again"),
        (401, {}, "key"), (403, {}, "key"),
        (403, {"code": "content_policy_violation"}, "refused"), (400, {"code": "content_filter"}, "refused"),
        (403, {"message": "The model requires moderation, and your input was flagged for violence"}, "refused"),
        (404, {}, "missing"), (400, {"message": "The model `x` does not exist"}, "missing"),
        (400, {"code": "context_length_exceeded"}, "too long"), (413, {}, "too long"),
        (400, {"message": "'max_tokens' is too large: 512. This model's maximum context length is 400 tokens"}, "too long"),
        (400, {"message": "max_tokens must be at least 1, got -3888."}, "too long"),
        (400, {"message": "At most 16 image(s) may be provided in one request."}, "too long"),
        (400, {"message": "Llama is not a multimodal model"}, "blind"),
        (500, {"message": "image input is not supported - hint: you may need to provide the mmproj"}, "blind"),
        (307, {}, "moved"), (400, {"message": "messages: wrong"}, "slot"), (422, {}, "slot"),
    ],
)  # fmt: skip
def test_what_an_error_means(status: int, body: dict[str, object], meaning: str) -> None:
    found = trouble_in(Raw(status, json.dumps({"error": {"message": "No.", **body}}).encode()))
    assert found is not None
    assert found.meaning == meaning


@pytest.mark.parametrize(
    ("model", "detail", "size", "tokens"),
    [
        ("gpt-4o-2024-08-06", "low", (597, 336), 85),
        ("gpt-4o-mini", "low", (597, 336), 2833),
        ("gpt-4o", "high", (597, 336), 85 + 2 * 170),
        ("gpt-4o", "high", (1024, 1024), 765),
        ("anything", "low", (10, 10), 85),
        ("Qwen/Qwen2-VL-7B-Instruct", "low", (597, 336), 21 * 12 + 2),
        ("Qwen3-VL-8B", "low", (640, 320), 20 * 10 + 2),
    ],
)
def test_tokens_of_an_image(model: str, detail: str, size: tuple[int, int], tokens: int) -> None:
    assert tokens_per_image(model, detail, *size) == tokens


def test_vllm_gets_one_video_with_true_times_and_stills_where_the_model_takes_none() -> None:
    refusal = status(400, "At most 0 video(s) may be provided in one prompt.")
    asked = replace(request(frames=3), timed=True)
    with BadServer(lambda seen: refusal if seen.number == 1 else echo(seen)) as server:
        engine = engine_with({"engine": "vllm:tiny", "openai": {"model": "tiny", "base_url": server.url}})
        assert engine.identity.revision.endswith(" video")
        replies = [engine.generate([asked])[0] for _ in range(3)]
        bodies = [seen.body for seen in server.requests]
    assert [reply.shown for reply in replies] == ["video", "stills", "stills"]
    video, text = bodies[0]["messages"][1]["content"]
    head, *frames = video["video_url"]["url"].split(",")
    assert (head, len(frames), text["type"]) == ("data:video/jpeg;base64", 3, "text")
    times = bodies[0]["media_io_kwargs"]["video"]
    assert [index / times["fps"] for index in times["frames_indices"]] == [0.0, 1.0, 2.0]
    assert (times["num_frames"], times["do_sample_frames"], times["total_num_frames"]) == (-1, False, 2001)
    for body in bodies[2:]:
        assert "media_io_kwargs" not in body
        kinds = [part["type"] for part in body["messages"][1]["content"]]
        assert kinds == ["text", "image_url"] * 3 + ["text"]
        assert body["messages"][1]["content"][4]["text"] == "Frame 3, at 2.0 s:"
