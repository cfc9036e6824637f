"""Reports read back from their folders, so that comparing and merging need no scoring."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
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
            settings, report = head["config"]["measures"], head["config"]["measures"]["report"]
            if "draws" in report:  # it was made when single ADs were drawn for its intervals
                kept = {key: report[key] for key in report if key not in ("draws", "unit")}
                settings = {**settings, "report": kept}
            measures = MeasureSettings.model_validate(settings)
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
    speed = _json(folder / SPEED).get("metrics", []) if (folder / SPEED).is_file() else []
    speeds = {one["name"]: one for one in speed}
    try:
        with (folder / ITEMS).open(encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.strip()]
        items = tuple(_item(line) for line in lines)
        results = tuple(_result(metric, lines, speeds.get(metric["name"], {})) for metric in head["metrics"])
    except OSError as error:
        raise EvaluationError(f"{folder / ITEMS} cannot be read: {error.strerror}.", "Score again.") from None
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


def _item(line: Json) -> Item:
    return Item(
        interval=Interval(line["start"], line["end"]),
        references=tuple(line["references"]),
        description=line.get("description"),
        actions=None if line.get("actions") is None else tuple(line["actions"]),
        **{key: line[key] for key in ("id", "film", "clip", "prediction", "failure", "scale", "threaded")},
    )


def _result(head: Mapping[str, Any], lines: list[Json], speed: Mapping[str, Any]) -> Result:
    name = head["name"]
    rows = []
    for line in lines:
        if (record := line["metrics"].get(name)) is not None:
            sums = tuple(map(float, record["sums"]))
            told = record["value"], record.get("failure", ""), record.get("notes", {})
            rows.append(Row(line["id"], sums, *told))
    found = Result(
        columns=tuple(head["columns"]),
        figure=Figure(**head["figure"]),
        rows=tuple(rows),
        remarks=tuple(head["remarks"]),
        fresh=speed.get("fresh", 0),
        seconds=speed.get("seconds", 0.0),
        **{
            key: head[key] for key in ("name", "title", "identity", "basis", "comparable", "higher_is_better")
        },
    )
    if len(found.rows) != head["n"]:
        raise ValueError(f"{head['n']} rows of {name} were written, {len(found.rows)} are there")
    return found


def merge(reports: Sequence[Report]) -> ReportInput:
    """The run that the shards are parts of.

    Raises EvaluationError where they are of different datasets, metrics or settings, or have ADs in common.
    """
    if not reports:
        raise EvaluationError("There is no report to merge.", "Name the folders of all shards.")
    first = reports[0]
    for other in reports[1:]:
        _check_same_run(first, other)
    inputs = [report.as_input() for report in reports]
    items = {item.id: item for item in first.items}  # each as it stands in the report that scored it
    for run in inputs[1:]:
        items.update((item.id, item) for item in run.items)
    place = {name: k for k, name in enumerate(items)}
    results = []
    for result in first.results:
        whole = reduce(add, (found for report in reports if (found := report.result(result.name))))
        # In the dataset's order, however the shards came: sums are then the same to the last bit.
        results.append(only(whole, sorted((row.id for row in whole.rows), key=place.__getitem__)))
    # Counts of a file that all shards have read stand once; those of several files add up.
    joined = {(run.predictions.name, run.predictions.sha256): run.joined for run in inputs}.values()
    return replace(
        inputs[0],
        corpus=replace(inputs[0].corpus, items=tuple(items.values())),
        results=tuple(results),
        predictions=_predictions(inputs),
        joined=Joined(sum(one.extra for one in joined), sum(one.doubled for one in joined)),
        left_out=tuple(dict.fromkeys(left for run in inputs for left in run.left_out)),
        films={name: title for run in inputs for name, title in run.films.items()},
        notes=tuple(dict.fromkeys(note for run in inputs for note in run.notes)),
    )


def _check_same_run(one: Report, other: Report) -> None:
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
    odd = {result.name for result in one.results} ^ {result.name for result in other.results}
    if odd:
        raise EvaluationError(
            f"Only one of {one.name} and {other.name} has {', '.join(sorted(odd))}.",
            "Score all shards with the same metrics.",
        )


def _predictions(inputs: Sequence[ReportInput]) -> Predictions:
    """The file of all shards, or their names one after the other."""
    found = tuple(dict.fromkeys(run.predictions for run in inputs))
    if len(found) == 1:
        return found[0]
    systems = dict.fromkeys(one.system for one in found if one.system)
    names, hashes = [one.name for one in found], [one.sha256 for one in found]
    digest = AND.join(hashes) if all(hashes) else ""
    return Predictions(AND.join(names), digest, AND.join(systems))
