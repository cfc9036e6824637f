"""How near one file of actions comes to another, made by others for the same ADs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shotad.core import DatasetError
from shotad.description import head_of, words_of
from shotad.evaluation.datasets.actions import read_actions
from shotad.evaluation.datasets.description import ActionFile
from shotad.evaluation.measure.rows import Json

Actions = Mapping[str, tuple[str, ...] | None]
"""The actions of each AD, by id; None where none are known."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Counts over the ADs of both files.

    ``same_number`` of the ``both`` ADs with actions in both files have the same number of them; ``actions``
    are the sums of both. ``precision`` and ``recall`` are of words as lemmas, those of all of an AD's actions
    together, each as often as it stands there; ``verb_precision`` and ``verb_recall`` of main verbs alone.
    The second file is the reference.
    """

    both: int
    only_first: int
    only_second: int
    same_number: int
    actions: tuple[int, int]
    precision: float
    recall: float
    verb_precision: float
    verb_recall: float

    @property
    def text(self) -> str:
        """The comparison for people."""
        first, second = self.actions
        lines = [
            f"{self.both:,} ADs have actions in both files; {self.only_first:,} in the first alone, "
            f"{self.only_second:,} in the second alone.",
        ]
        if self.both:
            lines += [
                f"Actions for each AD: {first / self.both:.3f} and {second / self.both:.3f}; "
                f"the same number in {100 * self.same_number / self.both:.1f} %.",
                f"Words of the second that the first has: {100 * self.recall:.1f} %; the other way "
                f"{100 * self.precision:.1f} %.",
                f"Main verbs of the second that the first has: {100 * self.verb_recall:.1f} %; the other way "
                f"{100 * self.verb_precision:.1f} %.",
            ]
        return "\n".join(lines)

    def record(self) -> Json:
        """The comparison as JSON."""
        return {
            "both": self.both,
            "only_first": self.only_first,
            "only_second": self.only_second,
            "same_number": self.same_number,
            "actions": list(self.actions),
            "words": {"precision": self.precision, "recall": self.recall},
            "verbs": {"precision": self.verb_precision, "recall": self.verb_recall},
        }


def compare_actions(first: Actions, second: Actions) -> Comparison:
    """How near the ``first`` actions come to the ``second``."""
    ids = [name for name in first if first[name] and second.get(name)]
    mine = {name: first[name] or () for name in ids}
    theirs = {name: second[name] or () for name in ids}
    words = _overlap([(_lemmas(mine[name]), _lemmas(theirs[name])) for name in ids])
    verbs = _overlap([(_verbs(mine[name]), _verbs(theirs[name])) for name in ids])
    return Comparison(
        both=len(ids),
        only_first=sum(bool(actions) and not second.get(name) for name, actions in first.items()),
        only_second=sum(bool(actions) and not first.get(name) for name, actions in second.items()),
        same_number=sum(len(mine[name]) == len(theirs[name]) for name in ids),
        actions=(sum(map(len, mine.values())), sum(map(len, theirs.values()))),
        precision=words[0],
        recall=words[1],
        verb_precision=verbs[0],
        verb_recall=verbs[1],
    )


def actions_in(path: Path) -> dict[str, tuple[str, ...] | None]:
    """The actions of a file in the published format, by id. Raises DatasetError."""
    told = read_actions(path, ActionFile()).told
    if not told:
        raise DatasetError(f"{path} has no actions.", "Its columns are anno_idx and gt_action.")
    return {name: one.actions for name, one in told.items()}


def _lemmas(actions: Sequence[str]) -> Counter[str]:
    return Counter(word.lemma for action in actions for word in words_of(action))


def _verbs(actions: Sequence[str]) -> Counter[str]:
    return Counter(verb for action in actions if (verb := head_of(action)[1]))


def _overlap(pairs: Sequence[tuple[Counter[str], Counter[str]]]) -> tuple[float, float]:
    """Of what the first has, the share that the second has, and the other way round; 1 of nothing."""
    common = sum((one & other).total() for one, other in pairs)
    mine = sum(one.total() for one, _ in pairs)
    theirs = sum(other.total() for _, other in pairs)
    return (common / mine if mine else 1.0), (common / theirs if theirs else 1.0)
