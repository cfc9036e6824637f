"""A group of commands that are imported when they run, so that help costs nothing.

Where a path of this machine is wanted they refuse addresses, with what to do instead: ``Path`` would take one
of their slashes away, and a folder ``s3:`` would be made here.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from shotad.core.arguments import refuse_too_long
from shotad.core.errors import UsageError
from shotad.core.progress import address_without_secrets


class LazyGroup(click.Group):
    """``table``: name of each command → where it is, ``shotad.cli.cast:show``, and one line about it.

    Without a name it is ``command`` of the module. ``sections`` name commands that the help lists together.
    """

    def __init__(
        self,
        *args: Any,
        table: Mapping[str, tuple[str, str]],
        sections: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._table, self._sections = table, sections or {"Commands": " ".join(sorted(table))}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._table:
            return None
        module, _, name = self._table[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name or "command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, self._table[name][1]) for name in names.split()])


_WEB_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")


class HerePath(click.Path):
    """A path of this machine. Raises UsageError for an address, for an empty one (an unset variable), and for
    one that is longer than names can be."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if value == "":
            name = param.get_error_hint(ctx) if param is not None and ctx is not None else "A path"
            raise UsageError(f"{name} is empty.", "Name a file or a folder.")
        if isinstance(value, str) and _ADDRESS.match(value) and not os.path.exists(value):
            raise UsageError(
                f"{address_without_secrets(value)} is an address, and a path of this machine is wanted.",
                "Films at addresses are described by shotad describe and shotad batch; for all else bring "
                "the file or the work folder here, and back (docs/storage.md).",
            )
        if isinstance(value, str):
            refuse_too_long(Path(value))
        return super().convert(value, param, ctx)


class FilmPath(HerePath):
    """A film of this machine, or its web address, as text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, or the address."""
        if isinstance(value, str) and _WEB_ADDRESS.match(value):
            return value
        return super().convert(value, param, ctx)
