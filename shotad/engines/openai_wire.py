"""OpenAI's chat protocol: requests as JSON, replies and errors from answers, and what a server refuses.

Order within a request: the turns in order, the system's first; in the turn that the clip belongs to, the
frames before the text. Servers cache what they have computed for the beginning that requests share, and the
frames, which cost most, come again with other text (repairs, the second check). Models are also trained with
images first.

What a server refuses of a request, and how the request is changed then, stands in `openai_changes`.

Pauses after an error double from one second on, with jitter from the request's own seed, so that requests do
not come back together. The pause that a server asks for is read as the official client does it:
``retry-after-ms``, then ``Retry-After``.
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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from shotad.core import (
    Reply,
    Request,
    Usage,
)
from shotad.core.cancellation import POLL, raise_if_cancelled
from shotad.core.config.words import EndpointSettings
from shotad.core.errors import EngineError
from shotad.core.types import HEARING_RATE
from shotad.engines.openai_limits import exceeds_limit_alone, is_about_number_of_images, pause_in, seconds_of
from shotad.engines.thoughts import after_thoughts
from shotad.film.palette import jpeg
from shotad.script.reasons import in_english

Body = dict[str, Any]

JPEG_QUALITY = 75
"""JPEG quality of the frames sent: Pillow's default. The detail that a server looks at is
``openai.detail``."""
_VIDEO_URL_START = "data:video/jpeg;base64"
"""Beginning of the URL of a video: JPEGs in base64 follow, separated by commas, as vLLM takes them."""
_STAMP = re.compile(r"Frame \d+, at [\d.]+ s:")
"""The words before a frame, see `Clip.stamps`."""

_CUT_OFF_FINISHES = ("length", "max_tokens", "max_output_tokens")
"""Finish reasons of an answer that reached its limit of tokens."""
EMPTY = in_english("failure.empty")
"""Beginning of the error of a reply without text and without thought."""
CUT_IN_THOUGHT = "the answer was cut off before its first word"
"""Beginning of the error of a reply whose tokens went into thought."""
ONLY_THOUGHT = in_english("failure.only_thought", advice=in_english("failure.thinking"))
"""The error of a reply that ended without a text."""
_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Where servers put thoughts beside the content: llama.cpp, SGLang, LM Studio and older vLLM; vLLM, Groq and
OpenRouter; Ollama."""
_REFUSED_FINISHES = ("content_filter", "safety", "refusal", "prohibited_content", "blocklist")
"""Finish reasons of an answer that the server held back."""


def body_of(
    request: Request,
    model: str,
    settings: EndpointSettings,
    *,
    video: bool = False,
    thinking: Mapping[str, Any] | None = None,
) -> Body:
    """The request as JSON. ``video``: send the clip as one video, in vLLM's form. ``thinking``: the fields
    that keep the model from thinking. The user's own (``openai.extra``) win over all others."""
    sampling = request.sampling
    body: Body = {
        "model": model,
        "messages": messages_of(request, settings, video=video),
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": seed_of(request.seed),
        **({} if sampling.top_k is None else {"top_k": sampling.top_k}),
    }
    if request.schema is not None:
        schema = {"name": "answer", "strict": True, "schema": strict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if video and request.clip is not None:
        # All frames, none of them left out. Without times vLLM takes them to stand a second apart
        # (vllm/frontend/processing/multimodal/media/video.py).
        frames = {"num_frames": -1, "do_sample_frames": False}
        times = request.clip.video_metadata if request.timed else {}
        body["media_io_kwargs"] = {"video": {**frames, **times}}
    return {**body, **(thinking or {}), **settings.extra}


def seed_of(seed: int) -> int:
    """The seed in 31 bits: some servers refuse the negative ones of 32 bits."""
    return seed & 0x7FFF_FFFF


def messages_of(request: Request, settings: EndpointSettings, *, video: bool = False) -> list[Body]:
    """All turns as JSON. The clip goes into the turn marked for it, else into the last of the user's."""
    messages: list[Body] = [{"role": turn.role, "content": sound(turn.text)} for turn in request.messages]
    clip = request.clip
    clip_turn = _turn_of_clip(request)
    if clip is None or clip_turn is None:
        return messages
    frames = [base64.b64encode(jpeg(image, JPEG_QUALITY)).decode() for image in clip.images]
    parts: list[Body] = []
    if video:
        parts = [{"type": "video_url", "video_url": {"url": ",".join([_VIDEO_URL_START, *frames])}}]
    else:
        for stamp, data in zip(clip.stamps, frames, strict=True):
            url = {"url": f"data:image/jpeg;base64,{data}", "detail": settings.detail}
            if request.timed:
                parts.append(_text_part(stamp))
            parts.append({"type": "image_url", "image_url": url})
    if clip.sound is not None:
        stream = io.BytesIO()
        with wave.open(stream, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(HEARING_RATE)
            samples = (clip.sound.clip(-1, 1) * 32767).astype("<i2")  # from floats to 16 bits
            file.writeframes(samples.tobytes())
        data = base64.b64encode(stream.getvalue()).decode()
        parts.append({"type": "input_audio", "input_audio": {"data": data, "format": "wav"}})
    messages[clip_turn]["content"] = [*parts, _text_part(request.messages[clip_turn].text)]
    return messages


def _turn_of_clip(request: Request) -> int | None:
    """The index of the turn that the clip goes into; None where there is none of the user's."""
    last_of_user = None
    for index, turn in enumerate(request.messages):
        if turn.with_clip:
            return index
        if turn.role == "user":
            last_of_user = index
    return last_of_user


def _text_part(text: str) -> Body:
    return {"type": "text", "text": sound(text)}


def is_text(part: Body) -> bool:
    """Whether a part of a turn is text."""
    return bool(part["type"] == "text")


def is_image(part: Body) -> bool:
    """Whether a part of a turn is an image."""
    return bool(part["type"] == "image_url")


def shown_in(request: Body) -> str:
    """How a request shows its clip, as a record keeps it: ``video``, ``timed stills``, ``stills``; empty
    without one."""
    if "media_io_kwargs" in request:
        return "video"
    shown = ""
    for turn in request["messages"]:
        if isinstance(turn["content"], list):
            for before, part in pairwise([_text_part(""), *turn["content"]]):
                if is_image(part):
                    has_time = is_text(before) and _STAMP.fullmatch(before["text"])
                    shown = "timed stills" if has_time else "stills"
    return shown


def strict(schema: Any) -> Any:
    """A schema as OpenAI's strict mode wants it: every object closed, all of its properties required."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    strict_schema = {key: strict(value) for key, value in schema.items()}
    properties = strict_schema.get("properties")
    if strict_schema.get("type") == "object" and isinstance(properties, dict):
        strict_schema["additionalProperties"] = False
        strict_schema["required"] = list(properties)
    return strict_schema


def reply_in(document: Any, limit: int) -> Reply | None:
    """The reply in a chat completion; None for other documents and for errors. ``limit``: its
    ``max_tokens``."""
    message: Mapping[Any, Any] = {}
    choice: Mapping[Any, Any] = {}
    match document:
        case {"choices": [{"message": {**message}, **choice}, *_], **rest}:
            finish = str(choice.get("finish_reason") or "stop").lower()
        case {"choices": [{"finish_reason": str(reason)}, *_], **rest}:
            finish = reason.lower()
        case {"choices": [], **rest}:
            finish = "stop"
        case _:
            return None
    if finish == "error":
        return None
    usage_fields = rest.get("usage")
    counts: Mapping[str, Any] = usage_fields if isinstance(usage_fields, Mapping) else {}
    usage = Usage(_count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")))
    content = _message_text(message.get("content")).strip()
    text = after_thoughts(content)
    refusal = _message_text(message.get("refusal")).strip()
    if refusal or finish in _REFUSED_FINISHES:
        return Reply(refusal or text, "refused", usage)
    if text:
        return Reply(text, "length" if finish in _CUT_OFF_FINISHES else "stop", usage)
    return Reply("", "error", usage, _reason_without_text(message, counts, finish, limit))


def _reason_without_text(
    message: Mapping[Any, Any], counts: Mapping[str, Any], finish: str, limit: int
) -> str:
    """Why an answer without text has none: the model thought, or was cut off in thought, or said nothing."""
    if finish in _CUT_OFF_FINISHES:
        # OpenAI tells nothing of thoughts but their tokens; before a first word there is nothing else.
        return cut_in_thought(limit)
    thoughts = [name for name in _THOUGHT_FIELDS if _message_text(message.get(name)).strip()]
    details = counts.get("completion_tokens_details")
    reasoning_tokens = _count(details.get("reasoning_tokens")) if isinstance(details, Mapping) else 0
    if thoughts or reasoning_tokens or _message_text(message.get("content")).strip():
        return ONLY_THOUGHT
    return EMPTY if message else in_english("failure.held_back")


def cut_in_thought(limit: int) -> str:
    """The error of a reply whose ``limit`` of tokens went into thought."""
    return in_english("failure.cut_in_thought", number=limit, advice=in_english("failure.thinking"))


_JSON_TYPES: Mapping[Any, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def fits_schema(reply: Reply, schema: Mapping[str, Any]) -> bool:
    """Whether a reply is JSON with the types and keys of an object's schema.

    Of one that was cut off only the beginning counts. Bounds of numbers do not count: some servers that hold
    to schemas ignore them.

    >>> schema = {"type": "object", "properties": {"line": {"type": "string"}}}
    >>> [fits_schema(Reply(text), schema) for text in ('{"line": "A cat."}', '{"line": 3}', "{}", "A cat.")]
    [True, False, False, False]
    """
    if reply.finish == "length":
        return reply.text.startswith("{")
    try:
        # llama.cpp's grammars let line ends stand within strings, which JSON forbids.
        value = json.loads(reply.text, strict=False)
    except (ValueError, RecursionError):
        return False
    return _value_fits(value, schema)


def _value_fits(value: Any, schema: Mapping[str, Any]) -> bool:
    types = _JSON_TYPES.get(schema.get("type"))
    # In Python True and False are numbers too.
    is_other_type = isinstance(value, bool) and types != (bool,)
    if types is not None and (is_other_type or not isinstance(value, types)):
        return False
    if isinstance(value, list):
        return all(_value_fits(item, schema.get("items", {})) for item in value)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        return all(key in value and _value_fits(value[key], part) for key, part in properties.items())
    return True


def sound(text: str) -> str:
    """The text with lone surrogates replaced: such halves of characters cannot be encoded.

    >>> sound("\\ud83d!") == "\\ufffd!"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _message_text(content: Any) -> str:
    """The text of a message: a string, or the texts in a list of parts."""
    match content:
        case str():
            return sound(content)
        case list():
            parts = [part for part in content if isinstance(part, Mapping)]
            texts = [part.get("text") for part in parts if part.get("type") in ("text", "output_text")]
            return "".join(sound(text) for text in texts if isinstance(text, str))
    return ""


def _count(value: Any) -> int:
    """A number of tokens; 0 for values that cannot be one."""
    return int(value) if isinstance(value, int | float) and 0 <= value < 1e12 else 0


MAX_MESSAGE = 300
"""Characters of a server's message that are shown."""
_LONGEST_MESSAGE = 10_000
"""Characters of a server's message that are searched."""
_MARKUP = re.compile(
    r"<(script|style)\b(?=((?:[^<]|<(?!/?\1\b))*))\2</\1>|<[^<>]*>", re.DOTALL | re.IGNORECASE
)
"""Tags, and scripts and styles whole. The inside is found ahead and then repeated, see `answers._VALUE`."""

Meaning = Literal[
    "again", "slot", "cut", "refused", "too long", "too large", "images", "memory",
    "quota", "key", "place", "policy", "missing", "nowhere", "blind", "moved",
]  # fmt: skip
"""What an error means. It may pass (again), only this request fails (slot, cut: off in thought, refused, too
long: for the model, too large: for the server, images: too many of them), or every request will: memory (the
server lacks it), quota, key, place (the user's country is not served), policy (of the account), missing (the
model), nowhere (the address), blind, moved."""

_QUOTA_CODES = {
    "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance",
    "insufficient_credits", "insufficient_funds",
}  # fmt: skip
"""Codes of a quota that is spent. A limit of requests per minute has other codes, and passes."""
_QUOTA = re.compile(r"credit balance is too low|reached your specified api usage limits")
"""How Anthropic says so, with the status and code of a wrong request
(github.com/continuedev/continue/issues/5499)."""
_DAILY_ID = re.compile(r"per(?:day|month)(?:per|(?![a-z]))|free-models-per-day")
"""Names of quotas that are spent: Gemini's ``GenerateRequestsPerDayPerProjectPerModel-FreeTier``, which asks
for a retry in seconds all the same, and OpenRouter's."""
_DAILY = re.compile(
    r"\b(?:per|a|each)[ _-](?:day|month)\b|\bdaily\b|\bmonthly\b|\b[rt]pd\b|每[日天月]|[当今]日"
)
_BY_THE_MINUTE = re.compile(r"\b(?:per|a|each)[ _-](?:min|minute|sec|second)\b|\b[rt]p[ms]\b|perminute")
_REFUSED_CODES = {
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "moderation_blocked",
    "data_inspection_failed",  # Alibaba
    "datainspectionfailed",
    "1301",  # Z.ai
}
_KEY_CODES = {"invalid_api_key", "no_db_connection", "api_key_invalid"}
"""Codes of a key that is refused. LiteLLM without a database looks for an unknown key there, and says so."""
_KEY = re.compile(
    r"(?:api[ _-]?key|access[ _-]?key|credentials?|auth(?:entication|orization)? (?:token|header)"
    r"|bearer token)\b[^.;]{0,40}\b(?:invalid|not valid|expired?|missing|incorrect|not found|required|revoked"
    r"|disabled|wrong|unknown|malformed|denied|not provided|not set)\b"
    r"|\b(?:invalid|incorrect|missing|expired|wrong|bad|unknown|no|unauthori[sz]ed) (?:or \w+ )?"
    r"(?:api[ _-]?key|access[ _-]?key|credentials|bearer token)"
    r"|authentication (?:failed|error|required|credentials)|unauthenticated|not authenticated"
    r"|\bunauthori[sz]ed\b|missing authorization"
    r"|account\b[^.;]{0,30}\b(?:deactivated|suspended|disabled|blocked|banned)"
    r"|(?:api[ _-]?key|密钥|令牌|身份验证|鉴权|认证)[^，。]{0,8}(?:无效|错误|失败|过期|不正确|非法)"
    r"|无效的? ?(?:api|密钥|令牌)"
)
"""Words of a key that is refused, with whatever status: Gemini says "API key not valid" with a 400
(github.com/google-gemini/gemini-cli/issues/1690)."""
_PLACE_CODE = "unsupported_country_region_territory"
_PLACE = re.compile(
    r"\b(?:locations?|countr(?:y|ies)|regions?|territor(?:y|ies))\b[^.;]{0,40}"
    r"\b(?:(?:not|un|isn't|aren't) ?(?:yet )?(?:supported|available|allowed|served|permitted)"
    r"|blocked|restricted|forbidden)"
    r"|(?:not|un) ?(?:supported|available|allowed|served|permitted) (?:in|for|from)"
    r" (?:your|this|the user'?s?) (?:current )?(?:location|country|region|territory)"
)
"""Words of a server that does not serve the user's country."""
_POLICY = re.compile(
    r"data policy|privacy (?:settings|policy)|guardrail|providers? (?:have|has) been ignored"
    r"|no allowed providers"
)
"""Words of OpenRouter where the account's settings leave nobody to serve a model
(openrouter.ai/docs/features/privacy-and-logging)."""
_FORM_REFUSED = re.compile(
    r"\b(?:handle|support|accept)\w{0,3}\b[^.;]{0,30}\b(?:parameter|field|option|argument)s?\b"
)
"""Words of OpenRouter where nobody takes a request of this form."""
_NOWHERE = re.compile(
    r"unexpected endpoint|(?:unknown|invalid|unsupported|no such) (?:endpoint|route|path|url|page|method)\b"
    r"|(?:endpoint|route|path|url|page)\b[^.;]{0,60}\b(?:not found|does not exist|not exist)|no route matched"
    r"|cannot (?:post|get) /|method not allowed|returning 200 anyway"
)
"""Words of an address that is none of the protocol's: LM Studio, Express, Kong and others."""
_MEMORY = re.compile(
    r"more (?:\w+ )?memory|out of (?:\w+ )?memory"
    r"|(?:not enough|insufficient|too little|lack of) (?:\w+ ){0,2}(?:memory|system resources)"
    r"|(?:failed|unable) to allocate"
)
_TOO_LARGE = re.compile(
    r"(?:request|payload|body|entity|content|upload)\b[^.;]{0,20}\b(?:too large|too big)"
    r"|(?:request|payload|body|upload)\b[^.;]{0,40}\bexceed\w{0,3}\b[^.;]{0,40}\b(?:size|bytes|[kmg]i?b)\b"
)
_AWAY = re.compile(
    r"bad gateway|unavailable|timed?[ -]?out|overload|starting|loading|try again|maintenance|\b50[0234]\b"
)
"""Words on a gateway's page while the server behind it is away."""
_PASSING = (408, 425, 429)
"""Statuses of what passes, whatever the words."""
_UNKNOWN_MODEL_CODES = {"model_not_found", "model_not_exist", "unknown_model", "model_not_available"}
_TOO_LONG_CODES = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
_TOO_LONG = re.compile(
    r"context (?:length|size|window)|maximum context|max_model_len|prompt is too long|too many tokens"
    r"|reduce the length|input is too long|longer than the maximum"
    r"|must be at least 1, got -"
)
_CUT = re.compile(
    r"could not finish the message"
    r"|(?:higher|larger|greater|bigger|more|increas(?:e|ed|ing)|rais(?:e|ed|ing))\W{1,3}"
    r"(?:the |your |value (?:of|for) )*\W?"
    r"max_?(?:completion_|output_|new_)?tokens"
    r"|(?:max_?(?:completion_|output_|new_)?tokens|max(?:imum)? (?:completion|output|new|number of) tokens"
    r"|(?:output|completion|answer|response)(?: tokens?)? limit)\b[^.;]{0,40}"
    r"\b(?:reached|hit|exhausted|used up)"
    r"|(?:reached|hit|exhausted|ran out of|used up|spent) (?:its |the |all |of )*"
    r"(?:max\w*|output|completion|response) tokens?"
    r"|(?:all|every) (?:\w+ )?tokens (?:\w+ ){0,3}(?:reasoning|thinking|thought)"
    r"|(?:used|spent|consumed) (?:up )?(?:the |its )?(?:whole|entire|full|all) (?:\w+ )?token"
    r"|no (?:content|output|answer|text) was (?:generated|produced)\b[^.;]{0,40}"
    r"\b(?:max_\w{0,20}tokens|token)"
)
"""Words of an answer that was cut off in thought, which OpenAI's models that think report as an error."""
_BLIND = re.compile(
    r"not a multimodal model|\b0 (?:images?|pictures?)\b|image_url is only supported by"
    r"|unknown variant `image_url`"
    r"|content must be a string"
    r"|(?<!multiple )(?:image|vision|multimodal)(?![a-z_ ]{0,20}detail)[a-z_ ]{0,20}(?:is|are) not"
    r" (?:support|enabled|available)"
    r"|(?:not|n't) support (?:image|vision|multimodal)(?![a-z_. ]{0,8}detail)|support image input|mmproj"
    # The template of a text model, which takes each turn for text (llama-cpp-python).
    r"|can only concatenate str \(not \"list\"\)"
    r"|'list(?:' object| object') has no attribute '(?:[lr]?strip|r?split|startswith|endswith|replace|lower)'"
)
_FLAGGED = re.compile(r"\bflagged\b|requires moderation|content (?:policy|filter)")
"""Words by which gateways refuse the content of a request with a 403, which otherwise is about the key."""
_FILTERED = re.compile(r"content management policy|contentpolicyviolation")
"""Words of a filter whose code got lost on the way through a gateway (Azure's message, LiteLLM's name)."""
_NO_SUCH_MODEL = re.compile(
    r"model\b.{0,120}?(?:not found|does not exist|not exist|is not available)"
    r"|invalid model name|server is pinned to"  # LiteLLM, transformers serve
)


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """A server's answer: status, bytes of the body, and headers by their names in small letters."""

    status: int
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def document(self) -> Any:
        """The value of the body as JSON; None where it is not JSON. Of an answer that comes as a stream the
        whole."""
        if self.body.lstrip()[:5] == b"data:":
            return _joined_stream(self.body)
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    @property
    def is_page(self) -> bool:
        """Whether it is a page for people, such as a login; not one of a gateway whose server is away."""
        kind = self.headers.get("content-type", "")
        is_html = "text/html" in kind or self.body.lstrip()[:9].lower().startswith((b"<!doctype", b"<html"))
        return is_html and not _AWAY.search(self.body[:_LONGEST_MESSAGE].decode("utf-8", "replace").lower())


def _joined_stream(body: bytes) -> Any:
    """The chat completion that a stream of server-sent events makes; None where it breaks off.

    Some servers stream though they are not asked to. Each event holds a piece of the message
    (platform.openai.com/docs/api-reference/chat-streaming); the last one has the finish reason, or is
    ``[DONE]``.
    """
    message: dict[str, str] = {}
    completion: dict[str, Any] = {}
    finish: Any = None
    for line in body.decode("utf-8", "replace").splitlines():
        data = line.partition("data:")[2].strip() if line.startswith("data:") else ""
        if data == "[DONE]":
            finish = finish or "stop"
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            continue
        match event:
            case {"error": _}:
                return event
            case {"choices": [{"delta": {**piece}, **choice}, *_]}:
                for name, text in piece.items():
                    if isinstance(text, str):
                        message[str(name)] = message.get(str(name), "") + text
                finish = choice.get("finish_reason") or finish
        if isinstance(event, dict):
            completion |= {name: value for name, value in event.items() if value is not None}
    if finish is None:
        return None
    return {**completion, "choices": [{"index": 0, "finish_reason": finish, "message": message}]}


@dataclass(frozen=True, slots=True)
class ServerError:
    """An error of a server: HTTP status, message, code, and the parameter that it is about (empty: not
    named). ``whole`` is the message before it was cut (empty: it was not), ``answer`` the body of the answer
    as text, without escapes."""

    status: int
    message: str
    code: str = ""
    param: str = ""
    whole: str = field(default="", repr=False)
    answer: str = field(default="", repr=False)

    @property
    def words(self) -> str:
        """The message in small letters, to be searched."""
        return (self.whole or self.message).lower()

    @property
    def is_daily(self) -> bool:
        """Whether a limit of calls or tokens is one of a day or longer. Where words name a shorter one too,
        it may be that one."""
        answer = self.answer.lower()
        if _DAILY_ID.search(answer):
            return True
        return bool(_DAILY.search(answer)) and not _BY_THE_MINUTE.search(answer)

    @property
    def meaning(self) -> Meaning:
        """What the error means for this request and further ones."""
        return self._about_account() or self._about_request() or self._about_server() or self._by_status()

    def _about_account(self) -> Meaning | None:
        """The meaning of an error about who asks, or what is asked of whom; else None."""
        if self.status == 402 or self.code in _QUOTA_CODES or _QUOTA.search(self.words):
            return "quota"
        is_flagged = self.status == 403 and _FLAGGED.search(self.words)
        if self.code in _REFUSED_CODES or is_flagged or _FILTERED.search(self.words):
            return "refused"
        if self.code == _PLACE_CODE or (self.status < 500 and _PLACE.search(self.words)):
            return "place"
        if self.code in _KEY_CODES or (self.status not in _PASSING and _KEY.search(self.words)):
            return "key"
        if self.status not in _PASSING and _POLICY.search(self.words):
            return "policy"
        return None

    def _about_request(self) -> Meaning | None:
        """The meaning of an error about how long a request or its answer is, or what it shows; else None."""
        is_too_long = _TOO_LONG.search(self.words)
        if self.code in _TOO_LONG_CODES:
            return "too long"
        if self.status in (400, 422, 500) and not is_too_long and _CUT.search(self.words):
            return "cut"
        # First this: a model that takes one image may say that it supports no "multi-image input".
        if self.status in (400, 413, 422, 500) and is_about_number_of_images(self.words):
            return "images"
        if _BLIND.search(self.words):
            return "blind"
        is_too_large = self.status in (400, 422) and _TOO_LARGE.search(self.words)
        if self.status == 413 or is_too_large:
            return "too long" if is_too_long else "too large"
        if self.status == 429 and exceeds_limit_alone(self.words):
            return "too large"
        return None

    def _about_server(self) -> Meaning | None:
        """The meaning of an error about an address or a machine; else None."""
        if self.status not in (400, 422) and not self.denies_model and _NOWHERE.search(self.words):
            return "nowhere"
        if self.status not in _PASSING and _MEMORY.search(self.words):
            return "memory"
        return None

    @property
    def denies_model(self) -> bool:
        """Whether it speaks of the model, and not of an address or of something else that was not found."""
        return "model" in self.words or bool(_NO_SUCH_MODEL.search(self.words))

    def _by_status(self) -> Meaning:
        """The meaning where code and message do not decide it."""
        if self.status in (408, 409, 425, 429) or self.status >= 500:
            return "again"
        if self.status in (401, 403):
            return "key"
        if self.status < 400:
            return "moved"
        if self.status == 404 and _FORM_REFUSED.search(self.words):
            return "slot"
        if self.status == 405:
            return "nowhere"
        if (
            self.status in (404, 410)
            or self.code in _UNKNOWN_MODEL_CODES
            or _NO_SUCH_MODEL.search(self.words)
        ):
            return "missing"
        if _TOO_LONG.search(self.words):
            return "too long"
        return "slot"


def error_in(raw: ServerAnswer) -> ServerError | None:
    """The error in an answer, also in one with status 200 that holds only an error; None where there is
    none."""
    document = raw.document
    if isinstance(document, list) and len(document) == 1:
        document = document[0]
    fields = document if isinstance(document, Mapping) else {}
    status = raw.status
    if status == 200 and (fields.get("choices") or not fields.get("error")):
        return None
    # OpenAI's errors are an object with message, code and parameter; others have these beside the message.
    objects = [fields]
    while inner := [
        objects[-1][name] for name in _MESSAGE_FIELDS if isinstance(objects[-1].get(name), Mapping)
    ]:
        objects.append(inner[0])
    codes = [error[name] for error in objects[::-1] for name in ("code", "type") if error.get(name)]
    if status == 200:  # some gateways have the true status in the body
        body_codes = [code for code in codes if isinstance(code, int) and 400 <= code < 600]
        status = body_codes[0] if body_codes else 500
    message = _message_in(fields) or raw.body.decode("utf-8", "replace")
    # Servers write what is of use to us in either field.
    known_codes = _QUOTA_CODES | _REFUSED_CODES | _KEY_CODES | _UNKNOWN_MODEL_CODES | _TOO_LONG_CODES
    names = [str(code).lower() for code in codes]
    code = next((name for name in names if name in known_codes), names[0] if names else "")
    params = [str(error["param"]) for error in objects[::-1] if error.get("param")]
    param = params[0] if params else ""
    text = (
        raw.body.decode("utf-8", "replace") if document is None else json.dumps(document, ensure_ascii=False)
    )
    return ServerError(
        status, shortened(message), code, param, _on_one_line(message), text[:_LONGEST_MESSAGE]
    )


_MESSAGE_FIELDS = ("error", "detail", "errors", "message")
"""Where servers put the message of an error, or an object that holds it."""
_DEEPEST = 6
"""Objects within each other that are looked into for a message."""


def _message_in(error: Any, depth: int = 0) -> str:
    """The message of an error, which gateways wrap once more, also as text; empty where there is none.

    FastAPI lists what is wrong with each field: ``body.seed: Extra inputs are not permitted``. OpenRouter
    keeps what the server behind it said in ``metadata.raw``.
    """
    if depth > _DEEPEST:
        return ""
    if isinstance(error, str):
        if error.lstrip()[:1] in ("{", "["):
            try:
                return _message_in(json.loads(error), depth + 1) or error
            except (ValueError, RecursionError):
                return error
        return error
    if isinstance(error, list):
        return "; ".join(filter(None, (_message_in(item, depth + 1) for item in error)))
    if not isinstance(error, Mapping):
        return ""
    if "msg" in error:
        location = error.get("loc")
        place = ".".join(str(part) for part in location) if isinstance(location, list) else ""
        return f"{place}: {error['msg']}" if place else str(error["msg"])
    messages = [_message_in(error[name], depth + 1) for name in _MESSAGE_FIELDS[::-1] if error.get(name)]
    metadata = error.get("metadata")
    raw = _message_in(metadata.get("raw"), depth + 1) if isinstance(metadata, Mapping) else ""
    return ": ".join(filter(None, [*messages[:1], raw]))


def shortened(text: str) -> str:
    """A server's message on one line, without markup, 300 characters at most.

    >>> shortened("<h1>Bad\\n gateway</h1>")
    'Bad gateway'
    """
    line = _on_one_line(text)
    return line if len(line) <= MAX_MESSAGE else line[: MAX_MESSAGE - 1] + "…"


def _on_one_line(text: str) -> str:
    """A text on one line and without markup; of a long one the beginning."""
    return " ".join(_MARKUP.sub(" ", text[:_LONGEST_MESSAGE]).split())


Sleep = Callable[[float], object]
"""A function that waits for a number of seconds."""
Clock = Callable[[], float]
"""A function that returns the seconds since 1970."""

_FIRST_PAUSE = 1.0
"""Seconds, before jitter is applied."""


def pauses(seed: int, longest: float) -> Iterator[float]:
    """Endless pauses in seconds. The step doubles up to ``longest``; a pause is between half of it and all of
    it.

    >>> [step // 1 <= 2**n for n, step in zip(range(3), pauses(0, 60.0))]
    [True, True, True]
    """
    generator = random.Random(seed)
    step = _FIRST_PAUSE
    while True:
        yield min(step, longest) * (0.5 + generator.random() / 2)
        step = min(step * 2, longest)


_LONGEST_READ = 366 * 86400.0
"""Seconds; a number beyond is no pause that anybody means."""


def asked_pause(headers: Mapping[str, str], now: float, answer: str = "") -> float | None:
    """The pause in seconds that a server asks for; None where it asks for none, or it cannot be read.

    ``now`` in seconds since 1970: the header may hold a date. ``answer`` is the body of the error, whose
    words are searched where no header helps.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    retry_after = headers.get("retry-after", "")
    pause = milliseconds / 1000 if milliseconds is not None else _number(retry_after)
    if pause is None:
        try:
            pause = max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - now)
        except (ValueError, OverflowError, TypeError, IndexError):
            # Some write a unit, as in "1m0s".
            pause = seconds_of(retry_after) or pause_in(answer)
    return pause if pause is None or pause <= _LONGEST_READ else None


def _number(text: str | None) -> float | None:
    """The number of a header, 0 for a negative one; None where it is not a finite number."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


class RateLimiter:
    """Shared by the threads of one engine: a limit of requests at once, a common pause, and the error that
    stops all of them."""

    def __init__(
        self, limit: int, longest_pause: float, *, sleep: Sleep | None = None, clock: Clock | None = None
    ) -> None:
        """``limit``: how many requests at once. ``longest_pause``: the longest common pause in seconds."""
        self.clock = clock or time.time
        self._longest_pause = longest_pause
        self._places = threading.BoundedSemaphore(limit)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._sleep = sleep or self._pause
        self._error: EngineError | None = None
        self._closed_until = -math.inf
        self._misses = 0
        self._answers = 0

    def _pause(self, seconds: float) -> None:
        """Wait for so long; it ends at once where another thread stops the engine. Raises StopRequested."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            raise_if_cancelled()
            if self._stopped.wait(min(left, POLL)):
                return

    @property
    def answers(self) -> int:
        """How many answers the server gave that can be read."""
        with self._lock:
            return self._answers

    @contextmanager
    def place(self) -> Iterator[None]:
        """A block for one request, which waits until fewer than the limit are under way.

        Raises EngineError where the engine was stopped.
        """
        with self._places:
            self.check()
            yield

    def check(self) -> None:
        """Raise the error that stopped this engine, if one did."""
        error = self._error
        if error is not None:
            raise EngineError(error.what, error.hint, again=error.again)

    def stop(self, error: EngineError) -> EngineError:
        """Stop every thread, also those in a pause. Returns the first error that did so: a copy, for each
        thread raises its own."""
        with self._lock:
            self._error = self._error or error
            self._stopped.set()
            return EngineError(self._error.what, self._error.hint, again=self._error.again)

    def close_for(self, seconds: float) -> None:
        """Let no thread send anything for so long: a server that asks one of them to wait means all."""
        with self._lock:
            self._closed_until = max(self._closed_until, self.clock() + seconds)

    def wait_until_open(self, seconds: float = 0.0) -> None:
        """Wait for ``seconds``, and until the common pause is over. Raises EngineError where the engine was
        stopped."""
        common_pause = min(self._closed_until - self.clock(), self._longest_pause)
        pause = max(seconds, common_pause)
        if pause > 0:
            self._sleep(pause)
        self.check()

    def answered(self) -> None:
        """Note that the server gave an answer that can be read."""
        with self._lock:
            self._misses = 0
            self._answers += 1

    def missed(self) -> int:
        """Note that a request failed for reasons of the server. Returns how many have since it last
        answered."""
        with self._lock:
            self._misses += 1
            return self._misses
