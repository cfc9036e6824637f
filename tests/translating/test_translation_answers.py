"""Answers of models that translate: read in whatever form they come."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval, ScriptError, language_of
from shotad.description.translation_prompt import (
    Around,
    SourceLine,
    Task,
    faults_of,
    messages,
    read_answer,
)
from shotad.script import Cue

IDS = ("s00010000", "s00020000")
DOOR, SIGN = "Sie öffnet die Tür.", "Auf dem Schild steht „Ausgang“."
BOTH = dict(zip(IDS, (DOOR, SIGN), strict=True))


@pytest.mark.parametrize("answer", [
    json.dumps(BOTH),
    json.dumps(BOTH, ensure_ascii=False, indent=2),
    f"Here are the translations:\n```json\n{json.dumps(BOTH)}\n```\nLet me know!",
    f"<think>The door, {{}} hm.</think>{json.dumps(BOTH)}",
    json.dumps([{"id": name, "translation": text} for name, text in BOTH.items()]),
    "\n".join(json.dumps({"id": name, "line": text}) for name, text in BOTH.items()),
    json.dumps(BOTH)[:-1],
    json.dumps({**BOTH, "s00030000": "Mehr."}),
    f'{IDS[0]}: "{DOOR}"\n{IDS[1]}: "{SIGN}"',
])  # fmt: skip
def test_translations_are_read(answer: str) -> None:
    assert read_answer(answer, IDS) == BOTH


@pytest.mark.parametrize(
    "answer", ["", "...", "[1, 2]", "{}", '{"s00010000": "..."}', "Sure!\n\nWhat?", "{" * 3000]
)
def test_an_answer_without_a_translation_is_told(answer: str) -> None:
    with pytest.raises(ScriptError):
        read_answer(answer, IDS)


@given(st.text(max_size=300))
def test_no_answer_brings_the_reader_down(answer: str) -> None:
    try:
        found = read_answer(answer, IDS)
    except ScriptError:
        return
    assert set(found) <= set(IDS)
    assert all(text and "\n" not in text for text in found.values())


def line(text: str, words: int = 20, *names: str) -> SourceLine:
    cue = Cue("s00010000", "s00010000", Interval(10, 12), text)
    return SourceLine(cue, Interval(10, 15), words, names)


def kinds(said: str, of: SourceLine, target: str = "de") -> list[str]:
    task = Task(language_of("en"), language_of(target))
    return [fault.rule for fault in faults_of(said, of, task)]


@pytest.mark.parametrize(("said", "of", "target", "found"), [
    (DOOR, line("She opens the door."), "de", []),
    ("She opens the door.", line("She opens the door."), "de", ["language"]),
    ("Elle ouvre la porte et sort de la maison.", line("She opens it."), "de", ["language"]),
    ("Kim Lee, Max Roe.", line("Kim Lee, Max Roe."), "de", ["copied"]),
    ("Kim Lee.", line("Kim Lee."), "de", []),
    ("Annas Hund bellt.", line("Ann's dog barks.", 20, "Ann"), "de", []),
    ("Anna otwiera drzwi i patrzy.", line("Anna opens.", 20, "Anna"), "pl", []),
    ("Widzi Annę i patrzy.", line("She sees Anna.", 20, "Anna"), "pl", []),
    ("Анна открывает дверь.", line("Anna opens the door.", 20, "Anna"), "ru", []),
    ("Schneewittchen schläft.", line("Snow sleeps.", 20, "Snow"), "de", ["name"]),
    ("安娜打开门。", line("Anna opens the door.", 20, "Anna"), "zh-Hans", []),
    ("アンナがドアを開ける。", line("Anna opens the door.", 20, "Anna"), "ja", []),
    ("안나가 문을 연다.", line("Anna opens the door.", 20, "Anna"), "ko", []),
    ("安娜打开门。", line("Anna opens the door.", 20, "Anna"), "ja", []),
    (DOOR, line("She opens the door.", 2), "de", ["length"]),
    ("- Sie öffnet", line("She opens."), "de", ["markup"]),
    ("Auf dem Schild: Ausgang.", line('A sign: "Exit".'), "de", ["quote"]),
    ("На табличке «Выход».", line('A sign: "Exit".'), "ru", []),
])  # fmt: skip
def test_faults_are_found(said: str, of: SourceLine, target: str, found: list[str]) -> None:
    assert kinds(said, of, target) == found


@given(st.text(min_size=1, max_size=200))
def test_no_line_leaves_its_place_in_the_prompt(text: str) -> None:
    cue = Cue("s00010000", None, Interval(1, 2), "x")
    object.__setattr__(cue, "text", text)
    told = messages(
        [SourceLine(cue, Interval(1, 2), 3)], Task(language_of("en"), language_of("de")), Around()
    )
    rows = [row for row in told[1].text.split("\n") if row.startswith('{"id"')]
    assert len(rows) == 1
    assert json.loads(rows[0])["line"] == " ".join(text.split())
