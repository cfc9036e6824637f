"""What Stage II is told of the film besides its clip: last lines, names, dialogue, the story so far.

An addition to Shot-by-Shot, which describes every clip alone and names that as a weakness. Each part has a
budget in tokens, estimated by letters; what lies nearest to the slot is kept first, whole lines only. The
note on the story so far is renewed as the lines are written (`renewal_messages`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from shotad.core import (
    NOBODY,
    Config,
    Identity,
    Interval,
    Message,
    Presence,
    Reply,
    Request,
    SamplingSettings,
    Slot,
    SpeechKind,
    Utterance,
    key_of,
)
from shotad.description.answers import is_nothing, is_refusal, plain
from shotad.description.castlist import told_only, whose, without_untold
from shotad.description.conversation import identity_record, prompt_record, slot_seed, try_record
from shotad.description.templates import material, question, render, tokens_in
from shotad.script import Cue, capitals_are_names, names_in

RENEW_EVERY = 8
"""Lines after which the note on the story so far is written again: about a minute of a film."""
TOKENS_A_WORD = 4 / 3
"""Of English prose; how many words are asked for where a budget is in tokens."""


LAST_LINES = 5
"""Lines before the slot that are told, at most."""
REACH = 25.0
"""Seconds before and after the slot of which the dialogue is given, where its words are known."""
LINE_TOKENS, DIALOGUE_TOKENS, NAME_TOKENS, NOTE_TOKENS = 200, 300, 60, 150
"""How much is told of each, in tokens: a page in all, for the clip stays the main thing."""

_SENTENCE = re.compile(r"(?<=[.!?…])[\"”’)]*\s+")
_LABEL = re.compile(
    r"[{\s]*+\"?(?:(?:here(?:'s| is)\b[^:\n]{0,60}|(?:the )?(?:(?:new|renewed|updated|revised|short) )*"
    r"(?:note|story so far|story|summary)(?: so far)?(?: of the story| on the story)?)\"?\s*:\s*)+",
    re.IGNORECASE,
)
_CHATTER = re.compile(
    r"(?:^|\n)[^\S\n]*\(?(?:word count|\d+ words|let me know|i (?:have|hope)\b).*\Z", re.I | re.S
)


def story_text(
    lines: Sequence[str],
    slot: Slot,
    speech: Sequence[Utterance],
    names: Sequence[str],
    so_far: str,
) -> str:
    """The context for one slot, in labelled blocks; empty where nothing is known.

    ``lines`` are the AD lines before it, oldest first; ``speech`` all that is known of the film's, of which
    words within `REACH` seconds are given, songs left out; ``names`` those in use, the most
    wanted first; ``so_far`` the note on the story.
    """
    last = [f"- {line}" for line in lines[-LAST_LINES:]]
    told = _last_within(_SENTENCE.split(" ".join(so_far.split())), NOTE_TOKENS)
    blocks = [
        _filled("story/so-far", note=material(" ".join(told))),
        _filled("story/lines", lines=material("\n".join(_last_within(last, LINE_TOKENS)))),
        _filled("story/dialogue", dialogue=material(_dialogue(slot.interval, speech))),
        _filled("story/names", names=material(", ".join(_first_within(names, NAME_TOKENS)))),
    ]
    return _filled("story/context", blocks="\n".join(block for block in blocks if block))


def names_in_use(lines: Sequence[str], note: str, presence: Presence = NOBODY) -> tuple[str, ...]:
    """The names that Stage II is reminded of: of those recognised in the clip first, then those in use.

    Names of the cast stand as they are to be spoken, each once; those that the film has not told are left
    out.
    """
    known = [character.called for character in presence.seen if character.named]
    by_id = {character.id: character for character in presence.cast}
    for name in names_in(lines, note):
        found = whose(name, presence)
        if not found:
            known.append(name)
        known += [by_id[m.id].called for m in found if not m.hidden and by_id[m.id].named]
    return tuple(dict.fromkeys(known))


def renewal_messages(
    so_far: str, new_lines: Sequence[str], dialogue: Sequence[Utterance]
) -> tuple[Message, ...]:
    """What an engine is asked so that the note holds the lines written since, and the dialogue between.

    Of the dialogue, oldest first, the last that fits into `DIALOGUE_TOKENS` is given.
    """
    spoken = [f'- "{words}"' for words in map(_words_of, dialogue) if words]
    heard = "\n".join(_last_within(spoken, DIALOGUE_TOKENS))
    user = render(
        "story/renewal",
        note=material(so_far) or render("story/renewal-first"),
        lines=material("\n".join(f"- {line}" for line in new_lines)),
        dialogue=f"\n\n{render('story/renewal-dialogue', dialogue=material(heard))}" if heard else "",
        words=str(int(NOTE_TOKENS / TOKENS_A_WORD)),
    )
    return Message("system", render("story/renewal-system")), question(user)


def parse_renewal(text: str) -> str:
    """The new note, one paragraph; empty where the answer holds none, and the old one stays."""
    body = _CHATTER.sub("", plain(re.sub(r"```\w*", "", text)))
    opened = _LABEL.match(body)
    note = " ".join(body[opened.end() if opened else 0 :].split()).strip(' {}"')
    if len(note) > 1 and note[0] == note[-1] == "'":
        note = note[1:-1].strip()
    return "" if is_nothing(note) or is_refusal(note) else note


def _filled(name: str, **value: str) -> str:
    """The template, or nothing where there is nothing to fill in."""
    return render(name, **value) if all(value.values()) else ""


def _dialogue(slot: Interval, speech: Sequence[Utterance]) -> str:
    """The words spoken around a slot, in order, each with its place in time; the nearest are kept."""
    near = [
        (_between(slot, utterance.interval), utterance.interval, _spoken(slot, utterance))
        for utterance in speech
        if _words_of(utterance)
    ]
    near = sorted(row for row in near if row[0] <= REACH)
    kept = _first_within((row for _, _, row in near), DIALOGUE_TOKENS)
    return "\n".join(row for _, row in sorted((interval, row) for _, interval, row in near[: len(kept)]))


def _between(slot: Interval, spoken: Interval) -> float:
    """Seconds between the two; 0 where they touch or overlap."""
    return max(0.0, slot.start - spoken.end, spoken.start - slot.end)


def _spoken(slot: Interval, utterance: Utterance) -> str:
    when = "during" if utterance.interval.overlaps(slot) else "before"
    if utterance.interval.start >= slot.end:
        when = "after"
    return render("story/spoken", when=when, words=_words_of(utterance))


def _words_of(utterance: Utterance) -> str:
    """What is said, on one line; nothing for songs."""
    if utterance.kind is SpeechKind.LYRICS:
        return ""
    return " ".join(utterance.text.split()).replace('"', "'")


def _first_within(parts: Iterable[str], tokens: int) -> list[str]:
    """The first parts that together take at most ``tokens``."""
    kept: list[str] = []
    left = tokens
    for part in parts:
        left -= tokens_in(part)
        if left < 0:
            break
        kept.append(part)
    return kept


def _last_within(parts: Sequence[str], tokens: int) -> list[str]:
    """The last parts that together take at most ``tokens``, in their order."""
    return _first_within((part for part in reversed(parts) if part), tokens)[::-1]


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
    start, end = slot.interval.start - REACH, slot.interval.end + REACH
    near = [said for said in speech if said.interval.end >= start and said.interval.start <= end]
    told = [told_only(said, presence) for said in near]
    return without_untold(story_text(lines, slot, told, names, so_far), presence)


class Telling:
    """The story as it is told slot by slot. Says nothing where ``story.on`` is off.

    The note of the story so far is asked for again every so many lines; ``known`` and ``keep`` are the
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
        if self._config.story.on and len(self._fresh) == RENEW_EVERY:
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
            sampling = SamplingSettings(max_tokens=2 * NOTE_TOKENS)
            reply = self._ask(Request(slot_id, messages, sampling=sampling, seed=seed))
            record = {"slot": slot_id, "prompt": prompt_record(messages), **try_record(reply)}
            if reply.error is None:
                self._keep(key, record)
        # A server that refuses says so in words of its own, which are no note.
        told = "" if record.get("finish") == "refused" else parse_renewal(record["raw"])
        self._so_far = told or self._so_far
