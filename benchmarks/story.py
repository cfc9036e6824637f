"""What the story so far costs, and whether what a film told long ago is there when it is wanted.

    python benchmarks/story.py

Films are Elephants Dream, with its captions, and clips of CMD-AD's test set one after the other, as if they
were one film of two hours, without dialogue. The lines are the describers' own. Something that answers
by rule stands in for the model: of each passage it says that the first lines are new. So what is measured are
the requests, the letters of all prompts, and what the memory recalls, not how well a model sums up.

"told again": a line shares a word with one earlier line alone, of five minutes before or more. Counted is how
often the prompt holds that line, where the memory was given it. In Elephants Dream the other describer's
words at that time stand for Stage I's description, else the line itself.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from common import DESCRIBERS, DREAM, Lines, Share, cmd_ad, command_line, described_lines, said_around

from shotad.core import (
    Abilities,
    Description,
    Grammar,
    Identity,
    Interval,
    RecordLog,
    Reply,
    Request,
    Slot,
    Utterance,
    load_config,
)
from shotad.core.types import slot_id
from shotad.description import SlotPlan
from shotad.description.english_words import content_of
from shotad.description.prompts import NO_STORY, stage2_messages
from shotad.description.story import NEW_ENTRIES, StoryTeller
from shotad.engines import AskingPool
from shotad.film import read_subtitles
from shotad.script import Cue

LONG_AGO, LENGTH = 300.0, 7200.0
"""Seconds; the second of the film made of CMD-AD's clips."""


@dataclass(frozen=True)
class Film:
    """Lines with their times, what stands for each description, and the dialogue."""

    lines: Lines
    described: Sequence[str]
    speech: Sequence[Utterance] = ()


@dataclass
class Listener:
    """Says of each passage that its first lines are new; counts what it is asked."""

    identity: ClassVar = Identity("none")
    abilities: ClassVar = Abilities()
    letters: list[int] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        return list(map(self.reply, requests))

    def reply(self, request: Request) -> Reply:
        self.letters.append(sum(len(message.text) for message in request.messages))
        passage = request.messages[-1].text.partition("oldest first:")[2]
        new = re.findall(r"^- seen: (.*)$", passage, re.MULTILINE)[:NEW_ENTRIES]
        self.kept.update(new)
        return Reply(json.dumps({"facts": new}))


def dream() -> Film:
    own, other = (described_lines(DREAM / name) for name in DESCRIBERS.values())
    described = [said_around(interval, other) or text for interval, text in own]
    return Film(own, described, read_subtitles(DREAM / "captions.en.vtt").utterances)


def clips() -> Film:
    lines, end = [], 0.0
    for clip in cmd_ad():
        begun = end
        for row in clip:
            start = float(row["scaled_start"])
            until = max(float(row["scaled_end"]), start + 0.5)
            lines.append((Interval(begun + start, begun + until), row["text"]))
            end = max(end, begun + until)
        if end >= LENGTH:
            break
    lines.sort(key=lambda line: line[0].start)
    return Film(lines, [text for _, text in lines])


def long_ago(film: Film) -> Iterator[tuple[int, int]]:
    """A line, and the one long before with which alone it shares a word."""
    last: dict[str, list[int]] = {}
    for number, (when, text) in enumerate(film.lines):
        for word in content_of(film.described[number]):
            before = last.get(word, [])
            if len(before) == 1 and when.start - film.lines[before[0]][0].end >= LONG_AGO:
                yield number, before[0]
        for word in content_of(text):
            last.setdefault(word, []).append(number)


def measure(name: str, film: Film) -> None:
    engine, config = Listener(), load_config(None, ("story.on=true", "seed=0"))
    folder = Path(tempfile.mkdtemp())
    pool = AskingPool({"stage2": engine})
    telling = StoryTeller(film.speech, config, pool, RecordLog(folder / "story.jsonl", durable=False))
    wanted: dict[int, set[int]] = {}
    for number, before in long_ago(film):
        wanted.setdefault(number, set()).add(before)
    plain = whole = 0
    memory, told = [], []
    for number, (when, text) in enumerate(film.lines):
        slot = Slot(slot_id(when.start), when, 10)
        seen = Description(slot.id, {"Actions": film.described[number]}, "", "", "")
        story, plan = telling.context(slot, seen.text), SlotPlan(slot, (), (), Grammar())
        without, with_it = (stage2_messages(seen, plan, config, story=given) for given in (NO_STORY, story))
        plain += sum(len(message.text) for message in without)
        whole += sum(len(message.text) for message in with_it)
        rows = re.findall(r"^- minute .*$", story.memory, re.MULTILINE)
        memory.append(sum(map(len, rows)))
        texts = [film.lines[before][1] for before in wanted.get(number, ())]
        told += [any(row.endswith(one) for row in rows) for one in texts if one in engine.kept]
        telling.add_line(Cue(slot.id, slot.id, when, text, language="en"))
    lines, asked = len(film.lines), len(engine.letters)
    tenth = max(1, lines // 10)
    print(f"{name}: {film.lines[-1][0].end / 60:.0f} minutes, {lines} lines, {len(film.speech)} captions")
    print(f"  requests for the memory, a line    {asked / lines:.3f}  ({asked})")
    print(f"  letters of each of these requests  {sum(engine.letters) / asked:.0f}")
    print(f"  letters of Stage II's prompt       {plain / lines:.0f}, with the story {whole / lines:.0f}")
    for which, part in (("second", slice(tenth, 2 * tenth)), ("last", slice(-tenth, None))):
        print(f"  of the memory, {which} tenth of lines  {sum(memory[part]) / tenth:.0f} letters")
    print(f"  told again, and the line is there  {Share(sum(told), len(told))}")


def main() -> None:
    command_line(__doc__).parse_args()
    measure("Elephants Dream", dream())
    measure("CMD-AD", clips())


if __name__ == "__main__":
    main()
