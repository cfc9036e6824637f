"""Thoughts within answers: whoever reads an answer gets what is meant, and never a thought as the line."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.core.errors import OnlyThoughts, ScriptError
from shotad.description.answers import parse_stage1, parse_stage2
from shotad.description.choice import choice_in
from shotad.description.story import parse_memory_update
from shotad.description.translation.prompt import read_answer
from shotad.description.verify import parse_verdicts
from shotad.engines import after_thoughts, is_only_thought
from tests.bad_server import answer
from tests.describe.prompting import SHARED
from tests.describe.slot_run import SEEN, ScriptedSlot, lines_json, run_slots
from tests.endpoint import ask
from tests.engines.test_local_answers import ask as ask_local, request
from tests.language_models import make_llama

GIVEN = SHARED / "faults" / "answers" / "thoughts.jsonl"

DRAFT = 'A draft: {"summarized_AD": "A man runs."}\nNo, that is wrong.'
SMILES = "A woman smiles."
ANSWER = lines_json(SMILES)

MARKS = {
    "think": ("<think>\n", "\n</think>\n\n"),
    "thinking": ("<thinking>", "</thinking>"),
    "thought": ("<thought>", "</thought>"),
    "reasoning": ("<reasoning>", "</reasoning>"),
    "reflection": ("<reflection>", "</reflection>"),
    "Seed": ("<seed:think>", "</seed:think>"),
    "MiniMax": ("<mm:think>", "</mm:think>"),
    "K2": ("<think_fast>", "</think_fast>"),
    "with attributes": ('<think seconds="3">', "</think>"),
    "upper case": ("<THINK>", "</THINK>"),
    "escaped for HTML": ("&lt;think&gt;", "&lt;/think&gt;"),
    "Magistral": ("[THINK]", "[/THINK]"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "Gemma": ("<|channel>thought\n", "<channel|>"),
    "MedGemma": ("<unused94>thought\n", "<unused95>"),
    "LongCat": ("<longcat_think>", "</longcat_think>"),
    "s1": ("<|im_start|>think\n", "<|im_start|>answer\n"),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "Apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "Solar": ("<|think:start|>", "<|think:end|>"),
    "Pangu": ("[unused16]", "[unused17]"),
    "OpenThinker": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "Granite": ("Here is my thought process: ", " Here is my response: "),
    "Granite, shorter": ("Here's my thought process:\n", "\nHere's my response:\n"),
    "Apriel": ("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]\n"),
    "harmony": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    "harmony with a constraint": (
        "<|start|>assistant<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    ),
    "harmony without its marks": ("analysis", "assistantfinal"),
    "harmony in small letters": ("analysiswe need a line. ", "assistantfinal"),
    "made up: process": ("<thinking_process>", "</thinking_process>"),
    "made up: chain": ("<chain_of_thought>\n", "\n</chain_of_thought>\n"),
    "made up: content": ("<reasoning_content>", "</reasoning_content>"),
    "made up: monologue": ("<internal_monologue>", "</internal_monologue>"),
    "made up: planning": ("<planning>", "</planning>"),
    "made up: bars": ("<|think|>", "<|/think|>"),
    "made up: wide": ("＜think＞", "＜/think＞"),
    "made up: brackets": ("[Thinking process]\n", "\n[/Thinking process]\n"),
}
"""What stands before a thought and behind it, by the models that write it so."""

each_form = pytest.mark.parametrize("form", MARKS)


def thinking(form: str, then: str, thought: str = DRAFT) -> str:
    """An answer after a thought."""
    opening, closing = MARKS[form]
    return f"{opening}{thought}{closing}{then}"


@each_form
def test_every_reader_gets_the_answer_alone(form: str) -> None:
    assert parse_stage2(thinking(form, ANSWER)) == (SMILES,)
    description = "1. Main characters: Ann.\n2. Actions: Ann smiles."
    described = parse_stage1(
        thinking(form, description, "1. Main characters: a dog? No."),
        ("Main characters", "Actions"),
        "s1",
        "m",
    )
    assert dict(described.steps) == {"Main characters": "Ann.", "Actions": "Ann smiles."}
    assert read_answer(thinking(form, '{"s1": "Ja."}', '{"s1": "Nein."}'), ["s1"]) == {"s1": "Ja."}
    assert parse_verdicts(thinking(form, '{"1": "yes"}', "1. no"), 1) == (True,)
    assert choice_in(thinking(form, '{"choice": 2}', '{"choice": 1}'), ["He sits.", "He stands."]) == 1
    story = parse_memory_update(
        thinking(form, '{"people": ["Ann is a nurse."]}', '{"people": ["Ann is a spy."]}')
    )
    assert story is not None
    assert story["people"] == ["Ann is a nurse."]


@each_form
@pytest.mark.parametrize("then", [SMILES, f'"{SMILES}"', f"Audio description: {SMILES}"])
def test_a_line_without_json_is_found_too(form: str, then: str) -> None:
    assert parse_stage2(thinking(form, then, "A man runs. No, that is wrong.")) == (SMILES,)


@each_form
def test_an_opening_that_was_lost(form: str) -> None:
    """Templates put it into the prompt."""
    assert parse_stage2(f"{DRAFT}{MARKS[form][1]}{ANSWER}") == (SMILES,)


@each_form
def test_nothing_but_thought_is_no_answer_and_said_so(form: str) -> None:
    only_thought = f"{MARKS[form][0]}{DRAFT}"
    assert is_only_thought(only_thought)
    with pytest.raises(OnlyThoughts, match="wrote no whole line, it only thought aloud"):
        parse_stage2(only_thought)
    with pytest.raises(OnlyThoughts, match="described nothing of slot s1, it only thought aloud"):
        parse_stage1(only_thought, ("Actions",), "s1", "m")
    with pytest.raises(ScriptError):
        read_answer(only_thought, ["s1"])


@each_form
def test_nested_and_repeated_thoughts(form: str) -> None:
    opening, closing = MARKS[form]
    twice = thinking(form, thinking(form, ANSWER))
    assert parse_stage2(twice) == (SMILES,)
    within = f"<think>{opening}{DRAFT}{closing}{DRAFT}</think>{ANSWER}"
    assert parse_stage2(within) == (SMILES,)


@each_form
def test_on_the_wire(form: str) -> None:
    reply, _ = ask([answer(thinking(form, SMILES))])
    assert (reply.text, reply.finish, reply.error) == (SMILES, "stop", None)
    reply, seen = ask([answer(f"{MARKS[form][0]}{DRAFT}")])
    assert reply.finish == "error"
    assert str(reply.error).startswith("the answer is thought alone")
    assert len(seen) == 2, "with another seed it may answer"


@pytest.mark.parametrize("text", [
    f"<think>{DRAFT}</think><answer>{ANSWER}</answer>",
    f"<think>{DRAFT}<answer>{ANSWER}</answer>",
    f"{DRAFT}<answer>{ANSWER}</answer>",
    f"<think>{DRAFT}</think><|begin_of_box|>{ANSWER}<|end_of_box|>",
    f"<|begin_of_thought|>{DRAFT}<|end_of_thought|><|begin_of_solution|>{ANSWER}<|end_of_solution|>",
    f"<|START_THINKING|>{DRAFT}<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
    f"Here are my reasoning steps:\n{DRAFT}\n[BEGIN FINAL RESPONSE]\n{ANSWER}\n[END FINAL RESPONSE]\n<|end|>",
    f"<think>{DRAFT}</thinking>{ANSWER}",
    f"<think>I may use <think> and <reasoning>. {DRAFT}</think>{ANSWER}",
    f"</think>{ANSWER}",
    f"<think></think>{ANSWER}",
    f"{ANSWER}\n<think>{DRAFT}",
    f"{ANSWER}<reflection>{DRAFT}</reflection>",
    f"thought\n{DRAFT}\n{ANSWER}",
    f"<|channel|>final<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>",
    f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>commentary<|message|>{DRAFT}"
    f"<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}",
    f"analysis{DRAFT}assistantcommentary{DRAFT}assistantfinal{ANSWER}",
    f"analysis{DRAFT}assistantfinal{DRAFT}assistantfinal{ANSWER}",
    f"analysis{DRAFT}assistantfinal json{ANSWER}",
    f"analysis {DRAFT} assistant final {ANSWER}",
    f"Reasoning: {DRAFT}\nFinal answer: {SMILES}",
    f"**Thought process:**\nA man runs? No.\n\n**Answer:** {SMILES}",
    f'{{"reasoning": "A man runs? No.", "answer": "{SMILES}"}}',
    f'{{"summarized_AD": {{"thoughts": "A man runs? No.", "text": "{SMILES}"}}}}',
    f"<|channel|>analysis<|message|>{DRAFT}<|end|>\n{ANSWER}",
    f"<|start|>assistant to=self<|message|>{DRAFT}<|eom|><|start|>assistant<|message|>{ANSWER}<|eot|>",
    json.dumps(f"<think>{DRAFT}</think>{ANSWER}"),
    html.escape(f"<think>{DRAFT}</think>{ANSWER}"),
    '{"summarized_AD": "<think>A man runs?</think>A woman smiles."}',
])  # fmt: skip
def test_answers_among_marks(text: str) -> None:
    assert parse_stage2(text) == (SMILES,)


THOUGHT = "The user wants one sentence. A man runs? No.\n\nNine words at most."
BLOCKS = [
    ("**Thinking**\n\n", "\n\n**Answer**\n\n"),
    ("## Thought Process\n", "\n## Final answer\n"),
    ("### 1. Analysis\n", "\n### 2. Audio description\n"),
    ("**🤔 Inner monologue**\n", "\n**Output**\n"),
    ("__Chain of Thought:__\n", "\n__Line:__ "),
    ("=== Scratchpad ===\n", "\n=== Response ===\n"),
    ("**Planning**\n\n", "\n\n---\n\n"),
    ("Reasoning\n", "\n\nAnswer\n"),
    ("Thinking...\n", "\n...done thinking.\n\n"),
    ("Reasoning…\n", "\nFinished reasoning\n"),
    ("```thinking\n", "\n```\n"),
    ("~~~ chain-of-thought\n", "\n~~~\n\n"),
    ("```scratchpad\n```json\n{}\n```\n", "\n```\n"),
    ('<details type="reasoning" done="true">\n', "\n</details>\n"),
    ("<details>\n<summary>Thought process</summary>\n", "\n</details>\n"),
    ("analysis\n\n", "\n\nfinal\n\n"),
    ("**Step 1: Analysis**\n", "\n**Step 2: Answer**\n"),
    ("**Inner monologue (not spoken)**\n", "\n**AD line**\n"),
    ("<!-- thinking: ", " -->\n"),
    ("思考：", "\n回答："),
]
"""Titles, labels and blocks of code around a thought."""


@pytest.mark.parametrize(("before", "behind"), BLOCKS)
@pytest.mark.parametrize("then", [SMILES, ANSWER])
def test_titles_and_blocks_of_thoughts(before: str, behind: str, then: str) -> None:
    assert parse_stage2(f"{before}{THOUGHT}{behind}{then}") == (SMILES,)
    description = f"{before}{THOUGHT}\nActions: A man fires.{behind}Actions: Ann smiles."
    assert dict(parse_stage1(description, ("Actions",), "s1", "m").steps) == {"Actions": "Ann smiles."}


@pytest.mark.parametrize("before", [
    *(before for before, _ in BLOCKS if "思考" not in before), "analysiswe need ", "analysis we need ",
    "commentarythe user ", "**Thinking:** ", "(Thinking: ",
])  # fmt: skip
def test_titles_and_blocks_that_are_cut_off_hold_thoughts_alone(before: str) -> None:
    assert is_only_thought(f"{before}{THOUGHT}")


def test_titles_beside_an_answer_leave_it() -> None:
    steps = ("Main characters", "Actions")
    titled = "## Analysis\n1. Main characters: Ann.\n2. Actions: Ann smiles."
    explained = "1. Main characters: Ann.\n2. Actions: Ann smiles.\n\n**Reasoning**\n\nA man runs? No."
    for text in (titled, explained):
        described = parse_stage1(text, steps, "s1", "m")
        assert dict(described.steps) == {"Main characters": "Ann.", "Actions": "Ann smiles."}
    keyed = {"inner_monologue": "A man runs.", "thoughtProcess": "No.", "line": SMILES}
    assert parse_stage2(json.dumps(keyed)) == (SMILES,)


LINES = [
    '{"summarized_AD": "A sign reads \\"[THINK]\\"."}',
    '{"summarized_AD": "[THINK] stands on a sign."}',
    '{"summarized_AD": "I think, therefore I am, reads the wall."}',
    '{"summarized_AD": "He thinks. Her thoughts wander."}',
    '{"summarized_AD": "A poster: <think>."}',
    '{"summarized_AD": "Analysis of the blood appears on the screen."}',
    '{"summarized_AD": "The assistant finalises the deal."}',
    '{"summarized_AD": "Final scores light up."}',
    '{"summarized_AD": "Thoughts: a book opens."}',
    '{"summarized_AD": "A poster flips from [THINK] to [/THINK]."}',
    '{"summarized_AD": "The screen flips between <plan> and </plan>, then dims."}',
    '{"summarized_AD": "A sign reads [THINK]. Below, [/THINK] flickers."}',
    '{"summarized_AD": "A poster flips from \\"<think>\\" to \\"</think>\\"."}',
    '{"summarized_AD": "A screen shows </think> in green letters."}',
    '{"summarized_AD": "A T-shirt reads </think>."}',
]


@pytest.mark.parametrize("written", LINES)
def test_lines_that_speak_of_thinking_stay(written: str) -> None:
    line = json.loads(written)["summarized_AD"]
    assert parse_stage2(written) == (line,)
    assert parse_stage2(f"<think>{DRAFT}</think>{written}") == (line,)
    assert parse_stage2(f"[THINK]{DRAFT} It reads [THINK].[/THINK]{written}") == (line,)


@pytest.mark.parametrize(
    "text",
    [
        "He thinks of her.",
        "The assistant finalises the deal.",
        'A sign: "[THINK]".',
        'The word "<think>" glows.',
        "A poster flips from [THINK] to [/THINK].",
        "[THINK] and [/THINK] glow in neon.",
        "[THINK] glows above the door.",
        "[THINK], reads a neon sign.",
        "[Plan B] stands on a folder.",
        "Analysis charts fill the screen.",
        "Thinking, she lowers the spear.",
        "Reasoning: a word on the blackboard.",
        "Finally, she smiles.",
        "Done thinking, he stands.",
    ],
)
def test_plain_lines_that_speak_of_thinking_stay(text: str) -> None:
    assert parse_stage2(text) == (text,)


@pytest.mark.parametrize(("text", "number", "lines"), [
    ('{"summarized_AD": "A man runs.", "summarized_AD": "A woman smiles."}', 1, (SMILES,)),
    ('{"summarized_AD": "A man runs."}\nBetter:\n{"summarized_AD": "A woman smiles."}', 1, (SMILES,)),
    ('{"line": "A man runs.", "line": "A woman smiles."}', 1, (SMILES,)),
    ('{"summarized_AD_1": "A man runs.", "summarized_AD_1": "A woman smiles.", "summarized_AD_2": "Rain falls."}',
     2, (SMILES, "Rain falls.")),
    ('[{"summarized_AD": "Rain falls."}, {"summarized_AD": "A woman smiles."}]', 2, ("Rain falls.", SMILES)),
    ('{"summarized_AD": "A woman smiles."}\nThe form was {"summarized_AD": "..."}', 1, (SMILES,)),
])  # fmt: skip
def test_of_a_key_given_twice_the_last_counts(text: str, number: int, lines: tuple[str, ...]) -> None:
    assert parse_stage2(text, number) == lines


def test_of_a_translation_given_twice_the_last_counts() -> None:
    assert read_answer('{"s1": "Nein.", "s1": "Ja."}', ["s1"]) == {"s1": "Ja."}


def test_a_model_that_only_thinks_is_asked_again_without_its_thoughts() -> None:
    run = run_slots(
        ScriptedSlot(
            [f"<think>{DRAFT}", lines_json("Ann opens a drawer.")],
            looks=[f"[THINK]{DRAFT}", f"<think>{DRAFT}</think>{SEEN}"],
        )
    )
    assert run.cue.text == "Ann opens a drawer."
    for engine in (run.looks, run.writes):
        assert len(engine.requests) == 2
        asked_again = engine.requests[1].messages
        assert "You only thought aloud and gave no answer." in asked_again[-1].text
        assert all("A draft" not in message.text for message in asked_again)
    failed = run_slots(ScriptedSlot([f"<think>{DRAFT}"] * 3), how=("stage2.attempts=3",))
    assert failed.cue.reason.startswith("Stage II failed: the model thought aloud and gave no answer")


@pytest.mark.skipif(
    not GIVEN.is_file(), reason="needs ../shared/data/faults, which is no part of the project"
)
def test_answers_that_were_seen() -> None:
    rows = [json.loads(row) for row in GIVEN.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        assert parse_stage2(row["answer"]) == (row["line"],), row["form"]
    assert len(rows) >= 6


@given(st.lists(st.sampled_from([
    "<think>", "</think>", "[THINK]", "[/THINK]", "<|channel|>", "final", "analysis", "<|message|>", "<|end|>",
    "assistantfinal", "<answer>", "</answer>", "He runs.", "{", '"', "}", "\n", "thought\n", "<|start|>",
])).map("".join))  # fmt: skip
def test_no_answer_brings_it_down(text: str) -> None:
    assert isinstance(after_thoughts(text), str)
    assert not is_only_thought(after_thoughts(text) or "He runs.") or text.strip()


@pytest.mark.parametrize(("says", "marks"), [
    ("[THINK]A woman[/THINK]He opens", ("[THINK]", "[/THINK]")),
    ("<|START_THINKING|>A woman<|END_THINKING|>He opens", ("<|START_THINKING|>", "<|END_THINKING|>")),
    ("<|channel>A woman<channel|>He opens", ("<|channel>", "<channel|>")),
    ("A woman<|start|><|channel|>final<|message|>He opens", ("<|start|>", "<|channel|>", "<|message|>")),
])  # fmt: skip
def test_a_local_model_keeps_the_marks_that_are_special_tokens(
    says: str, marks: tuple[str, ...], tmp_path: Path
) -> None:
    """Without them nobody could tell its thought from its answer; other special tokens go."""
    folder = make_llama(tmp_path / "thinker", says=f"{says}<|filler|>", marks=(*marks, "<|filler|>"))
    (reply,) = ask_local(folder, [request(0, temperature=0.0, max_tokens=40)])
    assert reply.text.endswith("He opens")
    assert after_thoughts(reply.text).strip() == "He opens"
