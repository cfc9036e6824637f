"""Answers as models bend them: Qwen2-VL, LLaMA3, GPT-4o, SmolLM2 and their like."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings, strategies as st

from shotad.core import RefusalError, ScriptError
from shotad.description import parse_stage1
from shotad.description.answers import WHOLE, parse_stage2

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
    "numbers only": """1. Ann and Bo.
2. Ann opens the gate. Bo runs.
3. They look at each other.
4. A rusty gate.""",
    "other words for the headings": """1) Characters: Ann and Bo.
2) Character actions: Ann opens the gate. Bo runs.
3) Character-character interactions: They look at each other.
4) Objects: A rusty gate.""",
    "thought aloud": """<think>1. Main characters: a dog? no.</think>
1. Main characters: Ann and Bo.
2. Actions: Ann opens the gate. Bo runs.
3. Interactions: They look at each other.
4. Key objects: A rusty gate.""",
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


GATE = "She opens the gate."
ONE_LINE = {
    "as asked": '{"summarized_AD": "She opens the gate."}',
    "without its braces": '"summarized_AD": "She opens the gate."',
    "fence": '```json\n{"summarized_AD": "She opens the gate."}\n```',
    "text after": '{"summarized_AD": "She opens the gate."}\n\nI focused on the gate.',
    "single quotes": "{'summarized_AD': 'She opens the gate.'}",
    "comma too many": '{"summarized_AD": "She opens the gate.",}',
    "no brace at the end": '{"summarized_AD": "She opens the gate."',
    "no quote at the end": '{"summarized_AD": "She opens the gate}',
    "cut off in the next sentence": '{"summarized_AD": "She opens the gate. Then she',
    "small letter": '{"summarized_AD": "she opens the gate"}',
    "another key": '{"AD": "She opens the gate."}',
    "list under the key": '{"summarized_AD": ["She opens the gate."]}',
    "plain": "She opens the gate.",
    "plain after opening words": "Sure, here is a succinct sentence: She opens the gate.",
    "plain after a shout": "Sure! She opens the gate.",
    "plain with label and markdown": "**Audio description:** She opens the gate.",
    "plain with an afterword": "She opens the gate.\n\nNote: I left out the mood.",
    "numbered": "1. She opens the gate.",
    "thoughts": '<think>{"summarized_AD": "He?"}</think>{"summarized_AD": "She opens the gate."}',
    "five where one is wanted": '{"summarized_AD_1": "She opens the gate.", "summarized_AD_2": "The gate swings."}',
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
    "smart apostrophe": ('{"summarized_AD": "She takes Bo’s hand."}', "She takes Bo's hand."),
    "escaped accents": (r'{"summarized_AD": "Zo\u00eb waits."}', "Zoë waits."),
    "comma and brace inside": (
        '{"summarized_AD": "He runs, falls, and gets up.",',
        "He runs, falls, and gets up.",
    ),
    "brackets": ("The sign [in red] says stop.", "The sign [in red] says stop."),
    "nothing in it but a name": ('{"summarized_AD": "Nonetheless he waits."}', "Nonetheless he waits."),
}


@pytest.mark.parametrize(("reply", "line"), KEPT.values(), ids=KEPT)
def test_what_belongs_to_the_sentence_stays(reply: str, line: str) -> None:
    assert parse_stage2(reply) == (line,)


FIVE = ("He runs.", "She waits.", "Rain falls.", "They turn.", "A door opens.")
KEYED = {f"summarized_AD_{k}": line for k, line in enumerate(FIVE, 1)}
FIVE_LINES = {
    "as asked": json.dumps(KEYED),
    "five objects with one key": "\n".join(json.dumps({"summarized_AD": line}) for line in FIVE),
    "list under one key": json.dumps({"summarized_AD": FIVE}),
    "list that is not closed": json.dumps(list(FIVE))[:-1],
    "no brace at the end": json.dumps(KEYED)[:-1],
    "keys without JSON": "\n".join(f"{key}: {line}" for key, line in KEYED.items()),
    "numbered": "Here are five possible ADs:\n" + "\n".join(f"{k}. {line}" for k, line in enumerate(FIVE, 1)),
    "bullets": "\n".join(f"- {line}" for line in FIVE),
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


LOOKED: dict[str, tuple[tuple[str, ...], str, dict[str, str], str]] = {
    "qwen one paragraph step n": (
        STEPS[:3],
        "In the clip, 1. Main characters: A man. 2. Actions: He runs. 3. Interactions: None.",
        {"Main characters": "A man.", "Actions": "He runs."},
        "",
    ),
    "qwen ans w/ heading in shots": (
        STEPS[:3],
        "Description:\n1. Main characters: In [Shot 1, Shot 2], a man and a boy appear.\n2. Actions: The boy runs to the man.\n3. Interactions: They hug.\nExplanation: [Shot 0, Shot 2] share the same camera setup because both show the porch from the left.",
        {
            "Main characters": "In [Shot 1, Shot 2], a man and a boy appear.",
            "Actions": "The boy runs to the man.",
            "Interactions": "They hug.",
        },
        "[Shot 0, Shot 2] share the same camera setup because both show the porch from the left.",
    ),
    "gpt4o bold sections per shot": (
        STEPS,
        "**Shot 1:**\n\n1. **Main Characters:** Ann stands by the door.\n2. **Actions:** Ann opens it.\n3. **Interactions:** None.\n4. **Key Objects:** A brass key.\n\n**Shot 2:**\n\n1. **Main Characters:** Bo enters.\n2. **Actions:** Bo sits down.\n3. **Interactions:** Ann looks at Bo.\n4. **Key Objects:** A chair.",
        {
            "Main characters": "Ann stands by the door. Bo enters.",
            "Actions": "Ann opens it. Bo sits down.",
            "Interactions": "Ann looks at Bo.",
            "Key objects": "A brass key. A chair.",
        },
        "",
    ),
    "gpt4o headers": (
        STEPS,
        "### Description\n\n#### 1. Main Characters\n- Ann, a tall woman in a green coat\n- Bo, an elderly man\n\n#### 2. Actions\n- Ann lifts the box\n- Bo drops his cane\n\n#### 3. Interactions\n- Ann glances at Bo\n\n#### 4. Key Objects\n- A box, a cane\n\n---\n\n**Explanation:** The shots share the same camera setup since both are taken from behind the counter.",
        {
            "Main characters": "Ann, a tall woman in a green coat. Bo, an elderly man.",
            "Actions": "Ann lifts the box. Bo drops his cane.",
            "Interactions": "Ann glances at Bo.",
            "Key objects": "A box, a cane.",
        },
        "The shots share the same camera setup since both are taken from behind the counter.",
    ),
    "gpt4o steps dash": (
        STEPS[:3],
        "**Step 1 – Main Characters:** Ann.\n\n**Step 2 – Actions:** She runs.\n\n**Step 3 – Interactions:** She waves at Bo.",
        {"Main characters": "Ann.", "Actions": "She runs.", "Interactions": "She waves at Bo."},
        "",
    ),
    "gpt4o identify prefix": (
        STEPS[:3],
        "1. **Main Characters Identified:** Ann and Bo.\n2. **Actions Performed:** Ann rows.\n3. **Interactions Between Characters:** Bo watches her.",
        {"Main characters": "Ann and Bo.", "Actions": "Ann rows.", "Interactions": "Bo watches her."},
        "",
    ),
    "gpt4o refuses identification": (
        STEPS[:3],
        "1. Main characters: I'm sorry, but I can't identify people in images. A man in a blue shirt and a woman.\n2. Actions: The man kneels.\n3. Interactions: The woman takes his hand.",
        {
            "Main characters": "A man in a blue shirt and a woman.",
            "Actions": "The man kneels.",
            "Interactions": "The woman takes his hand.",
        },
        "",
    ),
    "instruction repeated": (
        STEPS[:3],
        "1. Main characters: Say who the main characters are, by what can be seen of them. A bearded man.\n2. Actions: Say who does what, and above all how bodies move. He climbs a ladder.\n3. Interactions: Say what passes between the characters, for example who looks at whom. None.",
        {"Main characters": "A bearded man.", "Actions": "He climbs a ladder."},
        "",
    ),
    "explanation in the middle": (
        STEPS,
        "1. Main characters: Ann.\n2. Actions: Ann digs.\nExplanation: Shot 0 and Shot 2 share the same camera setup.\n3. Interactions: None.\n4. Key objects: A spade.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Key objects": "A spade."},
        "Shot 0 and Shot 2 share the same camera setup.",
    ),
    "thread sentence inside a step": (
        STEPS[:3],
        "1. Main characters: Ann.\n2. Actions: Ann digs. Shot 0 and Shot 2 share the same camera setup because both show the pit from above.\n3. Interactions: Bo watches.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "Shot 0 and Shot 2 share the same camera setup because both show the pit from above.",
    ),
    "afterword": (
        STEPS[:3],
        "1. Main characters: Ann.\n2. Actions: Ann digs.\n3. Interactions: Bo watches.\n\nPlease let me know if you need anything else!",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "nested bullets": (
        STEPS[:3],
        "1. **Main characters**:\n   - **Ann**: a girl in a yellow coat\n   - **Bo**: a dog\n\n2. **Actions**:\n   - Ann throws a ball\n   - Bo catches it\n\n3. **Interactions**:\n   - Ann pats Bo",
        {
            "Main characters": "Ann: a girl in a yellow coat. Bo: a dog.",
            "Actions": "Ann throws a ball. Bo catches it.",
            "Interactions": "Ann pats Bo.",
        },
        "",
    ),
    "smollm run-on": (
        STEPS[:3],
        "The main characters are Ann and Bo. Ann digs a hole. Bo watches her.",
        {"Description": "The main characters are Ann and Bo. Ann digs a hole. Bo watches her."},
        "",
    ),
    "heading then text in next line": (
        STEPS[:3],
        "Main characters\nAnn.\n\nActions\nAnn digs.\n\nInteractions\nBo watches.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "heading and movement": (
        STEPS[:3],
        "1. Characters present: Ann.\n2. Actions and movements: Ann digs.\n3. Character interactions: Bo watches.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "llava-like": (
        STEPS[:3],
        "Here is a brief description of what happens in [Shot 2, Shot 3]:\n\nMain characters: Ann (red), Bo (green)\nActions: Ann digs; Bo sits on a crate\nInteractions: Ann looks at Bo\n\nNote: the coloured circles were not mentioned.",
        {
            "Main characters": "Ann (red), Bo (green).",
            "Actions": "Ann digs; Bo sits on a crate.",
            "Interactions": "Ann looks at Bo.",
        },
        "",
    ),
    "the actions word in text": (
        STEPS[:3],
        "1. Main characters: Ann.\n2. Actions: Ann digs. Her actions: slow and steady.\n3. Interactions: Bo watches.",
        {
            "Main characters": "Ann.",
            "Actions": "Ann digs. Her actions: slow and steady.",
            "Interactions": "Bo watches.",
        },
        "",
    ),
}
"""Steps asked for, answer, steps found, explanation."""


@pytest.mark.parametrize("name", LOOKED)
def test_a_description_is_read(name: str) -> None:
    asked, answer, steps, explanation = LOOKED[name]
    found = parse_stage1(answer, asked, "s1", "vlm")
    assert dict(found.steps) == steps
    assert found.explanation == explanation


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't assist with that.",
        "I'm unable to describe the content of this video.",
        "Sorry, I can't help with identifying people in images.",
        "I apologize, but I cannot provide a description of this scene as it contains graphic violence.",
        "Description:\n1. Main characters: I'm sorry, I can't identify people.",
        '{"error": "This content violates our content policy."}',
        "I can't view images directly, so I cannot describe them.",
        "As an AI language model, I cannot watch videos.",
    ],
)
def test_a_model_that_will_not_look(answer: str) -> None:
    with pytest.raises(RefusalError, match="refused to describe slot s1"):
        parse_stage1(answer, STEPS[:3], "s1", "vlm")


REFUSED, NOTHING = "refused", "nothing"
WROTE: list[tuple[str, int, bool, tuple[str, ...] | str]] = [
    ('assistant\n\n{"summarized_AD": "She opens the gate."}', 1, False, ("She opens the gate.",)),
    ('{"summarized_AD": "\\"She opens the gate.\\""}', 1, False, ("She opens the gate.",)),
    ('summarized_AD = "She opens the gate."', 1, False, ("She opens the gate.",)),
    ("The summarized AD is: She opens the gate.", 1, False, ("She opens the gate.",)),
    ("Based on the description, here is the AD:\n\nShe opens the gate.", 1, False, ("She opens the gate.",)),
    ('{"summarized_AD": "AD: She opens the gate."}', 1, False, ("She opens the gate.",)),
    ('{"summarized_AD": "She opens the gate.", "word_count": 4}', 1, False, ("She opens the gate.",)),
    ('**Summarized AD:** "She opens the gate."', 1, False, ("She opens the gate.",)),
    (
        '{\n"summarized_AD": "She opens the gate."\n}\n\nExplanation: I chose open since it is in the list.',
        1,
        False,
        ("She opens the gate.",),
    ),
    ("I'm sorry, but I can't assist with that request.", 1, False, REFUSED),
    ('{"summarized_AD": "I cannot create content that depicts violence."}', 1, False, REFUSED),
    ("This content violates our content policy.", 1, False, REFUSED),
    ("I understand your request, but I cannot provide a description of graphic violence.", 1, False, REFUSED),
    ('{"error": "The description contains graphic violence and cannot be processed."}', 1, False, REFUSED),
    ("Unfortunately, I am not able to complete this task.", 1, False, REFUSED),
    (
        '{"summarized_AD_1": "He can\'t help falling.", "summarized_AD_2": "She waits."}',
        5,
        False,
        ("He can't help falling.", "She waits."),
    ),
    (
        '{"summarized_AD": "A sign reads \\"Sorry, we\'re closed\\"."}',
        1,
        False,
        ('A sign reads "Sorry, we\'re closed".',),
    ),
    ('{"summarized_AD": "Unfortunately, I"', 1, True, NOTHING),
    ('{"summarized_AD_1": "He runs.", "summarized_AD_2": "She wai', 5, True, ("He runs.",)),
    ("He runs. She wai", 1, True, ("He runs.",)),
    ("He runs to the", 1, True, NOTHING),
    ("1. He runs.\n2. She wa", 5, True, ("He runs.",)),
    ('{"summarized_AD": "He greets Mr. Bean and', 1, True, NOTHING),
    ('{"summarized_AD": "He runs."}', 1, True, ("He runs.",)),
    (
        '{"summarized_AD_1": {"text": "He runs."}, "summarized_AD_2": {"text": "She waits."}}',
        5,
        False,
        ("He runs.", "She waits."),
    ),
    ('{"summarized_ADs": ["He runs.", "She waits."]}', 5, False, ("He runs.", "She waits.")),
    ("**AD 1:** He runs.\n\n**AD 2:** She waits.", 5, False, ("He runs.", "She waits.")),
    (
        "1. **He runs.**\n2. **She waits.**\n\nThese sentences stress different actions.",
        5,
        False,
        ("He runs.", "She waits."),
    ),
    (
        "Sure! Here are five possible ADs:\n\n- He runs.\n- She waits.\n\nLet me know!",
        5,
        False,
        ("He runs.", "She waits."),
    ),
    ('{"summarized_AD": "..."}\n\n{"summarized_AD": "He runs."}', 1, False, ("He runs.",)),
]
"""Answer, candidates asked for, whether it was cut off, and the lines in it."""


@pytest.mark.parametrize(("answer", "candidates", "cut", "expected"), WROTE)
def test_lines_are_read_or_their_lack_is_named(
    answer: str, candidates: int, cut: bool, expected: tuple[str, ...] | str
) -> None:
    try:
        found: tuple[str, ...] | str = parse_stage2(answer, candidates, cut=cut)
    except RefusalError:
        found = REFUSED
    except ScriptError:
        found = NOTHING
    assert found == expected


@pytest.mark.parametrize("length", range(12, 75, 3))
def test_an_answer_cut_off_anywhere_gives_no_half_line(length: int) -> None:
    whole = '{"summarized_AD_1": "He opens the gate.", "summarized_AD_2": "She runs."}'
    try:
        found = parse_stage2(whole[:length], 5, cut=True)
    except ScriptError:
        found = ()
    assert set(found) <= {"He opens the gate.", "She runs."}


def test_a_refusal_among_lines_is_no_line() -> None:
    answer = '{"summarized_AD_1": "He runs.", "summarized_AD_2": "I cannot write about violence."}'
    assert parse_stage2(answer, 5) == ("He runs.",)


@pytest.mark.parametrize(
    "line",
    [
        "He can't help laughing.",
        "She cannot open the door.",
        'A sign reads "Sorry, closed".',
        "Unfortunately for him, the rope snaps.",
        "The assistant hands him a scalpel.",
        "He refuses the drink.",
        "A nude statue stands in the hall.",
        "He is unable to lift the hatch.",
    ],
)
def test_a_line_that_only_sounds_like_a_refusal_is_one(line: str) -> None:
    assert parse_stage2(line) == (line,)


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
