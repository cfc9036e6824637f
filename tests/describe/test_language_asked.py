"""Stage II in other languages: what it is asked, what is complained about, what becomes of a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shotad.core import (
    NOBODY,
    EngineError,
    Interval,
    PromptSettings,
    Request,
    Slot,
    UsageError,
    WorkFolder,
    load_config,
)
from shotad.description import Engines, describe, render
from shotad.description.checks import complaints_about, stage2_again
from shotad.description.prompts import stage2_messages
from shotad.description.slot_writer import Around, cue_of
from shotad.description.story import story_of
from shotad.description.verify import statements_in
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film
from shotad.script import CueStatus
from tests.cli.program import FAKE
from tests.describe.prompting import DESCRIBED, stage2_text
from tests.media import FilmSpec, make_film

SLOT = Slot("s00010000", Interval(10.0, 16.0), 16)
STAGE1: dict[str, Any] = {
    "error": None, "notes": {}, "maker": {"engine": "e", "model": "", "revision": ""}, "prompt": [], "seed": 1,
    "steps": {"Actions": "Ann runs."}, "explanation": "", "raw": "", "engine": "e",
}  # fmt: skip


@pytest.mark.parametrize("candidates", [1, 3])
@pytest.mark.parametrize("tag", ["en", "en-GB"])
def test_an_english_prompt_is_what_it_was(tag: str, candidates: int) -> None:
    plain = stage2_messages(DESCRIBED, 9, PromptSettings(), seed=42, candidates=candidates)
    assert (
        stage2_messages(DESCRIBED, 9, PromptSettings(), seed=42, candidates=candidates, language=tag) == plain
    )
    assert "English" not in plain.messages[1].text
    assert "- Stay within 9 words" in plain.messages[1].text


def test_another_language_is_asked_for_with_its_own_budget() -> None:
    text = stage2_text(language="de-AT")
    assert "- Write in German (Austria) alone" in text
    assert "Stay within 7 words.\n" in text
    assert "but in English" in text
    assert "yours is in German (Austria)" in text
    assert "Stay within 10 characters." in stage2_text(language="zh-Hans")
    assert "yours are in German" in stage2_text(language="de", candidates=3)


def test_examples_in_the_language_are_not_called_english() -> None:
    text = stage2_text(language="de", examples=("Sie nickt.", "Er öffnet die Tür.", "Sie gehen in das Haus."))
    assert "but in English" not in text
    assert "Answers to other clips looked like this:" in text


def test_a_tag_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="Did you mean de"):
        stage2_text(language="german")


@pytest.mark.parametrize(
    ("line", "tag", "rules"),
    [
        ("Ann opens the door.", "de", ["language"]),
        ("Ann öffnet die Tür.", "de", []),
        ("Ein Mann war in der Küche gesehen worden.", "de", []),
        ("**Ann** öffnet die Tür.", "de", ["L5"]),
        ("Ann öffnet die Tür und geht hinaus auf die Straße.", "de", ["budget"]),
        ("安娜打开门。", "zh", []),
        ("安娜打开门，然后慢慢地走到大街上去看雨。", "zh", ["budget"]),
    ],
)
def test_only_what_holds_in_any_language_is_complained_about(line: str, tag: str, rules: list[str]) -> None:
    assert [one.rule for one in complaints_about(line, 9, language=tag)] == rules


def test_the_model_is_told_in_which_language() -> None:
    wrong = complaints_about("Ann opens the door.", 9, language="pt-BR")
    told = stage2_again(
        stage2_messages(DESCRIBED, 9, PromptSettings(), seed=1, language="pt-BR").messages,
        "{}",
        [("Ann opens the door.", wrong)],
        candidates=1,
        wanted=1,
    )
    assert "It is in English. Write it in Portuguese (Brazil)." in told[-1].text


def stage2(*lines: str) -> dict[str, object]:
    return {
        "error": None, "finish": "stop", "candidates": list(lines), "notes": {}, "unseen": {}, "prompt": [],
        "maker": {"engine": "e", "model": "", "revision": ""}, "seed": 1,
    }  # fmt: skip


def test_a_line_in_another_language_is_never_spoken() -> None:
    config = load_config(None, ["language=de"])
    failed = cue_of(SLOT, STAGE1, stage2("Ann opens the door."), config, Around())
    assert (failed.status, failed.text, failed.language) == (CueStatus.FAILED, "", "de")
    assert "is in English, not in German: Ann opens the door." in failed.reason
    placed = cue_of(SLOT, STAGE1, stage2("Ann opens the door.", "Ann öffnet die Tür."), config, Around())
    assert (placed.text, placed.chosen) == ("Ann öffnet die Tür.", 1)


def test_a_line_is_as_long_as_it_takes_to_say() -> None:
    config = load_config(None, ["language=de"])
    line = "Ann öffnet die Haustür der Donaudampfschifffahrtsgesellschaft."
    placed = cue_of(SLOT, STAGE1, stage2(line), config, Around())
    assert placed.interval.duration == pytest.approx(14 * 0.375)
    chinese = load_config(None, ["language=zh"])
    placed = cue_of(SLOT, STAGE1, stage2("安娜打开门，走了出去。"), chinese, Around())
    assert placed.interval.duration == pytest.approx(8 * 0.375)


def test_a_second_look_takes_other_languages_by_the_sentence() -> None:
    line = "Ann läuft, sieht in das Zimmer und lacht. Bo winkt."
    assert statements_in(line, "de") == ("Ann läuft, sieht in das Zimmer und lacht.", "Bo winkt.")
    assert len(statements_in("Ann runs, looks into the room and laughs.")) == 3


def test_german_nouns_are_no_names_in_use() -> None:
    lines = ["Dann öffnet Ann die Tür.", "Bo und Ann sehen den Hund."]
    german, french = (load_config(None, [f"language={tag}", "story.on=true"]) for tag in ("de", "fr"))
    label = render("story/names", names="|").split("|")[0]
    assert label not in story_of(SLOT, lines, (), "", NOBODY, german)
    assert label in story_of(SLOT, lines, (), "", NOBODY, french)


def test_the_embedded_narrator_refuses_another_language() -> None:
    with pytest.raises(EngineError, match="writes English, not language = 'de'"):
        Engines.of(load_config(None, ["engine=embedded", "language=de"]))


def german(request: Request) -> str:
    """Answers Stage II in English at first, in German when it was told so."""
    if request.schema is None:
        return plain_answer(request)
    again = "It is in English" in request.messages[-1].text
    line = "Jemand geht durch das Zimmer." if again else "Somebody walks through the room."
    return json.dumps(dict.fromkeys(request.schema["properties"], line))


def test_a_film_is_described_in_german(tmp_path: Path) -> None:
    path = make_film(FilmSpec(frames=200)).path
    config = load_config(None, [*(word for word in FAKE if "=" in word), "engine=fake", "language=de"])
    writes = FakeEngine(answer=german)
    with open_film(path) as film, WorkFolder(tmp_path / "w") as folder:
        outcome = describe(film, folder, config, engines=Engines(FakeEngine(), writes), sheet=False)
    assert outcome.track.language == "de"
    assert {cue.text for cue in outcome.track.heard} == {"Jemand geht durch das Zimmer."}
    assert {cue.language for cue in outcome.track.cues} == {"de"}
