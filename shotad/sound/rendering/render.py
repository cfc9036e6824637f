"""The fourth act: lines → takes → their places → mix → files. No engine is asked.

Only what has changed is spoken again, and a file whose every part is as it was is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from shotad.core.config import Config
from shotad.core.errors import FilmError, SoundError, WorkFolderError
from shotad.core.profiling import in_room
from shotad.core.progress import NoProgress, Progress
from shotad.core.workfolder import WorkFolder
from shotad.film.reader import Film
from shotad.script.shortening import Shorten
from shotad.sound.rendering.ledger import Ledger
from shotad.sound.rendering.making import Workshop
from shotad.sound.rendering.materials import Materials, gather
from shotad.sound.rendering.notes import notes_on
from shotad.sound.rendering.outputs import OTHERWISE, Wanted, checked_apart
from shotad.sound.rendering.proof import heard
from shotad.sound.rendering.rendered import Failure, Rendered
from shotad.sound.rendering.sidefiles import write_side_files
from shotad.sound.rendering.validate import check_containers, check_wanted
from shotad.sound.rendering.voicing import Voicing, speak
from shotad.sound.voices import make_voice
from shotad.sound.voices.base import Speaker

ROUNDS = 5
"""Times that a track is read which people change while its lines are spoken."""

STILL_EDITED = (
    "Lines were edited until after they were spoken: the files hold them as they were then. Render again "
    "when the editing is done; only what was changed is spoken anew."
)


@in_room("mix")
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
    speaks every line and makes every file again. What cannot be made is refused before anything is spoken;
    where one of several files fails later, the others are made, and it is told (`Rendered.failures`).

    Raises UsageError, VoiceError, SoundError, FilmError, WorkFolderError, ScriptError, EditConflict.
    """
    wanted, progress = checked_apart(wanted), progress or NoProgress()
    materials = gather(film, folder, config, file)
    check_wanted(film, wanted, config, materials.track.language)
    _check_lines(materials)
    voicing = None
    if any(one.kind.is_heard for one in wanted):
        voice = voice or make_voice(config.voice, materials.track.language)
        materials, voicing = _spoken(materials, voice, progress, shorten, force=force)
        if not voicing.pauses:
            check_containers(film, wanted, config, materials.track.language)
    ledger = Ledger(materials, voicing, force=force)
    materials.keep(materials.track)
    if voicing is not None and not voicing.fitting.spoken:
        raise SoundError(
            f"None of the {len(voicing.fitting.unspoken)} lines of {materials.file} found a place.",
            "Under voiced each of them says why. Shorten them, or let the film pause: --extended.",
        )
    films = (one.ending for one in wanted if one.kind.is_film and one.kind.is_heard)
    with Workshop(materials, voicing, progress, next(films, OTHERWISE)) as workshop:
        failures = _make(workshop, ledger, wanted)
        made = [one for one in wanted if one not in [failed.wanted for failed in failures]]
        if voicing is not None and ledger.sound is None:
            ledger.heard(heard(workshop.report(), config))
        sides = write_side_files(workshop, ledger, [one for one in made if one.kind.is_heard])
    return ledger.rendered(made, sides, failures, notes_on(materials, voicing))


def _make(workshop: Workshop, ledger: Ledger, wanted: Sequence[Wanted]) -> list[Failure]:
    """Make what is not there already; what went wrong. Raises the first error where nothing could be made."""
    failures: list[Failure] = []
    for one in wanted:
        if ledger.has(one):
            continue
        try:
            ledger.add(workshop.make(one))
        except (SoundError, FilmError, WorkFolderError) as error:
            failures.append(Failure(one, str(error)))
            if len(failures) == len(wanted):
                raise
    return failures


def _spoken(
    materials: Materials, voice: Speaker, progress: Progress, shorten: Shorten | None, *, force: bool
) -> tuple[Materials, Voicing]:
    """The lines as they stand when the last of them is spoken: whoever saves the track meanwhile is heard.

    Where somebody goes on editing for `ROUNDS` it is the lines as they were read last; it is told.
    """
    anew = rounds = 0
    while True:
        _check_lines(materials)
        voicing = speak(materials, voice, progress, shorten=shorten, force=force)
        anew += voicing.anew
        rounds += 1
        is_current = materials.is_current
        if is_current or rounds == ROUNDS:
            late = "" if is_current else STILL_EDITED
            kept = max(0, voicing.anew + voicing.kept - anew)
            return materials.of(voicing.track), replace(voicing, anew=anew, kept=kept, late=late)
        progress.note(f"{materials.file.name} or a script was changed meanwhile: it is read again.")
        materials, force = gather(materials.film, materials.folder, materials.config, materials.file), False


def _check_lines(materials: Materials) -> None:
    if not materials.track.heard:
        raise SoundError(
            f"{materials.file} has no line that is to be heard.",
            "Write some, or describe more of the film; nothing was made.",
        )
