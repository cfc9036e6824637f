"""Reading the film's screen for L11 and L12, where no engine has noted what stands there."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import (
    Config,
    Image,
    Interval,
    NoProgress,
    Progress,
    Task,
    TextFact,
    WorkFolderError,
    key_of,
    parse_json,
    readable_json,
    reported,
    write_text,
)

if TYPE_CHECKING:
    from shotad.film import Film, Picture

RECORD = "screen.json"
"""What was read, in the work folder."""
EVERY = 0.5
"""Seconds between frames: a text is taken for one that is read in two of them."""
PIXELS = 854 * 480
"""Size of the frames; small letters are no titles."""
_STRETCH = 10.0
"""Seconds that count as a shot: what stays in a corner over three is a sender's mark."""
_SCHEMA = 1


def read_screen(
    path: Path,
    folder: Path | None,
    config: Config,
    speech: Sequence[Interval] = (),
    *,
    again: bool = False,
    progress: Progress | None = None,
) -> tuple[TextFact, ...]:
    """The texts that a film shows, by first sighting, from `RECORD` in ``folder`` where they stand already.

    ``speech`` is when people speak, by which subtitles are told. Without a folder nothing is kept. Raises
    FilmError for a film that cannot be read, WeightsError without the reader's weights.
    """
    from shotad.film import open_film

    with open_film(path, reader=config.film.reader) as film:
        key = _key(film.info.fingerprint, speech)
        known = None if again or folder is None else kept_texts(folder, film.info.fingerprint, key)
        if known is not None:
            return known
        found = _texts(film, speech, progress or NoProgress())
        if folder is not None and folder.is_dir():
            _keep(folder / RECORD, film.info.fingerprint, key, found)
        return found


def kept_texts(folder: Path, fingerprint: str, key: str | None = None) -> tuple[TextFact, ...] | None:
    """What was read of this film before, with these settings (None: any); None where nothing was.

    Raises WorkFolderError for a record that cannot be understood.
    """
    path = folder / RECORD
    try:
        record = parse_json(path.read_text(encoding="utf-8"))
        if record["film"] != fingerprint or key not in (None, record["key"]):
            return None
        return tuple(TextFact(**row) for row in record["texts"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as trouble:
        raise WorkFolderError(f"{path} is damaged: {trouble!r}.", "Delete it.") from None


def _key(fingerprint: str, speech: Sequence[Interval]) -> str:
    spoken = [[round(one.start, 3), round(one.end, 3)] for one in speech]
    settings = [Config.former["text"], Config.former["observer"]["text_score"], EVERY, PIXELS]
    return key_of(_SCHEMA, fingerprint, settings, spoken)


def _keep(path: Path, fingerprint: str, key: str, found: Sequence[TextFact]) -> None:
    record: Mapping[str, Any] = {
        "film": fingerprint,
        "key": key,
        "texts": [dataclasses.asdict(text) for text in found],
    }
    write_text(path, readable_json(record))


def _texts(film: Film, speech: Sequence[Interval], progress: Progress) -> tuple[TextFact, ...]:
    from shotad.sight import FrameText, TextReader, texts_of_shots

    moments = [i * EVERY for i in range(int(film.info.duration / EVERY) + 1)]
    reader = TextReader()
    with reported(progress, "Reading the screen", film.info.duration, "s") as task:
        images = _shown(film.pictures(moments, max_pixels=PIXELS), task)
        found = zip(moments, reader.read_all(images), strict=False)
        read = [FrameText(int(at // _STRETCH) + 1, at, lines) for at, lines in found]
    return texts_of_shots(read, speech=speech)


def _shown(pictures: Iterator[Picture], task: Task) -> Iterator[Image]:
    for picture in pictures:
        yield picture.image
        task.advance(EVERY)
