"""``shotad models list | pull | verify``."""

from __future__ import annotations

import sys

import click

from shotad.cli.console import Console
from shotad.cli.options import console_options
from shotad.errors import WeightsError
from shotad.weights import Weights, manifest, state, weights, weights_file


@click.group(name="models")
def command() -> None:
    """List, fetch and check the model weights that shotad uses."""


@command.command("list")
@console_options
def list_models(console: Console) -> None:
    """What the manifest names, and what of it is here."""
    rows = [(entry, state(entry)) for entry in manifest().values()]
    lines = [
        f"{entry.name:24} {found:8} {entry.bytes / 1e6:6.1f} MB  {entry.licence:11} {entry.role}"
        for entry, found in rows
    ]
    console.result("\n".join(lines), [{**_record(entry), "state": found} for entry, found in rows])


@command.command()
@click.argument("names", nargs=-1)
@console_options
def pull(console: Console, names: tuple[str, ...]) -> None:
    """Fetch weights by NAMES, or all of them."""
    entries = [weights(name) for name in names] or list(manifest().values())
    troubles = []
    for entry in entries:
        try:
            path = weights_file(entry.name, console)
            console.note(f"{entry.name}: {path}")
        except WeightsError as error:
            troubles.append(entry.name)
            click.echo(f"Error: {error}", err=True)
    console.result(f"{len(entries) - len(troubles)} of {len(entries)} here.", {"failed": troubles})
    if troubles:
        sys.exit(1)


@command.command()
@console_options
def verify(console: Console) -> None:
    """Check the hash of every file that is here. Exit code 1 if one is damaged."""
    found = {entry.name: state(entry) for entry in manifest().values()}
    console.result("\n".join(f"{name:24} {what}" for name, what in found.items()), found)
    if "damaged" in found.values():
        raise WeightsError(
            f"Damaged: {', '.join(n for n, what in found.items() if what == 'damaged')}.",
            "Run shotad models pull with these names.",
        )


def _record(entry: Weights) -> dict[str, str | int]:
    return {
        "name": entry.name,
        "role": entry.role,
        "bytes": entry.bytes,
        "memory_mb": entry.memory_mb,
        "licence": entry.licence,
        "credit": entry.credit,
        "path": str(entry.path),
    }
