"""An engine whose answers a test gives, as settings name it: ``stage2.engine=tests.review.engines:Answering``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from shotad.core import Config, Reply, Request
from shotad.core.errors import EngineError
from shotad.engines.fake import FakeEngine, plain_answer
from tests.redo.redoing import fresh

Answer = Callable[[Request], str]

ANSWERS = "stage2.engine=tests.review.engines:Answering"
COUNTED = "stage2.engine=tests.review.engines:Counted"
BREAKS = "stage2.engine=tests.review.engines:Broken"
LOOKS_FAR_AWAY = "stage1.engine=tests.review.engines:FarAway"

_answer: Answer = fresh


@contextmanager
def answering(answer: Answer) -> Iterator[None]:
    """Within the block the engine writes what ``answer`` returns, and fails with what that raises."""
    global _answer  # noqa: PLW0603  engines are made by their name alone
    before, _answer = _answer, answer
    try:
        yield
    finally:
        _answer = before


class Answering(FakeEngine):
    """Writes lines as `answering` says, else new ones each time; looks as the fake engine does."""

    def __init__(self, settings: Config | None = None) -> None:
        super().__init__(settings, plain_answer)
        self.abilities = replace(self.abilities, converses=True)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        replies = []
        for request in requests:
            try:
                replies.append(Reply(_answer(request)))
            except (EngineError, LookupError):
                raise
            except Exception as error:  # noqa: BLE001  one failed item must not take the batch along
                replies.append(Reply("", "error", error=str(error)))
        return replies


class FarAway(FakeEngine):
    """Looks on another machine."""

    def __init__(self, settings: Config | None = None) -> None:
        super().__init__(settings)
        self.abilities = replace(self.abilities, sends_to="api.example.org")


class Broken(FakeEngine):
    """Cannot even be made, by a fault of its own."""

    def __init__(self, settings: Config | None = None) -> None:
        raise KeyError("no such key")


class Counted(FakeEngine):
    """Counts how often it was made."""

    made = 0

    def __init__(self, settings: Config | None = None) -> None:
        super().__init__(settings)
        type(self).made += 1
