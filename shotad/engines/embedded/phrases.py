"""Clauses, and the wordings for things, text, light and movement, several for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from shotad.core import LightFact, Named, TextFact, ThingFact
from shotad.engines.embedded.naming import by_pronoun
from shotad.engines.embedded.quotes import Quote
from shotad.engines.embedded.words import agree, counted

_NAMES = {
    "tv": "television", "cell phone": "phone", "couch": "sofa", "sports ball": "ball",
    "dining table": "table", "potted plant": "plant", "hair drier": "hair dryer", "donut": "doughnut",
    "motorcycle": "motorbike",
}  # fmt: skip
"""COCO's names where they are not what one says."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One wording of a statement: subject, verb phrase in its base form, and what hangs on them.

    ``detail`` (hair, clothes) follows the subject and may be dropped; so may the adverbials ``where``,
    most useful first; ``tail`` and ``quotes`` may not.
    """

    subject: str
    verb: str
    many: bool = False
    where: tuple[str, ...] = ()
    detail: str = ""
    tail: str = ""
    quotes: tuple[Quote, ...] = ()
    join: str = "and"
    """How quotes follow each other: "and" at one time, "then" one after the other."""

    @property
    def core(self) -> str:
        """Subject and verb, agreeing, without what may be dropped."""
        return f"{self.subject} {agree(self.verb, self.many)}"

    def body(self, adverbials: int, last: bool) -> str:
        """The clause with so many of its adverbials at its end; ``last`` closes a final quotation."""
        subject = [part for part in (self.subject, self.detail) if part]
        verb = agree(self.verb, self.many)
        words = " ".join([*subject, verb, *self.where[:adverbials]]).replace(" ,", ",") + self.tail
        return words if not self.quotes else f"{words}: {self._quoted(last)}"

    def bare(self) -> Clause:
        """The clause without what may be dropped."""
        return replace(self, where=(), detail="")

    def another(self, named: bool = False) -> Clause:
        """The same of a second person, seen beside the first, who was ``named``."""
        return replace(self, subject="another person" if named else "another", many=False)

    def of_face(self) -> Clause:
        """The same of a face: whose it is stays open where it may be that of the person told before."""
        verb = "appear" if self.verb in ("keep still", "stay still") else self.verb
        return replace(self, subject="a face", verb=verb, detail="", many=False)

    def of_same(self, adjacent: bool) -> Clause:
        """The same of the person that the sentence is about already: no subject, or "the same person"."""
        return replace(self, subject="" if adjacent else "the same person", detail="", many=False)

    def going_on(self, named: Named, by_pronoun: bool) -> Clause:
        """The same without a subject, after one that was a name, or its pronoun."""
        return replace(self, subject="", many=by_pronoun and named.pronoun == "they")

    def of_pronoun(self, named: Named) -> Clause:
        """The same with "he" or "his face" where it has the name."""
        subject = by_pronoun(self.subject, named)
        return replace(self, subject=subject, many=subject == "they")

    def _quoted(self, last: bool) -> str:
        *before, final = self.quotes
        parts = [quote.inside() for quote in before]
        if self.join == "then":
            parts = [f'{part[:-1]},"' if part[-2] not in "!?…" else part for part in parts]
        closing = final.at_end() if last else final.inside()
        return f" {self.join} ".join([*parts, closing])


_LIGHT = {
    "fade-out": (Clause("everything", "go dark"), Clause("darkness", "fall"), Clause("all", "go dark")),
    "fade-in": (Clause("the darkness", "lift"), Clause("darkness", "give way to light")),
    "flash": (Clause("light", "flash"), Clause("a bright light", "flash"), Clause("light", "flare up")),
    "black": (Clause("everything", "be dark"), Clause("all", "be dark")),
    "white": (Clause("everything", "be white"),),
}


def thing_noun(fact: ThingFact) -> str:
    """What one says for a detector's class: "a phone" for cell phone, "two dogs"."""
    return counted(_NAMES.get(fact.name, fact.name), fact.count)


def appear_clauses(
    nouns: Iterable[str], many: bool, where: tuple[str, ...], named: bool = False
) -> tuple[Clause, ...]:
    """ "A person and a dog appear", "there are two boats"; that somebody ``named`` exists is no news."""
    subject = listed(nouns)
    appear = Clause(subject, "appear", many, where)
    if named:
        return (appear,)
    return (
        appear,
        Clause("there", f"be {subject}", many and not subject.startswith(("a ", "an ")), where),
    )


def listed(nouns: Iterable[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    *before, last = nouns
    return f"{', '.join(before)} and {last}" if before else last


def text_clauses(kind: str, quotes: tuple[Quote, ...], join: str, appearing: bool) -> tuple[Clause, ...]:
    """The ways to read words aloud; a text of which only the beginning fits is said to begin so."""
    one = len(quotes) == 1
    if appearing:
        return (Clause("credits", "appear", True, quotes=quotes, join=join),)
    if one and not quotes[0].whole:
        return (Clause("a text", "begin", quotes=quotes),)
    if kind == "sign":
        return (Clause("a sign" if one else "signs", "read", not one, quotes=quotes, join=join),)
    if kind == "credit":
        return (Clause("a credit" if one else "credits", "read", not one, quotes=quotes, join=join),)
    if one and quotes[0].single:
        return (Clause("a title", "read", quotes=quotes), Clause("a title", "appear", quotes=quotes))
    words = Clause("words", "appear", True, quotes=quotes, join=join)
    return (words, Clause("a title" if one else "titles", "read", not one, quotes=quotes, join=join))


def text_words(fact: TextFact) -> int:
    """Words that a text's introduction takes at least: "words appear"."""
    return 3 if fact.kind in ("sign", "credit") else 2


def light_clauses(fact: LightFact) -> tuple[Clause, ...]:
    """A change of light, or a level where there is no change; empty for a level not to speak of."""
    if fact.change == "fade-out" and fact.level == "white":
        return (Clause("everything", "turn white"),)
    return _LIGHT.get(fact.change or fact.level, ())


def contrast_clauses(to_light: bool, black: bool) -> tuple[Clause, ...]:
    """From one shot to the next it turns from dark to bright, or back."""
    low = "darkness" if black else "dim light"
    if to_light:
        return (Clause(low, "give way to bright light"), Clause(low, "turn to brightness"))
    return (Clause("bright light", f"give way to {low}"), Clause("brightness", f"turn to {low}"))


def motion_clauses() -> tuple[Clause, ...]:
    """That much moves, without knowing what."""
    return (Clause("there", "be much movement"), Clause("there", "be a lot of movement"))
