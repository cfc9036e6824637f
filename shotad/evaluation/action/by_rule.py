"""Human actions by rule, where no engine makes them: characters out, then one verb to a sentence.

The published actions come from LLaMA3.1-70B in the same two steps. Rules know no films and no gender of most
names, and split by grammar alone: how near they come is measured in ``benchmarks/actions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from shotad.evaluation.action.removing import without_characters
from shotad.evaluation.action.splitting import single_actions
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.texts import parser_of

NAME = "rules"
"""What these actions are called in records."""


def actions_by_rule(texts: Sequence[str], bench: Bench) -> list[tuple[str, ...]]:
    """For each human AD its actions, without characters and with one verb each; none for an empty text.

    Raises ShotadError without spaCy or its model.
    """
    parses = parser_of(bench)
    whole = parses.of(texts)
    plain = {text: without_characters(parse) for text, parse in whole.items()}
    again = parses.of(plain.values())
    return [single_actions(again[plain[text]]) for text in texts]
