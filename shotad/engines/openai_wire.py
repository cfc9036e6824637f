"""Requests as the protocol writes them, answers read back, errors, and what a server does not understand.

Order within a request: turns as they come, the system's first; in the turn that the clip belongs to, the
frames before the text. Servers keep what they have computed for the longest beginning that requests share:
the same frames, which cost most, are asked about again with other words (repairs, the second look). Models
are also trained with pictures first.

Newer models of OpenAI refuse ``max_tokens`` and any temperature but 1; Ollama, LM Studio and older vLLM
know no JSON schema, or only some; chat templates such as Gemma's have no system turn. The refusal is a
400 or 422 that names the part, or a 500 that names the schema. A change that has helped is kept.

Pauses after an error grow twofold from a second, drawn from the request's own seed, so that requests do not
come back together. A server's wish is read as the official client does: ``retry-after-ms``, ``Retry-After``.
"""

from __future__ import annotations

import base64
import email.utils
import io
import json
import math
import random
import re
import threading
import time
import wave
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from shotad.core import HEARING_RATE, EndpointSettings, EngineError, Reply, Request, Usage
from shotad.film import jpeg

Body = dict[str, Any]

JPEG_QUALITY = 75
"""Of the frames sent: Pillow's own default; the detail that a server sees is ``openai.detail``."""
_FILM = "data:video/jpeg;base64"
"""Before the frames of a video, JPEGs in base 64 with commas between, as vLLM takes them."""
_AFTER_THOUGHT = re.compile(r"^.*</think(?:ing)?>", re.DOTALL)
_UNENDED_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*$", re.DOTALL)


_CUT_OFF = ("length", "max_tokens", "max_output_tokens")
EMPTY = "empty answer"
_CENSORED = ("content_filter", "safety", "refusal", "prohibited_content", "blocklist")


def body_of(request: Request, model: str, settings: EndpointSettings, *, video: bool = False) -> Body:
    """The request as JSON, see `said_otherwise`; ``video``: a timed clip is one video, in vLLM's words."""
    sampling = request.sampling
    body: Body = {
        "model": model,
        "messages": messages_of(request, settings, video=video),
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": seed_of(request.seed),
    }
    if request.schema is not None:
        schema = {"name": "answer", "strict": True, "schema": strict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if video and request.timed and request.clip is not None:
        times = {"num_frames": -1, "do_sample_frames": False, **request.clip.video_metadata}
        body["media_io_kwargs"] = {"video": times}
    return body


def seed_of(seed: int) -> int:
    """The seed as every server takes it, 31 bits: some refuse a negative one of 32."""
    return seed & 0x7FFF_FFFF


def messages_of(request: Request, settings: EndpointSettings, *, video: bool = False) -> list[Body]:
    """All turns. The clip goes with the turn marked for it, else with the last of the user's."""
    made: list[Body] = [{"role": turn.role, "content": sound(turn.text)} for turn in request.messages]
    users = [index for index, turn in enumerate(request.messages) if turn.role == "user"]
    marked = (index for index, turn in enumerate(request.messages) if turn.with_clip)
    place, clip = next(marked, users[-1] if users else None), request.clip
    if clip is None or place is None:
        return made
    frames = [base64.b64encode(jpeg(image, JPEG_QUALITY)).decode() for image in clip.images]
    parts: list[Body] = []
    if request.timed and video:
        parts = [{"type": "video_url", "video_url": {"url": ",".join([_FILM, *frames])}}]
    else:
        for stamp, data in zip(clip.stamps, frames, strict=True):
            url = {"url": f"data:image/jpeg;base64,{data}", "detail": settings.detail}
            parts += [_text_part(stamp)] if request.timed else []
            parts.append({"type": "image_url", "image_url": url})
    if clip.sound is not None:
        stream = io.BytesIO()
        with wave.open(stream, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(HEARING_RATE)
            file.writeframes((clip.sound.clip(-1, 1) * 32767).astype("<i2").tobytes())
        data = base64.b64encode(stream.getvalue()).decode()
        parts.append({"type": "input_audio", "input_audio": {"data": data, "format": "wav"}})
    made[place]["content"] = [*parts, _text_part(request.messages[place].text)]
    return made


def _text_part(text: str) -> Body:
    return {"type": "text", "text": sound(text)}


def strict(schema: Any) -> Any:
    """A schema as OpenAI's strict mode wants it: every object closed, all of its properties required."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if made.get("type") == "object" and isinstance(made.get("properties"), dict):
        made = {**made, "additionalProperties": False, "required": list(made["properties"])}
    return made


def reply_in(document: Any, limit: int) -> Reply | None:
    """The reply in a chat completion of at most ``limit`` tokens; None for other documents and for errors."""
    match document:
        case {"choices": [{"message": {**message}, **choice}, *_], **rest}:
            finish = str(choice.get("finish_reason") or "stop").lower()
        case _:
            return None
    if finish == "error":
        return None
    counts = rest.get("usage")
    counts = counts if isinstance(counts, Mapping) else {}
    usage = Usage(_count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")))
    # Servers leave out the opening mark of what was thought before, or never close it.
    text = _UNENDED_THOUGHT.sub("", _AFTER_THOUGHT.sub("", _text(message.get("content")))).strip()
    refusal = _text(message.get("refusal")).strip()
    if refusal or finish in _CENSORED:
        return Reply(refusal or text, "refused", usage)
    if text:
        return Reply(text, "length" if finish in _CUT_OFF else "stop", usage)
    more = f": all {limit} tokens went before a word; raise the stage's sampling.max_tokens"
    return Reply("", "error", usage, f"{EMPTY}{more if finish in _CUT_OFF else ''}")


def sound(text: str) -> str:
    """Text that can be written: halves of characters outside the first plane are replaced.

    >>> sound("\\ud83d!") == "\\ufffd!"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(content: Any) -> str:
    """The words of a message: a string, or a list of parts of which the texts count."""
    match content:
        case str():
            return sound(content)
        case list():
            parts = [part for part in content if isinstance(part, Mapping)]
            texts = [part.get("text") for part in parts if part.get("type") in ("text", "output_text")]
            return "".join(sound(text) for text in texts if isinstance(text, str))
    return ""


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 1e12 else 0


_REFUSAL = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|not available"
    r"|forbidden|extra|invalid|only the default|deprecated|instead|must be"
)
_SCHEMA = re.compile(
    r"response[_ ]?format|schema|guided|grammar|structured|json mode|request\.format|for format|expected peg"
)
_SYSTEM = re.compile(r"system (?:role|message|prompt|turn)|'system'|roles must alternate")


def _has_system(body: Body) -> bool:
    return any(turn["role"] == "system" for turn in body["messages"])


def _without_system(body: Body) -> Body:
    """The system's words at the head of the user's first turn."""
    texts = [turn["content"] for turn in body["messages"] if turn["role"] == "system"]
    turns = [turn for turn in body["messages"] if turn["role"] != "system"]
    head = "\n\n".join(texts)
    for index, turn in enumerate(turns):
        if turn["role"] == "user":
            content = turn["content"]
            joined = (
                f"{head}\n\n{content}"
                if isinstance(content, str)
                else [{"type": "text", "text": head}, *content]
            )
            return {**body, "messages": [*turns[:index], {**turn, "content": joined}, *turns[index + 1 :]]}
    return {**body, "messages": [{"role": "user", "content": head}, *turns]}


def said_otherwise(body: Body, changes: Collection[str]) -> Body:
    """The request with these ``changes``, where they apply: names of keys to write otherwise or leave out, or
    ``system``."""
    made = {key: value for key, value in body.items() if key not in changes}
    if "max_tokens" in changes and "max_tokens" in body:
        made["max_completion_tokens"] = body["max_tokens"]
    return _without_system(made) if "system" in changes and _has_system(body) else made


def change_for(said: Body, trouble: ServerError) -> str | None:
    """The change that a refusal of the request ``said`` asks for; None where it asks for none."""
    words = trouble.words
    is_about_form = trouble.status in (400, 422) and trouble.meaning == "slot"
    if is_about_form:
        for name in ("max_tokens", "temperature", "top_p", "seed"):
            named = trouble.param == name or (name in words and _REFUSAL.search(words))
            if name in said and named:
                return name
    about_schema = trouble.param.startswith("response_format") or _SCHEMA.search(words)
    if "response_format" in said and about_schema and (is_about_form or trouble.status >= 500):
        return "response_format"
    return "system" if is_about_form and _has_system(said) and _SYSTEM.search(words) else None


_LONGEST = 300
_MARKUP = re.compile(r"<(script|style)\b(?:[^<]|<(?!/?\1\b))*+</\1>|<[^<>]*>", re.DOTALL | re.IGNORECASE)

Meaning = Literal["again", "slot", "refused", "too long", "quota", "key", "missing", "blind", "moved"]
"""Whether it may pass (``again``), only this request fails (slot, refused, too long), or every one."""

_QUOTA = {
    "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance",
    "insufficient_credits", "insufficient_funds",
}  # fmt: skip
"""A limit of requests per minute has other codes, and passes."""
_UNWANTED = {
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "moderation_blocked",
}
_UNKNOWN_MODEL = {"model_not_found", "model_not_exist", "unknown_model", "model_not_available"}
_TOO_LONG_CODES = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
_TOO_LONG = re.compile(
    r"context (?:length|size|window)|maximum context|max_model_len|prompt is too long|too many tokens"
    r"|reduce the length|input is too long|longer than the maximum"
    r"|must be at least 1, got -|too many images|at most \d+ image"
)
_BLIND = re.compile(
    r"not a multimodal model"
    r"|(?:image|vision|multimodal)[a-z_ ]{0,20}(?:is|are) not (?:support|enabled|available)"
    r"|(?:not|n't) support (?:image|vision|multimodal)|support image input|mmproj"
)
_FLAGGED = re.compile(r"\bflagged\b|requires moderation|content (?:policy|filter)")
"""How gateways word a 403 that is about what was sent, not about who sends it."""
_NO_SUCH_MODEL = re.compile(r"model\b.{0,120}?(?:not found|does not exist|not exist|is not available)")


@dataclass(frozen=True, slots=True)
class Raw:
    """A server's answer as it came. Names of ``headers`` are in small letters."""

    status: int
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def document(self) -> Any:
        """The body read as JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


@dataclass(frozen=True, slots=True)
class ServerError:
    """An error as the server words it, in whatever of the usual forms. ``words`` are in small letters."""

    status: int
    message: str
    code: str = ""
    param: str = ""

    @property
    def words(self) -> str:
        """What it says, to be searched."""
        return self.message.lower()

    @property
    def meaning(self) -> Meaning:
        """What follows from it."""
        if self.status == 402 or self.code in _QUOTA:
            return "quota"
        if self.code in _UNWANTED or (self.status == 403 and _FLAGGED.search(self.words)):
            return "refused"
        if self.code in _TOO_LONG_CODES or self.status == 413:
            return "too long"
        if _BLIND.search(self.words):
            return "blind"
        return self._by_status()

    def _by_status(self) -> Meaning:
        if self.status in (408, 409, 425, 429) or self.status >= 500:
            return "again"
        if self.status in (401, 403):
            return "key"
        if self.status < 400:
            return "moved"
        if self.status in (404, 405, 410) or self.code in _UNKNOWN_MODEL or _NO_SUCH_MODEL.search(self.words):
            return "missing"
        return "too long" if _TOO_LONG.search(self.words) else "slot"


def trouble_in(raw: Raw) -> ServerError | None:
    """The error in an answer; also in one with status 200 that holds nothing but an error."""
    document = raw.document
    if isinstance(document, list) and len(document) == 1:
        document = document[0]
    held = document if isinstance(document, Mapping) else {}
    status = raw.status
    if status == 200 and (held.get("choices") or not held.get("error")):
        return None
    name = next((name for name in ("error", "detail", "errors", "message") if held.get(name)), None)
    if name is None:
        return ServerError(status, shortened(raw.body.decode("utf-8", "replace")))
    error = held if name == "message" else held[name]
    told = error.get("code") if isinstance(error, Mapping) else None
    if status == 200:  # gateways answer so with the true one in the body
        status = int(told) if isinstance(told, int) and 400 <= told < 600 else 500
    if not isinstance(error, Mapping):
        return ServerError(status, shortened(error if isinstance(error, str) else json.dumps(error)))
    message = error.get("message") or error.get("detail") or json.dumps(error, ensure_ascii=False)
    codes = [str(error[name]).lower() for name in ("code", "type") if error.get(name)]
    notable = _QUOTA | _UNWANTED | _UNKNOWN_MODEL | _TOO_LONG_CODES
    code = next((code for code in codes if code in notable), codes[0] if codes else "")
    return ServerError(status, shortened(str(message)), code, str(error.get("param") or ""))


def shortened(text: str) -> str:
    """A server's words on one line, without markup, 300 characters at most.

    >>> shortened("<h1>Bad\\n gateway</h1>")
    'Bad gateway'
    """
    line = " ".join(_MARKUP.sub(" ", text).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


Sleep = Callable[[float], object]
"""Waits so many seconds."""
Clock = Callable[[], float]
"""Seconds since 1970."""

FIRST_PAUSE = 1.0
"""Seconds, before jitter."""


def pauses(seed: int, longest: float) -> Iterator[float]:
    """Growing pauses in seconds without end, up to ``longest``, each between half and all of its step.

    >>> [step // 1 <= 2**n for n, step in zip(range(3), pauses(0, 60.0))]
    [True, True, True]
    """
    generator = random.Random(seed)
    step = FIRST_PAUSE
    while True:
        yield min(step, longest) * (0.5 + generator.random() / 2)
        step = min(step * 2, longest)


def asked_pause(headers: Mapping[str, str], now: float) -> float | None:
    """The pause in seconds that a server asks for; None where it asks for none that can be read."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "")
    seconds = _number(said)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - now)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if not math.isnan(value) else None


class RateLimiter:
    """What the threads of one engine share: places, a common pause, and the error that stops them all."""

    def __init__(
        self, places: int, longest: float, *, sleep: Sleep | None = None, clock: Clock | None = None
    ) -> None:
        """``places`` is how many may be in at once, ``longest`` the longest common pause in seconds."""
        self.clock = clock or time.time
        self._longest = longest
        self._places = threading.BoundedSemaphore(places)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._sleep = sleep or self._stopped.wait
        self._error: EngineError | None = None
        self._closed_until = -math.inf
        self._misses = 0

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place among those under way. Raises EngineError where all is stopped."""
        with self._places:
            self.check()
            yield

    def check(self) -> None:
        """Raises the error that stopped this engine, if one has."""
        error = self._error
        if error is not None:
            raise EngineError(error.what, error.hint, again=error.again)

    def stop(self, error: EngineError) -> EngineError:
        """Stops every thread, those that pause at once; returns the first error that did so."""
        with self._lock:
            self._error = self._error or error
            self._stopped.set()
            return EngineError(self._error.what, self._error.hint, again=self._error.again)

    def close_for(self, seconds: float) -> None:
        """Nobody sends anything for so long: a server that asks one to wait means all."""
        with self._lock:
            self._closed_until = max(self._closed_until, self.clock() + seconds)

    def come_back(self, seconds: float = 0.0) -> None:
        """Waits ``seconds`` and until the gate is open. Raises EngineError where all is stopped."""
        rest = max(seconds, min(self._closed_until - self.clock(), self._longest))
        if rest > 0:
            self._sleep(rest)
        self.check()

    def answered(self) -> None:
        """The server gave an answer that can be read."""
        with self._lock:
            self._misses = 0

    def missed(self) -> int:
        """A request came to nothing for the server's own reasons; how many have since it last answered."""
        with self._lock:
            self._misses += 1
            return self._misses
