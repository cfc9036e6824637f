"""What the commands share that measure predictions: options, files, and what a report says of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.console import Console
from shotad.cli.datasets_options import dataset_of, joined_of, makers_of_actions
from shotad.config import Config, load_config

if TYPE_CHECKING:
    from shotad.evaluation.datasets.ads import Dataset
    from shotad.evaluation.measure.items import Corpus
    from shotad.evaluation.predictions.joining import Joined
    from shotad.evaluation.report.inputs import Protocol, ReportInput
    from shotad.evaluation.running import Measured

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


@dataclass(frozen=True, slots=True)
class Given:
    """What a command was given: the human ADs, the predictions joined to them, and the settings."""

    dataset: Dataset
    joined: Joined
    config: Config


def given(options: Mapping[str, Any]) -> Given:
    """Everything read, before anything is scored. The dataset's own settings are added to ``--config``."""
    dataset = dataset_of(options)
    own = [dataset.config] if dataset.config and dataset.config not in options["config"] else []
    config = load_config(
        [*options["config"], *own],
        options["assignments"],
        measures__missing=options["missing"],
        measures__judge__engines=options["judge"] or None,
    )
    return Given(dataset, joined_of(dataset, options), config)


def tell_findings(console: Console, files: Given) -> None:
    """What reading the files brought to light."""
    from shotad.evaluation.datasets.findings import NOTE

    told = [finding for finding in files.dataset.findings if finding.level != NOTE]
    for finding in (*told, *files.joined.findings):
        console.note(f"{finding.where}: {finding.what}")


def listed(text: str) -> list[str]:
    """``"cider, action" → ["cider", "action"]``."""
    return [name.strip() for name in text.split(",") if name.strip()]


def beside(predictions: Path, ending: str) -> Path:
    """The folder of a report beside the predictions: ``preds.jsonl → preds.eval``."""
    return predictions.with_name(f"{predictions.stem}.{ending}")


def report_input(
    files: Given,
    corpus: Corpus,
    measured: Measured,
    options: Mapping[str, Any],
    *,
    protocol: Protocol = "single",
    notes: tuple[str, ...] = (),
) -> ReportInput:
    """All that a report of these results speaks of; ``corpus`` has the lines that were measured."""
    from shotad.evaluation.report.inputs import Joined as Counts
    from shotad.evaluation.report.inputs import LeftOut, Predictions, ReportInput

    return ReportInput(
        corpus=corpus,
        results=measured.results,
        config=files.config,
        predictions=Predictions.of(*options["predictions"], system=options["system"]),
        joined=Counts(len(files.joined.extra), len(files.joined.doubled)),
        left_out=tuple(LeftOut(name, reason) for name, reason in measured.left_out),
        configs=tuple(options["config"]),
        assignments=tuple(options["assignments"]),
        title=files.dataset.title,
        films=files.dataset.films,
        protocol=protocol,
        notes=(*notes, *_notes(files, options["descriptions"])),
    )


def _notes(files: Given, descriptions: Path | None) -> Iterator[str]:
    """What else must be known of the files to trust the numbers. What is missing is counted elsewhere."""
    from shotad.evaluation.datasets.findings import MISSING, NOTE
    from shotad.evaluation.report.hashes import file_hash

    if descriptions is not None:
        yield f"Stage I's texts are those of {descriptions.name}, SHA-256 {file_hash(descriptions)}."
    makers = makers_of_actions(files.dataset)
    if makers:
        yield f"The actions of the human ADs are not the published ones: made by {'; '.join(makers)}."
    findings = [
        *(finding for finding in files.dataset.findings if finding.level != NOTE),
        *(finding for finding in files.joined.findings if finding.level != MISSING),
    ]
    yield from (f"{finding.where}: {finding.what}" for finding in findings)
