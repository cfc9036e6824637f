"""Of every metric: odd texts, better texts, equal texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Interval
from shotad.evaluation import Corpus
from shotad.evaluation.metric import ENGINE_METRICS, Item
from shotad.evaluation.predictions import read_predictions
from tests.evaluation.every.allmetrics import (
    ALONG,
    BOUNDS,
    MIXED,
    MakeBench,
    bytes_of,
    changed,
    human,
    mixed,
    predicted,
    scored,
)

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


# --- odd texts

ODD = {
    "empty": "",
    "blank": " \t ",
    "signs": "?! … — “”",
    "a thousand words": "He walks and " * 334,
    "a sentence without end": "who sees the man " * 250,
    "one long word": "a" * 5000,
    "one word again and again": "runs " * 1050,
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
