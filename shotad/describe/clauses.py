"""Where an English sentence may be cut, told by words alone, without a parser.

High precision: what cannot be told is not cut.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shotad.describe.clausewords import (
    ADJECTIVE_ENDINGS,
    ADJECTIVES,
    ADVERBS_FIRST,
    AFTER_A_VERB,
    ALSO_NOUNS,
    AUXILIARY,
    BEFORE_A_NOUN,
    CLEAR_OBJECT,
    DETERMINERS,
    FLOATING,
    LINKS,
    MANY,
    NEEDS_DEED,
    NEEDS_PLACE,
    NOMINATIVE,
    NOT_LAST,
    NOUNS_IN_ING,
    OTHER_CLAUSES,
    PREPOSITIONS,
    SAFE_PREPOSITIONS,
    SHORT_SUBJECT,
    SUBORDINATE,
    TAKES_ING,
    THIRD,
    VERBS,
    WAYS,
    listed,
)

_LOWER = re.compile(r"[^\w'’-]+")


def bare(word: str) -> str:
    """The word in small letters, without signs."""
    return _LOWER.sub("", word).replace("’", "'").lower()


def is_verb(words: Sequence[str], at: int) -> bool:
    """True where ``words[at]`` is a verb in the third person; what may be a noun must have an object."""
    word = bare(words[at])
    if word not in THIRD:
        return False
    after = bare(words[at + 1]) if at + 1 < len(words) else ""
    before = bare(words[at - 1]) if at else ""
    named = at > 1 and words[at - 1][:1].isupper()
    if before in DETERMINERS - FLOATING or (before in PREPOSITIONS and word not in AUXILIARY):
        return False
    if before in ADJECTIVES and not named:
        return False
    if word in ALSO_NOUNS:
        return after in CLEAR_OBJECT or (before in NOMINATIVE) or before == "who" or (
            after in AFTER_A_VERB and (words[at - 1][:1].isupper() and at > 0)
        )  # fmt: skip
    return True


def main_verb(words: Sequence[str]) -> int | None:
    """Where the first finite verb stands after a subject, or None where none is sure."""
    if not words or len(words) < 2:
        return None
    first = bare(words[0])
    if first in LINKS:
        inner = main_verb(words[1:])
        return None if inner is None else inner + 1
    if first in PREPOSITIONS or first in SUBORDINATE or (first.endswith("ing") and first not in NOUNS_IN_ING):
        return None
    relative = False
    for at in range(1, len(words)):
        word = bare(words[at])
        relative = relative or word in {"who", "that", "which", "where", "whose"}
        if is_verb(words, at):
            if not relative:
                return at
            relative = False
        if not relative and word in VERBS and _has_plural_subject(words[:at]):
            return at
    return None


def _has_plural_subject(words: Sequence[str]) -> bool:
    """True for ``They``, ``Ann and Bo``, ``The agents slowly``: a verb after it has no ending."""
    while len(words) > 1 and (bare(words[-1]).endswith("ly") or bare(words[-1]) in FLOATING):
        words = words[:-1]
    last = bare(words[-1])
    if last in BEFORE_A_NOUN:
        return last in {"they", "others"}
    if bare(words[0]) in MANY or last in MANY or any(bare(word) == "and" for word in words):
        return True
    noun = re.search(r"[^su'i]s$", last) is not None and last not in THIRD
    return noun and len(words) <= SHORT_SUBJECT and not any(bare(word) in PREPOSITIONS for word in words)


def is_lead(words: Sequence[str]) -> bool:
    """True for words before a comma that only say where, when or during what."""
    first = bare(words[0]) if words else ""
    return (
        first in PREPOSITIONS
        or first in SUBORDINATE
        or first in ADVERBS_FIRST
        or (first.endswith("ing") and first not in NOUNS_IN_ING and len(first) > 4)
        or (first.endswith("ly") and len(words) == 1)
    )


def begins_a_clause(words: Sequence[str]) -> bool:
    """True where a subject that can be told stands first and a verb follows."""
    first = bare(words[0]) if words else ""
    subject = first in NOMINATIVE or first in DETERMINERS or words[0][:1].isupper() or first.endswith("'s")
    return subject and main_verb(words) is not None


def may_end(words: Sequence[str]) -> bool:
    """False where the last word cannot be the last one: ``he walks to``, ``she takes the old``."""
    last, before = bare(words[-1]), bare(words[-2]) if len(words) > 1 else ""
    if last in NOT_LAST or last.endswith("'s") or not any(c.isalnum() for c in words[-1]):
        return False
    if last in {"other", "another"} and before in {"each", "one"}:
        return True
    adjective = last in ADJECTIVES or ADJECTIVE_ENDINGS.search(last) is not None
    in_phrase = any(bare(word) in DETERMINERS for word in words[-4:-1]) or before in ADJECTIVES
    return not (adjective and in_phrase)


def cut_before(words: Sequence[str], at: int, verb: int) -> bool:
    """True where all from ``words[at]`` on may go; no comma stands before it, ``verb`` is the main verb."""
    word, before = bare(words[at]), bare(words[at - 1])
    if at <= verb or not may_end(words[:at]):
        return False
    if word in _NOT_AFTER:
        clause = word != "as" or begins_a_clause(list(words[at + 1 :]))
        return clause and before not in _NOT_AFTER[word]
    if word in {"and", "but", "then"}:
        return _another_deed(words, at, plural=bare(words[verb]) in VERBS)
    if word == "to" and _purpose(words, at, verb):
        return True
    if word.endswith("ing"):
        return _participle(words, at, verb)
    return _phrase(words, at, verb)


_NOT_AFTER = {
    "while": listed("a the little short long"),
    "until": listed("not"),
    "before": listed("just seconds moments ever never long shortly right from"),
    "when": listed("except just even only"),
    "as": listed("just even same such as so well soon long"),
    "who": listed("those one anyone everyone someone man people"),
}
"""Words that begin a clause, and those after which they do not."""


def _another_deed(words: Sequence[str], at: int, *, plural: bool) -> bool:
    """``and opens the door``, ``then runs``, ``and he smiles``, ``and the car stops``."""
    rest = list(words[at + 1 :])
    if bare(words[at]) in {"and", "but"} and rest and bare(rest[0]) == "then":
        rest = rest[1:]
    while rest and bare(rest[0]).endswith("ly"):
        rest = rest[1:]
    if not rest:
        return False
    first = bare(rest[0])
    if first in NOMINATIVE or first in DETERMINERS:
        between = any(bare(word) in {"between", "both", "of"} for word in words[:at])
        return (first in NOMINATIVE or not between) and main_verb(rest) is not None
    if plural and first in VERBS:
        return len(rest) > 1 and bare(rest[1]) in AFTER_A_VERB
    return is_verb(["he", *rest], 1) if first not in ALSO_NOUNS else _clear_deed(rest)


def _purpose(words: Sequence[str], at: int, verb: int) -> bool:
    """``lifts his leg | to pee on flames``: what a deed is done for, after its object."""
    if at - verb < 3 or at + 2 >= len(words) or _base(bare(words[verb])) in NEEDS_DEED:
        return False
    doing, after = bare(words[at + 1]), bare(words[at + 2])
    between = {bare(word) for word in words[verb + 1 : at]}
    return doing in VERBS and after in AFTER_A_VERB and not between & OTHER_CLAUSES


def _clear_deed(rest: Sequence[str]) -> bool:
    return len(rest) > 1 and bare(rest[1]) in CLEAR_OBJECT | WAYS


def _participle(words: Sequence[str], at: int, verb: int) -> bool:
    word, before = bare(words[at]), bare(words[at - 1])
    if word in NOUNS_IN_ING or len(word) < 5 or at + 1 >= len(words):
        return False
    if (
        before in PREPOSITIONS
        or before in DETERMINERS
        or before in ADJECTIVES
        or before in {"and", "or", "not"}
    ):
        return False
    if any(bare(w) == "and" for w in words[verb:at]):
        return False
    if any(bare(w) in TAKES_ING for w in words[verb:at]) or before in THIRD or _is_deed(words, at - 1):
        return False
    return not before.endswith("ing") and bare(words[at + 1]) in (
        CLEAR_OBJECT | PREPOSITIONS | {"up", "down", "out"}
    )


def _phrase(words: Sequence[str], at: int, verb: int) -> bool:
    """A phrase with a preposition after something that completes the verb: ``… a book | from the shelf``."""
    word, before = bare(words[at]), bare(words[at - 1])
    deed = _base(bare(words[verb]))
    if word not in SAFE_PREPOSITIONS or at + 1 >= len(words):
        return False
    if deed in NEEDS_PLACE and not (deed in {"take", "draw", "lift", "pull"} and word == "from"):
        return False
    if deed in {"be", "is", "are", "has", "have"} or at - verb < 2:
        return False
    if before in PREPOSITIONS or before in THIRD or before.endswith(("ed", "ly", "ing")):
        return False
    if _is_deed(words, at - 1):
        return False
    # Another deed stands between: what follows may be part of that one.
    return not any(bare(w) in {"and", "but", "then", "who", "that", "as", "to"} for w in words[verb + 1 : at])


def _is_deed(words: Sequence[str], at: int) -> bool:
    """True for a verb in its base form; a noun of the same form stands in a phrase: ``his face``."""
    before = bare(words[at - 1]) if at else ""
    in_phrase = before in DETERMINERS or before in ADJECTIVES or before.endswith("'s")
    return bare(words[at]) in VERBS and not in_phrase


def _base(verb: str) -> str:
    if verb in VERBS or verb in AUXILIARY:
        return verb
    return next((base for base in (verb[:-1], verb[:-2], f"{verb[:-3]}y") if base in VERBS), verb)
