"""The resolver that is built in: names by rules, pronouns by gender and recency. No model, English only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shotad.evaluation.critic.clauses import Place, places
from shotad.evaluation.critic.document import Document, People
from shotad.evaluation.critic.focus import PAUSE, Focus
from shotad.evaluation.critic.genders import leads, learned
from shotad.evaluation.critic.lines import Line
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.rows import Json
from shotad.script.names.members import Member, members
from shotad.script.names.mentions import Mention, book_of, mentions
from shotad.script.names.tokens import Token, respelt, tokens_of

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


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands in the lines of a film: its cast, words, people, and their places in the lines."""

    cast: tuple[Member, ...]
    lines: tuple[tuple[Token, ...], ...]
    found: tuple[tuple[Mention, ...], ...]
    where: tuple[tuple[Place, ...], ...]


def read(document: Document) -> Reading:
    """Everybody who is named or meant in a film's lines; pronouns not yet resolved."""
    cast = members(document.cast)
    lines, _ = respelt(cast, [tokens_of(sentence) for sentence in document.sentences])
    book = book_of(cast, lines)
    found = tuple(mentions(line, cast, book) for line in lines)
    where = tuple(places(line, those) for line, those in zip(lines, found, strict=True))
    return Reading(cast, tuple(lines), found, where)


def resolved(document: Document, groups: bool = True) -> tuple[People, ...]:
    """Whom of the cast each sentence means, by name or by pronoun."""
    text = read(document)
    pronouns = learned(text.cast, list(zip(text.found, text.where, strict=True)))
    focus = Focus(pronouns, leads(text.cast, text.found, pronouns), groups)
    people: list[People] = []
    for at, (line, found, where) in enumerate(zip(text.lines, text.found, text.where, strict=True)):
        if at and document.starts and document.starts[at] - document.starts[at - 1] > PAUSE:
            focus.forget()
        meant = focus.read(Line(line, found, where))
        people.append(tuple(sorted({text.cast[place].name for place in meant})))
    return tuple(people)


def named(document: Document) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """The names alone, for each sentence: where each begins and ends in it, and whose it is; those that
    several share are left out."""
    text = read(document)
    return tuple(
        tuple(
            (line[mention.start].at, line[mention.end - 1].end, text.cast[mention.members[0]].name)
            for mention in found
            if len(mention.members) == 1
        )
        for line, found in zip(text.lines, text.found, strict=True)
    )
