"""Things and people in one picture, by two detectors that were trained apart, and the colour of a part of it.

`EfficientDet` (lite2, Google, Apache-2.0) looks first, `SsdMobileNet` (v2, TensorFlow model zoo,
Apache-2.0) is asked for a second opinion. Both know the classes of COCO and see square pictures. They
differ in what they bear: a wide frame squeezed into a square costs EfficientDet most of its people,
so it gets the frame with its own proportions, and once more in square tiles for what is small; SSD
was trained on squeezed pictures.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from shotad.core import Box, Colour, Image, Sighting, native_quiet, unloadable
from shotad.sight.mobilenet import MobileNet, squeeze
from shotad.sight.pictures import cut, shared

_PEOPLE_AND_VEHICLES = "person bicycle car motorcycle airplane bus train truck boat"
_STREET = "traffic_light fire_hydrant street_sign stop_sign parking_meter bench"
_ANIMALS = "bird cat dog horse sheep cow elephant bear zebra giraffe"
_WORN = "hat backpack umbrella shoe eye_glasses handbag tie suitcase"
_SPORT = (
    "frisbee skis snowboard sports_ball kite baseball_bat baseball_glove skateboard surfboard tennis_racket"
)
_TABLE = "bottle plate wine_glass cup fork knife spoon bowl"
_FOOD = "banana apple sandwich orange broccoli carrot hot_dog pizza donut cake"
_ROOM = "chair couch potted_plant bed mirror dining_table window desk toilet door"
_DEVICES = "tv laptop mouse remote keyboard cell_phone microwave oven toaster sink refrigerator blender"
_SMALL = "book clock vase scissors teddy_bear hair_drier toothbrush"

COCO = tuple(
    name.replace("_", " ")
    for line in (
        *(_PEOPLE_AND_VEHICLES, _STREET, _ANIMALS, _WORN, _SPORT),
        *(_TABLE, _FOOD, _ROOM, _DEVICES, _SMALL),
    )
    for name in line.split()
)
"""The 90 class names of COCO in the order of their numbers, from 0."""
ANIMALS = frozenset(_ANIMALS.split())

_OVERLAP = 0.3
"""Share of its width that a tile has in common with the next, at least."""
_EDGE = 0.015
"""A box that ends this near to an inner edge of its tile (fraction of the picture) is cut off there."""
_LEAST = 0.3
_PLAIN = 0.75
"""Score of a body in the whole picture from which tiles need not be looked at."""
_HELD = 0.7
"""Share of a face that lies in the body that holds it."""
_TRACE = 0.05
"""The same below which they need not: of 178 frames of 37 clips 78 lie below, none with anybody in a tile."""
_FAINT = 0.02
"""The least score that the detector gives."""


KINDS: dict[str, tuple[int, ...]] = {
    "bird": (*range(7, 25), *range(80, 101), *range(127, 147)),
    "cat": tuple(range(281, 286)),
    "dog": tuple(range(151, 269)),
    "horse": (339,),
    "sheep": (348, 349),
    "cow": (345, 346, 347),
    "elephant": (101, 385, 386),
    "bear": (294, 295, 296, 297),
    "zebra": (340,),
    "car": (436, 468, 511, 609, 627, 656, 661, 717, 751, 817),
    "bus": (654, 779, 874),
    "truck": (555, 569, 675, 864, 867),
    "train": (466, 547, 565, 705, 820, 829),
    "boat": (472, 484, 510, 554, 576, 625, 628, 724, 780, 814, 871, 914),
    "airplane": (404, 895),
    "bicycle": (444, 671),
    "motorcycle": (665, 670),
    "laptop": (620, 681),
    "cell phone": (487,),
    "mouse": (673,),
    "keyboard": (508,),
    "clock": (409, 530, 892),
    "cup": (504, 967, 968),
    "bottle": (440, 720, 737, 898, 907),
    "umbrella": (879,),
    "teddy bear": (850,),
    "banana": (954,),
    "orange": (950,),
    "pizza": (963,),
}
"""The things that are told, by COCO's names, and ImageNet's classes (numbers from 0) that are the same."""


SCENES: dict[str, tuple[int, ...]] = {
    "lake": (975,),
    "seashore": (977, 978),
    "mountain": (970, 979, 980),
    "cliff": (972, 976),
    "old building": (483, 497, 663, 668, 698),
    "rocket": (657, 744),
    "farm machine": (595, 730, 856, 866),
    "drawn figure": (917,),
    "insect": tuple(range(300, 321)),
    "butterfly": tuple(range(321, 327)),
    "squirrel": (335,),
    "rabbit": tuple(range(330, 333)),
    "monkey": tuple(range(365, 385)),
}
"""What fills pictures without being one of COCO's things, by classifiers' classes alone.

Two classifiers agree on fish, mushrooms and balloons where there are none: only what was seen right on film
to tune by is here, and in the next two."""
BESIDE: dict[str, tuple[int, ...]] = {
    "laptop": KINDS["laptop"],
    "guitar": (402, 420, 546),
    "bookshelf": (453, 454, 624),
    "candle": (470,),
    "glass": (441, 572, 966),
}
"""The same of things that are told beside people too."""
OUTFITS: dict[str, tuple[int, ...]] = {"a suit": (457, 834, 906), "uniform": (652,)}
"""What somebody wears, by the classes of pictures in which it is worn."""


_TOGETHER = 1.2
"""Weight of what two classifiers agree on, against what one says alone."""
_HINT = 0.04
"""How sure the first must be of anything in a picture for the second to be asked: below, both cannot be."""


class Classifier:
    """EfficientNet-Lite3 (Google, Apache-2.0) through LiteRT: what fills a part of a picture."""

    def __init__(self, path: Path) -> None:
        self._model = shared(LiteModel, path)

    def shares(
        self, image: Image, box: Box, kinds: Mapping[str, tuple[int, ...]] = KINDS
    ) -> dict[str, float]:
        """How much of its certainty, 0 to 1, goes to each of ``kinds``, for what is in ``box``."""
        found = self.certainty(square_around(image, box, 1.15, self._model.pixels)[0])
        return {kind: float(found[list(classes)].sum()) for kind, classes in kinds.items()}

    def certainty(self, image: Image) -> npt.NDArray[np.float64]:
        """How sure it is of each class of ImageNet for a picture, ``float64[1000]``."""
        step, zero = self._model.outputs[0]["quantization"]
        found = np.asarray(self._model(squeeze(image, self._model.pixels))[0][0], np.float64)
        return np.asarray((found - zero) * step if step else found, np.float64)


def sure_of(
    images: Sequence[Image], first: Classifier, second: MobileNet, told: Iterable[str]
) -> list[dict[str, float]]:
    """How sure two classifiers are that whole pictures show each of `KINDS`, `SCENES`, `BESIDE` and
    `OUTFITS`, 0 to 1: by their geometric mean, each the mean of the squeezed picture and its middle; of
    `KINDS` and `SCENES` by the first classifier alone where it is surer in both views.

    Nothing where one of the pictures but the first gives no hint of any kind that can be ``told``.
    """
    kinds, found = {**KINDS, **SCENES, **BESIDE, **OUTFITS}, []
    for at, image in reversed(list(enumerate(images))):
        height, width = image.shape[:2]
        side = min(height, width)
        views = image, image[(height - side) // 2 :, (width - side) // 2 :][:side, :side]
        ours = np.array([first.certainty(view) for view in views])
        mine = {kind: ours[:, list(classes)].sum(axis=1) for kind, classes in kinds.items()}
        hinted = any(mine[kind].mean() >= _HINT for kind in told)
        if at and not hinted:
            return []
        others = np.array([second.certainty(view) for view in views if hinted])
        sure: dict[str, float] = {}
        for kind, classes in kinds.items():
            its = others[:, list(classes)].sum(axis=1).mean() if hinted else 0.0
            both = min(_TOGETHER * float(np.sqrt(mine[kind].mean() * its)), 1.0)
            alone = 0.0 if kind in BESIDE or kind in OUTFITS else float(mine[kind].min())
            sure[kind] = max(both, alone)
        found.append(sure)
    return found[::-1]


def square_around(image: Image, box: Box, room: float, pixels: int) -> tuple[Image, float, float, float]:
    """A square with ``box`` in its middle, its longer side ``room`` times as long, black beyond the picture;
    then its left, top and side in pixels of ``image``."""
    height, width = image.shape[:2]
    side = max(room * max(box.width * width, box.height * height), 1.0)
    left, top = box.centre[0] * width - side / 2, box.centre[1] * height - side / 2
    scale = pixels / side
    matrix = np.array([[scale, 0, -left * scale], [0, scale, -top * scale]], np.float64)
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    square = cv2.warpAffine(image, matrix, (pixels, pixels), flags=way)
    return np.asarray(square, np.uint8), left, top, side


def turned_square(
    image: Image, middle: npt.NDArray[np.float64], side: float, across: npt.NDArray[np.float64], pixels: int
) -> tuple[Image, npt.NDArray[np.float64]]:
    """A square of ``side`` around ``middle``, its upper edge along ``across``, all in pixels of ``image``,
    black beyond it; then ``float64[2, 3]``, which takes a point of the square to the picture."""
    angle = float(np.degrees(np.arctan2(across[1], across[0])))
    matrix = cv2.getRotationMatrix2D((float(middle[0]), float(middle[1])), angle, pixels / side)
    matrix = matrix + np.column_stack([np.zeros((2, 2)), pixels / 2 - middle])
    square = cv2.warpAffine(image, matrix, (pixels, pixels), flags=cv2.INTER_LINEAR)
    return np.asarray(square, np.uint8), np.asarray(cv2.invertAffineTransform(matrix), np.float64)


class LiteModel:
    """A model of LiteRT that sees a square of ``pixels``, on two cores; threads take turns.

    ``outputs`` says what is known of each output. Raises WeightsError for a file that is no such model.
    """

    def __init__(self, path: Path) -> None:
        from ai_edge_litert.interpreter import Interpreter

        try:
            with native_quiet():
                self._model: Any = Interpreter(model_content=_with_least(path.read_bytes()), num_threads=2)
                self._model.allocate_tensors()
        except (OSError, ValueError, RuntimeError) as error:
            raise unloadable(path, error) from None
        self._input, self._turn = self._model.get_input_details()[0], Lock()
        self.pixels = int(self._input["shape"][1])
        self.outputs: list[dict[str, Any]] = self._model.get_output_details()

    def __call__(self, square: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """All outputs for ``square``, ``[pixels, pixels, 3]``, in the order of ``outputs``."""
        with self._turn:
            self._model.set_tensor(self._input["index"], square[None].astype(self._input["dtype"]))
            self._model.invoke()
            return [self._model.get_tensor(output["index"]) for output in self.outputs]


def _with_least(model: bytes) -> bytes:
    """The model; one that sorts and compares all its boxes (37,629) does so from `_FAINT` on alone."""
    head, key, rest = model.partition(b"nms_score_threshold")
    return head + key + rest.replace(struct.pack("<f", -math.inf), struct.pack("<f", _FAINT), 1)


class EfficientDet:
    """EfficientDet-lite2 through LiteRT: 448 x 448, 25 sightings a tile at most."""

    def __init__(self, path: Path) -> None:
        self._model = shared(LiteModel, path)
        names = [output["name"] for output in self._model.outputs]
        self._order = sorted(range(len(names)), key=lambda i: names[i], reverse=True)

    def find_all(
        self, image: Image, seconds: float, faces: Iterable[Box] = ()
    ) -> tuple[list[Sighting], list[Sighting]]:
        """All things seen in the whole picture, and those seen in its square tiles, put together.

        Tiles are left out where somebody is plain in the whole picture, by the body or by a body that holds
        one of the sure ``faces``, or where no body in it reaches a trace of somebody.
        """
        height, width = image.shape[:2]
        side = max(height, width)
        square = np.zeros((side, side, 3), np.uint8)
        square[:height, :width] = image
        traces = self._look(square, seconds, (side / width, side / height), _TRACE)
        whole = [sighting for sighting in traces if sighting.score >= _LEAST]
        body = max((sighting.score for sighting in traces if sighting.name == "person"), default=0.0)
        bodies = [sighting.box for sighting in whole if sighting.name == "person"]
        is_faced = any(overlap(one, face) > _HELD for face in faces for one in bodies)
        tiles = tiles_of(image)
        if len(tiles) == 1 or is_faced or not _TRACE <= body < _PLAIN:
            return whole, []
        return whole, merge([(tile, self._look(cut(image, tile), seconds)) for tile in tiles])

    def _look(
        self, image: Image, seconds: float, stretch: tuple[float, float] = (1.0, 1.0), least: float = _LEAST
    ) -> list[Sighting]:
        outputs = self._model(squeeze(image, self._model.pixels))
        *found, count = (outputs[i][0] for i in self._order)
        boxes, classes, scores = (each[: int(count)] for each in found)
        rows = zip(classes, scores, boxes, strict=True)
        x, y = stretch
        return _sightings(((int(c), float(s), b * [y, x, y, x]) for c, s, b in rows), least, seconds)


class SsdMobileNet:
    """SSD MobileNet v2 through OpenCV's own inference: 300 x 300."""

    def __init__(self, weights: Path, graph: Path) -> None:
        self._turn = Lock()
        try:
            with native_quiet():
                network = np.frombuffer(_of_asked(weights.read_bytes()), np.uint8)
                told = graph.read_bytes().replace(b"i: 91", b"i: %d" % len(_SECOND))
                self._model: Any = cv2.dnn.readNetFromTensorflow(network, np.frombuffer(told, np.uint8))
        except (OSError, ValueError, cv2.error) as error:
            raise unloadable(weights, error) from None

    def find(self, image: Image, seconds: float) -> list[Sighting]:
        """All things seen in the whole picture; boxes as fractions of it."""
        with native_quiet(), self._turn:
            self._model.setInput(cv2.dnn.blobFromImage(squeeze(image, 300)))
            rows = self._model.forward()[0, 0]
        order = [4, 3, 6, 5]  # left, top, right, bottom as the other model gives them
        named = ((_SECOND[int(r[1])] - 1, float(r[2]), r[order]) for r in rows)
        return _sightings(named, _LEAST, seconds)


_ROOM_THINGS = ("bowl", "chair", "couch", "vase", "wine glass")
_SECOND = [0, *(i for i, name in enumerate(COCO, 1) if name in {"person", *ANIMALS, *KINDS, *_ROOM_THINGS})]
"""The second detector's classes, from 1 on, that anybody asks it for: those of `COCO`, 0 is nothing."""

_TELLING = re.compile(
    rb"(?s)\nN\n.BoxPredictor_./ClassPredictor/(?:weights|biases)\x12\x05Const\*N\n\x05value\x12NBN"
    rb'\x08\x01\x12.(?:\x12.\x08[^"]*?)?\x12\x03\x08N"N'.replace(b"N", rb"([\x80-\xff]*[\0-\x7f])")
)
"""The nodes that hold its numbers: their length and that of parts, how many numbers, in how many bytes."""


def _of_asked(graph: bytes) -> bytes:
    """TensorFlow's graph without what tells classes that nobody asks for, a third of the work. In it a number
    has 7 bits a byte, all but the last above 127; it keeps its bytes, though fewer would do."""
    parts, at = [], 0
    for found in _TELLING.finditer(graph):
        old = [sum((byte & 127) << 7 * i for i, byte in enumerate(number)) for number in found.groups()]
        end = found.end() + old[-1]
        values = np.frombuffer(graph[found.end() : end], np.float32).reshape(-1, 1 + len(COCO))[:, _SECOND]
        less, head = old[-1] - values.nbytes, bytearray(found[0])
        new = [number - less for number in old]
        new[-2] = old[-2] * len(_SECOND) // (1 + len(COCO))
        for number, (first, last) in zip(new, map(found.span, range(1, 1 + len(new))), strict=True):
            coded = [number >> 7 * i & 127 | 128 * (first + i + 1 < last) for i in range(last - first)]
            head[first - found.start() : last - found.start()] = coded
        parts += [graph[at : found.start()], bytes(head), values.tobytes()]
        at = end
    return b"".join([*parts, graph[at:]])


def tiles_of(image: Image) -> tuple[Box, ...]:
    """The overlapping square tiles, left to right, of a picture; a hardly wide one is one tile.

    >>> len(tiles_of(np.zeros((332, 800, 3), np.uint8)))
    4
    """
    height, width = image.shape[:2]
    share = min(1.0, height / width)
    if share > 0.85:
        return (Box(0, 0, 1, 1),)
    count = int(np.ceil((1 - share) / ((1 - _OVERLAP) * share))) + 1
    starts = np.linspace(0, 1 - share, count)
    return tuple(Box(float(s), 0, min(float(s) + share, 1.0), 1) for s in starts)


def merge(seen: Sequence[tuple[Box, Sequence[Sighting]]]) -> list[Sighting]:
    """What several tiles saw, in coordinates of the whole picture, each thing once; best first.

    A box cut off by a tile's inner edge gives way to a whole one; two cut ones of the same thing are
    joined.
    """
    placed = [_place(s, tile) for tile, sightings in seen for s in sightings]
    placed.sort(key=lambda item: (item[1], -item[0].score, item[0].box.left))
    kept: list[tuple[Sighting, bool]] = []
    for sighting, is_cut in placed:
        twin = next(
            (
                i
                for i, (k, _) in enumerate(kept)
                if k.name == sighting.name
                and (k.box.iou(sighting.box) > 0.5 or (is_cut and overlap(k.box, sighting.box) > 0.5))
            ),
            None,
        )
        if twin is None:
            kept.append((sighting, is_cut))
        elif is_cut and kept[twin][1]:
            a, b = kept[twin][0], sighting
            (x, y), score = (a.box, b.box), max(a.score, b.score)
            edges = min(x.left, y.left), min(x.top, y.top), max(x.right, y.right), max(x.bottom, y.bottom)
            kept[twin] = (Sighting(a.name, Box(*edges), a.seconds, score), True)
    return sorted((k for k, _ in kept), key=lambda s: (-s.score, s.box.left))


def overlap(a: Box, b: Box) -> float:
    """Shared area over the smaller box's, 0 to 1: 1 where one lies inside the other."""
    width = max(0.0, min(a.right, b.right) - max(a.left, b.left))
    height = max(0.0, min(a.bottom, b.bottom) - max(a.top, b.top))
    return width * height / min(a.area, b.area)


def _place(sighting: Sighting, tile: Box) -> tuple[Sighting, bool]:
    """What was seen in a tile, placed in the whole picture, and whether the tile's inner edge cuts it."""
    box = sighting.box
    left, right = tile.left + box.left * tile.width, tile.left + box.right * tile.width
    top, bottom = tile.top + box.top * tile.height, tile.top + box.bottom * tile.height
    placed = Box(max(left, 0.0), max(top, 0.0), min(right, 1.0), min(bottom, 1.0))
    at_left = tile.left > 0 and box.left * tile.width < _EDGE
    is_cut = at_left or (tile.right < 1 and (1 - box.right) * tile.width < _EDGE)
    return Sighting(sighting.name, placed, sighting.seconds, sighting.score), is_cut


def _sightings(rows: Iterable[tuple[int, float, Any]], least: float, seconds: float) -> list[Sighting]:
    """Sightings from (class, score, (top, left, bottom, right)); slivers and unknown classes left out."""
    found = []
    for number, score, corners in rows:
        if score < least or not 0 <= number < len(COCO):
            continue
        top, left, bottom, right = (min(max(float(v), 0.0), 1.0) for v in corners)
        if right - left > 0.005 and bottom - top > 0.005:
            found.append(Sighting(COCO[number], Box(left, top, right, bottom), seconds, score))
    return found


_HUES: tuple[tuple[float, Colour], ...] = (
    (16, "red"),
    (42, "orange"),
    (68, "yellow"),
    (165, "green"),
    (255, "blue"),
    (290, "purple"),
    (335, "pink"),
    (360, "red"),
)
"""Upper ends of hue ranges, in degrees."""
_DARK = 46
_PALE = 190
_GREYNESS = 0.14
"""Saturation (0 to 1) below which a colour is none."""
_CLEAR = 0.42
"""Saturation from which a hue has a name."""


def hsv(image: Image) -> npt.NDArray[np.float32]:
    """``float32[n, 3]``: hue in degrees, saturation 0 to 1 and value 0 to 255 of each pixel."""
    pixels = image.reshape(1, -1, 3).astype(np.float32)
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV)[0], np.float32)


def colour_of(image: Image, least: float = 0.6) -> Colour | None:
    """The colour that at least ``least`` of the pixels have; None where no single one has that many.

    Colours between two names (a pale orange, a dark red) have none: better silent than wrong.
    """
    if image.size == 0:
        return None
    hue, saturation, value = hsv(image).T
    shares: dict[Colour, float] = {
        "black": float(np.mean(value < _DARK)),
        "white": float(np.mean((value >= _PALE) & (saturation < _GREYNESS))),
        "grey": float(np.mean((value >= _DARK) & (value < _PALE) & (saturation < _GREYNESS))),
    }
    vivid = (value >= 70) & (saturation >= _CLEAR)
    low = 0.0
    for high, name in _HUES:
        share = float(np.mean(vivid & (hue >= low) & (hue < high)))
        shares[name] = shares.get(name, 0.0) + share
        low = high
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= least else None
