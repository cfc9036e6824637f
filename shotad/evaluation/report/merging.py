"""Reports of shards, made into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from shotad.core import EvaluationError
from shotad.evaluation.measure.items import Item
from shotad.evaluation.measure.rows import Result, only
from shotad.evaluation.report.inputs import AND, Joined, Predictions, ReportInput
from shotad.evaluation.report.reading import Report


def merge(reports: Sequence[Report]) -> ReportInput:
    """The run that the shards are parts of.

    Raises EvaluationError where they are of different datasets, metrics or settings, or have ADs in common.
    """
    if not reports:
        raise EvaluationError("There is no report to merge.", "Name the folders of all shards.")
    first = reports[0]
    for other in reports[1:]:
        _same_dataset(first, other)
        _same_metrics(first, other)
    inputs = [report.as_input() for report in reports]
    base, items = inputs[0], _items(reports)
    place = {item.id: k for k, item in enumerate(items)}
    results = reduce(_added, (report.results for report in reports))
    return replace(
        base,
        corpus=replace(base.corpus, items=items),
        results=tuple(_in_order(result, place) for result in results),
        predictions=_predictions(inputs),
        joined=_joined(inputs),
        left_out=tuple(dict.fromkeys(left for run in inputs for left in run.left_out)),
        films={name: title for run in inputs for name, title in run.films.items()},
        notes=tuple(dict.fromkeys(note for run in inputs for note in run.notes)),
    )


def _same_dataset(one: Report, other: Report) -> None:
    for key, what in (("name", "dataset"), ("texts", "texts of the dataset")):
        if one.head["dataset"][key] != other.head["dataset"][key]:
            raise EvaluationError(
                f"{one.name} and {other.name} are not of the same {what}.", "Merge shards of one run."
            )
    if one.head["config"]["measures"]["missing"] != other.head["config"]["measures"]["missing"]:
        raise EvaluationError(
            f"{one.name} and {other.name} differ in what becomes of missing predictions.",
            "Score both with the same --missing.",
        )


def _same_metrics(one: Report, other: Report) -> None:
    odd = {result.name for result in one.results} ^ {result.name for result in other.results}
    if odd:
        raise EvaluationError(
            f"Only one of {one.name} and {other.name} has {', '.join(sorted(odd))}.",
            "Score all shards with the same metrics.",
        )


def _items(reports: Sequence[Report]) -> tuple[Item, ...]:
    """The dataset's ADs, each as it stands in the report that scored it."""
    found = {item.id: item for item in reports[0].items}
    for report in reports[1:]:
        scored = {row.id for result in report.results for row in result.rows}
        found.update((item.id, item) for item in report.items if item.id in scored)
    return tuple(found.values())


def _added(one: tuple[Result, ...], other: tuple[Result, ...]) -> tuple[Result, ...]:
    others = {result.name: result for result in other}
    return tuple(result + others[result.name] for result in one)


def _in_order(result: Result, place: Mapping[str, int]) -> Result:
    """The rows in the dataset's order, however the shards came: sums are then the same to the last bit."""
    return only(result, sorted((row.id for row in result.rows), key=lambda name: place[name]))


def _predictions(inputs: Sequence[ReportInput]) -> Predictions:
    """The file of all shards, or their names one after the other."""
    found = tuple(dict.fromkeys(run.predictions for run in inputs))
    if len(found) == 1:
        return found[0]
    systems = dict.fromkeys(one.system for one in found if one.system)
    names, hashes = [one.name for one in found], [one.sha256 for one in found]
    digest = AND.join(hashes) if all(hashes) else ""
    return Predictions(AND.join(names), digest, AND.join(systems))


def _joined(inputs: Sequence[ReportInput]) -> Joined:
    """Counts of a file that all shards have read stand once; those of several files add up."""
    by_file = {(run.predictions.name, run.predictions.sha256): run.joined for run in inputs}
    return Joined(sum(j.extra for j in by_file.values()), sum(j.doubled for j in by_file.values()))
