"""Voices behind a server, over real HTTP."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shotad.core import VoiceError, VoiceSettings
from shotad.sound import make_voice, notice
from shotad.sound.voice_server import EndpointVoice
from tests.bad_server import Act, BadServer, endless
from tests.endpoint import StoppedTime
from tests.speech_server import refusal, sound, tone

pytest.importorskip("httpx", reason="the endpoint's client is not installed: pip install .[openai]")

KEY = "sk-test-0123456789abcdef"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def voice_at(server: BadServer, time: StoppedTime | None = None, **settings: Any) -> EndpointVoice:
    time = time or StoppedTime()
    made = VoiceSettings(base_url=server.url, **settings)
    return EndpointVoice(made, "nova", sleep=time.sleep, clock=time.clock)


def test_what_is_asked_is_what_the_protocol_says_and_bare_samples_are_read_at_the_rate_told() -> None:
    bare = np.round(tone(0.5, 16000) * 32767).astype("<i2").tobytes()
    with BadServer([sound(tone(0.5)), Act(200, bare, kind="audio/pcm;rate=16000")]) as server:
        take, other = (voice_at(server).speak("Anna runs.") for _ in range(2))
    assert server.requests[0].path == "/v1/audio/speech"
    assert server.requests[0].body == {
        "model": "gpt-4o-mini-tts", "voice": "nova", "input": "Anna runs.", "response_format": "wav",
    }  # fmt: skip
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert (take.rate, take.voice, take.text, take.speed) == (24000, "openai:nova", "Anna runs.", 1.0)
    assert take.seconds == pytest.approx(0.5, abs=0.02)
    assert (other.rate, round(other.seconds, 1)) == (16000, 0.5)


def test_a_server_without_speed_or_instructions_is_asked_without_from_then_on() -> None:
    acts = [
        refusal(400, "Unrecognized request argument supplied: speed"),
        Act(422, b'{"detail": [{"loc": ["body", "instructions"], "msg": "Extra inputs"}]}'),
        sound(tone(0.5)),
    ]
    with BadServer(acts) as server:
        voice = voice_at(server, instructions="Calm.")
        first, second = voice.speak("Anna runs.", 1.1), voice.speak("Bo sits.", 1.2)
    assert ["speed" in seen.body for seen in server.requests] == [True, False, False, False]
    assert ["instructions" in seen.body for seen in server.requests] == [True, True, False, False]
    assert (first.speed, second.speed) == (1.0, 1.0)


def test_what_may_pass_is_tried_again_as_the_server_asks() -> None:
    time = StoppedTime()
    acts = [refusal(429, "Slow down.", **{"Retry-After": "7"}), refusal(503, "Busy."), sound(tone(0.5))]
    with BadServer(acts) as server:
        voice_at(server, time).speak("Anna runs.")
    assert len(server.requests) == 3
    assert time.slept[0] == 7.0
    assert 0.5 <= time.slept[1] <= 2.0


@pytest.mark.parametrize(("act", "words"), [
    (refusal(401, f"Incorrect API key provided: {KEY}."), "right for this server"),
    (refusal(404, "The model does not exist."), "may not have the model"),
    (refusal(402, "Billing."), "nothing left"),
    (refusal(400, "Unknown voice nova."), "may not know the voice"),
])  # fmt: skip
def test_what_will_not_pass_is_said_at_once_without_the_key(act: Act, words: str) -> None:
    with BadServer([act]) as server, pytest.raises(VoiceError) as error:
        voice_at(server).speak("Anna runs.")
    assert words in error.value.hint
    assert KEY not in str(error.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("act", [
    Act(200, b"<html>hello</html>", kind="text/html"),
    Act(200, b'{"error": {"message": "no such voice"}}'),
    Act(200, b'{"audio": "none"}'),
])  # fmt: skip
def test_an_answer_without_sound_is_a_clear_error(act: Act) -> None:
    with BadServer([act]) as server, pytest.raises(VoiceError):
        voice_at(server).speak("Anna runs.")


@pytest.mark.parametrize("code", [200, 500])
def test_no_more_is_taken_of_an_endless_answer_than_the_limit(code: int) -> None:
    with BadServer([endless(code)]) as server:
        with pytest.raises(VoiceError, match="more than 32 MiB"):
            voice_at(server).speak("A cat.")
        assert server.sent < 48 * len(server.requests) << 20


def test_openai_itself_wants_a_key_and_a_wrong_address_is_told_by_its_setting(monkeypatch):
    with pytest.raises(VoiceError) as error:
        make_voice(VoiceSettings(name="openai", base_url="ftp://x"), "en")
    assert "voice.base_url" in error.value.hint
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(VoiceError, match="wants a key"):
        make_voice(VoiceSettings(name="openai:nova"), "en")


def test_what_leaves_the_machine_is_told_before() -> None:
    away = make_voice(VoiceSettings(name="openai", base_url="http://speech.example/v1"), "de")
    assert notice(away) == [
        "The lines of the track leave this machine: they are sent to speech.example to be spoken.",
        "The connection to speech.example is not encrypted (http).",
    ]
    assert notice(make_voice(VoiceSettings(name="openai", base_url="http://localhost:9/v1"), "de")) == []


def test_the_identity_names_all_that_changes_the_sound_and_no_secret() -> None:
    def identity(**settings: Any) -> str:
        made = VoiceSettings(base_url="http://user:secret12@localhost:9/v1", **settings)
        return EndpointVoice(made).identity

    assert len({identity(), identity(model="kokoro"), identity(instructions="Calm.")}) == 3
    assert "secret12" not in identity()
