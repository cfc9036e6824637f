"""The action and event scores: what a line tells, how it is held against human actions, and which numbers come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, Item, MetricContext, Row, Store, make_metric, score, store as room
from shotad.evaluation.metrics import events
from shotad.evaluation.metrics.action import (
    CodeRules,
    PaperRules,
    Phrase,
    PredictionTexts,
    VectorTable,
    base_of,
    matches,
    phrases_of,
    texts_of,
)
from shotad.evaluation.metrics.by_rule import actions_by_rule, without_characters
from shotad.evaluation.store import ParseService, parser_of
from shotad.script.parsing import Parse, Token
from tests.evaluation.action.parsed import SPACY_MODEL, RecordedParser, parse_of
from tests.evaluation.allmetrics import MakeBench, changed, human, predicted, scored
from tests.evaluation.standins import Words

RUNS = parse_of(
    "She|/PRON/nsubj/1", "runs/VERB/ROOT/1/run", ",/PUNCT/punct/1", "quickly/ADV/advmod/4",
    "jumps/VERB/conj/1/jump", "and/CCONJ/cc/4", "picks/VERB/conj/4/pick", "up/ADP/prt/6",
    "a/DET/det/9", "gun/NOUN/dobj/6", "./PUNCT/punct/1",
)  # fmt: skip
"""She runs, quickly jumps and picks up a gun."""


class Parses(ParseService):
    """Nothing of any text."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def of(self, texts: Iterable[str]) -> dict[str, Parse]:
        self.asked += list(texts)
        return dict.fromkeys(self.asked, Parse())


def test_an_actions_lemma_is_its_main_verbs_in_the_paper_and_its_first_in_the_code() -> None:
    words = "The|/DET/det/2", "smiling/VERB/amod/2/smile", "man/NOUN/nsubj/3", "walks/VERB/ROOT/3/walk"
    passive = parse_of("He|/PRON/nsubj/1", "is/AUX/ROOT/1/be", "held/VERB/acl/1/hold")
    being = parse_of("He|/PRON/nsubj/1", "is/VERB/ROOT/1/be", "seen/VERB/acl/1/see")
    actions = (parse_of(*words), passive, being, parse_of("Night|/NOUN/ROOT/0"))
    assert [PaperRules().lemma(one) for one in actions] == ["walk", "hold", "see", None]
    assert [CodeRules().lemma(one) for one in actions] == ["smile", "hold", "see", None]


def test_phrases_of_coordinated_verbs() -> None:
    # In the paper without what is coordinated with their verb.
    found = texts_of([RUNS])
    assert found.phrases == (
        ("She runs.", "run"), ("quickly jumps.", "jump"), ("picks up a gun.", "pick up"),
    )  # fmt: skip
    assert found.texts == ("She runs, quickly jumps and picks up a gun.",)
    # In the code they end at the first coordinated verb: what stands before that verb and hangs on it is inside,
    # and one conjunction or sign at the end goes.
    assert list(phrases_of(RUNS)) == ["She runs , quickly", "quickly jumps", "picks up a gun"]
    # What is done next is another action, which spaCy's models call a conjunction only as often as anything else.
    words = "He/PRON/nsubj/1 hesitates/VERB/ROOT/1/hesitate ,/PUNCT/punct/1 then/ADV/advmod/4 turns/VERB/dep/1/turn"
    found = texts_of([parse_of(*words.split(), "./PUNCT/punct/1")])
    assert found.phrases == (("He hesitates.", "hesitate"), ("then turns.", "turn"))
    assert found.texts == ("He hesitates, then turns.",)


def test_a_dropped_e_is_mended() -> None:
    for word, tag, lemma, base in (
        ("Staring", "VBG", "star", "stare"), ("taped", "VBN", "tap", "tape"), ("stars", "VBZ", "star", "star"),
        ("starring", "VBG", "star", "star"), ("stare", "VBP", "stare", "stare"), ("took", "VBD", "take", "take"),
    ):  # fmt: skip
        assert base_of(Token(word, lemma, "VERB", tag, "ROOT", 0, True, False)) == base


DESCRIPTION = (
    "1. Main characters: Ann.\n2. Actions: Ann runs. Bob sits; he waits, alone.\n"
    "3. Character-character interactions: They look.\n4. Key objects: A gun."
)


def test_code_leaves_some_headings_in_descriptions_and_paper_none_nor_who_is_there() -> None:
    found = CodeRules().take_apart([DESCRIPTION], Parses(), paragraphs=True)[DESCRIPTION]
    assert found.texts == (
        "Ann runs.", "Bob sits.", "he waits, alone.", "They look.", "Key objects: A gun.", "he waits.", "alone.",
    )  # fmt: skip
    parses = Parses()
    PaperRules().take_apart([DESCRIPTION, "I'm sorry, I cannot help with that."], parses, paragraphs=True)
    assert parses.asked[0] == "Ann runs. Bob sits; he waits, alone. They look. A gun."
    assert set(parses.asked[1:]) == {""}


TEXTS = ["act", "near", "far", "against", "other"]
VECTORS = np.array([[1, 0], [0.8, 0.6], [0.6, 0.8], [-1, 0], [0, 1]], np.float32)
TABLE = VectorTable(TEXTS, VECTORS)
ACT = ("act", "run")
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
        ("Larry frowns.", "He frowns."),
        ("Molly and John walk along the beach.", "They walk along the beach."),
        ("Mrs. Ganesh disappears below the window.", "She disappears below the window."),
        ("He flashes his badge to an officer.", "He flashes his badge to the person."),
        ("Khadgar looks down on the scene.", "The person looks down on the scene."),
        ("The man walks in London.", "The man walks in London."),
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
        ("She starts to run.", ("She starts to run.",)),
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
        (PredictionTexts(("far",), (("near", "sit"),)), ACT, 0.8 * 0.8),
        # The verb counts where the lemma is the same, by the likest of its phrases.
        (PredictionTexts(("near",), (("far", "run"), ("other", "run"))), ACT, 0.64 + 0.2 * 0.6),
        (PredictionTexts((), (("near", None),)), ("act", None), 0.8 * 0.8),
        # As in the published code: products with other verbs are 0, and the largest is taken.
        (PredictionTexts((), (("against", "run"),)), ACT, -1),
        (PredictionTexts((), (("against", "run"), ("against", "sit"))), ACT, -0.8),
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


VERBS = """  1 A licence stands before the meanings
01000000 35 v 02 close 0 shut 0 001 @ 01000001 v 0000 01 + 08 00 | move so that an opening is obstructed
01000001 38 v 01 move 0 000 01 + 02 00 | change place
"""
"""A file of WordNet with two meanings."""
DOOR = ("the/DET/det/3", "door/NOUN/dobj/1", "./PUNCT/punct/1")
PARSES = {
    "She closes the door.": parse_of("She|/PRON/nsubj/1", "closes/VERB/ROOT/1/close", *DOOR),
    "She shuts the door.": parse_of("She|/PRON/nsubj/1", "shuts/VERB/ROOT/1/shut", *DOOR),
    "She sits down.": parse_of("She|/PRON/nsubj/1", "sits/VERB/ROOT/1/sit", "down/ADP/prt/1"),
}


class Apart(Words):
    """Each text in a direction of its own."""

    def _sum(self, text: str) -> Any:
        return super()._sum(text.replace(" ", "_"))


class Known(RecordedParser):
    def of(self, texts: Iterable[str]) -> Iterator[Parse]:
        return (PARSES[text] for text in texts)


def events_row(
    human_ad: str, told: str, monkeypatch: pytest.MonkeyPatch, actions: tuple[str, ...] | None = None
) -> Row:
    monkeypatch.setattr(room, "make_embedder", lambda *_, **__: Apart())
    corpus = Corpus((Item("0", "film", Interval(0, 1), (human_ad,), told, actions=actions),), {}, "made")
    context = MetricContext(REAL.config, Store())
    return score(make_metric("events", context), corpus, context).rows[0]


def test_the_human_ads_actions_go_before_its_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "data.verb").write_text(VERBS)
    monkeypatch.setattr(events, "weights_file", lambda *_: tmp_path / "data.verb")
    monkeypatch.setattr(room, "check_installed", lambda: None)
    monkeypatch.setattr(room, "Parser", Known)
    actions = ("She closes the door.", "She sits down.")
    found = events_row("She opens the door.", "She shuts the door.", monkeypatch, actions)
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
def test_events_of_real_sentences(text: str, found: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    row = events_row(text, text, monkeypatch)
    assert [one["event"] for one in row.notes.get("events", ())] == ([found] if found else [])
    assert row.value == (pytest.approx(100) if found else None)
