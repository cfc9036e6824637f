"""Predictions against human ADs: the files read, which metrics run and on which items, what could not be
measured and why; all that a report is made from, with files named by their content."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from shotad.core import (
    Config,
    EvaluationError,
    Progress,
    ShotadError,
    file_sha256,
    load_config,
    without_secrets,
)
from shotad.evaluation.datasets.dataset import WHOLE, Dataset, Shard
from shotad.evaluation.datasets.loading import load_dataset
from shotad.evaluation.datasets.tables import MISSING, NOTE, Finding, read_records
from shotad.evaluation.metric import (
    ENGINE_METRICS,
    METRICS,
    Corpus,
    Item,
    Json,
    Metric,
    Result,
    make_metric,
    score,
)
from shotad.evaluation.predictions import Joined, join, read_predictions
from shotad.evaluation.store import MetricContext, Store, kept_file

Protocol = Literal["single", "assisted", "inter-rater"]
"""One prediction for each AD; the best of several by an expert; another human AD."""

_NOTHING = ("", "no prediction")
"""Failures of an item that mean that there is no prediction for it."""


AND = " + "
"""Between the names of several files, and between their hashes."""


LeftOut = tuple[str, str]
"""A metric that was asked for and could not be counted, and why."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that a report speaks of.

    ``corpus`` is the whole dataset with its predictions; the results' rows may be those of a shard of it.
    ``predictions`` has the file's ``name``, its ``sha256``, and the ``system`` that made it. ``extra`` are of
    no AD, ``doubled`` ids came more than once. ``configs`` and ``assignments`` are what the user named by
    ``--config`` and ``--set``. ``title`` is the dataset's, ``titles`` are those of films by `Item.film`,
    where they are known. A report that was read has a ``name``, its folder's, and a ``head``, its
    ``report.json``.
    """

    corpus: Corpus
    config: Config
    predictions: Mapping[str, str]
    results: tuple[Result, ...] = ()
    extra: int = 0
    doubled: int = 0
    left_out: tuple[LeftOut, ...] = ()
    configs: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    title: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    protocol: Protocol = "single"
    notes: tuple[str, ...] = ()
    """For people: what else is to be said of this run."""
    findings: tuple[str, ...] = ()
    """For who looks on: what reading the files brought to light."""
    name: str = ""
    head: Json = field(default_factory=dict)

    @property
    def dataset(self) -> str:
        """The dataset's title, or its name."""
        return self.title or self.corpus.dataset or "no named dataset"

    @property
    def values(self) -> dict[str, float | None]:
        """The number of each metric by name; None where it is not defined."""
        return {result.name: result.value for result in self.results}

    def result(self, name: str) -> Result | None:
        """The result of this name."""
        return next((result for result in self.results if result.name == name), None)

    @property
    def system(self) -> str:
        """What the system is called whose predictions these are."""
        return self.predictions["system"] or self.predictions["name"] or self.name

    @property
    def items(self) -> tuple[Item, ...]:
        """All ADs of the dataset."""
        return self.corpus.items

    @property
    def films(self) -> dict[str, str]:
        """The film of each AD, by id."""
        return {item.id: item.film for item in self.items}

    @property
    def scored(self) -> tuple[Item, ...]:
        """The ADs that any result speaks of, in the corpus's order."""
        scored = {row.id for result in self.results for row in result.rows}
        return tuple(item for item in self.items if item.id in scored)

    @property
    def silent(self) -> tuple[Item, ...]:
        """The ADs of this report that have no prediction, or one that failed: they count as 0."""
        return tuple(item for item in self.scored if item.prediction is None)

    @property
    def counts(self) -> dict[str, int]:
        """How many ADs of this report nothing was predicted for (``missing``), of how many the prediction
        ``failed``, and how many were ``skipped``, because the user said so."""
        silent = self.silent
        missing = sum(item.failure in _NOTHING for item in silent)
        without = sum(item.prediction is None for item in self.items)
        skipped = without - len(silent) if self.config.measures.missing == "skip" else 0
        return {"missing": missing, "failed": len(silent) - missing, "skipped": skipped}


def base_name(name: str) -> str:
    """``llm-ad-eval@openai:gpt-4o → llm-ad-eval``: the metric without the judge."""
    return name.partition("@")[0]


def file_hash(path: Path) -> str:
    """SHA-256 of the file's bytes, in hex. Raises EvaluationError where it cannot be read."""
    try:
        return file_sha256(path)
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}.") from None


ALL = "all"
"""All metrics that can run on what was given."""

MADE_BY = "made_by"
"""The column in which `evaluate actions` says by what it made an action."""


def read_inputs(
    dataset: str,
    predictions: Sequence[Path],
    *,
    root: Path | None = None,
    annotation: Path | None = None,
    actions: Path | None = None,
    casts: Path | None = None,
    id_column: str | None = None,
    text_column: str | None = None,
    descriptions: Path | None = None,
    configs: Sequence[str | Config] = (),
    assignments: Sequence[str] = (),
    missing: str | None = None,
    judges: Sequence[str] = (),
    system: str = "",
    metrics: Sequence[str] = (ALL,),
) -> Report:
    """Everything read, before anything is scored. The dataset's own settings are added to ``configs``.

    What is missing or malformed is told only of the parts of the dataset that these ``metrics`` use. Several
    ``predictions`` are shards of one file. Raises DatasetError, EvaluationError, ConfigError.
    """
    data = load_dataset(dataset, root, annotation=annotation, actions=actions, casts=casts)
    own = [data.config] if data.config and data.config not in configs else []
    config = load_config(
        [*configs, *own], assignments, measures__missing=missing, measures__judge__engines=judges or None
    )
    read = read_predictions(*predictions, id_column=id_column, text_column=text_column)
    joined = join(data, read, read_predictions(descriptions) if descriptions else None)
    parts = _parts_used(metrics)
    told = [one for one in data.findings if one.level != NOTE and one.about in ("", *parts)]
    return Report(
        corpus=joined.corpus,
        config=config,
        predictions={
            "name": AND.join(path.name for path in predictions),
            "sha256": AND.join(map(file_hash, predictions)),
            "system": system,
        },
        extra=len(joined.extra),
        doubled=len(joined.doubled),
        # They stand in the report, which is passed on
        configs=tuple(without_secrets(one) for one in configs if isinstance(one, str)),
        assignments=tuple(without_secrets(text) for text in assignments),
        title=data.title,
        titles=data.films,
        notes=tuple(_notes(data, joined, descriptions, told, parts)),
        findings=tuple(f"{one.where}: {one.what}" for one in (*told, *joined.findings)),
    )


_NEEDED_BY_METRICS: Mapping[str, str] = {
    "action": "actions",
    "action-description": "actions",
    "llm-action": "actions",
    "critic": "casts",
    "names-kept": "casts",
}
"""The part of a dataset, beside the ADs themselves, that a metric compares with."""


def _parts_used(metrics: Sequence[str]) -> set[str]:
    """The parts of a dataset that these metrics use; with ``all`` those of every metric. Metrics use no
    shots."""
    names = {base_name(name.strip().lower()) for name in metrics}
    return {part for metric, part in _NEEDED_BY_METRICS.items() if metric in names or ALL in names}


def _notes(
    data: Dataset,
    joined: Joined,
    descriptions: Path | None,
    about_data: Sequence[Finding],
    parts: Container[str],
) -> Iterator[str]:
    """What must be known of the files to trust the numbers. What is missing is counted elsewhere."""
    if descriptions is not None:
        yield f"Stage I's texts are those of {descriptions.name}, SHA-256 {file_hash(descriptions)}."
    # By what the human ADs' actions were made, where their file says so, as `evaluate actions` does.
    path = data.files.get("actions") or data.files.get("annotation")
    if "actions" in parts and path is not None and any(ad.actions for ad in data.ads):
        told = {row.values.get(MADE_BY) for row in read_records(path).rows}
        if made := "; ".join(sorted(one for one in told if isinstance(one, str) and one)):
            yield f"The actions of the human ADs are not the published ones: made by {made}."
    read = list(about_data)
    read += [finding for finding in joined.findings if finding.level != MISSING]
    yield from (f"{finding.where}: {finding.what}" for finding in read)


def measure(
    corpus: Corpus,
    names: Sequence[str],
    context: MetricContext,
    *,
    shard: Shard = WHOLE,
    done: Callable[[Result], None] = lambda _: None,
) -> tuple[tuple[Result, ...], tuple[LeftOut, ...]]:
    """The results of ``corpus`` by the metrics of these names, and what was left out with the reason;
    ``done`` is told each result as it comes. Of ``shard`` the films of that part alone are scored.

    A metric that was named and cannot run, or a judge that was, is an error before anything is scored; of
    ``all``, one that cannot is left out, also where that comes to light at work. Raises EvaluationError where
    no metric is named, and where none of ``all`` can be counted.
    """
    ready, left_out = _ready(names, corpus, context)
    places = shard_places(corpus, shard)
    if context.settings.missing == "skip":
        places = [place for place in places if corpus.items[place].prediction is not None]
    results = []
    for by_name, metric in ready:
        try:
            results.append(score(metric, corpus, context, places))
        except ShotadError as error:
            if by_name:
                raise
            left_out.append((metric.name, str(error)))
            continue
        done(results[-1])
    if not results:
        told = " ".join(f"{name}: {reason}" for name, reason in left_out)
        raise EvaluationError(f"Nothing could be measured. {told}")
    return tuple(results), tuple(left_out)


def evaluate(
    inputs: Report,
    names: Sequence[str],
    progress: Progress,
    *,
    shard: Shard = WHOLE,
    cache: Path | None = None,
    force: bool = False,
) -> Report:
    """The same with what `measure` finds; ``progress`` shows findings and each result.

    ``cache`` is the file that keeps what is computed of texts (None: the user's own); ``force`` forgets it.
    """
    for finding in inputs.findings:
        progress.note(finding)
    with Store(cache or kept_file(), forget=force) as store:
        context = MetricContext(inputs.config, store, progress)

        def tell(result: Result) -> None:
            value = "not defined" if result.value is None else f"{result.value:.2f}"
            fresh = "" if result.fresh == len(result.rows) else f", {result.fresh} of them computed now"
            scored = f"{result.scored} ADs{fresh}; {result.seconds:.1f} s"
            progress.note(f"{result.title}: {value} ({scored}).")

        results, left_out = measure(inputs.corpus, names, context, shard=shard, done=tell)
    return replace(inputs, results=results, left_out=left_out)


def shard_places(corpus: Corpus, shard: Shard) -> list[int]:
    """The places of a shard: whole films, shards of about the same size."""
    films = corpus.films()
    sizes = {name: len(films[name]) for name in sorted(films, key=lambda name: (-len(films[name]), name))}
    mine = shard.of_groups(sizes)
    return sorted(place for name, places in films.items() if name in mine for place in places)


def _ready(
    names: Sequence[str], corpus: Corpus, context: MetricContext
) -> tuple[list[tuple[bool, Metric]], list[LeftOut]]:
    """The metrics that can run, each once (by a judge once for each), and whether it was named; those that
    cannot, with the reason. Capitals in a metric's name do not matter."""
    if not names:
        raise EvaluationError("No metric is named.", "Name some, or all.")
    parted = [name.partition("@") for name in names]
    plain = [f"{metric.lower()}{at}{judge}" for metric, at, judge in parted]
    engines = dict.fromkeys(context.settings.judge.engines)
    wanted: dict[str, tuple[bool, bool]] = {}
    for name in plain:
        for one in METRICS if name == ALL else (name,):
            judged = one in ENGINE_METRICS and bool(engines)
            if name != ALL or one not in plain:
                for full in [f"{one}@{engine}" for engine in engines] if judged else [one]:
                    wanted.setdefault(full, (name != ALL, judged))
    ready, left_out = [], []
    for name, (by_name, judged) in wanted.items():
        reason = _without(name, corpus, context)
        if reason is None:
            try:
                metric = make_metric(name, context)
                # Models are found, or fetched, before the first metric is counted: an hour later is too late.
                _ = metric.identity
                ready.append((by_name, metric))
                continue
            except ShotadError as error:
                if by_name or judged:
                    raise
                reason = str(error)
        elif by_name:
            raise EvaluationError(f"{name} cannot be measured: {reason}")
        left_out.append((name, reason))
    return ready, left_out


def _without(name: str, corpus: Corpus, context: MetricContext) -> str | None:
    """Why a metric can say nothing of this corpus; None where it can."""
    plain = name.partition("@")[0]
    if plain in ENGINE_METRICS and "@" not in name and not context.settings.judge.engines:
        return "No judge is named. Name an engine: --judge openai:MODEL, --judge llama3:FOLDER."
    if plain == "action-description" and not any(item.description for item in corpus.items):
        return "The predictions hold no descriptions of Stage I."
    part = _NEEDED_BY_METRICS.get(plain)
    if part == "actions" and not any(item.actions for item in corpus.items):
        return "No actions of the human AD are known. Make them: shotad evaluate actions."
    if part == "casts" and not any(corpus.casts.get(item.film) for item in corpus.items):
        return "No cast lists of these films are known. Name a file: --casts FILE."
    return None
