"""Answers as models bend them: Qwen2-VL, LLaMA3, GPT-4o, SmolLM2 and their like."""

from __future__ import annotations

import html
import json
from contextlib import suppress

import pytest
from hypothesis import example, given, strategies as st

from shotad.core.errors import RefusalError, ScriptError
from shotad.description.answers import WHOLE, parse_stage1, parse_stage2
from shotad.description.translation.prompt import read_answer
from tests.describe.prompting import SHARED

OTHER_ANSWERS = SHARED / "faults" / "answers" / "other.jsonl"

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
    "escaped by half": '"{"summarized_AD": "She opens the gate."}"',
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


NO_LINES = (
    "NaN", "nan", "true", "False", "undefined", "null", "None", "nil", "Infinity", "-inf", "N/A", "n.a.", "#N/A",
    "NoneType", "[object Object]", "<object object at 0x7f>", "function () { }", "string", "<string>", "(none)",
    "None. None.", "null, null", "Your sentence here.", "<your line>", "[Insert audio description here]", "TBD",
    "Lorem ipsum dolor sit amet", "summarized_AD", "summarized_AD_1", "...", "…", "-", "—", "***", "---", "> ",
    "&nbsp;", "&amp;nbsp;", "&#8203;", "\u200b", "\u3164", "\ufe0f", "\u2800", "\x00", "\\n", "<br>", "<p></p>",
    "[UNK]", "<unk>",
)  # fmt: skip
"""Values of programs, placeholders of forms, and nothing that is seen."""


@pytest.mark.parametrize("value", NO_LINES)
def test_a_value_or_a_placeholder_is_no_line(value: str) -> None:
    bare = f'{{"summarized_AD": {value}}}'
    for answer in (json.dumps({"summarized_AD": value}), bare, value):
        with pytest.raises(ScriptError, match="wrote no whole line"):
            parse_stage2(answer)
    several = json.dumps({"summarized_AD_1": value, "summarized_AD_2": GATE})
    assert parse_stage2(several, 2) == (GATE,)
    with pytest.raises(ScriptError, match="described nothing"):
        parse_stage1(f"1. Main characters: {value}\n2. Actions: {value}", STEPS[:2], "s1", "vlm")


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "true", "null", "undefined", "0.5", "None"])
def test_a_value_without_quotes_beside_another_key_is_no_line(value: str) -> None:
    for answer in ("{summarized_AD: %s, confidence: 0.9}", '{"summarized_AD": %s, "confidence": 0.9}'):
        with pytest.raises(ScriptError, match="wrote no whole line"):
            parse_stage2(answer % value)


WRITTEN_OTHERWISE = {
    "A woman &amp; a man in &quot;orange&quot; smile.": 'A woman & a man in "orange" smile.',
    "Ann&#39;s &AMP; Bo&#x27;s dogs run.": "Ann's & Bo's dogs run.",
    "Twice: Ann&amp;#39;s &amp;amp; Bo&amp;rsquo;s.": "Twice: Ann's & Bo's.",
    "Caf&eacute;&nbsp;lights go out.": "Café lights go out.",
    "At AT&T, R&D &c waits.": "At AT&T, R&D &c waits.",
    "A <i>woman</i><br>smiles &lt;b&gt;now&lt;/b&gt;.": "A woman smiles now.",
    "A **woman** in [orange](https://a.b/c) ~~sits~~ __smiles__.": "A woman in orange sits smiles.",
    "## A woman smiles. ##": "A woman smiles.",
    "A wo\u00adman\u200b smiles\u2060\ufeff.": "A woman smiles.",
    "A woman\r\nsmiles\u2028now\x85.": "A woman smiles now .",
    "A woman\x07 smiles\ud83d.": "A woman smiles.",
    r"A woman\nsmiles, na\u00efve.": "A woman smiles, naïve.",
    "Nan waves. True love waits.": "Nan waves. True love waits.",
    "A string snaps.": "A string snaps.",
}


@pytest.mark.parametrize(("written", "line"), WRITTEN_OTHERWISE.items())
def test_entities_markup_and_hidden_characters_are_never_spoken(written: str, line: str) -> None:
    assert parse_stage2(json.dumps({"summarized_AD": written})) == (line,)
    assert parse_stage1(f"Actions: {written}", ("Actions",), "s1", "vlm").steps == {"Actions": line}


def test_a_number_or_a_garbled_word_is_no_line() -> None:
    for value in ("1e5", "-1E+3", "0x1F", "12", "0.5", "m\ufffdn runs."):
        for answer in (json.dumps({"summarized_AD": value}), f'{{"summarized_AD": {value}}}', value):
            with pytest.raises(ScriptError, match="wrote no whole line"):
                parse_stage2(answer)
    assert parse_stage2('{"summarized_AD": "| A woman smiles. |"}') == ("A woman smiles.",)


def test_json_that_was_escaped_as_a_whole_is_read() -> None:
    answer = json.dumps({"summarized_AD": GATE})
    for escaped in (json.dumps(answer), html.escape(answer), html.escape(html.escape(answer))):
        assert parse_stage2(escaped) == (GATE,)


def test_joiners_stay_where_words_are_written_with_them() -> None:
    for line in ("می\u200cخواهد برود.", "क्\u200dष."):
        assert parse_stage2(json.dumps({"summarized_AD": line})) == (line,)


def test_a_translation_that_is_a_value_is_missing() -> None:
    for value in ("NaN", "undefined", "[object Object]", "...", "string", "&nbsp;"):
        with pytest.raises(ScriptError, match="No translation"):
            read_answer(json.dumps({"s1": value}), ["s1"])
        with pytest.raises(ScriptError, match="No translation"):
            read_answer(f'{{"s1": {value}}}', ["s1"])
    said = json.dumps({"s1": "Ann &amp;amp; Bo&#39;s <b>Hund</b>.", "s2": None})
    assert read_answer(said, ["s1", "s2"]) == {"s1": "Ann & Bo's Hund."}
    assert read_answer('{"s1": "1984"}', ["s1"]) == {"s1": "1984"}, "a title on the screen may be a number"


@pytest.mark.skipif(
    not OTHER_ANSWERS.is_file(), reason="needs ../shared/data/faults, which is no part of the project"
)
@pytest.mark.parametrize("form", ["entities", "nan", "true", "undefined"])
def test_answers_that_went_wrong(form: str) -> None:
    rows = [json.loads(row) for row in OTHER_ANSWERS.read_text(encoding="utf-8").splitlines()]
    row = next(row for row in rows if row["form"] == form)
    if row["line"] is not None:
        assert parse_stage2(row["answer"]) == (row["line"],)
        return
    with pytest.raises(ScriptError, match="wrote no whole line"):
        parse_stage2(row["answer"])


@pytest.mark.parametrize(
    "answer",
    [
        '{"error": "overloaded"}',
        '{"error": {"message": "rate limit exceeded", "code": 429}}',
        "<html><body>502 Bad Gateway</body></html>",
        "Internal Server Error",
        "Error: CUDA out of memory",
        "503 Service Unavailable",
        '{"type": "function", "name": "describe", "arguments": {}}',
    ],
)
def test_an_error_of_a_server_is_no_answer_in_any_stage(answer: str) -> None:
    with pytest.raises(ScriptError):
        parse_stage2(answer)
    with pytest.raises(ScriptError):
        parse_stage1(answer, ["Actions"], "s00001000", "fake")
    with pytest.raises(ScriptError):
        read_answer(answer, ["s00001000"])


@pytest.mark.parametrize(
    "line",
    ["NaN NaN.", "No description needed.", "No line.", "No line needed.", "Nothing to describe.", "[no description]", "No significant visual changes.",
     "Here's the description", "Error: out of memory", "https://example.com/a"],
)  # fmt: skip
def test_a_line_that_says_there_is_none_is_no_line(line: str) -> None:
    with pytest.raises(ScriptError):
        parse_stage2(json.dumps({"summarized_AD": line}))


@pytest.mark.parametrize("answer", ['{"Actions": NaN, "Key objects": null}', '{"Actions": ""}', "42"])
def test_json_without_a_text_describes_nothing(answer: str) -> None:
    with pytest.raises(ScriptError, match="described nothing"):
        parse_stage1(answer, ["Actions"], "s00001000", "fake")


@pytest.mark.parametrize(
    "line",
    ["An error message blinks.", "500 people cheer.", "No changes in her face.", "Silence.", "Nothing moves.",
     "The answer lies on the desk.", "No information desk is open."],
)  # fmt: skip
def test_lines_that_only_begin_like_an_error_or_like_nothing_are_lines(line: str) -> None:
    assert parse_stage2(json.dumps({"summarized_AD": line})) == (line,)


@pytest.mark.parametrize("line", [
    "404 Not Found glows on her laptop.", "Error: file not found, flashes on a monitor.", "Error code 7 flashes red.",
    "503 Service Unavailable, reads the departures board.", "Internal server error blinks on the screen.",
    "A tattoo reads {love}.", "The code {x} and {y} scrolls past.", "A screen shows { } in green.",
    "[Exit] glows above the door.",
])  # fmt: skip
def test_lettering_that_a_line_reads_out_is_spoken(line: str) -> None:
    assert parse_stage2(line) == (line,)
    assert parse_stage2(json.dumps({"summarized_AD": line})) == (line,)


@pytest.mark.parametrize("text", [
    "404 Not Found", "Error: the model appears to be down.", "Rate limit exceeded.",
    "503 Service Unavailable: no server is available to handle this request.", "{name} opens the door.",
    "She greets {name}.", "A sign reads {text}.", "Text: {She runs.}",
])  # fmt: skip
def test_errors_and_fields_of_a_form_are_not_spoken(text: str) -> None:
    with pytest.raises(ScriptError):
        parse_stage2(json.dumps({"summarized_AD": text}))


def test_a_line_without_quotes_may_begin_with_a_name_like_a_value() -> None:
    assert parse_stage2("summarized_AD: Nan, smiling, waves.") == ("Nan, smiling, waves.",)
