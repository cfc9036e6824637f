"""Reports read back from their folders, so that comparing and merging need no scoring."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

from shotad.core import Config, EvaluationError, Interval, MeasureSettings
from shotad.evaluation.metric import Corpus, Figure, Item, Json, Result, Row, only
from shotad.evaluation.report.inputs import AND, Joined, LeftOut, Predictions, ReportInput
from shotad.evaluation.report.records import ITEMS, REPORT, SCHEMA, SPEED


@dataclass(frozen=True, slots=True)
class Report:
    """A report as it was written. ``head`` is ``report.json``; ``items`` are all ADs of the dataset."""

    name: str
    head: Json
    items: tuple[Item, ...]
    results: tuple[Result, ...]

    @property
    def values(self) -> dict[str, float | None]:
        """The number of each metric by name; None where it is not defined."""
        return {result.name: result.value for result in self.results}

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be known to trust the numbers."""
        return tuple(self.head["notes"])

    @property
    def system(self) -> str:
        """What the system is called whose predictions these are."""
        return Predictions(**self.head["predictions"]).called or self.name

    @property
    def films(self) -> dict[str, str]:
        """The film of each AD, by id."""
        return {item.id: item.film for item in self.items}

    @property
    def casts(self) -> dict[str, tuple[str, ...]]:
        """The characters' names by which it was scored, by film."""
        return {film: tuple(names) for film, names in self.head.get("casts", {}).items()}

    def result(self, name: str) -> Result | None:
        """The result of this name."""
        return next((result for result in self.results if result.name == name), None)

    def as_input(self) -> ReportInput:
        """What the report was made from, as far as it is known. Raises EvaluationError for settings of
        another version."""
        head = self.head
        try:
            measures = MeasureSettings.model_validate(_measures(head["config"]["measures"]))
        except ValueError as error:
            raise EvaluationError(
                f"The settings of {self.name} are not those of this version: {error}.", "Score it again."
            ) from None
        return ReportInput(
            corpus=Corpus(self.items, self.casts, head["dataset"]["name"]),
            results=self.results,
            config=Config(seed=head["config"]["seed"], measures=measures),
            predictions=Predictions(**head["predictions"]),
            joined=Joined(head["n"]["extra"], head["n"]["doubled"]),
            left_out=tuple(LeftOut(**left) for left in head["left_out"]),
            configs=tuple(head["config"]["named"]),
            assignments=tuple(head["config"]["set"]),
            title=head["dataset"]["title"],
            films=head["films"],
            protocol=head["protocol"],
            notes=tuple(head["notes"]),
        )


def _measures(settings: Json) -> Json:
    """The settings of a report; one with ``draws`` was made when single ADs were drawn for its intervals."""
    report = settings["report"]
    if "draws" not in report:
        return settings
    return {**settings, "report": {key: report[key] for key in report if key not in ("draws", "unit")}}


def read_report(path: Path) -> Report:
    """The report in a folder, or beside its ``report.json``.

    Raises EvaluationError where it is missing, damaged, or of a newer version.
    """
    folder = path.parent if path.name == REPORT else path
    head = _json(folder / REPORT)
    if head.get("schema") != SCHEMA:
        raise EvaluationError(
            f"{folder / REPORT} has schema {head.get('schema')!r}, and {SCHEMA} is known here.",
            "Read it with the version of shotad that wrote it, or score again.",
        )
    speeds = {speed["name"]: speed for speed in _speeds(folder / SPEED)}
    try:
        lines = _lines(folder / ITEMS)
        items = tuple(_item(line) for line in lines)
        results = tuple(_result(metric, lines, speeds.get(metric["name"], {})) for metric in head["metrics"])
    except (KeyError, TypeError, ValueError) as error:
        raise EvaluationError(
            f"The report in {folder} is damaged: {type(error).__name__} {error}.", "Score again."
        ) from None
    return Report(folder.name, head, items, results)


def _json(path: Path) -> Json:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise EvaluationError(
            f"{path.parent} holds no {path.name}.", "Name a folder that shotad evaluate ad has written."
        ) from None
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{path} cannot be read: {error}.", "Score again.") from None
    if not isinstance(value, dict):
        raise EvaluationError(f"{path} is no report.", "Name a folder that shotad evaluate ad has written.")
    return value


def _speeds(path: Path) -> list[dict[str, Any]]:
    return list(_json(path).get("metrics", [])) if path.is_file() else []


def _lines(path: Path) -> list[Json]:
    try:
        with path.open(encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.strip()]
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}.", "Score again.") from None


def _item(line: Json) -> Item:
    return Item(
        id=line["id"],
        film=line["film"],
        clip=line["clip"],
        interval=Interval(line["start"], line["end"]),
        references=tuple(line["references"]),
        prediction=line["prediction"],
        failure=line["failure"],
        description=line.get("description"),
        actions=None if line.get("actions") is None else tuple(line["actions"]),
        scale=line["scale"],
        threaded=line["threaded"],
    )


def _result(head: Mapping[str, Any], lines: list[Json], speed: Mapping[str, Any]) -> Result:
    name = head["name"]
    found = Result(
        name=name,
        title=head["title"],
        columns=tuple(head["columns"]),
        figure=Figure(**head["figure"]),
        identity=head["identity"],
        rows=tuple(_row(line["id"], line["metrics"][name]) for line in lines if name in line["metrics"]),
        basis=head["basis"],
        remarks=tuple(head["remarks"]),
        comparable=head["comparable"],
        higher_is_better=head["higher_is_better"],
        fresh=speed.get("fresh", 0),
        seconds=speed.get("seconds", 0.0),
    )
    if len(found.rows) != head["n"]:
        raise ValueError(f"{head['n']} rows of {name} were written, {len(found.rows)} are there")
    return found


def _row(name: str, record: Mapping[str, Any]) -> Row:
    sums = tuple(float(value) for value in record["sums"])
    return Row(name, sums, record["value"], record.get("failure", ""), record.get("notes", {}))


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
