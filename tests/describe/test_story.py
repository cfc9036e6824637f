"""The story around a slot: labelled, within its budgets, the nearest kept first, no name told too early."""

from __future__ import annotations

import functools
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from shotad.core import (
    Abilities,
    Identity,
    Interval,
    RecordLog,
    Reply,
    Request,
    Slot,
    Utterance,
    load_config,
)
from shotad.core.cast import EMPTY_PRESENCE, Presence
from shotad.core.types import SpeechKind
from shotad.description.story import StoryMemory, StoryTeller, story_context
from shotad.engines import AnswerLog, AskingPool
from shotad.script import Cue, CueStatus
from tests.describe.prompting import bare, people

SLOT = Slot("s00100000", Interval(100, 104), 9)


def said(start: float, end: float, text: str, kind: SpeechKind = SpeechKind.SPEECH) -> Utterance:
    return Utterance(Interval(start, end), text, kind)


def test_dialogue_says_where_it_is_spoken() -> None:
    def dialogue_of(*speech: Utterance) -> list[str]:
        return story_context((), SLOT, speech, (), "").dialogue.splitlines()

    rows = dialogue_of(said(95, 100, "A"), said(103, 108, 'He said\n"go"  now'), said(104, 105, "C"))
    assert rows == ['- before: "A"', "- during: \"He said 'go' now\"", '- after: "C"']
    assert dialogue_of(said(98, 99, "la la", SpeechKind.LYRICS), said(98, 99, " ")) == []


# The memory of the film


def new(**kinds: Any) -> str:
    """An answer about a passage."""
    return json.dumps({"people": [], "places": [], "facts": [], "open": [], "settled": []} | kinds)


class Teller:
    """The story told by an engine that knows what it is given alone; keeps what it was asked and what is kept."""

    identity, abilities = Identity("model"), Abilities()

    def __init__(
        self, *replies: Reply, speech: tuple[Utterance, ...] = (), answer: Callable[[str], str] | None = None,
        folder: Path | None = None,
    ) -> None:  # fmt: skip
        self.waiting, self.asked = list(replies), list[str]()
        self._answer = answer
        self.folder = folder or Path(tempfile.mkdtemp())
        config = load_config(None, ("story.on=true",))
        pool = AskingPool({"stage2": self}, AnswerLog(RecordLog(self.folder / "answers.jsonl")))
        self.story = StoryTeller(speech, config, pool, RecordLog(self.folder / "story.jsonl"))

    @property
    def rows(self) -> tuple[dict[str, Any], ...]:
        """What was learnt, passage by passage."""
        return RecordLog(self.folder / "story.jsonl").records()

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        return list(map(self.reply, requests))

    def reply(self, request: Request) -> Reply:
        assert request.schema is not None
        assert set(request.schema["properties"]) == {"people", "places", "facts", "open", "settled"}
        self.asked.append(bare(request.messages[-1].text))
        return Reply(self._answer(self.asked[-1])) if self._answer else self.waiting.pop(0)

    def hear(self, text: str, times: int = 1, start: float = 90.0) -> None:
        for number in range(times):
            name, interval = f"s{1000 * number:08d}", Interval(start + number, start + number + 1)
            self.story.add_line(Cue(name, name, interval, text, language="en", status=CueStatus.PLACED))

    def told(
        self, who: str = "", about: str = "", slot: Slot = SLOT, presence: Presence | None = None
    ) -> str:
        return self.story.context(slot, about, presence or people(who)).text


def slot_at(second: float) -> Slot:
    return Slot(f"s{round(1000 * second):08d}", Interval(second, second + 3), 9)


MINUTES = 96


def film(teller: Teller, minutes: int = MINUTES) -> list[str]:
    """A film, four lines in each minute; what Stage II is told at every minute, of a clip at a clock."""
    told = []
    for minute in range(minutes):
        told.append(teller.told(about="Ann looks up at the clock.", slot=slot_at(60.0 * minute)))
        for line in range(4):
            deed = "Ann hides a key in the clock." if minute == 5 else f"Bo walks through hall {minute}."
            teller.hear(deed, start=60.0 * minute + 10 * line + 5)
    return told


def repeats_the_lines(question: str) -> str:
    """New is whatever was seen, and that it was; who looks for something leaves that open."""
    seen = dict.fromkeys(re.findall(r"^- seen: (.*)$", question, re.MULTILINE))
    return new(facts=[*seen, *(f"The hall of {line}" for line in seen)])


@functools.cache
def whole() -> tuple[Teller, list[str]]:
    teller = Teller(answer=repeats_the_lines)
    return teller, film(teller)


def test_a_fact_of_minute_5_is_there_at_minute_95_and_prompts_do_not_grow() -> None:
    teller, told = whole()
    fact = "- minute 5: Ann hides a key in the clock."
    assert not any(fact in text for text in told[:6]), "nothing is known before the film has told it"
    assert all(fact in text for text in told[8:])
    assert fact in told[95]
    assert all(f"hall {minute}." not in told[minute] for minute in range(MINUTES))
    rows = ["".join(re.findall(r"^- minute .*$", text, re.MULTILINE)) for text in told]
    assert all(len(some) <= 4 * 250 for some in rows), "250 tokens of four letters each"
    assert len(rows[95]) > 3 * 250
    assert len(teller.asked) == MINUTES * 4 // 8
    # Nor do the questions.
    assert max(map(len, teller.asked[-10:])) < 1.1 * max(map(len, teller.asked[10:20]))


def test_a_run_that_was_killed_asks_only_for_what_is_not_there_and_tells_the_same() -> None:
    undisturbed, told = whole()
    folder = Path(tempfile.mkdtemp())
    for name in ("answers.jsonl", "story.jsonl"):  # as after ten of the passages
        lines = (undisturbed.folder / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:10]))
    again = Teller(answer=repeats_the_lines, folder=folder)
    assert film(again, 30) == told[:30]
    assert again.asked == undisturbed.asked[10:15]
    assert again.rows == undisturbed.rows[:15]


def test_a_line_described_anew_knows_what_the_run_knew_then_and_nothing_of_later() -> None:
    rows = whole()[0].rows
    for second in (0.0, 299.0, 600.0, 3000.0):
        memory = StoryMemory.at(rows, second)
        assert all(entry.second <= second for entry in memory.entries)
        so_far = [entry.text for entry in StoryMemory(rows).entries if entry.second <= second]
        assert [entry.text for entry in memory.entries] == so_far
    assert StoryMemory.at(rows, 299.0).entries
    other = Teller(answer=lambda _: new(facts=["A ghost laughs."]))
    other.hear("Bo sleeps.", 8)
    memory = StoryMemory.at([*other.rows, *rows], 600.0)
    assert "A ghost laughs." not in [entry.text for entry in memory.entries], "of another run"


def test_threads_are_open_until_they_are_settled() -> None:
    teller = Teller(
        Reply(new(people=["Ann is Bo's sister."], open=["Who took the letter?", "Bo waits for a call."])),
        Reply(new(settled=[2, 1, 99], facts=["The maid took the letter."])),
    )
    teller.hear("Ann sits.", 8)
    assert "- minute 1, still open: Who took the letter?\n" in teller.told()
    teller.hear("The maid reads a letter.", 8)
    assert "- minute 1, still open [2]: Who took the letter?\n" in teller.asked[1]
    told = teller.told()
    assert "Who took" not in told
    assert "- minute 1: Ann is Bo's sister.\n" in told, "only what is open can be settled"
    assert "still open: Bo waits for a call." in told


def test_dialogue_is_learnt_in_its_place_and_none_is_lost_where_people_talk_much() -> None:
    talk = tuple(said(100 + 5 * n, 104 + 5 * n, f"word{n} " * 60) for n in range(40))
    teller = Teller(answer=lambda _: new(), speech=(*talk, said(50, 51, "la la", SpeechKind.LYRICS)))
    teller.hear("Ann hides.", 4, start=80)
    teller.told(slot=slot_at(320))
    teller.hear("Bo runs.", 8, start=330)
    heard = "\n".join(teller.asked)
    assert [heard.count(f"word{n} " * 59) for n in range(40)] == [1] * 40
    assert "la la" not in heard
    assert len(teller.asked) > 2
    assert all(len(question) < 4 * 2000 for question in teller.asked)
    first = teller.asked[0]
    assert first.index("- seen: Ann hides.") < first.index('- said: "word0')
    assert "Nothing yet" in first


@pytest.mark.parametrize("bad", [
    Reply("", "error", error="timed out"),
    Reply("I'm sorry, I can't help with that."),
    Reply(new(facts=["The response was filtered."]), "refused"),
    *map(Reply, ("", "{}", '["Ann"]', '{"facts": ["Ann fl', '{"answer": "no"}')),
])  # fmt: skip
def test_where_nothing_is_learnt_what_is_known_stays(bad: Reply) -> None:
    teller = Teller(Reply(new(facts=["Ann waits for Bob."])), bad, bad)
    teller.hear("Ann sits.", 16)
    assert len(teller.asked) == (2 if bad.error else 3), "what cannot be read is asked for once more"
    assert "Ann waits for Bob." in teller.told()
    assert not {"filtered", "sorry"} & set(re.findall(r"\w+", teller.told()))
    assert len(teller.rows) == 1, "only what was learnt is kept"


def test_names_that_the_film_has_not_told_are_told_nowhere() -> None:
    speech = (said(98, 99, "COME HERE NORA NOW"), said(91.2, 91.8, "Nora, run!"))
    teller = Teller(Reply(new(facts=["Nora runs from Bo."])), speech=speech)
    teller.hear("He sees Max and Nora.")
    assert teller.told("bo nora").splitlines()[-1] == "Bo, Max"
    assert "come here the woman in red now" in teller.told("nora")
    assert "nora" not in teller.told("nora").lower()
    assert "Nora" in teller.told(presence=EMPTY_PRESENCE)
    teller.hear("She waits.", 7)
    assert "The woman in red, run!" in teller.asked[0]
    assert "the woman in red runs from Bo." in teller.told("nora"), "nor by a model that guessed it"
    assert "Nora" not in teller.told("nora")
