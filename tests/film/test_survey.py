"""A film surveyed in parts gives what one decoder gives: cuts, scores to the bit, kept frames, damage."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import av
import numpy as np
import pytest
from av.video.reformatter import ColorRange

from shotad.core import FilmError, Interval, Shot, ShotSettings
from shotad.core.profiling import recording
from shotad.film import Film, FrameStore, Grid, one_pass as survey, open_film, parts as crew, parts as joining
from shotad.film.decoder import planes_of
from shotad.film.grid import grid_pictures
from shotad.film.parts import Part, PassProgress, Piece, proof, proven
from shotad.film.pyav_reader import PyavFilm
from shotad.film.shots import ShotFinder, ShotList
from tests.film.test_reader import MEDIA, X264_OPEN
from tests.media import FilmSpec, make_film, make_stills, media_folder

GRID = Grid(rate=8, height=72, quality=3)
SAMPLE = Path(__file__).parents[1] / "sample" / "sample.mp4"
LONG = FilmSpec(frames=160, cuts=(31, 60, 61, 100, 130))
REFRESH = (("x264-params", "intra-refresh=1:keyint=12:bframes=0:scenecut=0"),)

KINDS = {
    **{name: spec for name, spec in MEDIA.items() if name != "untagged hd"},
    "cuts": replace(LONG, b_frames=3),
    "cuts, open gop": replace(LONG, options=X264_OPEN, b_frames=3),
    "cuts, mkv": replace(LONG, suffix=".mkv", b_frames=2),
    "cuts, transport stream": replace(LONG, suffix=".ts", b_frames=2),
    "every frame a key": FilmSpec(gop=1),
    "one key only": FilmSpec(gop=1000),
    "refreshed bit by bit": FilmSpec(frames=100, options=REFRESH),
}
WHOLE = {"programme stream", "raw stream without times", "one key only", "wmv"}
"""Kinds that have no key packet to split at, or none that can be found again."""

UNSURE = {"refreshed bit by bit"}
"""Kinds whose key packets are none."""


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of half a second, so that tiny films have many."""
    monkeypatch.setattr(crew, "LONGEST", 0.45)
    monkeypatch.setattr(crew, "SHORTEST", 0.45)
    monkeypatch.setattr(survey, "WORTH_SPLITTING", 0.0)


@dataclass(frozen=True)
class Found:
    """All that a survey leaves behind."""

    shots: ShotList
    scores: tuple[float, ...]
    pack: bytes
    index: bytes
    damage: str | None
    end: float | None


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of the parts that were joined."""
    numbers: list[int] = []
    take = PassProgress.part

    def noted(self: PassProgress, part: Part, first_score: float) -> None:
        numbers.append(part.piece.number)
        take(self, part, first_score)

    monkeypatch.setattr(PassProgress, "part", noted)
    return numbers


def surveyed(path: Path, folder: Path, workers: int, zones: list[Interval] | None = None) -> Found:
    finders: list[ShotFinder] = []

    class Noted(ShotFinder):
        def __init__(self, settings: ShotSettings) -> None:
            super().__init__(settings)
            finders.append(self)

    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch, open_film(path) as film:
        patch.setattr(survey, "ShotFinder", Noted)
        patch.setattr("shotad.film.shot_scores.LEAST_CONTENT", 2.0)
        store = FrameStore(folder, film, GRID, zones)
        settings = ShotSettings(min_scene_len=3)
        shots = survey.survey(film, settings, store=store, workers=workers)
        assert store.complete
        files = [(folder / name).read_bytes() for name in ("frames.pack", "frames.index")]
        return Found(shots, tuple(finders[0].scores.tolist()), files[0], files[1], film.damage, film.end)


def same_either_way(path: Path, folder: Path, workers: int = 2) -> Found:
    alone = surveyed(path, folder / "alone", 1)
    assert surveyed(path, folder / "parts", workers) == alone
    return alone


@pytest.mark.parametrize("name", list(KINDS))
def test_every_kind_of_film_is_the_same_in_parts(name: str, tmp_path: Path, joined: list[int]) -> None:
    found = same_either_way(make_film(KINDS[name]).path, tmp_path)
    assert found.shots.frame_count > 40
    assert not joined if name in WHOLE else len(joined) > 1 or name in UNSURE
    assert joined == sorted(set(joined))


def test_films_with_cuts_have_them(tmp_path: Path) -> None:
    found = surveyed(make_film(KINDS["cuts"]).path, tmp_path / "parts", 3)
    assert {31, 100, 130} <= set(found.shots.cuts)


def test_zones_and_more_workers_than_pieces(tmp_path: Path) -> None:
    path = make_film(KINDS["cuts, mkv"]).path
    zones = [Interval(0.3, 0.6), Interval(2.0, 5.1)]
    alone = surveyed(path, tmp_path / "alone", 1, zones)
    assert surveyed(path, tmp_path / "parts", 40, zones) == alone
    assert len(alone.index) > 500


# Damage


@cache
def hurt(suffix: str, kind: str) -> Path:
    """A film with random bytes in its middle, without some of them, or ending there."""
    whole = make_film(FilmSpec(suffix=suffix, frames=160, b_frames=2, cuts=(50,))).path
    data = bytearray(whole.read_bytes())
    middle = len(data) // 2
    if kind == "noise":
        data[middle : middle + 900] = np.random.default_rng(1).bytes(900)
    else:
        del data[middle : middle + 700 if kind == "hole" else len(data)]
    path = media_folder() / f"{kind}{suffix}"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [(s, k) for s in (".mkv", ".ts") for k in ("noise", "hole", "short")] + [(".mp4", "noise")],
)
def test_damage_is_the_same_in_parts(suffix: str, kind: str, tmp_path: Path, joined: list[int]) -> None:
    found = same_either_way(hurt(suffix, kind), tmp_path)
    assert found.damage or suffix == ".ts"  # where nothing may tell that packets are gone
    assert joined[0] == 0


def test_a_clock_that_jumps_back_ends_the_film_either_way(tmp_path: Path) -> None:
    data = make_film(KINDS["cuts, transport stream"]).path.read_bytes()
    path = tmp_path / "twice.ts"
    path.write_bytes(data + data)
    found = same_either_way(path, tmp_path)
    assert found.damage is not None
    assert "jumps back" in found.damage


def test_a_clock_that_jumps_back_is_seen_from_every_key(tmp_path: Path) -> None:
    data = make_film(KINDS["cuts, transport stream"]).path.read_bytes()
    path = tmp_path / "twice.ts"
    path.write_bytes(data + data)
    found = 0
    with open_film(path) as film:
        assert isinstance(film, PyavFilm)
        decoder = film.decoder(threads=1)
        for tenth in range(64):
            key = decoder.next_key(tenth / 10)
            if key is not None and key.place[1] < len(data):
                decoder.stand_at(key)
                for _ in decoder:
                    pass
                if not decoder.missed:
                    found += 1
                    assert decoder.stopped == "its clock jumps back", key
        decoder.close()
    assert found > 20


def test_a_seek_that_misses_costs_time_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shotad.film import Decoder
    from shotad.film.decoder import Key

    path = make_film(KINDS["cuts"]).path
    alone = surveyed(path, tmp_path / "alone", 1)
    stand_at = Decoder.stand_at

    def missing(self: Decoder, key: Key, last: float = 0.0) -> None:
        stand_at(self, Key(key.stamp, (key.place[0], 7), key.seconds) if key.seconds > 3 else key, last)

    monkeypatch.setattr(Decoder, "stand_at", missing)
    assert surveyed(path, tmp_path / "parts", 2) == alone


def test_parts_that_are_not_the_film_are_never_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, joined: list[int]
) -> None:
    path = make_film(KINDS["cuts"]).path
    alone = surveyed(path, tmp_path / "alone", 1)
    proofs = iter(range(10**6))
    monkeypatch.setattr("shotad.film.parts.proof", lambda seconds, raw: (seconds, next(proofs)))
    monkeypatch.setattr(joining, "proof", lambda seconds, raw: (seconds, next(proofs)))
    assert surveyed(path, tmp_path / "parts", 2) == alone
    assert joined == [0]


def test_what_proves_a_join() -> None:
    head = [(1.0, 11), (1.1, 12), (1.2, 13)]
    assert proven(head, head)
    assert proven([(1.0, 11), (1.2, 13), (1.6, 99)], head)
    assert not proven([(1.0, 11), (1.2, 14)], head)
    assert not proven([(1.0, 11), (1.15, 12)], head)
    assert not proven(head[1:], head)
    assert not proven([], head)
    assert not proven(head, [])


# Who is told, and when


@pytest.mark.parametrize("workers", [1, 3])
def test_shots_are_told_when_they_are_final(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_film(KINDS["cuts"]).path
    monkeypatch.setattr("shotad.film.parts.TELL_EVERY", 0.5)
    monkeypatch.setattr("shotad.film.shot_scores.LEAST_CONTENT", 2.0)
    told: list[tuple[tuple[Shot, ...], float]] = []
    advanced: list[float] = []

    def tell(shots: tuple[Shot, ...], until: float) -> None:
        told.append((shots, until))

    with open_film(path) as film:
        store = FrameStore(tmp_path, film, GRID)
        settings = ShotSettings(min_scene_len=3)
        found = survey.survey(
            film, settings, store=store, on_shots=tell, workers=workers, advance=advanced.append
        )
    assert len(told) > 5
    assert [until for _, until in told] == sorted(until for _, until in told)
    cuts = [shot.interval.start for shot in found.shots[1:]]
    for shots, until in told:
        assert shots == found.shots[: len(shots)]
        assert [cut for cut in cuts if cut <= until] == [shot.interval.end for shot in shots]
    assert 4 < sum(advanced) <= found.end
    assert min(advanced) > 0


def test_a_store_is_read_while_it_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_film(KINDS["cuts"]).path
    monkeypatch.setattr("shotad.film.parts.TELL_EVERY", 0.5)
    with open_film(path) as film, open_film(path) as other:
        store = FrameStore(tmp_path, film, GRID)
        read: list[float] = []

        def look(shots: tuple[Shot, ...], until: float) -> None:
            moments = [m / 8 for m in range(int(store.filled_until * 8))][-6:]
            with monkeypatch.context() as patch:
                patch.setattr(type(film), "frames_at", lambda self, seconds: iter(()))
                here = list(store.pictures(moments))
            for one, two in zip(here, grid_pictures(other, moments, GRID), strict=True):
                assert one.seconds == two.seconds
                assert np.array_equal(one.image, two.image)
            read.extend(moments)

        survey.survey(film, ShotSettings(), store=store, on_shots=look, workers=2)
        assert len(read) > 20
        assert store.filled_until == float("inf")


def test_readers_in_other_threads_do_not_mind_a_store_that_is_filled_anew(tmp_path: Path) -> None:
    path = make_film(KINDS["cuts"]).path
    moments = [i / 8 for i in range(48)]
    with open_film(path) as film:
        wanted = [picture.image for picture in grid_pictures(film, moments, GRID)]
    film, done = open_film(path), threading.Event()
    trouble: list[Exception] = []
    store = FrameStore(tmp_path, film, GRID)

    def read() -> None:
        try:
            while not done.is_set():
                for picture, image in zip(store.pictures(moments), wanted, strict=True):
                    assert np.array_equal(picture.image, image)
        except (AssertionError, OSError, ValueError, FilmError) as error:
            trouble.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(3):
        survey.survey(film, ShotSettings(), store=store, workers=2)
        store.remove()
    done.set()
    reader.join()
    assert not trouble


# Ends that are not the film's


def alive() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("film part")]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError(), FilmError("Over.", "")])
def test_threads_end_when_whoever_is_told_raises(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shotad.film.parts.TELL_EVERY", 0.3)

    def fail(shots: tuple[Shot, ...], until: float) -> None:
        assert alive()
        raise error

    with open_film(make_film(KINDS["cuts"]).path) as film:
        store = FrameStore(tmp_path, film, GRID)
        with pytest.raises(type(error)):
            survey.survey(film, ShotSettings(), store=store, on_shots=fail, workers=3)
        assert not alive()
        assert not store.complete


def test_an_error_in_a_part_is_raised_and_threads_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(seconds: float, raw: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr("shotad.film.parts.proof", fail)
    with open_film(make_film(KINDS["cuts"]).path) as film, pytest.raises(MemoryError, match="no room"):
        survey.survey(film, ShotSettings(), workers=2)
    assert not alive()


def test_parts_are_never_made_far_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    ahead: list[int] = []
    make = crew.DecodePool._make
    take = PassProgress.part

    def noted(self: crew.DecodePool, piece: Piece) -> Part | None:
        begun.append(piece.number)
        return make(self, piece)

    def slow(self: PassProgress, part: Part, first_score: float) -> None:
        time.sleep(0.05)
        ahead.append(max(begun) - part.piece.number)
        take(self, part, first_score)

    monkeypatch.setattr(crew.DecodePool, "_make", noted)
    monkeypatch.setattr(PassProgress, "part", slow)
    with recording() as found, open_film(make_film(KINDS["cuts"]).path) as film:
        survey.survey(film, ShotSettings(), workers=2)
    assert [e["args"]["value"] for e in found.trace()["traceEvents"] if e["ph"] == "C"][-1] == 0
    assert len(begun) == len(set(begun)) > 8
    assert max(ahead) <= 2 + crew.AHEAD


def _stills(folder: Path) -> Film:
    return open_film(make_stills(folder / "stills", 40), frame_rate=Fraction(10))


def _file(folder: Path) -> Film:
    return open_film(io.BytesIO(make_film(KINDS["cuts"]).path.read_bytes()))


@pytest.mark.parametrize("source", [_stills, _file])
def test_what_cannot_be_opened_twice_is_surveyed_in_one(
    source: Callable[[Path], Film], tmp_path: Path, joined: list[int]
) -> None:
    with source(tmp_path) as film:
        found = survey.survey(film, ShotSettings(), workers=4)
        assert found.frame_count == sum(1 for _ in film.frames()) >= 40
    assert not joined


def test_a_device_that_is_not_there_is_told_and_the_processors_decode(tmp_path: Path) -> None:
    told: list[str] = []
    with open_film(make_film(KINDS["cuts"]).path) as film:
        alone = survey.survey(film, ShotSettings(), workers=1)
        # No machine has them all, and ffmpeg never has both of these.
        for name in ("videotoolbox", "d3d11va"):
            assert survey.survey(film, ShotSettings(), workers=2, decoder=name, tell=told.append) == alone
    assert told
    assert all("decoded by the processors" in text for text in told)


@pytest.mark.parametrize(("pixels", "device"), [("yuv420p", "nv12"), ("yuv420p10le", "p010le")])
def test_planes_of_a_device_are_those_of_the_processors(pixels: str, device: str) -> None:
    rng = np.random.default_rng(2)
    top = 256 if pixels == "yuv420p" else 1024
    frame = av.VideoFrame(64, 36, pixels)
    for plane in frame.planes:
        dtype = np.uint8 if top == 256 else np.uint16
        plane.update(rng.integers(0, top, plane.buffer_size // np.dtype(dtype).itemsize, dtype).tobytes())
    frame.pts, frame.color_range, frame.colorspace = 7, ColorRange.JPEG, 1
    given = frame.reformat(format=device)
    given.pts = frame.pts
    back = planes_of(given)
    assert (back.format.name, back.pts) == (pixels, 7)
    assert (back.color_range, back.colorspace) == (frame.color_range, frame.colorspace)
    assert np.array_equal(back.to_ndarray(), frame.to_ndarray())


def test_large_frames_have_fewer_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "processors", lambda: 64)
    sizes = [(848, 480), (1920, 1080), (3840, 2160), (7680, 4320)]
    assert [crew.workers_for(*size) for size in sizes] == [8, 8, 3, 1]
    assert crew.workers_for(3840, 2160, 5) == 5
    monkeypatch.setattr(crew, "processors", lambda: 2)
    assert crew.workers_for(1920, 1080) == 2


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    assert not alive()


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """The sample film with forty bytes that are others."""
    data, random = bytearray(SAMPLE.read_bytes()), np.random.default_rng(5)
    for place in random.integers(len(data) // 10, len(data) * 9 // 10, 40):
        data[place] ^= 0x55
    path = tmp_path / "damaged.mp4"
    path.write_bytes(data)
    return path


def test_every_pass_over_a_damaged_film_sees_the_same_pixels(damaged: Path) -> None:
    with open_film(damaged) as film:
        passes = {
            tuple(proof(frame.seconds, frame.raw) for frame in film.frames() if frame.raw is not None)
            for _ in range(3)
        }
        assert film.damage is not None
    assert len(passes) == 1 < len(*passes)


def test_a_damaged_film_in_parts_is_the_same_every_time(
    damaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "processors", lambda: 2)
    monkeypatch.setattr(crew, "LONGEST", 6.0)
    found = [surveyed(damaged, tmp_path / f"{run}", 2) for run in range(3)]
    assert found[0].damage is not None
    assert found[1] == found[0]
    assert found[2] == found[0]
