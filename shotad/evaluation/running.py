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

    A metric that was named and cannot run, or a judge that was, is an error before anything is scored; of
    ``all``, one that cannot is left out with its reason, also where that comes to light at work. ``shard``:
    the films of that part alone are scored, with words' frequencies and neighbours of the whole. Raises
    EvaluationError where no metric is named, and where none of ``all`` can be counted.
    """
    ready, left_out = _ready(names, corpus, bench)
    places = shard_places(corpus, shard)
    if bench.settings.missing == "skip":
        places = [place for place in places if corpus.items[place].prediction is not None]
    results = []
    for asked, metric in ready:
        try:
            results.append(score(metric, corpus, bench, places))
        except ShotadError as error:
            if asked.by_name:
                raise
            left_out.append((asked.name, str(error)))
            continue
        done(results[-1])
    if not results:
        told = " ".join(f"{name}: {reason}" for name, reason in left_out)
        raise EvaluationError(f"Nothing could be measured. {told}")
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


@dataclass(frozen=True, slots=True)
class _Asked:
    """A metric that is wanted: by its own name or as one of ``all``; ``judged`` by a judge that was named."""

    name: str
    by_name: bool
    judged: bool


def _ready(
    names: Sequence[str], corpus: Corpus, bench: Bench
) -> tuple[list[tuple[_Asked, Metric]], list[tuple[str, str]]]:
    """The metrics that can run, and those that cannot, with the reason."""
    ready, left_out = [], []
    for asked in _asked(names, bench):
        reason = _without(asked.name, corpus, bench)
        if reason is None:
            try:
                metric = make_metric(asked.name, bench)
                # Models are found, or fetched, before the first metric is counted: an hour later is too late.
                _ = metric.identity
                ready.append((asked, metric))
                continue
            except ShotadError as error:
                if asked.by_name or asked.judged:
                    raise
                reason = str(error)
        elif asked.by_name:
            raise EvaluationError(f"{asked.name} cannot be measured: {reason}")
        left_out.append((asked.name, reason))
    return ready, left_out


def _asked(names: Sequence[str], bench: Bench) -> Iterator[_Asked]:
    """Each metric once; those by a judge once for each. Capitals in a metric's name do not matter."""
    from shotad.evaluation.judges.names import judge_names

    if not names:
        raise EvaluationError("No metric is named.", "Name some, or all.")
    plain = [_small(name) for name in names]
    seen: set[str] = set()
    for name in plain:
        for one in METRICS if name == ALL else (name,):
            if name == ALL and one in plain:
                continue
            judged = one in ENGINE_METRICS and bool(bench.settings.judge.engines)
            for full in judge_names(one, bench.settings.judge) if judged else (one,):
                if full not in seen:
                    seen.add(full)
                    yield _Asked(full, name != ALL, judged)


def _small(name: str) -> str:
    metric, at, judge = name.partition("@")
    return f"{metric.lower()}{at}{judge}"


def _without(name: str, corpus: Corpus, bench: Bench) -> str | None:
    """Why a metric can say nothing of this corpus; None where it can."""
    plain = name.partition("@")[0]
    if plain in ENGINE_METRICS and "@" not in name and not bench.settings.judge.engines:
        return "No judge is named. Name an engine: --judge openai:MODEL, --judge llama3:FOLDER."
    if plain == "action-description" and not any(item.description for item in corpus.items):
        return "The predictions hold no descriptions of Stage I."
    if plain in ("action", "action-description", "llm-action") and not any(i.actions for i in corpus.items):
        return "No actions of the human AD are known. Make them: shotad evaluate actions."
    if plain in ("critic", "names-kept") and not any(corpus.casts.get(item.film) for item in corpus.items):
        return "No cast lists of these films are known. Name a file: --casts FILE."
    return None
