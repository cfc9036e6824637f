"""Findings of a few lines, as a check of the whole track would find them, by rules that look at no more than
a line, the lines just before it, and what is said and shown around it. Pure.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from shotad.core import Interval, TextFact, Utterance
from shotad.description import DIALOGUE_WINDOW, Checker, each_line, in_time, lint
from shotad.script import Finding, IntervalIndex, Material, TrackLine

LOOK_ALL = frozenset(("T5", "L6", "L7", "L8", "L11", "A1", "A2", "A3"))
"""Rules that look at all lines, or at the sound of a render."""


def is_told_at_once(finding: Finding) -> bool:
    """Whether a finding is of a line and of a rule that needs no more than what is near to it."""
    return finding.cue_id is not None and finding.rule not in LOOK_ALL


@dataclass(frozen=True, slots=True)
class Nearby:
    """What is known of a film beside its lines, made ready to be looked up by time.

    ``around`` is the material without lines; ``speech`` None where it is not known when somebody speaks.
    """

    around: Material
    speech: IntervalIndex[Utterance] | None
    texts: IntervalIndex[TextFact] | None

    @staticmethod
    def of(material: Material) -> Nearby:
        """The surroundings of a material."""
        return Nearby(
            replace(material, lines=()),
            None
            if material.speech is None
            else IntervalIndex.of(material.speech, lambda spoken: spoken.interval),
            None if material.texts is None else IntervalIndex.of(material.texts, _shown),
        )

    def findings(
        self, lines: Sequence[TrackLine], wanted: Iterable[str], checker: Checker, duration: float
    ) -> tuple[Finding, ...]:
        """What is told at once of the lines called ``wanted``, in order, whether it was accepted or not.

        ``lines`` are these and those around them: as many before the first as rule L9 looks back
        (`reach_of`). ``duration`` is the length of the film with all its lines. The parser of ``checker`` is
        not used.
        """
        checker = replace(checker, reader=None)
        names = frozenset(wanted)
        part = self._part(lines, duration, DIALOGUE_WINDOW)
        each = each_line(part, checker, only=names)
        report = lint(part, checker, each=each, together=in_time(part, checker))
        return tuple(f for f in report.findings if is_told_at_once(f) and f.cue_id in names)

    def _part(self, lines: Sequence[TrackLine], duration: float, window: float) -> Material:
        times = [time for line in lines for time in (line.heard, line.interval)]
        if not times:
            return replace(self.around, end=duration)
        time = Interval(min(t.start for t in times), max(t.end for t in times))
        return replace(
            self.around,
            lines=tuple(lines),
            end=duration,
            cast=None,
            speech=None if self.speech is None else _with_borders(self.speech, time, window),
            texts=None if self.texts is None else self.texts.near(time, window),
        )


def reach_of(checker: Checker) -> int:
    """How many lines after a change it may reach: those of which L9 looks back to it, the next at least."""
    return max(1, checker.limits.history)


def _with_borders(speech: IntervalIndex[Utterance], time: Interval, window: float) -> tuple[Utterance, ...]:
    """What is said near ``time``, and what comes just before and just after that: gaps end there."""
    first = bisect_left(speech.ends, time.start - window)
    last = bisect_right(speech.starts, time.end + window)
    near = speech.items[first : last + 1]
    if not first:
        return near
    before = speech.items[bisect_left(speech.ends, speech.ends[first - 1])]
    return (before, *near)


def _shown(text: TextFact) -> Interval:
    return Interval(text.first, max(text.last, text.first + 0.001))
