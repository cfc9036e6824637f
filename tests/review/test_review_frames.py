"""The frames that the models saw: which, with which pixels, and from memory the second time."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from shotad.core import (
    Clip,
    Config,
    FilmInfo,
    Interval,
    Reply,
    Request,
    RunInputs,
    RunSettings,
    Shot,
    WorkFolder,
    load_config,
)
from shotad.core.errors import FilmError
from shotad.core.runsettings import GivenCast
from shotad.description import Engines, describe, redo
from shotad.engines.fake import FakeEngine
from shotad.film import Prepared, open_film
from shotad.film.framestore import nearest_tick, tick_second
from shotad.review import frames as room
from shotad.review.frames import FrameNote, ShownFrames, mark_of
from tests.decodes import counted_decodes
from tests.handmade import look, slots_record
from tests.media import FilmSpec, make_film, make_stills, read_number
from tests.painted_faces import Head, Take, look_for_painted_faces, paint_film, photo
from tests.runs import QUICK, SMALL

SPEC = FilmSpec(size=(320, 180), frames=150, gop=50, b_frames=2, cuts=(50, 100))


@dataclass
class Session:
    """What frames and strip read of a session."""

    folder: Path
    film: FilmInfo
    config: Config = field(default_factory=Config)
    prepared: Prepared | None = None


def row(number: int, role: str, seconds: Sequence[float]) -> dict[str, Any]:
    of = {"start": min(seconds), "end": max(seconds) + 0.1, "seconds": list(seconds)}
    return {"number": number, "shot": number + 3, "role": role, **of}


PAST, CURRENT = [0.3, 0.9, 1.5], [2.0, 2.4, 2.8, 3.2, 3.6]


def record(key: str = "k1", overlay: str | None = None, **more: Any) -> dict[str, Any]:
    shots = [row(0, "past", PAST), row(1, "current", CURRENT)]
    shown = {"shots": shots, "scales": {"1": "close-up"}, "overlay": overlay}
    return look("s00002000", **{"key": key, **shown, **more})


def described(folder: Path, *records: dict[str, Any], given: bool = False) -> None:
    """A work folder with these records of Stage I."""
    folder.mkdir(exist_ok=True)
    slots = {**slots_record(()), **({} if given else {"gaps": []})}
    (folder / "slots.json").write_text(json.dumps(slots), encoding="utf-8")
    lines = "".join(json.dumps(found) + "\n" for found in records)
    (folder / "stage1.jsonl").write_text(lines, encoding="utf-8")


def opened(folder: Path, path: Path | None = None) -> ShownFrames:
    path = path or make_film(SPEC).path
    with open_film(path) as film:
        return ShownFrames(Session(folder, film.info), path)


def pixels(picture: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.asarray(Pillow.open(io.BytesIO(picture)).convert("RGB"))


def test_notes_tell_what_was_seen_in_order(tmp_path: Path) -> None:
    described(tmp_path, record())
    notes = opened(tmp_path).notes("s00002000")
    assert [note.number for note in notes] == list(range(1, 9))
    assert [note.seconds for note in notes] == PAST + CURRENT
    assert [note.shot for note in notes] == [0] * 3 + [1] * 5
    assert notes[0] == FrameNote(1, PAST[0], 0, 3, "past", None)
    assert notes[3].scale == "close-up"
    many = row(0, "past", [0.1 * n for n in range(5)]), row(1, "current", [1 + 0.1 * n for n in range(95)])
    described(tmp_path, record(shots=list(many)))
    shown = [note for note in opened(tmp_path).notes("s00002000") if note.shown]
    assert {note.shot for note in shown} == {0, 1}
    assert 20 <= len(shown) <= 26


@pytest.mark.parametrize("given", [False, True])
def test_pictures_are_of_the_seconds_that_the_record_tells(tmp_path: Path, given: bool) -> None:
    described(tmp_path, record(), given=given)
    made, here = make_film(SPEC), tmp_path / "film.mp4"
    here.write_bytes(made.path.read_bytes())
    frames = opened(tmp_path, here)
    here.unlink()
    with pytest.raises(FilmError, match="There is no film"):
        frames.picture("s00002000", 1)
    here.write_bytes(made.path.read_bytes())  # it is back
    for note in frames.notes("s00002000"):
        second = note.seconds if given else tick_second(nearest_tick(note.seconds))
        shown = pixels(frames.picture("s00002000", note.number))
        assert read_number(shown) == made.number_at(second)
        assert shown.shape == (180, 320, 3)


def test_a_slot_at_which_only_a_redo_has_looked(tmp_path: Path) -> None:
    """A slot that a person added, say: no run knows it."""
    described(tmp_path, record())
    frames = opened(tmp_path)
    looks = (("s00009000", [1.0, 2.0]), ("s00009000", [4.5]), ("s00009000", None), ("s00002000", [5.5]))
    tries = [
        {"key": f"r{at}", "slot": slot, "stage1": seen and record(f"k{at}", shots=[row(0, "current", seen)])}
        for at, (slot, seen) in enumerate(looks)
    ]
    assert frames.notes("s00009000") == ()
    lines = "".join(json.dumps(found) + "\n" for found in tries)
    (tmp_path / "redo.jsonl").write_text(lines, encoding="utf-8")
    assert [note.seconds for note in frames.notes("s00009000")] == [4.5]
    assert read_number(pixels(frames.picture("s00009000", 1))) == make_film(SPEC).number_at(4.5)
    assert [note.seconds for note in frames.notes("s00002000")] == PAST + CURRENT, "that of the run"


TAKES = (
    Take(4, (Head("ann", (0.2, 0.5), (0.6, 0.5)), Head("bo", (0.8, 0.3), (0.8, 0.6)))),
    Take(4, (Head("bo", (0.5, 0.5), (0.4, 0.5)), Head("stranger", (0.75, 0.5), (0.75, 0.5)))),
    Take(3),
)


class Remembering(FakeEngine):
    """The fake engine, with the clips that it was shown, by slot."""

    def __init__(self) -> None:
        super().__init__()
        self.clips: dict[str, Clip] = {}

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        self.clips |= {one.slot_id: one.clip for one in requests if one.clip is not None}
        return super().generate(requests)


def with_cast(folder: Path, *assignments: str) -> tuple[Path, RunSettings, Remembering]:
    """A film of painted heads, described with its cast in ``folder/w``; the engine that saw it."""
    film = paint_film(folder / "heads.mp4", TAKES)
    people = "people:\n"
    for who in ("ann", "bo"):
        photo(folder / f"{who}.png", who)
        people += f"  - {{id: {who}, name: {who.title()}, photos: {who}.png}}\n"
    (folder / "cast.yaml").write_text(people)
    (folder / "slots.csv").write_text("start,end\n0.5,3.5\n4.5,7.5\n8.5,10.5\n")
    config = load_config(None, (*QUICK, *SMALL, "speech.source=none", "threads.features=none", *assignments))
    asked = RunInputs(slots=folder / "slots.csv", cast=GivenCast(folder / "cast.yaml"))
    looks = Remembering()
    with open_film(film) as reader, WorkFolder(folder / "w") as work:
        describe(reader, work, config, asked, engines=Engines(looks, FakeEngine()), sheet=False)
    return film, RunSettings(config, film, asked), looks


def assert_shown(frames: ShownFrames, looks: Remembering) -> int:
    """Every frame is to the pixel what the engine got; how many there are."""
    for slot, clip in looks.clips.items():
        for note, wanted in zip(frames.notes(slot), clip.images, strict=True):
            assert np.array_equal(pixels(frames.picture(slot, note.number, True)), wanted)
    return sum(map(len, looks.clips.values()))


@pytest.fixture
def lossless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures as PNG, so that they can be compared to the pixel."""

    def png(image: np.ndarray[Any, np.dtype[np.uint8]], quality: int) -> bytes:
        out = io.BytesIO()
        Pillow.fromarray(image).save(out, "PNG")
        return out.getvalue()

    monkeypatch.setattr(room, "jpeg", png)


SETTINGS = (
    ("overlay.label=box", "overlay.characters=boxes"),
    ("prompt.characters=current", "overlay.label=none"),
    ("overlay.characters=none",),
)


@pytest.mark.parametrize("settings", [(), *(pytest.param(one, marks=pytest.mark.slow) for one in SETTINGS)])
def test_people_are_marked_as_the_model_saw_them(tmp_path, monkeypatch, lossless, settings):
    look_for_painted_faces(monkeypatch)
    film, run, looks = with_cast(tmp_path, *settings)
    with open_film(film) as reader:
        info = reader.info
    frames = ShownFrames(Session(tmp_path / "w", info, run.config), film)
    assert assert_shown(frames, looks) > 20
    assert not list((tmp_path / "w").glob("frames.*")), "a run may keep its own there"
    if settings == ():
        slot, again, stage1 = "s00000500", Remembering(), tmp_path / "w" / "stage1.jsonl"
        with open_film(film) as reader, WorkFolder(tmp_path / "w") as work:
            redo(reader, work, run, [slot], engines=Engines(again, FakeEngine()), sheet=False)
        rest = [row for row in stage1.read_text("utf-8").splitlines() if f'"{slot}"' not in row[:400]]
        stage1.write_text("".join(f"{row}\n" for row in rest), "utf-8")
        frames = ShownFrames(Session(tmp_path / "w", info, run.config), film)
        assert assert_shown(frames, again) > 5, "what only a redo has seen, as that saw it"
        (tmp_path / "w" / "characters.json").unlink()
        forgotten = ShownFrames(Session(tmp_path / "w", info, run.config), film)
        with pytest.raises(AssertionError):
            assert_shown(forgotten, again)


# The film strip


def test_the_middle_of_each_shot_is_shown_small_and_kept(tmp_path):
    here = tmp_path / "film.mp4"
    here.write_bytes(make_film(FilmSpec(frames=400, gop=25, b_frames=2)).path.read_bytes())
    with open_film(here) as film:
        info = film.info
    shots = tuple(Shot(i, Interval(i * 0.4, (i + 1) * 0.4)) for i in range(40))
    session = Session(tmp_path / "w", info, prepared=Prepared(info, 16.0, shots, (), (), ()))
    strip = ShownFrames(session, here)
    with ThreadPoolExecutor(8) as pool:
        got = dict(zip(range(1, 40, 3), pool.map(strip.shot, range(1, 40, 3)), strict=True))
    strip.close()
    assert pixels(got[7]).shape == (90, 160, 3)
    assert all(read_number(pixels(picture)) == 5 + 10 * index for index, picture in got.items())
    files = list((tmp_path / "w" / "review" / "strip").glob("*.jpg"))
    assert len(files) == len(got)
    assert all(path.stat().st_size < 8000 for path in files)
    with counted_decodes() as decodes:
        assert ShownFrames(session, here).shot(7) == got[7]
    assert decodes.frames == 0
    here.unlink()
    with pytest.raises(FilmError, match="There is no film"):
        ShownFrames(session, here).shot(0)


def test_marks_are_painted_as_the_model_saw_them(tmp_path: Path) -> None:
    from shotad.film import vlm_size
    from shotad.film.overlays import shot_label

    described(tmp_path, record(overlay="number"))
    frames = opened(tmp_path)
    plain, painted = (pixels(frames.picture("s00002000", 4, marks)) for marks in (False, True))
    assert plain.shape == (180, 320, 3)
    size = vlm_size(320, 180, Config().frames)
    assert painted.shape == (size[1], size[0], 3)
    label = shot_label(1, *size)
    height, width = label.shape[:2]
    assert np.abs(painted[:height, :width].astype(int) - label).mean() < 8
    assert read_number(painted) == read_number(plain)
    described(tmp_path, record("k2", overlay="box"))
    boxed = pixels(frames.picture("s00002000", 4, True))
    assert boxed[:2].mean(axis=(0, 1)) == pytest.approx([255, 0, 0], abs=30)
    past = pixels(frames.picture("s00002000", 1, True))
    assert past[:2].mean(axis=(0, 1)) != pytest.approx([255, 0, 0], abs=30)


def test_other_words_are_no_mark() -> None:
    for words in ("", "none", "dashed", "wavy red", "red, tagged", "purple"):
        assert mark_of(words) is None


def test_numbered_stills(tmp_path: Path) -> None:
    folder = make_stills(tmp_path / "frames", 10)
    described(tmp_path / "work", record(shots=[row(0, "current", [0.0, 1.0, 4.5])]))
    with open_film(folder, frame_rate=Fraction(2)) as film:
        frames = ShownFrames(Session(tmp_path / "work", film.info), folder)
    assert [read_number(pixels(frames.picture("s00002000", n))) for n in (1, 2, 3)] == [0, 2, 9]
    frames.close()
    assert read_number(pixels(frames.picture("s00002000", 2))) == 2
