"""The engine ``ollama``: both stages through Ollama's own protocol, which takes the length of the context.

Through its OpenAI-compatible address Ollama cuts what is longer than a context of its own choice. Here the
length is set with each request, as long as the model can hold. Documented at docs.ollama.com/api.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from shotad.core import Config, Stage
from shotad.engines.openai_client import Address, ChatClient
from shotad.engines.openai_engine import OpenAI
from shotad.engines.openai_wire import Body, Raw, trouble_in

_STEP = 4096
"""Contexts are whole multiples of it: a model is loaded again for each other length."""
_LETTERS = 3
"""Of a text, a token: few, so that the estimate is rather too high."""
_IMAGE = 300
"""Tokens of a frame, estimated; where a model takes more, the context is doubled."""
_USUAL = 32_768
"""Tokens that a model can hold which does not say how many."""
_CUT = 8
"""Ollama leaves half of the context of a prompt that is longer, and a few tokens."""
_PATIENCE = 600.0
"""Seconds for an answer at least: without a GPU a prompt with 32 frames is read for minutes."""


@dataclass(slots=True)
class _Held:
    """What a model can do and how much is in use, for both stages: another context is another loading."""

    longest: int
    sees: bool
    thinks: bool
    context: int = 0

    def room(self, wanted: int) -> int:
        """The context to set, in tokens, for a request that wants so many; it never becomes shorter."""
        steps = -(-max(wanted, 2 * _STEP) // _STEP)
        self.context = max(self.context, min(steps * _STEP, self.longest))
        return self.context


_HELD: dict[tuple[str, str], _Held] = {}
"""By address and model."""


class _OllamaClient(ChatClient):
    """Calls in Ollama's words; who asks and reads the answer sees those of OpenAI."""

    listing = ("api/tags", "models", "name")

    def __init__(self, address: Address, key_name: str, timeout: float) -> None:
        super().__init__(replace(address, url=address.url.removesuffix("/v1")), key_name, timeout)

    def ask(self, body: Body) -> Raw:
        """Sends a chat request. Raises Broken; any status is an answer."""
        held = self._held(str(body["model"]))
        if isinstance(held, Raw):
            return held
        images = sum(len(_parts(turn)[1]) for turn in body["messages"])
        if images and not held.sees:
            return _refusal(f"{body['model']} does not support image input")
        letters = sum(len(_parts(turn)[0]) for turn in body["messages"])
        answer = int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)
        context = held.room(letters // _LETTERS + images * _IMAGE + answer)
        while True:
            raw = self._call("api/chat", self._timeout, _native(body, context, thinks=held.thinks))
            told, trouble = raw.document, trouble_in(raw)
            read = told.get("prompt_eval_count") if isinstance(told, Mapping) else None
            # A prompt that did not fit: said so, or cut without a word
            if trouble is not None:
                too_long = trouble.meaning == "too long"
            else:
                too_long = isinstance(read, int) and 0 <= read - context // 2 <= _CUT
            if not too_long:
                return _translated(raw, str(body["model"]))
            longer = held.room(2 * context)
            if longer == context:
                return _refusal(f"the prompt is longer than the maximum context of {context} tokens")
            context = longer

    def _held(self, model: str) -> _Held | Raw:
        """What is known of the model, asked for once; the answer where it is an error."""
        key = (self.address.url, model)
        if (known := _HELD.get(key)) is not None:
            return known
        raw = self._call("api/show", self._timeout, {"model": model})
        told = raw.document
        if raw.status != 200 or not isinstance(told, Mapping):
            return raw if raw.status != 200 else Raw(500, raw.body)
        sizes = told.get("model_info") or {}
        lengths = [value for name, value in sizes.items() if name.endswith(".context_length")]
        able = told.get("capabilities")
        thinks = able is not None and "thinking" in able and told.get("details", {}).get("family") != "gptoss"
        # An Ollama of before 2025 does not say what a model is able to do; it will say so when it is asked.
        made = _Held(int(lengths[0]) if lengths else _USUAL, able is None or "vision" in able, thinks)
        return _HELD.setdefault(key, made)


class Ollama(OpenAI):
    """Asks one model of one Ollama, one request after the other, as it answers them."""

    name = "ollama"
    client = _OllamaClient

    def __init__(self, config: Config, stage: Stage, **timing: Any) -> None:
        """As `OpenAI`; an address that ends in ``/v1``, where it speaks OpenAI's protocol, will do too."""
        patient = {"in_flight": 1, "timeout": max(config.openai.timeout, _PATIENCE)}
        settings = config.openai.model_copy(update=patient)
        super().__init__(config.model_copy(update={"openai": settings}), stage, **timing)


def _parts(turn: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The words of a turn, and its pictures in base 64."""
    content = turn["content"]
    if isinstance(content, str):
        return content, []
    words = [part["text"] for part in content if part["type"] == "text"]
    pictures = [part["image_url"]["url"].partition(",")[2] for part in content if part["type"] == "image_url"]
    return "\n\n".join(words), pictures


def _native(body: Body, context: int, *, thinks: bool) -> Body:
    """The request in Ollama's words. Models that think are asked not to: the line is short, the wait long."""
    names = {"temperature": "temperature", "top_p": "top_p", "seed": "seed", "max_tokens": "num_predict"}
    turns = [
        {"role": turn["role"], "content": words, **({"images": pictures} if pictures else {})}
        for turn in body["messages"]
        for words, pictures in (_parts(turn),)
    ]
    native: Body = {
        "model": body["model"],
        "messages": turns,
        "stream": False,
        "truncate": False,  # newer ones say so where a prompt is too long
        "shift": False,
        "options": {"num_ctx": context} | {new: body[old] for old, new in names.items() if old in body},
    }
    if thinks:
        native["think"] = False
    if "response_format" in body:
        native["format"] = body["response_format"]["json_schema"]["schema"]
    return native


def _refusal(message: str) -> Raw:
    return Raw(400, json.dumps({"error": {"message": message}}).encode())


def _translated(raw: Raw, model: str) -> Raw:
    """An answer as a chat completion; errors as they came."""
    told = raw.document
    if raw.status != 200 or not isinstance(told, Mapping) or not isinstance(told.get("message"), Mapping):
        return raw
    usage = {
        "prompt_tokens": told.get("prompt_eval_count"),
        "completion_tokens": told.get("eval_count"),
    }
    message = {"role": "assistant", "content": told["message"].get("content", "")}
    choice = {"index": 0, "finish_reason": told.get("done_reason", "stop"), "message": message}
    document = {"model": model, "choices": [choice], "usage": usage}
    return replace(raw, body=json.dumps(document).encode())
