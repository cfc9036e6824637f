"""The sheet: what of the records it shows or says to be missing, its time line, what is written, and a page that all can read."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shotad.description.overview_data import Piece, SlotView, long_silences, read_subject
from shotad.description.overview_page import Span, as_seen, row_times, timeline

from shotad.core import (
    Clip,
    Config,
    Facts,
    Interval,
    LightFact,
    Named,
    OverlaySettings,
    PeopleFact,
    Role,
    ShotScale,
    TextFact,
    ThingFact,
    WorkFolderError,
    slot_id,
    thread_name,
)
from shotad.description import in_words, write_sheet
from shotad.film import Picture, fit, paint
from shotad.script import Cue, CueStatus, FilmId, Maker, Track, to_json
from tests.handmade import look
from tests.htmlpage import Page, check_readable

# Work folders as a run leaves them, made up
SCALES = ("extreme close-up", "close-up", "medium", "full", "long", None)


@dataclass
class Made:
    """What to put into a folder. Every ``every``-th shot begins a slot with a line."""

    shots: int = 6
    length: float = 4.0
    every: int = 2
    text: str = "A dog runs over the wet road."
    overlay: str | None = "number"
    grammar: bool = True
    status: CueStatus = CueStatus.PLACED
    language: str = "en"
    notes: dict[str, Any] = field(default_factory=dict)
    frames: int = 4
    """Of each shot that is shown."""
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
    _write(folder, "shots", {"film": "film.mp4", "end": end, "damage": None, "shots": rows})
    spoken = [
        {"start": r["start"] + 2.5, "end": r["start"] + 3.5, "kind": kind, "text": f"Words {r['index']}"}
        for r, kind in zip(rows, ["speech", "lyrics"] * made.shots, strict=False)
    ]
    _write(folder, "speech", {"source": "subtitles", "detail": "subtitles film.srt", "speech": spoken})
    starts = [r["start"] + 0.2 for r in rows[:: made.every]]
    slots = [{"id": slot_id(s), "start": s, "end": s + 2, "max_words": 9, "credits": False} for s in starts]
    _write(folder, "slots", {"gaps": [], "slots": slots, "failed": [], "warnings": []})
    clips = [_clip(made, k * made.every) for k in range(len(starts))]
    if made.grammar:
        _write(folder, "grammar", _grammar(made, clips))
    looks = [_look(made, slot, clip) for slot, clip in zip(slots, clips, strict=True)]
    (folder / "stage1.jsonl").write_text("".join(json.dumps(look) + "\n" for look in looks))
    cues = tuple(_cue(made, slot) for slot in slots)
    makers = (Maker("Stage I", "fake", "m1", "r1"), Maker("Stage II", "fake"))
    track = Track(FilmId("film.mp4", "f" * 32, end), made.language, makers, "0.1.0", cues)
    (folder / "track.json").write_text(to_json(track), encoding="utf-8")
    return folder


def _clip(made: Made, shot: int) -> list[tuple[int, str]]:
    around = [(shot - 1, "past"), (shot, "current"), (shot + 1, "future"), (shot + 2, "future")]
    return [(i, role) for i, role in around if 0 <= i < made.shots]


def _grammar(made: Made, clips: list[list[tuple[int, str]]]) -> dict[str, Any]:
    known = sorted({i for clip in clips for i, _ in clip})
    pairs = sorted({(a, b) for clip in clips for a, _ in clip for b, _ in clip if a < b})
    return {
        "features": "grid/1", "threshold": 0.3, "scale_method": "by-face/1",
        "shots": [
            {
                "index": i, "first": i * made.length, "quarter": (i + 0.25) * made.length,
                "middle": (i + 0.5) * made.length, "three_quarters": (i + 0.75) * made.length,
                "last": (i + 1) * made.length - 0.04, "scale": SCALES[i % len(SCALES)],
                "probabilities": None, "thread": made.letters(i),
            }
            for i in known
        ],
        "pairs": [
            [a, b, 0.512 if made.letters(a) and made.letters(a) == made.letters(b) else 0.125]
            for a, b in pairs
        ],
    }  # fmt: skip


def _look(made: Made, slot: dict[str, Any], clip: list[tuple[int, str]]) -> dict[str, Any]:
    numbers = {shot: n for n, (shot, _) in enumerate(clip)}
    threads: dict[str, list[int]] = {}
    for shot, number in numbers.items():
        if made.grammar and (letters := made.letters(shot)):
            threads.setdefault(letters, []).append(number)
    shots = [
        {
            "number": numbers[shot], "shot": shot, "role": role,
            "start": shot * made.length, "end": (shot + 1) * made.length,
            "seconds": [round((shot + (k + 0.5) / made.frames) * made.length, 6) for k in range(made.frames)],
        }
        for shot, role in clip
    ]  # fmt: skip
    scales = {str(n): SCALES[shot % 6] for shot, n in numbers.items() if made.grammar and SCALES[shot % 6]}
    return look(
        slot["id"], start=slot["start"], end=slot["end"], shots=shots, scales=scales, effective_scale=1.5,
        threads=[thread for thread in threads.values() if len(thread) > 1], factors=["face", "object"],
        maker={"engine": "fake", "model": "m1", "revision": "r1"}, overlay=made.overlay, frame_size=[252, 140],
        steps={"Main characters": "A dog.", "Actions": "It <b>runs</b> & jumps."},
        explanation="Shot 1 goes back to Shot 0.", notes=made.notes,
    )  # fmt: skip


def _cue(made: Made, slot: dict[str, Any]) -> Cue:
    heard = made.status.heard
    return Cue(
        slot["id"], slot["id"], Interval(slot["start"], slot["start"] + 1.5), made.text.strip() if heard else "",
        language=made.language, status=made.status, reason="" if heard else "nothing worth saying",
    )  # fmt: skip


@dataclass
class FakeFilm:
    """Gives a picture for each second; ``asked`` are the lists of seconds that were asked for.

    ``lost`` are seconds that it cannot give.
    """

    size: tuple[int, int] = (128, 72)
    lost: Sequence[float] = ()
    asked: list[list[float]] = field(default_factory=list)

    def pictures(self, seconds: Sequence[float]) -> Iterator[Picture]:
        self.asked.append(list(seconds))
        width, height = self.size
        y, x = np.mgrid[:height, :width]
        for second in seconds:
            if second in self.lost:
                continue
            waves = 128 + 90 * np.sin(x / 23 + second) * np.cos(y / 17 - second / 3)
            image = np.stack([waves, np.roll(waves, 9, 0), np.roll(waves, 19, 1)], -1).astype(np.uint8)
            yield Picture(second, second, image)


def _write(folder: Path, name: str, value: dict[str, Any]) -> None:
    (folder / f"{name}.json").write_text(json.dumps({"key": "k", **value}), encoding="utf-8")


# The page
def sheet(folder: Path, made: Made, film: FakeFilm | None = None) -> Path:
    return write_sheet(make_folder(folder, made), (film or FakeFilm()).pictures, Config())


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    made = Made(shots=6, text='Anna says "no" & <leaves>.', language="de")
    return Page(sheet(tmp_path_factory.mktemp("page"), made).read_text(encoding="utf-8"))


def sources(page: Page) -> set[str]:
    return {str(image.attributes["src"]) for image in page.all("img")}


def test_the_page_and_its_pictures_are_all_that_is_written_or_stand_in_one_file(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, Made(shots=6))
    before = set(tmp_path.rglob("*"))
    beside = write_sheet(folder, FakeFilm().pictures, Config())
    assert beside == tmp_path / "overview.html"
    named = [tmp_path / name for name in sources(Page(beside.read_text(encoding="utf-8")))]
    assert set(tmp_path.rglob("*")) - before == {beside, tmp_path / "overview", *named}
    files = sorted(name.read_bytes() for name in named)
    page = write_sheet(folder, FakeFilm().pictures, Config(), single_file=True)
    assert not (tmp_path / "overview").exists()
    within = sources(Page(page.read_text(encoding="utf-8")))
    assert sorted(base64.b64decode(one.removeprefix("data:image/webp;base64,")) for one in within) == files
    page.unlink()
    page.mkdir()
    with pytest.raises(WorkFolderError, match="cannot be written"):
        write_sheet(folder, FakeFilm().pictures, Config())


def test_the_page_needs_nothing_but_itself_and_can_be_read_by_all(page: Page) -> None:
    assert page.source.startswith("<!DOCTYPE html>")
    check_readable(page)
    assert not page.all("iframe", "leaves", "b")
    assert "http" not in page.source
    assert "It &lt;b&gt;runs&lt;/b&gt; &amp; jumps." in page.source
    for img in page.all("img"):
        assert re.fullmatch(r"overview/[\w-]+\.webp", str(img.attributes["src"]))
        assert img.attributes["loading"] == "lazy"
    assert page.all("a")[0].attributes["href"] == f"#{page.all('main')[0].attributes['id']}"
    assert page.all("h2")[0].text == "Lines"
    assert all("details" in e.inside for e in page.all("h4"))
    assert len(page.all("table")) == 4 + 3
    for element in page.elements:
        if "scroll" in str(element.attributes.get("class", "")).split():
            assert (element.attributes["tabindex"], bool(element.attributes["aria-label"])) == ("0", True)


def test_frames_that_cannot_be_read_are_shown_as_lost(tmp_path: Path) -> None:
    page = Page(sheet(tmp_path, Made(shots=3), FakeFilm(lost=(2.0, 6.0, 10.0, 2.5))).read_text())
    assert page.source.count("no picture") == 3 + 1, (
        "three shots on the strip, and the frame of the first line"
    )
    assert len(page.all("img")) == 1
    # A line costs the page a bearable number of bytes.
    folders = [make_folder(tmp_path / str(shots), Made(shots=shots, frames=30)) for shots in (2, 4)]
    film = FakeFilm((480, 270)).pictures
    few, more = (len(write_sheet(f, film, Config(), single_file=True).read_bytes()) for f in folders)
    assert 10_000 < more - few < 80_000


@pytest.mark.parametrize(
    "made",
    [
        Made(shots=1),
        Made(shots=3, length=3000.0),
        Made(shots=3, grammar=False, overlay=None),
        Made(shots=3, status=CueStatus.SILENT, overlay="box"),
        Made(shots=3, text="Собака бежит по мокрой дороге. 一只狗", language="ru"),
        Made(shots=40, length=0.04, every=20, threads=30),
    ],
)
def test_films_of_all_kinds(tmp_path: Path, made: Made) -> None:
    page = Page(sheet(tmp_path, made, FakeFilm(size=(90, 160))).read_text(encoding="utf-8"))
    assert len(page.all("h3")) == len(range(0, made.shots, made.every))
    assert len([e for e in page.all("li") if "ol" in e.inside[-1:]]) >= made.shots


@pytest.mark.parametrize(
    ("label", "role"), [("number", Role.CURRENT), ("box", Role.CURRENT), ("box", Role.PAST)]
)
def test_frames_are_painted_as_in_the_run(label: str, role: Role) -> None:
    image = np.random.default_rng(3).integers(0, 256, (180, 320, 3), np.uint8)
    piece = Piece(4, 9, role, Interval(0, 2), (1.0,), 1)
    look = SlotView((piece,), (), None, (), (), "", "fake", "", label, (252, 140))  # type: ignore[arg-type]
    seen = np.asarray(as_seen(Picture(1.0, 1.0, image), piece, look, Config()))
    clip = Clip(fit(image[None], (252, 140)), np.array([1.0]), np.array([4], np.int64))
    current = (4,) if role is Role.CURRENT else ()
    assert (seen == paint(clip, OverlaySettings(label=label), current=current).images[0]).all()  # type: ignore[arg-type]


def test_pictures_have_words_and_sizes_and_what_a_describer_asks_is_there(page: Page) -> None:
    images = page.all("img")
    assert len(images) == 6 + 3
    for img in images:
        assert img.attributes["alt"] is not None
        assert int(str(img.attributes["width"])) > 0
        assert int(str(img.attributes["height"])) > 0
    for figure in [k for k, e in enumerate(page.elements) if e.tag == "figure"]:
        inside = [e for e in page.elements[figure : figure + 40] if e.tag == "img"]
        assert inside[0].attributes["alt"]
    drawn = [e for e in page.elements if e.attributes.get("role") == "img"]
    assert [e.attributes["aria-label"] for e in drawn] == [
        "00:00.0 to 00:15.0: shots 0 to 3, 3.5 s of speech, 2 slots, 2 spoken lines.",
        "00:15.0 to 00:24.0: shots 3 to 5, 2.5 s of speech, 1 slot, 1 spoken line.",
    ]
    text = page.all("main")[0].text
    for words in (
        "extreme close-up 1, close-up 1, medium 1, full 1, long 1, unknown 1",
        "effective scale 1.50, factors face, object",
        "thread B: Shot 0 and Shot 2; thread A: Shot 1 and Shot 3",
        "nobody yet",
        "Shot 1 goes back to Shot 0.",
        "in frames of 252 x 140 pixels that carry the number of their shot",
        "Shot 0: 0.500, 1.500, 2.500, 3.500 s",
        "0.51 +",
    ):
        assert words in re.sub(r"\s+", " ", text), words


# What is read from the records
FACTS = Facts(
    current=(1,),
    people=(
        PeopleFact(1, 0, 1, 1, "left", 0.5, True, None, False, False, 0.9, framing="upper body"),
        PeopleFact(0, 0, 1, 3, "centre", 0.5, True, None, False, False, 0.9),
    ),
    things=(ThingFact(1, "umbrella", 1, "right", 0.9),),
    texts=(TextFact(1, "READY", "sign", 0, 1, 0.95),),
    light=(LightFact(1, "dark", "fade-in", 0.9), LightFact(2, "middling", None, 0.9)),
)


def test_everything_in_the_records_arrives(tmp_path: Path) -> None:
    subject = read_subject(make_folder(tmp_path, Made(shots=6)))
    assert (subject.name, subject.end, len(subject.shots)) == ("film.mp4", 24.0, 6)
    assert [shot.thread for shot in subject.shots] == ["A", "B", "A", "B", "A", "B"]
    assert [shot.scale for shot in subject.shots][:2] == [ShotScale.EXTREME_CLOSE_UP, ShotScale.CLOSE_UP]
    assert [s.index for s in subject.threads["B"]] == [1, 3, 5]
    assert Counter(shot.scale for shot in subject.shots) == dict.fromkeys((*ShotScale, None), 1)
    assert (subject.score(2, 0), subject.score(0, 1), subject.score(0, 5)) == (0.512, 0.125, None)
    assert (subject.threshold, subject.features, subject.scale_method) == (0.3, "grid/1", "by-face/1")
    assert (len(subject.speech), subject.speech_source) == (6, "subtitles film.srt")
    assert [line.id for line in subject.lines] == ["s00000200", "s00008200", "s00016200"]
    assert subject.missing == ()


@pytest.mark.parametrize(("name", "values"), [
    ("grammar", {"shots": [{"index": 0, "middle": 1, "thread": "["}]}),
    ("speech", {"speech": [{"start": 3, "end": 1, "text": "", "kind": "speech"}]}),
    ("slots", {"slots": [{"id": "s1"}]}),
])  # fmt: skip
def test_a_damaged_record_is_left_out_and_said(tmp_path: Path, name: str, values: dict[str, Any]) -> None:
    path = make_folder(tmp_path, Made()) / f"{name}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    subject = read_subject(tmp_path)
    assert [said for said in subject.missing if said.startswith(f"{name}.json is damaged")]
    assert len(subject.shots) == 6


def test_half_a_record_of_stage_one_costs_only_its_line(tmp_path: Path) -> None:
    path = make_folder(tmp_path, Made()) / "stage1.jsonl"
    path.write_text(path.read_text()[:-40])
    subject = read_subject(tmp_path)
    assert [subject.look(cue) is not None for cue in subject.lines] == [True, True, False]
    assert subject.missing == ("1 record in stage1.jsonl is damaged and left out.",)


def test_people_in_words_have_their_names() -> None:
    thom, celia = Named("thom", "Thom"), Named("celia", "the woman in red", named=False)
    alone = PeopleFact(0, 1, 2, 1, "left", 0.5, True, "still", False, False, 0.9, names=(thom,))
    both = PeopleFact(1, 1, 2, 3, "left", 0.5, True, None, False, False, 0.9, names=(thom, celia))
    told = in_words(Facts((0, 1), people=(alone, both)))
    assert told == {0: "Thom, on the left", 1: "three people (Thom, the woman in red)"}


def test_words_of_a_shot_come_from_the_clip_that_is_about_it(tmp_path: Path) -> None:
    made = Made(shots=6, notes=FACTS.to_json())
    shots = read_subject(make_folder(tmp_path, made)).shots
    assert shots[2].seen.startswith("one person")
    assert shots[1].seen.startswith("one person")  # number 1 of the first clip, in which it is a future shot
    assert shots[5].seen == ""


@pytest.mark.parametrize(("end", "shots", "length", "rows"), [
    (3.0, 1, 15, 1), (44.5, 10, 15, 3), (600.0, 4, 120, 5), (7200.0, 1500, 120, 60), (7200.0, 30, 600, 12),
    (90_000.0, 9000, 600, 150),
])  # fmt: skip
def test_rows_of_the_time_line(end: float, shots: int, length: int, rows: int) -> None:
    found = row_times(end, shots)
    assert (found[0].duration, len(found)) == (length, rows)
    assert found[0].start == 0
    assert found[-1].start < end <= found[-1].end


def spans(parts: Sequence[Span]) -> list[tuple[str, float, float]]:
    """Kind, start and end in seconds of a row of 15 s."""
    return [(p.kind, round(p.left * 0.15, 6), round((p.left + p.width) * 0.15, 6)) for p in parts]


def test_the_time_line_shows_what_happens_when(tmp_path: Path) -> None:
    (row,) = timeline(read_subject(make_folder(tmp_path, Made(shots=3, length=5, threads=2))))
    assert spans(row["shots"]) == [("shot", 0, 5), ("shot", 5, 10), ("shot", 10, 15)]
    assert [(p.words, p.thread) for p in row["shots"]] == [("0 A", "A"), ("1 B", "B"), ("2 A", "A")]
    assert spans(row["speech"]) == [("speech", 2.5, 3.5), ("lyrics", 7.5, 8.5), ("speech", 12.5, 13.5)]
    assert spans(row["slots"]) == [("slot", 0.2, 2.2), ("slot", 10.2, 12.2)]
    assert spans(row["lines"]) == [("heard", 0.2, 1.7), ("heard", 10.2, 11.7)]
    assert [(round(place * 0.15, 6), words) for place, words in row["ticks"][:2]] == [
        (0, "00:00"),
        (1, "00:01"),
    ]
    assert row["end"] == 100


def test_the_page_says_who_was_recognised_and_escapes_names(tmp_path: Path) -> None:
    thom = {"id": "thom", "called": "Thom <b>", "mark": "red", "current": True}
    path = make_folder(tmp_path, Made(shots=6)) / "stage1.jsonl"
    first, *rest = path.read_text().splitlines(keepends=True)
    path.write_text(json.dumps({**json.loads(first), "characters": [thom]}) + "\n" + "".join(rest))
    text = write_sheet(tmp_path, FakeFilm().pictures, Config()).read_text(encoding="utf-8")
    assert "<dt>Recognised</dt><dd>Thom &lt;b&gt; (red)</dd>" in text
    assert text.count("<dt>Recognised</dt>") == 1
    assert "Thom &lt;b&gt; in 1 clip" in text


def test_stretches_without_speech_and_ad_are_named_within_what_was_described() -> None:
    cues = tuple(Cue(f"s{s:05d}000", None, Interval(s, s + 2), "A line.") for s in (10, 120))
    track = Track(FilmId("film.mp4", "f", 300.0), "en", (), "0", cues)
    found = long_silences(track, [Interval(60, 70)], Interval(0, 300))
    assert found == (Interval(12, 60), Interval(70, 120), Interval(122, 300))
    silent = track.with_cues(())
    assert long_silences(silent, [], Interval(100, 140)) == ()
    assert long_silences(silent, [], Interval(100, 150)) == (Interval(100, 150),)
