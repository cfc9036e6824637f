"""Table 7's metrics on one simulated card: what does not fit is said first, each model is loaded once, and no two
large ones are held together."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from shotad.core import Config, NoProgress
from shotad.core.config.sight import ComputeSettings
from shotad.core.errors import EngineError
from shotad.core.model_cache import CACHE
from shotad.evaluation import MetricContext, Report, Store, estimate_evaluation, evaluate, inter_rater
from shotad.evaluation.assisted_choice import choose_assisted
from shotad.evaluation.metrics.judge import Pair
from shotad.evaluation.model_work import Workload, work_lines
from shotad.evaluation.store import VECTORS_AT_ONCE, vectors_of
from shotad.script import make_embedder
from tests.conftest import needed
from tests.evaluation.allmetrics import MIXED, corpus_of, mixed
from tests.evaluation.datasets.datasetfiles import CMD_ACTIONS, cmd_ad
from tests.gpus import Card, Cards

pytest.importorskip("accelerate")
needed("sentence_transformers")
needed("spacy")

from tests.evaluation.tiny_parser import make_parser  # noqa: E402
from tests.language.tiny_encoders import make_bert, make_gte  # noqa: E402
from tests.language_models import add_ballast, make_llama  # noqa: E402

if TYPE_CHECKING:
    from tests.cli.program import Shotad

GB = 10**9
IN_MEMORY = {"gte-Qwen2-7B-instruct": 15.2, "roberta-large": 1.42, "judge": 16.06, "other judge": 13.5}
"""Gigabytes on a card: in bfloat16, but for RoBERTa in float32."""
GTE, ROBERTA, JUDGE, OTHER = IN_MEMORY
LARGE = {GTE, JUDGE, OTHER}


@pytest.fixture(autouse=True)
def _nothing_loaded() -> Iterator[None]:
    CACHE.clear()
    yield
    CACHE.clear()


@dataclass
class Models:
    """Tiny models of the real classes whose files say that they are as large as the real ones."""

    folders: dict[str, Path]
    parser: Path

    def config(self, **more: Any) -> Config:
        measures = {
            "embedding": {"model": str(self.folders[GTE]), "instruction": "paper"},
            "recall": {"model": str(self.folders[ROBERTA]), "neighbours": 3},
            "parser": {"model": str(self.parser)},
            "judge": {"engines": [self.judge(JUDGE), self.judge(OTHER)]},
        }
        answer = {"sampling": {"max_tokens": 2}}
        return Config.model_validate({"measures": measures, "stage2": answer, **more})

    def judge(self, name: str) -> str:
        return f"llama3:{self.folders[name]}"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    place = tmp_path_factory.mktemp("models")
    folders = {
        GTE: make_gte(place / GTE),
        ROBERTA: make_bert(place / ROBERTA),
        JUDGE: make_llama(place / JUDGE, context=8192),
        OTHER: make_llama(place / OTHER, context=8192, seed=1),
    }
    for name, folder in folders.items():
        bytes_of_a_weight = 4 if name == ROBERTA else 2
        add_ballast(folder, int(IN_MEMORY[name] * GB / bytes_of_a_weight), of_bytes=True)
    return Models(folders, make_parser(place / "parser"))


def cards_of(monkeypatch: pytest.MonkeyPatch, *gigabytes: float, **options: Any) -> Cards:
    cards = [Card(int(size * GB)) for size in gigabytes]
    return Cards(monkeypatch, cards, lambda name: int(IN_MEMORY[name] * GB), **options)


class Notes(NoProgress):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def inputs_of(models: Models, **more: Any) -> Report:
    predictions = {"name": "p", "sha256": "", "system": ""}
    return Report(corpus=mixed(), config=models.config(**more), predictions=predictions)


TABLE_7 = (
    "llm-ad-eval",
    "cider",
    "recall",
    "action",
    "llm-action",
    "repetition-meaning",
    "action-description",
)
"""In an order in which each model would be loaded several times."""


def test_each_model_is_loaded_once_and_no_two_large_ones_are_held(
    models: Models, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cards = cards_of(monkeypatch, 24)
    progress = Notes()
    report = evaluate(inputs_of(models), TABLE_7, progress, cache=tmp_path / "kept.sqlite")
    assert cards.loads == [GTE, ROBERTA, JUDGE, OTHER]
    assert all(len(held & LARGE) <= 1 for held in cards.together), cards.together
    # What fits beside a large one stays.
    assert {GTE, ROBERTA} in cards.together
    # The report has the metrics in the order in which they were named.
    names = [result.name for result in report.results]
    judged = [name.partition("@")[0] for name, _ in report.not_measured]
    assert set(judged) == {"llm-ad-eval", "llm-action"}, "tiny judges say nothing that can be used"
    assert names == [name for name in TABLE_7 if name not in judged]
    assert len(judged) == 4, "two metrics by two judges"
    assert all(len(result.rows) == len(MIXED) for result in report.results)
    # Everything is kept: nothing is loaded again.
    CACHE.clear()
    evaluate(inputs_of(models), ["cider", "action", "recall"], NoProgress(), cache=tmp_path / "kept.sqlite")
    assert len(cards.loads) == 4


def test_on_a_large_card_all_stay(models: Models, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cards = cards_of(monkeypatch, 80)
    evaluate(inputs_of(models), TABLE_7, NoProgress(), cache=tmp_path / "kept.sqlite")
    assert cards.loads == [GTE, ROBERTA, JUDGE, OTHER]
    assert cards.together[-1] == set(IN_MEMORY)


def refusal(inputs: Report, names: tuple[str, ...], cache: Path) -> str:
    with pytest.raises(EngineError) as caught:
        evaluate(inputs, names, NoProgress(), cache=cache)
    return f"{caught.value.what} {caught.value.hint}"


def test_what_does_not_fit_is_said_with_figures_before_anything_is_done(
    models: Models, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cards = cards_of(monkeypatch, 24)
    cards.cards[0].taken_by_others = 10 * GB
    kept = tmp_path / "kept.sqlite"
    said = refusal(inputs_of(models), TABLE_7, kept)
    assert "gte-Qwen2-7B-instruct does not fit: its weights take about 15.2 GB in bfloat16" in said
    assert (
        "judge does not fit: its weights take about 16.1 GB in bfloat16, and there are 14.0 GB on cuda:0"
        in said
    )
    assert "other judge" not in said
    assert "Nothing was fetched or read." in said
    assert "measures.embedding.model" in said
    assert "local.quantise" in said
    assert cards.loads == []
    with sqlite3.connect(kept) as store:
        assert store.execute("SELECT count(*) FROM kept").fetchall() == [(0,)]
    # A card without bfloat16 would take twice as much.
    cards.cards[0].taken_by_others = 0
    cards.cards[0].capability = (7, 5)
    said = refusal(inputs_of(models), ("action",), kept)
    assert "30.4 GB in float32, and there are 24.0 GB on cuda:0" in said
    assert "compute.precision=bfloat16" in said


def test_what_only_all_asks_for_is_left_out_with_the_figures(
    models: Models, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cards = cards_of(monkeypatch, 8)
    inputs = inputs_of(models)
    inputs = replace(inputs, config=inputs.config.model_copy(update={"measures": no_judge(inputs.config)}))
    report = evaluate(inputs, ["all"], NoProgress(), cache=tmp_path / "kept.sqlite")
    reasons = dict(report.not_measured)
    for name in ("action", "events", "repetition-meaning"):
        assert "15.2 GB in bfloat16, and there are 8.0 GB on cuda:0" in reasons[name]
    assert report.result("recall") is not None
    assert cards.loads == [ROBERTA]


def no_judge(config: Config) -> Any:
    return config.measures.model_copy(update={"judge": type(config.measures.judge)()})


def test_a_model_that_is_not_here_is_refused_before_it_is_fetched(
    models: Models, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, empty_hub: Path
) -> None:
    cards_of(monkeypatch, 12)
    tree = models.config().model_dump()
    tree["measures"]["embedding"]["model"] = "Alibaba-NLP/gte-Qwen2-7B-instruct"
    inputs = replace(inputs_of(models), config=Config.model_validate(tree))
    said = refusal(inputs, ("cider", "action"), tmp_path / "kept.sqlite")
    assert "15.2 GB in bfloat16, and there are 12.0 GB on cuda:0" in said
    assert list(empty_hub.iterdir()) == []
    # It fits, and the disk is too small for its file in float32.
    import shutil

    cards_of(monkeypatch, 24)
    usage: Any = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=20 * GB))
    said = refusal(inputs, ("cider", "action"), tmp_path / "kept.sqlite")
    assert "30.5 GB of disk" in said
    assert "20.0 GB are free" in said


def test_the_other_commands_load_each_model_once_too(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    cards = cards_of(monkeypatch, 16.4)
    context = MetricContext(models.config(), Store())
    one, other = (corpus_of([("Ann opens a door.", None), ("Bob sits.", None)], film="f") for _ in range(2))
    record = inter_rater(one, other, [0.5, 0.8], context, ["recall", "action", "cider"])
    assert cards.loads == [GTE, ROBERTA]
    assert [row["name"] for row in record["directions"][0]["metrics"]] == ["recall", "action", "cider"]
    assert len(record["directions"]) == 4
    CACHE.clear()
    cards.loads.clear()
    items = [
        replace(item, candidates=(item.prediction or "", "He walks."), prediction=None)
        for item in mixed().items
    ]
    context = MetricContext(models.config(), Store())
    chosen = choose_assisted(
        replace(mixed(), items=tuple(items)), ["recall", "llm-ad-eval", "action"], context
    )
    assert cards.loads == [GTE, ROBERTA, JUDGE, OTHER]
    assert set(chosen.results["best"]) == {"recall", "action"}
    cards.cards[0].taken_by_others = 8 * GB
    CACHE.clear()
    cards.loads.clear()
    with pytest.raises(EngineError, match="judge does not fit"):
        choose_assisted(replace(mixed(), items=tuple(items)), ["llm-ad-eval"], context, expert=["cider"])
    assert cards.loads == []


def test_an_engine_and_its_judge_are_both_known_to_fit_before_the_first_is_asked(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards = cards_of(monkeypatch, 15)
    context = MetricContext(models.config(), Store())
    with pytest.raises(
        EngineError, match=r"judge does not fit: .* 16\.1 GB in bfloat16, and there are 15\.0 GB"
    ):
        Pair(models.judge(OTHER), models.judge(JUDGE), context)
    assert cards.loads == []


# Batches
TEXTS = [f"He opens {'the door and then ' * (number % 7)}door {number}." for number in range(300)]


def test_a_vector_does_not_depend_on_its_batch_and_memory_decides_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(make_gte(tmp_path / ROBERTA))
    cpu = make_embedder(folder, ComputeSettings(device="cpu"))
    alone = np.concatenate([cpu.of([text], prompt="Query: ") for text in TEXTS[:12]])
    cards = cards_of(monkeypatch, 24, bytes_per_token=10**7)
    gpu = make_embedder(folder)
    vectors = gpu.of(TEXTS, prompt="Query: ")
    assert np.abs(vectors[:12] - alone).max() < 2e-6
    assert sum(cards.encoded) - sum(cards.failed) == len(TEXTS)
    assert len(set(cards.encoded)) > 1
    assert cards.failed != []
    # Once one was measured none is too large any more.
    cards.failed.clear()
    again = gpu.of(TEXTS, prompt="Query: ")
    assert cards.failed == []
    assert np.abs(again - vectors).max() < 2e-6
    # One text alone that does not fit is an error with its length.
    cards.bytes_per_token = 10**10
    with pytest.raises(EngineError, match="read one text of .* tokens"):
        gpu.of(["He opens the door."])


def test_a_run_that_is_killed_goes_on_with_the_texts_that_are_left(
    models: Models, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from sentence_transformers import SentenceTransformer

    cards = cards_of(monkeypatch, 24)
    encode = SentenceTransformer.encode
    encoded: list[str] = []

    def killed(model: Any, texts: list[str], **options: Any) -> Any:
        if len(encoded) >= VECTORS_AT_ONCE:
            raise KeyboardInterrupt
        encoded.extend(texts)
        return encode(model, texts, **options)

    with Store(tmp_path / "kept.sqlite") as store:
        service = vectors_of(MetricContext(models.config(), store))
        with monkeypatch.context() as patch:
            patch.setattr(SentenceTransformer, "encode", killed)
            with pytest.raises(KeyboardInterrupt):
                service.of(TEXTS)
        cards.encoded.clear()
        vectors = vectors_of(MetricContext(models.config(), store)).of(TEXTS * 2)
    assert vectors.shape == (2 * len(TEXTS), 32)
    assert len(encoded) == VECTORS_AT_ONCE
    assert sum(cards.encoded) == len(TEXTS) - VECTORS_AT_ONCE, "each text once"


# The estimate
def test_the_estimate_counts_what_the_run_does_and_what_is_kept_is_not_counted(
    models: Models, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cards = cards_of(monkeypatch, 24)
    names, kept = ("action", "recall", "llm-action"), tmp_path / "kept.sqlite"
    inputs = inputs_of(models)
    foreseen = {work.model: work for work in estimate_evaluation(inputs, names, cache=kept).models}
    assert cards.loads == []
    assert set(foreseen) == {GTE, ROBERTA, "llama3 (judge)", "llama3 (other judge)"}
    progress = Notes()
    evaluate(inputs, names, progress, cache=kept)
    texts = foreseen[GTE]
    assert texts.unit == "texts"
    assert sum(cards.encoded) == texts.count
    # These judges answer nothing that can be read, and so each question is put twice.
    questions = foreseen["llama3 (judge)"].count + foreseen["llama3 (other judge)"].count
    assert sum(cards.sizes) == 2 * questions
    assert any(f"{texts.count} texts" in note for note in progress.notes)
    assert estimate_evaluation(inputs, ["action", "recall"], cache=kept) == Workload(())
    again = estimate_evaluation(inputs, ["action"], cache=kept, force=True).models
    assert [work.count for work in again] == [texts.count]


def test_the_time_is_that_of_the_card_where_it_is_known(
    models: Models, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from types import SimpleNamespace

    import torch

    def foreseen(card: str) -> Workload:
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(name=card))
        return estimate_evaluation(
            inputs_of(models), ["action", "llm-action"], cache=tmp_path / "kept.sqlite"
        )

    cards_of(monkeypatch, 24)
    fast, slow = foreseen("NVIDIA GeForce RTX 4090"), foreseen("NVIDIA GeForce RTX 3090")
    for quick, late in zip(fast.models, slow.models, strict=True):
        assert (quick.model, quick.metrics) == (late.model, late.metrics)
        assert quick.seconds is not None
        assert late.seconds is not None
        assert quick.seconds < late.seconds
    gte = next(work for work in fast.models if "gte" in work.model)
    assert gte.metrics == ("action",)
    assert gte.seconds == pytest.approx(2 * 7.6e9 * gte.tokens_in / (0.4 * 165e12), rel=0.01)
    assert any("by the data sheet of NVIDIA GeForce RTX 4090" in line for line in work_lines(fast))
    assert any(line.startswith("All models together: about") for line in work_lines(fast))
    unknown = foreseen("Accelerator X")
    assert [work.seconds for work in unknown.models] == [None] * 3
    assert "from the first batch on" in work_lines(unknown)[0]


# The command, on the published layout
def test_table_7_of_a_dataset_as_published_on_one_card(
    models: Models, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shotad: Shotad
) -> None:
    root = cmd_ad(tmp_path / "cmd-ad", actions=[[*row[:4], "['She waits.']"] for row in CMD_ACTIONS])
    lines = [{"id": str(number), "text": f"Ann waits {number}."} for number in range(4)]
    predictions = tmp_path / "cmd.jsonl"
    predictions.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    settings = {
        "embedding.model": models.folders[GTE], "recall.model": models.folders[ROBERTA],
        "parser.model": models.parser, "critic.resolver": "plain",
    }  # fmt: skip
    sets = [word for name, value in settings.items() for word in ("--set", f"measures.{name}={value}")]
    command = (
        "evaluate", "ad", "cmd-ad", "--root", root, "--predictions", predictions, "--config", "paper",
        "--metrics", "cider,critic,action,recall,llm-ad-eval", "--judge", models.judge(JUDGE), *sets,
        "--set", "stage2.sampling.max_tokens=8", "--cache", tmp_path / "kept.sqlite", "--json",
    )  # fmt: skip
    cards = cards_of(monkeypatch, 8)
    code, out, err = shotad(*command)
    assert code != 0
    assert "15.2 GB in bfloat16, and there are 8.0 GB on cuda:0" in err
    assert cards.loads == []
    cards.cards[0].memory = 24 * GB
    code, out, err = shotad(*command, "--estimate")
    assert code == 0, err
    assert {work["unit"] for work in json.loads(out)["models"]} == {"texts", "questions"}
    assert not (tmp_path / "cmd.eval").exists()
    assert cards.loads == []
    code, out, err = shotad(*command)
    assert code == 1, "a tiny judge says nothing that can be used"
    measured = json.loads(out)
    assert [metric["name"] for metric in measured["metrics"]] == ["cider", "critic", "action", "recall"]
    assert [metric["metric"] for metric in measured["left_out"]] == [f"llm-ad-eval@llama3:{JUDGE}"]
    assert cards.loads[0] == GTE
    assert cards.loads[-1] == JUDGE
    assert sorted(cards.loads) == sorted({GTE, ROBERTA, JUDGE} & set(cards.loads))
