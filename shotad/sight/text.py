"""Text in one picture: where lines of text stand, what they say, and whether it can be text at all.

The models are PP-OCRv6 small (PaddlePaddle; converted by RapidOCR, Apache-2.0): a detector that gives
each pixel a probability of being text (differentiable binarization, Liao et al. 2020) and a line
recogniser with a CTC head. What goes in and what comes out is as RapidOCR 3.10 does it; the code is our
own, needs no polygon clipper, and gives a line the same answer whatever else is in the picture.

A recogniser always answers with something: on twigs, fences and faces with strokes (``IIl|``), single
letters and lone ideographs. The rules on that are about the shape of words, not their meaning, so that
names, which no dictionary holds, pass (`is_readable`).

The roll of end credits is looked for by its text at a few moments of the film's last part (`find_credits`).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise, product
from statistics import median
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from shotad.core import (
    Box,
    Image,
    Interval,
    Sighting,
)
from shotad.core.onnx import Floats, OnnxModel
from shotad.core.profiling import time_items, time_step
from shotad.core.weight_store import weights_file
from shotad.film import Picture
from shotad.film.slots import credits_interval, may_be_credits

Corners = npt.NDArray[np.float32]
"""``float32[4, 2]``, x and y in pixels: top left, top right, bottom right, bottom left."""

PIXELS = 640 * 360
"""About how many pixels the detector sees of each picture; its cost grows with them."""
PIXEL_THRESHOLD, BOX_THRESHOLD = 0.3, 0.5
"""Of a core of text: each pixel of it, and all of it in the mean (RapidOCR's own)."""
UNCLIP = 1.6
"""How far a line reaches beyond the core that is detected: area x this / perimeter (RapidOCR's own)."""
MIN_HEIGHT = 0.03
"""Height of the smallest line that is read, as a fraction of the picture's."""
MAX_HEIGHT = 0.5
"""Height of the largest; beyond it the detector takes figures and trees for single letters."""
MIN_SCORE = 0.6
"""Lines read with less are nothing; what is said aloud needs more (`inscriptions.TEXT_SCORE`)."""
SAME_PICTURE = 6.0
"""Luma levels (of 255) by which no 8 x 8 block has changed in a picture that is not looked at again."""
SAME_LINE = 12.0
"""The same for one line."""
_STRIDE = 32
"""The detector's sides must be multiples of this."""
_LINE_HEIGHT = 48
_LINE_WIDTH = 320, 2400
"""Least and greatest width of the recogniser's input; the least is the width it was trained with."""
_SMALLEST_SIDE = 3.0
"""Pixels of the detector's map below which a blob is noise."""


TEXT_WEIGHTS = ("ppocr-det", "ppocr-rec")
"""Detector and recogniser, by their names in the manifest."""

_Read = tuple["TextLine", Image]
"""A line with the strip of picture it was read from, so that the next picture can reuse it."""


class TextReader:
    """Reads text with two small models, each of which is fetched and loaded when it is first needed."""

    def read_all(self, images: Iterable[Image]) -> Iterator[tuple[TextLine, ...]]:
        """The lines of each of ``images``, which follow each other in time.

        A picture that differs nowhere from the last one looked at has its lines, and a line whose strip of
        picture has not changed is not read again. Nothing is remembered from one call to the next, so
        the answer depends on ``images`` alone.
        """
        return self._follow(images, lambda _, image: self._find(image))

    def read_close(self, images: Sequence[Image]) -> Iterator[tuple[TextLine, ...]]:
        """The same of pictures so close in time that every second one is looked at only near one with a
        line: titles that flash hide from the others."""
        find = cache(lambda i: self._find(images[i]))
        held: set[int] = set()

        def corners(i: int, _: Image) -> list[Corners]:
            near = [k for k in (i - 3, i - 1, i + 1, i + 3) if 0 <= k < len(images)]
            if i % 2 and i + 1 < len(images) and i - 2 not in held and not any(map(find, near)):
                return []
            held.update([i] if find(i) else [])
            return find(i)

        return self._follow(images, corners)

    def _follow(
        self, images: Iterable[Image], find: Callable[[int, Image], list[Corners]]
    ) -> Iterator[tuple[TextLine, ...]]:
        last_image: Image | None = None
        reads: tuple[_Read, ...] = ()
        for i, image in enumerate(images):
            if last_image is None or differs(image, last_image, SAME_PICTURE):
                lines = (self._line(image, corners, reads) for corners in find(i, image))
                last_image, reads = image.copy(), tuple(read for read in lines if read is not None)
            yield tuple(line for line, _ in reads if line.text and line.score >= MIN_SCORE)

    @cached_property
    def _detector(self) -> OnnxModel:
        return OnnxModel(weights_file(TEXT_WEIGHTS[0]), threads=2)

    @cached_property
    def _recogniser(self) -> tuple[OnnxModel, tuple[str, ...]]:
        """It and its alphabet: of films without text nothing is recognised."""
        model = OnnxModel(weights_file(TEXT_WEIGHTS[1]))
        return model, ("", *model.metadata("character").splitlines(), " ")

    def _find(self, image: Image) -> list[Corners]:
        """The corners of the lines in ``image``, in reading order, less those too small, large or steep."""
        height, width = image.shape[:2]
        # The shape is kept, and a picture grows to at most three times its size: 480 x 204 → 736 x 320.
        scale = min(math.sqrt(PIXELS / (width * height)), 3.0)
        size = [max(round(side * scale / _STRIDE), 1) * _STRIDE for side in (width, height)]
        way = cv2.INTER_AREA if size[0] < width else cv2.INTER_LINEAR
        small = cv2.resize(image, size, interpolation=way)
        quads = text_quads(self._detector(_planes(small))[0, 0])
        back = np.array([width / size[0], height / size[1]], np.float32)
        whole = [np.clip(quad * back, 0, (width, height)).astype(np.float32) for quad in quads]
        low, high = MIN_HEIGHT * height, MAX_HEIGHT * height
        return reading_order([quad for quad in whole if low <= _height(quad) <= high and _is_level(quad)])

    def _line(self, image: Image, corners: Corners, before: Sequence[_Read]) -> _Read | None:
        # The upright rectangle around ``corners`` as fractions; None where nothing is left of it
        height, width = image.shape[:2]
        left, top = corners.min(0) / (width, height)
        right, bottom = corners.max(0) / (width, height)
        if left >= right or top >= bottom:
            return None
        box = Box(*(round(float(side), 4) for side in (left, top, right, bottom)))
        strip = straighten(image, corners)
        for earlier, earlier_strip in before:
            if earlier.box.iou(box) > 0.8 and not differs(strip, earlier_strip, SAME_LINE):
                text, score, strip = earlier.text, earlier.score, earlier_strip
                break
        else:
            recogniser, alphabet = self._recogniser
            # Filled up with middle grey to 320 or a multiple of 32 pixels
            full = max(_LINE_WIDTH[0], math.ceil(strip.shape[1] / _STRIDE) * _STRIDE)
            line = np.zeros((1, 3, _LINE_HEIGHT, full), np.float32)
            line[:, :, :, : strip.shape[1]] = _planes(strip)
            text, score = ctc_text(recogniser(line)[0], alphabet)
        return TextLine(text.strip(), box, score, _tilt(corners), *surroundings(image, box)), strip


def _planes(image: npt.NDArray[Any]) -> Floats:
    """RGB ``uint8[H, W, 3]`` → BGR ``float32[1, 3, H, W]`` from -1 to 1, as the models were trained."""
    planes = image[:, :, ::-1].transpose(2, 0, 1).astype(np.float32)
    return np.ascontiguousarray((planes / 127.5 - 1.0)[np.newaxis])


def text_quads(probability: Floats) -> list[Corners]:
    """The lines in the detector's map ``float32[h, w]``, as corners in its pixels.

    The detector marks only the core of a line; the rectangle around a core grows on all sides by
    area * ratio / perimeter, the distance of the paper.
    """
    mask = (probability > PIXEL_THRESHOLD).astype(np.uint8)
    thick = cv2.dilate(mask, np.ones((2, 2), np.uint8))
    contours, _ = cv2.findContours(thick, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    quads = []
    for contour in contours:
        centre, (width, height), angle = cv2.minAreaRect(contour)
        if min(width, height) < _SMALLEST_SIDE:
            continue
        core = ordered(cv2.boxPoints((centre, (width, height), angle)))
        if _mean_inside(probability, core) < BOX_THRESHOLD:
            continue
        grow = width * height * UNCLIP / (width + height)
        quads.append(ordered(cv2.boxPoints((centre, (width + grow, height + grow), angle))))
    return quads


def ordered(corners: npt.NDArray[Any]) -> Corners:
    """Four corners of a rectangle in any order → top left, top right, bottom right, bottom left."""
    by_x = corners[np.argsort(corners[:, 0], kind="stable")]
    left, right = by_x[:2], by_x[2:]
    top_left, bottom_left = left[np.argsort(left[:, 1], kind="stable")]
    top_right, bottom_right = right[np.argsort(right[:, 1], kind="stable")]
    return np.array([top_left, top_right, bottom_right, bottom_left], np.float32)


def _mean_inside(probability: Floats, corners: Corners) -> float:
    height, width = probability.shape
    left, top = np.clip(np.floor(corners.min(0)).astype(int), 0, (width - 1, height - 1))
    right, bottom = np.clip(np.ceil(corners.max(0)).astype(int), 0, (width - 1, height - 1))
    inside = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
    cv2.fillPoly(inside, [(corners - (left, top)).astype(np.int32)], 1)
    return float(cv2.mean(probability[top : bottom + 1, left : right + 1], inside)[0])


def _width(corners: Corners) -> float:
    return float(max(np.linalg.norm(corners[0] - corners[1]), np.linalg.norm(corners[3] - corners[2])))


def _height(corners: Corners) -> float:
    return float(max(np.linalg.norm(corners[0] - corners[3]), np.linalg.norm(corners[1] - corners[2])))


def _tilt(corners: Corners) -> float:
    """Degrees; 0 where the line rises by less than 0.18 of its height.

    The tightest rectangle around ``A film by`` leans by 3 degrees, as its tall letters are not spread evenly.
    """
    x, y = (float(step) for step in (corners[1] - corners[0] + corners[2] - corners[3]) / 2)
    rise = abs(y) * _width(corners) / max(math.hypot(x, y), 1.0)
    return round(math.degrees(math.atan2(y, x)), 1) if rise > 0.18 * _height(corners) else 0.0


def _is_level(corners: Corners) -> bool:
    """False for writing that runs up or down: which way it is to be read cannot be told."""
    return abs(_tilt(corners)) <= 35 and _height(corners) < 1.5 * _width(corners)


def reading_order(quads: Sequence[Corners]) -> list[Corners]:
    """From top to bottom, and from left to right where the middles lie within half a line."""
    rows: list[list[Corners]] = []
    for quad in sorted(quads, key=lambda quad: float(quad[:, 1].mean())):
        first = rows[-1][0] if rows else quad
        below = quad[:, 1].mean() - first[:, 1].mean()
        if rows and below < 0.5 * min(_height(quad), _height(first)):
            rows[-1].append(quad)
        else:
            rows.append([quad])
    return [quad for row in rows for quad in sorted(row, key=lambda quad: float(quad[:, 0].mean()))]


def straighten(image: Image, corners: Corners) -> Image:
    """The strip of ``image`` between ``corners``, level, ``uint8[48, w, 3]`` with its shape kept.

    One step from picture to strip: turning first and resizing then blurs small letters (of ten small
    "presents" in the Sintel trailer five were read right in two steps, nine in one).
    """
    width, height = max(_width(corners), 1.0), max(_height(corners), 1.0)
    if height > 2 * _LINE_HEIGHT:
        shrink = 2 * _LINE_HEIGHT / height
        image = np.asarray(
            cv2.resize(image, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA), np.uint8
        )
        corners = (corners * shrink).astype(np.float32)
    wide = min(max(math.ceil(width * _LINE_HEIGHT / height), 1), _LINE_WIDTH[1])
    target = np.array([[0, 0], [wide, 0], [wide, _LINE_HEIGHT], [0, _LINE_HEIGHT]], np.float32)
    turn = cv2.getPerspectiveTransform(corners, target)
    strip = cv2.warpPerspective(image, turn, (wide, _LINE_HEIGHT), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(strip, np.uint8)


def ctc_text(probabilities: Floats, alphabet: Sequence[str]) -> tuple[str, float]:
    """The text in ``float32[steps, characters]``, and the mean probability of its characters.

    Character 0 is the blank; the same character at neighbouring steps is one: ``a a - a b → aab``. The last
    character is the space, which the recogniser tends to lose to the blank: see `_lost_spaces`. An
    empty text has score 0.
    """
    best = probabilities.argmax(axis=1)
    starts = np.flatnonzero(np.concatenate([[True], best[1:] != best[:-1]]) & (best != 0))
    if not len(starts):
        return "", 0.0
    spaced = _lost_spaces(probabilities, starts)
    text = "".join((" " if step in spaced else "") + alphabet[best[step]] for step in starts)
    return text, round(float(probabilities[starts, best[starts]].mean()), 4)


def _lost_spaces(probabilities: Floats, starts: npt.NDArray[np.intp]) -> frozenset[int]:
    """The steps among ``starts`` before which a space was lost.

    There the space has a probability of 0.05 or more between two letters and 15 times that of the line's
    middle gap; a line of few gaps needs 0.3. Measured at lost spaces of rendered lines: 0.07 to 0.49, more
    than 20,000 times the middle gap's; between letters of one word at most 0.013, but up to 0.24 in a
    widely set title that fades (SINTEL), and there 7 times the middle gap's at most.
    """
    space = probabilities.shape[1] - 1
    best = probabilities.argmax(axis=1)
    gaps = {
        int(step): float(probabilities[before + 1 : step, space].max(initial=0.0))
        for before, step in pairwise(starts)
        if space not in (best[before], best[step])
    }
    enough = max(0.05, 15 * median(gaps.values())) if len(gaps) >= 3 else 0.3
    return frozenset(step for step, value in gaps.items() if value >= enough)


def differs(first: Image, second: Image, level: float) -> bool:
    """True where any block of 8 x 8 pixels has changed by more than ``level`` luma levels on average."""
    if first.shape != second.shape:
        second = np.asarray(cv2.resize(second, (first.shape[1], first.shape[0])), np.uint8)
    change = cv2.absdiff(cv2.cvtColor(first, cv2.COLOR_RGB2GRAY), cv2.cvtColor(second, cv2.COLOR_RGB2GRAY))
    size = max(change.shape[1] // 8, 1), max(change.shape[0] // 8, 1)
    blocks = cv2.resize(change, size, interpolation=cv2.INTER_AREA)
    return bool(blocks.max() > level)


def surroundings(image: Image, box: Box) -> tuple[float, tuple[float, ...]]:
    """`TextLine.ground` and `TextLine.around` of ``box``: of a frame half a line wide around it.

    The blocks are six above it and six below it, from the left; 0 where the picture ends.
    """
    height, width = image.shape[:2]
    left, top = int(box.left * width), int(box.top * height)
    right, bottom = math.ceil(box.right * width), math.ceil(box.bottom * height)
    edge = max((bottom - top) // 2, 2)
    x, y = max(left - edge, 0), max(top - edge, 0)
    near = cv2.cvtColor(image[y : bottom + edge, x : right + edge], cv2.COLOR_RGB2GRAY)
    outside = np.ones(near.shape, bool)
    outside[top - y : bottom - y, left - x : right - x] = False
    ground = round(float(near[outside].std()), 1) if outside.any() else 0.0
    bands, is_wide = (near[: top - y], near[bottom - y :]), near.shape[1] >= 6
    blocks = (block for band in bands for block in np.array_split(band, 6, axis=1))
    return ground, tuple(round(float(block.mean()), 1) if block.size and is_wide else 0.0 for block in blocks)


_BLOCKS = 9, 16
"""Rows and columns of blocks into which a picture is cut to see how plain it is."""
_PLAIN_BLOCK = 6.0
"""Standard deviation of luma, 0 to 255, up to which a block is plain: a card may shade from dark to light."""


def plain_fraction(image: Image, lines: Iterable[TextLine]) -> float:
    """How much of the picture beside the lines of text is plain, 0 to 1: nearly 1 on a title card.

    Blocks that a line touches, with half its height around it, do not count.
    """
    rows, columns = _BLOCKS
    small = cv2.resize(image, (columns * 10, rows * 10), interpolation=cv2.INTER_AREA)
    gray = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.float32)
    blocks = gray.reshape(rows, 10, columns, 10).swapaxes(1, 2).reshape(rows, columns, 100)
    beside = np.ones((rows, columns), bool)
    for line in lines:
        edge = line.box.height / 2
        left, right = (int(np.clip(x, 0, 1) * columns) for x in (line.box.left - edge, line.box.right + edge))
        top, bottom = (int(np.clip(y, 0, 1) * rows) for y in (line.box.top - edge, line.box.bottom + edge))
        beside[top : bottom + 1, left : right + 1] = False
    if not beside.any():
        return 0.0
    return round(float(np.mean(blocks.std(axis=2)[beside] < _PLAIN_BLOCK)), 3)


_STROKES = frozenset("Il1|!i/\\jtfJLT[](){}.,:;'`\"-_~^ 一丨丿")
"""Characters that a single stroke, such as a twig or a pole, is taken for."""
_RINGS = frozenset("08oOQCc°.,'")
"""Characters that a wheel, a lamp or a bubble is taken for."""
_VOWELS = frozenset("aeiouy")
_IDEOGRAPHIC = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO")
_NUMBER = re.compile(r"\d[\d.,:/'-]*\d")
_EDGE = " |\\/_~^`*=<>+{}[]•·"
"""What sticks to the ends of a line by mistake: rules, bullets, edges of boxes."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of text as read in one picture.

    ``score`` is the mean probability of its characters, 0 to 1. ``tilt`` is the angle of its base line in
    degrees, clockwise, -45 to 45; 0 where it is no more than the letters' own unevenness. ``ground`` is the
    standard deviation of luma (0 to 255) just around it: near 0 on a plain card, tens in a picture.
    ``around`` is the mean luma of the blocks around it, in a fixed order: what changes there while the
    text stays tells text laid over the film from writing within it.
    """

    text: str
    box: Box
    score: float
    tilt: float = 0.0
    ground: float = 0.0
    around: tuple[float, ...] = ()


def tidy(text: str) -> str:
    """``text`` with single spaces, even dashes, and no stray marks at its ends.

    ``tidy("| FOUNDATION- THE  FUND_") → "FOUNDATION - THE FUND"``
    """
    text = " ".join(text.split())
    text = re.sub(r"(?<=\w)(?:- | -)(?=\w)", " - ", text)
    return text.lstrip(_EDGE + ",:;.").rstrip(_EDGE + "-–—")


def letters(text: str) -> int:
    """How many letters and digits ``text`` has."""
    return sum(character.isalnum() for character in text)


def is_readable(text: str) -> bool:
    """True if ``text`` (tidy) has the shape of words or numbers; False for strokes, crumbs and mixed scripts.

    At least two letters or digits, and more of them than of marks; not all strokes, nor all rings; no
    letter four times running; at least half of its letters in words that could be spoken.
    """
    count = letters(text)
    marks = len(text.replace(" ", "")) - count
    if count < 2 or marks > count or _STROKES.issuperset(text) or (_RINGS | {" "}).issuperset(text):
        return False
    if re.search(r"([^\W\d])\1{3}", text, re.IGNORECASE):
        return False
    ideographs = sum(unicodedata.name(character, "").startswith(_IDEOGRAPHIC) for character in text)
    if ideographs:
        return ideographs >= 2 and 2 * ideographs >= count
    spoken = sum(letters(word) for word in text.split() if is_word(word))
    return 2 * spoken >= count


def is_word(word: str) -> bool:
    """True if ``word`` could be a word, a name, a short set of initials, or a number of two digits or more.

    ``SINTEL``, ``McGregor``, ``BBC``, ``1943``, ``U-571`` yes; ``xKqvL``, ``hT``, ``l1l`` no.
    """
    bare = word.strip(".,:;!?'\"()[]-–—…&#@%$£€*")
    if _NUMBER.fullmatch(bare):
        return True
    plain = "".join(c for c in unicodedata.normalize("NFKD", bare) if not unicodedata.combining(c))
    if not any(character.isalpha() for character in plain):
        return False
    if not plain.isascii():
        return True
    if any(character.isdigit() for character in plain):
        short = plain.replace("-", "")
        return len(short) <= 4 and (short.isupper() or short.rstrip("sthndr").isdigit())
    has_vowel = any(character in _VOWELS for character in plain.lower())
    if plain.isupper():
        return has_vowel or len(plain) <= 4
    turns = len(re.findall(r"[a-z][A-Z]", plain))
    mixed = turns > 1 or (turns == 1 and len(plain) < 4)
    return not mixed and (has_vowel or len(plain) <= 3)


STEPS = (1.0, 3.0)
"""Seconds between the moments looked at, at least and at most."""
MOMENTS = 60
"""How many moments a short film is looked at; a long one at more, each `STEPS` [1] seconds."""
REACH = 900.0
"""Seconds before the end of the film within which credits are looked for."""
_SMALL = 320, 180
"""Width and height in pixels to which a picture is brought to be held against the next."""
STRIDE = 4
"""Every so many of the moments are looked at first; the shortest roll in a short film (8 s) shows in two."""


@time_step("credits")
def find_credits(
    pictures: Callable[[Sequence[float]], Iterable[Picture]],
    end: float,
    reader: TextReader,
    advance: Callable[[float], None],
) -> Interval | None:
    """The roll of credits of a film that ends at ``end`` seconds, or None.

    ``pictures`` delivers one picture for each of the ascending seconds it is given. Every fourth moment is
    looked at; where lines come or go between two of them, what is between is halved until it is known when.
    """
    moments = credit_moments(end)
    lines_by_moment: dict[int, tuple[TextLine, ...]] = {}
    small: dict[int, Image] = {}
    places = sorted({*range(0, len(moments), STRIDE), *range(len(moments))[-1:]})

    def full(place: int) -> bool:
        return may_be_credits(line.box for line in lines_by_moment[place])

    def looked_at(places_to_read: Sequence[int]) -> Iterator[Image]:
        delivered = time_items("frames", pictures([moments[i] for i in places_to_read]))
        for place, picture in zip(places_to_read, delivered, strict=False):
            small[place] = np.asarray(cv2.resize(picture.image, _SMALL, interpolation=cv2.INTER_AREA))
            yield picture.image
            advance(1)

    while places:
        new_readings = [*reader.read_all(looked_at(places))]
        # The film may end before the last moments: nothing is read there.
        new_readings += [()] * (len(places) - len(new_readings))
        lines_by_moment |= dict(zip(places, new_readings, strict=True))
        between = [(a, b) for a, b in pairwise(sorted(lines_by_moment)) if b > a + 1]
        places = [(a + b) // 2 for a, b in between if full(a) != full(b)]
    for _ in range(len(moments) - len(lines_by_moment)):
        advance(1)
    read_places = sorted(lines_by_moment)
    sightings: list[Sighting] = []
    for place in read_places:
        for line in lines_by_moment[place]:
            sightings.append(Sighting(line.text, line.box, moments[place], line.score))
    roll = credits_interval(sightings, [moments[place] for place in read_places], Interval(0.0, end))
    if roll is None:
        return None
    shown = [i for i in read_places if roll.start <= moments[i] < roll.end and full(i)]
    pages = [_stands_over_life(*((small[i], lines_by_moment[i]) for i in pair)) for pair in pairwise(shown)]
    return roll if 2 * sum(pages) <= len(pages) else None


def _stands_over_life(
    before: tuple[Image, Sequence[TextLine]], after: tuple[Image, Sequence[TextLine]]
) -> bool:
    """True where most lines stay at their places while the picture around them changes: no credits.

    A car's display, figures of a measuring camera and a page with a film in it stand so.
    """
    boxes = [line.box for _, lines in (before, after) for line in lines]
    stay = sum(any(new.box.iou(old.box) > 0.5 for old in before[1]) for new in after[1])
    if 2 * stay <= len(after[1]):
        return False
    images = before[0].copy(), after[0].copy()
    width, height = _SMALL
    for box, image in product(boxes, images):
        edge = box.height / 2
        left, right = (np.clip((box.left - edge, box.right + edge), 0, 1) * width).astype(int)
        top, bottom = (np.clip((box.top - edge, box.bottom + edge), 0, 1) * height).astype(int)
        image[top : bottom + 1, left : right + 1] = 0
    return differs(*images, SAME_LINE)


def credit_moments(end: float) -> list[float]:
    """The moments looked at, ascending: a film of 60 s is looked at from 30 s on, once a second."""
    first = max(end / 2, end - REACH)
    step = min(max((end - first) / MOMENTS, STEPS[0]), STEPS[1])
    return [round(float(second), 3) for second in np.arange(first, end - step / 4, step)]
