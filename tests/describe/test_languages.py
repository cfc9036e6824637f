"""Lines in any language: tags, how long they take, how they are cut, asked for, and told from other languages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.core import (
    Interval,
    Request,
    WorkFolder,
    load_config,
)
from shotad.core.config.languages import (
    is_english,
    language_of,
    languages,
)
from shotad.core.errors import EngineError, UsageError
from shotad.description import Engines, describe
from shotad.description.translation.prompt import SourceLine, Task, faults_of
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film
from shotad.script import (
    Cue,
    CueStatus,
    read_cues,
    split_sentences,
)
from shotad.script.fit import fit_spoken, with_native_punctuation
from shotad.script.pace import budget_in_language_units, spoken_words
from tests.cli.program import FAKE
from tests.describe.prompting import SHARED, human_ad, write
from tests.describe.slot_run import AS_THEY_COME, last_slot, lines_json, run_slots
from tests.media import FilmSpec, make_film


@pytest.mark.parametrize(("tag", "near"), [
    ("german", "de"), ("Deutsch", "de"), ("deu", "de"), ("portugese", "pt"), ("中文", "zh"), ("de-", "de"),
    ("zh-Hanz", "zh-Han"), ("de-XX", "de"), ("eng-US", "en"),
])  # fmt: skip
def test_a_tag_that_is_none_is_refused_with_the_nearest(tag: str, near: str) -> None:
    with pytest.raises(UsageError) as refused:
        language_of(tag)
    assert repr(tag) in refused.value.what
    assert f"Did you mean {near}" in refused.value.hint or f"Write {near} for" in refused.value.hint


@given(st.text(max_size=12))
def test_no_tag_brings_it_down(tag: str) -> None:
    try:
        found = language_of(tag)
    except UsageError:
        return
    assert language_of(found.tag) == found
    assert is_english(found.tag) == found.english


@pytest.mark.parametrize(("text", "tag", "english"), [
    ("Sie öffnet die Haustür und tritt hinaus.", "de", 8),
    ("เธอเปิดประตูและเดินออกไป", "th", 8),
    ("वह दरवाज़ा खोलती है।", "hi", 5),
])  # fmt: skip
def test_a_line_takes_about_as_long_as_its_english(text: str, tag: str, english: int) -> None:
    """Six or seven English words: She opens the (front) door and goes out."""
    assert spoken_words(text, tag) == english
    assert all(budget_in_language_units(any_tag, 1) >= 1 for any_tag in languages()), "never nothing"


@pytest.mark.parametrize(("text", "tag", "own"), [
    ("他打开门, 走进去.", "zh-Hans", "他打开门，走进去。"),
    ('Devant " Chez Paul ".', "fr", 'Devant "Chez Paul".'),
    ("He waits, then goes.", "en", "He waits, then goes."),
])  # fmt: skip
def test_lines_have_the_signs_of_their_script(text: str, tag: str, own: str) -> None:
    assert with_native_punctuation(text, tag) == own


SPOKEN = SourceLine(Cue("s00001000", None, Interval(1, 9), "Kim."), Interval(1, 9), 99)


def other_language(text: str, tag: str) -> str:
    """The language in which a translation plainly is instead of the one asked for; empty where it may be it."""
    complaints = faults_of(text, SPOKEN, Task(language_of("pl"), language_of(tag)))
    (found,) = [complaint.text for complaint in complaints if complaint.rule == "language"] or [""]
    return found.removeprefix("It is in ").split(". ")[0]


@pytest.mark.parametrize(("text", "tag", "found"), [
    ("Ann nods slowly.", "de", "English"),
    ("Sie sieht die Karte an und geht in das Haus.", "fr", "German"),
    ("Она открывает дверь.", "de", "Russian"),
    ("彼女はドアを開ける。", "zh", "Japanese"),
    ("On otvara vrata.", "sr-Cyrl", "another script"),
    ('Auf dem Schild steht: "The end of the world is here".', "de", ""),
    ("", "de", ""),
    ("Ein Mann in einem Auto.", "en", "German"),
])  # fmt: skip
def test_another_language_is_found(text: str, tag: str, found: str) -> None:
    assert other_language(text, tag) == found


def test_human_ad_and_captions_are_told_apart() -> None:
    """95 of 100 English AD lines are found; of captions in eight languages hardly any is doubted."""
    lines = human_ad(10)
    for tag in ("de", "fr", "es", "it", "ru"):
        found = sum(bool(other_language(line, tag)) for line in lines)
        assert found >= 0.93 * len(lines), tag
    assert sum(bool(other_language(line, "en")) for line in lines) <= 1
    doubted = total = 0
    for path in sorted((SHARED / "ad-text" / "able-player").glob("*.vtt")):
        named = re.search(r"_([a-z]{2}(?:-br)?)\.vtt$", path.name)
        if named and named[1] != "en":
            texts = [cue.text for cue in read_cues(path)]
            total += len(texts)
            doubted += sum(bool(other_language(text, named[1])) for text in texts)
    assert total > 400
    assert doubted <= 2


# Cut at their own signs, by the time they take


LONG = "Die Donaudampfschifffahrtsgesellschaft legt ab, während Menschen am Ufer winken."
"""Nine words that take as long as seventeen English ones."""


@pytest.mark.parametrize(("language", "text", "budget", "fitted"), [
    ("de", LONG, 17, LONG),
    ("de", LONG, 16, "Die Donaudampfschifffahrtsgesellschaft legt ab."),
    ("de", LONG, 8, None),
    ("de", "Er öffnet die Haustür. Draußen fällt Regen auf die Straße.", 10, "Er öffnet die Haustür."),
    ("zh-Hans", "他打开门，走进去。", 5, "他打开门。"),
    ("zh-Hans", "他打开门走进去了然后坐下", 6, None),
])  # fmt: skip
def test_a_line_is_cut_at_its_own_signs(language: str, text: str, budget: int, fitted: str | None) -> None:
    found = fit_spoken(text, budget, language=language)
    assert (found.text if found else None) == fitted


PIECES = "Er geht, und sie. Tür Haustür; langsam – er! Дом дверь. هو يذهب، ثم."
WORDS = st.lists(st.sampled_from(PIECES.split(" ")))


@given(
    WORDS.map(" ".join), st.integers(1, 30), st.sampled_from(["de", "ru", "ar", "fi", "hi", "zh", "ja", "th"])
)
def test_what_fits_is_said_in_time(text: str, budget: int, language: str) -> None:
    found = fit_spoken(text, budget, language=language)
    if found is not None:
        assert spoken_words(found.text, language) <= budget
        assert bool(found.steps) == (found.text != text)


@pytest.mark.parametrize(("language", "text", "parts"), [
    ("de", "Er kommt am 3. Mai an. Öffnet er die Tür?", ["Er kommt am 3. Mai an.", "Öffnet er die Tür?"]),
    ("ar", "يدخل الرجل. هل تراه؟ لا.", ["يدخل الرجل.", "هل تراه؟", "لا."]),
    ("de", "„Halt!“ ruft er.", ["„Halt!“ ruft er."]),
    ("en", "Dr. Who waits on May 3. A sign reads \"Stop. Go.\" He stops.", ["Dr. Who waits on May 3.", 'A sign reads "Stop. Go."', "He stops."]),
])  # fmt: skip
def test_sentences_end_as_their_language_has_it(language: str, text: str, parts: list[str]) -> None:
    assert split_sentences(text, language) == parts


# Asked for, and judged


@pytest.mark.parametrize(("line", "tag", "complaint"), [
    ("Ann opens the door.", "de", "It is in English. Write it in German."),
    ("Ein Mann war in der Küche gesehen worden.", "de", ""),
    ("Ann öffnet die Tür und geht hinaus auf die Straße.", "de", "It takes too long to say."),
    ("安娜打开门，然后慢慢地走到大街上去看雨。", "zh", "It takes too long to say."),
])  # fmt: skip
def test_only_what_holds_in_any_language_is_complained_about(line: str, tag: str, complaint: str) -> None:
    answers = [lines_json(line)] * (2 if complaint else 1)
    complaints = write(*answers, how=(f"language={tag}",)).record["complaints"]
    assert [texts[0][: len(complaint)] for texts in complaints.values()] == [complaint] * bool(complaint)


def placed(language: str, *lines: str) -> Cue:
    how = (*AS_THEY_COME, f"language={language}", f"stage2.candidates={len(lines)}")
    return run_slots(last_slot(*lines, interval=Interval(10, 16), max_words=16), how=how).cue


def test_a_line_is_in_its_language_and_as_long_as_it_takes_to_say() -> None:
    failed = placed("de", "Ann opens the door.")
    assert (failed.status, failed.text, failed.language) == (CueStatus.FAILED, "", "de")
    assert "is in English, not in German: Ann opens the door." in failed.reason
    assert placed("de", "Ann opens the door.", "Ann öffnet die Tür.").chosen == 1
    compound = placed("de", "Ann öffnet die Haustür der Donaudampfschifffahrtsgesellschaft.")
    assert compound.interval.duration == pytest.approx(14 * 0.375)
    assert placed("zh", "安娜打开门，走了出去。").interval.duration == pytest.approx(8 * 0.375)
    long = placed("de", f"{LONG[:-1]} und lachen und Ann geht langsam nach Hause und schläft.")
    assert long.status is CueStatus.SHORTENED
    whole = f"{LONG.split(',', maxsplit=1)[0].replace(' legt ab', '')} hält vor der Donaudampfschifffahrtsgesellschaft."
    dropped = placed("de", whole)
    assert dropped.status is CueStatus.DROPPED
    assert "longer than the " in dropped.reason


def test_a_film_is_described_in_german(tmp_path: Path) -> None:
    def german(request: Request) -> str:
        """In English at first, in German when it was told so."""
        if request.schema is None:
            return plain_answer(request)
        again = "It is in English" in request.messages[-1].text
        line = "Jemand geht durch das Zimmer." if again else "Somebody walks through the room."
        return json.dumps(dict.fromkeys(request.schema["properties"], line))

    config = load_config(None, [*(word for word in FAKE if "=" in word), "engine=fake", "language=de"])
    engines = Engines(FakeEngine(), FakeEngine(answer=german))
    with open_film(make_film(FilmSpec(frames=200)).path) as film, WorkFolder(tmp_path / "w") as folder:
        track = describe(film, folder, config, engines=engines, sheet=False).track
    assert {(cue.text, cue.language) for cue in track.heard} == {("Jemand geht durch das Zimmer.", "de")}
    with pytest.raises(EngineError, match="writes English, not language = 'de'"):
        Engines.of(load_config(None, ["engine=embedded", "language=de"]))
