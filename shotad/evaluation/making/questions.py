"""What an engine is asked: first people become pronouns, then the text is taken apart into actions.

The two steps and what they keep are those of Shot-by-Shot (appendix B); words and examples are our own, in
``prompts/actions``. An answer must be made of the text's own words: models hand examples back, and tell how
they went about it. 34 of the 7,314 ADs of CMD-AD with published actions would be refused, most of them
such.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from shotad.core import Message
from shotad.description import render
from shotad.evaluation.judges.answers import Unreadable, record_in, sentence, sentences
from shotad.evaluation.judges.asking import Question
from shotad.evaluation.judges.prompts import quoted, schema_of
from shotad.script import COORDINATING, DETERMINERS, NOMINATIVE, PREPOSITIONS, PRONOUNS, RELATIVE, listed

TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "actions/system-names": (),
    "actions/names": ("text", "template"),
    "actions/system-split": (),
    "actions/split": ("text", "template"),
}
"""The templates of this module and their variables."""

_SMALL = (
    DETERMINERS
    | PRONOUNS
    | NOMINATIVE
    | PREPOSITIONS
    | COORDINATING
    | RELATIVE
    | listed("am is are was were be been being has have had do does did as while when then there so someone")
    | listed("hers theirs own what")
)
"""Words that any sentence may have."""
_SOMEBODY = listed("person persons people")
"""What may stand for somebody where it is not known whether he or she."""
_STEM = 3
"""Letters in which forms of a word agree: open, opens, opening."""
_TOKENS_A_WORD = 3


def names_question(text: str) -> Question[str]:
    """The text with a pronoun for every person."""
    template = '{"text": "…"}'
    asked = render("actions/names", text=quoted(text), template=template)

    def read(answer: str) -> str:
        made = sentence(record_in(answer, ["text"])["text"], "text")
        if len(made) > 2 * len(text) + 40:
            raise Unreadable("The rewritten text is much longer than the text.")
        new = [word for word in _words(made) if word not in _SOMEBODY and not _is_in(word, text)]
        if new:
            raise Unreadable(f"The rewritten text says {json.dumps(new[0])}, and the text does not.")
        return made

    schema = schema_of({"text": {"type": "string"}})
    return Question(_messages("actions/system-names", asked), schema, template, read, tokens=_room(text))


def split_question(text: str) -> Question[tuple[str, ...]]:
    """The actions of a text, each a sentence of one verb phrase."""
    template = '{"actions": ["…", "…", …]}'
    asked = render("actions/split", text=quoted(text), template=template)
    most = max(3, len(text.split()))

    def read(answer: str) -> tuple[str, ...]:
        found = sentences(record_in(answer, ["actions"])["actions"], "actions", most)
        for one in found:
            if _strays(one, text):
                raise Unreadable(f"The text does not say {json.dumps(one, ensure_ascii=False)}.")
        return found

    schema = schema_of({"actions": {"type": "array", "items": {"type": "string"}}})
    return Question(_messages("actions/system-split", asked), schema, template, read, tokens=_room(text))


def _room(text: str) -> int:
    return 64 + 2 * _TOKENS_A_WORD * len(text.split())


def _strays(made: str, source: str) -> bool:
    """Whether most words of a text are in no form in the one that it was made of.

    One word alone does not count: it may be another form of the text's own (sat, sits).
    """
    words = _words(made)
    new = [word for word in words if not _is_in(word, source)]
    return len(words) > 1 and 2 * len(new) > len(words)


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word not in _SMALL]


def _is_in(word: str, text: str) -> bool:
    return any(one[:_STEM] == word[:_STEM] for one in re.findall(r"\w+", text.lower()))


def _messages(system: str, text: str) -> tuple[Message, ...]:
    return Message("system", render(system)), Message("user", text)
