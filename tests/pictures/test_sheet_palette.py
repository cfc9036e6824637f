"""Colours of threads: readable, and never the only sign."""

from __future__ import annotations

import itertools

import pytest

from shotad.core import thread_name
from shotad.film import palette


def test_letters_on_thread_colours_pass_wcag_aa() -> None:
    for colour in palette.THREAD_COLOURS:
        assert palette.contrast(colour, palette.ink_on(colour)) >= 4.5


def test_faint_ink_is_read_on_paper() -> None:
    assert palette.contrast(palette.FAINT, palette.PAPER) >= 4.5
    assert palette.contrast(palette.INK, palette.PAPER) >= 7


def test_contrast_is_that_of_wcag() -> None:
    assert palette.contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert palette.contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.48, abs=0.01)


def test_seven_threads_have_seven_colours_and_then_they_come_round() -> None:
    colours = [palette.thread_colour(thread_name(n)) for n in range(15)]
    assert len(set(colours[:7])) == 7
    assert colours[7:14] == colours[:7]
    assert all(one != other for one, other in itertools.pairwise(colours))


def test_css() -> None:
    assert palette.css(palette.ORANGE) == "#e69f00"
