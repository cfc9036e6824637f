"""Repetition and names as metrics: rows, sums, what is left out, what a human AD has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from shotad.core import Config
from shotad.evaluation import Corpus, MetricContext, Result, Store
from shotad.evaluation.metric import make_metric, score
from tests.evaluation.measuring import corpus_of

NAMES = ("repetition", "repetition-meaning", "names-kept")
CAST = {"film": ("Tony Wendice", "Margot Smith")}


@dataclass
class Letters:
    """Vectors of letter counts: lines of the same letters are alike."""

    identity: dict[str, Any] = field(default_factory=lambda: {"model": "letters"})
    texts: list[str] = field(default_factory=list)

    def of(self, texts: Sequence[str], *, prompt: str = "") -> npt.NDArray[np.float32]:
        assert not prompt
        self.texts += texts
        rows = np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], np.float32)
        rows = rows.reshape(len(texts), 26)
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)


def bench_of(letters: Letters | None = None) -> MetricContext:
    bench = MetricContext(Config(), Store())
    bench.once("vectors", lambda: letters or Letters())
    return bench


def scored(name: str, corpus: Corpus, bench: MetricContext | None = None) -> Result:
    bench = bench or bench_of()
    return score(make_metric(name, bench), corpus, bench)


def film(*lines: str | None, casts: dict[str, tuple[str, ...]] | None = None) -> Corpus:
    return corpus_of([(f"Reference {i}", line) for i, line in enumerate(lines)], casts=casts or CAST)


def test_repetition_by_hand() -> None:
    result = scored("repetition", film("Tony opens the door.", "Tony opens the window.", "Margot sits."))
    assert [row.sums for row in result.rows] == [(0, 0), (1, 2), (0, 1)]
    assert [row.value for row in result.rows] == [None, 50, 0]
    assert result.value == pytest.approx(100 / 3)
    assert result.rows[1].notes == {"repeated": ["tony opens the"]}


def test_repetition_reaches_back_so_many_lines() -> None:
    between = ["Margot sits.", "Rain falls.", "Snow melts.", "Dogs bark."]
    lines = ["Tony opens the door.", *between, "Tony opens the door."]
    assert scored("repetition", film(*lines)).value == pytest.approx(100 * 2 / 6)
    assert scored("repetition", film(lines[0], *between, "Cats sleep.", lines[0])).value == 0


def test_repetition_of_meaning_by_hand() -> None:
    result = scored("repetition-meaning", film("ab", "cd", "ac", "ba"))
    assert [row.value for row in result.rows] == [None, 0, pytest.approx(50, abs=1e-4), pytest.approx(100)]
    assert result.value == pytest.approx(50, abs=1e-4)
    assert result.rows[3].notes == {"like": "ab"}


def test_names_kept_by_hand() -> None:
    lines = ["Tony waits.", "Tony looks at Margot.", "Wendice nods to Margot.", "Rain falls."]
    result = scored("names-kept", film(*lines))
    assert [row.sums for row in result.rows] == [(0, 0), (1, 1), (1, 2), (0, 0)]
    assert [row.value for row in result.rows] == [None, 100, 50, None]
    assert result.value == pytest.approx(100 * 2 / 3)
    assert result.rows[2].notes == {"changed": ["tony → wendice"]}


def test_without_a_cast_no_names_are_read_and_it_is_said() -> None:
    result = scored("names-kept", film("Tony waits.", "Wendice waits.", casts={"other": ("Tony Wendice",)}))
    assert result.value is None
    assert "1 films have no cast list, and no names are read in them." in result.remarks


@pytest.mark.parametrize("name", NAMES)
def test_silence_is_neither_gain_nor_loss(name: str) -> None:
    lines = ["Tony opens the door.", "Tony opens the door.", "Wendice opens the door."]
    whole = scored(name, film(*lines))
    gaps = scored(name, film(lines[0], None, lines[1], "…", lines[2]))
    assert gaps.value == pytest.approx(whole.value)
    assert [row.value for row in gaps.rows][1::2] == [None, None]
    assert [row.failure for row in gaps.rows] == ["", "no prediction", "", "", ""]
    assert "2 ADs with nothing said are left out; silence repeats and renames nothing." in gaps.remarks
    nothing = scored(name, film(None, None))
    assert nothing.value is None
    assert nothing.failed == 2


@pytest.mark.parametrize("name", NAMES)
def test_the_human_ads_own_is_said_and_theirs_as_prediction_reach_it(name: str) -> None:
    lines = ["Tony opens the door.", "Tony opens a door.", "Wendice looks at the door."]
    result = scored(name, corpus_of([(line, line) for line in lines], casts=CAST))
    assert result.value is not None
    assert f"The human ADs' own: {result.value:.1f}." in result.remarks


@pytest.mark.parametrize("name", NAMES)
def test_better_lines_score_better(name: str) -> None:
    good = film("Tony opens the door.", "Margot sits reading by a fire.", "Tony nods to Margot.")
    bad = film("Tony opens the door.", "Wendice opens the door.", "Tony opens the door to Margot.")
    results = [scored(name, corpus).value for corpus in (good, bad)]
    assert results[0] is not None
    assert results[1] is not None
    sign = 1 if make_metric(name, bench_of()).higher_is_better else -1  # type: ignore[attr-defined]
    assert sign * results[0] > sign * results[1]


LINES = st.lists(
    st.sampled_from(["Tony sits.", "Wendice sits down.", "Margot waits for Tony.", "Rain.", "", None]),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("name", NAMES)
@given(lines=LINES, data=st.data())
def test_order_of_items_and_shards_change_nothing(
    name: str, lines: list[str | None], data: st.DataObject
) -> None:
    corpus, bench = film(*lines), bench_of()
    whole = scored(name, corpus, bench)
    order = data.draw(st.permutations(range(len(lines))))
    mixed = scored(name, replace(corpus, items=tuple(corpus.items[i] for i in order)), bench)
    assert {row.id: row.sums for row in mixed.rows} == {row.id: row.sums for row in whole.rows}
    cut = data.draw(st.integers(0, len(lines)))
    metric = make_metric(name, bench)
    both = score(metric, corpus, bench, range(cut)) + score(metric, corpus, bench, range(cut, len(lines)))
    assert both.rows == whole.rows
    assert both.remarks == whole.remarks


@pytest.mark.parametrize(("name", "fresh"), [("repetition", 5), ("repetition-meaning", 5), ("names-kept", 2)])
def test_a_changed_line_redoes_what_hears_it(name: str, fresh: int) -> None:
    lines = [f"Tony {verb}." for verb in ("sits", "runs", "waits", "reads", "sleeps", "leaves", "falls")]
    bench = bench_of()
    assert scored(name, film(*lines), bench).fresh == 7
    lines[2] = "Wendice waits."
    assert scored(name, film(*lines), bench).fresh == fresh
    assert scored(name, film(*lines), bench).fresh == 0


def test_vectors_are_asked_for_once_a_chunk() -> None:
    letters = Letters()
    scored("repetition-meaning", film("ab", "ab", "cd"), bench_of(letters))
    predictions = [text for text in letters.texts if not text.startswith("Reference")]
    assert sorted(predictions) == ["ab", "cd"]
