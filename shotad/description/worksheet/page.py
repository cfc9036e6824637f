"""The worksheet's printable form: ``worksheet.html``, a film slot by slot, with room to write.

For eyes, ears and paper, without scripts. Its small pictures, one behind each cut in a slot and one at the
slot's beginning, are files in the folder ``worksheet`` beside the page, or stand in the page itself. The
scripts for Word take the same pictures.
"""

from __future__ import annotations

import base64
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image

from shotad.core import (
    Config,
    FilmInfo,
    NoProgress,
    Progress,
    ShotadError,
    WorkFolder,
)
from shotad.core.files import (
    inner_folder,
    own_files,
    read_file,
    remove_file,
    write_bytes,
)
from shotad.core.profiling import time_items, time_step
from shotad.core.progress import progress_task
from shotad.core.runsettings import read_settings
from shotad.description.worksheet.records import MATERIAL, keep_material, read_worksheet
from shotad.film import Pictures, open_film
from shotad.film.palette import page_environment
from shotad.film.slot_records import work_folder_film
from shotad.script import (
    Cue,
    Track,
    Worksheet,
    load_track,
)
from shotad.script.cue import timecode
from shotad.script.pace import budget_in_language_units, has_blanks
from shotad.script.track_texts import texts_in
from shotad.script.worksheet import (
    SheetFace,
    called_text,
    dialogue_text,
    is_text_read_out,
    people_lines,
    scale_text,
    setup_text,
    short_time,
    slot_length_text,
    slot_note,
    text_summary,
)

PAGE, PICTURES = "worksheet.html", "worksheet"

_TEMPLATES = Path(__file__).parent / "templates"
_PORTRAIT = re.compile(r"person-[A-Z]+\.jpg")
_PICTURE = re.compile(rf"(?<!\d)\d{{9,}}\.jpg|{_PORTRAIT.pattern}")
"""Names of the pictures that `write_sheet` writes."""

PIXELS = 32_000
"""Of a picture on the page: 238 x 134 for 16:9, about 4 cm wide at 150 dots an inch."""
_QUALITY = 72
_FACE_HEIGHT = 120
"""Lines of a face's picture."""
_AROUND_FACE = 0.35
"""Of a face's height and width, what is shown around it on each side."""
_WORDS_IN_A_RULE = 9
"""Words that somebody writes by hand on one line of the page."""
_SOURCE_PIXELS = 854 * 480
"""Of frames that are taken from the film for a script: as large as those that a run keeps."""
_CHUNK = 1000
"""Pieces of a template that are encoded together."""


Photo = dict[str, Any]
"""A picture of the page: its ``uri``, a file beside it or data, ``width`` and ``height`` in CSS pixels."""


@time_step("sheet")
def write_sheet(
    folder: WorkFolder,
    pictures: Pictures,
    config: Config,
    info: FilmInfo,
    progress: Progress | None = None,
    *,
    single_file: bool = False,
) -> Path:
    """Write ``worksheet.html`` and ``material.json`` from the records in ``folder``; the page's path.

    ``pictures`` give the frames of the film. The same records and pictures give the same bytes.
    ``single_file``: the pictures stand in the page. Raises WorkFolderError, ScriptError for a bad track.
    """
    sheet = read_worksheet(folder.path, config, info)
    keep_material(folder, sheet, info)
    track = load_track(folder.path / "track.json") if (folder.path / "track.json").exists() else None
    place = inner_folder(folder.path, PICTURES)
    written: set[Path] = set()
    photos: dict[str, Photo] = {}
    with progress_task(
        progress or NoProgress(), "Drawing the worksheet", len(wanted_moments(sheet)), "frames"
    ) as task:
        for name, image in _cut_pictures(sheet, pictures, task.advance):
            out = _jpeg(image)
            uri = f"{PICTURES}/{name}"
            if single_file:
                uri = f"data:image/jpeg;base64,{base64.b64encode(out).decode('ascii')}"
            else:
                written.add(place / name)
                write_bytes(place / name, [out])
            photos[name] = {"uri": uri, "width": image.width, "height": image.height}
    page = folder.path / PAGE
    language = track.language if track is not None else config.language
    write_bytes(page, worksheet_html(sheet, track, photos, language))
    # Only files with our names go: the folder may hold pictures of the user's.
    for stale_picture in {*own_files(place, _PICTURE)} - written:
        remove_file(stale_picture)
    if single_file:
        with suppress(OSError):  # it was never made, or holds what is not ours
            place.rmdir()
    return page


def remove_worksheet(folder: Path) -> tuple[str, ...]:
    """Delete what the worksheet says and shows of people; returns the names of the deleted files."""
    portraits = own_files(folder / PICTURES, _PORTRAIT)
    files = [path for path in (folder / MATERIAL, folder / PAGE, *portraits) if path.is_file()]
    for path in files:
        remove_file(path)
    return tuple(path.relative_to(folder).as_posix() for path in files)


def wanted_moments(sheet: Worksheet) -> list[float]:
    """The seconds of the film of which a worksheet shows pictures, ascending."""
    return sorted({*sheet.moments, *(face.second for face in sheet.faces)})


def picture_name(second: float) -> str:
    """The file of a slot's picture in the folder ``worksheet``: ``12.34 → 000012340.jpg``."""
    return f"{round(second * 1000):09d}.jpg"


def picture_file(folder: Path, second: float) -> Path:
    """Where a work folder keeps the picture of a slot. Raises WorkFolderError."""
    return inner_folder(folder, PICTURES) / picture_name(second)


def face_name(face: SheetFace) -> str:
    """The file of a face's picture: ``person-A.jpg``."""
    return f"{face.called.replace(' ', '-')}.jpg"


def _cut_pictures(
    sheet: Worksheet, pictures: Pictures, advance: Any = lambda: None
) -> Iterator[tuple[str, Image.Image]]:
    """Name and picture of all that a worksheet shows, in order of time; what is lost is left out."""
    of_slots = set(sheet.moments)
    faces: dict[float, list[SheetFace]] = {}
    for face in sheet.faces:
        faces.setdefault(face.second, []).append(face)
    moments = wanted_moments(sheet)
    for picture in time_items("frames", pictures(moments)) if moments else ():
        image = Image.fromarray(picture.image)
        if picture.wanted in of_slots:
            yield picture_name(picture.wanted), thumbnail(image)
        for face in faces.get(picture.wanted, ()):
            yield face_name(face), _portrait(image, face)
        advance()


def thumbnail(image: Image.Image) -> Image.Image:
    """``image`` shrunk to about `MAX_PIXELS` in all, in its own shape; never enlarged."""
    scale = min(1.0, (PIXELS / (image.width * image.height)) ** 0.5)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def _portrait(image: Image.Image, face: SheetFace) -> Image.Image:
    """The face with a margin around it, `_FACE_HEIGHT` lines high."""
    left, top, right, bottom = face.box
    x_margin, y_margin = (right - left) * _AROUND_FACE, (bottom - top) * _AROUND_FACE
    edges = (
        max(0, round((left - x_margin) * image.width)),
        max(0, round((top - y_margin) * image.height)),
        min(image.width, round((right + x_margin) * image.width)),
        min(image.height, round((bottom + y_margin) * image.height)),
    )
    portrait = image.crop(edges)
    return portrait.resize((max(1, round(portrait.width * _FACE_HEIGHT / portrait.height)), _FACE_HEIGHT))


def _jpeg(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG", quality=_QUALITY)
    return out.getvalue()


def worksheet_with_pictures(folder: Path, language: str) -> Worksheet:
    """The worksheet of a work folder for a script in ``language``, with its pictures, else the film's.

    Where the film is gone `Worksheet.no_pictures` says so. Raises as `read_worksheet`.
    """
    try:
        run = read_settings(folder)
    except ShotadError:
        run = None
    config = run.config if run is not None else Config()
    film = None
    if run is not None:
        track = folder / "track.json"
        with suppress(ShotadError):
            name = load_track(track).film.name if track.exists() else ""
            film = open_film(
                work_folder_film(folder, run, name), reader=config.film.reader, frame_rate=run.frame_rate
            )
    try:
        sheet = read_worksheet(folder, config, film.info if film is not None else None, language=language)
        pictures: dict[float, bytes] = {}
        for second in sheet.moments:
            with suppress(OSError):
                pictures[second] = read_file(picture_file(folder, second))
        # What an earlier sheet has drawn is taken from its folder, the rest from the film.
        missing = [second for second in sheet.moments if second not in pictures]
        if missing and film is not None:
            for picture in film.pictures(missing, max_pixels=_SOURCE_PIXELS):
                pictures[picture.wanted] = _jpeg(thumbnail(Image.fromarray(picture.image)))
    finally:
        if film is not None:
            film.close()
    no_pictures = ""
    if missing and film is None:
        no_pictures = texts_in(language)("sheet.some_pictures" if pictures else "sheet.no_film")
    return replace(sheet, pictures=pictures, no_pictures=no_pictures)


def worksheet_html(
    sheet: Worksheet, track: Track | None, photos: Mapping[str, Photo], language: str
) -> Iterator[bytes]:
    """The page in pieces, UTF-8, in ``language`` if there are texts in it.

    What is not in ``photos``, by name, shows as lost.
    """
    lines: dict[str, list[Cue]] = {}
    for cue in track.heard if track is not None else ():
        entry = sheet.entry_of(cue)
        if entry is not None:
            lines.setdefault(entry.id, []).append(cue)
    environment = page_environment(
        _TEMPLATES,
        time=timecode,
        short=short_time,
        length=partial(slot_length_text, language=language),
        marks=partial(slot_note, language=language),
        people=partial(people_lines, language=language),
        called=partial(called_text, language=language),
        scale=partial(scale_text, language=language),
        setup=partial(setup_text, language=language),
        dialogue=dialogue_text,
        text=partial(text_summary, language=language),
        photo=lambda second: photos.get(picture_name(second)),
        portrait=lambda face: photos.get(face_name(face)),
        rules=lambda entry: max(2, math.ceil((entry.max_words or 0) / _WORDS_IN_A_RULE)),
    )
    environment.tests["taken_in"] = lambda text, cues: any(is_text_read_out(text, cue.text) for cue in cues)
    stream = environment.get_template("page.html.j2").stream(
        sheet=sheet,
        entries=sheet.in_one_reading,
        track=track,
        lead=lead(sheet, lines, language),
        lines=lines,
        texts=texts_in(language),
    )
    # A page of a long film is never whole in memory.
    stream.enable_buffering(_CHUNK)
    for part in stream:
        yield part.encode("utf-8", "replace")


def lead(sheet: Worksheet, lines: Mapping[str, Sequence[Cue]], language: str) -> str:
    """The film in one sentence."""
    texts = texts_in(language)
    slots = [entry for entry in sheet.entries if entry.max_words is not None]
    seconds = sum(entry.end - entry.start for entry in slots)
    words = sum(entry.max_words or 0 for entry in slots)
    unit = "count.words" if has_blanks(language) else "count.characters"
    return texts(
        "sheet.lead",
        slots=texts.count("count.slots", len(slots)),
        length=timecode(sheet.end)[:8],
        seconds=f"{seconds:.0f}",
        words=texts.count(unit, budget_in_language_units(language, words)),
        lines=texts.count("count.lines", sum(map(len, lines.values()))),
    )
