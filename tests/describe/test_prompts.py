"""What the models are asked: complete, in order, refused before any model when it cannot be filled in; every point of
Algorithms 1 and 2 is there, in words of ours."""

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
    people,
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


STAGE1_POINTS = {
    "watch the clip of a medium": "This is a clip from a movie.",
    "shot numbers are at the top left of each frame": "Each frame carries the number of its shot in the top left",
    "describe briefly what happened": "Tell briefly what takes place in [Shot 1, Shot 2]",
    "in so many steps": "in these four steps:",
    "1 main characters": "\n1. Say who the main characters are",
    "if circles are available": "where a coloured circle is drawn around a face",
    "possible characters and their colours": "(these may appear: Ann (red), Bo (green))",
    "2 who does what": "\n2. Say who does what",
    "weight on movement": "above all how bodies move",
    "3 interactions, such as looks": "\n3. Say what passes between the characters, for example who looks at whom",
    "4 the factor": "\n4. Say where this is: the place, its furniture, and the ways in and out.",
    "circles only mark characters": "The coloured circles serve only to tell the characters apart",
    "circles are not to be mentioned": "never mention them",
    "thread sentence: finally": "Last of all, explain briefly, in a single sentence, why [Shot 0, Shot 3]",
    "thread sentence: same camera set-up": "have the same camera set-up",
    "do not invent": "Report only what can be seen. Where you are not sure, leave it out.",
    "answer template": (
        "Description:\n1. Main characters: ...\n2. Actions: ...\n3. Interactions: ...\n4. Environment: ...\n"
        "\nExplanation: ..."
    ),
}


def test_points_of_both_algorithms_stand_in_their_order() -> None:
    asked = stage1(grammar=Grammar({1: L, 2: L}, ((0, 3),)), presence=people("ann bo"), characters="clip")
    for text, points in ((text_of(asked), STAGE1_POINTS), (stage2_text(), STAGE2_POINTS)):
        places = [text.index(words) for words in points.values()]
        assert places == sorted(places)


STAGE2_POINTS = {
    "ONE succinct AD sentence": "ONE succinct sentence.",
    "the description": "Description:\n1. Main characters: Ann.\n2. Actions: Ann runs.",
    "the most attractive characters": "the characters who draw the eye most",
    "their actions": "on what they do",
    "related key objects": "on the key objects that belong to it",
    "first names": "Call characters by their first name",
    "no titles": 'without any title such as "Mrs." or "Professor"',
    "pronouns where names are missing": 'Where no name is known write "he", "she" or "they"',
    "never a man": 'do not write "a man" or "a woman"',
    "no camera": "Leave the camera out",
    "no weight on talking": "do not dwell on the fact that somebody is talking",
    "concrete and specific objects": "Choose objects that are concrete and particular",
    "most of all without characters": "most of all where no characters are seen",
    "no mood": "Say nothing about the mood of the characters",
    "nothing that the input does not say": "Say nothing that the description does not say",
    "verbs, if they fit": "See whether one of these movements takes place",
    "in decreasing priority": "the first being the most welcome",
    "and use them": "and if so use that verb: look, turn, take, hold, pull, walk, run, watch, stare, grab, "
    "fall, get, go, open, smile.",
    "a narrator's perspective": "as a narrator would speak it",
    "the limit of words": "Stay within 9 words.",
    "JSON": 'Answer in JSON, in this form:\n{"summarized_AD": "..."}',
    "examples": "Answers to other clips looked like this:\n{",
}


SYSTEM = (
    "into one sentence",
    "nothing stands before it and nothing after it",
    "audio description for a TV series",
)
ASSISTANT = (
    "five alternatives",
    "Write five different sentences as a narrator would speak them.",
    "Each must be right on its own",
    "each must put its weight on other key characters, actions and movements",
)


def test_system_prompt_and_assistant_mode_of_algorithm_2() -> None:
    settings = PromptSettings(medium="TV series")
    system = stage2_messages(DESCRIBED, plan_of("pc"), config_of(settings))[0].text
    assert [words for words in SYSTEM if words not in system] == []
    assert [words for words in ASSISTANT if words not in stage2_text(candidates=5)] == []


def test_prompts_do_not_repeat_the_papers_sentences() -> None:
    """Eight words in a row, taken from the paper's algorithms, would be a copy."""
    paper = Path(__file__).resolve().parents[3] / "shared" / "seeds" / "shot-by-shot-paper.txt"
    if not paper.is_file():
        pytest.skip(f"needs the paper's text in {paper}")

    def runs(text: str, n: int = 8) -> set[tuple[str, ...]]:
        words = re.findall(r"[a-z']+", text.lower())
        return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}

    ours = " ".join(
        text
        for folder in ("material", "stage1", "stage2", "story", "verify")
        for text in shipped_prompts(folder).values()
    )
    theirs = paper.read_text(encoding="utf-8")
    assert runs(theirs), "the paper has words"
    assert runs(ours) & runs(theirs) == set()
