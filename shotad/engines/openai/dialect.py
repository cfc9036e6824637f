"""What a server does not understand of a request, learned from how it refuses it.

Newer models of OpenAI refuse ``max_tokens`` and any temperature but 1; Ollama, LM Studio and older vLLM
know no JSON schema, or only some; chat templates such as Gemma's have no system turn. The refusal is a
400 or 422 that names the part. A change is kept for the rest of the run once it has helped.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass

from shotad.engines.openai.server_error import ServerError
from shotad.engines.openai.wire import Body

_REFUSAL = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|not available"
    r"|forbidden|extra|invalid|only the default|deprecated|instead|must be"
)
_SCHEMA = re.compile(r"response[_ ]?format|schema|guided|grammar|structured|json mode")
_SYSTEM = re.compile(r"system (?:role|message|prompt|turn)|'system'|roles must alternate")


@dataclass(frozen=True, slots=True)
class _Change:
    """One way to say it otherwise; ``blamed`` finds out whether a refusal is about it."""

    name: str
    applies: Callable[[Body], bool]
    blamed: Callable[[ServerError], bool]
    made: Callable[[Body], Body]


def _without(name: str, body: Body) -> Body:
    return {key: value for key, value in body.items() if key != name}


def _dropped(name: str) -> _Change:
    return _Change(
        f"no {name}",
        lambda body: name in body,
        lambda said: _names(said, name),
        lambda body: _without(name, body),
    )


def _names(said: ServerError, name: str) -> bool:
    return said.param == name or (name in said.words and _REFUSAL.search(said.words) is not None)


def _about_schema(said: ServerError) -> bool:
    return said.param.startswith("response_format") or _SCHEMA.search(said.words) is not None


def _about_system(said: ServerError) -> bool:
    return _SYSTEM.search(said.words) is not None


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


def _renamed_limit(body: Body) -> Body:
    return {**_without("max_tokens", body), "max_completion_tokens": body["max_tokens"]}


_SCHEMA_CHANGE = _Change(
    "no schema",
    lambda body: "response_format" in body,
    _about_schema,
    lambda body: _without("response_format", body),
)
_CHANGES = (
    _Change(
        "other limit",
        lambda body: "max_tokens" in body,
        lambda said: _names(said, "max_tokens"),
        _renamed_limit,
    ),
    _dropped("temperature"),
    _dropped("top_p"),
    _dropped("seed"),
    _SCHEMA_CHANGE,
    _Change("no system turn", _has_system, _about_system, _without_system),
)


class Dialect:
    """What one server was found to understand. May be used by several threads at once."""

    def __init__(self, *, schema_is_wanted: bool = False) -> None:
        """``schema_is_wanted``: a request keeps its schema whatever the server says of it."""
        self._changes = tuple(c for c in _CHANGES if not (schema_is_wanted and c is _SCHEMA_CHANGE))
        self._known: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    @property
    def known(self) -> frozenset[str]:
        """Names of the changes that every request gets."""
        with self._lock:
            return self._known

    def said(self, body: Body, changes: frozenset[str]) -> Body:
        """The request with these changes, where they apply."""
        for change in self._changes:
            if change.name in changes and change.applies(body):
                body = change.made(body)
        return body

    def next_try(self, body: Body, tried: frozenset[str], trouble: ServerError) -> frozenset[str] | None:
        """``tried`` and the change that the refusal asks for; None where it asks for none."""
        said = self.said(body, tried)
        for change in self._changes:
            if change.name not in tried and change.applies(said) and change.blamed(trouble):
                return tried | {change.name}
        return None

    def keep(self, changes: frozenset[str]) -> None:
        """These changes have led to an answer."""
        with self._lock:
            self._known |= changes
