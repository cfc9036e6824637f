"""The event score: what is done and with what, apart and together, whoever does it; order and denial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, Item, MetricContext, Row, Store, make_metric, score, store as room
from shotad.evaluation.metrics import events
from shotad.script import Parse
from tests.evaluation.action.parsed import SPACY_MODEL, WordVectors, parse_of

VERBS = """  1 A licence stands before the meanings
01000000 35 v 02 close 0 shut 0 001 @ 01000001 v 0000 01 + 08 00 | move so that an opening is obstructed
01000001 38 v 01 move 0 000 01 + 02 00 | change place
01000002 38 v 01 slam 0 001 @ 01000000 v 0000 01 + 08 00 | close with a bang
01000003 38 v 02 sit_down 0 seat 0 000 01 + 02 00 | be seated
"""
"""A file of WordNet with four meanings."""


def line(who: str, verb: str, lemma: str, noun: str, *, denied: bool = False, pos: str = "PRON") -> Parse:
    """``She opens the door``."""
    middle = ["does/AUX/aux/3/do", "not/PART/neg/3"] if denied else []
    at = 1 + len(middle)
    return parse_of(
        f"{who}|/{pos}/nsubj/{at}", *middle, f"{verb}/VERB/ROOT/{at}/{lemma}", f"the/DET/det/{at + 2}",
        f"{noun}/NOUN/dobj/{at}", f"./PUNCT/punct/{at}",
    )  # fmt: skip


def two(first: str, last: str) -> Parse:
    """``She opens and drops``, with nothing that takes part."""
    return parse_of(
        "She|/PRON/nsubj/1", f"{first}s/VERB/ROOT/1/{first}", "and/CCONJ/cc/1", f"{last}s/VERB/conj/1/{last}"
    )


PARSES = {
    "She opens the door.": line("She", "opens", "open", "door"),
    "Ann opens the door.": line("Ann", "opens", "open", "door", pos="PROPN"),
    "The door is opened.": parse_of(
        "The|/DET/det/1", "door/NOUN/nsubjpass/3", "is/AUX/auxpass/3/be", "opened/VERB/ROOT/3/open"
    ),
    "The door opens.": parse_of("The|/DET/det/1", "door/NOUN/nsubj/2", "opens/VERB/ROOT/2/open"),
    "She opens the window.": line("She", "opens", "open", "window"),
    "She does not open the door.": line("She", "open", "open", "door", denied=True),
    "She closes the door.": line("She", "closes", "close", "door"),
    "She shuts the door.": line("She", "shuts", "shut", "door"),
    "She slams the door.": line("She", "slams", "slam", "door"),
    "She sits down.": parse_of("She|/PRON/nsubj/1", "sits/VERB/ROOT/1/sit", "down/ADP/prt/1"),
    "She seats herself.": parse_of("She|/PRON/nsubj/1", "seats/VERB/ROOT/1/seat", "herself/PRON/dobj/1"),
    "She opens and drops": two("open", "drop"),
    "She drops and opens": two("drop", "open"),
    "She waves and drops": two("wave", "drop"),
    "A dark night.": parse_of("A|/DET/det/2", "dark/ADJ/amod/2", "night/NOUN/ROOT/2"),
}


class Apart(WordVectors):
    """Each text in a direction of its own."""

    def _vector(self, text: str) -> np.ndarray:
        return super()._vector(text.replace(" ", "_"))


class Parser:
    def __init__(self, *_: Any) -> None:
        pass

    def of(self, texts: Iterable[str]) -> Iterator[Parse]:
        return (PARSES.get(text, Parse()) for text in texts)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MetricContext:
    (tmp_path / "data.verb").write_text(VERBS)
    monkeypatch.setattr(events, "weights_file", lambda *_: tmp_path / "data.verb")
    monkeypatch.setattr(room, "check_installed", lambda: None)
    monkeypatch.setattr(room, "make_embedder", lambda *_, **__: Apart())
    monkeypatch.setattr(room, "Parser", Parser)
    config = Config.model_validate({"measures": {"parser": {"model": SPACY_MODEL}}})
    return MetricContext(config, Store())


def rows(name: str, human: str, told: Sequence[str | None], bench: MetricContext, **more: Any) -> list[Row]:
    items = [Item(str(k), "film", Interval(k, k + 1), (human,), text) for k, text in enumerate(told)]
    corpus = Corpus(tuple(replace(item, **more) for item in items), {}, "made")
    return list(score(make_metric(name, bench), corpus, bench).rows)


def test_the_human_ads_actions_go_before_its_text(bench: MetricContext) -> None:
    actions = ("She closes the door.", "She sits down.")
    found = rows("events", "She opens the door.", ["She shuts the door."], bench, actions=actions)[0]
    assert found.value == pytest.approx(48.5)
    closing, sitting = found.notes["events"]
    assert closing == {"event": "close [door]", "nearest": "shut [door]", "verb": 0.95, "participants": 1.0}
    assert (sitting["event"], sitting["nearest"]) == ("sit down", "shut [door]")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Tom hands Ann a coffee cup.", "hand [coffee cup]"),
        ("He walks slowly into the kitchen.", "walk [kitchen]"),
        ("She never looks back at the house.", "not look back [house]"),
        ("The vase falls off the shelf.", "fall [shelf]"),
        ("The light goes out.", "go out [light]"),
        ("She is a teacher.", None),
    ],
)
def test_events_of_real_sentences(
    text: str, found: str | None, bench: MetricContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    own = MetricContext(bench.config, Store())
    monkeypatch.setattr(room, "make_embedder", lambda *_, **__: Apart())
    row = rows("events", text, [text], own)[0]
    assert [one["event"] for one in row.notes.get("events", ())] == ([found] if found else [])
    assert row.value == (pytest.approx(100) if found else None)
