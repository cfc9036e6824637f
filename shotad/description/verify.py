"""A second look: is what a line states to be seen in its clip?

An addition to Shot-by-Shot against what models invent. The line is taken apart into statements, the engine
of Stage I says of each whether the frames show it, and only a clear no counts against it.

Lines are cut by rules on words, no parser (`shotad.script.main_verb`): clauses end where a verb that agrees
with the subject follows a comma or an "and", where a subject with a verb of its own follows, or a participle
after a comma. Where not sure they do not cut: too long a statement is still true or false.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.core import Config, Message, is_english
from shotad.description.answer_text import without_entities
from shotad.description.answers import answer_in
from shotad.description.prompts import frames_shown
from shotad.description.slotplan import SHAPES, SlotPlan, name_with_mark, presence_in_prompt
from shotad.description.templates import form_of, prompt_messages
from shotad.script import (
    ADVERBS,
    DETERMINERS,
    FLOATING,
    GERUNDS,
    MASSES,
    NOMINATIVE,
    NOUNS_TOO,
    PLAIN,
    PREPOSITIONS,
    PRONOUNS,
    RESULTS,
    SEEING,
    THIRD,
    bare,
    is_lead,
    main_verb,
    quotations,
    split_sentences,
)

VERDICT_TOKENS = 256
"""Room for an answer: a verdict is a few tokens, and a line has a handful of statements."""

VERDICTS = ("yes", "no", "cannot tell")


def verify_messages(
    statements: Sequence[str], plan: SlotPlan, config: Config
) -> tuple[tuple[Message, ...], dict[str, Any]]:
    """The question, with the clip, and the JSON schema of its answer."""
    marks = config.overlay.characters
    keys = [str(number) for number in range(1, len(statements) + 1)]
    # Whose the marks on the frames are, by the names that lines have; nobody where nothing is painted
    told = presence_in_prompt(plan.presence, config.prompt)
    people = [name_with_mark(c, told, "spoken", marks) for c in told.seen] if marks != "none" else []
    messages = prompt_messages(
        "verify",
        with_clip=True,
        medium=config.prompt.medium,
        **frames_shown(plan, config),
        mark=SHAPES[marks],
        people=people,
        statements=statements,
        answer_form=json.dumps(dict.fromkeys(keys, "...")),
    )
    return messages, form_of({key: {"type": "string", "enum": list(VERDICTS)} for key in keys})


_DOUBT = re.compile(
    r"\b(?:tell|say|determin\w+|unclear|unsure|sure|uncertain|certain|clear|maybe|perhaps|possibl[ey]"
    r"|partial(?:ly)?|partly|hard to|difficult to|evidence|n/?a|answers?|data|info(?:rmation)?|opinion|idea"
    r"|comment|applicable|available)\b",
    re.IGNORECASE,
)
_YES = re.compile(r"\W*(?:yes|true|visible|shown|correct|supported|y)\b", re.IGNORECASE)
_NO = re.compile(
    r"\W*(?:no|false|not (?:visible|shown|seen|correct|supported|there)|invisible|incorrect|wrong"
    r"|n(?! ?[/.]? ?a))\b",
    re.IGNORECASE,
)
_CHOICE_COPIED = re.compile(
    r"\W*(?:yes|no|true|false)\W{0,3}(?:[/|]|\bor\b)\W{0,3}(?:yes|no|true|false|cannot)\b", re.IGNORECASE
)
"""``yes/no``: the form's own words, which choose nothing."""
_AT_END = re.compile(r"(?<!\W)(?=\W*[:=–—\-.!?\"')])\W++(yes|no|true|false)\W*$", re.IGNORECASE)
"""``1. She opens the tin: yes``, where the statement is repeated."""
_ITEM = re.compile(
    r"(?:^|[{,;]|\n|(?<=[.!?])\s)[ \t\"'*({\[-]*+(?:statement[\s_#-]*+)?(\d{1,2})[\"'*)\].]*\s*"
    r"(?:[:=.)–—-]+\s*)?"
    r"|(?<=\s)\(?(\d{1,2})[.):]+\s",
    re.IGNORECASE,
)
_WORD = re.compile(r"\b(?:yes|no|true|false|cannot tell|can't tell|unclear|unsure)\b", re.IGNORECASE)


def parse_verdicts(text: str, number: int) -> tuple[bool | None, ...]:
    """True, False or None (cannot tell, or not to be read) for each of ``number`` statements.

    Understands JSON whole and broken, numbered lines and bare words in order. Only a clear no is False.

    >>> parse_verdicts('1. Yes, she opens it.\\n2. No.\\n3. Not sure', 3)
    (True, False, None)
    """
    body = re.sub(r"```\w*", "", without_entities(answer_in(text))).strip()
    marks = [(int(mark[1] or mark[2]), mark.start(), mark.end()) for mark in _ITEM.finditer(body)]
    marks = [mark for mark in marks if 1 <= mark[0] <= number]
    if not marks:
        found = [body] if number == 1 else [] if re.search(r"\d", body) else _WORD.findall(body)
        return tuple(map(_spoken, found)) if len(found) == number else (None,) * number
    said: dict[int, set[bool | None]] = {}
    for (place, _, end), stop in zip(marks, [*(start for _, start, _ in marks[1:]), len(body)], strict=True):
        said.setdefault(place, set()).add(_spoken(body[end:stop].strip()))
    return tuple(next(iter(said[n])) if len(said.get(n, ())) == 1 else None for n in range(1, number + 1))


def _spoken(words: str) -> bool | None:
    """A verdict in words: at their beginning, else at their end. One with doubt in it is none."""
    if _CHOICE_COPIED.match(words):
        return None
    begins = None if words.startswith("{") else _NO.match(words) or _YES.match(words)
    if begins:
        return None if _DOUBT.search(words[begins.end() :][:40]) else _NO.match(words) is None
    ends = _AT_END.search(words)
    return None if ends is None else ends[1].lower() in ("yes", "true")


_SENTENCE = re.compile(
    r"(?<![A-Z])(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?:(?<![.!?…])|(?<=\w[.!?…]))[.!?…]+[\"”’)]*\s+|(?:(?<!\s)\s+)?;\s+"
)
_BORDER = re.compile(
    r"(?:,|(?<![\s,]))\s+(?P<time>as|while|when|until|after)\s+|,\s+(?P<who>who)\s+"
    r"|(?P<comma>,)\s+(?P<joined>(?:and|but|then)\s+(?:then\s+)?)?"
    r"|(?<!\s)\s+(?:and|but|then)\s+(?:then\s+)?"
)
_ANTECEDENT = re.compile(
    r"\b((?:an?|the|his|her|their|two|three) (?:[\w'’-]+ ){0,3}[\w'’-]+|(?<![\w'’-])[A-Z][\w'’-]+)$"
)


@dataclass(frozen=True, slots=True)
class _Clause:
    """Who acts, and whether the form of the verbs is that of many; ``end`` is where the verb begins."""

    subject: str
    plural: bool
    end: int = 0

    @property
    def be(self) -> str:
        return "are" if self.plural else "is"


def statements_of(line: str, language: str = "en") -> tuple[str, ...]:
    """The line's statements in order, each to be judged alone; of other languages its sentences.

    >>> statements_of("She opens the tin, looks inside, and drops it.")
    ('She opens the tin.', 'She looks inside.', 'She drops it.')
    """
    if not is_english(language):
        return tuple(split_sentences(line, language))
    text = " ".join(line.translate({ord("⟦"): None, ord("⟧"): None}).split())
    spans = quotations(text)
    quotes = [text[start:end] for start, end in spans]
    for number, (start, end) in reversed(list(enumerate(spans))):
        text = f"{text[:start]}⟦{number}⟧{text[end:]}"
    found = [claim for sentence in _SENTENCE.split(text) for claim in _claims(sentence.strip(" .!?…,;"))]
    told: dict[str, None] = {}
    for claim in found:
        whole = re.sub(r"⟦(\d+)⟧", lambda m: quotes[int(m[1])], claim)
        if re.search(r"\w", whole):
            said = whole.strip(" ,;")
            said = said[:1].upper() + said[1:]
            told[said if re.search(r"[.!?…][\"”’)]*$", said) else f"{said}."] = None
    return tuple(told)


def _claims(sentence: str) -> Iterator[str]:
    """The claims of one sentence, clause by clause; what leads in stays with the first."""
    lead = sentence.find(", ") + 2
    lead = lead if lead > 1 and is_lead(sentence[:lead].split()) else 0
    clause = _clause_of(sentence[lead:])
    if clause is None:
        yield sentence
        return
    fronted = re.match(r"(?:as|while|when|after|once) (.+), $", sentence[:lead], re.IGNORECASE)
    if fronted and _clause_of(fronted[1]):
        yield from _claims(fronted[1])
        sentence, lead = sentence[lead:], 0
    start, prefix, participle, position = 0, "", False, lead + clause.end
    while border := _BORDER.search(sentence, position):
        position, said = border.end(), sentence[start : border.start()]
        new = _after(border, said, sentence[position:], clause, participle)
        if new is not None:
            yield f"{prefix}{said}"
            prefix, clause, participle = new
            start = position
            position += clause.end
    yield f"{prefix}{sentence[start:]}"


def _clause_of(text: str) -> _Clause | None:
    """The subject at a text's beginning, if a finite verb is sure to follow it."""
    words = text.split()
    verb = main_verb(words)
    if verb is None:
        return None
    end = len(" ".join(words[:verb]))
    subject = [word for word in words[:verb] if bare(word) not in FLOATING and not bare(word).endswith("ly")]
    begin = max((at for at, word in enumerate(subject) if word.endswith(",")), default=-1) + 1
    if not subject[begin:]:
        return None
    plural = bare(words[verb]) not in THIRD | {"is", "has", "does"}
    return _Clause(" ".join(subject[begin:]), plural, end)


_New = tuple[str, _Clause, bool]
"""Words to put before what follows a border, its clause, whether it is a participle's."""


def _after(border: re.Match[str], said: str, after: str, clause: _Clause, participle: bool) -> _New | None:
    """How the claim after a border begins, or None where none begins."""
    words = after.split()
    if not words:
        return None
    if border["who"]:
        named = _ANTECEDENT.search(said)
        plural = bare(words[0]) in PLAIN - THIRD
        return (
            (f"{named[1]} ", _Clause(named[1], plural), False)
            if named and _acts(words, plural, said)
            else None
        )
    sees = clause.plural and not SEEING.isdisjoint(map(bare, said.split()))
    if not border["time"] and _acts(words, clause.plural, said) and not sees:
        return (f"{clause.subject} ", replace(clause, end=0), False)
    first = bare(next((word for word in words if not _is_adverb(word)), ""))
    alone = border["comma"] and not border["joined"]
    if first in GERUNDS - RESULTS and (alone or border["time"] or participle):
        return (f"{clause.subject} {clause.be} ", replace(clause, end=0), True)
    own = _clause_of(after)
    begins = bare(words[0]) in NOMINATIVE | DETERMINERS or words[0][:1].isupper() or border["time"]
    return ("", own, False) if own is not None and begins else None


def _acts(words: Sequence[str], plural: bool, said: str) -> bool:
    """Whether a verb begins the words, after adverbs; what may be a noun needs ``said`` before it."""
    at = next((at for at, word in enumerate(words) if not _is_adverb(word)), len(words) - 1)
    word = bare(words[at])
    if word not in (PLAIN if plural else THIRD):
        return False
    goes_on = words[at][-1:].isalnum() and bare(" ".join(words[at + 1 : at + 2])) not in _AFTER_NOUNS
    if word not in (MASSES if plural else NOUNS_TOO) or goes_on:
        return True
    before = [bare(one) for one in said.split()]
    if before[-1] in THIRD | PLAIN | PREPOSITIONS | PRONOUNS or _is_adverb(before[-1]):
        return before[-1] not in NOUNS_TOO or len(before) < 3
    return not before[-1].endswith("s") and bool({*before[-4:-1]} & DETERMINERS)


_AFTER_NOUNS = frozenset(("", "and", "or", "of", "as"))


def _is_adverb(word: str) -> bool:
    return bare(word) in ADVERBS or bare(word).endswith("ly")
