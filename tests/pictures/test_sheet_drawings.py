"""The pictures of a sheet: pages, rows, frames, signs."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from shotad.core import Role
from shotad.description import (
    overview as files,
    overview_pictures as filmstrip,
    overview_pictures as linecard,
    overview_pictures as timeline,
    overview_signs as marks,
)
from shotad.description.overview_data import Subject, read_subject, shown_seconds
from shotad.description.overview_page import score_picture, score_table
from shotad.description.overview_pictures import Filmstrip
from shotad.film import palette
from shotad.script import CueStatus
from tests.sheetfolder import Made, make_folder

RED = (250, 10, 20)


def subject_of(folder: Path, made: Made) -> Subject:
    return read_subject(make_folder(folder, made))


def has(picture: Image.Image, colour: tuple[int, int, int]) -> int:
    return int((np.asarray(picture) == colour).all(axis=-1).sum())


def pages(subject: Subject, size: tuple[int, int], *, lost: int = -1) -> list[Image.Image]:
    strip = Filmstrip(subject, size)
    drawn = [
        strip.add(shot, None if shot.index == lost else Image.new("RGB", size, RED)) for shot in subject.shots
    ]
    found = [page for page in drawn if page is not None]
    assert len(found) == strip.pages
    assert drawn[-1] is not None
    return found


@pytest.mark.parametrize(("shots", "number"), [(1, 1), (80, 1), (81, 2), (161, 3)])
def test_a_page_of_the_strip_has_eighty_shots(tmp_path: Path, shots: int, number: int) -> None:
    found = pages(subject_of(tmp_path, Made(shots=shots, every=1000)), (160, 90))
    assert len(found) == number
    assert {page.width for page in found} == {filmstrip.WIDTH}
    assert found[-1].height <= found[0].height


@pytest.mark.parametrize("size", [(1920, 1080), (1080, 1920), (800, 332), (64, 64), (2000, 100)])
def test_frames_on_the_strip_keep_their_shape_and_do_not_touch(tmp_path: Path, size: tuple[int, int]) -> None:
    subject = subject_of(tmp_path, Made(shots=9, threads=0))
    (page,) = pages(subject, size)
    inside = (np.asarray(page) == RED).all(axis=-1)
    rows, columns = inside.any(axis=1), inside.any(axis=0)
    heights = np.diff(np.flatnonzero(np.diff(np.r_[0, rows, 0])))[::2]
    widths = np.diff(np.flatnonzero(np.diff(np.r_[0, columns, 0])))[::2]
    assert len(heights) * len(widths) >= 9
    assert widths[0] / heights[0] == pytest.approx(size[0] / size[1], rel=0.06)
    assert inside.sum() == 9 * widths[0] * heights[0]


def test_a_frame_that_is_lost_leaves_its_place(tmp_path: Path) -> None:
    subject = subject_of(tmp_path, Made(shots=4, threads=0))
    (whole,), (holed,) = pages(subject, (160, 90)), pages(subject, (160, 90), lost=2)
    assert has(holed, RED) == has(whole, RED) * 3 // 4
    assert holed.size == whole.size


def test_threads_are_seen_on_the_strip_by_letter_and_colour(tmp_path: Path) -> None:
    (page,) = pages(subject_of(tmp_path, Made(shots=4, threads=2)), (160, 90))
    (plain,) = pages(subject_of(tmp_path / "plain", Made(shots=4, threads=0)), (160, 90))
    assert has(page, palette.SKY_BLUE) > has(plain, palette.SKY_BLUE) + 1000
    same = [replace(s, thread="A" if s.thread else None) for s in subject_of(tmp_path, Made(shots=4)).shots]
    other = [replace(s, thread="H") for s in same]
    one, two = (
        pages(replace(subject_of(tmp_path, Made(shots=4)), shots=tuple(shots)), (160, 90))[0]
        for shots in (same, other)
    )
    assert palette.thread_colour("A") == palette.thread_colour("H")
    assert one.tobytes() != two.tobytes(), "threads of one colour must differ by letter"


@pytest.mark.parametrize(
    ("end", "shots", "length", "rows"),
    [
        (3.0, 1, 15, 1), (44.5, 10, 15, 3), (70.5, 17, 15, 5), (1200.0, 300, 120, 10), (600.0, 4, 120, 5),
        (7200.0, 1500, 120, 60), (7200.0, 7000, 120, 60), (7200.0, 30, 600, 12), (90_000.0, 9000, 600, 150),
    ],
)  # fmt: skip
def test_rows_of_the_time_line(end: float, shots: int, length: int, rows: int) -> None:
    found = timeline.row_times(end, shots)
    assert (found[0].duration, len(found)) == (length, rows)
    assert found[0].start == 0
    assert found[-1].start < end <= found[-1].end


def test_the_time_line_shows_what_happens_when(tmp_path: Path) -> None:
    subject = subject_of(tmp_path, Made(shots=3, length=5, threads=0))
    (row,) = timeline.timeline_rows(subject)
    pixels = np.asarray(row.picture)
    second = (timeline.WIDTH - timeline._NAMES - 2 * timeline._ROW_EDGE) / 15
    for colour, spans in (
        (palette.SKY_BLUE, [(0.2, 2.2), (10.2, 12.2)]),
        (palette.YELLOW, [(0.2, 1.7), (10.2, 11.7)]),
    ):
        columns = np.flatnonzero((pixels == colour).all(axis=-1).any(axis=0))
        seconds = (columns - timeline._NAMES - timeline._ROW_EDGE) / second
        for value in seconds:
            assert any(start - 0.02 <= value <= end + 0.02 for start, end in spans)
        assert seconds.min() == pytest.approx(spans[0][0], abs=0.05)
        assert seconds.max() == pytest.approx(spans[-1][1], abs=0.05)


def test_lines_that_are_not_spoken_look_different(tmp_path: Path) -> None:
    heard, silent = (
        timeline.timeline_rows(subject_of(tmp_path / status, Made(status=status, threads=0)))[0].picture
        for status in (CueStatus.PLACED, CueStatus.SILENT)
    )
    assert has(heard, palette.YELLOW) > 500
    assert has(silent, palette.YELLOW) == 0


def test_speech_and_song_have_other_stripes() -> None:
    a, b = (Image.new("RGB", (60, 20), "white") for _ in range(2))
    marks.span(ImageDraw.Draw(a), (0, 0, 59, 19), marks.Kind.SPEECH)
    marks.span(ImageDraw.Draw(b), (0, 0, 59, 19), marks.Kind.LYRICS)
    assert np.asarray(a).mean() < 120 < np.asarray(b).mean()


def test_pages_of_the_time_line(tmp_path: Path) -> None:
    subject = subject_of(tmp_path, Made(shots=2, every=5))
    rows = timeline.timeline_rows(subject) * 25
    found = list(timeline.timeline(subject, rows))
    assert len(found) == math.ceil(25 / timeline.ROWS_PER_PAGE) == 3
    assert found[2].height < found[0].height == found[1].height


def test_a_card_shows_each_frame_where_its_time_stands(tmp_path: Path) -> None:
    line = subject_of(tmp_path, Made(shots=4, frames=2)).lines[0]
    assert line.look is not None
    seconds = shown_seconds(line.look)
    size = (200, 112)
    pictures = {(n, s): Image.new("RGB", size, RED) for n, times in seconds.items() for s in times}
    card = linecard.line_card(line, seconds, pictures, size)
    assert has(card, RED) == len(pictures) * size[0] * size[1]
    del pictures[0, seconds[0][0]]
    holed = linecard.line_card(line, seconds, pictures, size)
    assert has(holed, RED) == len(pictures) * size[0] * size[1]
    assert holed.size == card.size


def test_long_text_makes_a_card_higher_not_wider(tmp_path: Path) -> None:
    short, long = (
        linecard.line_card(line, shown_seconds(line.look), {}, (200, 112))
        for text in ("Short.", "A rather long line about a dog. " * 20)
        if (line := subject_of(tmp_path / text[:5], Made(text=text)).lines[0]) and line.look
    )
    assert long.width == short.width
    assert long.height > short.height + 100


def test_roles_have_borders_of_other_forms() -> None:
    drawn = set()
    for role in Role:
        colour = Image.new("RGB", (120, 90), "white")
        marks.role_border(ImageDraw.Draw(colour), (10, 10, 110, 80), role)
        drawn.add(colour.tobytes())
        assert (np.asarray(colour)[10:80, 10:110] == 255).all(), "borders stay off the frame"
    assert len(drawn) == 3


def test_scores_as_table_and_picture(tmp_path: Path) -> None:
    subject = subject_of(tmp_path, Made(shots=6))
    table = score_table(subject.lines[1], subject)
    assert table is not None
    assert table.names == ("Shot 0 B", "Shot 1 A", "Shot 2 B", "Shot 3 A")
    assert [score.words for score in table.cells[0]] == ["", "0.12", "0.51", "0.12"]
    assert [score.joined for score in table.cells[1]] == [False, False, False, True]
    assert table.cells[0][2] == table.cells[2][0]
    assert score_picture(table, "Scores").width > 200
    assert score_table(subject.lines[1], replace(subject, scores={})) is None


def test_few_colours_keep_what_has_a_meaning() -> None:
    noise = np.random.default_rng(7).integers(0, 256, (120, 160, 3), np.uint8)
    page = np.full((200, 300, 3), palette.PAPER, np.uint8)
    page[40:160, 20:180] = noise
    for k, colour in enumerate(palette.THREAD_COLOURS):
        page[170:190, 20 * k : 20 * k + 15] = colour
    few = np.asarray(files.few_colours(Image.fromarray(page)).convert("RGB"))
    assert (few[:40] == 255).all()
    assert (few[170:190] == page[170:190]).all()
    assert abs(few[40:160, 20:180].astype(int) - noise).mean() < 25


def test_thumbnails_keep_their_shape_and_never_grow() -> None:
    assert marks.thumbnail_size((1920, 1080), 20736) == (192, 108)
    assert marks.thumbnail_size((108, 192), 20736) == (108, 192)
    assert marks.thumbnail_size((100, 50), 10**6) == (100, 50)
    assert marks.thumbnail_size((9000, 1), 100) == (949, 1)


def test_names_of_pages_sort_as_the_pages_do() -> None:
    assert files.page_name("filmstrip", 1, 1) == "filmstrip"
    assert files.page_name("filmstrip", 3, 12) == "filmstrip-03"
    names = [files.page_name("filmstrip", number, 120) for number in range(1, 121)]
    assert names == sorted(names)
