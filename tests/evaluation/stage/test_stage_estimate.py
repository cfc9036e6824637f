"""What a run of STAGE asks, told before it asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.description.templates import tokens_in
from shotad.evaluation import evaluate_questions, evaluate_role_play, evaluate_timelines
from shotad.evaluation.stage import read_stage
from shotad.evaluation.stage_estimate import estimate_stage
from tests.cli.program import Said, Shotad
from tests.evaluation.cml.script_reader import word_context
from tests.evaluation.judges.judging import ScriptedEngine
from tests.evaluation.stage.longfilm import READER, Reader, write_long_film
from tests.evaluation.stage.stagefilm import GRADER, MODEL, Grader, Model, write_film


def sent(engine: type[ScriptedEngine]) -> int:
    return sum(tokens_in(message.text) for request in engine.asked for message in request.messages)


@pytest.mark.parametrize("method", ["none", "full", "bm25", "hybrid", "pageindex", "graph"])
def test_questions_are_counted_as_they_are_asked(tmp_path: Path, method: str) -> None:
    Reader.asked.clear()
    films = read_stage(write_long_film(tmp_path / "film"))
    estimate = estimate_stage(films, "questions", (method,))["engine"]
    run = evaluate_questions(films, READER, word_context(), judge=GRADER, memory=(method,))
    if method == "graph":
        # How many communities there are shows only in the graph; nobody has anybody here, so no social relations.
        assert estimate["questions"] - 41 - 11 == len(Reader.asked) - len(run.items[-1]["reports"])
    elif method == "pageindex":
        # A part of eight scenes, as many as are given, is opened without a question.
        assert 46 + 4 * 5 < len(Reader.asked) <= estimate["questions"]
    else:
        assert estimate["questions"] == len(Reader.asked)
    # What the engine writes is shorter in this film than the estimate assumes.
    assert 0.7 * sent(Reader) < estimate["sent"] < 4 * sent(Reader)


def test_timelines_are_counted_as_they_are_asked(tmp_path: Path) -> None:
    Reader.asked.clear()
    films = read_stage(write_long_film(tmp_path / "film"))
    by_cards = estimate_stage(films, "timelines", ("cards",), limit=1)
    evaluate_timelines(films, READER, word_context(), judge=GRADER, memory=("cards",), limit=1)
    assert by_cards["engine"]["questions"] == len(Reader.asked) == 41 + 24 + 1
    assert 0.7 * sent(Reader) < by_cards["engine"]["sent"] < 2 * sent(Reader)
    at_once = estimate_stage(films, "timelines", ("full",), limit=1)
    assert at_once["engine"]["questions"] == 2
    assert at_once["judge"] == by_cards["judge"]
    # Facts twice, 8 of each, 22 transitions, and two arcs in two methods.
    assert at_once["judge"]["questions"] == 2 + 16 + 22 + 4


@pytest.mark.parametrize("memory", ["full", "none"])
def test_role_play_is_counted_as_it_is_asked(tmp_path: Path, memory: str) -> None:
    Model.asked.clear()
    Grader.asked.clear()
    films = read_stage(write_film(tmp_path / "film"))
    estimate = estimate_stage(films, "role-play", (memory,))
    evaluate_role_play(films, MODEL, word_context(), judge=GRADER, memory=(memory,))
    assert estimate["engine"]["questions"] == len(Model.asked) + 1  # two interviews begin with one question
    assert estimate["judge"]["questions"] == len(Grader.asked)
    assert 0.7 * sent(Model) < estimate["engine"]["sent"] < 2 * sent(Model)


def test_the_command_asks_nothing(shotad: Shotad, tmp_path: Path) -> None:
    folder = write_long_film(tmp_path / "film")
    Reader.asked.clear()

    def estimate(*words: object) -> Said:
        return shotad("evaluate", "stage", folder, "--estimate", *words)

    said = estimate("--task", "questions", "--memory", "pageindex", "--json")
    assert (said.code, json.loads(said.out)["engine"]["questions"]) == (0, 46 + 4 * (2 + 5))
    said = estimate("--task", "timelines", "--limit", 1, "--engine", READER)
    assert said.out.startswith("About 2 questions to the engine (")
    assert Reader.asked == []
    said = estimate("--task", "role-play", "--memory", "hybrid")
    assert said.code == 2
    assert "Known: none, full, bm25, dense." in said.err
    said = estimate("--task", "timelines", "--top", 3)
    assert said.code == 2
    assert "--top has no meaning with timelines" in said.err
