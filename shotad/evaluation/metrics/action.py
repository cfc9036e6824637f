"""The action score: is what happens told, whoever does it? Of ADs and of Stage I's descriptions.

Shot-by-Shot, section 4.2. Human actions are held against what a prediction says: its sentences, and a phrase
for each verb. There are two ways to take these from a text.

The *paper's* words, read plainly. The published *code's* way (``get_action_score.py``), step by step, so that
numbers can be compared with published ones. It differs in much that looks accidental: every full stop ends a
piece, also that of ``Mr.``; a phrase ends where the first coordinated verb begins; its lemma is that of the
first verb that the parser sees in the phrase alone, which may be another; some headings stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from shotad.core.errors import ScriptError
from shotad.description.answers import parse_stage1
from shotad.evaluation.metric import Corpus, Floats, Item, Json, Metric, MetricFormula, Row
from shotad.evaluation.store import MetricContext, ParseService, parser_of, vectors_of
from shotad.script.embeddings import Vectors
from shotad.script.english_words import (
    gerund_forms,
    listed,
    past_forms,
    third_person_form,
)
from shotad.script.parsing import Parse, Token

_VERSION = 2
"""Of the definition; a change makes all rows new."""
_CHANCE, _SPREAD = 0.25, 2.0
"""The paper's rescaling: ``100 * (x - 0.25) * 2``, not clipped, so that 1 becomes 150."""
DESCRIPTION = "action-description"
_TITLES = {"action": "Action score", DESCRIPTION: "Action score of descriptions"}


class Action(Metric):
    """The mean over an AD's human actions of ``0.8 s_sim + 0.2 s_verb`` (`matches`), then over ADs. An empty
    prediction scores 0 before rescaling. An AD whose actions are not known is not scored. As
    ``action-description`` it scores Stage I's text."""

    columns = ("score", "ads")
    figure = MetricFormula("share", 100.0 * _SPREAD, -_CHANCE)

    def __init__(self, name: str, context: MetricContext) -> None:
        """Raises ShotadError where spaCy, its model or sentence-transformers is missing."""
        super().__init__(name, context)
        self.title = _TITLES[name]
        self._settings = context.settings
        self._rules = RULES[context.settings.rules]()
        self._parses, self._vectors = parser_of(context), vectors_of(context)
        self._paragraphs = name == DESCRIPTION

    @property
    def remarks(self) -> tuple[str, ...]:
        found = [f"{what}: not comparable with the paper's numbers." for what in self._differences()]
        if self._settings.rules == "code":
            found.append(_LEFT_OUT)
        if PurePath(self._settings.embedding.model).name == PAPER_MODEL:
            found.append(_VERSIONS)
        return tuple(found)

    @property
    def comparable(self) -> bool:
        return not self._differences()

    def _differences(self) -> list[str]:
        embedding, found = self._settings.embedding, []
        if PurePath(embedding.model).name != PAPER_MODEL:
            called = "all-MiniLM-L6-v2" if embedding.model == "minilm" else PurePath(embedding.model).name
            found.append(f"{called} instead of {PAPER_MODEL}")
        elif embedding.instruction == "none":
            found.append(f"{PAPER_MODEL} without an instruction")
        parser = self._parses.identity["model"]
        if parser != PAPER_PARSER:
            found.append(f"spaCy's {parser} instead of {PAPER_PARSER}")
        return found

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
        texts = dict.fromkeys(text for item in items if item.actions and (text := self._text(item)))
        told = self._rules.told(list(texts), self._parses, paragraphs=self._paragraphs)
        parses = self._parses.of(action for item in items for action in item.actions or ())
        deeds = {text: self._rules.lemma(parse) for text, parse in parses.items()}
        texts = dict.fromkeys(deeds)
        texts.update(dict.fromkeys(text for one in told.values() for text in one.all))
        table = VectorTable(list(texts), self._vectors.of(list(texts), prompt=self._vectors.instruction))
        for item in items:
            actions = [(text, deeds[text]) for text in item.actions or ()]
            said = told.get(self._text(item) or "", PredictionTexts())
            unscored, score, found = "", 0.0, list[tuple[float, Json]]()
            if not actions:
                unscored = "no human actions are known"
            elif not said.all and self._rules.skips:
                unscored = "left out, as in the published code"
            else:
                found = matches(actions, said, table)
                score = sum(one for one, _ in found) / len(found)
                if score < 0.0 and self._rules.skips:
                    unscored = "below 0, left out as in the published code"
            if unscored:
                yield Row(item.id, (0.0, 0.0), None, self._failure(item), {"unscored": unscored})
            else:
                notes = {"actions": [match for _, match in found]}
                value = 100.0 * _SPREAD * (score - _CHANCE)
                yield Row(item.id, (score, 1.0), value, self._failure(item), notes)

    def _text(self, item: Item) -> str | None:
        return item.description if self._paragraphs else item.prediction

    def _failure(self, item: Item) -> str:
        if self._text(item) is not None:
            return ""
        return item.failure or ("no description" if self._paragraphs else "no prediction")


PAPER_MODEL = "gte-Qwen2-7B-instruct"
"""The paper's embeddings (Alibaba-NLP), float32[3584]."""
PAPER_PARSER = "en_core_web_lg"
"""The published code's parser."""
WEIGHT = 0.8
"""Weight of the meaning; the rest is the verb's (section 4.2)."""
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

    def cosines(self, some: Sequence[str], others: Sequence[str]) -> Floats:
        """float64[len(some), len(others)] within [-1, 1]; exactly 1 for equal texts."""
        rows, columns = (
            np.array([self._places[text] for text in texts], np.intp) for texts in (some, others)
        )
        product = self._vectors[rows].astype(np.float64) @ self._vectors[columns].T.astype(np.float64)
        equal = rows[:, None] == columns[None, :]
        return np.asarray(np.where(equal, 1.0, np.clip(product, -1.0, 1.0)), np.float64)


def matches(actions: Sequence[Phrase], told: PredictionTexts, table: VectorTable) -> list[tuple[float, Json]]:
    """The score of each action, weighed by `WEIGHT`, and what it matches, rounded, for people; 0 where
    nothing is told. ``similarity`` is the largest cosine over texts and phrases, that with ``nearest``;
    ``verb`` the largest over phrases whose verb has the same lemma, with ``phrase`` (none: 0)."""
    texts, found = told.all, []
    rows = table.cosines([text for text, _ in actions], texts)
    for (action, lemma), cosines in zip(actions, rows, strict=True):
        nearest, similarity, verb, phrase = "", 0.0, 0.0, dict[str, str]()
        if texts:
            nearest, similarity = texts[int(cosines.argmax())], float(cosines.max())
        same = [lemma is not None and own == lemma for _, own in told.phrases]
        if any(same):
            verbs = np.where(same, cosines[: len(same)], 0.0)
            best = int(verbs.argmax())
            verb, phrase = float(verbs[best]), {"phrase": texts[best]} if same[best] else {}
        score = WEIGHT * similarity + (1.0 - WEIGHT) * verb
        match: Json = {"action": action, "lemma": lemma, "score": round(score, 4)}
        match |= {"nearest": nearest, "similarity": round(similarity, 4), "verb": round(verb, 4)}
        found.append((score, match | phrase))
    return found


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
    """The lemma of the verb at this place with its particles, None for a mere ``be``. ``base`` says a verb's
    own lemma."""
    particles = [parse.tokens[c].text for c in parse.children[verb] if parse.tokens[c].dep == "prt"]
    found = " ".join([base(parse.tokens[verb]), *particles])
    return None if found == "be" else found


def first_lemma(parse: Parse, base: Callable[[Token], str] = lambda token: token.lemma) -> str | None:
    """The lemma of the first verb but ``be``."""
    found = (lemma_at(parse, place, base) for place, token in enumerate(parse.tokens) if token.pos == VERB)
    return next((lemma for lemma in found if lemma is not None), None)


_STEPS = ("Main characters", "Actions", "Interactions")
_UNTOLD = "Main characters"
"""The step that says who is there; the published code leaves it out too."""
_NEXT, _NEAR = "then", 3
"""A word that coordinates two verbs, and how close before the second one it stands."""
_FINITE = ("VBZ", "VBD", "VBP")
_OTHERWISE = {"nsubj", "nsubjpass", "mark"}
"""Dependencies of a verb that has its own subject, or is subordinate."""


class PaperRules:
    """As the paper words it."""

    skips = False
    """Items without a prediction are not left out, and count as 0."""

    def told(
        self, texts: Sequence[str], parses: ParseService, *, paragraphs: bool
    ) -> dict[str, PredictionTexts]:
        """Sentences and phrases of each text. A sentence is taken apart alone, so that what it tells does
        not depend on its neighbours."""
        bodies = dict(zip(texts, texts, strict=True))
        for text in texts if paragraphs else ():
            # A description's steps but the first, without headings and what models write around them.
            try:
                steps = parse_stage1(text, _STEPS, "", "").steps
            except ScriptError:
                steps = {}
            bodies[text] = " ".join(body for heading, body in steps.items() if heading != _UNTOLD)
        found = parses.of(bodies.values())
        sentences = {
            body: [text for one in parse.sentences() if (text := parse.text(one).strip())]
            for body, parse in found.items()
        }
        alone = parses.of(sentence for row in sentences.values() for sentence in row)
        return {text: told_of([alone[one] for one in sentences[body]]) for text, body in bodies.items()}

    def lemma(self, action: Parse) -> str | None:
        """That of the main verb; of the first verb where the main word is none (``is seen walking``)."""
        verbs = [place for place, token in enumerate(action.tokens) if token.pos == VERB]
        roots = (lemma_at(action, place, base_of) for place in verbs if action.tokens[place].head == place)
        return next((lemma for lemma in roots if lemma is not None), None) or first_lemma(action, base_of)


def told_of(sentences: Sequence[Parse]) -> PredictionTexts:
    """What a text says whose sentences have been taken apart."""
    found: dict[Phrase, None] = {}
    for sentence in sentences:
        for place, token in enumerate(sentence.tokens):
            if token.pos == VERB and (text := _ended(sentence, _own(sentence, place))):
                found[text, lemma_at(sentence, place, base_of)] = None
    phrases = tuple(found)
    texts = dict.fromkeys(_ended(sentence, range(len(sentence.tokens))) for sentence in sentences)
    spoken = {text for text, _ in phrases}
    return PredictionTexts(tuple(text for text in texts if text and text not in spoken), phrases)


def base_of(verb: Token) -> str:
    """A verb's lemma, with the e that spaCy's rules may drop: of ``stares`` they make ``star``, whose form is
    ``stars``, and of ``stare`` they do not, so that the same verb would count as two."""
    mended = f"{verb.lemma}e"
    return mended if _inflects(mended, verb) and not _inflects(verb.lemma, verb) else verb.lemma


def _inflects(base: str, verb: Token) -> bool:
    """Whether the word is that form of the verb ``base`` which the parser takes it for."""
    word = verb.text.lower()
    if verb.tag == "VBZ":
        return word == third_person_form(base)
    if verb.tag == "VBG":
        return word in gerund_forms(base)
    return verb.tag not in ("VBD", "VBN") or word in past_forms(base)


def _own(parse: Parse, verb: int) -> list[int]:
    """The places of a verb's subtree without what is coordinated with it, and without the conjunction."""
    tokens, apart = parse.tokens, set[int]()
    for child in parse.children[verb]:
        # What the same subject does next: ``hesitates, then turns``, which spaCy's models take for a
        # conjunction, or for anything else about as often.
        follows = child > verb and tokens[child].tag in _FINITE
        then = follows and any(one.text.lower() == _NEXT for one in tokens[verb + 1 : child][-_NEAR:])
        goes_on = then and not {tokens[place].dep for place in parse.children[child]} & _OTHERWISE
        if tokens[child].dep == "conj" or goes_on:
            apart.update(parse.subtree(child))
            # What stands between the two and joins them.
            for place in parse.children[verb]:
                joins = tokens[place].dep in ("cc", "preconj", "punct") or tokens[place].text.lower() == _NEXT
                if joins and verb < place < child:
                    apart.add(place)
    return [place for place in parse.subtree(verb) if place not in apart]


def _ended(parse: Parse, places: Sequence[int]) -> str:
    """The words at ``places`` without signs around them, and a full stop; empty where there are none."""
    words = [place for place in places if not parse.tokens[place].text.isspace()]
    full = [at for at, place in enumerate(words) if any(map(str.isalnum, parse.tokens[place].text))]
    return f"{parse.text(words[full[0] : full[-1] + 1])}." if full else ""


_BEFORE_ACTIONS = ("1. Main characters: ", "1. Main characters:", "Main characters:", "1.")
_ACTIONS = "2. Actions:"
_OTHERS = (
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
"""What is cut from descriptions, in this order, wherever it stands."""
_SENTENCE_ENDS, PIECE_ENDS = re.compile("[.;]"), re.compile("[.;,]")
_NOT_A_TEXT = listed(
    "#N/A #NA -1.#IND -1.#QNAN -NaN -nan 1.#IND 1.#QNAN <NA> N/A NA NULL NaN None n/a nan null"
) | {"#N/A N/A"}
"""What pandas takes for a missing value in a CSV."""


class CodeRules:
    """As the published code reads them."""

    skips = True

    def told(
        self, texts: Sequence[str], parses: ParseService, *, paragraphs: bool
    ) -> dict[str, PredictionTexts]:
        """Whole text, pieces and phrases of each text; nothing of one that is skipped."""
        whole, pieces = {}, {}
        for text in texts:
            body = "" if text in _NOT_A_TEXT else text
            if paragraphs:  # without most headings and without what stands before the actions
                for heading in _BEFORE_ACTIONS:
                    body = body.replace(heading, "")
                body = body.split(_ACTIONS)[-1]
                for heading in _OTHERS:
                    body = body.replace(heading, "")
            pieces[text] = split(body, PIECE_ENDS)
            whole[text] = split(body, _SENTENCE_ENDS) if paragraphs else [body] if body else []
        parsed = parses.of(piece for row in pieces.values() for piece in row)
        phrases = {
            text: [f"{phrase}." for piece in row for phrase in phrases_of(parsed[piece])]
            for text, row in pieces.items()
        }
        again = parses.of(phrase for row in phrases.values() for phrase in row)
        found = {}
        for text in texts:
            own = tuple((phrase, first_lemma(again[phrase])) for phrase in dict.fromkeys(phrases[text]))
            others = dict.fromkeys([*whole[text], *pieces[text]])
            found[text] = PredictionTexts(tuple(one for one in others if one not in phrases[text]), own)
        return found

    def lemma(self, action: Parse) -> str | None:
        """That of the first verb."""
        return first_lemma(action)


def split(text: str, ends: re.Pattern[str]) -> list[str]:
    """The pieces of a text, each with a full stop.

    >>> split("Mr. X nods, and goes", PIECE_ENDS)
    ['Mr.', 'X nods.', 'and goes.']
    """
    return [f"{piece}." for part in ends.split(text) if (piece := part.strip())]


def phrases_of(parse: Parse) -> Iterator[str]:
    """For each verb the words of its subtree up to the first word that is coordinated with it."""
    for place, token in enumerate(parse.tokens):
        if token.pos != VERB:
            continue
        words: list[int] = []
        for part in parse.subtree(place):
            if parse.tokens[part].dep == "conj" and parse.tokens[part].head == place:
                break
            words.append(part)
        if words and parse.tokens[words[-1]].dep in ("cc", "punct"):
            words.pop()
        yield " ".join(parse.tokens[part].text for part in words)


RULES: dict[str, type[PaperRules | CodeRules]] = {"paper": PaperRules, "code": CodeRules}
"""By ``measures.rules``."""
