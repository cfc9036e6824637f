"""Where an endpoint is, what of its address and its key may be shown, and what is said of who gets what."""

from __future__ import annotations

import pytest

from shotad.core import Abilities, EngineError
from shotad.engines import address_of, key_from, notice
from shotad.engines.fake import FakeEngine
from tests.endpoint import engine_for


def test_what_is_set_first_counts_then_the_environment_then_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address_of(None, "").is_own
    monkeypatch.setenv("OPENAI_BASE_URL", "http://box:1/v1/")
    assert address_of(None, None).url == "http://box:1/v1"
    assert address_of("https://one/v1", "http://two/v1").host == "one"


def test_secrets_of_a_url_are_kept_apart() -> None:
    found = address_of("https://user:p%40ss-word@Box.example:8443/v1/chat/completions?api-key=top-secret#x")
    assert (found.url, found.host, found.shown) == (
        "https://Box.example:8443/v1", "box.example", "box.example:8443",
    )  # fmt: skip
    assert (found.login, found.query) == (("user", "p@ss-word"), (("api-key", "top-secret"),))
    assert not any(secret in f"{found!r} {found}" for secret in ("p@ss", "secret"))


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000/v1", "ftp://box/v1", "box", "http://", "http://[::1/v1",
        "https://user:hush-hush@box:port/v1?key=hush-too",
    ],
)  # fmt: skip
def test_what_is_no_url_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(EngineError, match="base_url") as caught:
        address_of(url)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        *((f"http://{host}/v1", True) for host in ("localhost:1", "127.8.8.8", "[::1]:80", "0.0.0.0", "llm.localhost")),
        *((f"http://{host}/v1", False) for host in ("api.openai.com", "192.168.1.5:8000", "localhost.example.com", "[2001:db8::1]:80")),
    ],
)  # fmt: skip
def test_this_machine_is_known_by_its_names(url: str, local: bool) -> None:
    assert address_of(url).is_local is local
    assert engine_for(url).abilities.sends_to == ("" if local else address_of(url).shown)


def test_a_key_that_no_header_can_carry_is_refused_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " sk-good\n")
    assert key_from("OPENAI_API_KEY") == "sk-good"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-“quoted”")
    with pytest.raises(EngineError, match="OPENAI_API_KEY") as caught:
        key_from("OPENAI_API_KEY")
    assert "quoted" not in str(caught.value)


def test_who_gets_frames_and_who_gets_words_is_said_where_something_leaves() -> None:
    local, fake = engine_for("http://localhost:8000/v1"), FakeEngine()
    assert notice(local, local) == notice(fake, fake) == []
    one = engine_for("https://user:pass-word@one.example/v1")
    two = engine_for("https://two.example/v1?key=abcdefgh", stage="stage2")
    (both,) = notice(one, engine_for("https://one.example/v1", stage="stage2"))
    assert [word in both for word in ("Frames", "descriptions", "one.example")] == [True] * 3
    frames, words = notice(one, two)
    assert [word in frames for word in ("Frames", "one.example")] == [True] * 2
    assert [word in words for word in ("no frames", "two.example")] == [True] * 2
    assert (notice(one, fake), notice(fake, two)) == ([frames], [words])
    assert not any(secret in both + frames + words for secret in ("pass-word", "abcdefgh"))
    assert "not encrypted" in notice(engine_for("http://box.example:8000/v1"), fake)[1]
    fake.abilities = Abilities(sends_to="else.example")
    assert "else.example" in notice(FakeEngine(), fake)[0]
