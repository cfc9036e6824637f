"""``shotad evaluate …``: how good the parts are, measured against what people say.

Each kind of evaluation is a command of its own, imported when it runs: one line in `_KINDS`.
"""

from __future__ import annotations

import click

from shotad.cli.lazy import LazyGroup

_KINDS = {
    "ad": ("shotad.cli.evaluate_ad", "Predicted ADs, against those of people."),
    "actions": (
        "shotad.cli.evaluate_actions",
        "Make the actions of human ADs, for the action score.",
    ),
    "agreement": ("shotad.cli.evaluate_agreement", "A metric, against scores that people gave."),
    "assisted": ("shotad.cli.evaluate_assisted", "Several candidates for each AD, with an expert's choice."),
    "compare": ("shotad.cli.evaluate_compare", "Two reports, film by film: is one better?"),
    "inter-rater": ("shotad.cli.evaluate_interrater", "Two human ADs of one film, against each other."),
    "merge": ("shotad.cli.evaluate_merge", "Reports of shards, made one."),
    "threads": ("shotad.cli.evaluate_threads", "Threads of shots, against clusters that people made."),
}


@click.group(name="evaluate", cls=LazyGroup, table=_KINDS)
def command() -> None:
    """Measure AD and the parts that make it, against what people made."""
