"""The frames that the models saw: which, with which pixels, and from memory the second time."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from shotad.core import (
    Clip,
    Config,
    Interval,
    Reply,
    Request,
    RunInputs,
    RunSettings,
    Shot,
    Slot,
    WorkFolder,
    load_config,
)
from shotad.core.runsettings import GivenCast, write_settings
from shotad.description import Engines, describe, redo
from shotad.engines.fake import FakeEngine
from shotad.film import open_film, vlm_size
from shotad.film.framestore import nearest_tick, tick_second
from shotad.film.overlays import shot_label
from shotad.script import Cue, Track, save_track
from shotad.script.track import FilmId
from tests.handmade import look, shots_record, slots_record, speech_record
from tests.media import FilmSpec, make_film, make_stills, read_number
from tests.painted_faces import Head, Take, look_for_painted_faces, paint_film, photo
from tests.rendering.described import write_folder
from tests.review.reviewed import Page, reviewed
from tests.runs import QUICK, SMALL

Pixels = np.ndarray[Any, np.dtype[np.uint8]]

SPEC = FilmSpec(size=(320, 180), frames=150, gop=50, b_frames=2, cuts=(50, 100))


def row(number: int, role: str, seconds: Sequence[float]) -> dict[str, Any]:
    of = {"start": min(seconds), "end": max(seconds) + 0.1, "seconds": list(seconds)}
    return {"number": number, "shot": number + 3, "role": role, **of}


PAST, CURRENT = [0.3, 0.9, 1.5], [2.0, 2.4, 2.8, 3.2, 3.6]


def record(key: str = "k1", overlay: str | None = None, **more: Any) -> dict[str, Any]:
    shots = [row(0, "past", PAST), row(1, "current", CURRENT)]
    shown = {"shots": shots, "scales": {"1": "close-up"}, "overlay": overlay}
    return look("s00002000", **{"key": key, **shown, **more})


SLOT, OTHER = "s00002000", "s00004000"


def write_records(place: Path, *records: dict[str, Any]) -> None:
    """What Stage I has recorded."""
    lines = "".join(json.dumps(row) + "\n" for row in records)
    (place / "stage1.jsonl").write_text(lines, encoding="utf-8")


def described(place: Path, *records: dict[str, Any], film: Path | None = None, given: bool = False) -> Path:
    """A work folder with two slots and these records of Stage I; ``given``: the slots were given to the run."""
    lines = {2.0: "A number is shown.", 4.0: "Another one."}
    write_folder(place, film or make_film(SPEC).path, lines, (), settings=("lint.parse=words",))
    slots = json.loads((place / "slots.json").read_text(encoding="utf-8"))
    if not given:
        (place / "slots.json").write_text(json.dumps({**slots, "gaps": []}), encoding="utf-8")
    write_records(place, *records)
    return place


@contextmanager
def opened(place: Path, film: Path | None = None) -> Iterator[Page]:
    with reviewed(place, film=film or make_film(SPEC).path) as (_, page):
        yield page


def notes(page: Page, line: str = SLOT) -> list[Any]:
    """The frames that a model saw of a line's slot."""
    return list(page.get(f"/api/lines/{line}").json["frames"])


def picture(page: Page, number: int, line: str = SLOT, *, painted: bool = False) -> Pixels:
    """A frame of a line's slot, as it is or with the marks on it."""
    url = next(
        note["painted_url" if painted else "url"] for note in notes(page, line) if note["number"] == number
    )
    answer = page.get(url)
    assert answer.status == 200, answer.text
    return pixels(answer.body)


def pixels(jpeg: bytes) -> Pixels:
    return np.asarray(Pillow.open(io.BytesIO(jpeg)).convert("RGB"))


def test_notes_tell_what_was_seen_in_order(tmp_path: Path) -> None:
    with opened(described(tmp_path / "w", record())) as page:
        frames = notes(page)
        assert [frame["number"] for frame in frames] == list(range(1, 9))
        assert [frame["seconds"] for frame in frames] == PAST + CURRENT
        assert [frame["shot"] for frame in frames] == [0] * 3 + [1] * 5
        first = {"number": 1, "seconds": PAST[0], "shot": 0, "index": 3, "role": "past", "scale": None}
        assert {key: frames[0][key] for key in first} == first
        assert frames[3]["scale"] == "close-up"
        many = (
            row(0, "past", [0.1 * n for n in range(5)]),
            row(1, "current", [1 + 0.1 * n for n in range(95)]),
        )
        write_records(tmp_path / "w", record(shots=list(many)))
        shown = [frame for frame in notes(page) if frame["shown"]]
        assert {frame["shot"] for frame in shown} == {0, 1}
        assert 20 <= len(shown) <= 26


@pytest.mark.parametrize("given", [False, True])
def test_pictures_are_of_the_seconds_that_the_record_tells(tmp_path: Path, given: bool) -> None:
    source, film = make_film(SPEC), tmp_path / "film.mp4"
    film.write_bytes(source.path.read_bytes())
    place = described(tmp_path / "w", record(), film=film, given=given)
    with opened(place, film) as page:
        film.unlink()
        gone = page.get(notes(page)[0]["url"])
        assert (gone.status, "There is no film" in gone.text) == (404, True)
        film.write_bytes(source.path.read_bytes())  # it is back
        for note in notes(page):
            second = note["seconds"] if given else tick_second(nearest_tick(note["seconds"]))
            shown = picture(page, note["number"])
            assert read_number(shown) == source.number_at(second)
            assert shown.shape == (180, 320, 3)


def test_a_slot_at_which_only_a_redo_has_looked(tmp_path: Path) -> None:
    """A slot that a person added, say: no run knows it."""
    with opened(described(tmp_path / "w", record())) as page:
        looks = ((OTHER, [1.0, 2.0]), (OTHER, [4.5]), (OTHER, None), (SLOT, [5.5]))
        tries = [
            {
                "key": f"r{at}",
                "slot": slot,
                "stage1": seen and record(f"k{at}", shots=[row(0, "current", seen)]),
            }
            for at, (slot, seen) in enumerate(looks)
        ]
        assert notes(page, OTHER) == []
        unseen = page.get(f"/media/frames/{OTHER}/1.jpg")
        assert (unseen.status, "no model has looked" in unseen.text) == (404, True)
        lines = "".join(json.dumps(look_again) + "\n" for look_again in tries)
        (tmp_path / "w" / "redo.jsonl").write_text(lines, encoding="utf-8")
        assert [note["seconds"] for note in notes(page, OTHER)] == [4.5]
        assert read_number(picture(page, 1, OTHER)) == make_film(SPEC).number_at(4.5)
        assert [note["seconds"] for note in notes(page)] == PAST + CURRENT, "that of the run"


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
    config = load_config(
        None,
        (*QUICK, *SMALL, "speech.source=none", "threads.features=none", "lint.parse=words", *assignments),
    )
    asked = RunInputs(slots=folder / "slots.csv", cast=GivenCast(folder / "cast.yaml"))
    looks = Remembering()
    with open_film(film) as reader, WorkFolder(folder / "w") as work:
        write_settings(work, config, film, asked)
        describe(reader, work, config, asked, engines=Engines(looks, FakeEngine()), sheet=False)
    return film, RunSettings(config, film, asked), looks


def share_of_other_pixels(shown: Pixels, wanted: Pixels) -> float:
    """The share of pixels that are clearly other ones, by more than JPEG makes of a picture."""
    assert shown.shape == wanted.shape
    return float((np.abs(shown.astype(int) - wanted.astype(int)).max(axis=2) > 90).mean())


def worst_share(page: Page, looks: Remembering) -> float:
    """How much the frames that are shown differ from those that the engine got, at most."""
    shares = [
        share_of_other_pixels(picture(page, note["number"], slot, painted=True), wanted)
        for slot, clip in looks.clips.items()
        for note, wanted in zip(notes(page, slot), clip.images, strict=True)
    ]
    assert len(shares) > 5
    return max(shares)


SAME = 0.004
"""The share of pixels that JPEG changes clearly; an outline has more than three times as many."""


SETTINGS = (
    ("overlay.label=box", "overlay.characters=boxes"),
    ("prompt.characters=current", "overlay.label=none"),
    ("overlay.characters=none",),
)


@pytest.mark.parametrize("settings", [(), *(pytest.param(one, marks=pytest.mark.slow) for one in SETTINGS)])
def test_people_are_marked_as_the_model_saw_them(tmp_path, monkeypatch, settings):
    look_for_painted_faces(monkeypatch)
    film, run, looks = with_cast(tmp_path, *settings)
    place = tmp_path / "w"
    with reviewed(place, film=film, run=run) as (_, page):
        assert worst_share(page, looks) < SAME
    assert not list(place.glob("frames.*")), "a run may keep its own there"
    if settings != ():
        return
    slot, again, stage1 = "s00000500", Remembering(), place / "stage1.jsonl"
    with open_film(film) as reader, WorkFolder(place) as work:
        redo(reader, work, run, [slot], engines=Engines(again, FakeEngine()), sheet=False)
    recorded = stage1.read_text("utf-8")
    rest = [line for line in recorded.splitlines() if f'"{slot}"' not in line[:400]]
    stage1.write_text("".join(f"{line}\n" for line in rest), "utf-8")
    with reviewed(place, film=film, run=run) as (_, page):
        assert worst_share(page, again) < SAME, "what only a redo has seen, as that saw it"
    stage1.write_text(recorded, "utf-8")
    for odd_mark in ("wavy red", "purple", "red, marked"):
        odd = re.sub(r'"mark": "[^"]+"', f'"mark": "{odd_mark}"', recorded)
        assert odd != recorded
        stage1.write_text(odd, "utf-8")
        with reviewed(place, film=film, run=run) as (_, page):
            assert worst_share(page, looks) > 3 * SAME, "other words are no mark"
    stage1.write_text(recorded, "utf-8")
    (place / "characters.json").unlink()
    with reviewed(place, film=film, run=run) as (_, page):
        assert worst_share(page, looks) > 3 * SAME, "people who were forgotten are not marked"


def test_marks_are_painted_as_the_model_saw_them(tmp_path: Path) -> None:
    place = described(tmp_path / "w", record(overlay="number"))
    with opened(place) as page:
        plain, painted = (picture(page, 4, painted=marks) for marks in (False, True))
        assert plain.shape == (180, 320, 3)
        size = vlm_size(320, 180, Config().frames)
        assert painted.shape == (size[1], size[0], 3)
        label = shot_label(1, *size)
        height, width = label.shape[:2]
        assert np.abs(painted[:height, :width].astype(int) - label).mean() < 8
        assert read_number(painted) == read_number(plain)
        write_records(place, record("k2", overlay="box"))
        boxed = picture(page, 4, painted=True)
        assert boxed[:2].mean(axis=(0, 1)) == pytest.approx([255, 0, 0], abs=30)
        past = picture(page, 1, painted=True)
        assert past[:2].mean(axis=(0, 1)) != pytest.approx([255, 0, 0], abs=30)


def test_numbered_stills(tmp_path: Path) -> None:
    film = make_stills(tmp_path / "frames", 10)
    place = tmp_path / "w"
    config = load_config(None, ("lint.parse=words",))
    run = RunSettings(config, film, RunInputs(), frame_rate=Fraction(2))
    with open_film(film, frame_rate=Fraction(2)) as opened_film, WorkFolder(place) as folder:
        info = opened_film.info
        cue = Cue(SLOT, SLOT, Interval(2.0, 4.0), "A number.")
        folder.write_json("shots.json", shots_record((Shot(0, Interval(0, 5.0)),), [], info.duration))
        folder.write_json("speech.json", speech_record())
        folder.write_json("slots.json", slots_record([Slot(SLOT, Interval(2.0, 4.0), 5)]))
        track = Track(FilmId(film.name, info.fingerprint, info.duration), "en", (), "0.1.0", (cue,))
        save_track(track, folder.path, film.name)
    write_records(place, record(shots=[row(0, "current", [0.0, 1.0, 4.5])]))
    with reviewed(place, film=film, run=run) as (_, page):
        assert [read_number(picture(page, number)) for number in (1, 2, 3)] == [0, 2, 9]
