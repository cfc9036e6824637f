"""The resolver that is built in: names by rules, pronouns by gender and recency. No model, English only."""

from __future__ import annotations

from collections.abc import Sequence

from shotad.evaluation.critic.clauses import places
from shotad.evaluation.critic.document import Document, People
from shotad.evaluation.critic.focus import PAUSE, Focus
from shotad.evaluation.critic.genders import by_name, learned
from shotad.evaluation.critic.members import members
from shotad.evaluation.critic.mentions import book_of, mentions, tokens_of
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.rows import Json

_VERSION = 1


class PlainResolver:
    """Names in full and in part; ``he`` and ``she`` by who is in focus; ``they`` for those named together
    (not with the published code's rules, by which a mention of several is nobody's)."""

    title = "plain resolver"
    remarks = (
        "Pronouns were resolved by the plain resolver that is built in (names by rules, pronouns by gender "
        "and recency), not by the coreference model of the paper: compare only with figures made so.",
    )
    comparable = False
    uses_time = True

    def __init__(self, bench: Bench) -> None:
        self._groups = bench.settings.critic.rules != "code"

    @property
    def identity(self) -> Json:
        return {"resolver": "plain", "version": _VERSION, "groups": self._groups}

    def resolve(self, documents: Sequence[Document]) -> list[tuple[People, ...]]:
        """Whom each sentence of each film means."""
        return [resolved(document, self._groups) for document in documents]


def resolved(document: Document, groups: bool = True) -> tuple[People, ...]:
    """Whom of the cast each sentence means, by name or by pronoun."""
    cast = members(document.cast)
    lines = [tokens_of(sentence) for sentence in document.sentences]
    book = book_of(cast, lines)
    found = [mentions(line, cast, book) for line in lines]
    where = [places(line, those) for line, those in zip(lines, found, strict=True)]
    pronouns = learned(list(zip(found, where, strict=True)), [by_name(one) for one in cast])
    focus = Focus(pronouns, groups)
    people: list[People] = []
    for at, (line, those, there) in enumerate(zip(lines, found, where, strict=True)):
        if at and document.starts and document.starts[at] - document.starts[at - 1] > PAUSE:
            focus.forget()
        meant = focus.read(line, those, there)
        people.append(tuple(sorted({cast[place].name for place in meant})))
    return tuple(people)
