"""Cuts where a network has the second word: what it is asked, what comes of its answers, and the network."""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cuts as benchmark
import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import ShotSettings, WeightsError, weight_store
from shotad.film import Frame, cut_net, shot_scores, survey

Picture = npt.NDArray[np.uint8]
"""One picture, or several."""


def film_of(levels: Sequence[float | Picture]) -> Any:
    """A film of grey frames, each of one level, or of pictures."""

    def frames() -> Iterator[Frame]:
        for index, level in enumerate(levels):
            image = np.broadcast_to(np.asarray(level, np.uint8), (36, 64, 3)).copy()
            yield Frame(index / 25, index, None, lambda size, image=image: image)  # type: ignore[misc]

    return SimpleNamespace(
        frames=frames, end=len(levels) / 25, info=SimpleNamespace(duration=len(levels) / 25)
    )


class Oracle:
    """A network that sees a cut before each first picture of a level in ``cuts``, and a slow change, or none,
    in all whose level is in ``slow``."""

    def __init__(self) -> None:
        self.cuts: Sequence[int] = ()
        self.slow: Sequence[int] = ()
        self.seen: list[list[int]] = []

    def __call__(self, pictures: Picture) -> npt.NDArray[np.float32]:
        assert pictures.shape[1:] == (27, 48, 3)
        levels = [int(picture[0, 0, 0]) for picture in pictures]
        self.seen.append(levels)
        new = [after in self.cuts and before != after for before, after in itertools.pairwise(levels)]
        return np.array([[*new, False], [level in self.slow for level in levels]], np.float32)


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> Oracle:
    made = Oracle()
    monkeypatch.setattr(cut_net, "cut_net", lambda: made)
    return made


def found(levels: Sequence[float | Picture], **settings: Any) -> tuple[int, ...]:
    return survey(film_of(levels), ShotSettings(**settings)).cuts


def scene(number: int, light: float = 1.0) -> Picture:
    """A picture of blocks, the same for the same number."""
    blocks = np.random.default_rng(number).integers(0, 100, (6, 8, 1)) * light
    return np.asarray(np.kron(blocks, np.ones((6, 8, 3))), np.uint8)


def between(shares: npt.NDArray[np.float64], one: Picture, other: Picture) -> list[Picture]:
    """Pictures on the way from one to the other."""
    return [np.asarray(one * (1 - share) + other * share, np.uint8) for share in shares]


DOUBTFUL = [20] * 60 + [50, 110] + [170] * 60
"""Level 110 at frame 61 stands out from what is before and after, by not much."""
LIT, DARK = scene(1, 2.5), scene(1) * 0
WEBCAM = np.repeat([100, 130] * 8 + [176] + [145, 176] * 8, 4).tolist()


@pytest.mark.parametrize(
    ("levels", "adaptive", "unseen", "cuts", "seen"),
    [
        (DOUBTFUL, (), (), [110], (61,)),
        ([scene(1)] * 60 + [LIT] + [scene(1)] * 60, (60,), (), [int(LIT[0, 0, 0])], (60,)),
        ([scene(1)] * 60 + [LIT] * 60, (60,), (), [int(LIT[0, 0, 0])], (60,)),
        (WEBCAM, (64,), (), [176], (64,)),
        ([20] * 60 + [80] * 6 + [140] * 60, (60,), (), [80, 140], (60, 66)),
    ],
    ids=["doubtful", "a flash", "light is switched on", "each picture four times", "a short shot"],
)
def test_the_network_decides_where_the_score_is_in_doubt(
    oracle: Oracle, levels: Any, adaptive: Any, unseen: Any, cuts: list[int], seen: tuple[int, ...]
) -> None:
    assert found(levels, detector="adaptive") == adaptive
    assert not oracle.seen
    assert found(levels) == unseen
    assert oracle.seen
    oracle.cuts = cuts
    assert found(levels)[: len(seen)] == seen


def test_a_jump_within_one_framing_is_a_cut_whatever_the_network_says(oracle: Oracle) -> None:
    def framing(hand: int, shift: int) -> Picture:
        picture = np.array(scene(1))
        picture[6:30, 16:48] = np.roll(scene(hand, 2.5), shift // 4, axis=1)[6:30, 16:48]
        return picture

    moving = [framing(2, shift) for shift in range(80)]
    assert found(moving) == found(moving, detector="adaptive") == ()
    assert found(moving[:40] + [framing(3, shift) for shift in range(40, 80)]) == (40,)


def test_cuts_of_the_scores_stay_and_light_that_changes_is_not_even_asked_about(oracle: Oracle) -> None:
    levels = [20] * 60 + [80] * 60 + [240] * 60
    assert found(levels) == found(levels, detector="adaptive") == (60, 120)
    oracle.slow = range(256)
    brighter = [scene(1) + np.uint8(level) for level in range(40)]
    assert found([scene(1)] * 40 + brighter + [brighter[-1]] * 40) == ()
    assert not oracle.seen, "what is clear needs no network"


def test_a_dissolve_is_one_cut_where_the_network_sees_it_and_a_fade_in_at_the_start_is_none(
    oracle: Oracle,
) -> None:
    way = between(np.linspace(0, 1, 30), scene(1), scene(2))
    dissolve = [scene(1)] * 60 + way + [scene(2)] * 60
    assert found(dissolve) == found(dissolve, detector="adaptive") == ()
    assert oracle.seen
    oracle.slow = [int(picture[0, 0, 0]) for picture in way[1:-1]]
    (cut,) = found(dissolve)
    assert 60 <= cut < 90
    assert found(dissolve[60:]) == ()


def test_what_fades_to_black_is_cut_where_it_is_black(oracle: Oracle) -> None:
    fades = between(np.linspace(0, 1, 20), scene(1), DARK)
    back = between(np.linspace(0, 1, 20), DARK, scene(2))
    oracle.slow = [int(picture[0, 0, 0]) for picture in (*fades[1:], *back[:-1])]
    (cut,) = found([*[scene(1)] * 60, *fades, *back, *[scene(2)] * 60])
    assert fades[cut - 60].max() < shot_scores.BLACK <= fades[cut - 61].max()


def test_the_network_is_loaded_only_where_there_is_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Any:
        raise WeightsError("no weights here")

    monkeypatch.setattr(cut_net, "cut_net", refuse)
    assert found(DOUBTFUL, detector="adaptive") == ()
    assert found([20] * 60 + [80] * 60) == (60,)
    with pytest.raises(WeightsError, match="no weights here"):
        found(DOUBTFUL)


# The network
def random_weights(path: Path) -> list[npt.NDArray[np.float32]]:
    """A file laid out as the published one, with small random tensors; returned in their order."""
    rng = np.random.default_rng(5)
    shapes: list[tuple[int, ...]] = []
    channels = 3
    for filters in (16, 16, 32, 32, 64, 64):
        shapes += [(2 * filters, channels, 1, 3, 3), (filters, 2 * filters, 3, 1, 1)] * 4
        shapes += [(4 * filters,)] * 4 + [()]
        channels = 4 * filters
    shapes += [(128, 448), (128,), (128, 101), (128,), (128, 101), (128,)]
    shapes += [(1024, 4864), (1024,), (1, 1024), (1,), (1, 1024), (1,)]
    made = []
    with zipfile.ZipFile(path, "w") as archive:
        for number, shape in enumerate(shapes):
            scale = 1 / np.sqrt(max(1, np.prod(shape[1:])))
            tensor = (np.abs if len(shape) < 2 else np.asarray)(rng.normal(0, scale, shape)).astype(
                np.float32
            )
            archive.writestr(f"archive/data/{number}", tensor.tobytes() if shape else bytes(8))
            made.append(tensor)
    return made


def test_it_answers_as_torch_does(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    tensors = random_weights(tmp_path / "weights.zip")
    pictures = np.random.default_rng(6).integers(0, 256, (23, 27, 48, 3), np.uint8)
    # The network as its paper draws it, layer by layer in three dimensions
    left = iter(torch.from_numpy(np.array(tensor)) for tensor in tensors)
    conv, relu = torch.nn.functional.conv3d, torch.relu
    now = torch.from_numpy(pictures).permute(3, 0, 1, 2)[None].float() / 255
    means = []
    for _ in range(3):
        outputs = []
        for _ in range(2):
            parts = []
            for far in (1, 2, 4, 8):
                flat = conv(now, next(left), padding=(0, 1, 1))
                parts.append(conv(flat, next(left), padding=(far, 0, 0), dilation=(far, 1, 1)))
            gain, shift, mean, variance, _ = (next(left) for _ in range(5))
            now = torch.nn.functional.batch_norm(torch.cat(parts, 1), mean, variance, gain, shift, eps=1e-3)
            now = relu(now)
            outputs.append(now)
        now = torch.nn.functional.avg_pool3d(outputs[0] + outputs[1], (1, 2, 2))
        means.append(now.mean((3, 4)))
    linear = torch.nn.functional.linear

    def alike(vectors: Any) -> Any:
        unit = torch.nn.functional.normalize(vectors, dim=1)
        padded = torch.nn.functional.pad(unit @ unit.T, (50, 50))
        rows = torch.stack([padded[i, i : i + 101] for i in range(len(unit))])
        return relu(linear(rows, next(left), next(left)))

    features = alike(linear(torch.cat(means, 1)[0].T, next(left), next(left)))
    bins = (pictures >> 5).astype(int) @ np.array([64, 8, 1])
    counts = np.stack([np.bincount(row.ravel(), minlength=512) for row in bins]).astype(np.float32)
    colours = alike(torch.from_numpy(counts))
    flat = now[0].permute(1, 2, 3, 0).reshape(len(pictures), -1)
    hidden = relu(linear(torch.cat([colours, features, flat], 1), next(left), next(left)))
    theirs = torch.sigmoid(torch.cat([linear(hidden, next(left), next(left)) for _ in range(2)], 1)).T.numpy()
    assert np.ptp(theirs) > 1e-3, "answers that do not differ would show nothing"
    assert np.abs(cut_net.CutNet(tmp_path / "weights.zip")(pictures) - theirs).max() < 1e-5
    path = tmp_path / "weights.zip"
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(WeightsError, match="cannot be loaded"):
        cut_net.CutNet(path)


@pytest.mark.slow
def test_cuts_of_a_battle_that_scores_alone_miss() -> None:
    """The detector `adaptive` finds 16, none false."""
    name = "tears-of-steel-battle.webm"
    path = benchmark.FILMS / name
    if not path.exists():
        pytest.skip(f"the supplied film {name} is not here")
    if not weight_store.at_hand(cut_net.WEIGHTS):
        pytest.skip("the network's weights are not here")
    learned, _ = benchmark.measure(path, ShotSettings(), benchmark.truths()[name], 0, 1e9)
    assert learned.hard_found >= 24
    assert learned.false == 0
