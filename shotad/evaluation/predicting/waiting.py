"""Stage I first: where a machine cannot hold the models of both stages at once, they are loaded in turn, and
a turn should be longer than one clip."""

from __future__ import annotations

from collections.abc import Sequence

from shotad.engines.base import Engine, Identity, Reply, Request

_LATER = Reply("", "error", error="not asked yet")


class Later:
    """Stands in for the engine of Stage II while only Stage I is at work: it answers nothing, at once.

    What it leaves in a work folder are failed records, which the engine itself then replaces.
    """

    def __init__(self, engine: Engine) -> None:
        self.identity = Identity("later")
        self.abilities = engine.abilities

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """A failed reply for each request."""
        return [_LATER for _ in requests]
