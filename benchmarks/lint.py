"""How often the checks of ``shotad lint`` are right on audio description that people wrote, and how many bad
lines they find.

    python benchmarks/lint.py [DATA] [--read RULE]

DATA is a folder with ``cmd-ad/cmdad_anno.csv`` and ``ad-text``. Hits were read and judged one by one; the
judgements stand in ``lint-judged.txt`` by a stamp of rule, line and words found, without the texts.
``--read`` prints hits of a rule that nobody has judged yet, of a fixed sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from common import DATA, cmd_ad, command_line

from shotad.core import Interval, Utterance
from shotad.core.config.sound import LintSettings
from shotad.description import Checker, lint
from shotad.film import read_subtitles
from shotad.script import (
    Finding,
    Material,
    TrackLine,
    lines_of_script,
    read_cues,
)
from shotad.script.cue import short_hash

HERE = Path(__file__).resolve().parent
CUT = "CMD-AD"
"""The corpus whose films are known in short clips only."""
SAMPLE = 40
"""Hits of each rule that are read at most."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding in a human line, with the lines before it."""

    finding: Finding
    text: str
    before: tuple[str, ...]
    corpus: str
    line: str = ""

    @property
    def words(self) -> str:
        return self.text[slice(*self.finding.span)] if self.finding.span else ""

    @property
    def stamp(self) -> str:
        return short_hash(f"{self.finding.rule}|{self.text}|{self.words}")


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--read", help="A rule whose hits are to be read.")
    asked = parser.parse_args()
    checker = Checker.of(LintSettings())
    materials = corpora(asked.data)
    lines = Counter({name: sum(len(m.lines) for m in those) for name, those in materials.items()})
    found = [hit for name, those in materials.items() for hit in hits(name, those, checker)]
    if asked.read:
        to_read(asked.read, found, judgements())
        return
    table(found, lines)
    recall(checker)


def corpora(data: Path) -> dict[str, list[Material]]:
    """Clips of each corpus that is there, with their dialogue where it is known."""
    found: dict[str, list[Material]] = {}
    if (data / "cmd-ad" / "cmdad_anno.csv").is_file():
        found[CUT] = [_clip(clip) for clip in cmd_ad(data / "cmd-ad")]
    dream = data / "ad-text" / "elephants-dream"
    for path in sorted(dream.glob("descriptions*.vtt")):
        name = f"Elephants Dream {path.stem[13:-3] or 'Pfeiffer'}"
        found[name] = [_script(path, dream / "captions.en.vtt")]
    able = data / "ad-text" / "able-player"
    for path in sorted(able.glob("*_description*_en.vtt")):
        captions = path.with_name(f"{path.name.partition('_')[0]}_captions_en.vtt")
        found.setdefault("Able Player", []).append(_script(path, captions))
    if not found:
        raise SystemExit(f"No audio description was found below {data}.")
    return found


def _script(path: Path, captions: Path) -> Material:
    speech = read_subtitles(captions).utterances if captions.is_file() else None
    return Material(path.name, lines_of_script(read_cues(path), "en"), None, speech)


def _clip(rows: Sequence[dict[str, str]]) -> Material:
    lines = []
    for i, row in enumerate(rows):
        start, end = float(row["start"]), float(row["end"])
        if row["text"].strip():
            lines.append(TrackLine(f"#{i}", Interval(start, max(end, start + 0.1)), row["text"]))
    return Material(rows[0]["cmd_filename"], tuple(sorted(lines, key=lambda line: line.interval)))


def hits(corpus: str, materials: Sequence[Material], checker: Checker) -> Iterator[Hit]:
    """Findings on words; of CMD-AD none on times, which are not those of a voice, nor on whom a pronoun means
    where the lines before the clip are not known."""
    for material in materials:
        places = {line.id: number for number, line in enumerate(material.lines)}
        for finding in lint(material, checker).findings:
            place = places.get(finding.cue_id or "")
            before, text = tuple(line.text for line in material.lines[: place or 0])[-3:], ""
            if corpus == CUT and (finding.rule[0] == "T" or (finding.rule == "L6" and len(before) < 3)):
                continue
            if place is not None:
                text = material.lines[place].text
            yield Hit(finding, text, before, corpus, f"{material.name} {finding.cue_id}")


def judgements(*, second: bool | None = None) -> dict[str, bool]:
    """By stamp whether a hit was right: of all, of those read before rules were tuned, or of those after."""
    path = HERE / "lint-judged.txt"
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#")
    return {row[1]: row[2] == "right" for row in rows if second is None or second == (row[3:] == ["second"])}


def to_read(rule: str, found: Sequence[Hit], judged: dict[str, bool]) -> None:
    """Print hits that nobody has judged: all outside CMD-AD, of CMD-AD a fixed sample, by their stamps."""
    once = {hit.stamp: hit for hit in found if hit.finding.rule == rule}
    rows = sorted(once.values(), key=lambda hit: (hit.corpus == CUT, hit.stamp))
    for hit in rows[: max(SAMPLE, sum(hit.corpus != CUT for hit in rows))]:
        if hit.stamp not in judged:
            text = hit.text.replace("\n", " ")
            print(rule, hit.stamp, f"[{hit.words or hit.finding.message}]", *hit.before, "//", text)


def table(found: Sequence[Hit], lines: Counter[str]) -> None:
    print(f"{'corpus':26} {'lines':>5}  rule  level    lines that break it")
    places = {(hit.corpus, hit.finding.rule, hit.finding.level.value, hit.line) for hit in found}
    broken = Counter(place[:3] for place in places)
    for (corpus, rule, level), number in sorted(broken.items()):
        print(f"{corpus:26} {lines[corpus]:5}  {rule:4}  {level:8} {number:4}  {number / lines[corpus]:.2%}")
    for second, what in ((False, "on lines it was tuned on"), (True, "on lines read after that")):
        print(f"\n{what}\nrule  hits  read  right  false  precision")
        judged = judgements(second=second)
        for rule in sorted({hit.finding.rule for hit in found}):
            stamps = {hit.stamp for hit in found if hit.finding.rule == rule}
            read, right = len(stamps & judged.keys()), sum(judged.get(stamp, False) for stamp in stamps)
            share = f"{right / read:.0%}" if read else "-"
            print(f"{rule:4}  {len(stamps):4}  {read:4}  {right:5}  {read - right:5}  {share}")


def recall(checker: Checker) -> None:
    """How many of the bad lines are found, and those that are not."""
    print("\nrule  bad lines  found")
    rows = [line.split(" ", 1) for line in (HERE / "lint-bad.txt").read_text(encoding="utf-8").splitlines()]
    missed = []
    for rule, those in groupby((row for row in rows if row[0] != "#"), key=lambda row: row[0]):
        texts = [text for _, text in those]
        lost = [text for text in texts if rule not in found_in(rule, text, checker)]
        missed += [f"{rule}  {text}" for text in lost]
        print(f"{rule:4}  {len(texts):9}  {len(texts) - len(lost):5}")
    print("\nmissed:", *missed, sep="\n  ")


def found_in(rule: str, text: str, checker: Checker) -> set[str]:
    """The rules that the last of these lines breaks; of L10 what stands before ``||`` is dialogue."""
    before, _, line = text.rpartition("||")
    texts, speech = [*filter(None, before.split("|")), line], ()
    if rule == "L10":
        texts, speech = [line], (Utterance(Interval(4, 6), before.strip()),)
    lines = tuple(
        TrackLine(f"#{i}", Interval(10.0 * i + 10, 10.0 * i + 14), one.strip()) for i, one in enumerate(texts)
    )
    report = lint(Material("bad", lines, None, speech), checker)
    return {finding.rule for finding in report.findings if finding.cue_id == lines[-1].id}


if __name__ == "__main__":
    main()
