"""``shotad models list | pull | verify``."""

from __future__ import annotations

import sys
from typing import Any

import click

from shotad.cli.options import Console, console_options
from shotad.core import (
    HubModel,
    ShotadError,
    Weights,
    WeightsError,
    cached,
    did_you_mean,
    manifest,
    on_terminal,
    state,
    weights_file,
)
from shotad.engines import MODELS as TALKERS
from shotad.grammar import MODELS as FEATURES

MODELS = {**FEATURES, **TALKERS}
"""Models of the hub that have names here."""


@click.group(name="models")
def command() -> None:
    """List, fetch and check the model weights that shotad uses."""


@command.command("list")
@console_options
def list_models(console: Console) -> None:
    """List the weights that shotad knows, and which of them are here."""
    records = [*map(_record, manifest().values()), *map(_hub_record, MODELS.values())]
    lines = [
        f"{row['name']:24} {row['state']:8} {row['bytes'] / 1e6:7.1f} MB  {row['licence']:11} {row['role']}"
        for row in records
    ]
    console.result("\n".join(lines), records)


@command.command()
@click.argument("names", nargs=-1)
@console_options
def pull(console: Console, names: tuple[str, ...]) -> None:
    """Fetch the weights of the embedded engine, or those that NAMES names."""
    wanted = names or tuple(name for name, entry in manifest().items() if not entry.by_name)
    for name in wanted:
        known = [*manifest(), *MODELS]
        if name not in known:
            meant = did_you_mean(name, known)
            raise WeightsError(
                f"There are no weights called {name!r}.", f"{meant}Known: {', '.join(known)}.", usage=True
            )
    troubles = []
    for name in wanted:
        try:
            hub = MODELS.get(name)
            path = hub.folder(progress=console) if hub else weights_file(name, console)
            console.note(f"{name}: {path}")
        except ShotadError as error:
            troubles.append(name)
            click.echo(on_terminal(f"Error: {error}"), err=True)
    console.result(f"{len(wanted) - len(troubles)} of {len(wanted)} here.", {"failed": troubles})
    if troubles:
        sys.exit(1)


@command.command()
@console_options
def verify(console: Console) -> None:
    """Check the hashes of the weights that are here. Exit code 1 if a file is damaged."""
    found = {entry.name: state(entry) for entry in manifest().values()}
    console.result("\n".join(f"{name:24} {what}" for name, what in found.items()), found)
    if "damaged" in found.values():
        raise WeightsError(
            f"Damaged: {', '.join(n for n, what in found.items() if what == 'damaged')}.",
            "Run shotad models pull with these names.",
        )


_TOLD = ("name", "role", "bytes", "memory_mb", "licence", "credit")


def _hub_record(model: HubModel) -> dict[str, Any]:
    folder = cached(model.repo)
    return {
        "name": model.name,
        "role": model.role,
        "bytes": model.bytes,
        "memory_mb": round(2 * model.bytes / 1e6),
        "licence": model.licence,
        "credit": f"{model.credit} ({model.repo})",
        "path": str(folder or ""),
        "state": "present" if folder else "missing",
    }


def _record(entry: Weights) -> dict[str, Any]:
    told = {name: getattr(entry, name) for name in _TOLD}
    told["bytes"] = sum(part.bytes for part in entry.files)
    return {**told, "path": str(entry.path), "state": state(entry)}
