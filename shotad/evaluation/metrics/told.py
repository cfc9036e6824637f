"""What a prediction says, as the action score sees it: its sentences, and a phrase for each verb.

There are two ways to take them from a text.

The *paper's* words, read plainly. Other than in the published code, abbreviations end no sentence, a
phrase's lemma is that of the verb it was made for (with its e), a phrase is without all that is coordinated
with its verb, headings of all steps are left out, and nothing is skipped.

The published *code's* way (Shot-by-Shot's ``get_action_score.py``), step by step. It differs from the
paper's words in much that looks accidental: every full stop ends a piece, also that of ``Mr.``; a phrase
ends where the first coordinated verb begins; its lemma is that of the first verb that the parser sees in
the phrase alone, which may be another; some headings stay. It is restated here so that numbers can be
compared with published ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from shotad.core import ScriptError
from shotad.description import parse_stage1
from shotad.evaluation.texts import ParseService
from shotad.script import Parse, Token, gerunds, listed, pasts, third

VERB = "VERB"
"""Part of speech of full verbs; auxiliaries are AUX."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """An action phrase, and the lemma of its verb, particles included (``pick up``); None where it has
    none that counts."""

    text: str
    lemma: str | None


@dataclass(frozen=True, slots=True)
class Told:
    """A prediction's texts, without those that are phrases too, and its action phrases; each once, in the
    order in which they stand in the prediction."""

    texts: tuple[str, ...] = ()
    phrases: tuple[Phrase, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.texts or self.phrases)


class Rules(Protocol):
    """One way to read predictions and human actions."""

    skips: bool
    """Items without a prediction are left out, as in the published code, instead of counting as 0."""

    def told(self, texts: Sequence[str], parses: ParseService, *, paragraphs: bool) -> dict[str, Told]:
        """What each text says. ``paragraphs``: they are descriptions in steps, and not ADs."""
        ...

    def lemma(self, action: Parse) -> str | None:
        """The lemma of a human action's verb, particles included; None where it has none."""
        ...


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
    """See `Rules`."""

    skips = False

    def told(self, texts: Sequence[str], parses: ParseService, *, paragraphs: bool) -> dict[str, Told]:
        """Sentences and phrases of each text. A sentence is taken apart alone, so that what it tells does
        not hang on its neighbours."""
        bodies = {text: _steps(text) if paragraphs else text for text in texts}
        found = parses.of(bodies.values())
        sentences = {body: _sentences(parse) for body, parse in found.items()}
        alone = parses.of(sentence for row in sentences.values() for sentence in row)
        return {text: told_of([alone[one] for one in sentences[body]]) for text, body in bodies.items()}

    def lemma(self, action: Parse) -> str | None:
        """That of the main verb; of the first verb where the main word is none (``is seen walking``)."""
        roots = (
            place for place, token in enumerate(action.tokens) if token.head == place and token.pos == VERB
        )
        found = (lemma_at(action, place, base_of) for place in roots)
        return next((lemma for lemma in found if lemma is not None), None) or first_lemma(action, base_of)


def told_of(sentences: Sequence[Parse]) -> Told:
    """What a text says whose sentences have been taken apart."""
    phrases = list(dict.fromkeys(phrase for sentence in sentences for phrase in _phrases(sentence)))
    texts = dict.fromkeys(_ended(sentence, range(len(sentence.tokens))) for sentence in sentences)
    spoken = {phrase.text for phrase in phrases}
    return Told(tuple(text for text in texts if text and text not in spoken), tuple(phrases))


def base_of(verb: Token) -> str:
    """A verb's lemma, with the e that spaCy's rules may drop: of ``stares`` they make ``star``, whose form is
    ``stars``, and of ``stare`` they do not, so that the same verb would count as two."""
    mended = f"{verb.lemma}e"
    return mended if _inflects(mended, verb) and not _inflects(verb.lemma, verb) else verb.lemma


def _inflects(base: str, verb: Token) -> bool:
    """Whether the word is that form of the verb ``base`` which the parser takes it for."""
    word = verb.text.lower()
    if verb.tag == "VBZ":
        return word == third(base)
    if verb.tag == "VBG":
        return word in gerunds(base)
    return verb.tag not in ("VBD", "VBN") or word in pasts(base)


def _sentences(parse: Parse) -> list[str]:
    return [text for sentence in parse.sentences() if (text := parse.text(sentence).strip())]


def _steps(text: str) -> str:
    """A description's steps but the first, without headings and what models write around them."""
    try:
        steps = parse_stage1(text, _STEPS, "", "").steps
    except ScriptError:
        return ""
    return " ".join(body for heading, body in steps.items() if heading != _UNTOLD)


def _phrases(parse: Parse) -> Iterator[Phrase]:
    for place, token in enumerate(parse.tokens):
        if token.pos == VERB and (text := _ended(parse, _own(parse, place))):
            yield Phrase(text, lemma_at(parse, place, base_of))


def _own(parse: Parse, verb: int) -> list[int]:
    """The places of a verb's subtree without what is coordinated with it, and without the conjunction."""
    apart: set[int] = set()
    for child in parse.children[verb]:
        if parse.tokens[child].dep == "conj" or _goes_on(parse, verb, child):
            apart.update(parse.subtree(child))
            apart.update(place for place in parse.children[verb] if _joins(parse, place, child, verb))
    return [place for place in parse.subtree(verb) if place not in apart]


def _goes_on(parse: Parse, verb: int, child: int) -> bool:
    """Whether the word here is what the same subject does next: ``hesitates, then turns``, which spaCy's
    models take for a conjunction, or for anything else about as often."""
    if child < verb or parse.tokens[child].tag not in _FINITE:
        return False
    before = parse.tokens[verb + 1 : child]
    kept_apart = {parse.tokens[place].dep for place in parse.children[child]} & _OTHERWISE
    return not kept_apart and any(token.text.lower() == _NEXT for token in before[-_NEAR:])


def _joins(parse: Parse, place: int, conjunct: int, verb: int) -> bool:
    """Whether the word here stands between a verb and what is coordinated with it, and joins them."""
    token = parse.tokens[place]
    joins = token.dep in ("cc", "preconj", "punct") or token.text.lower() == _NEXT
    return joins and verb < place < conjunct


def _ended(parse: Parse, places: Sequence[int]) -> str:
    """The words at ``places`` without signs around them, and a full stop; empty where there are none."""
    words = [place for place in places if not parse.tokens[place].text.isspace()]
    while words and _is_sign(parse.tokens[words[-1]].text):
        words.pop()
    while words and _is_sign(parse.tokens[words[0]].text):
        words.pop(0)
    text = parse.text(words)
    return f"{text}." if text else ""


def _is_sign(word: str) -> bool:
    return not any(letter.isalnum() for letter in word)


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
    """See `Rules`."""

    skips = True

    def told(self, texts: Sequence[str], parses: ParseService, *, paragraphs: bool) -> dict[str, Told]:
        """Whole text, pieces and phrases of each text; nothing of one that is skipped."""
        whole, pieces = {}, {}
        for text in texts:
            read = "" if text in _NOT_A_TEXT else text
            body = _paragraph(read) if paragraphs else read
            pieces[text] = split(body, PIECE_ENDS)
            whole[text] = split(body, _SENTENCE_ENDS) if paragraphs else [body] if body else []
        parsed = parses.of(piece for row in pieces.values() for piece in row)
        phrases = {
            text: [f"{phrase}." for piece in row for phrase in phrases_of(parsed[piece])]
            for text, row in pieces.items()
        }
        again = parses.of(phrase for row in phrases.values() for phrase in row)
        return {
            text: Told(
                tuple(
                    piece
                    for piece in dict.fromkeys([*whole[text], *pieces[text]])
                    if piece not in phrases[text]
                ),
                tuple(dict.fromkeys(Phrase(phrase, first_lemma(again[phrase])) for phrase in phrases[text])),
            )
            for text in texts
        }

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


def _paragraph(text: str) -> str:
    """A description without most headings and without what stands before the actions."""
    for heading in _BEFORE_ACTIONS:
        text = text.replace(heading, "")
    text = text.split(_ACTIONS)[-1]
    for heading in _OTHERS:
        text = text.replace(heading, "")
    return text
