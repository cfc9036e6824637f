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

from shotad.core.cancellation import run_process
from shotad.core.errors import EvaluationError, quoted
from shotad.core.installation import install_command
from shotad.core.system import find_program
from shotad.core.weight_store import file_sha256
from shotad.core.workfolder import hash_key
from shotad.evaluation.metric import METEOR_STAGES, Corpus, Floats, Item, Json, Metric, MetricFormula, Row
from shotad.evaluation.metrics.ptb import VERSION, tokens
from shotad.evaluation.store import MetricContext

Tokens = Sequence[str]
FEW = 100
"""Number of items below which frequencies of words say little."""


class CaptionMetric(Metric):
    """Base class of metrics whose rows depend on the item's texts, and on nothing else of it."""

    columns: tuple[str, ...] = ("score", "items")

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        items = [corpus.items[place] for place in places]
        return [{"prediction": item.prediction, "references": list(item.references)} for item in items]

    def _tokens(self, texts: Iterable[str]) -> list[tuple[str, ...]]:
        """The tokens of each text by the COCO tools (`shotad.evaluation.metrics.ptb`), in order."""
        texts = list(texts)
        tokens_by_text: dict[str, tuple[str, ...]] = self._context.once("tokens", dict)
        new_texts = [text for text in dict.fromkeys(texts) if text not in tokens_by_text]

        def tokenize(missing: list[str]) -> list[dict[str, bytes]]:
            return [{text: " ".join(tokens(text)).encode() for text in missing}]

        keys = {text: hash_key(text) for text in new_texts}
        lines = self._context.store.get_or_compute(f"tokens/{VERSION}", keys, tokenize)
        for text, line in lines.items():
            tokens_by_text[text] = tuple(line.decode().split(" ")) if line else ()
        return [tokens_by_text[text] for text in texts]

    def _predictions(self, items: Sequence[Item]) -> list[tuple[str, ...]]:
        """Tokens of each item's prediction; none of a missing one."""
        return self._tokens(item.prediction or "" for item in items)

    def _references(self, items: Sequence[Item]) -> list[list[tuple[str, ...]]]:
        """Tokens of every human AD of each item."""
        all_tokens = iter(self._tokens(text for item in items for text in item.references))
        return [[next(all_tokens) for _ in item.references] for item in items]

    def _share(self, item: Item, score: float) -> Row:
        """The row of a score of 0 to 1, which is averaged over items."""
        return Row(item.id, (score, 1.0), self.figure.factor * score, item.missing)


LONGEST = 4
"""n of the longest n-grams."""
SIGMA = 6.0
"""Deviation of the penalty for another length, in tokens (CIDEr-D)."""


def _total(values: Iterable[float]) -> float:
    """The sum of ``values``, added one after the other: `sum` rounds otherwise from Python 3.12 on."""
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
        remark = (
            "Not the CIDEr-D of the COCO tool, which papers call CIDEr: not comparable with their numbers."
        )
        return (remark, *self._few) if self._plain else self._few

    @property
    def identity(self) -> Json:
        definition = {"definition": "CIDEr-D", "sigma": SIGMA}
        if self._plain:
            definition = {"definition": "CVPR 2015, no stems"}
        return {"metric": self.name, **definition, "longest": LONGEST, "tokens": VERSION}

    def basis(self, corpus: Corpus) -> str:
        """Hash of all references. Sets the remark on a small corpus."""
        n = len(corpus.items)
        few = f"CIDEr with frequencies of only {n} items: not to be compared with others."
        self._few = (few,) if n < FEW else ()
        return hash_key(sorted(item.references for item in corpus.items))

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """All rows at once: frequencies are counted over the whole corpus; in one of a single item all are
        0."""
        items = [corpus.items[place] for place in places]
        references = [words(group) for group in self._references(corpus.items)]
        # A pair of prediction and reference for each reference, and the row that it belongs to.
        pairs: list[tuple[Tokens, Tokens]] = []
        rows: list[int] = []
        for row, (place, prediction) in enumerate(zip(places, words(self._predictions(items)), strict=True)):
            for reference in references[place]:
                pairs.append((prediction, reference))
                rows.append(row)
        similarities = np.zeros(len(pairs))
        for n in range(1, LONGEST + 1):
            similarities += self._similarities(pairs, references, n)
        if not self._plain:
            differences = np.array(
                [len(prediction) - len(reference) for prediction, reference in pairs], np.float64
            )
            similarities *= np.exp(-(differences**2) / (2 * SIGMA**2))
        total = np.bincount(rows, similarities, minlength=len(items))
        count = np.bincount(rows, minlength=len(items))
        scores = 10.0 * total / LONGEST / np.maximum(count, 1)
        return [self._share(item, float(score)) for item, score in zip(items, scores, strict=True)]

    def _similarities(
        self, pairs: Sequence[tuple[Tokens, Tokens]], references: Sequence[Sequence[Tokens]], n: int
    ) -> Floats:
        """``float64[pairs]``: the cosine of the weighted n-gram counts of each pair of texts.

        An n-gram is the heavier the fewer items of ``references``, those of the corpus, have it.
        """
        document_counts: Counter[tuple[str, ...]] = Counter()
        for group in references:
            grams_of_item: dict[tuple[str, ...], None] = {}
            for reference in group:
                grams_of_item.update(dict.fromkeys(_grams(reference, n)))
            document_counts.update(grams_of_item.keys())
        log_items = np.log(float(len(references)))
        rarities = log_items - np.log(np.array(list(document_counts.values()), np.float64))
        rarity = dict(zip(document_counts, rarities.tolist(), strict=True))
        unseen_rarity = float(log_items)  # as if one item had it
        weights: dict[Tokens, dict[tuple[str, ...], float]] = {}
        lengths: dict[Tokens, float] = {}
        for pair in pairs:
            for text in pair:
                if text not in weights:
                    grams = _grams(text, n)
                    weights[text] = {
                        gram: count * rarity.get(gram, unseen_rarity) for gram, count in grams.items()
                    }
                    lengths[text] = sqrt(_total(weight * weight for weight in weights[text].values()))
        similarities = np.zeros(len(pairs))
        for number, (prediction, reference) in enumerate(pairs):
            product = lengths[prediction] * lengths[reference]
            if not product:
                continue
            terms = []
            for gram, weight in weights[reference].items():
                if gram in weights[prediction]:
                    predicted = weights[prediction][gram]
                    # CIDEr-D: a repeated n-gram counts no more than in the reference.
                    terms.append((predicted if self._plain else min(predicted, weight)) * weight)
            similarities[number] = _total(terms) / product
        return similarities


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
        # The sums of BLEU-4 hold those of the others, so the first of the four metrics counts for all.
        sums_by_pair: dict[Any, Floats] = self._context.once("bleu", dict)
        new_pairs = list(dict.fromkeys(pair for pair in pairs if pair not in sums_by_pair))
        new_predictions = [prediction for prediction, _ in new_pairs]
        new_references = [group for _, group in new_pairs]
        sums_by_pair |= zip(new_pairs, bleu_sums(new_predictions, new_references, LONGEST), strict=True)
        columns = [*range(self._longest), *range(LONGEST, LONGEST + self._longest), -2, -1]
        sums = np.array([sums_by_pair[pair] for pair in pairs]).reshape(-1, 2 * LONGEST + 2)[:, columns]
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
        predictions, references = self._predictions(items), self._references(items)
        for item, prediction, group in zip(items, predictions, references, strict=True):
            yield self._share(item, rouge_l(prediction, group))


BETA = 1.2
"""Recall counts this much more than precision (COCO tool)."""


def rouge_l(prediction: Tokens, references: Sequence[Tokens]) -> float:
    """ROUGE-L, 0 to 1, of the best precision and the best recall by any reference; 0 of an empty
    prediction."""
    bits_of_token: dict[str, int] = {}
    for place, token in enumerate(prediction):
        bits_of_token[token] = bits_of_token.get(token, 0) | 1 << place
    all_bits, precision, recall = (1 << len(prediction)) - 1, 0.0, 0.0
    for reference in references:
        # The longest common subsequence, with a bit for each token of the prediction (Crochemore et al., A
        # fast and practical bit-vector algorithm for the longest common subsequence problem, 2001).
        unmatched = all_bits
        for token in reference:
            hits = unmatched & bits_of_token.get(token, 0)
            unmatched = ((unmatched + hits) | (unmatched - hits)) & all_bits
        common = (all_bits ^ unmatched).bit_count()
        if common:
            precision = max(precision, common / len(prediction))
            recall = max(recall, common / len(reference))
    if not precision or not recall:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def bleu_sums(predictions: Sequence[Tokens], references: Sequence[Sequence[Tokens]], longest: int) -> Floats:
    """``float64[n, 2 longest + 2]`` for n predictions, each with its references: n-grams that are in a
    reference, clipped to the largest number that one of them has; all n-grams; the length of the prediction
    and that of the reference nearest in length (of two as near, the shorter)."""
    rows = []
    for prediction, group in zip(predictions, references, strict=True):
        length = len(prediction)
        matches, totals = [], []
        for n in range(1, longest + 1):
            most_in_a_reference = reduce(or_, (_grams(reference, n) for reference in group))
            matches.append((_grams(prediction, n) & most_in_a_reference).total())
            totals.append(max(length - n + 1, 0))
        _, nearest = min((abs(len(reference) - length), len(reference)) for reference in group)
        rows.append([*matches, *totals, length, nearest])
    return np.array(rows, np.float64).reshape(-1, 2 * longest + 2)


def _grams(sentence: Tokens, n: int) -> Counter[tuple[str, ...]]:
    """The n-grams of a sentence, with their numbers."""
    return Counter(zip(*(sentence[offset:] for offset in range(n)), strict=False))


def words(sentences: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The tokens of each sentence, split at every blank, as the COCO tools read them for CIDEr and BLEU: a
    token with a non-breaking space in it is two words there."""
    sentences_of_words = []
    for sentence_tokens in sentences:
        sentence = " ".join(sentence_tokens)
        # An ASCII token holds no blank.
        sentences_of_words.append(sentence_tokens if sentence.isascii() else tuple(sentence.split()))
    return sentences_of_words


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
"""METEOR's counts, in the order in which its program prints them."""

SPICE_JARS = "SHOTAD_SPICE_JARS"
"""Environment variable that names the folder of CoreNLP's jars."""
_CORENLP = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
_LAST_WITH_SCRIPTS = 14
"""Last Java with a JavaScript engine; SPICE's program needs one to write its answer."""
_BATCH = 512
"""Items that SPICE scores in one run of its program; finished batches are stored when a later run fails."""


class Meteor(CaptionMetric):
    """``meteor``: METEOR 1.5 for English, as the COCO tools call it: by the reference with the highest score.
    The value is that of the summed counts. Times 100."""

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
        lines = []
        for prediction, group in zip(self._predictions(items), self._references(items), strict=True):
            references = [" ".join(reference) for reference in group]
            lines.append(" ||| ".join(("SCORE", *references, " ".join(prediction))))
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
                raise EvaluationError(f"METEOR's answer to item {item.id} cannot be read: {quoted(answer)}.")
            # A text that is matched whole in one chunk is in order: it adds no chunk (METEOR 1.5).
            matched_words = tuple(sum(sums[side:20:2]) for side in (4, 5))
            if matched_words == sums[:2] and sums[20] == 1:
                sums = (*sums[:20], 0.0, *sums[21:])
            yield Row(item.id, sums, float(self.figure.of(np.array(sums))), item.missing)
        if len(answers) < len(items):
            output = run.stderr.strip()[:400] or "it said nothing"
            raise EvaluationError(
                f"METEOR ended with code {run.returncode} before it had answered: {output}",
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
        jars_folder = os.environ.get(SPICE_JARS)
        # By default CoreNLP is looked for beside SPICE's other libraries.
        folder = Path(jars_folder) if jars_folder else program.parent / "lib"
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
        # Only these change a score; the other libraries read and write files.
        jars = [path for path in self._jars if path.name.startswith(("spice-", "stanford-corenlp-"))]
        return {path.name: file_sha256(path)[:16] for path in jars}

    @property
    def identity(self) -> Json:
        return {"metric": self.name, "files": self._files, "tokens": VERSION}

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        for first in range(0, len(places), _BATCH):
            items = [corpus.items[place] for place in places[first : first + _BATCH]]
            predictions, references = self._predictions(items), self._references(items)
            entries = []
            for number, (prediction, group) in enumerate(zip(predictions, references, strict=True)):
                # An empty text has no scene graph: its score is 0 without asking.
                if prediction:
                    refs = [" ".join(reference) for reference in group]
                    entries.append({"image_id": number, "test": " ".join(prediction), "refs": refs})
            scores = self._scores(entries) if entries else {}
            for number, item in enumerate(items):
                entry_score = scores.get(number, {})
                f = entry_score.get("f")
                score = f if isinstance(f, int | float) and np.isfinite(f) else 0.0
                counts = tuple(float(entry_score.get(name, 0)) for name in ("tp", "fp", "fn"))
                yield Row(item.id, (score, 1.0, *counts), 100.0 * score, item.missing)

    def _scores(self, entries: Sequence[Json]) -> dict[int, Json]:
        """One run of the program: its scores over all tuples (``f``, ``tp``, ``fp``, ``fn``), by
        ``image_id``. Raises EvaluationError."""
        with tempfile.TemporaryDirectory(prefix="shotad-spice-") as folder:
            question, answer = Path(folder) / "question.json", Path(folder) / "answer.json"
            question.write_text(json.dumps(entries), encoding="utf-8")
            class_path = os.pathsep.join(map(str, self._jars))
            java_options = ["-Dfile.encoding=UTF-8", "-Xmx8G", "-cp", class_path]
            main_class = "edu.anu.spice.SpiceScorer"
            run = _run("SPICE", [self._java, *java_options, main_class, question, "-out", answer, "-silent"])
            if run.returncode or not answer.is_file():
                raise EvaluationError(
                    f"SPICE's program ended with code {run.returncode}: {run.stderr.strip()[-400:]}",
                    "Is there enough memory (it takes 8 GB)? Does it run with this Java (8 is best)?",
                )
            try:
                records: list[Json] = json.loads(answer.read_text(encoding="utf-8"))
                scores = {int(record["image_id"]): dict(record["scores"]["All"]) for record in records}
            except (ValueError, KeyError, TypeError) as error:
                raise EvaluationError(f"SPICE's answer cannot be read: {quoted(error)}.") from None
        if len(scores) != len(entries):
            raise EvaluationError(f"SPICE answered to {len(scores)} of {len(entries)} items.")
        return scores


def coco_file(path: str, metric: str) -> Path:
    """A file of the package pycocoevalcap, for a metric of this title. Raises EvaluationError where it is
    missing."""
    package = importlib.util.find_spec("pycocoevalcap")
    for folder in (package.submodule_search_locations or ()) if package else ():
        if (Path(folder) / path).is_file():
            return Path(folder) / path
    missing = f"pycocoevalcap's {path}"
    if package is None:
        missing = "the package pycocoevalcap, which is not installed"
    raise EvaluationError(
        f"{metric} needs {missing}.",
        f"Install it with: {install_command('shotad[coco]')} (about 100 MB), or leave the metric out.",
    )


def java_of(metric: str) -> tuple[Path, int]:
    """The program java, from JAVA_HOME or else from the PATH, and its main version: 8, 11, 17.

    Raises EvaluationError, with the title of the ``metric`` that needs it, where it is missing or does not
    run.
    """
    home = os.environ.get("JAVA_HOME")
    program = find_program("java", path=str(Path(home) / "bin")) if home else None
    program = program or find_program("java")
    if program is None:
        raise EvaluationError(
            f"{metric} needs Java, and there is no java on the PATH (JAVA_HOME is {home or 'not set'}).",
            "Install a Java runtime, such as default-jre-headless or openjdk, or leave the metric out.",
        )
    try:
        run = subprocess.run(
            [program, "-version"], capture_output=True, text=True, check=True, timeout=60, errors="replace"
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EvaluationError(
            f"{metric} needs Java, and {program} does not run: {error}.",
            "Name another by JAVA_HOME, or leave the metric out.",
        ) from None
    version = re.search(r'version "(?:1\.)?(\d+)', run.stderr + run.stdout)
    return Path(program), int(version[1]) if version else 0


def _run(
    name: str, command: Sequence[str | Path], stdin: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and return its output. Raises EvaluationError where it cannot be started."""
    try:
        return run_process(command, data=stdin.encode(), cwd=folder, encoding="utf-8", errors="replace")
    except OSError as error:
        raise EvaluationError(f"{name} cannot be started: {error}.") from None
