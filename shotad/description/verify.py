"""A second look: is what a line states to be seen in its clip?

An addition to Shot-by-Shot against what models invent. The line is taken apart into statements, the engine
of Stage I says of each whether the frames show it, and only a clear no counts against it.

Lines are cut by rules on words, no parser: clauses end where a verb that agrees with the subject follows a
comma or an "and", where a subject with a verb of its own follows, or a participle after a comma. Where they
are not sure they do not cut: a statement too long is still true or false, one cut wrongly is neither.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from shotad.core import NOBODY, Message, OverlaySettings, Presence, PromptSettings, is_english
from shotad.description.answers import answer_in
from shotad.description.castlist import MARKS, SHAPES, Marks, enumerated, name_with_mark, told_of
from shotad.description.templates import material, question, render
from shotad.script import (
    ADVERBS,
    ARTICLES,
    DETERMINERS,
    FLOATING,
    GERUNDS,
    LINKING,
    MASSES,
    NOMINATIVE,
    NOUNS_IN_ING,
    NOUNS_TOO,
    OBJECTS,
    PARTICIPLES,
    PLAIN,
    PLURAL_DETERMINERS,
    PLURALS,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    RESULTS,
    SEEING,
    SINGULAR_DETERMINERS,
    STOPS,
    THIRD,
    forms,
    quotations,
    split_sentences,
)

VERIFY_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "verify/system": (),
    "verify/user": ("medium", "labels", "people", "shots", "statements", "template"),
    "verify/people": ("mark", "people"),
    "verify/statement": ("number", "statement"),
}
"""The templates of this module and the variables that each has."""

VERDICT_TOKENS = 256
"""Room for an answer: a verdict is a few tokens, and a line has a handful of statements."""

VERDICTS = ("yes", "no", "cannot tell")


def statements_in(line: str, language: str = "en") -> tuple[str, ...]:
    """What a line states, each to be judged alone: by the rules of English, else sentence by sentence."""
    return statements_of(line) if is_english(language) else tuple(split_sentences(line, language))


def verify_messages(
    statements: Sequence[str],
    plan_current: Sequence[int],
    settings: PromptSettings,
    *,
    presence: Presence = NOBODY,
    label: Literal["number", "box", "none"] = OverlaySettings().label,
    marks: Marks = MARKS,
) -> tuple[tuple[Message, ...], dict[str, Any]]:
    """The question, with the clip, and the JSON schema of its answer.

    ``plan_current`` are the painted numbers of the current shots, ``presence`` is who was recognised in the
    clip; ``label`` is how shots are marked, ``marks`` how people are.
    Raises ValueError without a statement or without a current shot.
    """
    if not statements or not plan_current:
        raise ValueError(
            f"statements and current shots are needed, got {len(statements)}, {list(plan_current)}"
        )
    keys = [str(number) for number in range(1, len(statements) + 1)]
    listed = (
        render("verify/statement", number=k, statement=s) for k, s in zip(keys, statements, strict=True)
    )
    user = render(
        "verify/user",
        medium=settings.medium,
        labels=render(f"stage1/labels-{label}"),
        people=_marked(presence, settings, marks),
        shots="[" + ", ".join(f"Shot {number}" for number in plan_current) + "]",
        statements="\n".join(listed),
        template=json.dumps(dict.fromkeys(keys, "...")),
    )
    messages = (Message("system", render("verify/system")), question(user, with_clip=True))
    return messages, _schema(keys)


def _marked(presence: Presence, settings: PromptSettings, marks: Marks) -> str:
    """Whose the marks on the frames are, by the names that lines have; nothing where there are none."""
    told = told_of(presence, settings)
    if marks == "none" or not told.seen:
        return ""
    people = enumerated(name_with_mark(c, told, "spoken", marks) for c in told.seen)
    return f" {render('verify/people', mark=SHAPES[marks], people=material(people))}"


def _schema(keys: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {key: {"type": "string", "enum": list(VERDICTS)} for key in keys},
        "required": keys,
        "additionalProperties": False,
    }


_DOUBT = re.compile(
    r"\b(?:tell|say|determin\w+|unclear|unsure|sure|uncertain|certain|clear|maybe|perhaps|possibl[ey]"
    r"|partial(?:ly)?|partly|hard to|difficult to|evidence|n/?a)\b",
    re.IGNORECASE,
)
_YES = re.compile(r"\W*(?:yes|true|visible|shown|correct|supported|y)\b", re.IGNORECASE)
_NO = re.compile(
    r"\W*(?:no|false|not (?:visible|shown|seen|correct|supported|there)|invisible|incorrect|wrong|n)\b",
    re.IGNORECASE,
)
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

    Understands the JSON asked for, whole and broken, lines with numbers and bare words in order. Only a clear
    no is False; a statement with two different answers has none.

    >>> parse_verdicts('1. Yes, she opens it.\\n2. No.\\n3. Not sure', 3)
    (True, False, None)
    """
    body = re.sub(r"```\w*", "", answer_in(text)).strip()
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
    begins = None if words.startswith("{") else _NO.match(words) or _YES.match(words)
    if begins:
        return None if _DOUBT.search(words[begins.end() :][:40]) else _NO.match(words) is None
    ends = _AT_END.search(words)
    return None if ends is None else ends[1].lower() in ("yes", "true")


_S_ENDING = re.compile(
    r"(?!(?:his|this|its|across|besides|always|perhaps|plus|upstairs|downstairs|hers|theirs)$)"
    r"[a-z]{2,}(?<!ward)(?<![su])s"
)
"""With a word like "the" behind it, such a word is a verb, known or not."""
_LONGEST_SUBJECT = 12
_NO_VERB_AFTER = ARTICLES | POSSESSIVES | LINKING | {"and", "or"}


@dataclass(frozen=True, slots=True)
class Clause:
    """Who acts; ``plural`` tells the form of the verbs."""

    subject: str
    plural: bool

    @property
    def be(self) -> str:
        """``is`` or ``are``."""
        return "are" if self.plural else "is"


def clause_of(text: str) -> Clause | None:
    """The subject at a text's beginning, if a finite verb follows it."""
    words = words_in(text)
    if len(words) > 1 and words[0].lower() in ("both", "all", "others") and words[1].lower() in PLAIN:
        return Clause(words[0], plural=True)
    if not _is_name_in_ly(words):
        words = words[sum(1 for _ in _leading_adverbs(words)) :]
    if len(words) < 2:
        return None
    first = words[0].lower()
    if first in NOMINATIVE:
        at = 1 + sum(1 for _ in _leading_adverbs(words[1:]))
        plural = first == "they"
        if at < len(words) and _finite(words[at].lower(), plural):
            return Clause(words[0], plural)
        return None
    if first in PREPOSITIONS | STOPS or first in GERUNDS:
        return None
    return _noun_clause(text, words)


def _is_name_in_ly(words: list[str]) -> bool:
    """``Sally opens``; an adverb that begins a line stands before its subject."""
    return words[0].endswith("ly") and words[0][:1].isupper() and len(words) > 1 and words[1] in THIRD


def _noun_clause(text: str, words: list[str]) -> Clause | None:
    begin = 2 if words[0].lower() in DETERMINERS else 1
    reach = text.find(",") if "," in text else len(text)
    for at in range(1, min(len(words), _LONGEST_SUBJECT)):
        word = words[at].lower()
        subject = words[:at]
        if word in STOPS or len(" ".join(words[: at + 1])) > reach:
            return None
        if at < begin or subject[-1].lower() in _NO_VERB_AFTER:
            continue
        follows = words[at + 1].lower() if at + 1 < len(words) else ""
        if word in THIRD and not (word in NOUNS_TOO and follows in PLAIN):
            return Clause(" ".join(subject), plural=False)
        if word in PLAIN and words[at][:1].islower() and is_plural(subject):
            return Clause(" ".join(subject), plural=True)
    return None


def is_plural(subject: list[str]) -> bool:
    """Whether a subject asks for the form of the verb without an ending."""
    lower = [word.lower() for word in subject if not re.search(r"\wly$", word)] or [""]
    if "and" in lower or lower[0] in PLURAL_DETERMINERS:
        return True
    if lower[0] in SINGULAR_DETERMINERS:
        return False
    head = next((lower[i - 1] for i, word in enumerate(lower) if i and word in PREPOSITIONS), lower[-1])
    return head in PLURALS or bool(re.search(r"[^s'’u]s$", head))


def agrees(text: str, clause: Clause, said: str) -> bool:
    """Whether a verb in the form that the clause's subject asks for begins the text, after adverbs."""
    words = words_in(text)
    at = sum(1 for _ in _leading_adverbs(words))
    word = words[at].lower() if at < len(words) else ""
    follows = words[at + 1].lower() if at + 1 < len(words) else ""
    if not clause.plural and _S_ENDING.fullmatch(word) and (follows in OBJECTS or follows.startswith("⟦")):
        return True
    if word not in (PLAIN if clause.plural else THIRD):
        return False
    if word not in (MASSES if clause.plural else NOUNS_TOO):
        return True
    rest = text[text.find(words[at]) + len(words[at]) :]
    if re.match(r"\s+(?!and\b|or\b|of\b|as\b)[\w⟦]", rest):
        return True
    return not _may_be_listed(said)


def _may_be_listed(said: str) -> bool:
    """Whether a bare noun could follow what was said: ``plates, cups``, but not ``turns`` or ``a gun``."""
    words = [word.lower() for word in words_in(said)]
    last = words[-1]
    if last in THIRD | PLAIN | PREPOSITIONS | PRONOUNS | ADVERBS or last.endswith("ly"):
        return last in NOUNS_TOO and len(words) > 2
    return last.endswith("s") or not set(words[-4:-1]) & DETERMINERS


def _finite(word: str, plural: bool) -> bool:
    """After a pronoun anything of the right form is taken for a verb."""
    if word in ("is", "has", "are", "have", "does", "do"):
        return (word in ("are", "have", "do")) == plural
    return not word.endswith("ing") and (plural or word.endswith("s"))


def _leading_adverbs(words: list[str]) -> Iterator[str]:
    for word in words:
        if word.lower() not in ADVERBS and not re.search(r"\wly$", word.lower()):
            return
        yield word


def first_word(text: str) -> str:
    """The first word that is no adverb, in small letters."""
    words = words_in(text)
    at = sum(1 for _ in _leading_adverbs(words))
    return words[at].lower() if at < len(words) else ""


def words_in(text: str) -> list[str]:
    """Words and marks of quotations, one empty word where there are none."""
    return re.findall(r"⟦\d+⟧|[\w'’-]+", text) or [""]


_SENTENCE = re.compile(
    r"(?<![A-Z])(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?:(?<![.!?…])|(?<=\w[.!?…]))[.!?…]+[\"”’)]*\s+|(?:(?<!\s)\s+)?;\s+"
)
_BORDER = re.compile(
    r"(?:,|(?<![\s,]))\s+(?P<time>as|while|when|until|after|where|because)\s+(?:then\s+)?"
    r"|(?P<comma>,)\s+(?P<joined>(?:and|but|then)\s+(?:then\s+)?)?"
    r"|(?<!\s)\s+(?P<bare>and|but)\s+(?:then\s+)?"
    r"|(?<!\s)\s+(?P<then>then)\s+"
    r"|(?<!\s)\s+(?P<dash>[–—])\s+"
)
_PLACE = re.compile(
    r"(?P<phrase>(?:in|on|at|inside|outside|behind|under|beneath|near|beside|among|between|beyond|by)\s++[^,]+),\s+",
    re.IGNORECASE,
)
_NOT_A_PLACE = re.compile(
    r"\b(?:nights?|mornings?|evenings?|afternoons?|days?|dawn|dusk|moments?|times?|hours?|minutes?|seconds?|years?"
    r"|once|last|first|turn|unison|return|response|reply|\w+day|front|contrast|silence|mirrors?|reflections?"
    r"|photos?|photographs?|pictures?|paintings?|dreams?|flashbacks?|hands?|arms?|fingers?|motion|one|another"
    r"|flash|instant|blur|haste|panic|chance|screens?|monitors?|televisions?|tvs?)\b",
    re.IGNORECASE,
)
"""Nouns of phrases that are no place in which the subject is."""
_NO_PARTICIPLES = (NOUNS_IN_ING - GERUNDS) | {"according"}
_NO_NOUNS = PREPOSITIONS | STOPS | GERUNDS | {"and"}
_THERE = forms({"watch"})
"""Who watches is in the place; what is seen or heard may be in it instead."""
_FRONTED = re.compile(r"(?:as|while|when|after|once|until)\s++(?P<clause>[^,]+),\s+", re.IGNORECASE)
_WHO = re.compile(r"(?:who|which)\s+")
_ANTECEDENT = re.compile(
    r"\b((?:an?|the|his|her|their|its|another|two|three|several|some)\s+(?:[\w'’-]+\s+){0,3}[\w'’-]+"
    r"|(?<![\w'’-])[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*)$"
)


def statements_of(line: str) -> tuple[str, ...]:
    """The line's statements in order, each a sentence; the line itself where it has but one.

    >>> statements_of("She opens the tin, looks inside, and drops it.")
    ('She opens the tin.', 'She looks inside.', 'She drops it.')
    """
    text = " ".join(line.translate({ord("⟦"): None, ord("⟧"): None}).split())
    spans = quotations(text)
    quotes = [text[start:end] for start, end in spans]
    for number, (start, end) in reversed(list(enumerate(spans))):
        text = f"{text[:start]}⟦{number}⟧{text[end:]}"
    found = [claim for sentence in _SENTENCE.split(text) for claim in _claims(sentence.strip(" .!?…,;"))]
    restored = (re.sub(r"⟦(\d+)⟧", lambda m: quotes[int(m[1])], claim) for claim in found)
    return tuple(dict.fromkeys(_sentence(claim) for claim in restored if re.search(r"\w", claim)))


def _sentence(claim: str) -> str:
    text = claim.strip(" ,;")
    text = text[:1].upper() + text[1:]
    return text if re.search(r"[.!?…][\"”’)]*$", text) else f"{text}."


def _claims(sentence: str) -> Iterator[str]:
    """Claims of one sentence: what stands before its subject, then clause by clause."""
    fronted = _FRONTED.match(sentence)
    if fronted and clause_of(fronted["clause"]) and clause_of(sentence[fronted.end() :]):
        yield from _claims(fronted["clause"])
        yield from _claims(sentence[fronted.end() :])
        return
    opened = _opened(sentence)
    if opened:
        first, sentence = opened
        yield first
    clause = clause_of(sentence)
    begin = 0
    opener = sentence[: sentence.find(", ") + 1]
    if opener and (" " not in opener or (clause is None and first_word(sentence) in PREPOSITIONS)):
        begin = len(opener) + 1
        clause = clause_of(sentence[begin:])
    if clause is None:
        yield sentence
    else:
        yield from _cut(sentence, clause, begin)


def _opened(sentence: str) -> tuple[str, str] | None:
    """A place or a participle before the subject, as a claim of its own, and the rest."""
    place = _PLACE.match(sentence)
    end = place.end() if place else sentence.find(", ") + 2
    clause = clause_of(sentence[end:]) if end > 1 else None
    if clause is None:
        return None
    if place:
        is_there = not _NOT_A_PLACE.search(place["phrase"]) and not _sees(sentence[end:], SEEING - _THERE)
        claim = f"{clause.subject} {clause.be} {_small(place['phrase'])}"
        return (claim, sentence[end:]) if is_there else None
    first = first_word(sentence)
    if first.endswith("ing") and first not in _NO_PARTICIPLES:
        return f"{clause.subject} {clause.be} {_small(sentence[: end - 2])}", sentence[end:]
    return None


def _cut(sentence: str, clause: Clause, begin: int) -> Iterator[str]:
    """The claims of a sentence whose first clause, at ``begin``, is known, by the borders that are ones."""
    start, prefix, participle, position = 0, "", False, _after_subject(sentence, clause, begin)
    while border := _BORDER.search(sentence, position):
        position = border.end()
        after = sentence[position:]
        said = sentence[start : border.start()]
        new = _after_border(border, said, after, clause, participle)
        if new is None:
            continue
        yield f"{prefix}{said}"
        prefix, skipped, clause, participle = new
        start = position + skipped
        position = start if prefix else _after_subject(sentence, clause, start)
    yield f"{prefix}{sentence[start:]}"


def _after_subject(sentence: str, clause: Clause, begin: int) -> int:
    """Where the verb of a clause that starts at ``begin`` may stand: an "and" before it joins subjects."""
    found = sentence.find(clause.subject, begin)
    return found + len(clause.subject) if found >= 0 else begin


_New = tuple[str, int, Clause, bool]
"""Words to put before what follows, characters to leave out, its clause, whether it is a participle's."""


def _after_border(
    border: re.Match[str], said: str, after: str, clause: Clause, participle: bool
) -> _New | None:
    """How the claim after a border begins, or None where none begins."""
    who = _WHO.match(after) if border["comma"] else None
    if who:
        return _relative(said, after[who.end() :], who.end())
    if border["time"] and words_in(said)[-1].lower() in LINKING | {"to"}:
        return None
    first = first_word(after)
    if not border["time"] and agrees(after, clause, said) and not (clause.plural and _sees(said)):
        return (f"{clause.subject} ", 0, clause, False)
    comma = border["comma"] and not border["joined"]
    if first in GERUNDS - RESULTS and (comma or border["time"] or border["dash"] or participle):
        return (f"{clause.subject} {clause.be} ", 0, clause, True)
    own = clause_of(after)
    if own is not None and _own_subject(after, border):
        return ("", 0, own, False)
    return _absolute(after) if comma or border["dash"] else None


def _relative(said: str, after: str, skipped: int) -> _New | None:
    """``…, who draws a gun`` says it of what stands before the comma."""
    named = _ANTECEDENT.search(said)
    word = first_word(after)
    if named is None or word not in THIRD | PLAIN:
        return None
    plural = word not in THIRD
    return (f"{named[1]} ", skipped, Clause(named[1], plural), False)


def _absolute(after: str) -> _New | None:
    """``his eyes fixed on her``, ``gulls circling above`` as a claim: "is" or "are" is put in."""
    words = words_in(after)
    if words[0].lower() in ADVERBS - FLOATING:
        return None
    for number, word in enumerate(words[1:4], 1):
        owned = words[0].lower() in DETERMINERS
        if word.lower() in GERUNDS or (owned and number > 1 and word.lower() in PARTICIPLES):
            noun = " ".join(words[:number])
            if {w.lower().split("'")[0] for w in words[:number]} & _NO_NOUNS:
                return None
            clause = Clause(noun, is_plural(words[:number]))
            return (f"{noun} {clause.be} ", len(noun) + 1, clause, True)
        if re.search(r"[^\w'’-]", after[: len(" ".join(words[: number + 1]))].replace(" ", "")):
            return None
    return None


def _own_subject(after: str, border: re.Match[str]) -> bool:
    """Whether what follows may be a clause with its own subject, and not the next thing of a list."""
    first = words_in(after)[0]
    if first.lower() in NOMINATIVE:
        return True
    return first.lower() in DETERMINERS or first[0].isupper() or bool(border["time"])


def _sees(text: str, seeing: frozenset[str] = SEEING) -> bool:
    return not seeing.isdisjoint(word.lower() for word in words_in(text))


def _small(phrase: str) -> str:
    return phrase[:1].lower() + phrase[1:]
