"""The engine ``ollama``: both stages through Ollama's own protocol, in which a request sets the context
length.

At its OpenAI-compatible address Ollama cuts prompts that are longer than a context of its own choice. Here
each request sets the length that it needs, up to what the model can hold. Documented at docs.ollama.com/api.

Ollama puts all images of a turn before its text, unless the text has marks ``[img]``: the images go there, in
order (github.com/ollama/ollama, server/prompt.go). Models with a renderer do the same since 2026
(model/renderers/image_tags.go); older versions would write the marks out for these, so they get none.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from shotad.core import Config
from shotad.core.engine import Stage
from shotad.engines.openai_client import Address, ChatClient
from shotad.engines.openai_engine import OpenAI
from shotad.engines.openai_wire import Body, ServerAnswer, error_in, is_image, is_text

_CONTEXT_STEP = 4096
"""Tokens. Contexts are multiples of it: Ollama loads a model again for each other length."""
_LETTERS_PER_TOKEN = 3
"""An estimate, and a low one: so that the context is rather too long than too short."""
_TOKENS_PER_IMAGE = 300
"""An estimate; where a model takes more and the prompt does not fit, the context is doubled."""
_DEFAULT_MAX_CONTEXT = 32_768
"""Tokens that a model is taken to hold where Ollama does not say how many."""
_CUT_TOLERANCE = 8
"""Tokens. Ollama cuts a prompt that is too long to half of the context and a few tokens, at most this
many."""
_MIN_TIMEOUT = 600.0
"""Seconds that an answer may take, whatever the settings: without a GPU a prompt with 32 frames takes
minutes."""


@dataclass(slots=True)
class _ModelState:
    """What a model can do, and the context in use. Both stages share it: another context means loading again.

    ``max_context`` and ``context`` in tokens; ``sees``: it takes images; ``thinking``: the value of ``think``
    that lets it think least (None: it does not think); ``takes_marks``: images go where its text has marks.
    """

    max_context: int
    sees: bool
    thinking: bool | str | None
    takes_marks: bool
    context: int = 0

    def context_for(self, tokens: int) -> int:
        """The context to set for a request of so many ``tokens``, in tokens; it never becomes shorter."""
        steps = math.ceil(max(tokens, 2 * _CONTEXT_STEP) / _CONTEXT_STEP)
        self.context = max(self.context, min(steps * _CONTEXT_STEP, self.max_context))
        return self.context


_MODEL_STATES: dict[tuple[str, str], _ModelState] = {}
"""The state of each model used in this process, by address and model name."""


class _OllamaClient(ChatClient):
    """Calls Ollama by its own protocol. It takes requests and returns answers in the form of OpenAI's."""

    listing = ("api/tags", "models", "name")

    def __init__(self, address: Address, key_name: str, timeout: float) -> None:
        super().__init__(replace(address, url=address.url.removesuffix("/v1")), key_name, timeout)

    def ask(self, body: Body) -> ServerAnswer:
        """Send a chat request. Returns the answer, whatever its status. Raises CallFailed where there is
        none.

        A prompt that does not fit into the context is sent again with a longer one.
        """
        model = str(body["model"])
        state = self._state_of(model)
        if isinstance(state, ServerAnswer):
            return state
        letters = images = 0
        for turn in body["messages"]:
            text, turn_images = _text_and_images(turn, marks=state.takes_marks)
            letters += len(text)
            images += len(turn_images)
        if images and not state.sees:
            return _error_answer(f"{model} does not support image input")
        answer_tokens = int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)
        context = state.context_for(
            letters // _LETTERS_PER_TOKEN + images * _TOKENS_PER_IMAGE + answer_tokens
        )
        while True:
            raw = self._call("api/chat", self._timeout, _ollama_request(body, context, state))
            document = raw.document
            error = error_in(raw)
            prompt_tokens = document.get("prompt_eval_count") if isinstance(document, Mapping) else None
            # A prompt that does not fit is an error, or, in older versions, cut without one.
            if error is not None:
                too_long = error.meaning == "too long"
            else:
                too_long = (
                    isinstance(prompt_tokens, int) and 0 <= prompt_tokens - context // 2 <= _CUT_TOLERANCE
                )
            if not too_long:
                return _as_chat_completion(raw, model)
            longer = state.context_for(2 * context)
            if longer == context:
                return _error_answer(f"the prompt is longer than the maximum context of {context} tokens")
            context = longer

    def _state_of(self, model: str) -> _ModelState | ServerAnswer:
        """The state of the model, asked for once; the answer of the server where it is an error. Raises
        CallFailed."""
        key = (self.address.url, model)
        state = _MODEL_STATES.get(key)
        if state is not None:
            return state
        raw = self._call("api/show", self._timeout, {"model": model})
        document = raw.document
        if raw.status != 200:
            return raw
        if not isinstance(document, Mapping):
            return ServerAnswer(500, raw.body)
        model_info = document.get("model_info") or {}
        # The name begins with the architecture, as in "qwen25vl.context_length".
        lengths = [value for name, value in model_info.items() if name.endswith(".context_length")]
        max_context = int(lengths[0]) if lengths else _DEFAULT_MAX_CONTEXT
        capabilities = document.get("capabilities")
        thinking: bool | str | None = None
        if capabilities is None:
            # Ollama from before 2025 does not list them. A model without vision is an error of the request
            # then.
            sees = True
        else:
            sees = "vision" in capabilities
            if "thinking" in capabilities:
                family = (document.get("details") or {}).get("family")
                # gpt-oss ignores false, and thinks least at "low" (docs.ollama.com/capabilities/thinking).
                thinking = "low" if family == "gptoss" else False
        takes_marks = not document.get("renderer")
        # Another thread may have been faster: its state holds the context in use.
        return _MODEL_STATES.setdefault(key, _ModelState(max_context, sees, thinking, takes_marks))


class Ollama(OpenAI):
    """Asks one model of one Ollama. One request at a time: Ollama answers them one after the other."""

    name = "ollama"
    client_class = _OllamaClient
    knows_one_schema_form = True

    def __init__(self, config: Config, stage: Stage, **timing: Any) -> None:
        """As `OpenAI`. The address may end in ``/v1``, the path of OpenAI's protocol. Raises EngineError."""
        changes = {"in_flight": 1, "timeout": max(config.openai.timeout, _MIN_TIMEOUT)}
        settings = config.openai.model_copy(update=changes)
        super().__init__(config.model_copy(update={"openai": settings}), stage, **timing)

    def _thinking_fields(self, model: str) -> dict[str, Any]:
        # The client puts the value in place of it that the model knows, once it has asked for that.
        return {"think": False}


_MARK = "[img]"
"""Where an image goes in the text of a turn."""
_TEXT_LIKE_MARK = re.compile(r"\[(?=img\b)")
"""The beginning of what Ollama would take for a mark: a subtitle or a note may hold it."""


def _text_and_images(turn: Mapping[str, Any], *, marks: bool) -> tuple[str, list[str]]:
    """The text of a turn, and its images in base64. ``marks``: the text says where each image goes, if some
    of it stands before an image."""
    content = turn["content"]
    if isinstance(content, str):
        return _TEXT_LIKE_MARK.sub("[ ", content), []
    texts: list[str] = []
    images: list[str] = []
    needs_marks = any(is_text(before) and is_image(part) for before, part in pairwise(content))
    for part in content:
        if is_text(part):
            texts.append(_TEXT_LIKE_MARK.sub("[ ", part["text"]))
        elif is_image(part):
            # After the comma of "data:image/jpeg;base64,…".
            images.append(part["image_url"]["url"].partition(",")[2])
            if marks and needs_marks:
                texts.append(_MARK)
    return "\n\n".join(texts), images


_TRANSLATED = {
    "model",
    "messages",
    "temperature",
    "top_p",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "think",
    "options",
}
"""Fields of a request that have another form in Ollama's protocol. All others go on as they are."""


def _ollama_request(body: Body, context: int, state: _ModelState) -> Body:
    """The request in the form of Ollama's protocol. ``context`` in tokens.

    A model that can think is asked not to, for the line is short and the wait would be long.
    """
    turns: list[Body] = []
    for openai_turn in body["messages"]:
        text, images = _text_and_images(openai_turn, marks=state.takes_marks)
        turn: Body = {"role": openai_turn["role"], "content": text}
        if images:
            turn["images"] = images
        turns.append(turn)
    options: Body = {"num_ctx": context}
    option_names = {
        "temperature": "temperature",
        "top_p": "top_p",
        "top_k": "top_k",
        "seed": "seed",
        "max_tokens": "num_predict",
    }
    for openai_name, ollama_name in option_names.items():
        if openai_name in body:
            options[ollama_name] = body[openai_name]
    options |= body.get("options") or {}  # of openai.extra
    request: Body = {
        "model": body["model"],
        "messages": turns,
        "stream": False,
        # Newer versions answer with an error where a prompt is too long, instead of cutting it.
        "truncate": False,
        "shift": False,
        "options": options,
    }
    if body.get("think") is False and state.thinking is not None:
        request["think"] = state.thinking
    elif body.get("think"):
        request["think"] = body["think"]  # of openai.extra
    if "response_format" in body:
        request["format"] = body["response_format"]["json_schema"]["schema"]
    return {**request, **{name: value for name, value in body.items() if name not in _TRANSLATED}}


def _error_answer(message: str) -> ServerAnswer:
    """An error in the form of a server's answer, so that `error_in` reads it."""
    return ServerAnswer(400, json.dumps({"error": {"message": message}}).encode())


def _as_chat_completion(raw: ServerAnswer, model: str) -> ServerAnswer:
    """The answer in the form of a chat completion of OpenAI's protocol; errors unchanged."""
    answer = raw.document
    if raw.status != 200 or not isinstance(answer, Mapping):
        return raw
    answer_message = answer.get("message")
    if not isinstance(answer_message, Mapping):
        return raw
    usage = {
        "prompt_tokens": answer.get("prompt_eval_count"),
        "completion_tokens": answer.get("eval_count"),
    }
    message = {
        "role": "assistant",
        "content": answer_message.get("content", ""),
        "thinking": answer_message.get("thinking", ""),
    }
    choice = {"index": 0, "finish_reason": answer.get("done_reason", "stop"), "message": message}
    completion = {"model": model, "choices": [choice], "usage": usage}
    return replace(raw, body=json.dumps(completion).encode())
