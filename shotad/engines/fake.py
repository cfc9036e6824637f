"""An engine that thinks nothing up: it answers from the request alone, the same every time.

For tests, for trying out a pipeline, and as a pattern for an engine of your own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from shotad.core import Abilities, Config, Identity, Reply, Request, Usage

Answer = Callable[[Request], str]


class FakeEngine:
    """Answers with ``answer(request)``; an exception it raises becomes a failed reply.

    ``calls`` counts the requests. Without an ``answer`` of its own it repeats itself, and is not asked again.
    """

    def __init__(self, settings: Config | None = None, answer: Answer | None = None) -> None:
        self.identity = Identity("fake", "fake", "1")
        self.abilities = Abilities(accepts_images=True, converses=answer is not None)
        self.calls = 0
        self._answer = answer or plain_answer

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order."""
        replies = []
        for request in requests:
            self.calls += 1
            try:
                text = self._answer(request)
            except Exception as error:  # noqa: BLE001  one failed item must not take the batch along
                replies.append(Reply("", "error", error=f"{type(error).__name__}: {error}"))
            else:
                words_in = sum(len(message.text.split()) for message in request.messages)
                replies.append(Reply(text, usage=Usage(words_in, len(text.split()))))
        return replies


_VERBS = ("crosses", "enters", "leaves", "searches", "paints")


def plain_answer(request: Request) -> str:
    """A numbered description for a clip; JSON with one sentence (or five) where a schema asks for it."""
    if request.schema is None:
        shown = 0 if request.clip is None else len(request.clip)
        steps = re.findall(r"^[ \t]*(\d)\. ([^:\n]+):", request.messages[-1].text, re.MULTILINE)
        heads = list(dict.fromkeys(head.strip() for _, head in steps)) or ["Actions"]
        body = f"Somebody crosses a room in slot {request.slot_id}, seen in {shown} frames."
        return "Description:\n" + "\n".join(f"{i}. {head}: {body}" for i, head in enumerate(heads, 1))
    names = list(request.schema.get("properties", {}))
    moment = int(request.slot_id.lstrip("s") or 0) // 1000 if request.slot_id.lstrip("s").isdigit() else 0
    lines = [f"Somebody {verb} a room after {moment} seconds".split() for verb in _VERBS]
    budget = request.budget or len(lines[0])
    return json.dumps({name: " ".join(line[:budget]) + "." for name, line in zip(names, lines, strict=False)})
