"""Replies as models give them, whole and broken."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings, strategies as st

from shotad.core import ScriptError
from shotad.description import parse_stage1
from shotad.description.stage1_answer import WHOLE
from shotad.description.stage2_answer import parse_stage2

STEPS = ("Main characters", "Actions", "Interactions", "Key objects")
ANSWER = {
    "Main characters": "Ann and Bo.",
    "Actions": "Ann opens the gate. Bo runs.",
    "Interactions": "They look at each other.",
    "Key objects": "A rusty gate.",
}

WELL_UNDERSTOOD = {
    "as asked": """Description:
1. Main characters: Ann and Bo.
2. Actions: Ann opens the gate. Bo runs.
3. Interactions: They look at each other.
4. Key objects: A rusty gate.""",
    "template quotes": """Description:
1. Main characters: 'Ann and Bo';
2. Actions: 'Ann opens the gate. Bo runs.';
3. Interactions: 'They look at each other';
4. Key objects: 'A rusty gate'.""",
    "bold headings": """**Description:**

1. **Main characters:** Ann and Bo.
2. **Actions**: Ann opens the gate. Bo runs.
3. **Interactions:** They look at each other.
4. **Key objects:** A rusty gate.""",
    "markdown sections": """### Main characters
Ann and Bo.

### Actions
- Ann opens the gate.
- Bo runs.

### Interactions
They look at each other.

### Key objects
A rusty gate.""",
    "no numbers": """Main characters: Ann and Bo
Actions: Ann opens the gate. Bo runs.
Interactions: They look at each other
Key objects: A rusty gate""",
    "text before": """Sure! Here is the description you asked for.

Description:
1. Main characters: Ann and Bo.
2. Actions: Ann opens the gate. Bo runs.
3. Interactions: They look at each other.
4. Key objects: A rusty gate.""",
    "the form repeated first": """Description:
1. Main characters: ...
2. Actions: ...
3. Interactions: ...
4. Key objects: ...

Description:
1. Main characters: Ann and Bo.
2. Actions: Ann opens the gate. Bo runs.
3. Interactions: They look at each other.
4. Key objects: A rusty gate.""",
    "one paragraph": (
        "1. Main characters: Ann and Bo. 2. Actions: Ann opens the gate. Bo runs. "
        "3. Interactions: They look at each other. 4. Key objects: A rusty gate."
    ),
    "one paragraph without numbers": (
        "Main characters: Ann and Bo. Actions: Ann opens the gate. Bo runs. "
        "Interactions: They look at each other. Key objects: A rusty gate."
    ),
    "numbers only": """1. Ann and Bo.
2. Ann opens the gate. Bo runs.
3. They look at each other.
4. A rusty gate.""",
    "other words for the headings": """1) Characters: Ann and Bo.
2) Character actions: Ann opens the gate. Bo runs.
3) Character-character interactions: They look at each other.
4) Objects: A rusty gate.""",
    "another order": """4. Key objects: A rusty gate.
2. Actions: Ann opens the gate. Bo runs.
1. Main characters: Ann and Bo.
3. Interactions: They look at each other.""",
    "smart quotes and dashes": """1. Main characters – Ann and Bo.
2. Actions – Ann opens the gate. Bo runs.
3. Interactions – They look at each other.
4. Key objects – A rusty gate.""",
    "thought aloud": """<think>1. Main characters: a dog? no.</think>
1. Main characters: Ann and Bo.
2. Actions: Ann opens the gate. Bo runs.
3. Interactions: They look at each other.
4. Key objects: A rusty gate.""",
    "steps": """Step 1: **Main characters:** Ann and Bo.
Step 2: **Actions:** Ann opens the gate. Bo runs.
Step 3: **Interactions：** They look at each other.
Step 4: **Key objects:** A rusty gate.""",
    "steps in a row": (
        "Step 1: Main characters: Ann and Bo. Step 2: Actions: Ann opens the gate. Bo runs. "
        "Step 3: Interactions: They look at each other. Step 4: Key objects: A rusty gate."
    ),
    "shot by shot": """Shot 1
Description:
1. Main characters: Ann and Bo.
2. Actions: Ann opens the gate.
3. Interactions: They look at each other.
4. Key objects: None.
Description:
1. Main characters: N/A
2. Actions: Bo runs.
3. Interactions:
4. Key objects: A rusty gate.""",
}


@pytest.mark.parametrize("reply", WELL_UNDERSTOOD.values(), ids=WELL_UNDERSTOOD)
def test_steps_of_a_bent_answer_are_found(reply: str) -> None:
    found = parse_stage1(reply, STEPS, "s00001000", "vlm", {"seen": 3})
    assert dict(found.steps) == ANSWER
    assert list(found.steps) == list(STEPS)
    assert (found.slot_id, found.engine, found.raw, dict(found.notes)) == (
        "s00001000",
        "vlm",
        reply,
        {"seen": 3},
    )
    assert found.explanation == ""


EXPLAINED = {
    "as asked": "Description:\n1. Main characters: Ann.\n2. Actions: Ann runs.\n\nExplanation: Both look down the hall.",
    "bold": "1. **Main characters:** Ann.\n2. **Actions:** Ann runs.\n\n**Explanation:** Both look down the hall.",
    "numbered": "1. Main characters: Ann.\n2. Actions: Ann runs.\n3. Explanation: Both look down the hall.",
    "run on": "1. Main characters: Ann. 2. Actions: Ann runs. Explanation: Both look down the hall.",
    "in front": "Explanation: Both look down the hall.\nDescription:\n1. Main characters: Ann.\n2. Actions: Ann runs.",
}


@pytest.mark.parametrize("reply", EXPLAINED.values(), ids=EXPLAINED)
def test_explanation_is_kept_apart(reply: str) -> None:
    found = parse_stage1(reply, STEPS, "s1", "vlm")
    assert dict(found.steps) == {"Main characters": "Ann.", "Actions": "Ann runs."}
    assert found.explanation == "Both look down the hall."
    assert "hall" not in found.text


@pytest.mark.parametrize("gap", [" ", "\n", "\n\n"])
def test_thread_sentence_without_its_heading_is_kept_apart_too(gap: str) -> None:
    sentence = "Shot 0 and Shot 2 share the same camera angle because both show the desk."
    found = parse_stage1(
        f"1. Main characters: Ann.\n2. Actions: Ann runs.{gap}{sentence}", STEPS, "s1", "vlm"
    )
    assert found.explanation == sentence
    assert dict(found.steps) == {"Main characters": "Ann.", "Actions": "Ann runs."}


def test_a_camera_in_the_scene_stays_in_the_description() -> None:
    found = parse_stage1("2. Actions: Ann lifts the camera and shoots.", STEPS, "s1", "vlm")
    assert dict(found.steps) == {"Actions": "Ann lifts the camera and shoots."}


def test_answer_without_steps_is_kept_whole() -> None:
    found = parse_stage1("Ann opens the gate, and Bo\nruns through it", STEPS, "s1", "vlm")
    assert dict(found.steps) == {WHOLE: "Ann opens the gate, and Bo runs through it."}


def test_a_step_that_was_not_asked_for_does_not_end_up_in_the_one_before() -> None:
    found = parse_stage1(
        "1. Main characters: Ann.\n2. Actions: Ann runs.\n3. Environment: A hall.", STEPS[:3], "s", "v"
    )
    assert dict(found.steps) == {"Main characters": "Ann.", "Actions": "Ann runs.", "Environment": "A hall."}


def test_headings_of_a_persons_own_prompt_are_found() -> None:
    found = parse_stage1("1. Who (on stage): Ann.\n2. What: She runs.", ("Who (on stage)", "What"), "s", "v")
    assert dict(found.steps) == {"Who (on stage)": "Ann.", "What": "She runs."}


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "  \n ",
        "Description:",
        "1. Main characters: None\n2. Actions: N/A",
        "Explanation: both alike.",
        "***",
        "...",
    ],
)
def test_empty_stage1_answer_says_so(reply: str) -> None:
    with pytest.raises(ScriptError, match="described nothing of slot s00001000"):
        parse_stage1(reply, STEPS, "s00001000", "vlm")


@pytest.mark.parametrize(
    "reply", ["I'm sorry, but I can't help with that.", "As an AI language model, I cannot see."]
)
def test_refusal_is_no_description(reply: str) -> None:
    with pytest.raises(ScriptError, match="refused to describe slot s1"):
        parse_stage1(reply, STEPS, "s1", "vlm")


GATE = "She opens the gate."
ONE_LINE = {
    "as asked": '{"summarized_AD": "She opens the gate."}',
    "without its braces": '"summarized_AD": "She opens the gate."',
    "fence": '```json\n{"summarized_AD": "She opens the gate."}\n```',
    "fence on one line": '```{"summarized_AD": "She opens the gate."}```',
    "text before": 'Sure, here is the AD:\n\n{"summarized_AD": "She opens the gate."}',
    "text after": '{"summarized_AD": "She opens the gate."}\n\nI focused on the gate.',
    "single quotes": "{'summarized_AD': 'She opens the gate.'}",
    "smart quotes": "{“summarized_AD”: “She opens the gate.”}",
    "comma too many": '{"summarized_AD": "She opens the gate.",}',
    "no brace at the end": '{"summarized_AD": "She opens the gate."',
    "no quote at the end": '{"summarized_AD": "She opens the gate}',
    "cut off in the next sentence": '{"summarized_AD": "She opens the gate. Then she',
    "no quotes": "{summarized_AD: She opens the gate}",
    "no full stop": '{"summarized_AD": "She opens the gate"}',
    "small letter": '{"summarized_AD": "she opens the gate"}',
    "key without JSON": "summarized_AD: She opens the gate.",
    "british key": '{"summarised_AD": "She opens the gate."}',
    "another key": '{"AD": "She opens the gate."}',
    "list": '["She opens the gate."]',
    "list under the key": '{"summarized_AD": ["She opens the gate."]}',
    "nested": '{"result": {"summarized_AD": "She opens the gate."}}',
    "broken over lines": '{\n  "summarized_AD":\n    "She opens\nthe gate."\n}',
    "plain": "She opens the gate.",
    "plain in quotes": '"She opens the gate."',
    "plain after opening words": "Sure, here is a succinct sentence: She opens the gate.",
    "plain after a shout": "Sure! She opens the gate.",
    "plain with a label": "AD: She opens the gate.",
    "plain with label and markdown": "**Audio description:** She opens the gate.",
    "plain with an afterword": "She opens the gate.\n\nNote: I left out the mood.",
    "afterword on the next line": "She opens the gate.\n(Note: 4 words)",
    "numbered": "1. She opens the gate.",
    "word count": '{"summarized_AD": "She opens the gate. (4 words)"}',
    "thoughts": '<think>{"summarized_AD": "He?"}</think>{"summarized_AD": "She opens the gate."}',
    "five where one is wanted": '{"summarized_AD_1": "She opens the gate.", "summarized_AD_2": "The gate swings."}',
    "markdown in the value": '{"summarized_AD": "*She* opens the **gate**."}',
    "several lines of blanks": '{"summarized_AD":   "  She  opens the\\n gate.  "}',
    "byte order mark": '\ufeff{"summarized_AD": "She opens the gate."}',
}


@pytest.mark.parametrize("reply", ONE_LINE.values(), ids=ONE_LINE)
def test_one_line_is_found(reply: str) -> None:
    assert parse_stage2(reply) == (GATE,)


KEPT = {
    "escaped quotes": (
        r'{"summarized_AD": "He reads \"Closed\" on the door."}',
        'He reads "Closed" on the door.',
    ),
    "bare quotes": ('{"summarized_AD": "He reads "Closed" on the door."}', 'He reads "Closed" on the door.'),
    "bare quotes before a comma": (
        '{"summarized_AD": "He reads "Closed", then turns."}',
        'He reads "Closed", then turns.',
    ),
    "apostrophe": ("{'summarized_AD': 'She takes Bo's hand.'}", "She takes Bo's hand."),
    "escaped apostrophe": (r"{'summarized_AD': 'She takes Bo\'s hand.'}", "She takes Bo's hand."),
    "smart apostrophe": ('{"summarized_AD": "She takes Bo’s hand."}', "She takes Bo's hand."),
    "accents": ('{"summarized_AD": "Zoë waits in the café."}', "Zoë waits in the café."),
    "escaped accents": (r'{"summarized_AD": "Zo\u00eb waits."}', "Zoë waits."),
    "question": ('{"summarized_AD": "Words appear: Who goes there?"}', "Words appear: Who goes there?"),
    "ends in a quote": (r'{"summarized_AD": "The sign reads \"Closed.\""}', 'The sign reads "Closed."'),
    "comma and brace inside": (
        '{"summarized_AD": "He runs, falls, and gets up.",',
        "He runs, falls, and gets up.",
    ),
    "sure-footed": ("Sure-footed, he climbs the rock.", "Sure-footed, he climbs the rock."),
    "brackets": ("The sign [in red] says stop.", "The sign [in red] says stop."),
    "number first": ("10 riders cross the ridge.", "10 riders cross the ridge."),
    "two sentences": ('{"summarized_AD": "He runs. She waits."}', "He runs. She waits."),
    "nothing in it but a name": ('{"summarized_AD": "Nonetheless he waits."}', "Nonetheless he waits."),
}


@pytest.mark.parametrize(("reply", "line"), KEPT.values(), ids=KEPT)
def test_what_belongs_to_the_sentence_stays(reply: str, line: str) -> None:
    assert parse_stage2(reply) == (line,)


FIVE = ("He runs.", "She waits.", "Rain falls.", "They turn.", "A door opens.")
KEYED = {f"summarized_AD_{k}": line for k, line in enumerate(FIVE, 1)}
FIVE_LINES = {
    "as asked": json.dumps(KEYED),
    "indented in a fence": f"Here are five:\n```json\n{json.dumps(KEYED, indent=2)}\n```",
    "five objects": "\n".join(json.dumps({key: line}) for key, line in KEYED.items()),
    "five objects with one key": "\n".join(json.dumps({"summarized_AD": line}) for line in FIVE),
    "list of objects": json.dumps([{"summarized_AD": line} for line in FIVE]),
    "list": json.dumps(list(FIVE)),
    "list under one key": json.dumps({"summarized_AD": FIVE}),
    "list in single quotes": str(list(FIVE)),
    "list that is not closed": json.dumps(list(FIVE))[:-1],
    "single quotes": str(KEYED),
    "no brace at the end": json.dumps(KEYED)[:-1],
    "comma too many": json.dumps(KEYED)[:-1] + ",}",
    "no commas": json.dumps(KEYED, indent=1).replace('",', '"'),
    "keys without JSON": "\n".join(f"{key}: {line}" for key, line in KEYED.items()),
    "keys in another order": json.dumps(dict(reversed(KEYED.items()))),
    "numbered": "Here are five possible ADs:\n" + "\n".join(f"{k}. {line}" for k, line in enumerate(FIVE, 1)),
    "numbered in one line": " ".join(f"{k}. {line}" for k, line in enumerate(FIVE, 1)),
    "bullets": "\n".join(f"- {line}" for line in FIVE),
    "lines": "\n\n".join(FIVE),
    "labelled": "\n".join(f"AD {k}: {line}" for k, line in enumerate(FIVE, 1)),
}


@pytest.mark.parametrize("reply", FIVE_LINES.values(), ids=FIVE_LINES)
def test_five_lines_are_found(reply: str) -> None:
    assert parse_stage2(reply, 5) == FIVE


def test_fewer_lines_than_asked_for_are_used_and_none_twice() -> None:
    reply = '{"summarized_AD_1": "He runs.", "summarized_AD_2": "", "summarized_AD_3": "He runs"}'
    assert parse_stage2(reply, 5) == ("He runs.",)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "{}",
        "[]",
        "null",
        "```json\n```",
        '{"summarized_AD": ""}',
        '{"summarized_AD": "..."}',
        '{"summarized_AD": ',
        '{"summarized_AD": "She opens the',
        '{"summarized_AD": null}',
        '{"summarized_AD": "N/A"}',
        "Here is the AD:",
        "***",
        "{{{{",
        "[" * 100_000,
    ],
)
def test_empty_stage2_answer_says_so(reply: str) -> None:
    with pytest.raises(ScriptError, match="wrote no whole line") as caught:
        parse_stage2(reply)
    assert caught.value.hint
    assert len(caught.value.what) < 200


@pytest.mark.parametrize("reply", ["I'm sorry, I can't do that.", "I cannot assist with this request."])
def test_refusal_is_no_line(reply: str) -> None:
    with pytest.raises(ScriptError, match="refused"):
        parse_stage2(reply)


PIECES = st.sampled_from(
    [
        '"',
        "'",
        "“",
        "”",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\\",
        "\n",
        "```",
        "json",
        "summarized_AD",
        "_1",
        "_2",
        "He runs.",
        "1. ",
        "2) ",
        "Actions",
        "Main characters",
        "**",
        "Description:",
        "Explanation:",
        " ",
        "None",
        "\\u12",
        "\ud800",
        "é",
        "Sure, here is:",
        "<think>",
        "</think>",
        "\x00",
        "Shot 1 camera same",
    ]
)
REPLIES = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join))


@settings(deadline=None)
@given(REPLIES, st.sampled_from([1, 5]))
@example('{"summarized_AD": "\ud800"}', 1)
@example("\\" * 999, 5)
def test_any_reply_gives_good_lines_or_a_clear_error(reply: str, candidates: int) -> None:
    try:
        lines = parse_stage2(reply, candidates)
    except ScriptError:
        return
    assert 1 <= len(lines) <= candidates
    for line in lines:
        assert line == " ".join(line.split())
        assert line.rstrip("\"')")[-1] in ".!?…"
        line.encode("utf-8")


@settings(deadline=None)
@given(REPLIES)
def test_any_reply_gives_steps_or_a_clear_error(reply: str) -> None:
    try:
        found = parse_stage1(reply, STEPS, "s1", "vlm")
    except ScriptError:
        return
    assert found.steps
    assert all(text and text == " ".join(text.split()) for text in found.steps.values())


@pytest.mark.parametrize(
    "noise",
    [
        " ",
        "-",
        "*",
        "\n",
        "1. ",
        '"',
        "{",
        "\\",
        "camera shot 1 ",
        "Actions: ",
        "here is ",
        "Explanation: ",
        "1. Main characters: ",
        "| a ",
        "\n- ",
        '"a": ',
        "Description: ",
        "I can't ",
        "''",
    ],
)
def test_a_model_that_repeats_itself_is_read_in_good_time(noise: str) -> None:
    reply = noise * 4000
    for parse in (
        lambda: parse_stage2(reply, 5),
        lambda: parse_stage2(reply, 5, cut=True),
        lambda: parse_stage1(reply, STEPS, "s1", "vlm"),
    ):
        try:
            parse()
        except ScriptError:
            continue
