"""What Stage II is told of the story so far, kept up as the lines are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shotad.core import (
    NOBODY,
    Config,
    Identity,
    Presence,
    Reply,
    Request,
    SamplingSettings,
    Slot,
    Utterance,
    key_of,
)
from shotad.description.ask import identity_record, prompt_record, slot_seed, try_record
from shotad.description.castlist import told_only, without_untold
from shotad.description.story import BUDGETS, due, names_in_use, parse_renewal, renewal_messages, story_text
from shotad.script import Cue, capitals_are_names

Record = Mapping[str, Any]


def story_of(
    slot: Slot,
    lines: Sequence[str],
    speech: Sequence[Utterance],
    so_far: str,
    presence: Presence,
    config: Config,
) -> str:
    """What is told of the film for one slot, see `story_text`, but no name that the film has not told."""
    capitals = capitals_are_names(config.language)
    names = names_in_use(lines if capitals else (), config.prompt.note, presence)
    reach = BUDGETS.reach
    start, end = slot.interval.start - reach, slot.interval.end + reach
    near = [said for said in speech if said.interval.end >= start and said.interval.start <= end]
    told = [told_only(said, presence) for said in near]
    return without_untold(story_text(lines, slot, told, names, so_far), presence)


class Telling:
    """The story as it is told slot by slot. Says nothing where ``story.on`` is off.

    The note of the story so far is asked for anew every so many lines; ``known`` and ``keep`` are the
    answers of earlier runs, by key.
    """

    def __init__(
        self,
        speech: Sequence[Utterance],
        config: Config,
        writes: Identity,
        ask: Callable[[Request], Reply],
        known: Callable[[str], Record | None],
        keep: Callable[[str, Record], None],
    ) -> None:
        self._speech, self._config, self._writes = speech, config, writes
        self._ask, self._known, self._keep = ask, known, keep
        self._lines: list[Cue] = []
        self._fresh: list[Cue] = []
        self._so_far = ""
        self._presence = NOBODY

    def text(self, slot: Slot, presence: Presence = NOBODY) -> str:
        """What Stage II is told for this slot; empty where nothing is. ``presence`` is who is in its clip."""
        self._presence = presence
        if not self._config.story.on:
            return ""
        lines = [cue.text for cue in self._lines]
        return story_of(slot, lines, self._speech, self._so_far, presence, self._config)

    def heard(self, cue: Cue) -> None:
        """A line has been written."""
        self._lines.append(cue)
        self._fresh.append(cue)
        if self._config.story.on and due(len(self._fresh), self._config.story.renew_every):
            self._renew(cue.id)
            self._fresh = []

    def _renew(self, slot_id: str) -> None:
        start, end = self._fresh[0].interval.start, self._fresh[-1].interval.end
        dialogue = [
            told_only(said, self._presence) for said in self._speech if start <= said.interval.start < end
        ]
        lines = [cue.text for cue in self._fresh]
        messages = renewal_messages(self._so_far, lines, dialogue)
        seed = slot_seed(self._config.seed, f"{slot_id}/story")
        key = key_of(prompt_record(messages), identity_record(self._writes), seed)
        record = self._known(key)
        if record is None:
            sampling = SamplingSettings(max_tokens=2 * BUDGETS.note)
            reply = self._ask(Request(slot_id, messages, sampling=sampling, seed=seed))
            record = {"slot": slot_id, "prompt": prompt_record(messages), **try_record(reply)}
            if reply.error is None:
                self._keep(key, record)
        # A server that refuses says so in words of its own, which are no note.
        told = "" if record.get("finish") == "refused" else parse_renewal(record["raw"])
        self._so_far = told or self._so_far
