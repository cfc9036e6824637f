"""What the commands share that measure predictions: options and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from shotad.evaluation import Inputs

Command = Callable[..., Any]

_OPTIONS = (
    click.option(
        "--judge",
        multiple=True,
        metavar="ENGINE[:MODEL]",
        help="An engine that judges, such as openai:gpt-4o; repeatable, all judge everything.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["zero", "skip"]),
        help="What has no prediction counts as 0 (the default), or is left out.",
    ),
    click.option("--system", metavar="NAME", default="", help="What the report calls the predictions."),
    click.option(
        "--cache", type=click.Path(path_type=Path), help="The file that keeps what is computed of texts."
    ),
    click.option("--force", is_flag=True, help="Compute everything again."),
)


unit_option = click.option(
    "--unit",
    type=click.Choice(["film", "ad"]),
    help="What intervals are over: films (default), or single ADs, which is too narrow for other films.",
)


def measuring_options(function: Command) -> Command:
    """Add ``--judge``, ``--missing``, ``--system``, ``--cache`` and ``--force``."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def given(options: Mapping[str, Any]) -> Inputs:
    """The human ADs, the predictions joined to them, and the settings that the options ask for."""
    from shotad.evaluation import read_inputs

    names = ("root", "annotation", "actions", "casts", "id_column", "text_column", "descriptions")
    return read_inputs(
        options["dataset"],
        options["predictions"],
        configs=options["config"],
        assignments=options["assignments"],
        missing=options["missing"],
        judges=options["judge"],
        system=options["system"],
        **{name: options[name] for name in names},
    )


def listed(text: str) -> list[str]:
    """``"cider, action" → ["cider", "action"]``."""
    return [name.strip() for name in text.split(",") if name.strip()]


def beside(predictions: Path, ending: str) -> Path:
    """The folder of a report beside the predictions: ``preds.jsonl → preds.eval``."""
    return predictions.with_name(f"{predictions.stem}.{ending}")
