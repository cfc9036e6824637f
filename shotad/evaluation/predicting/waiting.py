"""Stage I first: where a machine cannot hold the models of both stages at once, they are loaded in turn, and
a turn should be longer than one clip."""

from __future__ import annotations

from collections.abc import Sequence

from shotad.core import Engine, Identity, Reply, Request
from shotad.description import Engines
from shotad.engines import LocalModel

AHEAD = 32
"""Clips of a turn: of some 400 ADs, beside whose work the loading of two models is little."""

_LATER = Reply("", "error", error="not asked yet")


def ahead_of(engines: Engines) -> int:
    """How many clips Stage I had best look at before Stage II writes: several where both stages have a model
    of their own on this machine, which may not hold both at once."""
    both = (engines.looks, engines.writes)
    local = all(isinstance(engine, LocalModel) for engine in both)
    return AHEAD if local and both[0].identity.model != both[1].identity.model else 1


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
