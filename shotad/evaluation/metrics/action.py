"""The action score of ADs and of Stage I's descriptions: whether the text has what happens, whoever does it.

Shot-by-Shot, section 4.2. The actions of the human AD are compared with the sentences of a prediction, and
with a phrase for each of its verbs. There are two ways to take these from a text: by the rules of the paper,
and by those of the published code (``get_action_score.py``), step by step, so that numbers can be compared
with published ones.

The code differs from the paper in much that looks accidental: every full stop ends a piece, also that of
``Mr.``; a phrase ends where the first coordinated verb begins; its lemma is that of the first verb that the
parser sees in the phrase alone, which may be another; some headings stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from shotad.core.errors import ScriptError
from shotad.core.model_cache import ModelNeed
from shotad.description.answers import parse_stage1
from shotad.evaluation.metric import Corpus, Floats, Item, Json, Metric, MetricFormula, Row
from shotad.evaluation.store import (
    EMBEDDER,
    MetricContext,
    ParseService,
    embedder_needs,
    parser_of,
    vectors_of,
)
from shotad.script.embeddings import Vectors
from shotad.script.english_words import (
    gerund_forms,
    listed,
    past_forms,
    third_person_form,
)
from shotad.script.parser import Parse, Token

_VERSION = 2
"""Version of the definition; rows of another one are computed again."""
_CHANCE, _SPREAD = 0.25, 2.0
"""The paper's rescaling: ``100 * (x - 0.25) * 2``, not clipped, so that 1 becomes 150."""
DESCRIPTION = "action-description"
_TITLES = {"action": "Action score", DESCRIPTION: "Action score of descriptions"}


class Action(Metric):
    """The mean over an AD's human actions of ``0.8 s_sim + 0.2 s_verb`` (`matches`), then over ADs.

    An empty prediction scores 0 before rescaling. An AD without human actions is not scored. As
    ``action-description`` the metric scores Stage I's text.
    """

    columns = ("score", "ads")
    model = EMBEDDER
    figure = MetricFormula("share", 100.0 * _SPREAD, -_CHANCE)

    def __init__(self, name: str, context: MetricContext) -> None:
        """Raises ShotadError where spaCy, its model or sentence-transformers is missing."""
        super().__init__(name, context)
        self.title = _TITLES[name]
        self._settings = context.settings
        self._rules = RULES[context.settings.rules]()
        self._parses, self._vectors = parser_of(context), vectors_of(context)
        self._paragraphs = name == DESCRIPTION

    @classmethod
    def needs(cls, name: str, context: MetricContext) -> tuple[ModelNeed, ...]:
        return embedder_needs(context)

    @property
    def remarks(self) -> tuple[str, ...]:
        remarks = [
            f"{difference}: not comparable with the paper's numbers." for difference in self._differences()
        ]
        if self._settings.rules == "code":
            remarks.append(_LEFT_OUT)
        if PurePath(self._settings.embedding.model).name == PAPER_MODEL:
            remarks.append(_VERSIONS)
        return tuple(remarks)

    @property
    def comparable(self) -> bool:
        return not self._differences()

    def _differences(self) -> list[str]:
        """The models that are not the paper's."""
        embedding = self._settings.embedding
        model = PurePath(embedding.model).name
        differences = []
        if model != PAPER_MODEL:
            title = "all-MiniLM-L6-v2" if embedding.model == "minilm" else model
            differences.append(f"{title} instead of {PAPER_MODEL}")
        elif embedding.instruction == "none":
            differences.append(f"{PAPER_MODEL} without an instruction")
        parser = self._parses.identity["model"]
        if parser != PAPER_PARSER:
            differences.append(f"spaCy's {parser} instead of {PAPER_PARSER}")
        return differences

    @property
    def identity(self) -> Json:
        return {
            "version": _VERSION,
            "rules": self._settings.rules,
            "similarity": WEIGHT,
            "instruction": self._vectors.instruction,
            "embedding": self._vectors.identity,
            "parser": self._parses.identity,
            "paragraphs": self._paragraphs,
        }

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        items = [corpus.items[place] for place in places]
        return [{"text": self._text(item), "actions": item.actions} for item in items]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        items = [corpus.items[place] for place in places]
        predictions: dict[str, None] = {}
        for item in items:
            text = self._text(item)
            if item.actions and text:
                predictions[text] = None
        # All texts are parsed, and embedded, together: that is much faster than item by item.
        texts_by_prediction = self._rules.take_apart(
            list(predictions), self._parses, paragraphs=self._paragraphs
        )
        action_parses = self._parses.of(action for item in items for action in item.actions or ())
        action_lemmas = {action: self._rules.lemma(parse) for action, parse in action_parses.items()}
        embedded = dict.fromkeys(action_lemmas)
        for prediction_texts in texts_by_prediction.values():
            embedded.update(dict.fromkeys(prediction_texts.all))
        vectors = self._vectors.of(list(embedded), prompt=self._vectors.instruction)
        table = VectorTable(list(embedded), vectors)
        for item in items:
            prediction_texts = texts_by_prediction.get(self._text(item) or "", PredictionTexts())
            yield self._row(item, action_lemmas, prediction_texts, table)

    def _row(
        self,
        item: Item,
        action_lemmas: Mapping[str, str | None],
        prediction_texts: PredictionTexts,
        table: VectorTable,
    ) -> Row:
        """The row of an item whose prediction has these texts."""
        actions = [(action, action_lemmas[action]) for action in item.actions or ()]
        unscored, score = "", 0.0
        action_matches: list[tuple[float, Json]] = []
        if not actions:
            unscored = "no human actions are known"
        elif not prediction_texts.all and self._rules.skips:
            unscored = "left out, as in the published code"
        else:
            action_matches = matches(actions, prediction_texts, table)
            score = sum(action_score for action_score, _ in action_matches) / len(action_matches)
            if score < 0.0 and self._rules.skips:
                unscored = "below 0, left out as in the published code"
        if unscored:
            return Row(item.id, (0.0, 0.0), None, self._failure(item), {"unscored": unscored})
        notes = {"actions": [match for _, match in action_matches]}
        value = 100.0 * _SPREAD * (score - _CHANCE)
        return Row(item.id, (score, 1.0), value, self._failure(item), notes)

    def _text(self, item: Item) -> str | None:
        """The text that is scored."""
        return item.description if self._paragraphs else item.prediction

    def _failure(self, item: Item) -> str:
        """Why the item has no such text; empty where it has one."""
        if self._text(item) is not None:
            return ""
        return item.failure or ("no description" if self._paragraphs else "no prediction")


PAPER_MODEL = "gte-Qwen2-7B-instruct"
"""The paper's embeddings (Alibaba-NLP), float32[3584]."""
PAPER_PARSER = "en_core_web_lg"
"""The published code's parser."""
WEIGHT = 0.8
"""Weight of the similarity; the verb has the rest (section 4.2)."""
_VERSIONS = (
    f"{PAPER_MODEL} runs as the library's own Qwen2 with attention both ways, which transformers 5.2 and "
    "later do by its config; the published numbers come from the repository's own code (transformers 4.44.2, "
    "flash-attn 2.5.6, spaCy 3.8.2), which fails from transformers 4.56 on. It wants bfloat16 or float32."
)

_LEFT_OUT = (
    "What failed, and what scores below 0, is left out, as in the published code: that raises the number."
)


class VectorTable:
    """Unit vectors of texts, by text."""

    def __init__(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._places: Mapping[str, int] = {text: place for place, text in enumerate(texts)}
        self._vectors = vectors

    def cosines(self, rows: Sequence[str], columns: Sequence[str]) -> Floats:
        """``float64[rows, columns]`` within [-1, 1]: the cosine of each text of ``rows`` with each of
        ``columns``; exactly 1 for equal texts."""
        row_places = np.array([self._places[text] for text in rows], np.intp)
        column_places = np.array([self._places[text] for text in columns], np.intp)
        row_vectors = self._vectors[row_places].astype(np.float64)
        column_vectors = self._vectors[column_places].astype(np.float64)
        product = np.clip(row_vectors @ column_vectors.T, -1.0, 1.0)
        equal = row_places[:, None] == column_places[None, :]
        return np.asarray(np.where(equal, 1.0, product), np.float64)


def matches(
    actions: Sequence[Phrase], prediction_texts: PredictionTexts, table: VectorTable
) -> list[tuple[float, Json]]:
    """The score of each action, and a note of what it matches, rounded, for people.

    A score is weighed by `WEIGHT` from ``similarity``, the largest cosine over texts and phrases, which is
    that with ``nearest``; and from ``verb``, the largest cosine over phrases whose verb has the same lemma,
    which is that with ``phrase`` (none: 0). It is 0 where the prediction is empty.
    """
    texts = prediction_texts.all
    scores_and_notes = []
    cosines_by_action = table.cosines([text for text, _ in actions], texts)
    for (action, lemma), cosines in zip(actions, cosines_by_action, strict=True):
        nearest, similarity, verb = "", 0.0, 0.0
        phrase: Json = {}
        if texts:
            nearest, similarity = texts[int(cosines.argmax())], float(cosines.max())
        # Phrases stand first in `texts`, so a phrase's place is also that of its cosine.
        same_verb = [
            lemma is not None and phrase_lemma == lemma for _, phrase_lemma in prediction_texts.phrases
        ]
        if any(same_verb):
            verb_cosines = np.where(same_verb, cosines[: len(same_verb)], 0.0)
            best = int(verb_cosines.argmax())
            verb = float(verb_cosines[best])
            if same_verb[best]:
                phrase = {"phrase": texts[best]}
        score = WEIGHT * similarity + (1.0 - WEIGHT) * verb
        note: Json = {
            "action": action,
            "lemma": lemma,
            "score": round(score, 4),
            "nearest": nearest,
            "similarity": round(similarity, 4),
            "verb": round(verb, 4),
            **phrase,
        }
        scores_and_notes.append((score, note))
    return scores_and_notes


VERB = "VERB"
"""Part of speech of full verbs; auxiliaries are AUX."""


Phrase = tuple[str, str | None]
"""A human action or an action phrase, and the lemma of its verb with particles (``pick up``); None where it
has none that counts."""


@dataclass(frozen=True, slots=True)
class PredictionTexts:
    """A prediction's texts, without those that are phrases too, and its action phrases; each once, in the
    order in which they stand in the prediction."""

    texts: tuple[str, ...] = ()
    phrases: tuple[Phrase, ...] = ()

    @property
    def all(self) -> list[str]:
        """The phrases, then the texts."""
        return [*(text for text, _ in self.phrases), *self.texts]


def lemma_at(parse: Parse, verb: int, base: Callable[[Token], str] = lambda token: token.lemma) -> str | None:
    """The lemma of the verb at this place with its particles (``pick up``), None for a mere ``be``. ``base``
    returns the lemma of the verb alone."""
    children = [parse.tokens[child] for child in parse.children[verb]]
    particles = [token.text for token in children if token.dep == "prt"]
    lemma = " ".join([base(parse.tokens[verb]), *particles])
    return None if lemma == "be" else lemma


def first_lemma(parse: Parse, base: Callable[[Token], str] = lambda token: token.lemma) -> str | None:
    """The lemma of the first verb other than ``be``; None where there is none."""
    for place, token in enumerate(parse.tokens):
        if token.pos == VERB:
            lemma = lemma_at(parse, place, base)
            if lemma is not None:
                return lemma
    return None


_STEPS = ("Main characters", "Actions", "Interactions")
_NO_ACTIONS = "Main characters"
"""The step that lists the characters; the published code leaves it out too."""
_NEXT, _NEAR = "then", 3
"""A word that coordinates two verbs, and how close before the second one it stands."""
_FINITE = ("VBZ", "VBD", "VBP")
_OWN_SUBJECT = {"nsubj", "nsubjpass", "mark"}
"""Dependencies of a verb that has a subject of its own, or is subordinate."""


class PaperRules:
    """The rules of the paper."""

    skips = False
    """Items without a prediction are not left out, and count as 0."""

    def take_apart(
        self, texts: Sequence[str], parses: ParseService, *, paragraphs: bool
    ) -> dict[str, PredictionTexts]:
        """Sentences and action phrases of each text; ``paragraphs``: the texts are descriptions by Stage I.

        Each sentence is parsed alone, so that its phrases do not depend on its neighbours.
        """
        bodies = {text: _action_steps(text) if paragraphs else text for text in texts}
        sentences: dict[str, list[str]] = {}
        for body, parse in parses.of(bodies.values()).items():
            body_sentences = [parse.text(places).strip() for places in parse.sentences()]
            sentences[body] = [sentence for sentence in body_sentences if sentence]
        sentence_parses = parses.of(sentence for row in sentences.values() for sentence in row)
        texts_by_text = {}
        for text, body in bodies.items():
            texts_by_text[text] = texts_of([sentence_parses[sentence] for sentence in sentences[body]])
        return texts_by_text

    def lemma(self, action: Parse) -> str | None:
        """The lemma of the main verb; of the first verb where the main word is none (``is seen walking``)."""
        for place, token in enumerate(action.tokens):
            if token.pos == VERB and token.head == place:
                lemma = lemma_at(action, place, base_of)
                if lemma is not None:
                    return lemma
        return first_lemma(action, base_of)


def _action_steps(description: str) -> str:
    """The steps of a description but the first, without headings and what models write around them."""
    try:
        steps = parse_stage1(description, _STEPS, "", "").steps
    except ScriptError:
        return ""
    return " ".join(body for heading, body in steps.items() if heading != _NO_ACTIONS)


def texts_of(sentences: Sequence[Parse]) -> PredictionTexts:
    """The texts and action phrases of a prediction with these sentences."""
    phrases: dict[Phrase, None] = {}
    for sentence in sentences:
        for place, token in enumerate(sentence.tokens):
            if token.pos != VERB:
                continue
            phrase = _with_full_stop(sentence, _phrase_places(sentence, place))
            if phrase:
                phrases[phrase, lemma_at(sentence, place, base_of)] = None
    phrase_texts = {text for text, _ in phrases}
    texts: dict[str, None] = {}
    for sentence in sentences:
        text = _with_full_stop(sentence, range(len(sentence.tokens)))
        if text and text not in phrase_texts:
            texts[text] = None
    return PredictionTexts(tuple(texts), tuple(phrases))


def base_of(verb: Token) -> str:
    """A verb's lemma, with the e that spaCy's rules may drop: of ``stares`` they make ``star``, whose form is
    ``stars``, and of ``stare`` they do not, so that the same verb would count as two."""
    with_e = f"{verb.lemma}e"
    return with_e if _inflects(with_e, verb) and not _inflects(verb.lemma, verb) else verb.lemma


def _inflects(base: str, verb: Token) -> bool:
    """Whether the word of ``verb`` is the form of the verb ``base`` that the parser takes it for."""
    word = verb.text.lower()
    if verb.tag == "VBZ":
        return word == third_person_form(base)
    if verb.tag == "VBG":
        return word in gerund_forms(base)
    return verb.tag not in ("VBD", "VBN") or word in past_forms(base)


def _phrase_places(parse: Parse, verb: int) -> list[int]:
    """The places of a verb's subtree without what is coordinated with it, and without the conjunction."""
    tokens, coordinated = parse.tokens, set[int]()
    for child in parse.children[verb]:
        if tokens[child].dep == "conj" or _is_next_action(parse, verb, child):
            coordinated.update(parse.subtree(child))
            # What stands between the two and joins them.
            for place in parse.children[verb]:
                joins = tokens[place].dep in ("cc", "preconj", "punct") or tokens[place].text.lower() == _NEXT
                if joins and verb < place < child:
                    coordinated.add(place)
    return [place for place in parse.subtree(verb) if place not in coordinated]


def _is_next_action(parse: Parse, verb: int, child: int) -> bool:
    """Whether a child of a verb is what the same subject does next: ``hesitates, then turns``.

    spaCy's models take it for a conjunction, or for anything else about as often.
    """
    tokens = parse.tokens
    if child <= verb or tokens[child].tag not in _FINITE:
        return False
    words_before = [token.text.lower() for token in tokens[verb + 1 : child][-_NEAR:]]
    dependencies = {tokens[place].dep for place in parse.children[child]}
    return _NEXT in words_before and not dependencies & _OWN_SUBJECT


def _with_full_stop(parse: Parse, places: Sequence[int]) -> str:
    """The words at ``places`` without punctuation around them, and a full stop; empty where there are
    none."""
    places = [place for place in places if not parse.tokens[place].text.isspace()]
    words = [index for index, place in enumerate(places) if any(map(str.isalnum, parse.tokens[place].text))]
    return f"{parse.text(places[words[0] : words[-1] + 1])}." if words else ""


_BEFORE_ACTIONS = ("1. Main characters: ", "1. Main characters:", "Main characters:", "1.")
_ACTIONS = "2. Actions:"
_OTHER_HEADINGS = (
    "Actions:",
    "2.",
    "3. Character-character interactions: ",
    "3. Character-character interactions",
    "Character-character interactions:",
    "3.",
    "4. Facial expressions: ",
    "4. Facial expressions:",
    "Facial expressions:",
    "4.",
    "###ANSWER TEMPLATE###: ",
    "###: ",
    "ANSWER TEMPLATE: ",
)
"""Texts that are cut from descriptions, in this order, wherever they stand."""
_SENTENCE_ENDS, PIECE_ENDS = re.compile("[.;]"), re.compile("[.;,]")
_NOT_A_TEXT = listed(
    "#N/A #NA -1.#IND -1.#QNAN -NaN -nan 1.#IND 1.#QNAN <NA> N/A NA NULL NaN None n/a nan null"
) | {"#N/A N/A"}
"""Texts that pandas takes for a missing value in a CSV."""


class CodeRules:
    """The rules of the published code."""

    skips = True
    """Items without a prediction, and those that score below 0, are left out."""

    def take_apart(
        self, texts: Sequence[str], parses: ParseService, *, paragraphs: bool
    ) -> dict[str, PredictionTexts]:
        """Whole text, pieces and action phrases of each text; nothing of one that pandas takes for a missing
        value. ``paragraphs``: the texts are descriptions by Stage I."""
        sentences: dict[str, list[str]] = {}
        pieces: dict[str, list[str]] = {}
        for text in texts:
            body = "" if text in _NOT_A_TEXT else text
            if paragraphs:
                body = _without_headings(body)
                sentences[text] = split(body, _SENTENCE_ENDS)
            else:
                sentences[text] = [body] if body else []
            pieces[text] = split(body, PIECE_ENDS)
        piece_parses = parses.of(piece for row in pieces.values() for piece in row)
        phrases: dict[str, list[str]] = {}
        for text, row in pieces.items():
            phrases[text] = [f"{phrase}." for piece in row for phrase in phrases_of(piece_parses[piece])]
        # The code parses each phrase again, alone, for its lemma.
        phrase_parses = parses.of(phrase for row in phrases.values() for phrase in row)
        texts_by_text = {}
        for text in texts:
            phrases_with_lemma = [
                (phrase, first_lemma(phrase_parses[phrase])) for phrase in dict.fromkeys(phrases[text])
            ]
            no_phrases = dict.fromkeys([*sentences[text], *pieces[text]])
            for phrase in phrases[text]:
                no_phrases.pop(phrase, None)
            texts_by_text[text] = PredictionTexts(tuple(no_phrases), tuple(phrases_with_lemma))
        return texts_by_text

    def lemma(self, action: Parse) -> str | None:
        """The lemma of the first verb."""
        return first_lemma(action)


def _without_headings(description: str) -> str:
    """A description without most headings and without what stands before the actions."""
    for heading in _BEFORE_ACTIONS:
        description = description.replace(heading, "")
    description = description.split(_ACTIONS)[-1]
    for heading in _OTHER_HEADINGS:
        description = description.replace(heading, "")
    return description


def split(text: str, ends: re.Pattern[str]) -> list[str]:
    """The pieces of a text, each with a full stop.

    >>> split("Mr. X nods, and goes", PIECE_ENDS)
    ['Mr.', 'X nods.', 'and goes.']
    """
    pieces = [piece.strip() for piece in ends.split(text)]
    return [f"{piece}." for piece in pieces if piece]


def phrases_of(parse: Parse) -> Iterator[str]:
    """For each verb the words of its subtree up to the first word that is coordinated with it."""
    for verb, token in enumerate(parse.tokens):
        if token.pos != VERB:
            continue
        places: list[int] = []
        for place in parse.subtree(verb):
            if parse.tokens[place].dep == "conj" and parse.tokens[place].head == verb:
                break
            places.append(place)
        if places and parse.tokens[places[-1]].dep in ("cc", "punct"):
            places.pop()
        yield " ".join(parse.tokens[place].text for place in places)


RULES: dict[str, type[PaperRules | CodeRules]] = {"paper": PaperRules, "code": CodeRules}
"""Rules by the value of ``measures.rules``."""
