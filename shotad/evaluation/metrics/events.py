"""The event score: who does not matter, what is done and with what does.

The paper's action score compares whole sentences by their embeddings, where a wrong verb costs no more than a
wrong noun, a negation next to nothing, and a name as much as an act. Here both sides are taken apart into
events, a verb with its participants. People's names and pronouns are left out on both sides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from shotad.core.model_cache import ModelNeed
from shotad.core.weight_store import weights, weights_file
from shotad.evaluation.metric import Corpus, Floats, Item, Json, Metric, MetricFormula, Row
from shotad.evaluation.metrics.action import VERB, VectorTable, base_of
from shotad.evaluation.store import EMBEDDER, MetricContext, embedder_needs, parser_of, vectors_of
from shotad.script.english_words import listed
from shotad.script.parser import Parse

WORDNET = "wordnet-verbs"
TITLES = {
    "events": "Event score",
    "event-verbs": "Events: verbs",
    "event-participants": "Events: participants",
}
_VERSION = 1
"""Of the definition; a change makes all rows new."""
_VERB = 0.6
"""Weight of the verb beside that of its participants."""
_ORDER = 0.2
"""What is lost where all events are told in the opposite order."""
_STRANGE = 0.35
"""Cosine of two words that have nothing to do with each other, as 0; tuned on CMD-AD, judged on TV-AD
(`benchmarks/events.py`)."""
_SAME, _KIND = 0.95, 0.75
"""Likeness of two verbs that WordNet gives one meaning (``notice``, ``spot``), and of a verb and a way of
doing it (``walk``, ``stroll``); by their cosines they are hardly nearer than opposites."""
_WAYS = listed(
    "about ahead along apart around aside away back backward backwards by down downstairs forward forwards "
    "in inside off on out outside over past through together up upstairs upward upwards"
)
"""Adverbs that make another verb of one: ``turn away``."""
_NOT = listed("never neither nor not")
_OBJECTS = listed("attr dative dobj nsubjpass obj oprd pobj")
_PEOPLE = ("PRON", "PROPN")


@dataclass(frozen=True, slots=True)
class Event:
    """A verb with its particles (``sit down``), its participants other than people (nouns with the nouns
    before them), and whether the text denies it. A subject that is a noun is a participant where nothing else
    is: ``The door opens`` is as ``She opens the door``."""

    verb: str
    participants: tuple[str, ...] = ()
    denied: bool = False

    def __str__(self) -> str:
        participants = [f"[{participant}]" for participant in self.participants]
        return " ".join([*(["not"] if self.denied else []), self.verb, *participants])

    @property
    def embedded(self) -> str:
        """The text that is embedded for the verb: not that of a noun that is written the same."""
        return f"to {self.verb}"


class Events(Metric):
    """The mean over a human AD's events of how well a prediction matches them, then over ADs, 0 to 100.

    The human AD's events are those of its actions, where they are known. Each takes the predicted event that
    is nearest: ``0.6`` of the verbs' likeness and ``0.4`` of the participants', the verbs' alone where the
    human AD names none. A likeness is a cosine of words, from `_STRANGE` (0) to the same word (1); it is 0
    where one side denies the event. Of events told in another order each pair takes its share of a fifth
    away. ``event-verbs`` and ``event-participants`` are the two parts of the same matches. An AD without a
    verb is not scored.
    """

    columns = ("score", "ads")
    model = EMBEDDER
    figure = MetricFormula("share", 100.0)

    def __init__(self, name: str, context: MetricContext) -> None:
        """Raises ShotadError where spaCy, its model or sentence-transformers is missing."""
        super().__init__(name, context)
        self.title = TITLES[name]
        self._parses, self._vectors = parser_of(context), vectors_of(context)
        self._verbs = context.once("verbs", lambda: _Verbs(weights_file(WORDNET, context.progress)))

    @classmethod
    def needs(cls, name: str, context: MetricContext) -> tuple[ModelNeed, ...]:
        return embedder_needs(context)

    @property
    def identity(self) -> Json:
        models = {
            "embedding": self._vectors.identity,
            "parser": self._parses.identity,
            "verbs": weights(WORDNET).sha256,
        }
        return {"version": _VERSION, "part": self.name, **models}

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        items = [corpus.items[place] for place in places]
        return [{"text": item.prediction, "failure": item.missing, "actions": _human(item)} for item in items]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        items = [corpus.items[place] for place in places]
        parses = self._parses.of(
            text for item in items for text in (*_human(item), item.prediction or "") if text.strip()
        )
        events = {text: tuple(events_of(parse)) for text, parse in parses.items()}
        words = {event.embedded for row in events.values() for event in row}
        words |= {word for row in events.values() for event in row for word in event.participants}
        table = VectorTable(sorted(words), self._vectors.of(sorted(words)))
        for item in items:
            predicted = events.get(item.prediction or "", ())
            human: dict[Event, None] = {}
            for text in _human(item):
                human.update(dict.fromkeys(events.get(text, ())))
            matches = [_match(event, predicted, table, self._verbs) for event in human]
            scores = {
                "events": [score for score, *_ in matches],
                "event-verbs": [verb for _, verb, *_ in matches],
                "event-participants": [likeness for *_, likeness, _ in matches if likeness is not None],
            }[self.name]
            if not scores:
                unscored = {"unscored": "no such event is known"}
                yield Row(item.id, (0.0, 0.0), None, item.missing, unscored)
                continue
            score = sum(scores) / len(scores)
            if self.name == "events":
                score *= 1.0 - _order_penalty([place for *_, place in matches])
            notes = []
            for event, (_, verb, participants, place) in zip(human, matches, strict=True):
                notes.append(
                    {
                        "event": str(event),
                        "nearest": None if place is None else str(predicted[place]),
                        "verb": round(verb, 4),
                        "participants": None if participants is None else round(participants, 4),
                    }
                )
            yield Row(item.id, (score, 1.0), 100.0 * score, item.missing, {"events": notes})


def _order_penalty(places: Sequence[int | None]) -> float:
    """`_ORDER`, times the share of pairs of human events whose matches stand in the opposite order.

    ``places`` are those of the matches. Pairs that match one event, or none, have no order.
    """
    matched = [place for place in places if place is not None]
    pairs = [(first, second) for first, second in combinations(matched, 2) if first != second]
    wrong = sum(first > second for first, second in pairs)
    return _ORDER * wrong / len(pairs) if pairs else 0.0


def _human(item: Item) -> list[str]:
    """The texts whose events a prediction should have: the human AD's actions, else the human AD."""
    return [item.reference] if item.actions is None else list(item.actions)


def events_of(parse: Parse) -> Iterator[Event]:
    """The events of a text, in its order; a verb that only joins (``is``, ``has been``) is none."""
    for place, token in enumerate(parse.tokens):
        if token.pos != VERB:
            continue
        particles: list[str] = []
        participants: list[str] = []
        subjects: list[str] = []
        denied = False
        for child in parse.children[place]:
            child_token = parse.tokens[child]
            word = child_token.text.lower()
            if child_token.dep == "prt" or (child_token.dep == "advmod" and word in _WAYS):
                particles.append(word)
            if child_token.dep == "nsubj":
                subjects += _nouns(parse, child)
            participants += _participants(parse, child)
            denied = denied or child_token.dep == "neg" or word in _NOT
        verb = " ".join([base_of(token).lower(), *dict.fromkeys(particles)])
        if verb != "be":
            yield Event(verb, tuple(dict.fromkeys(participants or subjects)), denied)


def _participants(parse: Parse, place: int) -> Iterator[str]:
    """The nouns of a verb's child at ``place``: of an object, or of a preposition's object."""
    token = parse.tokens[place]
    if token.dep in _OBJECTS:
        yield from _nouns(parse, place)
    elif token.dep in ("prep", "agent"):
        for child in parse.children[place]:
            yield from _participants(parse, child)


def _nouns(parse: Parse, place: int) -> Iterator[str]:
    """A noun with the nouns of its compound (``coffee cup``), and nouns coordinated with it; no people."""
    token = parse.tokens[place]
    if token.pos not in (*_PEOPLE, VERB):
        compound = [child for child in parse.children[place] if parse.tokens[child].dep == "compound"]
        yield " ".join(parse.tokens[noun].lemma.lower() for noun in (*compound, place))
    for child in parse.children[place]:
        if parse.tokens[child].dep == "conj":
            yield from _nouns(parse, child)


EventMatch = tuple[float, float, float | None, int | None]
"""How well a human AD's event is matched, 0 to 1: in all, by the verb, and by the participants (None: it has
none); and the place of the nearest predicted event, None where there is none."""


def _match(event: Event, predicted: Sequence[Event], table: VectorTable, verbs: _Verbs) -> EventMatch:
    """The best match of a human event among the predicted ones; the first of equals."""
    no_participants = 0.0 if event.participants else None
    matches: list[EventMatch] = []
    for place, candidate in enumerate(predicted):
        verb, participants = 0.0, no_participants
        if event.denied == candidate.denied:
            by_vectors = float(_likeness(table.cosines([event.embedded], [candidate.embedded]))[0, 0])
            verb = max(by_vectors, verbs.likeness(event.verb, candidate.verb))
            if event.participants and candidate.participants:
                cosines = table.cosines(event.participants, candidate.participants)
                participants = float(_likeness(cosines).max(axis=1).mean())
        score = verb if participants is None else _VERB * verb + (1.0 - _VERB) * participants
        matches.append((score, verb, participants, place))
    return max(matches, key=lambda match: match[0], default=(0.0, 0.0, no_participants, None))


class _Verbs:
    """The verbs of WordNet 3.1 by meaning."""

    def __init__(self, path: Path) -> None:
        """``path`` is its file ``data.verb``: a line for each meaning, with its words and its pointers."""
        self._meanings: defaultdict[str, set[str]] = defaultdict(set)
        self._kinds: dict[str, set[str]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(" "):
                continue  # the licence
            number, _, _, count, *rest = line.split("|")[0].split()
            end = 2 * int(count, 16)
            pointers = rest[end + 1 : end + 1 + 4 * int(rest[end])]
            for word in rest[:end:2]:
                self._meanings[word.lower().replace("_", " ")].add(number)
            # A pointer is its sign, a meaning's number, the part of speech and words; ``@`` is hypernym.
            self._kinds[number] = {
                hypernym
                for sign, hypernym, part in zip(pointers, pointers[1:], pointers[2:], strict=False)
                if (sign, part) == ("@", "v")
            }

    def likeness(self, a: str, b: str) -> float:
        """`_SAME`, `_KIND` or 0: the best over all meanings of the two verbs."""
        meanings_a, meanings_b = self._meanings.get(a, set()), self._meanings.get(b, set())
        if meanings_a & meanings_b:
            return _SAME
        kinds_a = {kind for meaning in meanings_a for kind in self._kinds[meaning]}
        kinds_b = {kind for meaning in meanings_b for kind in self._kinds[meaning]}
        return _KIND if kinds_a & meanings_b or kinds_b & meanings_a else 0.0


def _likeness(cosines: Floats) -> Floats:
    """Cosines on the scale from `_STRANGE` (0) to 1."""
    return np.clip((cosines - _STRANGE) / (1.0 - _STRANGE), 0.0, 1.0)
