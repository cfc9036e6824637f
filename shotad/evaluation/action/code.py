"""The published code's way to read predictions (Shot-by-Shot's ``get_action_score.py``), step by step.

It differs from the paper's words in much that looks accidental: every full stop ends a piece, also that of
``Mr.``; a phrase ends where the first coordinated verb begins; its lemma is that of the first verb that the
parser sees in the phrase alone, which may be another; some headings stay. It is restated here so that numbers
can be compared with published ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shotad.evaluation.action.told import VERB, Phrase, Told, first_lemma
from shotad.evaluation.measure.texts import ParseService
from shotad.script import Parse, listed

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
