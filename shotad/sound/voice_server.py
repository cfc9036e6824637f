"""Voices behind a server that speaks OpenAI's speech protocol (``/v1/audio/speech``): OpenAI, Kokoro-FastAPI,
LocalAI, vLLM and others. The lines are sent there.

Servers differ in what they know besides text and voice: one that refuses a speed or instructions is asked
again without, and from then on. Whatever format comes back is read, for many send their own.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from typing import Any

from shotad.core import ShotadError
from shotad.core.cancellation import pause
from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import VoiceError
from shotad.engines import (
    Address,
    CallFailed,
    ChatClient,
    Clock,
    ServerAnswer,
    ServerError,
)
from shotad.engines.openai_client import (
    address_of,
    api_key,
    key_name_of,
    require_httpx,
)
from shotad.engines.openai_wire import (
    Sleep,
    asked_pause,
    error_in,
    pauses,
)
from shotad.sound.voice_engines import ANY_LANGUAGE, RawSound, Reading, Speaker, VoiceInfo
from shotad.sound.voice_sound import decoded, decoded_pcm, is_file

KEY_NAME = "OPENAI_API_KEY"
"""The environment variable that holds the key."""
_LICENCE = "Licence of the server"
_DEFAULT_VOICE = "alloy"
_PCM_RATE = 24000
_SPEED_RANGE = (0.25, 4.0)
_TIMEOUT = 120.0
_RETRIES = 4
_LONGEST_PAUSE = 60.0
"""Seconds; a server that wants a longer one has no more to give today."""
_RATE = re.compile(r"rate=(\d+)")


class _SpeechLine(ChatClient):
    """The line to a server, for another of its calls."""

    def say(self, body: dict[str, Any]) -> ServerAnswer:
        """Sends a speech request. Raises CallFailed; any status is an answer."""
        return self._call("audio/speech", _TIMEOUT, body)


class EndpointVoice(Speaker):
    """``openai:alloy``: a voice of ``voice.model`` at ``voice.base_url``. May be used by several threads.

    The server is not asked which languages it speaks: these voices follow that of the text.
    """

    reads, at_once = Reading.UNITS, 2
    longest = 4000
    """The protocol takes 4096 characters at most."""

    def __init__(
        self, settings: VoiceSettings, which: str = "", *, sleep: Sleep = pause, clock: Clock = time.time
    ) -> None:
        """Contacts no other machine. Raises VoiceError for an address that is none and a missing key."""
        try:
            named = address_of(settings.base_url)
        except ShotadError as error:
            raise VoiceError(error.what, error.hint.replace("openai.base_url", "voice.base_url")) from None
        url = named.url.removesuffix("/audio/speech")
        self._address = Address(url, named.host, named.port, named.login, named.query)
        self._line = _SpeechLine(self._address, KEY_NAME, _TIMEOUT)
        self._settings, self._sleep, self._clock = settings, sleep, clock
        self._which = which or _DEFAULT_VOICE
        self._refused: set[str] = set()
        self._lock = threading.Lock()
        self.name = f"openai:{self._which}"
        instructions = settings.instructions
        manner = hashlib.sha256(instructions.encode()).hexdigest()[:8] if instructions else ""
        self.identity = " ".join(filter(None, (self.name, settings.model, self._address.shown, manner)))
        self.sends_to = "" if self._address.is_local else self._address.shown
        self.is_open = self._address.is_open
        self.key_name = key_name_of(self._address, KEY_NAME)
        try:
            require_httpx()
            key = api_key(KEY_NAME)
        except ShotadError as error:
            raise VoiceError(error.what, error.hint, again=error.again) from None
        if self._address.is_openai and not key and self._address.login is None:
            message = f"{self._address.shown} wants a key, and the environment has no {KEY_NAME}."
            raise VoiceError(message, "Set it, or name another server: voice.base_url.")

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        """The kind itself: which voices a server has is not asked."""
        try:
            require_httpx()
        except ShotadError as error:
            return (VoiceInfo("openai", "openai", (ANY_LANGUAGE,), _LICENCE, False, error.hint),)
        note = "An OpenAI-compatible server (voice.base_url), to which the lines are sent: openai:VOICE."
        return (VoiceInfo("openai", "openai", (ANY_LANGUAGE,), _LICENCE, True, note),)

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> EndpointVoice:
        """The server's voice ``which``. Raises VoiceError."""
        return cls(settings, which)

    def _sound(self, text: str, speed: float) -> RawSound:
        """The text as the server speaks it. Raises VoiceError.

        The speed reached is 1 where the server knows no speed. A server that says nothing and ignores it is
        not found out.
        """
        pace = min(max(speed, _SPEED_RANGE[0]), _SPEED_RANGE[1])
        raw, body = self._answer(text, pace)
        kind = raw.headers.get("content-type", "").lower()
        if ("audio/pcm" in kind or "audio/l16" in kind) and not is_file(raw.body):
            match = _RATE.search(kind)
            samples, rate = decoded_pcm(raw.body), int(match.group(1)) if match else _PCM_RATE
        else:
            samples, rate = decoded(raw.body, self.name)
        return samples, rate, float(body.get("speed", 1.0))

    def _answer(self, text: str, pace: float) -> tuple[ServerAnswer, dict[str, Any]]:
        """The server's sound, and what it was asked for."""
        waits = pauses(int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big"), _LONGEST_PAUSE)
        tries = 0
        while True:
            with self._lock:
                refused = frozenset(self._refused)
            body: dict[str, Any] = {"model": self._settings.model, "voice": self._which, "input": text}
            body["response_format"] = "wav"
            if pace != 1.0 and "speed" not in refused:
                body["speed"] = round(pace, 3)
            if self._settings.instructions and "instructions" not in refused:
                body["instructions"] = self._settings.instructions
            try:
                raw = self._line.say(body)
            except CallFailed as error:
                self._wait(tries, f"does not answer: {error}", next(waits), None)
                tries += 1
                continue
            except ShotadError as error:
                raise VoiceError(error.what, error.hint, again=error.again) from None
            trouble = _error_of(raw)
            if trouble is None:
                return raw, body
            if trouble.status in (400, 415, 422, 500, 501):
                words = f"{trouble.param} {trouble.words}".lower()
                without = [name for name in ("speed", "instructions") if name in body and name in words]
                with self._lock:
                    fresh = [name for name in without if name not in self._refused]
                    self._refused.update(fresh)
                if fresh:
                    continue  # the same may be asked again without what this server does not know
            if trouble.meaning != "again":
                hints = {
                    "key": f"Is the key in {KEY_NAME} right for this server?",
                    "quota": "The account has nothing left.",
                    "missing": f"It may not have the model {self._settings.model!r} (voice.model) or speech "
                    "at all.",
                    "moved": "Write voice.base_url as it answers without a redirect.",
                    "too long": "The line is too long for it.",
                }
                hint = hints.get(trouble.meaning, f"It may not know the voice {self._which!r}: openai:VOICE.")
                raise VoiceError(
                    f"The speech endpoint {self._address.shown} says: {_described(trouble)}.", hint
                )
            self._wait(
                tries, f"says: {_described(trouble)}", next(waits), asked_pause(raw.headers, self._clock())
            )
            tries += 1

    def _wait(self, tries: int, problem: str, own_pause: float, requested_pause: float | None) -> None:
        if tries >= _RETRIES or (requested_pause or 0.0) > _LONGEST_PAUSE:
            hint = "Is the server up? Run again: what is spoken is kept."
            raise VoiceError(f"The speech endpoint {self._address.shown} {problem.rstrip('.')}.", hint)
        self._sleep(max(own_pause, requested_pause or 0.0))


def _error_of(raw: ServerAnswer) -> ServerError | None:
    """What is wrong with an answer; sound that begins like JSON is no error."""
    if raw.status == 200 and raw.body.lstrip()[:1] != b"{":
        return None
    error = error_in(raw)
    if error is None and isinstance(raw.document, dict):
        return ServerError(400, f"it sends no sound but {json.dumps(raw.document)[:100]}")
    return error


def _described(trouble: ServerError) -> str:
    return f"{trouble.message.rstrip('.') or 'nothing'} (status {trouble.status})"
