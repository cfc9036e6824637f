"""``--profile``: where a command's time went."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import click

from shotad.core import FILE, Recording, lines, profiled

if TYPE_CHECKING:
    from shotad.core import WorkFolder


def profile_option(function: Any) -> Any:
    """Add ``--profile``, as ``timed``."""
    text = f"Tell where the time went; a trace goes to {FILE} in the work folder."
    return click.option("--profile", "timed", is_flag=True, help=text)(function)


def timed(folder: WorkFolder, *, on: bool) -> AbstractContextManager[Recording | None]:
    """Record the block, if it is wanted, and keep the trace in the work folder however the block ends."""
    return profiled(folder.write_text if on else None)


def told(recorded: Recording | None, folder: WorkFolder, found: dict[str, Any]) -> list[str]:
    """Where the time went: in lines, and as ``profile`` of ``found``; nothing where it was not recorded."""
    if recorded is None:
        return []
    table, file = recorded.table(), folder.path / FILE
    found["profile"] = {**table.as_json(), "trace": str(file)}
    return [*lines(table), f"Trace: {file} (ui.perfetto.dev opens it, and so does chrome://tracing)"]
