"""Which candidate of a slot is spoken, by stated rules; choosing along a film is `sequence`'s."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from shotad.core import Interval, Slot
from shotad.description.candidates import is_near_copy
from shotad.description.wording import content_of, is_unfinished, verbs_of
from shotad.script import BENCHMARK, Finding, Fitted, Level, Limits, Sight, similarity

CHOICE_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "stage2/choose-system": ("medium",),
    "stage2/choose": ("description", "before", "lines", "template"),
    "stage2/choose-before": ("lines",),
    "stage2/choose-first": (),
}
"""Prompts of the question to an engine that chooses (`shotad.description.sequence`), and their variables."""

LAST = 10
"""Lines that a candidate is compared with."""
FADING = 0.85
"""How much a line still counts for each line that followed it."""
VERB = 2.0
"""Weight of a verb of the description; other words have 1."""
NEWS = 0.3
"""Share of the distance to the last lines in the weighted sum; the rest is coverage."""


@dataclass(frozen=True, slots=True)
class Around:
    """What a line is judged by: the speech of the film, the lines before it, whether its slot or budget
    is a benchmark's (``given``)."""

    speech: Sequence[Interval] = ()
    before: Sequence[str] = ()
    given: bool = False

    @property
    def limits(self) -> Limits:
        """The benchmarks' where slots are given, whose minima do not apply."""
        return BENCHMARK if self.given else Limits()


@dataclass(frozen=True, slots=True)
class Line:
    """A candidate that was made to fit, when it is spoken, and what is still wrong with it.

    ``number`` counts the slot's candidates from 0; ``unseen`` is what it states and the frames do not show;
    ``sight`` is when it may start, None where that is not known.
    """

    number: int
    fitted: Fitted
    interval: Interval
    findings: tuple[Finding, ...]
    unseen: tuple[str, ...] = ()
    sight: Sight | None = None

    @property
    def text(self) -> str:
        """What would be spoken."""
        return self.fitted.text

    @property
    def errors(self) -> int:
        """How many rules it breaks that a line must not break."""
        return sum(finding.level is Level.ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        """How many findings are for a person to judge."""
        return len(self.findings) - self.errors

    @property
    def residue(self) -> Finding | None:
        """What of a model's chatter is left in it (L5); such a line must not be spoken."""
        return next((finding for finding in self.findings if finding.rule == "L5"), None)


@dataclass(frozen=True, slots=True)
class Situation:
    """Where a line is chosen for: its slot, all lines heard so far (oldest first), Stage I's description."""

    slot: Slot
    said: tuple[str, ...]
    description: str
    around: Around


class Chooser(Protocol):
    """Takes one of a slot's lines."""

    def choose(self, lines: Sequence[Line], situation: Situation) -> int:
        """Index into ``lines``, of which there is at least one."""
        ...


@dataclass(frozen=True, slots=True)
class ByRules:
    """Chooses for a slot alone. The first rule that tells lines apart decides:

    1. a line free of a model's chatter (L5) before one with it, one whose statements were all found in
       the frames before one of which some were not, and a whole line before one that breaks off;
    2. fewer errors of the guidelines;
    3. fewer warnings;
    4. no near copy of one of the last ten lines before one that is;
    5. the larger sum of 0.3 times the distance to the last lines and 0.7 times the coverage of the
       description;
    6. the earlier candidate.

    Distance is 1 less the greatest similarity with one of the last ten lines, where each line counts 0.85
    times the one after it. Coverage is the share of the description's words that the line says, by lemma,
    verbs counting twice, against the most that any of the slot's lines says.
    """

    news: float = NEWS

    def choose(self, lines: Sequence[Line], situation: Situation) -> int:
        """Index of the best line by the rules above."""
        covered = coverage([line.text for line in lines], situation.description)
        said = situation.said[-LAST:]

        def rank(index: int) -> tuple[object, ...]:
            line = lines[index]
            worth = self.news * distance(line.text, said) + (1 - self.news) * covered[index]
            return *_sound(line), line.warnings, repeats(line, said), -round(worth, 9), index

        return min(range(len(lines)), key=rank)


def soundest(lines: Sequence[Line]) -> tuple[int, ...]:
    """Indices of the lines that break the fewest rules which a line must not break (rules 1 and 2)."""
    least = min(_sound(line) for line in lines)
    return tuple(index for index, line in enumerate(lines) if _sound(line) == least)


def repeats(line: Line, said: Sequence[str]) -> bool:
    """Whether a line is a near copy of one of the last ten."""
    return any(is_near_copy(line.text, before) for before in said[-LAST:])


def distance(line: str, said: Sequence[str], fading: float = FADING) -> float:
    """How far a line is from what was said, 0 to 1 (oldest first; older lines count less)."""
    near = (similarity(line, before) * fading**age for age, before in enumerate(reversed(said)))
    return 1.0 - max(near, default=0.0)


def coverage(lines: Sequence[str], description: str) -> tuple[float, ...]:
    """How much of the description each line says, 0 to 1: 1 for the one that says most of it.

    Words count by lemma, once each; a verb of the description has the weight 2. All 0 where no line says
    anything of it.
    """
    verbs = verbs_of(description)
    weights = {lemma: VERB if lemma in verbs else 1.0 for lemma in content_of(description)}
    said = [sum(weights.get(lemma, 0.0) for lemma in content_of(line)) for line in lines]
    most = max(said, default=0.0)
    return tuple(value / most if most else 0.0 for value in said)


def _sound(line: Line) -> tuple[bool, bool, bool, int]:
    return line.residue is not None, bool(line.unseen), is_unfinished(line.text), line.errors
