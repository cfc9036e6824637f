"""Engines that make actions by rote, and the texts they know."""

from __future__ import annotations

import json

from shotad.core import Abilities, Identity, Reply, Request
from tests.evaluation.judges.judging import ScriptedEngine, keys_of, quotes

MAKER = "tests.evaluation.making.makers:Rote"
NAMES = {"Ada": "She", "Bo": "he", "The guard": "He"}


def text_of(request: Request) -> str:
    """The text that a question is about."""
    (found,) = quotes(request, "Text")
    return found


def is_first(request: Request) -> bool:
    return "text" in keys_of(request)


class Rote(ScriptedEngine):
    """Puts pronouns for the names it knows, and splits at "and"."""

    identity = Identity("rote", "r1", "7")
    abilities = Abilities(batch=3)

    def reply(self, request: Request) -> Reply:
        text = text_of(request)
        if is_first(request):
            for name, pronoun in NAMES.items():
                text = text.replace(name, pronoun)
            return Reply(json.dumps({"text": text}))
        subject, *_ = text.split()
        parts = [part.strip(" .") for part in text.split(" and ")]
        actions = [f"{part}." if n == 0 else f"{subject} {part}." for n, part in enumerate(parts)]
        return Reply(json.dumps({"actions": actions}))


class Parrot(Rote):
    """Gives examples of the prompt back, as weak models do."""

    def reply(self, request: Request) -> Reply:
        if is_first(request) and "snow" in text_of(request):
            return super().reply(request)
        if is_first(request):
            return Reply('{"text": "She hands him a wrench."}')
        return Reply('{"actions": ["She kicks off her boots.", "She drops onto the bed.", "She groans."]}')
