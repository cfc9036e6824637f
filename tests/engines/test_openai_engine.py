from __future__ import annotations

import logging
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shotad.core import (
    Config,
    Counting,
    Engine,
    EngineError,
    Identity,
    NoProgress,
    Preparing,
    ShotadError,
    Usage,
    build_settings,
)
from shotad.engines import OpenAI, make_engine
from tests.bad_server import Act, Backwards, BadServer, Seen, answer, echo, status
from tests.endpoint import StoppedTime, engine_for, engine_with, request

pytest.importorskip("httpx", reason="the extra openai is not installed")

KEY = "sk-plantedkey-0123456789/abcdef"


def test_an_engine_is_made_by_name_and_keeps_the_interfaces() -> None:
    config = build_settings(Config, {"openai": {"model": "tiny", "base_url": "http://localhost:1/v1"}})
    made = make_engine("openai", config, "stage1")
    assert isinstance(made, OpenAI)
    assert isinstance(made, Engine)
    assert isinstance(made, Preparing)
    assert isinstance(made, Counting)
    assert made.abilities.wants_overlay
    assert made.abilities.accepts_images
    assert made.abilities.max_images is None
    assert made.image_tokens(597, 336, 32) == 32 * 85


def test_identity_tells_what_changes_answers_and_no_more() -> None:
    one = engine_for("http://one.example/v1", key_name="ONE", in_flight=1, timeout=1.0)
    two = engine_for("http://two.example/v1", key_name="TWO")
    assert one.identity == two.identity == Identity("openai", "tiny", "detail=low jpeg=75")
    assert engine_for(None, detail="high").identity != one.identity
    assert engine_for(None, stage="stage2", detail="high").identity == Identity("openai", "tiny", "")


def test_each_stage_may_have_its_own_model_and_server() -> None:
    with BadServer() as first, BadServer() as second:
        tree = {
            "openai": {"model": "both", "base_url": first.url},
            "stage2": {"model": "writer", "base_url": second.url, "revision": "r2"},
        }
        one, two = engine_with(tree), engine_with(tree, stage="stage2")
        one.generate([request()])
        two.generate([request()])
        assert [seen.body["model"] for seen in first.requests] == ["both"]
        assert [seen.body["model"] for seen in second.requests] == ["writer"]
        assert two.identity == Identity("openai", "writer", "r2")


def test_words_of_all_scripts_and_frames_arrive_and_come_back() -> None:
    with BadServer() as server:
        (reply,) = engine_for(server.url).generate([request("Zoë — 猫 😀 “so”", frames=3)])
        assert reply.text == "Zoë — 猫 😀 “so”"
        assert (reply.finish, reply.usage, reply.error) == ("stop", Usage(11, 5), None)
        assert len(server.requests[0].pictures) == 3


def test_replies_keep_their_places_when_the_server_answers_backwards() -> None:
    with BadServer(Backwards(8)) as server:
        engine = engine_for(server.url, in_flight=8)
        questions = [f"question {n}" for n in range(8)]
        replies = engine.generate([request(question) for question in questions])
        assert [reply.text for reply in replies] == questions
        assert server.most_at_once == 8


def test_no_more_are_under_way_than_the_settings_say() -> None:
    a_fourth = threading.Event()

    def script(seen: Seen) -> Act:
        if seen.number < 3:
            a_fourth.wait(timeout=0.3)
        else:
            a_fourth.set()
        return echo(seen)

    with BadServer(script) as server, ThreadPoolExecutor(4) as pool:
        engine = engine_for(server.url, in_flight=3)
        # Several threads that each bring a list share the same places.
        replies = pool.map(engine.generate, [[request(f"{n}.{m}") for m in range(3)] for n in range(4)])
        assert [[reply.text for reply in group] for group in replies] == [
            [f"{n}.{m}" for m in range(3)] for n in range(4)
        ]
        assert server.most_at_once == 3


def test_the_key_is_read_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    with BadServer() as server:
        engine = engine_for(server.url, key_name="MY_KEY")
        engine.generate([request()])
        monkeypatch.setenv("MY_KEY", "sk-first")
        engine.generate([request()])
        monkeypatch.setenv("MY_KEY", "sk-second")
        engine.generate([request()])
        sent = [seen.headers.get("authorization") for seen in server.requests]
        assert sent == [None, "Bearer sk-first", "Bearer sk-second"]


def test_what_a_url_holds_besides_goes_to_the_server_and_nowhere_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with BadServer([status(500), status(400, "no: hushhush bWU6aHVzaGh1c2g= topsecret")]) as server:
        url = server.url.replace("http://", "http://me:hushhush@") + "?token=topsecret"
        engine = engine_for(url)
        (reply,) = engine.generate([request()])
        assert server.requests[0].headers["authorization"] == "Basic bWU6aHVzaGh1c2g="
        assert server.requests[0].path == "/v1/chat/completions?token=topsecret"
        assert reply.error is not None
        assert reply.error.count("[secret]") == 3
        for text in (repr(reply), repr(engine.address), caplog.text):
            assert "hushhush" not in text
            assert "topsecret" not in text


@pytest.mark.parametrize("code", [400, 401, 403, 404, 429, 500])
@pytest.mark.parametrize(
    "echoed", [KEY, KEY.replace("/", "\\/"), f"sent: Bearer {KEY}" + "x" * 400, "x" * 285 + KEY]
)
def test_a_key_that_a_server_repeats_is_never_shown(
    code: int, echoed: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    body = '{"error": {"message": "' + echoed + '"}}'
    with BadServer([Act(code, body)]) as server:
        try:
            shown = repr(engine_for(server.url, retries=1).generate([request()]))
        except EngineError as error:
            shown = f"{error!r} {error.what} {error.hint} {error.__cause__!r} {error.__context__!r}"
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.url[7:-3] in shown
    # Not even the beginning of it, where a long message is cut.
    assert KEY[:14] not in shown
    assert KEY[:14] not in caplog.text


def test_the_part_of_a_key_that_a_server_shows_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    message = f"Incorrect API key provided: {KEY[:8]}*****************{KEY[-4:]}."
    with BadServer([status(401, message)]) as server, pytest.raises(EngineError) as caught:
        engine_for(server.url).generate([request()])
    assert "Incorrect API key provided: [secret]." in str(caught.value)


def test_a_key_in_an_answer_or_a_page_is_struck_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with BadServer([answer(f"Your key is {KEY}."), Act(200, f"<p>{KEY}</p>", kind="text/html")]) as server:
        engine = engine_for(server.url, retries=0)
        first, second = engine.generate([request()])[0], engine.generate([request()])[0]
    assert first.text == "Your key is [secret]."
    assert second.error is not None
    assert "[secret]" in second.error


def test_getting_ready_contacts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with BadServer() as server:
        engine_for(server.url).get_ready(NoProgress())
        assert server.requests == server.listings == []
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    engine_for(None).get_ready(NoProgress())


def test_openai_wants_a_key_and_others_need_none() -> None:
    with pytest.raises(EngineError, match="MY_KEY"):
        engine_for(None, key_name="MY_KEY").get_ready(NoProgress())
    engine_for("http://box.example/v1", key_name="MY_KEY").get_ready(NoProgress())


def test_without_a_model_the_servers_models_are_named() -> None:
    with BadServer(models=["llava:7b", "qwen"]) as server:
        engine = engine_with({"openai": {"base_url": server.url}})
        with pytest.raises(EngineError, match=r"openai\.model.*llava:7b, qwen"):
            engine.generate([request()])
        with pytest.raises(EngineError, match=r"openai\.model.*llava:7b, qwen"):
            engine.get_ready(NoProgress())
        assert server.requests == []
    with BadServer(models=None) as server, pytest.raises(EngineError, match=r"openai\.model"):
        engine_with({"openai": {"base_url": server.url}}).generate([request()])
    with pytest.raises(EngineError, match=r"openai\.model"):
        engine_with({"openai": {"base_url": "https://box.invalid/v1"}}).get_ready(NoProgress())


def test_a_missing_client_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    engine = engine_for("http://localhost:1/v1")
    with pytest.raises(ShotadError, match=r"shotad\[openai\]"):
        engine.get_ready(NoProgress())
    with pytest.raises(ShotadError, match=r"shotad\[openai\]"):
        engine.generate([request()])


def test_making_an_engine_loads_no_client() -> None:
    code = (
        "import sys; from shotad.core.config import Config; from shotad.engines.table import make_engine; "
        "make_engine('openai', Config(), 'stage1'); from shotad.engines import notice; "
        "print([m for m in ('httpx', 'torch', 'cv2') if m in sys.modules])"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"


def test_no_proxy_of_the_environment_carries_frames_off_a_local_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with BadServer([status(500)]) as proxy, BadServer() as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        assert engine_for(server.url).generate([request("yes")])[0].text == "yes"
        assert proxy.requests == []


def test_the_organisation_is_not_told_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    with BadServer() as server:
        engine_for(server.url).generate([request()])
        assert not [
            name for name in server.requests[0].headers if "organization" in name or "project" in name
        ]


def test_frames_are_not_sent_on_to_where_a_server_points() -> None:
    with BadServer() as other, BadServer([status(307, headers={"Location": other.url + "/chat/completions?t=secret"})]) as server:  # fmt: skip
        with pytest.raises(EngineError, match=r"sends calls on to 127\.0\.0\.1.*base_url"):
            engine_for(server.url).generate([request(frames=1)])
        assert other.requests == []


def test_what_the_answer_ended_with() -> None:
    acts = [
        answer("A cat", finish="length"),
        answer("Sorry, no.", finish="content_filter"),
        answer(None, message={"refusal": "I cannot help with that."}),
        answer(None, finish="content_filter"),
        status(400, "The response was filtered", code="content_filter"),
        answer("A cat.", finish="eos"),
    ]
    with BadServer(acts) as server:
        engine = engine_for(server.url)
        replies = [engine.generate([request()])[0] for _ in acts]
        assert len(server.requests) == len(acts)
    assert [(reply.finish, reply.text, reply.error) for reply in replies] == [
        ("length", "A cat", None),
        ("refused", "Sorry, no.", None),
        ("refused", "I cannot help with that.", None),
        ("refused", "", None),
        ("refused", "The response was filtered", None),
        ("stop", "A cat.", None),
    ]


def test_an_empty_answer_is_asked_for_once_more_with_another_seed() -> None:
    time = StoppedTime()
    with BadServer([answer(" \n"), answer("A cat.")]) as server:
        (reply,) = engine_for(server.url, time).generate([request(seed=7)])
        assert [seen.body["seed"] for seen in server.requests] == [7, 8]
    assert (reply.text, reply.usage) == ("A cat.", Usage(22, 10))
    assert time.slept == []


def test_an_answer_that_stays_empty_is_a_failure_that_was_paid_for() -> None:
    with BadServer([answer("")]) as server:
        (reply,) = engine_for(server.url).generate([request()])
        assert len(server.requests) == 2
    assert (reply.finish, reply.text, reply.error, reply.usage) == (
        "error",
        "",
        "empty answer",
        Usage(22, 10),
    )


def test_thought_that_took_all_tokens_says_what_to_raise() -> None:
    with BadServer([answer("<think>Hmm", finish="length")]) as server:
        (reply,) = engine_for(server.url).generate([request()])
        assert len(server.requests) == 1
    assert reply.error is not None
    assert "max_tokens" in reply.error
    assert reply.usage == Usage(11, 5)
