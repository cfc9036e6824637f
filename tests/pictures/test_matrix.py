"""Matrices as pictures: colours keep their order, text is readable, nothing is cut off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from shotad.film import colour_of, ink_on, matrix_png
from shotad.film.palette import contrast

SCALES = ("extreme close-up", "close-up", "medium", "full", "long")
TITLE = "Scores of „Ä“"
STEPS = [colour_of(k / 255) for k in range(256)]


def drawn(
    path: Path, values: npt.NDArray[np.float64], names: Sequence[str] = SCALES, cell: str = ""
) -> npt.NDArray[np.int64]:
    n = len(names)
    matrix_png(
        path / "drawn.png", values, names,
        title=f"{TITLE} on test", row_title="true", column_title="predicted", cells=[[cell] * n] * n,
    )  # fmt: skip
    return np.asarray(Image.open(path / "drawn.png").convert("RGB")).astype(np.int64)


def test_the_order_stays_in_grey_and_for_every_kind_of_eye() -> None:
    """Luma falls all the way (but for rounding), and so do the cones that dichromats are left with."""
    ramp = np.array(STEPS, float)
    assert (np.diff(ramp[::4] @ [0.299, 0.587, 0.114]) < -0.5).all()
    long_medium = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074]])
    assert (np.diff(long_medium @ (ramp[::4].T / 255) ** 2.2) < 0).all()


def test_values_beyond_are_taken_as_the_end() -> None:
    assert colour_of(-3) == STEPS[0]
    assert colour_of(7) == colour_of(float("inf")) == STEPS[-1]
    with pytest.raises(ValueError, match="nan"):
        colour_of(float("nan"))


def test_text_is_readable_on_every_step() -> None:
    assert min(contrast(ink_on(colour), colour) for colour in STEPS) >= 4.5


def test_each_value_has_its_colour_at_its_place(tmp_path: Path) -> None:
    values = np.arange(25).reshape(5, 5) / 24
    picture = drawn(tmp_path, values)
    centres = np.zeros((5, 5, 2))
    for (i, j), value in np.ndenumerate(values):
        rows, columns = np.nonzero((picture == colour_of(float(value))).all(-1))
        # The bar of colours beside the matrix has every colour too.
        left = columns < 0.8 * picture.shape[1]
        assert left.sum() > 400
        centres[i, j] = rows[left].mean(), columns[left].mean()
    assert np.ptp(centres[..., 0], axis=1).max() < 1
    assert np.ptp(centres[..., 1], axis=0).max() < 1
    assert (np.diff(centres[..., 0], axis=0) > 30).all()
    assert (np.diff(centres[..., 1], axis=1) > 30).all()


def test_nothing_touches_the_edge(tmp_path: Path) -> None:
    for names in (tuple("0123456789"), ("a longer name", "b", "c", "d")):
        for words in ("", "100%\n99999", "a long text in a cell"):
            ink = drawn(tmp_path, np.ones((len(names), len(names))), names, words).min(-1) < 250
            for edge in (ink[:2], ink[-2:], ink[:, :2], ink[:, -2:]):
                assert not edge.any()


def test_files_are_the_same_every_time_and_bear_their_title(tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        drawn(tmp_path / name, np.eye(5))
        files.append((tmp_path / name / "drawn.png").read_bytes())
        assert [path.name for path in (tmp_path / name).iterdir()] == ["drawn.png"]
    assert files[0] == files[1]
    with Image.open(tmp_path / "a" / "drawn.png") as image:
        assert image.info["Title"] == f"{TITLE} on test"
