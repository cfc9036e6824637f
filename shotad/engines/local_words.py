"""The words that models of this machine are given: requests as turns, turns by the model's own chat template.

Vision-language models are asked in the same way, with marks where frames belong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2

from shotad.core import Request

Turn = dict[str, Any]
"""``role``, and ``content``: parts with a ``type`` (``video``, ``image``, ``text``), or plain words."""

_DATE = "26 Jul 2024"
"""What templates that tell the model the date are given (Llama 3.1's own fallback): an answer must not depend
on the day of the run."""

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


def turns(request: Request, parts: Sequence[Turn] = ()) -> list[Turn]:
    """The messages as chat templates of image-text models want them: a list of parts for each turn.

    ``parts`` (a ``video``, an ``image``) stand for the clip before the text of the first turn that is marked
    ``with_clip`` (of the first turn of the user where none is), as in the published prompts.
    """
    marked = [number for number, message in enumerate(request.messages) if message.with_clip]
    user = [number for number, message in enumerate(request.messages) if message.role == "user"]
    place = (marked or user or [0])[0] if request.clip is not None else None
    return [
        {
            "role": message.role,
            "content": [*(parts if number == place else ()), {"type": "text", "text": message.text}],
        }
        for number, message in enumerate(request.messages)
    ]


class Template:
    """A model's chat template, with its tokenizer; ``text`` is the processor's own, where there is one.

    ``marks`` are words that, like the model's special tokens, no message may contain: they are taken out of
    it. A model of ``words_only`` gets its turns as strings; without a template one below the other.
    """

    def __init__(
        self,
        tokenizer: Any,
        text: str | None,
        label: str,
        marks: Collection[str] = (),
        *,
        words_only: bool = False,
    ) -> None:
        self.tokenizer = tokenizer
        self.label = label
        self.text: str | None = text or (tokenizer.get_chat_template() if tokenizer.chat_template else None)
        self._ways = _PLAIN_WAYS if words_only else (*_WAYS, *_PLAIN_WAYS)
        named = {str(one) for one in tokenizer.added_tokens_decoder.values() if one.special}
        words = sorted({*named, *tokenizer.all_special_tokens, *marks} - {""}, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, words)) or r"(?!)")

    def prompt(self, talk: Sequence[Turn]) -> str:
        """The whole prompt, up to where the answer begins. Raises Refused where the template cannot."""
        clean = [{**turn, "content": [self._clean(part) for part in turn["content"]]} for turn in talk]
        words = [part["text"] for turn in clean for part in turn["content"] if "text" in part]
        if self.text is None:
            return "\n\n".join([*words, ""])
        why = "it leaves out a part of the conversation"
        for way in self._ways:
            try:
                found = str(
                    self.tokenizer.apply_chat_template(
                        way(clean),
                        chat_template=_CLOCK + self.text if "strftime_now" in self.text else self.text,
                        tokenize=False,
                        add_generation_prompt=True,
                        enable_thinking=False,  # of models that think aloud unless told otherwise (Qwen3)
                        date_string=_DATE,
                    )
                )
            except (jinja2.TemplateError, TypeError, ValueError, LookupError) as error:
                why = str(error)
                continue
            if all(one.strip() in found for one in words):
                return found
        raise Refused(f"the chat template of {self.label} cannot be used: {why}")

    def ids(self, prompt: str) -> list[int]:
        """The prompt's tokens, with one beginning-of-text token where the model has such."""
        return self.tokens(prompt, special=not self.begun(prompt))

    def tokens(self, prompt: str, *, special: bool) -> list[int]:
        """The prompt's tokens; ``special``: with those that the tokenizer adds by itself."""
        return list(self.tokenizer(prompt, add_special_tokens=special, verbose=False)["input_ids"])

    def begun(self, prompt: str) -> bool:
        """True where the template has written the beginning-of-text token itself."""
        bos = self.tokenizer.bos_token
        return bos is not None and prompt.startswith(bos)

    def _clean(self, part: Turn) -> Turn:
        return {**part, "text": self._special.sub("", part["text"])} if "text" in part else part


def alternating(talk: Sequence[Turn]) -> list[Turn]:
    """Neighbours of the same role joined, with an empty line between their words."""
    found: list[Turn] = []
    for turn in talk:
        if found and found[-1]["role"] == turn["role"]:
            first, *others = turn["content"]
            gap = {"type": "text", "text": "\n\n"}
            joined = [{**first, "text": f"\n\n{first['text']}"}] if "text" in first else [gap, first]
            found[-1] = {**turn, "content": [*found[-1]["content"], *joined, *others]}
        else:
            found.append(turn)
    return found


def folded(talk: Sequence[Turn]) -> list[Turn]:
    """What the system says, put before the words of the first turn of the user, behind its frames."""
    system = [part["text"] for turn in talk if turn["role"] == "system" for part in turn["content"]]
    others = alternating([turn for turn in talk if turn["role"] != "system"])
    if not system:
        return others
    if not others or others[0]["role"] != "user":
        others = [{"role": "user", "content": [{"type": "text", "text": ""}]}, *others]
    parts = list(others[0]["content"])
    # Text before a frame is the time of that frame.
    ends = (n for n, part in enumerate(parts) if "text" in part)
    place = next(n for n in ends if all("text" in part for part in parts[n + 1 : n + 2]))
    parts[place] = {**parts[place], "text": "\n\n".join(filter(None, [*system, parts[place]["text"]]))}
    return [{**others[0], "content": parts}, *others[1:]]


def plain(talk: Sequence[Turn]) -> list[Turn]:
    """Turns of words alone as strings, for templates that know no parts."""
    return [
        {**turn, "content": "".join(part["text"] for part in turn["content"])}
        if all("text" in part for part in turn["content"])
        else turn
        for turn in talk
    ]


Way = Callable[[Sequence[Turn]], list[Turn]]

_WAYS: tuple[Way, ...] = (list, alternating, folded)
_PLAIN_WAYS: tuple[Way, ...] = (
    plain,
    lambda talk: plain(alternating(talk)),
    lambda talk: plain(folded(talk)),
)
"""How a conversation is offered to a template, until it takes it whole."""


@dataclass(frozen=True, slots=True)
class TextWords:
    """What a model of words alone is given."""

    template: Template

    def tokens(self, request: Request) -> list[int]:
        """The prompt's tokens; a template writes all special ones itself. Raises Refused."""
        return self.template.tokens(self.template.prompt(turns(request)), special=self.template.text is None)

    def length(self, request: Request) -> int:
        """Tokens of a request's prompt."""
        return len(self.tokens(request))

    def inputs(self, requests: Sequence[Request]) -> dict[str, Any]:
        """Tensors of all that the model is given, padded on the left."""
        from shotad.engines.local_answers import padded

        pad = self.template.tokenizer.pad_token_id
        return dict(padded([self.tokens(request) for request in requests], 0 if pad is None else pad))
