"""Judges made for tests: engines that answer by rule, and a bench with one of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from shotad.core import Abilities, Config, Identity, Interval, Reply, Request, load_config
from shotad.evaluation import Corpus, Item, MetricContext, Store

HERE = "tests.evaluation.judges.judging"
WORDS = f"{HERE}:WordJudge"


def quotes(request: Request, *labels: str) -> list[str]:
    """What stands in quotes after each label, the last time that it does."""
    text = request.messages[1].text
    quoted = [re.findall(rf'^{label}: ("(?:[^"\\]|\\.)*")$', text, re.MULTILINE)[-1] for label in labels]
    return [json.loads(text_in_quotes) for text_in_quotes in quoted]


def quoted_after(label: str, text: str) -> str:
    """What stands in quotes after a label; empty where it does not."""
    match = re.search(rf'^{label}: ("(?:[^"\\]|\\.)*")', text, re.MULTILINE)
    return str(json.loads(match[1])) if match else ""


def keys_of(request: Request) -> list[str]:
    """What an answer is to have."""
    assert request.schema is not None
    return list(request.schema["properties"])


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower())) - {"a", "an", "the", "he", "she", "they", "it", "of"}


class ScriptedEngine:
    """Answers by `answer`; ``asked`` are the requests of all engines of this class, in order."""

    asked: ClassVar[list[Request]]
    identity = Identity("scripted", "script", "1")
    abilities = Abilities(batch=4)

    def __init_subclass__(cls) -> None:
        cls.asked = []

    def __init__(self, config: Config) -> None:
        self.config = config

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        self.asked.extend(requests)
        return [self.reply(request) for request in requests]

    def reply(self, request: Request) -> Reply:
        return Reply(self.answer(request))

    def answer(self, request: Request) -> str:
        raise NotImplementedError


class WordJudge(ScriptedEngine):
    """Judges by words in common: a stand-in with the manners of a good judge, and none of its wits."""

    def answer(self, request: Request) -> str:
        kinds = {"score": self._ad, "reason": self._action}
        return json.dumps(kinds.get(keys_of(request)[0], self._story)(request))

    def _ad(self, request: Request) -> dict[str, Any]:
        person, system = map(words_of, quotes(request, "The person's line", "The system's line"))
        lowest = request.schema["properties"]["score"]["minimum"]  # type: ignore[index]
        share = len(person & system) / len(person | system) if person | system else 1.0
        return {"score": max(lowest, round(5 * share))}

    def _action(self, request: Request) -> dict[str, Any]:
        if "conveyed" in keys_of(request):
            (event,) = map(words_of, quotes(request, "The event"))
            words = set().union(*map(words_of, lines_of(request)))
            share = len(event & words) / len(event)
            verdict = "yes" if share == 1 else "partly" if share >= 0.5 else "no"
            return {"reason": "By the words.", "conveyed": verdict}
        action, description = map(words_of, quotes(request, "Action", "Description"))
        score = round(3 * len(action & description) / len(action))
        return {"reason": f"{score} of 3.", "score": score}

    def _story(self, request: Request) -> dict[str, Any]:
        return {"events": list(dict.fromkeys(lines_of(request)))}


def lines_of(request: Request) -> list[str]:
    """The numbered lines of a question."""
    quoted = re.findall(r'^\d+\. ("(?:[^"\\]|\\.)*")$', request.messages[1].text, re.MULTILINE)
    return [json.loads(line) for line in quoted]


def said_by(*answers: str | Reply | Callable[[Request], str | Reply]) -> type[ScriptedEngine]:
    """A class of engines that give these answers in turn, the last for ever."""

    class Said(ScriptedEngine):
        abilities = Abilities(batch=1)

        def reply(self, request: Request) -> Reply:
            answer = answers[min(len(self.asked), len(answers)) - 1]
            answer = answer(request) if callable(answer) else answer
            return Reply(answer) if isinstance(answer, str) else answer

    return Said


def named(engine: type[ScriptedEngine], name: str = "Anybody") -> str:
    """The name of a class of engines, as a judge; a later class of that name takes its place."""
    globals()[name] = engine
    return f"{HERE}:{name}"


def bench_of(*assignments: str, store: Store | None = None) -> MetricContext:
    """A bench with these settings, and a store in memory."""
    return MetricContext(load_config(None, assignments), store or Store())


def item(
    name: str, human: str, predicted: str | None, *, film: str = "f", start: float = 0.0, **rest: Any
) -> Item:
    return Item(name, film, Interval(start, start + 1.0), (human,), predicted, **rest)


def corpus_of(*items: Item) -> Corpus:
    return Corpus(tuple(items))
