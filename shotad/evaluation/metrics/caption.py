"""CIDEr, BLEU and ROUGE-L as metrics of items, equal to the COCO caption tools, without Java; METEOR and
SPICE, by the Java programs that those tools bring along (pycocoevalcap).

BLEU: Papineni et al., ACL 2002. ROUGE-L: Lin, 2004, as the COCO tool weighs it. CIDEr: Vedantam, Zitnick and
Parikh, CVPR 2015: ten times the cosine of weighted n-gram counts, averaged over n of 1 to 4. What the COCO
tool calls CIDEr is their CIDEr-D: a repeated n-gram counts no more than in the reference, and a different
length is punished.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, reduce
from math import sqrt
from operator import add, or_
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core.errors import EvaluationError, quoted
from shotad.core.weight_store import file_sha256
from shotad.core.workfolder import hash_key
from shotad.evaluation.metric import METEOR_STAGES, Corpus, Floats, Item, Json, Metric, MetricFormula, Row
from shotad.evaluation.metrics.ptb import VERSION, tokens
from shotad.evaluation.store import MetricContext

Tokens = Sequence[str]
FEW = 100
"""Items below which frequencies of words say little."""


class CaptionMetric(Metric):
    """What metrics of texts have in common: a row depends on the item's texts, and on nothing else of it."""

    columns: tuple[str, ...] = ("score", "items")

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        items = [corpus.items[place] for place in places]
        return [{"prediction": item.prediction, "references": list(item.references)} for item in items]

    def _tokens(self, texts: Iterable[str]) -> list[tuple[str, ...]]:
        """Those of the COCO chain (`shotad.evaluation.metrics.ptb`) of each text, in order."""
        wanted = list(texts)
        found: dict[str, tuple[str, ...]] = self._context.once("tokens", dict)
        keys = {text: hash_key(text) for text in dict.fromkeys(wanted) if text not in found}
        lines = self._context.store.filled(
            f"tokens/{VERSION}", keys, lambda new: [{text: " ".join(tokens(text)).encode() for text in new}]
        )
        found |= {text: tuple(line.decode().split(" ")) if line else () for text, line in lines.items()}
        return [found[text] for text in wanted]

    def _predictions(self, items: Sequence[Item]) -> list[tuple[str, ...]]:
        """Tokens of what was predicted; none of a missing prediction."""
        return self._tokens(item.prediction or "" for item in items)

    def _references(self, items: Sequence[Item]) -> list[list[tuple[str, ...]]]:
        """Tokens of every human AD of each item."""
        found = iter(self._tokens(text for item in items for text in item.references))
        return [[next(found) for _ in item.references] for item in items]

    def _share(self, item: Item, score: float) -> Row:
        """The row of a score of 0 to 1, which is averaged over items."""
        return Row(item.id, (score, 1.0), self.figure.factor * score, item.missing)


LONGEST = 4
SIGMA = 6.0
"""Tokens: how far a length may differ (CIDEr-D)."""


def _total(values: Iterable[float]) -> float:
    """Added up one after the other, on every Python: `sum` of 3.12 and later rounds otherwise."""
    return reduce(add, values, 0.0)


class Cider(CaptionMetric):
    """``cider``: the COCO tool's, which is CIDEr-D; ``cider-plain``: the first definition, without stemming
    (the paper reduces words to their stems first, its authors' program does not). Times 100.

    Frequencies are those of all references of the corpus, also where a shard of it is scored.
    """

    def __init__(self, name: str, context: MetricContext) -> None:
        super().__init__(name, context)
        self._plain = name == "cider-plain"
        self.title = "CIDEr, first definition" if self._plain else "CIDEr"
        self._few: tuple[str, ...] = ()

    @property
    def comparable(self) -> bool:
        return not self._plain

    @property
    def remarks(self) -> tuple[str, ...]:
        what = "Not the CIDEr-D of the COCO tool, which papers call CIDEr: not comparable with their numbers."
        return (what, *self._few) if self._plain else self._few

    @property
    def identity(self) -> Json:
        kind = {"definition": "CIDEr-D", "sigma": SIGMA}
        if self._plain:
            kind = {"definition": "CVPR 2015, no stems"}
        return {"metric": self.name, **kind, "longest": LONGEST, "tokens": VERSION}

    def basis(self, corpus: Corpus) -> str:
        """Hash of all references. What is to be remarked on them is known from here on."""
        n = len(corpus.items)
        few = f"CIDEr with frequencies of only {n} items: not to be compared with others."
        self._few = (few,) if n < FEW else ()
        return hash_key(sorted(item.references for item in corpus.items))

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """All at once: frequencies are counted over the whole corpus; in one of a single item all are 0."""
        items = [corpus.items[place] for place in places]
        references = [words(group) for group in self._references(corpus.items)]
        lines, rows = [], []
        for row, (place, ours) in enumerate(zip(places, words(self._predictions(items)), strict=True)):
            lines += [(ours, theirs) for theirs in references[place]]
            rows += [row] * len(references[place])
        alike = np.zeros(len(lines))
        for n in range(1, LONGEST + 1):
            met = Counter(g for group in references for g in {g for line in group for g in _grams(line, n)})
            rare = np.log(float(len(references))) - np.log(np.array([1, *met.values()], np.float64))
            rarity = dict(zip(met, rare[1:].tolist(), strict=True))
            weights = {
                line: {gram: k * rarity.get(gram, float(rare[0])) for gram, k in _grams(line, n).items()}
                for line in {line for pair in lines for line in pair}
            }
            lengths = {line: sqrt(_total(w * w for w in found.values())) for line, found in weights.items()}
            for at, (ours, theirs) in enumerate(lines):
                own, below = weights[ours], lengths[ours] * lengths[theirs]
                shared = [(own[gram], weight) for gram, weight in weights[theirs].items() if gram in own]
                if below:
                    alike[at] += _total((a if self._plain else min(a, b)) * b for a, b in shared) / below
        if not self._plain:
            apart = np.array([len(ours) - len(theirs) for ours, theirs in lines], np.float64)
            alike *= np.exp(-(apart**2) / (2 * SIGMA**2))
        total = np.bincount(rows, alike, minlength=len(items))
        count = np.bincount(rows, minlength=len(items))
        scores = 10.0 * total / LONGEST / np.maximum(count, 1)
        return [self._share(item, float(score)) for item, score in zip(items, scores, strict=True)]


class Bleu(CaptionMetric):
    """``bleu-1`` to ``bleu-4``: of the whole corpus, with the reference of nearest length. Times 100."""

    figure = MetricFormula("bleu", 100.0)

    def __init__(self, name: str, context: MetricContext) -> None:
        super().__init__(name, context)
        self.title = name.upper()
        self._longest = int(name.removeprefix("bleu-"))
        grams = range(1, self._longest + 1)
        self.columns = (
            *(f"{n}-grams matched" for n in grams),
            *(f"{n}-grams" for n in grams),
            "length",
            "reference length",
        )

    @property
    def identity(self) -> Json:
        return {"metric": self.name, "length": "closest", "tokens": VERSION}

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        items = [corpus.items[place] for place in places]
        predictions = words(self._predictions(items))
        references = [tuple(words(group)) for group in self._references(items)]
        pairs = list(zip(predictions, references, strict=True))
        known: dict[Any, Floats] = self._context.once("bleu", dict)  # one BLEU counts for all four
        new = list(dict.fromkeys(pair for pair in pairs if pair not in known))
        ours, theirs = [pair[0] for pair in new], [pair[1] for pair in new]
        known |= zip(new, bleu_sums(ours, theirs, LONGEST), strict=True)
        kept = [*range(self._longest), *range(LONGEST, LONGEST + self._longest), -2, -1]
        sums = np.array([known[pair] for pair in pairs]).reshape(-1, 2 * LONGEST + 2)[:, kept]
        return [
            Row(item.id, tuple(map(float, row)), float(value), item.missing)
            for item, row, value in zip(items, sums, self.figure.of(sums), strict=True)
        ]


class RougeL(CaptionMetric):
    """``rouge-l``: the mean over items. Times 100."""

    title = "ROUGE-L"

    @property
    def identity(self) -> Json:
        return {"metric": self.name, "beta": BETA, "tokens": VERSION}

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        items = [corpus.items[place] for place in places]
        found = zip(items, self._predictions(items), self._references(items), strict=True)
        for item, ours, theirs in found:
            yield self._share(item, rouge_l(ours, theirs))


BETA = 1.2
"""Recall counts this much more than precision (COCO tool)."""


def rouge_l(prediction: Tokens, references: Sequence[Tokens]) -> float:
    """0 to 1, of the best precision and the best recall of any reference; 0 of an empty prediction."""
    where: dict[str, int] = {}
    for place, token in enumerate(prediction):
        where[token] = where.get(token, 0) | 1 << place
    full, precision, recall = (1 << len(prediction)) - 1, 0.0, 0.0
    for reference in references:
        # The longest common subsequence, with a bit for each of our tokens (Crochemore et al., A fast and
        # practical bit-vector algorithm for the longest common subsequence problem, 2001).
        left = full
        for token in reference:
            found = left & where.get(token, 0)
            left = ((left + found) | (left - found)) & full
        if common := (full ^ left).bit_count():
            precision = max(precision, common / len(prediction))
            recall = max(recall, common / len(reference))
    if not precision or not recall:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def bleu_sums(predictions: Sequence[Tokens], references: Sequence[Sequence[Tokens]], longest: int) -> Floats:
    """``float64[n, 2 longest + 2]`` for n predictions, each with its own references: n-grams that are in a
    reference, clipped to the most that one of them has; all n-grams; the length of the prediction and that
    of the reference nearest in length (of two as near, the shorter)."""
    rows = []
    for prediction, group in zip(predictions, references, strict=True):
        matches = []
        for n in range(1, longest + 1):
            most = reduce(or_, (_grams(reference, n) for reference in group))
            matches.append((_grams(prediction, n) & most).total())
        size = len(prediction)
        nearest = min((abs(len(reference) - size), len(reference)) for reference in group)[1]
        rows.append([*matches, *(max(size - n, 0) for n in range(longest)), size, nearest])
    return np.array(rows, np.float64).reshape(-1, 2 * longest + 2)


def _grams(sentence: Tokens, n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(sentence[k:] for k in range(n)), strict=False))


def words(sentences: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Tokens parted at every blank, as the COCO tools read them for CIDEr and BLEU: one that holds a
    non-breaking space is two words there."""
    return [found if " ".join(found).isascii() else tuple(" ".join(found).split()) for found in sentences]


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
    """``meteor``: METEOR 1.5 for English, as the COCO tools call it: by the reference that it likes best. The
    number is that of the summed counts. Times 100."""

    title = "METEOR"
    figure = MetricFormula("meteor", 100.0)
    columns = METEOR_COLUMNS

    def __init__(self, name: str, context: MetricContext) -> None:
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
                what = f"METEOR's answer to item {item.id} cannot be read: {quoted(answer)}."
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
                raise EvaluationError(f"SPICE's answer cannot be read: {quoted(error)}.") from None
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
