"""Other languages: how well a line in the wrong one is found, and whether budgets are just.

    python benchmarks/translate.py [--data FOLDER]

Nothing is asked of a model. First: of CMD-AD's English lines, how many are found not to be in another
language; of human captions and descriptions in eight languages, how many are doubted though they are in
theirs. Second: how long human translations of the same captions take to say, by `shotad.script.pace`, beside
the English they were made from; English is measured by letters too here, for these captions have longer words
than AD has. Beside it stands what people took for the same texts read aloud (IReST, texts a minute).
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Iterator
from pathlib import Path

from shotad.description.language_id import other_language
from shotad.script import read_cues, spoken_words
from shotad.script.pace import ENGLISH

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TARGETS = ("de", "fr", "es", "it", "pt", "nl", "pl", "ru", "zh", "sw")
READ_ALOUD = {
    "ar": 1.16, "de": 1.36, "es": 1.46, "fr": 1.46, "it": 1.39, "ja": 1.21, "pt": 1.35, "en": 1.49,
}  # fmt: skip
"""Texts a minute (IReST, 2012)."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--data", type=Path, default=DATA)
    data: Path = options.parse_args().data
    lines = list(dict.fromkeys(english_lines(data / "cmd-ad")))
    print(f"English AD lines: {len(lines)}; found in the wrong language where another was asked for:")
    for tag in TARGETS:
        found = sum(other_language(line, tag) is not None for line in lines)
        print(f"  {tag}: {found / len(lines):.1%}")
    print(f"doubted as English: {sum(other_language(line, 'en') is not None for line in lines)}")
    told = [(tag, text) for tag, path in captions(data) if tag != "en" for text in texts_of(path)]
    doubted = [(tag, text) for tag, text in told if other_language(text, tag) is not None]
    print(f"captions in their own language: {len(told)}, doubted: {len(doubted)} {doubted}")
    letters = sum(char.isalnum() for line in lines for char in line)
    words = sum(spoken_words(line) for line in lines)
    print(f"letters in a word of AD: {letters / words:.2f}, of IReST: {ENGLISH.letters / ENGLISH.words:.2f}")
    compare(data)


def english_lines(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8") as rows:
            yield from (row["text_gt"] for row in csv.DictReader(rows) if row.get("text_gt"))


def captions(data: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted((data / "ad-text" / "able-player").glob("*.vtt")):
        found = re.search(r"_([a-z]{2}(?:-br)?)\.vtt$", path.name)
        if found:
            yield found[1], path


def texts_of(path: Path) -> list[str]:
    return [" ".join(cue.text.split()) for cue in read_cues(path)]


def compare(data: Path) -> None:
    """English and its translations, by language, over all files that come in both."""
    files = {(re.sub(r"_?-?(?:captions|subtitles)?_[^_]+$", "", p.name), t): p for t, p in captions(data)}
    sums: dict[str, tuple[float, int]] = {}
    for (film, tag), path in files.items():
        source = files.get((film, "en"))
        if tag == "en" or source is None:
            continue
        told = sum(spoken_words(text, tag) for text in texts_of(path))
        letters = sum(char.isalnum() for text in texts_of(source) for char in text)
        before = sums.get(tag, (0.0, 0))
        sums[tag] = (before[0] + letters * ENGLISH.words / ENGLISH.letters, before[1] + told)
    print("how long translations take beside their English (and read aloud, IReST):")
    for tag, (english, told) in sorted(sums.items()):
        known = READ_ALOUD.get(tag[:2])
        aloud = f"{READ_ALOUD['en'] / known:.2f}" if known else "-"
        print(f"  {tag}: {told / english:.2f} ({aloud}), {english:.0f} English words")


if __name__ == "__main__":
    main()
