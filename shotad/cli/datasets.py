"""``shotad datasets …``: the AD benchmarks. One line in `_KINDS` for each command."""

from __future__ import annotations

import click

from shotad.cli.lazy import LazyGroup

_KINDS = {
    "check": (
        "shotad.cli.datasets_check",
        "Say what is there of a dataset, what is missing, what is malformed.",
    ),
}


@click.group(name="datasets", cls=LazyGroup, table=_KINDS)
def command() -> None:
    """Look at the datasets that AD is measured on."""
