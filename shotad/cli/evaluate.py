"""``shotad evaluate …``: how good the parts are, measured against what people say.

Each kind of evaluation is a command of its own, imported when it runs: one line in `_KINDS`.
"""

from __future__ import annotations

import importlib

import click

_KINDS = {
    "threads": ("shotad.cli.evaluate_threads", "Threads of shots, against clusters that people made."),
}


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_KINDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _KINDS:
            return None
        command: click.Command = importlib.import_module(_KINDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in sorted(_KINDS.items())])


@click.group(name="evaluate", cls=_Lazy)
def command() -> None:
    """Measure how good the parts are, against labels that people made."""
