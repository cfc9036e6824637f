"""What holds of every metric of the table: bounds, order, shards, what is missing, what is kept, odd texts."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from shotad.config import Config
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.measure.metric import ENGINE_METRICS, METRICS, Metric
from shotad.evaluation.measure.rows import Json, Result, Row
from shotad.evaluation.measure.scoring import row_keys, score
from shotad.evaluation.measure.store import Store
from shotad.evaluation.predictions.reading import read_predictions
from shotad.evaluation.report.inputs import Predictions, ReportInput
from shotad.evaluation.report.merging import merge
from shotad.evaluation.report.reading import read_report
from shotad.evaluation.report.writing import write_report
from shotad.evaluation.running import measure
from shotad.types import Interval
from tests.evaluation.every.allmetrics import (
    ALONG,
    MIXED,
    NAMES,
    MakeBench,
    changed,
    human,
    metric_of,
    mixed,
    predicted,
    scored,
)

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


def by_id(result: Result) -> dict[str, Row]:
    return {row.id: row for row in result.rows}


def rows_of(name: str, corpus: Corpus, bench: Any) -> dict[str, Row]:
    return by_id(scored(name, corpus, bench))


def bytes_of(result: Result) -> str:
    return json.dumps([asdict(row) for row in result.rows], ensure_ascii=False)


# --- the human ADs as predictions

BOUNDS = {
    "cider": 1000.0,
    "cider-plain": 1000.0,
    **{f"bleu-{n}": 100.0 for n in (1, 2, 3, 4)},
    "rouge-l": 100.0,
    "meteor": 100.0,
    "spice": 100.0,
    "action-description": 150.0,
    "critic": 100.0,
    "recall": 100.0,
    "llm-ad-eval": 5.0,
    "llm-action": 3.0,
    "story-recall": 100.0,
}
"""Of every AD (reference-facts 5.4). The action score reaches its bound where the actions are told one by
one; the measures along a film have no bound but the human ADs' own."""


def test_the_human_ads_reach_the_bound(name: str, make_bench: MakeBench) -> None:
    result = scored(name, human(), make_bench())
    assert result.failed == 0
    assert result.value is not None
    if name in ALONG:
        assert f"The human ADs' own: {result.value:.1f}." in result.remarks
        return
    if name == "action":
        assert result.value <= 150
        result = scored(name, joined_actions(), make_bench())
    bound = BOUNDS.get(name, 150.0)
    assert result.value == pytest.approx(bound, abs=1e-6)
    assert {round(row.value, 6) for row in result.rows if row.value is not None} == {bound}


def joined_actions() -> Corpus:
    corpus = human()
    return predicted([" ".join(item.actions or ()) for item in corpus.items], corpus)


def test_nothing_else_scores_higher_than_the_human_ads(name: str, make_bench: MakeBench) -> None:
    best = scored(name, joined_actions() if name == "action" else human(), make_bench())
    worse = scored(name, mixed(), make_bench())
    shuffled = scored(name, in_turn(), make_bench())
    assert best.value is not None
    if best.higher_is_better and name not in ALONG:
        assert worse.value is not None
        assert shuffled.value is not None
        assert best.value > worse.value > shuffled.value


def in_turn() -> Corpus:
    """Each AD has the prediction that is right for another, of another film where it can be."""
    lines = [item.reference for item in human().items]
    return predicted(lines[7:] + lines[:7])


# --- order, shards


@pytest.mark.parametrize("seed", [1, 2])
def test_order_of_items_does_not_matter(name: str, seed: int, make_bench: MakeBench) -> None:
    corpus = with_equal_times(mixed())
    items = list(corpus.items)
    random.Random(seed).shuffle(items)
    one = scored(name, corpus, make_bench())
    other = scored(name, replace(corpus, items=tuple(items)), make_bench())
    assert by_id(other) == by_id(one)
    assert [row.id for row in other.rows] == [item.id for item in items]
    assert other.value == pytest.approx(one.value)
    assert (other.basis, other.identity) == (one.basis, one.identity)
    assert set(other.remarks) == set(one.remarks)


def with_equal_times(corpus: Corpus) -> Corpus:
    """Two ADs of a film at the same time, as CMD-AD has them where two clips of a film overlap."""
    return changed(changed(corpus, 2, interval=Interval(10, 13)), 9, interval=Interval(0, 3))


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


def test_shards_add_up_through_their_reports(make_bench: MakeBench, tmp_path: Path) -> None:
    corpus = mixed()
    whole = tuple(scored(name, corpus, make_bench()) for name in NAMES)
    for one in (True, False):
        places = [i for i, item in enumerate(corpus.items) if (item.film == "alpha") == one]
        part = [scored(name, corpus, make_bench(), places) for name in NAMES]
        write(tmp_path / str(one), corpus, part)
    merged = merge([read_report(tmp_path / "False"), read_report(tmp_path / "True")]).results
    write(tmp_path / "merged", corpus, merged)
    again = read_report(tmp_path / "merged").results
    for wanted, found, read in zip(whole, merged, again, strict=True):
        assert bytes_of(read) == bytes_of(found) == bytes_of(wanted)
        assert read.value == found.value == wanted.value
        assert found.identity == json.loads(json.dumps(wanted.identity))


def write(folder: Path, corpus: Corpus, results: Sequence[Result]) -> None:
    config = Config.model_validate({"measures": {"report": {"draws": 20}}})
    write_report(folder, ReportInput(corpus, tuple(results), config, Predictions("p.jsonl")), plots=False)


def test_metrics_side_by_side_are_as_each_alone(make_bench: MakeBench) -> None:
    bench, corpus = make_bench(), mixed()
    together = measure(corpus, ["all"], bench)
    assert not together.left_out
    assert [result.name.partition("@")[0] for result in together.results] == list(METRICS)
    for result in together.results:
        assert bytes_of(result) == bytes_of(scored(result.name, corpus, make_bench()))


# --- what is missing

SUMMED = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor")
"""Of summed counts: a line worse than the others can weigh more than none, by the tools' own definition."""


@pytest.mark.parametrize("place", [1, 5, 8, 12])
def test_a_missing_prediction_is_told_and_raises_no_figure(
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
    corpus = Corpus(tuple(items), {one.film: ("Tony Wendice",) for one in items})
    nothing = "no description" if name == "action-description" else "no prediction"
    bench = make_bench()
    for order in (range(4), (1, 2, 3, 0), range(4)):
        found = [row.failure for row in scored(name, corpus, bench, order).rows]
        assert found == [reasons[place] or nothing for place in order]


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
    "time": {"interval": Interval(75, 76)},
    "a pause": {"interval": Interval(30, 31)},
    "film": {"film": "beta"},
    "description": {"description": "2. Actions: Bob opens a gun."},
    "no description": {"description": None},
    "candidates": {"candidates": ("Bob opens a gun.",)},
    "actions": {"actions": ("Bob opens a gun.",)},
    "no actions": {"actions": None},
    "clip": {"clip": "2001/x"},
    "scale": {"scale": 2.0},
    "thread": {"threaded": True},
}


@pytest.mark.parametrize("what", [*CHANGES, "cast", "no cast"])
def test_a_key_has_all_that_a_row_depends_on(name: str, what: str, make_bench: MakeBench) -> None:
    """Whatever is changed, rows of equal identity, basis and key are equal, counted from nothing."""
    place, one = 3, changed(mixed(), 3, prediction="Ann runs.", description="2. Actions: Ann runs.")
    other = (
        changed(one, place, **CHANGES[what])
        if what in CHANGES
        else replace(one, casts={"alpha": ("Ann Hart",) if what == "cast" else (), "beta": ("Tony",)})
    )
    same = (
        metric_of(name, make_bench()).basis(one) == metric_of(name, make_bench()).basis(other)
        if name.startswith("cider")
        else True
    )
    if not same:
        return
    if name not in BEFORE:
        BEFORE[name] = keys_of(name, one, make_bench), rows_of(name, one, make_bench())
    keys, rows = keys_of(name, other, make_bench), rows_of(name, other, make_bench())
    for item, key in BEFORE[name][0].items():
        if key == keys[item]:
            assert rows[item] == BEFORE[name][1][item]


BEFORE: dict[str, tuple[dict[str, str], dict[str, Row]]] = {}
"""Keys and rows of each metric before the change."""


def keys_of(name: str, corpus: Corpus, make_bench: MakeBench) -> dict[str, str]:
    keys = row_keys(metric_of(name, make_bench()), corpus, range(len(corpus.items)))
    return {item.id: key for item, key in zip(corpus.items, keys, strict=True)}


@pytest.mark.parametrize("place", [0, 6, 9])
def test_a_changed_prediction_redoes_only_what_hears_it(name: str, place: int, make_bench: MakeBench) -> None:
    one = mixed()
    other = changed(
        one, place, prediction="A man leaves the room.", description="2. Actions: A man leaves the room."
    )
    keys = [keys_of(name, corpus, make_bench) for corpus in (one, other)]
    new = {item for item, key in keys[0].items() if key != keys[1][item]}
    itself = one.items[place].id
    film = {item.id for item in one.items if item.film == one.items[place].film}
    if name in ("critic", "story-recall", *ALONG):
        assert new <= film
        assert itself in new or name == "names-kept"
    else:
        assert new == {itself}
    bench = make_bench()
    scored(name, one, bench)
    assert scored(name, other, bench).fresh <= len(film)


def test_rows_of_equal_keys_are_equal(name: str, make_bench: MakeBench) -> None:
    """Two items that are equal but for their ids, in films that are equal but for their names."""
    corpus = mixed()
    again = [replace(item, id=f"again {item.id}", film=f"again {item.film}") for item in corpus.items]
    casts = {**corpus.casts, **{f"again {film}": cast for film, cast in corpus.casts.items()}}
    both = replace(corpus, items=(*corpus.items, *again), casts=casts)
    metric, n = metric_of(name, make_bench()), len(corpus.items)
    keys = row_keys(metric, both, range(2 * n))
    assert keys[:n] == keys[n:]
    alone = list(metric_of(name, make_bench()).rows(both, range(2 * n)))
    for row, twin in zip(alone[:n], alone[n:], strict=True):
        assert (row.sums, row.value, row.notes) == (twin.sums, twin.value, twin.notes)


def test_the_film_that_a_row_stands_in_alone_gives_the_same_row(name: str, make_bench: MakeBench) -> None:
    """Asked for one at a time, in any order, rows are those of the whole."""
    corpus = mixed()
    whole = scored(name, corpus, make_bench())
    for place in (14, 9, 3, 0):
        assert scored(name, corpus, make_bench(), [place]).rows[0] == whole.rows[place]


# --- what is kept


def test_a_second_run_gives_the_same_bytes_and_counts_nothing(
    name: str, make_bench: MakeBench, tmp_path: Path
) -> None:
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
        score(Breaking(metric_of(name, bench), DONE), human(), bench)
    result = scored(name, human(), make_bench(bench.store))
    keys = row_keys(metric_of(name, bench), human(), range(len(MIXED)))
    done = list(dict.fromkeys(keys))[:DONE]
    assert result.fresh == sum(key not in done for key in keys)
    assert bytes_of(result) == bytes_of(scored(name, human(), make_bench()))


def test_rows_are_json_and_finite(name: str, make_bench: MakeBench) -> None:
    result = scored(name, mixed(), make_bench())
    metric = metric_of(name, make_bench())
    assert json.loads(json.dumps(result.identity)) == result.identity
    for row in result.rows:
        assert len(row.sums) == len(metric.columns)
        record: Json = json.loads(json.dumps(asdict(row), allow_nan=False))
        assert record["notes"] == row.notes
        alone = float(result.figure.of(replace(result, rows=(row,)).sums))
        assert (row.value is None) == math.isnan(alone)
        assert row.value is None or row.value == pytest.approx(alone, abs=1e-9)


# --- odd texts

ODD = {
    "empty": "",
    "blank": " \t ",
    "signs": "?! … — “”",
    "a thousand words": "He walks and " * 334,
    "a sentence without end": "who sees the man " * 250,
    "one long word": "a" * 5000,
    "one word again and again": "runs " * 1200,
    "emoji": "👩‍👩‍👧 😀 Ann smiles 🏃🏽‍♀️.",
    "lines": "Ann opens\nthe door.\r\n\r\nShe\u2028smiles.\x85",
    "nul": "Ann\0 opens \x00\x07the door.",
    "bars": "Ann ||| opens ||| the door.",
    "right to left": "\u202eהיא פותחת את הדלת\u202c",
    "combining": "Z\u0351\u036ba\u0300l\u0336\u0321go",
    "zero width": "\u200b\ufeff\u200d",
    "markup": "<b>Ann</b> &amp; {{name}} $name %s {0} \\n [1] 1. Main characters:",
    "json": '{"summarized_AD": "Ann opens the door."}',
    "numbers": "3.14 1/2 1,000 -5 ½",
    "steps": "1. 2. 3. 4. Actions:",
}


@pytest.mark.parametrize("what", ODD)
def test_no_text_is_too_odd(name: str, what: str, make_bench: MakeBench) -> None:
    """As a prediction, a human AD, an action: rows are there, within the bounds, and kept."""
    text = ODD[what]
    corpus = changed(mixed(), 0, prediction=text, description=f"2. Actions: {text}")
    corpus = changed(corpus, 1, references=(text,), actions=(text,))
    corpus = changed(corpus, 2, references=(text,), prediction=text, actions=(text, text))
    bench = make_bench()
    result = scored(name, corpus, bench)
    assert len(result.rows) == len(MIXED)
    assert result.value is not None
    for row in result.rows[:3]:
        assert row.value is None or row.value <= BOUNDS.get(name, 150.0) + 1e-6
    assert bytes_of(scored(name, corpus, make_bench(bench.store))) == bytes_of(result)


def test_half_a_character_in_a_file_is_none(tmp_path: Path) -> None:
    """Which no tokenizer takes and no file: a program has cut a text in the middle of an emoji."""
    line = '{"id": "1", "text": "Ann \\ud83d opens \\ud83d\\ude00.", "candidates": ["\\ude00 a"]}'
    for name, text in (("a.jsonl", f"{line}\n"), ("a.json", f"[{line}]")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (row,) = read_predictions(tmp_path / name).rows
        assert row.prediction.text == "Ann \ufffd opens 😀."
        assert row.prediction.candidates == ("\ufffd a",)


# --- better texts

RIGHT = (
    "A giant fat rabbit climbs out of a hole in the ground.",
    "He stretches, yawns and starts walking over the grass.",
    "Tony Wendice stops to scratch his ear.",
    "Margot Smith waves to Tony Wendice from the gate.",
    "Margot Smith throws him a red ball.",
)
WRONG = (
    "A giant fat dog sleeps in a basket in the kitchen.",
    "He stretches, yawns and starts singing in the bath.",
    "Margot Smith stops to read the newspaper.",
    "Margot Smith stops to read the newspaper.",
    "Smith throws him the newspaper.",
)


def pair(right: Sequence[str], wrong: Sequence[str], cast: tuple[str, ...]) -> tuple[Corpus, Corpus]:
    """A film whose human AD is the right text, with both as predictions; and another, for frequencies."""
    rest = human()
    items = tuple(
        Item(f"r{k}", "rabbit", Interval(5.0 * k, 5.0 * k + 5), (text,), actions=(text,))
        for k, text in enumerate(right)
    )
    corpus = replace(rest, items=(*items, *rest.items), casts={**rest.casts, "rabbit": cast})
    others = [item.prediction for item in rest.items]
    return predicted([*right, *others], corpus), predicted([*wrong, *others], corpus)


def test_a_better_text_scores_better(name: str, make_bench: MakeBench) -> None:
    good, bad = pair(RIGHT, WRONG, ("Tony Wendice", "Margot Smith"))
    better(name, make_bench, good, bad)


def better(name: str, make_bench: MakeBench, good: Corpus, bad: Corpus) -> None:
    places = [place for place, item in enumerate(good.items) if item.film == "rabbit"]
    results = [scored(name, corpus, make_bench(), places) for corpus in (good, bad)]
    assert results[0].value is not None
    assert results[1].value is not None
    if results[0].higher_is_better:
        assert results[0].value > results[1].value
    else:
        assert results[0].value < results[1].value


def test_on_the_rabbit_the_right_descriptions_score_higher(name: str, make_bench: MakeBench) -> None:
    """Three lines that differ in one word, which is no name, and is not said again."""
    folder = SHARED / "films" / "rabbit"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    right, wrong = (cues(folder / f"{which}descriptions.vtt") for which in ("", "incorrect-"))
    good, bad = pair(right, wrong, ())
    if name in (*ALONG, "recall", "critic", "llm-action"):
        results = [scored(name, corpus, make_bench(), range(3)) for corpus in (good, bad)]
        assert results[0].value == pytest.approx(results[1].value, abs=15)
        return
    better(name, make_bench, good, bad)


def cues(path: Path) -> list[str]:
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")[1:]
    return [" ".join(block.splitlines()[1:]) for block in blocks]


# --- twins


def test_equal_texts_in_a_film(name: str, make_bench: MakeBench) -> None:
    """Of equal human ADs with equal predictions, none is lost and all reach the bound."""
    corpus = human()
    corpus = changed(corpus, 5, references=corpus.items[0].references, prediction=corpus.items[0].prediction)
    corpus = changed(corpus, 5, actions=corpus.items[0].actions, description=corpus.items[0].description)
    result = scored(name, corpus, make_bench())
    if name not in ALONG and name != "action":
        assert {round(row.value, 6) for row in result.rows if row.value is not None} == {BOUNDS[name]}
    assert len(result.rows) == len(corpus.items)


def test_equal_ids_are_refused() -> None:
    items = human().items
    with pytest.raises(ValueError, match="2 items of the corpus have the id 'alpha-0'"):
        Corpus((*items, items[0]))


def test_judges_are_those_that_are_named(name: str, make_bench: MakeBench) -> None:
    result = scored(name, mixed(), make_bench())
    assert ("judge" in result.identity) == (name in ENGINE_METRICS)
