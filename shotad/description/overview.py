"""The overview: ``overview.html`` and pictures of a film's shots, threads, scales, speech, slots and lines.

The film is read once, in order of time; a picture is written as soon as its last frame has gone by, so
that memory holds one page of the film strip and the clips under way, whatever the film's length. Files are
written whole or not at all, and none is left over from before.
"""

from __future__ import annotations

import io
import math
from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

from shotad.core import (
    Clip,
    Config,
    Image as Pixels,
    NoProgress,
    OverlaySettings,
    Progress,
    in_room,
    reported,
    spanned,
    write_bytes,
)
from shotad.description.overview_data import (
    PAGE_FRAMES,
    Line,
    Look,
    Piece,
    SheetShot,
    Subject,
    read_subject,
    shown_seconds,
)
from shotad.description.overview_page import (
    Embeds,
    ScoreTable,
    drawing,
    overview,
    photo,
    score_picture,
    score_table,
)
from shotad.description.overview_pictures import (
    ROWS_PER_PAGE,
    Filmstrip,
    FramePictures,
    line_card,
    timeline,
    timeline_rows,
)
from shotad.description.overview_signs import thumbnail, thumbnail_size
from shotad.film import (
    BLACK,
    FAINT,
    INK,
    PAPER,
    RED,
    RULE,
    THREAD_COLOURS,
    WASH,
    Picture,
    Pictures,
    fit,
    paint,
    vlm_size,
)
from shotad.script import timecode

PAGE = "overview.html"
FOLDER = "sheet"

PAGE_PIXELS = 20_000
"""Of a frame on the page: 189 x 106 for 16:9."""
CARD_PIXELS = 26_000
"""Of a frame on a line's card: 215 x 121 for 16:9."""


@in_room("sheet")
def write_sheet(
    folder: Path, pictures: Pictures, config: Config, progress: Progress | None = None
) -> tuple[Path, ...]:
    """Write ``overview.html`` and the pictures in ``sheet/`` from the records in ``folder``.

    ``pictures`` must give the frames as the engines saw them. Pictures of an earlier sheet that this one
    does not have are deleted. Returns the page, then the pictures by name. Raises WorkFolderError where
    there are no shots to show or a file cannot be written, ScriptError for a track that is damaged.
    """
    subject = read_subject(folder)
    files, embeds = SheetFiles(folder / FOLDER), Embeds()
    strip, cards = _Strip(subject, files, embeds), _Cards(subject, files, embeds, config)
    moments = sorted({*strip.moments, *cards.moments})
    with reported(progress or NoProgress(), "Drawing the sheet", len(moments), "frames") as task:
        for picture in spanned("frames", pictures(moments)):
            strip.add(picture)
            cards.add(picture)
            task.advance()
    strip.finish()
    cards.finish()
    _draw_timeline(subject, files, embeds)
    tables = _draw_scores(subject, files, embeds)
    write_bytes(folder / PAGE, overview(subject, cards.seconds, tables, embeds))
    files.sweep()
    return (folder / PAGE, *sorted(files.written))


def _draw_timeline(subject: Subject, files: SheetFiles, embeds: Embeds) -> None:
    rows = timeline_rows(subject)
    pages = math.ceil(len(rows) / ROWS_PER_PAGE)
    for number, page in enumerate(timeline(subject, rows), 1):
        files.save(page_name("timeline", number, pages), page)
    embeds.rows += [(row.interval, drawing(row.picture)) for row in rows]


def _draw_scores(subject: Subject, files: SheetFiles, embeds: Embeds) -> dict[str, ScoreTable]:
    """The score matrix of every clip that has one; the same as tables."""
    tables = {line.id: table for line in subject.lines if (table := score_table(line, subject))}
    for name, table in tables.items():
        start = next(line.interval.start for line in subject.lines if line.id == name)
        picture = score_picture(table, f"Matching scores of the clip at {timecode(start)}")
        files.save(f"matrix-{name}", picture)
        embeds.matrices[name] = drawing(picture)
    return tables


class _Strip:
    """The film strip, drawn shot by shot."""

    def __init__(self, subject: Subject, files: SheetFiles, embeds: Embeds) -> None:
        self._subject, self._files, self._embeds = subject, files, embeds
        self._left = deque(subject.shots)
        self._drawn: Filmstrip | None = None
        self._page = 0
        self.moments = [shot.middle for shot in subject.shots]

    def add(self, picture: Picture) -> None:
        """Draw the shots up to the moment of ``picture``; those whose own moment has gone by get none."""
        while self._left and self._left[0].middle <= picture.wanted:
            shot = self._left.popleft()
            self._draw(shot, picture.image if shot.middle == picture.wanted else None)

    def finish(self) -> None:
        """Draw the shots of which no picture came."""
        while self._left:
            self._draw(self._left.popleft(), None)

    def _draw(self, shot: SheetShot, image: Pixels | None) -> None:
        picture = None if image is None else Image.fromarray(image)
        if self._drawn is None:
            self._drawn = Filmstrip(self._subject, picture.size if picture else (16, 9))
        if picture is not None:
            self._embeds.strip[shot.index] = photo(thumbnail(picture, PAGE_PIXELS))
        page = self._drawn.add(shot, picture)
        if page is not None:
            self._page += 1
            self._files.save(page_name("filmstrip", self._page, self._drawn.pages), page, photos=True)


@dataclass(slots=True)
class _Open:
    """A line whose frames are coming in: ``wanted`` maps each moment still to come to the shots it is of."""

    line: Line
    look: Look
    wanted: dict[float, list[Piece]]
    pictures: dict[tuple[int, float], Image.Image] = field(default_factory=dict)


class _Cards:
    """The lines with their frames, each drawn when its last frame has come."""

    def __init__(self, subject: Subject, files: SheetFiles, embeds: Embeds, config: Config) -> None:
        self._files, self._embeds, self._config = files, embeds, config
        looks = {line.id: line.look for line in subject.lines}
        self.seconds = {
            name: shown_seconds(look, PAGE_FRAMES) if look else {} for name, look in looks.items()
        }
        self._on_card = {name: shown_seconds(look) if look else {} for name, look in looks.items()}
        self._wanted_by: dict[float, list[_Open]] = defaultdict(list)
        self._open: dict[str, _Open] = {}
        for line in subject.lines:
            self._begin(line)
        self.moments = list(self._wanted_by)

    def _begin(self, line: Line) -> None:
        self._embeds.frames[line.id] = {}
        if line.look is None or not line.look.pieces:
            self._save(line, {}, (1, 1))
            return
        opened = _Open(line, line.look, {})
        for piece in line.look.pieces:
            for second in {*self.seconds[line.id][piece.number], *self._on_card[line.id][piece.number]}:
                opened.wanted.setdefault(second, []).append(piece)
        for second in opened.wanted:
            self._wanted_by[second].append(opened)
        self._open[line.id] = opened

    def add(self, picture: Picture) -> None:
        """Take a picture for the lines that want it, and draw those that now have all."""
        for opened in self._wanted_by.pop(picture.wanted, ()):
            for piece in opened.wanted.pop(picture.wanted):
                seen = _as_seen(picture, piece, opened.look, self._config)
                opened.pictures[piece.number, picture.wanted] = thumbnail(seen, CARD_PIXELS)
            if not opened.wanted:
                self._close(opened)

    def finish(self) -> None:
        """Draw the lines of which pictures did not come."""
        for opened in list(self._open.values()):
            self._close(opened)

    def _close(self, opened: _Open) -> None:
        del self._open[opened.line.id]
        size = next((p.size for p in opened.pictures.values()), thumbnail_size((960, 540), CARD_PIXELS))
        shown = self.seconds[opened.line.id]
        self._embeds.frames[opened.line.id] = {
            (number, second): photo(thumbnail(picture, PAGE_PIXELS))
            for (number, second), picture in opened.pictures.items()
            if second in shown[number]
        }
        self._save(opened.line, opened.pictures, size)

    def _save(self, line: Line, pictures: FramePictures, size: tuple[int, int]) -> None:
        card = line_card(line, self._on_card[line.id], pictures, size)
        self._files.save(f"line-{line.id}", card, photos=True)


def _as_seen(picture: Picture, piece: Piece, look: Look, config: Config) -> Image.Image:
    """The frame as the engine got it: at its size and with the marks of its run, or raw."""
    if look.overlay is None:
        return Image.fromarray(picture.image)
    height, width = picture.image.shape[:2]
    size = look.size or vlm_size(width, height, config.frames)
    one = Clip(
        fit(picture.image[np.newaxis], size), np.array([picture.seconds]), np.array([piece.number], np.int64)
    )
    painted = paint(one, OverlaySettings(label=look.overlay), current=look.current)
    return Image.fromarray(painted.images[0])


EXACT = (PAPER, INK, FAINT, RULE, WASH, BLACK, RED, *THREAD_COLOURS)
"""Colours that have a meaning, or are seen in large areas."""

_SAMPLE = 50_000
"""Pixels that the other colours are chosen by."""

_OURS = ("filmstrip*.png", "timeline*.png", "line-*.png", "matrix-*.png", ".tmp-*")
"""Names in a sheet's folder that are this program's, and that it may delete."""


class SheetFiles:
    """The folder of a sheet's pictures."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.written: list[Path] = []

    def save(self, name: str, picture: Image.Image, *, photos: bool = False) -> None:
        """Write ``NAME.png``. The same picture gives the same bytes. Raises WorkFolderError.

        With ``photos`` it gets a palette, which makes a picture full of frames half to a third as large
        and hardly another to the eye.
        """
        out = io.BytesIO()
        (few_colours(picture) if photos else picture).save(out, "PNG", compress_level=6)
        path = self._folder / f"{name}.png"
        write_bytes(path, [out.getvalue()])
        self.written.append(path)

    def sweep(self) -> None:
        """Delete pictures of an earlier sheet that were not written again; other files stay."""
        for pattern in _OURS:
            for path in self._folder.glob(pattern):
                if path not in self.written:
                    path.unlink(missing_ok=True)


def page_name(name: str, number: int, pages: int) -> str:
    """Name of page ``number`` (from 1) of ``pages``: ``timeline`` of one, else ``timeline-01``."""
    return name if pages == 1 else f"{name}-{number:0{max(2, len(str(pages)))}d}"


def few_colours(picture: Image.Image) -> Image.Image:
    """``picture`` in 256 colours: those of the lettering and the signs exactly, the frames dithered."""
    sample = picture.resize(thumbnail_size(picture.size, _SAMPLE), Image.Resampling.NEAREST)
    common = sample.quantize(256 - len(EXACT), Image.Quantize.MEDIANCUT).getpalette() or []
    colours = [*common, *[0] * (3 * (256 - len(EXACT)) - len(common)), *(part for c in EXACT for part in c)]
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours)
    indices = np.array(picture.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG))
    packed = np.asarray(picture).astype(np.uint32) @ np.array([65536, 256, 1], np.uint32)
    for number, (red, green, blue) in enumerate(EXACT, 256 - len(EXACT)):
        indices[packed == red * 65536 + green * 256 + blue] = number
    few = Image.fromarray(indices)
    few.putpalette(colours)
    return few
