"""Resolvers by name."""

from __future__ import annotations

import difflib
import importlib

from shotad.core.errors import EvaluationError
from shotad.evaluation.critic.document import Resolver
from shotad.evaluation.measure.bench import Bench

RESOLVERS = {
    "plain": "shotad.evaluation.critic.plain:PlainResolver",
    "fastcoref": "shotad.evaluation.critic.coref:FastCoref",
    "lingmess": "shotad.evaluation.critic.coref:LingMess",
}
"""Name → ``module:Class``; imported when it is asked for, and made with the `Bench`."""


def make_resolver(name: str, bench: Bench) -> Resolver:
    """The resolver ``name``, or of a class that is written out as ``module:Class``.

    Raises EvaluationError for one that is unknown, or that cannot run here.
    """
    where = RESOLVERS.get(name, name)
    module, colon, attribute = where.partition(":")
    if not colon:
        near = difflib.get_close_matches(name, RESOLVERS, 1)
        meant = f"Did you mean {near[0]}? " if near else ""
        raise EvaluationError(
            f"There is no resolver {name!r} for CRITIC.",
            f"{meant}Known: {', '.join(RESOLVERS)}, or a class of your own as module:Class.",
        )
    try:
        made: Resolver = getattr(importlib.import_module(module), attribute)(bench)
    except (ImportError, AttributeError) as error:
        raise EvaluationError(
            f"The resolver {where} of CRITIC cannot be loaded: {error}.",
            "Name a class that can be imported, as module:Class.",
        ) from None
    return made
