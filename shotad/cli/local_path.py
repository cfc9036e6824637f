"""Addresses where a path of this machine is wanted: refused, with what to do instead.

``Path`` would take one of their slashes away, and a folder ``s3:`` would be made here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from shotad.core import UsageError, without_secrets

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")


def taking_paths_of_here(command: click.Command) -> click.Command:
    """``command``, which refuses addresses wherever it takes paths."""
    for param in command.params:
        if type(param.type) is click.Path:
            param.type = HerePath(param.type)
    return command


class HerePath(click.Path):
    """What ``plain`` takes, but for addresses. Raises UsageError for one."""

    def __init__(self, plain: click.Path) -> None:
        super().__init__()
        vars(self).update(vars(plain))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if isinstance(value, str) and _ADDRESS.match(value) and not Path(value).exists():
            raise UsageError(
                f"{without_secrets(value)} is an address, and a path of this machine is wanted.",
                "Films at addresses are described by shotad batch; for all else bring the file or the work "
                "folder here, and back (docs/storage.md).",
            )
        return super().convert(value, param, ctx)
