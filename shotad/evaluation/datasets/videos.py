"""Where a clip's video is, by the places that the dataset's description names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from shotad.evaluation.datasets.ads import Ad, Dataset, Video
from shotad.evaluation.datasets.description import VideoPlaces


def video_of(dataset: Dataset, ad: Ad, root: Path | None = None) -> Video | None:
    """The video of an AD: its clip's film file, its numbered frames, or its own short piece of film.

    Looked for below ``root`` (None: the dataset's). None where there is none: evaluation needs no videos.
    """
    places = dataset.description.videos if dataset.description else VideoPlaces()
    base = root or dataset.root
    names = {"clip": ad.clip, "film": ad.film, "title": dataset.films.get(ad.film, ""), "file": ad.file}
    for path in _filled(places.films, names, base, places.suffixes):
        if path.is_file():
            return Video(path)
    for path in _filled(places.frames, names, base, ("",)):
        if path.exists():
            return Video(path, places.frames_per_second)
    for path in _filled(places.pieces, names, base, places.suffixes):
        if path.is_file():
            return Video(path, begins=ad.slot.start, piece=True)
    return None


def video_places(dataset: Dataset, ad: Ad, root: Path | None = None) -> list[Path]:
    """Where `video_of` looks, in order, so that a message can say it."""
    places = dataset.description.videos if dataset.description else VideoPlaces()
    base = root or dataset.root
    names = {"clip": ad.clip, "film": ad.film, "title": dataset.films.get(ad.film, ""), "file": ad.file}
    return [
        *_filled(places.films, names, base, places.suffixes),
        *_filled(places.frames, names, base, ("",)),
        *_filled(places.pieces, names, base, places.suffixes),
    ]


def _filled(
    patterns: tuple[str, ...], names: dict[str, str], base: Path, suffixes: tuple[str, ...]
) -> Iterator[Path]:
    """The places with names filled in: none with an empty name, none outside ``base``."""
    for pattern in patterns:
        used = [name for name in names if f"{{{name}}}" in pattern]
        if all(names[name] and ".." not in Path(names[name]).parts for name in used):
            filled = pattern.format_map(names)
            for suffix in suffixes:
                if not Path(filled).is_absolute():
                    yield base / f"{filled}{suffix}"
