"""Rules of single lines on a track that is checked again and again: only what changed is looked at anew."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain

from shotad.description.linting.check import Checker, each_line
from shotad.script import Finding, Material, TrackLine

_Seen = tuple[TrackLine, tuple[str, ...]]
"""All of a track that the rules of a line look at: the line, and the texts just before it."""


@dataclass(slots=True)
class Again:
    """What `each_line` finds, kept for lines that stay the same.

    `of` gives what `each_line` gives of the same material, whatever was asked before. For one thread.
    """

    _around: tuple[Material, Checker, frozenset[str]] | None = None
    _known: dict[str, tuple[_Seen, tuple[Finding, ...]]] = field(default_factory=dict)

    def of(self, material: Material, checker: Checker) -> tuple[Finding, ...]:
        """What is wrong with each line."""
        # Languages: the verbs that a parser is asked about are those of all of them.
        tongues = frozenset(line.language for line in material.lines)
        around = (replace(material, lines=(), end=material.duration), checker, tongues)
        if around != self._around:
            self._around, self._known = around, {}
        seen = _seen(material, checker.limits.history)
        stale = frozenset(name for name, one in seen.items() if self._seen_of(name) != one)
        fresh: dict[str, list[Finding]] = {name: [] for name in stale}
        for finding in each_line(material, checker, only=stale):
            fresh[finding.cue_id or ""].append(finding)
        kept = self._known
        self._known = {
            name: (one, tuple(fresh[name])) if name in stale else kept[name] for name, one in seen.items()
        }
        return tuple(chain.from_iterable(found for _, found in self._known.values()))

    def _seen_of(self, name: str) -> _Seen | None:
        return self._known[name][0] if name in self._known else None


def _seen(material: Material, history: int) -> dict[str, _Seen]:
    texts = [line.text for line in material.lines]
    return {
        line.id: (line, tuple(texts[max(number - history, 0) : number]))
        for number, line in enumerate(material.lines)
    }
