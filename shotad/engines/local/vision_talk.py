"""A request as the words that a vision-language model reads, with marks where frames belong.

Pure: the tokenizer's chat template is asked, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any

import jinja2

from shotad.core import EngineError, Message, Request
from shotad.engines.local.wording import Refused

Turn = dict[str, Any]
"""``role``, and ``content``: parts with a ``type`` (``video``, ``image``, ``text``), or plain words."""

_DAY = datetime(2024, 7, 26)  # noqa: DTZ001  a date that is written out, in no zone
"""What templates that tell the model the date are given: an answer must not depend on the day of the run."""


def turns(request: Request, kind: str, shown: int) -> list[Turn]:
    """The messages as chat templates of image-text models want them: a list of parts for each turn.

    ``shown`` marks of ``kind`` (``video``, ``image``) stand before the text of the first turn that is
    marked ``with_clip`` (of the first turn of the user where none is), as in the published prompts.
    """
    place = _place(request.messages) if request.clip is not None else None
    return [
        {
            "role": message.role,
            "content": [
                *([{"type": kind}] * (shown if number == place else 0)),
                {"type": "text", "text": message.text},
            ],
        }
        for number, message in enumerate(request.messages)
    ]


def _place(messages: Sequence[Message]) -> int:
    marked = [number for number, message in enumerate(messages) if message.with_clip]
    user = [number for number, message in enumerate(messages) if message.role == "user"]
    return (marked or user or [0])[0]


class Template:
    """A model's chat template, with its tokenizer.

    Raises EngineError where there is none. ``marks`` are words that, like the model's special tokens, no
    message may contain: they are taken out of it.
    """

    def __init__(self, tokenizer: Any, text: str | None, label: str, marks: Collection[str] = ()) -> None:
        self.tokenizer = tokenizer
        self.label = label
        self.text = text or tokenizer.chat_template
        if not self.text:
            raise EngineError(
                f"{label} has no chat template, so it cannot be asked.",
                "Choose a model tuned for chat.",
                again=False,
            )
        named = {str(one) for one in tokenizer.added_tokens_decoder.values() if one.special}
        words = sorted({*named, *tokenizer.all_special_tokens, *marks} - {""}, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, words)) or r"(?!)")

    def prompt(self, talk: Sequence[Turn]) -> str:
        """The whole prompt, up to where the answer begins. Raises Refused where the template cannot."""
        clean = [{**turn, "content": [self._clean(part) for part in turn["content"]]} for turn in talk]
        words = [part["text"].strip() for turn in clean for part in turn["content"] if "text" in part]
        why = "it leaves out a part of the conversation"
        for way in _WAYS:
            try:
                found = self._rendered(way(clean))
            except (jinja2.TemplateError, TypeError, ValueError, LookupError) as error:
                why = str(error)
                continue
            if all(one in found for one in words):
                return found
        raise Refused(f"the chat template of {self.label} cannot be used: {why}")

    def ids(self, prompt: str) -> list[int]:
        """The prompt's tokens, with one beginning-of-text token where the model has such."""
        found = self.tokenizer(prompt, add_special_tokens=not self.begun(prompt), verbose=False)
        return list(found["input_ids"])

    def begun(self, prompt: str) -> bool:
        """True where the template has written the beginning-of-text token itself."""
        bos = self.tokenizer.bos_token
        return bos is not None and prompt.startswith(bos)

    def _rendered(self, talk: Sequence[Turn]) -> str:
        return str(
            self.tokenizer.apply_chat_template(
                list(talk),
                chat_template=self.text,
                tokenize=False,
                add_generation_prompt=True,
                enable_thinking=False,  # of models that think aloud unless told otherwise (Qwen3.5)
                date_string=_DAY.strftime("%d %b %Y"),
                strftime_now=_DAY.strftime,
            )
        )

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
    if not system or not others:
        return others
    parts = list(others[0]["content"])
    place = next(number for number, part in enumerate(parts) if "text" in part)
    parts[place] = {**parts[place], "text": "\n\n".join([*system, parts[place]["text"]])}
    return [{**others[0], "content": parts}, *others[1:]]


def plain(talk: Sequence[Turn]) -> list[Turn]:
    """Turns of words alone as strings, for templates that know no parts."""
    return [
        {**turn, "content": "".join(part["text"] for part in turn["content"])}
        if all("text" in part for part in turn["content"])
        else turn
        for turn in talk
    ]


_WAYS: tuple[Callable[[Sequence[Turn]], list[Turn]], ...] = (
    list,
    alternating,
    folded,
    plain,
    lambda talk: plain(alternating(talk)),
    lambda talk: plain(folded(talk)),
)
"""How a conversation is offered to a template, until it takes it whole."""
