"""Runs metrics over predictions and human ADs, and collects what a report is made from.

`read_inputs` reads the files, `evaluate` scores them; metrics that cannot run are listed with the reason.
Input files are named in the report together with their hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from shotad.core import (
    Config,
    Progress,
    ShotadError,
    load_config,
)
from shotad.core.config.languages import is_english, language_name
from shotad.core.errors import EvaluationError
from shotad.core.model_cache import ModelNeed, check_needs
from shotad.core.progress import address_without_secrets, plural, without_folder
from shotad.core.weight_store import file_sha256
from shotad.description import plain_language
from shotad.evaluation.datasets.dataset import WHOLE, Dataset, Shard
from shotad.evaluation.datasets.dataset_loader import load_dataset
from shotad.evaluation.datasets.tables import MISSING, NOTE, DatasetFinding, read_records
from shotad.evaluation.metric import (
    ENGINE_METRICS,
    JUDGE_FAILED,
    METRICS,
    Corpus,
    Item,
    Json,
    Metric,
    Result,
    make_metric,
    metric_class,
    says_something,
    score,
)
from shotad.evaluation.model_work import Workload, count_work, work_lines
from shotad.evaluation.predictions import Joined, join, read_predictions
from shotad.evaluation.store import MetricContext, Store, store_file

Protocol = Literal["single", "assisted", "inter-rater"]
"""``single``: one prediction for each AD; ``assisted``: the best of several candidates, chosen by an expert;
``inter-rater``: another human AD as the prediction."""

_NO_PREDICTION = ("", "no prediction")
"""Values of `Item.failure` that mean that the file has no prediction for the AD."""


AND = " + "
"""Separates the names of several files, and their hashes."""


class NotMeasured(NamedTuple):
    """A metric that was requested and could not be computed, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class RequestedMetric:
    """A metric to run, by its full name (``llm-action@openai:gpt-4o``).

    ``is_named``: it was named itself, and not only by ``all``. ``has_judge``: it asks a judge of the
    settings.
    """

    name: str
    is_named: bool
    has_judge: bool


@dataclass(frozen=True, slots=True)
class ReadyMetrics:
    """The metrics that can run, those of them that were ``named``, and those that cannot run."""

    metrics: tuple[Metric, ...]
    named: frozenset[str]
    not_measured: tuple[NotMeasured, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Inputs and results of one evaluation.

    ``corpus`` is the whole dataset with its predictions; the results' rows may be those of a shard of it.
    ``predictions`` has the file's ``name``, its ``sha256``, and the ``system`` that made it. ``extra`` is the
    number of predictions that belong to no AD, ``doubled`` the number of ids that came more than once.
    ``configs`` and ``assignments`` are what the user named by ``--config`` and ``--set``. ``title`` is the
    dataset's, ``titles`` are those of films by `Item.film`, where they are known. A report that was read from
    disk has a ``name``, its folder's, and a ``head``, its ``report.json``.
    """

    corpus: Corpus
    config: Config
    predictions: Mapping[str, str]
    results: tuple[Result, ...] = ()
    extra: int = 0
    doubled: int = 0
    not_measured: tuple[NotMeasured, ...] = ()
    configs: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    title: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    protocol: Protocol = "single"
    notes: tuple[str, ...] = ()
    """Remarks on this run that the report prints."""
    differs: tuple[str, ...] = ()
    """What was not as in the paper when the predictions were made, as their file says."""
    findings: tuple[str, ...] = ()
    """Problems in the input files, shown while the evaluation runs."""
    name: str = ""
    head: Json = field(default_factory=dict)

    @property
    def dataset(self) -> str:
        """The dataset's title, or its name."""
        return self.title or self.corpus.dataset or "no named dataset"

    @property
    def values(self) -> dict[str, float | None]:
        """The value of each metric by name; None where it is not defined."""
        return {result.name: result.value for result in self.results}

    def result(self, name: str) -> Result | None:
        """The result of the metric ``name``; None where there is none."""
        return next((result for result in self.results if result.name == name), None)

    @property
    def system(self) -> str:
        """Name of the system that made the predictions; else that of the file, or of the report's folder."""
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
        """The ADs that at least one result has a row for, in the corpus's order."""
        scored_ids: set[str] = set()
        for result in self.results:
            scored_ids.update(row.id for row in result.rows)
        return tuple(item for item in self.items if item.id in scored_ids)

    @property
    def unpredicted(self) -> tuple[Item, ...]:
        """The ADs of this report that have no prediction, or one that failed: they count as 0."""
        return tuple(item for item in self.scored if item.prediction is None)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of ADs without a usable prediction: ``missing`` have none, those that ``failed`` have one
        that failed, and ``skipped`` were not scored, because ``measures.missing`` is ``skip``."""
        unpredicted = self.unpredicted
        missing = sum(item.failure in _NO_PREDICTION for item in unpredicted)
        skipped = 0
        if self.config.measures.missing == "skip":
            skipped = sum(item.prediction is None for item in self.items) - len(unpredicted)
        return {"missing": missing, "failed": len(unpredicted) - missing, "skipped": skipped}


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
"""In a list of metrics: all that can run on these inputs."""

MADE_BY = "made_by"
"""Column in which `evaluate actions` records which engine or rule made an action."""


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
    """A report without results: the dataset and its predictions, joined, and the settings.

    The dataset's own settings are added to ``configs``. Problems are reported only for the parts of the
    dataset that these ``metrics`` use. Several ``predictions`` are shards of one file. Raises DatasetError,
    EvaluationError, ConfigError.
    """
    data = load_dataset(dataset, root, annotation=annotation, actions=actions, casts=casts)
    dataset_configs = [data.config] if data.config and data.config not in configs else []
    config = load_config(
        [*configs, *dataset_configs],
        assignments,
        measures__missing=missing,
        measures__judge__engines=judges or None,
    )
    prediction_table = read_predictions(*predictions, id_column=id_column, text_column=text_column)
    stage1_table = read_predictions(descriptions) if descriptions else None
    joined = join(data, prediction_table, stage1_table)
    parts = _parts_used(metrics)
    dataset_findings = [
        finding for finding in data.findings if finding.level != NOTE and finding.about in ("", *parts)
    ]
    language_warning = english_only_warning(_language_of_data(joined.corpus, config))
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
        # The report is passed on to others, so it must not hold keys that the user typed.
        configs=tuple(
            without_folder(address_without_secrets(name)) for name in configs if isinstance(name, str)
        ),
        assignments=tuple(without_folder(address_without_secrets(text)) for text in assignments),
        title=data.title,
        titles=data.films,
        differs=prediction_table.differs,
        notes=(*language_warning, *_notes(data, joined, descriptions, dataset_findings, parts)),
        findings=(
            *language_warning,
            *(f"{finding.where}: {finding.what}" for finding in (*dataset_findings, *joined.findings)),
        ),
    )


def english_only_warning(language: str) -> tuple[str, ...]:
    """That the metrics are made for English, for data in another ``language`` (a tag); else nothing."""
    if is_english(language):
        return ()
    return (
        f"The lines are in {language_name(language)}. The metrics are made for English: their words, stems, "
        "parser and prompts are English. Compare such scores with none but those of the same data.",
    )


def _language_of_data(corpus: Corpus, config: Config) -> str:
    """The setting ``language``; where that is English, the language that the human ADs are plainly in."""
    if not is_english(config.language):
        return config.language
    texts = [reference for item in corpus.items[:_ITEMS_LOOKED_AT] for reference in item.references]
    return plain_language(" ".join(texts), config.language) or config.language


_ITEMS_LOOKED_AT = 50
"""ADs of which the language is looked at."""

_NEEDED_BY_METRICS: Mapping[str, str] = {
    "action": "actions",
    "action-description": "actions",
    "llm-action": "actions",
    "critic": "casts",
    "names-kept": "casts",
}
"""The part of a dataset, beside the ADs themselves, that a metric compares with."""


def _parts_used(metrics: Sequence[str]) -> set[str]:
    """The parts of a dataset (actions, casts) that these metrics use; with ``all`` those of every metric.

    No metric uses the shots.
    """
    names = {base_name(name.strip().lower()) for name in metrics}
    return {part for metric, part in _NEEDED_BY_METRICS.items() if metric in names or ALL in names}


def _notes(
    data: Dataset,
    joined: Joined,
    descriptions: Path | None,
    dataset_findings: Sequence[DatasetFinding],
    parts: Container[str],
) -> Iterator[str]:
    """Remarks for the report: where texts and actions come from, and problems of the files.

    ``parts`` are the parts of the dataset that the metrics use. Missing predictions are left out here: the
    report counts them (`Report.counts`).
    """
    if descriptions is not None:
        yield f"Stage I's texts are those of {descriptions.name}, SHA-256 {file_hash(descriptions)}."
    # Actions made by `evaluate actions` are not comparable with the published ones; their file says so.
    path = data.files.get("actions") or data.files.get("annotation")
    if "actions" in parts and path is not None and any(ad.actions for ad in data.ads):
        cells = {row.values.get(MADE_BY) for row in read_records(path).rows}
        makers = sorted(cell for cell in cells if isinstance(cell, str) and cell)
        if makers:
            yield f"The actions of the human ADs are not the published ones: made by {'; '.join(makers)}."
    for finding in dataset_findings:
        yield f"{finding.where}: {finding.what}"
    for finding in joined.findings:
        if finding.level != MISSING:
            yield f"{finding.where}: {finding.what}"


def measure(
    corpus: Corpus,
    names: Sequence[str],
    context: MetricContext,
    *,
    shard: Shard = WHOLE,
    on_ready: Callable[[Sequence[Metric]], None] = lambda _: None,
    on_result: Callable[[Result], None] = lambda _: None,
) -> tuple[tuple[Result, ...], tuple[NotMeasured, ...]]:
    """The results of ``corpus`` by the metrics of these names, and the metrics left out with the reason.

    ``on_ready`` is called with the metrics before the first is scored, ``on_result`` with each result as it
    comes. Only the films of ``shard`` are scored. A metric or
    a judge that was named and cannot run is an error before anything is scored; one that only ``all`` asks
    for is left out, also when it fails while scoring. Raises EvaluationError where no metric is named, and
    where none of ``all`` can be computed.
    """
    ready = ready_metrics(names, corpus, context)
    not_measured = list(ready.not_measured)
    on_ready(ready.metrics)
    places = scored_places(corpus, shard, context)
    results: dict[str, Result] = {}
    for metric in in_order_of_models(ready.metrics):
        try:
            results[metric.name] = score(metric, corpus, context, places)
        except ShotadError as error:
            if metric.name in ready.named:
                raise
            not_measured.append(NotMeasured(metric.name, str(error)))
            continue
        if reason := judge_failure(results[metric.name], corpus, places):
            del results[metric.name]
            not_measured.append(NotMeasured(without_folder(metric.name), reason))
            continue
        on_result(results[metric.name])
    if not results:
        reasons = " ".join(f"{name}: {reason}" for name, reason in not_measured)
        raise EvaluationError(f"Nothing could be measured. {reasons}")
    in_order = tuple(results[metric.name] for metric in ready.metrics if metric.name in results)
    return in_order, tuple(not_measured)


def judge_failure(result: Result, corpus: Corpus, places: Sequence[int]) -> str:
    """Why a result is none: of all that its judge was asked, no answer could be used. Else empty.

    Its rows say 0, and their mean would stand beside the paper's figures as if it were one.
    """
    judged_rows = [
        row
        for row, place in zip(result.rows, places, strict=True)
        if row.value is not None and says_something(corpus.items[place].prediction)
    ]
    failures = [row.failure for row in judged_rows if row.failure.startswith(JUDGE_FAILED)]
    if not failures or len(failures) < len(judged_rows):
        return ""
    first_failure = failures[0].removeprefix(JUDGE_FAILED).strip()
    return (
        f"{JUDGE_FAILED} none of {plural(len(failures), 'answer')} could be used. The first: {first_failure}"
    )


def in_order_of_models(metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics in the order in which they are scored: those without a model, then model by model.

    So each model is loaded once, also where no two of them fit into memory together. Models come in the order
    of the table of metrics, judges in that in which they are named.
    """
    of_table = list(METRICS)
    by_table = sorted(metrics, key=lambda metric: of_table.index(base_name(metric.name)))
    models = list(dict.fromkeys(["", *(metric.model for metric in by_table)]))
    return sorted(metrics, key=lambda metric: models.index(metric.model))


def estimate_evaluation(
    inputs: Report,
    names: Sequence[str],
    *,
    shard: Shard = WHOLE,
    cache: Path | None = None,
    force: bool = False,
) -> Workload:
    """What the models have to do in an evaluation with the same arguments (`evaluate`), and in what time.

    Nothing is sent, and no model is fetched but the parser. Raises EvaluationError where no metric is named.
    """
    with Store(cache or store_file(), forget=force) as store:
        context = MetricContext(inputs.config, store)
        requested = _requested_metrics(names, context.settings.judge.engines)
        can_run = [
            metric.name for metric in requested if _missing_input(metric.name, inputs.corpus, context) is None
        ]
        return count_work(can_run, inputs.corpus, scored_places(inputs.corpus, shard, context), context)


def evaluate(
    inputs: Report,
    names: Sequence[str],
    progress: Progress,
    *,
    shard: Shard = WHOLE,
    cache: Path | None = None,
    force: bool = False,
) -> Report:
    """``inputs`` with the results of the metrics ``names``; ``progress`` shows findings and each result.

    ``cache`` is the file of cached vectors, parses and rows (None: the one in the user's cache folder);
    ``force`` ignores what is in it. Raises what `measure` raises.
    """
    for finding in inputs.findings:
        progress.note(finding)
    with Store(cache or store_file(), forget=force) as store:
        context = MetricContext(inputs.config, store, progress)

        def show_result(result: Result) -> None:
            value = "not defined" if result.value is None else f"{result.value:.2f}"
            fresh = "" if result.fresh == len(result.rows) else f", {result.fresh} of them computed now"
            scored = f"{result.scored} ADs{fresh}; {result.seconds:.1f} s"
            progress.note(f"{result.title}: {value} ({scored}).")

        def show_estimate(metrics: Sequence[Metric]) -> None:
            if any(type(metric).needs(metric.name, context) for metric in metrics):
                places = scored_places(inputs.corpus, shard, context)
                work = count_work([metric.name for metric in metrics], inputs.corpus, places, context)
                for line in work_lines(work):
                    progress.note(line)

        results, not_measured = measure(
            inputs.corpus, names, context, shard=shard, on_ready=show_estimate, on_result=show_result
        )
    return replace(inputs, results=results, not_measured=not_measured)


def scored_places(corpus: Corpus, shard: Shard, context: MetricContext) -> list[int]:
    """Indices into ``corpus.items`` of the ADs of a shard that are scored, ascending."""
    places = shard_places(corpus, shard)
    if context.settings.missing == "skip":
        places = [place for place in places if corpus.items[place].prediction is not None]
    return places


def shard_places(corpus: Corpus, shard: Shard) -> list[int]:
    """Indices into ``corpus.items`` of the ADs of a shard, ascending.

    A film is never divided, and the shards are of about the same size.
    """
    films = corpus.films()
    # `of_groups` deals the groups out in this order, which must be the same on every machine.
    largest_first = sorted(films, key=lambda film: (-len(films[film]), film))
    films_of_shard = shard.of_groups({film: len(films[film]) for film in largest_first})
    places: list[int] = []
    for film in films_of_shard:
        places += films[film]
    return sorted(places)


def ready_metrics(names: Sequence[str], corpus: Corpus, context: MetricContext) -> ReadyMetrics:
    """The metrics that can run, and those that cannot, with the reason.

    A metric comes once, one with a judge once for each judge. Raises EvaluationError where no metric is
    named, or one that was named cannot run; as `make_ready` where a named metric or judge cannot be made.
    """
    if not names:
        raise EvaluationError("No metric is named.", "Name some, or all.")
    requested = _requested_metrics(names, context.settings.judge.engines)
    is_wanted: dict[str, bool] = {}
    reasons: dict[str, str] = {}
    for requested_metric in requested:
        name = requested_metric.name
        reason = _missing_input(name, corpus, context)
        if reason is None:
            is_wanted[name] = requested_metric.is_named or requested_metric.has_judge
        elif requested_metric.is_named:
            raise EvaluationError(f"{name} cannot be measured: {reason}")
        else:
            reasons[name] = reason
    metrics, reasons_of_models = make_ready(is_wanted, context)
    reasons |= reasons_of_models
    return ReadyMetrics(
        metrics=tuple(metrics),
        named=frozenset(metric.name for metric in requested if metric.is_named),
        not_measured=tuple(
            NotMeasured(metric.name, reasons[metric.name]) for metric in requested if metric.name in reasons
        ),
    )


def make_ready(is_wanted: Mapping[str, bool], context: MetricContext) -> tuple[list[Metric], dict[str, str]]:
    """The metrics of these names, in order, with their models fetched; and by name why others cannot run.

    First, before anything is fetched, all models are held against the memory of this machine. Where a metric
    that is wanted cannot run its error is raised: EngineError with the figures for models that do not fit.
    """
    reasons: dict[str, str] = {}
    wanted_needs: list[ModelNeed] = []
    for name, wanted in is_wanted.items():
        try:
            needs = metric_class(name).needs(name, context)
            if wanted:
                wanted_needs += needs
            else:
                check_needs(needs)
        except ShotadError as error:
            if wanted:
                raise
            reasons[name] = str(error)
    check_needs(wanted_needs)
    metrics = []
    for name, wanted in is_wanted.items():
        if name in reasons:
            continue
        try:
            metric = make_metric(name, context)
            # Finds or downloads the models now: after an hour of scoring would be too late to fail.
            _ = metric.identity
            metrics.append(metric)
        except ShotadError as error:
            if wanted:
                raise
            reasons[name] = str(error)
    return metrics, reasons


def _requested_metrics(names: Sequence[str], judges: Sequence[str]) -> list[RequestedMetric]:
    """The metrics to run, in order, each once. Capitals in a metric's name do not matter."""
    normalized_names = []
    for name in names:
        metric, at, judge = name.partition("@")
        normalized_names.append(f"{metric.lower()}{at}{judge}")
    requested: dict[str, RequestedMetric] = {}
    for name in normalized_names:
        is_named = name != ALL
        for metric in (name,) if is_named else METRICS:
            # A metric that is named beside ``all`` is added by its own name: then its failure is an error.
            if not is_named and metric in normalized_names:
                continue
            has_judge = metric in ENGINE_METRICS and bool(judges)
            full_names = [f"{metric}@{judge}" for judge in judges] if has_judge else [metric]
            for full_name in full_names:
                requested.setdefault(full_name, RequestedMetric(full_name, is_named, has_judge))
    return list(requested.values())


def _missing_input(name: str, corpus: Corpus, context: MetricContext) -> str | None:
    """What the metric ``name`` needs and this run lacks, as a message; None where it has all."""
    plain = base_name(name)
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
