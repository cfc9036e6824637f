"""How well doubt finds errors that were put into true lines, and how much each sign for an error weighs.

    python benchmarks/doubt.py [--runs FOLDER] [--half tuning|judging] [--signs] [name ...]

Three kinds of lines, on the clips of tests/labels/clips.yaml. `embedded`: those of the embedded engine, held
against what it measured itself, as if a model had written them; its own errors count as true. `describer`:
what a describer would say (scenes.yaml), held against what the detectors measured at that time. `described`:
the same, and in place of the description of a Stage I that sees, what is plainly to be seen (seen.yaml).

Into each line that has room for it an error of one kind is put, drawn by seed from the lists below. AUROC is
how often a wrong line has more doubt than a true one. Last, one line in five gets an error of a kind that
evidence can hear, and the share of these in the first quarter of the list is told, the most doubtful first.
With `--signs` the weight of each sign is printed, fitted by logistic regression; those of the tuning half,
rounded, are the weights of shotad/description/doubt.py.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

import numpy as np
import yaml
from clips import LABELS, Clip, Half, chosen
from common import command_line
from scipy.optimize import minimize

import shotad
from shotad.description import doubt_of, signs_of, things_told, verbs_of
from shotad.script import quotations, timecode

NAMES = ("Martha", "Oscar", "Helen", "Victor", "Judith", "Leonard", "Priya", "Tomas", "Edith", "Samuel")
TEXTS = (
    "No entry", "Harbour Street 9", "The day before", "Hotel Aurora", "Directed by Paul Winter", "Sold out",
    "Chapter four", "Police", "Rome, 1953", "Farewell",
)  # fmt: skip
THINGS = (
    "cat", "dog", "horse", "bird", "cow", "car", "bus", "train", "boat", "bicycle", "laptop", "cup", "bottle",
    "umbrella", "clock", "banana", "pizza", "elephant",
)  # fmt: skip
VERBS = (
    "sleeps", "runs", "cries", "kneels", "jumps", "falls", "sings", "climbs", "hides", "fights", "eats",
    "swims",
)  # fmt: skip
NUMBERS = ("Two", "Three", "Four", "Five")
HEARD = ("name", "number", "text", "thing", "swap")
"""The kinds of error that evidence can hear."""
SEED = 7
SOURCES = ("embedded", "describer", "described")
_ONE = re.compile(
    r"\b(?:a|an|the|one)\s+(?:\w+\s+)?(?P<noun>man|woman|boy|girl|person|child|student|worker)\b", re.I
)
_SEVERAL = re.compile(r"\b(?P<number>two|three|four|five|both)\b", re.I)
_SOMEBODY = re.compile(r"\b(?:she|he|the (?:man|woman|boy|girl|person|professor|worker))\b", re.I)
_PLURALS = {"man": "men", "woman": "women", "person": "people", "child": "children"}


@dataclass(frozen=True, slots=True)
class Told:
    """A line that is true of a moment, the clip it is of, and Stage I's record of then."""

    text: str
    clip: str
    stage1: Mapping[str, Any]

    def doubt(self, text: str | None = None) -> float:
        return doubt_of(text or self.text, signs_of(text or self.text, self.stage1)).value


Row = tuple[float, float, str]


def lines_of(
    clip: Clip, rows: Sequence[Row], seen: Sequence[Sequence[Any]], runs: Path
) -> dict[str, list[Told]]:
    """The lines of a clip by their kind; ``rows`` are a describer's, ``seen`` what is plainly to be seen.
    Lines that overlap are looked at in rounds of their own."""
    rounds: list[list[Row]] = []
    for row in sorted(rows):
        home = next((one for one in rounds if one[-1][1] <= row[0] + 1e-6), None)
        if home is None:
            rounds.append(home := [])
        home.append(row)
    found: dict[str, list[Told]] = {source: [] for source in SOURCES}
    for number, told in enumerate(rounds):
        folder = runs / clip.name / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        slots = folder / "slots.vtt"
        cues = "\n\n".join(f"{timecode(start)} --> {timecode(end)}\n{text}" for start, end, text in told)
        slots.write_text(f"WEBVTT\n\n{cues}\n", "utf-8")
        options = {"engine": "embedded", "settings": {"slots.find_credits": False}, "progress": False}
        track = shotad.describe(clip.path, slots=slots, out=folder / "w", **options)
        records = [*map(json.loads, (folder / "w" / "stage1.jsonl").read_text("utf-8").splitlines())]
        by_slot = {record["slot"]: record for record in records}
        by_start = {round(record["start"], 2): record for record in by_slot.values()}
        heard = (cue for cue in track.heard if cue.slot_id)
        found["embedded"] += [Told(cue.text, clip.name, by_slot[cue.slot_id]) for cue in heard]
        for start, end, text in told:
            if (record := by_start.get(round(start, 2))) is not None:
                there = [" ".join(map(str, row[2:])) for row in seen if row[0] < end and start < row[1]]
                found["describer"].append(Told(text, clip.name, {**record, "raw": ""}))
                found["described"].append(Told(text, clip.name, {**record, "raw": "\n".join(there)}))
    return found


# What is put in: for each kind of error the line with it, None where the line has no room for it


def with_name(line: Told, draw: random.Random, lines: Sequence[Told]) -> str | None:
    found = _SOMEBODY.search(line.text)
    return _instead(line.text, found, draw.choice(NAMES)) if found else None


def with_number(line: Told, draw: random.Random, lines: Sequence[Told]) -> str | None:
    if found := _SEVERAL.search(line.text):
        own = found["number"].lower().replace("both", "two")
        return _instead(line.text, found, draw.choice([one for one in NUMBERS if one.lower() != own]))
    if found := _ONE.search(line.text):
        noun = found["noun"].lower()
        return _instead(line.text, found, f"{draw.choice(NUMBERS)} {_PLURALS.get(noun, noun + 's')}")
    return None


def with_text(line: Told, draw: random.Random, lines: Sequence[Told]) -> str | None:
    if not (spans := quotations(line.text)):
        return None
    start, end = spans[0]
    return f'{line.text[:start]}"{draw.choice(TEXTS)}"{line.text[end:]}'


def with_thing(line: Told, draw: random.Random, lines: Sequence[Told]) -> str | None:
    for thing in sorted(things_told(line.text)):
        if found := re.search(rf"\b{thing}(s?)\b", line.text, re.I):
            other = draw.choice([one for one in THINGS if one != thing])
            return _instead(line.text, found, other + found[1])
    return None


def with_verb(line: Told, draw: random.Random, lines: Sequence[Told]) -> str | None:
    verbs = verbs_of(line.text)
    for word in re.finditer(r"[a-z]+s\b", line.text):
        if verbs_of(f"She {word[0]} there.") & verbs:
            return _instead(line.text, word, draw.choice([verb for verb in VERBS if verb != word[0]]))
    return None


def with_swap(line: Told, draw: random.Random, lines: Sequence[Told]) -> str | None:
    return draw.choice([other.text for other in lines if other.clip != line.clip])


def _instead(text: str, found: re.Match[str], new: str) -> str:
    if text[found.start()].isupper():
        new = new[:1].upper() + new[1:]
    elif new not in NAMES:
        new = new[:1].lower() + new[1:]
    return f"{text[: found.start()]}{new}{text[found.end() :]}"


KINDS: Mapping[str, Callable[[Told, random.Random, Sequence[Told]], str | None]] = {
    "name": with_name,
    "number": with_number,
    "text": with_text,
    "thing": with_thing,
    "swap": with_swap,
    "verb": with_verb,
}


def auroc(wrong: Sequence[float], right: Sequence[float]) -> float:
    """How often one of ``wrong`` is above one of ``right``; ties count half."""
    wins = sum((one > other) + 0.5 * (one == other) for one in wrong for other in right)
    return wins / (len(wrong) * len(right))


def planted(lines: Sequence[Told]) -> dict[str, list[tuple[Told, str]]]:
    """For each kind, the lines that have room for it and what they say with it."""
    found: dict[str, list[tuple[Told, str]]] = {}
    for kind, plant in KINDS.items():
        draw = random.Random(f"{SEED} {kind}")
        made = [(line, plant(line, draw, lines)) for line in lines]
        found[kind] = [(line, text) for line, text in made if text is not None and text != line.text]
    return found


def first_quarter(lines: Sequence[Told], faults: Mapping[str, list[tuple[Told, str]]]) -> float:
    """The share of errors in the first quarter of the list where one line in five has one, over 200 draws."""
    draw, shares = random.Random(SEED), []
    texts = [[text for kind in HEARD for one, text in faults[kind] if one is line] for line in lines]
    right = [line.doubt() for line in lines]
    wrong = [[line.doubt(text) for text in those] for line, those in zip(lines, texts, strict=True)]
    able = [at for at, doubts in enumerate(wrong) if doubts]
    for _ in range(200):
        chosen = set(draw.sample(able, len(lines) // 5))
        rows = [
            (draw.choice(wrong[at]) if at in chosen else right[at], draw.random(), at in chosen)
            for at in range(len(lines))
        ]
        rows.sort(reverse=True)
        shares.append(sum(bad for *_, bad in rows[: len(rows) // 4]) / len(chosen))
    return fmean(shares)


def tell_source(half: Half, source: str, lines: Sequence[Told]) -> None:
    faults = planted(lines)
    right = [line.doubt() for line in lines]
    clips = len({line.clip for line in lines})
    print(f"{half}, {source}: {len(lines)} true lines of {clips} clips, mean doubt {fmean(right):.2f}")
    heard = [row for kind in HEARD for row in faults[kind]]
    for kind, rows in [*faults.items(), ("heard", heard)]:
        if rows:
            wrong, own = [line.doubt(text) for line, text in rows], [line.doubt() for line, _ in rows]
            print(
                f"  {kind:8} {len(rows):4} lines  AUROC {auroc(wrong, right):.2f} against all true lines,"
                f" {auroc(wrong, own):.2f} against the same lines"
            )
    print(f"  errors in the first quarter, one line in five wrong: {first_quarter(lines, faults):.0%}")


def _print_fit(found: Mapping[str, Sequence[Told]]) -> None:
    """The weight of each sign by logistic regression, the kinds of error counting alike in each source."""
    rows: list[tuple[Counter[str], bool, float]] = []
    for source, lines in found.items():
        texts = {"true": [(line, line.text) for line in lines], **planted(lines)}
        for kind in ("true", *HEARD):
            for line, text in texts[kind]:
                told = Counter({source: 1.0})
                for sign in signs_of(text, line.stage1)[1:]:
                    told[sign.kind] += sign.times
                rows.append((told, kind != "true", len(texts[kind]) ** -0.5))
    names = sorted({name for told, *_ in rows for name in told})
    signs = np.array([[told[name] for name in names] for told, *_ in rows])
    wrong, share = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    share, held = share / share.mean(), np.array([name not in found for name in names])

    def loss(weights: Any) -> float:
        odds = signs @ weights
        misfit = share * np.logaddexp(0, np.where(wrong, -odds, odds))
        return float(misfit.sum() + (weights[held] ** 2).sum() / 4)

    for name, weight in zip(names, minimize(loss, np.zeros(len(names))).x, strict=True):
        counts = [sum(name in told for told, bad, _ in rows if bad is which) for which in (True, False)]
        print(f"    {name:15} {weight:+.1f}, in {counts[0]} wrong and {counts[1]} true lines")


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--half", choices=get_args(Half))
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--signs", action="store_true")
    asked = parser.parse_args()
    files = (LABELS / "scenes.yaml", LABELS / "seen.yaml")
    scenes, seen = (yaml.safe_load(file.read_text("utf-8")) for file in files)
    with tempfile.TemporaryDirectory() as own:
        for half in (asked.half,) if asked.half else get_args(Half):
            found: dict[str, list[Told]] = {source: [] for source in SOURCES}
            for clip in chosen(half, asked.names):
                rows, facts = scenes.get(clip.name, ()), seen.get(clip.name, ())
                for source, lines in lines_of(clip, rows, facts, asked.runs or Path(own)).items():
                    found[source] += lines
            for source, lines in found.items():
                tell_source(half, source, lines)
            if asked.signs:
                _print_fit(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
