"""Shots against PySceneDetect's own ``detect()``, on film made here and on real film."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import FilmError, ShotSettings
from shotad.film import Frame, open_film, shot_scores
from shotad.film.shots import ShotFinder, ShotList

Images = list[npt.NDArray[np.uint8]]
FILMS = Path(__file__).parents[2].parent / "shared" / "data" / "films"
MAD = {"adaptive_threshold": 1.5}


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
    return (
        scene(1, 22, size)
        + scene(2, 4, size)
        + scene(3, 20, size, pan=3)
        + faded(scene(3, 10, size), 1, 0)
        + faded(scene(4, 10, size), 0, 1)
        + scene(4, 10, size)
        + flash
        + still
        + scene(6, 23, size, pan=2, grain=8)
    )


def write_film(
    path: Path,
    images: Images,
    *,
    codec: str = "libx264",
    pixels: str = "yuv420p",
    rate: int = 24,
    ticks: Iterable[int] | None = None,
    matrix: int | None = None,
    rotation: int = 0,
) -> Path:
    """A film of ``images``; ``ticks`` are the frames' moments in 1/1000 s, else one per 1/rate s."""
    height, width = images[0].shape[:2]
    moments = list(ticks) if ticks is not None else [round(1000 * i / rate) for i in range(len(images))]
    base = Fraction(1, 1000) if ticks is not None else Fraction(1, rate)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = width, height, pixels
        stream.codec_context.time_base = base
        if matrix is not None:
            stream.codec_context.colorspace = matrix
        if codec == "libx264":
            stream.options = {"preset": "ultrafast", "crf": "16", "threads": "1"}
        if rotation:
            stream.set_display_rotation(rotation)
        for i, image in enumerate(images):
            frame = av.VideoFrame.from_ndarray(image, format="bgr24").reformat(format=pixels)
            frame.time_base = base
            frame.pts = moments[i] if ticks is not None else i
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


def detect_shots(frames: Iterable[Frame], settings: ShotSettings, *, end: float) -> ShotList:
    finder = ShotFinder(settings)
    for frame in frames:
        finder.add(frame)
    return finder.finish(end)


def ours(film: Path, **settings: Any) -> tuple[list[int], npt.NDArray[np.float64]]:
    finder = ShotFinder(ShotSettings(detector="adaptive", **settings))
    for frame in decoded(film):
        finder.add(frame)
    return list(finder.finish(end=1e6).cuts), finder.scores


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
        {"adaptive_threshold": 1.5, "min_scene_len": 2, "window_width": 1}, MAD, {"min_scene_len": 1},
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


@pytest.mark.parametrize("matrix", [1, 5, 7, 9])
@pytest.mark.usefixtures("planes_always")
def test_both_ways_follow_the_tagged_matrix(tmp_path: Path, matrix: int) -> None:
    path = write_film(tmp_path / "film.mp4", busy_film((320, 180))[:56], matrix=matrix)
    with av.open(str(path)) as container:
        assert next(container.decode(video=0)).colorspace == matrix
    compared(path, 1.0)


@pytest.mark.usefixtures("planes_always")
def test_a_turned_film_is_cut_where_the_upright_one_is(tmp_path: Path) -> None:
    path = write_film(tmp_path / "turned.mp4", busy_film((320, 180)), rotation=90)
    with av.open(str(path)) as container:
        assert next(container.decode(video=0)).rotation != 0
    compared(path, least=3.5)


# Time
def test_seconds_come_from_timestamps_of_variable_rate(tmp_path: Path) -> None:
    images = scene(1, 30, (160, 90)) + scene(2, 30, (160, 90)) + scene(3, 30, (160, 90))
    steps = np.random.default_rng(7).integers(15, 120, len(images))
    ticks = np.cumsum(steps) - steps[0]
    path = write_film(tmp_path / "vfr.mkv", images, ticks=ticks.tolist())
    with open_film(path) as film:
        found = detect_shots(film.frames(), ShotSettings(detector="adaptive"), end=100.0)
    assert found.cuts == (30, 60)
    expected = [0.0, ticks[30] / 1000, ticks[60] / 1000, 100.0]
    bounds = [shot.interval.start for shot in found.shots] + [found.end]
    assert bounds == pytest.approx(expected, abs=1e-6)


# One shot, no shot, wrong frames
def test_films_without_frames_or_with_an_odd_matrix(tmp_path: Path) -> None:
    with pytest.raises(FilmError, match="no picture"):
        detect_shots([], ShotSettings(detector="adaptive"), end=1.0)
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
    assert detect_shots(frames, ShotSettings(detector="adaptive", path=path), end=9.0).cuts == (40,)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tears-of-steel-battle.webm", "rabbit/video.mp4"])
@pytest.mark.usefixtures("planes_always")
def test_real_film_is_cut_as_the_library_cuts_it(name: str) -> None:
    path = FILMS / name
    if not path.exists():
        pytest.skip(f"the supplied film {name} is not here")
    cuts, scores = library(path)
    mad_cuts = library(path, **MAD)[0]
    ways: tuple[Any, ...] = ("exact", "fast")
    settings = [ShotSettings(detector="adaptive", path=way, **more) for way in ways for more in ({}, MAD)]
    finders = [ShotFinder(one) for one in settings]
    for frame in decoded(path):
        for finder in finders:
            finder.add(frame)
    exact, _, fast, _ = finders
    found = [list(finder.finish(end=1e6).cuts) for finder in finders]
    assert found == [cuts, mad_cuts, cuts, mad_cuts]
    assert exact.scores.tolist() == scores.tolist()
    assert np.abs(fast.scores - scores).max() < 3.5
