"""Shortening a line: without a model by whole sentences and clauses, or nothing; and by asking a writer."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from shotad.core import (
    Abilities,
    Config,
    Identity,
    RecordLog,
    Reply,
    Request,
    Usage,
)
from shotad.core.errors import EngineError
from shotad.description import Shortener
from shotad.engines import AnswerLog, StageUsage
from shotad.script import count_words
from shotad.script.fit import (
    ShortenedLine,
    ShortenRequest,
    fit_spoken,
)
from tests.describe.prompting import human_ad

FITS = [
    ("She opens the door.", 4, "She opens the door."),
    ("She opens the door. Rain falls outside.", 4, "She opens the door."),
    ("She opens the door, letting in the cold.", 4, "She opens the door."),
    ("She opens the door, looks around, and leaves.", 6, "She opens the door."),
    ("She opens the door, looks around, and leaves.", 7, "She opens the door and looks around."),
    ("Mr. Bean falls over the red chair, laughing.", 7, "Mr. Bean falls over the red chair."),
    ('Words appear: "Long, long ago, there was a king."', 8, None),
    ("Then, she opens the heavy old door.", 4, None),
    ("She opens the heavy door as", 4, None),
    # What trails after a comma.
    ("He turns the key, his hand trembling.", 4, "He turns the key."),
    ("Ada waves at Ben, who ducks behind a barrel.", 4, "Ada waves at Ben."),
    # Clauses without a comma.
    ("Ada yanks the rope and the bell crashes to the floor.", 4, "Ada yanks the rope."),
    ("Ada yanks the rope and then slowly opens the heavy gate.", 4, "Ada yanks the rope."),
    ("She chases the boy who stole her purse.", 4, "She chases the boy."),
    # Participles and phrases.
    ("He crosses the yard holding a lantern.", 4, "He crosses the yard."),
    ("Ada grapples with Ben, trying desperately to stop him.", 6, "Ada grapples with Ben."),
    ("She grabs a coat from the hook.", 4, "She grabs a coat."),
    # Verbs that are not whole without where something goes, or what is to be done.
    ("The wires plug themselves into the wall.", 4, None),
    ("Ada cracks a thief over the head.", 5, None),
    ("The sailor steers his boat along the bank into the reeds.", 8, "The sailor steers his boat along the bank."),
    ("He sets the tray on the table with a sigh.", 8, "He sets the tray on the table."),
    # What leads in.
    ("In the cellar, a rat gnaws at a rope.", 6, "A rat gnaws at a rope."),
    ("Clutching the map, she runs to the jetty.", 5, "She runs to the jetty."),
    ("Outside, snow covers the roofs.", 4, None),
    ("Outside, the snow covers the roofs.", 5, "The snow covers the roofs."),
    ("Ada, in a torn dress, limps home.", 3, "Ada limps home."),
    # A list that breaks off.
    ("He takes a cup, a plate and a fork, a spoon and", 4, "He takes a cup."),
    # Lists.
    ("She packs a comb, a book, and a candle.", 7, "She packs a comb and a book."),
    ('She reads "Come home, all is well" and weeps.', 7, 'She reads "Come home, all is well".'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "budget", "fitted"), FITS)
def test_lines_are_shortened_at_whole_phrases(text: str, budget: int, fitted: str | None) -> None:
    found = fit_spoken(text, budget)
    assert (found.text if found else None) == fitted


@pytest.mark.parametrize(("text", "budget"), [
    # Nothing is cut in a phrase, and no verb loses what it needs.
    ("He sends it crashing to the floor.", 4),
    ("She picks up burning logs with tongs.", 4),
    ("He wants to open the heavy door.", 4),
    ("She is covered with dust and feathers.", 4),
    ("She works as a nurse in town.", 3),
    ("A tall, dark, silent stranger waits.", 4),
    ("He opens, with a tiny silver key, the box.", 5),
    ("Bow and arrow in hand, she waits there.", 4),
])  # fmt: skip
def test_what_cannot_be_told_is_not_cut(text: str, budget: int) -> None:
    assert fit_spoken(text, budget) is None


HANGING = re.compile(
    r"(?i)\b(?:the|an?|of|and|or|with|to|his|their|who|that|as|while|is|are)\W*$|(?:^| )(?:and|,) *\."
)


def test_human_ad_loses_no_verb_and_nothing_hangs() -> None:
    texts = [text for text in human_ad(5) if count_words(text) >= 8 and "..." not in text]
    fitted = [found.text for text in texts if (found := fit_spoken(text, int(count_words(text) * 0.75)))]
    # Half of the lines can be shortened by a quarter (measured: 53 %).
    assert len(fitted) > 0.45 * len(texts)
    assert [text for text in fitted if HANGING.search(text)] == []
    assert all(text[0].isupper() or not text[0].isalpha() for text in fitted)


@given(st.text(alphabet="ab ,.;-\"“”'ABC while", max_size=120), st.integers(1, 20))
@example("He runs, " * 3000, 9)
@example("1. " * 3000, 9)
def test_the_result_always_fits_and_comes_from_the_line_in_good_time(text: str, budget: int) -> None:
    found = fit_spoken(text, budget)
    if found is not None:
        assert count_words(found.text) <= budget
        assert "".join(c for c in found.text if c.isalnum()) in "".join(c for c in text if c.isalnum())


LINE = "Emo, breathing hard, hurries along the narrow bridge and looks back at the swarming birds."
WISH = ShortenRequest("s00010000", LINE, 7)


class Scripted:
    """Answers what it is told to, and keeps the requests."""

    def __init__(self, *answers: str | Reply | EngineError) -> None:
        self.identity = Identity("scripted", "model", "1")
        self.abilities = Abilities(batch=8)
        self.requests: list[Request] = []
        self.calls = 0
        self._answers = list(answers)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        self.calls += 1
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, EngineError):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(json.dumps({"ad": answer}))


def shortener(engine: Scripted, folder: Path | None = None) -> Shortener:
    memory = AnswerLog(RecordLog(folder / "answers.jsonl")) if folder else None
    return Shortener(engine, Config(), memory)


def one(*answers: str | Reply | EngineError, wish: ShortenRequest = WISH) -> ShortenedLine | None:
    (answer,) = shortener(Scripted(*answers))([wish])
    return answer


@pytest.mark.parametrize(("answer", "wrong"), [
    ("Emo hurries along the narrow bridge and looks back.", "at most 7 may be used"),
    ("Proog hurries along the narrow bridge.", "Keep who acts"),
    ("Emo and Proog hurry along the bridge.", '"Proog"'),
    ("Emo drinks coffee in a sunny garden.", "something else"),
    ("We see Emo on the narrow bridge.", "Nobody watches"),
    ('Emo hurries past "Exit" on the bridge.', '"Exit"'),
])  # fmt: skip
def test_what_is_wrong_with_an_answer_is_told(answer: str, wrong: str) -> None:
    found = one(answer)
    assert found is not None
    assert wrong in " ".join(found.complaints)
    # A rule that the line itself breaks is not held against the answer.
    wish = ShortenRequest("s1", "A man walks slowly along the long, dark corridor of the school.", 6)
    assert one("A man walks along the corridor.", wish=wish) == ShortenedLine(
        "A man walks along the corridor."
    )


def test_the_second_question_goes_on_from_the_first() -> None:
    engine = Scripted("Emo hurries.")
    before = ShortenedLine("Emo runs along the bridge.", ("Leave that out.",))
    shortener(engine)([ShortenRequest(WISH.id, LINE, 4, previous=before)])
    system, user, said, again = engine.requests[0].messages
    assert [m.role for m in (system, user, said, again)] == ["system", "user", "assistant", "user"]
    assert before.text in said.text
    assert "Leave that out." in again.text
    engine = Scripted("Emo hurries.")
    shortener(engine)(
        [ShortenRequest(WISH.id, LINE, 4, previous=ShortenedLine("Emo runs along the bridge."))]
    )
    assert "takes too long to say. At most 4 words" in engine.requests[0].messages[-1].text


@pytest.mark.parametrize("bad", [
    Reply("", "error", error="timed out"),
    Reply("I'm sorry, I can't help with that."),
    Reply("", "silent"),
])  # fmt: skip
def test_no_line_is_no_answer(bad: Reply) -> None:
    assert one(bad) is None


def test_a_failed_call_is_made_again_on_the_next_run_and_no_other(tmp_path: Path) -> None:
    failed = Scripted(Reply("", "error", error="timed out"))
    assert shortener(failed, tmp_path)([WISH]) == [None]
    well = Scripted(Reply(json.dumps({"ad": "Emo hurries on."}), usage=Usage(40, 6)))
    asked = shortener(well, tmp_path)
    assert asked([WISH]) == asked([WISH]) == [ShortenedLine("Emo hurries on.")]
    assert asked.usage == StageUsage(1, Usage(40, 6))
    again = shortener(Scripted(), tmp_path)
    assert again([WISH]) == [ShortenedLine("Emo hurries on.")]
    assert again.usage.calls == 0


def test_an_engine_that_stops_is_no_exception_and_is_left_alone(tmp_path: Path) -> None:
    other = replace(WISH, id="s00020000")
    shortener(Scripted("Emo hurries on."), tmp_path)([WISH])
    asked = shortener(engine := Scripted(EngineError("The key is refused.", "Set another.")), tmp_path)
    known = ShortenedLine("Emo hurries on.")
    assert asked([WISH, other]) == asked([other, WISH])[::-1] == [known, None]
    assert "The key is refused." in asked.trouble
    assert engine.calls == 1


def test_lines_are_asked_for_side_by_side_and_come_in_order() -> None:
    class Server(Scripted):
        def __init__(self) -> None:
            super().__init__()
            self.abilities = Abilities(in_flight=3)
            self.together = threading.Barrier(3, timeout=20)

        def _reply(self, request: Request) -> Reply:
            self.together.wait()
            return Reply(json.dumps({"ad": f"Emo hurries on {request.slot_id[-1]} legs."}))

    wishes = [replace(WISH, id=f"s0000000{number}") for number in range(3)]
    answers = shortener(Server())(wishes)
    assert [answer and answer.text for answer in answers] == [f"Emo hurries on {n} legs." for n in range(3)]


def test_other_languages_are_asked_in_their_own_words() -> None:
    german = ShortenRequest("s1", "Emo läuft keuchend über die schmale Brücke und blickt sich um.", 8, "de")
    engine = Scripted("Emo läuft über die Brücke.")
    (answer,) = shortener(engine)([german])
    assert answer == ShortenedLine("Emo läuft über die Brücke.")
    assert "at most 6 words" in engine.requests[0].messages[1].text
