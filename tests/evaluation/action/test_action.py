"""The action and event scores: what is taken from a text, how it is compared with human actions, and the values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, Item, MetricContext, Row, Store, make_actions, make_metric, score
from shotad.evaluation.making_actions import AdText
from shotad.evaluation.store import parser_of
from shotad.script.embeddings import Vectors
from shotad.script.parser import Parse, Token
from tests.evaluation.action.parsed import SPACY_MODEL, RecordedParser, parse_of
from tests.evaluation.allmetrics import MakeBench, changed, human, predicted, scored
from tests.evaluation.standins import StandInParses, Words


class DistinctTexts(Words):
    """Vectors of texts, none of them like another. Keeps what it was asked."""

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        self.asked += texts
        return np.eye(len(texts), dtype=np.float32)


class GivenVectors(DistinctTexts):
    """Vectors by text."""

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        super().__init__()
        self._vectors = vectors

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        return np.array([self._vectors[text] for text in texts], np.float32).reshape(len(texts), 2)


def action_row(
    text: str,
    actions: Sequence[str],
    parses: Mapping[str, Parse] | Callable[[str], Parse],
    vectors: DistinctTexts,
    *,
    rules: str = "paper",
    metric: str = "action",
) -> Row:
    """The action score of one text against these human actions, with these parses and vectors."""
    context = MetricContext(Config.model_validate({"measures": {"rules": rules}}), Store())
    parse = parses if callable(parses) else parses.__getitem__
    context.once("parses", lambda: StandInParses(parse))
    context.once("vectors", lambda: vectors)
    item = Item("0", "film", Interval(0, 1), ("…",), text, description=text, actions=tuple(actions))
    corpus = Corpus((item,), {}, "made")
    return score(make_metric(metric, context), corpus, context).rows[0]


def texts_embedded(row_of: Callable[[DistinctTexts], Row], actions: int) -> tuple[str, ...]:
    """The texts that are compared with the human actions, which are embedded first."""
    vectors = DistinctTexts()
    row_of(vectors)
    return tuple(vectors.asked[actions:])


ANY = parse_of("acts|/VERB/ROOT/0/act")


def test_an_actions_lemma_is_its_main_verbs_in_the_paper_and_its_first_in_the_code() -> None:
    words = "The|/DET/det/2", "smiling/VERB/amod/2/smile", "man/NOUN/nsubj/3", "walks/VERB/ROOT/3/walk"
    actions = {
        "The smiling man walks": parse_of(*words),
        "He is held": parse_of("He|/PRON/nsubj/1", "is/AUX/ROOT/1/be", "held/VERB/acl/1/hold"),
        "He is seen": parse_of("He|/PRON/nsubj/1", "is/VERB/ROOT/1/be", "seen/VERB/acl/1/see"),
        "Night": parse_of("Night|/NOUN/ROOT/0"),
    }
    for rules, lemmas in (
        ("paper", ["walk", "hold", "see", None]),
        ("code", ["smile", "hold", "see", None]),
    ):
        row = action_row(
            "Acts.", list(actions), lambda text: actions.get(text, ANY), DistinctTexts(), rules=rules
        )
        assert [note["lemma"] for note in row.notes["actions"]] == lemmas


RUNS = parse_of(
    "She|/PRON/nsubj/1", "runs/VERB/ROOT/1/run", ",/PUNCT/punct/1", "quickly/ADV/advmod/4",
    "jumps/VERB/conj/1/jump", "and/CCONJ/cc/4", "picks/VERB/conj/4/pick", "up/ADP/prt/6",
    "a/DET/det/9", "gun/NOUN/dobj/6", "./PUNCT/punct/1",
)  # fmt: skip
RUNS_TEXT = "She runs, quickly jumps and picks up a gun."


def test_phrases_of_coordinated_verbs() -> None:
    # The paper's phrases leave out what is coordinated with their verb.
    phrases = {"She runs.": "run", "quickly jumps.": "jump", "picks up a gun.": "pick up"}
    parses = {RUNS_TEXT: RUNS} | {
        phrase: parse_of(f"{phrase}|/VERB/ROOT/0/{lemma.split()[0]}", *particle)
        for phrase, lemma, particle in zip(
            phrases, phrases.values(), ((), (), ("up/ADP/prt/0",)), strict=True
        )
    }
    vectors = DistinctTexts()
    row = action_row(RUNS_TEXT, list(phrases), parses, vectors)
    assert vectors.asked == [*phrases, RUNS_TEXT]
    for note, (phrase, lemma) in zip(row.notes["actions"], phrases.items(), strict=True):
        assert (note["nearest"], note["phrase"], note["lemma"], note["score"]) == (phrase, phrase, lemma, 1)


def test_phrases_of_the_code_end_at_the_first_coordinated_verb() -> None:
    # What stands before that verb and depends on it is inside; one conjunction or sign at the end is left out.
    def parse(text: str) -> Parse:
        return RUNS if text == RUNS_TEXT.replace(",", "") else ANY

    def row_of(vectors: DistinctTexts) -> Row:
        return action_row(RUNS_TEXT.replace(",", ""), ["Acts."], parse, vectors, rules="code")

    assert texts_embedded(row_of, 1) == (
        "She runs , quickly.", "quickly jumps.", "picks up a gun.", "She runs quickly jumps and picks up a gun.",
    )  # fmt: skip


def test_what_is_done_next_is_another_action() -> None:
    # spaCy's models call it a conjunction only as often as anything else.
    words = "He/PRON/nsubj/1 hesitates/VERB/ROOT/1/hesitate ,/PUNCT/punct/1 then/ADV/advmod/4 turns/VERB/dep/1/turn"
    text = "He hesitates, then turns."
    parses = {
        text: parse_of(*words.split(), "./PUNCT/punct/1"),
        "Turns.": parse_of("Turns|/VERB/ROOT/0/turn"),
    }

    def row_of(vectors: DistinctTexts) -> Row:
        return action_row(text, ["Turns."], parses, vectors)

    assert texts_embedded(row_of, 1) == ("He hesitates.", "then turns.", text)


@pytest.mark.parametrize(
    ("word", "tag", "lemma", "verb"),
    [
        ("Staring", "VBG", "star", "stare"), ("taped", "VBN", "tap", "tape"), ("stars", "VBZ", "star", "star"),
        ("starring", "VBG", "star", "star"), ("stare", "VBP", "stare", "stare"), ("took", "VBD", "take", "take"),
    ],
)  # fmt: skip
def test_a_dropped_e_is_mended(word: str, tag: str, lemma: str, verb: str) -> None:
    parse = Parse((Token(word, lemma, "VERB", tag, "ROOT", 0, True, False),))
    row = action_row(word, [word], lambda _: parse, DistinctTexts())
    assert row.notes["actions"][0]["lemma"] == verb


DESCRIPTION = (
    "1. Main characters: Ann.\n2. Actions: Ann runs. Bob sits; he waits, alone.\n"
    "3. Character-character interactions: They look.\n4. Key objects: A gun."
)


def test_code_leaves_some_headings_in_descriptions_and_paper_none_nor_the_characters() -> None:
    def no_verbs(text: str) -> Parse:
        return ANY if text == "Acts." else Parse()

    def row_of(vectors: DistinctTexts) -> Row:
        return action_row(
            DESCRIPTION, ["Acts."], no_verbs, vectors, rules="code", metric="action-description"
        )

    assert texts_embedded(row_of, 1) == (
        "Ann runs.", "Bob sits.", "he waits, alone.", "They look.", "Key objects: A gun.", "he waits.", "alone.",
    )  # fmt: skip
    parsed: list[str] = []

    def parse(text: str) -> Parse:
        parsed.append(text)
        return no_verbs(text)

    for text, body in (
        (DESCRIPTION, "Ann runs. Bob sits; he waits, alone. They look. A gun."),
        ("I'm sorry, I cannot help with that.", ""),
    ):
        parsed.clear()
        row = action_row(text, ["Acts."], parse, DistinctTexts(), metric="action-description")
        assert parsed == [body, "Acts."]
        assert row.value == -50


def word(text: str, lemma: str = "") -> Parse:
    """A text of one word: a verb of this lemma, or a noun."""
    return parse_of(f"{text}|/{'VERB' if lemma else 'NOUN'}/ROOT/0/{lemma or text}")


VECTORS = {
    "act": [1, 0], "near.": [0.8, 0.6], "far.": [0.6, 0.8], "against.": [-1, 0], "other.": [0, 1],
    "against too.": [-1, 0],
}  # fmt: skip


@pytest.mark.parametrize(
    ("sentences", "lemma", "expected"),
    [
        ([word("far"), word("near")], "run", 0.8 * 0.8),
        ([word("far"), word("near", "sit")], "run", 0.8 * 0.8),
        # The verb counts where the lemma is the same, by the most similar of its phrases.
        ([word("near"), word("far", "run"), word("other", "run")], "run", 0.8 * 0.8 + 0.2 * 0.6),
        # A mere "be" is no verb to agree in.
        ([word("near", "be")], "be", 0.8 * 0.8),
        # As in the published code: products with other verbs are 0, and the largest is taken.
        ([word("against", "run")], "run", -1),
        ([word("against", "run"), word("against too", "sit")], "run", -0.8),
        ([], "run", 0),
    ],
)
def test_an_actions_score_by_hand(sentences: list[Parse], lemma: str, expected: float) -> None:
    tokens: list[Token] = []
    by_text = {"act": word("act", lemma)}
    for sentence in sentences:
        (token,) = sentence.tokens
        by_text[token.text] = sentence
        tokens.append(
            Token(token.text, token.lemma, token.pos, token.tag, token.dep, len(tokens), True, True)
        )
    by_text["all"] = Parse(tuple(tokens))
    row = action_row("all", ["act"], by_text, GivenVectors(VECTORS))
    assert row.value == pytest.approx(200 * (expected - 0.25))


class RecordedParses(StandInParses):
    """Parses as the small model makes them, for the texts in ``parses.jsonl``."""

    def __init__(self) -> None:
        super().__init__(lambda text: next(RecordedParser().of([text])))


REAL = MetricContext(Config.model_validate({"measures": {"parser": {"model": SPACY_MODEL}}}), Store())
RECORDED = MetricContext(Config(), Store())
RECORDED.once("parses", RecordedParses)


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
    (ad,), _ = make_actions([AdText("0", "", text)], "rules", context)
    assert ad.without_names == plain


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
    (ad,), _ = make_actions([AdText("0", "", text)], "rules", context)
    assert ad.actions == (actions or None)
    assert bool(ad.failure) is not bool(actions)


def test_what_says_nothing_is_0_in_the_paper_and_left_out_in_the_code(make_bench: MakeBench) -> None:
    corpus = predicted(["", None, "nan", *["A dog jumps over the fence."] * 12])
    paper, code = (scored("action", corpus, make_bench(rules=rules)) for rules in ("paper", "code"))
    assert [row.value for row in paper.rows[:2]] == [-50.0] * 2
    assert paper.scored == 15
    assert [row.value for row in code.rows[:3]] == [None] * 3
    assert all(row.sums == (0.0, 0.0) and row.notes["unscored"] for row in code.rows[:3])
    applicable = [row.value for row in code.rows if row.value is not None]
    assert code.value == pytest.approx(sum(applicable) / len(applicable))


def test_an_ad_without_known_actions_is_not_scored(make_bench: MakeBench) -> None:
    corpus = changed(changed(human(), 0, actions=None), 1, actions=())
    result = scored("action", corpus, make_bench(), range(3))
    assert [row.value is None for row in result.rows] == [True, True, False]
    assert result.scored == 1


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
    "She moves the door.": parse_of("She|/PRON/nsubj/1", "moves/VERB/ROOT/1/move", *DOOR),
    "She sits down.": parse_of("She|/PRON/nsubj/1", "sits/VERB/ROOT/1/sit", "down/ADP/prt/1"),
}


class Apart(Words):
    """Each text in a direction of its own."""

    def _sum(self, text: str) -> Any:
        return super()._sum(text.replace(" ", "_"))


def events_row(
    human_ad: str, prediction: str, context: MetricContext, actions: tuple[str, ...] | None
) -> Row:
    """The row of one AD by ``events``; no two texts have similar vectors."""
    context.once("vectors", Apart)
    corpus = Corpus(
        (Item("0", "film", Interval(0, 1), (human_ad,), prediction, actions=actions),), {}, "made"
    )
    return score(make_metric("events", context), corpus, context).rows[0]


def use_wordnet(folder: Path, monkeypatch: pytest.MonkeyPatch, verbs: str) -> None:
    """A manifest whose file of WordNet's verbs holds these."""
    file = folder / "data.verb"
    file.write_text(verbs, encoding="utf-8")
    (folder / "models").mkdir()
    (folder / "models" / "manifest.yaml").write_text(f"""schema: 1
weights:
  wordnet-verbs:
    role: verbs
    file: data.verb
    sha256: {hashlib.sha256(file.read_bytes()).hexdigest()}
    bytes: {file.stat().st_size}
    memory_mb: 1
    licence: MIT
    credit: nobody
    sources:
      - {{kind: file, path: {file}}}
""")
    monkeypatch.setenv("SHOTAD_DATA", str(folder))
    monkeypatch.setenv("SHOTAD_CACHE", str(folder / "cache"))


def test_the_human_ads_actions_go_before_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_wordnet(tmp_path, monkeypatch, VERBS)

    def row(prediction: str) -> Row:
        context = MetricContext(Config(), Store())
        context.once("parses", lambda: StandInParses(PARSES.__getitem__))
        actions = ("She closes the door.", "She sits down.")
        return events_row("She opens the door.", prediction, context, actions)

    # Verbs of one meaning.
    shuts = row("She shuts the door.")
    assert shuts.value == pytest.approx(48.5)
    closing, sitting = shuts.notes["events"]
    assert closing == {"event": "close [door]", "nearest": "shut [door]", "verb": 0.95, "participants": 1.0}
    assert (sitting["event"], sitting["nearest"]) == ("sit down", "shut [door]")
    # A verb whose meaning is a kind of the other's.
    closing, _ = row("She moves the door.").notes["events"]
    assert 0 < closing["verb"] < 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("Tom hands Ann a coffee cup.", "hand [coffee cup]"),
        ("He walks slowly into the kitchen.", "walk [kitchen]"),
        ("She never looks back at the house.", "not look back [house]"),
        ("The vase falls off the shelf.", "fall [shelf]"),
        ("The light goes out.", "go out [light]"),
        ("She is a teacher.", None),
    ],
)
def test_events_of_real_sentences(text: str, event: str | None) -> None:
    context = MetricContext(REAL.config, Store())
    context.once("parses", lambda: parser_of(REAL))
    row = events_row(text, text, context, None)
    assert [note["event"] for note in row.notes.get("events", ())] == ([event] if event else [])
    assert row.value == (pytest.approx(100) if event else None)
