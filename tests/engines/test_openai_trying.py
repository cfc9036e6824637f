"""What is sent and read, what is asked again, how long is waited, what stops the run: a server that fails in every way."""

from __future__ import annotations

import json
import socket
import threading
import zlib
from dataclasses import replace
from typing import Any

import pytest

from shotad.core import Usage
from shotad.core.config.words import EndpointSettings
from shotad.core.errors import EngineError
from shotad.engines import ServerAnswer
from shotad.engines.openai_engine import tokens_per_image
from shotad.engines.openai_wire import (
    asked_pause,
    body_of,
    error_in,
    pauses,
    reply_in,
    strict,
)
from tests.bad_server import (
    Act,
    BadServer,
    Seen,
    answer,
    completion,
    cut_off,
    drip,
    drip_head,
    drop,
    echo,
    endless,
    hang,
    html,
    packed,
    plain,
    status,
)  # fmt: skip
from tests.endpoint import NOON, SCHEMA, StoppedTime, ask, engine_for, engine_with, greedy, request
from tests.runs import Heard

pytest.importorskip("httpx", reason="the extra openai is not installed")


def test_pauses_grow_to_the_longest_belong_to_the_seed_and_are_those_that_servers_ask_for() -> None:
    first, again, other = (
        [pause for pause, _ in zip(pauses(seed, 20.0), range(8), strict=False)] for seed in (1, 1, 2)
    )
    assert first == again != other
    for pause, step in zip(first, (1, 2, 4, 8, 16, 20, 20, 20), strict=True):
        assert step / 2 <= pause <= step
    for after, milliseconds, seconds in (
        (None, None, None),
        ("7", None, 7.0),
        ("1.5", None, 1.5),
        ("-3", None, 0.0),
        ("soon", None, None),
        ("nan", None, None),
        ("inf", None, None),
        ("1e300", None, None),
        ("2s", None, 2.0),
        ("1m0.5s", None, 60.5),
        ("Mon, 21 Sep 2026 14:13:30 GMT", None, 10.0),
        ("Mon, 21 Sep 2026 14:13:10 GMT", None, 0.0),
        ("Mon, 99 Sep 2026 14:13:10 GMT", None, None),
        ("9", "1500", 1.5),
        ("9", "x", 9.0),
    ):
        headers = {"retry-after": after, "retry-after-ms": milliseconds}
        assert asked_pause({name: one for name, one in headers.items() if one is not None}, NOON) == seconds


def test_what_may_pass_is_tried_again() -> None:
    for bad in (
        status(429), status(503), cut_off(), drop(), html(), plain(""), plain("null"), plain('{"choices": null}'),
        plain("[" * 100_000), plain('{"error": {"message": "busy", "code": 502}}'), answer("x", finish="error"),
    ):  # fmt: skip
        time = StoppedTime()
        reply, seen = ask([bad, bad, answer("A cat.")], time=time)
        assert [one.body for one in seen] == [seen[0].body] * 3
        assert (reply.text, reply.error) == ("A cat.", None)
        first, second = time.slept
        assert 0.5 <= first <= 1 <= second <= 2


def test_packed_and_long_answers_are_read_or_tried_again() -> None:
    """What is left over is never taken for the next answer. The server closes the connection unsaid: where that
    is not here yet when the next try begins (its pause takes no time in a test), that try is lost as well."""
    bad = replace(answer("A dog."), end="short")
    reply, seen = ask([bad, bad, answer("A cat.")], time=StoppedTime())
    assert [one.body for one in seen] == [seen[0].body] * 3
    assert (reply.text, reply.error) == ("A cat.", None)
    # An honest packed answer is read and other packings are named.
    document = json.dumps(completion("A cat.")).encode()
    reply, seen = ask([packed(document)])
    assert (reply.text, seen[0].headers["accept-encoding"]) == ("A cat.", "identity")
    for packing in ("br", "gzip, gzip"):
        assert "packed" in (ask([packed(document, packing=packing)], retries=0)[0].error or "")


@pytest.mark.parametrize("bad", [hang(), drip(), drip_head()])
def test_a_slow_server_is_not_waited_for_longer_than_the_limit(bad: Act) -> None:
    reply, seen = ask([bad], timeout=0.2, retries=1)
    assert "more than 0.2 s" in (reply.error or "")
    assert len(seen) == 2


@pytest.mark.parametrize("code", [200, 401])
def test_no_more_is_taken_of_an_endless_answer_than_the_limit(code: int) -> None:
    with BadServer([endless(code), answer("A cat.")]) as server:
        assert engine_for(server.url).generate([request()])[0].text == "A cat."
        assert server.sent < 48 << 20
    assert "more than 32 MiB" in (ask([endless(code)], retries=0)[0].error or "")


def test_a_packed_answer_is_not_unpacked_beyond_the_limit() -> None:
    taken: list[int] = []
    unpacker = zlib.decompressobj

    class Counted:
        def __init__(self, *args: Any) -> None:
            self._inner = unpacker(*args)

        def decompress(self, *args: Any) -> bytes:
            taken.append(len(piece := self._inner.decompress(*args)))
            return piece

    bomb = packed(b" " * (64 << 20))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zlib, "decompressobj", Counted)
        reply, _ = ask([bomb], retries=0)
    assert "more than 32 MiB" in (reply.error or "")
    assert sum(taken) <= (32 << 20) + 1


def test_the_servers_wish_is_obeyed() -> None:
    for headers, least in (
        ({"Retry-After": "20"}, 20.0),
        ({"Retry-After": "Mon, 21 Sep 2026 14:13:40 GMT"}, 20.0),
        ({"retry-after-ms": "250"}, 0.25),
    ):
        time = StoppedTime()
        assert ask([status(429, headers=headers), answer()], time=time)[0].error is None
        (slept,) = time.slept
        assert least <= slept <= 1.1 * least


GEMINI_QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, head "
    "to: https://ai.google.dev/gemini-api/docs/rate-limits. \n* Quota exceeded for metric: "
    "generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 5, model: gemini-2.5-flash"
)


def gemini_refusal(quota: str, delay: str, words: str = "") -> Act:
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
    ]
    error = {"code": 429, "message": GEMINI_QUOTA + words, "status": "RESOURCE_EXHAUSTED", "details": details}
    return plain(json.dumps([{"error": error}]), 429)


def test_a_pause_that_stands_in_the_words_of_an_error_is_obeyed() -> None:
    for act, least in (
        (gemini_refusal("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "50s"), 50.0),
        (status(429, GEMINI_QUOTA + "\nPlease retry in 50.123456789s."), 50.1),
        (status(429, "Rate limit reached for gpt-4o on requests per min (RPM): Limit 3. Please try again in 20s."), 20.0),
        (status(429, "Rate limit reached. Please try again in 250ms."), 0.25),
        (status(429, "Please retry after 17 seconds."), 17.0),
        (status(429, "Too many requests, wait 1 minute before you ask again"), 60.0),
        (status(429, "Slow down. Your quota resets in 0h0m45s."), 45.0),
        (status(503, "Overloaded", retry_after=12), 12.0),
        (status(429, "请求过于频繁，请在 30 秒后重试"), 30.0),
        (status(429, "No time", headers={"Retry-After": "9s"}), 9.0),
    ):  # fmt: skip
        time = StoppedTime()
        assert ask([act, answer()], time=time)[0].error is None
        (slept,) = time.slept
        assert least <= slept <= 1.1 * least + 0.05


def test_a_quota_of_a_day_stops_the_run_at_once_whatever_pause_its_words_name() -> None:
    for act in (
        gemini_refusal("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "21s", "\nPlease retry in 21s."),
        status(
            429, "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests"
        ),
        status(429, "Rate limit reached on tokens per day (TPD): Limit 500000, Used 499990, Requested 2500."),
        status(429, "You have reached your daily limit"),
    ):
        with BadServer([act]) as server:
            with pytest.raises(EngineError, match=r"counted by the day.*same command"):
                engine_for(server.url).generate([request()])
            assert len(server.requests) == 1
    # A limit of a minute beside it may be the one that is meant.
    acts = [status(429, "Limits: 5 calls per minute, 500 per day"), answer()]
    assert ask(acts)[0].error is None


def test_many_who_wait_for_a_limit_of_calls_a_minute_are_all_answered() -> None:
    time = StoppedTime()
    served: list[float] = []
    lock = threading.Lock()

    def script(seen: Seen) -> Act:
        with lock:
            now = time.clock()
            if sum(1 for moment in served if now - moment < 60) >= 2:
                return gemini_refusal("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "30s")
            served.append(now)
        return echo(seen)

    with BadServer(script) as server:
        replies = engine_for(server.url, time, in_flight=6, retries=2).generate(
            [request(str(number)) for number in range(16)]
        )
    assert [reply.text for reply in replies] == [str(number) for number in range(16)]


def test_a_long_pause_is_reported_and_one_that_is_too_long_stops_the_run() -> None:
    acts = [status(429, headers={"Retry-After": "30"}), status(429, headers={"Retry-After": "2"}), answer()]
    heard, time = Heard(), StoppedTime()
    with BadServer(acts) as server:
        engine = engine_for(server.url)
        engine.get_ready(heard)
        engine.generate([request()])
    (note,) = heard.notes
    assert ("30 s" in note, heard.steps) == (True, [])
    with BadServer([status(429, "Slow down", headers={"Retry-After": "3600"})]) as server:
        with pytest.raises(EngineError, match=r"3600 s.*Slow down.*longest_pause \(60\).*same command"):
            engine_for(server.url, time).generate([request()])
        assert (len(server.requests), time.slept) == (1, [])


def test_a_server_that_fails_everybody_stops_the_run_and_one_that_answers_between_does_not() -> None:
    with BadServer([status(500)]) as server:
        engine = engine_for(server.url, retries=1)
        assert [engine.generate([request()])[0].finish for _ in range(2)] == ["error", "error"]
        with pytest.raises(EngineError, match="same command"):
            engine.generate([request()])
        assert len(server.requests) == 6
    with BadServer([status(500), status(500), answer(), status(500), status(500), answer()]) as server:
        engine = engine_for(server.url, retries=0)
        finishes = [engine.generate([request()])[0].finish for _ in range(6)]
    assert finishes == ["error", "error", "stop"] * 2


def test_a_server_that_is_not_there_stops_the_run() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    time = StoppedTime()
    with pytest.raises(EngineError, match=rf"127\.0\.0\.1:{port}.*refused.*same command"):
        engine_for(f"http://127.0.0.1:{port}/v1", time).generate([request()])
    assert len(time.slept) == 5
    with pytest.raises(EngineError, match=r"nobody\.invalid"):
        engine_for("http://nobody.invalid/v1", retries=1).generate([request()])


def test_what_makes_all_calls_useless_is_asked_once_and_stops_the_run() -> None:
    for act, words in (
        (status(401, "Incorrect key"), "OPENAI_API_KEY.*Incorrect key"),
        (status(403, "Not in your country"), "OPENAI_API_KEY.*Not in your country"),
        (status(404, "No such model"), r"tiny.*No such model.*It has: tiny"),
        (status(429, "You exceeded your quota", code="insufficient_quota"), "quota.*is spent.*same command"),
        (status(400, "tiny is not a multimodal model"), "takes no images"),
    ):
        time = StoppedTime()
        with BadServer([act, answer()]) as server:
            engine = engine_for(server.url, time)
            for _ in range(2):
                with pytest.raises(EngineError, match=words) as caught:
                    engine.generate([request()])
                assert not caught.value.again
            assert (len(server.requests), time.slept) == (1, [])


LOGIN_PAGE = plain("<html><title>Sign in</title></html>", 200, "text/html")
OLLAMA_LACKS_MEMORY = plain(
    '{"error": "model requires more system memory (12.3 GiB) than is available (8.1 GiB)"}', 500
)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (LOGIN_PAGE, r"page for people \('Sign in'\).*openai\.base_url"),
        (plain("<!DOCTYPE html><h1>Welcome</h1>", 200, "text/plain"), r"Welcome.*openai\.base_url"),
        (
            plain(
                '{"error": "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"}'
            ),
            r"no chat at this address.*Unexpected endpoint.*openai\.base_url",
        ),
        (status(404, "Unknown endpoint"), r"Unknown endpoint.*openai\.base_url"),
        (OLLAMA_LACKS_MEMORY, r"lacks memory.*12\.3 GiB.*smaller model"),
        (status(400, "API key not valid. Please pass a valid API key."), "OPENAI_API_KEY.*not valid"),
        (status(400, "User location is not supported for the API use."), r"the place.*openai\.base_url"),
        (status(404, "No endpoints found matching your data policy"), r"account.*data policy"),
        (status(404, "Nobody is at home"), "has the model tiny and does not serve it.*Nobody is at home"),
    ],
)
def test_a_lasting_fault_is_asked_once_and_names_what_to_do(act: Act, words: str) -> None:
    with BadServer([act]) as server:
        with pytest.raises(EngineError, match=words) as caught:
            engine_for(server.url).generate([request()])
        assert (len(server.requests), caught.value.again) == (1, False)


def test_what_lasts_at_the_beginning_may_pass_in_the_middle_of_a_run() -> None:
    for act in (LOGIN_PAGE, OLLAMA_LACKS_MEMORY):
        with BadServer([answer(), act, answer("A dog.")]) as server:
            engine = engine_for(server.url)
            assert [engine.generate([request()])[0].text for _ in range(2)] == ["A cat sleeps.", "A dog."]


def test_answers_without_choices_fail_their_slots_alone() -> None:
    for body in (
        '{"choices": [], "usage": {"prompt_tokens": 5}}',
        '{"choices": [{"index": 0, "finish_reason": "stop"}]}',
    ):
        with BadServer(lambda seen, body=body: plain(body) if seen.pictures else echo(seen)) as server:  # type: ignore[misc]
            engine = engine_for(server.url)
            replies = [engine.generate([request(frames=1)])[0] for _ in range(4)]
            assert all((reply.error or "").startswith("empty answer") for reply in replies)
            assert len(server.requests) == 8, "once more with another seed, and no further"
            assert engine.generate([request()])[0].error is None
    # Gemini leaves the message out where it gives a reason.
    reply, seen = ask([plain('{"choices": [{"index": 0, "finish_reason": "content_filter"}]}')])
    assert (reply.finish, len(seen)) == ("refused", 1)


def test_an_answer_that_comes_as_a_stream_is_put_together() -> None:
    def streamed(*events: Any, end: str = "data: [DONE]\n\n") -> Act:
        lines = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        return plain(lines + end, 200, "text/event-stream")

    def piece(**delta: str) -> dict[str, Any]:
        return {"model": "tiny", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}

    usage = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    pieces = [
        piece(role="assistant"),
        piece(reasoning_content="Hm."),
        piece(content="A "),
        piece(content="cat."),
    ]
    reply, seen = ask([streamed(*pieces, usage)])
    assert (reply.text, reply.usage, len(seen)) == ("A cat.", Usage(7, 3), 1)
    cut = streamed(*pieces, end="")
    assert len(ask([cut, streamed(*pieces)])[1]) == 2, "one that breaks off is asked for again"
    assert len(ask([streamed({"error": {"message": "busy", "code": 503}}), streamed(*pieces)])[1]) == 2


def test_a_request_that_is_refused_is_not_repeated_and_takes_no_other_along() -> None:
    def script(seen: Seen) -> Act:
        return status(422, "Bad picture") if seen.question == "bad" else echo(seen)

    with BadServer(script) as server:
        replies = engine_for(server.url).generate([request(text) for text in ("one", "bad", "two", "three")])
        assert len(server.requests) == 4
    assert [reply.text for reply in replies] == ["one", "", "two", "three"]
    assert replies[1].finish == "error"
    assert "Bad picture" in (replies[1].error or "")


def test_when_one_meets_the_end_those_who_wait_do_not_go_on_paying() -> None:
    paused, released = threading.Event(), threading.Event()

    class Slow(StoppedTime):
        def sleep(self, seconds: float) -> None:
            paused.set()
            assert released.wait(timeout=20)

    def script(seen: Seen) -> Act:
        if seen.question == "waits":
            return status(500)
        assert paused.wait(timeout=20)
        return status(401, "no")

    with BadServer(script) as server:
        engine = engine_for(server.url, Slow())
        found: list[str] = []

        def wait() -> None:
            with pytest.raises(EngineError) as caught:
                engine.generate([request("waits")])
            found.append(str(caught.value))

        thread = threading.Thread(target=wait)
        thread.start()
        with pytest.raises(EngineError) as caught:
            engine.generate([request("ends")])
        released.set()
        thread.join(timeout=20)
        assert found == [str(caught.value)]
        assert sorted(seen.question for seen in server.requests) == ["ends", "waits"]


# The wire
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


def test_only_the_answer_is_the_answer() -> None:
    for content, text in (
        (" A cat. ", "A cat."),
        ("Is it a dog?</think>\nA cat.", "A cat."),
        ("<thinking>x</thinking> A cat.", "A cat."),
        ("<think>Is it a dog", ""),
        (None, ""),
        ([{"type": "thinking", "thinking": "a dog"}, {"type": "text", "text": "A "}, {"type": "text", "text": "cat."}], "A cat."),
        ("half \ud83d", "half \ufffd"),
    ):  # fmt: skip
        document = completion(
            "", message={"content": content, "reasoning_content": "Hmm, a dog?", "reasoning": "dog"}
        )
        found = reply_in(document, 512)
        assert found is not None
        assert (found.text, found.finish, found.usage) == (text, "stop" if text else "error", Usage(11, 5))


def test_errors_are_read_in_all_their_forms() -> None:
    for body, message in (
        ('{"error": {"message": "No."}}', "No."),
        ('[{"error": {"code": 400, "message": "No."}}]', "No."),
        ('{"object": "error", "message": "No.", "code": 400}', "No."),
        ('{"detail": "No."}', "No."),
        ("<html><head><style>x{}</style></head><h1>No.</h1></html>", "No."),
        ("", ""),
        ("[[" * 5000, "[[" * 149 + "[…"),
    ):
        found = error_in(ServerAnswer(400, body.encode()))
        assert found is not None
        assert found.message == message


def test_what_an_error_means() -> None:
    for code, body, meaning in (
        (429, {"code": "insufficient_quota"}, "quota"),
        (400, {"code": "billing_hard_limit_reached"}, "quota"),
        (402, {"message": "Insufficient Balance"}, "quota"),
        (400, {"message": "Your credit balance is too low to access the Anthropic API."}, "quota"),
        (429, {"code": "rate_limit_exceeded", "message": "You exceeded your current quota per minute"}, "again"),
        (408, {}, "again"), (409, {}, "again"), (500, {}, "again"), (503, {"message": "Loading model"}, "again"),
        (401, {}, "key"), (403, {}, "key"),
        (403, {"code": "content_policy_violation"}, "refused"), (400, {"code": "content_filter"}, "refused"),
        (403, {"message": "The model requires moderation, and your input was flagged for violence"}, "refused"),
        (404, {}, "missing"), (400, {"message": "The model `x` does not exist"}, "missing"),
        (400, {"code": "context_length_exceeded"}, "too long"), (413, {}, "too large"),
        (413, {"message": "prompt is too long"}, "too long"),
        (400, {"message": "Request body exceeds the maximum size of 20 MB"}, "too large"),
        (429, {"message": "Request too large on tokens per min (TPM): Limit 30,000, Requested 42,000."}, "too large"),
        (429, {"message": "tokens per min (TPM): Limit 30000, Used 29000, Requested 4200."}, "again"),
        (400, {"message": "API key not valid. Please pass a valid API key."}, "key"),
        (400, {"message": "API key expired. Please renew the API key."}, "key"),
        (500, {"message": "Authentication Error, No api key passed in."}, "key"),
        (400, {"message": "无效的API Key"}, "key"),
        (400, {"message": "Unauthorized"}, "key"),
        (429, {"message": "Request too large: 42000 tokens requested, limit is 30000 a minute"}, "too large"),
        (403, {"message": "Access denied: your region is blocked"}, "place"),
        (400, {"message": "no content was generated before the max_tokens limit"}, "cut"),
        (400, {"message": "User location is not supported for the API use."}, "place"),
        (403, {"message": "No.", "code": "unsupported_country_region_territory"}, "place"),
        (403, {"message": "This service is not available in your country"}, "place"),
        (404, {"message": "No endpoints found matching your data policy (Free model training)."}, "policy"),
        (404, {"message": "All providers have been ignored."}, "policy"),
        (404, {"message": "No endpoints found that can handle the requested parameters."}, "slot"),
        (404, {"message": "No endpoints found that support image input"}, "blind"),
        (404, {"message": "The requested URL /chat/completions was not found on this server."}, "nowhere"),
        (405, {}, "nowhere"),
        (400, {"message": "The image URL was not found"}, "slot"),
        (500, {"message": "model requires more system memory (12.3 GiB) than is available (8.1 GiB)"}, "memory"),
        (500, {"message": "CUDA error: out of memory"}, "memory"),
        (400, {"message": "'max_tokens' is too large: 512. This model's maximum context length is 400 tokens"}, "too long"),
        (400, {"message": "max_tokens must be at least 1, got -3888."}, "too long"),
        (400, {"message": "At most 16 image(s) may be provided in one request."}, "images"),
        (400, {"message": "Llama is not a multimodal model"}, "blind"),
        (500, {"message": "image input is not supported - hint: you may need to provide the mmproj"}, "blind"),
        (500, {"message": "'list object' has no attribute 'strip'"}, "blind"),
        (500, {"message": "'list' object has no attribute 'startswith'"}, "blind"),
        (500, {"message": "'list' object has no attribute 'get'"}, "again"),
        (400, {"message": "litellm.ContentPolicyViolationError: AzureException - no"}, "refused"),
        (400, {"message": "litellm.BadRequestError: the prompt triggered our content management policy"}, "refused"),
        (400, {"code": "400", "type": "no_db_connection", "message": "No connected db."}, "key"),
        (307, {}, "moved"), (400, {"message": "messages: wrong"}, "slot"), (422, {}, "slot"),
    ):  # fmt: skip
        found = error_in(ServerAnswer(code, json.dumps({"error": {"message": "No.", **body}}).encode()))
        assert found is not None
        assert found.meaning == meaning


def test_tokens_of_an_image() -> None:
    for model, detail, size, tokens in (
        ("gpt-4o-2024-08-06", "low", (597, 336), 85),
        ("gpt-4o-mini", "low", (597, 336), 2833),
        ("gpt-4o", "high", (597, 336), 85 + 2 * 170),
        ("gpt-4o", "high", (1024, 1024), 765),
        ("anything", "low", (10, 10), 85),
        ("Qwen/Qwen2-VL-7B-Instruct", "low", (597, 336), 21 * 12 + 2),
        ("Qwen3-VL-8B", "low", (640, 320), 20 * 10 + 2),
    ):
        assert tokens_per_image(model, detail, *size) == tokens


def test_vllm_gets_one_video_with_true_times_and_stills_where_the_model_takes_none() -> None:
    refusal = status(400, "At most 0 video(s) may be provided in one prompt.")
    asked = replace(request(frames=3), timed=True)
    with BadServer(lambda seen: refusal if seen.number == 1 else echo(seen)) as server:
        engine = engine_with({"engine": "vllm:tiny", "openai": {"model": "tiny", "base_url": server.url}})
        assert engine.identity.revision.endswith(" video")
        replies = [engine.generate([asked])[0] for _ in range(3)]
        bodies = [seen.body for seen in server.requests]
    assert [reply.shown for reply in replies] == ["video", "timed stills", "timed stills"]
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
