"""The turns in which a model is asked again."""

from __future__ import annotations

import json

import pytest

from shotad.core import Message, RefusalError
from shotad.description import checks as repair
from shotad.description.checks import about_description, complaints_about, unreadable

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
