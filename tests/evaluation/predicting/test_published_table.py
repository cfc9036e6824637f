"""From the published files to the rows of the paper's Table 7, on two cards, with tiny models of the same classes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import Shotad
from tests.evaluation.predicting.gpu_engine import VARIABLE
from tests.evaluation.predicting.published import make_published
from tests.evaluation.predicting.tiny_cards import LOOKS, WRITES

pytest.importorskip("torch")
pytest.importorskip("transformers")
# A run that is killed, runs by several cards and each metric have tests of their own; this one holds them together.
pytestmark = [pytest.mark.slow, pytest.mark.long]

ADS = 40
TABLE_7 = ("cider", "critic", "action", "recall", "llm-ad-eval")


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what the engines do; there are the cards 0 and 1."""
    folder = tmp_path / "calls"
    folder.mkdir()
    monkeypatch.setenv(VARIABLE, str(folder))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    return folder


def sets(*settings: str) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


def test_the_published_files_become_table_7_by_two_cards_whose_run_is_killed_twice(
    shotad: Shotad, calls: Path, tmp_path: Path
) -> None:
    from tests.evaluation.tinymodels import make_models
    from tests.language_models import make_llama
    from tests.vision_models import qwen_folder

    root = make_published(tmp_path / "cmd-ad")
    checked = shotad("datasets", "check", "cmd-ad", "--root", root, "--videos")
    assert checked.code == 1
    (finding,) = [
        line for line in checked.out.partition("Missing:")[2].partition("Notes:")[0].split("\n") if line
    ]
    assert finding == f"- in all: {ADS} ADs; CMD-AD as published has 7,316."
    assert "4 of 4 clips have a video" in checked.out
    assert "annotation: films" not in checked.out, "and nothing is odd"

    answer = ('{"summarized_AD": "', '"}')
    sees = qwen_folder(tmp_path / "sees", "qwen2_vl")
    writes = make_llama(
        tmp_path / "writes", context=8192, words=answer, says="He opens the door.".join(answer)
    )
    judge = make_llama(tmp_path / "judge", context=8192, words=['{"score": 3}'], says='{"score": 3}')
    out = tmp_path / "cmd.jsonl"
    predict = (
        "predict", "cmd-ad", "--root", root, "--config", "paper", "--gpus", "all", "--out", out,
        "--grammar", "published", "--cast-bank", root / "resources/charbanks/cmdad_charbank.json",
        *sets(
            f"stage1.engine={LOOKS}", f"stage1.model={sees}", f"stage2.engine={WRITES}", f"stage2.model={writes}",
            "compute.precision=float32", "stage1.sampling.max_tokens=8", "stage1.attempts=1", "local.batch=4", "cast.faces=sface",
            "frames.inside=4", "frames.outside=2", "frames.min_pixels=3136", "frames.max_pixels=6272",
        ),
    )  # fmt: skip
    # Both workers die, each in the middle of its ADs, and so does the first that goes on.
    for orders in (("kill-0-3", "kill-1-2"), ("kill-0-2", "kill-1-4")):
        for order in orders:
            (calls / order).touch()
        killed = shotad(*predict)
        assert killed.code == 1
        assert "there is no other" in killed.err
    done = shotad(*predict)
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["id"] for row in rows] == [str(number) for number in range(ADS)]
    assert {row["text"] for row in rows} == {"He opens the door."}
    assert {line.split()[0] for line in (calls / "calls").read_text().splitlines()} == {"0", "1"}

    models = make_models(tmp_path / "metrics").settings
    evaluated = shotad(
        "evaluate", "ad", "cmd-ad", "--root", root, "--predictions", out, "--config", "paper",
        "--judge", f"llama3:{judge}", "--out", tmp_path / "cmd.eval", "--metrics", ",".join(TABLE_7),
        *sets(
            *(f"measures.{name}.model={group['model']}" for name, group in models.items()),
            "measures.critic.resolver=plain", "compute.device=cpu", "compute.precision=float32",
        ),
    )  # fmt: skip
    assert evaluated.code == 0, evaluated.err
    report = json.loads((tmp_path / "cmd.eval/report.json").read_text())
    names = {metric["name"].partition("@")[0] for metric in report["metrics"]}
    assert names == {*TABLE_7}
    assert all(metric["scored"] == ADS and metric["failed"] == 0 for metric in report["metrics"])
    text = (tmp_path / "cmd.eval/report.md").read_text()
    (measured,) = [line for line in text.splitlines() if line.startswith("| cmd.jsonl |")]
    assert measured.count("(") == len(TABLE_7), "a figure with its interval for each"
    (paper,) = [line for line in text.splitlines() if "Shot-by-Shot | Qwen2-VL-7B + LLaMA3-8B" in line]
    assert paper.endswith("| 26.3 | 47.8 | 28.4 | 33.0 | 3.15 \\| 2.42 |")
    for replaced in (
        "Stage I: sees, not Qwen2-VL-7B-Instruct",
        "Stage II: writes, not Meta-Llama-3-8B-Instruct",
        "nobody is recognised, for no profile pictures are given",
        "by sface, not InsightFace's",
        "frames.inside = 4, not 16",
        "gte instead of gte-Qwen2-7B-instruct",
        "BERTScore with bert; the paper's is roberta-large",
        "judged by llama3:judge",
    ):
        assert replaced in text
    # A report is passed on: it has no folders of this machine.
    assert not [path for path in (tmp_path / "cmd.eval").glob("*.*") if str(tmp_path) in path.read_text()]
