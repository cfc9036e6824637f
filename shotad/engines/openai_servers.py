"""What is known of each server before it is asked: how many images it takes, and how its models are kept
from thinking.

A model that thinks writes its thoughts before the answer and pays for them from the same limit of tokens: a
line of AD needs none. Each server has its own way to turn thinking off, and each model its own lowest value,
so a row has rules by model name. What a row has wrong is learned from the answer (`openai_changes`).

Limits of images: for OpenAI, Anthropic, Gemini, Mistral and Groq those that the test suite of pi measured in
December 2025 (github.com/badlogic/pi-mono, packages/ai/test/image-limits.test.ts); for Azure the error
quoted in github.com/anomalyco/opencode/issues/39677; for Fireworks, DeepInfra and Alibaba those quoted in
github.com/NousResearch/hermes-agent/pull/104914. Groq documents 5 too (console.groq.com/docs/vision).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shotad.engines.openai_client import Address

Fields = Mapping[str, Any]
"""Fields of a request, by name."""

Rules = tuple[tuple[str, Fields], ...]
"""Patterns of model names in small letters, and what is sent for each; the first that is found counts."""


def _effort(value: str) -> Fields:
    return {"reasoning_effort": value}


_GPT_OSS = r"gpt-?oss"
"""gpt-oss thinks always, and least at ``low`` (github.com/openai/gpt-oss)."""

_OPENAI_MODELS: Rules = (
    (_GPT_OSS, _effort("low")),
    # GPT-5 knows minimal, which later ones refuse; those know none (learn.microsoft.com, ReasoningEffort).
    (r"gpt-5\.\d", _effort("none")),
    (r"gpt-5(?!-chat)", _effort("minimal")),
    # GPT-6 refuses both (metacpan.org/pod/Langertha::Reasoning).
    (r"gpt-[6-9]", _effort("low")),
    (r"(?:^|/)o[1-9](?:-|$)", _effort("low")),
)
"""Lowest values of ``reasoning_effort``. Models that do not think refuse the field, so it is sent to these
alone."""

_TEMPLATE_SWITCHES: Rules = (
    # DeepSeek 3.1, Kimi K2.5 and Granite call it otherwise (docs.vllm.ai, Reasoning Outputs).
    (r"kimi|deepseek|granite", {"chat_template_kwargs": {"thinking": False}}),
    ("", {"chat_template_kwargs": {"enable_thinking": False}}),
)
"""Values for a model's chat template: Qwen3, GLM and Gemma 4 know ``enable_thinking``. vLLM, SGLang and
llama.cpp pass them on, and templates that do not know them are not changed by them."""

_THINKING_DISABLED: Rules = (("", {"thinking": {"type": "disabled"}}),)

_OWN_SERVER: Rules = (
    # vLLM and newer llama.cpp read the field, older llama.cpp the template's value.
    (_GPT_OSS, {**_effort("low"), "chat_template_kwargs": _effort("low")}),
    *_OPENAI_MODELS,
    # Models of makers who keep them to themselves, behind a gateway: their servers know no chat template.
    (r"(?:^|/)(?:gpt-|chatgpt|claude|gemini|grok)|anthropic", {}),
    *_TEMPLATE_SWITCHES,
)


@dataclass(frozen=True, slots=True)
class Server:
    """A kind of server. ``hosts``: its host, or the end of it (empty: whoever has no row of its own).

    ``max_images``: how many images it takes in a request (None: not known, or no limit). ``thinking``: what
    keeps its models from thinking, by their names.
    """

    title: str
    hosts: tuple[str, ...] = ()
    max_images: int | None = None
    thinking: Rules = ()

    def has(self, host: str) -> bool:
        """Whether ``host`` is one of this server's.

        >>> Server("Groq", ("groq.com",)).has("api.groq.com"), Server("xAI", ("x.ai",)).has("matrix.ai")
        (True, False)
        """
        return any(host == own or host.endswith(f".{own}") for own in self.hosts)

    def lowest_thinking(self, model: str) -> dict[str, Any]:
        """The fields that turn thinking off for ``model``, or as low as it goes; empty where none are needed.

        >>> OWN_SERVER.lowest_thinking("Qwen/Qwen3-VL-8B-Thinking")
        {'chat_template_kwargs': {'enable_thinking': False}}
        """
        for pattern, fields in self.thinking:
            if re.search(pattern, model.lower()):
                return dict(fields)
        return {}


OWN_SERVER = Server("a server of your own", thinking=_OWN_SERVER)
"""vLLM, SGLang, llama.cpp, a gateway: all that have no row."""

LM_STUDIO = Server(
    "LM Studio",
    # It knows no values for templates; its values of the field are none, low, medium, high, xhigh
    # (ruby-toolbox.com/projects/ruby_llm-providers-lms).
    thinking=(
        (_GPT_OSS, _effort("low")),
        ("", {**_effort("none"), "chat_template_kwargs": {"enable_thinking": False}}),
    ),
)

SERVERS = (
    Server("OpenAI", ("openai.com",), 500, _OPENAI_MODELS),
    Server(
        "Azure OpenAI",
        ("openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"),
        50,
        _OPENAI_MODELS,
    ),
    # Claude thinks only where it is asked to, and reasoning_effort is ignored there
    # (docs.claude.com, OpenAI SDK compatibility).
    Server("Anthropic", ("anthropic.com", "claude.com"), 100),
    Server(
        "Gemini",
        ("generativelanguage.googleapis.com",),
        2000,
        # Pro models cannot stop thinking. Valid values are high, low, medium, none
        # (discuss.ai.google.dev/t/117875).
        ((r"pro", _effort("low")), (r"gemini-(?:2\.5|[3-9])", _effort("none"))),
    ),
    # Qwen takes none or default there, gpt-oss low to high (console.groq.com/docs/reasoning).
    Server("Groq", ("groq.com",), 5, ((_GPT_OSS, _effort("low")), (r"qwen-?3", _effort("none")))),
    # Mistral's models think where reasoning_effort asks for it; Magistral always does.
    Server("Mistral", ("mistral.ai",), 8),
    # openrouter.ai/docs/use-cases/reasoning-tokens: models that do not think ignore it.
    Server("OpenRouter", ("openrouter.ai",), None, (("", {"reasoning": {"effort": "none"}}),)),
    Server(
        "Together",
        ("together.ai", "together.xyz"),
        None,
        # docs.together.ai/docs/inference/chat/reasoning
        ((_GPT_OSS, _effort("low")), ("", {"reasoning": {"enabled": False}})),
    ),
    Server(
        "xAI",
        ("x.ai",),
        None,
        # From grok-4.3 on none turns it off; grok-4 refuses the field (docs.x.ai/docs/guides/reasoning).
        ((r"grok-3-mini", _effort("low")), (r"grok-4\.[3-9]", _effort("none"))),
    ),
    # docs.z.ai/guides/capabilities/thinking-mode; platform.kimi.ai/docs/api/models-overview
    Server("Z.ai", ("z.ai", "bigmodel.cn"), None, _THINKING_DISABLED),
    Server("Moonshot", ("moonshot.ai", "moonshot.cn", "kimi.ai"), None, _THINKING_DISABLED),
    Server("Alibaba Cloud", ("aliyuncs.com",), 250, (("", {"enable_thinking": False}),)),
    # It takes the fields of vLLM (docs.fireworks.ai/tools-sdks/nim-compatibility).
    Server("Fireworks", ("fireworks.ai",), 60, _OWN_SERVER),
    Server("DeepInfra", ("deepinfra.com",), 8, _OWN_SERVER),
)
"""The servers that others run, each with its row in docs/engines.md."""

_LM_STUDIO_PORT = 1234


def server_of(address: Address, kind: str = "") -> Server:
    """The row of the server at ``address``; ``kind`` is the word of ``--engine WORD:MODEL`` (empty: none)."""
    if kind == "lmstudio" or (address.is_local and address.port == _LM_STUDIO_PORT):
        return LM_STUDIO
    if address.deployment:
        return next(server for server in SERVERS if server.title == "Azure OpenAI")
    return next((server for server in SERVERS if server.has(address.host)), OWN_SERVER)
