"""A group of commands that are imported when they run, so that help costs nothing."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from shotad.cli.local_path import taking_paths_of_here


class LazyGroup(click.Group):
    """``table``: name of each command → the module that holds it as ``command``, and one line about it."""

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._table:
            return None
        command: click.Command = importlib.import_module(self._table[cmd_name][0]).command
        return taking_paths_of_here(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in sorted(self._table.items())])
