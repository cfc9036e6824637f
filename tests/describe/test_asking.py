"""How both stages ask, read, complain, ask again and look, with engines that answer from a script; the turns in which
they ask again; and what is wrong with a line, said so that a model can do something about it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from shotad.core import Interval, Reply
from shotad.description import Stage2Answer
from shotad.script.rules import TALK, Limits, check_line
from tests.describe.prompting import Talk, human_ad, look, write
from tests.describe.slot_run import SEEN, ScriptedSlot, SteadyWriter, lines_json, run_slots

GOOD = "Description:\n1. Main characters: A woman.\n2. Actions: She opens a gate.\n3. Interactions: None."
OPENS = "She opens the gate."
ON_LOOK = "I'm sorry, but I can't help with that."
ON_LINE = "I'm sorry, but I can't help with content that shows violence."


# Stage I


def test_an_answer_that_cannot_be_read_is_asked_for_again_with_another_seed() -> None:
    talk = look("", "[]", GOOD)
    assert talk.record["error"] is None
    assert len({request.seed for request in talk.asked}) == 3
    assert all(request.clip is talk.asked[0].clip for request in talk.asked)
    assert any(message.with_clip for message in talk.asked[2].messages)
    assert talk.record["usage"] == {"tokens_in": 30, "tokens_out": 6}
    assert talk.record["prompt"] == [{"role": m.role, "text": m.text} for m in talk.asked[0].messages]


@pytest.mark.parametrize("refusal", [ON_LOOK, Reply("content_filter", "refused")])
def test_a_description_is_failed_with_its_reason_after_the_last_attempt(refusal: str | Reply) -> None:
    record = look(*[refusal] * 3).record
    assert "refused" in record["error"]
    assert record["steps"] == {}
    assert len(record["tries"]) == 3
    assert len(look(refusal, how=("stage1.attempts=1",)).record["tries"]) == 1


def test_the_description_with_the_fewest_complaints_is_taken() -> None:
    nothing_done = "Description:\n1. Main characters: A woman.\n3. Interactions: She smiles at a man."
    talk = look(nothing_done, nothing_done, "no")
    assert talk.record["error"] is None
    assert talk.record["steps"]["Main characters"] == "A woman."
    assert "Actions" in talk.asked[1].messages[-1].text


# Stage II


def test_a_refusal_and_an_empty_answer_are_failures_with_their_reason() -> None:
    record = write(ON_LINE, ON_LINE, ON_LINE).record
    assert "refused" in record["error"]
    assert "violence" in record["error"]
    assert (record["candidates"], len(record["tries"])) == ([], 3)
    record = write("", "{}", '{"summarized_AD": ""}').record
    assert (bool(record["error"]), record["finish"]) == (True, "error")
    # Half a line is not spoken.
    cut = Reply('{"summarized_AD": "She opens the', "length")
    assert write(cut, lines_json(OPENS)).lines == (OPENS,)
    assert "cut off" in str(write(cut, cut, cut).record["error"])


def test_an_example_that_is_repeated_is_no_line(tmp_path: Path) -> None:
    (tmp_path / "ads.txt").write_text("He balances an egg on his spoon and runs.")
    own = f"prompt.example_file={tmp_path / 'ads.txt'}"
    copy = lines_json("He balances an egg on his spoon and runs.")
    talk = write(copy, lines_json(OPENS), how=(own,))
    assert talk.lines == (OPENS,)
    assert "for other clips" in talk.asked[1].messages[-1].text
    record = write(copy, copy, copy, how=(own,)).record
    assert record["candidates"] == []
    assert "another clip" in record["error"]
    assert write(copy, how=(own, "stage2.repair=none")).lines


def _echoed(talk: Talk) -> tuple[str, ...]:
    """What comes of a server that answers with the question, or a part of it: each way another answer."""
    user = talk.asked[0].messages[-1].text
    system = "\n".join(message.text for message in talk.asked[0].messages)
    rows = [row for row in user.splitlines() if row.strip()]
    return (user, system, user.upper(), json.dumps(user), rows[-1], " ".join(rows[:4]))


NOTE = "prompt.note=Ann is a thief of gates."


@pytest.mark.parametrize("part", range(6))
def test_an_echo_of_the_question_is_no_answer(part: int) -> None:
    for number in (1, 2):
        how = ("stage2.attempts=2", f"stage2.candidates={number}", NOTE)
        good = lines_json(*(OPENS, "Ann walks on.")[:number])
        echo = _echoed(write(good, how=how))[part]
        assert write(echo, good, how=how).lines[0] == OPENS
        record = write(echo, echo, how=how).record
        assert (record["candidates"], bool(record["error"])) == ([], True)
    how = ("stage1.attempts=2", NOTE)
    echo = _echoed(look(GOOD, how=how))[part]
    assert look(echo, GOOD, how=how).record["steps"]["Actions"] == "She opens a gate."
    assert look(echo, echo, how=how).record["error"]


FIVE = (OPENS, "Ann walks into a garden.", "The gate swings open.", "He waves from the porch.",
        "They meet under the apple tree.")  # fmt: skip
JOINT, APART = ("stage2.candidates=5",), ("stage2.candidates=3", "stage2.draw=independent")


def test_five_candidates_are_one_answer_and_near_copies_are_asked_for_again_as_others() -> None:
    talk = write(lines_json(*FIVE), how=JOINT)
    assert (talk.lines, len(talk.asked)) == (FIVE, 1)
    near = (*FIVE[:3], "She opens the gate now.", "The gate she opens.")
    talk = write(lines_json(*near), lines_json(*FIVE[3:]), how=JOINT)
    assert set(talk.lines) == set(FIVE)
    assert OPENS in talk.asked[1].messages[-1].text
    assert list(talk.asked[1].schema["properties"]) == ["summarized_AD_1", "summarized_AD_2"]  # type: ignore[index]
    assert write(lines_json(*FIVE[:2]), "{", how=(*JOINT, "stage2.attempts=2")).lines == FIVE[:2], (
        "better than none"
    )


def test_a_run_of_several_that_fails_stops_none_of_the_others() -> None:
    lost, silent = Reply("", "error", error="timed out"), Reply("", "silent")
    assert (
        write(lines_json(FIVE[0]), lines_json(FIVE[1]), lost, lines_json(FIVE[2]), how=APART).lines
        == FIVE[:3]
    )
    assert write(lost, silent, silent, how=APART).record["error"] == "timed out"
    assert write(silent, silent, silent, how=APART).record["error"] is None


# Verification

VERIFIED = ("verify.on=true",)
THREE = "She opens the gate, looks back, and waves."


def test_a_statement_that_is_not_to_be_seen_is_asked_away_or_marked() -> None:
    doubts = '{"1": "yes", "2": "yes", "3": "no"}'
    talk = write(lines_json(THREE), doubts, lines_json(OPENS), '{"1": "yes"}', how=VERIFIED)
    assert (talk.lines, talk.record["unseen"]) == ((OPENS,), {})
    assert len(talk.record["looks"]) == 2
    assert "waves" in talk.asked[2].messages[-1].text
    assert talk.record["usage"] == {"tokens_in": 40, "tokens_out": 8}
    talk = write(lines_json(THREE), doubts, "{", how=VERIFIED)
    assert (talk.lines, len(talk.record["unseen"]["0"])) == ((THREE,), 1)


def test_a_look_that_failed_is_told_and_blames_nothing() -> None:
    failed, filtered = Reply("", "error", error="no answer"), Reply("No. 1: it was filtered", "refused")
    for reply, told in ((failed, "no answer"), (filtered, "it was refused: 'No. 1: it was filtered'")):
        record = write(lines_json(OPENS), reply, how=VERIFIED).record
        assert (record["unseen"], record["unlooked"]) == ({}, told)


def test_the_conversation_goes_on_with_the_answer_and_what_was_wrong() -> None:
    raw = '{"summarized_AD": "A man was seen."}'
    talk = write(raw, lines_json(OPENS))
    first, again = (request.messages for request in talk.asked)
    assert again[:-2] == first
    assert [message.role for message in again] == ["system", "user", "assistant", "user"]
    assert again[-2].text == raw
    for part in ('"A man was seen."', "present tense", 'Write "he"', "one sentence anew"):
        assert part in again[-1].text
    assert again[-1].text.endswith('\n{"summarized_AD": "..."}')
    assert "other sentences" not in again[-1].text
    # Of several lines only the wrong ones are asked for.
    bad = ("He was here.", "She left.")
    talk = write(lines_json(*FIVE[:3], *bad), lines_json(*FIVE[3:]), how=JOINT)
    question = talk.asked[1].messages[-1].text
    assert list(json.loads(question.splitlines()[-1])) == ["summarized_AD_1", "summarized_AD_2"]
    assert "two sentences anew" in question
    assert "Your other sentences are good" in question
    assert question.index("He was here.") < question.index("She left.")


def test_a_model_that_refused_does_not_see_its_refusal() -> None:
    first, again = (request.messages for request in write(ON_LINE, lines_json(OPENS)).asked)
    assert [message.role for message in again] == ["system", "user"]
    assert again[1].text.startswith(f"{first[1].text}\n\n")
    assert "sorry" not in again[1].text
    for answer in (ON_LOOK, ""):
        first, again = (request.messages for request in look(answer, GOOD).asked)
        assert len(again) == len(first)
        assert again[-1].with_clip
        assert "1. Main characters: ..." in again[-1].text.removeprefix(first[-1].text)


def test_a_long_answer_is_shown_cut_between_words() -> None:
    talk = look("blah " * 1000, GOOD)
    first, again = (request.messages for request in talk.asked)
    assert again[:-2] == first
    assert len(again[-2].text) <= 1202  # 1,200 characters and the dots
    assert again[-2].text.endswith("blah …")
    assert "Nothing stands under" in again[-1].text
    assert "Description:\n1. Main characters: ...\n2. Actions: ..." in again[-1].text
    assert not again[-1].with_clip


# What is wrong with a line


GOOD_LINES = (
    "She opens the gate.", "He pockets the key and walks off.", "Ann's hand is covered in blood.",
    "The door is closed, the blinds are drawn.", "Bill hands Ann a gun.", "A woman's hand opens the door.",
    'A sign reads "I will be back. We were here".', "Small talk show hosts laugh.",
    "Will runs to the gate.", "He sees them dressed in rags.", "He talks into a radio.",
    "She leaves without speaking.", "A chat window opens.",
)  # fmt: skip


@pytest.mark.parametrize(("line", "words"), [
    ("Ann opened the gate.", "Ann opened the"),
    ("He will take the knife.", "He will"),
    ("He is hit by a car.", "is hit"),
    ("We see Ann run.", "We"),
    ("The camera pans to Ann.", "The camera pans"),
    ("Ann smiles, suggesting that she knows.", "suggesting"),
    ("The image shows Ann.", "The image shows"),
    ("Mrs. Jones kneels.", "Mrs"),
    ("A man kneels.", '"he" instead of "A man"'),
    ("The person kneels.", '"they"'),
    ("Ann is speaking to Bo.", "speaking"),
    ("She says that it rains.", "says"),
    ("Music plays.", "It breaks a rule: of a sound that everybody hears"),
])  # fmt: skip
def test_each_fault_is_named_with_its_words(line: str, words: str) -> None:
    answer = lines_json(line)
    complaints = write(answer, answer).record["complaints"]["0"]
    assert any(words in complaint for complaint in complaints)
    assert all(complaint.endswith(".") for complaint in complaints)


def written(lines: Sequence[str], *how: str) -> tuple[Stage2Answer | None, ...]:
    """Stage II's answers where the engine sticks to these lines, a slot to each."""
    slots = [
        ScriptedSlot([line], (SEEN,), Interval(5 * n, 5 * n + 4), max(3, len(line.split())))
        for n, line in enumerate(lines)
    ]
    run = run_slots(*slots, writes=SteadyWriter(slots), how=how)
    return tuple(slot.stage2 for slot in run.written.slots)


def test_good_lines_are_not_complained_about() -> None:
    for line, answer in zip(GOOD_LINES, written(GOOD_LINES), strict=True):
        assert answer is not None
        assert [(candidate.text, candidate.complaints) for candidate in answer.candidates] == [(line, ())]


def test_human_ad_seldom_breaks_the_rules_on_tense() -> None:
    lines = human_ad(2)
    hits = Counter(finding.rule for line in lines for finding in check_line(line, limits=Limits(titles=True)))
    # Measured on all: 50 on tense and passive, nearly all of them rightly; and 89 titles.
    assert 0 < hits["L1"] <= 30
    assert 0 < hits["L13"] <= 60
    assert sum(bool(TALK.search(line)) for line in lines) <= 30


def test_what_a_question_quotes_is_no_part_of_it() -> None:
    note = "prompt.note=The man in the long coat is Bo. She runs after the yellow bus."
    talk = write(lines_json("She runs after the yellow bus."), how=(note,))
    assert talk.lines == ("She runs after the yellow bus.",)
    seen = "Ann opens the gate and walks away."
    assert write(lines_json(seen), text=seen).lines == (seen,)
    # Nor is its own line that a model is asked to write anew; but what it is asked to do is.
    creaks = lines_json("A woman opens the old iron gate.")
    talk = write(creaks, creaks)
    assert talk.lines == ("A woman opens the old iron gate.",)
    for sentence in (
        "Say nothing that the description does not say.",
        "Say nothing about the mood of the characters.",
    ):
        assert sentence in talk.asked[0].messages[1].text
        assert write(*[lines_json(sentence)] * 3).lines == ()
        again = write(creaks, lines_json(sentence))
        assert again.lines == ("A woman opens the old iron gate.",)


def test_no_line_of_human_ad_is_taken_for_a_part_of_the_question() -> None:
    lines = human_ad(120)
    for number, answer in enumerate(written(lines)):
        assert answer is not None
        assert answer.candidates, lines[number]
