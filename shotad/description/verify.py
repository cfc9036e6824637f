"""Check a line against the frames of its clip: the question to the engine, and what its answer says.

An addition to Shot-by-Shot against what models invent. The line is split into statements, the engine of
Stage I says of each whether the frames show it, and only a clear no counts against it.

Lines are split by rules on words, no parser (`shotad.script.fit.main_verb`): a clause ends where a verb that
agrees with the subject follows a comma or an "and", where a subject with a verb of its own follows, or a
participle after a comma. Where the rules are not sure they do not split: too long a statement is still true
or false.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.core import Config, Message
from shotad.core.config.languages import is_english
from shotad.description.answer_text import without_entities
from shotad.description.answers import answer_in
from shotad.description.prompts import frames_shown
from shotad.description.slotplan import SHAPES, SlotPlan, name_with_mark, presence_in_prompt
from shotad.description.templates import form_of, prompt_messages
from shotad.script import split_sentences
from shotad.script.english_words import (
    ADVERBS,
    DETERMINERS,
    FLOATING_QUANTIFIERS,
    GERUNDS,
    MASS_NOUNS,
    NOMINATIVE_PRONOUNS,
    NOUNS_TOO,
    PERCEPTION_VERBS,
    PLAIN_VERBS,
    PREPOSITIONS,
    PRONOUNS,
    RESULT_PARTICIPLES,
    THIRD_PERSON_VERBS,
)
from shotad.script.fit import (
    bare_word,
    is_lead_in,
    main_verb,
)
from shotad.script.rules import quotations

VERDICT_TOKENS = 256
"""Longest answer: a verdict is a few tokens, and a line has a handful of statements."""

VERDICTS = ("yes", "no", "cannot tell")


def verify_messages(
    statements: Sequence[str], plan: SlotPlan, config: Config
) -> tuple[tuple[Message, ...], dict[str, Any]]:
    """The question whether the clip shows each statement, and the JSON schema of its answer."""
    marks = config.overlay.characters
    keys = [str(number) for number in range(1, len(statements) + 1)]
    # Whose the marks on the frames are, by the names that lines have; nobody where nothing is painted
    people: list[str] = []
    if marks != "none":
        shown = presence_in_prompt(plan.presence, config.prompt)
        people = [name_with_mark(character, shown, "spoken", marks) for character in shown.seen]
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
"""The number before a verdict, at the beginning of a row or inside one."""
_VERDICT_WORD = re.compile(r"\b(?:yes|no|true|false|cannot tell|can't tell|unclear|unsure)\b", re.IGNORECASE)


def parse_verdicts(text: str, number: int) -> tuple[bool | None, ...]:
    """True, False or None (cannot tell, or unreadable) for each of ``number`` statements.

    Understands JSON whole and broken, numbered lines and bare words in order. Only a clear no is False.

    >>> parse_verdicts('1. Yes, she opens it.\\n2. No.\\n3. Not sure', 3)
    (True, False, None)
    """
    body = re.sub(r"```\w*", "", without_entities(answer_in(text))).strip()
    items = [item for item in _ITEM.finditer(body) if 1 <= int(item[1] or item[2]) <= number]
    if not items:
        return _unnumbered_verdicts(body, number)
    verdicts: dict[int, set[bool | None]] = {}
    ends = [item.start() for item in items[1:]] + [len(body)]
    for item, end in zip(items, ends, strict=True):
        verdict = _verdict(body[item.end() : end].strip())
        verdicts.setdefault(int(item[1] or item[2]), set()).add(verdict)
    parsed: list[bool | None] = []
    for item_number in range(1, number + 1):
        different = verdicts.get(item_number, set())
        # Two different verdicts on one statement are none.
        parsed.append(next(iter(different)) if len(different) == 1 else None)
    return tuple(parsed)


def _unnumbered_verdicts(body: str, number: int) -> tuple[bool | None, ...]:
    """The verdicts of an answer without numbers before them: one on all of it, or a bare word for each."""
    if number == 1:
        return (_verdict(body),)
    # Other numbers may count something else than the statements.
    words = [] if re.search(r"\d", body) else _VERDICT_WORD.findall(body)
    return tuple(_verdict(word) for word in words) if len(words) == number else (None,) * number


def _verdict(words: str) -> bool | None:
    """The verdict at the beginning of some words, else at their end; None where doubt follows it."""
    if _CHOICE_COPIED.match(words):
        return None
    first = None if words.startswith("{") else _NO.match(words) or _YES.match(words)
    if first:
        reason = words[first.end() :][:40]
        return None if _DOUBT.search(reason) else _NO.match(words) is None
    last = _AT_END.search(words)
    return None if last is None else last[1].lower() in ("yes", "true")


_SENTENCE = re.compile(
    r"(?<![A-Z])(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?:(?<![.!?…])|(?<=\w[.!?…]))[.!?…]+[\"”’)]*\s+|(?:(?<!\s)\s+)?;\s+"
)
_BORDER = re.compile(
    r"(?:,|(?<![\s,]))\s+(?P<time>as|while|when|until|after)\s+|,\s+(?P<who>who)\s+"
    r"|(?P<comma>,)\s+(?P<joined>(?:and|but|then)\s+(?:then\s+)?)?"
    r"|(?<!\s)\s+(?:and|but|then)\s+(?:then\s+)?"
)
"""A place where a clause may end."""
_ANTECEDENT = re.compile(
    r"\b((?:an?|the|his|her|their|two|three) (?:[\w'’-]+ ){0,3}[\w'’-]+|(?<![\w'’-])[A-Z][\w'’-]+)$"
)
"""The noun or name before ``, who``."""


@dataclass(frozen=True, slots=True)
class _Clause:
    """The subject of a clause, and whether its verbs are plural.

    ``verb_start`` is where the verb begins in the text of the clause.
    """

    subject: str
    is_plural: bool
    verb_start: int = 0

    @property
    def be(self) -> str:
        return "are" if self.is_plural else "is"


def statements_of(line: str, language: str = "en") -> tuple[str, ...]:
    """The line's statements in order, each once and complete by itself; in other languages its sentences.

    >>> statements_of("She opens the tin, looks inside, and drops it.")
    ('She opens the tin.', 'She looks inside.', 'She drops it.')
    """
    if not is_english(language):
        return tuple(split_sentences(line, language))
    text = " ".join(line.translate({ord("⟦"): None, ord("⟧"): None}).split())
    # A quotation is one word while the line is split: ⟦0⟧.
    spans = quotations(text)
    quotes = [text[start:end] for start, end in spans]
    for number, (start, end) in reversed(list(enumerate(spans))):
        text = f"{text[:start]}⟦{number}⟧{text[end:]}"
    clauses: list[str] = []
    for sentence in _SENTENCE.split(text):
        clauses += _clauses_in(sentence.strip(" .!?…,;"))
    statements: dict[str, None] = {}  # an ordered set
    for clause in clauses:
        statement = re.sub(r"⟦(\d+)⟧", lambda match: quotes[int(match[1])], clause)
        if not re.search(r"\w", statement):
            continue
        statement = statement.strip(" ,;")
        statement = statement[:1].upper() + statement[1:]
        if not re.search(r"[.!?…][\"”’)]*$", statement):
            statement += "."
        statements[statement] = None
    return tuple(statements)


def _clauses_in(sentence: str) -> Iterator[str]:
    """The clauses of a sentence, each with its subject; words before the first subject stay with it."""
    lead_end = sentence.find(", ") + 2
    if lead_end <= 1 or not is_lead_in(sentence[:lead_end].split()):
        lead_end = 0
    clause = _clause_at_start(sentence[lead_end:])
    if clause is None:
        yield sentence
        return
    # "As Ann sits, Bob waits": the lead is a clause of its own.
    fronted = re.match(r"(?:as|while|when|after|once) (.+), $", sentence[:lead_end], re.IGNORECASE)
    if fronted and _clause_at_start(fronted[1]):
        yield from _clauses_in(fronted[1])
        sentence, lead_end = sentence[lead_end:], 0
    start = 0
    prefix = ""
    is_participle = False
    position = lead_end + clause.verb_start
    while border := _BORDER.search(sentence, position):
        position = border.end()
        before = sentence[start : border.start()]
        next_clause = _clause_after(border, before, sentence[position:], clause, is_participle)
        if next_clause is not None:
            yield f"{prefix}{before}"
            prefix, clause, is_participle = next_clause
            start = position
            position += clause.verb_start
    yield f"{prefix}{sentence[start:]}"


def _clause_at_start(text: str) -> _Clause | None:
    """The clause that begins a text, if a finite verb is sure to follow its subject."""
    words = text.split()
    verb = main_verb(words)
    if verb is None:
        return None
    subject = [
        word
        for word in words[:verb]
        if bare_word(word) not in FLOATING_QUANTIFIERS and not bare_word(word).endswith("ly")
    ]
    # The subject begins behind the last comma.
    commas = [index for index, word in enumerate(subject) if word.endswith(",")]
    if commas:
        subject = subject[commas[-1] + 1 :]
    if not subject:
        return None
    is_plural = bare_word(words[verb]) not in THIRD_PERSON_VERBS | {"is", "has", "does"}
    return _Clause(" ".join(subject), is_plural, len(" ".join(words[:verb])))


_NextClause = tuple[str, _Clause, bool]
"""Words to put before what follows a border, its clause, and whether it began with a participle."""


def _clause_after(
    border: re.Match[str], before: str, after: str, clause: _Clause, is_participle: bool
) -> _NextClause | None:
    """The clause that begins after a border, or None where none begins.

    ``before`` and ``after`` are the text on both sides; ``clause`` is the one before, and ``is_participle``
    whether it began with a participle.
    """
    words = after.split()
    if not words:
        return None
    if border["who"]:
        antecedent = _ANTECEDENT.search(before)
        is_plural = bare_word(words[0]) in PLAIN_VERBS - THIRD_PERSON_VERBS
        if antecedent is None or not _starts_with_verb(words, is_plural, before):
            return None
        return (f"{antecedent[1]} ", _Clause(antecedent[1], is_plural), False)
    # "They see her leave and wave": the plain form may belong to who is seen.
    may_be_seen = clause.is_plural and not PERCEPTION_VERBS.isdisjoint(map(bare_word, before.split()))
    if not border["time"] and _starts_with_verb(words, clause.is_plural, before) and not may_be_seen:
        return (f"{clause.subject} ", replace(clause, verb_start=0), False)
    first_word = bare_word(next((word for word in words if not _is_adverb(word)), ""))
    is_bare_comma = border["comma"] and not border["joined"]
    if first_word in GERUNDS - RESULT_PARTICIPLES and (is_bare_comma or border["time"] or is_participle):
        return (f"{clause.subject} {clause.be} ", replace(clause, verb_start=0), True)
    own_clause = _clause_at_start(after)
    starts_subject = (
        bare_word(words[0]) in NOMINATIVE_PRONOUNS | DETERMINERS or words[0][:1].isupper() or border["time"]
    )
    return ("", own_clause, False) if own_clause is not None and starts_subject else None


def _starts_with_verb(words: Sequence[str], is_plural: bool, before: str) -> bool:
    """Whether the words begin with a verb, after adverbs; ``before`` tells where it may be a noun."""
    index = next((index for index, word in enumerate(words) if not _is_adverb(word)), len(words) - 1)
    word = bare_word(words[index])
    if word not in (PLAIN_VERBS if is_plural else THIRD_PERSON_VERBS):
        return False
    next_word = bare_word(" ".join(words[index + 1 : index + 2]))
    continues = words[index][-1:].isalnum() and next_word not in _AFTER_NOUNS
    if word not in (MASS_NOUNS if is_plural else NOUNS_TOO) or continues:
        return True
    # "opens the door and waves" is a verb after a whole object; "takes the keys and gloves" is a list.
    words_before = [bare_word(earlier) for earlier in before.split()]
    last = words_before[-1]
    if last in THIRD_PERSON_VERBS | PLAIN_VERBS | PREPOSITIONS | PRONOUNS or _is_adverb(last):
        return last not in NOUNS_TOO or len(words_before) < 3
    return not last.endswith("s") and bool({*words_before[-4:-1]} & DETERMINERS)


_AFTER_NOUNS = frozenset(("", "and", "or", "of", "as"))
"""What follows a noun and no verb; empty: the text ends."""


def _is_adverb(word: str) -> bool:
    return bare_word(word) in ADVERBS or bare_word(word).endswith("ly")
