"""What Stage II gets of the film beyond its clip: last lines, names, dialogue, the story so far.

An addition to Shot-by-Shot, which describes every clip alone and names that as a weakness. Each part has a
budget in tokens, estimated by letters; what lies nearest to the slot is kept first, whole lines only.

The story so far is a memory of the film. Section by section an engine is asked what is new: people, places,
facts, questions that are open or answered. A prompt gets what is relevant to its clip, so it does not grow
with the film.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.core import (
    Config,
    Interval,
    Message,
    RecordLog,
    Request,
    Slot,
    Utterance,
)
from shotad.core.cast import EMPTY_PRESENCE, Presence
from shotad.core.config.words import SamplingSettings
from shotad.core.types import SpeechKind
from shotad.core.workfolder import hash_key
from shotad.description.answer_text import is_nothing, without_thoughts
from shotad.description.answers import is_refusal, plain, unescaped_json
from shotad.description.english_words import content_of, letters_of
from shotad.description.prompts import NO_STORY, StoryContext
from shotad.description.seeds import slot_seed
from shotad.description.slotplan import hide_names, hide_names_in_utterance, mentions_of, seconds_between
from shotad.description.templates import cut_to_words, form_of, prompt_block, prompt_messages, tokens_in
from shotad.engines import AskingPool
from shotad.engines.answer_log import identity_record, prompt_record
from shotad.script import Cue
from shotad.script.fit import capitals_are_names
from shotad.script.names import names_in

Record = Mapping[str, Any]
"""What the memory learnt of one section, as it stands in ``story.jsonl``."""

SECTION_LINES = 8
"""AD lines that end a section, on which the engine is asked: about a minute of a film."""
SECTION_TOKENS = 600
"""Tokens of dialogue and lines that end a section earlier, where people talk much."""
NEW_ENTRIES, ENTRY_WORDS = 6, 25
"""What is kept of one answer at most; the memory of a film of 100 minutes has some five hundred sentences."""
LAST_LINES = 5
"""Lines before the slot that a prompt gets, at most."""
DIALOGUE_REACH = 25.0
"""Seconds before and after the slot of which the dialogue is given, where its words are known."""
LINE_TOKENS, DIALOGUE_TOKENS, NAME_TOKENS, MEMORY_TOKENS = 200, 300, 60, 250
"""Budget of each part in tokens: a page in all, for the clip stays the main thing."""
ANSWER_TOKENS = 400
"""Longest answer about a section."""

KINDS = ("people", "places", "facts", "open")
RESOLVED = "settled"
"""The key of an answer, and the kind of an entry, for open questions that have been answered."""
SCHEMA = form_of(
    {
        **{kind: {"type": "array", "items": {"type": "string"}} for kind in KINDS},
        RESOLVED: {"type": "array", "items": {"type": "integer"}},
    }
)
"""JSON schema of an answer to `memory_update_messages`."""


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A sentence of the memory, the film second at which it was known, and the lemmas of its words."""

    kind: str
    text: str
    second: float
    words: frozenset[str]


class StoryMemory:
    """What a film has shown and said so far, learnt record by record.

    ``entries`` only grow and keep their numbers: an engine names them by number.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.entries: list[MemoryEntry] = []
        self._word_counts: Counter[str] = Counter()
        for record in records:
            self.learn(record)

    @staticmethod
    def at(records: Iterable[Record], second: float) -> StoryMemory:
        """The memory as the run had it at ``second``: its last record before, and all that this builds on."""
        by_key = {str(record.get("key")): record for record in records if record.get("learned")}
        earlier = [record for record in by_key.values() if record["second"] <= second]
        # Of several runs' answers about the same section, take the last run's.
        last = max(reversed(earlier), key=lambda record: float(record["second"]), default=None)
        chain: list[Record] = []
        while last is not None:
            chain.append(last)
            last = by_key.pop(last["after"], None)
        return StoryMemory(reversed(chain))

    def learn(self, record: Record) -> None:
        """Add what is new in a record, and mark the questions that it answers as resolved."""
        learned = record["learned"]
        for number in learned[RESOLVED]:
            if 0 < number <= len(self.entries) and self.entries[number - 1].kind == "open":
                self.entries[number - 1] = replace(self.entries[number - 1], kind=RESOLVED)
        # Two sentences that differ in punctuation or capitals alone are one.
        known_letters = {letters_of(entry.text) for entry in self.entries}
        for kind in KINDS:
            for text in learned[kind]:
                letters = letters_of(text)
                if letters in known_letters:
                    continue
                known_letters.add(letters)
                words = frozenset(content_of(text))
                self._word_counts.update(words)
                self.entries.append(MemoryEntry(kind, text, record["second"], words))

    def relevant_to(self, topic: str, *, numbered: bool = False) -> str:
        """The entries that are most relevant to the text ``topic``, at most `MEMORY_TOKENS` in all.

        A row each, oldest first; ``numbered`` puts the entry's number, counted from 1, before it. Entries
        that share words with the text are chosen first, rare words counting most; then open questions; then
        the latest entries.
        """
        topic_words = frozenset(content_of(topic))

        def relevance(number: int) -> tuple[float, bool, int]:
            entry = self.entries[number]
            # Sorted, so that the sum has the same last bits in every run.
            shared = sum(1 / self._word_counts[word] for word in sorted(entry.words & topic_words))
            return round(shared, 9), entry.kind == "open", number

        unresolved = [number for number, entry in enumerate(self.entries) if entry.kind != RESOLVED]
        most_relevant = sorted(unresolved, key=relevance, reverse=True)
        rows = (self._row(number, numbered=numbered) for number in most_relevant)
        fitting_rows = _first_within(rows, MEMORY_TOKENS)
        oldest_first = sorted(zip(most_relevant, fitting_rows, strict=False))
        return "\n".join(row for _, row in oldest_first)

    def _row(self, number: int, *, numbered: bool) -> str:
        """The entry at index ``number`` as a row of a prompt."""
        entry = self.entries[number]
        return prompt_block(
            "story",
            "entry",
            minute=int(entry.second // 60),
            text=entry.text,
            still_open=entry.kind == "open",
            number=number + 1 if numbered else None,
        )


def story_context(
    lines: Sequence[str], slot: Slot, speech: Sequence[Utterance], names: Sequence[str], so_far: str
) -> StoryContext:
    """The context for one slot; `NO_STORY` where nothing is known.

    ``lines`` are the AD lines before it, oldest first; ``speech`` all that is known of the film's, of which
    words within `DIALOGUE_REACH` seconds are given, songs left out; ``names`` those in use, the most
    wanted first; ``so_far`` what the memory has on the slot, see `StoryMemory.relevant_to`.
    """
    # Each row with its distance to the slot in seconds, so that the nearest can be kept.
    near: list[tuple[float, Interval, str]] = []
    for utterance in speech:
        words = _dialogue_of(utterance)
        distance = seconds_between(utterance.interval, slot.interval)
        if not words or distance > DIALOGUE_REACH:
            continue
        if utterance.interval.overlaps(slot.interval):
            when = "during"
        elif utterance.interval.start >= slot.interval.end:
            when = "after"
        else:
            when = "before"
        row = prompt_block("story", "dialogue_row", when=when, words=words)
        near.append((distance, utterance.interval, row))
    near.sort()
    row_count = len(_first_within((row for _, _, row in near), DIALOGUE_TOKENS))
    in_order = sorted((interval, row) for _, interval, row in near[:row_count])
    # Latest first, so that the budget drops the oldest lines.
    latest_lines = _first_within((f"- {line}" for line in reversed(lines[-LAST_LINES:])), LINE_TOKENS)
    return StoryContext(
        memory=so_far,
        last_lines="\n".join(reversed(latest_lines)),
        dialogue="\n".join(row for _, row in in_order),
        names=", ".join(_first_within(names, NAME_TOKENS)),
    )


def names_in_use(lines: Sequence[str], note: str, presence: Presence = EMPTY_PRESENCE) -> tuple[str, ...]:
    """The names that Stage II is reminded of, those recognised first, as they may be spoken, each once."""
    names = [character.called for character in presence.seen if character.named]
    by_id = {character.id: character for character in presence.cast}
    for name in names_in(lines, note):
        mentions = mentions_of(name, presence)
        if not mentions:  # nobody of the cast
            names.append(name)
        for mention in mentions:
            character = by_id[mention.id]
            if not mention.hidden and character.named:
                names.append(character.called)
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class StoryRow:
    """A line or an utterance as a row of a prompt, and the second at which it ends."""

    second: float
    text: str
    is_line: bool = False


def line_row(line: str, second: float) -> StoryRow:
    """A line of AD as the memory learns it."""
    return StoryRow(second, prompt_block("story", "seen_row", line=line), is_line=True)


def speech_rows(speech: Iterable[Utterance], start: float, end: float) -> list[StoryRow]:
    """The utterances that end in ``(start, end]``, as the memory learns them, in order."""
    rows: list[StoryRow] = []
    for utterance in speech:
        words = _dialogue_of(utterance)
        if words and start < utterance.interval.end <= end:
            text = prompt_block("story", "said_row", words=words)
            rows.append(StoryRow(utterance.interval.end, text))
    return sorted(rows, key=lambda row: row.second)


def first_section(rows: Sequence[StoryRow]) -> Sequence[StoryRow]:
    """The rows of the first whole section (`SECTION_LINES`, `SECTION_TOKENS`); empty while there is none."""
    lines = tokens = 0
    for count, row in enumerate(rows, 1):
        lines += row.is_line
        tokens += tokens_in(row.text)
        if lines == SECTION_LINES or tokens >= SECTION_TOKENS:
            return rows[:count]
    return ()


def memory_update_messages(memory: str, section: Sequence[StoryRow]) -> tuple[Message, ...]:
    """The question what is new in a section; ``memory`` is what the memory already has on it."""
    return prompt_messages(
        "story",
        memory=memory,
        passage="\n".join(row.text for row in section),
        most_sentences=NEW_ENTRIES,
        most_words=ENTRY_WORDS,
    )


def parse_memory_update(text: str) -> dict[str, list[Any]] | None:
    """The sentences of an answer by kind, and the numbers of the questions that are resolved.

    `NEW_ENTRIES` sentences in all at most, of `ENTRY_WORDS` words at most. None for an answer that is not the
    JSON asked for.
    """
    answer = _last_object(unescaped_json(without_thoughts(text)))
    if answer is None:
        return None
    entries_left = NEW_ENTRIES
    learned: dict[str, list[Any]] = {}
    for kind in KINDS:
        sentences = _sentences_in(answer.get(kind))
        learned[kind] = [cut_to_words(sentence, ENTRY_WORDS) for sentence in sentences[:entries_left]]
        entries_left -= len(learned[kind])
    resolved = answer.get(RESOLVED)
    numbers = resolved if isinstance(resolved, list) else []
    # Not isinstance: True and False are ints too.
    learned[RESOLVED] = [number for number in numbers if type(number) is int]
    return learned


def _last_object(body: str) -> dict[str, Any] | None:
    """The last JSON object of an answer that has kinds of entries; a model may write a draft before it."""
    decoder = json.JSONDecoder(strict=False)
    last_object = None
    position = body.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(body, position)
        except (ValueError, RecursionError):
            return last_object
        if isinstance(value, dict) and value.keys() & {*KINDS}:
            last_object = value
        position = body.find("{", end)
    return last_object


def _sentences_in(values: object) -> list[str]:
    """The sentences in a value of an answer; empty for anything but a list."""
    sentences: list[str] = []
    for value in values if isinstance(values, list) else ():
        if not isinstance(value, str):
            continue
        sentence = plain(value)
        if not is_nothing(sentence) and not is_refusal(sentence):
            sentences.append(" ".join(sentence.split()))
    return sentences


def _dialogue_of(utterance: Utterance) -> str:
    """What is said, on one line; empty for songs."""
    if utterance.kind is SpeechKind.LYRICS:
        return ""
    # Rows put the words in double quotation marks.
    return " ".join(utterance.text.split()).replace('"', "'")


def _first_within(parts: Iterable[str], tokens: int) -> list[str]:
    """The first parts that together take at most ``tokens``."""
    first_parts: list[str] = []
    tokens_left = tokens
    for part in parts:
        tokens_left -= tokens_in(part)
        if tokens_left < 0:
            break
        first_parts.append(part)
    return first_parts


def story_of(
    slot: Slot,
    lines: Sequence[str],
    speech: Sequence[Utterance],
    memory: StoryMemory,
    description: str,
    presence: Presence,
    config: Config,
) -> StoryContext:
    """The context for one slot, with what the memory has on it and no name that the film has not revealed.

    ``lines`` are the AD lines before it, oldest first; ``description`` is Stage I's of its clip.
    """
    # Elsewhere a capital letter does not tell a name from a noun (German).
    lines_with_names = lines if capitals_are_names(config.language) else ()
    names = names_in_use(lines_with_names, config.prompt.note, presence)
    start, end = slot.interval.start - DIALOGUE_REACH, slot.interval.end + DIALOGUE_REACH
    dialogue = [
        hide_names_in_utterance(utterance, presence)
        for utterance in speech
        if utterance.interval.end >= start and utterance.interval.start <= end
    ]
    topic = [description]
    topic += [character.called for character in presence.seen]
    topic += [utterance.text for utterance in dialogue]
    so_far = memory.relevant_to("\n".join(topic))
    context = story_context(lines, slot, dialogue, names, so_far)
    return StoryContext(
        memory=hide_names(context.memory, presence),
        last_lines=hide_names(context.last_lines, presence),
        dialogue=hide_names(context.dialogue, presence),
        names=hide_names(context.names, presence),
    )


class StoryTeller:
    """Gives Stage II the story so far, slot by slot, if ``story.on``, and learns it meanwhile.

    What it learns of each section is kept in ``log`` (``story.jsonl``), so that a slot can be described again
    with what was known before it.
    """

    def __init__(self, speech: Sequence[Utterance], config: Config, pool: AskingPool, log: RecordLog) -> None:
        self._speech, self._config, self._pool, self._log = speech, config, pool, log
        self._lines: list[str] = []
        self._pending_rows: list[StoryRow] = []
        self._speech_learnt_until = -1.0
        self._memory = StoryMemory()
        self._last_key = ""

    def context(self, slot: Slot, description: str, presence: Presence = EMPTY_PRESENCE) -> StoryContext:
        """The context for this slot; slots come in the film's order. ``presence`` is who is in its clip."""
        if not self._config.story.on:
            return NO_STORY
        learnt_until, now = self._speech_learnt_until, slot.interval.start
        speech = [
            hide_names_in_utterance(utterance, presence)
            for utterance in self._speech
            if utterance.interval.end > learnt_until
        ]
        self._learn(slot.id, speech_rows(speech, learnt_until, now))
        self._speech_learnt_until = now
        return story_of(slot, self._lines, self._speech, self._memory, description, presence, self._config)

    def add_line(self, cue: Cue) -> None:
        """Take in a line that has been written."""
        self._lines.append(cue.text)
        if self._config.story.on:
            self._learn(cue.id, [line_row(cue.text, cue.interval.end)])

    def _learn(self, slot_id: str, rows: Sequence[StoryRow]) -> None:
        """Take rows into the memory, section by section; those of an unfinished section wait."""
        self._pending_rows += rows
        while section := first_section(self._pending_rows):
            del self._pending_rows[: len(section)]
            topic = "\n".join(row.text for row in section)
            memory = self._memory.relevant_to(topic, numbered=True)
            messages = memory_update_messages(memory, section)
            # A second seed where the first answer cannot be read.
            for seed_name in ("story", "story again"):
                seed = slot_seed(self._config.seed, f"{slot_id}/{seed_name}")
                sampling = SamplingSettings(max_tokens=ANSWER_TOKENS)
                request = Request(slot_id, messages, sampling=sampling, seed=seed, schema=SCHEMA)
                reply = self._pool.ask("stage2", request)
                if reply.error is not None:
                    break  # the next run asks again
                # What a server says when it refuses is no news of the story.
                learned = None if reply.finish == "refused" else parse_memory_update(reply.text)
                if learned is not None:
                    self._keep(slot_id, section[-1].second, messages, seed, learned)
                    break

    def _keep(
        self,
        slot_id: str,
        second: float,
        messages: tuple[Message, ...],
        seed: int,
        learned: Mapping[str, list[Any]],
    ) -> None:
        """Add what was learnt to the memory and to the log, after what was learnt before it."""
        identity = identity_record(self._pool.engine("stage2").identity)
        key = hash_key("story/1", prompt_record(messages), identity, seed, self._last_key)
        row = {"slot": slot_id, "second": second, "after": self._last_key, "learned": learned}
        self._memory.learn(self._log.get(key) or self._log.add(key, row))
        self._last_key = key
