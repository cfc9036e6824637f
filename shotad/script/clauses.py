"""Where an English sentence may be cut, told by words alone, without a parser.

High precision: what cannot be told is not cut.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shotad.script import english_words as en
from shotad.script.english_words import lemma, listed

_FINITE = en.THIRD | en.AUXILIARIES
_PAST = en.PARTICIPLES - en.PLAIN - {"ground", "hidden"}
"""What follows one of these belongs to it: ``a box done up | in a bow``."""
_NOUNS_IN_ING = en.NOUNS_IN_ING | en.PERHAPS_NOUNS_IN_ING
_BEFORE_NOUNS = en.DETERMINERS | en.OTHERS
_MANY = en.PLURAL_DETERMINERS | en.PLURALS | {"they", "others"}
"""Subjects in the plural without an ending in -s."""
_SHORT_SUBJECT = 4
_PREPOSITIONS = en.PREPOSITIONS - {"out"}
"""``out`` ends a deed: ``comes out | from behind a hut``."""
_SAFE_PREPOSITIONS = en.PREPOSITIONS - listed(
    "of by for between out up down off without before upon via like atop"
)
"""Their phrases are rarely what the verb or the noun before them needs."""
_OTHER_CLAUSES = listed("and to that who as is are for")
"""Where one of these stands between, what follows may belong to another clause."""
_LOWER = re.compile(r"[^\w'’-]+")


def bare(word: str) -> str:
    """The word in small letters, without signs."""
    return _LOWER.sub("", word).replace("’", "'").lower()


def is_verb(words: Sequence[str], at: int) -> bool:
    """True where ``words[at]`` is a verb in the third person; what may be a noun must have an object."""
    word = bare(words[at])
    if word not in _FINITE:
        return False
    after = bare(words[at + 1]) if at + 1 < len(words) else ""
    before = bare(words[at - 1]) if at else ""
    named = at > 1 and words[at - 1][:1].isupper()
    if before in _BEFORE_NOUNS - en.FLOATING or (before in _PREPOSITIONS and word not in en.AUXILIARIES):
        return False
    if before in en.ADJECTIVES and not named:
        return False
    if word in en.MOSTLY_NOUNS:
        acts = at > 0 and words[at - 1][:1].isupper() and after in en.AFTER_A_VERB
        return after in en.OBJECTS or before in en.NOMINATIVE or before == "who" or acts
    return True


def main_verb(words: Sequence[str]) -> int | None:
    """Where the first finite verb stands after a subject, or None where none is sure."""
    if not words or len(words) < 2:
        return None
    first = bare(words[0])
    if first in en.OPENERS:
        inner = main_verb(words[1:])
        return None if inner is None else inner + 1
    if first in _PREPOSITIONS | en.SUBORDINATING or (first.endswith("ing") and first not in _NOUNS_IN_ING):
        return None
    relative = False
    for at in range(1, len(words)):
        word = bare(words[at])
        relative = relative or word in {"who", "that", "which", "where", "whose"}
        if is_verb(words, at):
            if not relative:
                return at
            relative = False
        if not relative and word in en.PLAIN and words[at][:1].islower() and _has_plural_subject(words[:at]):
            return at
    return None


def _has_plural_subject(words: Sequence[str]) -> bool:
    """True for ``They``, ``Ann and Bo``, ``The agents slowly``: a verb after it has no ending."""
    while len(words) > 1 and (bare(words[-1]).endswith("ly") or bare(words[-1]) in en.FLOATING):
        words = words[:-1]
    last = bare(words[-1])
    if last in en.BEFORE_A_NOUN:
        return last in {"they", "others"}
    if bare(words[0]) in _MANY or last in _MANY or any(bare(word) == "and" for word in words):
        return True
    noun = re.search(r"[^su'i]s$", last) is not None and (last not in _FINITE or last in en.NOUNS_TOO)
    return noun and len(words) <= _SHORT_SUBJECT and not any(bare(word) in _PREPOSITIONS for word in words)


def is_lead(words: Sequence[str]) -> bool:
    """True for words before a comma that only say where, when or during what."""
    first = bare(words[0]) if words else ""
    return (
        first in _PREPOSITIONS | en.SUBORDINATING | en.ADVERBS_FIRST
        or (first.endswith("ing") and first not in _NOUNS_IN_ING and len(first) > 4)
        or (first.endswith("ly") and len(words) == 1)
    )


def begins_a_clause(words: Sequence[str]) -> bool:
    """True where a subject that can be told stands first and a verb follows."""
    if not words:
        return False
    first = bare(words[0])
    subject = first in en.NOMINATIVE | _BEFORE_NOUNS or words[0][:1].isupper() or first.endswith("'s")
    return subject and main_verb(words) is not None


def may_end(words: Sequence[str]) -> bool:
    """False where the last word cannot be the last one: ``he walks to``, ``she takes the old``."""
    last, before = bare(words[-1]), bare(words[-2]) if len(words) > 1 else ""
    if last in en.NOT_LAST or last.endswith("'s") or not any(c.isalnum() for c in words[-1]):
        return False
    if last in {"other", "another"} and before in {"each", "one"}:
        return True
    adjective = last in en.ADJECTIVES or en.ADJECTIVE_ENDINGS.search(last) is not None
    in_phrase = any(bare(word) in _BEFORE_NOUNS for word in words[-4:-1]) or before in en.ADJECTIVES
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
        return _another_deed(words, at, plural=bare(words[verb]) in en.PLAIN)
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
    if first in en.NOMINATIVE or first in _BEFORE_NOUNS:
        between = any(bare(word) in {"between", "both", "of"} for word in words[:at])
        return (first in en.NOMINATIVE or not between) and main_verb(rest) is not None
    if plural and first in en.PLAIN:
        return len(rest) > 1 and bare(rest[1]) in en.AFTER_A_VERB
    if first in en.MOSTLY_NOUNS:
        return len(rest) > 1 and bare(rest[1]) in en.OBJECTS | en.WAYS
    return is_verb(["he", *rest], 1)


def _purpose(words: Sequence[str], at: int, verb: int) -> bool:
    """``lifts his leg | to pee on flames``: what a deed is done for, after its object."""
    if at - verb < 3 or at + 2 >= len(words) or lemma(bare(words[verb])) in en.NEEDS_DEED:
        return False
    doing, after = bare(words[at + 1]), bare(words[at + 2])
    between = {bare(word) for word in words[verb + 1 : at]}
    tried = any(word.endswith("ing") and lemma(word) in en.NEEDS_DEED for word in between)
    return doing in en.PLAIN and after in en.AFTER_A_VERB and not tried and not between & _OTHER_CLAUSES


def _participle(words: Sequence[str], at: int, verb: int) -> bool:
    word, before = bare(words[at]), bare(words[at - 1])
    if word in _NOUNS_IN_ING or len(word) < 5 or at + 1 >= len(words):
        return False
    if before in _PREPOSITIONS | _BEFORE_NOUNS | en.ADJECTIVES | {"and", "or", "not"}:
        return False
    if any(bare(w) in en.TAKES_ING | {"and"} for w in words[verb:at]):
        return False
    if _is_form_of_a_verb(words, at - 1):
        return False
    return not before.endswith("ing") and bare(words[at + 1]) in (en.OBJECTS | _PREPOSITIONS | en.PARTICLES)


def _phrase(words: Sequence[str], at: int, verb: int) -> bool:
    """A phrase with a preposition after something that completes the verb: ``… a book | from the shelf``."""
    word, before = bare(words[at]), bare(words[at - 1])
    if word not in _SAFE_PREPOSITIONS or at + 1 >= len(words) or at - verb < 2:
        return False
    # The last verb before: a form in -ing after a comma, ``…, plunging the knife | into …``, or the main one.
    later = range(at - 1, verb, -1)
    deed = next((i for i in later if words[i - 1].endswith(",") and bare(words[i]) in en.GERUNDS), verb)
    if any(_is_needed(words, at, one) for one in {verb, deed}):
        return False
    if before in _PREPOSITIONS | _PAST or before.endswith(("ed", "ly", "ing")):
        return False
    if _is_form_of_a_verb(words, at - 1):
        return False
    # Another deed stands between: what follows may be part of that one.
    return not any(bare(w) in {"and", "but", "then", "who", "that", "as", "to"} for w in words[verb + 1 : at])


def _is_needed(words: Sequence[str], at: int, deed: int) -> bool:
    """True where a verb is not whole without the phrase that begins at ``words[at]``."""
    word, doing = bare(words[at]), lemma(bare(words[deed]))
    between = {bare(one) for one in words[deed + 1 : at]}
    if doing in {"be", "have"}:
        return True
    if word == "to" and bare(words[at + 1]) in en.PLAIN:
        return doing in en.NEEDS_DEED or bare(words[at - 1]) not in en.WAYS
    if (between & en.REFLEXIVE and doing not in en.WHOLE_WITH_ITSELF) or (word == "to" and "from" in between):
        return True
    if between & _SAFE_PREPOSITIONS:
        return False
    if doing in en.PUTS_SOMEWHERE:
        return not (doing in _MAY_TAKE and word == "from")
    # Where something goes: what is done to it is not told without, ``nudges his car | into the next``.
    return word in {"into", "onto"} and not between & (en.WAYS | en.ADVERBS | _FURTHER)


_FURTHER = listed("forward forwards further straight along")
_MAY_TAKE = listed("take draw lift pull")
"""Verbs that say enough without where from."""


def _is_form_of_a_verb(words: Sequence[str], at: int) -> bool:
    """True for a verb in the third person or its base form that is no noun in a phrase."""
    word, before = bare(words[at]), bare(words[at - 1]) if at else ""
    noun = before in _BEFORE_NOUNS | en.LINKING | en.ADJECTIVES or before.endswith("'s")
    # ``a strong hook``, ``the crowded square``: a word of which no list knows may stand between.
    in_phrase = at > 1 and bare(words[at - 2]) in _BEFORE_NOUNS and not words[at - 1].endswith(",")
    if word in _FINITE and not (word in en.NOUNS_TOO and (noun or in_phrase)):
        return True
    base = word in en.PLAIN - en.MASSES and words[at][:1].islower() and not noun
    return base and (word in en.NEEDS_PLACE | en.ADVERBS or not in_phrase)
