"""How often each way of choosing takes the line that a describer wrote, among lines made wrong on purpose.

    python benchmarks/choices.py

Each slot has four candidates in an order drawn by a seed: the describer's own line, one that nearly repeats
the line before, one of another moment of the film, and the own line cut off. What was said before is what was
chosen before, as in a real run. The film is Elephants Dream, which two people described: one person's line is
to be found, and what the other said at that time stands for Stage I's description.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from common import DESCRIBERS, DREAM, Lines, command_line, described_lines, said_around

from shotad.core import Interval, Slot
from shotad.core.types import slot_id
from shotad.description.choice import Chooser, Embed, FittedLine, Situation, by_rules, by_sequence
from shotad.script import make_embedder
from shotad.script.fit import FittedText
from shotad.script.rules import check_line

KINDS = ("own", "repeats", "elsewhere", "cut off")


@dataclass(frozen=True)
class Moment:
    """A slot: the describer's line and what stands for the description."""

    interval: Interval
    own: str
    description: str


Film = list[Moment]


def described(own: Lines, other: Lines) -> Film:
    told = ((interval, text, said_around(interval, other)) for interval, text in own)
    return [Moment(interval, text, f"1. Actions: {about}") for interval, text, about in told if about]


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
    joins = ("in", "on", "at", "to", "into", "with", "from")
    cut = max((i for i in range(2, len(words)) if words[i] in joins), default=len(words) - 2)
    end, begin = " ".join(words[cut:]).rstrip(","), " ".join(words[:cut])
    return f"{end[0].upper()}{end[1:]}, {begin[0].lower()}{begin[1:]}.".replace(" .", ".")


def taken(film: Film, chooser: Chooser) -> Iterator[str]:
    """Kind of the line chosen in each slot."""
    said: list[str] = []
    for place, moment in enumerate(film):
        found = drawn(film, place)
        lines = [
            FittedLine(number, FittedText(text), moment.interval, check_line(text, previous=said[-5:]))
            for number, (_, text) in enumerate(found)
        ]
        slot = Slot(slot_id(moment.interval.start), moment.interval, 30)
        index = chooser(lines, Situation(slot, tuple(said), description=moment.description))
        said.append(found[index][1])
        yield found[index][0]


def embedder() -> Embed:
    """Embeddings, of each text once."""
    model = make_embedder()
    kept: dict[str, np.ndarray] = {}

    def embed(texts: Sequence[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in kept]
        kept.update(zip(new, model.of(new), strict=True))
        return np.stack([kept[text] for text in texts])

    return embed


def main() -> None:
    command_line(__doc__).parse_args()
    first, second = (described_lines(DREAM / file) for file in DESCRIBERS.values())
    films = dict(zip(DESCRIBERS, (described(first, second), described(second, first)), strict=True))
    choosers: dict[str, Chooser] = {"rules": by_rules, "sequence": by_sequence(embedder())}
    for name, film in films.items():
        print(f"\n{name}: {len(film)} slots\n{'':12s}" + "".join(f"{kind:>10s}" for kind in KINDS))
        for label, chooser in choosers.items():
            counts = Counter(taken(film, chooser))
            print(f"{label:12s}" + "".join(f"{counts[kind] / len(film):10.1%}" for kind in KINDS))


if __name__ == "__main__":
    main()
