"""What a server refuses of a request, how the request is changed, and what of it is kept for the run.

A change has the name of a field, and the value that the field gets, `LEFT_OUT` where it goes. Four are about
more than a field: ``images`` (how many are shown), ``tokens`` (by how much the limit of the answer grows),
``detail`` (it lies within the images) and ``system`` (no system turn).

What helps is read from the error: the fields that it names go, in whatever words. Where it names none, the
optional fields are left out one after the other, in the order of `OPTIONAL_FIELDS`, and what did not help is
put back. Errors about length, content or the key change nothing.

Wordings are those of servers as reported: github.com/sst/opencode/issues/1644 (temperature with top_p,
Claude), github.com/mistralai/platform-docs-public/issues/7 (fields that are forbidden, Mistral),
github.com/Vali-98/ChatterUI/issues/227 (unknown names, Gemini), github.com/anomalyco/opencode/issues/4451
(values of reasoning_effort, OpenAI), github.com/BerriAI/litellm/issues/10108 (LiteLLM).
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from typing import Any
from weakref import WeakValueDictionary

from shotad.engines.openai_limits import image_limit
from shotad.engines.openai_wire import Body, ServerError, is_image, is_text

_FEWEST_IMAGES = 4
"""Fewer are not tried where a request is too large for the server: they would show too little of a clip."""

LEFT_OUT = None
"""The value of a field that is left out."""

Changes = Mapping[str, Any]
"""What is changed in a request: a value for each name."""

MORE_TOKENS = 4
"""How many times the limit of tokens becomes where an answer ended in thought: 512 become 2,048, which the
thoughts of small models fit into."""

SCHEMA_IN_OBJECT = "schema in json_object"
"""The value of ``response_format`` that sends the schema in a form older than OpenAI's, which
llama-cpp-python's server knows alone (its README, "JSON Schema Mode"): 0.3.36 answers OpenAI's with a 500
that names ``json_object``. Others take OpenAI's form without an error and ignore it (llama.cpp's issue 24097;
transformers 5.23)."""

OPTIONAL_FIELDS = (
    "chat_template_kwargs",
    "reasoning_effort",
    "reasoning",
    "thinking",
    "enable_thinking",
    "think",
    "seed",
    "response_format",
    "detail",
    "top_k",
    "top_p",
    "temperature",
    "system",
)
"""What a request can do without, in the order in which it is left out where an error names nothing: first
what fewest servers know, last what changes answers most."""

_NAMES: Mapping[str, re.Pattern[str]] = {
    "chat_template_kwargs": re.compile(r"chat_?template|enable_thinking|mistral tokenizer"),
    "reasoning_effort": re.compile(r"reasoning[_ ]?effort|[.]effort"),
    "reasoning": re.compile(r"(?<![a-z])reasoning(?! models?\b)(?![a-z_])|[.]effort"),
    "thinking": re.compile(r"(?<![a-z_])thinking(?! (?:is|mode))(?![a-z_])"),
    "enable_thinking": re.compile(r"enable[_ ]?thinking"),
    "think": re.compile(r"(?<![a-z])think(?:ing)?(?![a-z])"),
    "max_tokens": re.compile(r"max_(?:completion_|output_|new_)?tokens"),
    "seed": re.compile(r"(?<![a-z])seed(?![a-z])"),
    "response_format": re.compile(
        r"response[_ ]?format|schema|guided|grammar|structured|json mode|request\.format|for format"
        r"|expected peg|(?:generate|validate) json"
    ),
    "detail": re.compile(r"(?<![a-z])detail(?![a-z])"),
    "top_k": re.compile(r"(?<![a-z])top_?k(?![a-z])"),
    "top_p": re.compile(r"(?<![a-z])top_?p(?![a-z])"),
    "temperature": re.compile(r"temperature"),
    "system": re.compile(
        r"system (?:role|message|prompt|turn)|(?:system|developer)[_ ]?instruction|'system'"
        r"|roles must alternate"
    ),
}
"""How errors name what they refuse, in small letters."""
_NOT_REFUSED = re.compile(
    r"expected one of|did you mean|(?:supported|allowed|valid|known) (?:parameters|fields|keys|properties)"
)
"""Words before names of what could be sent: serde and Groq suggest other fields."""
_SWITCH_WANTED = re.compile(r"enable[_ ]?thinking\W*(?:must be|should be|can ?not be|必须)")
"""Alibaba's models think unless they are told not to, which they demand where an answer is not streamed
(github.com/langchain4j/langchain4j/issues/3974)."""

_EFFORTS = ("none", "minimal", "low", "medium", "high")
"""Values of ``reasoning_effort``, the lowest first."""
_THINKING_FIELDS = ("reasoning_effort", "reasoning")
_MUST_THINK = re.compile(
    r"thinking|reasoning is|cannot be (?:disabled|turned off)|mandatory|budget \d+ is invalid"
)
"""Words of a model that cannot be kept from thinking, or only so far; they name no field."""
_ABOUT_VALUE = re.compile(r"value|invalid|cannot be (?:disabled|turned off)|mandatory|thinking")
"""Words of an error about the value of a field, and not about the field."""
_VALUE_LIST = re.compile(
    r"(?<![a-z])(?:supported|valid|allowed|accepted|available|expected|permitted|should be|must be|one of)"
    r"(?: values)?(?: are)?\b(.*)"
)
"""The end of an error that lists the values that may be given."""

_NOT_TOGETHER = re.compile(
    r"\bboth\b|together|only one|one of (?:them|these)|at the same time|simultan|exclusive|conflict|combin"
)
"""Words of an error that refuses two fields beside each other."""
_FIRST_TO_GO = ("seed", "top_p", "temperature")
"""Of two fields that cannot stand together the first of these goes, else the first of `OPTIONAL_FIELDS`."""

_ABOUT_OTHER_THINGS = re.compile(
    r"image|picture|photo|video|media_io|audio|base64|\bmessages?\b|prompt|token|context|url|account|billing"
    r"|quota|credit|too (?:long|large|big|short)|length|\bsize\b|content|safety"
    r"|图|敏感|违规|不安全|余额|账户|欠费|上下文|长度|消息|频率"
)
"""Words of an error about what a request holds, how long it is, or who pays. Other fields would change
nothing."""
_LINK = re.compile(r"https?://\S+")


def holds(request: Body, name: str) -> bool:
    """Whether the request has what ``name`` stands for."""
    if name == "system":
        return any(turn["role"] == "system" for turn in request["messages"])
    if name == "detail":
        return any("detail" in part["image_url"] for part in _images(request))
    return name in request


def images_in(request: Body) -> int:
    """How many images a request has."""
    return len(_images(request))


def _images(request: Body) -> list[Body]:
    parts = [
        part for turn in request["messages"] if isinstance(turn["content"], list) for part in turn["content"]
    ]
    return [part for part in parts if is_image(part)]


def token_limit(request: Body) -> int:
    """How many tokens the answer to a request may have; 0 where it sets no limit."""
    return int(request.get("max_tokens") or request.get("max_completion_tokens") or 0)


def rewritten(body: Body, changes: Changes) -> Body:
    """The request with ``changes``, where they apply."""
    request = dict(body)
    for name, value in changes.items():
        if name in _REWRITES:
            request = _REWRITES[name](request, value)
        elif name in request and value is LEFT_OUT:
            del request[name]
        elif name in request:
            request[name] = value
    return request


def _with_fewer_images(request: Body, most: int) -> Body:
    """``most`` of the images, evenly chosen; each has its number before it, and its time where it had one."""
    total = images_in(request)
    if total <= most:
        return request
    shown_numbers = {int((place + 0.5) * total / most) for place in range(most)}
    turns: list[Body] = []
    number = 0
    for turn in request["messages"]:
        if not isinstance(turn["content"], list):
            turns.append(turn)
            continue
        parts: list[Body] = []
        for part in turn["content"]:
            if not is_image(part):
                parts.append(part)
                continue
            stamp = [parts.pop()] if parts and is_text(parts[-1]) else []
            if number in shown_numbers:
                # The prompt may speak of frames by their numbers.
                parts += stamp or [{"type": "text", "text": f"Frame {number + 1}:"}]
                parts.append(part)
            number += 1
        turns.append({**turn, "content": parts})
    return {**request, "messages": turns}


def _with_more_tokens(request: Body, factor: int) -> Body:
    names = [name for name in ("max_tokens", "max_completion_tokens") if name in request]
    return {**request, **{name: request[name] * factor for name in names}}


def _with_new_limit(request: Body, _: Any) -> Body:
    """OpenAI's newer models call the limit otherwise."""
    renamed = {key: value for key, value in request.items() if key != "max_tokens"}
    if "max_tokens" in request:
        renamed.setdefault("max_completion_tokens", request["max_tokens"])
    return renamed


def _with_schema_form(request: Body, value: Any) -> Body:
    """The request with its schema in the form ``value``: none, or `SCHEMA_IN_OBJECT`."""
    other_fields = {name: field for name, field in request.items() if name != "response_format"}
    form = request.get("response_format")
    if form is None or value is LEFT_OUT:
        return other_fields
    if "json_schema" in form:
        form = {"type": "json_object", "schema": form["json_schema"]["schema"]}
    return {**other_fields, "response_format": form}


def _with_switch(request: Body, value: Any) -> Body:
    """The one field that a server may want beyond those that are sent."""
    other_fields = {name: field for name, field in request.items() if name != "enable_thinking"}
    return other_fields if value is LEFT_OUT else {**other_fields, "enable_thinking": value}


def _without_detail(request: Body, _: Any) -> Body:
    turns: list[Body] = []
    for turn in request["messages"]:
        if isinstance(turn["content"], list):
            parts = [
                {**part, "image_url": {"url": part["image_url"]["url"]}} if is_image(part) else part
                for part in turn["content"]
            ]
            turns.append({**turn, "content": parts})
        else:
            turns.append(turn)
    return {**request, "messages": turns}


def _without_system(request: Body, _: Any) -> Body:
    """The texts of the system turns at the beginning of the first turn of the user."""
    system_texts = [turn["content"] for turn in request["messages"] if turn["role"] == "system"]
    if not system_texts:
        return request
    system_text = "\n\n".join(system_texts)
    turns = [turn for turn in request["messages"] if turn["role"] != "system"]
    for index, turn in enumerate(turns):
        if turn["role"] == "user":
            content = turn["content"]
            if isinstance(content, str):
                joined: Any = f"{system_text}\n\n{content}"
            else:
                joined = [{"type": "text", "text": system_text}, *content]
            turns[index] = {**turn, "content": joined}
            return {**request, "messages": turns}
    return {**request, "messages": [{"role": "user", "content": system_text}, *turns]}


_REWRITES: Mapping[str, Callable[[Body, Any], Body]] = {
    "images": _with_fewer_images,
    "tokens": _with_more_tokens,
    "max_tokens": _with_new_limit,
    "enable_thinking": _with_switch,
    "response_format": _with_schema_form,
    "detail": _without_detail,
    "system": _without_system,
}
"""How a request is rewritten for the changes that are more than a field with another value."""


def changes_for(
    request: Body, error: ServerError, changes: Changes, fixed: Collection[str] = ()
) -> dict[str, Any]:
    """The changes that may help after this error; empty where none does.

    ``changes`` are those that the request has already; ``fixed`` the fields that the user set, which stay.
    """
    words = f"{error.words} {error.param.lower()}"
    if error.meaning == "cut":
        return {}
    if changes.get("tokens", 1) > 1 and (error.meaning == "too long" or _NAMES["max_tokens"].search(words)):
        return {"tokens": 1}
    images = images_in(request)
    if error.meaning == "images" and images > 1:
        return {"images": image_limit(error.words, images)}
    if error.meaning == "too large" and images > _FEWEST_IMAGES:
        return {"images": max(_FEWEST_IMAGES, images // 2)}
    is_switch_known = "enable_thinking" in {*request, *changes}
    if error.meaning == "slot" and not is_switch_known and _SWITCH_WANTED.search(words):
        return {"enable_thinking": False}
    # llama.cpp reports an answer that does not fit the schema as an error of its own.
    candidates: Iterable[str] = ("response_format",) if error.status >= 500 else _NAMES
    if error.meaning != "slot" and error.status < 500:
        return {}
    held = [name for name in candidates if name not in fixed and holds(request, name)]
    refused = _NOT_REFUSED.split(words, maxsplit=1)[0]
    named = [
        name for name in held if _NAMES[name].search(refused) or _NAMES[name].search(error.param.lower())
    ]
    if not named:
        named = [name for name in held if _NAMES[name].search(words)]
    if not named and error.status < 500 and _MUST_THINK.search(words):
        named = [name for name in _THINKING_FIELDS if name in request and name not in fixed]
    if len(named) > 1 and _NOT_TOGETHER.search(words):
        named = [_one_of(named, request)]
    return {name: _new_value(name, request, words) for name in named}


def _one_of(named: Collection[str], request: Body) -> str:
    """Which of the fields that cannot stand together goes."""
    if {"temperature", "top_p"} <= {*named} and request["temperature"] == 1 != request["top_p"]:
        return "temperature"  # it says nothing, and top_p does
    return next(name for name in (*_FIRST_TO_GO, *OPTIONAL_FIELDS, *_NAMES) if name in named)


def _new_value(name: str, request: Body, words: str) -> Any:
    """The value that ``name`` gets after an error with these words: another one where its value was refused,
    else `LEFT_OUT`."""
    if name == "response_format":
        is_newer_form = request[name].get("type") == "json_schema"
        return SCHEMA_IN_OBJECT if is_newer_form and "json_object" in words else LEFT_OUT
    if name not in _THINKING_FIELDS:
        return LEFT_OUT
    value = request[name]
    effort = str(value.get("effort", "none")) if isinstance(value, Mapping) else str(value)
    value_list = _VALUE_LIST.search(words)
    listed = re.findall(r"[a-z]+", value_list[1]) if value_list is not None else []
    listed_efforts = [
        known_effort for known_effort in _EFFORTS if known_effort in listed and known_effort != effort
    ]
    if listed_efforts:
        lowest = listed_efforts[0]
    elif effort in ("none", "minimal") and _ABOUT_VALUE.search(words):
        lowest = "low"  # every model that thinks knows it
    else:
        return LEFT_OUT
    return {"effort": lowest} if isinstance(value, Mapping) else lowest


def _speaks_of(name: str, error: ServerError) -> bool:
    """Whether an error still refuses what the change ``name`` is about."""
    if name == "images":
        return error.meaning in ("images", "too large")
    return error.meaning == "slot" and name in _NAMES and bool(_NAMES[name].search(error.words))


class AcceptedForm:
    """How one model of one server wants its requests: what its answers taught. Several threads may use it.

    Both stages share it where they ask the same model, see `form_of`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._guessing = threading.Lock()
        self._changes: dict[str, Any] = {}
        self._accepted_fields: set[str] = set()
        self._may_guess = True

    @property
    def changes(self) -> dict[str, Any]:
        """The changes that are made from the start."""
        with self._lock:
            return dict(self._changes)

    def begin_with(self, name: str, value: Any) -> None:
        """Make this change from now on, unless an answer taught another value."""
        with self._lock:
            self._changes.setdefault(name, value)

    @property
    def growth(self) -> int:
        """How many times the limit of tokens in the settings an answer gets."""
        return int(self.changes.get("tokens", 1))

    def grow(self) -> int:
        """Give answers more tokens from now on, unless the server refused that. Returns the `growth`."""
        self.begin_with("tokens", MORE_TOKENS)
        return self.growth

    def accept(self, request: Body, changes: Changes, guesses: Collection[str]) -> None:
        """Keep ``changes``: the server answered ``request``, which has them.

        Of ``guesses``, in the order in which they were made, the last one helped; the others are put back.
        """
        put_back = {*guesses} - {*list(guesses)[-1:]}
        with self._lock:
            self._changes.update({name: value for name, value in changes.items() if name not in put_back})
            self._accepted_fields.update(name for name in OPTIONAL_FIELDS if holds(request, name))

    def learn(self, changes: Changes, error: ServerError) -> None:
        """Keep ``changes`` that earlier errors asked for by name, where ``error`` no longer speaks of them.

        Whatever else it refuses, they were right. More or fewer tokens are not kept: what one prompt leaves
        room for says nothing of the next.
        """
        helped = {
            name: value for name, value in changes.items() if name != "tokens" and not _speaks_of(name, error)
        }
        with self._lock:
            self._changes.update(helped)

    def guess(
        self, request: Body, error: ServerError, changes: Changes, fixed: Collection[str]
    ) -> str | None:
        """The next field to leave out after an error that names none; None where that cannot help.

        A field that the server has accepted is not the reason. ``changes`` are those that the request has: an
        error that still names one of them, or one of the user's ``fixed`` fields, is about something else.
        """
        about_form = error.status < 500 and error.meaning == "slot"
        words = _LINK.sub("", error.words)
        # Whatever else it says, in any language, may be about a field.
        is_vague = not _ABOUT_OTHER_THINGS.search(words)
        if any(_NAMES[name].search(words) for name in {*changes, *fixed} if name in _NAMES):
            return None
        with self._lock:
            if not (self._may_guess and about_form and is_vague):
                return None
            for name in OPTIONAL_FIELDS:
                if name not in fixed and name not in self._accepted_fields and holds(request, name):
                    return name
            return None

    def stop_guessing(self) -> None:
        """Note that no field was the reason of a vague error: it is not looked for again."""
        with self._lock:
            self._may_guess = False

    def alone(self, stack: ExitStack) -> None:
        """Wait until no other thread guesses; the next waits until ``stack`` is left."""
        stack.enter_context(self._guessing)


_FORMS: WeakValueDictionary[tuple[str, str, str], AcceptedForm] = WeakValueDictionary()
"""The forms of the models that engines of this process ask, for as long as these engines are there."""
_FORMS_LOCK = threading.Lock()


def form_of(url: str, model: str, extra: Mapping[str, Any]) -> AcceptedForm:
    """The form of ``model`` at ``url``, asked with these fields of the user's."""
    key = (url, model, json.dumps(dict(extra), sort_keys=True))
    with _FORMS_LOCK:
        form = _FORMS.get(key)
        if form is None:
            _FORMS[key] = form = AcceptedForm()
        return form
