"""ABSEval: four agents and seven criteria, the single judge, planted faults, and people, on made scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Interval, ShotadError
from shotad.core.types import slot_id
from shotad.evaluation import evaluate_steps
from shotad.evaluation.steps import (
    StepScript,
    read_labels,
    read_steps,
)
from shotad.script import (
    Cue,
    Track,
    script_format,
)
from shotad.script.track import FilmId
from tests.evaluation.judges.judging import bench_of, keys_of
from tests.evaluation.steps.stepjudges import GOOD, HERE, Careful, Mute, judged_steps

TEA, BULB = GOOD["Make tea"], GOOD["Change a bulb"]


def tea(system: str, *steps: str, constraint: str = "without milk") -> StepScript:
    return StepScript("tea", system, "Make tea", constraint, steps)


def bulb(system: str, *steps: str) -> StepScript:
    return StepScript("bulb", system, "Change a bulb", "", steps)


SCRIPTS = (
    tea("ann", *TEA), tea("bob", TEA[1], TEA[0], TEA[3], "Add milk from the moon."), bulb("ann", *BULB),
    bulb("bob", *BULB[:3], BULB[0]),
)  # fmt: skip
"""Ann's are right. Bob's tea lacks a step, has one that does not belong, breaks the condition, is out of order,
is not served and needs the moon; his bulb is never switched on, and one step stands twice."""

BOBS = {
    "tea": {"no-missing", "no-redundant", "executable", "constraint", "goal", "order"},
    "bulb": {"no-missing", "no-duplicate", "goal"},
}
"""What fails of bob's."""


def judged(
    scripts: tuple[StepScript, ...] = SCRIPTS, engine: str = "Careful", *, seed: int = 42, **wanted: Any
) -> dict[str, Any]:
    return evaluate_steps(scripts, f"{HERE}:{engine}", bench_of(f"seed={seed}"), **wanted)


def score_of(result: dict[str, Any], system: str, by: str = "agents") -> dict[str, Any]:
    (matching,) = [score for score in result["scores"] if (score["system"], score["by"]) == (system, by)]
    return dict(matching)


# Agents and criteria
def test_each_agent_answers_its_own_criteria_and_the_critic_alone_sees_the_good_answer() -> None:
    Careful.asked.clear()
    result = judged(baseline=True)
    verdicts = result["verdicts"]["agents"]
    assert [verdict["score"] for verdict in verdicts] == pytest.approx([1, 1 / 7, 1, 3 / 6])
    assert {
        verdict["id"]: {name for name, holds in verdict["criteria"].items() if not holds}
        for verdict in verdicts
        if verdict["system"] == "bob"
    } == BOBS
    bob = score_of(result, "bob")
    assert list(bob["criteria"].values()) == [0.0, 0.5, 0.5, 0.5, 0.0, 0.0, 0.5]
    assert bob["score"] == pytest.approx((1 / 7 + 1 / 2) / 2)
    # The baseline is one question about all seven.
    alone = [request for request in Careful.asked if len(keys_of(request)) > 5]
    assert len(alone) == len(SCRIPTS)
    assert score_of(result, "bob", "single")["score"] == bob["score"]
    others = [request for request in Careful.asked if request not in alone]
    assert sorted(map(tuple, map(keys_of, others))) == sorted(
        [("steps",)] * 2
        + [("reason", "missing", "redundant", "duplicate")] * 4
        + [("reason", "constraint", "goal", "order")] * 2  # the bulb has no condition
        + [("reason", "goal", "order")] * 2
        + [("reason", "executable")] * 4
    )
    # The good answer is learned from all scripts.
    assert result["good_answers"] == {"tea": TEA, "bulb": BULB}
    written = Careful.asked[0].messages[1].text
    assert all(json.dumps(step) in written for script in SCRIPTS[:2] for step in script.steps)
    for request in Careful.asked[2:]:
        shown = "A good list of steps" in request.messages[1].text
        assert shown is ("missing" in keys_of(request) and request not in alone)


def test_what_is_not_answered_counts_as_0_and_is_told() -> None:
    Mute.asked.clear()
    result = judged((tea("ann", *TEA),), "Mute")
    (verdict,) = result["verdicts"]["agents"]
    assert verdict["score"] == pytest.approx(4 / 7)
    unread = [name for name, holds in verdict["criteria"].items() if holds is None]
    assert unread == ["constraint", "goal", "order"]
    assert list(verdict["unread"]) == ["executor"]
    assert sum("order" in keys_of(request) for request in Mute.asked) == 2, "asked a second time"
    # A script without steps fails everything unasked.
    Careful.asked.clear()
    result = judged((tea("ann", *TEA), tea("bob")))
    assert score_of(result, "bob")["score"] == 0.0
    assert score_of(result, "bob")["without_steps"] == 1
    assert len(Careful.asked) == 4, "nothing about bob's"
    # Without a good answer the critic is not asked.
    (verdict,) = judged((bulb("ann", *BULB),), "NoAnswer")["verdicts"]["agents"]
    assert "no good answer to compare with" in verdict["unread"]["critic"]
    assert verdict["score"] == 0.5


# Planted faults
def faults(result: dict[str, Any], by: str = "agents") -> dict[str, dict[str, Any]]:
    return {figure["fault"]: figure for figure in result["faults"][by]}


def test_a_judge_who_looks_sees_each_fault_where_it_was_planted() -> None:
    many = tuple(tea(f"s{n}", *TEA) for n in range(5)) + tuple(bulb(f"s{n}", *BULB) for n in range(2))
    figures = faults(judged(many, planted="rules"))
    for fault in ("missing", "redundant", "duplicate", "order"):
        figure = figures[fault]
        counts = figure["planted"], figure["seen"], figure["alarms"], figure["fell"], figure["rose"]
        assert counts == (7, 7, 0, 7, 0), fault
        assert (figure["p"], figure["sees"]) == (1 / 128, True)
    # The goal is reached when the last step is done: half a script never has it.
    assert (figures["goal"]["accuracy"], figures["goal"]["flagged"]["no-missing"]) == (1.0, 7)
    assert figures["constraint"]["planted"] == 0
    assert sum(figures["constraint"]["not_planted"].values()) == 7


def test_hits_and_false_alarms_stand_apart() -> None:
    """Bob's scripts lack steps before any is taken out; only Ann's two can fall."""
    figure = faults(judged(planted="rules"))["missing"]
    assert (figure["planted"], figure["seen"], figure["alarms"], figure["fell"], figure["rose"]) == (
        4,
        4,
        2,
        2,
        0,
    )
    assert (figure["p"], figure["sees"]) == (0.25, False)
    # A judge who condemns everything sees nothing.
    result = judged(SCRIPTS, "Harsh", planted="rules", baseline=True)
    for figure in (*result["faults"]["agents"], *result["faults"]["single"]):
        if figure["planted"]:
            assert (figure["accuracy"], figure["alarms"]) == (1.0, figure["planted"])
            assert (figure["p"], figure["sees"], figure["noticed"]) == (1.0, False, 0)
    # A fault that a judge says nothing about is not seen.
    result = faults(judged((tea("ann", *TEA), bulb("ann", *BULB)), "Mute", planted="rules"))
    for fault, expected in (("order", (2, 0, 2)), ("goal", (2, 0, 2)), ("missing", (2, 2, 0))):
        assert tuple(result[fault][key] for key in ("planted", "seen", "unread")) == expected


def planted_steps(seed: int) -> list[tuple[str, ...]]:
    """What the critic is shown of Ann's tea, in the order of the faults."""
    Careful.asked.clear()
    judged((tea("ann", *TEA), bulb("ann", *BULB)), planted="rules", seed=seed)
    critic = [request for request in Careful.asked if "missing" in keys_of(request)]
    return [judged_steps(request) for request in critic if "Make tea" in request.messages[1].text][1:]


def test_a_rule_plants_one_fault_and_nothing_else() -> None:
    for seed in range(4):
        missing, redundant, duplicate, goal, order = planted_steps(seed)
        assert len(missing) == 4
        assert [step for step in TEA if step in missing] == list(missing)
        assert len(redundant) == 6
        assert [step for step in redundant if step in TEA] == list(TEA)
        assert len(set(redundant) & set(BULB)) == 1
        assert len(duplicate) == 6
        assert tuple(dict.fromkeys(duplicate)) == TEA
        (twice,) = [step for step in TEA if duplicate.count(step) == 2]
        assert duplicate[duplicate.index(twice) + 1] != twice
        assert goal == TEA[:2]
        assert sorted(order) == sorted(TEA)
        assert sum(a != b for a, b in zip(order, TEA, strict=True)) == 2
    assert planted_steps(1) == planted_steps(1) != planted_steps(2), "the seed decides what is planted"


def test_an_engine_plants_what_rules_cannot() -> None:
    result = judged(planted=f"{HERE}:Careful")
    figure = faults(result)["constraint"]
    assert (figure["planted"], figure["seen"], figure["alarms"], figure["fell"]) == (2, 2, 1, 1)
    assert figure["not_planted"] == {"its task has no condition": 2}
    assert faults(result)["goal"]["planted"] == 4
    assert result["identity"]["writer"]["model"] == "c1"


def test_an_engine_that_plants_nothing_or_takes_out_half_of_the_steps_is_not_believed() -> None:
    figures = faults(judged(planted=f"{HERE}:Lazy"))
    assert (figures["missing"]["planted"], figures["missing"]["accuracy"]) == (0, None)
    for fault, why in (("missing", "without one or two"), ("redundant", "and one more")):
        same, cut = figures[fault]["not_planted"].items()
        assert ("has no fault" in same[0], same[1], why in cut[0], cut[1]) == (True, 2, True, 2)


# People
def labels(folder: Path, *lines: str) -> Path:
    path = folder / "people.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_mean_squared_error_and_consistency_by_hand(tmp_path: Path) -> None:
    path = labels(
        tmp_path,
        "id,system,annotator,no-missing,constraint,goal,order",
        "tea,ann,P,1,1,1,1",  # the judge: 1 1 1 1
        "tea,ann,Q,1,1,0,",
        "tea,bob,P,0,1,0,0",  # the judge: 0 0 0 0
        "bulb,bob,P,1,,0,1",  # the judge: 0 - 0 1
        "cake,ann,P,1,1,1,1",
    )
    result = judged(labels=read_labels(path), baseline=True)
    figures = result["people"]["agents"]
    assert result["people"]["single"] == figures
    thirds = {"mse": pytest.approx(1 / 3), "consistency": pytest.approx(2 / 3)}
    assert figures["no-missing"] == {"cells": 3, "decided": 3, **thirds}
    assert figures["constraint"] == {"cells": 2, "mse": 0.5, "decided": 2, "consistency": 0.5}
    # P and Q do not agree on the goal of Ann's tea: half is 0.5 away from 1, and nobody's majority.
    assert figures["goal"] == {"cells": 3, "mse": pytest.approx(0.25 / 3), "decided": 2, "consistency": 1.0}
    assert figures["order"] == {"cells": 3, "mse": 0.0, "decided": 3, "consistency": 1.0}
    assert figures["executable"] == {"cells": 0, "mse": None, "decided": 0, "consistency": None}
    assert figures["all"]["cells"] == 11
    assert figures["all"]["mse"] == pytest.approx((1 + 1 + 0.25) / 11)
    assert figures["all"]["consistency"] == pytest.approx(8 / 10)
    assert result["not_here"] == ["cake (ann)"]

    # What was not answered is as wrong as can be.
    path = labels(tmp_path, "id,no-missing,goal", "tea,1,0")
    figures = judged((tea("ann", *TEA),), "Mute", labels=read_labels(path))["people"]["agents"]
    assert (figures["goal"]["mse"], figures["goal"]["consistency"]) == (1.0, 0.0)
    assert (figures["no-missing"]["mse"], figures["no-missing"]["consistency"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("id,score", "tea,1"), "has the columns id, score"),
        (("goal,system", "1,ann"), "has the columns goal, system"),
        (("id,goal", "tea,maybe"), "goal is 'maybe', and must be true or false"),
        (("id,goal", "tea,"), "holds no labels"),
        (("id,system,goal", "tea,ann,1", "tea,ann,0"), "'tea' was labelled before"),
        (("id,system,goal", "bulb,bob,1", "bulb,cy,1", "tea,,1"),
         "label the task 'tea', of which there are 2"),
        (("id,goal", "cake,1"), "None of the 1 labelled script is here: cake"),
    ],
)  # fmt: skip
def test_labels_that_cannot_be_meant(tmp_path: Path, lines: tuple[str, ...], said: str) -> None:
    Careful.asked.clear()
    with pytest.raises(ShotadError, match=said):
        judged(labels=read_labels(labels(tmp_path, *lines)))
    assert not Careful.asked, "nothing was asked"


def test_a_label_stands_once_with_its_system_or_without(tmp_path: Path) -> None:
    people = read_labels(labels(tmp_path, "id,system,goal", "tea,ann,1", "tea,,0"))
    with pytest.raises(ShotadError, match="with its system and without"):
        judged((tea("ann", *TEA),), labels=people)


# Files
def test_how_to_scripts_from_csv_and_json(tmp_path: Path) -> None:
    table, records = tmp_path / "a.csv", tmp_path / "b.json"
    table.write_text('id,goal,constraint,steps\nt,Make tea,no milk,"1. Boil.\nStep 2: Pour.\n"\n')
    task = {"id": "t", "goal": "Make tea", "constraint": "no milk"}
    record = {**task, "system": "Bo", "steps": ["Boil.", "3 cups."]}
    records.write_text(json.dumps([record, {"goal": "Sleep", "steps": []}]))
    assert read_steps([table, records]) == (
        StepScript("t", "a", "Make tea", "no milk", ("Boil.", "Pour.")),
        StepScript("t", "Bo", "Make tea", "no milk", ("Boil.", "3 cups.")),
        StepScript("Sleep", "b", "Sleep", "", ()),
    )


def test_a_track_or_work_folder_is_a_script_for_each_two_minutes(tmp_path: Path) -> None:
    lines = (
        (119.9, "She looks in."),
        (1.0, "Ada opens\nthe door."),
        (120.0, "A dog barks."),
        (370.0, "Rain."),
    )
    cues = [Cue(slot_id(start), None, Interval(start, start + 2), text) for start, text in lines]
    track = Track(FilmId("f.mp4", "x" * 32, 400.0), "en", (), "0.1.0", ()).with_cues(cues)
    folder = tmp_path / "f.mp4.shotad"
    folder.mkdir()
    kinds = {"json": "f.mp4.shotad/track.json", "csv": "a.csv", "dapt": "b.dapt", "vtt": "c.vtt"}
    for name, file in kinds.items():
        (tmp_path / file).write_bytes(script_format(name).encode(track))
    for path in (folder, *(tmp_path / file for file in kinds.values())):
        scripts = read_steps([path])
        assert [(script.id, script.steps) for script in scripts] == [
            ("minute 0", ("Ada opens the door.", "She looks in.")), ("minute 2", ("A dog barks.",)),
            ("minute 6", ("Rain.",)),
        ], path  # fmt: skip
        assert all(script.goal and script.constraint and script.is_ad for script in scripts)
    assert {script.system for script in read_steps([folder])} == {"f.mp4"}


def test_predictions_are_scripts_of_twelve_lines_beside_the_human_ones(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    row = '{{"id": "{0}", "film": "f", "start": {1}, "text_gen": "Line {0}.", "text_gt": "Human {0}."}}\n'
    rows = "".join(row.format(n, 20 - n) for n in range(1, 15))
    path.write_text(rows.replace('"Line 3."', "null"))
    scripts = read_steps([path])
    assert [(script.id, script.system, len(script.steps)) for script in scripts] == [
        ("f, 14 to 3", "mine", 11), ("f, 14 to 3", "human", 12), ("f, 2 to 1", "mine", 2), ("f, 2 to 1", "human", 2),
    ]  # fmt: skip
    assert scripts[0].steps[0] == "Line 14."


def test_a_fault_is_planted_into_ad_by_rule_whatever_its_kind(tmp_path: Path) -> None:
    times = [f"0{minute}:0{n}" for minute in (0, 3) for n in range(1, 7)]
    lines = [f"{time}.000 --> {time}.900\nA man walks at {time}.\n" for time in times]
    path = tmp_path / "ad.vtt"
    path.write_text("\n".join(["WEBVTT\n", *lines]), encoding="utf-8")
    figures = faults(judged(read_steps([path]), planted="rules"))
    assert [figure["planted"] for figure in figures.values()] == [2] * 6
    assert (figures["constraint"]["seen"], figures["constraint"]["alarms"]) == (2, 0)
    assert (figures["duplicate"]["seen"], figures["duplicate"]["alarms"]) == (2, 0)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "goal,what\nTea,Boil.\n", "has no column for the steps"),
        ("a.csv", "goal,steps\n,Boil.\n", "the goal is empty"),
        ("a.csv", "goal,steps\nTea,\n", "holds no steps"),
        ("a.jsonl", '{"goal": "Tea", "steps": [1]}\n', "steps: "),
        ("a.csv", "goal,steps\nTea,Boil.\nTea,Pour.\n", "a has two scripts of the task 'Tea'"),
        ("a.csv", "id,system,goal,steps\n1,a,Tea,Boil.\n1,b,Cake,Bake.\n", "the task '1' is"),
        ("a.vtt", "WEBVTT\n", "holds no steps"),
        ("a.jsonl", '{"id": 1, "line": "Rain."}\n', "Columns: goal, steps"),
        ("none.vtt", None, "cannot be read"),
    ],
)
def test_files_that_hold_no_scripts(tmp_path: Path, name: str, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ShotadError) as stopped:
        read_steps([tmp_path / name])
    assert said in f"{stopped.value} {stopped.value.hint}"
