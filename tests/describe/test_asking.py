"""How both stages ask, read, complain, ask again and look, with engines that answer from a script; and the turns in
which they ask again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.core import Message, RefusalError, Reply
from shotad.description import checks as repair
from shotad.description.checks import about_description, complaints_about, unreadable
from tests.describe.talking import Talk, line, look, write

GOOD = "Description:\n1. Main characters: A woman.\n2. Actions: She opens a gate.\n3. Interactions: None."
OPENS, LONG = (
    "She opens the gate.",
    "She opens the old iron gate and slowly walks into the wild green garden.",
)
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


def test_half_a_line_is_not_spoken() -> None:
    cut = Reply('{"summarized_AD": "She opens the', "length")
    assert write(cut, line(OPENS)).lines == (OPENS,)
    assert "cut off" in str(write(cut, cut, cut).record["error"])


def test_an_example_that_is_repeated_is_no_line(tmp_path: Path) -> None:
    (tmp_path / "ads.txt").write_text("He balances an egg on his spoon and runs.")
    own = f"prompt.example_file={tmp_path / 'ads.txt'}"
    copy = line("He balances an egg on his spoon and runs.")
    talk = write(copy, line(OPENS), how=(own,))
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
    return (user, system, user.upper(), json.dumps(user), rows[0], rows[-1], " ".join(rows[:4]))


NOTE = "prompt.note=Ann is a thief of gates."


@pytest.mark.parametrize("part", range(7))
def test_an_echo_of_the_question_is_no_answer(part: int) -> None:
    for number in (1, 2):
        how = ("stage2.attempts=2", f"stage2.candidates={number}", NOTE)
        good = line(*(OPENS, "Ann walks on.")[:number])
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
    talk = write(line(*FIVE), how=JOINT)
    assert (talk.lines, len(talk.asked)) == (FIVE, 1)
    near = (*FIVE[:3], "She opens the gate now.", "The gate she opens.")
    talk = write(line(*near), line(*FIVE[3:]), how=JOINT)
    assert set(talk.lines) == set(FIVE)
    assert OPENS in talk.asked[1].messages[-1].text
    assert list(talk.asked[1].schema["properties"]) == ["summarized_AD_1", "summarized_AD_2"]  # type: ignore[index]
    assert write(line(*FIVE[:2]), "{", how=(*JOINT, "stage2.attempts=2")).lines == FIVE[:2], (
        "better than none"
    )


def test_a_run_of_several_that_fails_stops_none_of_the_others() -> None:
    lost, silent = Reply("", "error", error="timed out"), Reply("", "silent")
    assert write(line(FIVE[0]), line(FIVE[1]), lost, line(FIVE[2]), how=APART).lines == FIVE[:3]
    assert write(lost, silent, silent, how=APART).record["error"] == "timed out"
    assert write(silent, silent, silent, how=APART).record["error"] is None


# Verification

VERIFIED = ("verify.on=true",)
THREE = "She opens the gate, looks back, and waves."


def test_a_statement_that_is_not_to_be_seen_is_asked_away_or_marked() -> None:
    doubts = '{"1": "yes", "2": "yes", "3": "no"}'
    talk = write(line(THREE), doubts, line(OPENS), '{"1": "yes"}', how=VERIFIED)
    assert (talk.lines, talk.record["unseen"]) == ((OPENS,), {})
    assert len(talk.record["looks"]) == 2
    assert "waves" in talk.asked[2].messages[-1].text
    assert talk.record["usage"] == {"tokens_in": 40, "tokens_out": 8}
    talk = write(line(THREE), doubts, "{", how=VERIFIED)
    assert (talk.lines, len(talk.record["unseen"]["0"])) == ((THREE,), 1)


@pytest.mark.parametrize(
    "failed", [Reply("", "error", error="no answer"), Reply("No. 1: it was filtered", "refused")]
)
def test_a_look_that_failed_is_told_and_blames_nothing(failed: Reply) -> None:
    record = write(line(OPENS), failed, how=VERIFIED).record
    assert record["unseen"] == {}
    assert record["unlooked"] == (failed.error or "it was refused: 'No. 1: it was filtered'")


ASKED = (Message("system", "You write AD."), Message("user", "Condense this."))
LOOKED = (Message("user", "Describe the clip.", with_clip=True),)
RAW = '{"summarized_AD": "A man was seen."}'


def form(messages: tuple[Message, ...]) -> dict[str, str]:
    """The JSON form at the end of the last turn."""
    return json.loads(messages[-1].text.splitlines()[-1])  # type: ignore[no-any-return]


def test_the_conversation_goes_on_with_the_answer_and_what_was_wrong() -> None:
    line = "A man was seen."
    found = repair.stage2_again(ASKED, RAW, [(line, complaints_about(line, 9))], candidates=1, wanted=1)
    assert found[:2] == ASKED
    assert [m.role for m in found] == ["system", "user", "assistant", "user"]
    assert found[2].text == RAW
    for said in ('"A man was seen."', "present tense", 'Write "he"', "one sentence anew"):
        assert said in found[-1].text
    assert form(found) == {"summarized_AD": "..."}
    assert "other sentences" not in found[-1].text


def test_of_several_lines_only_the_wrong_ones_are_asked_for() -> None:
    wrong = [
        ("He was here.", complaints_about("He was here.", 9)),
        ("She left.", complaints_about("She left.", 9)),
    ]
    found = repair.stage2_again(ASKED, RAW, wrong, candidates=5, wanted=2)
    assert list(form(found)) == ["summarized_AD_1", "summarized_AD_2"]
    assert "two sentences anew" in found[-1].text
    assert "Your other sentences are good" in found[-1].text
    assert found[-1].text.index("He was here.") < found[-1].text.index("She left.")


@pytest.mark.parametrize("raw", ["I'm sorry, but I can't help with that.", ""])
def test_a_model_that_refused_does_not_see_its_refusal(raw: str) -> None:
    refused = unreadable(RefusalError("no"), "stop")
    found = repair.stage2_again(ASKED, raw, [("", (refused,))], candidates=1, wanted=1)
    assert [m.role for m in found] == ["system", "user"]
    assert found[1].text.startswith("Condense this.\n\n")
    assert "sorry" not in found[1].text
    looked = repair.stage1_again(LOOKED, raw, [refused], ("Actions",))
    assert len(looked) == 1
    assert looked[0].with_clip
    assert looked[0].text.endswith("1. Actions: ...")


def test_a_long_answer_is_shown_cut_between_words() -> None:
    found = repair.stage1_again(
        LOOKED, "blah " * 1000, about_description((), ["Shot 2"]), ("Main characters", "Actions")
    )
    assert found[0] == LOOKED[0]
    assert len(found[1].text) <= repair.LONGEST + 2
    assert found[1].text.endswith("blah …")
    assert '"Shot 2"' in found[2].text
    assert found[2].text.endswith("Description:\n1. Main characters: ...\n2. Actions: ...")
    assert not found[2].with_clip
