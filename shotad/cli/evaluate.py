"""``shotad evaluate …``: how good the parts are, measured against what people say.

Each kind of evaluation is a command of its own, imported when it runs: one line in `_KINDS`.
"""

from __future__ import annotations

import click

from shotad.cli.lazy import LazyGroup

_KINDS = {
    "threads": ("shotad.cli.evaluate_threads", "Threads of shots, against clusters that people made."),
}


@click.group(name="evaluate", cls=LazyGroup, table=_KINDS)
def command() -> None:
    """Measure how good the parts are, against labels that people made."""
