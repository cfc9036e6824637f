"""How often each way of choosing takes the line that a describer wrote, among lines made wrong on purpose.

    python benchmarks/choices.py [--data FOLDER] [--clips N] [--no-embeddings] [--grid]

Each slot has four candidates in an order drawn by a seed: the describer's own line, one that nearly repeats
the line before, one of another moment of the film, and the own line cut off. What was said before is what was
chosen before, as in a real run. Two sets:

- Elephants Dream, which two people described. One person's line is to be found, and what the other said
  at that time stands for Stage I's description.
- CMD-AD's test clips (``--clips`` of them). The description is the ground truth's actions of the AD, without
  names, between those of its neighbours. It holds the truth's words: these figures are upper bounds.
"""

from __future__ import annotations

import argparse
import ast
import csv
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np
import pysubs2

from shotad.core import Interval, Slot, slot_id
from shotad.description.choice import Around, ByRules, BySequence, Chooser, Embed, Line, Situation, body_of
from shotad.film.subtitles import strip_tags
from shotad.script import Finding, Fitted, check_line

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
DESCRIBERS = {"Pfeiffer": "descriptions.en.vtt", "Hunt": "descriptions-jjhunt.en.vtt"}
REACH = 3.0
"""Seconds around a line from which the other describer's lines are taken."""
KINDS = ("own", "repeats", "elsewhere", "cut off")


@dataclass(frozen=True)
class Moment:
    """A slot: the describer's line and what stands for the description."""

    interval: Interval
    own: str
    description: str


Film = list[Moment]


class First:
    """Takes the first candidate."""

    def choose(self, lines: Sequence[Line], situation: Situation) -> int:
        return 0


def elephants_dream(folder: Path) -> dict[str, list[Film]]:
    lines = {name: cues(folder / file) for name, file in DESCRIBERS.items()}
    first, second = DESCRIBERS
    return {
        f"Elephants Dream, {one}": [described(lines[one], lines[other])]
        for one, other in ((first, second), (second, first))
    }


def cues(path: Path) -> list[tuple[Interval, str]]:
    found = []
    for event in pysubs2.load(str(path), keep_html_tags=True):
        text = " ".join(strip_tags(event.text).split())
        if event.end > event.start and not re.search(r"licen[cs]e", text, re.IGNORECASE):
            found.append((Interval(event.start / 1000, event.end / 1000), text))
    return found


def described(own: Sequence[tuple[Interval, str]], other: Sequence[tuple[Interval, str]]) -> Film:
    film = []
    for interval, text in own:
        wide = Interval(max(0.0, interval.start - REACH), interval.end + REACH)
        about = [said for time, said in other if time.overlaps(wide)]
        if about:
            film.append(Moment(interval, text, "1. Actions: " + " ".join(about)))
    return film


def cmd_ad(folder: Path, clips: int) -> list[Film]:
    with (folder / "cmdad_gt_action.csv").open(encoding="utf-8", newline="") as file:
        actions = {int(row["anno_idx"]): ast.literal_eval(row["gt_action"]) for row in csv.DictReader(file)}
    with (folder / "cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        rows = [(number, row) for number, row in enumerate(csv.DictReader(file)) if number in actions]
    films = []
    for _, group in groupby(rows, key=lambda pair: pair[1]["cmd_filename"]):
        clip = list(group)
        seen = [" ".join(actions[number] or ()) for number, _ in clip]
        films.append(
            [
                Moment(
                    Interval(float(row["start"]), float(row["end"])),
                    row["text"],
                    "1. Actions: " + " ".join(seen[max(0, place - 1) : place + 2]),
                )
                for place, (_, row) in enumerate(clip)
            ]
        )
    films = [film for film in films if len(film) >= 8]
    return random.Random(0).sample(films, min(clips, len(films)))


def drawn(film: Film, place: int) -> list[tuple[str, str]]:
    """Kind and text of each candidate of a slot, in the order drawn."""
    own = film[place].own
    rng = random.Random(f"{place}/{own}")
    far = [m.own for k, m in enumerate(film) if abs(k - place) > 3] or [m.own for m in film if m.own != own]
    found = [("own", own), ("elsewhere", rng.choice(far)), ("cut off", cut_off(own))]
    if place:
        found.append(("repeats", turned(film[place - 1].own)))
    rng.shuffle(found)
    return found


def cut_off(text: str) -> str:
    words = text.split()
    return " ".join(words[: max(1, round(len(words) * 0.6))]).rstrip(".,;") + "."


def turned(text: str) -> str:
    """The same with its end in front, or with a word more where it is too short."""
    words = text.rstrip(".").split()
    if len(words) < 5:
        return f"{' '.join(words)} again."
    cut = max(
        (
            i
            for i, word in enumerate(words[2:], 2)
            if word in ("in", "on", "at", "to", "into", "with", "from")
        ),
        default=len(words) - 2,
    )
    end = " ".join(words[cut:]).rstrip(",")
    return (
        f"{end[0].upper()}{end[1:]}, {words[0][0].lower()}{words[0][1:]} {' '.join(words[1:cut])}.".replace(
            " .", "."
        )
    )


def taken(film: Film, chooser: Chooser) -> Iterator[tuple[str, int]]:
    """Kind of the line chosen in each slot, and of how many."""
    said: list[str] = []
    for place, moment in enumerate(film):
        found = drawn(film, place)
        lines = [
            Line(number, Fitted(text), moment.interval, findings(text, said))
            for number, (_, text) in enumerate(found)
        ]
        slot = Slot(slot_id(moment.interval.start), moment.interval, 30)
        index = chooser.choose(
            lines, Situation(slot, tuple(said), moment.description, Around(before=said[-5:]))
        )
        said.append(found[index][1])
        yield found[index][0], len(found)


def findings(text: str, said: Sequence[str]) -> tuple[Finding, ...]:
    """As of `check_line`; what does not depend on the lines before is looked for once."""
    return (
        *wording(text),
        *(f for f in check_line(text, previous=said[-5:], language="und") if f.rule == "L9"),
    )


@cache
def wording(text: str) -> tuple[Finding, ...]:
    return check_line(text)


def table(name: str, films: Sequence[Film], choosers: dict[str, Chooser]) -> None:
    slots = sum(map(len, films))
    print(f"\n{name}: {slots} slots in {len(films)} film{'s' * (len(films) > 1)}")
    print(f"{'':24s}" + "".join(f"{kind:>10s}" for kind in KINDS))
    for label, chooser in choosers.items():
        results = [pair for film in films for pair in taken(film, chooser)]
        if label == "first":
            chance = float(np.mean([1 / number for _, number in results]))
            print(f"{'chance':24s}{chance:10.1%}")
        counts = Counter(kind for kind, _ in results)
        print(f"{label:24s}" + "".join(f"{counts[kind] / slots:10.1%}" for kind in KINDS))


def embedder(films: Sequence[Film]) -> Embed:
    """Embeddings of all that is compared in these films, made in one go."""
    from shotad.script import make_embedder

    model = make_embedder()
    kept: dict[str, np.ndarray] = {}

    def embed(texts: Sequence[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in kept]
        kept.update(zip(new, model.of(new), strict=True))
        return np.stack([kept[text] for text in texts])

    texts = [t for film in films for place in range(len(film)) for _, t in drawn(film, place)]
    embed([*texts, *(body_of(moment.description) for film in films for moment in film)])
    return embed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--clips", type=int, default=60)
    parser.add_argument("--no-embeddings", action="store_true")
    parser.add_argument("--grid", action="store_true", help="other weights too")
    options = parser.parse_args()
    sets: dict[str, list[Film]] = {}
    if (options.data / "ad-text" / "elephants-dream").is_dir():
        sets |= elephants_dream(options.data / "ad-text" / "elephants-dream")
    if (options.data / "cmd-ad").is_dir():
        sets["CMD-AD"] = cmd_ad(options.data / "cmd-ad", options.clips)
    if not sets:
        print(f"skipped: {options.data} holds neither ad-text/elephants-dream nor cmd-ad")
        return
    choosers: dict[str, Chooser] = {"first": First(), "single (rules)": ByRules()}
    if options.grid:
        choosers |= {f"  news {w}": ByRules(news=w) for w in (0.0, 0.2, 0.6, 0.8, 1.0)}
    if not options.no_embeddings:
        embed = embedder([film for films in sets.values() for film in films])
        choosers["sequence (embeddings)"] = BySequence(embed)
        if options.grid:
            choosers |= {f"  redundancy {w}": BySequence(embed, redundancy=w) for w in (0.0, 0.25, 0.75)}
            choosers |= {f"  fading {w}": BySequence(embed, fading=w) for w in (0.5, 0.95, 1.0)}
    for name, films in sets.items():
        table(name, films, choosers)


if __name__ == "__main__":
    main()
