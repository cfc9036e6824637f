"""Each server of the documents' table on the wire: what it is sent, what its refusals teach, what a user reads.

A server in this process answers in place of the true ones: as the proxy through which calls to them go.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from shotad.core import Config, NoProgress, Reply
from shotad.core.config import load_config
from shotad.core.config.words import SamplingSettings
from shotad.core.errors import ConfigError, EngineError
from shotad.core.settings import build_settings
from shotad.engines import OpenAI, ServerAnswer, make_engine
from shotad.engines.openai_limits import image_limit
from shotad.engines.openai_wire import error_in
from tests.bad_server import Act, BadServer, Script, Seen, answer, echo, plain, status
from tests.endpoint import StoppedTime, ask, engine_for, engine_with, request
from tests.runs import Heard

pytest.importorskip("httpx", reason="the extra openai is not installed")

OFF = {"chat_template_kwargs": {"enable_thinking": False}}


def effort(value: str) -> dict[str, Any]:
    return {"reasoning_effort": value}


@pytest.fixture
def behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script], BadServer]]:
    """Starts a server that answers for every host that is called without encryption."""
    with ExitStack() as stack:

        def start(script: Script = echo) -> BadServer:
            server = stack.enter_context(BadServer(script))
            monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
            return server

        yield start


def hosted(address: str, model: str, *, stage: str = "stage1", **settings: Any) -> OpenAI:
    time = StoppedTime()
    tree = {"openai": {"base_url": f"http://{address}", "model": model, **settings}}
    return OpenAI(build_settings(Config, tree), stage, sleep=time.sleep, clock=time.clock)  # type: ignore[arg-type]


def timed(frames: int = 0, **rest: Any) -> Any:
    return replace(request(frames=frames, **rest), timed=True)


def thought_in(seen: Seen) -> dict[str, Any]:
    """The fields of a request that are about thinking."""
    names = ("reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs")
    return {name: seen.body[name] for name in names if name in seen.body}


# What is sent to whom: address, model, the fields about thinking, images of a clip of 32 frames
ROWS = [
    ("api.openai.com/v1", "gpt-4o", {}, 32),
    ("api.openai.com/v1", "gpt-5-mini", effort("minimal"), 32),
    ("api.openai.com/v1", "gpt-5-chat-latest", {}, 32),
    ("api.openai.com/v1", "gpt-5.2", effort("none"), 32),
    ("api.openai.com/v1", "gpt-6-astra", effort("low"), 32),
    ("api.openai.com/v1", "o4-mini", effort("low"), 32),
    ("mine.openai.azure.com/openai/v1", "gpt-5.1", effort("none"), 32),
    ("mine.openai.azure.com/openai/deployments/gpt-5?api-version=2025-01-01", "", effort("minimal"), 32),
    ("api.anthropic.com/v1", "claude-opus-4-1", {}, 32),
    ("generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash", effort("none"), 32),
    ("generativelanguage.googleapis.com/v1beta/openai", "gemini-3-pro-preview", effort("low"), 32),
    ("generativelanguage.googleapis.com/v1beta/openai", "gemini-2.0-flash", {}, 32),
    ("api.groq.com/openai/v1", "qwen/qwen3-32b", effort("none"), 5),
    ("api.groq.com/openai/v1", "openai/gpt-oss-20b", effort("low"), 5),
    ("api.groq.com/openai/v1", "meta-llama/llama-4-scout-17b-16e-instruct", {}, 5),
    ("api.mistral.ai/v1", "mistral-small-latest", {}, 8),
    ("openrouter.ai/api/v1", "z-ai/glm-4.5v", {"reasoning": {"effort": "none"}}, 32),
    ("api.together.ai/v1", "moonshotai/Kimi-K2.5", {"reasoning": {"enabled": False}}, 32),
    ("api.together.xyz/v1", "openai/gpt-oss-120b", effort("low"), 32),
    ("api.x.ai/v1", "grok-4", {}, 32),
    ("api.x.ai/v1", "grok-4.3", effort("none"), 32),
    ("api.z.ai/api/paas/v4", "glm-4.6v", {"thinking": {"type": "disabled"}}, 32),
    ("api.moonshot.ai/v1", "kimi-k2.5", {"thinking": {"type": "disabled"}}, 32),
    ("dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen3-vl-plus", {"enable_thinking": False}, 32),
    ("api.fireworks.ai/inference/v1", "qwen3-vl-30b", OFF, 32),
    ("api.deepinfra.com/v1/openai", "Qwen/Qwen3-VL-30B", OFF, 8),
    ("box.example/v1", "Qwen/Qwen3.5-9B", OFF, 32),
    ("box.example/v1", "moonshotai/Kimi-K2.5", {"chat_template_kwargs": {"thinking": False}}, 32),
    ("box.example/v1", "openai/gpt-oss-20b", {**effort("low"), "chat_template_kwargs": effort("low")}, 32),
    ("box.example/v1", "openai/gpt-5", effort("minimal"), 32),
    ("box.example/v1", "anthropic/claude-sonnet-4-5", {}, 32),
]


@pytest.mark.parametrize(("address", "model", "fields", "images"), ROWS, ids=lambda value: str(value)[:40])
def test_a_row_says_how_thinking_is_turned_off_and_how_many_images_are_taken(
    behind: Callable[..., BadServer], address: str, model: str, fields: dict[str, Any], images: int
) -> None:
    server = behind()
    (reply,) = hosted(address, model).generate([timed(32)])
    assert (reply.error, len(server.requests)) == (None, 1), "nothing has to be learned"
    assert thought_in(server.requests[0]) == fields
    assert len(server.requests[0].pictures) == images
    assert reply.shown == ("timed stills" if images == 32 else f"timed stills, {images} of 32 frames")
    # Where the user wants the server's own way, no field is about thinking.
    hosted(address, model, thinking="server").generate([timed(1)])
    assert thought_in(server.requests[1]) == {}


def test_the_kind_of_a_local_server_counts_too() -> None:
    for kind, fields in (("lmstudio", {**effort("none"), **OFF}), ("llamacpp", OFF), ("vllm", OFF)):
        with BadServer() as server:
            settings = {"engine": f"{kind}:qwen3", "openai": {"base_url": server.url}}
            make_engine("openai", build_settings(Config, settings), "stage2").generate([request()])
            assert thought_in(server.requests[0]) == fields


def test_known_servers_want_a_key_before_the_film_is_read() -> None:
    for address in ("api.groq.com/openai/v1", "api.anthropic.com/v1", "openrouter.ai/api/v1"):
        with pytest.raises(EngineError, match=r"wants a key.*OPENAI_API_KEY"):
            hosted(address, "any").get_ready(NoProgress())


# Azure
def test_azures_classic_address_gets_its_key_in_its_own_header(
    behind: Callable[..., BadServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "azure-key-0123456789")
    server = behind(lambda seen: answer(f"{seen.path} 2025-01-01"))
    address = "mine.openai.azure.com/openai/deployments/my%20eyes/chat/completions?api-version=2025-01-01"
    engine = hosted(address, "")
    assert engine.identity.model == "my eyes", "the deployment is the model where none is set"
    (reply,) = engine.generate([request()])
    (seen,) = server.requests
    assert seen.path.endswith("/openai/deployments/my%20eyes/chat/completions?api-version=2025-01-01")
    assert seen.headers["api-key"] == "azure-key-0123456789"
    assert "authorization" not in seen.headers
    assert reply.text.endswith("2025-01-01"), "the version is no secret"
    hosted("mine.openai.azure.com/openai/v1", "gpt-5.1").generate([request()])
    assert server.requests[1].headers["authorization"] == "Bearer azure-key-0123456789"
    assert "api-key" not in server.requests[1].headers


# Refusals
def has(name: str) -> Callable[[Seen], bool]:
    return lambda seen: name in seen.body


def has_detail(seen: Seen) -> bool:
    return "detail" in json.dumps(seen.body["messages"])


CLAUDE = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
FORBIDDEN = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}
UNKNOWN = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.\nInvalid JSON payload received. Unknown name "top_p": Cannot find field.'
REFUSALS: dict[str, tuple[Callable[[Seen], object], Act, set[str]]] = {
    "Claude": (lambda seen: {"temperature", "top_p"} <= set(seen.body), status(400, CLAUDE), {"top_p"}),
    "LiteLLM before Claude": (
        lambda seen: {"temperature", "top_p"} <= set(seen.body),
        status(400, f"litellm.BadRequestError: {'x ' * 200} {CLAUDE}", param="None"),
        {"top_p"},
    ),
    "Claude that thinks": (
        has("temperature"),
        status(400, "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode."),
        {"temperature"},
    ),
    "in no known words": (has("top_p"), status(400, "We have had it with your top_p!"), {"top_p"}),
    "by parameter": (has("seed"), status(400, "No.", param="seed"), {"seed"}),
    "Mistral": (
        has("seed"),
        plain(json.dumps({"object": "error", "message": {"detail": [FORBIDDEN]}, "param": None}), 422),
        {"seed"},
    ),
    "Mistral, in text": (
        has("seed"),
        plain(json.dumps({"object": "error", "message": json.dumps({"detail": [FORBIDDEN]})}), 422),
        {"seed"},
    ),
    "Gemini": (
        lambda seen: {"seed", "top_p"} & set(seen.body),
        plain(json.dumps([{"error": {"code": 400, "message": UNKNOWN, "status": "INVALID_ARGUMENT"}}]), 400),
        {"seed", "top_p"},
    ),
    "vLLM with Mistral's tokenizer": (
        has("chat_template_kwargs"),
        status(400, "chat_template is not supported for Mistral tokenizers."),
        {"chat_template_kwargs"},
    ),
    "Groq": (has("seed"), status(400, "property 'seed' is unsupported, did you mean 'temperature'?"), {"seed"}),
    "a server in Rust": (
        has("chat_template_kwargs"),
        status(400, "unknown field `chat_template_kwargs`, expected one of `seed`, `temperature`, `top_p`"),
        {"chat_template_kwargs"},
    ),
    "OpenRouter": (
        has("seed"),
        status(400, "Provider returned error", metadata={"raw": '{"error": {"message": "Unknown parameter: seed"}}'}),
        {"seed"},
    ),
    "detail": (has_detail, status(400, "image_url.detail is not supported"), {"detail"}),
    "detail of an image": (has_detail, status(400, "The model does not support image detail."), {"detail"}),
    "detail, by place": (
        has_detail,
        plain(json.dumps({"detail": [{"loc": ["body", "messages", 1, "detail"], "msg": "extra"}]}), 422),
        {"detail"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refused_field_is_learned_from_the_answer_for_both_stages(name: str) -> None:
    refuses, act, gone = REFUSALS[name]
    with BadServer(lambda seen: act if refuses(seen) else echo(seen)) as server:
        looks, writes = engine_for(server.url), engine_for(server.url, stage="stage2")
        for engine in (looks, looks, writes):
            (reply,) = engine.generate([request(frames=2, sampling=SamplingSettings(top_p=0.9))])
            assert (reply.text, reply.error) == ("What is seen?", None)
        fields = [{*seen.body, *(["detail"] if has_detail(seen) else [])} for seen in server.requests]
        assert len(fields) == 4, "once, and kept"
        for later in fields[1:]:
            assert fields[0] - later == gone


def test_of_two_that_cannot_stand_together_the_one_that_says_nothing_goes() -> None:
    def script(seen: Seen) -> Act:
        return status(400, CLAUDE) if {"temperature", "top_p"} <= set(seen.body) else echo(seen)

    for temperature, top_p, left in (
        (0.0, 1.0, "temperature"),
        (0.6, 0.9, "temperature"),
        (1.0, 0.9, "top_p"),
    ):
        sampling = SamplingSettings(temperature=temperature, top_p=top_p)
        _, seen = ask(script, request(sampling=sampling))
        assert {"temperature", "top_p"} & set(seen[-1].body) == {left}


VAGUE = (
    "Bad Request",
    "Request contains an invalid argument.",
    "Provider returned error",
    "unsupported parameter",
    "API 调用参数有误，请检查文档。",
    "Solicitud incorrecta",
    "Something went wrong",
)


@pytest.mark.parametrize("message", VAGUE)
@pytest.mark.parametrize(
    "culprits", [{"seed"}, {"top_p"}, {"chat_template_kwargs"}, {"response_format", "top_p"}]
)
def test_where_no_field_is_named_the_optional_ones_are_left_out_in_turn(
    message: str, culprits: set[str]
) -> None:
    with BadServer(lambda seen: status(400, message) if culprits & set(seen.body) else echo(seen)) as server:
        engine = engine_for(server.url)
        for _ in range(4):
            (reply,) = engine.generate([request(frames=1, schema=True)])
            assert reply.error is None
        # One of them tries the other form of the schema, which this server ignores.
        assert len(server.requests) <= 13
        last = server.requests[-1]
        wanted = {"chat_template_kwargs", "seed", "response_format", "top_p", "temperature"}
        assert wanted - set(last.body) == culprits, "what did not help is put back"
        assert has_detail(last)


def test_an_error_that_no_field_explains_costs_a_few_calls_once_and_changes_nothing() -> None:
    with BadServer([status(400, "Bad Request")]) as server:
        engine = engine_for(server.url)
        replies = engine.generate([request() for _ in range(8)])
        assert {reply.finish for reply in replies} == {"error"}
        assert len(server.requests) <= 8 + 6
        assert server.requests[-1].body.keys() == server.requests[0].body.keys()


def test_what_was_accepted_before_is_not_left_out_later() -> None:
    acts = [answer(), status(400, "Invalid request"), answer()]
    with BadServer(acts) as server:
        engine = engine_for(server.url)
        replies = [engine.generate([request()])[0] for _ in range(3)]
        assert [reply.finish for reply in replies] == ["stop", "error", "stop"]
        assert len({frozenset(seen.body) for seen in server.requests}) == 1


@pytest.mark.parametrize(
    "act",
    [
        status(400, "This model's maximum context length is 400 tokens; temperature", code="context_length_exceeded"),
        status(413, "Request too large"),
        status(400, "temperature: filtered", code="content_filter"),
        status(422, "Unsupported image in messages[1]"),
    ],
)  # fmt: skip
def test_errors_that_are_not_about_form_leave_nothing_out(act: Act) -> None:
    reply, seen = ask([act], request(frames=1))
    assert reply.finish in ("error", "refused")
    assert len(seen) == 1


def test_many_requests_at_once_learn_together() -> None:
    def script(seen: Seen) -> Act:
        return status(400, "Bad Request") if "seed" in seen.body else echo(seen)

    with BadServer(script) as server:
        replies = engine_for(server.url, in_flight=8).generate([request(str(n)) for n in range(40)])
        assert [reply.text for reply in replies] == [str(n) for n in range(40)]
        assert len(server.requests) <= 40 + 8 + 8


# Values of fields
@pytest.mark.parametrize(
    ("message", "accepted", "calls"),
    [
        ("Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. "
         "Supported values are: 'none', 'low', 'medium', and 'high'.", "none", 2),
        ("Unsupported value: 'minimal' is not supported with the 'gpt-5-pro' model. Supported values are: 'high'.", "high", 2),
        ("Invalid value for reasoning_effort", "low", 2),
        ("Unrecognized request argument supplied: reasoning_effort", None, 2),
        ("litellm.UnsupportedParamsError: openai does not support parameters: ['reasoning_effort'], for model=gpt-5", None, 2),
    ],
)  # fmt: skip
def test_the_lowest_value_is_learned_too(message: str, accepted: str | None, calls: int) -> None:
    def script(seen: Seen) -> Act:
        if seen.body.get("reasoning_effort") == accepted:
            return echo(seen)
        return status(400, message, param="reasoning_effort")

    with BadServer(script) as server:
        engine = engine_for(server.url, model="gpt-5-pro")
        assert engine.generate([request()])[0].error is None
        assert len(server.requests) == calls
        assert engine.generate([request()])[0].error is None
        assert len(server.requests) == calls + 1
        assert server.requests[-1].body.get("reasoning_effort") == accepted


def test_a_server_that_refuses_what_it_names_is_not_asked_without_end() -> None:
    refusal = status(400, "Unsupported value for reasoning_effort. Supported values are: 'none', 'low'.")
    with BadServer([refusal]) as server:
        (reply,) = engine_for(server.url, model="gpt-5").generate([request()])
        assert "Unsupported value" in (reply.error or "")
        assert len(server.requests) <= 12


def test_a_model_that_must_think_thinks_least(behind: Callable[..., BadServer]) -> None:
    def gemini(seen: Seen) -> Act:
        if seen.body.get("reasoning_effort") == "none":
            return status(400, "Budget 0 is invalid. This model only works in thinking mode.")
        return echo(seen)

    server = behind(gemini)
    assert (
        hosted("generativelanguage.googleapis.com/v1beta/openai", "gemini-3-x").generate([request()])[0].error
        is None
    )
    assert server.requests[-1].body["reasoning_effort"] == "low"

    def router(seen: Seen) -> Act:
        if seen.body.get("reasoning") == {"effort": "none"}:
            return status(400, "Reasoning is mandatory for this endpoint and cannot be disabled.")
        return echo(seen)

    server = behind(router)
    assert hosted("openrouter.ai/api/v1", "deepseek/r1").generate([request()])[0].error is None
    assert server.requests[-1].body["reasoning"] == {"effort": "low"}


def test_a_server_that_wants_thinking_switched_off_gets_its_switch() -> None:
    for message in (
        "parameter.enable_thinking must be set to false for non-streaming calls",
        "parameter.enable_thinking必须设置为false才能进行非流式调用",
        "enable thinking can not be support when `stream=False`.",
    ):

        def script(seen: Seen, message: str = message) -> Act:
            return echo(seen) if seen.body.get("enable_thinking") is False else status(400, message)

        with BadServer(script) as server:
            engine = engine_for(server.url)
            assert [engine.generate([request()])[0].error for _ in range(2)] == [None, None]
            assert len(server.requests) == 3
        # Where that is not it, nothing goes round in circles.
        _, seen = ask([status(400, message)])
        assert len(seen) <= 4


# Thought in place of an answer
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_an_answer_cut_off_in_thought_gets_more_tokens_once_for_the_run(field: str) -> None:
    def script(seen: Seen) -> Act:
        if seen.body["max_tokens"] < 1000:
            return answer("", finish="length", message={field: "Let me see. "})
        return echo(seen)

    with BadServer(script) as server:
        engine, second = engine_for(server.url), engine_for(server.url, stage="stage2")
        (reply,) = engine.generate([request()])
        assert (reply.text, reply.calls) == ("What is seen?", 2)
        engine.generate([request()])
        second.generate([request()])
        assert [seen.body["max_tokens"] for seen in server.requests] == [512, 2048, 2048, 2048]


CUT_AS_AN_ERROR = (
    "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher "
    "max_tokens.",
    "The response was incomplete: max_output_tokens was reached.",
    "The model ran out of output tokens while it was thinking",
    "All completion tokens were used for reasoning. Increase max_completion_tokens.",
)


def gpt5(message: str, enough: int) -> Callable[[Seen], Act]:
    """OpenAI's models that think: they refuse three fields one after the other, and report a cut as an error."""

    def script(seen: Seen) -> Act:
        if "max_tokens" in seen.body:
            return status(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                          "'max_completion_tokens' instead.", param="max_tokens")  # fmt: skip
        for name in ("temperature", "top_p"):
            if name in seen.body:
                return status(
                    400, f"Unsupported value: '{name}' does not support 0.6 with this model.", param=name
                )
        return echo(seen) if seen.body["max_completion_tokens"] >= enough else status(400, message)

    return script


@pytest.mark.parametrize("message", CUT_AS_AN_ERROR)
def test_a_cut_in_thought_that_comes_as_an_error_gets_more_tokens_too(message: str) -> None:
    with BadServer(gpt5(message, 1000)) as server:
        engine = engine_for(server.url, model="gpt-5")
        (reply,) = engine.generate([request()])
        assert (reply.text, reply.error, reply.calls) == ("What is seen?", None, 2)
        assert len(server.requests) == 5, "three refusals, one cut, one answer"
        assert engine.generate([request()])[0].error is None
        assert [seen.body["max_completion_tokens"] for seen in server.requests[3:]] == [512, 2048, 2048]


def test_what_was_refused_by_name_is_kept_where_the_request_fails_for_another_reason() -> None:
    for failure, finish in (
        (status(400, CUT_AS_AN_ERROR[0]), "error"),
        (status(400, "No such thing is written here.", code="content_filter"), "refused"),
        (status(400, "The prompt is too long: maximum context length"), "error"),
        (status(422, "Bad picture"), "error"),
    ):

        def script(seen: Seen, failure: Act = failure) -> Act:
            act = gpt5("", 0)(seen)
            return act if act.status == 400 else failure

        with BadServer(script) as server:
            engine = engine_for(server.url, model="gpt-5")
            assert engine.generate([request()])[0].finish == finish
            first = len(server.requests)
            engine.generate([request()])
            assert len(server.requests) == first + 1, "nothing is learned twice"
    # Where 2,048 tokens are too few as well, the reason says so.
    reply, _ = ask(gpt5(CUT_AS_AN_ERROR[0], 9999), model="gpt-5")
    assert "all 2048 tokens went into thought" in (reply.error or "")


def test_requests_that_are_cut_off_side_by_side_all_get_more() -> None:
    together = threading.Barrier(4)

    def script(seen: Seen) -> Act:
        if seen.body["max_tokens"] < 1000:
            return replace(answer(None, finish="length"), wait=lambda: together.wait(20))
        return echo(seen)

    with BadServer(script) as server:
        replies = engine_for(server.url, in_flight=4).generate([request(str(n)) for n in range(4)])
    assert [reply.text for reply in replies] == ["0", "1", "2", "3"]


def test_more_tokens_than_the_server_gives_are_not_asked_for_again() -> None:
    for refusal in (
        status(400, "max_tokens is too large: 2048. This model supports at most 1024 completion tokens", param="max_tokens"),
        status(400, "This model's maximum context length is 4096 tokens", code="context_length_exceeded"),
    ):  # fmt: skip

        def script(seen: Seen, refusal: Act = refusal) -> Act:
            return refusal if seen.body["max_tokens"] > 1024 else answer("", finish="length")

        with BadServer(script) as server:
            engine = engine_for(server.url)
            (reply,) = engine.generate([request()])
            assert "512 tokens went into thought" in (reply.error or "")
            engine.generate([request()])
            assert [seen.body["max_tokens"] for seen in server.requests] == [512, 2048, 512, 512]


def test_thought_without_an_answer_is_named_with_what_to_do() -> None:
    for act in (
        answer("", message={"reasoning_content": "Let me see."}),
        answer(None, message={"reasoning": "Let me see."}),
        answer("<think>Let me see.</think>"),
        answer(None, usage={"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 9}}),
        answer([{"type": "thinking", "thinking": "Let me see."}], message={"thinking": "Let me see."}),  # type: ignore[arg-type]
    ):  # fmt: skip
        reply, seen = ask([act])
        assert "thought alone" in (reply.error or "")
        assert "openai.extra" in (reply.error or "")
        assert "empty answer" not in (reply.error or "")
        assert len(seen) == 2, "another seed may end otherwise"
    assert ask([answer("A cat.", message={"reasoning_content": "Let me see."})])[0].text == "A cat."


# openai.extra
def test_extra_fields_go_into_each_request_and_are_part_of_who_answers() -> None:
    extra = {"top_k": 20, "temperature": 0.3, "chat_template_kwargs": {"enable_thinking": True}}
    with BadServer(lambda seen: status(400, "temperature, top_k")) as server:
        engine = engine_for(server.url, extra=extra)
        (reply,) = engine.generate([request()])
        assert {name: server.requests[0].body[name] for name in extra} == extra
        assert len(server.requests) == 1, "what the user set is not left out"
        assert "temperature, top_k" in (reply.error or "")
    assert engine.identity != engine_for(server.url).identity
    assert engine.identity == engine_for("http://other.example", extra=dict(reversed(extra.items()))).identity
    assert engine_for(None, thinking="server").identity != engine_for(None).identity


def test_extra_fields_that_cannot_be_are_refused() -> None:
    for value in ("{model: x}", "{messages: []}", "{stream: true}", "[1]", "{a: .nan}"):
        with pytest.raises(ConfigError, match=r"openai\.extra"):
            load_config(None, [f"openai.extra={value}"])
    assert load_config(None, ["openai.extra.options={a: [1, null]}"]).openai.extra == {
        "options": {"a": [1, None]}
    }


# Images
@pytest.mark.parametrize(
    ("message", "sent", "limit"),
    [
        ("At most 5 image(s) may be provided in one prompt. (parameter=image)", 32, 5),
        ("At most 1 image(s) may be provided in one request.", 32, 1),
        ("Too many images in request. Max is 10.", 32, 10),
        ("Too many images in request: 32 images provided, but the model supports a maximum of 10 images.", 32, 10),
        ("too many images and documents: 120 + 0 > 100", 120, 100),
        ("Too much media: 0 document pages + 107 images > 100", 107, 100),
        ("Too many images provided. This model supports up to 5 images", 32, 5),
        ("Exceeded maximum number of images (50) allowed in the request.", 64, 50),
        ("request contains 52 images, exceeding the maximum of 50 allowed per request", 52, 50),
        ("Too many images were provided, we currently limit the number of images per conversation to 60", 64, 60),
        ("Too many images in request: 32 > 8", 32, 8),
        ("this model only supports one image while more than one image requested", 32, 1),
        ("You can only include 10 image links", 32, 10),
        ("Multiple images are not supported by this model", 32, 1),
        ("The model llama-4-scout-17b takes too many images", 32, 16),
        ("Total number of images must be less than or equal to 8", 32, 8),
        ("Exactly one user image_url is required", 32, 1),
        ("You may provide no more than ten images per request.", 32, 10),
        ("The number of images must not exceed eight.", 32, 8),
        ("Too many images: a request may hold a maximum of 10 images (5 MB each).", 32, 10),
        ("Each request takes up to 4 images of at most 20 megapixels", 32, 4),
        ("图片数量超过限制，一个请求最多支持 10 张图片", 32, 10),
        ("单次请求的图片不能超过五张", 32, 5),
        ("画像は最大10枚までです", 32, 10),
        ("Se permiten como máximo 6 imágenes", 32, 6),
        ("The number of images should be between 1 and 20", 32, 20),
        ("Image count 32 is above the allowed 12", 32, 12),
        ("Expected <= 3 images", 32, 3),
        ("Expected fewer than 8 images", 32, 7),
        ("got 32 images, expected 1", 32, 1),
        ("images: 4 or fewer are allowed", 32, 4),
        ("32 images were given, 12 allowed", 32, 12),
        ("max_images=6", 32, 6),
        ("image_count must be <= 10", 32, 10),
        ("You sent 32 images; the limit is 16.", 32, 16),
        ("Le nombre d'images ne doit pas dépasser 10", 32, 10),
        ("Превышено количество изображений: максимум 10", 32, 10),
        ("Please send one image per message", 32, 1),
        ("vision model only supports a single image per message", 32, 1),
        ("multi-image input is not supported; send exactly one image", 32, 1),
        ("This model does not support multi-image prompts", 32, 1),
        ("More than one image is not supported", 32, 1),
        ("Number of images is too large", 32, 16),
    ],
)  # fmt: skip
def test_a_limit_of_images_is_no_long_context_and_its_number_is_read(
    message: str, sent: int, limit: int
) -> None:
    error = error_in(ServerAnswer(400, json.dumps({"error": {"message": message}}).encode()))
    assert error is not None
    assert error.meaning == "images"
    assert image_limit(error.words, sent) == limit


@pytest.mark.parametrize(
    ("code", "message", "meaning"),
    [
        (400, "image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes", "slot"),
        (400, "At least one of the image dimensions exceed max allowed size: 8000 pixels", "slot"),
        (400, "Only base64 encoded images are supported", "slot"),
        (400, "At most 0 image(s) may be provided in one prompt.", "blind"),
        (400, "Invalid content type. image_url is only supported by certain models.", "blind"),
        (400, "The images exceed the maximum context length of 8192 tokens", "too long"),
        (429, "Too many images per minute: at most 10", "again"),
        (400, "Image 3 of 32 is unsupported", "slot"),
        (400, "Failed to download image_url at index 3 within 5 seconds", "slot"),
        (400, "Invalid image: messages[1].content[4].image_url", "slot"),
        (400, "image 3: only JPEG and PNG are supported", "slot"),
        (400, "Image width must be at most 8000", "slot"),
        (400, "This model does not support image input", "blind"),
        (400, "This model takes 0 images", "blind"),
    ],
)
def test_other_errors_about_images_are_not_about_how_many(code: int, message: str, meaning: str) -> None:
    error = error_in(ServerAnswer(code, json.dumps({"error": {"message": message}}).encode()))
    assert error is not None
    assert error.meaning == meaning


def test_fewer_frames_are_sent_from_then_on_and_that_is_told_once() -> None:
    def script(seen: Seen) -> Act:
        if len(seen.pictures) > 3:
            return status(400, "At most 3 image(s) may be provided in one prompt.")
        return echo(seen)

    heard = Heard()
    with BadServer(script) as server:
        engine = engine_for(server.url)
        engine.get_ready(heard)
        replies: list[Reply] = [engine.generate([timed(8)])[0] for _ in range(2)]
        replies.append(engine.generate([request(frames=8)])[0])
        assert [len(seen.pictures) for seen in server.requests] == [8, 3, 3, 3]
        frames = server.requests[0].pictures
        assert server.requests[1].pictures == [frames[1], frames[4], frames[6]], "evenly chosen"
        texts = [
            [part["text"] for part in seen.body["messages"][1]["content"] if part["type"] == "text"]
            for seen in server.requests[1:]
        ]
    assert [reply.shown for reply in replies] == ["timed stills, 3 of 8 frames"] * 2 + [
        "stills, 3 of 8 frames"
    ]
    assert texts[0][:3] == ["Frame 2, at 1.0 s:", "Frame 5, at 4.0 s:", "Frame 7, at 6.0 s:"]
    assert texts[2][:3] == ["Frame 2:", "Frame 5:", "Frame 7:"], "a prompt may name frames by number"
    (note,) = heard.notes
    assert "3 of the 8 frames" in note


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        ("Total number of images must be less than or equal to 8", 8),
        ("multi-image input is not supported; send exactly one image", 1),
        ("Too many images: a request may hold a maximum of 10 images (5 MB each).", 10),
        ("Too many pictures", 8),
    ],
)
def test_a_limit_of_images_is_learned_in_whatever_words(message: str, limit: int) -> None:
    def script(seen: Seen) -> Act:
        return status(400, message) if len(seen.pictures) > limit else echo(seen)

    with BadServer(script) as server:
        engine = engine_for(server.url)
        assert [engine.generate([timed(32)])[0].error for _ in range(2)] == [None, None]
        assert len(server.requests[-1].pictures) == limit
        assert len(server.requests) <= 4


NGINX = plain("<html><head><title>413 Request Entity Too Large</title></head></html>", 413, "text/html")
TOO_MANY_TOKENS = status(
    429, "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 42000."
)


@pytest.mark.parametrize("refusal", [NGINX, TOO_MANY_TOKENS])
def test_a_request_that_is_too_large_is_tried_with_fewer_frames(refusal: Act) -> None:
    def takes(most: int) -> Callable[[Seen], Act]:
        return lambda seen: refusal if len(seen.pictures) > most else echo(seen)

    with BadServer(takes(9)) as server:
        engine = engine_for(server.url)
        replies = [engine.generate([timed(32)])[0] for _ in range(2)]
        assert [reply.shown for reply in replies] == ["timed stills, 8 of 32 frames"] * 2
        assert [len(seen.pictures) for seen in server.requests] == [32, 16, 8, 8]
    # With too few frames a clip would not be understood.
    with BadServer(takes(0)) as server:
        reply = engine_for(server.url).generate([timed(32)])[0]
        assert "frames.inside" in (reply.error or "")
        assert "longer context" not in (reply.error or "")
        assert [len(seen.pictures) for seen in server.requests] == [32, 16, 8, 4]


def test_a_404_about_the_form_of_a_request_leaves_fields_out() -> None:
    def script(seen: Seen) -> Act:
        if "response_format" in seen.body:
            return status(404, "No endpoints found that can handle the requested parameters. To learn more about "
                          "provider routing, visit: https://openrouter.ai/docs/provider-routing")  # fmt: skip
        return echo(seen)

    with BadServer(script) as server:
        engine = engine_for(server.url)
        assert [engine.generate([request(schema=True)])[0].error for _ in range(2)] == [None, None]
        assert "seed" in server.requests[-1].body
        assert len(server.requests) <= 6


# Ollama
@pytest.mark.parametrize(
    "refusal",
    [
        "registry.ollama.ai/library/tiny does not support thinking",
        '"tiny" does not support thinking',
        "think is not supported by this model",
    ],
)
def test_an_ollama_whose_model_cannot_think_after_all_is_no_longer_asked_not_to(refusal: str) -> None:
    chats: list[Any] = []

    def pages(path: str, body: Any) -> tuple[int, Any]:
        if path == "/api/show":
            capabilities = ["completion", "vision", "thinking"]
            return 200, {"model_info": {"qwen3vl.context_length": 32768}, "capabilities": capabilities}
        chats.append(body)
        if "think" in body:
            return 400, {"error": refusal}
        reply = {"role": "assistant", "content": "Rain falls."}
        return 200, {"message": reply, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 3}

    with BadServer(pages=pages) as server:
        settings = {"engine": "ollama:tiny", "openai": {"base_url": server.url}}
        engine = make_engine("ollama", build_settings(Config, settings), "stage1")
        replies = [engine.generate([request()])[0] for _ in range(2)]
    assert [reply.text for reply in replies] == ["Rain falls."] * 2
    assert ["think" in chat for chat in chats] == [True, False, False]


# vLLM
def test_the_paper_sends_vllm_one_video_without_times() -> None:
    with BadServer() as server:
        config = load_config(
            "paper", {"engine": "vllm:Qwen/Qwen2-VL-7B-Instruct", "openai.base_url": server.url}
        )
        engine = make_engine("openai", config, "stage1")
        untimed = replace(request(frames=32), timed=config.prompt.times)
        (reply,) = engine.generate([untimed])
        body = server.requests[0].body
    assert reply.shown == "video"
    video, text = body["messages"][1]["content"]
    assert (video["type"], text["type"]) == ("video_url", "text")
    assert len(video["video_url"]["url"].split(",")) == 33
    assert body["media_io_kwargs"] == {"video": {"num_frames": -1, "do_sample_frames": False}}


def test_a_vllm_that_takes_no_video_and_one_image_gets_one_and_says_so() -> None:
    def script(seen: Seen) -> Act:
        kinds = [part["type"] for part in seen.body["messages"][1]["content"]]
        if "video_url" in kinds:
            return status(400, "At most 0 video(s) may be provided in one prompt.")
        if kinds.count("image_url") > 1:
            return status(400, "At most 1 image(s) may be provided in one prompt.")
        return echo(seen)

    with BadServer(script) as server:
        engine = engine_with({"engine": "vllm:tiny", "openai": {"model": "tiny", "base_url": server.url}})
        replies = [engine.generate([request(frames=4)])[0] for _ in range(2)]
    assert [reply.shown for reply in replies] == ["stills, 1 of 4 frames"] * 2
