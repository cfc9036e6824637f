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
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import reduce
from operator import add
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import shotad
from shotad import __version__
from shotad.core import Config, Interval
from shotad.core.config.measures import MeasureSettings
from shotad.core.errors import EvaluationError, quoted
from shotad.core.records import map_texts
from shotad.evaluation.metric import Corpus, Item, Json, MetricFormula, Result, Row, only
from shotad.evaluation.report.intervals import Span
from shotad.evaluation.report.table import counted_as_0, paper_rows
from shotad.evaluation.running import AND, Report, base_name
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
    # Commit of the checkout that shotad runs from; none where it is installed, or git is not there.
    root = Path(shotad.__file__).resolve().parent.parent
    top, commit, changed = (
        _said(["git", "-C", str(root), *words])
        for words in (
            ("rev-parse", "--show-toplevel"),
            ("rev-parse", "HEAD"),
            ("status", "--porcelain", "--untracked-files=no"),
        )
    )
    git = None
    if top is not None and commit is not None and Path(top.strip()).resolve() == root:
        git = {"commit": commit.strip(), "dirty": None if changed is None else bool(changed.strip())}
    needs_java = any(base_name(metric) in _JAVA_METRICS for metric in metrics)
    named = ((each.metadata["Name"] or "", each.version) for each in importlib.metadata.distributions())
    used = sorted(
        (name.lower().replace("_", "-"), version)
        for name, version in named
        if name.lower() in LIBRARIES or _SPACY_MODEL.fullmatch(name.lower())
    )
    java = next(iter((_said(["java", "-version"]) or "").strip().splitlines()), None) if needs_java else None
    return {
        "shotad": __version__,
        "git": git,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        **({"java": java} if needs_java else {}),
        "libraries": dict(used),
    }


def _said(words: list[str]) -> str | None:
    """What a program says, on either channel; None where it is not there or fails."""
    program = shutil.which(words[0])
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *words[1:]], capture_output=True, text=True, timeout=20, check=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout + done.stderr


SCHEMA = 2
"""Version of ``report.json`` and ``items.jsonl``."""

REPORT, ITEMS, TABLE, SPEED = "report.json", "items.jsonl", "items.csv", "speed.json"

ITEM_FIELDS = (
    "id", "film", "clip", "start", "end", "references", "actions", "prediction", "description", "failure",
    "scale", "threaded",
)  # fmt: skip
"""Of a line of ``items.jsonl``, in its order."""


def report_record(run: Report, intervals: Mapping[str, Span | None]) -> Json:
    """``report.json``."""
    corpus, settings = run.corpus, run.config.measures
    record: Json = {
        "schema": SCHEMA,
        "made_with": surroundings(result.name for result in run.results),
        "dataset": {
            "name": corpus.dataset,
            "title": run.title,
            **hashes_of(corpus),
            "ads": len(corpus.items),
            "films": len({item.film for item in corpus.items}),
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
        "metrics": [metric_record(result, intervals.get(result.name)) for result in run.results],
        "left_out": [{"metric": name, "reason": reason} for name, reason in run.left_out],
        "paper": list(paper_rows(corpus.dataset, run.protocol)),
    }
    plain: Json = map_texts(record, _without_folder)
    names = {film: list(corpus.casts.get(film, ())) for film in sorted({item.film for item in corpus.items})}
    plain["films"] = dict(sorted(run.titles.items()))
    plain["casts"] = {film: cast for film, cast in names.items() if cast}
    return plain


def hashes_of(corpus: Corpus) -> dict[str, str]:
    """SHA-256, in hex, of all ids and human ADs, of their actions, and of the characters' names of their
    films; of the last two empty where none are known."""
    films = {item.film for item in corpus.items}
    texts = sorted(json.dumps([item.id, item.film, list(item.references)]) for item in corpus.items)
    actions = sorted((item.id, *item.actions) for item in corpus.items if item.actions)
    casts = sorted((film, *names) for film, names in corpus.casts.items() if film in films and names)
    told = {
        "texts": "\n".join(texts),
        "actions": json.dumps(actions) if actions else "",
        "casts": json.dumps(casts) if casts else "",
    }
    found = {what: hashlib.sha256(text.encode()).hexdigest() for what, text in told.items()}
    return {what: found[what] if told[what] or what == "texts" else "" for what in told}


def metric_record(result: Result, interval: Span | None) -> Json:
    """One metric of ``report.json``: what it is, its numbers, and of how many items they speak."""
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
    for one in run.results:
        times = {"seconds": round(one.seconds, 3), "rows": len(one.rows), "fresh": one.fresh}
        metrics.append({"name": one.name, **times})
    return {"seconds": round(sum(result.seconds for result in run.results), 3), "metrics": metrics}


def item_lines(run: Report) -> Iterator[str]:
    """``items.jsonl``: one line for each AD of the dataset, with what every metric says of it."""
    rows = {result.name: {row.id: row for row in result.rows} for result in run.results}
    for item in run.corpus.items:
        metrics: Json = {}
        for name, found in rows.items():
            if (row := found.get(item.id)) is not None:
                more = {"failure": row.failure, "notes": dict(row.notes)}
                said = {key: value for key, value in more.items() if value}
                metrics[name] = {"value": row.value, "sums": list(row.sums), **said}
        times = {"start": item.interval.start, "end": item.interval.end}
        told = {name: times[name] if name in times else getattr(item, name) for name in ITEM_FIELDS}
        yield json.dumps({**told, "metrics": metrics}, ensure_ascii=False) + "\n"


def item_table(run: Report) -> str:
    """``items.csv`` (RFC 4180), with the byte order mark by which spreadsheets know UTF-8.

    A text that a spreadsheet would take for a formula gets an apostrophe; ``items.jsonl`` has it as it is.
    """
    out = io.StringIO()
    table = csv.writer(out)
    names = [result.name for result in run.results]
    head = ("id", "film", "title", "clip", "start", "end", "reference", "prediction")
    table.writerow([*head, *names, "notes"])
    rows = {result.name: {row.id: row for row in result.rows} for result in run.results}
    for item in run.scored:
        found = {name: rows[name].get(item.id) for name in names}
        failed = "; ".join(f"{name}: {row.failure}" for name, row in found.items() if row and row.failure)
        times = (f"{item.interval.start:.3f}", f"{item.interval.end:.3f}")
        texts = (item.reference, item.prediction or "")
        cells = [item.id, item.film, run.titles.get(item.film, ""), item.clip, *times, *texts]
        numbers = ("" if row is None or row.value is None else f"{row.value:.6g}" for row in found.values())
        table.writerow(
            [
                *map(formula_safe_cell, cells),
                *numbers,
                formula_safe_cell(item.failure or item.missing or failed),
            ]
        )
    return "\ufeff" + out.getvalue()


def _without_folder(text: str) -> str:
    """A file of this machine by its last name, for what it holds stands by its hash; other texts as they
    are."""
    paths = () if "\n" in text else (PurePosixPath(text), PureWindowsPath(text))
    return next((path.name or text for path in paths if path.is_absolute()), text)


def read_report(path: Path) -> Report:
    """The report in a folder, or beside its ``report.json``; without its settings (`with_settings`).

    Raises EvaluationError where it is missing, damaged, or of a newer version.
    """
    folder = path.parent if path.name == REPORT else path
    head = _json(folder / REPORT)
    if head.get("schema") != SCHEMA:
        raise EvaluationError(
            f"{folder / REPORT} has schema {quoted(head.get('schema'))}, and {SCHEMA} is known here.",
            "Read it with the version of shotad that wrote it, or score again.",
        )
    speed = _json(folder / SPEED).get("metrics", []) if (folder / SPEED).is_file() else []
    speeds = {one["name"]: one for one in speed}
    try:
        with (folder / ITEMS).open(encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.strip()]
        names = ("id", "film", "clip", "prediction", "failure", "scale", "threaded")
        items = tuple(
            Item(
                interval=Interval(line["start"], line["end"]),
                references=tuple(line["references"]),
                description=line.get("description"),
                actions=None if line.get("actions") is None else tuple(line["actions"]),
                **{name: line[name] for name in names},
            )
            for line in lines
        )
        casts = {film: tuple(names) for film, names in head.get("casts", {}).items()}
        report = Report(
            corpus=Corpus(items, casts, head["dataset"]["name"]),
            config=Config(),
            predictions=head["predictions"],
            results=tuple(_result(one, lines, speeds.get(one["name"], {})) for one in head["metrics"]),
            extra=head["n"]["extra"],
            doubled=head["n"]["doubled"],
            left_out=tuple((left["metric"], left["reason"]) for left in head["left_out"]),
            configs=tuple(head["config"]["named"]),
            assignments=tuple(head["config"]["set"]),
            title=head["dataset"]["title"],
            titles=head["films"],
            protocol=head["protocol"],
            notes=tuple(head["notes"]),
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
    """A report that was read, with the settings that it was made by. Raises EvaluationError for those of
    another version."""
    config = report.head["config"]
    try:
        measures = MeasureSettings.model_validate(config["measures"])
    except ValueError as error:
        raise EvaluationError(
            f"The settings of {report.name} are not those of this version: {error}.", "Score it again."
        ) from None
    return replace(report, config=Config(seed=config["seed"], measures=measures))


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
        figure=MetricFormula(**head["figure"]),
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


def merge(reports: Sequence[Report]) -> Report:
    """The run that the shards, which were read, are parts of.

    Raises EvaluationError where they are of different datasets, metrics or settings, or have ADs in common.
    """
    if not reports:
        raise EvaluationError("There is no report to merge.", "Name the folders of all shards.")
    first = reports[0]
    for other in reports[1:]:
        _check_same_run(first, other)
    inputs = [with_settings(report) for report in reports]
    items = {item.id: item for item in first.items}  # each as it stands in the report that scored it
    for run in reports[1:]:
        items.update((item.id, item) for item in run.scored)
    place = {name: k for k, name in enumerate(items)}
    results = []
    for result in first.results:
        whole = reduce(add, (found for report in reports if (found := report.result(result.name))))
        # In the dataset's order, however the shards came: sums are then the same to the last bit.
        results.append(only(whole, sorted((row.id for row in whole.rows), key=place.__getitem__)))
    # Counts of a file that all shards have read stand once; those of several files add up.
    joined = {(run.predictions["name"], run.predictions["sha256"]): run for run in inputs}.values()
    return replace(
        inputs[0],
        name="",
        head={},
        corpus=replace(first.corpus, items=tuple(items.values())),
        results=tuple(results),
        predictions=_predictions(reports),
        extra=sum(one.extra for one in joined),
        doubled=sum(one.doubled for one in joined),
        left_out=tuple(dict.fromkeys(left for run in reports for left in run.left_out)),
        titles={name: title for run in reports for name, title in run.titles.items()},
        notes=tuple(dict.fromkeys(note for run in reports for note in run.notes)),
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


def _predictions(reports: Sequence[Report]) -> dict[str, str]:
    """The file of all shards, or their names one after the other."""
    found = [dict(one) for one in dict.fromkeys(tuple(run.predictions.items()) for run in reports)]
    if len(found) == 1:
        return found[0]
    systems = dict.fromkeys(one["system"] for one in found if one["system"])
    names, hashes = [one["name"] for one in found], [one["sha256"] for one in found]
    digest = AND.join(hashes) if all(hashes) else ""
    return {"name": AND.join(names), "sha256": digest, "system": AND.join(systems)}
