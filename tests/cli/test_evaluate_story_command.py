"""``shotad evaluate story`` as a user meets it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.program import Said, Shotad
from tests.evaluation.story.storyfilms import HERE, READER, Reader, make_table, write_questions

TOLD = {"Anna": ("letter", "cat", "lamp"), "Bert": ("letter",)}


@pytest.fixture
def told(shotad: Shotad, tmp_path: Path) -> Shotad:
    make_table(tmp_path, TOLD)
    write_questions(tmp_path / "q.jsonl", *TOLD)
    Reader.asked.clear()

    def call(*words: object, engine: str = READER) -> Said:
        return shotad("evaluate", "story", *words, "--engine", engine, "--cache", tmp_path / "kept.sqlite")

    return call


def test_a_table_of_films(told: Shotad, tmp_path: Path) -> None:
    said = told(tmp_path / "films.csv", "--questions", tmp_path / "q.jsonl", "--tries", 2)
    assert said.code == 0, said.err
    assert "12 questions on 2 films, answered by reader, 2 tries each." in said.out
    assert "- answered from nothing: 0 % (by chance 25 %)" in said.out
    assert "- the right option is number 1 in 2, 2 in 2, 3 in 4, 4 in 4 questions;" in said.out
    assert "dialogue + this AD            50.0 (−161.8 to 261.8)    50.0  +33.3 (−178.4 to 245.1)" in said.out
    assert "Not asked: full script, not there for 2 of 2 films (Anna, Bert)." in said.out
    assert "Missing in this AD: 6 questions lost." in said.out
    assert "- Anna 00:00:50, slot with a line: Where does Anna find the boat? place 5" in said.out
    record = json.loads((tmp_path / "films.story" / "story.json").read_text(encoding="utf-8"))
    assert record["conditions"]["ad"]["accuracy"] == 50
    assert record["tells_good_from_bad"]["answer"] is False
    with (tmp_path / "films.story" / "missing.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(record["missing"]) == 6
    assert rows[0] == {
        "film": "Anna", "time": "00:00:50.000", "start": "50.0", "end": "53.0",
        "question": "Where does Anna find the boat?", "answer": "place 5", "said": "place 9",
        "known_by": "human", "room": "slot with a line", "slots": "s00050000",
        "lines": "Somebody stands there.",
    }  # fmt: skip
    asked = len(Reader.asked)
    again = told(tmp_path / "films.csv", "--questions", tmp_path / "q.jsonl", "--tries", 2, "--json")
    assert json.loads(again.out)["conditions"] == record["conditions"]
    assert len(Reader.asked) == asked


def test_one_film_with_questions_that_are_made(told: Shotad, tmp_path: Path) -> None:
    film, human, made = tmp_path / "Anna.shotad", tmp_path / "Anna.human.vtt", tmp_path / "made.csv"
    said = told(film, "--human", human, "--make", made, engine=f"{HERE}:Maker")
    assert said.out.startswith(f"{made}: 1 question on 1 film. Read them before you use them")
    said = told(film, "--human", human, "--questions", made, "--conditions", "ad,human")
    assert said.code == 0, said.err
    record = json.loads((tmp_path / "Anna.story" / "story.json").read_text(encoding="utf-8"))
    assert list(record["conditions"]) == ["nothing", "dialogue", "ad", "human"]
    assert record["conditions"]["human"]["gain"] == 100


def test_an_estimate_asks_nothing(told: Shotad, tmp_path: Path) -> None:
    said = told(tmp_path / "films.csv", "--questions", tmp_path / "q.jsonl", "--estimate")
    assert said.out.startswith("At most 360 answers with 0.1 million characters of lines, and 0 checks")
    assert not Reader.asked


def test_a_film_that_was_not_described(told: Shotad, tmp_path: Path) -> None:
    film = tmp_path / "Cleo.mp4"
    with film.open("wb") as file:
        file.truncate(20 << 20)
    said = told(film, "--questions", tmp_path / "q.jsonl")
    assert said.code == 1
    assert "Cleo.mp4 is no script of AD, and has no track" in said.err
    assert "Run shotad describe on the film first" in said.err
