"""Metrics counted again, slowly and plainly, from their definitions: what the product must come to.

Nothing here is taken from the product; models are used through their own libraries.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Similarity = Callable[[str, str], float]


# --- CIDEr


def grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def cider_d(
    said: Sequence[str], wanted: Sequence[Sequence[str]], corpus: Sequence[Any], plain: bool
) -> float:
    """CIDEr-D of one item by its formula (Vedantam et al. 2015, equations 1, 5 and 6); ``corpus`` holds the
    references of each item. ``plain``: equations 1 to 4."""
    total = 0.0
    for n in range(1, 5):
        ours = _weighted(said, n, corpus)
        for reference in wanted:
            theirs = _weighted(reference, n, corpus)
            dot = sum(
                (min(v, theirs.get(g, 0)) if not plain else v) * theirs.get(g, 0) for g, v in ours.items()
            )
            below = math.sqrt(sum(v * v for v in ours.values()) * sum(v * v for v in theirs.values()))
            short = 1.0 if plain else math.exp(-((_len(said) - _len(reference)) ** 2) / (2 * 36))
            total += short * dot / below if below else 0.0
    return 10 * total / 4 / len(wanted)


def _len(words: Sequence[str]) -> int:
    """The tool counts bigrams for the length."""
    return max(len(words) - 1, 0)


def _weighted(words: Sequence[str], n: int, corpus: Sequence[Any]) -> dict[tuple[str, ...], float]:
    def items_with(gram: tuple[str, ...]) -> int:
        return sum(any(gram in grams(reference, n) for reference in item) for item in corpus)

    return {g: c * math.log(len(corpus) / max(items_with(g), 1)) for g, c in grams(words, n).items()}


# --- recall


def recall(
    human: Sequence[str], said: Sequence[str], alike: Similarity, k: int, n: int, rule: str
) -> list[Any]:
    """For each AD of a film (found, asked): windows of n by steps of n // 2, in the published code's rule only
    full ones; else one more at the end, and a film shorter than n is one."""
    starts = [start for start in range(0, len(human), max(n // 2, 1)) if start + n <= len(human)]
    windows = [list(range(start, start + n)) for start in starts]
    if rule == "all":
        if len(human) < n:
            windows = [list(range(len(human)))]
        elif windows[-1][-1] != len(human) - 1:
            windows.append(list(range(len(human) - n, len(human))))
    found = []
    for i, text in enumerate(said):
        hits = []
        for window in windows:
            if i in window and len(window) > k:
                better = [j for j in window if alike(text, human[j]) > alike(text, human[i])]
                hits.append(len(better) < k and bool(re.search(r"\w", text)))
        found.append((sum(hits), len(hits)))
    return found


def bert_score(said: Any, wanted: Any) -> float:
    """F of two texts' unit vectors of tokens, ``[tokens, d]`` with the marks of beginning and end, which are
    matched with and not counted (Zhang et al. 2020, section 3)."""
    alike = said @ wanted.T
    precision = float(np.mean([max(row) for row in alike[1:-1]]))
    recalled = float(np.mean([max(row) for row in alike.T[1:-1]]))
    return 2 * precision * recalled / (precision + recalled)


# --- action score


def action_score(
    actions: Sequence[str], said: str, rules: str, nlp: Any, encode: Callable[[str], Any]
) -> float:
    """Of one AD, before the rescaling (Shot-by-Shot, section 4.2, and its published code)."""
    texts, phrases = (_paper if rules == "paper" else _code)(said, nlp)
    if not texts and not phrases:
        return 0.0
    scores = []
    for action in actions:
        lemma = _first_lemma(nlp(action))
        similar = max(_cosine(encode(action), encode(text)) for text in [*texts, *(p for p, _ in phrases)])
        verbs = [
            _cosine(encode(action), encode(p)) * (lemma is not None and verb == lemma) for p, verb in phrases
        ]
        scores.append(0.8 * similar + 0.2 * max([*verbs, 0.0] if rules == "paper" else verbs, default=0.0))
    return sum(scores) / len(scores)


def _cosine(a: Any, b: Any) -> float:
    return float(np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b))


def _lemma(verb: Any) -> str:
    return " ".join([verb.lemma_, *(child.text for child in verb.children if child.dep_ == "prt")])


def _first_lemma(doc: Any) -> str | None:
    found = [lemma for token in doc if token.pos_ == "VERB" and (lemma := _lemma(token)) != "be"]
    return found[0] if found else None


def _paper(said: str, nlp: Any) -> tuple[list[str], list[tuple[str, str | None]]]:
    """Sentences; for each verb its subtree without what is coordinated with it."""
    texts: list[str] = []
    phrases: list[tuple[str, str | None]] = []
    for sentence in nlp(said).sents:
        doc = nlp(sentence.text.strip())
        texts.append(_stopped(doc.text))
        phrases += [(_stopped(_phrase(verb)), _lemma(verb)) for verb in doc if verb.pos_ == "VERB"]
    return [text for text in texts if text], phrases


def _phrase(verb: Any) -> str:
    joined = [child for child in verb.children if child.dep_ == "conj" or _next(verb, child)]
    apart = {token.i for child in joined for token in child.subtree}
    for child in joined:
        between = [c for c in verb.children if verb.i < c.i < child.i]
        apart |= {c.i for c in between if c.dep_ in ("cc", "preconj", "punct") or c.text == "then"}
    words: list[str] = []
    for token in verb.subtree:
        if token.i not in apart:
            words.append(token.text_with_ws)
            if token.i + 1 in apart:
                words.append(" ")
    return re.sub(r"\s+", " ", "".join(words))


def _next(verb: Any, child: Any) -> bool:
    """``hesitates, then turns``, whatever the parser calls it."""
    finite = child.tag_ in ("VBZ", "VBD", "VBP") and child.i > verb.i
    own_subject = any(c.dep_ in ("nsubj", "nsubjpass", "mark") for c in child.children)
    near = verb.doc[max(verb.i + 1, child.i - 3) : child.i]
    return finite and not own_subject and any(token.text == "then" for token in near)


def _stopped(text: str) -> str:
    bare = re.sub(r"^\W+|\W+$", "", text)
    return f"{bare}." if bare else ""


def _code(said: str, nlp: Any) -> tuple[list[str], list[tuple[str, str | None]]]:
    """The whole and its pieces; for each verb of a piece its subtree up to the first coordinated word."""
    pieces = [f"{piece.strip()}." for piece in re.split("[.;,]", said) if piece.strip()]
    phrases: list[tuple[str, str | None]] = []
    for piece in pieces:
        for words in _code_phrases(nlp(piece)):
            text = " ".join(words) + "."
            phrases.append((text, _first_lemma(nlp(text))))
    return [said, *pieces] if pieces else [], phrases


def _code_phrases(doc: Any) -> Iterator[list[str]]:
    for verb in doc:
        if verb.pos_ == "VERB":
            kept: list[Any] = []
            for token in verb.subtree:
                if token.dep_ == "conj" and token.head == verb:
                    break
                kept.append(token)
            if kept and kept[-1].dep_ in ("cc", "punct"):
                kept.pop()
            yield [token.text for token in kept]
