"""How often each guideline rule fires on audio description that people wrote: an error should hardly ever.

    python benchmarks/rules.py [DATA]

DATA is a folder with ``cmd-ad/cmdad_anno.csv`` and ``ad-text/elephants-dream``; lines are judged by their
words (L2 to L5) and against the five lines before them in the same clip (L9).
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from shotad.script import check_line, read_cues

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def main() -> None:
    """Print, for each corpus and rule, lines that break it and their share."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    data = parser.parse_args().data
    print(f"{'corpus':24} {'lines':>6}  rule level    lines  share")
    for name, clips in corpora(data).items():
        found, number = count(clips), sum(map(len, clips))
        for (rule, level), lines in sorted(found.items()):
            print(f"{name:24} {number:6}  {rule:4} {level:8} {lines:5}  {lines / number:.2%}")
        if not found:
            print(f"{name:24} {number:6}  none")


def corpora(data: Path) -> dict[str, list[list[str]]]:
    """Lines by clip, in order, of each corpus that is there."""
    found: dict[str, list[list[str]]] = {}
    annotation = data / "cmd-ad" / "cmdad_anno.csv"
    if annotation.is_file():
        with annotation.open(encoding="utf-8", newline="") as file:
            rows = groupby(csv.DictReader(file), key=lambda row: row["cmd_filename"])
            found["CMD-AD"] = [[row["text"] for row in clip] for _, clip in rows]
    for path in sorted((data / "ad-text" / "elephants-dream").glob("descriptions*.vtt")):
        found[f"Elephants Dream {path.stem[12:-3] or 'Pfeiffer'}"] = [[cue.text for cue in read_cues(path)]]
    if not found:
        raise SystemExit(f"No audio description was found below {data}.")
    return found


def count(clips: Sequence[Sequence[str]]) -> Counter[tuple[str, str]]:
    """Lines that break each rule, by rule and level; a line counts once for each."""
    found: Counter[tuple[str, str]] = Counter()
    for clip in clips:
        for i, text in enumerate(clip):
            findings = check_line(text, previous=clip[max(i - 5, 0) : i])
            found.update({(finding.rule, finding.level.value) for finding in findings})
    return found


if __name__ == "__main__":
    main()
