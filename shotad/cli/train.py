"""``shotad train scale``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from shotad.cli.options import PATH, Console, console_options, settings_options
from shotad.cli.train_files import convert_command, pairs_command

RECIPE = "train-scale"
"""The config that is taken where none is named."""


@click.group(name="train")
def command() -> None:
    """Train the classifier of shot scale, and convert files for training."""


command.add_command(convert_command)
command.add_command(pairs_command)


@command.command()
@click.option(
    "--data",
    type=PATH,
    required=True,
    help="MovieShots as MovieNet publishes it, or one folder of pictures per scale.",
)
@settings_options
@click.option(
    "--out",
    type=PATH,
    default=Path("scale-training"),
    show_default=True,
    help="Folder for checkpoints, logs and the report.",
)
@click.option("--backbone", metavar="NAME|FOLDER", help="DINOv2 model to start from, such as dinov2-base.")
@click.option("--resume", is_flag=True, help="Continue the training in the folder.")
@click.option(
    "--evaluate",
    "checkpoint",
    type=PATH,
    metavar="CHECKPOINT",
    help="Train nothing: score this checkpoint on the test split.",
)
@console_options
def scale(
    console: Console, data: Path, out: Path, resume: bool, checkpoint: Path | None, **options: Any
) -> None:
    """Train on shots with labels of their scale.

    Use the best checkpoint with shotad describe --set scale.checkpoint=OUT/best.safetensors.
    Several GPUs: torchrun --standalone --nproc-per-node 8 -m shotad.cli.main train scale …
    """
    from shotad.core.model_loading import require_module

    for module in ("torch", "transformers", "accelerate"):
        require_module(module, "shotad train", "train")
    from shotad.core.errors import UsageError
    from shotad.core.settings import load_settings
    from shotad.grammar import (
        ScaleTraining,
        end_process,
        evaluate_scale,
        published_comparison,
        scores_by_class,
        train_scale,
    )

    files, backbone = options["config"] or [RECIPE], options["backbone"]
    settings = load_settings(ScaleTraining, files, options["assignments"], net__backbone=backbone)
    if checkpoint is None:
        try:
            result = train_scale(data, out, settings, resume=resume, progress=console)
        except KeyboardInterrupt:
            # Unlike other commands, the same one alone is refused: it would begin a second training there.
            stopped = "Stopped. What is done is kept; run the same command with --resume to continue."
            click.echo(stopped, err=True)
            raise click.exceptions.Exit(130) from None
        last_line = f"Best epoch: {result.epoch}. Use it: --set scale.checkpoint={result.checkpoint}"
    else:
        if resume or backbone:
            raise UsageError("--evaluate goes with neither --resume nor --backbone.", "Leave one out.")
        result = evaluate_scale(data, checkpoint, out, settings, progress=console)
        last_line = f"Report: {out / 'report.json'}"
    if int(os.environ.get("RANK", "0")) == 0:
        comparison = published_comparison(result.test, result.differences)
        text = "\n\n".join([scores_by_class(result.test), comparison, last_line])
        console.result(text, {"checkpoint": str(result.checkpoint), **result.record})
    end_process()
