"""STAGE's tasks on a film of which all is known, exact to the last answer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from shotad.core.errors import DatasetError, EvaluationError
from shotad.evaluation import (
    evaluate_questions,
    evaluate_role_play,
    evaluate_timelines,
)
from shotad.evaluation.metric import MetricFormula
from shotad.evaluation.stage import (
    StageFilm,
    StageRun,
    check_stage,
    check_stage_text,
    read_stage,
)
from tests.evaluation.cml.script_reader import word_context
from tests.evaluation.stage.stagefilm import GRADER, MODEL, QUESTIONS, Grader, Model, files, said, write_film


@pytest.fixture(autouse=True)
def _anew() -> None:
    for kind in (Model, Grader):
        kind.asked.clear()
    Model.tries.clear()


@pytest.fixture
def films(tmp_path: Path) -> tuple[StageFilm, ...]:
    return tuple(read_stage(write_film(tmp_path / "film")))


def figures(run: StageRun) -> dict[str, float | None]:
    return {result.name: result.value for result in run.results}


def test_timelines_and_arcs(films: tuple[StageFilm, ...]) -> None:
    run = evaluate_timelines(films, MODEL, word_context(), judge=GRADER)
    # Of four facts (three of Ann, one of Bob) one is told; of two told one is so; Mars cannot follow; of two
    # arcs the key's is found, but ends otherwise.
    # Her two scenes are right, hers and his are four; one node says the same. Fact-F1 is of 25 and 50.
    expected = {
        "gold-fact recall": 25, "predicted-fact precision": 50, "transition coherence": 0,
        "arc narrative aspect": 50, "arc progression": 0, "scene grounding precision": 100,
        "scene grounding recall": 50, "scene grounding F1": 100 * 4 / 6, "node grounding precision": 50,
        "node grounding recall": 25, "node grounding F1": 100 * 2 / 6, "Fact-F1": 100 / 3,
    }  # fmt: skip
    assert figures(run) == pytest.approx({f"full: {name}": value for name, value in expected.items()})
    assert run.items[0]["nodes"] == {"n1": "1"}
    ann, bob = run.items
    assert [node["scene"] for node in ann["timeline"]["nodes"]] == ["1", "2"]  # in the script's order
    assert ann["matched"] == {"a1": "1", "a2": "1"}
    assert "does not begin with the JSON object" in bob["failure"]
    assert "gold-fact recall" in run.text
    assert "Failed: no timeline" in run.text
    reading = Model.asked[0].messages[1].text
    assert "Whose is this?" in reading
    assert '"Annie"' in reading
    assert "finds the key" not in reading


def test_questions_by_what_is_read(films: tuple[StageFilm, ...]) -> None:
    run = evaluate_questions(films, MODEL, word_context(), judge=GRADER, memory=("bm25", "none"), top=1)
    types = ("", *(f", {kind}" for *_, kind in QUESTIONS))
    kinds = [f"{name}{kind}" for name in ("pass@5", "average accuracy") for kind in types]
    expected = {f"bm25: {name}": value for name, value in zip(kinds, (50, 100, 0, 20, 40, 0), strict=True)}
    assert figures(run) == pytest.approx({**expected, **{f"none: {name}": 0 for name in kinds}})
    assert [one["scenes"] for one in run.items] == [["1"], ["3"], [], []]
    assert run.items[0]["right"] == [True, True, False, False, False]
    tries = Model.asked[:5]
    assert len({one.seed for one in tries}) == 5
    assert {(one.sampling.temperature, one.sampling.top_p) for one in tries} == {(0.2, 0.9)}
    # One answer is judged once, however often it is said.
    assert len(Grader.asked) == 4 - 1


def test_role_play_by_what_is_remembered(films: tuple[StageFilm, ...]) -> None:
    run = evaluate_role_play(
        films, MODEL, word_context(), judge=GRADER, memory=("bm25", "none", "dense"), top=2
    )
    values_by_name = figures(run)
    expected = {
        "single-turn": {
            "character fidelity": 5, "response naturalness": 5,
            "memory faithfulness": 3,  # 5 for the well, 1 for the mother's call
            "boundary compliance": 5, "support hit": 50, "support recall": 50,
        },
        "multi-turn": {
            "character fidelity": 5, "response naturalness": 5, "memory faithfulness": 5, "boundary compliance": 5,
            "cross-turn consistency": 5, "follow-up compatibility": 2,
            "support hit": 100, "support recall": 75,  # of two questions that have sources
        },
    }  # fmt: skip
    for kind, values in expected.items():
        start = f"{kind}, bm25: "
        of_kind = {
            name.removeprefix(start): value
            for name, value in values_by_name.items()
            if name.startswith(start)
        }
        assert of_kind == pytest.approx(values)
    assert values_by_name["single-turn, none: memory faithfulness"] == 1
    assert values_by_name["single-turn, none: support hit"] == 0
    assert values_by_name["single-turn, dense: support hit"] is not None
    talk = next(one for one in run.items if one["kind"] == "multi")
    assert [one["memories"] for one in talk["turns"]][:2] == [["r001", "r006"], ["r001", "r002"]]
    last = next(one for one in Model.asked if '"And then?"' in one.messages[1].text).messages[1].text
    assert 'assistant: "I found a key by the well."' in last
    assert "The dance." not in last  # what the judge knows, the actor does not
    assert any("The dance." in one.messages[1].text for one in Grader.asked)

    run = evaluate_role_play(films, MODEL, word_context(), judge=GRADER, memory=("full",), limit=1)
    assert len(run.items) == 2
    assert run.items[0]["turns"][0]["memories"] == [f"r00{n}" for n in range(1, 7)], "all memories in order"


def test_chinese_is_compared_by_characters(tmp_path: Path) -> None:
    content = files()
    content["task_1_character_timelines"]["language"] = "zh"
    ann = content["task_3_role_assets"]["roles"][0]
    for one, text in zip(ann["memories"], ("我在井边找到钥匙", "他掉进河里了"), strict=False):
        one["memory_text"] = text
    talks = content["task_3_in_script_character_role_play_single_turn"]["instances"]
    talks[0]["input"]["current_user_turn"] = "河里有什么？"
    film = read_stage(write_film(tmp_path / "f", content))
    run = evaluate_role_play(film, MODEL, word_context(), judge=GRADER, limit=1, top=1)
    assert run.items[0]["turns"][0]["memories"] == ["r002"]
    assert run.items[0]["turns"][0]["answer"] == "他掉进河里了"


def test_an_interview_without_an_answer_has_no_points(films: tuple[StageFilm, ...]) -> None:
    run = evaluate_role_play(films, GRADER, word_context(), judge=GRADER)
    assert figures(run)["single-turn, bm25: character fidelity"] == 0
    assert run.results[0].failed == 2
    assert run.items[0]["scores"]["character fidelity"][2].startswith("The answer does not begin")
    assert len(Grader.asked) == 2 * 2  # two questions, each twice; no judge
    # What the judge leaves open counts as nothing.
    run = evaluate_timelines(films, MODEL, word_context(), judge=MODEL)
    assert figures(run)["full: gold-fact recall"] == 0
    assert run.results[0].sums[1] == 16  # eight each that might have been
    assert run.items[0]["figures"]["transition coherence"][2].startswith("judge: ")


@pytest.mark.parametrize(
    ("question", "memories", "remembered"),
    [
        # A rare word goes before a common one, and a word counts as often as it is asked.
        (
            "The key, the well?",
            ("My key.", "No boat.", "One well.", "Two keys, key."),
            ["r003", "r001"],
        ),
        ("The well, the well or the boat?", ("A boat.", "A well.", "A roof.", "A door."), ["r002", "r001"]),
        # Of texts that have the word the shorter is nearer.
        (
            "The well?",
            ("A roof.", "A well in a wide yard.", "A well.", "A door.", "A bed."),
            ["r003", "r002"],
        ),
        # A word in more than half of the texts still says more than none; of equals the first is taken.
        ("The key?", ("Roof.", "Key one.", "Key two."), ["r002", "r003"]),
        ("The moon?", ("A roof.", "A key.", "A well."), ["r001", "r002"]),
    ],
)
def test_the_nearest_memories_by_words(
    tmp_path: Path, question: str, memories: tuple[str, ...], remembered: list[str]
) -> None:
    content = files()
    ann = content["task_3_role_assets"]["roles"][0]
    ann["memories"] = ann["memories"][: len(memories)]
    for memory, text in zip(ann["memories"], memories, strict=True):
        memory.update(memory_text=text, tags=[])
    talks = content["task_3_in_script_character_role_play_single_turn"]["instances"]
    talks[0]["input"]["current_user_turn"] = question
    films = read_stage(write_film(tmp_path / "film", content))
    run = evaluate_role_play(films, MODEL, word_context(), judge=GRADER, limit=1, top=2)
    assert run.items[0]["turns"][0]["memories"] == remembered


def test_a_folder_of_films_is_held_against_the_release(tmp_path: Path) -> None:
    single = check_stage(read_stage(write_film(tmp_path / "English" / "en1")))
    assert single["whole"]
    assert list(single["counts"].values()) == [1, 2, 4, 2, 2, 2, 1]
    assert "Every id leads somewhere." in check_stage_text(single)
    write_film(tmp_path / "English" / "en2")
    both = check_stage(read_stage(tmp_path))
    assert not both["whole"]
    assert "films                   2    of 151" in check_stage_text(both)
    assert "8  of 9,975" in check_stage_text(both)


def test_ids_that_lead_nowhere(tmp_path: Path) -> None:
    content = json.loads(json.dumps(files()))
    content["script"][1]["_id"] = 1
    nodes = content["task_1_character_timelines"]["focal_character_timelines"][0]["timeline_nodes"]
    nodes[1]["timeline_node_id"] = "n1"
    arcs = content["task_1_cross_scene_arcs"]["cross_scene_arcs"]
    arcs[1]["character_name"] = "Cid"
    content["task_3_role_assets"]["roles"].pop()
    talks = content["task_3_in_script_character_role_play_single_turn"]["instances"]
    talks[0]["reference"]["source_memory_ids"] = ["r077"]
    talks[1]["role_asset_ref"]["character_name"] = "Dan"
    check = check_stage(read_stage(write_film(tmp_path / "film", content)))
    assert not check["whole"]
    places = {row["what"]: row["where"] for row in check["loose"]}
    assert places == {
        "scene twice": "film/1",
        "node twice": "film/n1",
        "scene of a node not in the script": "film/n4: 2",
        "node of an arc not in the timeline": "film/a1: n2",
        "arc of a character without a timeline": "film/a2: Cid",
        "character without timeline or role": "film/Bob",
        "scene of a memory not in the script": "film/Ann/r002",
        "source of an interview not in the memories": "film/s1: r077",
        "interview of a character without a role": "film/s2: Dan",
    }


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no script\.json"):
        read_stage(tmp_path)
    folder = write_film(tmp_path / "film")
    path = folder / "task_1_character_timelines.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["focal_character_timelines"][0]["timeline_nodes"][1]["scene_id"]
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(DatasetError, match=r"timelines\.json is malformed: entry 1, timeline_nodes, entry 2"):
        read_stage(folder)
    talks = files()
    turns = talks["task_3_in_script_character_role_play_multi_turn"]["episodes"][0]["turns"]
    turns[1]["input"]["dialogue_history_template"] = said(2)
    later = write_film(tmp_path / "later", talks)
    with pytest.raises(DatasetError, match="the history of turn 2 has an answer that is not yet given"):
        read_stage(later)
    path.unlink()
    with pytest.raises(DatasetError, match=r"timelines\.json cannot be read"):
        read_stage(folder)


def test_a_setting_that_is_unknown(films: tuple[StageFilm, ...]) -> None:
    with pytest.raises(EvaluationError, match="no memory setting 'all'"):
        evaluate_role_play(films, MODEL, word_context(), memory=("all",))
    assert Model.asked == []


def test_fact_f1_of_nothing() -> None:
    formula = MetricFormula("f1", factor=100.0)
    sums = np.array([[1, 4, 1, 2], [0, 8, 0, 0], [0, 0, 0, 0], [0, 3, 0, 5]], np.float64)
    values = formula.of(sums)
    assert values[[0, 1, 3]] == pytest.approx([100 / 3, 0, 0])
    assert np.isnan(values[2])
