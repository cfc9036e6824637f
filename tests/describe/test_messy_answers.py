"""Answers as models really bend them: Qwen2-VL, LLaMA3, GPT-4o, SmolLM2 and their like.

Each is written after the manner of such a model; the expected reading was checked by eye.
"""

from __future__ import annotations

import pytest

from shotad.core import RefusalError, ScriptError
from shotad.description import parse_stage1
from shotad.description.stage2_answer import parse_stage2

FOUR = ("Main characters", "Actions", "Interactions", "Key objects")
THREE = FOUR[:3]

LOOKED: dict[str, tuple[tuple[str, ...], str, dict[str, str], str]] = {
    "qwen plain": (
        THREE,
        "Description:\n1. Main characters: The main characters are a man in a suit and a woman with red hair.\n2. Actions: The man walks up the stairs. The woman follows him.\n3. Interactions: The woman looks at the man.",
        {
            "Main characters": "The main characters are a man in a suit and a woman with red hair.",
            "Actions": "The man walks up the stairs. The woman follows him.",
            "Interactions": "The woman looks at the man.",
        },
        "",
    ),
    "qwen one paragraph step n": (
        THREE,
        "In the clip, 1. Main characters: A man. 2. Actions: He runs. 3. Interactions: None.",
        {"Main characters": "A man.", "Actions": "He runs."},
        "",
    ),
    "qwen ans w/ heading in shots": (
        THREE,
        "Description:\n1. Main characters: In [Shot 1, Shot 2], a man and a boy appear.\n2. Actions: The boy runs to the man.\n3. Interactions: They hug.\nExplanation: [Shot 0, Shot 2] share the same camera setup because both show the porch from the left.",
        {
            "Main characters": "In [Shot 1, Shot 2], a man and a boy appear.",
            "Actions": "The boy runs to the man.",
            "Interactions": "They hug.",
        },
        "[Shot 0, Shot 2] share the same camera setup because both show the porch from the left.",
    ),
    "gpt4o bold sections per shot": (
        FOUR,
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
        FOUR,
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
        THREE,
        "**Step 1 – Main Characters:** Ann.\n\n**Step 2 – Actions:** She runs.\n\n**Step 3 – Interactions:** She waves at Bo.",
        {"Main characters": "Ann.", "Actions": "She runs.", "Interactions": "She waves at Bo."},
        "",
    ),
    "gpt4o identify prefix": (
        THREE,
        "1. **Main Characters Identified:** Ann and Bo.\n2. **Actions Performed:** Ann rows.\n3. **Interactions Between Characters:** Bo watches her.",
        {"Main characters": "Ann and Bo.", "Actions": "Ann rows.", "Interactions": "Bo watches her."},
        "",
    ),
    "gpt4o refuses identification": (
        THREE,
        "1. Main characters: I'm sorry, but I can't identify people in images. A man in a blue shirt and a woman.\n2. Actions: The man kneels.\n3. Interactions: The woman takes his hand.",
        {
            "Main characters": "A man in a blue shirt and a woman.",
            "Actions": "The man kneels.",
            "Interactions": "The woman takes his hand.",
        },
        "",
    ),
    "instruction repeated": (
        THREE,
        "1. Main characters: Say who the main characters are, by what can be seen of them. A bearded man.\n2. Actions: Say who does what, and above all how bodies move. He climbs a ladder.\n3. Interactions: Say what passes between the characters, for example who looks at whom. None.",
        {"Main characters": "A bearded man.", "Actions": "He climbs a ladder."},
        "",
    ),
    "explanation in the middle": (
        FOUR,
        "1. Main characters: Ann.\n2. Actions: Ann digs.\nExplanation: Shot 0 and Shot 2 share the same camera setup.\n3. Interactions: None.\n4. Key objects: A spade.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Key objects": "A spade."},
        "Shot 0 and Shot 2 share the same camera setup.",
    ),
    "explanation numbered middle": (
        FOUR,
        "1. Main characters: Ann.\n2. Actions: Ann digs.\n3. Explanation: Both shots show the pit.\n4. Interactions: None.\n5. Key objects: A spade.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Key objects": "A spade."},
        "Both shots show the pit.",
    ),
    "thread sentence inside a step": (
        THREE,
        "1. Main characters: Ann.\n2. Actions: Ann digs. Shot 0 and Shot 2 share the same camera setup because both show the pit from above.\n3. Interactions: Bo watches.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "Shot 0 and Shot 2 share the same camera setup because both show the pit from above.",
    ),
    "afterword": (
        THREE,
        "1. Main characters: Ann.\n2. Actions: Ann digs.\n3. Interactions: Bo watches.\n\nPlease let me know if you need anything else!",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "overall": (
        THREE,
        "1. Main characters: Ann.\n2. Actions: Ann digs.\n3. Interactions: Bo watches.\n\nOverall, the scene conveys a sense of dread.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "json": (
        THREE,
        '```json\n{"Description": {"1. Main characters": "Ann", "2. Actions": "Ann digs.", "3. Interactions": "Bo watches."}, "Explanation": "Both show the pit."}\n```',
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "Both show the pit.",
    ),
    "json lists": (
        THREE,
        '{"main_characters": ["Ann", "Bo"], "actions": ["Ann digs.", "Bo sits."], "interactions": "Bo watches Ann."}',
        {"Main characters": "Ann. Bo.", "Actions": "Ann digs. Bo sits.", "Interactions": "Bo watches Ann."},
        "",
    ),
    "json broken": (
        THREE,
        '{"Main characters": "Ann",\n "Actions": "Ann digs.",\n "Interactions": "Bo watches',
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "table": (
        THREE,
        "| Step | Description |\n|---|---|\n| 1. Main characters | Ann |\n| 2. Actions | Ann digs. |\n| 3. Interactions | Bo watches. |",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "table 3": (
        THREE,
        "| 1 | Main characters | Ann |\n|---|---|---|\n| 2 | Actions | Ann digs. |\n| 3 | Interactions | Bo watches. |",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "nested bullets": (
        THREE,
        "1. **Main characters**:\n   - **Ann**: a girl in a yellow coat\n   - **Bo**: a dog\n\n2. **Actions**:\n   - Ann throws a ball\n   - Bo catches it\n\n3. **Interactions**:\n   - Ann pats Bo",
        {
            "Main characters": "Ann: a girl in a yellow coat. Bo: a dog.",
            "Actions": "Ann throws a ball. Bo catches it.",
            "Interactions": "Ann pats Bo.",
        },
        "",
    ),
    "letters": (
        THREE,
        "a) Main characters: Ann.\nb) Actions: Ann digs.\nc) Interactions: Bo watches.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "roman": (
        THREE,
        "I. Main characters: Ann.\nII. Actions: Ann digs.\nIII. Interactions: Bo watches.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "smollm run-on": (
        THREE,
        "The main characters are Ann and Bo. Ann digs a hole. Bo watches her.",
        {"Description": "The main characters are Ann and Bo. Ann digs a hole. Bo watches her."},
        "",
    ),
    "smollm echo": (
        THREE,
        "Description:\n1. Main characters: ...\n2. Actions: Ann digs.\n3. Interactions: ...",
        {"Actions": "Ann digs."},
        "",
    ),
    "numbers paren": (
        THREE,
        "(1) Ann and Bo.\n(2) Ann digs.\n(3) Bo watches.",
        {"Main characters": "Ann and Bo.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "caps": (
        THREE,
        "MAIN CHARACTERS: Ann.\nACTIONS: Ann digs.\nINTERACTIONS: Bo watches.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "step with paren": (
        THREE,
        "Step 1 (Main characters): Ann.\nStep 2 (Actions): Ann digs.\nStep 3 (Interactions): Bo watches.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "heading then text in next line": (
        THREE,
        "Main characters\nAnn.\n\nActions\nAnn digs.\n\nInteractions\nBo watches.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "heading and movement": (
        THREE,
        "1. Characters present: Ann.\n2. Actions and movements: Ann digs.\n3. Character interactions: Bo watches.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "camera setup heading": (
        THREE,
        "1. Main characters: Ann.\n2. Actions: Ann digs.\n3. Interactions: Bo watches.\n\nShared camera setup: Both show the pit.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "Both show the pit.",
    ),
    "chinese colon": (
        THREE,
        "1. Main characters：Ann。\n2. Actions：Ann digs.\n3. Interactions：Bo watches.",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "llava-like": (
        THREE,
        "Here is a brief description of what happens in [Shot 2, Shot 3]:\n\nMain characters: Ann (red), Bo (green)\nActions: Ann digs; Bo sits on a crate\nInteractions: Ann looks at Bo\n\nNote: the coloured circles were not mentioned.",
        {
            "Main characters": "Ann (red), Bo (green).",
            "Actions": "Ann digs; Bo sits on a crate.",
            "Interactions": "Ann looks at Bo.",
        },
        "",
    ),
    "trailing end tokens": (
        THREE,
        "1. Main characters: Ann.\n2. Actions: Ann digs.\n3. Interactions: Bo watches.<|im_end|>",
        {"Main characters": "Ann.", "Actions": "Ann digs.", "Interactions": "Bo watches."},
        "",
    ),
    "the actions word in text": (
        THREE,
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
        parse_stage1(answer, THREE, "s1", "vlm")


REFUSED, NOTHING = "refused", "nothing"
WROTE: list[tuple[str, int, bool, tuple[str, ...] | str]] = [
    ('{"summarized_AD": "She opens the gate."}', 1, False, ("She opens the gate.",)),
    ('{"summarized_AD":"She opens the gate."}<|eot_id|>', 1, False, ("She opens the gate.",)),
    ('assistant\n\n{"summarized_AD": "She opens the gate."}', 1, False, ("She opens the gate.",)),
    (
        'Here is the summarized AD in JSON format:\n\n```json\n{\n  "summarized_AD": "She opens the gate."\n}\n```\n\nLet me know if you need further changes.',
        1,
        False,
        ("She opens the gate.",),
    ),
    (
        '{"summarized_AD": "She opens the gate."}\n{"summarized_AD": "He waits."}',
        1,
        False,
        ("She opens the gate.",),
    ),
    ('{"summarized_AD": "\\"She opens the gate.\\""}', 1, False, ("She opens the gate.",)),
    ('"summarized_AD": She opens the gate.', 1, False, ("She opens the gate.",)),
    ('summarized_AD = "She opens the gate."', 1, False, ("She opens the gate.",)),
    ('{"summarized_AD": "She opens the gate"}}', 1, False, ("She opens the gate.",)),
    ('{"summarized_AD: "She opens the gate."}', 1, False, ("She opens the gate.",)),
    ('{summarized_AD: "She opens the gate."}', 1, False, ("She opens the gate.",)),
    ('{"summarized AD": "She opens the gate."}', 1, False, ("She opens the gate.",)),
    ('{"Summarized_AD": "She opens the gate."}', 1, False, ("She opens the gate.",)),
    ('{"summarized_AD": "She opens the gate." // 4 words\n}', 1, False, ("She opens the gate.",)),
    ("The summarized AD is: She opens the gate.", 1, False, ("She opens the gate.",)),
    ("Based on the description, here is the AD:\n\nShe opens the gate.", 1, False, ("She opens the gate.",)),
    ('Answer:\n{"summarized_AD": "She opens the gate."}', 1, False, ("She opens the gate.",)),
    (
        '<think>\nThe user wants one.\n</think>\n\n{"summarized_AD": "She opens the gate."}',
        1,
        False,
        ("She opens the gate.",),
    ),
    ('{"summarized_AD": "AD: She opens the gate."}', 1, False, ("She opens the gate.",)),
    ('{"summarized_AD": "She opens the gate.", "word_count": 4}', 1, False, ("She opens the gate.",)),
    ('{"word_count": 4, "summarized_AD": "She opens the gate."}', 1, False, ("She opens the gate.",)),
    ('**Summarized AD:** "She opens the gate."', 1, False, ("She opens the gate.",)),
    ("She opens the gate. (4 words)", 1, False, ("She opens the gate.",)),
    (
        '{\n"summarized_AD": "She opens the gate."\n}\n\nExplanation: I chose open since it is in the list.',
        1,
        False,
        ("She opens the gate.",),
    ),
    ("I'm sorry, but I can't assist with that request.", 1, False, REFUSED),
    ('{"summarized_AD": "I\'m sorry, but I can\'t help with that."}', 1, False, REFUSED),
    ('{"summarized_AD": "I cannot create content that depicts violence."}', 1, False, REFUSED),
    ("I can't fulfill this request.", 1, False, REFUSED),
    ("I cannot generate content that is sexually explicit.", 1, False, REFUSED),
    ("This content violates our content policy.", 1, False, REFUSED),
    ("I apologize, but I'm not able to describe scenes with nudity.", 1, False, REFUSED),
    ("As an AI language model, I cannot write that.", 1, False, REFUSED),
    ("I understand your request, but I cannot provide a description of graphic violence.", 1, False, REFUSED),
    ("Sorry, I can't help with this.", 5, False, REFUSED),
    ('{"error": "The description contains graphic violence and cannot be processed."}', 1, False, REFUSED),
    (
        '{"summarized_AD_1": "I\'m sorry, I can\'t assist with that.", "summarized_AD_2": ""}',
        5,
        False,
        REFUSED,
    ),
    ("I won't be able to help with that.", 1, False, REFUSED),
    ("I'm unable to assist with explicit content.", 1, False, REFUSED),
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
    ('{"summarized_AD_1": "He runs", "summarized_AD_2": "She wai', 5, True, ("He runs.",)),
    ("He runs. She wai", 1, True, ("He runs.",)),
    ("He runs to the", 1, True, NOTHING),
    ("1. He runs.\n2. She wa", 5, True, ("He runs.",)),
    ("1. He runs\n2. She wa", 5, True, ("He runs.",)),
    ('{"summarized_AD": "He greets Mr. Bean and', 1, True, NOTHING),
    ('{"summarized_AD": "He runs."}', 1, True, ("He runs.",)),
    (
        '1. {"summarized_AD": "He runs."}\n2. {"summarized_AD": "She waits."}',
        5,
        False,
        ("He runs.", "She waits."),
    ),
    (
        '{"summarized_AD_1": {"text": "He runs."}, "summarized_AD_2": {"text": "She waits."}}',
        5,
        False,
        ("He runs.", "She waits."),
    ),
    (
        '[{"summarized_AD_1": "He runs."}, {"summarized_AD_2": "She waits."}]',
        5,
        False,
        ("He runs.", "She waits."),
    ),
    ('{"summarized_ADs": ["He runs.", "She waits."]}', 5, False, ("He runs.", "She waits.")),
    ("**AD 1:** He runs.\n\n**AD 2:** She waits.", 5, False, ("He runs.", "She waits.")),
    ("Option 1: He runs.\nOption 2: She waits.", 5, False, ("He runs.", "She waits.")),
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
    ("| 1 | He runs. |\n| 2 | She waits. |", 5, False, ("He runs.", "She waits.")),
    ('Candidate 1: "He runs."\nCandidate 2: "She waits."', 5, False, ("He runs.", "She waits.")),
    (
        '{"summarized_AD_1": "He runs.", "summarized_AD_1": "She waits."}',
        5,
        False,
        ("He runs.", "She waits."),
    ),
    ('{"AD1": "He runs.", "AD2": "She waits."}', 5, False, ("He runs.", "She waits.")),
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
