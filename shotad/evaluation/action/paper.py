"""The paper's words, read plainly: sentences as the parser sees them, and a phrase for each verb.

Other than in the published code, abbreviations end no sentence, a phrase's lemma is that of the verb it was
made for (with its e), a phrase is without all that is coordinated with its verb, headings of all steps are
left out, and nothing is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shotad.core import ScriptError
from shotad.description import parse_stage1
from shotad.evaluation.action.told import VERB, Phrase, Told, first_lemma, lemma_at
from shotad.evaluation.measure.texts import ParseService
from shotad.script import Parse, Token, gerunds, pasts, third

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
