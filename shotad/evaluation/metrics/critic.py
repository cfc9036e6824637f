"""CRITIC: whom the human AD means, and whom the prediction means, as intersection over union of the names.

Han et al., AutoAD III (CVPR 2024), and the code published with it; as reported in Shot-by-Shot. Whom each
line of a film means is said by a resolver, chosen by name.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from shotad.core import EvaluationError, did_you_mean, key_of
from shotad.evaluation.metric import Corpus, Json, Metric, Row
from shotad.evaluation.store import MetricContext

RESOLVERS = {
    "plain": "shotad.evaluation.metrics.pronouns:PlainResolver",
    "fastcoref": "shotad.evaluation.metrics.coref:FastCoref",
    "lingmess": "shotad.evaluation.metrics.coref:LingMess",
}
"""Name → ``module:Class``; imported when it is asked for, and made with the `MetricContext`."""


def make_resolver(name: str, context: MetricContext) -> Resolver:
    """The resolver ``name``, or of a class that is written out as ``module:Class``.

    Raises EvaluationError for one that is unknown, or that cannot run here.
    """
    where = RESOLVERS.get(name, name)
    module, colon, attribute = where.partition(":")
    if not colon:
        raise EvaluationError(
            f"There is no resolver {name!r} for CRITIC.",
            f"{did_you_mean(name, RESOLVERS)}Known: {', '.join(RESOLVERS)}, or a class of your own as "
            "module:Class.",
        )
    try:
        made: Resolver = getattr(importlib.import_module(module), attribute)(context)
    except (ImportError, AttributeError) as error:
        raise EvaluationError(
            f"The resolver {where} of CRITIC cannot be loaded: {error}.",
            "Name a class that can be imported, as module:Class.",
        ) from None
    return made


_VERSION = 1
NO_CAST = "no cast list for this film"


class Critic(Metric):
    """Mean IoU over the ADs whose human line means somebody of the cast.

    ``paper``: the resolver reads the human lines of a film, and the predicted ones, each as one document with
    the cast, so that pronouns are names in both; ADs whose human line means nobody are left out. ``code``:
    the same, with the published code's particulars (an empty prediction is the word ``nan``; what is somebody
    is said by the resolver under these rules). ``all``: as ``paper``, and an AD whose human line means nobody
    counts as 0 where the prediction means somebody.
    """

    title = "CRITIC"
    columns = ("overlap", "ADs")

    def __init__(self, name: str, context: MetricContext) -> None:
        """No model is loaded. Raises EvaluationError for a resolver that cannot run here."""
        super().__init__(name, context)
        self._context = context
        self._rules = context.settings.critic.rules
        self._resolver = make_resolver(context.settings.critic.resolver, context)
        self._missing: tuple[int, int] = (0, 0)

    @property
    def identity(self) -> Json:
        return {"metric": "critic", "version": _VERSION, "rules": self._rules, **self._resolver.identity}

    @property
    def remarks(self) -> tuple[str, ...]:
        films, ads = self._missing
        without = f"{ads} ADs of {films} films have no cast list and are not scored."
        return (*self._resolver.remarks, *((without,) if films else ()))

    @property
    def comparable(self) -> bool:
        """With the paper's coreference model, and counted as the published figures were."""
        return self._resolver.comparable and self._rules == "code"

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """A row depends on all lines of its film, human and predicted: a pronoun means who was spoken of.

        Raises EvaluationError where no film has a cast.
        """
        without = {item.film for item in corpus.items if not corpus.casts.get(item.film)}
        self._missing = len(without), sum(item.film in without for item in corpus.items)
        found: dict[int, Json] = {}
        for film in _films(corpus, places):
            human, predicted = map(key_of, map(asdict, self._documents(corpus, film)))
            for number, place in enumerate(film):
                item = corpus.items[place]
                found[place] = {"human": human, "predicted": predicted, "line": number}
                if item.prediction is None:
                    found[place]["failure"] = item.missing
        return [found[place] for place in places]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        """The rows of these places; a film is resolved when the first of its rows is wanted."""
        films = {place: film for film in _films(corpus, places) for place in film}
        done: dict[int, Row] = {}
        for place in places:
            if place not in done:
                done.update(self._film(corpus, films[place]))
            yield done[place]

    def _film(self, corpus: Corpus, film: Sequence[int]) -> Iterator[tuple[int, Row]]:
        """A film's rows by place: IoU of the two sets of names; nothing where the human AD means nobody."""
        documents = self._documents(corpus, film)

        def read(new: list[Document]) -> list[dict[Document, bytes]]:
            found = zip(new, self._resolver.resolve(new), strict=True)
            return [{document: json.dumps(people).encode() for document, people in found}]

        has_cast = bool(documents[0].cast)
        # Whom the lines of each document mean, from the store where they were read before.
        keys = {document: key_of(asdict(document)) for document in documents if has_cast}
        known = self._context.store.filled(f"critic/{key_of(self._resolver.identity)}", keys, read)
        nobody: list[list[str]] = [[]] * len(film)
        human, predicted = (json.loads(known[one]) if has_cast else nobody for one in documents)
        for place, wanted, said in zip(film, human, predicted, strict=True):
            item = corpus.items[place]
            notes = {"human": wanted, "predicted": said} if has_cast else {"why": NO_CAST}
            if wanted or (said and self._rules == "all"):
                overlap = len(set(wanted) & set(said)) / len(set(wanted) | set(said))
                yield place, Row(item.id, (overlap, 1.0), 100.0 * overlap, item.missing, notes)
            else:
                yield place, Row(item.id, (0.0, 0.0), None, item.missing, notes)

    def _documents(self, corpus: Corpus, film: Sequence[int]) -> tuple[Document, Document]:
        """The human lines of a film, and the predicted ones."""
        items = [corpus.items[place] for place in film]
        cast = corpus.casts.get(items[0].film, ())
        starts = tuple(item.interval.start for item in items) if self._resolver.uses_time else ()
        human = tuple(item.reference for item in items)
        predicted = tuple(item.prediction or "" for item in items)
        if self._rules == "code":
            # What an empty prediction becomes on the published code's way through a table.
            predicted = tuple(text if text.strip() else "nan" for text in predicted)
        return Document(human, cast, starts), Document(predicted, cast, starts)


def _films(corpus: Corpus, places: Sequence[int]) -> list[list[int]]:
    """The films of these places, each with all its places in order of time."""
    wanted = {corpus.items[place].film for place in places}
    return [film for name, film in corpus.films().items() if name in wanted]


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


class Resolver(Protocol):
    """Says who is meant. A class is made with the whole `MetricContext`, cheaply; its model is loaded when
    it is first asked.

    ``remarks`` are what the report must say of it; ``comparable``: it is the one that the published numbers
    were made with; ``identity`` is all that changes an answer (version, model, settings); ``uses_time``:
    `Document.starts` change its answers.
    """

    remarks: tuple[str, ...]
    comparable: bool
    identity: Json
    uses_time: bool

    def resolve(self, documents: Sequence[Document]) -> list[tuple[People, ...]]:
        """For each document whom of its cast each sentence means, by names as the cast has them."""
        ...
