"""What predictions say, by the paper's words and as the published code reads them, on parses by hand."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from shotad.core import Config
from shotad.evaluation import MetricContext, Store
from shotad.evaluation.metrics.action import (
    PIECE_ENDS,
    CodeRules,
    PaperRules,
    Phrase,
    PredictionTexts,
    base_of,
    first_lemma,
    lemma_at,
    phrases_of,
    split,
    told_of,
)
from shotad.evaluation.store import ParseService, parser_of
from shotad.script import Parse, Token
from tests.evaluation.action.parsed import SPACY_MODEL, parse_of

RUNS = parse_of(
    "She|/PRON/nsubj/1", "runs/VERB/ROOT/1/run", ",/PUNCT/punct/1", "quickly/ADV/advmod/4",
    "jumps/VERB/conj/1/jump", "and/CCONJ/cc/4", "picks/VERB/conj/4/pick", "up/ADP/prt/6",
    "a/DET/det/9", "gun/NOUN/dobj/6", "./PUNCT/punct/1",
)  # fmt: skip
"""She runs, quickly jumps and picks up a gun."""


class Parses(ParseService):
    """Only what is given, or nothing where a text is unknown."""

    def __init__(self, known: dict[str, Parse] | None = None) -> None:
        self._known = known or {}
        self.asked: list[str] = []

    def of(self, texts: Iterable[str]) -> dict[str, Parse]:
        wanted = list(texts)
        self.asked += wanted
        return {text: self._known.get(text, Parse()) for text in wanted}


def test_a_lemma_has_its_particles_and_be_is_none() -> None:
    assert [lemma_at(RUNS, place) for place in (1, 4, 6)] == ["run", "jump", "pick up"]
    being = parse_of("He|/PRON/nsubj/1", "is/VERB/ROOT/1/be", "seen/VERB/acl/1/see")
    assert lemma_at(being, 1) is None
    assert first_lemma(being) == "see"
    assert first_lemma(parse_of("Night|/NOUN/ROOT/0")) is None


def test_paper_phrases_are_without_what_is_coordinated_with_their_verb() -> None:
    found = told_of([RUNS])
    assert found.phrases == (
        Phrase("She runs.", "run"), Phrase("quickly jumps.", "jump"), Phrase("picks up a gun.", "pick up"),
    )  # fmt: skip
    assert found.texts == ("She runs, quickly jumps and picks up a gun.",)


def test_code_phrases_end_at_the_first_coordinated_verb() -> None:
    # What stands before that verb and hangs on it is inside, and one conjunction or sign at the end goes.
    assert list(phrases_of(RUNS)) == ["She runs , quickly", "quickly jumps", "picks up a gun"]


def test_a_sentence_that_is_a_phrase_is_told_once() -> None:
    smiles = parse_of("He|/PRON/nsubj/1", "smiles/VERB/ROOT/1/smile", "!/PUNCT/punct/1")
    assert told_of([smiles, smiles]) == PredictionTexts((), (Phrase("He smiles.", "smile"),))


def test_signs_alone_say_nothing() -> None:
    dots = parse_of("..|/PUNCT/ROOT/0", "./PUNCT/punct/0")
    assert not told_of([dots])
    assert not told_of([])


def test_a_human_actions_lemma_is_its_main_verbs_in_paper_and_its_first_in_code() -> None:
    action = parse_of(
        "The|/DET/det/2", "smiling/VERB/amod/2/smile", "man/NOUN/nsubj/3", "walks/VERB/ROOT/3/walk"
    )
    assert PaperRules().lemma(action) == "walk"
    assert CodeRules().lemma(action) == "smile"
    passive = parse_of("He|/PRON/nsubj/1", "is/AUX/ROOT/1/be", "held/VERB/acl/1/hold")
    assert PaperRules().lemma(passive) == CodeRules().lemma(passive) == "hold"


@pytest.mark.parametrize(
    ("word", "tag", "lemma", "base"),
    [
        ("stares", "VBZ", "star", "stare"),
        ("Staring", "VBG", "star", "stare"),
        ("taped", "VBN", "tap", "tape"),
        ("stars", "VBZ", "star", "star"),
        ("starring", "VBG", "star", "star"),
        ("runs", "VBZ", "run", "run"),
        ("stare", "VBP", "stare", "stare"),
        ("took", "VBD", "take", "take"),
    ],
)
def test_a_dropped_e_is_mended(word: str, tag: str, lemma: str, base: str) -> None:
    assert base_of(Token(word, lemma, "VERB", tag, "ROOT", 0, True, False)) == base


def test_code_pieces_end_at_every_stop() -> None:
    assert split("Mr. X nods; he waits, 1.5 m off. ", PIECE_ENDS) == [
        "Mr.",
        "X nods.",
        "he waits.",
        "1.",
        "5 m off.",
    ]
    assert split(" . ,", PIECE_ENDS) == []


def test_code_reads_the_whole_ad_and_its_pieces() -> None:
    known = {"She runs.": parse_of("She|/PRON/nsubj/1", "runs/VERB/ROOT/1/run", "./PUNCT/punct/1")}
    parses = Parses(known)
    found = CodeRules().told(["Mr. X, She runs", "", "None"], parses, paragraphs=False)
    assert found["Mr. X, She runs"] == PredictionTexts(
        ("Mr. X, She runs", "Mr.", "X."), (Phrase("She runs.", "run"),)
    )
    assert not found[""]
    assert not found["None"]
    assert parses.asked == ["Mr.", "X.", "She runs.", "She runs."]


DESCRIPTION = (
    "1. Main characters: Ann.\n2. Actions: Ann runs. Bob sits; he waits, alone.\n"
    "3. Character-character interactions: They look.\n4. Key objects: A gun."
)


def test_code_leaves_some_headings_in_descriptions() -> None:
    found = CodeRules().told([DESCRIPTION], Parses(), paragraphs=True)[DESCRIPTION]
    assert found.texts == (
        "Ann runs.", "Bob sits.", "he waits, alone.", "They look.", "Key objects: A gun.", "he waits.", "alone.",
    )  # fmt: skip


def test_paper_leaves_out_all_headings_and_who_is_there() -> None:
    parses = Parses()
    PaperRules().told([DESCRIPTION, "I'm sorry, I cannot help with that."], parses, paragraphs=True)
    assert parses.asked[0] == "Ann runs. Bob sits; he waits, alone. They look. A gun."
    assert set(parses.asked[1:]) == {""}


@pytest.mark.slow
def test_with_the_real_parser_neighbours_change_nothing() -> None:
    config = Config.model_validate({"measures": {"parser": {"model": SPACY_MODEL}}})
    parses = parser_of(MetricContext(config, Store()))
    one, two = "Mr. Smith picks up the gun.", "She stares at him and opens the door."
    both = f"{one} {two}"
    found = PaperRules().told([one, two, both], parses, paragraphs=False)
    assert found[both].texts == found[one].texts + found[two].texts
    assert found[both].phrases == found[one].phrases + found[two].phrases
    assert [phrase.lemma for phrase in found[both].phrases] == ["pick up", "stare", "open"]
