"""Shots against PySceneDetect's own ``detect()``, and where a network has the second word."""

from __future__ import annotations

import itertools
import threading
import time
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import cuts as benchmark
import cv2
import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import Interval, weight_store
from shotad.core.config.film import ShotSettings
from shotad.core.errors import FilmError, WeightsError
from shotad.film import Frame, cut_net, detect_shots_in_pass, open_film, shot_scores
from shotad.film.shots import ShotFinder, ShotList, unmixed_part

Images = list[npt.NDArray[np.uint8]]
FILMS = Path(__file__).parents[2].parent / "shared" / "data" / "films"


# Film made here
def scene(seed: int, frames: int, size: tuple[int, int], *, pan: int = 1, grain: float = 2.0) -> Images:
    """A soft coloured picture that glides, with grain: ``size`` is (width, height)."""
    rng = np.random.default_rng(seed)
    width, height = size
    soft = rng.integers(10, 245, (6, 9, 3), dtype=np.uint8)
    wide = cv2.resize(soft, (width + pan * frames, height), interpolation=cv2.INTER_CUBIC)
    views = (wide[:, pan * i : pan * i + width].astype(np.float32) for i in range(frames))
    return [np.clip(v + rng.normal(0, grain, (height, width, 1)), 0, 255).astype(np.uint8) for v in views]


def faded(images: Images, start: float, end: float) -> Images:
    levels = np.linspace(start, end, len(images))
    return [(image * level).astype(np.uint8) for image, level in zip(images, levels, strict=True)]


@cache
def busy_film(size: tuple[int, int]) -> Images:
    """Cuts, a very short shot, a fade out and in, a flash, and stillness: 120 frames."""
    still = scene(5, 1, size, grain=0) * 20
    flash = [np.full_like(still[0], 255)]
    parts = [scene(1, 22, size), scene(2, 4, size), scene(3, 20, size, pan=3)]
    parts += [faded(scene(3, 10, size), 1, 0), faded(scene(4, 10, size), 0, 1), scene(4, 10, size)]
    return [image for part in (*parts, flash, still, scene(6, 23, size, pan=2, grain=8)) for image in part]


def write_film(
    path: Path, images: Images, codec: str = "libx264", pixels: str = "yuv420p", **more: Any
) -> Path:
    """A film of ``images``, 24 a second or at its ``ticks`` in ms, with a ``matrix`` or a ``rotation`` if so asked."""
    ticks = more.get("ticks")
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=24)
        stream.height, stream.width = images[0].shape[:2]
        stream.pix_fmt = pixels
        stream.codec_context.time_base = Fraction(1, 1000) if ticks else Fraction(1, 24)
        if "matrix" in more:
            stream.codec_context.colorspace = more["matrix"]
        if codec == "libx264":
            stream.options = {"preset": "ultrafast", "crf": "16", "threads": "1"}
        if "rotation" in more:
            stream.set_display_rotation(more["rotation"])
        for image, moment in zip(images, ticks or range(len(images)), strict=True):
            frame = av.VideoFrame.from_ndarray(image, format="bgr24").reformat(format=pixels)
            frame.pts, frame.time_base = moment, stream.codec_context.time_base
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def no_picture(size: tuple[int, int] | None) -> npt.NDArray[np.uint8]:
    raise AssertionError("shots must not ask for a painted picture where there are planes")


def decoded(path: Path) -> Iterator[Frame]:
    """Frames straight from the decoder, as every reader delivers them."""
    with av.open(str(path)) as container:
        for index, raw in enumerate(container.decode(video=0)):
            assert raw.time is not None
            yield Frame(raw.time, index, raw, no_picture)


# The library's own answer
def library(path: Path, **settings: Any) -> tuple[list[int], npt.NDArray[np.float64]]:
    """Cut frame numbers and scores from ``scenedetect.detect()`` with its defaults."""
    from scenedetect import AdaptiveDetector, detect

    cuts: list[int] = []
    scores: list[float] = []

    class Noting(AdaptiveDetector):  # type: ignore[misc]
        def process_frame(self, timecode: Any, frame_img: Any) -> Any:
            found = super().process_frame(timecode, frame_img)
            scores.append(self._frame_score)
            cuts.extend(cut.frame_num for cut in found)
            return found

    scenes = detect(str(path), Noting(**settings))
    assert [start.frame_num for start, _ in scenes][1:] == cuts
    return cuts, np.array(scores)


def found_in(frames: Iterable[Frame], end: float = 1e6, **settings: Any) -> tuple[ShotList, ShotFinder]:
    finder = ShotFinder(ShotSettings(detector="adaptive", **settings))
    for frame in frames:
        finder.add(frame)
    return finder.finish(end), finder


def ours(film: Path, **settings: Any) -> tuple[list[int], npt.NDArray[np.float64]]:
    shots, finder = found_in(decoded(film), **settings)
    return list(shots.cuts), finder.scores


@pytest.fixture
def planes_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast way on small frames too, where it would not pay."""
    monkeypatch.setattr(shot_scores, "PLANES_PAY_ABOVE", 0)


def compared(path: Path, most: float = 3.5, least: float = 0.0) -> None:
    """Both ways find the library's cuts; scores differ by ``least`` at most where they are exact, else by ``most``."""
    cuts, scores = library(path)
    assert cuts, "the film must have cuts for this to test anything"
    for way, off in (("exact", least), ("fast", most)):
        found, measured = ours(path, path=way)
        assert found == cuts, way
        assert np.abs(measured - scores).max() <= off, way


@pytest.mark.parametrize("size", [(160, 90), (322, 182), (90, 320)], ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.usefixtures("planes_always")
def test_same_cuts_as_the_library_at_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    compared(write_film(tmp_path / "film.mp4", busy_film(size)))


@pytest.mark.parametrize(
    "settings",
    [
        {"adaptive_threshold": 1.5, "min_scene_len": 2, "window_width": 1}, {"adaptive_threshold": 1.5}, {"min_scene_len": 1},
        {"min_scene_len": 40}, {"window_width": 4}, {"adaptive_threshold": 8.0},
    ],
    ids=str,
)  # fmt: skip
def test_same_cuts_with_every_setting(tmp_path: Path, settings: dict[str, Any]) -> None:
    path = write_film(tmp_path / "film.mp4", busy_film((200, 112)))
    assert ours(path, **settings)[0] == library(path, **settings)[0]


@pytest.mark.parametrize(
    ("pixels", "codec", "suffix"),
    [
        ("yuv444p", "libx264", "mp4"),
        ("yuvj420p", "mjpeg", "mkv"),
        ("yuv420p10le", "libx264", "mkv"),
        ("yuv422p10le", "libx264", "mkv"),
        ("yuv410p", "ffv1", "mkv"),
        ("yuva420p", "ffv1", "mkv"),
        ("gray", "libx264", "mkv"),
        ("bgr0", "ffv1", "mkv"),
        ("rgb24", "png", "mov"),
        ("bgr24", "rawvideo", "avi"),
    ],
)
@pytest.mark.usefixtures("planes_always")
def test_same_cuts_in_every_pixel_format(tmp_path: Path, pixels: str, codec: str, suffix: str) -> None:
    compared(write_film(tmp_path / f"film.{suffix}", busy_film((290, 162))[:56], codec=codec, pixels=pixels))


@pytest.mark.usefixtures("planes_always")
def test_both_ways_follow_the_tagged_matrix_and_the_turn(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    for tag, value in (*(("colorspace", matrix) for matrix in (1, 5, 7, 9)), ("rotation", 90)):
        more = {"matrix": value} if tag == "colorspace" else {"rotation": value}
        write_film(path, busy_film((320, 180))[:56], **more)
        with av.open(str(path)) as container:
            assert abs(getattr(next(container.decode(video=0)), tag)) == value
        compared(path, *((1.0,) if tag == "colorspace" else (3.5, 3.5)))


# Time
def test_seconds_come_from_timestamps_of_variable_rate(tmp_path: Path) -> None:
    images = scene(1, 30, (160, 90)) + scene(2, 30, (160, 90)) + scene(3, 30, (160, 90))
    steps = np.random.default_rng(7).integers(15, 120, len(images))
    ticks = np.cumsum(steps) - steps[0]
    path = write_film(tmp_path / "vfr.mkv", images, ticks=ticks.tolist())
    with open_film(path) as film:
        found, _ = found_in(film.frames(), 100.0)
    assert found.cuts == (30, 60)
    expected = [0.0, ticks[30] / 1000, ticks[60] / 1000, 100.0]
    bounds = [shot.interval.start for shot in found.shots] + [found.end]
    assert bounds == pytest.approx(expected, abs=1e-6)


# One shot, no shot, wrong frames
def test_films_without_frames_or_with_an_odd_matrix(tmp_path: Path) -> None:
    with pytest.raises(FilmError, match="no picture"):
        found_in([])
    # A matrix that swscale does not know stops nobody.
    images = scene(1, 20, (320, 180)) + scene(2, 20, (320, 180))
    path = write_film(tmp_path / "film.mp4", images, matrix=8)
    assert ours(path, path="exact")[0] == [20]


@pytest.mark.parametrize("path", ["exact", "fast"])
def test_a_change_of_size_is_compared_at_the_first_size(path: str) -> None:
    same = scene(1, 1, (640, 360), grain=0)[0]
    images = [same] * 20 + [cv2.resize(same, (1024, 576))] * 20 + scene(2, 20, (1024, 576))
    frames = [
        Frame(i / 24, i, av.VideoFrame.from_ndarray(image, "bgr24").reformat(format="yuv420p"), no_picture)
        for i, image in enumerate(images)
    ]
    assert found_in(frames, path=path)[0].cuts == (40,)


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    "rabbit/video.mp4",
    *(pytest.param(one, marks=pytest.mark.long) for one in ("sintel-trailer.mp4", "tears-of-steel-battle.webm")),
])  # fmt: skip
@pytest.mark.usefixtures("planes_always")
def test_real_film_is_cut_as_the_library_cuts_it(name: str) -> None:
    path = FILMS / name
    if not path.exists():
        pytest.skip(f"the supplied film {name} is not here")
    compared(path)


# A network has the second word: what it is asked, and what comes of its answers
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
        self.takes = 0.0
        """Seconds that it takes for each look."""

    def __call__(self, pictures: Picture) -> npt.NDArray[np.float32]:
        assert pictures.shape[1:] == (27, 48, 3)
        time.sleep(self.takes)
        levels = [int(picture[0, 0, 0]) for picture in pictures]
        self.seen.append(levels)
        new = [after in self.cuts and before != after for before, after in itertools.pairwise(levels)]
        return np.array([[*new, False], [level in self.slow for level in levels]], np.float32)


@pytest.fixture
def oracle() -> Oracle:
    return Oracle()


def detected(levels: Sequence[float | Picture], network: Oracle | None = None, **settings: Any) -> ShotList:
    """The shots of a film of these levels, with this network (None: the real one)."""
    make = None if network is None else lambda: network
    return detect_shots_in_pass(film_of(levels), ShotSettings(**settings), network=make)


def cuts_of(
    levels: Sequence[float | Picture], network: Oracle | None = None, **settings: Any
) -> tuple[int, ...]:
    return detected(levels, network, **settings).cuts


def blocks(number: int, light: float = 1.0) -> Picture:
    """A picture of blocks, the same for the same number."""
    blocks = np.random.default_rng(number).integers(0, 100, (6, 8, 1)) * light
    return np.asarray(np.kron(blocks, np.ones((6, 8, 3))), np.uint8)


def between(shares: npt.NDArray[np.float64], one: Picture, other: Picture) -> list[Picture]:
    """Pictures on the way from one to the other."""
    return [np.asarray(one * (1 - share) + other * share, np.uint8) for share in shares]


DOUBTFUL = [20] * 60 + [50, 110] + [170] * 60
"""Level 110 at frame 61 stands out from what is before and after, by not much."""
LIT, DARK = blocks(1, 2.5), blocks(1) * 0
WEBCAM = np.repeat([100, 130] * 8 + [176] + [145, 176] * 8, 4).tolist()


@pytest.mark.parametrize(
    ("levels", "adaptive", "unseen", "cuts", "seen"),
    [
        (DOUBTFUL, (), (), [110], (61,)),
        ([blocks(1)] * 60 + [LIT] + [blocks(1)] * 60, (60,), (), [int(LIT[0, 0, 0])], (60,)),
        ([blocks(1)] * 60 + [LIT] * 60, (60,), (), [int(LIT[0, 0, 0])], (60,)),
        (WEBCAM, (64,), (), [176], (64,)),
        ([20] * 60 + [80] * 6 + [140] * 60, (60,), (), [80, 140], (60, 66)),
    ],
    ids=["doubtful", "a flash", "light is switched on", "each picture four times", "a short shot"],
)
def test_the_network_decides_where_the_score_is_in_doubt(
    oracle: Oracle, levels: Any, adaptive: Any, unseen: Any, cuts: list[int], seen: tuple[int, ...]
) -> None:
    assert cuts_of(levels, detector="adaptive") == adaptive
    assert not oracle.seen
    assert cuts_of(levels, oracle) == unseen
    assert oracle.seen
    oracle.cuts = cuts
    assert cuts_of(levels, oracle)[: len(seen)] == seen


def test_a_jump_within_one_framing_is_a_cut_whatever_the_network_says(oracle: Oracle) -> None:
    def framing(hand: int, shift: int) -> Picture:
        picture = np.array(blocks(1))
        picture[6:30, 16:48] = np.roll(blocks(hand, 2.5), shift // 4, axis=1)[6:30, 16:48]
        return picture

    moving = [framing(2, shift) for shift in range(80)]
    assert cuts_of(moving, oracle) == cuts_of(moving, detector="adaptive") == ()
    assert cuts_of(moving[:40] + [framing(3, shift) for shift in range(40, 80)], oracle) == (40,)


def test_cuts_of_the_scores_stay_and_light_that_changes_is_not_even_asked_about(oracle: Oracle) -> None:
    levels = [20] * 60 + [80] * 60 + [240] * 60
    assert cuts_of(levels, oracle) == cuts_of(levels, detector="adaptive") == (60, 120)
    oracle.slow = range(256)
    brighter = [blocks(1) + np.uint8(level) for level in range(40)]
    assert cuts_of([blocks(1)] * 40 + brighter + [brighter[-1]] * 40, oracle) == ()
    assert not oracle.seen, "what is clear needs no network"


def test_a_dissolve_is_one_cut_where_the_network_sees_it_and_a_fade_in_at_the_start_is_none(
    oracle: Oracle,
) -> None:
    way = between(np.linspace(0, 1, 30), blocks(1), blocks(2))
    dissolve = [blocks(1)] * 60 + way + [blocks(2)] * 60
    assert cuts_of(dissolve, oracle) == cuts_of(dissolve, detector="adaptive") == ()
    assert oracle.seen
    oracle.slow = [int(picture[0, 0, 0]) for picture in way[1:-1]]
    (cut,) = cuts_of(dissolve, oracle)
    assert 60 <= cut < 90
    oracle.seen.clear()
    assert cuts_of(dissolve[60:], oracle) == ()
    assert oracle.seen


def test_the_frames_of_a_dissolve_belong_to_neither_shot_alone(oracle: Oracle) -> None:
    way = between(np.linspace(0, 1, 30), blocks(1), blocks(2))
    dissolve = [blocks(1)] * 60 + way + [blocks(2)] * 60
    oracle.slow = [int(picture[0, 0, 0]) for picture in way[1:-1]]
    shots = detected(dissolve, oracle).shots
    alone = [shot.unmixed for shot in shots]
    assert alone[0] is not None
    assert alone[1] is not None
    assert (alone[0].start, alone[1].end) == (0.0, shots[1].end)
    assert 1.8 < alone[0].end <= 60 / 25, "the dissolve begins with frame 60"
    assert 89 / 25 <= alone[1].start < 4.2, "and ends with frame 89"
    # A clean cut has no such frames.
    assert [shot.unmixed for shot in detected([20] * 60 + [80] * 60, oracle).shots] == [None] * 2


@pytest.mark.parametrize("frames", [14, 30, 60])
def test_quick_and_long_dissolves_are_looked_at(oracle: Oracle, frames: int) -> None:
    cuts_of(
        [blocks(1)] * 60 + between(np.linspace(0, 1, frames), blocks(1), blocks(2)) + [blocks(2)] * 60, oracle
    )
    assert oracle.seen


def test_a_shot_between_two_dissolves_that_meet_keeps_two_frames() -> None:
    changes = [(1.0, 4.4), (4.0, 8.0)]
    assert unmixed_part(Interval(3.0, 5.0), changes) == Interval(4.15, 4.25)
    assert unmixed_part(Interval(3.0, 6.0), [(7.0, 8.0)]) is None
    assert unmixed_part(Interval(3.0, 6.0), [(5.0, 9.0)]) == Interval(3.0, 5.0)


def test_what_fades_to_black_is_cut_where_it_is_black(oracle: Oracle) -> None:
    fades = between(np.linspace(0, 1, 20), blocks(1), DARK)
    back = between(np.linspace(0, 1, 20), DARK, blocks(2))
    oracle.slow = [int(picture[0, 0, 0]) for picture in (*fades[1:], *back[:-1])]
    (cut,) = cuts_of([*[blocks(1)] * 60, *fades, *back, *[blocks(2)] * 60], oracle)
    assert fades[cut - 60].max() < shot_scores.BLACK <= fades[cut - 61].max()


def test_the_network_is_loaded_only_where_there_is_doubt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its weights are not here, and cannot be fetched."""
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cuts_of(DOUBTFUL, detector="adaptive") == ()
    assert cuts_of([20] * 60 + [80] * 60) == (60,)
    with pytest.raises(WeightsError, match=cut_net.WEIGHTS):
        cuts_of(DOUBTFUL)
    assert "searching cuts_0" not in {thread.name for thread in threading.enumerate()}


def test_a_slow_network_holds_up_neither_order_nor_cuts(oracle: Oracle) -> None:
    """More frames are scored while it looks than may wait."""
    oracle.cuts = [110]
    at_once = cuts_of(DOUBTFUL * 3, oracle)
    assert len(at_once) > 3
    oracle.takes = 0.3
    assert cuts_of(DOUBTFUL * 3, oracle) == at_once


# The network
def test_it_answers_as_torch_does(tmp_path: Path) -> None:
    """The network as its paper draws it, layer by layer in three dimensions, with small random weights."""
    torch = pytest.importorskip("torch")
    rng, kept = np.random.default_rng(5), list[npt.NDArray[np.float32]]()

    def weight(*shape: int) -> Any:
        """The next tensor of the file."""
        values = rng.normal(0, 1 / np.sqrt(max(1, np.prod(shape[1:]))), shape)
        kept.append(np.asarray(abs(values) if len(shape) < 2 else values, np.float32))
        return torch.from_numpy(kept[-1])

    pictures = np.random.default_rng(6).integers(0, 256, (23, 27, 48, 3), np.uint8)
    conv, relu = torch.nn.functional.conv3d, torch.relu
    now = torch.from_numpy(pictures).permute(3, 0, 1, 2)[None].float() / 255
    means, channels = [], 3
    for filters in (16, 32, 64):
        outputs = []
        for _ in range(2):
            parts = []
            for far in (1, 2, 4, 8):
                flat = conv(now, weight(2 * filters, channels, 1, 3, 3), padding=(0, 1, 1))
                across = weight(filters, 2 * filters, 3, 1, 1)
                parts.append(conv(flat, across, padding=(far, 0, 0), dilation=(far, 1, 1)))
            gain, shift, mean, variance, _ = (*(weight(4 * filters) for _ in range(4)), weight())
            channels = 4 * filters
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
        return relu(linear(rows, weight(128, 101), weight(128)))

    features = alike(linear(torch.cat(means, 1)[0].T, weight(128, 448), weight(128)))
    bins = (pictures >> 5).astype(int) @ np.array([64, 8, 1])
    counts = np.stack([np.bincount(row.ravel(), minlength=512) for row in bins]).astype(np.float32)
    colours = alike(torch.from_numpy(counts))
    flat = now[0].permute(1, 2, 3, 0).reshape(len(pictures), -1)
    hidden = relu(linear(torch.cat([colours, features, flat], 1), weight(1024, 4864), weight(1024)))
    theirs = torch.sigmoid(
        torch.cat([linear(hidden, weight(1, 1024), weight(1)) for _ in range(2)], 1)
    ).T.numpy()
    assert np.ptp(theirs) > 1e-3, "answers that do not differ would show nothing"
    path = tmp_path / "weights.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number, tensor in enumerate(kept):
            archive.writestr(f"archive/data/{number}", tensor.tobytes() if tensor.ndim else bytes(8))
    assert np.abs(cut_net.CutNet(path)(pictures) - theirs).max() < 1e-5
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(WeightsError, match="cannot be loaded"):
        cut_net.CutNet(path)


@pytest.mark.long
def test_cuts_of_a_battle_that_scores_alone_miss() -> None:
    """The detector `adaptive` finds 16, none false."""
    name = "tears-of-steel-battle.webm"
    path = benchmark.FILMS / name
    if not path.exists():
        pytest.skip(f"the supplied film {name} is not here")
    if not weight_store.is_fetched(cut_net.WEIGHTS):
        pytest.skip("the network's weights are not here")
    learned, _ = benchmark.measure(path, ShotSettings(), benchmark.truths()[name], 0, 1e9)
    assert learned.hard_found >= 24
    assert learned.false == 0
