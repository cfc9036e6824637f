from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest
import torch
from ai_edge_litert.interpreter import Interpreter
from torch import nn

from shotad.core import MANY, Box, Image, Sighting, ThingFact, WeightsError, weights_file
from shotad.film import open_film
from shotad.sight import (
    KINDS,
    EfficientDet,
    Glimpse,
    MobileNet,
    Person,
    Shift,
    SsdMobileNet,
    Stretch,
    Track,
    figure_of,
    scene_of,
    shared,
    sure_of,
    things_of,
)
from shotad.sight.things import LiteModel, merge, tiles_of

SAMPLE = Path(__file__).resolve().parents[1] / "sample" / "sample.mp4"

MIDDLE = Box(0.4, 0.4, 0.6, 0.8)
STILL = Shift(0, 0, 1, 0.9, 0.05)


def thing(name: str, score: float, box: Box = MIDDLE, second: float = 0.0) -> Sighting:
    return Sighting(name, box, second, score)


def test_tiles_cover_a_picture_and_join_halves() -> None:
    tiles = tiles_of(np.zeros((332, 800, 3), np.uint8))
    assert tiles[0].left == 0
    assert tiles[-1].right == pytest.approx(1)
    assert all(t.width == pytest.approx(332 / 800) for t in tiles)
    assert all(a.right - b.left > 0.25 * a.width for a, b in pairwise(tiles))
    assert len(tiles_of(np.zeros((480, 500, 3), np.uint8))) == 1
    left, right = Box(0, 0, 0.6, 1), Box(0.4, 0, 1, 1)
    found = merge(
        [
            (left, [thing("person", 0.6, Box(0.5, 0, 1, 1))]),
            (right, [thing("person", 0.8, Box(0, 0, 0.5, 1))]),
        ]
    )
    assert [(round(s.box.left, 2), round(s.box.right, 2), s.score) for s in found] == [(0.3, 0.7, 0.8)]


def named(
    firsts: Sequence[Sequence[Sighting]],
    seconds: Sequence[Sequence[Sighting]] | None = None,
    shares: Mapping[str, float] | None = None,
) -> list[ThingFact]:
    """The things of a shot; both detectors and the classifier see the same where nothing else is given."""
    others = firsts if seconds is None else seconds

    def ask(sighting: Sighting) -> dict[str, float]:
        return dict.fromkeys(KINDS, 0.0) | ({sighting.name: 0.6} if shares is None else dict(shares))

    times = tuple(i / 4 for i in range(len(firsts)))
    return things_of(firsts, others, Stretch(2, times, (STILL,) * (len(firsts) - 1), 1.8), ask)


def test_what_dissolves_away_or_comes_up_is_of_another_shot() -> None:
    cat, car = frames_of("cat", 0.9, 12), [[thing("car", 0.9, Box(0, 0, 0.2, 0.3), i / 4)] for i in range(12)]
    dissolves = [cat[i] * (i < 4) + car[i] * (i >= 3) for i in range(12)]
    assert [fact.name for fact in named(dissolves)] == ["car"]
    comes_up = [car[i] * (i < 9) + cat[i] * (i >= 8) for i in range(12)]
    assert [fact.name for fact in named(comes_up)] == ["car"]
    # Of a shot that is hardly longer it may be all there is.
    assert [fact.name for fact in named(cat[:4])] == ["cat"]


CAR = [[thing("car", 0.9, second=i / 4)] for i in range(6)]


def frames_of(name: str, score: float, number: int = 6) -> list[list[Sighting]]:
    return [[thing(name, score, second=i / 4)] for i in range(number)]


def test_a_thing_has_its_place_time_size_and_way() -> None:
    (fact,) = named([[], *frames_of("car", 0.9)[1:]])
    assert (fact.shot, fact.name, fact.count, fact.place, fact.since) == (2, "car", 1, "centre", 0.25)
    assert (fact.last, fact.sure, fact.area) == (1.25, 0.9, pytest.approx(MIDDLE.area, abs=1e-3))
    # A thing that goes its way moves from then on.
    boxes = [Box(x, 0.4, x + 0.2, 0.8) for x in [0.1] * 4 + [0.1 + 0.06 * i for i in range(9)]]
    (fact,) = named([[thing("car", 0.9, box, i / 4)] for i, box in enumerate(boxes)])
    assert (fact.movement, fact.place) == ("right", "centre")
    assert fact.since == pytest.approx(1.0, abs=0.3)
    (fact,) = named(frames_of("car", 0.9, 12))
    assert (fact.movement, fact.since) == (None, 0.0)
    # Something that rises from the lower edge moves up.
    boxes = [Box(0.4, 0.9 - 0.04 * i, 0.6, 1) for i in range(12)]
    seconds = [i / 8 for i in range(13)]
    fact = figure_of(boxes, [STILL] * 12, [], Stretch(0, tuple(seconds), (), 1.8), seconds)
    assert fact is not None
    assert (fact.movement, fact.place) == ("up", "centre")


def test_a_thing_needs_all_three_in_several_frames() -> None:
    bus = [[thing("bus", 0.9, second=i / 4)] for i in range(3, 6)]
    lacking: dict[str, tuple[Any, Any, Any]] = {
        "few frames": (frames_of("car", 0.9, 3), None, None),
        "unsure": (frames_of("car", 0.7), frames_of("car", 0.9), None),
        "second unsure": (CAR, frames_of("car", 0.4), None),
        "second otherwise": (CAR, frames_of("truck", 0.9), None),
        "elsewhere": (CAR, [[thing("car", 0.9, Box(0, 0, 0.2, 0.3))]] * 6, None),
        "second blind": (CAR, [[]] * 6, None),
        "third unsure": (CAR, None, {"car": 0.1}),
        "a rival": (CAR, None, {"car": 0.5, "cell phone": 0.4}),
        "third otherwise": (CAR, None, {"cell phone": 0.9}),
        "two names": ([*frames_of("car", 0.9)[:3], *bus], None, None),
    }
    assert [fact.name for fact in named(CAR)] == ["car"]
    for name, (firsts, seconds, shares) in lacking.items():
        assert named(firsts, seconds, shares) == [], name


def test_what_fills_a_picture_fills_all() -> None:
    for shares, expected in (
        ([{"lake": 0.7}] * 4, ("lake", 1)),
        ([{"mountain": 0.6}] * 4, ("mountain", MANY)),
        ([{"lake": 0.45}] * 4, None),
        ([{"lake": 0.9}] * 3 + [{"lake": 0.1}], None),
        ([{"lake": 0.1}] + [{"lake": 0.9}] * 3, ("lake", 1)),
        ([{"dog": 0.7}] * 4, None),
        ([{"lake": 0.5, "seashore": 0.4}] * 4, None),
        ([{"bird": 0.9}, *[{}] * 3], None),
    ):
        kinds = dict.fromkeys(("lake", "seashore", "mountain", "bird", "dog"), 0.0)
        late = bool(expected) and shares[0] != shares[1]
        fact = scene_of([{**kinds, **frame} for frame in shares], [1.5, 2.5, 3.5, 4.5], 2)
        assert (fact and (fact.name, fact.count)) == expected
        assert fact is None or (fact.shot, fact.since) == (2, 2.5 if late else 1.5)


class Saying:
    """Takes the left half of a picture's squares for one class and others for another, so surely."""

    def __init__(self, **classes: float) -> None:
        self.classes = {int(name[1:]): share for name, share in classes.items()}

    def certainty(self, square: Image) -> np.ndarray:
        odds = np.zeros(1000)
        for number, share in self.classes.items():
            odds[number] = share
        return odds


def test_two_classifiers_are_surer_than_one() -> None:
    for first, second, expected in (
        ({"c975": 0.5}, {"c975": 0.5}, {"lake": 0.6}),
        ({"c975": 0.9}, {"c975": 0.9}, {"lake": 1.0}),
        # One alone must be surer, and says nothing of what is told beside people.
        ({"c975": 0.55}, {"c970": 0.9}, {"lake": 0.55, "mountain": 0.0}),
        ({"c470": 0.9, "c834": 0.9}, {}, {"candle": 0.0, "a suit": 0.0}),
        ({"c402": 0.2, "c546": 0.2}, {"c420": 0.9}, {"guitar": 0.72}),
    ):
        images = [np.zeros((20, 30, 3), np.uint8)] * 2
        answers = sure_of(images, Saying(**first), Saying(**second), {"lake", "guitar", "a suit"})  # type: ignore[arg-type]
        assert len(answers) == 2
        sure = answers[0]
        assert {kind: sure[kind] for kind in expected} == pytest.approx(expected)
        assert all(0 <= share <= 1 for share in sure.values())


def test_the_second_classifier_is_asked_only_where_the_first_gives_a_hint() -> None:
    class Silent(Saying):
        def certainty(self, square: Image) -> np.ndarray:
            raise AssertionError("asked in vain")

    images = [np.zeros((20, 30, 3), np.uint8)] * 4
    assert sure_of(images, Saying(c975=0.9), Silent(), {"guitar"}) == []  # type: ignore[arg-type]
    assert len(sure_of(images, Saying(c975=0.9), Saying(), {"lake"})) == 4  # type: ignore[arg-type]


def course(xs: list[float], *, y: float = 0.5, people: list[Person] | None = None) -> str | None:
    boxes = [Box(x - 0.1, y - 0.2, x + 0.1, y + 0.2) for x in xs]
    seconds = [i / 8 for i in range(len(xs) + 1)]
    stretch = Stretch(3, tuple(seconds), (), 1.8)
    fact = figure_of(boxes, [STILL] * len(xs), people or [], stretch, seconds)
    return fact.movement if fact else None


def test_what_is_no_figure_or_thing() -> None:
    assert course([0.5 + 0.1 * (-1) ** i for i in range(12)]) is None
    assert course([0.5] * 12) is None
    assert course([0.2 + 0.03 * i for i in range(4)]) is None
    # What is a person is no figure.
    xs = [0.2 + 0.03 * i for i in range(12)]
    seen = tuple(Glimpse(Box(x - 0.1, 0.3, x + 0.1, 0.7), (i + 1) / 8) for i, x in enumerate(xs))
    assert course(xs, people=[Person(Track(seen, tuple(range(12))), 0.95)]) is None
    # Things that are more than one are not counted.
    other = Box(0.1, 0.4, 0.3, 0.8)
    frames = [[thing("car", 0.9, second=i / 4)] for i in range(10)]
    for i in range(5, 10):
        frames[i].append(thing("car", 0.9, other, i / 4))
    (fact,) = named(frames)
    assert (fact.count, fact.since) == (MANY, 0.0)
    few = [*frames[:5], *([frame[0]] for frame in frames[5:])]
    assert [fact.count for fact in named(few)] == [1]


@pytest.mark.slow
def test_the_detectors_see_the_same_without_what_nobody_asks_for() -> None:
    """Their files as they are, all boxes compared and all classes told, against the models as they are loaded."""
    names = ("efficientdet-lite2", "ssd-mobilenet-v2", "ssd-mobilenet-v2-graph")
    first, second, graph = (weights_file(name) for name in names)
    with open_film(SAMPLE) as film:
        pictures = [picture.image[:, 140:500] for picture in film.pictures([6.0, 14.0, 22.0, 30.0])]
    whole, network = Interpreter(str(first)), cv2.dnn.readNetFromTensorflow(str(second), str(graph))
    whole.allocate_tensors()
    places = {out["name"][-1]: out["index"] for out in whole.get_output_details()}
    scores = []
    for picture in pictures:
        found, _ = EfficientDet(first).find_all(picture, 0.0)
        whole.set_tensor(whole.get_input_details()[0]["index"], squeezed(picture, 448)[None])
        whole.invoke()
        scores += [s.score for s in found]
        assert [s.score for s in found] == [s for s in whole.get_tensor(places["1"])[0] if s >= 0.3]
        network.setInput(cv2.dnn.blobFromImage(squeezed(picture, 300)))
        people = [s.score for s in SsdMobileNet(second, graph).find(picture, 0.0) if s.name == "person"]
        assert people == [
            score for _, kind, score, *_ in network.forward()[0, 0] if kind == 1 and score >= 0.3
        ]
        scores += people
    assert len(scores) >= 4


def test_a_model_is_one_for_all_who_hold_it_and_threads_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        """A model of one input and one output that fails when two use it at once."""

        def __init__(self, **options: object) -> None:
            self.held: np.ndarray | None = None

        def allocate_tensors(self) -> None: ...

        def get_input_details(self) -> list[dict[str, object]]:
            return [{"index": 0, "shape": np.array([1, 8, 8, 3]), "dtype": np.uint8}]

        def get_output_details(self) -> list[dict[str, object]]:
            return [{"index": 1}]

        def set_tensor(self, index: int, value: np.ndarray) -> None:
            assert self.held is None
            self.held = value

        def invoke(self) -> None:
            time.sleep(0.01)

        def get_tensor(self, index: int) -> np.ndarray:
            held, self.held = self.held, None
            assert held is not None
            return held

    monkeypatch.setattr("ai_edge_litert.interpreter.Interpreter", Slow)
    path = Path(__file__)
    one, same = shared(LiteModel, path), shared(LiteModel, path)
    assert one is same
    assert shared(LiteModel, path.with_name("test_pose.py")) is not one
    with ThreadPoolExecutor(4) as pool:
        squares = [np.full((8, 8, 3), n, np.uint8) for n in range(12)]
        for square, (answer,) in zip(squares, pool.map(one, squares), strict=True):
            assert np.array_equal(answer[0], square)
    gone = weakref.ref(one)
    del one, same
    gc.collect()
    assert gone() is None


def squeezed(picture: Image, side: int) -> Image:
    way = cv2.INTER_AREA if len(picture) > side else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(picture, (side, side), interpolation=way), np.uint8)


# MobileNet, against torch
STAGES = ((1, 4, 1, 1), (6, 4, 2, 2), (6, 6, 3, 2), (6, 6, 4, 2), (6, 8, 3, 1), (6, 8, 3, 2), (6, 10, 1, 1))
"""As MobileNetV2's, but narrow: how far each block widens, its width, how many there are, the first's stride."""


def layer(
    into: int, out: int, wide: int, stride: int = 1, groups: int = 1, bends: bool = True
) -> list[nn.Module]:
    conv = nn.Conv2d(into, out, wide, stride, wide // 2, groups=groups, bias=False)
    return [conv, nn.BatchNorm2d(out), *([nn.ReLU6()] if bends else [])]


class Block(nn.Module):
    def __init__(self, into: int, out: int, widens: int, stride: int, adds: bool) -> None:
        super().__init__()
        wide, self.adds = into * widens, adds
        first = [nn.Sequential(*layer(into, wide, 1))] if widens > 1 else []
        deep = nn.Sequential(*layer(wide, wide, 3, stride, wide))
        self.conv = nn.Sequential(*first, deep, *layer(wide, out, 1, bends=False))

    def forward(self, now: torch.Tensor) -> torch.Tensor:
        return now + self.conv(now) if self.adds else self.conv(now)  # type: ignore[no-any-return]


class Narrow(nn.Module):
    """MobileNetV2 with torchvision's names of the layers and random weights, narrow."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        blocks, into = [nn.Sequential(*layer(3, 4, 3, 2))], 4
        for widens, out, count, stride in STAGES:
            for i in range(count):
                blocks.append(Block(into, out, widens, 1 if i else stride, i > 0))  # type: ignore[arg-type]
                into = out
        self.features = nn.Sequential(*blocks, nn.Sequential(*layer(into, 12, 1)))
        self.classifier = nn.Sequential(nn.Dropout(), nn.Linear(12, 1000))
        for tensor in self.state_dict().values():
            if tensor.ndim == 1:
                tensor.uniform_(0.5, 1.5)
        self.eval()

    def forward(self, square: Image) -> npt.NDArray[np.float32]:
        levels = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
        now = ((torch.from_numpy(square) / 255 - levels[0]) / levels[1]).permute(2, 0, 1)[None]
        odds: torch.Tensor = self.classifier(self.features(now).mean((2, 3)))
        return odds.softmax(1)[0].detach().numpy()  # type: ignore[no-any-return]


def test_a_file_of_bare_tensors_answers_as_torch_does_and_others_are_refused(tmp_path: Path) -> None:
    path, narrow = tmp_path / "weights.pth", Narrow()
    torch.save(narrow.state_dict(), path, _use_new_zipfile_serialization=False)
    square = np.random.default_rng(3).integers(0, 255, (224, 224, 3), np.uint8)
    network = MobileNet(path)
    sure = network.certainty(square)
    assert np.ptp(sure) > 1e-4
    np.testing.assert_allclose(sure, narrow(square), atol=1e-6)
    whole = path.read_bytes()
    cut = [whole[: len(whole) * eighth // 8] for eighth in range(8)]
    for content in (b"no weights", b"\x80\x02.", *cut, whole[:-4]):
        path.write_bytes(content)
        with pytest.raises(WeightsError, match=r"weights\.pth cannot be loaded"):
            MobileNet(path)
