"""The methods in which a question of STAGE reaches its evidence: words and vectors fused, a tree of summaries, a graph."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from shotad.core.errors import EngineError, EvaluationError
from shotad.evaluation import Store, evaluate_questions, evaluate_role_play, evaluate_timelines
from shotad.evaluation.stage import GraphEntity, GraphRelation, StageFilm, StageGraph, StageRun, read_stage
from shotad.evaluation.stage_graph import communities_of
from shotad.evaluation.store import LONGEST
from shotad.script.embeddings import Vectors
from tests.cli.program import Shotad
from tests.evaluation.cml.script_reader import word_context
from tests.evaluation.judges.judging import bench_of, keys_of
from tests.evaluation.stage.longfilm import (
    PLACES,
    QUESTIONS,
    READER,
    SCENES,
    THINGS,
    Reader,
    hiding,
    write_long_film,
)
from tests.evaluation.stage.stagefilm import GRADER, Grader
from tests.evaluation.standins import Words


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    Reader.asked.clear()
    Grader.asked.clear()
    yield
    Reader.fails_on, Reader.stops_after = "", 10**9


@pytest.fixture
def films(tmp_path: Path) -> tuple[StageFilm, ...]:
    return tuple(read_stage(write_long_film(tmp_path / "film")))


def figures(run: StageRun) -> dict[str, float | None]:
    return {result.name: result.value for result in run.results}


def asked_for(*keys: str) -> int:
    return sum(keys_of(request) == list(keys) for request in Reader.asked)


class RankedVectors(Words):
    """Texts with a number of their own are as near to any question as it says."""

    nearness: ClassVar = {"Room one": 0.5, "Room two": 0.1, "Room three": 0.9}

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        near = [next((value for name, value in self.nearness.items() if name in text), 1.0) for text in texts]
        return np.array([(value, np.sqrt(1 - value**2)) for value in near], np.float32)


def test_hybrid_adds_up_ranks_by_words_and_by_vectors(tmp_path: Path) -> None:
    thing = THINGS[2]
    contents = {
        1: f"Room one. The {thing}, the {thing}.", 2: f"Room two. The {thing}.", 3: "Room three.",
    } | dict.fromkeys(range(4, SCENES + 1), "Room two, again.")  # fmt: skip
    films = read_stage(write_long_film(tmp_path / "film", contents))
    context = bench_of()
    context.once("vectors", RankedVectors)
    run = evaluate_questions(films, READER, context, judge=GRADER, memory=("hybrid",), top=2, limit=1)
    # By words 1 and 2, by vectors 3 and 1: 1 has both ranks, and 3 goes before 2 by its rank.
    assert run.items[0]["scenes"] == ["1", "3"]


class FirstWords(Words):
    """Reads no more of a text than the evaluation's vectors do."""

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        return super().of([text[:LONGEST] for text in texts], prompt=prompt)


def test_hybrid_finds_what_stands_late_in_a_long_scene(tmp_path: Path) -> None:
    number, long = QUESTIONS[0][0], "\n".join(f"Rain falls on roof {n}." for n in range(200))
    folder = write_long_film(tmp_path / "film", {9: f"{long}\n{'ΑΒΓ ΔΕΖ. ' * 60}"})
    questions = folder / "task_2_question_answering.csv"
    text = questions.read_text(encoding="utf-8-sig").replace(
        f"Where is the {THINGS[number - 1]}?", "ΑΒΓ ΔΕΖ?"
    )
    questions.write_text(text, encoding="utf-8")
    context = bench_of()
    context.once("vectors", FirstWords)
    given = {}
    for method in ("hybrid", "dense"):
        # The engine of this film knows nothing of that question; what it is given is what counts.
        run = evaluate_questions(read_stage(folder), GRADER, context, memory=(method,), top=1, limit=1)
        given[method] = run.items[0]["scenes"]
    assert given["hybrid"] == ["9"]
    assert given["dense"] != ["9"]


def test_the_engine_walks_a_tree_of_summaries(films: tuple[StageFilm, ...]) -> None:
    run = evaluate_questions(films, READER, word_context(), judge=GRADER, memory=("pageindex",), top=2)
    assert [item["scenes"] for item in run.items[:-1]] == [[str(number)] for number, _ in QUESTIONS]
    # A summary of each scene, and of the five parts that they make; then two lists for each question.
    assert asked_for("summary") == SCENES + 5
    assert asked_for("reason", "parts") == 2 * len(QUESTIONS)
    walks = [request.messages[1].text for request in Reader.asked if keys_of(request) == ["reason", "parts"]]
    assert "Scenes 1 to 8" in walks[0]
    assert {request.sampling.temperature for request in Reader.asked if keys_of(request) == ["summary"]} == {
        0
    }
    values = figures(run)
    assert values["pageindex: pass@5"] == 75
    assert values["pageindex: average accuracy, Scene Grounding"] == 100
    assert values["pageindex: average accuracy, Narrative Progression"] == 0
    assert values["pageindex: index answers"] == 100
    assert run.items[-1]["requests"] == SCENES + 5


def test_a_walk_that_fails_is_a_wrong_answer(films: tuple[StageFilm, ...]) -> None:
    Reader.fails_on = f'The question: "Where is the {THINGS[2]}?"'
    run = evaluate_questions(films, READER, word_context(), judge=GRADER, memory=("pageindex",), limit=2)
    lost, found = run.items[:2]
    assert (lost["scenes"], lost["said"], lost["right"]) == ([], [""] * 5, [False] * 5)
    assert "JSON" in lost["failure"]
    assert all(found["right"])
    assert figures(run)["pageindex: pass@5"] == 50
    assert run.results[0].failed == 1


def test_a_summary_that_fails_is_counted(films: tuple[StageFilm, ...]) -> None:
    Reader.fails_on = f"{hiding(5)}\\nBOB"
    run = evaluate_questions(films, READER, word_context(), judge=GRADER, memory=("pageindex",), limit=1)
    assert figures(run)["pageindex: index answers"] == pytest.approx(100 * 45 / 46)
    assert "1 of 46 answers" in run.items[-1]["failure"]
    assert all(run.items[0]["right"])


def test_the_graph_of_the_story_and_its_reports(films: tuple[StageFilm, ...]) -> None:
    run = evaluate_questions(films, READER, word_context(), judge=GRADER, memory=("graph",))
    *answers, index = run.items
    # Ann, and an event, a thing and a place in each scene; what the schema does not have is dropped.
    assert (index["entities"], index["relations"]) == (1 + 3 * SCENES, 3 * SCENES)
    assert index["dropped"] == 3 * SCENES
    assert index["released"] is False
    assert asked_for("entities") == 2 * SCENES
    # Ann is alone, so nobody is asked about relations between people.
    assert asked_for("relations") == 4 * SCENES
    assert asked_for("title", "summary") == len(index["reports"])
    assert sum(hiding(n) in report["summary"] for n in (3, 17, 30, 40) for report in index["reports"]) == 4
    assert [len(item["reports"]) for item in answers] == [8] * 4
    assert figures(run)["graph: average accuracy, Narrative Progression"] == 100
    assert figures(run)["graph: pass@5"] == 25
    last = next(request for request in Reader.asked if keys_of(request) == ["answer"])
    assert "Reports on parts of its story" in last.messages[1].text
    assert "From the screenplay" not in last.messages[1].text


def test_the_three_ways_together_are_the_oracle(films: tuple[StageFilm, ...]) -> None:
    methods = ("hybrid", "pageindex", "graph", "none")
    run = evaluate_questions(films, READER, word_context(), judge=GRADER, memory=methods)
    values = figures(run)
    assert [values[f"{method}: pass@5"] for method in methods] == [75, 75, 25, 0]
    assert values["union: pass@5"] == 100
    for kind in dict(QUESTIONS).values():
        assert values[f"union: pass@5, {kind}"] == 100
    assert run.identity["top"] == {"hybrid": 8, "pageindex": 8, "graph": 8, "none": 4}
    again = evaluate_questions(films, READER, word_context(), judge=GRADER, memory=methods[:2])
    assert not any(name.startswith("union") for name in figures(again))


def test_a_run_that_is_stopped_goes_on(films: tuple[StageFilm, ...], tmp_path: Path) -> None:
    methods = ("hybrid", "pageindex", "graph")

    def run_all(path: Path) -> StageRun:
        with Store(path) as store:
            context = bench_of(store=store)
            context.once("vectors", Words)
            return evaluate_questions(films, READER, context, judge=GRADER, memory=methods)

    whole = run_all(tmp_path / "whole.sqlite")
    questions = len(Reader.asked)
    Reader.asked.clear()
    answered = 0
    for stop in (20, 90, 200):
        Reader.stops_after = stop
        with pytest.raises(EngineError, match="gone"):
            run_all(tmp_path / "kept.sqlite")
        answered += stop
        Reader.asked.clear()
    Reader.stops_after = 10**9
    resumed = run_all(tmp_path / "kept.sqlite")
    assert resumed.record() == whole.record()
    # What was answered before each stop is not asked again; a batch may have been under method.
    assert len(Reader.asked) <= questions - answered + 3 * 2 * Reader.abilities.batch


def test_a_graph_in_the_films_folder_is_used(tmp_path: Path) -> None:
    folder = write_long_film(tmp_path / "film")
    names = ("Ann", THINGS[29], PLACES[29])  # and a relation to somebody who is not there
    entities = {
        f"ent_{n}": {
            "id": f"ent_{n}",
            "name": name,
            "type": ["Character", "Object"],
            "description": hiding(30),
        }
        for n, name in enumerate(names)
    }
    relations = [
        {"subject": "Its name", "subject_id": f"ent_{first}", "relation_type": "interacts_with",
         "object": "Its name", "object_id": f"ent_{second}", "description": "So it is."}
        for first, second in ((0, 1), (1, 2), (2, 7))
    ]  # fmt: skip
    (folder / "entity_basic_info.json").write_text(json.dumps(entities), encoding="utf-8")
    (folder / "relation_basic_info.json").write_text(json.dumps(relations), encoding="utf-8")
    run = evaluate_questions(read_stage(folder), READER, word_context(), judge=GRADER, memory=("graph",))
    assert asked_for("entities") == asked_for("relations") == 0
    assert (run.items[-1]["released"], run.items[-1]["entities"], run.items[-1]["relations"]) == (True, 3, 2)
    assert figures(run)["graph: average accuracy, Narrative Progression"] == 100


def graph_of(entities: int, ends: Iterable[tuple[int, int]]) -> StageGraph:
    return StageGraph(
        tuple(GraphEntity(id=f"e{n}", name=f"e{n}") for n in range(entities)),
        tuple(GraphRelation(subject=f"e{one}", kind="k", object=f"e{other}") for one, other in ends),
    )


def test_communities_have_as_many_entities_as_a_report_shows() -> None:
    # Two groups of five that are joined once, a pair, and one entity that is alone.
    groups = [(a, b) for start in (0, 5) for a in range(start, start + 5) for b in range(a + 1, start + 5)]
    found = communities_of(graph_of(13, [*groups, (4, 5), (10, 11)]), seed=1)
    assert [sorted(entity.id for entity in members) for members in found] == [
        [f"e{n}" for n in range(5)], [f"e{n}" for n in range(5, 10)],
    ]  # fmt: skip
    assert found[0][0].id == "e4"  # which has the most relations
    # Somebody and a hundred deeds cannot be divided: cut in order of the story, with that person in every part.
    star = communities_of(graph_of(101, [(7, n) for n in range(101) if n != 7]), seed=1)
    assert [len(members) for members in star] == [34, 34, 35]
    assert all(members[0].id == "e7" for members in star)
    assert {entity.id for members in star for entity in members} == {f"e{n}" for n in range(101)}
    # A chain of 400 is one community after the other, none larger than a report.
    chain = communities_of(graph_of(400, [(n, n + 1) for n in range(399)]), seed=1)
    assert max(map(len, chain)) <= 40
    assert sum(map(len, chain)) == 400
    assert communities_of(graph_of(5, []), seed=1) == []


def test_communities_are_the_same_in_every_process() -> None:
    code = """
from shotad.evaluation.stage import GraphEntity, GraphRelation, StageGraph
from shotad.evaluation.stage_graph import communities_of
entities = tuple(GraphEntity(id=f"e{n}", name=f"e{n}") for n in range(60))
ends = [(f"e{n}", f"e{(n * 7 + step) % 60}") for n in range(60) for step in (1, 5)]
relations = tuple(GraphRelation(subject=one, kind="k", object=other) for one, other in ends if one != other)
for members in communities_of(StageGraph(entities, relations), seed=3):
    print(*(entity.id for entity in members))
"""
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(runs) == 1
    assert len(runs.pop().splitlines()) > 2


def test_a_way_of_another_task(films: tuple[StageFilm, ...]) -> None:
    with pytest.raises(EvaluationError, match="no memory setting 'cards'"):
        evaluate_questions(films, READER, word_context(), memory=("cards",))
    with pytest.raises(EvaluationError, match="no memory setting 'graph'"):
        evaluate_role_play(films, READER, word_context(), memory=("graph",))
    with pytest.raises(EvaluationError, match="no memory setting 'bm25'"):
        evaluate_timelines(films, READER, word_context(), memory=("bm25",))
    assert Reader.asked == []


def test_the_command(shotad: Shotad, tmp_path: Path) -> None:
    folder, kept = write_long_film(tmp_path / "film"), tmp_path / "kept.sqlite"
    words = (
        "evaluate",
        "stage",
        folder,
        "--task",
        "questions",
        "--engine",
        READER,
        "--judge",
        GRADER,
        "--cache",
        kept,
    )
    said = shotad(*words, "--memory", "pageindex", "--out", tmp_path / "out")
    assert said.code == 0, said.err
    assert "pageindex: pass@5 75.0 questions: 4" in " ".join(said.out.split())
    assert f"pageindex: index answers 100.0 requests: {SCENES + 5}" in " ".join(said.out.split())
    record = json.loads((tmp_path / "out" / "stage.json").read_text(encoding="utf-8"))
    assert [item["id"] for item in record["items"]][-1] == "pageindex/film"
    asked = len(Reader.asked)
    # More is given, and the index is the same: only the lists and the answers are asked for.
    shotad(*words, "--memory", "pageindex", "--top", 20)
    assert asked < len(Reader.asked) <= asked + len(QUESTIONS) * 7
    said = shotad(*words, "--memory", "union")
    assert said.code == 2
    assert "Known: none, full, bm25, dense, hybrid, pageindex, graph." in said.err
