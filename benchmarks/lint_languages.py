"""How often the rules on words of `shotad lint` are right in German, French and Spanish.

    python benchmarks/lint_languages.py [--half tune|judge] [--show RULE]
    python benchmarks/lint_languages.py --treebank LANGUAGE FILE.conllu [FILE.conllu ...] [--show RULE]

Without a treebank: on the lines of ``lint-languages.txt``, which are ours. With a treebank of Universal
Dependencies: how many sentences in the present get a finding of L1 (false), how many in the past or future do
(found), and how many get findings of the other rules. Sentences have 4 to 25 words; their tense is that of
the finite verbs, as the treebank has them. ``--show`` prints the lines and sentences where a rule is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import command_line

from shotad.script.rules import check_line

HERE = Path(__file__).resolve().parent
LANGUAGES = ("de", "fr", "es")
FEWEST, MOST = 4, 25
"""Words of a sentence that is as long as a line may be."""


@dataclass(frozen=True, slots=True)
class OurLine:
    """A line of ``lint-languages.txt``; ``rule`` is empty for one that breaks none."""

    language: str
    half: str
    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class TreebankSentence:
    """A sentence whose finite verbs are all in the present (``is_present``), or whose main verb is not."""

    text: str
    is_present: bool


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--half", choices=("tune", "judge"))
    parser.add_argument("--treebank", nargs="+", metavar=("LANGUAGE", "FILE"))
    parser.add_argument("--show", metavar="RULE", default="")
    options = parser.parse_args()
    if options.treebank:
        language, *files = options.treebank
        measure_treebank(language, [Path(file) for file in files], options.show)
    else:
        measure_our_lines(options.half, options.show)


def measure_our_lines(half: str | None, shown_rule: str) -> None:
    """Print the missed and the false findings of each language and half."""
    print("language  half   lines  breaking  missed  false")
    lines = [line for line in read_our_lines() if half in (None, line.half)]
    for language in LANGUAGES:
        for name in ("tune", "judge"):
            chosen = [line for line in lines if (line.language, line.half) == (language, name)]
            if not chosen:
                continue
            missed = false = 0
            for line in chosen:
                expected = {line.rule} - {""}
                rules = {finding.rule for finding in check_line(line.text, language=language)}
                missed += len(expected - rules)
                false += len(rules - expected)
                if shown_rule in rules ^ expected:
                    print(f"  {sorted(rules)} for {sorted(expected)}: {line.text}")
            breaking = sum(1 for line in chosen if line.rule)
            print(f"{language:8}  {name:5}  {len(chosen):5}  {breaking:8}  {missed:6}  {false:5}")


def read_our_lines() -> list[OurLine]:
    """The rows of ``lint-languages.txt``."""
    lines: list[OurLine] = []
    for row in (HERE / "lint-languages.txt").read_text(encoding="utf-8").splitlines():
        if not row.startswith("#"):
            language, half, rule, text = row.split(" ", 3)
            lines.append(OurLine(language, half, rule.removeprefix("-"), text))
    return lines


def measure_treebank(language: str, files: Sequence[Path], shown_rule: str) -> None:
    """Print the findings on the sentences of a treebank, by rule and tense."""
    sentences = [sentence for file in files for sentence in read_treebank(file)]
    counts = Counter(sentence.is_present for sentence in sentences)
    findings: Counter[tuple[str, bool]] = Counter()
    for sentence in sentences:
        messages = {finding.rule: finding.message for finding in check_line(sentence.text, language=language)}
        for rule in messages:
            findings[rule, sentence.is_present] += 1
        # Only of L1 the treebank says which sentences break it.
        should_be_found = shown_rule == "L1" and not sentence.is_present
        if (shown_rule in messages) != should_be_found:
            print(f"  {messages.get(shown_rule, 'missed')}: {sentence.text}")
    print(f"{counts[True]} sentences in the present, {counts[False]} in the past or future")
    print("rule  in the present  in the past or future")
    for rule in sorted({rule for rule, _ in findings}):
        present, other = findings[rule, True], findings[rule, False]
        print(f"{rule:4}  {present:5} {present / counts[True]:7.1%}  {other:5} {other / counts[False]:7.1%}")


def read_treebank(file: Path) -> Iterator[TreebankSentence]:
    """The sentences of a CoNLL-U file that are as long as a line and whose tense is clear."""
    for block in file.read_text(encoding="utf-8").split("\n\n"):
        text = ""
        rows: list[list[str]] = []
        for row in block.splitlines():
            if row.startswith("# text = "):
                text = row.removeprefix("# text = ")
            elif row[:1].isdigit():
                columns = row.split("\t")
                if columns[0].isdigit():
                    rows.append(columns)
        words = sum(1 for columns in rows if columns[3] != "PUNCT")
        has_quotation_or_call = any(mark in text for mark in '"“”«»„?!')
        if not text or not FEWEST <= words <= MOST or has_quotation_or_call:
            continue
        auxiliaries = {columns[0]: columns[2] for columns in rows if columns[3] == "AUX"}
        # Of "hat geöffnet" the treebank does not say whether it is a state.
        if "haben" in auxiliaries.values():
            continue
        tenses: dict[str, str] = {}
        for columns in rows:
            tense = tense_of(columns[5])
            # "A ouvert" and "ha abierto" are in the past, whatever the tense of the auxiliary.
            if auxiliaries.get(columns[0]) in ("avoir", "haber"):
                tense = "Past"
            if tense:
                tenses[columns[0]] = tense
        main_tenses = {tenses[number] for number in main_verbs(rows) if number in tenses}
        if main_tenses and set(tenses.values()) == {"Pres"}:
            yield TreebankSentence(text, is_present=True)
        elif main_tenses and "Pres" not in main_tenses:
            yield TreebankSentence(text, is_present=False)


def main_verbs(rows: Sequence[Sequence[str]]) -> set[str]:
    """The numbers of the words that may be the finite verb of the main clause.

    They are the root, its auxiliaries and its copula.
    """
    root = next((columns[0] for columns in rows if columns[7] == "root"), "")
    numbers = {root}
    for columns in rows:
        if columns[6] == root and columns[7].startswith(("aux", "cop")):
            numbers.add(columns[0])
    return numbers


def tense_of(features: str) -> str:
    """The tense of a finite indicative verb; empty for other words."""
    values = dict(feature.split("=", 1) for feature in features.split("|") if "=" in feature)
    is_finite = values.get("VerbForm") == "Fin" and values.get("Mood", "Ind") == "Ind"
    return values.get("Tense", "") if is_finite else ""


if __name__ == "__main__":
    main()
