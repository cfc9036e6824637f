"""Sentences that are taken apart once, however often their track is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shotad.config.languages import is_english
from shotad.lint.lines import TrackLine
from shotad.lint.sentences import Read, Reader, may_matter
from shotad.script.rules import unquoted

_Text = tuple[str, frozenset[str]]


@dataclass(slots=True)
class Remembering:
    """A `Reader` that asks another only for texts that it does not know; it forgets those that are gone."""

    inner: Reader
    _known: dict[_Text, Read] = field(default_factory=dict)

    def read(self, lines: Sequence[TrackLine], events: frozenset[str]) -> Mapping[str, Read]:
        """As `Reader.read`."""
        texts = {line.id: unquoted(line.text) for line in lines if is_english(line.language)}
        matter = {name: (text, events) for name, text in texts.items() if may_matter(text, events)}
        new = {key: name for name, key in matter.items() if key not in self._known}
        asked = set(new.values())
        fresh = self.inner.read([line for line in lines if line.id in asked], events) if asked else {}
        known = self._known | {key: fresh[name] for key, name in new.items() if name in fresh}
        self._known = {key: known[key] for key in matter.values() if key in known}
        return {name: known[key] for name, key in matter.items() if key in known}
