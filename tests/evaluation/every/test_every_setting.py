"""No setting changes a row and leaves what it is kept by: each belongs to the identity of those who use it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from shotad.core import Config, Identity, MeasureSettings
from shotad.core.config.measures import CriticSettings
from shotad.evaluation import MetricContext, Store
from shotad.evaluation.metric import ENGINE_METRICS, Json, Row, row_keys
from shotad.evaluation.metrics.critic import Document, People
from tests.evaluation.every.allmetrics import NAMES, MakeBench, metric_of, mixed, scored
from tests.evaluation.judges.judging import WordJudge

ACTION = ("action", "action-description")
VECTORS = (*ACTION, "repetition-meaning")
UNTOLD = ("cider", "cider-plain", "bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "meteor", "spice")
"""They are made without the settings, and cannot use one."""
HERE = "tests.evaluation.every.test_every_setting"


class Nobody:
    """A resolver that finds nobody."""

    title = "nobody"
    remarks = ()
    comparable = False
    uses_time = False
    identity: Json = {"resolver": "nobody"}  # noqa: RUF012

    def __init__(self, bench: MetricContext) -> None:
        del bench

    def resolve(self, documents: Sequence[Document]) -> list[tuple[People, ...]]:
        return [((),) * len(document.sentences) for document in documents]


class OtherJudge(WordJudge):
    """The same judge by another name."""

    identity = Identity("other", "script", "1")


SETTINGS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "rules": ("code", (*ACTION, "recall", "llm-ad-eval")),
    "missing": ("skip", ()),
    "embedding.model": ("org/other", VECTORS),
    "embedding.instruction": ("code", ACTION),
    "parser.model": ("other", ACTION),
    "critic.resolver": (f"{HERE}:Nobody", ("critic",)),
    "critic.model": ("other", ()),
    "critic.rules": ("all", ("critic",)),
    "recall.k": (2, ("recall",)),
    "recall.neighbours": (3, ("recall",)),
    "recall.model": ("other", ("recall",)),
    "judge.engines": ([f"{HERE}:OtherJudge"], ENGINE_METRICS),
    "report.unit": ("ad", ()),
}
"""Each setting with another value, and the metrics whose rows are others then. ``critic.model`` belongs to coreference libraries; ``critic.rules`` has a third value, tested
below."""


def leaves(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel) and name != "sampling":
            yield from leaves(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_every_setting_is_here() -> None:
    assert set(SETTINGS) == set(leaves(MeasureSettings))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers", reason="the extra language is not installed")
    from tests.language.tiny_encoders import make_bert

    return make_bert(tmp_path_factory.mktemp("encoders") / "bert")


def changed_by(setting: str, value: Any) -> dict[str, Any]:
    group, _, name = setting.partition(".")
    return {group: {name: value}} if name else {group: value}


def all_of(name: str, bench: MetricContext) -> tuple[Json, list[str], tuple[Row, ...]]:
    """Identity, keys and rows, counted from nothing."""
    corpus, metric = mixed(), metric_of(name, bench)
    if name in UNTOLD:
        return metric.identity, [], ()
    keys = row_keys(metric, corpus, range(len(corpus.items)))
    return metric.identity, keys, scored(name, corpus, bench).rows


BEFORE: dict[str, tuple[Json, list[str], tuple[Row, ...]]] = {}


@pytest.mark.parametrize("setting", SETTINGS)
def test_who_uses_a_setting_has_it_in_the_identity(setting: str, make_bench: MakeBench, tiny: Path) -> None:
    value, users = SETTINGS[setting]
    settings = changed_by(setting, other(tiny) if setting == "recall.model" else value)
    changed = set()
    for name in NAMES:
        real = name == "recall"
        plain = {"recall": {"model": str(tiny)}} if real else {}
        if name not in BEFORE:
            BEFORE[name] = all_of(name, make_bench(stubs=not real, **plain))
        if real and "recall" in settings:
            settings["recall"].setdefault("model", str(tiny))
        else:
            settings |= plain
        identity, keys, rows = all_of(name, make_bench(stubs=not real, **settings))
        if identity != BEFORE[name][0]:
            changed.add(name)
        elif keys == BEFORE[name][1]:
            assert rows == BEFORE[name][2], f"{name}: other rows of the same identity and keys"
    assert changed == set(users)


def other(tiny: Path) -> str:
    """The same model with one more line in its vocabulary."""
    folder = tiny.parent / "other"
    if not folder.is_dir():
        folder.mkdir()
        for path in tiny.iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        with (folder / "vocab.txt").open("a", encoding="utf-8") as file:
            file.write("\nmore")
    return str(folder)


def test_each_of_critics_rules_is_another_metric(make_bench: MakeBench) -> None:
    kinds = get_args(CriticSettings.model_fields["rules"].annotation)
    identities = [metric_of("critic", make_bench(critic={"rules": kind})).identity for kind in kinds]
    assert len({str(identity) for identity in identities}) == len(kinds) == 3


@pytest.mark.parametrize(
    ("settings", "users"),
    [
        ({"seed": 5}, ENGINE_METRICS),
        ({"compute": {"precision": "bfloat16"}}, (*VECTORS, "recall")),
    ],
)
def test_what_else_changes_rows(
    settings: dict[str, Any], users: Sequence[str], make_bench: MakeBench, tiny: Path
) -> None:
    for name in NAMES:
        bench = make_bench(stubs=name != "recall", recall={"model": str(tiny)})
        tree = {**settings, "measures": bench.settings.model_dump()}
        changed = MetricContext(Config.model_validate(tree), Store())
        identities = [metric_of(name, one).identity for one in (bench, changed)]
        assert (identities[0] != identities[1]) == (name in users), name
