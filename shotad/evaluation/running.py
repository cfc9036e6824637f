"""``evaluate ad``: which metrics run, on which items, and what could not be measured and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from shotad.errors import EvaluationError, ShotadError
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus
from shotad.evaluation.measure.metric import ENGINE_METRICS, METRICS, Metric, make_metric
from shotad.evaluation.measure.rows import Result
from shotad.evaluation.measure.scoring import score
from shotad.evaluation.predicting.choosing import Shard

ALL = "all"
"""All metrics that can run on what was given."""
WHOLE = Shard()


@dataclass(frozen=True, slots=True)
class Measured:
    """The results, the places in the corpus that were scored, and what was left out with the reason."""

    results: tuple[Result, ...]
    places: tuple[int, ...]
    left_out: tuple[tuple[str, str], ...] = ()


def measure(
    corpus: Corpus,
    names: Sequence[str],
    bench: Bench,
    *,
    shard: Shard = WHOLE,
    done: Callable[[Result], None] = lambda _: None,
) -> Measured:
    """Score ``corpus`` by the metrics of these names; ``done`` is told each result as it comes.

    A metric that was named and cannot run is an error before anything is scored; of ``all``, one that cannot
    is left out with its reason. ``shard``: the films of that part alone are scored, with words'
    frequencies and neighbours of the whole.
    """
    metrics, left_out = _metrics(names, corpus, bench)
    places = shard_places(corpus, shard)
    if bench.settings.missing == "skip":
        places = [place for place in places if corpus.items[place].prediction is not None]
    results = []
    for metric in metrics:
        results.append(score(metric, corpus, bench, places))
        done(results[-1])
    return Measured(tuple(results), tuple(places), tuple(left_out))


def shard_places(corpus: Corpus, shard: Shard) -> list[int]:
    """The places of a shard: whole films, shards of about the same size.

    The largest films are given out first, each to the smallest shard so far, so that all machines
    come to the same division.
    """
    loads: list[list[int]] = [[] for _ in range(shard.of)]
    films = corpus.films()
    for film in sorted(films, key=lambda name: (-len(films[name]), name)):
        min(loads, key=len).extend(films[film])
    return sorted(loads[shard.number - 1])


def _metrics(
    names: Sequence[str], corpus: Corpus, bench: Bench
) -> tuple[list[Metric], list[tuple[str, str]]]:
    metrics, left_out = [], []
    for name, wanted in _names(names, bench):
        reason = _without(name, corpus, bench)
        if reason is None:
            try:
                metrics.append(make_metric(name, bench))
                continue
            except ShotadError as error:
                if wanted:
                    raise
                reason = str(error)
        elif wanted:
            raise EvaluationError(f"{name} cannot be measured: {reason}")
        left_out.append((name, reason))
    return metrics, left_out


def _names(names: Sequence[str], bench: Bench) -> Iterator[tuple[str, bool]]:
    """Each metric once, with whether it was asked for by its own name; judges once for each engine."""
    from shotad.evaluation.judges.names import judge_names

    seen = set()
    for name in names:
        for one in METRICS if name == ALL else (name,):
            judged = one in ENGINE_METRICS and bench.settings.judge.engines
            for full in judge_names(one, bench.settings.judge) if judged else (one,):
                if full not in seen and not (one in names and name == ALL):
                    seen.add(full)
                    yield full, name != ALL


def _without(name: str, corpus: Corpus, bench: Bench) -> str | None:
    """Why a metric can say nothing of this corpus; None where it can."""
    plain = name.partition("@")[0]
    if plain in ENGINE_METRICS and "@" not in name and not bench.settings.judge.engines:
        return "No judge is named. Name an engine: --judge openai:MODEL, --judge llama3:FOLDER."
    if plain == "action-description" and not any(item.description for item in corpus.items):
        return "The predictions hold no descriptions of Stage I."
    if plain in ("action", "action-description", "llm-action") and not any(i.actions for i in corpus.items):
        return "No actions of the human AD are known. Make them: shotad evaluate actions."
    if plain in ("critic", "names-kept") and not corpus.casts:
        return "No cast lists are known. Name a file: --casts FILE."
    return None
