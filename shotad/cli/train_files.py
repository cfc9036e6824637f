"""``shotad train convert`` and ``shotad train pairs``: files for training, and from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from shotad.cli.options import PATH, Console, console_options, track_folder
from shotad.core.files import write_text


@click.command(name="convert")
@click.argument("checkpoint", metavar="CHECKPOINT", type=PATH)
@click.argument("out", metavar="OUT", type=PATH)
@click.option(
    "--backbone",
    default="dinov2-base",
    show_default=True,
    metavar="NAME|FOLDER",
    help="DINOv2 model that the checkpoint was trained from.",
)
@console_options
def convert_command(console: Console, checkpoint: Path, out: Path, backbone: str) -> None:
    """Convert the checkpoint published with Shot-by-Shot.

    CHECKPOINT holds the last six blocks of DINOv2 and the head; OUT becomes a whole network, in safetensors.
    Use it with shotad describe --set scale.checkpoint=OUT.
    """
    from shotad.core.model_loading import require_module

    for module in ("torch", "transformers"):
        require_module(module, "shotad train convert", "train")
    from shotad.grammar.published_checkpoint import convert_checkpoint

    blocks = convert_checkpoint(checkpoint, out, backbone)
    text = f"{out}: blocks {blocks[0]} to {blocks[-1]} and the head from {checkpoint}."
    console.result(text, {"checkpoint": str(out), "blocks": blocks})


@click.command(name="pairs")
@click.argument("films", nargs=-1, required=True, metavar="FILM...", type=PATH)
@click.option("--out", type=PATH, default=Path("pairs.jsonl"), show_default=True, help="File to write.")
@console_options
def pairs_command(console: Console, films: tuple[Path, ...], out: Path) -> None:
    """Write lines that you rewrote as pairs for training.

    FILM is a film that was described, or its work folder. The file gets a JSON object for each accepted line
    whose words you changed: what the model was asked, your line and its line, as TRL's trainers read them.
    """
    from shotad.description.preference_pairs import preference_pairs

    pairs: list[dict[str, Any]] = []
    for film in films:
        pairs += preference_pairs(track_folder(film))
    write_text(out, "".join(f"{json.dumps(pair, ensure_ascii=False)}\n" for pair in pairs))
    console.result(f"{len(pairs)} pairs: {out}", {"pairs": len(pairs), "file": str(out)})
