"""How well doubt finds errors that were put into true lines, and how much each sign for an error weighs.

    python benchmarks/doubt.py [--half tuning|judging] [--signs] [name ...]

The lines are what a describer would say of the clips of tests/labels/clips.yaml (scenes.yaml); the place of
the description of a Stage I that sees takes what is plainly to be seen then (seen.yaml); both by eye.

Into each line that has room for it an error of one kind is put, drawn by seed from the lists below. AUROC is
how often a wrong line has more doubt than a true one. Last, one line in five gets an error of a kind that
evidence can hear, and the share of these in the first quarter of the list is told, the most doubtful first.
With `--signs` the weight of each sign is printed, fitted by logistic regression; those of the tuning half,
rounded, are the weights of shotad/description/doubt.py.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, get_args

import numpy as np
import yaml
from clips import LABELS, Half, read_clips
from common import command_line
from scipy.optimize import minimize

from shotad.core import Description, Identity, Interval
from shotad.description import Stage1Answer
from shotad.description.doubt import doubt_signals, estimate_doubt
from shotad.description.english_words import verbs_of
from shotad.script.rules import quotations

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
_THING = re.compile(rf"\b(?:{'|'.join(THINGS)}|mug|phone|ship|bike|taxi|lorry|puppy|sofa)(s?)\b", re.I)
_ONE = re.compile(
    r"\b(?:a|an|the|one)\s+(?:\w+\s+)?(?P<noun>man|woman|boy|girl|person|child|student|worker)\b", re.I
)
_SEVERAL = re.compile(r"\b(?P<number>two|three|four|five|both)\b", re.I)
_SOMEBODY = re.compile(r"\b(?:she|he|the (?:man|woman|boy|girl|person|professor|worker))\b", re.I)
_PLURALS = {"man": "men", "woman": "women", "person": "people", "child": "children"}


@dataclass(frozen=True, slots=True)
class Told:
    """A line that is true of a moment, the clip it is of, and Stage I's answer about then."""

    text: str
    clip: str
    stage1: Stage1Answer

    def doubt(self, text: str | None = None) -> float:
        return estimate_doubt(text or self.text, doubt_signals(text or self.text, self.stage1)).value


def lines_of(clip: str, rows: Sequence[Sequence[Any]], seen: Sequence[Sequence[Any]]) -> list[Told]:
    """The lines of a clip: ``rows`` are a describer's, ``seen`` what is plainly to be seen, both from when to
    when and in words."""
    lines: list[Told] = []
    for start, end, text in rows:
        there = [" ".join(map(str, row[2:])) for row in seen if row[0] < end and start < row[1]]
        lines.append(Told(text, clip, answer_of("\n".join(there))))
    return lines


def answer_of(description: str) -> Stage1Answer:
    """Stage I's answer, of which nothing is known but its words."""
    return Stage1Answer(
        slot_id="s00000000",
        interval=Interval(0.0, 1.0),
        shots=(),
        scales={},
        threads=(),
        effective_scale=2.0,
        factors=(),
        maker=Identity("none"),
        seed=0,
        prompt=(),
        overlay=None,
        people=(),
        nearby_names=(),
        attempts=(),
        finish="stop",
        leaks=(),
        invented=(),
        error=None,
        description=Description("s00000000", {}, "", description, "none"),
    )


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
    found = _THING.search(line.text)
    if found is None:
        return None
    own = found[0].lower().removesuffix("s")
    return _instead(line.text, found, draw.choice([one for one in THINGS if one != own]) + found[1])


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


def tell_half(half: Half, lines: Sequence[Told]) -> None:
    faults = planted(lines)
    right = [line.doubt() for line in lines]
    clips = len({line.clip for line in lines})
    print(f"{half}: {len(lines)} true lines of {clips} clips, mean doubt {fmean(right):.2f}")
    heard = [row for kind in HEARD for row in faults[kind]]
    for kind, rows in [*faults.items(), ("heard", heard)]:
        if rows:
            wrong, own = [line.doubt(text) for line, text in rows], [line.doubt() for line, _ in rows]
            print(
                f"  {kind:8} {len(rows):4} lines  AUROC {auroc(wrong, right):.2f} against all true lines,"
                f" {auroc(wrong, own):.2f} against the same lines"
            )
    print(f"  errors in the first quarter, one line in five wrong: {first_quarter(lines, faults):.0%}")


def print_fit(lines: Sequence[Told]) -> None:
    """The weight of each sign by logistic regression, the kinds of error counting alike."""
    rows: list[tuple[Counter[str], bool, float]] = []
    texts = {"true": [(line, line.text) for line in lines], **planted(lines)}
    for kind in ("true", *HEARD):
        for line, text in texts[kind]:
            told = Counter({"a line": 1.0})
            for sign in doubt_signals(text, line.stage1)[1:]:
                told[sign.kind] += sign.times
            rows.append((told, kind != "true", len(texts[kind]) ** -0.5))
    names = sorted({name for told, *_ in rows for name in told})
    signs = np.array([[told[name] for name in names] for told, *_ in rows])
    wrong, share = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    share, held = share / share.mean(), np.array([name != "a line" for name in names])

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
    parser.add_argument("--signs", action="store_true")
    asked = parser.parse_args()
    files = (LABELS / "scenes.yaml", LABELS / "seen.yaml")
    scenes, seen = (yaml.safe_load(file.read_text("utf-8")) for file in files)
    for half in (asked.half,) if asked.half else get_args(Half):
        names = [
            clip.name
            for clip in read_clips().values()
            if clip.half == half and (not asked.names or clip.name in asked.names)
        ]
        # Of clips without labels of what is plainly to be seen nothing can stand for a description.
        lines = [
            line
            for name in names
            if name in seen
            for line in lines_of(name, scenes.get(name, ()), seen[name])
        ]
        if not lines:
            print(f"{half}: no labelled lines")
            continue
        tell_half(half, lines)
        if asked.signs:
            print_fit(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
