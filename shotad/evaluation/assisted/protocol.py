"""Candidates scored, chosen from, and the choice measured, beside the first, a random and the best one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from shotad.core.errors import EvaluationError
from shotad.evaluation.assisted.candidates import Offers
from shotad.evaluation.assisted.expert import (
    EXPERT,
    Choice,
    best_of,
    best_result,
    expert_scores,
    random_result,
)
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus
from shotad.evaluation.measure.metric import ENGINE_METRICS, make_metric
from shotad.evaluation.measure.rows import Result, Row
from shotad.evaluation.measure.scoring import score
from shotad.evaluation.report.inputs import base_name
from shotad.evaluation.running import WHOLE, Measured, measure

Role = Literal["chosen", "first", "random", "best"]
ROLES: tuple[Role, ...] = ("chosen", "first", "random", "best")
"""The expert's choice; the first candidate; a random one, on average; by each metric its own best."""

ALONG = ("repetition", "repetition-meaning", "names-kept")
"""Metrics of a line among those before it: no single candidate is the best by them."""


@dataclass(frozen=True, slots=True)
class Assisted:
    """What came of the protocol.

    ``corpus`` has the chosen candidates as predictions; ``choices`` has one for each of ``measured.places``.
    ``others`` are the results of the other roles, by role and the metric's name; metrics that ask an engine
    have none, and those of whole sequences only that of the first candidates. ``sizes``: how many ADs have
    how many candidates. ``expert``: title of each metric that the expert goes by, by its name.
    """

    corpus: Corpus
    measured: Measured
    choices: tuple[Choice, ...]
    others: Mapping[Role, Mapping[str, Result]]
    sizes: Mapping[int, int]
    expert: Mapping[str, str]

    def result(self, role: Role, name: str) -> Result | None:
        """The result of a metric in a role."""
        if role == "chosen":
            return next((result for result in self.measured.results if result.name == name), None)
        return self.others[role].get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics that were measured."""
        return tuple(result.name for result in self.measured.results)


def assist(
    corpus: Corpus,
    names: Sequence[str],
    bench: Bench,
    *,
    expert: Sequence[str] = EXPERT,
    done: Callable[[str, Result], None] = lambda role, result: None,
) -> Assisted:
    """Let the expert choose from the candidates in ``corpus``, and measure the choice by these metrics.

    Frequencies of words are those of all references. An AD without any candidate counts as 0, or is left out
    where `measures.missing` says so. ``done`` is told each result of a role as it comes.

    The first, the random and the best of metrics that look at a film's lines together (CRITIC) are of the
    films in which all lines have the same number. Raises EvaluationError where there is nothing to choose
    from, and where a metric of the expert cannot run.
    """
    offers = Offers.of(corpus)
    if offers.most < 2:
        raise EvaluationError(
            "No AD in the predictions has two candidates or more.",
            "Make them: shotad predict … --candidates 5 --sampling joint.",
        )
    places = _places(offers, bench)
    ranks = _Ranks(offers, places, bench)
    by = {name: ranks.of(name) for name in expert}
    choices = _choices(offers, places, list(by.values()))
    numbers = dict(zip(places, (choice.number for choice in choices), strict=True))
    chosen = offers.chosen([numbers.get(place) for place in range(len(corpus.items))])
    measured = measure(chosen, names, bench, shard=WHOLE, done=lambda result: done("chosen", result))
    others: dict[Role, dict[str, Result]] = {"first": {}, "random": {}, "best": {}}
    for result in measured.results:
        if base_name(result.name) not in ENGINE_METRICS:
            for role, other in _others(result.name, ranks):
                others[role][result.name] = other
                done(role, other)
    titles = {name: results[0].title for name, results in by.items()}
    return Assisted(chosen, measured, choices, others, offers.sizes(places), titles)


def _others(name: str, ranks: _Ranks) -> Iterator[tuple[Role, Result]]:
    """The metric in the other roles that it has."""
    if name in ALONG:
        yield "first", ranks.first(name)
        return
    several = ranks.of(name)
    yield "first", several[0]
    yield "random", random_result(several)
    yield "best", best_result(several)


class _Ranks:
    """Results of all first, all second … candidates, by metric; each is scored when it is asked for."""

    def __init__(self, offers: Offers, places: Sequence[int], bench: Bench) -> None:
        self._bench = bench
        self._places = places
        self._having = [offers.having(number, places) for number in range(offers.most)]
        self._corpora = [offers.rank(number) for number in range(offers.most)]
        self._known: dict[str, list[Result]] = {}

    def of(self, name: str) -> list[Result]:
        """The first has a row of every place, each later one of those that have so many candidates."""
        if name not in self._known:
            metric = make_metric(name, self._bench)
            later = zip(self._corpora[1:], self._having[1:], strict=True)
            self._known[name] = [
                score(metric, self._corpora[0], self._bench, self._places),
                *(score(metric, corpus, self._bench, having) for corpus, having in later),
            ]
        return self._known[name]

    def first(self, name: str) -> Result:
        """That of all first candidates alone."""
        return score(make_metric(name, self._bench), self._corpora[0], self._bench, self._places)


def _places(offers: Offers, bench: Bench) -> list[int]:
    """The places that count: all, or those with a candidate."""
    every = range(len(offers.lines))
    return [place for place in every if offers.lines[place] or bench.settings.missing == "zero"]


def _choices(
    offers: Offers, places: Sequence[int], results: Sequence[Sequence[Result]]
) -> tuple[Choice, ...]:
    """The expert's choice at each place. ``results`` has for each of its metrics those of all ranks."""
    rows = [[{row.id: row for row in rank.rows} for rank in ranks] for ranks in results]
    return tuple(_choice(offers, place, rows) for place in places)


def _choice(offers: Offers, place: int, rows: Sequence[Sequence[Mapping[str, Row]]]) -> Choice:
    name, lines = offers.corpus.items[place].id, offers.lines[place]
    if not lines:
        return Choice(name, None, (), None)
    scores = expert_scores([[rank[name] for rank in ranks[: len(lines)]] for ranks in rows])
    number = best_of(scores)
    return Choice(name, number, scores, None if number is None else lines[number])
