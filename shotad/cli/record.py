"""``shotad record FILM LINE FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.options import PATH, Console, console_options, track_folder
from shotad.core.errors import UsageError


@click.command(name="record")
@click.argument("path", metavar="FILM|WORKFOLDER", type=PATH)
@click.argument("line", metavar="[LINE]", required=False)
@click.argument("sound", metavar="[FILE]", type=PATH, required=False)
@click.option("--keep", is_flag=True, help="Use the line's recording although its text has changed.")
@click.option("--discard", is_flag=True, help="Let the voice speak the line again.")
@console_options
def command(
    console: Console, path: Path, line: str | None, sound: Path | None, keep: bool, discard: bool
) -> None:
    """Have a line heard in your own recording instead of the synthetic voice.

    LINE is an id (s00083120), a time (1:23), or the number of a line in the SRT script (12). FILE is WAV,
    FLAC, or what a browser records; silence around the voice is cut off. A render matches its level and
    lowers the film under it as for every line. Without LINE it lists the recordings.

    If the text changes later, the recording is not used until you record it again or give --keep.
    """
    from shotad.core import WorkFolder
    from shotad.core.files import read_file
    from shotad.script import load_track
    from shotad.script.cue import timecode
    from shotad.script.track_files import TRACK
    from shotad.sound.recordings import (
        COMMAND,
        change_line,
        kept_for_new_words,
        read_recording,
        record_line,
        with_recording,
    )

    place = track_folder(path)
    if line is None:
        rows = _rows(load_track(place / TRACK))
        lines = [
            f"{row['id']}  {timecode(row['start'])}  {row['seconds']:.1f} s, {row['state']}" for row in rows
        ]
        console.result("\n".join(lines) or "No line is recorded.", {"recordings": rows})
        return
    if (sound is not None) + keep + discard != 1:
        raise UsageError("Give a sound file, --keep or --discard.", "shotad record FILM 1:23 line.wav")
    warnings: tuple[str, ...] = ()
    with WorkFolder(place) as folder:
        if sound is not None:
            recorded = read_recording(read_file(sound, follow=True))
            warnings = recorded.warnings
            cue = record_line(folder, line, recorded)
            result = f"{cue.id} is heard in your recording of {recorded.seconds:.1f} s: {cue.text}"
        elif keep:
            cue = change_line(folder, line, lambda cue: kept_for_new_words(cue, COMMAND))
            result = f"{cue.id} is heard in its recording: {cue.text}"
        else:
            cue = change_line(folder, line, lambda cue: with_recording(cue, None, COMMAND))
            result = f"{cue.id} is spoken by the voice."
        folder.note(f"recording of {cue.id}: {'kept' if cue.stored_recording else 'discarded'}")
    text = "\n".join([result, *(f"Note: {warning}" for warning in warnings)])
    stored = cue.stored_recording
    seconds = None if stored is None else stored.seconds
    console.result(text, {"id": cue.id, "seconds": seconds, "warnings": list(warnings)})


def _rows(track: Any) -> list[dict[str, Any]]:
    """The recorded lines, with whether each recording is used."""
    rows: list[dict[str, Any]] = []
    for cue in track.cues:
        stored = cue.stored_recording
        if stored is not None:
            state = "used" if cue.recording is not None else "recorded for another text, not used"
            rows.append({"id": cue.id, "start": cue.start, "seconds": stored.seconds, "state": state})
    return rows
