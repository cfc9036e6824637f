"""The action score: what a line tells, how it is held against human actions, and which numbers it gives."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Config
from shotad.evaluation import MetricContext, Store, make_metric
from shotad.evaluation.metrics.action import (
    CodeRules,
    PaperRules,
    Phrase,
    PredictionTexts,
    VectorTable,
    base_of,
    first_lemma,
    lemma_at,
    matches,
    phrases_of,
    told_of,
)
from shotad.evaluation.metrics.by_rule import actions_by_rule, without_characters
from shotad.evaluation.store import ParseService, parser_of
from shotad.script import Parse, Token
from tests.evaluation.action.parsed import SPACY_MODEL, RecordedParser, parse_of
from tests.evaluation.allmetrics import MakeBench, changed, human, predicted, scored

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


def test_lemmas_of_phrases() -> None:
    assert [lemma_at(RUNS, place) for place in (1, 4, 6)] == ["run", "jump", "pick up"]
    being = parse_of("He|/PRON/nsubj/1", "is/VERB/ROOT/1/be", "seen/VERB/acl/1/see")
    assert lemma_at(being, 1) is None
    assert first_lemma(being) == "see"
    assert first_lemma(parse_of("Night|/NOUN/ROOT/0")) is None
    # A human action's lemma is its main verb's in paper and its first in code.
    words = "The|/DET/det/2", "smiling/VERB/amod/2/smile", "man/NOUN/nsubj/3", "walks/VERB/ROOT/3/walk"
    action = parse_of(*words)
    assert PaperRules().lemma(action) == "walk"
    assert CodeRules().lemma(action) == "smile"
    passive = parse_of("He|/PRON/nsubj/1", "is/AUX/ROOT/1/be", "held/VERB/acl/1/hold")
    assert PaperRules().lemma(passive) == CodeRules().lemma(passive) == "hold"


def test_phrases_of_coordinated_verbs() -> None:
    # In the paper without what is coordinated with their verb.
    found = told_of([RUNS])
    assert found.phrases == (
        Phrase("She runs.", "run"), Phrase("quickly jumps.", "jump"), Phrase("picks up a gun.", "pick up"),
    )  # fmt: skip
    assert found.texts == ("She runs, quickly jumps and picks up a gun.",)
    # In the code they end at the first coordinated verb: what stands before that verb and hangs on it is inside,
    # and one conjunction or sign at the end goes.
    assert list(phrases_of(RUNS)) == ["She runs , quickly", "quickly jumps", "picks up a gun"]


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


DESCRIPTION = (
    "1. Main characters: Ann.\n2. Actions: Ann runs. Bob sits; he waits, alone.\n"
    "3. Character-character interactions: They look.\n4. Key objects: A gun."
)


def test_code_leaves_some_headings_in_descriptions_and_paper_none_nor_who_is_there() -> None:
    found = CodeRules().told([DESCRIPTION], Parses(), paragraphs=True)[DESCRIPTION]
    assert found.texts == (
        "Ann runs.", "Bob sits.", "he waits, alone.", "They look.", "Key objects: A gun.", "he waits.", "alone.",
    )  # fmt: skip
    parses = Parses()
    PaperRules().told([DESCRIPTION, "I'm sorry, I cannot help with that."], parses, paragraphs=True)
    assert parses.asked[0] == "Ann runs. Bob sits; he waits, alone. They look. A gun."
    assert set(parses.asked[1:]) == {""}


TEXTS = ["act", "near", "far", "against", "other"]
VECTORS = np.array([[1, 0], [0.8, 0.6], [0.6, 0.8], [-1, 0], [0, 1]], np.float32)
TABLE = VectorTable(TEXTS, VECTORS)
ACT = Phrase("act", "run")
REAL = MetricContext(Config.model_validate({"measures": {"parser": {"model": SPACY_MODEL}}}), Store())


class Recorded(Parses):
    def of(self, texts: Iterable[str]) -> dict[str, Parse]:
        wanted = list(texts)
        return dict(zip(wanted, RecordedParser().of(wanted), strict=True))


RECORDED = MetricContext(Config(), Store())
RECORDED.once("parses", Recorded)
either_parser = pytest.mark.parametrize("context", [RECORDED, pytest.param(REAL, marks=pytest.mark.slow)])


@either_parser
@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("John takes Mary's hand.", "He takes her hand."),
        ("Emmerich's eyebrows twitch as he watches her.", "His eyebrows twitch as he watches her."),
        ("Larry frowns.", "He frowns."),
        ("Molly and John walk along the beach.", "They walk along the beach."),
        ("Mrs. Ganesh disappears below the window.", "She disappears below the window."),
        ("He flashes his badge to an officer.", "He flashes his badge to the person."),
        ("Khadgar looks down on the scene.", "The person looks down on the scene."),
        ("The man walks in London.", "The man walks in London."),
        ("The train leaves the station.", "The train leaves the station."),
        ("Tom, Mary and the dog run.", "He, she and the dog run."),
        ("", ""),
    ],
)
def test_names_and_roles_become_pronouns(context: MetricContext, text: str, plain: str) -> None:
    assert without_characters(parser_of(context).of([text])[text]) == plain


@either_parser
@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("He opens the door and runs away.", ("He opens the door.", "He runs away.")),
        ("Emmerich's eyebrows twitch as he watches her.", ("His eyebrows twitch.", "He watches her.")),
        ("Paul lays his coat around her, but she walks away from him, hurrying over to a taxi rank.",
         ("He lays his coat around her.", "She walks away from him.", "She hurries over to a taxi rank.")),
        ("They stand, holding their guns.", ("They stand.", "They hold their guns.")),
        ("Edward is thrown against a wall.", ("He is thrown against a wall.",)),
        ("She starts to run.", ("She starts to run.",)),
        ("The taxi stops as the bus drives across the bridge.",
         ("The taxi stops.", "The bus drives across the bridge.")),
        ("A train flies past them.", ("A train flies past them.",)),
        ("He is caught and thrown into a cell.", ("He is caught.", "He is thrown into a cell.")),
        ("He is running and thrown out.", ("He is running.", "He is thrown out.")),
        ("Everyone stands, clapping their hands.", ("Everyone stands.", "Everyone claps their hands.")),
        ("The person waits, reading.", ("The person waits.", "The person reads.")),
        ("They watch the driver fixing a car.", ("They watch the person fixing a car.",)),
        ("He sits there, a man holding a gun.", ("He sits there, a man.", "He holds a gun.")),
        ("A man who wears a coat bows.", ("He wears a coat.", "A man bows.")),
        ("And walking away, he smiles.", ("He walks away.", "He smiles.")),
        ("Walking away, and smiling.", ("Walks away.", "Smiles.")),
        ("A dark street", ("A dark street.",)),
        ("", ()),
        ("...", ()),
    ],
)  # fmt: skip
def test_each_verb_gets_a_sentence(context: MetricContext, text: str, actions: tuple[str, ...]) -> None:
    assert actions_by_rule([text], context) == [actions]


@pytest.mark.parametrize(
    ("told", "action", "score"),
    [
        (PredictionTexts(("far", "near")), ACT, 0.8 * 0.8),
        (PredictionTexts(("far",), (Phrase("near", "sit"),)), ACT, 0.8 * 0.8),
        # The verb counts where the lemma is the same, by the likest of its phrases.
        (PredictionTexts(("near",), (Phrase("far", "run"), Phrase("other", "run"))), ACT, 0.64 + 0.2 * 0.6),
        (PredictionTexts((), (Phrase("near", None),)), Phrase("act", None), 0.8 * 0.8),
        # As in the published code: products with other verbs are 0, and the largest is taken.
        (PredictionTexts((), (Phrase("against", "run"),)), ACT, -1),
        (PredictionTexts((), (Phrase("against", "run"), Phrase("against", "sit"))), ACT, -0.8),
        (PredictionTexts((), (Phrase("act", "run"),)), ACT, 1),
        (PredictionTexts(("act",)), ACT, 0.8),
        (PredictionTexts(), ACT, 0),
    ],
)
def test_an_actions_score_by_hand(told: PredictionTexts, action: Phrase, score: float) -> None:
    assert matches([action], told, TABLE)[0][0] == pytest.approx(score)


def test_what_says_nothing_is_0_in_the_paper_and_left_out_in_the_code(make_bench: MakeBench) -> None:
    corpus = predicted(["", None, "nan", *["A dog jumps over the fence."] * 12])
    paper, code = (scored("action", corpus, make_bench(rules=rules)) for rules in ("paper", "code"))
    assert [row.value for row in paper.rows[:2]] == [-50.0] * 2
    assert paper.scored == 15
    assert [row.value for row in code.rows[:3]] == [None] * 3
    assert all(row.sums == (0.0, 0.0) and row.notes["unscored"] for row in code.rows[:3])
    there = [row.value for row in code.rows if row.value is not None]
    assert code.value == pytest.approx(sum(there) / len(there))


def test_an_ad_without_known_actions_is_not_scored(make_bench: MakeBench) -> None:
    corpus = changed(changed(human(), 0, actions=None), 1, actions=())
    found = scored("action", corpus, make_bench(), range(3))
    assert [row.value is None for row in found.rows] == [True, True, False]
    assert found.scored == 1


def test_what_is_not_the_papers_is_said(make_bench: MakeBench, tmp_path: Path) -> None:
    def remarks(**measures: Any) -> str:
        return " ".join(make_metric("action", make_bench(**measures)).remarks)

    folder = tmp_path / "gte-Qwen2-7B-instruct"
    assert "all-MiniLM-L6-v2 instead of gte-Qwen2-7B-instruct" in remarks()
    assert "en_core_web_lg" in remarks()
    assert "left out, as in the published code: that raises the number" in remarks(rules="code")
    assert "without an instruction" in remarks(embedding={"model": str(folder)})
    own = remarks(embedding={"model": str(folder), "instruction": "paper"})
    assert "without an instruction" not in own
    assert "instead of gte" not in own
