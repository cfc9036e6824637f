"""Records to what a sheet shows: all of it, or said to be missing; its time line, what stands where."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Config, Facts, LightFact, Named, PeopleFact, ShotScale, TextFact, ThingFact
from shotad.description import in_words, write_sheet
from shotad.description.overview_data import read_subject
from shotad.description.overview_page import Span, row_times, timeline
from tests.sheetfolder import FakeFilm, Made, make_folder

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


def change(folder: Path, name: str, **values: Any) -> None:
    path = folder / f"{name}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_everything_in_the_records_arrives(tmp_path: Path) -> None:
    subject = read_subject(make_folder(tmp_path, Made(shots=6)))
    assert (subject.name, subject.end, len(subject.shots)) == ("film.mp4", 24.0, 6)
    assert [shot.thread for shot in subject.shots] == ["A", "B", "A", "B", "A", "B"]
    assert [shot.scale for shot in subject.shots][:2] == [ShotScale.EXTREME_CLOSE_UP, ShotScale.CLOSE_UP]
    assert [s.index for s in subject.threads["B"]] == [1, 3, 5]
    assert Counter(shot.scale for shot in subject.shots) == dict.fromkeys((*ShotScale, None), 1)
    assert (subject.score(2, 0), subject.score(0, 1), subject.score(0, 5)) == (0.512, 0.125, None)
    assert (subject.threshold, subject.features, subject.scale_method) == (0.3, "grid/1", "by-face/1")
    assert len(subject.speech) == 6
    assert subject.speech_source == "subtitles film.srt"
    assert [line.id for line in subject.lines] == ["s00000200", "s00008200", "s00016200"]
    assert subject.missing == ()


@pytest.mark.parametrize(("name", "values", "said"), [
    ("grammar", {"shots": [{"index": 0, "middle": 1, "thread": "["}]}, "grammar.json is damaged"),
    ("grammar", {"shots": [{"index": 0, "middle": 1, "scale": "huge"}]}, "grammar.json is damaged"),
    ("grammar", {"pairs": [[0, 1]]}, "grammar.json is damaged"),
    ("speech", {"speech": [{"start": 3, "end": 1, "text": "", "kind": "speech"}]}, "speech.json is damaged"),
    ("slots", {"slots": [{"id": "s1"}]}, "slots.json is damaged"),
])  # fmt: skip
def test_a_damaged_record_is_left_out_and_said(tmp_path, name, values, said):
    folder = make_folder(tmp_path, Made())
    change(folder, name, **values)
    subject = read_subject(folder)
    assert [sentence for sentence in subject.missing if sentence.startswith(said)]
    assert len(subject.shots) == 6


def test_half_a_record_of_stage_one_costs_only_its_line(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, Made())
    path = folder / "stage1.jsonl"
    path.write_text(path.read_text()[:-40])
    subject = read_subject(folder)
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
    (3.0, 1, 15, 1), (44.5, 10, 15, 3), (70.5, 17, 15, 5), (1200.0, 300, 120, 10), (600.0, 4, 120, 5),
    (7200.0, 1500, 120, 60), (7200.0, 7000, 120, 60), (7200.0, 30, 600, 12), (90_000.0, 9000, 600, 150),
])  # fmt: skip
def test_rows_of_the_time_line(end: float, shots: int, length: int, rows: int) -> None:
    found = row_times(end, shots)
    assert (found[0].duration, len(found)) == (length, rows)
    assert found[0].start == 0
    assert found[-1].start < end <= found[-1].end


def spans(parts: tuple[Span, ...]) -> list[tuple[str, float, float]]:
    """Kind, start and end in seconds of a row of 15 s."""
    return [(p.kind, round(p.left * 0.15, 6), round((p.left + p.width) * 0.15, 6)) for p in parts]


def test_the_time_line_shows_what_happens_when(tmp_path: Path) -> None:
    (row,) = timeline(read_subject(make_folder(tmp_path, Made(shots=3, length=5, threads=2))))
    assert spans(row.shots) == [("shot", 0, 5), ("shot", 5, 10), ("shot", 10, 15)]
    assert [(p.words, p.thread) for p in row.shots] == [("0 A", "A"), ("1 B", "B"), ("2 A", "A")]
    assert spans(row.speech) == [("speech", 2.5, 3.5), ("lyrics", 7.5, 8.5), ("speech", 12.5, 13.5)]
    assert spans(row.slots) == [("slot", 0.2, 2.2), ("slot", 10.2, 12.2)]
    assert spans(row.lines) == [("heard", 0.2, 1.7), ("heard", 10.2, 11.7)]
    assert [(round(place * 0.15, 6), words) for place, words in row.ticks[:2]] == [(0, "00:00"), (1, "00:01")]
    assert row.end == 100


THOM = {"id": "thom", "called": "Thom <b>", "mark": "red", "current": True}


def folder_with(path: Path, *people: list[dict[str, Any]]) -> Path:
    """A work folder of three lines, whose records name these people in turn."""
    folder = make_folder(path, Made(shots=6))
    records = [json.loads(line) for line in (folder / "stage1.jsonl").read_text().splitlines()]
    rows = [{**record, "characters": some} for record, some in zip(records, people, strict=False)]
    (folder / "stage1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_the_page_says_who_was_recognised_and_escapes_names(tmp_path: Path) -> None:
    page = write_sheet(folder_with(tmp_path, [THOM], [], []), FakeFilm().pictures, Config())
    text = page.read_text(encoding="utf-8")
    assert "<dt>Recognised</dt><dd>Thom &lt;b&gt; (red)</dd>" in text
    assert text.count("<dt>Recognised</dt>") == 1
    assert "Thom &lt;b&gt; in 1 clip" in text
