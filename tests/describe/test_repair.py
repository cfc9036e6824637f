"""The turns in which a model is asked again."""

from __future__ import annotations

import json

import pytest

from shotad.core import Message, RefusalError, ScriptError, data_root
from shotad.description import check_templates, checks as repair
from shotad.description.answers import parse_stage2
from shotad.description.checks import Complaint, complaints_about, leaked, unreadable

ASKED = (Message("system", "You write AD."), Message("user", "Condense this."))
LOOKED = (Message("user", "Describe the clip.", with_clip=True),)
RAW = '{"summarized_AD": "A man was seen."}'


def form(messages: tuple[Message, ...]) -> dict[str, str]:
    """The JSON form at the end of the last turn."""
    return json.loads(messages[-1].text.splitlines()[-1])  # type: ignore[no-any-return]


def test_the_templates_are_those_on_disk() -> None:
    check_templates(repair.REPAIR_TEMPLATES)
    for stage in ("stage1", "stage2"):
        files = {f"{stage}/{p.stem}" for p in (data_root() / "prompts" / stage).glob("again*.txt")}
        assert files == {name for name in repair.REPAIR_TEMPLATES if name.startswith(stage)}


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


def test_a_line_without_complaints_is_not_spoken_of() -> None:
    found = repair.stage2_again(
        ASKED, RAW, [("Good.", ()), ("", (unreadable(ScriptError("x"), "stop"),))], candidates=5, wanted=5
    )
    assert "Good." not in found[-1].text
    assert "did not have the form" in found[-1].text
    assert len(form(found)) == 5


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


def test_an_empty_answer_is_no_turn() -> None:
    found = repair.stage2_again(
        ASKED, " \n", [("", (Complaint("unreadable", "Nothing."),))], candidates=1, wanted=1
    )
    assert [m.role for m in found] == ["system", "user"]


def test_a_long_answer_is_shown_cut_between_words() -> None:
    found = repair.stage1_again(LOOKED, "blah " * 1000, leaked(["Shot 2"]), ("Main characters", "Actions"))
    assert found[0] == LOOKED[0]
    assert len(found[1].text) <= repair.LONGEST + 2
    assert found[1].text.endswith("blah …")
    assert '"Shot 2"' in found[2].text
    assert found[2].text.endswith("Description:\n1. Main characters: ...\n2. Actions: ...")
    assert not found[2].with_clip


def test_more_lines_that_differ() -> None:
    found = repair.stage2_more(ASKED, RAW, ["He runs.", "She waits."], 3)
    assert "- He runs.\n- She waits." in found[-1].text
    assert "three sentences" in found[-1].text
    assert len(form(found)) == 3


def test_a_line_without_what_cannot_be_seen() -> None:
    found = repair.without(ASKED, RAW, 'He reads "Go $home".', ["he holds a gun", "it rains"], 1)
    assert "- he holds a gun\n- it rains" in found[-1].text
    assert "$home" in found[-1].text
    assert list(form(found)) == ["summarized_AD"]


def test_the_form_that_is_asked_for_is_one_that_is_read() -> None:
    found = repair.stage2_more(ASKED, RAW, ["He runs."], 2)
    answer = json.dumps(dict(zip(form(found), ["She waits.", "It rains."], strict=True)))
    assert parse_stage2(answer, 2) == ("She waits.", "It rains.")


def test_asking_again_and_again_goes_on() -> None:
    once = repair.stage2_more(ASKED, RAW, ["He runs."], 2)
    twice = repair.stage2_more(once, RAW, ["He runs."], 2)
    assert twice[: len(once)] == once
    assert len(twice) == len(once) + 2


def test_turns_are_short() -> None:
    line = "A man was seen talking to Mrs. Jones while the camera pans over the city to the river."
    found = repair.stage2_again(ASKED, RAW, [(line, complaints_about(line, 9))], candidates=1, wanted=1)
    assert len(found[-1].text.split()) < 120


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(ValueError, match="got 0"):
        repair.stage2_more(ASKED, RAW, [], 0)
    with pytest.raises(ValueError, match="at least one message"):
        repair.stage2_more((), "", [], 1)
