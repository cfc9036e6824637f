"""The story around a slot: labelled, within its budgets, the nearest kept first, no name told too early."""

from __future__ import annotations

import functools
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Abilities, Identity, Interval, Reply, Request, Utterance
from shotad.core.types import SpeechKind
from tests.describe.prompting import bare, people
from tests.describe.slot_run import (
    AS_THEY_COME,
    Answer,
    ScriptedSlot,
    lines_json,
    records,
    run_slots,
)

ON = (*AS_THEY_COME, "story.on=true", "stage1.attempts=1", "prompt.example_count=0")
NOTHING_SEEN = "Description:\n1. Actions: Somebody does something somewhere."


def said(start: float, end: float, text: str, kind: SpeechKind = SpeechKind.SPEECH) -> Utterance:
    return Utterance(Interval(start, end), text, kind)


def learned(**kinds: Any) -> str:
    """An answer about a section of the film."""
    return json.dumps({"people": [], "places": [], "facts": [], "open": [], "settled": []} | kinds)


class StoryEngine:
    """Stage II that writes the given line of each slot, and answers what is new from a list or a function."""

    identity, abilities = Identity("model"), Abilities()

    def __init__(
        self,
        lines: dict[str, str],
        answers: Sequence[Answer] = (),
        answer: Callable[[str], str] | None = None,
    ) -> None:
        self.lines, self.answers, self.answer = lines, list(answers), answer
        self.sections: list[str] = []
        self.prompts: dict[str, str] = {}

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        return [self.reply(request) for request in requests]

    def reply(self, request: Request) -> Reply:
        """The line of a slot, or what is new; keeps what either question tells."""
        question = bare(request.messages[-1].text)
        assert request.schema is not None
        if "facts" not in request.schema["properties"]:
            self.prompts[request.slot_id] = question
            return Reply(lines_json(self.lines[request.slot_id]))
        assert set(request.schema["properties"]) == {"people", "places", "facts", "open", "settled"}
        self.sections.append(question)
        answer = self.answer(question) if self.answer else self.answers.pop(0)
        return answer if isinstance(answer, Reply) else Reply(answer)


def slot(start: float, line: str, *, description: str = NOTHING_SEEN, **more: Any) -> ScriptedSlot:
    return ScriptedSlot([line], (description,), Interval(start, start + 1), 30, **more)


def slots(line: str, number: int, start: float = 90.0) -> list[ScriptedSlot]:
    """One slot after the other with this line."""
    return [slot(start + place, line) for place in range(number)]


LAST = ScriptedSlot(["She runs."], (NOTHING_SEEN,), Interval(120, 124), 9)


def write_film(
    *film: ScriptedSlot,
    answers: Sequence[Answer] = (),
    answer: Callable[[str], str] | None = None,
    speech: Sequence[Utterance] = (),
    folder: Path | None = None,
) -> StoryEngine:
    """Write the slots of a film, and give the engine of Stage II, which knows what it was told."""
    lines = {scripted.plan.slot.id: str(scripted.writes[0]) for scripted in film}
    engine = StoryEngine(lines, answers, answer)
    run_slots(*film, how=ON, speech=speech, writes=engine, folder=folder)
    assert not engine.answers, f"never asked for: {engine.answers}"
    return engine


def last_prompt(*film: ScriptedSlot, last: ScriptedSlot = LAST, **more: Any) -> str:
    """What Stage II is told for the last slot of a film."""
    return write_film(*film, last, **more).prompts[last.plan.slot.id]


def test_dialogue_says_where_it_is_spoken() -> None:
    def dialogue_of(*speech: Utterance) -> list[str]:
        return re.findall(r"^- (?:before|during|after): .*$", last_prompt(speech=speech), re.MULTILINE)

    rows = dialogue_of(said(115, 120, "A"), said(123, 128, 'He said\n"go"  now'), said(124, 125, "C"))
    assert rows == ['- before: "A"', "- during: \"He said 'go' now\"", '- after: "C"']
    lyrics = said(118, 119, "la la", SpeechKind.LYRICS)
    assert dialogue_of(lyrics, said(118, 119, " "), said(80, 90, "too far")) == []


# The memory of the film


MINUTES = 40


def whole_film(minutes: int = MINUTES) -> list[ScriptedSlot]:
    """A film with four lines in each minute, and a slot at each whole minute whose clip shows a clock."""
    film: list[ScriptedSlot] = []
    for minute in range(minutes):
        clock = "Description:\n1. Actions: Ann looks up at the clock."
        film.append(slot(60.0 * minute, f"Bo walks through hall {minute}.", description=clock))
        for place in range(1, 4):
            line = "Ann hides a key in the clock." if minute == 5 else f"Bo walks through hall {minute}."
            film.append(slot(60.0 * minute + 12 * place, line))
    return film


def repeats_the_lines(question: str) -> str:
    """New is whatever was seen, and that it was; who looks for something leaves that open."""
    seen = dict.fromkeys(re.findall(r"^- seen: (.*)$", question, re.MULTILINE))
    return learned(facts=[*seen, *(f"The hall of {line}" for line in seen)])


@functools.cache
def whole() -> tuple[list[str], list[str], Path]:
    """What Stage II is told at each minute, what the memory is asked, and the work folder."""
    folder = Path(tempfile.mkdtemp())
    engine = write_film(*whole_film(), answer=repeats_the_lines, folder=folder)
    return minutes_of(engine), engine.sections, folder


def minutes_of(engine: StoryEngine) -> list[str]:
    return [text for slot_id, text in engine.prompts.items() if int(slot_id[1:]) % 60_000 == 0]


def test_a_fact_of_minute_5_stays_known_and_prompts_do_not_grow() -> None:
    prompts, sections, _ = whole()
    fact = "- minute 5: Ann hides a key in the clock."
    assert not any(fact in text for text in prompts[:6]), "nothing is known before the film has told it"
    assert all(fact in text for text in prompts[8:])
    rows = ["".join(re.findall(r"^- minute .*$", text, re.MULTILINE)) for text in prompts]
    assert all(len(text) <= 4 * 250 for text in rows), "250 tokens of four letters each"
    assert len(rows[-1]) > 3 * 250
    assert len(sections) == MINUTES * 4 // 8
    # Nor do the questions.
    assert max(map(len, sections[-5:])) < 1.1 * max(map(len, sections[10:15]))


def test_a_run_that_was_killed_asks_only_for_what_is_not_there_and_tells_the_same(tmp_path: Path) -> None:
    prompts, sections, folder = whole()
    minutes = 10
    half = write_film(*whole_film(minutes // 2), answer=repeats_the_lines, folder=tmp_path)
    assert half.sections == sections[: minutes // 4]
    again = write_film(*whole_film(minutes), answer=repeats_the_lines, folder=tmp_path)
    assert half.sections + again.sections == sections[: minutes // 2]
    assert minutes_of(again) == prompts[minutes // 2 : minutes]
    assert records(tmp_path, "story") == records(folder, "story")[: minutes // 2]


def test_threads_are_open_until_they_are_settled() -> None:
    answers = (
        learned(people=["Ann is Bo's sister."], open=["Who took the letter?", "Bo waits for a call."]),
        learned(settled=[2, 1, 99], facts=["The maid took the letter.", "ANN is Bo's sister"]),
    )
    first_half, second_half = slots("Ann sits.", 8), slots("The maid reads a letter.", 8, 98)
    assert "- minute 1, still open: Who took the letter?\n" in last_prompt(*first_half, answers=answers[:1])
    engine = write_film(*first_half, *second_half, LAST, answers=answers)
    assert "- minute 1, still open [2]: Who took the letter?\n" in engine.sections[1]
    prompt = engine.prompts[LAST.plan.slot.id]
    assert "Who took" not in prompt
    assert "- minute 1: Ann is Bo's sister.\n" in prompt, "only what is open can be settled"
    assert "still open: Bo waits for a call." in prompt
    assert "ANN is Bo's sister" not in prompt, "which is known, in other signs"


def test_dialogue_is_learnt_in_its_place_and_none_is_lost_where_people_talk_much() -> None:
    talk = [said(100 + 5 * n, 104 + 5 * n, f"word{n} " * 60) for n in range(40)]
    lyrics = said(50, 51, "la la", SpeechKind.LYRICS)
    film = (*slots("Ann hides.", 4, 80), slot(320, "Eve waits."), *slots("Bo runs.", 8, 330))
    engine = write_film(*film, speech=[*talk, lyrics], answer=lambda _: learned())
    asked = "\n".join(engine.sections)
    assert [asked.count(f"word{n} " * 59) for n in range(40)] == [1] * 40
    assert "la la" not in asked
    assert len(engine.sections) > 2
    assert all(len(question) < 4 * 2000 for question in engine.sections)
    first = engine.sections[0]
    assert first.index("- seen: Ann hides.") < first.index('- said: "word0')
    assert "Nothing yet" in first


@pytest.mark.parametrize("bad", [
    Reply("", "error", error="timed out"),
    Reply("I'm sorry, I can't help with that."),
    Reply(learned(facts=["The response was filtered."]), "refused"),
    *map(Reply, ("", "{}", '["Ann"]', '{"facts": ["Ann fl', '{"answer": "no"}')),
])  # fmt: skip
def test_where_nothing_is_learnt_what_is_known_stays(bad: Reply, tmp_path: Path) -> None:
    answers = [learned(facts=["Ann waits for Bob."]), *[bad] * (1 if bad.error else 2)]
    prompt = last_prompt(*slots("Ann sits.", 16), answers=answers, folder=tmp_path)
    assert "Ann waits for Bob." in prompt, "what cannot be read is asked for once more"
    assert not {"filtered", "sorry"} & set(re.findall(r"\w+", prompt))
    assert len(records(tmp_path, "story")) == 1, "only what was learnt is kept"


def test_the_story_learns_no_value() -> None:
    values = '{"people": ["NaN", "Ann &amp; Bo are twins.", null, "string"], "open": "Who?", "settled": [true, NaN, 2]}'
    prompt = last_prompt(*slots("Ann sits.", 8), answers=[values])
    assert re.findall(r"^- minute .*$", prompt, re.MULTILINE) == ["- minute 1: Ann & Bo are twins."]


def test_names_that_the_film_has_not_told_are_told_nowhere() -> None:
    speech = (said(118, 119, "COME HERE NORA NOW"), said(91.2, 91.8, "Nora, run!"))
    answers = [learned(facts=["Nora runs from Bo."])]
    film = (slot(90, "He sees Max and Nora.", presence=people()), *slots("She waits.", 7, 91))
    film = tuple(replace(scripted, presence=people()) for scripted in film)

    def prompt_of(member_ids: str) -> tuple[str, StoryEngine]:
        last = replace(LAST, presence=people(member_ids))
        engine = write_film(*film, last, speech=speech, answers=answers)
        return engine.prompts[last.plan.slot.id], engine

    text, engine = prompt_of("nora")
    assert "come here the woman in red now" in text
    assert "Nora" not in text
    assert "the woman in red runs from Bo." in text, "nor by a model that guessed it"
    assert "The woman in red, run!" in engine.sections[0]
    both, _ = prompt_of("bo nora")
    assert "Names in use: Bo, Max. " in both
    without_cast = last_prompt(
        *(replace(scripted, presence=LAST.presence) for scripted in film), speech=speech, answers=answers
    )
    assert "Nora" in without_cast
