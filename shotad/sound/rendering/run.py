"""A render as every command does it: what leaves the machine is said before, who shortens lines is found, and
the film's log tells of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from shotad.core import Config, Progress, WorkFolder
from shotad.film import Film
from shotad.script import TRACK, Shorten, load_track
from shotad.sound.rendering.outputs import Wanted
from shotad.sound.rendering.render import render
from shotad.sound.rendering.rendered import Rendered
from shotad.sound.voice_engines import make_voice, notice
from shotad.sound.voice_engines.base import Speaker


def run_render(
    film: Film,
    folder: WorkFolder,
    config: Config,
    wanted: Sequence[Wanted],
    progress: Progress,
    *,
    shorten: Callable[[WorkFolder, Config, Progress], Shorten | None],
    file: Path | None = None,
    force: bool = False,
    told: bool = False,
) -> Rendered:
    """Render the ``wanted`` files of a described film; see `sound.rendering.render.render` for the rest.

    ``shorten`` finds who is asked for shorter lines, None where nobody is. ``told``: what leaves this
    machine is said already. Raises what `render` and ``shorten`` raise.
    """
    voice = _voice(folder, config, wanted, file)
    if voice is not None and not told:
        for line in notice(voice):
            progress.note(line)
    writer = shorten(folder, config, progress)
    fit = config.fit.model_copy(update={"ask": writer is not None})
    done = render(
        film,
        folder,
        config.model_copy(update={"fit": fit}),
        wanted,
        file=file,
        voice=voice,
        shorten=writer,
        force=force,
        progress=progress,
    )
    names = ", ".join(one.wanted.path.name for one in done.made)
    folder.note(f"rendered {names}: {len(done.spoken)} lines by {done.voice or 'no voice'}")
    return done


def _voice(folder: WorkFolder, config: Config, wanted: Sequence[Wanted], file: Path | None) -> Speaker | None:
    """Who speaks; None where nothing that is made is heard."""
    if not any(one.kind.is_heard for one in wanted):
        return None
    return make_voice(config.voice, load_track(file or folder.path / TRACK).language)
