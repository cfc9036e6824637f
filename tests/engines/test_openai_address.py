from __future__ import annotations

import dataclasses

import pytest

from shotad.core import Abilities, EngineError
from shotad.engines import address_of, key_from, notice
from shotad.engines.fake import FakeEngine
from shotad.engines.openai_client import OWN, secrets_of, struck_out, unhinted
from tests.endpoint import engine_for


def test_the_first_that_is_set_counts_then_the_environment_then_openai(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert address_of(None, "").url == OWN
    monkeypatch.setenv("OPENAI_BASE_URL", "http://box:1/v1/")
    assert address_of(None, None).url == "http://box:1/v1"
    assert address_of("https://one/v1", "http://two/v1").host == "one"


def test_secrets_of_a_url_are_kept_apart() -> None:
    found = address_of("https://user:p%40ss-word@Box.example:8443/v1/chat/completions?api-key=top-secret#x")
    assert found.url == "https://Box.example:8443/v1"
    assert (found.host, found.port, found.shown) == ("box.example", 8443, "box.example:8443")
    assert found.login == ("user", "p@ss-word")
    assert found.query == (("api-key", "top-secret"),)
    for shown in (repr(found), str(found), found.shown):
        assert "p@ss" not in shown
        assert "secret" not in shown


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://box/v1", "box", "http://", "http://box:port/v1", "http://[::1/v1"])  # fmt: skip
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(EngineError, match="base_url"):
        address_of(url)


def test_a_url_that_is_refused_does_not_show_its_secrets() -> None:
    with pytest.raises(EngineError) as caught:
        address_of("https://user:hush-hush@box:port/v1?key=hush-too")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://localhost:1/v1", "http://127.0.0.1", "http://127.8.8.8/v1", "http://[::1]:80/v1", "http://0.0.0.0:11434/v1", "http://llm.localhost/v1"])  # fmt: skip
def test_this_machine_is_known_by_its_names(url: str) -> None:
    assert address_of(url).is_local
    assert engine_for(url).abilities.sends_to == ""


@pytest.mark.parametrize("url", ["https://api.openai.com/v1", "http://192.168.1.5:8000/v1", "http://localhost.example.com/v1", "http://[2001:db8::1]:80/v1"])  # fmt: skip
def test_other_machines_are_other_machines(url: str) -> None:
    assert not address_of(url).is_local
    assert engine_for(url).abilities.sends_to == address_of(url).shown


def test_keys_that_no_header_can_carry_are_refused_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert key_from("OPENAI_API_KEY") == ""
    monkeypatch.setenv("OPENAI_API_KEY", " sk-good\n")
    assert key_from("OPENAI_API_KEY") == "sk-good"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-“quoted”")
    with pytest.raises(EngineError, match="OPENAI_API_KEY") as caught:
        key_from("OPENAI_API_KEY")
    assert "quoted" not in str(caught.value)


def test_secrets_are_struck_out_and_short_words_are_not() -> None:
    secrets = secrets_of(address_of("http://me:pass@box/v1?token=abcdef123"), "sk-12345678")
    text = struck_out("sk-12345678 abcdef123 bWU6cGFzcw== pass me", secrets)
    assert text == "[secret] [secret] [secret] pass me"
    assert unhinted("Incorrect key: sk-12ab*********wxyz.") == "Incorrect key: [secret]."


def test_nothing_is_said_where_nothing_leaves() -> None:
    local = engine_for("http://localhost:8000/v1")
    assert notice(local, local) == []
    assert notice(FakeEngine(), FakeEngine()) == []


def test_who_gets_frames_and_who_gets_words() -> None:
    one = engine_for("https://user:pass-word@one.example/v1")
    two = engine_for("https://two.example/v1?key=abcdefgh", stage="stage2")
    (both,) = notice(one, engine_for("https://one.example/v1", stage="stage2"))
    assert "Frames" in both
    assert "descriptions" in both
    assert "one.example" in both
    frames, words = notice(one, two)
    assert "Frames" in frames
    assert "one.example" in frames
    assert "no frames" in words
    assert "two.example" in words
    assert notice(one, FakeEngine()) == [frames]
    assert notice(FakeEngine(), two) == [words]
    assert not any(secret in line for line in (both, frames, words) for secret in ("pass-word", "abcdefgh"))


def test_an_open_connection_is_named() -> None:
    lines = notice(engine_for("http://box.example:8000/v1"), FakeEngine())
    assert len(lines) == 2
    assert "not encrypted" in lines[1]


def test_other_engines_that_send_are_named_too() -> None:
    class Remote(FakeEngine):
        def __init__(self) -> None:
            super().__init__()
            self.abilities = dataclasses.replace(Abilities(), sends_to="else.example")

    assert "else.example" in notice(FakeEngine(), Remote())[0]
