"""Asking again: the conversation goes on with what was wrong. Short and plain, for small models too."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from shotad.core import Message
from shotad.description.checks import Complaint
from shotad.description.prompts import answer_keys
from shotad.description.templates import render

REPAIR_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "stage1/again": ("complaints", "template"),
    "stage1/again-refused": ("template",),
    "stage2/again": ("complaints", "wanted", "others", "template"),
    "stage2/again-line": ("line", "complaints"),
    "stage2/again-others": (),
    "stage2/again-refused": ("template",),
    "stage2/again-more": ("have", "wanted", "template"),
    "stage2/again-without": ("line", "unseen", "wanted", "template"),
}
"""The templates of this module and their variables, for the check before a run."""

LONGEST = 1200
"""Characters of a model's answer that it is shown again; a model that rambled is not to read it all."""

COUNTS = {1: "one sentence", 2: "two sentences", 3: "three sentences", 4: "four sentences",
          5: "five sentences"}  # fmt: skip

Messages = tuple[Message, ...]


def stage1_again(
    messages: Messages, raw: str, complaints: Sequence[Complaint], steps: Sequence[str]
) -> Messages:
    """Stage I asked again about the same clip; ``steps`` are the headings of its answer, in order."""
    template = render(
        "stage1/answer",
        steps="\n".join(
            render("stage1/answer-step", number=str(i), heading=step) for i, step in enumerate(steps, 1)
        ),
    )
    if _refused(complaints):
        return _asked_anew(messages, render("stage1/again-refused", template=template))
    return _continued(
        messages, raw, render("stage1/again", complaints=_sentences(complaints), template=template)
    )


def stage2_again(
    messages: Messages,
    raw: str,
    complaints: Sequence[tuple[str, tuple[Complaint, ...]]],
    *,
    candidates: int,
    wanted: int,
) -> Messages:
    """Stage II asked for ``wanted`` lines in place of those complained about.

    ``complaints`` are lines and what is wrong with each; the line is empty where the whole answer is
    meant. ``candidates`` is how many were asked for at first. The answer is to have the keys of
    ``answer_keys(wanted)``.
    """
    template = _form(wanted)
    if any(_refused(those) for _, those in complaints):
        return _asked_anew(messages, render("stage2/again-refused", template=template))
    spoken = "\n\n".join(_about(line, those) for line, those in complaints if those)
    others = render("stage2/again-others") if wanted < candidates else ""
    text = render(
        "stage2/again", complaints=spoken, wanted=_count(wanted), others=_led(others), template=template
    )
    return _continued(messages, raw, text)


def stage2_more(messages: Messages, raw: str, have: Sequence[str], wanted: int) -> Messages:
    """Stage II asked for ``wanted`` more lines that differ from those in ``have``."""
    listed = "\n".join(f"- {line}" for line in have)
    return _continued(
        messages,
        raw,
        render("stage2/again-more", have=listed, wanted=_count(wanted), template=_form(wanted)),
    )


def without(messages: Messages, raw: str, line: str, unseen: Sequence[str], candidates: int) -> Messages:
    """Stage II asked for ``candidates`` lines in place of ``line``, of which ``unseen`` cannot be seen."""
    listed = "\n".join(f"- {statement}" for statement in unseen)
    text = render(
        "stage2/again-without",
        line=_quoted(line),
        unseen=listed,
        wanted=_count(candidates),
        template=_form(candidates),
    )
    return _continued(messages, raw, text)


def _about(line: str, complaints: Sequence[Complaint]) -> str:
    said = _sentences(complaints)
    return render("stage2/again-line", line=_quoted(line), complaints=said) if line else said


def _sentences(complaints: Sequence[Complaint]) -> str:
    return "\n".join(dict.fromkeys(complaint.text for complaint in complaints))


def _refused(complaints: Sequence[Complaint]) -> bool:
    return any(complaint.rule == "refused" for complaint in complaints)


def _continued(messages: Messages, raw: str, text: str) -> Messages:
    """The conversation with the model's answer and our next turn; without an answer there is none to show."""
    answer = _shown(raw)
    if not answer:
        return _asked_anew(messages, text)
    return (*messages, Message("assistant", answer), Message("user", text))


def _asked_anew(messages: Messages, text: str) -> Messages:
    """Our last turn with more in it: a model that sees its own refusal refuses again."""
    if not messages:
        raise ValueError("a conversation that is to go on has at least one message, got none")
    last = messages[-1]
    return (*messages[:-1], replace(last, text=f"{last.text}\n\n{text}"))


def _shown(raw: str) -> str:
    """The beginning of an answer, cut between words."""
    answer = raw.encode("utf-8", "ignore").decode("utf-8").strip()
    if len(answer) <= LONGEST:
        return answer
    return re.sub(r"\s+\S*\Z", "", answer[:LONGEST]) + " …"


def _form(wanted: int) -> str:
    return json.dumps(dict.fromkeys(answer_keys(wanted), "..."), ensure_ascii=False)


def _count(wanted: int) -> str:
    if wanted < 1:
        raise ValueError(f"at least one line must be wanted, got {wanted}")
    return COUNTS.get(wanted, f"{wanted} sentences")


def _quoted(line: str) -> str:
    return json.dumps(line, ensure_ascii=False)


def _led(text: str) -> str:
    return f" {text.strip()}" if text else ""
