"""Answers as models bend them: Qwen2-VL, LLaMA3, GPT-4o, SmolLM2 and their like."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import example, given, strategies as st

from shotad.core import RefusalError, ScriptError
from shotad.description import parse_stage1
from shotad.description.answers import WHOLE, parse_stage2

STEPS = ("Main characters", "Actions", "Interactions", "Key objects")
ANSWER = {
    "Main characters": "Ann and Bo.", "Actions": "Ann opens the gate. Bo runs.",
    "Interactions": "They look at each other.", "Key objects": "A rusty gate.",
}  # fmt: skip

FORMS = {
    "as asked": "Description:\n1. Main characters: {}\n2. Actions: {}\n3. Interactions: {}\n4. Key objects: {}",
    "bold": "1. **Main characters:** {}\n2. **Actions**: {}\n3. **Interactions:** {}\n4. **Key objects:** {}",
    "the form repeated": (
        "Description:\n1. Main characters: ...\n2. Actions: ...\n3. Interactions: ...\n4. Key objects: ...\n\n"
        "Description:\n1. Main characters: {}\n2. Actions: {}\n3. Interactions: {}\n4. Key objects: {}"
    ),
    "one paragraph": "1. Main characters: {} 2. Actions: {} 3. Interactions: {} 4. Key objects: {}",
    "numbers only": "1. {}\n2. {}\n3. {}\n4. {}",
    "other headings": (
        "1. **Main Characters Identified:** {}\n2. **Actions Performed:** {}\n"
        "3. **Interactions Between Characters:** {}\n4. Key objects: {}"
    ),
    "heading, then text": "Main characters\n{}\n\nActions\n{}\n\nInteractions\n{}\n\nKey objects\n{}",
    "thought aloud": (
        "<think>1. Main characters: a dog? no.</think>\n"
        "1. Main characters: {}\n2. Actions: {}\n3. Interactions: {}\n4. Key objects: {}"
    ),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_steps_of_a_bent_answer_are_found(form: str) -> None:
    reply = form.format(*ANSWER.values())
    found = parse_stage1(reply, STEPS, "s00001000", "vlm", {"seen": 3})
    assert list(found.steps.items()) == list(ANSWER.items())
    assert (found.slot_id, found.engine, found.raw) == ("s00001000", "vlm", reply)
    assert (dict(found.notes), found.explanation) == ({"seen": 3}, "")


THREAD = "Shot 0 and Shot 2 share the same camera angle because both show the desk."
BENT = {
    "shot by shot": (
        "**Shot 1:**\n\n1. **Main Characters:** Ann.\n2. **Actions:** Ann digs.\n3. **Interactions:** None.\n\n"
        "**Shot 2:**\n\n1. **Main Characters:** N/A\n2. **Actions:** Bo runs.\n3. **Interactions:**",
        {"Main characters": "Ann.", "Actions": "Ann digs. Bo runs."},
    ),
    "no identification": (
        "1. Main characters: I'm sorry, but I can't identify people in images. A man.\n2. Actions: The man kneels.",
        {"Main characters": "A man.", "Actions": "The man kneels."},
    ),
    "instruction repeated": (
        "1. Main characters: Say who the main characters are, by what can be seen of them. A bearded man.\n"
        "2. Actions: Say who does what, and above all how bodies move. He climbs a ladder.",
        {"Main characters": "A bearded man.", "Actions": "He climbs a ladder."},
    ),
    "nested bullets": (
        "1. **Main characters**:\n   - **Ann**: a girl in a yellow coat\n   - **Bo**: a dog\n\n"
        "2. **Actions**:\n   - Ann throws a ball\n   - Bo catches it",
        {
            "Main characters": "Ann: a girl in a yellow coat. Bo: a dog.",
            "Actions": "Ann throws a ball. Bo catches it.",
        },
    ),
    "opening words, colours and a note": (
        "Here is a brief description of what happens in [Shot 2, Shot 3]:\n\nMain characters: Ann (red)\n"
        "Actions: Ann digs; Bo sits on a crate\n\nNote: the coloured circles were not mentioned.",
        {"Main characters": "Ann (red).", "Actions": "Ann digs; Bo sits on a crate."},
    ),
    "a heading's word in the text, and a camera in the scene": (
        "1. Main characters: Ann.\n2. Actions: Ann lifts the camera. Her actions: slow and steady.",
        {"Main characters": "Ann.", "Actions": "Ann lifts the camera. Her actions: slow and steady."},
    ),
    "no steps": (
        "Ann opens the gate, and Bo\nruns through it",
        {WHOLE: "Ann opens the gate, and Bo runs through it."},
    ),
}


@pytest.mark.parametrize(("reply", "steps"), BENT.values(), ids=BENT)
def test_what_models_do_with_steps_is_understood(reply: str, steps: dict[str, str]) -> None:
    assert dict(parse_stage1(reply, STEPS[:3], "s1", "vlm").steps) == steps


TOLD = "1. Main characters: Ann.\n2. Actions: Ann runs."


@pytest.mark.parametrize(("reply", "why"), [
    (f"Description:\n{TOLD}\n\nExplanation: Both look down the hall.", "Both look down the hall."),
    (f"{TOLD} Explanation: Both look down the hall.", "Both look down the hall."),
    (f"Explanation: Both look down the hall.\nDescription:\n{TOLD}", "Both look down the hall."),
    (f"{TOLD} {THREAD}", THREAD),
    (f"{TOLD} {THREAD}\n3. Interactions: None.", THREAD),
])  # fmt: skip
def test_explanation_is_kept_apart_also_without_its_heading(reply: str, why: str) -> None:
    found = parse_stage1(reply, STEPS, "s1", "vlm")
    assert dict(found.steps) == {"Main characters": "Ann.", "Actions": "Ann runs."}
    assert found.explanation == why


@pytest.mark.parametrize(
    "reply",
    ["", "  \n ", "Description:", "1. Main characters: None\n2. Actions: N/A", "Explanation: both alike.", "***", "..."],
)  # fmt: skip
def test_empty_stage1_answer_says_so(reply: str) -> None:
    with pytest.raises(ScriptError, match="described nothing of slot s00001000"):
        parse_stage1(reply, STEPS, "s00001000", "vlm")


GATE = "She opens the gate."
ONE_LINE = {
    "as asked": '{"summarized_AD": "She opens the gate."}',
    "fence": '```json\n{"summarized_AD": "She opens the gate."}\n```',
    "single quotes": "{'summarized_AD': 'She opens the gate.'}",
    "no quote at the end": '{"summarized_AD": "She opens the gate}',
    "cut off in the next sentence": '{"summarized_AD": "She opens the gate. Then she',
    "another key": '{"AD": "She opens the gate."}',
    "list under the key": '{"summarized_AD": ["She opens the gate."]}',
    "plain": "She opens the gate.",
    "plain after opening words": "Sure, here is a succinct sentence: She opens the gate.",
    "plain with label and markdown": "**Audio description:** She opens the gate.",
    "thoughts": '<think>{"summarized_AD": "He?"}</think>{"summarized_AD": "She opens the gate."}',
    "five where one is wanted": '{"summarized_AD_1": "She opens the gate.", "summarized_AD_2": "The gate swings."}',
    "bold label and quotes": '**Summarized AD:** "She opens the gate."',
    "label within": '{"summarized_AD": "AD: She opens the gate."}',
    "reason after": '{\n"summarized_AD": "She opens the gate."\n}\n\nExplanation: I chose open.',
}


SOUNDS = ("He can't help laughing.", 'A sign reads "Sorry, we\'re closed".', "Unfortunately, the rope snaps.")
"""Lines that only sound like a refusal."""


KEPT = {
    "escaped quotes": (r'{"summarized_AD": "He reads \"Closed\"."}', 'He reads "Closed".'),
    "bare quotes": ('{"summarized_AD": "He reads "Closed", then turns."}', 'He reads "Closed", then turns.'),
    "smart apostrophe": ('{"summarized_AD": "She takes Bo’s hand."}', "She takes Bo's hand."),
    "escaped accents": (r'{"summarized_AD": "Zo\u00eb waits."}', "Zoë waits."),
    "comma inside": ('{"summarized_AD": "He runs, and falls.",', "He runs, and falls."),
    "nothing in it but a name": ('{"summarized_AD": "Nonetheless he waits."}', "Nonetheless he waits."),
}


LINES = [
    *(pytest.param(reply, GATE, id=name) for name, reply in ONE_LINE.items()),
    *(pytest.param(reply, line, id=name) for name, (reply, line) in KEPT.items()),
    *(pytest.param(json.dumps({"summarized_AD": line}), line, id=line) for line in SOUNDS),
]


@pytest.mark.parametrize(("reply", "line"), LINES)
def test_one_line_is_found_with_what_belongs_to_it(reply: str, line: str) -> None:
    assert parse_stage2(reply) == (line,)


FIVE = ("He runs.", "She waits.", "Rain falls.", "They turn.", "A door opens.")
KEYED = {f"summarized_AD_{k}": line for k, line in enumerate(FIVE, 1)}
FIVE_LINES = {
    "as asked": json.dumps(KEYED),
    "bullets": "\n".join(f"- {line}" for line in FIVE),
    "list that is not closed": json.dumps(list(FIVE))[:-1],
    "keys without JSON": "\n".join(f"{key}: {line}" for key, line in KEYED.items()),
    "numbered": "Here are five possible ADs:\n" + "\n".join(f"{k}. {line}" for k, line in enumerate(FIVE, 1)),
    "objects": json.dumps({key: {"text": line} for key, line in KEYED.items()}),
}


@pytest.mark.parametrize("reply", FIVE_LINES.values(), ids=FIVE_LINES)
def test_five_lines_are_found(reply: str) -> None:
    assert parse_stage2(reply, 5) == FIVE


@pytest.mark.parametrize("reply", [
    "", "   ", "{}", "[]", "null", "```json\n```", '{"summarized_AD": ""}', '{"summarized_AD": "..."}',
    '{"summarized_AD": ', '{"summarized_AD": "She opens the', '{"summarized_AD": null}',
    '{"summarized_AD": "N/A"}', "Here is the AD:", "***", "{{{{", "[" * 100_000,
])  # fmt: skip
def test_empty_stage2_answer_says_so(reply: str) -> None:
    with pytest.raises(ScriptError, match="wrote no whole line") as caught:
        parse_stage2(reply)
    assert caught.value.hint
    assert len(caught.value.what) < 200


@pytest.mark.parametrize("answer", [
    "I'm sorry, but I can't assist with that.",
    "Description:\n1. Main characters: I'm sorry, I can't identify people.",
    '{"error": "This content violates our content policy."}',
    "I can't view images directly, so I cannot describe them.",
])  # fmt: skip
def test_a_model_that_will_not_look(answer: str) -> None:
    with pytest.raises(RefusalError, match="refused to describe slot s1"):
        parse_stage1(answer, STEPS[:3], "s1", "vlm")


REFUSED, NOTHING = "refused", "nothing"
CUT: list[tuple[str, int, tuple[str, ...] | str]] = [
    ('{"summarized_AD": "Unfortunately, I"', 1, NOTHING),
    ('{"summarized_AD_1": "He runs.", "summarized_AD_2": "She wai', 5, ("He runs.",)),
    ("1. He runs.\n2. She wa", 5, ("He runs.",)),
    ('{"summarized_AD": "He greets Mr. Bean and', 1, NOTHING),
]
WHOLE_ANSWERS: list[tuple[str, int, tuple[str, ...] | str]] = [
    ("I'm sorry, but I can't assist with that request.", 1, REFUSED),
    ('{"summarized_AD": "I cannot create content that depicts violence."}', 1, REFUSED),
    ('{"error": "The description contains graphic violence and cannot be processed."}', 1, REFUSED),
    ('{"summarized_AD_1": "He runs.", "summarized_AD_2": "I cannot write about violence."}', 5, ("He runs.",)),
    ('{"summarized_AD": "..."}\n\n{"summarized_AD": "He runs."}', 1, ("He runs.",)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "candidates", "cut", "expected"),
    [(*row[:2], True, row[2]) for row in CUT] + [(*row[:2], False, row[2]) for row in WHOLE_ANSWERS],
)
def test_half_a_line_and_a_refusal_are_no_line(answer, candidates, cut, expected):
    try:
        found: tuple[str, ...] | str = parse_stage2(answer, candidates, cut=cut)
    except RefusalError:
        found = REFUSED
    except ScriptError:
        found = NOTHING
    assert found == expected


PIECES = (
    *"\"'“”{}[],: \\\n\x00\ud800é", "```", "json", "summarized_AD", "_1", "_2", "He runs.", "1. ", "2) ", "Actions",
    "Main characters", "**", "Description:", "Explanation:", "None", "\\u12", "Sure, here is:", "<think>",
    "</think>", "Shot 1 camera same",
)  # fmt: skip
REPLIES = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))


@given(REPLIES, st.sampled_from([1, 5]))
@example('{"summarized_AD": "\ud800"}', 1)
@example("\\" * 999, 5)
@example('"' * 2000, 5)
@example("{" * 2000, 5)
@example("1. " * 2000, 5)
@example("\n- " * 2000, 5)
@example("I can't " * 2000, 5)
@example("camera shot 1 " * 2000, 5)
def test_any_reply_gives_good_lines_and_steps_or_a_clear_error_in_good_time(
    reply: str, candidates: int
) -> None:
    with suppress(ScriptError):
        parse_stage2(reply, candidates, cut=True)
    with suppress(ScriptError):
        lines = parse_stage2(reply, candidates)
        assert 1 <= len(lines) <= candidates
        for line in lines:
            assert line == " ".join(line.split())
            assert line.rstrip("\"')")[-1] in ".!?…"
            line.encode("utf-8")
    with suppress(ScriptError):
        steps = parse_stage1(reply, STEPS, "s1", "vlm").steps
        assert steps
        assert all(text and text == " ".join(text.split()) for text in steps.values())
