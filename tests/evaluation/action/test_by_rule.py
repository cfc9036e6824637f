"""Human actions by rule: characters out, one verb to a sentence, with the real small parser."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from shotad.core import Config
from shotad.evaluation import MetricContext, Store
from shotad.evaluation.metrics.by_rule import actions_by_rule, without_characters
from shotad.evaluation.store import parser_of
from tests.evaluation.action.parsed import SPACY_MODEL

pytestmark = pytest.mark.slow

BENCH = MetricContext(Config.model_validate({"measures": {"parser": {"model": SPACY_MODEL}}}), Store())
DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "cmd-ad" / "cmdad_gt_action.csv"


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
        ("", ""),
    ],
)
def test_names_and_roles_become_pronouns(text: str, plain: str) -> None:
    assert without_characters(parser_of(BENCH).of([text])[text]) == plain


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
        ("A dark street", ("A dark street.",)),
        ("", ()),
        ("...", ()),
    ],
)  # fmt: skip
def test_each_verb_gets_a_sentence(text: str, actions: tuple[str, ...]) -> None:
    assert actions_by_rule([text], BENCH) == [actions]


def test_texts_may_come_twice_and_keep_their_order() -> None:
    one, two = "He nods.", "She opens the door."
    assert actions_by_rule([one, two, one], BENCH) == [(one,), (two,), (one,)]
    assert actions_by_rule([], BENCH) == []


def test_on_published_actions_most_verbs_are_the_same() -> None:
    if not DATA.is_file():
        pytest.skip(f"{DATA} is not here")
    with DATA.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["gt_action"].startswith("[")][::40]
    made = actions_by_rule([row["text_gt"] for row in rows], BENCH)
    wanted = [row["gt_action"].count("', '") + row["gt_action"].count('", "') + 1 for row in rows]
    assert sum(map(len, made)) == pytest.approx(sum(wanted), rel=0.2)
    assert sum(len(one) == number for one, number in zip(made, wanted, strict=True)) > 0.6 * len(rows)
