"""METEOR and SPICE, by the Java programs that the COCO tools bring along (pycocoevalcap)."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from shotad.core import EvaluationError, file_sha256
from shotad.evaluation.metric import METEOR_STAGES, Corpus, Figure, Json, Row
from shotad.evaluation.metrics.caption import CaptionMetric
from shotad.evaluation.metrics.ptb import VERSION
from shotad.evaluation.store import MetricContext

_SIDES = ("prediction", "reference")
METEOR_COLUMNS = (
    *(f"{side} words" for side in _SIDES),
    *(f"{side} function words" for side in _SIDES),
    *(
        f"{stage} {kind}, {side}"
        for stage in METEOR_STAGES
        for kind in ("content", "function")
        for side in _SIDES
    ),
    "chunks",
    *(f"{side} words matched" for side in _SIDES),
)
"""In the order in which the program prints them."""

SPICE_JARS = "SHOTAD_SPICE_JARS"
"""The variable that names the folder of CoreNLP's jars."""
_CORENLP = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
_LAST_WITH_SCRIPTS = 14
"""Java had its own JavaScript engine until here; SPICE's program writes its answer by one."""
_PIECE = 512
"""Items that SPICE scores in one run of its program: what was done is kept when a later run fails."""


class Meteor(CaptionMetric):
    """``meteor``: METEOR 1.5 for English, as the COCO tools call it; with as many references as there are,
    the one that it likes best. The number is that of the summed counts, as in the COCO tools. Times 100."""

    title = "METEOR"
    figure = Figure("meteor", 100.0)
    columns = METEOR_COLUMNS

    def __init__(self, name: str, context: MetricContext) -> None:
        """Raises EvaluationError where pycocoevalcap or Java are missing."""
        super().__init__(name, context)
        self._jar = coco_file("meteor/meteor-1.5.jar", "METEOR")
        coco_file("meteor/data/paraphrase-en.gz", "METEOR")
        self._java, _ = java_of("METEOR")

    @cached_property
    def _files(self) -> Json:
        paraphrases = self._jar.parent / "data" / "paraphrase-en.gz"
        return {path.name: file_sha256(path)[:16] for path in (self._jar, paraphrases)}

    @property
    def identity(self) -> Json:
        return {"metric": self.name, "files": self._files, "options": "-l en -norm", "tokens": VERSION}

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        items = [corpus.items[place] for place in places]
        lines = [
            " ||| ".join(("SCORE", *(" ".join(reference) for reference in theirs), " ".join(ours)))
            for ours, theirs in zip(self._predictions(items), self._references(items), strict=True)
        ]
        # As the COCO tools start it; the files' names are relative there too.
        command = [str(self._java), "-Xmx2G", "-jar", self._jar.name, "-", "-", "-stdio", "-l", "en", "-norm"]
        run = _run("METEOR", command, "".join(f"{line}\n" for line in lines), self._jar.parent)
        answers = run.stdout.split("\n")[:-1]
        for item, answer in zip(items, answers, strict=False):
            try:
                sums = tuple(map(float, answer.split()))
            except ValueError:
                sums = ()
            if len(sums) != len(METEOR_COLUMNS):
                what = f"METEOR's answer to item {item.id} cannot be read: {answer[:200]!r}."
                raise EvaluationError(what)
            # A text that is matched whole in one run is not broken: it adds no run to the sums (METEOR 1.5).
            matches = tuple(sum(sums[side:20:2]) for side in (4, 5))
            whole = matches == sums[:2] and sums[20] == 1
            sums = (*sums[:20], 0.0, *sums[21:]) if whole else sums
            yield Row(item.id, sums, float(self.figure.of(np.array(sums))), item.missing)
        if len(answers) < len(items):
            said = run.stderr.strip()[:400] or "it said nothing"
            raise EvaluationError(
                f"METEOR ended with code {run.returncode} before it had answered: {said}",
                "Is there enough memory (it takes 2 GB)? Does it run with this Java?",
            )


class Spice(CaptionMetric):
    """``spice``: the mean over items of the F-score of scene graphs, as in the COCO tools. Times 100.

    Its program needs Stanford's CoreNLP 3.6.0 with its models (360 MB), which pycocoevalcap does not bring.
    """

    title = "SPICE"
    columns = ("score", "items", "tuples matched", "tuples only predicted", "tuples only in references")

    def __init__(self, name: str, context: MetricContext) -> None:
        """Raises EvaluationError where pycocoevalcap, Java, or CoreNLP with its models are missing."""
        super().__init__(name, context)
        program = coco_file("spice/spice-1.0.jar", "SPICE")
        self._java, version = java_of("SPICE")
        named = os.environ.get(SPICE_JARS)  # else CoreNLP is looked for beside SPICE's other libraries
        folder = Path(named) if named else program.parent / "lib"
        absent = [jar for jar in _CORENLP if not (folder / jar).is_file()]
        if absent:
            raise EvaluationError(
                f"SPICE needs {' and '.join(absent)}, not found in {folder}.",
                "Get Stanford CoreNLP 3.6.0 with its English models (in a Maven repository: "
                "edu.stanford.nlp:stanford-corenlp:3.6.0, and the same with classifier models), put both "
                f"into a folder, and name it by {SPICE_JARS}; or leave the metric out.",
            )
        libraries = [*sorted((program.parent / "lib").glob("*.jar")), *sorted(folder.glob("*.jar"))]
        if version > _LAST_WITH_SCRIPTS and not any("nashorn" in path.name for path in libraries):
            raise EvaluationError(
                f"SPICE's program needs a JavaScript engine, which Java {version} has not.",
                f"Name a Java of 8 to {_LAST_WITH_SCRIPTS} by JAVA_HOME, or put nashorn-core and its asm "
                f"jars beside CoreNLP's ({SPICE_JARS}); or leave the metric out.",
            )
        self._jars = (program, *dict.fromkeys(libraries))

    @cached_property
    def _files(self) -> Json:
        telling = [path for path in self._jars if path.name.startswith(("spice-", "stanford-corenlp-"))]
        return {path.name: file_sha256(path)[:16] for path in telling}

    @property
    def identity(self) -> Json:
        return {"metric": self.name, "files": self._files, "tokens": VERSION}

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """In pieces; each is one run of the program."""
        for first in range(0, len(places), _PIECE):
            items = [corpus.items[place] for place in places[first : first + _PIECE]]
            # Those of which nothing is predicted are not asked about.
            asked = [
                {"image_id": number, "test": " ".join(ours), "refs": [" ".join(line) for line in theirs]}
                for number, (ours, theirs) in enumerate(
                    zip(self._predictions(items), self._references(items), strict=True)
                )
                if ours
            ]
            scores = self._scores(asked) if asked else {}
            for number, item in enumerate(items):
                said = scores.get(number, {})
                f = said.get("f")
                score = f if isinstance(f, int | float) and np.isfinite(f) else 0.0
                counts = tuple(float(said.get(name, 0)) for name in ("tp", "fp", "fn"))
                yield Row(item.id, (score, 1.0, *counts), 100.0 * score, item.missing)

    def _scores(self, asked: Sequence[Json]) -> dict[int, Json]:
        """One run of the program: what it says of all tuples, by ``image_id``."""
        with tempfile.TemporaryDirectory(prefix="shotad-spice-") as folder:
            told, answer = Path(folder) / "question.json", Path(folder) / "answer.json"
            told.write_text(json.dumps(asked), encoding="utf-8")
            paths = os.pathsep.join(map(str, self._jars))
            main = ["-Dfile.encoding=UTF-8", "-Xmx8G", "-cp", paths, "edu.anu.spice.SpiceScorer"]
            run = _run("SPICE", [self._java, *main, told, "-out", answer, "-silent"])
            if run.returncode or not answer.is_file():
                raise EvaluationError(
                    f"SPICE's program ended with code {run.returncode}: {run.stderr.strip()[-400:]}",
                    "Is there enough memory (it takes 8 GB)? Does it run with this Java (8 is best)?",
                )
            try:
                found: list[Json] = json.loads(answer.read_text(encoding="utf-8"))
                scores = {int(entry["image_id"]): dict(entry["scores"]["All"]) for entry in found}
            except (ValueError, KeyError, TypeError) as error:
                raise EvaluationError(f"SPICE's answer cannot be read: {error!r}.") from None
        if len(scores) != len(asked):
            raise EvaluationError(f"SPICE answered to {len(scores)} of {len(asked)} items.")
        return scores


def coco_file(path: str, wanted_by: str) -> Path:
    """A file of the package pycocoevalcap. Raises EvaluationError where there is none."""
    found = importlib.util.find_spec("pycocoevalcap")
    for folder in (found.submodule_search_locations or ()) if found else ():
        if (Path(folder) / path).is_file():
            return Path(folder) / path
    what = "the package pycocoevalcap, which is not installed" if found is None else f"pycocoevalcap's {path}"
    raise EvaluationError(
        f"{wanted_by} needs {what}.",
        'Install it with: pip install "shotad[coco]" (about 100 MB), or leave the metric out.',
    )


def java_of(wanted_by: str) -> tuple[Path, int]:
    """Java, of JAVA_HOME or else of the PATH, and its main version: 8, 11, 17. Raises EvaluationError where
    there is none, or where it does not run."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    program = program or shutil.which("java")
    if program is None:
        raise EvaluationError(
            f"{wanted_by} needs Java, and there is no java on the PATH (JAVA_HOME is {home or 'not set'}).",
            "Install a Java runtime, such as default-jre-headless or openjdk, or leave the metric out.",
        )
    try:
        run = subprocess.run(
            [program, "-version"], capture_output=True, text=True, check=True, timeout=60, errors="replace"
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EvaluationError(
            f"{wanted_by} needs Java, and {program} does not run: {error}.",
            "Name another by JAVA_HOME, or leave the metric out.",
        ) from None
    found = re.search(r'version "(?:1\.)?(\d+)', run.stderr + run.stdout)
    return Path(program), int(found[1]) if found else 0


def _run(
    name: str, command: Sequence[str | Path], told: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """A program that has ended, and all that it said. Raises EvaluationError where it cannot be started."""
    try:
        return subprocess.run(
            command,
            input=told,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise EvaluationError(f"{name} cannot be started: {error}.") from None
