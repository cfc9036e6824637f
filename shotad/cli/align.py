"""``shotad align FILM AUDIO``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.options import PATH, Console, console_options, settings_options


@click.command(name="align")
@click.argument("film", type=PATH)
@click.argument("audio", type=PATH)
@click.option("--out", type=PATH, help="Output folder (default: FILM.shotad next to the film).")
@click.option("--plot", "plot_file", metavar="FILE.png", type=PATH, help="Draw the fit as a picture.")
@click.option("--audio-track", type=int, metavar="N", help="The film's audio track, counted from 0.")
@settings_options
@click.option("--force", is_flag=True, help="Fit the recording again.")
@console_options
def command(console: Console, film: Path, audio: Path, plot_file: Path | None, **options: Any) -> None:
    """Fit AUDIO, a described recording of FILM, to the film.

    AUDIO holds the film's sound with a narrator, such as a recording of a broadcast or of another edition. It
    may begin elsewhere, run faster or slower, lack scenes or have others. Both are compared by their sound.
    It prints which part of the recording belongs to which part of the film. A piece that is less than half
    sure has to be checked by ear.
    """
    from shotad.cli.interface import align
    from shotad.core import load_config
    from shotad.core.errors import UsageError
    from shotad.core.files import replace_file
    from shotad.sound.alignment import alignment_json, alignment_picture, alignment_text

    if plot_file is not None and plot_file.suffix.lower() != ".png":
        raise UsageError(f"--plot {plot_file}: the picture is a PNG.", "Write --plot fit.png")
    config = load_config(options["config"], options["assignments"], film__audio_track=options["audio_track"])
    alignment = align(
        film, audio, config=config, out=options["out"], force=options["force"], progress=console
    )
    if plot_file is not None:
        picture = alignment_picture(alignment, film.name, audio.name)
        with replace_file(plot_file) as part:
            part.write_bytes(picture)
        console.note(f"Picture: {plot_file}")
    console.result(alignment_text(alignment), alignment_json(alignment))
