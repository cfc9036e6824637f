"""The film strip: the middle of each shot, small, kept."""

from __future__ import annotations

import io
import json
import threading
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from shotad.core import Config, FilmError, FilmInfo, Interval, ReviewError, Shot, WorkFolderError
from shotad.film import Prepared, open_film
from shotad.film.pyav_reader import PyavFilm
from shotad.review import strip as room
from shotad.review.kinds import Picture
from shotad.review.strip import Strip
from tests.media import FilmSpec, make_film, make_stills, read_number
from tests.review.boardfilm import grammar_record, grammar_row

SPEC = FilmSpec(frames=400, gop=25, b_frames=2)


@dataclass
class Session:
    """What the strip reads of a session."""

    folder: Path
    film: FilmInfo
    prepared: Prepared
    config: Config


def session(folder: Path, source: Path, count: int, length: float, rate: Fraction | None = None) -> Session:
    with open_film(source, frame_rate=rate) as film:
        info = film.info
    shots = tuple(Shot(i, Interval(i * length, (i + 1) * length)) for i in range(count))
    return Session(folder, info, Prepared(info, count * length, shots, (), (), ()), Config())


def opened(folder: Path, count: int = 40) -> Strip:
    source = make_film(SPEC).path
    return Strip(session(folder, source, count, 0.4), source)


def pixels(picture: Picture) -> np.ndarray[Any, np.dtype[np.uint8]]:
    assert picture.media_type == "image/jpeg"
    return np.asarray(Pillow.open(io.BytesIO(picture.data)).convert("RGB"))


def ask_all(strip: Strip, indices: range) -> dict[int, Picture]:
    got: dict[int, Picture] = {}

    def ask(index: int) -> None:
        got[index] = strip.picture(index)

    threads = [threading.Thread(target=ask, args=(index,)) for index in indices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


def test_the_middle_of_the_shot_at_160_pixels(tmp_path: Path) -> None:
    strip = opened(tmp_path)
    shown = pixels(strip.picture(7))
    assert shown.shape == (90, 160, 3)
    assert read_number(shown) == 75
    strip.close()


def test_where_the_grammar_was_read_its_middle(tmp_path: Path) -> None:
    record = grammar_record([grammar_row(3, 1.24), grammar_row(4, 9.0)])
    (tmp_path / "grammar.json").write_text(json.dumps(record), encoding="utf-8")
    strip = opened(tmp_path)
    assert read_number(pixels(strip.picture(3))) == 31
    assert read_number(pixels(strip.picture(4))) == 45, "a middle outside of its shot is not believed"
    strip.close()


def test_many_at_once_and_kept_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strip = opened(tmp_path)
    got = ask_all(strip, range(0, 40, 3))
    assert {index: read_number(pixels(picture)) for index, picture in got.items()} == {
        index: 5 + 10 * index for index in range(0, 40, 3)
    }
    strip.close()
    files = list((tmp_path / "review" / "strip").glob("*.jpg"))
    assert len(files) == len(got)
    assert all(path.stat().st_size < 8000 for path in files)
    monkeypatch.setattr(PyavFilm, "_frames_at", None)
    assert opened(tmp_path).picture(3) == got[3]


def test_another_film_has_pictures_of_its_own(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.picture(5)
    first.close()
    source = make_film(FilmSpec(size=(108, 192), frames=60)).path
    other = Strip(session(tmp_path, source, 6, 0.4), source)
    assert read_number(pixels(other.picture(5))) == 55
    assert pixels(other.picture(5)).shape == (192, 108, 3)
    other.close()


def test_a_shot_that_is_not_there(tmp_path: Path) -> None:
    strip = opened(tmp_path)
    for index in (-1, 40, 10**9):
        with pytest.raises(ReviewError, match="There is no shot"):
            strip.picture(index)
    strip.close()


def test_where_nothing_can_be_written_it_is_shown_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise WorkFolderError("The disk is full.")

    monkeypatch.setattr(room, "write_bytes", full)
    strip = opened(tmp_path)
    assert strip.picture(5) == strip.picture(5)
    strip.close()


def test_a_film_that_is_gone_is_told(tmp_path: Path) -> None:
    here = tmp_path / "film.mp4"
    here.write_bytes(make_film(SPEC).path.read_bytes())
    strip = Strip(session(tmp_path, here, 4, 0.4), here)
    here.unlink()
    with pytest.raises(FilmError, match="There is no film"):
        strip.picture(0)
    strip.close()


def test_numbered_stills(tmp_path: Path) -> None:
    folder = make_stills(tmp_path / "frames", 10)
    strip = Strip(session(tmp_path / "work", folder, 5, 1.0, Fraction(2)), folder)
    got = ask_all(strip, range(5))
    assert [read_number(pixels(got[i])) for i in range(5)] == [1, 3, 5, 7, 9]
    strip.close()
