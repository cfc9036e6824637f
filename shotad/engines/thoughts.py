"""What models think aloud within an answer, and where the answer itself begins: one table for all engines.

Servers take thoughts out where they know the model and are set up for it. Otherwise they arrive in the
answer, with their marks, or with the marks stripped by a decoder that skips special tokens. Which model
writes which marks is after vLLM's parsers (``vllm/reasoning``), SGLang's table (docs.sglang.io,
separate_reasoning) and the models' chat templates; harmony is after OpenAI's cookbook ("OpenAI harmony
response format").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_LT, _GT = r"(?:<|&(?:amp;){0,4}lt;|\\u003c)", r"(?:>|&(?:amp;){0,4}gt;|\\u003e)"
"""The signs around a tag, also escaped for HTML or in JSON."""
_NAMES = (
    r"(?:[a-z]{1,12}[:_])?(?:think(?:ing|_[a-z]{1,12})?|thoughts?|reason(?:ing)?|reflect(?:ion)?|antthinking"
    r"|scratchpad|analysis|inner_monologue)(?::[a-z]{1,12})?"
)
_ANSWER_NAMES = r"(?:answer|response|output|solution|conclusion|final(?:[_ ](?:answer|response))?)"
_ATTRIBUTES = r"(?:\s[^<>\n]{0,80})?"


@dataclass(frozen=True, slots=True)
class _Form:
    """By which marks a thought, or an answer, begins and ends, as patterns.

    ``may_be_read``: the opening could also be lettering that a line reads out, so alone it counts only where
    a thought would begin.
    """

    opening: str
    closing: str
    may_be_read: bool = False


_THOUGHTS: Sequence[_Form] = (
    # DeepSeek-R1, Qwen3, QwQ, GLM, MiniMax (<mm:think>), Nemotron, Hunyuan, ERNIE, Step, OLMo, Seed-OSS
    # (<seed:think>), EXAONE and Marco (<thought>), Reflection (<thinking>, <reflection>), K2 (<think_fast>),
    # LongCat (<longcat_think>)
    _Form(rf"{_LT}{_NAMES}{_ATTRIBUTES}{_GT}", rf"{_LT}\\?/{_NAMES}{_GT}"),
    # Magistral and Ministral
    _Form(r"\[(?:think|thinking|thought|reasoning)\]", r"\[/(?:think|thinking|thought|reasoning)\]", True),
    # Kimi
    _Form(r"◁think▷", r"◁/think▷"),
    # Gemma 4: the channel's name follows its mark
    _Form(r"<\|channel>", r"<channel\|>"),
    # MedGemma
    _Form(r"<unused94>", r"<unused95>"),
    # s1
    _Form(r"<\|im_start\|>think\b", r"<\|im_start\|>answer\b"),
    # Cohere's Command A
    _Form(r"<\|start_thinking\|>", r"<\|end_thinking\|>"),
    # Sky-T1, OpenThinker
    _Form(r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    # Apertus
    _Form(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    # Solar Open 2
    _Form(r"<\|think:start\|>", r"<\|think:end\|>"),
    # Pangu
    _Form(r"\[unused16\]", r"\[unused17\]"),
    # Granite 3
    _Form(
        r"\bhere(?: is|['’]s) my (?:thought process|thinking|reasoning)\s?:",
        r"\bhere(?: is|['’]s) my (?:response|answer)\s?:",
        True,
    ),
    # Apriel
    _Form(r"\bhere are my (?:reasoning|thinking) steps\s?:", r"\[begin final response\]", True),
)

_ANSWERS: Sequence[_Form] = (
    # Hunyuan, GLM-4.1V, Marco, Reflection, ERNIE
    _Form(rf"{_LT}{_ANSWER_NAMES}{_ATTRIBUTES}{_GT}", rf"{_LT}\\?/{_ANSWER_NAMES}{_GT}"),
    _Form(r"<\|begin_of_solution\|>", r"<\|end_of_solution\|>"),
    _Form(r"<\|begin_of_box\|>", r"<\|end_of_box\|>"),
    _Form(r"<\|start_(?:response|text)\|>", r"<\|end_(?:response|text)\|>"),
    _Form(r"\[begin final response\]", r"\[end final response\]"),
)


def _any_of(patterns: Sequence[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


_SURE_OPENINGS = [form.opening for form in _THOUGHTS if not form.may_be_read]
_UNSURE_OPENINGS = [form.opening for form in _THOUGHTS if form.may_be_read]
_THOUGHT_MARK = re.compile(
    rf"(?P<opening>{_any_of(_SURE_OPENINGS)}|(?P<unsure>{_any_of(_UNSURE_OPENINGS)}))"
    rf"|(?P<closing>{_any_of([form.closing for form in _THOUGHTS])})",
    re.IGNORECASE,
)
_ANSWER_MARK = re.compile(
    rf"(?P<opening>{_any_of([form.opening for form in _ANSWERS])})"
    rf"|(?P<closing>{_any_of([form.closing for form in _ANSWERS])})",
    re.IGNORECASE,
)
_HARMONY_MARK = re.compile(r"<\|(start|channel|constrain|message|end|eom|eot|return|call)\|>", re.IGNORECASE)

_BEFORE_THOUGHT = re.compile(r"(?:\A|\n|[}\]`])[ \t]*\Z")
"""What stands before the opening of a thought: nothing, a line's end, the end of JSON or of code."""
_BEFORE_SURE_THOUGHT = re.compile(r"(?:[.!?…>][\"']?|(?:\A|[:\[,])[ \t]*\")[ \t]*\Z")
"""What may also stand before a mark that nobody reads out: a sentence's end, a value's beginning."""


def after_thoughts(text: str) -> str:
    """What a model answered, without what it thought aloud. Empty for an answer that is nothing but thought.

    Thoughts may be nested, several, and without their opening mark, which some templates put into the prompt.
    Without their closing mark they end with the answer. Of harmony only the last final channel counts. A mark
    within a sentence, which nothing closes, is text: a sign may read ``[THINK]``.

    >>> after_thoughts("<think>He runs?</think>She smiles."), after_thoughts("He runs?</think>She smiles.")
    ('She smiles.', 'She smiles.')
    >>> after_thoughts("analysisHe runs?assistantfinalShe smiles."), after_thoughts("[THINK]He runs?")
    ('She smiles.', '')
    """
    answer = _marked_answer(_outside_thoughts(_without_label(_final_message(text))))
    return _after_headings(answer).strip()


def is_only_thought(text: str) -> bool:
    """True for an answer in which a model thought aloud, and that says nothing else."""
    return bool(text.strip()) and not after_thoughts(text)


def is_mark(token: str) -> bool:
    """True for a token that is a mark of a thought, an answer or a channel: a decoder must not skip it."""
    patterns = (_THOUGHT_MARK, _ANSWER_MARK, _HARMONY_MARK)
    return any(pattern.fullmatch(token.strip()) for pattern in patterns)


def _outside_thoughts(text: str) -> str:
    """What stands outside of all thoughts, with a blank in place of each."""
    marks = list(_THOUGHT_MARK.finditer(text))
    last_closing = max((index for index, mark in enumerate(marks) if mark["closing"]), default=-1)
    parts: list[str] = []
    done = index = 0
    while index < len(marks):
        mark = marks[index]
        if mark["closing"]:
            # Its opening was lost: all before it was thought.
            parts.clear()
            done, index = mark.end(), index + 1
        elif index < last_closing:
            parts.append(text[done : mark.start()])
            closing = _index_of_closing(marks, index, last_closing)
            done, index = marks[closing].end(), closing + 1
        elif _begins_thought(text, mark):
            parts.append(text[done : mark.start()])
            # Some models close the thought by opening the answer.
            answer = _ANSWER_MARK.search(text, mark.end())
            done = answer.start() if answer is not None and answer["opening"] else len(text)
            break
        else:
            index += 1
    parts.append(text[done:])
    return " ".join(parts)


def _index_of_closing(marks: Sequence[re.Match[str]], opening: int, last_closing: int) -> int:
    """The index of the mark that closes the thought opened at ``opening``, at most ``last_closing``."""
    depth = 0
    for index in range(opening, last_closing):
        depth += -1 if marks[index]["closing"] else 1
        if not depth:
            return index
    # More were opened than closed: a thought that names a mark.
    return last_closing


_QUOTES = ('"', "'", "“", "‘", "«")
_CLOSING_QUOTE = re.compile(r"\\?[\"'”’»]")
_SEEN_BEFORE = 80
"""Characters before a mark that are looked at."""


def _begins_thought(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark that nothing closes stands where a thought begins, and not alone in quotation marks."""
    is_quoted = text[mark.start() - 1 : mark.start()] in _QUOTES and _CLOSING_QUOTE.match(text, mark.end())
    if is_quoted:
        return False
    first, end = max(0, mark.start() - _SEEN_BEFORE), mark.start()
    if _BEFORE_THOUGHT.search(text, first, end):
        return True
    return not mark["unsure"] and _BEFORE_SURE_THOUGHT.search(text, first, end) is not None


def _marked_answer(text: str) -> str:
    """What stands between the marks of an answer, of several a line each; the text where there are none."""
    marks = list(_ANSWER_MARK.finditer(text))
    if not marks:
        return text
    parts: list[str] = []
    if marks[0]["closing"]:
        parts.append(text[: marks[0].start()])  # its opening stood in the prompt
    for index, mark in enumerate(marks):
        if mark["opening"]:
            end = marks[index + 1].start() if index + 1 < len(marks) else len(text)
            parts.append(text[mark.end() : end])
    answer = "\n".join(parts)
    # Marks around nothing: the answer stands beside them.
    return answer if answer.strip() else _ANSWER_MARK.sub("\n", text)


def _final_message(text: str) -> str:
    """The last message of harmony's final channel; the text where it is not in that format.

    Without a final channel: the last message without one, else what stands behind the messages.
    """
    marks = list(_HARMONY_MARK.finditer(text))
    names = [mark[1].lower() for mark in marks]
    if "channel" not in names and "message" not in names:
        return _after_stripped_marks(text)
    final = unnamed = None
    outside = ""
    channel = ""
    for index, name in enumerate(names):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(text)
        segment = text[marks[index].end() : end]
        if name == "channel":
            channel = (segment.split() or [""])[0].lower()
        elif name == "message" and channel == "final":
            final = segment
        elif name == "message" and not channel:
            unnamed = segment
        elif name in ("end", "eom", "eot", "return", "call"):
            outside += segment
        if name in ("start", "message"):
            channel = ""
    if final is not None:
        return final
    return outside if unnamed is None else unnamed


_STRIPPED_FINAL = re.compile(
    r"(?:(?i:assistantfinal)|assistant[ \t]*\n[ \t]*final(?=[ \t]*[\n{]))(?:[ \t]*json(?=\s?[{\[]))?"
)
_FINAL_AFTER_BLANKS = re.compile(r"\bassistant final\b(?: json)?")
"""With a blank for each mark. It could be words of a line, so only after the name of a thought's channel."""
_STRIPPED_LABEL = re.compile(r"\s*(?:assistant)?final(?:json)?(?=[A-Z{\[\"“*\n])")
_STRIPPED_THOUGHT = re.compile(r"\s*(?:assistant)?(?:analysis|commentary) ?(?=[A-Z{\[\"“'*\d])")
"""A channel's name at the answer's beginning: without its marks it runs into the text."""


def _after_stripped_marks(text: str) -> str:
    """What follows the last name of the final channel, where harmony's marks were stripped."""
    finals = list(_STRIPPED_FINAL.finditer(text))
    is_thought = _STRIPPED_THOUGHT.match(text) is not None
    if not finals and is_thought:
        finals = list(_FINAL_AFTER_BLANKS.finditer(text))
    if finals:
        return text[finals[-1].end() :]
    label = _STRIPPED_LABEL.match(text)
    if label is not None:
        return text[label.end() :]
    return "" if is_thought else text


_THOUGHT_HEADING = re.compile(
    r"[\s*#_]*(?:my )?(?:thoughts?|thinking(?: process)?|thought process|reasoning(?: process)?"
    r"|chain[- ]of[- ]thought)[*_]{0,3} ?:",
    re.IGNORECASE,
)
_ANSWER_HEADING = re.compile(
    r"^[ \t*#_]{0,9}(?:(?:my|the) )?(?:final )?"
    r"(?:answer|response|output|result|sentence|line|summary|(?:audio )?description|ad)[*_]{0,3} ?:[*_]{0,3}",
    re.IGNORECASE | re.MULTILINE,
)


def _after_headings(text: str) -> str:
    """What follows the last heading of an answer, where a heading of thoughts begins the text.

    >>> _after_headings("Reasoning: He runs?\\nFinal answer: She smiles.")
    ' She smiles.'
    """
    if _THOUGHT_HEADING.match(text) is None:
        return text
    headings = list(_ANSWER_HEADING.finditer(text))
    return text[headings[-1].end() :] if headings else text


_GEMMAS_LABEL = re.compile(r"\s*thought[ \t]*\n")


def _without_label(text: str) -> str:
    """The text without the name of Gemma's channel, which stays where its marks were stripped."""
    label = _GEMMAS_LABEL.match(text)
    return text if label is None else text[label.end() :]
