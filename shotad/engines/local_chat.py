"""Any chat model of transformers as an engine: by default Meta-Llama-3-8B-Instruct, as in Shot-by-Shot.

It reads words only, by the chat template that comes with it. Temperature, top-p and length come with each
request, the seed is that of the slot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jinja2

from shotad.core import (
    Abilities,
    Config,
    EngineError,
    Identity,
    Message,
    NoProgress,
    Progress,
    Reply,
    Request,
    Stage,
    need,
    need_torch,
)
from shotad.engines.local_model import PROMPT_TOKENS, LocalModel, ModelPlace, resolve

if TYPE_CHECKING:
    from shotad.engines.local_loading import Loaded

NAME = "llama3"

_PURPOSE = f"The engine {NAME}"


@dataclass(frozen=True, slots=True)
class _Ready:
    place: ModelPlace
    tokenizer: Any


class ChatModel(LocalModel[_Ready]):
    """An engine that answers with a chat model."""

    name = NAME
    default = "llama3-8b"

    def __init__(self, config: Config, stage: Stage = "stage2") -> None:
        """As `LocalModel` says."""
        super().__init__(config, stage)
        self._compute, self._local = config.compute, config.local
        self.abilities = Abilities(batch=config.local.batch)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order; see `shotad.engines.local_answers.answers`."""
        ready = self._prepared(NoProgress())
        from shotad.engines import local_loading

        with local_loading.lent(ready.place, "text", self._compute, self._local) as loaded:
            return self._answers(loaded, ready.tokenizer, requests)

    def _answers(self, loaded: Loaded, tokenizer: Any, requests: Sequence[Request]) -> list[Reply]:
        from shotad.engines.local_answers import answers, pad_token, padded

        replies: dict[int, Reply] = {}
        prompts: dict[int, list[int]] = {}
        for index, request in enumerate(requests):
            try:
                prompts[index] = prompt_ids(tokenizer, request.messages)
            except Refused as error:
                replies[index] = Reply("", "error", error=str(error))
        asked, rows = list(prompts), list(prompts.values())
        pad = pad_token(loaded, tokenizer)
        found = answers(
            loaded,
            tokenizer,
            [requests[index] for index in asked],
            [len(row) for row in rows],
            lambda places: padded([rows[place] for place in places], pad),
            most=self._local.batch,
        )
        replies.update(zip(asked, found, strict=True))
        return [replies[index] for index in range(len(requests))]

    def _made_ready(self, progress: Progress) -> _Ready:
        need_torch(_PURPOSE)
        need("transformers", _PURPOSE)
        from shotad.engines import local_loading

        # What the machine lacks is told before many GB are fetched.
        local_loading.check_machine(self._compute, self._local)
        place = resolve(self._model, self._revision, progress)
        way = local_loading.way_of(place, "text", self._compute, self._local)
        self._check_context(place.label, local_loading.context_of(local_loading.config_of(place)))
        tokenizer = local_loading.tokenizer_of(place)
        self.identity = Identity(NAME, place.label, f"{place.revision} {way.precision}")
        return _Ready(place, tokenizer)

    def _check_context(self, label: str, context: int | None) -> None:
        if context is not None and context < self._answer + PROMPT_TOKENS:
            raise EngineError(
                f"{label} takes {context} tokens; {self._stage}.sampling.max_tokens = {self._answer} "
                f"leaves {max(0, context - self._answer)} of them for the prompt.",
                "Lower that number, or name a model that takes more.",
                again=False,
            )


Turn = Mapping[str, str]
"""``role`` and ``content``, as chat templates want them."""

_DATE = "26 Jul 2024"
"""What templates that tell the model the date are given (Llama 3.1's own fallback): an answer must not
depend on the day of the run."""

_CLOCK = (
    "{%- macro strftime_now(format) -%}{{ format"
    + "".join(
        f" | replace('%{code}', '{value}')"
        for code, value in {
            "d": "26", "b": "Jul", "B": "July", "m": "07", "Y": "2024", "y": "24", "A": "Friday", "a": "Fri",
            "H": "12", "M": "00", "S": "00", "-d": "26", "-m": "7", "j": "208",
        }.items()
    )
    + " }}{%- endmacro -%}"
)  # fmt: skip
"""Put before a template that asks for the time: a clock of its own that stands still."""


class Refused(Exception):  # noqa: N818  an answer of the template, not a fault
    """A chat template cannot put a conversation into words; the message says why."""


def prompt_ids(tokenizer: Any, messages: Sequence[Message]) -> list[int]:
    """Token ids of the prompt, up to where the answer begins.

    A template writes all special tokens itself, so that none is added; without a template the turns are
    put one below the other, and the tokenizer adds its own. Raises Refused.
    """
    talk = [{"role": one.role, "content": _cleaned(tokenizer, one.text)} for one in messages]
    if not tokenizer.chat_template:
        text, special = "\n\n".join(turn["content"] for turn in talk) + "\n\n", True
    else:
        text, special = _rendered(tokenizer, talk), False
    return list(tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"])


def folded(talk: Sequence[Turn]) -> list[Turn]:
    """What the system says, put before the first turn of the user, for models that know no system role.

    >>> folded([{"role": "system", "content": "Be short."}, {"role": "user", "content": "Why?"}])
    [{'role': 'user', 'content': 'Be short.\\n\\nWhy?'}]
    """
    system = [turn["content"] for turn in talk if turn["role"] == "system"]
    others = [turn for turn in talk if turn["role"] != "system"]
    return alternating([*({"role": "user", "content": text} for text in system), *others])


def alternating(talk: Sequence[Turn]) -> list[Turn]:
    """Neighbours of the same role joined, by an empty line."""
    found: list[Turn] = []
    for turn in talk:
        if found and found[-1]["role"] == turn["role"]:
            found[-1] = {**turn, "content": f"{found[-1]['content']}\n\n{turn['content']}"}
        else:
            found.append(turn)
    return found


_WAYS: tuple[Callable[[Sequence[Turn]], list[Turn]], ...] = (list, alternating, folded)
"""How a conversation is offered to a template, until it takes it whole."""


def _rendered(tokenizer: Any, talk: Sequence[Turn]) -> str:
    why = "it leaves out a part of the conversation"
    for way in _WAYS:
        try:
            text: str = tokenizer.apply_chat_template(
                way(talk),
                tokenize=False,
                add_generation_prompt=True,
                chat_template=_template(tokenizer),
                enable_thinking=False,  # of models that think aloud unless told otherwise (Qwen3)
                date_string=_DATE,
            )
        except (jinja2.TemplateError, TypeError, ValueError) as error:
            why = str(error)
            continue
        if all(turn["content"].strip() in text for turn in talk):
            return text
    raise Refused(f"the model's chat template cannot be used: {why}")


def _template(tokenizer: Any) -> str:
    text: str = tokenizer.get_chat_template()
    return _CLOCK + text if "strftime_now" in text else text


def _cleaned(tokenizer: Any, text: str) -> str:
    """The text without the model's special tokens, so that words of a film never end a turn."""
    named = {str(one) for one in tokenizer.added_tokens_decoder.values() if one.special}
    words = sorted({*named, *tokenizer.all_special_tokens} - {""}, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, words)), "", text) if words else text
