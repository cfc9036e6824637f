"""Matrices as pictures: colours keep their order, text is readable, nothing is cut off."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from shotad.film import PAPER, ink_on, matrix_image, matrix_png
from shotad.film.drawing import colour_of
from shotad.film.palette import contrast

SCALES = ("extreme close-up", "close-up", "medium", "full", "long")
LONG = ("a class whose name is long and goes on", "short", "Donaudampfschifffahrtsgesellschaft")
STEPS = [colour_of(k / 255) for k in range(256)]


def pixels(image: Image.Image) -> npt.NDArray[np.int64]:
    return np.asarray(image).astype(np.int64)


def cells_of(image: Image.Image, share: float) -> npt.NDArray[np.bool_]:
    return np.asarray((pixels(image) == colour_of(share)).all(-1))


class TestColours:
    def test_the_order_stays_in_grey_and_for_every_kind_of_eye(self) -> None:
        """Luma falls all the way (but for rounding), and so do the cones that dichromats are left with."""
        ramp = np.array(STEPS, float)
        assert (np.diff(ramp[::4] @ [0.299, 0.587, 0.114]) < -0.5).all()
        long_medium = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074]])
        assert (np.diff(long_medium @ (ramp[::4].T / 255) ** 2.2) < 0).all()

    def test_lightness_falls_evenly(self) -> None:
        """CIE L* of equal steps differs by equal amounts, within a quarter."""
        linear = (np.array(STEPS, float) / 255) ** 2.2
        lightness = 116 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16
        steps = -np.diff(lightness[::15])
        assert steps.min() > 0.75 * steps.mean()
        assert steps.max() < 1.25 * steps.mean()

    def test_the_ends_are_far_apart_and_the_low_one_is_no_paper(self) -> None:
        assert contrast(STEPS[0], STEPS[-1]) > 10
        assert STEPS[0] != PAPER

    def test_values_beyond_are_taken_as_the_end(self) -> None:
        assert colour_of(-3) == STEPS[0]
        assert colour_of(7) == colour_of(float("inf")) == STEPS[-1]
        with pytest.raises(ValueError, match="nan"):
            colour_of(float("nan"))

    def test_text_is_readable_on_every_step(self) -> None:
        assert min(contrast(ink_on(colour), colour) for colour in STEPS) >= 4.5


class TestDrawing:
    def test_each_value_has_its_colour_at_its_place(self) -> None:
        values = np.array([[0.0, 0.25, 0.5], [0.75, 1.0, 0.1]])
        image = matrix_image(values, ["a", "b"], ["c", "d", "e"])
        centres = {}
        for (i, j), value in np.ndenumerate(values):
            rows, columns = np.nonzero(cells_of(image, float(value)))
            # The bar of colours beside the matrix has every colour too.
            left = columns < image.width * 0.62
            assert left.sum() > 400
            centres[i, j] = rows[left].mean(), columns[left].mean()
        assert centres[0, 0][1] < centres[0, 1][1] < centres[0, 2][1]
        assert centres[0, 0][0] < centres[1, 0][0]
        assert centres[0, 1][1] == pytest.approx(centres[1, 1][1], abs=1)

    def test_low_and_high(self) -> None:
        image = matrix_image(np.array([[-1.0, 0.0], [3.0, 99.0]]), "ab", "cd", low=-1, high=3)
        for share in (0.0, 0.25, 1.0):
            assert cells_of(image, share).sum() > 400

    def test_nan_is_grey_and_struck_out(self) -> None:
        image = matrix_image(np.array([[np.nan, 0.5]]), ["a"], ["b", "c"])
        grey = (pixels(image) == (238, 238, 238)).all(-1)
        rows, columns = np.nonzero(grey)
        inside = pixels(image)[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
        assert (inside.max(-1) < 150).sum() >= 8, "a dash in the middle"

    def test_the_frame_of_a_marked_cell_is_seen_at_both_ends(self) -> None:
        values = np.array([[0.0, 1.0, 0.0, 1.0]])
        plain = pixels(matrix_image(values, ["a"], "bcde"))
        marked = pixels(matrix_image(values, ["a"], "bcde", marks=np.array([[True, True, False, False]])))
        changed = (plain != marked).any(-1)
        rows, columns = np.nonzero(changed)
        assert changed.sum() > 200
        for half in (columns < columns.mean(), columns >= columns.mean()):
            there = marked[rows[half], columns[half]]
            assert (there.max(-1) < 40).sum() > 80, "dark outside"
            assert (there.min(-1) > 240).sum() > 40, "light inside"

    def test_cells_are_written(self) -> None:
        values = np.full((2, 2), 0.5)
        bare = pixels(matrix_image(values, "ab", "cd", text=20))
        full = pixels(matrix_image(values, "ab", "cd", cells=[["", ""], ["", "x"]], text=20))
        rows, _ = np.nonzero((bare != full).any(-1))
        assert len(rows) > 20
        assert rows.min() > bare.shape[0] / 2 - 4, "in the last cell alone"

    def test_the_callers_values_stay(self) -> None:
        values = np.array([[0.5, np.nan]])
        values.flags.writeable = False
        matrix_image(values, ["a"], ["b", "c"])


@pytest.mark.parametrize("text", [8, 16, 29])
@pytest.mark.parametrize("names", [SCALES, LONG, tuple("0123456789"), ("x",)])
@pytest.mark.parametrize("words", ["", "100\n99.9%", "a long text in a cell"])
def test_nothing_touches_the_edge(text: int, names: tuple[str, ...], words: str) -> None:
    """All that is drawn keeps a white margin on every side, at every size."""
    n = len(names)
    image = matrix_image(
        np.ones((n, n)), names, names, title="A title that may be far broader than the matrix below it",
        row_title="labelled, by people", column_title="predicted", cells=[[words] * n] * n if words else None,
        note="A note that says what is in a cell, and goes on for a while.", text=text,
    )  # fmt: skip
    ink = pixels(image).min(-1) < 250
    for edge in (ink[:2], ink[-2:], ink[:, :2], ink[:, -2:]):
        assert not edge.any()
    assert image.width < (30 + 14 * n) * text


def rows_of_ink(image: Image.Image) -> int:
    dark = (pixels(image).max(-1) < 100).any(1)
    return int((np.diff(dark.astype(int)) == 1).sum())


def test_a_narrow_title_is_broken_into_lines() -> None:
    one, two = (matrix_image(np.zeros((1, 1)), [""], [""], title=title) for title in ("words", "words " * 12))
    assert one.width == two.width
    assert two.height > one.height + 16
    assert rows_of_ink(two) > rows_of_ink(one)


def test_size_follows_text() -> None:
    sizes = [matrix_image(np.zeros((5, 5)), SCALES, SCALES, text=t).size for t in (10, 20, 40)]
    for smaller, larger in itertools.pairwise(sizes):
        for a, b in zip(smaller, larger, strict=True):
            assert b == pytest.approx(2 * a, rel=0.1)


def test_files_are_the_same_every_time_and_bear_their_title(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        matrix_png(tmp_path / name, np.eye(3), "abc", "abc", title="Scores of „Ä“")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    with Image.open(tmp_path / "a.png") as image:
        assert image.info["Title"] == "Scores of „Ä“"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.png"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"values": np.zeros(3)}, r"float\[n, m\]"),
        ({"values": np.zeros((0, 2)), "rows": []}, "above 0"),
        ({"rows": ["a"]}, "1 rows and 2 columns"),
        ({"columns": ["a"]}, "2 rows and 1 columns"),
        ({"cells": [["a", "b"]]}, "cells must be 2 rows"),
        ({"cells": [["a", "b"], ["c"]]}, "cells must be 2 rows"),
        ({"marks": np.zeros((2, 3), bool)}, r"marks must be bool\[2, 2\]"),
        ({"low": 1.0, "high": 1.0}, "low must be below high"),
        ({"high": float("nan")}, "low must be below high"),
        ({"text": 5}, "at least 8"),
    ],
)
def test_what_does_not_agree_is_refused(change: dict[str, Any], match: str) -> None:
    arguments: dict[str, Any] = {"values": np.zeros((2, 2)), "rows": ["a", "b"], "columns": ["c", "d"]}
    with pytest.raises(ValueError, match=match):
        matrix_image(**{**arguments, **change})
