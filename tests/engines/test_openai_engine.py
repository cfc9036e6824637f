"""The engine openai against a server of our own: where it is, what it sends, shows, learns and gives."""

from __future__ import annotations

import base64
import html
import json
import logging
import subprocess
import sys
import threading
from contextlib import suppress
from urllib.parse import quote

import pytest

from shotad.core import (
    Abilities,
    Identity,
    NoProgress,
    Reply,
    ShotadError,
    Usage,
)
from shotad.core.config.words import SamplingSettings
from shotad.core.errors import EngineError
from shotad.engines import privacy_notice
from shotad.engines.fake import FakeEngine
from shotad.engines.openai_client import address_of, api_key
from shotad.engines.openai_engine import map_in_order
from shotad.script.reasons import is_sentence, reason_in
from tests.bad_server import (
    GATEWAY_HAS_ANOTHER_MODEL,
    GATEWAY_REFUSES_KEY,
    GATEWAY_WAITS,
    LLAMA_REFUSES_SCHEMA,
    LLAMA_SEES_NOTHING,
    LLAMA_TOO_LONG,
    SERVE_HAS_ANOTHER_MODEL,
    SERVE_REFUSES_VIDEO,
    Act,
    BadServer,
    Script,
    Seen,
    answer,
    completion,
    drop,
    echo,
    plain,
    status,
    through_gateway,
)
from tests.endpoint import StoppedTime, ask, engine_for, engine_with, request

pytest.importorskip("httpx", reason="the extra openai is not installed")

KEY = "sk-plantedkey-0123456789/abcdef"


def test_identity_tells_what_changes_answers_and_words_of_all_scripts_arrive() -> None:
    one = engine_for("http://one.example/v1", key_name="ONE", in_flight=1, timeout=1.0)
    two = engine_for("http://two.example/v1", key_name="TWO")
    assert one.identity == two.identity == Identity("openai", "tiny", "detail=low jpeg=75")
    assert engine_for(None, detail="high").identity != one.identity
    assert engine_for(None, stage="stage2", detail="high").identity == Identity("openai", "tiny", "")
    reply, seen = ask(echo, request("Zoë — 猫 😀 “so”", frames=3))
    assert reply == Reply("Zoë — 猫 😀 “so”", "stop", Usage(11, 5), shown="stills")
    assert len(seen[0].pictures) == 3


# Secrets
def test_what_else_a_url_holds_goes_to_the_server_and_nowhere_else(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with BadServer([status(500), status(400, "no: hushhush bWU6aHVzaGh1c2g= topsecret me")]) as server:
        engine = engine_for(server.url.replace("http://", "http://me:hushhush@") + "?token=topsecret")
        (reply,) = engine.generate([request()])
        assert server.requests[0].headers["authorization"] == "Basic bWU6aHVzaGh1c2g="
        assert server.requests[0].path == "/v1/chat/completions?token=topsecret"
    assert "no: [secret] [secret] [secret] me" in (reply.error or "")
    shown = f"{reply!r} {engine.address!r} {caplog.text}"
    assert not any(secret in shown for secret in ("hushhush", "topsecret"))


@pytest.mark.parametrize(
    ("code", "echoed"),
    [(400, KEY), (401, KEY.replace("/", "\\/")), (429, f"Bearer {KEY}" + "x" * 400), (401, "x" * 285 + KEY)],
)
def test_a_key_that_a_server_repeats_is_never_shown(
    code: int, echoed: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    with BadServer([Act(code, '{"error": {"message": "' + echoed + '"}}')]) as server:
        try:
            shown = repr(engine_for(server.url, retries=1).generate([request()]))
        except EngineError as error:
            shown = f"{error!r} {error.what} {error.hint} {error.__cause__!r} {error.__context__!r}"
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.url[7:-3] in shown
    # Not even the beginning of it, where a long message is cut.
    assert KEY[:14] not in shown + caplog.text


def _unicode(text: str) -> str:
    return "".join(f"\\u{ord(one):04x}" for one in text)


def _percent(text: str) -> str:
    return "".join(f"%{ord(one):02X}" for one in text)


def _entities(text: str) -> str:
    return "".join(f"&#{ord(one)};" for one in text)


WAYS = {
    "JSON escapes": _unicode(KEY),
    "JSON escapes in capitals": _unicode(KEY).upper().replace("U", "u"),
    "some escapes": KEY.replace("s", "\\u0073").replace("/", "\\/"),
    "JSON in JSON": json.dumps(_unicode(KEY))[1:-1],
    "JSON in JSON in JSON": json.dumps(json.dumps(_unicode(KEY))[1:-1])[1:-1],
    "percent": _percent(KEY),
    "percent of a query": quote(KEY, safe=""),
    "percent twice": quote(_percent(KEY)),
    "HTML": _entities(KEY),
    "HTML, hexadecimal": "".join(f"&#x{ord(one):X};" for one in KEY),
    "HTML twice": html.escape(_entities(KEY)),
    "HTML within JSON": _entities(KEY).replace("&", "\\u0026"),
    "a name of HTML": KEY.replace("/", "&sol;"),
    "base 64": base64.b64encode(KEY.encode()).decode(),
    "marks that are not seen": "\u200b".join(KEY),
    "escaped marks that are not seen": "\\u200b".join(KEY),
    "capitals": KEY.upper(),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("where", ["answer", "line in an answer", "error", "page"])
def test_a_key_is_struck_out_however_a_server_writes_it(
    way: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    text = f"It is {WAYS[way]} here."
    body = json.dumps(completion("TEXT"))
    act = {
        "answer": Act(200, body.replace("TEXT", text)),
        "line in an answer": Act(
            200, body.replace('"TEXT"', json.dumps('{"summarized_AD": "' + text + '"}'))
        ),
        "error": Act(400, '{"error": {"message": "' + text + '"}}'),
        "page": Act(500, f"<p>{text}</p>", kind="text/html"),
    }[where]
    reply = ask([act], retries=0)[0]
    shown = f"{reply.text} {reply.error} {reply.notes}"
    assert "[secret]" in shown
    assert "here" in shown
    assert not any(part in shown.lower() for part in (KEY, KEY[3:12], WAYS[way][:20].lower()))
    with suppress(ValueError):
        assert KEY not in str(json.loads(reply.text)), "once its text is decoded too"


def test_a_key_in_a_header_and_in_an_answer_of_another_encoding_is_struck_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = KEY.replace("/", "-")
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(EngineError) as moved:
        ask([Act(307, "", {"Location": f"http://{key}.example/v1"})])
    assert key not in str(moved.value)
    body = json.dumps(completion(f"It is {key}."), ensure_ascii=False)
    reply = ask([Act(200, body.encode("utf-16"))])[0]
    assert reply.text == "It is [secret]."
    # Text that only looks like escapes stays to the letter.
    text = r"50% of %41 & more &amp; \u0073 \n C:\sk-planted &#115;"
    assert ask([answer(text)])[0].text == text


def test_secrets_of_other_servers_of_a_run_are_struck_out_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE_KEY", "sk-one-1234567890abcdef")
    monkeypatch.setenv("TWO_KEY", "sk-two-1234567890abcdef")
    says = [answer("I saw sk-one-1234567890abcdef, pa55-of-the-first and sk-two-1234567890abcdef.")]
    with BadServer(says) as one, BadServer(says) as two:
        first = one.url.replace("http://", "http://me:pa55-of-the-first@")
        engines = [
            engine_for(first, key_name="ONE_KEY"),
            engine_for(one.url, key_name="ONE_KEY"),
            engine_for(two.url, key_name="TWO_KEY"),
        ]
        texts = [engine.generate([request()])[0].text for engine in engines]
    assert texts[-1] == "I saw [secret], [secret] and [secret]."


def test_parts_of_a_key_and_keys_in_answers_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    message = f"Incorrect API key provided: {KEY[:8]}*****************{KEY[-4:]}."
    with pytest.raises(EngineError, match=r"Incorrect API key provided: \[secret\]\."):
        ask([status(401, message)])
    assert ask([answer(f"Your key is {KEY}.")])[0].text == "Your key is [secret]."
    with pytest.raises(EngineError, match=r"\[secret\]"):
        ask([Act(200, f"<p>{KEY}</p>", kind="text/html")])


def test_frames_go_to_the_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with BadServer([status(500)]) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        assert ask(echo, request("yes"))[0].text == "yes"
        assert proxy.requests == []
    # Frames are not sent on to where a server points.
    with BadServer() as other:
        there = {"Location": other.url + "/chat/completions?t=secret"}
        with pytest.raises(EngineError, match=r"sends calls on to 127\.0\.0\.1.*base_url"):
            ask([status(307, headers=there)], request(frames=1))
        assert other.requests == []
    # The organisation is not told to others.
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    with BadServer() as server:
        engine_for(server.url).generate([request()])
        assert not [
            name for name in server.requests[0].headers if "organization" in name or "project" in name
        ]


# Before the first call
def test_getting_ready_contacts_nothing_and_openai_alone_wants_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with BadServer() as server:
        engine_for(server.url).get_ready(NoProgress())
        assert server.requests == server.listings == []
    engine_for("http://box.example/v1", key_name="MY_KEY").get_ready(NoProgress())
    with pytest.raises(EngineError, match="MY_KEY"):
        engine_for(None, key_name="MY_KEY").get_ready(NoProgress())
    monkeypatch.setenv("MY_KEY", KEY)
    engine_for(None, key_name="MY_KEY").get_ready(NoProgress())


def test_without_a_model_or_the_client_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with BadServer(models=["llava:7b", "qwen"]) as server:
        engine = engine_with({"openai": {"base_url": server.url}})
        for act in (lambda: engine.generate([request()]), lambda: engine.get_ready(NoProgress())):
            with pytest.raises(EngineError, match=r"openai\.model.*llava:7b, qwen"):
                act()
        assert server.requests == []
    with BadServer(models=None) as server, pytest.raises(EngineError, match=r"openai\.model"):
        engine_with({"openai": {"base_url": server.url}}).generate([request()])
    with pytest.raises(EngineError, match=r"openai\.model"):
        engine_with({"openai": {"base_url": "https://box.invalid/v1"}}).get_ready(NoProgress())
    monkeypatch.setitem(sys.modules, "httpx", None)
    engine = engine_for("http://localhost:1/v1")
    for act in (lambda: engine.generate([request()]), lambda: engine.get_ready(NoProgress())):
        with pytest.raises(ShotadError, match=r"shotad\[openai\]"):
            act()


# What came back
def test_what_the_answer_ended_with() -> None:
    for act, reply in (
        (answer("A cat", finish="length"), ("length", "A cat")),
        (answer("Sorry, no.", finish="content_filter"), ("refused", "Sorry, no.")),
        (answer(None, message={"refusal": "I cannot help with that."}), ("refused", "I cannot help with that.")),
        (answer(None, finish="content_filter"), ("refused", "")),
        (status(400, "The response was filtered", code="content_filter"), ("refused", "The response was filtered")),
        (answer("A cat.", finish="eos"), ("stop", "A cat.")),
    ):  # fmt: skip
        found, seen = ask([act])
        assert (found.finish, found.text, found.error, len(seen)) == (*reply, None, 1)


def test_an_empty_answer_is_asked_for_once_more_with_another_seed() -> None:
    time = StoppedTime()
    reply, seen = ask([answer(" \n"), answer("A cat.")], request(seed=7), time)
    assert [one.body["seed"] for one in seen] == [7, 8]
    assert (reply.text, reply.usage, time.slept) == ("A cat.", Usage(22, 10), [])
    reply, seen = ask([answer("")])
    assert (reply.finish, reply.error, reply.usage, len(seen)) == ("error", "empty answer", Usage(22, 10), 2)
    reply, seen = ask([answer("<think>Hmm", finish="length")])
    assert "max_tokens" in (reply.error or ""), "thought took all tokens: it says what to raise"
    assert (reply.usage, len(seen)) == (Usage(22, 10), 2), "once more, with more tokens"


# What a server does not understand

LIMIT = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
WARMTH = "Unsupported value: 'temperature' does not support 0.6 with this model. Only the default (1) value is supported."


def refusing(**refusals: Act) -> Script:
    """Refuses requests that hold one of these, and answers others with their question."""
    return lambda seen: next((act for name, act in refusals.items() if name in seen.body), echo(seen))


def test_a_server_without_schemas_is_asked_plainly_from_then_on() -> None:
    for refusal in (
        status(400, "Invalid schema for response_format 'answer'", param="response_format"),
        plain('{"error": "json schema is not supported by this backend"}', 400),
        plain('{"detail": [{"loc": ["body", "response_format"], "msg": "extra fields not permitted"}]}', 422),
        status(400, "guided decoding is not available"),
        status(400, "Failed to parse grammar"),
        status(500, "The model produced output that does not match the expected peg-native format"),
    ):
        with BadServer(refusing(response_format=refusal)) as server:
            engine = engine_for(server.url)
            texts = ["one", "two", "three"]
            assert [engine.generate([request(text, schema=True)])[0].text for text in texts] == texts
            assert ["response_format" in seen.body for seen in server.requests] == [True, False, False, False]


class Notes(NoProgress):
    """Keeps what an engine says."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


def test_top_k_is_sent_where_it_is_set_and_left_out_and_said_once_where_it_is_refused() -> None:
    limited = SamplingSettings(temperature=0.6, top_p=0.9, top_k=50)
    _, seen = ask(echo, request(sampling=limited))
    assert seen[0].body["top_k"] == 50
    _, seen = ask(echo, request())
    assert "top_k" not in seen[0].body
    # As OpenAI refuses it.
    refusal = status(400, "Unrecognized request argument supplied: top_k", code=None)
    notes = Notes()
    with BadServer(refusing(top_k=refusal)) as server:
        engine = engine_for(server.url)
        engine.get_ready(notes)
        replies = [engine.generate([request(text, sampling=limited)])[0].text for text in ("one", "two")]
        assert replies == ["one", "two"]
        assert ["top_k" in seen.body for seen in server.requests] == [True, False, False]
        assert {seen.body["top_p"] for seen in server.requests} == {0.9}
    assert [line for line in notes.lines if "top_k" in line] == notes.lines
    assert len(notes.lines) == 1


LINE = '{"summarized_AD": "A cat sleeps."}'


def form_in(seen: Seen) -> str:
    return str(seen.body.get("response_format", {}).get("type"))


def knowing(*forms: str, otherwise: Act | None = None) -> Script:
    """Holds to a schema in one of these forms and ignores others, or gives ``otherwise`` to them."""
    return lambda seen: answer(LINE) if form_in(seen) in forms else otherwise or echo(seen)


def test_a_server_that_ignores_schemas_is_asked_in_the_other_form_from_then_on() -> None:
    for ignoring in (
        answer("A cat sleeps."),
        answer("Here is your line: A cat", finish="length"),
        answer('{"line": "A cat."}'),
        answer('{"summarized_AD": 3}'),
        answer("[]"),
    ):
        with BadServer(knowing("json_object", otherwise=ignoring)) as server:
            engine = engine_for(server.url)
            replies = [engine.generate([request(schema=True)])[0] for _ in range(3)]
            assert [reply.text for reply in replies] == [LINE] * 3
            assert [(reply.calls, reply.usage) for reply in replies[:2]] == [
                (2, Usage(22, 10)),
                (1, Usage(11, 5)),
            ]
            forms = [form_in(seen) for seen in server.requests]
            assert forms == ["json_schema", "json_object", "json_object", "json_object"]
            first, other = (seen.body for seen in server.requests[:2])
            assert other["response_format"]["schema"] == first["response_format"]["json_schema"]["schema"]
            assert {**other, "response_format": None} == {**first, "response_format": None}
            assert engine.generate([request("no schema")])[0].calls == 1
            assert form_in(server.requests[-1]) == "None"


@pytest.mark.parametrize("refusal", [LLAMA_REFUSES_SCHEMA, through_gateway(LLAMA_REFUSES_SCHEMA)])
def test_a_server_that_names_the_other_form_of_a_schema_is_asked_in_it_from_then_on(refusal: Act) -> None:
    with BadServer(knowing("json_object", otherwise=refusal)) as server:
        engine = engine_for(server.url)
        assert [engine.generate([request(schema=True)])[0].text for _ in range(3)] == [LINE] * 3
        forms = [form_in(seen) for seen in server.requests]
        assert forms == ["json_schema", "json_object", "json_object", "json_object"]
    # One that names it and does not take it either is asked without a schema.
    with BadServer(refusing(response_format=refusal)) as server:
        engine = engine_for(server.url)
        assert [engine.generate([request("one", schema=True)])[0].text for _ in range(2)] == ["one", "one"]
        assert [form_in(seen) for seen in server.requests] == ["json_schema", "json_object", "None", "None"]


def test_what_real_servers_say_is_understood() -> None:
    frames = request(frames=2)
    for act, asked, words in (
        (LLAMA_SEES_NOTHING, frames, "The model tiny takes no images"),
        (
            through_gateway(LLAMA_SEES_NOTHING, "InternalServerError"),
            frames,
            "The model tiny takes no images",
        ),
        (SERVE_HAS_ANOTHER_MODEL, request(), "tiny was not found.*pinned to 'llava'"),
        (GATEWAY_HAS_ANOTHER_MODEL, request(), "tiny was not found.*It has: tiny"),
        (GATEWAY_REFUSES_KEY, request(), "refuses the key in the environment variable OPENAI_API_KEY"),
    ):
        time = StoppedTime()
        with BadServer([act]) as server:
            with pytest.raises(EngineError, match=words):
                engine_for(server.url, time).generate([asked])
            assert (len(server.requests), time.slept) == (1, [])
    for act in (LLAMA_TOO_LONG, through_gateway(LLAMA_TOO_LONG, "ContextWindowExceededError")):
        reply, seen = ask([act])
        assert (len(seen), "too long for the model" in (reply.error or "")) == (1, True)
    time = StoppedTime()
    reply, _ = ask([GATEWAY_WAITS, answer("A cat.")], time=time)
    assert (reply.text, 5 <= time.slept[0] <= 6) == ("A cat.", True)


def test_a_server_that_knows_no_field_for_videos_gets_images_from_then_on() -> None:
    def script(seen: Seen) -> Act:
        return SERVE_REFUSES_VIDEO if "media_io_kwargs" in seen.body else echo(seen)

    with BadServer(script) as server:
        engine = engine_with({"engine": "vllm:tiny", "openai": {"base_url": server.url, "model": "tiny"}})
        replies = [engine.generate([request(frames=2, timed=True)])[0] for _ in range(2)]
        assert [reply.error for reply in replies] == [None, None]
        assert [len(seen.pictures) for seen in server.requests] == [0, 2, 2]


def test_the_other_form_of_a_schema_is_tried_once_and_only_kept_where_it_helps() -> None:
    for act in (
        answer("A cat."),
        status(400, "response_format.schema: extra fields not permitted"),
        status(500),
        drop(),
        answer("", usage={}),
    ):

        def script(seen: Seen, act: Act = act) -> Act:
            return act if form_in(seen) == "json_object" else answer(seen.question)

        with BadServer(script) as server:
            engine = engine_for(server.url)
            replies = engine.generate([request(text, schema=True) for text in ("one", "two", "three")])
            assert [reply.text for reply in replies] == ["one", "two", "three"]
            assert sum(reply.calls for reply in replies) == 4
            answers = 4 if act == answer("A cat.") else 3
            assert sum(reply.usage.tokens_in for reply in replies) == 11 * answers
            assert sorted(form_in(seen) for seen in server.requests) == ["json_object"] + ["json_schema"] * 3


def test_no_other_form_of_a_schema_is_tried_where_the_server_holds_to_it_or_does_not_answer() -> None:
    asked = request(schema=True)
    for act in (
        answer(LINE),
        answer(LINE[:20], finish="length"),
        answer("I cannot help with that.", finish="content_filter"),
        status(400, "Bad picture"),
    ):
        _, seen = ask([act], asked)
        assert [form_in(one) for one in seen] == ["json_schema"]
    # Thoughts before the JSON are none of the answer.
    assert ask([answer(f"<think>A cat?</think>{LINE}")], asked)[0].calls == 1


def test_newer_models_are_asked_in_their_own_words_from_then_on() -> None:
    script = refusing(
        max_tokens=status(400, LIMIT, param="max_tokens", code="unsupported_parameter"),
        temperature=status(400, WARMTH, param="temperature", code="unsupported_value"),
        top_p=status(400, "Unknown parameter: 'top_p'.", param="top_p"),
        seed=status(400, "extra fields not permitted: seed"),
    )
    with BadServer(script) as server:
        engine = engine_for(server.url)
        assert [engine.generate([request(text)])[0].text for text in ("one", "two")] == ["one", "two"]
        assert len(server.requests) == 6
        left = {"model", "messages", "max_completion_tokens", "chat_template_kwargs"}
        assert set(server.requests[-1].body) == left
        assert server.requests[-1].body["max_completion_tokens"] == server.requests[0].body["max_tokens"]


@pytest.mark.parametrize("frames", [0, 2])
def test_a_template_without_a_system_turn_gets_its_words_from_the_user(frames: int) -> None:
    def script(seen: Seen) -> Act:
        has_system = any(turn["role"] == "system" for turn in seen.body["messages"])
        return status(400, "System role not supported") if has_system else echo(seen)

    reply, seen = ask(script, request("What?", frames=frames))
    assert reply.text.split() == ["You", "describe", "films.", "What?"]
    assert len(seen[-1].pictures) == frames


# Where it is, and who is told
def test_addresses_and_keys_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address_of(None, "").is_openai
    monkeypatch.setenv("OPENAI_BASE_URL", "http://box:1/v1/")
    assert address_of(None, None).url == "http://box:1/v1"
    assert address_of("https://one/v1", "http://two/v1").host == "one"
    # A key that no header can carry is refused unseen.
    monkeypatch.setenv("OPENAI_API_KEY", " sk-good\n")
    assert api_key("OPENAI_API_KEY") == "sk-good"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-“quoted”")
    with pytest.raises(EngineError, match="OPENAI_API_KEY") as caught:
        api_key("OPENAI_API_KEY")
    assert "quoted" not in str(caught.value)


def test_secrets_of_a_url_are_kept_apart_and_what_is_none_is_refused_without_them() -> None:
    found = address_of("https://user:p%40ss-word@Box.example:8443/v1/chat/completions?api-key=top-secret#x")
    assert (found.url, found.host, found.shown) == (
        "https://Box.example:8443/v1", "box.example", "box.example:8443",
    )  # fmt: skip
    assert (found.login, found.query) == (("user", "p@ss-word"), (("api-key", "top-secret"),))
    assert not any(secret in f"{found!r} {found}" for secret in ("p@ss", "secret"))
    for url in ("ftp://box/v1", "box", "http://", "http://[::1/v1", "https://user:hush@box:port/v1?key=hush"):
        with pytest.raises(EngineError, match="base_url") as caught:
            address_of(url)
        assert "hush" not in str(caught.value)


def test_this_machine_is_known_by_its_names() -> None:
    for host in ("localhost:1", "127.8.8.8", "[::1]:80", "0.0.0.0", "llm.localhost"):
        assert address_of(f"http://{host}/v1").is_local, host
    for host in ("192.168.1.5:8000", "localhost.example.com", "[2001:db8::1]:80"):
        assert not address_of(f"http://{host}/v1").is_local, host
        assert engine_for(f"http://{host}/v1").abilities.sends_to == host


def test_who_gets_frames_and_who_gets_words_is_said_where_something_leaves() -> None:
    local, fake = engine_for("http://localhost:8000/v1"), FakeEngine()
    assert privacy_notice(local, local) == privacy_notice(fake, fake) == []
    one = engine_for("https://user:pass-word@one.example/v1")
    two = engine_for("https://two.example/v1?key=abcdefgh", stage="stage2")
    (both,) = privacy_notice(one, engine_for("https://one.example/v1", stage="stage2"))
    assert [word in both for word in ("Frames", "descriptions", "one.example")] == [True] * 3
    frames, words = privacy_notice(one, two)
    assert [word in frames for word in ("Frames", "one.example")] == [True] * 2
    assert [word in words for word in ("no frames", "two.example")] == [True] * 2
    assert (privacy_notice(one, fake), privacy_notice(fake, two)) == ([frames], [words])
    assert not any(secret in both + frames + words for secret in ("pass-word", "abcdefgh"))
    assert "not encrypted" in privacy_notice(engine_for("http://box.example:8000/v1"), fake)[1]
    fake.abilities = Abilities(sends_to="else.example")
    assert "else.example" in privacy_notice(FakeEngine(), fake)[0]


# Threads that nobody has to wait for
def test_an_exception_waits_for_what_is_under_way_and_for_nothing_else() -> None:
    together, ended = threading.Barrier(2), []

    def work(item: int) -> None:
        together.wait(20)
        if item == 0:
            raise ValueError("number one")
        threading.Event().wait(0.05)
        ended.append(item)

    with pytest.raises(ValueError, match="number one"):
        map_in_order(work, range(50), 2)
    assert ended == [1]


def test_the_end_of_the_program_waits_for_no_thread() -> None:
    script = (
        "import signal, threading; from shotad.engines.openai_engine import map_in_order\n"
        "signal.setitimer(signal.ITIMER_REAL, 1)\n"
        "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
        "map_in_order(lambda _: threading.Event().wait(), [1, 2], 2)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=60)
    assert b"KeyboardInterrupt" in done.stderr


@pytest.mark.parametrize(
    "act",
    [
        Act(500, '{"error": {"message": "The worker; it crashed."}}'),
        Act(400, '{"error": {"message": "Unknown thing: x."}}'),
        Act(400, '{"error": {"message": "maximum context length is 4096 tokens; you asked for 5000"}}'),
        Act(413, "<h1>Request Entity Too Large</h1>", kind="text/html"),
        Act(200, '{"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}'),
        Act(200, '{"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}'),
        Act(200, '{"hello": "there"}'),
    ],
    ids=["server", "request", "long", "large", "thought", "empty", "no completion"],
)
def test_the_error_of_a_reply_can_be_said_in_the_language_of_a_track(act: Act) -> None:
    reply = ask([act] * 4, retries=0)[0]
    assert reply.error
    assert is_sentence(reply.error)
    assert reason_in(reply.error, "de") != reply.error
