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

_LT = r"(?:<|＜|&(?:amp;){0,4}lt;|\\u003c)[ \t]?[|｜]?[ \t]?"
_GT = r"[ \t]?[|｜]?[ \t]?(?:>|＞|&(?:amp;){0,4}gt;|\\u003e)"
"""The signs around a tag: also with bars, wide, escaped for HTML or in JSON."""
_THINKING = (
    r"(?:thinking|thoughts?|reasoning|reflections?|monolog(?:ue)?|scratch[ _-]?pad|cot|deliberations?"
    r"|rationale|brainstorm(?:ing)?|contemplation|introspection|思考(?:过程|過程)?|推理(?:过程|過程)?)"
)
"""A word for what a model thinks, and for nothing else in an answer."""
_ANALYSIS = r"(?:analy[sz](?:is|ing)|plan(?:s|ning)?|分析)"
"""A word for thoughts that may also be the title of an answer that was asked for."""
_VERB = r"(?:think|reason|reflect|analy[sz]e|ponder|deliberate)"
_WITHIN_WORD = r"[a-z]{0,16}(?:thinking|thought|monologue|scratchpad)[a-z]{0,16}"
"""Words written together: ``antthinking``, ``chainofthought``, ``thoughtProcess``."""
_NAMES = (
    r"(?:[a-z0-9]{1,16}[ _:.-]){0,3}"
    rf"(?:{_THINKING}|{_ANALYSIS}|{_VERB}|{_WITHIN_WORD})"
    r"(?:[ _:.-][a-z0-9]{1,16}){0,3}"
)
"""Names of tags, of keys and of fences that speak of thinking: ``longcat_think``, ``reasoning_content``."""
_BRACKET_NAMES = (
    rf"(?:[a-z]{{1,12}}[ _]){{0,3}}(?:{_THINKING}|{_VERB}|planning|analysis|analy[sz]ing)"
    r"(?:[ _][a-z]{1,12}){0,2}"
)
"""The same in square brackets, which signs and screens also have."""
_PLAIN_TITLE = (
    r"(?:(?:my|the|internal|inner|step[- ]by[- ]step) ){0,2}"
    rf"(?:{_THINKING}|chains?[- ]of[- ]thoughts?|{_ANALYSIS})"
    r"(?: (?:process|steps?|traces?|pad|phase|content|notes?))?"
)
"""The name of thoughts as a title that needs no other sign."""
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
    # LongCat (<longcat_think>), Sky-T1 and OpenThinker (<|begin_of_thought|>), Solar Open 2
    # (<|think:start|>), Cohere's Command A (<|START_THINKING|>), and what models make up
    _Form(
        rf"{_LT}(?:{_NAMES}|internal){_ATTRIBUTES}{_GT}",
        rf"{_LT}(?:\\?/[ \t]?(?:{_NAMES}|internal)|end[_ ](?:of[_ ])?{_NAMES}|{_NAMES}[_:]end)"
        rf"{_ATTRIBUTES}{_GT}",
    ),
    # Magistral and Ministral
    _Form(rf"\[{_BRACKET_NAMES}\]", rf"\[(?:/|end[_ ](?:of[_ ])?){_BRACKET_NAMES}\]", True),
    # Kimi
    _Form(r"◁think▷", r"◁/think▷"),
    # Gemma 4: the channel's name follows its mark
    _Form(r"<\|channel>", r"<channel\|>"),
    # MedGemma
    _Form(r"<unused94>", r"<unused95>"),
    # s1
    _Form(r"<\|im_start\|>think\b", r"<\|im_start\|>answer\b"),
    # Apertus
    _Form(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    # Pangu
    _Form(r"\[unused16\]", r"\[unused17\]"),
    # Granite 3
    _Form(
        r"\bhere(?: is|['’]s) my (?:thought process|thinking|reasoning)\s?:",
        r"\bhere(?: is|['’]s) my (?:response|answer)\s?:",
        True,
    ),
    # Ollama's command line: the label before it is a title
    _Form(
        r"(?!)",
        rf"(?m:^[^\w\n]{{0,9}}(?:(?:done|finished|end of)(?: with)?(?: my| the)? {_PLAIN_TITLE}"
        rf"|{_PLAIN_TITLE}(?: is)? (?:done|completed?|finished|over|ends?))[^\w\n]{{0,9}}$)",
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
    # A name may have "end" before it, so what closes is looked for first.
    rf"(?P<closing>{_any_of([form.closing for form in _THOUGHTS])})"
    rf"|(?P<opening>{_any_of(_SURE_OPENINGS)}|(?P<unsure>{_any_of(_UNSURE_OPENINGS)}))",
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
    Without their closing mark they end with the answer. Of harmony only the last final channel counts.
    Thoughts may also stand in a block of code or under a title, up to the title of the answer. A mark within
    a sentence is text: a sign may read ``[THINK]``.

    >>> after_thoughts("<think>He runs?</think>She smiles."), after_thoughts("He runs?</think>She smiles.")
    ('She smiles.', 'She smiles.')
    >>> after_thoughts("analysisHe runs?assistantfinalShe smiles."), after_thoughts("[THINK]He runs?")
    ('She smiles.', '')
    """
    answer = _without_blocks(_without_label(_final_message(text)))
    return _after_titles(_marked_answer(_outside_thoughts(answer))).strip()


def names_thought(name: str) -> bool:
    """Whether the name of a key or a tag speaks of thinking: ``inner_monologue``, ``chain_of_thought``.

    >>> [names_thought(name) for name in ("thought_process", "planning", "summarized_AD")]
    [True, True, False]
    """
    return _NAME.fullmatch(name.strip()) is not None


_NAME = re.compile(_NAMES, re.IGNORECASE)


def is_only_thought(text: str) -> bool:
    """True for an answer in which a model thought aloud, and that says nothing else."""
    return bool(text.strip()) and not after_thoughts(text)


def is_mark(token: str) -> bool:
    """True for a token that is a mark of a thought, an answer or a channel: a decoder must not skip it."""
    patterns = (_THOUGHT_MARK, _ANSWER_MARK, _HARMONY_MARK)
    return any(pattern.fullmatch(token.strip()) for pattern in patterns)


def _outside_thoughts(text: str) -> str:
    """What stands outside of all thoughts, with a blank in place of each."""
    marks = _marks_of_thoughts(text)
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
_FEW_WORDS_BETWEEN = re.compile(r",?[ \t]+(?:[a-z]+,?[ \t]+){0,4}")
"""What stands between two marks that one line reads out: ``from [THINK] to [/THINK]``."""
_GOES_ON = re.compile(r"[,;]|[.!?][\"']?\s*(?:[\"}\n]|\Z)|[ \t]+[a-z]")
"""What follows a mark within a sentence."""
_IN_A_SENTENCE = re.compile(r"[a-z][,:]?[ \t]+\Z")
_IS_READ = re.compile(
    r"[,;]|[ \t]+(?:is|are|and|on|in|above|across|over|reads?|glows?|appears?|flash(?:es)?|blinks?"
    r"|flickers?|stands?|hangs?|shines?|fades?|lights?|fills?|covers?|scrolls?)\b"
)
"""What follows a mark with which a line begins that reads it out."""


def _marks_of_thoughts(text: str) -> list[re.Match[str]]:
    """The marks at which thoughts begin and end, without those that a sentence reads out."""
    marks = list(_THOUGHT_MARK.finditer(text))
    read_out: set[int] = set()
    for index, mark in enumerate(marks):
        following = marks[index + 1] if index + 1 < len(marks) else None
        if _is_quoted(text, mark):
            read_out.add(index)
        elif following is None or mark["closing"] or following["opening"]:
            continue
        elif _are_read_out(text, mark, following):
            read_out.update((index, index + 1))
    thought_marks: list[re.Match[str]] = []
    is_open = False
    for index, mark in enumerate(marks):
        if index in read_out:
            continue
        # A closing mark alone ends a thought whose opening was lost, unless a sentence runs on across it.
        if (
            mark["closing"]
            and not is_open
            and _is_in_sentence(text, mark)
            and _GOES_ON.match(text, mark.end())
        ):
            continue
        is_open = mark["opening"] is not None
        thought_marks.append(mark)
    return thought_marks


def _are_read_out(text: str, opening: re.Match[str], closing: re.Match[str]) -> bool:
    """Whether one or two sentences read out both marks: ``A poster flips from [THINK] to [/THINK].``"""
    if not _GOES_ON.match(text, closing.end()):
        return False
    if _FEW_WORDS_BETWEEN.fullmatch(text, opening.end(), closing.start()):
        return True
    stands_apart = text[opening.end() : opening.end() + 1] in (" ", ".", ",", ";")
    is_one_line = "\n" not in text[opening.start() : closing.end()]
    return stands_apart and is_one_line and _is_in_sentence(text, opening) and _is_in_sentence(text, closing)


def _is_in_sentence(text: str, mark: re.Match[str]) -> bool:
    """Whether a word, with no sentence's end, stands before a mark."""
    return _IN_A_SENTENCE.search(text, max(0, mark.start() - _SEEN_BEFORE), mark.start()) is not None


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark stands alone in quotation marks."""
    before = text[mark.start() - 1 : mark.start()]
    return before in _QUOTES and _CLOSING_QUOTE.match(text, mark.end()) is not None


def _begins_thought(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark that nothing closes stands where a thought begins."""
    if _IS_READ.match(text, mark.end()):
        return False
    first, end = max(0, mark.start() - _SEEN_BEFORE), mark.start()
    if _BEFORE_THOUGHT.search(text, first, end):
        return True
    return not mark["unsure"] and _BEFORE_SURE_THOUGHT.search(text, first, end) is not None


_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})([^`~\n]*)$", re.MULTILINE)
_ELEMENT = re.compile(
    rf"<(details|div|span|section|aside|p|blockquote)(?:\s[^<>]{{0,200}}?\b(?:type|class|id|title)=[\"']?{_NAMES}"
    r"[\"'][^<>]{0,200}>"
    rf"|(?:\s[^<>]{{0,200}})?>\s*<summary>[^<>\w]*{_NAMES}[^<>]{{0,40}}</summary>)"
    rf".*?(?:</\1>|\Z)|<!--[^\w\n]{{0,9}}{_NAMES}\b.*?(?:-->|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""An element of HTML that holds thoughts, as Open WebUI writes: ``<details type="reasoning">``."""


def _without_blocks(text: str) -> str:
    """The text without elements of HTML, and without blocks of code, whose names speak of thinking."""
    text = _ELEMENT.sub("\n", text)
    parts: list[str] = []
    done = depth = 0
    for fence in _FENCE.finditer(text):
        if depth:
            # A draft within the thought may have a fence of its own.
            depth += 1 if fence[2].strip() else -1
            done = fence.end()
        elif names_thought(fence[2].strip()):
            parts.append(text[done : fence.start()])
            depth = 1
            done = fence.end()
    if not depth:
        parts.append(text[done:])
    return "\n".join(parts)


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
_FINAL_AFTER_BLANKS = re.compile(r"\bassistant final\b(?: json)?|^[ \t]*final[ \t]*$", re.MULTILINE)
"""With a blank or a line for each mark. It could be words of a line, so only after the name of a thought's
channel."""
_STRIPPED_LABEL = re.compile(
    r"\s*(?:assistant)?final(?:json)?"
    # No words that begin so: finally, a finale, finals, a finalist, finalised, finality
    r"(?=[A-Z{\[\"“*\n]|(?!(?:ly|es?|s|ists?|i[sz]\w+|ity)\b)[a-z])"
)
_STRIPPED_THOUGHT = re.compile(
    r"\s*(?:assistant)?(?:analysis|commentary)"
    r"(?:(?i:(?=[a-z]))| ?(?=[A-Z{\[\"“'*\d])| (?=(?:we|i|user|the user|let's|let us|okay|ok|need|must|so)\b)"
    r"|[ \t]*\n)"
)
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


_TITLE_SIGNS = (
    r"[ \t>]*(?:[^\w\s\#*_=~-]{1,3}[ \t]*)?(?:\#{1,6}|[*_]{1,3}|[=~-]{2,9})[ \t]*[*_]{0,3}[^\w\n]{0,4}"
    r"(?:\d[.)][ \t]*|step \d ?[:.–-] ?)?"
)
"""Signs before a title: of a heading, of bold type, a rule."""
_NOUN_NAMES = (
    rf"(?:[a-z]{{1,16}}[ _-]){{0,3}}(?:{_THINKING}|{_ANALYSIS}|{_WITHIN_WORD})"
    r"(?:[ _-](?:[a-z]{1,16}|&)){0,3}(?: ?\([^()\n]{0,40}\))?"
)
_THOUGHT_TITLE = re.compile(
    rf"^(?:{_TITLE_SIGNS}{_NOUN_NAMES}|[ \t]*\[?{_PLAIN_TITLE}\]?(?=[:：.…\]]))"
    r"[ \t]*[:：]?[*_=~\#\-:：.… \t]{0,9}$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that is a title of thoughts and nothing else: ``## Thought process``, ``Thinking...``."""
_BARE_TITLE = re.compile(rf"\s*+{_PLAIN_TITLE}[ \t]*\n", re.IGNORECASE)
"""The same without any sign, with which an answer may begin."""
_THOUGHT_LABEL = re.compile(
    rf"\s*+(?P<signs>[*\#_(]{{0,6}})[ \t]*+(?:{_PLAIN_TITLE}|thinks)[*_]{{0,3}} ?[:：]", re.IGNORECASE
)
"""A name before thoughts that stand in the same line."""
_ASIDE = re.compile(
    rf"\s*(?:\({_PLAIN_TITLE}:[^()]*\)|\[{_PLAIN_TITLE}:[^\[\]]*\]"
    rf"|([*_])(?:{_PLAIN_TITLE}|thinks):[^*_]*\1)[ \t]*(?=\n|\Z)",
    re.IGNORECASE,
)
"""A thought in brackets or in italics before the answer."""
_ANSWER_TITLE = re.compile(
    rf"^(?:{_TITLE_SIGNS})?+[ \t]*+"
    r"(?:(?:my|the|your|suggested|revised|final) ){0,2}"
    r"(?:(?P<answer>answer|response|output|final|回答|答案|最终答案)|(?P<summary>summary|description)"
    r"|result|sentence|line|audio description|ad(?: line)?)[*_]{0,3} ?"
    r"(?:[:：][*_]{0,3}|[=~\#*_-]{1,9}[ \t]*$|[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_SIGNS = "#*_=~->"
_MAY_BE_ANSWER = re.compile(_ANALYSIS, re.IGNORECASE)
_RULE = re.compile(r"^[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_JSON_LINE = re.compile(r"^[ \t]*+(?:`{3,}\w*+[ \t]*+\n?[ \t]*+)?[{\[][ \t]*+\n?[ \t]*+[\"'{]", re.MULTILINE)
_LIST_OR_TITLE = re.compile(r"\s*+(?:[-•*]\s|[*\#_ ]*(?:\d[.)]|[A-Z][\w ]{2,40}:))")
"""How the text under a title begins that is the answer itself."""


def _after_titles(text: str) -> str:
    """What follows the title of an answer, where there is a title of thoughts.

    Without an answer's title: what stands before the thoughts, else JSON among them, else nothing.

    >>> _after_titles("Reasoning: He runs?\\nFinal answer: She smiles.")
    ' She smiles.'
    >>> _after_titles("**Thinking**\\n\\nHe runs?\\n\\n**Answer**\\n\\nShe smiles.").strip()
    'She smiles.'
    """
    aside = _ASIDE.match(text)
    if aside is not None:
        text = text[aside.end() :]
    title = _BARE_TITLE.match(text) or _THOUGHT_TITLE.search(text)
    if title is None:
        return _after_label(text)
    may_be_answer = _MAY_BE_ANSWER.search(title[0]) is not None
    answer_start = _start_of_answer(text, title.end(), takes_summary=not may_be_answer)
    if answer_start is not None:
        return text[answer_start:]
    before = text[: title.start()]
    if before.strip():
        return before
    has_signs = title[0].lstrip()[:1] in _SIGNS
    if may_be_answer and (not has_signs or _LIST_OR_TITLE.match(text, title.end())):
        return text
    return _from_json(text, title.end())


def _after_label(text: str) -> str:
    """As `_after_titles` where thoughts begin in the line of their name: ``**Thinking:** He runs?``.

    Without any sign, and without an answer's title, it may be a line: ``Thoughts: a book opens.``
    """
    label = _THOUGHT_LABEL.match(text)
    if label is None:
        return text
    may_be_answer = _MAY_BE_ANSWER.search(label[0]) is not None
    answer_start = _start_of_answer(text, label.end(), takes_summary=not may_be_answer)
    if answer_start is not None:
        return text[answer_start:]
    return text if may_be_answer or not label["signs"] else _from_json(text, label.end())


def _start_of_answer(text: str, start: int, takes_summary: bool) -> int | None:
    """Where the answer begins after thoughts: behind the last title of an answer, or the only rule.

    ``takes_summary``: "Summary" and "Description" are titles of an answer too.
    """
    titles = [title for title in _ANSWER_TITLE.finditer(text, start) if takes_summary or not title["summary"]]
    # A title in the answer itself does not outdo the one before the whole answer.
    titles = [title for title in titles if title["answer"]] or titles
    rules = list(_RULE.finditer(text, start))
    if titles:
        return titles[-1].end()
    return rules[0].end() if len(rules) == 1 else None


def _from_json(text: str, start: int) -> str:
    """The text from the first line on that begins JSON; nothing without JSON."""
    json_line = _JSON_LINE.search(text, start)
    return "" if json_line is None else text[json_line.start() :]


_GEMMAS_LABEL = re.compile(r"\s*thought[ \t]*\n")


def _without_label(text: str) -> str:
    """The text without the name of Gemma's channel, which stays where its marks were stripped."""
    label = _GEMMAS_LABEL.match(text)
    return text if label is None else text[label.end() :]
