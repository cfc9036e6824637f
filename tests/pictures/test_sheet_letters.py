"""Lettering: lines that fit, and letters that a font has."""

from __future__ import annotations

import pytest
from PIL import Image, ImageDraw

from shotad.film import lettering, lines_height, write_lines
from shotad.film.drawing import NOTE, built_in

LONG = "She turns away from the burning roof, lifts her staff and lets it sink again."


@pytest.mark.parametrize("width", [80, 130, 400, 2000])
def test_lines_fit_and_lose_nothing(width: int) -> None:
    drawn = lettering(LONG, 20, fonts=())
    lines = drawn.lines(width)
    assert " ".join(lines) == LONG
    assert all(drawn.width(line) <= width for line in lines)


def test_a_word_longer_than_a_line_is_broken() -> None:
    drawn = lettering("x" * 50 + " and on", 20, fonts=())
    lines = drawn.lines(100)
    assert "".join(lines).replace(" ", "") == "x" * 50 + "andon"
    assert all(drawn.width(line) <= 100 for line in lines)


def test_what_has_no_room_ends_in_an_ellipsis() -> None:
    drawn = lettering(LONG, 20, fonts=())
    lines = drawn.lines(150, most=2)
    assert len(lines) == 2
    assert lines[-1].endswith("…")
    assert all(drawn.width(line) <= 150 for line in lines)
    assert drawn.lines(5000, most=2) == [LONG]


def test_text_without_letters_in_any_font_gives_the_note() -> None:
    assert lettering("Собака бежит", 20, fonts=()).text == NOTE
    assert lettering("一只狗", 20, fonts=("no such font.ttf",)).text == NOTE


def test_plain_forms_stand_in_for_dashes_and_spaces() -> None:
    assert lettering("a\u00a0b\u2014c\u2011d", 20, fonts=()).text == "a b-c-d"


def test_a_sign_that_no_font_has_is_left_out() -> None:
    assert lettering("Run \u2192 now", 20, fonts=()).text == "Run  now"


def test_the_built_in_font_is_kept_where_it_has_the_letters() -> None:
    assert lettering(LONG, 20).font is built_in(20)


def test_height_is_what_is_drawn() -> None:
    page = Image.new("RGB", (300, 400), "white")
    height = write_lines(ImageDraw.Draw(page), (0, 0), LONG, 20, 200)
    assert height == lines_height(LONG, 20, 200)
    left, top, right, bottom = page.convert("L").point(lambda v: 255 - v).getbbox() or (0, 0, 0, 0)
    assert right <= 200
    assert height - 12 <= bottom <= height
    assert (left, top) < (6, 12)
