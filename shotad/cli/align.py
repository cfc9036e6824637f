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
@click.option(
    "--make",
    "makes",
    multiple=True,
    metavar="KIND[:ENDING]",
    help="Make film, mix, ad (the narrator alone) or script of it, as in ad:mp3; repeatable.",
)
@click.option("--language", metavar="CODE", help="Language of the narrator (default: that of the settings).")
@click.option(
    "--alone", is_flag=True, help="AUDIO is the narrator alone, as long as FILM; nothing is fitted."
)
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

    With --make it also makes of it: the film with AUDIO, fitted, as a track (film); its sound (mix); the
    narrator's voice without the film (ad); the narrator's words as lines of the track (script), which
    describe, translate, review and render then work on.

    Exit code 1 if the result breaks a rule that must hold.
    """
    from shotad.cli.interface import fit_recording, work_on
    from shotad.core import load_config
    from shotad.core.errors import UsageError
    from shotad.core.files import replace_file
    from shotad.film import open_sound
    from shotad.film.transcript import make_recogniser
    from shotad.sound.alignment import (
        Recording,
        alignment_json,
        alignment_picture,
        alignment_text,
        check_makes,
        make_from_alignment,
        recorded_track,
    )

    makes, alone = options["makes"], options["alone"]
    if plot_file is not None and plot_file.suffix.lower() != ".png":
        raise UsageError(f"--plot {plot_file}: the picture is a PNG.", "Write --plot fit.png")
    if plot_file is not None and not plot_file.parent.is_dir():
        raise UsageError(f"--plot {plot_file}: there is no folder {plot_file.parent}.", "Make it first.")
    if alone and not makes:
        raise UsageError("With --alone nothing is fitted, and nothing is made.", "Add --make mix, for one.")
    if alone and plot_file is not None:
        raise UsageError("With --alone nothing is fitted that --plot could draw.", "Leave one of them out.")
    config = load_config(
        options["config"],
        options["assignments"],
        film__audio_track=options["audio_track"],
        language=options["language"],
        transcript__language=options["language"],
    )
    # It may refuse the language, which matters only where words are written down.
    wants_script = "script" in [name.lower() for name in makes]
    recogniser = make_recogniser(config.transcript) if wants_script else None
    if makes:
        check_makes(makes, recogniser)
    alignment = None
    texts: list[str] = []
    value: dict[str, Any] = {}
    if not alone:
        alignment = fit_recording(film, audio, config, console, out=options["out"], force=options["force"])
        texts.append(alignment_text(alignment))
        value = alignment_json(alignment)
    if plot_file is not None and alignment is not None:
        picture = alignment_picture(alignment, film.name, audio.name)
        with replace_file(plot_file) as part:
            part.write_bytes(picture)
        console.note(f"Picture: {plot_file}")
    failed = False
    if makes:
        sound_file = open_sound(audio)
        recording = Recording(sound_file, recorded_track(sound_file))
        with work_on(film, config, options["out"]) as (opened, folder, _):
            aligned_files = make_from_alignment(
                opened,
                folder,
                recording,
                alignment,
                makes,
                config,
                console,
                language=config.language,
                recogniser=recogniser,
            )
        texts.append(aligned_files.summary)
        value["made"] = aligned_files.as_json()
        failed = aligned_files.failed
    console.result("\n".join(texts), value)
    if failed:
        click.get_current_context().exit(1)
