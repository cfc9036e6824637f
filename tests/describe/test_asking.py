"""How both stages ask, read, complain, ask again and look: with engines that answer from a script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    Clip,
    Config,
    ContextShot,
    Description,
    FramePlan,
    Grammar,
    Interval,
    Reply,
    Request,
    Role,
    Shot,
    Slot,
    Usage,
    load_config,
)
from shotad.description import Inquiry, SlotPlan, Turn, stage2
from shotad.description.stage1 import stage1_as_seen, stage1_inquiry, stage1_question
from tests.describe.prompting import Model

SLOT = Slot("s00010000", Interval(10.0, 14.0), 9)


def plan() -> SlotPlan:
    shots = (
        ContextShot(Shot(3, Interval(6, 9)), Role.PAST, Interval(6, 9)),
        ContextShot(Shot(4, Interval(9, 15)), Role.CURRENT, Interval(9, 15)),
    )
    frames = (
        FramePlan(0, Role.PAST, np.array([7.0, 8.0])),
        FramePlan(1, Role.CURRENT, np.array([10.0, 11.0, 12.0])),
    )
    return SlotPlan(SLOT, shots, frames, Grammar())


CLIP = Clip(np.zeros((5, 72, 128, 3), np.uint8), np.arange(5.0), np.array([0, 0, 1, 1, 1]))


class Talk:
    """Drives an inquiry with answers from a list; keeps what was asked."""

    def __init__(self, inquiry: Inquiry, *answers: str | Reply) -> None:
        self.turns: list[tuple[Turn, ...]] = []
        self.record: dict[str, Any] = {}
        waiting = list(answers)
        try:
            turns = next(inquiry)
            while True:
                self.turns.append(turns)
                replies = [waiting.pop(0) for _ in turns]
                turns = inquiry.send(tuple(r if isinstance(r, Reply) else said(r) for r in replies))
        except StopIteration as end:
            self.record = end.value
        assert not waiting, f"never asked for: {waiting}"

    @property
    def asked(self) -> list[Request]:
        return [turn.request for turns in self.turns for turn in turns]


def said(text: str) -> Reply:
    return Reply(text, usage=Usage(10, 2))


def config(*assignments: str) -> Config:
    return load_config(None, assignments)


def look(*answers: str | Reply, settings: Config | None = None, engine: Model | None = None) -> Talk:
    settings, engine = settings or config(), engine or Model()
    question = stage1_question(plan(), engine, settings, "pixels")
    seen = stage1_as_seen(CLIP, question.plan, engine, settings)
    return Talk(stage1_inquiry(question, seen, engine, settings), *answers)


def line(text: str) -> str:
    return json.dumps({"summarized_AD": text})


def several(*texts: str) -> str:
    return json.dumps({f"summarized_AD_{k}": text for k, text in enumerate(texts, 1)})


def write(*answers: str | Reply, settings: Config | None = None, engine: Model | None = None) -> Talk:
    settings, engine = settings or config(), engine or Model()
    steps = {"Actions": "Ann opens a gate and walks into the garden.", "Key objects": "A gate."}
    described = Description(SLOT.id, steps, "", "", "model")
    question = stage2.question(plan(), described, (), engine, settings, looks=engine.identity)
    return Talk(stage2.inquiry(question, engine, settings), *answers)


GOOD = "Description:\n1. Main characters: A woman.\n2. Actions: She opens a gate.\n3. Interactions: None.\n4. Key objects: A gate."


# Stage I


def test_a_good_description_is_asked_for_once() -> None:
    talk = look(GOOD)
    assert talk.record["steps"]["Actions"] == "She opens a gate."
    assert talk.record["error"] is None
    assert talk.record["usage"] == {"tokens_in": 10, "tokens_out": 2}
    assert [one["raw"] for one in talk.record["tries"]] == [GOOD]
    assert talk.asked[0].clip is not None
    assert talk.turns[0][0].who == "looks"


def test_an_answer_that_cannot_be_read_is_asked_for_again_with_another_seed() -> None:
    talk = look("", "[]", GOOD)
    assert talk.record["error"] is None
    assert len({request.seed for request in talk.asked}) == 3
    assert all(request.clip is talk.asked[0].clip for request in talk.asked)
    assert any(message.with_clip for message in talk.asked[2].messages)
    assert talk.record["usage"] == {"tokens_in": 30, "tokens_out": 6}
    assert talk.record["prompt"] == [{"role": m.role, "text": m.text} for m in talk.asked[0].messages]


def test_a_description_is_failed_with_its_reason_after_the_last_attempt() -> None:
    refusal = "I'm sorry, but I can't help with that."
    talk = look(refusal, refusal, refusal)
    assert "refused" in talk.record["error"]
    assert talk.record["steps"] == {}
    assert len(talk.record["tries"]) == 3
    assert len(look(refusal, settings=config("stage1.attempts=1")).record["tries"]) == 1


def test_a_server_that_refuses_is_a_refusal_too() -> None:
    blocked = Reply("content_filter", "refused")
    assert "refused" in look(blocked, blocked, blocked).record["error"]


def test_what_an_engine_reports_as_an_error_is_not_asked_again() -> None:
    talk = look(Reply("", "error", error="out of memory"))
    assert talk.record["error"] == "out of memory"


def test_the_description_with_the_fewest_complaints_is_taken() -> None:
    nothing_done = "Description:\n1. Main characters: A woman.\n3. Interactions: She smiles at a man."
    talk = look(nothing_done, nothing_done, "no")
    assert talk.record["error"] is None
    assert talk.record["steps"]["Main characters"] == "A woman."
    assert "Actions" in talk.asked[1].messages[-1].text


def test_an_engine_that_measures_is_asked_once() -> None:
    assert look("", engine=Model(converses=False)).record["error"]


def test_frames_are_dressed_for_a_model_that_wants_it() -> None:
    settings = config()
    dressed = stage1_as_seen(CLIP, plan(), Model(), settings)
    assert dressed.images.shape[1:3] != CLIP.images.shape[1:3]
    assert dressed.images.any()
    assert stage1_as_seen(CLIP, plan(), Model(wants_overlay=False), settings) is CLIP


# Stage II


def test_a_good_line_is_asked_for_once() -> None:
    talk = write(line("She opens the gate."))
    assert talk.record["candidates"] == ["She opens the gate."]
    assert talk.record["error"] is None
    assert talk.record["complaints"] == {}
    assert talk.turns[0][0].who == "writes"
    assert talk.asked[0].schema is not None


def test_a_line_over_its_budget_is_asked_for_again_and_the_better_one_kept() -> None:
    long = "She opens the old iron gate and slowly walks into the wild green garden."
    talk = write(line(long), line("She opens the gate."))
    assert talk.record["candidates"] == ["She opens the gate."]
    again = talk.asked[1].messages
    assert again[-2].role == "assistant"
    assert "9" in again[-1].text
    assert [one["raw"] for one in talk.record["tries"]] == [line(long), line("She opens the gate.")]


def test_a_line_that_stays_too_long_is_kept_for_shortening_with_its_complaint() -> None:
    long = "She opens the old iron gate and slowly walks into the wild green garden."
    talk = write(line(long), line(long))
    assert talk.record["candidates"] == [long]
    assert "words" in talk.record["complaints"]["0"][0]
    assert talk.record["error"] is None


def test_camera_words_are_asked_away_once() -> None:
    talk = write(line("The camera pans to the gate."), line("The camera zooms in on her."))
    assert len(talk.asked) == 2
    assert len(talk.record["candidates"]) == 1


@pytest.mark.parametrize("repair", ["failed", "none"])
def test_without_repair_a_line_stays_as_it_came(repair: str) -> None:
    talk = write(line("The camera pans to the gate."), settings=config(f"stage2.repair={repair}"))
    assert talk.record["candidates"] == ["The camera pans to the gate."]


def test_only_failed_answers_are_asked_for_again_where_that_is_set() -> None:
    talk = write("I cannot say.{", line("She opens the gate."), settings=config("stage2.repair=failed"))
    assert talk.record["candidates"] == ["She opens the gate."]
    assert write("", settings=config("stage2.repair=none")).record["error"]


def test_a_refusal_is_a_reason_of_its_own() -> None:
    refusal = "I'm sorry, but I can't help with content that shows violence."
    record = write(refusal, refusal, refusal).record
    assert "refused" in record["error"]
    assert "violence" in record["error"]
    assert record["candidates"] == []
    assert len(record["tries"]) == 3


def test_an_empty_answer_is_never_silence() -> None:
    record = write("", "{}", '{"summarized_AD": ""}').record
    assert record["error"]
    assert record["finish"] == "error"


def test_half_a_line_is_not_spoken() -> None:
    cut = Reply('{"summarized_AD": "She opens the', "length")
    talk = write(cut, line("She opens the gate."))
    assert talk.record["candidates"] == ["She opens the gate."]
    assert "cut off" in str(write(cut, cut, cut).record["error"])


def test_an_example_that_is_repeated_is_no_line(tmp_path: Path) -> None:
    (tmp_path / "ads.txt").write_text("He balances an egg on his spoon and runs.")
    settings = config(own := f"prompt.example_file={tmp_path / 'ads.txt'}")
    copy = line("He balances an egg on his spoon and runs.")
    talk = write(copy, line("She opens the gate."), settings=settings)
    assert talk.record["candidates"] == ["She opens the gate."]
    assert "for other clips" in talk.asked[1].messages[-1].text
    record = write(copy, copy, copy, settings=settings).record
    assert record["candidates"] == []
    assert "another clip" in record["error"]
    plain = config(own, "stage2.repair=none")
    assert write(copy, settings=plain).record["candidates"]


def _echoed(talk: Talk) -> tuple[str, ...]:
    """What comes of a server that answers with the question, or a part of it: each way another answer."""
    user = talk.asked[0].messages[-1].text
    system = "\n".join(message.text for message in talk.asked[0].messages)
    lines = [row for row in user.splitlines() if row.strip()]
    return (user, system, user.upper(), json.dumps(user), lines[0], lines[-1], " ".join(lines[:4]))


@pytest.mark.parametrize("part", range(7))
@pytest.mark.parametrize("number", [1, 2])
def test_an_echo_of_the_question_is_no_line(part: int, number: int) -> None:
    settings = config(
        "stage2.attempts=2", f"stage2.candidates={number}", "prompt.note=Ann is a thief of gates."
    )
    good = line("She opens the gate.") if number == 1 else several("She opens the gate.", "Ann walks on.")
    echo = _echoed(write(good, settings=settings))[part]
    record = write(echo, good, settings=settings).record
    assert record["candidates"][0] == "She opens the gate."
    record = write(echo, echo, settings=settings).record
    assert record["candidates"] == []
    assert record["error"]


@pytest.mark.parametrize("part", range(7))
def test_an_echo_of_the_question_is_no_description(part: int) -> None:
    settings = config("stage1.attempts=2", "prompt.note=Ann is a thief of gates.")
    echo = _echoed(look(GOOD, settings=settings))[part]
    assert look(echo, GOOD, settings=settings).record["steps"]["Actions"] == "She opens a gate."
    assert look(echo, echo, settings=settings).record["error"]


def test_silence_of_an_engine_is_no_failure() -> None:
    talk = write(Reply("", "silent", notes={"reason": "nothing new"}), engine=Model(converses=False))
    assert (talk.record["error"], talk.record["candidates"]) == (None, [])
    assert talk.record["notes"] == {"reason": "nothing new"}


FIVE = ("She opens the gate.", "Ann walks into a garden.", "The gate swings open.", "He waves from the porch.",
        "They meet under the apple tree.")  # fmt: skip


def test_five_candidates_in_one_answer() -> None:
    talk = write(several(*FIVE), settings=config("stage2.candidates=5"))
    assert tuple(talk.record["candidates"]) == FIVE
    assert len(talk.asked) == 1


def test_near_copies_are_asked_for_again_as_others() -> None:
    near = (*FIVE[:3], "She opens the gate now.", "The gate she opens.")
    talk = write(several(*near), several(*FIVE[3:]), settings=config("stage2.candidates=5"))
    assert set(talk.record["candidates"]) == set(FIVE)
    assert "She opens the gate." in talk.asked[1].messages[-1].text
    assert list(talk.asked[1].schema["properties"]) == ["summarized_AD_1", "summarized_AD_2"]  # type: ignore[index]


def test_candidates_by_runs_of_their_own_have_seeds_of_their_own() -> None:
    settings = config("stage2.candidates=5", "stage2.draw=independent")
    talk = write(*(line(text) for text in FIVE), settings=settings)
    assert tuple(talk.record["candidates"]) == FIVE
    assert len(talk.turns) == 1
    assert len({request.seed for request in talk.asked}) == 5
    assert len({request.messages for request in talk.asked}) == 1


def test_runs_that_say_the_same_are_drawn_again() -> None:
    settings = config("stage2.candidates=3", "stage2.draw=independent")
    talk = write(line(FIVE[0]), line(FIVE[0]), line(FIVE[1]), line(FIVE[2]), settings=settings)
    assert tuple(talk.record["candidates"]) == FIVE[:3]
    assert [len(turns) for turns in talk.turns] == [3, 1]
    assert len({request.seed for request in talk.asked}) == 4


def test_a_run_of_several_that_fails_stops_none_of_the_others() -> None:
    settings = config("stage2.candidates=3", "stage2.draw=independent")
    lost = Reply("", "error", error="timed out")
    talk = write(line(FIVE[0]), line(FIVE[1]), lost, line(FIVE[2]), settings=settings)
    assert tuple(talk.record["candidates"]) == FIVE[:3]
    silent = Reply("", "silent")
    record = write(lost, silent, silent, settings=settings).record
    assert record["error"] == "timed out"
    assert write(silent, silent, silent, settings=settings).record["error"] is None


def test_too_few_candidates_are_better_than_none() -> None:
    settings = config("stage2.candidates=5", "stage2.attempts=2")
    assert tuple(write(several(*FIVE[:2]), "{", settings=settings).record["candidates"]) == FIVE[:2]


# Verification

LOOKS = config("verify.on=true")


def test_a_line_that_is_to_be_seen_stays() -> None:
    talk = write(line("She opens the gate."), '{"1": "yes"}', settings=LOOKS)
    assert talk.record["candidates"] == ["She opens the gate."]
    assert talk.record["unseen"] == {}
    assert [turn.who for turns in talk.turns for turn in turns] == ["writes", "looks"]
    assert talk.turns[1][0].with_clip
    assert "She opens the gate" in talk.asked[1].messages[-1].text


def test_a_statement_that_is_not_to_be_seen_is_asked_away() -> None:
    talk = write(
        line("She opens the gate, looks back, and waves."),
        '{"1": "yes", "2": "yes", "3": "no"}',
        line("She opens the gate."),
        '{"1": "yes"}',
        settings=LOOKS,
    )
    assert talk.record["candidates"] == ["She opens the gate."]
    assert talk.record["unseen"] == {}
    assert len(talk.record["looks"]) == 2
    assert "waves" in talk.asked[2].messages[-1].text
    assert talk.record["usage"] == {"tokens_in": 40, "tokens_out": 8}


def test_a_line_that_cannot_be_bettered_is_marked() -> None:
    talk = write(
        line("She opens the gate, looks back, and waves."),
        '{"1": "yes", "2": "yes", "3": "no"}',
        "{",
        settings=LOOKS,
    )
    assert talk.record["candidates"] == ["She opens the gate, looks back, and waves."]
    assert len(talk.record["unseen"]["0"]) == 1


def test_a_look_that_cannot_tell_blames_nothing() -> None:
    assert write(line("She opens the gate."), "I am not sure.", settings=LOOKS).record["unseen"] == {}


@pytest.mark.parametrize(
    "failed", [Reply("", "error", error="no answer"), Reply("No. 1: it was filtered", "refused")]
)
def test_a_look_that_failed_is_told_and_blames_nothing(failed: Reply) -> None:
    record = write(line("She opens the gate."), failed, settings=LOOKS).record
    assert record["unseen"] == {}
    assert record["unlooked"] == (failed.error or "it was refused: 'No. 1: it was filtered'")
    assert "unlooked" not in write(line("She opens the gate."), '{"1": "yes"}', settings=LOOKS).record


def test_the_key_knows_what_changes_the_lines() -> None:
    def key(*assignments: str, shown: str = "") -> str:
        described = Description(SLOT.id, {"Actions": "She sits."}, "", "", "model")
        engine, settings = Model(), config(*assignments)
        who = engine.identity
        return stage2.question(plan(), described, (), engine, settings, looks=who, shown=shown).key

    keys = [key(), key("verify.on=true"), key("stage2.candidates=5"), key("stage2.repair=none"),
            key("stage2.candidates=5", "stage2.draw=independent"), key("stage2.sampling.temperature=1.5"),
            key("prompt.note=Ann is a nurse."), key("verify.on=true", shown="other frames"), key("language=de")]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert key() == key("stage2.select=sequence") == key("stage2.fit=none")
