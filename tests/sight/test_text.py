"""Text in one picture: the arithmetic on made-up maps, the models on rendered pictures; and where credits begin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import cv2
import numpy as np
import pytest
from PIL import Image as Pillow, ImageDraw, ImageFont

from shotad.core import Box, Image
from shotad.film import Picture
from shotad.sight import (
    TextReader,
    find_credits,
    text as text_room,
)
from shotad.sight.text import (
    TextLine,
    credit_moments,
    ctc_text,
    is_readable,
    is_word,
    straighten,
    text_quads,
    tidy,
)

ALPHABET = ("", "a", "b", "c", " ")
READER = TextReader()


def steps(path: str) -> np.ndarray:
    """Probabilities in which ``path`` is best at each step (``-`` the blank) at 0.9."""
    table = np.full((len(path), len(ALPHABET)), 0.001, np.float32)
    for step, letter in enumerate(path):
        table[step, 0 if letter == "-" else ALPHABET.index(letter)] = 0.9
    return table


def card(
    text: str, size: int = 44, place: tuple[int, int] = (427, 240), light: int = 235, ground: int = 0
) -> Image:
    picture = Pillow.new("RGB", (854, 480), (ground,) * 3)
    font = ImageFont.load_default(size)
    ImageDraw.Draw(picture).text(place, text, font=font, fill=(light,) * 3, anchor="mm")
    return np.array(picture)


def scenery(seed: int) -> Image:
    """A soft picture of many colours without any text."""
    coarse = np.random.default_rng(seed).integers(0, 200, (15, 27, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (854, 480), interpolation=cv2.INTER_CUBIC), np.uint8)


def test_faint_or_tiny_blobs_are_no_lines() -> None:
    probability = np.zeros((64, 160), np.float32)
    probability[10:20, 10:60] = 0.35
    probability[40:42, 100:102] = 0.95
    assert text_quads(probability) == []
    probability[10:20, 10:60] = 0.6
    assert len(text_quads(probability)) == 1


def test_ctc_joins_repeats_and_drops_blanks() -> None:
    for path, text in (("aa-ab", "aab"), ("-a-b-c-", "abc"), ("ab cc", "ab c"), ("----", ""), ("a--a", "aa")):
        read, score = ctc_text(steps(path), ALPHABET)
        assert (read, score) == (text, pytest.approx(0.9 if text else 0.0))


def test_strips_cores_and_surroundings_of_lines() -> None:
    image = scenery(2)
    for height in (1, 7, 90, 400):
        corners = np.array([[0, 0], [600, 0], [600, height], [0, height]], np.float32)
        strip = straighten(image, corners)
        assert strip.shape[0] == 48
        assert 1 <= strip.shape[1] <= 2400
    # A core grows by area times ratio over perimeter.
    probability = np.zeros((64, 160), np.float32)
    probability[20:31, 30:131] = 0.9
    (quad,) = text_quads(probability)
    width, height = 101.0, 11.0  # thickened by one pixel, between the middles of the outer pixels
    grow = width * height * 1.6 / (2 * (width + height))
    top_left, bottom_right = quad[0], quad[2]
    np.testing.assert_allclose(bottom_right - top_left, (width + 2 * grow, height + 2 * grow), atol=0.1)
    np.testing.assert_allclose((top_left + bottom_right) / 2, (80.5, 25.5), atol=0.1)
    # Surroundings tell a plain card from a picture.
    box = Box(0.3, 0.45, 0.7, 0.55)
    flat, around = text_room.surroundings(card("HELLO", ground=40), box)
    busy, _ = text_room.surroundings(scenery(3), box)
    assert flat < 1
    assert busy > 10
    assert len(around) == 12
    at_edge, blocks = text_room.surroundings(scenery(3), Box(0, 0, 1, 1))
    assert (at_edge, set(blocks)) == (0.0, {0.0})


class FakeModels:
    """Stands for the two models: the detector finds whatever is lighter than 200, the recogniser says ``ab``."""

    def __init__(self) -> None:
        self.looks = self.reads = 0

    def detector(self, batch: np.ndarray) -> np.ndarray:
        self.looks += 1
        return np.where(batch[:, :1] > 0.5, 0.95, 0.0).astype(np.float32)

    def recogniser(self, batch: np.ndarray) -> np.ndarray:
        self.reads += 1
        assert batch.shape[:3] == (1, 3, 48)
        assert batch.shape[3] >= 320
        return steps("a-b")[np.newaxis]


@pytest.fixture
def fake() -> tuple[TextReader, FakeModels]:
    models, reader = FakeModels(), TextReader()
    vars(reader).update(_detector=models.detector, _recogniser=(models.recogniser, ALPHABET))
    return reader, models


def bar(top: int, value: int = 250) -> Image:
    image = np.zeros((360, 640, 3), np.uint8)
    image[top : top + 20, 100:300] = value
    return image


def test_a_line_carries_where_it_stands(fake: tuple[TextReader, FakeModels]) -> None:
    image = bar(100)
    before = image.copy()
    ((line,),) = fake[0].read_all([image])
    assert (line.text, line.tilt, line.ground) == ("ab", 0.0, 0.0)
    assert line.score == pytest.approx(0.9)
    assert line.box.iou(Box(100 / 640, 100 / 360, 300 / 640, 120 / 360)) > 0.3
    assert line.box.left < 100 / 640 < 300 / 640 < line.box.right
    np.testing.assert_array_equal(image, before)


def test_unchanged_pictures_and_lines_are_not_read_again(fake: tuple[TextReader, FakeModels]) -> None:
    reader, models = fake
    other = bar(100)
    other[300:340, 400:600] = 120
    found = list(reader.read_all([bar(100), bar(100), other, bar(200)]))
    assert [[line.text for line in lines] for lines in found] == [["ab"]] * 4
    assert models.looks == 3, "the second picture is the first"
    assert models.reads == 2, "in the third picture the line has not changed"
    assert found[3][0].box.top > found[0][0].box.bottom


@pytest.mark.parametrize(
    ("shown", "looks"),
    [("..........", 6), ("......#...", 9), ("...#......", 6), ("#..#.#.#..", 10), ("##########", 10)],
)
def test_of_close_pictures_every_second_is_looked_at_but_near_a_line(
    fake: tuple[TextReader, FakeModels], shown: str, looks: int
) -> None:
    reader, models = fake
    # Each differs from the one before, by a patch too dark for a line.
    images = [bar(100, 250 if sign == "#" else 0) for sign in shown]
    for i, image in enumerate(images):
        image[200 : 220 + 10 * (i % 2)] = 60
    found = ["#" if lines else "." for lines in reader.read_close(images)]
    assert "".join(found) == ("." * 10 if shown == "...#......" else shown)
    assert models.looks == looks


def sure(lines: tuple[TextLine, ...]) -> list[str]:
    return [line.text for line in lines if line.score >= 0.9]


@pytest.mark.slow
@pytest.mark.parametrize("size", [18, pytest.param(44, marks=pytest.mark.long), 80])
@pytest.mark.parametrize("text", ["THE LAST HARBOUR", "Thirty years later", "Paris, 1943"])
def test_rendered_lines_are_read_with_their_spaces(text: str, size: int) -> None:
    assert sure(*READER.read_all([card(text, size)])) == [text]
    assert sure(*READER.read_all([card(text, size, light=70, ground=40)])) == [text], "low contrast"
    assert sure(*READER.read_all([np.maximum(card(text, size, light=255), scenery(4) // 2)])) == [text]


def test_reading_order_is_by_rows_then_from_the_left() -> None:
    def quad(x: float, y: float) -> np.ndarray:
        return np.array([[x, y], [x + 50, y], [x + 50, y + 20], [x, y + 20]], np.float32)

    right, left, below = quad(200, 10), quad(20, 14), quad(100, 60)
    found = text_room.reading_order([below, right, left])
    assert [float(q[0, 0]) for q in found] == [20, 200, 100]


# What can be text at all.
def test_words_names_and_numbers_are_readable() -> None:
    for text in (
        "SINTEL", "COMING SOON", "BBC", "NO", "1943", "23:59", "Mr. Ng", "McGregor", "3D", "21st", "rhythm", "No. 5",
        "Élodie", "Привет", "东京物语", "F.B.I.", "50%", "100", "Chapter II", "http://durian.blender.org", "We're",
        "(CC) CREATIVE COMMONS ATTRIBUTION 3.0",
    ):  # fmt: skip
        assert is_readable(tidy(text))


def test_strokes_crumbs_and_mixtures_are_not() -> None:
    for text in (
        "IIl|", "ill", "1111", "2", "小", "A羅", "xKqvL", "hT", "l1l", "AAAA", "", "—", "!?", "J", "一0", "/\\/\\",
        "a.,:;-", "oooo", "0000", "00080800", "OO C", "XKCDQ",
    ):  # fmt: skip
        assert not is_readable(tidy(text))


def test_words_with_digits() -> None:
    words = ("l1l", "2nd", "U-571", "a1b2c3", "B2B")
    assert [is_word(word) for word in words] == [False, True, True, False, True]


# Where end credits are looked for
class ByLight(TextReader):
    """Reads three lines where a picture is white and none where it is black."""

    def read_all(self, images: Iterable[Image]) -> Iterator[tuple[TextLine, ...]]:
        for image in images:
            lines = [TextLine(f"Name {i}", Box(0.3, 0.1 + i / 5, 0.7, 0.2 + i / 5), 0.99) for i in range(3)]
            yield tuple(lines) if image.mean() > 100 else ()


def pictures(white_from: float, white_to: float = 1e9, asked: list[float] | None = None) -> object:
    def read(seconds: Sequence[float]) -> Iterator[Picture]:
        assert list(seconds) == sorted(set(seconds))
        for second in seconds:
            if asked is not None:
                asked.append(second)
            value = 255 if white_from <= second < white_to else 0
            yield Picture(second, second, np.full((4, 4, 3), value, np.uint8))

    return read


def test_only_the_last_part_is_looked_at_and_a_roll_is_found_where_it_begins() -> None:
    for end, number, first in ((60, 30, 30), (600, 100, 300), (7200, 300, 6300)):
        moments = credit_moments(end)
        assert (len(moments), moments[0], moments) == (number, first, sorted(moments))
        assert moments[-1] < end
    told: list[float] = []
    found = find_credits(pictures(85.0), 100.0, ByLight(), told.append)  # type: ignore[arg-type]
    assert found is not None
    assert 85.0 <= found.start <= 86.0
    assert found.end == pytest.approx(100.0)
    assert len(told) == len(credit_moments(100.0))


@pytest.mark.parametrize("start", [60.0, 61.5, 90.5])
@pytest.mark.parametrize("length", [9.0, 17.5, 60.0])
def test_halving_finds_the_same_roll_with_a_third_of_the_frames(start: float, length: float) -> None:
    asked: list[float] = []
    found = find_credits(pictures(start, start + length, asked), 100.0, ByLight(), lambda amount: None)  # type: ignore[arg-type]
    moments = credit_moments(100.0)
    white = [moment for moment in moments if start <= moment < start + length]
    assert found is not None
    assert found.start == white[0]
    assert found.end == next((moment for moment in moments if moment > white[-1]), 100.0)
    assert len(asked) == len(set(asked)) <= len(moments) / 3 + 3


@pytest.mark.parametrize("alive", [False, True])
def test_lines_that_stand_over_a_living_picture_are_no_credits(alive: bool) -> None:
    def read(seconds: Sequence[float]) -> Iterator[Picture]:
        for second in seconds:
            image = np.full((180, 320, 3), 200, np.uint8)
            image[120:170, 10:80] = round(second * 60) % 200 if alive else 90
            yield Picture(second, second, image)

    found = find_credits(read, 40.0, ByLight(), lambda amount: None)
    assert (found is None) is alive
