"""``report.json``, ``items.jsonl`` and ``items.csv``: all that a report says, for programs and spreadsheets.

They hold no clock times and no folders of the machine, so that equal runs write equal bytes; how long the
metrics took stands in ``speed.json``.

With what a report was made: versions of programs and libraries, and the state of the checkout.
"""

from __future__ import annotations

import csv
import importlib.metadata
import io
import json
import ntpath
import platform
import posixpath
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import shotad
from shotad import __version__
from shotad.evaluation.metric import Json, Result
from shotad.evaluation.report.inputs import ReportInput, actions_hash, base_name, casts_hash, texts_hash
from shotad.evaluation.report.intervals import Span
from shotad.evaluation.report.table import paper_rows
from shotad.evaluation.report.wording import counted_as_0

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
    needs_java = any(base_name(metric) in _JAVA_METRICS for metric in metrics)
    java = next(iter((_said(["java", "-version"]) or "").strip().splitlines()), None) if needs_java else None
    return {
        "shotad": __version__,
        "git": _git(Path(shotad.__file__).resolve().parent.parent),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        **({"java": java} if needs_java else {}),
        "libraries": dict(sorted(_versions())),
    }


def _versions() -> Iterator[tuple[str, str]]:
    for distribution in importlib.metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower()
        if name in LIBRARIES or _SPACY_MODEL.fullmatch(name):
            yield name.replace("_", "-"), distribution.version


def _git(root: Path) -> dict[str, Any] | None:
    """Commit of the checkout that shotad runs from; None where it is installed, or git is not there."""
    top = _said(["git", "-C", str(root), "rev-parse", "--show-toplevel"])
    commit = _said(["git", "-C", str(root), "rev-parse", "HEAD"])
    if top is None or commit is None or Path(top.strip()).resolve() != root:
        return None
    changed = _said(["git", "-C", str(root), "status", "--porcelain", "--untracked-files=no"])
    return {"commit": commit.strip(), "dirty": None if changed is None else bool(changed.strip())}


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


SCHEMA = 1
"""Version of ``report.json`` and ``items.jsonl``."""

REPORT, ITEMS, TABLE, SPEED = "report.json", "items.jsonl", "items.csv", "speed.json"

ITEM_FIELDS = (
    "id", "film", "clip", "start", "end", "references", "actions", "prediction", "description", "failure",
    "scale", "threaded",
)  # fmt: skip
"""Of a line of ``items.jsonl``, in its order."""

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""What a spreadsheet would compute."""


def report_record(run: ReportInput, intervals: Mapping[str, Span | None]) -> Json:
    """``report.json``."""
    corpus, settings = run.corpus, run.config.measures
    record: Json = {
        "schema": SCHEMA,
        "made_with": surroundings(result.name for result in run.results),
        "dataset": {
            "name": corpus.dataset,
            "title": run.title,
            "texts": texts_hash(corpus),
            "actions": actions_hash(corpus),
            "casts": casts_hash(corpus),
            "ads": len(corpus.items),
            "films": len({item.film for item in corpus.items}),
        },
        "predictions": asdict(run.predictions),
        "protocol": run.protocol,
        "n": {
            "ads": len(corpus.items),
            "in_this_report": len(run.items),
            "missing": len(run.missing),
            "failed": len(run.failed),
            "skipped": len(run.skipped),
            "extra": run.joined.extra,
            "doubled": run.joined.doubled,
        },
        "config": {
            "named": list(run.configs),
            "set": list(run.assignments),
            "seed": run.seed,
            "measures": settings.with_former(),
        },
        "notes": list(run.notes),
        "metrics": [metric_record(result, intervals.get(result.name)) for result in run.results],
        "left_out": [asdict(left) for left in run.left_out],
        "paper": [row.record() for row in paper_rows(corpus.dataset, run.protocol)],
    }
    plain: Json = _without_folders(record)
    names = {film: list(corpus.casts.get(film, ())) for film in sorted({item.film for item in corpus.items})}
    plain["films"] = dict(sorted(run.films.items()))
    plain["casts"] = {film: cast for film, cast in names.items() if cast}
    return plain


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


def speed_record(run: ReportInput) -> Json:
    """``speed.json``: seconds of each metric, and how many of its rows were counted in this run."""
    metrics = []
    for one in run.results:
        times = {"seconds": round(one.seconds, 3), "rows": len(one.rows), "fresh": one.fresh}
        metrics.append({"name": one.name, **times})
    return {"seconds": round(sum(result.seconds for result in run.results), 3), "metrics": metrics}


def item_lines(run: ReportInput) -> Iterator[str]:
    """``items.jsonl``: one line for each AD of the dataset, with what every metric says of it: nothing, where
    it is of another shard, or was left out."""
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


def item_table(run: ReportInput) -> str:
    """``items.csv`` (RFC 4180), with the byte order mark by which spreadsheets know UTF-8.

    A text that a spreadsheet would take for a formula gets an apostrophe; ``items.jsonl`` has it as it is.
    """
    out = io.StringIO()
    table = csv.writer(out)
    names = [result.name for result in run.results]
    head = ("id", "film", "title", "clip", "start", "end", "reference", "prediction")
    table.writerow([*head, *names, "notes"])
    rows = {result.name: {row.id: row for row in result.rows} for result in run.results}
    for item in run.items:
        found = {name: rows[name].get(item.id) for name in names}
        failed = "; ".join(f"{name}: {row.failure}" for name, row in found.items() if row and row.failure)
        times = (f"{item.interval.start:.3f}", f"{item.interval.end:.3f}")
        texts = (item.reference, item.prediction or "")
        cells = [item.id, item.film, run.films.get(item.film, ""), item.clip, *times, *texts]
        numbers = ("" if row is None or row.value is None else f"{row.value:.6g}" for row in found.values())
        table.writerow([*map(_cell, cells), *numbers, _cell(item.failure or item.missing or failed)])
    return "\ufeff" + out.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) else text


def _without_folders(value: Any) -> Any:
    """JSON in which a file of this machine is called by its last name: what it holds stands by its hash."""
    if isinstance(value, Mapping):
        return {key: _without_folders(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_folders(inner) for inner in value]
    if isinstance(value, str) and "\n" not in value:
        if posixpath.isabs(value):
            return posixpath.basename(value.rstrip("/")) or value
        if ntpath.isabs(value) and ntpath.splitdrive(value)[0]:
            return ntpath.basename(value.rstrip("\\/")) or value
    return value
