"""Files that were published with the paper, in their exact form, in a run over a dataset; and what a run of the paper's
settings says of what is not as in the paper."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from shotad.core import NoProgress, Request
from shotad.core.errors import ConfigError, DatasetError
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.evaluation import load_dataset, read_bank_of_films, read_inputs, read_published_grammar
from shotad.grammar.scale_net import BackboneShape, ScaleDesign, ScaleNet, save_net
from tests.cli.program import FAKE, Shotad
from tests.evaluation.datasets.datasetfiles import mad_eval, table
from tests.evaluation.predicting.minidataset import CLIPS, SHOTS, Runs, make_cmd, make_tv
from tests.sight.bankpickles import PICKLES

TRAINING = [
    [0, "The Enterprise stops.", "It stops here now."],
    [1, "Picard frowns at him.", "He frowns at her."],
    [4, "Data runs.", "0"],
    [46256, 'Riker says, "No," and leaves.', "He says no, and leaves."],
]
"""Rows as those of ``gt_ad_train/*.csv``: the index has gaps, "0" is an AD whose rewriting failed."""
LINES = {"It stops here now.", "He frowns at her.", "He says no, and leaves."}


def write_training(root: Path, rows: Sequence[Sequence[object]] = TRAINING) -> Path:
    return table(root / "stage2/gt_ad_train/cmdad_train.csv", ["index", "text_gt", "text_gt_wo_char"], rows)


class Notes(NoProgress):
    """Keeps what a run says."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(make_cmd(tmp_path / "root"), tmp_path / "preds.jsonl")


class Asked:
    """Engines that keep their questions."""

    def __init__(self, runs: Runs) -> None:
        self.questions: list[str] = []
        runs.looks, runs.writes = FakeEngine(), FakeEngine(answer=self._answer)

    def _answer(self, request: Request) -> str:
        self.questions.append(request.messages[-1].text)
        return plain_answer(request)


# Examples of Stage II
def test_the_published_training_ads_are_the_examples(runs: Runs) -> None:
    asked = Asked(runs)
    runs.run("prompt.rules=code", "stage2.repair=none", ids=("9",))
    assert not any(line in question for question in asked.questions for line in LINES)
    before = runs.rows[0]["terms"]
    file = write_training(runs.root)
    runs.run("prompt.rules=code", "stage2.repair=none", ids=("9",))
    last = asked.questions[-1]
    shown = [line for line in last.splitlines() if any(known in line for known in LINES)]
    assert len(shown) == 10, "drawn with replacement"
    assert "\n- 0\n" not in last
    after = runs.rows[0]["terms"]
    assert after != before
    # The same file at another place changes nothing; other ADs do.
    moved = runs.root / "cmdad_train.csv"
    file.rename(moved)
    runs.run("prompt.rules=code", "stage2.repair=none", ids=("9",))
    assert runs.rows[0]["terms"] == after
    write_training(runs.root, TRAINING[:2]).replace(moved)
    runs.run("prompt.rules=code", "stage2.repair=none", ids=("9",))
    assert runs.rows[0]["terms"] != after


def test_a_file_of_ones_own_goes_before_the_published_one(runs: Runs, tmp_path: Path) -> None:
    write_training(runs.root)
    own = tmp_path / "own.txt"
    own.write_text("Rain falls on the roof.\n")
    asked = Asked(runs)
    runs.run(f"prompt.example_file={own}", ids=("9",))
    assert "Rain falls on the roof." in asked.questions[-1]
    assert not any(line in asked.questions[-1] for line in LINES)


def test_a_training_set_of_megabytes_with_bytes_that_are_no_text_is_read(runs: Runs) -> None:
    file = write_training(runs.root)
    rows = b"".join(b"%d,Somebody walks on.,She walks on and on number %d.\n" % (n, n) for n in range(30_000))
    file.write_bytes(file.read_bytes() + rows + b"99999,Caf\x80 Rick.,He sits in the caf\x80 of Rick.\n")
    assert file.stat().st_size > 1_000_000
    asked = Asked(runs)
    runs.run("prompt.rules=code", ids=("9",))
    assert "\ufffd" not in asked.questions[-1]


def test_a_training_set_that_holds_no_ads_is_refused(runs: Runs) -> None:
    table(runs.root / "cmdad_train.csv", ["index", "sentence"], [[0, "He runs."]])
    with pytest.raises(ConfigError, match=r"cmdad_train\.csv has no column of ADs, only: index, sentence"):
        runs.run(ids=("9",))


# Shot scales and threads
GRAMMAR_COLUMNS = [
    "text", "start", "end", "movie", "scaled_start", "scaled_end", "cmd_filename", "imdbid", "movie_title",
    "cmd_clip_idx", "AD_start", "AD_end", "shot_label", "anno_idx", "bboxes", "pred_ids", "thread", "shot_scale",
]  # fmt: skip


def grammar_rows(scales: Sequence[int], thread: str) -> list[list[object]]:
    """The rows of AD 2 (4 to 6 s of 2001/one): a past shot, two current ones, a future one."""
    labels = ("l-1", "m-0", "m-1", "r-0")
    faces = "[" + ", ".join(["[[0, 0, 10, 10]]"] * 4000) + "]"
    return [
        [
            "Somebody does thing 3.", 104.0, 106.0, 7212, start, end, "2001/one", "tt1", "Film tt1", 1, 4.0, 6.0,
            label, 2, faces, "{'nm1': [(0, 0)]}", thread, scale,
        ]
        for (start, end), label, scale in zip(SHOTS["2001/one"], labels, scales, strict=True)
    ]  # fmt: skip


SCALE_THREAD = "cmdad_anno_context-3.0-8.0_face-0.2-0.4_scale_thread.csv"


def line_of(runs: Runs, name: str) -> dict[str, Any]:
    (row,) = [row for row in runs.rows if row["id"] == name]
    return row


def test_published_scales_and_threads_are_used_without_models(runs: Runs) -> None:
    table(
        runs.root / "resources/annotations" / SCALE_THREAD,
        GRAMMAR_COLUMNS,
        grammar_rows((0, 4, 3, 1), "[[0, 2], [1, 3]]"),
    )
    data = runs.dataset
    grammar = read_published_grammar(data)
    assert list(grammar) == ["2"]
    asked: list[str] = []

    def answer(request: Request) -> str:
        asked.append(request.messages[-1].text)
        return plain_answer(request)

    runs.looks = FakeEngine(answer=answer)
    # Models that are not here: they are not looked for.
    paper = ("threads.features=dinov2-giant-registers", "scale.method=classifier", "scale.checkpoint=nowhere")
    runs.run(*paper, ids=("2", "3"), grammar=grammar)
    row = line_of(runs, "2")
    assert row["scale"] == 3.5
    assert row["threaded"] is True
    (question,) = [
        text for text in asked if "Shot 0" in text and "Shot 2" in text and "[Shot 0, Shot 2]" in text
    ]
    assert "[Shot 1, Shot 3]" in question
    assert line_of(runs, "3")["threaded"] is False, "of this AD nothing is published"
    assert line_of(runs, "3")["scale"] == 2.0
    # What the settings do not want is left out, and other scales make another line.
    runs.run(*paper, "threads.features=none", ids=("2",), grammar=grammar)
    assert line_of(runs, "2")["threaded"] is False
    runs.asked()
    runs.run(*paper, ids=("2",), grammar=grammar)
    assert runs.asked() == 0
    table(runs.root / SCALE_THREAD, GRAMMAR_COLUMNS, grammar_rows((0, 2, 2, 1), "[[0], [1], [2], [3]]"))
    runs.run(*paper, ids=("2",), grammar=read_published_grammar(runs.dataset))
    assert runs.asked() > 0
    assert (line_of(runs, "2")["scale"], line_of(runs, "2")["threaded"]) == (2.0, False)


def test_of_numbered_frames_too(tmp_path: Path) -> None:
    runs = Runs(make_tv(tmp_path / "root"), tmp_path / "tv.jsonl", "tv-ad")
    columns = ["anno_idx", "shot_label", "scaled_index", "thread", "shot_scale"]
    rows = [
        [0, "m-0", str(list(range(1, 13))), "[[0, 1]]", 1],
        [0, "r-0", str(list(range(13, 31))), "[[0, 1]]", 4],
    ]
    name = "tvad_anno_context-9-24_face-0.2-0.4_scale_thread.csv"
    table(runs.root / name, columns, rows)
    runs.run(grammar=read_published_grammar(runs.dataset), ids=("0",))
    row = line_of(runs, "0")
    assert (row["scale"], row["threaded"]) == (2.0, True), "the settings want no scales"
    runs.run("scale.method=by-face", grammar=read_published_grammar(runs.dataset), ids=("0",))
    assert (line_of(runs, "0")["scale"], line_of(runs, "0")["threaded"]) == (1.0, True)


@pytest.mark.parametrize(
    ("scales", "thread", "complaint"),
    [
        ((0, 5, 3, 1), "[[0, 2], [1, 3]]", "line 3: the shot scale is 5, and must be 0 to 4"),
        ((0, 1, 3, 1), "[[0, 4]]", "line 2: the thread [0, 4] is no list of the AD's 4 rows"),
        ((0, 1, 3, 1), "none", "line 2: 'none' is no list"),
    ],
)
def test_what_is_not_as_published_is_refused(
    runs: Runs, scales: tuple[int, ...], thread: str, complaint: str
) -> None:
    table(runs.root / SCALE_THREAD, GRAMMAR_COLUMNS, grammar_rows(scales, thread))
    with pytest.raises(DatasetError) as caught:
        read_published_grammar(runs.dataset)
    assert complaint in caught.value.what


def test_the_command_takes_the_published_grammar_and_says_so(shotad: Shotad, tmp_path: Path) -> None:
    root, out = make_cmd(tmp_path / "root"), tmp_path / "p.jsonl"
    table(root / SCALE_THREAD, GRAMMAR_COLUMNS, grammar_rows((0, 4, 3, 1), "[[0, 2], [1], [3]]"))
    ids = tmp_path / "ids.txt"
    ids.write_text("2\n")
    words = ("predict", "cmd-ad", "--root", root, "--out", out, "--ids", ids, *FAKE)
    said = shotad(
        *words, "--grammar", "published", "--set", "scale.method=auto", "--set", "prompt.rules=paper"
    )
    assert said.code == 0, said.err
    assert "published shots, published scales and threads" in said.err
    assert said.err.count("differs from the paper in") == 1
    (row,) = map(json.loads, out.read_text().splitlines())
    assert (row["scale"], row["threaded"]) == (3.5, True)


def test_published_grammar_that_is_not_there_or_not_of_the_published_shots_is_refused(
    shotad: Shotad, tmp_path: Path
) -> None:
    words = ("predict", "cmd-ad", "--root", make_cmd(tmp_path / "root"), "--out", tmp_path / "p.jsonl", *FAKE)
    refused = shotad(*words, "--grammar", "published")
    assert refused.code == 1
    assert SCALE_THREAD in refused.err
    refused = shotad(*words, "--grammar", "published", "--shots", "found")
    assert refused.code == 2
    assert "published shots" in refused.err


# The character bank of MAD-Eval
def test_the_pickled_bank_goes_by_the_titles_of_films(tmp_path: Path) -> None:
    bank = tmp_path / "madeval_charbank.pkl"
    bank.write_bytes(PICKLES["1.5.3", 4])
    data = load_dataset("mad-eval", mad_eval(tmp_path / "mad"))
    banks = read_bank_of_films(bank, None)
    (film,) = {ad.film for ad in data.ads}
    assert banks.cast_of(film) is None
    given = banks.cast_of(film, data.films[film])
    assert given is not None
    assert given.key == "1005_Signs"
    bank.rename(tmp_path / "mad/madeval_charbank.pkl")
    assert load_dataset("mad-eval", tmp_path / "mad").casts == {film: ("Graham Hess", "Merrill Hess")}


# What differs from the paper
PAPER = (
    "prompt.rules=paper", "slots.budget=paper", "threads.features=grid", "stage2.history=0", "stage2.fit=none",
)  # fmt: skip


def differences(runs: Runs, *settings: str, **job: Any) -> str:
    """The block at the start of a run, of which each line of the file has the rows."""
    notes = Notes()
    done = runs.run(*settings, ids=("9",), progress=notes, **job)
    (row,) = [row for row in runs.rows if row["id"] == "9"]
    assert row["differs"] == list(done.differs)
    blocks = [line for line in notes.lines if "differs from the paper" in line]
    if not blocks:
        assert not done.differs
        return ""
    (block,) = blocks
    assert block == "\n".join(
        ["This run differs from the paper in:", *(f"- {text}" for text in done.differs)]
    )
    return block


def test_each_substitute_is_said_once_before_the_run(runs: Runs, tmp_path: Path) -> None:
    assert differences(runs) == "", "a run by our own prompts is none of the paper's"
    block = differences(runs, *PAPER)
    for said in (
        "Stage I: fake, not Qwen2-VL-7B-Instruct or gpt-4o",
        "Stage II: fake, not Meta-Llama-3-8B-Instruct or gpt-4o",
        "people: nobody is named, for no character bank is given",
        "examples of Stage II: shotad's own, not ADs of the training set: cmdad_train.csv",
        "shots of 2 of 4 clips: found by PySceneDetect",
        "threads.features = 'grid', not 'dinov2-giant-registers'",
        "shot scales: none",
        "frames.inside = 3, not 16",
    ):
        assert said in block
        assert block.count(said) == 1
    assert "stage2.sampling" not in block
    assert "prompt.verbs" not in block
    # Each goes with what it stands for.
    write_training(runs.root)
    assert "examples of Stage II" not in differences(runs, *PAPER)
    own = tmp_path / "own.txt"
    own.write_text("Rain falls.\n")
    assert "examples of Stage II: those of own.txt" in differences(runs, *PAPER, f"prompt.example_file={own}")
    assert "shots: found by PySceneDetect" in differences(runs, *PAPER, published=False)
    assert "seed = 7, not 42" in differences(runs, *PAPER, "seed=7")
    assert "shot scales: by the heights of faces" in differences(runs, *PAPER, "scale.method=by-face")
    table(runs.root / SCALE_THREAD, GRAMMAR_COLUMNS, grammar_rows((0, 4, 3, 1), "[[0]]"))
    block = differences(runs, *PAPER, "scale.method=by-face", grammar=read_published_grammar(runs.dataset))
    assert "heights of faces" not in block
    total = sum(len(slots) for _, slots in CLIPS.values())
    assert f"none are published for {total - 1} of {total} ADs" in block
    bank = tmp_path / "bank.json"
    bank.write_text(json.dumps({"tt2": [{"id": "nm1", "name": "Ann Actor", "role": "Ann"}]}))
    block = differences(runs, *PAPER, bank=read_bank_of_films(bank, None))
    for said in ("nobody is recognised", "nobody is named in 1 of 2 films", "by sface, not InsightFace's"):
        assert said in block
    block = differences(runs, *PAPER, "prompt.rules=code", "stage2.sampling.top_k=50")
    assert "the published code is followed" in block
    assert "top_k" not in block, "50 is the published code's"
    assert "stage2.sampling.top_k = 50, not None" in differences(runs, *PAPER, "stage2.sampling.top_k=50")


def test_the_paper_s_own_models_are_no_difference(runs: Runs) -> None:
    for engine, model in (
        (runs.looks, "Qwen/Qwen2-VL-7B-Instruct"),
        (runs.writes, "meta-llama/Meta-Llama-3-8B-Instruct"),
    ):
        engine.identity = type(engine.identity)("vllm", model, "")
    assert "Stage I" not in differences(runs, *PAPER).replace("examples of Stage II", "").replace(
        "so that Stage I", ""
    )
    for engine in (runs.looks, runs.writes):
        engine.identity = type(engine.identity)("openai", "gpt-4o-2024-08-06", "")
    block = differences(runs, *PAPER)
    assert "not Qwen2" not in block
    assert "frames.short_side = None, not 336" in block, "that of the paper's system with GPT-4o"


def test_a_classifier_of_ones_own_is_a_difference_and_the_published_one_is_none(
    runs: Runs, tmp_path: Path
) -> None:
    net = ScaleNet(ScaleDesign(BackboneShape(16, 1, 2, side=56), 1, 112, 84))
    for name, record in (("own", {"epochs": 3}), ("theirs", {"converted": {"sha256": "0" * 64}})):
        save_net(tmp_path / f"{name}.safetensors", net, record)
    settings = (*PAPER, "scale.method=classifier", "compute.device=cpu")
    block = differences(runs, *settings, f"scale.checkpoint={tmp_path / 'own.safetensors'}")
    assert "shot scales: by the classifier 'own.safetensors'" in block
    assert "shot scales" not in differences(
        runs, *settings, f"scale.checkpoint={tmp_path / 'theirs.safetensors'}"
    )


def test_another_edition_of_the_annotation_is_a_difference(runs: Runs) -> None:
    file = runs.root / "cmdad_anno.csv"
    first, *rest = file.read_text(encoding="utf-8").splitlines()
    rows = [f"{first},num_words", *(f"{row},4" for row in rest)]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert "the annotation: AutoAD-Zero's edition" in differences(runs, *PAPER)


def test_reports_say_what_differed(shotad: Shotad, runs: Runs, tmp_path: Path) -> None:
    differences(runs, *PAPER)
    words = (
        "evaluate",
        "ad",
        "cmd-ad",
        "--root",
        runs.root,
        "--predictions",
        runs.out,
        "--metrics",
        "bleu-1",
    )
    said = shotad(*words, "--out", tmp_path / "eval", "--cache", tmp_path / "kept.sqlite")
    assert said.code == 0, said.err
    record = json.loads((tmp_path / "eval/report.json").read_text(encoding="utf-8"))
    assert record["differs_from_paper"] == runs.rows[0]["differs"] != []
    for text in (
        said.out,
        (tmp_path / "eval/report.md").read_text(encoding="utf-8"),
        (tmp_path / "eval/report.html").read_text(encoding="utf-8"),
    ):
        assert "Differs from the paper in" in text
        assert "nobody is named, for no character bank is given" in text
    # Of two files, one without.
    rows = [{**row, "id": name} for row, name in zip(runs.rows * 2, ("9", "10"), strict=True)]
    rows[1]["differs"] = []
    runs.out.write_text("".join(json.dumps(row) + "\n" for row in rows))
    inputs = read_inputs("cmd-ad", [runs.out], root=runs.root, metrics=["bleu-1"])
    assert {text.rpartition(" (")[2] for text in inputs.differs} == {"1 of 2 rows)"}
