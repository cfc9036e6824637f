"""The worksheet: what of the records it shows, what it says to be missing, what is written, and a page that all can read."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    Config,
    FilmInfo,
    Interval,
    WorkFolder,
)
from shotad.core.engine import (
    FacesFact,
    Facts,
    NamedFace,
    TextFact,
)
from shotad.core.errors import WorkFolderError
from shotad.core.types import slot_id, thread_name
from shotad.description import read_worksheet, write_sheet
from shotad.description.pipeline import long_silences
from shotad.description.worksheet.records import keep_material
from shotad.film import Picture
from shotad.script import (
    Cue,
    CueStatus,
    Maker,
    Track,
    Worksheet,
    load_track,
)
from shotad.script.track import FilmId, to_json
from shotad.script.worksheet import people_lines, setup_text, shot_text
from tests.handmade import look
from tests.htmlpage import Page, check_readable

# Work folders as a run leaves them, made up
SCALES = ("extreme close-up", "close-up", "medium", "full", "long", None)
INFO = FilmInfo("film.mp4", None, "f" * 32, 24.0, 128, 72, Fraction(25), None, "h264", Fraction(0))
FACTS = Facts(
    (1,),
    texts=(
        TextFact(1, "READY", "scene", 0.3, 1, 0.95),
        TextFact(1, "ready ", "scene", 1, 2, 0.95),
        TextFact(1, "Hello there.", "subtitle", 0.3, 1, 0.95),
        TextFact(0, "ELSEWHERE", "scene", 0, 1, 0.95),
        TextFact(1, "one two three four five six seven eight nine ten", "credit", 0.3, 1, 0.95),
    ),
    faces=(FacesFact(1, 3, (NamedFace("thom", "Thom"),), 0.0, 24.0),),
)
"""Of the second slot's clip, in which the current shot has the number 1."""


@dataclass
class Made:
    """What to put into a folder. Every ``every``-th shot begins a slot with a line."""

    shots: int = 6
    length: float = 4.0
    every: int = 2
    text: str = "A dog runs over the wet road."
    grammar: bool = True
    status: CueStatus = CueStatus.PLACED
    language: str = "en"
    notes: dict[str, Any] = field(default_factory=dict)
    threads: int = 2
    """So many threads take turns: shot ``i`` belongs to thread ``i % threads``; 0: none."""

    def letters(self, shot: int) -> str | None:
        return thread_name(shot % self.threads) if self.threads and self.shots > self.threads else None


def make_folder(folder: Path, made: Made) -> Path:
    """Write the records of ``made`` and return ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    end = made.shots * made.length
    rows = [
        {"index": i, "start": i * made.length, "end": (i + 1) * made.length, "frame": i}
        for i in range(made.shots)
    ]
    _write(folder, "shots", {"film": "film.mp4", "end": end, "damage": None, "holes": [], "shots": rows})
    spoken = [
        {"start": r["start"] + 2.5, "end": r["start"] + 3.5, "kind": kind, "text": f"Words {r['index']}"}
        for r, kind in zip(rows, ["speech", "lyrics"] * made.shots, strict=False)
    ]
    spoken[0]["speaker"] = "Anna"
    about = {
        "source": "subtitles",
        "detail": "subtitles film.srt",
        "warnings": [],
        "singing": [],
        "shouts": [],
    }
    _write(folder, "speech", {**about, "speech": spoken})
    starts = [r["start"] + 0.2 for r in rows[:: made.every]]
    slots = [
        {"id": slot_id(s), "start": s, "end": s + 2, "max_words": 9, "credits": False}
        | ({"voice": "song"} if s > 16 else {})
        for s in starts
    ]
    _write(folder, "slots", {"gaps": [], "slots": slots, "failed": [], "warnings": []})
    if made.grammar:
        _write(folder, "grammar", _grammar(made))
    looks = [_look(made, slot, k * made.every) for k, slot in enumerate(slots)]
    (folder / "stage1.jsonl").write_text("".join(json.dumps(look) + "\n" for look in looks))
    cues = tuple(_cue(made, slot) for slot in slots)
    makers = (Maker("Stage I", "fake", "m1", "r1"), Maker("Stage II", "fake"))
    track = Track(FilmId("film.mp4", "f" * 32, end), made.language, makers, "0.1.0", cues)
    (folder / "track.json").write_text(to_json(track), encoding="utf-8")
    return folder


def _grammar(made: Made) -> dict[str, Any]:
    return {
        "features": "grid/1", "threshold": 0.3, "scale_method": "by-face/1", "pairs": [],
        "shots": [
            {
                "index": i, "first": i * made.length, "quarter": (i + 0.25) * made.length,
                "middle": (i + 0.5) * made.length, "three_quarters": (i + 0.75) * made.length,
                "last": (i + 1) * made.length - 0.04, "scale": SCALES[i % len(SCALES)],
                "probabilities": None, "thread": made.letters(i),
            }
            for i in range(made.shots)
        ],
    }  # fmt: skip


def _look(made: Made, slot: dict[str, Any], shot: int) -> dict[str, Any]:
    around = [(shot - 1, "past"), (shot, "current"), (shot + 1, "future")]
    clip = [(i, role) for i, role in around if 0 <= i < made.shots]
    shots = [
        {
            "number": number, "shot": i, "role": role, "start": i * made.length, "end": (i + 1) * made.length,
            "seconds": [(i + 0.5) * made.length],
        }
        for number, (i, role) in enumerate(clip)
    ]  # fmt: skip
    return look(slot["id"], start=slot["start"], end=slot["end"], shots=shots, notes=made.notes)


def _cue(made: Made, slot: dict[str, Any]) -> Cue:
    heard = made.status.heard
    return Cue(
        slot["id"], slot["id"], Interval(slot["start"], slot["start"] + 1.5), made.text.strip() if heard else "",
        language=made.language, status=made.status, reason="" if heard else "nothing worth saying",
    )  # fmt: skip


def _write(folder: Path, name: str, value: dict[str, Any]) -> None:
    (folder / f"{name}.json").write_text(json.dumps({"key": "k", **value}), encoding="utf-8")


@dataclass
class FakeFilm:
    """Gives a picture for each second; ``lost`` are seconds that it cannot give."""

    size: tuple[int, int] = (128, 72)
    lost: Sequence[float] = ()

    def pictures(self, seconds: Sequence[float]) -> Iterator[Picture]:
        width, height = self.size
        y, x = np.mgrid[:height, :width]
        for second in seconds:
            if second in self.lost:
                continue
            waves = 128 + 90 * np.sin(x / 23 + second) * np.cos(y / 17 - second / 3)
            image = np.stack([waves, np.roll(waves, 9, 0), np.roll(waves, 19, 1)], -1).astype(np.uint8)
            yield Picture(second, second, image)


def draw(folder: Path, film: FakeFilm | None = None, **more: bool) -> Path:
    return write_sheet(WorkFolder(folder), (film or FakeFilm()).pictures, Config(), INFO, **more)


def read(folder: Path) -> Worksheet:
    return read_worksheet(folder, Config(), INFO)


# What is read from the records
def test_a_slot_has_its_shots_people_texts_and_dialogue(tmp_path: Path) -> None:
    sheet = read(make_folder(tmp_path, Made(notes=FACTS.to_json())))
    assert sheet.missing == ()
    first, second, _ = sheet.entries
    assert [(e.id, e.start, e.max_words, e.voice == "song") for e in sheet.entries] == [
        ("s00000200", 0.2, 9, False), ("s00008200", 8.2, 9, False), ("s00016200", 16.2, 9, True),
    ]  # fmt: skip
    assert shot_text(second.shots[0]) == "Shot 3 from 0:08.2: medium, same set-up as shot 1"
    assert second.shots[0].pictures == (8.4,)
    assert people_lines(second.people) == ("Shot 3: Thom and 2 other faces",)
    assert [(text.text, text.offer) for text in second.texts] == [
        ("READY", 'Text reads: "READY."'),
        ("one two three four five six seven eight nine ten", ""),  # ten words do not fit
    ]
    assert [(line.speaker, line.text) for line in second.before] == [("Anna", "Words 0"), ("", "Words 1")]
    assert [line.text for line in second.after] == ["Words 2", "Words 3"]
    assert first.before == ()


def test_dialogue_stands_once_for_who_reads_on(tmp_path: Path) -> None:
    sheet = read(make_folder(tmp_path, Made()))
    told = [[line.text for line in (*e.before, *e.after)] for e in sheet.in_one_reading]
    assert told == [["Words 0", "Words 1"], ["Words 2", "Words 3"], ["Words 4", "Words 5"]]


@pytest.mark.parametrize(
    ("language", "offer"),
    [
        ("de", "Zu lesen ist: „READY“."),
        ("fr-CA", "Il est écrit\N{NO-BREAK SPACE}: «\N{NO-BREAK SPACE}READY\N{NO-BREAK SPACE}»."),
        ("sv", "READY"),
    ],
)
def test_texts_are_offered_in_the_language_of_the_track(tmp_path: Path, language: str, offer: str) -> None:
    sheet = read(make_folder(tmp_path, Made(notes=FACTS.to_json(), language=language)))
    assert sheet.entries[1].texts[0].offer == offer


def test_a_long_shot_is_shown_again_and_a_sliver_not_at_all(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, Made(shots=2, length=30.0, every=2))
    slots = json.loads((folder / "slots.json").read_text())
    slots["slots"] = [{"id": "s00022000", "start": 22.0, "end": 30.05, "max_words": 9, "credits": False}]
    (folder / "slots.json").write_text(json.dumps(slots))
    (shot,) = read(folder).entries[-1].shots
    assert shot.pictures == (22.2, 24.8, 27.4)


def test_a_new_place_is_where_one_exchange_of_set_ups_ends_and_another_begins(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, Made(shots=8, every=1))
    grammar = json.loads((folder / "grammar.json").read_text())
    for row, letters in zip(grammar["shots"], "ABABCDCD", strict=True):
        row["thread"] = letters
    (folder / "grammar.json").write_text(json.dumps(grammar))
    words = [setup_text(entry.shots[0]) for entry in read(folder).entries]
    again = [f"same set-up as shot {number}" for number in (1, 2, 5, 6)]
    new = "perhaps a new place: no set-up from before comes back"
    assert words == ["", "", *again[:2], new, "", *again[2:]]


def test_a_line_without_a_slot_has_an_entry_of_its_own(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, Made())
    track = load_track(folder / "track.json")
    added = replace(track.cues[0], id="h00013000", slot_id=None, interval=Interval(13, 14))
    (folder / "track.json").write_text(to_json(track.with_cues((*track.cues, added))))
    (entry,) = [entry for entry in read(folder).entries if entry.id == "h00013000"]
    assert (entry.max_words, [shot.shot for shot in entry.shots]) == (None, [3])


@pytest.mark.parametrize(("name", "values"), [
    ("grammar", {"shots": [{"index": 0, "middle": 1, "thread": "["}]}),
    ("speech", {"speech": [{"start": 3, "end": 1, "text": "", "kind": "speech"}]}),
    ("slots", {"slots": [{"id": "s1"}]}),
])  # fmt: skip
def test_a_damaged_record_is_left_out_and_said(tmp_path: Path, name: str, values: dict[str, Any]) -> None:
    path = make_folder(tmp_path, Made()) / f"{name}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    sheet = read(tmp_path)
    assert [said for said in sheet.missing if said.startswith(f"{name}.json is damaged")]
    assert len(sheet.entries) == 3


def test_half_a_record_of_stage_one_costs_only_its_facts(tmp_path: Path) -> None:
    path = make_folder(tmp_path, Made(notes=FACTS.to_json())) / "stage1.jsonl"
    path.write_text(path.read_text()[:-40])
    sheet = read(tmp_path)
    assert [bool(entry.texts) for entry in sheet.entries] == [True, True, False]
    assert sheet.missing == ("1 record in stage1.jsonl is damaged and left out.",)


def test_the_material_is_a_record_that_is_written_where_it_changes(tmp_path: Path) -> None:
    folder = WorkFolder(make_folder(tmp_path, Made(notes=FACTS.to_json())))
    sheet = read(tmp_path)
    keep_material(folder, sheet, INFO)
    path = tmp_path / "material.json"
    record, written = json.loads(path.read_text()), path.stat().st_mtime_ns
    assert record["slots"][1]["people"] == [{"shot": 2, "known": ["Thom"], "faces": 2}]
    assert [asdict(text) for text in sheet.entries[1].texts] == record["slots"][1]["texts"]
    keep_material(folder, sheet, INFO)
    assert path.stat().st_mtime_ns == written
    keep_material(folder, replace(sheet, film="other.mp4"), INFO)
    assert json.loads(path.read_text())["key"] != record["key"]


# The page
@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    made = Made(text='Anna says "no" & <leaves>.', notes=FACTS.to_json())
    return Page(draw(make_folder(tmp_path_factory.mktemp("page"), made)).read_text(encoding="utf-8"))


def sources(page: Page) -> set[str]:
    return {str(image.attributes["src"]) for image in page.all("img")}


def test_the_page_and_its_pictures_are_all_that_is_written_or_stand_in_one_file(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, Made(shots=6))
    before = set(tmp_path.rglob("*"))
    beside = draw(folder)
    assert beside == tmp_path / "worksheet.html"
    named = [tmp_path / name for name in sources(Page(beside.read_text(encoding="utf-8")))]
    own = {beside, tmp_path / "worksheet", tmp_path / "material.json", *named}
    assert set(tmp_path.rglob("*")) - before == own
    files = sorted(name.read_bytes() for name in named)
    page = draw(folder, single_file=True)
    assert not (tmp_path / "worksheet").exists()
    within = sources(Page(page.read_text(encoding="utf-8")))
    assert sorted(base64.b64decode(one.removeprefix("data:image/jpeg;base64,")) for one in within) == files
    page.unlink()
    page.mkdir()
    with pytest.raises(WorkFolderError, match="cannot be written"):
        draw(folder)


def test_the_page_needs_nothing_but_itself_and_can_be_read_by_all(page: Page) -> None:
    assert page.source.startswith("<!DOCTYPE html>")
    check_readable(page)
    assert not page.all("iframe", "leaves", "b")
    assert "http" not in page.source
    assert "Anna says &#34;no&#34; &amp; &lt;leaves&gt;." in page.source
    for img in page.all("img"):
        assert re.fullmatch(r"worksheet/\d+\.jpg", str(img.attributes["src"]))
        assert re.fullmatch(r"Shot \d at 0:\d\d\.\d", str(img.attributes["alt"]))
    assert len(page.all("h3")) == 3


def test_the_page_says_what_a_describer_asks(page: Page) -> None:
    text = re.sub(r"\s+", " ", page.all("main")[0].text)
    for words in (
        "00:00:08.200 to 00:00:10.200 2.0 s, 9 words fit",
        "Shot 3, medium",
        "same set-up as shot 1",
        "Who is seen Shot 3: Thom and 2 other faces",
        'Text on the screen 0:00.3 Text reads: "READY."',
        "Song likely here: a line is a choice.",
        "0:02.5 Anna: Words 0",
        'Line Anna says "no" & <leaves>.',
    ):
        assert words in text, words
    assert "Environment" not in text


def test_where_there_is_no_line_there_is_room_to_write(tmp_path: Path) -> None:
    page = Page(draw(make_folder(tmp_path, Made(status=CueStatus.SILENT))).read_text())
    rooms = [e for e in page.elements if e.attributes.get("class") == "room"]
    assert [room.attributes["aria-label"] for room in rooms] == ["Room to write"] * 3
    assert len(page.all("hr")) == 3 * 2


def test_frames_that_cannot_be_read_are_shown_as_lost(tmp_path: Path) -> None:
    page = Page(draw(make_folder(tmp_path, Made()), FakeFilm(lost=(0.4, 8.4))).read_text())
    assert page.source.count("no picture") == 2
    assert len(page.all("img")) == 1


@pytest.mark.parametrize(
    "made",
    [
        Made(shots=1),
        Made(shots=3, length=3000.0),
        Made(shots=3, grammar=False),
        Made(shots=3, status=CueStatus.SILENT),
        Made(shots=3, text="Собака бежит по мокрой дороге. 一只狗", language="ru"),
        Made(shots=40, length=0.04, every=20, threads=30),
    ],
)
def test_films_of_all_kinds(tmp_path: Path, made: Made) -> None:
    page = Page(draw(make_folder(tmp_path, made), FakeFilm(size=(90, 160))).read_text(encoding="utf-8"))
    check_readable(page)
    assert len(page.all("h3")) == len(range(0, made.shots, made.every))


def test_stretches_without_speech_and_ad_are_named_within_what_was_described() -> None:
    cues = tuple(Cue(f"s{s:05d}000", None, Interval(s, s + 2), "A line.") for s in (10, 120))
    track = Track(FilmId("film.mp4", "f", 300.0), "en", (), "0", cues)
    found = long_silences(track, [Interval(60, 70)], Interval(0, 300))
    assert found == (Interval(12, 60), Interval(70, 120), Interval(122, 300))
    silent = track.with_cues(())
    assert long_silences(silent, [], Interval(100, 140)) == ()
    assert long_silences(silent, [], Interval(100, 150)) == (Interval(100, 150),)
