"""What the models are asked: complete, in order, and refused before any model when it cannot be filled in."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from shotad.core import Description, Grammar, PromptError, PromptSettings, ShotScale, data_root, load_config
from shotad.description import check_prompts, prompt_hash, render
from shotad.description.prompts import (
    EXAMPLES,
    TEMPLATES,
    answer_keys,
    effective_scale,
    factors_for,
    stage1_messages,
    stage2_messages,
)
from shotad.description.story import STORY_TEMPLATES
from shotad.description.templates import COUNTS, cut_to_words
from shotad.description.verify import VERIFY_TEMPLATES
from tests.describe.prompting import (
    DEFAULT,
    DESCRIBED,
    EC,
    C,
    F,
    L,
    M,
    plans,
    stage1,
    stage2_text,
    text_of,
)


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the prompts and configs, as a person makes it to edit them."""
    for folder in ("prompts", "configs"):
        shutil.copytree(data_root() / folder, tmp_path / folder)
    monkeypatch.setenv("SHOTAD_DATA", str(tmp_path))
    return tmp_path


def edit(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / "prompts" / f"{name}.txt"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


# Templates


def test_every_prompt_file_is_known_and_complete() -> None:
    files = {
        str(p.relative_to(data_root() / "prompts").with_suffix(""))
        for folder in ("material", "stage1", "stage2", "story", "verify")
        for p in (data_root() / "prompts" / folder).glob("*.txt")
        if not p.name.startswith(("again", "choose"))
    }
    assert files == {*TEMPLATES, *STORY_TEMPLATES, *VERIFY_TEMPLATES, EXAMPLES}
    check_prompts(STORY_TEMPLATES, VERIFY_TEMPLATES)


def test_readme_names_every_prompt_and_its_variables() -> None:
    readme = (data_root() / "prompts" / "README.md").read_text(encoding="utf-8")
    rows = [row.split("|")[1:-1] for row in readme.splitlines() if row.startswith("| `")]
    cells = [[re.findall(r"`([^`]+)`", cell) for cell in (row[0], row[-1])] for row in rows]
    for name, variables in {**TEMPLATES, **STORY_TEMPLATES, **VERIFY_TEMPLATES}.items():
        folder, _, short = name.partition("/")
        found = [
            has for names, has in cells if names[0].startswith(f"{folder}/") and {name, short} & {*names}
        ]
        assert len(found) == 1, name
        assert set(variables) <= set(found[0]), name


def test_templates_of_other_modules_are_checked_too(own_data: Path) -> None:
    edit(own_data, "story/names", "$names", "$persons")
    check_prompts()
    with pytest.raises(PromptError, match=r"story/names does not know \$persons and lacks \$names"):
        check_prompts(VERIFY_TEMPLATES, STORY_TEMPLATES)


def test_render_fills_in_and_takes_values_literally() -> None:
    assert render("stage1/thread", shots="[Shot $0]") == "[Shot $0] have the same camera set-up"


def test_missing_and_unknown_variables_are_both_named() -> None:
    with pytest.raises(PromptError, match=r"does not know \$shots and lacks \$one, \$two") as caught:
        render("stage1/thread", one="1", two="2")
    assert "stage1/thread" in caught.value.what
    with pytest.raises(PromptError, match=r"does not know \$shots"):
        render("stage1/thread")
    with pytest.raises(PromptError, match=r"lacks \$more"):
        render("stage1/thread", shots="[Shot 0]", more="")


def test_prompt_that_is_not_there_is_named() -> None:
    with pytest.raises(PromptError, match="stage1/nothing cannot be read"):
        render("stage1/nothing")


def test_edited_prompt_is_used_and_changes_the_hash(own_data: Path) -> None:
    before = prompt_hash(TEMPLATES)
    edit(own_data, "stage1/actions", "Say who does what", "Tell me who does what")
    assert "Tell me who does what" in text_of(stage1())
    assert prompt_hash(TEMPLATES) != before
    assert prompt_hash(["stage2/user"]) == prompt_hash(["stage2/user", "stage2/user"])


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("$budget", "$budgets", r"does not know \$budgets and lacks \$budget\."),
        ("$budget", "9", r"lacks \$budget"),
        ("$verbs", "$verbs, $tempo", r"does not know \$tempo"),
        ("Answer in JSON", "It costs 5 $. Answer in JSON", r"\$ without a name in line 1\d"),
    ],
)
def test_badly_edited_prompt_is_refused_before_any_slot(
    own_data: Path, old: str, new: str, complaint: str
) -> None:
    edit(own_data, "stage2/user", old, new)
    with pytest.raises(PromptError, match=complaint):
        check_prompts()
    with pytest.raises(PromptError, match=complaint):
        stage2_text()


def test_dollar_sign_is_written_twice(own_data: Path) -> None:
    edit(own_data, "stage2/view-single", "narrator", "$$narrator")
    check_prompts()
    assert "as a $narrator would" in stage2_text()


def test_step_without_its_heading_is_refused(own_data: Path) -> None:
    edit(own_data, "stage1/face", "Facial expressions\n\n", "")
    with pytest.raises(PromptError, match="stage1/face does not begin with a heading"):
        check_prompts()


# Stage I


def test_published_order_puts_threads_before_circles() -> None:
    grammar = Grammar({}, ((0, 3),))
    text = text_of(stage1(grammar=grammar, rules="code"))
    assert text.index("Last of all") < text.index("never mention")
    assert text.index("Last of all") > text.index("4. ")


def test_steps_are_the_headings_of_the_answer() -> None:
    prompt = stage1(factor="all")
    assert prompt.steps == (
        "Main characters", "Actions", "Interactions", "Facial expressions", "Key objects", "Environment",
    )  # fmt: skip
    text = text_of(prompt)
    assert "six steps" in text
    assert [f"{i}. {h}: ..." in text for i, h in enumerate(prompt.steps, 1)] == [True] * 6


def test_clip_without_marked_characters_does_not_speak_of_circles() -> None:
    assert "circle" not in text_of(stage1())
    assert "circle" in text_of(stage1(rules="paper"))
    assert "these may appear" not in text_of(stage1(rules="paper"))


@pytest.mark.parametrize(
    ("label", "words"), [("number", "top left"), ("box", "red border"), ("none", "oldest")]
)
def test_prompt_says_only_of_labels_that_are_there(label: str, words: str) -> None:
    text = text_of(stage1(label=label))
    assert words in text
    assert ("top left" in text) == (label == "number")


def test_thread_sentence_needs_a_thread_among_the_shots_shown() -> None:
    assert "Explanation" not in text_of(stage1())
    assert "Explanation" not in text_of(stage1(grammar=Grammar({}, ((0, 9),))))
    assert "[Shot 0, Shot 2]" in text_of(stage1(grammar=Grammar({}, ((0, 2, 9),))))


def test_series_is_called_one() -> None:
    assert "TV series" in text_of(stage1(medium="TV series"))
    assert "movie" not in text_of(stage1(medium="TV series"))


def test_no_variable_is_left_in_a_prompt() -> None:
    settings = load_config("reference-code").prompt
    stage1_text = stage1_messages(plans(), Grammar({}, ((0, 3),)), settings).messages[0].text
    for text in (stage1_text, stage2_text(settings), stage2_text(settings, candidates=5)):
        assert "$" not in text
        assert not re.search(r"\n\n\n", text)


def test_clip_without_current_shot_is_refused() -> None:
    with pytest.raises(ValueError, match="current shot"):
        stage1("pf")


@pytest.mark.parametrize(
    ("scales", "expected"),
    [
        ({1: EC, 2: L}, 2.0),
        ({0: EC, 1: L, 2: F, 3: EC}, 3.5),
        ({2: C}, 1.0),
        ({0: C, 3: M}, 2.0),
        ({}, 2.0),
        ({9: L}, 2.0),
    ],
)
def test_effective_scale_is_that_of_current_shots_else_medium(
    scales: dict[int, ShotScale], expected: float
) -> None:
    grammar = Grammar(scales)
    assert effective_scale(grammar, plans()) == expected
    assert stage1(grammar=grammar).effective_scale == expected


@pytest.mark.parametrize(
    ("scale", "paper", "code"),
    [
        (0, "face", "face"),
        (0.99, "face", "face"),
        (1, "face", None),
        (1.49, "face", None),
        (1.5, "face", "object"),
        (1.51, None, "object"),
        (1.99, None, "object"),
        (2, "object", "object"),
        (2.99, "object", "object"),
        (3, "object", None),
        (3.01, None, None),
        (3.49, None, None),
        (3.5, "environment", "environment"),
        (4, "environment", "environment"),
    ],
)
def test_borders_of_the_factors(scale: float, paper: str | None, code: str | None) -> None:
    assert factors_for(scale, DEFAULT) == ((paper,) if paper else ())
    assert factors_for(scale, PromptSettings(rules="code")) == ((code,) if code else ())


@pytest.mark.parametrize("scale", [0.0, 1.7, 4.0])
def test_factor_can_be_forced(scale: float) -> None:
    forced = {f: factors_for(scale, PromptSettings.model_validate({"factor": f})) for f in ("none", "face", "object", "environment", "all")}  # fmt: skip
    assert forced == {
        "none": (),
        "face": ("face",),
        "object": ("object",),
        "environment": ("environment",),
        "all": ("face", "object", "environment"),
    }


# Stage II


def test_stage2_prompt_says_what_the_method_asks() -> None:
    prompt = stage2_messages(DESCRIBED, 9, DEFAULT, seed=42)
    system, user = prompt.messages
    assert (system.role, user.role) == ("system", "user")
    assert "one sentence" in system.text
    assert "movie" in system.text
    assert "1. Main characters: Ann.\n2. Actions: Ann runs." in user.text
    assert "Both alike" not in user.text
    assert "ONE succinct sentence" in user.text
    assert "within 9 words." in user.text
    assert "look, turn, take, hold" in user.text
    assert '{"summarized_AD": "..."}' in user.text
    assert len(re.findall(r'^\{"summarized_AD": "[A-Z]', user.text, re.MULTILINE)) == 10
    for marker in ("[INST]", "<<SYS>>", "{}"):
        assert marker not in system.text + user.text


@pytest.mark.parametrize("number", range(2, 11))
def test_several_candidates_are_asked_for_by_their_number(number: int) -> None:
    prompt = stage2_messages(DESCRIBED, 9, DEFAULT, seed=42, candidates=number)
    system, user = (m.text for m in prompt.messages)
    assert "one sentence" not in system
    assert COUNTS[number] in COUNTS[2:]
    assert f"{COUNTS[number]} alternatives, each ONE succinct sentence" in user
    assert f"Write {COUNTS[number]} different sentences" in user
    assert "9 words in each sentence" in user
    keys = [f"summarized_AD_{k}" for k in range(1, number + 1)]
    assert json.dumps(dict.fromkeys(keys, "...")) in user
    assert '"summarized_AD"' not in user
    assert prompt.schema["required"] == keys


@pytest.mark.parametrize("number", [-1, 0, 11])
def test_candidates_that_nobody_can_count_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match=f"1 to 10, got {number}"):
        stage2_messages(DESCRIBED, 9, DEFAULT, seed=42, candidates=number)


def test_schema_asks_for_the_keys_and_nothing_else() -> None:
    schema = stage2_messages(DESCRIBED, 9, DEFAULT, seed=42).schema
    assert json.loads(json.dumps(schema)) == {
        "type": "object",
        "properties": {"summarized_AD": {"type": "string"}},
        "required": ["summarized_AD"],
        "additionalProperties": False,
    }
    assert answer_keys(1) == ("summarized_AD",)


def test_one_word_is_one_word_and_none_is_refused() -> None:
    assert "within 1 word." in stage2_messages(DESCRIBED, 1, DEFAULT, seed=1).messages[1].text
    with pytest.raises(ValueError, match="s00083120"):
        stage2_messages(DESCRIBED, 0, DEFAULT, seed=1)


def test_stress_on_steps_is_the_published_codes_alone() -> None:
    assert "point 2" not in stage2_text()
    assert "point 2" in stage2_text(PromptSettings(rules="code"))


def test_examples_are_drawn_by_seed_and_slot() -> None:
    pool = [f"She opens door {n}." for n in range(100)]
    first = stage2_text(examples=pool)
    assert first == stage2_text(examples=pool)
    assert first != stage2_text(examples=pool, seed=43)
    other = Description("s00090000", DESCRIBED.steps, "", "", "vlm")
    assert first != stage2_messages(other, 9, DEFAULT, seed=42, examples=pool).messages[1].text
    assert len(set(re.findall(r"door \d+", first))) == 10


def test_examples_have_about_the_expected_length() -> None:
    shown = re.findall(r'^\{"summarized_AD": "([^.].*)"\}$', stage2_text(expected_words=7), re.MULTILINE)
    lengths = [len(line.split()) for line in shown if line != "..."]
    assert len(lengths) == 10
    assert set(lengths) <= {6, 7, 8}
    default = re.findall(r'^\{"summarized_AD": "([A-Z].*)"\}$', stage2_text(), re.MULTILINE)
    assert {len(line.split()) for line in default} <= {7, 8, 9}, "one less than the budget of 9"


def test_no_examples_leave_no_trace() -> None:
    assert "looked like this" not in stage2_text(PromptSettings(example_count=0))


# The note and the story


NOTE = "Ann is a thief. Bo follows her."


def blank_lines(text: str) -> int:
    return text.count("\n\n")


def test_note_stands_in_both_prompts_in_a_block_of_its_own() -> None:
    settings = PromptSettings(note=f"  {NOTE}\n")
    stage1_text = text_of(stage1(note=NOTE))
    for text in (stage1_text, stage2_text(settings)):
        assert f"\n\nNote on the movie:\n{NOTE}\n(" in text
    assert stage1_text.index(NOTE) < stage1_text.index("Tell briefly")
    assert stage2_text(settings).index(NOTE) < stage2_text(settings).index("Description:")


@pytest.mark.parametrize("empty", ["", " \n\t"])
def test_without_note_and_story_the_prompts_are_as_they_were(empty: str) -> None:
    settings = PromptSettings(note=empty)
    stage1_text = stage1_messages(plans(), Grammar(), settings).messages[0].text
    assert stage1_text == text_of(stage1())
    assert stage1_text.startswith(
        "This is a clip from a movie. Each frame carries the number of its shot in the top left corner, "
        "from Shot 0, the oldest, onwards.\nTell briefly"
    )
    text = stage2_text(settings, story=empty)
    assert text == stage2_text()
    assert "ONE succinct sentence.\n\nDescription:" in text
    assert blank_lines(text) == 4
    assert blank_lines(stage2_text(PromptSettings(note=NOTE), story="Earlier: rain.")) == 6


def test_story_stands_before_the_description() -> None:
    text = stage2_text(story="Earlier: Ann hid.")
    assert "\n\nEarlier: Ann hid.\n\nDescription:" in text
    both = stage2_text(PromptSettings(note=NOTE), story="Earlier: Ann hid.")
    assert both.index(NOTE) < both.index("Earlier")


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (100, "One two. Three four five. Six."),
        (6, "One two. Three four five. Six."),
        (5, "One two. Three four five."),
        (4, "One two."),
        (1, "One …"),
        (0, ""),
    ],
)
def test_text_is_cut_at_a_sentence_where_it_can(words: int, kept: str) -> None:
    assert cut_to_words("One two. Three four five. Six.", words) == kept


def test_cut_text_keeps_its_lines_and_does_not_lose_half_of_them() -> None:
    assert cut_to_words("Ann: a thief\nBo: her brother\nCy: a dog", 7) == "Ann: a thief\nBo: her brother"
    assert (
        cut_to_words("Short. then a long run of words, with no end to it", 7)
        == "Short. then a long run of words …"
    )
