"""``shotad evaluate ad`` as a researcher meets it: a small film of their own, cheap metrics."""

from __future__ import annotations

import csv
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from shotad.evaluation import METRICS, read_inputs
from tests.cli.program import Said, Shotad
from tests.evaluation.judges.judging import WORDS

HUMAN = [
    ("a", "f1", "Ann opens the door of the old house.", ["She opens the door of the old house."]),
    ("b", "f1", "Ben runs to the car.", ["He runs to the car."]),
    ("c", "f1", "She looks at him for a while.", ["She looks at him for a while."]),
    ("d", "f2", "The captain salutes the crew.", ["The captain salutes the crew."]),
    ("e", "f2", "Waves break on the deck.", ["Waves break on the deck."]),
    ("f", "f2", "Rain falls on the sea.", []),
]
SAID: dict[str, str | None] = {
    "a": "Ann opens a door.", "b": "Ben runs to the car.", "c": None, "d": "A man salutes.", "e": "",
    "f": "It rains on the sea.",
}  # fmt: skip

Place = Callable[..., Said]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with human.csv, casts.json and preds.jsonl; commands run in it, and draw no plots."""
    with (tmp_path / "human.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "film", "start", "end", "text", "actions"])
        for place, (name, film, text, actions) in enumerate(HUMAN):
            table.writerow([name, film, 10 * place, 10 * place + 2, text, json.dumps(actions)])
    (tmp_path / "casts.json").write_text(json.dumps({"f1": ["Ann Smith", "Ben Jones"]}))
    write(tmp_path / "preds.jsonl", SAID)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    return tmp_path


@pytest.fixture
def evaluate(shotad: Shotad, here: Path) -> Place:
    def call(*words: object, predictions: Sequence[str] = ("preds.jsonl",)) -> Said:
        given = [word for name in predictions for word in ("--predictions", name)]
        return shotad("evaluate", "ad", "human.csv", *given, "--cache", "kept.sqlite", *words)

    return call


def write(path: Path, texts: dict[str, str | None], **more: Any) -> None:
    rows = [{"id": name, "text": text, **more} for name, text in texts.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def strictly(text: str) -> Any:
    """JSON as the standard has it: no NaN, no Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def head(folder: Path | str) -> dict[str, Any]:
    found: dict[str, Any] = strictly((Path(folder) / "report.json").read_text(encoding="utf-8"))
    return found


def numbers(folder: Path | str) -> dict[str, float | None]:
    return {metric["name"]: metric["value"] for metric in head(folder)["metrics"]}


def test_json_is_all_that_standard_output_has(evaluate: Place, here: Path) -> None:
    (here / "casts.json").write_text(json.dumps({"f1": ["Zoe Nobody"]}))
    said = evaluate("--metrics", "critic,rouge-l", "--casts", "casts.json", "--json")
    assert said.code == 0, said.err
    record = strictly(said.out)
    assert record["metrics"][0]["value"] is None
    assert said.err == ""
    assert record == head("preds.eval")
    for line in (here / "preds.eval" / "items.jsonl").read_text(encoding="utf-8").splitlines():
        strictly(line)


def test_what_was_found_in_the_files_is_told_and_stands_in_the_report(evaluate: Place, here: Path) -> None:
    write(here / "preds.jsonl", {**SAID, "zz": "Nobody knows."})
    said = evaluate("--metrics", "bleu-1,names-kept", "--casts", "casts.json", "--judge", "fake", "--plain")
    assert said.code == 0
    assert "--judge was not used" in said.err
    assert "rows that belong to no AD of the dataset, and are left out: 1 (zz)" in said.err
    notes = " ".join(head("preds.eval")["notes"])
    assert "are left out: 1 (zz)" in notes
    assert "have no names (f2)" in notes
    assert "empty texts: 1 (e)" in notes
    assert "(zz)" in (here / "preds.eval" / "report.md").read_text(encoding="utf-8")


def test_missing_may_be_skipped_and_the_empty_text_counts_as_0(evaluate: Place) -> None:
    assert evaluate("--metrics", "rouge-l", "--out", "whole", "--quiet").code == 0
    said = evaluate("--metrics", "rouge-l", "--missing", "skip", "--out", "part")
    assert "1 AD without a prediction was left out, as --missing skip asks" in said.out
    whole, part = (numbers(folder)["rouge-l"] or 0 for folder in ("whole", "part"))
    assert whole * 6 == pytest.approx(part * 5)
    assert whole > 0
    assert head("part")["n"]["skipped"] == 1


@pytest.fixture
def few_metrics() -> Iterator[None]:
    """A table of metrics with some of them."""
    shipped = dict(METRICS)
    METRICS.clear()
    for name in ("bleu-1", "critic", "llm-ad-eval", "action-description"):
        METRICS[name] = shipped[name]
    yield
    METRICS.clear()
    METRICS.update(shipped)


@pytest.mark.usefixtures("few_metrics")
def test_all_takes_what_is_possible_and_names_what_is_not(evaluate: Place) -> None:
    said = evaluate()
    assert said.code == 0, said.err
    assert list(numbers("preds.eval")) == ["bleu-1"]
    left_out = {entry["metric"]: entry["reason"] for entry in head("preds.eval")["left_out"]}
    assert list(left_out) == ["critic", "llm-ad-eval", "action-description"]
    for name, reason in left_out.items():
        assert f"Not measured: {name}. {reason}" in said.out


def test_judges_stand_side_by_side(evaluate: Place) -> None:
    judges = ("--judge", WORDS, "--judge", "fake")
    said = evaluate("--metrics", "llm-ad-eval,llm-action", *judges, "--plain")
    values = numbers("preds.eval")
    kinds = [f"{metric}@{WORDS}" for metric in ("llm-ad-eval", "llm-action")]
    assert list(values) == kinds
    assert all(value and value > 0 for value in values.values())
    # A judge of which no answer can be used gives no figure: 0 would look like one.
    assert said.code == 1
    for metric in ("llm-ad-eval", "llm-action"):
        assert f"Not measured: {metric}@fake. judge: none of " in said.out


def test_shards_merged_are_the_whole(evaluate: Place, shotad: Shotad, here: Path) -> None:
    words = ("--metrics", "cider,bleu-4,critic", "--casts", "casts.json", "--quiet")
    assert evaluate(*words, "--out", "whole").code == 0
    for k in (1, 2):
        assert evaluate(*words, "--shard", f"{k}/2", "--out", f"s{k}").code == 0
        assert head(f"s{k}")["n"]["in_this_report"] == 3
    said = shotad("evaluate", "merge", "s2", "s1", "--out", "merged")
    assert said.code == 0, said.err
    assert head("merged") == head("whole")
    assert (here / "merged" / "items.jsonl").read_bytes() == (here / "whole" / "items.jsonl").read_bytes()


def test_every_file_that_a_number_rests_on_is_named_by_its_content(evaluate: Place, here: Path) -> None:
    half = dict(list(SAID.items())[:3])
    write(here / "p1.jsonl", half)
    write(here / "p2.jsonl", {name: text for name, text in SAID.items() if name not in half})
    write(here / "stage1.jsonl", {name: f"Action: {text}" for name, _, text, _ in HUMAN})
    words = ("--metrics", "critic", "--casts", "casts.json", "--descriptions", "stage1.jsonl", "--quiet")
    said = evaluate(*words, "--out", "r", predictions=["p1.jsonl", "p2.jsonl"])
    assert said.code == 0, said.err
    record = head("r")
    hashes = [hashlib.sha256((here / name).read_bytes()).hexdigest() for name in ("p1.jsonl", "p2.jsonl")]
    assert record["predictions"]["name"] == "p1.jsonl + p2.jsonl"
    assert record["predictions"]["sha256"] == " + ".join(hashes)
    stage1 = hashlib.sha256((here / "stage1.jsonl").read_bytes()).hexdigest()
    assert f"Stage I's texts are those of stage1.jsonl, SHA-256 {stage1}." in record["notes"]
    assert record["casts"] == {"f1": ["Ann Smith", "Ben Jones"]}
    assert all(len(record["dataset"][what]) == 64 for what in ("texts", "actions", "casts"))
    (first, *_) = (here / "r" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(first)["actions"] == HUMAN[0][3]
    assert json.loads(first)["description"] == f"Action: {HUMAN[0][2]}"


def test_actions_that_were_made_are_told_apart_from_published_ones(evaluate, shotad, here):
    assert evaluate("--metrics", "bleu-1", "--quiet").code == 0
    assert not any("published" in note for note in head("preds.eval")["notes"])
    made = {"made_by": "rules by a parser, no engine"}
    rows = [{"anno_idx": name, "text_gt": text, "gt_action": acts, **made} for name, _, text, acts in HUMAN]
    (here / "acts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ("--predictions", "preds.jsonl", "--metrics", "bleu-1", "--cache", "kept.sqlite", "--out", "r")
    said = shotad("evaluate", "ad", "acts.jsonl", *words)
    assert said.code == 0, said.err
    assert "made by" not in said.out, "no metric of these uses actions"
    notes = read_inputs("acts.jsonl", [Path("preds.jsonl")], metrics=["action"]).notes
    assert any("not the published ones: made by rules by a parser, no engine." in note for note in notes)


def test_comparing_at_once_with_an_earlier_report(evaluate: Place, here: Path) -> None:
    assert evaluate("--metrics", "rouge-l", "--quiet").code == 0
    write(here / "better.jsonl", {name: text for name, _, text, _ in HUMAN})
    words = ("--metrics", "rouge-l", "--compare", "preds.eval")
    said = evaluate(*words, predictions=["better.jsonl"])
    assert said.code == 0, said.err
    assert "A: preds.jsonl." in said.out
    assert "B: better.jsonl." in said.out
    assert (here / "better.eval" / "compare.json").is_file()
    record = strictly(evaluate(*words, "--json", predictions=["better.jsonl"]).out)
    (metric,) = record["comparison"]["metrics"]
    assert metric["difference"] > 0
    # Another human text under the same ids is refused before scoring.
    text = (here / "human.csv").read_text(encoding="utf-8")
    (here / "human.csv").write_text(text.replace("Ben runs", "Bert walks"), encoding="utf-8")
    said = evaluate(*words, "--plain")
    assert (said.code, "ROUGE-L" in said.err) == (1, False)
    assert "AD 'b' has another human text in preds.eval" in said.err


def test_a_report_holds_no_password_of_an_address(evaluate: Place, here: Path) -> None:
    address = "openai.base_url=https://me:hunter2@models.example/v1?api_key=abc123"
    assert evaluate("--metrics", "rouge-l", "--set", address, "--out", "r", "--quiet").code == 0
    texts = [path.read_text(encoding="utf-8") for path in (here / "r").iterdir() if path.is_file()]
    assert any("models.example" in text for text in texts)
    assert not any(secret in text for text in texts for secret in ("hunter2", "abc123"))


def test_only_what_the_metrics_need_is_missed(evaluate: Place, here: Path) -> None:
    with (here / "human.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "film", "start", "end", "text"])
        table.writerows(
            (name, film, 10 * at, 10 * at + 2, text) for at, (name, film, text, _) in enumerate(HUMAN)
        )
    for number, (metrics, told) in enumerate(
        [("cider", set()), ("cider,action-description,BLEU-1", {"actions"})]
    ):
        said = evaluate("--metrics", metrics, "--out", f"report{number}")
        everything = said.out + said.err
        assert {name for name in ("actions", "CRITIC", "--casts") if name in everything} == told, metrics
    said = evaluate("--metrics", "critic", "--out", "report2")
    assert "CRITIC" in said.err
    assert "action score" not in said.err
    every = read_inputs("human.csv", [Path("preds.jsonl")]).findings
    assert any("action score" in finding for finding in every)
    assert any("--casts" in finding for finding in every)


def test_human_ads_in_another_language_are_scored_with_a_warning(evaluate: Place, here: Path) -> None:
    assert "made for English" not in evaluate("--metrics", "rouge-l").err
    lines = ("Anna öffnet die Tür des alten Hauses.", "Ein Hund läuft über die nasse Straße zum Ufer.")
    rows = "".join(f"{name},f1,{10 * n},{10 * n + 2},{lines[n % 2]}\n" for n, name in enumerate("abcdef"))
    (here / "human.csv").write_text(f"id,film,start,end,text\n{rows}", encoding="utf-8")
    said = evaluate("--metrics", "rouge-l")
    assert said.code == 0
    assert "The lines are in German. The metrics are made for English" in said.err
    assert "made for English" in (here / "preds.eval" / "report.md").read_text(encoding="utf-8")
