"""CML-Bench over many screenplays: files in, a table like the paper's Table 1 out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from shotad import __version__
from shotad.core import EvaluationError, aligned, plural, reported
from shotad.description import check_templates, prompt_hash, render
from shotad.evaluation.cml.features import CML_TEMPLATES, ScriptFeatures, ScriptParts, extract_features
from shotad.evaluation.cml.markup import ScriptForm, read_cml
from shotad.evaluation.cml.scores import (
    CML_METRICS,
    CmlScore,
    Needed,
    cml_scores,
    compared_texts,
    differences,
)
from shotad.evaluation.datasets.tables import read_records
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.judge import ASKED_AGAIN, Judge
from shotad.evaluation.store import MetricContext, vectors_of

_RECORDS, _TEXTS = (".json", ".jsonl"), (".xml", ".cml", ".txt")
_TEXT = ("script_segment", "response", "script", "text")
_TITLE = ("movie_name", "title")
_ID = ("imdb_id", "id")
"""Names that a column may have; the first are those of the published files."""
_SHOWN = 10
"""Failures that the text names; cml.json has all."""


def cml_instruction(title: str, summary: str) -> str:
    """A prompt that asks any language model for a screenplay of a summary, in CML (``prompts/cml``).

    It is to the paper's CML-Instruction (appendix E) what our questions are to its questions: the same
    content in our own words. Raises PromptError for a template that was edited and lacks a variable.
    """
    check_templates({"cml/instruction": ("title", "summary")})
    return render("cml/instruction", title=title, summary=summary)


@dataclass(frozen=True, slots=True)
class ScriptText:
    """A screenplay as it came. ``source`` is what it is counted under: its file of many, or its folder."""

    id: str
    title: str
    source: str
    text: str


def read_scripts(paths: Sequence[Path]) -> tuple[ScriptText, ...]:
    """The screenplays in files and folders.

    ``.xml``, ``.cml`` and ``.txt`` hold one each; ``.json`` and ``.jsonl`` many, as in the published dataset:
    a column ``response`` or ``script_segment``, and ``movie_name``, ``imdb_id``. Raises EvaluationError for
    what is not there or holds none, DatasetError for a table that cannot be read.
    """
    found = [script for path in paths for file in _files(path) for script in _scripts(file)]
    if not found:
        known = " ".join((*_TEXTS, *_RECORDS))
        raise EvaluationError(f"No screenplay in {', '.join(map(str, paths))}.", f"Known: {known}.")
    return tuple(found)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.suffix.lower() in (*_TEXTS, *_RECORDS))
    if not path.is_file():
        raise EvaluationError(f"There is no file or folder {path}.", "Name screenplays, or a folder of them.")
    return [path]


def _scripts(path: Path) -> list[ScriptText]:
    if path.suffix.lower() in _RECORDS:
        table = read_records(path)
        text, title, name = table.needed(_TEXT, "the screenplay"), table.column(_TITLE), table.column(_ID)
        return [
            ScriptText(
                table.text(row, name) or f"{path.stem}:{number}",
                table.text(row, title) or "",
                path.stem,
                table.text(row, text) or "",
            )
            for number, row in enumerate(table.rows, 1)
        ]
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{path} cannot be read: {error}.", "Save it as text in UTF-8.") from None
    return [ScriptText(path.stem, path.stem, path.absolute().parent.name, content)]


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """What was found of one screenplay."""

    script: ScriptText
    form: ScriptForm
    parts: ScriptParts
    features: ScriptFeatures
    scores: Mapping[str, CmlScore]

    def record(self) -> Json:
        """All of it as JSON, the features too, so that a figure can be looked into."""
        counts = {name: len(getattr(self.parts, name)) for name in ("scenes", "turns", "actions")}
        return {
            **{name: getattr(self.script, name) for name in ("id", "title", "source")},
            "read": self.form,
            "n": {**counts, "characters": len(self.parts.characters())},
            "scores": {name: asdict(score) for name, score in self.scores.items()},
            "features": asdict(self.features),
        }


@dataclass(frozen=True, slots=True)
class CmlReport:
    """The results of all screenplays, and what made them."""

    results: tuple[ScriptResult, ...]
    models: Mapping[Needed, str]
    identity: Json

    @property
    def failed(self) -> int:
        """How many screenplays have an answer that failed."""
        return sum(bool(result.features.failures) for result in self.results)

    @property
    def text(self) -> str:
        """All of it for people: how many were read, a row for each source, what the figures depend on."""
        count = len(self.results)
        by = {form: sum(one.form == form for one in self.results) for form in ("tags", "text")}
        read = by["tags"] + by["text"]
        lines = [
            f"CML-Bench of {plural(count, 'screenplay')}.",
            f"Features by {self.models['judge']}, analyses by {self.models['analyst']}, "
            f"vectors by {self.models['embedding']}.",
            f"Read: {read} of {count} ({100 * read / count:.1f}%), {by['tags']} by their tags, "
            f"{by['text']} as plain text.",
        ]
        for kind, head in (("paper", "By the paper's text"), ("code", "By the published code")):
            lines += ["", *self._table(kind, head)]
        odd = "; ".join(differences(self.models).values())
        lines += ["", f"* Not comparable with the paper: {odd}. All questions are in our own words."]
        for name, metric in CML_METRICS.items():
            reasons = [one.scores[name].reason for one in self.results if one.scores[name].reason]
            if reasons:
                what = f"Counted as 0: {metric.title} ({metric.source}), {len(reasons)} of {count}"
                lines.append(f"{what}: {'; '.join(dict.fromkeys(reasons)).rstrip('.')}.")
        failures = [(one.script.id, *what) for one in self.results for what in one.features.failures.items()]
        lines += [f"Engine failed: {name}, {what}: {why}" for name, what, why in failures[:_SHOWN]]
        if failures:
            more = f"{plural(self.failed, 'screenplay')} with answers that failed"
            lines.append(f"{more}. Run the same command again: what is done is kept.")
        return "\n".join(lines)

    def record(self) -> Json:
        """``cml.json``."""
        return {
            "schema": 1,
            "shotad": __version__,
            "made_by": self.identity,
            "n": {"scripts": len(self.results), "failed": self.failed},
            "metrics": [
                {
                    "name": name,
                    "title": metric.title,
                    "definition": metric.source,
                    "comparable": not self._odd(name),
                    "why_not": self._odd(name),
                }
                for name, metric in CML_METRICS.items()
            ],
            "sources": [
                {
                    "source": source,
                    "scripts": len(those),
                    "read": sum(one.form != "none" for one in those),
                    "by_tags": sum(one.form == "tags" for one in those),
                    "means": {name: _mean(those, name) for name in CML_METRICS},
                }
                for source, those in self._sources().items()
            ],
            "scripts": [result.record() for result in self.results],
        }

    def _sources(self) -> dict[str, list[ScriptResult]]:
        found: dict[str, list[ScriptResult]] = {}
        for result in self.results:
            found.setdefault(result.script.source, []).append(result)
        return found

    def _odd(self, name: str) -> list[str]:
        """Why a metric's figures are not comparable with the paper's; empty where they are."""
        return [why for need, why in differences(self.models).items() if need in CML_METRICS[name].needs]

    def _table(self, kind: str, head: str) -> list[str]:
        names = [name for name, metric in CML_METRICS.items() if metric.source == kind]
        heads = (f"{name[:3].upper()}{'*' if self._odd(name) else ''}" for name in names)
        rows = [
            (source, f"{len(those):,}", *(f"{_mean(those, name):.3f}" for name in names))
            for source, those in self._sources().items()
        ]
        return aligned((head, "Scripts", *heads), rows, range(1, len(names) + 2))


def _mean(results: Sequence[ScriptResult], name: str) -> float:
    return math.fsum(one.scores[name].value for one in results) / len(results)


def evaluate_cml(
    scripts: Sequence[ScriptText], judge: str, analyst: str, context: MetricContext
) -> CmlReport:
    """CML-Bench of these screenplays.

    ``judge`` finds features, ``analyst`` lists events and says what is special; both are engines by name
    (`shotad.evaluation.metrics.judge`). Answers and vectors are kept on the context as they come. Raises
    ShotadError for an engine or an embedding model that cannot be had, EngineError for what stops an engine.
    """
    check_templates({**CML_TEMPLATES, **ASKED_AGAIN})
    vectors = vectors_of(context)
    embedding = vectors.identity  # a model that is not here is said before any engine is asked
    finder = Judge(judge, context)
    sayer = finder if analyst == judge else Judge(analyst, context)
    found: list[tuple[ScriptText, ScriptForm, ScriptParts, ScriptFeatures]] = []
    with reported(context.progress, "Reading screenplays", len(scripts), "screenplays") as task:
        for script in scripts:
            read = read_cml(script.text, script.title)
            parts = ScriptParts.of(read.screenplay)
            found.append((script, read.form, parts, extract_features(parts, finder, sayer)))
            task.advance(1)
    vectors.of([text for _, _, parts, features in found for text in compared_texts(parts, features)])
    results = [ScriptResult(*one, cml_scores(one[2], one[3], vectors.of)) for one in found]
    made_by: Json = {"judge": finder.identity, "analyst": sayer.identity, "embedding": embedding}
    models: dict[Needed, str] = {"embedding": embedding["model"]}
    models["judge"], models["analyst"] = (
        " ".join(filter(None, (made_by[who]["engine"], made_by[who]["model"])))
        for who in ("judge", "analyst")
    )
    made_by["prompts"] = prompt_hash([*CML_TEMPLATES, *ASKED_AGAIN])
    return CmlReport(tuple(results), models, made_by)
