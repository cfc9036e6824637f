"""What several benchmarks share: where data lie, human AD, clocks, and shares with their intervals."""

from __future__ import annotations

import argparse
import csv
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

from shotad.core import Image, Interval
from shotad.film import Film
from shotad.script import read_cues

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
"""Some benchmarks use helpers of the tests."""
LABELS = ROOT / "tests" / "labels"
DATA = ROOT.parent / "shared" / "data"
"""Films, human AD and annotations, which are no part of the project."""
FILMS = DATA / "films"
DREAM = DATA / "ad-text" / "elephants-dream"
DESCRIBERS = {"Pfeiffer": "descriptions.en.vtt", "Hunt": "descriptions-jjhunt.en.vtt"}
"""The two describers of Elephants Dream."""


@dataclass(frozen=True)
class Share:
    """``hits`` of ``all``, with the 95 % interval of Wilson."""

    hits: int
    all: int

    @property
    def interval(self) -> tuple[float, float]:
        if not self.all:
            return 0.0, 1.0
        from scipy.stats import binomtest

        found = binomtest(self.hits, self.all).proportion_ci(0.95, "wilson")
        return max(0.0, float(found.low)), min(1.0, float(found.high))

    def __str__(self) -> str:
        low, high = self.interval
        part = self.hits / self.all if self.all else 0.0
        return f"{self.hits:4} of {self.all:5} = {part:6.1%} ({low:.1%} to {high:.1%})"


def command_line(words: str | None) -> argparse.ArgumentParser:
    """Of a script whose own words are its help."""
    return argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)


def cpu(work: Callable[[], object]) -> float:
    """Processor seconds of this process, all threads."""
    began = time.process_time()
    work()
    return time.process_time() - began


def words_changed(draft: Sequence[str], wanted: Sequence[str]) -> int:
    """Words inserted, deleted or replaced to turn one text into the other."""
    row = list(range(len(wanted) + 1))
    for i, word in enumerate(draft, 1):
        before, row = row, [i]
        for j, target in enumerate(wanted, 1):
            row.append(min(row[-1] + 1, before[j] + 1, before[j - 1] + (word != target)))
    return row[-1]


def cmd_ad(folder: Path = DATA / "cmd-ad") -> list[list[dict[str, str]]]:
    """The rows of CMD-AD's annotation, clip by clip, each with its ``number`` in the file."""
    with (folder / "cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        rows = [{**row, "number": str(number)} for number, row in enumerate(csv.DictReader(file))]
    return [list(clip) for _, clip in groupby(rows, key=lambda row: row["cmd_filename"])]


def described_lines(path: Path) -> list[tuple[Interval, str]]:
    """When and what a describer says in Elephants Dream, without cues that name the licence alone."""
    lines = []
    for cue in read_cues(path):
        text = " ".join(cue.text.split())
        if not re.search(r"licen[cs]e", text, re.IGNORECASE):
            lines.append((cue.interval, text))
    return lines


Lines = Sequence[tuple[Interval, str]]


def said_around(interval: Interval, other: Lines) -> str:
    """What the other describer says within 3 s of a line, in place of Stage I's description."""
    wide = Interval(max(0.0, interval.start - 3.0), interval.end + 3.0)
    return " ".join(said for time, said in other if time.overlaps(wide))


def sound_of(path: Path, rate: int) -> npt.NDArray[np.float32]:
    """A file of sound alone, ``float32[n]``, mono; the product opens films only."""
    with av.open(str(path)) as container:
        mono = av.AudioResampler("fltp", "mono", rate)
        frames = [out for frame in container.decode(audio=0) for out in mono.resample(frame)]
        return np.concatenate([out.to_ndarray()[0] for out in [*frames, *mono.resample(None)]])


def frames_at(film: Film, step: float) -> Iterator[tuple[float, Image]]:
    """The first frame of each ``step`` seconds, with its second."""
    due = 0.0
    for frame in film.frames():
        if frame.seconds + 1e-6 >= due:
            due += step
            yield frame.seconds, frame.rgb()


def _blocks(kind: str) -> re.Pattern[str]:
    """Those of a page that a program fills."""
    return re.compile(rf"(<!-- {kind}: (\S+) -->\n)(.*?)(<!-- {kind} end -->)", re.DOTALL)


def blocks(page: str, kind: str) -> dict[str, str]:
    """What stands in the blocks of a page, by their names."""
    return {block[2]: block[3].rstrip("\n") for block in _blocks(kind).finditer(page)}


def fill(page: Path, kind: str, told: Mapping[str, str]) -> None:
    """Fill the blocks of a page anew. Ends the program where one is missing or not known."""
    try:
        text = page.read_text(encoding="utf-8")
    except OSError as error:
        sys.exit(f"{page}: {error}")
    there = sorted(block[2] for block in _blocks(kind).finditer(text))
    if there != sorted(told):
        sys.exit(f"{page} must have each of the {kind} blocks {sorted(told)} once, got {there}")
    filled = _blocks(kind).sub(lambda block: f"{block[1]}{told[block[2]]}\n{block[4]}", text)
    page.write_text(filled, encoding="utf-8")
