"""What is wrong with a line of one slot: the rules on words, its budget, and the names in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shotad.core import Config, Presence
from shotad.description.castlist import as_spoken, without_untold
from shotad.description.checks import Complaint, complaints_about
from shotad.description.naming import name_complaints
from shotad.description.slotplan import SlotPlan
from shotad.script import own_signs


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges the lines of one slot. ``description`` is what they are written from, ``story`` what the model
    was told of the film besides."""

    plan: SlotPlan
    config: Config
    description: str
    story: str = ""

    def complaints(self, line: str) -> tuple[Complaint, ...]:
        """What to ask a model to do better, a complaint for each rule on words and one for each name."""
        found = complaints_about(line, self.plan.slot.max_words, language=self.config.language)
        return (*self._fair(line, found), *self._about_names(line))

    def as_spoken(self, line: str) -> str:
        """The line with the names that may be said as they are to be spoken; no model is asked for that."""
        named = as_spoken(line, self.plan.presence, self.config.prompt)
        return own_signs(named, self.config.language)

    def without_untold(self, line: str) -> str:
        """The line without names that the film has not told yet, where asking again has not helped."""
        return without_untold(line, self.plan.presence)

    def _about_names(self, line: str) -> tuple[Complaint, ...]:
        told = f"{self.config.prompt.note}\n{self.story}"
        language, heard = self.config.language, self.plan.heard
        found = name_complaints(
            line, self.description, self.plan.presence, heard, told=told, language=language
        )
        # Without names for Stage II nobody has told it which of somebody's names is the one to use.
        return tuple(one for one in found if self.config.prompt.stage2_names or one.rule != "L8")

    def _fair(self, line: str, found: tuple[Complaint, ...]) -> tuple[Complaint, ...]:
        """Without what is said against the very words by which the cast wants somebody to be called."""
        plain = _without_called(line, self.plan.presence)
        if plain == line or not any(one.rule in _OF_CALLED for one in found):
            return found
        again = complaints_about(plain, self.plan.slot.max_words, language=self.config.language)
        left = {one.rule for one in again}
        return tuple(one for one in found if one.rule not in _OF_CALLED or one.rule in left)


_OF_CALLED = frozenset(("L13", "pronoun"))
"""Rules that a name with a title (``Mr. Lee``) and a descriptor (``the woman in red``) break."""

_NAME = "Kim"


def _without_called(line: str, presence: Presence) -> str:
    """The line with a plain name for everybody of the cast."""
    for character in presence.cast:
        if character.called:
            line = re.sub(rf"(?<!\w){re.escape(character.called)}(?!\w)", _NAME, line, flags=re.IGNORECASE)
    return line
