"""Who acts in an English clause, and whether what follows is a verb of that one: by words, no parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shotad.script.english.nouns import MASSES, NOUNS_TOO, PLURALS
from shotad.script.english.smallwords import (
    ADVERBS,
    DETERMINERS,
    LINKING,
    NOMINATIVE,
    OBJECTS,
    PLURAL_DETERMINERS,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    SINGULAR_DETERMINERS,
    STOPS,
)
from shotad.script.english.verbs import GERUNDS, PLAIN, THIRD
from shotad.script.words import ARTICLES

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
