"""``shotad screenplay FILM|WORKFOLDER``."""

from __future__ import annotations

from pathlib import Path

import click

from shotad.cli.options import PATH, Console, console_options, track_file
from shotad.core import write_text


@click.command(name="screenplay")
@click.argument("path", metavar="FILM|WORKFOLDER", type=PATH)
@click.option("--subtitles", type=PATH, help="The film's subtitles (default: those of the run).")
@click.option(
    "--format",
    "form",
    type=click.Choice(["fountain", "json", "text"]),
    help="Format (default: that of the file's name, else fountain).",
)
@click.option("-o", "--out", type=PATH, metavar="FILE", help="File to write (default: print it).")
@console_options
def command(console: Console, path: Path, subtitles: Path | None, form: str | None, out: Path | None) -> None:
    """Write a described film as a screenplay: its AD as actions, its subtitles as dialogue.

    Scenes end where a pause in the dialogue meets a cut that no thread of shots joins; shots, threads and
    people come from the work folder as far as they are there. JSON keeps the time of each line and the id of
    its cue; Fountain, which screenwriting programs read, has no place for them.
    """
    from shotad.evaluation import (
        FilmSigns,
        described_elements,
        make_screenplay,
        recorded_speech,
        said_elements,
        write_screenplay,
    )
    from shotad.film import read_subtitles
    from shotad.script import load_track

    file = track_file(path)
    track = load_track(file)
    said = read_subtitles(subtitles) if subtitles else recorded_speech(file.parent)
    dialogue = said_elements(said)
    if not dialogue:
        console.note("No dialogue: the run had no subtitles. Name them by --subtitles.")
    signs = FilmSigns.of(file.parent)
    play = make_screenplay(
        described_elements(track), dialogue, signs, Path(track.film.name).stem, track.language
    )
    name = form or {".json": "json", ".txt": "text"}.get(out.suffix if out else "", "fountain")
    text = write_screenplay(play, name)
    value = {
        "scenes": len(play.scenes),
        "actions": len(track.heard),
        "dialogue": len(dialogue),
        "file": None if out is None else str(out),
    }
    if out is not None:
        write_text(out, text)
        counts = (
            f"{value['scenes']} scenes, {value['actions']} actions, {value['dialogue']} lines of dialogue"
        )
        console.result(f"{out}: {counts}.", value)
    else:
        console.result(text.rstrip("\n"), {**value, "screenplay": text})
