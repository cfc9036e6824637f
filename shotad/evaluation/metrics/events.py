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

from shotad.core.weight_store import weights, weights_file
from shotad.evaluation.metric import Corpus, Floats, Item, Json, Metric, MetricFormula, Row
from shotad.evaluation.metrics.action import VERB, VectorTable, base_of
from shotad.evaluation.store import MetricContext, parser_of, vectors_of
from shotad.script.english_words import listed
from shotad.script.parsing import Parse

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
    """A verb with its particles (``sit down``), its participants but people (nouns with the nouns before
    them), and whether it is said not to happen. A subject that is a noun takes part where nothing else does:
    ``The door opens`` is as ``She opens the door``."""

    verb: str
    participants: tuple[str, ...] = ()
    denied: bool = False

    def __str__(self) -> str:
        return " ".join([*["not"] * self.denied, self.verb, *(f"[{one}]" for one in self.participants)])

    @property
    def embedded(self) -> str:
        """The verb as it is embedded: apart from a noun that is written the same."""
        return f"to {self.verb}"


class Events(Metric):
    """The mean over a human AD's events of what a prediction tells of them, then over ADs, 0 to 100.

    The human AD's events are those of its actions, where they are known. Each takes the predicted event that
    is nearest: ``0.6`` of the verbs' likeness and ``0.4`` of the participants', the verbs' alone where the
    human AD names none. A likeness is a cosine of words, from `_STRANGE` (0) to the same word (1); it is 0
    where one side denies the event. Of events told in another order each pair takes its share of a fifth
    away. ``event-verbs`` and ``event-participants`` are the two parts of the same matches. An AD without a
    verb is not scored.
    """

    columns = ("score", "ads")
    figure = MetricFormula("share", 100.0)

    def __init__(self, name: str, context: MetricContext) -> None:
        """Raises ShotadError where spaCy, its model or sentence-transformers is missing."""
        super().__init__(name, context)
        self.title = TITLES[name]
        self._parses, self._vectors = parser_of(context), vectors_of(context)
        self._verbs = context.once("verbs", lambda: _Verbs(weights_file(WORDNET, context.progress)))

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
            told = events.get(item.prediction or "", ())
            human = dict.fromkeys(event for text in _human(item) for event in events.get(text, ()))
            found = [_match(event, told, table, self._verbs) for event in human]
            parts = {
                "events": [score for score, *_ in found],
                "event-verbs": [verb for _, verb, *_ in found],
                "event-participants": [taking for *_, taking, _ in found if taking is not None],
            }[self.name]
            if not parts:
                unscored = {"unscored": "no such event is known"}
                yield Row(item.id, (0.0, 0.0), None, item.missing, unscored)
                continue
            score = sum(parts) / len(parts)
            if self.name == "events":
                # Pairs that are told by one event, or not at all, have no order.
                told_at = [place for *_, place in found if place is not None]
                pairs = [(one, other) for one, other in combinations(told_at, 2) if one != other]
                wrong = sum(first > second for first, second in pairs)
                score *= 1.0 - _ORDER * wrong / len(pairs) if pairs else 1.0
            notes = [
                {
                    "event": str(event),
                    "nearest": None if place is None else str(told[place]),
                    "verb": round(verb, 4),
                    "participants": None if taking is None else round(taking, 4),
                }
                for event, (_, verb, taking, place) in zip(human, found, strict=True)
            ]
            yield Row(item.id, (score, 1.0), 100.0 * score, item.missing, {"events": notes})


def _human(item: Item) -> list[str]:
    return [item.reference] if item.actions is None else list(item.actions)


def events_of(parse: Parse) -> Iterator[Event]:
    """The events of a text, in its order; a verb that only joins (``is``, ``has been``) is none."""
    for place, token in enumerate(parse.tokens):
        if token.pos != VERB:
            continue
        below = parse.children[place]
        near = [(parse.tokens[child], parse.tokens[child].text.lower()) for child in below]
        ways = [word for one, word in near if one.dep == "prt" or (one.dep == "advmod" and word in _WAYS)]
        verb = " ".join([base_of(token).lower(), *dict.fromkeys(ways)])
        if verb == "be":
            continue
        taking = [word for child in below for word in _participants(parse, child)]
        if not taking:
            subjects = [child for child in below if parse.tokens[child].dep == "nsubj"]
            taking = [word for child in subjects for word in _nouns(parse, child)]
        denied = any(one.dep == "neg" or word in _NOT for one, word in near)
        yield Event(verb, tuple(dict.fromkeys(taking)), denied)


def _participants(parse: Parse, place: int) -> Iterator[str]:
    """The nouns of what hangs on a verb here: an object, or that of a preposition."""
    token = parse.tokens[place]
    if token.dep in _OBJECTS:
        yield from _nouns(parse, place)
    elif token.dep in ("prep", "agent"):
        for child in parse.children[place]:
            yield from _participants(parse, child)


def _nouns(parse: Parse, place: int) -> Iterator[str]:
    """A noun with those that are one word with it (``coffee cup``), and what is joined to it; no people."""
    token = parse.tokens[place]
    if token.pos not in (*_PEOPLE, VERB):
        before = [child for child in parse.children[place] if parse.tokens[child].dep == "compound"]
        yield " ".join(parse.tokens[one].lemma.lower() for one in (*before, place))
    for child in parse.children[place]:
        if parse.tokens[child].dep == "conj":
            yield from _nouns(parse, child)


EventMatch = tuple[float, float, float | None, int | None]
"""What is told of a human AD's event, 0 to 1: all in all, the likeness of the verb, and that of participants
(None: it has none); and the place of the nearest predicted event, None where none is told."""


def _match(event: Event, told: Sequence[Event], table: VectorTable, verbs: _Verbs) -> EventMatch:
    """The best match of a human event among those told; the first of equals."""
    none = 0.0 if event.participants else None
    found: list[EventMatch] = []
    for place, other in enumerate(told):
        verb, taking = 0.0, none
        if event.denied == other.denied:
            near = float(_likeness(table.cosines([event.embedded], [other.embedded]))[0, 0])
            verb = max(near, verbs.likeness(event.verb, other.verb))
            if event.participants and other.participants:
                cosines = table.cosines(event.participants, other.participants)
                taking = float(_likeness(cosines).max(axis=1).mean())
        score = verb if taking is None else _VERB * verb + (1.0 - _VERB) * taking
        found.append((score, verb, taking, place))
    return max(found, key=lambda match: match[0], default=(0.0, 0.0, none, None))


class _Verbs:
    """The verbs of WordNet 3.1 by what they mean."""

    def __init__(self, path: Path) -> None:
        """``path`` is its file ``data.verb``: a line for each meaning, with its words and its pointers."""
        self._of: defaultdict[str, set[str]] = defaultdict(set)
        self._kinds: dict[str, set[str]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(" "):
                continue  # the licence
            number, _, _, count, *rest = line.split("|")[0].split()
            end = 2 * int(count, 16)
            pointers = rest[end + 1 : end + 1 + 4 * int(rest[end])]
            for word in rest[:end:2]:
                self._of[word.lower().replace("_", " ")].add(number)
            self._kinds[number] = {
                of
                for kind, of, part in zip(pointers, pointers[1:], pointers[2:], strict=False)
                if (kind, part) == ("@", "v")
            }

    def likeness(self, one: str, other: str) -> float:
        """`_SAME`, `_KIND` or 0; the best of all that the two can mean."""
        some, others = self._of.get(one, set()), self._of.get(other, set())
        if some & others:
            return _SAME
        above = {number for meaning in some for number in self._kinds[meaning]}
        below = {number for meaning in others for number in self._kinds[meaning]}
        return _KIND if above & others or below & some else 0.0


def _likeness(cosines: Floats) -> Floats:
    return np.clip((cosines - _STRANGE) / (1.0 - _STRANGE), 0.0, 1.0)
