"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from shotad.cli.console import Console, mode_of


def console_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--plain``, ``--json`` and ``--quiet``; the command gets a `Console` for them."""

    @click.option(
        "--plain", is_flag=True, help="Plain lines instead of bars."
    )
    @click.option(
        "--json", "as_json", is_flag=True, help="The result as JSON on standard output."
    )
    @click.option("--quiet", is_flag=True, help="Say nothing but errors.")
    @functools.wraps(function)
    def wrapped(*args: Any, plain: bool, as_json: bool, quiet: bool, **kwargs: Any) -> Any:
        console = Console(mode_of(plain=plain, as_json=as_json, quiet=quiet))
        return function(*args, console=console, **kwargs)

    return wrapped
