"""What holds of every metric of the table: bounds, order, shards, what is missing, keys, settings, odd texts."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from shotad.core import (
    Config,
    Identity,
    Interval,
)
from shotad.core.config.measures import MeasureSettings
from shotad.evaluation import Corpus, Item, Metric, MetricContext, Row, Store, make_metric, score
from shotad.evaluation.metric import ENGINE_METRICS, Json, row_keys
from tests.evaluation.allmetrics import (
    ALONG,
    BOUNDS,
    MIXED,
    NAMES,
    MakeBench,
    by_id,
    bytes_of,
    changed,
    human,
    joined_actions,
    mixed,
    predicted,
    scored,
)
from tests.evaluation.judges.judging import WordJudge
from tests.evaluation.standins import NoVerbs

if TYPE_CHECKING:
    from tests.evaluation.tinymodels import TinyModels


# --- the human ADs as predictions
def test_the_human_ads_reach_the_bound(name: str, make_bench: MakeBench) -> None:
    result = scored(name, human(), make_bench())
    assert result.failed == 0
    assert result.value is not None
    if name in ALONG:
        assert f"The human ADs' own: {result.value:.1f}." in result.remarks
        return
    if name == "action" or name.startswith("event"):
        assert result.value <= BOUNDS[name]
        result = scored(name, joined_actions(), make_bench())
    assert result.value == pytest.approx(BOUNDS[name], abs=1e-6)
    assert {round(row.value, 6) for row in result.rows if row.value is not None} == {BOUNDS[name]}


# --- order, shards
def test_order_of_items_does_not_matter(name: str, make_bench: MakeBench) -> None:
    # Two ADs of a film at the same time, as CMD-AD has them where two clips of a film overlap
    corpus = changed(changed(mixed(), 2, interval=Interval(10, 13)), 9, interval=Interval(0, 3))
    items = list(corpus.items)
    random.Random(1).shuffle(items)
    result = scored(name, corpus, make_bench())
    shuffled = scored(name, replace(corpus, items=tuple(items)), make_bench())
    assert by_id(shuffled) == by_id(result)
    assert [row.id for row in shuffled.rows] == [item.id for item in items]
    assert shuffled.value == pytest.approx(result.value)
    assert (shuffled.basis, shuffled.identity) == (result.basis, result.identity)
    assert set(shuffled.remarks) == set(result.remarks)


def test_shards_by_film_add_up(name: str, make_bench: MakeBench) -> None:
    corpus = mixed()
    whole = scored(name, corpus, make_bench())
    parts = [
        scored(name, corpus, make_bench(), [i for i, item in enumerate(corpus.items) if item.film == film])
        for film in ("gamma", "alpha", "beta")
    ]
    added = parts[0] + parts[1] + parts[2]
    assert by_id(added) == by_id(whole)
    assert added.value == pytest.approx(whole.value)
    assert (added.scored, added.failed) == (whole.scored, whole.failed)
    assert set(added.remarks) == set(whole.remarks)


# --- what is missing
SUMMED = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor")
"""Of summed counts: a line worse than the others can weigh more than none, by the tools' own definition."""


@pytest.mark.parametrize("place", [5, 8])
def test_a_missing_prediction_is_reported_and_adds_nothing(
    name: str, place: int, make_bench: MakeBench
) -> None:
    bench = make_bench()
    whole = scored(name, mixed(), bench)
    empty = list(MIXED)
    empty[place] = ""
    gone = [*MIXED[:place], None, *MIXED[place + 1 :]]
    silent = scored(name, predicted(empty, failure="timeout"), bench)
    missing = scored(name, predicted(gone, failure="timeout"), bench)
    row = missing.rows[place]
    assert row.failure == "timeout"
    assert [r.failure for r in missing.rows] == ["timeout" if text is None else "" for text in gone]
    assert missing.failed == sum(text is None for text in gone)
    assert [r.sums for r in missing.rows] == [r.sums for r in silent.rows]
    assert [r.value for r in missing.rows] == [r.value for r in silent.rows]
    assert missing.scored == whole.scored or name in ALONG
    if name not in ALONG:
        assert row.value is None or row.value <= (whole.rows[place].value or 0)
        if name not in SUMMED:
            assert (missing.value or 0) <= (whole.value or 0)


def test_reasons_of_failures_are_each_items_own(name: str, make_bench: MakeBench) -> None:
    """Also where rows are equal otherwise, and where they come from an earlier run."""
    item = human().items[8]
    reasons = ("timeout", "", "refused", "timeout")
    items = [
        replace(item, id=str(k), film=f"film {k}", prediction=None, description=None, failure=reason)
        for k, reason in enumerate(reasons)
    ]
    corpus = Corpus(tuple(items), {item.film: ("Tony Wendice",) for item in items})
    nothing = "no description" if name == "action-description" else "no prediction"
    bench = make_bench()
    for order in (range(4), (1, 2, 3, 0), range(4)):
        failures = [row.failure for row in scored(name, corpus, bench, order).rows]
        assert failures == [reasons[place] or nothing for place in order]


def test_a_description_counts_also_where_stage_2_failed(make_bench: MakeBench) -> None:
    corpus = changed(human(), 0, prediction=None, failure="refused")
    result = scored("action-description", corpus, make_bench())
    assert result.rows[0].value == pytest.approx(150)
    assert result.failed == 0


# --- keys
CHANGES: dict[str, dict[str, Any]] = {
    "prediction": {"prediction": "Bob opens a gun."},
    "no prediction": {"prediction": None, "failure": "no prediction"},
    "another failure": {"prediction": None, "failure": "refused"},
    "reference": {"references": ("Bob opens the gun.",)},
    "more references": {"references": ("Ann runs down the stairs in the dark.", "Bob waits.")},
    "time": {"interval": Interval(75, 76)}, "a pause": {"interval": Interval(30, 31)},
    "film": {"film": "beta"}, "description": {"description": "2. Actions: Bob opens a gun."},
    "no description": {"description": None}, "candidates": {"candidates": ("Bob opens a gun.",)},
    "actions": {"actions": ("Bob opens a gun.",)}, "no actions": {"actions": None},
    "clip": {"clip": "2001/x"}, "scale": {"scale": 2.0}, "thread": {"threaded": True},
}  # fmt: skip


def test_a_key_has_all_that_a_row_depends_on(name: str, make_bench: MakeBench) -> None:
    """Whatever is changed, rows of equal identity, basis and key are equal, counted from nothing."""
    one = changed(mixed(), 3, prediction="Ann runs.", description="2. Actions: Ann runs.")
    others = {what: changed(one, 3, **fields) for what, fields in CHANGES.items()}
    for what, cast in (("cast", ("Ann Hart",)), ("no cast", ())):
        others[what] = replace(one, casts={"alpha": cast, "beta": ("Tony",)})
    bench = make_bench()
    before, rows_before = keys_of(name, one, bench), by_id(scored(name, one, bench))
    for what, other in others.items():
        bases = {make_metric(name, bench).basis(corpus) for corpus in (one, other)}
        if len(bases) > 1:
            continue
        bench = make_bench()
        keys, rows = keys_of(name, other, bench), by_id(scored(name, other, bench))
        for item, key in before.items():
            assert key != keys[item] or rows[item] == rows_before[item], what


def keys_of(name: str, corpus: Corpus, bench: MetricContext) -> dict[str, str]:
    keys = row_keys(make_metric(name, bench), corpus, range(len(corpus.items)))
    return {item.id: key for item, key in zip(corpus.items, keys, strict=True)}


@pytest.mark.parametrize("place", [0, 9])
def test_a_changed_prediction_redoes_only_what_depends_on_it(
    name: str, place: int, make_bench: MakeBench
) -> None:
    corpus = mixed()
    changed_corpus = changed(
        corpus, place, prediction="A man leaves the room.", description="2. Actions: A man leaves the room."
    )
    bench = make_bench()
    keys = [keys_of(name, each, bench) for each in (corpus, changed_corpus)]
    new = {item for item, key in keys[0].items() if key != keys[1][item]}
    itself = corpus.items[place].id
    film = {item.id for item in corpus.items if item.film == corpus.items[place].film}
    if name in ("critic", "story-recall", *ALONG):
        assert new <= film
        assert itself in new or name == "names-kept"
    else:
        assert new == {itself}
    scored(name, corpus, bench)
    assert scored(name, changed_corpus, bench).fresh <= len(film)


# --- what is kept
def test_a_second_run_gives_equal_bytes_uncounted(name: str, make_bench: MakeBench, tmp_path: Path) -> None:
    file = tmp_path / "kept.sqlite"
    with Store(file) as store:
        first = scored(name, mixed(), make_bench(store))
    with Store(file) as store:
        second = scored(name, mixed(), make_bench(store))
    assert (first.fresh, second.fresh) == (len(MIXED), 0)
    assert bytes_of(second) == bytes_of(first)
    assert (second.value, second.remarks, second.identity) == (first.value, first.remarks, first.identity)
    assert bytes_of(scored(name, mixed(), make_bench())) == bytes_of(first)


class Breaking:
    """A metric whose rows break off behind ``after`` of them."""

    def __init__(self, metric: Metric, after: int) -> None:
        self._metric, self._after = metric, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._metric, name)

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        for number, row in enumerate(self._metric.rows(corpus, places)):
            if number == self._after:
                raise RuntimeError("broken")
            yield row


DONE = 2


def test_what_is_done_before_a_run_breaks_is_kept(name: str, make_bench: MakeBench) -> None:
    bench = make_bench()
    with pytest.raises(RuntimeError, match="broken"):
        score(Breaking(make_metric(name, bench), DONE), human(), bench)
    result = scored(name, human(), make_bench(bench.store))
    keys = row_keys(make_metric(name, bench), human(), range(len(MIXED)))
    done = list(dict.fromkeys(keys))[:DONE]
    assert result.fresh == sum(key not in done for key in keys)
    assert bytes_of(result) == bytes_of(scored(name, human(), make_bench()))


def test_rows_are_json_and_finite(name: str, make_bench: MakeBench) -> None:
    result = scored(name, mixed(), make_bench())
    metric = make_metric(name, make_bench())
    assert json.loads(json.dumps(result.identity)) == result.identity
    for row in result.rows:
        assert len(row.sums) == len(metric.columns)
        record: Json = json.loads(json.dumps(asdict(row), allow_nan=False))
        assert record["notes"] == row.notes
        alone = float(result.figure.of(replace(result, rows=(row,)).sums))
        assert (row.value is None) == math.isnan(alone)
        assert row.value is None or row.value == pytest.approx(alone, abs=1e-9)


ACTION = ("action", "action-description")
PARSED = (*ACTION, "events", "event-verbs", "event-participants")
VECTORS = (*PARSED, "repetition-meaning")
UNTOLD = ("cider", "cider-plain", "bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "meteor", "spice")
"""They are made without the settings, and cannot use one."""
HERE = "tests.evaluation.test_every_metric"


class Nobody:
    """A resolver that finds nobody."""

    title = "nobody"
    remarks = ()
    comparable = False
    uses_time = False
    identity: Json = {"resolver": "nobody"}  # noqa: RUF012

    def __init__(self, bench: MetricContext) -> None:
        del bench

    def resolve(self, documents: Sequence[Any]) -> list[tuple[tuple[str, ...], ...]]:
        return [((),) * len(document.sentences) for document in documents]


class OtherJudge(WordJudge):
    """The same judge by another name."""

    identity = Identity("other", "script", "1")


SETTINGS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "rules": ("code", (*ACTION, "recall", "llm-ad-eval")), "missing": ("skip", ()),
    "embedding.model": (None, VECTORS), "embedding.instruction": ("code", ACTION),
    "parser.model": (None, PARSED), "critic.resolver": (f"{HERE}:Nobody", ("critic",)),
    "critic.model": ("other", ()), "critic.rules": ("all", ("critic",)), "recall.k": (2, ("recall",)),
    "recall.neighbours": (3, ("recall",)), "recall.model": (None, ("recall",)),
    "judge.engines": ([f"{HERE}:OtherJudge"], ENGINE_METRICS), "report.unit": ("ad", ()),
}  # fmt: skip
"""Each setting with another value (None: another tiny model), and the metrics whose rows are others then.
``critic.model`` belongs to coreference libraries."""


def leaves(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel) and name != "sampling":
            yield from leaves(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_every_setting_is_here() -> None:
    assert set(SETTINGS) == set(leaves(MeasureSettings))


Outcome = tuple[Json, list[str], tuple[Row, ...]]
"""Of one metric: identity, keys and rows."""


def outcomes(context: MetricContext) -> dict[str, Outcome]:
    """What each metric gives for the same corpus; by name."""
    corpus = mixed()
    by_name: dict[str, Outcome] = {}
    for name in NAMES:
        metric = make_metric(name, context)
        if name in UNTOLD:
            by_name[name] = metric.identity, [], ()
        else:
            keys = row_keys(metric, corpus, range(len(corpus.items)))
            by_name[name] = metric.identity, keys, score(metric, corpus, context).rows
    return by_name


@pytest.fixture(scope="module")
def outcomes_before() -> dict[str, Outcome]:
    """What each metric gives with the usual settings; filled by the first test."""
    return {}


@pytest.mark.parametrize("setting", SETTINGS)
def test_who_uses_a_setting_has_it_in_the_identity(
    setting: str, make_bench: MakeBench, tiny_models: TinyModels, outcomes_before: dict[str, Outcome]
) -> None:
    if not outcomes_before:
        outcomes_before.update(outcomes(make_bench(stubs=False, **tiny_models.settings)))
    value, users = SETTINGS[setting]
    group, _, field = setting.partition(".")
    if value is None:
        value = str(tiny_models.others[group])
    settings: dict[str, Any] = dict(tiny_models.settings)
    settings[group] = {**settings.get(group, {}), field: value} if field else value
    changed = set()
    for name, (identity, keys, rows) in outcomes(make_bench(stubs=False, **settings)).items():
        if identity != outcomes_before[name][0]:
            changed.add(name)
        elif keys == outcomes_before[name][1]:
            # Models' numbers differ in the last digits by which texts they are given together.
            for row, row_before in zip(rows, outcomes_before[name][2], strict=True):
                assert (row.id, row.failure) == (row_before.id, row_before.failure)
                assert row.sums == pytest.approx(row_before.sums, abs=1e-4), name
    assert changed == set(users)


@pytest.mark.parametrize(
    ("settings", "users"),
    [({"seed": 5}, ENGINE_METRICS), ({"compute": {"precision": "bfloat16"}}, (*VECTORS, "recall"))],
)
def test_what_else_changes_rows(
    settings: dict[str, Any], users: Sequence[str], make_bench: MakeBench, tiny_models: TinyModels
) -> None:
    context = make_bench(stubs=False, **tiny_models.settings)
    tree = {**settings, "measures": context.settings.model_dump()}
    changed_context = MetricContext(Config.model_validate(tree), Store())
    changed_context.once("verbs", NoVerbs)
    for name in NAMES:
        identities = [make_metric(name, each).identity for each in (context, changed_context)]
        assert (identities[0] != identities[1]) == (name in users), name


# --- odd texts
ODD = {
    "empty": "", "blank": " \t ", "signs": "?! … — “”", "a thousand words": "He walks and " * 334,
    "a sentence without end": "who sees the man " * 250, "one long word": "a" * 5000,
    "one word again and again": "runs " * 1050, "emoji": "👩‍👩‍👧 😀 Ann smiles 🏃🏽‍♀️.",
    "lines": "Ann opens\nthe door.\r\n\r\nShe\u2028smiles.\x85", "nul": "Ann\0 opens \x00\x07the door.",
    "bars": "Ann ||| opens ||| the door.", "right to left": "\u202eהיא פותחת את הדלת\u202c",
    "combining": "Z\u0351\u036ba\u0300l\u0336\u0321go", "zero width": "\u200b\ufeff\u200d",
    "markup": "<b>Ann</b> &amp; {{name}} $name %s {0} \\n [1] 1. Main characters:",
    "json": '{"summarized_AD": "Ann opens the door."}', "numbers": "3.14 1/2 1,000 -5 ½",
    "steps": "1. 2. 3. 4. Actions:",
}  # fmt: skip


def test_no_text_is_too_odd(name: str, make_bench: MakeBench) -> None:
    """As a prediction, a human AD, an action, in films of their own: rows are there, within the bounds, and kept."""
    items = []
    for kind, text in ODD.items():
        first, second, third = (
            replace(item, id=f"{kind} {item.id}", film=kind) for item in mixed().items[:3]
        )
        items += [
            replace(first, prediction=text, description=f"2. Actions: {text}"),
            replace(second, references=(text,), actions=(text,)),
            replace(third, references=(text,), prediction=text, actions=(text, text)),
        ]
    corpus = Corpus(tuple(items), dict.fromkeys(ODD, ("Ann Miller", "Bob Hart")))
    bench = make_bench()
    result = scored(name, corpus, bench)
    assert [row.id for row in result.rows] == [item.id for item in items]
    assert result.value is not None
    assert [row.id for row in result.rows if row.value and row.value > BOUNDS[name] + 1e-6] == []
    assert bytes_of(scored(name, corpus, make_bench(bench.store))) == bytes_of(result)


# --- better texts
RIGHT = (
    "A giant fat rabbit climbs out of a hole in the ground.",
    "He stretches, yawns and starts walking over the grass.", "Tony Wendice stops to scratch his ear.",
    "Margot Smith waves to Tony Wendice from the gate.", "Margot Smith throws him a red ball.",
)  # fmt: skip

WRONG = (
    "A giant fat dog sleeps in a basket in the kitchen.",
    "He stretches, yawns and starts singing in the bath.", "Margot Smith stops to read the newspaper.",
    "Margot Smith stops to read the newspaper.", "Smith throws him the newspaper.",
)  # fmt: skip


def test_a_better_text_scores_better(name: str, make_bench: MakeBench) -> None:
    # A film whose human AD is the right text, with both as predictions; and another, for frequencies
    cast = ("Tony Wendice", "Margot Smith")
    rest = human()
    items = tuple(
        Item(f"r{k}", "rabbit", Interval(5.0 * k, 5.0 * k + 5), (text,), actions=(text,))
        for k, text in enumerate(RIGHT)
    )
    corpus = replace(rest, items=(*items, *rest.items), casts={**rest.casts, "rabbit": cast})
    others = [item.prediction for item in rest.items]
    corpora = (predicted([*texts, *others], corpus) for texts in (RIGHT, WRONG))
    good, bad = (scored(name, each, make_bench(), range(len(RIGHT))) for each in corpora)
    assert good.value is not None
    assert bad.value is not None
    assert (good.value > bad.value) if good.higher_is_better else (good.value < bad.value)


# --- twins
def test_equal_ids_are_refused() -> None:
    items = human().items
    with pytest.raises(ValueError, match="2 items of the corpus have the id 'alpha-0'"):
        Corpus((*items, items[0]))
