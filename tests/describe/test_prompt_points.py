"""Every point of Algorithms 1 and 2 stands in the prompts, in their order and in words of ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shotad.core import Grammar, PromptSettings, shipped_prompts
from shotad.description.prompts import stage2_messages
from tests.describe.prompting import DESCRIBED, L, config_of, people, plan_of, stage1, stage2_text, text_of

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
