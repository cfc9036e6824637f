"""What Stage II is told of the film beyond its clip: last lines, names, dialogue, the story so far.

An addition to Shot-by-Shot, which describes every clip alone and names that as a weakness. Each part has a
budget in tokens, estimated by letters; what lies nearest to the slot is kept first, whole lines only.

The story so far is a memory of the film. Passage by passage an engine is asked what is new: people, places,
facts, threads left open or settled. A prompt gets what bears on its clip, so it does not grow with the film.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.core import (
    NOBODY,
    Config,
    Message,
    Presence,
    RecordLog,
    Request,
    SamplingSettings,
    Slot,
    SpeechKind,
    Utterance,
    key_of,
)
from shotad.description.answer_text import is_nothing, without_thoughts
from shotad.description.answers import is_refusal, plain, unescaped_json
from shotad.description.prompts import NO_STORY, StoryContext
from shotad.description.seeds import slot_seed
from shotad.description.slotplan import distance, told_only, whose, without_untold
from shotad.description.templates import cut_to_words, form_of, prompt_block, prompt_messages, tokens_in
from shotad.description.wording import content_of, letters_of
from shotad.engines import AskingPool, identity_record, prompt_record
from shotad.script import Cue, capitals_are_names, names_in

Record = Mapping[str, Any]
"""What the memory learnt of one passage, as it stands in ``story.jsonl``."""

RENEW_EVERY = 8
"""Lines after which the memory is asked to learn: about a minute of a film."""
PASSAGE_TOKENS = 600
"""Of dialogue and lines after which it is, where people talk much."""
NEW_ENTRIES, ENTRY_WORDS = 6, 25
"""What is kept of one answer at most; the memory of a film of 100 minutes has some five hundred sentences."""
LAST_LINES = 5
"""Lines before the slot that are told, at most."""
REACH = 25.0
"""Seconds before and after the slot of which the dialogue is given, where its words are known."""
LINE_TOKENS, DIALOGUE_TOKENS, NAME_TOKENS, MEMORY_TOKENS = 200, 300, 60, 250
"""How much is told of each, in tokens: a page in all, for the clip stays the main thing."""
ANSWER_TOKENS = 400
"""Room for what is new in a passage."""

KINDS = ("people", "places", "facts", "open")
SETTLED = "settled"
SCHEMA = form_of(
    {
        **{kind: {"type": "array", "items": {"type": "string"}} for kind in KINDS},
        SETTLED: {"type": "array", "items": {"type": "integer"}},
    }
)
"""Of an answer to `renewal_messages`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence of the memory, the second at which the film had told it, and the lemmas of its words."""

    kind: str
    text: str
    second: float
    words: frozenset[str]


class Memory:
    """What a film has told so far, learnt record by record; ``entries`` only grow, and keep their numbers."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.entries: list[Entry] = []
        self._common: Counter[str] = Counter()
        for record in records:
            self.learn(record)

    @staticmethod
    def at(rows: Iterable[Record], second: float) -> Memory:
        """The memory as the run had it at a second: its last record of before, and those it came after."""
        by_key = {str(row.get("key")): row for row in rows if row.get("learned")}
        told = [row for row in by_key.values() if row["second"] <= second]
        # Of answers about the same passage, by several runs, that of the last one.
        last = max(reversed(told), key=lambda row: float(row["second"]), default=None)
        chain: list[Record] = []
        while last is not None:
            chain.append(last)
            last = by_key.pop(last["after"], None)
        return Memory(reversed(chain))

    def learn(self, record: Record) -> None:
        """Add what is new in a record; threads that it settles are no longer told."""
        learned = record["learned"]
        for number in learned[SETTLED]:
            if 0 < number <= len(self.entries) and self.entries[number - 1].kind == "open":
                self.entries[number - 1] = replace(self.entries[number - 1], kind=SETTLED)
        known = {letters_of(entry.text) for entry in self.entries}
        for kind in KINDS:
            for text in learned[kind]:
                if letters_of(text) not in known:
                    known.add(letters_of(text))
                    words = frozenset(content_of(text))
                    self._common.update(words)
                    self.entries.append(Entry(kind, text, record["second"], words))

    def told(self, about: str, *, numbered: bool = False) -> str:
        """What bears on a text, a row each, oldest first, at most `MEMORY_TOKENS` in all.

        First what shares words with the text, the rarest most; then open threads; then the latest.
        """
        wanted = frozenset(content_of(about))

        def worth(number: int) -> tuple[float, bool, int]:
            entry = self.entries[number]
            shared = sum(1 / self._common[word] for word in sorted(entry.words & wanted))
            return round(shared, 9), entry.kind == "open", number

        able = [n for n, entry in enumerate(self.entries) if entry.kind != SETTLED]
        best = sorted(able, key=worth, reverse=True)

        def row(number: int) -> str:
            entry = self.entries[number]
            minute, still_open = int(entry.second // 60), entry.kind == "open"
            place = number + 1 if numbered else None
            return prompt_block(
                "story", "entry", minute=minute, text=entry.text, still_open=still_open, number=place
            )

        kept = _first_within(map(row, best), MEMORY_TOKENS)
        return "\n".join(text for _, text in sorted(zip(best, kept, strict=False)))


def story_context(
    lines: Sequence[str], slot: Slot, speech: Sequence[Utterance], names: Sequence[str], so_far: str
) -> StoryContext:
    """The context for one slot; `NO_STORY` where nothing is known.

    ``lines`` are the AD lines before it, oldest first; ``speech`` all that is known of the film's, of which
    words within `REACH` seconds are given, songs left out; ``names`` those in use, the most
    wanted first; ``so_far`` what the memory tells, see `Memory.told`.
    """
    # The words spoken around the slot, in order, each with its place in time; the nearest are kept.
    near, time = [], slot.interval
    for said in speech:
        away, words = distance(said.interval, time), _words_of(said)
        if words and away <= REACH:
            side = "after" if said.interval.start >= time.end else "before"
            when = "during" if said.interval.overlaps(time) else side
            row = prompt_block("story", "dialogue_row", when=when, words=words)
            near.append((away, said.interval, row))
    near.sort()
    spoken = len(_first_within((row for _, _, row in near), DIALOGUE_TOKENS))
    dialogue = [row for _, row in sorted((interval, row) for _, interval, row in near[:spoken])]
    last = _first_within((f"- {line}" for line in reversed(lines[-LAST_LINES:])), LINE_TOKENS)[::-1]
    return StoryContext(
        memory=so_far,
        last_lines="\n".join(last),
        dialogue="\n".join(dialogue),
        names=", ".join(_first_within(names, NAME_TOKENS)),
    )


def names_in_use(lines: Sequence[str], note: str, presence: Presence = NOBODY) -> tuple[str, ...]:
    """The names that Stage II is reminded of, those recognised first, as they may be spoken, each once."""
    known = [character.called for character in presence.seen if character.named]
    by_id = {character.id: character for character in presence.cast}
    for name in names_in(lines, note):
        found = whose(name, presence)
        if not found:
            known.append(name)
        known += [by_id[m.id].called for m in found if not m.hidden and by_id[m.id].named]
    return tuple(dict.fromkeys(known))


@dataclass(frozen=True, slots=True)
class Told:
    """A line or something said, as a row of a question, and the second at which it has been heard."""

    second: float
    row: str
    is_line: bool = False


def told_line(line: str, second: float) -> Told:
    """A line of AD as the memory learns it."""
    return Told(second, prompt_block("story", "seen_row", line=line), is_line=True)


def told_speech(speech: Iterable[Utterance], start: float, end: float) -> list[Told]:
    """What is said and ends in ``(start, end]``, as the memory learns it, in order."""
    heard = [said for said in speech if start < said.interval.end <= end and _words_of(said)]
    rows = []
    for said in heard:
        row = prompt_block("story", "said_row", words=_words_of(said))
        rows.append(Told(said.interval.end, row))
    return sorted(rows, key=lambda told: told.second)


def passage_in(told: Sequence[Told]) -> Sequence[Told]:
    """The first whole passage of what was told, see `RENEW_EVERY`; nothing while there is none."""
    lines = tokens = 0
    for number, one in enumerate(told, 1):
        lines, tokens = lines + one.is_line, tokens + tokens_in(one.row)
        if lines == RENEW_EVERY or tokens >= PASSAGE_TOKENS:
            return told[:number]
    return ()


def renewal_messages(known: str, passage: Sequence[Told]) -> tuple[Message, ...]:
    """What an engine is asked so that the memory learns a passage; ``known`` is what it holds of this."""
    return prompt_messages(
        "story",
        memory=known,
        passage="\n".join(told.row for told in passage),
        most_sentences=NEW_ENTRIES,
        most_words=ENTRY_WORDS,
    )


def parse_renewal(text: str) -> dict[str, list[Any]] | None:
    """What an answer holds, by kind: `NEW_ENTRIES` in all at most, of `ENTRY_WORDS` at most, and the numbers
    of threads that are settled. None for an answer that is not the JSON asked for."""
    body = unescaped_json(without_thoughts(text))
    try:
        said, _ = json.JSONDecoder(strict=False).raw_decode(body, max(0, body.find("{")))
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or not said.keys() & {*KINDS}:
        return None
    left = NEW_ENTRIES
    learned: dict[str, list[Any]] = {}
    for kind in KINDS:
        values = said.get(kind)
        texts = (
            [plain(value) for value in values if isinstance(value, str)] if isinstance(values, list) else []
        )
        texts = [
            " ".join(value.split()) for value in texts if not is_nothing(value) and not is_refusal(value)
        ]
        learned[kind] = [cut_to_words(value, ENTRY_WORDS) for value in texts[:left]]
        left -= len(learned[kind])
    settled = said.get(SETTLED)
    numbers = settled if isinstance(settled, list) else []
    return learned | {SETTLED: [number for number in numbers if type(number) is int]}


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


def story_of(
    slot: Slot,
    lines: Sequence[str],
    speech: Sequence[Utterance],
    memory: Memory,
    description: str,
    presence: Presence,
    config: Config,
) -> StoryContext:
    """What is told of the film for one slot: what the memory has on it, and no untold name."""
    capitals = capitals_are_names(config.language)
    names = names_in_use(lines if capitals else (), config.prompt.note, presence)
    start, end = slot.interval.start - REACH, slot.interval.end + REACH
    near = [said for said in speech if said.interval.end >= start and said.interval.start <= end]
    told = [told_only(said, presence) for said in near]
    about = [description, *(who.called for who in presence.seen), *(said.text for said in told)]
    so_far = memory.told("\n".join(about))
    context = story_context(lines, slot, told, names, so_far)
    return StoryContext(
        without_untold(context.memory, presence),
        without_untold(context.last_lines, presence),
        without_untold(context.dialogue, presence),
        without_untold(context.names, presence),
    )


class StoryTeller:
    """Tells Stage II the story slot by slot, if ``story.on``, and learns it meanwhile.

    What it learns of each passage is kept in ``log`` (``story.jsonl``), so that a slot can be described again
    with what was known before it.
    """

    def __init__(self, speech: Sequence[Utterance], config: Config, pool: AskingPool, log: RecordLog) -> None:
        self._speech, self._config, self._pool, self._log = speech, config, pool, log
        self._lines: list[str] = []
        self._untaught: list[Told] = []
        self._until = -1.0
        self._memory = Memory()
        self._last_key = ""

    def context(self, slot: Slot, description: str, presence: Presence = NOBODY) -> StoryContext:
        """What Stage II is told for this slot. ``presence`` is who is in its clip."""
        if not self._config.story.on:
            return NO_STORY
        speech = [told_only(said, presence) for said in self._speech if said.interval.end > self._until]
        self._learn(slot.id, told_speech(speech, self._until, slot.interval.start))
        self._until = slot.interval.start
        return story_of(slot, self._lines, self._speech, self._memory, description, presence, self._config)

    def add_line(self, cue: Cue) -> None:
        """A line has been written."""
        self._lines.append(cue.text)
        if self._config.story.on:
            self._learn(cue.id, [told_line(cue.text, cue.interval.end)])

    def _learn(self, slot_id: str, rows: Sequence[Told]) -> None:
        """Take what was told into the memory, passage by passage; the rest waits."""
        self._untaught += rows
        while passage := passage_in(self._untaught):
            del self._untaught[: len(passage)]
            about = "\n".join(row.row for row in passage)
            messages = renewal_messages(self._memory.told(about, numbered=True), passage)
            for name in ("story", "story again"):
                seed = slot_seed(self._config.seed, f"{slot_id}/{name}")
                sampling = SamplingSettings(max_tokens=ANSWER_TOKENS)
                request = Request(slot_id, messages, sampling=sampling, seed=seed, schema=SCHEMA)
                reply = self._pool.ask("stage2", request)
                if reply.error is not None:
                    break  # the next run asks again
                # A server that refuses says so in words of its own, of which nothing is learnt.
                learned = None if reply.finish == "refused" else parse_renewal(reply.text)
                if learned is not None:
                    self._keep(slot_id, passage[-1].second, messages, seed, learned)
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
        key = key_of("story/1", prompt_record(messages), identity, seed, self._last_key)
        row = {"slot": slot_id, "second": second, "after": self._last_key, "learned": learned}
        self._memory.learn(self._log.get(key) or self._log.add(key, row))
        self._last_key = key
