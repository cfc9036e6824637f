"""``report.json``, ``items.jsonl`` and ``items.csv``: all that a report says, for programs and spreadsheets.
Reports are read back from their folders, so that comparing and merging need no scoring.

They hold no clock times and no folders of the machine, so that equal runs write equal bytes; how long the
metrics took stands in ``speed.json``.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.metadata
import io
import json
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import shotad
from shotad import __version__
from shotad.core import Config, Interval
from shotad.core.config.measures import MeasureSettings
from shotad.core.errors import EvaluationError, quoted
from shotad.core.progress import without_folder
from shotad.core.records import map_texts
from shotad.core.system import find_program
from shotad.evaluation.evaluation_run import AND, NotMeasured, Report, base_name
from shotad.evaluation.metric import Corpus, Item, Json, MetricFormula, Result, Row, only
from shotad.evaluation.report.intervals import Span
from shotad.evaluation.report.table import counted_as_0, paper_rows
from shotad.script.table_formats import formula_safe_cell

LIBRARIES = (
    "accelerate", "bert-score", "fastcoref", "jinja2", "matplotlib", "numpy", "openai", "pycocoevalcap",
    "pydantic", "safetensors", "scipy", "sentence-transformers", "spacy", "tokenizers", "torch",
    "transformers",
)  # fmt: skip
"""Those that a number may depend on."""

_JAVA_METRICS = ("meteor", "spice")
_SPACY_MODEL = re.compile(r"[a-z]{2,3}[-_](core|dep|ent|sent)[-_]\w+[-_](sm|md|lg|trf)")


def surroundings(metrics: Iterable[str]) -> dict[str, Any]:
    """Versions and git state as JSON. Imports no library; asks for Java only where a metric used it."""
    record: Json = {
        "shotad": __version__,
        "git": _git_state(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    if any(base_name(metric) in _JAVA_METRICS for metric in metrics):
        version_lines = (_output_of("java", "-version") or "").strip().splitlines()
        record["java"] = version_lines[0] if version_lines else None
    libraries = []
    for distribution in importlib.metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower()
        if name in LIBRARIES or _SPACY_MODEL.fullmatch(name):
            libraries.append((name.replace("_", "-"), distribution.version))
    record["libraries"] = dict(sorted(libraries))
    return record


def _git_state() -> Json | None:
    """Commit of the checkout that shotad runs from, and whether files differ from it; None where shotad is
    installed, or git is missing."""
    root = Path(shotad.__file__).resolve().parent.parent
    git = ("git", "-C", str(root))
    top = _output_of(*git, "rev-parse", "--show-toplevel")
    commit = _output_of(*git, "rev-parse", "HEAD")
    changed_files = _output_of(*git, "status", "--porcelain", "--untracked-files=no")
    # An installed shotad may lie inside somebody else's checkout: its commit says nothing.
    if top is None or commit is None or Path(top.strip()).resolve() != root:
        return None
    dirty = None if changed_files is None else bool(changed_files.strip())
    return {"commit": commit.strip(), "dirty": dirty}


def _output_of(program: str, *arguments: str) -> str | None:
    """What a program prints, on both channels; None where it is missing or fails."""
    path = find_program(program)
    if path is None:
        return None
    try:
        process = subprocess.run(
            [path, *arguments], capture_output=True, text=True, timeout=20, check=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout + process.stderr


SCHEMA = 2
"""Version of ``report.json`` and ``items.jsonl``."""

REPORT, ITEMS, TABLE, SPEED = "report.json", "items.jsonl", "items.csv", "speed.json"

ITEM_FIELDS = (
    "id", "film", "clip", "start", "end", "references", "actions", "prediction", "description", "failure",
    "scale", "threaded",
)  # fmt: skip
"""Keys of a line of ``items.jsonl``, in its order; ``metrics`` comes after them."""


def report_record(run: Report, intervals: Mapping[str, Span | None]) -> Json:
    """``report.json``. ``intervals`` are those of the metrics, by name."""
    corpus, settings = run.corpus, run.config.measures
    films = {item.film for item in corpus.items}
    record: Json = {
        "schema": SCHEMA,
        "made_with": surroundings(result.name for result in run.results),
        "dataset": {
            "name": corpus.dataset,
            "title": run.title,
            **hashes_of(corpus),
            "ads": len(corpus.items),
            "films": len(films),
        },
        "predictions": dict(run.predictions),
        "protocol": run.protocol,
        "n": {
            "ads": len(corpus.items),
            "in_this_report": len(run.scored),
            **run.counts,
            "extra": run.extra,
            "doubled": run.doubled,
        },
        "config": {
            "named": list(run.configs),
            "set": list(run.assignments),
            "seed": run.config.seed,
            "measures": settings.model_dump(mode="json"),
        },
        "notes": list(run.notes),
        "differs_from_paper": list(run.differs),
        "metrics": [metric_record(result, intervals.get(result.name)) for result in run.results],
        "left_out": [{"metric": metric.name, "reason": metric.reason} for metric in run.not_measured],
        "paper": list(paper_rows(corpus.dataset, run.protocol)),
    }
    portable: Json = map_texts(record, without_folder)
    portable["films"] = dict(sorted(run.titles.items()))
    portable["casts"] = {film: list(corpus.casts[film]) for film in sorted(films) if corpus.casts.get(film)}
    return portable


def hashes_of(corpus: Corpus) -> dict[str, str]:
    """SHA-256, in hex, of all ids and human ADs (``texts``), of their ``actions``, and of the characters'
    names of their films (``casts``); the last two are empty where the dataset has none."""
    films = {item.film for item in corpus.items}
    texts = sorted(json.dumps([item.id, item.film, list(item.references)]) for item in corpus.items)
    actions = sorted((item.id, *item.actions) for item in corpus.items if item.actions)
    casts = sorted((film, *names) for film, names in corpus.casts.items() if film in films and names)
    return {
        "texts": _sha256("\n".join(texts)),
        "actions": _sha256(json.dumps(actions)) if actions else "",
        "casts": _sha256(json.dumps(casts)) if casts else "",
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def metric_record(result: Result, interval: Span | None) -> Json:
    """One metric of ``report.json``: what it is, its numbers, and to how many items it applies."""
    return {
        "name": result.name,
        "title": result.title,
        "value": result.value,
        "interval": asdict(interval) if interval else None,
        "n": len(result.rows),
        "scored": result.scored,
        "failed": result.failed,
        "counted_as_0": counted_as_0(result),
        "not_scored": len(result.rows) - result.scored,
        "comparable": result.comparable,
        "higher_is_better": result.higher_is_better,
        "remarks": result.remarks,
        "columns": result.columns,
        "sums": result.sums.tolist(),
        "figure": asdict(result.figure),
        "identity": dict(result.identity),
        "basis": result.basis,
    }


def speed_record(run: Report) -> Json:
    """``speed.json``: seconds of each metric, and how many of its rows were counted in this run."""
    metrics = []
    for result in run.results:
        seconds = round(result.seconds, 3)
        metrics.append(
            {"name": result.name, "seconds": seconds, "rows": len(result.rows), "fresh": result.fresh}
        )
    return {"seconds": round(sum(result.seconds for result in run.results), 3), "metrics": metrics}


def item_lines(run: Report) -> Iterator[str]:
    """``items.jsonl``: one line for each AD of the dataset, with each metric's row of it."""
    rows = _rows_by_metric(run)
    for item in run.corpus.items:
        metrics: Json = {}
        for name, rows_by_id in rows.items():
            row = rows_by_id.get(item.id)
            if row is None:
                continue
            metrics[name] = {"value": row.value, "sums": list(row.sums)}
            if row.failure:
                metrics[name]["failure"] = row.failure
            if row.notes:
                metrics[name]["notes"] = dict(row.notes)
        times = {"start": item.interval.start, "end": item.interval.end}
        fields = {name: times[name] if name in times else getattr(item, name) for name in ITEM_FIELDS}
        yield json.dumps({**fields, "metrics": metrics}, ensure_ascii=False) + "\n"


def _rows_by_metric(run: Report) -> dict[str, dict[str, Row]]:
    """The rows of each metric, by the metric's name and the AD's id."""
    return {result.name: {row.id: row for row in result.rows} for result in run.results}


def item_table(run: Report) -> str:
    """``items.csv`` (RFC 4180), with the byte order mark by which spreadsheets know UTF-8.

    A text that a spreadsheet would take for a formula gets an apostrophe; ``items.jsonl`` has it as it is.
    """
    out = io.StringIO()
    table = csv.writer(out)
    rows = _rows_by_metric(run)
    table.writerow(["id", "film", "title", "clip", "start", "end", "reference", "prediction", *rows, "notes"])
    for item in run.scored:
        numbers, failures = [], []
        for name, rows_by_id in rows.items():
            row = rows_by_id.get(item.id)
            numbers.append("" if row is None or row.value is None else f"{row.value:.6g}")
            if row is not None and row.failure:
                failures.append(f"{name}: {row.failure}")
        cells = (
            item.id,
            item.film,
            run.titles.get(item.film, ""),
            item.clip,
            f"{item.interval.start:.3f}",
            f"{item.interval.end:.3f}",
            item.reference,
            item.prediction or "",
        )
        notes = item.failure or item.missing or "; ".join(failures)
        table.writerow([*map(formula_safe_cell, cells), *numbers, formula_safe_cell(notes)])
    return "\ufeff" + out.getvalue()


def read_report(path: Path) -> Report:
    """The report in a folder, or beside its ``report.json``; without its settings (`with_settings`).

    Raises EvaluationError where it is missing, damaged, or of a newer version.
    """
    folder = path.parent if path.name == REPORT else path
    head = _read_object(folder / REPORT)
    if head.get("schema") != SCHEMA:
        raise EvaluationError(
            f"{folder / REPORT} has schema {quoted(head.get('schema'))}, and {SCHEMA} is known here.",
            "Read it with the version of shotad that wrote it, or score again.",
        )
    # Copied reports may lack it: how long the metrics took is no part of what they measured.
    speed = _read_object(folder / SPEED) if (folder / SPEED).is_file() else {}
    speeds = {metric["name"]: metric for metric in speed.get("metrics", [])}
    try:
        with (folder / ITEMS).open(encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.strip()]
        items = tuple(_item(line) for line in lines)
        casts = {film: tuple(names) for film, names in head.get("casts", {}).items()}
        results = [_result(metric, lines, speeds.get(metric["name"], {})) for metric in head["metrics"]]
        report = Report(
            corpus=Corpus(items, casts, head["dataset"]["name"]),
            config=Config(),
            predictions=head["predictions"],
            results=tuple(results),
            extra=head["n"]["extra"],
            doubled=head["n"]["doubled"],
            not_measured=tuple(
                NotMeasured(metric["metric"], metric["reason"]) for metric in head["left_out"]
            ),
            configs=tuple(head["config"]["named"]),
            assignments=tuple(head["config"]["set"]),
            title=head["dataset"]["title"],
            titles=head["films"],
            protocol=head["protocol"],
            notes=tuple(head["notes"]),
            differs=tuple(head["differs_from_paper"]),
            name=folder.name,
            head=head,
        )
    except OSError as error:
        raise EvaluationError(f"{folder / ITEMS} cannot be read: {error.strerror}.", "Score again.") from None
    except (KeyError, TypeError, ValueError) as error:
        raise EvaluationError(
            f"The report in {folder} is damaged: {type(error).__name__} {error}.", "Score again."
        ) from None
    return report


def with_settings(report: Report) -> Report:
    """A report from `read_report`, with the settings that it was made with.

    Raises EvaluationError for settings of another version.
    """
    config = report.head["config"]
    try:
        measures = MeasureSettings.model_validate(config["measures"])
    except ValueError as error:
        raise EvaluationError(
            f"The settings of {report.name} are not those of this version: {error}.", "Score it again."
        ) from None
    return replace(report, config=Config(seed=config["seed"], measures=measures))


def _read_object(path: Path) -> Json:
    """The JSON object in a file of a report. Raises EvaluationError."""
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
    """The AD of a line of ``items.jsonl``. Raises KeyError, TypeError or ValueError for a damaged one."""
    actions = line.get("actions")
    return Item(
        id=line["id"],
        film=line["film"],
        clip=line["clip"],
        interval=Interval(line["start"], line["end"]),
        references=tuple(line["references"]),
        actions=None if actions is None else tuple(actions),
        prediction=line["prediction"],
        description=line.get("description"),
        failure=line["failure"],
        scale=line["scale"],
        threaded=line["threaded"],
    )


def _result(metric: Mapping[str, Any], lines: list[Json], speed: Mapping[str, Any]) -> Result:
    """The result of one metric of ``report.json``, with its rows from the lines of ``items.jsonl``.

    Raises KeyError, TypeError or ValueError where they are damaged.
    """
    name = metric["name"]
    rows = []
    for line in lines:
        record = line["metrics"].get(name)
        if record is not None:
            sums = tuple(map(float, record["sums"]))
            rows.append(
                Row(line["id"], sums, record["value"], record.get("failure", ""), record.get("notes", {}))
            )
    if len(rows) != metric["n"]:
        raise ValueError(f"{metric['n']} rows of {name} were written, {len(rows)} are there")
    return Result(
        name=name,
        title=metric["title"],
        columns=tuple(metric["columns"]),
        figure=MetricFormula(**metric["figure"]),
        identity=metric["identity"],
        rows=tuple(rows),
        basis=metric["basis"],
        fresh=speed.get("fresh", 0),
        seconds=speed.get("seconds", 0.0),
        remarks=tuple(metric["remarks"]),
        comparable=metric["comparable"],
        higher_is_better=metric["higher_is_better"],
    )


def merge(reports: Sequence[Report]) -> Report:
    """The run of which ``reports``, from `read_report`, are the shards.

    Raises EvaluationError where they are of different datasets, metrics or settings, or have ADs in common.
    """
    if not reports:
        raise EvaluationError("There is no report to merge.", "Name the folders of all shards.")
    first = reports[0]
    for report in reports[1:]:
        _check_same_run(first, report)
    shards = [with_settings(report) for report in reports]
    items = {item.id: item for item in first.items}  # each as it stands in the report that scored it
    for report in reports[1:]:
        items.update((item.id, item) for item in report.scored)
    places = {item_id: place for place, item_id in enumerate(items)}
    results = []
    for first_result in first.results:
        shard_results = [report.result(first_result.name) for report in reports]
        merged = reduce(add, (result for result in shard_results if result is not None))
        # In the dataset's order, however the shards came: sums are then the same to the last bit.
        ids = sorted((row.id for row in merged.rows), key=places.__getitem__)
        results.append(only(merged, ids))
    # Counts of a file that all shards have read stand once; those of several files add up.
    by_file = {(shard.predictions["name"], shard.predictions["sha256"]): shard for shard in shards}
    not_measured = [metric for report in reports for metric in report.not_measured]
    notes = [note for report in reports for note in report.notes]
    differs = [text for report in reports for text in report.differs]
    titles: dict[str, str] = {}
    for report in reports:
        titles.update(report.titles)
    return replace(
        shards[0],
        name="",
        head={},
        corpus=replace(first.corpus, items=tuple(items.values())),
        results=tuple(results),
        predictions=_merged_predictions(reports),
        extra=sum(shard.extra for shard in by_file.values()),
        doubled=sum(shard.doubled for shard in by_file.values()),
        not_measured=tuple(dict.fromkeys(not_measured)),
        titles=titles,
        notes=tuple(dict.fromkeys(notes)),
        differs=tuple(dict.fromkeys(differs)),
    )


def _check_same_run(a: Report, b: Report) -> None:
    """Raise EvaluationError where two reports differ in dataset, metrics, or in what is done with missing
    predictions."""
    for key, label in (("name", "dataset"), ("texts", "texts of the dataset")):
        if a.head["dataset"][key] != b.head["dataset"][key]:
            raise EvaluationError(
                f"{a.name} and {b.name} are not of the same {label}.", "Merge shards of one run."
            )
    if a.head["config"]["measures"]["missing"] != b.head["config"]["measures"]["missing"]:
        raise EvaluationError(
            f"{a.name} and {b.name} differ in what becomes of missing predictions.",
            "Score both with the same --missing.",
        )
    only_in_one = {result.name for result in a.results} ^ {result.name for result in b.results}
    if only_in_one:
        raise EvaluationError(
            f"Only one of {a.name} and {b.name} has {', '.join(sorted(only_in_one))}.",
            "Score all shards with the same metrics.",
        )


def _merged_predictions(reports: Sequence[Report]) -> dict[str, str]:
    """`Report.predictions` of the merged run: the file of all shards, or their names one after the other."""
    files = []
    for report in reports:
        if dict(report.predictions) not in files:
            files.append(dict(report.predictions))
    if len(files) == 1:
        return files[0]
    systems = dict.fromkeys(file["system"] for file in files if file["system"])
    names = [file["name"] for file in files]
    hashes = [file["sha256"] for file in files]
    digest = AND.join(hashes) if all(hashes) else ""
    return {"name": AND.join(names), "sha256": digest, "system": AND.join(systems)}
