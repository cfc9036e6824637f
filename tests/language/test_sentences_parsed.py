"""Sentences taken apart: what a parse says, which model a name means, and what the real one finds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from shotad.core import ShotadError
from shotad.core.errors import WeightsError
from shotad.script.parser import (
    Parse,
    Parser,
    find_parser,
)
from tests.evaluation.action.parsed import SPACY_MODEL, parse_of

PICKS = parse_of(
    "She|/PRON/nsubj/1", "picks/VERB/ROOT/1/pick", "it/PRON/dobj/1", "up/ADP/prt/1", "./PUNCT/punct/1",
    "He|/PRON/nsubj/6", "runs/VERB/ROOT/6/run", "!/PUNCT/punct/6",
)  # fmt: skip


def test_a_parse_says_what_hangs_on_what_and_gives_its_text_back() -> None:
    assert PICKS.children[1] == (0, 2, 3, 4)
    assert tuple(PICKS.subtree(1)) == (0, 1, 2, 3, 4)
    assert [list(sentence) for sentence in PICKS.sentences()] == [[0, 1, 2, 3, 4], [5, 6, 7]]
    # Where branches cross, what hangs on the left comes first.
    crossed = parse_of("a/X/dep/2", "b/X/ROOT/1", "c/X/dep/3", "d/X/dep/1")
    assert tuple(crossed.subtree(1)) == (1, 0, 2, 3)
    # A blank wherever words are left out.
    assert [PICKS.text(places) for places in (range(5), [0, 1, 3, 4], [1, 4], [])] == [
        "She picks it up.", "She picks up.", "picks .", ""
    ]  # fmt: skip
    assert Parse.from_bytes(PICKS.to_bytes()) == PICKS
    assert Parse.from_bytes(Parse().to_bytes()) == Parse()


def test_an_unknown_model_says_how_to_get_one_and_without_spacy_the_extra_is_named(monkeypatch):
    pytest.importorskip("spacy")
    with pytest.raises(WeightsError, match=r"no spaCy model 'en_core_web_lgg'.*download en_core_web_lgg"):
        find_parser("en_core_web_lgg")
    with pytest.raises(WeightsError, match="no spaCy model 'a/b'"):
        find_parser("a/b")
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ShotadError, match=r"shotad\[evaluate\]"):
        find_parser("en_core_web_sm")


@pytest.mark.slow
def test_what_is_no_model_and_a_pipeline_without_a_parser_are_refused(tmp_path: Path) -> None:
    import spacy

    with pytest.raises(WeightsError, match=r"meta\.json cannot be read"):
        find_parser("json")
    (tmp_path / "meta.json").write_text("{}", encoding="utf-8")
    with pytest.raises(WeightsError, match=r"meta\.json cannot be read"):
        find_parser(str(tmp_path))
    (tmp_path / "meta.json").write_text('{"lang": "en", "name": "none", "version": "1.0"}', encoding="utf-8")
    model = find_parser(str(tmp_path))
    assert (model.name, model.version) == ("en_none", "1.0")
    with pytest.raises(WeightsError, match="en_none cannot be loaded"):
        Parser(model)
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(WeightsError, match="has no lemmatizer and no parser and no tagger"):
        Parser(find_parser(str(tmp_path / "blank")))


@pytest.mark.slow
def test_the_real_parser_finds_verbs_and_particles() -> None:
    parser = Parser(find_parser(SPACY_MODEL), batch=2)
    one, two, empty = parser.of(["She picks up the gun.", "Mr. Smith runs, and falls.", ""])
    verb = next(place for place, token in enumerate(one.tokens) if token.pos == "VERB")
    assert one.tokens[verb].lemma == "pick"
    assert "prt" in {one.tokens[c].dep for c in one.children[verb]}
    assert len(list(two.sentences())) == 1
    assert [token.lemma for token in two.tokens if token.pos == "VERB"] == ["run", "fall"]
    assert two.text(range(len(two.tokens))) == "Mr. Smith runs, and falls."
    assert empty == Parse()
