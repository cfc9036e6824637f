"""The kinds of ``shotad evaluate`` as a user meets them."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from click.testing import Result

from shotad.core.errors import DatasetError, EngineError
from shotad.evaluation import write_report
from tests.cli.program import Said, Shotad, invoke
from tests.evaluation.cml.script_reader import MUTE, PUBLISHED, READER, SCRIPT
from tests.evaluation.datasets import datasetfiles
from tests.evaluation.making.makers import MAKER, Rote
from tests.evaluation.report.fakes import made_corpus, made_file, made_result, made_run
from tests.evaluation.stage.stagefilm import GRADER, MODEL, Grader, Model, write_film
from tests.evaluation.steps.stepjudges import GOOD, HERE
from tests.evaluation.story.storyfilms import READER as STORY_READER, Reader, make_table, write_questions
from tests.media import FilmSpec, make_film


@pytest.fixture
def stage(shotad: Shotad, tmp_path: Path) -> Shotad:
    folder = write_film(tmp_path / "film")
    for kind in (Model, Grader):
        kind.asked.clear()
    Model.tries.clear()

    def call(*words: object) -> Said:
        return shotad("evaluate", "stage", folder, "--cache", tmp_path / "kept.sqlite", *words)

    return call


def test_questions_as_text_and_json(stage: Shotad, tmp_path: Path) -> None:
    words = ("--task", "questions", "--engine", MODEL, "--judge", GRADER, "--top", 1)
    said = stage(*words, "--out", tmp_path / "out")
    assert said.code == 0, said.err
    assert "STAGE, question answering, 1 film: script answers, script judges." in said.out
    assert "bm25: pass@5 50.0 questions: 2" in " ".join(said.out.split())
    assert "bm25: average accuracy, Scene Grounding 40.0 tries: 5" in " ".join(said.out.split())
    assert (tmp_path / "out" / "stage.txt").read_text(encoding="utf-8").strip() == said.out.strip()
    record = json.loads((tmp_path / "out" / "stage.json").read_text(encoding="utf-8"))
    first = record["figures"][0]
    assert first == {
        "name": "bm25: pass@5", "value": 50.0, "low": None, "high": None, "of": 2.0, "what": "questions",
        "failed": 0,
    }  # fmt: skip
    assert record["items"][0]["said"] == [
        "A key.", "A key.", "Nobody knows.", "Nobody knows.", "Nobody knows.",
    ]  # fmt: skip
    asked = len(Model.asked), len(Grader.asked)
    assert json.loads(stage(*words, "--json").out) == record
    assert (len(Model.asked), len(Grader.asked)) == asked  # all was kept
    stage(*words, "--force")
    assert len(Model.asked) == 2 * asked[0]


def test_check(stage: Shotad, tmp_path: Path) -> None:
    said = stage("--check")
    assert (said.code, said.err) == (0, "")
    assert "timeline nodes          4" in said.out
    (tmp_path / "film" / "task_3_role_assets.json").write_text('{"roles": []}', encoding="utf-8")
    said = stage("--check", "--json")
    assert said.code == 1
    assert json.loads(said.out)["whole"] is False


SCRIPTS = [
    {"id": "tea", "system": "ann", "goal": "Make tea", "constraint": "without milk", "steps": GOOD["Make tea"]},
    {"id": "tea", "system": "bob", "goal": "Make tea", "constraint": "without milk", "steps": GOOD["Make tea"][1:]},
    {"id": "bulb", "system": "ann", "goal": "Change a bulb", "steps": GOOD["Change a bulb"]},
]  # fmt: skip


@pytest.fixture
def steps(shotad: Shotad, tmp_path: Path) -> Shotad:
    path = tmp_path / "scripts.jsonl"
    path.write_text("".join(json.dumps(script) + "\n" for script in SCRIPTS), encoding="utf-8")

    def call(*words: object) -> Said:
        return shotad("evaluate", "steps", path, "--cache", tmp_path / "kept.sqlite", *words)

    return call


def test_all_of_it_as_text_and_as_json(steps: Shotad, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("id,system,no-missing,goal\ntea,ann,1,1\ntea,bob,1,1\n", encoding="utf-8")
    words = ("--judge", f"{HERE}:Careful", "--baseline", "--planted", "rules", "--people", people)
    said = steps(*words)
    assert said.code == 0, said.err
    lines = [line.split() for line in said.out.splitlines()]
    assert "3 scripts of 2 tasks, judged by tests.evaluation.steps.stepjudges:Careful." in said.out
    assert ["ann", "agents", "2", *["1.000"] * 8] in lines
    assert ["bob", "single", "1", "0.000", *["1.000"] * 6, "0.857"] in lines
    assert ["Mean", "squared", "error", "agents", "0.250", "0.500", "–", "–", "–", "–", "0.000", "–"] in lines
    assert ["missing", "agents", "3", "1.000", "0.333", "1.000", "0.250", "not", "shown", "0.84"] in lines
    assert ["order", "single", "3", "1.000", "0.000", "1.000", "0.125", "not", "shown", "0.84"] in lines
    record = json.loads(steps(*words, "--json", "--out", tmp_path / "o").out)
    assert json.loads((tmp_path / "o" / "steps.json").read_text(encoding="utf-8")) == record
    (judge,) = record["judges"]
    assert [score["score"] for score in judge["scores"] if score["system"] == "ann"] == [1.0, 1.0]


def test_answers_that_cannot_be_read_are_told_by_the_exit_code(steps: Shotad) -> None:
    said = steps("--judge", f"{HERE}:Mute")
    assert said.code == 1
    assert "Not all answered, counts as 0 (agents): 3: tea (ann), tea (bob), bulb (ann)." in said.out


@pytest.fixture
def cml(shotad: Shotad, tmp_path: Path) -> Shotad:
    pytest.importorskip("sentence_transformers", reason="the extra language is not installed")
    from tests.language.tiny_encoders import make_gte

    model = make_gte(tmp_path / "model")
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "light.xml").write_text(SCRIPT, encoding="utf-8")

    def call(*words: object) -> Said:
        settings = ("--set", f"measures.embedding.model={model}", "--cache", tmp_path / "kept.sqlite")
        return shotad("evaluate", "cml", tmp_path / "films", *settings, *words)

    return call


def test_a_table_and_a_file(cml: Shotad, tmp_path: Path) -> None:
    said = cml("--judge", READER, "--out", tmp_path / "out")
    assert said.code == 0, said.err
    assert "Read: 1 of 1 (100.0%)" in said.out
    assert "By the published code" in said.out
    (source,) = json.loads((tmp_path / "out" / "cml.json").read_text(encoding="utf-8"))["sources"]
    assert source["source"] == "films"
    name = "cc1_emotional_stability"
    assert source["means"][name] == pytest.approx(PUBLISHED[name])
    assert json.loads(cml("--judge", READER, "--json").out)["sources"] == [source]
    said = cml("--judge", MUTE, "--force")
    assert said.code == 1
    assert "1 screenplay with answers that failed" in said.out


def test_the_instruction(shotad: Shotad, tmp_path: Path) -> None:
    summary = tmp_path / "Light.txt"
    summary.write_text("Two keepers wait.\n", encoding="utf-8")
    said = shotad("evaluate", "cml", "--instruction", summary)
    assert said.code == 0, said.err
    assert "Title: Light\nSummary: Two keepers wait.\n" in said.out
    assert "<stage_direction>" in said.out
    summary.write_text(" ", encoding="utf-8")
    assert "is empty" in shotad("evaluate", "cml", "--instruction", summary).err


def test_whom_the_expert_takes_is_written_and_told(shotad: Shotad, tmp_path: Path) -> None:
    ads = tmp_path / "ads.jsonl"
    words = ["door", "street", "house", "river", "table"]
    rows, lines = [], []
    for k, word in enumerate(words):
        times = {"film": "f", "start": 5 * k, "end": 5 * k + 2}
        rows.append({"id": f"n{k}", "text": f"She sees the {word} again.", **times})
        candidates = ["Nothing at all.", f"She sees the {word}.", "He sleeps."]
        lines.append({"id": f"n{k}", "text": candidates[0], "candidates": candidates})
    ads.write_text("\n".join(map(json.dumps, rows)))
    given = tmp_path / "preds.jsonl"
    given.write_text("\n".join(map(json.dumps, lines[:-1])))
    how = ("--metrics", "cider,rouge-l", "--expert", "cider", "--cache", tmp_path / "cache.db", "--json")
    said = shotad("evaluate", "assisted", ads, "--predictions", given, *how)
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told["chosen_number"] == {"1": 4}
    assert told["without_candidates"] == 1
    assert told["results"]["chosen"]["cider"] > told["results"]["random"]["cider"]
    folder = tmp_path / "preds.assisted"
    assert json.loads((folder / "assisted.json").read_text()) == told
    choices = [json.loads(line) for line in (folder / "choices.jsonl").read_text().splitlines()]
    assert [choice["text"] for choice in choices][:2] == ["She sees the door.", "She sees the street."]
    assert choices[-1] == {"id": "n4", "chosen": None, "text": None, "scores": []}
    assert (folder / "report.json").is_file()


def run(*words: object) -> Result:
    return invoke("evaluate", "actions", *words)


@pytest.fixture
def ads(tmp_path: Path) -> Path:
    path = tmp_path / "ads.csv"
    path.write_text("id,text\n1,Ada opens the door and sees Bo.\n2,The guard sits.\n", encoding="utf-8")
    return path


def test_failures_are_listed_and_told_by_the_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "ads.jsonl"
    path.write_text('{"id": 1, "text": "Rain falls."}\n{"id": 2, "text": "…"}\n', encoding="utf-8")
    result = run(path, "--engine", MAKER, "--out", tmp_path / "acts.csv", "--json")
    assert result.exit_code == 1
    record = json.loads(result.stdout)
    assert record["n"] == {"ads": 2, "failed": 1, "actions": 1}
    assert record["failed"] == [{"id": "2", "reason": "people could not be taken out: it has no words"}]


def test_a_run_that_stopped_goes_on_and_a_second_asks_nothing_unless_it_is_told_to(
    ads: Path, tmp_path: Path
) -> None:
    words, acts = (ads, "--out", tmp_path / "acts.csv", "--quiet", "--engine"), tmp_path / "acts.csv"
    with pytest.raises(EngineError):
        run(*words, "opanai:m")
    assert not acts.exists()
    assert run(*words, MAKER).exit_code == 0
    first = acts.read_bytes()
    Rote.asked.clear()
    assert run(*words, MAKER).exit_code == 0
    assert not Rote.asked
    assert acts.read_bytes() == first
    run(*words, MAKER, "--force")
    assert len(Rote.asked) == 4


A = "WEBVTT\n\n00:01.000 --> 00:04.000\nAnn opens the door.\n\n00:10.000 --> 00:12.000\nShe runs.\n"
B = "WEBVTT\n\n00:01.000 --> 00:03.900\nAnn opens\nthe door.\n\n00:30.000 --> 00:32.000\nRain.\n"


@pytest.fixture
def rated(shotad: Shotad, tmp_path: Path) -> Shotad:
    pytest.importorskip("scipy.stats")
    (tmp_path / "a.vtt").write_text(A, encoding="utf-8")
    (tmp_path / "b.vtt").write_text(B, encoding="utf-8")

    def call(*words: object) -> Said:
        kept = ("--cache", tmp_path / "kept.sqlite", "--metrics", "rouge-l,bleu-1")
        return shotad("evaluate", "inter-rater", *words, *kept)

    return call


def test_as_json_with_the_pairs(rated: Shotad, tmp_path: Path) -> None:
    said = rated(tmp_path / "a.vtt", tmp_path / "b.vtt", "--tiou", "0.8", "--json", "--out", tmp_path / "o")
    assert said.code == 0, said.err
    record = json.loads(said.out)
    (pair,) = record["pairs"]
    assert pair["b"]["text"] == "Ann opens the door."
    assert pair["tiou"] == pytest.approx(2.9 / 3, abs=1e-6)
    assert json.loads((tmp_path / "o" / "inter-rater.json").read_text(encoding="utf-8")) == record


def test_a_table_and_a_file_that_is_not_there_which_is_told_once(rated, shotad, tmp_path):
    table = tmp_path / "both.csv"
    table.write_text("film,rater,start,end,text\nUp,x,0,4,A dog.\nUp,y,0,4,A cat.\n", encoding="utf-8")
    said = rated(table, "--tiou", "0.5")
    assert said.code == 0, said.err
    assert "x: 1 line. y: 1 line." in said.out
    said = shotad("evaluate", "inter-rater", tmp_path / "a.vtt", tmp_path / "none.vtt")
    assert (said.code, said.err.count("none.vtt")) == (1, 1)


TOLD = {"Anna": ("letter", "cat", "lamp"), "Bert": ("letter",)}


@pytest.fixture
def told(shotad: Shotad, tmp_path: Path) -> Shotad:
    make_table(tmp_path, TOLD)
    write_questions(tmp_path / "q.jsonl", *TOLD)
    Reader.asked.clear()

    def call(*words: object, engine: str = STORY_READER) -> Said:
        return shotad("evaluate", "story", *words, "--engine", engine, "--cache", tmp_path / "kept.sqlite")

    return call


def test_a_table_of_films(told: Shotad, tmp_path: Path) -> None:
    words = (tmp_path / "films.csv", "--questions", tmp_path / "q.jsonl")
    said = told(*words, "--estimate")
    assert said.out.startswith("At most 360 answers with 0.1 million characters of lines, and 0 checks")
    assert not Reader.asked
    said = told(*words, "--tries", 2)
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
    again = told(*words, "--tries", 2, "--json")
    assert json.loads(again.out)["conditions"] == record["conditions"]
    assert len(Reader.asked) == asked


def test_one_film_with_questions_that_are_made(told: Shotad, tmp_path: Path) -> None:
    film, human, made = tmp_path / "Anna.shotad", tmp_path / "Anna.human.vtt", tmp_path / "made.csv"
    said = told(film, "--human", human, "--make", made, engine="tests.evaluation.story.storyfilms:Maker")
    assert said.out.startswith(f"{made}: 1 question on 1 film. Read them before you use them")
    said = told(film, "--human", human, "--questions", made, "--conditions", "ad,human")
    assert said.code == 0, said.err
    record = json.loads((tmp_path / "Anna.story" / "story.json").read_text(encoding="utf-8"))
    assert list(record["conditions"]) == ["nothing", "dialogue", "ad", "human"]
    assert record["conditions"]["human"]["gain"] == 100
    # A film that was not described.
    with (tmp_path / "Cleo.mp4").open("wb") as file:
        file.truncate(20_000)
    said = told(tmp_path / "Cleo.mp4", "--questions", made)
    assert said.code == 1
    assert "Cleo.mp4 is no script of AD, and has no track" in said.err
    assert "Run shotad describe on the film first" in said.err


@pytest.fixture
def threads(shotad: Shotad) -> Shotad:
    def call(*words: object) -> Said:
        return shotad("evaluate", "threads", *words, "--features", "grid")

    return call


LABELS = {"clip": "film.mp4", "shots": [[0, 0.4], [0.4, 0.8], [0.8, 1.2], [1.2, 1.6]], "clusters": [[0, 2]]}


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """A folder with a small film and labels of its threads."""
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(make_film(FilmSpec(frames=40, cuts=(10, 20, 30))).path, folder / "film.mp4")
    (folder / "film.json").write_text(json.dumps(LABELS), encoding="utf-8")
    return folder


def test_the_table_repeats_table_1(threads: Shotad, labels: Path) -> None:
    said = threads(labels, "--table")
    assert said.code == 0, said.err
    assert "Clips: 1. Shots: 4. Pairs of shots: 6, from one camera set-up: 1." in said.out
    assert "Scoring clips" in said.err
    ours, papers = said.out.split("For comparison")
    assert "paper: DINOv2-g14" in papers
    for row in ("side    patches", "mid     patches", "all     patches", "side    whole"):
        assert ours.count(row) == 2, "pooled and mean of clips"
    record = json.loads((labels.parent / "data.shotad" / "threads.json").read_text(encoding="utf-8"))
    rows = [("side", "patches"), ("mid", "patches"), ("all", "patches"), ("side", "whole")]
    assert [(row["frames"], row["match"]) for row in record["overall"]] == rows
    lines = (labels.parent / "data.shotad" / "threads.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(record["clips"]) == len(lines) == 4


def test_a_failed_clip_is_told_and_the_exit_code_is_1(threads: Shotad, labels: Path) -> None:
    (labels / "broken.mp4").write_bytes(b"This is not a film.\n" * 50)
    broken = {"clip": "broken.mp4", "shots": [[0, 1], [1, 2]], "clusters": [[0, 1]]}
    (labels / "broken.json").write_text(json.dumps(broken), encoding="utf-8")
    said = threads(labels)
    assert said.code == 1
    assert "1 of 2 clips failed; in all figures they count as nothing found" in said.out
    assert "broken.json: broken.mp4" in said.out
    assert "broken.json: broken.mp4" in said.err
    value = json.loads(threads(labels, "--json").out)
    assert value["n"] == {"clips": 2, "scored": 1, "failed": 1}
    assert value["overall"][0]["counts"]["together"] == 2


def test_other_json_is_named_and_wrong_labels_are_refused_before_anything_is_done(
    threads: Shotad, labels: Path
) -> None:
    (labels / "other.json").write_text("{}", encoding="utf-8")
    assert "No labels, left alone: other.json" in threads(labels).err
    shutil.rmtree(labels.parent / "data.shotad")
    wrong = {**LABELS, "clusters": [[1, 3], [3, 40]]}
    (labels / "wrong.json").write_text(json.dumps(wrong), encoding="utf-8")
    said = threads(labels)
    assert said.code == 1
    assert said.err.startswith("Error: wrong.json: shot 3 stands in clusters 0 and 1")
    assert not (labels.parent / "data.shotad").exists()


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    pytest.importorskip("scipy.stats")
    run = made_run()
    write_report(tmp_path / "r", run, plots=False)
    scores = tmp_path / "scores.csv"
    human = [(row.id, row.value or 0) for row in run.results[1].rows[:40]]
    lines = [f"{name},{value / 30:.2f},{value / 31:.2f}" for name, value in human]
    scores.write_text("\n".join(["id,ann,ben", *lines]) + "\n", encoding="utf-8")
    return tmp_path / "r", scores


def test_the_table_and_the_papers_and_one_metric(
    shotad: Shotad, files: tuple[Path, Path], tmp_path: Path
) -> None:
    report, scores = files
    said = shotad("evaluate", "agreement", report, "--scores", scores)
    assert said.code == 0, said.err
    assert "Test system against human scores of 40 ADs." in said.out
    assert "Scores stand in the columns ann, ben, and are averaged." in said.out
    (line,) = [line for line in said.out.splitlines() if line.startswith("ACTION")]
    assert line.split()[1] == "40"
    assert line.split()[2] == "1.000"
    assert "ann (a person)" in said.out
    assert "From the paper, Table 3" in said.out
    words = ("--metric", "cider", "--json", "--out", tmp_path / "o")
    said = shotad("evaluate", "agreement", report, "--scores", scores, *words)
    record = json.loads(said.out)
    assert [metric["name"] for metric in record["metrics"]] == ["cider"]
    assert -1 <= record["metrics"][0]["kendall_tau_b"]["value"] <= 1
    assert json.loads((tmp_path / "o" / "agreement.json").read_text(encoding="utf-8")) == record
    said = shotad("evaluate", "agreement", report, "--scores", scores, "--metric", "ciderr")
    assert said.code == 1
    assert "has no metric 'ciderr'. It has: cider, action, repetition." in said.err


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    corpus = made_corpus(40)
    better = made_file("b.jsonl", "", "System B")
    write_report(tmp_path / "a", made_run(corpus, (made_result(corpus),)), plots=False)
    run = made_run(corpus, (made_result(corpus, shift=2.0),), predictions=better)
    write_report(tmp_path / "b", run, plots=False)
    return tmp_path / "a", tmp_path / "b"


def test_json_and_files(shotad: Shotad, folders: tuple[Path, Path], tmp_path: Path) -> None:
    words = ("--unit", "film", "--out", tmp_path / "c", "--json")
    said = shotad("evaluate", "compare", folders[0] / "report.json", folders[1], *words)
    assert said.code == 0, said.err
    record = json.loads(said.out)
    assert record["intervals"]["unit"] == "film"
    assert record["metrics"][0]["difference"] == pytest.approx(2)
    assert json.loads((tmp_path / "c" / "compare.json").read_text(encoding="utf-8")) == record
    assert (tmp_path / "c" / "compare.html").is_file()


def test_ones_own_dataset_is_whole_or_not_by_what_it_names(tmp_path: Path) -> None:
    datasetfiles.table(tmp_path / "ads.csv", ["text", "film", "start", "end"], [["He runs.", "f", 1, 2]])
    mine = tmp_path / "mine.yaml"
    mine.write_text("title: Mine\nannotation: {files: [ads.csv]}\nvideos: {films: ['{film}']}\n")
    for videos, code in (((), 0), (("--videos",), 1)):
        said = invoke("datasets", "check", mine, "--root", tmp_path, "--quiet", *videos)
        assert (said.exit_code, said.stdout) == (code, "")
    with pytest.raises(DatasetError, match="cmd-ad has no annotation"):
        invoke("datasets", "check", "cmd-ad", "--root", tmp_path)
