"""``shotad models``: the weights that shotad uses, where they come from, and under which licences."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import Any

import click

from shotad.cli.options import Console, console_options
from shotad.core import ShotadError
from shotad.core.errors import WeightsError, did_you_mean
from shotad.core.model_loading import HubModel, cached_model_folder
from shotad.core.progress import size_text, terminal_text
from shotad.core.weight_store import Weights, manifest, weights_file, weights_state
from shotad.engines.local_model import MODELS as TALKERS
from shotad.grammar import MODELS as FEATURES

MODELS = {**FEATURES, **TALKERS}
"""Models of the hub that have names here."""


@click.group(name="models")
def models() -> None:
    """List, fetch and check the model weights that shotad uses."""


@models.command("list")
@console_options
def list_models(console: Console) -> None:
    """List the weights that shotad knows, and which of them are here."""
    records = [*map(_record, manifest().values()), *map(_hub_record, MODELS.values())]
    lines = [
        f"{row['name']:24} {row['state']:8} {row['bytes'] / 1e6:7.1f} MB  {row['licence']:11} {row['role']}"
        for row in records
    ]
    console.result("\n".join(lines), records)


@models.command()
@click.argument("names", nargs=-1)
@console_options
def pull(console: Console, names: tuple[str, ...]) -> None:
    """Fetch the weights of the embedded engine, or those that NAMES names."""
    wanted_names = names or tuple(name for name, entry in manifest().items() if not entry.by_name)
    known_names = [*manifest(), *MODELS]
    for name in wanted_names:
        if name not in known_names:
            hint = f"{did_you_mean(name, known_names)}Known: {', '.join(known_names)}."
            raise WeightsError(f"There are no weights called {name!r}.", hint, usage=True)
    troubles = []
    for name in wanted_names:
        try:
            hub = MODELS.get(name)
            path = hub.folder(progress=console) if hub else weights_file(name, console)
            console.note(f"{name}: {path}")
        except ShotadError as error:
            troubles.append(name)
            click.echo(terminal_text(f"Error: {error}"), err=True)
    console.result(f"{len(wanted_names) - len(troubles)} of {len(wanted_names)} here.", {"failed": troubles})
    if troubles:
        sys.exit(1)


@models.command()
@console_options
def verify(console: Console) -> None:
    """Check the hashes of the weights that are here. Exit code 1 if a file is damaged."""
    states = {entry.name: weights_state(entry) for entry in manifest().values()}
    console.result("\n".join(f"{name:24} {state}" for name, state in states.items()), states)
    if "damaged" in states.values():
        raise WeightsError(
            f"Damaged: {', '.join(name for name, state in states.items() if state == 'damaged')}.",
            "Run shotad models pull with these names.",
        )


@dataclass(frozen=True, slots=True)
class Licence:
    """What somebody must know who passes weights on, or uses what was made with them.

    ``sources`` are the addresses and packages that are tried, in order. ``came_from`` is the one that the
    file on this disk was taken from, empty where that is not known. ``path`` is empty where it is not here.
    """

    name: str
    role: str
    licence: str
    author: str
    sources: tuple[str, ...]
    bytes: int
    path: str
    came_from: str


def licences() -> list[Licence]:
    """The licences of all weights that have names here: those of the manifest, then those of the hub."""
    rows = [
        Licence(
            entry.name,
            entry.role,
            entry.licence,
            entry.credit,
            tuple(map(str, entry.sources)),
            entry.size,
            str(entry.path) if entry.is_here else "",
            entry.came_from,
        )
        for entry in manifest().values()
    ]
    for model in MODELS.values():
        address = f"https://huggingface.co/{model.repo}"
        folder = cached_model_folder(model.repo)
        place = str(folder or "")
        rows.append(
            Licence(
                model.name,
                model.role,
                model.licence,
                model.credit,
                (address,),
                model.bytes,
                place,
                address if place else "",
            )
        )
    return rows


@models.command("licences")
@click.option("--here", is_flag=True, help="Only the weights that are on this disk.")
@console_options
def list_licences(console: Console, here: bool) -> None:
    """List who made the weights, under which licence, and where each comes from."""
    rows = [row for row in licences() if row.path or not here]
    lines: list[str] = []
    for row in rows:
        state = "on this disk" if row.path else "not here"
        lines += [
            f"{row.name}: {row.licence}, {size_text(row.bytes)}, {state}",
            f"  for: {row.role}",
            f"  by: {row.author}",
        ]
        if row.came_from:
            lines.append(f"  came from: {row.came_from}")
        else:
            lines += [f"  from: {source}" for source in row.sources]
    console.result("\n".join(lines) or "No weights are on this disk.", [asdict(row) for row in rows])


def _record(entry: Weights) -> dict[str, Any]:
    return {
        "name": entry.name,
        "role": entry.role,
        "bytes": entry.size,
        "memory_mb": entry.memory_mb,
        "licence": entry.licence,
        "credit": entry.credit,
        "path": str(entry.path),
        "state": weights_state(entry),
    }


def _hub_record(model: HubModel) -> dict[str, Any]:
    folder = cached_model_folder(model.repo)
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
