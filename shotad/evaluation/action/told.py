"""What a prediction says, as the action score sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from shotad.evaluation.measure.texts import ParseService
from shotad.script import Parse, Token

VERB = "VERB"
"""Part of speech of full verbs; auxiliaries are AUX."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """An action phrase, and the lemma of its verb, particles included (``pick up``); None where it has
    none that counts."""

    text: str
    lemma: str | None


@dataclass(frozen=True, slots=True)
class Told:
    """A prediction's texts, without those that are phrases too, and its action phrases; each once, in the
    order in which they stand in the prediction."""

    texts: tuple[str, ...] = ()
    phrases: tuple[Phrase, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.texts or self.phrases)


class Rules(Protocol):
    """One way to read predictions and human actions."""

    skips: bool
    """Items without a prediction are left out, as in the published code, instead of counting as 0."""

    def told(self, texts: Sequence[str], parses: ParseService, *, paragraphs: bool) -> dict[str, Told]:
        """What each text says. ``paragraphs``: they are descriptions in steps, and not ADs."""
        ...

    def lemma(self, action: Parse) -> str | None:
        """The lemma of a human action's verb, particles included; None where it has none."""
        ...


def lemma_at(parse: Parse, verb: int, base: Callable[[Token], str] = lambda token: token.lemma) -> str | None:
    """The lemma of the verb at this place with its particles, None for a mere ``be``. ``base`` says a verb's
    own lemma."""
    particles = [parse.tokens[c].text for c in parse.children[verb] if parse.tokens[c].dep == "prt"]
    found = " ".join([base(parse.tokens[verb]), *particles])
    return None if found == "be" else found


def first_lemma(parse: Parse, base: Callable[[Token], str] = lambda token: token.lemma) -> str | None:
    """The lemma of the first verb but ``be``."""
    found = (lemma_at(parse, place, base) for place, token in enumerate(parse.tokens) if token.pos == VERB)
    return next((lemma for lemma in found if lemma is not None), None)
