"""ABSEval: four agents and seven criteria, the single judge, planted faults, and people, on made scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shotad.core import EngineError, Interval, ShotadError, load_config
from shotad.evaluation import MetricContext, StepScript, Store, evaluate_steps, read_labels, read_steps
from shotad.script import Cue, FilmId, Track, script_format
from tests.evaluation.steps.stepjudges import (
    GOOD,
    HERE,
    Careful,
    Harsh,
    Mute,
    Stops,
    judged_steps,
    keys_of,
    quoted_after,
)

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
    "tea": {
        "no-missing": False, "no-redundant": False, "no-duplicate": True, "executable": False,
        "constraint": False, "goal": False, "order": False,
    },
    "bulb": {
        "no-missing": False, "no-redundant": True, "no-duplicate": False, "executable": True,
        "goal": False, "order": True,
    },
}  # fmt: skip


def judged(
    scripts: tuple[StepScript, ...] = SCRIPTS,
    engine: str = "Careful",
    store: Store | None = None,
    **wanted: Any,
) -> dict[str, Any]:
    context = MetricContext(load_config(None, ()), store or Store())
    return evaluate_steps(scripts, f"{HERE}:{engine}", context, **wanted)


def score_of(found: dict[str, Any], system: str, by: str = "agents") -> dict[str, Any]:
    (one,) = [score for score in found["scores"] if (score["system"], score["by"]) == (system, by)]
    return dict(one)


# Agents and criteria
def test_each_agent_answers_its_own_criteria_and_the_critic_alone_sees_the_good_answer() -> None:
    Careful.asked.clear()
    found = judged()
    assert [verdict["score"] for verdict in found["verdicts"]["agents"]] == [
        1.0, pytest.approx(1 / 7), 1.0, pytest.approx(3 / 6),
    ]  # fmt: skip
    for verdict in found["verdicts"]["agents"]:
        if verdict["system"] == "bob":
            assert verdict["criteria"] == BOBS[verdict["id"]]
    bob = score_of(found, "bob")
    assert bob["criteria"] == {
        "no-missing": 0.0, "no-redundant": 0.5, "no-duplicate": 0.5, "executable": 0.5,
        "constraint": 0.0, "goal": 0.0, "order": 0.5,
    }  # fmt: skip
    assert bob["score"] == pytest.approx((1 / 7 + 1 / 2) / 2)
    assert sorted(map(tuple, map(keys_of, Careful.asked))) == sorted(
        [("steps",)] * 2
        + [("reason", "missing", "redundant", "duplicate")] * 4
        + [("reason", "constraint", "goal", "order")] * 2  # the bulb has no condition
        + [("reason", "goal", "order")] * 2
        + [("reason", "executable")] * 4
    )
    # The good answer is learned from all scripts.
    assert found["good_answers"] == {"tea": TEA, "bulb": BULB}
    written = Careful.asked[0].messages[1].text
    assert all(json.dumps(step) in written for script in SCRIPTS[:2] for step in script.steps)
    for request in Careful.asked[2:]:
        shown = "A good list of steps" in request.messages[1].text
        assert shown is ("missing" in keys_of(request))


def test_the_baseline_is_one_question_about_all_seven() -> None:
    Careful.asked.clear()
    found = judged(baseline=True)
    alone = [request for request in Careful.asked if len(keys_of(request)) > 5]
    assert len(alone) == len(SCRIPTS)
    assert not any("A good list" in request.messages[1].text for request in alone)
    assert score_of(found, "bob", "single")["score"] == score_of(found, "bob")["score"]


def test_what_is_not_answered_counts_as_0_and_is_told() -> None:
    Mute.asked.clear()
    found = judged((tea("ann", *TEA),), "Mute")
    (verdict,) = found["verdicts"]["agents"]
    assert verdict["score"] == pytest.approx(4 / 7)
    unread = [name for name, holds in verdict["criteria"].items() if holds is None]
    assert unread == ["constraint", "goal", "order"]
    assert list(verdict["unread"]) == ["executor"]
    assert sum("order" in keys_of(request) for request in Mute.asked) == 2, "asked a second time"
    # A script without steps fails everything unasked.
    Careful.asked.clear()
    found = judged((tea("ann", *TEA), tea("bob")))
    assert score_of(found, "bob")["score"] == 0.0
    assert score_of(found, "bob")["without_steps"] == 1
    assert len(Careful.asked) == 4, "nothing about bob's"
    # Without a good answer the critic is not asked.
    (verdict,) = judged((bulb("ann", *BULB),), "NoAnswer")["verdicts"]["agents"]
    assert "no good answer to compare with" in verdict["unread"]["critic"]
    assert verdict["score"] == 0.5


def test_a_run_that_was_stopped_goes_on_without_asking_again(tmp_path: Path) -> None:
    Stops.asked.clear()
    with Store(tmp_path / "kept.sqlite") as store, pytest.raises(EngineError, match="gone"):
        judged(engine="Stops", store=store)
    answered = len(Stops.asked) - 4
    Stops.asked[:] = Stops.asked[-1:]  # the server is back
    with Store(tmp_path / "kept.sqlite") as store:
        try:
            judged(engine="Stops", store=store)
        except EngineError:
            pytest.fail("it asked again for what was answered")
    assert answered + len(Stops.asked) - 1 == 14


# Planted faults
def faults(found: dict[str, Any], by: str = "agents") -> dict[str, dict[str, Any]]:
    return {one["fault"]: one for one in found["faults"][by]}


def test_a_judge_who_looks_sees_each_fault_where_it_was_planted() -> None:
    many = tuple(tea(f"s{n}", *TEA) for n in range(5)) + tuple(bulb(f"s{n}", *BULB) for n in range(2))
    found = faults(judged(many, planted="rules"))
    for fault in ("missing", "redundant", "duplicate", "order"):
        one = found[fault]
        counts = one["planted"], one["seen"], one["alarms"], one["fell"], one["rose"]
        assert counts == (7, 7, 0, 7, 0), fault
        assert (one["p"], one["sees"]) == (1 / 128, True)
    # The goal is reached when the last step is done: half a script never has it.
    assert (found["goal"]["accuracy"], found["goal"]["flagged"]["no-missing"]) == (1.0, 7)
    assert found["constraint"]["planted"] == 0
    assert sum(found["constraint"]["not_planted"].values()) == 7


def test_hits_and_false_alarms_stand_apart() -> None:
    """Bob's scripts lack steps before any is taken out; only Ann's two can fall."""
    one = faults(judged(planted="rules"))["missing"]
    assert (one["planted"], one["seen"], one["alarms"], one["fell"], one["rose"]) == (4, 4, 2, 2, 0)
    assert (one["p"], one["sees"]) == (0.25, False)
    # A judge who condemns everything sees nothing.
    found = judged(SCRIPTS, "Harsh", planted="rules", baseline=True)
    for by in ("agents", "single"):
        for one in faults(found, by).values():
            if one["planted"]:
                assert one["accuracy"] == 1.0
                assert one["alarms"] == one["planted"]
                assert (one["p"], one["sees"], one["noticed"]) == (1.0, False, 0)
    # A fault that a judge says nothing about is not seen.
    found = faults(judged((tea("ann", *TEA), bulb("ann", *BULB)), "Mute", planted="rules"))
    for fault in ("order", "goal"):
        one = found[fault]
        assert (one["planted"], one["seen"], one["alarms"], one["unread"], one["sees"]) == (2, 0, 0, 2, False)
    assert (found["missing"]["seen"], found["missing"]["unread"]) == (2, 0)


def planted_steps(seed: int) -> list[tuple[str, ...]]:
    """What the critic is shown of Ann's tea, in the order of the faults."""
    Careful.asked.clear()
    context = MetricContext(load_config(None, (f"seed={seed}",)), Store())
    evaluate_steps((tea("ann", *TEA), bulb("ann", *BULB)), f"{HERE}:Careful", context, planted="rules")
    texts = [(r, r.messages[1].text) for r in Careful.asked if "missing" in keys_of(r)]
    shown = [judged_steps(r) for r, text in texts if quoted_after("The task", text) and "Make tea" in text]
    return shown[1:]


def test_a_rule_plants_one_fault_and_nothing_else() -> None:
    for seed in range(25):
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
    # The seed decides what is planted.
    assert planted_steps(1) == planted_steps(1)
    assert planted_steps(1) != planted_steps(2)


def test_an_engine_plants_what_rules_cannot() -> None:
    found = judged(planted=f"{HERE}:Careful")
    one = faults(found)["constraint"]
    assert (one["planted"], one["seen"], one["alarms"], one["fell"]) == (2, 2, 1, 1)
    assert one["not_planted"] == {"its task has no condition": 2}
    assert faults(found)["goal"]["planted"] == 4
    assert found["identity"]["writer"]["model"] == "c1"


def test_an_engine_that_plants_nothing_or_takes_out_half_of_the_steps_is_not_believed() -> None:
    found = faults(judged(planted=f"{HERE}:Lazy"))
    for fault in ("missing", "redundant", "goal"):
        assert found[fault]["planted"] == 0
        assert found[fault]["accuracy"] is None
        ((reason, count),) = found[fault]["not_planted"].items()
        assert (count, "has no fault" in reason) == (4, True)
    found = faults(judged(planted=f"{HERE}:Cuts"))["missing"]
    ((reason, count),) = found["not_planted"].items()
    assert (found["planted"], count, "without one or two" in reason) == (0, 4, True)


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
    found = judged(labels=read_labels(path), baseline=True)
    figures = found["people"]["agents"]
    assert found["people"]["single"] == figures
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
    assert found["not_here"] == ["cake (ann)"]


def test_with_one_annotator_the_error_is_the_other_side_of_consistency(tmp_path: Path) -> None:
    path = labels(tmp_path, "id,system,no-missing,goal", "tea,bob,1,1", "bulb,bob,0,1", "tea,ann,1,1")
    one = judged(labels=read_labels(path))["people"]["agents"]["all"]
    assert (one["mse"], one["consistency"]) == (0.5, 0.5)
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
        (("id,goal", "tea,1"), "label the task 'tea', of which there are 2 scripts"),
    ],
)  # fmt: skip
def test_labels_that_cannot_be_meant(tmp_path: Path, lines: tuple[str, ...], said: str) -> None:
    Harsh.asked.clear()
    with pytest.raises(ShotadError, match=said):
        judged(engine="Harsh", labels=read_labels(labels(tmp_path, *lines)))
    assert not Harsh.asked, "nothing was asked"


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


VTT = """WEBVTT

00:01.000 --> 00:03.000
Ada opens
the door.

01:59.900 --> 02:01.000
She looks in.

02:00.000 --> 02:02.000
A dog barks.

06:10.000 --> 06:12.000
Rain falls.
"""


def test_a_track_is_a_script_for_each_two_minutes(tmp_path: Path) -> None:
    (tmp_path / "ad.vtt").write_text(VTT, encoding="utf-8")
    scripts = read_steps([tmp_path / "ad.vtt"])
    assert [(one.id, one.system, one.steps) for one in scripts] == [
        ("minute 0", "ad", ("Ada opens the door.", "She looks in.")), ("minute 2", "ad", ("A dog barks.",)),
        ("minute 6", "ad", ("Rain falls.",)),
    ]  # fmt: skip
    assert len({(one.goal, one.constraint, one.is_ad) for one in scripts}) == 1
    assert all(one.goal and one.constraint for one in scripts)


def test_a_work_folder_and_all_scripts_of_a_track_say_the_same(tmp_path: Path) -> None:
    cues = (
        Cue("s00001000", None, Interval(1.0, 3.0), "Ada opens the door."),
        Cue("s00125000", None, Interval(125.0, 127.0), "She looks in."),
    )
    track = Track(FilmId("f.mp4", "x" * 32, 300.0), "en", (), "0.1.0", ()).with_cues(cues)
    folder = tmp_path / "f.mp4.shotad"
    folder.mkdir()
    kinds = {"json": "f.mp4.shotad/track.json", "csv": "a.csv", "dapt": "b.dapt", "srt": "c.srt"}
    for name, file in kinds.items():
        (tmp_path / file).write_bytes(script_format(name).encode(track))
    for path in (folder, *(tmp_path / file for file in kinds.values())):
        found = [(one.id, one.steps) for one in read_steps([path])]
        assert found == [("minute 0", ("Ada opens the door.",)), ("minute 2", ("She looks in.",))], path
    assert {one.system for one in read_steps([folder])} == {"f.mp4"}


def test_predictions_are_scripts_of_twelve_lines_beside_the_human_ones(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    rows = [
        {
            "id": str(n), "film": "f", "start": float(20 - n), "text_gen": f"Line {n}.",
            "text_gt": f"Human {n}.",
        }
        for n in range(1, 15)
    ]  # fmt: skip
    rows[2]["text_gen"] = None
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    scripts = read_steps([path])
    assert [(one.id, one.system, len(one.steps)) for one in scripts] == [
        ("f, 14 to 3", "mine", 11), ("f, 14 to 3", "human", 12), ("f, 2 to 1", "mine", 2), ("f, 2 to 1", "human", 2),
    ]  # fmt: skip
    assert scripts[0].steps[0] == "Line 14."


def test_a_fault_is_planted_into_ad_by_rule_whatever_its_kind(tmp_path: Path) -> None:
    lines = [f"00:{n:02d}.000 --> 00:{n:02d}.900\nA{n} walks.\n" for n in range(1, 7)]
    later = [f"03:{n:02d}.000 --> 03:{n:02d}.900\nB{n} runs.\n" for n in range(1, 7)]
    path = tmp_path / "ad.vtt"
    path.write_text("\n".join(["WEBVTT\n", *lines, *later]), encoding="utf-8")
    found = faults(judged(read_steps([path]), planted="rules"))
    assert [one["planted"] for one in found.values()] == [2] * 6
    assert (found["constraint"]["seen"], found["constraint"]["alarms"]) == (2, 0)
    assert (found["duplicate"]["seen"], found["duplicate"]["alarms"]) == (2, 0)


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


def test_a_label_stands_once_with_its_system_or_without(tmp_path: Path) -> None:
    found = read_labels(labels(tmp_path, "id,system,goal", "tea,ann,1", "tea,,0"))
    with pytest.raises(ShotadError, match="with its system and without"):
        judged((tea("ann", *TEA),), labels=found)


# Prompts
def test_the_readme_of_the_prompts_names_them_all() -> None:
    prompts = Path(__file__).resolve().parents[3] / "prompts"
    said = (prompts / "README.md").read_text(encoding="utf-8").partition("## Lists of steps")[2]
    for name in (prompts / "steps").glob("*.txt"):
        assert f"`{name.stem}`" in said or f"`steps/{name.stem}`" in said, name.stem
