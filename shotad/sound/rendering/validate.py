"""What cannot be made is refused before anything is spoken or mixed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shotad.core import Config, FilmError, SoundError, UsageError, WorkFolderError, sweep_beside
from shotad.film import Film, open_film
from shotad.sound.files import kind_of
from shotad.sound.mixing.programme import programme_of
from shotad.sound.mux.kinds import AdSound, AdText
from shotad.sound.mux.write import check_container
from shotad.sound.rendering.making import MONO, TEXT_TITLE, track_title
from shotad.sound.rendering.outputs import Kind, Wanted


def check_wanted(film: Film, wanted: Sequence[Wanted], config: Config, language: str) -> None:
    """Refuse files that cannot be made of this film, and make the folders of those that can.

    Raises UsageError for a place that is none, or that of the film itself; SoundError for what a container
    cannot hold; FilmError for a track of sound that the film does not have; WorkFolderError for folders that
    cannot be made.
    """
    for one in wanted:
        _check_place(film, one.path)
        if not one.kind.is_film:
            kind_of(one.path)
    # A copy with pauses is another film: what is in it is known when it is there.
    check_containers(
        film, [one for one in wanted if not (config.extended.on and one.kind.is_heard)], config, language
    )
    for one in wanted:
        _make_folder(one.path.parent)
        sweep_beside(one.path)


def check_containers(film: Film, wanted: Sequence[Wanted], config: Config, language: str) -> None:
    """Raises SoundError for films that their containers cannot hold, FilmError for a track of sound that is
    not there."""
    sound = _sound_to_be(film, config, language) if any(one.kind.is_heard for one in wanted) else None
    for one in wanted:
        if one.kind.is_film:
            _check_film(film, one, sound, config, language)


def _sound_to_be(film: Film, config: Config, language: str) -> AdSound:
    """What the track of sound will be, less its sound."""
    rate = config.mix.rate
    alone = config.container.sound == "alone"
    layout = programme_of(film, config.film.audio_track, rate).layout
    return AdSound((), MONO if alone else layout, rate, language, track_title(language))


def _check_film(film: Film, one: Wanted, sound: AdSound | None, config: Config, language: str) -> None:
    if film.media is None:
        raise SoundError(
            f"{film.info.name} is a series of pictures, and no film can be made of it.",
            "The sound can: --make ad or --make mix.",
        )
    text = None if one.kind is Kind.FILM else AdText((), language, TEXT_TITLE.format(track_title(language)))
    heard = sound if one.kind.is_heard else None
    check_container(film, _standing(one.path), sound=heard, text=text, settings=config.container)


def _standing(path: Path) -> Path:
    """The file of that name in the nearest folder that is there already, whose disk will hold it."""
    return _nearest(path) / path.name


def _nearest(path: Path) -> Path:
    return next(folder for folder in path.absolute().parents if folder.exists())


def _check_place(film: Film, path: Path) -> None:
    """Raises UsageError for a folder, and for the film itself or another copy of it."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder.", "Give the name of a file, or another folder.")
    if not _nearest(path).is_dir():
        raise UsageError(
            f"{path} cannot be: {_nearest(path)} is a file, not a folder.", "Name another folder with --out."
        )
    if film.info.path is None or not path.exists():
        return
    if path.samefile(film.info.path) or _is_copy(film, path):
        raise UsageError(f"{path} is the film itself.", "Give the described film another name or folder.")


def _is_copy(film: Film, path: Path) -> bool:
    try:
        with open_film(path) as other:
            return other.info.fingerprint == film.info.fingerprint
    except FilmError:
        return False


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkFolderError(
            f"The folder {folder} cannot be made: {error.strerror}.", "Name another folder with --out."
        ) from None
