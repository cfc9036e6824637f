"""``shotad evaluate threads DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.console import Console
from shotad.cli.options import console_options, settings_options
from shotad.core import Config, UsageError, load_config


@click.command(name="threads")
@click.argument("labels", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--films", type=click.Path(path_type=Path), help="Clips are relative to this folder.")
@click.option("--out", type=click.Path(path_type=Path), help="The folder for scores and figures.")
@click.option("--features", metavar="NAME", help="auto, grid, dinov2-small to dinov2-giant-registers, …")
@click.option("--frames", type=click.Choice(["side", "mid", "all"]), help="Which frames are compared.")
@click.option("--match", type=click.Choice(["patches", "whole"]), help="Patch by patch, or whole frames.")
@click.option("--threshold", type=float, metavar="X", help="Score above which two shots are joined.")
@click.option("--table", is_flag=True, help="All rows of the paper's Table 1: side, mid, all, whole.")
@click.option("--force", is_flag=True, help="Score every clip again.")
@settings_options
@console_options
def command(console: Console, **options: Any) -> None:
    """Measure how well threads are found in the clips that DIR has labels of.

    DIR holds JSON files, one for each clip or with a list of them: "clip" is the film's path relative to
    the file, "shots" are [start, end] in seconds, "clusters" are lists of shot numbers, from 0, that share
    a camera set-up. tools/thread_safe.py makes them of other annotations.

    Scores go to DIR.shotad beside DIR, or --out, clip by clip: the same command goes on where it stopped.
    Exit code 1 if a clip failed; failed clips count as nothing found.
    """
    from shotad.core import WorkFolder, work_folder_of
    from shotad.evaluation import evaluate_threads, feature_maker, read_thread_labels

    config = _settings(options)
    setups = _setups(options, config)
    folder: Path = options["labels"]
    out = options["out"] or work_folder_of(folder.resolve())
    labels = read_thread_labels(folder, outside=out, films=options["films"])
    if labels.ignored:
        console.note(f"No labels, left alone: {', '.join(labels.ignored)}")
    maker = feature_maker(config, console)
    with WorkFolder(out, force=options["force"]) as place:
        console.note(f"Results: {out}")
        evaluation = evaluate_threads(labels, setups, config, place, maker, console)
    console.result(evaluation.text, evaluation.record())
    if evaluation.failed:
        click.get_current_context().exit(1)


def _settings(options: dict[str, Any]) -> Config:
    return load_config(
        options["config"],
        options["assignments"],
        threads__features=options["features"],
        threads__frames=options["frames"],
        threads__match=options["match"],
        threads__threshold=options["threshold"],
    )


def _setups(options: dict[str, Any], config: Config) -> tuple[Any, ...]:
    from shotad.evaluation import TABLE, Setup

    if not options["table"]:
        return (Setup(config.threads.frames, config.threads.match),)
    if options["frames"] or options["match"]:
        raise UsageError("--table compares all frames and matches.", "Leave out --frames and --match.")
    return TABLE
