"""Records to what a sheet shows: all of it, or said to be missing."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Facts, LightFact, Named, PeopleFact, ShotScale, TextFact, ThingFact
from shotad.description import in_words
from shotad.description.overview_data import read_subject
from tests.sheetfolder import Made, make_folder

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


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("grammar", {"shots": [{"index": 0, "middle": 1, "thread": "["}]}, "grammar.json is damaged"),
        ("grammar", {"shots": [{"index": 0, "middle": 1, "scale": "huge"}]}, "grammar.json is damaged"),
        ("grammar", {"pairs": [[0, 1]]}, "grammar.json is damaged"),
        ("speech", {"speech": [{"start": 3, "end": 1, "text": "", "kind": "speech"}]}, "speech.json is damaged"),
        ("slots", {"slots": [{"id": "s1"}]}, "slots.json is damaged"),
    ],
)  # fmt: skip
def test_a_damaged_record_is_left_out_and_said(
    tmp_path: Path, name: str, values: dict[str, Any], said: str
) -> None:
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
