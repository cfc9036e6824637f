"""What is resolved: the lines of one film in order, with its cast, and whom each of them means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from shotad.evaluation.measure.rows import Json

People = tuple[str, ...]
"""Names of the cast, sorted, each once."""


@dataclass(frozen=True, slots=True)
class Document:
    """One film's AD: ``sentences`` in order of time (an empty one says nothing), ``starts`` their seconds in
    the film (one for each, or none where they are not known), ``cast`` the characters as the list has them;
    equal ones are one."""

    sentences: tuple[str, ...]
    cast: tuple[str, ...]
    starts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.starts and len(self.starts) != len(self.sentences):
            raise ValueError(f"{len(self.starts)} starts for {len(self.sentences)} sentences")


class Resolver(Protocol):
    """Says who is meant. A class is made with the whole `Bench`, cheaply; its model is loaded when it is
    first asked."""

    @property
    def title(self) -> str:
        """For the report."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the report must say of it."""
        ...

    @property
    def comparable(self) -> bool:
        """Whether it is the one that the published numbers were made with."""
        ...

    @property
    def identity(self) -> Json:
        """All that changes an answer: version, model, settings."""
        ...

    @property
    def uses_time(self) -> bool:
        """Whether `Document.starts` change its answers."""
        ...

    def resolve(self, documents: Sequence[Document]) -> list[tuple[People, ...]]:
        """For each document whom of its cast each sentence means, by names as the cast has them."""
        ...
