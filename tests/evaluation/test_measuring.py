"""Which metrics run, what is left out and why; rows, texts and scores, and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

from shotad.core import Config, NoProgress, Progress, ShotadError
from shotad.core.errors import EvaluationError
from shotad.core.progress import Task
from shotad.evaluation import (
    METRICS,
    Corpus,
    Item,
    Metric,
    MetricContext,
    Report,
    Row,
    Shard,
    Store,
    evaluate,
    score,
)
from shotad.evaluation.metric import Json, MetricFormula
from shotad.evaluation.store import vectors_of
from tests.evaluation.allmetrics import corpus_of

if TYPE_CHECKING:
    from tests.evaluation.tinymodels import TinyModels

_SHARE = MetricFormula("share", 100.0)
PAIRS = [
    ("Ann opens the door.", "Ann opens a door."), ("Ben runs to the car.", None),
    ("She looks at him.", "He looks."), ("They drive off.", ""),
]  # fmt: skip


@dataclass
class Lengths(Metric):
    """A metric for tests: how many of the human AD's words the prediction has, by number. Counts its work."""

    name: str = "lengths"
    title: str = "Lengths"
    columns: tuple[str, ...] = ("words", "ads")
    figure: MetricFormula = _SHARE
    fails_at: str = ""
    counted: list[str] = field(default_factory=list)

    @property
    def identity(self) -> Json:
        return {"version": 1}

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        return [{"pair": [corpus.items[p].reference, corpus.items[p].prediction]} for p in places]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        for place in places:
            item = corpus.items[place]
            self.counted.append(item.id)
            score = len((item.prediction or "").split()) / len(item.reference.split())
            failure = "judge: silent" if item.id == self.fails_at else ""
            failure = failure or (item.failure or "no prediction" if item.prediction is None else "")
            yield Row(item.id, (score, 1.0), 100 * score, failure)


class _Here(Lengths):
    """A metric that is made as the table's are."""

    def __init__(self, name: str, context: MetricContext) -> None:
        super().__init__(name=name, title=name.upper())


class _NoModel(_Here):
    """One whose model cannot be had, which shows where it is looked for."""

    @property
    def identity(self) -> Json:
        raise ShotadError("The model great is not here.", "Fetch it.")


class _Breaks(_Here):
    """One that fails at work."""

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        yield from super().rows(corpus, places[:1])
        raise ShotadError("The model is too large.")


class _Noted(_Here):
    """Keeps which places it was asked to count."""

    asked: ClassVar[list[list[str]]] = []

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        self.asked.append([corpus.items[place].id for place in places])
        return super().rows(corpus, places)


@pytest.fixture
def few() -> Iterator[dict[str, str]]:
    """The table of metrics, with two of tests in it instead of its own; tests put in more."""
    shipped = dict(METRICS)
    METRICS.clear()
    METRICS.update(dict.fromkeys(("one", "two"), f"{__name__}:_Here"))
    _Noted.asked.clear()
    yield METRICS
    METRICS.clear()
    METRICS.update(shipped)


class Notes(NoProgress):
    """Keeps the notes, and how many units each task has."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.totals: list[float | None] = []

    def task(self, name: str, total: float | None, unit: str) -> Task:
        self.totals.append(total)
        return super().task(name, total, unit)

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def measured(few: dict[str, str], tmp_path: Path) -> Callable[..., Report]:
    """Evaluates a corpus by metrics of these names; ``measured(corpus, names, progress, shard=…)``."""

    def measured(
        corpus: Corpus, names: Sequence[str], progress: Progress | None = None, **more: Any
    ) -> Report:
        inputs = Report(corpus=corpus, config=Config(), predictions={"name": "p", "sha256": "", "system": ""})
        return evaluate(inputs, names, progress or NoProgress(), cache=tmp_path / "cache.sqlite", **more)

    return measured


def test_all_takes_each_metric_once_and_shows_each_as_it_comes(measured: Callable[..., Report]) -> None:
    progress = Notes()
    report = measured(corpus_of(PAIRS), ["all", "two"], progress)
    assert [result.name for result in report.results] == ["one", "two"]
    assert [note.partition(":")[0] for note in progress.notes] == ["ONE", "TWO"]
    assert [row.id for row in report.results[0].rows] == [f"film-{k}" for k in range(4)]
    assert report.not_measured == ()


def test_a_model_that_is_not_here_is_known_before_any_is_counted(
    few: dict[str, str], measured: Callable[..., Report]
) -> None:
    few.update(one=f"{__name__}:_Noted", late=f"{__name__}:_NoModel")
    with pytest.raises(ShotadError, match="great is not here"):
        measured(corpus_of(PAIRS), ["one", "late"])
    assert _Noted.asked == []


def test_what_fails_at_work_is_left_out_of_all_and_an_error_where_it_was_named(
    few: dict[str, str], measured: Callable[..., Report]
) -> None:
    few["one"] = f"{__name__}:_Breaks"
    report = measured(corpus_of(PAIRS), ["all"])
    assert [result.name for result in report.results] == ["two"]
    assert report.not_measured == (("one", "The model is too large."),)
    with pytest.raises(ShotadError, match="too large"):
        measured(corpus_of(PAIRS), ["one", "two"])
    few["two"] = f"{__name__}:_NoModel"
    with pytest.raises(EvaluationError, match=r"Nothing could be measured\. two: .*one: The model is too"):
        measured(corpus_of(PAIRS), ["all"])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("llm-ad-eval", "No judge is named"),
        ("action-description", "no descriptions"),
        ("action", "No actions"),
        ("critic", "No cast lists"),
        ("names-kept", "No cast lists"),
    ],
)
def test_what_says_nothing_of_this_corpus(
    few: dict[str, str], measured: Callable[..., Report], name: str, reason: str
) -> None:
    few[name] = f"{__name__}:_NoModel"
    corpus = corpus_of(PAIRS, casts={"another film": ("Ann",)})
    ((left_out, why),) = measured(corpus, ["all"]).not_measured
    assert left_out == name
    assert reason in why
    with pytest.raises(EvaluationError, match=f"{name} cannot be measured: .*{reason}"):
        measured(corpus, ["one", name])


def test_shards_are_whole_films_of_like_size_and_together_everything(
    measured: Callable[..., Report],
) -> None:
    parts = [corpus_of(PAIRS[:1] * size, film=f"film{k}") for k, size in enumerate((5, 1, 3, 4, 2, 3))]
    corpus = Corpus(tuple(item for part in parts for item in part.items))

    def items_of_shards(corpus: Corpus) -> list[list[Item]]:
        """The items that are scored in each of three shards."""
        return [list(measured(corpus, ["one"], shard=Shard(k, 3)).scored) for k in (1, 2, 3)]

    shards = items_of_shards(corpus)
    assert sorted(item.id for shard in shards for item in shard) == sorted(item.id for item in corpus.items)
    assert sum(len({item.film for item in shard}) for shard in shards) == 6
    assert [len(shard) for shard in shards] == [6, 6, 6]
    turned = items_of_shards(replace(corpus, items=corpus.items[::-1]))
    for shard, turned_shard in zip(shards, turned, strict=True):
        assert {item.id for item in turned_shard} == {item.id for item in shard}


def test_each_text_is_encoded_once_whatever_the_order(tiny_models: TinyModels) -> None:
    config = Config.model_validate({"measures": tiny_models.settings})
    context = MetricContext(config, Store(), progress := Notes())
    service = vectors_of(context)
    found = service.of(["a dog", "a cat", "a dog"])
    assert found.shape == (3, 32)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)
    assert found[0].tobytes() == found[2].tobytes()
    assert progress.totals == [2]
    again = service.of(["a cat", "new", "a dog"])
    assert again[[2, 0]].tobytes() == found[:2].tobytes()
    assert progress.totals == [2, 1]
    assert service.of([]).shape == (0, 0)


def test_a_failure_is_tried_again_but_a_missing_prediction_stays_one() -> None:
    lines = corpus_of([("a b", "a"), ("a b", "a"), ("a b c", "a b c"), ("a", None)])
    bench, again = MetricContext(Config(), Store()), Lengths()
    score(Lengths(fails_at="film-2"), lines, bench)
    result = score(again, lines, bench)
    assert again.counted == ["film-2"]
    assert result.failed == 1


def test_a_store_told_to_forget_finds_only_its_own_and_two_use_one_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with Store(path) as store:
        store.put("a", {"x": b"old"})
    with Store(path, forget=True) as store:
        assert store.get("a", ["x"]) == {}
        store.put("a", {"x": b"1"})
        assert store.get("a", ["x"]) == {"x": b"1"}
    with Store(path) as one, Store(path) as two:
        two.put("a", {"y": b"2"})
        assert one.get("a", ["x", "y"]) == two.get("a", ["x", "y"]) == {"x": b"1", "y": b"2"}


def test_who_comes_after_the_file_was_closed_does_not_set_it_aside(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with Store(path) as store:
        store.put("a", {"1": b"one", "2": b"two"})
        store.drop("a", ["2"])
    with pytest.raises(EvaluationError, match="cannot be written"):
        store.put("a", {"3": b"three"})
    with Store(path) as store:
        assert store.get("a", ["1", "2", "3"]) == {"1": b"one"}


def test_a_file_whose_damage_shows_only_at_work_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with Store(path) as store:
        store.put("a", {f"{k:05d}": b"x" * 500 for k in range(2000)})
    whole = path.read_bytes()
    broken = bytearray(whole)
    for page in range(2 * 4096, len(whole), 4096):
        broken[page : page + 100] = b"\xa5" * 100
    for act in ("get", "put", "open"):
        if act == "open":
            broken = bytearray(b"no database at all" * 40).ljust(len(whole))
        path.write_bytes(broken)
        with Store(path) as store:
            if act == "get":
                assert store.get("a", [f"{k:05d}" for k in range(2000)]) == {}
            store.put("a", {"00007": b"new"})
            assert store.get("a", ["00007"]) == {"00007": b"new"}
        with Store(path) as store:
            assert store.get("a", ["00007", "00008"]) == {"00007": b"new"}
        assert (tmp_path / "kept.sqlite.damaged").read_bytes()[: len(whole)] == bytes(broken)
    # A file of somebody's own, named by mistake, stays.
    (tmp_path / "mine.csv").write_text("id,text\n")
    with pytest.raises(EvaluationError, match="mine.csv holds something else.*--cache"):
        Store(tmp_path / "mine.csv")
    assert (tmp_path / "mine.csv").read_text() == "id,text\n"
    # A place where nothing can be written.
    (tmp_path / "file").write_text("")
    with pytest.raises(EvaluationError, match="cannot keep what is computed.*--cache"):
        Store(tmp_path / "file" / "kept.sqlite")
