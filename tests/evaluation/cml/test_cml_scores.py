"""CML-Bench from files to figures, with engines and vectors that follow rules."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import EngineError, EvaluationError
from shotad.evaluation import (
    CML_METRICS,
    ScriptText,
    Store,
    cml_instruction,
    cml_text,
    evaluate_cml,
    read_cml,
    read_scripts,
)
from tests.evaluation.cml.script_reader import (
    GEMMA,
    MUTE,
    PUBLISHED,
    QWQ,
    READER,
    SCRIPT,
    STOPS,
    ScriptReader,
    Stops,
    use_word_vectors,
)
from tests.evaluation.judges.judging import bench_of
from tests.evaluation.standins import Words


@pytest.fixture(autouse=True)
def word_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    use_word_vectors(monkeypatch)


def scored(
    *texts: str, judge: str = READER, analyst: str = "", store: Store | None = None, words: str = ""
) -> dict[str, Any]:
    scripts = [ScriptText(f"tt{k}", "Light", "films", text) for k, text in enumerate(texts)]
    bench = bench_of(*([words] if words else []), store=store)
    return evaluate_cml(scripts, judge, analyst or judge, bench)


def values(report: dict[str, Any]) -> dict[str, float]:
    return {name: score["value"] for name, score in report["scripts"][0]["scores"].items()}


def cosine(one: str, other: str) -> float:
    a, b = Words().of([one, other])
    return float(a @ b)


def test_the_metrics_are_those_of_code_and_paper() -> None:
    found = values(scored(SCRIPT.replace("action>", "scene_description>")))
    assert {name: found[name] for name in PUBLISHED} == pytest.approx(PUBLISHED, abs=1e-6)
    found = values(scored(SCRIPT))
    spoken = [
        "Who let the boat go out tonight?", "I let the boat go, and I hate it.",
        "I will ring the harbour bell.", "Will the bell bring the boat home?",
        "Bells love the fog, the fog loves nobody.", "I will tie the boat to the wall.",
    ]  # fmt: skip
    neighbours = [cosine(*pair) for pair in pairwise(spoken)]
    assert found["dc1"] == pytest.approx(np.mean(neighbours), abs=1e-6)
    assert found["cc1"] == 0.75, "MARA: 0, 0, 1; TOM: -1, 0, 0"
    rings, ties = "Mara rings the harbour bell.", "Tom ties a rope to an iron ring."
    later = (rings, "The boat drifts to the harbour wall. The bell rings and rings.", ties)
    last = (ties, "Mara sleeps beside the lens. Tom puts out the lamp.")
    kept = [max(cosine(spoken[2], one) for one in later), max(cosine(spoken[5], one) for one in last)]
    assert found["cc3"] == pytest.approx(np.mean(kept), abs=1e-6)
    told = [
        f'It plays with "Of {who}: {line}".'
        for who, line in zip(("MARA", "TOM", "MARA"), spoken, strict=False)
    ]
    alike = [cosine(told[0], told[1]), cosine(told[0], told[2]), cosine(told[1], told[2])]
    assert found["dc3"] == pytest.approx(1 - np.mean(alike), abs=1e-6)
    voices = [f"It plays with Of {line}." for line in (spoken[0], spoken[1])]
    own = [
        np.mean([cosine(one, other) for k, one in enumerate(lines) for other in lines[k + 1 :]])
        for lines in ([spoken[0], spoken[2], spoken[4]], [spoken[1], spoken[3], spoken[5]])
    ]
    assert found["cc2"] == pytest.approx((1 - cosine(*voices)) / 2 + np.mean(own) / 2, abs=1e-6)
    assert all(0 < found[name] < 1 for name in ("dc2", "pr1", "pr2", "pr3"))


def test_what_cannot_be_counted_is_0_and_says_why() -> None:
    report = scored("Nobody speaks here, and no tag stands anywhere.", "")
    (plain, nothing) = report["scripts"]
    assert (plain["read"], nothing["read"]) == ("text", "none")
    for result in report["scripts"]:
        assert {score["value"] for score in result["scores"].values()} == {0.0}
        assert all(score["reason"] for score in result["scores"].values())
    assert plain["scores"]["dc1"]["reason"] == "fewer than 2 turns"
    assert report["n"]["failed"] == 0
    assert "Read: 1 of 2 (50.0%), 0 by their tags, 1 as plain text." in cml_text(report)
    assert report["sources"][0]["read"] == 1


def test_a_run_that_stopped_goes_on() -> None:
    whole = scored(SCRIPT)
    questions = len(ScriptReader.asked)
    store = Store()
    Stops.asked.clear()
    with pytest.raises(EngineError):
        scored(SCRIPT, judge=STOPS, store=store)
    ScriptReader.asked.clear()
    again = scored(SCRIPT, store=store)
    assert 0 < len(ScriptReader.asked) < questions
    assert values(again) == values(whole)
    ScriptReader.asked.clear()
    assert values(scored(SCRIPT, store=store)) == values(whole)
    assert not ScriptReader.asked


def test_an_engine_that_fails_is_told_and_not_passed_over() -> None:
    report = scored(SCRIPT, judge=MUTE, analyst=READER)
    (result,) = report["scripts"]
    scores = result["scores"]
    assert report["n"]["failed"] == 1
    assert result["features"]["failures"]["turns"].startswith("6 of 6 answers: The answer does not begin")
    assert scores["cc1"]["value"] == 0
    assert scores["cc1"]["reason"].startswith("engine: 6 of 6")
    assert scores["dc1"]["value"] > 0 < scores["pr2"]["value"]
    assert "Engine failed: tt0, turns: 6 of 6" in cml_text(report)


def test_figures_are_comparable_only_with_the_papers_models() -> None:
    mine = scored(SCRIPT)
    assert not any(one["comparable"] for one in mine["metrics"])
    assert "CC2*" in cml_text(mine)
    assert "judge reader r1, the paper's is gemma-2-2b-it" in cml_text(mine)
    theirs = scored(SCRIPT, judge=GEMMA, analyst=QWQ, words="measures.embedding.model=google/gemma-2-2b-it")
    odd = {one["name"]: one["why_not"] for one in theirs["metrics"] if not one["comparable"]}
    assert list(odd) == ["cc2", "pr3"]
    assert odd["pr3"] == ["λ1 to λ4 of CC2 and PR3 are 0.5 here, and not published"]


def test_the_record_has_what_the_figures_come_from() -> None:
    record = json.loads(json.dumps(scored(SCRIPT)))
    assert [one["name"] for one in record["metrics"]] == list(CML_METRICS)
    (script,) = record["scripts"]
    assert script["n"] == {"scenes": 3, "turns": 6, "actions": 5, "characters": 2}
    turn = {"keywords": ["boat", "hate"], "question": False, "emotion": -1, "intention": False}
    assert script["features"]["turns"][1] == turn
    assert script["features"]["lists"]["events"][1] == "The boat drifts to the harbour wall."
    assert record["sources"][0]["means"]["cc1"] == 0.75


def test_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "notes.md").write_text("no script", encoding="utf-8")
    rows = [
        {"movie_name": "Light", "imdb_id": "tt9", "response": SCRIPT}, {"imdb_id": "tt8", "response": None},
    ]  # fmt: skip
    (tmp_path / "o3-mini.json").write_text(json.dumps(rows), encoding="utf-8")
    lines = json.dumps({"movie_name": "Light", "imdb_id": "tt9", "script_segment": SCRIPT})
    (tmp_path / "people.jsonl").write_text(lines + "\n", encoding="utf-8")
    found = {(one.source, one.id, bool(one.text)) for one in read_scripts([tmp_path])}
    people = {("o3-mini", "tt9", True), ("o3-mini", "tt8", False), ("people", "tt9", True)}
    assert found == {*people, (tmp_path.name, "one", True)}
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(EvaluationError, match=r"bad\.txt cannot be read"):
        read_scripts([tmp_path / "bad.txt"])
    (tmp_path / "empty").mkdir()
    for name, why in (("absent", "no file or folder"), ("empty", "No screenplay in")):
        with pytest.raises(EvaluationError, match=why):
            read_scripts([tmp_path / name])


def test_the_instruction_shows_the_form_that_is_read() -> None:
    prompt = cml_instruction("Light", "Two keepers wait for a boat. It costs $5.")
    assert "Title: Light" in prompt
    assert "It costs $5." in prompt
    found, form = read_cml(prompt[prompt.index("<script>\n") : prompt.index("</script>\n")])
    assert form == "tags"
    assert len(found.scenes) == 2
    assert found.scenes[0].elements[1].manner == "not looking at the boat"
