"""What the models are asked: complete, in order, and refused before any model when it cannot be filled in."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from string import Template

import pytest

from shotad.core import (
    Description,
    Grammar,
    PromptError,
    PromptSettings,
    data_root,
    shipped_prompts,
)
from shotad.description import check_prompts, prompt_hash, render
from shotad.description.prompts import effective_scale, factors_for, stage2_messages
from shotad.description.templates import cut_to_words
from tests.describe.prompting import (
    DEFAULT,
    DESCRIBED,
    EC,
    C,
    F,
    L,
    M,
    config_of,
    plan_of,
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


FOLDERS = ("material", "questions", "stage", "stage1", "stage2", "story", "verify")


def test_readme_names_every_prompt_and_its_variables() -> None:
    check_prompts(*FOLDERS, "shorter")
    readme = (data_root() / "prompts" / "README.md").read_text(encoding="utf-8")
    rows = [row.split("|")[1:-1] for row in readme.splitlines() if row.startswith("| `")]
    cells = [[re.findall(r"`([^`]+)`", cell) for cell in (row[0], row[-1])] for row in rows]
    every = {name: text for folder in FOLDERS for name, text in shipped_prompts(folder).items()}
    del every["stage2/examples"]
    for name, text in every.items():
        folder, _, short = name.partition("/")
        found = [
            has for names, has in cells if names[0].startswith(f"{folder}/") and {name, short} & {*names}
        ]
        assert len(found) == 1, name
        assert set(Template(text).get_identifiers()) <= set(found[0]), name


def test_edited_prompt_is_used_and_changes_the_hash(own_data: Path) -> None:
    before = prompt_hash(["stage1/actions"])
    edit(own_data, "stage1/actions", "Say who does what", "Tell me who does what")
    assert "Tell me who does what" in text_of(stage1())
    assert prompt_hash(["stage1/actions"]) != before
    assert prompt_hash(["stage2/user"]) == prompt_hash(["stage2/user", "stage2/user"])


@pytest.mark.parametrize(("old", "new", "complaint"), [
    ("$budget", "$budgets", r"does not know \$budgets and lacks \$budget\."),
    ("$budget", "9", r"lacks \$budget"),
    ("$verbs", "$verbs, $tempo", r"does not know \$tempo"),
    ("Answer in JSON", "It costs 5 $. Answer in JSON", r"\$ without a name in line 1\d"),
])  # fmt: skip
def test_badly_edited_prompt_is_refused_before_any_slot(own_data, old, new, complaint):
    edit(own_data, "stage2/user", old, new)
    with pytest.raises(PromptError, match=complaint):
        check_prompts()
    with pytest.raises(PromptError, match=complaint):
        stage2_text()


def test_step_without_its_heading_is_refused(own_data: Path) -> None:
    edit(own_data, "stage1/face", "Facial expressions\n\n", "")
    with pytest.raises(PromptError, match="stage1/face does not begin with a heading"):
        check_prompts()


# Stage I


def test_thread_sentence_needs_a_thread_among_the_shots_shown() -> None:
    assert "Explanation" not in text_of(stage1())
    assert "Explanation" not in text_of(stage1(grammar=Grammar({}, ((0, 9),))))
    assert "[Shot 0, Shot 2]" in text_of(stage1(grammar=Grammar({}, ((0, 2, 9),))))


@pytest.mark.parametrize(("scales", "expected"), [
    ({1: EC, 2: L}, 2.0),
    ({0: EC, 1: L, 2: F, 3: EC}, 3.5),
    ({2: C}, 1.0),
    ({0: C, 3: M}, 2.0),
    ({}, 2.0),
    ({9: L}, 2.0),
])  # fmt: skip
def test_effective_scale_is_that_of_current_shots_else_medium(scales, expected):
    grammar = Grammar(scales)
    assert effective_scale(grammar, plans()) == expected
    assert stage1(grammar=grammar).effective_scale == expected


# Stage II


def test_examples_are_drawn_by_seed_and_slot() -> None:
    pool = [f"She opens door {n}." for n in range(100)]
    first = stage2_text(examples=pool)
    assert first == stage2_text(examples=pool)
    assert first != stage2_text(examples=pool, seed=43)
    other = Description("s00090000", DESCRIBED.steps, "", "", "vlm")
    assert first != stage2_messages(other, plan_of("pc"), config_of(DEFAULT), examples=pool)[1].text
    assert len(set(re.findall(r"door \d+", first))) == 10


# The note and the story


NOTE = "Ann is a thief. Bo follows her."


def test_note_and_story_stand_in_blocks_of_their_own_or_leave_no_trace() -> None:
    settings = PromptSettings(note=f"  {NOTE}\n")
    stage1_text, told = text_of(stage1(note=NOTE)), stage2_text(settings, story="Earlier: Ann hid.")
    for text in (stage1_text, told):
        assert f"\n\nNote on the movie:\n{NOTE}\n(" in text
    assert stage1_text.index(NOTE) < stage1_text.index("Tell briefly")
    assert told.index(NOTE) < told.index("\n\nEarlier: Ann hid.\n\nDescription:")
    assert text_of(stage1(note=" \n\t")) == text_of(stage1())
    plain = stage2_text(PromptSettings(note=" "), story="")
    assert plain == stage2_text()
    assert (plain.count("\n\n"), told.count("\n\n")) == (4, 6)


@pytest.mark.parametrize(("words", "kept"), [
    (6, "One two. Three four five. Six."),
    (5, "One two. Three four five."),
    (4, "One two."),
    (1, "One …"),
    (0, ""),
])  # fmt: skip
def test_a_note_is_cut_at_a_sentence_where_it_can(words: int, kept: str) -> None:
    assert cut_to_words("One two. Three four five. Six.", words) == kept


@pytest.mark.parametrize("scale", [0.0, 1.7, 4.0])
def test_factor_can_be_forced(scale: float) -> None:
    for factor, asked in (("none", ()), ("face", ("face",)), ("all", ("face", "object", "environment"))):
        assert factors_for(scale, PromptSettings.model_validate({"factor": factor})) == asked


def test_prompt_that_is_not_there_is_named() -> None:
    with pytest.raises(PromptError, match="stage1/nothing cannot be read"):
        render("stage1/nothing")
