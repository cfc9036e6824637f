"""The fourth act: lines → takes → their places → mix → files. No engine is asked.

Only what has changed is spoken again, and a file whose every part is as it was is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shotad.config import Config
from shotad.film.reader import Film
from shotad.progress import NoProgress, Progress
from shotad.rendering.ledger import Ledger
from shotad.rendering.making import Workshop
from shotad.rendering.materials import gather
from shotad.rendering.proof import heard
from shotad.rendering.rendered import Rendered
from shotad.rendering.sidefiles import write_side_files
from shotad.rendering.voicing import speak
from shotad.rendering.wanted import OTHERWISE, Wanted, checked_apart
from shotad.sound.fitting.asking import Shorten
from shotad.sound.voices import make_voice
from shotad.sound.voices.base import Speaker
from shotad.workfolder import WorkFolder


def render(
    film: Film,
    folder: WorkFolder,
    config: Config,
    wanted: Sequence[Wanted],
    *,
    file: Path | None = None,
    voice: Speaker | None = None,
    shorten: Shorten | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Rendered:
    """Make the ``wanted`` files of a described film; ``file`` is its track (None: the film's own).

    ``voice`` None is the one that the settings name; none is needed where no file is heard. ``shorten`` is
    asked for shorter lines where that was wished. How each line was spoken goes into the track. ``force``
    speaks every line and makes every file again.

    Raises VoiceError, SoundError, FilmError, WorkFolderError, ScriptError, EditConflict.
    """
    wanted, progress = checked_apart(wanted), progress or NoProgress()
    materials = gather(film, folder, config, file)
    voicing = None
    if any(one.kind.is_heard for one in wanted):
        voice = voice or make_voice(config.voice, materials.track.language)
        voicing = speak(materials, voice, progress, shorten=shorten, force=force)
        materials = materials.of(voicing.track)
    ledger = Ledger(materials, voicing, force=force)
    materials.keep(materials.track)
    with Workshop(materials, voicing, progress) as workshop:
        for one in wanted:
            if not ledger.has(one):
                ledger.add(workshop.make(one))
        if voicing is not None and ledger.sound is None:
            ledger.heard(heard(workshop.mix(OTHERWISE).report, config))
        sides = write_side_files(workshop, [one for one in wanted if one.kind.is_heard])
    return ledger.rendered(wanted, sides)
