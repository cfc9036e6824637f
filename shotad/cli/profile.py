"""``--profile``: where a command's time went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import click

from shotad.profiling import Recording, profiled
from shotad.profiling.keeping import FILE
from shotad.profiling.report import lines

if TYPE_CHECKING:
    from shotad.workfolder import WorkFolder

PROFILES = ("source", "ebu-r128", "atsc-a85", "netflix", "web")
"""What a film's loudness can be brought to."""


def profile_option(function: Any) -> Any:
    """Add ``--profile``, as ``timed``."""
    text = f"Tell where the time went; a trace goes to {FILE} in the work folder."
    return click.option("--profile", "timed", is_flag=True, help=text)(function)


class Profiled(click.Command):
    """A command with `profile_option` beside the options of sound.

    ``shotad render`` calls the loudness that is aimed at a profile: ``--profile web`` is taken as
    ``--loudness web`` here too.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what was typed."""
        return super().parse_args(ctx, list(_meant(args)))


def _meant(args: Sequence[str]) -> Iterator[str]:
    for place, arg in enumerate(args):
        after = args[place + 1] if place + 1 < len(args) else ""
        if arg == "--profile" and after in PROFILES:
            yield "--loudness"
        elif arg.startswith("--profile="):
            yield arg.replace("--profile", "--loudness", 1)
        else:
            yield arg


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
